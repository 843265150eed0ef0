//! Which locks does a thread hold for certain, when it is about to execute an instruction?
//!
//! A forward analysis over the paths of each thread (`held`), which begins with no lock, adds what is locked, removes
//! what may be unlocked, and keeps what is held on all paths that meet. It follows calls in the state that they are
//! made in, with the addresses that they pass for certain, so that functions which lock or unlock for their callers are
//! understood.
//!
//! **Which lock.** A lock is a place in memory: an object of which there is one instance, and an offset in it (see
//! [`offsets`](super::offsets)). What is locked through a pointer that may point elsewhere is not counted as held; what
//! is unlocked through such a pointer removes every lock that it may be.
//!
//! **What a step does** is as the semantics page says. A mutex that is never error-checking counts how often it was
//! locked, because it is recursive or else locking it again never ends. A read-write lock is held exclusively or
//! shared. What was tried is held where a branch on the result says that it was successful. A wait on a condition
//! variable unlocks and locks again.
//!
//! **Locks of others.** A thread whose creator holds a lock from its creation to its end is protected as if it held it
//! itself (`inherited`).
//!
//! **Why a lock stays held.** Its state is bytes in memory. Only its owner can unlock it (anything else is an error),
//! but whatever may write these bytes otherwise could release it: a store, `memset`, another initialisation, the end of
//! the object. All of them are found (`overwrites`). In the thread itself they count as unlocking, in the order of its
//! steps. If another thread that takes the lock may be alive at the same time the lock is *damaged* and never reported
//! as held; [`Locksets::damage`] says why, and [`Locksets::held_if_intact`] what would be held if it could be excluded.

mod held;
mod inherited;
mod overwrites;
mod tries;

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::contexts::{Points, solve};
use crate::analysis::facts::Facts;
use crate::analysis::offsets::Address;
use crate::analysis::parallel::Parallel;
use crate::analysis::threads::{RootId, ThreadRoots};
use crate::program::{LockKind, Place};

use held::{Holding, State};
use inherited::Inherited;
use overwrites::Overwrites;

/// What kind of lock is at an address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum LockClass {
    Mutex,
    Spin,
    ReadWrite,
}

impl LockClass {
    /// How many bytes of it have a meaning.
    fn bytes(self) -> u64 {
        match self {
            LockClass::Mutex => 20,
            LockClass::Spin => 4,
            LockClass::ReadWrite => 8,
        }
    }
}

impl From<LockKind> for LockClass {
    fn from(kind: LockKind) -> LockClass {
        match kind {
            LockKind::Mutex => LockClass::Mutex,
            LockKind::Spin => LockClass::Spin,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Lock {
    pub address: Address,
    pub class: LockClass,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Mode {
    /// Together with other readers.
    Shared,
    Exclusive,
}

/// Locks that are held, each at least in this mode.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct LockSet {
    locks: BTreeMap<Lock, Mode>,
}

impl LockSet {
    pub fn iter(&self) -> impl Iterator<Item = (Lock, Mode)> + '_ {
        self.locks.iter().map(|(lock, mode)| (*lock, *mode))
    }

    pub fn is_empty(&self) -> bool {
        self.locks.is_empty()
    }

    pub fn mode(&self, lock: Lock) -> Option<Mode> {
        self.locks.get(&lock).copied()
    }

    /// Whether two threads cannot hold these at the same time.
    pub fn excludes(&self, other: &LockSet) -> bool {
        self.iter().any(|(lock, mode)| match (mode, other.mode(lock)) {
            (_, None) | (Mode::Shared, Some(Mode::Shared)) => false,
            (Mode::Exclusive, _) | (_, Some(Mode::Exclusive)) => true,
        })
    }

    /// Keeps what is in both.
    fn intersect(&mut self, other: &LockSet) {
        self.locks.retain(|lock, mode| match other.mode(*lock) {
            Some(theirs) => {
                *mode = theirs.min(*mode);
                true
            }
            None => false,
        });
    }
}

#[derive(Clone, Debug)]
pub struct Locksets {
    threads: ThreadRoots,
    /// What is held if all locks are intact.
    claimed: Points<LockSet>,
    held: Points<LockSet>,
    damage: BTreeMap<Lock, BTreeSet<Place>>,
    locks: BTreeSet<Lock>,
    inherited: Inherited,
}

impl Locksets {
    pub fn new(facts: &Facts) -> Locksets {
        let threads = facts.threads().clone();
        // A first round finds the locks there are; a second one respects what may overwrite them.
        let first = claimed(facts, &Overwrites::none());
        let locks: BTreeSet<Lock> = first.values().iter().flat_map(|held| held.locks.keys().copied()).collect();
        let overwrites = Overwrites::new(facts, &locks);
        let mut claimed = claimed(facts, &overwrites);
        // What the first round has not found has not been looked at.
        claimed.values_mut().iter_mut().for_each(|held| held.locks.retain(|lock, _| locks.contains(lock)));
        let damage = overwrites.damage(facts, &claimed);
        let mut held = claimed.clone();
        held.values_mut().iter_mut().for_each(|held| held.locks.retain(|lock, _| !damage.contains_key(lock)));
        let inherited = Inherited::new(facts, &held);
        Locksets { threads, claimed, held, damage, locks, inherited }
    }

    /// The locks that every thread that is about to execute an instruction holds.
    pub fn held_at(&self, place: Place) -> LockSet {
        let mut all = self.threads.running(place.func).iter().filter_map(|root| self.held.at(*root, place));
        let mut common = all.next().cloned().unwrap_or_default();
        all.for_each(|other| common.intersect(other));
        common
    }

    /// The same for the threads of one root; none if they never get there.
    pub fn held_in(&self, root: RootId, place: Place) -> Option<&LockSet> {
        self.held.at(root, place)
    }

    /// What they would hold if no lock were damaged.
    pub fn held_if_intact(&self, root: RootId, place: Place) -> Option<&LockSet> {
        self.claimed.at(root, place)
    }

    /// Whether locks keep two threads from being about to execute these two instructions at the same time.
    pub fn excludes(&self, left: Place, right: Place) -> bool {
        let sets =
            |place: Place| self.threads.running(place.func).iter().filter_map(move |root| self.held.at(*root, place));
        sets(left).all(|left| sets(right).all(|right| left.excludes(right)))
    }

    /// The same for threads of given roots; locks that others hold for them count (see `inherited`).
    pub fn keep_apart(&self, left: (RootId, Place), right: (RootId, Place)) -> bool {
        let (Some(mine), Some(theirs)) = (self.held.at(left.0, left.1), self.held.at(right.0, right.1)) else {
            return true;
        };
        let excludes = |one: Mode, other: Mode| one == Mode::Exclusive || other == Mode::Exclusive;
        let by_other = |root: RootId, held: &LockSet, other: RootId| {
            self.inherited.by(root).any(|(holder, lock, mode)| {
                holder != other && held.mode(lock).is_some_and(|theirs| excludes(mode, theirs))
            })
        };
        mine.excludes(theirs)
            || by_other(left.0, theirs, right.0)
            || by_other(right.0, mine, left.0)
            || self.inherited.by(left.0).any(|(holder, lock, mode)| {
                let mut others = self.inherited.by(right.0);
                others.any(|(other, same, theirs)| other != holder && same == lock && excludes(mode, theirs))
            })
    }

    /// The locks that are ever known to be held.
    pub fn locks(&self) -> &BTreeSet<Lock> {
        &self.locks
    }

    /// The locks that another thread may overwrite while they are held, and the instructions that may do so.
    pub fn damage(&self) -> &BTreeMap<Lock, BTreeSet<Place>> {
        &self.damage
    }
}

/// Whether, taking creation, joins, barriers and locks together, two threads may be at these points at the same time.
pub fn may_conflict(parallel: &Parallel, locksets: &Locksets, left: Place, right: Place) -> bool {
    let threads = &locksets.threads;
    threads.running(left.func).iter().any(|left_root| {
        threads.running(right.func).iter().any(|right_root| {
            let (left, right) = ((*left_root, left), (*right_root, right));
            parallel.may_overlap(left, right) && !locksets.keep_apart(left, right)
        })
    })
}

fn claimed(facts: &Facts, overwrites: &Overwrites) -> Points<LockSet> {
    let holding = Holding::new(facts, overwrites);
    let start = State::first(overwrites);
    let is_start = |root: &RootId| facts.threads().roots()[*root].created_at.is_none();
    let starts: Vec<(RootId, State)> =
        facts.threads().roots().ids().filter(is_start).map(|root| (root, start.clone())).collect();
    let solution = solve(facts, holding, starts);
    solution.points(State::lock_set, |into, other| into.intersect(other))
}
