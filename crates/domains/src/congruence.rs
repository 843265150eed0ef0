//! Congruences: numbers that leave the same remainder when they are divided by a modulus.
//!
//! They find strides and alignment (`i += 3`, an array of 12-byte structs), which neither intervals nor bits can say.
//! (Granger, Static analysis of arithmetical congruences, 1989.) The numbers meant are the signed ones: those that
//! are not negative are the same either way, and negative ones are more common than unsigned ones of that size.
//!
//! What wraps around keeps a modulus only as far as it divides the power of two that is lost. So on its own this
//! domain soon knows little more than the low bits; beside an interval, which shows that nothing wraps around,
//! operators are exact ([`Congruence::operate`]).

use crate::domain::{Domain, Numbers, Thresholds, Truth};
use crate::interval::Interval;
use crate::known_bits::KnownBits;
use crate::operator::{Binary, Predicate, Unary};
use crate::word::{mask, sign_bit, signed};

/// A set of signed numbers. There is one way to write each: a class has at least two numbers of the width that it is
/// meant for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Congruence {
    Empty,
    Exactly(i128),
    /// The residue is less than the modulus, which is from 1 to 2^127.
    Class {
        modulus: u128,
        residue: u128,
    },
}

use Congruence::{Class, Empty, Exactly};

/// The largest modulus: residues are still signed numbers then.
const LARGEST: u128 = 1 << 127;

/// Below this, products of moduli fit.
const SMALL: u128 = 1 << 63;

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The remainder of a signed number.
fn residue(value: i128, modulus: u128) -> u128 {
    let size = value.unsigned_abs() % modulus;
    if value < 0 && size != 0 { modulus - size } else { size }
}

/// The greatest power of two that divides it, up to `most`; of 0, that one.
fn power_of_two(number: u128, most: u128) -> u128 {
    if number == 0 { most } else { (number & number.wrapping_neg()).min(most) }
}

impl Congruence {
    pub const ANY: Congruence = Class { modulus: 1, residue: 0 };

    /// The numbers that are congruent to this one; modulo 0, only itself.
    pub fn class(modulus: u128, value: i128) -> Congruence {
        match modulus {
            0 => Exactly(value),
            _ if modulus > LARGEST => Congruence::class(power_of_two(modulus, LARGEST), value),
            _ => Class { modulus, residue: residue(value, modulus) },
        }
    }

    /// The modulus (0 of a constant) and a number in it.
    fn parts(self) -> Option<(u128, i128)> {
        match self {
            Empty => None,
            Exactly(value) => Some((0, value)),
            Class { modulus, residue } => Some((modulus, residue as i128)),
        }
    }

    /// Those of its numbers that have this width.
    fn within(self, width: u32) -> Congruence {
        let least = signed(width, sign_bit(width));
        match self {
            Empty => Empty,
            Exactly(value) => {
                if least <= value && value <= !least {
                    self
                } else {
                    Empty
                }
            }
            Class { modulus, residue } => {
                // How far above the least number the first one is.
                let first = (residue + sign_bit(width)) % modulus;
                match mask(width).checked_sub(first) {
                    None => Empty,
                    Some(rest) if rest < modulus => Exactly(least.wrapping_add(first as i128)),
                    Some(_) => self,
                }
            }
        }
    }

    /// What its numbers are after they have wrapped around.
    fn wrapped(self, width: u32) -> Congruence {
        match self {
            Empty => Empty,
            Exactly(value) => Exactly(signed(width, value as u128 & mask(width))),
            Class { modulus, residue } => {
                let modulus = power_of_two(modulus, LARGEST);
                if modulus > mask(width) {
                    return Exactly(signed(width, residue & mask(width)));
                }
                Class { modulus, residue: residue % modulus }
            }
        }
    }

    /// The same numbers taken as unsigned ones of this width (less than 128), or a class of them.
    fn as_unsigned(self, width: u32) -> Congruence {
        match self {
            Exactly(value) => Exactly((value as u128 & mask(width)) as i128),
            _ if self.hull(width).high() < sign_bit(width) => self,
            _ => self.wrapped(width),
        }
    }

    /// The bits at the low end that all numbers share.
    pub fn bits(&self, width: u32) -> KnownBits {
        match *self {
            Empty => KnownBits::EMPTY,
            Exactly(value) => KnownBits::constant(width, value as u128 & mask(width)),
            Class { modulus, residue } => {
                let low = mask(modulus.trailing_zeros().min(width));
                KnownBits { zeros: !residue & low, ones: residue & low }
            }
        }
    }

    /// How far it is from a number upwards (or downwards) to the next one that is in it. None: there is none.
    pub(crate) fn distance(&self, width: u32, from: u128, is_upwards: bool) -> Option<u128> {
        let from = signed(width, from);
        match *self {
            Empty => None,
            Exactly(value) if is_upwards => (value >= from).then(|| value.abs_diff(from)),
            Exactly(value) => (value <= from).then(|| value.abs_diff(from)),
            Class { modulus, residue: goal } => {
                let here = residue(from, modulus);
                let (here, goal) = if is_upwards { (here, goal) } else { (goal, here) };
                Some(if goal >= here { goal - here } else { modulus - (here - goal) })
            }
        }
    }

    /// An operator, where it is known whether the result is that of the signed numbers, without wrapping around (and
    /// that the operands of unsigned operators are not negative).
    pub fn operate(op: Binary, width: u32, a: Congruence, b: Congruence, is_exact: bool) -> Congruence {
        let (Some(x), Some(y)) = (a.parts(), b.parts()) else { return Empty };
        if let (Exactly(x), Exactly(y)) = (a, b) {
            let pattern = |value: i128| value as u128 & mask(width);
            return Exactly(signed(width, op.apply(width, pattern(x), pattern(y))));
        }
        let fit = |result: Congruence| if is_exact { result.within(width) } else { result.wrapped(width) };
        match op {
            Binary::Add => fit(sum(x, y)),
            Binary::Sub => fit(difference(x, y)),
            Binary::Mul => fit(product(x, y)),
            Binary::UDiv => match b {
                Exactly(divisor @ 1..) if is_exact => floor(x, divisor as u128).within(width),
                Exactly(divisor @ 1..) => floor(unsigned_parts(width, x), divisor as u128).wrapped(width),
                _ => Congruence::ANY,
            },
            Binary::SDiv => signed_quotient(width, x, y, is_exact),
            Binary::URem if is_exact => remainder(x, y).within(width),
            Binary::URem => remainder(unsigned_parts(width, x), unsigned_parts(width, y)).wrapped(width),
            Binary::SRem => remainder(x, y).within(width),
            Binary::Shl => match amount(width, b) {
                Some(by) if by < width => fit(shifted_left(x, by)),
                Some(_) => Exactly(0),
                // Zeros at the low end stay there.
                None => Congruence::class(power_of_two(x.0 | x.1 as u128, LARGEST), 0).wrapped(width),
            },
            Binary::LShr => match amount(width, b) {
                Some(by) if by < width && is_exact => floor(x, 1 << by).within(width),
                Some(by) if by < width => floor(unsigned_parts(width, x), 1 << by).wrapped(width),
                Some(_) => Exactly(0),
                None => Congruence::ANY,
            },
            Binary::AShr => match amount(width, b) {
                Some(by) if by < width => floor(x, 1 << by).within(width),
                _ => Congruence::ANY,
            },
            Binary::And | Binary::Or | Binary::Xor => {
                let bits = KnownBits::binary(op, width, &a.bits(width), &b.bits(width));
                Congruence::from_bits(width, &bits)
            }
        }
    }

    /// Whether operands that lie in these intervals have an exact result, as [`Congruence::operate`] wants to know.
    pub fn is_exact(op: Binary, width: u32, a: &Interval, b: &Interval) -> bool {
        let fits = |predicate| !Interval::decide(predicate, width, a, b).may_hold;
        let is_positive = |it: &Interval| it.high() < sign_bit(width);
        match op {
            Binary::Add => fits(Predicate::SAddOverflow),
            Binary::Sub => fits(Predicate::SSubOverflow),
            Binary::Mul => fits(Predicate::SMulOverflow),
            Binary::UDiv | Binary::URem | Binary::SDiv => is_positive(a) && is_positive(b),
            Binary::LShr => is_positive(a),
            Binary::Shl => {
                b.high() < u128::from(width) - 1 && {
                    let factor = Interval::constant(width, 1 << b.high());
                    !Interval::decide(Predicate::SMulOverflow, width, a, &factor).may_hold
                }
            }
            Binary::SRem | Binary::AShr | Binary::And | Binary::Or | Binary::Xor => true,
        }
    }
}

/// A modulus and a number; modulus 0 for only that number.
type Parts = (u128, i128);

/// Taken as unsigned numbers: those of a class whose modulus is a power of two, up to 2^width.
fn unsigned_parts(width: u32, (modulus, value): Parts) -> Parts {
    match modulus {
        // (An unsigned number that is no signed one.)
        0 if value < 0 && width == 128 => (LARGEST, value),
        0 => (0, (value as u128 & mask(width)) as i128),
        _ => (power_of_two(modulus, LARGEST).min(mask(width) / 2 + 1), value),
    }
}

fn sum((m, x): Parts, (n, y): Parts) -> Congruence {
    match gcd(m, n) {
        0 => Exactly(x.wrapping_add(y)),
        modulus => Class { modulus, residue: (residue(x, modulus) + residue(y, modulus)) % modulus },
    }
}

fn difference((m, x): Parts, (n, y): Parts) -> Congruence {
    match gcd(m, n) {
        0 => Exactly(x.wrapping_sub(y)),
        modulus => Class { modulus, residue: (residue(x, modulus) + modulus - residue(y, modulus)) % modulus },
    }
}

/// (x + im)(y + jn) = xy + i·my + j·nx + ij·mn
fn product((m, x): Parts, (n, y): Parts) -> Congruence {
    let size = |value: i128| value.unsigned_abs();
    let (u, v, w) = (m.checked_mul(size(y)), n.checked_mul(size(x)), m.checked_mul(n));
    if let (Some(u), Some(v), Some(w)) = (u, v, w) {
        let modulus = gcd(gcd(u, v), w);
        if modulus == 0 {
            return Exactly(x.wrapping_mul(y));
        }
        if modulus <= LARGEST
            && let Some(product) = residue(x, modulus).checked_mul(residue(y, modulus))
        {
            return Class { modulus, residue: product % modulus };
        }
    }
    let zeros = |a: u128, b: u128| if a == 0 || b == 0 { 127 } else { a.trailing_zeros() + b.trailing_zeros() };
    let common = zeros(m, size(y)).min(zeros(n, size(x))).min(zeros(m, n)).min(127);
    Congruence::class(1 << common, x.wrapping_mul(y))
}

fn shifted_left((m, x): Parts, by: u32) -> Congruence {
    if let Some(modulus) = m.checked_mul(1 << by).filter(|&modulus| modulus <= LARGEST) {
        let value = residue(x, m.max(1)) << by;
        if m > 0 {
            return Class { modulus, residue: value };
        }
    }
    let common = if m == 0 { 127 } else { (m.trailing_zeros() + by).min(127) };
    Congruence::class(1 << common, x.wrapping_shl(by))
}

/// The quotients, rounded down, by a divisor of the modulus; otherwise anything.
fn floor((modulus, value): Parts, divisor: u128) -> Congruence {
    if modulus == 0 {
        let rounded = if divisor > i128::MAX as u128 { value >> 127 } else { value.div_euclid(divisor as i128) };
        return Exactly(rounded);
    }
    if !modulus.is_multiple_of(divisor) {
        return Congruence::ANY;
    }
    let modulus = modulus / divisor;
    Congruence::class(modulus, (value as u128 / divisor) as i128)
}

/// The quotients, rounded towards 0, by a constant that divides both the modulus and the residue; or by any, if
/// nothing is negative.
fn signed_quotient(width: u32, x: Parts, (n, divisor): Parts, is_exact: bool) -> Congruence {
    if n != 0 || divisor == 0 {
        return Congruence::ANY;
    }
    if is_exact {
        return floor(x, divisor.unsigned_abs()).within(width);
    }
    let size = divisor.unsigned_abs();
    if !x.0.is_multiple_of(size) || !x.1.unsigned_abs().is_multiple_of(size) {
        return Congruence::ANY;
    }
    let modulus = x.0 / size;
    let quotient = (modulus, x.1 / (size.min(i128::MAX as u128) as i128));
    match divisor {
        -1 => difference((0, 0), quotient).wrapped(width),
        ..0 => difference((0, 0), quotient).within(width),
        _ => sum((0, 0), quotient).within(width),
    }
}

/// x - qy for some q.
fn remainder((m, x): Parts, (n, y): Parts) -> Congruence {
    Congruence::class(gcd(gcd(m, n), y.unsigned_abs()), x)
}

/// By how much a shift is, if that is a constant.
fn amount(width: u32, by: Congruence) -> Option<u32> {
    match by {
        Exactly(value) => Some((value as u128 & mask(width)).min(u128::from(width)) as u32),
        _ => None,
    }
}

/// The numbers of both classes. (Where the moduli are too large to compute it, those of the one with the greater
/// modulus.)
fn both((m, x): (u128, u128), (n, y): (u128, u128)) -> Congruence {
    let common = gcd(m, n);
    if x % common != y % common {
        return Empty;
    }
    let larger = if m >= n { Class { modulus: m, residue: x } } else { Class { modulus: n, residue: y } };
    if common == m || common == n || m >= SMALL || n >= SMALL {
        return larger;
    }
    // x + m·k ≡ y (mod n), so k ≡ (y - x) / common · (m / common)⁻¹ (mod n / common)
    let rest = n / common;
    let Some(inverse) = inverse(m / common % rest, rest) else { return larger };
    let steps = ((y + n * (x / n + 1) - x) / common % rest) * inverse % rest;
    Class { modulus: m * rest, residue: x + m * steps }
}

/// The inverse modulo a number that has no common divisor with it.
fn inverse(value: u128, modulus: u128) -> Option<u128> {
    let (mut old, mut new) = ((modulus as i128, 0i128), (value as i128, 1i128));
    while new.0 != 0 {
        let quotient = old.0 / new.0;
        (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
    }
    (old.0 == 1).then(|| old.1.rem_euclid(modulus as i128) as u128)
}

impl Domain for Congruence {
    type Space = u32;

    fn bottom(_: &u32) -> Congruence {
        Empty
    }

    fn top(_: &u32) -> Congruence {
        Congruence::ANY
    }

    fn is_bottom(&self) -> bool {
        *self == Empty
    }

    fn leq(&self, other: &Congruence) -> bool {
        match (*self, *other) {
            (Empty, _) => true,
            (_, Empty) | (Class { .. }, Exactly(_)) => false,
            (Exactly(a), Exactly(b)) => a == b,
            (Exactly(value), Class { modulus, residue: goal }) => residue(value, modulus) == goal,
            (Class { modulus: m, residue: x }, Class { modulus: n, residue: y }) => m % n == 0 && x % n == y,
        }
    }

    fn join(&self, other: &Congruence) -> Congruence {
        let (Some((m, x)), Some((n, y))) = (self.parts(), other.parts()) else {
            return if self.is_bottom() { *other } else { *self };
        };
        Congruence::class(gcd(gcd(m, n), x.abs_diff(y)), x)
    }

    fn meet(&self, other: &Congruence, width: &u32) -> Congruence {
        match (*self, *other) {
            (Class { modulus: m, residue: x }, Class { modulus: n, residue: y }) => both((m, x), (n, y)).within(*width),
            (small @ Exactly(_), large) | (large, small) if small.leq(&large) => small,
            _ => Empty,
        }
    }

    /// A modulus has few divisors: chains are short by themselves.
    fn widen(&self, next: &Congruence, _: &u32, _: &Thresholds) -> Congruence {
        self.join(next)
    }
}

impl Numbers for Congruence {
    fn constant(width: u32, value: u128) -> Congruence {
        Exactly(signed(width, value))
    }

    fn as_constant(&self, width: u32) -> Option<u128> {
        match *self {
            Exactly(value) => Some(value as u128 & mask(width)),
            _ => None,
        }
    }

    fn contains(&self, width: u32, value: u128) -> bool {
        Congruence::constant(width, value).leq(self)
    }

    fn hull(&self, width: u32) -> Interval {
        let (least, greatest) = (signed(width, sign_bit(width)), (sign_bit(width) - 1) as i128);
        match *self {
            Empty => Interval::EMPTY,
            Exactly(value) => Interval::constant(width, value as u128 & mask(width)),
            Class { modulus, residue } => {
                let offset = |from: u128, upwards| self.distance(width, from, upwards).unwrap_or(0);
                let first = least.saturating_add_unsigned(offset(sign_bit(width), true));
                let last = greatest.saturating_sub_unsigned(offset(sign_bit(width) - 1, false));
                let negative = (residue as i128).saturating_sub_unsigned(modulus);
                Interval::signed(width, first, negative.min(-1)).join(&Interval::signed(width, residue as i128, last))
            }
        }
    }

    fn from_interval(width: u32, interval: &Interval) -> Congruence {
        match interval.as_constant(width) {
            _ if interval.is_bottom() => Empty,
            Some(value) => Congruence::constant(width, value),
            None => Congruence::ANY,
        }
    }

    fn from_bits(width: u32, bits: &KnownBits) -> Congruence {
        match bits.as_constant(width) {
            _ if bits.is_bottom() => Empty,
            Some(value) => Congruence::constant(width, value),
            None => {
                let known = (bits.zeros | bits.ones).trailing_ones();
                Class { modulus: 1 << known, residue: bits.ones & mask(known) }
            }
        }
    }

    fn unary(op: Unary, width: u32, a: &Congruence) -> Congruence {
        match op {
            Unary::Neg => Congruence::binary(Binary::Sub, width, &Exactly(0), a),
            // -1 - a is never out of bounds.
            Unary::Not => Congruence::operate(Binary::Sub, width, Exactly(-1), *a, true),
        }
    }

    fn binary(op: Binary, width: u32, a: &Congruence, b: &Congruence) -> Congruence {
        let is_exact = Congruence::is_exact(op, width, &a.hull(width), &b.hull(width));
        Congruence::operate(op, width, *a, *b, is_exact)
    }

    fn zero_extend(from: u32, to: u32, a: &Congruence) -> Congruence {
        if from == to { *a } else { a.as_unsigned(from).within(to) }
    }

    fn sign_extend(_: u32, _: u32, a: &Congruence) -> Congruence {
        *a
    }

    fn extract(_: u32, low: u32, to: u32, a: &Congruence) -> Congruence {
        a.parts().map_or(Empty, |parts| floor(parts, 1 << low).wrapped(to))
    }

    fn concat(width: u32, low_width: u32, high: &Congruence, low: &Congruence) -> Congruence {
        let (Some(high), Some(low)) = (high.parts(), low.as_unsigned(low_width).parts()) else { return Empty };
        let high = if high.0 == 0 { Exactly(high.1 << low_width) } else { shifted_left(high, low_width) };
        high.parts().map_or(Empty, |high| sum(high, low).within(width))
    }

    fn decide(predicate: Predicate, width: u32, a: &Congruence, b: &Congruence) -> Truth {
        let by_order = Interval::decide(predicate, width, &a.hull(width), &b.hull(width));
        let is_apart = predicate == Predicate::Eq && a.meet(b, &width).is_bottom();
        if is_apart { by_order.meet(Truth::FALSE) } else { by_order }
    }
}
