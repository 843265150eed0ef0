//! What a word may hold in a view, and what follows from it.
//!
//! Addresses are exact: a cell of the view, a static object, a slot, or null. Data is opaque: an operation may copy it and do
//! nothing else, so that two watched values (`a` and `b`) and "any other" stand for all values. A *version counter* has no
//! number: a copy of it knows which counter it was read from, and whether that counter still is what it was. `Undefined` is
//! anything at all, so that forgetting is always allowed.

use leno_ir::program::{BinaryOp, CastOp, Expr, Type, UnaryOp};

pub type CellId = u16;

/// The data of an element: one of the two values that the observer watches, or another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Tag {
    A,
    B,
    Other,
}

impl Tag {
    pub const ALL: [Tag; 3] = [Tag::A, Tag::B, Tag::Other];
}

/// A word that all threads may see: of a static object, or of a cell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Place {
    Static(u32, i64),
    Cell(CellId, i64),
}

/// Whether a copy of a version counter is what the counter is now.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Currency {
    Current,
    /// The counter is greater, and will never be the same again.
    Stale,
    Unknown,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Value {
    /// Anything.
    Undefined,
    /// The address of some node: not null.
    Address,
    /// Null is 0.
    Number(u128),
    Static(u32, i64),
    Cell(CellId, i64),
    Slot(u32, i64),
    Data(Tag),
    /// A copy of a version counter, and so much more.
    Version {
        of: Place,
        currency: Currency,
        plus: u8,
    },
    /// A double word.
    Pair(Box<[Value; 2]>),
    /// Only in cells: the address of a first of some unnamed cells, each linked to the next, the last holding this.
    Segment(Box<Value>),
}

pub const NULL: Value = Value::Number(0);

impl Value {
    pub fn truth(value: Option<bool>) -> Value {
        value.map_or(Value::Undefined, |value| Value::Number(u128::from(value)))
    }

    pub fn pair(low: Value, high: Value) -> Value {
        Value::Pair(Box::new([low, high]))
    }

    /// The two words of a double word.
    pub fn halves(&self) -> [Value; 2] {
        match self {
            Value::Pair(halves) => (**halves).clone(),
            Value::Number(bits) => [Value::Number(bits & u128::from(u64::MAX)), Value::Number(bits >> 64)],
            _ => [Value::Undefined, Value::Undefined],
        }
    }

    /// All cells that it mentions.
    pub fn for_each_cell(&self, visit: &mut impl FnMut(CellId)) {
        match self {
            Value::Cell(cell, _) | Value::Version { of: Place::Cell(cell, _), .. } => visit(*cell),
            Value::Pair(halves) => halves.iter().for_each(|half| half.for_each_cell(visit)),
            Value::Segment(last) => last.for_each_cell(visit),
            _ => {}
        }
    }

    /// The same with other names of cells.
    pub fn rename(&mut self, names: &[CellId]) {
        match self {
            Value::Cell(cell, _) | Value::Version { of: Place::Cell(cell, _), .. } => *cell = names[usize::from(*cell)],
            Value::Pair(halves) => halves.iter_mut().for_each(|half| half.rename(names)),
            Value::Segment(last) => last.rename(names),
            _ => {}
        }
    }

    /// All copies of version counters in it.
    pub fn for_each_version(&mut self, visit: &mut impl FnMut(Place, &mut Currency, u8)) {
        match self {
            Value::Version { of, currency, plus } => visit(*of, currency, *plus),
            Value::Pair(halves) => halves.iter_mut().for_each(|half| half.for_each_version(visit)),
            _ => {}
        }
    }
}

/// Whether two values are equal, if that is known.
pub fn equal(left: &Value, right: &Value) -> Result<Option<bool>, String> {
    use Value::{Address, Cell, Data, Number, Pair, Slot, Static, Undefined, Version};
    Ok(match (left, right) {
        (Undefined, _) | (_, Undefined) => None,
        (Address, Number(0)) | (Number(0), Address) => Some(false),
        (Data(_), _) | (_, Data(_)) => return Err("it compares data, which the proof takes to be opaque".to_string()),
        (Number(left), Number(right)) => Some(left == right),
        (Cell(..) | Static(..) | Slot(..), Number(0)) | (Number(0), Cell(..) | Static(..) | Slot(..)) => Some(false),
        (Cell(..), Cell(..)) | (Static(..), Static(..)) | (Slot(..), Slot(..)) => Some(left == right),
        (Cell(..) | Static(..) | Slot(..), Cell(..) | Static(..) | Slot(..)) => Some(false),
        (Version { of: one, currency: left, plus: more }, Version { of: other, currency: right, plus: others }) => {
            match (left, right) {
                _ if one != other => None,
                (Currency::Current, Currency::Current) => Some(more == others),
                (Currency::Stale, Currency::Current) if *more == 0 => Some(false),
                (Currency::Current, Currency::Stale) if *others == 0 => Some(false),
                _ => None,
            }
        }
        (Pair(_), _) | (_, Pair(_)) => {
            let ([a, b], [c, d]) = (left.halves(), right.halves());
            match (equal(&a, &c)?, equal(&b, &d)?) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            }
        }
        _ => None,
    })
}

/// Evaluates an expression, given its registers and the fewest bits that data has.
pub struct Evaluation<'a, F: Fn(u32) -> Value> {
    pub register: F,
    pub object: &'a dyn Fn(u32) -> Value,
    pub data_bits: u16,
    pub type_of: &'a dyn Fn(&Expr) -> Type,
}

impl<F: Fn(u32) -> Value> Evaluation<'_, F> {
    pub fn value(&self, expr: &Expr) -> Result<Value, String> {
        Ok(match expr {
            Expr::Const { bits, .. } => Value::Number(*bits),
            Expr::Local(local) => (self.register)(local.0),
            Expr::Object(object) => (self.object)(object.0),
            Expr::Slot(slot) => Value::Slot(slot.0, 0),
            Expr::Function(_) => Value::Undefined,
            Expr::Unary(op, operand) => {
                let width = self.bits(operand);
                match (op, self.value(operand)?) {
                    (UnaryOp::Not, Value::Number(bits)) => Value::Number(!bits & mask(width)),
                    (UnaryOp::Neg, Value::Number(bits)) => Value::Number(bits.wrapping_neg() & mask(width)),
                    (_, value) => opaque(&[value])?,
                }
            }
            Expr::Binary(op, operands) => {
                let width = self.bits(&operands[0]);
                binary(*op, width, self.value(&operands[0])?, self.value(&operands[1])?)?
            }
            Expr::Cast(op, ty, operand) => self.cast(*op, *ty, operand)?,
            Expr::Select(parts) => match self.value(&parts[0])? {
                Value::Number(0) => self.value(&parts[2])?,
                Value::Number(_) => self.value(&parts[1])?,
                _ => Value::Undefined,
            },
        })
    }

    fn bits(&self, expr: &Expr) -> u16 {
        match (self.type_of)(expr) {
            Type::Int(bits) => bits,
            Type::Ptr => 64,
            Type::Float(kind) => kind.bits(),
        }
    }

    fn cast(&self, op: CastOp, ty: Type, operand: &Expr) -> Result<Value, String> {
        let from = self.bits(operand);
        let to = match ty {
            Type::Int(bits) => bits,
            Type::Ptr => 64,
            Type::Float(kind) => kind.bits(),
        };
        let value = self.value(operand)?;
        Ok(match (op, &value) {
            (CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Bitcast, _) => value,
            (CastOp::ZeroExtend | CastOp::Truncate, Value::Number(bits)) => Value::Number(bits & mask(to)),
            (CastOp::SignExtend, Value::Number(bits)) => {
                let is_negative = bits >> (from - 1) & 1 == 1;
                let extension = if is_negative { mask(to) & !mask(from) } else { 0 };
                Value::Number(bits | extension)
            }
            (CastOp::ZeroExtend | CastOp::SignExtend, Value::Data(_)) => value,
            (CastOp::Truncate, Value::Data(_)) if to >= self.data_bits => value,
            _ => opaque(&[value])?,
        })
    }
}

fn mask(bits: u16) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

/// The result of an operation that the proof does not follow: anything, unless data went into it.
fn opaque(operands: &[Value]) -> Result<Value, String> {
    match operands.iter().any(|operand| matches!(operand, Value::Data(_))) {
        true => Err("it computes with data, which the proof takes to be opaque".to_string()),
        false => Ok(Value::Undefined),
    }
}

fn moved(address: &Value, bytes: i64) -> Option<Value> {
    match address {
        Value::Cell(cell, offset) => Some(Value::Cell(*cell, offset.checked_add(bytes)?)),
        Value::Static(object, offset) => Some(Value::Static(*object, offset.checked_add(bytes)?)),
        Value::Slot(slot, offset) => Some(Value::Slot(*slot, offset.checked_add(bytes)?)),
        Value::Number(number) => Some(Value::Number(number.wrapping_add(bytes as u128) & u128::from(u64::MAX))),
        _ => None,
    }
}

fn binary(op: BinaryOp, width: u16, left: Value, right: Value) -> Result<Value, String> {
    use BinaryOp::{Add, Eq, Ne, PtrAdd, PtrDiff};
    Ok(match (op, &left, &right) {
        (PtrAdd, _, Value::Number(bytes)) => moved(&left, *bytes as u64 as i64).unwrap_or(Value::Undefined),
        (PtrDiff, Value::Cell(one, from), Value::Cell(other, to)) if one == other => {
            Value::Number((from.wrapping_sub(*to) as u64).into())
        }
        (Eq, ..) => Value::truth(equal(&left, &right)?),
        (Ne, ..) => Value::truth(equal(&left, &right)?.map(|equal| !equal)),
        (Add, Value::Version { of, currency, plus }, Value::Number(more))
        | (Add, Value::Number(more), Value::Version { of, currency, plus }) => {
            match u8::try_from(*more).ok().and_then(|more| plus.checked_add(more)) {
                Some(plus) => Value::Version { of: *of, currency: *currency, plus },
                None => Value::Undefined,
            }
        }
        (_, Value::Number(left), Value::Number(right)) => number(op, width, *left, *right),
        _ => opaque(&[left, right])?,
    })
}

fn number(op: BinaryOp, width: u16, left: u128, right: u128) -> Value {
    use BinaryOp::*;
    let signed = |bits: u128| ((bits << (128 - width)) as i128) >> (128 - width);
    let test = |holds: bool| Value::Number(u128::from(holds));
    match op {
        Add => Value::Number(left.wrapping_add(right) & mask(width)),
        Sub => Value::Number(left.wrapping_sub(right) & mask(width)),
        And => Value::Number(left & right),
        Or => Value::Number(left | right),
        Xor => Value::Number(left ^ right),
        ULt => test(left < right),
        ULe => test(left <= right),
        SLt => test(signed(left) < signed(right)),
        SLe => test(signed(left) <= signed(right)),
        _ => Value::Undefined,
    }
}
