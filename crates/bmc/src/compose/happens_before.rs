//! Races that the orders of atomics leave open: what synchronises with what in a skeleton, for
//! `leno_axioms::happens_before`.
//!
//! - Program order, starts and joins of threads.
//! - Synchronisation objects: what was released there happens before every later step that takes it.
//! - Atomic accesses, in sections too: a read that acquires, and the write that it copies. Pruning may have removed the
//!   links of a read whose value is known, or not used; then it is linked here, to all writes, without values.

use crate::Reported;
use crate::compose::{Composer, PossibleViolation};
use crate::prune::Pruned;
use crate::skeleton::access_cells::{AccessCell, ReadId, WriteId};
use crate::skeleton::layout::offset_bits;
use crate::skeleton::{Event, EventId, Role};
use leno_axioms::happens_before::{Fence, GoesOn, HappensBefore, Source, Write, WriteNumber};
use leno_axioms::order::Unknown;
use leno_axioms::reads_from::{Encoding, Sources};
use leno_ir::index::Idx;
use leno_ir::interp::Synchronises;
use leno_ir::program::{Body, ObjectUse, Op, Order, Place, Program};
use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_logic::term::Term;
use rustc_hash::FxHashMap;

/// What is found out while memory and joins are composed.
#[derive(Default)]
pub(crate) struct Synchronisation {
    /// By read: the writes that it may copy, and the literals that it does.
    pub sources: FxHashMap<ReadId, Vec<(WriteId, Lit)>>,
    /// The literal that a join waits for a thread, the last node of the thread, and the node of the join.
    pub joins: Vec<(Lit, Node, Node)>,
}

fn op_at(program: &Program, place: Place) -> Option<&Op> {
    let Body::Blocks(blocks) = &program.functions[place.func].body else { return None };
    blocks[place.block].instrs.get(place.index as usize).map(|instr| &instr.op)
}

/// The order of an atomic access, and that of a compare-exchange that fails.
fn orders(program: &Program, event: &Event) -> (Order, Order) {
    if event.in_section {
        return (Order::SeqCst, Order::SeqCst);
    }
    match op_at(program, event.place) {
        Some(Op::CompareExchange { at, failure, .. }) => (at.order, *failure),
        Some(op) => op.access().map_or((Order::SeqCst, Order::SeqCst), |(access, _)| (access.order, access.order)),
        None => (Order::SeqCst, Order::SeqCst),
    }
}

impl Composer<'_, '_> {
    /// Asks for each pair that may race, in both orders, whether the first can come before the second without happening
    /// before it.
    pub(super) fn unordered(
        &mut self,
        pruned: &Pruned,
        found: Synchronisation,
        possible_violations: &mut Vec<(PossibleViolation, Lit)>,
    ) {
        let marks = self.marks(pruned, found);
        for &(first, second) in &pruned.races {
            if self.is_interrupted() {
                return;
            }
            let [one, other] = [first, second].map(|index| self.bounded.skeleton.events[index].span);
            if self.bounded.question.reported.contains(&Reported::race(one, other)) {
                continue;
            }
            for (first, second) in [(first, second), (second, first)] {
                if let Some(lit) = self.unordered_pair(&marks, first, second) {
                    possible_violations.push((PossibleViolation::Unordered(first, second), lit));
                }
            }
        }
        for free in 0..self.bounded.skeleton.frees.len() {
            if self.is_interrupted() {
                return;
            }
            for event in self.bounded.skeleton.events.ids() {
                if let Some(lit) = self.unordered_free(&marks, event, free) {
                    possible_violations.push((PossibleViolation::UnorderedFree(free), lit));
                }
            }
        }
    }

    fn unordered_pair(&mut self, marks: &HappensBefore, first: EventId, second: EventId) -> Option<Lit> {
        let both = self.conflict(first, second)?;
        let events = &self.bounded.skeleton.events;
        let (node, other) = (events[first].node, events[second].node);
        let (in_section, before) = (events[second].in_section, self.before[other]);
        let selected = self.solver.new_literal();
        self.solver.add_clause(&[!selected, both]);
        let nodes = [node, other].map(|id| self.node(id));
        if in_section {
            let before = before.map(|id| self.node(id));
            marks.unordered_inside(&mut self.solver, selected, nodes[0], (before, nodes[1]), second.index());
        } else {
            marks.unordered(&mut self.solver, selected, nodes[0], nodes[1]);
        }
        self.before_exits(selected, other);
        Some(selected)
    }

    /// A free is a write of its object; a step on a synchronisation object in it is an access to it.
    fn unordered_free(&mut self, marks: &HappensBefore, index: EventId, free: usize) -> Option<Lit> {
        let (event, free) = (&self.bounded.skeleton.events[index], &self.bounded.skeleton.frees[free]);
        let is_foreign = self.bounded.skeleton.nodes[free.node] != event.thread;
        let is_access = match event.object {
            Some(object) => object.usage != ObjectUse::Leaves,
            None => event.is_plain,
        };
        if !is_access || !is_foreign || !event.targets.intersects(&free.targets) {
            return None;
        }
        // (A read whose value is known is not linked any more, but it is an access all the same.)
        let (accessed, _) = event.racing_bytes()?;
        let (occurs, node) = (event.occurs, event.node);
        let (path, valid, address, at) = (free.path, free.valid, free.address, free.node);
        let low = offset_bits(self.bounded.facts.program.model);
        let terms = &mut self.bounded.terms;
        let high = terms.width(address) - low;
        let [one, other] = [accessed, address].map(|address| terms.extract(address, low, high));
        let same = terms.eq(one, other);
        let null = terms.bits(high, 0);
        let is_null = terms.eq(other, null);
        let is_some = terms.not(is_null);
        let both = terms.and(&[occurs, path, valid, same, is_some]);
        if terms.as_bool(both) == Some(false) {
            return None;
        }
        let both = self.literal(both);
        let selected = self.solver.new_literal();
        self.solver.add_clause(&[!selected, both]);
        let (first, second) = (self.node(node), self.node(at));
        marks.unordered(&mut self.solver, selected, first, second);
        self.before_exits(selected, at);
        Some(selected)
    }

    /// Everything that orders accesses.
    fn marks(&mut self, pruned: &Pruned, mut found: Synchronisation) -> HappensBefore {
        let skeleton = &self.bounded.skeleton;
        let mut threads: Vec<Vec<Node>> = skeleton.threads.iter().map(|_| Vec::new()).collect();
        for (id, thread) in skeleton.nodes.iter_enumerated() {
            if let Some(nodes) = threads.get_mut(thread.index()) {
                nodes.push(self.nodes[id]);
            }
        }
        let mut fences = Vec::new();
        for fence in skeleton.fences.clone() {
            let (node, occurs) = (self.node(fence.node), self.literal(fence.path));
            let (acquires, releases) = (fence.order.acquires(), fence.order.releases());
            fences.push(Fence { before: node, node, occurs, acquires, releases, releases_acquired: acquires });
        }
        let program = self.bounded.facts.program;
        let mut ids: Vec<WriteId> = Vec::new();
        let mut writes = Vec::new();
        for (id, cell) in pruned.cells.writes.iter_enumerated() {
            let event = &self.bounded.skeleton.events[cell.event];
            if event.is_plain && event.is_atomic {
                let (order, _) = orders(program, event);
                let is_update = !event.in_section && !event.reads.is_empty();
                let goes_on = if is_update { GoesOn::WithAll } else { GoesOn::WithItsThreads };
                let (node, thread) = (self.node(event.node), event.thread.index());
                writes.push(Write { node, thread, releases: order.releases(), goes_on });
                ids.push(id);
            }
        }
        let (mut marks, numbers) = HappensBefore::new(&mut self.solver, &threads, &fences, &writes);
        let numbers: FxHashMap<WriteId, WriteNumber> = ids.into_iter().zip(numbers).collect();
        self.threads_synchronise(&marks, &found);
        self.objects_synchronise(&marks);
        for id in pruned.cells.reads.ids() {
            if self.is_interrupted() {
                return marks;
            }
            let (cell, linked) = (pruned.cells.reads[id], found.sources.remove(&id));
            let linked = linked.or_else(|| pruned.may_copy[id].is_some().then(Vec::new));
            self.atomic_read(pruned, (&cell, linked), &numbers, &mut marks);
        }
        for cell in &pruned.cells.known_reads {
            self.atomic_read(pruned, (cell, None), &numbers, &mut marks);
        }
        self.stores_go_on(pruned, &numbers, &marks);
        marks
    }

    fn threads_synchronise(&mut self, marks: &HappensBefore, found: &Synchronisation) {
        for thread in self.bounded.skeleton.threads.ids() {
            let thread = &self.bounded.skeleton.threads[thread];
            if let Some((node, _)) = thread.spawned {
                let (node, first) = (self.nodes[node], self.nodes[thread.first]);
                marks.synchronises(&mut self.solver, Lit::TRUE, node, first);
            }
        }
        for &(joined, last, node) in &found.joins {
            marks.synchronises(&mut self.solver, joined, last, node);
        }
    }

    /// What was released at a synchronisation object happens before every later step that takes it.
    fn objects_synchronise(&mut self, marks: &HappensBefore) {
        let program = self.bounded.facts.program;
        let (mut releases, mut takes) = (Vec::new(), Vec::new());
        for (id, event) in self.bounded.skeleton.events.iter_enumerated() {
            if event.is_plain || event.role == Role::Inspect || event.thread == self.bounded.skeleton.no_thread() {
                continue;
            }
            let Some(Op::Sync { op, .. }) = op_at(program, event.place) else { continue };
            match op.synchronises() {
                Synchronises::Nothing => {}
                Synchronises::Releases => releases.push(id),
                Synchronises::Acquires => takes.push((id, false)),
                Synchronises::TriesToAcquire => takes.push((id, true)),
            }
        }
        for &from in &releases {
            for &(to, tries) in &takes {
                if self.is_interrupted() {
                    return;
                }
                self.object_synchronises(marks, from, to, tries);
            }
        }
    }

    fn object_synchronises(&mut self, marks: &HappensBefore, from: EventId, to: EventId, tries: bool) {
        let events = &self.bounded.skeleton.events;
        let (released, taken) = (&events[from], &events[to]);
        if released.thread == taken.thread || !released.targets.intersects(&taken.targets) {
            return;
        }
        let terms = &mut self.bounded.terms;
        let mut same = Vec::new();
        for one in &released.writes {
            for other in taken.reads.iter().filter(|other| other.bytes == one.bytes) {
                same.push(terms.eq(one.address, other.address));
            }
        }
        let same = terms.or(&same);
        let mut conditions = vec![same, released.occurs, taken.occurs];
        if tries {
            let written: Vec<Term> = taken.writes.iter().map(|unit| unit.condition).collect();
            conditions.push(terms.or(&written));
        }
        let condition = terms.and(&conditions);
        let (first, second) = (released.node, taken.node);
        if let Some(guard) = self.happened_before(condition, first, second) {
            let (first, second) = (self.node(first), self.node(second));
            marks.synchronises(&mut self.solver, guard, first, second);
        }
    }

    /// An atomic read: what it acquires, and which release sequences its update goes on with. `linked`: the writes that it
    /// is linked to, if it is.
    fn atomic_read(
        &mut self,
        pruned: &Pruned,
        (cell, linked): (&AccessCell, Option<Vec<(WriteId, Lit)>>),
        numbers: &FxHashMap<WriteId, WriteNumber>,
        marks: &mut HappensBefore,
    ) {
        let event = &self.bounded.skeleton.events[cell.event];
        if !event.is_plain || !event.is_atomic {
            return;
        }
        let (success, failure) = orders(self.bounded.facts.program, event);
        let node = self.node(event.node);
        let written: Vec<Term> = event.writes.iter().map(|unit| unit.condition).collect();
        let written = self.bounded.terms.or(&written);
        let acquires = match (success.acquires(), failure.acquires()) {
            (true, true) => Lit::TRUE,
            (false, false) => Lit::FALSE,
            (true, false) => self.literal(written),
            (false, true) => !self.literal(written),
        };
        // The cell of the same event that the update writes.
        let update = self.update_of(pruned, cell).and_then(|write| numbers.get(&write).copied());
        let update = update.filter(|number| marks.may_go_on(*number));
        if acquires == Lit::FALSE && !marks.is_before_fence(node) && update.is_none() {
            return;
        }
        let linked = match linked {
            Some(linked) => linked,
            None => self.sources_of(pruned, cell),
        };
        let sources: Vec<Source> =
            linked.into_iter().filter_map(|(write, lit)| Some((*numbers.get(&write)?, lit))).collect();
        if let Some(update) = update {
            marks.goes_on(&mut self.solver, update, &sources);
        }
        marks.read(&mut self.solver, node, cell.event.index(), acquires, &sources);
    }

    fn update_of(&self, pruned: &Pruned, read: &AccessCell) -> Option<WriteId> {
        let event = &self.bounded.skeleton.events[read.event];
        if event.in_section || event.writes.is_empty() {
            return None;
        }
        let first = pruned.cells.writes.as_slice().partition_point(|write| write.event < read.event);
        let own = pruned.cells.writes.iter_enumerated().skip(first).take_while(|(_, write)| write.event == read.event);
        let mut own = own.filter(|(_, write)| write.unit.address == read.unit.address);
        own.next().map(|(id, _)| id)
    }

    /// Links a read, or a write as if it read first, to all writes that it may copy. Nothing is said of values.
    fn sources_of(&mut self, pruned: &Pruned, cell: &AccessCell) -> Vec<(WriteId, Lit)> {
        let node = self.bounded.skeleton.events[cell.event].node;
        let reader = leno_axioms::Event { node: self.node(node), occurs: self.literal(cell.occurs) };
        let mut sources = Sources::new(&mut self.solver, Encoding::Composition, reader);
        let mut found = Vec::new();
        for (id, write) in pruned.cells.writes.iter_enumerated() {
            let events = &self.bounded.skeleton.events;
            if events[write.event].node == node
                || write.unit.bytes != cell.unit.bytes
                || !events[write.event].targets.intersects(&events[cell.event].targets)
            {
                continue;
            }
            let candidate = self.write(cell, write);
            if candidate.hit != Lit::FALSE {
                sources.may_copy(&mut self.solver, candidate, |_, source| found.push((id, source)));
            }
        }
        sources.may_be_initial(&mut self.solver, self.initial, |_, _| {});
        sources.finish(&mut self.solver, &Unknown);
        found
    }

    /// Stores that go on with what their thread has released before at the same place.
    fn stores_go_on(&mut self, pruned: &Pruned, numbers: &FxHashMap<WriteId, WriteNumber>, marks: &HappensBefore) {
        for (id, cell) in pruned.cells.writes.iter_enumerated() {
            let event = &self.bounded.skeleton.events[cell.event];
            let Some(&number) = numbers.get(&id).filter(|number| marks.may_go_on(**number)) else { continue };
            if !event.reads.is_empty() || event.in_section || !self.may_have_begun(pruned, numbers, id) {
                continue;
            }
            if self.is_interrupted() {
                return;
            }
            let sources = self.sources_of(pruned, cell).into_iter();
            let sources: Vec<Source> = sources.filter_map(|(write, lit)| Some((*numbers.get(&write)?, lit))).collect();
            marks.goes_on(&mut self.solver, number, &sources);
        }
    }

    /// Whether an earlier atomic write of the same thread may be at the same place.
    fn may_have_begun(&self, pruned: &Pruned, numbers: &FxHashMap<WriteId, WriteNumber>, id: WriteId) -> bool {
        let cells = &pruned.cells.writes;
        let event = &self.bounded.skeleton.events[cells[id].event];
        let earlier = cells.iter_enumerated().take_while(|(other, _)| *other < id);
        let mut earlier = earlier.filter(|(other, _)| numbers.contains_key(other));
        earlier.any(|(_, write)| {
            let other = &self.bounded.skeleton.events[write.event];
            other.thread == event.thread && other.targets.intersects(&event.targets)
        })
    }
}
