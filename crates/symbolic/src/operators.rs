//! Operators and casts of the representation, as terms.
//!
//! Every value is a bit-vector of its type's width, also `i1`. Shift amounts count modulo the width, and division by
//! zero is SMT-LIB's, as on the semantics page. Operators on floats are in [`crate::floats`].

use crate::floats::Floats;
use leno_ir::program::{BinaryOp, CastOp, DataModel, Type, UnaryOp};
use leno_logic::term::{Term, Terms};
use std::cmp::Ordering;

/// How many bits a value of a type has.
pub fn width(model: DataModel, ty: Type) -> u32 {
    u32::from(ty.bits(model))
}

/// A constant of pointer width.
pub fn pointer(terms: &mut Terms, model: DataModel, address: u64) -> Term {
    terms.bits(u32::from(model.pointer_bits()), address.into())
}

/// The low `width` bits, or zeros above: how values are fitted to parameters, registers and memory.
pub fn fit(terms: &mut Terms, value: Term, width: u32) -> Term {
    match terms.width(value).cmp(&width) {
        Ordering::Less => terms.zero_extend(value, width),
        Ordering::Equal => value,
        Ordering::Greater => terms.extract(value, 0, width),
    }
}

pub fn unary(terms: &mut Terms, model: DataModel, op: UnaryOp, value: Term) -> Term {
    match op {
        UnaryOp::Neg => terms.neg(value),
        UnaryOp::Not => terms.bvnot(value),
        UnaryOp::FNeg => Floats { terms, model }.negate(value),
        UnaryOp::FAbs => Floats { terms, model }.absolute(value),
        UnaryOp::FSqrt => Floats { terms, model }.root(value),
    }
}

pub fn binary(terms: &mut Terms, model: DataModel, op: BinaryOp, a: Term, b: Term) -> Term {
    use BinaryOp::*;
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
            let amount = shift_amount(terms, b);
            return terms.shl(a, amount);
        }
        LShr => {
            let amount = shift_amount(terms, b);
            return terms.lshr(a, amount);
        }
        AShr => {
            let amount = shift_amount(terms, b);
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
        FAdd | FSub | FMul | FDiv | FEq | FNe | FLt | FLe => return Floats { terms, model }.binary(op, a, b),
    };
    terms.bool_to_bits(truth, 1)
}

/// A shift counts modulo the width; for a power of two that is a mask.
fn shift_amount(terms: &mut Terms, amount: Term) -> Term {
    let width = terms.width(amount);
    let modulus = terms.bits(width, width.into());
    terms.urem(amount, modulus)
}

/// A conversion to type `to`.
pub fn cast(terms: &mut Terms, model: DataModel, op: CastOp, to: Type, value: Term) -> Term {
    match op {
        CastOp::Truncate => terms.extract(value, 0, width(model, to)),
        CastOp::ZeroExtend => terms.zero_extend(value, width(model, to)),
        CastOp::SignExtend => terms.sign_extend(value, width(model, to)),
        CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Bitcast => value,
        CastOp::UIntToFloat
        | CastOp::SIntToFloat
        | CastOp::FloatToUInt
        | CastOp::FloatToSInt
        | CastOp::FloatToFloat => Floats { terms, model }.cast(op, to, value),
    }
}

/// Whether a conversion computes with floats.
pub fn is_float_cast(op: CastOp) -> bool {
    use CastOp::*;
    matches!(op, UIntToFloat | SIntToFloat | FloatToUInt | FloatToSInt | FloatToFloat)
}
