//! A fixed set of random programs: gcc, the interpreter and the emitted C agree on their checksums.
//!
//! `cargo run --release -p leno-lab -- csmith 500` does more of the same.

use leno_lab::csmith::{Verdict, compare, headers};
use leno_lab::threeway::Leno;
use leno_testing::workers;
use std::path::PathBuf;
use std::time::Duration;

/// Smaller programs than csmith makes by itself, so that this takes seconds.
const OPTIONS: &[&str] = &["--max-funcs", "4", "--max-block-depth", "3", "--max-expr-complexity", "6"];

#[test]
fn random_programs_behave_the_same_three_ways() {
    // The script that runs all tests installs csmith where it may.
    let Some(headers) = headers() else {
        eprintln!("csmith is not installed: nothing is compared");
        return;
    };
    let leno = Leno { binary: PathBuf::from(env!("CARGO_BIN_EXE_leno")), limit: Duration::from_secs(60) };
    let seeds: Vec<u64> = (1..=15).collect();
    let verdicts = workers::each(&seeds, |seed| compare(*seed, OPTIONS, &leno, &headers));
    let different: Vec<String> = seeds
        .iter()
        .zip(&verdicts)
        .filter_map(|(seed, verdict)| match verdict {
            Verdict::Different(message) => Some(format!("seed {seed}: {message}")),
            Verdict::Same | Verdict::Skipped => None,
        })
        .collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
    let compared = verdicts.iter().filter(|verdict| **verdict == Verdict::Same).count();
    assert!(compared >= 10, "only {compared} programs were compared");
}
