//! Values, and which of their bits are defined.
//!
//! A value is its bits and a mask of those that are undefined, as in Valgrind's memcheck: copying undefined bits
//! is harmless, computing with them is tracked, and only a *decision* on them is an error (see `undefined`).
//! Bitwise operations, shifts by a defined amount and casts of integers carry the mask exactly, so that a bit-field in
//! a fresh word can be stored by load, mask, or, store. Every other operation gives a wholly undefined result if any
//! operand bit is undefined.
//!
//! Values of at most 64 bits without undefined bits never come here: the evaluator has a path of its own for them.

pub(in crate::interp) mod arithmetic;
pub(in crate::interp) mod eval;
pub(in crate::interp) mod float;
pub mod operate;
mod undefined;

use crate::program::BinaryOp;

/// Up to 128 bits, little end first, and a mask of the undefined ones. No bit above the width is set in either; an
/// undefined bit may be 0 or 1 in `bits` (the interpreter keeps what was there).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Value {
    pub bits: u128,
    pub undefined: u128,
}

impl Value {
    pub fn defined(bits: u128) -> Value {
        Value { bits, undefined: 0 }
    }

    /// A value of which nothing is known.
    pub fn undefined(width: u16) -> Value {
        Value { bits: 0, undefined: ones(width) }
    }

    pub fn is_defined(self) -> bool {
        self.undefined == 0
    }

    /// The low `width` bits.
    pub fn truncate(self, width: u16) -> Value {
        Value { bits: self.bits & ones(width), undefined: self.undefined & ones(width) }
    }

    /// From `from` bits to `to` bits; a copy of an undefined sign bit is undefined.
    pub fn sign_extend(self, from: u16, to: u16) -> Value {
        Value {
            bits: arithmetic::sign_extend(self.bits, from) as u128 & ones(to),
            undefined: arithmetic::sign_extend(self.undefined, from) as u128 & ones(to),
        }
    }

    pub fn complement(self, width: u16) -> Value {
        Value { bits: !self.bits & ones(width), undefined: self.undefined }
    }
}

/// `width` ones.
#[inline]
pub fn ones(width: u16) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// Which bits of `left op right` are undefined, for integers of `width` bits and a result of `result_width` bits.
pub(in crate::interp) fn undefined_bits(
    op: BinaryOp,
    width: u16,
    result_width: u16,
    left: Value,
    right: Value,
) -> u128 {
    let either = left.undefined | right.undefined;
    if either == 0 {
        return 0;
    }
    let shifted = |op| arithmetic::binary(op, width, left.undefined, right.bits);
    match op {
        // A defined 0 decides a conjunction, a defined 1 a disjunction.
        BinaryOp::And => either & (left.bits | left.undefined) & (right.bits | right.undefined),
        BinaryOp::Or => either & (!left.bits | left.undefined) & (!right.bits | right.undefined),
        BinaryOp::Xor => either,
        BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr if right.is_defined() => shifted(op),
        _ => ones(result_width),
    }
}
