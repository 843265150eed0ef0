//! Recorded values that the trace does not have: initial contents of memory, and the counters of synchronisation
//! objects.

use crate::program::event::{Event, EventId, Kind, TraceProgram};
use crate::walk::sharing_pass::PieceId;
use leno_logic::term::{Assignment, evaluate};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

impl TraceProgram {
    /// Completes what was recorded. `memory` holds the pieces that were written before the first event.
    pub(crate) fn infer_recorded_values(&mut self, memory: &FxHashMap<PieceId, u128>) {
        self.infer_initial_values(memory);
        self.replay_counters(memory);
    }

    /// Every value that was read must have come from a write, or be the initial one. Where the initial value is not
    /// known, it is the one that was read; otherwise code outside of the program has written, and the piece is opaque.
    fn infer_initial_values(&mut self, memory: &FxHashMap<PieceId, u128>) {
        let mut written: BTreeMap<PieceId, BTreeSet<u128>> = BTreeMap::new();
        let mut read: BTreeMap<PieceId, BTreeSet<u128>> = BTreeMap::new();
        for event in &self.events {
            let Kind::Access { reads, writes, is_plain: true, .. } = &event.kind else { continue };
            for write in writes.iter().filter(|write| write.happened) {
                written.entry(write.piece).or_default().insert(write.recorded);
            }
            for access in reads {
                read.entry(access.piece).or_default().insert(access.recorded);
            }
        }
        for (id, read) in read {
            let piece = &mut self.pieces[id];
            let initial = memory.get(&id).copied().or(piece.initial);
            let is_written = |value: &u128| written.get(&id).is_some_and(|values| values.contains(value));
            let mut unexplained = read.iter().filter(|value| !is_written(value) && initial != Some(**value));
            match (unexplained.next().copied(), unexplained.next(), initial) {
                (None, ..) => {}
                (Some(value), None, None) => piece.initial = Some(value),
                _ => self.opaque[id] = true,
            }
        }
    }

    /// The values of counters, which are not recorded: each step is replayed in the recorded order.
    fn replay_counters(&mut self, memory: &FxHashMap<PieceId, u128>) {
        let is_counter = |event: &Event| matches!(event.kind, Kind::Access { is_plain: false, .. });
        let mut steps: Vec<EventId> = self.events.ids().filter(|id| is_counter(self.event(*id))).collect();
        if steps.is_empty() {
            return;
        }
        let mut assignment = Assignment::new();
        for event in &self.events {
            match &event.kind {
                Kind::Access { reads, is_plain: true, .. } => {
                    reads.iter().for_each(|read| assignment.set(&self.terms, read.value, read.recorded));
                }
                Kind::Try { taken: choice, .. } | Kind::Wake { timed_out: choice, .. } if !choice.is_fixed() => {
                    assignment.set(&self.terms, choice.bit, choice.recorded.into());
                }
                _ => {}
            }
        }
        steps.sort_by_key(|id| self.moment(*id));
        let mut now: BTreeMap<PieceId, u128> = BTreeMap::new();
        for id in steps {
            let Kind::Access { reads, writes, .. } = &mut self.events[id].kind else { continue };
            for read in reads {
                // (All counters begin with a known value.)
                let before = now.get(&read.piece).or(memory.get(&read.piece)).copied();
                read.recorded = before.or(self.pieces[read.piece].initial).unwrap_or_default();
                assignment.set(&self.terms, read.value, read.recorded);
            }
            for write in writes {
                write.recorded = evaluate(&self.terms, write.value, &assignment).number();
                write.happened = evaluate(&self.terms, write.condition, &assignment).number() != 0;
                if write.happened {
                    now.insert(write.piece, write.recorded);
                }
            }
        }
    }
}
