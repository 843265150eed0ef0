//! Every operator and cast, at every kind of width.

use crate::harness::STATES;
use leno_ir::interp::{Prng, operate};
use leno_ir::program::{BinaryOp, CastOp, DataModel, FloatKind, Type, UnaryOp};
use leno_logic::term::{Assignment, Sort, Term, Terms, evaluate};
use leno_symbolic::operators::{binary, cast, unary, width};

const MODELS: [DataModel; 2] = [DataModel::Lp64, DataModel::Ilp32];
const INTEGERS: [Type; 8] =
    [Type::BOOL, Type::Int(7), Type::I8, Type::Int(16), Type::I32, Type::Int(48), Type::Int(64), Type::Int(128)];
const FLOATS: [Type; 3] = [Type::Float(FloatKind::F32), Type::Float(FloatKind::F64), Type::Float(FloatKind::F80)];

/// A value of a type, with the interesting ones more often.
pub fn value(random: &mut Prng, model: DataModel, ty: Type) -> u128 {
    let bits = ty.bits(model);
    let mask = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 };
    if let Type::Float(kind) = ty
        && random.below(2) == 0
    {
        let small = u128::from(random.below(2000)).wrapping_sub(1000);
        let number = operate::cast(model, CastOp::SIntToFloat, Type::Int(64), ty, small & u128::from(u64::MAX));
        // Halves, infinities and what is no number come from these.
        let divisor = operate::cast(model, CastOp::SIntToFloat, Type::Int(64), ty, u128::from(random.below(4)));
        return operate::binary(model, BinaryOp::FDiv, Type::Float(kind), number, divisor);
    }
    let any = u128::from(random.next_u64()) << 64 | u128::from(random.next_u64());
    (match random.below(7) {
        0 => 0,
        1 => mask,
        2 => mask >> 1,
        3 => (mask >> 1) + 1,
        4 => u128::from(random.below(9)),
        5 => mask.wrapping_sub(u128::from(random.below(9))),
        _ => any,
    }) & mask
}

/// Terms that are variables, and what they are in one state.
fn check(
    types: &[Type],
    model: DataModel,
    make: impl Fn(&mut Terms, &[Term]) -> Term,
    expected: impl Fn(&[u128]) -> u128,
    what: &str,
) {
    let mut terms = Terms::new();
    let variables: Vec<Term> =
        types.iter().map(|ty| terms.variable(Sort::Bits(width(model, *ty)), "operand")).collect();
    let made = make(&mut terms, &variables);
    let mut random = Prng::new(7);
    for state in 0..STATES {
        let values: Vec<u128> = types.iter().map(|ty| value(&mut random, model, *ty)).collect();
        let mut assignment = Assignment::new();
        for (variable, value) in variables.iter().zip(&values) {
            assignment.set(&terms, *variable, *value);
        }
        let expected = expected(&values);
        assert_eq!(evaluate(&terms, made, &assignment).number(), expected, "{what} of {types:?} on {values:x?}");
        // What the simplifier makes of constants.
        if state % 16 == 0 {
            let constants: Vec<Term> =
                variables.iter().zip(&values).map(|(v, value)| terms.bits(terms.width(*v), *value)).collect();
            let folded = make(&mut terms, &constants);
            assert_eq!(terms.as_bits(folded), Some(expected), "{what} of {types:?} on {values:x?}, folded");
        }
    }
}

#[test]
fn unary_operators() {
    for ty in INTEGERS.into_iter().chain(FLOATS) {
        let ops: &[UnaryOp] = match ty {
            Type::Float(_) => &[UnaryOp::FNeg, UnaryOp::FAbs, UnaryOp::FSqrt],
            _ => &[UnaryOp::Neg, UnaryOp::Not],
        };
        for &op in ops {
            let model = DataModel::Lp64;
            let make = |terms: &mut Terms, v: &[Term]| unary(terms, model, op, v[0]);
            check(&[ty], model, make, |v| operate::unary(model, op, ty, v[0]), &format!("{op:?}"));
        }
    }
}

#[test]
fn integer_operators() {
    let ops = || BinaryOp::ARITHMETIC.iter().chain(BinaryOp::TESTS).copied();
    for ty in INTEGERS {
        for op in ops() {
            let model = DataModel::Lp64;
            let make = |terms: &mut Terms, v: &[Term]| binary(terms, model, op, v[0], v[1]);
            check(&[ty, ty], model, make, |v| operate::binary(model, op, ty, v[0], v[1]), &format!("{op:?}"));
        }
    }
}

#[test]
fn pointer_operators() {
    for model in MODELS {
        for op in [BinaryOp::PtrAdd, BinaryOp::PtrDiff, BinaryOp::Eq, BinaryOp::ULt] {
            let make = |terms: &mut Terms, v: &[Term]| binary(terms, model, op, v[0], v[1]);
            let second = if op == BinaryOp::PtrAdd { model.word() } else { Type::Ptr };
            let expected = |v: &[u128]| operate::binary(model, op, Type::Ptr, v[0], v[1]);
            check(&[Type::Ptr, second], model, make, expected, &format!("{op:?}"));
        }
    }
}

#[test]
fn float_operators() {
    use BinaryOp::*;
    for ty in FLOATS {
        for op in [FAdd, FSub, FMul, FDiv, FEq, FNe, FLt, FLe] {
            let model = DataModel::Lp64;
            let make = |terms: &mut Terms, v: &[Term]| binary(terms, model, op, v[0], v[1]);
            check(&[ty, ty], model, make, |v| operate::binary(model, op, ty, v[0], v[1]), &format!("{op:?}"));
        }
    }
}

#[test]
fn casts() {
    let mut casts = Vec::new();
    for from in INTEGERS {
        for to in INTEGERS {
            let (narrow, wide) = (from.bits(DataModel::Lp64), to.bits(DataModel::Lp64));
            if narrow < wide {
                casts.extend([(CastOp::ZeroExtend, from, to), (CastOp::SignExtend, from, to)]);
            } else if narrow > wide {
                casts.push((CastOp::Truncate, from, to));
            }
        }
        for float in FLOATS {
            casts.extend([(CastOp::UIntToFloat, from, float), (CastOp::SIntToFloat, from, float)]);
            casts.extend([(CastOp::FloatToUInt, float, from), (CastOp::FloatToSInt, float, from)]);
        }
    }
    for from in FLOATS {
        casts.extend(FLOATS.into_iter().filter(|to| *to != from).map(|to| (CastOp::FloatToFloat, from, to)));
    }
    casts.extend([(CastOp::PtrToInt, Type::Ptr, Type::Int(64)), (CastOp::IntToPtr, Type::Int(64), Type::Ptr)]);
    casts.push((CastOp::Bitcast, Type::Float(FloatKind::F64), Type::Int(64)));
    casts.push((CastOp::Bitcast, Type::I32, Type::Float(FloatKind::F32)));
    for (op, from, to) in casts {
        let model = DataModel::Lp64;
        let make = |terms: &mut Terms, v: &[Term]| cast(terms, model, op, to, v[0]);
        check(&[from], model, make, |v| operate::cast(model, op, from, to, v[0]), &format!("{op:?} to {to:?}"));
    }
}
