//! A thread during the walk: its stack of frames, its records, and the memory that only it knows.

use crate::walk::concolic::ConcolicValue;
use crate::walk::listener::Location;
use crate::walk::load_table::RecordCursor;
use crate::walk::memory::Memory;
use crate::walk::objects::InstanceId;
use crate::walk::problem::WalkProblem;
use crate::walk::spinning::SpinWatch;
use leno_ir::index::{Idx, IndexVec};
use leno_ir::program::{BlockId, FuncId, LocalId, Place, SlotId};
use leno_logic::term::Term;
use leno_trace::{LOAD_TABLE_BYTES, ThreadIndex};
use std::collections::BTreeMap;

/// A function that is running.
#[derive(Clone)]
pub(crate) struct Frame {
    pub func: FuncId,
    pub block: BlockId,
    pub index: u32,
    pub locals: IndexVec<LocalId, ConcolicValue>,
    /// The addresses of its stack objects, which are removed when it returns.
    pub slots: IndexVec<SlotId, u64>,
    /// Where the caller wants the result.
    pub dst: Option<LocalId>,
}

impl Frame {
    pub fn place(&self) -> Place {
        Place { func: self.func, block: self.block, index: self.index }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ThreadState {
    Running,
    /// The thread ended in the recorded run.
    Finished,
    /// The recorded path ends, and the thread had not ended; or it cannot be walked any further.
    PathEnded,
}

pub(crate) struct ThreadWalk {
    pub id: ThreadIndex,
    pub name: String,
    pub records: RecordCursor,
    pub frames: Vec<Frame>,
    pub clock: u64,
    /// The last record was a synchronisation step, which has moved the clock.
    pub moved_clock: bool,
    /// What the thread last saw at addresses, as the recorder had it.
    pub load_table: Vec<u8>,
    pub slot_table: Vec<u64>,
    /// Hits in the load table that no record has counted so far.
    pub hits: u64,
    /// All of them, so far.
    pub all_hits: u64,
    /// Thread-private memory.
    pub memory: Memory,
    pub object_cache: ObjectCache,
    pub point: u32,
    pub children: u32,
    pub state: ThreadState,
    pub result: ConcolicValue,
    /// Live stack objects, and other private ones, by address: end and instance.
    pub own_objects: BTreeMap<u64, (u64, InstanceId)>,
    /// How many recorded objects the thread has made and freed.
    pub made: usize,
    pub freed: usize,
    /// The arrival number that it got at each barrier.
    pub barrier_tickets: BTreeMap<Location, Term>,
    /// By lock that it has tried to take, and held in the recorded run: that it got it.
    pub tried: BTreeMap<Location, Term>,
    /// How often the thread has acquired each lock that it holds.
    pub lock_depth: BTreeMap<Location, u32>,
    /// For loops in which it waits.
    pub spin: SpinWatch,
    /// Instructions since the last record.
    pub steps_without_record: u64,
    /// Values that came from outside of the program, in order.
    pub inputs: Vec<InputValue>,
    pub problem: Option<WalkProblem>,
}

impl ThreadWalk {
    pub fn new(id: ThreadIndex, name: String, records: RecordCursor, memory: Memory, private_slots: usize) -> Self {
        ThreadWalk {
            id,
            name,
            records,
            frames: Vec::new(),
            clock: 0,
            moved_clock: id != ThreadIndex::MAIN,
            // An access may begin at the last byte.
            load_table: vec![0; LOAD_TABLE_BYTES + 16],
            slot_table: vec![0; private_slots],
            hits: 0,
            all_hits: 0,
            memory,
            object_cache: ObjectCache::default(),
            point: 0,
            children: 0,
            state: ThreadState::Running,
            result: ConcolicValue::default(),
            own_objects: BTreeMap::new(),
            made: 0,
            freed: 0,
            barrier_tickets: BTreeMap::new(),
            tried: BTreeMap::new(),
            lock_depth: BTreeMap::new(),
            spin: SpinWatch::default(),
            steps_without_record: 0,
            inputs: Vec::new(),
            problem: None,
        }
    }

    pub fn is_running(&self) -> bool {
        self.state == ThreadState::Running
    }

    pub fn add_object(&mut self, address: u64, size: u64, id: InstanceId) {
        let end = address.saturating_add(size.max(1));
        // Objects of functions that have returned, in the same part of the stack, are gone.
        let stale: Vec<u64> = self.own_objects.range(address..end).map(|(start, _)| *start).collect();
        for start in stale {
            self.own_objects.remove(&start);
        }
        self.own_objects.insert(address, (end, id));
    }

    pub fn summary(&self) -> ThreadSummary {
        ThreadSummary {
            name: self.name.clone(),
            finished: self.state == ThreadState::Finished,
            points: self.point,
            inputs: self.inputs.clone(),
            problem: self.problem.clone(),
        }
    }
}

/// A value that came from outside of the program: a nondeterministic one, or what an unknown function returned.
#[derive(Clone, Copy, Debug)]
pub struct InputValue {
    pub bits: u128,
    pub place: Place,
}

/// What is known of a thread after the walk.
#[derive(Clone, Debug)]
pub struct ThreadSummary {
    pub name: String,
    pub finished: bool,
    /// How many schedule points it has passed.
    pub points: u32,
    pub inputs: Vec<InputValue>,
    pub problem: Option<WalkProblem>,
}

/// All threads.
#[derive(Default)]
pub(crate) struct ThreadWalks {
    all: IndexVec<ThreadIndex, Option<Box<ThreadWalk>>>,
}

impl ThreadWalks {
    /// No process has numbers of threads beyond this; a damaged trace may.
    pub const MOST: usize = 1 << 20;

    pub fn get(&self, id: ThreadIndex) -> Option<&ThreadWalk> {
        self.all.get(id)?.as_deref()
    }

    pub fn get_mut(&mut self, id: ThreadIndex) -> Option<&mut ThreadWalk> {
        // (A look first: `IndexVec` has no `get_mut`, and its index panics.)
        self.all.get(id)?;
        self.all[id].as_deref_mut()
    }

    pub fn insert(&mut self, thread: ThreadWalk) {
        let id = thread.id;
        while self.all.len() <= id.index() {
            self.all.push(None);
        }
        self.all[id] = Some(Box::new(thread));
    }

    pub fn iter(&self) -> impl Iterator<Item = &ThreadWalk> {
        self.all.iter().flatten().map(|thread| &**thread)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut ThreadWalk> {
        self.all.iter_mut().flatten().map(|thread| &mut **thread)
    }
}

/// Objects in which a thread has found addresses, by a few bits of the address.
pub(crate) struct ObjectCache {
    entries: Vec<Option<CachedObject>>,
    /// How many objects there are at a time on the clock: an entry is valid only for the same number.
    generation: (u64, usize),
}

#[derive(Clone, Copy)]
pub(crate) struct CachedObject {
    pub start: u64,
    pub end: u64,
    pub id: InstanceId,
    generation: usize,
}

impl Default for ObjectCache {
    fn default() -> ObjectCache {
        ObjectCache { entries: vec![None; ObjectCache::ENTRIES], generation: (u64::MAX, 0) }
    }
}

impl ObjectCache {
    const ENTRIES: usize = 64;

    fn entry(address: u64) -> usize {
        (address >> 6) as usize % ObjectCache::ENTRIES
    }

    /// Sets the time; `generation` counts the objects that there are then.
    pub fn set_time(&mut self, clock: u64, generation: impl FnOnce() -> usize) {
        if self.generation.0 != clock {
            self.generation = (clock, generation());
        }
    }

    pub fn find(&self, address: u64) -> Option<CachedObject> {
        self.entries[ObjectCache::entry(address)]
            .filter(|found| found.generation == self.generation.1 && (found.start..found.end).contains(&address))
    }

    pub fn remember(&mut self, address: u64, start: u64, end: u64, id: InstanceId) {
        let found = CachedObject { start, end, id, generation: self.generation.1 };
        self.entries[ObjectCache::entry(address)] = Some(found);
    }
}
