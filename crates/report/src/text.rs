//! Outcomes for people to read.
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

use crate::call_sites;
use crate::scene::Scene;
use crate::steps::{self, Steps};
use leno_c::diagnostic::render_excerpt;
use leno_engine::{Assumption, Covered, Properties, Unknown};
use leno_ir::program::{Program, Span};
use leno_ir::witness::{Claim, Racer, Witness};
use leno_replay::Replayed;
use std::fmt::Write;

/// That no violation exists, for what that was proved, and what was not proved but assumed.
pub fn safe(covered: &Covered, assumptions: &[Assumption]) -> String {
    let (orders, others): (Vec<&Assumption>, Vec<&Assumption>) =
        assumptions.iter().partition(|assumption| assumption.is_sequential_consistency());
    let consistency = if orders.is_empty() { "" } else { ", under sequential consistency" };
    let under = match others.len() {
        0 => String::new(),
        1 => ", under 1 assumption".to_string(),
        several => format!(", under {several} assumptions"),
    };
    let mut report = format!("SAFE: {}{consistency}{under}\n", covered.statement);
    assumptions.iter().for_each(|assumption| _ = writeln!(report, "  assuming: {assumption}"));
    add_details(&mut report, covered);
    report
}

/// That there is no verdict, why, what is known all the same, and what to do.
pub fn unknown(unknown: &Unknown, covered: &Covered) -> String {
    let mut report = format!("UNKNOWN: {}\n  = {}\n", unknown.reason, covered.statement);
    add_details(&mut report, covered);
    let _ = writeln!(report, "  = help: {}", unknown.advice);
    report
}

/// That there is no verdict because of an execution that undefined behaviour ends, and how that happens.
pub fn cut_short(
    program: &Program,
    reason: &Unknown,
    covered: &Covered,
    witness: &Witness,
    replayed: Option<&Replayed>,
    steps: Steps,
) -> String {
    format!("{}\n{}", unknown(reason, covered), evidence(program, witness, replayed, steps))
}

/// What has to be assumed where these were not looked for, or not found out (`why`).
pub fn no_ends(ends: &Properties, why: &str) -> String {
    let kinds = [
        (ends.memory, "an invalid access to memory"),
        (ends.overflow, "a signed overflow that is checked"),
        (ends.other, "a division by zero or a misuse of locks, threads or functions"),
    ];
    let named: Vec<&str> = kinds.iter().filter(|(is_meant, _)| *is_meant).map(|(_, name)| *name).collect();
    format!("no execution ends in {}, which {why}", named.join(", or in "))
}

/// What was proved of these properties: `no assertion fails, no data race`.
pub fn absent(properties: &Properties) -> String {
    let kinds = [
        (properties.assertion, "no assertion fails"),
        (properties.overflow, "no signed overflow"),
        (properties.race, "no data race"),
        (properties.deadlock, "no deadlock"),
        (properties.memory, "no invalid access to memory"),
        (properties.leak, "no leak"),
        (properties.memtrack, "no lost memory"),
        (properties.other, "no division by zero and no misuse of locks, threads or functions"),
    ];
    let named: Vec<&str> = kinds.iter().filter(|(is_meant, _)| *is_meant).map(|(_, name)| *name).collect();
    named.join(", ")
}

/// The warning that a verdict assumes sequential consistency although this access asks for less.
pub fn weak_order(program: &Program, span: Span) -> String {
    let mut out = "warning: this atomic access has a memory order weaker than `seq_cst`\n".to_string();
    add_excerpt(&mut out, program, span);
    out.push_str(
        "  = which accesses race is decided by it, as in C11; what is read is not: executions are taken to be \
         sequentially consistent\n",
    );
    out
}

fn add_details(report: &mut String, covered: &Covered) {
    covered.details.iter().for_each(|detail| _ = writeln!(report, "  = {detail}"));
}

/// A violation, how it happens, and what came of forcing it on the real program, if that was tried.
pub fn violation(program: &Program, witness: &Witness, replayed: Option<&Replayed>, steps: Steps) -> String {
    format!("UNSAFE: {}\n{}", title(&witness.claim), evidence(program, witness, replayed, steps))
}

fn evidence(program: &Program, witness: &Witness, replayed: Option<&Replayed>, steps: Steps) -> String {
    let (claim, moved) = call_sites::shown(program, witness);
    let mut report = report_witness(program, witness, &claim, steps);
    // What a replay says of places in models is said of the calls that lead there.
    let outside = |text: &str| {
        let names = moved.iter().filter_map(|(from, to)| Some((place(program, *from)?, place(program, *to)?)));
        names.fold(text.to_string(), |text, (from, to)| text.replacen(&from, &to, 1))
    };
    match replayed {
        Some(Replayed::Confirmed { how }) => _ = writeln!(report, "\nConfirmed on the real program: {}", outside(how)),
        Some(Replayed::NotConfirmed { why }) => {
            _ = writeln!(report, "\nNot confirmed on the real program: {}", outside(why));
        }
        None => {}
    }
    report
}

pub(crate) fn place(program: &Program, span: Span) -> Option<String> {
    let file = program.files.get(span.file).filter(|_| span.line > 0)?;
    Some(format!("{file}:{}", span.line))
}

/// A violation in a line: what, and where.
pub fn summary(program: &Program, witness: &Witness) -> String {
    let (claim, _) = call_sites::shown(program, witness);
    let spans = match &claim {
        Claim::Violation { span, .. } => vec![*span],
        Claim::Race { first, second, .. } => vec![first.span, second.span],
        Claim::Atomicity { first, between, .. } => vec![first.span, between.span],
        Claim::Deadlock { waiting } => waiting.iter().map(|waiting| waiting.span).collect(),
    };
    let title = title(&claim);
    let places: Vec<String> = spans.into_iter().filter_map(|span| place(program, span)).collect();
    if places.is_empty() { title.to_string() } else { format!("{title} at {}", places.join(" and ")) }
}

fn title(claim: &Claim) -> &'static str {
    match claim {
        Claim::Violation { kind, .. } => kind.title(),
        Claim::Race { .. } => "data race",
        Claim::Atomicity { .. } => "atomicity violation",
        Claim::Deadlock { .. } => "deadlock",
    }
}

fn report_witness(program: &Program, witness: &Witness, claim: &Claim, steps: Steps) -> String {
    let mut out = String::new();
    match claim {
        Claim::Violation { thread, span, message, .. } => {
            add_excerpt(&mut out, program, *span);
            let _ = writeln!(out, "  = in thread {thread}: {message}");
        }
        Claim::Race { first, second, made } => {
            let scene = Scene::new(program, witness);
            add_racer(&mut out, program, first, Some(&scene).filter(|_| made.is_none()));
            add_racer(&mut out, program, second, Some(&scene));
            out.push_str(match made {
                Some(_) => "  = the first comes before the second here, but nothing orders them in C11\n",
                None => "  = nothing keeps these two accesses apart: both threads can make theirs now\n",
            });
        }
        Claim::Atomicity { first, between, second, block } => {
            for (racer, when) in [(first, "first"), (between, "between them"), (second, "then")] {
                add_excerpt(&mut out, program, racer.span);
                let _ = writeln!(out, "  = {when}, in thread {}: {}", racer.thread, racer.access);
            }
            let _ = writeln!(out, "  = {block}");
        }
        Claim::Deadlock { waiting } => {
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
    steps::add(&mut out, program, witness, steps);
    out
}

/// One side of a race: the access, the calls that lead there, and the locks that are held.
fn add_racer(out: &mut String, program: &Program, racer: &Racer, scene: Option<&Scene>) {
    add_excerpt(out, program, racer.span);
    let _ = writeln!(out, "  = in thread {}: {}", racer.thread, racer.access);
    let Some(standing) = scene.and_then(|scene| scene.thread(&racer.thread)) else { return };
    standing.calls.iter().for_each(|call| _ = writeln!(out, "    {call}"));
    match standing.locks.as_slice() {
        [] => out.push_str("    holding no lock\n"),
        locks => _ = writeln!(out, "    holding {}", locks.join(", ")),
    }
}

fn add_excerpt(out: &mut String, program: &Program, span: Span) {
    if let (Some(file), true) = (program.files.get(span.file), span.line > 0) {
        out.push_str(&render_excerpt(file, span.line, &program.texts[span.text], false));
    }
}
