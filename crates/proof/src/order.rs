//! The event structure, and lemmas about it.
//!
//! A lemma claims that not all of its literals are false. To check it, suppose that they are: the negations of its
//! literals are
//! *asserted*. Its steps must then lead to a cycle. A path is a sequence of nodes, and each hop of a path must be known
//! to go forward in the order:
//! - along a chain, to a node declared later;
//! - along a fixed edge;
//! - along an edge whose guard is asserted (a read comes after the write that it reads from: such an edge, too);
//! - along an edge that an earlier step of the same lemma has derived.
//!
//! A step derives an edge from the memory axiom: if read R reads from the write W and another write X hits R's
//! location, then X is before W, or R is before X.
//! - Rule 1: a path leads from X to R. So R is not before X, and X is before W.
//! - Rule 2: a path leads from W to X. So X is not before W, and R is before X.
//!
//! A lemma may also end, in place of a cycle, with two sources of one read that are both asserted: a read has only one.
//!
//! All asserted literals of a step are in the lemma, so nothing else is assumed. Variable 1 is true by definition.

use crate::Literal;
use crate::record::Record;
use std::collections::{HashMap, HashSet};

/// Nodes, edges and reads, as declared so far.
#[derive(Default)]
pub struct Order {
    /// The chain of each node. Nodes of a chain are declared in order: their numbers say which is earlier.
    chains: Vec<u32>,
    edges: HashSet<Edge>,
    /// The literals that imply an edge, one by one.
    guarded: HashMap<Edge, Vec<Literal>>,
    /// The node of each read.
    reads: Vec<u32>,
    /// By read and write: literals that say that the one reads from the other.
    sources: HashMap<(u32, u32), Vec<Literal>>,
    /// By read and write: literals that say that the write hits the read's location.
    hits: HashMap<(u32, u32), Vec<Literal>>,
}

/// From one node to another.
type Edge = (u32, u32);

const TRUE: Literal = 1;

impl Order {
    pub fn add_node(&mut self, chain: u32) {
        self.chains.push(chain);
    }

    pub fn add_edge(&mut self, from: u32, to: u32) -> Result<(), String> {
        self.edges.insert((self.node(from)?, self.node(to)?));
        Ok(())
    }

    pub fn add_guarded_edge(&mut self, literal: Literal, from: u32, to: u32) -> Result<(), String> {
        let edge = (self.node(from)?, self.node(to)?);
        self.guarded.entry(edge).or_default().push(literal);
        Ok(())
    }

    pub fn add_read(&mut self, node: u32) -> Result<(), String> {
        self.reads.push(self.node(node)?);
        Ok(())
    }

    /// If `literal` holds, `read` reads from the write at the node `write`.
    pub fn add_source(&mut self, read: u32, literal: Literal, write: u32) -> Result<(), String> {
        let at = self.read(read)?;
        if self.node(write)? == at {
            return Err("a read does not read from its own node".to_string());
        }
        self.add_guarded_edge(literal, write, at)?;
        self.sources.entry((read, write)).or_default().push(literal);
        Ok(())
    }

    /// If `literal` holds, the write at the node `write` hits the location of `read`.
    pub fn add_hit(&mut self, read: u32, literal: Literal, write: u32) -> Result<(), String> {
        self.read(read)?;
        self.node(write)?;
        self.hits.entry((read, write)).or_default().push(literal);
        Ok(())
    }

    fn node(&self, node: u32) -> Result<u32, String> {
        let known = (node as usize) < self.chains.len();
        if known { Ok(node) } else { Err(format!("there is no node {node} yet")) }
    }

    /// The node of a read.
    fn read(&self, read: u32) -> Result<u32, String> {
        self.reads.get(read as usize).copied().ok_or_else(|| format!("there is no read {read} yet"))
    }

    /// Checks that `clause` holds in every model, by the steps in the rest of the record.
    pub fn check_lemma(&self, clause: &[Literal], steps: &mut Record) -> Result<(), String> {
        let asserted = clause.iter().map(|literal| -literal).collect();
        let mut lemma = Lemma { order: self, asserted, derived: HashSet::new() };
        loop {
            match steps.word() {
                Some("1") => {
                    let step = lemma.step(steps)?;
                    lemma.path(step.other, step.node, &steps.path()?)?;
                    lemma.derived.insert((step.other, step.write));
                }
                Some("2") => {
                    let step = lemma.step(steps)?;
                    lemma.path(step.write, step.other, &steps.path()?)?;
                    lemma.derived.insert((step.node, step.other));
                }
                Some("c") => return lemma.cycle(&steps.path()?),
                Some("x") => return lemma.two_sources(steps.number()?, steps.number()?, steps.number()?),
                Some(word) => return Err(format!("there is no step `{word}`")),
                None => return Err("the lemma ends without a contradiction".to_string()),
            }
        }
    }
}

/// A lemma under examination.
struct Lemma<'a> {
    order: &'a Order,
    asserted: HashSet<Literal>,
    derived: HashSet<Edge>,
}

/// The node of a read, the write that it reads from, and another write that hits its location; all asserted.
struct Step {
    node: u32,
    write: u32,
    other: u32,
}

impl Lemma<'_> {
    fn step(&self, record: &mut Record) -> Result<Step, String> {
        let (read, write, other) = (record.number()?, record.number()?, record.number()?);
        let node = self.order.read(read)?;
        if other == write || other == node {
            return Err(format!("write {other} does not lie between others"));
        }
        if !self.any_asserted(self.order.sources.get(&(read, write))) {
            return Err(format!("it is not asserted that read {read} reads from {write}"));
        }
        if !self.any_asserted(self.order.hits.get(&(read, other))) {
            return Err(format!("it is not asserted that {other} hits the location of read {read}"));
        }
        Ok(Step { node, write, other })
    }

    fn any_asserted(&self, literals: Option<&Vec<Literal>>) -> bool {
        self.count_asserted(literals) > 0
    }

    fn count_asserted(&self, literals: Option<&Vec<Literal>>) -> usize {
        let asserted = |literal: &&Literal| **literal == TRUE || self.asserted.contains(*literal);
        literals.map_or(0, |some| some.iter().filter(asserted).count())
    }

    /// Two sources of `read`, at different nodes or declared twice at the same one, must be asserted.
    fn two_sources(&self, read: u32, write: u32, other: u32) -> Result<(), String> {
        let count = |write| self.count_asserted(self.order.sources.get(&(read, write)));
        let both = if write == other { count(write) >= 2 } else { count(write) >= 1 && count(other) >= 1 };
        if both { Ok(()) } else { Err(format!("it is not asserted that read {read} reads from {write} and {other}")) }
    }

    /// `nodes` must lead from `from` to `to`.
    fn path(&self, from: u32, to: u32, nodes: &[u32]) -> Result<(), String> {
        if nodes.first() != Some(&from) || nodes.last() != Some(&to) {
            return Err(format!("the path should lead from {from} to {to}"));
        }
        nodes.windows(2).try_for_each(|hop| self.hop(hop[0], hop[1]))
    }

    fn cycle(&self, nodes: &[u32]) -> Result<(), String> {
        let (Some(&first), Some(&last)) = (nodes.first(), nodes.last()) else {
            return Err("the cycle is empty".to_string());
        };
        self.path(first, last, nodes)?;
        self.hop(last, first)
    }

    fn hop(&self, from: u32, to: u32) -> Result<(), String> {
        let edge = (self.order.node(from)?, self.order.node(to)?);
        let along_chain = from < to && self.order.chains[from as usize] == self.order.chains[to as usize];
        let known = along_chain
            || self.order.edges.contains(&edge)
            || self.any_asserted(self.order.guarded.get(&edge))
            || self.derived.contains(&edge);
        if known { Ok(()) } else { Err(format!("nothing says that {from} is before {to}")) }
    }
}
