//! What would have happened on the branch that was not taken.
//!
//! `assert(c)` is a branch in C: the call that fails is on the other side, and a recorded run that went well has not been there. So
//! at a branch that could have gone the other way we look ahead: if what follows there fails, whatever other threads do, before it
//! touches anything that they can see, then the branch is an assertion.

use crate::express::{Evaluator, Leaves, Val};
use crate::walk::{Listener, Suspect, Walk};
use leno_ir::index::{Idx, IndexVec};
use leno_ir::interp::ViolationKind;
use leno_ir::program::{
    BlockId, Body, Callee, Expr, FuncId, Local, LocalId, Op, Program, Property, Span, TerminatorKind, Type,
};
use leno_logic::term::{Term, Terms};

/// Instructions that are looked at.
const FAR: usize = 200;

/// Registers of which only some are known.
struct Known<'a> {
    program: &'a Program,
    locals: &'a IndexVec<LocalId, Local>,
    values: &'a [Option<u128>],
}

impl Known<'_> {
    fn is_known(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Const { .. } => true,
            Expr::Local(local) => self.values.get(local.index()).is_some_and(Option::is_some),
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

impl Leaves for Known<'_> {
    fn leaf(&self, expr: &Expr) -> Val {
        match expr {
            Expr::Local(local) => Val::fixed(self.values.get(local.index()).copied().flatten().unwrap_or(0)),
            _ => Val::default(),
        }
    }

    fn ty(&self, expr: &Expr) -> Type {
        expr.ty(self.locals, self.program.model)
    }
}

struct Ahead {
    func: FuncId,
    block: BlockId,
    index: usize,
    values: Vec<Option<u128>>,
}

/// The assertion that certainly fails from here, if there is one.
fn failure(program: &Program, start: Ahead) -> Option<(Property, Span, String)> {
    let mut frames = vec![start];
    for _ in 0..FAR {
        let Ahead { func, block, index, values } = frames.last_mut()?;
        let function = &program.functions[*func];
        let Body::Blocks(blocks) = &function.body else { return None };
        let contents = blocks.get(*block)?;
        let known =
            |values: &[Option<u128>], expr: &Expr| Known { program, locals: &function.locals, values }.value(expr);
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
                *values.get_mut(dst.index())? = value;
            }
            Op::Call { dst, callee: Callee::Direct(callee), args } => {
                if let Some(dst) = dst {
                    *values.get_mut(dst.index())? = None;
                }
                let target = &program.functions[*callee];
                match &target.body {
                    Body::Blocks(_) => {
                        let mut passed: Vec<Option<u128>> = args.iter().map(|arg| known(values, arg)).collect();
                        passed.resize(target.locals.len(), None);
                        frames.push(Ahead { func: *callee, block: BlockId(0), index: 0, values: passed });
                    }
                    // What is said before giving up.
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
    /// `holds` is what kept the thread from going to `other`.
    pub(crate) fn suspect_branch(&mut self, number: u32, other: BlockId, holds: Term) {
        let Ok(frame) = self.frame(number) else { return };
        let values = frame.locals.iter().map(|value| value.term.is_none().then_some(value.bits)).collect();
        let ahead = Ahead { func: frame.func, block: other, index: 0, values };
        let Some((property, span, message)) = failure(self.program, ahead) else { return };
        let Some(at) = self.moment(number) else { return };
        let bad = self.terms.not(holds);
        let suspect = Suspect { kind: kind_of(property), span, message };
        self.listener.suspect(&mut self.terms, &at, bad, suspect);
    }
}

pub(crate) fn kind_of(property: Property) -> ViolationKind {
    match property {
        Property::Assertion => ViolationKind::Assertion,
        Property::DivisionByZero => ViolationKind::DivisionByZero,
        Property::SignedOverflow => ViolationKind::SignedOverflow,
    }
}
