//! What a program makes use of, at a glance.

use crate::analysis::callgraph::CallGraph;
use crate::analysis::points_to::{AbstractId, AbstractObject, ObjectSet, PointsTo, for_each_op};
use crate::analysis::retries::quiet_tries;
use crate::index::Idx;
use crate::program::{
    BinaryOp, Body, Callee, DataModel, Datum, Expr, Instr, LockKind, Object, Op, Order, Program, Span, Storage, SyncOp,
    Type, mutex_bytes,
};

/// Which kinds of instructions the functions that may run have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Features {
    /// Threads are created.
    pub threads: bool,
    pub joins: bool,
    pub mutexes: bool,
    pub spin_locks: bool,
    pub read_write_locks: bool,
    /// Locks or semaphores are tried: `trylock`, `timedlock` and the like.
    pub tries: bool,
    pub condition_variables: bool,
    pub semaphores: bool,
    pub barriers: bool,
    pub once: bool,
    /// Atomic sections.
    pub sections: bool,
    /// C11 atomics, read-modify-writes and fences.
    pub atomics: bool,
    /// The first atomic access, in the source, whose order is weaker than `seq_cst`.
    pub weak_order: Option<Span>,
    pub heap: bool,
    /// Inputs and other values that are not determined.
    pub nondeterminism: bool,
    pub assumptions: bool,
    pub floats: bool,
    pub calls_through_pointers: bool,
    /// Functions of which nothing is known.
    pub unknown_functions: bool,
}

impl Features {
    pub fn new(program: &Program, calls: &CallGraph) -> Features {
        let mut found = Features::default();
        for (id, function) in program.functions.iter_enumerated().filter(|(id, _)| calls.is_reachable(*id)) {
            found.floats |= function.locals.iter().any(|local| matches!(local.ty, Type::Float(_)));
            match &function.body {
                Body::External(external) => found.unknown_functions |= !external.known,
                Body::Blocks(blocks) => {
                    for_each_op(id, function, |_, op| found.add(op));
                    let instrs = blocks.iter().flat_map(|block| &block.instrs);
                    let weak = instrs.filter(|instr| instr.op.is_weakly_ordered()).map(|instr| instr.span);
                    let position = |span: &Span| (span.file, span.line, span.column);
                    found.weak_order = found.weak_order.into_iter().chain(weak).min_by_key(position);
                }
            }
        }
        found
    }

    fn add(&mut self, op: &Op) {
        let is_atomic = op.access().is_some_and(|(access, _)| access.order != Order::NotAtomic);
        self.atomics |= is_atomic;
        match op {
            Op::Spawn { .. } => self.threads = true,
            Op::Join { .. } => self.joins = true,
            Op::Sync { op, .. } => self.add_sync(op),
            Op::AtomicBegin | Op::AtomicEnd => self.sections = true,
            Op::ReadModifyWrite { .. } | Op::CompareExchange { .. } | Op::Fence { .. } => self.atomics = true,
            Op::Allocate { storage: Storage::Heap, .. } => self.heap = true,
            Op::Nondet { .. } => self.nondeterminism = true,
            Op::Assume { .. } => self.assumptions = true,
            Op::Call { callee: Callee::Indirect(_), .. } => self.calls_through_pointers = true,
            _ => {}
        }
    }

    fn add_sync(&mut self, op: &SyncOp) {
        use SyncOp::*;
        match op {
            LockInit { lock, .. } | LockDestroy(lock) | Lock(lock) | TryLock(lock) | Unlock(lock) => match lock {
                LockKind::Mutex => self.mutexes = true,
                LockKind::Spin => self.spin_locks = true,
            },
            RwInit | RwDestroy | ReadLock | TryReadLock | WriteLock | TryWriteLock | RwUnlock => {
                self.read_write_locks = true;
            }
            CondInit | CondDestroy | CondSleep { .. } | CondWake { .. } | CondRelock | CondSignal | CondBroadcast => {
                self.condition_variables = true;
            }
            SemInit { .. } | SemDestroy | SemWait | SemTryWait | SemPost | SemGetValue => self.semaphores = true,
            BarrierInit { .. } | BarrierDestroy | BarrierArrive | BarrierLeave { .. } => self.barriers = true,
            OnceBegin | OnceEnd => self.once = true,
        }
        self.tries |= matches!(op, TryLock(_) | TryReadLock | TryWriteLock | SemTryWait);
    }
}

/// Locks and semaphores of which some step can tell how often they were held.
#[derive(Clone, Debug, Default)]
pub struct CountedLocks {
    objects: ObjectSet,
    /// Any lock: a pointer to one may be anything.
    all: bool,
}

impl CountedLocks {
    pub fn contains(&self, object: AbstractId) -> bool {
        self.all || self.objects.contains(object)
    }

    pub fn intersects(&self, objects: &ObjectSet) -> bool {
        self.all || objects.is_empty() || self.objects.intersects(objects)
    }
}

/// The locks of which the program can tell how often they were held: by steps that try, unless they try until they
/// succeed ([`quiet_tries`]), and by those that destroy them while others may run; not by those of the main thread,
/// which cleans up.
pub fn counted_locks(program: &Program, calls: &CallGraph, points_to: &PointsTo) -> CountedLocks {
    use SyncOp::*;
    let mut counted = CountedLocks::default();
    let mut quiet: Vec<(ObjectSet, ObjectSet)> = Vec::new();
    let by_others = calls.calls().reachable(calls.thread_entries().iter().copied());
    let is_certain = calls.unknown().is_empty();
    for (id, function) in program.functions.iter_enumerated() {
        let Body::Blocks(blocks) = &function.body else { continue };
        let quiet_here = quiet_tries(function, program.model);
        let all =
            blocks.iter_enumerated().flat_map(|(id, block)| block.instrs.iter().enumerate().map(move |at| (id, at)));
        for (block, (index, instr)) in all {
            let Op::Sync { op, at, .. } = &instr.op else { continue };
            let is_known = |lock: &Expr| !points_to.points_to(id, lock).is_empty();
            if let Some(found) = quiet_here.iter().find(|found| found.at == (block, index))
                && found.locks.iter().all(is_known)
            {
                let mut locks = ObjectSet::new();
                found.locks.iter().for_each(|lock| _ = locks.union_with(&points_to.points_to(id, lock)));
                quiet.push((points_to.points_to(id, at).into_owned(), locks));
                continue;
            }
            let counts = match op {
                TryLock(_) | TryReadLock | TryWriteLock | SemTryWait | SemGetValue => true,
                LockDestroy(_) | RwDestroy => {
                    program.entry != Some(id) && !(is_certain && by_others.get(id.index()) == Some(&false))
                }
                _ => false,
            };
            if counts {
                let targets = points_to.points_to(id, at);
                counted.all |= targets.is_empty();
                counted.objects.union_with(&targets);
            }
        }
    }
    // A quiet try is as good as any other if a lock of its round is counted.
    while let Some(at) = quiet.iter().position(|(_, locks)| counted.all || counted.objects.intersects(locks)) {
        let (tried, _) = quiet.swap_remove(at);
        counted.all |= tried.is_empty();
        counted.objects.union_with(&tried);
    }
    counted
}

pub fn has_op(program: &Program, is_one: impl Fn(&Op) -> bool) -> bool {
    program.functions.iter().any(|function| match &function.body {
        Body::Blocks(blocks) => blocks.iter().flat_map(|block| &block.instrs).any(|instr| is_one(&instr.op)),
        Body::External(_) => false,
    })
}

/// The mutexes that may be of another kind than the normal one: made so by a call, or by their initial values. Where an
/// initialiser makes some mutex of another kind, it may have been copied to any that is no static object.
pub fn special_mutexes(program: &Program, points_to: &PointsTo) -> ObjectSet {
    let mut special = ObjectSet::new();
    let are_initialised = has_initialised_kinds(program);
    for (id, function) in program.functions.iter_enumerated() {
        let Body::Blocks(blocks) = &function.body else { continue };
        for instr in blocks.iter().flat_map(|block| &block.instrs) {
            let Op::Sync { op, at, .. } = &instr.op else { continue };
            match op {
                SyncOp::LockInit { kind: Expr::Const { bits: 0, .. }, .. } => {}
                SyncOp::LockInit { .. } => _ = special.union_with(&points_to.points_to(id, at)),
                SyncOp::Lock(_) | SyncOp::TryLock(_) => {
                    let targets = points_to.points_to(id, at);
                    let is_set = |object: &AbstractId| match points_to.objects()[*object] {
                        AbstractObject::Static(object) => {
                            are_initialised || has_initial_value(&program.objects[object])
                        }
                        _ => are_initialised,
                    };
                    special.union_with(&targets.iter().filter(is_set).collect());
                }
                _ => {}
            }
        }
    }
    special
}

fn has_initial_value(object: &Object) -> bool {
    object.init.iter().any(|(_, datum)| match datum {
        Datum::Bytes(bytes) => bytes.iter().any(|byte| *byte != 0),
        _ => true,
    })
}

/// Whether nothing is in an object at the beginning but what would be the kind of a mutex.
fn has_initial_kind(object: &Object, model: DataModel) -> bool {
    let kind_at = if model == DataModel::Lp64 { 16 } else { 12 };
    let mut given = Vec::new();
    for (offset, datum) in &object.init {
        let Datum::Bytes(bytes) = datum else { return false };
        given.extend((*offset..).zip(bytes).filter(|(_, byte)| **byte != 0));
    }
    matches!(given.as_slice(), [(at, 1..=3)] if *at == kind_at)
}

/// Whether a mutex of another kind than the normal one may be copied: a static one, or one whose initialiser is stored word by
/// word, with the kind behind words that are zero.
fn has_initialised_kinds(program: &Program) -> bool {
    let bytes = u64::from(mutex_bytes(program.model));
    let is_special = |object: &Object| object.size == bytes && has_initial_kind(object, program.model);
    if program.objects.iter().any(is_special) {
        return true;
    }
    let stored = |instr: &Instr| match &instr.op {
        Op::Store { to, value: Expr::Const { bits, .. } } if to.ty == Type::I32 => match &to.ptr {
            Expr::Slot(slot) => Some((*slot, 0, *bits)),
            Expr::Binary(BinaryOp::PtrAdd, operands) => match operands.as_ref() {
                [Expr::Slot(slot), Expr::Const { bits: offset, .. }] => Some((*slot, *offset, *bits)),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    let makes_kind = |instrs: &[Instr]| {
        let [zero, also, kind] = instrs else { return false };
        let (Some((slot, offset, kind)), Some(also), Some(zero)) = (stored(kind), stored(also), stored(zero)) else {
            return false;
        };
        (1..=3).contains(&kind) && offset >= 12 && also == (slot, offset - 4, 0) && zero == (slot, offset - 8, 0)
    };
    program.functions.iter().any(|function| match &function.body {
        Body::Blocks(blocks) => blocks.iter().any(|block| block.instrs.windows(3).any(makes_kind)),
        Body::External(_) => false,
    })
}

/// Whether any thread ever waits on a condition variable.
pub fn has_condition_variables(program: &Program) -> bool {
    has_op(program, |op| matches!(op, Op::Sync { op: SyncOp::CondWake { .. }, .. }))
}
