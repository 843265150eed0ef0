//! Floating point, with the bits that gcc's code computes on x86-64.
//!
//! `float` and `double` are the host's own, with one addition: Rust leaves the bits of a NaN open, and here they are
//! those of an SSE instruction (the first operand that is a NaN, made quiet; otherwise the negative default NaN).
//! `long double` is the x87 format, computed by `rustc_apfloat`; its square root is an integer square root here.
//! Converting to an integer outside its range does what gcc's instruction sequences do, which differs by width.

use super::arithmetic::sign_extend;
use super::ones;
use crate::program::{BinaryOp, FloatKind, UnaryOp};
use rustc_apfloat::ieee::{Double, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round, Status};

const QUIET64: u64 = 1 << 51;
const QUIET32: u32 = 1 << 22;
const QUIET80: u128 = 1 << 62;
const DEFAULT_NAN64: u64 = 0xfff8_0000_0000_0000;
const DEFAULT_NAN32: u32 = 0xffc0_0000;
const DEFAULT_NAN80: u128 = 0xffff_c000_0000_0000_0000;

/// An operation on two `double`s, given and returned as bits; comparisons return 0 or 1.
#[inline]
pub(in crate::interp) fn binary_f64(op: BinaryOp, left: u64, right: u64) -> u64 {
    let (a, b) = (f64::from_bits(left), f64::from_bits(right));
    let result = match op {
        BinaryOp::FAdd => a + b,
        BinaryOp::FSub => a - b,
        BinaryOp::FMul => a * b,
        BinaryOp::FDiv => a / b,
        BinaryOp::FEq => return u64::from(a == b),
        BinaryOp::FNe => return u64::from(a != b),
        BinaryOp::FLt => return u64::from(a < b),
        BinaryOp::FLe => return u64::from(a <= b),
        _ => return 0,
    };
    match result.is_nan() {
        false => result.to_bits(),
        true if a.is_nan() => left | QUIET64,
        true if b.is_nan() => right | QUIET64,
        true => DEFAULT_NAN64,
    }
}

/// An operation on two `float`s, given and returned as bits; comparisons return 0 or 1.
#[inline]
pub(in crate::interp) fn binary_f32(op: BinaryOp, left: u32, right: u32) -> u32 {
    let (a, b) = (f32::from_bits(left), f32::from_bits(right));
    let result = match op {
        BinaryOp::FAdd => a + b,
        BinaryOp::FSub => a - b,
        BinaryOp::FMul => a * b,
        BinaryOp::FDiv => a / b,
        BinaryOp::FEq => return u32::from(a == b),
        BinaryOp::FNe => return u32::from(a != b),
        BinaryOp::FLt => return u32::from(a < b),
        BinaryOp::FLe => return u32::from(a <= b),
        _ => return 0,
    };
    match result.is_nan() {
        false => result.to_bits(),
        true if a.is_nan() => left | QUIET32,
        true if b.is_nan() => right | QUIET32,
        true => DEFAULT_NAN32,
    }
}

fn binary_f80(op: BinaryOp, left: u128, right: u128) -> u128 {
    let (a, b) = (X87DoubleExtended::from_bits(left), X87DoubleExtended::from_bits(right));
    let result = match op {
        BinaryOp::FAdd => (a + b).value,
        BinaryOp::FSub => (a - b).value,
        BinaryOp::FMul => (a * b).value,
        BinaryOp::FDiv => (a / b).value,
        BinaryOp::FEq => return u128::from(a == b),
        BinaryOp::FNe => return u128::from(a != b),
        BinaryOp::FLt => return u128::from(a < b),
        BinaryOp::FLe => return u128::from(a <= b),
        _ => return 0,
    };
    match (a.is_nan(), b.is_nan()) {
        _ if !result.is_nan() => result.to_bits(),
        // Of two NaNs, the x87 takes the one with the larger mantissa.
        (true, true) if left as u64 >= right as u64 => left | QUIET80,
        (true, false) => left | QUIET80,
        (_, true) => right | QUIET80,
        (false, false) => DEFAULT_NAN80,
    }
}

pub(in crate::interp) fn binary(kind: FloatKind, op: BinaryOp, left: u128, right: u128) -> u128 {
    match kind {
        FloatKind::F32 => binary_f32(op, left as u32, right as u32).into(),
        FloatKind::F64 => binary_f64(op, left as u64, right as u64).into(),
        FloatKind::F80 => binary_f80(op, left, right),
    }
}

pub(in crate::interp) fn unary(kind: FloatKind, op: UnaryOp, bits: u128) -> u128 {
    let sign = 1 << (kind.bits() - 1);
    match op {
        UnaryOp::FNeg => bits ^ sign,
        UnaryOp::FAbs => bits & !sign,
        UnaryOp::FSqrt => square_root(kind, bits),
        UnaryOp::Neg | UnaryOp::Not => bits,
    }
}

fn square_root(kind: FloatKind, bits: u128) -> u128 {
    match kind {
        FloatKind::F32 => {
            let x = f32::from_bits(bits as u32);
            let root = x.sqrt();
            match root.is_nan() {
                false => root.to_bits().into(),
                true if x.is_nan() => (bits as u32 | QUIET32).into(),
                true => DEFAULT_NAN32.into(),
            }
        }
        FloatKind::F64 => {
            let x = f64::from_bits(bits as u64);
            let root = x.sqrt();
            match root.is_nan() {
                false => root.to_bits().into(),
                true if x.is_nan() => (bits as u64 | QUIET64).into(),
                true => DEFAULT_NAN64.into(),
            }
        }
        FloatKind::F80 => square_root_f80(X87DoubleExtended::from_bits(bits)).to_bits(),
    }
}

/// The correctly rounded root: a mantissa of 64 bits shifted to 127 or 128 has an integer root of exactly 64 bits, and
/// whether to round up is decided by the remainder (a root is never half way between two neighbours).
fn square_root_f80(x: X87DoubleExtended) -> X87DoubleExtended {
    if x.is_nan() {
        return X87DoubleExtended::from_bits(x.to_bits() | QUIET80);
    }
    if x.is_zero() || x.is_pos_infinity() {
        return x;
    }
    if x.is_negative() {
        return X87DoubleExtended::from_bits(DEFAULT_NAN80);
    }
    let mut exponent = 0;
    let fraction = x.frexp(&mut exponent);
    // x = mantissa * 2^(exponent - 64), with the top bit of the mantissa set.
    let mantissa = fraction.scalbn(64).to_u128(128).value;
    let shift = if exponent % 2 == 0 { 64 } else { 63 };
    let scaled = mantissa << shift;
    let root = integer_square_root(scaled);
    let rounded = root + u128::from(scaled - root * root > root);
    X87DoubleExtended::from_u128(rounded).value.scalbn((exponent - 64 - shift) / 2)
}

/// The largest `r` with `r * r <= n`.
fn integer_square_root(n: u128) -> u128 {
    let mut root = 0u128;
    for bit in (0..64).rev() {
        let candidate = root | 1 << bit;
        if candidate * candidate <= n {
            root = candidate;
        }
    }
    root
}

/// Between kinds of float, rounding to nearest, ties to even.
pub(in crate::interp) fn convert(from: FloatKind, to: FloatKind, bits: u128) -> u128 {
    let mut loses = false;
    match (from, to) {
        (FloatKind::F32, FloatKind::F64) => f64_from_f32(bits as u32).into(),
        (FloatKind::F64, FloatKind::F32) => f32_from_f64(bits as u64).into(),
        (FloatKind::F32, FloatKind::F80) => f80_from_f64(f64_from_f32(bits as u32)),
        (FloatKind::F64, FloatKind::F80) => f80_from_f64(bits as u64),
        (FloatKind::F80, FloatKind::F64) => {
            let converted: Double = X87DoubleExtended::from_bits(bits).convert(&mut loses).value;
            converted.to_bits()
        }
        (FloatKind::F80, FloatKind::F32) => {
            let converted: Single = X87DoubleExtended::from_bits(bits).convert(&mut loses).value;
            converted.to_bits()
        }
        _ => bits,
    }
}

fn f64_from_f32(bits: u32) -> u64 {
    let x = f32::from_bits(bits);
    if !x.is_nan() {
        return f64::from(x).to_bits();
    }
    let sign = u64::from(bits >> 31) << 63;
    sign | 0x7ff << 52 | QUIET64 | u64::from(bits & 0x007f_ffff) << 29
}

fn f32_from_f64(bits: u64) -> u32 {
    let x = f64::from_bits(bits);
    if !x.is_nan() {
        return (x as f32).to_bits();
    }
    let sign = ((bits >> 63) as u32) << 31;
    sign | 0xff << 23 | QUIET32 | (bits >> 29) as u32 & 0x007f_ffff
}

pub(in crate::interp) fn f80_from_f64(bits: u64) -> u128 {
    let mut loses = false;
    let converted: X87DoubleExtended = Double::from_bits(bits.into()).convert(&mut loses).value;
    converted.to_bits()
}

pub(in crate::interp) fn f64_from_f80(bits: u128) -> u64 {
    convert(FloatKind::F80, FloatKind::F64, bits) as u64
}

/// An integer of `width` bits to a float, rounding to nearest, ties to even.
pub(in crate::interp) fn from_integer(to: FloatKind, signed: bool, width: u16, bits: u128) -> u128 {
    let value = sign_extend(bits, width);
    match (to, signed) {
        (FloatKind::F32, true) => (value as f32).to_bits().into(),
        (FloatKind::F32, false) => (bits as f32).to_bits().into(),
        (FloatKind::F64, true) => (value as f64).to_bits().into(),
        (FloatKind::F64, false) => (bits as f64).to_bits().into(),
        (FloatKind::F80, true) => X87DoubleExtended::from_i128(value).value.to_bits(),
        (FloatKind::F80, false) => X87DoubleExtended::from_u128(bits).value.to_bits(),
    }
}

/// A float to an integer of `width` bits, towards zero. gcc has instructions for signed 32 and 64 bits (and 16 on the
/// x87) that give the most negative value when the result does not fit; it makes the other conversions out of these.
pub(in crate::interp) fn to_integer(from: FloatKind, signed: bool, width: u16, bits: u128) -> u128 {
    let exact = truncated(from, bits);
    let x87 = from == FloatKind::F80;
    let instruction = |bits: u16, value: Option<i128>| match value {
        Some(value) if sign_extend(value as u128, bits) == value => value,
        _ => -1 << (bits - 1),
    };
    let result = match width {
        0..=8 if x87 => instruction(16, exact),
        9..=16 if x87 && signed => instruction(16, exact),
        0..=16 => instruction(32, exact),
        17..=32 if signed => instruction(32, exact),
        17..=32 => instruction(64, exact),
        33..=64 => match exact {
            Some(value) if !signed && value >= 1 << 63 => instruction(64, Some(value - (1 << 63))) ^ 1 << 63,
            // Beyond 2^127: far too large also after subtracting 2^63.
            None if !signed && is_positive_and_huge(from, bits) => 0,
            _ => instruction(64, exact),
        },
        _ if signed => exact.unwrap_or(i128::MIN),
        _ => return truncated_unsigned(from, bits) & ones(width),
    };
    result as u128 & ones(width)
}

/// The integer part, unless it needs more than 128 bits or there is none.
fn truncated(kind: FloatKind, bits: u128) -> Option<i128> {
    const LIMIT: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    match kind {
        FloatKind::F32 => {
            let x = f64::from(f32::from_bits(bits as u32));
            (-LIMIT..LIMIT).contains(&x).then_some(x as i128)
        }
        FloatKind::F64 => {
            let x = f64::from_bits(bits as u64);
            (-LIMIT..LIMIT).contains(&x).then_some(x as i128)
        }
        FloatKind::F80 => {
            let converted = X87DoubleExtended::from_bits(bits).to_i128_r(128, Round::TowardZero, &mut false);
            (!converted.status.contains(Status::INVALID_OP)).then_some(converted.value)
        }
    }
}

fn is_positive_and_huge(kind: FloatKind, bits: u128) -> bool {
    let x = f64::from_bits(convert(kind, FloatKind::F64, bits) as u64);
    x > 1e30
}

/// To an unsigned integer of 128 bits: saturating, which C leaves open.
fn truncated_unsigned(kind: FloatKind, bits: u128) -> u128 {
    match kind {
        FloatKind::F32 => f32::from_bits(bits as u32) as u128,
        FloatKind::F64 => f64::from_bits(bits as u64) as u128,
        FloatKind::F80 => X87DoubleExtended::from_bits(bits).to_u128_r(128, Round::TowardZero, &mut false).value,
    }
}
