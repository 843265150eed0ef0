//! Pairs of accesses that may race.

use crate::program::event::{EventId, Kind, TraceProgram};
use crate::query::question::{INSTANCES, Question};
use crate::walk::listener::Location;
use crate::walk::sharing_pass::PieceId;
use leno_ir::program::Place;
use leno_trace::ThreadIndex;
use std::collections::{BTreeMap, BTreeSet};

/// By places, by how far apart they were in time.
type Pairs = BTreeMap<(Place, Place), BTreeMap<u64, BTreeSet<(EventId, EventId)>>>;

/// Adds the questions; gives whether some were left out.
/// If races depend on `orders` of atomics, each pair is asked about in both orders.
pub(crate) fn races(ctp: &TraceProgram, orders: bool, questions: &mut Vec<Question>) -> bool {
    let mut pairs = Pairs::new();
    for threads in accesses_by_piece(ctp).values() {
        let lists: Vec<&Vec<EventId>> = threads.values().collect();
        for (index, ours) in lists.iter().enumerate() {
            for theirs in &lists[index + 1..] {
                add_pairs(ctp, ours, theirs, &mut pairs);
            }
        }
    }
    let mut left_out = false;
    let mut seen = BTreeSet::new();
    for instances in pairs.into_values() {
        let all = instances.into_values().flatten();
        for (count, (first, second)) in all.enumerate() {
            left_out |= count >= INSTANCES;
            if count >= INSTANCES || !seen.insert((first, second)) {
                continue;
            }
            if !orders {
                questions.push(Question::Race(first, second));
                continue;
            }
            for (first, second) in [(first, second), (second, first)] {
                if !ctp.event(first).pending {
                    questions.push(Question::Unordered(first, second));
                }
            }
        }
    }
    left_out
}

/// The accesses outside of atomic sections, by piece and thread.
fn accesses_by_piece(ctp: &TraceProgram) -> BTreeMap<PieceId, BTreeMap<ThreadIndex, Vec<EventId>>> {
    let mut by_piece: BTreeMap<PieceId, BTreeMap<ThreadIndex, Vec<EventId>>> = BTreeMap::new();
    for (thread, events) in &ctp.threads {
        for &id in &events.events {
            let event = ctp.event(id);
            let Kind::Access { reads, writes, is_plain: true, .. } = &event.kind else { continue };
            if event.section.is_some() {
                continue;
            }
            let mut pieces: Vec<PieceId> = reads.iter().map(|read| read.piece).collect();
            pieces.extend(writes.iter().map(|write| write.piece));
            pieces.sort_unstable();
            pieces.dedup();
            for piece in pieces {
                by_piece.entry(piece).or_default().entry(*thread).or_default().push(id);
            }
        }
    }
    by_piece
}

/// The pairs of two threads' accesses that may race.
fn add_pairs(ctp: &TraceProgram, ours: &[EventId], theirs: &[EventId], pairs: &mut Pairs) {
    let Some(other) = theirs.first().map(|id| ctp.event(*id).thread) else { return };
    for &first in ours {
        let a = ctp.event(first);
        // All but those that always come before, or always come after.
        let passed = ctp.must.passed(a.thread, a.point, other);
        let from = theirs.partition_point(|id| ctp.event(*id).point < passed);
        for &second in &theirs[from..] {
            let b = ctp.event(second);
            if ctp.must.is_before((a.thread, a.point), (b.thread, b.point)) {
                break;
            }
            if !conflict(&a.kind, &b.kind) || common_lock(&a.locks, &b.locks) {
                continue;
            }
            let (first, second) = if a.place <= b.place { (first, second) } else { (second, first) };
            let places = (ctp.event(first).place, ctp.event(second).place);
            let near = pairs.entry(places).or_default();
            near.entry(a.clock.abs_diff(b.clock)).or_default().insert((first, second));
            // Many more than are asked about need not be kept: those furthest apart are removed.
            while near.values().map(BTreeSet::len).sum::<usize>() > 4 * INSTANCES {
                near.pop_last();
            }
        }
    }
}

fn conflict(a: &Kind, b: &Kind) -> bool {
    let (Kind::Access { writes: ours, atomic, .. }, Kind::Access { writes: theirs, atomic: also, .. }) = (a, b) else {
        return false;
    };
    let is_write = !ours.is_empty() || !theirs.is_empty();
    is_write && !(*atomic && *also)
}

/// Whether two lists of locks have one in common that excludes the other thread.
pub(crate) fn common_lock(a: &[(Location, bool)], b: &[(Location, bool)]) -> bool {
    a.iter().any(|(lock, shared)| b.iter().any(|(other, also)| lock == other && !(*shared && *also)))
}
