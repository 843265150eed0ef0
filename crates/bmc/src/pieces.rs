//! Accesses cut into pieces that either coincide or do not overlap.
//!
//! Where accesses of different sizes may meet (a union, a struct copied word by word and read byte by byte), all that may touch one
//! object are cut into pieces of the largest size that they are all made of and aligned to.

use crate::skeleton::{Event, Unit};
use crate::summarize::Summarizer;
use leno_ir::points_to::AbstractId;
use leno_ir::sharing::Sharing;
use leno_logic::term::Term;
use rustc_hash::FxHashMap;

/// A piece of an event's access.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub event: usize,
    pub unit: Unit,
    /// The event occurs, and so does this unit.
    pub occurs: Term,
}

/// All pieces that may occur, in the order of their events.
#[derive(Default)]
pub struct Pieces {
    pub reads: Vec<Piece>,
    pub writes: Vec<Piece>,
}

pub fn pieces(summary: &mut Summarizer<'_>) -> Pieces {
    let sizes = piece_sizes(summary);
    let mut pieces = Pieces::default();
    for index in 0..summary.skeleton.events.len() {
        let event = summary.skeleton.events[index].clone();
        let size = event.targets.iter().find_map(|object| sizes.get(&object).copied());
        for unit in &event.reads {
            cut_up(summary, index, &event, unit, size, &mut pieces.reads);
        }
        for unit in &event.writes {
            cut_up(summary, index, &event, unit, size, &mut pieces.writes);
        }
    }
    pieces
}

/// For each shared object the size of the pieces that accesses to it are cut into: the largest one that all are made of.
fn piece_sizes(summary: &Summarizer<'_>) -> FxHashMap<AbstractId, u32> {
    let mut group: FxHashMap<AbstractId, AbstractId> = FxHashMap::default();
    fn find(group: &mut FxHashMap<AbstractId, AbstractId>, id: AbstractId) -> AbstractId {
        let mut root = id;
        while let Some(&parent) = group.get(&root)
            && parent != root
        {
            root = parent;
        }
        group.insert(id, root);
        root
    }
    let events = &summary.skeleton.events;
    let shared = |object: &AbstractId| summary.shared.of(*object) == Sharing::Shared;
    for event in events {
        let mut roots = event.targets.iter().filter(shared).map(|o| find(&mut group, o)).collect::<Vec<_>>();
        roots.sort_unstable();
        for pair in roots.windows(2) {
            let (a, b) = (find(&mut group, pair[0]), find(&mut group, pair[1]));
            group.insert(b, a);
        }
    }
    let mut sizes: FxHashMap<AbstractId, u32> = FxHashMap::default();
    for event in events {
        let Some(object) = event.targets.iter().find(shared) else { continue };
        let root = find(&mut group, object);
        for unit in event.reads.iter().chain(&event.writes) {
            let aligned = alignment(summary, unit);
            let size = sizes.entry(root).or_insert(aligned);
            *size = (*size).min(aligned);
        }
    }
    let objects: Vec<AbstractId> = group.keys().copied().collect();
    objects.into_iter().filter_map(|o| Some((o, *sizes.get(&find(&mut group, o))?))).collect()
}

/// The largest power of two that an access is made of and, where its address is known, aligned to.
fn alignment(summary: &Summarizer<'_>, unit: &Unit) -> u32 {
    let of_size = 1 << unit.bytes.trailing_zeros();
    match summary.terms.as_bits(unit.address) {
        Some(address) => of_size.min(1u32 << (address as u64 | 1 << 16).trailing_zeros()),
        None => of_size,
    }
}

fn cut_up(
    summary: &mut Summarizer<'_>,
    index: usize,
    event: &Event,
    unit: &Unit,
    size: Option<u32>,
    pieces: &mut Vec<Piece>,
) {
    let terms = &mut summary.terms;
    let occurs = terms.and2(event.occurs, unit.condition);
    if terms.as_bool(occurs) == Some(false) {
        return;
    }
    let size = size.unwrap_or(unit.bytes);
    if size == unit.bytes {
        pieces.push(Piece { event: index, unit: *unit, occurs });
        return;
    }
    for part in 0..unit.bytes / size {
        let shift = terms.bits(terms.width(unit.address), u128::from(part * size));
        let address = terms.add(unit.address, shift);
        let value = terms.extract(unit.value, part * size * 8, size * 8);
        pieces.push(Piece { event: index, unit: Unit { address, value, bytes: size, ..*unit }, occurs });
    }
}
