//! Critical sections: which events lie under which locks.
//!
//! A section of a lock is what a thread does between a step that takes it and the next step that may give it back. Two sections of one lock
//! on different threads do not overlap. That holds only of locks that are used as locks: of the normal kind, at a constant
//! address, initialised before anybody takes them, destroyed after everybody has, and otherwise touched by locking and unlocking alone.
//! Others have no sections here, and neither have steps that merely try.

use crate::happens::{Happens, Occasion};
use crate::objects::Initial;
use crate::skeleton::{Event, Role};
use crate::summarize::Summarizer;
use leno_logic::term::Term;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// That an event lies in a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    pub lock: u64,
    /// The event that takes it.
    pub since: usize,
}

pub struct Sections {
    /// By event.
    held: Vec<Vec<Held>>,
    /// By event that ends a section: the one that began it.
    begun: FxHashMap<usize, usize>,
    /// Events that take a lock that is used as one.
    takers: FxHashSet<usize>,
}

impl Sections {
    pub fn new(summary: &Summarizer<'_>, happens: &mut Happens) -> Sections {
        let events = &summary.skeleton.events;
        let trusted = trusted_locks(summary, happens);
        let mut held = vec![Vec::new(); events.len()];
        let mut begun = FxHashMap::default();
        let mut by_thread: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (index, event) in events.iter().enumerate() {
            by_thread.entry(event.thread.0).or_default().push(index);
        }
        for mut indices in by_thread.into_values() {
            indices.sort_by_key(|&index| (events[index].node, index));
            let mut now: Vec<Held> = Vec::new();
            for index in indices {
                let event = &events[index];
                let lock = address(summary, event);
                match (event.role, lock) {
                    (Role::Lock, Some(lock)) => {
                        now.retain(|held| held.lock != lock);
                        if trusted.contains_key(&lock) {
                            now.push(Held { lock, since: index });
                        }
                    }
                    (Role::Unlock, Some(lock)) => {
                        if let Some(held) = now.iter().find(|held| held.lock == lock)
                            && happens.implications.holds(&summary.terms, event.occurs, events[held.since].occurs)
                        {
                            begun.insert(index, held.since);
                        }
                        now.retain(|held| held.lock != lock);
                    }
                    (Role::Unlock, None) => now.clear(),
                    _ => {
                        let occurs = |since: usize| events[since].occurs;
                        let mut holds =
                            |held: &&Held| happens.implications.holds(&summary.terms, event.occurs, occurs(held.since));
                        held[index] = now.iter().filter(|held| holds(held)).copied().collect();
                    }
                }
            }
        }
        Sections { held, begun, takers: trusted.into_values().flatten().collect() }
    }

    /// The event that took the lock that this one gives back: nobody has touched it since.
    pub fn begin(&self, event: usize) -> Option<usize> {
        self.begun.get(&event).copied()
    }

    /// Whether an event takes a lock: it occurs only if the lock is free.
    pub fn takes(&self, event: usize) -> bool {
        self.takers.contains(&event)
    }

    pub fn of(&self, event: usize) -> &[Held] {
        self.held.get(event).map_or(&[], Vec::as_slice)
    }

    /// Whether two events of different threads lie in sections of one lock.
    pub fn exclude(&self, a: usize, b: usize) -> bool {
        self.of(a).iter().any(|held| self.of(b).iter().any(|other| other.lock == held.lock))
    }

    /// The locks in one section of which both events of a thread lie.
    pub fn together(&self, a: usize, b: usize) -> impl Iterator<Item = u64> {
        self.of(a).iter().filter(move |held| self.of(b).contains(held)).map(|held| held.lock)
    }

    pub fn holds(&self, event: usize, lock: u64) -> bool {
        self.of(event).iter().any(|held| held.lock == lock)
    }
}

/// The constant address of the lock that an event is about.
fn address(summary: &Summarizer<'_>, event: &Event) -> Option<u64> {
    let unit = event.reads.first().or(event.writes.first())?;
    summary.terms.as_bits(unit.address).map(|address| address as u64)
}

/// Locks by address, with the events that take them.
fn trusted_locks(summary: &Summarizer<'_>, happens: &mut Happens) -> FxHashMap<u64, Vec<usize>> {
    let events = &summary.skeleton.events;
    let mut locks: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    for (index, event) in events.iter().enumerate() {
        if event.role == Role::Lock
            && let Some(lock) = address(summary, event)
        {
            locks.entry(lock).or_default().push(index);
        }
    }
    let all: Vec<u64> = locks.keys().copied().collect();
    for lock in all {
        let takers = locks[&lock].clone();
        if !is_trusted(summary, happens, lock, &takers) {
            locks.remove(&lock);
        }
    }
    locks
}

fn is_trusted(summary: &Summarizer<'_>, happens: &mut Happens, lock: u64, takers: &[usize]) -> bool {
    let Some(id) = summary.instances.at(summary.program.model, lock) else { return false };
    let instance = summary.instances.get(id);
    let mut is_initialised = instance.initial != Initial::Undefined;
    let occasion = |index: usize| occasion(&summary.skeleton.events[index]);
    let gives = |event: &Event| {
        event.role == Role::Unlock && event.reads.iter().any(|unit| may_touch(summary, unit.address, unit.bytes, lock))
    };
    let events = summary.skeleton.events.iter().enumerate();
    let givers: Vec<usize> = events.filter(|(_, event)| gives(event)).map(|(index, _)| index).collect();
    for (index, event) in summary.skeleton.events.iter().enumerate() {
        if !event.targets.contains(instance.object) || event.writes.is_empty() {
            continue;
        }
        let may_hit = event.writes.iter().any(|unit| may_touch(summary, unit.address, unit.bytes, lock));
        match event.role {
            _ if !may_hit => {}
            Role::Lock | Role::Unlock | Role::TryLock | Role::Look => {}
            Role::Initialise => {
                let always = |taker: &usize, happens: &mut Happens| {
                    happens.before(&summary.terms, occasion(index), occasion(*taker))
                        && happens.implications.holds(
                            &summary.terms,
                            summary.skeleton.events[*taker].occurs,
                            event.occurs,
                        )
                };
                if !takers.iter().all(|taker| always(taker, happens)) {
                    return false;
                }
                is_initialised = true;
            }
            Role::Other => {
                let mut is_late = |user: &usize| happens.before(&summary.terms, occasion(*user), occasion(index));
                if event.is_plain || !takers.iter().chain(&givers).all(&mut is_late) {
                    return false;
                }
            }
        }
    }
    is_initialised
}

/// Whether an access may touch the first word of a lock.
fn may_touch(summary: &Summarizer<'_>, address: Term, bytes: u32, lock: u64) -> bool {
    match summary.terms.as_bits(address) {
        Some(known) => {
            let known = known as u64;
            known < lock + 4 && lock < known + u64::from(bytes)
        }
        None => true,
    }
}

pub fn occasion(event: &Event) -> Occasion {
    Occasion { node: event.node, thread: event.thread, occurs: event.occurs }
}
