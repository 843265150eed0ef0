//! Reads-from: a read that occurs returns what the last write before it wrote, or what was there initially.
//!
//! The engine knows which writes a read may copy, and which others may touch the location. Each candidate gets a
//! *source* literal, which implies that the read occurs, that the write occurs and *hits* the location, and that the
//! values are equal. One of the sources of a read that occurs holds. That no other write that hits lies between the two
//! is said in one of two ways:
//!
//! - [`Encoding::Composition`] leaves it to the theory of order, which derives from-read and write-order edges during
//!   the search (paper 000, section 5, without its cubic set of clauses);
//! - [`Encoding::Cssa`] writes a clause for each read and each pair of writes, over happens-before literals (paper 003,
//!   section 4).
//!
//! One node may make several writes, and read what it has written. Among the writes of one node their *positions*
//! decide: only the last one that hits can be seen.

use crate::Event;
use crate::order::{KnownOrder, precedes};
use leno_logic::literal::Lit;
use leno_logic::order::{Node, Read};
use leno_logic::solver::Solver;

/// How it is said that no write comes between a write and a read that copies it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Encoding {
    #[default]
    Composition,
    Cssa,
}

/// A write that a read may copy, or that may overwrite what it could copy.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    pub node: Node,
    /// It occurs, and writes to the location of the read.
    pub hit: Lit,
    /// Among the writes of its node: later ones have larger positions.
    pub position: usize,
}

/// A read that is being linked to its sources.
pub struct Sources {
    read: Event,
    /// The read in the theory of order, if that takes care of it.
    theory: Option<Read>,
    /// Hits of the read's own node, which hide everything else.
    own: Vec<Lit>,
    writes: Vec<(Write, Option<Lit>)>,
    initial: Option<Lit>,
    /// The read does not occur, or one of its sources holds.
    clause: Vec<Lit>,
}

impl Sources {
    pub fn new(solver: &mut Solver, encoding: Encoding, read: Event) -> Sources {
        let theory = (encoding == Encoding::Composition).then(|| solver.add_read(read.node));
        Sources { read, theory, own: Vec::new(), writes: Vec::new(), initial: None, clause: vec![!read.occurs] }
    }

    /// An earlier write of the same node, where `hit` holds: nothing from before the node is seen then. To be told
    /// first, and the latest write first.
    pub fn own_write(&mut self, solver: &mut Solver, hit: Lit, equal: impl FnOnce(&mut Solver, Lit)) {
        let source = self.source(solver);
        solver.add_clause(&[!source, hit]);
        equal(solver, source);
        self.own.push(hit);
    }

    /// A write that may be what is read. `equal` demands that the values are equal where a literal holds.
    pub fn may_copy(&mut self, solver: &mut Solver, write: Write, equal: impl FnOnce(&mut Solver, Lit)) {
        let source = self.source(solver);
        solver.add_clause(&[!source, write.hit]);
        equal(solver, source);
        if let Some(read) = self.theory {
            solver.add_reads_from(read, source, write.node);
        }
        self.add_write(solver, write, Some(source));
    }

    /// A write that is not what is read, but may hide another one.
    pub fn may_be_overwritten_by(&mut self, solver: &mut Solver, write: Write) {
        if write.node != self.read.node {
            self.add_write(solver, write, None);
        }
    }

    /// The read may see what was there before all writes. `initial` is a node that comes before all others.
    pub fn may_be_initial(&mut self, solver: &mut Solver, initial: Node, equal: impl FnOnce(&mut Solver, Lit)) {
        let source = self.source(solver);
        equal(solver, source);
        if let Some(read) = self.theory {
            solver.add_reads_from(read, source, initial);
        }
        self.initial = Some(source);
    }

    /// All sources have been told.
    pub fn finish(self, solver: &mut Solver, known: &dyn KnownOrder) {
        solver.add_clause(&self.clause);
        if self.theory.is_none() {
            self.write_out(solver, known);
        }
    }

    /// A new source of the read, which none of its node's own writes hides.
    fn source(&mut self, solver: &mut Solver) -> Lit {
        let source = solver.new_literal();
        solver.add_clause(&[!source, self.read.occurs]);
        for &own in &self.own {
            solver.add_clause(&[!source, !own]);
        }
        self.clause.push(source);
        source
    }

    fn add_write(&mut self, solver: &mut Solver, write: Write, source: Option<Lit>) {
        if let Some(read) = self.theory {
            solver.add_hit(read, write.hit, write.node);
        }
        for (other, other_source) in self.writes.iter().filter(|(other, _)| other.node == write.node) {
            let (hidden, hit) = match other.position < write.position {
                true => (*other_source, write.hit),
                false if other.position > write.position => (source, other.hit),
                false => continue,
            };
            if let Some(hidden) = hidden {
                solver.add_clause(&[!hidden, !hit]);
            }
        }
        self.writes.push((write, source));
    }

    /// No write that hits lies between a write and the read that copies it: clause by clause.
    fn write_out(&self, solver: &mut Solver, known: &dyn KnownOrder) {
        let reader = self.read.node;
        for &(write, source) in &self.writes {
            let Some(source) = source else { continue };
            let first = precedes(solver, known, write.node, reader);
            solver.add_clause(&[!source, first]);
            for (other, _) in self.writes.iter().filter(|(other, _)| other.node != write.node) {
                let before = precedes(solver, known, other.node, write.node);
                let after = precedes(solver, known, reader, other.node);
                solver.add_clause(&[!source, !other.hit, before, after]);
            }
        }
        let Some(initial) = self.initial else { return };
        for (other, _) in &self.writes {
            let after = precedes(solver, known, reader, other.node);
            solver.add_clause(&[!initial, !other.hit, after]);
        }
    }
}
