//! No thread waits for ever, with any number of threads.
//!
//! In a deadlock some threads wait for each other: each for a lock that another of them holds, or for the end of another of
//! them. So there is a circle of places, at all of which threads are at the same time, each waiting for what the next one
//! may hold there (`may_hold`). We draw all the edges that circles could be made of: between the places at which threads
//! wait. There is no edge where creation, joins and barriers keep the two threads apart, or a lock that both hold for
//! certain (a *gate* lock). If no circle is left, and no thread may take a lock that it may hold, there is no deadlock.
//!
//! This takes that everything else a thread may wait for is sure to come. Signals, semaphores and barriers may come from
//! anybody, or from nobody: a program with such waits is not proved, and the report says which they are. Nor is one in which a
//! thread may end with a lock that others want.

use crate::explain;
use crate::may_hold::{Held, MayHold, taken};
use crate::outside;
use crate::{OTHER_ENGINE, Unproved, assumed_successes};
use leno_engine::{Assumption, Statistics};
use leno_ir::analysis::facts::Facts;
use leno_ir::analysis::number::Number;
use leno_ir::analysis::points_to::{AbstractObject, ObjectSet};
use leno_ir::analysis::threads::RootId;
use leno_ir::graph::Rows;
use leno_ir::index::Idx;
use leno_ir::index_type;
use leno_ir::program::{Body, Expr, FuncId, Op, Place, SyncOp, TerminatorKind};
use std::collections::{BTreeMap, BTreeSet};

index_type!(
    /// A place at which a thread of a root may wait.
    WaitId,
    "wait"
);

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum For {
    Lock,
    /// The end of a thread of this root; none: of any.
    End(Option<RootId>),
}

#[derive(Debug)]
struct Wait {
    root: RootId,
    place: Place,
    what: For,
    holds: BTreeSet<Held>,
}

/// Bytes in which a lock may be.
struct Where {
    objects: ObjectSet,
    at: Number,
}

/// Proves that there is no deadlock, under the assumptions that are given back.
pub fn prove(facts: &Facts<'_>, statistics: &mut Statistics) -> Result<Vec<Assumption>, Unproved> {
    if outside::is_open(facts) {
        let reason = "the program calls a function that Leno does not know, which may wait for anything";
        return Err(Unproved::because(reason, "add the file that defines it"));
    }
    if facts.program().entry.is_none() {
        return Err(Unproved::because("the program has no `main`", OTHER_ENGINE));
    }
    let search = Search { facts, may_hold: MayHold::new(facts) };
    let (waits, mut problems) = search.waits();
    statistics.count("places at which threads wait", waits.len() as u64);
    let edges = search.edges(&waits);
    statistics.count("pairs of waits", edges.len() as u64);
    problems.extend(search.waits_for_itself(&waits));
    problems.extend(search.circles(&waits, &edges));
    if problems.is_empty() {
        return Ok(assumed_successes(facts));
    }
    let details: Vec<String> = problems.into_iter().collect();
    let reason = match details.len() {
        1 => "one way in which threads may wait for ever was not excluded".to_string(),
        several => format!("{several} ways in which threads may wait for ever were not excluded"),
    };
    Err(Unproved { details, ..Unproved::because(reason, "look for a deadlock with leno check --property deadlock") })
}

struct Search<'a, 'p> {
    facts: &'a Facts<'p>,
    may_hold: MayHold<'a, 'p>,
}

impl Search<'_, '_> {
    fn at(&self, place: Place) -> String {
        explain::at(self.facts.program(), place)
    }

    fn op(&self, place: Place) -> Option<&Op> {
        self.facts.program().op(place)
    }

    /// All places at which threads may wait for locks or for each other; and what else they may wait for.
    fn waits(&self) -> (Vec<Wait>, BTreeSet<String>) {
        let (mut waits, mut problems) = (Vec::new(), BTreeSet::new());
        let threads = self.facts.threads();
        for root in threads.roots().ids() {
            let wanted = |place: Place| self.facts.parallel().is_reached(root, place) && self.is_wanted(root, place);
            for (place, holds) in self.may_hold.of_root(root, wanted) {
                let Some(op) = self.op(place) else {
                    problems.extend(self.ends_with_locks(place, &holds));
                    continue;
                };
                match op {
                    Op::Join { .. } => {
                        let what = For::End(self.facts.parallel().joined_at(place));
                        waits.push(Wait { root, place, what, holds });
                    }
                    Op::Sync { op: SyncOp::CondWake { .. }, .. } => {
                        problems.insert(format!("the wait for a signal at {} may last for ever", self.at(place)));
                    }
                    Op::Sync { op: SyncOp::SemWait, .. } => {
                        problems.insert(format!("the wait for a semaphore at {} may last for ever", self.at(place)));
                    }
                    Op::Sync { op: SyncOp::BarrierLeave { .. }, .. } => {
                        problems.insert(format!("the wait at a barrier at {} may last for ever", self.at(place)));
                    }
                    _ => waits.push(Wait { root, place, what: For::Lock, holds }),
                }
            }
        }
        (waits, problems)
    }

    /// Whether a thread may wait at a place, or end there.
    fn is_wanted(&self, root: RootId, place: Place) -> bool {
        let thread = &self.facts.threads().roots()[root];
        let Some(op) = self.op(place) else {
            let Body::Blocks(blocks) = &self.facts.program().functions[place.func].body else { return false };
            return match blocks[place.block].terminator.kind {
                TerminatorKind::ThreadExit(_) => true,
                // When the first thread returns the program ends.
                TerminatorKind::Return(_) => thread.created_at.is_some() && thread.function == place.func,
                _ => false,
            };
        };
        match op {
            Op::Join { .. } => true,
            Op::Sync { op: SyncOp::CondWake { deadline, .. }, .. } => deadline.is_none(),
            Op::Sync { op: SyncOp::SemWait | SyncOp::BarrierLeave { .. }, .. } => true,
            // (An attempt does not wait; but it may take a recursive lock once more.)
            _ => taken(op).is_some(),
        }
    }

    fn ends_with_locks(&self, place: Place, holds: &BTreeSet<Held>) -> Option<String> {
        let held = holds.first()?;
        let lock = self.name(held);
        Some(format!("a thread may end at {} with the lock {lock}", self.at(place)))
    }

    fn name(&self, held: &Held) -> String {
        match held {
            Held::At(address) => match self.facts.points_to().objects()[address.object] {
                AbstractObject::Static(id) => format!("`{}`", self.facts.program().objects[id].name),
                AbstractObject::Slot(func, slot) => {
                    format!("`{}`", self.facts.program().functions[func].slots[slot].name)
                }
                _ => "on the heap".to_string(),
            },
            Held::Named(place) | Held::Unnamed(place) => format!("taken at {}", self.at(*place)),
        }
    }

    fn place_of(&self, func: FuncId, pointer: &Expr) -> Where {
        let objects = self.facts.points_to().points_to(func, pointer).into_owned();
        Where { objects, at: self.facts.offsets().number(self.facts.program(), func, pointer) }
    }

    fn is_same(&self, held: &Held, wanted: &Where) -> bool {
        let (objects, at) = match held {
            Held::At(address) => (ObjectSet::from_iter([address.object]), Number::constant(address.offset)),
            Held::Named(place) | Held::Unnamed(place) => match self.op(*place).and_then(taken) {
                Some(operand) => {
                    let taken = self.place_of(place.func, operand);
                    (taken.objects, taken.at)
                }
                None => return true,
            },
        };
        objects.intersects(&wanted.objects) && at.overlaps(1, &wanted.at, 1)
    }

    /// What a wait for a lock is for; none for other waits.
    fn wanted(&self, wait: &Wait) -> Option<Where> {
        let operand = self.op(wait.place).and_then(taken)?;
        (wait.what == For::Lock).then(|| self.place_of(wait.place.func, operand))
    }

    fn is_attempt(&self, place: Place) -> bool {
        let is = |op: &SyncOp| matches!(op, SyncOp::TryLock(_) | SyncOp::TryReadLock | SyncOp::TryWriteLock);
        matches!(self.op(place), Some(Op::Sync { op, .. }) if is(op))
    }

    /// Locks that a thread may take while it holds them, and ends of its own that it may wait for.
    fn waits_for_itself(&self, waits: &[Wait]) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let asks_for_itself = self.asks_for_itself();
        for wait in waits {
            match wait.what {
                For::Lock => {
                    let Some(wanted) = self.wanted(wait) else { continue };
                    if let Some(held) = wait.holds.iter().find(|held| self.is_same(held, &wanted)) {
                        let (at, lock) = (self.at(wait.place), self.name(held));
                        found.insert(format!("at {at} a thread may hold the lock {lock} already"));
                    }
                }
                For::End(joined) => {
                    let is_first = self.facts.threads().roots()[wait.root].created_at.is_none();
                    let may_be_own = match joined {
                        Some(root) => root == wait.root,
                        None => asks_for_itself || !is_first,
                    };
                    if may_be_own {
                        found.insert(format!("at {} a thread may wait for its own end", self.at(wait.place)));
                    }
                }
            }
        }
        found
    }

    /// Whether threads ask for their own handles.
    fn asks_for_itself(&self) -> bool {
        let functions = self.facts.program().functions.iter_enumerated();
        let mut bodies =
            functions.filter(|(id, _)| self.facts.calls().is_reachable(*id)).filter_map(|(_, it)| match &it.body {
                Body::Blocks(blocks) => Some(blocks),
                Body::External(_) => None,
            });
        bodies.any(|blocks| {
            blocks.iter().any(|block| block.instrs.iter().any(|instr| matches!(instr.op, Op::ThreadSelf { .. })))
        })
    }

    /// Which waits may be for a thread that waits itself.
    fn edges(&self, waits: &[Wait]) -> Vec<(WaitId, WaitId)> {
        let mut edges = Vec::new();
        for (from, wait) in waits.iter().enumerate().filter(|(_, wait)| !self.is_attempt(wait.place)) {
            let wanted = self.wanted(wait);
            for (to, other) in waits.iter().enumerate().filter(|(_, other)| !self.is_attempt(other.place)) {
                let is_for = match (&wanted, wait.what) {
                    (Some(wanted), _) => other.holds.iter().any(|held| self.is_same(held, wanted)),
                    (None, For::End(joined)) => joined.is_none_or(|root| root == other.root),
                    (None, For::Lock) => true,
                };
                if is_for && self.may_be_together(wait, other) {
                    edges.push((WaitId::new(from), WaitId::new(to)));
                }
            }
        }
        edges
    }

    fn may_be_together(&self, one: &Wait, other: &Wait) -> bool {
        let (left, right) = ((one.root, one.place), (other.root, other.place));
        self.facts.parallel().may_overlap(left, right) && !self.facts.locksets().keep_apart(left, right)
    }

    /// Waits that may be for each other in a circle.
    fn circles(&self, waits: &[Wait], edges: &[(WaitId, WaitId)]) -> BTreeSet<String> {
        let rows = Rows::new(waits.len(), edges);
        let mut found = BTreeSet::new();
        for component in rows.components().iter() {
            let is_circle = component.len() > 1 || rows[component[0]].contains(&component[0]);
            if !is_circle {
                continue;
            }
            let places: BTreeMap<Place, ()> = component.iter().map(|id| (waits[id.index()].place, ())).collect();
            let places: BTreeSet<String> = places.keys().map(|place| self.at(*place)).collect();
            let list = places.into_iter().collect::<Vec<String>>().join(", ");
            found.insert(format!("threads may wait for each other at {list}"));
        }
        found
    }
}
