//! Witnesses: a violation, and exactly how to get there.
//!
//! A witness names threads by creation path (`main`, `main.1`, `main.1.2`), lists the *schedule points* that they pass,
//! in order, and gives the values of all nondeterministic inputs in the order in which each thread asks for them.
//! Nothing in it depends on how an engine found it: the same schedule can be followed by the interpreter and by the
//! real program.
//!
//! A schedule point is an instruction that other threads could notice, judged by its kind alone
//! ([`is_schedule_point`]): so that code compiled from the program can stop at just the same places. The end of a
//! thread's start function is one, too.

mod effect;

use crate::interp::{HeldLock, Machine, Next, Place, Status, ThreadId};
use crate::program::{Body, Callee, Instr, Op, Program, Reuse, Span, Storage, Terminator, TerminatorKind};
use std::collections::BTreeMap;

/// The version of what is written to files.
pub const VERSION: u32 = 1;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    pub claim: Claim,
    pub steps: Vec<Step>,
    /// By thread: the values of its inputs, in the order in which it asks for them.
    pub inputs: BTreeMap<String, Vec<Input>>,
}

/// What goes wrong after the last step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Claim {
    /// The next step of `thread` violates a property.
    Violation { kind: crate::interp::ViolationKind, thread: String, span: Span, message: String },
    /// Two accesses that conflict, and that nothing orders. Both threads are about to make theirs; or, if `made` is
    /// there, the first one is that step, and the thread of the second is about to make its own.
    Race { first: Racer, second: Racer, made: Option<usize> },
    /// No thread can go on; for each thread that is not finished, what it waits for.
    Deadlock { waiting: Vec<Waiting> },
    /// `first` and `between` are among the steps, in this order, and the thread of `first` is about to make `second`.
    /// All three touch one place, and no order in which `between` comes before or after both has the same effect.
    /// `block` says why the two are expected to be one.
    Atomicity { first: Racer, between: Racer, second: Racer, block: String },
}

impl Claim {
    /// The names of the threads in which it goes wrong.
    pub fn threads(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match self {
            Claim::Violation { thread, .. } => Box::new(std::iter::once(thread.as_str())),
            Claim::Race { first, second, .. } => {
                Box::new([first, second].into_iter().map(|racer| racer.thread.as_str()))
            }
            Claim::Deadlock { waiting } => Box::new(waiting.iter().map(|waiting| waiting.thread.as_str())),
            Claim::Atomicity { first, between, .. } => {
                Box::new([first, between].into_iter().map(|racer| racer.thread.as_str()))
            }
        }
    }
}

/// One side of a race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Racer {
    pub thread: String,
    pub span: Span,
    /// `write of 4 bytes at …`
    pub access: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    pub thread: String,
    pub span: Span,
    pub reason: String,
}

/// A thread passes a schedule point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub thread: String,
    pub place: Place,
    pub span: Span,
    /// What it did, for people: `counter = 1`, `reads counter = 0`, `locks m`.
    pub effect: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Input {
    pub width: u16,
    pub bits: u128,
}

/// Whether an instruction is a schedule point.
pub fn is_schedule_point(program: &Program, instr: &Instr) -> bool {
    match &instr.op {
        Op::Load { .. }
        | Op::Store { .. }
        | Op::ReadModifyWrite { .. }
        | Op::CompareExchange { .. }
        | Op::Free { .. }
        | Op::BeginLife { .. }
        | Op::EndLife { .. }
        | Op::ObjectSize { .. }
        | Op::Spawn { .. }
        | Op::Join { .. }
        | Op::Detach { .. }
        | Op::Sync { .. }
        | Op::AtomicBegin
        | Op::AtomicEnd => true,
        Op::Call { callee: Callee::Direct(function), .. } => match &program.functions[*function].body {
            Body::External(external) => !external.pure,
            Body::Blocks(_) => false,
        },
        // Whom it calls is known only when it runs: a point before the call costs little.
        Op::Call { callee: Callee::Indirect(_), .. } => true,
        Op::Allocate { storage, .. } => allocates_visibly(program, *storage),
        Op::Assign { .. }
        | Op::Fence { .. }
        | Op::Assume { .. }
        | Op::Assert { .. }
        | Op::CheckMove { .. }
        | Op::Nondet { .. }
        | Op::Undefine { .. }
        | Op::ThreadSelf { .. }
        | Op::Yield => false,
    }
}

/// Whether other threads could notice an allocation: it may return what they have freed.
pub fn allocates_visibly(program: &Program, storage: Storage) -> bool {
    storage == Storage::Heap && program.reuse != Reuse::Unnoticed
}

/// Whether a terminator is a schedule point wherever it stands. (The return from a thread's start function is one,
/// too.)
pub fn ends_at_schedule_point(terminator: &Terminator) -> bool {
    matches!(terminator.kind, TerminatorKind::ThreadExit(_) | TerminatorKind::Exit(_) | TerminatorKind::Abort)
}

impl Machine<'_> {
    /// Whether a thread stands before a schedule point.
    pub fn is_at_schedule_point(&self, thread: ThreadId) -> bool {
        let state = &self.threads()[thread];
        state.status == Status::Running
            && match self.next_op(thread) {
                Next::Instr(instr) => is_schedule_point(self.program(), instr),
                Next::Terminator(terminator) => {
                    ends_at_schedule_point(terminator)
                        || (state.depth() == 1 && matches!(terminator.kind, TerminatorKind::Return(_)))
                }
            }
    }
}

/// Sees every step that a machine makes.
pub trait Observer {
    fn before(&mut self, machine: &Machine<'_>, thread: ThreadId);
    fn after(&mut self, machine: &Machine<'_>, thread: ThreadId);
    /// Asked every so many steps: true means that there is no time for more.
    fn stops(&mut self) -> bool {
        false
    }
}

/// Looks away.
impl Observer for () {
    fn before(&mut self, _: &Machine<'_>, _: ThreadId) {}
    fn after(&mut self, _: &Machine<'_>, _: ThreadId) {}
}

/// Writes the steps of a witness down while an execution runs.
#[derive(Default)]
pub struct Recorder {
    pub steps: Vec<Step>,
    /// The locks that occurred.
    pub locks: BTreeMap<u64, HeldLock>,
    /// The step that is being made: what it says depends on what came of it.
    pending: Option<Pending>,
}

struct Pending {
    step: Step,
    address: Option<(u64, u64)>,
    /// What a compare-exchange expects to find.
    expected: Option<u64>,
}

impl Observer for Recorder {
    fn before(&mut self, machine: &Machine<'_>, thread: ThreadId) {
        self.pending = machine.is_at_schedule_point(thread).then(|| {
            let pc = machine.pc(thread);
            let step = Step {
                thread: machine.thread_name(thread).to_string(),
                place: machine.image().place(pc),
                span: machine.image().span(pc),
                effect: String::new(),
            };
            let address = machine.footprint(thread).map(|at| (at.address, at.len));
            if let (Some((at, _)), Some(lock)) = (address, machine.next_lock(thread)) {
                self.locks.insert(at, lock);
            }
            Pending { step, address, expected: machine.expected(thread) }
        });
    }

    fn after(&mut self, machine: &Machine<'_>, thread: ThreadId) {
        let Some(pending) = self.pending.take() else { return };
        let effect = effect::describe(machine, thread, &pending);
        let step = Step { effect, ..pending.step };
        self.steps.push(step);
    }
}
