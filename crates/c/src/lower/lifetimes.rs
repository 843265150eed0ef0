//! Which beginnings and ends of lives matter?
//!
//! Lowering writes down every one (`scope`). Most make no difference, and a program should not be larger for them:
//!
//! - The end of a slot's life is of no use if its address goes nowhere: then all accesses to the slot name it, and these
//!   are in its scope.
//! - A life need not begin where the slot is still as it was when the activation began: nothing has named it before.
//! - What is undefined again need not be said to be if all of it is set before any of it is read, as with most
//!   declarations that have initialisers.
//!
//! The last two are data flow problems, forward and backward, over those registers and slots only that are in question.

use leno_ir::analysis::cfg::Cfg;
use leno_ir::index::{Idx, IndexVec};
use leno_ir::interp::escaping_slots;
use leno_ir::program::{Block, BlockId, Body, DataModel, Expr, Function, LocalId, Op, SlotId, TerminatorKind};
use std::collections::BTreeMap;

/// Removes what makes no difference.
pub(super) fn drop_idle(function: &mut Function, model: DataModel) {
    let Body::Blocks(blocks) = &function.body else { return };
    let is_about_lives = |op: &Op| matches!(op, Op::BeginLife { .. } | Op::EndLife { .. } | Op::Undefine { .. });
    if !blocks.iter().flat_map(|block| &block.instrs).any(|instr| is_about_lives(&instr.op)) {
        return;
    }
    let escaping = escaping_slots(function);
    let Body::Blocks(blocks) = &mut function.body else { return };
    for block in blocks.iter_mut() {
        block.instrs.retain(|instr| !matches!(instr.op, Op::EndLife { slot } if !escaping[slot.index()]));
        // The end of the activation comes next.
        let returns = matches!(block.terminator.kind, TerminatorKind::Return(_));
        while returns && block.instrs.last().is_some_and(|last| matches!(last.op, Op::EndLife { .. })) {
            block.instrs.pop();
        }
    }
    for (block, index) in idle_beginnings(function, &escaping, model).into_iter().rev() {
        if let Body::Blocks(blocks) = &mut function.body {
            blocks[block].instrs.remove(index);
        }
    }
}

/// Where nothing that matters becomes undefined, in order.
fn idle_beginnings(function: &Function, escaping: &[bool], model: DataModel) -> Vec<(BlockId, usize)> {
    let Body::Blocks(blocks) = &function.body else { return Vec::new() };
    let beginnings = Beginnings::new(function, blocks, model);
    let cfg = Cfg::new(blocks);
    let (named, read) = (beginnings.named_before(blocks, &cfg), beginnings.read_first(blocks, &cfg));
    let mut idle = Vec::new();
    for (id, block) in blocks.iter_enumerated() {
        let mut named = named[id.index()].clone();
        let mut ops = Vec::new();
        for (index, instr) in block.instrs.iter().enumerate() {
            if let Some(begins) = beginnings.begun_by(&instr.op) {
                ops.push((index, begins, named[begins]));
            }
            beginnings.for_each_named(&instr.op, |number| named[number] = true);
        }
        let mut read = beginnings.at_end(block, &cfg, &read, id);
        let mut ops = ops.into_iter().rev().peekable();
        let mut found = Vec::new();
        for (index, instr) in block.instrs.iter().enumerate().rev() {
            if let Some((_, begins, is_named)) = ops.next_if(|(at, ..)| *at == index) {
                let is_kept = matches!(instr.op, Op::BeginLife { slot } if escaping[slot.index()]);
                if !is_named || (!is_kept && !read[begins]) {
                    found.push((id, index));
                }
            }
            beginnings.before(&instr.op, &mut read);
        }
        idle.extend(found.into_iter().rev());
    }
    idle
}

/// The registers and slots that become undefined somewhere, numbered.
struct Beginnings<'f> {
    function: &'f Function,
    model: DataModel,
    registers: BTreeMap<LocalId, usize>,
    slots: BTreeMap<SlotId, usize>,
}

/// By number.
type Numbers = Vec<bool>;

impl<'f> Beginnings<'f> {
    fn new(function: &'f Function, blocks: &IndexVec<BlockId, Block>, model: DataModel) -> Beginnings<'f> {
        let mut all = Beginnings { function, model, registers: BTreeMap::new(), slots: BTreeMap::new() };
        for instr in blocks.iter().flat_map(|block| &block.instrs) {
            let next = all.count();
            match instr.op {
                Op::BeginLife { slot } => _ = all.slots.entry(slot).or_insert(next),
                Op::Undefine { dst } => _ = all.registers.entry(dst).or_insert(next),
                _ => {}
            }
        }
        all
    }

    fn count(&self) -> usize {
        self.registers.len() + self.slots.len()
    }

    fn begun_by(&self, op: &Op) -> Option<usize> {
        match op {
            Op::BeginLife { slot } => self.slots.get(slot).copied(),
            Op::Undefine { dst } => self.registers.get(dst).copied(),
            _ => None,
        }
    }

    // ---- forward: what was set or named before

    fn for_each_named(&self, op: &Op, mut see: impl FnMut(usize)) {
        op.for_each_result(|register| self.registers.get(&register).into_iter().for_each(|number| see(*number)));
        if let Op::EndLife { slot } = op {
            self.slots.get(slot).into_iter().for_each(|number| see(*number));
        }
        op.for_each_operand(|operand| {
            for_each_leaf(operand, &mut |leaf| {
                if let Expr::Slot(slot) = leaf {
                    self.slots.get(slot).into_iter().for_each(|number| see(*number));
                }
            });
        });
    }

    fn named_before(&self, blocks: &IndexVec<BlockId, Block>, cfg: &Cfg) -> Vec<Numbers> {
        let mut named = vec![vec![false; self.count()]; blocks.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for &block in cfg.reverse_post_order() {
                let mut after = named[block.index()].clone();
                for instr in &blocks[block].instrs {
                    self.for_each_named(&instr.op, |number| after[number] = true);
                }
                for next in cfg.successors(block) {
                    changed |= join(&mut named[next.index()], &after);
                }
            }
        }
        named
    }

    // ---- backward: what may be read before it is set

    fn read_first(&self, blocks: &IndexVec<BlockId, Block>, cfg: &Cfg) -> Vec<Numbers> {
        let mut read = vec![vec![false; self.count()]; blocks.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for &block in cfg.reverse_post_order().iter().rev() {
                let mut now = self.at_end(&blocks[block], cfg, &read, block);
                blocks[block].instrs.iter().rev().for_each(|instr| self.before(&instr.op, &mut now));
                changed |= join(&mut read[block.index()], &now);
            }
        }
        read
    }

    fn at_end(&self, code: &Block, cfg: &Cfg, read: &[Numbers], block: BlockId) -> Numbers {
        let mut now = vec![false; self.count()];
        for next in cfg.successors(block) {
            join(&mut now, &read[next.index()]);
        }
        code.terminator.kind.operand().into_iter().for_each(|operand| self.read(operand, &mut now));
        now
    }

    /// From what may be read after an instruction to what may be before it.
    fn before(&self, op: &Op, now: &mut Numbers) {
        op.for_each_result(|register| {
            self.registers.get(&register).into_iter().for_each(|number| now[*number] = false)
        });
        if let Op::BeginLife { slot } = op
            && let Some(number) = self.slots.get(slot)
        {
            now[*number] = false;
        }
        match op {
            // (That it holds its own address makes it no less new.)
            Op::Store { to, value } if self.is_whole(&to.ptr, to.ty.bytes(self.model)) => {
                if let Expr::Slot(slot) = &to.ptr
                    && let Some(number) = self.slots.get(slot)
                {
                    now[*number] = false;
                }
                self.read(value, now);
            }
            _ => op.for_each_operand(|operand| self.read(operand, now)),
        }
    }

    /// Whether so many bytes at an address are all of a slot.
    fn is_whole(&self, address: &Expr, bytes: u64) -> bool {
        matches!(address, Expr::Slot(slot) if bytes >= self.function.slots[*slot].size)
    }

    fn read(&self, expr: &Expr, now: &mut Numbers) {
        for_each_leaf(expr, &mut |leaf| {
            let number = match leaf {
                Expr::Local(register) => self.registers.get(register),
                Expr::Slot(slot) => self.slots.get(slot),
                _ => None,
            };
            number.into_iter().for_each(|number| now[*number] = true);
        });
    }
}

fn join(into: &mut Numbers, other: &Numbers) -> bool {
    let mut is_more = false;
    for (here, there) in into.iter_mut().zip(other) {
        is_more |= *there && !*here;
        *here |= there;
    }
    is_more
}

fn for_each_leaf(expr: &Expr, see: &mut dyn FnMut(&Expr)) {
    match expr {
        Expr::Local(_) | Expr::Slot(_) | Expr::Const { .. } | Expr::Object(_) | Expr::Function(_) => see(expr),
        Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => for_each_leaf(operand, see),
        Expr::Binary(_, operands) => operands.iter().for_each(|operand| for_each_leaf(operand, see)),
        Expr::Select(parts) => parts.iter().for_each(|part| for_each_leaf(part, see)),
    }
}
