//! The locks that a thread holds, along its paths.

use std::collections::{BTreeMap, BTreeSet};

use super::overwrites::Overwrites;
use super::tries::{Try, fold};
use super::{Lock, LockClass, LockSet, Mode};
use crate::analysis::contexts::{Exits, Flow};
use crate::analysis::facts::Facts;
use crate::analysis::number::Number;
use crate::analysis::offsets::Address;
use crate::analysis::points_to::{AbstractId, AbstractObject, for_each_op};
use crate::index::{Idx, IndexVec};
use crate::program::*;

/// A lock that is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Hold {
    mode: Mode,
    /// How often it has to be unlocked, at least.
    count: u8,
}

/// Locking it more often is not counted.
const MOST_HOLDS: u8 = 15;

/// The value that a function returns, as a register.
const RESULT: LocalId = LocalId(u32::MAX);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct State {
    held: BTreeMap<Lock, Hold>,
    /// By register.
    tried: BTreeMap<LocalId, Vec<Try>>,
    /// Mutexes that may have been destroyed: locking them has no effect.
    invalid: BTreeSet<Lock>,
    /// What the function was called with.
    bound: BTreeMap<LocalId, Address>,
}

impl State {
    /// Of a thread that no other has created.
    pub fn first(overwrites: &Overwrites) -> State {
        let invalid = overwrites.invalid_at_start().clone();
        State { held: BTreeMap::new(), tried: BTreeMap::new(), invalid, bound: BTreeMap::new() }
    }

    pub fn lock_set(&self) -> LockSet {
        LockSet { locks: self.held.iter().map(|(lock, hold)| (*lock, hold.mode)).collect() }
    }

    fn release(&mut self, mut may_be: impl FnMut(Lock) -> bool) {
        self.held.retain(|lock, hold| {
            let is_released = may_be(*lock);
            hold.count -= u8::from(is_released);
            hold.count > 0
        });
        self.tried.retain(|_, tries| {
            tries.retain(|one| !may_be(one.lock));
            !tries.is_empty()
        });
    }

    fn forget(&mut self, lock: Lock) {
        self.held.remove(&lock);
        self.tried.values_mut().for_each(|tries| tries.retain(|one| one.lock != lock));
        self.tried.retain(|_, tries| !tries.is_empty());
    }
}

pub(super) struct Holding<'a> {
    facts: &'a Facts<'a>,
    overwrites: &'a Overwrites,
    params: LockParameters<'a>,
}

impl<'a> Holding<'a> {
    pub fn new(facts: &'a Facts<'a>, overwrites: &'a Overwrites) -> Holding<'a> {
        Holding { facts, overwrites, params: LockParameters::new(facts, overwrites) }
    }

    fn address(&self, function: FuncId, pointer: &Expr, state: &State) -> Option<Address> {
        self.facts.address(function, pointer).or_else(|| {
            let (param, offset) = self.params.origins.of(function, pointer)?;
            let base = state.bound.get(&param)?;
            Some(Address { offset: base.offset.wrapping_add(offset.exact()?), ..*base })
        })
    }

    fn may_be(&self, function: FuncId, pointer: &Expr, state: &State) -> impl Fn(AbstractId) -> bool + use<> {
        let origin = self.params.origins.of(function, pointer);
        let bound = origin.and_then(|(param, _)| state.bound.get(&param).copied());
        let objects = self.facts.points_to().points_to(function, pointer).into_owned();
        move |object| match bound {
            Some(base) => base.object == object,
            None => objects.contains(object),
        }
    }

    fn acquire(&self, lock: Lock, mode: Mode, state: &mut State) {
        if state.invalid.contains(&lock) {
            return state.forget(lock);
        }
        state.tried.values_mut().for_each(|tries| tries.retain(|one| one.lock != lock));
        state.tried.retain(|_, tries| !tries.is_empty());
        let counts = self.overwrites.counts(lock);
        let hold = state.held.entry(lock).or_insert(Hold { mode, count: 0 });
        hold.mode = hold.mode.max(mode);
        hold.count = if counts { (hold.count + 1).min(MOST_HOLDS) } else { 1 };
    }

    fn lock(&self, function: FuncId, at: &Expr, class: LockClass, mode: Mode, state: &mut State) {
        if let Some(address) = self.address(function, at, state) {
            self.acquire(Lock { address, class }, mode, state);
        }
    }

    fn try_lock(
        &self,
        function: FuncId,
        at: &Expr,
        class: LockClass,
        mode: Mode,
        dst: Option<LocalId>,
        state: &mut State,
    ) {
        let (Some(address), Some(dst)) = (self.address(function, at, state), dst) else { return };
        let lock = Lock { address, class };
        if !state.invalid.contains(&lock) {
            state.tried.insert(dst, vec![Try::result(lock, mode)]);
        }
    }

    fn unlock(&self, function: FuncId, at: &Expr, class: LockClass, state: &mut State) {
        if let Some(address) = self.address(function, at, state) {
            let released = Lock { address, class };
            return state.release(|lock| lock == released);
        }
        let may_be = self.may_be(function, at, state);
        state.release(|lock| may_be(lock.address.object));
    }

    fn sync(&self, function: FuncId, op: &SyncOp, at: &Expr, dst: Option<LocalId>, state: &mut State) {
        use LockClass::{Mutex, ReadWrite};
        match op {
            SyncOp::Lock(kind) => self.lock(function, at, (*kind).into(), Mode::Exclusive, state),
            SyncOp::TryLock(kind) => self.try_lock(function, at, (*kind).into(), Mode::Exclusive, dst, state),
            SyncOp::Unlock(kind) => self.unlock(function, at, (*kind).into(), state),
            SyncOp::CondSleep { mutex } => self.unlock(function, mutex, Mutex, state),
            SyncOp::CondRelock => self.lock(function, at, Mutex, Mode::Exclusive, state),
            SyncOp::ReadLock => self.lock(function, at, ReadWrite, Mode::Shared, state),
            SyncOp::WriteLock => self.lock(function, at, ReadWrite, Mode::Exclusive, state),
            SyncOp::TryReadLock => self.try_lock(function, at, ReadWrite, Mode::Shared, dst, state),
            SyncOp::TryWriteLock => self.try_lock(function, at, ReadWrite, Mode::Exclusive, dst, state),
            SyncOp::RwUnlock => self.unlock(function, at, ReadWrite, state),
            _ => {}
        }
    }

    /// What the value that an expression has says about locks.
    fn tried(&self, function: FuncId, value: &Expr, state: &State) -> Vec<Try> {
        let code = &self.facts.program().functions[function];
        let model = self.facts.program().model;
        let through = |(local, tries): (&LocalId, &Vec<Try>)| {
            let tries = tries.iter().map(|one| one.through(code, model, *local, value));
            tries.collect::<Vec<Option<Try>>>()
        };
        // A constant says the same whatever was tried.
        if matches!(value, Expr::Const { .. }) {
            return Vec::new();
        }
        state.tried.iter().flat_map(through).flatten().collect()
    }

    /// Takes out of what was tried the values that do not lead here, and takes the lock if it must be held.
    fn refine(&self, function: FuncId, value: &Expr, leads_here: impl Fn(u128) -> bool, state: &mut State) {
        let code = &self.facts.program().functions[function];
        let model = self.facts.program().model;
        let mut taken = Vec::new();
        for (local, tries) in &mut state.tried {
            tries.retain_mut(|one| {
                *one = one.filtered(|bits| fold(code, model, value, *local, bits).is_none_or(&leads_here));
                if one.is_held() {
                    taken.push((one.lock, one.mode));
                }
                one.is_open() && !one.is_held()
            });
        }
        state.tried.retain(|_, tries| !tries.is_empty());
        taken.sort_unstable();
        taken.dedup();
        taken.into_iter().for_each(|(lock, mode)| self.acquire(lock, mode, state));
    }
}

impl Flow for Holding<'_> {
    type State = State;

    fn join(&self, into: &mut State, other: &State) -> bool {
        let before = into.clone();
        into.held.retain(|lock, hold| match other.held.get(lock) {
            Some(theirs) => {
                *hold = Hold { mode: hold.mode.min(theirs.mode), count: hold.count.min(theirs.count) };
                true
            }
            None => false,
        });
        into.tried.retain(|local, tries| other.tried.get(local) == Some(tries));
        into.invalid.extend(&other.invalid);
        into.bound.retain(|param, address| other.bound.get(param) == Some(address));
        *into != before
    }

    fn step(&self, place: Place, op: &Op, state: &mut State) {
        let function = place.func;
        for (lock, effect) in self.overwrites.by(place, &state.bound) {
            if effect.releases {
                state.forget(lock);
            }
            if effect.invalidates {
                state.invalid.insert(lock);
            } else if effect.makes_valid {
                state.invalid.remove(&lock);
            }
        }
        let tried = match op {
            Op::Assign { dst, value } => Some((*dst, self.tried(function, value, state))),
            _ => None,
        };
        op.for_each_result(|dst| drop(state.tried.remove(&dst)));
        if let Some((dst, tried)) = tried.filter(|(_, tried)| !tried.is_empty()) {
            state.tried.insert(dst, tried);
        }
        if let Op::Sync { dst, op, at } = op {
            self.sync(function, op, at, *dst, state);
        }
    }

    fn enter(&self, place: Place, args: &[Expr], callee: FuncId, state: &State) -> State {
        let program = self.facts.program();
        let mut bound = BTreeMap::new();
        for (param, arg) in (0..).map(LocalId).zip(args).filter(|(param, _)| self.params.matters(callee, *param)) {
            let ty = arg.ty(&program.functions[place.func].locals, program.model);
            if program.functions[callee].locals.get(param).is_some_and(|local| local.ty == ty) {
                bound.extend(self.address(place.func, arg, state).map(|address| (param, address)));
            }
        }
        State { held: state.held.clone(), tried: BTreeMap::new(), invalid: state.invalid.clone(), bound }
    }

    fn leave(&self, dst: Option<LocalId>, before: &State, exits: &Exits<State>) -> State {
        let mut all = exits.values();
        let mut after = all.next().unwrap_or(before).clone();
        all.for_each(|exit| _ = self.join(&mut after, exit));
        let mut tried = after.tried.remove(&RESULT).unwrap_or_default();
        // Where a lock is held at some ends only, the constants that are returned there say where.
        let constants: Option<Vec<u128>> = exits.keys().copied().collect();
        let somewhere: BTreeSet<Lock> = exits.values().flat_map(|exit| exit.held.keys().copied()).collect();
        for lock in somewhere.into_iter().filter(|lock| !after.held.contains_key(lock)) {
            let Some(constants) = constants.as_ref() else { break };
            let held = exits.values().map(|exit| exit.held.get(&lock));
            let mode = held.clone().flatten().map(|hold| hold.mode).min().unwrap_or(Mode::Shared);
            let cases = constants.iter().copied().zip(held.map(|hold| hold.is_some())).collect();
            tried.push(Try { lock, mode, cases });
        }
        after.tried.clear();
        if let Some(dst) = dst.filter(|_| !tried.is_empty()) {
            after.tried.insert(dst, tried);
        }
        after.bound = before.bound.clone();
        after
    }

    fn start(&self, place: Place, args: &[Expr], callee: FuncId, state: &State) -> Option<State> {
        Some(State { held: BTreeMap::new(), ..self.enter(place, args, callee, state) })
    }

    fn branch(&self, from: (FuncId, BlockId), end: &Terminator, to: BlockId, state: &State) -> Option<State> {
        let mut state = state.clone();
        if state.tried.is_empty() {
            return Some(state);
        }
        match &end.kind {
            TerminatorKind::Branch { cond, then, otherwise } if then != otherwise => {
                self.refine(from.0, cond, |bits| (bits & 1 == 1) == (to == *then), &mut state);
            }
            TerminatorKind::Switch { value, cases, default } => {
                let target =
                    |bits| cases.iter().find(|(case, _)| *case == bits).map_or(*default, |(_, target)| *target);
                self.refine(from.0, value, |bits| target(bits) == to, &mut state);
            }
            _ => {}
        }
        Some(state)
    }

    fn exit(&self, function: FuncId, value: Option<&Expr>, state: &State) -> (Option<u128>, State) {
        let tried = value.map(|value| self.tried(function, value, state)).unwrap_or_default();
        let constant = match value {
            Some(Expr::Const { bits, .. }) => Some(*bits),
            _ => None,
        };
        let mut end = State { tried: BTreeMap::new(), bound: BTreeMap::new(), ..state.clone() };
        if !tried.is_empty() {
            end.tried.insert(RESULT, tried);
        }
        let objects = self.facts.points_to().objects();
        let is_own =
            |lock: &Lock| matches!(objects[lock.address.object], AbstractObject::Slot(of, _) if of == function);
        end.held.retain(|lock, _| !is_own(lock));
        (constant, end)
    }
}

/// Registers that hold a parameter plus a number of bytes.
pub(super) struct Origins<'a> {
    facts: &'a Facts<'a>,
    by_function: IndexVec<FuncId, Vec<Origin>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Origin {
    None,
    Parameter(LocalId, Number),
    Other,
}

impl Origin {
    fn join(&self, other: &Origin) -> Origin {
        match (self, other) {
            (Origin::None, origin) | (origin, Origin::None) => origin.clone(),
            (Origin::Parameter(left, offset), Origin::Parameter(right, other)) if left == right => {
                let mut offset = offset.clone();
                offset.join_with(other);
                Origin::Parameter(*left, offset)
            }
            _ => Origin::Other,
        }
    }
}

impl<'a> Origins<'a> {
    pub fn new(facts: &'a Facts<'a>) -> Origins<'a> {
        let none = |function: &Function| vec![Origin::None; function.locals.len()];
        let by_function = facts.program().functions.iter().map(none).collect();
        let mut origins = Origins { facts, by_function };
        for id in facts.program().functions.ids() {
            origins.find(id);
        }
        origins
    }

    fn find(&mut self, id: FuncId) {
        let code = &self.facts.program().functions[id];
        for param in (0..code.params).map(LocalId) {
            self.by_function[id][param.index()] = Origin::Parameter(param, Number::constant(0));
        }
        let mut changed = code.params > 0;
        while changed {
            changed = false;
            for_each_op(id, code, |_, op| {
                op.for_each_result(|dst| {
                    let origin = match op {
                        Op::Assign { value, .. } => self.expression(id, value),
                        _ => Origin::Other,
                    };
                    let joined = self.by_function[id][dst.index()].join(&origin);
                    changed |= joined != self.by_function[id][dst.index()];
                    self.by_function[id][dst.index()] = joined;
                });
            });
        }
    }

    fn expression(&self, function: FuncId, expr: &Expr) -> Origin {
        match expr {
            Expr::Local(local) => self.by_function[function][local.index()].clone(),
            Expr::Const { ty: Type::Ptr, bits: 0 } => Origin::None,
            Expr::Binary(BinaryOp::PtrAdd, operands) => match self.expression(function, &operands[0]) {
                Origin::Parameter(param, offset) => {
                    let by = self.facts.offsets().number(self.facts.program(), function, &operands[1]);
                    let bits = self.facts.program().model.pointer_bits();
                    Origin::Parameter(param, offset.add(&by).truncate(bits))
                }
                origin => origin,
            },
            Expr::Select(parts) => self.expression(function, &parts[1]).join(&self.expression(function, &parts[2])),
            _ => Origin::Other,
        }
    }

    /// The parameter that a pointer is computed from, and how far from it the pointer may be.
    pub fn of(&self, function: FuncId, pointer: &Expr) -> Option<(LocalId, Number)> {
        match self.expression(function, pointer) {
            Origin::Parameter(param, offset) => Some((param, offset)),
            _ => None,
        }
    }
}

/// The parameters that functions lock, unlock or overwrite, or pass on to functions that do.
struct LockParameters<'a> {
    origins: Origins<'a>,
    matters: BTreeSet<(FuncId, LocalId)>,
}

impl<'a> LockParameters<'a> {
    fn new(facts: &'a Facts<'a>, overwrites: &Overwrites) -> LockParameters<'a> {
        let mut result = LockParameters { origins: Origins::new(facts), matters: overwrites.parameters().collect() };
        let functions = &facts.program().functions;
        for (id, code) in functions.iter_enumerated() {
            for_each_op(id, code, |_, op| {
                let Op::Sync { op, at, .. } = op else { return };
                let operand = match op {
                    SyncOp::CondSleep { mutex } => mutex,
                    _ => at,
                };
                // A parameter that is the same in all calls need not be told apart.
                if facts.address(id, operand).is_none() {
                    result.matters.extend(result.origins.of(id, operand).map(|(param, _)| (id, param)));
                }
            });
        }
        let mut changed = true;
        while changed {
            let before = result.matters.len();
            for edge in facts.calls().edges() {
                let op = facts.program().op(edge.place);
                let Some(Op::Call { args, .. } | Op::Spawn { args, .. }) = op else { continue };
                for (param, arg) in (0..).map(LocalId).zip(args) {
                    if result.matters(edge.callee, param) && facts.address(edge.place.func, arg).is_none() {
                        let origin = result.origins.of(edge.place.func, arg);
                        result.matters.extend(origin.map(|(param, _)| (edge.place.func, param)));
                    }
                }
            }
            changed = result.matters.len() > before;
        }
        result
    }

    fn matters(&self, function: FuncId, param: LocalId) -> bool {
        self.matters.contains(&(function, param))
    }
}
