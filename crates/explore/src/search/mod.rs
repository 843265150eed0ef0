//! Searches: through all executions up to equivalence, and through all of them.
//!
//! | file | what is in it |
//! |---|---|
//! | `optimal` | optimal dynamic partial-order reduction: down one execution, back to the last place where something is left |
//! | `plan` | what is left, planned at the end of an execution |
//! | `wakeup` | wake-up trees |
//! | `bounded` | the same search with a bound on preemptions |
//! | `states` | all states, each once, however it is reached |
//! | `passes` | which searches a program with condition variables needs |
//! | `trace` | executions up to the order of independent events |
//! | `unreduced` | all traces without any reduction, to compare with |

mod bounded;
mod optimal;
mod passes;
mod plan;
mod states;
mod trace;
mod unreduced;
mod wakeup;

pub use optimal::{Visitor, explore_all};
pub use passes::{explore, explore_states};
pub use unreduced::{NoTraces, all_traces};
