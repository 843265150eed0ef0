//! Justifications: the paths behind an explanation, step by step, for the proof.
//!
//! An explanation has collected the edges that it stands on. Those that rule 1 or 2 derived become steps, in the order
//! in which they were inserted: a derived edge stands on older ones only. What closes the cycle comes last.

use super::{Edge, Node, Order, Read, Reason, Time, Why};

impl Order {
    /// For the conflict that `edge` would close a cycle.
    pub(super) fn justify_cycle(&mut self, edge: Edge) {
        if self.proof.is_on() {
            self.begin_justification();
            self.justify_edge(edge);
            self.proof.cycle(self.nodes_of_path(edge.to, edge.from, self.clocks.now()));
        }
    }

    /// For a literal that was implied.
    pub(super) fn justify_literal(&mut self, why: Why) {
        if self.proof.is_on() {
            self.begin_justification();
            match why {
                Why::Cycle { from, to, time } => self.proof.cycle(self.nodes_of_path(to, from, time)),
                Why::Overwritten { read, candidate, hitter, time, .. } => {
                    // If it read from the candidate, it would come before the hitter.
                    let path = self.nodes_of_path(candidate, hitter, time);
                    self.proof.derive_after_read(read.0, candidate.0, hitter.0, path);
                    self.proof.cycle(self.nodes_of_path(hitter, self.node_of(read), time));
                }
                Why::Elsewhere { read, candidate, writer, .. } => {
                    self.proof.two_sources(read.0, candidate.0, writer.0);
                }
            }
        }
    }

    /// For the conflict that a read would have two sources.
    pub(super) fn justify_sources(&self, read: Read, write: Node, other: Node) {
        self.proof.begin_lemma();
        self.proof.two_sources(read.0, write.0, other.0);
    }

    fn begin_justification(&mut self) {
        self.proof.begin_lemma();
        self.explainer.edges.sort_unstable();
        for edge in &self.explainer.edges {
            self.justify_edge(self.edges[edge.index()]);
        }
    }

    fn justify_edge(&self, edge: Edge) {
        let Reason::Memory { read, before, after, time, .. } = edge.reason else { return };
        let path = self.nodes_of_path(before, after, time);
        if after == self.node_of(read) {
            self.proof.derive_before_write(read.0, edge.to.0, before.0, path);
        } else {
            self.proof.derive_after_read(read.0, before.0, after.0, path);
        }
    }

    /// The nodes of the path from `before` to `after` that was known at `time`.
    fn nodes_of_path(&self, before: Node, after: Node, time: Time) -> Vec<u32> {
        let mut nodes = vec![after.0];
        self.clocks.path(before, after, time, &self.edges, |edge| {
            let edge = self.edges[edge.index()];
            nodes.extend([edge.to.0, edge.from.0]);
        });
        nodes.push(before.0);
        nodes.dedup();
        nodes.reverse();
        nodes
    }
}
