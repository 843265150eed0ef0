//! One instruction of a thread.

use crate::program::event::Kind;
use crate::walk::Walk;
use crate::walk::concolic::ConcolicValue;
use crate::walk::listener::{Boundary, Listener, PossibleViolation};
use crate::walk::objects::InstanceId;
use crate::walk::problem::{WalkEnd, WalkResult};
use crate::walk::thread::InputValue;
use leno_ir::interp::ViolationKind;
use leno_ir::program::{Expr, Instr, LocalId, Op, SlotId, Storage};
use leno_trace::{Record, ThreadIndex};

impl<L: Listener> Walk<'_, '_, L> {
    pub(crate) fn instruction(&mut self, id: ThreadIndex, instr: &Instr, alone: bool) -> WalkResult {
        match &instr.op {
            Op::Assign { dst, value } => {
                let value = self.evaluate(id, value)?;
                self.set(id, *dst, value)
            }
            Op::Load { dst, from } => {
                let value = self.load(id, from)?;
                self.set(id, *dst, value)
            }
            Op::Store { to, value } => self.store(id, to, value),
            Op::ReadModifyWrite { dst, at, op, value } => self.read_modify_write(id, *dst, at, *op, value),
            Op::CompareExchange { ok, old, at, expected, desired, .. } => {
                self.compare_exchange(id, (*ok, *old), at, expected, desired)
            }
            Op::Allocate { dst, zeroed, .. } => self.allocate(id, *dst, *zeroed),
            Op::Free { ptr, storage: Storage::Heap } => self.free(id, ptr),
            // (Addresses of the recorded run are those of the machine.)
            Op::CheckMove { .. } => Ok(()),
            Op::ObjectSize { dst, ptr } => {
                self.pinned(id, ptr, None)?;
                self.recorded_value(id, *dst).map(|_| ())
            }
            Op::ThreadSelf { dst } => self.recorded_value(id, *dst).map(|_| ()),
            Op::Nondet { dst } => {
                let bits = self.recorded_value(id, *dst)?;
                let place = self.position(id)?.place;
                self.thread(id)?.inputs.push(InputValue { bits, place });
                Ok(())
            }
            Op::Assume { cond } => {
                let value = self.evaluate(id, cond)?;
                if value.bits == 0 {
                    return Err(WalkEnd::PathEnds);
                }
                match value.truth(&mut self.terms) {
                    Some(truth) => self.assume(id, truth),
                    None => Ok(()),
                }
            }
            Op::Assert { cond, property, message } => {
                let value = self.evaluate(id, cond)?;
                let text = self.program.texts[*message].clone();
                self.assertion(id, value, ViolationKind::of(*property), instr, text)
            }
            Op::Call { dst, callee, args } => self.call(id, *dst, callee, args),
            Op::Spawn { handle, func, args } => self.spawn(id, handle.as_ref(), func, args),
            Op::Join { dst, thread } => self.join(id, *dst, thread, alone),
            Op::Sync { dst, op, at } => self.synchronise(id, *dst, op, at),
            Op::AtomicBegin => self.section_boundary(id, Boundary::BeginSection),
            Op::AtomicEnd => self.section_boundary(id, Boundary::EndSection),
            // The recorded program sets it to 0.
            Op::Undefine { dst } => self.set(id, *dst, ConcolicValue::fixed(0)),
            Op::Free { storage: Storage::Stack, .. } => Ok(()),
            Op::BeginLife { slot } => self.life(id, *slot, |instance| Kind::BeginLife { instance }),
            Op::EndLife { slot } => self.life(id, *slot, |instance| Kind::EndLife { instance }),
            Op::Fence { order } => {
                let at = self.position(id)?;
                self.listener.fence(&at, *order);
                Ok(())
            }
            Op::Detach { .. } | Op::Yield => Ok(()),
        }
    }

    /// The life of a stack object begins or ends.
    fn life(&mut self, id: ThreadIndex, slot: SlotId, kind: impl Fn(InstanceId) -> Kind) -> WalkResult {
        let Some(&address) = self.frame(id)?.slots.get(slot) else { return Ok(()) };
        let instance = self.locate(id, address)?.instance;
        if instance.is_private() { Ok(()) } else { self.event(id, kind(instance)) }
    }

    /// Whether the instruction that a thread is about to execute has no records.
    pub(crate) fn is_unrecorded(&mut self, id: ThreadIndex) -> WalkResult<bool> {
        let place = self.frame(id)?.place();
        Ok(self.private.is_unrecorded(place))
    }

    /// A value that came from outside.
    fn recorded_value(&mut self, id: ThreadIndex, dst: LocalId) -> WalkResult<u128> {
        let bits = self.next_value(id)?;
        self.set(id, dst, ConcolicValue::fixed(bits))?;
        Ok(bits)
    }

    /// A step that is an event, and no access.
    pub(crate) fn event(&mut self, id: ThreadIndex, kind: Kind) -> WalkResult {
        let at = self.position(id)?;
        self.listener.event(&mut self.terms, &at, kind);
        Ok(())
    }

    pub(crate) fn boundary(&mut self, id: ThreadIndex, boundary: Boundary) -> WalkResult {
        let at = self.position(id)?;
        self.listener.boundary(&at, boundary);
        Ok(())
    }

    fn section_boundary(&mut self, id: ThreadIndex, boundary: Boundary) -> WalkResult {
        match self.next(id)? {
            Record::Sync { .. } | Record::Release { .. } => self.boundary(id, boundary),
            other => Err(self.unexpected(id, "a synchronisation step", other)),
        }
    }

    fn allocate(&mut self, id: ThreadIndex, dst: LocalId, zeroed: bool) -> WalkResult {
        let address = match self.next(id)? {
            Record::Allocated { address, bytes, .. } => {
                let instance = self.new_object(id, address, bytes)?;
                if zeroed {
                    self.instances.set_zeroed(instance);
                }
                address
            }
            Record::PrivateAllocation { address, bytes } => {
                if address != 0 {
                    self.new_private_object(id, address, bytes)?;
                }
                address
            }
            other => return Err(self.unexpected(id, "an allocation", other)),
        };
        self.set(id, dst, ConcolicValue::fixed(address.into()))
    }

    fn free(&mut self, id: ThreadIndex, ptr: &Expr) -> WalkResult {
        let address = self.pinned(id, ptr, None)?;
        if self.is_unrecorded(id)? {
            self.thread(id)?.own_objects.remove(&address);
            return Ok(());
        }
        match self.next(id)? {
            Record::Freed { .. } => {
                let thread = self.thread(id)?;
                let index = thread.freed;
                thread.freed += 1;
                let instance = self.instances.freed(id, index);
                self.event(id, Kind::Free { instance })
            }
            other => Err(self.unexpected(id, "a free", other)),
        }
    }

    fn assertion(
        &mut self,
        id: ThreadIndex,
        value: ConcolicValue,
        kind: ViolationKind,
        instr: &Instr,
        message: String,
    ) -> WalkResult {
        let violation = PossibleViolation { kind, span: instr.span, message, is_beyond_path: false };
        let at = self.position(id)?;
        match value.truth(&mut self.terms) {
            Some(truth) => {
                let bad = self.terms.not(truth);
                self.listener.check(&mut self.terms, &at, bad, violation);
                if value.bits == 0 {
                    return Err(WalkEnd::PathEnds);
                }
                self.assume(id, truth)
            }
            None if value.bits == 0 => {
                let always = self.terms.bool(true);
                self.listener.check(&mut self.terms, &at, always, violation);
                Err(WalkEnd::PathEnds)
            }
            None => Ok(()),
        }
    }
}
