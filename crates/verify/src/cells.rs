//! The cells of memory whose values are followed, and which lock protects each.
//!
//! A cell is some bytes of an object that some instruction loads or stores as one value, or the word of a semaphore or a once
//! flag. Objects of which there is one
//! instance have cells (globals, slots of functions that run once, allocations that happen once), and so have those that
//! each thread has to itself (thread-local objects, slots whose address goes to no other thread: without recursion there is
//! one instance of them in a thread at any time). All others may hold anything, always.
//!
//! **Protection.** A shared cell is protected by a lock if every instruction that may access its object holds the lock for
//! certain (to write: exclusively), or is executed when no other thread is alive. Values that a thread stores while it
//! holds the lock are then seen by others only when it gives the lock up.

use crate::code::Code;
use leno_ir::analysis::Facts;
use leno_ir::analysis::locksets::{Lock, Mode};
use leno_ir::analysis::points_to::{AbstractId, AbstractObject, ObjectSet, for_each_op};
use leno_ir::analysis::sharing::Sharing;
use leno_ir::analysis::threads::RootId;
use leno_ir::index::IndexVec;
use leno_ir::index_type;
use leno_ir::program::{Datum, FuncId, ObjectKind, Op, Place, Program, SyncOp};
use std::collections::{BTreeMap, BTreeSet};

index_type!(
    /// Bytes in memory that hold one value.
    CellId,
    "c"
);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Extent {
    pub object: AbstractId,
    pub offset: i64,
    pub bytes: u64,
}

impl Extent {
    pub fn overlaps(&self, offset: i64, bytes: u64) -> bool {
        let ends_after = |start: i64, bytes: u64, other: i64| i128::from(start) + i128::from(bytes) > i128::from(other);
        ends_after(self.offset, self.bytes, offset) && ends_after(offset, bytes, self.offset)
    }
}

#[derive(Debug)]
pub struct Cell {
    pub extent: Extent,
    /// Whether other threads may access it; otherwise each thread has one, or nobody writes it.
    pub is_shared: bool,
    pub protection: Option<Lock>,
}

#[derive(Debug)]
pub struct Cells {
    cells: IndexVec<CellId, Cell>,
    ids: BTreeMap<Extent, CellId>,
    /// What some instruction may write.
    written: ObjectSet,
}

/// Accesses that may go to more places than this make no cells.
const MOST_TARGETS: usize = 32;

impl Cells {
    pub fn new(code: &Code) -> Cells {
        let facts = code.facts;
        let extents = extents(facts);
        let mut locks: BTreeMap<AbstractId, Option<Lock>> = BTreeMap::new();
        let shared = |object: AbstractId| facts.sharing().of(object) == Sharing::Shared;
        let wanted: BTreeSet<AbstractId> =
            extents.iter().map(|extent| extent.object).filter(|object| shared(*object)).collect();
        let protections = protections(facts, &wanted);
        for object in &wanted {
            locks.insert(*object, protections.get(object).copied());
        }
        let mut cells = IndexVec::new();
        let mut ids = BTreeMap::new();
        for extent in extents {
            let protection = locks.get(&extent.object).copied().flatten();
            let id: CellId = cells.push(Cell { extent, is_shared: shared(extent.object), protection });
            ids.insert(extent, id);
        }
        Cells { cells, ids, written: written(facts) }
    }

    /// Whether an object keeps its initial contents.
    pub fn is_unwritten(&self, object: AbstractId) -> bool {
        !self.written.contains(object)
    }

    pub fn get(&self, extent: Extent) -> Option<CellId> {
        self.ids.get(&extent).copied()
    }

    pub fn of_object(&self, object: AbstractId) -> impl Iterator<Item = (CellId, &Extent)> + '_ {
        let from = Extent { object, offset: i64::MIN, bytes: 0 };
        let of = self.ids.range(from..).take_while(move |(extent, _)| extent.object == object);
        of.map(|(extent, id)| (*id, extent))
    }

    pub fn is_shared(&self, cell: CellId) -> bool {
        self.cells[cell].is_shared
    }

    pub fn iter(&self) -> impl Iterator<Item = (CellId, &Cell)> + '_ {
        self.cells.iter_enumerated()
    }

    pub fn len(&self) -> usize {
        self.cells.len()
    }

    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    pub fn extent(&self, cell: CellId) -> Extent {
        self.cells[cell].extent
    }

    pub fn protection(&self, cell: CellId) -> Option<Lock> {
        self.cells[cell].protection
    }

    /// How a person would call a cell.
    pub fn name(&self, facts: &Facts, cell: CellId) -> String {
        let extent = self.cells[cell].extent;
        let program = facts.program();
        let (object, size) = match facts.points_to().objects()[extent.object] {
            AbstractObject::Static(id) => (program.objects[id].name.clone(), program.objects[id].size),
            AbstractObject::Slot(func, slot) => {
                let slot = &program.functions[func].slots[slot];
                (slot.name.clone(), slot.size)
            }
            _ => ("an allocated object".to_string(), 0),
        };
        match extent.offset == 0 && size == extent.bytes {
            true => object,
            false => format!("{object}+{}", extent.offset),
        }
    }
}

fn written(facts: &Facts) -> ObjectSet {
    let program = facts.program();
    let mut all = ObjectSet::default();
    for (func, function) in program.functions.iter_enumerated().filter(|(id, _)| facts.calls().is_reachable(*id)) {
        for_each_op(func, function, |_, op| {
            all.union_with(&facts.points_to().may_access(program, func, op).written);
        });
    }
    all
}

fn extents(facts: &Facts) -> BTreeSet<Extent> {
    let program = facts.program();
    let mut all = BTreeSet::new();
    for (func, function) in program.functions.iter_enumerated().filter(|(id, _)| facts.calls().is_reachable(*id)) {
        for_each_op(func, function, |_, op| {
            let (pointer, bytes) = match op {
                Op::Sync { op, at, .. } if counts(op) => (at, WORD_BYTES),
                _ => match op.access() {
                    Some((access, _)) => (&access.ptr, access.ty.bytes(program.model)),
                    None => return,
                },
            };
            let objects = facts.points_to().points_to(func, pointer);
            let number = facts.offsets().number(program, func, pointer);
            let Some(offsets) = number.few() else { return };
            if objects.len() > MOST_TARGETS {
                return;
            }
            for object in objects.iter().filter(|object| is_followed(facts, *object)) {
                all.extend(offsets.iter().map(|offset| Extent { object, offset: *offset, bytes }));
            }
        });
    }
    all
}

/// Whether what is known of an object is about one instance, at any time and for any thread.
pub fn is_followed(facts: &Facts, object: AbstractId) -> bool {
    let is_own = facts.sharing().of(object) == Sharing::Local;
    match facts.points_to().objects()[object] {
        AbstractObject::Unknown | AbstractObject::Function(_) => false,
        AbstractObject::Static(id) => match facts.program().objects[id].kind {
            ObjectKind::Global | ObjectKind::Constant => true,
            ObjectKind::ThreadLocal => is_own,
            ObjectKind::External => false,
        },
        AbstractObject::Slot(..) => is_own || facts.offsets().exists_once(object),
        AbstractObject::Site(_) => facts.offsets().exists_once(object),
    }
}

/// What an instruction may access, with the locks that are held there.
struct Protecting<'f, 'p> {
    facts: &'f Facts<'p>,
    /// By object: the locks that could protect it; none yet if it is not there.
    candidates: BTreeMap<AbstractId, BTreeSet<Lock>>,
}

/// By object: a lock that protects it.
fn protections(facts: &Facts, wanted: &BTreeSet<AbstractId>) -> BTreeMap<AbstractId, Lock> {
    let mut protecting = Protecting { facts, candidates: BTreeMap::new() };
    let program = facts.program();
    for (func, function) in program.functions.iter_enumerated().filter(|(id, _)| facts.calls().is_reachable(*id)) {
        for_each_op(func, function, |place, op| {
            let accessed = facts.points_to().may_access(program, func, op);
            for object in accessed.all().iter().filter(|object| wanted.contains(object)) {
                let mode = if accessed.written.contains(object) { Mode::Exclusive } else { Mode::Shared };
                protecting.restrict(place, object, mode);
            }
        });
    }
    let first = |(object, locks): (AbstractId, BTreeSet<Lock>)| Some((object, *locks.first()?));
    protecting.candidates.into_iter().filter_map(first).collect()
}

impl Protecting<'_, '_> {
    fn restrict(&mut self, place: Place, object: AbstractId, mode: Mode) {
        for root in self.facts.threads().running(place.func) {
            if is_alone(self.facts, *root, place) {
                continue;
            }
            let Some(held) = self.facts.locksets().held_in(*root, place) else { continue };
            let held: BTreeSet<Lock> = held.iter().filter(|(_, has)| *has >= mode).map(|(lock, _)| lock).collect();
            match self.candidates.get_mut(&object) {
                Some(locks) => locks.retain(|lock| held.contains(lock)),
                None => drop(self.candidates.insert(object, held)),
            }
        }
    }
}

/// Whether no other thread is alive when a thread of this root is about to execute an instruction.
fn is_alone(facts: &Facts, root: RootId, place: Place) -> bool {
    let mut others = facts.threads().roots().ids();
    !others.any(|other| facts.parallel().may_overlap_thread(root, place, other))
}

/// The bits that static memory holds before the program runs: none where they are an address.
pub fn initial_bits(program: &Program, object: leno_ir::program::ObjectId, offset: i64, bytes: u64) -> Option<u128> {
    let object = &program.objects[object];
    let end = offset.checked_add_unsigned(bytes)?;
    if object.kind == ObjectKind::External || offset < 0 || end > i64::try_from(object.size).ok()? || bytes > 16 {
        return None;
    }
    let mut bits = 0u128;
    for (at, datum) in &object.init {
        let at = i64::try_from(*at).ok()?;
        match datum {
            Datum::Bytes(content) => {
                for (number, byte) in content.iter().enumerate() {
                    let place = at + number as i64;
                    if place >= offset && place < end {
                        bits |= u128::from(*byte) << (8 * (place - offset));
                    }
                }
            }
            Datum::Object(..) | Datum::Function(_) => {
                let width = program.model.pointer_bytes() as i64;
                if at < end && at + width > offset {
                    return None;
                }
            }
        }
    }
    Some(bits)
}

/// The stack objects of a function.
pub fn slots_of(facts: &Facts, func: FuncId) -> Vec<AbstractId> {
    let slots = facts.program().functions[func].slots.ids();
    slots.filter_map(|slot| facts.points_to().object(AbstractObject::Slot(func, slot))).collect()
}

/// Whether a step is one on a semaphore or a once flag.
pub fn counts(op: &SyncOp) -> bool {
    matches!(
        op,
        SyncOp::SemInit { .. }
            | SyncOp::SemWait
            | SyncOp::SemTryWait
            | SyncOp::SemPost
            | SyncOp::SemGetValue
            | SyncOp::OnceBegin
            | SyncOp::OnceEnd
    )
}

/// How many bytes the word of such an object has.
pub const WORD_BYTES: u64 = 4;

/// How many bits a cell has.
pub fn cell_width(bytes: u64) -> u32 {
    (8 * bytes.min(16)) as u32
}
