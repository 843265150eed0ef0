//! Leno as a library: read C, check it, run it, write it back.
//!
//! ```
//! let lost_update = "
//!     typedef unsigned long pthread_t;
//!     int pthread_create(pthread_t *, void *, void *(*)(void *), void *);
//!     int pthread_join(pthread_t, void **);
//!     int counter;
//!     void *increment(void *unused) { counter++; return unused; }
//!     int main(void) {
//!         pthread_t thread;
//!         pthread_create(&thread, 0, increment, 0);
//!         counter++;
//!         return pthread_join(thread, 0);
//!     }";
//! let checked = leno::check(lost_update)?;
//! assert!(matches!(checked.verdict, leno::Verdict::Unsafe(..)));
//! # Ok::<(), leno::Failure>(())
//! ```
//!
//! Prediction runs the program once, natively, and decides whether any reordering of that run goes wrong:
//!
//! ```
//! let prediction = leno::predict("int x; int main(void) { x = 1; return x - 1; }")?;
//! assert_eq!(prediction.verdict(), leno::PredictionVerdict::Holds);
//! assert_eq!(prediction.confirmed().count(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A program can also be run under one schedule, and written back:
//!
//! ```
//! let program = leno::compile_text("int main(void) { return 6 * 7; }")?.program;
//! let outcome = leno::run(&program, &leno::RunOptions::default());
//! assert_eq!(outcome.ending, leno::Ending::Exited(42));
//! assert!(leno::emit_c(&program).contains("main"));
//! # Ok::<(), leno::Failure>(())
//! ```
//!
//! A violation comes with its place and with what every thread was doing:
//!
//! ```
//! let text = "int a[3]; int main(void) { int i = 3; return a[i]; }";
//! let outcome = leno::run(&leno::compile_text(text)?.program, &leno::RunOptions::default());
//! assert!(outcome.report().expect("a violation").starts_with("violation: access out of bounds"));
//! # Ok::<(), leno::Failure>(())
//! ```

mod checking;
mod execution;
mod library;
mod linearizing;
mod proving;
mod reading;

pub use checking::{CheckOptions, Checked, EngineChoice, Verdict, check_all, check_program, replay_machine};
pub use execution::{Frame, Position, Run, RunOptions, run, run_in};
pub use leno_c::driver::{Compiled, Failure, Input, Options, Report};
pub use leno_engine::{
    Assumption, Bounds, Cancel, Covered, Progress, Properties, Reason, SourcePlace, Statistics, Task, Unknown,
    Unwinding,
};
pub use leno_ir::interp::Ending;
pub use leno_ir::program::Program;
pub use leno_linear::{ClientOptions, OperationNames};
pub use leno_predict::{PredictOptions, Prediction, Verdict as PredictionVerdict};
pub use leno_report::Steps;
pub use library::{Uses, open_library};
pub use linearizing::{LinearizeError, LinearizeOptions, Linearized, linearize};
pub use reading::{compile, compile_open, is_boolean};

use std::path::Path;

/// Reads one file.
pub fn compile_file(path: impl AsRef<Path>) -> Result<Compiled, Failure> {
    compile(&[Input::File(path.as_ref().to_path_buf())], &Options::default())
}

/// Reads C text that needs no preprocessor.
pub fn compile_text(text: &str) -> Result<Compiled, Failure> {
    let input = Input::Preprocessed { name: "<text>".to_string(), text: text.as_bytes().to_vec() };
    compile(&[input], &Options::default())
}

/// Checks C text that needs no preprocessor, with all engines, and forces what is found on the real program.
pub fn check(text: &str) -> Result<Checked, Failure> {
    let program = compile_text(text)?.program;
    let replay = Some(leno_replay::ReplayOptions::default());
    Ok(check_program(&program, &CheckOptions { replay, ..CheckOptions::default() }))
}

/// Runs C text that needs no preprocessor once, as the machine does, and decides whether any reordering of that run
/// goes wrong.
pub fn predict(text: &str) -> Result<Prediction, Box<dyn std::error::Error>> {
    let program = compile_text(text)?.program;
    let trace = leno_record::run_once(&program, &leno_record::RecordOptions::default())?;
    Ok(leno_predict::predict(&program, &trace, &PredictOptions::default()))
}

/// The program as one C file that does the same.
pub fn emit_c(program: &Program) -> String {
    leno_emit::emit(program, &leno_emit::Options::default())
}
