//! Events: what one visible step of a thread did, as far as other threads can tell.
//!
//! An event is one visible step of a thread and the invisible ones after it; a whole atomic section is one event. Two
//! events of different threads are *dependent* if executing them in the other order could make a difference: they touch a
//! common byte and one writes it, they act on the same synchronisation object, or one of them touches everything.

use crate::run::Effect;
use leno_ir::interp::ThreadId;

/// What an event did to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Access {
    Data {
        address: u64,
        len: u32,
        writes: bool,
        atomic: bool,
    },
    /// A step on a synchronisation object.
    Sync {
        address: u64,
        step: SyncKind,
    },
    /// Ends the life of an object: as a write, but who comes too late finds a memory error, not a race. Such an error is one of
    /// these, too.
    End {
        address: u64,
        len: u64,
    },
    /// Creates a thread: threads are numbered in order of creation.
    Spawn,
    /// Joins or detaches a thread: the first one who does it is the only one.
    Handle(ThreadId),
    /// A library function with effects that nothing is known of.
    Everything,
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
            (Spawn | Handle(_), _) | (_, Spawn | Handle(_)) => false,
            (Sync { address: a, .. }, Sync { address: b, .. }) => a == b,
            (Data { address: a, len: m, writes: v, .. }, Data { address: b, len: n, writes: w, .. }) => {
                (v || w) && overlap(a, u64::from(m), b, u64::from(n))
            }
            (a, b) => {
                let ((a, m), (b, n)) = (a.bytes(), b.bytes());
                overlap(a, m, b, n)
            }
        }
    }

    /// The bytes that it touches. A synchronisation object is its first word to those who access it otherwise.
    fn bytes(self) -> (u64, u64) {
        match self {
            Access::Data { address, len, .. } => (address, u64::from(len)),
            Access::Sync { address, .. } => (address, 4),
            Access::End { address, len } => (address, len),
            Access::Spawn | Access::Handle(_) | Access::Everything => (0, 0),
        }
    }

    /// Whether two conflicting accesses are a data race: both are data, and not both atomic.
    pub fn races(self, other: Access) -> bool {
        match (self, other) {
            (Access::Data { atomic: a, .. }, Access::Data { atomic: b, .. }) => !(a && b) && self.conflicts(other),
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

    pub fn conflicts(&self, other: &Footprint) -> bool {
        self.0.iter().any(|a| other.0.iter().any(|b| a.conflicts(*b)))
    }
}

/// A nondeterministic value that was asked for, and what is left to try.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Choice {
    pub width: u16,
    /// The how-manieth of the values that are tried.
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

/// How many events of each thread happened before.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Clock(Vec<u32>);

impl Clock {
    pub fn get(&self, thread: ThreadId) -> u32 {
        self.0.get(thread.0 as usize).copied().unwrap_or(0)
    }

    pub fn set(&mut self, thread: ThreadId, count: u32) {
        let index = thread.0 as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, 0);
        }
        self.0[index] = count;
    }

    pub fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }
}

#[derive(Clone, Debug)]
pub struct Event {
    pub thread: ThreadId,
    /// The how-manieth of its thread, from 1.
    pub number: u32,
    /// Where it began, as a number that `Image::place` explains.
    pub pc: u32,
    pub footprint: Footprint,
    pub choices: Vec<Choice>,
    /// How many of the choices were planned: only those after them are varied.
    pub fixed: usize,
    pub clock: Clock,
    /// How many visible steps it was made of (more than one in an atomic section).
    pub steps: u32,
    pub effect: Effect,
    /// The state of its thread after it, if it stands in a loop.
    pub fingerprint: Option<u64>,
    /// The thread has gone round a loop without any effect: it waits for somebody else.
    pub spins: bool,
}

impl Event {
    /// Whether this event happened before (or is) one with the given clock.
    pub fn is_before(&self, clock: &Clock) -> bool {
        self.number <= clock.get(self.thread)
    }
}
