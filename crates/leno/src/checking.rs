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

use leno_c::diagnostic::render_excerpt;
use leno_explore::{Explored, Limits, Properties, Stats};
use leno_ir::program::{Program, Span};
use leno_ir::witness::{Claim, Step, Witness};
use leno_replay::{ReplayOptions, Replayed};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// What to look for, and for how long.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    pub properties: Properties,
    pub timeout: Option<Duration>,
    /// How to force what is found on the real program; None: do not.
    pub replay: Option<ReplayOptions>,
}

impl Default for CheckOptions {
    fn default() -> CheckOptions {
        CheckOptions { properties: Properties::DEFAULT, timeout: None, replay: None }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Proved for all schedules and inputs.
    Safe,
    /// A witness, and what came of forcing it on the real program, if that was tried.
    Unsafe(Box<Witness>, Option<Replayed>),
    /// Why there is no verdict.
    Unknown(String),
}

/// A verdict, and what it took.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    pub verdict: Verdict,
    pub stats: Stats,
}

/// Explores the schedules of a program. `interrupted` is asked all the time; true means: stop and say what is known.
pub fn check(program: &Program, options: &CheckOptions, interrupted: &dyn Fn(&Stats) -> bool) -> Checked {
    let start = Instant::now();
    let stop = |stats: &Stats| interrupted(stats) || options.timeout.is_some_and(|limit| start.elapsed() >= limit);
    let explored = leno_explore::explore(program, options.properties, &Limits { interrupted: &stop, depth: DEPTH });
    Checked { verdict: verdict(program, options, &explored), stats: explored.stats }
}

/// Events in one execution before it counts as endless.
const DEPTH: usize = 20_000;

/// How the program behaves while a witness is followed: waits may end without a signal, except in a deadlock.
pub fn replay_machine(witness: &Witness) -> leno_ir::interp::Options {
    leno_explore::options(!matches!(witness.claim, Claim::Deadlock { .. }))
}

fn verdict(program: &Program, options: &CheckOptions, explored: &Explored) -> Verdict {
    let finding = match (&explored.finding, &explored.incomplete) {
        (Some(finding), _) => finding,
        (None, Some(reason)) => return Verdict::Unknown(reason.clone()),
        (None, None) => return Verdict::Safe,
    };
    let witness = leno_explore::witness(program, finding);
    let witness = leno_explore::shorten(program, &witness, &replay_machine(&witness));
    let replayed = options.replay.as_ref().map(|replay| {
        let machine = replay_machine(&witness);
        leno_replay::replay(program, &witness, &ReplayOptions { machine, ..replay.clone() })
    });
    // What depends on something unknown is believed only when it has really happened.
    if finding.is_tainted && !replayed.as_ref().is_some_and(Replayed::is_confirmed) {
        let reason =
            "there may be a violation, but on the way to it the program calls a function that Leno does not know";
        return Verdict::Unknown(reason.to_string());
    }
    Verdict::Unsafe(Box::new(witness), replayed)
}

impl Checked {
    /// What to tell the user.
    pub fn report(&self, program: &Program) -> String {
        let executions = self.stats.executions;
        match &self.verdict {
            Verdict::Safe => format!("SAFE: no violation under any schedule ({executions} executions)\n"),
            Verdict::Unknown(reason) => {
                format!("UNKNOWN: {reason}\n  = no violation in {executions} executions, which are not all\n")
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
