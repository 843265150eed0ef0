//! Interference pruning: which writes may a read copy, and which accesses may race?
//!
//! A read need only be linked to writes that can reach it (paper 000, section 6). A write cannot if it comes after the
//! read in every execution, if it cannot be at the same address, or if it is *killed*: another write to the same
//! address always occurs between the two. Killing writes are found among the writes of the writer's own thread
//! (`killer`) and among those of any thread that always come before the read (`surely_before`).
//!
//! Beyond the paper:
//! - Locks (`critical_sections`). A write that is overwritten before its critical section ends is not seen in other
//!   sections of that lock; a read that follows a write of its own section does not see writes of other sections. An
//!   unlock reads what the lock of its section wrote. Accesses in sections of one lock do not race.
//! - Mutual exclusion (`mutual_exclusion`). What locks and unlocks of a well-behaved lock read is known: they are not
//!   linked, and the exclusion of its sections is demanded directly.
//! - Counters (`counters`). The value of a read of a counter is a sum of increments.
//! - Intervals (`address_intervals`). A read and a write whose symbolic addresses lie in disjoint intervals are not
//!   linked.
//! - Constants (`constant_reads`). A read that can copy one write only is replaced by the value of that write,
//!   everywhere. This makes addresses and conditions constant, and then more can be pruned.
//! - Bits (`known_bits`). Bits that are the same in all values that a read may copy are known.
//! - Slices. A read on whose value nothing depends is not linked at all.
//!
//! A write that is pruned need not be considered as one that overwrites others either: wherever it occurs, its killer
//! does.
//!
//! Writes are found by address or, where that is not constant, by object: no loop here goes over all pairs.

pub(crate) mod address_intervals;
pub(crate) mod constant_reads;
pub(crate) mod counters;
pub(crate) mod critical_sections;
pub(crate) mod implication;
pub(crate) mod implication_sat;
pub(crate) mod known_bits;
pub(crate) mod must_order;
pub(crate) mod mutual_exclusion;

use crate::bounded::BoundedProgram;
use crate::prune::address_intervals::ranges;
use crate::prune::constant_reads::propagate;
use crate::prune::counters::{Counter, Finder, OrderVariable};
use crate::prune::critical_sections::{Sections, occasion};
use crate::prune::implication::Implications;
use crate::prune::implication_sat::ImplicationSat;
use crate::prune::must_order::{GuardedNode, MustOrder};
use crate::prune::mutual_exclusion::Exclusion;
use crate::skeleton::access_cells::{AccessCell, AccessCells, ReadId, WriteId, access_cells};
use crate::skeleton::{Event, EventId, Role, ThreadIndex};
use leno_domains::Interval;
use leno_ir::analysis::points_to::AbstractId;
use leno_ir::index::{Idx, IndexVec};
use leno_logic::abstraction::Abstraction;
use leno_logic::term::{Node, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// What a read may copy.
#[derive(Clone, Debug, Default)]
pub struct MayCopy {
    /// Indices of writes, the last one first.
    pub writes: Vec<WriteId>,
    /// Indices of writes that it cannot copy, but that may overwrite what it could.
    pub overwriting: Vec<WriteId>,
    /// Whether it may return what was there before the first write.
    pub initial: bool,
}

/// What is left to be composed.
pub struct Pruned {
    pub cells: AccessCells,
    /// By read; none if nothing depends on what it returns.
    pub may_copy: IndexVec<ReadId, Option<MayCopy>>,
    /// Pairs of events that may race.
    pub races: Vec<(EventId, EventId)>,
    /// Variables about the order that a condition or a value depends on.
    pub order_variables: Vec<OrderVariable>,
    /// Critical sections that exclude each other.
    pub exclusions: Vec<Exclusion>,
}

/// What the rounds of pruning have put in the place of reads, other than constants.
#[derive(Default)]
pub(crate) struct Replacements {
    /// Variables about the order, made where reads of counters were replaced.
    pub order_variables: Vec<OrderVariable>,
    /// Locks, by address, whose words are not read any more: their sections exclude each other.
    pub exclusive_locks: BTreeSet<u64>,
}

/// Rounds of pruning, each after reads were replaced.
const ROUNDS: u32 = 6;

pub fn prune(bounded: &mut BoundedProgram<'_>) -> Pruned {
    let mut replacements = Replacements::default();
    for _ in 0..ROUNDS {
        let mut pruner = Pruner::new(bounded, &mut replacements);
        let may_copy = pruner.may_copy();
        if pruner.bounded.question.is_interrupted()
            || !(propagate(pruner.bounded, &pruner.cells, &may_copy) || pruner.replace_counters(&may_copy))
        {
            return pruner.finish(may_copy);
        }
    }
    let mut pruner = Pruner::new(bounded, &mut replacements);
    let may_copy = pruner.may_copy();
    pruner.finish(may_copy)
}

/// No pruning: every read may copy every write, and all pairs of events may race.
pub fn keep_all(bounded: &mut BoundedProgram<'_>) -> Pruned {
    let cells = access_cells(bounded);
    let events = &bounded.skeleton.events;
    // (Locations of cells that can never be confused are not comparable.)
    let all = |read: &AccessCell| {
        let may_meet =
            |write: &WriteId| events[cells.writes[*write].event].targets.intersects(&events[read.event].targets);
        Some(MayCopy {
            writes: cells.writes.ids().rev().filter(may_meet).collect(),
            overwriting: Vec::new(),
            initial: true,
        })
    };
    let may_copy = cells.reads.iter().map(all).collect();
    let after = |first: EventId| events.ids().skip(first.index() + 1).map(move |second| (first, second));
    let pairs = events.ids().flat_map(after);
    let races = if bounded.question.properties.race { pairs.collect() } else { Vec::new() };
    Pruned { cells, may_copy, races, order_variables: Vec::new(), exclusions: Vec::new() }
}

/// The order of events, and the critical sections that they lie in.
fn locking(bounded: &mut BoundedProgram<'_>, sat: &mut ImplicationSat) -> (MustOrder, Sections) {
    let implications = Implications::with(bounded.equations.clone());
    let mut must_order = MustOrder::new(&bounded.skeleton, implications);
    let sections = Sections::new(bounded, &mut must_order, sat);
    (must_order, sections)
}

struct Pruner<'a, 'p> {
    bounded: &'a mut BoundedProgram<'p>,
    replacements: &'a mut Replacements,
    cells: AccessCells,
    must_order: MustOrder,
    sections: Sections,
    /// Writes by constant address, and those at other addresses by object.
    by_address: FxHashMap<(Term, u32), Vec<WriteId>>,
    by_object: FxHashMap<AbstractId, Vec<WriteId>>,
    at_unknown: FxHashMap<AbstractId, Vec<WriteId>>,
    /// By write: a later one of its thread that overwrites it whenever it occurs.
    killer: IndexVec<WriteId, Option<WriteId>>,
    /// Intervals of addresses that are not constant.
    ranges: Option<Abstraction<Interval>>,
}

impl<'a, 'p> Pruner<'a, 'p> {
    fn new(bounded: &'a mut BoundedProgram<'p>, replacements: &'a mut Replacements) -> Pruner<'a, 'p> {
        let mut sat = ImplicationSat::with(bounded.equations.clone());
        let (mut must_order, mut sections) = locking(bounded, &mut sat);
        if mutual_exclusion::replace(bounded, &sections, &mut must_order, &mut sat, replacements) {
            (must_order, sections) = locking(bounded, &mut sat);
        }
        let cells = access_cells(bounded);
        let mut pruner = Pruner {
            bounded,
            replacements,
            killer: cells.writes.ids().map(|_| None).collect(),
            cells,
            must_order,
            sections,
            by_address: FxHashMap::default(),
            by_object: FxHashMap::default(),
            at_unknown: FxHashMap::default(),
            ranges: None,
        };
        pruner.index();
        pruner.find_killers();
        pruner
    }

    fn index(&mut self) {
        for (index, write) in self.cells.writes.iter_enumerated() {
            let is_known = self.bounded.terms.as_bits(write.unit.address).is_some();
            if is_known {
                self.by_address.entry((write.unit.address, write.unit.bytes)).or_default().push(index);
            }
            for object in self.bounded.skeleton.events[write.event].targets.iter() {
                self.by_object.entry(object).or_default().push(index);
                if !is_known {
                    self.at_unknown.entry(object).or_default().push(index);
                }
            }
        }
    }

    fn event(&self, cell: &AccessCell) -> &Event {
        &self.bounded.skeleton.events[cell.event]
    }

    fn occasion(&self, cell: &AccessCell) -> GuardedNode {
        GuardedNode { occurs: cell.occurs, ..occasion(self.event(cell)) }
    }

    fn before(&mut self, a: &AccessCell, b: &AccessCell) -> bool {
        let (a, b) = (self.occasion(a), self.occasion(b));
        self.must_order.before(&self.bounded.terms, a, b)
    }

    fn implies(&mut self, a: Term, b: Term) -> bool {
        self.must_order.implications.holds(&self.bounded.terms, a, b)
    }

    /// Finds for each write the next one of its thread, to the same address, that occurs whenever it does.
    fn find_killers(&mut self) {
        let mut rows: FxHashMap<(ThreadIndex, Term, u32), Vec<WriteId>> = FxHashMap::default();
        for (index, write) in self.cells.writes.iter_enumerated() {
            let thread = self.bounded.skeleton.events[write.event].thread;
            rows.entry((thread, write.unit.address, write.unit.bytes)).or_default().push(index);
        }
        for row in rows.into_values() {
            if self.bounded.question.is_interrupted() {
                return;
            }
            for (at, &index) in row.iter().enumerate() {
                let write = self.cells.writes[index];
                let node = self.event(&write).node;
                let next = row[at + 1..].iter().take(LOOKAHEAD).copied().find(|&later| {
                    let later = self.cells.writes[later];
                    self.event(&later).node >= node
                        && self.must_order.implications.holds(&self.bounded.terms, write.occurs, later.occurs)
                });
                self.killer[index] = next;
            }
        }
    }

    fn may_copy(&mut self) -> IndexVec<ReadId, Option<MayCopy>> {
        let live = live_variables(self.bounded, &self.cells);
        let mut all = IndexVec::new();
        for id in self.cells.reads.ids() {
            let read = self.cells.reads[id];
            let is_live = self.bounded.terms.variables_of(&[read.unit.value]).iter().any(|v| live.contains(v));
            all.push(if is_live { Some(self.may_be_copied_by(&read)) } else { None });
            if id.index() % 256 == 0 && self.bounded.question.is_interrupted() {
                all.extend(self.cells.reads.ids().skip(all.len()).map(|_| None));
                break;
            }
        }
        self.keep_apart(&mut all);
        all
    }

    /// Leaves out writes whose addresses lie in an interval disjoint from that of the read.
    fn keep_apart(&mut self, may_copy: &mut IndexVec<ReadId, Option<MayCopy>>) {
        self.ranges = ranges(self.bounded, &self.cells, may_copy);
        let Some(ranges) = &mut self.ranges else { return };
        let terms = &self.bounded.terms;
        let mut lie: FxHashMap<(Term, Term), Interval> = FxHashMap::default();
        let mut lies = |cell: &AccessCell| {
            let key = (cell.occurs, cell.location);
            *lie.entry(key).or_insert_with(|| ranges.under(terms, cell.occurs, cell.location))
        };
        for (read, may_copy) in self.cells.reads.iter().zip(may_copy.iter_mut()) {
            let Some(may_copy) = may_copy else { continue };
            may_copy.writes.retain(|&write| {
                let write = &self.cells.writes[write];
                let are_known = terms.as_bits(read.location).is_some() && terms.as_bits(write.location).is_some();
                are_known || !lies(read).is_disjoint(&lies(write))
            });
        }
    }

    /// Writes that may be at the address of a read, the last one first.
    fn candidates(&self, read: &AccessCell) -> Vec<WriteId> {
        let mut found: Vec<WriteId> = Vec::new();
        let targets = &self.event(read).targets;
        if self.bounded.terms.as_bits(read.unit.address).is_some() {
            found.extend(self.by_address.get(&(read.unit.address, read.unit.bytes)).into_iter().flatten());
            found.extend(targets.iter().filter_map(|object| self.at_unknown.get(&object)).flatten());
        } else {
            found.extend(targets.iter().filter_map(|object| self.by_object.get(&object)).flatten());
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.dedup();
        found
    }

    fn may_be_copied_by(&mut self, read: &AccessCell) -> MayCopy {
        let node = self.event(read).node;
        if let Some(begin) = self.sections.begin(read.event) {
            // (Writes are in the order of their events.)
            let first = self.cells.writes.as_slice().partition_point(|write| write.event < begin);
            let of_begin = self.cells.writes.iter_enumerated().skip(first);
            let mut of_begin = of_begin.take_while(|(_, write)| write.event == begin);
            if let Some((write, _)) = of_begin.find(|(_, write)| write.unit.address == read.unit.address) {
                return MayCopy { writes: vec![write], ..MayCopy::default() };
            }
        }
        let mut possible = Vec::new();
        // The last write of each thread that certainly comes before, to the same address.
        let mut surely_before: Vec<WriteId> = Vec::new();
        for index in self.candidates(read) {
            let write = self.cells.writes[index];
            if self.event(&write).node == node || write.unit.bytes != read.unit.bytes || self.before(read, &write) {
                continue;
            }
            let same = self.bounded.terms.eq(read.location, write.location);
            let hit = self.bounded.terms.and2(same, write.occurs);
            if self.bounded.terms.as_bool(hit) == Some(false) {
                continue;
            }
            possible.push(index);
            let thread = self.event(&write).thread;
            let is_known =
                |&other: &WriteId| self.bounded.skeleton.events[self.cells.writes[other].event].thread == thread;
            if self.bounded.terms.as_bool(same) == Some(true)
                && !surely_before.iter().any(is_known)
                && self.before(&write, read)
                && self.implies(read.occurs, write.occurs)
            {
                surely_before.push(index);
            }
        }
        possible.retain(|&index| !self.is_killed(index, read, &surely_before));
        let mut overwriting = Vec::new();
        if self.sections.takes(read.event) {
            // A lock is taken only if it is free, which it is not after a step that has taken it.
            let takes =
                |index: &WriteId| matches!(self.event(&self.cells.writes[*index]).role, Role::Lock | Role::TryLock);
            (overwriting, possible) = possible.into_iter().partition(takes);
        }
        MayCopy { writes: possible, overwriting, initial: surely_before.is_empty() }
    }

    /// Whether a write is always overwritten before the read sees it.
    fn is_killed(&mut self, index: WriteId, read: &AccessCell, surely_before: &[WriteId]) -> bool {
        let write = self.cells.writes[index];
        if let Some(killer) = self.killer[index] {
            let killer = self.cells.writes[killer];
            if self.event(&killer).node == self.event(&write).node || self.before(&killer, read) {
                return true;
            }
            let sections = &self.sections;
            let is_foreign = self.event(read).thread != self.event(&write).thread;
            if is_foreign && sections.together(write.event, killer.event).any(|lock| sections.holds(read.event, lock)) {
                return true;
            }
        }
        surely_before.iter().any(|&sure| {
            let sure = self.cells.writes[sure];
            if self.before(&write, &sure) {
                return true;
            }
            // Written in the critical section of the read, which sections of other threads cannot interrupt.
            let (own, other) = (self.event(&sure).thread, self.event(&write).thread);
            let sections = &self.sections;
            own == self.event(read).thread
                && own != other
                && sections.together(sure.event, read.event).any(|lock| sections.holds(write.event, lock))
        })
    }

    fn finish(mut self, may_copy: IndexVec<ReadId, Option<MayCopy>>) -> Pruned {
        let races = if self.bounded.question.properties.race { self.races() } else { Vec::new() };
        let live = live_variables(self.bounded, &self.cells);
        let mut order_variables = std::mem::take(&mut self.replacements.order_variables);
        order_variables.retain(|first| live.contains(&first.variable));
        let exclusions = mutual_exclusion::exclusions(self.bounded, &mut self.must_order, self.replacements);
        known_bits::learn(self.bounded, &self.cells, &may_copy);
        Pruned { cells: self.cells, may_copy, races, order_variables, exclusions }
    }

    fn counters(&mut self, may_copy: &IndexVec<ReadId, Option<MayCopy>>) -> Vec<Counter> {
        // A write at a symbolic address may be anywhere in its objects.
        let events: IndexVec<EventId, bool> =
            self.bounded.skeleton.events.iter().map(|event| self.is_clear(event)).collect();
        let (bounded, cells) = (&mut *self.bounded, &self.cells);
        let mut finder = Finder { bounded, cells, must_order: &mut self.must_order, sections: &self.sections };
        finder.counters(|read| may_copy.get(read).is_some_and(Option::is_some), |cell| events[cell.event])
    }

    fn replace_counters(&mut self, may_copy: &IndexVec<ReadId, Option<MayCopy>>) -> bool {
        let counters = self.counters(may_copy);
        counters::replace(self.bounded, &self.cells, &counters, self.replacements)
    }

    fn is_clear(&self, event: &Event) -> bool {
        !event.targets.iter().any(|object| self.at_unknown.contains_key(&object))
    }

    // --- races

    /// Pairs of events that may touch common bytes at the same time.
    fn races(&mut self) -> Vec<(EventId, EventId)> {
        let mut pairs = BTreeSet::new();
        // The accesses to each object: first address, end, event.
        let mut by_object: FxHashMap<AbstractId, Vec<(u128, u128, EventId)>> = FxHashMap::default();
        let mut ranges = self.ranges.take().unwrap_or_default();
        let BoundedProgram { skeleton, terms, .. } = &*self.bounded;
        for (index, event) in skeleton.events.iter_enumerated() {
            let Some((address, bytes)) = event.racing_bytes() else { continue };
            let (low, high) = match terms.as_bits(address) {
                Some(address) => (address, address),
                None => {
                    let lies = ranges.under(terms, event.occurs, address);
                    (lies.low(), lies.high())
                }
            };
            for object in event.targets.iter() {
                let end = high.saturating_add(bytes.into());
                by_object.entry(object).or_default().push((low, end, index));
            }
        }
        for mut accesses in by_object.into_values() {
            if self.bounded.question.is_interrupted() {
                break;
            }
            accesses.sort_unstable();
            for (at, &(_, end, index)) in accesses.iter().enumerate() {
                let overlapping = accesses[at + 1..].iter().take_while(|(from, _, _)| *from < end);
                let others: Vec<EventId> = overlapping.map(|(_, _, other)| *other).collect();
                self.add_races(index, &others, &mut pairs);
            }
        }
        pairs.into_iter().collect()
    }

    fn add_races(&mut self, index: EventId, others: &[EventId], pairs: &mut BTreeSet<(EventId, EventId)>) {
        for &other in others {
            let pair = (index.min(other), index.max(other));
            if index != other && !pairs.contains(&pair) && self.may_race(index, other) {
                pairs.insert(pair);
            }
        }
    }

    fn may_race(&mut self, first: EventId, second: EventId) -> bool {
        let (a, b) = (&self.bounded.skeleton.events[first], &self.bounded.skeleton.events[second]);
        a.thread != b.thread
            && a.races(b)
            && !self.sections.exclude(first, second)
            && self.must_order.in_parallel(&self.bounded.terms, occasion(a), occasion(b))
    }
}

/// How many later writes are tried as the killer of a write.
const LOOKAHEAD: usize = 4;

/// The variables that conditions and addresses depend on, directly or through values that are written and read.
fn live_variables(bounded: &BoundedProgram<'_>, cells: &AccessCells) -> FxHashSet<Term> {
    let skeleton = &bounded.skeleton;
    let mut roots = Vec::new();
    skeleton.for_each_condition(|term| roots.push(term));
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    // By variable of a read: the events that read it.
    let mut reads: FxHashMap<Term, Vec<EventId>> = FxHashMap::default();
    for (index, event) in skeleton.events.iter_enumerated() {
        event.reads.iter().for_each(|unit| reads.entry(unit.value).or_default().push(index));
    }
    let mut values: FxHashMap<AbstractId, Vec<Term>> = FxHashMap::default();
    for write in &cells.writes {
        for object in skeleton.events[write.event].targets.iter() {
            values.entry(object).or_default().push(write.unit.value);
        }
    }
    while let Some(term) = roots.pop() {
        if !seen.insert(term) {
            continue;
        }
        let node = bounded.terms.node(term);
        roots.extend(node.operands());
        if matches!(node, Node::Variable(_)) {
            for &event in reads.get(&term).into_iter().flatten() {
                for object in skeleton.events[event].targets.iter() {
                    roots.extend(values.remove(&object).unwrap_or_default());
                }
            }
        }
    }
    seen.retain(|&term| matches!(bounded.terms.node(term), Node::Variable(_)));
    seen
}
