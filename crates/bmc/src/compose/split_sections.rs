//! Atomic sections that were split, and those in which a thread would be stopped (`summarize/split_sections`).

use crate::compose::{Composer, PossibleViolation};
use crate::skeleton::{EventId, NodeId, SectionSplit, Stop};
use leno_axioms::order::none_between;
use leno_logic::literal::Lit;
use std::collections::BTreeMap;

impl Composer<'_, '_> {
    /// Atomic sections in which a thread would be stopped are not entered, except for one that takes part in the race
    /// that is asked for. Returns the literal that there is such a section, if there can be.
    pub(crate) fn stops(&mut self, possible_violations: &[(PossibleViolation, Lit)]) -> Option<Lit> {
        let mut stops: BTreeMap<NodeId, Vec<Lit>> = BTreeMap::new();
        for index in 0..self.bounded.skeleton.stops.len() {
            let Stop { section, condition } = self.bounded.skeleton.stops[index];
            stops.entry(section).or_default().push(self.literal(condition));
        }
        let sections: Vec<Vec<NodeId>> =
            possible_violations.iter().map(|(violation, _)| self.sections_of(*violation)).collect();
        let stopped_section = self.solver.new_literal();
        // By section: the literal that it is entered although a thread is stopped in it. At most one is.
        let mut stopped_sections: BTreeMap<NodeId, Lit> = BTreeMap::new();
        let mut some = Lit::FALSE;
        for (section, stops) in stops {
            let races = possible_violations.iter().zip(&sections).filter(|(_, sections)| sections.contains(&section));
            let races: Vec<Lit> = races.map(|((_, lit), _)| *lit).collect();
            let this = if races.is_empty() { Lit::FALSE } else { self.solver.new_literal() };
            stops.into_iter().for_each(|stop| self.solver.add_clause(&[!stop, this]));
            if races.is_empty() {
                continue;
            }
            self.solver.add_clause(&[!this, stopped_section]);
            self.solver.add_clause(&[!this, !some]);
            let clause: Vec<Lit> = std::iter::once(!this).chain(races).collect();
            self.solver.add_clause(&clause);
            let some_so_far = self.solver.new_literal();
            self.solver.add_clause(&[!some, some_so_far]);
            self.solver.add_clause(&[!this, some_so_far]);
            some = some_so_far;
            stopped_sections.insert(section, this);
        }
        if stopped_sections.is_empty() {
            return None;
        }
        for ((_, lit), sections) in possible_violations.iter().zip(&sections) {
            let mut clause = vec![!stopped_section, !*lit];
            clause.extend(sections.iter().filter_map(|section| stopped_sections.get(section)));
            self.solver.add_clause(&clause);
        }
        Some(stopped_section)
    }

    /// The atomic sections that take part in a race.
    fn sections_of(&self, violation: PossibleViolation) -> Vec<NodeId> {
        let (PossibleViolation::Race(first, second) | PossibleViolation::Unordered(first, second)) = violation else {
            return Vec::new();
        };
        let skeleton = &self.bounded.skeleton;
        let section = |event: EventId| skeleton.sections.get(&skeleton.events[event].node).copied();
        [first, second].into_iter().filter_map(section).collect()
    }

    /// Where a section was not split, no node of another thread comes between its two nodes.
    pub(crate) fn section_splits(&mut self) {
        for index in 0..self.bounded.skeleton.section_splits.len() {
            if self.is_interrupted() {
                break;
            }
            let SectionSplit { first, second, condition } = self.bounded.skeleton.section_splits[index];
            let whole = self.literal(condition);
            let (first, second) = (self.node(first), self.node(second));
            none_between(&mut self.solver, whole, first, second, self.nodes.as_slice());
        }
    }

    /// Whether the lifetime of an object ends or begins at a node.
    pub(crate) fn ends_lives(&self, node: NodeId) -> bool {
        let skeleton = &self.bounded.skeleton;
        let mut nodes = (skeleton.frees.iter().map(|free| free.node))
            .chain(skeleton.deaths.iter().map(|death| death.node))
            .chain(skeleton.births.iter().map(|birth| birth.node));
        nodes.any(|other| other == node)
    }
}
