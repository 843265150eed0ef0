//! Critical sections: which events lie under which locks.
//!
//! A section of a lock is what a thread does between a step that takes it and the next step that may give it back. Two sections of one lock
//! on different threads do not overlap. That holds only of locks that are used as locks: of the normal kind, at a constant
//! address, initialised before anybody takes them, destroyed after everybody has, and otherwise touched by locking and unlocking alone.
//! Others have no sections here, and neither have steps that merely try.
//!
//! Which step took the lock depends on the path: after `while (!ready) pthread_cond_wait(&c, &m)` it may have been any of several. So we
//! go through the steps of a thread in order and keep the *condition* under which it holds the lock: it is held if it was
//! taken, or was held before and is not given back here. An event lies in a section if its own condition implies
//! that one (`implication`, or `control` if there are cases to distinguish). Two events of a thread lie in the same section if no step between them
//! can have given the lock back when the second one occurs.

use crate::control::Control;
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
    /// The last event before it that may have given the lock back.
    pub since: Option<usize>,
}

pub struct Sections {
    /// By event.
    held: Vec<Vec<Held>>,
    /// By event that ends a section: the one that began it.
    begun: FxHashMap<usize, usize>,
    /// Events that take a lock that is used as one.
    takers: FxHashSet<usize>,
    /// Locks that are used as locks.
    pub trusted: Vec<u64>,
}

/// Steps of a thread that take one lock, or may give it back, as far as we have come; and whether it is held then.
#[derive(Clone)]
struct History {
    lock: u64,
    steps: Vec<usize>,
    held: Term,
}

impl Sections {
    pub fn new(summary: &mut Summarizer<'_>, happens: &mut Happens, control: &mut Control) -> Sections {
        let trusted = trusted_locks(summary, happens);
        let mut locks: Vec<u64> = trusted.keys().copied().collect();
        locks.sort_unstable();
        let events = &summary.skeleton.events;
        let mut sections = Sections {
            held: vec![Vec::new(); events.len()],
            begun: FxHashMap::default(),
            takers: trusted.into_values().flatten().collect(),
            trusted: locks,
        };
        for indices in by_thread(events) {
            sections.find_begins(summary, happens, &indices);
            sections.find_held(summary, happens, control, &indices);
        }
        sections
    }

    /// Who gives back what was taken on the same path, without a step on the lock between.
    fn find_begins(&mut self, summary: &Summarizer<'_>, happens: &mut Happens, indices: &[usize]) {
        let events = &summary.skeleton.events;
        let mut now: Vec<(u64, usize)> = Vec::new();
        for &index in indices {
            let event = &events[index];
            match (event.role, address(summary, event)) {
                (Role::Lock, Some(lock)) => {
                    now.retain(|held| held.0 != lock);
                    if self.takers.contains(&index) {
                        now.push((lock, index));
                    }
                }
                (Role::Unlock, Some(lock)) => {
                    if let Some(&(_, since)) = now.iter().find(|held| held.0 == lock)
                        && happens.implications.holds(&summary.terms, event.occurs, events[since].occurs)
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
        summary: &mut Summarizer<'_>,
        happens: &mut Happens,
        control: &mut Control,
        indices: &[usize],
    ) {
        let mut histories: Vec<History> = Vec::new();
        for &index in indices {
            let event = &summary.skeleton.events[index];
            let (role, occurs, lock) = (event.role, event.occurs, address(summary, event));
            match (role, lock) {
                (Role::Lock, Some(lock)) if self.takers.contains(&index) => {
                    let at = histories.iter().position(|history| history.lock == lock).unwrap_or_else(|| {
                        histories.push(History { lock, steps: Vec::new(), held: Term::FALSE });
                        histories.len() - 1
                    });
                    let history = &mut histories[at];
                    history.steps.push(index);
                    history.held = summary.terms.or2(history.held, occurs);
                }
                (Role::Unlock, lock) => {
                    let stays = summary.terms.not(occurs);
                    for history in histories.iter_mut().filter(|history| lock.is_none_or(|lock| lock == history.lock)) {
                        history.steps.push(index);
                        history.held = summary.terms.and2(history.held, stays);
                    }
                }
                _ => {
                    for history in &histories {
                        if is_held(summary, happens, control, occurs, history) {
                            let since = last_given(summary, happens, occurs, history);
                            self.held[index].push(Held { lock: history.lock, since });
                        }
                    }
                }
            }
        }
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

/// The events of each thread, in their order.
fn by_thread(events: &[Event]) -> Vec<Vec<usize>> {
    let mut threads: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (index, event) in events.iter().enumerate() {
        threads.entry(event.thread.0).or_default().push(index);
    }
    let in_order = |mut indices: Vec<usize>| {
        indices.sort_by_key(|&index| (events[index].node, index));
        indices
    };
    threads.into_values().map(in_order).collect()
}

/// Whether a lock is held where `occurs` holds. Most often the last steps on the lock tell.
fn is_held(
    summary: &mut Summarizer<'_>,
    happens: &mut Happens,
    control: &mut Control,
    occurs: Term,
    history: &History,
) -> bool {
    for &step in history.steps.iter().rev() {
        let (role, made) = (summary.skeleton.events[step].role, summary.skeleton.events[step].occurs);
        if happens.implications.clearly_holds(&summary.terms, occurs, made) {
            return role == Role::Lock;
        }
        let not_made = summary.terms.not(made);
        if !happens.implications.clearly_holds(&summary.terms, occurs, not_made) {
            return control.implies(&summary.terms, occurs, history.held);
        }
    }
    false
}

/// The last step that may have given a lock back where `occurs` holds.
fn last_given(summary: &mut Summarizer<'_>, happens: &mut Happens, occurs: Term, history: &History) -> Option<usize> {
    for &step in history.steps.iter().rev() {
        let (role, made) = (summary.skeleton.events[step].role, summary.skeleton.events[step].occurs);
        if role == Role::Unlock {
            let not_made = summary.terms.not(made);
            if !happens.implications.clearly_holds(&summary.terms, occurs, not_made) {
                return Some(step);
            }
        }
    }
    None
}

/// The constant address of the lock that an event is about.
pub fn address(summary: &Summarizer<'_>, event: &Event) -> Option<u64> {
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
pub fn may_touch(summary: &Summarizer<'_>, address: Term, bytes: u32, lock: u64) -> bool {
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
