//! What sanitizers see, Leno must see.
//!
//! Random programs run natively, again and again, under ThreadSanitizer and AddressSanitizer. Each report is about a run
//! that really happened, so a `SAFE` of Leno's for the property that it is about is wrong. (The other direction says
//! nothing: a sanitizer sees only what happened.)

use crate::process::{self, Ending};
use crate::threeway::{Leno, Scratch, cc};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// How programs are run natively.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How often under each sanitizer.
    pub runs: u32,
    /// A run that takes longer hangs.
    pub limit: Duration,
}

/// Runs that hang are a deadlock, and after so many of them the others are left out: each costs the limit.
const MOST_HANGS: u32 = 3;

/// Runs a program again and again.
const REPEATED: &str = include_str!("repeated.c");

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Sanitizer {
    Thread,
    Address,
}

impl Sanitizer {
    const ALL: [Sanitizer; 2] = [Sanitizer::Thread, Sanitizer::Address];

    fn flags(self) -> [&'static str; 3] {
        match self {
            Sanitizer::Thread => ["-fsanitize=thread", "-O1", "-Dmain=program_main"],
            Sanitizer::Address => ["-fsanitize=address", "-O1", "-Dmain=program_main"],
        }
    }

    /// Whether it knows everything that occurs in a program: gcc's ThreadSanitizer ignores fences.
    fn understands(self, text: &str) -> bool {
        self == Sanitizer::Address || !text.contains("__atomic_thread_fence")
    }
}

/// What came of a program: for each property that a run violated, the report, and Leno's verdict.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Compared {
    pub properties: BTreeMap<&'static str, (String, Verdict)>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    Safe,
    Unsafe,
    Unknown,
}

/// Runs a program under both sanitizers, and checks it for what they report.
pub fn compare(text: &str, plan: Plan, leno: &Leno) -> Result<Compared, String> {
    let scratch = Scratch::new();
    let (file, native, repeated) = (scratch.path("program.c"), scratch.path("native.c"), scratch.path("repeated.c"));
    for (path, text) in [(&file, text), (&native, leno_generate::NATIVE), (&repeated, REPEATED)] {
        std::fs::write(path, text).map_err(|error| error.to_string())?;
    }
    let mut reported: BTreeMap<&'static str, String> = BTreeMap::new();
    for sanitizer in Sanitizer::ALL.into_iter().filter(|sanitizer| sanitizer.understands(text)) {
        let binary = scratch.path("program");
        cc(&[&file, &native, &repeated], &sanitizer.flags(), &binary)?;
        for (property, report) in observe(&binary, plan)? {
            reported.entry(property).or_insert(report);
        }
    }
    let mut compared = Compared::default();
    for (property, report) in reported {
        compared.properties.insert(property, (report, check(&file, property, leno)?));
    }
    Ok(compared)
}

/// The properties that runs of a program violate, each with a line of the report.
fn observe(binary: &Path, plan: Plan) -> Result<BTreeMap<&'static str, String>, String> {
    // Without address randomisation ThreadSanitizer starts on every kernel.
    let mut command = Command::new("setarch");
    command.arg("-R").arg(binary);
    command.args([plan.runs.to_string(), plan.limit.as_millis().to_string(), MOST_HANGS.to_string()]);
    // (Names in reports take most of the time, and an end waits a second for threads that still run.)
    command.env("TSAN_OPTIONS", "halt_on_error=0 symbolize=0 atexit_sleep_ms=5");
    command.env("ASAN_OPTIONS", "detect_stack_use_after_return=1 symbolize=0");
    let most = plan.limit * MOST_HANGS + START + PER_RUN * plan.runs;
    let finished = process::run(&mut command, b"", most).map_err(|error| format!("setarch: {error}"))?;
    if finished.ending != Ending::Status(0) {
        return Err(format!("the runs ended with {:?}", finished.ending));
    }
    let mut seen = BTreeMap::new();
    for line in finished.errors().lines() {
        if let Some(property) = property_of(line) {
            seen.entry(property).or_insert_with(|| line.trim().to_string());
        }
    }
    Ok(seen)
}

/// Far more than what starting takes, and each run of those that do not hang.
const START: Duration = Duration::from_secs(60);
const PER_RUN: Duration = Duration::from_secs(1);

/// The property that a line of a report is about.
fn property_of(line: &str) -> Option<&'static str> {
    let about = |words: &[&str]| words.iter().any(|word| line.contains(word));
    if line.starts_with("run ") && line.ends_with(": abort") {
        return Some("assert");
    }
    if about(&["ThreadSanitizer: data race"]) {
        return Some("race");
    }
    let memory = ["use-after-free", "use-after-scope", "use-after-return", "buffer-overflow", "double-free"];
    let more = ["attempting free", "SEGV on unknown address", "stack-use-after", "global-buffer", "param-overlap"];
    let is_report = about(&["ERROR: AddressSanitizer", "WARNING: ThreadSanitizer", "ERROR: ThreadSanitizer"]);
    if is_report && (about(&memory) || about(&more)) {
        return Some("memsafety");
    }
    about(&["ERROR: LeakSanitizer: detected memory leaks"]).then_some("memtrack")
}

fn check(file: &Path, property: &str, leno: &Leno) -> Result<Verdict, String> {
    let seconds = leno.limit.as_secs().max(1).to_string();
    let mut command = Command::new(&leno.binary);
    command.args(["check", "--no-replay", "--quiet", "--timeout", &seconds, "--property", property]).arg(file);
    let limit = leno.limit * 3 + Duration::from_secs(10);
    let finished = process::run(&mut command, b"", limit).map_err(|error| format!("leno: {error}"))?;
    match finished.ending {
        Ending::Status(0) => Ok(Verdict::Safe),
        Ending::Status(1) => Ok(Verdict::Unsafe),
        Ending::Status(2) | Ending::TimedOut => Ok(Verdict::Unknown),
        Ending::Status(status) => Err(format!("leno ended with {status}: {}", finished.errors())),
    }
}

/// What all programs together came to.
#[derive(Default)]
pub struct Summary {
    verdicts: BTreeMap<(&'static str, Verdict), u64>,
    programs: u64,
    broken: u64,
    wrong: BTreeSet<u64>,
}

impl Summary {
    /// Adds a program; gives lines about what is wrong with it.
    pub fn add(&mut self, seed: u64, compared: &Result<Compared, String>) -> Vec<String> {
        self.programs += 1;
        let compared = match compared {
            Ok(compared) => compared,
            Err(message) => {
                self.broken += 1;
                return vec![format!("seed {seed}: BROKEN {message}")];
            }
        };
        let mut lines = Vec::new();
        for (property, (report, verdict)) in &compared.properties {
            *self.verdicts.entry((property, *verdict)).or_default() += 1;
            if *verdict == Verdict::Safe {
                self.wrong.insert(seed);
                lines.push(format!("seed {seed}: WRONG, {property} is SAFE, but a run had: {report}"));
            }
        }
        lines
    }

    pub fn is_right(&self) -> bool {
        self.wrong.is_empty() && self.broken == 0
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} programs, {} broken", self.programs, self.broken)?;
        for ((property, verdict), count) in &self.verdicts {
            writeln!(f, "{property} reported by a sanitizer, and Leno says {verdict:?}: {count}")?;
        }
        write!(f, "{} programs with a wrong SAFE", self.wrong.len())
    }
}
