//! Happens-before as clocks: reachability in one comparison, and the path behind it on demand.
//!
//! Nodes lie on chains (the threads, for our callers), and a chain is totally ordered. So all that is known about what comes
//! before a node fits into one number for each chain: how many of its nodes, a prefix, come before (or are) this one. Adding an
//! edge joins the clock of its source into its target and goes on along the chain and the other edges for as long as something
//! grows. Clocks only grow along a branch of the search; a trail of old entries takes them back.
//!
//! An entry also remembers the edge through which it entered the node's chain, and when. Old versions stay on the trail for
//! as long as they may be asked for, so a path can be had *as it was known at an earlier time*: the explanation of a propagated
//! literal must not use what came after it.

use super::{Edge, EdgeId, Node};

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

/// That some nodes of a chain now come before `node`: those at positions `old..new`.
#[derive(Clone, Copy)]
pub struct Growth {
    pub node: Node,
    pub chain: u32,
    pub old: u32,
    pub new: u32,
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
    work: Vec<Node>,
    queued: Vec<bool>,
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
        self.queued.push(false);
        self.count[node.index() * self.stride + chain as usize] = position + 1;
        node
    }

    /// The next node on the chain of `node`.
    fn successor(&self, node: Node) -> Option<Node> {
        self.chains[self.chain_of(node) as usize].get(self.position(node) as usize + 1).copied()
    }

    /// Takes in an edge that closes no cycle, last of `edges`; `out` lists the edges that leave each node. Appends what grew.
    pub fn join(&mut self, edge: EdgeId, edges: &[Edge], out: &[Vec<EdgeId>], growth: &mut Vec<Growth>) {
        let Edge { from, to, .. } = edges[edge.index()];
        if self.absorb(from, to, Some(edge), growth) {
            self.enqueue(to);
        }
        while let Some(node) = self.work.pop() {
            self.queued[node.index()] = false;
            if let Some(next) = self.successor(node)
                && self.absorb(node, next, None, growth)
            {
                self.enqueue(next);
            }
            for &edge in &out[node.index()] {
                let target = edges[edge.index()].to;
                if self.absorb(node, target, Some(edge), growth) {
                    self.enqueue(target);
                }
            }
        }
    }

    fn enqueue(&mut self, node: Node) {
        if !std::mem::replace(&mut self.queued[node.index()], true) {
            self.work.push(node);
        }
    }

    /// Joins the clock of `from` into that of `to`, over an edge or else along their chain.
    fn absorb(&mut self, from: Node, to: Node, edge: Option<EdgeId>, growth: &mut Vec<Growth>) -> bool {
        let (source, target) = (from.index() * self.stride, to.index() * self.stride);
        let mut grew = false;
        for chain in 0..self.chains.len() {
            let (new, old) = (self.count[source + chain], self.count[target + chain]);
            if new <= old {
                continue;
            }
            grew = true;
            let cell = target + chain;
            let change = self.trail.len() as Time;
            self.trail.push(Change { cell, count: old, origin: self.origin[cell] });
            self.count[cell] = new;
            let edge = edge.unwrap_or(self.origin[source + chain].edge);
            self.origin[cell] = Origin { edge, change };
            growth.push(Growth { node: to, chain: chain as u32, old, new });
        }
        grew
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

    /// The edges of a path from `before` to `after` as it was known at `time`, last one first. Between them it follows chains.
    pub fn path(&self, before: Node, after: Node, time: Time, edges: &[Edge], mut visit: impl FnMut(EdgeId)) {
        let chain = self.chain_of(before);
        let mut node = after;
        while self.chain_of(node) != chain {
            let mut origin = self.origin[node.index() * self.stride + chain as usize];
            while origin.change != Time::MAX && origin.change >= time {
                origin = self.trail[origin.change as usize].origin;
            }
            debug_assert_ne!(origin.edge, NO_EDGE, "no path from {before:?} to {after:?}");
            visit(origin.edge);
            node = edges[origin.edge.index()].from;
        }
    }
}
