//! Evaluation at compile time: array sizes, cases, enumerators, and initial values of static objects.
//!
//! A constant is bits of its type, or an address: an object or function plus a number of bytes.

use super::{Checker, fail};
use crate::ast;
use crate::diagnostic::Result;
use crate::source::Span;
use crate::typed::*;
use crate::types::*;
use rustc_apfloat::ieee::{Double, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constant {
    Bits(u128),
    Address(Base, i64),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    Global(GlobalId),
    Function(FuncId),
}

impl<'a> Checker<'a> {
    /// The value of an integer constant expression.
    pub fn constant_int(&mut self, id: ast::ExprId, what: &str) -> Result<i128> {
        let value = self.rvalue(id)?;
        let span = self.ast.exprs[id].span;
        if !self.types().is_integer(self.ty(value).ty) {
            return fail(span, format!("{what} must be an integer"));
        }
        match self.evaluate_int(value) {
            Some(value) => Ok(value),
            None => fail(span, format!("{what} must be a constant")),
        }
    }

    /// The value of an integer or pointer expression, if it is a number at compile time.
    pub fn evaluate_int(&self, expr: ExprId) -> Option<i128> {
        match self.evaluate(expr)? {
            Constant::Bits(bits) => Some(self.extend(bits, self.ty(expr).ty)),
            Constant::Address(..) => None,
        }
    }

    pub fn evaluate(&self, expr: ExprId) -> Option<Constant> {
        use Constant::*;
        match &self.unit.exprs[expr].kind {
            ExprKind::Const(bits) => Some(Bits(*bits)),
            ExprKind::Function(id) => Some(Address(Base::Function(*id), 0)),
            ExprKind::LabelAddress(label) => Some(Bits(u128::from(label.0) + 1)),
            ExprKind::AddressOf(place) => self.evaluate_place(*place),
            ExprKind::Load(place) => self.evaluate_load(*place),
            ExprKind::Cast(inner) => self.evaluate_cast(*inner, self.ty(expr).ty),
            ExprKind::Unary(op, inner) => self.evaluate_unary(*op, *inner),
            ExprKind::Binary(op, left, right) => self.evaluate_binary(*op, *left, *right),
            ExprKind::PointerAdd(pointer, offset) => {
                let offset = self.evaluate_int(*offset)? as i64;
                match self.evaluate(*pointer)? {
                    Bits(bits) => {
                        Some(Bits(self.truncate(bits.wrapping_add(offset as i128 as u128), self.ty(expr).ty)))
                    }
                    Address(base, start) => Some(Address(base, start.wrapping_add(self.as_offset(offset)))),
                }
            }
            ExprKind::PointerDiff(left, right) => match (self.evaluate(*left)?, self.evaluate(*right)?) {
                (Bits(a), Bits(b)) => Some(Bits(self.truncate(a.wrapping_sub(b), self.ty(expr).ty))),
                (Address(a, i), Address(b, j)) if a == b => {
                    Some(Bits(self.truncate(i.wrapping_sub(j) as i128 as u128, self.ty(expr).ty)))
                }
                _ => None,
            },
            ExprKind::LogicalNot(inner) => Some(Bits(u128::from(!self.evaluate_truth(*inner)?))),
            ExprKind::LogicalAnd(left, right) => {
                let truth = self.evaluate_truth(*left)? && self.evaluate_truth(*right)?;
                Some(Bits(u128::from(truth)))
            }
            ExprKind::LogicalOr(left, right) => {
                let truth = self.evaluate_truth(*left)? || self.evaluate_truth(*right)?;
                Some(Bits(u128::from(truth)))
            }
            ExprKind::Conditional { cond, then, otherwise } => {
                if self.evaluate_truth(*cond)? {
                    self.evaluate(*then)
                } else {
                    self.evaluate(*otherwise)
                }
            }
            ExprKind::ConditionalElse { cond, otherwise } => {
                if self.evaluate_truth(*cond)? {
                    self.evaluate_cast(*cond, self.ty(expr).ty)
                } else {
                    self.evaluate(*otherwise)
                }
            }
            _ => None,
        }
    }

    /// Byte offsets are kept as `size_t`: a large one is a small negative number.
    fn as_offset(&self, offset: i64) -> i64 {
        if self.types().model.pointer_bits() == 32 { i64::from(offset as i32) } else { offset }
    }

    /// The address of a place that has one at compile time.
    pub fn evaluate_place(&self, place: ExprId) -> Option<Constant> {
        match &self.unit.exprs[place].kind {
            ExprKind::Global(id) if !self.unit.globals[*id].is_thread_local => {
                Some(Constant::Address(Base::Global(*id), 0))
            }
            ExprKind::Deref(pointer) => self.evaluate(*pointer),
            ExprKind::Field { base, field } => {
                let offset = self.types().layout_of(self.ty(*base).ty)?.fields[*field as usize].offset;
                match self.evaluate_place(*base)? {
                    Constant::Bits(bits) => Some(Constant::Bits(bits.wrapping_add(u128::from(offset)))),
                    Constant::Address(base, start) => Some(Constant::Address(base, start.wrapping_add(offset as i64))),
                }
            }
            _ => None,
        }
    }

    /// gcc lets constant objects stand in initialisers: `static const int n = 4; int a = n;`.
    fn evaluate_load(&self, place: ExprId) -> Option<Constant> {
        let Constant::Address(Base::Global(id), offset) = self.evaluate_place(place)? else { return None };
        let global = &self.unit.globals[id];
        let Definition::Static { init, .. } = &global.definition else { return None };
        let ty = self.ty(place);
        if !global.is_constant || ty.quals.is_volatile || self.bit_field(place).is_some() {
            return None;
        }
        let size = self.types().size_of(ty.ty).filter(|s| *s <= 16)?;
        let start = u64::try_from(offset).ok()?;
        let mut bytes = [0u8; 16];
        for (at, value) in init {
            match value {
                StaticValue::Bytes(data) => {
                    for (i, byte) in data.iter().enumerate() {
                        if let Some(index) = (at + i as u64).checked_sub(start).filter(|index| *index < size) {
                            bytes[index as usize] = *byte;
                        }
                    }
                }
                StaticValue::Global(target, add) if *at == start => {
                    return Some(Constant::Address(Base::Global(*target), *add));
                }
                StaticValue::Function(target) if *at == start => {
                    return Some(Constant::Address(Base::Function(*target), 0));
                }
                _ if *at >= start + size => break,
                _ => {}
            }
        }
        let bits = u128::from_le_bytes(bytes);
        Some(Constant::Bits(match self.types().get(ty.ty) {
            Type::Float(FloatKind::LongDouble) => bits & ((1 << 80) - 1),
            _ => bits,
        }))
    }

    fn evaluate_truth(&self, expr: ExprId) -> Option<bool> {
        let ty = self.ty(expr).ty;
        match self.evaluate(expr)? {
            Constant::Address(..) => Some(true),
            Constant::Bits(bits) => Some(match self.float_kind(ty) {
                Some(kind) => !float_is_zero(bits, kind),
                None => bits != 0,
            }),
        }
    }

    fn float_kind(&self, ty: TypeId) -> Option<FloatKind> {
        match self.types().get(ty) {
            Type::Float(kind) => Some(*kind),
            _ => None,
        }
    }

    fn evaluate_cast(&self, inner: ExprId, to: TypeId) -> Option<Constant> {
        let from = self.ty(inner).ty;
        let value = self.evaluate(inner)?;
        if matches!(self.types().get(to), Type::Bool) {
            return Some(Constant::Bits(u128::from(self.evaluate_truth(inner)?)));
        }
        match (value, self.float_kind(from), self.float_kind(to)) {
            (Constant::Address(..), _, None) => {
                (self.types().int_bits(to) == self.types().model.pointer_bits()).then_some(value)
            }
            (Constant::Address(..), _, Some(_)) => None,
            (Constant::Bits(bits), Some(a), Some(b)) => Some(Constant::Bits(float_to_float(bits, a, b))),
            (Constant::Bits(bits), Some(kind), None) => {
                let value = float_to_int(bits, kind, self.types().int_bits(to), self.types().is_signed(to))?;
                Some(Constant::Bits(self.truncate(value, to)))
            }
            (Constant::Bits(bits), None, Some(kind)) => {
                let value = self.extend(bits, from);
                Some(Constant::Bits(int_to_float(value, self.types().is_signed(from), kind)))
            }
            (Constant::Bits(bits), None, None) if self.types().is_scalar(to) => {
                Some(Constant::Bits(self.truncate(self.extend(bits, from) as u128, to)))
            }
            _ => None,
        }
    }

    fn evaluate_unary(&self, op: UnaryOp, inner: ExprId) -> Option<Constant> {
        let ty = self.ty(inner).ty;
        let Constant::Bits(bits) = self.evaluate(inner)? else { return None };
        if let Some(kind) = self.float_kind(ty) {
            let sign = 1u128 << (float_bits(kind) - 1);
            return (op == UnaryOp::Neg).then_some(Constant::Bits(bits ^ sign));
        }
        let value = match op {
            UnaryOp::Neg => bits.wrapping_neg(),
            UnaryOp::BitNot => !bits,
        };
        Some(Constant::Bits(self.truncate(value, ty)))
    }

    fn evaluate_binary(&self, op: BinaryOp, left: ExprId, right: ExprId) -> Option<Constant> {
        use Constant::*;
        let ty = self.ty(left).ty;
        match (self.evaluate(left)?, self.evaluate(right)?) {
            (Bits(a), Bits(b)) => match self.float_kind(ty) {
                Some(kind) => float_binary(op, a, b, kind).map(Bits),
                None => self.int_binary(op, a, b, ty).map(Bits),
            },
            (Address(a, i), Address(b, j)) if a == b => match op {
                BinaryOp::Sub => Some(Bits(self.truncate(i.wrapping_sub(j) as i128 as u128, ty))),
                _ => compare(op, i, j).map(|truth| Bits(u128::from(truth))),
            },
            (Address(a, i), Address(b, j)) => match (op, (a, i) == (b, j)) {
                (BinaryOp::Eq, same) => Some(Bits(u128::from(same))),
                (BinaryOp::Ne, same) => Some(Bits(u128::from(!same))),
                _ => None,
            },
            (Address(..), Bits(0)) | (Bits(0), Address(..)) => match op {
                BinaryOp::Eq => Some(Bits(0)),
                BinaryOp::Ne => Some(Bits(1)),
                BinaryOp::Add => match self.evaluate(left)? {
                    Bits(_) => self.evaluate(right),
                    address => Some(address),
                },
                _ => None,
            },
            (Address(base, start), Bits(bits)) => {
                let offset = self.as_offset(bits as i64);
                match op {
                    BinaryOp::Add => Some(Address(base, start.wrapping_add(offset))),
                    BinaryOp::Sub => Some(Address(base, start.wrapping_sub(offset))),
                    _ => None,
                }
            }
            (Bits(bits), Address(base, start)) if op == BinaryOp::Add => {
                Some(Address(base, start.wrapping_add(self.as_offset(bits as i64))))
            }
            _ => None,
        }
    }

    fn int_binary(&self, op: BinaryOp, a: u128, b: u128, ty: TypeId) -> Option<u128> {
        let (x, y) = (self.extend(a, ty), self.extend(b, ty));
        let signed = self.types().is_signed(ty);
        let width = u32::from(self.types().int_bits(ty).max(1));
        let value = match op {
            BinaryOp::Add => a.wrapping_add(b),
            BinaryOp::Sub => a.wrapping_sub(b),
            BinaryOp::Mul => a.wrapping_mul(b),
            BinaryOp::Div | BinaryOp::Rem if b == 0 => return None,
            BinaryOp::Div if signed => x.wrapping_div(y) as u128,
            BinaryOp::Div => a / b,
            BinaryOp::Rem if signed => x.wrapping_rem(y) as u128,
            BinaryOp::Rem => a % b,
            BinaryOp::Shl => a.wrapping_shl(b as u32 % width),
            BinaryOp::Shr if signed => x.wrapping_shr(b as u32 % width) as u128,
            BinaryOp::Shr => a.wrapping_shr(b as u32 % width),
            BinaryOp::And => a & b,
            BinaryOp::Or => a | b,
            BinaryOp::Xor => a ^ b,
            _ if signed => return compare(op, x, y).map(u128::from),
            _ => return compare(op, a, b).map(u128::from),
        };
        Some(self.truncate(value, ty))
    }

    /// For static initialisers: anything that the linker can fill in.
    pub fn static_constant(&self, expr: ExprId, span: Span) -> Result<Constant> {
        match self.evaluate(expr) {
            Some(constant) => Ok(constant),
            None => fail(span, "the initial value of a static object must be a constant"),
        }
    }
}

fn compare<T: PartialOrd>(op: BinaryOp, a: T, b: T) -> Option<bool> {
    Some(match op {
        BinaryOp::Lt => a < b,
        BinaryOp::Le => a <= b,
        BinaryOp::Gt => a > b,
        BinaryOp::Ge => a >= b,
        BinaryOp::Eq => a == b,
        BinaryOp::Ne => a != b,
        _ => return None,
    })
}

fn float_bits(kind: FloatKind) -> u32 {
    match kind {
        FloatKind::Float => 32,
        FloatKind::Double => 64,
        FloatKind::LongDouble => 80,
    }
}

fn float_is_zero(bits: u128, kind: FloatKind) -> bool {
    match kind {
        FloatKind::Float => Single::from_bits(bits).is_zero(),
        FloatKind::Double => Double::from_bits(bits).is_zero(),
        FloatKind::LongDouble => X87DoubleExtended::from_bits(bits).is_zero(),
    }
}

pub fn float_to_float(bits: u128, from: FloatKind, to: FloatKind) -> u128 {
    // Every format's values are x87 values, so one hop through that format rounds once.
    let mut loses = false;
    let wide: X87DoubleExtended = match from {
        FloatKind::Float => Single::from_bits(bits).convert(&mut loses).value,
        FloatKind::Double => Double::from_bits(bits).convert(&mut loses).value,
        FloatKind::LongDouble => X87DoubleExtended::from_bits(bits),
    };
    match to {
        FloatKind::Float => FloatConvert::<Single>::convert(wide, &mut loses).value.to_bits(),
        FloatKind::Double => FloatConvert::<Double>::convert(wide, &mut loses).value.to_bits(),
        FloatKind::LongDouble => wide.to_bits(),
    }
}

/// None when the value is out of range: gcc's answer for that is its own affair.
fn float_to_int(bits: u128, kind: FloatKind, width: u16, signed: bool) -> Option<u128> {
    let wide = X87DoubleExtended::from_bits(float_to_float(bits, kind, FloatKind::LongDouble));
    let mut exact = false;
    let width = usize::from(width);
    let (status, value) = if signed {
        let result = wide.to_i128_r(width, Round::TowardZero, &mut exact);
        (result.status, result.value as u128)
    } else {
        let result = wide.to_u128_r(width, Round::TowardZero, &mut exact);
        (result.status, result.value)
    };
    (!status.contains(rustc_apfloat::Status::INVALID_OP)).then_some(value)
}

fn int_to_float(value: i128, signed: bool, kind: FloatKind) -> u128 {
    fn make<F: Float>(value: i128, signed: bool) -> u128 {
        if signed { F::from_i128(value).value.to_bits() } else { F::from_u128(value as u128).value.to_bits() }
    }
    match kind {
        FloatKind::Float => make::<Single>(value, signed),
        FloatKind::Double => make::<Double>(value, signed),
        FloatKind::LongDouble => make::<X87DoubleExtended>(value, signed),
    }
}

fn float_binary(op: BinaryOp, a: u128, b: u128, kind: FloatKind) -> Option<u128> {
    fn compute<F: Float>(op: BinaryOp, a: u128, b: u128) -> Option<u128> {
        let (x, y) = (F::from_bits(a), F::from_bits(b));
        let value = match op {
            BinaryOp::Add => x + y,
            BinaryOp::Sub => x - y,
            BinaryOp::Mul => x * y,
            BinaryOp::Div => x / y,
            _ => return compare(op, x, y).map(u128::from),
        };
        Some(value.value.to_bits())
    }
    match kind {
        FloatKind::Float => compute::<Single>(op, a, b),
        FloatKind::Double => compute::<Double>(op, a, b),
        FloatKind::LongDouble => compute::<X87DoubleExtended>(op, a, b),
    }
}
