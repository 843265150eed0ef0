//! Every register, slot, object and function that a block mentions, in place: for finding what is used, and for
//! numbering it again.

use leno_ir::program::{Block, Callee, Expr, LocalId, Op, SyncOp, TerminatorKind};

/// Calls `on_local` for each mention of a register, and `on_leaf` for each address of a slot, object or function (also
/// where an instruction names it without an expression: there the leaf is a copy that is written back).
pub(super) fn visit_block(
    block: &mut Block,
    on_local: &mut impl FnMut(&mut LocalId),
    on_leaf: &mut impl FnMut(&mut Expr),
) {
    for instr in &mut block.instrs {
        visit_op(&mut instr.op, on_local, on_leaf);
    }
    match &mut block.terminator.kind {
        TerminatorKind::Branch { cond: value, .. }
        | TerminatorKind::Switch { value, .. }
        | TerminatorKind::Return(Some(value))
        | TerminatorKind::ThreadExit(value)
        | TerminatorKind::Exit(value) => visit_expr(value, on_local, on_leaf),
        TerminatorKind::Goto(_)
        | TerminatorKind::Return(None)
        | TerminatorKind::Abort
        | TerminatorKind::Unreachable => {}
    }
}

fn visit_op(op: &mut Op, on_local: &mut impl FnMut(&mut LocalId), on_leaf: &mut impl FnMut(&mut Expr)) {
    match op {
        Op::Assign { dst, value } => {
            on_local(dst);
            visit_expr(value, on_local, on_leaf);
        }
        Op::Load { dst, from } => {
            on_local(dst);
            visit_expr(&mut from.ptr, on_local, on_leaf);
        }
        Op::Store { to, value } => {
            visit_expr(&mut to.ptr, on_local, on_leaf);
            visit_expr(value, on_local, on_leaf);
        }
        Op::ReadModifyWrite { dst, at, value, .. } => {
            dst.iter_mut().for_each(&mut *on_local);
            visit_expr(&mut at.ptr, on_local, on_leaf);
            visit_expr(value, on_local, on_leaf);
        }
        Op::CompareExchange { ok, old, at, expected, desired, .. } => {
            on_local(ok);
            on_local(old);
            visit_expr(&mut at.ptr, on_local, on_leaf);
            visit_expr(expected, on_local, on_leaf);
            visit_expr(desired, on_local, on_leaf);
        }
        Op::Allocate { dst, size, .. } => {
            on_local(dst);
            visit_expr(size, on_local, on_leaf);
        }
        Op::Free { ptr, .. } => visit_expr(ptr, on_local, on_leaf),
        Op::BeginLife { slot } | Op::EndLife { slot } => {
            let mut leaf = Expr::Slot(*slot);
            on_leaf(&mut leaf);
            if let Expr::Slot(new) = leaf {
                *slot = new;
            }
        }
        Op::Undefine { dst } => on_local(dst),
        Op::CheckMove { from, to } => {
            visit_expr(from, on_local, on_leaf);
            visit_expr(to, on_local, on_leaf);
        }
        Op::ObjectSize { dst, ptr } => {
            on_local(dst);
            visit_expr(ptr, on_local, on_leaf);
        }
        Op::Assume { cond } | Op::Assert { cond, .. } => visit_expr(cond, on_local, on_leaf),
        Op::Nondet { dst } | Op::ThreadSelf { dst } => on_local(dst),
        Op::Call { dst, callee, args } => {
            dst.iter_mut().for_each(&mut *on_local);
            match callee {
                Callee::Direct(func) => {
                    let mut leaf = Expr::Function(*func);
                    on_leaf(&mut leaf);
                    if let Expr::Function(new) = leaf {
                        *func = new;
                    }
                }
                Callee::Indirect(callee) => visit_expr(callee, on_local, on_leaf),
            }
            args.iter_mut().for_each(|arg| visit_expr(arg, on_local, on_leaf));
        }
        Op::Spawn { handle, func, args } => {
            handle.iter_mut().for_each(|handle| visit_expr(&mut handle.ptr, on_local, on_leaf));
            visit_expr(func, on_local, on_leaf);
            args.iter_mut().for_each(|arg| visit_expr(arg, on_local, on_leaf));
        }
        Op::Join { dst, thread } => {
            dst.iter_mut().for_each(&mut *on_local);
            visit_expr(thread, on_local, on_leaf);
        }
        Op::Detach { thread } => visit_expr(thread, on_local, on_leaf),
        Op::Sync { dst, op, at } => {
            dst.iter_mut().for_each(&mut *on_local);
            visit_expr(at, on_local, on_leaf);
            visit_sync(op, on_local, on_leaf);
        }
        Op::Fence { .. } | Op::AtomicBegin | Op::AtomicEnd | Op::Yield => {}
    }
}

fn visit_sync(op: &mut SyncOp, on_local: &mut impl FnMut(&mut LocalId), on_leaf: &mut impl FnMut(&mut Expr)) {
    match op {
        SyncOp::LockInit { kind: value, .. }
        | SyncOp::CondSleep { mutex: value }
        | SyncOp::SemInit { value }
        | SyncOp::BarrierInit { count: value }
        | SyncOp::BarrierLeave { ticket: value } => visit_expr(value, on_local, on_leaf),
        SyncOp::CondWake { mutex, deadline } => {
            visit_expr(mutex, on_local, on_leaf);
            deadline.iter_mut().for_each(|deadline| visit_expr(deadline, on_local, on_leaf));
        }
        _ => {}
    }
}

fn visit_expr(expr: &mut Expr, on_local: &mut impl FnMut(&mut LocalId), on_leaf: &mut impl FnMut(&mut Expr)) {
    match expr {
        Expr::Const { .. } => {}
        Expr::Local(id) => on_local(id),
        Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => on_leaf(expr),
        Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => visit_expr(operand, on_local, on_leaf),
        Expr::Binary(_, operands) => operands.iter_mut().for_each(|o| visit_expr(o, on_local, on_leaf)),
        Expr::Select(parts) => parts.iter_mut().for_each(|o| visit_expr(o, on_local, on_leaf)),
    }
}
