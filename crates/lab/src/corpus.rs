//! Real programs by a manifest: how many of those that gcc accepts does Leno take?
//!
//! The manifest is a table with tabs between its columns; `file`, `model` and `cflags` are used, `{root}` in the flags
//! is the directory of the programs.

use crate::process::{self, Ending};
use crate::threeway::{Leno, Scratch, first_lines};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Row {
    pub file: PathBuf,
    pub model: String,
    pub flags: Vec<String>,
}

/// What Leno made of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    Lowered,
    /// gcc does not take it either.
    NotC,
    /// With the first lines of the diagnostic.
    Refused(String),
    /// A panic, a timeout, or a dump that does not parse back.
    Broken(String),
}

/// The rows of a manifest, each program with its flags once.
pub fn rows(manifest: &str, root: &Path) -> Result<Vec<Row>, String> {
    let mut lines = manifest.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let column = |name: &str| header.iter().position(|h| *h == name).ok_or(format!("no column `{name}`"));
    let (file, model, flags) = (column("file")?, column("model")?, column("cflags")?);
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let cell = |at: usize| cells.get(at).copied().unwrap_or_default();
        let flags = cell(flags).replace("{root}", &root.to_string_lossy());
        Row {
            file: root.join(cell(file)),
            model: cell(model).to_string(),
            flags: flags.split_whitespace().map(str::to_string).collect(),
        }
    };
    let mut rows: Vec<Row> = lines.filter(|line| !line.trim().is_empty()).map(row).collect();
    rows.sort();
    rows.dedup();
    Ok(rows)
}

/// Tries one program.
pub fn check(row: &Row, leno: &Leno) -> Verdict {
    let mut flags: Vec<&str> = row.flags.iter().map(String::as_str).collect();
    flags.extend(["--data-model", &row.model]);
    let shown = leno.dump_and_parse(&row.file, &flags);
    match shown {
        Ok(()) => Verdict::Lowered,
        Err(message) if !gcc_accepts(row) => {
            if is_refusal(&message) {
                Verdict::NotC
            } else {
                Verdict::Broken(message)
            }
        }
        Err(message) if is_refusal(&message) => Verdict::Refused(message),
        Err(message) => Verdict::Broken(message),
    }
}

/// Exit code 3 is the only good reason not to have a dump.
fn is_refusal(message: &str) -> bool {
    message.starts_with(&format!("dump {:?}", Ending::Status(3)))
}

fn gcc_accepts(row: &Row) -> bool {
    let scratch = Scratch::new();
    let model = if row.model == "ilp32" { "-m32" } else { "-m64" };
    let mut command = Command::new("gcc");
    command.args(["-w", "-c", "-std=gnu17", model]).args(&row.flags).arg(&row.file);
    command.arg("-o").arg(scratch.path("object"));
    process::run(&mut command, b"", Duration::from_secs(60)).is_ok_and(|finished| finished.succeeded())
}

/// A row for people.
pub fn describe(row: &Row, message: &str) -> String {
    format!("{}: {}", row.file.display(), first_lines(message))
}
