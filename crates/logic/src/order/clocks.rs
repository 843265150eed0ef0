//! Happens-before as clocks: reachability in one comparison, and the path behind it on demand.
//!
//! Nodes lie on chains (the threads, for our callers), and a chain is totally ordered. So all that is known about what
//! comes before a node fits into one number for each chain: how many of its nodes, a prefix, come before (or are) this
//! one. Adding an edge joins the clock of its source into its target and goes on along the chain and the other edges
//! for as long as something grows. Clocks only grow along a branch of the search; a trail of old entries takes them
//! back.
//!
//! An entry also remembers the edge through which it entered the node's chain, and when. Old versions stay on the trail
//! for as long as they may be asked for, so a path can be had *as it was known at an earlier time*: the explanation of
//! a propagated literal must not use what came after it.

use super::{Edge, EdgeId, Node};
use std::collections::VecDeque;

/// A moment: the length of the trail of clock changes.
pub type Time = u32;

const NO_EDGE: EdgeId = EdgeId(u32::MAX);

#[derive(Clone, Copy)]
struct Origin {
    /// The edge by which this entry came into the chain of its node.
    edge: EdgeId,
    /// The change on the trail that made this entry; `Time::MAX` for an entry that was always there.
    change: Time,
}

struct Change {
    cell: usize,
    count: u32,
    origin: Origin,
}

/// That more nodes now come before others: the nodes of `source` at positions below `new`, before those of `target` at
/// positions `start..end`. Until now it was those below `old` for the first of these, and no fewer for the others.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub source: u32,
    pub old: u32,
    pub new: u32,
    pub target: u32,
    pub start: u32,
    pub end: u32,
}

/// The clocks of all nodes.
#[derive(Default)]
pub struct Clocks {
    chain_of: Vec<u32>,
    position: Vec<u32>,
    chains: Vec<Vec<Node>>,
    /// Entries of a row; at least the number of chains.
    stride: usize,
    count: Vec<u32>,
    origin: Vec<Origin>,
    trail: Vec<Change>,
    work: VecDeque<EdgeId>,
    growing: Vec<usize>,
}

impl Clocks {
    pub fn chain_of(&self, node: Node) -> u32 {
        self.chain_of[node.index()]
    }

    pub fn position(&self, node: Node) -> u32 {
        self.position[node.index()]
    }

    pub fn nodes(&self) -> usize {
        self.chain_of.len()
    }

    pub fn chains(&self) -> &[Vec<Node>] {
        &self.chains
    }

    pub fn now(&self) -> Time {
        self.trail.len() as Time
    }

    /// How many nodes of `chain` come before `node` (its own chain: itself included).
    pub fn count(&self, node: Node, chain: u32) -> u32 {
        self.count[node.index() * self.stride + chain as usize]
    }

    pub fn row(&self, node: Node) -> &[u32] {
        &self.count[node.index() * self.stride..][..self.chains.len()]
    }

    /// Whether `before` comes before `after`, or is it.
    pub fn reaches(&self, before: Node, after: Node) -> bool {
        self.count(after, self.chain_of(before)) > self.position(before)
    }

    pub fn add_chain(&mut self) -> u32 {
        if self.chains.len() == self.stride {
            self.widen((self.stride * 2).max(4));
        }
        self.chains.push(Vec::new());
        self.chains.len() as u32 - 1
    }

    fn widen(&mut self, stride: usize) {
        let mut count = vec![0; self.nodes() * stride];
        let mut origin = vec![Origin { edge: NO_EDGE, change: Time::MAX }; self.nodes() * stride];
        for node in 0..self.nodes() {
            let (from, to) = (node * self.stride, node * stride);
            count[to..to + self.stride].copy_from_slice(&self.count[from..from + self.stride]);
            origin[to..to + self.stride].copy_from_slice(&self.origin[from..from + self.stride]);
        }
        for change in &mut self.trail {
            change.cell = change.cell / self.stride * stride + change.cell % self.stride;
        }
        (self.stride, self.count, self.origin) = (stride, count, origin);
    }

    /// Adds a node to the end of a chain. What comes before the chain's last node comes before it, too.
    pub fn add_node(&mut self, chain: u32) -> Node {
        let node = Node(self.nodes() as u32);
        let position = self.chains[chain as usize].len() as u32;
        match self.chains[chain as usize].last() {
            Some(last) => {
                let row = last.index() * self.stride..(last.index() + 1) * self.stride;
                self.count.extend_from_within(row.clone());
                self.origin.extend_from_within(row);
            }
            None => {
                self.count.resize(self.count.len() + self.stride, 0);
                self.origin.resize(self.count.len(), Origin { edge: NO_EDGE, change: Time::MAX });
            }
        }
        self.chain_of.push(chain);
        self.position.push(position);
        self.chains[chain as usize].push(node);
        self.count[node.index() * self.stride + chain as usize] = position + 1;
        node
    }

    /// Takes in an edge that closes no cycle, last of `edges`; `out` lists the edges that leave each node. Appends what
    /// grew.
    pub fn join(&mut self, edge: EdgeId, edges: &[Edge], out: &[Vec<EdgeId>], runs: &mut Vec<Run>) {
        self.work.push_back(edge);
        while let Some(edge) = self.work.pop_front() {
            self.enter(edge, edges[edge.index()], out, runs);
        }
    }

    /// Joins the clock of the edge's source into its target, and into what follows that on its chain. Counts do not
    /// fall along a chain, so an entry that does not grow at some node grows at none after it.
    fn enter(&mut self, id: EdgeId, edge: Edge, out: &[Vec<EdgeId>], runs: &mut Vec<Run>) {
        let (target, start) = (self.chain_of(edge.to), self.position(edge.to));
        let (source, first) = (edge.from.index() * self.stride, edge.to.index() * self.stride);
        let mut growing = std::mem::take(&mut self.growing);
        for chain in 0..self.chains.len() {
            let (old, new) = (self.count[first + chain], self.count[source + chain]);
            if new > old {
                growing.push(runs.len());
                runs.push(Run { source: chain as u32, old, new, target, start, end: start });
            }
        }
        let mut position = start;
        while let Some(&node) = self.chains[target as usize].get(position as usize) {
            growing.retain(|&run| self.grow(node, id, &mut runs[run]));
            if growing.is_empty() {
                break;
            }
            self.work.extend(&out[node.index()]);
            position += 1;
        }
        growing.clear();
        self.growing = growing;
    }

    /// Extends a run to `node`, if its entry grows there.
    fn grow(&mut self, node: Node, edge: EdgeId, run: &mut Run) -> bool {
        let cell = node.index() * self.stride + run.source as usize;
        let old = self.count[cell];
        if run.new <= old {
            return false;
        }
        let change = self.trail.len() as Time;
        self.trail.push(Change { cell, count: old, origin: self.origin[cell] });
        self.count[cell] = run.new;
        self.origin[cell] = Origin { edge, change };
        run.end += 1;
        true
    }

    /// Goes back to an earlier moment.
    pub fn undo(&mut self, time: Time) {
        while self.trail.len() > time as usize {
            if let Some(change) = self.trail.pop() {
                self.count[change.cell] = change.count;
                self.origin[change.cell] = change.origin;
            }
        }
    }

    /// The edges of a path from `before` to `after` as it was known at `time`, last one first. Between them it follows
    /// chains. Of several paths we take the one that was there first: what is older holds in more branches of the
    /// search.
    pub fn path(&self, before: Node, after: Node, time: Time, edges: &[Edge], mut visit: impl FnMut(EdgeId)) {
        let (chain, position) = (self.chain_of(before), self.position(before));
        let mut node = after;
        while self.chain_of(node) != chain {
            let mut origin = self.origin[node.index() * self.stride + chain as usize];
            while let Some(change) = self.trail.get(origin.change as usize)
                && (origin.change >= time || change.count > position)
            {
                origin = change.origin;
            }
            debug_assert_ne!(origin.edge, NO_EDGE, "no path from {before:?} to {after:?}");
            visit(origin.edge);
            node = edges[origin.edge.index()].from;
        }
    }
}
