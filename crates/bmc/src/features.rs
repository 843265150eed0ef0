//! What a program makes use of, at a glance.

use leno_ir::callgraph::CallGraph;
use leno_ir::index::Idx;
use leno_ir::points_to::{AbstractId, AbstractObject, ObjectSet, PointsTo};
use leno_ir::program::{Body, Datum, Expr, Op, Program, SyncOp};

/// Whether the program has steps that can tell how often a lock was held: those that try, and those that destroy it while others may run; not
/// those of the main thread, which cleans up.
pub fn counts_locking(program: &Program, calls: &CallGraph) -> bool {
    use SyncOp::*;
    let mut counts = false;
    let by_others = calls.calls().reachable(calls.thread_entries().iter().copied());
    let is_certain = calls.unknown().is_empty();
    for (id, function) in program.functions.iter_enumerated() {
        let Body::Blocks(blocks) = &function.body else { continue };
        for instr in blocks.iter().flat_map(|block| &block.instrs) {
            let Op::Sync { op, .. } = &instr.op else { continue };
            counts |= match op {
                TryLock(_) | TryReadLock | TryWriteLock | SemTryWait | SemGetValue => true,
                LockDestroy(_) | RwDestroy => {
                    program.entry != Some(id) && !(is_certain && by_others.get(id.index()) == Some(&false))
                }
                _ => false,
            };
        }
    }
    counts
}

pub fn has_op(program: &Program, is_one: impl Fn(&Op) -> bool) -> bool {
    program.functions.iter().any(|function| match &function.body {
        Body::Blocks(blocks) => blocks.iter().flat_map(|block| &block.instrs).any(|instr| is_one(&instr.op)),
        Body::External(_) => false,
    })
}

/// The mutexes that may be of another kind than the normal one: made so by a call, or by their initial values.
pub fn special_mutexes(program: &Program, points_to: &PointsTo) -> ObjectSet {
    let mut special = ObjectSet::new();
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
                            program.objects[object].init.iter().any(|(_, datum)| match datum {
                                Datum::Bytes(bytes) => bytes.iter().any(|byte| *byte != 0),
                                _ => true,
                            })
                        }
                        _ => false,
                    };
                    special.union_with(&targets.iter().filter(is_set).collect());
                }
                _ => {}
            }
        }
    }
    special
}

/// Whether any thread ever waits on a condition variable.
pub fn has_condition_variables(program: &Program) -> bool {
    has_op(program, |op| matches!(op, Op::Sync { op: SyncOp::CondWake { .. }, .. }))
}
