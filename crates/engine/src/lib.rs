//! The contract between engines and everything that uses them.
//!
//! An [`Engine`] takes a program with what is known of it ([`Facts`]), a [`Task`] (which properties, within which
//! bounds) and a [`Context`] (limits, and where to report progress), and returns an [`Outcome`]: a verdict with its
//! evidence, what was covered, and what it took. Engines compute: they do not print, read files, or exit. No engine
//! knows another one.
//!
//! ```
//! use leno_engine::{Context, Covered, Engine, Outcome, Statistics, Task, Verdict};
//! use leno_ir::analysis::facts::Facts;
//!
//! /// Knows that a program without functions does nothing.
//! struct Trivial;
//!
//! impl Engine for Trivial {
//!     fn name(&self) -> &'static str {
//!         "trivial"
//!     }
//!     fn check(&self, facts: &Facts<'_>, _: &Task, _: &Context) -> Outcome {
//!         let verdict = match facts.program().functions.is_empty() {
//!             true => Verdict::Safe,
//!             false => Verdict::unknown("there are functions", "take another engine"),
//!         };
//!         let covered = Covered::statement("nothing is executed");
//!         Outcome { verdict, covered, assumptions: Vec::new(), statistics: Statistics::default() }
//!     }
//! }
//!
//! let program = leno_ir::text::parse("program lp64\n")?;
//! let outcome = Trivial.check(&Facts::new(&program), &Task::default(), &Context::default());
//! assert_eq!(outcome.verdict, Verdict::Safe);
//! # Ok::<(), leno_ir::text::TextError>(())
//! ```
//!
//! | file | what is in it |
//! |---|---|
//! | `addresses` | where a SAFE depends on which addresses objects have |
//! | `task` | properties and bounds: what an engine is asked |
//! | `context` | limits, and progress for others to see |
//! | `outcome` | verdicts, what they cover and assume, what they took |
//! | `orders` | where a SAFE depends on the order in which operands are evaluated |
//! | `reported` | violations that have been reported already |
//! | `surroundings` | what a SAFE assumes of a program's arguments, environment and machine, and of `realloc` |
//! | `witness` | how violations are claimed, and how the interpreter is led to one |

mod addresses;
mod context;
mod orders;
mod outcome;
mod reported;
mod surroundings;
mod task;
pub mod witness;

pub use addresses::assumed_addresses;
pub use context::{Context, Progress};
pub use leno_limits::{Cancel, Limits, Stop};
pub use orders::assumed_orders;
pub use outcome::{
    Assumption, Counterexample, Covered, Figure, Outcome, Reason, SIGNALS_NEEDED, SourcePlace, Statistics, Unknown,
    Verdict,
};
pub use reported::Reported;
pub use surroundings::{assumed_moves, assumed_surroundings};
pub use task::{Bounds, Properties, Task, Unwinding, machine_options};

use leno_ir::analysis::facts::Facts;

/// A way to find violations, or to prove that there are none.
pub trait Engine {
    /// What it is called on the command line and in reports.
    fn name(&self) -> &'static str;

    /// Same program, same task: same outcome, except where a limit of the context was reached.
    fn check(&self, facts: &Facts<'_>, task: &Task, context: &Context) -> Outcome;
}
