//! `leno` as a process.

use leno_testing::process::{Finished, run_patiently};
use std::path::Path;
use std::process::Command;

/// The command, in this folder.
pub fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leno"));
    command.current_dir(folder).args(words).env_remove("CC");
    command
}

/// Runs `leno` in this folder.
pub fn leno(folder: &Path, words: &[&str]) -> Finished {
    run_patiently(&mut command(folder, words))
}
