//! The question to the solver: Φ_PO ∧ Φ_VD ∧ Φ_PI ∧ ¬Φ_PRP (paper 003, section 4).
//!
//! A thread makes a beginning of its recorded events: each event has a literal that says that it *happens*, which implies that the
//! one before it on its thread does, and that its guard holds. So a violation need not be followed by the rest of the run, and a
//! thread may come to a branch that goes the other way, as long as nothing after it is needed.
//!
//! | in the paper | here |
//! |---|---|
//! | Φ_PO | threads are chains of the theory of order |
//! | Φ_VD | definitions are terms: there is nothing to say |
//! | Φ_PI | `memory`: every read that happens has one source |
//! | ¬Φ_PRP | a literal for each target, one of which holds |
//!
//! Locks are not variables that are counted down and up: two sections of one lock exclude each other, which is two edges. Semaphores,
//! barriers and once flags are numbers that are updated in one step, as in the paper.
//!
//! There are two ways to say Φ_PI. *Composition* leaves who comes between a write and its read to the theory of order, as the
//! staged engine does. *CSSA* writes it out with a happens-before literal for every pair, as the paper does, leaving out those that are
//! the same in all orders.

use crate::event::{Event, EventId, Kind, Read, TraceProgram};
use crate::model::Model;
use crate::slice::{Slice, Wanted, slice};
use crate::stuck::Stuck;
use crate::survey::PieceId;
use crate::walk::Location;
use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_logic::solver::Solver;
use leno_logic::term::Term;
use std::collections::BTreeMap;

/// How Φ_PI is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Encoding {
    #[default]
    Composition,
    Cssa,
}

/// A write that a read may see.
#[derive(Clone, Copy)]
struct Candidate {
    event: EventId,
    value: Term,
    condition: Term,
}

/// A trace program in the solver.
pub struct Encoded {
    pub solver: Solver,
    pub encoding: Encoding,
    pub slice: Slice,
    /// By event: its node, and whether it happens.
    nodes: Vec<Option<(Node, Lit)>>,
    initial: Node,
    /// The literal that makes an atomic section the last thing that happens.
    sections: BTreeMap<u32, Lit>,
    writes: BTreeMap<PieceId, BTreeMap<u32, Vec<Candidate>>>,
    /// For models that know only what was seen: each read that matters, and the literal that pins it to what it was.
    pub pins: Vec<(Term, Lit)>,
    /// Holds the order of reads after writes, in the model that keeps it.
    pub raw: Option<Lit>,
    /// Pairs of a read and a write that may be linked.
    pub links: usize,
    pub(crate) signals: Signals,
    pub(crate) stuck: Stuck,
}

/// The signals of condition variables, and what they may do.
#[derive(Default)]
pub(crate) struct Signals {
    /// By condition: the signals, and whether they wake all who sleep.
    pub given: BTreeMap<Location, Vec<(EventId, bool)>>,
    /// By the end of a sleep: its beginning.
    pub sleeps: BTreeMap<EventId, EventId>,
    /// By signal: whose waking up it may be, and the literal that it is.
    pub taken: BTreeMap<EventId, Vec<(EventId, Lit)>>,
}

/// Who reads: an event, or nobody in particular, when everything is over.
#[derive(Clone, Copy)]
struct Reader {
    event: Option<EventId>,
    node: Node,
    happens: Lit,
}

impl Encoded {
    /// Everything but the questions. `seeds` are the terms that questions depend on.
    pub fn new(ctp: &mut TraceProgram, seeds: &[Term], wanted: &Wanted, model: Model, encoding: Encoding) -> Encoded {
        let slice = slice(ctp, seeds, wanted);
        let mut solver = Solver::default();
        let start = solver.add_chain();
        let initial = solver.add_node(start);
        let mut encoded = Encoded {
            solver,
            encoding,
            slice,
            nodes: vec![None; ctp.events.len()],
            initial,
            sections: BTreeMap::new(),
            writes: BTreeMap::new(),
            pins: Vec::new(),
            raw: None,
            links: 0,
            signals: Signals::default(),
            stuck: Stuck::default(),
        };
        encoded.add_nodes(ctp);
        encoded.program_order(ctp);
        encoded.already_begun(ctp);
        encoded.memory(ctp, model);
        encoded.locks(ctp);
        encoded.conditions(ctp);
        if model == Model::HappensBefore {
            encoded.happens_before(ctp);
        }
        encoded
    }

    /// The order of events that happen in the model that the solver has found.
    pub fn schedule(&mut self) -> Vec<EventId> {
        let mut at: BTreeMap<Node, Vec<EventId>> = BTreeMap::new();
        for kept in self.slice.kept.values() {
            for &id in kept {
                if let Some((node, _)) = self.nodes[id.0 as usize] {
                    at.entry(node).or_default().push(id);
                }
            }
        }
        let line = self.solver.line().to_vec();
        let events: Vec<EventId> = line.iter().filter_map(|node| at.get(node)).flatten().copied().collect();
        events.into_iter().filter(|id| self.happens(*id).is_some_and(|lit| self.solver.value(lit))).collect()
    }

    /// All nodes, and whether they happen: for bounds on switches.
    pub fn all_nodes(&self) -> Vec<(Node, Lit)> {
        let mut all: Vec<(Node, Lit)> = Vec::new();
        for id in self.slice.kept.values().flatten() {
            all.extend(self.nodes[id.0 as usize]);
        }
        all.dedup_by_key(|(node, _)| *node);
        all
    }

    pub fn happens(&self, id: EventId) -> Option<Lit> {
        self.nodes[id.0 as usize].map(|(_, happens)| happens)
    }

    fn node(&self, id: EventId) -> Node {
        self.nodes[id.0 as usize].map_or(self.initial, |(node, _)| node)
    }

    pub(crate) fn done(&self, id: EventId) -> Lit {
        self.happens(id).unwrap_or(Lit::TRUE)
    }

    // --- Φ_PO

    fn add_nodes(&mut self, ctp: &TraceProgram) {
        for kept in self.slice.kept.values() {
            let chain = self.solver.add_chain();
            let mut section: Option<(u32, Node)> = None;
            for &id in kept {
                let event = ctp.event(id);
                let node = match (event.section, section) {
                    (Some(number), Some((last, node))) if number == last => node,
                    _ => self.solver.add_node(chain),
                };
                section = event.section.map(|number| (number, node));
                self.nodes[id.0 as usize] = Some((node, self.solver.new_literal()));
            }
        }
    }

    fn program_order(&mut self, ctp: &mut TraceProgram) {
        let kept = self.slice.kept.clone();
        let spawns: BTreeMap<u32, EventId> = kept
            .values()
            .flatten()
            .filter_map(|id| match ctp.event(*id).kind {
                Kind::Spawn { child } => Some((child, *id)),
                _ => None,
            })
            .collect();
        let finishes: BTreeMap<u32, EventId> = kept
            .values()
            .flatten()
            .filter(|id| matches!(ctp.event(**id).kind, Kind::Finish))
            .map(|id| (ctp.event(*id).thread, *id))
            .collect();
        for events in kept.values() {
            let mut last: Option<EventId> = None;
            for &id in events {
                self.thread_order(ctp, last, id);
                if ctp.event(id).pending {
                    let never = !self.done(id);
                    self.solver.add_clause(&[never]);
                }
                match ctp.event(id).kind {
                    Kind::Start => {
                        if let Some(&spawn) = spawns.get(&ctp.event(id).thread) {
                            self.add_order(spawn, id);
                        }
                    }
                    Kind::Join { child } => {
                        if let Some(&finish) = finishes.get(&child) {
                            self.add_order(finish, id);
                        }
                    }
                    // Nothing is looked for after the end of the process.
                    Kind::Exit => {
                        let never = !self.done(id);
                        self.solver.add_clause(&[never]);
                    }
                    _ => {}
                }
                last = Some(id);
            }
            if let Some(first) = events.first() {
                let first = self.node(*first);
                self.solver.add_edge(self.initial, first);
            }
        }
    }

    /// An event comes after another, and needs it.
    fn add_order(&mut self, first: EventId, second: EventId) {
        self.solver.add_edge(self.node(first), self.node(second));
        self.solver.add_clause(&[!self.done(second), self.done(first)]);
    }

    /// What an event needs: the one before it, and its guard, which includes those of events that were left out between them.
    fn thread_order(&mut self, ctp: &mut TraceProgram, last: Option<EventId>, id: EventId) {
        let happens = self.done(id);
        let guard = guard_up_to(ctp, last, id);
        if ctp.terms.as_bool(guard) != Some(true) {
            let guard = self.solver.literal(&ctp.terms, guard);
            self.solver.add_clause(&[!happens, guard]);
        }
        let Some(last) = last else { return };
        self.solver.add_clause(&[!happens, self.done(last)]);
        let (before, here) = (ctp.event(last).section, ctp.event(id).section);
        if let (Some(section), true) = (here, before == here) {
            let is_last = self.section_is_last(section, ctp, id);
            self.solver.add_clause(&[!self.done(last), happens, is_last]);
        }
    }

    /// The literal under which nothing comes after an atomic section: only then may it end halfway.
    fn section_is_last(&mut self, section: u32, ctp: &TraceProgram, id: EventId) -> Lit {
        if let Some(&lit) = self.sections.get(&section) {
            return lit;
        }
        let lit = self.solver.new_literal();
        self.sections.insert(section, lit);
        let (thread, node) = (ctp.event(id).thread, self.node(id));
        for (number, events) in self.slice.kept.clone() {
            for other in events {
                if number == thread {
                    continue;
                }
                let guard = self.solver.new_literal();
                self.solver.add_clause(&[!lit, !self.done(other), guard]);
                self.solver.add_guarded_edge(guard, self.node(other), node);
            }
        }
        lit
    }

    /// In a window, some events are over when it begins.
    fn already_begun(&mut self, ctp: &TraceProgram) {
        let kept = self.slice.kept.clone();
        for (number, events) in &kept {
            let begun = ctp.begun.get(number).copied().unwrap_or(0);
            for &id in events.iter().filter(|id| ctp.event(**id).index < begun) {
                let happens = self.done(id);
                self.solver.add_clause(&[happens]);
                for (other, theirs) in &kept {
                    let over = ctp.begun.get(other).copied().unwrap_or(0);
                    let first = theirs.iter().find(|id| ctp.event(**id).index >= over);
                    if let (Some(first), true) = (first, other != number) {
                        self.solver.add_edge(self.node(id), self.node(*first));
                    }
                }
            }
        }
    }

    // --- Φ_PI

    fn memory(&mut self, ctp: &mut TraceProgram, model: Model) {
        self.collect_writes(ctp);
        let events: Vec<EventId> = self.slice.kept.values().flatten().copied().collect();
        for id in events {
            let Kind::Access { reads, is_plain, .. } = &ctp.event(id).kind else { continue };
            let (mut reads, is_plain) = (reads.clone(), *is_plain);
            reads.retain(|read| self.slice.variables.contains(&read.value));
            for read in &reads {
                if ctp.opaque[read.piece.0 as usize] {
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
        let reader = Reader { event: Some(id), node: self.node(id), happens: self.done(id) };
        self.link_to(ctp, reader, read, &candidates, from_start);
    }

    /// Gives a read that comes after everything its sources.
    pub(crate) fn link_end(&mut self, ctp: &mut TraceProgram, happens: Lit, read: &Read) {
        let chain = self.solver.add_chain();
        let node = self.solver.add_node(chain);
        let ends: Vec<Node> =
            self.slice.kept.values().filter_map(|events| events.last()).map(|id| self.node(*id)).collect();
        for end in ends {
            self.solver.add_edge(end, node);
        }
        self.solver.add_edge(self.initial, node);
        let candidates: Vec<Candidate> =
            self.writes.get(&read.piece).into_iter().flat_map(BTreeMap::values).flatten().copied().collect();
        self.link_to(ctp, Reader { event: None, node, happens }, read, &candidates, true);
    }

    fn link_to(
        &mut self,
        ctp: &mut TraceProgram,
        reader: Reader,
        read: &Read,
        candidates: &[Candidate],
        from_start: bool,
    ) {
        let Reader { node, happens, .. } = reader;
        // A write of the same moment, earlier in the section, is what is read.
        let same = candidates.iter().rev().find(|write| self.node(write.event) == node).copied();
        if let Some(write) = same {
            let value = match ctp.terms.as_bool(write.condition) {
                Some(true) => write.value,
                _ => read.value,
            };
            let equal = ctp.terms.eq(read.value, value);
            let equal = self.solver.literal(&ctp.terms, equal);
            self.solver.add_clause(&[!happens, equal]);
            return;
        }
        let mut sources = vec![!happens];
        let mut linked: Vec<(Candidate, Lit, Lit)> = Vec::new();
        for (index, &write) in candidates.iter().enumerate() {
            // Of several writes of one moment, the last that always writes is seen.
            let later = candidates[index + 1..].iter();
            let hidden = later
                .filter(|other| self.node(other.event) == self.node(write.event))
                .any(|other| ctp.terms.as_bool(other.condition) == Some(true));
            if hidden {
                continue;
            }
            let hit = self.hit(ctp, write);
            if hit == Lit::FALSE {
                continue;
            }
            let equal = ctp.terms.eq(read.value, write.value);
            let equal = self.solver.literal(&ctp.terms, equal);
            let source = self.solver.new_literal();
            self.solver.add_clause(&[!source, hit]);
            self.solver.add_clause(&[!source, equal]);
            self.solver.add_clause(&[!source, happens]);
            linked.push((write, source, hit));
            sources.push(source);
            self.links += 1;
        }
        let start = ctp.pieces[read.piece.0 as usize].initial.filter(|_| from_start).map(|value| {
            let width = ctp.terms.width(read.value);
            let value = ctp.terms.bits(width, value);
            let equal = ctp.terms.eq(read.value, value);
            let equal = self.solver.literal(&ctp.terms, equal);
            let source = self.solver.new_literal();
            self.solver.add_clause(&[!source, equal]);
            self.solver.add_clause(&[!source, happens]);
            sources.push(source);
            source
        });
        self.solver.add_clause(&sources);
        match self.encoding {
            Encoding::Composition => self.compose(node, &linked, start),
            Encoding::Cssa => self.write_out(ctp, reader, &linked, start),
        }
    }

    /// What has to hold for an event to write to a piece.
    pub(crate) fn writes_to(&mut self, ctp: &TraceProgram, id: EventId, piece: PieceId) -> Option<Lit> {
        let Kind::Access { writes, .. } = &ctp.event(id).kind else { return None };
        let write = writes.iter().find(|write| write.piece == piece)?;
        Some(self.solver.literal(&ctp.terms, write.condition))
    }

    /// A write happens, and writes.
    fn hit(&mut self, ctp: &TraceProgram, write: Candidate) -> Lit {
        let happens = self.done(write.event);
        match ctp.terms.as_bool(write.condition) {
            Some(true) => happens,
            Some(false) => Lit::FALSE,
            None => {
                let condition = self.solver.literal(&ctp.terms, write.condition);
                let both = self.solver.new_literal();
                self.solver.add_clause(&[!both, condition]);
                self.solver.add_clause(&[!both, happens]);
                self.solver.add_clause(&[both, !condition, !happens]);
                both
            }
        }
    }

    fn compose(&mut self, node: Node, linked: &[(Candidate, Lit, Lit)], start: Option<Lit>) {
        let read = self.solver.add_read(node);
        for &(write, source, hit) in linked {
            let node = self.node(write.event);
            self.solver.add_reads_from(read, source, node);
            self.solver.add_hit(read, hit, node);
        }
        if let Some(start) = start {
            self.solver.add_reads_from(read, start, self.initial);
        }
    }

    fn write_out(&mut self, ctp: &TraceProgram, reader: Reader, linked: &[(Candidate, Lit, Lit)], start: Option<Lit>) {
        for &(write, source, _) in linked {
            let first = reader.event.map_or(Lit::TRUE, |id| self.precedes(ctp, write.event, id));
            self.solver.add_clause(&[!source, first]);
            for &(other, _, hit) in linked.iter().filter(|(other, ..)| other.event != write.event) {
                let before = self.precedes(ctp, other.event, write.event);
                let after = reader.event.map_or(Lit::FALSE, |id| self.precedes(ctp, id, other.event));
                self.solver.add_clause(&[!source, !hit, before, after]);
            }
        }
        if let Some(start) = start {
            for &(other, _, hit) in linked {
                let after = reader.event.map_or(Lit::FALSE, |id| self.precedes(ctp, id, other.event));
                self.solver.add_clause(&[!start, !hit, after]);
            }
        }
    }

    /// HB(first, second), which is a constant where it is the same in all orders.
    pub(crate) fn precedes(&mut self, ctp: &TraceProgram, first: EventId, second: EventId) -> Lit {
        let (a, b) = (ctp.event(first), ctp.event(second));
        if a.thread == b.thread {
            return if a.index < b.index { Lit::TRUE } else { Lit::FALSE };
        }
        if ctp.must_precede(first, second) {
            return Lit::TRUE;
        }
        if ctp.must_precede(second, first) {
            return Lit::FALSE;
        }
        self.solver.before(self.node(first), self.node(second))
    }

    /// What somebody outside of the program writes stays as it was: its accesses keep their order.
    fn keep_opaque_orders(&mut self, ctp: &TraceProgram) {
        let mut by_piece: BTreeMap<PieceId, Vec<EventId>> = BTreeMap::new();
        for &id in self.slice.kept.values().flatten() {
            let Kind::Access { reads, writes, .. } = &ctp.event(id).kind else { continue };
            let pieces = reads.iter().map(|read| read.piece).chain(writes.iter().map(|write| write.piece));
            for piece in pieces.filter(|piece| ctp.opaque[piece.0 as usize]) {
                by_piece.entry(piece).or_default().push(id);
            }
        }
        for events in by_piece.into_values() {
            self.keep_order(ctp, events, Lit::TRUE);
        }
    }

    /// These events come in the order in which they were recorded, if `guard` holds.
    fn keep_order(&mut self, ctp: &TraceProgram, mut events: Vec<EventId>, guard: Lit) {
        events.sort_by_key(|id| ctp.moment(*id));
        events.dedup();
        for pair in events.windows(2) {
            if ctp.event(pair[0]).thread != ctp.event(pair[1]).thread && self.node(pair[0]) != self.node(pair[1]) {
                self.solver.add_guarded_edge(guard, self.node(pair[0]), self.node(pair[1]));
                self.solver.add_clause(&[!guard, !self.done(pair[1]), self.done(pair[0])]);
            }
        }
    }

    // --- synchronisation

    fn locks(&mut self, ctp: &TraceProgram) {
        let (sections, busy) = lock_sections(ctp, &self.slice);
        for (lock, sections) in &sections {
            for (index, first) in sections.iter().enumerate() {
                for second in &sections[index + 1..] {
                    self.exclude(ctp, first, second);
                }
            }
            for attempt in busy.iter().filter(|attempt| attempt.lock == *lock) {
                self.somebody_holds(ctp, attempt, sections);
            }
        }
    }

    /// Two sections of one lock do not overlap.
    fn exclude(&mut self, ctp: &TraceProgram, first: &Section, second: &Section) {
        let thread = |section: &Section| ctp.event(section.acquire).thread;
        if thread(first) == thread(second) || (first.shared && second.shared) {
            return;
        }
        let is_over = |one: &Section, other: &Section| {
            one.release.is_some_and(|release| ctp.must_precede(release, other.acquire))
        };
        if is_over(first, second) || is_over(second, first) {
            return;
        }
        let mut clause = vec![!self.done(first.acquire), !self.done(second.acquire)];
        for (one, other) in [(first, second), (second, first)] {
            let Some(release) = one.release else { continue };
            let edge = self.solver.new_literal();
            self.solver.add_clause(&[!edge, self.done(release)]);
            self.solver.add_guarded_edge(edge, self.node(release), self.node(other.acquire));
            clause.push(edge);
        }
        self.solver.add_clause(&clause);
    }

    /// An attempt to take a lock fails only while another thread has it.
    fn somebody_holds(&mut self, ctp: &TraceProgram, attempt: &Attempt, sections: &[Section]) {
        let thread = ctp.event(attempt.event).thread;
        let mut clause = vec![!self.done(attempt.event)];
        for section in sections {
            if ctp.event(section.acquire).thread == thread || (attempt.shared && section.shared) {
                continue;
            }
            let holds = self.solver.new_literal();
            let taken = self.solver.before(self.node(section.acquire), self.node(attempt.event));
            self.solver.add_clause(&[!holds, self.done(section.acquire)]);
            self.solver.add_clause(&[!holds, taken]);
            if let Some(release) = section.release {
                let still = self.solver.before(self.node(attempt.event), self.node(release));
                self.solver.add_clause(&[!holds, !self.done(release), still]);
            }
            clause.push(holds);
        }
        self.solver.add_clause(&clause);
    }

    /// A sleeper wakes because of a signal that came after it fell asleep, and that woke nobody else.
    fn conditions(&mut self, ctp: &TraceProgram) {
        let mut signals = Signals::default();
        let mut wakes: Vec<(Location, EventId)> = Vec::new();
        for events in self.slice.kept.values() {
            let mut asleep: BTreeMap<Location, EventId> = BTreeMap::new();
            for &id in events {
                match ctp.event(id).kind {
                    Kind::Sleep { condition } => _ = asleep.insert(condition, id),
                    Kind::Wake { condition, timed_out: false } => {
                        wakes.push((condition, id));
                        signals.sleeps.extend(asleep.remove(&condition).map(|sleep| (id, sleep)));
                    }
                    Kind::Signal { condition, broadcast } => {
                        signals.given.entry(condition).or_default().push((id, broadcast));
                    }
                    _ => {}
                }
            }
        }
        for (condition, wake) in wakes {
            let mut clause = vec![!self.done(wake)];
            for &(signal, broadcast) in signals.given.get(&condition).into_iter().flatten() {
                if ctp.event(signal).thread == ctp.event(wake).thread {
                    continue;
                }
                let by = self.solver.new_literal();
                self.solver.add_clause(&[!by, self.done(signal)]);
                self.solver.add_clause(&[!by, self.done(wake)]);
                self.solver.add_guarded_edge(by, self.node(signal), self.node(wake));
                if let Some(sleep) = signals.sleeps.get(&wake) {
                    self.solver.add_guarded_edge(by, self.node(*sleep), self.node(signal));
                }
                clause.push(by);
                if !broadcast {
                    signals.taken.entry(signal).or_default().push((wake, by));
                }
            }
            self.solver.add_clause(&clause);
        }
        for literals in signals.taken.values() {
            for (index, &(_, first)) in literals.iter().enumerate() {
                for &(_, second) in &literals[index + 1..] {
                    self.solver.add_clause(&[!first, !second]);
                }
            }
        }
        self.signals = signals;
    }

    /// Lamport's order: steps of synchronisation on one object come as they did; so do, under a literal, reads after writes.
    fn happens_before(&mut self, ctp: &TraceProgram) {
        let raw = self.solver.new_literal();
        self.raw = Some(raw);
        let mut objects: BTreeMap<Location, Vec<EventId>> = BTreeMap::new();
        let mut pieces: BTreeMap<PieceId, Vec<EventId>> = BTreeMap::new();
        for &id in self.slice.kept.values().flatten() {
            match &ctp.event(id).kind {
                Kind::Acquire { lock, .. } | Kind::Release { lock } | Kind::Busy { lock, .. } => {
                    objects.entry(*lock).or_default().push(id);
                }
                Kind::Sleep { condition } | Kind::Wake { condition, .. } | Kind::Signal { condition, .. } => {
                    objects.entry(*condition).or_default().push(id);
                }
                Kind::Access { reads, writes, is_plain, .. } => {
                    let all = reads.iter().map(|read| read.piece).chain(writes.iter().map(|write| write.piece));
                    for piece in all {
                        let list = match is_plain {
                            true => pieces.entry(piece).or_default(),
                            false => objects.entry(ctp.pieces[piece.0 as usize].at).or_default(),
                        };
                        list.push(id);
                    }
                }
                _ => {}
            }
        }
        for events in objects.into_values() {
            self.keep_order(ctp, events, Lit::TRUE);
        }
        for (piece, events) in pieces {
            self.reads_after_writes(ctp, piece, events, raw);
        }
    }

    fn reads_after_writes(&mut self, ctp: &TraceProgram, piece: PieceId, mut events: Vec<EventId>, guard: Lit) {
        events.sort_by_key(|id| ctp.moment(*id));
        events.dedup();
        for (index, &read) in events.iter().enumerate() {
            let Kind::Access { reads, .. } = &ctp.event(read).kind else { continue };
            if !reads.iter().any(|access| access.piece == piece) {
                continue;
            }
            for &write in &events[..index] {
                let Kind::Access { writes, .. } = &ctp.event(write).kind else { continue };
                if !writes.is_empty() && ctp.event(write).thread != ctp.event(read).thread {
                    self.solver.add_guarded_edge(guard, self.node(write), self.node(read));
                    self.solver.add_clause(&[!guard, !self.done(read), self.done(write)]);
                }
            }
        }
    }

    /// A thread stops before a schedule point. Whether that rules out the model that the solver has found.
    pub(crate) fn never_pass(&mut self, ctp: &TraceProgram, thread: u32, point: u32) -> bool {
        let begun = ctp.begun.get(&thread).copied().unwrap_or(0);
        let kept = self.slice.kept.get(&thread).into_iter().flatten();
        // (The start of a thread is before its first point, and what is over has passed it.)
        let later = kept
            .map(|id| (ctp.event(*id), self.done(*id)))
            .filter(|(event, _)| event.point >= point && event.index >= begun && !matches!(event.kind, Kind::Start));
        let later: Vec<Lit> = later.map(|(_, happens)| happens).collect();
        let is_news = later.iter().any(|happens| self.solver.value(*happens));
        for happens in later {
            self.solver.add_clause(&[!happens]);
        }
        is_news
    }

    // --- ¬Φ_PRP

    /// What has to hold for a thread to stand right before something that comes after `count` of its events, where `guard` holds
    /// on the way there from the last of them.
    pub fn stands(&mut self, ctp: &mut TraceProgram, thread: u32, count: u32, guard: Term) -> Vec<Lit> {
        let kept = self.slice.kept.get(&thread).cloned().unwrap_or_default();
        let index = kept.partition_point(|id| ctp.event(*id).index < count);
        let last = index.checked_sub(1).map(|index| kept[index]);
        let mut lits: Vec<Lit> = last.map(|last| self.done(last)).into_iter().collect();
        lits.extend(kept.get(index).map(|next| !self.done(*next)));
        let from = last.map_or(0, |last| ctp.event(last).index + 1);
        let mut whole = guard;
        for index in from..count {
            let Some(&skipped) = ctp.threads.get(&thread).and_then(|thread| thread.events.get(index as usize)) else {
                continue;
            };
            let guard = ctp.event(skipped).guard;
            whole = ctp.terms.and2(whole, guard);
        }
        if ctp.terms.as_bool(whole) != Some(true) {
            lits.push(self.solver.literal(&ctp.terms, whole));
        }
        lits
    }

    /// The last event that is left before something that comes after `count` events of a thread, if it is in the same atomic section.
    pub fn in_section(&self, ctp: &TraceProgram, thread: u32, count: u32) -> Option<Lit> {
        let event: &Event = ctp.event(*ctp.threads.get(&thread)?.events.get(count.checked_sub(1)? as usize)?);
        self.sections.get(&event.section?).copied()
    }
}

/// The guards from behind `last` up to and with `id`.
fn guard_up_to(ctp: &mut TraceProgram, last: Option<EventId>, id: EventId) -> Term {
    let (thread, index) = (ctp.event(id).thread, ctp.event(id).index);
    let from = last.map_or(0, |last| ctp.event(last).index + 1);
    let mut whole = ctp.terms.bool(true);
    for skipped in from..=index {
        let skipped = ctp.threads.get(&thread).and_then(|thread| thread.events.get(skipped as usize)).copied();
        if let Some(skipped) = skipped {
            let guard = ctp.event(skipped).guard;
            whole = ctp.terms.and2(whole, guard);
        }
    }
    whole
}

/// From the taking of a lock to giving it back, if that was recorded.
pub(crate) struct Section {
    pub acquire: EventId,
    pub release: Option<EventId>,
    pub shared: bool,
}

pub(crate) struct Attempt {
    lock: Location,
    event: EventId,
    shared: bool,
}

pub(crate) fn lock_sections(ctp: &TraceProgram, slice: &Slice) -> (BTreeMap<Location, Vec<Section>>, Vec<Attempt>) {
    let (mut sections, mut busy): (BTreeMap<Location, Vec<Section>>, Vec<Attempt>) = (BTreeMap::new(), Vec::new());
    for events in slice.kept.values() {
        let mut open: BTreeMap<Location, usize> = BTreeMap::new();
        for &id in events {
            match ctp.event(id).kind {
                Kind::Acquire { lock, shared } => {
                    let list = sections.entry(lock).or_default();
                    open.insert(lock, list.len());
                    list.push(Section { acquire: id, release: None, shared });
                }
                Kind::Release { lock } => {
                    if let (Some(index), Some(list)) = (open.remove(&lock), sections.get_mut(&lock)) {
                        list[index].release = Some(id);
                    }
                }
                Kind::Busy { lock, shared } => busy.push(Attempt { lock, event: id, shared }),
                _ => {}
            }
        }
    }
    (sections, busy)
}
