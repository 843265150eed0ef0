//! How many executions a second does the explorer make, and are they as many as there should be?
//!
//! Four programs from the literature on partial-order reduction, with the numbers of executions that optimal reduction explores.

use crate::process::{self, Ending};
use crate::speed::child_cpu;
use crate::threeway::Leno;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

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
        let file = programs.join(format!("{name}.c"));
        let (executions, all) = explore(&file, *size, leno)?;
        let (_, reading) = explore(&file, 1, leno)?;
        let seconds = all.saturating_sub(reading).as_secs_f64();
        // Clocks of processes tick a hundred times a second.
        let rate = if seconds < 0.05 { "-".to_string() } else { format!("{:.0}", executions as f64 / seconds) };
        let remark = if executions == *expected { String::new() } else { format!("  instead of {expected}") };
        is_right &= remark.is_empty();
        let _ = writeln!(table, "{name:12} {size:>3} {executions:>11} {seconds:>9.2} {rate:>12}{remark}");
    }
    table.push_str("(one core; processor time beyond what the same program takes with N = 1)\n");
    Ok((table, is_right))
}

/// The number of executions, and the least processor time of three runs.
fn explore(file: &Path, size: u32, leno: &Leno) -> Result<(u64, Duration), String> {
    let mut best = (0, Duration::MAX);
    for _ in 0..3 {
        let mut executions = Err(String::new());
        let time = child_cpu(1, || {
            executions = explore_once(file, size, leno);
            executions.is_ok()
        });
        best = (executions?, best.1.min(time));
    }
    Ok(best)
}

fn explore_once(file: &Path, size: u32, leno: &Leno) -> Result<u64, String> {
    let mut command = Command::new(&leno.binary);
    command.args(["check", "--engine", "explore", "--property", "assert", "--quiet", "--stats"]);
    command.arg(format!("-DN={size}")).arg(file);
    let finished = process::run(&mut command, b"", leno.limit).map_err(|error| error.to_string())?;
    let said = finished.errors();
    if finished.ending != Ending::Status(0) {
        return Err(format!("{} with N = {size}: {:?}\n{said}", file.display(), finished.ending));
    }
    let executions = said.lines().find_map(|line| line.strip_prefix("executions:")?.trim().parse().ok());
    executions.ok_or_else(|| format!("{}: no figures: {said}", file.display()))
}
