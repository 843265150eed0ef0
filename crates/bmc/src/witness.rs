//! From a model to a witness: the interpreter follows the order of the model, and must observe the violation itself.
//!
//! The model determines the order of the nodes and the values of inputs. The interpreter runs accordingly: for each
//! node, its thread runs up to and including that node's instruction. The witness is the interpreter's own record. If
//! the interpreter does not reach the violation, nothing is claimed.

mod guided_run;

use crate::bounded::BoundedProgram;
use crate::compose::{Composition, PossibleViolation};
use crate::skeleton::{Event, NodeId, ThreadIndex};
use guided_run::{GuidedRun, RunResult};
use leno_engine::machine_options;
use leno_engine::witness::{
    claim_deadlock, claim_race, claim_unordered, claim_violation, conflict, racer, stuck_for_ever,
};
use leno_ir::index::IndexVec;
use leno_ir::interp::{Ending, Image, Machine, ThreadId, ViolationKind};
use leno_ir::program::Place;
use leno_ir::witness::{Claim, Input, Racer, Witness};
use leno_logic::order::Node;
use leno_logic::term::Evaluation;
use std::collections::{BTreeMap, VecDeque};

/// The schedule and the inputs of a model, for the interpreter.
struct Plan {
    /// Visible instructions in order: the thread, and the instruction; none: the thread ends.
    steps: Vec<(ThreadIndex, Option<Place>)>,
    /// By thread: inputs in the order in which they are asked for.
    inputs: IndexVec<ThreadIndex, VecDeque<u128>>,
    /// The node of the spawn of each thread, by the index of the step.
    spawns: BTreeMap<usize, ThreadIndex>,
    /// Threads that run on until they are stuck or finished.
    stuck: Vec<ThreadIndex>,
    /// The first step after the schedule.
    next: Option<Place>,
}

/// The witness for the model that the solver has found; an explanation if the interpreter does not agree.
pub fn witness(bounded: &BoundedProgram<'_>, composition: &mut Composition) -> Result<Witness, String> {
    let selected = composition.possible_violations.iter().find(|&&(_, lit)| composition.solver.value(lit));
    let Some(&(wanted, _)) = selected else { return Err("the model violates nothing".to_string()) };
    let plan = plan(bounded, composition, wanted)?;
    let witness = follow(bounded, plan, wanted)?;
    match &witness.claim {
        Claim::Violation { kind, .. } if !bounded.question.properties.covers(*kind) => {
            Err(format!("something else goes wrong first: {}", kind.title()))
        }
        _ => Ok(witness),
    }
}

fn plan(
    bounded: &BoundedProgram<'_>,
    composition: &mut Composition,
    wanted: PossibleViolation,
) -> Result<Plan, String> {
    let skeleton = &bounded.skeleton;
    let assignment = composition.solver.model(&bounded.terms);
    let mut evaluation = Evaluation::new(&bounded.terms, &assignment);
    let (mut end, inclusive) = match wanted {
        PossibleViolation::Violation(index) => match skeleton.violations[index].at {
            Some(node) => (node, false),
            None => (skeleton.violations[index].after, true),
        },
        PossibleViolation::Race(first, _) => (skeleton.events[first].node, false),
        PossibleViolation::Unordered(_, second) => (skeleton.events[second].node, false),
        PossibleViolation::UnorderedFree(free) => (skeleton.frees[free].node, false),
        // (The end may be in the middle of an atomic section.)
        PossibleViolation::Leak(end) => (skeleton.ends[end].node, true),
        PossibleViolation::Deadlock | PossibleViolation::LockCycle => {
            (skeleton.deadlock_point.ok_or("no deadlock was looked for")?.node, false)
        }
    };
    // A race with the later part of a section that was not split is shown before the section begins.
    if let PossibleViolation::Race(..) | PossibleViolation::Unordered(..) = wanted {
        while let Some(split) =
            skeleton.section_splits.iter().find(|split| split.second == end && evaluation.holds(split.condition))
        {
            end = split.first;
        }
    }
    let numbers: BTreeMap<Node, NodeId> = composition.nodes.iter_enumerated().map(|(id, node)| (*node, id)).collect();
    let mut by_node: BTreeMap<NodeId, Vec<Place>> = BTreeMap::new();
    for step in &skeleton.steps {
        if evaluation.holds(step.path) {
            by_node.entry(step.node).or_default().push(step.place);
        }
    }
    let mut plan =
        Plan { steps: Vec::new(), inputs: IndexVec::new(), spawns: BTreeMap::new(), stuck: Vec::new(), next: None };
    for node in composition.solver.line() {
        let Some(&node) = numbers.get(node) else { continue };
        if node == end && !inclusive {
            plan.next = by_node.get(&node).and_then(|places| places.first()).copied();
            break;
        }
        let thread = skeleton.nodes[node];
        let Some(whole) = skeleton.threads.get(thread) else { continue };
        for &place in by_node.get(&node).into_iter().flatten() {
            for (index, other) in skeleton.threads.iter_enumerated() {
                if let Some((spawn, path)) = other.spawned
                    && spawn == node
                    && evaluation.holds(path)
                {
                    plan.spawns.insert(plan.steps.len(), index);
                }
            }
            plan.steps.push((thread, Some(place)));
        }
        if whole.last == node && evaluation.holds(whole.finished) {
            plan.steps.push((thread, None));
        }
        if node == end {
            break;
        }
    }
    if let PossibleViolation::Deadlock | PossibleViolation::LockCycle = wanted {
        let is_stuck = |evaluation: &mut Evaluation<'_>, thread: ThreadIndex| {
            let mut waits = skeleton.waits.iter().filter(|wait| wait.thread == thread);
            waits.any(|wait| evaluation.holds(wait.path) && !evaluation.holds(wait.goes_on))
        };
        let all = skeleton.threads.ids();
        plan.stuck = all
            .filter(|thread| matches!(wanted, PossibleViolation::Deadlock) || is_stuck(&mut evaluation, *thread))
            .collect();
    }
    for thread in &skeleton.threads {
        let asked = thread.inputs.iter().filter(|input| evaluation.holds(input.condition)).collect::<Vec<_>>();
        plan.inputs.push(asked.into_iter().map(|input| evaluation.value(input.value).number()).collect());
    }
    Ok(plan)
}

fn follow(bounded: &BoundedProgram<'_>, plan: Plan, wanted: PossibleViolation) -> Result<Witness, String> {
    let skeleton = &bounded.skeleton;
    let image = Image::new(bounded.facts.program);
    let machine = Machine::new(&image, &machine_options(true));
    let mut run = GuidedRun::new(bounded, machine, plan.inputs);
    let mut violation = None;
    let mut ended = None;
    for (index, &(thread, place)) in plan.steps.iter().enumerate() {
        let id = run.thread(thread).ok_or("a thread that was not started has to run")?;
        let ran = match place {
            Some(place) => run.until_at(id, place),
            None => run.until_end(id),
        };
        let count = run.machine.threads().len();
        let ran = if let (RunResult::There, Some(_)) = (&ran, place) { run.step(id) } else { ran };
        match ran {
            RunResult::There => {}
            RunResult::Stopped => continue,
            RunResult::Violation(found) => {
                violation = Some(found);
                break;
            }
            RunResult::Ended => {
                ended = Some(id);
                break;
            }
            RunResult::Lost(reason) => return Err(reason),
        }
        if let Some(&child) = plan.spawns.get(&index)
            && run.machine.threads().len() > count
        {
            run.inputs.index.insert(ThreadId(count as u32), child);
        }
    }
    let claim = match (wanted, violation) {
        (_, Some(violation)) => claim_violation(&violation),
        (PossibleViolation::Leak(end), None) => {
            let id = match (ended, skeleton.ends[end].thread.and_then(|thread| run.thread(thread))) {
                (Some(id), _) => id,
                (None, Some(id)) => match run.until_end(id) {
                    RunResult::Ended => id,
                    _ => return Err("the program does not end there".to_string()),
                },
                (None, None) => return Err("the program does not end".to_string()),
            };
            let kinds = [ViolationKind::LostMemory, ViolationKind::Leak];
            let mut asked = kinds.into_iter().filter(|kind| bounded.question.properties.covers(*kind));
            let found = asked.find_map(|kind| run.machine.leak(id, kind));
            claim_violation(&*found.ok_or("what is left at the end can still be reached")?)
        }
        (_, None) if ended.is_some() => return Err("the program ends".to_string()),
        (PossibleViolation::Violation(index), None) => {
            let id = run.thread(skeleton.violations[index].thread).ok_or("the thread that fails was not started")?;
            claim_violation(&*run.until_violation(id)?)
        }
        (PossibleViolation::Deadlock | PossibleViolation::LockCycle, None) => {
            for thread in plan.stuck {
                let Some(id) = run.thread(thread) else { continue };
                // (A thread that is not stuck in the model, but goes no further there, may be able to: it stays.)
                if matches!(wanted, PossibleViolation::Deadlock) || run.trial().until_wait(id).is_ok() {
                    run.until_wait(id)?;
                }
            }
            let waiting = match (wanted, run.machine.deadlock()) {
                (PossibleViolation::LockCycle, _) => {
                    let stuck = stuck_for_ever(&run.machine).into_iter().next();
                    stuck.ok_or("nobody waits for what is never given back")?
                }
                // (The last thread to reach its wait may have woken another one.)
                (_, Ending::Deadlock(waiting))
                    if !waiting.is_empty() && run.machine.threads().ids().all(|id| run.machine.is_stuck(id)) =>
                {
                    waiting
                }
                _ => return Err("the threads are not stuck".to_string()),
            };
            claim_deadlock(&run.machine, &waiting)
        }
        (PossibleViolation::Race(first, second), None) => {
            race(&mut run, [&skeleton.events[first], &skeleton.events[second]], plan.next)?
        }
        (PossibleViolation::Unordered(_, second), None) => {
            let event = &skeleton.events[second];
            unordered(&mut run, event.thread, event.place)?
        }
        (PossibleViolation::UnorderedFree(free), None) => {
            let node = skeleton.frees[free].node;
            let step = skeleton.steps.iter().find(|step| step.node == node).ok_or("the free is no step")?;
            unordered(&mut run, skeleton.nodes[node], step.place)?
        }
    };
    if run.machine.is_tainted() {
        return Err("it needs something of which nothing is known".to_string());
    }
    let mut by_name: BTreeMap<String, Vec<Input>> = BTreeMap::new();
    for (thread, input) in run.inputs.given {
        by_name.entry(run.machine.thread_name(thread).to_string()).or_default().push(input);
    }
    Ok(Witness { claim, steps: run.recorder.steps, inputs: by_name })
}

/// Leads a thread to an access, and checks that nothing orders it after an earlier one that it conflicts with.
fn unordered(run: &mut GuidedRun<'_, '_>, thread: ThreadIndex, place: Place) -> Result<Claim, String> {
    let id = run.thread(thread).ok_or("a racing thread was not started")?;
    match run.until_at(id, place) {
        RunResult::There => {}
        RunResult::Ended => return Err("the program ends".to_string()),
        RunResult::Violation(_) | RunResult::Stopped => return Err("something else goes wrong first".to_string()),
        RunResult::Lost(reason) => return Err(reason),
    }
    Ok(claim_unordered(&run.machine, id).ok_or("the accesses are ordered")?)
}

/// Checks that both events are next on their threads, and conflict. `next`: where a section continues that has waited
/// in the middle.
fn race(run: &mut GuidedRun<'_, '_>, events: [&Event; 2], next: Option<Place>) -> Result<Claim, String> {
    let mut ids = Vec::new();
    for event in events {
        let id = run.thread(event.thread).ok_or("a racing thread was not started")?;
        let ran = match (event.in_section, next) {
            (true, Some(place)) if run.is_on_the_way(id, place) => run.until_at(id, place),
            (true, _) => run.until_section(id),
            (false, _) => run.until_at(id, event.place),
        };
        match ran {
            RunResult::There => ids.push(id),
            RunResult::Ended => return Err("the program ends".to_string()),
            RunResult::Violation(_) | RunResult::Stopped => return Err("something else goes wrong first".to_string()),
            RunResult::Lost(reason) => return Err(reason),
        }
    }
    let Some(inside) = events.iter().position(|event| event.in_section) else {
        return Ok(claim_race(&run.machine, ids[0], ids[1]).ok_or("the accesses do not overlap")?);
    };
    let other = run.machine.next_accesses(ids[1 - inside]);
    // The access within the section is found by executing the section on a copy of the machine.
    let mut trial = run.trial();
    let ran = trial.until_at(ids[inside], events[inside].place);
    if !matches!(ran, RunResult::There) || conflict(&other, &trial.machine.next_accesses(ids[inside])).is_none() {
        return Err("the accesses do not overlap".to_string());
    }
    let racers = ids.iter().map(|id| racer(&run.machine, *id, run.machine.footprint(*id)));
    match <[Racer; 2]>::try_from(racers.collect::<Vec<_>>()) {
        Ok([first, second]) => Ok(Claim::Race { first, second, made: None }),
        Err(_) => Err("a racing thread was not started".to_string()),
    }
}
