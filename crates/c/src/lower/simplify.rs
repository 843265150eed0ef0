//! Tidying a finished function: only blocks that can be reached, and no chains of them.
//!
//! Lowering makes a block wherever one might be needed. Here jumps to empty blocks go where those go, a block that only
//! one other jumps to unconditionally becomes part of it, and what is left keeps its order and is numbered again.

use super::visit::visit_block;
use leno_ir::index::{Idx, IndexVec};
use leno_ir::program::{
    Block, BlockId, Body, Callee, Expr, FuncId, Function, LocalId, ObjectId, Op, SlotId, TerminatorKind,
};

/// Removes blocks that cannot be reached, skips empty ones, merges chains. Block 0 stays the entry.
pub(super) fn simplify(mut blocks: Vec<Block>) -> IndexVec<BlockId, Block> {
    skip_empty(&mut blocks);
    let order = reachable(&blocks);
    merge_chains(&mut blocks, &order);
    compact(blocks)
}

/// The blocks that a terminator names.
pub(super) fn for_each_target(kind: &mut TerminatorKind, mut visit: impl FnMut(&mut BlockId)) {
    match kind {
        TerminatorKind::Goto(target) => visit(target),
        TerminatorKind::Branch { then, otherwise, .. } => {
            visit(then);
            visit(otherwise);
        }
        TerminatorKind::Switch { cases, default, .. } => {
            cases.iter_mut().for_each(|(_, target)| visit(target));
            visit(default);
        }
        TerminatorKind::Return(_)
        | TerminatorKind::ThreadExit(_)
        | TerminatorKind::Exit(_)
        | TerminatorKind::Abort
        | TerminatorKind::Unreachable => {}
    }
}

/// Where an empty block that only jumps on leads to. An empty block that jumps to itself (`for (;;);`) leads to itself.
fn skip_empty(blocks: &mut [Block]) {
    let next: Vec<Option<BlockId>> = blocks
        .iter()
        .map(|block| match &block.terminator.kind {
            TerminatorKind::Goto(target) if block.instrs.is_empty() => Some(*target),
            _ => None,
        })
        .collect();
    let mut target: Vec<Option<BlockId>> = vec![None; blocks.len()];
    let mut visited_from = vec![usize::MAX; blocks.len()];
    for start in 0..blocks.len() {
        let mut path = Vec::new();
        let mut at = BlockId::new(start);
        let end = loop {
            if let Some(known) = target[at.index()] {
                break known;
            }
            match next[at.index()] {
                // A cycle of empty blocks: any of them will do, but it has to stay.
                Some(_) if visited_from[at.index()] == start => break at,
                Some(to) => {
                    visited_from[at.index()] = start;
                    path.push(at);
                    at = to;
                }
                None => break at,
            }
        };
        for block in path {
            target[block.index()] = Some(end);
        }
    }
    for block in blocks.iter_mut() {
        for_each_target(&mut block.terminator.kind, |to| *to = target[to.index()].unwrap_or(*to));
        let simpler = match &block.terminator.kind {
            TerminatorKind::Branch { then, otherwise, .. } if then == otherwise => Some(*then),
            TerminatorKind::Switch { cases, default, .. } if cases.iter().all(|(_, to)| to == default) => {
                Some(*default)
            }
            _ => None,
        };
        if let Some(to) = simpler {
            block.terminator.kind = TerminatorKind::Goto(to);
        }
        if let TerminatorKind::Switch { cases, default, .. } = &mut block.terminator.kind {
            let default = *default;
            cases.retain(|(_, to)| *to != default);
        }
    }
}

fn reachable(blocks: &[Block]) -> Vec<bool> {
    let mut seen = vec![false; blocks.len()];
    let mut work = vec![BlockId(0)];
    while let Some(id) = work.pop() {
        if !std::mem::replace(&mut seen[id.index()], true) {
            blocks[id.index()].terminator.kind.for_each_target(|to| work.push(to));
        }
    }
    seen
}

/// A block that ends in a jump to a block without other predecessors takes over its content.
fn merge_chains(blocks: &mut [Block], seen: &[bool]) {
    let mut predecessors = vec![0u32; blocks.len()];
    predecessors[0] = 1;
    for (index, block) in blocks.iter().enumerate() {
        if seen[index] {
            block.terminator.kind.for_each_target(|to| predecessors[to.index()] += 1);
        }
    }
    let mut merged = vec![false; blocks.len()];
    for start in 0..blocks.len() {
        if !seen[start] || merged[start] {
            continue;
        }
        while let TerminatorKind::Goto(next) = blocks[start].terminator.kind {
            let next = next.index();
            if next == start || predecessors[next] != 1 || next == 0 {
                break;
            }
            merged[next] = true;
            let taken = std::mem::take(&mut blocks[next].instrs);
            blocks[start].instrs.extend(taken);
            blocks[start].terminator = blocks[next].terminator.clone();
            // No jump leads there any more; it must not look like a predecessor of anything either.
            blocks[next].terminator.kind = TerminatorKind::Unreachable;
        }
    }
}

fn compact(mut blocks: Vec<Block>) -> IndexVec<BlockId, Block> {
    let seen = reachable(&blocks);
    let mut number = vec![BlockId(0); blocks.len()];
    let mut next = 0;
    for (index, seen) in seen.iter().enumerate() {
        number[index] = BlockId::new(next);
        next += usize::from(*seen);
    }
    for block in &mut blocks {
        for_each_target(&mut block.terminator.kind, |to| *to = number[to.index()]);
    }
    let mut index = 0;
    blocks.retain(|_| {
        index += 1;
        seen[index - 1]
    });
    for block in &mut blocks {
        block.span = block.instrs.first().map_or(block.terminator.span, |first| first.span);
    }
    IndexVec::from(blocks)
}

/// Removes results, registers and slots that nothing uses, and numbers the others again. Parameters stay, and so do
/// assignments to C variables: a person may want to see them. Gives the functions and objects that the function
/// mentions.
pub(super) fn drop_unused(function: &mut Function) -> Mentioned {
    let Body::Blocks(blocks) = &mut function.body else { return Mentioned::default() };
    let mut used = Used {
        read: vec![false; function.locals.len()],
        slots: vec![false; function.slots.len()],
        mentioned: Mentioned::default(),
    };
    used.read[..function.params as usize].fill(true);
    for block in blocks.iter() {
        used.by_block(block);
    }
    for block in blocks.iter_mut() {
        block.instrs.retain_mut(|instr| {
            let op = &mut instr.op;
            if let Op::Call { dst, .. }
            | Op::ReadModifyWrite { dst, .. }
            | Op::Sync { dst, .. }
            | Op::Join { dst, .. } = op
            {
                *dst = dst.filter(|dst| used.read[dst.index()]);
            }
            let is_idle = matches!(op, Op::Assign { dst, .. }
                if !used.read[dst.index()] && function.locals[*dst].name.is_empty());
            !is_idle
        });
    }
    let mut locals = used.read;
    for block in blocks.iter() {
        block.instrs.iter().for_each(|instr| instr.op.for_each_result(|dst| locals[dst.index()] = true));
    }
    let local_numbers = renumber(&locals);
    let slot_numbers = renumber(&used.slots);
    for block in blocks.iter_mut() {
        visit_block(
            block,
            &mut |local: &mut LocalId| *local = LocalId(local_numbers[local.index()]),
            &mut |leaf: &mut Expr| {
                if let Expr::Slot(slot) = leaf {
                    *slot = SlotId(slot_numbers[slot.index()]);
                }
            },
        );
    }
    keep(&mut function.locals, &locals);
    keep(&mut function.slots, &used.slots);
    used.mentioned
}

/// What a function refers to outside of itself, in order; some of it several times.
#[derive(Default)]
pub(super) struct Mentioned {
    pub functions: Vec<FuncId>,
    pub objects: Vec<ObjectId>,
}

/// Registers that are read, slots that are mentioned, and what is outside.
struct Used {
    read: Vec<bool>,
    slots: Vec<bool>,
    mentioned: Mentioned,
}

impl Used {
    fn by_block(&mut self, block: &Block) {
        for instr in &block.instrs {
            if let Op::Call { callee: Callee::Direct(func), .. } = &instr.op {
                self.mentioned.functions.push(*func);
            }
            instr.op.for_each_operand(|operand| self.by_expr(operand));
        }
        block.terminator.kind.operand().into_iter().for_each(|operand| self.by_expr(operand));
    }

    fn by_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Local(id) => self.read[id.index()] = true,
            Expr::Slot(id) => self.slots[id.index()] = true,
            Expr::Object(id) => self.mentioned.objects.push(*id),
            Expr::Function(id) => self.mentioned.functions.push(*id),
            Expr::Const { .. } => {}
            Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => self.by_expr(operand),
            Expr::Binary(_, operands) => operands.iter().for_each(|operand| self.by_expr(operand)),
            Expr::Select(parts) => parts.iter().for_each(|operand| self.by_expr(operand)),
        }
    }
}

fn renumber(kept: &[bool]) -> Vec<u32> {
    let mut next = 0;
    kept.iter()
        .map(|kept| {
            let number = next;
            next += u32::from(*kept);
            number
        })
        .collect()
}

fn keep<I: Idx, T>(items: &mut IndexVec<I, T>, kept: &[bool]) {
    let old = std::mem::take(items);
    *items = old.into_vec().into_iter().zip(kept).filter(|(_, kept)| **kept).map(|(item, _)| item).collect();
}
