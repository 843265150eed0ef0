//! Which registers are still needed: two states that differ in the others only are the same.

use leno_ir::cfg::Cfg;
use leno_ir::program::{Body, Expr, Function};

/// By block and register: whether its value at the beginning of the block may be used.
pub fn live_registers(function: &Function, cfg: &Cfg) -> Vec<Vec<bool>> {
    let Body::Blocks(blocks) = &function.body else { return Vec::new() };
    let registers = function.locals.len();
    let mut live = vec![vec![false; registers]; blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for &block in cfg.reverse_post_order().iter().rev() {
            let mut now = vec![false; registers];
            for &next in cfg.successors(block) {
                now.iter_mut().zip(&live[next.0 as usize]).for_each(|(now, next)| *now |= next);
            }
            let code = &blocks[block];
            code.terminator.kind.operand().into_iter().for_each(|expr| use_registers(expr, &mut now));
            for instr in code.instrs.iter().rev() {
                instr.op.for_each_result(|local| now[local.0 as usize] = false);
                instr.op.for_each_operand(|expr| use_registers(expr, &mut now));
            }
            if live[block.0 as usize] != now {
                live[block.0 as usize] = now;
                changed = true;
            }
        }
    }
    live
}

fn use_registers(expr: &Expr, live: &mut [bool]) {
    match expr {
        Expr::Local(local) => live[local.0 as usize] = true,
        Expr::Const { .. } | Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => {}
        Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => use_registers(operand, live),
        Expr::Binary(_, operands) => operands.iter().for_each(|operand| use_registers(operand, live)),
        Expr::Select(parts) => parts.iter().for_each(|part| use_registers(part, live)),
    }
}
