//! Which registers and private slots are still needed: two states that differ in the others only are the same.

use crate::analysis::cfg::Cfg;
use crate::program::{Access, Block, BlockId, Body, DataModel, Expr, Function, Op};

/// What may still be used at the beginning of a block.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Live {
    pub registers: Vec<bool>,
    pub slots: Vec<bool>,
}

/// By block. `private` says of each slot whether its address goes nowhere; the others are always needed.
pub fn live(function: &Function, cfg: &Cfg, private: &[bool], model: DataModel) -> Vec<Live> {
    let Body::Blocks(blocks) = &function.body else { return Vec::new() };
    let none = Live {
        registers: vec![false; function.locals.len()],
        slots: private.iter().map(|is_private| !is_private).collect(),
    };
    let mut live = vec![none.clone(); blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for &block in cfg.reverse_post_order().iter().rev() {
            let mut now = none.clone();
            for &next in cfg.successors(block) {
                let next = &live[next.0 as usize];
                now.registers.iter_mut().zip(&next.registers).for_each(|(now, next)| *now |= next);
                now.slots.iter_mut().zip(&next.slots).for_each(|(now, next)| *now |= next);
            }
            let code = &blocks[block];
            code.terminator.kind.operand().into_iter().for_each(|expr| use_all(expr, &mut now));
            for instr in code.instrs.iter().rev() {
                // (A register that becomes undefined is live before that, so that one that is not live at the beginning
                // of the function is never read while it is undefined.)
                if !matches!(instr.op, Op::Undefine { .. }) {
                    instr.op.for_each_result(|local| now.registers[local.0 as usize] = false);
                }
                let overwritten = match &instr.op {
                    Op::Store { to, .. } => overwritten_slot(function, to, model),
                    _ => None,
                };
                let stays = overwritten.map(|slot| private[slot]);
                instr.op.for_each_operand(|expr| use_all(expr, &mut now));
                if let (Some(slot), Some(true)) = (overwritten, stays) {
                    now.slots[slot] = false;
                }
            }
            if live[block.0 as usize] != now {
                live[block.0 as usize] = now;
                changed = true;
            }
        }
    }
    live
}

/// By block: the registers that may still be used before each of its instructions, and before its terminator.
pub fn live_before(function: &Function, cfg: &Cfg, private: &[bool], model: DataModel) -> Vec<Vec<Vec<bool>>> {
    let Body::Blocks(blocks) = &function.body else { return Vec::new() };
    let at_begin = live(function, cfg, private, model);
    let of_block = |(block, code): (BlockId, &Block)| {
        let mut now = Live { registers: vec![false; function.locals.len()], slots: vec![false; function.slots.len()] };
        for &next in cfg.successors(block) {
            let next = &at_begin[next.0 as usize];
            now.registers.iter_mut().zip(&next.registers).for_each(|(now, next)| *now |= next);
        }
        code.terminator.kind.operand().into_iter().for_each(|expr| use_all(expr, &mut now));
        let mut before = vec![now.registers.clone()];
        for instr in code.instrs.iter().rev() {
            instr.op.for_each_result(|local| now.registers[local.0 as usize] = false);
            instr.op.for_each_operand(|expr| use_all(expr, &mut now));
            before.push(now.registers.clone());
        }
        before.reverse();
        before
    };
    blocks.iter_enumerated().map(of_block).collect()
}

/// The slot that a store overwrites as a whole.
fn overwritten_slot(function: &Function, to: &Access, model: DataModel) -> Option<usize> {
    let Expr::Slot(slot) = &to.ptr else { return None };
    (to.ty.bytes(model) >= function.slots[*slot].size).then_some(slot.0 as usize)
}

fn use_all(expr: &Expr, live: &mut Live) {
    match expr {
        Expr::Local(local) => live.registers[local.0 as usize] = true,
        Expr::Slot(slot) => live.slots[slot.0 as usize] = true,
        Expr::Const { .. } | Expr::Object(_) | Expr::Function(_) => {}
        Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => use_all(operand, live),
        Expr::Binary(_, operands) => operands.iter().for_each(|operand| use_all(operand, live)),
        Expr::Select(parts) => parts.iter().for_each(|part| use_all(part, live)),
    }
}
