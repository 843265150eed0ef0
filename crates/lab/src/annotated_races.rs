//! Races, line by line: programs in which comments say at which lines accesses race and at which they do not.
//!
//! The manifest is a table with tabs between its columns: `file`, `race_lines`, `norace_lines` (numbers with commas, or `-`)
//! and `note`. For each program, `leno prove --property race` is asked. A line is proved free if the whole program is, or if
//! it is in no pair of accesses that may race. A line with a race must never be.
//!
//! The tests include a header of their tool, in place of which they are given a small one of ours.

use crate::process;
use crate::threeway::{Leno, Scratch};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// In place of the header that the tests include: what they state is not looked at, what they assume is.
const HEADER: &str = "#include <stdlib.h>
#define __goblint_check(condition) ((void)(condition))
#define __goblint_assert(condition) ((void)(condition))
#define __goblint_assume(condition) do { if (!(condition)) abort(); } while (0)
void __goblint_assume_join(unsigned long thread, ...);
void __goblint_unknown(void *pointer, ...);
";

/// A program with its annotations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    pub file: PathBuf,
    pub racing: BTreeSet<u32>,
    pub free: BTreeSet<u32>,
    /// Written for an option of another tool.
    pub has_options: bool,
}

/// What was said of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The lines that may race; none if nothing was said of them.
    pub may_race: Option<BTreeSet<u32>>,
    /// The first line of the report.
    pub said: String,
}

/// The rows of a manifest.
pub fn rows(manifest: &str, root: &Path) -> Result<Vec<Row>, String> {
    let numbers = |text: &str| -> Result<BTreeSet<u32>, String> {
        let all = text.split(',').filter(|number| *number != "-" && !number.is_empty());
        all.map(|number| number.parse().map_err(|_| format!("`{number}` is no line"))).collect()
    };
    let mut rows = Vec::new();
    for line in manifest.lines().skip(1).filter(|line| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [file, racing, free, note] = cells[..] else { return Err(format!("not four columns: {line}")) };
        let (racing, free) = (numbers(racing)?, numbers(free)?);
        rows.push(Row { file: root.join(file), racing, free, has_options: note == "param" });
    }
    Ok(rows)
}

/// Asks about one program.
pub fn ask(row: &Row, leno: &Leno) -> Result<Answer, String> {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("goblint.h"), HEADER).map_err(|error| error.to_string())?;
    let mut command = Command::new(&leno.binary);
    command.args(["prove", "--property", "race", "--timeout"]).arg(leno.limit.as_secs().to_string());
    command.arg("-I").arg(scratch.path("goblint.h").parent().unwrap_or(Path::new("."))).arg(&row.file);
    let finished = process::run(&mut command, b"", 2 * leno.limit).map_err(|error| error.to_string())?;
    let (text, errors) = (finished.output(), finished.errors());
    let said = text.lines().chain(errors.lines()).next().unwrap_or_default().to_string();
    Ok(Answer { may_race: lines_that_may_race(&text, &row.file), said })
}

fn lines_that_may_race(report: &str, file: &Path) -> Option<BTreeSet<u32>> {
    if report.starts_with("SAFE") {
        return Some(BTreeSet::new());
    }
    if !report.lines().next()?.contains("not proved free of races") {
        return None;
    }
    let place = |text: &str| {
        let (name, line) = text.trim().rsplit_once(':')?;
        line.parse::<u32>().ok().filter(|_| Path::new(name) == file)
    };
    // (The last is one of them, where they are too many to be listed.)
    let pairs = report.lines().filter_map(|line| line.split_once("the access at ")?.1.split_once(" may race with "));
    let last = |others: &str| others.rsplit_once("the one at ").and_then(|(_, other)| place(other));
    Some(pairs.flat_map(|(first, others)| [place(first), last(others)]).flatten().collect())
}

/// Counts over all programs.
#[derive(Clone, Default, Debug)]
pub struct Summary {
    free: usize,
    proved: usize,
    racing: usize,
    /// Lines that race, and were proved not to.
    wrong: usize,
    programs: usize,
    without_answer: usize,
}

impl Summary {
    /// Adds a program; says what is not as it should be.
    pub fn add(&mut self, row: &Row, answer: &Answer) -> Vec<String> {
        let name = row.file.display();
        let option = if row.has_options { " (written for an option of another tool)" } else { "" };
        self.programs += 1;
        self.free += row.free.len();
        self.racing += row.racing.len();
        let Some(may_race) = &answer.may_race else {
            self.without_answer += 1;
            return vec![format!("{name}{option}: {}", answer.said)];
        };
        let unproved: Vec<&u32> = row.free.intersection(may_race).collect();
        let wrong: Vec<&u32> = row.racing.difference(may_race).collect();
        self.proved += row.free.len() - unproved.len();
        self.wrong += wrong.len();
        let mut lines = Vec::new();
        if !unproved.is_empty() {
            lines.push(format!("{name}{option}: not proved free: {unproved:?}"));
        }
        if !wrong.is_empty() {
            lines.push(format!("{name}{option}: PROVED FREE, but annotated as racing: {wrong:?}"));
        }
        lines
    }

    pub fn is_right(&self) -> bool {
        self.wrong == 0
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = 100.0 * self.proved as f64 / self.free.max(1) as f64;
        writeln!(f, "{} of {} lines without a race are proved free: {share:.1} %", self.proved, self.free)?;
        writeln!(f, "{} of {} lines with a race are proved free", self.wrong, self.racing)?;
        write!(f, "{} of {} programs without an answer", self.without_answer, self.programs)
    }
}
