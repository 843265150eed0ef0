//! C's scalar types, reduced to what computing with them needs.
//!
//! The representation has no signedness and no `_Bool`; conversions in C depend on both. A [`Scalar`] is what is left
//! of a C type when everything else about it is forgotten. `_Bool` is an `i8` that holds 0 or 1, in registers as in
//! memory.

use super::builder::FunctionBuilder;
use crate::types::{self, TypeId, Types};
use leno_ir::program::{BinaryOp, CastOp, DataModel, Expr, FloatKind, Type};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Scalar {
    Bool,
    Int { bits: u16, signed: bool },
    Pointer,
    Float(FloatKind),
}

impl Scalar {
    /// `int`
    pub const INT: Scalar = Scalar::Int { bits: 32, signed: true };

    /// An unsigned integer.
    pub fn unsigned(bits: u16) -> Scalar {
        Scalar::Int { bits, signed: false }
    }

    /// `size_t`
    pub fn size(model: DataModel) -> Scalar {
        Scalar::unsigned(model.pointer_bits())
    }

    /// `ptrdiff_t`
    pub fn ptrdiff(model: DataModel) -> Scalar {
        Scalar::Int { bits: model.pointer_bits(), signed: true }
    }

    /// None for what is no scalar: void, arrays, functions, records.
    pub fn of(types: &Types, id: TypeId) -> Option<Scalar> {
        Some(match types.get(id) {
            types::Type::Bool => Scalar::Bool,
            types::Type::Int(_) | types::Type::Enum(_) => {
                let kind = types.int_kind(id)?;
                Scalar::Int { bits: kind.bits(types.model), signed: kind.is_signed() }
            }
            types::Type::Float(types::FloatKind::Float) => Scalar::Float(FloatKind::F32),
            types::Type::Float(types::FloatKind::Double) => Scalar::Float(FloatKind::F64),
            types::Type::Float(types::FloatKind::LongDouble) => Scalar::Float(FloatKind::F80),
            types::Type::Pointer(_) => Scalar::Pointer,
            _ => return None,
        })
    }

    /// The unsigned view of a type of the representation, for values of which nothing else is known.
    pub fn of_ir(ty: Type) -> Scalar {
        match ty {
            Type::Int(bits) => Scalar::unsigned(bits),
            Type::Ptr => Scalar::Pointer,
            Type::Float(kind) => Scalar::Float(kind),
        }
    }

    pub fn ir(self) -> Type {
        match self {
            Scalar::Bool => Type::I8,
            Scalar::Int { bits, .. } => Type::Int(bits),
            Scalar::Pointer => Type::Ptr,
            Scalar::Float(kind) => Type::Float(kind),
        }
    }

    pub fn is_signed(self) -> bool {
        matches!(self, Scalar::Int { signed: true, .. })
    }

    pub fn is_float(self) -> bool {
        matches!(self, Scalar::Float(_))
    }

    pub fn zero(self) -> Expr {
        zero(self.ir())
    }
}

/// The value of a type with all bits zero.
pub fn zero(ty: Type) -> Expr {
    Expr::Const { ty, bits: 0 }
}

impl FunctionBuilder<'_, '_> {
    /// C's conversion of a value from one scalar type to another.
    pub fn convert(&self, value: Expr, from: Scalar, to: Scalar) -> Expr {
        if from == to {
            return value;
        }
        match (from, to) {
            (_, Scalar::Bool) => {
                let truth = self.truth(value);
                self.cast(CastOp::ZeroExtend, Type::I8, truth)
            }
            (Scalar::Float(_), Scalar::Float(kind)) => self.cast(CastOp::FloatToFloat, Type::Float(kind), value),
            (Scalar::Float(_), Scalar::Int { bits, signed }) => {
                let op = if signed { CastOp::FloatToSInt } else { CastOp::FloatToUInt };
                self.cast(op, Type::Int(bits), value)
            }
            (Scalar::Float(_), Scalar::Pointer) => {
                let word = self.cast(CastOp::FloatToUInt, self.word(), value);
                self.cast(CastOp::IntToPtr, Type::Ptr, word)
            }
            (_, Scalar::Float(kind)) => {
                let value =
                    if from == Scalar::Pointer { self.cast(CastOp::PtrToInt, self.word(), value) } else { value };
                let op = if from.is_signed() { CastOp::SIntToFloat } else { CastOp::UIntToFloat };
                self.cast(op, Type::Float(kind), value)
            }
            (Scalar::Pointer, _) => {
                let word = self.cast(CastOp::PtrToInt, self.word(), value);
                self.resize(word, to.ir(), false)
            }
            (_, Scalar::Pointer) => {
                let word = self.resize(value, self.word(), from.is_signed());
                self.cast(CastOp::IntToPtr, Type::Ptr, word)
            }
            (_, Scalar::Int { .. }) => self.resize(value, to.ir(), from.is_signed()),
        }
    }

    /// An integer in another width: truncated, or extended by its sign or with zeros.
    pub fn resize(&self, value: Expr, to: Type, signed: bool) -> Expr {
        let (from, to_bits) = (self.type_of(&value).bits(self.model()), to.bits(self.model()));
        let op = match to_bits.cmp(&from) {
            std::cmp::Ordering::Equal => return value,
            std::cmp::Ordering::Less => CastOp::Truncate,
            std::cmp::Ordering::Greater if signed => CastOp::SignExtend,
            std::cmp::Ordering::Greater => CastOp::ZeroExtend,
        };
        self.cast(op, to, value)
    }

    /// Whether a scalar compares unequal to zero: an `i1`.
    pub fn truth(&self, value: Expr) -> Expr {
        match value {
            Expr::Cast(CastOp::ZeroExtend | CastOp::SignExtend, _, inner) => self.truth(*inner),
            Expr::Cast(CastOp::PtrToInt | CastOp::IntToPtr, _, inner) => self.truth(*inner),
            Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => Expr::bool(true),
            Expr::Select(parts) if matches!(parts[1], Expr::Const { .. }) || matches!(parts[2], Expr::Const { .. }) => {
                let [cond, then, otherwise] = *parts;
                let (then, otherwise) = (self.truth(then), self.truth(otherwise));
                self.select(cond, then, otherwise)
            }
            value => match self.type_of(&value) {
                Type::Int(1) => value,
                ty @ Type::Float(_) => self.binary(BinaryOp::FNe, value, zero(ty)),
                ty => self.binary(BinaryOp::Ne, value, zero(ty)),
            },
        }
    }

    /// The same bits as a value of another type, as far as they go: what a call through a wrong declaration does.
    pub fn reinterpret(&self, value: Expr, to: Type) -> Expr {
        let from = self.type_of(&value);
        if from == to {
            return value;
        }
        let bits = match from {
            Type::Int(_) => value,
            Type::Ptr => self.cast(CastOp::PtrToInt, self.word(), value),
            Type::Float(kind) => self.cast(CastOp::Bitcast, Type::Int(kind.bits()), value),
        };
        match to {
            Type::Int(_) => self.resize(bits, to, false),
            Type::Ptr => {
                let word = self.resize(bits, self.word(), false);
                self.cast(CastOp::IntToPtr, Type::Ptr, word)
            }
            Type::Float(kind) => {
                let bits = self.resize(bits, Type::Int(kind.bits()), false);
                self.cast(CastOp::Bitcast, to, bits)
            }
        }
    }
}
