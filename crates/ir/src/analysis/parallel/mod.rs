//! May happen in parallel: can two threads be about to execute these two instructions at the same time?
//!
//! Threads are told apart by their [roots](super::threads). Two points of two threads are *not* parallel if one of
//! these rules says so; each holds for every execution, so together they are sound.
//!
//! 1. **One thread.** Both points belong to one root, of which there is at most one thread at any time: it is created
//!    once, or the thread that creates it has always joined the one before.
//! 2. **Before creation, after join** (`alive`). A thread of `P` is at point `a`, `P` is one thread that creates every
//!    thread of `B` (directly, or through threads that it creates), and at `a` no thread of `B` is alive: none was
//!    created yet, or all have been joined, by `P` or by threads that `P` has joined. Which thread a join waits for:
//!    see `joins`. All threads that a loop has created, and another loop joins: see `fork_loops`.
//! 3. **One after the other.** `P`, as above, creates all threads of `A` and of `B`, by different children, and
//!    whenever it creates one no thread of the other is alive.
//! 4. **After a join** (`ended`). One of the two roots has one thread, and the thread at the other point has joined it,
//!    or has been created by one that had, or has joined one that had.
//! 5. **Barriers** (`barriers`). The two threads have passed different numbers of barriers, at a barrier that waits for
//!    all who use it.
//!
//! Locks play no part here: they exclude accesses, not points (see [`locksets`](super::locksets)). Neither do atomic
//! sections, semaphores and condition variables.

mod alive;
mod barriers;
mod ended;
mod fork_loops;
mod joins;

use std::collections::BTreeMap;

use crate::analysis::contexts::Points;
use crate::analysis::facts::Facts;
use crate::analysis::threads::{RootId, RootSet, ThreadRoots};
use crate::index::Idx;
use crate::program::Place;

pub use alive::Alive;
use barriers::Phases;

#[derive(Clone, Debug)]
pub struct Parallel {
    threads: ThreadRoots,
    alive: Points<Alive>,
    ended: Points<RootSet>,
    /// By join: the one root whose threads it may wait for, where that is certain.
    joined: BTreeMap<Place, RootId>,
    phases: Phases,
    /// By root: whether two of its threads may be alive at the same time.
    overlaps_itself: Vec<bool>,
    /// By root: the others of which no thread is ever alive at the same time.
    apart: Vec<RootSet>,
}

impl Parallel {
    pub fn new(facts: &Facts) -> Parallel {
        let threads = facts.threads().clone();
        let alive = alive::alive(facts);
        let joins = joins::joined_roots(facts);
        let ended = ended::ended(facts, &joins);
        let certain = joins.iter().filter(|(_, joined)| !joined.may_be_undefined);
        let joined = certain.map(|(place, joined)| (*place, joined.root)).collect();
        let phases = barriers::phases(facts);
        let (overlaps_itself, apart) = (Vec::new(), vec![RootSet::new(); threads.roots().len()]);
        let mut result = Parallel { threads, alive, ended, joined, phases, overlaps_itself, apart };
        result.overlaps_itself = result.threads.roots().ids().map(|root| result.may_overlap_itself(root)).collect();
        result.find_apart();
        result
    }

    /// Rule 1.
    fn may_overlap_itself(&self, root: RootId) -> bool {
        let root_data = &self.threads.roots()[root];
        let Some(place) = root_data.created_at.filter(|_| root_data.is_replicated) else {
            return root_data.is_replicated;
        };
        match self.threads.running(place.func) {
            [creator] => self.threads.roots()[*creator].is_replicated || self.is_alive(*creator, place, root),
            _ => true,
        }
    }

    fn is_alive(&self, creator: RootId, place: Place, root: RootId) -> bool {
        self.alive.at(creator, place).is_some_and(|alive| alive.contains(root))
    }

    /// Rule 3.
    fn find_apart(&mut self) {
        let roots = self.threads.roots();
        for creator in roots.ids().filter(|creator| !roots[*creator].is_replicated) {
            let created: Vec<(RootId, Vec<RootId>)> = roots
                .ids()
                .filter(|root| self.threads.always_creates(creator, *root))
                .map(|root| (root, self.through(creator, root)))
                .collect();
            for (number, (left, left_through)) in created.iter().enumerate() {
                for (right, right_through) in &created[..number] {
                    let is_common = left_through.iter().any(|child| right_through.contains(child));
                    if !is_common
                        && self.never_alive(creator, left_through, *right)
                        && self.never_alive(creator, right_through, *left)
                    {
                        self.apart[left.index()].insert(*right);
                        self.apart[right.index()].insert(*left);
                    }
                }
            }
        }
    }

    /// The children of a thread that are, or may create, another.
    fn through(&self, creator: RootId, root: RootId) -> Vec<RootId> {
        let leads = |child: &&RootId| **child == root || self.threads.descendants(**child).contains(root);
        self.threads.children(creator).iter().filter(leads).copied().collect()
    }

    /// Whether no thread of `root` is alive whenever `creator` creates one of `children`.
    fn never_alive(&self, creator: RootId, children: &[RootId], root: RootId) -> bool {
        children.iter().all(|child| {
            let place = self.threads.roots()[*child].created_at;
            place.is_some_and(|place| !self.is_alive(creator, place, root))
        })
    }

    /// Whether two different threads may be about to execute these instructions (or terminators) at the same time.
    pub fn may_happen_in_parallel(&self, left: Place, right: Place) -> bool {
        self.threads.running(left.func).iter().any(|left_root| {
            let right_roots = self.threads.running(right.func).iter();
            right_roots.copied().any(|right_root| self.may_overlap((*left_root, left), (right_root, right)))
        })
    }

    /// The same for threads of given roots.
    pub fn may_overlap(&self, left: (RootId, Place), right: (RootId, Place)) -> bool {
        self.is_reached(right.0, right.1)
            && self.may_overlap_thread(left.0, left.1, right.0)
            && self.may_overlap_thread(right.0, right.1, left.0)
            && !self.phases.apart(left, right)
    }

    /// Whether, while a thread of `root` is about to execute an instruction, another thread, of `other`, may be alive.
    pub fn may_overlap_thread(&self, root: RootId, place: Place, other: RootId) -> bool {
        let Some(alive) = self.alive.at(root, place) else { return false };
        if root == other {
            return self.overlaps_itself[root.index()];
        }
        if self.apart[root.index()].contains(other) {
            return false;
        }
        // Rule 4.
        if self.ended.at(root, place).is_some_and(|ended| ended.contains(other)) {
            return false;
        }
        // Rule 2.
        let creates_all = !self.threads.roots()[root].is_replicated && self.threads.always_creates(root, other);
        !creates_all || alive.contains(other)
    }

    /// The one root whose threads a join may wait for, if that is certain.
    pub fn joined_at(&self, place: Place) -> Option<RootId> {
        self.joined.get(&place).copied()
    }

    /// Whether threads of a root may get to an instruction.
    pub fn is_reached(&self, root: RootId, place: Place) -> bool {
        self.alive.at(root, place).is_some()
    }

    /// Whether two threads of one root may be alive at the same time.
    pub fn overlaps_itself(&self, root: RootId) -> bool {
        self.overlaps_itself[root.index()]
    }

    /// The threads that a thread of `root` has created, directly or not, and that may still be alive when it is about
    /// to execute an instruction. None if it never is.
    pub fn alive_at(&self, root: RootId, place: Place) -> Option<&Alive> {
        self.alive.at(root, place)
    }
}
