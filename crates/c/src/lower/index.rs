//! Which indices are checked where they are written.
//!
//! Every access is checked against the bounds of its object. Two mistakes pass that check, so they are asserted here:
//!
//! - An index beyond an array that is a part of something larger (`struct { int a[2]; int b; } g; g.a[2]`) stays in the
//!   object. As in gcc's `-fsanitize=bounds`, the last array of a structure is left out: allocating more room for it is a
//!   common idiom.
//! - A pointer that is moved very far may come to lie in another object. In LP64 addresses of different objects are
//!   2^40 apart, so it takes many moves by less than 2^35 bytes to get into another object, and no object is that
//!   large: such a move is asserted to be shorter. In ILP32, where they may be as near as 2^16, the instruction
//!   [`Op::CheckMove`] knows which object the pointer was in. The same holds for moves through integers,
//!   `(int *)((uintptr_t)p + n)`: as gcc has it, they do not lead into other objects either.

use super::body::Lowering;
use crate::typed::{BinaryOp as CBinaryOp, ExprId, ExprKind};
use crate::types::{ArrayLen, Type as CType};
use leno_ir::program::{BinaryOp, CastOp, Expr, Op, Property, Type};

/// How far a pointer may be moved at once (LP64), as a power of two. No object is larger.
const FARTHEST: u16 = 35;

/// An amount of so many bits is not checked unless it is a constant: an `int` that counts elements never leads as far as
/// the next object.
const NEAR_BITS: u16 = 40;

/// Constants of so many bits are not checked in ILP32: a step to a neighbour, or to a member.
const SMALL_BITS: u16 = 12;

/// What an index leads to: something that is accessed, or an address, which may be the one past the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reach {
    Accessed,
    Address,
}

/// Which operand an address is moved by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Moved {
    Left,
    Right,
}

impl Lowering<'_, '_> {
    /// The array that a pointer points to the beginning of, and its size in bytes, if an index into it is checked.
    pub(super) fn checked_array(&self, pointer: ExprId) -> Option<u64> {
        let exprs = &self.unit.exprs;
        let ExprKind::AddressOf(array) = exprs[pointer].kind else { return None };
        let CType::Array(_, ArrayLen::Known(_)) = self.types.get(exprs[array].ty.ty) else { return None };
        let is_part = match &exprs[array].kind {
            ExprKind::Field { base, field } => {
                let layout = self.types.layout_of(exprs[*base].ty.ty)?;
                let is_last = *field as usize + 1 == layout.fields.len();
                // (All members of a union are last ones.)
                !is_last && layout.fields.iter().filter(|other| other.offset == 0).count() <= 1
            }
            ExprKind::Deref(_) => true,
            _ => false,
        };
        self.types.size_of(exprs[array].ty.ty).filter(|_| is_part)
    }

    /// Whether moving a pointer may fail: such an expression is not evaluated where C does not evaluate it.
    pub fn checks_index(&self, pointer: ExprId, bytes: ExprId) -> bool {
        let word = self.b.model().pointer_bits();
        let is_small = match self.unit.exprs[bytes].kind {
            ExprKind::Const(bits) => self.needed_bits(&Expr::int(bits, word)) <= SMALL_BITS,
            _ => false,
        };
        self.checked_array(pointer).is_some() || !is_small
    }

    /// Asserts that `pointer + bytes` stays where it belongs.
    pub fn check_index(&mut self, pointer: ExprId, base: &Expr, bytes: Expr, reach: Reach) -> Expr {
        if let Some(size) = self.checked_array(pointer) {
            let word = self.b.model().pointer_bits();
            let bytes = self.b.reusable(bytes);
            let within = match reach {
                Reach::Accessed => BinaryOp::ULt,
                Reach::Address => BinaryOp::ULe,
            };
            let fits = self.b.binary(within, bytes.clone(), Expr::int(u128::from(size), word));
            self.b.assert(fits, Property::IndexOutOfBounds, "index beyond the array");
            return bytes;
        }
        self.check_move(base, bytes)
    }

    /// Asserts that moving a pointer does not lead into another object.
    pub fn check_move(&mut self, base: &Expr, bytes: Expr) -> Expr {
        let word = self.b.model().pointer_bits();
        let is_number = matches!(base, Expr::Const { .. } | Expr::Cast(CastOp::IntToPtr, ..));
        let allowed = if matches!(bytes, Expr::Const { .. }) { FARTHEST + 1 } else { NEAR_BITS };
        let is_model = self.b.link.units[self.unit_index].is_model;
        if word < 64 {
            return if is_number || is_model { bytes } else { self.check_near(base, bytes) };
        }
        if is_number || is_model || self.needed_bits(&bytes) <= allowed || is_distance(&bytes) {
            return bytes;
        }
        let bytes = self.b.reusable(bytes);
        let shifted = self.b.binary(BinaryOp::Add, bytes.clone(), Expr::int(1 << FARTHEST, word));
        let is_near = self.b.binary(BinaryOp::ULt, shifted, Expr::int(2 << FARTHEST, word));
        self.b.assert(is_near, Property::IndexOutOfBounds, "index beyond every object");
        bytes
    }

    /// The same where objects are near each other: an instruction that knows them.
    fn check_near(&mut self, base: &Expr, bytes: Expr) -> Expr {
        if matches!(bytes, Expr::Const { .. }) && self.needed_bits(&bytes) <= SMALL_BITS {
            return bytes;
        }
        let (from, bytes) = (self.b.reusable(base.clone()), self.b.reusable(bytes));
        let is_pointer = self.b.type_of(&from) == Type::Ptr;
        let from = if is_pointer { from } else { self.b.cast(CastOp::IntToPtr, Type::Ptr, from) };
        let to = self.b.binary(BinaryOp::PtrAdd, from.clone(), bytes.clone());
        self.b.push(Op::CheckMove { from, to });
        bytes
    }

    /// Whether an integer is `p + n` or `p - n` for an address p: by how much it is moved.
    pub fn moved_by(&self, id: ExprId) -> Option<Moved> {
        match &self.unit.exprs[id].kind {
            ExprKind::Binary(CBinaryOp::Add, a, b) if self.is_address(*a) && !self.is_address(*b) => Some(Moved::Right),
            ExprKind::Binary(CBinaryOp::Add, a, b) if !self.is_address(*a) && self.is_address(*b) => Some(Moved::Left),
            ExprKind::Binary(CBinaryOp::Sub, a, b) if self.is_address(*a) && !self.is_address(*b) => Some(Moved::Right),
            _ => None,
        }
    }

    /// Whether an integer is a pointer that was cast.
    fn is_address(&self, id: ExprId) -> bool {
        let exprs = &self.unit.exprs;
        let ExprKind::Cast(operand) = &exprs[id].kind else { return false };
        let (from, to) = (exprs[*operand].ty.ty, exprs[id].ty.ty);
        let keeps_it = self.types.is_integer(to) && self.types.int_bits(to) == self.b.model().pointer_bits();
        keeps_it && (self.types.is_pointer(from) || self.is_address(*operand))
    }
}

/// Whether a number of bytes is the distance of two pointers: adding it leads to where the other one points.
fn is_distance(bytes: &Expr) -> bool {
    match bytes {
        Expr::Binary(BinaryOp::PtrDiff, _) => true,
        Expr::Binary(_, operands) => operands.iter().any(is_distance),
        Expr::Unary(_, operand) | Expr::Cast(_, _, operand) => is_distance(operand),
        _ => false,
    }
}
