//! Counters: locations that all threads only add to.
//!
//! Take `n++` under a lock, in several threads, many times. The value that a read returns depends on the whole history:
//! a solver that copies values from write to read has to find out again, for each order of the increments, that it is
//! the first value plus one for each increment that came before. So this is made explicit. It follows from the axioms,
//! and nothing else is left out because of it.
//!
//! A location at a constant address is a counter if all writes to it are of two kinds. A *step* writes what was there
//! before plus a constant: the access of its own thread that read or wrote the old value is at the same node, or under
//! a lock that all steps of other threads hold too, and no write comes between. All other writes are *sets*; they come
//! one after the other, before all steps. Then for each read that comes after the last set,
//!
//!
//! ```text
//! value = what was set + sum of the amounts of all steps before the read
//! ```
//!
//! The steps of one thread are in program order: their sum is a choice between constants, by how many of them come
//! before the read.

use crate::bounded::BoundedProgram;
use crate::prune::Replacements;
use crate::prune::critical_sections::{Sections, occasion};
use crate::prune::must_order::{GuardedNode, MustOrder};
use crate::skeleton::access_cells::{AccessCell, AccessCells, ReadId, WriteId};
use crate::skeleton::{EventId, ThreadIndex};
use leno_logic::term::{Node, Sort, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// The most pairs of a read and a step of one counter.
const MOST_PAIRS: usize = 40_000;

pub struct Counter {
    /// The last set; none: the initial value.
    base: Option<WriteId>,
    /// By thread, in its order.
    steps: Vec<Vec<CounterStep>>,
    reads: Vec<CounterRead>,
}

/// A write, and what it adds.
#[derive(Clone, Copy)]
struct CounterStep {
    write: WriteId,
    amount: Term,
    /// It occurs only if the step before it occurs, too.
    follows: bool,
}

/// A read of a counter; by thread, which of its steps may come before it.
struct CounterRead {
    read: ReadId,
    spans: Vec<StepSpan>,
}

/// How many steps of a thread come before a read if they occur, and how many may.
#[derive(Clone, Copy)]
struct StepSpan {
    certain: usize,
    possible: usize,
    /// The certain ones occur whenever the read does.
    are_made: bool,
}

/// Looks for counters in a program.
pub struct Finder<'a, 'p> {
    pub bounded: &'a mut BoundedProgram<'p>,
    pub cells: &'a AccessCells,
    pub must_order: &'a mut MustOrder,
    pub sections: &'a Sections,
}

/// An access to one location.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Access {
    event: EventId,
    cell: CellId,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum CellId {
    Read(ReadId),
    Write(WriteId),
}

impl Access {
    fn write(&self) -> Option<WriteId> {
        match self.cell {
            CellId::Write(write) => Some(write),
            CellId::Read(_) => None,
        }
    }

    fn is_write(&self) -> bool {
        self.write().is_some()
    }
}

impl Finder<'_, '_> {
    /// All counters. `is_read` says of which reads the value matters; `is_clear`, at which locations there cannot be a
    /// write with a symbolic address.
    pub fn counters(
        &mut self,
        is_read: impl Fn(ReadId) -> bool,
        is_clear: impl Fn(&AccessCell) -> bool,
    ) -> Vec<Counter> {
        let mut places: BTreeMap<(u128, u32), Vec<Access>> = BTreeMap::new();
        let reads = self.cells.reads.iter_enumerated().filter(|(id, _)| is_read(*id));
        let reads = reads.map(|(id, cell)| (CellId::Read(id), cell));
        let writes = self.cells.writes.iter_enumerated().map(|(id, cell)| (CellId::Write(id), cell));
        for (id, cell) in reads.chain(writes) {
            if let Some(address) = self.bounded.terms.as_bits(cell.unit.address) {
                let access = Access { event: cell.event, cell: id };
                places.entry((address, cell.unit.bytes)).or_default().push(access);
            }
        }
        let mut found = Vec::new();
        for accesses in places.into_values() {
            if self.bounded.question.is_interrupted() {
                return Vec::new();
            }
            let has_writes = accesses.iter().filter(|access| access.is_write()).count() > 1;
            if has_writes && accesses.iter().all(|access| is_clear(self.cell(access))) {
                found.extend(self.counter(accesses));
            }
        }
        found
    }

    fn cell(&self, access: &Access) -> &AccessCell {
        match access.cell {
            CellId::Read(id) => &self.cells.reads[id],
            CellId::Write(id) => &self.cells.writes[id],
        }
    }

    fn occasion(&self, access: &Access) -> GuardedNode {
        let cell = self.cell(access);
        GuardedNode { occurs: cell.occurs, ..occasion(&self.bounded.skeleton.events[cell.event]) }
    }

    fn before(&mut self, a: &Access, b: &Access) -> bool {
        let (a, b) = (self.occasion(a), self.occasion(b));
        self.must_order.before(&self.bounded.terms, a, b)
    }

    fn implies(&mut self, a: &Access, b: &Access) -> bool {
        let (a, b) = (self.cell(a).occurs, self.cell(b).occurs);
        self.must_order.implications.holds(&self.bounded.terms, a, b)
    }

    fn counter(&mut self, mut accesses: Vec<Access>) -> Option<Counter> {
        let node = |event: EventId| self.bounded.skeleton.events[event].node;
        accesses.sort_by_key(|access| (node(access.event), *access));
        let mut by_thread: BTreeMap<ThreadIndex, Vec<Access>> = BTreeMap::new();
        for access in accesses {
            by_thread.entry(self.bounded.skeleton.events[access.event].thread).or_default().push(access);
        }
        let (mut sets, mut steps): (Vec<Access>, Vec<(Access, Term, Access)>) = (Vec::new(), Vec::new());
        for row in by_thread.values() {
            for (at, access) in row.iter().enumerate().filter(|(_, access)| access.is_write()) {
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
            let thread = self.bounded.skeleton.events[step.event].thread;
            rows.entry(thread).or_default().push((*step, *amount));
        }
        let all: Vec<Access> = by_thread.values().flatten().filter(|access| !access.is_write()).copied().collect();
        if all.len() * steps.len() > MOST_PAIRS {
            return None;
        }
        let mut reads = Vec::new();
        for read in &all {
            let follows = match &base {
                Some(base) => self.before(base, read) && self.implies(read, base),
                None => self.bounded.skeleton.events[read.event].is_plain,
            };
            if let (CellId::Read(id), true) = (read.cell, follows) {
                let spans = rows.iter().map(|(thread, row)| self.span(*thread, row, read)).collect();
                reads.push(CounterRead { read: id, spans });
            }
        }
        let mut before: Option<Access> = None;
        let mut step = |(access, amount): (Access, Term)| {
            let thread = self.bounded.skeleton.events[access.event].thread;
            let same = before.replace(access).filter(|b| self.bounded.skeleton.events[b.event].thread == thread);
            let follows = same.is_none_or(|before| self.implies(&access, &before));
            Some(CounterStep { write: access.write()?, amount, follows })
        };
        let steps = rows.into_values().map(|row| row.into_iter().filter_map(&mut step).collect()).collect();
        Some(Counter { base: base.and_then(|base| base.write()), steps, reads })
    }

    fn span(&mut self, thread: ThreadIndex, row: &[(Access, Term)], read: &Access) -> StepSpan {
        let at = self.occasion(read);
        if thread == at.thread {
            // Reads of an event come before its writes.
            let place = (at.node, read.event);
            let is_earlier = |(step, _): &&(Access, Term)| (self.occasion(step).node, step.event) < place;
            let count = row.iter().take_while(is_earlier).count();
            let are_made = row[..count].iter().all(|(step, _)| self.implies(read, step));
            return StepSpan { certain: count, possible: count, are_made };
        }
        let certain = row.iter().take_while(|(step, _)| self.before(step, read)).count();
        let possible = row.iter().take_while(|(step, _)| !self.before(read, step)).count();
        let are_made = row[..certain].iter().all(|(step, _)| self.implies(read, step));
        StepSpan { certain, possible: possible.max(certain), are_made }
    }

    /// What a write adds, and the earlier access of the same thread to whose value it adds.
    fn step(&mut self, before: &[Access], write: &Access) -> Option<(Term, Access)> {
        for earlier in before.iter().rev() {
            if !self.implies(write, earlier) {
                // An earlier read that may not have occurred says nothing; an earlier write that may have occurred
                // means that this is no step.
                if earlier.is_write() {
                    return None;
                }
                continue;
            }
            let (new, old) = (self.cell(write).unit.value, self.cell(earlier).unit.value);
            let amount = self.bounded.terms.sub(new, old);
            self.bounded.terms.as_bits(amount)?;
            return Some((amount, *earlier));
        }
        None
    }

    /// Whether no step of another thread comes between a step and the access that it starts from.
    fn is_undisturbed(&mut self, step: &(Access, Term, Access), all: &[(Access, Term, Access)]) -> bool {
        let (write, _, from) = step;
        let events = &self.bounded.skeleton.events;
        if events[write.event].node == events[from.event].node {
            return true;
        }
        let thread = events[write.event].thread;
        let locks: Vec<u64> = self.sections.together(from.event, write.event).collect();
        all.iter().all(|(other, _, _)| {
            self.bounded.skeleton.events[other.event].thread == thread
                || locks.iter().any(|&lock| self.sections.holds(other.event, lock))
                || self.before(write, other)
                || self.before(other, from)
        })
    }

    /// The set that all others come before. The inner option is none if there is no set.
    fn last_set(&mut self, sets: &[Access]) -> Option<Option<Access>> {
        let Some(last) = sets.iter().copied().reduce(|a, b| if self.before(&a, &b) { b } else { a }) else {
            return Some(None);
        };
        sets.iter().all(|set| *set == last || self.before(set, &last)).then_some(Some(last))
    }
}

/// A variable that says whether a step comes before a read; both are events.
#[derive(Clone, Copy, Debug)]
pub struct OrderVariable {
    pub variable: Term,
    pub step: EventId,
    pub read: EventId,
}

/// Variables made while reads were replaced.
#[derive(Default)]
struct MadeVariables {
    order_variables: Vec<OrderVariable>,
    /// By write: that the step occurs.
    steps: FxHashMap<WriteId, Term>,
}

impl MadeVariables {
    /// Whether a step occurs, as a variable: its condition may itself depend on the counter.
    fn is_made(&mut self, bounded: &mut BoundedProgram<'_>, write: WriteId, occurs: Term) -> Term {
        if bounded.terms.as_bool(occurs).is_some() {
            return occurs;
        }
        *self.steps.entry(write).or_insert_with(|| {
            let made = bounded.terms.variable(Sort::Bool, "made");
            let same = bounded.terms.iff(made, occurs);
            bounded.skeleton.constraints.push(same);
            made
        })
    }
}

impl Counter {
    /// What was there before all steps, if that is known.
    fn first_value(&self, bounded: &mut BoundedProgram<'_>, cells: &AccessCells) -> Option<Term> {
        if let Some(base) = self.base {
            return Some(cells.writes[base].unit.value);
        }
        let unit = cells.reads[self.reads.first()?.read].unit;
        bounded.initial_value(unit.address, unit.bytes)
    }

    /// What a read returns: the `first` value and all that was added.
    fn value(
        &self,
        bounded: &mut BoundedProgram<'_>,
        cells: &AccessCells,
        seen: &CounterRead,
        first: Term,
        made: &mut MadeVariables,
    ) -> Term {
        let mut value = first;
        for (row, span) in self.steps.iter().zip(&seen.spans) {
            let read = &cells.reads[seen.read];
            let mut sum = bounded.terms.bits(read.unit.bytes * 8, 0);
            // As long as each step occurs only if the one before it does, the sums are constants.
            let mut constant = Some(sum);
            for (at, &CounterStep { write: index, amount, follows }) in row[..span.possible].iter().enumerate() {
                let write = &cells.writes[index];
                let is_made = match at < span.certain && span.are_made {
                    true => bounded.terms.bool(true),
                    false => made.is_made(bounded, index, write.occurs),
                };
                let comes_first = match at < span.certain {
                    true => bounded.terms.bool(true),
                    false => {
                        let variable = bounded.terms.variable(Sort::Bool, "first");
                        made.order_variables.push(OrderVariable { variable, step: write.event, read: read.event });
                        variable
                    }
                };
                let terms = &mut bounded.terms;
                let counts = terms.and2(comes_first, is_made);
                constant = constant.filter(|_| follows).map(|before| terms.add(before, amount));
                let more = constant.unwrap_or_else(|| terms.add(sum, amount));
                sum = terms.ite(counts, more, sum);
            }
            value = bounded.terms.add(value, sum);
        }
        value
    }
}

/// Replaces the reads of counters by what they return, so that nothing has to be copied from write to read. Only
/// counters whose first value does not depend on a counter are replaced, so that no value depends on itself. False if
/// there are none.
pub fn replace(
    bounded: &mut BoundedProgram<'_>,
    cells: &AccessCells,
    counters: &[Counter],
    replacements: &mut Replacements,
) -> bool {
    let seen = counters.iter().flat_map(|counter| &counter.reads);
    let variables: FxHashSet<Term> = seen.map(|seen| cells.reads[seen.read].unit.value).collect();
    let mut values: FxHashMap<Term, Term> = FxHashMap::default();
    let mut made = MadeVariables::default();
    for counter in counters {
        let Some(first) = counter.first_value(bounded, cells) else { continue };
        if bounded.terms.variables_of(&[first]).iter().any(|variable| variables.contains(variable)) {
            continue;
        }
        for seen in &counter.reads {
            let variable = cells.reads[seen.read].unit.value;
            if matches!(bounded.terms.node(variable), Node::Variable(_)) {
                let value = counter.value(bounded, cells, seen, first, &mut made);
                values.insert(variable, value);
            }
        }
    }
    replacements.order_variables.extend(made.order_variables);
    bounded.replace_reads(values)
}
