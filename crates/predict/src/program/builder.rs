//! The second walk: events and their terms.
//!
//! An access to memory that threads share becomes an event, and a read of it a variable. All other memory is followed
//! within its thread, where it holds terms (`private_terms`).

use crate::program::event::{
    BeforeWindow, Choice, Event, EventId, Fences, Kind, MarkedBlockId, Read, SectionId, Target, TargetId, ThreadEvents,
    TraceProgram, UntakenBranch, UntakenId, Write,
};
use crate::program::fork_join_order::ForkJoinOrder;
use crate::program::private_terms::PrivateTerms;
use crate::program::term_migration::TermMigration;
use crate::walk::concolic::{ConcolicValue, ones};
use crate::walk::left_out::AllLeftOut;
use crate::walk::listener::{
    Boundary, CounterUpdate, LibraryAccess, Listener, Location, MemoryAccess, Position, PossibleViolation,
};
use crate::walk::objects::InstanceId;
use crate::walk::sharing_pass::{MOST_PIECE_BYTES, Piece, PieceId, Sharing, SharingClass};
use leno_ir::index::IndexVec;
use leno_ir::program::{BlockId, Order, Span};
use leno_logic::term::{Sort, Term, Terms};
use leno_trace::{Callbacks, ThreadIndex, ThreadPrivate, Trace};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A thread, and the events that it has made since the last ones that were retired.
#[derive(Default)]
struct ThreadBuilder {
    events: Vec<EventId>,
    /// How many events have been retired.
    retired: u32,
    /// What has to hold for the thread to get from its last event to here.
    guard: Option<Term>,
    locks: Rc<Vec<(Location, bool)>>,
    tried: Rc<Vec<(Location, bool)>>,
    section: Option<SectionId>,
    section_depth: u32,
    block: Option<MarkedBlockId>,
    block_depth: u32,
    /// The fences since the last event.
    fences: Fences,
}

impl ThreadBuilder {
    fn event_count(&self) -> u32 {
        self.retired + self.events.len() as u32
    }
}

pub(crate) struct EventBuilder {
    sharing: Sharing,
    callbacks: Callbacks,
    is_interrupted: bool,
    /// All events, or those since the last ones that were [retired](EventBuilder::retire).
    events: IndexVec<EventId, Event>,
    threads: BTreeMap<ThreadIndex, ThreadBuilder>,
    memory: PrivateTerms,
    counters: BTreeMap<Location, PieceId>,
    pieces: IndexVec<PieceId, Piece>,
    opaque: IndexVec<PieceId, bool>,
    targets: IndexVec<TargetId, Target>,
    untaken: IndexVec<UntakenId, UntakenBranch>,
    last_accesses: Vec<(InstanceId, EventId)>,
    sections: u32,
    /// Where each marked block begins.
    blocks: IndexVec<MarkedBlockId, Span>,
}

impl EventBuilder {
    pub(crate) fn new(sharing: Sharing, private: &ThreadPrivate, trace: &Trace) -> EventBuilder {
        EventBuilder {
            callbacks: private.callbacks,
            is_interrupted: !trace.handler_runs.is_empty(),
            pieces: sharing.pieces.clone(),
            opaque: IndexVec::new(),
            sharing,
            events: IndexVec::new(),
            threads: BTreeMap::new(),
            memory: PrivateTerms::default(),
            counters: BTreeMap::new(),
            targets: IndexVec::new(),
            untaken: IndexVec::new(),
            last_accesses: Vec::new(),
            sections: 0,
            blocks: IndexVec::new(),
        }
    }

    /// Gives away the events that there are, as a trace program.
    pub(crate) fn take_program(
        &mut self,
        terms: Terms,
        mut threads: BTreeMap<ThreadIndex, ThreadEvents>,
        must: Rc<ForkJoinOrder>,
        gaps: Vec<String>,
    ) -> TraceProgram {
        for (id, thread) in &mut threads {
            let events = self.threads.get_mut(id).map(|state| std::mem::take(&mut state.events));
            thread.events = events.unwrap_or_default();
        }
        let new_pieces = self.pieces.len() - self.opaque.len();
        self.opaque.extend(std::iter::repeat_n(false, new_pieces));
        TraceProgram {
            terms,
            events: std::mem::take(&mut self.events),
            threads,
            pieces: std::mem::take(&mut self.pieces),
            opaque: std::mem::take(&mut self.opaque),
            targets: std::mem::take(&mut self.targets),
            untaken: std::mem::take(&mut self.untaken),
            must,
            blocks: Rc::new(std::mem::take(&mut self.blocks)),
            last_accesses: std::mem::take(&mut self.last_accesses),
            gaps,
            left_out: AllLeftOut::default(),
            accesses: self.sharing.accesses,
            callbacks: self.callbacks,
            is_interrupted: self.is_interrupted,
            begun: BTreeMap::new(),
            before: BeforeWindow::default(),
        }
    }

    /// Takes back the trace program that it gave, without some events: these have happened as they were recorded, and
    /// their reads become constants. The terms move to a new arena; `others` moves those that the walk holds.
    pub(crate) fn retire(
        &mut self,
        mut ctp: TraceProgram,
        gone: &[EventId],
        others: impl FnOnce(&mut TermMigration<'_>),
    ) -> (Terms, BTreeMap<ThreadIndex, ThreadEvents>) {
        let mut is_gone: IndexVec<EventId, bool> = ctp.events.iter().map(|_| false).collect();
        let mut values = FxHashMap::default();
        for &id in gone {
            is_gone[id] = true;
            match &ctp.event(id).kind {
                Kind::Access { reads, .. } => values.extend(reads.iter().map(|read| (read.value, read.recorded))),
                Kind::Try { taken: choice, .. } | Kind::Wake { timed_out: choice, .. } if !choice.is_fixed() => {
                    values.insert(choice.bit, choice.recorded.into());
                }
                _ => {}
            }
        }
        let events = std::mem::take(&mut ctp.events);
        let mut terms = TermMigration::new(&ctp.terms, &values);
        others(&mut terms);
        let new_ids = self.take_back_events(events, &is_gone, &mut terms);
        for mut target in std::mem::take(&mut ctp.targets).into_vec() {
            let retired = self.threads.get(&target.thread).map_or(0, |state| state.retired);
            if target.after >= retired {
                (target.guard, target.bad) = (terms.term(target.guard), terms.term(target.bad));
                self.targets.push(target);
            }
        }
        for state in self.threads.values_mut() {
            state.guard = state.guard.map(|guard| terms.term(guard));
        }
        self.memory.migrate(&mut terms);
        let new_terms = terms.new;
        let last_accesses = ctp.last_accesses.iter();
        self.last_accesses = last_accesses.filter_map(|(what, id)| Some((*what, new_ids[*id]?))).collect();
        (self.pieces, self.opaque) = (ctp.pieces, ctp.opaque);
        self.blocks = Rc::try_unwrap(ctp.blocks).unwrap_or_else(|blocks| (*blocks).clone());
        (new_terms, ctp.threads)
    }

    /// Takes back those events that are not gone. Gives their new ids.
    fn take_back_events(
        &mut self,
        events: IndexVec<EventId, Event>,
        is_gone: &IndexVec<EventId, bool>,
        terms: &mut TermMigration<'_>,
    ) -> IndexVec<EventId, Option<EventId>> {
        let mut new_ids = IndexVec::new();
        for (mut event, is_gone) in events.into_vec().into_iter().zip(is_gone) {
            let state = self.threads.entry(event.thread).or_default();
            if *is_gone {
                state.retired += 1;
                new_ids.push(None);
                continue;
            }
            event.guard = terms.term(event.guard);
            match &mut event.kind {
                Kind::Access { reads, writes, .. } => {
                    reads.iter_mut().for_each(|read| read.value = terms.term(read.value));
                    for write in writes {
                        (write.value, write.condition) = (terms.term(write.value), terms.term(write.condition));
                    }
                }
                Kind::Try { taken: choice, .. } | Kind::Wake { timed_out: choice, .. } if !choice.is_fixed() => {
                    (choice.bit, choice.is_true) = (terms.term(choice.bit), terms.term(choice.is_true));
                }
                _ => {}
            }
            let id = self.events.push(event);
            state.events.push(id);
            new_ids.push(Some(id));
        }
        new_ids
    }

    /// How many events come before a time on the clock.
    pub(crate) fn events_before(&self, horizon: u64) -> usize {
        self.events.iter().filter(|event| event.moment().0 < horizon.saturating_mul(2)).count()
    }

    fn thread(&mut self, id: ThreadIndex) -> &mut ThreadBuilder {
        self.threads.entry(id).or_default()
    }

    fn add(&mut self, terms: &Terms, at: &Position, kind: Kind) -> EventId {
        let event = self.next_event(terms, at, kind, false);
        let id = self.events.push(event);
        let thread = self.thread(at.thread);
        thread.guard = None;
        thread.fences = Fences::default();
        thread.events.push(id);
        id
    }

    /// The event that a thread makes next, or is about to execute.
    pub(crate) fn next_event(&mut self, terms: &Terms, at: &Position, kind: Kind, pending: bool) -> Event {
        let thread = self.thread(at.thread);
        Event {
            thread: at.thread,
            index: thread.event_count(),
            point: at.point,
            place: at.place,
            span: at.span,
            clock: at.clock,
            guard: thread.guard.unwrap_or(terms.bool(true)),
            kind,
            locks: Rc::clone(&thread.locks),
            tried: Rc::clone(&thread.tried),
            section: thread.section,
            block: thread.block,
            pending,
            fences: thread.fences,
        }
    }

    pub(crate) fn event_count(&self) -> usize {
        self.events.len()
    }

    /// The events from this one on are never executed.
    pub(crate) fn mark_pending(&mut self, first: usize) {
        for event in self.events.iter_mut().skip(first) {
            event.pending = true;
            if let Kind::Access { writes, .. } = &mut event.kind {
                writes.clear();
            }
        }
    }

    /// The last access to an object that another thread frees is an event in any case.
    fn note_last_access(&mut self, terms: &Terms, at: &Position, access: MemoryAccess, event: Option<EventId>) {
        if self.sharing.last_access_before_free.is_empty() {
            return;
        }
        let instance = access.at.instance;
        if self.sharing.last_access_before_free.get(&(instance, at.thread)) != Some(&at.point) {
            return;
        }
        let event = event.unwrap_or_else(|| self.add(terms, at, Kind::LastAccess { instance }));
        self.last_accesses.push((instance, event));
    }

    /// The variables of a read of shared memory, and its value.
    fn read(
        &mut self,
        terms: &mut Terms,
        first: PieceId,
        access: MemoryAccess,
        recorded: u128,
    ) -> (Vec<Read>, ConcolicValue) {
        let (mut reads, mut whole): (Vec<Read>, Option<Term>) = (Vec::new(), None);
        for piece in self.sharing.pieces_of(first, access) {
            let Piece { at, bytes, .. } = self.pieces[piece];
            let value = terms.variable(Sort::Bits(bytes * 8), "read");
            let shift = (at.offset - access.at.offset) * 8;
            let recorded = recorded >> shift & ones(bytes * 8);
            reads.push(Read { piece, value, recorded });
            whole = Some(match whole {
                Some(low) => terms.concat(value, low),
                None => value,
            });
        }
        (reads, ConcolicValue { bits: recorded, term: whole })
    }

    /// The writes of a store to shared memory, which happens if `condition` holds.
    fn write(
        &mut self,
        terms: &mut Terms,
        first: PieceId,
        access: MemoryAccess,
        condition: ConcolicValue,
        value: ConcolicValue,
    ) -> Vec<Write> {
        let happened = condition.bits != 0;
        let condition = condition.truth(terms).unwrap_or(terms.bool(happened));
        let whole = value.term(terms, access.bytes * 8);
        let mut writes = Vec::new();
        for piece in self.sharing.pieces_of(first, access) {
            let Piece { at, bytes, .. } = self.pieces[piece];
            let shift = (at.offset - access.at.offset) as u32 * 8;
            let part = terms.extract(whole, shift, bytes * 8);
            let recorded = value.bits >> shift & ones(bytes * 8);
            writes.push(Write { piece, value: part, recorded, condition, happened });
        }
        writes
    }

    /// The pieces of an access of any length, with their contents as far as they are known.
    fn library_pieces(
        &mut self,
        terms: &mut Terms,
        first: PieceId,
        access: MemoryAccess,
        contents: &[u8],
        is_write: bool,
        (reads, writes): (&mut Vec<Read>, &mut Vec<Write>),
    ) {
        for piece in self.sharing.pieces_of(first, access).collect::<Vec<_>>() {
            let Piece { at, bytes, .. } = self.pieces[piece];
            let from = (at.offset - access.at.offset) as usize;
            let known = contents.get(from..from + bytes as usize).filter(|_| bytes <= MOST_PIECE_BYTES);
            let recorded =
                known.unwrap_or_default().iter().rev().fold(0, |word: u128, byte| word << 8 | u128::from(*byte));
            let width = if bytes <= MOST_PIECE_BYTES { bytes * 8 } else { 1 };
            if is_write {
                let value = terms.bits(width, recorded);
                writes.push(Write { piece, value, recorded, condition: Term::TRUE, happened: true });
            } else if !reads.iter().any(|read: &Read| read.piece == piece) {
                let value = terms.variable(Sort::Bits(width), "read");
                reads.push(Read { piece, value, recorded });
            }
        }
    }

    fn counter(&mut self, at: Location) -> PieceId {
        match self.counters.get(&at) {
            Some(&id) => id,
            None => {
                let id = self.pieces.push(Piece { at, bytes: 4, initial: Some(0) });
                self.counters.insert(at, id);
                id
            }
        }
    }

    fn acquire(&mut self, thread: ThreadIndex, lock: Location, shared: bool, is_tried: bool) {
        let thread = self.thread(thread);
        let list = if is_tried { &mut thread.tried } else { &mut thread.locks };
        Rc::make_mut(list).push((lock, shared));
    }

    fn release(&mut self, thread: ThreadIndex, lock: Location) {
        let thread = self.thread(thread);
        for list in [&mut thread.locks, &mut thread.tried] {
            if list.iter().any(|(held, _)| *held == lock) {
                Rc::make_mut(list).retain(|(held, _)| *held != lock);
            }
        }
    }
}

impl Listener for EventBuilder {
    fn load(&mut self, terms: &mut Terms, at: &Position, access: MemoryAccess, recorded: u128) -> ConcolicValue {
        let (value, event) = match self.sharing.class(access.at) {
            SharingClass::Shared(first) => {
                let (reads, value) = self.read(terms, first, access, recorded);
                let kind = Kind::Access { reads, writes: Vec::new(), atomic: access.atomic, is_plain: true };
                (value, Some(self.add(terms, at, kind)))
            }
            SharingClass::Constant => (ConcolicValue::fixed(recorded), None),
            SharingClass::Private | SharingClass::Published => (self.memory.load(terms, access, recorded), None),
        };
        self.note_last_access(terms, at, access, event);
        value
    }

    fn store(&mut self, terms: &mut Terms, at: &Position, access: MemoryAccess, value: ConcolicValue) {
        let event = match self.sharing.class(access.at) {
            SharingClass::Shared(first) => {
                let writes = self.write(terms, first, access, ConcolicValue::fixed(1), value);
                let kind = Kind::Access { reads: Vec::new(), writes, atomic: access.atomic, is_plain: true };
                Some(self.add(terms, at, kind))
            }
            _ => {
                self.memory.store(terms, access, value);
                None
            }
        };
        self.note_last_access(terms, at, access, event);
    }

    fn update_load(&mut self, terms: &mut Terms, at: &Position, access: MemoryAccess, recorded: u128) -> ConcolicValue {
        self.load(terms, at, access, recorded)
    }

    fn update_store(
        &mut self,
        terms: &mut Terms,
        at: &Position,
        access: MemoryAccess,
        condition: ConcolicValue,
        value: ConcolicValue,
    ) {
        let SharingClass::Shared(first) = self.sharing.class(access.at) else {
            let did_write = condition.bits != 0;
            if let Some(writes) = condition.truth(terms) {
                let as_recorded = if did_write { writes } else { terms.not(writes) };
                let not_as_recorded = terms.not(as_recorded);
                self.untaken_branch(terms, at, at.place.block, not_as_recorded);
                self.assume(terms, at, as_recorded);
            }
            if did_write {
                self.memory.store(terms, access, value);
            }
            return;
        };
        let written = self.write(terms, first, access, condition, value);
        // The load has made the event.
        let last = self.thread(at.thread).events.last().copied();
        if let Some(Kind::Access { writes, .. }) = last.map(|id| &mut self.events[id].kind) {
            *writes = written;
        }
    }

    fn update_counter(
        &mut self,
        terms: &mut Terms,
        at: &Position,
        counter: Location,
        update: &mut dyn FnMut(&mut Terms, Term) -> CounterUpdate,
    ) -> Option<Term> {
        let piece = self.counter(counter);
        let old = terms.variable(Sort::Bits(32), "count");
        let CounterUpdate { guard, new, condition } = update(terms, old);
        let condition = condition.unwrap_or(Term::TRUE);
        // (The recorded values follow when all events are there.)
        let reads = vec![Read { piece, value: old, recorded: 0 }];
        let write = |value| Write { piece, value, recorded: 0, condition, happened: true };
        let writes = new.map(write).into_iter().collect();
        let id = self.add(terms, at, Kind::Access { reads, writes, atomic: true, is_plain: false });
        if let Some(guard) = guard {
            let event = &mut self.events[id];
            event.guard = terms.and2(event.guard, guard);
        }
        Some(old)
    }

    fn library_call(&mut self, terms: &mut Terms, at: &Position, accesses: &[LibraryAccess]) -> Vec<Term> {
        let (mut reads, mut writes, mut pins): (Vec<Read>, Vec<Write>, Vec<Term>) = Default::default();
        for LibraryAccess { access, writes: is_write, contents } in accesses {
            let contents = contents.as_deref().unwrap_or_default();
            match (self.sharing.class(access.at), is_write) {
                (SharingClass::Shared(first), _) => {
                    self.library_pieces(terms, first, *access, contents, *is_write, (&mut reads, &mut writes));
                }
                (_, true) => self.memory.overwrite(access.at, access.bytes.into()),
                (_, false) => pins.extend(self.memory.pins(terms, access.at, access.bytes.into())),
            }
        }
        pins.extend(
            reads
                .iter()
                .filter(|read| terms.width(read.value) > 1)
                .map(|read| (read.value, read.recorded))
                .collect::<Vec<_>>()
                .into_iter()
                .map(|(value, recorded)| {
                    let width = terms.width(value);
                    let was = terms.bits(width, recorded);
                    terms.eq(value, was)
                }),
        );
        let is_shared = !reads.is_empty() || !writes.is_empty();
        let kind = Kind::Access { reads, writes, atomic: false, is_plain: true };
        let event = is_shared.then(|| self.add(terms, at, kind));
        for one in accesses {
            self.note_last_access(terms, at, one.access, event);
        }
        pins
    }

    fn object(&mut self, terms: &mut Terms, at: &Position, access: MemoryAccess, _: bool) {
        let event = match self.sharing.class(access.at) {
            SharingClass::Shared(first) => {
                // (The value that is written does not matter: the state of objects is not kept in their bytes.)
                let mut writes = Vec::new();
                self.library_pieces(terms, first, access, &[], true, (&mut Vec::new(), &mut writes));
                let kind = Kind::Access { reads: Vec::new(), writes, atomic: access.atomic, is_plain: true };
                Some(self.add(terms, at, kind))
            }
            _ => None,
        };
        self.note_last_access(terms, at, access, event);
    }

    fn private_contents(&mut self, terms: &mut Terms, at: Location, bytes: u32, recorded: u128) -> ConcolicValue {
        self.memory.load(terms, MemoryAccess { at, bytes, atomic: false }, recorded)
    }

    fn private_pins(&mut self, terms: &mut Terms, at: Location, bytes: u64) -> Vec<Term> {
        self.memory.pins(terms, at, bytes)
    }

    fn choice(&mut self, terms: &mut Terms, recorded: bool) -> Choice {
        let bit = terms.variable(Sort::Bits(1), "choice");
        Choice { bit, is_true: terms.bits_to_bool(bit), recorded }
    }

    fn assume(&mut self, terms: &mut Terms, at: &Position, condition: Term) {
        let thread = self.thread(at.thread);
        thread.guard = Some(match thread.guard {
            Some(guard) => terms.and2(guard, condition),
            None => condition,
        });
    }

    fn untaken_branch(&mut self, terms: &mut Terms, at: &Position, other: BlockId, condition: Term) {
        if terms.as_bool(condition) == Some(false) {
            return;
        }
        let thread = self.thread(at.thread);
        let branch = UntakenBranch {
            thread: at.thread,
            after: thread.event_count(),
            point: at.point,
            place: at.place,
            other,
            span: at.span,
            guard: thread.guard.unwrap_or(terms.bool(true)),
            condition,
        };
        self.untaken.push(branch);
    }

    fn check(&mut self, terms: &mut Terms, at: &Position, bad: Term, violation: PossibleViolation) {
        if terms.as_bool(bad) == Some(false) {
            return;
        }
        let thread = self.thread(at.thread);
        let target = Target {
            thread: at.thread,
            after: thread.event_count(),
            point: at.point,
            place: at.place,
            guard: thread.guard.unwrap_or(terms.bool(true)),
            bad,
            violation,
        };
        self.targets.push(target);
    }

    fn event(&mut self, terms: &mut Terms, at: &Position, kind: Kind) {
        let is_life = matches!(kind, Kind::EndLife { instance } | Kind::BeginLife { instance }
            if !self.sharing.freed_elsewhere.contains(&instance));
        if is_life {
            return;
        }
        let done = kind.clone();
        self.add(terms, at, kind);
        match done {
            Kind::Acquire { lock, shared } => self.acquire(at.thread, lock, shared, false),
            Kind::Try { lock, shared, taken } if taken.recorded => self.acquire(at.thread, lock, shared, true),
            Kind::Release { lock } => self.release(at.thread, lock),
            _ => {}
        }
    }

    fn fence(&mut self, at: &Position, order: Order) {
        let thread = self.thread(at.thread);
        thread.fences = thread.fences.then(Fences::of(order));
    }

    fn boundary(&mut self, at: &Position, boundary: Boundary) {
        let (next_section, next_block) = (SectionId(self.sections + 1), self.blocks.next_id());
        let thread = self.threads.entry(at.thread).or_default();
        match boundary {
            Boundary::BeginSection => {
                self.sections += 1;
                thread.section_depth += 1;
                thread.section = thread.section.or(Some(next_section));
            }
            Boundary::EndSection => {
                thread.section_depth = thread.section_depth.saturating_sub(1);
                if thread.section_depth == 0 {
                    thread.section = None;
                }
            }
            Boundary::BeginBlock => {
                thread.block_depth += 1;
                if thread.block.is_none() {
                    thread.block = Some(next_block);
                    self.blocks.push(at.span);
                }
            }
            Boundary::EndBlock => {
                thread.block_depth = thread.block_depth.saturating_sub(1);
                if thread.block_depth == 0 {
                    thread.block = None;
                }
            }
        }
    }

    fn new_private_object(&mut self, at: Location, bytes: u64) {
        self.memory.clear(at, bytes);
    }
}
