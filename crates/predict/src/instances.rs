//! Which object an address of the recorded run belongs to.
//!
//! An address alone does not name an object: memory is used again, above all on stacks, and the stack of a thread that has ended
//! becomes that of another one. So every object of the run, static, on a stack or on the heap, is an instance with a time of birth
//! on the recorded clock, and an address is looked up together with a moment. Instances are collected from the records
//! before anything is walked, since a thread may use what another one has allocated.

use crate::trace::{Record, Records, Trace};
use leno_ir::index::Idx;
use leno_ir::program::{ObjectId, ObjectKind, Program};
use std::collections::BTreeMap;

/// An object of the run. 0 is all memory that nobody knows anything about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InstanceId(pub u32);

pub const UNKNOWN: InstanceId = InstanceId(0);

/// From here on, an instance stands for all that is private to a thread, with addresses as offsets.
const PRIVATE: u32 = 1 << 31;

impl InstanceId {
    pub fn private(thread: u32) -> InstanceId {
        InstanceId(PRIVATE | thread)
    }

    pub fn is_private(self) -> bool {
        self.0 >= PRIVATE
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Unknown,
    Static(ObjectId),
    Slot,
    Heap,
}

#[derive(Clone, Copy, Debug)]
pub struct Instance {
    pub kind: Kind,
    pub start: u64,
    pub size: u64,
    /// When it came to be, on the recorded clock.
    pub from: u64,
    /// When it was freed.
    pub freed: Option<u64>,
    /// It began as zeros.
    pub zeroed: bool,
}

/// All objects of a run.
#[derive(Clone, Default, Debug)]
pub struct Instances {
    all: Vec<Instance>,
    /// By the logarithm of the size, by address: oldest first.
    by_size: BTreeMap<u32, BTreeMap<u64, Vec<InstanceId>>>,
    /// Of each thread: its stack objects and allocations, in the order of its records.
    made: BTreeMap<u32, Vec<InstanceId>>,
    /// Of each thread: what it freed, in the order of its records.
    freed: BTreeMap<u32, Vec<InstanceId>>,
    /// When objects came to be, in order.
    births: Vec<u64>,
    /// Addresses of static objects, by object; thread-local ones by thread.
    statics: Vec<u64>,
    thread_locals: BTreeMap<(u32, ObjectId), u64>,
    /// Functions by address.
    pub functions: BTreeMap<u64, leno_ir::program::FuncId>,
    pub function_addresses: Vec<u64>,
}

impl Instances {
    pub fn collect(program: &Program, trace: &Trace) -> Instances {
        let unknown = Instance { kind: Kind::Unknown, start: 0, size: u64::MAX, from: 0, freed: None, zeroed: false };
        let mut instances = Instances { all: vec![unknown], ..Instances::default() };
        for thread in trace.threads() {
            instances.collect_statics(program, thread, trace.records(thread));
            instances.collect_thread(thread, trace.records(thread));
        }
        instances.births = instances.all.iter().map(|instance| instance.from).collect();
        instances.births.sort_unstable();
        for by_address in instances.by_size.values_mut() {
            for list in by_address.values_mut() {
                list.sort_by_key(|id| (instances.all[id.0 as usize].from, *id));
            }
        }
        // Only now is it known what is where.
        for thread in trace.threads() {
            instances.collect_frees(thread, trace.records(thread));
        }
        instances
    }

    fn collect_statics(&mut self, program: &Program, thread: u32, records: Records) {
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
        if thread == 0 {
            self.statics = addresses.by_ref().take(program.objects.len()).collect();
            for (id, object) in program.objects.iter_enumerated() {
                let Some(&start) = self.statics.get(id.index()) else { break };
                if object.kind != ObjectKind::ThreadLocal {
                    self.add(Kind::Static(id), start, object.size, 0);
                }
            }
            self.function_addresses = addresses.by_ref().take(program.functions.len()).collect();
            for (id, address) in program.functions.ids().zip(&self.function_addresses) {
                self.functions.insert(*address, id);
            }
        }
        let locals = program.objects.iter_enumerated().filter(|(_, object)| object.kind == ObjectKind::ThreadLocal);
        for ((id, object), start) in locals.zip(addresses) {
            self.thread_locals.insert((thread, id), start);
            self.add(Kind::Static(id), start, object.size, 0);
        }
    }

    fn collect_thread(&mut self, thread: u32, records: Records) {
        let (mut now, mut made) = (0, Vec::new());
        for record in records {
            now = record.clock().unwrap_or(now);
            match record {
                Record::Slot { address, bytes } => made.push(self.add(Kind::Slot, address, bytes, now)),
                Record::Allocated { address, bytes, .. } => {
                    made.push(self.add(Kind::Heap, address, bytes, now));
                }
                _ => {}
            }
        }
        self.made.insert(thread, made);
    }

    fn collect_frees(&mut self, thread: u32, records: Records) {
        let mut freed = Vec::new();
        for record in records {
            let Record::Freed { address, clock } = record else { continue };
            let found = if address == 0 { UNKNOWN } else { self.find(address, clock, Kind::Heap) };
            if found != UNKNOWN {
                self.all[found.0 as usize].freed = Some(clock);
            }
            freed.push(found);
        }
        self.freed.insert(thread, freed);
    }

    fn add(&mut self, kind: Kind, start: u64, size: u64, from: u64) -> InstanceId {
        let id = InstanceId(self.all.len() as u32);
        self.all.push(Instance { kind, start, size, from, freed: None, zeroed: false });
        if start != 0 {
            self.by_size.entry(size.max(1).ilog2()).or_default().entry(start).or_default().push(id);
        }
        id
    }

    /// How many objects there were at a moment: as long as that is the same, an address is in the same object.
    pub fn generation(&self, now: u64) -> usize {
        self.births.partition_point(|from| *from <= now)
    }

    pub fn get(&self, id: InstanceId) -> &Instance {
        &self.all[id.0 as usize]
    }

    pub fn set_zeroed(&mut self, id: InstanceId) {
        self.all[id.0 as usize].zeroed = true;
    }

    pub fn made(&self, thread: u32, number: usize) -> InstanceId {
        self.made.get(&thread).and_then(|made| made.get(number)).copied().unwrap_or(UNKNOWN)
    }

    pub fn freed(&self, thread: u32, number: usize) -> InstanceId {
        self.freed.get(&thread).and_then(|freed| freed.get(number)).copied().unwrap_or(UNKNOWN)
    }

    pub fn address_of(&self, program: &Program, thread: u32, object: ObjectId) -> u64 {
        match program.objects[object].kind {
            ObjectKind::ThreadLocal => self.thread_locals.get(&(thread, object)).copied().unwrap_or(0),
            _ => self.statics.get(object.index()).copied().unwrap_or(0),
        }
    }

    /// The object at an address at a moment; of several, the youngest.
    pub fn at(&self, address: u64, now: u64) -> InstanceId {
        let mut best = UNKNOWN;
        for (size, by_address) in &self.by_size {
            let reach = 1u64.checked_shl(size + 1).unwrap_or(u64::MAX);
            for (start, list) in by_address.range(address.saturating_sub(reach)..=address).rev() {
                let alive = list.partition_point(|id| self.get(*id).from <= now);
                let Some(id) = alive.checked_sub(1).map(|last| list[last]) else { continue };
                let instance = self.get(id);
                if address - start < instance.size.max(1) && (best == UNKNOWN || self.get(best).from <= instance.from) {
                    best = id;
                }
            }
        }
        best
    }

    fn find(&self, start: u64, now: u64, kind: Kind) -> InstanceId {
        let lists = self.by_size.values().filter_map(|by_address| by_address.get(&start)).flatten();
        let alive = lists.filter(|id| self.get(**id).kind == kind && self.get(**id).from <= now);
        alive.max_by_key(|id| self.get(**id).from).copied().unwrap_or(UNKNOWN)
    }
}
