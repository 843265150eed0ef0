//! What happens after an access, as C11 defines it: for races that orders weaker than `seq_cst` leave open.
//!
//! An execution is a sequence, but two conflicting accesses race unless the first *happens before* the second. So of the
//! race that is asked for, the first access is marked, and the mark spreads along the edges of happens-before: to later
//! nodes of the thread, through starts and joins of threads and synchronisation objects ([`synchronises`]), and from
//! atomic writes to reads that acquire. The second access must stay without it. Marks are only implied: a model may have
//! too many, but the one that is looked for has as few as possible.
//!
//! A write *carries* the mark if a release sequence that it belongs to was begun after the marked access: it releases
//! and is marked itself; or a marked fence that releases comes before it; or it goes on with such a sequence, which
//! read-modify-writes do with all, and stores of a thread with those that this thread has begun (C11, C17). Since the
//! latter depends on the thread, each write has a literal for each thread that may have begun a sequence.
//!
//! [`synchronises`]: HappensBefore::synchronises

use crate::guards::add_clause;
use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_logic::solver::Solver;
use std::collections::{BTreeMap, BTreeSet};

/// One fence of a thread or several in a row: after the accesses of `before`, and before those that follow `node`. Both
/// are the same where the fence has a node of its own.
#[derive(Clone, Copy, Debug)]
pub struct Fence {
    pub before: Node,
    pub node: Node,
    pub occurs: Lit,
    pub acquires: bool,
    pub releases: bool,
    /// What it acquires it also releases.
    pub releases_acquired: bool,
}

/// An atomic write.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    pub node: Node,
    /// The number of its thread.
    pub thread: usize,
    pub releases: bool,
    pub goes_on: GoesOn,
}

/// Which release sequences a write goes on with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GoesOn {
    /// A read-modify-write.
    WithAll,
    /// A store.
    WithItsThreads,
}

/// The number of a write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct WriteNumber(usize);

/// A write that a read may copy, and the literal that it does.
pub type Source = (WriteNumber, Lit);

/// A read takes over the mark where all of these hold.
struct Acquisition {
    node: Node,
    position: usize,
    conditions: [Lit; 3],
}

/// Marks, by node.
pub struct HappensBefore {
    after: BTreeMap<Node, Lit>,
    /// A read at or before the node has copied a write that carries the mark: a fence takes it over.
    pending: BTreeMap<Node, Lit>,
    /// A fence that releases was marked at or before the node.
    fenced: BTreeMap<Node, Lit>,
    writes: Vec<(Write, BTreeMap<usize, Lit>)>,
    acquisitions: Vec<Acquisition>,
}

impl HappensBefore {
    /// `threads`: the nodes of each, in program order. `writes`: all atomic writes, numbered in this order.
    pub fn new(
        solver: &mut Solver,
        threads: &[Vec<Node>],
        fences: &[Fence],
        writes: &[Write],
    ) -> (HappensBefore, Vec<WriteNumber>) {
        let along = |solver: &mut Solver, nodes: &[Node], marks: &mut BTreeMap<Node, Lit>| {
            let mut before: Option<Lit> = None;
            for &node in nodes {
                let mark = *marks.entry(node).or_insert_with(|| solver.new_literal());
                if let Some(before) = before {
                    solver.add_clause(&[!before, mark]);
                }
                before = Some(mark);
            }
        };
        let mut marks = HappensBefore {
            after: BTreeMap::new(),
            pending: BTreeMap::new(),
            fenced: BTreeMap::new(),
            writes: Vec::new(),
            acquisitions: Vec::new(),
        };
        for nodes in threads {
            along(solver, nodes, &mut marks.after);
            let here = |fence: &&Fence| nodes.contains(&fence.node);
            if fences.iter().filter(here).any(|fence| fence.acquires) {
                along(solver, nodes, &mut marks.pending);
            }
            if fences.iter().filter(here).any(|fence| fence.releases) {
                along(solver, nodes, &mut marks.fenced);
            }
        }
        fences.iter().for_each(|fence| marks.fence(solver, fence));
        let numbers = marks.add_writes(solver, writes);
        (marks, numbers)
    }

    fn fence(&self, solver: &mut Solver, fence: &Fence) {
        let Fence { before, node, occurs, .. } = *fence;
        let (Some(&earlier), Some(&after)) = (self.after.get(&before), self.after.get(&node)) else { return };
        let pending = self.pending.get(&before).copied().filter(|_| fence.acquires);
        if let Some(pending) = pending {
            add_clause(solver, [!pending, !occurs, after]);
        }
        if let (true, Some(&fenced)) = (fence.releases, self.fenced.get(&node)) {
            add_clause(solver, [!earlier, !occurs, fenced]);
            if let Some(pending) = pending.filter(|_| fence.releases_acquired) {
                add_clause(solver, [!pending, !occurs, fenced]);
            }
        }
    }

    fn add_writes(&mut self, solver: &mut Solver, writes: &[Write]) -> Vec<WriteNumber> {
        let begins = |write: &&Write| write.releases || self.fenced.contains_key(&write.node);
        let beginners: BTreeSet<usize> = writes.iter().filter(begins).map(|write| write.thread).collect();
        for write in writes {
            let mut carried = BTreeMap::new();
            for &thread in &beginners {
                if thread == write.thread || write.goes_on == GoesOn::WithAll {
                    carried.insert(thread, solver.new_literal());
                }
            }
            if let Some(&own) = carried.get(&write.thread) {
                if let (true, Some(&after)) = (write.releases, self.after.get(&write.node)) {
                    solver.add_clause(&[!after, own]);
                }
                if let Some(&fenced) = self.fenced.get(&write.node) {
                    solver.add_clause(&[!fenced, own]);
                }
            }
            self.writes.push((*write, carried));
        }
        (0..self.writes.len()).map(WriteNumber).collect()
    }

    /// Whether it matters which write comes before this one: it may go on with a release sequence.
    pub fn may_go_on(&self, write: WriteNumber) -> bool {
        let (write, carried) = &self.writes[write.0];
        // (A store that releases carries all that its thread has released before.)
        !carried.is_empty() && (write.goes_on == GoesOn::WithAll || !write.releases)
    }

    /// Whether a read at this node that does not acquire may do so through a fence.
    pub fn is_before_fence(&self, node: Node) -> bool {
        self.pending.contains_key(&node)
    }

    /// A write comes right after one of these, the one whose literal holds.
    pub fn goes_on(&self, solver: &mut Solver, write: WriteNumber, sources: &[Source]) {
        let (_, carried) = &self.writes[write.0];
        for (source, copies) in sources {
            for (thread, from) in &self.writes[source.0].1 {
                if let Some(&to) = carried.get(thread) {
                    add_clause(solver, [!*copies, !*from, to]);
                }
            }
        }
    }

    /// An atomic read copies one of these writes. It acquires where `acquires` holds. `position` is its place among the
    /// accesses of its node.
    pub fn read(&mut self, solver: &mut Solver, node: Node, position: usize, acquires: Lit, sources: &[Source]) {
        let Some(&after) = self.after.get(&node) else { return };
        let pending = self.pending.get(&node).copied();
        for (source, copies) in sources {
            for &carried in self.writes[source.0].1.values() {
                if acquires != Lit::FALSE {
                    add_clause(solver, [!*copies, !carried, !acquires, after]);
                    self.acquisitions.push(Acquisition { node, position, conditions: [*copies, carried, acquires] });
                }
                if let Some(pending) = pending {
                    add_clause(solver, [!*copies, !carried, pending]);
                }
            }
        }
    }

    /// Where `guard` holds, what happens before the end of `from` happens before `to`.
    pub fn synchronises(&self, solver: &mut Solver, guard: Lit, from: Node, to: Node) {
        if let (Some(&from), Some(&to)) = (self.after.get(&from), self.after.get(&to)) {
            add_clause(solver, [!guard, !from, to]);
        }
    }

    /// Where `selected` holds, the access at `first` comes before that at `second`, but does not happen before it.
    pub fn unordered(&self, solver: &mut Solver, selected: Lit, first: Node, second: Node) {
        let (Some(&one), Some(&other)) = (self.after.get(&first), self.after.get(&second)) else { return };
        solver.add_guarded_edge(selected, first, second);
        solver.add_clause(&[!selected, one]);
        solver.add_clause(&[!selected, !other]);
    }

    /// Where `selected` holds, the access at `first` does not happen before what follows the node `last` of another
    /// thread; a fence that `acquires` may lie between.
    pub fn stands_unordered(
        &self,
        solver: &mut Solver,
        selected: Lit,
        first: Node,
        last: Option<Node>,
        acquires: bool,
    ) {
        let Some(&one) = self.after.get(&first) else { return };
        solver.add_clause(&[!selected, one]);
        let Some(last) = last else { return };
        if let Some(&after) = self.after.get(&last) {
            solver.add_clause(&[!selected, !after]);
        }
        if let Some(&pending) = self.pending.get(&last).filter(|_| acquires) {
            solver.add_clause(&[!selected, !pending]);
        }
    }

    /// The same of an access that is one of several at its node: those up to `position` may have acquired something.
    /// `before` is the node before that one on its thread.
    pub fn unordered_inside(
        &self,
        solver: &mut Solver,
        selected: Lit,
        first: Node,
        (before, second): (Option<Node>, Node),
        position: usize,
    ) {
        let Some(&one) = self.after.get(&first) else { return };
        solver.add_guarded_edge(selected, first, second);
        solver.add_clause(&[!selected, one]);
        if let Some(&before) = before.and_then(|before| self.after.get(&before)) {
            solver.add_clause(&[!selected, !before]);
        }
        for acquisition in &self.acquisitions {
            if acquisition.node == second && acquisition.position <= position {
                let [copies, carried, acquires] = acquisition.conditions;
                add_clause(solver, [!selected, !copies, !carried, !acquires]);
            }
        }
    }
}
