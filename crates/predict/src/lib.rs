//! Predictive analysis: one recorded run, all of its reorderings (Wang, Kundu, Ganai, Gupta, FM 2009; paper 003).
//!
//! Given a program and the trace of one run of it, the engine asks the solver whether some feasible reordering of the
//! recorded events violates a property. An answer counts only if the interpreter, on the same schedule, finds the
//! violation itself.
//!
//! ```
//! use leno_c::driver::{Input, Options, compile};
//! use leno_predict::{PredictOptions, Verdict, predict};
//! use leno_record::{RecordOptions, run_once};
//! # let text = "
//! # #include <pthread.h>
//! # int counter;
//! # static void *work(void *arg) { counter++; return 0; }
//! # int main(void) {
//! #     pthread_t thread;
//! #     pthread_create(&thread, 0, work, 0);
//! #     counter++;
//! #     pthread_join(thread, 0);
//! #     return 0;
//! # }";
//! # let file = std::env::temp_dir().join(format!("leno-predict-example-{}.c", std::process::id()));
//! # std::fs::write(&file, text)?;
//! # let sources = [Input::File(file.clone())];
//!
//! // Two threads increment a counter without a lock.
//! let program = compile(&sources, &Options::default()).map_err(|failure| failure.to_string())?.program;
//! let trace = run_once(&program, &RecordOptions::default())?;
//! let prediction = predict(&program, &trace, &PredictOptions::default());
//! assert_eq!(prediction.verdict(), Verdict::Violated);
//! for witness in prediction.confirmed() {
//!     println!("{:?}", witness.claim);
//! }
//! # std::fs::remove_file(file)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Recording is not part of the engine: `leno-record` compiles the program with a recorder and runs it. The engine
//! reads no files and starts no processes; it reads records from the [`Trace`](leno_trace::Trace) that it is given.
//!
//! | folder | stage |
//! |---|---|
//! | `walk` | the recorded path of each thread, walked through the representation |
//! | `program` | the concurrent trace program: symbolic events (section 3), in windows if the run is long |
//! | `encode` | the formula Φ_PO ∧ Φ_VD ∧ Φ_PI ∧ ¬Φ_PRP (section 4), and which reorderings count (section 6) |
//! | `query` | questions, the search with a bound on context switches (section 5), and the confirmation of answers |
//! | `text` | traces of other tools, without a program |

mod encode;
mod program;
mod query;
pub mod text;
mod walk;

pub use encode::Encoding;
pub use encode::causal_model::Model;
pub use program::build::{build, paths};
pub use program::event::TraceProgram;
pub use program::stream::predict;
pub use query::atomicity::AtomicBlocks;
pub use query::prediction::{Finding, PredictOptions, Prediction, Reach, Stats, Verdict, WINDOW};
pub use query::search::{admits_recorded, predict_events};
pub use walk::left_out::{AllLeftOut, LeftOut};
