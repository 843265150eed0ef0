//! Leno as a library: read C, run it, write it back.
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

pub use checking::{
    CheckOptions, Checked, Engine, Figures, Interruption, Unknown, Verdict, check, check_all, replay_machine,
};
pub use execution::{Frame, Position, Run, RunOptions, run, run_in};
pub use leno_bmc::Unwinding;
pub use leno_c::driver::{Compiled, Failure, Input, Options, Report, compile};
pub use leno_explore::{Properties, Stats};
pub use leno_ir::interp::Ending;
pub use leno_ir::program::Program;

use std::path::Path;

/// Reads one C file.
pub fn compile_file(path: impl AsRef<Path>) -> Result<Compiled, Failure> {
    compile(&[Input::File(path.as_ref().to_path_buf())], &Options::default())
}

/// Reads C text that needs no preprocessor.
pub fn compile_text(text: &str) -> Result<Compiled, Failure> {
    let input = Input::Preprocessed { name: "<text>".to_string(), text: text.as_bytes().to_vec() };
    compile(&[input], &Options::default())
}

/// The program as one C file that does the same.
pub fn emit_c(program: &Program) -> String {
    leno_emit::emit(program, &leno_emit::Options::default())
}
