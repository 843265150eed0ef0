//! Registers that are used for one thing after another become several registers.
//!
//! The facts about pointers do not depend on where in a function a register is looked at. So `p = a->next; …; p = b->next; …`
//! gives `p` all that either list holds, and both critical sections seem to touch both lists. Here every register is split
//! into its *webs*: definitions belong together if some use may see either of them. Each web but the first becomes a register
//! of its own. Places stay what they are, and so does what the program does: every use reads the definition that it read before.

use leno_ir::analysis::cfg::Cfg;
use leno_ir::index::IndexVec;
use leno_ir::program::{
    Block, BlockId, Body, Callee, Expr, Function, Local, LocalId, Op, Program, SyncOp, TerminatorKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// The program with a register for each web.
pub fn split_registers(program: &Program) -> Program {
    let mut result = program.clone();
    result.functions.iter_mut().for_each(split_function);
    result
}

/// A definition of a register: what it holds when the function begins, or the instruction that sets it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Definition {
    Beginning,
    At(BlockId, u32),
}

/// By register: the definitions that may reach a point.
type Reaching = BTreeMap<LocalId, BTreeSet<Definition>>;

fn split_function(function: &mut Function) {
    let Some(cfg) = Cfg::of(function) else { return };
    let Body::Blocks(blocks) = &function.body else { return };
    let mut set_at: BTreeMap<LocalId, u32> = BTreeMap::new();
    for instr in blocks.iter().flat_map(|block| &block.instrs) {
        instr.op.for_each_result(|local| *set_at.entry(local).or_default() += 1);
    }
    // What is set once is one web (with what it holds in the beginning), unless it is a parameter.
    let is_split =
        |local: LocalId| set_at.get(&local).is_some_and(|count| *count + u32::from(local.0 < function.params) > 1);
    let split: BTreeSet<LocalId> = set_at.keys().copied().filter(|local| is_split(*local)).collect();
    if split.is_empty() {
        return;
    }
    let starts = reaching(&cfg, &split, |block, reaching| pass(&blocks[block], block, &split, reaching));
    let mut webs = Webs { parent: BTreeMap::new() };
    for (block, reaching) in &starts {
        walk(&blocks[*block], *block, &split, reaching.clone(), |local, definitions| webs.unite(local, definitions));
    }
    rename(function, &split, &starts, &mut webs);
}

/// The definitions that reach the beginning of each block that is reached.
fn reaching(
    cfg: &Cfg,
    split: &BTreeSet<LocalId>,
    pass: impl Fn(BlockId, &mut Reaching),
) -> BTreeMap<BlockId, Reaching> {
    let first: Reaching = split.iter().map(|local| (*local, BTreeSet::from([Definition::Beginning]))).collect();
    let mut starts = BTreeMap::from([(BlockId(0), first)]);
    let mut work: BTreeSet<usize> = cfg.position(BlockId(0)).into_iter().collect();
    while let Some(position) = work.pop_first() {
        let block = cfg.reverse_post_order()[position];
        let mut at = starts.get(&block).cloned().unwrap_or_default();
        pass(block, &mut at);
        for next in cfg.successors(block) {
            let known = starts.entry(*next).or_default();
            let mut is_new = known.is_empty();
            for (local, definitions) in &at {
                let mine = known.entry(*local).or_default();
                let before = mine.len();
                mine.extend(definitions);
                is_new |= mine.len() > before;
            }
            if is_new {
                work.extend(cfg.position(*next));
            }
        }
    }
    starts
}

fn pass(block: &Block, id: BlockId, split: &BTreeSet<LocalId>, reaching: &mut Reaching) {
    for (index, instr) in (0..).zip(&block.instrs) {
        instr.op.for_each_result(|local| {
            if split.contains(&local) {
                reaching.insert(local, BTreeSet::from([Definition::At(id, index)]));
            }
        });
    }
}

/// Visits all uses in a block, with the definitions that they may see.
fn walk(
    block: &Block,
    id: BlockId,
    split: &BTreeSet<LocalId>,
    mut reaching: Reaching,
    mut visit: impl FnMut(LocalId, &BTreeSet<Definition>),
) {
    let mut used = |expr: &Expr, reaching: &Reaching| {
        expr.for_each_local(|local| {
            if let Some(definitions) = reaching.get(&local) {
                visit(local, definitions);
            }
        });
    };
    for (index, instr) in (0..).zip(&block.instrs) {
        instr.op.for_each_operand(|operand| used(operand, &reaching));
        instr.op.for_each_result(|local| {
            if split.contains(&local) {
                reaching.insert(local, BTreeSet::from([Definition::At(id, index)]));
            }
        });
    }
    if let Some(operand) = block.terminator.kind.operand() {
        used(operand, &reaching);
    }
}

/// Sets of definitions that belong together.
struct Webs {
    parent: BTreeMap<(LocalId, Definition), Definition>,
}

impl Webs {
    fn find(&self, local: LocalId, mut definition: Definition) -> Definition {
        while let Some(next) = self.parent.get(&(local, definition)) {
            definition = *next;
        }
        definition
    }

    fn unite(&mut self, local: LocalId, definitions: &BTreeSet<Definition>) {
        let mut all = definitions.iter().map(|definition| self.find(local, *definition)).collect::<BTreeSet<_>>();
        // The smallest stands for all, so that what comes from the caller keeps its register.
        if let Some(first) = all.pop_first() {
            self.parent.extend(all.into_iter().map(|other| ((local, other), first)));
        }
    }
}

fn rename(function: &mut Function, split: &BTreeSet<LocalId>, starts: &BTreeMap<BlockId, Reaching>, webs: &mut Webs) {
    let Body::Blocks(blocks) = &mut function.body else { return };
    let locals: &mut IndexVec<LocalId, Local> = &mut function.locals;
    let mut names: BTreeMap<(LocalId, Definition), LocalId> =
        split.iter().map(|local| ((*local, Definition::Beginning), *local)).collect();
    let mut name = |local: LocalId, definition: Definition| {
        let web = webs.find(local, definition);
        *names.entry((local, web)).or_insert_with(|| {
            let copy = locals[local].clone();
            locals.push(copy)
        })
    };
    for (id, start) in starts {
        let block = &mut blocks[*id];
        let mut reaching = start.clone();
        for (index, instr) in (0..).zip(block.instrs.iter_mut()) {
            for_each_operand_mut(&mut instr.op, |operand| rename_uses(operand, &reaching, &mut name));
            for_each_result_mut(&mut instr.op, |local| {
                if split.contains(local) {
                    let definition = Definition::At(*id, index);
                    reaching.insert(*local, BTreeSet::from([definition]));
                    *local = name(*local, definition);
                }
            });
        }
        match &mut block.terminator.kind {
            TerminatorKind::Branch { cond: operand, .. }
            | TerminatorKind::Switch { value: operand, .. }
            | TerminatorKind::Return(Some(operand))
            | TerminatorKind::ThreadExit(operand)
            | TerminatorKind::Exit(operand) => rename_uses(operand, &reaching, &mut name),
            _ => {}
        }
    }
}

fn rename_uses(expr: &mut Expr, reaching: &Reaching, name: &mut impl FnMut(LocalId, Definition) -> LocalId) {
    match expr {
        Expr::Local(local) => {
            if let Some(definition) = reaching.get(local).and_then(|definitions| definitions.first()) {
                *local = name(*local, *definition);
            }
        }
        Expr::Const { .. } | Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => {}
        Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => rename_uses(operand, reaching, name),
        Expr::Binary(_, operands) => operands.iter_mut().for_each(|operand| rename_uses(operand, reaching, name)),
        Expr::Select(parts) => parts.iter_mut().for_each(|part| rename_uses(part, reaching, name)),
    }
}

fn for_each_result_mut(op: &mut Op, mut visit: impl FnMut(&mut LocalId)) {
    match op {
        Op::Assign { dst, .. }
        | Op::Load { dst, .. }
        | Op::Allocate { dst, .. }
        | Op::ObjectSize { dst, .. }
        | Op::Nondet { dst }
        | Op::Undefine { dst }
        | Op::ThreadSelf { dst } => visit(dst),
        Op::ReadModifyWrite { dst, .. } | Op::Call { dst, .. } | Op::Join { dst, .. } | Op::Sync { dst, .. } => {
            dst.iter_mut().for_each(visit);
        }
        Op::CompareExchange { ok, old, .. } => {
            visit(ok);
            visit(old);
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

fn for_each_operand_mut(op: &mut Op, mut visit: impl FnMut(&mut Expr)) {
    match op {
        Op::Assign { value, .. } => visit(value),
        Op::Load { from, .. } => visit(&mut from.ptr),
        Op::Store { to, value } => {
            visit(&mut to.ptr);
            visit(value);
        }
        Op::ReadModifyWrite { at, value, .. } => {
            visit(&mut at.ptr);
            visit(value);
        }
        Op::CompareExchange { at, expected, desired, .. } => {
            visit(&mut at.ptr);
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
            args.iter_mut().for_each(visit);
        }
        Op::Spawn { handle, func, args } => {
            if let Some(handle) = handle {
                visit(&mut handle.ptr);
            }
            visit(func);
            args.iter_mut().for_each(visit);
        }
        Op::Join { thread, .. } | Op::Detach { thread } => visit(thread),
        Op::Sync { op, at, .. } => {
            visit(at);
            match op {
                SyncOp::LockInit { kind: operand, .. }
                | SyncOp::CondSleep { mutex: operand }
                | SyncOp::SemInit { value: operand }
                | SyncOp::BarrierInit { count: operand }
                | SyncOp::BarrierLeave { ticket: operand } => visit(operand),
                SyncOp::CondWake { mutex, deadline } => {
                    visit(mutex);
                    deadline.iter_mut().for_each(visit);
                }
                _ => {}
            }
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
