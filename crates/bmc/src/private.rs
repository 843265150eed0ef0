//! Memory that only one thread uses: it stays in the thread's symbolic state and makes no events.
//!
//! The contents of an object are cells, found by offset. A read that fits a cell is that cell's value; anything else is put
//! together from bytes. At a symbolic offset a read is a choice among all places that it can be, and a write a choice at each.

use crate::objects::{Initial, InstanceId};
use leno_ir::program::{Datum, Program};
use leno_logic::term::{Sort, Term, Terms};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The contents of one object, where they differ from its initial value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cells {
    cells: BTreeMap<u64, (u32, Term)>,
}

/// The private memory of a thread at some place.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    pub objects: FxHashMap<InstanceId, Rc<Cells>>,
    /// The condition under which an object's life has ended; those that are not here live.
    pub dead: Rc<BTreeMap<InstanceId, Term>>,
}

impl Cells {
    /// The value of `bytes` bytes at `offset`; `initial` gives a byte that nobody wrote.
    pub fn read(
        &self,
        terms: &mut Terms,
        offset: u64,
        bytes: u32,
        initial: &mut dyn FnMut(&mut Terms, u64, u32) -> Term,
    ) -> Term {
        if let Some(&(length, value)) = self.cells.get(&offset)
            && length == bytes
        {
            return value;
        }
        if self.overlapping(offset, bytes).is_empty() {
            return initial(terms, offset, bytes);
        }
        let mut value = None;
        for index in 0..u64::from(bytes) {
            let byte = self.byte(terms, offset + index).unwrap_or_else(|| initial(terms, offset + index, 1));
            value = Some(match value {
                None => byte,
                Some(low) => terms.concat(byte, low),
            });
        }
        value.unwrap_or_else(|| terms.bits(8, 0))
    }

    fn byte(&self, terms: &mut Terms, offset: u64) -> Option<Term> {
        let (&start, &(length, value)) = self.cells.range(..=offset).next_back()?;
        let inside = offset - start;
        (inside < u64::from(length)).then(|| terms.extract(value, inside as u32 * 8, 8))
    }

    fn overlapping(&self, offset: u64, bytes: u32) -> Vec<u64> {
        let end = offset + u64::from(bytes);
        let from =
            self.cells.range(..offset).next_back().filter(|&(&at, &(length, _))| at + u64::from(length) > offset);
        from.into_iter().map(|(&at, _)| at).chain(self.cells.range(offset..end).map(|(&at, _)| at)).collect()
    }

    pub fn write(&mut self, terms: &mut Terms, offset: u64, bytes: u32, value: Term) {
        for at in self.overlapping(offset, bytes) {
            let Some((length, old)) = self.cells.remove(&at) else { continue };
            if at == offset && length == bytes {
                continue;
            }
            for index in 0..u64::from(length) {
                let place = at + index;
                if place < offset || place >= offset + u64::from(bytes) {
                    self.cells.insert(place, (1, terms.extract(old, index as u32 * 8, 8)));
                }
            }
        }
        self.cells.insert(offset, (bytes, value));
    }

    /// All cells: offset, length, value.
    pub fn all(&self) -> impl Iterator<Item = (u64, u32, Term)> + '_ {
        self.cells.iter().map(|(&offset, &(bytes, value))| (offset, bytes, value))
    }

    /// Cells that differ in their values; None if they are not the same cells.
    #[allow(clippy::type_complexity)]
    pub fn differences(&self, other: &Cells) -> Option<Vec<(Option<Term>, Option<Term>)>> {
        if self.cells.len() != other.cells.len() {
            return None;
        }
        let mut found = Vec::new();
        for ((at, (length, value)), (place, (size, old))) in self.cells.iter().zip(&other.cells) {
            if (at, length) != (place, size) {
                return None;
            }
            if value != old {
                found.push((Some(*value), Some(*old)));
            }
        }
        Some(found)
    }

    /// The places and lengths of all cells of both.
    fn places(&self, other: &Cells) -> Vec<(u64, u32)> {
        let mut places: BTreeMap<u64, u32> = BTreeMap::new();
        for cells in [self, other] {
            for (&at, &(length, _)) in &cells.cells {
                let entry = places.entry(at).or_insert(length);
                *entry = (*entry).max(length);
            }
        }
        places.into_iter().collect()
    }

    /// This where `condition` holds, `other` elsewhere.
    pub fn merge(
        &self,
        terms: &mut Terms,
        condition: Term,
        other: &Cells,
        initial: &mut dyn FnMut(&mut Terms, u64, u32) -> Term,
    ) -> Cells {
        let mut merged = Cells::default();
        let mut done = 0;
        for (at, length) in self.places(other) {
            if at < done {
                // Cells of different lengths overlap: byte by byte from here.
                for place in done..at + u64::from(length) {
                    let (a, b) = (self.read(terms, place, 1, initial), other.read(terms, place, 1, initial));
                    let value = terms.ite(condition, a, b);
                    merged.write(terms, place, 1, value);
                }
            } else {
                let (a, b) = (self.read(terms, at, length, initial), other.read(terms, at, length, initial));
                let value = terms.ite(condition, a, b);
                merged.write(terms, at, length, value);
            }
            done = done.max(at + u64::from(length));
        }
        merged
    }
}

/// The initial value of some bytes of an object.
pub fn initial_value(
    program: &Program,
    terms: &mut Terms,
    given: &[Vec<u8>],
    initial: Initial,
    (offset, bytes): (u64, u32),
    address: &mut dyn FnMut(&Datum) -> u64,
) -> Term {
    let width = bytes * 8;
    match initial {
        Initial::Given(index) => {
            let contents = given[index as usize].iter().skip(offset as usize).take(bytes as usize);
            let value = contents.rev().fold(0, |value, byte| value << 8 | u128::from(*byte));
            terms.bits(width, value)
        }
        Initial::Undefined => terms.variable(Sort::Bits(width), "undefined"),
        Initial::Zero => terms.bits(width, 0),
        Initial::Static(object) => {
            let mut value = 0u128;
            for (at, datum) in &program.objects[object].init {
                let (length, data) = match datum {
                    Datum::Bytes(data) => (data.len() as u64, data.clone()),
                    _ => (program.model.pointer_bytes(), address(datum).to_le_bytes().to_vec()),
                };
                for index in 0..length.min(data.len() as u64) {
                    let place = at + index;
                    if (offset..offset + u64::from(bytes)).contains(&place) {
                        value |= u128::from(data[index as usize]) << ((place - offset) * 8);
                    }
                }
            }
            terms.bits(width, value)
        }
    }
}
