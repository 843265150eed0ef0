//! Loops that create threads, and loops that join them all.
//!
//! `for (i = 0; i < N; i++) pthread_create(&t[i], …)` and later `for (i = 0; i < N; i++) pthread_join(t[i], …)`: which
//! thread a single join waits for is not certain, but after the second loop none of them is alive. Why: the first loop
//! creates at most N threads, one in each turn. The second makes N joins, one in each turn, all of threads of that root
//! (`joins` says so), and a join succeeds only for a thread that was not joined before; so N different threads have
//! ended, and if no other threads of that root were alive, these were all.
//!
//! So the threads of one execution of the first loop are a group, which counts as one creation where the loop is
//! entered and one join where the second loop is left. What it takes: both loops count a register from a constant by 1
//! up to the same bound, are left only when the bound is reached (or by ending the process), and create or join once in
//! each turn. A bound that is not a constant must be a register that never changes in between.

use std::collections::BTreeSet;

use super::joins::{Joined, joined_roots};
use crate::analysis::cfg::{Cfg, Dominators, LoopId, Loops};
use crate::analysis::facts::Facts;
use crate::analysis::points_to::for_each_op;
use crate::analysis::threads::RootId;
use crate::index::IndexVec;
use crate::program::*;

type Edge = (FuncId, BlockId, BlockId);

#[derive(Clone, Debug)]
pub(super) struct ForkLoops {
    groups: Vec<Group>,
}

#[derive(Clone, Debug)]
struct Group {
    root: RootId,
    created_at: Place,
    /// Into the loop that creates.
    entry: Edge,
    /// Out of the loops that join.
    exits: Vec<(Edge, Joined)>,
}

impl ForkLoops {
    pub fn new(facts: &Facts) -> ForkLoops {
        let mut groups = Vec::new();
        let is_candidate = |root: &RootId| facts.threads().roots()[*root].is_replicated;
        let candidates: Vec<RootId> = facts.threads().roots().ids().filter(is_candidate).collect();
        if candidates.is_empty() {
            return ForkLoops { groups };
        }
        let mut joins = Vec::new();
        for (place, joined) in joined_roots(facts) {
            joins.extend(turn(facts, place).map(|turn| (joined, turn)));
        }
        for root in candidates {
            let Some(created_at) = facts.threads().roots()[root].created_at else { continue };
            if facts.threads().created_at(created_at).count() != 1 {
                continue;
            }
            let Some(creates) = turn(facts, created_at) else { continue };
            // A loop that joins each thread before it creates the next one is understood without this.
            let is_other = |join: &Turn| (join.function, join.header) != (creates.function, creates.header);
            let all = joins.iter().filter(|(joined, join)| {
                let is_set = !joined.may_be_undefined || join.reads_what_was_set_by(&creates, facts);
                joined.root == root && is_set && is_other(join) && join.is_as_often(&creates, facts)
            });
            let exits: Vec<(Edge, Joined)> = all.map(|(joined, join)| (join.exit, *joined)).collect();
            if !exits.is_empty() {
                groups.push(Group { root, created_at, entry: creates.entry, exits });
            }
        }
        ForkLoops { groups }
    }

    pub fn is_in_group(&self, place: Place) -> bool {
        self.groups.iter().any(|group| group.created_at == place)
    }

    pub fn is_grouped(&self, root: RootId) -> bool {
        self.groups.iter().any(|group| group.root == root)
    }

    /// The threads that count as created on an edge.
    pub fn created_on(&self, from: (FuncId, BlockId), to: BlockId) -> impl Iterator<Item = RootId> + '_ {
        let edge = (from.0, from.1, to);
        self.groups.iter().filter(move |group| group.entry == edge).map(|group| group.root)
    }

    /// The threads that have been joined on an edge.
    pub fn joined_on(&self, from: (FuncId, BlockId), to: BlockId) -> impl Iterator<Item = Joined> + '_ {
        let edge = (from.0, from.1, to);
        let exits = self.groups.iter().flat_map(|group| &group.exits);
        exits.filter(move |(exit, _)| *exit == edge).map(|(_, joined)| *joined)
    }
}

/// An instruction that is executed once in each turn of a counting loop.
struct Turn {
    place: Place,
    function: FuncId,
    counter: LocalId,
    header: BlockId,
    entry: Edge,
    exit: Edge,
    from: u128,
    comparison: BinaryOp,
    bound: Expr,
}

impl Turn {
    /// Whether this loop makes at least as many turns as `other`.
    fn is_as_often(&self, other: &Turn, facts: &Facts) -> bool {
        if self.from != other.from || self.comparison != other.comparison || self.bound != other.bound {
            return false;
        }
        match &self.bound {
            Expr::Const { .. } => true,
            _ => {
                let dominators = facts.dominators(self.function);
                self.function == other.function
                    && dominators.is_some_and(|dominators| dominators.dominates(other.header, self.header))
            }
        }
    }
}

impl Turn {
    /// Whether the handles that this loop joins are in the same places, turn by turn, where the loop `other` has put
    /// them before: on every path to this loop `other` has been left, after all its turns.
    fn reads_what_was_set_by(&self, other: &Turn, facts: &Facts) -> bool {
        let (function, program) = (self.function, facts.program());
        let (Some(loops), Some(dominators)) = (facts.loops(function), facts.dominators(function)) else { return false };
        let is_before = function == other.function
            && dominators.dominates(other.header, self.header)
            && loops.innermost(other.header).is_some_and(|around| !loops.contains(around, self.header));
        let Some(Op::Spawn { handle: Some(handle), .. }) = program.op(other.place) else { return false };
        let Some(Op::Join { thread: Expr::Local(thread), .. }) = program.op(self.place) else { return false };
        let mut loads = Vec::new();
        for_each_op(function, &program.functions[function], |place, op| {
            if sets(op, *thread) {
                loads.push((place, op));
            }
        });
        match loads[..] {
            [(place, Op::Load { from, .. })] => {
                // In the same turn, before the join.
                let is_same_turn = place.block == self.place.block && place.index < self.place.index;
                is_before && is_same_turn && is_same(&handle.ptr, other.counter, &from.ptr, self.counter)
            }
            _ => false,
        }
    }
}

/// Whether two addresses are computed in the same way from constants and one register each.
fn is_same(left: &Expr, left_counter: LocalId, right: &Expr, right_counter: LocalId) -> bool {
    let part = |left: &Expr, right: &Expr| is_same(left, left_counter, right, right_counter);
    match (left, right) {
        (Expr::Local(left), Expr::Local(right)) => *left == left_counter && *right == right_counter,
        (Expr::Unary(op, left), Expr::Unary(other, right)) => op == other && part(left, right),
        (Expr::Cast(op, to, left), Expr::Cast(other, other_to, right)) => {
            op == other && to == other_to && part(left, right)
        }
        (Expr::Binary(op, left), Expr::Binary(other, right)) => {
            op == other && part(&left[0], &right[0]) && part(&left[1], &right[1])
        }
        (Expr::Const { .. } | Expr::Object(_) | Expr::Slot(_), _) => left == right,
        _ => false,
    }
}

/// The counting loop that executes an instruction once in each turn.
fn turn(facts: &Facts, place: Place) -> Option<Turn> {
    let function = place.func;
    let Body::Blocks(blocks) = &facts.program().functions[function].body else { return None };
    let (cfg, loops, dominators) = (facts.cfg(function)?, facts.loops(function)?, facts.dominators(function)?);
    let around = Around { facts, function, blocks, cfg, loops, dominators, id: loops.innermost(place.block)? };
    if !loops.irreducible.is_empty() || around.has_other_exits() {
        return None;
    }
    let header = loops.loops[around.id].header;
    let TerminatorKind::Branch { cond, then, otherwise } = &blocks[header].terminator.kind else { return None };
    let Expr::Binary(comparison @ (BinaryOp::SLt | BinaryOp::ULt | BinaryOp::SLe | BinaryOp::ULe), operands) = cond
    else {
        return None;
    };
    let Expr::Local(counter) = &operands[0] else { return None };
    if !loops.contains(around.id, *then) || loops.contains(around.id, *otherwise) {
        return None;
    }
    let before = around.entered_from()?;
    let from = around.value_at_end(before, *counter)?;
    let increment = around.increment(*counter)?;
    let bound = operands[1].clone();
    (around.is_fixed(&bound) && around.comes_before(place, increment)).then_some(Turn {
        place,
        function,
        counter: *counter,
        header,
        entry: (function, before, header),
        exit: (function, header, *otherwise),
        from,
        comparison: *comparison,
        bound,
    })
}

/// A loop, and what is needed to look around in its function.
struct Around<'a> {
    facts: &'a Facts<'a>,
    function: FuncId,
    blocks: &'a IndexVec<BlockId, Block>,
    cfg: &'a Cfg,
    loops: &'a Loops,
    dominators: &'a Dominators,
    id: LoopId,
}

impl Around<'_> {
    fn inside(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.blocks.ids().filter(|block| self.loops.contains(self.id, *block))
    }

    /// Whether the loop can be left elsewhere than at its header, other than by ending the process.
    fn has_other_exits(&self) -> bool {
        let header = self.loops.loops[self.id].header;
        let targets = self.inside().filter(|block| *block != header).flat_map(|block| self.cfg.successors(block));
        let mut outside = targets.filter(|target| !self.loops.contains(self.id, **target));
        let returns = |block: BlockId| {
            matches!(self.blocks[block].terminator.kind, TerminatorKind::Return(_) | TerminatorKind::ThreadExit(_))
        };
        self.inside().any(returns) || outside.any(|target| !self.ends_process(*target))
    }

    /// Whether control never leaves the function from here.
    fn ends_process(&self, from: BlockId) -> bool {
        let mut seen = BTreeSet::new();
        let mut work = vec![from];
        while let Some(block) = work.pop() {
            match self.blocks[block].terminator.kind {
                TerminatorKind::Return(_) | TerminatorKind::ThreadExit(_) => return false,
                _ if self.loops.innermost(block).is_some() => return false,
                _ if seen.insert(block) => work.extend(self.cfg.successors(block)),
                _ => {}
            }
        }
        true
    }

    /// The one block outside that leads into the loop.
    fn entered_from(&self) -> Option<BlockId> {
        let header = self.loops.loops[self.id].header;
        let is_outside = |block: &&BlockId| self.cfg.is_reachable(**block) && !self.loops.contains(self.id, **block);
        let mut outside = self.cfg.predecessors(header).iter().filter(is_outside);
        let only = *outside.next()?;
        (outside.next().is_none() && header != BlockId(0)).then_some(only)
    }

    /// The constant that a register holds at the end of a block.
    fn value_at_end(&self, mut block: BlockId, local: LocalId) -> Option<u128> {
        for _ in 0..self.blocks.len() {
            for instr in self.blocks[block].instrs.iter().rev() {
                if sets(&instr.op, local) {
                    return match &instr.op {
                        Op::Assign { value: Expr::Const { bits, .. }, .. } => Some(*bits),
                        _ => None,
                    };
                }
            }
            match self.cfg.predecessors(block) {
                [only] if block != BlockId(0) => block = *only,
                _ => return None,
            }
        }
        None
    }

    /// The only instruction of the loop that sets the counter: it adds 1, once in each turn.
    fn increment(&self, counter: LocalId) -> Option<Place> {
        let mut found = None;
        for block in self.inside() {
            for (index, instr) in (0..).zip(&self.blocks[block].instrs) {
                if sets(&instr.op, counter)
                    && found.replace((Place { func: self.function, block, index }, &instr.op)).is_some()
                {
                    return None;
                }
            }
        }
        let (place, Op::Assign { value: Expr::Binary(BinaryOp::Add, operands), .. }) = found? else { return None };
        let adds_one = operands[0] == Expr::Local(counter) && matches!(operands[1], Expr::Const { bits: 1, .. });
        (adds_one && self.is_once(place.block)).then_some(place)
    }

    /// Whether a block is executed once in each turn that is completed.
    fn is_once(&self, block: BlockId) -> bool {
        let latches = &self.loops.loops[self.id].latches;
        self.loops.innermost(block) == Some(self.id)
            && latches.iter().all(|latch| self.dominators.dominates(block, *latch))
    }

    fn comes_before(&self, place: Place, increment: Place) -> bool {
        self.is_once(place.block)
            && match place.block == increment.block {
                true => place.index < increment.index,
                false => self.dominators.dominates(place.block, increment.block),
            }
    }

    /// Whether a bound never changes: a constant, or a register that is set once.
    fn is_fixed(&self, bound: &Expr) -> bool {
        let local = match bound {
            Expr::Const { .. } => return true,
            Expr::Local(local) => *local,
            _ => return false,
        };
        let code = &self.facts.program().functions[self.function];
        let mut places = Vec::new();
        for_each_op(self.function, code, |place, op| {
            if sets(op, local) {
                places.push(place);
            }
        });
        match places[..] {
            [] => local.0 < code.params,
            [place] => {
                let header = self.loops.loops[self.id].header;
                let is_outside = self.loops.innermost(place.block).is_none();
                local.0 >= code.params && is_outside && self.dominators.dominates(place.block, header)
            }
            _ => false,
        }
    }
}

fn sets(op: &Op, local: LocalId) -> bool {
    let mut is_result = false;
    op.for_each_result(|dst| is_result |= dst == local);
    is_result
}
