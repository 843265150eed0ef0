//! Order through the outside: calls by which threads may wait for each other keep their recorded order.
//!
//! What was done before a call that releases comes before what follows a call that acquires, if the first had begun when
//! the second was over (`leno_trace::Communication`). Of each other thread the last release is enough: those before it
//! are before it anyway.

use crate::encode::Encoded;
use crate::program::event::{EventId, Kind, OutsideStep, TraceProgram};
use leno_trace::ThreadIndex;
use std::collections::BTreeMap;

impl Encoded {
    pub(super) fn outside_order(&mut self, ctp: &TraceProgram) {
        for (release, acquire) in self.outside_pairs(ctp) {
            let (from, to) = (self.node(release), self.node(acquire));
            if from != to {
                self.solver.add_edge(from, to);
                self.solver.add_clause(&[!self.done(acquire), self.done(release)]);
            }
        }
    }

    /// Calls of which the first comes before the second in all reorderings.
    pub(super) fn outside_pairs(&self, ctp: &TraceProgram) -> Vec<(EventId, EventId)> {
        let is_outside = |id: &EventId| matches!(ctp.event(*id).kind, Kind::Outside(_));
        let mut steps: Vec<EventId> = self.slice.kept.values().flatten().copied().filter(is_outside).collect();
        steps.sort_by_key(|id| ctp.moment(*id));
        let mut last: BTreeMap<ThreadIndex, EventId> = BTreeMap::new();
        let mut pairs = Vec::new();
        for id in steps {
            let event = ctp.event(id);
            match event.kind {
                Kind::Outside(OutsideStep::Acquires) => {
                    let others = last.iter().filter(|(thread, _)| **thread != event.thread);
                    pairs.extend(others.map(|(_, release)| (*release, id)));
                }
                _ => _ = last.insert(event.thread, id),
            }
        }
        pairs
    }
}
