//! The contents of an object, as far as they have been written: cells of terms, found by offset.
//!
//! A read that fits a cell is that cell's value; anything else is put together from bytes. What has not been written is
//! asked of the engine (see [`crate::contents`]). At an offset that is a term, a read is a choice among all places
//! where it can be, and a write a choice at each of them (see [`crate::region`]).

use leno_logic::term::{Term, Terms};
use std::collections::BTreeMap;

/// The contents of one object, where they differ from its initial value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cells {
    cells: BTreeMap<u64, (u32, Term)>,
}

/// Gives the value of so many bytes at an offset that have not been written.
pub type Unwritten<'a, E> = dyn FnMut(&mut Terms, u64, u32) -> Result<Term, E> + 'a;

impl Cells {
    /// The value of `bytes` bytes at `offset`; `initial` gives what has not been written.
    pub fn read<E>(
        &self,
        terms: &mut Terms,
        offset: u64,
        bytes: u32,
        initial: &mut Unwritten<'_, E>,
    ) -> Result<Term, E> {
        if let Some(&(length, value)) = self.cells.get(&offset)
            && length == bytes
        {
            return Ok(value);
        }
        if self.overlapping(offset, bytes).is_empty() {
            return initial(terms, offset, bytes);
        }
        let mut value = None;
        for index in 0..u64::from(bytes) {
            let byte = match self.byte(terms, offset + index) {
                Some(byte) => byte,
                None => initial(terms, offset + index, 1)?,
            };
            value = Some(match value {
                None => byte,
                Some(low) => terms.concat(byte, low),
            });
        }
        Ok(value.unwrap_or_else(|| terms.bits(8, 0)))
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
    pub fn merge<E>(
        &self,
        terms: &mut Terms,
        condition: Term,
        other: &Cells,
        initial: &mut Unwritten<'_, E>,
    ) -> Result<Cells, E> {
        let mut merged = Cells::default();
        let mut done = 0;
        for (at, length) in self.places(other) {
            if at < done {
                // Cells of different lengths overlap: byte by byte from here.
                for place in done..at + u64::from(length) {
                    let (a, b) = (self.read(terms, place, 1, initial)?, other.read(terms, place, 1, initial)?);
                    let value = terms.ite(condition, a, b);
                    merged.write(terms, place, 1, value);
                }
            } else {
                let (a, b) = (self.read(terms, at, length, initial)?, other.read(terms, at, length, initial)?);
                let value = terms.ite(condition, a, b);
                merged.write(terms, at, length, value);
            }
            done = done.max(at + u64::from(length));
        }
        Ok(merged)
    }
}
