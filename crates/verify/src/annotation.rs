//! What is claimed of a program: for each stop, which states a thread may be in there, and which stops two threads may be
//! at together.
//!
//! A [`State`] is a conjunction of [`Fact`]s about one thread's registers and the cells of memory as that thread sees them; a
//! stop has any number of states, and a thread that is there is in one of them. No state: the stop is never reached. Nothing
//! here is believed: `conditions` says what has to be shown of it.

use crate::cells::CellId;
use crate::code::{FrameId, StopId};
use leno_ir::index::{Idx, IndexVec};
use leno_ir::program::{Expr, LocalId};
use std::collections::BTreeSet;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Variable {
    Register(FrameId, LocalId),
    Cell(CellId),
}

/// What a variable equals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Definition<'p> {
    /// An expression of the program, over the registers of a frame.
    Expr(FrameId, &'p Expr),
    Same(Variable),
}

/// A variable or its negation, as a number of mathematics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Side {
    pub variable: Variable,
    pub is_negated: bool,
}

/// One thing that is said of the variables of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fact<'p> {
    Is(Variable, u128),
    /// Between two numbers, as an unsigned number.
    Unsigned(Variable, u128, u128),
    /// Between two numbers, as a signed number.
    Signed(Variable, i128, i128),
    /// These bits of it are these.
    Bits(Variable, u128, u128),
    /// Divided by the first (as a signed number), it leaves the second, or that less the first.
    Remainder(Variable, u128, u128),
    Equal(Variable, Definition<'p>),
    /// The sum of two sides is at most a number.
    Sum {
        left: Side,
        right: Side,
        most: i128,
        is_signed: bool,
    },
}

impl Fact<'_> {
    pub fn for_each_variable(&self, mut visit: impl FnMut(Variable)) {
        match self {
            Fact::Is(variable, _)
            | Fact::Unsigned(variable, ..)
            | Fact::Signed(variable, ..)
            | Fact::Bits(variable, ..)
            | Fact::Remainder(variable, ..) => visit(*variable),
            Fact::Equal(variable, definition) => {
                visit(*variable);
                match definition {
                    Definition::Same(other) => visit(*other),
                    Definition::Expr(frame, expr) => {
                        expr.for_each_local(|local| visit(Variable::Register(*frame, local)));
                    }
                }
            }
            Fact::Sum { left, right, .. } => {
                visit(left.variable);
                visit(right.variable);
            }
        }
    }
}

/// What is known of a thread at a stop.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct State<'p> {
    /// The cells that the thread may have changed where no other thread can look: what is said of them is about its own
    /// values, and others still see the ones before.
    pub dirty: BTreeSet<CellId>,
    pub facts: Vec<Fact<'p>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Annotation<'p> {
    pub states: IndexVec<StopId, Vec<State<'p>>>,
    pub pairs: Coreachable,
}

/// A symmetric relation between stops: two threads may be at them at the same time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coreachable {
    words: usize,
    rows: Vec<u64>,
    stops: usize,
}

impl Coreachable {
    pub fn none(stops: usize) -> Coreachable {
        let words = stops.div_ceil(64);
        Coreachable { words, rows: vec![0; words * stops], stops }
    }

    pub fn contains(&self, a: StopId, b: StopId) -> bool {
        self.rows[a.index() * self.words + b.index() / 64] >> (b.index() % 64) & 1 == 1
    }

    pub fn insert(&mut self, a: StopId, b: StopId) -> bool {
        let is_new = !self.contains(a, b);
        self.rows[a.index() * self.words + b.index() / 64] |= 1 << (b.index() % 64);
        self.rows[b.index() * self.words + a.index() / 64] |= 1 << (a.index() % 64);
        is_new
    }

    /// The stops at which another thread may be.
    pub fn with(&self, stop: StopId) -> impl Iterator<Item = StopId> + '_ {
        (0..self.stops).map(StopId::new).filter(move |other| self.contains(stop, *other))
    }

    /// How many pairs there are, in either order.
    pub fn count(&self) -> usize {
        self.rows.iter().map(|word| word.count_ones() as usize).sum()
    }
}
