//! Interference pruning: which writes may a read copy, and which accesses may race?
//!
//! A read need only be linked to writes that can reach it (paper 000, section 6). A write is out of the question if it comes after the read in
//! every execution, if it cannot be at the same address, or if it is *killed*: another write to the same address always
//! occurs between the two. What kills is found among the writes of the writer's own thread (`killer`) and among those that
//! certainly come before the read (`surely_before`), on whatever thread.
//!
//! Beyond the paper:
//! - Locks (`sections`). A write that is overwritten before its critical section ends is not seen in other sections of that lock; and
//!   a read that follows a write of its own section does not see those of other sections. Who gives a lock back finds it as it was left. Accesses in sections of one lock do not race.
//! - Mutual exclusion (`exclusive`). What the steps on a lock itself read is known, if all is as it should be: then it is not linked, but said directly that sections do not overlap.
//! - Intervals (`ranges`). A read and a write at symbolic addresses that lie apart have nothing to do with each other.
//! - Values (`propagate`). A read that can copy one write only has that write's value: it is replaced by it everywhere, which
//!   makes addresses and conditions constant, and then more can be pruned.
//! - Bits (`values`). What is the same in all that a read may copy is known of it.
//! - Slices. A read whose value nothing depends on is not linked at all.
//!
//! A write that is pruned need not be considered as one that overwrites others either: where it occurs, its killer does.
//!
//! Writes are found by address or, where that is not constant, by object: nothing here looks at all pairs.

use crate::control::Control;
use crate::counters::{self, Counter, Finder, First};
use crate::exclusive::{self, Exclusion};
use crate::happens::{Happens, Occasion};
use crate::implication::Implications;
use crate::pieces::{Piece, Pieces, pieces};
use crate::propagate::propagate;
use crate::ranges::ranges;
use crate::sections::{Sections, occasion};
use crate::skeleton::{Event, Role};
use crate::summarize::Summarizer;
use crate::values;
use leno_ir::points_to::AbstractId;
use leno_logic::interval::{Interval, Intervals};
use leno_logic::term::{Node, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// What a read may copy.
#[derive(Clone, Debug, Default)]
pub struct MayCopy {
    /// Indices of writes, the last one first.
    pub writes: Vec<usize>,
    /// Indices of writes that it cannot copy, but that may overwrite what it could.
    pub overwriting: Vec<usize>,
    /// Whether it may see what was there before anybody wrote.
    pub initial: bool,
}

/// What is left to be composed.
pub struct Pruned {
    pub pieces: Pieces,
    /// By read; none if nothing depends on what it returns.
    pub may_copy: Vec<Option<MayCopy>>,
    /// Pairs of events that may race.
    pub races: Vec<(usize, usize)>,
    /// Variables about the order that something depends on.
    pub firsts: Vec<First>,
    /// Sections that do not overlap.
    pub exclusions: Vec<Exclusion>,
}

/// How often values are propagated before we leave it at that.
const ROUNDS: u32 = 6;

pub fn prune(summary: &mut Summarizer<'_>) -> Pruned {
    for _ in 0..ROUNDS {
        let mut pruner = Pruner::new(summary);
        let may_copy = pruner.may_copy();
        if (pruner.summary.interrupted)()
            || !(propagate(pruner.summary, &pruner.pieces, &may_copy) || pruner.replace_counters(&may_copy))
        {
            return pruner.finish(may_copy);
        }
    }
    let mut pruner = Pruner::new(summary);
    let may_copy = pruner.may_copy();
    pruner.finish(may_copy)
}

/// Everything that composition could be about.
pub fn keep_all(summary: &mut Summarizer<'_>) -> Pruned {
    let pieces = pieces(summary);
    let events = &summary.skeleton.events;
    // Places of what can never be confused are not comparable.
    let all = |read: &Piece| {
        let may_meet =
            |index: &usize| events[pieces.writes[*index].event].targets.intersects(&events[read.event].targets);
        Some(MayCopy {
            writes: (0..pieces.writes.len()).rev().filter(may_meet).collect(),
            overwriting: Vec::new(),
            initial: true,
        })
    };
    let may_copy = pieces.reads.iter().map(all).collect();
    let events = events.len();
    let pairs = (0..events).flat_map(|first| (first + 1..events).map(move |second| (first, second)));
    let races = if summary.properties.race { pairs.collect() } else { Vec::new() };
    Pruned { pieces, may_copy, races, firsts: Vec::new(), exclusions: Vec::new() }
}

/// What comes before what, and what lies under which locks.
fn locking(summary: &mut Summarizer<'_>, control: &mut Control) -> (Happens, Sections) {
    let implications = Implications::with(summary.equations().clone());
    let mut happens = Happens::new(&summary.skeleton, implications);
    let sections = Sections::new(summary, &mut happens, control);
    (happens, sections)
}

struct Pruner<'a, 'p> {
    summary: &'a mut Summarizer<'p>,
    pieces: Pieces,
    happens: Happens,
    sections: Sections,
    /// Writes by constant address, and those at other addresses by object.
    by_address: FxHashMap<(Term, u32), Vec<usize>>,
    by_object: FxHashMap<AbstractId, Vec<usize>>,
    at_unknown: FxHashMap<AbstractId, Vec<usize>>,
    /// By write: one of its thread that overwrites it whenever it occurs.
    killer: Vec<Option<usize>>,
    /// Where addresses that are not constant may lie.
    ranges: Option<Intervals>,
}

impl<'a, 'p> Pruner<'a, 'p> {
    fn new(summary: &'a mut Summarizer<'p>) -> Pruner<'a, 'p> {
        let mut control = Control::with(summary.equations().clone());
        let (mut happens, mut sections) = locking(summary, &mut control);
        if exclusive::replace(summary, &sections, &mut happens, &mut control) {
            (happens, sections) = locking(summary, &mut control);
        }
        let pieces = pieces(summary);
        let mut pruner = Pruner {
            summary,
            killer: vec![None; pieces.writes.len()],
            pieces,
            happens,
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
        for (index, write) in self.pieces.writes.iter().enumerate() {
            let is_known = self.summary.terms.as_bits(write.unit.address).is_some();
            if is_known {
                self.by_address.entry((write.unit.address, write.unit.bytes)).or_default().push(index);
            }
            for object in self.summary.skeleton.events[write.event].targets.iter() {
                self.by_object.entry(object).or_default().push(index);
                if !is_known {
                    self.at_unknown.entry(object).or_default().push(index);
                }
            }
        }
    }

    fn event(&self, piece: &Piece) -> &Event {
        &self.summary.skeleton.events[piece.event]
    }

    fn occasion(&self, piece: &Piece) -> Occasion {
        Occasion { occurs: piece.occurs, ..occasion(self.event(piece)) }
    }

    fn before(&mut self, a: &Piece, b: &Piece) -> bool {
        let (a, b) = (self.occasion(a), self.occasion(b));
        self.happens.before(&self.summary.terms, a, b)
    }

    fn implies(&mut self, a: Term, b: Term) -> bool {
        self.happens.implications.holds(&self.summary.terms, a, b)
    }

    /// For each write the next one of its thread, to the same address, that occurs whenever it does.
    fn find_killers(&mut self) {
        let mut rows: FxHashMap<(u32, Term, u32), Vec<usize>> = FxHashMap::default();
        for (index, write) in self.pieces.writes.iter().enumerate() {
            let thread = self.summary.skeleton.events[write.event].thread;
            rows.entry((thread.0, write.unit.address, write.unit.bytes)).or_default().push(index);
        }
        for row in rows.into_values() {
            for (at, &index) in row.iter().enumerate() {
                let write = self.pieces.writes[index];
                let node = self.event(&write).node;
                let next = row[at + 1..].iter().take(LOOKAHEAD).copied().find(|&later| {
                    let later = self.pieces.writes[later];
                    self.event(&later).node >= node
                        && self.happens.implications.holds(&self.summary.terms, write.occurs, later.occurs)
                });
                self.killer[index] = next;
            }
        }
    }

    fn may_copy(&mut self) -> Vec<Option<MayCopy>> {
        let live = live_variables(self.summary, &self.pieces);
        let mut all = Vec::new();
        for index in 0..self.pieces.reads.len() {
            let read = self.pieces.reads[index];
            let is_live = self.summary.terms.variables_of(&[read.unit.value]).iter().any(|v| live.contains(v));
            all.push(if is_live { Some(self.may_be_copied_by(&read)) } else { None });
            if index % 256 == 0 && (self.summary.interrupted)() {
                all.resize(self.pieces.reads.len(), None);
                break;
            }
        }
        self.keep_apart(&mut all);
        all
    }

    /// Leaves out what cannot be at the same address because of where addresses lie.
    fn keep_apart(&mut self, may_copy: &mut [Option<MayCopy>]) {
        self.ranges = ranges(self.summary, &self.pieces, may_copy);
        let Some(ranges) = &mut self.ranges else { return };
        let terms = &self.summary.terms;
        let mut lie: FxHashMap<(Term, Term), Interval> = FxHashMap::default();
        let mut lies = |piece: &Piece| {
            let key = (piece.occurs, piece.place);
            *lie.entry(key).or_insert_with(|| ranges.under(terms, piece.occurs, piece.place))
        };
        for (read, may_copy) in self.pieces.reads.iter().zip(may_copy) {
            let Some(may_copy) = may_copy else { continue };
            may_copy.writes.retain(|&write| {
                let write = &self.pieces.writes[write];
                let are_known = terms.as_bits(read.place).is_some() && terms.as_bits(write.place).is_some();
                are_known || !lies(read).is_disjoint(lies(write))
            });
        }
    }

    /// Writes that may be at the address of a read, the last one first.
    fn candidates(&self, read: &Piece) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        let targets = &self.event(read).targets;
        if self.summary.terms.as_bits(read.unit.address).is_some() {
            found.extend(self.by_address.get(&(read.unit.address, read.unit.bytes)).into_iter().flatten());
            found.extend(targets.iter().filter_map(|object| self.at_unknown.get(&object)).flatten());
        } else {
            found.extend(targets.iter().filter_map(|object| self.by_object.get(&object)).flatten());
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.dedup();
        found
    }

    fn may_be_copied_by(&mut self, read: &Piece) -> MayCopy {
        let node = self.event(read).node;
        if let Some(begin) = self.sections.begin(read.event) {
            // (Writes are in the order of their events.)
            let first = self.pieces.writes.partition_point(|write| write.event < begin);
            let mut of_begin = self.pieces.writes[first..].iter().take_while(|write| write.event == begin);
            if let Some(at) = of_begin.position(|write| write.unit.address == read.unit.address) {
                let index = first + at;
                return MayCopy { writes: vec![index], ..MayCopy::default() };
            }
        }
        let mut possible = Vec::new();
        // The last write of each thread that certainly comes before, to the same address.
        let mut surely_before: Vec<usize> = Vec::new();
        for index in self.candidates(read) {
            let write = self.pieces.writes[index];
            if self.event(&write).node == node || write.unit.bytes != read.unit.bytes || self.before(read, &write) {
                continue;
            }
            let same = self.summary.terms.eq(read.place, write.place);
            let hit = self.summary.terms.and2(same, write.occurs);
            if self.summary.terms.as_bool(hit) == Some(false) {
                continue;
            }
            possible.push(index);
            let thread = self.event(&write).thread;
            let is_known =
                |&other: &usize| self.summary.skeleton.events[self.pieces.writes[other].event].thread == thread;
            if self.summary.terms.as_bool(same) == Some(true)
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
            // A lock is taken only if it is free, and who takes it does not leave it so.
            let takes =
                |index: &usize| matches!(self.event(&self.pieces.writes[*index]).role, Role::Lock | Role::TryLock);
            (overwriting, possible) = possible.into_iter().partition(takes);
        }
        MayCopy { writes: possible, overwriting, initial: surely_before.is_empty() }
    }

    /// Whether a write is always overwritten before the read sees it.
    fn is_killed(&mut self, index: usize, read: &Piece, surely_before: &[usize]) -> bool {
        let write = self.pieces.writes[index];
        if let Some(killer) = self.killer[index] {
            let killer = self.pieces.writes[killer];
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
            let sure = self.pieces.writes[sure];
            if self.before(&write, &sure) {
                return true;
            }
            // Written in the read's own section, which those of other threads do not interrupt.
            let (own, other) = (self.event(&sure).thread, self.event(&write).thread);
            let sections = &self.sections;
            own == self.event(read).thread
                && own != other
                && sections.together(sure.event, read.event).any(|lock| sections.holds(write.event, lock))
        })
    }

    fn finish(mut self, may_copy: Vec<Option<MayCopy>>) -> Pruned {
        let races = if self.summary.properties.race { self.races() } else { Vec::new() };
        let live = live_variables(self.summary, &self.pieces);
        let mut firsts = std::mem::take(&mut self.summary.firsts);
        firsts.retain(|first| live.contains(&first.variable));
        let exclusions = exclusive::exclusions(self.summary, &mut self.happens);
        values::learn(self.summary, &self.pieces, &may_copy);
        Pruned { pieces: self.pieces, may_copy, races, firsts, exclusions }
    }

    fn counters(&mut self, may_copy: &[Option<MayCopy>]) -> Vec<Counter> {
        // A write that is not found by its address may be anywhere in its objects.
        let events: Vec<bool> = self.summary.skeleton.events.iter().map(|event| self.is_clear(event)).collect();
        let (summary, pieces) = (&mut *self.summary, &self.pieces);
        let mut finder = Finder { summary, pieces, happens: &mut self.happens, sections: &self.sections };
        finder.counters(|read| may_copy.get(read).is_some_and(Option::is_some), |piece| events[piece.event])
    }

    fn replace_counters(&mut self, may_copy: &[Option<MayCopy>]) -> bool {
        let counters = self.counters(may_copy);
        counters::replace(self.summary, &self.pieces, &counters)
    }

    fn is_clear(&self, event: &Event) -> bool {
        !event.targets.iter().any(|object| self.at_unknown.contains_key(&object))
    }

    // --- races

    /// Pairs of events that may touch common bytes at the same time.
    fn races(&mut self) -> Vec<(usize, usize)> {
        let mut pairs = BTreeSet::new();
        // What accesses each object: from where to where, and who.
        let mut by_object: FxHashMap<AbstractId, Vec<(u128, u128, usize)>> = FxHashMap::default();
        let mut ranges = self.ranges.take().unwrap_or_default();
        let Summarizer { skeleton, terms, .. } = &*self.summary;
        for (index, event) in skeleton.events.iter().enumerate() {
            let Some(unit) = event.reads.first().or(event.writes.first()).filter(|_| event.is_plain) else { continue };
            let lies = match terms.as_bits(unit.address) {
                Some(address) => Interval::exactly(address),
                None => ranges.under(terms, event.occurs, unit.address),
            };
            for object in event.targets.iter() {
                let end = lies.high.saturating_add(unit.bytes.into());
                by_object.entry(object).or_default().push((lies.low, end, index));
            }
        }
        for mut accesses in by_object.into_values() {
            if (self.summary.interrupted)() {
                break;
            }
            accesses.sort_unstable();
            for (at, &(_, end, index)) in accesses.iter().enumerate() {
                let overlapping = accesses[at + 1..].iter().take_while(|(from, _, _)| *from < end);
                let others: Vec<usize> = overlapping.map(|(_, _, other)| *other).collect();
                self.add_races(index, &others, &mut pairs);
            }
        }
        pairs.into_iter().collect()
    }

    fn add_races(&mut self, index: usize, others: &[usize], pairs: &mut BTreeSet<(usize, usize)>) {
        for &other in others {
            let pair = (index.min(other), index.max(other));
            if index != other && !pairs.contains(&pair) && self.may_race(index, other) {
                pairs.insert(pair);
            }
        }
    }

    fn may_race(&mut self, first: usize, second: usize) -> bool {
        let (a, b) = (&self.summary.skeleton.events[first], &self.summary.skeleton.events[second]);
        a.thread != b.thread
            && (!a.is_atomic || !b.is_atomic)
            && (!a.writes.is_empty() || !b.writes.is_empty())
            && !self.sections.exclude(first, second)
            && self.happens.in_parallel(&self.summary.terms, occasion(a), occasion(b))
    }
}

/// Writes after a write among which its killer is looked for.
const LOOKAHEAD: usize = 4;

/// The variables that anything but the values of writes depends on, and those of writes that are read.
fn live_variables(summary: &Summarizer<'_>, pieces: &Pieces) -> FxHashSet<Term> {
    let skeleton = &summary.skeleton;
    let mut roots = Vec::new();
    skeleton.for_each_condition(|term| roots.push(term));
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    // Variables of reads, and what they are read from: objects.
    let mut reads: FxHashMap<Term, Vec<usize>> = FxHashMap::default();
    for (index, event) in skeleton.events.iter().enumerate() {
        event.reads.iter().for_each(|unit| reads.entry(unit.value).or_default().push(index));
    }
    let mut values: FxHashMap<AbstractId, Vec<Term>> = FxHashMap::default();
    for write in &pieces.writes {
        for object in skeleton.events[write.event].targets.iter() {
            values.entry(object).or_default().push(write.unit.value);
        }
    }
    while let Some(term) = roots.pop() {
        if !seen.insert(term) {
            continue;
        }
        let node = summary.terms.node(term);
        roots.extend(node.operands());
        if matches!(node, Node::Variable(_)) {
            for &event in reads.get(&term).into_iter().flatten() {
                for object in skeleton.events[event].targets.iter() {
                    roots.extend(values.remove(&object).unwrap_or_default());
                }
            }
        }
    }
    seen.retain(|&term| matches!(summary.terms.node(term), Node::Variable(_)));
    seen
}
