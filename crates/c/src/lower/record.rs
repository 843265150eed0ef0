//! Values that are no scalars: structures, unions, and arrays in initialisers.
//!
//! A record value is the address of memory that holds it. Code that needs the value copies it from there at once, one
//! scalar after the other: in C, a structure assignment is no single step, and other threads can see it half done.
//! Padding is not copied; the bytes of unions and bit-fields are, in words as large as their alignment allows. Large
//! objects are copied by a loop over words.

use super::body::{Home, Lowering};
use super::overlap::{Lvalues, Overlap};
use super::place::{How, Place};
use super::scalar::Scalar;
use crate::diagnostic::Result;
use crate::source::Span;
use crate::typed::{Builtin, ExprId, ExprKind, VarId};
use crate::types::{ArrayLen, Layout, QualType, Type as CType, TypeId, Types};
use leno_ir::program::{BinaryOp, Expr, Op, Property, Type};
use std::collections::BTreeSet;

/// Objects of more scalars than this are copied and cleared by a loop.
const MOST_CHUNKS: usize = 16;

/// Where a record value is.
pub(super) struct RecordValue {
    pub address: Expr,
    /// Nothing else refers to this memory.
    pub is_temporary: bool,
    pub how: How,
}

impl Lowering<'_, '_> {
    /// Evaluates an expression of record type.
    pub fn record(&mut self, id: ExprId) -> Result<RecordValue> {
        let unit = self.unit;
        let expr = &unit.exprs[id];
        self.begin_operator(id);
        let named = |address, how| RecordValue { address, is_temporary: false, how };
        Ok(match &expr.kind {
            ExprKind::Load(place) => {
                let how = How::of(self.type_of(*place).quals);
                let address = self.address(*place)?;
                self.sequenced(id, &Place::Memory { ptr: address.clone(), how });
                if how.is_atomic() {
                    return self.atomic_record_load(id, address, how);
                }
                named(address, how)
            }
            ExprKind::Cast(operand) if self.is_record(self.type_of(*operand)) => return self.record(*operand),
            ExprKind::Comma(a, b) => {
                self.effect(*a)?;
                return self.record(*b);
            }
            ExprKind::Assign { place, value } => named(self.assign_record(id, *place, *value)?, How::PLAIN),
            ExprKind::Conditional { cond, then, otherwise } => {
                return self.record_choice(*cond, *then, *otherwise);
            }
            ExprKind::Builtin { builtin: Builtin::VaArg, args } => {
                named(self.variable_argument_address(id, args)?, How::PLAIN)
            }
            ExprKind::Call { .. } | ExprKind::StmtExpr { .. } | ExprKind::Builtin { .. } => {
                let slot = self.temporary_slot(expr.ty, expr.span)?;
                self.record_into(id, slot.clone())?;
                RecordValue { address: slot, is_temporary: true, how: How::PLAIN }
            }
            _ => named(self.address(id)?, How::of(expr.ty.quals)),
        })
    }

    /// Evaluates an expression of record type into memory to which nothing else refers yet.
    pub fn record_into(&mut self, id: ExprId, dest: Expr) -> Result<()> {
        let unit = self.unit;
        let expr = &unit.exprs[id];
        self.begin_operator(id);
        match &expr.kind {
            ExprKind::Call { .. } => self.call_into(id, Some(dest)).map(drop),
            ExprKind::StmtExpr { body, value: Some(value) } => {
                self.open_block(body);
                for statement in body {
                    self.statement(*statement)?;
                }
                self.record_into(*value, dest)?;
                self.close_scope()
            }
            ExprKind::Comma(a, b) => {
                self.effect(*a)?;
                self.record_into(*b, dest)
            }
            ExprKind::Builtin { builtin, args } if *builtin != Builtin::VaArg => {
                self.atomic_record(id, *builtin, args, dest)
            }
            _ => {
                self.b.hold(dest);
                let value = self.record(id)?;
                let dest = self.b.release();
                self.at(expr.span);
                self.copy(expr.ty, dest, How::PLAIN, value.address, value.how)
            }
        }
    }

    /// Memory for a value of this type that only this activation knows.
    pub fn temporary_slot(&mut self, ty: QualType, span: Span) -> Result<Expr> {
        let Some(size) = self.types.size_of(ty.ty) else {
            let message = format!("the size of `{}` is not known here", self.types.show(ty));
            return Err(Box::new(crate::diagnostic::Diagnostic::error(span, message)));
        };
        let align = self.types.align_of(ty.ty);
        Ok(Expr::Slot(self.b.new_slot("", size, align)))
    }

    /// `f().x`: the value in memory.
    pub fn temporary(&mut self, var: VarId, value: ExprId) -> Result<Expr> {
        let is_kept = std::mem::take(&mut self.keeps_temporary);
        if let (true, true, Home::Slot(slot)) = (is_kept, self.is_record(self.type_of(value)), self.home(var)?) {
            self.begins_in_expression(slot);
            self.record_into(value, Expr::Slot(slot))?;
            return Ok(Expr::Slot(slot));
        }
        if self.is_record(self.type_of(value)) {
            let value_ty = self.type_of(value);
            let record = self.record(value)?;
            if record.is_temporary {
                return Ok(record.address);
            }
            let dest = match self.home(var)? {
                Home::Slot(slot) => Expr::Slot(slot),
                Home::Dynamic(local) | Home::Register(local) => Expr::Local(local),
            };
            self.at(self.span_of(value));
            self.copy(value_ty, dest.clone(), How::PLAIN, record.address, record.how)?;
            return Ok(dest);
        }
        let scalar = self.scalar(value)?;
        let computed = self.rvalue(value)?;
        let dest = match self.home(var)? {
            Home::Slot(slot) => Expr::Slot(slot),
            Home::Dynamic(local) | Home::Register(local) => Expr::Local(local),
        };
        self.b.store(dest.clone(), scalar.ir(), computed);
        Ok(dest)
    }

    /// `place = value` for records: the address of the place.
    pub fn assign_record(&mut self, id: ExprId, place: ExprId, value: ExprId) -> Result<Expr> {
        let may_overlap = self.may_copy_onto_itself(place, value);
        let ty = self.type_of(place);
        let how = How::of(ty.quals);
        let dest = self.address(place)?;
        self.b.hold(dest);
        let value = self.record(value)?;
        let dest = self.b.release();
        self.at(self.span_of(id));
        let dest = self.b.reusable(dest);
        self.sequenced(id, &Place::Memory { ptr: dest.clone(), how });
        let mut value = value;
        if may_overlap {
            value.address = self.b.reusable(value.address);
            let same = self.b.binary(BinaryOp::Eq, dest.clone(), value.address.clone());
            let size = self.types.size_of(ty.ty).unwrap_or(0);
            let apart = self.is_apart((dest.clone(), size), (value.address.clone(), size));
            let fine = self.b.binary(BinaryOp::Or, same, apart);
            self.b.assert(fine, Property::OverlappingCopy, "a structure is assigned to where it partly is");
        }
        if how.is_atomic() {
            self.atomic_record_store(id, ty, dest.clone(), how, value.address)?;
        } else {
            self.copy(ty, dest.clone(), how, value.address, value.how)?;
        }
        Ok(dest)
    }

    /// Whether a structure may be assigned to a place that it overlaps without being the same (C11 6.5.16.1p3). It takes
    /// a union, or a pointer, which may have been cast anywhere.
    fn may_copy_onto_itself(&self, place: ExprId, value: ExprId) -> bool {
        let ExprKind::Load(source) = self.unit.exprs[value].kind else { return false };
        let lvalues = Lvalues { unit: self.unit, body: self.body };
        [place, source].into_iter().any(|side| lvalues.is_reinterpreted(side) || lvalues.is_pointed_to(side))
            && lvalues.overlap(place, source) != Overlap::Never
    }

    fn record_choice(&mut self, cond: ExprId, then: ExprId, otherwise: ExprId) -> Result<RecordValue> {
        let result = self.b.new_temp(Type::Ptr);
        let (yes, no, join) = (self.b.new_block(), self.b.new_block(), self.b.new_block());
        self.branch_on(cond, yes, no)?;
        let mut how = How::PLAIN;
        let mut is_temporary = true;
        for (block, arm) in [(yes, then), (no, otherwise)] {
            self.b.switch_to(block);
            let value = self.record(arm)?;
            how.volatile |= value.how.volatile;
            is_temporary &= value.is_temporary;
            self.at(self.span_of(arm));
            self.b.assign(result, value.address);
            self.b.goto(join);
        }
        self.b.switch_to(join);
        Ok(RecordValue { address: Expr::Local(result), is_temporary, how })
    }

    // ---- copying and clearing

    /// Copies an object: a record, an array, or a scalar.
    pub fn copy(&mut self, ty: QualType, to: Expr, to_how: How, from: Expr, from_how: How) -> Result<()> {
        let Some(size) = self.types.size_of(ty.ty) else { return Ok(()) };
        let to = self.b.reusable(to);
        let from = self.b.reusable(from);
        if to == from {
            return Ok(());
        }
        match chunks(self.types, ty.ty) {
            Some(chunks) => {
                for (offset, ty) in chunks {
                    let (source, target) = (self.b.offset(from.clone(), offset), self.b.offset(to.clone(), offset));
                    let value = self.b.load_from(from_how.access(source, ty));
                    self.b.push(Op::Store { to: to_how.access(target, ty), value });
                }
            }
            None => self.copy_bytes(to, from, size, self.types.align_of(ty.ty)),
        }
        Ok(())
    }

    /// Copies many bytes.
    pub fn copy_bytes(&mut self, to: Expr, from: Expr, size: u64, align: u32) {
        let (word, step) = self.widest_step(size, align);
        self.counted_loop(size, step, |lowering, offset| {
            let source = lowering.b.binary(BinaryOp::PtrAdd, from.clone(), offset.clone());
            let value = lowering.b.load(source, word);
            let target = lowering.b.binary(BinaryOp::PtrAdd, to.clone(), offset);
            lowering.b.store(target, word, value);
        });
    }

    /// Clears many bytes.
    pub fn clear_bytes(&mut self, to: Expr, size: u64, align: u32) {
        let (word, step) = self.widest_step(size, align);
        self.counted_loop(size, step, |lowering, offset| {
            let target = lowering.b.binary(BinaryOp::PtrAdd, to.clone(), offset);
            lowering.b.store(target, word, super::scalar::zero(word));
        });
    }

    fn widest_step(&self, size: u64, align: u32) -> (Type, u64) {
        let widest = self.b.model().pointer_bytes();
        let step = (0..4)
            .rev()
            .map(|n| 1 << n)
            .find(|step| *step <= widest && u64::from(align) % step == 0 && size.is_multiple_of(*step));
        let step = step.unwrap_or(1);
        (Type::Int(step as u16 * 8), step)
    }

    /// `for (offset = 0; offset < size; offset += step) body(offset)`
    fn counted_loop(&mut self, size: u64, step: u64, body: impl FnOnce(&mut Self, Expr)) {
        let word = self.b.word();
        let bits = word.bits(self.b.model());
        let counter = self.b.new_variable("", word, false);
        let (head, inside, end) = (self.b.new_block(), self.b.new_block(), self.b.new_block());
        self.b.assign(counter, Expr::int(0, bits));
        self.b.goto(head);
        self.b.switch_to(head);
        let more = self.b.binary(BinaryOp::ULt, Expr::Local(counter), Expr::int(u128::from(size), bits));
        self.b.branch(more, inside, end);
        self.b.switch_to(inside);
        body(self, Expr::Local(counter));
        let next = self.b.binary(BinaryOp::Add, Expr::Local(counter), Expr::int(u128::from(step), bits));
        self.b.assign(counter, next);
        self.b.goto(head);
        self.b.switch_to(end);
    }

    /// Clears an object, except where `covered` says that a scalar at that offset and of that size will be stored
    /// anyway.
    pub fn clear(&mut self, ty: QualType, to: Expr, how: How, covered: &BTreeSet<(u64, u64)>) -> Result<()> {
        let Some(size) = self.types.size_of(ty.ty) else { return Ok(()) };
        let Some(chunks) = chunks(self.types, ty.ty) else {
            let scalars: u64 = covered.iter().map(|(_, bytes)| bytes).sum();
            if scalars < size {
                self.clear_bytes(to, size, self.types.align_of(ty.ty));
            }
            return Ok(());
        };
        for (offset, ty) in chunks {
            if !covered.contains(&(offset, ty.bytes(self.b.model()))) {
                let target = self.b.offset(to.clone(), offset);
                self.b.push(Op::Store { to: how.access(target, ty), value: super::scalar::zero(ty) });
            }
        }
        Ok(())
    }
}

/// The scalars of which an object consists, by offset; None if there are too many to list.
pub(super) fn chunks(types: &Types, ty: TypeId) -> Option<Vec<(u64, Type)>> {
    let mut found = Vec::new();
    collect(types, ty, 0, &mut found).then_some(found)
}

fn collect(types: &Types, ty: TypeId, base: u64, found: &mut Vec<(u64, Type)>) -> bool {
    if let Some(scalar) = Scalar::of(types, ty) {
        found.push((base, scalar.ir()));
        return found.len() <= MOST_CHUNKS;
    }
    match types.get(ty) {
        CType::Array(element, ArrayLen::Known(count)) => {
            let size = types.size_of(element.ty).unwrap_or(0);
            size == 0 || (0..*count).all(|index| collect(types, element.ty, base + index * size, found))
        }
        CType::Record(id) => {
            let record = &types.records[*id];
            let Some(layout) = &record.layout else { return true };
            if record.is_union {
                collect_union(types, layout, base, found);
            } else if !collect_struct(types, layout, base, found) {
                return false;
            }
            found.len() <= MOST_CHUNKS
        }
        // A flexible array member; types that are never computed with.
        _ => {
            let size = types.size_of(ty).unwrap_or(0);
            let align = u64::from(types.align_of(ty));
            cover(base, size, align, types, &BTreeSet::new(), found);
            found.len() <= MOST_CHUNKS
        }
    }
}

fn collect_struct(types: &Types, layout: &Layout, base: u64, found: &mut Vec<(u64, Type)>) -> bool {
    let mut bits_end = 0;
    for field in &layout.fields {
        let Some(bits) = field.bits else {
            if !collect(types, field.ty.ty, base + field.offset, found) {
                return false;
            }
            continue;
        };
        // Exactly the bytes that hold bits of this field, except for those that the field before it has brought
        // already.
        let start = field.offset + u64::from(bits.shift / 8);
        let end = field.offset + u64::from(bits.shift + bits.width).div_ceil(8);
        let start = start.max(bits_end);
        if bits.width > 0 && start < end {
            cover(base + start, end - start, u64::from(layout.align), types, &BTreeSet::new(), found);
            bits_end = end;
        }
    }
    true
}

/// All bytes, since any member may be the one that lives; pointers as pointers, where a member has one.
fn collect_union(types: &Types, layout: &Layout, base: u64, found: &mut Vec<(u64, Type)>) {
    let mut pointers = BTreeSet::new();
    for field in &layout.fields {
        let mut scalars = Vec::new();
        collect(types, field.ty.ty, base + field.offset, &mut scalars);
        pointers.extend(scalars.into_iter().filter(|(_, ty)| *ty == Type::Ptr).map(|(offset, _)| offset));
    }
    cover(base, layout.size, u64::from(layout.align), types, &pointers, found);
}

/// Covers a range of bytes with aligned words.
fn cover(start: u64, size: u64, align: u64, types: &Types, pointers: &BTreeSet<u64>, found: &mut Vec<(u64, Type)>) {
    let word = types.model.pointer_bytes();
    let (mut at, end) = (start, start.saturating_add(size));
    while at < end && found.len() <= MOST_CHUNKS {
        let fits = |step: &u64| *step <= align && at % step == 0 && at + step <= end;
        let step = [8, 4, 2, 1].into_iter().filter(|step| *step <= word).find(fits).unwrap_or(1);
        let is_pointer = step == word && pointers.contains(&at);
        found.push((at, if is_pointer { Type::Ptr } else { Type::Int(step as u16 * 8) }));
        at += step;
    }
}
