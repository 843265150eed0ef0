//! Terms that are to be made again and again, with other things in the place of some variables.
//!
//! A [`Substitution`](super::Substitution) finds its way through terms each time. A pattern has done so once: it lists
//! everything that depends on the variables to be replaced, operands first, and filling it is one pass over that list.
//! Variables are asked for in the order in which they were made, and what was made before a variable is there when it
//! is asked for; so what replaces one may depend on what has become of older terms.

use super::{Node, Term, Terms};
use rustc_hash::FxHashMap;

/// Terms with variables to be replaced.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// Those that depend on such a variable, operands first.
    terms: Vec<Term>,
    /// Where they are in the list.
    places: FxHashMap<Term, u32>,
}

impl Pattern {
    /// All that `roots` are made of; `is_open` says which variables are to be replaced.
    pub fn new(terms: &Terms, roots: &[Term], is_open: impl Fn(Term) -> bool) -> Pattern {
        let mut pattern = Pattern::default();
        for term in terms.reachable(roots) {
            let node = terms.node(term);
            let changes = match node {
                Node::Variable(_) => is_open(term),
                _ => node.operands().any(|operand| pattern.places.contains_key(&operand)),
            };
            if changes {
                pattern.places.insert(term, pattern.terms.len() as u32);
                pattern.terms.push(term);
            }
        }
        pattern
    }

    /// How many terms have to be made.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Makes all terms anew; `value` says what stands for a variable.
    pub fn fill(&self, terms: &mut Terms, mut value: impl FnMut(&mut Terms, &Filled<'_>, Term) -> Term) -> Filled<'_> {
        let mut filled = Filled { pattern: self, values: Vec::with_capacity(self.terms.len()) };
        for &term in &self.terms {
            let new = match terms.node(term) {
                Node::Variable(_) => value(terms, &filled, term),
                _ => terms.with_operands(term, |operand| filled.of(operand)),
            };
            filled.values.push(new);
        }
        filled
    }
}

/// What has become of the terms of a pattern.
#[derive(Clone, Debug)]
pub struct Filled<'p> {
    pattern: &'p Pattern,
    values: Vec<Term>,
}

impl Filled<'_> {
    /// What stands for a term of the pattern; itself, if it does not depend on what was replaced.
    pub fn of(&self, term: Term) -> Term {
        self.pattern.places.get(&term).map_or(term, |place| self.values[*place as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Sort;

    #[test]
    fn a_pattern_is_filled_as_if_it_had_been_written_down() {
        let mut terms = Terms::new();
        let (x, outer) = (terms.variable(Sort::Bits(32), "x"), terms.variable(Sort::Bits(32), "outer"));
        let sum = terms.add(x, outer);
        let late = terms.variable(Sort::Bits(32), "late");
        let root = terms.bvxor(sum, late);
        let pattern = Pattern::new(&terms, &[root, outer], |variable| variable != outer);
        for value in [0, 7] {
            let value = terms.bits(32, value);
            let filled = pattern.fill(&mut terms, |terms, filled, variable| match variable == x {
                true => value,
                // What an older term has become is known by now.
                false => terms.mul(filled.of(sum), value),
            });
            let sum = terms.add(value, outer);
            let late = terms.mul(sum, value);
            assert_eq!(filled.of(root), terms.bvxor(sum, late));
            assert_eq!(filled.of(outer), outer);
        }
    }
}
