//! Mutual exclusion of the critical sections of a lock (`prune/mutual_exclusion`), as edges of the theory of order
//! (`leno_axioms::exclusion`).

use crate::compose::Composer;
use crate::prune::mutual_exclusion::{Exclusion, Section};
use crate::skeleton::EventId;
use leno_axioms::Event;
use leno_axioms::exclusion::{self, End};
use leno_logic::term::Term;

impl Composer<'_, '_> {
    pub(crate) fn exclude(&mut self, exclusions: &[Exclusion]) {
        for exclusion in exclusions {
            for &never in &exclusion.never {
                let never = self.literal(never);
                self.solver.add_clause(&[!never]);
            }
            let sections: Vec<exclusion::Section> =
                exclusion.sections.iter().map(|section| self.section(section)).collect();
            for pair in &exclusion.pairs {
                if self.is_interrupted() {
                    return;
                }
                let pair_of = pair.sections.map(|index| &sections[index]);
                exclusion::exclude(&mut self.solver, pair_of, pair.may_be_first);
            }
        }
    }

    /// A barrier is destroyed when all who have arrived have left.
    pub(crate) fn destroy_barriers(&mut self) {
        let barriers = self.bounded.skeleton.barriers.clone();
        for destroy in &barriers.destroys {
            let end = Event { node: self.node(destroy.node), occurs: self.literal(destroy.path) };
            let end = exclusion::Section::with_one_end(end, Some(end));
            for wait in barriers.waits.iter().filter(|wait| wait.thread != destroy.thread) {
                let (node, path) = wait.arrives;
                let same = self.bounded.terms.eq(wait.address, destroy.address);
                let arrives = self.bounded.terms.and2(path, same);
                let arrives = Event { node: self.node(node), occurs: self.literal(arrives) };
                let leaves =
                    wait.leaves.map(|(node, path)| Event { node: self.node(node), occurs: self.literal(path) });
                let stay = exclusion::Section::with_one_end(arrives, leaves);
                exclusion::exclude(&mut self.solver, [&stay, &end], [true; 2]);
            }
        }
    }

    fn section(&mut self, section: &Section) -> exclusion::Section {
        let mut ends = Vec::new();
        for end in &section.ends {
            let (event, is_first) = (self.event(end.event, end.occurs), self.literal(end.is_the_end));
            ends.push(End { event, is_first });
        }
        exclusion::Section { begin: self.event(section.begin, section.occurs), ends }
    }

    /// An event of the skeleton, where a condition holds.
    fn event(&mut self, id: EventId, occurs: Term) -> Event {
        let node = self.bounded.skeleton.events[id].node;
        Event { node: self.node(node), occurs: self.literal(occurs) }
    }
}
