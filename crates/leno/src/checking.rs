//! Checking a program: the verdict, and the report that a person reads.
//!
//! ```text
//! UNSAFE: assertion violated
//!   --> examples/bank_account.c:29:5
//!    |
//! 29 |     assert(balance == 170);
//!    |     ^^^^^^
//!    = in thread main: balance == 170
//!
//! How it happens:
//!   main     examples/bank_account.c:26   starts main.1
//!   main.1   examples/bank_account.c:18   reads balance: 100
//!   …
//! ```

use leno_bmc::{Reported, Task, Unwinding};
use leno_c::diagnostic::render_excerpt;
use leno_explore::{Bounds, Explored, Incomplete, Limits, Properties, Stats};
use leno_ir::program::{Program, Span};
use leno_ir::witness::{Claim, Step, Witness};
use leno_logic::limits::Stop;
use leno_replay::{ReplayOptions, Replayed};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// How to look for violations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Engine {
    /// The staged engine; where it has no verdict, exploration.
    #[default]
    Auto,
    /// Every schedule, one by one.
    Explore,
    /// All schedules in one formula.
    Staged,
}

/// What to look for, and for how long.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    pub engine: Engine,
    pub properties: Properties,
    pub timeout: Option<Duration>,
    /// How often at most another thread takes over from one that could go on (exploration).
    pub preemptions: Option<u32>,
    /// How far to unroll loops, and how often at most another thread takes over (the staged engine).
    pub unwinding: Unwinding,
    pub context_bound: Option<usize>,
    /// Leave out what can be seen to be impossible (the staged engine).
    pub prune: bool,
    /// What becomes of local control and data flow (the staged engine).
    pub mode: leno_bmc::Mode,
    /// What becomes of calls (the staged engine).
    pub calls: leno_bmc::Calls,
    /// How many MiB the program may have allocated at once.
    pub memory: Option<u64>,
    /// Where the staged engine says how far it has come.
    pub progress: leno_bmc::Progress,
    /// How to force what is found on the real program; None: do not.
    pub replay: Option<ReplayOptions>,
}

impl Default for CheckOptions {
    fn default() -> CheckOptions {
        CheckOptions {
            engine: Engine::default(),
            properties: Properties::DEFAULT,
            timeout: None,
            preemptions: None,
            unwinding: Unwinding::default(),
            context_bound: None,
            prune: true,
            mode: leno_bmc::Mode::default(),
            calls: leno_bmc::Calls::default(),
            memory: None,
            progress: leno_bmc::Progress::default(),
            replay: None,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Proved for all schedules and inputs.
    Safe,
    /// A witness, and what came of forcing it on the real program, if that was tried.
    Unsafe(Box<Witness>, Option<Replayed>),
    Unknown(Unknown),
}

/// Why there is no verdict, what is known all the same, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unknown {
    pub reason: String,
    pub established: String,
    pub advice: String,
}

/// Why a search is to end before its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interruption {
    /// The time limit.
    Time,
    /// The memory limit.
    Memory,
    /// Ctrl-C.
    User,
}

/// A verdict, and what it took.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    pub verdict: Verdict,
    pub stats: Figures,
}

/// What a verdict took, by engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Figures {
    Explored(Stats),
    Staged(leno_bmc::Stats),
}

impl Figures {
    /// Lines of `name: value`.
    pub fn lines(&self) -> String {
        match self {
            Figures::Explored(Stats { executions, redundant, events, longest }) => {
                format!("executions: {executions}\nredundant: {redundant}\nevents: {events}\nlongest: {longest}\n")
            }
            Figures::Staged(stats) => {
                let leno_bmc::Stats {
                    rounds,
                    threads,
                    events,
                    reads,
                    writes,
                    links,
                    suspects,
                    conflicts,
                    lemmas,
                    instantiated,
                    ..
                } = stats;
                let seconds =
                    [stats.summarizing, stats.pruning, stats.composing, stats.solving].map(|time| time.as_secs_f64());
                let [summarizing, pruning, composing, solving] = seconds;
                format!(
                    "rounds: {rounds}\nthreads: {threads}\nevents: {events}\nreads: {reads}\nwrites: {writes}\n\
                     instantiated: {instantiated}\nlinks: {links}\nsuspects: {suspects}\nconflicts: {conflicts}\nlemmas: {lemmas}\n\
                     summarizing: {summarizing:.3}\npruning: {pruning:.3}\ncomposing: {composing:.3}\nsolving: {solving:.3}\n"
                )
            }
        }
    }
}

/// Checks a program. `interrupted` is asked all the time: why to stop and say what is known, if at all.
pub fn check(
    program: &Program,
    options: &CheckOptions,
    interrupted: &dyn Fn(&Stats) -> Option<Interruption>,
) -> Checked {
    match options.engine {
        Engine::Auto => check_by_turns(program, options, interrupted),
        Engine::Explore => check_exploring(program, options, interrupted),
        Engine::Staged => {
            check_staged(program, options, options.timeout, &BTreeSet::new(), &|| interrupted(&Stats::default()))
        }
    }
}

/// How long the staged engine thinks before exploration gets a chance, and how long that may take.
const FIRST_TURN: Duration = Duration::from_secs(10);
const SECOND_TURN: Duration = Duration::from_secs(5);

/// The staged engine; then, where it has no verdict, exploration, which needs no bounds and knows all library functions; and then, if
/// there was nothing but time that it lacked, the staged engine again.
fn check_by_turns(
    program: &Program,
    options: &CheckOptions,
    interrupted: &dyn Fn(&Stats) -> Option<Interruption>,
) -> Checked {
    let start = Instant::now();
    let left = || options.timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
    let at_most = |turn: Duration| Some(left().map_or(turn, |left| left.min(turn)));
    let staged = |timeout: Option<Duration>| {
        check_staged(program, options, timeout, &BTreeSet::new(), &|| interrupted(&Stats::default()))
    };
    let is_over = |checked: &Checked| {
        let is_late = left().is_some_and(|left| left.is_zero());
        !matches!(checked.verdict, Verdict::Unknown(_)) || is_late || interrupted(&Stats::default()).is_some()
    };
    let first = staged(at_most(FIRST_TURN));
    if is_over(&first) {
        return first;
    }
    let lacked_time = start.elapsed() >= FIRST_TURN;
    let turn = if lacked_time { at_most(SECOND_TURN) } else { left() };
    let second = check_exploring(program, &CheckOptions { timeout: turn, ..options.clone() }, interrupted);
    if is_over(&second) && !matches!(second.verdict, Verdict::Unknown(_)) {
        return second;
    }
    if lacked_time && !is_over(&first) { staged(left()) } else { first }
}

fn check_exploring(
    program: &Program,
    options: &CheckOptions,
    interrupted: &dyn Fn(&Stats) -> Option<Interruption>,
) -> Checked {
    let start = Instant::now();
    let why = Cell::new(None);
    let is_late = || options.timeout.is_some_and(|limit| start.elapsed() >= limit);
    let stop = |stats: &Stats| {
        let interruption = interrupted(stats).or_else(|| is_late().then_some(Interruption::Time));
        if interruption.is_some() {
            why.set(interruption);
        }
        interruption.is_some()
    };
    let memory = options.memory.map(|mebibytes| mebibytes.saturating_mul(1 << 20));
    let bounds = Bounds { preemptions: options.preemptions, memory };
    let limits = Limits { interrupted: &stop, depth: DEPTH };
    let explored = leno_explore::explore_with(program, options.properties, &limits, &bounds);
    Checked { verdict: verdict(program, options, &explored, why.get()), stats: Figures::Explored(explored.stats) }
}

/// Finds violation after violation with the staged engine, each at another place. The last one of the list is the verdict on
/// what is left.
pub fn check_all(
    program: &Program,
    options: &CheckOptions,
    interrupted: &dyn Fn() -> Option<Interruption>,
) -> Vec<Checked> {
    let end = options.timeout.map(|timeout| Instant::now() + timeout);
    let mut reported = BTreeSet::new();
    let mut found = Vec::new();
    loop {
        let timeout = end.map(|end| end.saturating_duration_since(Instant::now()));
        let checked = check_staged(program, options, timeout, &reported, interrupted);
        let is_new = match &checked.verdict {
            Verdict::Unsafe(witness, _) => reported.insert(Reported::of(&witness.claim)),
            _ => false,
        };
        let is_again = !is_new && matches!(checked.verdict, Verdict::Unsafe(..));
        found.push(checked);
        if is_again {
            let last = found.len() - 1;
            found[last].verdict = Verdict::Unknown(Unknown {
                reason: "what is left leads to something that was reported already".to_string(),
                established: "there may be more violations".to_string(),
                advice: "correct those that were found, and check again".to_string(),
            });
        }
        if !is_new {
            return found;
        }
    }
}

/// The verdict of the staged engine, which may take so long, beside what was reported already.
fn check_staged(
    program: &Program,
    options: &CheckOptions,
    timeout: Option<Duration>,
    reported: &BTreeSet<Reported>,
    interrupted: &dyn Fn() -> Option<Interruption>,
) -> Checked {
    let why = Cell::new(None);
    let stop = || {
        why.set(why.get().or_else(interrupted));
        why.get().is_some()
    };
    let mut limits = leno_logic::limits::Limits::default();
    limits.deadline = timeout.map(|timeout| Instant::now() + timeout);
    limits.memory = options.memory.map(|mebibytes| mebibytes.saturating_mul(1 << 20));
    let task = Task {
        unwinding: options.unwinding.clone(),
        context_bound: options.context_bound,
        prune: options.prune,
        mode: options.mode,
        calls: options.calls,
        reported: reported.clone(),
        progress: options.progress.clone(),
        ..Task::new(options.properties)
    };
    let (staged, stats) = leno_bmc::check(program, &task, &limits, &stop);
    let verdict = match staged {
        leno_bmc::Staged::Safe => Verdict::Safe,
        leno_bmc::Staged::Unsafe(witness) => {
            let witness = leno_explore::shorten(program, &witness, &replay_machine(&witness));
            let replayed = replay(program, options, &witness);
            Verdict::Unsafe(Box::new(witness), replayed)
        }
        leno_bmc::Staged::Unknown(unknown) => Verdict::Unknown(staged_unknown(options, &stats, unknown, why.get())),
    };
    Checked { verdict, stats: Figures::Staged(stats) }
}

/// What to say when the staged engine has no verdict.
fn staged_unknown(
    options: &CheckOptions,
    stats: &leno_bmc::Stats,
    unknown: leno_bmc::Unknown,
    interruption: Option<Interruption>,
) -> Unknown {
    let leno_bmc::Unknown { mut reason, stop, completed } = unknown;
    let established = match &completed {
        Some(completed) => completed.to_string(),
        None if stats.threads == 0 => "nothing was looked at completely".to_string(),
        None => format!("{} threads with {} accesses to what they share", stats.threads, stats.events),
    };
    let more: Vec<String> = completed
        .iter()
        .flat_map(|completed| &completed.loops)
        .map(|(name, bound)| format!("{name}={}", bound.saturating_mul(4)))
        .collect();
    let mut advice = match (completed.and_then(|completed| completed.switches), more.is_empty()) {
        (Some(switches), true) => format!("a larger --context-bound than {switches}, or none"),
        (_, true) => "--engine explore tries the schedules one by one".to_string(),
        (_, false) => format!("more time, or larger bounds: --unwindset {}", more.join(",")),
    };
    let limit = match stop {
        None | Some(Stop::Solver) => None,
        Some(Stop::Time) => Some(Interruption::Time),
        Some(Stop::Memory) => Some(Interruption::Memory),
        Some(Stop::Cancelled) => interruption,
    };
    if let Some(limit) = limit {
        let (described, help) = stopped(options, Some(limit));
        reason = described;
        if limit == Interruption::Memory {
            advice = help.to_string();
        }
    }
    Unknown { reason, established, advice }
}

fn replay(program: &Program, options: &CheckOptions, witness: &Witness) -> Option<Replayed> {
    options.replay.as_ref().map(|replay| {
        let machine = replay_machine(witness);
        leno_replay::replay(program, witness, &ReplayOptions { machine, ..replay.clone() })
    })
}

/// Events in one execution before it counts as endless.
const DEPTH: usize = 20_000;

/// How the program behaves while a witness is followed: waits may end without a signal, except in a deadlock.
pub fn replay_machine(witness: &Witness) -> leno_ir::interp::Options {
    leno_explore::options(!matches!(witness.claim, Claim::Deadlock { .. }))
}

fn verdict(
    program: &Program,
    options: &CheckOptions,
    explored: &Explored,
    interruption: Option<Interruption>,
) -> Verdict {
    let finding = match (&explored.finding, explored.incomplete) {
        (Some(finding), _) => finding,
        (None, Some(reason)) => return Verdict::Unknown(unknown(options, &explored.stats, reason, interruption)),
        (None, None) => return Verdict::Safe,
    };
    let witness = leno_explore::witness(program, finding);
    let witness = leno_explore::shorten(program, &witness, &replay_machine(&witness));
    let replayed = replay(program, options, &witness);
    // What depends on something unknown is believed only when it has really happened.
    if finding.is_tainted && !replayed.as_ref().is_some_and(Replayed::is_confirmed) {
        return Verdict::Unknown(Unknown {
            reason:
                "there may be a violation, but on the way to it the program calls a function that Leno does not know"
                    .to_string(),
            established: "the real program does not show it; other executions were not explored".to_string(),
            advice: "give the unknown function a body".to_string(),
        });
    }
    Verdict::Unsafe(Box::new(witness), replayed)
}

/// What to say when the search ended without a verdict.
fn unknown(
    options: &CheckOptions,
    stats: &Stats,
    incomplete: Incomplete,
    interruption: Option<Interruption>,
) -> Unknown {
    let Stats { executions, longest, .. } = *stats;
    let mut established = format!("no violation in {executions} executions of up to {longest} events; there are more");
    let (reason, advice) = match incomplete {
        Incomplete::Stopped => stopped(options, interruption),
        Incomplete::TooLong(depth) => (
            format!("an execution has more than {depth} events"),
            "some loop goes round very often, or for ever: make its bound smaller",
        ),
        Incomplete::Endless => (
            "a thread may run for ever without being seen by others".to_string(),
            "look for a loop that does not end, or make its bound smaller",
        ),
        Incomplete::DependsOn(what) => {
            established = format!("no violation in {executions} executions, for the few inputs that were tried");
            (
                format!("the program depends on {what}"),
                "inputs of up to 8 bits (a char, a _Bool) are all tried; take those, or fixed values",
            )
        }
        Incomplete::Preemptions(most) => {
            established = format!("no violation with at most {most} preemptions, in {executions} executions");
            ("schedules with more preemptions were left out".to_string(), "a larger --preemptions, or none")
        }
        Incomplete::OutOfMemory => (
            "the program allocates more memory than it may".to_string(),
            "allow more with --memory, or make the program's data smaller",
        ),
    };
    Unknown { reason, established, advice: advice.to_string() }
}

fn stopped(options: &CheckOptions, interruption: Option<Interruption>) -> (String, &'static str) {
    let smaller =
        "give it more time with --timeout, make the program smaller, or look at few schedules with --preemptions 2";
    match interruption {
        Some(Interruption::Memory) => {
            let limit = options.memory.map_or(String::new(), |mebibytes| format!(" of {mebibytes} MiB"));
            (format!("the memory limit{limit} was reached"), "allow more with --memory, or make the program smaller")
        }
        Some(Interruption::User) => ("it was interrupted".to_string(), smaller),
        Some(Interruption::Time) | None => {
            let limit = options.timeout.map_or(String::new(), |limit| format!(" of {} s", limit.as_secs_f64()));
            (format!("the time limit{limit} was reached"), smaller)
        }
    }
}

impl Checked {
    /// What to tell the user.
    pub fn report(&self, program: &Program) -> String {
        match &self.verdict {
            Verdict::Safe => {
                let found = match self.stats {
                    Figures::Explored(Stats { executions, .. }) => {
                        format!("SAFE: no violation under any schedule ({executions} executions)\n")
                    }
                    Figures::Staged(leno_bmc::Stats { threads, events, .. }) => format!(
                        "SAFE: no violation under any schedule and for any input\n  = {threads} threads, {events} accesses to what they share, all loops unrolled to their ends\n"
                    ),
                };
                let is_lonely = program.command.len() == 1 && takes_arguments(program);
                let note = "  = started without arguments; others: leno check … -- ARGUMENTS\n";
                if is_lonely { found + note } else { found }
            }
            Verdict::Unknown(Unknown { reason, established, advice }) => {
                format!("UNKNOWN: {reason}\n  = {established}\n  = help: {advice}\n")
            }
            Verdict::Unsafe(witness, replayed) => {
                let mut report = report_witness(program, witness);
                match replayed {
                    Some(Replayed::Confirmed { how }) => {
                        let _ = writeln!(report, "\nConfirmed on the real program: {how}");
                    }
                    Some(Replayed::NotConfirmed { why }) => {
                        let _ = writeln!(report, "\nNot confirmed on the real program: {why}");
                    }
                    None => {}
                }
                report
            }
        }
    }
}

/// Whether `main` looks at its arguments.
fn takes_arguments(program: &Program) -> bool {
    program.functions.iter().any(|function| function.name == "main" && function.params > 0)
}

fn report_witness(program: &Program, witness: &Witness) -> String {
    let mut out = String::new();
    match &witness.claim {
        Claim::Violation { kind, thread, span, message } => {
            let _ = writeln!(out, "UNSAFE: {}", kind.title());
            add_excerpt(&mut out, program, *span);
            let _ = writeln!(out, "  = in thread {thread}: {message}");
        }
        Claim::Race { first, second } => {
            let _ = writeln!(out, "UNSAFE: data race");
            for racer in [first, second] {
                add_excerpt(&mut out, program, racer.span);
                let _ = writeln!(out, "  = in thread {}: {}", racer.thread, racer.access);
            }
        }
        Claim::Atomicity { first, between, second, block } => {
            let _ = writeln!(out, "UNSAFE: atomicity violation");
            for (racer, when) in [(first, "first"), (between, "between them"), (second, "then")] {
                add_excerpt(&mut out, program, racer.span);
                let _ = writeln!(out, "  = {when}, in thread {}: {}", racer.thread, racer.access);
            }
            let _ = writeln!(out, "  = {block}");
        }
        Claim::Deadlock { waiting } => {
            let _ = writeln!(out, "UNSAFE: deadlock");
            for waiting in waiting {
                add_excerpt(&mut out, program, waiting.span);
                let _ = writeln!(out, "  = thread {} waits for {}", waiting.thread, waiting.reason);
            }
        }
    }
    if !witness.inputs.is_empty() {
        out.push_str("\nWith these inputs:\n");
        for (thread, values) in &witness.inputs {
            let values: Vec<String> = values.iter().map(|input| input.bits.to_string()).collect();
            let _ = writeln!(out, "  {thread}: {}", values.join(", "));
        }
    }
    out.push_str("\nHow it happens:\n");
    add_steps(&mut out, program, &witness.steps);
    out
}

fn add_excerpt(out: &mut String, program: &Program, span: Span) {
    if let (Some(file), true) = (program.files.get(span.file), span.line > 0) {
        out.push_str(&render_excerpt(file, span.line, &program.texts[span.text], false));
    }
}

/// The steps in the user's own code, with a blank line where another thread takes over.
fn add_steps(out: &mut String, program: &Program, steps: &[Step]) {
    let shown: Vec<(&Step, String)> = steps
        .iter()
        .filter_map(|step| {
            let file =
                program.files.get(step.span.file).filter(|file| step.span.line > 0 && !file.starts_with("<leno>"))?;
            Some((step, format!("{file}:{}", step.span.line)))
        })
        .collect();
    let thread_width = shown.iter().map(|(step, _)| step.thread.len()).max().unwrap_or(0);
    let place_width = shown.iter().map(|(_, place)| place.len()).max().unwrap_or(0);
    let mut last = "";
    for (step, place) in &shown {
        let thread = if step.thread == last { "" } else { step.thread.as_str() };
        let _ = writeln!(out, "  {thread:thread_width$}  {place:place_width$}  {}", step.effect);
        last = &step.thread;
    }
}
