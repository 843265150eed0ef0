//! Intervals of machine integers: one run of numbers for each sign.
//!
//! Machine integers lie on a circle, and whether they are signed is a matter of the operator: one variable is
//! compared as signed here and as unsigned there. An interval of unsigned numbers cannot say "-1 to 5", one of signed
//! numbers cannot say "2^31 - 1 to 2^31", and arcs of the circle (wrapped intervals) are no lattice: two arcs may
//! have no smallest arc around them, and may meet in two pieces.
//!
//! So we cut the circle at both places, between -1 and 0 and between the greatest and the least signed number, and
//! keep a run of numbers in each half. This says exactly as much as an interval of unsigned numbers together with one
//! of signed numbers; it is the product of two plain interval lattices, so that joins are best and meets are exact;
//! and in a half all numbers have one sign, and signed and unsigned order agree, so that operators are monotone
//! pieces. An arc is contained without loss unless it goes over both cuts.

use crate::domain::{Domain, Numbers, Thresholds, Truth};
use crate::known_bits::KnownBits;
use crate::operator::{Binary, Predicate, Unary, is_outside};
use crate::range::Range;
use crate::word::{mask, sign_bit, signed};
use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// Those without the sign bit.
    plus: Range,
    /// Those with it, as unsigned numbers.
    minus: Range,
}

impl Interval {
    pub const EMPTY: Interval = Interval { plus: Range::EMPTY, minus: Range::EMPTY };

    pub fn full(width: u32) -> Interval {
        Interval::unsigned(width, 0, mask(width))
    }

    /// The unsigned numbers from `low` to `high`.
    pub fn unsigned(width: u32, low: u128, high: u128) -> Interval {
        let sign = sign_bit(width);
        Interval {
            plus: Range::new(low, high.min(sign - 1)), //
            minus: Range::new(low.max(sign), high.min(mask(width))),
        }
    }

    /// The signed numbers from `low` to `high`.
    pub fn signed(width: u32, low: i128, high: i128) -> Interval {
        let (least, greatest) = (signed(width, sign_bit(width)), (sign_bit(width) - 1) as i128);
        let (low, high) = (low.max(least), high.min(greatest));
        let run = |low: i128, high: i128| {
            if low <= high { Range::new(low as u128 & mask(width), high as u128 & mask(width)) } else { Range::EMPTY }
        };
        Interval { plus: run(low.max(0), high), minus: run(low, high.min(-1)) }
    }

    /// The numbers from `from` upwards to `to`, over the end if need be.
    pub fn arc(width: u32, from: u128, to: u128) -> Interval {
        if from <= to {
            return Interval::unsigned(width, from, to);
        }
        Interval::unsigned(width, from, mask(width)).join(&Interval::unsigned(width, 0, to))
    }

    /// The arc from `from` on that is `length` numbers longer than one number.
    fn run(width: u32, from: u128, length: u128) -> Interval {
        if length >= mask(width) {
            return Interval::full(width);
        }
        Interval::arc(width, from & mask(width), from.wrapping_add(length) & mask(width))
    }

    /// The least unsigned number. (Of an empty interval the greatest of all, so that it is above `high`.)
    pub fn low(&self) -> u128 {
        self.plus.low.min(self.minus.low)
    }

    /// The greatest unsigned number. (Of an empty interval 0.)
    pub fn high(&self) -> u128 {
        self.plus.high.max(self.minus.high)
    }

    /// The least and the greatest signed number; none of an empty interval.
    pub fn signed_bounds(&self, width: u32) -> Option<(i128, i128)> {
        let (first, last) = match (self.plus.is_empty(), self.minus.is_empty()) {
            (true, true) => return None,
            (false, true) => (self.plus.low, self.plus.high),
            (true, false) => (self.minus.low, self.minus.high),
            (false, false) => (self.minus.low, self.plus.high),
        };
        Some((signed(width, first), signed(width, last)))
    }

    pub fn is_disjoint(&self, other: &Interval) -> bool {
        self.plus.meet(other.plus).is_empty() && self.minus.meet(other.minus).is_empty()
    }

    /// The runs that there are, each of one sign.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Range> + use<> {
        [self.plus, self.minus].into_iter().filter(|run| !run.is_empty())
    }

    fn each(&self, of: impl Fn(Range) -> Interval) -> Interval {
        self.runs().fold(Interval::EMPTY, |all, run| all.join(&of(run)))
    }

    fn each_pair(a: &Interval, b: &Interval, of: impl Fn(Range, Range) -> Interval) -> Interval {
        a.each(|x| b.each(|y| of(x, y)))
    }

    pub(crate) fn map(&self, mut of: impl FnMut(Range) -> Range) -> Interval {
        let mut keep = |run: Range| if run.is_empty() { run } else { of(run) };
        Interval { plus: keep(self.plus), minus: keep(self.minus) }
    }

    fn without(&self, value: u128) -> Interval {
        self.map(|run| run.without(value))
    }
}

impl Domain for Interval {
    type Space = u32;

    fn bottom(_: &u32) -> Interval {
        Interval::EMPTY
    }

    fn top(width: &u32) -> Interval {
        Interval::full(*width)
    }

    fn is_bottom(&self) -> bool {
        self.plus.is_empty() && self.minus.is_empty()
    }

    fn leq(&self, other: &Interval) -> bool {
        self.plus.leq(other.plus) && self.minus.leq(other.minus)
    }

    fn join(&self, other: &Interval) -> Interval {
        Interval { plus: self.plus.hull(other.plus), minus: self.minus.hull(other.minus) }
    }

    fn meet(&self, other: &Interval, _: &u32) -> Interval {
        Interval { plus: self.plus.meet(other.plus), minus: self.minus.meet(other.minus) }
    }

    fn widen(&self, next: &Interval, width: &u32, thresholds: &Thresholds) -> Interval {
        let (sign, mask) = (sign_bit(*width), mask(*width));
        Interval {
            plus: widen(
                self.plus,
                next.plus,
                |low| below(thresholds, *width, low, 0),
                |high| above(thresholds, *width, high, sign - 1),
            ),
            minus: widen(
                self.minus,
                next.minus,
                |low| below(thresholds, *width, low, sign),
                |high| above(thresholds, *width, high, mask),
            ),
        }
    }
}

/// A run around both. Bounds that have moved go on to where they are told to.
fn widen(old: Range, new: Range, lower: impl Fn(u128) -> u128, upper: impl Fn(u128) -> u128) -> Range {
    if old.is_empty() || new.is_empty() {
        return old.hull(new);
    }
    Range {
        low: if new.low < old.low { lower(new.low) } else { old.low },
        high: if new.high > old.high { upper(new.high) } else { old.high },
    }
}

/// The readings of a bit pattern as numbers: unsigned and signed.
fn readings(width: u32, pattern: u128) -> impl Iterator<Item = i128> {
    [i128::try_from(pattern).ok(), Some(signed(width, pattern))].into_iter().flatten()
}

/// The next threshold upwards in any reading, or the last number.
fn above(thresholds: &Thresholds, width: u32, from: u128, last: u128) -> u128 {
    let next =
        |number| thresholds.at_least(number).map(|threshold| from + (threshold.abs_diff(number)).min(last - from));
    readings(width, from).filter_map(next).min().unwrap_or(last)
}

fn below(thresholds: &Thresholds, width: u32, from: u128, first: u128) -> u128 {
    let next =
        |number| thresholds.at_most(number).map(|threshold| from - (threshold.abs_diff(number)).min(from - first));
    readings(width, from).filter_map(next).max().unwrap_or(first)
}

impl Numbers for Interval {
    fn constant(width: u32, value: u128) -> Interval {
        Interval::unsigned(width, value, value)
    }

    fn as_constant(&self, _: u32) -> Option<u128> {
        (self.low() == self.high()).then_some(self.low())
    }

    fn contains(&self, _: u32, value: u128) -> bool {
        self.plus.contains(value) || self.minus.contains(value)
    }

    fn hull(&self, _: u32) -> Interval {
        *self
    }

    fn from_interval(_: u32, interval: &Interval) -> Interval {
        *interval
    }

    fn from_bits(width: u32, bits: &KnownBits) -> Interval {
        let sign = sign_bit(width);
        let half =
            |bits: KnownBits| if bits.is_bottom() { Range::EMPTY } else { Range::new(bits.min(), bits.max(width)) };
        Interval {
            plus: half(bits.meet(&KnownBits { zeros: sign, ones: 0 }, &width)),
            minus: half(bits.meet(&KnownBits { zeros: 0, ones: sign }, &width)),
        }
    }

    fn unary(op: Unary, width: u32, a: &Interval) -> Interval {
        match op {
            Unary::Neg => a.each(|run| Interval::run(width, run.high.wrapping_neg(), run.high - run.low)),
            Unary::Not => a.each(|run| Interval::run(width, !run.high, run.high - run.low)),
        }
    }

    fn binary(op: Binary, width: u32, a: &Interval, b: &Interval) -> Interval {
        Interval::each_pair(a, b, |x, y| {
            if x.is_constant() && y.is_constant() {
                return Interval::constant(width, op.apply(width, x.low, y.low));
            }
            runs(op, width, x, y)
        })
    }

    fn zero_extend(from: u32, to: u32, a: &Interval) -> Interval {
        if from == to { *a } else { a.each(|run| Interval::unsigned(to, run.low, run.high)) }
    }

    fn sign_extend(from: u32, to: u32, a: &Interval) -> Interval {
        let extend = |value: u128| signed(from, value) as u128 & mask(to);
        a.map(|run| Range { low: extend(run.low), high: extend(run.high) })
    }

    fn extract(_: u32, low: u32, to: u32, a: &Interval) -> Interval {
        a.each(|run| Interval::run(to, run.low >> low, (run.high >> low) - (run.low >> low)))
    }

    fn concat(width: u32, low_width: u32, high: &Interval, low: &Interval) -> Interval {
        if low.is_bottom() {
            return Interval::EMPTY;
        }
        let bounds = |run: Range| (run.low << low_width | low.low(), run.high << low_width | low.high());
        high.each(|run| Interval::unsigned(width, bounds(run).0, bounds(run).1))
    }

    fn decide(predicate: Predicate, width: u32, a: &Interval, b: &Interval) -> Truth {
        let (Some(signed_a), Some(signed_b)) = (a.signed_bounds(width), b.signed_bounds(width)) else {
            return Truth::NONE;
        };
        match predicate {
            Predicate::Eq => {
                let are_same = a.as_constant(width).is_some() && a.as_constant(width) == b.as_constant(width);
                Truth { may_hold: !a.is_disjoint(b), may_fail: !are_same }
            }
            Predicate::ULt => Truth { may_hold: a.low() < b.high(), may_fail: a.high() >= b.low() },
            Predicate::SLt => Truth { may_hold: signed_a.0 < signed_b.1, may_fail: signed_a.1 >= signed_b.0 },
            Predicate::SAddOverflow => overflow(
                width,
                [
                    signed_a.0.checked_add(signed_b.0), //
                    signed_a.1.checked_add(signed_b.1),
                ],
            ),
            Predicate::SSubOverflow => overflow(
                width,
                [
                    signed_a.0.checked_sub(signed_b.1), //
                    signed_a.1.checked_sub(signed_b.0),
                ],
            ),
            Predicate::SMulOverflow => product_overflow(width, a, b),
            Predicate::UMulOverflow => {
                let does = |x, y| Predicate::UMulOverflow.holds(width, x, y);
                Truth { may_hold: does(a.high(), b.high()), may_fail: !does(a.low(), b.low()) }
            }
        }
    }

    fn assume(predicate: Predicate, holds: bool, width: u32, a: &Interval, b: &Interval) -> (Interval, Interval) {
        if !Interval::decide(predicate, width, a, b).contains(holds) {
            return (Interval::EMPTY, Interval::EMPTY);
        }
        match (predicate, holds) {
            (Predicate::Eq, true) => (a.meet(b, &width), a.meet(b, &width)),
            (Predicate::Eq, false) => (
                b.as_constant(width).map_or(*a, |value| a.without(value)),
                a.as_constant(width).map_or(*b, |value| b.without(value)),
            ),
            (Predicate::ULt, true) => below_unsigned(width, a, b, 1),
            (Predicate::ULt, false) => swap(below_unsigned(width, b, a, 0)),
            (Predicate::SLt, true) => below_signed(width, a, b, 1),
            (Predicate::SLt, false) => swap(below_signed(width, b, a, 0)),
            (Predicate::SAddOverflow, false) => fitting_sum(width, a, b),
            (Predicate::SSubOverflow, false) => fitting_difference(width, a, b),
            _ => (*a, *b),
        }
    }
}

fn swap<A, B>((a, b): (A, B)) -> (B, A) {
    (b, a)
}

/// What two numbers may be if the first is less than the second by at least `gap`. Neither is empty, and they can be.
fn below_unsigned(width: u32, a: &Interval, b: &Interval, gap: u128) -> (Interval, Interval) {
    let most = Interval::unsigned(width, 0, b.high().saturating_sub(gap));
    let least = Interval::unsigned(width, a.low().saturating_add(gap), mask(width));
    (a.meet(&most, &width), b.meet(&least, &width))
}

fn below_signed(width: u32, a: &Interval, b: &Interval, gap: i128) -> (Interval, Interval) {
    let (Some(bounds_a), Some(bounds_b)) = (a.signed_bounds(width), b.signed_bounds(width)) else { return (*a, *b) };
    let most = Interval::signed(width, i128::MIN, bounds_b.1.saturating_sub(gap));
    let least = Interval::signed(width, bounds_a.0.saturating_add(gap), i128::MAX);
    (a.meet(&most, &width), b.meet(&least, &width))
}

/// What two numbers may be whose signed sum fits.
fn fitting_sum(width: u32, a: &Interval, b: &Interval) -> (Interval, Interval) {
    let (least, greatest) = (signed(width, sign_bit(width)), (sign_bit(width) - 1) as i128);
    let clip = |it: &Interval, other: &Interval| match other.signed_bounds(width) {
        Some((low, high)) => {
            let bounds = (least.saturating_sub(high), greatest.saturating_sub(low));
            it.meet(&Interval::signed(width, bounds.0, bounds.1), &width)
        }
        None => *it,
    };
    (clip(a, b), clip(b, a))
}

/// What two numbers may be whose signed difference fits.
fn fitting_difference(width: u32, a: &Interval, b: &Interval) -> (Interval, Interval) {
    let (least, greatest) = (signed(width, sign_bit(width)), (sign_bit(width) - 1) as i128);
    let (Some(bounds_a), Some(bounds_b)) = (a.signed_bounds(width), b.signed_bounds(width)) else { return (*a, *b) };
    let left = Interval::signed(width, least.saturating_add(bounds_b.0), greatest.saturating_add(bounds_b.1));
    let right = Interval::signed(width, bounds_a.0.saturating_sub(greatest), bounds_a.1.saturating_sub(least));
    (a.meet(&left, &width), b.meet(&right, &width))
}

/// Whether results are outside, all of which lie between these.
fn overflow<const N: usize>(width: u32, extremes: [Option<i128>; N]) -> Truth {
    let outside = extremes.iter().filter(|&&result| is_outside(width, result)).count();
    // (If all extremes are outside, they may be so on different sides.)
    Truth { may_hold: outside > 0, may_fail: outside < N || !on_one_side(extremes) }
}

/// By run, since the products of numbers of one sign have one sign.
fn product_overflow(width: u32, a: &Interval, b: &Interval) -> Truth {
    let bounds = |run: Range| (signed(width, run.low), signed(width, run.high));
    let pairs = a.runs().flat_map(|x| b.runs().map(move |y| (x, y)));
    let each = pairs.map(|(x, y)| overflow(width, corners(bounds(x), bounds(y))));
    each.fold(Truth::NONE, Truth::join)
}

fn on_one_side<const N: usize>(extremes: [Option<i128>; N]) -> bool {
    extremes.iter().all(|result| result.is_some_and(|it| it > 0))
        || extremes.iter().all(|result| result.is_some_and(|it| it < 0))
}

fn corners(a: (i128, i128), b: (i128, i128)) -> [Option<i128>; 4] {
    [a.0.checked_mul(b.0), a.0.checked_mul(b.1), a.1.checked_mul(b.0), a.1.checked_mul(b.1)]
}

/// An operator on runs of one sign.
fn runs(op: Binary, width: u32, a: Range, b: Range) -> Interval {
    let plain = |run: Range| Interval::unsigned(width, run.low, run.high);
    // (A half has at most 2^(width-1) numbers, so that these sums do not overflow.)
    let reach = (a.high - a.low) + (b.high - b.low);
    match op {
        Binary::Add => Interval::run(width, a.low.wrapping_add(b.low), reach),
        Binary::Sub => Interval::run(width, a.low.wrapping_sub(b.high), reach),
        Binary::Mul => product(width, a, b),
        Binary::UDiv => by_zero_or_not(b, Interval::constant(width, mask(width)), |b| plain(a.divide(b))),
        Binary::URem => by_zero_or_not(b, plain(a), |b| plain(a.remainder(b))),
        Binary::SDiv => {
            let by_zero = if is_negative(width, a) { 1 } else { mask(width) };
            by_zero_or_not(b, Interval::constant(width, by_zero), |b| {
                let quotient = plain(magnitude(width, a).divide(magnitude(width, b)));
                with_sign(width, quotient, is_negative(width, a) != is_negative(width, b))
            })
        }
        Binary::SRem => by_zero_or_not(b, plain(a), |b| {
            let remainder = plain(magnitude(width, a).remainder(magnitude(width, b)));
            with_sign(width, remainder, is_negative(width, a))
        }),
        Binary::Shl => shifts(width, b, |by| shifted_left(width, a, by), Interval::constant(width, 0)),
        Binary::LShr => {
            let last = Interval::constant(width, 0);
            shift_bounds(width, b, last, |first, last| Range { low: a.low >> last, high: a.high >> first })
        }
        Binary::AShr => arithmetic_shift(width, a, b),
        Binary::And => plain(a.and(b, width)),
        Binary::Or => plain(a.or(b)),
        Binary::Xor => plain(a.xor(b)),
    }
}

fn is_negative(width: u32, run: Range) -> bool {
    run.low & sign_bit(width) != 0
}

/// The absolute values of a run of one sign. (That of the minimum is the minimum, as an unsigned number.)
fn magnitude(width: u32, run: Range) -> Range {
    if !is_negative(width, run) {
        return run;
    }
    Range { low: run.high.wrapping_neg() & mask(width), high: run.low.wrapping_neg() & mask(width) }
}

fn with_sign(width: u32, magnitude: Interval, is_negative: bool) -> Interval {
    if is_negative { Interval::unary(Unary::Neg, width, &magnitude) } else { magnitude }
}

fn by_zero_or_not(divisor: Range, by_zero: Interval, otherwise: impl Fn(Range) -> Interval) -> Interval {
    let rest = if divisor.low == 0 { divisor.without(0) } else { divisor };
    let quotient = if rest.is_empty() { Interval::EMPTY } else { otherwise(rest) };
    if divisor.low == 0 { quotient.join(&by_zero) } else { quotient }
}

/// The product is between those of the bounds, as signed numbers and as unsigned numbers, if that says anything after
/// it has wrapped around.
fn product(width: u32, a: Range, b: Range) -> Interval {
    let bounds = |run: Range| (signed(width, run.low), signed(width, run.high));
    let mut all = Interval::full(width);
    if let [Some(p), Some(q), Some(r), Some(s)] = corners(bounds(a), bounds(b)) {
        let (least, greatest) = (p.min(q).min(r).min(s), p.max(q).max(r).max(s));
        all = Interval::run(width, least as u128, greatest.abs_diff(least));
    }
    if let (Some(least), Some(greatest)) = (a.low.checked_mul(b.low), a.high.checked_mul(b.high)) {
        all = all.meet(&Interval::run(width, least, greatest - least), &width);
    }
    all
}

/// The first and the last amount of a shift that is less than the width; then whether there are others.
fn amounts(width: u32, by: Range) -> (Option<(u32, u32)>, bool) {
    let last = u128::from(width - 1);
    let within = (by.low <= last).then(|| (by.low as u32, by.high.min(last) as u32));
    (within, by.high > last)
}

/// All shifts by single amounts, and what is left of a number after a shift by more.
fn shifts(width: u32, by: Range, shift: impl Fn(u32) -> Interval, beyond: Interval) -> Interval {
    let (within, is_beyond) = amounts(width, by);
    let start = if is_beyond { beyond } else { Interval::EMPTY };
    within.map_or(start, |(first, last)| (first..=last).fold(start, |all, by| all.join(&shift(by))))
}

/// A shift that is monotone in its amount.
fn shift_bounds(width: u32, by: Range, beyond: Interval, shift: impl Fn(u32, u32) -> Range) -> Interval {
    let (within, is_beyond) = amounts(width, by);
    let inner = within.map_or(Interval::EMPTY, |(first, last)| {
        let run = shift(first, last);
        Interval::unsigned(width, run.low, run.high)
    });
    if is_beyond { inner.join(&beyond) } else { inner }
}

fn shifted_left(width: u32, a: Range, by: u32) -> Interval {
    let length = a.high - a.low;
    if length <= mask(width) >> by {
        return Interval::run(width, a.low << by, length << by);
    }
    let low_bits = mask(by);
    Interval::full(width).map(|run| Range { low: run.low, high: run.high & !low_bits })
}

fn arithmetic_shift(width: u32, a: Range, by: Range) -> Interval {
    let shift = |value: u128, by: u32| (signed(width, value) >> by) as u128 & mask(width);
    let is_negative = is_negative(width, a);
    let beyond = Interval::constant(width, if is_negative { mask(width) } else { 0 });
    shift_bounds(width, by, beyond, |first, last| {
        let (of_low, of_high) = if is_negative { (first, last) } else { (last, first) };
        Range { low: shift(a.low, of_low), high: shift(a.high, of_high) }
    })
}

impl fmt::Debug for Interval {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        if self.is_bottom() {
            return write!(out, "nothing");
        }
        let texts = self.runs().map(|run| match run.is_constant() {
            true => format!("{:#x}", run.low),
            false => format!("{:#x}..={:#x}", run.low, run.high),
        });
        write!(out, "{}", texts.collect::<Vec<_>>().join(" or "))
    }
}
