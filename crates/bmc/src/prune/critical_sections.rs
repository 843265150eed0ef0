//! Critical sections: which events lie under which locks.
//!
//! A critical section of a lock is what a thread does between a step that takes it and the next step that may release
//! it. Two sections of one lock on different threads do not overlap. That holds only of *trusted* locks: of the normal
//! kind, at a constant address, initialised before any thread takes them, destroyed after all have, and otherwise
//! accessed by locking and unlocking alone. Other locks have no sections here, and neither have steps that merely try
//! to lock.
//!
//! Which step took the lock depends on the path: after `while (!ready) pthread_cond_wait(&c, &m)` it may have been any
//! of several. So we go through the steps of a thread in order and keep the *condition* under which it holds the lock:
//! it is held if it was taken, or was held before and is not released here. An event lies in a section if its own
//! condition implies that one (`implication`, or `implication_sat` if there are cases to distinguish). Two events of a
//! thread lie in the same section if no step between them can have released the lock when the second one occurs.

use crate::bounded::BoundedProgram;
use crate::prune::implication_sat::ImplicationSat;
use crate::prune::must_order::{GuardedNode, MustOrder};
use crate::skeleton::{Event, EventId, Role, ThreadIndex};
use leno_ir::index::IndexVec;
use leno_logic::term::Term;
use leno_symbolic::contents::Initial;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// That an event lies in a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    pub lock: u64,
    /// The last event before it that may have released the lock.
    pub since: Option<EventId>,
}

pub struct Sections {
    /// By event.
    held: IndexVec<EventId, Vec<Held>>,
    /// By event that ends a section: the one that began it.
    begun: FxHashMap<EventId, EventId>,
    /// Events that take a trusted lock.
    takers: FxHashSet<EventId>,
    /// See the module.
    pub trusted: Vec<u64>,
}

/// The steps so far of a thread that take one lock or may release it, and the condition under which it is held after
/// them.
#[derive(Clone)]
struct LockHistory {
    lock: u64,
    steps: Vec<EventId>,
    held: Term,
}

impl Sections {
    pub fn new(bounded: &mut BoundedProgram<'_>, must_order: &mut MustOrder, sat: &mut ImplicationSat) -> Sections {
        let trusted = trusted_locks(bounded, must_order);
        let mut locks: Vec<u64> = trusted.keys().copied().collect();
        locks.sort_unstable();
        let events = &bounded.skeleton.events;
        let mut sections = Sections {
            held: events.ids().map(|_| Vec::new()).collect(),
            begun: FxHashMap::default(),
            takers: trusted.into_values().flatten().collect(),
            trusted: locks,
        };
        for indices in by_thread(events) {
            sections.find_begins(bounded, must_order, &indices);
            sections.find_held(bounded, must_order, sat, &indices);
        }
        sections
    }

    /// Finds unlocks whose lock was taken on the same path, without another step on the lock between.
    fn find_begins(&mut self, bounded: &BoundedProgram<'_>, must_order: &mut MustOrder, indices: &[EventId]) {
        let events = &bounded.skeleton.events;
        let mut now: Vec<(u64, EventId)> = Vec::new();
        for &index in indices {
            let event = &events[index];
            match (event.role, address(bounded, event)) {
                (Role::Lock, Some(lock)) => {
                    now.retain(|held| held.0 != lock);
                    if self.takers.contains(&index) {
                        now.push((lock, index));
                    }
                }
                (Role::Unlock, Some(lock)) => {
                    if let Some(&(_, since)) = now.iter().find(|held| held.0 == lock)
                        && must_order.implications.holds(&bounded.terms, event.occurs, events[since].occurs)
                    {
                        self.begun.insert(index, since);
                    }
                    now.retain(|held| held.0 != lock);
                }
                (Role::Unlock, None) => now.clear(),
                _ => {}
            }
        }
    }

    fn find_held(
        &mut self,
        bounded: &mut BoundedProgram<'_>,
        must_order: &mut MustOrder,
        sat: &mut ImplicationSat,
        indices: &[EventId],
    ) {
        let mut histories: Vec<LockHistory> = Vec::new();
        for &index in indices {
            let event = &bounded.skeleton.events[index];
            let (role, occurs, lock) = (event.role, event.occurs, address(bounded, event));
            match (role, lock) {
                (Role::Lock, Some(lock)) if self.takers.contains(&index) => {
                    let at = histories.iter().position(|history| history.lock == lock).unwrap_or_else(|| {
                        histories.push(LockHistory { lock, steps: Vec::new(), held: Term::FALSE });
                        histories.len() - 1
                    });
                    let history = &mut histories[at];
                    history.steps.push(index);
                    history.held = bounded.terms.or2(history.held, occurs);
                }
                (Role::Unlock, lock) => {
                    let stays = bounded.terms.not(occurs);
                    for history in histories.iter_mut().filter(|history| lock.is_none_or(|lock| lock == history.lock)) {
                        history.steps.push(index);
                        history.held = bounded.terms.and2(history.held, stays);
                    }
                }
                _ => {
                    for history in &histories {
                        if is_held(bounded, must_order, sat, occurs, history) {
                            let since = last_given(bounded, must_order, occurs, history);
                            self.held[index].push(Held { lock: history.lock, since });
                        }
                    }
                }
            }
        }
    }

    /// The event that took the lock that this one releases, if no step has accessed the lock between the two.
    pub fn begin(&self, event: EventId) -> Option<EventId> {
        self.begun.get(&event).copied()
    }

    /// Whether an event takes a lock: it occurs only if the lock is free.
    pub fn takes(&self, event: EventId) -> bool {
        self.takers.contains(&event)
    }

    pub fn of(&self, event: EventId) -> &[Held] {
        self.held.get(event).map_or(&[], Vec::as_slice)
    }

    /// Whether two events of different threads lie in sections of one lock.
    pub fn exclude(&self, a: EventId, b: EventId) -> bool {
        self.of(a).iter().any(|held| self.of(b).iter().any(|other| other.lock == held.lock))
    }

    /// The locks in one section of which both events of a thread lie.
    pub fn together(&self, a: EventId, b: EventId) -> impl Iterator<Item = u64> {
        self.of(a).iter().filter(move |held| self.of(b).contains(held)).map(|held| held.lock)
    }

    pub fn holds(&self, event: EventId, lock: u64) -> bool {
        self.of(event).iter().any(|held| held.lock == lock)
    }
}

/// The events of each thread, in their order.
fn by_thread(events: &IndexVec<EventId, Event>) -> Vec<Vec<EventId>> {
    let mut threads: BTreeMap<ThreadIndex, Vec<EventId>> = BTreeMap::new();
    for (index, event) in events.iter_enumerated() {
        threads.entry(event.thread).or_default().push(index);
    }
    let in_order = |mut indices: Vec<EventId>| {
        indices.sort_by_key(|&index| (events[index].node, index));
        indices
    };
    threads.into_values().map(in_order).collect()
}

/// Whether a lock is held where `occurs` holds. Mostly the last steps on the lock tell.
fn is_held(
    bounded: &mut BoundedProgram<'_>,
    must_order: &mut MustOrder,
    sat: &mut ImplicationSat,
    occurs: Term,
    history: &LockHistory,
) -> bool {
    for &step in history.steps.iter().rev() {
        let (role, made) = (bounded.skeleton.events[step].role, bounded.skeleton.events[step].occurs);
        if must_order.implications.clearly_holds(&bounded.terms, occurs, made) {
            return role == Role::Lock;
        }
        let not_made = bounded.terms.not(made);
        if !must_order.implications.clearly_holds(&bounded.terms, occurs, not_made) {
            return sat.implies(&bounded.terms, occurs, history.held);
        }
    }
    false
}

/// The last step that may have released a lock where `occurs` holds.
fn last_given(
    bounded: &mut BoundedProgram<'_>,
    must_order: &mut MustOrder,
    occurs: Term,
    history: &LockHistory,
) -> Option<EventId> {
    for &step in history.steps.iter().rev() {
        let (role, made) = (bounded.skeleton.events[step].role, bounded.skeleton.events[step].occurs);
        if role == Role::Unlock {
            let not_made = bounded.terms.not(made);
            if !must_order.implications.clearly_holds(&bounded.terms, occurs, not_made) {
                return Some(step);
            }
        }
    }
    None
}

/// The constant address of the lock that an event accesses.
pub fn address(bounded: &BoundedProgram<'_>, event: &Event) -> Option<u64> {
    let unit = event.reads.first().or(event.writes.first())?;
    bounded.terms.as_bits(unit.address).map(|address| address as u64)
}

/// Locks by address, with the events that take them.
fn trusted_locks(bounded: &BoundedProgram<'_>, must_order: &mut MustOrder) -> FxHashMap<u64, Vec<EventId>> {
    let events = &bounded.skeleton.events;
    let mut locks: FxHashMap<u64, Vec<EventId>> = FxHashMap::default();
    for (index, event) in events.iter_enumerated() {
        if event.role == Role::Lock
            && let Some(lock) = address(bounded, event)
        {
            locks.entry(lock).or_default().push(index);
        }
    }
    let all: Vec<u64> = locks.keys().copied().collect();
    for lock in all {
        let takers = locks[&lock].clone();
        if !is_trusted(bounded, must_order, lock, &takers) {
            locks.remove(&lock);
        }
    }
    locks
}

fn is_trusted(bounded: &BoundedProgram<'_>, must_order: &mut MustOrder, lock: u64, takers: &[EventId]) -> bool {
    let Some(id) = bounded.layout.at(lock) else { return false };
    let instance = bounded.layout.get(id);
    let mut is_initialised = instance.initial != Initial::Undefined;
    let occasion = |index: EventId| occasion(&bounded.skeleton.events[index]);
    let gives = |event: &Event| {
        event.role == Role::Unlock && event.reads.iter().any(|unit| may_touch(bounded, unit.address, unit.bytes, lock))
    };
    let events = bounded.skeleton.events.iter_enumerated();
    let givers: Vec<EventId> = events.filter(|(_, event)| gives(event)).map(|(index, _)| index).collect();
    for (index, event) in bounded.skeleton.events.iter_enumerated() {
        if !event.targets.contains(instance.object) || event.writes.is_empty() {
            continue;
        }
        let may_hit = event.writes.iter().any(|unit| may_touch(bounded, unit.address, unit.bytes, lock));
        match event.role {
            _ if !may_hit => {}
            Role::Lock | Role::Unlock | Role::TryLock | Role::Inspect => {}
            Role::Initialise => {
                let always = |taker: &EventId, must_order: &mut MustOrder| {
                    must_order.before(&bounded.terms, occasion(index), occasion(*taker))
                        && must_order.implications.holds(
                            &bounded.terms,
                            bounded.skeleton.events[*taker].occurs,
                            event.occurs,
                        )
                };
                if !takers.iter().all(|taker| always(taker, must_order)) {
                    return false;
                }
                is_initialised = true;
            }
            Role::Other => {
                let mut is_late = |user: &EventId| must_order.before(&bounded.terms, occasion(*user), occasion(index));
                if event.is_plain || !takers.iter().chain(&givers).all(&mut is_late) {
                    return false;
                }
            }
        }
    }
    is_initialised
}

/// Whether an access may touch the first word of a lock.
pub fn may_touch(bounded: &BoundedProgram<'_>, address: Term, bytes: u32, lock: u64) -> bool {
    match bounded.terms.as_bits(address) {
        Some(known) => {
            let known = known as u64;
            known < lock + 4 && lock < known + u64::from(bytes)
        }
        None => true,
    }
}

pub fn occasion(event: &Event) -> GuardedNode {
    GuardedNode { node: event.node, thread: event.thread, occurs: event.occurs }
}
