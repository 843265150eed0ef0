//! Explanations: the literals behind a cycle.
//!
//! An explanation is a clause, the negations of the literals that made the edges of some paths. A derived edge stands
//! on a path of its own, known before it was derived, so explaining goes back in time and ends. Each edge is explained
//! once for a clause, however many paths use it.

use super::{Clocks, Edge, EdgeId, Node, Order, Reason, Time, Why};
use crate::literal::Lit;

/// Marks that are cleared by counting up.
#[derive(Default)]
pub(super) struct Explainer {
    round: u32,
    literal_seen: Vec<u32>,
    edge_seen: Vec<u32>,
    /// The edges behind the clause, once it is finished.
    pub(super) edges: Vec<EdgeId>,
}

impl Explainer {
    fn begin(&mut self, edges: usize, literals: usize) {
        self.round += 1;
        self.edges.clear();
        self.edge_seen.resize(self.edge_seen.len().max(edges), 0);
        self.literal_seen.resize(self.literal_seen.len().max(literals), 0);
    }

    /// Adds the negation of a literal that holds.
    fn literal(&mut self, lit: Lit, clause: &mut Vec<Lit>) {
        let seen = &mut self.literal_seen[lit.index()];
        if *seen != self.round && lit != Lit::TRUE {
            clause.push(!lit);
        }
        *seen = self.round;
    }

    fn path(&mut self, before: Node, after: Node, time: Time, clocks: &Clocks, edges: &[Edge]) {
        clocks.path(before, after, time, edges, |edge| {
            if self.edge_seen[edge.index()] != self.round {
                self.edge_seen[edge.index()] = self.round;
                self.edges.push(edge);
            }
        });
    }

    /// The literals of all edges collected so far, and of those that they stand on.
    fn finish(&mut self, clocks: &Clocks, edges: &[Edge], clause: &mut Vec<Lit>) {
        let mut next = 0;
        while let Some(&edge) = self.edges.get(next) {
            next += 1;
            self.reason(edges[edge.index()].reason, clocks, edges, clause);
        }
    }

    fn reason(&mut self, reason: Reason, clocks: &Clocks, edges: &[Edge], clause: &mut Vec<Lit>) {
        match reason {
            Reason::Fixed => {}
            Reason::Literal(lit) => self.literal(lit, clause),
            Reason::Memory { source, hit, before, after, time, .. } => {
                self.literal(source, clause);
                self.literal(hit, clause);
                self.path(before, after, time, clocks, edges);
            }
        }
    }
}

impl Order {
    /// Sets the conflict: `edge` would close a cycle.
    pub(super) fn explain_cycle(&mut self, edge: Edge) {
        let mut clause = Vec::new();
        let explainer = &mut self.explainer;
        explainer.begin(self.edges.len(), self.meanings.len());
        explainer.reason(edge.reason, &self.clocks, &self.edges, &mut clause);
        explainer.path(edge.to, edge.from, self.clocks.now(), &self.clocks, &self.edges);
        explainer.finish(&self.clocks, &self.edges, &mut clause);
        self.conflict = Some(clause);
        self.justify_cycle(edge);
    }

    /// The clause that implied `lit`, which comes first.
    pub(super) fn explain_literal(&mut self, lit: Lit, clause: &mut Vec<Lit>) {
        clause.push(lit);
        let Some(why) = self.why[lit.index()] else { return };
        let explainer = &mut self.explainer;
        explainer.begin(self.edges.len(), self.meanings.len());
        match why {
            Why::Cycle { from, to, time } => explainer.path(to, from, time, &self.clocks, &self.edges),
            Why::Overwritten { read, candidate, hitter, hit, time } => {
                let reader = self.read_node[read.0 as usize];
                explainer.literal(hit, clause);
                explainer.path(candidate, hitter, time, &self.clocks, &self.edges);
                explainer.path(hitter, reader, time, &self.clocks, &self.edges);
            }
            Why::Elsewhere { source, .. } => explainer.literal(source, clause),
        }
        explainer.finish(&self.clocks, &self.edges, clause);
        self.justify_literal(why);
    }
}
