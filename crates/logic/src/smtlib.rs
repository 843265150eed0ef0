//! SMT-LIB 2: questions as text, and answers read back from any solver that speaks it.
//!
//! A [`Script`] is built piece by piece, from terms and from text: what is not made of terms (an order of events, as
//! integer clocks) is written by the caller, and refers to terms by the names that the script gave them.
//! [`External`] runs a solver on a script.

mod answer;
mod external;
mod script;

pub use answer::{Model, Verdict, parse_answer};
pub use external::{External, ExternalError};
pub use script::Script;
