//! The one place where tests ask engines. How engines are called is known here and to the tests of their own crates.
//!
//! Effort is bounded by what an engine has done, never by a clock: exploration may make so many executions, and loops
//! may be unrolled so far. A test has the same answers on every machine, however busy.

use leno::{CheckOptions, Checked, Properties, Reason, Task, Verdict};
use leno_engine::{Progress, Stop};
use leno_ir::program::Program;
use leno_ir::witness::Witness;
use std::thread;
use std::time::Duration;

pub use leno::EngineChoice as Engine;
pub use leno_bmc::{Calls, Mode, StagedEngine};

/// Exploration gives up after so many executions, or when one of them has so many events.
const EXECUTIONS: u64 = 20_000;
const EVENTS: usize = 5_000;

/// The staged engine gives up when a loop has been unrolled so far and could still go on.
const ROUNDS: u32 = 32;

/// What an engine says about a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Safe,
    Unsafe(Box<Witness>),
    /// Why there is no verdict.
    Unknown(String),
}

impl Answer {
    /// Whether there is a violation, where the engine knows.
    pub fn is_violated(&self) -> Option<bool> {
        match self {
            Answer::Safe => Some(false),
            Answer::Unsafe(_) => Some(true),
            Answer::Unknown(_) => None,
        }
    }

    /// What stands in the way of a verdict, if there is none.
    pub fn why_unknown(&self) -> Option<&str> {
        match self {
            Answer::Unknown(reason) => Some(reason),
            _ => None,
        }
    }
}

/// Asks one engine for these properties.
pub fn ask(program: &Program, engine: Engine, properties: Properties) -> Answer {
    ask_with(program, &CheckOptions { engine, task: Task::new(properties), ..CheckOptions::default() })
}

/// Asks with all options.
pub fn ask_with(program: &Program, options: &CheckOptions) -> Answer {
    answer(check(program, options))
}

/// The same, with all that came of it.
pub fn check(program: &Program, options: &CheckOptions) -> Checked {
    let mut options = options.clone();
    options.task.bounds.executions = Some(EXECUTIONS);
    options.task.bounds.depth = EVENTS;
    thread::scope(|scope| {
        let worker = scope.spawn(|| leno::check_program(program, &options));
        while !worker.is_finished() {
            if has_gone_far(&options.progress) {
                options.cancel.request(Stop::Cancelled);
            }
            thread::park_timeout(Duration::from_millis(2));
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Whether some loop `goes round at most 32 times`, or more, in what has been looked at.
fn has_gone_far(progress: &Progress) -> bool {
    let statement = progress.covered().map(|covered| covered.statement).unwrap_or_default();
    let words: Vec<&str> = statement.split_whitespace().collect();
    let bounds = words.windows(3).filter(|words| words[0] == "most" && words[2].starts_with("times"));
    bounds.filter_map(|words| words[1].parse::<u32>().ok()).any(|rounds| rounds >= ROUNDS)
}

/// The short form of an answer.
pub fn answer(checked: Checked) -> Answer {
    match checked.verdict {
        Verdict::Safe => Answer::Safe,
        Verdict::Unsafe(witness, _) => Answer::Unsafe(witness),
        Verdict::Unknown(unknown) if unknown.reason == Reason::Limit(Stop::Cancelled) => {
            Answer::Unknown(TOO_LARGE.to_string())
        }
        Verdict::Unknown(unknown) => Answer::Unknown(unknown.reason.to_string()),
    }
}

/// What is said of an engine that was told to give up.
pub const TOO_LARGE: &str = "too large for a test";

/// The properties that `--property` knows by these names, separated by commas.
pub fn properties(names: &str) -> Result<Properties, String> {
    let mut selected = Properties::NONE;
    for name in names.split(',').map(str::trim) {
        match name {
            "assert" => selected.assertion = true,
            "race" => selected.race = true,
            "deadlock" => selected.deadlock = true,
            "memsafety" => (selected.memory, selected.memtrack) = (true, true),
            "overflow" => selected.overflow = true,
            "leak" => selected.leak = true,
            "memtrack" => selected.memtrack = true,
            other => return Err(format!("`{other}` is no property")),
        }
    }
    Ok(selected)
}

/// Exactly one property.
pub const ASSERTION: Properties = Properties { assertion: true, ..Properties::NONE };
pub const RACE: Properties = Properties { race: true, ..Properties::NONE };
pub const DEADLOCK: Properties = Properties { deadlock: true, ..Properties::NONE };
pub const MEMORY: Properties = Properties { memory: true, ..Properties::NONE };
pub const LEAK: Properties = Properties { leak: true, ..Properties::NONE };
pub const MEMTRACK: Properties = Properties { memtrack: true, ..Properties::NONE };
