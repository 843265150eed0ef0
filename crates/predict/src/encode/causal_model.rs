//! Causal models: which reorderings of a run count (paper 003, section 6).

use crate::encode::Encoded;
use crate::program::event::{EventId, Kind, TraceProgram};
use crate::walk::listener::Location;
use crate::walk::sharing_pass::PieceId;
use leno_logic::literal::Lit;
use std::collections::BTreeMap;

/// What is known of the events of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Model {
    /// The code that made them: values may differ from those that were seen, as long as every branch is taken as it
    /// was.
    #[default]
    Symbolic,
    /// Only what was seen: every read has to return the value that it returned, wherever it comes from. After
    /// Serbănuță, Chen and Roşu.
    Maximal,
    /// As [`Model::Maximal`], and steps of synchronisation on one object come in the order that they had, and reads
    /// after the writes that they came after. After Lamport.
    HappensBefore,
}

impl Encoded {
    /// Lamport's order: steps of synchronisation on one object come as they did; so do, under a literal, reads after
    /// writes.
    pub(super) fn happens_before(&mut self, ctp: &TraceProgram) {
        let raw = self.solver.new_literal();
        self.raw = Some(raw);
        let mut objects: BTreeMap<Location, Vec<EventId>> = BTreeMap::new();
        let mut pieces: BTreeMap<PieceId, Vec<EventId>> = BTreeMap::new();
        for &id in self.slice.kept.values().flatten() {
            match &ctp.event(id).kind {
                Kind::Acquire { lock, .. } | Kind::Release { lock } | Kind::Try { lock, .. } => {
                    objects.entry(*lock).or_default().push(id);
                }
                Kind::Sleep { condition } | Kind::Wake { condition, .. } | Kind::Signal { condition, .. } => {
                    objects.entry(*condition).or_default().push(id);
                }
                Kind::Access { reads, writes, is_plain, .. } => {
                    let all = reads.iter().map(|read| read.piece).chain(writes.iter().map(|write| write.piece));
                    for piece in all {
                        let list = match is_plain {
                            true => pieces.entry(piece).or_default(),
                            false => objects.entry(ctp.pieces[piece].at).or_default(),
                        };
                        list.push(id);
                    }
                }
                _ => {}
            }
        }
        for events in objects.into_values() {
            self.keep_order(ctp, events, Lit::TRUE);
        }
        for (piece, events) in pieces {
            self.reads_after_writes(ctp, piece, events, raw);
        }
    }

    fn reads_after_writes(&mut self, ctp: &TraceProgram, piece: PieceId, mut events: Vec<EventId>, guard: Lit) {
        events.sort_by_key(|id| ctp.moment(*id));
        events.dedup();
        for (index, &read) in events.iter().enumerate() {
            let Kind::Access { reads, .. } = &ctp.event(read).kind else { continue };
            if !reads.iter().any(|access| access.piece == piece) {
                continue;
            }
            for &write in &events[..index] {
                let Kind::Access { writes, .. } = &ctp.event(write).kind else { continue };
                if !writes.is_empty() && ctp.event(write).thread != ctp.event(read).thread {
                    self.solver.add_guarded_edge(guard, self.node(write), self.node(read));
                    self.solver.add_clause(&[!guard, !self.done(read), self.done(write)]);
                }
            }
        }
    }

    /// These events come in the order in which they were recorded, if `guard` holds.
    pub(super) fn keep_order(&mut self, ctp: &TraceProgram, mut events: Vec<EventId>, guard: Lit) {
        events.sort_by_key(|id| ctp.moment(*id));
        events.dedup();
        for pair in events.windows(2) {
            if ctp.event(pair[0]).thread != ctp.event(pair[1]).thread && self.node(pair[0]) != self.node(pair[1]) {
                self.solver.add_guarded_edge(guard, self.node(pair[0]), self.node(pair[1]));
                self.solver.add_clause(&[!guard, !self.done(pair[1]), self.done(pair[0])]);
            }
        }
    }
}
