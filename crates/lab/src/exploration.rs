//! How many executions a second does the explorer make, and are they as many as there should be?
//!
//! Programs from the literature on partial-order reduction and from the tests of other explorers, with the numbers that
//! those have published; and programs whose executions a closed formula counts (it is in the first lines of each).
//! Nothing may be given up as redundant.

use crate::process::{self, Ending};
use crate::speed::child_cpu;
use crate::threeway::Leno;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Program, sizes, executions.
const EXPECTED: &[(&str, &str, u64)] = &[
    ("lastzero", "-DN=5", 64),
    ("lastzero", "-DN=10", 3_328),
    ("lastzero", "-DN=15", 147_456),
    ("filesystem", "-DN=14", 4),
    ("filesystem", "-DN=16", 16),
    ("filesystem", "-DN=18", 64),
    ("filesystem", "-DN=19", 128),
    ("indexer", "-DN=12", 8),
    ("indexer", "-DN=15", 4_096),
    ("readers", "-DN=8", 256),
    ("readers", "-DN=13", 8_192),
    ("readers", "-DN=15", 32_768),
    ("sigma", "-DN=3", 15),
    ("sigma", "-DN=4", 105),
    ("sigma", "-DN=5", 945),
    ("sigma", "-DN=6", 10_395),
    ("sigma", "-DN=7", 135_135),
    ("sigma", "-DN=8", 2_027_025),
    ("hwqueue", "", 43_732),
    ("fibonacci", "", 218_243),
    ("coherence", "-DN=6", 49_776),
    ("casrot", "-DN=9", 8_597),
    ("casw", "-DN=5", 32_880),
    ("wcas", "-DN=9", 1_025),
    ("wcas", "-DN=13", 24_577),
    ("adders", "-DN=9 -DREADERS=0", 1),
    ("adders", "-DN=15", 16_384),
    ("tickets", "-DN=3 -DK=4", 34_650),
    ("tickets", "-DN=8 -DK=1", 40_320),
    ("writers", "-DN=2 -DK=9", 48_620),
    ("writers", "-DN=5 -DK=2", 113_400),
    ("locks", "-DN=4 -DK=3", 369_600),
    ("locks", "-DN=8 -DK=1", 40_320),
    ("increments", "-DN=5", 14_400),
    ("increments", "-DN=6", 518_400),
    ("ring", "-DN=14", 16_383),
    ("observers", "-DN=7 -DK=4", 15_625),
];

/// A table, and whether all numbers are the published ones. `programs` is where the programs are.
pub fn measure(programs: &Path, leno: &Leno) -> Result<(String, bool), String> {
    let mut table =
        format!("{:12} {:18} {:>11} {:>9} {:>12}\n", "program", "size", "executions", "seconds", "a second");
    let mut is_right = true;
    for (name, size, expected) in EXPECTED {
        let file = programs.join(format!("{name}.c"));
        let (executions, redundant, time) = explore(&file, size, leno)?;
        let seconds = time.as_secs_f64();
        // Reading a program takes a part of that.
        let rate = if seconds < 0.05 { "-".to_string() } else { format!("{:.0}", executions as f64 / seconds) };
        let remark = match (executions == *expected, redundant) {
            (true, 0) => String::new(),
            (true, _) => format!("  and {redundant} redundant"),
            (false, _) => format!("  instead of {expected}"),
        };
        is_right &= remark.is_empty();
        let _ = writeln!(table, "{name:12} {size:18} {executions:>11} {seconds:>9.2} {rate:>12}{remark}");
    }
    table.push_str("(one core; processor time, with that for reading the program)\n");
    Ok((table, is_right))
}

/// The numbers of executions and of redundant ones, and the least processor time.
fn explore(file: &Path, size: &str, leno: &Leno) -> Result<(u64, u64, Duration), String> {
    let mut best = Duration::MAX;
    loop {
        let mut said = Err(String::new());
        let time = child_cpu(1, || {
            said = explore_once(file, size, leno);
            said.is_ok()
        });
        let said = said?;
        let figure = |name: &str| {
            let found = said.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
            found.ok_or_else(|| format!("{}: no figures: {said}", file.display()))
        };
        // A short run is made twice.
        let is_enough = best < Duration::MAX || time > Duration::from_millis(500);
        best = best.min(time);
        if is_enough {
            return Ok((figure("executions:")?, figure("redundant:")?, best));
        }
    }
}

/// What a run reports.
fn explore_once(file: &Path, size: &str, leno: &Leno) -> Result<String, String> {
    let mut command = Command::new(&leno.binary);
    command.args(["check", "--engine", "explore", "--property", "assert", "--quiet", "--stats"]);
    command.args(size.split_whitespace()).arg(file);
    let finished = process::run(&mut command, b"", leno.limit).map_err(|error| error.to_string())?;
    let said = finished.errors();
    match finished.ending {
        Ending::Status(0) => Ok(said.to_string()),
        ending => Err(format!("{} {size}: {ending:?}\n{said}", file.display())),
    }
}
