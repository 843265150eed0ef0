//! Sums in linear normal form: constant + Σ coefficient · term, modulo 2^width.
//!
//! Address arithmetic is made of sums, differences and products with sizes; two addresses are compared by subtracting
//! them. A sum is stored as a spine of additions, `((t1 + k2·t2) + k3·t3) + constant`, with the terms in ascending
//! order: equal sums are equal terms, and sums of a growing number of terms (a loop that adds something up) share their
//! beginnings, in the arena as in the circuit.
//!
//! What is put together is bounded: when two sums have more than [`ADDENDS`] terms together, they are added as they
//! are, and only their constants are merged.

use super::{Node, Term, Terms, word};

/// The most terms that a linear form has.
pub(super) const ADDENDS: usize = 12;

/// How many complements of sums inside each other are looked through. They are not made sums themselves: as a circuit,
/// a complement is free.
const COMPLEMENTS: u32 = 4;

/// Σ coefficient · term + constant. Terms are in ascending order and coefficients are not 0.
pub(super) struct Linear {
    width: u32,
    pub constant: u128,
    addends: [(Term, u128); ADDENDS],
    count: usize,
}

impl Linear {
    fn new(width: u32) -> Linear {
        Linear { width, constant: 0, addends: [(Term::FALSE, 0); ADDENDS], count: 0 }
    }

    pub fn addends(&self) -> &[(Term, u128)] {
        &self.addends[..self.count]
    }

    fn add_constant(&mut self, value: u128) {
        self.constant = self.constant.wrapping_add(value) & word::mask(self.width);
    }

    /// Adds `coefficient · term`; `None` if there is no room.
    fn add_term(&mut self, term: Term, coefficient: u128) -> Option<()> {
        let coefficient = coefficient & word::mask(self.width);
        match self.addends().binary_search_by_key(&term, |addend| addend.0) {
            Ok(place) => {
                let total = self.addends[place].1.wrapping_add(coefficient) & word::mask(self.width);
                self.addends[place].1 = total;
                if total == 0 {
                    self.addends.copy_within(place + 1..self.count, place);
                    self.count -= 1;
                }
            }
            Err(_) if coefficient == 0 => {}
            Err(_) if self.count == ADDENDS => return None,
            Err(place) => {
                self.addends.copy_within(place..self.count, place + 1);
                self.addends[place] = (term, coefficient);
                self.count += 1;
            }
        }
        Some(())
    }
}

impl Terms {
    /// The linear form of a term, if it is small enough.
    pub(super) fn linear(&self, term: Term) -> Option<Linear> {
        let mut sum = Linear::new(self.width(term));
        self.collect(&mut sum, term, 1, COMPLEMENTS)?;
        Some(sum)
    }

    /// Whether the term is a sum or a multiple, and not just a term by itself.
    pub(super) fn is_linear(&self, term: Term) -> bool {
        match self.node(term) {
            Node::Add(..) | Node::BvNot(_) => true,
            Node::Mul(factor, _) => self.as_bits(factor).is_some(),
            _ => false,
        }
    }

    /// Adds `coefficient · term`, going down the spine of a sum.
    fn collect(&self, sum: &mut Linear, mut term: Term, coefficient: u128, complements: u32) -> Option<()> {
        while let Node::Add(rest, last) = self.node(term) {
            self.collect_addend(sum, last, coefficient, complements)?;
            term = rest;
        }
        self.collect_addend(sum, term, coefficient, complements)
    }

    fn collect_addend(&self, sum: &mut Linear, addend: Term, coefficient: u128, complements: u32) -> Option<()> {
        match self.node(addend) {
            Node::Bits { value, .. } => sum.add_constant(value.wrapping_mul(coefficient)),
            Node::Mul(factor, term) if self.as_bits(factor).is_some() => {
                let factor = self.as_bits(factor).unwrap_or(1);
                sum.add_term(term, factor.wrapping_mul(coefficient))?;
            }
            // The complement is -a - 1.
            Node::BvNot(term) if complements > 0 => {
                self.collect(sum, term, coefficient.wrapping_neg(), complements - 1)?;
                sum.add_constant(coefficient.wrapping_neg());
            }
            _ => sum.add_term(addend, coefficient)?,
        }
        Some(())
    }

    /// The term of a linear form.
    fn rebuild(&mut self, sum: &Linear) -> Term {
        let all_ones = word::mask(sum.width);
        if let ([(term, coefficient)], true) = (sum.addends(), sum.constant == all_ones)
            && *coefficient == all_ones
        {
            return self.intern(Node::BvNot(*term));
        }
        let mut total = None;
        for &(term, coefficient) in sum.addends() {
            let addend = self.multiple(sum.width, coefficient, term);
            total = Some(total.map_or(addend, |sofar| self.intern(Node::Add(sofar, addend))));
        }
        let constant = self.bits(sum.width, sum.constant);
        match total {
            None => constant,
            Some(total) if sum.constant == 0 => total,
            Some(total) => self.intern(Node::Add(total, constant)),
        }
    }

    fn multiple(&mut self, width: u32, coefficient: u128, term: Term) -> Term {
        if coefficient == 1 {
            return term;
        }
        let factor = self.bits(width, coefficient);
        self.intern(Node::Mul(factor, term))
    }

    pub fn add(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        if self.as_bits(a) == Some(0) {
            return b;
        }
        if self.as_bits(b) == Some(0) {
            return a;
        }
        if let Some(lifted) = self.lift2(a, b, Terms::add) {
            return lifted;
        }
        let mut sum = Linear::new(width);
        let fits = self.collect(&mut sum, a, 1, COMPLEMENTS).and_then(|()| self.collect(&mut sum, b, 1, COMPLEMENTS));
        if fits.is_some() { self.rebuild(&sum) } else { self.add_long(width, a, b) }
    }

    /// The sum of two sums that are too long to be put together.
    fn add_long(&mut self, width: u32, a: Term, b: Term) -> Term {
        let ((a, k), (b, l)) = (self.without_constant(a), self.without_constant(b));
        let constant = self.bits(width, k.wrapping_add(l));
        let total = match (a, b) {
            // The longer spine first, so that it goes on growing at its end.
            (Some(a), Some(b)) if matches!(self.node(a), Node::Add(..)) => self.intern(Node::Add(a, b)),
            (Some(a), Some(b)) => self.intern(Node::Add(b, a)),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => return constant,
        };
        if self.as_bits(constant) == Some(0) { total } else { self.intern(Node::Add(total, constant)) }
    }

    /// A sum without its constant, if there is something left, and the constant.
    fn without_constant(&self, term: Term) -> (Option<Term>, u128) {
        match self.node(term) {
            Node::Bits { value, .. } => (None, value),
            Node::Add(rest, last) => match self.as_bits(last) {
                Some(value) => (Some(rest), value),
                None => (Some(term), 0),
            },
            _ => (Some(term), 0),
        }
    }

    pub fn neg(&mut self, a: Term) -> Term {
        let width = self.expect_bits(a);
        self.scale(width, u128::MAX, a)
    }

    pub fn sub(&mut self, a: Term, b: Term) -> Term {
        self.common_width(a, b);
        if a == b {
            let width = self.width(a);
            return self.bits(width, 0);
        }
        if let Some(lifted) = self.lift2(a, b, Terms::sub) {
            return lifted;
        }
        let negated = self.neg(b);
        self.add(a, negated)
    }

    /// `factor · a`. Sums are multiplied term by term where that is cheap.
    pub(super) fn scale(&mut self, width: u32, factor: u128, a: Term) -> Term {
        let factor = factor & word::mask(width);
        if factor == 0 {
            return self.bits(width, 0);
        }
        if factor == 1 {
            return a;
        }
        if let Some(lifted) = self.lift(a, |terms, x| terms.scale(width, factor, x)) {
            return lifted;
        }
        let mut sum = Linear::new(width);
        let only_moves = factor == word::mask(width) || factor.is_power_of_two();
        match self.collect(&mut sum, a, factor, COMPLEMENTS) {
            Some(()) if only_moves || sum.count <= 2 => self.rebuild(&sum),
            _ => {
                let factor = self.bits(width, factor);
                self.intern(Node::Mul(factor, a))
            }
        }
    }

    /// `a = b` for bit-vectors one of which is a sum: common terms cancel, the constant goes to one side. `None` if the
    /// sums are too long, or nothing is gained.
    pub(super) fn eq_linear(&mut self, a: Term, b: Term, fuel: &mut u32) -> Option<Term> {
        if !self.is_linear(a) && !self.is_linear(b) {
            return None;
        }
        let width = self.width(a);
        let mut difference = Linear::new(width);
        self.collect(&mut difference, a, 1, COMPLEMENTS)?;
        self.collect(&mut difference, b, u128::MAX, COMPLEMENTS)?;
        let constant = difference.constant;
        if let [(term, coefficient)] = *difference.addends() {
            return Some(self.eq_multiple(width, coefficient, term, constant.wrapping_neg(), fuel));
        }
        if difference.addends().is_empty() {
            return Some(self.bool(constant == 0));
        }
        let (left, right) = self.balance(width, &difference);
        if self.is_linear(left) || self.is_linear(right) {
            return Some(self.eq_node(left, right));
        }
        Some(self.eq_within(left, right, fuel))
    }

    /// The terms with positive coefficients on one side, the negated others on the other, the constant on the latter.
    fn balance(&mut self, width: u32, difference: &Linear) -> (Term, Term) {
        let is_negative = |coefficient: u128| coefficient & word::sign_bit(width) != 0;
        // Of the two ways to write the equation, the one whose first term is positive.
        let flip = is_negative(difference.addends()[0].1);
        let (mut left, mut right) = (Linear::new(width), Linear::new(width));
        for &(term, coefficient) in difference.addends() {
            let coefficient = if flip { coefficient.wrapping_neg() } else { coefficient };
            let (side, coefficient) = if is_negative(coefficient) {
                (&mut right, coefficient.wrapping_neg())
            } else {
                (&mut left, coefficient)
            };
            side.addends[side.count] = (term, coefficient & word::mask(width));
            side.count += 1;
        }
        right.constant = difference.constant;
        if !flip {
            right.constant = right.constant.wrapping_neg() & word::mask(width);
        }
        (self.rebuild(&left), self.rebuild(&right))
    }

    /// `coefficient · term = value`.
    fn eq_multiple(&mut self, width: u32, coefficient: u128, term: Term, value: u128, fuel: &mut u32) -> Term {
        let value = value & word::mask(width);
        let zeros = coefficient.trailing_zeros();
        if value & word::mask(zeros) != 0 {
            return Term::FALSE;
        }
        let inverse = word::inverse_of_odd(coefficient >> zeros);
        let part = self.extract(term, 0, width - zeros);
        let wanted = self.bits(width - zeros, (value >> zeros).wrapping_mul(inverse));
        self.eq_within(part, wanted, fuel)
    }
}
