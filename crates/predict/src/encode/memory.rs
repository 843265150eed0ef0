//! Φ_PI: every read that happens has one source, a write that may be the last one before it.

use crate::encode::Encoded;
use crate::encode::causal_model::Model;
use crate::program::event::{EventId, Kind, Read, TraceProgram};
use crate::walk::sharing_pass::PieceId;
use leno_axioms::Event;
use leno_axioms::guards::both;
use leno_axioms::reads_from::{Sources, Write};
use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_logic::term::Term;
use leno_trace::ThreadIndex;
use std::collections::BTreeMap;

/// A write that a read may see.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    event: EventId,
    value: Term,
    condition: Term,
}

/// The writes to each piece of memory by each thread, in order.
pub(super) type Candidates = BTreeMap<PieceId, BTreeMap<ThreadIndex, Vec<Candidate>>>;

impl Encoded {
    pub(super) fn memory(&mut self, ctp: &mut TraceProgram, model: Model) {
        self.collect_writes(ctp);
        let events: Vec<EventId> = self.slice.kept.values().flatten().copied().collect();
        for id in events {
            let Kind::Access { reads, is_plain, .. } = &ctp.event(id).kind else { continue };
            let (mut reads, is_plain) = (reads.clone(), *is_plain);
            reads.retain(|read| self.slice.variables.contains(&read.value));
            for read in &reads {
                if ctp.opaque[read.piece] {
                    let pin = self.pin(ctp, read);
                    self.solver.add_clause(&[!self.done(id), pin]);
                    continue;
                }
                if model != Model::Symbolic && is_plain {
                    let (pin, free) = (self.pin(ctp, read), self.solver.new_literal());
                    self.solver.add_clause(&[!free, !self.done(id), pin]);
                    self.pins.push((read.value, free));
                }
                self.link(ctp, id, read);
            }
        }
        self.keep_opaque_orders(ctp);
    }

    fn pin(&mut self, ctp: &mut TraceProgram, read: &Read) -> Lit {
        let width = ctp.terms.width(read.value);
        let was = ctp.terms.bits(width, read.recorded);
        let pin = ctp.terms.eq(read.value, was);
        self.solver.literal(&ctp.terms, pin)
    }

    fn collect_writes(&mut self, ctp: &TraceProgram) {
        for (number, events) in &self.slice.kept {
            for &id in events {
                let Kind::Access { writes, .. } = &ctp.event(id).kind else { continue };
                for write in writes.iter().filter(|write| self.slice.pieces.contains(&write.piece)) {
                    let candidate = Candidate { event: id, value: write.value, condition: write.condition };
                    self.writes.entry(write.piece).or_default().entry(*number).or_default().push(candidate);
                }
            }
        }
    }

    /// The writes that a read may see, and whether it may see what was there at the start.
    fn candidates(&self, ctp: &TraceProgram, id: EventId, piece: PieceId) -> (Vec<Candidate>, bool) {
        let reader = ctp.event(id);
        let (mut found, mut from_start) = (Vec::new(), true);
        let always = ctp.terms.bool(true);
        for (number, writes) in self.writes.get(&piece).into_iter().flatten() {
            let passed = match *number == reader.thread {
                true => None,
                false => Some(ctp.must.passed(reader.thread, reader.point, *number)),
            };
            let is_over = |write: &Candidate| match passed {
                None => ctp.event(write.event).index < reader.index,
                Some(passed) => ctp.event(write.event).point < passed,
            };
            // Of those that are certainly over, the last that always writes hides the others.
            let over = writes.iter().take_while(|write| is_over(write)).count();
            let hides = writes[..over].iter().rposition(|write| write.condition == always);
            from_start &= hides.is_none();
            for write in &writes[hides.unwrap_or(0)..] {
                let event = ctp.event(write.event);
                if write.event == id || (passed.is_none() && event.index > reader.index) {
                    continue;
                }
                if passed.is_some() && ctp.must.is_before((reader.thread, reader.point), (event.thread, event.point)) {
                    break;
                }
                found.push(*write);
            }
        }
        (found, from_start)
    }

    /// Gives a read its sources.
    fn link(&mut self, ctp: &mut TraceProgram, id: EventId, read: &Read) {
        let (candidates, from_start) = self.candidates(ctp, id, read.piece);
        self.link_to(ctp, (Some(id), self.occurrence(id)), read, &candidates, from_start);
    }

    /// The writes that may come right before a store, and the literals that they do.
    pub(super) fn sources_of_store(&mut self, ctp: &TraceProgram, id: EventId, piece: PieceId) -> Vec<(EventId, Lit)> {
        let (candidates, from_start) = self.candidates(ctp, id, piece);
        let store = self.occurrence(id);
        let mut sources = Sources::new(&mut self.solver, self.encoding, store);
        let mut found = Vec::new();
        for (position, write) in candidates.iter().enumerate() {
            let hit = self.hit(ctp, write);
            let node = self.node(write.event);
            sources.may_copy(&mut self.solver, Write { node, hit, position }, |_, source| {
                found.push((write.event, source));
            });
        }
        if from_start {
            sources.may_be_initial(&mut self.solver, self.initial, |_, _| {});
        }
        sources.finish(&mut self.solver, &self.known);
        found
    }

    /// Gives a read in the final state, where `happens` holds, its sources.
    pub(crate) fn link_end(&mut self, ctp: &mut TraceProgram, node: Node, happens: Lit, read: &Read) {
        let writes = self.writes.get(&read.piece).into_iter().flat_map(BTreeMap::values);
        let candidates: Vec<Candidate> = writes.flatten().copied().collect();
        self.link_to(ctp, (None, Event { node, occurs: happens }), read, &candidates, true);
    }

    /// A node behind all others.
    pub(crate) fn final_node(&mut self) -> Node {
        let chain = self.solver.add_chain();
        let node = self.solver.add_node(chain);
        let ends: Vec<Node> =
            self.slice.kept.values().filter_map(|events| events.last()).map(|id| self.node(*id)).collect();
        for end in ends {
            self.solver.add_edge(end, node);
        }
        self.solver.add_edge(self.initial, node);
        node
    }

    /// `candidates` are in order for each thread.
    fn link_to(
        &mut self,
        ctp: &mut TraceProgram,
        (id, reader): (Option<EventId>, Event),
        read: &Read,
        candidates: &[Candidate],
        from_start: bool,
    ) {
        let is_always = |ctp: &TraceProgram, write: &Candidate| ctp.terms.as_bool(write.condition) == Some(true);
        // Writes of the same moment, earlier in the section.
        let (own, others): (Vec<&Candidate>, Vec<&Candidate>) =
            candidates.iter().partition(|write| self.node(write.event) == reader.node);
        if let Some(write) = own.last().filter(|write| is_always(ctp, write)) {
            return self.solver.equal_if(&mut ctp.terms, reader.occurs, read.value, write.value);
        }
        let mut sources = Sources::new(&mut self.solver, self.encoding, reader);
        for write in own.into_iter().rev() {
            let hit = self.hit(ctp, write);
            sources.own_write(&mut self.solver, hit, |solver, source| {
                solver.equal_if(&mut ctp.terms, source, read.value, write.value);
            });
            if is_always(ctp, write) {
                return sources.finish(&mut self.solver, &self.known);
            }
        }
        for (position, &write) in others.iter().enumerate() {
            // Of several writes of one moment, the last that always writes hides those before it.
            let node = self.node(write.event);
            let mut later = others[position + 1..].iter().take_while(|other| self.node(other.event) == node);
            if later.any(|other| is_always(ctp, other)) {
                continue;
            }
            let hit = self.hit(ctp, write);
            if hit == Lit::FALSE {
                continue;
            }
            let noted = &mut self.sources;
            sources.may_copy(&mut self.solver, Write { node, hit, position }, |solver, source| {
                if let (Some(id), Some(noted)) = (id, noted) {
                    noted.entry((id, read.piece)).or_default().push((write.event, source));
                }
                solver.equal_if(&mut ctp.terms, source, read.value, write.value);
            });
            self.links += 1;
        }
        let initial = ctp.pieces.get(read.piece).and_then(|piece| piece.initial);
        if let Some(value) = initial.filter(|_| from_start) {
            let width = ctp.terms.width(read.value);
            let value = ctp.terms.bits(width, value);
            sources.may_be_initial(&mut self.solver, self.initial, |solver, source| {
                solver.equal_if(&mut ctp.terms, source, read.value, value);
            });
        }
        sources.finish(&mut self.solver, &self.known);
    }

    /// What has to hold for an event to write to a piece.
    pub(crate) fn writes_to(&mut self, ctp: &TraceProgram, id: EventId, piece: PieceId) -> Option<Lit> {
        let Kind::Access { writes, .. } = &ctp.event(id).kind else { return None };
        let write = writes.iter().find(|write| write.piece == piece)?;
        Some(self.solver.literal(&ctp.terms, write.condition))
    }

    /// A write happens, and writes.
    fn hit(&mut self, ctp: &TraceProgram, write: &Candidate) -> Lit {
        let condition = self.solver.literal(&ctp.terms, write.condition);
        let happens = self.done(write.event);
        both(&mut self.solver, condition, happens)
    }

    /// Memory that is written from outside of the program keeps its contents: its accesses keep their order.
    fn keep_opaque_orders(&mut self, ctp: &TraceProgram) {
        let mut by_piece: BTreeMap<PieceId, Vec<EventId>> = BTreeMap::new();
        for &id in self.slice.kept.values().flatten() {
            let Kind::Access { reads, writes, .. } = &ctp.event(id).kind else { continue };
            let pieces = reads.iter().map(|read| read.piece).chain(writes.iter().map(|write| write.piece));
            for piece in pieces.filter(|piece| ctp.opaque[*piece]) {
                by_piece.entry(piece).or_default().push(id);
            }
        }
        for events in by_piece.into_values() {
            self.keep_order(ctp, events, Lit::TRUE);
        }
    }
}
