//! The interference skeleton: all accesses of a bounded program to what its threads share.
//!
//! Local control and data flow is gone (paper 000, section 4): an event has a location, a value and the condition under
//! which it occurs, all as terms over what reads return. Events lie on nodes, indivisible points of execution; the
//! nodes of a thread are in program order. The skeleton does not say which interleavings are possible: composition
//! does.

pub(crate) mod access_cells;
pub(crate) mod formula;
pub(crate) mod layout;
pub(crate) mod show;

use crate::bound::BoundSite;
use crate::skeleton::layout::InstanceId;
use leno_ir::analysis::points_to::ObjectSet;
use leno_ir::index::IndexVec;
use leno_ir::index_type;
use leno_ir::interp::ViolationKind;
use leno_ir::program::{ObjectUse, Order, Place, Span};
use leno_logic::term::Term;
use std::collections::BTreeMap;

index_type!(
    /// A point in the execution of a thread at which something indivisible happens. The nodes of a thread are in
    /// program order.
    NodeId,
    "n"
);

index_type!(
    /// A thread of the bounded program.
    ThreadIndex,
    "t"
);

index_type!(
    /// The accesses of one instruction.
    EventId,
    "e"
);

index_type!(
    /// A wait on a condition variable.
    SleepId,
    "s"
);

index_type!(ViolationId, "v");

index_type!(
    /// A way in which the process ends.
    EndId,
    "x"
);

impl ThreadIndex {
    pub const MAIN: ThreadIndex = ThreadIndex(0);
}

/// Some bytes that are read or written together.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// In addition to the condition of its event.
    pub condition: Term,
    pub address: Term,
    pub value: Term,
    pub bytes: u32,
}

/// Accesses to shared memory by one instruction.
#[derive(Clone, Debug)]
pub struct Event {
    pub node: NodeId,
    pub thread: ThreadIndex,
    pub place: Place,
    pub span: Span,
    pub occurs: Term,
    pub reads: Vec<Unit>,
    pub writes: Vec<Unit>,
    /// Atomic reads whose values are known, which are not among the reads any more: kept if orders of atomics matter,
    /// since they may still acquire something.
    pub known_reads: Vec<Unit>,
    /// The abstract objects that it may touch.
    pub targets: ObjectSet,
    /// Whether it is an ordinary access to memory, and no operation on a synchronisation object.
    pub is_plain: bool,
    /// Of an operation on a synchronisation object, where races are looked for: all of the object.
    pub object: Option<SyncObject>,
    pub is_atomic: bool,
    pub in_section: bool,
    /// One of several accesses of a library function, in one step: whether it is made may depend on what the others
    /// read.
    pub is_compound: bool,
    pub role: Role,
}

/// A synchronisation object, and what an event does to it.
#[derive(Clone, Copy, Debug)]
pub struct SyncObject {
    pub address: Term,
    pub bytes: u32,
    pub usage: ObjectUse,
}

impl SyncObject {
    /// The same, in an atomic section if that is so: there everything is atomic.
    pub fn in_section(self, in_section: bool) -> SyncObject {
        let usage = if in_section && !self.usage.is_atomic() { ObjectUse::Operates } else { self.usage };
        SyncObject { usage, ..self }
    }
}

impl Event {
    /// The bytes in which it may race with others.
    pub fn racing_bytes(&self) -> Option<(Term, u32)> {
        match self.object {
            Some(object) => Some((object.address, object.bytes)),
            None => {
                let unit = self.reads.first().or(self.writes.first()).filter(|_| self.is_plain)?;
                Some((unit.address, unit.bytes))
            }
        }
    }

    /// Whether two events that touch common bytes at the same time race.
    pub fn races(&self, other: &Event) -> bool {
        match (&self.object, &other.object) {
            (Some(one), Some(two)) => one.usage.races(two.usage),
            (Some(object), None) | (None, Some(object)) => {
                let access = if self.object.is_some() { other } else { self };
                access.is_plain && !(access.is_atomic && object.usage.is_atomic())
            }
            (None, None) => {
                let writes = !self.writes.is_empty() || !other.writes.is_empty();
                self.is_plain && other.is_plain && !(self.is_atomic && other.is_atomic) && writes
            }
        }
    }
}

/// What an event does to a mutex of the normal kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Takes it: a thread that gets past this event holds it.
    Lock,
    /// May take it.
    TryLock,
    /// May release it.
    Unlock,
    Initialise,
    /// Reads whether it is free, without taking it.
    Inspect,
    /// Anything else.
    Other,
}

/// A violation of a property, and the condition under which it happens.
#[derive(Clone, Debug)]
pub struct Violation {
    pub kind: ViolationKind,
    pub condition: Term,
    /// The last node of its thread before it.
    pub after: NodeId,
    /// The node of the step in which it would happen, if that has one.
    pub at: Option<NodeId>,
    pub thread: ThreadIndex,
    pub span: Span,
}

/// A loop or a recursion that was not unrolled further.
#[derive(Clone, Debug)]
pub struct Cut {
    pub condition: Term,
    pub after: NodeId,
    pub what: BoundSite,
}

/// An access whose validity depends on other threads, or on a symbolic address.
#[derive(Clone, Debug)]
pub struct Check {
    /// A variable: whether the access is valid.
    pub valid: Term,
    pub node: NodeId,
    pub path: Term,
    pub address: Term,
    pub bytes: u64,
    pub writes: bool,
    pub targets: ObjectSet,
}

/// The size of the object that an address is in, if that is none of the instances that were known when it was asked for.
#[derive(Clone, Debug)]
pub struct AskedSize {
    /// A variable: the size.
    pub value: Term,
    pub path: Term,
    pub address: Term,
    pub targets: ObjectSet,
    pub known: Vec<InstanceId>,
}

/// The end of the lifetime of a heap object.
#[derive(Clone, Debug)]
pub struct Free {
    pub valid: Term,
    pub node: NodeId,
    pub path: Term,
    pub address: Term,
    pub targets: ObjectSet,
}

/// The beginning of the lifetime of a heap object. Recorded only if a property is about leaks.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    pub instance: InstanceId,
    pub node: NodeId,
    pub path: Term,
    pub span: Span,
}

/// The end of the lifetime of a heap object that threads do not share. Recorded only if a property is about leaks.
#[derive(Clone, Copy, Debug)]
pub struct Release {
    pub instance: InstanceId,
    pub node: NodeId,
    pub path: Term,
}

/// A word that may be a pointer, when the process ends.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    pub value: Term,
    /// The heap object that it lies in.
    pub holder: Option<InstanceId>,
    /// The thread whose result it is.
    pub result_of: Option<ThreadIndex>,
}

/// An end of the process at which leaks count: all but those by `abort`.
#[derive(Clone, Debug)]
pub struct End {
    pub node: NodeId,
    pub path: Term,
    /// The thread that ends it; none if it ends with its last thread.
    pub thread: Option<ThreadIndex>,
    /// The words that may hold pointers, as far as they are known.
    pub words: Vec<Word>,
}

/// The end of the lifetime of a stack object.
#[derive(Clone, Copy, Debug)]
pub struct Death {
    pub instance: InstanceId,
    pub node: NodeId,
    pub path: Term,
}

/// The beginning of another lifetime of a stack object.
#[derive(Clone, Copy, Debug)]
pub struct Birth {
    pub instance: InstanceId,
    pub node: NodeId,
    pub path: Term,
    /// Of the deaths of its thread, those before this number came before it.
    pub deaths: usize,
}

/// A point where an atomic section may be split because it has to wait: it continues at `second`. Where the condition
/// holds it is not split, and no node of another thread comes between the two.
#[derive(Clone, Copy, Debug)]
pub struct SectionSplit {
    pub first: NodeId,
    pub second: NodeId,
    pub condition: Term,
}

/// The condition under which a false assumption stops a thread in an atomic section.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// The node at which the section began.
    pub section: NodeId,
    pub condition: Term,
}

/// A join or a detach of a thread.
#[derive(Clone, Debug)]
pub struct Join {
    pub is_detach: bool,
    /// A variable: that the handle is not valid, or not any more. None if no property is about that.
    pub invalid: Option<Term>,
    /// A variable: whether the join returned.
    pub done: Term,
    pub node: NodeId,
    pub path: Term,
    pub handle: Term,
    /// What the thread returned, a word.
    pub result: Option<Term>,
    /// In an atomic section: a variable that says that the thread had ended before this node, so that the section need
    /// not wait.
    pub at_once: Option<(Term, NodeId)>,
}

/// A fence. Recorded only if orders of atomics matter.
#[derive(Clone, Copy, Debug)]
pub struct Fence {
    pub node: NodeId,
    pub path: Term,
    pub order: Order,
}

/// A step that may block.
#[derive(Clone, Debug)]
pub struct Wait {
    pub thread: ThreadIndex,
    /// The last node of its thread before it.
    pub after: NodeId,
    pub path: Term,
    /// A variable: whether the step occurs.
    pub goes_on: Term,
    pub until: Until,
    /// How often the thread holds read-write locks for reading, by their addresses.
    pub reading: Vec<(u64, Term)>,
}

/// What a step waits for; conditions are about the state at the deadlock point.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    Enabled(Term),
    Lock {
        free: Term,
        owner: Term,
    },
    /// A read-write lock at this address. Readers keep those out who want to write.
    ReadWrite {
        enabled: Term,
        writer: Term,
        address: u64,
        is_write: bool,
    },
    /// The end of the thread with this handle.
    End(Term),
    /// A signal that ends this sleep.
    Signal(SleepId),
}

/// A thread falls asleep on a condition variable.
#[derive(Clone, Copy, Debug)]
pub struct Sleep {
    pub thread: ThreadIndex,
    pub node: NodeId,
    pub path: Term,
    pub address: Term,
    /// The node and the condition of its waking up.
    pub wake: Option<(NodeId, Term)>,
    /// That it has woken up without a signal: its deadline has passed, or for no reason.
    pub late: Term,
}

/// A thread waits at a barrier that may be destroyed.
#[derive(Clone, Copy, Debug)]
pub struct BarrierWait {
    pub thread: ThreadIndex,
    pub address: Term,
    pub arrives: (NodeId, Term),
    pub leaves: Option<(NodeId, Term)>,
}

#[derive(Clone, Copy, Debug)]
pub struct BarrierDestroy {
    pub thread: ThreadIndex,
    pub address: Term,
    pub node: NodeId,
    pub path: Term,
}

/// Waits at barriers, and the ends of barriers, in programs that have both.
#[derive(Clone, Debug, Default)]
pub struct Barriers {
    pub waits: Vec<BarrierWait>,
    pub destroys: Vec<BarrierDestroy>,
}

#[derive(Clone, Copy, Debug)]
pub struct Signal {
    pub node: NodeId,
    pub path: Term,
    pub address: Term,
    pub is_broadcast: bool,
}

/// The point of execution at which a deadlock is looked for. Its node belongs to no thread.
#[derive(Clone, Copy, Debug)]
pub struct DeadlockPoint {
    pub node: NodeId,
    pub asked: Term,
}

#[derive(Clone, Debug)]
pub struct Thread {
    pub name: String,
    pub handle: Term,
    /// The node of the instruction that starts it, and the condition; none for the main thread.
    pub spawned: Option<(NodeId, Term)>,
    /// Both are node 0 until the thread has been executed.
    pub first: NodeId,
    pub last: NodeId,
    /// The condition under which it ends, and what it returns.
    pub finished: Term,
    pub result: Term,
    /// How often it holds read-write locks for reading when it ends, by their addresses.
    pub reading: Vec<(u64, Term)>,
    pub inputs: Vec<InputValue>,
}

/// A nondeterministic value, and the condition under which the program asks for it.
#[derive(Clone, Copy, Debug)]
pub struct InputValue {
    pub condition: Term,
    pub value: Term,
}

/// An instruction that other threads can see, and the condition under which it is executed.
#[derive(Clone, Copy, Debug)]
pub struct VisibleStep {
    pub node: NodeId,
    pub place: Place,
    pub path: Term,
}

/// A thread begins to wait for a condition variable, with this mutex.
#[derive(Clone, Debug)]
pub struct Waiter {
    pub thread: ThreadIndex,
    pub path: Term,
    pub condition: Term,
    pub mutex: Term,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Skeleton {
    /// By node: its thread.
    pub nodes: IndexVec<NodeId, ThreadIndex>,
    pub threads: IndexVec<ThreadIndex, Thread>,
    pub events: IndexVec<EventId, Event>,
    pub violations: IndexVec<ViolationId, Violation>,
    pub cuts: Vec<Cut>,
    pub checks: Vec<Check>,
    pub sizes: Vec<AskedSize>,
    pub frees: Vec<Free>,
    pub deaths: Vec<Death>,
    pub births: Vec<Birth>,
    pub allocations: Vec<Allocation>,
    pub releases: Vec<Release>,
    pub ends: IndexVec<EndId, End>,
    pub section_splits: Vec<SectionSplit>,
    pub stops: Vec<Stop>,
    /// By node of an atomic section: the node at which the section began.
    pub sections: BTreeMap<NodeId, NodeId>,
    pub joins: Vec<Join>,
    pub fences: Vec<Fence>,
    pub waits: Vec<Wait>,
    pub sleeps: IndexVec<SleepId, Sleep>,
    pub signals: Vec<Signal>,
    pub waiters: Vec<Waiter>,
    pub barriers: Barriers,
    pub deadlock_point: Option<DeadlockPoint>,
    /// The visible instructions of threads, in program order: to guide the interpreter.
    pub steps: Vec<VisibleStep>,
    /// Ends of the process.
    pub exits: Vec<(Term, NodeId)>,
    /// Constraints on the variables.
    pub constraints: Vec<Term>,
    /// Variables that say that an input is empty. The interpreter can only follow models in which all are true.
    pub no_input: Vec<Term>,
    /// Inexact parts that matter under a condition: nothing is proved if the condition can hold.
    pub doubts: Vec<(Term, String)>,
    /// Parts that were left out or are not exact, in words: with any of them, nothing is proved.
    pub gaps: Vec<String>,
}

impl Skeleton {
    pub fn add_node(&mut self, thread: ThreadIndex) -> NodeId {
        self.nodes.push(thread)
    }

    /// The index of nodes that belong to no thread: the point at which a deadlock is looked for, the end of the process
    /// with its last thread.
    pub fn no_thread(&self) -> ThreadIndex {
        self.threads.next_id()
    }

    /// Whether two nodes are on one thread; then they happen in the order of their ids.
    pub fn on_one_thread(&self, a: NodeId, b: NodeId) -> bool {
        self.nodes[a] == self.nodes[b]
    }

    pub fn gap(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.gaps.contains(&what) {
            self.gaps.push(what);
        }
    }

    /// All terms but the values that are read and written.
    pub fn for_each_condition(&self, mut see: impl FnMut(Term)) {
        let mut copy = Skeleton { events: IndexVec::new(), ..self.clone() };
        copy.replace(|term| {
            see(term);
            term
        });
        for event in &self.events {
            see(event.occurs);
            event.object.iter().for_each(|object| see(object.address));
            for unit in event.reads.iter().chain(&event.writes) {
                see(unit.condition);
                see(unit.address);
            }
        }
    }

    /// Replaces all terms.
    pub fn replace(&mut self, mut new: impl FnMut(Term) -> Term) {
        let mut put = |all: &mut [&mut Term]| all.iter_mut().for_each(|term| **term = new(**term));
        for event in self.events.iter_mut() {
            put(&mut [&mut event.occurs]);
            event.object.iter_mut().for_each(|object| put(&mut [&mut object.address]));
            for unit in event.reads.iter_mut().chain(&mut event.writes).chain(&mut event.known_reads) {
                put(&mut [&mut unit.condition, &mut unit.address, &mut unit.value]);
            }
        }
        for thread in self.threads.iter_mut() {
            put(&mut [&mut thread.handle, &mut thread.finished, &mut thread.result]);
            thread.spawned.iter_mut().for_each(|(_, path)| put(&mut [path]));
            thread.reading.iter_mut().for_each(|(_, count)| put(&mut [count]));
            thread.inputs.iter_mut().for_each(|input| put(&mut [&mut input.condition, &mut input.value]));
        }
        self.violations.iter_mut().for_each(|violation| put(&mut [&mut violation.condition]));
        self.cuts.iter_mut().for_each(|cut| put(&mut [&mut cut.condition]));
        self.checks.iter_mut().for_each(|check| put(&mut [&mut check.valid, &mut check.path, &mut check.address]));
        self.sizes.iter_mut().for_each(|asked| put(&mut [&mut asked.value, &mut asked.path, &mut asked.address]));
        self.frees.iter_mut().for_each(|free| put(&mut [&mut free.valid, &mut free.path, &mut free.address]));
        self.deaths.iter_mut().for_each(|death| put(&mut [&mut death.path]));
        self.births.iter_mut().for_each(|birth| put(&mut [&mut birth.path]));
        self.allocations.iter_mut().for_each(|allocation| put(&mut [&mut allocation.path]));
        self.releases.iter_mut().for_each(|release| put(&mut [&mut release.path]));
        for end in self.ends.iter_mut() {
            put(&mut [&mut end.path]);
            end.words.iter_mut().for_each(|word| put(&mut [&mut word.value]));
        }
        self.section_splits.iter_mut().for_each(|split| put(&mut [&mut split.condition]));
        self.stops.iter_mut().for_each(|stop| put(&mut [&mut stop.condition]));
        for join in &mut self.joins {
            put(&mut [&mut join.done, &mut join.path, &mut join.handle]);
            join.result.iter_mut().chain(&mut join.invalid).for_each(|term| put(&mut [term]));
            join.at_once.iter_mut().for_each(|(term, _)| put(&mut [term]));
        }
        for wait in &mut self.waits {
            put(&mut [&mut wait.path, &mut wait.goes_on]);
            match &mut wait.until {
                Until::Enabled(term) | Until::End(term) => put(&mut [term]),
                Until::Lock { free, owner } => put(&mut [free, owner]),
                Until::ReadWrite { enabled, writer, .. } => put(&mut [enabled, writer]),
                Until::Signal(_) => {}
            }
            wait.reading.iter_mut().for_each(|(_, count)| put(&mut [count]));
        }
        for sleep in self.sleeps.iter_mut() {
            put(&mut [&mut sleep.path, &mut sleep.address, &mut sleep.late]);
            sleep.wake.iter_mut().for_each(|(_, path)| put(&mut [path]));
        }
        self.fences.iter_mut().for_each(|fence| put(&mut [&mut fence.path]));
        self.signals.iter_mut().for_each(|signal| put(&mut [&mut signal.path, &mut signal.address]));
        for waiter in &mut self.waiters {
            put(&mut [&mut waiter.path, &mut waiter.condition, &mut waiter.mutex]);
        }
        for wait in &mut self.barriers.waits {
            put(&mut [&mut wait.address, &mut wait.arrives.1]);
            wait.leaves.iter_mut().for_each(|(_, path)| put(&mut [path]));
        }
        for destroy in &mut self.barriers.destroys {
            put(&mut [&mut destroy.address, &mut destroy.path]);
        }
        self.deadlock_point.iter_mut().for_each(|point| put(&mut [&mut point.asked]));
        self.steps.iter_mut().for_each(|step| put(&mut [&mut step.path]));
        self.exits.iter_mut().for_each(|(path, _)| put(&mut [path]));
        self.doubts.iter_mut().for_each(|(condition, _)| put(&mut [condition]));
        put(&mut self.constraints.iter_mut().chain(&mut self.no_input).collect::<Vec<_>>());
    }
}
