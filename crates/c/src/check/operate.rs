//! Operators: arithmetic, comparison, logic, assignment, pointers, casts.

use super::{Checker, fail};
use crate::ast::{self, BinaryOp as Op, UnaryOp as Un};
use crate::diagnostic::Result;
use crate::source::Span;
use crate::typed::*;
use crate::types::*;

impl<'a> Checker<'a> {
    pub fn unary(&mut self, op: Un, operand: ast::ExprId, span: Span) -> Result<ExprId> {
        match op {
            Un::Extension => self.expr(operand),
            Un::AddressOf => {
                let place = self.expr(operand)?;
                self.address_of(place, span)
            }
            Un::Deref => {
                let pointer = self.rvalue(operand)?;
                self.deref(pointer, span)
            }
            Un::PreIncrement => self.increment(operand, 1, UpdateResult::New, span),
            Un::PreDecrement => self.increment(operand, -1, UpdateResult::New, span),
            Un::PostIncrement => self.increment(operand, 1, UpdateResult::Old, span),
            Un::PostDecrement => self.increment(operand, -1, UpdateResult::Old, span),
            Un::Not => {
                let value = self.rvalue(operand)?;
                let value = self.condition(value)?;
                Ok(self.push(ExprKind::LogicalNot(value), self.common().int, span))
            }
            Un::Plus | Un::Minus | Un::BitNot => self.arithmetic_unary(op, operand, span),
            Un::Real | Un::Imag => fail(span, "complex numbers are not supported"),
        }
    }

    fn arithmetic_unary(&mut self, op: Un, operand: ast::ExprId, span: Span) -> Result<ExprId> {
        let value = self.rvalue(operand)?;
        let ty = self.ty(value);
        let allowed = if op == Un::BitNot { self.types().is_integer(ty.ty) } else { self.types().is_arithmetic(ty.ty) };
        if !allowed {
            let shown = self.types().show(ty);
            return fail(span, format!("this operator cannot be applied to a value of type `{shown}`"));
        }
        let value = if self.types().is_integer(ty.ty) { self.promote(value) } else { value };
        let ty = self.ty(value).ty;
        if let (ExprKind::Const(bits), true) = (&self.unit.exprs[value].kind, self.types().is_integer(ty)) {
            let folded = match op {
                Un::Minus => bits.wrapping_neg(),
                Un::BitNot => !*bits,
                _ => *bits,
            };
            let bits = self.truncate(folded, ty);
            return Ok(self.constant(bits, ty, span));
        }
        Ok(match op {
            Un::Minus => self.push(ExprKind::Unary(UnaryOp::Neg, value), ty, span),
            Un::BitNot => self.push(ExprKind::Unary(UnaryOp::BitNot, value), ty, span),
            _ => value,
        })
    }

    pub fn address_of(&mut self, place: ExprId, span: Span) -> Result<ExprId> {
        let ty = self.ty(place);
        if self.types().is_function(ty.ty) {
            return Ok(self.decay(place));
        }
        if !self.is_lvalue(place) {
            return fail(span, "this is a value, not an object: it has no address");
        }
        self.refuse_bit_field(place, "the address")?;
        if let ExprKind::Deref(pointer) = self.unit.exprs[place].kind {
            return Ok(pointer);
        }
        self.mark_in_memory(place);
        let pointer = self.pointer_to(ty);
        Ok(self.push(ExprKind::AddressOf(place), pointer, span))
    }

    /// The variable at the root of a place needs memory: its address is used.
    fn mark_in_memory(&mut self, place: ExprId) {
        let mut place = place;
        loop {
            match self.unit.exprs[place].kind {
                ExprKind::Field { base, .. } => place = base,
                ExprKind::Var(var) | ExprKind::CompoundLiteral { var, .. } | ExprKind::Temporary { var, .. } => {
                    if let Some(function) = &mut self.function {
                        function.vars[var].in_memory = true;
                    }
                    return;
                }
                _ => return,
            }
        }
    }

    pub fn binary(&mut self, op: Op, left: ast::ExprId, right: ast::ExprId, span: Span) -> Result<ExprId> {
        if matches!(op, Op::And | Op::Or) {
            let (left, right) = (self.rvalue(left)?, self.rvalue(right)?);
            let (left, right) = (self.condition(left)?, self.condition(right)?);
            let kind = if op == Op::And { ExprKind::LogicalAnd(left, right) } else { ExprKind::LogicalOr(left, right) };
            return Ok(self.push(kind, self.common().int, span));
        }
        let (left, right) = (self.rvalue(left)?, self.rvalue(right)?);
        self.binary_values(op, left, right, span)
    }

    fn binary_values(&mut self, op: Op, left: ExprId, right: ExprId, span: Span) -> Result<ExprId> {
        let (l, r) = (self.ty(left).ty, self.ty(right).ty);
        let (left_pointer, right_pointer) = (self.types().is_pointer(l), self.types().is_pointer(r));
        let is_int = |ty| self.types().is_integer(ty);
        match op {
            Op::Add if left_pointer && is_int(r) => self.pointer_add(left, right, false, span),
            Op::Add if right_pointer && is_int(l) => self.pointer_add(right, left, false, span),
            Op::Sub if left_pointer && is_int(r) => self.pointer_add(left, right, true, span),
            Op::Sub if left_pointer && right_pointer => self.pointer_difference(left, right, span),
            Op::Shl | Op::Shr if is_int(l) && is_int(r) => {
                let left = self.promote(left);
                let right = self.promote(right);
                let ty = self.ty(left).ty;
                let op = if op == Op::Shl { BinaryOp::Shl } else { BinaryOp::Shr };
                Ok(self.push(ExprKind::Binary(op, left, right), ty, span))
            }
            _ if is_comparison(op) && (left_pointer || right_pointer) => self.compare_pointers(op, left, right, span),
            _ => self.arithmetic(op, left, right, span),
        }
    }

    fn arithmetic(&mut self, op: Op, left: ExprId, right: ExprId, span: Span) -> Result<ExprId> {
        let (l, r) = (self.ty(left), self.ty(right));
        let needs_int = matches!(op, Op::Rem | Op::BitAnd | Op::BitOr | Op::BitXor | Op::Shl | Op::Shr);
        let allowed = |ty| if needs_int { self.types().is_integer(ty) } else { self.types().is_arithmetic(ty) };
        if !allowed(l.ty) || !allowed(r.ty) {
            let (l, r) = (self.types().show(l), self.types().show(r));
            return fail(span, format!("this operator cannot be applied to values of types `{l}` and `{r}`"));
        }
        let (left, right, ty) = self.balance(left, right);
        let result = if is_comparison(op) { self.common().int } else { ty };
        Ok(self.push(ExprKind::Binary(binary_op(op), left, right), result, span))
    }

    fn compare_pointers(&mut self, op: Op, left: ExprId, right: ExprId, span: Span) -> Result<ExprId> {
        let (l, r) = (self.ty(left), self.ty(right));
        let scalar = |ty| self.types().is_pointer(ty) || self.types().is_integer(ty);
        if !scalar(l.ty) || !scalar(r.ty) {
            let (l, r) = (self.types().show(l), self.types().show(r));
            return fail(span, format!("values of types `{l}` and `{r}` cannot be compared"));
        }
        let ty = if self.types().is_pointer(l.ty) { l.ty } else { r.ty };
        let (left, right) = (self.convert(left, ty), self.convert(right, ty));
        Ok(self.push(ExprKind::Binary(binary_op(op), left, right), self.common().int, span))
    }

    /// `pointer ± index`, with the index scaled to bytes.
    pub fn pointer_add(&mut self, pointer: ExprId, index: ExprId, subtract: bool, span: Span) -> Result<ExprId> {
        let ty = self.ty(pointer).ty;
        let offset = self.byte_offset(ty, index, subtract, span)?;
        if matches!(self.unit.exprs[offset].kind, ExprKind::Const(0)) {
            return Ok(pointer);
        }
        Ok(self.push(ExprKind::PointerAdd(pointer, offset), ty, span))
    }

    /// An index into what a pointer type points to, as a number of bytes (a `size_t`, which wraps).
    fn byte_offset(&mut self, pointer: TypeId, index: ExprId, negate: bool, span: Span) -> Result<ExprId> {
        let Some(target) = self.types().pointee(pointer) else { return fail(span, "this is not a pointer") };
        if !self.types().is_integer(self.ty(index).ty) {
            let shown = self.types().show(self.ty(index));
            return fail(self.span(index), format!("a value of type `{shown}` cannot be added to a pointer"));
        }
        let (size_type, ptrdiff) = (self.common().size, self.common().ptrdiff);
        let index = self.convert(index, ptrdiff);
        let index = self.convert(index, size_type);
        let size = self.size_expr(target, span)?;
        let offset = match (&self.unit.exprs[index].kind, &self.unit.exprs[size].kind) {
            (ExprKind::Const(index), ExprKind::Const(size)) => {
                let bits = self.truncate(index.wrapping_mul(*size), size_type);
                self.constant(bits, size_type, span)
            }
            (_, ExprKind::Const(1)) => index,
            _ => self.push(ExprKind::Binary(BinaryOp::Mul, index, size), size_type, span),
        };
        if !negate {
            return Ok(offset);
        }
        if let ExprKind::Const(bits) = self.unit.exprs[offset].kind {
            let bits = self.truncate(bits.wrapping_neg(), size_type);
            return Ok(self.constant(bits, size_type, span));
        }
        Ok(self.push(ExprKind::Unary(UnaryOp::Neg, offset), size_type, span))
    }

    fn pointer_difference(&mut self, left: ExprId, right: ExprId, span: Span) -> Result<ExprId> {
        let ptrdiff = self.common().ptrdiff;
        let Some(target) = self.types().pointee(self.ty(left).ty) else { return fail(span, "this is not a pointer") };
        let size = self.size_expr(target, span)?;
        let bytes = self.push(ExprKind::PointerDiff(left, right), ptrdiff, span);
        if matches!(self.unit.exprs[size].kind, ExprKind::Const(0 | 1)) {
            return Ok(bytes);
        }
        let size = self.convert(size, ptrdiff);
        Ok(self.push(ExprKind::Binary(BinaryOp::Div, bytes, size), ptrdiff, span))
    }

    // ---- assignment

    /// An lvalue that can be assigned to.
    fn modifiable(&mut self, place: ast::ExprId, span: Span) -> Result<ExprId> {
        let place = self.expr(place)?;
        let ty = self.ty(place);
        if !self.is_lvalue(place) {
            return fail(span, "this is a value, not an object: it cannot be assigned to");
        }
        if self.types().is_array(ty.ty) || self.types().is_function(ty.ty) {
            let shown = self.types().show(ty);
            return fail(span, format!("an object of type `{shown}` cannot be assigned to"));
        }
        if ty.quals.is_const {
            return fail(span, "this object is `const`: it cannot be assigned to");
        }
        Ok(place)
    }

    pub fn assign(&mut self, place: ast::ExprId, value: ast::ExprId, span: Span) -> Result<ExprId> {
        let place = self.modifiable(place, span)?;
        let value = self.rvalue(value)?;
        let ty = self.ty(place);
        let value = self.convert_assigned(value, ty, "here")?;
        let assigned = self.push(ExprKind::Assign { place, value }, ty.ty, span);
        Ok(self.value_stored(assigned, place))
    }

    pub fn assign_op(&mut self, op: Op, place: ast::ExprId, value: ast::ExprId, span: Span) -> Result<ExprId> {
        let place = self.modifiable(place, span)?;
        let operand = self.rvalue(value)?;
        self.update(place, op, operand, UpdateResult::New, span)
    }

    fn increment(&mut self, place: ast::ExprId, by: i128, result: UpdateResult, span: Span) -> Result<ExprId> {
        let place = self.modifiable(place, span)?;
        let one = self.int_constant(1, span);
        let op = if by > 0 { Op::Add } else { Op::Sub };
        self.update(place, op, one, result, span)
    }

    fn update(&mut self, place: ExprId, op: Op, operand: ExprId, result: UpdateResult, span: Span) -> Result<ExprId> {
        let ty = self.ty(place).ty;
        if self.types().is_pointer(ty) && matches!(op, Op::Add | Op::Sub) {
            let operand = self.byte_offset(ty, operand, op == Op::Sub, span)?;
            let kind = ExprKind::Update { place, op: UpdateOp::PointerAdd, operand, compute: ty, result };
            return Ok(self.push(kind, ty, span));
        }
        // Typed as the plain operator on a loaded value would be; the load itself is part of the update.
        let probe = self.decay(place);
        let typed = self.binary_values(op, probe, operand, span)?;
        let ExprKind::Binary(op, left, operand) = self.unit.exprs[typed].kind else {
            let shown = self.types().show(ty.into());
            return fail(span, format!("this operator cannot be applied to an object of type `{shown}`"));
        };
        let compute = self.ty(left).ty;
        let kind = ExprKind::Update { place, op: UpdateOp::Arithmetic(op), operand, compute, result };
        let updated = self.push(kind, ty, span);
        Ok(self.value_stored(updated, place))
    }

    // ---- the rest

    pub fn comma(&mut self, left: ast::ExprId, right: ast::ExprId, span: Span) -> Result<ExprId> {
        let left = self.expr(left)?;
        let left = self.discard(left);
        let right = self.rvalue(right)?;
        let right = self.promote_field(right);
        let ty = self.ty(right).ty;
        Ok(self.push(ExprKind::Comma(left, right), ty, span))
    }

    /// An expression whose value is not used. A volatile object is still read.
    pub fn discard(&mut self, expr: ExprId) -> ExprId {
        let ty = self.ty(expr);
        if self.types().is_void(ty.ty) || !self.is_lvalue(expr) || self.types().is_array(ty.ty) {
            return expr;
        }
        if self.types().size_of(ty.ty).is_none() { expr } else { self.decay(expr) }
    }

    pub fn cast(&mut self, name: &'a ast::TypeName, operand: ast::ExprId, span: Span) -> Result<ExprId> {
        let to = self.type_name(name)?;
        let pending = self.function.as_mut().map_or(Vec::new(), |f| std::mem::take(&mut f.pending_sizes));
        let mut value = self.cast_to(to, operand, span)?;
        for assign in pending.into_iter().rev() {
            value = self.push(ExprKind::Comma(assign, value), to.ty, span);
        }
        Ok(value)
    }

    fn cast_to(&mut self, to: QualType, operand: ast::ExprId, span: Span) -> Result<ExprId> {
        if self.types().is_void(to.ty) {
            let value = self.expr(operand)?;
            let value = self.discard(value);
            return Ok(self.push(ExprKind::Cast(value), to.ty, span));
        }
        let value = self.rvalue(operand)?;
        let from = self.ty(value).ty;
        if from == to.ty && self.types().is_record(from) {
            return Ok(value);
        }
        if let Some(member) = self.union_cast_member(to.ty, from) {
            return Ok(self.wrap_in_union(value, to.ty, member));
        }
        let float_pointer = self.types().is_float(from) && self.types().is_pointer(to.ty)
            || self.types().is_pointer(from) && self.types().is_float(to.ty);
        if !self.types().is_scalar(from) || !self.types().is_scalar(to.ty) || float_pointer {
            let (from, to) = (self.types().show(from.into()), self.types().show(to));
            return fail(span, format!("a value of type `{from}` cannot be cast to `{to}`"));
        }
        if from == to.ty {
            return Ok(value);
        }
        let cast = self.convert(value, to.ty);
        self.unit.exprs[cast].span = span;
        Ok(cast)
    }

    /// GNU: a cast to a union that has a member of the value's type.
    fn union_cast_member(&self, to: TypeId, from: TypeId) -> Option<u32> {
        let record = self.types().record_of(to).filter(|r| r.is_union)?;
        let index = record.layout.as_ref()?.fields.iter().position(|f| f.ty.ty == from)?;
        Some(index as u32)
    }

    pub fn conditional(
        &mut self,
        cond: ast::ExprId,
        then: Option<ast::ExprId>,
        otherwise: ast::ExprId,
        span: Span,
    ) -> Result<ExprId> {
        let cond = self.rvalue(cond)?;
        let cond = self.condition(cond)?;
        let otherwise = self.rvalue(otherwise)?;
        let Some(then) = then else {
            let (_, otherwise, ty) = self.unify(cond, otherwise, span)?;
            return Ok(self.push(ExprKind::ConditionalElse { cond, otherwise }, ty, span));
        };
        let then = self.rvalue(then)?;
        let (then, otherwise, ty) = self.unify(then, otherwise, span)?;
        Ok(self.push(ExprKind::Conditional { cond, then, otherwise }, ty, span))
    }

    /// The common type of the two arms of `?:`, both converted to it.
    fn unify(&mut self, then: ExprId, otherwise: ExprId, span: Span) -> Result<(ExprId, ExprId, TypeId)> {
        let (a, b) = (self.ty(then).ty, self.ty(otherwise).ty);
        if self.types().is_arithmetic(a) && self.types().is_arithmetic(b) {
            return Ok(self.balance(then, otherwise));
        }
        if a == b {
            return Ok((then, otherwise, a));
        }
        let void = self.common().void;
        if a == void || b == void {
            let then = self.push(ExprKind::Cast(then), void, span);
            let otherwise = self.push(ExprKind::Cast(otherwise), void, span);
            return Ok((then, otherwise, void));
        }
        let ty = match (self.types().pointee(a), self.types().pointee(b)) {
            (Some(_), Some(y)) if self.is_null_constant(then) => self.pointer_to(y),
            (Some(_), Some(_)) if self.is_null_constant(otherwise) => a,
            (Some(x), Some(y)) if self.types().is_void(x.ty) || self.types().is_void(y.ty) => {
                let quals = x.quals.union(y.quals);
                self.pointer_to(QualType { ty: void, quals })
            }
            (Some(x), Some(y)) => {
                let quals = x.quals.union(y.quals);
                self.pointer_to(QualType { ty: x.ty, quals })
            }
            (Some(_), None) if self.types().is_integer(b) => a,
            (None, Some(_)) if self.types().is_integer(a) => b,
            _ => {
                let (a, b) = (self.types().show(a.into()), self.types().show(b.into()));
                return fail(
                    span,
                    format!("the two results of `?:` have types `{a}` and `{b}`, which do not go together"),
                );
            }
        };
        Ok((self.convert(then, ty), self.convert(otherwise, ty), ty))
    }

    /// `0` or `(void *)0`.
    fn is_null_constant(&self, expr: ExprId) -> bool {
        let ty = self.ty(expr).ty;
        let kind_fits = self.types().is_integer(ty) || self.types().pointee(ty) == Some(self.common().void.into());
        kind_fits && self.evaluate_int(expr) == Some(0)
    }
}

fn is_comparison(op: Op) -> bool {
    matches!(op, Op::Lt | Op::Gt | Op::Le | Op::Ge | Op::Eq | Op::Ne)
}

fn binary_op(op: Op) -> BinaryOp {
    match op {
        Op::Mul => BinaryOp::Mul,
        Op::Div => BinaryOp::Div,
        Op::Rem => BinaryOp::Rem,
        Op::Add => BinaryOp::Add,
        Op::Sub => BinaryOp::Sub,
        Op::Shl => BinaryOp::Shl,
        Op::Shr => BinaryOp::Shr,
        Op::Lt => BinaryOp::Lt,
        Op::Gt => BinaryOp::Gt,
        Op::Le => BinaryOp::Le,
        Op::Ge => BinaryOp::Ge,
        Op::Eq => BinaryOp::Eq,
        Op::Ne => BinaryOp::Ne,
        Op::BitAnd => BinaryOp::And,
        Op::BitXor => BinaryOp::Xor,
        // `&&` and `||` never get here: they are not arithmetic.
        Op::BitOr | Op::And | Op::Or => BinaryOp::Or,
    }
}
