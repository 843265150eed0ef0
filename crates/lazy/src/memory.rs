//! Accesses to memory through addresses that are terms.
//!
//! An address that is a constant names its object. Otherwise it may be in any object that points-to analysis gives for
//! the pointer; in each of them, at any offset that fits. A read is a choice among all of these, and a write a choice at
//! each of them. Where the address is in none, or in one that is not alive, the access is a violation, and the thread does
//! not go on.

use crate::layout::{InstanceId, Layout, Refused, ThreadIndex};
use crate::state::State;
use leno_ir::analysis::points_to::ObjectSet;
use leno_logic::term::{Term, Terms};

/// An object that an access may be to, and the condition that it is.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub id: InstanceId,
    pub condition: Term,
}

/// Where an access may be.
pub struct Targets {
    pub all: Vec<Target>,
    /// That it is somewhere, in an object that is alive.
    pub valid: Term,
}

/// The objects that an access of so many bytes may be to.
pub fn targets(
    terms: &mut Terms,
    layout: &Layout<'_>,
    state: &State,
    (address, bytes): (Term, u64),
    objects: &ObjectSet,
    writes: bool,
) -> Targets {
    let candidates = match terms.as_bits(address) {
        Some(known) => layout.at(known as u64).into_iter().collect::<Vec<_>>(),
        None => objects.iter().flat_map(|object| layout.of(object)).copied().collect(),
    };
    let (mut all, mut valid) = (Vec::new(), Term::FALSE);
    for id in candidates {
        let instance = &layout.instances[id];
        if instance.is_function || (writes && instance.is_constant) {
            continue;
        }
        let mut condition = instance.region().contains(terms, address, bytes);
        if let Some(life) = instance.life() {
            let alive = terms.bits_to_bool(state.cell(id, life));
            condition = terms.and2(condition, alive);
        }
        if condition != Term::FALSE {
            valid = terms.or2(valid, condition);
            all.push(Target { id, condition });
        }
    }
    Targets { all, valid }
}

fn too_many<T>(_: T) -> Refused {
    Refused::new("an address that may be in too many places")
}

/// Whether some target is memory that only another thread has: points-to analysis would have called it shared.
pub fn is_of_another_thread(layout: &Layout<'_>, target: Target, thread: ThreadIndex) -> bool {
    let instance = &layout.instances[target.id];
    !instance.is_shared && instance.owner.is_some_and(|owner| owner != thread)
}

pub fn read(
    terms: &mut Terms,
    layout: &mut Layout<'_>,
    state: &State,
    address: Term,
    bytes: u32,
    targets: &[Target],
) -> Result<Option<Term>, Refused> {
    let mut value = None;
    for target in targets {
        let region = layout.instances[target.id].region();
        let offset = region.offset_of(terms, address);
        for (at, condition) in region.places(terms, offset, bytes).map_err(too_many)? {
            let here = read_at(terms, layout, state, target.id, at, bytes)?;
            let condition = terms.and2(target.condition, condition);
            value = Some(match value {
                None => here,
                Some(other) => terms.ite(condition, here, other),
            });
        }
    }
    Ok(value)
}

/// The value of some bytes at an offset that is known.
fn read_at(
    terms: &mut Terms,
    layout: &mut Layout<'_>,
    state: &State,
    id: InstanceId,
    at: u64,
    bytes: u32,
) -> Result<Term, Refused> {
    let instance = &layout.instances[id];
    if instance.life().unwrap_or(instance.cells.len()) == 0 {
        return layout.initial(terms, id, at, bytes);
    }
    let mut value: Option<Term> = None;
    for (cell, from, length) in pieces(layout, id, at, bytes) {
        let whole = state.cell(id, cell);
        let part = terms.extract(whole, from, length);
        value = Some(value.map_or(part, |low| terms.concat(part, low)));
    }
    Ok(value.unwrap_or_else(|| terms.bits(bytes * 8, 0)))
}

/// The cells that some bytes lie in, from the lowest on, with the bits of each of them.
fn pieces(layout: &Layout<'_>, id: InstanceId, at: u64, bytes: u32) -> Vec<(usize, u32, u32)> {
    let instance = &layout.instances[id];
    let end = at + u64::from(bytes);
    let data = &instance.cells[..instance.life().unwrap_or(instance.cells.len())];
    let first = data.partition_point(|cell| cell.offset + u64::from(cell.bits / 8) <= at);
    let inside = data.iter().enumerate().skip(first).take_while(|(_, cell)| cell.offset < end);
    inside
        .map(|(index, cell)| {
            let (from, to) = (cell.offset.max(at), (cell.offset + u64::from(cell.bits / 8)).min(end));
            (index, (from - cell.offset) as u32 * 8, (to - from) as u32 * 8)
        })
        .collect()
}

/// Writes a value where `condition` holds.
pub fn write(
    terms: &mut Terms,
    layout: &Layout<'_>,
    state: &mut State,
    (condition, address, value): (Term, Term, Term),
    targets: &[Target],
) -> Result<(), Refused> {
    let bytes = terms.width(value) / 8;
    for target in targets {
        let region = layout.instances[target.id].region();
        let offset = region.offset_of(terms, address);
        for (at, here) in region.places(terms, offset, bytes).map_err(too_many)? {
            let here = terms.and(&[condition, target.condition, here]);
            write_at(terms, layout, state, (target.id, at), here, value);
        }
    }
    Ok(())
}

fn write_at(
    terms: &mut Terms,
    layout: &Layout<'_>,
    state: &mut State,
    (id, at): (InstanceId, u64),
    condition: Term,
    value: Term,
) {
    let mut done = 0;
    for (cell, from, length) in pieces(layout, id, at, terms.width(value) / 8) {
        let old = state.cell(id, cell);
        let mut new = terms.extract(value, done, length);
        done += length;
        if from > 0 {
            let below = terms.extract(old, 0, from);
            new = terms.concat(new, below);
        }
        let (width, end) = (terms.width(old), from + length);
        if end < width {
            let above = terms.extract(old, end, width - end);
            new = terms.concat(above, new);
        }
        let new = terms.ite(condition, new, old);
        state.set_cell(id, cell, new);
    }
}
