//! Where an object is in memory, and what an address that is a term means for it.

use leno_logic::term::{Term, Terms};

/// Offsets that an unknown address may have in one object, before they are too many to tell apart.
const MOST_PLACES: u64 = 1 << 14;

/// An object at an address that is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    pub base: u64,
    pub size: u64,
    /// The real size, if that is not known: at most the other one.
    pub extent: Option<Term>,
}

/// There are too many offsets that an access may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManyPlaces;

impl Region {
    /// How far an address lies behind the beginning.
    pub fn offset_of(&self, terms: &mut Terms, address: Term) -> Term {
        let base = terms.bits(terms.width(address), self.base.into());
        terms.sub(address, base)
    }

    /// Whether an access of so many bytes lies within.
    pub fn contains(&self, terms: &mut Terms, address: Term, bytes: u64) -> Term {
        let Some(room) = self.size.checked_sub(bytes) else { return Term::FALSE };
        let offset = self.offset_of(terms, address);
        let width = terms.width(address);
        let Some(extent) = self.extent else {
            let last = terms.bits(width, room.into());
            return terms.ule(offset, last);
        };
        let bytes = terms.bits(width, bytes.into());
        let fits = terms.ule(bytes, extent);
        let last = terms.sub(extent, bytes);
        let inside = terms.ule(offset, last);
        terms.and2(fits, inside)
    }

    /// The offsets that an access of so many bytes may have, each with its condition. Where it is elsewhere, none of
    /// them holds.
    pub fn places(&self, terms: &mut Terms, offset: Term, bytes: u32) -> Result<Vec<(u64, Term)>, TooManyPlaces> {
        let Some(last) = self.size.checked_sub(bytes.into()) else { return Ok(Vec::new()) };
        if let Some(known) = terms.as_bits(offset) {
            let fits = known <= u128::from(last);
            return Ok(if fits { vec![(known as u64, Term::TRUE)] } else { Vec::new() });
        }
        // Low bits that are known tell the stride.
        let known = terms.known(offset);
        let stride = 1u64 << (known.zeros | known.ones).trailing_ones().min(16);
        let first = known.ones as u64 & (stride - 1);
        if last / stride > MOST_PLACES {
            return Err(TooManyPlaces);
        }
        let width = terms.width(offset);
        let mut places = Vec::new();
        for at in (first..=last).step_by(stride as usize) {
            let here = terms.bits(width, at.into());
            let condition = terms.eq(offset, here);
            if condition != Term::FALSE {
                places.push((at, condition));
            }
        }
        Ok(places)
    }
}
