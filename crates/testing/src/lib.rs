//! What the tests of all crates share, so that a test is a program and what is expected of it.
//!
//! | file | what is in it |
//! |---|---|
//! | `random` | one generator of random numbers |
//! | `scratch` | temporary folders |
//! | `process` | child processes with a time limit |
//! | `compiler` | the system's C compiler |
//! | `workers` | the same work on many items, on all cores |
//! | `program` | C text to a program (feature `engines`, as the rest) |
//! | `header` | declarations of the C library, for programs that need no preprocessor |
//! | `engine` | the one place where tests ask engines |
//! | `recorded` | a run that was recorded, for prediction |
//! | `expectation` | what a program in `tests/programs` says about itself |

pub mod compiler;
pub mod process;
pub mod random;
pub mod scratch;
pub mod workers;

#[cfg(feature = "engines")]
pub mod engine;
#[cfg(feature = "engines")]
pub mod expectation;
#[cfg(feature = "engines")]
pub mod header;
#[cfg(feature = "engines")]
pub mod program;
#[cfg(feature = "engines")]
pub mod recorded;

pub use random::Random;
pub use scratch::Scratch;

use std::path::PathBuf;

/// A file or folder of the repository.
pub fn repository(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// The files in a folder, sorted by name.
pub fn files(folder: impl AsRef<std::path::Path>) -> Vec<PathBuf> {
    let folder = folder.as_ref();
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// How many to try: what the environment says, or `default`.
pub fn count(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
