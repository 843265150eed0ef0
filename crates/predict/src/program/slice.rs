//! Slicing: events that no question depends on are left out.
//!
//! A read matters if some guard or some target depends on the value that it returns, or the value of a write that
//! matters does. A write matters if some read that matters may return it. All other accesses are only positions on the
//! paths of their threads: they have no node in the order, and their variables are not constrained. Locks that only one
//! thread uses are left out, too.

use crate::program::event::{Event, EventId, Kind, TraceProgram};
use crate::walk::listener::Location;
use crate::walk::sharing_pass::PieceId;
use leno_logic::term::Term;
use leno_trace::ThreadIndex;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// What is left of a trace program.
pub struct Slice {
    /// Variables of reads that matter.
    pub variables: FxHashSet<Term>,
    pub pieces: BTreeSet<PieceId>,
    /// By thread: the events that are left, in order.
    pub kept: BTreeMap<ThreadIndex, Vec<EventId>>,
}

/// What has to be kept whether anything depends on it or not.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub frees: bool,
    /// Every read.
    pub reads: bool,
    pub events: BTreeSet<EventId>,
    /// Atomic accesses, and steps on synchronisation objects: they may order others.
    pub atomics: bool,
}

/// Leaves out what neither guards nor `seeds` depend on.
pub fn slice(ctp: &TraceProgram, seeds: &[Term], wanted: &Wanted) -> Slice {
    let (variables, pieces) = relevant_reads(ctp, seeds, wanted);
    let shared_locks = shared_locks(ctp);
    let keeps = |event: &Event| match &event.kind {
        Kind::Access { reads, writes, is_plain, .. } => {
            reads.iter().any(|read| variables.contains(&read.value))
                || writes.iter().any(|write| pieces.contains(&write.piece))
                || (wanted.atomics && !is_plain)
        }
        Kind::Acquire { lock, .. } | Kind::Release { lock } => shared_locks.contains(lock),
        Kind::LastAccess { .. } => false,
        Kind::Free { .. } | Kind::EndLife { .. } | Kind::BeginLife { .. } => wanted.frees,
        _ => true,
    };
    let of_thread = |events: &[EventId]| {
        events.iter().copied().filter(|id| keeps(ctp.event(*id)) || wanted.events.contains(id)).collect()
    };
    let kept = ctp.threads.iter().map(|(id, thread)| (*id, of_thread(&thread.events))).collect();
    Slice { variables, pieces, kept }
}

/// The variables of the reads that matter, and the pieces that these read.
fn relevant_reads(ctp: &TraceProgram, seeds: &[Term], wanted: &Wanted) -> (FxHashSet<Term>, BTreeSet<PieceId>) {
    let mut reader = BTreeMap::new();
    let mut writes: BTreeMap<PieceId, Vec<Term>> = BTreeMap::new();
    let mut roots: Vec<Term> = seeds.to_vec();
    for event in &ctp.events {
        roots.push(event.guard);
        if let Kind::Access { reads, writes: written, atomic, .. } = &event.kind {
            let is_wanted = wanted.reads || (wanted.atomics && (*atomic || event.section.is_some()));
            for read in reads {
                reader.insert(read.value, read.piece);
                roots.extend(is_wanted.then_some(read.value));
            }
            for write in written {
                writes.entry(write.piece).or_default().extend([write.value, write.condition]);
            }
        }
    }
    let (mut variables, mut pieces) = (FxHashSet::default(), BTreeSet::new());
    while !roots.is_empty() {
        let mut next = Vec::new();
        for variable in ctp.terms.variables_of(&roots) {
            if !variables.insert(variable) {
                continue;
            }
            let Some(piece) = reader.get(&variable) else { continue };
            if pieces.insert(*piece) {
                next.extend(writes.get(piece).into_iter().flatten().copied());
            }
        }
        roots = next;
    }
    (variables, pieces)
}

fn shared_locks(ctp: &TraceProgram) -> BTreeSet<Location> {
    let mut users: BTreeMap<Location, BTreeSet<ThreadIndex>> = BTreeMap::new();
    for event in &ctp.events {
        if let Kind::Acquire { lock, .. } | Kind::Try { lock, .. } = &event.kind {
            users.entry(*lock).or_default().insert(event.thread);
        }
    }
    let mut shared: BTreeSet<Location> =
        users.into_iter().filter(|(_, users)| users.len() > 1).map(|(lock, _)| lock).collect();
    // A thread may have waited for a lock that it held itself when the run ended.
    shared.extend(ctp.events.iter().filter(|event| event.pending).filter_map(|event| match event.kind {
        Kind::Acquire { lock, .. } => Some(lock),
        _ => None,
    }));
    shared
}
