//! Runs of numbers, and what operators make of them.
//!
//! The part of an interval that has one sign. All bounds are of unsigned numbers.

use crate::word::mask;

/// All numbers from `low` to `high`; none if `low` is greater. There is one empty range only, so that equality is
/// equality of sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    pub low: u128,
    pub high: u128,
}

impl Range {
    /// Neutral in `hull`.
    pub const EMPTY: Range = Range { low: u128::MAX, high: 0 };

    pub fn new(low: u128, high: u128) -> Range {
        if low <= high { Range { low, high } } else { Range::EMPTY }
    }

    pub fn is_empty(self) -> bool {
        self.low > self.high
    }

    pub fn is_constant(self) -> bool {
        self.low == self.high
    }

    pub fn contains(self, value: u128) -> bool {
        self.low <= value && value <= self.high
    }

    pub fn hull(self, other: Range) -> Range {
        Range { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    pub fn meet(self, other: Range) -> Range {
        Range::new(self.low.max(other.low), self.high.min(other.high))
    }

    pub fn leq(self, other: Range) -> bool {
        self.is_empty() || (other.low <= self.low && self.high <= other.high)
    }

    /// Without a number, if that leaves a range.
    pub fn without(self, value: u128) -> Range {
        match (value == self.low, value == self.high) {
            (true, true) => Range::EMPTY,
            (true, false) => Range { low: self.low + 1, ..self },
            (false, true) => Range { high: self.high - 1, ..self },
            (false, false) => self,
        }
    }

    /// All quotients; the divisor is not 0.
    pub fn divide(self, by: Range) -> Range {
        Range { low: self.low / by.high, high: self.high / by.low }
    }

    /// All remainders; the divisor is not 0.
    pub fn remainder(self, by: Range) -> Range {
        if self.high < by.low {
            return self;
        }
        if by.is_constant() && self.low / by.low == self.high / by.low {
            return Range { low: self.low % by.low, high: self.high % by.low };
        }
        Range { low: 0, high: self.high.min(by.high - 1) }
    }

    /// The bounds of a bitwise or, exactly (Warren, Hacker's Delight, 4-3).
    pub fn or(self, other: Range) -> Range {
        Range { low: least_or(self, other), high: greatest_or(self, other) }
    }

    /// By De Morgan's law.
    pub fn and(self, other: Range, width: u32) -> Range {
        self.not(width).or(other.not(width)).not(width)
    }

    pub fn xor(self, other: Range) -> Range {
        Range { low: least_xor(self, other), high: greatest_xor(self, other) }
    }

    pub fn not(self, width: u32) -> Range {
        Range { low: !self.high & mask(width), high: !self.low & mask(width) }
    }
}

/// The bits of the numbers, the highest first.
fn bits_downwards(of: u128) -> impl Iterator<Item = u128> {
    (0..128 - of.leading_zeros()).rev().map(|place| 1 << place)
}

/// The least number from `low` on that has this bit, which `low` has not.
fn raised(low: u128, bit: u128) -> u128 {
    (low | bit) & !(bit - 1)
}

/// The greatest number up to `high` that has not this bit, which `high` has.
fn lowered(high: u128, bit: u128) -> u128 {
    (high - bit) | (bit - 1)
}

fn least_or(a: Range, b: Range) -> u128 {
    for bit in bits_downwards(a.low ^ b.low) {
        if !a.low & b.low & bit != 0 && raised(a.low, bit) <= a.high {
            return raised(a.low, bit) | b.low;
        }
        if a.low & !b.low & bit != 0 && raised(b.low, bit) <= b.high {
            return a.low | raised(b.low, bit);
        }
    }
    a.low | b.low
}

fn greatest_or(a: Range, b: Range) -> u128 {
    for bit in bits_downwards(a.high & b.high) {
        if a.high & b.high & bit != 0 {
            if lowered(a.high, bit) >= a.low {
                return lowered(a.high, bit) | b.high;
            }
            if lowered(b.high, bit) >= b.low {
                return a.high | lowered(b.high, bit);
            }
        }
    }
    a.high | b.high
}

fn least_xor(a: Range, b: Range) -> u128 {
    let (mut x, mut y) = (a.low, b.low);
    for bit in bits_downwards(a.low | b.low) {
        if !x & y & bit != 0 && raised(x, bit) <= a.high {
            x = raised(x, bit);
        } else if x & !y & bit != 0 && raised(y, bit) <= b.high {
            y = raised(y, bit);
        }
    }
    x ^ y
}

fn greatest_xor(a: Range, b: Range) -> u128 {
    let (mut x, mut y) = (a.high, b.high);
    for bit in bits_downwards(a.high & b.high) {
        if x & y & bit != 0 {
            if lowered(x, bit) >= a.low {
                x = lowered(x, bit);
            } else if lowered(y, bit) >= b.low {
                y = lowered(y, bit);
            }
        }
    }
    x ^ y
}
