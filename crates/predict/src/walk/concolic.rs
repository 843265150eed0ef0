//! Concolic values: the bits of the recorded run, and a term for the other reorderings.
//!
//! A value has a term if it depends on a read that may return another value in another order of events. Most values do
//! not, and cost nothing. Where no term can say what is computed (sums and products of floats), the operands are *pinned*: from
//! there on only reorderings count in which they have their recorded values.

use leno_ir::interp::operate;
use leno_ir::program::{BinaryOp, CastOp, DataModel, Expr, FloatKind, RmwOp, Type, UnaryOp};
use leno_logic::term::{Term, Terms};
use leno_symbolic::operators;
use leno_symbolic::update::modified;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ConcolicValue {
    /// In the recorded run.
    pub bits: u128,
    /// None: the same in every reordering that gets here.
    pub term: Option<Term>,
}

impl ConcolicValue {
    pub fn fixed(bits: u128) -> ConcolicValue {
        ConcolicValue { bits, term: None }
    }

    /// A value whose term may have turned out to be a constant.
    pub fn new(terms: &Terms, bits: u128, term: Term) -> ConcolicValue {
        ConcolicValue { bits, term: terms.as_constant(term).is_none().then_some(term) }
    }

    pub fn term(self, terms: &mut Terms, width: u32) -> Term {
        self.term.unwrap_or_else(|| terms.bits(width, self.bits))
    }

    /// The condition that it has its recorded value; None if it always has.
    pub fn pinned(self, terms: &mut Terms) -> Option<Term> {
        let term = self.term?;
        let width = terms.width(term);
        let was = terms.bits(width, self.bits);
        Some(terms.eq(term, was))
    }

    /// Whether it is not zero, as a Boolean; None if that is the same in every reordering.
    pub fn truth(self, terms: &mut Terms) -> Option<Term> {
        let term = self.term?;
        let width = terms.width(term);
        let zero = terms.bits(width, 0);
        let is_zero = terms.eq(term, zero);
        Some(terms.not(is_zero))
    }

    /// The low bits, or zeros above.
    pub fn fit(self, terms: &mut Terms, from: u32, to: u32) -> ConcolicValue {
        let bits = self.bits & ones(to);
        let Some(term) = self.term else { return ConcolicValue::fixed(bits) };
        let term = if from == to { term } else { operators::fit(terms, term, to) };
        ConcolicValue::new(terms, bits, term)
    }
}

pub fn ones(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// A float that has terms for comparisons and conversions.
fn is_small_float(ty: Type) -> bool {
    matches!(ty, Type::Float(FloatKind::F32 | FloatKind::F64))
}

fn compares_floats(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::FEq | BinaryOp::FNe | BinaryOp::FLt | BinaryOp::FLe)
}

/// Whether a conversion that has to do with floats is a term.
fn is_exact_cast(op: CastOp, from: Type, to: Type) -> bool {
    match op {
        CastOp::UIntToFloat | CastOp::SIntToFloat => is_small_float(to) && matches!(from, Type::Int(0..=64)),
        CastOp::FloatToUInt | CastOp::FloatToSInt => is_small_float(from) && matches!(to, Type::Int(0..=64)),
        CastOp::FloatToFloat => from == Type::Float(FloatKind::F32) && to == Type::Float(FloatKind::F64),
        _ => false,
    }
}

/// Where the leaves of expressions come from.
pub trait Leaves {
    fn leaf(&self, expr: &Expr) -> ConcolicValue;
    fn ty(&self, expr: &Expr) -> Type;
}

/// Computes expressions.
pub struct Evaluator<'a> {
    pub terms: &'a mut Terms,
    pub model: DataModel,
    /// What has to hold for the result to be right.
    pub pins: Vec<Term>,
}

impl Evaluator<'_> {
    fn width(&self, ty: Type) -> u32 {
        u32::from(ty.bits(self.model))
    }

    pub fn value(&mut self, leaves: &dyn Leaves, expr: &Expr) -> ConcolicValue {
        match expr {
            Expr::Const { bits, .. } => ConcolicValue::fixed(*bits),
            Expr::Unary(op, operand) => {
                let ty = leaves.ty(operand);
                let value = self.value(leaves, operand);
                self.unary(*op, ty, value)
            }
            Expr::Binary(op, operands) => {
                let ty = leaves.ty(&operands[0]);
                let (left, right) = (self.value(leaves, &operands[0]), self.value(leaves, &operands[1]));
                self.binary(*op, ty, left, right)
            }
            Expr::Cast(op, to, operand) => {
                let from = leaves.ty(operand);
                let value = self.value(leaves, operand);
                self.cast(*op, from, *to, value)
            }
            Expr::Select(parts) => {
                let condition = self.value(leaves, &parts[0]);
                let (then, otherwise) = (self.value(leaves, &parts[1]), self.value(leaves, &parts[2]));
                let taken = if condition.bits != 0 { then } else { otherwise };
                let Some(truth) = condition.truth(self.terms) else { return taken };
                let width = self.width(leaves.ty(&parts[1]));
                let (then, otherwise) = (then.term(self.terms, width), otherwise.term(self.terms, width));
                let term = self.terms.ite(truth, then, otherwise);
                ConcolicValue::new(self.terms, taken.bits, term)
            }
            leaf => leaves.leaf(leaf),
        }
    }

    fn pin(&mut self, value: ConcolicValue) {
        self.pins.extend(value.pinned(self.terms));
    }

    fn unary(&mut self, op: UnaryOp, ty: Type, value: ConcolicValue) -> ConcolicValue {
        let bits = operate::unary(self.model, op, ty, value.bits);
        let Some(term) = value.term else { return ConcolicValue::fixed(bits) };
        if matches!(ty, Type::Float(_)) && !(is_small_float(ty) && matches!(op, UnaryOp::FNeg | UnaryOp::FAbs)) {
            self.pin(value);
            return ConcolicValue::fixed(bits);
        }
        let term = operators::unary(self.terms, self.model, op, term);
        ConcolicValue::new(self.terms, bits, term)
    }

    pub fn binary(&mut self, op: BinaryOp, ty: Type, left: ConcolicValue, right: ConcolicValue) -> ConcolicValue {
        let bits = operate::binary(self.model, op, ty, left.bits, right.bits);
        if left.term.is_none() && right.term.is_none() {
            return ConcolicValue::fixed(bits);
        }
        if matches!(ty, Type::Float(_)) && !(is_small_float(ty) && compares_floats(op)) {
            self.pin(left);
            self.pin(right);
            return ConcolicValue::fixed(bits);
        }
        let width = self.width(ty);
        let (a, b) = (left.term(self.terms, width), right.term(self.terms, width));
        let term = operators::binary(self.terms, self.model, op, a, b);
        ConcolicValue::new(self.terms, bits, term)
    }

    fn cast(&mut self, op: CastOp, from: Type, to: Type, value: ConcolicValue) -> ConcolicValue {
        let bits = operate::cast(self.model, op, from, to, value.bits);
        let Some(term) = value.term else { return ConcolicValue::fixed(bits) };
        if operators::is_float_cast(op) && !is_exact_cast(op, from, to) {
            self.pin(value);
            return ConcolicValue::fixed(bits);
        }
        let term = operators::cast(self.terms, self.model, op, to, term);
        ConcolicValue::new(self.terms, bits, term)
    }

    /// What a read-modify-write of a place of this type leaves there.
    pub fn modified(&mut self, op: RmwOp, ty: Type, old: ConcolicValue, operand: ConcolicValue) -> ConcolicValue {
        let width = self.width(ty);
        let [a, b] = [old, operand].map(|value| self.terms.bits(width, value.bits));
        let recorded = modified(self.terms, op, a, b);
        let bits = self.terms.as_bits(recorded).unwrap_or(0);
        if old.term.is_none() && operand.term.is_none() {
            return ConcolicValue::fixed(bits);
        }
        let (a, b) = (old.term(self.terms, width), operand.term(self.terms, width));
        let term = modified(self.terms, op, a, b);
        ConcolicValue::new(self.terms, bits, term)
    }
}
