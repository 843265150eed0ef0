//! The public c-testsuite: small programs with their expected output.

use crate::process::Ending;
use crate::threeway::{Behaviour, Leno, Scratch, first_lines};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The programs of a checkout's `tests/single-exec`.
pub fn programs(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut programs: Vec<PathBuf> = fs::read_dir(directory)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    programs.sort();
    Ok(programs)
}

/// Runs one program both ways. The suite expects status 0, and the text in the file beside it.
pub fn check(program: &Path, leno: &Leno) -> Result<(), String> {
    let mut expected = program.as_os_str().to_os_string();
    expected.push(".expected");
    let stdout = fs::read(&expected).map_err(|error| format!("no expected output: {error}"))?;
    let expected = Behaviour { ending: Ending::Status(0), stdout };
    let interpreted = leno.run(program, &[])?;
    if let Some(difference) = expected.difference(&interpreted.clone().into()) {
        return Err(format!("run: {difference} ({})", first_lines(&interpreted.errors())));
    }
    let scratch = Scratch::new();
    let emitted = leno.emit_and_run(program, &[], &scratch)?;
    if let Some(difference) = expected.difference(&emitted.into()) {
        return Err(format!("emitted C: {difference}"));
    }
    leno.dump_and_parse(program, &[])
}
