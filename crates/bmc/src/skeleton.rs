//! The interference skeleton: all that a bounded program does to what its threads share.
//!
//! Local control and data flow is gone (paper 000, section 4): an event has a location, a value and the condition under which
//! it occurs, all in terms of what reads return. Events lie on nodes, indivisible moments, and the nodes of a thread are in
//! program order. Nothing here says which interleavings are possible: that is composition's business.

use crate::objects::InstanceId;
use leno_ir::interp::ViolationKind;
use leno_ir::points_to::ObjectSet;
use leno_ir::program::{BlockId, FuncId, Place, Span};
use leno_logic::term::Term;
use std::collections::BTreeMap;

/// A moment of a thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadIndex(pub u32);

/// A piece of memory that is read or written as one.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// Beside what its event needs to occur.
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
    /// The abstract objects that it may touch.
    pub targets: ObjectSet,
    /// What may race: nothing for operations on locks and their like.
    pub is_plain: bool,
    pub is_atomic: bool,
    pub in_section: bool,
    pub role: Role,
}

/// What an event is to a mutex of the normal kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Takes it: who gets past this holds it.
    Lock,
    /// May take it.
    TryLock,
    /// May give it back.
    Unlock,
    Initialise,
    /// Sees whether it can be had.
    Look,
    /// Anything else.
    Other,
}

/// Something that must not happen.
#[derive(Clone, Debug)]
pub struct Violation {
    pub kind: ViolationKind,
    pub condition: Term,
    /// The last moment of its thread before it.
    pub after: NodeId,
    /// Its own moment, if the step that it would happen in has one.
    pub at: Option<NodeId>,
    pub thread: ThreadIndex,
    pub place: Place,
    pub span: Span,
}

/// A loop or a recursion that was not unrolled further.
#[derive(Clone, Debug)]
pub struct Cut {
    pub condition: Term,
    pub after: NodeId,
    pub what: Bounded,
}

/// What bounds are about: a loop, by its head, the recursion of a function, or the size of what is allocated at a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Bounded {
    Loop(FuncId, BlockId),
    Recursion(FuncId),
    Allocation(Place),
}

/// An access whose validity depends on what others do, or on a symbolic address.
#[derive(Clone, Debug)]
pub struct Check {
    /// A variable: whether the access is good.
    pub valid: Term,
    pub node: NodeId,
    pub path: Term,
    pub address: Term,
    pub bytes: u64,
    pub writes: bool,
    pub targets: ObjectSet,
}

/// The end of a heap object's life.
#[derive(Clone, Debug)]
pub struct Free {
    pub valid: Term,
    pub node: NodeId,
    pub path: Term,
    pub address: Term,
    pub targets: ObjectSet,
}

/// The beginning of a heap object's life, if it is watched.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    pub instance: InstanceId,
    pub node: NodeId,
    pub path: Term,
    pub span: Span,
}

/// The end of the life of a heap object that threads do not share, if it is watched.
#[derive(Clone, Copy, Debug)]
pub struct Release {
    pub instance: InstanceId,
    pub node: NodeId,
    pub path: Term,
}

/// Something that may be an address, when the process ends.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    pub value: Term,
    /// The heap object that it lies in.
    pub holder: Option<InstanceId>,
    /// The thread that has returned it.
    pub result_of: Option<ThreadIndex>,
}

/// An end of the process at which it matters what is left: all but those by `abort`.
#[derive(Clone, Debug)]
pub struct End {
    pub node: NodeId,
    pub path: Term,
    /// Who ends it; nobody in particular if it ends with its last thread.
    pub thread: Option<ThreadIndex>,
    /// What may point to something, as far as it is known.
    pub words: Vec<Word>,
}

/// The end of a stack object's life.
#[derive(Clone, Copy, Debug)]
pub struct Death {
    pub instance: InstanceId,
    pub node: NodeId,
    pub path: Term,
}

/// Where an atomic section may have been split: it goes on at `second`. Where the condition holds it was not, and nobody comes between.
#[derive(Clone, Copy, Debug)]
pub struct Seam {
    pub first: NodeId,
    pub second: NodeId,
    pub condition: Term,
}

/// A thread would be stopped for ever in an atomic section.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// Where the section began.
    pub section: NodeId,
    pub condition: Term,
}

/// A wait for the end of a thread, or that nobody will wait for it.
#[derive(Clone, Debug)]
pub struct Join {
    pub is_detach: bool,
    /// A variable: that the handle is not one, or has been used up. It is looked for if it is a violation.
    pub invalid: Option<Term>,
    /// A variable: whether it came to an end.
    pub done: Term,
    pub node: NodeId,
    pub path: Term,
    pub handle: Term,
    /// What the thread returned, a word.
    pub result: Option<Term>,
    /// In an atomic section: a variable that says that the thread had come to its end at this moment, so that nobody has to wait.
    pub at_once: Option<(Term, NodeId)>,
}

/// A step that may have to wait.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    pub thread: ThreadIndex,
    /// The last moment of its thread before it.
    pub after: NodeId,
    pub path: Term,
    /// A variable: whether it is made.
    pub goes_on: Term,
    pub until: Until,
}

/// What a step waits for; conditions are about the moment when a deadlock is looked for.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    Enabled(Term),
    Lock {
        free: Term,
        owner: Term,
    },
    /// The end of the thread with this handle.
    End(Term),
    /// A signal that ends this sleep.
    Signal(usize),
}

/// A thread falls asleep on a condition variable.
#[derive(Clone, Copy, Debug)]
pub struct Sleep {
    pub thread: ThreadIndex,
    pub node: NodeId,
    pub path: Term,
    pub address: Term,
    /// When and whether it wakes up.
    pub wake: Option<(NodeId, Term)>,
}

#[derive(Clone, Copy, Debug)]
pub struct Signal {
    pub node: NodeId,
    pub path: Term,
    pub address: Term,
    pub is_broadcast: bool,
}

/// The moment when a deadlock is looked for. Its node is on a thread of its own.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub node: NodeId,
    pub asked: Term,
}

#[derive(Clone, Debug)]
pub struct Thread {
    pub name: String,
    pub handle: Term,
    /// The node of the instruction that starts it, and the condition; none for the main thread.
    pub spawned: Option<(NodeId, Term)>,
    pub first: NodeId,
    pub last: NodeId,
    /// The condition under which it comes to its end, and what it returns.
    pub finished: Term,
    pub result: Term,
    pub inputs: Vec<Input>,
}

/// A nondeterministic value that is asked for on some paths.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    pub condition: Term,
    pub value: Term,
    pub width: u16,
}

/// A visible instruction, and when it is executed.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub node: NodeId,
    pub place: Place,
    pub path: Term,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Skeleton {
    /// By node: its thread.
    pub nodes: Vec<ThreadIndex>,
    pub threads: Vec<Thread>,
    pub events: Vec<Event>,
    pub violations: Vec<Violation>,
    pub cuts: Vec<Cut>,
    pub checks: Vec<Check>,
    pub frees: Vec<Free>,
    pub deaths: Vec<Death>,
    pub allocations: Vec<Allocation>,
    pub releases: Vec<Release>,
    pub ends: Vec<End>,
    pub seams: Vec<Seam>,
    pub stops: Vec<Stop>,
    /// By moment of an atomic section: where that began.
    pub sections: BTreeMap<NodeId, NodeId>,
    pub joins: Vec<Join>,
    pub waits: Vec<Wait>,
    pub sleeps: Vec<Sleep>,
    pub signals: Vec<Signal>,
    pub moment: Option<Moment>,
    /// What threads do visibly, in program order: to follow them on the interpreter.
    pub steps: Vec<Step>,
    /// Ends of the process.
    pub exits: Vec<(Term, NodeId)>,
    /// What holds of the variables that were made on the way.
    pub constraints: Vec<Term>,
    /// Variables: that nothing comes in from outside. The interpreter can only follow models of which all are true.
    pub plain: Vec<Term>,
    /// The same where it depends: there is no proof if the condition can hold.
    pub doubts: Vec<(Term, String)>,
    /// What was left out or is not exact, in words: with any of it, nothing is proved.
    pub gaps: Vec<String>,
}

impl Skeleton {
    pub fn add_node(&mut self, thread: ThreadIndex) -> NodeId {
        self.nodes.push(thread);
        NodeId(self.nodes.len() as u32 - 1)
    }

    pub fn gap(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.gaps.contains(&what) {
            self.gaps.push(what);
        }
    }

    /// All terms but the values that are read and written.
    pub fn for_each_condition(&self, mut see: impl FnMut(Term)) {
        let mut copy = Skeleton { events: Vec::new(), ..self.clone() };
        copy.replace(|term| {
            see(term);
            term
        });
        for event in &self.events {
            see(event.occurs);
            for unit in event.reads.iter().chain(&event.writes) {
                see(unit.condition);
                see(unit.address);
            }
        }
    }

    /// Puts other terms in the place of all terms.
    pub fn replace(&mut self, mut new: impl FnMut(Term) -> Term) {
        let mut put = |all: &mut [&mut Term]| all.iter_mut().for_each(|term| **term = new(**term));
        for event in &mut self.events {
            put(&mut [&mut event.occurs]);
            for unit in event.reads.iter_mut().chain(&mut event.writes) {
                put(&mut [&mut unit.condition, &mut unit.address, &mut unit.value]);
            }
        }
        for thread in &mut self.threads {
            put(&mut [&mut thread.handle, &mut thread.finished, &mut thread.result]);
            thread.spawned.iter_mut().for_each(|(_, path)| put(&mut [path]));
            thread.inputs.iter_mut().for_each(|input| put(&mut [&mut input.condition, &mut input.value]));
        }
        self.violations.iter_mut().for_each(|violation| put(&mut [&mut violation.condition]));
        self.cuts.iter_mut().for_each(|cut| put(&mut [&mut cut.condition]));
        self.checks.iter_mut().for_each(|check| put(&mut [&mut check.valid, &mut check.path, &mut check.address]));
        self.frees.iter_mut().for_each(|free| put(&mut [&mut free.valid, &mut free.path, &mut free.address]));
        self.deaths.iter_mut().for_each(|death| put(&mut [&mut death.path]));
        self.allocations.iter_mut().for_each(|allocation| put(&mut [&mut allocation.path]));
        self.releases.iter_mut().for_each(|release| put(&mut [&mut release.path]));
        for end in &mut self.ends {
            put(&mut [&mut end.path]);
            end.words.iter_mut().for_each(|word| put(&mut [&mut word.value]));
        }
        self.seams.iter_mut().for_each(|seam| put(&mut [&mut seam.condition]));
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
                Until::Signal(_) => {}
            }
        }
        for sleep in &mut self.sleeps {
            put(&mut [&mut sleep.path, &mut sleep.address]);
            sleep.wake.iter_mut().for_each(|(_, path)| put(&mut [path]));
        }
        self.signals.iter_mut().for_each(|signal| put(&mut [&mut signal.path, &mut signal.address]));
        self.moment.iter_mut().for_each(|moment| put(&mut [&mut moment.asked]));
        self.steps.iter_mut().for_each(|step| put(&mut [&mut step.path]));
        self.exits.iter_mut().for_each(|(path, _)| put(&mut [path]));
        self.doubts.iter_mut().for_each(|(condition, _)| put(&mut [condition]));
        put(&mut self.constraints.iter_mut().chain(&mut self.plain).collect::<Vec<_>>());
    }
}
