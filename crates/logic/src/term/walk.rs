//! Going through terms: what is below a term, and the same term with something else in it.
//!
//! Nothing here recurses: terms are as deep as programs are long.

use super::{Node, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

impl Terms {
    /// All terms that the given ones are made of, themselves included, operands first.
    pub fn reachable(&self, roots: &[Term]) -> Vec<Term> {
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut waiting: Vec<Term> = roots.to_vec();
        while let Some(term) = waiting.pop() {
            if seen.insert(term) {
                waiting.extend(self.node(term).operands());
            }
        }
        let mut found: Vec<Term> = seen.into_iter().collect();
        found.sort_unstable();
        found
    }

    /// The variables that the given terms are made of, in the order in which they were made.
    pub fn variables_of(&self, roots: &[Term]) -> Vec<Term> {
        let mut found = self.reachable(roots);
        found.retain(|&term| matches!(self.node(term), Node::Variable(_)));
        found
    }

    /// `term` with every occurrence of a key of `map` replaced by its value, all at once, and simplified again.
    pub fn substitute(&mut self, term: Term, map: &FxHashMap<Term, Term>) -> Term {
        Substitution::new(map.clone()).apply(self, term)
    }

    /// The term with this term's operation and other operands.
    pub(super) fn with_operands(&mut self, term: Term, new: impl Fn(Term) -> Term) -> Term {
        match self.node(term) {
            Node::Apply(function, arguments) => {
                let arguments: Vec<Term> = arguments.into_iter().flatten().map(new).collect();
                self.apply(function, &arguments)
            }
            node => self.operation(node, new).unwrap_or(term),
        }
    }

    /// An operation, perhaps of another arena, with other operands. None for variables and functions, which belong to
    /// theirs.
    pub fn operation(&mut self, node: Node, new: impl Fn(Term) -> Term) -> Option<Term> {
        Some(match node {
            Node::Variable(_) | Node::Apply(..) => return None,
            Node::Bool(value) => self.bool(value),
            Node::Bits { width, value } => self.bits(width, value),
            Node::Not(a) => self.not(new(a)),
            Node::And(a, b) => self.and2(new(a), new(b)),
            Node::Xor(a, b) => self.xor(new(a), new(b)),
            Node::Ite(c, a, b) => self.ite(new(c), new(a), new(b)),
            Node::Eq(a, b) => self.eq(new(a), new(b)),
            Node::Ult(a, b) => self.ult(new(a), new(b)),
            Node::Slt(a, b) => self.slt(new(a), new(b)),
            Node::UmulOverflow(a, b) => self.umul_overflow(new(a), new(b)),
            Node::SmulOverflow(a, b) => self.smul_overflow(new(a), new(b)),
            Node::BvNot(a) => self.bvnot(new(a)),
            Node::BvAnd(a, b) => self.bvand(new(a), new(b)),
            Node::BvOr(a, b) => self.bvor(new(a), new(b)),
            Node::BvXor(a, b) => self.bvxor(new(a), new(b)),
            Node::Add(a, b) => self.add(new(a), new(b)),
            Node::Mul(a, b) => self.mul(new(a), new(b)),
            Node::Udiv(a, b) => self.udiv(new(a), new(b)),
            Node::Urem(a, b) => self.urem(new(a), new(b)),
            Node::Shl(a, b) => self.shl(new(a), new(b)),
            Node::Lshr(a, b) => self.lshr(new(a), new(b)),
            Node::Ashr(a, b) => self.ashr(new(a), new(b)),
            Node::Concat(high, low) => self.concat(new(high), new(low)),
            Node::Extract { term, low, width } => self.extract(new(term), low, width),
            Node::SignExtend { term, width } => self.sign_extend(new(term), width),
        })
    }
}

/// A substitution that remembers what it has done, for use on many terms that share parts.
#[derive(Clone, Default)]
pub struct Substitution {
    done: FxHashMap<Term, Term>,
    /// What is replaced by something that is itself still to be gone through.
    nested: FxHashMap<Term, Term>,
    /// The keys of `nested` that are being gone through.
    open: FxHashSet<Term>,
}

impl Substitution {
    /// Values have the sorts of their keys.
    pub fn new(map: FxHashMap<Term, Term>) -> Substitution {
        Substitution { done: map, ..Substitution::default() }
    }

    /// Values are substituted in turn. A key that its own value depends on stays as it is there.
    pub fn nested(map: FxHashMap<Term, Term>) -> Substitution {
        Substitution { nested: map, ..Substitution::default() }
    }

    pub fn apply(&mut self, terms: &mut Terms, root: Term) -> Term {
        let mut waiting = vec![root];
        while let Some(&term) = waiting.last() {
            if self.done.contains_key(&term) {
                waiting.pop();
                continue;
            }
            let before = waiting.len();
            let value = self.nested.get(&term).copied();
            match value {
                Some(value) if !self.done.contains_key(&value) => match self.open.insert(term) {
                    true => waiting.push(value),
                    // We are inside its own value.
                    false => _ = self.done.insert(term, term),
                },
                Some(_) => {}
                None => {
                    let operands = terms.node(term).operands();
                    waiting.extend(operands.filter(|operand| !self.done.contains_key(operand)));
                }
            }
            if waiting.len() > before || self.done.contains_key(&term) {
                continue;
            }
            waiting.pop();
            let result = match value {
                Some(value) => self.done[&value],
                // A term whose parts stay the same stays the same, and is not simplified again.
                None if terms.node(term).operands().all(|operand| self.done[&operand] == operand) => term,
                None => terms.with_operands(term, |operand| self.done[&operand]),
            };
            self.done.insert(term, result);
        }
        self.done[&root]
    }
}
