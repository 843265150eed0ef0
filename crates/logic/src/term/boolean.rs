//! Booleans: negation, conjunction, exclusive or; everything else in terms of them.
//!
//! Guards of a program's paths are long conjunctions that share most of their parts, and joins are disjunctions of
//! guards that differ in one literal. So a conjunction looks for repeated and contradicting literals among the first
//! few of both sides, and knows `(g ∧ c) ∨ (g ∧ ¬c) = g`.

use super::{Node, Term, Terms, ordered};

/// How many conjuncts of each side of a conjunction are compared with each other.
const CONJUNCTS: usize = 8;

/// Some of the conjuncts of a term.
struct Conjuncts {
    terms: [Term; CONJUNCTS],
    count: usize,
    /// Whether these are all.
    complete: bool,
}

impl Conjuncts {
    fn of(terms: &Terms, root: Term) -> Conjuncts {
        let mut found = Conjuncts { terms: [Term::TRUE; CONJUNCTS], count: 0, complete: true };
        let mut waiting = [root; CONJUNCTS + 1];
        let mut depth = 1;
        while depth > 0 {
            depth -= 1;
            let term = waiting[depth];
            match terms.node(term) {
                Node::And(a, b) if depth + 2 <= waiting.len() => {
                    waiting[depth] = a;
                    waiting[depth + 1] = b;
                    depth += 2;
                }
                _ if found.count < CONJUNCTS => {
                    found.terms[found.count] = term;
                    found.count += 1;
                    // A conjunction for which there was no room stands for itself.
                    found.complete &= !matches!(terms.node(term), Node::And(..));
                }
                _ => {
                    found.complete = false;
                    return found;
                }
            }
        }
        found
    }

    fn iter(&self) -> impl Iterator<Item = Term> {
        self.terms[..self.count].iter().copied()
    }

    fn contains(&self, term: Term) -> bool {
        self.terms[..self.count].contains(&term)
    }

    fn covers(&self, other: &Conjuncts) -> bool {
        other.complete && other.iter().all(|term| self.contains(term))
    }
}

impl Terms {
    pub fn not(&mut self, a: Term) -> Term {
        self.expect_bool(a);
        match self.node(a) {
            Node::Bool(value) => self.bool(!value),
            Node::Not(inner) => inner,
            _ => self.intern(Node::Not(a)),
        }
    }

    pub fn and(&mut self, all: &[Term]) -> Term {
        all.iter().fold(Term::TRUE, |sofar, &next| self.and2(sofar, next))
    }

    pub fn or(&mut self, all: &[Term]) -> Term {
        all.iter().fold(Term::FALSE, |sofar, &next| self.or2(sofar, next))
    }

    pub fn or2(&mut self, a: Term, b: Term) -> Term {
        let (not_a, not_b) = (self.not(a), self.not(b));
        let neither = self.and2(not_a, not_b);
        self.not(neither)
    }

    pub fn implies(&mut self, a: Term, b: Term) -> Term {
        let not_b = self.not(b);
        let broken = self.and2(a, not_b);
        self.not(broken)
    }

    pub fn iff(&mut self, a: Term, b: Term) -> Term {
        let different = self.xor(a, b);
        self.not(different)
    }

    pub fn xor(&mut self, a: Term, b: Term) -> Term {
        self.expect_bool(a);
        self.expect_bool(b);
        let (a, flip_a) = self.without_not(a);
        let (b, flip_b) = self.without_not(b);
        let flip = flip_a != flip_b;
        let result = match (self.node(a), self.node(b)) {
            _ if a == b => Term::FALSE,
            (Node::Bool(value), _) if value => self.not(b),
            (Node::Bool(_), _) => b,
            (_, Node::Bool(value)) if value => self.not(a),
            (_, Node::Bool(_)) => a,
            (Node::Xor(x, y), _) if x == b => y,
            (Node::Xor(x, y), _) if y == b => x,
            (_, Node::Xor(x, y)) if x == a => y,
            (_, Node::Xor(x, y)) if y == a => x,
            _ => {
                let (a, b) = ordered(a, b);
                self.intern(Node::Xor(a, b))
            }
        };
        if flip { self.not(result) } else { result }
    }

    pub fn and2(&mut self, mut a: Term, mut b: Term) -> Term {
        self.expect_bool(a);
        self.expect_bool(b);
        loop {
            if a == Term::FALSE || b == Term::FALSE {
                return Term::FALSE;
            }
            if a == Term::TRUE || a == b {
                return b;
            }
            if b == Term::TRUE {
                return a;
            }
            let (left, right) = (Conjuncts::of(self, a), Conjuncts::of(self, b));
            if left.iter().any(|x| right.iter().any(|y| self.exclude(x, y))) {
                return Term::FALSE;
            }
            if left.covers(&right) {
                return a;
            }
            if right.covers(&left) {
                return b;
            }
            if let Some(shorter) = self.under(b, &left) {
                b = shorter;
            } else if let Some(shorter) = self.under(a, &right) {
                a = shorter;
            } else if let Some(common) = self.resolve(a, b) {
                return common;
            } else {
                let (a, b) = ordered(a, b);
                return self.intern(Node::And(a, b));
            }
        }
    }

    /// The term without its negation, and whether it had one.
    pub(super) fn without_not(&self, a: Term) -> (Term, bool) {
        match self.node(a) {
            Node::Not(inner) => (inner, true),
            _ => (a, false),
        }
    }

    fn are_complements(&self, a: Term, b: Term) -> bool {
        self.node(a) == Node::Not(b) || self.node(b) == Node::Not(a)
    }

    /// Whether two literals are seen to be impossible together: complements, or one vector equal to two constants.
    fn exclude(&self, a: Term, b: Term) -> bool {
        if self.are_complements(a, b) {
            return true;
        }
        match (self.node(a), self.node(b)) {
            (Node::Eq(x, k), Node::Eq(y, l)) => {
                x == y && k != l && self.as_bits(k).is_some() && self.as_bits(l).is_some()
            }
            _ => false,
        }
    }

    /// What is left of a literal where some others hold, if that is less.
    fn under(&mut self, term: Term, given: &Conjuncts) -> Option<Term> {
        let Node::Not(inner) = self.node(term) else { return None };
        match self.node(inner) {
            Node::And(p, q) => {
                if given.contains(p) {
                    Some(self.not(q))
                } else if given.contains(q) {
                    Some(self.not(p))
                } else {
                    let excluded = given.iter().any(|x| self.exclude(x, p) || self.exclude(x, q));
                    excluded.then_some(Term::TRUE)
                }
            }
            Node::Eq(..) => given.iter().any(|x| self.exclude(x, inner)).then_some(Term::TRUE),
            _ => None,
        }
    }

    /// `¬(p ∧ q) ∧ ¬(p ∧ ¬q)` is `¬p`.
    fn resolve(&mut self, a: Term, b: Term) -> Option<Term> {
        let (Node::Not(a), Node::Not(b)) = (self.node(a), self.node(b)) else { return None };
        let (Node::And(p, q), Node::And(r, s)) = (self.node(a), self.node(b)) else { return None };
        for (p, q, r, s) in [(p, q, r, s), (p, q, s, r), (q, p, r, s), (q, p, s, r)] {
            if p == r && self.are_complements(q, s) {
                return Some(self.not(p));
            }
        }
        None
    }
}
