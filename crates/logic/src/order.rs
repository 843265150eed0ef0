//! The theory of order: events, conditional happens-before edges, and what reading memory implies about them.
//!
//! *Nodes* are indivisible events. They lie on *chains*, each totally ordered; further edges are fixed, or *guarded* by
//! a literal that makes them hold. An assignment is consistent if some total order of all nodes contains every edge.
//!
//! Memory is a relation on top. A *read* sits at a node; for each write that it may read from there is a literal; and
//! for each write that may touch the location it reads there is a literal which says that the write happens and *hits*
//! that location. When `r` reads from `w`, no write `v` that hits may lie between: `v` comes before `w`, or `r` before
//! `v`. This is all of sequential consistency. The cubic set of clauses is not written out: from-read and write-order
//! edges are derived as decisions are made (He, Sun, Fan, PLDI 2021; Sun, Fan, He, OOPSLA 2022):
//!
//! - rule 1: `v` comes before `r`, so it comes before `w`;
//! - rule 2: `w` comes before `v`, so `r` comes before `v`;
//! - a candidate `w` with `w` before `v` before `r` is overwritten: `r` cannot read from it;
//! - when `r` reads from `w`, it reads from no other candidate;
//! - a guarded edge that would close a cycle is ruled out.
//!
//! Where the papers search the graph for each of these, we compare clocks (`clocks`). Saturation under the rules is
//! not complete (sequential consistency of a given reads-from relation is NP-complete), so a full assignment is put
//! into a line (`linearize`); where that gets stuck, the solver is given the case distinction as a clause and goes on.
//!
//! Which read to settle next, and how, the theory may propose to the core (`guide`).
//!
//! Explanations are made on demand, from the paths as they were when the literal was implied (`explain`); a proof gets
//! these paths, step by step (`justify`).

mod clocks;
mod explain;
mod guide;
mod justify;
mod linearize;
mod saturate;

use crate::core::{Consequence, Propagator};
use crate::literal::Lit;
use crate::proof::Proof;
use clocks::{Clocks, NEAR, Run, Time};
use std::collections::VecDeque;

/// An event: something that happens at one moment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Node(pub u32);

/// A totally ordered sequence of nodes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Chain(pub u32);

/// A read of some location at some node; a node may make several.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Read(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct EdgeId(u32);

impl Node {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl EdgeId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// An edge that holds now.
#[derive(Clone, Copy)]
struct Edge {
    from: Node,
    to: Node,
    reason: Reason,
}

/// Why an edge holds.
#[derive(Clone, Copy)]
enum Reason {
    Fixed,
    /// Its guard, or that a read reads from a write.
    Literal(Lit),
    /// Rule 1 or 2, from the path between `before` and `after` that was known at `time`.
    Memory {
        read: Read,
        source: Lit,
        hit: Lit,
        before: Node,
        after: Node,
        time: Time,
    },
}

/// Why a literal was implied.
#[derive(Clone, Copy)]
enum Why {
    /// Its edge leads from `from` to `to`, and `to` came before `from`.
    Cycle { from: Node, to: Node, time: Time },
    /// The candidate came before `hitter`, which hits, and which came before the read.
    Overwritten { read: Read, candidate: Node, hitter: Node, hit: Lit, time: Time },
    /// The read reads from another write, as `source` says.
    Elsewhere { read: Read, candidate: Node, source: Lit, writer: Node },
}

/// Something that a literal makes true.
#[derive(Clone, Copy)]
enum Meaning {
    Edge(Node, Node),
    ReadsFrom(Read, Node),
    Hits(Read, Node),
}

/// A place on a chain and the literal attached to it there; lists of them are kept sorted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Attached {
    chain: u32,
    position: u32,
    lit: Lit,
    node: Node,
}

#[derive(Default)]
struct ReadState {
    candidates: Vec<Attached>,
    hitters: Vec<Attached>,
    /// By chain: where its hitters begin. Empty if there are too many chains.
    hitters_from: Vec<u32>,
}

/// What lies where, made anew when the structure has grown.
#[derive(Default)]
struct Index {
    stale: bool,
    /// By source chain and target chain: the edges that literals would make, sorted by the position of their source.
    guarded: Vec<Vec<Guarded>>,
    /// By chain: the reads on it, sorted by position.
    reads: Vec<Vec<(u32, Read)>>,
}

#[derive(Clone, Copy)]
struct Guarded {
    from: Node,
    to: Node,
    lit: Lit,
}

/// A level of the search: how long everything was when it began.
#[derive(Clone, Copy)]
struct Level {
    assigned: usize,
    edges: usize,
    sources: usize,
    time: Time,
}

/// A case distinction that the rules did not make: for the read with the given literals (`source`: reads from `writer`;
/// `hit`: `hitter` hits), `hitter` comes before `writer`, or after the read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Split {
    pub read: Read,
    pub source: Lit,
    pub writer: Node,
    pub hit: Lit,
    pub hitter: Node,
}

/// What became of a full assignment.
#[derive(Clone, Debug)]
pub enum Line {
    /// All nodes, in an order in which every read sees the last write.
    Found(Vec<Node>),
    /// Cases to distinguish before one can be found.
    Stuck(Vec<Split>),
}

/// The theory's state: the structure, which only grows, and what holds under the current assignment.
pub struct Order {
    clocks: Clocks,
    meanings: Vec<Vec<Meaning>>,
    guarded: Vec<Guarded>,
    /// By node: reads that may read from its write; reads that its write may hit.
    candidate_of: Vec<Vec<(Read, Lit)>>,
    hit_by: Vec<Vec<(Read, Lit)>>,
    reads: Vec<ReadState>,
    read_node: Vec<Node>,
    index: Index,

    values: Vec<Option<bool>>,
    assigned: Vec<Lit>,
    processed: usize,
    levels: Vec<Level>,
    edges: Vec<Edge>,
    out: Vec<Vec<EdgeId>>,
    /// By read: the literal and the write it reads from; the reads in the order in which they were decided; and by node
    /// the reads that read from it.
    source: Vec<Option<(Lit, Node)>>,
    sources: Vec<Read>,
    readers: Vec<Vec<Read>>,

    pending: VecDeque<Edge>,
    runs: Vec<Run>,
    implied: Vec<Lit>,
    /// By literal: a variable may be implied both ways at once.
    why: Vec<Option<Why>>,
    conflict: Option<Vec<Lit>>,
    line: Option<Line>,
    explainer: explain::Explainer,
    guide: guide::Guide,
    proof: Proof,
}

impl Default for Order {
    fn default() -> Order {
        Order::new()
    }
}

impl Order {
    pub fn new() -> Order {
        Order::with_proof(Proof::default())
    }

    /// Logs its structure, and the steps behind every clause that it makes, to `proof`.
    pub fn with_proof(proof: Proof) -> Order {
        Order {
            clocks: Clocks::default(),
            meanings: Vec::new(),
            guarded: Vec::new(),
            candidate_of: Vec::new(),
            hit_by: Vec::new(),
            reads: Vec::new(),
            read_node: Vec::new(),
            index: Index::default(),
            values: vec![Some(true)],
            assigned: Vec::new(),
            processed: 0,
            levels: Vec::new(),
            edges: Vec::new(),
            out: Vec::new(),
            source: Vec::new(),
            sources: Vec::new(),
            readers: Vec::new(),
            pending: VecDeque::new(),
            runs: Vec::new(),
            implied: Vec::new(),
            why: Vec::new(),
            conflict: None,
            line: None,
            explainer: explain::Explainer::default(),
            guide: guide::Guide::default(),
            proof,
        }
    }

    pub fn add_chain(&mut self) -> Chain {
        self.backtrack(0);
        Chain(self.clocks.add_chain())
    }

    /// A new node, after all others of its chain.
    pub fn add_node(&mut self, chain: Chain) -> Node {
        self.backtrack(0);
        self.index.stale = true;
        self.candidate_of.push(Vec::new());
        self.hit_by.push(Vec::new());
        self.readers.push(Vec::new());
        self.out.push(Vec::new());
        self.proof.node(chain.0);
        self.clocks.add_node(chain.0)
    }

    pub fn nodes(&self) -> usize {
        self.clocks.nodes()
    }

    pub fn chain_of(&self, node: Node) -> Chain {
        Chain(self.clocks.chain_of(node))
    }

    /// `from` comes before `to`, always.
    pub fn add_edge(&mut self, from: Node, to: Node) {
        self.backtrack(0);
        self.proof.edge(from.0, to.0);
        self.pending.push_back(Edge { from, to, reason: Reason::Fixed });
    }

    /// `from` comes before `to` if `guard` holds.
    pub fn add_guarded_edge(&mut self, guard: Lit, from: Node, to: Node) {
        self.proof.guarded_edge(guard, from.0, to.0);
        self.guarded.push(Guarded { from, to, lit: guard });
        self.mean(guard, Meaning::Edge(from, to));
    }

    pub fn add_read(&mut self, node: Node) -> Read {
        let read = Read(self.reads.len() as u32);
        self.proof.read(node.0);
        self.reads.push(ReadState::default());
        self.read_node.push(node);
        self.source.push(None);
        self.index.stale = true;
        read
    }

    /// If `lit` holds, `read` reads what the event `write`, another one than its own, has written. A read has one
    /// source: the literals of a read exclude each other.
    pub fn add_reads_from(&mut self, read: Read, lit: Lit, write: Node) {
        let node = self.read_node[read.0 as usize];
        debug_assert_ne!(node, write, "an event does not read from itself");
        self.proof.reads_from(read.0, lit, write.0);
        let candidate = self.attach(lit, write);
        self.reads[read.0 as usize].candidates.push(candidate);
        self.candidate_of[write.index()].push((read, lit));
        self.guarded.push(Guarded { from: write, to: node, lit });
        self.mean(lit, Meaning::ReadsFrom(read, write));
    }

    /// If `lit` holds, the event `write` happens and writes to the location of `read`.
    pub fn add_hit(&mut self, read: Read, lit: Lit, write: Node) {
        if self.read_node[read.0 as usize] == write {
            return; // one event: nothing can lie between its halves
        }
        self.proof.hits(read.0, lit, write.0);
        let hitter = self.attach(lit, write);
        self.reads[read.0 as usize].hitters.push(hitter);
        self.hit_by[write.index()].push((read, lit));
        self.mean(lit, Meaning::Hits(read, write));
    }

    /// The node at which `read` is made.
    pub fn node_of(&self, read: Read) -> Node {
        self.read_node[read.0 as usize]
    }

    /// What the last full assignment came to.
    pub fn take_line(&mut self) -> Option<Line> {
        self.line.take()
    }

    fn attach(&self, lit: Lit, node: Node) -> Attached {
        Attached { chain: self.clocks.chain_of(node), position: self.clocks.position(node), lit, node }
    }

    fn mean(&mut self, lit: Lit, meaning: Meaning) {
        self.backtrack(0);
        self.index.stale = true;
        let variables = lit.var().0 as usize + 1;
        if self.values.len() < variables {
            self.values.resize(variables, None);
        }
        if self.meanings.len() < 2 * variables {
            self.meanings.resize(2 * variables, Vec::new());
            self.why.resize(2 * variables, None);
        }
        self.meanings[lit.index()].push(meaning);
        // An assignment that came before its meaning is given to it now, unless its turn is still to come.
        if self.value(lit) == Some(true) && !self.assigned[self.processed..].contains(&lit) {
            self.learn(lit, meaning);
        }
    }

    fn value(&self, lit: Lit) -> Option<bool> {
        self.values[lit.var().0 as usize].map(|value| value == lit.is_positive())
    }

    fn rebuild_index(&mut self) {
        if !std::mem::take(&mut self.index.stale) {
            return;
        }
        let chains = self.clocks.chains().len();
        let mut guarded = vec![Vec::new(); chains * chains];
        for &edge in &self.guarded {
            let (from, to) = (self.clocks.chain_of(edge.from), self.clocks.chain_of(edge.to));
            guarded[from as usize * chains + to as usize].push(edge);
        }
        guarded.iter_mut().for_each(|list| list.sort_by_key(|edge| (self.clocks.position(edge.from), edge.lit)));
        let mut reads = vec![Vec::new(); chains];
        for (read, &node) in self.read_node.iter().enumerate() {
            reads[self.clocks.chain_of(node) as usize].push((self.clocks.position(node), Read(read as u32)));
        }
        reads.iter_mut().for_each(|list| list.sort_unstable());
        for read in &mut self.reads {
            read.candidates.sort_unstable();
            read.hitters.sort_unstable();
            if chains <= NEAR {
                let begin = |chain| read.hitters.partition_point(|hitter| hitter.chain < chain) as u32;
                read.hitters_from = (0..=chains as u32).map(begin).collect();
            } else {
                read.hitters_from.clear();
            }
        }
        (self.index.guarded, self.index.reads) = (guarded, reads);
    }
}

impl Propagator for Order {
    fn assign(&mut self, lit: Lit) {
        let var = lit.var().0 as usize;
        if self.values.len() <= var {
            self.values.resize(var + 1, None);
        }
        if self.values[var].is_none() {
            self.values[var] = Some(lit.is_positive());
            self.assigned.push(lit);
        }
    }

    fn new_level(&mut self) {
        self.levels.push(Level {
            assigned: self.assigned.len(),
            edges: self.edges.len(),
            sources: self.sources.len(),
            time: self.clocks.now(),
        });
    }

    fn backtrack(&mut self, level: usize) {
        let Some(&mark) = self.levels.get(level) else { return };
        self.levels.truncate(level);
        self.guide.step_back();
        for lit in self.assigned.drain(mark.assigned..) {
            self.values[lit.var().0 as usize] = None;
        }
        self.processed = self.processed.min(mark.assigned);
        for edge in self.edges.drain(mark.edges..).rev() {
            self.out[edge.from.index()].pop();
        }
        for read in self.sources.drain(mark.sources..).rev() {
            if let Some((_, writer)) = self.source[read.0 as usize].take() {
                self.readers[writer.index()].pop();
            }
        }
        self.clocks.undo(mark.time);
        self.pending.clear();
        self.implied.clear();
        self.conflict = None;
    }

    fn propagate(&mut self) -> Consequence {
        self.rebuild_index();
        if self.conflict.is_none() && !self.saturate() {
            self.implied.clear();
        }
        if self.conflict.is_some() {
            return Consequence::Conflict;
        }
        while let Some(lit) = self.implied.pop() {
            if self.value(lit) != Some(true) {
                return Consequence::Implied(lit);
            }
        }
        Consequence::Nothing
    }

    fn explain(&mut self, lit: Lit, clause: &mut Vec<Lit>) {
        self.explain_literal(lit, clause);
    }

    fn conflict(&self) -> &[Lit] {
        self.conflict.as_deref().unwrap_or_default()
    }

    fn decide(&mut self) -> Option<Lit> {
        self.guess()
    }

    fn model_found(&mut self) {
        self.line = Some(self.linearize());
    }
}
