//! Known bits: which bits are the same in all numbers of a set.
//!
//! Two words say it: the bits that are always 0, and those that are always 1. This is the cheapest domain, and what
//! masks, flags and alignment need. The solver keeps it for every term.

use crate::domain::{Domain, Numbers, Thresholds, Truth};
use crate::interval::Interval;
use crate::operator::{Binary, Predicate, Unary};
use crate::word::{mask, sign_bit, sign_extend};

/// The bits that are always 0 and the bits that are always 1. No number has a bit that is both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KnownBits {
    pub zeros: u128,
    pub ones: u128,
}

impl KnownBits {
    /// Nothing is known.
    pub const ANY: KnownBits = KnownBits { zeros: 0, ones: 0 };

    /// No number at all. (Neutral when joined.)
    pub const EMPTY: KnownBits = KnownBits { zeros: u128::MAX, ones: u128::MAX };

    /// All bits above those that `bound` needs are 0.
    fn up_to(width: u32, bound: u128) -> KnownBits {
        KnownBits { zeros: mask(width) & !mask(128 - bound.leading_zeros()), ones: 0 }
    }

    /// The bits that all numbers from `low` to `high` have in common: those above the highest in which the two differ.
    pub fn of_range(width: u32, low: u128, high: u128) -> KnownBits {
        let common = mask(width) & !mask(128 - (low ^ high).leading_zeros());
        KnownBits { zeros: !low & common, ones: low & common }
    }

    /// The smallest unsigned number.
    pub fn min(&self) -> u128 {
        self.ones
    }

    /// The largest unsigned number.
    pub fn max(&self, width: u32) -> u128 {
        !self.zeros & mask(width)
    }

    /// The sign, if it is known.
    pub fn is_negative(&self, width: u32) -> Option<bool> {
        let sign = sign_bit(width);
        if self.ones & sign != 0 {
            Some(true)
        } else if self.zeros & sign != 0 {
            Some(false)
        } else {
            None
        }
    }

    /// The same with the sign bit inverted: unsigned order of the results is signed order of what they are made from.
    pub fn with_sign_flipped(&self, width: u32) -> KnownBits {
        let sign = sign_bit(width);
        KnownBits {
            zeros: self.zeros & !sign | self.ones & sign, //
            ones: self.ones & !sign | self.zeros & sign,
        }
    }

    /// Whether no number has the bits of both.
    pub fn contradicts(&self, other: &KnownBits) -> bool {
        self.ones & other.zeros | self.zeros & other.ones != 0
    }

    /// The smallest number from `low` on that has these bits.
    pub(crate) fn at_least(&self, width: u32, low: u128) -> Option<u128> {
        let (missing, forbidden) = (self.ones & !low, self.zeros & low);
        if missing | forbidden == 0 {
            return Some(low);
        }
        let place = 127 - (missing | forbidden).leading_zeros();
        let bit = 1 << place;
        // Where a bit has to be set, those below are free. Where one has to be cleared, the next one above that may
        // be set has to be.
        let raised = if missing & bit != 0 {
            bit
        } else {
            let free = !low & !self.zeros & mask(width) & !mask(place + 1);
            if free == 0 {
                return None;
            }
            free & free.wrapping_neg()
        };
        Some((low | raised) & !(raised - 1) | self.ones & (raised - 1))
    }

    /// The largest number up to `high` that has these bits.
    pub(crate) fn at_most(&self, width: u32, high: u128) -> Option<u128> {
        let complement = KnownBits { zeros: self.ones, ones: self.zeros };
        complement.at_least(width, !high & mask(width)).map(|number| !number & mask(width))
    }

    fn all(&self) -> u128 {
        self.zeros | self.ones
    }

    fn not(&self) -> KnownBits {
        KnownBits { zeros: self.ones, ones: self.zeros }
    }

    fn map(&self, of: impl Fn(u128) -> u128) -> KnownBits {
        if self.is_bottom() { *self } else { KnownBits { zeros: of(self.zeros), ones: of(self.ones) } }
    }
}

impl Domain for KnownBits {
    type Space = u32;

    fn bottom(_: &u32) -> KnownBits {
        KnownBits::EMPTY
    }

    fn top(_: &u32) -> KnownBits {
        KnownBits::ANY
    }

    fn is_bottom(&self) -> bool {
        self.zeros & self.ones != 0
    }

    fn leq(&self, other: &KnownBits) -> bool {
        other.zeros & !self.zeros | other.ones & !self.ones == 0
    }

    fn join(&self, other: &KnownBits) -> KnownBits {
        KnownBits { zeros: self.zeros & other.zeros, ones: self.ones & other.ones }
    }

    fn meet(&self, other: &KnownBits, _: &u32) -> KnownBits {
        let both = KnownBits { zeros: self.zeros | other.zeros, ones: self.ones | other.ones };
        if both.is_bottom() { KnownBits::EMPTY } else { both }
    }

    /// What counts changes one bit after the other, from below: all bits above one that has changed are let go.
    fn widen(&self, next: &KnownBits, _: &u32, _: &Thresholds) -> KnownBits {
        if self.is_bottom() || next.leq(self) {
            return self.join(next);
        }
        let both = self.join(next);
        let changed = self.all() & !both.all();
        let kept = (changed & changed.wrapping_neg()).wrapping_sub(1);
        KnownBits { zeros: both.zeros & kept, ones: both.ones & kept }
    }
}

impl Numbers for KnownBits {
    fn constant(width: u32, value: u128) -> KnownBits {
        KnownBits { zeros: !value & mask(width), ones: value }
    }

    fn as_constant(&self, width: u32) -> Option<u128> {
        (width > 0 && self.all() == mask(width) && !self.is_bottom()).then_some(self.ones)
    }

    fn contains(&self, _: u32, value: u128) -> bool {
        value & self.zeros | !value & self.ones == 0
    }

    fn hull(&self, width: u32) -> Interval {
        Interval::from_bits(width, self)
    }

    fn from_interval(width: u32, interval: &Interval) -> KnownBits {
        let of = |run: crate::range::Range| KnownBits::of_range(width, run.low, run.high);
        interval.runs().fold(KnownBits::EMPTY, |all, run| all.join(&of(run)))
    }

    fn from_bits(_: u32, bits: &KnownBits) -> KnownBits {
        *bits
    }

    fn to_truth(&self, width: u32) -> Truth {
        if self.is_bottom() {
            return Truth::NONE;
        }
        Truth { may_hold: self.max(width) != 0, may_fail: self.min() == 0 }
    }

    fn unary(op: Unary, width: u32, a: &KnownBits) -> KnownBits {
        match op {
            Unary::Neg => sum(width, &KnownBits::constant(width, 0), &a.not(), true),
            Unary::Not => a.not(),
        }
    }

    fn binary(op: Binary, width: u32, a: &KnownBits, b: &KnownBits) -> KnownBits {
        if a.is_bottom() || b.is_bottom() {
            return KnownBits::EMPTY;
        }
        if let (Some(x), Some(y)) = (a.as_constant(width), b.as_constant(width)) {
            return KnownBits::constant(width, op.apply(width, x, y));
        }
        match op {
            Binary::Add => sum(width, a, b, false),
            Binary::Sub => sum(width, a, &b.not(), true),
            Binary::Mul => product(width, a, b),
            Binary::UDiv => quotient(width, a, b),
            Binary::URem => remainder(width, a, b),
            Binary::SDiv => signed_quotient(width, a, b),
            Binary::SRem => signed_remainder(width, a, b),
            Binary::Shl | Binary::LShr | Binary::AShr => shifts(op, width, a, b),
            Binary::And => KnownBits { zeros: a.zeros | b.zeros, ones: a.ones & b.ones },
            Binary::Or => KnownBits { zeros: a.zeros & b.zeros, ones: a.ones | b.ones },
            Binary::Xor => KnownBits {
                zeros: a.zeros & b.zeros | a.ones & b.ones, //
                ones: a.zeros & b.ones | a.ones & b.zeros,
            },
        }
    }

    fn zero_extend(from: u32, to: u32, a: &KnownBits) -> KnownBits {
        if a.is_bottom() {
            return *a;
        }
        KnownBits { zeros: a.zeros | mask(to) & !mask(from), ones: a.ones }
    }

    fn sign_extend(from: u32, to: u32, a: &KnownBits) -> KnownBits {
        a.map(|bits| sign_extend(from, bits, to))
    }

    fn extract(_: u32, low: u32, to: u32, a: &KnownBits) -> KnownBits {
        a.map(|bits| bits >> low & mask(to))
    }

    fn concat(_: u32, low_width: u32, high: &KnownBits, low: &KnownBits) -> KnownBits {
        if high.is_bottom() || low.is_bottom() {
            return KnownBits::EMPTY;
        }
        KnownBits { zeros: high.zeros << low_width | low.zeros, ones: high.ones << low_width | low.ones }
    }

    fn decide(predicate: Predicate, width: u32, a: &KnownBits, b: &KnownBits) -> Truth {
        let by_order = Interval::decide(predicate, width, &a.hull(width), &b.hull(width));
        let is_contradiction = predicate == Predicate::Eq && a.contradicts(b);
        if is_contradiction { by_order.meet(Truth::FALSE) } else { by_order }
    }
}

/// A bit of a sum is known where both bits and the carry into them are; the carries are known where the largest and the
/// smallest sum agree on them.
fn sum(width: u32, a: &KnownBits, b: &KnownBits, carry: bool) -> KnownBits {
    if a.is_bottom() || b.is_bottom() {
        return KnownBits::EMPTY;
    }
    let mask = mask(width);
    let (a_max, b_max) = (!a.zeros & mask, !b.zeros & mask);
    let largest = a_max.wrapping_add(b_max).wrapping_add(carry.into());
    let smallest = a.ones.wrapping_add(b.ones).wrapping_add(carry.into());
    let carry_zero = !(largest ^ a_max ^ b_max);
    let carry_one = smallest ^ a.ones ^ b.ones;
    let certain = a.all() & b.all() & (carry_zero | carry_one) & mask;
    KnownBits { zeros: !largest & certain, ones: smallest & certain }
}

/// The low bits up to the first unknown one, the zeros at the low end, and the zeros above the largest product.
fn product(width: u32, a: &KnownBits, b: &KnownBits) -> KnownBits {
    let all = mask(width);
    // Below the zeros at the low end of the one, what is known of the other counts for as many bits more.
    let (zeros_a, zeros_b) = (a.zeros.trailing_ones(), b.zeros.trailing_ones());
    let (known_a, known_b) = (a.all().trailing_ones(), b.all().trailing_ones());
    let exact = (known_a + zeros_b).min(known_b + zeros_a).min(width);
    let low = a.ones.wrapping_mul(b.ones) & mask(exact);
    let trailing = (zeros_a + zeros_b).min(width);
    let bound = a.max(width).checked_mul(b.max(width)).filter(|&bound| bound <= all).unwrap_or(all);
    let high = KnownBits::up_to(width, bound);
    KnownBits { zeros: !low & mask(exact) | mask(trailing) | high.zeros, ones: low }
}

fn quotient(width: u32, a: &KnownBits, b: &KnownBits) -> KnownBits {
    match b.as_constant(width) {
        Some(divisor) if divisor.is_power_of_two() => shift(Binary::LShr, width, a, divisor.trailing_zeros()),
        _ if b.min() > 0 => KnownBits::of_range(width, a.min() / b.max(width), a.max(width) / b.min()),
        _ => KnownBits::ANY,
    }
}

/// Never more than the dividend, whatever the divisor; and less than a divisor that is not 0. Below the zeros at the
/// low end of the divisor it is the dividend.
fn remainder(width: u32, a: &KnownBits, b: &KnownBits) -> KnownBits {
    let kept = mask(b.zeros.trailing_ones().min(width));
    let low = KnownBits { zeros: a.zeros & kept, ones: a.ones & kept };
    let bound = if b.min() == 0 { a.max(width) } else { a.max(width).min(b.max(width) - 1) };
    let high = KnownBits::up_to(width, bound);
    KnownBits { zeros: low.zeros | high.zeros, ones: low.ones }
}

/// The sign and the absolute value, if the sign is known.
fn magnitude(width: u32, a: &KnownBits) -> Option<(bool, KnownBits)> {
    let is_negative = a.is_negative(width)?;
    Some((is_negative, if is_negative { KnownBits::unary(Unary::Neg, width, a) } else { *a }))
}

fn signed_quotient(width: u32, a: &KnownBits, b: &KnownBits) -> KnownBits {
    let (Some((a_is_negative, a)), Some((b_is_negative, b))) = (magnitude(width, a), magnitude(width, b)) else {
        return KnownBits::ANY;
    };
    let quotient = KnownBits::binary(Binary::UDiv, width, &a, &b);
    if a_is_negative == b_is_negative { quotient } else { KnownBits::unary(Unary::Neg, width, &quotient) }
}

/// Below the zeros at the low end of the divisor it is the dividend. The rest depends on the sign.
fn signed_remainder(width: u32, a: &KnownBits, b: &KnownBits) -> KnownBits {
    let kept = mask(b.zeros.trailing_ones().min(width));
    let low = KnownBits { zeros: a.zeros & kept, ones: a.ones & kept };
    let (Some((is_negative, a)), Some((_, b))) = (magnitude(width, a), magnitude(width, b)) else { return low };
    let size = KnownBits::binary(Binary::URem, width, &a, &b);
    let rest = if is_negative { KnownBits::unary(Unary::Neg, width, &size) } else { size };
    rest.meet(&low, &width)
}

/// What all shifts have in common by amounts that the second operand may be.
fn shifts(op: Binary, width: u32, a: &KnownBits, b: &KnownBits) -> KnownBits {
    let last = u128::from(width - 1);
    let mut all = KnownBits::EMPTY;
    if b.max(width) > last {
        let beyond = if op == Binary::AShr { width - 1 } else { width };
        all = shift(op, width, a, beyond);
    }
    for amount in b.min()..=b.max(width).min(last) {
        if b.contains(width, amount) {
            all = all.join(&shift(op, width, a, amount as u32));
            if all == KnownBits::ANY {
                break;
            }
        }
    }
    all
}

/// A shift by one amount, up to the width.
fn shift(op: Binary, width: u32, a: &KnownBits, by: u32) -> KnownBits {
    if by >= width {
        return KnownBits::constant(width, 0);
    }
    let all = mask(width);
    match op {
        Binary::Shl => KnownBits { zeros: (a.zeros << by | mask(by)) & all, ones: a.ones << by & all },
        Binary::LShr => KnownBits { zeros: a.zeros >> by | all & !(all >> by), ones: a.ones >> by },
        _ => a.map(|bits| sign_extend(width - by, bits >> by, width)),
    }
}
