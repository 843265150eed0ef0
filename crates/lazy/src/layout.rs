//! The layout of memory: which objects there are, where, and the cells that they consist of.
//!
//! Every thread model has all of memory: its own copy of what is shared (localised, paper 004, section 5.1), and what is
//! private to it. So all objects that there can be are laid out before anything is executed, each with granules of its own
//! (see the semantics page): static ones, the slots and thread-local objects of each thread, and what each thread allocates
//! at each place, up to a bound.
//!
//! An object is cut into cells as wide as the accesses to it allow: the greatest common divisor of their sizes. What is
//! passed with the token is the cells of shared objects that some instruction may write.

use crate::efsm::Efsm;
use leno_ir::analysis::callgraph::CallKind;
use leno_ir::analysis::executions::Times;
use leno_ir::analysis::features::special_mutexes;
use leno_ir::analysis::points_to::{AbstractId, AbstractObject, ObjectSet, for_each_op};
use leno_ir::analysis::sharing::Sharing;
use leno_ir::index::{Idx, IndexVec};
use leno_ir::index_type;
use leno_ir::program::{DataModel, Expr, FuncId, ObjectId, ObjectKind, Op, Place, Program, SlotId, Storage, SyncOp};
use leno_ir::visit::AccessKind;
use leno_logic::term::{Sort, Term, Terms};
use leno_symbolic::contents::{Addresses, Initial};
use leno_symbolic::region::Region;
use leno_symbolic::sync::words;
use std::collections::BTreeMap;

index_type!(
    /// A thread of the model; 0 is the main thread.
    ThreadIndex,
    "t"
);
index_type!(
    /// An instance of an object.
    InstanceId,
    "i"
);

/// What cannot be laid out or executed, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused(pub String);

impl Refused {
    pub fn new(reason: impl Into<String>) -> Refused {
        Refused(reason.into())
    }
}

/// More threads than this are not laid out.
const MOST_THREADS: usize = 64;

/// More cells than this are too many to pass from thread to thread.
const MOST_CELLS: usize = 1 << 14;

#[derive(Clone, Debug)]
pub struct Cell {
    pub offset: u64,
    pub bits: u32,
    /// Whether it is passed with the token.
    pub is_passed: bool,
}

#[derive(Clone, Debug)]
pub struct Instance {
    pub base: u64,
    pub size: u64,
    pub cells: Vec<Cell>,
    pub initial: Initial,
    pub is_shared: bool,
    pub is_constant: bool,
    /// Can be pointed to, but not accessed.
    pub is_function: bool,
    /// The last cell says whether it is alive.
    pub is_mortal: bool,
    pub is_heap: bool,
    /// The thread whose slot, allocation or thread-local object it is.
    pub owner: Option<ThreadIndex>,
}

impl Instance {
    pub fn region(&self) -> Region {
        Region { base: self.base, size: self.size, extent: None }
    }

    /// The cell that says whether it is alive.
    pub fn life(&self) -> Option<usize> {
        self.is_mortal.then(|| self.cells.len() - 1)
    }
}

/// A thread that may be started.
#[derive(Clone, Debug)]
pub struct ThreadShape {
    pub root: FuncId,
    /// Who starts it, where, and how many it has started there before; none for the main thread.
    pub created: Option<(ThreadIndex, Place, u32)>,
}

/// The cells that are not memory of the program: who has been started, who has finished.
#[derive(Clone, Copy, Debug)]
pub struct ThreadCells {
    pub started: usize,
    pub finished: usize,
    pub joined: usize,
    pub result: usize,
}

pub struct Layout<'p> {
    efsm: &'p Efsm<'p>,
    pub instances: IndexVec<InstanceId, Instance>,
    by_granule: Vec<Option<InstanceId>>,
    by_object: BTreeMap<AbstractId, Vec<InstanceId>>,
    statics: BTreeMap<(ObjectId, Option<ThreadIndex>), InstanceId>,
    slots: BTreeMap<(ThreadIndex, FuncId, SlotId), InstanceId>,
    functions: BTreeMap<FuncId, InstanceId>,
    /// What a thread allocates at a place, in order.
    pub sites: BTreeMap<(ThreadIndex, Place), Vec<InstanceId>>,
    pub threads: IndexVec<ThreadIndex, ThreadShape>,
    pub thread_cells: IndexVec<ThreadIndex, ThreadCells>,
    pub special_mutexes: ObjectSet,
    given: Vec<Vec<u8>>,
    grains: BTreeMap<AbstractId, Grain>,
    pub argv: u64,
}

/// How an object is accessed.
#[derive(Clone, Debug, Default)]
struct Grain {
    bytes: u64,
    /// Ranges that may be written; all of it, if that is not known.
    written: Vec<(u64, u64)>,
    all_written: bool,
}

/// How many threads a place may start, and how many objects a thread may allocate at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Copies {
    pub threads: u32,
    pub allocations: u32,
}

/// The bits of an address that are an offset in a granule.
fn offset_bits(model: DataModel) -> u32 {
    match model {
        DataModel::Lp64 => 40,
        DataModel::Ilp32 => 16,
    }
}

impl<'p> Layout<'p> {
    /// The instance of what is no memory of the program.
    pub const CONTROL: InstanceId = InstanceId(0);

    pub fn new(efsm: &'p Efsm<'p>, copies: Copies) -> Result<Layout<'p>, Refused> {
        let facts = efsm.facts;
        let mut layout = Layout {
            efsm,
            instances: IndexVec::new(),
            by_granule: vec![None],
            by_object: BTreeMap::new(),
            statics: BTreeMap::new(),
            slots: BTreeMap::new(),
            functions: BTreeMap::new(),
            sites: BTreeMap::new(),
            threads: IndexVec::new(),
            thread_cells: IndexVec::new(),
            special_mutexes: special_mutexes(facts.program(), facts.points_to()),
            given: Vec::new(),
            grains: BTreeMap::new(),
            argv: 0,
        };
        layout.find_threads(copies.threads)?;
        layout.add_control();
        layout.find_grains();
        layout.add_statics()?;
        layout.add_arguments()?;
        layout.add_memory_of_threads(copies.allocations)?;
        let passed = layout.instances.iter().flat_map(|instance| &instance.cells).filter(|cell| cell.is_passed).count();
        match passed <= MOST_CELLS {
            true => Ok(layout),
            false => Err(Refused::new(format!("threads share {passed} cells of memory"))),
        }
    }

    pub fn program(&self) -> &'p Program {
        self.efsm.program()
    }

    fn model(&self) -> DataModel {
        self.program().model
    }

    // --- threads

    fn find_threads(&mut self, most: u32) -> Result<(), Refused> {
        let program = self.program();
        let root = program.entry.ok_or_else(|| Refused::new("the program has no entry"))?;
        self.threads.push(ThreadShape { root, created: None });
        let (facts, mut next) = (self.efsm.facts, 0);
        while let Some(parent) = self.threads.get(ThreadIndex(next)) {
            let runs = facts.calls().calls().reachable([parent.root]);
            let starts = facts.calls().edges().iter().filter(|edge| edge.kind == CallKind::Spawn);
            for edge in starts.filter(|edge| runs[edge.place.func.index()]) {
                let count = if facts.executions().of(edge.place) == Times::Once { 1 } else { most };
                // (Threads that are not here are gaps where they are started.)
                let room = MOST_THREADS.saturating_sub(self.threads.len()) as u32;
                for number in 0..count.min(room) {
                    let created = Some((ThreadIndex(next), edge.place, number));
                    self.threads.push(ThreadShape { root: edge.callee, created });
                }
            }
            next += 1;
        }
        Ok(())
    }

    /// The threads that a thread may start at a place, by how many it has started there before.
    pub fn started_by(&self, parent: ThreadIndex, place: Place) -> Vec<(ThreadIndex, u32)> {
        let numbered = self.threads.iter_enumerated().filter_map(|(index, thread)| Some((index, thread.created?)));
        let own = numbered.filter(|(_, (by, at, _))| *by == parent && *at == place);
        own.map(|(index, (_, _, number))| (index, number)).collect()
    }

    fn add_control(&mut self) {
        let word = u32::from(self.model().pointer_bits());
        let mut cells = Vec::new();
        let mut add = |bits: u32| {
            cells.push(Cell { offset: 0, bits, is_passed: true });
            cells.len() - 1
        };
        for _ in &self.threads {
            let (started, finished, joined) = (add(1), add(1), add(1));
            self.thread_cells.push(ThreadCells { started, finished, joined, result: add(word) });
        }
        self.instances.push(Instance {
            base: 0,
            size: 0,
            cells,
            initial: Initial::Zero,
            is_shared: true,
            is_constant: false,
            is_function: true,
            is_mortal: false,
            is_heap: false,
            owner: None,
        });
    }

    // --- cells

    fn find_grains(&mut self) {
        let program = self.program();
        for (id, function) in program.functions.iter_enumerated() {
            for_each_op(id, function, |place, op| self.note_access(place, op));
        }
    }

    fn note_access(&mut self, place: Place, op: &Op) {
        let model = self.model();
        if let Some((access, kind)) = op.access() {
            self.note(place.func, &access.ptr, access.ty.bytes(model), kind != AccessKind::Read, &[0]);
        }
        if let Op::Sync { op, at, .. } = op {
            let objects = self.efsm.facts.points_to().points_to(place.func, at);
            let is_special = objects.intersects(&self.special_mutexes);
            self.note(place.func, at, 4, true, words(op, model, is_special));
            if let SyncOp::CondSleep { mutex } = op {
                self.note(place.func, mutex, 4, true, words(&SyncOp::CondRelock, model, true));
            }
        }
    }

    fn note(&mut self, func: FuncId, pointer: &Expr, bytes: u64, writes: bool, offsets: &[u64]) {
        let facts = self.efsm.facts;
        let known = facts.address(func, pointer);
        for object in facts.points_to().points_to(func, pointer).iter() {
            let grain = self.grains.entry(object).or_default();
            grain.bytes = common_divisor(grain.bytes, bytes);
            if !writes {
                continue;
            }
            match known.and_then(|address| u64::try_from(address.offset).ok()) {
                Some(at) => grain.written.extend(offsets.iter().map(|offset| (at + offset, at + offset + bytes))),
                None => grain.all_written = true,
            }
        }
    }

    fn cells(&self, object: AbstractId, size: u64, is_shared: bool) -> Vec<Cell> {
        let Some(grain) = self.grains.get(&object).filter(|grain| grain.bytes > 0) else { return Vec::new() };
        let may_write = |from: u64, to: u64| {
            grain.all_written || grain.written.iter().any(|(start, end)| *start < to && from < *end)
        };
        let bytes = grain.bytes.min(16);
        let starts = (0..size).step_by(bytes as usize);
        starts
            .map(|offset| {
                let end = (offset + bytes).min(size);
                let is_passed = is_shared && may_write(offset, end);
                Cell { offset, bits: (end - offset) as u32 * 8, is_passed }
            })
            .collect()
    }

    // --- objects

    fn add(&mut self, what: AbstractObject, size: u64, initial: Initial) -> Result<InstanceId, Refused> {
        let facts = self.efsm.facts;
        let object = facts.points_to().object(what);
        let is_function = matches!(what, AbstractObject::Function(_) | AbstractObject::Unknown);
        let sharing = match object {
            Some(object) if !is_function => facts.sharing().of(object),
            _ => Sharing::ReadOnly,
        };
        let bits = offset_bits(self.model());
        let (first, granules) = (self.by_granule.len() as u64, (size >> bits) + 1);
        let limit = 1u64 << (u32::from(self.model().pointer_bits()) - bits);
        if size > 1 << 20 || first + granules >= limit {
            return Err(Refused::new("there is not enough room for all objects"));
        }
        let is_shared = sharing == Sharing::Shared;
        let cells = match object {
            Some(object) if sharing != Sharing::ReadOnly => self.cells(object, size, is_shared),
            _ => Vec::new(),
        };
        let id = self.instances.push(Instance {
            base: first << bits,
            size,
            cells,
            initial,
            is_shared,
            is_constant: false,
            is_function,
            is_mortal: false,
            is_heap: false,
            owner: None,
        });
        self.by_granule.extend(std::iter::repeat_n(Some(id), granules as usize));
        if let Some(object) = object {
            self.by_object.entry(object).or_default().push(id);
        }
        Ok(id)
    }

    /// Its life may end.
    fn make_mortal(&mut self, id: InstanceId, owner: ThreadIndex) {
        let instance = &mut self.instances[id];
        let is_passed = instance.is_shared;
        instance.cells.push(Cell { offset: instance.size, bits: 1, is_passed });
        (instance.is_mortal, instance.owner) = (true, Some(owner));
    }

    fn add_statics(&mut self) -> Result<(), Refused> {
        for (object, data) in self.program().objects.iter_enumerated() {
            if data.kind != ObjectKind::ThreadLocal {
                self.add_static(object, None)?;
            }
        }
        Ok(())
    }

    fn add_static(&mut self, object: ObjectId, owner: Option<ThreadIndex>) -> Result<(), Refused> {
        let data = &self.program().objects[object];
        let initial = match data.kind {
            ObjectKind::External => Initial::Undefined,
            _ => Initial::Static(object),
        };
        let id = self.add(AbstractObject::Static(object), data.size, initial)?;
        self.instances[id].is_constant = data.kind == ObjectKind::Constant;
        self.instances[id].owner = owner;
        self.statics.insert((object, owner), id);
        Ok(())
    }

    /// What `argv` points to.
    fn add_arguments(&mut self) -> Result<(), Refused> {
        let word = self.model().pointer_bytes() as usize;
        let mut table = Vec::new();
        for mut argument in self.program().command_line() {
            argument.push(0);
            let at = self.add_given(argument)?;
            table.extend_from_slice(&at.to_le_bytes()[..word]);
        }
        table.extend(std::iter::repeat_n(0, word));
        self.argv = self.add_given(table)?;
        Ok(())
    }

    fn add_given(&mut self, bytes: Vec<u8>) -> Result<u64, Refused> {
        let size = bytes.len() as u64;
        self.given.push(bytes);
        let id = self.add(AbstractObject::Unknown, size, Initial::Given(self.given.len() as u32 - 1))?;
        self.instances[id].is_function = false;
        Ok(self.instances[id].base)
    }

    fn add_memory_of_threads(&mut self, allocations: u32) -> Result<(), Refused> {
        let program = self.program();
        for thread in self.threads.ids() {
            for (object, data) in program.objects.iter_enumerated() {
                if data.kind == ObjectKind::ThreadLocal {
                    self.add_static(object, Some(thread))?;
                }
            }
            let runs = self.efsm.facts.calls().calls().reachable([self.threads[thread].root]);
            for func in program.functions.ids().filter(|func| runs[func.index()]) {
                self.add_slots(thread, func)?;
                self.add_sites(thread, func, allocations)?;
            }
        }
        Ok(())
    }

    fn add_slots(&mut self, thread: ThreadIndex, func: FuncId) -> Result<(), Refused> {
        for (slot, data) in self.program().functions[func].slots.iter_enumerated() {
            let id = self.add(AbstractObject::Slot(func, slot), data.size, Initial::Undefined)?;
            self.slots.insert((thread, func, slot), id);
            self.make_mortal(id, thread);
        }
        Ok(())
    }

    fn add_sites(&mut self, thread: ThreadIndex, func: FuncId, most: u32) -> Result<(), Refused> {
        let (program, facts) = (self.program(), self.efsm.facts);
        let mut sites = Vec::new();
        for_each_op(func, &program.functions[func], |place, op| {
            if let Op::Allocate { size, storage: Storage::Heap, zeroed, .. } = op {
                sites.push((place, size, *zeroed));
            }
        });
        for (place, size, zeroed) in sites {
            let size = facts.offsets().number(program, func, size).exact();
            let Some(size) = size.and_then(|size| u64::try_from(size).ok()) else { continue };
            let is_once = facts.executions().of(place) == Times::Once;
            for _ in 0..if is_once { 1 } else { most } {
                let initial = if zeroed { Initial::Zero } else { Initial::Undefined };
                let id = self.add(AbstractObject::Site(place), size, initial)?;
                self.make_mortal(id, thread);
                self.instances[id].is_heap = true;
                self.sites.entry((thread, place)).or_default().push(id);
            }
        }
        Ok(())
    }

    // --- what is where

    pub fn static_address(&self, object: ObjectId, thread: ThreadIndex) -> Result<u64, Refused> {
        let id = self.statics.get(&(object, None)).or_else(|| self.statics.get(&(object, Some(thread))));
        id.map(|id| self.instances[*id].base).ok_or_else(|| Refused::new("the address of an object that is nowhere"))
    }

    pub fn slot(&self, thread: ThreadIndex, func: FuncId, slot: SlotId) -> Option<InstanceId> {
        self.slots.get(&(thread, func, slot)).copied()
    }

    pub fn at(&self, address: u64) -> Option<InstanceId> {
        self.by_granule.get((address >> offset_bits(self.model())) as usize).copied().flatten()
    }

    /// All instances of an object.
    pub fn of(&self, object: AbstractId) -> &[InstanceId] {
        self.by_object.get(&object).map_or(&[], Vec::as_slice)
    }

    /// What some bytes of an instance hold before the first write.
    pub fn initial(&mut self, terms: &mut Terms, id: InstanceId, offset: u64, bytes: u32) -> Result<Term, Refused> {
        let initial = self.instances[id].initial;
        let given = std::mem::take(&mut self.given);
        let value = initial.value(terms, self.efsm.program(), &given, (offset, bytes), self);
        self.given = given;
        value
    }

    /// What the cells of an instance hold at the beginning.
    pub fn initial_cells(&mut self, terms: &mut Terms, id: InstanceId) -> Result<Vec<Term>, Refused> {
        let instance = &self.instances[id];
        let life = instance.life();
        let cells: Vec<Cell> = instance.cells.clone();
        let mut values = Vec::with_capacity(cells.len());
        for (index, cell) in cells.iter().enumerate() {
            values.push(match id {
                Layout::CONTROL => terms.bits(cell.bits, 0),
                _ if Some(index) == life => terms.bits(1, 0),
                _ => self.initial(terms, id, cell.offset, cell.bits / 8)?,
            });
        }
        Ok(values)
    }

    /// New cells, of which nothing is known.
    pub fn undefined_cells(&self, terms: &mut Terms, id: InstanceId) -> Vec<Term> {
        self.instances[id].cells.iter().map(|cell| terms.variable(Sort::Bits(cell.bits), "undefined")).collect()
    }
}

impl Addresses for Layout<'_> {
    type Error = Refused;

    fn object_address(&mut self, object: ObjectId) -> Result<u64, Refused> {
        self.static_address(object, ThreadIndex(0))
    }

    fn function_address(&mut self, function: FuncId) -> Result<u64, Refused> {
        if let Some(id) = self.functions.get(&function) {
            return Ok(self.instances[*id].base);
        }
        let id = self.add(AbstractObject::Function(function), 1, Initial::Zero)?;
        self.functions.insert(function, id);
        Ok(self.instances[id].base)
    }
}

/// Of which 0 is a multiple of everything.
fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
