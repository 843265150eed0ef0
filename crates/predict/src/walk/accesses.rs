//! Loads, stores and atomic updates of memory.

use crate::walk::Walk;
use crate::walk::concolic::{ConcolicValue, Evaluator};
use crate::walk::listener::{Listener, Location, MemoryAccess};
use crate::walk::objects::InstanceId;
use crate::walk::problem::WalkResult;
use leno_ir::program::{Access, BinaryOp, Expr, LocalId, RmwOp, Type};
use leno_trace::ThreadIndex;

impl<L: Listener> Walk<'_, '_, L> {
    pub(crate) fn load(&mut self, id: ThreadIndex, from: &Access) -> WalkResult<ConcolicValue> {
        let address = self.access_address(id, from)?;
        let bytes = self.bytes(from);
        let (access, recorded) = if self.is_unrecorded(id)? {
            let mask = crate::walk::concolic::ones(self.width(from.ty));
            (private_access(id, address, bytes), self.thread(id)?.memory.read(address, bytes) & mask)
        } else {
            let recorded = self.next_load(id, address, bytes)?;
            (self.memory_access(id, address, from)?, recorded)
        };
        let at = self.position(id)?;
        Ok(self.listener.load(&mut self.terms, &at, access, recorded))
    }

    pub(crate) fn store(&mut self, id: ThreadIndex, to: &Access, value: &Expr) -> WalkResult {
        let address = self.access_address(id, to)?;
        let value = self.evaluate(id, value)?;
        let access = if self.is_unrecorded(id)? {
            private_access(id, address, self.bytes(to))
        } else {
            self.read_clock_records(id)?;
            self.update_load_table(id, address, self.bytes(to), value.bits)?;
            self.memory_access(id, address, to)?
        };
        self.thread(id)?.spin.is_changed = true;
        self.write_private(id, address, access, value)?;
        let at = self.position(id)?;
        self.listener.store(&mut self.terms, &at, access, value);
        Ok(())
    }

    /// The walk keeps the contents of private memory itself.
    pub(crate) fn write_private(
        &mut self,
        id: ThreadIndex,
        address: u64,
        access: MemoryAccess,
        value: ConcolicValue,
    ) -> WalkResult {
        if access.at.instance.is_private() {
            self.thread(id)?.memory.write(address, access.bytes, value.bits);
        }
        Ok(())
    }

    /// The read of an atomic update: what was there before.
    fn updated(&mut self, id: ThreadIndex, access: &Access) -> WalkResult<(u64, MemoryAccess, u128)> {
        let address = self.access_address(id, access)?;
        let recorded = self.next_value(id)?;
        self.update_load_table(id, address, self.bytes(access), recorded)?;
        let access = MemoryAccess { atomic: true, ..self.memory_access(id, address, access)? };
        Ok((address, access, recorded))
    }

    pub(crate) fn read_modify_write(
        &mut self,
        id: ThreadIndex,
        dst: Option<LocalId>,
        at: &Access,
        op: RmwOp,
        value: &Expr,
    ) -> WalkResult {
        let operand = self.evaluate(id, value)?;
        let (address, access, recorded) = self.updated(id, at)?;
        let position = self.position(id)?;
        let old = self.listener.update_load(&mut self.terms, &position, access, recorded);
        let mut evaluator = Evaluator { terms: &mut self.terms, model: self.program.model, pins: Vec::new() };
        let new = evaluator.modified(op, at.ty, old, operand);
        self.thread(id)?.spin.is_changed |= new.bits != old.bits;
        self.write_private(id, address, access, new)?;
        self.listener.update_store(&mut self.terms, &position, access, ConcolicValue::fixed(1), new);
        match dst {
            Some(dst) => self.set(id, dst, old),
            None => Ok(()),
        }
    }

    pub(crate) fn compare_exchange(
        &mut self,
        id: ThreadIndex,
        (ok, old): (LocalId, LocalId),
        at: &Access,
        expected: &Expr,
        desired: &Expr,
    ) -> WalkResult {
        let (expected, desired) = (self.evaluate(id, expected)?, self.evaluate(id, desired)?);
        let (address, access, recorded) = self.updated(id, at)?;
        let position = self.position(id)?;
        let was = self.listener.update_load(&mut self.terms, &position, access, recorded);
        // Floats and pointers are compared as bits.
        let bits = Type::Int(at.ty.bits(self.program.model));
        let mut evaluator = Evaluator { terms: &mut self.terms, model: self.program.model, pins: Vec::new() };
        let same = evaluator.binary(BinaryOp::Eq, bits, was, expected);
        if same.bits != 0 {
            self.thread(id)?.spin.is_changed |= desired.bits != was.bits;
            self.write_private(id, address, access, desired)?;
        }
        self.listener.update_store(&mut self.terms, &position, access, same, desired);
        let width = self.local_width(id, ok)?;
        let same = same.fit(&mut self.terms, 1, width);
        self.set(id, ok, same)?;
        self.set(id, old, was)
    }
}

/// An access to memory that only this thread knows: addresses are offsets.
fn private_access(id: ThreadIndex, address: u64, bytes: u32) -> MemoryAccess {
    MemoryAccess { at: Location { instance: InstanceId::private(id), offset: address }, bytes, atomic: false }
}
