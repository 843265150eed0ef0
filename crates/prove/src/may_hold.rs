//! Which locks may a thread hold, at most?
//!
//! Locksets say what is held for certain; who waits for whom needs the opposite. A lock at one certain address is followed
//! through calls: for each function and each such lock that it may be entered with, whether it may still be held at its ends.
//! A lock through a pointer that may point elsewhere has the name that the function has for it: unlocking by the same
//! expression, with the same registers, releases it. Elsewhere, and once one of the registers changes, it has no name and
//! stays held. An attempt counts as if it was successful, but where a branch on its result says that it was not.

use leno_ir::analysis::facts::Facts;
use leno_ir::analysis::offsets::Address;
use leno_ir::analysis::threads::RootId;
use leno_ir::index::Idx;
use leno_ir::interp::operate;
use leno_ir::program::{BlockId, Body, Expr, FuncId, LocalId, Op, Place, SyncOp, TerminatorKind};
use std::collections::{BTreeMap, BTreeSet};

/// A lock that a thread may hold.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Held {
    At(Address),
    /// By the place that took it; the function still has the address in these registers.
    Named(Place),
    Unnamed(Place),
}

/// What a function was entered with, and what may be held because of it. None: whatever it was entered with.
type Fact = (Option<Address>, Held);

type States = BTreeMap<FuncId, Vec<Option<BTreeSet<Fact>>>>;

/// The operand of a step that takes a lock.
pub fn taken(op: &Op) -> Option<&Expr> {
    use SyncOp::{CondRelock, Lock, OnceBegin, ReadLock, TryLock, TryReadLock, TryWriteLock, WriteLock};
    let Op::Sync { op, at, .. } = op else { return None };
    matches!(op, Lock(_) | TryLock(_) | ReadLock | TryReadLock | WriteLock | TryWriteLock | CondRelock | OnceBegin)
        .then_some(at)
}

/// The operand of a step that gives a lock up.
fn given_up(op: &Op) -> Option<&Expr> {
    let Op::Sync { op, at, .. } = op else { return None };
    match op {
        SyncOp::Unlock(_) | SyncOp::RwUnlock | SyncOp::OnceEnd => Some(at),
        SyncOp::CondSleep { mutex } => Some(mutex),
        _ => None,
    }
}

/// The result of an attempt to take a lock, the value that says that it was successful, and the lock.
fn attempt(op: &Op) -> Option<(LocalId, u128, &Expr)> {
    let Op::Sync { dst: Some(dst), op, at } = op else { return None };
    match op {
        SyncOp::TryLock(_) | SyncOp::TryReadLock | SyncOp::TryWriteLock => Some((*dst, 0, at)),
        SyncOp::OnceBegin => Some((*dst, 1, at)),
        _ => None,
    }
}

/// The value of an expression in which there is no register but one, of which the value is given.
fn fold(facts: &Facts<'_>, func: FuncId, expr: &Expr, local: LocalId, bits: u128) -> Option<u128> {
    let (model, locals) = (facts.program().model, &facts.program().functions[func].locals);
    let part = |expr: &Expr| fold(facts, func, expr, local, bits);
    match expr {
        Expr::Const { bits, .. } => Some(*bits),
        Expr::Local(id) => (*id == local).then_some(bits),
        Expr::Unary(op, operand) => Some(operate::unary(model, *op, operand.ty(locals, model), part(operand)?)),
        Expr::Binary(op, operands) => {
            let (left, right) = (part(&operands[0])?, part(&operands[1])?);
            Some(operate::binary(model, *op, operands[0].ty(locals, model), left, right))
        }
        Expr::Cast(op, to, operand) => Some(operate::cast(model, *op, operand.ty(locals, model), *to, part(operand)?)),
        _ => None,
    }
}

#[derive(Debug)]
pub struct MayHold<'a, 'p> {
    facts: &'a Facts<'p>,
    /// By function: the locks that it may be entered with.
    entries: BTreeMap<FuncId, BTreeSet<Address>>,
    /// By function and block, before it.
    states: States,
    /// By function: what may be held when it returns.
    exits: BTreeMap<FuncId, BTreeSet<Fact>>,
}

impl<'a, 'p> MayHold<'a, 'p> {
    pub fn new(facts: &'a Facts<'p>) -> MayHold<'a, 'p> {
        let (entries, states, exits) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut found = MayHold { facts, entries, states, exits };
        let reached: Vec<FuncId> =
            facts.program().functions.ids().filter(|func| facts.calls().is_reachable(*func)).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for func in &reached {
                changed |= found.pass(*func);
            }
        }
        found
    }

    /// Computes the states of a function anew; whether anything that others depend on has changed.
    fn pass(&mut self, func: FuncId) -> bool {
        let (Some(cfg), Body::Blocks(blocks)) = (self.facts.cfg(func), &self.facts.program().functions[func].body)
        else {
            return false;
        };
        let start: BTreeSet<Fact> =
            self.entries.get(&func).into_iter().flatten().map(|lock| (Some(*lock), Held::At(*lock))).collect();
        let mut states: Vec<Option<BTreeSet<Fact>>> = vec![None; blocks.len()];
        states[0] = Some(start);
        let mut work: BTreeSet<usize> = cfg.position(BlockId(0)).into_iter().collect();
        let mut exits = BTreeSet::new();
        let mut demanded: Vec<(FuncId, Address)> = Vec::new();
        while let Some(position) = work.pop_first() {
            let block = cfg.reverse_post_order()[position];
            let Some(mut state) = states[block.index()].clone() else { continue };
            // Who had a lock before an attempt to take it has it still if that fails.
            let had: BTreeSet<Held> = state.iter().map(|(_, held)| held.clone()).collect();
            for (index, instr) in (0..).zip(&blocks[block].instrs) {
                let place = Place { func, block, index };
                if let Op::Call { .. } = &instr.op {
                    let locks = state.iter().filter_map(|(_, held)| match held {
                        Held::At(lock) => Some(*lock),
                        _ => None,
                    });
                    let callees = self.facts.calls().callees(place);
                    demanded.extend(locks.flat_map(|lock| callees.iter().map(move |edge| (edge.callee, lock))));
                }
                self.step(place, &instr.op, &mut state);
            }
            if cfg.successors(block).is_empty() {
                exits.extend(state.iter().cloned());
            }
            for next in cfg.successors(block) {
                let failed = self.failed_attempt(func, block, *next).filter(|held| !had.contains(held));
                let known = &mut states[next.index()];
                let before = known.as_ref().map(BTreeSet::len);
                let arriving = state.iter().filter(|(_, held)| Some(held) != failed.as_ref());
                known.get_or_insert_default().extend(arriving.cloned());
                if known.as_ref().map(BTreeSet::len) != before {
                    work.extend(cfg.position(*next));
                }
            }
        }
        let mut changed = self.exits.get(&func) != Some(&exits);
        self.exits.insert(func, exits);
        self.states.insert(func, states);
        for (callee, lock) in demanded {
            changed |= self.entries.entry(callee).or_default().insert(lock);
        }
        changed
    }

    /// The lock that the last attempt of a block has not taken if control goes on to this block: its result alone decides.
    fn failed_attempt(&self, func: FuncId, block: BlockId, next: BlockId) -> Option<Held> {
        let program = self.facts.program();
        let Body::Blocks(blocks) = &program.functions[func].body else { return None };
        let TerminatorKind::Branch { cond, then, otherwise } = &blocks[block].terminator.kind else { return None };
        let (index, (result, success, operand)) = (0..)
            .zip(&blocks[block].instrs)
            .filter_map(|(index, instr)| attempt(&instr.op).map(|found| (index, found)))
            .last()?;
        let place = Place { func, block, index };
        let later = &blocks[block].instrs[index as usize + 1..];
        // (A function that is called may take it, too.)
        let calls = blocks[block].instrs.iter().any(|instr| matches!(instr.op, Op::Call { .. }));
        let mut is_kept = then != otherwise && !calls && later.iter().all(|instr| taken(&instr.op).is_none());
        later.iter().for_each(|instr| instr.op.for_each_result(|local| is_kept &= local != result));
        let held = self.facts.address(func, operand).map_or(Held::Named(place), Held::At);
        let taken_before = blocks[block].instrs[..index as usize].iter().any(|instr| taken(&instr.op).is_some());
        let is_set_once = |local: LocalId| {
            let mut count = 0;
            later.iter().for_each(|instr| instr.op.for_each_result(|other| count += u32::from(other == local)));
            count == 1
        };
        let copies = later.iter().filter_map(|instr| match &instr.op {
            Op::Assign { dst, value: Expr::Local(from) } if *from == result && is_set_once(*dst) => Some(*dst),
            _ => None,
        });
        let mut values =
            [result].into_iter().chain(copies).filter_map(|local| fold(self.facts, func, cond, local, success));
        let leads_to = values.next().map(|bits| if bits & 1 == 1 { *then } else { *otherwise })?;
        (is_kept && !taken_before && leads_to != next).then_some(held)
    }

    fn step(&self, place: Place, op: &Op, state: &mut BTreeSet<Fact>) {
        let program = self.facts.program();
        if let Some(operand) = given_up(op) {
            let address = self.facts.address(place.func, operand);
            state.retain(|(_, held)| match held {
                Held::At(lock) => Some(*lock) != address,
                Held::Named(taken_at) => {
                    taken_at.func != place.func || program.op(*taken_at).and_then(taken) != Some(operand)
                }
                Held::Unnamed(_) => true,
            });
        }
        if let Op::Call { .. } = op {
            *state = self.after_call(place, state);
        }
        let mut set = BTreeSet::new();
        op.for_each_result(|local| _ = set.insert(local));
        let changes = |taken_at: &Place| {
            let mut is_changed = false;
            if let Some(operand) = program.op(*taken_at).and_then(taken) {
                operand.for_each_local(|local| is_changed |= set.contains(&local));
            }
            is_changed
        };
        let lost: Vec<Fact> = match set.is_empty() {
            true => Vec::new(),
            false => state
                .iter()
                .filter(|(_, held)| matches!(held, Held::Named(at) if at.func == place.func && changes(at)))
                .cloned()
                .collect(),
        };
        for fact in lost {
            state.remove(&fact);
            if let (entry, Held::Named(at)) = fact {
                state.insert((entry, Held::Unnamed(at)));
            }
        }
        if let Some(operand) = taken(op) {
            let held = self.facts.address(place.func, operand).map_or(Held::Named(place), Held::At);
            state.insert((None, held));
        }
    }

    fn after_call(&self, place: Place, before: &BTreeSet<Fact>) -> BTreeSet<Fact> {
        let edges = self.facts.calls().callees(place);
        let has_body = |func: FuncId| matches!(self.facts.program().functions[func].body, Body::Blocks(_));
        let is_outside = edges.is_empty() || self.facts.calls().is_unknown(place);
        let mut after = match is_outside || edges.iter().any(|edge| !has_body(edge.callee)) {
            true => before.clone(),
            false => before.iter().filter(|(_, held)| !matches!(held, Held::At(_))).cloned().collect(),
        };
        for exits in edges.iter().filter_map(|edge| self.exits.get(&edge.callee)) {
            for (entry, held) in exits {
                // What the callee has a name for, its caller does not.
                let held = match held {
                    Held::Named(at) => Held::Unnamed(*at),
                    other => other.clone(),
                };
                match entry {
                    None => _ = after.insert((None, held)),
                    Some(lock) => after.extend(
                        before
                            .iter()
                            .filter(|(_, mine)| *mine == Held::At(*lock))
                            .map(|(mine, _)| (*mine, held.clone())),
                    ),
                }
            }
        }
        after
    }

    /// What the threads of a root may hold, by place of the instructions and terminators that are wanted.
    pub fn of_root(&self, root: RootId, is_wanted: impl Fn(Place) -> bool) -> BTreeMap<Place, BTreeSet<Held>> {
        let mut entered: BTreeMap<FuncId, BTreeSet<Held>> = BTreeMap::new();
        let start = self.facts.threads().roots()[root].function;
        entered.insert(start, BTreeSet::new());
        let mut work = vec![start];
        let mut found: BTreeMap<Place, BTreeSet<Held>> = BTreeMap::new();
        while let Some(func) = work.pop() {
            let with = entered.get(&func).cloned().unwrap_or_default();
            let mut calls: Vec<(FuncId, BTreeSet<Held>)> = Vec::new();
            self.replay(func, |place, op, state| {
                let by_entry =
                    state.iter().filter(|(entry, _)| entry.is_none_or(|lock| with.contains(&Held::At(lock))));
                let nameless = with.iter().filter(|held| !matches!(held, Held::At(_)));
                let held: BTreeSet<Held> = by_entry.map(|(_, held)| held).chain(nameless).cloned().collect();
                if let Some(Op::Call { .. }) = op {
                    let passed = |held: &Held| match held {
                        Held::Named(at) => Held::Unnamed(*at),
                        other => other.clone(),
                    };
                    let passed: BTreeSet<Held> = held.iter().map(passed).collect();
                    calls.extend(self.facts.calls().callees(place).iter().map(|edge| (edge.callee, passed.clone())));
                }
                if is_wanted(place) {
                    found.entry(place).or_default().extend(held);
                }
            });
            for (callee, passed) in calls {
                let is_first = !entered.contains_key(&callee);
                let known = entered.entry(callee).or_default();
                let before = known.len();
                known.extend(passed);
                if is_first || known.len() > before {
                    work.push(callee);
                }
            }
        }
        found
    }

    /// Visits the states before all instructions and terminators that are reached.
    fn replay(&self, func: FuncId, mut visit: impl FnMut(Place, Option<&'p Op>, &BTreeSet<Fact>)) {
        let (Some(states), Body::Blocks(blocks)) = (self.states.get(&func), &self.facts.program().functions[func].body)
        else {
            return;
        };
        for (block, code) in blocks.iter_enumerated() {
            let Some(Some(state)) = states.get(block.index()) else { continue };
            let mut state = state.clone();
            for (index, instr) in (0..).zip(&code.instrs) {
                let place = Place { func, block, index };
                visit(place, Some(&instr.op), &state);
                self.step(place, &instr.op, &mut state);
            }
            visit(Place { func, block, index: code.instrs.len() as u32 }, None, &state);
        }
    }
}
