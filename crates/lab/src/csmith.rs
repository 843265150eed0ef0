//! Random programs from csmith: they have no undefined behaviour, and print a checksum of their variables.

use crate::process::{self, Ending};
use crate::threeway::{Behaviour, Leno, Scratch, cc, execute};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What became of one seed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// All three printed the same.
    Same,
    /// The original takes too long to be worth interpreting.
    Skipped,
    Different(String),
}

/// A program that takes gcc's code longer than this is not interpreted: that is some hundred times slower.
const ORIGINAL_LIMIT: Duration = Duration::from_millis(100);

/// Whether csmith can be run, and where its header is.
pub fn headers() -> Option<PathBuf> {
    let found = Command::new("csmith").arg("--version").output().is_ok_and(|output| output.status.success());
    let directory = Path::new("/usr/include/csmith").to_path_buf();
    (found && directory.join("csmith.h").exists()).then_some(directory)
}

/// Generates the program of a seed, and compares gcc, `leno run` and the emitted C.
pub fn compare(seed: u64, options: &[&str], leno: &Leno, headers: &Path) -> Verdict {
    let scratch = Scratch::new();
    match compare_in(seed, options, leno, headers, &scratch) {
        Ok(verdict) => verdict,
        Err(message) => Verdict::Different(message),
    }
}

fn compare_in(seed: u64, options: &[&str], leno: &Leno, headers: &Path, scratch: &Scratch) -> Result<Verdict, String> {
    let source = scratch.path("program.c");
    generate(seed, options, &source, scratch)?;
    let include = format!("-I{}", headers.display());
    let binary = scratch.path("original");
    cc(&[&source], &[include.as_str()], &binary)?;
    let original = execute(&binary, &[] as &[&str], ORIGINAL_LIMIT)?;
    if original.ending == Ending::TimedOut {
        return Ok(Verdict::Skipped);
    }
    let original = Behaviour::from(original);
    let interpreted = leno.run(&source, &[include.as_str()])?;
    if let Some(difference) = original.difference(&interpreted.clone().into()) {
        let said = crate::threeway::first_lines(&interpreted.errors());
        return Ok(Verdict::Different(format!("interpreter: {difference} ({said})")));
    }
    let emitted = leno.emit_and_run(&source, &[include.as_str()], scratch)?;
    if let Some(difference) = original.difference(&emitted.into()) {
        return Ok(Verdict::Different(format!("emitted C: {difference}")));
    }
    leno.dump_and_parse(&source, &[include.as_str()])?;
    Ok(Verdict::Same)
}

/// csmith writes a file about the platform into its directory, so it gets one of its own.
fn generate(seed: u64, options: &[&str], source: &Path, scratch: &Scratch) -> Result<(), String> {
    let mut command = Command::new("csmith");
    command.current_dir(scratch.path("")).args(["--seed", &seed.to_string()]).args(options);
    let limit = Duration::from_secs(30);
    let generated = process::run(&mut command, b"", limit).map_err(|error| format!("cannot run csmith: {error}"))?;
    if !generated.succeeded() {
        return Err(format!("csmith: {:?}", generated.ending));
    }
    fs::write(source, generated.stdout).map_err(|error| format!("cannot write the program: {error}"))
}
