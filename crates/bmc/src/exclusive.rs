//! Mutual exclusion, said directly: of two sections of a lock on different threads, one ends before the other begins.
//!
//! A lock is a word in memory, and taking it is an update that finds it free. So that sections exclude each other follows from the axioms of
//! memory, once it is decided from which step each one reads. But it follows late: that a value was read in one section
//! that was written in another one says nothing about the locks as long as their sources are open. Said as two edges, one of which must
//! hold, it follows at once, since the theory of order rules out the other one.
//!
//! This is done for locks that are used as locks (`sections`), are only locked and unlocked, at their constant address, and only given back
//! by who holds them, which must be seen in advance. Then nothing is left to read: who takes the lock finds it
//! free, who gives it back finds himself. What is left to demand is exactly what the words said: who holds the lock already does not take it again, and for each pair of sections of
//! different threads of which both begin, one has been ended before the other begins. A section may have several ends, on different paths, or
//! none, if its thread does not get that far; then nobody takes the lock after it.
//!
//! The steps keep what they write, for those who look at the lock without taking it: who destroys it, and the
//! moment of a deadlock.

use crate::compose::Composer;
use crate::control::Control;
use crate::happens::Happens;
use crate::objects::Initial;
use crate::sections::{Sections, address, may_touch, occasion};
use crate::skeleton::{Event, Role, ThreadIndex};
use crate::summarize::Summarizer;
use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_logic::term::{Node as TermNode, Term};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A lock, and what is to be demanded of its sections.
#[derive(Debug, Default)]
pub struct Exclusion {
    sections: Vec<Section>,
    pairs: Vec<Pair>,
    /// Conditions that do not hold: that somebody takes what he has.
    never: Vec<Term>,
}

#[derive(Debug)]
struct Section {
    /// The event that begins it.
    begin: usize,
    occurs: Term,
    ends: Vec<End>,
}

#[derive(Clone, Copy, Debug)]
struct End {
    event: usize,
    occurs: Term,
    /// It is made, and no other end before it.
    is_the_end: Term,
}

/// Two sections, and which of them may come first.
#[derive(Clone, Copy, Debug)]
struct Pair {
    sections: [usize; 2],
    may_be_first: [bool; 2],
}

/// Finds the locks that can be treated so, and puts in what their steps read. False if there are no more.
pub fn replace(
    summary: &mut Summarizer<'_>,
    sections: &Sections,
    happens: &mut Happens,
    control: &mut Control,
) -> bool {
    let mut values: FxHashMap<Term, Term> = FxHashMap::default();
    for &lock in &sections.trusted {
        if summary.exclusive.contains(&lock) {
            continue;
        }
        if let Some(found) = what_is_read(summary, happens, control, lock) {
            summary.exclusive.insert(lock);
            values.extend(found);
        }
    }
    summary.replace_reads(values)
}

/// What the steps on a lock read, if it is one of those; none if not.
fn what_is_read(
    summary: &mut Summarizer<'_>,
    happens: &mut Happens,
    control: &mut Control,
    lock: u64,
) -> Option<Vec<(Term, Term)>> {
    if !is_only_locked(summary, happens, lock) {
        return None;
    }
    let mut values = Vec::new();
    for (thread, steps) in steps_by_thread(summary, lock) {
        let me = summary.terms.bits(32, u128::from(thread.0) + 1);
        let free = summary.terms.bits(32, 0);
        let mut held = Term::FALSE;
        for index in steps {
            let Event { role, occurs, ref reads, .. } = summary.skeleton.events[index];
            let [unit] = reads.as_slice() else { return None };
            let read = unit.value;
            if !matches!(summary.terms.node(read), TermNode::Variable(_)) {
                return None;
            }
            if role == Role::Lock {
                held = summary.terms.or2(held, occurs);
                values.push((read, free));
            } else {
                let is_held = happens.implications.clearly_holds(&summary.terms, occurs, held)
                    || control.implies(&summary.terms, occurs, held);
                if !is_held {
                    return None;
                }
                let stays = summary.terms.not(occurs);
                held = summary.terms.and2(held, stays);
                values.push((read, me));
            }
        }
    }
    Some(values)
}

/// Whether a lock that is used as one starts free, and is touched by nothing that could find it in another state than free or held by
/// the thread itself, before it is destroyed.
fn is_only_locked(summary: &mut Summarizer<'_>, happens: &mut Happens, lock: u64) -> bool {
    let Some(id) = summary.instances.at(summary.program.model, lock) else { return false };
    let instance = summary.instances.get(id);
    let (object, initial, offset) = (instance.object, instance.initial, lock.wrapping_sub(instance.base));
    let touches = |event: &Event| {
        event.targets.contains(object)
            && event.reads.iter().chain(&event.writes).any(|unit| may_touch(summary, unit.address, unit.bytes, lock))
    };
    let mut users = Vec::new();
    let mut makers = Vec::new();
    for (index, event) in summary.skeleton.events.iter().enumerate() {
        match event.role {
            Role::Lock | Role::Unlock | Role::TryLock | Role::Look if touches(event) => {
                let is_plainly_locked = matches!(event.role, Role::Lock | Role::Unlock)
                    && address(summary, event) == Some(lock)
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
    let events = &summary.skeleton.events;
    for &maker in &makers {
        let is_made = |&user: &usize| {
            happens.before(&summary.terms, occasion(&events[maker]), occasion(&events[user]))
                && happens.implications.clearly_holds(&summary.terms, events[user].occurs, events[maker].occurs)
        };
        if !users.iter().all(is_made) {
            return false;
        }
    }
    if !makers.is_empty() {
        return true;
    }
    if initial == Initial::Undefined {
        return false;
    }
    let mut terms = std::mem::take(&mut summary.terms);
    let first = summary.initial_bytes(&mut terms, initial, offset, 4);
    summary.terms = terms;
    summary.terms.as_bits(first) == Some(0)
}

/// The steps of each thread that take a lock or give it back, in order.
fn steps_by_thread(summary: &Summarizer<'_>, lock: u64) -> BTreeMap<ThreadIndex, Vec<usize>> {
    let events = &summary.skeleton.events;
    let mut steps: BTreeMap<ThreadIndex, Vec<usize>> = BTreeMap::new();
    for (index, event) in events.iter().enumerate() {
        if matches!(event.role, Role::Lock | Role::Unlock)
            && event.occurs != Term::FALSE
            && address(summary, event) == Some(lock)
        {
            steps.entry(event.thread).or_default().push(index);
        }
    }
    steps.values_mut().for_each(|steps| steps.sort_by_key(|&index| (events[index].node, index)));
    steps
}

/// What is to be demanded of the locks whose reads were replaced.
pub fn exclusions(summary: &mut Summarizer<'_>, happens: &mut Happens) -> Vec<Exclusion> {
    let mut all = Vec::new();
    for lock in summary.exclusive.clone() {
        if (summary.interrupted)() {
            break;
        }
        let mut exclusion = Exclusion::default();
        let mut threads = Vec::new();
        for steps in steps_by_thread(summary, lock).into_values() {
            let first = exclusion.sections.len();
            let mut held = Term::FALSE;
            for (at, &index) in steps.iter().enumerate() {
                let occurs = summary.skeleton.events[index].occurs;
                if summary.skeleton.events[index].role == Role::Lock {
                    let again = summary.terms.and2(occurs, held);
                    let not_held = summary.terms.not(held);
                    if again != Term::FALSE && !happens.implications.clearly_holds(&summary.terms, occurs, not_held) {
                        exclusion.never.push(again);
                    }
                    let ends = ends(summary, happens, index, &steps[at + 1..]);
                    exclusion.sections.push(Section { begin: index, occurs, ends });
                    held = summary.terms.or2(held, occurs);
                } else {
                    let stays = summary.terms.not(occurs);
                    held = summary.terms.and2(held, stays);
                }
            }
            threads.push(first..exclusion.sections.len());
        }
        for (at, of_thread) in threads.iter().enumerate() {
            for first in of_thread.clone() {
                for second in threads[at + 1..].iter().cloned().flatten() {
                    exclusion.pairs.extend(pair(summary, happens, &exclusion.sections, first, second));
                }
            }
        }
        all.push(exclusion);
    }
    all
}

/// The steps that may end a section: those that may be made before the lock has been given back otherwise, or taken again.
fn ends(summary: &mut Summarizer<'_>, happens: &mut Happens, begin: usize, later: &[usize]) -> Vec<End> {
    let begins = summary.skeleton.events[begin].occurs;
    let mut ends: Vec<End> = Vec::new();
    let mut closed: Vec<Term> = Vec::new();
    for &index in later {
        let Event { role, occurs, .. } = summary.skeleton.events[index];
        let is_too_late =
            closed.iter().rev().any(|&step| happens.implications.clearly_holds(&summary.terms, occurs, step));
        if role == Role::Unlock && !is_too_late {
            let others: Vec<Term> = ends.iter().map(|end| summary.terms.not(end.occurs)).collect();
            let no_other = summary.terms.and(&others);
            let is_the_end = summary.terms.and2(occurs, no_other);
            if is_the_end != Term::FALSE {
                ends.push(End { event: index, occurs, is_the_end });
            }
        }
        if !is_too_late {
            closed.push(occurs);
        }
        if happens.implications.clearly_holds(&summary.terms, begins, occurs) {
            break;
        }
    }
    ends
}

/// What two sections have to do with each other; nothing if it is clear that one ends before the other begins.
fn pair(summary: &Summarizer<'_>, happens: &mut Happens, all: &[Section], first: usize, second: usize) -> Option<Pair> {
    let events = &summary.skeleton.events;
    let mut may_be_first = [true; 2];
    for (at, [one, other]) in [[first, second], [second, first]].into_iter().enumerate() {
        let (one, other) = (&all[one], &all[other]);
        let begin = occasion(&events[other.begin]);
        if let [end] = one.ends.as_slice()
            && happens.before(&summary.terms, occasion(&events[end.event]), begin)
            && (happens.implications.clearly_holds(&summary.terms, other.occurs, end.occurs)
                || happens.implications.clearly_holds(&summary.terms, one.occurs, end.occurs))
        {
            return None;
        }
        may_be_first[at] = !one.ends.is_empty() && !happens.before(&summary.terms, begin, occasion(&events[one.begin]));
    }
    Some(Pair { sections: [first, second], may_be_first })
}

/// A section in the solver.
struct Composed {
    begin: Node,
    occurs: Lit,
    /// Where it may end, that it does, and that it does there and not before.
    ends: Vec<(Node, Lit, Lit)>,
}

impl Composer<'_, '_> {
    pub(crate) fn exclude(&mut self, exclusions: &[Exclusion]) {
        for exclusion in exclusions {
            for &never in &exclusion.never {
                let never = self.literal(never);
                self.solver.add_clause(&[!never]);
            }
            let sections: Vec<Composed> = exclusion.sections.iter().map(|section| self.section(section)).collect();
            for pair in &exclusion.pairs {
                if self.is_interrupted() {
                    return;
                }
                let [first, second] = pair.sections.map(|index| &sections[index]);
                let mut clause = vec![!first.occurs, !second.occurs];
                if pair.may_be_first[0] {
                    clause.push(self.ends_before(first, second));
                }
                if pair.may_be_first[1] {
                    clause.push(self.ends_before(second, first));
                }
                self.solver.add_clause(&clause);
            }
        }
    }

    fn section(&mut self, section: &Section) -> Composed {
        let node = |composer: &Self, event: usize| composer.node(composer.summary.skeleton.events[event].node);
        let mut ends = Vec::new();
        for end in &section.ends {
            let (occurs, is_the_end) = (self.literal(end.occurs), self.literal(end.is_the_end));
            ends.push((node(self, end.event), occurs, is_the_end));
        }
        Composed { begin: node(self, section.begin), occurs: self.literal(section.occurs), ends }
    }

    /// A literal that implies that a section has ended when another one begins.
    fn ends_before(&mut self, first: &Composed, second: &Composed) -> Lit {
        let guard = self.solver.new_literal();
        let some: Vec<Lit> = std::iter::once(!guard).chain(first.ends.iter().map(|end| end.1)).collect();
        self.solver.add_clause(&some);
        for &(node, _, is_the_end) in &first.ends {
            let is_here = match first.ends.len() {
                1 => guard,
                _ => {
                    let is_here = self.solver.new_literal();
                    self.solver.add_clause(&[!guard, !is_the_end, is_here]);
                    is_here
                }
            };
            self.solver.add_guarded_edge(is_here, node, second.begin);
        }
        guard
    }
}
