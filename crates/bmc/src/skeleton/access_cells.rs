//! Accesses cut into cells that either coincide or do not overlap.
//!
//! Where accesses of different sizes may overlap (a union, a struct copied word by word and read byte by byte), all
//! accesses to one object are cut into cells of the largest size that divides the sizes and addresses of all of them.

use crate::bounded::BoundedProgram;
use crate::skeleton::layout::{InstanceId, offset_bits};
use crate::skeleton::{Event, EventId, Unit};
use leno_ir::analysis::points_to::AbstractId;
use leno_ir::analysis::sharing::Sharing;
use leno_ir::index::IndexVec;
use leno_ir::index_type;
use leno_logic::term::{Term, Terms};
use rustc_hash::FxHashMap;

index_type!(
    /// A cell that is read.
    ReadId,
    "r"
);

index_type!(
    /// A cell that is written.
    WriteId,
    "w"
);

/// A part of an event's access.
#[derive(Clone, Copy, Debug)]
pub struct AccessCell {
    pub event: EventId,
    pub unit: Unit,
    /// The condition that the event occurs and accesses this cell.
    pub occurs: Term,
    /// The bits of the address that tell it from those of cells that it may be confused with: two such cells that occur
    /// are at the same address exactly if their locations are equal.
    pub location: Term,
}

/// Objects that one access may reach.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// The bytes of a cell.
    size: u32,
    /// How many bits of an address tell the cells of an object apart, and how many tell objects apart.
    offset_bits: u32,
    granule_bits: u32,
}

/// All cells that may be accessed, in the order of their events.
#[derive(Default)]
pub struct AccessCells {
    pub reads: IndexVec<ReadId, AccessCell>,
    pub writes: IndexVec<WriteId, AccessCell>,
    /// Reads whose values are known.
    pub known_reads: Vec<AccessCell>,
}

pub fn access_cells(bounded: &mut BoundedProgram<'_>) -> AccessCells {
    let groups = groups(bounded);
    let mut cells = AccessCells::default();
    for id in bounded.skeleton.events.ids() {
        let event = bounded.skeleton.events[id].clone();
        let group = event.targets.iter().find_map(|object| groups.get(&object).copied());
        for unit in &event.reads {
            cells.reads.extend(split(bounded, id, &event, unit, group));
        }
        for unit in &event.known_reads {
            cells.known_reads.extend(split(bounded, id, &event, unit, group));
        }
        for unit in &event.writes {
            cells.writes.extend(split(bounded, id, &event, unit, group));
        }
    }
    cells
}

/// The group of each shared object. Its cells are as large as possible.
fn groups(bounded: &BoundedProgram<'_>) -> FxHashMap<AbstractId, Group> {
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
    let events = &bounded.skeleton.events;
    let shared = |object: &AbstractId| bounded.facts.shared.of(*object) == Sharing::Shared;
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
            let aligned = alignment(bounded, unit);
            let size = sizes.entry(root).or_insert(aligned);
            *size = (*size).min(aligned);
        }
    }
    let objects: Vec<AbstractId> = group.keys().copied().collect();
    let mut instances: FxHashMap<AbstractId, Vec<InstanceId>> = FxHashMap::default();
    for &object in &objects {
        instances.entry(find(&mut group, object)).or_default().extend(bounded.layout.of(object));
    }
    let mut found = FxHashMap::default();
    for object in objects {
        let root = find(&mut group, object);
        let Some(&size) = sizes.get(&root) else { continue };
        let all = instances.get(&root).map_or(&[][..], Vec::as_slice);
        let largest = all.iter().map(|id| bounded.layout.get(*id).size).max().unwrap_or(0);
        let bits = |count: u64| u64::BITS - count.leading_zeros();
        let offset_bits = bits(largest.saturating_sub(1)).saturating_sub(size.trailing_zeros());
        let granule_bits = if all.len() > 1 { bits(bounded.layout.granules()) } else { 0 };
        found.insert(object, Group { size, offset_bits, granule_bits });
    }
    found
}

/// The largest power of two that an access is made of and, where its address is known, aligned to.
fn alignment(bounded: &BoundedProgram<'_>, unit: &Unit) -> u32 {
    let of_size = 1 << unit.bytes.trailing_zeros();
    match bounded.terms.as_bits(unit.address) {
        Some(address) => of_size.min(1u32 << (address as u64 | 1 << 16).trailing_zeros()),
        None => of_size,
    }
}

/// The cells of an access.
fn split(
    bounded: &mut BoundedProgram<'_>,
    id: EventId,
    event: &Event,
    unit: &Unit,
    group: Option<Group>,
) -> Vec<AccessCell> {
    let mut cells = Vec::new();
    let first_granule_bit = offset_bits(bounded.facts.program.model);
    let terms = &mut bounded.terms;
    let occurs = terms.and2(event.occurs, unit.condition);
    if terms.as_bool(occurs) == Some(false) {
        return cells;
    }
    let size = group.map_or(unit.bytes, |group| group.size);
    for part in 0..unit.bytes / size {
        let shift = terms.bits(terms.width(unit.address), u128::from(part * size));
        let address = terms.add(unit.address, shift);
        let value = terms.extract(unit.value, part * size * 8, size * 8);
        let location = group.map_or(address, |group| location(terms, group, address, first_granule_bit));
        cells.push(AccessCell { event: id, unit: Unit { address, value, bytes: size, ..*unit }, occurs, location });
    }
    cells
}

fn location(terms: &mut Terms, group: Group, address: Term, first_granule_bit: u32) -> Term {
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
