//! Assertions on branches that were not taken.
//!
//! `assert(c)` is a branch in C: the call that fails is on the other side, and a recorded run that passed has not been
//! there. So at a branch that could have gone the other way we look ahead: if the code there fails before its first
//! access to memory, whatever other threads do, then the branch is an assertion.

use crate::walk::Walk;
use crate::walk::concolic::{ConcolicValue, Evaluator, Leaves};
use crate::walk::listener::{Listener, PossibleViolation};
use crate::walk::problem::WalkResult;
use leno_ir::index::IndexVec;
use leno_ir::interp::ViolationKind;
use leno_ir::program::{
    BlockId, Body, Callee, Expr, FuncId, Local, LocalId, Op, Program, Property, Span, TerminatorKind, Type,
};
use leno_logic::term::{Term, Terms};
use leno_trace::ThreadIndex;

/// How many instructions we look ahead.
const LOOK_AHEAD: usize = 200;

/// Registers of which only some are known.
struct KnownLocals<'a> {
    program: &'a Program,
    locals: &'a IndexVec<LocalId, Local>,
    values: &'a IndexVec<LocalId, Option<u128>>,
}

impl KnownLocals<'_> {
    fn is_known(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Const { .. } => true,
            Expr::Local(local) => self.values.get(*local).is_some_and(Option::is_some),
            Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => false,
            Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => self.is_known(operand),
            Expr::Binary(_, operands) => operands.iter().all(|operand| self.is_known(operand)),
            Expr::Select(parts) => parts.iter().all(|part| self.is_known(part)),
        }
    }

    fn value(&self, expr: &Expr) -> Option<u128> {
        if !self.is_known(expr) {
            return None;
        }
        let mut terms = Terms::new();
        let mut evaluator = Evaluator { terms: &mut terms, model: self.program.model, pins: Vec::new() };
        Some(evaluator.value(self, expr).bits)
    }
}

impl Leaves for KnownLocals<'_> {
    fn leaf(&self, expr: &Expr) -> ConcolicValue {
        match expr {
            // (Asked only if all registers of the expression are known.)
            Expr::Local(local) => ConcolicValue::fixed(self.values.get(*local).copied().flatten().unwrap_or_default()),
            _ => ConcolicValue::default(),
        }
    }

    fn ty(&self, expr: &Expr) -> Type {
        expr.ty(self.locals, self.program.model)
    }
}

/// A function on the path that was not taken.
struct Frame {
    func: FuncId,
    block: BlockId,
    index: usize,
    values: IndexVec<LocalId, Option<u128>>,
}

/// The assertion that certainly fails from here, if there is one.
fn failure(program: &Program, start: Frame) -> Option<(Property, Span, String)> {
    let mut frames = vec![start];
    for _ in 0..LOOK_AHEAD {
        let Frame { func, block, index, values } = frames.last_mut()?;
        let function = &program.functions[*func];
        let Body::Blocks(blocks) = &function.body else { return None };
        let contents = blocks.get(*block)?;
        let known = |values: &IndexVec<LocalId, Option<u128>>, expr: &Expr| {
            KnownLocals { program, locals: &function.locals, values }.value(expr)
        };
        let Some(instr) = contents.instrs.get(*index) else {
            let target = match &contents.terminator.kind {
                TerminatorKind::Goto(target) => *target,
                TerminatorKind::Branch { cond, then, otherwise } => match known(values, cond)? {
                    0 => *otherwise,
                    _ => *then,
                },
                TerminatorKind::Return(_) if frames.len() > 1 => {
                    frames.pop();
                    continue;
                }
                _ => return None,
            };
            (*block, *index) = (target, 0);
            continue;
        };
        *index += 1;
        match &instr.op {
            Op::Assert { cond, property, message } => {
                if known(values, cond)? == 0 {
                    return Some((*property, instr.span, program.texts[*message].clone()));
                }
            }
            Op::Assign { dst, value } => {
                let value = known(values, value);
                values[*dst] = value;
            }
            Op::Call { dst, callee: Callee::Direct(callee), args } => {
                if let Some(dst) = dst {
                    values[*dst] = None;
                }
                let target = &program.functions[*callee];
                match &target.body {
                    Body::Blocks(_) => {
                        let mut passed: Vec<Option<u128>> = args.iter().map(|arg| known(values, arg)).collect();
                        passed.resize(target.locals.len(), None);
                        let passed = IndexVec::from(passed);
                        frames.push(Frame { func: *callee, block: BlockId(0), index: 0, values: passed });
                    }
                    // The messages that are printed before the failure.
                    Body::External(_) => {}
                }
            }
            Op::Fence { .. } | Op::Yield => {}
            _ => return None,
        }
    }
    None
}

impl<L: Listener> Walk<'_, '_, L> {
    /// Checks the branch to `other`, which the thread did not take because `holds`.
    pub(crate) fn check_untaken_branch(&mut self, id: ThreadIndex, other: BlockId, holds: Term) -> WalkResult {
        let frame = self.frame(id)?;
        let values = frame.locals.iter().map(|value| value.term.is_none().then_some(value.bits)).collect();
        let start = Frame { func: frame.func, block: other, index: 0, values };
        let Some((property, span, message)) = failure(self.program, start) else { return Ok(()) };
        let at = self.position(id)?;
        let bad = self.terms.not(holds);
        let violation = PossibleViolation { kind: ViolationKind::of(property), span, message };
        self.listener.check(&mut self.terms, &at, bad, violation);
        Ok(())
    }
}
