//! Predictive analysis: one real run, all of its reorderings (Wang, Kundu, Ganai, Gupta, FM 2009).
//!
//! The program is compiled with a recorder and run once, natively. Then the solver decides whether some feasible reordering of what was
//! observed breaks a property. What it finds is followed by the interpreter before anything is claimed.
//!
//! ```no_run
//! use leno_predict::record::{RecordOptions, record};
//! use leno_predict::{PredictOptions, predict_trace, trace::Trace};
//! # fn get() -> leno_ir::program::Program { unimplemented!() }
//!
//! let program = get();
//! let file = std::path::Path::new("run.leno");
//! record(&program, &RecordOptions::default(), file)?;
//! let trace = Trace::read(&std::fs::read(file)?)?;
//! let prediction = predict_trace(&program, &trace, &PredictOptions::default());
//! for witness in prediction.confirmed() {
//!     println!("{:?}", witness.claim);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | step |
//! |---|---|
//! | `record`, `runtime/record.c` | run the program, and write down what comes into its threads |
//! | `trace` | the file that this makes |
//! | `instances` | which object an address of the run belongs to |
//! | `walk`, `steps`, `peek`, `express`, `pending` | the recorded path, walked through the representation |
//! | `survey`, `must` | what is a matter of order at all |
//! | `build`, `event` | the concurrent trace program: symbolic events (section 3) |
//! | `slice` | what the question does not depend on is left out |
//! | `encode` | the formula (section 4) |
//! | `model` | which reorderings count (section 6) |
//! | `question`, `stuck`, `atomicity` | what could go wrong |
//! | `predict` | asking, with a bound on context switches if wanted (section 5) |
//! | `stream`, `window`, `transplant` | a long trace, a piece at a time |
//! | `follow` | the answer, followed by the interpreter |
//! | `text` | traces of other tools |

mod atomicity;
mod build;
mod encode;
mod event;
mod express;
mod follow;
mod foresee;
mod instances;
mod memory;
mod model;
mod must;
mod peek;
mod pending;
mod predict;
mod question;
mod quiet;
pub mod record;
mod slice;
mod steps;
mod stream;
mod stuck;
mod survey;
pub mod text;
pub mod trace;
mod transplant;
mod walk;
mod window;

pub use atomicity::Blocks;
pub use build::{build, paths};
pub use encode::Encoding;
pub use event::TraceProgram;
pub use model::Model;
pub use predict::{PredictOptions, Predicted, Prediction, Reach, Stats, WINDOW, admits_recorded, predict};
pub use stream::predict_trace;
