//! If-then-else.
//!
//! Merging the states of two paths makes one of these for every variable that differs, so they come in long chains.
//! Rules shorten chains whose conditions or values repeat. Operations on choices between constants are carried out on
//! the constants (`lift`), so that a counter that was raised on one path only remains a choice between two numbers.

use super::{Node, Sort, Term, Terms};

impl Terms {
    /// `a` if `condition` holds, else `b`; both are of the same sort.
    pub fn ite(&mut self, mut condition: Term, mut a: Term, mut b: Term) -> Term {
        self.expect_bool(condition);
        assert!(self.sort(a) == self.sort(b), "both branches are of one sort");
        loop {
            if let Node::Not(inner) = self.node(condition) {
                (condition, a, b) = (inner, b, a);
            }
            if let Node::Bool(value) = self.node(condition) {
                return if value { a } else { b };
            }
            a = self.branch(condition, true, a);
            b = self.branch(condition, false, b);
            if a == b {
                return a;
            }
            if self.sort(a) == Sort::Bool {
                return self.ite_of_booleans(condition, a, b);
            }
            match self.merge_with_nested(condition, a, b) {
                Some(shorter) => (condition, a, b) = shorter,
                None => return self.intern(Node::Ite(condition, a, b)),
            }
        }
    }

    /// The vector of `width` bits that is 1 if `a` holds, else 0.
    pub fn bool_to_bits(&mut self, a: Term, width: u32) -> Term {
        let (zero, one) = (self.bits(width, 0), self.bits(width, 1));
        self.ite(a, one, zero)
    }

    /// Whether some bit is set.
    pub fn bits_to_bool(&mut self, a: Term) -> Term {
        let width = self.expect_bits(a);
        let zero = self.bits(width, 0);
        let is_zero = self.eq(a, zero);
        self.not(is_zero)
    }

    /// `branch`, where `condition` is known to be `value`.
    fn branch(&mut self, condition: Term, value: bool, mut branch: Term) -> Term {
        loop {
            branch = match self.node(branch) {
                Node::Ite(other, a, b) if other == condition => {
                    if value {
                        a
                    } else {
                        b
                    }
                }
                Node::And(a, b) if value && a == condition => b,
                Node::And(a, b) if value && b == condition => a,
                Node::And(a, b) if !value && (a == condition || b == condition) => Term::FALSE,
                _ if branch == condition => return self.bool(value),
                Node::Not(inner) if inner == condition => return self.bool(!value),
                _ => return branch,
            }
        }
    }

    fn ite_of_booleans(&mut self, condition: Term, a: Term, b: Term) -> Term {
        match (self.as_bool(a), self.as_bool(b)) {
            (Some(true), _) => return self.or2(condition, b),
            (_, Some(false)) => return self.and2(condition, a),
            (Some(false), _) => {
                let other = self.not(condition);
                return self.and2(other, b);
            }
            (_, Some(true)) => return self.implies(condition, a),
            _ => {}
        }
        let ((inner_a, flip_a), (inner_b, flip_b)) = (self.without_not(a), self.without_not(b));
        if inner_a == inner_b {
            // The two are complements: equal ones have been dealt with.
            return self.iff(condition, a);
        }
        if flip_a && flip_b {
            let result = self.intern(Node::Ite(condition, inner_a, inner_b));
            return self.not(result);
        }
        self.intern(Node::Ite(condition, a, b))
    }

    /// One choice instead of two where three values are only two.
    fn merge_with_nested(&mut self, condition: Term, a: Term, b: Term) -> Option<(Term, Term, Term)> {
        if let Node::Ite(inner, x, y) = self.node(b) {
            if x == a {
                return Some((self.or2(condition, inner), a, y));
            }
            if y == a {
                let takes_x = self.not(condition);
                return Some((self.and2(takes_x, inner), x, a));
            }
        }
        if let Node::Ite(inner, x, y) = self.node(a) {
            if y == b {
                return Some((self.and2(condition, inner), x, b));
            }
            if x == b {
                let takes_y = self.not(inner);
                return Some((self.and2(condition, takes_y), y, b));
            }
        }
        None
    }

    /// The condition and the values of a choice between two constants.
    fn choice_of_constants(&self, term: Term) -> Option<(Term, Term, Term)> {
        match self.node(term) {
            Node::Ite(condition, a, b) if self.as_constant(a).is_some() && self.as_constant(b).is_some() => {
                Some((condition, a, b))
            }
            _ => None,
        }
    }

    /// An operation on a choice between constants, as a choice between its results.
    pub(super) fn lift(&mut self, a: Term, apply: impl Fn(&mut Terms, Term) -> Term) -> Option<Term> {
        let (condition, x, y) = self.choice_of_constants(a)?;
        let (x, y) = (apply(self, x), apply(self, y));
        Some(self.ite(condition, x, y))
    }

    /// The same for two operands: a choice and a constant, or two choices by one condition.
    pub(super) fn lift2(&mut self, a: Term, b: Term, apply: impl Fn(&mut Terms, Term, Term) -> Term) -> Option<Term> {
        let (condition, left, right) = match (self.choice_of_constants(a), self.choice_of_constants(b)) {
            (Some((c, x, y)), Some((d, z, w))) if c == d => (c, (x, z), (y, w)),
            (Some((c, x, y)), None) if self.as_constant(b).is_some() => (c, (x, b), (y, b)),
            (None, Some((c, x, y))) if self.as_constant(a).is_some() => (c, (a, x), (a, y)),
            _ => return None,
        };
        let left = apply(self, left.0, left.1);
        let right = apply(self, right.0, right.1);
        Some(self.ite(condition, left, right))
    }
}
