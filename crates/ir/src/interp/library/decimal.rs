//! Exact decimal and hexadecimal digits of binary floating-point numbers, as `printf` shows them.
//!
//! Every finite binary float is a finite decimal. [`Decimal::exact`] has all its digits (16,445 for the smallest `long
//! double`), and rounding to what was asked for happens on the digits, to nearest and ties to even, as glibc does it.

use crate::program::FloatKind;

/// A float, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::interp) enum Parts {
    Nan,
    Infinite,
    /// `mantissa * 2^exponent`
    Finite {
        mantissa: u64,
        exponent: i32,
    },
}

pub(in crate::interp) fn is_negative(kind: FloatKind, bits: u128) -> bool {
    bits >> (kind.bits() - 1) & 1 == 1
}

pub(in crate::interp) fn take_apart(kind: FloatKind, bits: u128) -> Parts {
    // Bits of the exponent, and of the mantissa as it is stored; x87 stores the leading bit.
    let (exponent_bits, mantissa_bits, implicit) = match kind {
        FloatKind::F32 => (8, 23, true),
        FloatKind::F64 => (11, 52, true),
        FloatKind::F80 => (15, 64, false),
    };
    let most = (1i32 << exponent_bits) - 1;
    let exponent = (bits >> mantissa_bits) as i32 & most;
    let stored = (bits & ((1u128 << mantissa_bits) - 1)) as u64;
    let fraction = if implicit { stored } else { stored & (u64::MAX >> 1) };
    if exponent == most {
        return if fraction == 0 { Parts::Infinite } else { Parts::Nan };
    }
    let fraction_bits = if implicit { mantissa_bits } else { 63 };
    let lowest = 2 - (1 << (exponent_bits - 1)) - fraction_bits;
    match exponent {
        0 => Parts::Finite { mantissa: stored, exponent: lowest },
        _ if implicit => Parts::Finite { mantissa: stored | 1 << mantissa_bits, exponent: lowest + exponent - 1 },
        _ => Parts::Finite { mantissa: stored, exponent: lowest + exponent - 1 },
    }
}

/// `0.d₁d₂d₃… * 10^point`, with `d₁` not zero; no digits for zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::interp) struct Decimal {
    /// Each 0 to 9.
    digits: Vec<u8>,
    point: i32,
}

/// Limbs of nine decimal digits, least significant first.
const LIMB: u64 = 1_000_000_000;

fn multiply(limbs: &mut Vec<u32>, factor: u32) {
    let mut carry = 0;
    for limb in limbs.iter_mut() {
        let product = u64::from(*limb) * u64::from(factor) + carry;
        *limb = (product % LIMB) as u32;
        carry = product / LIMB;
    }
    while carry > 0 {
        limbs.push((carry % LIMB) as u32);
        carry /= LIMB;
    }
}

/// Multiplies by `base` to the power of `count`, several at a time (`base^step` still fits a limb).
fn multiply_power(limbs: &mut Vec<u32>, base: u32, step: u32, mut count: u32) {
    while count > 0 {
        let now = count.min(step);
        multiply(limbs, base.pow(now));
        count -= now;
    }
}

impl Decimal {
    pub fn exact(mantissa: u64, exponent: i32) -> Decimal {
        if mantissa == 0 {
            return Decimal { digits: Vec::new(), point: 0 };
        }
        let zeros = mantissa.trailing_zeros();
        let (mantissa, exponent) = (mantissa >> zeros, exponent + zeros as i32);
        let mut limbs = vec![(mantissa % LIMB) as u32];
        limbs.extend([(mantissa / LIMB % LIMB) as u32, (mantissa / LIMB / LIMB) as u32]);
        // m / 2^k is m * 5^k / 10^k.
        let places = if exponent < 0 {
            multiply_power(&mut limbs, 5, 12, exponent.unsigned_abs());
            exponent.unsigned_abs() as i32
        } else {
            multiply_power(&mut limbs, 2, 29, exponent as u32);
            0
        };
        let text: String = limbs.iter().rev().map(|limb| format!("{limb:09}")).collect();
        let text = text.trim_start_matches('0');
        let point = text.len() as i32 - places;
        let digits = text.trim_end_matches('0').bytes().map(|digit| digit - b'0').collect();
        Decimal { digits, point }
    }

    pub fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Keeps the first `count` digits, rounding to nearest, ties to even.
    fn round(mut self, count: i64) -> Decimal {
        if count >= self.digits.len() as i64 {
            return self;
        }
        if count < 0 {
            return Decimal { digits: Vec::new(), point: 0 };
        }
        let count = count as usize;
        let last_is_odd = count > 0 && self.digits[count - 1] % 2 == 1;
        let rest = &self.digits[count..];
        let up = match rest[0] {
            5 => rest.len() > 1 || last_is_odd,
            digit => digit > 5,
        };
        self.digits.truncate(count);
        if up {
            while self.digits.last() == Some(&9) {
                self.digits.pop();
            }
            match self.digits.last_mut() {
                Some(last) => *last += 1,
                None => {
                    self.digits.push(1);
                    self.point += 1;
                }
            }
        }
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        self
    }

    fn digit(&self, index: i64) -> char {
        let digit = usize::try_from(index).ok().and_then(|index| self.digits.get(index));
        (b'0' + digit.copied().unwrap_or(0)) as char
    }

    /// As `%f`: the digits before the point, and `precision` ones after it.
    pub fn fixed(self, precision: usize) -> (String, String) {
        let rounded = {
            let count = i64::from(self.point) + precision as i64;
            self.round(count)
        };
        let point = if rounded.is_zero() { 0 } else { i64::from(rounded.point) };
        let whole: String = if point > 0 { (0..point).map(|i| rounded.digit(i)).collect() } else { "0".to_string() };
        let fraction = (0..precision as i64).map(|i| rounded.digit(point + i)).collect();
        (whole, fraction)
    }

    /// As `%e`: the first digit, `precision` further ones, and the exponent.
    pub fn scientific(self, precision: usize) -> (String, String, i32) {
        let rounded = self.round(precision as i64 + 1);
        let exponent = if rounded.is_zero() { 0 } else { rounded.point - 1 };
        let fraction = (1..=precision as i64).map(|i| rounded.digit(i)).collect();
        (rounded.digit(0).to_string(), fraction, exponent)
    }
}

/// As `%a`: the first hexadecimal digit, the further ones, and the binary exponent. Without a precision, as many as
/// it takes. A `double` has a leading 1 (0 when subnormal), a `long double` all four bits of its first digit.
pub(in crate::interp) fn hexadecimal(kind: FloatKind, bits: u128, precision: Option<usize>) -> (u8, Vec<u8>, i32) {
    let Parts::Finite { mantissa, exponent } = take_apart(kind, bits) else { return (0, Vec::new(), 0) };
    // Aligned so that the fraction is whole hexadecimal digits: 52 or 60 bits of it.
    let (mantissa, exponent, fraction_bits) = match kind {
        FloatKind::F32 => {
            let shift = 29 + if mantissa == 0 { 0 } else { mantissa.leading_zeros() - 40 };
            (mantissa << shift, exponent - shift as i32, 52)
        }
        FloatKind::F64 => (mantissa, exponent, 52),
        FloatKind::F80 => (mantissa, exponent, 60),
    };
    let shown = if mantissa == 0 { 0 } else { exponent + fraction_bits };
    let all = fraction_bits as usize / 4;
    let mut value = u128::from(mantissa);
    let mut digits = all;
    if let Some(precision) = precision.filter(|precision| *precision < all) {
        let dropped = (all - precision) * 4;
        let (kept, rest, half) = (value >> dropped, value & ((1 << dropped) - 1), 1u128 << (dropped - 1));
        value = kept + u128::from(rest > half || rest == half && kept & 1 == 1);
        digits = precision;
    }
    let mut fraction: Vec<u8> = (0..digits).rev().map(|i| (value >> (4 * i) & 15) as u8).collect();
    let mut first = (value >> (4 * digits)) as u8;
    let mut shown = shown;
    if first > 15 {
        // Rounding carried out of the first digit of a long double.
        first >>= 4;
        shown += 4;
    }
    match precision {
        Some(precision) => fraction.resize(precision, 0),
        None => {
            while fraction.last() == Some(&0) {
                fraction.pop();
            }
        }
    }
    (first, fraction, shown)
}
