//! The concurrent trace program: the events of a run, thread by thread, in terms of what reads return (paper 003, section 3).
//!
//! An event is a guarded assignment: its guard is what has to hold for the thread to get from its last event to this one. Nothing
//! orders the events of different threads here; which orders are possible is a question to the solver.

use crate::instances::InstanceId;
use crate::must::MustOrder;
use crate::quiet::CalledBack;
use crate::survey::{Piece, PieceId};
use crate::walk::{Input, Location, Suspect};
use leno_ir::program::{Place, Span};
use leno_logic::term::{Term, Terms};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// An event: its number in [`TraceProgram::events`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EventId(pub u32);

#[derive(Clone, Debug)]
pub struct Event {
    pub thread: u32,
    /// Its number among the events of its thread.
    pub index: u32,
    /// The schedule point that it is.
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
    /// The atomic section that it is in.
    pub section: Option<u32>,
    /// The block that it is in, which is expected to be atomic: its number in [`TraceProgram::blocks`].
    pub block: Option<u32>,
    /// The run ended before it: its thread may stand here, and never makes it.
    pub pending: bool,
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

#[derive(Clone, Debug)]
pub enum Kind {
    /// One access to memory, or a step on the number of a synchronisation object.
    Access {
        reads: Vec<Read>,
        writes: Vec<Write>,
        atomic: bool,
        is_plain: bool,
    },
    Acquire {
        lock: Location,
        shared: bool,
    },
    Release {
        lock: Location,
    },
    Busy {
        lock: Location,
        shared: bool,
    },
    Sleep {
        condition: Location,
    },
    Wake {
        condition: Location,
        timed_out: bool,
    },
    Signal {
        condition: Location,
        broadcast: bool,
    },
    Spawn {
        child: u32,
    },
    Start,
    Join {
        child: u32,
    },
    Finish,
    Exit,
    Free {
        instance: InstanceId,
    },
    /// A last touch of an object that another thread frees, if it is nothing else.
    Touch {
        instance: InstanceId,
    },
}

/// A place where something could go wrong.
#[derive(Clone, Debug)]
pub struct Target {
    pub thread: u32,
    /// How many events the thread has made then.
    pub after: u32,
    pub point: u32,
    pub place: Place,
    /// What holds if the thread gets here from its last event, and what is wrong then.
    pub guard: Term,
    pub bad: Term,
    pub what: Suspect,
}

#[derive(Clone, Debug, Default)]
pub struct ThreadEvents {
    pub number: u32,
    pub name: String,
    pub events: Vec<EventId>,
    /// It came to its end.
    pub finished: bool,
    pub inputs: Vec<Input>,
}

/// What is known of threads when a window begins, beside the locks that they hold.
#[derive(Clone, Debug, Default)]
pub struct Before {
    /// They have come to their end.
    pub finished: BTreeSet<u32>,
    /// They sleep on a condition variable, and no signal may have woken them.
    pub asleep: BTreeMap<u32, Location>,
}

/// See the module.
pub struct TraceProgram {
    pub terms: Terms,
    pub events: Vec<Event>,
    pub threads: BTreeMap<u32, ThreadEvents>,
    pub pieces: Vec<Piece>,
    /// Pieces that somebody outside of the program writes: their accesses keep the order that they had.
    pub opaque: Vec<bool>,
    pub targets: Vec<Target>,
    pub must: Rc<MustOrder>,
    /// Where each marked block begins.
    pub blocks: Rc<Vec<Span>>,
    /// Instances that are touched, by event: for what is freed.
    pub touches: Vec<(InstanceId, EventId)>,
    /// What could not be walked, in words.
    pub gaps: Vec<String>,
    /// Accesses to memory in the whole run.
    pub accesses: u64,
    /// What those functions do that somebody outside of the program may call.
    pub called_back: CalledBack,
    /// Signal handlers ran, and nobody has recorded what they did.
    pub is_interrupted: bool,
    /// How many events at the beginning of each thread have happened already: for windows.
    pub begun: BTreeMap<u32, u32>,
    pub before: Before,
}

impl Event {
    /// Where it was in the recorded run, as far as the clock tells: accesses only say which steps of synchronisation they have
    /// seen.
    pub fn moment(&self) -> (u64, u32, u32) {
        let is_step = !matches!(self.kind, Kind::Access { is_plain: true, .. } | Kind::Touch { .. });
        (self.clock.saturating_mul(2).saturating_add(is_step.into()), self.thread, self.index)
    }
}

impl TraceProgram {
    pub fn event(&self, id: EventId) -> &Event {
        &self.events[id.0 as usize]
    }

    /// See [`Event::moment`].
    pub fn moment(&self, id: EventId) -> (u64, u32, u32) {
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
