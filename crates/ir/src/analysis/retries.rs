//! Retry loops: weak compare-exchanges whose spurious failures nothing can notice, and locks that are tried until they
//! are free.
//!
//! `while (!compare_exchange_weak(&x, &e, e + 1));` goes round once more when it fails spuriously, and is then where it
//! was. If the round had no effect, the execution without it is an execution, too, and shows the same. So such a
//! compare-exchange is as good as a strong one, which has fewer executions.
//!
//! The round goes from the head of the innermost loop to the compare-exchange, and from there, failed, back to the head
//! on every path. It has no effect if
//!
//! - it makes no access that other threads could notice. Up to the compare-exchange it may read whatever it likes:
//!   what goes wrong there goes wrong in an execution that ends before the failure. After it only atomic reads;
//! - registers and private slots that it sets are not needed at the head. Writing back what a failure found, to where
//!   the expected value came from, changes nothing: a spurious failure found the expected value.
//!
//! A `trylock` whose failure leads back to the head in the same way, with all locks given back that the round has taken
//! (`lock(a); if (trylock(b) == 0) break; unlock(a);`), is *quiet*: if all such rounds are taken out of an execution, on
//! all threads, it is still one, provided that nothing else has noticed that these locks were held. So it does not count
//! how often the lock is held that it tries, as long as no other step counts the locks of its round.

use crate::analysis::cfg::{Cfg, Loops};
use crate::analysis::liveness::{Live, live};
use crate::index::{Idx, IndexVec};
use crate::interp::private_slots;
use crate::program::{
    Access, BinaryOp, Block, BlockId, Body, CastOp, DataModel, Expr, Function, Instr, LocalId, Op, Order, SlotId,
    SyncOp, TerminatorKind, Type, UnaryOp,
};
use std::collections::{BTreeMap, BTreeSet};

/// Where the weak compare-exchanges of a function are that might as well be strong: the block, and the index in it.
pub fn unnoticed_failures(function: &Function, model: DataModel) -> Vec<(BlockId, usize)> {
    let Body::Blocks(blocks) = &function.body else { return Vec::new() };
    let is_weak = |instr: &Instr| matches!(instr.op, Op::CompareExchange { weak: true, .. });
    if !blocks.iter().any(|block| block.instrs.iter().any(is_weak)) {
        return Vec::new();
    }
    let cfg = Cfg::new(blocks);
    let private = private_slots(function);
    let live = live(function, &cfg, &private, model);
    let loops = cfg.loops(&cfg.dominators());
    let retries = Retries { function, blocks, cfg: &cfg, private: &private, live: &live, loops: &loops };
    let all = blocks.iter_enumerated().flat_map(|(id, block)| (0..block.instrs.len()).map(move |index| (id, index)));
    let weak = all.filter(|&(block, index)| is_weak(&blocks[block].instrs[index]) && cfg.is_reachable(block));
    weak.filter(|&(block, index)| retries.is_unnoticed(block, index) == Some(true)).collect()
}

/// A try whose failures change nothing.
#[derive(Clone, Debug)]
pub struct QuietTry {
    /// The block, and the index in it.
    pub at: (BlockId, usize),
    /// The locks that a round in which it fails takes and gives back.
    pub locks: Vec<Expr>,
}

/// The quiet tries of a function.
pub fn quiet_tries(function: &Function, model: DataModel) -> Vec<QuietTry> {
    let Body::Blocks(blocks) = &function.body else { return Vec::new() };
    if !blocks.iter().any(|block| block.instrs.iter().any(|instr| failures(&instr.op).is_some())) {
        return Vec::new();
    }
    let cfg = Cfg::new(blocks);
    let private = private_slots(function);
    let live = live(function, &cfg, &private, model);
    let loops = cfg.loops(&cfg.dominators());
    let retries = Retries { function, blocks, cfg: &cfg, private: &private, live: &live, loops: &loops };
    let all = blocks.iter_enumerated().flat_map(|(id, block)| (0..block.instrs.len()).map(move |index| (id, index)));
    all.filter(|&(block, _)| cfg.is_reachable(block)).filter_map(|(block, index)| retries.quiet(block, index)).collect()
}

/// What a try returns if it fails, and where.
fn failures(op: &Op) -> Option<(LocalId, &'static [u128])> {
    const EBUSY: u128 = 16;
    const EINVAL: u128 = 22;
    match op {
        Op::Sync { dst: Some(dst), op: SyncOp::TryLock(_) | SyncOp::TryReadLock | SyncOp::TryWriteLock, .. } => {
            Some((*dst, &[EBUSY, EINVAL]))
        }
        _ => None,
    }
}

struct Retries<'a> {
    function: &'a Function,
    blocks: &'a IndexVec<BlockId, Block>,
    cfg: &'a Cfg,
    private: &'a [bool],
    live: &'a [Live],
    loops: &'a Loops,
}

/// What a round sets.
#[derive(Default)]
struct Changed {
    registers: BTreeSet<LocalId>,
    slots: BTreeSet<SlotId>,
    /// Locks that it takes.
    locks: Vec<Expr>,
}

/// Registers whose values are known after the failure.
type Known = BTreeMap<LocalId, u128>;

/// The locks that a round has taken and not given back, the last one last.
type Held = Vec<Expr>;

impl Retries<'_> {
    /// None if it may be noticed.
    fn is_unnoticed(&self, block: BlockId, index: usize) -> Option<bool> {
        let within = self.loops.innermost(block)?;
        let head = self.loops.loops[within].header;
        let instr = &self.blocks[block].instrs[index];
        let Op::CompareExchange { ok, old, expected, .. } = &instr.op else { return None };
        let source = self.source(block, index, expected);
        let mut changed = Changed::default();
        self.before(head, block, index, &mut changed)?;
        changed.registers.extend([*ok, *old]);
        let write_back = source.filter(|source| self.may_write_back(head, source)).map(|source| (source, *old));
        let known = Known::from([(*ok, 0)]);
        let mut states: BTreeMap<BlockId, Known> = BTreeMap::new();
        let mut open = self.after(&self.blocks[block], index + 1, known, write_back.as_ref(), &mut changed)?;
        while let Some((next, known)) = open.pop() {
            if next == head {
                continue;
            }
            if !self.loops.contains(within, next) || next == block {
                return None;
            }
            let merged = match states.get(&next) {
                Some(before) => {
                    let both: Known =
                        before.iter().filter(|(r, v)| known.get(r) == Some(v)).map(|(r, v)| (*r, *v)).collect();
                    if both == *before {
                        continue;
                    }
                    both
                }
                None => known,
            };
            states.insert(next, merged.clone());
            open.extend(self.after(&self.blocks[next], 0, merged, write_back.as_ref(), &mut changed)?);
        }
        let live = &self.live[head.index()];
        let registers = changed.registers.iter().all(|register| !live.registers[register.index()]);
        let slots = changed.slots.iter().all(|slot| self.private[slot.index()] && !live.slots[slot.index()]);
        Some(registers && slots)
    }

    /// None if this is no try, or if its failure may be noticed.
    fn quiet(&self, block: BlockId, index: usize) -> Option<QuietTry> {
        let within = self.loops.innermost(block)?;
        let head = self.loops.loops[within].header;
        let (result, values) = failures(&self.blocks[block].instrs[index].op)?;
        let mut changed = Changed::default();
        changed.registers.insert(result);
        let held = self.held_at(head, block, index, &mut changed)?;
        for &value in values {
            let mut states: BTreeMap<BlockId, (Known, Held)> = BTreeMap::new();
            let known = Known::from([(result, value)]);
            let mut open = self.after_try(&self.blocks[block], index + 1, (known, held.clone()), &mut changed)?;
            while let Some((next, (known, held))) = open.pop() {
                if next == head {
                    if !held.is_empty() {
                        return None;
                    }
                    continue;
                }
                if !self.loops.contains(within, next) || next == block {
                    return None;
                }
                match states.get(&next) {
                    Some(before) if *before == (known.clone(), held.clone()) => continue,
                    Some(_) => return None,
                    None => _ = states.insert(next, (known.clone(), held.clone())),
                }
                open.extend(self.after_try(&self.blocks[next], 0, (known, held), &mut changed)?);
            }
        }
        let live = &self.live[head.index()];
        let registers = changed.registers.iter().all(|register| !live.registers[register.index()]);
        let slots = changed.slots.iter().all(|slot| self.private[slot.index()] && !live.slots[slot.index()]);
        (registers && slots).then_some(QuietTry { at: (block, index), locks: changed.locks })
    }

    /// The locks that are held at an instruction, counted from the head of its loop; None if that depends on the path.
    fn held_at(&self, head: BlockId, block: BlockId, index: usize, changed: &mut Changed) -> Option<Held> {
        let mut on_the_way = BTreeSet::from([block]);
        let mut open = vec![block];
        while let Some(at) = open.pop() {
            if at != head {
                open.extend(self.cfg.predecessors(at).iter().filter(|from| on_the_way.insert(**from)));
            }
        }
        let mut states: BTreeMap<BlockId, Held> = BTreeMap::from([(head, Held::new())]);
        let mut open = vec![head];
        let mut found = None;
        while let Some(at) = open.pop() {
            let mut held = states.get(&at)?.clone();
            let instrs = &self.blocks[at].instrs;
            let until = if at == block { index } else { instrs.len() };
            for instr in &instrs[..until] {
                instr.op.for_each_result(|register| _ = changed.registers.insert(register));
                match &instr.op {
                    Op::Assign { .. } | Op::Load { .. } | Op::Fence { .. } | Op::Yield => {}
                    Op::Store { to, .. } => _ = changed.slots.insert(slot_of(to)?),
                    op => self.lock_or_unlock(op, &mut held, changed)?,
                }
            }
            if at == block {
                found = Some(held);
                continue;
            }
            for &next in self.cfg.successors(at).iter().filter(|next| on_the_way.contains(next) && **next != head) {
                match states.get(&next) {
                    Some(before) if *before == held => {}
                    Some(_) => return None,
                    None => {
                        states.insert(next, held.clone());
                        open.push(next);
                    }
                }
            }
        }
        found
    }

    /// The rest of a block after a try has failed, and where it goes on.
    fn after_try(
        &self,
        block: &Block,
        from: usize,
        (mut known, mut held): (Known, Held),
        changed: &mut Changed,
    ) -> Option<Vec<(BlockId, (Known, Held))>> {
        for instr in &block.instrs[from..] {
            instr.op.for_each_result(|register| _ = changed.registers.insert(register));
            match &instr.op {
                Op::Assign { dst, value } => match constant(value, &known, self.function) {
                    Some(value) => _ = known.insert(*dst, value),
                    None => _ = known.remove(dst),
                },
                Op::Load { dst, from } if from.order != Order::NotAtomic || self.is_own(from) => _ = known.remove(dst),
                Op::Store { to, .. } => _ = changed.slots.insert(slot_of(to)?),
                Op::Fence { .. } | Op::Yield => {}
                op => self.lock_or_unlock(op, &mut held, changed)?,
            }
        }
        let next = self.next_blocks(block, known)?;
        Some(next.into_iter().map(|(next, known)| (next, (known, held.clone()))).collect())
    }

    /// Takes or gives back a lock whose address is the same in all of the loop; None for all other instructions.
    fn lock_or_unlock(&self, op: &Op, held: &mut Held, changed: &mut Changed) -> Option<()> {
        match op {
            Op::Sync { op: SyncOp::Lock(_) | SyncOp::ReadLock | SyncOp::WriteLock, at, .. } if self.is_constant(at) => {
                held.push(at.clone());
                changed.locks.push(at.clone());
                Some(())
            }
            Op::Sync { op: SyncOp::Unlock(_) | SyncOp::RwUnlock, at, .. } => {
                held.pop().filter(|last| last == at).map(|_| ())
            }
            _ => None,
        }
    }

    /// The blocks that follow, with what is known.
    fn next_blocks(&self, block: &Block, known: Known) -> Option<Vec<(BlockId, Known)>> {
        let mut next = Vec::new();
        match &block.terminator.kind {
            TerminatorKind::Branch { cond, then, otherwise } => match constant(cond, &known, self.function) {
                Some(0) => next.push((*otherwise, known)),
                Some(_) => next.push((*then, known)),
                None => next.extend([(*then, known.clone()), (*otherwise, known)]),
            },
            kind @ (TerminatorKind::Goto(_) | TerminatorKind::Switch { .. }) => {
                kind.for_each_target(|target| next.push((target, known.clone())));
            }
            _ => return None,
        }
        Some(next)
    }

    /// The blocks from the head to the compare-exchange.
    fn before(&self, head: BlockId, block: BlockId, index: usize, changed: &mut Changed) -> Option<()> {
        let mut on_the_way = BTreeSet::from([block]);
        let mut open = vec![block];
        while let Some(at) = open.pop().filter(|at| *at != head) {
            open.extend(self.cfg.predecessors(at).iter().filter(|from| on_the_way.insert(**from)));
        }
        for &at in &on_the_way {
            let instrs = &self.blocks[at].instrs;
            let until = if at == block { index } else { instrs.len() };
            for instr in &instrs[..until] {
                instr.op.for_each_result(|register| _ = changed.registers.insert(register));
                match &instr.op {
                    Op::Assign { .. } | Op::Load { .. } | Op::Undefine { .. } | Op::Fence { .. } | Op::Yield => {}
                    // A store at the head is made again before anything can read what it wrote.
                    Op::Store { to, .. } if at == head && self.is_steady(to) => {}
                    Op::Store { to, .. } => _ = changed.slots.insert(slot_of(to)?),
                    _ => return None,
                }
            }
        }
        Some(())
    }

    /// The rest of a block after the failure, and where it goes on with what is known.
    fn after(
        &self,
        block: &Block,
        from: usize,
        mut known: Known,
        write_back: Option<&(Access, LocalId)>,
        changed: &mut Changed,
    ) -> Option<Vec<(BlockId, Known)>> {
        for instr in &block.instrs[from..] {
            instr.op.for_each_result(|register| _ = changed.registers.insert(register));
            match &instr.op {
                Op::Assign { dst, value } => match constant(value, &known, self.function) {
                    Some(value) => _ = known.insert(*dst, value),
                    None => _ = known.remove(dst),
                },
                Op::Load { dst, from } if from.order != Order::NotAtomic || self.is_own(from) => _ = known.remove(dst),
                Op::Store { to, value }
                    if write_back.is_some_and(|(at, old)| at.ptr == to.ptr && *value == Expr::Local(*old)) => {}
                Op::Store { to, .. } => _ = changed.slots.insert(slot_of(to)?),
                Op::Fence { .. } | Op::Yield => {}
                _ => return None,
            }
        }
        self.next_blocks(block, known)
    }

    /// The access that brought the expected value, if that is a plain load in the same block, and nothing is stored
    /// after it.
    fn source(&self, block: BlockId, index: usize, expected: &Expr) -> Option<Access> {
        let Expr::Local(expected) = expected else { return None };
        let mut found = None;
        for instr in &self.blocks[block].instrs[..index] {
            match &instr.op {
                Op::Load { dst, from } if dst == expected && from.order == Order::NotAtomic => {
                    found = Some(from.clone())
                }
                Op::Store { .. } => found = None,
                op => op.for_each_result(|register| {
                    let reads = found.as_ref().is_some_and(|from| mentions(&from.ptr, register));
                    if register == *expected || reads {
                        found = None;
                    }
                }),
            }
        }
        found
    }

    /// Whether a write to where the expected value came from is no news to other threads: it is this thread's own, or
    /// the thread has written there before, on its way into the loop.
    fn may_write_back(&self, head: BlockId, source: &Access) -> bool {
        if self.is_own(source) {
            return true;
        }
        let outside = self.cfg.predecessors(head).iter().filter(|from| !self.cfg.is_retreating(**from, head));
        let mut outside = outside.map(|from| &self.blocks[*from]);
        let (Some(before), None) = (outside.next(), outside.next()) else { return false };
        let is_first = |instr: &&Instr| matches!(&instr.op, Op::Store { to, .. } if to.ptr == source.ptr);
        let written = before.instrs.iter().rposition(|instr| is_first(&instr));
        written.is_some_and(|at| before.instrs[at + 1..].iter().all(|instr| matches!(instr.op, Op::Assign { .. })))
    }

    /// Whether an access is to a slot that no other thread has.
    fn is_own(&self, access: &Access) -> bool {
        slot_of(access).is_some_and(|slot| self.private[slot.index()])
    }

    /// Whether a plain store goes to an address that does not depend on registers that change in the function.
    fn is_steady(&self, to: &Access) -> bool {
        if to.order != Order::NotAtomic || slot_of(to).is_some() {
            return false;
        }
        self.is_constant(&to.ptr)
    }

    /// Whether the registers of an expression are set once, and outside of loops.
    fn is_constant(&self, expr: &Expr) -> bool {
        let mut is_steady = true;
        expr.for_each_local(|register| {
            let mut times = 0;
            for instr in self.blocks.iter().flat_map(|block| &block.instrs) {
                instr.op.for_each_result(|set| times += u32::from(set == register));
            }
            let in_loop = self.blocks.iter_enumerated().any(|(id, block)| {
                let mut sets = false;
                block.instrs.iter().for_each(|instr| instr.op.for_each_result(|set| sets |= set == register));
                sets && self.loops.innermost(id).is_some()
            });
            is_steady &= times <= 1 && !in_loop;
        });
        is_steady
    }
}

/// The slot that an access is to, as a whole or in part.
fn slot_of(access: &Access) -> Option<SlotId> {
    match &access.ptr {
        Expr::Slot(slot) => Some(*slot),
        Expr::Binary(BinaryOp::PtrAdd, parts) => match &**parts {
            [Expr::Slot(slot), Expr::Const { .. }] => Some(*slot),
            _ => None,
        },
        _ => None,
    }
}

fn mentions(expr: &Expr, register: LocalId) -> bool {
    let mut found = false;
    expr.for_each_local(|local| found |= local == register);
    found
}

/// The value of an expression, if it follows from what is known.
fn constant(expr: &Expr, known: &Known, function: &Function) -> Option<u128> {
    match expr {
        Expr::Const { bits, .. } => Some(*bits),
        Expr::Local(register) => known.get(register).copied(),
        Expr::Cast(CastOp::ZeroExtend, _, operand) => constant(operand, known, function),
        Expr::Cast(CastOp::Truncate | CastOp::SignExtend, _, operand) => {
            constant(operand, known, function).filter(|value| *value == 0)
        }
        Expr::Unary(UnaryOp::Not, operand) => match &**operand {
            Expr::Local(register) if function.locals[*register].ty == Type::BOOL => Some(known.get(register)? ^ 1),
            _ => None,
        },
        Expr::Binary(op, parts) => {
            let (left, right) = (constant(&parts[0], known, function)?, constant(&parts[1], known, function)?);
            match op {
                BinaryOp::Eq => Some(u128::from(left == right)),
                BinaryOp::Ne => Some(u128::from(left != right)),
                BinaryOp::And => Some(left & right),
                BinaryOp::Or => Some(left | right),
                _ => None,
            }
        }
        _ => None,
    }
}
