//! Counters: places to which everybody only adds.
//!
//! Take `n++` under a lock, in several threads, many times. Which value a read returns is a question about the whole history: a solver that
//! copies values from write to read has to find out again, for each order of the increments, what anybody sees at once: it is the first value, and one for
//! each increment that came before. So that is said as well. It follows from the axioms, and nothing else is left out because of it.
//!
//! A place at a constant address is a counter if all writes to it are of two kinds. A *step* writes what was there before plus a constant:
//! the access of its own thread that says what was there lies in the same moment, or under a lock that all steps of other threads hold
//! too, and no write comes between. All others are *sets*; they come one after the other, before all steps. Then for each read that comes after the last set,
//!
//! ```text
//! value = what was set + sum of the amounts of all steps before the read
//! ```
//!
//! The steps of one thread come in order: their sum is a choice between constants, by how far that thread has come.

use crate::compose::Composer;
use crate::happens::{Happens, Occasion};
use crate::objects::Initial;
use crate::pieces::{Piece, Pieces};
use crate::sections::{Sections, occasion};
use crate::skeleton::ThreadIndex;
use crate::summarize::Summarizer;
use leno_logic::term::{Node, Sort, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Pairs of a read and a step of one counter, before we say that they are too many.
const MOST_PAIRS: usize = 40_000;

pub struct Counter {
    /// The last set; none: what was there before anybody wrote.
    base: Option<usize>,
    /// By thread, in its order.
    steps: Vec<Vec<Step>>,
    reads: Vec<Seen>,
}

/// A write, and what it adds.
#[derive(Clone, Copy)]
struct Step {
    write: usize,
    amount: Term,
    /// It is made only if the one before it is, too.
    follows: bool,
}

/// A read whose value is known so; by thread, which of its steps count.
struct Seen {
    read: usize,
    spans: Vec<Span>,
}

/// So many steps of a thread come before a read if they are made, and so many possibly do.
#[derive(Clone, Copy)]
struct Span {
    certain: usize,
    possible: usize,
    /// Those that are certain are made whenever the read is.
    are_made: bool,
}

/// What a counter needs to know of the program.
pub struct Finder<'a, 'p> {
    pub summary: &'a mut Summarizer<'p>,
    pub pieces: &'a Pieces,
    pub happens: &'a mut Happens,
    pub sections: &'a Sections,
}

/// An access to one place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Access {
    event: usize,
    is_write: bool,
    index: usize,
}

impl Finder<'_, '_> {
    /// All counters. `is_read` tells whose values matter; `is_clear`, at which places no write may be that is not found by its address.
    pub fn counters(&mut self, is_read: impl Fn(usize) -> bool, is_clear: impl Fn(&Piece) -> bool) -> Vec<Counter> {
        let mut places: BTreeMap<(u128, u32), Vec<Access>> = BTreeMap::new();
        let reads = self.pieces.reads.iter().enumerate().map(|(index, piece)| (index, piece, false));
        let writes = self.pieces.writes.iter().enumerate().map(|(index, piece)| (index, piece, true));
        for (index, piece, is_write) in reads.chain(writes) {
            if let Some(address) = self.summary.terms.as_bits(piece.unit.address)
                && (is_write || is_read(index))
            {
                let access = Access { event: piece.event, is_write, index };
                places.entry((address, piece.unit.bytes)).or_default().push(access);
            }
        }
        let mut found = Vec::new();
        for accesses in places.into_values() {
            if (self.summary.interrupted)() {
                return Vec::new();
            }
            let has_writes = accesses.iter().filter(|access| access.is_write).count() > 1;
            if has_writes && accesses.iter().all(|access| is_clear(self.piece(access))) {
                found.extend(self.counter(accesses));
            }
        }
        found
    }

    fn piece(&self, access: &Access) -> &Piece {
        if access.is_write { &self.pieces.writes[access.index] } else { &self.pieces.reads[access.index] }
    }

    fn occasion(&self, access: &Access) -> Occasion {
        let piece = self.piece(access);
        Occasion { occurs: piece.occurs, ..occasion(&self.summary.skeleton.events[piece.event]) }
    }

    fn before(&mut self, a: &Access, b: &Access) -> bool {
        let (a, b) = (self.occasion(a), self.occasion(b));
        self.happens.before(&self.summary.terms, a, b)
    }

    fn implies(&mut self, a: &Access, b: &Access) -> bool {
        let (a, b) = (self.piece(a).occurs, self.piece(b).occurs);
        self.happens.implications.holds(&self.summary.terms, a, b)
    }

    fn counter(&mut self, mut accesses: Vec<Access>) -> Option<Counter> {
        let node = |event: usize| self.summary.skeleton.events[event].node;
        accesses.sort_by_key(|access| (node(access.event), *access));
        let mut by_thread: BTreeMap<ThreadIndex, Vec<Access>> = BTreeMap::new();
        for access in accesses {
            by_thread.entry(self.summary.skeleton.events[access.event].thread).or_default().push(access);
        }
        let (mut sets, mut steps): (Vec<Access>, Vec<(Access, Term, Access)>) = (Vec::new(), Vec::new());
        for row in by_thread.values() {
            for (at, access) in row.iter().enumerate().filter(|(_, access)| access.is_write) {
                match self.step(&row[..at], access) {
                    Some((amount, from)) => steps.push((*access, amount, from)),
                    None => sets.push(*access),
                }
            }
        }
        if steps.len() < 2 || steps.iter().any(|step| !self.is_undisturbed(step, &steps)) {
            return None;
        }
        let base = self.last_set(&sets)?;
        if let Some(base) = &base
            && !steps.iter().all(|(step, _, from)| self.before(base, step) && (from == base || self.before(base, from)))
        {
            return None;
        }
        let mut rows: BTreeMap<ThreadIndex, Vec<(Access, Term)>> = BTreeMap::new();
        for (step, amount, _) in &steps {
            let thread = self.summary.skeleton.events[step.event].thread;
            rows.entry(thread).or_default().push((*step, *amount));
        }
        let all: Vec<Access> = by_thread.values().flatten().filter(|access| !access.is_write).copied().collect();
        if all.len() * steps.len() > MOST_PAIRS {
            return None;
        }
        let mut reads = Vec::new();
        for read in &all {
            let follows = match &base {
                Some(base) => self.before(base, read) && self.implies(read, base),
                None => self.summary.skeleton.events[read.event].is_plain,
            };
            if follows {
                let spans = rows.iter().map(|(thread, row)| self.span(*thread, row, read)).collect();
                reads.push(Seen { read: read.index, spans });
            }
        }
        let mut before: Option<Access> = None;
        let mut step = |(access, amount): (Access, Term)| {
            let thread = self.summary.skeleton.events[access.event].thread;
            let same = before.replace(access).filter(|b| self.summary.skeleton.events[b.event].thread == thread);
            let follows = same.is_none_or(|before| self.implies(&access, &before));
            Step { write: access.index, amount, follows }
        };
        let steps = rows.into_values().map(|row| row.into_iter().map(&mut step).collect()).collect();
        Some(Counter { base: base.map(|base| base.index), steps, reads })
    }

    fn span(&mut self, thread: ThreadIndex, row: &[(Access, Term)], read: &Access) -> Span {
        let at = self.occasion(read);
        if thread == at.thread {
            // Reads of an event come before its writes.
            let place = (at.node, read.event);
            let is_earlier = |(step, _): &&(Access, Term)| (self.occasion(step).node, step.event) < place;
            let count = row.iter().take_while(is_earlier).count();
            let are_made = row[..count].iter().all(|(step, _)| self.implies(read, step));
            return Span { certain: count, possible: count, are_made };
        }
        let certain = row.iter().take_while(|(step, _)| self.before(step, read)).count();
        let possible = row.iter().take_while(|(step, _)| !self.before(read, step)).count();
        let are_made = row[..certain].iter().all(|(step, _)| self.implies(read, step));
        Span { certain, possible: possible.max(certain), are_made }
    }

    /// What a write adds, and the access before it, of the same thread, that says to what.
    fn step(&mut self, before: &[Access], write: &Access) -> Option<(Term, Access)> {
        for earlier in before.iter().rev() {
            if !self.implies(write, earlier) {
                // A read that may not have been made says nothing; a write that may have been made disturbs.
                if earlier.is_write {
                    return None;
                }
                continue;
            }
            let (new, old) = (self.piece(write).unit.value, self.piece(earlier).unit.value);
            let amount = self.summary.terms.sub(new, old);
            self.summary.terms.as_bits(amount)?;
            return Some((amount, *earlier));
        }
        None
    }

    /// Whether no step of another thread comes between a step and the access that it starts from.
    fn is_undisturbed(&mut self, step: &(Access, Term, Access), all: &[(Access, Term, Access)]) -> bool {
        let (write, _, from) = step;
        let events = &self.summary.skeleton.events;
        if events[write.event].node == events[from.event].node {
            return true;
        }
        let thread = events[write.event].thread;
        let locks: Vec<u64> = self.sections.together(from.event, write.event).collect();
        all.iter().all(|(other, _, _)| {
            self.summary.skeleton.events[other.event].thread == thread
                || locks.iter().any(|&lock| self.sections.holds(other.event, lock))
                || self.before(write, other)
                || self.before(other, from)
        })
    }

    /// The set that all others come before; an inner none if there is no set.
    fn last_set(&mut self, sets: &[Access]) -> Option<Option<Access>> {
        let Some(last) = sets.iter().copied().reduce(|a, b| if self.before(&a, &b) { b } else { a }) else {
            return Some(None);
        };
        sets.iter().all(|set| *set == last || self.before(set, &last)).then_some(Some(last))
    }
}

/// A variable that says whether a step comes before a read; both are events.
#[derive(Clone, Copy, Debug)]
pub struct First {
    pub variable: Term,
    pub step: usize,
    pub read: usize,
}

/// Variables that were made on the way.
#[derive(Default)]
struct Made {
    firsts: Vec<First>,
    /// By write: that the step is made.
    steps: FxHashMap<usize, Term>,
}

impl Made {
    /// Whether a step is made, as a variable: what it depends on may itself depend on the counter.
    fn is_made(&mut self, summary: &mut Summarizer<'_>, write: usize, occurs: Term) -> Term {
        if summary.terms.as_bool(occurs).is_some() {
            return occurs;
        }
        *self.steps.entry(write).or_insert_with(|| {
            let made = summary.terms.variable(Sort::Bool, "made");
            let same = summary.terms.iff(made, occurs);
            summary.skeleton.constraints.push(same);
            made
        })
    }
}

impl Counter {
    /// What was there before all steps, if that is known.
    fn first_value(&self, summary: &mut Summarizer<'_>, pieces: &Pieces) -> Option<Term> {
        if let Some(base) = self.base {
            return Some(pieces.writes[base].unit.value);
        }
        let unit = pieces.reads[self.reads.first()?.read].unit;
        let instance = summary.instances.get(summary.instance_at(unit.address)?);
        let offset = (summary.terms.as_bits(unit.address)? as u64).checked_sub(instance.base)?;
        let initial = instance.initial;
        if initial == Initial::Undefined {
            return None;
        }
        let mut terms = std::mem::take(&mut summary.terms);
        let value = summary.initial_bytes(&mut terms, initial, offset, unit.bytes);
        summary.terms = terms;
        Some(value)
    }

    /// What a read returns: what was there `first`, and what was added.
    fn value(&self, summary: &mut Summarizer<'_>, pieces: &Pieces, seen: &Seen, first: Term, made: &mut Made) -> Term {
        let mut value = first;
        for (row, span) in self.steps.iter().zip(&seen.spans) {
            let read = &pieces.reads[seen.read];
            let mut sum = summary.terms.bits(read.unit.bytes * 8, 0);
            // As long as each step is made only after the one before it, the sums are constants.
            let mut constant = Some(sum);
            for (at, &Step { write: index, amount, follows }) in row[..span.possible].iter().enumerate() {
                let write = &pieces.writes[index];
                let is_made = match at < span.certain && span.are_made {
                    true => summary.terms.bool(true),
                    false => made.is_made(summary, index, write.occurs),
                };
                let comes_first = match at < span.certain {
                    true => summary.terms.bool(true),
                    false => {
                        let variable = summary.terms.variable(Sort::Bool, "first");
                        made.firsts.push(First { variable, step: write.event, read: read.event });
                        variable
                    }
                };
                let terms = &mut summary.terms;
                let counts = terms.and2(comes_first, is_made);
                constant = constant.filter(|_| follows).map(|before| terms.add(before, amount));
                let more = constant.unwrap_or_else(|| terms.add(sum, amount));
                sum = terms.ite(counts, more, sum);
            }
            value = summary.terms.add(value, sum);
        }
        value
    }
}

/// Replaces the reads of counters by what they return: then nothing has to be copied from write to read. That is done where it is certain not to
/// go round in circles: where the first value does not depend on a counter. False if there are none.
pub fn replace(summary: &mut Summarizer<'_>, pieces: &Pieces, counters: &[Counter]) -> bool {
    let seen = counters.iter().flat_map(|counter| &counter.reads);
    let variables: FxHashSet<Term> = seen.map(|seen| pieces.reads[seen.read].unit.value).collect();
    let mut values: FxHashMap<Term, Term> = FxHashMap::default();
    let mut made = Made::default();
    for counter in counters {
        let Some(first) = counter.first_value(summary, pieces) else { continue };
        if summary.terms.variables_of(&[first]).iter().any(|variable| variables.contains(variable)) {
            continue;
        }
        for seen in &counter.reads {
            let variable = pieces.reads[seen.read].unit.value;
            if matches!(summary.terms.node(variable), Node::Variable(_)) {
                let value = counter.value(summary, pieces, seen, first, &mut made);
                values.insert(variable, value);
            }
        }
    }
    summary.firsts.extend(made.firsts);
    summary.replace_reads(values)
}

impl Composer<'_, '_> {
    /// Says what variables have to do with the order.
    pub(crate) fn order(&mut self, firsts: &[First]) {
        for first in firsts {
            let [step, read] =
                [first.step, first.read].map(|event| self.node(self.summary.skeleton.events[event].node));
            let literal = self.literal(first.variable);
            self.solver.add_guarded_edge(literal, step, read);
            self.solver.add_guarded_edge(!literal, read, step);
        }
    }
}
