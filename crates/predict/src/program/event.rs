//! The concurrent trace program: the events of a run, thread by thread, in terms of what reads return (paper 003,
//! section 3).
//!
//! An event is a guarded assignment: its guard is what has to hold for the thread to get from its last event to this
//! one. Nothing orders the events of different threads here; which orders are possible is a question to the solver.

use crate::program::fork_join_order::ForkJoinOrder;
use crate::walk::left_out::{AllLeftOut, LeftOut};
use crate::walk::listener::{Location, PossibleViolation};
use crate::walk::objects::InstanceId;
use crate::walk::sharing_pass::{Piece, PieceId};
use crate::walk::thread::InputValue;
use leno_ir::index::IndexVec;
use leno_ir::index_type;
use leno_ir::program::{BlockId, Order, Place, Span};
use leno_logic::term::{Term, Terms};
use leno_trace::{Callbacks, ThreadIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

index_type!(
    /// An event: its number in [`TraceProgram::events`].
    EventId,
    "e"
);

index_type!(
    /// A target: its number in [`TraceProgram::targets`].
    TargetId,
    "t"
);

index_type!(
    /// A branch that another order may decide in another way: its number in [`TraceProgram::untaken`].
    UntakenId,
    "u"
);

index_type!(
    /// An execution of an atomic section.
    SectionId,
    "s"
);

index_type!(
    /// An execution of a block that is marked as atomic: its number in [`TraceProgram::blocks`].
    MarkedBlockId,
    "b"
);

#[derive(Clone, Debug)]
pub struct Event {
    pub thread: ThreadIndex,
    /// Its number among the events of its thread.
    pub index: u32,
    /// Its number among the schedule points of its thread.
    pub point: u32,
    pub place: Place,
    pub span: Span,
    /// On the recorded clock.
    pub clock: u64,
    /// What holds if the thread gets here from its last event.
    pub guard: Term,
    pub kind: Kind,
    /// The locks that the thread holds, and whether only for reading.
    pub locks: Rc<Vec<(Location, bool)>>,
    /// The same of locks that it has tried to take, and held in the recorded run.
    pub tried: Rc<Vec<(Location, bool)>>,
    /// The atomic section that it is in.
    pub section: Option<SectionId>,
    /// The marked block that it is in.
    pub block: Option<MarkedBlockId>,
    /// The run ended before it: its thread may be about to execute it, and never does.
    pub pending: bool,
    /// The fences of its thread since the event before it.
    pub fences: Fences,
}

/// Fences in a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fences {
    pub acquires: bool,
    pub releases: bool,
    /// One that acquires is, or comes before, one that releases.
    pub releases_acquired: bool,
}

impl Fences {
    pub fn of(order: Order) -> Fences {
        let (acquires, releases) = (order.acquires(), order.releases());
        Fences { acquires, releases, releases_acquired: acquires && releases }
    }

    pub fn then(self, other: Fences) -> Fences {
        Fences {
            acquires: self.acquires || other.acquires,
            releases: self.releases || other.releases,
            releases_acquired: self.releases_acquired || other.releases_acquired || (self.acquires && other.releases),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Read {
    pub piece: PieceId,
    /// A variable.
    pub value: Term,
    pub recorded: u128,
}

#[derive(Clone, Debug)]
pub struct Write {
    pub piece: PieceId,
    pub value: Term,
    pub recorded: u128,
    /// A failed exchange writes nothing.
    pub condition: Term,
    /// It did write in the recorded run.
    pub happened: bool,
}

/// What a step found out that another order changes: whether it got what it tried to get, for instance.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// A variable of one bit.
    pub bit: Term,
    /// The same as a Boolean.
    pub is_true: Term,
    pub recorded: bool,
}

impl Choice {
    pub fn always(recorded: bool) -> Choice {
        let is_true = if recorded { Term::TRUE } else { Term::FALSE };
        Choice { bit: is_true, is_true, recorded }
    }

    /// Whether it is the same in every order.
    pub fn is_fixed(self) -> bool {
        self.is_true == Term::TRUE || self.is_true == Term::FALSE
    }
}

#[derive(Clone, Debug)]
pub enum Kind {
    /// One access to memory, or to the counter of a synchronisation object.
    Access {
        reads: Vec<Read>,
        writes: Vec<Write>,
        atomic: bool,
        /// To memory, and not to a counter.
        is_plain: bool,
    },
    Acquire {
        lock: Location,
        shared: bool,
    },
    Release {
        lock: Location,
    },
    /// An attempt to acquire a lock, which fails while another thread holds it.
    Try {
        lock: Location,
        shared: bool,
        taken: Choice,
    },
    Sleep {
        condition: Location,
    },
    Wake {
        condition: Location,
        timed_out: Choice,
    },
    Signal {
        condition: Location,
        broadcast: bool,
    },
    Spawn {
        child: ThreadIndex,
    },
    Start,
    Join {
        child: ThreadIndex,
    },
    Finish,
    /// The end of the process.
    Exit,
    /// A call of what is not part of the program, by which threads may wait for each other.
    Outside(OutsideStep),
    Free {
        instance: InstanceId,
    },
    /// The end of the life of a stack object, and its beginning.
    EndLife {
        instance: InstanceId,
    },
    BeginLife {
        instance: InstanceId,
    },
    /// The last access to an object that another thread frees, if it is no event otherwise.
    LastAccess {
        instance: InstanceId,
    },
}

/// One of the two sides of a call of what is not part of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutsideStep {
    /// What comes before it in its thread may be known to others from here on. `is_all`: no other thread is waited for.
    Releases { is_all: bool },
    /// What others have released before may be known here.
    Acquires,
}

/// A position at which a property may be violated (one conjunct of Φ_PRP).
#[derive(Clone, Debug)]
pub struct Target {
    pub thread: ThreadIndex,
    /// How many events the thread has executed then.
    pub after: u32,
    pub point: u32,
    pub place: Place,
    /// What holds if the thread gets here from its last event, and the violation then.
    pub guard: Term,
    pub bad: Term,
    pub violation: PossibleViolation,
}

/// A side of a branch that a thread came to and did not take.
#[derive(Clone, Debug)]
pub struct UntakenBranch {
    pub thread: ThreadIndex,
    /// How many events the thread has executed then.
    pub after: u32,
    pub point: u32,
    pub place: Place,
    pub other: BlockId,
    pub span: Span,
    /// What holds if the thread gets here from its last event, and if it takes this side then.
    pub guard: Term,
    pub condition: Term,
}

#[derive(Clone, Debug, Default)]
pub struct ThreadEvents {
    pub name: String,
    pub events: Vec<EventId>,
    /// The thread ended in the recorded run.
    pub finished: bool,
    /// How many schedule points it passed.
    pub points: u32,
    pub inputs: Vec<InputValue>,
}

/// The state of threads when a window begins, beside the locks that they hold.
#[derive(Clone, Debug, Default)]
pub struct BeforeWindow {
    /// They have ended.
    pub finished: BTreeSet<ThreadIndex>,
    /// They sleep on a condition variable, and no signal may have woken them.
    pub asleep: BTreeMap<ThreadIndex, Location>,
}

/// See the module.
pub struct TraceProgram {
    pub terms: Terms,
    pub events: IndexVec<EventId, Event>,
    pub threads: BTreeMap<ThreadIndex, ThreadEvents>,
    pub pieces: IndexVec<PieceId, Piece>,
    /// Pieces that code outside of the program writes: their accesses keep the recorded order.
    pub opaque: IndexVec<PieceId, bool>,
    pub targets: IndexVec<TargetId, Target>,
    /// Sides of branches that were not taken. (None in windows.)
    pub untaken: IndexVec<UntakenId, UntakenBranch>,
    pub must: Rc<ForkJoinOrder>,
    /// Where each marked block begins.
    pub blocks: Rc<IndexVec<MarkedBlockId, Span>>,
    /// The last accesses to objects that another thread frees.
    pub last_accesses: Vec<(InstanceId, EventId)>,
    /// What the trace program does not cover, in words.
    pub gaps: Vec<String>,
    /// Reorderings that are not looked at.
    pub left_out: AllLeftOut,
    /// Accesses to memory in the whole run.
    pub accesses: u64,
    /// What the functions do that code outside of the program may call.
    pub callbacks: Callbacks,
    /// Signal handlers ran, and what they did is not recorded.
    pub is_interrupted: bool,
    /// How many events at the beginning of each thread have already happened: for windows.
    pub begun: BTreeMap<ThreadIndex, u32>,
    pub before: BeforeWindow,
}

impl UntakenBranch {
    /// The beginning of the side that was not taken.
    pub fn other_side(&self) -> Place {
        Place { func: self.place.func, block: self.other, index: 0 }
    }
}

impl Event {
    /// Where it was in the recorded run, as far as the clock tells: of an access only the synchronisation steps are
    /// known that it came after.
    pub fn moment(&self) -> (u64, ThreadIndex, u32) {
        let is_step = !matches!(self.kind, Kind::Access { is_plain: true, .. } | Kind::LastAccess { .. });
        (self.clock.saturating_mul(2).saturating_add(is_step.into()), self.thread, self.index)
    }
}

impl TraceProgram {
    pub fn event(&self, id: EventId) -> &Event {
        &self.events[id]
    }

    /// What threads do later that had not ended, and did not end the process, is not known.
    pub(crate) fn leave_out_unfinished(&mut self) {
        for thread in self.threads.values().filter(|thread| !thread.finished) {
            let last = thread.events.last().map(|id| &self.events[*id]);
            if let Some(last) = last.filter(|last| !matches!(last.kind, Kind::Exit)) {
                self.left_out.add(LeftOut::Unfinished, last.span);
            }
        }
    }

    /// See [`Event::moment`].
    pub fn moment(&self, id: EventId) -> (u64, ThreadIndex, u32) {
        self.event(id).moment()
    }

    /// Whether one event comes before another in every reordering.
    pub fn must_precede(&self, first: EventId, second: EventId) -> bool {
        let (first, second) = (self.event(first), self.event(second));
        if first.thread == second.thread {
            return first.index < second.index;
        }
        self.must.is_before((first.thread, first.point), (second.thread, second.point))
    }
}
