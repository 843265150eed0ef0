//! Windows: a part of a long trace program, as a trace program of its own.
//!
//! A window is a stretch of the recorded run. What comes before it has happened as it was recorded: memory holds what
//! it held, threads hold the locks that they held, and earlier reads returned what they returned. Within the window all
//! reorderings are considered. Windows overlap by half, so that two events that were less than half a window apart are
//! in one window together; violations that need events from further apart, or a reordering across the border, are
//! missed, and the report says so.
//!
//! Whether all threads are blocked is a question about threads without events in the window, too: a thread may wait for
//! the end of another one during the whole run. So a window has a *frontier*: the next event of each thread, which it
//! may be about to execute but does not execute.

use crate::program::event::{BeforeWindow, Event, EventId, Kind, Target, TargetId, ThreadEvents, TraceProgram};
use crate::walk::left_out::AllLeftOut;
use crate::walk::listener::Location;
use crate::walk::sharing_pass::{Piece, PieceId};
use leno_ir::index::IndexVec;
use leno_logic::term::Terms;
use leno_trace::ThreadIndex;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A window, and what its events are in the whole.
pub struct Window {
    pub ctp: TraceProgram,
    /// By event of the window: the one it is in the whole. None for a lock that is held when the window begins, and for
    /// a step that is no event yet.
    pub origin: IndexVec<EventId, Option<EventId>>,
    /// By target of the window: the one it is in the whole.
    pub targets: IndexVec<TargetId, TargetId>,
}

/// A step that a thread is about to execute where a window ends, and its event in the whole, if it is one already.
#[derive(Clone)]
pub struct NextStep {
    pub event: Event,
    pub origin: Option<EventId>,
}

pub type Frontier = BTreeMap<ThreadIndex, NextStep>;

/// All events in the order in which they were recorded, as far as that is known.
pub fn recorded_order(ctp: &TraceProgram) -> Vec<EventId> {
    let mut order: Vec<EventId> = ctp.events.ids().collect();
    order.sort_by_key(|id| ctp.moment(*id));
    order
}

/// A thread ran without interruption up to and with this schedule point.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub thread: ThreadIndex,
    pub last_point: u32,
}

/// The recorded run before a window.
#[derive(Default)]
pub struct Prefix {
    /// The contents of memory at its end.
    pub memory: FxHashMap<PieceId, u128>,
    /// Which threads ran, in order.
    pub segments: Vec<Segment>,
    pub threads: BeforeWindow,
}

impl Prefix {
    /// Appends these events.
    pub fn add(&mut self, whole: &TraceProgram, events: &[EventId]) {
        for id in events {
            let event = whole.event(*id);
            if let Kind::Access { writes, .. } = &event.kind {
                let happened = writes.iter().filter(|write| write.happened);
                self.memory.extend(happened.map(|write| (write.piece, write.recorded)));
            }
            match event.kind {
                Kind::Finish => _ = self.threads.finished.insert(event.thread),
                Kind::Sleep { condition } => _ = self.threads.asleep.insert(event.thread, condition),
                Kind::Wake { .. } => _ = self.threads.asleep.remove(&event.thread),
                Kind::Signal { condition, .. } => self.threads.asleep.retain(|_, on| *on != condition),
                _ => {}
            }
            if matches!(event.kind, Kind::Start) {
                continue;
            }
            match self.segments.last_mut() {
                Some(segment) if segment.thread == event.thread => segment.last_point = event.point,
                _ => self.segments.push(Segment { thread: event.thread, last_point: event.point }),
            }
        }
    }
}

/// Where the events of a thread are in a window.
#[derive(Clone, Copy)]
struct Shift {
    /// The number of its first event in the whole, and how many of them are in the window.
    first: u32,
    count: u32,
    /// How many events stand for locks that it holds at the beginning.
    held: u32,
}

struct Cutter<'a> {
    whole: &'a TraceProgram,
    memory: &'a FxHashMap<PieceId, u128>,
    terms: Terms,
    pieces: IndexVec<PieceId, Piece>,
    opaque: IndexVec<PieceId, bool>,
    new_pieces: BTreeMap<PieceId, PieceId>,
    events: IndexVec<EventId, Event>,
    origin: IndexVec<EventId, Option<EventId>>,
    new_events: BTreeMap<EventId, EventId>,
    threads: BTreeMap<ThreadIndex, ThreadEvents>,
    shifts: BTreeMap<ThreadIndex, Shift>,
}

impl Window {
    /// The window of these events, which are the first ones of the whole, and of a frontier. The terms of the whole
    /// move into the window: give them back with [`Window::give_back`].
    pub fn new(whole: &mut TraceProgram, order: &[EventId], frontier: &Frontier, prefix: &Prefix) -> Window {
        let terms = std::mem::take(&mut whole.terms);
        let mut cutter = Cutter::new(whole, terms, &prefix.memory);
        let mut by_thread: BTreeMap<ThreadIndex, Vec<EventId>> = BTreeMap::new();
        for &id in order {
            by_thread.entry(whole.event(id).thread).or_default().push(id);
        }
        for id in frontier.keys() {
            by_thread.entry(*id).or_default();
        }
        for (id, events) in &by_thread {
            cutter.add_thread(*id, events, frontier.get(id));
        }
        cutter.finish(prefix)
    }

    /// The terms go back to where they came from.
    pub fn give_back(&mut self, whole: &mut TraceProgram) {
        whole.terms = std::mem::take(&mut self.ctp.terms);
    }
}

impl<'a> Cutter<'a> {
    fn new(whole: &'a TraceProgram, terms: Terms, memory: &'a FxHashMap<PieceId, u128>) -> Cutter<'a> {
        Cutter {
            whole,
            memory,
            terms,
            pieces: IndexVec::new(),
            opaque: IndexVec::new(),
            new_pieces: BTreeMap::new(),
            events: IndexVec::new(),
            origin: IndexVec::new(),
            new_events: BTreeMap::new(),
            threads: BTreeMap::new(),
            shifts: BTreeMap::new(),
        }
    }

    /// A thread: the locks that it holds when the window begins, its events, and its next step.
    fn add_thread(&mut self, id: ThreadIndex, ids: &[EventId], next: Option<&NextStep>) {
        let first = ids.first().map(|id| self.whole.event(*id)).or(next.map(|next| &next.event));
        let (Some(first), Some(thread)) = (first, self.whole.threads.get(&id)) else { return };
        let mut list = Vec::new();
        for &(lock, shared) in first.locks.iter().chain(first.tried.iter()) {
            let event = self.held_lock(first, list.len() as u32, lock, shared);
            list.push(self.add(event, None));
        }
        self.shifts.insert(id, Shift { first: first.index, count: ids.len() as u32, held: list.len() as u32 });
        for &old in ids {
            let event = self.event(self.whole.event(old), list.len() as u32);
            let new = self.add(event, Some(old));
            self.new_events.insert(old, new);
            list.push(new);
        }
        if let Some(next) = next {
            let event = self.pending(&next.event, list.len() as u32);
            list.push(self.add(event, next.origin));
        }
        let (name, finished) = (thread.name.clone(), thread.finished);
        self.threads.insert(id, ThreadEvents { name, events: list, finished, points: 0, inputs: Vec::new() });
    }

    fn add(&mut self, event: Event, origin: Option<EventId>) -> EventId {
        self.origin.push(origin);
        self.events.push(event)
    }

    fn piece(&mut self, id: PieceId) -> PieceId {
        if let Some(&new) = self.new_pieces.get(&id) {
            return new;
        }
        let piece = self.whole.pieces[id];
        let initial = self.memory.get(&id).copied().or(piece.initial);
        self.opaque.push(self.whole.opaque[id]);
        let new = self.pieces.push(Piece { initial, ..piece });
        self.new_pieces.insert(id, new);
        new
    }

    /// The acquisition of a lock that is held when the window begins.
    fn held_lock(&mut self, first: &Event, index: u32, lock: Location, shared: bool) -> Event {
        let guard = self.terms.bool(true);
        Event { index, guard, kind: Kind::Acquire { lock, shared }, section: None, ..first.clone() }
    }

    /// A step that is not executed.
    fn pending(&mut self, event: &Event, index: u32) -> Event {
        let mut event = Event { pending: true, ..self.event(event, index) };
        if let Kind::Access { writes, .. } = &mut event.kind {
            writes.clear();
        }
        event
    }

    fn event(&mut self, event: &Event, index: u32) -> Event {
        let mut kind = event.kind.clone();
        if let Kind::Access { reads, writes, .. } = &mut kind {
            for read in reads {
                read.piece = self.piece(read.piece);
            }
            for write in writes {
                write.piece = self.piece(write.piece);
            }
        }
        Event { index, kind, ..event.clone() }
    }

    fn finish(self, prefix: &Prefix) -> Window {
        let whole = self.whole;
        let (mut targets, mut target_origins) = (IndexVec::new(), IndexVec::new());
        for (id, target) in whole.targets.iter_enumerated() {
            let Some(&Shift { first, count, held }) = self.shifts.get(&target.thread) else { continue };
            if target.after < first || target.after > first + count {
                continue;
            }
            targets.push(Target { after: target.after - first + held, ..target.clone() });
            target_origins.push(id);
        }
        let last_accesses = whole.last_accesses.iter();
        let last_accesses = last_accesses.filter_map(|(instance, id)| Some((*instance, *self.new_events.get(id)?)));
        let ctp = TraceProgram {
            terms: self.terms,
            events: self.events,
            threads: self.threads,
            pieces: self.pieces,
            opaque: self.opaque,
            targets,
            untaken: IndexVec::new(),
            must: Rc::clone(&whole.must),
            blocks: Rc::clone(&whole.blocks),
            last_accesses: last_accesses.collect(),
            gaps: Vec::new(),
            left_out: AllLeftOut::default(),
            accesses: 0,
            callbacks: whole.callbacks,
            is_interrupted: whole.is_interrupted,
            begun: self.shifts.iter().map(|(id, shift)| (*id, shift.held)).collect(),
            before: prefix.threads.clone(),
        };
        Window { ctp, origin: self.origin, targets: target_origins }
    }
}
