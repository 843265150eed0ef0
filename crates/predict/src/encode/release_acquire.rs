//! Races that the orders of atomics leave open: what synchronises with what in a run, for
//! `leno_axioms::happens_before`. The staged engine asks the same of its skeletons.

use crate::encode::Encoded;
use crate::program::event::{Event, EventId, Fences, Kind, TraceProgram};
use crate::walk::listener::Location;
use crate::walk::sharing_pass::PieceId;
use leno_axioms::guards::all;
use leno_axioms::happens_before::{Fence, GoesOn, HappensBefore, Source, Write, WriteNumber};
use leno_ir::interp::Synchronises;
use leno_ir::program::{Body, Op, Order, Place, Program};
use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_trace::ThreadIndex;
use std::collections::BTreeMap;

/// By read: the writes that it may copy, and the literals that it does.
pub(crate) type ReadSources = BTreeMap<(EventId, PieceId), Vec<(EventId, Lit)>>;

/// A write is known by its event and the piece of memory.
type Numbers = BTreeMap<(EventId, PieceId), WriteNumber>;

fn op_at(program: &Program, place: Place) -> Option<&Op> {
    let Body::Blocks(blocks) = &program.functions.get(place.func)?.body else { return None };
    blocks.get(place.block)?.instrs.get(place.index as usize).map(|instr| &instr.op)
}

/// The order of an atomic access, and that of a compare-exchange that fails.
fn orders(program: &Program, event: &Event) -> (Order, Order) {
    if event.section.is_some() {
        return (Order::SeqCst, Order::SeqCst);
    }
    match op_at(program, event.place) {
        Some(Op::CompareExchange { at, failure, .. }) => (at.order, *failure),
        Some(op) => op.access().map_or((Order::SeqCst, Order::SeqCst), |(access, _)| (access.order, access.order)),
        None => (Order::SeqCst, Order::SeqCst),
    }
}

/// Whether accesses of this event are atomic, in the memory of the program.
fn is_atomic(event: &Event) -> bool {
    match event.kind {
        Kind::Access { atomic, is_plain, .. } => is_plain && (atomic || event.section.is_some()),
        _ => false,
    }
}

impl Encoded {
    /// Everything that orders accesses. `sources` were noted when reads were linked.
    pub(crate) fn add_release_acquire(&mut self, program: &Program, ctp: &TraceProgram) {
        let sources = self.sources.take().unwrap_or_default();
        let kept: BTreeMap<ThreadIndex, Vec<EventId>> = self.slice.kept.clone();
        let mut threads = Vec::new();
        let mut fences = Vec::new();
        for events in kept.values() {
            let mut nodes: Vec<Node> = events.iter().map(|id| self.node(*id)).collect();
            nodes.dedup();
            threads.push(nodes);
            for pair in events.windows(2) {
                let between = self.fences_between(ctp, pair[0], pair[1]);
                let (before, node) = (self.node(pair[0]), self.node(pair[1]));
                let Fences { acquires, releases, releases_acquired } = between;
                if acquires || releases {
                    fences.push(Fence { before, node, occurs: Lit::TRUE, acquires, releases, releases_acquired });
                }
            }
        }
        let (mut keys, mut writes) = (Vec::new(), Vec::new());
        for (number, events) in kept.values().enumerate() {
            for &id in events.iter().filter(|id| is_atomic(ctp.event(**id))) {
                let event = ctp.event(id);
                let Kind::Access { reads, writes: written, .. } = &event.kind else { continue };
                let is_update = event.section.is_none() && !reads.is_empty();
                let goes_on = if is_update { GoesOn::WithAll } else { GoesOn::WithItsThreads };
                let releases = orders(program, event).0.releases();
                for write in written {
                    keys.push((id, write.piece));
                    writes.push(Write { node: self.node(id), thread: number, releases, goes_on });
                }
            }
        }
        let (mut marks, numbers) = HappensBefore::new(&mut self.solver, &threads, &fences, &writes);
        let numbers: Numbers = keys.into_iter().zip(numbers).collect();
        self.threads_synchronise(ctp, &kept, &marks);
        self.objects_synchronise(program, ctp, &kept, &marks);
        for &id in kept.values().flatten() {
            self.atomic_reads(program, ctp, (&sources, &numbers), &mut marks, id);
        }
        self.stores_go_on(ctp, &kept, &numbers, &marks);
        self.marks = Some(marks);
    }

    /// The fences of a thread between two of its events.
    fn fences_between(&self, ctp: &TraceProgram, first: EventId, second: EventId) -> Fences {
        let (from, to) = (ctp.event(first).index + 1, ctp.event(second).index);
        let events = ctp.threads.get(&ctp.event(second).thread).map_or(&[][..], |thread| thread.events.as_slice());
        let between = (from..=to).filter_map(|index| events.get(index as usize));
        between.fold(Fences::default(), |fences, id| fences.then(ctp.event(*id).fences))
    }

    fn threads_synchronise(
        &mut self,
        ctp: &TraceProgram,
        kept: &BTreeMap<ThreadIndex, Vec<EventId>>,
        marks: &HappensBefore,
    ) {
        let first = |thread: &ThreadIndex| kept.get(thread).and_then(|events| events.first());
        let last = |thread: &ThreadIndex| kept.get(thread).and_then(|events| events.last());
        for &id in kept.values().flatten() {
            let edge = match &ctp.event(id).kind {
                Kind::Spawn { child } => first(child).map(|start| (self.node(id), self.node(*start))),
                Kind::Join { child } => last(child).map(|end| (self.node(*end), self.node(id))),
                _ => None,
            };
            if let Some((from, to)) = edge {
                marks.synchronises(&mut self.solver, Lit::TRUE, from, to);
            }
        }
    }

    /// What was released at a synchronisation object happens before every later step that takes it.
    fn objects_synchronise(
        &mut self,
        program: &Program,
        ctp: &TraceProgram,
        kept: &BTreeMap<ThreadIndex, Vec<EventId>>,
        marks: &HappensBefore,
    ) {
        let mut releases: BTreeMap<Location, Vec<EventId>> = BTreeMap::new();
        let mut takes: Vec<(Location, EventId, Lit)> = Vec::new();
        for &id in kept.values().flatten() {
            match &ctp.event(id).kind {
                Kind::Acquire { lock, .. } => takes.push((*lock, id, Lit::TRUE)),
                Kind::Try { lock, taken, .. } => {
                    let taken = self.solver.literal(&ctp.terms, taken.is_true);
                    takes.push((*lock, id, taken));
                }
                Kind::Release { lock } => releases.entry(*lock).or_default().push(id),
                Kind::Access { is_plain: false, reads, writes, .. } => {
                    let piece = reads.first().map(|read| read.piece).or(writes.first().map(|write| write.piece));
                    let Some(at) = piece.map(|piece| ctp.pieces[piece].at) else { continue };
                    let Some(Op::Sync { op, .. }) = op_at(program, ctp.event(id).place) else { continue };
                    match op.synchronises() {
                        Synchronises::Nothing => {}
                        Synchronises::Releases => releases.entry(at).or_default().push(id),
                        Synchronises::Acquires => takes.push((at, id, Lit::TRUE)),
                        Synchronises::TriesToAcquire => {
                            let condition = writes.first().map(|write| write.condition);
                            let taken = condition.map(|condition| self.solver.literal(&ctp.terms, condition));
                            takes.extend(taken.map(|taken| (at, id, taken)));
                        }
                    }
                }
                _ => {}
            }
        }
        for (release, acquire) in self.outside_pairs(ctp) {
            let (from, to) = (self.node(release), self.node(acquire));
            let happen = [self.done(release), self.done(acquire)];
            let guard = all(&mut self.solver, happen);
            marks.synchronises(&mut self.solver, guard, from, to);
        }
        for (at, taken, condition) in takes {
            for &released in releases.get(&at).into_iter().flatten() {
                if ctp.event(released).thread != ctp.event(taken).thread {
                    let order = self.precedes(ctp, released, taken);
                    let happen = [self.done(released), self.done(taken), condition, order];
                    let guard = all(&mut self.solver, happen);
                    let (from, to) = (self.node(released), self.node(taken));
                    marks.synchronises(&mut self.solver, guard, from, to);
                }
            }
        }
    }

    fn atomic_reads(
        &mut self,
        program: &Program,
        ctp: &TraceProgram,
        (sources, numbers): (&ReadSources, &Numbers),
        marks: &mut HappensBefore,
        id: EventId,
    ) {
        let event = ctp.event(id);
        let Kind::Access { reads, writes, .. } = &event.kind else { return };
        if !is_atomic(event) {
            return;
        }
        let (success, failure) = orders(program, event);
        let written = writes.first().map_or(Lit::FALSE, |write| self.solver.literal(&ctp.terms, write.condition));
        let acquires = match (success.acquires(), failure.acquires()) {
            (true, true) => Lit::TRUE,
            (false, false) => Lit::FALSE,
            (true, false) => written,
            (false, true) => !written,
        };
        for read in reads {
            let key = (id, read.piece);
            let found: Vec<Source> = (sources.get(&key).into_iter().flatten())
                .filter_map(|(write, copies)| Some((*numbers.get(&(*write, read.piece))?, *copies)))
                .collect();
            if let Some(update) =
                numbers.get(&key).filter(|number| event.section.is_none() && marks.may_go_on(**number))
            {
                marks.goes_on(&mut self.solver, *update, &found);
            }
            let node = self.node(id);
            marks.read(&mut self.solver, node, event.index as usize, acquires, &found);
        }
    }

    /// Stores that go on with what their thread has released before at the same place.
    fn stores_go_on(
        &mut self,
        ctp: &TraceProgram,
        kept: &BTreeMap<ThreadIndex, Vec<EventId>>,
        numbers: &Numbers,
        marks: &HappensBefore,
    ) {
        for events in kept.values() {
            let mut written: Vec<PieceId> = Vec::new();
            for &id in events.iter().filter(|id| is_atomic(ctp.event(**id))) {
                let event = ctp.event(id);
                let Kind::Access { reads, writes, .. } = &event.kind else { continue };
                for write in writes {
                    let number = numbers.get(&(id, write.piece)).filter(|number| marks.may_go_on(**number));
                    if let (Some(number), true, None) = (number, reads.is_empty(), event.section)
                        && written.contains(&write.piece)
                    {
                        let sources = self.sources_of_store(ctp, id, write.piece);
                        let sources: Vec<Source> = (sources.into_iter())
                            .filter_map(|(other, lit)| Some((*numbers.get(&(other, write.piece))?, lit)))
                            .collect();
                        marks.goes_on(&mut self.solver, *number, &sources);
                    }
                    written.push(write.piece);
                }
            }
        }
    }

    /// The literals of a race of two events: the first has happened, and does not happen before the second, which its
    /// thread is about to execute.
    pub(crate) fn is_unordered(&mut self, ctp: &TraceProgram, selected: Lit, first: EventId, second: EventId) {
        let Some(marks) = self.marks.take() else { return };
        let event = ctp.event(second);
        let before = self.slice.kept.get(&event.thread).map_or(&[][..], Vec::as_slice);
        let last = before.iter().rev().find(|id| ctp.event(**id).index < event.index).copied();
        let acquires = last.is_some_and(|last| self.fences_between(ctp, last, second).acquires);
        let (first, last) = (self.node(first), last.map(|last| self.node(last)));
        marks.stands_unordered(&mut self.solver, selected, first, last, acquires);
        self.marks = Some(marks);
    }
}
