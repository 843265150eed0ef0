//! That no test is left out.

use leno_testing::{files, repository};
use std::fs;
use std::path::Path;

/// Whether a file below a folder has unit tests.
fn has_unit_tests(folder: &Path) -> bool {
    files(folder).iter().any(|file| match file.is_dir() {
        true => has_unit_tests(file),
        false => fs::read_to_string(file).is_ok_and(|text| text.contains("#[test]")),
    })
}

/// To build a library once more for its unit tests takes long, so those that have none say so.
#[test]
fn a_crate_that_says_it_has_no_unit_tests_has_none() {
    for folder in files(repository("crates")) {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let is_skipped = manifest.split("[[bin]]").next().is_some_and(|text| text.contains("\ntest = false"));
        // (The tests of the command line are part of its binary.)
        let is_excepted = folder.ends_with("leno");
        assert!(!is_skipped || is_excepted || !has_unit_tests(&folder.join("src")), "{}", folder.display());
    }
}
