//! The bytes of one object: cheap to copy with the machine, cheap to access.
//!
//! Most objects of concurrent programs are a word or a small struct: these are stored in place. Larger ones are shared
//! between copies of a machine until one of them writes. The largest, which programs declare more often than they
//! fill, are stored by pages, and only those that were written. Bounds have been checked before anyone comes here.

use crate::interp::value::ones;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

const SMALL: usize = 16;
/// Objects beyond this are stored by pages.
pub(in crate::interp) const DENSE: usize = 1 << 20;
const PAGE: usize = 1 << 14;

#[derive(Clone, Debug)]
pub(in crate::interp) enum Bytes {
    Small([u8; SMALL]),
    Large(Arc<Vec<u8>>),
    Sparse(Arc<Sparse>),
}

/// Pages that were written; all other bytes are `fill`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::interp) struct Sparse {
    fill: u8,
    pages: BTreeMap<usize, Arc<[u8; PAGE]>>,
}

impl Sparse {
    fn get(&self, index: usize) -> u8 {
        self.pages.get(&(index / PAGE)).map_or(self.fill, |page| page[index % PAGE])
    }

    fn read(&self, offset: usize, len: usize) -> u128 {
        let (number, start) = (offset / PAGE, offset % PAGE);
        if start + len > PAGE {
            return little_endian((offset..offset + len).map(|index| self.get(index)));
        }
        match self.pages.get(&number) {
            Some(page) => little_endian(page[start..start + len].iter().copied()),
            None => little_endian(std::iter::repeat_n(self.fill, len)),
        }
    }

    fn set(&mut self, index: usize, byte: u8) {
        let fill = self.fill;
        let page = self.pages.entry(index / PAGE).or_insert_with(|| Arc::new([fill; PAGE]));
        Arc::make_mut(page)[index % PAGE] = byte;
    }
}

impl Bytes {
    pub const EMPTY: Bytes = Bytes::Small([0; SMALL]);

    pub fn filled(len: usize, byte: u8) -> Bytes {
        match len {
            0..=SMALL => Bytes::Small([byte; SMALL]),
            _ if len <= DENSE => Bytes::Large(Arc::new(vec![byte; len])),
            _ => Bytes::Sparse(Arc::new(Sparse { fill: byte, pages: BTreeMap::new() })),
        }
    }

    /// All bytes (a small object is padded), unless they are stored by pages.
    #[inline]
    fn dense(&self) -> Result<&[u8], &Sparse> {
        match self {
            Bytes::Small(bytes) => Ok(bytes),
            Bytes::Large(bytes) => Ok(bytes),
            Bytes::Sparse(sparse) => Err(sparse),
        }
    }

    #[inline]
    fn dense_mut(&mut self) -> Result<&mut [u8], &mut Sparse> {
        match self {
            Bytes::Small(bytes) => Ok(bytes),
            Bytes::Large(bytes) => Ok(Arc::make_mut(bytes).as_mut_slice()),
            Bytes::Sparse(sparse) => Err(Arc::make_mut(sparse)),
        }
    }

    /// `len` ≤ 8 bytes, little end first.
    #[inline]
    pub fn read(&self, offset: usize, len: usize) -> u64 {
        let Ok(bytes) = self.dense() else { return self.read_wide(offset, len) as u64 };
        let bytes = &bytes[offset..offset + len];
        match bytes {
            [a] => u64::from(*a),
            [a, b] => u64::from(u16::from_le_bytes([*a, *b])),
            [a, b, c, d] => u64::from(u32::from_le_bytes([*a, *b, *c, *d])),
            [a, b, c, d, e, f, g, h] => u64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]),
            _ => little_endian(bytes.iter().copied()) as u64,
        }
    }

    #[inline]
    pub fn write(&mut self, offset: usize, len: usize, value: u64) {
        let value = value.to_le_bytes();
        match self.dense_mut() {
            Ok(bytes) => {
                let bytes = &mut bytes[offset..offset + len];
                match bytes {
                    [a] => *a = value[0],
                    [_, _] => bytes.copy_from_slice(&value[..2]),
                    [_, _, _, _] => bytes.copy_from_slice(&value[..4]),
                    [_, _, _, _, _, _, _, _] => bytes.copy_from_slice(&value),
                    _ => bytes.iter_mut().zip(value).for_each(|(byte, new)| *byte = new),
                }
            }
            Err(_) => self.write_all(offset, &value[..len]),
        }
    }

    /// `len` ≤ 16 bytes, little end first.
    pub fn read_wide(&self, offset: usize, len: usize) -> u128 {
        match self.dense() {
            Ok(bytes) => little_endian(bytes[offset..offset + len].iter().copied()),
            Err(sparse) => sparse.read(offset, len),
        }
    }

    pub fn write_wide(&mut self, offset: usize, len: usize, value: u128) {
        self.write_all(offset, &value.to_le_bytes()[..len]);
    }

    pub fn write_all(&mut self, offset: usize, new: &[u8]) {
        match self.dense_mut() {
            Ok(bytes) => bytes[offset..offset + new.len()].copy_from_slice(new),
            Err(sparse) => new.iter().enumerate().for_each(|(index, byte)| sparse.set(offset + index, *byte)),
        }
    }

    /// The bytes of an object of this size, as far as any were ever written.
    pub fn stored(&self, len: usize) -> Vec<&[u8]> {
        match self.dense() {
            Ok(bytes) => vec![&bytes[..len.min(bytes.len())]],
            Err(sparse) => sparse.pages.values().map(|page| &page[..]).collect(),
        }
    }

    pub fn copy(&self, range: Range<usize>) -> Vec<u8> {
        match self.dense() {
            Ok(bytes) => bytes[range].to_vec(),
            Err(sparse) => range.map(|index| sparse.get(index)).collect(),
        }
    }

    /// Where in the range the first byte is that satisfies the condition.
    pub fn position(&self, range: Range<usize>, condition: impl Fn(u8) -> bool) -> Option<usize> {
        match self.dense() {
            Ok(bytes) => bytes[range.clone()].iter().position(|byte| condition(*byte)).map(|at| range.start + at),
            Err(sparse) => range.into_iter().find(|index| condition(sparse.get(*index))),
        }
    }
}

fn little_endian(bytes: impl DoubleEndedIterator<Item = u8>) -> u128 {
    bytes.rev().fold(0, |value, byte| value << 8 | u128::from(byte))
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Bytes) -> bool {
        self.dense() == other.dense()
    }
}

impl Eq for Bytes {}

impl Hash for Bytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.dense().hash(state);
    }
}

/// Which bits of an object are undefined.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::interp) enum Definedness {
    Defined,
    /// Fresh memory: nothing has been stored yet.
    Undefined,
    Mixed(Arc<Masks>),
}

/// A mask of undefined bits for each byte, and how many bytes have one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::interp) struct Masks {
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
            Definedness::Mixed(masks) => masks.masks.position(range, |mask| mask != 0).is_none(),
        }
    }

    /// Sets the masks of `range` in an object of `size` bytes, all to `mask`'s next byte.
    pub fn write(&mut self, size: usize, range: Range<usize>, mut mask: impl FnMut() -> u8) {
        if let Definedness::Mixed(masks) = self {
            if !Arc::make_mut(masks).write(range, mask) {
                *self = Definedness::Defined;
            }
            return;
        }
        let fresh = if *self == Definedness::Defined { 0 } else { 0xff };
        let undefined = if fresh == 0 { 0 } else { size };
        let mut masks = Masks { masks: Bytes::filled(size, fresh), undefined };
        *self = match masks.write(range, &mut mask) {
            true => Definedness::Mixed(Arc::new(masks)),
            false => Definedness::Defined,
        };
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
        let undefined = &mut self.undefined;
        let mut replace = |old: u8| {
            let new = mask();
            *undefined -= usize::from(old != 0);
            *undefined += usize::from(new != 0);
            new
        };
        match self.masks.dense_mut() {
            Ok(masks) => masks[range].iter_mut().for_each(|mask| *mask = replace(*mask)),
            Err(sparse) => range.for_each(|index| sparse.set(index, replace(sparse.get(index)))),
        }
        self.undefined > 0
    }
}
