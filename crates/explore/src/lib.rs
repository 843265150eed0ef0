//! Exhaustive exploration: every schedule that makes a difference, once.
//!
//! Stateless search on the reference interpreter with optimal dynamic partial-order reduction (source sets, sleep sets,
//! wake-up trees; Abdulla, Aronis, Jonsson, Sagonas, POPL 2014). Small programs, and above all the *oracle*: all other
//! engines must agree with what this one says.
//!
//! | file | what is in it |
//! |---|---|
//! | `event` | events, what they touch, when they depend on each other |
//! | `history` | what a new event depends on |
//! | `wakeup` | wake-up trees |
//! | `run` | one event of the interpreter: a visible step and the invisible ones after it |
//! | `task` | what is asked of a search, and what it answers |
//! | `search` | the algorithm: down one execution, back to the last place where something is left |
//! | `plan` | what is left, planned at the end of an execution |
//! | `trace` | executions up to the order of independent events |
//! | `plain` | all traces without any reduction, to compare with |
//! | `bounded` | the same with a bound on preemptions |
//! | `deadlock` | who waits for whom |
//! | `witness` | what it found, written down |
//! | `shorten` | a witness of any engine, with fewer context switches |

mod bounded;
mod deadlock;
mod event;
mod history;
mod plain;
mod plan;
mod run;
mod search;
mod shorten;
mod task;
mod trace;
mod wakeup;
mod witness;

pub use deadlock::circle;
pub use event::Choice;
pub use plain::{NoTraces, all_traces};
pub use search::{Visitor, explore, explore_all, explore_with};
pub use shorten::{context_switches, shorten};
pub use task::{Bounds, Explored, Finding, Incomplete, Limits, Properties, Stats, What};
pub use witness::{claim, claim_race, options, racer, witness};
