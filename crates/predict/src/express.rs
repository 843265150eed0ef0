//! Values: what they were in the recorded run, and what they could be in another one.
//!
//! A value carries the bits of the recorded run, and a term if it depends on something that another order of events could change.
//! Most values do not, and cost nothing. Where no term can say what is computed (floating point), the operands are *pinned*:
//! only runs in which they are what they were count from here on.

use leno_ir::interp::operate;
use leno_ir::program::{BinaryOp, CastOp, DataModel, Expr, Type, UnaryOp};
use leno_logic::term::{Term, Terms};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Val {
    /// In the recorded run.
    pub bits: u128,
    /// None: the same in every run that gets here.
    pub term: Option<Term>,
}

impl Val {
    pub fn fixed(bits: u128) -> Val {
        Val { bits, term: None }
    }

    /// A value whose term may have turned out to be a constant.
    pub fn new(terms: &Terms, bits: u128, term: Term) -> Val {
        Val { bits, term: terms.as_constant(term).is_none().then_some(term) }
    }

    pub fn term(self, terms: &mut Terms, width: u32) -> Term {
        self.term.unwrap_or_else(|| terms.bits(width, self.bits))
    }

    /// The condition that it is what it was.
    pub fn pinned(self, terms: &mut Terms) -> Option<Term> {
        let term = self.term?;
        let width = terms.width(term);
        let was = terms.bits(width, self.bits);
        Some(terms.eq(term, was))
    }

    /// Whether it is not zero, as a Boolean.
    pub fn truth(self, terms: &mut Terms) -> Option<Term> {
        let term = self.term?;
        let width = terms.width(term);
        let zero = terms.bits(width, 0);
        let is_zero = terms.eq(term, zero);
        Some(terms.not(is_zero))
    }

    /// The low bits, or zeros above.
    pub fn fit(self, terms: &mut Terms, from: u32, to: u32) -> Val {
        let bits = self.bits & ones(to);
        let Some(term) = self.term else { return Val::fixed(bits) };
        let term = match from.cmp(&to) {
            std::cmp::Ordering::Less => terms.zero_extend(term, to),
            std::cmp::Ordering::Equal => term,
            std::cmp::Ordering::Greater => terms.extract(term, 0, to),
        };
        Val::new(terms, bits, term)
    }
}

pub fn ones(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// Where the leaves of expressions come from.
pub trait Leaves {
    fn leaf(&self, expr: &Expr) -> Val;
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

    pub fn value(&mut self, leaves: &dyn Leaves, expr: &Expr) -> Val {
        match expr {
            Expr::Const { bits, .. } => Val::fixed(*bits),
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
                Val::new(self.terms, taken.bits, term)
            }
            leaf => leaves.leaf(leaf),
        }
    }

    fn pin(&mut self, value: Val) {
        self.pins.extend(value.pinned(self.terms));
    }

    fn unary(&mut self, op: UnaryOp, ty: Type, value: Val) -> Val {
        let bits = operate::unary(self.model, op, ty, value.bits);
        let Some(term) = value.term else { return Val::fixed(bits) };
        let term = match op {
            UnaryOp::Neg => self.terms.neg(term),
            UnaryOp::Not => self.terms.bvnot(term),
            UnaryOp::FNeg | UnaryOp::FAbs | UnaryOp::FSqrt => {
                self.pin(value);
                return Val::fixed(bits);
            }
        };
        Val::new(self.terms, bits, term)
    }

    pub fn binary(&mut self, op: BinaryOp, ty: Type, left: Val, right: Val) -> Val {
        let bits = operate::binary(self.model, op, ty, left.bits, right.bits);
        if left.term.is_none() && right.term.is_none() {
            return Val::fixed(bits);
        }
        if matches!(ty, Type::Float(_)) {
            self.pin(left);
            self.pin(right);
            return Val::fixed(bits);
        }
        let width = self.width(ty);
        let (a, b) = (left.term(self.terms, width), right.term(self.terms, width));
        let term = binary(self.terms, op, a, b);
        Val::new(self.terms, bits, term)
    }

    fn cast(&mut self, op: CastOp, from: Type, to: Type, value: Val) -> Val {
        let bits = operate::cast(self.model, op, from, to, value.bits);
        let Some(term) = value.term else { return Val::fixed(bits) };
        let width = self.width(to);
        let term = match op {
            CastOp::Truncate => self.terms.extract(term, 0, width),
            CastOp::ZeroExtend => self.terms.zero_extend(term, width),
            CastOp::SignExtend => self.terms.sign_extend(term, width),
            CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Bitcast => term,
            _ => {
                self.pin(value);
                return Val::fixed(bits);
            }
        };
        Val::new(self.terms, bits, term)
    }
}

fn binary(terms: &mut Terms, op: BinaryOp, a: Term, b: Term) -> Term {
    use BinaryOp::*;
    let width = terms.width(a);
    // A shift counts modulo the width.
    let modulo = |terms: &mut Terms| {
        let number = terms.bits(width, width.into());
        terms.urem(b, number)
    };
    let truth = match op {
        Add | PtrAdd => return terms.add(a, b),
        Sub | PtrDiff => return terms.sub(a, b),
        Mul => return terms.mul(a, b),
        UDiv => return terms.udiv(a, b),
        SDiv => return terms.sdiv(a, b),
        URem => return terms.urem(a, b),
        SRem => return terms.srem(a, b),
        And => return terms.bvand(a, b),
        Or => return terms.bvor(a, b),
        Xor => return terms.bvxor(a, b),
        Shl => {
            let amount = modulo(terms);
            return terms.shl(a, amount);
        }
        LShr => {
            let amount = modulo(terms);
            return terms.lshr(a, amount);
        }
        AShr => {
            let amount = modulo(terms);
            return terms.ashr(a, amount);
        }
        Eq => terms.eq(a, b),
        Ne => {
            let same = terms.eq(a, b);
            terms.not(same)
        }
        ULt => terms.ult(a, b),
        ULe => terms.ule(a, b),
        SLt => terms.slt(a, b),
        SLe => terms.sle(a, b),
        SAddOverflow => terms.sadd_overflow(a, b),
        SSubOverflow => terms.ssub_overflow(a, b),
        SMulOverflow => terms.smul_overflow(a, b),
        UAddOverflow => terms.uadd_overflow(a, b),
        USubOverflow => terms.usub_overflow(a, b),
        UMulOverflow => terms.umul_overflow(a, b),
        // Pinned before.
        FAdd | FSub | FMul | FDiv | FEq | FNe | FLt | FLe => return a,
    };
    terms.bool_to_bits(truth, 1)
}
