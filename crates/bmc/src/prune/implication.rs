//! Does one condition imply another, by their structure alone?
//!
//! Conditions of events are conjunctions that grow along paths and disjunctions where paths meet, and equal parts of
//! them are equal terms. So most implications that matter are found by taking conjunctions and disjunctions apart. An
//! operand of a term has a smaller number than the term, which cuts the search short.

use leno_logic::term::{Node, Term, Terms};
use rustc_hash::FxHashMap;

/// The most steps of one search.
const MOST_STEPS: u32 = 2_000;
/// The same in the mode without summaries: conditions are deep there. With a few hundred steps that mode would lose
/// most of its pruning, and a comparison of the modes would measure that.
const MOST_STEPS_WITHOUT_SUMMARIES: u32 = 20_000;
/// The same where there is another way to find out, or little to gain.
const FEW_STEPS: u32 = 300;

/// A term, or its negation.
type Literal = (Term, bool);

#[derive(Default)]
pub struct Implications {
    known: FxHashMap<(Literal, Literal), bool>,
    /// Variables that stand for other terms.
    equations: FxHashMap<Term, Term>,
}

impl Implications {
    pub fn with(equations: FxHashMap<Term, Term>) -> Implications {
        Implications { known: FxHashMap::default(), equations }
    }

    /// Whether `b` holds whenever `a` does. False also if the search does not find out.
    pub fn holds(&mut self, terms: &Terms, a: Term, b: Term) -> bool {
        let steps = if self.equations.is_empty() { MOST_STEPS } else { MOST_STEPS_WITHOUT_SUMMARIES };
        self.holds_within(terms, a, b, steps)
    }

    /// The same, with few steps.
    pub fn clearly_holds(&mut self, terms: &Terms, a: Term, b: Term) -> bool {
        self.holds_within(terms, a, b, FEW_STEPS)
    }

    fn holds_within(&mut self, terms: &Terms, a: Term, b: Term, mut steps: u32) -> bool {
        if a == b || a == Term::FALSE || b == Term::TRUE {
            return true;
        }
        let mut search = Search { terms, equations: &self.equations, known: &mut self.known };
        let (a, b) = (search.literal((a, true)), search.literal((b, true)));
        search.implies(a, b, &mut steps)
    }
}

struct Search<'a> {
    terms: &'a Terms,
    equations: &'a FxHashMap<Term, Term>,
    known: &'a mut FxHashMap<(Literal, Literal), bool>,
}

impl Search<'_> {
    fn literal(&self, (term, is_positive): Literal) -> Literal {
        match self.terms.node(term) {
            Node::Not(inner) => (inner, !is_positive),
            _ => (term, is_positive),
        }
    }

    /// The operands of a conjunction, or of the negation of one.
    fn parts(&self, (term, is_positive): Literal) -> Option<[Literal; 2]> {
        match self.terms.node(term) {
            Node::And(x, y) => Some([self.literal((x, is_positive)), self.literal((y, is_positive))]),
            Node::Variable(_) => {
                let meant = self.literal((*self.equations.get(&term)?, is_positive));
                self.parts(meant).or(Some([meant, meant])).filter(|_| meant.0 < term)
            }
            _ => None,
        }
    }

    /// Whether the operands are alternatives: those of a negated conjunction.
    fn is_choice(&self, (mut term, mut is_positive): Literal) -> bool {
        while let Some(&meant) = self.equations.get(&term) {
            (term, is_positive) = self.literal((meant, is_positive));
        }
        !is_positive
    }

    fn implies(&mut self, a: Literal, b: Literal, steps: &mut u32) -> bool {
        if a == b || b == (Term::TRUE, true) || b == (Term::FALSE, false) || a == (Term::FALSE, true) {
            return true;
        }
        if let Some(&known) = self.known.get(&(a, b)) {
            return known;
        }
        if *steps == 0 {
            return false;
        }
        *steps -= 1;
        let result = self.implies_by_parts(a, b, steps);
        self.known.insert((a, b), result);
        result
    }

    fn implies_by_parts(&mut self, a: Literal, b: Literal, steps: &mut u32) -> bool {
        let (of_a, of_b) = (self.parts(a), self.parts(b));
        // A term has a larger number than its operands.
        let may_hold = |part: &Literal| part.0 >= b.0;
        match of_a {
            Some(any) if self.is_choice(a) => return any.into_iter().all(|part| self.implies(part, b, steps)),
            Some(all) if all.into_iter().rev().filter(may_hold).any(|part| self.implies(part, b, steps)) => {
                return true;
            }
            _ => {}
        }
        match of_b {
            Some(any) if self.is_choice(b) => any.into_iter().any(|part| self.implies(a, part, steps)),
            Some(all) => all.into_iter().all(|part| self.implies(a, part, steps)),
            None => excludes(self.terms, a, b),
        }
    }
}

/// A vector that equals one constant does not equal another.
fn excludes(terms: &Terms, a: Literal, b: Literal) -> bool {
    match (terms.node(a.0), terms.node(b.0)) {
        (Node::Eq(x, k), Node::Eq(y, l)) if a.1 && !b.1 => {
            x == y && k != l && terms.as_bits(k).is_some() && terms.as_bits(l).is_some()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leno_logic::term::Sort;

    #[test]
    fn parts_follow_and_others_do_not() {
        let mut terms = Terms::new();
        let all: Vec<Term> = (0..40).map(|index| terms.variable(Sort::Bool, format!("c{index}"))).collect();
        let long = terms.and(&all);
        let some = terms.and(&all[5..9]);
        let mut known = Implications::default();
        assert!(all.iter().all(|part| known.holds(&terms, long, *part)));
        assert!(known.holds(&terms, long, some));
        assert!(!known.holds(&terms, some, long));
        let (left, right) = (terms.and2(some, all[20]), terms.and2(some, all[21]));
        let either = terms.or2(left, right);
        assert!(known.holds(&terms, either, some) && known.holds(&terms, left, either));
        assert!(!known.holds(&terms, either, left) && !known.holds(&terms, some, either));
    }
}
