//! The operators on plain bits, for computing without a machine.

use super::arithmetic;
use super::float;
use super::ones;
use crate::program::{BinaryOp, CastOp, DataModel, Type, UnaryOp};

/// `op operand`, for an operand of this type.
pub fn unary(model: DataModel, op: UnaryOp, ty: Type, bits: u128) -> u128 {
    match (op, ty) {
        (UnaryOp::Neg, _) => bits.wrapping_neg() & ones(ty.bits(model)),
        (UnaryOp::Not, _) => !bits & ones(ty.bits(model)),
        (_, Type::Float(kind)) => float::unary(kind, op, bits),
        _ => bits,
    }
}

/// `left op right`, for operands of the type of the first.
pub fn binary(model: DataModel, op: BinaryOp, ty: Type, left: u128, right: u128) -> u128 {
    match ty {
        Type::Float(kind) => float::binary(kind, op, left, right),
        _ => arithmetic::binary(op, ty.bits(model), left, right),
    }
}

/// A conversion between two types.
pub fn cast(model: DataModel, op: CastOp, from: Type, to: Type, bits: u128) -> u128 {
    let (width, mask) = (from.bits(model), ones(to.bits(model)));
    match (op, from, to) {
        (CastOp::SignExtend, ..) => arithmetic::sign_extend(bits, width) as u128 & mask,
        (CastOp::UIntToFloat, _, Type::Float(to)) => float::from_integer(to, false, width, bits),
        (CastOp::SIntToFloat, _, Type::Float(to)) => float::from_integer(to, true, width, bits),
        (CastOp::FloatToUInt, Type::Float(from), _) => float::to_integer(from, false, to.bits(model), bits),
        (CastOp::FloatToSInt, Type::Float(from), _) => float::to_integer(from, true, to.bits(model), bits),
        (CastOp::FloatToFloat, Type::Float(from), Type::Float(to)) => float::convert(from, to, bits),
        _ => bits & mask,
    }
}
