//! Every unsatisfiable answer comes with a proof that the independent checker accepts.

mod clauses;
mod events;

// The checker's own tests have an enumeration of models and ways to damage a proof.
#[path = "../../../../proof/tests/suite/soundness/models.rs"]
mod models;
#[path = "../../../../proof/tests/suite/soundness/mutate.rs"]
mod mutate;
