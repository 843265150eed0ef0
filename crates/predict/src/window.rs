//! Windows: a long trace, a piece at a time.
//!
//! A window is a stretch of the recorded run. What comes before it has happened as it was recorded: memory holds what it held, locks
//! are held by whom they were held, and values that were read earlier are what they were. Within it all reorderings are
//! considered. Windows overlap by half, so that two events that were less than half a window apart are seen together; what needs
//! events from further apart, or a reordering across the border, is missed, and the report says so.
//!
//! Whether everybody is stuck is a question about those, too, who do nothing in a window: whoever waits for the end of a thread may do
//! so for all of the run. So a window has an *edge*: the step that each thread makes next, which it may stand before but does not make.

use crate::event::{Before, Event, EventId, Kind, Target, ThreadEvents, TraceProgram};
use crate::survey::{Piece, PieceId};
use crate::walk::Location;
use leno_logic::term::Terms;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A stretch of a trace program, as a trace program of its own.
pub struct Window {
    pub ctp: TraceProgram,
    /// By event of the window: the one it is. None for what stands for the past.
    pub origin: Vec<Option<EventId>>,
    /// By target of the window.
    pub targets: Vec<usize>,
}

/// All events in the order in which they were recorded, as far as that is known.
pub fn recorded_order(ctp: &TraceProgram) -> Vec<EventId> {
    let mut order: Vec<EventId> = (0..ctp.events.len() as u32).map(EventId).collect();
    order.sort_by_key(|id| ctp.moment(*id));
    order
}

struct Cutter<'a> {
    whole: &'a TraceProgram,
    terms: Terms,
    pieces: Vec<Piece>,
    opaque: Vec<bool>,
    numbers: BTreeMap<PieceId, PieceId>,
    memory: &'a FxHashMap<PieceId, u128>,
}

/// What has happened before a window, as it was recorded.
#[derive(Default)]
pub struct Past {
    /// What is in memory then.
    pub memory: FxHashMap<PieceId, u128>,
    /// Who made which steps: a thread, and the last schedule point that it passed before another one went on.
    pub steps: Vec<(u32, u32)>,
    pub threads: Before,
}

impl Past {
    /// These events have happened.
    pub fn add(&mut self, whole: &TraceProgram, gone: &[EventId]) {
        for id in gone {
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
            match self.steps.last_mut() {
                Some((thread, point)) if *thread == event.thread => *point = event.point,
                _ => self.steps.push((event.thread, event.point)),
            }
        }
    }
}

/// The window of these events, which are the first ones of what is left, and of an edge. The terms of the whole move into the window: give
/// them back with [`Window::give_back`].
pub fn cut(whole: &mut TraceProgram, order: &[EventId], edge: &BTreeMap<u32, Event>, past: &Past) -> Window {
    let terms = std::mem::take(&mut whole.terms);
    let mut cutter =
        Cutter { whole, terms, pieces: Vec::new(), opaque: Vec::new(), numbers: BTreeMap::new(), memory: &past.memory };
    let mut by_thread: BTreeMap<u32, Vec<EventId>> = BTreeMap::new();
    for &id in order {
        by_thread.entry(whole.event(id).thread).or_default().push(id);
    }
    let (mut events, mut origin, mut threads, mut begun) = (Vec::new(), Vec::new(), BTreeMap::new(), BTreeMap::new());
    let mut shifts: BTreeMap<u32, (u32, u32, u32)> = BTreeMap::new();
    let mut new_ids: BTreeMap<EventId, EventId> = BTreeMap::new();
    for number in edge.keys() {
        by_thread.entry(*number).or_default();
    }
    for (number, ids) in &by_thread {
        let Some(first) = ids.first().map(|id| whole.event(*id)).or(edge.get(number)) else { continue };
        let held = Rc::clone(&first.locks);
        let mut list = Vec::new();
        for &(lock, shared) in held.iter() {
            list.push(EventId(events.len() as u32));
            events.push(cutter.held(first, list.len() as u32 - 1, lock, shared));
            origin.push(None);
        }
        begun.insert(*number, list.len() as u32);
        shifts.insert(*number, (first.index, ids.len() as u32, list.len() as u32));
        for &id in ids {
            let new = EventId(events.len() as u32);
            new_ids.insert(id, new);
            list.push(new);
            events.push(cutter.event(whole.event(id), list.len() as u32 - 1));
            origin.push(Some(id));
        }
        if let Some(event) = edge.get(number) {
            list.push(EventId(events.len() as u32));
            events.push(cutter.never(event, list.len() as u32 - 1));
            origin.push(None);
        }
        let thread = &whole.threads[number];
        let thread = ThreadEvents {
            number: *number,
            name: thread.name.clone(),
            events: list,
            finished: thread.finished,
            inputs: Vec::new(),
        };
        threads.insert(*number, thread);
    }
    let (mut targets, mut numbers) = (Vec::new(), Vec::new());
    for (index, target) in whole.targets.iter().enumerate() {
        let Some(&(lo, count, held)) = shifts.get(&target.thread) else { continue };
        if target.after < lo || target.after > lo + count {
            continue;
        }
        targets.push(Target { after: target.after - lo + held, ..target.clone() });
        numbers.push(index);
    }
    let touches = whole.touches.iter();
    let touches = touches.filter_map(|(instance, id)| Some((*instance, *new_ids.get(id)?))).collect();
    let Cutter { terms, pieces, opaque, .. } = cutter;
    let ctp = TraceProgram {
        terms,
        events,
        threads,
        pieces,
        opaque,
        targets,
        must: Rc::clone(&whole.must),
        blocks: Rc::clone(&whole.blocks),
        touches,
        gaps: Vec::new(),
        accesses: 0,
        called_back: whole.called_back,
        is_interrupted: whole.is_interrupted,
        begun,
        before: past.threads.clone(),
    };
    Window { ctp, origin, targets: numbers }
}

impl Window {
    /// The terms go back to where they came from.
    pub fn give_back(&mut self, whole: &mut TraceProgram) {
        whole.terms = std::mem::take(&mut self.ctp.terms);
    }
}

impl Cutter<'_> {
    fn piece(&mut self, id: PieceId) -> PieceId {
        let next = PieceId(self.pieces.len() as u32);
        let new = *self.numbers.entry(id).or_insert(next);
        if new == next {
            let piece = self.whole.pieces[id.0 as usize];
            let initial = self.memory.get(&id).copied().or(piece.initial);
            self.pieces.push(Piece { initial, ..piece });
            self.opaque.push(self.whole.opaque[id.0 as usize]);
        }
        new
    }

    /// A lock that is held when the window begins.
    fn held(&mut self, first: &Event, index: u32, lock: Location, shared: bool) -> Event {
        let guard = self.terms.bool(true);
        Event { index, guard, kind: Kind::Acquire { lock, shared }, section: None, ..first.clone() }
    }

    /// A step that is not made.
    fn never(&mut self, event: &Event, index: u32) -> Event {
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
}
