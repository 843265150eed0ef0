//! Is replay reliable? Every violation that Leno finds, forced on the real program again and again.
//!
//! Each program is checked for some property; what is found is written to a file and replayed a hundred times, with or
//! without other work on all processors. A violation that is confirmed 99 times out of 100 is a failure.

use crate::process::{self, Ending};
use crate::threeway::{Leno, Scratch, first_lines};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A program, and what to look for in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    pub file: PathBuf,
    pub property: String,
    pub model: String,
    pub flags: Vec<String>,
}

/// What came of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// No violation was found in time.
    Nothing,
    /// How often it was confirmed, and what was said when it was not.
    Replayed {
        confirmed: usize,
        said: String,
    },
    Broken(String),
}

/// How to replay.
pub struct Plan {
    /// Seconds for finding a violation.
    pub search: u64,
    pub repeat: usize,
    /// Keep all processors busy at the same time.
    pub load: bool,
}

/// The rows of a manifest that are expected to be unsafe.
pub fn jobs_of_manifest(manifest: &str, root: &Path) -> Result<Vec<Job>, String> {
    let mut lines = manifest.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let column = |name: &str| header.iter().position(|h| *h == name).ok_or(format!("no column `{name}`"));
    let columns = [column("file")?, column("property")?, column("model")?, column("cflags")?, column("expected")?];
    let rows = lines.filter(|line| !line.trim().is_empty()).filter_map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [file, property, model, flags, expected] =
            columns.map(|column| cells.get(column).copied().unwrap_or_default());
        let flags = flags.replace("{root}", &root.to_string_lossy());
        (expected == "unsafe").then(|| Job {
            file: root.join(file),
            property: property.to_string(),
            model: model.to_string(),
            flags: flags.split_whitespace().map(str::to_string).collect(),
        })
    });
    Ok(rows.collect())
}

/// Every property for every file, in both data models.
pub fn jobs_of_files(files: &[PathBuf]) -> Vec<Job> {
    let mut jobs = Vec::new();
    for file in files {
        for property in ["assert", "race", "deadlock", "memsafety", "overflow", "leak", "memtrack"] {
            for model in ["lp64", "ilp32"] {
                let (property, model) = (property.to_string(), model.to_string());
                jobs.push(Job { file: file.clone(), property, model, flags: Vec::new() });
            }
        }
    }
    jobs
}

/// Checks and replays all of them, one after the other, telling `each` what came of it.
pub fn run(jobs: &[Job], plan: &Plan, leno: &Leno, mut each: impl FnMut(&Job, &Outcome)) {
    let busy = AtomicBool::new(plan.load);
    std::thread::scope(|threads| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..if plan.load { processors } else { 0 } {
            threads.spawn(|| {
                while busy.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        for job in jobs {
            each(job, &run_job(job, plan, leno).unwrap_or_else(Outcome::Broken));
        }
        busy.store(false, Ordering::Relaxed);
    });
}

fn run_job(job: &Job, plan: &Plan, leno: &Leno) -> Result<Outcome, String> {
    let scratch = Scratch::new();
    let witness = scratch.path("witness.json");
    let mut check = Command::new(&leno.binary);
    check.args(["check", "--engine", "explore", "--no-replay", "--quiet", "--property", &job.property]);
    check.args(["--data-model", &job.model, "--timeout", &plan.search.to_string()]).args(&job.flags);
    check.arg("--witness").arg(&witness).arg(&job.file);
    let limit = Duration::from_secs(plan.search * 4 + 60);
    let checked = process::run(&mut check, b"", limit).map_err(|error| error.to_string())?;
    match checked.ending {
        Ending::Status(1) => {}
        Ending::Status(0 | 2 | 3) => return Ok(Outcome::Nothing),
        other => return Err(format!("check: {other:?}: {}", first_lines(&checked.errors()))),
    }
    let mut replay = Command::new(&leno.binary);
    replay.arg("replay").arg(&witness).args(["--repeat", &plan.repeat.to_string()]);
    let limit = Duration::from_secs(60 + 30 * plan.repeat as u64);
    let replayed = process::run(&mut replay, b"", limit).map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&replayed.stdout).into_owned();
    let count = said.lines().find_map(|line| line.strip_prefix("confirmed ")?.split(' ').next()?.parse().ok());
    match (count, plan.repeat, replayed.ending) {
        (Some(confirmed), ..) => Ok(Outcome::Replayed { confirmed, said: first_lines(&said) }),
        (None, 1, Ending::Status(1)) => Ok(Outcome::Replayed { confirmed: 1, said }),
        (None, 1, Ending::Status(2)) => Ok(Outcome::Replayed { confirmed: 0, said }),
        (None, _, ending) => Err(format!("replay: {ending:?}: {said}{}", first_lines(&replayed.errors()))),
    }
}
