//! Atomic sections that have to wait in the middle.
//!
//! An atomic section is one node. A step in it that has to wait splits it (semantics, section 8): what comes before is
//! one section, and the step, once it is enabled, begins another one. Whether it has to wait is decided at the first
//! node; in either case the section continues at a second node. Where it did not have to wait, no node of another
//! thread comes between the two. That is a *section split*.
//!
//! Paths that were split and paths that were not meet again in the middle of a section: at a node of their own, with a
//! split to each.
//!
//! A false assumption in a section stops its thread, and no other thread can continue: what other threads can do then,
//! they can do before the section. So such a section is not entered. One case is lost by that: its accesses before the
//! assumption may race. So it is entered if a race with it is asked for, and then nothing else is asked for: such a
//! race is about what came before.

use crate::skeleton::{NodeId, SectionSplit, Skeleton, Stop};
use crate::summarize::Execution;
use crate::summarize::state::State;
use leno_logic::term::Term;

impl Execution<'_> {
    /// The section continues at another node; where `at_once` holds, it is not split.
    pub(crate) fn split_section(&mut self, state: &mut State, at_once: Term) {
        let Some(first) = state.section else { return };
        let second = self.skeleton.add_node(self.thread);
        self.last = self.last.max(second);
        let condition = self.terms.and2(state.path, at_once);
        self.skeleton.section_splits.push(SectionSplit { first, second, condition });
        self.skeleton.continue_section(first, second);
        (state.section, state.section_writes) = (Some(second), Vec::new());
    }

    /// A step of a section that does not have to wait occurs: no thread sees a part of a section.
    pub(crate) fn goes_on_at_once(&mut self, path: Term, at_once: Term, goes_on: Term) {
        let here = self.terms.and2(path, at_once);
        let constraint = self.terms.implies(here, goes_on);
        self.skeleton.constraints.push(constraint);
    }

    /// The thread continues only where `condition` holds.
    pub(crate) fn may_stop_inside(&mut self, state: &State, condition: Term) {
        let Some(&section) = state.section.and_then(|node| self.skeleton.sections.get(&node)) else { return };
        let not = self.terms.not(condition);
        let condition = self.terms.and2(state.path, not);
        self.skeleton.stops.push(Stop { section, condition });
    }

    /// Two states that are in one section, at different nodes of it.
    pub(crate) fn meet_in_section(&mut self, mut a: State, mut b: State) -> (State, State) {
        let second = self.skeleton.add_node(self.thread);
        self.last = self.last.max(second);
        for state in [&mut a, &mut b] {
            if let Some(first) = state.section.replace(second) {
                self.skeleton.section_splits.push(SectionSplit { first, second, condition: state.path });
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
