//! Addresses: what a pointer evaluates to, and the object that it points into.
//!
//! An access goes where it went in the recorded run: reorderings in which an address would be another one are not
//! considered, except for those in which it would be null.

use crate::walk::Walk;
use crate::walk::concolic::ConcolicValue;
use crate::walk::listener::{LeftOut, Listener, Location, MemoryAccess, PossibleViolation};
use crate::walk::objects::{InstanceId, InstanceKind};
use crate::walk::problem::{WalkEnd, WalkProblem, WalkResult};
use leno_ir::interp::ViolationKind;
use leno_ir::program::{Access, Expr, Order};
use leno_trace::ThreadIndex;

/// No object lies below this address: it is the first page.
const NEAR_NULL: u128 = 4096;

/// The last addresses, which no object has. (So the end of an access is an address, too.)
const LAST_ADDRESSES: u64 = 64;

impl<L: Listener> Walk<'_, '_, L> {
    /// The address of an access or of a synchronisation object, which from here on is the recorded one.
    pub(crate) fn pinned_address(&mut self, id: ThreadIndex, ptr: &Expr) -> WalkResult<u64> {
        self.pinned(id, ptr, Some(ViolationKind::NullDereference))
    }

    /// An address or a handle, which from here on is the recorded one; and which violation it is if it is null.
    pub(crate) fn pinned(&mut self, id: ThreadIndex, ptr: &Expr, if_null: Option<ViolationKind>) -> WalkResult<u64> {
        let address = self.evaluate(id, ptr)?;
        if let Some(kind) = if_null {
            self.check_null(id, address, kind)?;
        }
        self.assume_recorded(id, address, LeftOut::Address)?;
        Ok(address.bits as u64)
    }

    /// An address that may be null in another order, or was null in the recorded run.
    fn check_null(&mut self, id: ThreadIndex, address: ConcolicValue, kind: ViolationKind) -> WalkResult {
        // A member or an element of a null object has an address near null.
        let was_null = address.bits < NEAR_NULL && kind != ViolationKind::InvalidThread;
        if address.term.is_none() && !was_null {
            return Ok(());
        }
        let bad = match address.term {
            Some(term) => {
                let end = self.terms.bits(self.terms.width(term), NEAR_NULL);
                self.terms.ult(term, end)
            }
            None => self.terms.bool(was_null),
        };
        let at = self.position(id)?;
        let violation = PossibleViolation {
            kind,
            span: at.span,
            message: "the pointer is null".to_string(),
            is_beyond_path: false,
        };
        self.listener.check(&mut self.terms, &at, bad, violation);
        if was_null { Err(WalkEnd::PathEnds) } else { Ok(()) }
    }

    /// The address of an access, if an object can be there.
    pub(crate) fn access_address(&mut self, id: ThreadIndex, access: &Access) -> WalkResult<u64> {
        let address = self.pinned_address(id, &access.ptr)?;
        if address > u64::MAX - LAST_ADDRESSES {
            return Err(WalkEnd::Problem(WalkProblem::ImpossibleAddress));
        }
        Ok(address)
    }

    pub(crate) fn memory_access(&mut self, id: ThreadIndex, address: u64, access: &Access) -> WalkResult<MemoryAccess> {
        let at = self.locate(id, address)?;
        Ok(MemoryAccess { at, bytes: self.bytes(access), atomic: access.order != Order::NotAtomic })
    }

    pub(crate) fn bytes(&self, access: &Access) -> u32 {
        access.ty.bytes(self.program.model) as u32
    }

    /// The location of an address, for this thread at this time.
    pub(crate) fn locate(&mut self, id: ThreadIndex, address: u64) -> WalkResult<Location> {
        let thread = self.threads.get_mut(id).ok_or(WalkEnd::PathEnds)?;
        if let Some((start, (end, instance))) = thread.own_objects.range(..=address).next_back()
            && address < *end
        {
            let offset = if instance.is_private() { address } else { address - start };
            return Ok(Location { instance: *instance, offset });
        }
        thread.object_cache.set_time(thread.clock, || self.instances.generation(thread.clock));
        if let Some(found) = thread.object_cache.find(address) {
            return Ok(Location { instance: found.id, offset: address - found.start });
        }
        let instance_id = self.instances.at(address, thread.clock);
        let instance = self.instances.get(instance_id);
        if matches!(instance.kind, InstanceKind::Static(object) if self.private.is_private(object)) {
            return Ok(Location { instance: InstanceId::private(id), offset: address });
        }
        // Memory of which nothing is known may have objects in it that are.
        if instance_id != InstanceId::UNKNOWN {
            let end = instance.start.saturating_add(instance.size.max(1));
            thread.object_cache.remember(address, instance.start, end, instance_id);
        }
        Ok(Location { instance: instance_id, offset: address - instance.start })
    }
}
