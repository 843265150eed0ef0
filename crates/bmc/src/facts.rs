//! What is known of a program before it is unrolled: shared by all rounds and all questions.
//!
//! Most of it is known to all engines ([`Facts`]); what only this engine asks for is derived from that once.

use crate::summarize::Refused;
use leno_ir::analysis::facts::Facts;
use leno_ir::analysis::features::{CountedLocks, counted_locks, has_condition_variables, has_op, special_mutexes};
use leno_ir::analysis::liveness::Live;
use leno_ir::analysis::points_to::{ObjectSet, PointsTo};
use leno_ir::analysis::sharing::SharedObjects;
use leno_ir::analysis::weak_topological_order::Element;
use leno_ir::program::{FuncId, Op, Program};
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
            common,
            objects_in_memory: OnceCell::new(),
        }
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
