//! Which assertions and accesses a property is about.
//!
//! An assertion is an instruction. An access is looked at unless one sees at a glance that nothing can go wrong (a variable by its
//! name, an element or member at a constant offset). A library function that writes through its arguments and is no code
//! that is followed (`sprintf`) is never shown to be in bounds.

use crate::code::{Call, Code, NodeId};
use leno_ir::program::{Access, BinaryOp, Body, Callee, Expr, FuncId, Op, Program, Property};

/// The first word of the front end's assertion that a pointer is not moved beyond every object. It keeps objects apart
/// for engines that compute with addresses; here each access is related to its own object.
const MOVED_FAR: &str = "index beyond every object";

/// Whether an instruction is one whose bounds are looked at.
pub fn is_checked(code: &Code<'_, '_>, node: NodeId, op: &Op) -> bool {
    let program = code.program();
    if let Op::Call { .. } = op {
        let is_outside = code.calls(node).iter().any(|call| matches!(call, Call::Outside));
        return is_outside && writes_outside(program, op);
    }
    match op.access() {
        Some((access, _)) => !is_certain(program, code.place(node).func, access),
        None => false,
    }
}

/// Whether a call is one of a function that has no code here and writes to what its arguments point to.
fn writes_outside(program: &Program, op: &Op) -> bool {
    let Op::Call { callee: Callee::Direct(id), .. } = op else { return true };
    match &program.functions[*id].body {
        Body::External(external) => !(external.pure || external.known && external.writes.is_empty()),
        Body::Blocks(_) => false,
    }
}

/// A named object at a constant offset, in its bounds.
fn is_certain(program: &Program, func: FuncId, access: &Access) -> bool {
    let (mut expr, mut offset) = (&access.ptr, 0i128);
    let pointer_bits = u32::from(program.model.pointer_bits());
    while let Expr::Binary(BinaryOp::PtrAdd, operands) = expr {
        let Expr::Const { bits, .. } = operands[1] else { return false };
        offset += leno_domains::word::signed(pointer_bits, bits);
        expr = &operands[0];
    }
    let size = match expr {
        Expr::Object(id) => program.objects[*id].size,
        Expr::Slot(slot) => program.functions[func].slots[*slot].size,
        _ => return false,
    };
    offset >= 0 && offset + i128::from(access.ty.bytes(program.model)) <= i128::from(size)
}

/// The program without the assertions that pointers are not moved too far.
pub fn without_moves(program: &Program) -> Program {
    let mut result = program.clone();
    let texts = &program.texts;
    for function in result.functions.iter_mut() {
        let Body::Blocks(blocks) = &mut function.body else { continue };
        for instr in blocks.iter_mut().flat_map(|block| block.instrs.iter_mut()) {
            let Op::Assert { property: Property::IndexOutOfBounds, message, .. } = &instr.op else { continue };
            if texts.get(*message).is_some_and(|text| text == MOVED_FAR) {
                // (An instruction that does nothing, so that places stay what they are.)
                instr.op = Op::Yield;
            }
        }
    }
    result
}

/// Properties that an annotation can prove.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Asked {
    pub assertion: bool,
    pub overflow: bool,
    pub bounds: bool,
}

impl Asked {
    /// Whether an assertion of this kind is to be proved.
    pub fn includes(&self, property: Property) -> bool {
        match property {
            Property::Assertion => self.assertion,
            Property::SignedOverflow => self.overflow,
            Property::IndexOutOfBounds => self.bounds,
            _ => false,
        }
    }

    /// Whether something is to be shown of an instruction.
    pub fn is_about(&self, code: &Code<'_, '_>, node: NodeId) -> bool {
        match code.instruction(node) {
            Some(Op::Assert { property, .. }) => self.includes(*property),
            Some(op) => self.bounds && is_checked(code, node, op),
            None => false,
        }
    }
}
