//! Events: what one visible step of a thread did, as far as other threads can tell.
//!
//! An event is one visible step of a thread and the invisible ones after it; a whole atomic section is one event. Two
//! events of different threads are *dependent* if executing them in the other order could make a difference: they touch
//! a common byte and one writes it, they act on the same synchronisation object, or one of them touches everything.

use crate::visible_step::{Effect, Written};
pub use leno_ir::interp::Clock;
use leno_ir::interp::ThreadId;
use leno_ir::program::ObjectUse;
use std::rc::Rc;

/// What an event did to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Access {
    Data {
        address: u64,
        len: u32,
        kind: DataKind,
        atomic: bool,
    },
    /// A step on a synchronisation object of so many bytes.
    Sync {
        address: u64,
        len: u32,
        step: SyncKind,
        /// Whether it races with accesses of other kinds; None if it is no access.
        usage: Option<ObjectUse>,
    },
    /// Ends the life of an object: as a write, but a later access is a memory error, not a race. Such an error is one
    /// of these, too.
    End {
        address: u64,
        len: u64,
    },
    /// Creates a thread: threads are numbered in order of creation.
    Spawn,
    /// Joins or detaches a thread: the first one to do so is the only one.
    Handle(ThreadId),
    /// Frees or allocates memory, in a program that could notice that freed memory is given out again.
    Heap(HeapStep),
    /// A library function of which nothing is known.
    Everything,
}

/// What a step does to the freed objects that allocations may return the addresses of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum HeapStep {
    /// Frees an object that something still refers to.
    Free,
    /// An allocation when there was no such object.
    AllocateNew,
    /// An allocation that may have taken the address of one.
    AllocateAny,
}

impl HeapStep {
    /// Whether two have the same effect in either order.
    fn commutes(self, other: HeapStep) -> bool {
        self == other && self != HeapStep::AllocateAny
    }
}

/// How an event accessed data. For data races all but `Load` are writes; for the search some atomic ones commute.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum DataKind {
    Load,
    Store,
    /// A compare-exchange that found the value that it expects, and stored another.
    Exchange,
    /// A compare-exchange that found another value: it wrote nothing.
    FailedExchange,
    /// Adds or subtracts; the old value is not used.
    Add,
    And,
    Or,
    Xor,
}

impl DataKind {
    /// Whether it is a write where data races are concerned.
    pub fn writes(self) -> bool {
        self != DataKind::Load
    }

    /// Whether it changes nothing in memory.
    pub fn leaves_value(self) -> bool {
        matches!(self, DataKind::Load | DataKind::FailedExchange)
    }

    /// Whether it might have been of another kind, had there been another value.
    pub fn depends_on_value(self) -> bool {
        self.updates() || matches!(self, DataKind::Exchange | DataKind::FailedExchange)
    }

    /// Whether it computes the new value from the old one.
    fn updates(self) -> bool {
        matches!(self, DataKind::Add | DataKind::And | DataKind::Or | DataKind::Xor)
    }

    /// Whether everything else that touches the same bytes depends on it.
    pub fn overwrites(self) -> bool {
        matches!(self, DataKind::Store | DataKind::Exchange)
    }

    /// Whether two atomic accesses to the same bytes have the same effect in either order.
    fn commutes(self, other: DataKind) -> bool {
        (self.leaves_value() && other.leaves_value()) || (self.updates() && self == other)
    }
}

/// What matters of a synchronisation step to the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum SyncKind {
    /// Takes a lock; waits until it is free. Only the last one that took it can have been in the way.
    Acquire,
    /// Gives it back. What waits for it can never come before.
    Release,
    /// Waits for something that several earlier steps may have taken away (semaphores, signals, barriers, once).
    Await,
    /// Never waits.
    Other,
}

impl Access {
    pub fn conflicts(self, other: Access) -> bool {
        use Access::*;
        match (self, other) {
            (Everything, _) | (_, Everything) | (Spawn, Spawn) => true,
            (Handle(a), Handle(b)) => a == b,
            (Heap(a), Heap(b)) => !a.commutes(b),
            (Spawn | Handle(_) | Heap(_), _) | (_, Spawn | Handle(_) | Heap(_)) => false,
            (Sync { address: a, .. }, Sync { address: b, .. }) => a == b,
            (
                Data { address: a, len: m, kind: v, atomic: is_atomic },
                Data { address: b, len: n, kind: w, atomic: are_atomic },
            ) => {
                let is_read = !v.writes() && !w.writes();
                let commutes =
                    is_read || (is_atomic && are_atomic && v.commutes(w) && (!v.updates() || (a, m) == (b, n)));
                !commutes && overlap(a, u64::from(m), b, u64::from(n))
            }
            (a, b) => {
                let ((a, m), (b, n)) = (a.bytes(), b.bytes());
                overlap(a, m, b, n)
            }
        }
    }

    /// The bytes that it touches.
    fn bytes(self) -> (u64, u64) {
        match self {
            Access::Data { address, len, .. } => (address, u64::from(len)),
            Access::Sync { address, len, .. } => (address, u64::from(len)),
            Access::End { address, len } => (address, len),
            Access::Spawn | Access::Handle(_) | Access::Heap(_) | Access::Everything => (0, 0),
        }
    }

    /// One bit for every word that it touches, by a hash of its address.
    fn summary(self) -> u64 {
        match self {
            Access::Data { .. } | Access::Sync { .. } | Access::End { .. } => {
                let (address, len) = self.bytes();
                let (first, last) = (address / 8, address.saturating_add(len.max(1) - 1) / 8);
                if last - first >= 64 {
                    return u64::MAX;
                }
                (first..=last).fold(0, |bits, word| bits | 1 << (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58))
            }
            // (Which conflict with their like only.)
            Access::Spawn | Access::Handle(_) | Access::Heap(_) => 1,
            Access::Everything => u64::MAX,
        }
    }

    /// Whether two conflicting accesses are a data race: to data, or to the bytes of a synchronisation object, and not
    /// both atomic.
    pub fn races(self, other: Access) -> bool {
        match (self, other) {
            (Access::Data { atomic: a, .. }, Access::Data { atomic: b, .. }) => !(a && b) && self.conflicts(other),
            (Access::Data { atomic, .. }, Access::Sync { usage, .. })
            | (Access::Sync { usage, .. }, Access::Data { atomic, .. }) => {
                let is_atomic = usage.is_none_or(|usage| atomic && usage.is_atomic());
                !is_atomic && self.conflicts(other)
            }
            (Access::Sync { usage: Some(a), .. }, Access::Sync { usage: Some(b), .. }) => {
                a.races(b) && self.conflicts(other)
            }
            _ => false,
        }
    }
}

fn overlap(a: u64, m: u64, b: u64, n: u64) -> bool {
    a < b.saturating_add(n) && b < a.saturating_add(m)
}

/// What an event touches. Nearly always one access.
#[derive(Clone, PartialEq, Eq, Debug, Hash, Default)]
pub struct Footprint(pub Vec<Access>);

impl Footprint {
    /// Whether it is a step that may have had to wait for something that only other threads can bring about.
    pub fn may_wait(&self) -> bool {
        self.0.iter().any(|access| matches!(access, Access::Sync { step: SyncKind::Await, .. }))
    }

    /// A set of bits; two footprints that conflict have one in common.
    fn summary(&self) -> u64 {
        self.0.iter().fold(0, |bits, access| bits | access.summary())
    }

    pub fn conflicts(&self, other: &Footprint) -> bool {
        self.0.iter().any(|a| other.0.iter().any(|b| a.conflicts(*b)))
    }
}

/// A nondeterministic value that was asked for, and what is left to try.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Choice {
    pub width: u16,
    /// The number of the value among those that are tried.
    pub index: u32,
}

/// Values of up to so many bits are all tried.
const TRIED_BITS: u16 = 8;

/// How many values are tried for a wider input: the rest is why a search is not complete.
const SAMPLES: u32 = 3;

impl Choice {
    /// Whether all values of this width are tried.
    pub fn is_exhaustive(width: u16) -> bool {
        width <= TRIED_BITS
    }

    /// How many values are tried.
    pub fn count(self) -> u32 {
        if Choice::is_exhaustive(self.width) { 1 << self.width } else { SAMPLES }
    }

    pub fn value(self) -> u128 {
        match self.index {
            2 if !Choice::is_exhaustive(self.width) => u128::MAX >> (128 - self.width.min(128)),
            index => u128::from(index),
        }
    }
}

/// An event as a step of a sequence, made or planned: its thread, what it touches, and which nondeterministic values it
/// was given (if it is planned and asks for more: every one).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub thread: ThreadId,
    /// See [`Footprint::summary`].
    summary: u64,
    pub footprint: Footprint,
    pub choices: Vec<Choice>,
}

impl Step {
    pub fn new(thread: ThreadId, footprint: Footprint, choices: Vec<Choice>) -> Step {
        Step { thread, summary: footprint.summary(), footprint, choices }
    }

    pub fn summary(&self) -> u64 {
        self.summary
    }

    pub fn is_dependent(&self, other: &Step) -> bool {
        self.thread == other.thread || self.conflicts(other)
    }

    pub fn conflicts(&self, other: &Step) -> bool {
        self.summary & other.summary != 0 && self.footprint.conflicts(&other.footprint)
    }
}

#[derive(Clone, Debug)]
pub struct Event {
    /// Shared with the sleep sets and wake-up trees that it gets into.
    pub step: Rc<Step>,
    /// Its number in its thread, from 1.
    pub number: u32,
    /// Where it began, as a number that `Image::place` explains.
    pub pc: u32,
    /// How many of the choices were planned: only those after them are varied.
    pub fixed: usize,
    pub clock: Clock,
    /// How many visible steps it was made of: more than one in an atomic section. A call of a library function counts
    /// as several, since what it touches may depend on what it reads.
    pub steps: u32,
    pub effect: Effect,
    /// What its first step was about to overwrite.
    pub written: Option<Written>,
    /// The state of its thread after it, if it stands in a loop.
    pub fingerprint: Option<u64>,
    /// The thread has gone round a loop without any effect: it waits for another thread.
    pub spins: bool,
}

impl Event {
    /// Whether this event happened before (or is) one with the given clock.
    pub fn is_before(&self, clock: &Clock) -> bool {
        self.number <= clock.get(self.step.thread)
    }
}
