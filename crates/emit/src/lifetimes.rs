//! Lifetimes of stack objects that end before their activation does.
//!
//! In the emitted C all stack objects are there as long as the activation is. Where the life of one ends AddressSanitizer
//! is told, so that it reports accesses to it as it does in the program itself. The sanitizer must forget it again when
//! the activation ends, since the bytes will be those of another one.

use crate::names;
use leno_ir::program::{Body, Expr, Function, LocalId, Op, SlotId, Storage};
use std::collections::BTreeSet;

/// The registers that hold addresses of objects on the stack that are freed. Their sizes are kept.
pub(crate) fn freed_on_stack(function: &Function) -> BTreeSet<LocalId> {
    let (mut allocated, mut freed) = (BTreeSet::new(), BTreeSet::new());
    for op in instructions(function) {
        match op {
            Op::Allocate { dst, storage: Storage::Stack, .. } => _ = allocated.insert(*dst),
            Op::Free { ptr: Expr::Local(ptr), storage: Storage::Stack } => _ = freed.insert(*ptr),
            _ => {}
        }
    }
    allocated.intersection(&freed).copied().collect()
}

/// The variable with the size of the object that a register holds the address of.
pub(crate) fn size_of(function: &Function, local: LocalId) -> String {
    format!("leno_size_of_{}", names::local(function, local))
}

/// What comes before a return.
pub(crate) fn give_back(function: &Function) -> String {
    let dead: BTreeSet<SlotId> = instructions(function)
        .filter_map(|op| match op {
            Op::EndLife { slot } => Some(*slot),
            _ => None,
        })
        .collect();
    dead.into_iter().map(|slot| format!("leno_begin_life({}); ", names::slot(function, slot))).collect()
}

fn instructions(function: &Function) -> impl Iterator<Item = &Op> {
    let blocks = match &function.body {
        Body::Blocks(blocks) => Some(blocks),
        Body::External(_) => None,
    };
    blocks.into_iter().flatten().flat_map(|block| &block.instrs).map(|instr| &instr.op)
}
