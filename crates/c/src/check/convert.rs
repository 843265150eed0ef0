//! All of C's conversions, made explicit: decay and loads, promotions, the usual arithmetic conversions, and conversion
//! as if by assignment.

use super::{Checker, fail};
use crate::diagnostic::Result;
use crate::source::Span;
use crate::typed::*;
use crate::types::*;

impl Checker<'_> {
    pub fn is_lvalue(&self, expr: ExprId) -> bool {
        use ExprKind::*;
        matches!(
            self.unit.exprs[expr].kind,
            Var(_) | Global(_) | Deref(_) | Field { .. } | CompoundLiteral { .. } | Temporary { .. }
        )
    }

    /// The bit-field that an lvalue names, if it is one.
    pub fn bit_field(&self, expr: ExprId) -> Option<BitField> {
        match self.unit.exprs[expr].kind {
            ExprKind::Field { base, field } => {
                self.types().layout_of(self.ty(base).ty).and_then(|l| l.fields[field as usize].bits)
            }
            _ => None,
        }
    }

    /// An lvalue becomes its value, an array the address of its first element, a function its address.
    pub fn decay(&mut self, expr: ExprId) -> ExprId {
        let Expr { ty, span, .. } = self.unit.exprs[expr];
        match self.types().get(ty.ty) {
            Type::Array(element, _) => {
                let element = *element;
                let pointer = self.pointer_to(element);
                self.push(ExprKind::AddressOf(expr), pointer, span)
            }
            Type::Function(_) => {
                let pointer = self.pointer_to(ty);
                match self.unit.exprs[expr].kind {
                    ExprKind::Deref(inner) => self.retype(inner, pointer),
                    ExprKind::Function(id) => self.push(ExprKind::Function(id), pointer, span),
                    _ => expr,
                }
            }
            _ if self.is_lvalue(expr) => {
                let value = self.push(ExprKind::Load(expr), ty.ty, span);
                self.as_wide_field(value, expr)
            }
            _ => expr,
        }
    }

    /// The value of a bit-field that is wider than `int`, in the type that gcc computes with: of just its width.
    fn as_wide_field(&mut self, value: ExprId, place: ExprId) -> ExprId {
        let ty = self.ty(value).ty;
        match self.bit_field(place) {
            Some(bits) if bits.width > 32 && bits.width < self.types().int_bits(ty) => {
                let kind = IntKind::of_field(bits.width, self.types().is_signed(ty), self.types().model);
                let own = self.unit.types.int(kind);
                self.convert(value, own)
            }
            _ => value,
        }
    }

    /// The value of an expression that has stored it to `place`: gcc promotes it as it would promote the bit-field.
    pub fn value_stored(&mut self, value: ExprId, place: ExprId) -> ExprId {
        match self.promoted_field(place) {
            Some(promoted) => self.convert(value, promoted),
            None => self.as_wide_field(value, place),
        }
    }

    /// What the value of a bit-field that is not wider than `int` is promoted to (`_Bool` is, whatever its width).
    fn promoted_field(&self, place: ExprId) -> Option<TypeId> {
        let bits = self.bit_field(place)?;
        let ty = self.ty(place).ty;
        if matches!(self.types().get(ty), Type::Bool) {
            return None;
        }
        match bits.width {
            ..32 => Some(self.common().int),
            32 if self.types().is_signed(ty) => Some(self.common().int),
            32 => Some(self.common().uint),
            _ => None,
        }
    }

    pub fn pointer_to(&mut self, target: QualType) -> TypeId {
        self.unit.types.pointer_to(target)
    }

    /// The same bits under another type of the same size.
    fn retype(&mut self, expr: ExprId, ty: TypeId) -> ExprId {
        if self.ty(expr).ty == ty { expr } else { self.push(ExprKind::Cast(expr), ty, self.span(expr)) }
    }

    pub fn constant(&mut self, bits: u128, ty: TypeId, span: Span) -> ExprId {
        self.push(ExprKind::Const(bits), ty, span)
    }

    pub fn size_constant(&mut self, value: u64, span: Span) -> ExprId {
        let size = self.common().size;
        self.constant(u128::from(value), size, span)
    }

    pub fn int_constant(&mut self, value: i128, span: Span) -> ExprId {
        let int = self.common().int;
        self.constant(value as u128 & 0xffff_ffff, int, span)
    }

    /// To a type, no questions asked. Integer constants are converted on the spot.
    pub fn convert(&mut self, expr: ExprId, to: TypeId) -> ExprId {
        let from = self.ty(expr).ty;
        if from == to {
            return expr;
        }
        if let ExprKind::Const(bits) = self.unit.exprs[expr].kind
            && self.types().is_integer(from)
            && (self.types().is_integer(to) || self.types().is_pointer(to))
            && !matches!(self.types().get(to), Type::Bool)
        {
            let value = self.extend(bits, from);
            let bits = self.truncate(value as u128, to);
            return self.constant(bits, to, self.span(expr));
        }
        self.push(ExprKind::Cast(expr), to, self.span(expr))
    }

    /// The value that bits of an integer or pointer type stand for.
    pub fn extend(&self, bits: u128, ty: TypeId) -> i128 {
        let width = self.types().int_bits(ty).max(1);
        if width >= 128 {
            return bits as i128;
        }
        let shift = 128 - u32::from(width);
        if self.types().is_signed(ty) { ((bits << shift) as i128) >> shift } else { ((bits << shift) >> shift) as i128 }
    }

    /// The low bits that fit an integer or pointer type.
    pub fn truncate(&self, bits: u128, ty: TypeId) -> u128 {
        match self.types().int_bits(ty) {
            0 | 128.. => bits,
            width => bits & ((1 << width) - 1),
        }
    }

    pub fn promoted_type(&mut self, ty: TypeId) -> TypeId {
        let common = self.common();
        match self.types().get(ty) {
            Type::Bool => common.int,
            Type::Int(kind) if kind.rank() < IntKind::Int.rank() => common.int,
            Type::Enum(_) => {
                let kind = self.types().int_kind(ty).unwrap_or(IntKind::UnsignedInt);
                if kind.rank() < IntKind::Int.rank() { common.int } else { self.unit.types.int(kind) }
            }
            _ => ty,
        }
    }

    /// Integer promotion of a value (what was loaded from a bit-field is promoted by its width).
    pub fn promote(&mut self, expr: ExprId) -> ExprId {
        let loaded = match self.unit.exprs[expr].kind {
            ExprKind::Load(place) => self.promoted_field(place),
            _ => None,
        };
        let to = loaded.unwrap_or_else(|| self.promoted_type(self.ty(expr).ty));
        self.convert(expr, to)
    }

    /// The last value of a list: one that was loaded from a bit-field is promoted here, where that is still seen.
    pub fn promote_field(&mut self, expr: ExprId) -> ExprId {
        match self.unit.exprs[expr].kind {
            ExprKind::Load(place) => self.value_stored(expr, place),
            _ => expr,
        }
    }

    /// For arguments that no prototype speaks of.
    pub fn promote_argument(&mut self, expr: ExprId) -> ExprId {
        let ty = self.ty(expr).ty;
        match self.types().get(ty) {
            Type::Float(FloatKind::Float) => self.convert(expr, self.common().double),
            Type::Int(IntKind::OfField { signed, .. }) => {
                let whole = if *signed { IntKind::LongLong } else { IntKind::UnsignedLongLong };
                let whole = self.unit.types.int(whole);
                self.convert(expr, whole)
            }
            _ if self.types().is_integer(ty) => self.promote(expr),
            _ => expr,
        }
    }

    /// The usual arithmetic conversions.
    pub fn balance(&mut self, left: ExprId, right: ExprId) -> (ExprId, ExprId, TypeId) {
        let (l, r) = (self.ty(left).ty, self.ty(right).ty);
        let float = match (self.types().get(l), self.types().get(r)) {
            (Type::Float(a), Type::Float(b)) => Some(*a.max(b)),
            (Type::Float(a), _) | (_, Type::Float(a)) => Some(*a),
            _ => None,
        };
        if let Some(kind) = float {
            let ty = self.unit.types.intern(Type::Float(kind));
            return (self.convert(left, ty), self.convert(right, ty), ty);
        }
        let (left, right) = (self.promote(left), self.promote(right));
        let ty = self.common_int(self.ty(left).ty, self.ty(right).ty);
        (self.convert(left, ty), self.convert(right, ty), ty)
    }

    /// The common type of two promoted integer types.
    fn common_int(&mut self, left: TypeId, right: TypeId) -> TypeId {
        let (Some(a), Some(b)) = (self.types().int_kind(left), self.types().int_kind(right)) else { return left };
        if a == b {
            return left;
        }
        let model = self.types().model;
        let of_field = matches!(a, IntKind::OfField { .. }) || matches!(b, IntKind::OfField { .. });
        let kind = if of_field && a.bits(model) != b.bits(model) {
            if a.bits(model) > b.bits(model) { a } else { b }
        } else if a.is_signed() == b.is_signed() {
            if a.rank() > b.rank() { a } else { b }
        } else {
            let (signed, unsigned) = if a.is_signed() { (a, b) } else { (b, a) };
            if unsigned.rank() >= signed.rank() {
                unsigned
            } else if signed.bits(model) > unsigned.bits(model) {
                signed
            } else {
                signed.to_unsigned()
            }
        };
        self.unit.types.int(kind)
    }

    /// As if by assignment to an object of type `to`. gcc's warnings are not repeated here: it gives them itself.
    pub fn convert_assigned(&mut self, expr: ExprId, to: QualType, what: &str) -> Result<ExprId> {
        let from = self.ty(expr).ty;
        let (source, target) = (self.types().get(from), self.types().get(to.ty));
        if from == to.ty && !matches!(source, Type::Void | Type::Unsupported(_)) {
            return Ok(expr);
        }
        let scalar = |id: TypeId| self.types().is_scalar(id);
        let allowed = match (source, target) {
            (Type::Float(_), Type::Pointer(_)) | (Type::Pointer(_), Type::Float(_)) => false,
            _ => scalar(from) && scalar(to.ty),
        };
        if allowed {
            return Ok(self.convert(expr, to.ty));
        }
        if let Some(member) = self.transparent_member(to.ty, from) {
            return Ok(self.wrap_in_union(expr, to.ty, member));
        }
        let (from, to) = (self.types().show(self.ty(expr)), self.types().show(QualType::plain(to.ty)));
        fail(self.span(expr), format!("a value of type `{from}` cannot be used as `{to}` {what}"))
    }

    /// glibc declares `wait` and some socket calls with transparent unions of pointers: any member's type is taken.
    fn transparent_member(&self, union: TypeId, value: TypeId) -> Option<u32> {
        let record = self.types().record_of(union).filter(|r| r.is_union)?;
        let fields = &record.layout.as_ref()?.fields;
        if !self.types().is_pointer(value) || !fields.iter().all(|f| self.types().is_pointer(f.ty.ty)) {
            return None;
        }
        Some(fields.iter().position(|f| f.ty.ty == value).unwrap_or(0) as u32)
    }

    pub fn wrap_in_union(&mut self, expr: ExprId, union: TypeId, member: u32) -> ExprId {
        let span = self.span(expr);
        let Some(field) = self.types().layout_of(union).map(|l| l.fields[member as usize].clone()) else { return expr };
        let value = self.convert(expr, field.ty.ty);
        let item = LocalInitItem { offset: field.offset, ty: field.ty, bits: None, value };
        let var = self.hidden_var(union.into(), span);
        let init = LocalInit { zero: false, items: vec![item] };
        let literal = self.push(ExprKind::CompoundLiteral { var, init }, union, span);
        self.push(ExprKind::Load(literal), union, span)
    }

    /// No object is of the type of a wide bit-field's value: `typeof(s.wide + 1) x;` gives one that gcc cuts at each store.
    pub fn refuse_field_type(&self, ty: TypeId, span: Span) -> Result<()> {
        match self.types().get(ty) {
            Type::Int(IntKind::OfField { .. }) => {
                fail(span, "an object of the type of a wide bit-field's value is not supported")
            }
            _ => Ok(()),
        }
    }

    /// A scalar that decides something.
    pub fn condition(&mut self, expr: ExprId) -> Result<ExprId> {
        let ty = self.ty(expr);
        if self.types().is_scalar(ty.ty) {
            return Ok(expr);
        }
        let shown = self.types().show(ty);
        fail(self.span(expr), format!("a condition must be a number or a pointer, not `{shown}`"))
    }

    /// Whether two types are compatible in C's sense.
    pub fn compatible(&self, a: TypeId, b: TypeId) -> bool {
        if a == b {
            return true;
        }
        match (self.types().get(a), self.types().get(b)) {
            (Type::Pointer(x), Type::Pointer(y)) => x.quals == y.quals && self.compatible(x.ty, y.ty),
            (Type::Array(x, m), Type::Array(y, n)) => {
                let lengths = !matches!((m, n), (ArrayLen::Known(m), ArrayLen::Known(n)) if m != n);
                lengths && self.compatible(x.ty, y.ty)
            }
            (Type::Function(f), Type::Function(g)) => {
                let params = f.unprototyped
                    || g.unprototyped
                    || (f.variadic == g.variadic
                        && f.params.len() == g.params.len()
                        && f.params.iter().zip(&g.params).all(|(p, q)| self.compatible(p.ty, q.ty)));
                params && self.compatible(f.ret.ty, g.ret.ty)
            }
            (Type::Enum(_), Type::Int(kind)) | (Type::Int(kind), Type::Enum(_)) => {
                self.types().int_kind(a) == self.types().int_kind(b) && kind.rank() >= 3
            }
            _ => false,
        }
    }
}
