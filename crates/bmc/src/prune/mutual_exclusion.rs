//! Mutual exclusion as a direct constraint: of two sections of a lock on different threads, one ends before the other
//! begins.
//!
//! A lock is a word in memory, and taking it is an update that reads *free*. So mutual exclusion follows from the
//! axioms of memory, once the solver has decided which step each lock reads from. But it follows late: that a read in
//! one section copies a write in another one says nothing about the locks as long as their sources are open. As two
//! edges of which one must hold it follows at once, since the theory of order rules out the other edge.
//!
//! This is done for trusted locks (`critical_sections`) that are only locked and unlocked, at their constant address,
//! and only unlocked by the thread that holds them, which pruning must be able to see. Then the steps on the lock need
//! not read: a lock reads *free*, an unlock reads its own thread. What remains to be demanded is what the words would
//! enforce: a thread that holds the lock does not take it again, and for each pair of sections of different threads
//! that both begin, one ends before the other begins. A section may have several ends, on different paths, or none, if
//! its thread does not get that far; then no thread takes the lock after it.
//!
//! The steps keep what they write, for events that read the lock without taking it: its destruction, and the deadlock
//! point.

use crate::bounded::BoundedProgram;
use crate::prune::Replacements;
use crate::prune::critical_sections::{Sections, address, may_touch, occasion};
use crate::prune::implication_sat::ImplicationSat;
use crate::prune::must_order::MustOrder;
use crate::skeleton::{Event, EventId, Role, ThreadIndex};
use leno_logic::term::{Node as TermNode, Term};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The critical sections of a lock, and the constraints on them.
#[derive(Debug, Default)]
pub struct Exclusion {
    pub sections: Vec<Section>,
    pub pairs: Vec<Pair>,
    /// Conditions that must not hold: that a thread takes a lock that it holds.
    pub never: Vec<Term>,
}

#[derive(Debug)]
pub struct Section {
    /// The event that begins it.
    pub begin: EventId,
    pub occurs: Term,
    pub ends: Vec<End>,
}

#[derive(Clone, Copy, Debug)]
pub struct End {
    pub event: EventId,
    pub occurs: Term,
    /// The condition that it occurs, and no other end before it.
    pub is_the_end: Term,
}

/// Two sections, and which of them may come first.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    pub sections: [usize; 2],
    pub may_be_first: [bool; 2],
}

/// Finds the locks that can be treated so, and replaces what their steps read. False if there are no new ones.
pub fn replace(
    bounded: &mut BoundedProgram<'_>,
    sections: &Sections,
    must_order: &mut MustOrder,
    sat: &mut ImplicationSat,
    replacements: &mut Replacements,
) -> bool {
    let mut values: FxHashMap<Term, Term> = FxHashMap::default();
    for &lock in &sections.trusted {
        if replacements.exclusive_locks.contains(&lock) {
            continue;
        }
        if let Some(found) = what_is_read(bounded, must_order, sat, lock) {
            replacements.exclusive_locks.insert(lock);
            values.extend(found);
        }
    }
    bounded.replace_reads(values)
}

/// What the steps on a lock read; none if it cannot be treated so.
fn what_is_read(
    bounded: &mut BoundedProgram<'_>,
    must_order: &mut MustOrder,
    sat: &mut ImplicationSat,
    lock: u64,
) -> Option<Vec<(Term, Term)>> {
    if !is_only_locked(bounded, must_order, lock) {
        return None;
    }
    let mut values = Vec::new();
    for (thread, steps) in steps_by_thread(bounded, lock) {
        let me = bounded.terms.bits(32, u128::from(thread.0) + 1);
        let free = bounded.terms.bits(32, 0);
        let mut held = Term::FALSE;
        for index in steps {
            let Event { role, occurs, ref reads, .. } = bounded.skeleton.events[index];
            let [unit] = reads.as_slice() else { return None };
            let read = unit.value;
            if !matches!(bounded.terms.node(read), TermNode::Variable(_)) {
                return None;
            }
            if role == Role::Lock {
                held = bounded.terms.or2(held, occurs);
                values.push((read, free));
            } else {
                let is_held = must_order.implications.clearly_holds(&bounded.terms, occurs, held)
                    || sat.implies(&bounded.terms, occurs, held);
                if !is_held {
                    return None;
                }
                let stays = bounded.terms.not(occurs);
                held = bounded.terms.and2(held, stays);
                values.push((read, me));
            }
        }
    }
    Some(values)
}

/// Whether a trusted lock is free at first, and no event before its destruction could find it in another state than
/// free or held by its own thread.
fn is_only_locked(bounded: &mut BoundedProgram<'_>, must_order: &mut MustOrder, lock: u64) -> bool {
    let Some(id) = bounded.layout.at(lock) else { return false };
    let instance = bounded.layout.get(id);
    let object = instance.object;
    let touches = |event: &Event| {
        event.targets.contains(object)
            && event.reads.iter().chain(&event.writes).any(|unit| may_touch(bounded, unit.address, unit.bytes, lock))
    };
    let mut users = Vec::new();
    let mut makers = Vec::new();
    for (index, event) in bounded.skeleton.events.iter_enumerated() {
        match event.role {
            Role::Lock | Role::Unlock | Role::TryLock | Role::Inspect if touches(event) => {
                let is_plainly_locked = matches!(event.role, Role::Lock | Role::Unlock)
                    && address(bounded, event) == Some(lock)
                    && event.reads.len() == 1
                    && !event.in_section;
                if !is_plainly_locked {
                    return false;
                }
                users.push(index);
            }
            Role::Initialise if touches(event) => makers.push(index),
            _ => {}
        }
    }
    let events = &bounded.skeleton.events;
    for &maker in &makers {
        let is_made = |&user: &EventId| {
            must_order.before(&bounded.terms, occasion(&events[maker]), occasion(&events[user]))
                && must_order.implications.clearly_holds(&bounded.terms, events[user].occurs, events[maker].occurs)
        };
        if !users.iter().all(is_made) {
            return false;
        }
    }
    if !makers.is_empty() {
        return true;
    }
    let address = bounded.pointer(lock);
    bounded.initial_value(address, 4).is_some_and(|first| bounded.terms.as_bits(first) == Some(0))
}

/// The steps of each thread that take a lock or release it, in order.
fn steps_by_thread(bounded: &BoundedProgram<'_>, lock: u64) -> BTreeMap<ThreadIndex, Vec<EventId>> {
    let events = &bounded.skeleton.events;
    let mut steps: BTreeMap<ThreadIndex, Vec<EventId>> = BTreeMap::new();
    for (index, event) in events.iter_enumerated() {
        if matches!(event.role, Role::Lock | Role::Unlock)
            && event.occurs != Term::FALSE
            && address(bounded, event) == Some(lock)
        {
            steps.entry(event.thread).or_default().push(index);
        }
    }
    steps.values_mut().for_each(|steps| steps.sort_by_key(|&index| (events[index].node, index)));
    steps
}

/// The constraints on the locks whose reads were replaced.
pub fn exclusions(
    bounded: &mut BoundedProgram<'_>,
    must_order: &mut MustOrder,
    replacements: &Replacements,
) -> Vec<Exclusion> {
    let mut all = Vec::new();
    for &lock in &replacements.exclusive_locks {
        if bounded.question.is_interrupted() {
            break;
        }
        let mut exclusion = Exclusion::default();
        let mut threads = Vec::new();
        for steps in steps_by_thread(bounded, lock).into_values() {
            let first = exclusion.sections.len();
            let mut held = Term::FALSE;
            for (at, &index) in steps.iter().enumerate() {
                let occurs = bounded.skeleton.events[index].occurs;
                if bounded.skeleton.events[index].role == Role::Lock {
                    let again = bounded.terms.and2(occurs, held);
                    let not_held = bounded.terms.not(held);
                    if again != Term::FALSE && !must_order.implications.clearly_holds(&bounded.terms, occurs, not_held)
                    {
                        exclusion.never.push(again);
                    }
                    let ends = ends(bounded, must_order, index, &steps[at + 1..]);
                    exclusion.sections.push(Section { begin: index, occurs, ends });
                    held = bounded.terms.or2(held, occurs);
                } else {
                    let stays = bounded.terms.not(occurs);
                    held = bounded.terms.and2(held, stays);
                }
            }
            threads.push(first..exclusion.sections.len());
        }
        for (at, of_thread) in threads.iter().enumerate() {
            for first in of_thread.clone() {
                for second in threads[at + 1..].iter().cloned().flatten() {
                    exclusion.pairs.extend(pair(bounded, must_order, &exclusion.sections, first, second));
                }
            }
        }
        all.push(exclusion);
    }
    all
}

/// The steps that may end a section: those that may occur before the lock is released by another step, or taken again.
fn ends(bounded: &mut BoundedProgram<'_>, must_order: &mut MustOrder, begin: EventId, later: &[EventId]) -> Vec<End> {
    let begins = bounded.skeleton.events[begin].occurs;
    let mut ends: Vec<End> = Vec::new();
    let mut closed: Vec<Term> = Vec::new();
    for &index in later {
        let Event { role, occurs, .. } = bounded.skeleton.events[index];
        let is_too_late =
            closed.iter().rev().any(|&step| must_order.implications.clearly_holds(&bounded.terms, occurs, step));
        if role == Role::Unlock && !is_too_late {
            let others: Vec<Term> = ends.iter().map(|end| bounded.terms.not(end.occurs)).collect();
            let no_other = bounded.terms.and(&others);
            let is_the_end = bounded.terms.and2(occurs, no_other);
            if is_the_end != Term::FALSE {
                ends.push(End { event: index, occurs, is_the_end });
            }
        }
        if !is_too_late {
            closed.push(occurs);
        }
        if must_order.implications.clearly_holds(&bounded.terms, begins, occurs) {
            break;
        }
    }
    ends
}

/// The constraint on two sections; none if one always ends before the other begins.
fn pair(
    bounded: &BoundedProgram<'_>,
    must_order: &mut MustOrder,
    all: &[Section],
    first: usize,
    second: usize,
) -> Option<Pair> {
    let events = &bounded.skeleton.events;
    let mut may_be_first = [true; 2];
    for (at, [one, other]) in [[first, second], [second, first]].into_iter().enumerate() {
        let (one, other) = (&all[one], &all[other]);
        let begin = occasion(&events[other.begin]);
        if let [end] = one.ends.as_slice()
            && must_order.before(&bounded.terms, occasion(&events[end.event]), begin)
            && (must_order.implications.clearly_holds(&bounded.terms, other.occurs, end.occurs)
                || must_order.implications.clearly_holds(&bounded.terms, one.occurs, end.occurs))
        {
            return None;
        }
        may_be_first[at] =
            !one.ends.is_empty() && !must_order.before(&bounded.terms, begin, occasion(&events[one.begin]));
    }
    Some(Pair { sections: [first, second], may_be_first })
}
