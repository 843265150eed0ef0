//! The meaning of terms, computed.
//!
//! Models are checked with this. It shares nothing with the simplifier, the circuits or the constants that they fold:
//! each operation is written down once more, as plainly as possible.

use super::{Node, Sort, Term, Terms, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Values of variables. Those that have none are 0, or false.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Assignment {
    values: Vec<u128>,
    /// Values of applications, which need not be right.
    applications: FxHashMap<Term, u128>,
}

impl Assignment {
    pub fn new() -> Assignment {
        Assignment::default()
    }

    /// Gives a variable a value: its bits, or 0 and 1 for a Boolean; or an application of a function, whose value is
    /// computed otherwise. Other terms are ignored.
    pub fn set(&mut self, terms: &Terms, variable: Term, value: u128) {
        let value = Value::new(terms.sort(variable), value).number();
        match terms.node(variable) {
            Node::Variable(index) => {
                let index = index as usize;
                if self.values.len() <= index {
                    self.values.resize(index + 1, 0);
                }
                self.values[index] = value;
            }
            Node::Apply(..) => _ = self.applications.insert(variable, value),
            _ => {}
        }
    }

    /// The same values of variables; applications have those that they should have.
    pub fn without_applications(&self) -> Assignment {
        Assignment { values: self.values.clone(), applications: FxHashMap::default() }
    }

    fn of(&self, index: u32) -> u128 {
        self.values.get(index as usize).copied().unwrap_or(0)
    }
}

/// The value of a term under an assignment.
pub fn evaluate(terms: &Terms, term: Term, assignment: &Assignment) -> Value {
    Evaluation::new(terms, assignment).value(term)
}

/// The values of many terms under one assignment; each is computed once.
pub struct Evaluation<'a> {
    terms: &'a Terms,
    assignment: &'a Assignment,
    done: FxHashMap<Term, u128>,
    /// Variables that have the values of terms: from which bit on, and of which term.
    copies: FxHashMap<Term, Vec<(u32, Term)>>,
    /// Those whose terms are being computed.
    open: FxHashSet<Term>,
}

impl<'a> Evaluation<'a> {
    pub fn new(terms: &'a Terms, assignment: &'a Assignment) -> Evaluation<'a> {
        Evaluation {
            terms,
            assignment,
            done: FxHashMap::default(),
            copies: FxHashMap::default(),
            open: FxHashSet::default(),
        }
    }

    pub fn value(&mut self, root: Term) -> Value {
        let mut waiting = vec![root];
        while let Some(&term) = waiting.last() {
            if self.done.contains_key(&term) {
                waiting.pop();
                continue;
            }
            let before = waiting.len();
            match self.copies.get(&term) {
                // (A variable that its own copy depends on keeps its value there.)
                Some(copied) if self.open.insert(term) => waiting.extend(copied.iter().map(|(_, of)| *of)),
                Some(_) => {}
                None => {
                    let operands = self.terms.node(term).operands();
                    waiting.extend(operands.filter(|operand| !self.done.contains_key(operand)));
                }
            }
            if waiting.len() == before {
                let mut value = self.apply(term);
                for &(low, of) in self.copies.get(&term).into_iter().flatten() {
                    if let Some(part) = self.done.get(&of) {
                        let mask = Value::new(self.terms.sort(of), u128::MAX).number() << low;
                        value = value & !mask | part << low;
                    }
                }
                self.done.insert(term, value);
                waiting.pop();
            }
        }
        Value::new(self.terms.sort(root), self.done[&root])
    }

    /// Takes a variable, or a piece of one, to have the value of a term, whatever its own is.
    pub fn copy(&mut self, copy: Term, of: Term) {
        let (variable, low) = match self.terms.node(copy) {
            Node::Extract { term, low, .. } => (term, low),
            _ => (copy, 0),
        };
        if let Node::Variable(_) = self.terms.node(variable) {
            self.copies.entry(variable).or_default().push((low, of));
        }
    }

    /// Takes a term to have a value.
    pub fn assume(&mut self, term: Term, value: u128) {
        self.done.insert(term, value);
    }

    /// Whether a Boolean holds.
    pub fn holds(&mut self, term: Term) -> bool {
        self.value(term) == Value::Bool(true)
    }

    /// The value of a term whose operands have values.
    fn apply(&self, term: Term) -> u128 {
        let of = |operand: Term| self.done[&operand];
        let vector = |operand: Term| Vector { width: self.terms.width(operand), value: self.done[&operand] };
        let bits = match self.terms.node(term) {
            Node::Bool(value) => u128::from(value),
            Node::Bits { value, .. } => value,
            Node::Variable(index) => self.assignment.of(index),
            Node::Not(a) => 1 - of(a),
            Node::And(a, b) => of(a) * of(b),
            Node::Xor(a, b) => u128::from(of(a) != of(b)),
            Node::Ite(c, a, b) => [of(b), of(a)][of(c) as usize],
            Node::Eq(a, b) => u128::from(of(a) == of(b)),
            Node::Ult(a, b) => u128::from(of(a) < of(b)),
            Node::Slt(a, b) => u128::from(vector(a).signed() < vector(b).signed()),
            Node::UmulOverflow(a, b) => u128::from(vector(a).product_overflows(vector(b))),
            Node::SmulOverflow(a, b) => u128::from(vector(a).signed_product_overflows(vector(b))),
            Node::BvNot(a) => !of(a),
            Node::BvAnd(a, b) => of(a) & of(b),
            Node::BvOr(a, b) => of(a) | of(b),
            Node::BvXor(a, b) => of(a) ^ of(b),
            Node::Add(a, b) => of(a).wrapping_add(of(b)),
            Node::Mul(a, b) => of(a).wrapping_mul(of(b)),
            Node::Udiv(_, b) if of(b) == 0 => u128::MAX,
            Node::Udiv(a, b) => of(a) / of(b),
            Node::Urem(a, b) if of(b) == 0 => of(a),
            Node::Urem(a, b) => of(a) % of(b),
            Node::Shl(a, b) => vector(a).shifted(of(b), |value, amount| (value as u128) << amount, 0),
            Node::Lshr(a, b) if of(b) >= u128::from(vector(a).width) => 0,
            Node::Lshr(a, b) => of(a) >> of(b),
            Node::Ashr(a, b) => {
                let fill = if vector(a).signed() < 0 { u128::MAX } else { 0 };
                vector(a).shifted(of(b), |value, amount| (value >> amount) as u128, fill)
            }
            Node::Concat(high, low) => of(high) << vector(low).width | of(low),
            Node::Extract { term, low, .. } => of(term) >> low,
            Node::SignExtend { term, .. } => vector(term).signed() as u128,
            Node::Apply(function, arguments) => match self.assignment.applications.get(&term) {
                Some(&value) => value,
                None => {
                    let arguments: Vec<u128> = arguments.into_iter().flatten().map(of).collect();
                    self.terms.function_of(function).compute(&arguments)
                }
            },
        };
        match self.terms.sort(term) {
            Sort::Bits(width) if width < 128 => bits & ((1 << width) - 1),
            _ => bits,
        }
    }
}

#[derive(Clone, Copy)]
struct Vector {
    width: u32,
    value: u128,
}

impl Vector {
    /// Two's complement.
    fn signed(self) -> i128 {
        let negative = self.value >> (self.width - 1) & 1 == 1;
        let value = self.value as i128;
        if negative && self.width < 128 { value.wrapping_sub(1 << self.width) } else { value }
    }

    fn shifted(self, amount: u128, shift: impl Fn(i128, u32) -> u128, far: u128) -> u128 {
        if amount >= u128::from(self.width) { far } else { shift(self.signed(), amount as u32) }
    }

    fn product_overflows(self, other: Vector) -> bool {
        match self.value.checked_mul(other.value) {
            Some(product) => self.width < 128 && product >> self.width != 0,
            None => true,
        }
    }

    fn signed_product_overflows(self, other: Vector) -> bool {
        match self.signed().checked_mul(other.signed()) {
            Some(product) => {
                let beyond = 128 - self.width;
                product << beyond >> beyond != product
            }
            None => true,
        }
    }
}
