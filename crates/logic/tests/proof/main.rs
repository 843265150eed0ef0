//! Every unsatisfiable answer comes with a proof that the independent checker accepts.

mod clauses;
