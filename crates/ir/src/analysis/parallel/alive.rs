//! Which threads may be alive that a thread has created?
//!
//! For each root, along the paths of one thread of it: how many threads of which other roots has it created, itself or
//! through threads that it created, that are not known to have ended? It is enough to count none, one, and more.
//! - A creation adds the thread, and with it all threads that this one may ever create.
//! - A join that is certain to be of a thread of some root removes that thread if it is the only one: a join succeeds
//!   only for a thread that was not joined before. With it go the threads that it alone creates and never leaves
//!   behind.
//! - A loop that creates threads, all of which another loop joins, counts as one creation and one join (see
//!   `fork_loops`).
//!
//! The join must be of a thread that is counted here: the thread that joins has created all threads of that root there
//! are, or the very activation that joins has created it. For the latter, the handles in registers and in slots whose
//! addresses go nowhere are followed from step to step, so that one variable may hold the handles of several threads
//! one after the other. For all other handles `joins` says where they come from.

use std::collections::BTreeMap;

use super::fork_loops::ForkLoops;
use super::joins::{Joined, joined_roots};
use crate::analysis::contexts::{Exits, Flow, Points, solve};
use crate::analysis::facts::Facts;
use crate::analysis::threads::{RootId, RootSet};
use crate::graph::Rows;
use crate::index::Idx;
use crate::program::*;

/// Threads that may be alive, by root.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Alive {
    count: BTreeMap<RootId, Count>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Count {
    /// One thread, or one group of threads from one loop.
    One,
    More,
}

impl Alive {
    pub fn contains(&self, root: RootId) -> bool {
        self.count.contains_key(&root)
    }

    pub fn iter(&self) -> impl Iterator<Item = RootId> + '_ {
        self.count.keys().copied()
    }

    pub fn is_empty(&self) -> bool {
        self.count.is_empty()
    }

    fn add(&mut self, root: RootId, count: Count) {
        self.count.entry(root).and_modify(|count| *count = Count::More).or_insert(count);
    }

    fn join(&mut self, other: &Alive) -> bool {
        let mut changed = false;
        for (root, count) in &other.count {
            let mine = self.count.get(root).copied();
            if mine.is_none_or(|mine| mine < *count) {
                self.count.insert(*root, *count);
                changed = true;
            }
        }
        changed
    }
}

/// Where an activation may keep a handle that no other can change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Cell {
    Register(LocalId),
    /// A word of a slot whose address goes nowhere.
    Slot(SlotId, i64),
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct State {
    alive: Alive,
    /// The instructions that created the threads whose handles are there.
    handles: BTreeMap<Cell, Place>,
}

struct Creation<'a> {
    facts: &'a Facts<'a>,
    joins: &'a BTreeMap<Place, Joined>,
    loops: &'a ForkLoops,
    root: RootId,
    /// By root: the threads that may be alive when it ends, of those that it created. None while it is not known.
    left_behind: &'a [Option<RootSet>],
}

impl Creation<'_> {
    fn create(&self, root: RootId, alive: &mut Alive) {
        let threads = self.facts.threads();
        alive.add(root, Count::One);
        for descendant in threads.descendants(root).iter() {
            let is_replicated = threads.roots()[descendant].is_replicated;
            alive.add(descendant, if is_replicated { Count::More } else { Count::One });
        }
    }

    /// The word of a private slot that an access is to.
    fn cell(&self, function: FuncId, access: &Access) -> Option<Cell> {
        let (slot, offset) = match &access.ptr {
            Expr::Slot(slot) => (*slot, 0),
            Expr::Binary(BinaryOp::PtrAdd, operands) => match &**operands {
                [Expr::Slot(slot), Expr::Const { bits, .. }] => (*slot, *bits as i64),
                _ => return None,
            },
            _ => return None,
        };
        let is_word = access.ty.bits(self.facts.program().model) == self.facts.program().model.pointer_bits();
        let is_private = self.facts.private_slots(function).get(slot.index()) == Some(&true);
        (is_word && is_private).then_some(Cell::Slot(slot, offset))
    }

    /// What an instruction does to the handles in registers and private slots.
    fn follow_handles(&self, place: Place, op: &Op, handles: &mut BTreeMap<Cell, Place>) {
        let word = self.facts.program().model.pointer_bytes() as i64;
        let copied = match op {
            Op::Assign { value: Expr::Local(from), .. } | Op::Store { value: Expr::Local(from), .. } => {
                handles.get(&Cell::Register(*from)).copied()
            }
            Op::Load { from, .. } => self.cell(place.func, from).and_then(|cell| handles.get(&cell).copied()),
            Op::Spawn { .. } => Some(place),
            _ => None,
        };
        op.for_each_result(|dst| _ = handles.remove(&Cell::Register(dst)));
        if let Op::BeginLife { slot } = op {
            handles.retain(|cell, _| !matches!(cell, Cell::Slot(other, _) if other == slot));
        }
        let target = match op {
            Op::Assign { dst, .. } | Op::Load { dst, .. } => Some(Cell::Register(*dst)),
            Op::Store { to: access, .. } | Op::Spawn { handle: Some(access), .. } => {
                match self.cell(place.func, access) {
                    Some(Cell::Slot(slot, at)) => handles.retain(|cell, _| match cell {
                        Cell::Slot(other, offset) => *other != slot || (offset - at).abs() >= word,
                        Cell::Register(_) => true,
                    }),
                    // Any slot may be written, but for those whose addresses go nowhere: these are written where they
                    // are named.
                    _ => {
                        let named = slot_in(&access.ptr);
                        handles.retain(|cell, _| !matches!(cell, Cell::Slot(slot, _) if Some(*slot) == named));
                    }
                }
                self.cell(place.func, access)
            }
            _ => None,
        };
        if let (Some(target), Some(created_at)) = (target, copied) {
            handles.insert(target, created_at);
        }
    }

    /// The one root that a join is of, if it is one whose threads are counted here.
    fn joined(&self, place: Place, thread: &Expr, handles: &BTreeMap<Cell, Place>) -> Option<RootId> {
        let followed = match thread {
            Expr::Local(local) => handles.get(&Cell::Register(*local)),
            _ => None,
        };
        if let Some(created_at) = followed {
            let mut roots = self.facts.threads().created_at(*created_at);
            return roots.next().filter(|_| roots.next().is_none());
        }
        let joined = self.joins.get(&place).filter(|joined| !joined.may_be_undefined);
        joined.filter(|joined| joined.is_own || self.counts_all(joined.root)).map(|joined| joined.root)
    }

    /// Whether all threads of `root` are counted here.
    fn counts_all(&self, root: RootId) -> bool {
        let threads = self.facts.threads();
        !threads.roots()[self.root].is_replicated && threads.always_creates(self.root, root)
    }

    /// The only thread of a root has ended.
    fn end(&self, root: RootId, alive: &mut Alive) {
        if alive.count.get(&root) != Some(&Count::One) {
            return;
        }
        alive.count.remove(&root);
        if let Some(left_behind) = &self.left_behind[root.index()] {
            let threads = self.facts.threads();
            let ends_with = |other: RootId| threads.always_creates(root, other) && !left_behind.contains(other);
            alive.count.retain(|other, _| !ends_with(*other));
        }
    }
}

/// The slot that an address is computed from, if it is named there.
fn slot_in(pointer: &Expr) -> Option<SlotId> {
    match pointer {
        Expr::Slot(slot) => Some(*slot),
        Expr::Binary(BinaryOp::PtrAdd, operands) => slot_in(&operands[0]),
        _ => None,
    }
}

impl Flow for Creation<'_> {
    type State = State;

    fn join(&self, into: &mut State, other: &State) -> bool {
        let before = into.handles.len();
        into.handles.retain(|cell, created_at| other.handles.get(cell) == Some(created_at));
        into.alive.join(&other.alive) || into.handles.len() != before
    }

    fn step(&self, place: Place, op: &Op, state: &mut State) {
        match op {
            Op::Spawn { .. } if !self.loops.is_in_group(place) => {
                // One of them is created.
                let before = state.alive.clone();
                for root in self.facts.threads().created_at(place) {
                    let mut created = before.clone();
                    self.create(root, &mut created);
                    state.alive.join(&created);
                }
            }
            Op::Join { thread, .. } => {
                let joined = self.joined(place, thread, &state.handles);
                if let Some(root) = joined.filter(|root| !self.loops.is_grouped(*root)) {
                    self.end(root, &mut state.alive);
                }
            }
            _ => {}
        }
        self.follow_handles(place, op, &mut state.handles);
    }

    fn enter(&self, _: Place, _: &[Expr], _: FuncId, state: &State) -> State {
        State { alive: state.alive.clone(), handles: BTreeMap::new() }
    }

    fn leave(&self, _: Option<LocalId>, before: &State, exits: &Exits<State>) -> State {
        let mut alive = Alive::default();
        exits.values().for_each(|exit| _ = alive.join(&exit.alive));
        State { alive, handles: before.handles.clone() }
    }

    fn start(&self, _: Place, _: &[Expr], _: FuncId, _: &State) -> Option<State> {
        None
    }

    fn branch(&self, from: (FuncId, BlockId), _: &Terminator, to: BlockId, state: &State) -> Option<State> {
        let mut state = state.clone();
        for root in self.loops.created_on(from, to) {
            self.create(root, &mut state.alive);
        }
        for joined in self.loops.joined_on(from, to).filter(|joined| joined.is_own || self.counts_all(joined.root)) {
            self.end(joined.root, &mut state.alive);
        }
        Some(state)
    }

    fn exit(&self, _: FuncId, _: Option<&Expr>, state: &State) -> (Option<u128>, State) {
        (None, State { alive: state.alive.clone(), handles: BTreeMap::new() })
    }
}

/// For each root and each point of it.
pub(super) fn alive(facts: &Facts) -> Points<Alive> {
    let threads = facts.threads();
    let joins = joined_roots(facts);
    let loops = ForkLoops::new(facts);
    let count = threads.roots().len();
    let mut left_behind: Vec<Option<RootSet>> = vec![None; count];
    let mut points = Points::new();
    let edges: Vec<(RootId, RootId)> =
        threads.roots().ids().flat_map(|root| threads.children(root).iter().map(move |child| (root, *child))).collect();
    // Those that are created come first.
    let creation = Rows::new(count, &edges);
    let order: Vec<RootId> = creation.components().iter().flatten().copied().collect();
    for root in order {
        let flow = Creation { facts, joins: &joins, loops: &loops, root, left_behind: &left_behind };
        let solution = solve(facts, flow, [(root, State::default())]);
        let found = solution.points(|state: &State| state.alive.clone(), |into, other| _ = into.join(other));
        let mut left = RootSet::new();
        for context in solution.starts.iter().map(|(_, context)| &solution.contexts[*context]) {
            left.extend(context.exits.values().flat_map(|exit| exit.alive.iter()));
        }
        left.union_with(&at_thread_exits(facts, root, &found));
        left_behind[root.index()] = Some(left);
        points.extend(found);
    }
    points
}

/// What is alive where a thread ends itself.
fn at_thread_exits(facts: &Facts, root: RootId, points: &Points<Alive>) -> RootSet {
    let mut left = RootSet::new();
    for (func, function) in facts.program().functions.iter_enumerated() {
        let Body::Blocks(blocks) = &function.body else { continue };
        if !facts.threads().may_run(root, func) {
            continue;
        }
        for (block, code) in blocks.iter_enumerated() {
            if let TerminatorKind::ThreadExit(_) = code.terminator.kind {
                let place = Place { func, block, index: code.instrs.len() as u32 };
                left.extend(points.at(root, place).into_iter().flat_map(Alive::iter));
            }
        }
    }
    left
}
