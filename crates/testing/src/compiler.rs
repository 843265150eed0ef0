//! The system's C compiler.

use crate::process::{self, Finished};
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Compiles C with the system's compiler; the error is what the compiler said.
pub fn cc(files: &[impl AsRef<Path>], flags: &[impl AsRef<OsStr>], output: &Path) -> Result<(), String> {
    let mut command = Command::new("cc");
    command.args(["-w", "-o"]).arg(output);
    command.args(files.iter().map(AsRef::as_ref)).args(flags).args(["-pthread", "-lm"]);
    let finished =
        process::run(&mut command, b"", process::PATIENCE).map_err(|error| format!("cannot run cc: {error}"))?;
    if finished.succeeded() { Ok(()) } else { Err(format!("cc: {}", first_lines(&finished.errors()))) }
}

/// Runs a program.
pub fn execute(program: &Path, args: &[impl AsRef<OsStr>], limit: Duration) -> Result<Finished, String> {
    process::run(Command::new(program).args(args), b"", limit).map_err(|error| format!("cannot run it: {error}"))
}

/// Enough of a message to recognise it by.
pub fn first_lines(text: &str) -> String {
    text.lines().take(3).collect::<Vec<_>>().join(" ⏎ ")
}
