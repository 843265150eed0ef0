//! The symbolic contents of memory that threads do not share.
//!
//! Only bytes that hold a term are kept, with the value that they had in the recorded run: all other bytes hold what
//! was recorded.

use crate::program::term_migration::TermMigration;
use crate::walk::concolic::ConcolicValue;
use crate::walk::listener::{Location, MemoryAccess};
use leno_logic::term::{Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Default)]
pub(crate) struct PrivateTerms {
    /// Bytes that hold a term, with their recorded values.
    bytes: FxHashMap<Location, (Term, u8)>,
    /// The words that have such bytes, or once had: most loads need not look further.
    words: FxHashSet<Location>,
}

/// The word that a byte is in.
fn word(at: Location) -> Location {
    Location { offset: at.offset & !7, ..at }
}

/// The bytes of an access, and where they are in its value.
fn bytes(access: MemoryAccess) -> impl Iterator<Item = (Location, u32)> {
    (0..access.bytes).map(move |index| {
        let offset = access.at.offset.wrapping_add(u64::from(index));
        (Location { offset, ..access.at }, index * 8)
    })
}

impl PrivateTerms {
    fn may_be_symbolic(&self, access: MemoryAccess) -> bool {
        let offset = access.at.offset.wrapping_add(u64::from(access.bytes.max(1)) - 1);
        let last = Location { offset, ..access.at };
        !self.words.is_empty()
            && (self.words.contains(&word(access.at)) || access.bytes > 8 || self.words.contains(&word(last)))
    }

    pub fn load(&mut self, terms: &mut Terms, access: MemoryAccess, recorded: u128) -> ConcolicValue {
        if !self.may_be_symbolic(access) {
            return ConcolicValue::fixed(recorded);
        }
        let mut whole: Option<Term> = None;
        let mut is_symbolic = false;
        for (at, shift) in bytes(access) {
            let was = (recorded >> shift) as u8;
            let byte = match self.bytes.get(&at) {
                Some((term, held)) if *held == was => {
                    is_symbolic = true;
                    *term
                }
                // Code outside of the program has written here.
                Some(_) => {
                    self.bytes.remove(&at);
                    terms.bits(8, was.into())
                }
                None => terms.bits(8, was.into()),
            };
            whole = Some(match whole {
                Some(low) => terms.concat(byte, low),
                None => byte,
            });
        }
        match whole.filter(|_| is_symbolic) {
            Some(term) => ConcolicValue::new(terms, recorded, term),
            None => ConcolicValue::fixed(recorded),
        }
    }

    pub fn store(&mut self, terms: &mut Terms, access: MemoryAccess, value: ConcolicValue) {
        if value.term.is_none() && !self.may_be_symbolic(access) {
            return;
        }
        for (at, shift) in bytes(access) {
            match value.term {
                None => _ = self.bytes.remove(&at),
                Some(term) => {
                    self.words.insert(word(at));
                    let byte = terms.extract(term, shift, 8);
                    self.bytes.insert(at, (byte, (value.bits >> shift) as u8));
                }
            }
        }
    }

    /// What holds if these bytes have their recorded values.
    pub fn pins(&mut self, terms: &mut Terms, at: Location, bytes: u64) -> Vec<Term> {
        if self.bytes.is_empty() {
            return Vec::new();
        }
        let mut pins = Vec::new();
        for index in 0..bytes {
            let byte = Location { offset: at.offset.wrapping_add(index), ..at };
            if let Some((term, was)) = self.bytes.get(&byte).copied() {
                let was = terms.bits(8, was.into());
                pins.push(terms.eq(term, was));
            }
        }
        pins
    }

    /// Code outside of the program has written these bytes.
    pub fn overwrite(&mut self, at: Location, bytes: u64) {
        self.clear(at, bytes);
    }

    /// A new object begins here, in memory that another one may have used.
    pub fn clear(&mut self, at: Location, bytes: u64) {
        let inside = |byte: &Location| byte.instance == at.instance && byte.offset.wrapping_sub(at.offset) < bytes;
        if bytes > self.bytes.len() as u64 {
            self.bytes.retain(|byte, _| !inside(byte));
            return;
        }
        for index in 0..bytes {
            self.bytes.remove(&Location { offset: at.offset.wrapping_add(index), ..at });
        }
    }

    /// Moves the terms to another arena, in which some have become constants.
    pub fn migrate(&mut self, terms: &mut TermMigration<'_>) {
        // (In the order of locations, so that the terms have the same numbers every time.)
        let mut bytes: Vec<(&Location, &mut (Term, u8))> = self.bytes.iter_mut().collect();
        bytes.sort_unstable_by_key(|(at, _)| **at);
        for (_, (term, _)) in bytes {
            *term = terms.term(*term);
        }
        self.bytes.retain(|_, (term, _)| terms.new.as_constant(*term).is_none());
        self.words = self.bytes.keys().map(|at| word(*at)).collect();
    }
}
