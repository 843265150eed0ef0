//! What a domain is.
//!
//! An element of a [`Domain`] stands for a set of states (of numbers, of the values of several variables). It may be
//! larger than the set that it is meant for, and never smaller. A domain is a lattice, with a widening that makes
//! every increasing chain finite. This is all that the fixpoint needs.
//!
//! [`Numbers`] are domains whose elements are sets of machine integers of one width. They have a transfer function
//! for every operator (forward), and they learn from conditions (backward). An element does not carry its width,
//! since the solver keeps one for each of millions of terms: it is an argument where it matters.

use crate::interval::Interval;
use crate::known_bits::KnownBits;
use crate::operator::{Binary, Predicate, Unary};
use std::fmt;

pub trait Domain: Clone + PartialEq + fmt::Debug {
    /// What elements are about: a width, or variables with theirs.
    type Space;

    /// No state at all.
    fn bottom(space: &Self::Space) -> Self;

    /// All states.
    fn top(space: &Self::Space) -> Self;

    fn is_bottom(&self) -> bool;

    /// Whether the other one is known to contain all that this one does.
    fn leq(&self, other: &Self) -> bool;

    /// Contains all that one or the other does.
    fn join(&self, other: &Self) -> Self;

    /// Contains all that both do, and nothing that one of them is known not to.
    fn meet(&self, other: &Self, space: &Self::Space) -> Self;

    /// Contains all that one or the other does, and is chosen so that repeating this comes to an end soon. Bounds
    /// that grow stop at thresholds.
    fn widen(&self, next: &Self, space: &Self::Space, thresholds: &Thresholds) -> Self;

    /// A better approximation of a fixpoint that this one contains, and that `next` was computed from this one for.
    /// The fixpoint repeats it a bounded number of times, so that it need not come to an end.
    fn narrow(&self, next: &Self, space: &Self::Space) -> Self {
        self.meet(next, space)
    }
}

/// Numbers at which widening stops for a while: in ascending order, negative ones for signed numbers.
#[derive(Clone, Default, Debug)]
pub struct Thresholds(Vec<i128>);

impl Thresholds {
    /// Widening goes to the end at once.
    pub const NONE: Thresholds = Thresholds(Vec::new());

    pub fn new(numbers: impl IntoIterator<Item = i128>) -> Thresholds {
        let mut numbers: Vec<i128> = numbers.into_iter().collect();
        numbers.sort_unstable();
        numbers.dedup();
        Thresholds(numbers)
    }

    /// The greatest number of each number of bits: 0, 1, 3, 7, …
    pub fn powers_of_two() -> Thresholds {
        Thresholds::new((0..127).map(|bits| (1 << bits) - 1))
    }

    pub fn numbers(&self) -> &[i128] {
        &self.0
    }

    /// The smallest one that is not less than this.
    pub fn at_least(&self, number: i128) -> Option<i128> {
        self.0.get(self.0.partition_point(|&threshold| threshold < number)).copied()
    }

    /// The largest one that is not greater than this.
    pub fn at_most(&self, number: i128) -> Option<i128> {
        let above = self.0.partition_point(|&threshold| threshold <= number);
        above.checked_sub(1).map(|last| self.0[last])
    }
}

/// What a condition may be: a set of Booleans.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Truth {
    pub may_hold: bool,
    pub may_fail: bool,
}

impl Truth {
    pub const ANY: Truth = Truth { may_hold: true, may_fail: true };
    pub const NONE: Truth = Truth { may_hold: false, may_fail: false };
    pub const TRUE: Truth = Truth::exactly(true);
    pub const FALSE: Truth = Truth::exactly(false);

    pub const fn exactly(holds: bool) -> Truth {
        Truth { may_hold: holds, may_fail: !holds }
    }

    /// The one value that it may have.
    pub fn decided(self) -> Option<bool> {
        (self.may_hold != self.may_fail).then_some(self.may_hold)
    }

    pub fn contains(self, holds: bool) -> bool {
        if holds { self.may_hold } else { self.may_fail }
    }

    pub fn negated(self) -> Truth {
        Truth { may_hold: self.may_fail, may_fail: self.may_hold }
    }

    pub fn join(self, other: Truth) -> Truth {
        Truth { may_hold: self.may_hold || other.may_hold, may_fail: self.may_fail || other.may_fail }
    }

    pub fn meet(self, other: Truth) -> Truth {
        Truth { may_hold: self.may_hold && other.may_hold, may_fail: self.may_fail && other.may_fail }
    }
}

/// Sets of machine integers. Every result contains what the operator gives for any numbers that the operands contain.
pub trait Numbers: Domain<Space = u32> + Copy {
    /// Exactly this number.
    fn constant(width: u32, value: u128) -> Self;

    /// The only number in it.
    fn as_constant(&self, width: u32) -> Option<u128>;

    fn contains(&self, width: u32, value: u128) -> bool;

    /// The smallest interval that contains it.
    fn hull(&self, width: u32) -> Interval;

    /// All that is said by an interval, or by bits, that this domain can say.
    fn from_interval(width: u32, interval: &Interval) -> Self;
    fn from_bits(width: u32, bits: &KnownBits) -> Self;

    fn unary(op: Unary, width: u32, a: &Self) -> Self;
    fn binary(op: Binary, width: u32, a: &Self, b: &Self) -> Self;
    fn zero_extend(from: u32, to: u32, a: &Self) -> Self;
    fn sign_extend(from: u32, to: u32, a: &Self) -> Self;

    /// The `to` bits from bit `low` on.
    fn extract(from: u32, low: u32, to: u32, a: &Self) -> Self;

    /// The first number above the second one, which has `low_width` of the `width` bits.
    fn concat(width: u32, low_width: u32, high: &Self, low: &Self) -> Self;

    fn decide(predicate: Predicate, width: u32, a: &Self, b: &Self) -> Truth {
        Interval::decide(predicate, width, &a.hull(width), &b.hull(width))
    }

    /// What the operands may be where the predicate holds, or where it does not.
    fn assume(predicate: Predicate, holds: bool, width: u32, a: &Self, b: &Self) -> (Self, Self) {
        if predicate == Predicate::Eq && holds {
            let both = a.meet(b, &width);
            return (both, both);
        }
        let (left, right) = Interval::assume(predicate, holds, width, &a.hull(width), &b.hull(width));
        let clip = |it: &Self, to: Interval| it.meet(&Self::from_interval(width, &to), &width);
        (clip(a, left), clip(b, right))
    }

    /// One or the other, as a condition has it.
    fn select(condition: Truth, width: u32, a: &Self, b: &Self) -> Self {
        match (condition.may_hold, condition.may_fail) {
            (true, true) => a.join(b),
            (true, false) => *a,
            (false, true) => *b,
            (false, false) => Self::bottom(&width),
        }
    }

    /// A condition as a number of one bit.
    fn from_truth(truth: Truth) -> Self {
        Self::select(truth, 1, &Self::constant(1, 1), &Self::constant(1, 0))
    }

    /// A number as a condition: that it is not 0.
    fn to_truth(&self, width: u32) -> Truth {
        Self::decide(Predicate::Eq, width, self, &Self::constant(width, 0)).negated()
    }

    /// What the operand may be if the result is one of these.
    fn unary_backward(op: Unary, width: u32, a: &Self, result: &Self) -> Self {
        // Both operators are their own inverse.
        a.meet(&Self::unary(op, width, result), &width)
    }

    /// What the operands may be if the result is one of these.
    fn binary_backward(op: Binary, width: u32, a: &Self, b: &Self, result: &Self) -> (Self, Self) {
        let (left, right) = match op {
            Binary::Add => (Self::binary(Binary::Sub, width, result, b), Self::binary(Binary::Sub, width, result, a)),
            Binary::Sub => (Self::binary(Binary::Add, width, result, b), Self::binary(Binary::Sub, width, a, result)),
            Binary::Xor => (Self::binary(Binary::Xor, width, result, b), Self::binary(Binary::Xor, width, result, a)),
            _ => return (*a, *b),
        };
        (a.meet(&left, &width), b.meet(&right, &width))
    }

    /// What the operand may be if the result is one of these.
    fn zero_extend_backward(from: u32, to: u32, a: &Self, result: &Self) -> Self {
        a.meet(&Self::extract(to, 0, from, &result.meet(&Self::zero_extend(from, to, a), &to)), &from)
    }

    fn sign_extend_backward(from: u32, to: u32, a: &Self, result: &Self) -> Self {
        a.meet(&Self::extract(to, 0, from, &result.meet(&Self::sign_extend(from, to, a), &to)), &from)
    }
}
