//! Waits on condition variables for which it matters, where deadlocks are concerned, that they may end without a signal.
//!
//! A deadlock counts those as stuck who sleep and have been given no signal. That threads wake up without one on the way
//! there makes no difference in the usual kind of wait,
//!
//! `lock(m); while (!ready) wait(c, m); …`
//!
//! if whoever signals holds the mutex, too. Take an execution with a round of this loop that began with such a wake-up
//! W, and went by the relock R back to a sleep S, since the round has no other effect. Without W and all up to S the
//! thread sleeps on instead. The only difference is a signal between W and S that found nobody else asleep: it was lost,
//! and now it wakes the thread. It was given by a thread that held the mutex, so before R. Then let it wake the thread in
//! the place of W: R and what follows come after it, as before.
//!
//! A wait that is not in a loop is no such wait: what comes after it is done although nobody said so.

use crate::analysis::callgraph::CallKind;
use crate::analysis::facts::Facts;
use crate::analysis::weak_topological_order::{Element, Loop};
use crate::program::{BlockId, Body, FuncId, Instr, Op, Place, Span, SyncOp};

/// A wait at which a wake-up without a signal may lead to a deadlock that there is not otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Matters {
    pub span: Span,
    /// Whether the step of waking up may be made more than once.
    pub is_repeated: bool,
}

/// All of them.
pub fn where_unasked_wakeups_matter(facts: &Facts<'_>) -> Vec<Matters> {
    let sleeps = steps(facts, |op| matches!(op, SyncOp::CondSleep { .. }));
    let signals = steps(facts, |op| matches!(op, SyncOp::CondSignal | SyncOp::CondBroadcast));
    let mut found = Vec::new();
    for (place, instr) in sleeps {
        let innermost = innermost_loop(facts.weak_topological_order(place.func), place.block);
        let is_usual = innermost.is_some_and(|round| only_waits(facts, place.func, round))
            && signals.iter().all(|(signal, given)| {
                !may_be_same(facts, (place.func, instr), (signal.func, given))
                    || facts.locksets().excludes(place, *signal)
            });
        if !is_usual {
            found.push(Matters { span: instr.span, is_repeated: is_repeated(facts, place) });
        }
    }
    found
}

/// The places of steps of a kind in functions that may run.
pub fn sync_places(facts: &Facts<'_>, is_one: impl Fn(&SyncOp) -> bool) -> Vec<Place> {
    steps(facts, is_one).into_iter().map(|(place, _)| place).collect()
}

/// The steps of a kind in functions that may run.
fn steps<'p>(facts: &Facts<'p>, is_one: impl Fn(&SyncOp) -> bool) -> Vec<(Place, &'p Instr)> {
    let mut found = Vec::new();
    for (func, function) in facts.program().functions.iter_enumerated() {
        let Body::Blocks(blocks) = &function.body else { continue };
        if !facts.calls().is_reachable(func) {
            continue;
        }
        for (block, code) in blocks.iter_enumerated() {
            for (index, instr) in code.instrs.iter().enumerate() {
                if matches!(&instr.op, Op::Sync { op, .. } if is_one(op)) {
                    found.push((Place { func, block, index: index as u32 }, instr));
                }
            }
        }
    }
    found
}

fn may_be_same(facts: &Facts<'_>, one: (FuncId, &Instr), other: (FuncId, &Instr)) -> bool {
    let (Op::Sync { at: sleep, .. }, Op::Sync { at: signal, .. }) = (&one.1.op, &other.1.op) else { return false };
    let points_to = facts.points_to();
    points_to.points_to(one.0, sleep).intersects(&points_to.points_to(other.0, signal))
}

fn innermost_loop(elements: &[Element], block: BlockId) -> Option<&Loop> {
    elements.iter().find_map(|element| match element {
        Element::Loop(round) if round.blocks.contains(&block) => {
            Some(innermost_loop(&round.elements, block).unwrap_or(round))
        }
        _ => None,
    })
}

/// Whether a round does nothing but wait and look.
fn only_waits(facts: &Facts<'_>, func: FuncId, round: &Loop) -> bool {
    let Body::Blocks(blocks) = &facts.program().functions[func].body else { return false };
    let is_harmless = |op: &Op| match op {
        Op::Assign { .. } | Op::Load { .. } | Op::Fence { .. } | Op::Yield => true,
        Op::Sync { op, .. } => {
            matches!(op, SyncOp::CondSleep { .. } | SyncOp::CondWake { deadline: None, .. } | SyncOp::CondRelock)
        }
        _ => false,
    };
    round.blocks.iter().flat_map(|block| &blocks[*block].instrs).all(|instr| is_harmless(&instr.op))
}

/// Whether a thread may come to a place more than a few times: it lies in a loop, or is called from one, or by itself.
fn is_repeated(facts: &Facts<'_>, place: Place) -> bool {
    let mut seen = vec![place];
    let mut open = vec![place];
    while let Some(at) = open.pop() {
        let in_loop = innermost_loop(facts.weak_topological_order(at.func), at.block).is_some();
        if in_loop || facts.calls().is_recursive(at.func) {
            return true;
        }
        for edge in facts.calls().edges().iter().filter(|edge| edge.callee == at.func && edge.kind == CallKind::Call) {
            if !seen.contains(&edge.place) {
                seen.push(edge.place);
                open.push(edge.place);
            }
        }
    }
    false
}
