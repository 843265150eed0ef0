//! Atomic sections that have to wait in the middle.
//!
//! A section is one moment. A step in it that has to wait splits it (semantics, section 8): what comes before is one section, and the
//! step, once it can be made, begins another one. Whether it has to wait is seen at the first moment; in either case the section goes on at a
//! second one. Where nobody had to wait, the two are one: nobody else does anything between them. That is a *seam*.
//!
//! Paths that were split and paths that were not meet again in the middle of a section: at a moment of their own, with a seam to each.
//!
//! A thread that meets a false assumption in a section is stopped there, and nobody goes on: what others can do then, they can do before the section.
//! So such a section is not entered. One thing is lost by that: what it accesses before the assumption may race. So it is entered where
//! a race with it is asked for, and nothing else is then: such a race is about what came before.

use crate::compose::{Composer, Suspect};
use crate::skeleton::{NodeId, Seam, Skeleton, Stop};
use crate::state::State;
use crate::summarize::Summarizer;
use leno_logic::literal::Lit;
use leno_logic::term::Term;
use std::collections::BTreeMap;

impl Summarizer<'_> {
    /// The section goes on at another moment; where `at_once` holds, at once.
    pub(crate) fn split_section(&mut self, state: &mut State, at_once: Term) {
        let Some(first) = state.section else { return };
        let second = self.skeleton.add_node(self.thread);
        self.last = self.last.max(second);
        let condition = self.terms.and2(state.path, at_once);
        self.skeleton.seams.push(Seam { first, second, condition });
        self.skeleton.continue_section(first, second);
        (state.section, state.section_writes) = (Some(second), Vec::new());
    }

    /// Who does not have to wait in a section goes on: nobody sees half of it.
    pub(crate) fn goes_on_at_once(&mut self, path: Term, at_once: Term, goes_on: Term) {
        let here = self.terms.and2(path, at_once);
        let constraint = self.terms.implies(here, goes_on);
        self.skeleton.constraints.push(constraint);
    }

    /// The thread goes on only where `condition` holds.
    pub(crate) fn may_stop_inside(&mut self, state: &State, condition: Term) {
        let Some(&section) = state.section.and_then(|node| self.skeleton.sections.get(&node)) else { return };
        let not = self.terms.not(condition);
        let condition = self.terms.and2(state.path, not);
        self.skeleton.stops.push(Stop { section, condition });
    }

    /// Two states that are in one section, at different moments of it.
    pub(crate) fn meet_in_section(&mut self, mut a: State, mut b: State) -> (State, State) {
        let second = self.skeleton.add_node(self.thread);
        self.last = self.last.max(second);
        for state in [&mut a, &mut b] {
            if let Some(first) = state.section.replace(second) {
                self.skeleton.seams.push(Seam { first, second, condition: state.path });
                self.skeleton.continue_section(first, second);
            }
            state.section_writes = Vec::new();
        }
        (a, b)
    }
}

impl Skeleton {
    fn continue_section(&mut self, first: NodeId, second: NodeId) {
        if let Some(&section) = self.sections.get(&first) {
            self.sections.insert(second, section);
        }
    }
}

impl Composer<'_, '_> {
    /// Sections in which a thread would be stopped are not entered, except for one that a race is asked for with. The literal that this
    /// is what is asked for, if it can be.
    pub(crate) fn stops(&mut self, suspects: &[(Suspect, Lit)]) -> Option<Lit> {
        let mut stops: BTreeMap<NodeId, Vec<Lit>> = BTreeMap::new();
        for index in 0..self.summary.skeleton.stops.len() {
            let Stop { section, condition } = self.summary.skeleton.stops[index];
            stops.entry(section).or_default().push(self.literal(condition));
        }
        let sections: Vec<Vec<NodeId>> = suspects.iter().map(|(suspect, _)| self.sections_of(*suspect)).collect();
        let peeks = self.solver.new_literal();
        // By section: that it is the one. There is one at most.
        let mut peeked: BTreeMap<NodeId, Lit> = BTreeMap::new();
        let mut some = Lit::FALSE;
        for (section, stops) in stops {
            let races = suspects.iter().zip(&sections).filter(|(_, sections)| sections.contains(&section));
            let races: Vec<Lit> = races.map(|((_, lit), _)| *lit).collect();
            let this = if races.is_empty() { Lit::FALSE } else { self.solver.new_literal() };
            stops.into_iter().for_each(|stop| self.solver.add_clause(&[!stop, this]));
            if races.is_empty() {
                continue;
            }
            self.solver.add_clause(&[!this, peeks]);
            self.solver.add_clause(&[!this, !some]);
            let clause: Vec<Lit> = std::iter::once(!this).chain(races).collect();
            self.solver.add_clause(&clause);
            let some_so_far = self.solver.new_literal();
            self.solver.add_clause(&[!some, some_so_far]);
            self.solver.add_clause(&[!this, some_so_far]);
            some = some_so_far;
            peeked.insert(section, this);
        }
        if peeked.is_empty() {
            return None;
        }
        for ((_, lit), sections) in suspects.iter().zip(&sections) {
            let mut clause = vec![!peeks, !*lit];
            clause.extend(sections.iter().filter_map(|section| peeked.get(section)));
            self.solver.add_clause(&clause);
        }
        Some(peeks)
    }

    /// The sections that a race is with.
    fn sections_of(&self, suspect: Suspect) -> Vec<NodeId> {
        let Suspect::Race(first, second) = suspect else { return Vec::new() };
        let skeleton = &self.summary.skeleton;
        let section = |event: usize| skeleton.sections.get(&skeleton.events[event].node).copied();
        [first, second].into_iter().filter_map(section).collect()
    }

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

    /// Whether the life of something ends at a moment.
    pub(crate) fn ends_lives(&self, node: NodeId) -> bool {
        let skeleton = &self.summary.skeleton;
        skeleton.frees.iter().any(|free| free.node == node) || skeleton.deaths.iter().any(|death| death.node == node)
    }
}
