//! The reduced product of intervals, congruences and known bits: each tells the others what it knows.
//!
//! An interval shows that a sum does not wrap around, so that the congruence keeps its modulus; a congruence moves
//! the ends of an interval inwards; bits that are the same at both ends are known. Results of operators are reduced.
//! Those of widening are not, since that could undo it and go on for ever.

use crate::congruence::Congruence;
use crate::domain::{Domain, Numbers, Thresholds, Truth};
use crate::interval::Interval;
use crate::known_bits::KnownBits;
use crate::operator::{Binary, Predicate, Unary};
use crate::range::Range;

/// The numbers that are in all three.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Product {
    interval: Interval,
    congruence: Congruence,
    bits: KnownBits,
}

/// How often the three tell each other.
const ROUNDS: u32 = 3;

impl Product {
    pub const EMPTY: Product =
        Product { interval: Interval::EMPTY, congruence: Congruence::Empty, bits: KnownBits::EMPTY };

    pub fn new(width: u32, interval: Interval, congruence: Congruence, bits: KnownBits) -> Product {
        Product { interval, congruence, bits }.reduced(width)
    }

    pub fn interval(&self) -> &Interval {
        &self.interval
    }

    pub fn congruence(&self) -> &Congruence {
        &self.congruence
    }

    pub fn bits(&self) -> &KnownBits {
        &self.bits
    }

    /// The same numbers, each of the three as small as the others can make it.
    pub fn reduced(mut self, width: u32) -> Product {
        for _ in 0..ROUNDS {
            let before = self;
            self.bits = self.bits.meet(&KnownBits::from_interval(width, &self.interval), &width);
            self.bits = self.bits.meet(&self.congruence.bits(width), &width);
            self.congruence = self.congruence.meet(&Congruence::from_bits(width, &self.bits), &width);
            self.interval = self.interval.map(|run| self.tightened(width, run));
            self.congruence = self.congruence.meet(&Congruence::from_interval(width, &self.interval), &width);
            if self.interval.is_bottom() || self.congruence.is_bottom() || self.bits.is_bottom() {
                return Product::EMPTY;
            }
            if self == before {
                break;
            }
        }
        self
    }

    /// A run whose ends have the bits and are in the class, or are nearer to that.
    fn tightened(&self, width: u32, run: Range) -> Range {
        let upwards = |low: u128| {
            let low = self.bits.at_least(width, low)?;
            low.checked_add(self.congruence.distance(width, low, true)?)
        };
        let downwards = |high: u128| {
            let high = self.bits.at_most(width, high)?;
            high.checked_sub(self.congruence.distance(width, high, false)?)
        };
        match (upwards(run.low), downwards(run.high)) {
            (Some(low), Some(high)) => run.meet(Range::new(low, high)),
            _ => Range::EMPTY,
        }
    }
}

impl Domain for Product {
    type Space = u32;

    fn bottom(_: &u32) -> Product {
        Product::EMPTY
    }

    fn top(width: &u32) -> Product {
        Product { interval: Interval::full(*width), congruence: Congruence::ANY, bits: KnownBits::ANY }
    }

    fn is_bottom(&self) -> bool {
        self.interval.is_bottom() || self.congruence.is_bottom() || self.bits.is_bottom()
    }

    fn leq(&self, other: &Product) -> bool {
        self.interval.leq(&other.interval) && self.congruence.leq(&other.congruence) && self.bits.leq(&other.bits)
    }

    fn join(&self, other: &Product) -> Product {
        Product {
            interval: self.interval.join(&other.interval),
            congruence: self.congruence.join(&other.congruence),
            bits: self.bits.join(&other.bits),
        }
    }

    fn meet(&self, other: &Product, width: &u32) -> Product {
        Product::new(
            *width,
            self.interval.meet(&other.interval, width),
            self.congruence.meet(&other.congruence, width),
            self.bits.meet(&other.bits, width),
        )
    }

    fn widen(&self, next: &Product, width: &u32, thresholds: &Thresholds) -> Product {
        Product {
            interval: self.interval.widen(&next.interval, width, thresholds),
            congruence: self.congruence.widen(&next.congruence, width, thresholds),
            bits: self.bits.widen(&next.bits, width, thresholds),
        }
    }
}

impl Numbers for Product {
    fn constant(width: u32, value: u128) -> Product {
        Product {
            interval: Interval::constant(width, value),
            congruence: Congruence::constant(width, value),
            bits: KnownBits::constant(width, value),
        }
    }

    fn as_constant(&self, width: u32) -> Option<u128> {
        self.interval.as_constant(width)
    }

    fn contains(&self, width: u32, value: u128) -> bool {
        self.interval.contains(width, value)
            && self.congruence.contains(width, value)
            && self.bits.contains(width, value)
    }

    fn hull(&self, _: u32) -> Interval {
        self.interval
    }

    fn from_interval(width: u32, interval: &Interval) -> Product {
        Product::new(width, *interval, Congruence::ANY, KnownBits::ANY)
    }

    fn from_bits(width: u32, bits: &KnownBits) -> Product {
        Product::new(width, Interval::from_bits(width, bits), Congruence::ANY, *bits)
    }

    fn unary(op: Unary, width: u32, a: &Product) -> Product {
        let congruence = match op {
            Unary::Neg => {
                let zero = Interval::constant(width, 0);
                let is_exact = Congruence::is_exact(Binary::Sub, width, &zero, &a.interval);
                Congruence::operate(Binary::Sub, width, Congruence::Exactly(0), a.congruence, is_exact)
            }
            Unary::Not => Congruence::unary(op, width, &a.congruence),
        };
        let (interval, bits) = (Interval::unary(op, width, &a.interval), KnownBits::unary(op, width, &a.bits));
        Product::new(width, interval, congruence, bits)
    }

    fn binary(op: Binary, width: u32, a: &Product, b: &Product) -> Product {
        let is_exact = Congruence::is_exact(op, width, &a.interval, &b.interval);
        Product::new(
            width,
            Interval::binary(op, width, &a.interval, &b.interval),
            Congruence::operate(op, width, a.congruence, b.congruence, is_exact),
            KnownBits::binary(op, width, &a.bits, &b.bits),
        )
    }

    fn zero_extend(from: u32, to: u32, a: &Product) -> Product {
        let interval = Interval::zero_extend(from, to, &a.interval);
        let is_positive = a.interval.high() <= crate::word::mask(from) >> 1;
        let congruence = if is_positive { a.congruence } else { Congruence::zero_extend(from, to, &a.congruence) };
        Product::new(to, interval, congruence, KnownBits::zero_extend(from, to, &a.bits))
    }

    fn sign_extend(from: u32, to: u32, a: &Product) -> Product {
        Product::new(
            to,
            Interval::sign_extend(from, to, &a.interval),
            Congruence::sign_extend(from, to, &a.congruence),
            KnownBits::sign_extend(from, to, &a.bits),
        )
    }

    fn extract(from: u32, low: u32, to: u32, a: &Product) -> Product {
        // What fits into fewer bits is not changed by cutting off the others.
        let fits = low == 0 && a.interval.leq(&Interval::sign_extend(to, from, &Interval::full(to)));
        Product::new(
            to,
            Interval::extract(from, low, to, &a.interval),
            if fits { a.congruence } else { Congruence::extract(from, low, to, &a.congruence) },
            KnownBits::extract(from, low, to, &a.bits),
        )
    }

    fn concat(width: u32, low_width: u32, high: &Product, low: &Product) -> Product {
        Product::new(
            width,
            Interval::concat(width, low_width, &high.interval, &low.interval),
            Congruence::concat(width, low_width, &high.congruence, &low.congruence),
            KnownBits::concat(width, low_width, &high.bits, &low.bits),
        )
    }

    fn decide(predicate: Predicate, width: u32, a: &Product, b: &Product) -> Truth {
        let by_order = Interval::decide(predicate, width, &a.interval, &b.interval);
        let is_apart = predicate == Predicate::Eq && a.meet(b, &width).is_bottom();
        if is_apart { by_order.meet(Truth::FALSE) } else { by_order }
    }
}
