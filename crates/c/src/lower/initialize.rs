//! How automatic objects start.
//!
//! The checker gives a flat list of values with offsets, and says whether the rest is zero. What a value will be stored
//! to anyway is not cleared first; strings become stores of their characters when they are short.

use super::body::{Home, Lowering};
use super::place::{How, Place};
use super::scalar::Scalar;
use crate::diagnostic::Result;
use crate::typed::{Definition, ExprId, ExprKind, LocalInit, LocalInitItem, StaticValue, VarId};
use leno_ir::program::{Expr, LocalId, Op, Storage, Type};
use std::collections::BTreeSet;

/// Strings up to this length are stored character by character.
const SHORT_STRING: u64 = 16;

impl Lowering<'_, '_> {
    /// A declaration is reached.
    pub fn declare(&mut self, var: VarId, init: Option<&LocalInit>) -> Result<()> {
        let home = self.home(var)?;
        if !self.body.params.contains(&var) {
            self.begins_in_block(home);
            if let Home::Dynamic(register) = home {
                self.allocate_array(var, register)?;
            }
        }
        match init {
            Some(init) => self.initialize(var, home, init),
            None => Ok(()),
        }
    }

    /// A variable-length array gets its memory.
    fn allocate_array(&mut self, var: VarId, register: LocalId) -> Result<()> {
        let declared = &self.body.vars[var];
        let size = self.size_of(declared.ty.ty, declared.span)?;
        let size = self.b.bounded(size);
        self.b.before_assigning(register);
        let align = declared.align.max(1);
        self.b.push(Op::Allocate { dst: register, size, align, storage: Storage::Stack, zeroed: false });
        Ok(())
    }

    pub fn initialize(&mut self, var: VarId, home: Home, init: &LocalInit) -> Result<()> {
        let ty = self.body.vars[var].ty;
        // No other thread can know the object yet: its initialisation is no atomic access.
        let how = How { volatile: ty.quals.is_volatile, ..How::PLAIN };
        let ptr = match home {
            Home::Register(local) => return self.initialize_register(var, local, init),
            Home::Slot(slot) => Expr::Slot(slot),
            Home::Dynamic(local) => Expr::Local(local),
        };
        if init.zero {
            let covered = self.covered(&init.items);
            self.clear(ty, ptr.clone(), how, &covered)?;
        }
        for item in &init.items {
            self.b.hold(ptr.clone());
            self.initialize_item(item, how)?;
            self.b.release();
        }
        Ok(())
    }

    fn initialize_register(&mut self, var: VarId, local: LocalId, init: &LocalInit) -> Result<()> {
        let declared = &self.body.vars[var];
        let scalar = self.scalar_of(declared.ty, declared.span)?;
        if init.zero && init.items.is_empty() {
            self.b.assign(local, scalar.zero());
        }
        let place = self.b.place();
        for item in &init.items {
            let value = self.rvalue(item.value)?;
            if let Some((unit, span)) = place {
                self.b.set_place(unit, span);
            }
            self.b.assign_result(local, value);
        }
        Ok(())
    }

    /// Offsets and sizes of the scalars that the items store.
    fn covered(&self, items: &[LocalInitItem]) -> BTreeSet<(u64, u64)> {
        let model = self.b.model();
        let mut covered = BTreeSet::new();
        for item in items.iter().filter(|item| item.bits.is_none()) {
            if let Some(scalar) = Scalar::of(self.types, item.ty.ty) {
                covered.insert((item.offset, scalar.ir().bytes(model)));
            } else if let Some(chunks) = super::record::chunks(self.types, item.ty.ty) {
                // A string may be shorter than the array that it is put into.
                let size = self.types.size_of(self.type_of(item.value).ty).unwrap_or(0);
                let stored = chunks.iter().filter(|(offset, _)| *offset < size);
                covered.extend(stored.map(|(offset, ty)| (item.offset + offset, ty.bytes(model))));
            }
        }
        covered
    }

    /// Stores one value. The object's address is what is held last.
    fn initialize_item(&mut self, item: &LocalInitItem, how: How) -> Result<()> {
        if self.is_record(item.ty) {
            let base = self.b.release();
            let dest = self.b.offset(base.clone(), item.offset);
            self.b.hold(base);
            return self.record_into(item.value, dest);
        }
        if self.types.is_array(item.ty.ty) {
            return self.initialize_array(item);
        }
        let scalar = self.scalar_of(item.ty, self.span_of(item.value))?;
        let value = self.rvalue(item.value)?;
        let base = self.b.release();
        self.b.hold(base.clone());
        let ptr = self.b.offset(base, item.offset);
        let place = match item.bits {
            Some(bits) => Place::Bits { ptr, bits, how },
            None => Place::Memory { ptr, how },
        };
        self.at(self.span_of(item.value));
        self.write(&place, scalar, value);
        Ok(())
    }

    /// An array from another array: a string literal.
    fn initialize_array(&mut self, item: &LocalInitItem) -> Result<()> {
        let unit = self.unit;
        let source = match &unit.exprs[item.value].kind {
            ExprKind::Load(source) => *source,
            _ => item.value,
        };
        let from = self.address(source)?;
        let base = self.b.release();
        self.b.hold(base.clone());
        let to = self.b.offset(base, item.offset);
        self.at(self.span_of(item.value));
        let size = self.types.size_of(item.ty.ty).unwrap_or(0);
        let size = self.types.size_of(self.type_of(source).ty).map_or(size, |available| available.min(size));
        if let Some(bytes) = self.literal_bytes(source, size) {
            let element = self.types.element(item.ty.ty).and_then(|e| self.types.size_of(e.ty)).unwrap_or(1);
            for (index, unit) in bytes.chunks(element.max(1) as usize).enumerate() {
                let bits = unit.iter().rev().fold(0, |bits, byte| bits << 8 | u128::from(*byte));
                let width = unit.len() as u16 * 8;
                let target = self.b.offset(to.clone(), index as u64 * element);
                self.b.store(target, Type::Int(width), Expr::int(bits, width));
            }
            return Ok(());
        }
        self.copy_bytes(to, from, size, self.types.align_of(item.ty.ty));
        Ok(())
    }

    /// The first bytes of a string literal, if they are few.
    fn literal_bytes(&self, source: ExprId, size: u64) -> Option<Vec<u8>> {
        let ExprKind::Global(global) = &self.unit.exprs[source].kind else { return None };
        let global = &self.unit.globals[*global];
        let Definition::Static { init, .. } = &global.definition else { return None };
        let element = self.types.element(global.ty.ty).and_then(|e| self.types.size_of(e.ty))?;
        if !global.is_constant || size > SHORT_STRING * element {
            return None;
        }
        let mut bytes = vec![0; size as usize];
        for (offset, value) in init {
            let StaticValue::Bytes(piece) = value else { return None };
            for (index, byte) in piece.iter().enumerate() {
                if let Some(target) = bytes.get_mut(*offset as usize + index) {
                    *target = *byte;
                }
            }
        }
        Some(bytes)
    }
}
