//! Atomic sections that have to wait in the middle.
//!
//! A section is one moment. A step in it that has to wait splits it (semantics, section 8): what comes before is one section, and the
//! step, once it can be made, begins another one. Whether it has to wait is seen at the first moment; in either case the section goes on at a
//! second one. Where nobody had to wait, the two are one: nobody else does anything between them. That is a *seam*.
//!
//! Paths that were split and paths that were not meet again in the middle of a section: at a moment of their own, with a seam to each.

use crate::compose::Composer;
use crate::skeleton::{NodeId, Seam};
use crate::state::State;
use crate::summarize::Summarizer;
use leno_logic::term::Term;

impl Summarizer<'_> {
    /// The section goes on at another moment; where `at_once` holds, at once.
    pub(crate) fn split_section(&mut self, state: &mut State, at_once: Term) {
        let Some(first) = state.section else { return };
        let second = self.skeleton.add_node(self.thread);
        self.last = self.last.max(second);
        let condition = self.terms.and2(state.path, at_once);
        self.skeleton.seams.push(Seam { first, second, condition });
        (state.section, state.section_writes) = (Some(second), Vec::new());
    }

    /// Who does not have to wait in a section goes on: nobody sees half of it.
    pub(crate) fn goes_on_at_once(&mut self, path: Term, at_once: Term, goes_on: Term) {
        let here = self.terms.and2(path, at_once);
        let constraint = self.terms.implies(here, goes_on);
        self.skeleton.constraints.push(constraint);
    }

    /// Two states that are in one section, at different moments of it.
    pub(crate) fn meet_in_section(&mut self, mut a: State, mut b: State) -> (State, State) {
        let second = self.skeleton.add_node(self.thread);
        self.last = self.last.max(second);
        for state in [&mut a, &mut b] {
            if let Some(first) = state.section.replace(second) {
                self.skeleton.seams.push(Seam { first, second, condition: state.path });
            }
            state.section_writes = Vec::new();
        }
        (a, b)
    }
}

impl Composer<'_, '_> {
    /// Nobody else comes between the two sides of a seam.
    pub(crate) fn seams(&mut self) {
        for index in 0..self.summary.skeleton.seams.len() {
            let Seam { first, second, condition } = self.summary.skeleton.seams[index];
            let own = self.summary.skeleton.nodes[first.0 as usize];
            let whole = self.literal(condition);
            for other in 0..self.summary.skeleton.nodes.len() {
                if self.summary.skeleton.nodes[other] == own || self.is_interrupted() {
                    continue;
                }
                let other = self.node(NodeId(other as u32));
                let before_first = self.solver.before(other, self.node(first));
                let before_second = self.solver.before(other, self.node(second));
                self.solver.add_clause(&[!whole, !before_second, before_first]);
            }
        }
    }

    /// Whether a moment is one at which a section goes on that may have been split.
    pub(crate) fn is_resumed(&self, node: NodeId) -> bool {
        self.summary.skeleton.seams.iter().any(|seam| seam.second == node)
    }

    /// Whether the life of something ends at a moment.
    pub(crate) fn ends_lives(&self, node: NodeId) -> bool {
        let skeleton = &self.summary.skeleton;
        skeleton.frees.iter().any(|free| free.node == node) || skeleton.deaths.iter().any(|death| death.node == node)
    }
}
