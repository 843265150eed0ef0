//! Booleans and bit-vectors, simplified as they are built.
//!
//! A term is a number into an arena, [`Terms`]. Equal terms have equal numbers (they are hash-consed), and an operand's
//! number is smaller than that of the term it belongs to: ascending numbers are a topological order, and no traversal
//! needs to recurse. Every constructor simplifies before it makes a node; what it looks at is bounded, so that building
//! a term costs a small constant whatever it is built from.
//!
//! ```
//! use leno_logic::core::Answer;
//! use leno_logic::limits::Limits;
//! use leno_logic::solver::Solver;
//! use leno_logic::term::{Sort, Terms, evaluate};
//!
//! let mut terms = Terms::new();
//! let x = terms.variable(Sort::Bits(32), "x");
//! let one = terms.bits(32, 1);
//! let more = terms.add(x, one);
//! let wraps = terms.slt(more, x);
//!
//! let mut solver = Solver::default();
//! solver.assert(&terms, wraps);
//! assert_eq!(solver.solve(&[], &Limits::default()), Answer::Satisfiable);
//! assert_eq!(evaluate(&terms, x, &solver.model(&terms)).number(), 0x7FFF_FFFF);
//! ```
//!
//! Few kinds of nodes stand for many operations, so that one rule serves all of them:
//!
//! | what is asked for | what is stored |
//! |---|---|
//! | or, implies, iff, ule, sle | the complement of an and, xor, ult, slt |
//! | a - b, -a, a << k | sums in linear normal form (see `linear`) |
//! | zero extension, logical shift by a constant, contiguous masks | concatenations of zeros and an extract |
//! | arithmetic shift by a constant | a sign extension of an extract |
//! | signed division and remainder | the unsigned ones of absolute values |
//! | overflow, except of products | comparisons, sign bits |
//! | "a is negative" | the equation of its highest bit with 1 |
//!
//! For every bit-vector the arena keeps the bits that are known to be 0 or 1 (see `known`); a vector all of whose bits
//! are known is a constant.

mod apply;
mod arithmetic;
mod bitwise;
mod boolean;
mod choose;
mod compare;
mod evaluate;
mod known;
mod linear;
mod pattern;
mod slice;
mod walk;

pub use apply::{Function, FunctionId, Mismatch};
pub use evaluate::{Assignment, Evaluation, evaluate};
pub use pattern::{Filled, Pattern};
pub use walk::Substitution;

pub(crate) use leno_domains::word;

use hashbrown::HashTable;
use leno_domains::{KnownBits, Numbers};
use rustc_hash::FxBuildHasher;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::Arc;

/// The widest bit-vector.
pub const MAX_WIDTH: u32 = 128;

/// A Boolean or a bit-vector: the number of a node of [`Terms`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(u32);

impl Term {
    pub const FALSE: Term = Term(0);
    pub const TRUE: Term = Term(1);

    /// The place in the arena. Operands come before what they are operands of.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "t{}", self.0)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sort {
    Bool,
    /// A bit-vector of 1 to [`MAX_WIDTH`] bits.
    Bits(u32),
}

/// A constant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Value {
    Bool(bool),
    Bits { width: u32, value: u128 },
}

impl Value {
    /// The constant of this sort with these low bits; for Booleans, whether there are any.
    pub fn new(sort: Sort, value: u128) -> Value {
        match sort {
            Sort::Bool => Value::Bool(value != 0),
            Sort::Bits(width) => Value::Bits { width, value: value & word::mask(width) },
        }
    }

    pub fn sort(self) -> Sort {
        match self {
            Value::Bool(_) => Sort::Bool,
            Value::Bits { width, .. } => Sort::Bits(width),
        }
    }

    /// The bits as a number; 0 or 1 for a Boolean.
    pub fn number(self) -> u128 {
        match self {
            Value::Bool(value) => u128::from(value),
            Value::Bits { value, .. } => value,
        }
    }
}

/// What a term is made of. Operands of commutative operations are in ascending order, except that a constant addend
/// comes last.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    Bool(bool),
    Bits {
        width: u32,
        value: u128,
    },
    /// The index of the variable, counted from 0 in the order in which they were made.
    Variable(u32),

    Not(Term),
    And(Term, Term),
    /// Exclusive or of Booleans that are not negations.
    Xor(Term, Term),
    /// If the Boolean then the second else the third, which have the same sort.
    Ite(Term, Term, Term),

    /// Equality of bit-vectors. A constant comes second.
    Eq(Term, Term),
    Ult(Term, Term),
    Slt(Term, Term),
    /// Whether the unsigned product needs more bits than its operands have.
    UmulOverflow(Term, Term),
    SmulOverflow(Term, Term),

    BvNot(Term),
    BvAnd(Term, Term),
    BvOr(Term, Term),
    BvXor(Term, Term),
    /// A sum: the spine of first operands is a linear normal form.
    Add(Term, Term),
    /// A product. A constant factor comes first.
    Mul(Term, Term),
    /// All ones if the divisor is 0.
    Udiv(Term, Term),
    /// The dividend if the divisor is 0.
    Urem(Term, Term),
    Shl(Term, Term),
    Lshr(Term, Term),
    Ashr(Term, Term),
    /// The high part and the low part. The high part is not itself a concatenation.
    Concat(Term, Term),
    Extract {
        term: Term,
        low: u32,
        width: u32,
    },
    SignExtend {
        term: Term,
        width: u32,
    },
    /// A function of vectors that only its [`Function::compute`] knows.
    Apply(FunctionId, [Option<Term>; 3]),
}

impl Node {
    /// What the node is applied to.
    pub fn operands(self) -> impl Iterator<Item = Term> {
        let all = match self {
            Node::Bool(_) | Node::Bits { .. } | Node::Variable(_) => [None, None, None],
            Node::Not(a) | Node::BvNot(a) => [Some(a), None, None],
            Node::Extract { term, .. } | Node::SignExtend { term, .. } => [Some(term), None, None],
            Node::Ite(a, b, c) => [Some(a), Some(b), Some(c)],
            Node::Apply(_, arguments) => arguments,
            Node::And(a, b)
            | Node::Xor(a, b)
            | Node::Eq(a, b)
            | Node::Ult(a, b)
            | Node::Slt(a, b)
            | Node::UmulOverflow(a, b)
            | Node::SmulOverflow(a, b)
            | Node::BvAnd(a, b)
            | Node::BvOr(a, b)
            | Node::BvXor(a, b)
            | Node::Add(a, b)
            | Node::Mul(a, b)
            | Node::Udiv(a, b)
            | Node::Urem(a, b)
            | Node::Shl(a, b)
            | Node::Lshr(a, b)
            | Node::Ashr(a, b)
            | Node::Concat(a, b) => [Some(a), Some(b), None],
        };
        all.into_iter().flatten()
    }
}

/// The arena of terms.
#[derive(Clone, Default)]
pub struct Terms {
    nodes: Vec<Node>,
    /// 0 for Booleans.
    widths: Vec<u8>,
    known: Vec<KnownBits>,
    table: HashTable<u32>,
    variables: Vec<(Term, String)>,
    functions: Vec<Arc<dyn Function>>,
}

impl Terms {
    pub fn new() -> Terms {
        let mut terms = Terms::default();
        for value in [false, true] {
            terms.intern(Node::Bool(value));
        }
        terms
    }

    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never: the two Boolean constants are always there.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn bool(&self, value: bool) -> Term {
        if value { Term::TRUE } else { Term::FALSE }
    }

    /// The bit-vector constant with the `width` low bits of `value`.
    pub fn bits(&mut self, width: u32, value: u128) -> Term {
        assert!((1..=MAX_WIDTH).contains(&width), "bit-vectors have 1 to 128 bits, not {width}");
        self.intern(Node::Bits { width, value: value & word::mask(width) })
    }

    pub fn constant(&mut self, value: Value) -> Term {
        match value {
            Value::Bool(value) => self.bool(value),
            Value::Bits { width, value } => self.bits(width, value),
        }
    }

    /// A new variable, different from all others whatever their names.
    pub fn variable(&mut self, sort: Sort, name: impl Into<String>) -> Term {
        let width = match sort {
            Sort::Bool => 0,
            Sort::Bits(width) => width,
        };
        assert!(width <= MAX_WIDTH && sort != Sort::Bits(0), "bit-vectors have 1 to 128 bits, not {width}");
        let node = Node::Variable(self.variables.len() as u32);
        let term = self.push(node, width as u8, KnownBits::ANY);
        self.variables.push((term, name.into()));
        term
    }

    /// All variables, in the order in which they were made.
    pub fn variables(&self) -> impl ExactSizeIterator<Item = Term> {
        self.variables.iter().map(|&(term, _)| term)
    }

    /// The name that a variable was given; `None` if `term` is not a variable.
    pub fn name(&self, term: Term) -> Option<&str> {
        match self.node(term) {
            Node::Variable(index) => Some(&self.variables[index as usize].1),
            _ => None,
        }
    }

    pub fn node(&self, term: Term) -> Node {
        self.nodes[term.index()]
    }

    pub fn sort(&self, term: Term) -> Sort {
        match self.widths[term.index()] {
            0 => Sort::Bool,
            width => Sort::Bits(u32::from(width)),
        }
    }

    /// How many bits the bit-vector has; 0 for a Boolean.
    pub fn width(&self, term: Term) -> u32 {
        u32::from(self.widths[term.index()])
    }

    /// Which bits are the same in all models.
    pub fn known(&self, term: Term) -> KnownBits {
        self.known[term.index()]
    }

    pub fn as_constant(&self, term: Term) -> Option<Value> {
        match self.node(term) {
            Node::Bool(value) => Some(Value::Bool(value)),
            Node::Bits { width, value } => Some(Value::Bits { width, value }),
            _ => None,
        }
    }

    /// The value of a Boolean constant.
    pub fn as_bool(&self, term: Term) -> Option<bool> {
        match self.node(term) {
            Node::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The value of a bit-vector constant.
    pub fn as_bits(&self, term: Term) -> Option<u128> {
        match self.node(term) {
            Node::Bits { value, .. } => Some(value),
            _ => None,
        }
    }

    /// The term with this node, which has been simplified already.
    fn intern(&mut self, node: Node) -> Term {
        let hash = FxBuildHasher.hash_one(node);
        if let Some(&found) = self.table.find(hash, |&index| self.nodes[index as usize] == node) {
            return Term(found);
        }
        let width = self.width_of(node);
        let known = self.known_of(node, width);
        if let (Some(value), false) = (known.as_constant(width), matches!(node, Node::Bits { .. })) {
            return self.bits(width, value);
        }
        let term = self.push(node, width as u8, known);
        let nodes = &self.nodes;
        self.table.insert_unique(hash, term.0, |&index| FxBuildHasher.hash_one(nodes[index as usize]));
        term
    }

    fn push(&mut self, node: Node, width: u8, known: KnownBits) -> Term {
        let index = u32::try_from(self.nodes.len()).expect("fewer than 2^32 terms");
        self.nodes.push(node);
        self.widths.push(width);
        self.known.push(known);
        Term(index)
    }

    fn width_of(&self, node: Node) -> u32 {
        match node {
            Node::Bits { width, .. } | Node::Extract { width, .. } | Node::SignExtend { width, .. } => width,
            Node::Concat(high, low) => self.width(high) + self.width(low),
            Node::Apply(function, _) => self.function_of(function).width(),
            Node::Ite(_, a, _) | Node::BvNot(a) => self.width(a),
            Node::BvAnd(a, _) | Node::BvOr(a, _) | Node::BvXor(a, _) => self.width(a),
            Node::Add(a, _) | Node::Mul(a, _) | Node::Udiv(a, _) | Node::Urem(a, _) => self.width(a),
            Node::Shl(a, _) | Node::Lshr(a, _) | Node::Ashr(a, _) => self.width(a),
            Node::Bool(_) | Node::Variable(_) | Node::Not(_) | Node::And(..) | Node::Xor(..) => 0,
            Node::Eq(..) | Node::Ult(..) | Node::Slt(..) | Node::UmulOverflow(..) | Node::SmulOverflow(..) => 0,
        }
    }

    /// The width that both have, which must be the same.
    fn common_width(&self, a: Term, b: Term) -> u32 {
        let (left, right) = (self.width(a), self.width(b));
        assert!(left == right && left > 0, "operands are bit-vectors of one width, not {left} and {right}");
        left
    }

    fn expect_bool(&self, term: Term) {
        assert!(self.sort(term) == Sort::Bool, "a Boolean is expected, not {:?}", self.sort(term));
    }

    fn expect_bits(&self, term: Term) -> u32 {
        assert!(self.sort(term) != Sort::Bool, "a bit-vector is expected, not a Boolean");
        self.width(term)
    }
}

/// Both in ascending order: the canonical form of commutative operations.
fn ordered(a: Term, b: Term) -> (Term, Term) {
    if a <= b { (a, b) } else { (b, a) }
}
