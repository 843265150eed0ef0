//! Does the program ever compare the address of a freed object?
//!
//! Objects of this engine never share an address. In a program that could notice that freed memory is given out again,
//! a proof without such executions is one with them only if nothing is noticed. Consider the first comparison in an
//! execution that tells a reused address from a new one. Up to there the execution could have done without reuse; and
//! one of the two addresses is of an object that was freed. So it is enough to show that no freed object's address is
//! compared in an execution without reuse: a question about memory safety, of a program that reads a byte at each
//! address before it compares it.
//!
//! The reads ask for more than is needed (an address one past the end of an object cannot be read), so a violation means
//! nothing.

use leno_ir::analysis::facts::Facts;
use leno_ir::analysis::reuse::{Comparison, noticed};
use leno_ir::index::IndexVec;
use leno_ir::program::{
    Access, BinaryOp, Body, CastOp, Expr, Instr, Local, LocalId, Object, ObjectId, ObjectKind, Op, Order, Program,
    Reuse, Span, Type,
};

/// The program with reads before the comparisons in which reuse could be noticed. None if it could be noticed otherwise.
pub fn with_reads(facts: &Facts<'_>) -> Option<Program> {
    let noticed = noticed(facts);
    if noticed.reuse != Reuse::ByAddress {
        return None;
    }
    let mut program = Program { reuse: Reuse::Unnoticed, ..facts.program().clone() };
    let anything = program.objects.push(Object {
        name: "anything".to_string(),
        kind: ObjectKind::Global,
        size: 16,
        align: 16,
        init: Vec::new(),
        span: Span::NONE,
    });
    // From the last place to the first, so that those before stay where they are.
    let mut comparisons = noticed.comparisons;
    // (Of a part of an address nothing can be read.)
    if comparisons.iter().any(|comparison| compares_parts(&program, comparison)) {
        return None;
    }
    comparisons.sort_by_key(|comparison| comparison.place);
    for comparison in comparisons.iter().rev() {
        add_reads(&mut program, anything, comparison);
    }
    Some(program)
}

/// Whether what is compared is not as wide as an address.
fn compares_parts(program: &Program, comparison: &Comparison) -> bool {
    let (model, function) = (program.model, &program.functions[comparison.place.func]);
    let is_part = |ty: Type| ty.bits(model) != Type::Ptr.bits(model);
    let exchanged = match program.op(comparison.place) {
        Some(Op::CompareExchange { at, .. }) => is_part(at.ty),
        _ => false,
    };
    exchanged || comparison.values.iter().any(|value| is_part(base(value).ty(&function.locals, model)))
}

fn add_reads(program: &mut Program, anything: ObjectId, comparison: &Comparison) {
    let model = program.model;
    let function = &mut program.functions[comparison.place.func];
    let Body::Blocks(blocks) = &mut function.body else { return };
    let (block, index) = (&mut blocks[comparison.place.block], comparison.place.index as usize);
    let locals = &mut function.locals;
    let register =
        |locals: &mut IndexVec<LocalId, Local>, ty| locals.push(Local { name: String::new(), ty, signed: false });
    let read = |dst: LocalId, address: Expr| Op::Load { dst, from: plain(address, Type::I8) };
    let mut before = Vec::new();
    let exchanged = match block.instrs.get(index).map(|instr| &instr.op) {
        Some(Op::CompareExchange { at, .. }) => Some(at.clone()),
        _ => None,
    };
    if let Some(at) = &exchanged {
        let found = register(locals, at.ty);
        before.push(Op::AtomicBegin);
        before.push(Op::Load { dst: found, from: at.clone() });
        before.push(read(register(locals, Type::I8), readable(Expr::Local(found), at.ty, anything)));
    }
    for value in &comparison.values {
        let value = base(value);
        let ty = value.ty(locals, model);
        before.push(read(register(locals, Type::I8), readable(value.clone(), ty, anything)));
    }
    let span = block.instrs.get(index).map_or(block.terminator.span, |instr| instr.span);
    if exchanged.is_some() {
        block.instrs.insert(index + 1, Instr { op: Op::AtomicEnd, span });
    }
    block.instrs.splice(index..index, before.into_iter().map(|op| Instr { op, span }));
}

/// The address that another one is some bytes away from: what is just behind an object cannot be read.
fn base(mut address: &Expr) -> &Expr {
    while let Expr::Binary(BinaryOp::PtrAdd, operands) = address {
        address = &operands[0];
    }
    address
}

fn plain(ptr: Expr, ty: Type) -> Access {
    Access { ptr, ty, order: Order::NotAtomic, volatile: false }
}

/// The address, or that of anything if it is null.
fn readable(value: Expr, ty: Type, anything: ObjectId) -> Expr {
    let pointer = match ty {
        Type::Ptr => value,
        _ => Expr::Cast(CastOp::IntToPtr, Type::Ptr, Box::new(value)),
    };
    let is_null = Expr::Binary(BinaryOp::Eq, Box::new([pointer.clone(), Expr::NULL]));
    Expr::Select(Box::new([is_null, Expr::Object(anything), pointer]))
}
