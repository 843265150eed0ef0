//! Which object an address of the recorded run belongs to.
//!
//! An address alone does not name an object: memory is used again, above all on stacks, and the stack of a thread that
//! has ended becomes that of another one. So every object of the run, static, on a stack or on the heap, is an instance
//! with a time of allocation on the recorded clock, and an address is looked up together with a time. Instances are
//! collected from the records before anything is walked, since a thread may access what another one has allocated.

use leno_ir::index::IndexVec;
use leno_ir::program::{FuncId, ObjectId, ObjectKind, Program};
use leno_symbolic::contents::Addresses;
use leno_trace::{Record, Records, ThreadIndex, Trace};
use std::collections::BTreeMap;

leno_ir::index_type!(
    /// An object of the run. 0 is all memory of which nothing is known.
    InstanceId,
    "i"
);

/// From here on, an instance stands for all memory that is private to a thread, with addresses as offsets.
const PRIVATE: u32 = 1 << 31;

impl InstanceId {
    pub const UNKNOWN: InstanceId = InstanceId(0);

    pub fn private(thread: ThreadIndex) -> InstanceId {
        InstanceId(PRIVATE | thread.0)
    }

    pub fn is_private(self) -> bool {
        self.0 >= PRIVATE
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InstanceKind {
    Unknown,
    Static(ObjectId),
    Slot,
    Heap,
}

#[derive(Clone, Copy, Debug)]
pub struct Instance {
    pub kind: InstanceKind,
    pub start: u64,
    pub size: u64,
    /// When it was allocated, on the recorded clock.
    pub from: u64,
    /// It began as zeros.
    pub zeroed: bool,
}

/// All objects of a run.
#[derive(Clone, Default, Debug)]
pub struct Instances {
    all: IndexVec<InstanceId, Instance>,
    /// By the logarithm of the size, by address: oldest first.
    by_size: BTreeMap<u32, BTreeMap<u64, Vec<InstanceId>>>,
    /// Of each thread: its stack objects and allocations, in the order of its records.
    made: BTreeMap<ThreadIndex, Vec<InstanceId>>,
    /// Of each thread: what it freed, in the order of its records.
    freed: BTreeMap<ThreadIndex, Vec<InstanceId>>,
    /// When objects were allocated, in order.
    allocation_times: Vec<u64>,
    /// Addresses of static objects, by object; thread-local ones by thread.
    statics: IndexVec<ObjectId, u64>,
    thread_locals: BTreeMap<(ThreadIndex, ObjectId), u64>,
    /// Functions by address.
    functions: BTreeMap<u64, FuncId>,
    function_addresses: IndexVec<FuncId, u64>,
}

impl Instances {
    pub fn collect(program: &Program, trace: &Trace) -> Instances {
        let unknown = Instance { kind: InstanceKind::Unknown, start: 0, size: u64::MAX, from: 0, zeroed: false };
        let mut instances = Instances { all: vec![unknown].into(), ..Instances::default() };
        for thread in trace.threads() {
            instances.collect_statics(program, thread, trace.records(thread));
            instances.collect_thread(thread, trace.records(thread));
        }
        instances.allocation_times = instances.all.iter().map(|instance| instance.from).collect();
        instances.allocation_times.sort_unstable();
        for by_address in instances.by_size.values_mut() {
            for list in by_address.values_mut() {
                list.sort_by_key(|id| (instances.all[*id].from, *id));
            }
        }
        // Which object an address is freed of is known only now.
        for thread in trace.threads() {
            instances.collect_frees(thread, trace.records(thread));
        }
        instances
    }

    fn collect_statics(&mut self, program: &Program, thread: ThreadIndex, records: Records) {
        let addresses: Vec<u64> = records
            .take_while(|record| {
                matches!(record, Record::Begin { .. } | Record::Started { .. } | Record::Static(_) | Record::Clock(_))
            })
            .filter_map(|record| match record {
                Record::Static(address) => Some(address),
                _ => None,
            })
            .collect();
        let mut addresses = addresses.into_iter();
        if thread == ThreadIndex::MAIN {
            self.statics = addresses.by_ref().take(program.objects.len()).collect();
            for (id, object) in program.objects.iter_enumerated() {
                let Some(&start) = self.statics.get(id) else { break };
                if object.kind != ObjectKind::ThreadLocal {
                    self.add(InstanceKind::Static(id), start, object.size, 0);
                }
            }
            self.function_addresses = addresses.by_ref().take(program.functions.len()).collect();
            for (id, address) in self.function_addresses.iter_enumerated() {
                self.functions.insert(*address, id);
            }
        }
        let locals = program.objects.iter_enumerated().filter(|(_, object)| object.kind == ObjectKind::ThreadLocal);
        for ((id, object), start) in locals.zip(addresses) {
            self.thread_locals.insert((thread, id), start);
            self.add(InstanceKind::Static(id), start, object.size, 0);
        }
    }

    fn collect_thread(&mut self, thread: ThreadIndex, records: Records) {
        let (mut now, mut made) = (0, Vec::new());
        for record in records {
            now = record.clock().unwrap_or(now);
            match record {
                Record::Slot { address, bytes } => made.push(self.add(InstanceKind::Slot, address, bytes, now)),
                Record::Allocated { address, bytes, .. } => {
                    made.push(self.add(InstanceKind::Heap, address, bytes, now));
                }
                _ => {}
            }
        }
        self.made.insert(thread, made);
    }

    fn collect_frees(&mut self, thread: ThreadIndex, records: Records) {
        let mut freed = Vec::new();
        for record in records {
            let Record::Freed { address, clock } = record else { continue };
            freed.push(if address == 0 { InstanceId::UNKNOWN } else { self.heap_object(address, clock) });
        }
        self.freed.insert(thread, freed);
    }

    fn add(&mut self, kind: InstanceKind, start: u64, size: u64, from: u64) -> InstanceId {
        let id = self.all.push(Instance { kind, start, size, from, zeroed: false });
        if start != 0 {
            self.by_size.entry(size.max(1).ilog2()).or_default().entry(start).or_default().push(id);
        }
        id
    }

    /// How many objects there were at a time: as long as that is the same, an address is in the same object.
    pub fn generation(&self, now: u64) -> usize {
        self.allocation_times.partition_point(|from| *from <= now)
    }

    pub fn get(&self, id: InstanceId) -> &Instance {
        &self.all[id]
    }

    pub fn set_zeroed(&mut self, id: InstanceId) {
        self.all[id].zeroed = true;
    }

    pub fn made(&self, thread: ThreadIndex, number: usize) -> InstanceId {
        self.made.get(&thread).and_then(|made| made.get(number)).copied().unwrap_or(InstanceId::UNKNOWN)
    }

    pub fn freed(&self, thread: ThreadIndex, number: usize) -> InstanceId {
        self.freed.get(&thread).and_then(|freed| freed.get(number)).copied().unwrap_or(InstanceId::UNKNOWN)
    }

    /// Whether the trace has the addresses of all objects and functions that a thread may name.
    pub fn has_addresses(&self, program: &Program, thread: ThreadIndex) -> bool {
        self.statics.len() == program.objects.len()
            && self.function_addresses.len() == program.functions.len()
            && program.objects.ids().all(|object| self.address_of(program, thread, object).is_some())
    }

    /// The address of a static object; for thread-local ones, that of a thread.
    pub fn address_of(&self, program: &Program, thread: ThreadIndex, object: ObjectId) -> Option<u64> {
        match program.objects[object].kind {
            ObjectKind::ThreadLocal => self.thread_locals.get(&(thread, object)).copied(),
            _ => self.statics.get(object).copied(),
        }
    }

    pub fn function_address(&self, function: FuncId) -> Option<u64> {
        self.function_addresses.get(function).copied()
    }

    pub fn function_at(&self, address: u64) -> Option<FuncId> {
        self.functions.get(&address).copied()
    }

    /// The object at an address at a time; of several, the one that was allocated last.
    pub fn at(&self, address: u64, now: u64) -> InstanceId {
        let mut best = InstanceId::UNKNOWN;
        for (size, by_address) in &self.by_size {
            let reach = 1u64.checked_shl(size + 1).unwrap_or(u64::MAX);
            for (start, list) in by_address.range(address.saturating_sub(reach)..=address).rev() {
                let alive = list.partition_point(|id| self.get(*id).from <= now);
                let Some(id) = alive.checked_sub(1).map(|last| list[last]) else { continue };
                let instance = self.get(id);
                if address - start < instance.size.max(1)
                    && (best == InstanceId::UNKNOWN || self.get(best).from <= instance.from)
                {
                    best = id;
                }
            }
        }
        best
    }

    /// The heap object that begins at an address, at a time.
    fn heap_object(&self, start: u64, now: u64) -> InstanceId {
        let lists = self.by_size.values().filter_map(|by_address| by_address.get(&start)).flatten();
        let found = lists.filter(|id| self.get(**id).kind == InstanceKind::Heap && self.get(**id).from <= now);
        found.max_by_key(|id| self.get(**id).from).copied().unwrap_or(InstanceId::UNKNOWN)
    }
}

/// Where static objects and functions were in the recorded run.
pub struct RecordedAddresses<'a> {
    pub program: &'a Program,
    pub instances: &'a Instances,
}

/// The trace does not have an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoAddress;

impl Addresses for RecordedAddresses<'_> {
    type Error = NoAddress;

    fn object_address(&mut self, object: ObjectId) -> Result<u64, NoAddress> {
        self.instances.address_of(self.program, ThreadIndex::MAIN, object).ok_or(NoAddress)
    }

    fn function_address(&mut self, function: FuncId) -> Result<u64, NoAddress> {
        self.instances.function_address(function).ok_or(NoAddress)
    }
}
