//! Directed graphs over dense ids: edges as flat rows, orders, strongly connected components.
//!
//! Control flow, calls and constraints are all such graphs, some with millions of nodes; so nothing recurses, and
//! everything is linear.

use std::marker::PhantomData;

use crate::index::Idx;

/// The targets of every node, row after row. Build one for each direction that is walked.
#[derive(Clone, Debug)]
pub struct Rows<I> {
    /// Where each row begins, and where the last one ends.
    starts: Vec<u32>,
    targets: Vec<I>,
    marker: PhantomData<fn(I)>,
}

impl<I: Idx> Rows<I> {
    /// `nodes` is their number. The order of `edges` is kept within each row.
    pub fn new(nodes: usize, edges: &[(I, I)]) -> Rows<I> {
        let mut starts = vec![0u32; nodes + 1];
        for (from, _) in edges {
            starts[from.index() + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut targets = vec![I::new(0); edges.len()];
        for (from, to) in edges {
            let slot = &mut next[from.index()];
            targets[*slot as usize] = *to;
            *slot += 1;
        }
        Rows { starts, targets, marker: PhantomData }
    }

    /// The same edges, the other way.
    pub fn reversed(&self) -> Rows<I> {
        let mut edges = Vec::with_capacity(self.targets.len());
        for node in (0..self.len()).map(I::new) {
            edges.extend(self[node].iter().map(|target| (*target, node)));
        }
        Rows::new(self.len(), &edges)
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All nodes that `root` reaches, each before those that come after it on every path without a cycle.
    pub fn reverse_post_order(&self, root: I) -> Vec<I> {
        let mut visited = vec![false; self.len()];
        let mut order = Vec::new();
        let mut stack = vec![(root, 0)];
        visited[root.index()] = true;
        while let Some((node, next)) = stack.last_mut() {
            match self[*node].get(*next) {
                Some(&target) => {
                    *next += 1;
                    if !visited[target.index()] {
                        visited[target.index()] = true;
                        stack.push((target, 0));
                    }
                }
                None => {
                    order.push(*node);
                    stack.pop();
                }
            }
        }
        order.reverse();
        order
    }

    /// Which nodes the roots reach, roots included.
    pub fn reachable(&self, roots: impl IntoIterator<Item = I>) -> Vec<bool> {
        let mut reached = vec![false; self.len()];
        let mut work: Vec<I> = roots.into_iter().collect();
        while let Some(node) = work.pop() {
            if !std::mem::replace(&mut reached[node.index()], true) {
                work.extend(self[node].iter().filter(|target| !reached[target.index()]));
            }
        }
        reached
    }

    /// Strongly connected components (Tarjan), targets before sources: the callee before its callers.
    pub fn components(&self) -> Components<I> {
        let found = Components { nodes: Vec::with_capacity(self.len()), starts: vec![0] };
        let mut tarjan = Tarjan { low: vec![UNSEEN; self.len()], pending: Vec::new(), next: 0, found };
        for node in (0..self.len()).map(I::new) {
            if tarjan.low[node.index()] == UNSEEN {
                tarjan.visit(self, node);
            }
        }
        tarjan.found
    }
}

/// The strongly connected components of a graph: each node is in one of them.
#[derive(Clone, Debug)]
pub struct Components<I> {
    nodes: Vec<I>,
    starts: Vec<u32>,
}

impl<I: Idx> Components<I> {
    /// Each sorted, targets before sources.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[I]> + ExactSizeIterator {
        self.starts.windows(2).map(|ends| &self.nodes[ends[0] as usize..ends[1] as usize])
    }

    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<I: Idx> std::ops::Index<I> for Rows<I> {
    type Output = [I];
    fn index(&self, node: I) -> &[I] {
        &self.targets[self.starts[node.index()] as usize..self.starts[node.index() + 1] as usize]
    }
}

const UNSEEN: u32 = u32::MAX;
const DONE: u32 = u32::MAX - 1;

struct Tarjan<I> {
    /// The least number that a node is known to reach; its own at first.
    low: Vec<u32>,
    /// Nodes that are in no component yet.
    pending: Vec<I>,
    next: u32,
    found: Components<I>,
}

impl<I: Idx> Tarjan<I> {
    fn visit(&mut self, rows: &Rows<I>, root: I) {
        let mut stack = vec![self.open(root)];
        while let Some((node, number, next)) = stack.last_mut() {
            let (node, number) = (*node, *number);
            if let Some(&target) = rows[node].get(*next) {
                *next += 1;
                match self.low[target.index()] {
                    UNSEEN => stack.push(self.open(target)),
                    DONE => {}
                    low => self.low[node.index()] = self.low[node.index()].min(low),
                }
                continue;
            }
            stack.pop();
            let low = self.low[node.index()];
            if low == number {
                self.close(node);
            } else if let Some((parent, ..)) = stack.last() {
                self.low[parent.index()] = self.low[parent.index()].min(low);
            }
        }
    }

    fn open(&mut self, node: I) -> (I, u32, usize) {
        let number = self.next;
        self.next += 1;
        self.low[node.index()] = number;
        self.pending.push(node);
        (node, number, 0)
    }

    fn close(&mut self, root: I) {
        let start = self.pending.iter().rposition(|node| *node == root).unwrap_or(0);
        self.pending[start..].sort_unstable();
        self.pending[start..].iter().for_each(|node| self.low[node.index()] = DONE);
        self.found.nodes.extend(self.pending.drain(start..));
        self.found.starts.push(self.found.nodes.len() as u32);
    }
}
