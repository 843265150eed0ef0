//! From a finding to a witness: the execution is made once more, and written down.

use crate::event::Footprint;
use crate::run::{Inputs, Ran, Statics, go_on_without, run_event};
use crate::task::{Finding, What};
use leno_ir::interp::{Image, Machine, Options, ThreadId, UndefinedPolicy};
use leno_ir::program::{Program, Span};
use leno_ir::witness::{Claim, Input, Racer, Recorder, Waiting, Witness};
use std::collections::BTreeMap;

/// The options under which programs are explored.
pub fn options(spurious_wakeups: bool) -> Options {
    Options { undefined: UndefinedPolicy::Nondet, spurious_wakeups, ..Options::default() }
}

/// Writes a finding down so that anybody can follow it.
pub fn witness(program: &Program, finding: &Finding) -> Witness {
    let image = Image::new(program);
    let statics = Statics::new(program, &image);
    let mut machine = Machine::new(&image, &options(finding.spurious_wakeups));
    let mut recorder = Recorder::default();
    let mut inputs = Inputs::default();
    let mut given = BTreeMap::new();
    for (index, (thread, choices)) in finding.schedule.iter().enumerate() {
        inputs.begin(choices);
        let recorded = recorder.steps.len();
        let (ran, _) =
            run_event(&mut machine, &statics, &mut inputs, *thread, &mut Footprint::default(), &mut recorder);
        add_inputs(&machine, &inputs, &mut given);
        match ran {
            Ran::Violation(violation, _) if matches!(&finding.what, What::Violation(end) if **end == *violation) => {}
            Ran::Violation(violation, before) => {
                if before.is_some() {
                    recorder.steps.truncate(recorded);
                }
                go_on_without(&mut machine, violation.thread, before);
            }
            Ran::Nothing => recorder.steps.truncate(recorded),
            // (A leak is found when the program has ended.)
            Ran::Exited(before) if before.is_some() && index + 1 < finding.schedule.len() => {
                recorder.steps.truncate(recorded);
                go_on_without(&mut machine, *thread, before);
            }
            Ran::Endless | Ran::OutOfMemory => machine.stop_thread(*thread),
            Ran::Done | Ran::Exited(_) | Ran::Stopped => {}
        }
    }
    Witness { claim: claim(&machine, &finding.what), steps: recorder.steps, inputs: given }
}

/// What the threads asked for in an event.
fn add_inputs(machine: &Machine<'_>, inputs: &Inputs, given: &mut BTreeMap<String, Vec<Input>>) {
    for (choice, thread) in inputs.asked.iter().zip(&inputs.asked_by) {
        let input = Input { width: choice.width, bits: choice.value() };
        given.entry(machine.thread_name(*thread).to_string()).or_default().push(input);
    }
}

fn span(machine: &Machine<'_>, thread: ThreadId) -> Span {
    machine.image().span(machine.pc(thread))
}

/// What is about to happen, or has happened, to this machine.
pub fn claim(machine: &Machine<'_>, what: &What) -> Claim {
    match what {
        What::Violation(violation) => Claim::Violation {
            kind: violation.kind,
            thread: violation.thread_name.clone(),
            span: violation.span,
            message: violation.message.clone(),
        },
        What::Race { first, second } => Claim::Race { first: racer(machine, *first), second: racer(machine, *second) },
        What::Deadlock(blocked) => {
            let waiting = blocked.iter().map(|blocked| Waiting {
                thread: blocked.thread_name.clone(),
                span: span(machine, blocked.thread),
                reason: blocked.reason.clone(),
            });
            Claim::Deadlock { waiting: waiting.collect() }
        }
    }
}

/// The claim that two threads race; None if they do not stand before conflicting accesses.
pub fn claim_race(machine: &Machine<'_>, first: ThreadId, second: ThreadId) -> Option<Claim> {
    let (a, b) = (machine.footprint(first)?, machine.footprint(second)?);
    a.conflicts(b).then(|| Claim::Race { first: racer(machine, first), second: racer(machine, second) })
}

/// The access that a thread is about to make, for a claim.
pub fn racer(machine: &Machine<'_>, thread: ThreadId) -> Racer {
    let access = match machine.footprint(thread) {
        Some(at) => {
            let what = if at.writes { "write" } else { "read" };
            let kind = if at.atomic { "atomic " } else { "" };
            format!("{kind}{what} of {}", machine.describe_address(at.address))
        }
        None => "an atomic section".to_string(),
    };
    Racer { thread: machine.thread_name(thread).to_string(), span: span(machine, thread), access }
}
