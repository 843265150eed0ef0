//! Indivisible updates of one place in memory: read-modify-write and compare-exchange.
//!
//! An update is a function from what the place held to whether and what is written. The engine reads, and writes, in
//! one step.

use leno_ir::program::RmwOp;
use leno_logic::term::{Term, Terms};

/// What is written, where the condition holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write {
    pub condition: Term,
    pub value: Term,
}

impl Write {
    pub fn always(value: Term) -> Write {
        Write { condition: Term::TRUE, value }
    }

    pub fn when(condition: Term, value: Term) -> Write {
        Write { condition, value }
    }

    /// Nothing is written. (The value says how wide the place is.)
    pub fn never(value: Term) -> Write {
        Write { condition: Term::FALSE, value }
    }
}

/// An update of one place, whose operands are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Update {
    ReadModifyWrite {
        op: RmwOp,
        operand: Term,
    },
    /// `fails`: that it fails although it found what it expects.
    CompareExchange {
        expected: Term,
        desired: Term,
        fails: Term,
    },
}

impl Update {
    /// What is written over `old`.
    pub fn apply(self, terms: &mut Terms, old: Term) -> Write {
        match self {
            Update::ReadModifyWrite { op, operand } => Write::always(modified(terms, op, old, operand)),
            Update::CompareExchange { expected, desired, fails } => {
                let (same, goes_on) = (terms.eq(old, expected), terms.not(fails));
                Write::when(terms.and2(same, goes_on), desired)
            }
        }
    }
}

/// What a read-modify-write leaves behind.
pub fn modified(terms: &mut Terms, op: RmwOp, old: Term, operand: Term) -> Term {
    match op {
        RmwOp::Exchange => operand,
        RmwOp::Add => terms.add(old, operand),
        RmwOp::Sub => terms.sub(old, operand),
        RmwOp::And => terms.bvand(old, operand),
        RmwOp::Or => terms.bvor(old, operand),
        RmwOp::Xor => terms.bvxor(old, operand),
        RmwOp::Nand => {
            let both = terms.bvand(old, operand);
            terms.bvnot(both)
        }
    }
}
