//! What an address belongs to, in terms of the program: analyses and engines name objects so.

use super::Kind;
use crate::interp::thread::machine::Machine;
use crate::program::{FuncId, ObjectId, Place, SlotId};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Owner {
    Static(ObjectId),
    Function(FuncId),
    /// Of some activation.
    Slot(FuncId, SlotId),
    /// From an `allocate` on the stack, in an activation of this function.
    OnStack(FuncId),
    /// From this `allocate` on the heap.
    Heap(Place),
    /// Made by the library or the environment.
    Library,
}

impl Machine<'_> {
    /// The object, alive or dead, that an address points into, and the offset in it.
    pub fn owner(&self, address: u64) -> Option<(Owner, u64)> {
        let (instance, offset) = self.memory.find(address)?;
        let owner = match instance.kind {
            Kind::Nothing | Kind::Continued => return None,
            Kind::Function => Owner::Function(FuncId(instance.origin)),
            Kind::Global | Kind::Constant | Kind::ThreadLocal | Kind::External => {
                Owner::Static(ObjectId(instance.origin))
            }
            Kind::Stack if instance.slot == u32::MAX => Owner::OnStack(FuncId(instance.origin)),
            Kind::Stack => Owner::Slot(FuncId(instance.origin), SlotId(instance.slot)),
            Kind::Heap => Owner::Heap(self.image().place(instance.origin)),
            Kind::Library => Owner::Library,
        };
        Some((owner, offset))
    }
}
