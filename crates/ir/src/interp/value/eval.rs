//! Expressions, compiled and evaluated.
//!
//! An [`Ex`] is an [`Expr`](crate::program::Expr) with every type resolved to a width, and every static address to a
//! number. Two evaluators read it. [`Frame::fast`] computes with plain `u64`s, and gives up (`None`) at anything
//! wider or undefined. [`Frame::value`] handles everything and knows which bits are undefined. Nearly all steps of
//! nearly all programs take the first.

use super::arithmetic;
use super::float;
use super::{Value, ones, undefined_bits};
use crate::program::{BinaryOp, CastOp, FloatKind, UnaryOp};

/// Half of a 128-bit register, or all of a narrower one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(in crate::interp) struct Cell {
    pub bits: u64,
    pub undefined: u64,
}

/// A register: where it begins among the cells of its activation, and its width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::interp) struct Reg {
    pub cell: u32,
    pub bits: u16,
}

impl Reg {
    pub fn is_wide(self) -> bool {
        self.bits > 64
    }
}

/// What kind of bits an operator works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::interp) enum Shape {
    Bits(u16),
    Float(FloatKind),
}

impl Shape {
    pub fn bits(self) -> u16 {
        match self {
            Shape::Bits(bits) => bits,
            Shape::Float(kind) => kind.bits(),
        }
    }
}

#[derive(Clone, Debug)]
pub(in crate::interp) enum Ex {
    Const(u64),
    WideConst(Box<u128>),
    /// A register of at most 64 bits.
    Reg(u32),
    WideReg(u32),
    Slot(u32),
    ThreadLocal(u32),
    Unary(Box<Unary>),
    Binary(Box<Binary>),
    Cast(Box<Cast>),
    Select(Box<[Ex; 3]>),
}

#[derive(Clone, Debug)]
pub(in crate::interp) struct Unary {
    pub op: UnaryOp,
    pub shape: Shape,
    pub operand: Ex,
}

#[derive(Clone, Debug)]
pub(in crate::interp) struct Binary {
    pub op: BinaryOp,
    /// Of the left operand.
    pub shape: Shape,
    pub result: u16,
    pub left: Ex,
    pub right: Ex,
}

#[derive(Clone, Debug)]
pub(in crate::interp) struct Cast {
    pub op: CastOp,
    pub from: Shape,
    pub to: Shape,
    pub operand: Ex,
}

/// An undefined value was about to decide something inside an expression: a selection or a divisor.
#[derive(Clone, Copy, Debug)]
pub(in crate::interp) struct DecidedByUndefined(pub &'static str);

/// What expressions may look at: the registers and the stack objects of the running activation.
#[derive(Clone, Copy)]
pub(in crate::interp) struct Frame<'a> {
    pub cells: &'a [Cell],
    pub slots: &'a [u64],
    pub thread_locals: &'a [u64],
}

impl Frame<'_> {
    /// The value, if it and all that it depends on has at most 64 bits and is defined.
    #[inline]
    pub fn fast(&self, ex: &Ex) -> Option<u64> {
        match ex {
            Ex::Const(bits) => Some(*bits),
            Ex::Reg(cell) => {
                let cell = self.cells[*cell as usize];
                (cell.undefined == 0).then_some(cell.bits)
            }
            _ => self.fast_inner(ex),
        }
    }

    /// The value of an expression of at most 64 bits, if it is defined.
    #[inline]
    pub fn defined(&self, ex: &Ex) -> Option<u64> {
        let slowly = || self.value(ex).ok().filter(|value| value.is_defined()).map(|value| value.bits as u64);
        self.fast(ex).or_else(slowly)
    }

    fn fast_inner(&self, ex: &Ex) -> Option<u64> {
        match ex {
            Ex::Const(_) | Ex::Reg(_) => self.fast(ex),
            Ex::Binary(node) => {
                let (left, right) = (self.fast(&node.left)?, self.fast(&node.right)?);
                match node.shape {
                    Shape::Bits(bits) => Some(arithmetic::binary64(node.op, bits.into(), left, right)),
                    Shape::Float(FloatKind::F64) => Some(float::binary_f64(node.op, left, right)),
                    Shape::Float(FloatKind::F32) => Some(float::binary_f32(node.op, left as u32, right as u32).into()),
                    Shape::Float(FloatKind::F80) => None,
                }
            }
            Ex::Cast(node) => {
                let operand = self.fast(&node.operand)?;
                (node.to.bits() <= 64).then(|| fast_cast(node, operand))
            }
            Ex::Unary(node) => {
                let operand = self.fast(&node.operand)?;
                let mask = arithmetic::ones64(node.shape.bits().into());
                match node.op {
                    UnaryOp::Neg => Some(operand.wrapping_neg() & mask),
                    UnaryOp::Not => Some(!operand & mask),
                    UnaryOp::FNeg | UnaryOp::FSqrt | UnaryOp::FAbs => Some(unary(node, operand.into()) as u64),
                }
            }
            Ex::Select(parts) => {
                let chosen = if self.fast(&parts[0])? != 0 { &parts[1] } else { &parts[2] };
                self.fast(chosen)
            }
            Ex::Slot(slot) => Some(self.slots[*slot as usize]),
            Ex::ThreadLocal(index) => Some(self.thread_locals[*index as usize]),
            Ex::WideConst(_) | Ex::WideReg(_) => None,
        }
    }

    /// The value, whatever its width, with its undefined bits.
    pub fn value(&self, ex: &Ex) -> Result<Value, DecidedByUndefined> {
        match ex {
            Ex::Const(bits) => Ok(Value::defined((*bits).into())),
            Ex::WideConst(bits) => Ok(Value::defined(**bits)),
            Ex::Reg(cell) => {
                let cell = self.cells[*cell as usize];
                Ok(Value { bits: cell.bits.into(), undefined: cell.undefined.into() })
            }
            Ex::WideReg(cell) => Ok(wide(self.cells, *cell)),
            Ex::Slot(slot) => Ok(Value::defined(self.slots[*slot as usize].into())),
            Ex::ThreadLocal(index) => Ok(Value::defined(self.thread_locals[*index as usize].into())),
            Ex::Unary(node) => {
                let operand = self.value(&node.operand)?;
                let bits = unary(node, operand.bits);
                let undefined = match node.op {
                    _ if operand.is_defined() => 0,
                    UnaryOp::Not => operand.undefined,
                    _ => ones(node.shape.bits()),
                };
                Ok(Value { bits, undefined })
            }
            Ex::Binary(node) => self.binary(node),
            Ex::Cast(node) => self.cast(node),
            Ex::Select(parts) => {
                let condition = self.value(&parts[0])?;
                if !condition.is_defined() {
                    return Err(DecidedByUndefined("a condition depends on"));
                }
                self.value(if condition.bits != 0 { &parts[1] } else { &parts[2] })
            }
        }
    }

    fn binary(&self, node: &Binary) -> Result<Value, DecidedByUndefined> {
        let (left, right) = (self.value(&node.left)?, self.value(&node.right)?);
        let divides = matches!(node.op, BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::URem | BinaryOp::SRem);
        if divides && !right.is_defined() {
            return Err(DecidedByUndefined("a division is by"));
        }
        Ok(match node.shape {
            Shape::Bits(width) => Value {
                bits: arithmetic::binary(node.op, width, left.bits, right.bits),
                undefined: undefined_bits(node.op, width, node.result, left, right),
            },
            Shape::Float(kind) => Value {
                bits: float::binary(kind, node.op, left.bits, right.bits),
                undefined: if left.is_defined() && right.is_defined() { 0 } else { ones(node.result) },
            },
        })
    }

    fn cast(&self, node: &Cast) -> Result<Value, DecidedByUndefined> {
        let operand = self.value(&node.operand)?;
        let (from, to) = (node.from.bits(), node.to.bits());
        Ok(match node.op {
            CastOp::Truncate | CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Bitcast | CastOp::ZeroExtend => {
                operand.truncate(to)
            }
            CastOp::SignExtend => operand.sign_extend(from, to),
            _ if !operand.is_defined() => Value::undefined(to),
            _ => Value::defined(float_cast(node, operand.bits)),
        })
    }
}

/// The two halves of a wide register.
pub(in crate::interp) fn wide(cells: &[Cell], cell: u32) -> Value {
    let (low, high) = (cells[cell as usize], cells[cell as usize + 1]);
    Value {
        bits: u128::from(low.bits) | u128::from(high.bits) << 64,
        undefined: u128::from(low.undefined) | u128::from(high.undefined) << 64,
    }
}

fn unary(node: &Unary, bits: u128) -> u128 {
    match (node.op, node.shape) {
        (UnaryOp::Neg, shape) => bits.wrapping_neg() & ones(shape.bits()),
        (UnaryOp::Not, shape) => !bits & ones(shape.bits()),
        (op, Shape::Float(kind)) => float::unary(kind, op, bits),
        (_, Shape::Bits(_)) => bits,
    }
}

#[inline]
fn fast_cast(node: &Cast, bits: u64) -> u64 {
    let mask = arithmetic::ones64(node.to.bits().into());
    match node.op {
        CastOp::Truncate | CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Bitcast | CastOp::ZeroExtend => bits & mask,
        CastOp::SignExtend => arithmetic::sign_extend64(bits, node.from.bits().into()) as u64 & mask,
        _ => float_cast(node, bits.into()) as u64,
    }
}

fn float_cast(node: &Cast, bits: u128) -> u128 {
    match (node.op, node.from, node.to) {
        (CastOp::UIntToFloat, Shape::Bits(width), Shape::Float(to)) => float::from_integer(to, false, width, bits),
        (CastOp::SIntToFloat, Shape::Bits(width), Shape::Float(to)) => float::from_integer(to, true, width, bits),
        (CastOp::FloatToUInt, Shape::Float(from), Shape::Bits(width)) => float::to_integer(from, false, width, bits),
        (CastOp::FloatToSInt, Shape::Float(from), Shape::Bits(width)) => float::to_integer(from, true, width, bits),
        (CastOp::FloatToFloat, Shape::Float(from), Shape::Float(to)) => float::convert(from, to, bits),
        _ => bits & ones(node.to.bits()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp::Prng;

    const WIDTHS: [u16; 7] = [1, 8, 16, 32, 64, 80, 128];

    /// Two registers of each width.
    fn register(width: u16, random: &mut Prng) -> Ex {
        let index = WIDTHS.iter().position(|candidate| *candidate == width).unwrap_or(0) as u32;
        let cell = index * 4 + 2 * random.below(2) as u32;
        if width > 64 { Ex::WideReg(cell) } else { Ex::Reg(cell) }
    }

    fn expression(random: &mut Prng, width: u16, depth: u32) -> Ex {
        use BinaryOp::*;
        if depth == 0 {
            return match random.below(4) {
                0 if width > 64 => Ex::WideConst(Box::new(random.value(width))),
                0 => Ex::Const(random.value(width) as u64),
                _ => register(width, random),
            };
        }
        let pick = |random: &mut Prng, ops: &[BinaryOp]| ops[random.below(ops.len() as u64) as usize];
        let mut sub = |width| expression(random, width, depth - 1);
        let (left, right, other) = (sub(width), sub(width), sub(1));
        let from = WIDTHS[random.below(WIDTHS.len() as u64) as usize];
        let operand_width = if width == 1 { from } else { width };
        match random.below(6) {
            0 => {
                let op = [UnaryOp::Neg, UnaryOp::Not][random.below(2) as usize];
                Ex::Unary(Box::new(Unary { op, shape: Shape::Bits(width), operand: left }))
            }
            1 => Ex::Select(Box::new([other, left, right])),
            2 if from != width => {
                let widening = [CastOp::ZeroExtend, CastOp::SignExtend][random.below(2) as usize];
                let op = if from > width { CastOp::Truncate } else { widening };
                let operand = expression(random, from, depth - 1);
                Ex::Cast(Box::new(Cast { op, from: Shape::Bits(from), to: Shape::Bits(width), operand }))
            }
            _ if width == 1 => {
                let op = pick(random, &[Eq, Ne, ULt, ULe, SLt, SLe, SAddOverflow, UMulOverflow, And, Or, Xor]);
                let width = if matches!(op, And | Or | Xor) { 1 } else { operand_width };
                let (left, right) = (expression(random, width, depth - 1), expression(random, width, depth - 1));
                Ex::Binary(Box::new(Binary { op, shape: Shape::Bits(width), result: 1, left, right }))
            }
            _ => {
                let op = pick(random, &[Add, Sub, Mul, UDiv, SDiv, URem, SRem, Shl, LShr, AShr, And, Or, Xor, And, Or]);
                Ex::Binary(Box::new(Binary { op, shape: Shape::Bits(width), result: width, left, right }))
            }
        }
    }

    /// Cells for the registers, with some bits undefined if asked for.
    fn cells(random: &mut Prng, undefined: bool) -> Vec<Cell> {
        let mut cells = Vec::new();
        for width in WIDTHS {
            for _ in 0..2 {
                let value = random.value(width);
                let mask = match undefined && random.below(3) == 0 {
                    true => random.value(width) & random.value(width),
                    false => 0,
                };
                cells.push(Cell { bits: value as u64, undefined: mask as u64 });
                cells.push(Cell { bits: (value >> 64) as u64, undefined: (mask >> 64) as u64 });
            }
        }
        cells
    }

    #[test]
    fn both_evaluators_agree_where_both_have_a_value() {
        let mut random = Prng::new(2);
        let mut compared = 0;
        for _ in 0..20_000 {
            let width = WIDTHS[random.below(5) as usize];
            let ex = expression(&mut random, width, 3);
            let cells = cells(&mut random, false);
            let frame = Frame { cells: &cells, slots: &[], thread_locals: &[] };
            let Ok(value) = frame.value(&ex) else { panic!("everything is defined") };
            assert!(value.is_defined());
            if let Some(bits) = frame.fast(&ex) {
                compared += 1;
                assert_eq!(u128::from(bits), value.bits, "{ex:?}");
            }
        }
        assert!(compared > 5000, "{compared}");
    }

    /// Whatever the undefined bits of the registers are, the defined bits of the result are the same.
    #[test]
    fn defined_bits_do_not_depend_on_undefined_ones() {
        let mut random = Prng::new(3);
        let (mut partly, mut failed) = (0, 0);
        for _ in 0..40_000 {
            let width = WIDTHS[random.below(7) as usize];
            let ex = expression(&mut random, width, 3);
            let cells = cells(&mut random, true);
            let Ok(value) = (Frame { cells: &cells, slots: &[], thread_locals: &[] }).value(&ex) else {
                failed += 1;
                continue;
            };
            partly += u32::from(value.undefined != 0 && value.undefined != ones(width));
            for _ in 0..4 {
                let filled: Vec<Cell> = cells
                    .iter()
                    .map(|cell| Cell {
                        bits: cell.bits & !cell.undefined | random.next_u64() & cell.undefined,
                        undefined: 0,
                    })
                    .collect();
                let Ok(other) = (Frame { cells: &filled, slots: &[], thread_locals: &[] }).value(&ex) else {
                    panic!("everything is defined")
                };
                assert_eq!((value.bits ^ other.bits) & !value.undefined, 0, "{ex:?} on {cells:?}");
            }
        }
        assert!(partly > 200 && failed > 200, "{partly} {failed}");
    }
}
