//! Equality and order of bit-vectors.
//!
//! Known bits decide what they can. An equation with a constant goes down into what it is about: the parts of a
//! concatenation, the branches of a choice, the terms of a sum. How far is bounded by `fuel`, because such chains can
//! be as long as the program that they come from, and graphs that share their parts have exponentially many paths.

use super::{Node, Sort, Term, Terms, ordered, word};

/// How many equations one equation becomes at most.
const FUEL: u32 = 64;

impl Terms {
    /// Equality, of Booleans or of bit-vectors of one width.
    pub fn eq(&mut self, a: Term, b: Term) -> Term {
        if self.sort(a) == Sort::Bool {
            return self.iff(a, b);
        }
        self.common_width(a, b);
        self.eq_within(a, b, &mut { FUEL })
    }

    pub(super) fn eq_within(&mut self, a: Term, b: Term, fuel: &mut u32) -> Term {
        if a == b || self.known(a).contradicts(&self.known(b)) {
            return self.bool(a == b);
        }
        // A constant goes second.
        let (a, b) = if self.as_bits(a).is_some() { (b, a) } else { (a, b) };
        if let Some(lifted) = self.lift2(a, b, Terms::eq) {
            return lifted;
        }
        if *fuel > 0 {
            *fuel -= 1;
            if let Some(result) = self.eq_inside(a, b, fuel) {
                return result;
            }
        }
        self.eq_node(a, b)
    }

    /// The node of an equation to which no rule applies. Of one bit, being 0 is not being 1.
    pub(super) fn eq_node(&mut self, a: Term, b: Term) -> Term {
        if a == b || self.known(a).contradicts(&self.known(b)) {
            return self.bool(a == b);
        }
        let (a, b) = match (self.as_bits(a), self.as_bits(b)) {
            (Some(_), _) => (b, a),
            (_, Some(_)) => (a, b),
            _ => ordered(a, b),
        };
        if self.width(a) == 1 && self.as_bits(b) == Some(0) {
            let one = self.bits(1, 1);
            let is_one = self.intern(Node::Eq(a, one));
            return self.not(is_one);
        }
        self.intern(Node::Eq(a, b))
    }

    /// Goes one level down. `b` may be a constant, `a` is not.
    fn eq_inside(&mut self, a: Term, b: Term, fuel: &mut u32) -> Option<Term> {
        if let Some(result) = self.eq_linear(a, b, fuel) {
            return Some(result);
        }
        match self.as_bits(b) {
            Some(value) => self.eq_constant(a, b, value, fuel),
            None => self.eq_terms(a, b, fuel),
        }
    }

    fn eq_constant(&mut self, a: Term, b: Term, value: u128, fuel: &mut u32) -> Option<Term> {
        let width = self.width(a);
        match self.node(a) {
            Node::Ite(condition, x, y) => self.eq_choice(condition, x, y, b, fuel),
            Node::Concat(high, low) => {
                let split = self.width(low);
                let (above, below) = (self.bits(width - split, value >> split), self.bits(split, value));
                let (high, low) = (self.eq_within(high, above, fuel), self.eq_within(low, below, fuel));
                Some(self.and2(high, low))
            }
            Node::SignExtend { term, .. } => {
                let from = self.width(term);
                if word::sign_extend(from, value & word::mask(from), width) != value {
                    return Some(Term::FALSE);
                }
                let value = self.bits(from, value);
                Some(self.eq_within(term, value, fuel))
            }
            Node::BvXor(x, y) => {
                let (constant, rest) = if self.as_bits(x).is_some() { (x, y) } else { (y, x) };
                let constant = self.as_bits(constant)?;
                let value = self.bits(width, value ^ constant);
                Some(self.eq_within(rest, value, fuel))
            }
            Node::BvOr(x, y) if value == 0 => self.eq_both(x, y, b, fuel),
            Node::BvAnd(x, y) if value == word::mask(width) => self.eq_both(x, y, b, fuel),
            _ => None,
        }
    }

    fn eq_both(&mut self, x: Term, y: Term, value: Term, fuel: &mut u32) -> Option<Term> {
        let (left, right) = (self.eq_within(x, value, fuel), self.eq_within(y, value, fuel));
        Some(self.and2(left, right))
    }

    /// A choice one branch of which is seen to be equal or unequal.
    fn eq_choice(&mut self, condition: Term, x: Term, y: Term, b: Term, fuel: &mut u32) -> Option<Term> {
        let not = self.not(condition);
        for (condition, otherwise, decided, open) in [(condition, not, x, y), (not, condition, y, x)] {
            let equal = match (self.as_bits(decided), self.as_bits(b)) {
                _ if decided == b => true,
                (Some(_), Some(_)) => false,
                _ => continue,
            };
            let rest = self.eq_within(open, b, fuel);
            return Some(if equal { self.or2(condition, rest) } else { self.and2(otherwise, rest) });
        }
        None
    }

    fn eq_terms(&mut self, a: Term, b: Term, fuel: &mut u32) -> Option<Term> {
        match (self.node(a), self.node(b)) {
            (Node::Concat(h, l), Node::Concat(g, k)) if self.width(l) == self.width(k) => {
                let (high, low) = (self.eq_within(h, g, fuel), self.eq_within(l, k, fuel));
                Some(self.and2(high, low))
            }
            (Node::SignExtend { term: x, .. }, Node::SignExtend { term: y, .. }) if self.width(x) == self.width(y) => {
                Some(self.eq_within(x, y, fuel))
            }
            (Node::Ite(c, x, y), Node::Ite(d, z, w)) if c == d && (x == z || y == w) => {
                let (left, right) = (self.eq_within(x, z, fuel), self.eq_within(y, w, fuel));
                Some(self.ite(c, left, right))
            }
            (Node::Ite(c, x, y), _) if x == b || y == b => self.eq_choice(c, x, y, b, fuel),
            (_, Node::Ite(c, x, y)) if x == a || y == a => self.eq_choice(c, x, y, a, fuel),
            _ => None,
        }
    }

    /// Unsigned less than.
    pub fn ult(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        let (known_a, known_b) = (self.known(a), self.known(b));
        if known_a.max(width) < known_b.min() {
            return Term::TRUE;
        }
        if a == b || known_a.min() >= known_b.max(width) {
            return Term::FALSE;
        }
        if let Some(lifted) = self.lift2(a, b, Terms::ult) {
            return lifted;
        }
        if let Some(result) = self.less_at_the_end(a, b, 0, word::mask(width)) {
            return result;
        }
        match (self.node(a), self.node(b)) {
            (Node::SignExtend { term: x, .. }, Node::SignExtend { term: y, .. }) if self.width(x) == self.width(y) => {
                self.ult(x, y)
            }
            (Node::Concat(_, low), _) | (_, Node::Concat(_, low)) => {
                let split = self.width(low);
                if self.is_cut_there(a, split) && self.is_cut_there(b, split) {
                    let (high_a, high_b) =
                        (self.extract(a, split, width - split), self.extract(b, split, width - split));
                    if high_a == high_b {
                        let (low_a, low_b) = (self.extract(a, 0, split), self.extract(b, 0, split));
                        return self.ult(low_a, low_b);
                    }
                }
                self.intern(Node::Ult(a, b))
            }
            _ => self.intern(Node::Ult(a, b)),
        }
    }

    /// Whether the vector is a constant, or a concatenation of parts that meet at bit `split`.
    fn is_cut_there(&self, a: Term, split: u32) -> bool {
        match self.node(a) {
            Node::Bits { .. } => true,
            Node::Concat(_, low) => self.width(low) == split,
            _ => false,
        }
    }

    /// Comparisons with the least and the greatest number, or those next to them, are equations.
    fn less_at_the_end(&mut self, a: Term, b: Term, least: u128, greatest: u128) -> Option<Term> {
        let width = self.width(a);
        let mask = word::mask(width);
        let (equal, to, complement) = match (self.as_bits(a), self.as_bits(b)) {
            (_, Some(k)) if k == least.wrapping_add(1) & mask => (a, least, false),
            (_, Some(k)) if k == greatest => (a, greatest, true),
            (Some(k), _) if k == least => (b, least, true),
            (Some(k), _) if k == greatest.wrapping_sub(1) & mask => (b, greatest, false),
            _ => return None,
        };
        let to = self.bits(width, to);
        let result = self.eq(equal, to);
        Some(if complement { self.not(result) } else { result })
    }

    pub fn ule(&mut self, a: Term, b: Term) -> Term {
        let greater = self.ult(b, a);
        self.not(greater)
    }

    pub fn sle(&mut self, a: Term, b: Term) -> Term {
        let greater = self.slt(b, a);
        self.not(greater)
    }

    /// Signed less than.
    pub fn slt(&mut self, a: Term, b: Term) -> Term {
        let width = self.common_width(a, b);
        let (known_a, known_b) = (self.known(a), self.known(b));
        let (flipped_a, flipped_b) = (known_a.with_sign_flipped(width), known_b.with_sign_flipped(width));
        if flipped_a.max(width) < flipped_b.min() {
            return Term::TRUE;
        }
        if a == b || flipped_a.min() >= flipped_b.max(width) {
            return Term::FALSE;
        }
        if let Some(lifted) = self.lift2(a, b, Terms::slt) {
            return lifted;
        }
        if known_a.is_negative(width).is_some() && known_a.is_negative(width) == known_b.is_negative(width) {
            return self.ult(a, b);
        }
        if self.as_bits(b) == Some(0) {
            return self.is_negative(a);
        }
        if self.as_bits(a) == Some(word::mask(width)) {
            let negative = self.is_negative(b);
            return self.not(negative);
        }
        let least = word::sign_bit(width);
        if let Some(result) = self.less_at_the_end(a, b, least, least.wrapping_sub(1)) {
            return result;
        }
        self.slt_of_extensions(a, b).unwrap_or_else(|| self.intern(Node::Slt(a, b)))
    }

    fn slt_of_extensions(&mut self, a: Term, b: Term) -> Option<Term> {
        let width = self.width(a);
        match (self.node(a), self.node(b)) {
            (Node::SignExtend { term: x, .. }, Node::SignExtend { term: y, .. }) if self.width(x) == self.width(y) => {
                Some(self.slt(x, y))
            }
            (Node::SignExtend { term, .. }, Node::Bits { value, .. }) => {
                // Below a constant that is beyond what was extended: always or never.
                let from = self.width(term);
                if word::sign_extend(from, value & word::mask(from), width) != value {
                    return Some(self.bool(word::signed(width, value) > 0));
                }
                let value = self.bits(from, value);
                Some(self.slt(term, value))
            }
            (Node::Bits { value, .. }, Node::SignExtend { term, .. }) => {
                let from = self.width(term);
                if word::sign_extend(from, value & word::mask(from), width) != value {
                    return Some(self.bool(word::signed(width, value) < 0));
                }
                let value = self.bits(from, value);
                Some(self.slt(value, term))
            }
            _ => None,
        }
    }
}
