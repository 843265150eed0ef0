//! Slicing: what the question does not depend on is left out.
//!
//! A read matters if some guard or some target depends on what it returns, or the value of a write that matters does. A write
//! matters if some read that matters may see it. All other accesses are only places on the way of their threads: no node of the
//! order, no variable that anybody constrains. Locks that only one thread uses go, too.

use crate::event::{Event, EventId, Kind, TraceProgram};
use crate::survey::PieceId;
use crate::walk::Location;
use leno_logic::term::Term;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// What is left of a trace program.
pub struct Slice {
    /// Variables of reads that matter.
    pub variables: FxHashSet<Term>,
    pub pieces: BTreeSet<PieceId>,
    /// By thread: the events that are left, in order.
    pub kept: BTreeMap<u32, Vec<EventId>>,
}

/// What has to be kept for its own sake.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub frees: bool,
    /// Every read, whatever depends on it.
    pub reads: bool,
    pub events: BTreeSet<EventId>,
}

/// Leaves out what neither guards nor `seeds` depend on.
pub fn slice(ctp: &TraceProgram, seeds: &[Term], wanted: &Wanted) -> Slice {
    let mut reader = BTreeMap::new();
    let mut writes: BTreeMap<PieceId, Vec<Term>> = BTreeMap::new();
    let mut roots: Vec<Term> = seeds.to_vec();
    for event in &ctp.events {
        roots.push(event.guard);
        if let Kind::Access { reads, writes: written, .. } = &event.kind {
            for read in reads {
                reader.insert(read.value, read.piece);
                roots.extend(wanted.reads.then_some(read.value));
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
    let shared_locks = shared_locks(ctp);
    let keeps = |event: &Event| match &event.kind {
        Kind::Access { reads, writes, .. } => {
            reads.iter().any(|read| variables.contains(&read.value))
                || writes.iter().any(|write| pieces.contains(&write.piece))
        }
        Kind::Acquire { lock, .. } | Kind::Release { lock } => shared_locks.contains(lock),
        Kind::Touch { .. } => false,
        Kind::Free { .. } => wanted.frees,
        _ => true,
    };
    let of_thread = |events: &[EventId]| {
        events.iter().copied().filter(|id| keeps(ctp.event(*id)) || wanted.events.contains(id)).collect()
    };
    let kept = ctp.threads.iter().map(|(number, thread)| (*number, of_thread(&thread.events))).collect();
    Slice { variables, pieces, kept }
}

fn shared_locks(ctp: &TraceProgram) -> BTreeSet<Location> {
    let mut users: BTreeMap<Location, BTreeSet<u32>> = BTreeMap::new();
    for event in &ctp.events {
        if let Kind::Acquire { lock, .. } | Kind::Busy { lock, .. } = &event.kind {
            users.entry(*lock).or_default().insert(event.thread);
        }
    }
    let mut shared: BTreeSet<Location> =
        users.into_iter().filter(|(_, users)| users.len() > 1).map(|(lock, _)| lock).collect();
    // The run may have ended because somebody waits for himself.
    shared.extend(ctp.events.iter().filter(|event| event.pending).filter_map(|event| match event.kind {
        Kind::Acquire { lock, .. } => Some(lock),
        _ => None,
    }));
    shared
}
