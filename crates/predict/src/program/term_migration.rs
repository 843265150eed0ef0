//! Moving terms to another arena: terms that are not needed any more stay behind.
//!
//! The walk of a long trace makes a variable for every read, and terms over them. When a window has moved on, the reads
//! before it returned what they returned in the recorded run: their variables become constants, and so does most of
//! what was computed from them.

use leno_logic::term::{Term, Terms};
use rustc_hash::FxHashMap;

pub struct TermMigration<'a> {
    old: &'a Terms,
    pub new: Terms,
    /// Variables that have become constants.
    values: &'a FxHashMap<Term, u128>,
    done: FxHashMap<Term, Term>,
}

impl<'a> TermMigration<'a> {
    pub fn new(old: &'a Terms, values: &'a FxHashMap<Term, u128>) -> TermMigration<'a> {
        TermMigration { old, new: Terms::new(), values, done: FxHashMap::default() }
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

    /// A term whose operands have been moved.
    fn rebuild(&mut self, term: Term) -> Term {
        if let Some(new) = self.new.operation(self.old.node(term), |operand| self.done[&operand]) {
            return new;
        }
        // A variable: trace programs have no uninterpreted functions.
        match self.values.get(&term) {
            Some(value) => self.new.bits(self.old.width(term), *value),
            None => self.new.variable(self.old.sort(term), self.old.name(term).unwrap_or_default()),
        }
    }
}
