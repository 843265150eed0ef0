//! One event of the interpreter: a visible step of a thread, and the invisible ones that follow.
//!
//! Between events every thread stands before a step that others could see. Steps on objects that only one thread can
//! ever access are invisible too, by the sharing analysis. A whole atomic section is one event. A nondeterministic
//! choice begins an event, too, although other threads cannot see it.

use crate::circle::Circle;
use crate::event::{Access, Choice, DataKind, Footprint, HeapStep, SyncKind};
use crate::task::Unordered;
use leno_engine::witness::claim_unordered;
use leno_ir::analysis::facts::Facts;
use leno_ir::analysis::features::counted_locks;
use leno_ir::index::Idx;
use leno_ir::interp::{
    Environment, FileHandle, Image, Isolated, LibraryCall, MAIN, Machine, Next, OpenMode, Owner, Source, Status,
    StepResult, ThreadId, Value, Violation, Wait,
};
use leno_ir::library_memory::only_shows;
use leno_ir::points_to::{AbstractObject, PointsTo};
use leno_ir::program::{
    Body, Callee, Expr, FuncId, LockKind, ObjectUse, Op, Order, Program, RmwOp, SlotId, Storage, SyncOp,
    TerminatorKind, mutex_bytes,
};
use leno_ir::sharing::{SharedObjects, Sharing};
use leno_ir::witness::Observer;
use std::collections::BTreeSet;

/// Gives an event the values that the search wants it to have, and remembers what it asked for.
#[derive(Default)]
pub struct Inputs {
    pub script: Vec<Choice>,
    pub asked: Vec<Choice>,
    /// The threads that asked: a new thread runs up to its first visible step within the event that created it. None
    /// where the search itself wants to know, and the program asks for nothing.
    pub asked_by: Vec<Option<ThreadId>>,
    /// Something was asked for that cannot be enumerated.
    pub incomplete: Option<&'static str>,
    world: Isolated,
}

impl Inputs {
    pub fn begin(&mut self, script: &[Choice]) {
        self.script.clear();
        self.script.extend_from_slice(script);
        self.asked.clear();
        self.asked_by.clear();
    }

    /// How many of the planned values were asked for as planned. Where the next one was planned, there was less to
    /// choose from: no thread could tell whether freed memory is given out again.
    pub fn as_planned(&self) -> usize {
        let differs = self.asked.iter().zip(&self.script).position(|(asked, planned)| asked.width != planned.width);
        differs.unwrap_or(self.script.len())
    }
}

impl Environment for Inputs {
    fn outside(&mut self) -> &mut dyn Environment {
        &mut self.world
    }

    fn nondet(&mut self, thread: ThreadId, width: u16, source: Source) -> u128 {
        let index = self.script.get(self.asked.len()).map_or(0, |choice| choice.index);
        let choice = Choice { width, index };
        self.asked.push(choice);
        self.asked_by.push(Some(thread).filter(|_| source != Source::WakeUp));
        if !Choice::is_exhaustive(width) {
            self.incomplete = Some(match source {
                Source::External => "a function of which nothing is known",
                _ => "a nondeterministic value of more than 8 bits",
            });
        }
        choice.value()
    }

    fn read(&mut self, file: FileHandle, buffer: &mut [u8]) -> Option<usize> {
        self.incomplete = Some("input from a file");
        self.world.read(file, buffer)
    }

    fn open(&mut self, path: &[u8], mode: OpenMode) -> Option<FileHandle> {
        self.incomplete = Some("input from a file");
        self.world.open(path, mode)
    }

    fn clock(&mut self) -> u64 {
        self.incomplete = Some("the time of day");
        self.world.clock()
    }
}

/// What is known about a program before it runs.
pub struct Statics {
    /// By code address: whether the step there may touch what another thread can touch.
    shared: Vec<bool>,
    /// By code address: whether the step there lies in a loop.
    in_loop: Vec<bool>,
    /// By code address: whether the step there changes anything beyond registers.
    changes: Vec<Change>,
    /// Objects that only one thread can ever access, or that none can change.
    private_objects: BTreeSet<AbstractObject>,
    has_waits: bool,
    has_sections: bool,
}

impl Statics {
    pub fn new(facts: &Facts<'_>, image: &Image<'_>) -> Statics {
        let program = facts.program();
        let (points_to, sharing) = (facts.points_to(), facts.sharing());
        let returns_shared: Vec<bool> =
            program.functions.ids().map(|id| has_shared_slot(program, points_to, sharing, id)).collect();
        let shared = (0..image.code_len())
            .map(|pc| {
                let place = image.place(pc);
                match image.next_at(pc) {
                    Next::Instr(instr) => match &instr.op {
                        Op::Load { .. }
                        | Op::Store { .. }
                        | Op::ReadModifyWrite { .. }
                        | Op::CompareExchange { .. }
                        | Op::Free { storage: Storage::Stack, .. }
                        | Op::BeginLife { .. }
                        | Op::EndLife { .. } => sharing.is_shared_access(place),
                        _ => true,
                    },
                    Next::Terminator(terminator) => match terminator.kind {
                        TerminatorKind::Return(_) => returns_shared[place.func.index()],
                        _ => true,
                    },
                }
            })
            .collect();
        let counted = counted_locks(program, facts.calls(), points_to);
        let is_counted = |pc| {
            locks(image.next_at(pc))
                .is_some_and(|lock| counted.intersects(&points_to.points_to(image.place(pc).func, lock)))
        };
        let changes = (0..image.code_len()).map(|pc| change(program, image.next_at(pc), is_counted(pc))).collect();
        let has_waits = (0..image.code_len()).any(|pc| is_wait(image.next_at(pc)));
        let has_sections = (0..image.code_len()).any(|pc| begins_section(image.next_at(pc)));
        let objects = points_to.objects().iter_enumerated();
        let private_objects =
            objects.filter(|(id, _)| sharing.of(*id) != Sharing::Shared).map(|(_, object)| *object).collect();
        Statics { has_sections, shared, in_loop: loop_code(facts, image), changes, private_objects, has_waits }
    }

    /// Whether an address lies in an object that threads share.
    fn is_shared_address(&self, machine: &Machine<'_>, address: u64) -> bool {
        let object = match machine.owner(address) {
            Some((Owner::Static(object), _)) => AbstractObject::Static(object),
            Some((Owner::Slot(function, slot), _)) => AbstractObject::Slot(function, slot),
            Some((Owner::Heap(place), _)) => AbstractObject::Site(place),
            _ => return true,
        };
        !self.private_objects.contains(&object)
    }

    /// Whether any thread ever waits on a condition variable.
    pub fn has_waits(&self) -> bool {
        self.has_waits
    }

    /// Whether a thread stands in a loop: it may come by here again.
    pub fn is_in_loop(&self, machine: &Machine<'_>, thread: ThreadId) -> bool {
        self.in_loop[machine.pc(thread) as usize]
    }
}

fn is_wait(next: Next<'_>) -> bool {
    matches!(next, Next::Instr(instr) if matches!(instr.op, Op::Sync { op: SyncOp::CondWake { .. }, .. }))
}

fn begins_section(next: Next<'_>) -> bool {
    matches!(next, Next::Instr(instr) if matches!(instr.op, Op::AtomicBegin))
}

/// The mutex that a step takes or gives back.
fn locks<'p>(next: Next<'p>) -> Option<&'p Expr> {
    let Next::Instr(instr) = next else { return None };
    match &instr.op {
        Op::Sync { op: SyncOp::CondSleep { mutex }, .. } => Some(mutex),
        Op::Sync { op: SyncOp::Lock(_) | SyncOp::Unlock(_) | SyncOp::CondRelock, at, .. } => Some(at),
        _ => None,
    }
}

/// By instruction: whether a thread may come by again, in a loop of its function or of one that has called it.
fn loop_code(facts: &Facts<'_>, image: &Image<'_>) -> Vec<bool> {
    let repeated = |function| facts.cfg(function).map_or(Vec::new(), |cfg| cfg.repeated());
    let loops: Vec<Vec<bool>> = facts.program().functions.ids().map(repeated).collect();
    let is_repeated = |pc| {
        let place = image.place(pc);
        loops[place.func.index()][place.block.index()]
    };
    let called: Vec<FuncId> = (0..image.code_len())
        .filter(|pc| is_repeated(*pc))
        .filter_map(|pc| match image.next_at(pc) {
            Next::Instr(instr) => match &instr.op {
                Op::Call { callee: Callee::Direct(function), .. } => Some(*function),
                _ => None,
            },
            Next::Terminator(_) => None,
        })
        .collect();
    let again = facts.calls().calls().reachable(called);
    let is_called_again = |pc| again.get(image.place(pc).func.index()) == Some(&true);
    (0..image.code_len()).map(|pc| is_repeated(pc) || is_called_again(pc)).collect()
}

fn has_shared_slot(program: &Program, points_to: &PointsTo, sharing: &SharedObjects, function: FuncId) -> bool {
    let body = &program.functions[function];
    let slots = (0..body.slots.len()).any(|slot| {
        let object = AbstractObject::Slot(function, SlotId::new(slot));
        points_to.object(object).is_some_and(|id| sharing.of(id) == Sharing::Shared)
    });
    let Body::Blocks(blocks) = &body.body else { return slots };
    let allocas = blocks
        .iter()
        .flat_map(|b| &b.instrs)
        .any(|instr| matches!(instr.op, Op::Allocate { storage: Storage::Stack, .. }));
    slots || allocas
}

/// What an event changed besides its thread's own state: its place, its registers, its stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effect {
    pub is_lasting: bool,
    /// The locks that it took, less those that it gave back: a sum of hashes, 0 when both are the same.
    pub locks: u64,
    /// A wait has ended without a signal.
    pub woke_unasked: bool,
}

fn lock_hash(address: u64, state: Option<Value>) -> u64 {
    let Some(state) = state else { return 0 };
    let mixed =
        (address ^ (state.bits as u64).rotate_left(32) ^ (state.bits >> 64) as u64).wrapping_mul(0x9fb2_1c65_1e98_df25);
    mixed ^ (mixed >> 31)
}

/// Watches what the steps of an event change.
pub struct Changes<'a> {
    statics: &'a Statics,
    interrupted: &'a dyn Fn() -> bool,
    pub effect: Effect,
    /// What the first step was about to overwrite, if it was a store or an atomic operation.
    pub first: Option<Written>,
    has_begun: bool,
    /// The bytes that the step is about to write.
    watched: Option<Watched>,
    /// A race of a step with an earlier one that nothing orders before it.
    pub race: Option<Box<Unordered>>,
}

/// Bytes that an event is about to overwrite, and what is in them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Written {
    pub address: u64,
    pub len: u64,
    pub old: Value,
    /// What a compare-exchange expects to find there.
    pub expected: Option<u64>,
}

struct Watched {
    address: u64,
    len: u64,
    old: Option<Value>,
    /// A lock, which is only held for a while.
    is_lock: bool,
}

impl<'a> Changes<'a> {
    pub fn new(statics: &'a Statics, interrupted: &'a dyn Fn() -> bool) -> Changes<'a> {
        Changes {
            statics,
            interrupted,
            effect: Effect::default(),
            first: None,
            has_begun: false,
            watched: None,
            race: None,
        }
    }
}

impl Observer for Changes<'_> {
    fn before(&mut self, machine: &Machine<'_>, thread: ThreadId) {
        self.watched = None;
        if self.race.is_none() && machine.knows_order() {
            self.race = unordered(machine, thread).map(Box::new);
        }
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let pc = machine.pc(thread) as usize;
        match self.statics.changes[pc] {
            Change::None => {}
            Change::Always => self.effect.is_lasting = true,
            Change::Lives => self.effect.is_lasting |= self.statics.shared[pc],
            Change::Locked => match machine.sync_operand(thread).or(machine.footprint(thread).map(|at| at.address)) {
                Some(address) => {
                    let old = machine.peek(address, LOCK_BYTES).ok();
                    self.watched = Some(Watched { address, len: LOCK_BYTES, old, is_lock: true });
                }
                None => self.effect.is_lasting = true,
            },
            // A signal that is used up is used up for all.
            Change::Woken => {
                let is_unasked = machine.wakes_unasked(thread);
                self.effect.is_lasting |= !is_unasked;
                self.effect.woke_unasked |= is_unasked;
            }
            Change::Written => match machine.footprint(thread) {
                Some(at) if self.statics.shared[pc] || !machine.is_on_stack(thread, at.address) => {
                    let len = at.len.min(16);
                    let old = machine.peek(at.address, len).ok();
                    if let (true, Some(old), true) = (is_first, old, at.len == len) {
                        let expected = machine.expected(thread);
                        self.first = Some(Written { address: at.address, len, old, expected });
                    }
                    self.watched = Some(Watched { address: at.address, len, old, is_lock: false });
                }
                Some(_) => {}
                None => self.effect.is_lasting = true,
            },
        }
    }

    fn after(&mut self, machine: &Machine<'_>, _: ThreadId) {
        let Some(Watched { address, len, old, is_lock }) = self.watched.take() else { return };
        let new = machine.peek(address, len).ok();
        if is_lock {
            self.effect.locks =
                self.effect.locks.wrapping_add(lock_hash(address, new)).wrapping_sub(lock_hash(address, old));
        } else {
            self.effect.is_lasting |= old != new;
        }
    }

    fn stops(&mut self) -> bool {
        (self.interrupted)()
    }
}

fn unordered(machine: &Machine<'_>, thread: ThreadId) -> Option<Unordered> {
    let past = machine.unordered(thread)?;
    let places = [past.pc, machine.pc(thread)].map(|pc| machine.image().span(pc));
    let claim = claim_unordered(machine, thread)?;
    Some(Unordered { threads: [past.thread, thread], places, claim, steps: machine.steps_in_order() })
}

/// Whether a kind of step changes anything beyond registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Change {
    None,
    /// Memory, if the value written is another one.
    Written,
    /// A lock, which will be given back.
    Locked,
    Woken,
    /// The life of a stack object, which is its thread's own unless others have its address.
    Lives,
    Always,
}

/// All of a mutex that changes.
const LOCK_BYTES: u64 = 12;

fn change(program: &Program, next: Next<'_>, is_counted: bool) -> Change {
    let Next::Instr(instr) = next else { return Change::None };
    match &instr.op {
        Op::Store { .. } | Op::ReadModifyWrite { .. } | Op::CompareExchange { .. } => Change::Written,
        // (Of a mutex the first 16 bytes hold all that changes.)
        Op::Sync {
            op: SyncOp::TryLock(_) | SyncOp::TryReadLock | SyncOp::TryWriteLock | SyncOp::SemTryWait, ..
        } => Change::Written,
        Op::Sync { op: SyncOp::SemGetValue, .. } => Change::None,
        // A thread that waits for a lock does not notice how often another one held it in between; a `trylock` does.
        Op::Sync { op: SyncOp::Lock(LockKind::Mutex) | SyncOp::Unlock(LockKind::Mutex), .. } if !is_counted => {
            Change::Locked
        }
        Op::Sync { op: SyncOp::CondSleep { .. } | SyncOp::CondRelock, .. } if !is_counted => Change::Locked,
        Op::Sync { op: SyncOp::CondWake { .. }, .. } => Change::Woken,
        Op::Call { callee: Callee::Direct(function), .. } => match &program.functions[*function].body {
            Body::External(external) if external.known && only_shows(&program.functions[*function].name) => {
                Change::None
            }
            Body::External(external) if !external.pure => Change::Always,
            _ => Change::None,
        },
        Op::Free { storage: Storage::Stack, .. } | Op::BeginLife { .. } | Op::EndLife { .. } => Change::Lives,
        Op::Call { callee: Callee::Indirect(_), .. }
        | Op::Allocate { .. }
        | Op::Free { .. }
        | Op::Spawn { .. }
        | Op::Join { .. }
        | Op::Detach { .. }
        | Op::Sync { .. } => Change::Always,
        _ => Change::None,
    }
}

/// What came of an event.
pub enum Ran<'p> {
    /// Every thread stands before a visible step again, or has ended, or waits.
    Done,
    /// An atomic section met a false assumption. The thread stays before it for ever.
    Nothing,
    Exited(Before<'p>),
    Violation(Box<Violation>, Before<'p>),
    /// A thread makes steps for ever without ever making a visible one.
    Endless,
    /// The program wants more memory than it may have.
    OutOfMemory,
    /// The observer wants no more.
    Stopped,
}

/// The state before an atomic section in which something went wrong.
pub type Before<'p> = Option<Box<Machine<'p>>>;

/// Lets the others go on after a violation, as if the thread had not been scheduled any more: no thread may see half of
/// an atomic section.
pub fn continue_without<'p>(machine: &mut Machine<'p>, thread: ThreadId, before: Before<'p>) {
    if let Some(before) = before {
        *machine = *before;
    }
    machine.stop_thread(thread);
}

/// Steps of one thread between two visible ones, before we call it endless.
const PATIENCE: u32 = 50_000_000;

/// Visible steps of an atomic section, before we call it endless.
const MOST_IN_SECTION: u32 = 200_000;

/// The observer is asked every so many steps whether to go on.
const ASKED_EVERY: u32 = 512;

/// Runs one event of a thread that can step; `footprint` gets what it touched, and the result says how many visible
/// steps.
pub fn run_event<'p>(
    machine: &mut Machine<'p>,
    statics: &Statics,
    inputs: &mut dyn Environment,
    thread: ThreadId,
    footprint: &mut Footprint,
    observer: &mut impl Observer,
) -> (Ran<'p>, u32) {
    let is_section = machine.in_section(thread) || begins_section(machine.next_op(thread));
    let before = is_section.then(|| Box::new(machine.clone()));
    match run_steps(machine, statics, inputs, thread, footprint, observer) {
        // Whatever came of it, it may be wrong: the real program may have more memory.
        (_, steps) if machine.has_refused_memory() => {
            if before.is_some() {
                continue_without(machine, thread, before);
            }
            (Ran::OutOfMemory, steps)
        }
        (Ran::Endless, steps) if before.is_some() => {
            continue_without(machine, thread, before);
            (Ran::Endless, steps)
        }
        (Ran::Violation(violation, _), steps) => (Ran::Violation(violation, before), steps),
        (Ran::Exited(_), steps) => (Ran::Exited(before), steps),
        (Ran::Done, steps) if before.is_some() && machine.threads()[thread].status == Status::Stopped => {
            continue_without(machine, thread, before);
            (Ran::Nothing, steps)
        }
        ran => ran,
    }
}

fn run_steps<'p>(
    machine: &mut Machine<'p>,
    statics: &Statics,
    inputs: &mut dyn Environment,
    thread: ThreadId,
    footprint: &mut Footprint,
    observer: &mut impl Observer,
) -> (Ran<'p>, u32) {
    let mut steps = 0;
    let threads = machine.threads().len();
    loop {
        let first = footprint.0.len();
        // (The very first step of a program may be invisible.)
        if is_visible(machine, statics, thread) || steps > 0 {
            add_accesses(machine, statics, thread, footprint);
        }
        if steps > 0 {
            footprint.0[first..].iter_mut().for_each(may_be_split);
        }
        steps += 1;
        let calls_library = machine.called_library(thread) == Some(LibraryCall::Known);
        let in_section = machine.in_section(thread);
        let result = step(machine, inputs, thread, observer);
        if calls_library {
            // What it reads decides what else it touches, as in a section.
            steps += 1;
            add_library_accesses(machine, statics, in_section, footprint);
        }
        match result {
            StepResult::Done => {}
            StepResult::Blocked => return (Ran::Done, steps - 1),
            other => return (ended(other), steps),
        }
        let ran = run_invisible(machine, statics, inputs, thread, observer);
        if !matches!(ran, Ran::Done) {
            return (ran, steps);
        }
        if !machine.in_section(thread) {
            break;
        }
        if let Some(wait) = machine.wait(thread) {
            // The section ends here because of what another thread did: it has seen that.
            footprint.0.extend(seen_by(wait));
            break;
        }
        if steps > MOST_IN_SECTION {
            return (Ran::Endless, steps);
        }
        if steps.is_multiple_of(ASKED_EVERY) && observer.stops() {
            return (Ran::Stopped, steps);
        }
    }
    for child in threads..machine.threads().len() {
        let ran = run_invisible(machine, statics, inputs, ThreadId::new(child), observer);
        if !matches!(ran, Ran::Done) {
            return (ran, steps);
        }
    }
    (Ran::Done, steps)
}

/// Inside of a section a lock need not wait until it is free: the section would end before it.
fn may_be_split(access: &mut Access) {
    if let Access::Sync { step: step @ SyncKind::Acquire, .. } = access {
        *step = SyncKind::Await;
    }
}

/// What a thread has to look at to know that it must wait.
fn seen_by(wait: Wait) -> Option<Access> {
    match wait {
        Wait::Join(target) => Some(Access::Handle(target)),
        _ => waits_at(wait).map(|address| Access::Sync { address, len: 4, step: SyncKind::Other, usage: None }),
    }
}

/// The synchronisation object that a thread waits at.
pub fn waits_at(wait: Wait) -> Option<u64> {
    match wait {
        Wait::Lock { address, .. }
        | Wait::ReadLock { address, .. }
        | Wait::WriteLock { address, .. }
        | Wait::Signal { address }
        | Wait::Semaphore { address }
        | Wait::Barrier { address }
        | Wait::Once { address } => Some(address),
        Wait::Ended | Wait::Stopped | Wait::Section(_) | Wait::Join(_) => None,
    }
}

fn ended<'p>(result: StepResult) -> Ran<'p> {
    match result {
        StepResult::Violation(violation) => Ran::Violation(violation, None),
        StepResult::Exited(_) | StepResult::Aborted => Ran::Exited(None),
        StepResult::Done | StepResult::Blocked => Ran::Done,
    }
}

fn step(
    machine: &mut Machine<'_>,
    inputs: &mut dyn Environment,
    thread: ThreadId,
    observer: &mut impl Observer,
) -> StepResult {
    observer.before(machine, thread);
    let result = machine.step(thread, inputs);
    if result == StepResult::Done {
        observer.after(machine, thread);
    }
    result
}

/// Runs a thread up to its next visible step.
pub fn run_invisible<'p>(
    machine: &mut Machine<'p>,
    statics: &Statics,
    inputs: &mut dyn Environment,
    thread: ThreadId,
    observer: &mut impl Observer,
) -> Ran<'p> {
    let mut circle = Circle::default();
    for step_number in 1..=PATIENCE {
        if machine.threads()[thread].status != Status::Running || is_visible(machine, statics, thread) {
            return Ran::Done;
        }
        // No other thread can change what it does: it goes round for ever, without a visible step.
        if circle.is_closed(machine, thread, step_number) {
            machine.stop_thread(thread);
            return Ran::Done;
        }
        match step(machine, inputs, thread, observer) {
            StepResult::Done => {}
            StepResult::Blocked => return Ran::Done,
            other => return ended(other),
        }
        if step_number.is_multiple_of(ASKED_EVERY) && (observer.stops() || machine.has_refused_memory()) {
            return Ran::Stopped;
        }
    }
    Ran::Endless
}

/// Whether the next step of a thread ends the program.
pub fn is_leaving(machine: &Machine<'_>, thread: ThreadId) -> bool {
    match machine.next_op(thread) {
        Next::Terminator(t) => match t.kind {
            TerminatorKind::Exit(_) | TerminatorKind::Abort => true,
            TerminatorKind::Return(_) => thread == MAIN && machine.threads()[thread].depth() == 1,
            _ => false,
        },
        Next::Instr(_) => false,
    }
}

/// The next values to try: like counting, the last one fastest. The first `fixed` ones stay.
pub fn next_choices(choices: &[Choice], fixed: usize) -> Option<Vec<Choice>> {
    let last = choices.iter().rposition(|choice| choice.index + 1 < choice.count()).filter(|last| *last >= fixed)?;
    let mut next = choices[..=last].to_vec();
    next[last].index += 1;
    Some(next)
}

/// Whether an event begins here: others could see the step, or it needs a value that the search must choose. (A choice
/// is an event of its own, so that what depends on other threads and what depends on chance are never decided in the
/// same one.)
fn is_visible(machine: &Machine<'_>, statics: &Statics, thread: ThreadId) -> bool {
    if let Next::Instr(instr) = machine.next_op(thread)
        && matches!(instr.op, Op::Nondet { .. })
    {
        return true;
    }
    if !machine.is_visible(thread) || is_alone(machine, thread) {
        return false;
    }
    statics.shared[machine.pc(thread) as usize] || is_last_return(machine, thread)
}

/// Whether the next step reads or writes data while there has never been another thread.
fn is_alone(machine: &Machine<'_>, thread: ThreadId) -> bool {
    machine.threads().len() == 1
        && matches!(machine.next_op(thread), Next::Instr(instr) if matches!(instr.op, Op::Load { .. } | Op::Store { .. }))
}

/// The return from a thread's start function is its end, which others may wait for.
fn is_last_return(machine: &Machine<'_>, thread: ThreadId) -> bool {
    machine.threads()[thread].depth() == 1
        && matches!(machine.next_op(thread), Next::Terminator(t) if matches!(t.kind, TerminatorKind::Return(_)))
}

fn is_last_step(machine: &Machine<'_>, thread: ThreadId) -> bool {
    let leaves =
        matches!(machine.next_op(thread), Next::Terminator(t) if matches!(t.kind, TerminatorKind::ThreadExit(_)));
    leaves || is_last_return(machine, thread)
}

fn add_access(footprint: &mut Footprint, in_section: bool, mut access: Access) {
    match &mut access {
        Access::Data { atomic, .. } => *atomic |= in_section,
        Access::Sync { usage: Some(usage), .. } if in_section && !usage.is_atomic() => *usage = ObjectUse::Operates,
        _ => {}
    }
    if !footprint.0.contains(&access) {
        footprint.0.push(access);
    }
}

/// What a call of a library function, which was the last step of a thread, has touched of what threads share.
fn add_library_accesses(machine: &Machine<'_>, statics: &Statics, in_section: bool, footprint: &mut Footprint) {
    for at in machine.library_accesses() {
        if statics.is_shared_address(machine, at.address) {
            let kind = if at.writes { DataKind::Store } else { DataKind::Load };
            add_access(footprint, in_section, data(machine, *at, kind));
        }
    }
}

/// What the next step of a thread touches. What a known library function touches is known when it was called.
pub fn add_accesses(machine: &Machine<'_>, statics: &Statics, thread: ThreadId, footprint: &mut Footprint) {
    let in_section = machine.in_section(thread);
    let mut add = |access| add_access(footprint, in_section, access);
    match machine.next_op(thread) {
        Next::Instr(instr) => match &instr.op {
            Op::Sync { op, .. } => {
                if let Some(at) = machine.footprint(thread) {
                    let step = match op {
                        SyncOp::Unlock(kind) => release(machine, thread, *kind, at.address),
                        _ => sync_kind(op),
                    };
                    // (A thread that sleeps makes no access before it has been woken up, and may never.)
                    let usage = Some(op.object_use()).filter(|_| !matches!(op, SyncOp::CondWake { .. }));
                    add(Access::Sync { address: at.address, len: at.len as u32, step, usage });
                }
                if let SyncOp::CondSleep { .. } = op
                    && let Some(mutex) = machine.sync_operand(thread)
                {
                    let len = machine.object_len(mutex, mutex_bytes(machine.program().model)) as u32;
                    let step = release(machine, thread, LockKind::Mutex, mutex);
                    add(Access::Sync { address: mutex, len, step, usage: Some(ObjectUse::Operates) });
                }
            }
            Op::Spawn { .. } => {
                add(Access::Spawn);
                if let Some(at) = machine.footprint(thread) {
                    add(data(machine, at, DataKind::Store));
                }
            }
            // (What a known library function touches is seen when it is called.)
            Op::Call { .. } => {
                if machine.called_library(thread) == Some(LibraryCall::Unknown) {
                    add(Access::Everything);
                }
            }
            Op::Join { .. } | Op::Detach { .. } => {
                if let Some(target) = machine.handle_target(thread) {
                    add(Access::Handle(target));
                }
            }
            Op::AtomicBegin | Op::AtomicEnd | Op::Nondet { .. } => {}
            // Neither the end of a life nor its beginning is an access: an access to a dead object is a memory error, not
            // a race.
            Op::Free { .. } | Op::BeginLife { .. } | Op::EndLife { .. } => {
                if let Some(at) = machine.footprint(thread) {
                    add(Access::End { address: at.address, len: at.len.max(1) });
                }
                if machine.frees_remembered(thread) {
                    add(Access::Heap(HeapStep::Free));
                }
            }
            Op::Allocate { .. } => add(Access::Heap(match machine.has_reusable_memory() {
                true => HeapStep::AllocateAny,
                false => HeapStep::AllocateNew,
            })),
            op => add(machine.footprint(thread).map_or(Access::Everything, |at| {
                let kind = data_kind(machine, thread, op, at);
                data(machine, at, kind)
            })),
        },
        Next::Terminator(terminator) => {
            if matches!(terminator.kind, TerminatorKind::Return(_) | TerminatorKind::ThreadExit(_)) {
                for (address, len) in machine.ending_objects(thread) {
                    add(Access::End { address, len: len.max(1) });
                }
            }
            // A thread that waits for it in a section ends its section there.
            if statics.has_sections && is_last_step(machine, thread) {
                add(Access::Handle(thread));
            }
        }
    }
}

/// How the next step of a thread accesses these bytes.
fn data_kind(machine: &Machine<'_>, thread: ThreadId, op: &Op, at: leno_ir::interp::Footprint) -> DataKind {
    // (A value that is not defined yet becomes so when it is read: that is a choice, which does not commute.)
    let found = || machine.peek(at.address, at.len).ok().filter(|value| at.len <= 16 && value.is_defined());
    match op {
        _ if !at.writes => DataKind::Load,
        Op::CompareExchange { .. } => match (found(), machine.expected(thread)) {
            (Some(found), Some(expected)) => exchange_kind(found, expected),
            _ => DataKind::Store,
        },
        Op::ReadModifyWrite { dst: None, op, at: access, .. }
            if found().is_some() && !acquires(machine, access.order) =>
        {
            match op {
                RmwOp::Add | RmwOp::Sub => DataKind::Add,
                RmwOp::And => DataKind::And,
                RmwOp::Or => DataKind::Or,
                RmwOp::Xor => DataKind::Xor,
                RmwOp::Exchange | RmwOp::Nand => DataKind::Store,
            }
        }
        _ => DataKind::Store,
    }
}

/// Whether an update of this order acquires what earlier ones have released, itself or by a later fence: then their
/// order decides what races, whatever is in memory.
fn acquires(machine: &Machine<'_>, order: Order) -> bool {
    machine.knows_order() && (order.acquires() || machine.image().orders.has_acquiring_fences)
}

/// What a compare-exchange is that finds this value.
pub fn exchange_kind(found: Value, expected: u64) -> DataKind {
    if found.bits == u128::from(expected) { DataKind::Exchange } else { DataKind::FailedExchange }
}

fn data(machine: &Machine<'_>, at: leno_ir::interp::Footprint, kind: DataKind) -> Access {
    if !machine.is_accessible(at.address, at.len) {
        return Access::End { address: at.address, len: at.len.max(1) };
    }
    Access::Data { address: at.address, len: at.len.clamp(1, u64::from(u32::MAX)) as u32, kind, atomic: at.atomic }
}

/// An unlock by a thread that does not hold the lock gives nothing back.
fn release(machine: &Machine<'_>, thread: ThreadId, kind: LockKind, address: u64) -> SyncKind {
    if machine.holds_lock(thread, kind, address) { SyncKind::Release } else { SyncKind::Other }
}

fn sync_kind(op: &SyncOp) -> SyncKind {
    match op {
        SyncOp::Lock(_) | SyncOp::CondRelock => SyncKind::Acquire,
        SyncOp::ReadLock
        | SyncOp::WriteLock
        | SyncOp::RwUnlock
        | SyncOp::CondSleep { .. }
        | SyncOp::CondWake { .. }
        | SyncOp::CondSignal
        | SyncOp::CondBroadcast
        | SyncOp::SemWait
        | SyncOp::SemPost
        | SyncOp::BarrierArrive
        | SyncOp::BarrierLeave { .. }
        | SyncOp::OnceBegin
        | SyncOp::OnceEnd => SyncKind::Await,
        _ => SyncKind::Other,
    }
}
