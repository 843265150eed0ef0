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
//! | `search` | the algorithm |
//! | `witness` | what it found, written down |

mod event;
mod history;
mod run;
mod search;
mod wakeup;
mod witness;

pub use event::Choice;
pub use search::{Explored, Finding, Limits, Properties, Stats, What, explore};
pub use witness::{claim_race, options, witness};
