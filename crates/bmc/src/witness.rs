//! From a model to a witness: the interpreter follows the order of the model, and must see the violation itself.
//!
//! The model says in which order the nodes of the skeleton happen and which inputs are asked for. We run the interpreter
//! accordingly: for each node, its thread is run up to and including that node's instruction. What comes out is the interpreter's
//! own account. If it does not get there, the model is not to be trusted, and nothing is claimed.

mod run;

use crate::compose::{Composition, Suspect};
use crate::skeleton::{Event, NodeId, ThreadIndex};
use crate::summarize::Summarizer;
use leno_explore::{What, circle, claim, claim_race, options};
use leno_ir::interp::{Ending, Image, Machine, ThreadId, Violation, ViolationKind};
use leno_ir::program::Place;
use leno_ir::witness::{Claim, Input, Witness};
use leno_logic::order::Node;
use leno_logic::term::Evaluation;
use run::{Ran, Run};
use std::collections::{BTreeMap, VecDeque};

/// What the model says, in terms of the interpreter.
struct Plan {
    /// Visible instructions in order: the thread, and where it is; or that it comes to its end.
    steps: Vec<(ThreadIndex, Option<Place>)>,
    /// By thread: inputs in the order in which they are asked for.
    inputs: Vec<VecDeque<u128>>,
    /// The node of the spawn of each thread, by the index of the step.
    spawns: BTreeMap<usize, ThreadIndex>,
    /// Threads that go on until they are stuck or finished.
    stuck: Vec<ThreadIndex>,
    /// The first step that is not made any more.
    next: Option<Place>,
}

/// The witness for the model that the solver has found; an explanation if the interpreter does not agree.
pub fn witness(summary: &Summarizer<'_>, composition: &mut Composition) -> Result<Witness, String> {
    let selected = composition.suspects.iter().find(|&&(_, lit)| composition.solver.value(lit));
    let Some(&(suspect, _)) = selected else { return Err("the model violates nothing".to_string()) };
    let plan = plan(summary, composition, suspect);
    let witness = follow(summary, plan, suspect)?;
    match &witness.claim {
        Claim::Violation { kind, .. } if !summary.properties.covers(*kind) => {
            Err(format!("something else goes wrong first: {}", kind.title()))
        }
        _ => Ok(witness),
    }
}

fn plan(summary: &Summarizer<'_>, composition: &mut Composition, suspect: Suspect) -> Plan {
    let skeleton = &summary.skeleton;
    let assignment = composition.solver.model(&summary.terms);
    let mut evaluation = Evaluation::new(&summary.terms, &assignment);
    let (mut end, inclusive) = match suspect {
        Suspect::Violation(index) => match skeleton.violations[index].at {
            Some(node) => (node, false),
            None => (skeleton.violations[index].after, true),
        },
        Suspect::Race(first, _) => (skeleton.events[first].node, false),
        // (Nothing but the rest of a section may come with the end.)
        Suspect::Leak(end) => (skeleton.ends[end].node, true),
        Suspect::Deadlock | Suspect::Circle => match skeleton.moment {
            Some(moment) => (moment.node, false),
            None => (NodeId(u32::MAX), false),
        },
    };
    // What happens at the end of a section that was not split is to be seen before it begins.
    if let Suspect::Race(..) = suspect {
        while let Some(seam) = skeleton.seams.iter().find(|seam| seam.second == end && evaluation.holds(seam.condition))
        {
            end = seam.first;
        }
    }
    let numbers: BTreeMap<Node, NodeId> =
        composition.nodes.iter().enumerate().map(|(index, node)| (*node, NodeId(index as u32))).collect();
    let mut by_node: BTreeMap<NodeId, Vec<Place>> = BTreeMap::new();
    for step in &skeleton.steps {
        if evaluation.holds(step.path) {
            by_node.entry(step.node).or_default().push(step.place);
        }
    }
    let mut plan =
        Plan { steps: Vec::new(), inputs: Vec::new(), spawns: BTreeMap::new(), stuck: Vec::new(), next: None };
    for node in composition.solver.line() {
        let Some(&node) = numbers.get(node) else { continue };
        if node == end && !inclusive {
            plan.next = by_node.get(&node).and_then(|places| places.first()).copied();
            break;
        }
        let thread = skeleton.nodes[node.0 as usize];
        let Some(whole) = skeleton.threads.get(thread.0 as usize) else { continue };
        for &place in by_node.get(&node).into_iter().flatten() {
            for (index, other) in skeleton.threads.iter().enumerate() {
                if let Some((spawn, path)) = other.spawned
                    && spawn == node
                    && evaluation.holds(path)
                {
                    plan.spawns.insert(plan.steps.len(), ThreadIndex(index as u32));
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
    if let Suspect::Deadlock | Suspect::Circle = suspect {
        let is_stuck = |evaluation: &mut Evaluation<'_>, thread: ThreadIndex| {
            let mut waits = skeleton.waits.iter().filter(|wait| wait.thread == thread);
            waits.any(|wait| evaluation.holds(wait.path) && !evaluation.holds(wait.goes_on))
        };
        let all = (0..skeleton.threads.len() as u32).map(ThreadIndex);
        plan.stuck =
            all.filter(|thread| matches!(suspect, Suspect::Deadlock) || is_stuck(&mut evaluation, *thread)).collect();
    }
    for thread in &skeleton.threads {
        let asked = thread.inputs.iter().filter(|input| evaluation.holds(input.condition)).collect::<Vec<_>>();
        plan.inputs.push(asked.into_iter().map(|input| evaluation.value(input.value).number()).collect());
    }
    plan
}

fn follow(summary: &Summarizer<'_>, plan: Plan, suspect: Suspect) -> Result<Witness, String> {
    let skeleton = &summary.skeleton;
    let image = Image::new(summary.program);
    let looks_for_deadlock = matches!(suspect, Suspect::Deadlock | Suspect::Circle);
    let machine = Machine::new(&image, &options(!looks_for_deadlock));
    let mut run = Run::new(summary, machine, plan.inputs);
    let mut violation = None;
    let mut ended = None;
    for (index, &(thread, place)) in plan.steps.iter().enumerate() {
        let id = run.thread(thread).ok_or("a thread that was not started has to run")?;
        let ran = match place {
            Some(place) => run.until_at(id, place),
            None => run.until_end(id),
        };
        let count = run.machine.threads().len();
        let ran = if let (Ran::There, Some(_)) = (&ran, place) { run.step(id) } else { ran };
        match ran {
            Ran::There => {}
            Ran::Stopped => continue,
            Ran::Violation(found) => {
                violation = Some(found);
                break;
            }
            Ran::Ended => {
                ended = Some(id);
                break;
            }
            Ran::Lost(reason) => return Err(reason),
        }
        if let Some(&child) = plan.spawns.get(&index)
            && run.machine.threads().len() > count
        {
            run.inputs.index.insert(ThreadId(count as u32), child);
        }
    }
    let claim = match (suspect, violation) {
        (_, Some(violation)) => claim_violation(*violation),
        (Suspect::Leak(end), None) => {
            let id = match (ended, skeleton.ends[end].thread.and_then(|thread| run.thread(thread))) {
                (Some(id), _) => id,
                (None, Some(id)) => match run.until_end(id) {
                    Ran::Ended => id,
                    _ => return Err("the program does not end there".to_string()),
                },
                (None, None) => return Err("the program does not end".to_string()),
            };
            let kinds = [ViolationKind::LostMemory, ViolationKind::Leak];
            let mut asked = kinds.into_iter().filter(|kind| summary.properties.covers(*kind));
            let found = asked.find_map(|kind| run.machine.leak(id, kind));
            claim_violation(*found.ok_or("what is left at the end can still be reached")?)
        }
        (_, None) if ended.is_some() => return Err("the program ends".to_string()),
        (Suspect::Violation(index), None) => {
            let id = run.thread(skeleton.violations[index].thread).ok_or("the thread that fails was not started")?;
            claim_violation(*run.until_violation(id)?)
        }
        (Suspect::Deadlock | Suspect::Circle, None) => {
            for thread in plan.stuck {
                if let Some(id) = run.thread(thread) {
                    run.until_wait(id)?;
                }
            }
            let waiting = match (suspect, run.machine.deadlock()) {
                (Suspect::Circle, _) => circle(&run.machine).ok_or("the locks are not waited for in a circle")?,
                // (Who came to his wait last may have ended another one's.)
                (_, Ending::Deadlock(waiting)) if !waiting.is_empty() && run.machine.enabled_threads().is_empty() => {
                    waiting
                }
                _ => return Err("the threads are not stuck".to_string()),
            };
            claim(&run.machine, &What::Deadlock(waiting))
        }
        (Suspect::Race(first, second), None) => {
            race(&mut run, [&skeleton.events[first], &skeleton.events[second]], plan.next)?
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

/// Both are next, and overlap. `next`: where a section goes on that has waited in the middle.
fn race(run: &mut Run<'_, '_>, events: [&Event; 2], next: Option<Place>) -> Result<Claim, String> {
    let mut ids = Vec::new();
    for event in events {
        let id = run.thread(event.thread).ok_or("a racing thread was not started")?;
        let ran = match (event.in_section, next) {
            (true, Some(place)) if run.is_on_the_way(id, place) => run.until_at(id, place),
            (true, _) => run.until_section(id),
            (false, _) => run.until_at(id, event.place),
        };
        match ran {
            Ran::There => ids.push(id),
            Ran::Ended => return Err("the program ends".to_string()),
            Ran::Violation(_) | Ran::Stopped => return Err("something else goes wrong first".to_string()),
            Ran::Lost(reason) => return Err(reason),
        }
    }
    let Some(inside) = events.iter().position(|event| event.in_section) else {
        return Ok(claim_race(&run.machine, ids[0], ids[1]).ok_or("the accesses do not overlap")?);
    };
    let other = run.machine.footprint(ids[1 - inside]);
    // What the section would do is seen by doing it, on another machine.
    let mut trial = run.trial();
    let ran = trial.until_at(ids[inside], events[inside].place);
    let within = trial.machine.footprint(ids[inside]).filter(|_| matches!(ran, Ran::There));
    match (other, within) {
        (Some(a), Some(b)) if a.conflicts(b) => {}
        _ => return Err("the accesses do not overlap".to_string()),
    }
    Ok(claim(&run.machine, &What::Race { first: ids[0], second: ids[1] }))
}

fn claim_violation(violation: Violation) -> Claim {
    Claim::Violation {
        kind: violation.kind,
        thread: violation.thread_name,
        span: violation.span,
        message: violation.message,
    }
}
