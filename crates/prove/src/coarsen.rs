//! COARSEN (paper 002, Algorithm 1): invariants and interference, each computed from the other until nothing is added.
//!
//! The first invariants are those of threads that do not interfere. From them follows which pairs of stops two threads may
//! be at, so which of their steps interfere; with these, invariants are weaker, and more pairs follow. In the end the
//! invariants hold for the program with any number of threads: they are inductive, which [`Coarsening::is_inductive`]
//! checks again without the fixpoint.

use crate::cells::Cells;
use crate::code::{Code, StopId};
use crate::interference::{Coreachable, Interference};
use crate::machine::{Machine, Segment};
use crate::state::State;
use leno_domains::{Domain, Graph, Node, NodeVec, Stopped, Strategy, System, Thresholds, solve_from};
use leno_engine::Limits;
use leno_ir::index::{Idx, IndexVec};
use leno_ir::program::{Expr, Op, Program, TerminatorKind};
use std::rc::Rc;

/// How many results of each segment are remembered.
const REMEMBERED: usize = 6;

/// What was found.
#[derive(Debug)]
pub struct Coarsened<'p> {
    pub invariants: IndexVec<StopId, State<'p>>,
    pub pairs: Coreachable,
    pub rounds: u64,
}

#[derive(Debug)]
pub struct Coarsening<'a, 'p> {
    code: &'a Code<'a, 'p>,
    machine: Machine<'a, 'p>,
    interference: Interference<'a, 'p>,
    limits: &'a Limits,
    /// By stop: which segments' ends it may be (without interference).
    before: IndexVec<StopId, Vec<StopId>>,
    remembered: IndexVec<StopId, Vec<(State<'p>, Rc<Segment<'p>>)>>,
}

impl<'a, 'p> Coarsening<'a, 'p> {
    pub fn new(code: &'a Code<'a, 'p>, cells: &'a Cells, limits: &'a Limits) -> Coarsening<'a, 'p> {
        Coarsening {
            code,
            machine: Machine::new(code, cells),
            interference: Interference::new(code, cells),
            limits,
            before: predecessors(code),
            remembered: code.stops().iter().map(|_| Vec::new()).collect(),
        }
    }

    pub fn machine(&self) -> &Machine<'a, 'p> {
        &self.machine
    }

    fn run(&mut self, stop: StopId, state: &State<'p>) -> Rc<Segment<'p>> {
        let known = &mut self.remembered[stop];
        if let Some(at) = known.iter().position(|(input, _)| input == state) {
            return known[at].1.clone();
        }
        let segment = Rc::new(self.machine.run(stop, state));
        if known.len() == REMEMBERED {
            known.remove(0);
        }
        known.push((state.clone(), segment.clone()));
        segment
    }

    /// None if a limit was reached.
    pub fn coarsen(&mut self) -> Option<Coarsened<'p>> {
        let stops = self.code.stops().len();
        let mut invariants: IndexVec<StopId, State<'p>> = (0..stops).map(|_| State::NEVER).collect();
        let mut pairs = Coreachable::none(stops);
        let strategy = Strategy {
            delay: 4,
            thresholds: thresholds(self.code.program()),
            to_thresholds: 48,
            narrowings: 3,
            ..Strategy::default()
        };
        let mut rounds = 0;
        loop {
            rounds += 1;
            invariants = self.solve(&pairs, &strategy, invariants).ok()?;
            let before = pairs.count();
            let limits = self.limits;
            let interference = Interference::new(self.code, self.machine.cells);
            interference.deduce(
                &mut pairs,
                &invariants,
                |stop, state| self.run(stop, state),
                || limits.stop().is_some(),
            );
            if self.limits.stop().is_some() {
                return None;
            }
            if pairs.count() == before {
                return Some(Coarsened { invariants, pairs, rounds });
            }
        }
    }

    /// Invariants under the interference of these pairs.
    fn solve(
        &mut self,
        pairs: &Coreachable,
        strategy: &Strategy,
        known: IndexVec<StopId, State<'p>>,
    ) -> Result<IndexVec<StopId, State<'p>>, Stopped> {
        let interfering = self.interfering(pairs);
        let mut edges = Vec::new();
        for (stop, before) in self.before.iter_enumerated() {
            edges.extend(before.iter().map(|from| (node(*from), node(stop))));
        }
        for (stop, others) in interfering.iter_enumerated() {
            edges.extend(others.iter().map(|other| (node(*other), node(stop))));
            if !others.is_empty() {
                edges.push((node(stop), node(stop)));
            }
        }
        let graph = Graph::new(known.len(), &edges);
        let from = NodeVec::new(known.len(), |node| known[StopId::new(node.index())].clone());
        let mut equations = Equations { coarsening: self, interfering };
        let values = solve_from(&graph, &mut equations, strategy, from)?;
        Ok(values.iter().map(|(_, state)| state.clone()).collect())
    }

    /// By stop: the stops from which others interfere with a thread that is there.
    fn interfering(&self, pairs: &Coreachable) -> IndexVec<StopId, Vec<StopId>> {
        let of = |stop: StopId| match self.interference.is_exclusive(stop) {
            true => Vec::new(),
            false => pairs.with(stop).filter(|other| self.may_publish(*other)).collect(),
        };
        self.code.stops().ids().map(of).collect()
    }

    /// Whether a thread may let others see something when it goes on from here.
    fn may_publish(&self, stop: StopId) -> bool {
        let node = self.code.stops()[stop];
        let held = self.code.facts.locksets().held_in(self.code.root_of(node), self.code.place(node));
        let may_hide = self.code.is_exclusive(node) || held.is_some_and(|held| !held.is_empty());
        may_hide || !matches!(self.code.instruction(node), Some(Op::Load { .. } | Op::AtomicBegin))
    }

    /// What a stop's invariant must contain, given those of the others.
    fn equation(
        &mut self,
        stop: StopId,
        invariants: &dyn Fn(StopId) -> State<'p>,
        interfering: &[StopId],
    ) -> State<'p> {
        let at = self.code.stops()[stop];
        let root = self.code.root_of(at);
        let mut state = State::NEVER;
        let is_entry = self.code.entry(root) == at;
        if is_entry && self.code.facts.threads().roots()[root].created_at.is_none() {
            state = self.machine.initial(root);
        }
        for before in self.before[stop].clone() {
            let segment = self.run(before, &invariants(before));
            if let Some(next) = segment.next.get(&stop) {
                state = state.join(next);
            }
            for (_, child) in segment.started.iter().filter(|(started, _)| is_entry && *started == root) {
                state = state.join(child);
            }
        }
        let own = invariants(stop);
        if own.is_never() {
            return state;
        }
        for other in interfering {
            let theirs = self.interference.both(&invariants(*other), &own);
            if theirs.is_never() {
                continue;
            }
            for (cell, value) in &self.run(*other, &theirs).published {
                state.interfere(*cell, *value);
            }
        }
        state
    }

    /// Whether the invariants hold at the beginning and are kept by every step of every thread, and the pairs are all there
    /// are. Nothing is believed of how they were found.
    pub fn is_inductive(&self, found: &Coarsened<'p>) -> bool {
        let invariants = &found.invariants;
        let contains = |stop: StopId, state: &State<'p>| state.leq(&invariants[stop]);
        let entry = |root| self.code.stop(self.code.entry(root));
        let together = |a: StopId, b: StopId| found.pairs.contains(a, b) || !self.interference.may_be_together(a, b);
        for root in self.code.roots() {
            let is_first = self.code.facts.threads().roots()[root].created_at.is_none();
            if is_first && !entry(root).is_some_and(|stop| contains(stop, &self.machine.initial(root))) {
                return false;
            }
        }
        for (stop, state) in invariants.iter_enumerated().filter(|(_, state)| !state.is_never()) {
            if self.limits.stop().is_some() {
                return false;
            }
            let segment = self.machine.run(stop, state);
            let is_kept = segment.next.iter().all(|(next, state)| contains(*next, state));
            let is_started = segment.started.iter().all(|(root, state)| {
                entry(*root).is_some_and(|child| {
                    contains(child, state) && segment.next.keys().all(|next| together(*next, child))
                })
            });
            if !is_kept || !is_started {
                return false;
            }
            for other in found.pairs.with(stop).filter(|other| !self.interference.is_exclusive(*other)) {
                let both = self.interference.both(state, &invariants[other]);
                if both.is_never() {
                    continue;
                }
                let segment = self.machine.run(stop, &both);
                let is_stable = {
                    let mut after = invariants[other].clone();
                    segment.published.iter().for_each(|(cell, value)| after.interfere(*cell, *value));
                    contains(other, &after)
                };
                let children = segment.started.iter().filter_map(|(root, _)| entry(*root));
                let is_closed = segment.next.keys().copied().chain(children).all(|next| together(next, other));
                if !is_stable || !is_closed {
                    return false;
                }
            }
        }
        true
    }
}

struct Equations<'c, 'a, 'p> {
    coarsening: &'c mut Coarsening<'a, 'p>,
    interfering: IndexVec<StopId, Vec<StopId>>,
}

impl<'p> System for Equations<'_, '_, 'p> {
    type Value = State<'p>;

    fn space(&self, _: Node) {}

    fn evaluate(&mut self, node: Node, values: &NodeVec<State<'p>>) -> State<'p> {
        let stop = StopId::new(node.index());
        let interfering = std::mem::take(&mut self.interfering[stop]);
        let invariants = |stop: StopId| values[self::node(stop)].clone();
        let state = self.coarsening.equation(stop, &invariants, &interfering);
        self.interfering[stop] = interfering;
        state
    }

    fn is_interrupted(&mut self) -> bool {
        self.coarsening.limits.stop().is_some()
    }
}

fn node(stop: StopId) -> Node {
    Node(stop.0)
}

/// By stop: the stops from which a segment, or a new thread, leads to it.
fn predecessors(code: &Code) -> IndexVec<StopId, Vec<StopId>> {
    let mut before: IndexVec<StopId, Vec<StopId>> = code.stops().iter().map(|_| Vec::new()).collect();
    for (stop, start) in code.stops().iter_enumerated() {
        let mut seen = std::collections::BTreeSet::new();
        let mut work = code.successors(*start);
        while let Some(next) = work.pop() {
            if !seen.insert(next) {
                continue;
            }
            match code.stop(next) {
                Some(end) => before[end].push(stop),
                None => work.extend(code.successors(next)),
            }
        }
        if let Some(Op::Spawn { .. }) = code.instruction(*start) {
            for (root, thread) in code.facts.threads().roots().iter_enumerated() {
                if thread.created_at == Some(code.place(*start)) {
                    let child = code.stop(code.entry(root));
                    child.into_iter().for_each(|child| before[child].push(stop));
                }
            }
        }
    }
    for stops in before.iter_mut() {
        stops.sort_unstable();
        stops.dedup();
    }
    before
}

/// The constants of conditions and assignments, and their neighbours: where widening stops for a while.
fn thresholds(program: &Program) -> Thresholds {
    let mut numbers = vec![-1, 0, 1];
    let mut add = |expr: &Expr| {
        let mut work = vec![expr];
        while let Some(expr) = work.pop() {
            match expr {
                Expr::Const { ty, bits } => {
                    let width = u32::from(ty.bits(program.model));
                    let number = leno_domains::word::signed(width, *bits);
                    numbers.extend([number.saturating_sub(1), number, number.saturating_add(1)]);
                }
                Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => work.push(operand),
                Expr::Binary(_, operands) => work.extend(operands.iter()),
                Expr::Select(parts) => work.extend(parts.iter()),
                Expr::Local(_) | Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => {}
            }
        }
    };
    for function in &program.functions {
        let leno_ir::program::Body::Blocks(blocks) = &function.body else { continue };
        for block in blocks {
            block.instrs.iter().for_each(|instr| instr.op.for_each_operand(&mut add));
            if let TerminatorKind::Branch { cond: expr, .. } | TerminatorKind::Switch { value: expr, .. } =
                &block.terminator.kind
            {
                add(expr);
            }
        }
    }
    Thresholds::new(numbers)
}
