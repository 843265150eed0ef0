//! Lvalues: where an object is, reading it, writing it.
//!
//! A place is a register, a piece of memory, or some bits of a storage unit. Writing to a bit-field is a load of its
//! unit and a store of it with the bits replaced: two accesses, between which another thread may run. That is the truth
//! of the machine, and a source of real races between neighbouring bit-fields.

use super::body::{Home, Lowering};
use super::fold::sign_extend;
use super::index::Reach;
use super::scalar::Scalar;
use crate::diagnostic::{Diagnostic, Result};
use crate::typed::{ExprId, ExprKind};
use crate::types::{BitField, Quals};
use leno_ir::program::{Access, BinaryOp, Expr, LocalId, Op, Order, Type};

#[derive(Clone, Debug)]
pub(super) enum Place {
    Register(LocalId),
    Memory { ptr: Expr, how: How },
    Bits { ptr: Expr, bits: BitField, how: How },
}

/// What the qualifiers of an lvalue say about accesses to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct How {
    pub volatile: bool,
    pub order: Order,
}

impl How {
    pub const PLAIN: How = How { volatile: false, order: Order::NotAtomic };

    pub fn of(quals: Quals) -> How {
        let order = if quals.is_atomic { Order::SeqCst } else { Order::NotAtomic };
        How { volatile: quals.is_volatile, order }
    }

    pub fn is_atomic(self) -> bool {
        self.order != Order::NotAtomic
    }

    pub fn access(self, ptr: Expr, ty: Type) -> Access {
        Access { ptr, ty, order: self.order, volatile: self.volatile }
    }
}

impl Lowering<'_, '_> {
    /// Evaluates an lvalue that is going to be accessed up to where its object is.
    pub fn place(&mut self, id: ExprId) -> Result<Place> {
        self.place_within(id, Reach::Accessed)
    }

    fn place_within(&mut self, id: ExprId, reach: Reach) -> Result<Place> {
        let unit = self.unit;
        let expr = &unit.exprs[id];
        let how = How::of(expr.ty.quals);
        let ptr = match &expr.kind {
            ExprKind::Var(var) => match self.home(*var)? {
                Home::Register(id) => return Ok(Place::Register(id)),
                Home::Slot(slot) => Expr::Slot(slot),
                Home::Dynamic(id) => Expr::Local(id),
            },
            ExprKind::Global(global) => Expr::Object(self.b.link.object(self.unit_index, *global)),
            ExprKind::Deref(pointer) => match &unit.exprs[*pointer].kind {
                ExprKind::PointerAdd(base, bytes) => {
                    self.at(unit.exprs[*pointer].span);
                    self.begin_operator(*pointer);
                    self.pointer_add(*base, *bytes, reach)?
                }
                _ => self.rvalue(*pointer)?,
            },
            ExprKind::Field { base, field } => return self.field(id, *base, *field),
            ExprKind::CompoundLiteral { var, init } => {
                let home = self.home(*var)?;
                self.at(expr.span);
                self.begins_in_block(home);
                self.initialize(*var, home, init)?;
                match home {
                    Home::Register(id) => return Ok(Place::Register(id)),
                    Home::Slot(slot) => Expr::Slot(slot),
                    Home::Dynamic(id) => Expr::Local(id),
                }
            }
            ExprKind::Temporary { var, value } => self.temporary(*var, *value)?,
            _ => {
                let message = "a value stands where an object is needed";
                return Err(Box::new(Diagnostic::error(expr.span, message)));
            }
        };
        Ok(Place::Memory { ptr, how })
    }

    fn field(&mut self, id: ExprId, base: ExprId, field: u32) -> Result<Place> {
        let unit = self.unit;
        let expr = &unit.exprs[id];
        let ptr = self.address(base)?;
        let layout = self.types.layout_of(unit.exprs[base].ty.ty);
        let Some(field) = layout.and_then(|layout| layout.fields.get(field as usize)) else {
            return Err(Box::new(Diagnostic::error(expr.span, "a field of a type whose layout is not known")));
        };
        let ptr = self.b.offset(ptr, field.offset);
        let how = How::of(expr.ty.quals);
        Ok(match field.bits {
            Some(bits) => Place::Bits { ptr, bits, how },
            None => Place::Memory { ptr, how },
        })
    }

    /// The address of an lvalue that lies in memory, and is going to be accessed.
    pub fn address(&mut self, id: ExprId) -> Result<Expr> {
        self.address_within(id, Reach::Accessed)
    }

    pub fn address_within(&mut self, id: ExprId, reach: Reach) -> Result<Expr> {
        match self.place_within(id, reach)? {
            Place::Memory { ptr, .. } => Ok(ptr),
            Place::Register(_) | Place::Bits { .. } => {
                let message = "the address of something that has none";
                Err(Box::new(Diagnostic::error(self.span_of(id), message)))
            }
        }
    }

    // ---- places while something else is evaluated

    pub fn hold_place(&mut self, place: &Place) {
        if let Place::Memory { ptr, .. } | Place::Bits { ptr, .. } = place {
            self.b.hold(ptr.clone());
        }
    }

    pub fn release_place(&mut self, place: &mut Place) {
        if let Place::Memory { ptr, .. } | Place::Bits { ptr, .. } = place {
            *ptr = self.b.release();
        }
    }

    /// The place with an address that may be written down several times.
    pub fn reusable_place(&mut self, place: Place) -> Place {
        match place {
            Place::Register(_) => place,
            Place::Memory { ptr, how } => Place::Memory { ptr: self.b.reusable(ptr), how },
            Place::Bits { ptr, bits, how } => Place::Bits { ptr: self.b.reusable(ptr), bits, how },
        }
    }

    // ---- accesses

    pub fn read(&mut self, place: &Place, scalar: Scalar) -> Expr {
        match place {
            Place::Register(id) => Expr::Local(*id),
            Place::Memory { ptr, how } => self.b.load_from(how.access(ptr.clone(), scalar.ir())),
            Place::Bits { ptr, bits, how } => {
                let unit = self.load_unit(ptr, *bits, *how);
                self.extract(unit, *bits, scalar)
            }
        }
    }

    /// `value` has the scalar's type.
    pub fn write(&mut self, place: &Place, scalar: Scalar, value: Expr) {
        match place {
            Place::Register(id) => self.b.assign_result(*id, value),
            Place::Memory { ptr, how } => {
                self.b.push(Op::Store { to: how.access(ptr.clone(), scalar.ir()), value });
            }
            Place::Bits { ptr, bits, how } => self.write_bits(ptr, *bits, *how, None, value),
        }
    }

    /// Reads a place for updating it: the value, and the storage unit if it is a bit-field's.
    pub fn read_for_update(&mut self, place: &Place, scalar: Scalar) -> (Expr, Option<Expr>) {
        let Place::Bits { ptr, bits, how } = place else { return (self.read(place, scalar), None) };
        let unit = self.load_unit(ptr, *bits, *how);
        let unit = self.b.reusable(unit);
        (self.extract(unit.clone(), *bits, scalar), Some(unit))
    }

    /// Writes a place back; `unit` is what [`read_for_update`](Self::read_for_update) gave.
    pub fn write_back(&mut self, place: &Place, scalar: Scalar, unit: Option<Expr>, value: Expr) {
        match place {
            Place::Bits { ptr, bits, how } => self.write_bits(ptr, *bits, *how, unit, value),
            place => self.write(place, scalar, value),
        }
    }

    fn write_bits(&mut self, ptr: &Expr, bits: BitField, how: How, old: Option<Expr>, value: Expr) {
        let value = self.b.bounded(value);
        let unit = self.replaced_unit(ptr, bits, how, old, value);
        self.store_unit(ptr, bits, how, unit);
    }

    fn load_unit(&mut self, ptr: &Expr, bits: BitField, how: How) -> Expr {
        let mut whole: Option<Expr> = None;
        for (offset, bytes) in unit_pieces(bits) {
            let at = self.b.offset(ptr.clone(), u64::from(offset));
            let piece = self.b.load_from(how.access(at, Type::Int(bytes * 8)));
            let piece = self.b.resize(piece, unit_type(bits), false);
            whole = Some(match whole {
                None => piece,
                Some(low) => {
                    let amount = Expr::int(u128::from(offset * 8), bits.unit_bytes * 8);
                    let high = self.b.binary(BinaryOp::Shl, piece, amount);
                    self.b.binary(BinaryOp::Or, low, high)
                }
            });
        }
        whole.unwrap_or(Expr::int(0, bits.unit_bytes * 8))
    }

    fn store_unit(&mut self, ptr: &Expr, bits: BitField, how: How, value: Expr) {
        let pieces = unit_pieces(bits);
        let value = if pieces.len() > 1 { self.b.reusable(value) } else { value };
        for (offset, bytes) in pieces {
            let at = self.b.offset(ptr.clone(), u64::from(offset));
            let amount = Expr::int(u128::from(offset * 8), bits.unit_bytes * 8);
            let piece = if offset == 0 { value.clone() } else { self.b.binary(BinaryOp::LShr, value.clone(), amount) };
            let piece = self.b.resize(piece, Type::Int(bytes * 8), false);
            self.b.push(Op::Store { to: how.access(at, Type::Int(bytes * 8)), value: piece });
        }
    }

    /// The bit-field's value out of its storage unit.
    fn extract(&mut self, unit: Expr, bits: BitField, scalar: Scalar) -> Expr {
        let unit_bits = bits.unit_bytes * 8;
        if bits.width == 0 {
            return scalar.zero();
        }
        let amount = |n: u16| Expr::int(u128::from(n), unit_bits);
        let value = if scalar.is_signed() {
            let high = self.b.binary(BinaryOp::Shl, unit, amount(unit_bits - bits.shift - bits.width));
            self.b.binary(BinaryOp::AShr, high, amount(unit_bits - bits.width))
        } else {
            let low = self.b.binary(BinaryOp::LShr, unit, amount(bits.shift));
            let mask = Expr::int(ones(bits.width), unit_bits);
            if bits.shift + bits.width == unit_bits { low } else { self.b.binary(BinaryOp::And, low, mask) }
        };
        self.b.resize(value, scalar.ir(), scalar.is_signed())
    }

    /// The storage unit with the bit-field's bits replaced. Loads the unit unless it is known or the bit-field is all
    /// of it.
    fn replaced_unit(&mut self, ptr: &Expr, bits: BitField, how: How, old: Option<Expr>, value: Expr) -> Expr {
        let unit_bits = bits.unit_bytes * 8;
        let value = self.b.resize(value, unit_type(bits), false);
        if bits.width == unit_bits {
            return value;
        }
        let mask = Expr::int(ones(bits.width), unit_bits);
        let value = self.b.binary(BinaryOp::And, value, mask);
        let value = self.b.binary(BinaryOp::Shl, value, Expr::int(u128::from(bits.shift), unit_bits));
        let old = old.unwrap_or_else(|| self.load_unit(ptr, bits, how));
        let others = Expr::int(!(ones(bits.width) << bits.shift), unit_bits);
        let old = self.b.binary(BinaryOp::And, old, others);
        self.b.binary(BinaryOp::Or, old, value)
    }

    /// The value that a place has after `value` was written to it: bit-fields keep only their bits.
    pub fn as_stored(&mut self, place: &Place, scalar: Scalar, value: Expr) -> Expr {
        let (Place::Bits { bits, .. }, Scalar::Int { bits: width, signed }) = (place, scalar) else { return value };
        if bits.width >= width {
            return value;
        }
        if let Expr::Const { bits: constant, .. } = value {
            let constant = constant & ones(bits.width);
            let kept = if signed { sign_extend(constant, bits.width) as u128 } else { constant };
            return Expr::int(kept, width);
        }
        if signed {
            let amount = Expr::int(u128::from(width - bits.width), width);
            let high = self.b.binary(BinaryOp::Shl, value, amount.clone());
            self.b.binary(BinaryOp::AShr, high, amount)
        } else {
            self.b.binary(BinaryOp::And, value, Expr::int(ones(bits.width), width))
        }
    }
}

/// A storage unit as accesses that are powers of two: (offset, bytes), from low to high. Only packing makes more than
/// one.
fn unit_pieces(bits: BitField) -> Vec<(u16, u16)> {
    let mut pieces = Vec::new();
    let mut offset = 0;
    while offset < bits.unit_bytes {
        let bytes = 1 << (bits.unit_bytes - offset).ilog2();
        pieces.push((offset, bytes));
        offset += bytes;
    }
    pieces
}

fn unit_type(bits: BitField) -> Type {
    Type::Int(bits.unit_bytes * 8)
}

fn ones(width: u16) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}
