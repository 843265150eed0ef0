//! The bytes of one object: cheap to copy with the machine, cheap to access.
//!
//! Most objects of concurrent programs are a word or a small struct: these are stored in place. Larger ones are shared
//! between copies of a machine until one of them writes. Bounds have been checked before anyone comes here.

use super::value::ones;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

const SMALL: usize = 16;

#[derive(Clone, Debug)]
pub(super) enum Bytes {
    Small([u8; SMALL]),
    Large(Arc<Vec<u8>>),
}

impl Bytes {
    pub const EMPTY: Bytes = Bytes::Small([0; SMALL]);

    pub fn filled(len: usize, byte: u8) -> Bytes {
        if len <= SMALL { Bytes::Small([byte; SMALL]) } else { Bytes::Large(Arc::new(vec![byte; len])) }
    }

    /// At least as long as the object (a small one is padded).
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        match self {
            Bytes::Small(bytes) => bytes,
            Bytes::Large(bytes) => bytes,
        }
    }

    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        match self {
            Bytes::Small(bytes) => bytes,
            Bytes::Large(bytes) => Arc::make_mut(bytes).as_mut_slice(),
        }
    }

    /// `len` ≤ 8 bytes, little end first.
    #[inline]
    pub fn read(&self, offset: usize, len: usize) -> u64 {
        let bytes = &self.as_slice()[offset..offset + len];
        match bytes {
            [a] => u64::from(*a),
            [a, b] => u64::from(u16::from_le_bytes([*a, *b])),
            [a, b, c, d] => u64::from(u32::from_le_bytes([*a, *b, *c, *d])),
            [a, b, c, d, e, f, g, h] => u64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]),
            _ => read_wide(bytes) as u64,
        }
    }

    #[inline]
    pub fn write(&mut self, offset: usize, len: usize, value: u64) {
        let bytes = &mut self.as_mut_slice()[offset..offset + len];
        let value = value.to_le_bytes();
        match bytes {
            [a] => *a = value[0],
            [_, _] => bytes.copy_from_slice(&value[..2]),
            [_, _, _, _] => bytes.copy_from_slice(&value[..4]),
            [_, _, _, _, _, _, _, _] => bytes.copy_from_slice(&value),
            _ => bytes.iter_mut().zip(value).for_each(|(byte, new)| *byte = new),
        }
    }

    /// `len` ≤ 16 bytes, little end first.
    pub fn read_wide(&self, offset: usize, len: usize) -> u128 {
        read_wide(&self.as_slice()[offset..offset + len])
    }

    pub fn write_wide(&mut self, offset: usize, len: usize, value: u128) {
        let bytes = &mut self.as_mut_slice()[offset..offset + len];
        bytes.iter_mut().zip(value.to_le_bytes()).for_each(|(byte, new)| *byte = new);
    }
}

fn read_wide(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u128::from(*byte))
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Bytes) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Bytes {}

impl Hash for Bytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

/// Which bits of an object are undefined.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Definedness {
    Defined,
    /// Fresh memory: nothing has been stored yet.
    Undefined,
    Mixed(Arc<Masks>),
}

/// A mask of undefined bits for each byte, and how many bytes have one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Masks {
    masks: Bytes,
    undefined: usize,
}

impl Definedness {
    /// The masks of `len` ≤ 16 bytes.
    pub fn read(&self, offset: usize, len: usize) -> u128 {
        match self {
            Definedness::Defined => 0,
            Definedness::Undefined => ones(len as u16 * 8),
            Definedness::Mixed(masks) => masks.masks.read_wide(offset, len),
        }
    }

    pub fn all_defined(&self, range: Range<usize>) -> bool {
        match self {
            Definedness::Defined => true,
            Definedness::Undefined => range.is_empty(),
            Definedness::Mixed(masks) => masks.masks.as_slice()[range].iter().all(|mask| *mask == 0),
        }
    }

    /// Sets the masks of `range` in an object of `size` bytes, all to `mask`'s next byte.
    pub fn write(&mut self, size: usize, range: Range<usize>, mut mask: impl FnMut() -> u8) {
        let whole = range.len() == size;
        if let Definedness::Mixed(masks) = self {
            if !Arc::make_mut(masks).write(range, mask) {
                *self = Definedness::Defined;
            }
            return;
        }
        let fresh = if *self == Definedness::Defined { 0 } else { 0xff };
        let undefined = if fresh == 0 { 0 } else { size };
        let mut masks = Masks { masks: Bytes::filled(size, fresh), undefined };
        if !masks.write(range, &mut mask) {
            *self = Definedness::Defined;
        } else if !(whole && masks.masks.as_slice()[..size].iter().all(|mask| *mask == 0xff)) {
            *self = Definedness::Mixed(Arc::new(masks));
        } else {
            *self = Definedness::Undefined;
        }
    }

    /// All of `range` in an object of `size` bytes is defined from now on.
    #[inline]
    pub fn define(&mut self, size: usize, range: Range<usize>) {
        match self {
            Definedness::Defined => {}
            _ if range.len() == size => *self = Definedness::Defined,
            _ => self.write(size, range, || 0),
        }
    }
}

impl Masks {
    /// Says whether any undefined bit is left anywhere.
    fn write(&mut self, range: Range<usize>, mut mask: impl FnMut() -> u8) -> bool {
        for old in &mut self.masks.as_mut_slice()[range] {
            let new = mask();
            self.undefined -= usize::from(*old != 0);
            self.undefined += usize::from(new != 0);
            *old = new;
        }
        self.undefined > 0
    }
}
