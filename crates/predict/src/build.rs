//! The second walk: events and terms.
//!
//! What the survey found to be a matter of order becomes events, and a read of it a variable; everything else is followed within
//! the thread. Private memory is kept only where it holds something symbolic, byte by byte: all other bytes are what was recorded.

use crate::event::{Before, Event, EventId, Kind, Read, Target, ThreadEvents, TraceProgram, Write};
use crate::express::Val;
use crate::instances::Instances;
use crate::must::MustOrder;
use crate::quiet::{CalledBack, Privacy};
use crate::survey::{Class, Piece, PieceId, Sharing, Survey};
use crate::trace::Trace;
use crate::transplant::Transplant;
use crate::walk::{Action, Change, Listener, Location, Moment, Suspect, Touch, Walk, Walked};
use leno_ir::program::{Place, Program, Span};
use leno_logic::term::{Assignment, Sort, Term, Terms, evaluate};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

#[derive(Default)]
struct ThreadState {
    events: Vec<EventId>,
    /// How many events it made before these.
    before: u32,
    guard: Option<Term>,
    locks: Rc<Vec<(Location, bool)>>,
    section: Option<u32>,
    depth: u32,
    block: Option<u32>,
    block_depth: u32,
}

pub(crate) struct Builder {
    sharing: Sharing,
    called_back: CalledBack,
    is_interrupted: bool,
    /// All events, or those since the last ones that were [left behind](Builder::leave_behind).
    events: Vec<Event>,
    threads: BTreeMap<u32, ThreadState>,
    /// Bytes that hold something symbolic, with what they held.
    memory: FxHashMap<Location, (Term, u8)>,
    /// The words that have such bytes, or once had: most loads need not look further.
    symbolic: FxHashSet<Location>,
    counters: BTreeMap<Location, PieceId>,
    pieces: Vec<Piece>,
    opaque: Vec<bool>,
    targets: Vec<Target>,
    touches: Vec<(crate::instances::InstanceId, EventId)>,
    sections: u32,
    /// Where each marked block begins.
    blocks: Vec<Span>,
}

/// What a first walk finds out.
pub(crate) struct Surveyed {
    pub privacy: Privacy,
    pub instances: Instances,
    pub must: Rc<MustOrder>,
    pub sharing: Sharing,
    pub walked: BTreeMap<u32, Walked>,
}

impl Surveyed {
    pub(crate) fn new(program: &Program, trace: &Trace) -> Surveyed {
        let privacy = Privacy::new(program);
        let mut instances = Instances::collect(program, trace);
        let mut walk = Walk::new(program, &privacy, trace, &mut instances, Survey::default());
        let walked = walk.run();
        let survey = std::mem::take(&mut walk.listener);
        drop(walk);
        let must = Rc::new(MustOrder::new(&survey.threads));
        let sharing = Sharing::new(program, &instances, &must, &survey);
        Surveyed { privacy, instances, must, sharing, walked }
    }

    /// The threads, still without events; and what could not be walked.
    pub(crate) fn threads(&mut self, trace: &Trace) -> (BTreeMap<u32, ThreadEvents>, Vec<String>) {
        let mut gaps: Vec<String> = trace.damage.clone();
        if trace.foreign > 0 {
            gaps.push(format!("{} threads were not started by the program itself, and are left out", trace.foreign));
        }
        let mut threads = BTreeMap::new();
        for (number, walked) in std::mem::take(&mut self.walked) {
            gaps.extend(trace.interrupted.get(&number).map(|count| {
                let times = if *count == 1 { "once".to_string() } else { format!("{count} times") };
                format!(
                    "{}: a signal handler ran {times}, and what it did is seen only where the program read it later",
                    walked.name
                )
            }));
            gaps.extend(walked.problem.map(|problem| format!("{}: {problem}", walked.name)));
            let Walked { name, finished, inputs, .. } = walked;
            threads.insert(number, ThreadEvents { number, name, events: Vec::new(), finished, inputs });
        }
        (threads, gaps)
    }
}

/// Walks the trace twice, and gives its events.
pub fn build(program: &Program, trace: &Trace) -> TraceProgram {
    let mut surveyed = Surveyed::new(program, trace);
    let (threads, gaps) = surveyed.threads(trace);
    let builder = Builder::new(std::mem::take(&mut surveyed.sharing), &surveyed.privacy, trace);
    let Surveyed { privacy, mut instances, must, .. } = surveyed;
    let mut walk = Walk::new(program, &privacy, trace, &mut instances, builder);
    walk.run();
    walk.add_pending();
    let Walk { terms, listener: mut builder, .. } = walk;
    let mut built = builder.give(terms, threads, must, gaps);
    built.explain(&FxHashMap::default());
    built
}

/// The places of the schedule points that each thread passed, by its name: what a reordering of the run may do, and no more.
pub fn paths(program: &Program, trace: &Trace) -> BTreeMap<String, Vec<Place>> {
    let privacy = Privacy::new(program);
    let mut instances = Instances::collect(program, trace);
    let mut walk = Walk::new(program, &privacy, trace, &mut instances, Survey::default());
    walk.paths = Some(BTreeMap::new());
    let walked = walk.run();
    let mut paths = walk.paths.take().unwrap_or_default();
    walked.into_iter().map(|(number, thread)| (thread.name, paths.remove(&number).unwrap_or_default())).collect()
}

impl TraceProgram {
    /// Values that nobody has recorded, or that nobody can have written. `memory` is what there was before the first event.
    pub(crate) fn explain(&mut self, memory: &FxHashMap<PieceId, u128>) {
        self.explain_values(memory);
        self.count(memory);
    }

    /// What the numbers of synchronisation objects were.
    fn count(&mut self, memory: &FxHashMap<PieceId, u128>) {
        let is_count = |event: &Event| matches!(event.kind, Kind::Access { is_plain: false, .. });
        let mut counts: Vec<EventId> = (0..self.events.len() as u32).map(EventId).collect();
        counts.retain(|id| is_count(self.event(*id)));
        if counts.is_empty() {
            return;
        }
        let mut assignment = Assignment::new();
        for event in &self.events {
            if let Kind::Access { reads, is_plain: true, .. } = &event.kind {
                reads.iter().for_each(|read| assignment.set(&self.terms, read.value, read.recorded));
            }
        }
        counts.sort_by_key(|id| self.moment(*id));
        let mut now: BTreeMap<PieceId, u128> = BTreeMap::new();
        for id in counts {
            let Kind::Access { reads, writes, .. } = &mut self.events[id.0 as usize].kind else { continue };
            for read in reads {
                let before = now.get(&read.piece).or(memory.get(&read.piece));
                read.recorded = before.copied().unwrap_or(0);
                assignment.set(&self.terms, read.value, read.recorded);
            }
            for write in writes {
                write.recorded = evaluate(&self.terms, write.value, &assignment).number();
                now.insert(write.piece, write.recorded);
            }
        }
    }

    /// Every value that was read must have come from a write, or have been there from the start. Where nothing is known of the start,
    /// it is what was read; otherwise somebody outside of the program has written, and the piece is opaque.
    fn explain_values(&mut self, memory: &FxHashMap<PieceId, u128>) {
        let mut written: BTreeMap<PieceId, BTreeSet<u128>> = BTreeMap::new();
        let mut read: BTreeMap<PieceId, BTreeSet<u128>> = BTreeMap::new();
        for event in &self.events {
            let Kind::Access { reads, writes, is_plain: true, .. } = &event.kind else { continue };
            for write in writes.iter().filter(|write| write.happened) {
                written.entry(write.piece).or_default().insert(write.recorded);
            }
            for access in reads {
                read.entry(access.piece).or_default().insert(access.recorded);
            }
        }
        for (id, read) in read {
            let piece = &mut self.pieces[id.0 as usize];
            let initial = memory.get(&id).copied().or(piece.initial);
            let is_written = |value: &u128| written.get(&id).is_some_and(|values| values.contains(value));
            let mut strange = read.iter().filter(|value| !is_written(value) && initial != Some(**value));
            match (strange.next().copied(), strange.next(), initial) {
                (None, ..) => {}
                (Some(value), None, None) => piece.initial = Some(value),
                _ => self.opaque[id.0 as usize] = true,
            }
        }
    }
}

impl Builder {
    pub(crate) fn new(sharing: Sharing, privacy: &Privacy, trace: &Trace) -> Builder {
        Builder {
            called_back: privacy.called_back,
            is_interrupted: !trace.interrupted.is_empty(),
            pieces: sharing.pieces.clone(),
            opaque: Vec::new(),
            sharing,
            events: Vec::new(),
            threads: BTreeMap::new(),
            memory: FxHashMap::default(),
            symbolic: FxHashSet::default(),
            counters: BTreeMap::new(),
            targets: Vec::new(),
            touches: Vec::new(),
            sections: 0,
            blocks: Vec::new(),
        }
    }

    /// Gives away what there is as a trace program: all of it, or what has come since something was left behind.
    pub(crate) fn give(
        &mut self,
        terms: Terms,
        mut threads: BTreeMap<u32, ThreadEvents>,
        must: Rc<MustOrder>,
        gaps: Vec<String>,
    ) -> TraceProgram {
        for (number, thread) in &mut threads {
            thread.events =
                self.threads.get_mut(number).map(|state| std::mem::take(&mut state.events)).unwrap_or_default();
        }
        self.opaque.resize(self.pieces.len(), false);
        TraceProgram {
            terms,
            events: std::mem::take(&mut self.events),
            threads,
            pieces: std::mem::take(&mut self.pieces),
            opaque: std::mem::take(&mut self.opaque),
            targets: std::mem::take(&mut self.targets),
            must,
            blocks: Rc::new(std::mem::take(&mut self.blocks)),
            touches: std::mem::take(&mut self.touches),
            gaps,
            accesses: self.sharing.accesses,
            called_back: self.called_back,
            is_interrupted: self.is_interrupted,
            begun: BTreeMap::new(),
            before: Before::default(),
        }
    }

    /// Takes back what it gave, without some events: these have happened, and reads of them are what they were. The terms move to
    /// a new arena; `others` is told where to.
    pub(crate) fn leave_behind(
        &mut self,
        mut ctp: TraceProgram,
        gone: &[EventId],
        others: impl FnOnce(&mut Transplant<'_>),
    ) -> (Terms, BTreeMap<u32, ThreadEvents>) {
        let mut is_gone = vec![false; ctp.events.len()];
        let mut values = FxHashMap::default();
        for id in gone {
            is_gone[id.0 as usize] = true;
            if let Kind::Access { reads, .. } = &ctp.event(*id).kind {
                values.extend(reads.iter().map(|read| (read.value, read.recorded)));
            }
        }
        let mut terms = Transplant::new(&ctp.terms, &values);
        others(&mut terms);
        let mut numbers = vec![None; ctp.events.len()];
        for (index, mut event) in std::mem::take(&mut ctp.events).into_iter().enumerate() {
            let state = self.threads.entry(event.thread).or_default();
            if is_gone[index] {
                state.before += 1;
                continue;
            }
            event.guard = terms.term(event.guard);
            if let Kind::Access { reads, writes, .. } = &mut event.kind {
                reads.iter_mut().for_each(|read| read.value = terms.term(read.value));
                for write in writes {
                    (write.value, write.condition) = (terms.term(write.value), terms.term(write.condition));
                }
            }
            let id = EventId(self.events.len() as u32);
            numbers[index] = Some(id);
            state.events.push(id);
            self.events.push(event);
        }
        for mut target in std::mem::take(&mut ctp.targets) {
            let before = self.threads.get(&target.thread).map_or(0, |state| state.before);
            if target.after >= before {
                (target.guard, target.bad) = (terms.term(target.guard), terms.term(target.bad));
                self.targets.push(target);
            }
        }
        for state in self.threads.values_mut() {
            state.guard = state.guard.map(|guard| terms.term(guard));
        }
        for (term, _) in self.memory.values_mut() {
            *term = terms.term(*term);
        }
        let new = terms.new;
        self.memory.retain(|_, (term, _)| new.as_constant(*term).is_none());
        self.symbolic = self.memory.keys().map(|at| word(*at)).collect();
        self.touches = ctp.touches.iter().filter_map(|(what, id)| Some((*what, numbers[id.0 as usize]?))).collect();
        (self.pieces, self.opaque) = (ctp.pieces, ctp.opaque);
        self.blocks = Rc::try_unwrap(ctp.blocks).unwrap_or_else(|blocks| (*blocks).clone());
        (new, ctp.threads)
    }

    /// How many events come before a moment.
    pub(crate) fn settled(&self, horizon: u64) -> usize {
        self.events.iter().filter(|event| event.moment().0 < horizon.saturating_mul(2)).count()
    }

    fn thread(&mut self, number: u32) -> &mut ThreadState {
        self.threads.entry(number).or_default()
    }

    fn add(&mut self, terms: &Terms, at: &Moment, kind: Kind) -> EventId {
        let id = EventId(self.events.len() as u32);
        let thread = self.thread(at.thread);
        let event = Event {
            thread: at.thread,
            index: thread.before + thread.events.len() as u32,
            point: at.point,
            place: at.place,
            span: at.span,
            clock: at.clock,
            guard: thread.guard.take().unwrap_or(terms.bool(true)),
            kind,
            locks: Rc::clone(&thread.locks),
            section: thread.section,
            block: thread.block,
            pending: false,
        };
        thread.events.push(id);
        self.events.push(event);
        id
    }

    pub(crate) fn event_count(&self) -> usize {
        self.events.len()
    }

    /// A step that a thread stands before, and has not made: not one of the events.
    pub(crate) fn stands_before(&self, terms: &Terms, at: &Moment, kind: Kind) -> Event {
        let state = self.threads.get(&at.thread);
        Event {
            thread: at.thread,
            index: state.map_or(0, |state| state.before + state.events.len() as u32),
            point: at.point,
            place: at.place,
            span: at.span,
            clock: at.clock,
            guard: state.and_then(|state| state.guard).unwrap_or(terms.bool(true)),
            kind,
            locks: state.map(|state| Rc::clone(&state.locks)).unwrap_or_default(),
            section: state.and_then(|state| state.section),
            block: state.and_then(|state| state.block),
            pending: true,
        }
    }

    /// The events from this one on are never made.
    pub(crate) fn mark_pending(&mut self, first: usize) {
        for event in &mut self.events[first..] {
            event.pending = true;
            if let Kind::Access { writes, .. } = &mut event.kind {
                writes.clear();
            }
        }
    }

    /// A touch of an object that another thread frees.
    fn note_touch(&mut self, terms: &Terms, at: &Moment, touch: Touch, event: Option<EventId>) {
        if self.sharing.last_touches.is_empty() {
            return;
        }
        let key = (touch.at.instance, at.thread);
        if self.sharing.last_touches.get(&key).is_none_or(|last| last.point != at.point) {
            return;
        }
        let event = event.unwrap_or_else(|| self.add(terms, at, Kind::Touch { instance: touch.at.instance }));
        self.touches.push((touch.at.instance, event));
    }

    /// The variables of a read, and its value.
    fn read(&mut self, terms: &mut Terms, first: PieceId, touch: Touch, recorded: u128) -> (Vec<Read>, Val) {
        let pieces: Vec<PieceId> = self.sharing.pieces_of(first, touch).collect();
        let (mut reads, mut whole): (Vec<Read>, Option<Term>) = (Vec::new(), None);
        for piece in pieces {
            let Piece { at, bytes, .. } = self.pieces[piece.0 as usize];
            let value = terms.variable(Sort::Bits(bytes * 8), "read");
            let shift = (at.offset - touch.at.offset) * 8;
            let recorded = recorded >> shift & crate::express::ones(bytes * 8);
            reads.push(Read { piece, value, recorded });
            whole = Some(match whole {
                Some(low) => terms.concat(value, low),
                None => value,
            });
        }
        let value = whole.map_or(Val::fixed(recorded), |term| Val { bits: recorded, term: Some(term) });
        (reads, value)
    }

    fn write(&mut self, terms: &mut Terms, first: PieceId, touch: Touch, condition: Val, value: Val) -> Vec<Write> {
        let pieces: Vec<PieceId> = self.sharing.pieces_of(first, touch).collect();
        let happened = condition.bits != 0;
        let condition = condition.truth(terms).unwrap_or(terms.bool(happened));
        let whole = value.term(terms, touch.bytes * 8);
        let mut writes = Vec::new();
        for piece in pieces {
            let Piece { at, bytes, .. } = self.pieces[piece.0 as usize];
            let shift = (at.offset - touch.at.offset) as u32 * 8;
            let part = terms.extract(whole, shift, bytes * 8);
            let recorded = value.bits >> shift & crate::express::ones(bytes * 8);
            writes.push(Write { piece, value: part, recorded, condition, happened });
        }
        writes
    }

    fn bytes(touch: Touch) -> impl Iterator<Item = (Location, u32)> {
        (0..touch.bytes)
            .map(move |index| (Location { offset: touch.at.offset + u64::from(index), ..touch.at }, index * 8))
    }

    fn may_be_symbolic(&self, touch: Touch) -> bool {
        let last = Location { offset: touch.at.offset + u64::from(touch.bytes.max(1)) - 1, ..touch.at };
        !self.symbolic.is_empty()
            && (self.symbolic.contains(&word(touch.at)) || touch.bytes > 8 || self.symbolic.contains(&word(last)))
    }

    fn load_private(&mut self, terms: &mut Terms, touch: Touch, recorded: u128) -> Val {
        if !self.may_be_symbolic(touch) {
            return Val::fixed(recorded);
        }
        let mut whole: Option<Term> = None;
        let mut is_symbolic = false;
        for (at, shift) in Builder::bytes(touch) {
            let was = (recorded >> shift) as u8;
            let byte = match self.memory.get(&at) {
                Some((term, held)) if *held == was => {
                    is_symbolic = true;
                    *term
                }
                // Somebody outside of the program has written here.
                Some(_) => {
                    self.memory.remove(&at);
                    terms.bits(8, was.into())
                }
                None => terms.bits(8, was.into()),
            };
            whole = Some(match whole {
                Some(low) => terms.concat(byte, low),
                None => byte,
            });
        }
        match whole.filter(|_| is_symbolic) {
            Some(term) => Val::new(terms, recorded, term),
            None => Val::fixed(recorded),
        }
    }

    fn store_private(&mut self, terms: &mut Terms, touch: Touch, value: Val) {
        if value.term.is_none() && !self.may_be_symbolic(touch) {
            return;
        }
        for (at, shift) in Builder::bytes(touch) {
            match value.term {
                None => _ = self.memory.remove(&at),
                Some(term) => {
                    self.symbolic.insert(word(at));
                    let byte = terms.extract(term, shift, 8);
                    self.memory.insert(at, (byte, (value.bits >> shift) as u8));
                }
            }
        }
    }

    fn counter(&mut self, at: Location) -> PieceId {
        let next = PieceId(self.pieces.len() as u32);
        let id = *self.counters.entry(at).or_insert(next);
        if id == next {
            self.pieces.push(Piece { at, bytes: 4, initial: Some(0) });
        }
        id
    }

    fn lock(&mut self, thread: u32, lock: Location, shared: bool, takes: bool) {
        let thread = self.thread(thread);
        let mut locks = (*thread.locks).clone();
        match takes {
            true => locks.push((lock, shared)),
            false => locks.retain(|(held, _)| *held != lock),
        }
        thread.locks = Rc::new(locks);
    }
}

/// The word that a byte is in.
fn word(at: Location) -> Location {
    Location { offset: at.offset & !7, ..at }
}

impl Listener for Builder {
    fn load(&mut self, terms: &mut Terms, at: &Moment, touch: Touch, recorded: u128) -> Val {
        let (value, event) = match self.sharing.class(touch.at) {
            Class::Shared(first) => {
                let (reads, value) = self.read(terms, first, touch, recorded);
                let kind = Kind::Access { reads, writes: Vec::new(), atomic: touch.atomic, is_plain: true };
                (value, Some(self.add(terms, at, kind)))
            }
            Class::Constant => (Val::fixed(recorded), None),
            Class::Private | Class::Stable => (self.load_private(terms, touch, recorded), None),
        };
        self.note_touch(terms, at, touch, event);
        value
    }

    fn store(&mut self, terms: &mut Terms, at: &Moment, touch: Touch, value: Val) {
        let event = match self.sharing.class(touch.at) {
            Class::Shared(first) => {
                let writes = self.write(terms, first, touch, Val::fixed(1), value);
                let kind = Kind::Access { reads: Vec::new(), writes, atomic: touch.atomic, is_plain: true };
                Some(self.add(terms, at, kind))
            }
            _ => {
                self.store_private(terms, touch, value);
                None
            }
        };
        self.note_touch(terms, at, touch, event);
    }

    fn update_load(&mut self, terms: &mut Terms, at: &Moment, touch: Touch, recorded: u128) -> Val {
        self.load(terms, at, touch, recorded)
    }

    fn update_store(&mut self, terms: &mut Terms, at: &Moment, touch: Touch, condition: Val, value: Val) {
        let Class::Shared(first) = self.sharing.class(touch.at) else {
            if condition.bits != 0 {
                if let Some(holds) = condition.truth(terms) {
                    self.demand(terms, at, holds);
                }
                self.store_private(terms, touch, value);
            } else if let Some(holds) = condition.truth(terms) {
                let fails = terms.not(holds);
                self.demand(terms, at, fails);
            }
            return;
        };
        let written = self.write(terms, first, touch, condition, value);
        // The load has made the event.
        let last = self.thread(at.thread).events.last().copied();
        if let Some(Kind::Access { writes, .. }) = last.map(|id| &mut self.events[id.0 as usize].kind) {
            *writes = written;
        }
    }

    fn count(
        &mut self,
        terms: &mut Terms,
        at: &Moment,
        counter: Location,
        change: &mut dyn FnMut(&mut Terms, Term) -> Change,
    ) -> Option<Term> {
        let piece = self.counter(counter);
        let old = terms.variable(Sort::Bits(32), "count");
        let Change { guard, new } = change(terms, old);
        let always = terms.bool(true);
        let reads = vec![Read { piece, value: old, recorded: 0 }];
        let write = |value| Write { piece, value, recorded: 0, condition: always, happened: true };
        let writes = new.map(write).into_iter().collect();
        let id = self.add(terms, at, Kind::Access { reads, writes, atomic: true, is_plain: false });
        if let Some(guard) = guard {
            let event = &mut self.events[id.0 as usize];
            event.guard = terms.and2(event.guard, guard);
        }
        Some(old)
    }

    fn demand(&mut self, terms: &mut Terms, at: &Moment, condition: Term) {
        let thread = self.thread(at.thread);
        thread.guard = Some(match thread.guard {
            Some(guard) => terms.and2(guard, condition),
            None => condition,
        });
    }

    fn suspect(&mut self, terms: &mut Terms, at: &Moment, bad: Term, what: Suspect) {
        if terms.as_bool(bad) == Some(false) {
            return;
        }
        let thread = self.thread(at.thread);
        let target = Target {
            thread: at.thread,
            after: thread.before + thread.events.len() as u32,
            point: at.point,
            place: at.place,
            guard: thread.guard.unwrap_or(terms.bool(true)),
            bad,
            what,
        };
        self.targets.push(target);
    }

    fn act(&mut self, terms: &mut Terms, at: &Moment, action: Action) {
        let kind = match action {
            Action::Acquire { lock, shared } => {
                self.add(terms, at, Kind::Acquire { lock, shared });
                self.lock(at.thread, lock, shared, true);
                return;
            }
            Action::Release { lock } => {
                self.add(terms, at, Kind::Release { lock });
                self.lock(at.thread, lock, false, false);
                return;
            }
            Action::BeginSection => {
                self.sections += 1;
                let number = self.sections;
                let thread = self.thread(at.thread);
                thread.depth += 1;
                thread.section = thread.section.or(Some(number));
                return;
            }
            Action::EndSection => {
                let thread = self.thread(at.thread);
                thread.depth = thread.depth.saturating_sub(1);
                if thread.depth == 0 {
                    thread.section = None;
                }
                return;
            }
            Action::BeginBlock => {
                let number = self.blocks.len() as u32;
                let thread = self.thread(at.thread);
                thread.block_depth += 1;
                if thread.block.is_none() {
                    thread.block = Some(number);
                    self.blocks.push(at.span);
                }
                return;
            }
            Action::EndBlock => {
                let thread = self.thread(at.thread);
                thread.block_depth = thread.block_depth.saturating_sub(1);
                if thread.block_depth == 0 {
                    thread.block = None;
                }
                return;
            }
            Action::Busy { lock, shared } => Kind::Busy { lock, shared },
            Action::Sleep { condition } => Kind::Sleep { condition },
            Action::Wake { condition, timed_out } => Kind::Wake { condition, timed_out },
            Action::Signal { condition, broadcast } => Kind::Signal { condition, broadcast },
            Action::Spawn { child } => Kind::Spawn { child },
            Action::Start => Kind::Start,
            Action::Join { child } => Kind::Join { child },
            Action::Finish => Kind::Finish,
            Action::Exit => Kind::Exit,
            Action::Free { instance } => Kind::Free { instance },
        };
        self.add(terms, at, kind);
    }

    fn begin_private(&mut self, at: Location, bytes: u64) {
        let inside = |place: &Location| place.instance == at.instance && place.offset.wrapping_sub(at.offset) < bytes;
        if bytes > self.memory.len() as u64 {
            self.memory.retain(|place, _| !inside(place));
            return;
        }
        for index in 0..bytes {
            self.memory.remove(&Location { offset: at.offset.wrapping_add(index), ..at });
        }
    }
}
