//! What an instruction mentions: results, operands, the access it makes, the blocks it may go on to.
//!
//! Most analyses treat most instructions alike, and ask only these questions.

use crate::program::{Access, BlockId, Callee, Expr, LocalId, Op, SyncOp, TerminatorKind};

/// How an instruction uses the memory that its [`Access`] names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum AccessKind {
    Read,
    Write,
    /// Both, in one step.
    Update,
}

impl Op {
    /// The registers it sets.
    pub fn for_each_result(&self, mut visit: impl FnMut(LocalId)) {
        match self {
            Op::Assign { dst, .. }
            | Op::Load { dst, .. }
            | Op::Allocate { dst, .. }
            | Op::ObjectSize { dst, .. }
            | Op::Nondet { dst }
            | Op::Undefine { dst }
            | Op::ThreadSelf { dst } => visit(*dst),
            Op::ReadModifyWrite { dst, .. } | Op::Call { dst, .. } | Op::Join { dst, .. } | Op::Sync { dst, .. } => {
                dst.iter().for_each(|dst| visit(*dst));
            }
            Op::CompareExchange { ok, old, .. } => {
                visit(*ok);
                visit(*old);
            }
            Op::Store { .. }
            | Op::Fence { .. }
            | Op::Free { .. }
            | Op::BeginLife { .. }
            | Op::EndLife { .. }
            | Op::Assume { .. }
            | Op::Assert { .. }
            | Op::CheckMove { .. }
            | Op::Spawn { .. }
            | Op::Detach { .. }
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Yield => {}
        }
    }

    /// The expressions it evaluates, addresses included; not the ones inside them.
    pub fn for_each_operand<'a>(&'a self, mut visit: impl FnMut(&'a Expr)) {
        match self {
            Op::Assign { value, .. } => visit(value),
            Op::Load { from, .. } => visit(&from.ptr),
            Op::Store { to, value } => {
                visit(&to.ptr);
                visit(value);
            }
            Op::ReadModifyWrite { at, value, .. } => {
                visit(&at.ptr);
                visit(value);
            }
            Op::CompareExchange { at, expected, desired, .. } => {
                visit(&at.ptr);
                visit(expected);
                visit(desired);
            }
            Op::Allocate { size, .. } => visit(size),
            Op::Free { ptr, .. } | Op::ObjectSize { ptr, .. } => visit(ptr),
            Op::CheckMove { from, to } => {
                visit(from);
                visit(to);
            }
            Op::Assume { cond } | Op::Assert { cond, .. } => visit(cond),
            Op::Call { callee, args, .. } => {
                if let Callee::Indirect(pointer) = callee {
                    visit(pointer);
                }
                args.iter().for_each(visit);
            }
            Op::Spawn { handle, func, args } => {
                if let Some(handle) = handle {
                    visit(&handle.ptr);
                }
                visit(func);
                args.iter().for_each(visit);
            }
            Op::Join { thread, .. } | Op::Detach { thread } => visit(thread),
            Op::Sync { op, at, .. } => {
                visit(at);
                op.for_each_operand(visit);
            }
            Op::Fence { .. }
            | Op::BeginLife { .. }
            | Op::EndLife { .. }
            | Op::Nondet { .. }
            | Op::Undefine { .. }
            | Op::ThreadSelf { .. }
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Yield => {}
        }
    }

    /// The one memory access it makes itself. Steps on synchronisation objects, `free` and calls have none.
    pub fn access(&self) -> Option<(&Access, AccessKind)> {
        match self {
            Op::Load { from, .. } => Some((from, AccessKind::Read)),
            Op::Store { to, .. } => Some((to, AccessKind::Write)),
            Op::ReadModifyWrite { at, .. } | Op::CompareExchange { at, .. } => Some((at, AccessKind::Update)),
            Op::Spawn { handle: Some(handle), .. } => Some((handle, AccessKind::Write)),
            _ => None,
        }
    }
}

impl Expr {
    /// The registers that it reads; one that is named twice comes twice.
    pub fn for_each_local(&self, mut visit: impl FnMut(LocalId)) {
        let mut work = vec![self];
        while let Some(expr) = work.pop() {
            match expr {
                Expr::Local(local) => visit(*local),
                Expr::Const { .. } | Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => {}
                Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => work.push(operand),
                Expr::Binary(_, operands) => work.extend(operands.iter()),
                Expr::Select(parts) => work.extend(parts.iter()),
            }
        }
    }
}

impl SyncOp {
    /// The operands beside the address.
    pub fn for_each_operand<'a>(&'a self, mut visit: impl FnMut(&'a Expr)) {
        match self {
            SyncOp::LockInit { kind: operand, .. }
            | SyncOp::CondSleep { mutex: operand }
            | SyncOp::SemInit { value: operand }
            | SyncOp::BarrierInit { count: operand }
            | SyncOp::BarrierLeave { ticket: operand } => visit(operand),
            SyncOp::CondWake { mutex, deadline } => {
                visit(mutex);
                deadline.iter().for_each(visit);
            }
            _ => {}
        }
    }
}

impl TerminatorKind {
    /// The blocks that control may go on to; one that is named twice comes twice.
    pub fn for_each_target(&self, mut visit: impl FnMut(BlockId)) {
        match self {
            TerminatorKind::Goto(target) => visit(*target),
            TerminatorKind::Branch { then, otherwise, .. } => {
                visit(*then);
                visit(*otherwise);
            }
            TerminatorKind::Switch { cases, default, .. } => {
                cases.iter().for_each(|(_, target)| visit(*target));
                visit(*default);
            }
            TerminatorKind::Return(_)
            | TerminatorKind::ThreadExit(_)
            | TerminatorKind::Exit(_)
            | TerminatorKind::Abort
            | TerminatorKind::Unreachable => {}
        }
    }

    /// The expression it evaluates.
    pub fn operand(&self) -> Option<&Expr> {
        match self {
            TerminatorKind::Branch { cond: operand, .. }
            | TerminatorKind::Switch { value: operand, .. }
            | TerminatorKind::Return(Some(operand))
            | TerminatorKind::ThreadExit(operand)
            | TerminatorKind::Exit(operand) => Some(operand),
            TerminatorKind::Goto(_)
            | TerminatorKind::Return(None)
            | TerminatorKind::Abort
            | TerminatorKind::Unreachable => None,
        }
    }
}
