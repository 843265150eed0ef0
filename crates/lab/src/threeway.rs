//! One program, three ways: compiled as it is, interpreted, and compiled from what Leno writes back.
//!
//! All three must print the same and end the same. Whatever differs is a mistake of ours (or undefined behaviour of the
//! program's).

use crate::process::{self, Ending, Finished};
pub use leno_testing::Scratch;
pub use leno_testing::compiler::{cc, execute, first_lines};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What the world sees of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Behaviour {
    pub ending: Ending,
    pub stdout: Vec<u8>,
}

impl From<Finished> for Behaviour {
    fn from(finished: Finished) -> Behaviour {
        Behaviour { ending: finished.ending, stdout: finished.stdout }
    }
}

impl Behaviour {
    /// The first difference, for people.
    pub fn difference(&self, other: &Behaviour) -> Option<String> {
        if self.ending != other.ending {
            return Some(format!("{:?} instead of {:?}", other.ending, self.ending));
        }
        if self.stdout == other.stdout {
            return None;
        }
        let (wanted, got) = (String::from_utf8_lossy(&self.stdout), String::from_utf8_lossy(&other.stdout));
        let differs = wanted.lines().zip(got.lines()).position(|(a, b)| a != b);
        let line = differs.unwrap_or_else(|| wanted.lines().count().min(got.lines().count()));
        let show = |text: &str| text.lines().nth(line).map_or("nothing".to_string(), |l| format!("{l:?}"));
        Some(format!("line {} of the output is {} instead of {}", line + 1, show(&got), show(&wanted)))
    }
}

/// Where the `leno` to be tried is, and how it is called.
#[derive(Clone, Debug)]
pub struct Leno {
    pub binary: PathBuf,
    pub limit: Duration,
}

impl Leno {
    fn call(&self, words: &[&OsStr]) -> Result<Finished, String> {
        let mut command = Command::new(&self.binary);
        command.args(words);
        process::run(&mut command, b"", self.limit).map_err(|error| format!("cannot run leno: {error}"))
    }

    /// `leno run`.
    pub fn run(&self, file: &Path, flags: &[&str]) -> Result<Finished, String> {
        let mut words: Vec<&OsStr> = vec!["run".as_ref()];
        words.extend(flags.iter().map(OsStr::new));
        words.push(file.as_os_str());
        self.call(&words)
    }

    /// `leno emit-c`, the compiler, and the result's run.
    pub fn emit_and_run(&self, file: &Path, flags: &[&str], scratch: &Scratch) -> Result<Finished, String> {
        let (emitted, binary) = (scratch.path("emitted.c"), scratch.path("emitted"));
        let mut words: Vec<&OsStr> = vec!["emit-c".as_ref(), "-o".as_ref(), emitted.as_os_str()];
        words.extend(flags.iter().map(OsStr::new));
        words.push(file.as_os_str());
        let finished = self.call(&words)?;
        if !finished.succeeded() {
            return Err(format!("emit-c {:?}: {}", finished.ending, first_lines(&finished.errors())));
        }
        cc(&[&emitted], &["-O1"], &binary).map_err(|error| format!("the emitted C is refused: {error}"))?;
        execute(&binary, &[] as &[&str], self.limit)
    }

    /// `leno dump --ir`, whose output must parse back to a program that prints the same.
    pub fn dump_and_parse(&self, file: &Path, flags: &[&str]) -> Result<(), String> {
        let mut words: Vec<&OsStr> = vec!["dump".as_ref(), "--ir".as_ref()];
        words.extend(flags.iter().map(OsStr::new));
        words.push(file.as_os_str());
        let finished = self.call(&words)?;
        if !finished.succeeded() {
            return Err(format!("dump {:?}: {}", finished.ending, first_lines(&finished.errors())));
        }
        let text = String::from_utf8(finished.stdout).map_err(|_| "the dump is not UTF-8".to_string())?;
        let program = leno_ir::text::parse(&text).map_err(|error| format!("the dump does not parse back: {error}"))?;
        if program.to_string() == text { Ok(()) } else { Err("the dump parses back to another program".to_string()) }
    }
}
