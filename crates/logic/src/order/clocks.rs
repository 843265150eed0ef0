//! Happens-before as clocks: reachability in one comparison, and the path behind it on demand.
//!
//! Nodes lie on chains (the threads, for our callers), and a chain is totally ordered. So all that is known about what
//! comes before a node fits into one number for each chain: how many of its nodes, a prefix, come before (or are) this
//! one. Adding an edge joins the clock of its source into its target and goes on along the chain and the other edges
//! for as long as something grows. Clocks only grow along a branch of the search; a trail of old entries takes them
//! back.
//!
//! A number for each node and each chain would be too much where there are thousands of chains: a node has a row of
//! numbers for the first chains only, and the others in blocks that are made when one of their numbers is no longer 0.
//!
//! An entry also remembers the edge through which it entered the node's chain, and when. Old versions stay on the trail
//! for as long as they may be asked for, so a path can be had *as it was known at an earlier time*: the explanation of
//! a propagated literal must not use what came after it.

use super::{Edge, EdgeId, Node};
use std::collections::VecDeque;

/// A moment: the length of the trail of clock changes.
pub type Time = u32;

const NO_EDGE: EdgeId = EdgeId(u32::MAX);

/// So many chains have an entry in the row of every node.
pub const NEAR: usize = 64;
/// The entries of other chains come in blocks of so many.
const BLOCK: usize = 16;

#[derive(Clone, Copy)]
struct Origin {
    /// The edge by which this entry came into the chain of its node.
    edge: EdgeId,
    /// The change on the trail that made this entry; `Time::MAX` for an entry that was always there.
    change: Time,
}

const ALWAYS: Origin = Origin { edge: NO_EDGE, change: Time::MAX };

struct Change {
    node: Node,
    chain: u32,
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

/// Entries of chains beyond the first ones, as far as they are not 0.
#[derive(Default)]
struct Far {
    /// By node, and by block of chains: the number of the block plus 1; 0 or nothing if there is none.
    blocks: Vec<Vec<u32>>,
    count: Vec<[u32; BLOCK]>,
    origin: Vec<[Origin; BLOCK]>,
}

impl Far {
    fn place(chain: u32) -> (usize, usize) {
        let beyond = chain as usize - NEAR;
        (beyond / BLOCK, beyond % BLOCK)
    }

    fn find(&self, node: Node, chain: u32) -> Option<(usize, usize)> {
        let (block, at) = Far::place(chain);
        match self.blocks[node.index()].get(block) {
            None | Some(0) => None,
            Some(number) => Some((*number as usize - 1, at)),
        }
    }

    fn find_or_make(&mut self, node: Node, chain: u32) -> (usize, usize) {
        let (block, at) = Far::place(chain);
        let blocks = &mut self.blocks[node.index()];
        if blocks.len() <= block {
            blocks.resize(block + 1, 0);
        }
        if blocks[block] == 0 {
            self.count.push([0; BLOCK]);
            self.origin.push([ALWAYS; BLOCK]);
            blocks[block] = self.count.len() as u32;
        }
        (blocks[block] as usize - 1, at)
    }

    /// Adds a node with the entries of another one.
    fn add_node(&mut self, like: Option<Node>) {
        let mut blocks = like.map_or_else(Vec::new, |like| self.blocks[like.index()].clone());
        for number in blocks.iter_mut().filter(|number| **number > 0) {
            let old = *number as usize - 1;
            self.count.push(self.count[old]);
            self.origin.push(self.origin[old]);
            *number = self.count.len() as u32;
        }
        self.blocks.push(blocks);
    }

    /// The chains of which a node has entries.
    fn chains(&self, node: Node) -> impl Iterator<Item = u32> + '_ {
        let made = self.blocks[node.index()].iter().enumerate().filter(|(_, number)| **number > 0);
        made.flat_map(|(block, _)| (0..BLOCK).map(move |at| (NEAR + block * BLOCK + at) as u32))
    }
}

/// The clocks of all nodes.
#[derive(Default)]
pub struct Clocks {
    chain_of: Vec<u32>,
    position: Vec<u32>,
    chains: Vec<Vec<Node>>,
    /// Entries of a row; at least the number of chains that are near.
    stride: usize,
    count: Vec<u32>,
    origin: Vec<Origin>,
    /// The entries of chains that are not near.
    far: Far,
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
        match (chain as usize) < NEAR {
            true => self.count[node.index() * self.stride + chain as usize],
            false => self.far_count(node, chain),
        }
    }

    fn far_count(&self, node: Node, chain: u32) -> u32 {
        if self.chain_of(node) == chain {
            return self.position(node) + 1;
        }
        self.far.find(node, chain).map_or(0, |(block, at)| self.far.count[block][at])
    }

    fn origin(&self, node: Node, chain: u32) -> Origin {
        match (chain as usize) < NEAR {
            true => self.origin[node.index() * self.stride + chain as usize],
            false => self.far.find(node, chain).map_or(ALWAYS, |(block, at)| self.far.origin[block][at]),
        }
    }

    fn entry_mut(&mut self, node: Node, chain: u32) -> (&mut u32, &mut Origin) {
        if (chain as usize) < NEAR {
            let cell = node.index() * self.stride + chain as usize;
            return (&mut self.count[cell], &mut self.origin[cell]);
        }
        let (block, at) = self.far.find_or_make(node, chain);
        (&mut self.far.count[block][at], &mut self.far.origin[block][at])
    }

    /// The chains of which nodes may come before `node`, each with how many do.
    pub fn row(&self, node: Node) -> impl Iterator<Item = (u32, u32)> + '_ {
        let near = self.chains.len().min(NEAR);
        let row = &self.count[node.index() * self.stride..][..near];
        let own = Some(self.chain_of(node)).filter(|own| *own as usize >= NEAR);
        let far = own.into_iter().chain(self.far.chains(node)).map(move |chain| (chain, self.far_count(node, chain)));
        row.iter().enumerate().map(|(chain, count)| (chain as u32, *count)).chain(far)
    }

    /// Whether `before` comes before `after`, or is it.
    pub fn reaches(&self, before: Node, after: Node) -> bool {
        self.count(after, self.chain_of(before)) > self.position(before)
    }

    pub fn add_chain(&mut self) -> u32 {
        if self.chains.len() == self.stride && self.stride < NEAR {
            self.widen((self.stride * 2).max(4));
        }
        self.chains.push(Vec::new());
        self.chains.len() as u32 - 1
    }

    fn widen(&mut self, stride: usize) {
        let mut count = vec![0; self.nodes() * stride];
        let mut origin = vec![ALWAYS; self.nodes() * stride];
        for node in 0..self.nodes() {
            let (from, to) = (node * self.stride, node * stride);
            count[to..to + self.stride].copy_from_slice(&self.count[from..from + self.stride]);
            origin[to..to + self.stride].copy_from_slice(&self.origin[from..from + self.stride]);
        }
        (self.stride, self.count, self.origin) = (stride, count, origin);
    }

    /// Adds a node to the end of a chain. What comes before the chain's last node comes before it, too.
    pub fn add_node(&mut self, chain: u32) -> Node {
        let node = Node(self.nodes() as u32);
        let position = self.chains[chain as usize].len() as u32;
        let last = self.chains[chain as usize].last().copied();
        match last {
            Some(last) => {
                let row = last.index() * self.stride..(last.index() + 1) * self.stride;
                self.count.extend_from_within(row.clone());
                self.origin.extend_from_within(row);
            }
            None => {
                self.count.resize(self.count.len() + self.stride, 0);
                self.origin.resize(self.count.len(), ALWAYS);
            }
        }
        self.far.add_node(last);
        self.chain_of.push(chain);
        self.position.push(position);
        self.chains[chain as usize].push(node);
        if (chain as usize) < NEAR {
            self.count[node.index() * self.stride + chain as usize] = position + 1;
        }
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
        let mut grows = |chain: u32, old: u32, new: u32| {
            if new > old {
                growing.push(runs.len());
                runs.push(Run { source: chain, old, new, target, start, end: start });
            }
        };
        for chain in 0..self.chains.len().min(NEAR) {
            grows(chain as u32, self.count[first + chain], self.count[source + chain]);
        }
        if self.chains.len() > NEAR {
            let own = Some(self.chain_of(edge.from)).filter(|own| *own as usize >= NEAR);
            for chain in own.into_iter().chain(self.far.chains(edge.from)) {
                grows(chain, self.far_count(edge.to, chain), self.far_count(edge.from, chain));
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
        let change = self.trail.len() as Time;
        let (chain, new) = (run.source, run.new);
        if new <= self.count(node, chain) {
            return false;
        }
        let (count, origin) = self.entry_mut(node, chain);
        let before = (*count, *origin);
        (*count, *origin) = (new, Origin { edge, change });
        self.trail.push(Change { node, chain, count: before.0, origin: before.1 });
        run.end += 1;
        true
    }

    /// Goes back to an earlier moment.
    pub fn undo(&mut self, time: Time) {
        while self.trail.len() > time as usize {
            if let Some(change) = self.trail.pop() {
                let (count, origin) = self.entry_mut(change.node, change.chain);
                (*count, *origin) = (change.count, change.origin);
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
            let mut origin = self.origin(node, chain);
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

#[cfg(test)]
mod tests {
    use super::super::Reason;
    use super::*;

    const CHAINS: u32 = 3 * NEAR as u32;
    const LENGTH: u32 = 3;

    /// Nodes and edges with more chains than a row has entries: whatever is reachable is known, before and after going
    /// back.
    #[test]
    fn clocks_of_many_chains_know_what_is_reachable() {
        let mut clocks = Clocks::default();
        let nodes: Vec<Node> = (0..LENGTH)
            .flat_map(|_| 0..CHAINS)
            .map(|chain| {
                while clocks.chains().len() <= chain as usize {
                    clocks.add_chain();
                }
                clocks.add_node(chain)
            })
            .collect();
        let (mut edges, mut out): (Vec<Edge>, Vec<Vec<EdgeId>>) = (Vec::new(), vec![Vec::new(); nodes.len()]);
        let mut seed: u32 = 1;
        let mut below = |bound: usize| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as usize % bound
        };
        let mut halfway = (0, Vec::new());
        for count in 0..400 {
            if count == 200 {
                halfway = (clocks.now(), edges.clone());
            }
            // (Edges go forward in the order in which the nodes were made, so that there is no cycle.)
            let to = 1 + below(nodes.len() - 1);
            let edge = Edge { from: nodes[below(to)], to: nodes[to], reason: Reason::Fixed };
            if clocks.reaches(edge.to, edge.from) {
                continue;
            }
            let id = EdgeId(edges.len() as u32);
            edges.push(edge);
            out[edge.from.index()].push(id);
            clocks.join(id, &edges, &out, &mut Vec::new());
        }
        assert_same(&clocks, &nodes, &edges);
        clocks.undo(halfway.0);
        assert_same(&clocks, &nodes, &halfway.1);
    }

    fn assert_same(clocks: &Clocks, nodes: &[Node], edges: &[Edge]) {
        for &from in nodes {
            let mut reached = vec![false; nodes.len()];
            let mut open = vec![from];
            while let Some(node) = open.pop() {
                if std::mem::replace(&mut reached[node.index()], true) {
                    continue;
                }
                let chain = &clocks.chains()[clocks.chain_of(node) as usize];
                open.extend(chain.get(clocks.position(node) as usize + 1));
                open.extend(edges.iter().filter(|edge| edge.from == node).map(|edge| edge.to));
            }
            for &to in nodes {
                assert_eq!(clocks.reaches(from, to), reached[to.index()], "{from:?} {to:?}");
            }
        }
    }
}
