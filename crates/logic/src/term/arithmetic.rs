//! Products, quotients, shifts, and whether results fit.
//!
//! Division by zero and shifts by the width or more mean what they mean in SMT-LIB; C's rules are the business of
//! whoever asks. Overflow of sums and differences is a matter of comparisons and signs, which share the circuit of the
//! sum itself; overflow of products with a constant is a comparison; only overflow of other products is an operation of
//! its own.

use super::{Node, Term, Terms, ordered, word};

impl Terms {
    pub fn mul(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        if let Some(factor) = self.as_bits(a) {
            return self.scale(width, factor, b);
        }
        if let Some(factor) = self.as_bits(b) {
            return self.scale(width, factor, a);
        }
        if let Some(lifted) = self.lift2(a, b, Terms::mul) {
            return lifted;
        }
        let ((a, k), (b, l)) = (self.without_factor(a), self.without_factor(b));
        let (a, b) = ordered(a, b);
        let product = self.intern(Node::Mul(a, b));
        self.scale(width, k.wrapping_mul(l), product)
    }

    fn without_factor(&self, term: Term) -> (Term, u128) {
        match self.node(term) {
            Node::Mul(factor, rest) => match self.as_bits(factor) {
                Some(factor) => (rest, factor),
                None => (term, 1),
            },
            _ => (term, 1),
        }
    }

    /// The unsigned quotient; all ones if `b` is 0.
    pub fn udiv(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        if let Some(lifted) = self.lift2(a, b, Terms::udiv) {
            return lifted;
        }
        let (known_a, known_b) = (self.known(a), self.known(b));
        match (self.as_bits(a), self.as_bits(b)) {
            (_, Some(0)) => self.bits(width, u128::MAX),
            (Some(x), Some(y)) => self.bits(width, x / y),
            (_, Some(divisor)) if divisor.is_power_of_two() => {
                self.shift_right_by(width, a, divisor.trailing_zeros(), false)
            }
            _ if known_a.max(width) < known_b.min() => self.bits(width, 0),
            _ => self.intern(Node::Udiv(a, b)),
        }
    }

    /// The unsigned remainder; `a` if `b` is 0.
    pub fn urem(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        if let Some(lifted) = self.lift2(a, b, Terms::urem) {
            return lifted;
        }
        let (known_a, known_b) = (self.known(a), self.known(b));
        match (self.as_bits(a), self.as_bits(b)) {
            (_, Some(0)) => a,
            (Some(x), Some(y)) => self.bits(width, x % y),
            (_, Some(divisor)) if divisor.is_power_of_two() => {
                let mask = self.bits(width, divisor - 1);
                self.bvand(a, mask)
            }
            _ if a == b => self.bits(width, 0),
            _ if known_a.max(width) < known_b.min() => a,
            _ => self.intern(Node::Urem(a, b)),
        }
    }

    /// The signed quotient, rounded towards 0. By 0: -1 if `a` is not negative, else 1.
    pub fn sdiv(&mut self, a: Term, b: Term) -> Term {
        let (negative_a, size_a) = self.sign_and_size(a);
        let (negative_b, size_b) = self.sign_and_size(b);
        let quotient = self.udiv(size_a, size_b);
        let negated = self.neg(quotient);
        let negative = self.xor(negative_a, negative_b);
        self.ite(negative, negated, quotient)
    }

    /// The signed remainder, with the sign of `a`; `a` if `b` is 0.
    pub fn srem(&mut self, a: Term, b: Term) -> Term {
        let (negative_a, size_a) = self.sign_and_size(a);
        let (_, size_b) = self.sign_and_size(b);
        let remainder = self.urem(size_a, size_b);
        let negated = self.neg(remainder);
        self.ite(negative_a, negated, remainder)
    }

    fn sign_and_size(&mut self, a: Term) -> (Term, Term) {
        let (negative, negated) = (self.is_negative(a), self.neg(a));
        (negative, self.ite(negative, negated, a))
    }

    /// `a` shifted to the left by `b` bits; 0 if `b` is the width or more.
    pub fn shl(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        if let Some(lifted) = self.lift2(a, b, Terms::shl) {
            return lifted;
        }
        match self.as_bits(b) {
            Some(amount) if amount >= u128::from(width) => self.bits(width, 0),
            Some(amount) => self.scale(width, 1 << amount, a),
            None if self.known(b).min() >= u128::from(width) || self.as_bits(a) == Some(0) => self.bits(width, 0),
            None => self.intern(Node::Shl(a, b)),
        }
    }

    /// `a` shifted to the right by `b` bits, with zeros from the left; 0 if `b` is the width or more.
    pub fn lshr(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        if let Some(lifted) = self.lift2(a, b, Terms::lshr) {
            return lifted;
        }
        match self.as_bits(b) {
            Some(amount) if amount >= u128::from(width) => self.bits(width, 0),
            Some(amount) => self.shift_right_by(width, a, amount as u32, false),
            None if self.known(b).min() >= u128::from(width) || self.as_bits(a) == Some(0) => self.bits(width, 0),
            None => self.intern(Node::Lshr(a, b)),
        }
    }

    /// `a` shifted to the right by `b` bits, with copies of the sign from the left; all of them if `b` is the width or
    /// more.
    pub fn ashr(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        if let Some(lifted) = self.lift2(a, b, Terms::ashr) {
            return lifted;
        }
        if self.known(a).is_negative(width) == Some(false) {
            return self.lshr(a, b);
        }
        let most = u128::from(width - 1);
        match self.as_bits(b) {
            Some(amount) => self.shift_right_by(width, a, amount.min(most) as u32, true),
            None if self.known(b).min() >= most => self.shift_right_by(width, a, width - 1, true),
            None => self.intern(Node::Ashr(a, b)),
        }
    }

    /// A shift by less than the width.
    fn shift_right_by(&mut self, width: u32, a: Term, amount: u32, signed: bool) -> Term {
        let rest = self.extract(a, amount, width - amount);
        if signed { self.sign_extend(rest, width) } else { self.zero_extend(rest, width) }
    }

    /// Whether the unsigned sum does not fit.
    pub fn uadd_overflow(&mut self, a: Term, b: Term) -> Term {
        self.common_width(a, b);
        let room = self.bvnot(b);
        self.ult(room, a)
    }

    /// Whether the signed sum does not fit.
    pub fn sadd_overflow(&mut self, a: Term, b: Term) -> Term {
        let sum = self.add(a, b);
        let (left, right, result) = (self.is_negative(a), self.is_negative(b), self.is_negative(sum));
        let (same, changed) = (self.iff(left, right), self.xor(left, result));
        self.and2(same, changed)
    }

    /// Whether the unsigned difference is negative.
    pub fn usub_overflow(&mut self, a: Term, b: Term) -> Term {
        self.ult(a, b)
    }

    /// Whether the signed difference does not fit.
    pub fn ssub_overflow(&mut self, a: Term, b: Term) -> Term {
        let difference = self.sub(a, b);
        let (left, right, result) = (self.is_negative(a), self.is_negative(b), self.is_negative(difference));
        let (different, changed) = (self.xor(left, right), self.xor(left, result));
        self.and2(different, changed)
    }

    /// Whether the unsigned product does not fit.
    pub fn umul_overflow(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        let (a, b) = if self.as_bits(a).is_some() { (b, a) } else { (a, b) };
        if let Some(factor) = self.as_bits(b) {
            let Some(most) = word::mask(width).checked_div(factor) else { return Term::FALSE };
            let most = self.bits(width, most);
            return self.ult(most, a);
        }
        let largest = self.known(a).max(width).checked_mul(self.known(b).max(width));
        if largest.is_some_and(|product| product <= word::mask(width)) {
            return Term::FALSE;
        }
        let (a, b) = ordered(a, b);
        self.intern(Node::UmulOverflow(a, b))
    }

    /// Whether the signed product does not fit.
    pub fn smul_overflow(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        let (a, b) = if self.as_bits(a).is_some() { (b, a) } else { (a, b) };
        if let Some(factor) = self.as_bits(b) {
            return self.smul_overflow_by(width, a, word::signed(width, factor));
        }
        let (a, b) = ordered(a, b);
        self.intern(Node::SmulOverflow(a, b))
    }

    fn smul_overflow_by(&mut self, width: u32, a: Term, factor: i128) -> Term {
        let (least, most) = (word::signed(width, word::sign_bit(width)), (word::mask(width) >> 1) as i128);
        // Division rounds towards 0: inwards. The least number by -1 is the one quotient that does not exist.
        let (lowest, highest) = match factor {
            0 | 1 => return Term::FALSE,
            -1 => (-most, most),
            2.. => (least / factor, most / factor),
            _ => (most / factor, least / factor),
        };
        let (lowest, highest) = (self.bits(width, lowest as u128), self.bits(width, highest as u128));
        let (below, above) = (self.slt(a, lowest), self.slt(highest, a));
        self.or2(below, above)
    }

    /// Whether `a` is the number whose negation does not fit.
    pub fn sneg_overflow(&mut self, a: Term) -> Term {
        let width = self.expect_bits(a);
        let least = self.bits(width, word::sign_bit(width));
        self.eq(a, least)
    }

    /// Whether the signed quotient does not fit: the least number by -1.
    pub fn sdiv_overflow(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        let minus_one = self.bits(width, u128::MAX);
        let (least, by_minus_one) = (self.sneg_overflow(a), self.eq(b, minus_one));
        self.and2(least, by_minus_one)
    }
}
