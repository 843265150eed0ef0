//! The recorded path of each thread, walked through the representation.
//!
//! The records of a thread hold every value that came into it from outside, and nothing else. So its path can be walked
//! again, one instruction after another, without any other thread: the walk computes registers, addresses and branches,
//! and takes from the records what loads returned, what inputs were, and where objects were allocated. Beside each
//! value it carries a term (`concolic`), and tells a [`Listener`] what the thread did that other threads can see: these
//! are the guarded assignments and assertions of paper 003, section 3.
//!
//! Two sorts of values have no records. Thread-private memory is kept by the walk (`memory`). And a load that returned
//! what the thread had last seen under the low bits of its address is only counted: the walk keeps the same load table
//! as the recorder (`load_table`).
//!
//! Threads are walked side by side: the one that is furthest behind on the recorded clock goes first. So what a parent
//! passed on is known when the child begins, and what a child returned when it is joined.
//!
//! | file | what |
//! |---|---|
//! | `thread` | the state of one thread |
//! | `listener` | what the walk reports |
//! | `control`, `instructions`, `accesses`, `addresses`, `calls`, `outside`, `synchronisation` | one step of a thread |
//! | `concolic` | values: recorded bits and a term |
//! | `objects`, `memory`, `load_table` | the objects of the run, private memory, loads without records |
//! | `spinning` | rounds of a loop that change nothing are walked a few times only |
//! | `untaken_branch`, `blocked_at_end` | what was nearly done: a failing branch, a step that the run ended before |
//! | `sharing_pass` | the listener of the first walk: which memory threads share |
//! | `problem`, `left_out` | why a walk stops, and which reorderings it does not look at |

pub(crate) mod accesses;
pub(crate) mod addresses;
pub(crate) mod blocked_at_end;
pub(crate) mod calls;
pub(crate) mod concolic;
pub(crate) mod control;
pub(crate) mod instructions;
pub(crate) mod left_out;
pub(crate) mod listener;
pub(crate) mod load_table;
pub(crate) mod memory;
pub(crate) mod objects;
pub(crate) mod outside;
pub(crate) mod problem;
pub(crate) mod sharing_pass;
pub(crate) mod spinning;
pub(crate) mod synchronisation;
pub(crate) mod thread;
pub(crate) mod untaken_branch;

use crate::program::event::Kind;
use crate::program::term_migration::TermMigration;
use crate::walk::concolic::ConcolicValue;
use crate::walk::left_out::AllLeftOut;
use crate::walk::listener::{Boundary, Listener, Location, Position};
use crate::walk::load_table::RecordCursor;
use crate::walk::memory::{InitialBytes, Memory};
use crate::walk::objects::Instances;
use crate::walk::problem::{WalkEnd, WalkProblem};
use crate::walk::thread::{ThreadState, ThreadSummary, ThreadWalk, ThreadWalks};
use leno_ir::program::{BlockId, FuncId, Place, Program};
use leno_logic::limits::{Limits, Stop};
use leno_logic::term::Terms;
use leno_trace::{Record, ThreadIndex, ThreadPrivate, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// The walk of all threads.
pub struct Walk<'p, 't, L> {
    pub(crate) program: &'p Program,
    pub(crate) private: &'t ThreadPrivate,
    pub(crate) instances: &'t mut Instances,
    pub(crate) trace: &'t Trace,
    pub terms: Terms,
    pub(crate) threads: ThreadWalks,
    /// The threads that can continue: by the clock, then by number.
    ready: BTreeSet<(u64, ThreadIndex)>,
    /// Threads that wait for the ends of others.
    waiting: BTreeSet<ThreadIndex>,
    /// The initial contents of static objects that unrecorded loads read.
    initial_bytes: InitialBytes,
    /// By thread, the places of the schedule points that it passed, if they are asked for.
    pub paths: Option<BTreeMap<ThreadIndex, Vec<Place>>>,
    /// The sizes of barriers.
    pub(crate) barriers: BTreeMap<Location, u128>,
    /// The functions that mark blocks as atomic.
    pub(crate) markers: BTreeMap<FuncId, Boundary>,
    /// By handle: the thread that was started with it.
    pub(crate) handles: BTreeMap<u64, ThreadIndex>,
    /// How often we have looked behind a side of a branch that was not taken.
    pub(crate) untaken: BTreeMap<(Place, BlockId), u32>,
    /// Functions outside of the program that have called back what is in it.
    pub(crate) callbacks: BTreeSet<String>,
    /// Where reorderings are not looked at, and why.
    pub(crate) left_out: AllLeftOut,
    pub listener: L,
    limits: &'t Limits,
    steps: u64,
    /// Why the walk was stopped, if a limit was reached.
    pub(crate) stopped: Option<Stop>,
}

/// What a thread is started with: arguments and their widths.
pub(crate) type Arguments<'a> = &'a [(u32, ConcolicValue)];

/// The functions that mark blocks as atomic; each file may have its own, told apart by a number behind the name.
fn markers(program: &Program) -> BTreeMap<FuncId, Boundary> {
    let boundary = |name: &str| match name.split('.').next() {
        Some("leno_expect_atomic_begin") => Some(Boundary::BeginBlock),
        Some("leno_expect_atomic_end") => Some(Boundary::EndBlock),
        _ => None,
    };
    program.functions.iter_enumerated().filter_map(|(id, function)| Some((id, boundary(&function.name)?))).collect()
}

impl<'p, 't, L: Listener> Walk<'p, 't, L> {
    pub fn new(
        program: &'p Program,
        private: &'t ThreadPrivate,
        trace: &'t Trace,
        instances: &'t mut Instances,
        listener: L,
        limits: &'t Limits,
    ) -> Self {
        let initial_bytes = memory::initial_bytes(program, private, instances, None);
        Walk {
            program,
            private,
            instances,
            trace,
            terms: Terms::new(),
            threads: ThreadWalks::default(),
            ready: BTreeSet::new(),
            waiting: BTreeSet::new(),
            initial_bytes,
            paths: None,
            barriers: BTreeMap::new(),
            markers: markers(program),
            handles: BTreeMap::new(),
            untaken: BTreeMap::new(),
            callbacks: BTreeSet::new(),
            left_out: AllLeftOut::default(),
            listener,
            limits,
            steps: 0,
            stopped: None,
        }
    }

    /// Walks all threads to the ends of their paths, unless a limit is reached.
    pub fn run(&mut self) -> Result<BTreeMap<ThreadIndex, ThreadSummary>, Stop> {
        self.start();
        while self.advance_next() {}
        match self.stopped {
            Some(stop) => Err(stop),
            None => Ok(self.threads.iter().map(|thread| (thread.id, thread.summary())).collect()),
        }
    }

    /// Puts the main thread at its beginning.
    pub(crate) fn start(&mut self) {
        let Some(entry) = self.program.entry else { return };
        let first = self.trace.records(ThreadIndex::MAIN).next();
        let (argc, argv, fingerprint) = match first {
            Some(Record::Begin { argc, argv, fingerprint }) => (argc, argv, Some(fingerprint)),
            _ => (0, 0, None),
        };
        let arguments = [(32, ConcolicValue::fixed(argc.into())), (64, ConcolicValue::fixed(argv.into()))];
        self.add_thread(ThreadIndex::MAIN, "main".to_string(), entry, &arguments);
        let is_same_program = fingerprint == Some(self.private.unrecorded.fingerprint());
        if first.is_some() && !is_same_program {
            self.end(ThreadIndex::MAIN, WalkEnd::Problem(WalkProblem::OtherProgram));
        }
    }

    /// Walks the thread that is furthest behind up to the next time on the clock; false if all are at the ends of their
    /// paths.
    pub(crate) fn advance_next(&mut self) -> bool {
        if let Some((clock, id)) = self.ready.pop_first() {
            // (A thread may be in the set twice.)
            if self.threads.get(id).is_some_and(|thread| thread.clock == clock) {
                self.advance(id);
            }
            return true;
        }
        // A join of a thread whose path ends before its end: the record says what it returned.
        let waiting = self.threads.iter().find(|thread| thread.is_running()).map(|thread| thread.id);
        let Some(id) = waiting else { return false };
        self.step_without_waiting(id);
        true
    }

    /// Nothing that is still to come was before this time on the clock. (0 while all threads wait for ends of threads.)
    pub(crate) fn horizon(&self) -> u64 {
        self.ready.first().map_or(0, |(clock, _)| *clock)
    }

    /// Moves the terms of all threads to another arena.
    pub(crate) fn migrate_terms(threads: &mut ThreadWalks, terms: &mut TermMigration<'_>) {
        let mut migrate = |value: &mut ConcolicValue| {
            if let Some(term) = value.term {
                let term = terms.term(term);
                *value = ConcolicValue::new(&terms.new, value.bits, term);
            }
        };
        for thread in threads.iter_mut() {
            thread.frames.iter_mut().flat_map(|frame| frame.locals.iter_mut()).for_each(&mut migrate);
            migrate(&mut thread.result);
        }
        for thread in threads.iter_mut() {
            let kept = thread.barrier_tickets.values_mut().chain(thread.tried.values_mut());
            kept.for_each(|term| *term = terms.term(*term));
        }
    }

    /// Starts a thread in a function.
    pub(crate) fn add_thread(&mut self, id: ThreadIndex, name: String, func: FuncId, arguments: Arguments) {
        let mut records = RecordCursor::new(self.trace.records(id));
        let has_records = records.peek().is_some();
        let mut clock = 0;
        while let Some(Record::Begin { .. } | Record::Started { .. } | Record::Static(_)) = records.peek() {
            clock = records.take().and_then(Record::clock).unwrap_or(clock);
        }
        let mut bytes = memory::initial_bytes(self.program, self.private, self.instances, Some(id));
        bytes.extend(self.initial_bytes.iter().cloned());
        let mut thread = ThreadWalk::new(id, name, records, Memory::new(&bytes), self.private.slot_count());
        thread.clock = clock;
        self.threads.insert(thread);
        if id != ThreadIndex::MAIN
            && let Some(at) = self.start_position(id, func)
        {
            self.listener.event(&mut self.terms, &at, Kind::Start);
        }
        if !has_records {
            return self.end(id, WalkEnd::Problem(WalkProblem::NoRecords));
        }
        if !self.instances.has_addresses(self.program, id) {
            // A run may end while a thread is being started; any other record comes after the addresses.
            let is_just_started = self.threads.get(id).is_some_and(|thread| thread.records.peek().is_none());
            return self.end(
                id,
                match is_just_started {
                    true => WalkEnd::PathEnds,
                    false => WalkEnd::Problem(WalkProblem::MissingAddresses),
                },
            );
        }
        match self.enter(id, func, arguments, None) {
            // (The clock may have moved while the function was entered.)
            Ok(()) => self.make_ready(id),
            Err(end) => self.end(id, end),
        }
    }

    fn start_position(&self, id: ThreadIndex, func: FuncId) -> Option<Position> {
        let thread = self.threads.get(id)?;
        let place = Place { func, block: BlockId(0), index: 0 };
        Some(Position { thread: id, place, span: self.program.functions[func].span, clock: thread.clock, point: 0 })
    }

    fn make_ready(&mut self, id: ThreadIndex) {
        if let Some(thread) = self.threads.get(id).filter(|thread| thread.is_running()) {
            self.ready.insert((thread.clock, id));
        }
    }

    /// A thread does not continue.
    fn end(&mut self, id: ThreadIndex, end: WalkEnd) {
        let Some(thread) = self.threads.get_mut(id) else { return };
        match end {
            WalkEnd::WaitsForThread => {
                self.waiting.insert(id);
                return;
            }
            WalkEnd::PathEnds if thread.is_running() => thread.state = ThreadState::PathEnded,
            WalkEnd::PathEnds => {}
            WalkEnd::Problem(problem) => {
                thread.state = ThreadState::PathEnded;
                thread.problem = Some(problem);
            }
        }
        // What it knows of memory is not needed any more; its position still is.
        (thread.load_table, thread.memory) = (Vec::new(), Memory::default());
        // Other threads may have waited for its end.
        for id in std::mem::take(&mut self.waiting) {
            self.make_ready(id);
        }
    }

    /// Walks a thread until the clock moves.
    fn advance(&mut self, id: ThreadIndex) {
        let Some(start) = self.threads.get(id).map(|thread| thread.clock) else { return };
        while let Some(thread) = self.threads.get(id).filter(|thread| thread.is_running()) {
            if thread.clock != start {
                return self.make_ready(id);
            }
            if let Err(end) = self.step(id, false) {
                return self.end(id, end);
            }
        }
    }

    /// One step of a thread, which does not wait for the ends of others.
    fn step_without_waiting(&mut self, id: ThreadIndex) {
        match self.step(id, true) {
            Ok(()) => self.make_ready(id),
            Err(end) => self.end(id, end),
        }
    }
}

impl<L> Walk<'_, '_, L> {
    /// Whether a limit has been reached; asked at every step, looked at seldom.
    pub(crate) fn is_stopped(&mut self) -> bool {
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(STEPS_BETWEEN_CHECKS) && self.stopped.is_none() {
            self.stopped = self.limits.stop();
        }
        self.stopped.is_some()
    }
}

const STEPS_BETWEEN_CHECKS: u64 = 1 << 16;
