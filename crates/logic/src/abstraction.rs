//! What values a term may have, if we know which its variables may: terms evaluated in a domain.
//!
//! Coarser than a solver and much faster: one pass over a term. A Boolean is a number of one bit. What a condition
//! says about terms (`i < 10`, `i != 0`) narrows them where that condition holds. Every element that is given back
//! contains the value of its term under every assignment whose values are in the elements of the variables, and that
//! makes the condition true.

use crate::term::{Node, Sort, Term, Terms};
use leno_domains::{Binary, KnownBits, Numbers, Predicate, Unary};
use rustc_hash::FxHashMap;

/// The bits of a term; a Boolean has one.
pub(crate) fn width(terms: &Terms, term: Term) -> u32 {
    match terms.sort(term) {
        Sort::Bool => 1,
        Sort::Bits(width) => width,
    }
}

/// The element of a node of `width` bits from those of its operands. Of variables and functions nothing is known.
pub(crate) fn transfer<V: Numbers>(terms: &Terms, node: Node, width: u32, of: impl Fn(Term) -> V) -> V {
    let unary = |op, a| V::unary(op, width, &of(a));
    let binary = |op, a, b| V::binary(op, width, &of(a), &of(b));
    let predicate = |predicate, a, b| V::from_truth(V::decide(predicate, terms.width(a), &of(a), &of(b)));
    match node {
        Node::Bool(value) => V::constant(1, value.into()),
        Node::Bits { value, .. } => V::constant(width, value),
        Node::Variable(_) | Node::Apply(..) => V::top(&width),
        Node::Ite(condition, a, b) => V::select(of(condition).to_truth(1), width, &of(a), &of(b)),
        Node::Not(a) | Node::BvNot(a) => unary(Unary::Not, a),
        Node::And(a, b) | Node::BvAnd(a, b) => binary(Binary::And, a, b),
        Node::Xor(a, b) | Node::BvXor(a, b) => binary(Binary::Xor, a, b),
        Node::BvOr(a, b) => binary(Binary::Or, a, b),
        Node::Add(a, b) => binary(Binary::Add, a, b),
        Node::Mul(a, b) => binary(Binary::Mul, a, b),
        Node::Udiv(a, b) => binary(Binary::UDiv, a, b),
        Node::Urem(a, b) => binary(Binary::URem, a, b),
        Node::Shl(a, b) => binary(Binary::Shl, a, b),
        Node::Lshr(a, b) => binary(Binary::LShr, a, b),
        Node::Ashr(a, b) => binary(Binary::AShr, a, b),
        Node::Concat(high, low) => V::concat(width, terms.width(low), &of(high), &of(low)),
        Node::Extract { term, low, width } => V::extract(terms.width(term), low, width, &of(term)),
        Node::SignExtend { term, width } => V::sign_extend(terms.width(term), width, &of(term)),
        Node::Eq(a, b) => predicate(Predicate::Eq, a, b),
        Node::Ult(a, b) => predicate(Predicate::ULt, a, b),
        Node::Slt(a, b) => predicate(Predicate::SLt, a, b),
        Node::UmulOverflow(a, b) => predicate(Predicate::UMulOverflow, a, b),
        Node::SmulOverflow(a, b) => predicate(Predicate::SMulOverflow, a, b),
    }
}

/// The same, with what the arena knows of the term's bits.
pub(crate) fn evaluate<V: Numbers>(terms: &Terms, term: Term, of: impl Fn(Term) -> V) -> V {
    let width = width(terms, term);
    let computed = transfer(terms, terms.node(term), width, of);
    let bits = terms.known(term);
    if bits == KnownBits::ANY { computed } else { narrowed(width, computed, &V::from_bits(width, &bits)) }
}

/// What is in both. (What contradicts a fact does not happen: then any answer is right.)
pub(crate) fn narrowed<V: Numbers>(width: u32, value: V, fact: &V) -> V {
    let both = value.meet(fact, &width);
    if both.is_bottom() { value } else { both }
}

/// A part of a condition: that a Boolean is true, or that it is false.
#[derive(Clone, Copy)]
pub(crate) struct Conjunct {
    term: Term,
    holds: bool,
}

/// Parts of a condition that we look at.
const MOST_CONJUNCTS: usize = 200;

/// What has to be true for a condition to be true.
pub(crate) fn conjuncts(terms: &Terms, condition: Term) -> Vec<Conjunct> {
    let (mut open, mut found) = (vec![condition], Vec::new());
    for _ in 0..MOST_CONJUNCTS {
        let Some(term) = open.pop() else { break };
        match terms.node(term) {
            Node::And(a, b) => open.extend([a, b]),
            Node::Bool(_) => {}
            Node::Not(term) => found.push(Conjunct { term, holds: false }),
            _ => found.push(Conjunct { term, holds: true }),
        }
    }
    found
}

impl Conjunct {
    /// What it compares, if it is a comparison.
    pub fn compared(self, terms: &Terms) -> Option<(Predicate, Term, Term)> {
        match terms.node(self.term) {
            Node::Eq(a, b) => Some((Predicate::Eq, a, b)),
            Node::Ult(a, b) => Some((Predicate::ULt, a, b)),
            Node::Slt(a, b) => Some((Predicate::SLt, a, b)),
            _ => None,
        }
    }

    /// The terms of which it says something.
    pub fn about(self, terms: &Terms) -> [Term; 2] {
        self.compared(terms).map_or([self.term, self.term], |(_, a, b)| [a, b])
    }

    /// Adds what it says about terms to what is said already.
    pub fn learn<V: Numbers>(self, terms: &Terms, mut of: impl FnMut(Term) -> V, facts: &mut FxHashMap<Term, V>) {
        let mut add = |term: Term, fact: V| {
            if fact.is_bottom() || matches!(terms.node(term), Node::Bits { .. }) {
                return;
            }
            let width = width(terms, term);
            facts.entry(term).and_modify(|old| *old = narrowed(width, *old, &fact)).or_insert(fact);
        };
        match self.compared(terms) {
            Some((predicate, a, b)) => {
                let (left, right) = V::assume(predicate, self.holds, terms.width(a), &of(a), &of(b));
                add(a, left);
                add(b, right);
            }
            None => add(self.term, V::constant(1, self.holds.into())),
        }
    }
}

/// Elements of terms. What variables are not said to be, they may be anything.
pub struct Abstraction<V> {
    variables: FxHashMap<Term, V>,
    known: FxHashMap<Term, V>,
}

impl<V> Default for Abstraction<V> {
    fn default() -> Abstraction<V> {
        Abstraction::new(FxHashMap::default())
    }
}

impl<V> Abstraction<V> {
    pub fn new(variables: FxHashMap<Term, V>) -> Abstraction<V> {
        Abstraction { variables, known: FxHashMap::default() }
    }
}

impl<V: Numbers> Abstraction<V> {
    pub fn of(&mut self, terms: &Terms, term: Term) -> V {
        let mut known = std::mem::take(&mut self.known);
        let value = self.evaluate(terms, term, &mut known, &FxHashMap::default());
        self.known = known;
        value
    }

    /// The element of a term where a condition holds.
    pub fn under(&mut self, terms: &Terms, condition: Term, term: Term) -> V {
        let mut facts = FxHashMap::default();
        for conjunct in conjuncts(terms, condition) {
            conjunct.learn(terms, |term| self.of(terms, term), &mut facts);
        }
        if facts.is_empty() {
            return self.of(terms, term);
        }
        self.evaluate(terms, term, &mut FxHashMap::default(), &facts)
    }

    fn evaluate(&self, terms: &Terms, root: Term, known: &mut FxHashMap<Term, V>, facts: &FxHashMap<Term, V>) -> V {
        let mut open = vec![root];
        while let Some(&term) = open.last() {
            if known.contains_key(&term) {
                open.pop();
                continue;
            }
            let before = open.len();
            open.extend(terms.node(term).operands().filter(|operand| !known.contains_key(operand)));
            if open.len() > before {
                continue;
            }
            open.pop();
            let computed = match self.variables.get(&term) {
                Some(given) => *given,
                None => evaluate(terms, term, |operand| known[&operand]),
            };
            let value = facts.get(&term).map_or(computed, |fact| narrowed(width(terms, term), computed, fact));
            known.insert(term, value);
        }
        known[&root]
    }
}
