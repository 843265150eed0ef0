//! The fixpoint: values for unknowns that are computed from each other, none of which leaves anything out.
//!
//! All values start empty. The next node in the order that has to be computed is computed again, and what is computed
//! from it has to be if it has changed. Values of heads only grow. Those that have grown a few times are widened:
//! first to thresholds, then without. When nothing changes any more, heads are computed again from what has been
//! found, and may shrink, and what is computed from them: each node a bounded number of times.
//!
//! The result holds if every equation contains what it stands for: nothing is asked of it beyond that, not even that
//! it is monotone. (Growing only stops when every value contains what its equation gives, and it does stop, since
//! there is no cycle without a head. Shrinking keeps this: if the values contain the least solution, so does each
//! equation's value, and so does what is in both.) Effort is a number of steps: no clock, and no order but that of
//! the graph.

use crate::domain::{Domain, Thresholds};
use crate::graph::{Graph, Node, NodeVec};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Equations: one for each node.
pub trait System {
    type Value: Domain;

    fn space(&self, node: Node) -> <Self::Value as Domain>::Space;

    /// The node's value, from those of the nodes that have an edge to it.
    fn evaluate(&mut self, node: Node, values: &NodeVec<Self::Value>) -> Self::Value;

    /// Asked now and then.
    fn is_interrupted(&mut self) -> bool {
        false
    }
}

#[derive(Clone, Debug)]
pub struct Strategy {
    /// How often a head grows before it is widened.
    pub delay: u32,
    pub thresholds: Thresholds,
    /// How often a head is widened to thresholds.
    pub to_thresholds: u32,
    /// How often a node is computed again after all have stopped growing.
    pub narrowings: u32,
    /// How many values are computed at most while they grow, and as many while they shrink.
    pub steps: u64,
}

impl Default for Strategy {
    fn default() -> Strategy {
        Strategy { delay: 3, thresholds: Thresholds::NONE, to_thresholds: u32::MAX, narrowings: 2, steps: u64::MAX }
    }
}

/// Why there is no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// The steps of the strategy are used up.
    Steps,
    Interrupted,
}

/// Steps between two questions whether to go on.
const STEPS_AT_ONCE: u64 = 1024;

pub fn solve<S: System>(graph: &Graph, system: &mut S, strategy: &Strategy) -> Result<NodeVec<S::Value>, Stopped> {
    let nothing = NodeVec::new(graph.len(), |node| S::Value::bottom(&system.space(node)));
    solve_from(graph, system, strategy, nothing)
}

/// The same, from values that are contained in the result.
pub fn solve_from<S: System>(
    graph: &Graph,
    system: &mut S,
    strategy: &Strategy,
    values: NodeVec<S::Value>,
) -> Result<NodeVec<S::Value>, Stopped> {
    let mut solver = Solver {
        graph,
        system,
        strategy,
        values,
        queue: Queue::new(graph.len()),
        grown: NodeVec::new(graph.len(), |_| 0),
        steps: 0,
    };
    solver.grow()?;
    solver.shrink();
    Ok(solver.values)
}

struct Solver<'a, S: System> {
    graph: &'a Graph,
    system: &'a mut S,
    strategy: &'a Strategy,
    values: NodeVec<S::Value>,
    queue: Queue,
    /// How often a node has grown.
    grown: NodeVec<u32>,
    steps: u64,
}

impl<S: System> Solver<'_, S> {
    fn grow(&mut self) -> Result<(), Stopped> {
        for &node in self.graph.order() {
            self.queue.push(self.graph, node);
        }
        while let Some(node) = self.queue.pop(self.graph) {
            self.step()?;
            let new = self.system.evaluate(node, &self.values);
            if self.graph.is_head(node) {
                self.grow_head(node, &new);
            } else if new != self.values[node] {
                self.values[node] = new;
                self.push_successors(node);
            }
        }
        Ok(())
    }

    fn grow_head(&mut self, node: Node, new: &S::Value) {
        if !new.leq(&self.values[node]) {
            self.values[node] = self.grown_to(node, new);
            self.grown[node] = self.grown[node].saturating_add(1);
            self.push_successors(node);
        }
    }

    fn grown_to(&self, node: Node, new: &S::Value) -> S::Value {
        let (old, grown) = (&self.values[node], self.grown[node]);
        if grown < self.strategy.delay {
            return old.join(new);
        }
        let is_patient = grown - self.strategy.delay < self.strategy.to_thresholds;
        let thresholds = if is_patient { &self.strategy.thresholds } else { &Thresholds::NONE };
        old.widen(new, &self.system.space(node), thresholds)
    }

    /// Every value is right at any time, so that this may stop anywhere.
    fn shrink(&mut self) {
        if self.strategy.narrowings == 0 {
            return;
        }
        for node in self.graph.order().iter().copied().filter(|&node| self.grown[node] > 0) {
            self.queue.push(self.graph, node);
        }
        let mut computed = NodeVec::new(self.graph.len(), |_| 0);
        self.steps = 0;
        while let Some(node) = self.queue.pop(self.graph) {
            if computed[node] >= self.strategy.narrowings {
                continue;
            }
            computed[node] += 1;
            if self.step().is_err() {
                return;
            }
            let new = self.system.evaluate(node, &self.values);
            let smaller = self.values[node].narrow(&new, &self.system.space(node));
            if smaller != self.values[node] {
                self.values[node] = smaller;
                self.push_successors(node);
            }
        }
    }

    fn push_successors(&mut self, node: Node) {
        for &successor in self.graph.successors(node) {
            self.queue.push(self.graph, successor);
        }
    }

    fn step(&mut self) -> Result<(), Stopped> {
        if self.steps >= self.strategy.steps {
            return Err(Stopped::Steps);
        }
        self.steps += 1;
        if self.steps % STEPS_AT_ONCE == 1 && self.system.is_interrupted() {
            return Err(Stopped::Interrupted);
        }
        Ok(())
    }
}

/// The nodes that have to be computed, the first in the order first.
struct Queue {
    positions: BinaryHeap<Reverse<u32>>,
    is_in: NodeVec<bool>,
    /// Where the round is, and what is left for the next one.
    at: u32,
    next_round: Vec<Reverse<u32>>,
}

impl Queue {
    fn new(nodes: usize) -> Queue {
        Queue { positions: BinaryHeap::new(), is_in: NodeVec::new(nodes, |_| false), at: 0, next_round: Vec::new() }
    }

    fn push(&mut self, graph: &Graph, node: Node) {
        if std::mem::replace(&mut self.is_in[node], true) {
            return;
        }
        let position = graph.position(node);
        if graph.is_in_rounds() && position < self.at {
            self.next_round.push(Reverse(position));
        } else {
            self.positions.push(Reverse(position));
        }
    }

    fn pop(&mut self, graph: &Graph) -> Option<Node> {
        if self.positions.is_empty() {
            self.positions.extend(self.next_round.drain(..));
        }
        let Some(Reverse(position)) = self.positions.pop() else {
            self.at = 0;
            return None;
        };
        self.at = position;
        let node = graph.at(position);
        self.is_in[node] = false;
        Some(node)
    }
}
