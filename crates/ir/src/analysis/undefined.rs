//! Which registers and slots may be read before they are set?
//!
//! The value is undefined then. The interpreter reports it, or takes it for an input that may be anything: what the
//! analyses say must hold for both. (A pointer from nowhere points nowhere, as in points-to analysis.)
//!
//! A register is never undefined if it is not live at the beginning of its function. A slot is taken to be set if the
//! first instruction that names it sets all of it, itself or by a function that does so first of all
//! (`pthread_mutexattr_init(&attr)`), and is on every path to all others that name it.

use crate::analysis::facts::Facts;
use crate::analysis::points_to::for_each_op;
use crate::index::Idx;
use crate::program::*;

/// Whether a register that is not a parameter may be read before it is set.
pub(super) fn may_be_undefined(facts: &Facts, function: FuncId, local: LocalId) -> bool {
    let live = facts.liveness(function).first();
    live.is_none_or(|live| live.registers.get(local.index()) != Some(&false))
}

/// Whether all of a slot is set before anything else is done with it.
pub(super) fn is_set_first(facts: &Facts, function: FuncId, slot: SlotId) -> bool {
    let code = &facts.program().functions[function];
    let (Body::Blocks(blocks), Some(dominators)) = (&code.body, facts.dominators(function)) else { return false };
    let mut places = Vec::new();
    for_each_op(function, code, |place, op| {
        let mut is_named = matches!(op, Op::BeginLife { slot: begins } if *begins == slot);
        op.for_each_operand(|operand| is_named |= names_slot(operand, slot));
        if is_named {
            places.push((place, op));
        }
    });
    let ends = blocks
        .iter_enumerated()
        .filter(|(_, block)| block.terminator.kind.operand().is_some_and(|operand| names_slot(operand, slot)));
    let ends: Vec<BlockId> = ends.map(|(block, _)| block).collect();
    let is_first = |place: Place| {
        let comes_before = |other: Place| match other.block == place.block {
            true => place.index <= other.index,
            false => dominators.dominates(place.block, other.block),
        };
        // Where a life begins the slot is undefined again: it must be set after that, too.
        let is_set_again = |other: &(Place, &Op)| match other.1 {
            Op::BeginLife { .. } => !comes_before(other.0),
            _ => comes_before(other.0),
        };
        places.iter().all(is_set_again) && ends.iter().all(|end| dominators.dominates(place.block, *end))
    };
    places.iter().any(|(place, op)| is_first(*place) && sets_slot(facts, function, op, slot))
}

fn sets_slot(facts: &Facts, function: FuncId, op: &Op, slot: SlotId) -> bool {
    let program = facts.program();
    let size = program.functions[function].slots[slot].size;
    match op {
        Op::Store { to, value } => {
            to.ptr == Expr::Slot(slot) && to.ty.bytes(program.model) >= size && !names_slot(value, slot)
        }
        Op::Spawn { handle: Some(to), args, .. } => {
            let is_passed = args.iter().any(|arg| names_slot(arg, slot));
            to.ptr == Expr::Slot(slot) && to.ty.bytes(program.model) >= size && !is_passed
        }
        Op::Call { callee: Callee::Direct(callee), args, .. } => {
            let mut named = (0..).map(LocalId).zip(args).filter(|(_, arg)| names_slot(arg, slot));
            match (named.next(), named.next()) {
                (Some((param, Expr::Slot(_))), None) => sets_target_first(program, *callee, param, size),
                _ => false,
            }
        }
        _ => false,
    }
}

/// Whether a function begins by setting all of what a parameter points to.
fn sets_target_first(program: &Program, function: FuncId, param: LocalId, size: u64) -> bool {
    let Body::Blocks(blocks) = &program.functions[function].body else { return false };
    let Some(first) = blocks.get(BlockId(0)).and_then(|block| block.instrs.first()) else { return false };
    match &first.op {
        Op::Store { to, value } => {
            let mut mentions = false;
            value.for_each_local(|local| mentions |= local == param);
            to.ptr == Expr::Local(param) && to.ty.bytes(program.model) >= size && !mentions
        }
        _ => false,
    }
}

fn names_slot(expr: &Expr, slot: SlotId) -> bool {
    match expr {
        Expr::Slot(id) => *id == slot,
        Expr::Const { .. } | Expr::Local(_) | Expr::Object(_) | Expr::Function(_) => false,
        Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => names_slot(operand, slot),
        Expr::Binary(_, operands) => operands.iter().any(|operand| names_slot(operand, slot)),
        Expr::Select(parts) => parts.iter().any(|part| names_slot(part, slot)),
    }
}
