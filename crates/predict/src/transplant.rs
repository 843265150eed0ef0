//! Terms, taken over into another arena: what nobody needs any more stays behind.
//!
//! A walk of a long trace makes a variable for every read, and terms over them. When a window has moved on, what was read before
//! it is what it was: its variables become constants, and most of what was computed from them does, too.

use leno_logic::term::{Node, Term, Terms};
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
        let done = &self.done;
        let at = |operand: Term| done[&operand];
        let new = &mut self.new;
        match self.old.node(term) {
            Node::Bool(value) => new.bool(value),
            Node::Bits { width, value } => new.bits(width, value),
            Node::Variable(_) => match self.values.get(&term) {
                Some(value) => new.bits(self.old.width(term), *value),
                None => new.variable(self.old.sort(term), self.old.name(term).unwrap_or_default()),
            },
            Node::Not(a) => new.not(at(a)),
            Node::And(a, b) => new.and2(at(a), at(b)),
            Node::Xor(a, b) => new.xor(at(a), at(b)),
            Node::Ite(condition, a, b) => new.ite(at(condition), at(a), at(b)),
            Node::Eq(a, b) => new.eq(at(a), at(b)),
            Node::Ult(a, b) => new.ult(at(a), at(b)),
            Node::Slt(a, b) => new.slt(at(a), at(b)),
            Node::UmulOverflow(a, b) => new.umul_overflow(at(a), at(b)),
            Node::SmulOverflow(a, b) => new.smul_overflow(at(a), at(b)),
            Node::BvNot(a) => new.bvnot(at(a)),
            Node::BvAnd(a, b) => new.bvand(at(a), at(b)),
            Node::BvOr(a, b) => new.bvor(at(a), at(b)),
            Node::BvXor(a, b) => new.bvxor(at(a), at(b)),
            Node::Add(a, b) => new.add(at(a), at(b)),
            Node::Mul(a, b) => new.mul(at(a), at(b)),
            Node::Udiv(a, b) => new.udiv(at(a), at(b)),
            Node::Urem(a, b) => new.urem(at(a), at(b)),
            Node::Shl(a, b) => new.shl(at(a), at(b)),
            Node::Lshr(a, b) => new.lshr(at(a), at(b)),
            Node::Ashr(a, b) => new.ashr(at(a), at(b)),
            Node::Concat(high, low) => new.concat(at(high), at(low)),
            Node::Extract { term, low, width } => new.extract(at(term), low, width),
            Node::SignExtend { term, width } => new.sign_extend(at(term), width),
            // Traces have none. If there were one, anything would do: what is predicted is confirmed.
            Node::Apply(..) => new.variable(self.old.sort(term), "result"),
        }
    }
}
