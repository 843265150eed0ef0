//! Accesses cut into pieces that either coincide or do not overlap.
//!
//! Where accesses of different sizes may meet (a union, a struct copied word by word and read byte by byte), all that may touch one
//! object are cut into pieces of the largest size that they are all made of and aligned to.

use crate::objects::{InstanceId, offset_bits};
use crate::skeleton::{Event, Unit};
use crate::summarize::Summarizer;
use leno_ir::points_to::AbstractId;
use leno_ir::sharing::Sharing;
use leno_logic::term::{Term, Terms};
use rustc_hash::FxHashMap;

/// A piece of an event's access.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub event: usize,
    pub unit: Unit,
    /// The event occurs, and so does this unit.
    pub occurs: Term,
    /// The part of the address that tells it from those of others that may be at the same place: two pieces that occur are at the
    /// same address if these are equal.
    pub place: Term,
}

/// Objects that accesses may confuse.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// The bytes of a piece.
    size: u32,
    /// How many bits above the size of a piece tell the pieces of an object apart, and how many bits tell objects.
    offset_bits: u32,
    granule_bits: u32,
}

/// All pieces that may occur, in the order of their events.
#[derive(Default)]
pub struct Pieces {
    pub reads: Vec<Piece>,
    pub writes: Vec<Piece>,
}

pub fn pieces(summary: &mut Summarizer<'_>) -> Pieces {
    let groups = groups(summary);
    let mut pieces = Pieces::default();
    for index in 0..summary.skeleton.events.len() {
        let event = summary.skeleton.events[index].clone();
        let group = event.targets.iter().find_map(|object| groups.get(&object).copied());
        for unit in &event.reads {
            cut_up(summary, index, &event, unit, group, &mut pieces.reads);
        }
        for unit in &event.writes {
            cut_up(summary, index, &event, unit, group, &mut pieces.writes);
        }
    }
    pieces
}

/// The group of each shared object. Its pieces are as large as possible so that all accesses are made of them.
fn groups(summary: &Summarizer<'_>) -> FxHashMap<AbstractId, Group> {
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
    let mut instances: FxHashMap<AbstractId, Vec<InstanceId>> = FxHashMap::default();
    for &object in &objects {
        instances.entry(find(&mut group, object)).or_default().extend(summary.instances.of(object));
    }
    let mut found = FxHashMap::default();
    for object in objects {
        let root = find(&mut group, object);
        let Some(&size) = sizes.get(&root) else { continue };
        let all = instances.get(&root).map_or(&[][..], Vec::as_slice);
        let largest = all.iter().map(|id| summary.instances.get(*id).size).max().unwrap_or(0);
        let bits = |count: u64| u64::BITS - count.leading_zeros();
        let offset_bits = bits(largest.saturating_sub(1)).saturating_sub(size.trailing_zeros());
        let granule_bits = if all.len() > 1 { bits(summary.instances.granules()) } else { 0 };
        found.insert(object, Group { size, offset_bits, granule_bits });
    }
    found
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
    group: Option<Group>,
    pieces: &mut Vec<Piece>,
) {
    let first_granule_bit = offset_bits(summary.program.model);
    let terms = &mut summary.terms;
    let occurs = terms.and2(event.occurs, unit.condition);
    if terms.as_bool(occurs) == Some(false) {
        return;
    }
    let size = group.map_or(unit.bytes, |group| group.size);
    for part in 0..unit.bytes / size {
        let shift = terms.bits(terms.width(unit.address), u128::from(part * size));
        let address = terms.add(unit.address, shift);
        let value = terms.extract(unit.value, part * size * 8, size * 8);
        let place = group.map_or(address, |group| place(terms, group, address, first_granule_bit));
        pieces.push(Piece { event: index, unit: Unit { address, value, bytes: size, ..*unit }, occurs, place });
    }
}

fn place(terms: &mut Terms, group: Group, address: Term, first_granule_bit: u32) -> Term {
    let offset_bits = group.offset_bits.min(first_granule_bit - group.size.trailing_zeros());
    let offset = if offset_bits == 0 {
        terms.bits(1, 0)
    } else {
        terms.extract(address, group.size.trailing_zeros(), offset_bits)
    };
    if group.granule_bits == 0 {
        return offset;
    }
    let granule_bits = group.granule_bits.min(terms.width(address) - first_granule_bit);
    let granule = terms.extract(address, first_granule_bit, granule_bits);
    terms.concat(granule, offset)
}
