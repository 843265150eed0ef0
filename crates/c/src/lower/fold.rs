//! Building expressions: constants are computed, and what does nothing is left out.
//!
//! Every tree that lowering makes goes through these constructors. They know the identities that C's implicit
//! conversions produce all the time (`!= 0` of a comparison that was widened to `int`, a cast of a cast, a field's
//! offset added to an element's), so that conditions come out as clean `i1` comparisons and addresses as one base plus
//! one number.

use super::builder::FunctionBuilder;
use super::scalar::zero;
use leno_ir::program::{BinaryOp, CastOp, Expr, FloatKind, Type, UnaryOp};

fn mask(bits: u16) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

/// The low `width` bits as a signed number.
pub(super) fn sign_extend(bits: u128, width: u16) -> i128 {
    if width == 0 {
        return 0;
    }
    let unused = 128 - u32::from(width.min(128));
    ((bits << unused) as i128) >> unused
}

impl FunctionBuilder<'_, '_> {
    pub fn unary(&self, op: UnaryOp, operand: Expr) -> Expr {
        match (op, operand) {
            (UnaryOp::Not, operand) => self.not(operand),
            (UnaryOp::Neg, Expr::Const { ty: Type::Int(width), bits }) => Expr::int(bits.wrapping_neg(), width),
            (UnaryOp::FNeg, Expr::Const { ty: ty @ Type::Float(kind), bits }) => {
                Expr::Const { ty, bits: bits ^ (1 << (kind.bits() - 1)) }
            }
            (op, operand) => Expr::unary(op, operand),
        }
    }

    /// Bitwise complement; of an `i1`, the opposite.
    pub fn not(&self, operand: Expr) -> Expr {
        match operand {
            Expr::Const { ty: Type::Int(width), bits } => Expr::int(!bits, width),
            Expr::Unary(UnaryOp::Not, inner) => *inner,
            Expr::Binary(op, operands) => match op {
                BinaryOp::Eq => Expr::Binary(BinaryOp::Ne, operands),
                BinaryOp::Ne => Expr::Binary(BinaryOp::Eq, operands),
                BinaryOp::FEq => Expr::Binary(BinaryOp::FNe, operands),
                BinaryOp::FNe => Expr::Binary(BinaryOp::FEq, operands),
                BinaryOp::ULt | BinaryOp::ULe | BinaryOp::SLt | BinaryOp::SLe => {
                    let [left, right] = *operands;
                    Expr::binary(opposite_of_swapped(op), right, left)
                }
                _ => Expr::unary(UnaryOp::Not, Expr::Binary(op, operands)),
            },
            operand => Expr::unary(UnaryOp::Not, operand),
        }
    }

    pub fn binary(&self, op: BinaryOp, left: Expr, right: Expr) -> Expr {
        if let (Expr::Const { ty, bits: a }, Expr::Const { ty: right_ty, bits: b }) = (&left, &right) {
            let folded = match ty {
                Type::Int(width) => fold_integers(op, *width, *a, *b),
                Type::Ptr if op == BinaryOp::PtrAdd || *right_ty == Type::Ptr => {
                    fold_pointers(op, self.model().pointer_bits(), *a, *b)
                }
                Type::Ptr => None,
                Type::Float(kind) => fold_floats(op, *kind, *a, *b),
            };
            if let Some(result) = folded {
                return result;
            }
        }
        match op {
            BinaryOp::Eq | BinaryOp::Ne => self.equality(op, left, right),
            BinaryOp::PtrAdd => self.pointer_plus(left, right),
            _ => self.arithmetic(op, left, right),
        }
    }

    fn equality(&self, op: BinaryOp, left: Expr, right: Expr) -> Expr {
        // A constant on the left goes to the right.
        let (left, right) = if matches!(left, Expr::Const { .. }) { (right, left) } else { (left, right) };
        let Expr::Const { bits: constant, .. } = right else { return Expr::binary(op, left, right) };
        let wants = |equal: bool| equal == (op == BinaryOp::Eq);
        if let Expr::Cast(CastOp::ZeroExtend, _, inner) = &left
            && self.type_of(inner) == Type::BOOL
        {
            let inner = (**inner).clone();
            return match constant {
                0 if wants(true) => self.not(inner),
                0 => inner,
                1 if wants(true) => inner,
                1 => self.not(inner),
                _ => Expr::bool(wants(false)),
            };
        }
        if constant == 0 && matches!(left, Expr::Object(_) | Expr::Slot(_) | Expr::Function(_)) {
            return Expr::bool(wants(false));
        }
        if self.type_of(&left) == Type::BOOL {
            return if wants(constant == 1) { left } else { self.not(left) };
        }
        Expr::binary(op, left, right)
    }

    /// Pointer plus a word of bytes; constants gather.
    fn pointer_plus(&self, base: Expr, bytes: Expr) -> Expr {
        let Expr::Const { ty, bits } = bytes else { return self.pointer_plus_variable(base, bytes) };
        if bits == 0 {
            return base;
        }
        match base {
            Expr::Binary(BinaryOp::PtrAdd, operands) => {
                let [inner, offset] = *operands;
                let offset = match offset {
                    Expr::Const { bits: before, .. } => {
                        let sum = before.wrapping_add(bits) & mask(ty.bits(self.model()));
                        return self.pointer_plus(inner, Expr::Const { ty, bits: sum });
                    }
                    offset => offset,
                };
                let base = Expr::binary(BinaryOp::PtrAdd, inner, offset);
                Expr::binary(BinaryOp::PtrAdd, base, Expr::Const { ty, bits })
            }
            base => Expr::binary(BinaryOp::PtrAdd, base, Expr::Const { ty, bits }),
        }
    }

    /// A constant that was added before goes to the outside, where the next one finds it.
    fn pointer_plus_variable(&self, base: Expr, bytes: Expr) -> Expr {
        match base {
            Expr::Binary(BinaryOp::PtrAdd, operands) if matches!(operands[1], Expr::Const { .. }) => {
                let [inner, constant] = *operands;
                Expr::binary(BinaryOp::PtrAdd, Expr::binary(BinaryOp::PtrAdd, inner, bytes), constant)
            }
            base => Expr::binary(BinaryOp::PtrAdd, base, bytes),
        }
    }

    /// Pointer plus a known number of bytes.
    pub fn offset(&self, base: Expr, bytes: u64) -> Expr {
        let bytes = Expr::int(u128::from(bytes), self.model().pointer_bits());
        self.pointer_plus(base, bytes)
    }

    fn arithmetic(&self, op: BinaryOp, left: Expr, right: Expr) -> Expr {
        use BinaryOp::*;
        if let Expr::Const { ty: ty @ Type::Int(width), bits } = right {
            match (op, bits) {
                (Add | Sub | Or | Xor | Shl | LShr | AShr, 0) | (Mul | UDiv | SDiv, 1) => return left,
                (Mul | And, 0) => return zero(ty),
                (And, all) if all == mask(width) => return left,
                (Or, all) if all == mask(width) => return right,
                _ => {}
            }
            // Sums of constants gather, so that `x + 1 + 1` and `x++` twice stay flat.
            if let (Add, Expr::Binary(Add, operands)) = (op, &left)
                && let Expr::Const { bits: before, .. } = operands[1]
            {
                let inner = operands[0].clone();
                return self.arithmetic(Add, inner, Expr::int(before.wrapping_add(bits), width));
            }
        }
        if let Expr::Const { ty: ty @ Type::Int(width), bits } = left {
            match (op, bits) {
                (Add | Or | Xor, 0) | (Mul, 1) => return right,
                (Mul | And, 0) => return zero(ty),
                (And, all) if all == mask(width) => return right,
                _ => {}
            }
        }
        // `(a < b) & (c < d)`, as programs write it to avoid a branch: logic on truth values.
        if let (And | Or | Xor, Expr::Cast(CastOp::ZeroExtend, ty, a), Expr::Cast(CastOp::ZeroExtend, _, b)) =
            (op, &left, &right)
            && self.type_of(a) == Type::BOOL
            && self.type_of(b) == Type::BOOL
        {
            let both = Expr::binary(op, (**a).clone(), (**b).clone());
            return Expr::cast(CastOp::ZeroExtend, *ty, both);
        }
        Expr::binary(op, left, right)
    }

    pub fn select(&self, cond: Expr, then: Expr, otherwise: Expr) -> Expr {
        match (&cond, &then, &otherwise) {
            (Expr::Const { bits: 0, .. }, _, _) => otherwise,
            (Expr::Const { .. }, _, _) => then,
            (_, a, b) if a == b => then,
            (_, Expr::Const { ty: Type::BOOL, bits: 1 }, Expr::Const { ty: Type::BOOL, .. }) => cond,
            (_, Expr::Const { ty: Type::BOOL, bits: 0 }, Expr::Const { ty: Type::BOOL, .. }) => self.not(cond),
            (_, Expr::Const { ty: Type::BOOL, bits: 1 }, _) => self.binary(BinaryOp::Or, cond, otherwise),
            (_, _, Expr::Const { ty: Type::BOOL, bits: 0 }) => self.binary(BinaryOp::And, cond, then),
            (_, Expr::Const { ty: Type::BOOL, bits: 0 }, _) => self.binary(BinaryOp::And, self.not(cond), otherwise),
            (_, _, Expr::Const { ty: Type::BOOL, bits: 1 }) => self.binary(BinaryOp::Or, self.not(cond), then),
            _ => Expr::select(cond, then, otherwise),
        }
    }

    pub fn cast(&self, op: CastOp, ty: Type, operand: Expr) -> Expr {
        if let Expr::Const { ty: from, bits } = operand
            && let Some(folded) = fold_cast(op, from, ty, bits, self.model().pointer_bits())
        {
            return folded;
        }
        use CastOp::*;
        let Expr::Cast(inner_op, inner_ty, inner) = operand else {
            let changes_nothing = matches!(op, Truncate | ZeroExtend | SignExtend | FloatToFloat | Bitcast)
                && self.type_of(&operand) == ty;
            return if changes_nothing { operand } else { Expr::cast(op, ty, operand) };
        };
        if inner_ty == ty && matches!(op, Truncate | ZeroExtend | SignExtend | FloatToFloat | Bitcast) {
            return Expr::Cast(inner_op, inner_ty, inner);
        }
        match (op, inner_op) {
            (ZeroExtend, ZeroExtend) | (SignExtend, ZeroExtend) => self.cast(ZeroExtend, ty, *inner),
            (SignExtend, SignExtend) => self.cast(SignExtend, ty, *inner),
            (Truncate, Truncate) => self.cast(Truncate, ty, *inner),
            (Truncate, ZeroExtend | SignExtend) => self.resize(*inner, ty, inner_op == SignExtend),
            (PtrToInt, IntToPtr) | (IntToPtr, PtrToInt) => *inner,
            _ => Expr::cast(op, ty, Expr::Cast(inner_op, inner_ty, inner)),
        }
    }
}

/// `!(a < b)` is `b <= a` for integers and pointers.
fn opposite_of_swapped(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::ULt => BinaryOp::ULe,
        BinaryOp::ULe => BinaryOp::ULt,
        BinaryOp::SLt => BinaryOp::SLe,
        _ => BinaryOp::SLt,
    }
}

fn fold_integers(op: BinaryOp, width: u16, a: u128, b: u128) -> Option<Expr> {
    use BinaryOp::*;
    let (sa, sb) = (sign_extend(a, width), sign_extend(b, width));
    let amount = (b % u128::from(width)) as u32;
    let fits_signed = |exact: Option<i128>| exact.is_some_and(|x| sign_extend(x as u128, width) == x);
    let fits_unsigned = |exact: Option<u128>| exact.is_some_and(|x| x <= mask(width));
    let bits = match op {
        Add => a.wrapping_add(b),
        Sub => a.wrapping_sub(b),
        Mul => a.wrapping_mul(b),
        UDiv => a.checked_div(b)?,
        URem => a.checked_rem(b)?,
        SDiv if b != 0 => sa.wrapping_div(sb) as u128,
        SRem if b != 0 => sa.wrapping_rem(sb) as u128,
        SDiv | SRem => return None,
        Shl => a << amount,
        LShr => a >> amount,
        AShr => (sa >> amount) as u128,
        And => a & b,
        Or => a | b,
        Xor => a ^ b,
        Eq => return Some(Expr::bool(a == b)),
        Ne => return Some(Expr::bool(a != b)),
        ULt => return Some(Expr::bool(a < b)),
        ULe => return Some(Expr::bool(a <= b)),
        SLt => return Some(Expr::bool(sa < sb)),
        SLe => return Some(Expr::bool(sa <= sb)),
        SAddOverflow => return Some(Expr::bool(!fits_signed(sa.checked_add(sb)))),
        SSubOverflow => return Some(Expr::bool(!fits_signed(sa.checked_sub(sb)))),
        SMulOverflow => return Some(Expr::bool(!fits_signed(sa.checked_mul(sb)))),
        UAddOverflow => return Some(Expr::bool(!fits_unsigned(a.checked_add(b)))),
        USubOverflow => return Some(Expr::bool(a < b)),
        UMulOverflow => return Some(Expr::bool(!fits_unsigned(a.checked_mul(b)))),
        PtrAdd | PtrDiff | FAdd | FSub | FMul | FDiv | FEq | FNe | FLt | FLe => return None,
    };
    Some(Expr::int(bits, width))
}

fn fold_pointers(op: BinaryOp, width: u16, a: u128, b: u128) -> Option<Expr> {
    Some(match op {
        BinaryOp::Eq => Expr::bool(a == b),
        BinaryOp::Ne => Expr::bool(a != b),
        BinaryOp::ULt => Expr::bool(a < b),
        BinaryOp::ULe => Expr::bool(a <= b),
        BinaryOp::PtrDiff => Expr::int(a.wrapping_sub(b), width),
        BinaryOp::PtrAdd => Expr::Const { ty: Type::Ptr, bits: a.wrapping_add(b) & mask(width) },
        _ => return None,
    })
}

/// Floats in formats that the host has. Arithmetic on `F80` is left to the interpreter.
fn fold_floats(op: BinaryOp, kind: FloatKind, a: u128, b: u128) -> Option<Expr> {
    let (x, y) = match kind {
        FloatKind::F32 => (f64::from(f32::from_bits(a as u32)), f64::from(f32::from_bits(b as u32))),
        FloatKind::F64 => (f64::from_bits(a as u64), f64::from_bits(b as u64)),
        FloatKind::F80 => return None,
    };
    match op {
        BinaryOp::FEq => return Some(Expr::bool(x == y)),
        BinaryOp::FNe => return Some(Expr::bool(x != y)),
        BinaryOp::FLt => return Some(Expr::bool(x < y)),
        BinaryOp::FLe => return Some(Expr::bool(x <= y)),
        _ => {}
    }
    // Which NaN comes out is not for us to decide.
    let compute = |x: f64, y: f64| match op {
        BinaryOp::FAdd => Some(x + y),
        BinaryOp::FSub => Some(x - y),
        BinaryOp::FMul => Some(x * y),
        BinaryOp::FDiv => Some(x / y),
        _ => None,
    };
    let result = compute(x, y).filter(|r| !r.is_nan())?;
    // One operation on two `float`s, done in `double` and rounded once more, is exact enough to be right.
    let bits = match kind {
        FloatKind::F32 => u128::from((result as f32).to_bits()),
        _ => u128::from(result.to_bits()),
    };
    Some(Expr::Const { ty: Type::Float(kind), bits })
}

fn fold_cast(op: CastOp, from: Type, ty: Type, bits: u128, pointer_bits: u16) -> Option<Expr> {
    let width = match from {
        Type::Int(width) => width,
        Type::Ptr => pointer_bits,
        Type::Float(kind) => kind.bits(),
    };
    let bits = match (op, ty) {
        (CastOp::Truncate | CastOp::ZeroExtend, Type::Int(to)) => bits & mask(to),
        (CastOp::SignExtend, Type::Int(to)) => sign_extend(bits, width) as u128 & mask(to),
        (CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Bitcast, _) => bits,
        (CastOp::UIntToFloat, Type::Float(FloatKind::F32)) => u128::from((bits as f32).to_bits()),
        (CastOp::UIntToFloat, Type::Float(FloatKind::F64)) => u128::from((bits as f64).to_bits()),
        (CastOp::SIntToFloat, Type::Float(FloatKind::F32)) => u128::from((sign_extend(bits, width) as f32).to_bits()),
        (CastOp::SIntToFloat, Type::Float(FloatKind::F64)) => u128::from((sign_extend(bits, width) as f64).to_bits()),
        (CastOp::FloatToFloat, Type::Float(to)) => fold_float_to_float(from, to, bits)?,
        (CastOp::FloatToSInt | CastOp::FloatToUInt, Type::Int(to)) => {
            fold_float_to_int(from, to, op == CastOp::FloatToSInt, bits)?
        }
        _ => return None,
    };
    Some(Expr::Const { ty, bits })
}

fn host_float(ty: Type, bits: u128) -> Option<f64> {
    match ty {
        Type::Float(FloatKind::F32) => Some(f64::from(f32::from_bits(bits as u32))),
        Type::Float(FloatKind::F64) => Some(f64::from_bits(bits as u64)),
        _ => None,
    }
    .filter(|value| !value.is_nan())
}

fn fold_float_to_float(from: Type, to: FloatKind, bits: u128) -> Option<u128> {
    let value = host_float(from, bits)?;
    match to {
        FloatKind::F32 => Some(u128::from((value as f32).to_bits())),
        FloatKind::F64 => Some(u128::from(value.to_bits())),
        FloatKind::F80 => None,
    }
}

/// Only when the truncated value fits the type: what happens otherwise is the semantics' business.
fn fold_float_to_int(from: Type, to: u16, signed: bool, bits: u128) -> Option<u128> {
    let value = host_float(from, bits)?.trunc();
    let limit = 2f64.powi(i32::from(to) - i32::from(signed));
    let lowest = if signed { -limit } else { 0.0 };
    if value < lowest || value >= limit {
        return None;
    }
    let bits = if value < 0.0 { (value as i128) as u128 } else { value as u128 };
    Some(bits & mask(to))
}
