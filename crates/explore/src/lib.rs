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
//! | `visible_step` | one event of the interpreter: a visible step and the invisible ones after it |
//! | `circle` | a thread that goes round for ever, unseen |
//! | `search` | the algorithm, a search that remembers states, and one without reduction to compare with |
//! | `task` | what a search answers |
//! | `engine` | the search as an engine: a task in, an outcome out |
//! | `witness` | what was found, as a witness |
//! | `shorten` | a witness of any engine, with fewer context switches |

mod circle;
mod engine;
mod event;
mod history;
mod search;
mod shorten;
mod task;
mod visible_step;
mod witness;

pub use engine::{Explorer, StateExplorer};
pub use event::Choice;
pub use search::{NoTraces, Visitor, all_traces, explore, explore_all, explore_states};
pub use shorten::{context_switches, shorten};
pub use task::{Explored, Finding, Incomplete, Stats, What};
pub use witness::{claim, witness};
