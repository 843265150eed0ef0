//! How many executions a second does the explorer make, and are they as many as there should be?
//!
//! Four programs from the literature on partial-order reduction, with the numbers of executions that optimal reduction explores.

use crate::process::{self, Ending};
use crate::threeway::Leno;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Program, size, executions.
const PUBLISHED: &[(&str, u32, u64)] = &[
    ("lastzero", 5, 64),
    ("lastzero", 10, 3_328),
    ("lastzero", 15, 147_456),
    ("filesystem", 14, 4),
    ("filesystem", 16, 16),
    ("filesystem", 18, 64),
    ("filesystem", 19, 128),
    ("indexer", 12, 8),
    ("indexer", 15, 4_096),
    ("readers", 8, 256),
    ("readers", 13, 8_192),
];

/// A table, and whether all numbers are the published ones. `programs` is where the programs are.
pub fn measure(programs: &Path, leno: &Leno) -> Result<(String, bool), String> {
    let mut table = format!("{:12} {:>3} {:>11} {:>9} {:>12}\n", "program", "N", "executions", "seconds", "a second");
    let mut is_right = true;
    for (name, size, expected) in PUBLISHED {
        let (executions, seconds) = explore(&programs.join(format!("{name}.c")), *size, leno)?;
        let rate = executions as f64 / seconds.max(0.000_5);
        let remark = if executions == *expected { String::new() } else { format!("  instead of {expected}") };
        is_right &= remark.is_empty();
        let _ = writeln!(table, "{name:12} {size:>3} {executions:>11} {seconds:>9.3} {rate:>12.0}{remark}");
    }
    table.push_str("(one core; the time of the search alone)\n");
    Ok((table, is_right))
}

/// The number of executions, and the shortest time of three.
fn explore(file: &Path, size: u32, leno: &Leno) -> Result<(u64, f64), String> {
    let mut best = (0, f64::INFINITY);
    for _ in 0..3 {
        let mut command = Command::new(&leno.binary);
        command.args(["check", "--engine", "explore", "--property", "assert", "--quiet", "--stats"]);
        command.arg(format!("-DN={size}")).arg(file);
        let finished = process::run(&mut command, b"", leno.limit).map_err(|error| error.to_string())?;
        if finished.ending != Ending::Status(0) {
            return Err(format!("{} with N = {size}: {:?}\n{}", file.display(), finished.ending, finished.errors()));
        }
        let said = finished.errors();
        let value = |name: &str| said.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
        let (Some(executions), Some(seconds)) = (value("executions:"), value("seconds:")) else {
            return Err(format!("{}: no figures: {said}", file.display()));
        };
        if seconds < best.1 {
            best = (executions as u64, seconds);
        }
    }
    Ok(best)
}
