//! Barriers: threads that have passed a different number of them are not in parallel.
//!
//! A barrier for `n` threads that at most `n` threads ever wait at opens only when all of them wait. So whenever two of
//! them are not waiting, they have passed it equally often; and one that waits has passed it as often as the others, or
//! once less. For each such barrier and each point we count between which numbers of times a thread has passed it, up
//! to a few: a loop makes it unknown how often.
//!
//! What it takes for a barrier to be of use, beside a certain address: it is initialised by one instruction that is
//! executed once; nothing else writes its bytes; every wait at it is complete (arrives, and leaves with its ticket as
//! the next step); and each of the roots that may wait at it is one thread, all together not more than it waits for.

use std::collections::BTreeMap;

use super::joins::{SYNC_BYTES, Writers};
use crate::analysis::contexts::{Exits, Flow, Points, solve};
use crate::analysis::facts::Facts;
use crate::analysis::number::Number;
use crate::analysis::offsets::Address;
use crate::analysis::points_to::{AbstractObject, for_each_op};
use crate::analysis::threads::{RootId, RootSet};
use crate::program::*;

/// Passing more often than this is not counted.
const MOST: u8 = 8;

/// Between which numbers of times a thread has passed a barrier. `MOST` stands for all from there on.
type Passed = BTreeMap<Address, (u8, u8)>;

#[derive(Clone, Debug)]
pub(super) struct Phases {
    barriers: BTreeMap<Address, RootSet>,
    points: Points<Passed>,
    /// Where threads wait, having arrived.
    waits: BTreeMap<Place, Address>,
}

impl Phases {
    /// Whether two threads cannot be at these points at the same time.
    pub fn apart(&self, left: (RootId, Place), right: (RootId, Place)) -> bool {
        if self.barriers.is_empty() || left.0 == right.0 {
            return false;
        }
        let users = self.barriers.iter().filter(|(_, users)| users.contains(left.0) && users.contains(right.0));
        users.map(|(barrier, _)| *barrier).any(|barrier| {
            match (self.passed(left, barrier), self.passed(right, barrier)) {
                (Some(left), Some(right)) => left.1 < right.0 || right.1 < left.0,
                _ => false,
            }
        })
    }

    fn passed(&self, at: (RootId, Place), barrier: Address) -> Option<(u8, u8)> {
        let (least, most) = self.points.at(at.0, at.1)?.get(&barrier).copied().unwrap_or((0, 0));
        let waits = self.waits.get(&at.1) == Some(&barrier);
        let most = if waits { most.saturating_add(1) } else { most };
        Some((least, if most >= MOST { u8::MAX } else { most }))
    }
}

pub(super) fn phases(facts: &Facts) -> Phases {
    let mut result = Phases { barriers: BTreeMap::new(), points: Points::new(), waits: BTreeMap::new() };
    let Some(uses) = Uses::new(facts) else { return result };
    result.barriers = uses.barriers;
    if result.barriers.is_empty() {
        return result;
    }
    result.waits = uses.leaves;
    let mut users = RootSet::new();
    result.barriers.values().for_each(|roots| _ = users.union_with(roots));
    for root in users.iter() {
        let solution = solve(facts, Counting { waits: &result.waits }, [(root, Passed::new())]);
        result.points.extend(solution.points(Passed::clone, |into, other| _ = join(into, other)));
    }
    result
}

/// How barriers are used.
struct Uses {
    barriers: BTreeMap<Address, RootSet>,
    leaves: BTreeMap<Place, Address>,
}

impl Uses {
    /// None if there are no barriers.
    fn new(facts: &Facts) -> Option<Uses> {
        let mut arrivals: Vec<(Place, Option<Address>)> = Vec::new();
        let mut leaves = BTreeMap::new();
        let mut inits: BTreeMap<Address, i64> = BTreeMap::new();
        for (id, function) in facts.program().functions.iter_enumerated() {
            if !facts.points_to().is_reached(id) {
                continue;
            }
            for_each_op(id, function, |place, op| {
                let Op::Sync { op, at, .. } = op else { return };
                let address = facts.address(id, at);
                match op {
                    SyncOp::BarrierArrive => arrivals.push((place, address)),
                    SyncOp::BarrierLeave { .. } => drop(address.map(|address| leaves.insert(place, address))),
                    SyncOp::BarrierInit { count } => {
                        let count = facts.offsets().number(facts.program(), id, count);
                        let least = count.few().and_then(|values| values.iter().min().copied());
                        if let (Some(address), Some(least)) = (address, least) {
                            inits.insert(address, least);
                        }
                    }
                    _ => {}
                }
            });
        }
        if arrivals.is_empty() || inits.is_empty() {
            return None;
        }
        let writers = Writers::new(facts);
        let mut barriers = BTreeMap::new();
        for (address, count) in inits {
            let mut users = RootSet::new();
            for (place, _) in arrivals.iter().filter(|(_, at)| *at == Some(address)) {
                users.extend(facts.threads().running(place.func).iter().copied());
            }
            let are_single = users.iter().all(|root| !facts.threads().roots()[root].is_replicated);
            if are_single && users.len() as i64 <= count && is_used_properly(facts, &writers, address) {
                barriers.insert(address, users);
            }
        }
        Some(Uses { barriers, leaves })
    }
}

/// Whether everything that may write to a barrier is a complete wait at it, its one initialisation, or its end.
fn is_used_properly(facts: &Facts, writers: &Writers, address: Address) -> bool {
    if let AbstractObject::Static(id) = facts.points_to().objects()[address.object] {
        let is_zero = |datum: &Datum| matches!(datum, Datum::Bytes(bytes) if bytes.iter().all(|byte| *byte == 0));
        if !facts.program().objects[id].init.iter().all(|(_, datum)| is_zero(datum)) {
            return false;
        }
    }
    let mut inits = 0;
    let is_proper = |(place, op): &(Place, &Op)| {
        let is_this = |at: &Expr| facts.address(place.func, at) == Some(address);
        match op {
            Op::Free { .. } | Op::BeginLife { .. } | Op::EndLife { .. } => true,
            Op::Sync { op: SyncOp::BarrierInit { .. }, at, .. } if is_this(at) => {
                inits += 1;
                inits == 1 && facts.executions().of(*place) != crate::analysis::executions::Times::Many
            }
            Op::Sync { op: SyncOp::BarrierDestroy, at, .. } if is_this(at) => true,
            Op::Sync { op: SyncOp::BarrierArrive, dst, at } if is_this(at) => {
                is_followed_by_leave(facts, *place, *dst, at)
            }
            Op::Sync { op: SyncOp::BarrierLeave { .. }, at, .. } if is_this(at) => follows_arrival(facts, *place, at),
            _ => !may_write(facts, place.func, op, address),
        }
    };
    writers.of(address.object).iter().all(is_proper)
}

/// Whether something may write to the bytes of a synchronisation object.
fn may_write(facts: &Facts, function: FuncId, op: &Op, address: Address) -> bool {
    let target = Number::constant(address.offset);
    let touches = |pointer: &Expr, len: u64| {
        facts.offsets().number(facts.program(), function, pointer).overlaps(len, &target, SYNC_BYTES)
    };
    match op {
        Op::Sync { op: SyncOp::CondSleep { mutex } | SyncOp::CondWake { mutex, .. }, at, .. } => {
            touches(at, SYNC_BYTES) || touches(mutex, SYNC_BYTES)
        }
        Op::Sync { at, .. } => touches(at, SYNC_BYTES),
        _ => match op.access() {
            Some((access, _)) => touches(&access.ptr, access.ty.bytes(facts.program().model)),
            None => true,
        },
    }
}

fn neighbour<'a>(facts: &'a Facts, place: Place, by: i32) -> Option<&'a Op> {
    let index = place.index.checked_add_signed(by)?;
    facts.program().op(Place { index, ..place })
}

fn is_followed_by_leave(facts: &Facts, place: Place, dst: Option<LocalId>, at: &Expr) -> bool {
    let Some(Op::Sync { op: SyncOp::BarrierLeave { ticket }, at: next, .. }) = neighbour(facts, place, 1) else {
        return false;
    };
    next == at && dst.is_some_and(|dst| *ticket == Expr::Local(dst) && !mentions(at, dst))
}

fn follows_arrival(facts: &Facts, place: Place, at: &Expr) -> bool {
    let arrival = neighbour(facts, place, -1);
    matches!(arrival, Some(Op::Sync { op: SyncOp::BarrierArrive, at: before, .. }) if before == at)
}

fn mentions(expr: &Expr, local: LocalId) -> bool {
    match expr {
        Expr::Local(id) => *id == local,
        Expr::Const { .. } | Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => false,
        Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => mentions(operand, local),
        Expr::Binary(_, operands) => operands.iter().any(|operand| mentions(operand, local)),
        Expr::Select(parts) => parts.iter().any(|part| mentions(part, local)),
    }
}

struct Counting<'a> {
    waits: &'a BTreeMap<Place, Address>,
}

fn join(into: &mut Passed, other: &Passed) -> bool {
    let mut changed = false;
    let barriers: Vec<Address> = into.keys().chain(other.keys()).copied().collect();
    for barrier in barriers {
        let mine = into.get(&barrier).copied().unwrap_or((0, 0));
        let theirs = other.get(&barrier).copied().unwrap_or((0, 0));
        let both = (mine.0.min(theirs.0), mine.1.max(theirs.1));
        changed |= both != mine;
        into.insert(barrier, both);
    }
    changed
}

impl Flow for Counting<'_> {
    type State = Passed;

    fn join(&self, into: &mut Passed, other: &Passed) -> bool {
        join(into, other)
    }

    fn step(&self, place: Place, _: &Op, state: &mut Passed) {
        if let Some(barrier) = self.waits.get(&place) {
            let (least, most) = state.get(barrier).copied().unwrap_or((0, 0));
            state.insert(*barrier, ((least + 1).min(MOST), (most + 1).min(MOST)));
        }
    }

    fn enter(&self, _: Place, _: &[Expr], _: FuncId, state: &Passed) -> Passed {
        state.clone()
    }

    fn leave(&self, _: Option<LocalId>, before: &Passed, exits: &Exits<Passed>) -> Passed {
        let mut exits = exits.values();
        let mut all = exits.next().unwrap_or(before).clone();
        exits.for_each(|exit| _ = join(&mut all, exit));
        all
    }

    fn start(&self, _: Place, _: &[Expr], _: FuncId, _: &Passed) -> Option<Passed> {
        None
    }

    fn branch(&self, _: (FuncId, BlockId), _: &Terminator, _: BlockId, state: &Passed) -> Option<Passed> {
        Some(state.clone())
    }

    fn exit(&self, _: FuncId, _: Option<&Expr>, state: &Passed) -> (Option<u128>, Passed) {
        (None, state.clone())
    }
}
