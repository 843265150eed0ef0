//! `<math.h>`, for `double`, `float` and `long double`.
//!
//! `double` and `float` functions are those of the host's library. Those of `long double` that are exact operations are
//! computed in the x87 format; the transcendental ones go through `double`, and so are less precise than on a real
//! machine.

use super::external::{Checked, Known, Native, NativeCall};
use crate::interp::value;
use crate::interp::value::Value;
use crate::interp::value::float;
use crate::interp::value::float::{f64_from_f80, f80_from_f64};
use crate::program::{FloatKind, UnaryOp};
use rustc_apfloat::ieee::X87DoubleExtended;
use rustc_apfloat::{Float, Round};

fn f64_result(x: f64) -> Value {
    Value::defined(x.to_bits().into())
}

fn f32_result(x: f32) -> Value {
    Value::defined(x.to_bits().into())
}

fn f80_result(x: f64) -> Value {
    Value::defined(f80_from_f64(x.to_bits()))
}

impl NativeCall<'_, '_> {
    fn double(&self, index: usize) -> Checked<f64> {
        Ok(f64::from_bits(self.bits(index)? as u64))
    }

    fn single(&self, index: usize) -> Checked<f32> {
        Ok(f32::from_bits(self.bits(index)? as u32))
    }

    fn extended(&self, index: usize) -> Checked<X87DoubleExtended> {
        Ok(X87DoubleExtended::from_bits(self.bits(index)?))
    }

    /// A `long double`, as near as a `double` gets.
    fn reduced(&self, index: usize) -> Checked<f64> {
        Ok(f64::from_bits(f64_from_f80(self.bits(index)?)))
    }
}

/// `name`, `namef` and `namel` of one argument.
macro_rules! unary {
    ($name:literal, $double:expr, $single:expr) => {
        [
            Known::pure($name, |call| Ok(f64_result($double(call.double(0)?)))),
            Known::pure(concat!($name, "f"), |call| Ok(f32_result($single(call.single(0)?)))),
            Known::pure(concat!($name, "l"), |call| Ok(f80_result($double(call.reduced(0)?)))),
        ]
    };
}

/// `name`, `namef` and `namel` of two arguments.
macro_rules! binary {
    ($name:literal, $double:expr, $single:expr) => {
        [
            Known::pure($name, |call| Ok(f64_result($double(call.double(0)?, call.double(1)?)))),
            Known::pure(concat!($name, "f"), |call| Ok(f32_result($single(call.single(0)?, call.single(1)?)))),
            Known::pure(concat!($name, "l"), |call| Ok(f80_result($double(call.reduced(0)?, call.reduced(1)?)))),
        ]
    };
}

/// `name`, `namef` and `namel`, the last one computed exactly.
macro_rules! exact {
    ($name:literal, $double:expr, $single:expr, $extended:expr) => {
        [
            Known::pure($name, |call| Ok(f64_result($double(call.double(0)?)))),
            Known::pure(concat!($name, "f"), |call| Ok(f32_result($single(call.single(0)?)))),
            Known::pure(concat!($name, "l"), |call| {
                let extended: fn(X87DoubleExtended) -> X87DoubleExtended = $extended;
                Ok(Value::defined(extended(call.extended(0)?).to_bits()))
            }),
        ]
    };
}

/// `name`, `namef` and `namel`, each by its own function.
macro_rules! special {
    ($name:literal, $native:expr) => {
        [
            Known::pure($name, |call| $native(call, FloatKind::F64)),
            Known::pure(concat!($name, "f"), |call| $native(call, FloatKind::F32)),
            Known::pure(concat!($name, "l"), |call| $native(call, FloatKind::F80)),
        ]
    };
}

/// The same, for functions that write to where their second parameter points.
macro_rules! writing {
    ($name:literal, $native:expr) => {
        [
            Known::new($name, |call| $native(call, FloatKind::F64)),
            Known::new(concat!($name, "f"), |call| $native(call, FloatKind::F32)),
            Known::new(concat!($name, "l"), |call| $native(call, FloatKind::F80)),
        ]
    };
}

const FAMILIES: usize = 49;

const TABLE: [[Known; 3]; FAMILIES] = [
    unary!("sin", f64::sin, f32::sin),
    unary!("cos", f64::cos, f32::cos),
    unary!("tan", f64::tan, f32::tan),
    unary!("asin", f64::asin, f32::asin),
    unary!("acos", f64::acos, f32::acos),
    unary!("atan", f64::atan, f32::atan),
    unary!("sinh", f64::sinh, f32::sinh),
    unary!("cosh", f64::cosh, f32::cosh),
    unary!("tanh", f64::tanh, f32::tanh),
    unary!("asinh", f64::asinh, f32::asinh),
    unary!("acosh", f64::acosh, f32::acosh),
    unary!("atanh", f64::atanh, f32::atanh),
    unary!("exp", f64::exp, f32::exp),
    unary!("exp2", f64::exp2, f32::exp2),
    unary!("expm1", f64::exp_m1, f32::exp_m1),
    unary!("log", f64::ln, f32::ln),
    unary!("log2", f64::log2, f32::log2),
    unary!("log10", f64::log10, f32::log10),
    unary!("log1p", f64::ln_1p, f32::ln_1p),
    unary!("cbrt", f64::cbrt, f32::cbrt),
    binary!("atan2", f64::atan2, f32::atan2),
    binary!("pow", f64::powf, f32::powf),
    binary!("hypot", f64::hypot, f32::hypot),
    binary!("fdim", difference, |x: f32, y: f32| difference(x.into(), y.into()) as f32),
    exact!("ceil", f64::ceil, f32::ceil, |x| x.round_to_integral(Round::TowardPositive).value),
    exact!("floor", f64::floor, f32::floor, |x| x.round_to_integral(Round::TowardNegative).value),
    exact!("trunc", f64::trunc, f32::trunc, |x| x.round_to_integral(Round::TowardZero).value),
    exact!("round", f64::round, f32::round, |x| x.round_to_integral(Round::NearestTiesToAway).value),
    exact!("rint", f64::round_ties_even, f32::round_ties_even, |x| x.round_to_integral(Round::NearestTiesToEven).value),
    exact!("nearbyint", f64::round_ties_even, f32::round_ties_even, |x| x
        .round_to_integral(Round::NearestTiesToEven)
        .value),
    exact!("fabs", f64::abs, f32::abs, |x| x.abs()),
    special!("sqrt", square_root),
    special!("fmod", remainder_towards_zero),
    special!("remainder", remainder_to_nearest),
    special!("fmin", least),
    special!("fmax", greatest),
    special!("copysign", copy_sign),
    special!("nextafter", next_after),
    special!("fma", fused),
    special!("ldexp", scale),
    special!("scalbn", scale),
    special!("ilogb", binary_exponent),
    special!("logb", exponent_as_float),
    special!("lround", |call: &mut NativeCall<'_, '_>, kind| rounded(call, kind, Round::NearestTiesToAway, false)),
    special!("llround", |call: &mut NativeCall<'_, '_>, kind| rounded(call, kind, Round::NearestTiesToAway, true)),
    special!("lrint", |call: &mut NativeCall<'_, '_>, kind| rounded(call, kind, Round::NearestTiesToEven, false)),
    special!("llrint", |call: &mut NativeCall<'_, '_>, kind| rounded(call, kind, Round::NearestTiesToEven, true)),
    writing!("frexp", split_exponent),
    writing!("modf", split_fraction),
];

pub(in crate::interp) const KNOWN: [Known; 3 * FAMILIES] = {
    const PLACEHOLDER: Known = Known::pure("", |_| Ok(Value::defined(0)));
    let mut flat = [PLACEHOLDER; 3 * FAMILIES];
    let mut index = 0;
    while index < flat.len() {
        let known = &TABLE[index / 3][index % 3];
        let native: Native = known.native;
        flat[index] = Known { name: known.name, native, pure: known.pure, variadic: false };
        index += 1;
    }
    flat
};

fn difference(x: f64, y: f64) -> f64 {
    match x > y {
        true => x - y,
        false if x.is_nan() || y.is_nan() => f64::NAN,
        false => 0.0,
    }
}

fn square_root(call: &mut NativeCall<'_, '_>, kind: FloatKind) -> Checked<Value> {
    Ok(Value::defined(float::unary(kind, UnaryOp::FSqrt, call.bits(0)?)))
}

/// A float of any of the three kinds, exactly, in the largest of them.
fn widened(call: &NativeCall<'_, '_>, index: usize, kind: FloatKind) -> Checked<X87DoubleExtended> {
    Ok(X87DoubleExtended::from_bits(float::convert(kind, FloatKind::F80, call.bits(index)?)))
}

fn narrowed(x: X87DoubleExtended, kind: FloatKind) -> Value {
    Value::defined(float::convert(FloatKind::F80, kind, x.to_bits()))
}

fn remainder_towards_zero(call: &mut NativeCall<'_, '_>, kind: FloatKind) -> Checked<Value> {
    Ok(match kind {
        FloatKind::F64 => f64_result(call.double(0)? % call.double(1)?),
        FloatKind::F32 => f32_result(call.single(0)? % call.single(1)?),
        FloatKind::F80 => Value::defined(call.extended(0)?.c_fmod(call.extended(1)?).value.to_bits()),
    })
}

fn remainder_to_nearest(call: &mut NativeCall<'_, '_>, kind: FloatKind) -> Checked<Value> {
    let (x, y) = (widened(call, 0, kind)?, widened(call, 1, kind)?);
    Ok(narrowed(x.ieee_rem(y).value, kind))
}

fn least(call: &mut NativeCall<'_, '_>, kind: FloatKind) -> Checked<Value> {
    let (x, y) = (widened(call, 0, kind)?, widened(call, 1, kind)?);
    let first = y.is_nan() || x <= y;
    Ok(Value::defined(call.bits(if first { 0 } else { 1 })?))
}

fn greatest(call: &mut NativeCall<'_, '_>, kind: FloatKind) -> Checked<Value> {
    let (x, y) = (widened(call, 0, kind)?, widened(call, 1, kind)?);
    let first = y.is_nan() || x >= y;
    Ok(Value::defined(call.bits(if first { 0 } else { 1 })?))
}

fn copy_sign(call: &mut NativeCall<'_, '_>, kind: FloatKind) -> Checked<Value> {
    let sign = 1 << (kind.bits() - 1);
    Ok(Value::defined(call.bits(0)? & !sign | call.bits(1)? & sign))
}

fn next_after(call: &mut NativeCall<'_, '_>, kind: FloatKind) -> Checked<Value> {
    let (x, y) = (widened(call, 0, kind)?, widened(call, 1, kind)?);
    let bits = call.bits(0)?;
    let sign = 1u128 << (kind.bits() - 1);
    if x.is_nan() || y.is_nan() || x == y {
        return Ok(Value::defined(call.bits(if x.is_nan() { 0 } else { 1 })?));
    }
    if x.is_zero() {
        return Ok(Value::defined(1 | if y.is_negative() { sign } else { 0 }));
    }
    if kind == FloatKind::F80 {
        let next = if x < y { x.next_up() } else { x.next_down() };
        return Ok(Value::defined(next.value.to_bits()));
    }
    // Neighbouring floats of one sign are neighbouring integers.
    let away_from_zero = (x < y) != x.is_negative();
    Ok(Value::defined(if away_from_zero { bits + 1 } else { bits - 1 } & value::ones(kind.bits())))
}

fn fused(call: &mut NativeCall<'_, '_>, kind: FloatKind) -> Checked<Value> {
    Ok(match kind {
        FloatKind::F64 => f64_result(call.double(0)?.mul_add(call.double(1)?, call.double(2)?)),
        FloatKind::F32 => f32_result(call.single(0)?.mul_add(call.single(1)?, call.single(2)?)),
        FloatKind::F80 => {
            let (x, y, z) = (call.extended(0)?, call.extended(1)?, call.extended(2)?);
            Value::defined(x.mul_add(y, z).value.to_bits())
        }
    })
}

fn scale(call: &mut NativeCall<'_, '_>, kind: FloatKind) -> Checked<Value> {
    use rustc_apfloat::ieee::{Double, Single};
    let (bits, exponent) = (call.bits(0)?, call.int(1)?);
    Ok(Value::defined(match kind {
        FloatKind::F32 => Single::from_bits(bits).scalbn(exponent).to_bits(),
        FloatKind::F64 => Double::from_bits(bits).scalbn(exponent).to_bits(),
        FloatKind::F80 => X87DoubleExtended::from_bits(bits).scalbn(exponent).to_bits(),
    }))
}

fn binary_exponent(call: &mut NativeCall<'_, '_>, kind: FloatKind) -> Checked<Value> {
    let x = widened(call, 0, kind)?;
    let exponent = match x {
        _ if x.is_zero() || x.is_nan() => i32::MIN,
        _ if x.is_infinite() => i32::MAX,
        _ => x.ilogb(),
    };
    Ok(Value::defined((exponent as u32).into()))
}

fn exponent_as_float(call: &mut NativeCall<'_, '_>, kind: FloatKind) -> Checked<Value> {
    let x = widened(call, 0, kind)?;
    let exponent = match x {
        _ if x.is_zero() => f64::NEG_INFINITY,
        _ if x.is_infinite() => f64::INFINITY,
        _ if x.is_nan() => return Ok(Value::defined(call.bits(0)?)),
        _ => f64::from(x.ilogb()),
    };
    Ok(Value::defined(float::convert(FloatKind::F64, kind, exponent.to_bits().into())))
}

/// To a `long` or a `long long`.
fn rounded(call: &mut NativeCall<'_, '_>, kind: FloatKind, round: Round, long_long: bool) -> Checked<Value> {
    let rounded = widened(call, 0, kind)?.round_to_integral(round).value;
    let width = if long_long { 64 } else { call.pointer_bytes() as u16 * 8 };
    Ok(Value::defined(float::to_integer(FloatKind::F80, true, width, rounded.to_bits())))
}

fn split_exponent(call: &mut NativeCall<'_, '_>, kind: FloatKind) -> Checked<Value> {
    let x = widened(call, 0, kind)?;
    let mut exponent = 0;
    let fraction = if x.is_finite() && !x.is_zero() { x.frexp(&mut exponent) } else { x };
    call.write(call.word(1)?, &exponent.to_le_bytes())?;
    Ok(narrowed(fraction, kind))
}

fn split_fraction(call: &mut NativeCall<'_, '_>, kind: FloatKind) -> Checked<Value> {
    let x = widened(call, 0, kind)?;
    let whole = x.round_to_integral(Round::TowardZero).value;
    let fraction = if x.is_infinite() { X87DoubleExtended::ZERO } else { (x - whole).value };
    let stored = narrowed(whole, kind).bits.to_le_bytes();
    call.write(call.word(1)?, &stored[..usize::from(kind.bits() / 8)])?;
    Ok(narrowed(fraction.copy_sign(x), kind))
}
