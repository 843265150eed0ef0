//! What a thread knows by itself, and the recorder need not tell.
//!
//! Memory that no other thread and nobody outside of the program ever touches holds what its own thread has put there: whoever
//! walks the thread's path knows it without being told. Which memory that is, is decided before the program runs, from what
//! pointers may point to. An object is *private* if
//!
//! - no two threads access the same instance of it ([`SharedObjects`]),
//! - no function without a body writes it (`errno` is written by all of them), no function that such a one may call back (a signal
//!   handler, for one) touches it, and no access of it is volatile,
//! - it holds no synchronisation object, whose bytes the system changes.
//!
//! A load or store is quiet if all that it may access is private, or (for a load) is never written at all. An access that
//! may go to private and to other memory is recorded like any other; its stores count for both. What is allocated in private is freed
//! in private: who frees has to know.
//!
//! The recorder and the walk both compute this; the trace has a fingerprint of it.

use crate::instances::Instances;
use leno_emit::Quiet;
use leno_ir::callgraph::CallGraph;
use leno_ir::index::Idx;
use leno_ir::points_to::{AbstractId, AbstractObject, ObjectSet, PointsTo, for_each_op};
use leno_ir::program::{Body, DataModel, Datum, Expr, FuncId, ObjectId, ObjectKind, Op, Order, Place, Program};
use leno_ir::sharing::{SharedObjects, Sharing};
use leno_ir::visit::AccessKind;

/// What the functions do that somebody outside of the program may call at any time: signal handlers, for one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CalledBack {
    /// They synchronise: they may wake somebody who waits.
    pub wake: bool,
    /// They write what the rest of the program reads.
    pub write: bool,
}

/// What is private, and which instructions need no record because of it.
#[derive(Clone, Debug, Default)]
pub struct Privacy {
    pub quiet: Quiet,
    pub called_back: CalledBack,
    /// Whether a static object is private.
    statics: Vec<bool>,
    /// Static objects that are quiet to read.
    readable: Vec<bool>,
    /// By function, by block, by instruction: whether it is quiet.
    places: Vec<Vec<Vec<bool>>>,
    /// By function and slot: the number of a quiet slot.
    slots: Vec<Vec<Option<u32>>>,
}

impl Privacy {
    pub fn new(program: &Program) -> Privacy {
        let mut search = Search::new(program);
        search.settle_frees();
        search.result()
    }

    pub fn is_quiet(&self, place: Place) -> bool {
        let block = self.places.get(place.func.index()).and_then(|blocks| blocks.get(place.block.index()));
        block.and_then(|block| block.get(place.index as usize)).copied().unwrap_or(false)
    }

    /// The number of a slot among all quiet ones.
    pub fn slot(&self, func: FuncId, slot: usize) -> Option<u32> {
        self.slots.get(func.index())?.get(slot).copied().flatten()
    }

    pub fn slot_count(&self) -> usize {
        self.quiet.slots.len()
    }

    pub fn is_private(&self, object: ObjectId) -> bool {
        self.statics.get(object.index()).copied().unwrap_or(false)
    }

    /// What the static objects that a thread reads quietly begin with: addresses and bytes. The thread's own if a thread is given.
    pub fn image(&self, program: &Program, instances: &Instances, thread: Option<u32>) -> Vec<(u64, Vec<u8>)> {
        let mut image = Vec::new();
        for (id, object) in program.objects.iter_enumerated() {
            let is_own = object.kind == ObjectKind::ThreadLocal;
            if !self.readable.get(id.index()).copied().unwrap_or(false) || is_own != thread.is_some() {
                continue;
            }
            let start = instances.address_of(program, thread.unwrap_or(0), id);
            let of_pointer = |address: u64| match program.model {
                DataModel::Lp64 => address.to_le_bytes().to_vec(),
                DataModel::Ilp32 => (address as u32).to_le_bytes().to_vec(),
            };
            for (offset, datum) in &object.init {
                let bytes = match datum {
                    Datum::Bytes(bytes) => bytes.clone(),
                    Datum::Object(object, shift) => {
                        of_pointer(instances.address_of(program, 0, *object).wrapping_add(*shift as u64))
                    }
                    Datum::Function(function) => {
                        of_pointer(instances.function_addresses.get(function.index()).copied().unwrap_or(0))
                    }
                };
                image.push((start.wrapping_add(*offset), bytes));
            }
        }
        image
    }
}

struct Search<'p> {
    program: &'p Program,
    points_to: PointsTo,
    called_back: CalledBack,
    private: ObjectSet,
    readable: ObjectSet,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program) -> Search<'p> {
        let points_to = PointsTo::new(program);
        let calls = CallGraph::new(program, &points_to);
        let sharing = SharedObjects::new(program, &points_to, &calls);
        let functions = called_back(program, &points_to, &calls);
        let (exposed, written) = exposed(program, &points_to, &functions);
        let called_back = effects(program, &points_to, &functions);
        let (mut private, mut readable) = (ObjectSet::new(), ObjectSet::new());
        for (id, object) in points_to.objects().iter_enumerated() {
            let is_ours = match object {
                AbstractObject::Slot(..) | AbstractObject::Site(_) => true,
                AbstractObject::Static(object) => program.objects[*object].kind != ObjectKind::External,
                AbstractObject::Unknown | AbstractObject::Function(_) => false,
            };
            if !is_ours || exposed.contains(id) {
                continue;
            }
            if sharing.of(id) == Sharing::Local {
                private.insert(id);
                readable.insert(id);
            } else if matches!(object, AbstractObject::Static(_)) && !written.contains(id) {
                readable.insert(id);
            }
        }
        Search { program, points_to, called_back, private, readable }
    }

    /// What is freed together with something that is not private is not, either.
    fn settle_frees(&mut self) {
        let mut freed: Vec<ObjectSet> = Vec::new();
        for (id, function) in self.program.functions.iter_enumerated() {
            for_each_op(id, function, |_, op| {
                if let Op::Free { ptr } = op {
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

    fn is_quiet(&self, id: FuncId, place: Place, op: &Op) -> bool {
        let only = |ptr: &Expr, allowed: &ObjectSet| {
            let objects = self.points_to.points_to(id, ptr);
            !objects.is_empty() && objects.is_subset_of(allowed)
        };
        match op {
            Op::Load { from, .. } => {
                !from.volatile && from.order == Order::NotAtomic && only(&from.ptr, &self.readable)
            }
            Op::Store { to, .. } => !to.volatile && to.order == Order::NotAtomic && only(&to.ptr, &self.private),
            Op::Free { ptr } => only(ptr, &self.private),
            Op::Allocate { .. } => {
                self.points_to.object(AbstractObject::Site(place)).is_some_and(|site| self.private.contains(site))
            }
            _ => false,
        }
    }

    fn result(&self) -> Privacy {
        let program = self.program;
        let mut quiet = Quiet::default();
        let mut places = Vec::new();
        for (id, function) in program.functions.iter_enumerated() {
            places.push(match &function.body {
                Body::Blocks(blocks) => blocks.iter().map(|block| vec![false; block.instrs.len()]).collect(),
                Body::External(_) => Vec::new(),
            });
            for_each_op(id, function, |place, op| {
                if self.is_quiet(id, place, op) {
                    quiet.places.insert(place);
                    places[id.index()][place.block.index()][place.index as usize] = true;
                }
            });
            for slot in function.slots.ids() {
                let object = self.points_to.object(AbstractObject::Slot(id, slot));
                if object.is_some_and(|object| self.private.contains(object)) {
                    quiet.slots.insert((id, slot));
                }
            }
        }
        let mut slots: Vec<Vec<Option<u32>>> =
            program.functions.iter().map(|function| vec![None; function.slots.len()]).collect();
        for (number, (func, slot)) in quiet.slots.iter().enumerate() {
            slots[func.index()][slot.index()] = Some(number as u32);
        }
        let of_statics = |set: &ObjectSet| {
            let object = |id| self.points_to.object(AbstractObject::Static(id));
            program.objects.ids().map(|id| object(id).is_some_and(|object| set.contains(object))).collect()
        };
        let (statics, readable) = (of_statics(&self.private), of_statics(&self.readable));
        Privacy { quiet, called_back: self.called_back, statics, readable, places, slots }
    }
}

/// What somebody outside of the program may change, or the program accesses in ways that are to be seen; and all that is ever
/// written.
fn exposed(program: &Program, points_to: &PointsTo, called_back: &[bool]) -> (ObjectSet, ObjectSet) {
    let mut exposed = points_to.escaped_to_unknown();
    let mut written = ObjectSet::new();
    let errno = leno_emit::errno_object(program).and_then(|id| points_to.object(AbstractObject::Static(id)));
    exposed.union_with(&errno.into_iter().collect());
    for (id, function) in program.functions.iter_enumerated() {
        for_each_op(id, function, |_, op| {
            let accessed = points_to.may_access(program, id, op);
            written.union_with(&accessed.written);
            let is_strange = match op {
                Op::Sync { .. } => true,
                // What a function without a body writes; others are looked at themselves.
                Op::Call { .. } => {
                    exposed.union_with(&accessed.written);
                    false
                }
                op => op.access().is_some_and(|(access, _)| access.volatile),
            };
            if let (Op::Spawn { .. }, Some((handle, AccessKind::Write))) = (op, op.access()) {
                let plain = points_to.points_to(id, &handle.ptr);
                exposed.union_with(&accessed.written.difference(&plain));
            }
            if is_strange || called_back[id.index()] {
                exposed.union_with(&accessed.all());
            }
            // Of code that control never reaches nobody knows what its pointers are.
            if !points_to.is_reached(id) {
                op.for_each_operand(|expr| mentioned(points_to, expr, &mut exposed));
            }
        });
    }
    (exposed, written)
}

fn effects(program: &Program, points_to: &PointsTo, called_back: &[bool]) -> CalledBack {
    let (mut written, mut read, mut wake) = (ObjectSet::new(), ObjectSet::new(), false);
    for (id, function) in program.functions.iter_enumerated() {
        let is_called_back = called_back[id.index()];
        for_each_op(id, function, |_, op| {
            wake |= is_called_back && matches!(op, Op::Sync { .. });
            let accessed = points_to.may_access(program, id, op);
            if is_called_back {
                written.union_with(&accessed.written);
            } else {
                read.union_with(&accessed.read);
            }
        });
    }
    CalledBack { wake, write: written.intersects(&read) }
}

/// The functions that somebody outside of the program may call.
fn called_back(program: &Program, points_to: &PointsTo, calls: &CallGraph) -> Vec<bool> {
    let escaped = points_to.escaped_to_unknown();
    let given = program.functions.ids().filter(|id| {
        let object = points_to.object(AbstractObject::Function(*id));
        object.is_some_and(|object: AbstractId| escaped.contains(object))
    });
    calls.calls().reachable(given.collect::<Vec<_>>())
}

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
