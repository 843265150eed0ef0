//! Terms, taken over into another arena: what nobody needs any more stays behind.
//!
//! A walk of a long trace makes a variable for every read, and terms over them. When a window has moved on, what was read before
//! it is what it was: its variables become constants, and most of what was computed from them does, too.

use leno_logic::term::{Term, Terms};
use rustc_hash::FxHashMap;

pub struct Transplant<'a> {
    old: &'a Terms,
    pub new: Terms,
    /// Variables that have become constants.
    values: &'a FxHashMap<Term, u128>,
    done: FxHashMap<Term, Term>,
}

impl<'a> Transplant<'a> {
    pub fn new(old: &'a Terms, values: &'a FxHashMap<Term, u128>) -> Transplant<'a> {
        Transplant { old, new: Terms::new(), values, done: FxHashMap::default() }
    }

    pub fn term(&mut self, root: Term) -> Term {
        let mut waiting = vec![root];
        while let Some(&term) = waiting.last() {
            if self.done.contains_key(&term) {
                waiting.pop();
                continue;
            }
            let before = waiting.len();
            let missing = self.old.node(term).operands().filter(|operand| !self.done.contains_key(operand));
            waiting.extend(missing);
            if waiting.len() == before {
                waiting.pop();
                let new = self.rebuild(term);
                self.done.insert(term, new);
            }
        }
        self.done[&root]
    }

    /// Its operands are there.
    fn rebuild(&mut self, term: Term) -> Term {
        if let Some(new) = self.new.operation(self.old.node(term), |operand| self.done[&operand]) {
            return new;
        }
        // A variable. (Traces have no functions; if there were one, anything would do: what is predicted is confirmed.)
        match self.values.get(&term) {
            Some(value) => self.new.bits(self.old.width(term), *value),
            None => self.new.variable(self.old.sort(term), self.old.name(term).unwrap_or_default()),
        }
    }
}
