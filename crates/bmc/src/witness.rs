//! From a model to a witness: the interpreter follows the order of the model, and must see the violation itself.
//!
//! The model says in which order the nodes of the skeleton happen and which inputs are asked for. We run the interpreter
//! accordingly: for each node, its thread is run up to and including that node's instruction. What comes out is the interpreter's
//! own account. If it does not get there, the model is not to be trusted, and nothing is claimed.

use crate::compose::{Composition, Suspect};
use crate::skeleton::{NodeId, ThreadIndex};
use crate::summarize::Summarizer;
use leno_explore::{What, circle, claim, claim_race, options};
use leno_ir::interp::{
    Captured, Ending, Environment, FileHandle, Image, Machine, Next, OpenMode, Owner, Source, Status, StepResult,
    ThreadId, Violation, ViolationKind, Wait,
};
use leno_ir::points_to::AbstractObject;
use leno_ir::program::{Op, Place};
use leno_ir::sharing::Sharing;
use leno_ir::witness::{Claim, Input, Observer, Recorder, Witness};
use leno_logic::order::Node;
use leno_logic::term::Evaluation;
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

/// Steps of one thread between two visible ones, before we say that it will not come.
const PATIENCE: u64 = 10_000_000;

/// After how many steps to ask whether to stop.
const LOOK_UP: u64 = 1 << 14;

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

/// Gives threads their inputs, and remembers what was given.
#[derive(Clone)]
struct Inputs<'a> {
    planned: Vec<VecDeque<u128>>,
    /// The thread of the skeleton that a thread of the machine is.
    index: BTreeMap<ThreadId, ThreadIndex>,
    given: Vec<(ThreadId, Input)>,
    rest: Captured,
    /// Steps that were made, and whether to make no more.
    steps: u64,
    interrupted: &'a dyn Fn() -> bool,
}

impl Environment for Inputs<'_> {
    fn nondet(&mut self, thread: ThreadId, width: u16, source: Source) -> u128 {
        let planned = self.index.get(&thread).and_then(|index| self.planned.get_mut(index.0 as usize));
        let value = match source {
            Source::Instruction | Source::External => planned.and_then(VecDeque::pop_front).unwrap_or(0),
            Source::Undefined => 0,
        };
        self.given.push((thread, Input { width, bits: value }));
        value
    }
    fn write(&mut self, file: FileHandle, bytes: &[u8]) -> bool {
        self.rest.write(file, bytes)
    }
    fn read(&mut self, file: FileHandle, buffer: &mut [u8]) -> Option<usize> {
        self.rest.read(file, buffer)
    }
    fn open(&mut self, path: &[u8], mode: OpenMode) -> Option<FileHandle> {
        self.rest.open(path, mode)
    }
    fn close(&mut self, file: FileHandle) {
        self.rest.close(file);
    }
    fn seek(&mut self, file: FileHandle, to: std::io::SeekFrom) -> Option<u64> {
        self.rest.seek(file, to)
    }
    fn flush(&mut self, file: FileHandle) {
        self.rest.flush(file);
    }
    fn remove(&mut self, path: &[u8]) -> bool {
        self.rest.remove(path)
    }
    fn clock(&mut self) -> u64 {
        self.rest.clock()
    }
}

/// What came of running a thread.
enum Ran {
    /// It has executed, or stands before, the place it was to run to.
    There,
    Violation(Box<Violation>),
    /// It has ended the process.
    Ended,
    Lost(String),
}

fn follow(summary: &Summarizer<'_>, plan: Plan, suspect: Suspect) -> Result<Witness, String> {
    let skeleton = &summary.skeleton;
    let image = Image::new(summary.program);
    let looks_for_deadlock = matches!(suspect, Suspect::Deadlock | Suspect::Circle);
    let mut machine = Machine::new(&image, &options(!looks_for_deadlock));
    let mut recorder = Recorder::default();
    let main = ThreadId(0);
    let mut inputs = Inputs {
        planned: plan.inputs,
        index: [(main, ThreadIndex(0))].into_iter().collect(),
        given: Vec::new(),
        rest: Captured::new(0),
        steps: 0,
        interrupted: summary.interrupted,
    };
    let mut threads: BTreeMap<ThreadIndex, ThreadId> = [(ThreadIndex(0), main)].into_iter().collect();
    let mut violation = None;
    let mut ended = None;
    for (index, &(thread, place)) in plan.steps.iter().enumerate() {
        let Some(&id) = threads.get(&thread) else {
            return Err("a thread that was not started has to run".to_string());
        };
        let ran = match place {
            Some(place) => run_to(summary, &mut machine, &mut inputs, &mut recorder, id, place),
            None => run_to_end(&mut machine, &mut inputs, &mut recorder, id),
        };
        match ran {
            Ran::There if place.is_none() => continue,
            Ran::There => {}
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
        let count = machine.threads().len();
        let (before, recorded) = (machine.clone(), recorder.steps.len());
        match step(&mut machine, &mut inputs, &mut recorder, id) {
            Ran::There => {}
            Ran::Violation(found) if !summary.properties.covers(found.kind) => {
                // Nobody asked for this one. The thread goes no further, the others do.
                machine = before;
                machine.stop_thread(id);
                recorder.steps.truncate(recorded);
            }
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
            && machine.threads().len() > count
        {
            let new = ThreadId(count as u32);
            threads.insert(child, new);
            inputs.index.insert(new, child);
        }
    }
    let claim = match (suspect, violation) {
        (_, Some(violation)) => claim_violation(*violation),
        (Suspect::Leak(end), None) => {
            let id = match (ended, skeleton.ends[end].thread.and_then(|thread| threads.get(&thread))) {
                (Some(id), _) => id,
                (None, Some(&id)) => match run_to_end(&mut machine, &mut inputs, &mut recorder, id) {
                    Ran::Ended => id,
                    _ => return Err("the program does not end there".to_string()),
                },
                (None, None) => return Err("the program does not end".to_string()),
            };
            let kinds = [ViolationKind::LostMemory, ViolationKind::Leak];
            let mut asked = kinds.into_iter().filter(|kind| summary.properties.covers(*kind));
            let found = asked.find_map(|kind| machine.leak(id, kind));
            claim_violation(*found.ok_or("what is left at the end can still be reached")?)
        }
        (_, None) if ended.is_some() => return Err("the program ends".to_string()),
        (Suspect::Violation(index), None) => {
            let thread = skeleton.violations[index].thread;
            let Some(&id) = threads.get(&thread) else {
                return Err("the thread that fails was not started".to_string());
            };
            claim_violation(*run_to_violation(&mut machine, &mut inputs, &mut recorder, id)?)
        }
        (Suspect::Deadlock | Suspect::Circle, None) => {
            for thread in plan.stuck {
                if let Some(&id) = threads.get(&thread) {
                    run_to_wait(&mut machine, &mut inputs, &mut recorder, id)?;
                }
            }
            let waiting = match (suspect, machine.deadlock()) {
                (Suspect::Circle, _) => circle(&machine).ok_or("the locks are not waited for in a circle")?,
                (_, Ending::Deadlock(waiting)) if !waiting.is_empty() => waiting,
                _ => return Err("the threads are not stuck".to_string()),
            };
            claim(&machine, &What::Deadlock(waiting))
        }
        (Suspect::Race(first, second), None) => {
            let mut ids = Vec::new();
            for event in [first, second] {
                let event = &skeleton.events[event];
                let Some(&id) = threads.get(&event.thread) else {
                    return Err("a racing thread was not started".to_string());
                };
                let ran = match (event.in_section, plan.next) {
                    (true, Some(place)) if machine.in_section(id) => {
                        run_to(summary, &mut machine, &mut inputs, &mut recorder, id, place)
                    }
                    (true, _) => run_to_section(&mut machine, &mut inputs, &mut recorder, id),
                    (false, _) => run_to(summary, &mut machine, &mut inputs, &mut recorder, id, event.place),
                };
                match ran {
                    Ran::There => ids.push(id),
                    Ran::Violation(_) => return Err("something else goes wrong first".to_string()),
                    Ran::Ended => return Err("the program ends".to_string()),
                    Ran::Lost(reason) => return Err(reason),
                }
            }
            let events = [&skeleton.events[first], &skeleton.events[second]];
            match events.iter().position(|event| event.in_section) {
                None => claim_race(&machine, ids[0], ids[1]).ok_or("the accesses do not overlap")?,
                Some(inside) => {
                    let other = machine.footprint(ids[1 - inside]);
                    // What the section would do is seen by doing it, on another machine.
                    let (mut trial, mut trial_inputs) = (machine.clone(), inputs.clone());
                    let mut ignored = Recorder::default();
                    let ran =
                        run_to(summary, &mut trial, &mut trial_inputs, &mut ignored, ids[inside], events[inside].place);
                    let within = trial.footprint(ids[inside]).filter(|_| matches!(ran, Ran::There));
                    match (other, within) {
                        (Some(a), Some(b)) if a.conflicts(b) => {}
                        _ => return Err("the accesses do not overlap".to_string()),
                    }
                    claim(&machine, &What::Race { first: ids[0], second: ids[1] })
                }
            }
        }
    };
    if machine.is_tainted() {
        return Err("it needs something of which nothing is known".to_string());
    }
    let mut by_name: BTreeMap<String, Vec<Input>> = BTreeMap::new();
    for (thread, input) in inputs.given {
        by_name.entry(machine.thread_name(thread).to_string()).or_default().push(input);
    }
    Ok(Witness { claim, steps: recorder.steps, inputs: by_name })
}

fn claim_violation(violation: Violation) -> Claim {
    Claim::Violation {
        kind: violation.kind,
        thread: violation.thread_name,
        span: violation.span,
        message: violation.message,
    }
}

/// Runs a thread until it stands before `place`. (It may come by there on private memory first, which is no step of the plan.)
fn run_to(
    summary: &Summarizer<'_>,
    machine: &mut Machine<'_>,
    inputs: &mut Inputs<'_>,
    recorder: &mut Recorder,
    thread: ThreadId,
    place: Place,
) -> Ran {
    for _ in 0..PATIENCE {
        if machine.threads()[thread].status != Status::Running {
            return Ran::Lost(format!("{} has ended", machine.thread_name(thread)));
        }
        if machine.image().place(machine.pc(thread)) == place && !is_private(summary, machine, thread) {
            return Ran::There;
        }
        match step(machine, inputs, recorder, thread) {
            Ran::There => {}
            other => return other,
        }
    }
    Ran::Lost(format!("{} does not get to {place:?}", machine.thread_name(thread)))
}

/// Whether the next step is an access to memory that threads do not share.
fn is_private(summary: &Summarizer<'_>, machine: &Machine<'_>, thread: ThreadId) -> bool {
    let Next::Instr(instr) = machine.image().next_at(machine.pc(thread)) else { return false };
    let is_access = matches!(
        instr.op,
        Op::Load { .. } | Op::Store { .. } | Op::ReadModifyWrite { .. } | Op::CompareExchange { .. }
    );
    let Some(footprint) = machine.footprint(thread).filter(|_| is_access) else { return false };
    let object = match machine.owner(footprint.address) {
        Some((Owner::Static(object), _)) => AbstractObject::Static(object),
        Some((Owner::Slot(function, slot), _)) => AbstractObject::Slot(function, slot),
        Some((Owner::Heap(place), _)) => AbstractObject::Site(place),
        _ => return false,
    };
    let object = summary.points_to.object(object);
    object.is_some_and(|object| summary.shared.of(object) != Sharing::Shared)
}

/// Runs a thread until its next step begins an atomic section.
fn run_to_section(
    machine: &mut Machine<'_>,
    inputs: &mut Inputs<'_>,
    recorder: &mut Recorder,
    thread: ThreadId,
) -> Ran {
    for _ in 0..PATIENCE {
        if machine.threads()[thread].status != Status::Running {
            return Ran::Lost(format!("{} has ended", machine.thread_name(thread)));
        }
        let next = machine.image().next_at(machine.pc(thread));
        if matches!(next, Next::Instr(instr) if matches!(instr.op, Op::AtomicBegin)) {
            return Ran::There;
        }
        match step(machine, inputs, recorder, thread) {
            Ran::There => {}
            other => return other,
        }
    }
    Ran::Lost(format!("{} does not get to its atomic section", machine.thread_name(thread)))
}

/// Runs a thread until it is finished.
fn run_to_end(machine: &mut Machine<'_>, inputs: &mut Inputs<'_>, recorder: &mut Recorder, thread: ThreadId) -> Ran {
    for _ in 0..PATIENCE {
        if machine.threads()[thread].status != Status::Running {
            return Ran::There;
        }
        match step(machine, inputs, recorder, thread) {
            Ran::There => {}
            other => return other,
        }
    }
    Ran::Lost(format!("{} does not end", machine.thread_name(thread)))
}

/// One step. There: it has been made.
fn step(machine: &mut Machine<'_>, inputs: &mut Inputs<'_>, recorder: &mut Recorder, thread: ThreadId) -> Ran {
    inputs.steps += 1;
    if inputs.steps % LOOK_UP == 0 && (inputs.interrupted)() {
        return Ran::Lost("it was interrupted".to_string());
    }
    recorder.before(machine, thread);
    match machine.step(thread, inputs) {
        StepResult::Done => {
            recorder.after(machine, thread);
            Ran::There
        }
        StepResult::Violation(violation) => Ran::Violation(violation),
        StepResult::Blocked => match machine.wait(thread) {
            // All events of the section have happened; what is left of it nobody sees.
            Some(Wait::Section(owner)) if owner != thread => leave_section(machine, inputs, recorder, owner, thread),
            _ => Ran::Lost(format!("{} has to wait", machine.thread_name(thread))),
        },
        StepResult::Exited(_) => {
            recorder.after(machine, thread);
            Ran::Ended
        }
        StepResult::Aborted => Ran::Lost("the program aborts".to_string()),
    }
}

/// Runs `owner` to the end of its atomic section, or to where it has to wait, and then makes the step of `thread`.
fn leave_section(
    machine: &mut Machine<'_>,
    inputs: &mut Inputs<'_>,
    recorder: &mut Recorder,
    owner: ThreadId,
    thread: ThreadId,
) -> Ran {
    for _ in 0..PATIENCE {
        if machine.threads()[owner].status != Status::Running {
            break;
        }
        // (Who has to wait in a section keeps nobody out.)
        if !machine.in_section(owner) || machine.wait(owner).is_some() {
            return step(machine, inputs, recorder, thread);
        }
        recorder.before(machine, owner);
        match machine.step(owner, inputs) {
            StepResult::Done => recorder.after(machine, owner),
            StepResult::Violation(violation) => return Ran::Violation(violation),
            _ => break,
        }
    }
    Ran::Lost(format!("{} does not leave its atomic section", machine.thread_name(owner)))
}

/// Runs a thread until it waits or has ended.
fn run_to_wait(
    machine: &mut Machine<'_>,
    inputs: &mut Inputs<'_>,
    recorder: &mut Recorder,
    thread: ThreadId,
) -> Result<(), String> {
    for _ in 0..PATIENCE {
        if machine.threads()[thread].status != Status::Running || machine.wait(thread).is_some() {
            return Ok(());
        }
        match step(machine, inputs, recorder, thread) {
            Ran::There => {}
            Ran::Violation(violation) => return Err(format!("something else goes wrong: {}", violation.message)),
            Ran::Ended => return Err("the program ends".to_string()),
            Ran::Lost(reason) => return Err(reason),
        }
    }
    Err("a thread goes on for ever".to_string())
}

fn run_to_violation(
    machine: &mut Machine<'_>,
    inputs: &mut Inputs<'_>,
    recorder: &mut Recorder,
    thread: ThreadId,
) -> Result<Box<Violation>, String> {
    for _ in 0..PATIENCE {
        if machine.threads()[thread].status != Status::Running {
            break;
        }
        match step(machine, inputs, recorder, thread) {
            Ran::There => {}
            Ran::Violation(violation) => return Ok(violation),
            Ran::Ended => return Err("the program ends".to_string()),
            Ran::Lost(reason) => return Err(reason),
        }
    }
    Err("the thread goes on without a violation".to_string())
}
