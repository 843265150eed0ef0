//! COARSEN (paper 002, Algorithm 1): invariants and interference, each computed from the other until nothing is added.
//!
//! The first invariants are those of threads that do not interfere. From them follows which pairs of stops two threads may
//! be at, so which of their steps interfere; with these, invariants are weaker, and more pairs follow. In the end the
//! invariants hold for the program with any number of threads: they are inductive, which [`Coarsening::is_inductive`]
//! checks again without the fixpoint.

use crate::cells::Cells;
use crate::code::{Code, StopId};
use crate::interference::{Coreachable, Interference, Steps, Watched};
use crate::machine::{Machine, Segment};
use crate::partition::{Partition, Rule};
use crate::phases::Phases;
use crate::state::State;
use crate::states::{Grouping, States};
use crate::view::{View, Watching};
use leno_domains::{Domain, Graph, Node, NodeVec, Stopped, Strategy, System, Thresholds, solve_from};
use leno_engine::Limits;
use leno_ir::index::{Idx, IndexVec};
use leno_ir::program::{Expr, Op, Program, TerminatorKind};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How often the invariants are made larger where they turn out not to be inductive, before that is given up.
const MOST_REPAIRS: usize = 40;

/// How many equations are evaluated at most before the invariants are given up, and how many for each stop.
const STEPS_FOR_ALL: u64 = 20_000;
const STEPS_FOR_EACH: u64 = 200;

/// How much is told apart. More is slower, and proves more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Precision {
    pub rule: Rule,
    /// How many states of one place are kept apart.
    pub states: usize,
}

impl Precision {
    /// Variables by themselves, and one state for each place.
    pub const PLAIN: Precision = Precision { rule: Rule::Nothing, states: 1 };
}

/// What was found.
#[derive(Debug)]
pub struct Coarsened<'p> {
    pub invariants: IndexVec<StopId, States<'p>>,
    pub pairs: Coreachable,
    pub rounds: u64,
    /// By round: the invariants that were found in it.
    pub history: Vec<IndexVec<StopId, States<'p>>>,
}

/// What was computed last, from the invariant that it was computed from.
type Computed<'p, T> = Option<(States<'p>, Rc<T>)>;

/// What came of a pair of stops, and what it was computed from.
type Remembered<'p> = (States<'p>, States<'p>, Rc<Watched<'p>>);

#[derive(Debug)]
pub struct Coarsening<'a, 'p> {
    code: &'a Code<'a, 'p>,
    machine: Machine<'a, 'p>,
    interference: Interference<'a, 'p>,
    watching: Watching<'a, 'p>,
    grouping: Rc<Grouping>,
    limits: &'a Limits,
    /// By stop: which segments' ends it may be (without interference).
    before: IndexVec<StopId, Vec<StopId>>,
    alone: IndexVec<StopId, Computed<'p, Segment<'p>>>,
    views: IndexVec<StopId, Computed<'p, Vec<View<'p>>>>,
    pairs: BTreeMap<(StopId, StopId), Remembered<'p>>,
}

impl<'p> Steps<'p> for Coarsening<'_, 'p> {
    fn alone(&mut self, stop: StopId, states: &States<'p>) -> Rc<Segment<'p>> {
        if let Some((_, segment)) = self.alone[stop].as_ref().filter(|(input, _)| input.is_same(states)) {
            return segment.clone();
        }
        let segment = Rc::new(self.machine.run(stop, states));
        self.alone[stop] = Some((states.clone(), segment.clone()));
        segment
    }

    fn watched(&mut self, mover: (StopId, &States<'p>), other: (StopId, &States<'p>)) -> Rc<Watched<'p>> {
        let key = (mover.0, other.0);
        if let Some((mine, theirs, watched)) = self.pairs.get(&key)
            && mine.is_same(mover.1)
            && theirs.is_same(other.1)
        {
            return watched.clone();
        }
        let views = self.views(other.0, other.1);
        let watched = Rc::new(self.watch(mover.0, mover.1, &views));
        self.pairs.insert(key, (mover.1.clone(), other.1.clone(), watched.clone()));
        watched
    }

    fn is_interrupted(&self) -> bool {
        self.limits.stop().is_some()
    }
}

impl<'a, 'p> Coarsening<'a, 'p> {
    pub fn new(
        code: &'a Code<'a, 'p>,
        cells: &'a Cells,
        limits: &'a Limits,
        precision: Precision,
    ) -> Coarsening<'a, 'p> {
        let partition = Rc::new(Partition::new(code, cells, precision.rule));
        let phases = if precision.states > 1 { Phases::new(code, cells) } else { Phases::none() };
        Coarsening {
            code,
            machine: Machine::new(code, cells, partition),
            interference: Interference::new(code),
            watching: Watching { code, cells },
            grouping: Rc::new(Grouping { phases, most: precision.states }),
            limits,
            before: predecessors(code),
            alone: code.stops().iter().map(|_| None).collect(),
            views: code.stops().iter().map(|_| None).collect(),
            pairs: BTreeMap::new(),
        }
    }

    pub fn machine(&self) -> &Machine<'a, 'p> {
        &self.machine
    }

    fn views(&mut self, stop: StopId, states: &States<'p>) -> Rc<Vec<View<'p>>> {
        if let Some((_, views)) = self.views[stop].as_ref().filter(|(input, _)| input.is_same(states)) {
            return views.clone();
        }
        let views: Rc<Vec<View<'p>>> = Rc::new(states.iter().filter_map(|state| self.watching.view(state)).collect());
        self.views[stop] = Some((states.clone(), views.clone()));
        views
    }

    /// A segment, in all states in which a thread that sees this may be at the same time.
    fn watch(&self, mover: StopId, mine: &States<'p>, views: &[View<'p>]) -> Watched<'p> {
        let (mut next, mut started, mut after) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for state in mine.iter() {
            for view in views {
                let Some(both) = self.watching.together(state, view) else { continue };
                let segment = self.machine.run_one(mover, &both);
                next.extend(segment.next.keys());
                started.extend(segment.started.iter().map(|(root, _)| *root));
                after.extend(segment.seen.iter().map(|state| self.watching.after(state, view)));
            }
        }
        Watched { next, started, after: States::of(after, &self.grouping) }
    }

    /// None if a limit was reached.
    pub fn coarsen(&mut self) -> Option<Coarsened<'p>> {
        let stops = self.code.stops().len();
        let never = States::bottom(&self.grouping);
        let mut invariants: IndexVec<StopId, States<'p>> = (0..stops).map(|_| never.clone()).collect();
        let mut pairs = Coreachable::none(stops);
        let strategy = Strategy {
            delay: 4,
            thresholds: thresholds(self.code.program()),
            to_thresholds: 48,
            narrowings: 3,
            steps: STEPS_FOR_ALL + STEPS_FOR_EACH * stops as u64,
        };
        let mut history = Vec::new();
        loop {
            invariants = self.solve(&pairs, &strategy, invariants).ok()?;
            history.push(invariants.clone());
            let before = pairs.count();
            let interference = self.interference;
            interference.deduce(&mut pairs, &invariants, self);
            if self.is_interrupted() {
                return None;
            }
            if pairs.count() == before {
                break;
            }
        }
        let mut found = Coarsened { invariants, pairs, rounds: history.len() as u64, history };
        for _ in 0..MOST_REPAIRS {
            if !self.repair(&mut found) || self.is_interrupted() {
                break;
            }
        }
        Some(found)
    }

    /// Adds what is missing, once; whether something was. (What is told apart, and how states are put together, changes while
    /// they grow: then the fixpoint may end before everything is contained.)
    fn repair(&mut self, found: &mut Coarsened<'p>) -> bool {
        let interfering = self.interfering(&found.pairs);
        let mut changes = false;
        for stop in self.code.stops().ids() {
            if self.is_interrupted() {
                return false;
            }
            let invariants = |stop: StopId| found.invariants[stop].clone();
            let state = self.equation(stop, &invariants, &interfering[stop]);
            if !state.leq(&found.invariants[stop]) {
                found.invariants[stop] = found.invariants[stop].join(&state);
                changes = true;
            }
        }
        let before = found.pairs.count();
        let interference = self.interference;
        interference.deduce(&mut found.pairs, &found.invariants, self);
        changes || found.pairs.count() != before
    }

    /// Invariants under the interference of these pairs.
    fn solve(
        &mut self,
        pairs: &Coreachable,
        strategy: &Strategy,
        known: IndexVec<StopId, States<'p>>,
    ) -> Result<IndexVec<StopId, States<'p>>, Stopped> {
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
        may_hide || !matches!(self.code.instruction(node), Some(Op::Load { .. }))
    }

    /// What a stop's invariant must contain, given those of the others.
    fn equation(
        &mut self,
        stop: StopId,
        invariants: &dyn Fn(StopId) -> States<'p>,
        interfering: &[StopId],
    ) -> States<'p> {
        let at = self.code.stops()[stop];
        let root = self.code.root_of(at);
        let mut states: Vec<State<'p>> = Vec::new();
        let is_entry = self.code.entry(root) == at;
        if is_entry && self.code.facts.threads().roots()[root].created_at.is_none() {
            states.push(self.machine.initial(root));
        }
        for before in self.before[stop].clone() {
            let segment = self.alone(before, &invariants(before));
            states.extend(segment.next.get(&stop).into_iter().flatten().cloned());
            let started = segment.started.iter().filter(|(started, _)| is_entry && *started == root);
            states.extend(started.map(|(_, child)| child.clone()));
        }
        let own = invariants(stop);
        if own.is_never() {
            return States::of(states, &self.grouping);
        }
        for other in interfering {
            let theirs = invariants(*other);
            if self.alone(*other, &theirs).published.is_empty() {
                continue;
            }
            states.extend(self.watched((*other, &theirs), (stop, &own)).after.iter().cloned());
        }
        States::of(states, &self.grouping)
    }

    /// Whether the invariants hold at the beginning and are kept by every step of every thread, and the pairs are all there
    /// are. Nothing is believed of how they were found.
    pub fn is_inductive(&self, found: &Coarsened<'p>) -> bool {
        let invariants = &found.invariants;
        let contains = |stop: StopId, state: &State<'p>| invariants[stop].iter().any(|invariant| state.leq(invariant));
        let entry = |root| self.code.stop(self.code.entry(root));
        let together = |a: StopId, b: StopId| found.pairs.contains(a, b) || !self.interference.may_be_together(a, b);
        for root in self.code.roots() {
            let is_first = self.code.facts.threads().roots()[root].created_at.is_none();
            if is_first && !entry(root).is_some_and(|stop| contains(stop, &self.machine.initial(root))) {
                return false;
            }
        }
        for (stop, states) in invariants.iter_enumerated().filter(|(_, states)| !states.is_never()) {
            if self.limits.stop().is_some() {
                return false;
            }
            let segment = self.machine.run(stop, states);
            let is_kept = segment.next.iter().all(|(next, states)| states.iter().all(|state| contains(*next, state)));
            let is_started = segment.started.iter().all(|(root, state)| {
                entry(*root).is_some_and(|child| {
                    contains(child, state) && segment.next.keys().all(|next| together(*next, child))
                })
            });
            if !is_kept || !is_started {
                return false;
            }
            for other in found.pairs.with(stop).filter(|other| !self.interference.is_exclusive(*other)) {
                let views: Vec<View<'p>> =
                    invariants[other].iter().filter_map(|state| self.watching.view(state)).collect();
                let watched = self.watch(stop, states, &views);
                let children = watched.started.iter().filter_map(|root| entry(*root));
                let is_closed = watched.next.iter().copied().chain(children).all(|next| together(next, other));
                if !is_closed || !watched.after.leq(&invariants[other]) {
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
    type Value = States<'p>;

    fn space(&self, _: Node) -> Rc<Grouping> {
        self.coarsening.grouping.clone()
    }

    fn evaluate(&mut self, node: Node, values: &NodeVec<States<'p>>) -> States<'p> {
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
