//! What is known of a program before it is unrolled: shared by all rounds and all questions.
//!
//! Most of it is known to all engines ([`Facts`]); what only this engine asks for is derived from that once.

use crate::summarize::Refused;
use leno_ir::analysis::facts::Facts;
use leno_ir::analysis::features::{CountedLocks, counted_locks, has_condition_variables, has_op, special_mutexes};
use leno_ir::analysis::liveness::Live;
use leno_ir::analysis::points_to::{ObjectSet, PointsTo};
use leno_ir::analysis::sharing::SharedObjects;
use leno_ir::analysis::wakeups::{Matters, sync_places, where_unasked_wakeups_matter};
use leno_ir::analysis::weak_topological_order::Element;
use leno_ir::program::{FuncId, Op, Program, SyncOp};
use std::cell::OnceCell;

/// See the module.
pub struct ProgramFacts<'p> {
    pub program: &'p Program,
    pub points_to: &'p PointsTo,
    pub shared: &'p SharedObjects,
    /// Mutexes that may be of another kind than the normal one.
    pub special_mutexes: ObjectSet,
    /// Locks of which some instruction can observe how often they are held.
    pub counted_locks: CountedLocks,
    pub has_assumptions: bool,
    pub has_condition_variables: bool,
    /// Whether some step may see what another thread has done without synchronising with it (a weaker order, an attempt
    /// that fails): races are then those of C11's happens-before.
    pub has_weak_orders: bool,
    /// Whether locks are taken for reading.
    pub has_read_locks: bool,
    /// Whether locks are destroyed.
    pub destroys_locks: bool,
    /// Whether barriers are destroyed.
    pub destroys_barriers: bool,
    /// Whether a condition variable may be destroyed while a thread sleeps on it.
    pub destroys_sleepers: bool,
    unasked_wakeups: OnceCell<Vec<Matters>>,
    common: &'p Facts<'p>,
    objects_in_memory: OnceCell<ObjectSet>,
}

/// The order in which the blocks of a function are executed, and what they need.
#[derive(Clone, Copy)]
pub struct FunctionShape<'p> {
    pub elements: &'p [Element],
    /// By block: what is still needed at its beginning.
    pub live: &'p [Live],
    /// By slot: whether its address is never stored or passed on.
    pub private_slots: &'p [bool],
}

fn takes_read_lock(op: &Op) -> bool {
    matches!(op, Op::Sync { op: SyncOp::ReadLock | SyncOp::TryReadLock, .. })
}

fn destroys_lock(op: &Op) -> bool {
    matches!(op, Op::Sync { op: SyncOp::LockDestroy(_) | SyncOp::RwDestroy, .. })
}

/// Whether some thread may stand before a wake-up while another one destroys a condition variable.
fn destroys_sleepers(facts: &Facts<'_>) -> bool {
    let wakes = sync_places(facts, |op| matches!(op, SyncOp::CondWake { .. }));
    let destroys = sync_places(facts, |op| matches!(op, SyncOp::CondDestroy));
    destroys.iter().any(|one| wakes.iter().any(|other| facts.parallel().may_happen_in_parallel(*one, *other)))
}

impl<'p> ProgramFacts<'p> {
    pub fn new(common: &'p Facts<'p>) -> ProgramFacts<'p> {
        let program = common.program();
        let points_to = common.points_to();
        ProgramFacts {
            program,
            points_to,
            shared: common.sharing(),
            special_mutexes: special_mutexes(program, points_to),
            counted_locks: counted_locks(program, common.calls(), points_to),
            has_assumptions: has_op(program, |op| matches!(op, Op::Assume { .. })),
            has_condition_variables: has_condition_variables(program),
            has_weak_orders: has_op(program, Op::may_see_without_order),
            has_read_locks: has_op(program, takes_read_lock),
            destroys_locks: has_op(program, destroys_lock),
            destroys_barriers: has_op(program, |op| matches!(op, Op::Sync { op: SyncOp::BarrierDestroy, .. })),
            destroys_sleepers: destroys_sleepers(common),
            unasked_wakeups: OnceCell::new(),
            common,
            objects_in_memory: OnceCell::new(),
        }
    }

    /// Waits for which it matters to deadlocks that they may end without a signal.
    pub fn unasked_wakeups(&self) -> &[Matters] {
        self.unasked_wakeups.get_or_init(|| where_unasked_wakeups_matter(self.common))
    }

    /// Whether a function may call itself, directly or through others.
    pub fn is_recursive(&self, func: FuncId) -> bool {
        self.common.calls().is_recursive(func)
    }

    pub fn shape(&self, func: FuncId) -> Result<FunctionShape<'p>, Refused> {
        if self.common.cfg(func).is_none() {
            return Err(Refused::new("a call of a function without a body"));
        }
        Ok(FunctionShape {
            elements: self.common.weak_topological_order(func),
            live: self.common.liveness(func),
            private_slots: self.common.private_slots(func),
        })
    }

    /// The objects whose addresses may be stored in memory.
    pub fn objects_in_memory(&self) -> &ObjectSet {
        self.objects_in_memory.get_or_init(|| {
            let mut stored = ObjectSet::new();
            for object in self.points_to.objects().ids() {
                stored.union_with(&self.points_to.contents(object));
            }
            stored
        })
    }
}
