//! Whether two lvalues may name common bytes, as far as their text says.
//!
//! An lvalue is a root (a variable, or what a pointer points to), and a range of bytes in it. Variables are apart from
//! each other, and so are different members of a structure. What a pointer points to may be anything of a fitting type
//! (C11 6.5p7), but not a variable whose address is never taken. Who needs to know more compares the addresses.

use crate::typed::{ExprId, ExprKind, FunctionBody, GlobalId, Unit, VarId};
use crate::types::{ArrayLen, BitField, IntKind, RecordId, Type, TypeId};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Overlap {
    Never,
    Always,
    /// It depends on addresses.
    Perhaps,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Root {
    Var(VarId),
    Global(GlobalId),
    /// What some pointer points to.
    Pointed,
    /// A value that nothing else refers to.
    Value,
}

/// What the text of an lvalue says about where its object is.
struct Region {
    root: Root,
    /// Bytes of the root among which the object is.
    from: u64,
    to: u64,
    /// The object is all of these bytes.
    is_exact: bool,
    bits: Option<BitField>,
    /// Members on the way, outermost first.
    members: Vec<(RecordId, u32)>,
}

pub(super) struct Lvalues<'u> {
    pub unit: &'u Unit,
    pub body: &'u FunctionBody,
}

impl Lvalues<'_> {
    pub fn overlap(&self, left: ExprId, right: ExprId) -> Overlap {
        let (a, b) = (self.region(left), self.region(right));
        let both_named = a.root != Root::Pointed && b.root != Root::Pointed;
        if both_named {
            return match a.root == b.root && a.root != Root::Value {
                true => within_one(&a, &b),
                false => Overlap::Never,
            };
        }
        let has_address = |region: &Region| match region.root {
            Root::Var(var) => self.body.vars[var].in_memory,
            Root::Value => false,
            Root::Global(_) | Root::Pointed => true,
        };
        let types = (self.unit.exprs[left].ty.ty, self.unit.exprs[right].ty.ty);
        let is_apart = !has_address(&a) || !has_address(&b) || self.are_other_members(&a, &b);
        match is_apart || !self.may_share_memory(types, &a, &b) {
            true => Overlap::Never,
            false => Overlap::Perhaps,
        }
    }

    /// Whether the bytes of an lvalue may be seen as another one's, too: it is a member of a union, or stands behind a cast.
    pub fn is_reinterpreted(&self, place: ExprId) -> bool {
        let exprs = &self.unit.exprs;
        let mut place = place;
        loop {
            place = match &exprs[place].kind {
                ExprKind::Field { base, .. } => {
                    if self.unit.types.record_of(exprs[*base].ty.ty).is_some_and(|record| record.is_union) {
                        return true;
                    }
                    *base
                }
                ExprKind::Deref(operand) | ExprKind::PointerAdd(operand, _) | ExprKind::AddressOf(operand) => *operand,
                ExprKind::Cast(_) => return true,
                _ => return false,
            }
        }
    }

    /// Whether an lvalue is what some pointer points to.
    pub fn is_pointed_to(&self, place: ExprId) -> bool {
        self.region(place).root == Root::Pointed
    }

    fn region(&self, place: ExprId) -> Region {
        let exprs = &self.unit.exprs;
        let size = self.unit.types.size_of(exprs[place].ty.ty).unwrap_or(u64::MAX);
        let whole = |root| Region { root, from: 0, to: size, is_exact: true, bits: None, members: Vec::new() };
        match &exprs[place].kind {
            ExprKind::Var(var) => whole(Root::Var(*var)),
            ExprKind::Global(global) => whole(Root::Global(*global)),
            ExprKind::Deref(pointer) => self.pointed(*pointer, size),
            ExprKind::Field { base, field } => self.member(*base, *field, size),
            _ => whole(Root::Value),
        }
    }

    fn member(&self, base: ExprId, field: u32, size: u64) -> Region {
        let ty = self.unit.exprs[base].ty.ty;
        let mut region = self.region(base);
        if let Type::Record(record) = self.unit.types.get(ty) {
            region.members.push((*record, field));
        }
        let layout = self.unit.types.layout_of(ty);
        if let Some(field) = layout.and_then(|layout| layout.fields.get(field as usize)) {
            region.bits = field.bits;
            if region.is_exact {
                region.from = region.from.saturating_add(field.offset);
                region.to = region.from.saturating_add(field.bits.map_or(size, |bits| u64::from(bits.unit_bytes)));
            }
        }
        region
    }

    /// The object of `size` bytes that a pointer points to.
    fn pointed(&self, pointer: ExprId, size: u64) -> Region {
        let exprs = &self.unit.exprs;
        match &exprs[pointer].kind {
            ExprKind::AddressOf(place) => {
                let mut region = self.region(*place);
                if region.is_exact {
                    region.to = region.from.saturating_add(size);
                }
                region
            }
            ExprKind::Cast(operand) if self.unit.types.is_pointer(exprs[*operand].ty.ty) => {
                self.pointed(*operand, size)
            }
            ExprKind::PointerAdd(base, bytes) => {
                let mut region = self.pointed(*base, self.room_behind(*base));
                match exprs[*bytes].kind {
                    ExprKind::Const(bytes) if region.is_exact && bytes < u128::from(region.to - region.from) => {
                        region.from += bytes as u64;
                        region.to = region.from.saturating_add(size);
                    }
                    _ => region.is_exact = false,
                }
                region
            }
            _ => {
                let root = Root::Pointed;
                Region { root, from: 0, to: size, is_exact: true, bits: None, members: Vec::new() }
            }
        }
    }

    /// How many bytes an index may reach: those of the array that decays here, or any number of them.
    fn room_behind(&self, pointer: ExprId) -> u64 {
        let exprs = &self.unit.exprs;
        match &exprs[pointer].kind {
            ExprKind::AddressOf(array) => match self.unit.types.get(exprs[*array].ty.ty) {
                Type::Array(_, ArrayLen::Known(_)) => self.unit.types.size_of(exprs[*array].ty.ty).unwrap_or(u64::MAX),
                _ => u64::MAX,
            },
            _ => u64::MAX,
        }
    }

    /// Different members of one structure. (Two structures of one type are the same one, or apart.)
    fn are_other_members(&self, a: &Region, b: &Region) -> bool {
        a.members.iter().any(|(record, field)| {
            let other = b.members.iter().find(|(other, _)| other == record);
            other.is_some_and(|(_, other)| other != field && !self.unit.types.records[*record].is_union)
        })
    }

    /// Whether objects of these types may be the same memory.
    fn may_share_memory(&self, (left, right): (TypeId, TypeId), a: &Region, b: &Region) -> bool {
        let types = &self.unit.types;
        let in_union = |region: &Region| region.members.iter().any(|(record, _)| types.records[*record].is_union);
        if !types.is_scalar(left) || !types.is_scalar(right) || in_union(a) || in_union(b) {
            return true;
        }
        let class = |ty: TypeId| match types.get(ty) {
            Type::Float(_) => 2,
            Type::Pointer(_) => 1,
            _ => 0,
        };
        let is_character = |ty: TypeId| {
            matches!(types.get(ty), Type::Int(IntKind::Char | IntKind::SignedChar | IntKind::UnsignedChar))
        };
        let same_size = types.size_of(left) == types.size_of(right);
        is_character(left) || is_character(right) || (same_size && class(left) == class(right))
    }
}

/// Two pieces of one object.
fn within_one(a: &Region, b: &Region) -> Overlap {
    if let (Some(x), Some(y), true) = (a.bits, b.bits, a.is_exact && b.is_exact) {
        let bits = |region: &Region, bits: BitField| {
            let first = region.from.saturating_mul(8).saturating_add(u64::from(bits.shift));
            first..first.saturating_add(u64::from(bits.width))
        };
        let (x, y) = (bits(a, x), bits(b, y));
        return if x.start < y.end && y.start < x.end { Overlap::Always } else { Overlap::Never };
    }
    match (a.from < b.to && b.from < a.to, a.is_exact && b.is_exact) {
        (false, _) => Overlap::Never,
        (true, true) => Overlap::Always,
        (true, false) => Overlap::Perhaps,
    }
}
