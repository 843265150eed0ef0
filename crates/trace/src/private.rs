//! Thread-private memory: what a thread knows by itself, so that the recorder need not write it down.
//!
//! Memory that no other thread and no code outside of the program accesses holds what its own thread has stored there:
//! the walk along the thread's path knows the contents without records. Which memory that is, is decided before the
//! program runs, from the points-to sets. An object is *private* if
//!
//! - no two threads access the same instance of it ([`SharedObjects`]),
//! - no function without a body writes it (`errno` is written by all of them), no function that external code may call
//!   back (a signal handler, for instance) accesses it, and no access of it is volatile,
//! - no pointer to it may leave the program as bytes or as a text, if such a pointer may come back,
//! - it holds no synchronisation object, whose bytes the system changes.
//!
//! A load or store is *unrecorded* if all objects that it may access are private, or (for a load) never written at all.
//! An access that may go to private and to other memory is recorded like any other; its stores count for both. Private
//! memory is freed by unrecorded instructions only: every `free` has to know which of the two it frees.
//!
//! The recorder and the walk both compute this; the trace has a fingerprint of it.

use leno_ir::callgraph::CallGraph;
use leno_ir::index::{Idx, IndexVec};
use leno_ir::library_memory::{Extent, Touch, standard_name, touches};
use leno_ir::points_to::{AbstractId, AbstractObject, ObjectSet, PointsTo, for_each_op};
use leno_ir::program::{
    BlockId, Body, Callee, Expr, FuncId, ObjectId, ObjectKind, Op, Order, Place, Program, SlotId, Storage,
};
use leno_ir::sharing::{SharedObjects, Sharing};
use leno_ir::visit::AccessKind;
use std::collections::BTreeSet;

/// The instructions and stack objects that have no records.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Unrecorded {
    /// Loads, stores, allocations and frees.
    pub instructions: BTreeSet<Place>,
    /// Private stack objects. They begin as zeros.
    pub slots: BTreeSet<(FuncId, SlotId)>,
}

impl Unrecorded {
    /// A number that other sets hardly have.
    pub fn fingerprint(&self) -> u64 {
        let places = self.instructions.iter().flat_map(|place| [place.func.0, place.block.0, place.index]);
        let slots = self.slots.iter().flat_map(|(func, slot)| [func.0, slot.0]);
        let mix = |sum: u64, word: u32| (sum ^ u64::from(word)).wrapping_mul(0x100_0000_01b3).rotate_left(29);
        places.chain([u32::MAX]).chain(slots).fold(0xcbf2_9ce4_8422_2325, mix)
    }

    /// The number of a private slot among all of them.
    pub fn slot_number(&self, slot: (FuncId, SlotId)) -> usize {
        self.slots.range(..slot).count()
    }
}

/// The `errno` of each thread, if the program has one.
pub fn errno_object(program: &Program) -> Option<ObjectId> {
    let mut objects = program.objects.iter_enumerated();
    let found = objects.find(|(_, object)| object.kind == ObjectKind::ThreadLocal && object.name == "__leno_errno");
    found.map(|(id, _)| id)
}

/// What the functions do that code outside of the program may call at any time: signal handlers, for instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Callbacks {
    /// They synchronise: they may wake a thread that waits.
    pub may_wake: bool,
    /// They write memory that the rest of the program reads.
    pub may_write: bool,
}

/// Which memory is private, and which instructions have no records because of it.
#[derive(Clone, Debug, Default)]
pub struct ThreadPrivate {
    pub unrecorded: Unrecorded,
    pub callbacks: Callbacks,
    /// Whether a static object is private.
    statics: IndexVec<ObjectId, bool>,
    /// Whether unrecorded loads may read a static object.
    readable: IndexVec<ObjectId, bool>,
    /// By function, by block, by instruction: whether it is unrecorded. (The set above is too slow for the walk.)
    instructions: IndexVec<FuncId, IndexVec<BlockId, Vec<bool>>>,
    /// By function and slot: the number of a private slot.
    slots: IndexVec<FuncId, IndexVec<SlotId, Option<u32>>>,
}

impl ThreadPrivate {
    pub fn new(program: &Program) -> ThreadPrivate {
        let mut analysis = Analysis::new(program);
        analysis.separate_frees();
        analysis.result()
    }

    pub fn is_unrecorded(&self, place: Place) -> bool {
        let block = self.instructions.get(place.func).and_then(|blocks| blocks.get(place.block));
        block.and_then(|block| block.get(place.index as usize)).copied().unwrap_or(false)
    }

    /// The number of a private slot among all of them; None if it is not private.
    pub fn slot_number(&self, func: FuncId, slot: SlotId) -> Option<u32> {
        self.slots.get(func)?.get(slot).copied().flatten()
    }

    pub fn slot_count(&self) -> usize {
        self.unrecorded.slots.len()
    }

    pub fn is_private(&self, object: ObjectId) -> bool {
        self.statics.get(object).copied().unwrap_or(false)
    }

    /// Whether unrecorded loads may read a static object, so that its initial contents have to be known.
    pub fn is_readable(&self, object: ObjectId) -> bool {
        self.readable.get(object).copied().unwrap_or(false)
    }
}

struct Analysis<'p> {
    program: &'p Program,
    points_to: PointsTo,
    callbacks: Callbacks,
    private: ObjectSet,
    readable: ObjectSet,
}

impl<'p> Analysis<'p> {
    fn new(program: &'p Program) -> Analysis<'p> {
        let points_to = PointsTo::new(program);
        let calls = CallGraph::new(program, &points_to);
        let sharing = SharedObjects::new(program, &points_to, &calls);
        let functions = callback_functions(program, &points_to, &calls);
        let (exposed, written) = exposed(program, &points_to, &functions);
        let callbacks = effects(program, &points_to, &functions);
        let (mut private, mut readable) = (ObjectSet::new(), ObjectSet::new());
        for (id, object) in points_to.objects().iter_enumerated() {
            let is_of_program = match object {
                AbstractObject::Slot(..) | AbstractObject::Site(_) => true,
                AbstractObject::Static(object) => program.objects[*object].kind != ObjectKind::External,
                AbstractObject::Unknown | AbstractObject::Function(_) => false,
            };
            if !is_of_program || exposed.contains(id) {
                continue;
            }
            if sharing.of(id) == Sharing::Local {
                private.insert(id);
                readable.insert(id);
            } else if matches!(object, AbstractObject::Static(_)) && !written.contains(id) {
                readable.insert(id);
            }
        }
        Analysis { program, points_to, callbacks, private, readable }
    }

    /// An object that is freed by an instruction that may also free one that is not private is not private, either.
    fn separate_frees(&mut self) {
        let mut freed: Vec<ObjectSet> = Vec::new();
        for (id, function) in self.program.functions.iter_enumerated() {
            for_each_op(id, function, |_, op| {
                if let Op::Free { ptr, storage: Storage::Heap } = op {
                    freed.push(self.points_to.points_to(id, ptr).into_owned());
                }
            });
        }
        loop {
            let mixed = |set: &&ObjectSet| !set.is_subset_of(&self.private) && set.intersects(&self.private);
            let Some(mixed) = freed.iter().find(mixed) else { return };
            self.private = self.private.difference(mixed);
            self.readable = self.readable.difference(mixed);
        }
    }

    fn is_unrecorded(&self, id: FuncId, place: Place, op: &Op) -> bool {
        let only = |ptr: &Expr, allowed: &ObjectSet| {
            let objects = self.points_to.points_to(id, ptr);
            !objects.is_empty() && objects.is_subset_of(allowed)
        };
        match op {
            Op::Load { from, .. } => {
                !from.volatile && from.order == Order::NotAtomic && only(&from.ptr, &self.readable)
            }
            Op::Store { to, .. } => !to.volatile && to.order == Order::NotAtomic && only(&to.ptr, &self.private),
            Op::Free { ptr, storage: Storage::Heap } => only(ptr, &self.private),
            Op::Allocate { .. } => {
                self.points_to.object(AbstractObject::Site(place)).is_some_and(|site| self.private.contains(site))
            }
            _ => false,
        }
    }

    fn unrecorded(&self) -> Unrecorded {
        let mut unrecorded = Unrecorded::default();
        for (id, function) in self.program.functions.iter_enumerated() {
            for_each_op(id, function, |place, op| {
                if self.is_unrecorded(id, place, op) {
                    unrecorded.instructions.insert(place);
                }
            });
            for slot in function.slots.ids() {
                let object = self.points_to.object(AbstractObject::Slot(id, slot));
                if object.is_some_and(|object| self.private.contains(object)) {
                    unrecorded.slots.insert((id, slot));
                }
            }
        }
        unrecorded
    }

    fn result(&self) -> ThreadPrivate {
        let program = self.program;
        let unrecorded = self.unrecorded();
        let mut instructions: IndexVec<FuncId, IndexVec<BlockId, Vec<bool>>> = program
            .functions
            .iter()
            .map(|function| match &function.body {
                Body::Blocks(blocks) => blocks.iter().map(|block| vec![false; block.instrs.len()]).collect(),
                Body::External(_) => IndexVec::new(),
            })
            .collect();
        for place in &unrecorded.instructions {
            instructions[place.func][place.block][place.index as usize] = true;
        }
        let mut slots: IndexVec<FuncId, IndexVec<SlotId, Option<u32>>> =
            program.functions.iter().map(|function| function.slots.iter().map(|_| None).collect()).collect();
        for (number, &(func, slot)) in unrecorded.slots.iter().enumerate() {
            slots[func][slot] = Some(number as u32);
        }
        let of_statics = |set: &ObjectSet| {
            let object = |id| self.points_to.object(AbstractObject::Static(id));
            program.objects.ids().map(|id| object(id).is_some_and(|object| set.contains(object))).collect()
        };
        let (statics, readable) = (of_statics(&self.private), of_statics(&self.readable));
        ThreadPrivate { unrecorded, callbacks: self.callbacks, statics, readable, instructions, slots }
    }
}

/// What code outside of the program may change, or the program accesses in ways that have to be recorded; and all that
/// is ever written.
fn exposed(program: &Program, points_to: &PointsTo, callbacks: &[bool]) -> (ObjectSet, ObjectSet) {
    let mut exposed = points_to.escaped_to_unknown();
    let mut written = ObjectSet::new();
    let errno = errno_object(program).and_then(|id| points_to.object(AbstractObject::Static(id)));
    exposed.union_with(&errno.into_iter().collect());
    let brings_back = program.functions.iter().any(|function| brings_pointers(&function.name));
    for (id, function) in program.functions.iter_enumerated() {
        for_each_op(id, function, |_, op| {
            let accessed = points_to.may_access(program, id, op);
            written.union_with(&accessed.written);
            let is_always_recorded = match op {
                Op::Sync { .. } => true,
                // What a function without a body writes; the others are looked at themselves.
                Op::Call { callee, args, .. } => {
                    exposed.union_with(&accessed.written);
                    if let (true, Callee::Direct(target)) = (brings_back, callee) {
                        exposed.union_with(&sent_away(program, points_to, id, *target, args));
                    }
                    false
                }
                op => op.access().is_some_and(|(access, _)| access.volatile),
            };
            if let (Op::Spawn { .. }, Some((handle, AccessKind::Write))) = (op, op.access()) {
                let plain = points_to.points_to(id, &handle.ptr);
                exposed.union_with(&accessed.written.difference(&plain));
            }
            if is_always_recorded || callbacks[id.index()] {
                exposed.union_with(&accessed.all());
            }
            // The points-to sets of code that control never reaches are empty.
            if !points_to.is_reached(id) {
                op.for_each_operand(|expr| mentioned(points_to, expr, &mut exposed));
            }
        });
    }
    (exposed, written)
}

/// Whether a library function may bring back a pointer that was sent away: through a pipe, as a text, in a file.
fn brings_pointers(name: &str) -> bool {
    let name = standard_name(name);
    matches!(name, "read" | "pread" | "pread64" | "fread" | "fread_unlocked" | "fgets" | "fgets_unlocked" | "getenv")
        || touches(name).iter().any(|touch| matches!(touch, Touch::Scans { .. }))
}

/// What can be reached through pointers that a call of a library function sends away as bytes or as a text.
fn sent_away(program: &Program, points_to: &PointsTo, caller: FuncId, target: FuncId, args: &[Expr]) -> ObjectSet {
    let function = &program.functions[target];
    if !matches!(function.body, Body::External(_)) {
        return ObjectSet::new();
    }
    let mut sent = ObjectSet::new();
    let name = standard_name(&function.name);
    for touch in touches(name) {
        let buffer = match touch {
            Touch::Reads(index, Extent::Bytes(_) | Extent::Product(..)) => *index,
            Touch::Prints { format, arguments } if shows_pointers(program, args.get(*format as usize)) => {
                arguments.parameter()
            }
            _ => continue,
        };
        if let Some(buffer) = args.get(buffer as usize) {
            sent.union_with(&points_to.reachable(&points_to.points_to(caller, buffer)));
        }
    }
    sent
}

/// Whether a format is not known to have no `%p`.
fn shows_pointers(program: &Program, format: Option<&Expr>) -> bool {
    let Some(Expr::Object(object)) = format else { return true };
    let object = &program.objects[*object];
    let text = if object.kind == ObjectKind::Constant { object.text(0) } else { None };
    // (Any number may be an address.)
    text.is_none_or(|text| text.windows(2).any(|pair| pair[0] == b'%' && !matches!(pair[1], b's' | b'c' | b'%')))
}

fn effects(program: &Program, points_to: &PointsTo, callbacks: &[bool]) -> Callbacks {
    let (mut written, mut read, mut may_wake) = (ObjectSet::new(), ObjectSet::new(), false);
    for (id, function) in program.functions.iter_enumerated() {
        let is_callback = callbacks[id.index()];
        for_each_op(id, function, |_, op| {
            may_wake |= is_callback && matches!(op, Op::Sync { .. });
            let accessed = points_to.may_access(program, id, op);
            if is_callback {
                written.union_with(&accessed.written);
            } else {
                read.union_with(&accessed.read);
            }
        });
    }
    Callbacks { may_wake, may_write: written.intersects(&read) }
}

/// Whether code outside of the program may call a function, or one that calls it: by function.
fn callback_functions(program: &Program, points_to: &PointsTo, calls: &CallGraph) -> Vec<bool> {
    let escaped = points_to.escaped_to_unknown();
    let given = program.functions.ids().filter(|id| {
        let object = points_to.object(AbstractObject::Function(*id));
        object.is_some_and(|object: AbstractId| escaped.contains(object))
    });
    calls.calls().reachable(given.collect::<Vec<_>>())
}

/// All objects that an expression names, and what can be reached from them.
fn mentioned(points_to: &PointsTo, expr: &Expr, into: &mut ObjectSet) {
    let mut work = vec![expr];
    while let Some(expr) = work.pop() {
        match expr {
            Expr::Object(object) => {
                let object = points_to.object(AbstractObject::Static(*object));
                into.union_with(&points_to.reachable(&object.into_iter().collect()));
            }
            Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => work.push(operand),
            Expr::Binary(_, operands) => work.extend(operands.iter()),
            Expr::Select(parts) => work.extend(parts.iter()),
            Expr::Const { .. } | Expr::Local(_) | Expr::Slot(_) | Expr::Function(_) => {}
        }
    }
}
