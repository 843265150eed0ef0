//! From a finding to a witness: the execution is made once more, and written down.

use crate::event::Footprint;
use crate::task::{Finding, What};
use crate::visible_step::{Inputs, Ran, Statics, continue_without, run_event};
use leno_engine::witness::{claim_deadlock, claim_race, claim_violation, racer};
use leno_ir::analysis::facts::Facts;
use leno_ir::interp::{Image, Machine};
use leno_ir::witness::{Claim, Input, Recorder, Witness};
use std::collections::BTreeMap;

/// Writes a finding down so that anybody can follow it.
pub fn witness(facts: &Facts<'_>, finding: &Finding) -> Witness {
    let image = Image::new(facts.program());
    let statics = Statics::new(facts, &image);
    let mut machine = Machine::new(&image, &finding.wakeups.options());
    let mut recorder = Recorder::default();
    let mut inputs = Inputs::default();
    let mut given = BTreeMap::new();
    for (index, (thread, choices)) in finding.schedule.iter().enumerate() {
        inputs.begin(choices);
        let recorded = recorder.steps.len();
        let (ran, _) =
            run_event(&mut machine, &statics, &mut inputs, *thread, &mut Footprint::default(), &mut recorder);
        add_inputs(&machine, &inputs, &mut given);
        if let What::Unordered(race) = &finding.what
            && index + 1 == finding.schedule.len()
        {
            recorder.steps.truncate(race.steps);
            break;
        }
        match ran {
            Ran::Violation(violation, _) if matches!(&finding.what, What::Violation(end) if **end == *violation) => {}
            Ran::Violation(violation, before) => {
                if before.is_some() {
                    recorder.steps.truncate(recorded);
                }
                continue_without(&mut machine, violation.thread, before);
            }
            Ran::Nothing => recorder.steps.truncate(recorded),
            // (A leak is found when the program has ended.)
            Ran::Exited(before) if before.is_some() && index + 1 < finding.schedule.len() => {
                recorder.steps.truncate(recorded);
                continue_without(&mut machine, *thread, before);
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
        let Some(thread) = thread else { continue };
        let input = Input { width: choice.width, bits: choice.value() };
        given.entry(machine.thread_name(*thread).to_string()).or_default().push(input);
    }
}

/// What is about to happen, or has happened, to this machine.
pub fn claim(machine: &Machine<'_>, what: &What) -> Claim {
    match what {
        What::Violation(violation) => claim_violation(violation),
        What::Race { first, second } => claim_race(machine, *first, *second).unwrap_or_else(|| {
            // One of them is a section, in which the access comes later.
            let racer = |thread| racer(machine, thread, machine.footprint(thread));
            Claim::Race { first: racer(*first), second: racer(*second), made: None }
        }),
        What::Unordered(race) => race.claim.clone(),
        What::Deadlock(blocked) => claim_deadlock(machine, blocked),
    }
}
