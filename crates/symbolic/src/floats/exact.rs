//! What of floating point is small enough for a circuit: comparisons, and conversions from and to integers.
//!
//! The bits are those that the interpreter computes, which are gcc's: also of numbers that do not fit into an integer,
//! and of what is not a number.

use leno_logic::term::{Term, Terms};

/// A binary format of IEEE 754: a sign, an exponent, a fraction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    pub width: u32,
    /// The bits of the fraction.
    pub fraction: u32,
}

pub const SINGLE: Format = Format { width: 32, fraction: 23 };
pub const DOUBLE: Format = Format { width: 64, fraction: 52 };

impl Format {
    pub fn of(width: u32) -> Option<Format> {
        [SINGLE, DOUBLE].into_iter().find(|format| format.width == width)
    }

    fn exponent(self) -> u32 {
        self.width - 1 - self.fraction
    }

    fn bias(self) -> u32 {
        (1 << (self.exponent() - 1)) - 1
    }

    pub fn sign(self) -> u128 {
        1 << (self.width - 1)
    }

    pub fn infinity(self) -> u128 {
        ((1 << self.exponent()) - 1) << self.fraction
    }

    /// One, as bits.
    pub fn one(self) -> u128 {
        u128::from(self.bias()) << self.fraction
    }

    fn quiet_bit(self) -> u128 {
        1 << (self.fraction - 1)
    }

    /// What comes of an operation that has no result.
    pub fn no_number(self) -> u128 {
        self.sign() | self.infinity() | self.quiet_bit()
    }

    /// All but the sign: of numbers of one sign, in their order.
    pub fn magnitude(self, terms: &mut Terms, a: Term) -> Term {
        terms.extract(a, 0, self.width - 1)
    }

    pub fn is_number(self, terms: &mut Terms, a: Term) -> Term {
        let magnitude = self.magnitude(terms, a);
        let infinity = terms.bits(self.width - 1, self.infinity());
        terms.ule(magnitude, infinity)
    }

    pub fn has_magnitude(self, terms: &mut Terms, a: Term, value: u128) -> Term {
        let magnitude = self.magnitude(terms, a);
        let value = terms.bits(self.width - 1, value);
        terms.eq(magnitude, value)
    }

    pub fn opposite(self, terms: &mut Terms, a: Term) -> Term {
        let sign = terms.bits(self.width, self.sign());
        terms.bvxor(a, sign)
    }

    /// What is not a number, as operations pass it on.
    pub fn quiet(self, terms: &mut Terms, a: Term) -> Term {
        let bit = terms.bits(self.width, self.quiet_bit());
        terms.bvor(a, bit)
    }

    // --- comparisons

    fn are_numbers(self, terms: &mut Terms, a: Term, b: Term) -> Term {
        let (a, b) = (self.is_number(terms, a), self.is_number(terms, b));
        terms.and2(a, b)
    }

    fn are_zero(self, terms: &mut Terms, a: Term, b: Term) -> Term {
        let (a, b) = (self.has_magnitude(terms, a, 0), self.has_magnitude(terms, b, 0));
        terms.and2(a, b)
    }

    pub fn equal(self, terms: &mut Terms, a: Term, b: Term) -> Term {
        let (same, zero, numbers) = (terms.eq(a, b), self.are_zero(terms, a, b), self.are_numbers(terms, a, b));
        let equal = terms.or2(same, zero);
        terms.and2(numbers, equal)
    }

    pub fn less(self, terms: &mut Terms, a: Term, b: Term) -> Term {
        let zero = self.are_zero(terms, a, b);
        let not_zero = terms.not(zero);
        let (small, large) = (self.magnitude(terms, a), self.magnitude(terms, b));
        let (positive, negative) = (terms.ult(small, large), terms.ult(large, small));
        let never = terms.bool(false);
        self.by_signs(terms, a, b, [positive, never, not_zero, negative])
    }

    pub fn less_or_equal(self, terms: &mut Terms, a: Term, b: Term) -> Term {
        let zero = self.are_zero(terms, a, b);
        let (small, large) = (self.magnitude(terms, a), self.magnitude(terms, b));
        let (positive, negative) = (terms.ule(small, large), terms.ule(large, small));
        let always = terms.bool(true);
        self.by_signs(terms, a, b, [positive, zero, always, negative])
    }

    /// Of two numbers: one of four cases, by whether none, the second, the first or both of them are negative.
    fn by_signs(self, terms: &mut Terms, a: Term, b: Term, cases: [Term; 4]) -> Term {
        let (a_negative, b_negative) = (terms.is_negative(a), terms.is_negative(b));
        let first_positive = terms.ite(b_negative, cases[1], cases[0]);
        let first_negative = terms.ite(b_negative, cases[3], cases[2]);
        let result = terms.ite(a_negative, first_negative, first_positive);
        let numbers = self.are_numbers(terms, a, b);
        terms.and2(numbers, result)
    }

    /// The library's `fmin`.
    pub fn least(self, terms: &mut Terms, a: Term, b: Term) -> Term {
        let (is_number, in_order) = (self.is_number(terms, b), self.less_or_equal(terms, a, b));
        let first = terms.implies(is_number, in_order);
        terms.ite(first, a, b)
    }

    /// The library's `fmax`.
    pub fn greatest(self, terms: &mut Terms, a: Term, b: Term) -> Term {
        let (is_number, in_order) = (self.is_number(terms, b), self.less_or_equal(terms, b, a));
        let first = terms.implies(is_number, in_order);
        terms.ite(first, a, b)
    }

    // --- from integers

    pub fn of_signed(self, terms: &mut Terms, a: Term) -> Term {
        let (is_negative, opposite) = (terms.is_negative(a), terms.neg(a));
        let magnitude = terms.ite(is_negative, opposite, a);
        let magnitude = self.of_magnitude(terms, magnitude, 0);
        let sign = terms.bool_to_bits(is_negative, 1);
        terms.concat(sign, magnitude)
    }

    pub fn of_unsigned(self, terms: &mut Terms, a: Term) -> Term {
        let magnitude = self.of_magnitude(terms, a, 0);
        terms.zero_extend(magnitude, self.width)
    }

    /// The float without its sign that is nearest to an unsigned integer times a power of two, ties to even.
    fn of_magnitude(self, terms: &mut Terms, a: Term, scale: i32) -> Term {
        let size = terms.width(a).next_power_of_two().max(2);
        let mut number = terms.zero_extend(a, size);
        // Shifted to the left until the highest bit is 1: by half of the bits if they are 0, by a quarter, …
        let mut count: Option<Term> = None;
        let mut step = size / 2;
        while step > 0 {
            let (top, rest) = (terms.extract(number, size - step, step), terms.extract(number, 0, size - step));
            let zeros = terms.bits(step, 0);
            let (is_zero, shifted) = (terms.eq(top, zeros), terms.concat(rest, zeros));
            number = terms.ite(is_zero, shifted, number);
            let bit = terms.bool_to_bits(is_zero, 1);
            count = Some(count.map_or(bit, |higher| terms.concat(higher, bit)));
            step /= 2;
        }
        let largest = i64::from(self.bias()) + i64::from(size) - 1 + i64::from(scale);
        let mut exponent = terms.bits(self.exponent(), largest as u128);
        if let Some(count) = count {
            let count = terms.zero_extend(count, self.exponent());
            exponent = terms.sub(exponent, count);
        }
        let float = self.rounded(terms, exponent, number);
        let zero = terms.bits(terms.width(a), 0);
        let is_zero = terms.eq(a, zero);
        let nothing = terms.bits(self.width - 1, 0);
        terms.ite(is_zero, nothing, float)
    }

    /// An exponent, and a number whose highest bit is 1 and not written down.
    fn rounded(self, terms: &mut Terms, exponent: Term, number: Term) -> Term {
        let below = terms.width(number) - 1;
        if below <= self.fraction {
            let mut fraction = terms.extract(number, 0, below);
            if below < self.fraction {
                let zeros = terms.bits(self.fraction - below, 0);
                fraction = terms.concat(fraction, zeros);
            }
            return terms.concat(exponent, fraction);
        }
        let lost = below - self.fraction;
        let fraction = terms.extract(number, lost, self.fraction);
        let (last, half) = (terms.extract(number, lost, 1), terms.extract(number, lost - 1, 1));
        let (last, half) = (terms.bits_to_bool(last), terms.bits_to_bool(half));
        let mut more = terms.bool(false);
        if lost > 1 {
            let rest = terms.extract(number, 0, lost - 1);
            let zero = terms.bits(lost - 1, 0);
            let exact = terms.eq(rest, zero);
            more = terms.not(exact);
        }
        let odd_or_more = terms.or2(last, more);
        let up = terms.and2(half, odd_or_more);
        let up = terms.bool_to_bits(up, self.width - 1);
        // (What is carried out of the fraction makes the exponent larger, as it should.)
        let float = terms.concat(exponent, fraction);
        terms.add(float, up)
    }

    // --- to integers, towards zero

    fn exponent_of(self, terms: &mut Terms, a: Term) -> Term {
        terms.extract(a, self.fraction, self.exponent())
    }

    /// Whether the magnitude is 2 to the `power` or more, or this is not a number.
    fn is_from(self, terms: &mut Terms, a: Term, power: u32) -> Term {
        let exponent = self.exponent_of(terms, a);
        let bound = terms.bits(self.exponent(), u128::from(self.bias() + power));
        terms.ule(bound, exponent)
    }

    /// The integer part of the magnitude, which must be less than 2 to the `width`.
    fn whole_part(self, terms: &mut Terms, a: Term, width: u32) -> Term {
        let (one, fraction) = (terms.bits(1, 1), terms.extract(a, 0, self.fraction));
        let mantissa = terms.concat(one, fraction);
        let has = self.fraction + 1;
        let highest = if has >= width {
            terms.extract(mantissa, has - width, width)
        } else {
            let zeros = terms.bits(width - has, 0);
            terms.concat(mantissa, zeros)
        };
        let exponent = self.exponent_of(terms, a);
        let largest = terms.bits(self.exponent(), u128::from(self.bias() + width - 1));
        let amount = terms.sub(largest, exponent);
        let amount = terms.zero_extend(amount, width);
        terms.lshr(highest, amount)
    }

    fn with_sign_of(self, terms: &mut Terms, a: Term, magnitude: Term) -> Term {
        let (is_negative, opposite) = (terms.is_negative(a), terms.neg(magnitude));
        terms.ite(is_negative, opposite, magnitude)
    }

    /// What the instruction for integers of 32 or 64 bits does: what does not fit is the most negative number.
    fn instruction(self, terms: &mut Terms, a: Term, width: u32) -> Term {
        let whole = self.whole_part(terms, a, width);
        let whole = self.with_sign_of(terms, a, whole);
        let too_large = self.is_from(terms, a, width - 1);
        let lowest = terms.bits(width, 1 << (width - 1));
        terms.ite(too_large, lowest, whole)
    }

    pub fn to_signed(self, terms: &mut Terms, a: Term, width: u32) -> Term {
        let wide = if width <= 32 { 32 } else { 64 };
        let whole = self.instruction(terms, a, wide);
        terms.extract(whole, 0, width)
    }

    pub fn to_unsigned(self, terms: &mut Terms, a: Term, width: u32) -> Term {
        if width <= 32 {
            let wide = if width <= 16 { 32 } else { 64 };
            let whole = self.instruction(terms, a, wide);
            return terms.extract(whole, 0, width);
        }
        let signed = self.instruction(terms, a, 64);
        let (whole, zero) = (self.whole_part(terms, a, 64), terms.bits(64, 0));
        let too_large = self.is_from(terms, a, 64);
        let positive = terms.ite(too_large, zero, whole);
        let (is_number, is_negative) = (self.is_number(terms, a), terms.is_negative(a));
        let is_ordinary = terms.not(is_negative);
        let is_positive = terms.and2(is_number, is_ordinary);
        let result = terms.ite(is_positive, positive, signed);
        terms.extract(result, 0, width)
    }
}

/// From `float` to `double`.
pub fn widen(terms: &mut Terms, a: Term) -> Term {
    let (from, to) = (SINGLE, DOUBLE);
    let (exponent, fraction) = (from.exponent_of(terms, a), terms.extract(a, 0, from.fraction));
    let zeros = terms.bits(to.fraction - from.fraction, 0);
    let long_fraction = terms.concat(fraction, zeros);
    let wide_exponent = terms.zero_extend(exponent, to.exponent());
    let shift = terms.bits(to.exponent(), u128::from(to.bias() - from.bias()));
    let wide_exponent = terms.add(wide_exponent, shift);
    let ordinary = terms.concat(wide_exponent, long_fraction);
    // Without the bit that is not written down.
    let small = to.of_magnitude(terms, fraction, 1 - from.bias() as i32 - from.fraction as i32);
    let all_ones = terms.bits(to.exponent(), (1 << to.exponent()) - 1);
    let infinite = terms.concat(all_ones, long_fraction);
    let quiet_bit = terms.bits(to.width - 1, to.quiet_bit());
    let no_number = terms.bvor(infinite, quiet_bit);
    let is_number = from.is_number(terms, a);
    let special = terms.ite(is_number, infinite, no_number);
    let (lowest, highest) = (terms.bits(from.exponent(), 0), terms.bits(from.exponent(), (1 << from.exponent()) - 1));
    let (is_small, is_special) = (terms.eq(exponent, lowest), terms.eq(exponent, highest));
    let magnitude = terms.ite(is_special, special, ordinary);
    let magnitude = terms.ite(is_small, small, magnitude);
    let sign = terms.extract(a, from.width - 1, 1);
    terms.concat(sign, magnitude)
}
