//! The function that runs first: constructors, `main`, and the way out of the process.
//!
//! Returning from `main` is calling `exit`, which the library lowers: handlers and destructors run, the process ends.
//! `main` may want its environment: the pointer behind the arguments' null, where a process really has it; here it is
//! that null itself, an empty environment.

use super::builder::FunctionBuilder;
use super::hook::{self, Argument, LibraryCall};
use super::link::Link;
use super::scalar::{Scalar, zero};
use super::signature::Signature;
use crate::typed;
use leno_ir::program::{BinaryOp, Expr, FuncId, Function, TerminatorKind, Type};

/// The body of the entry function.
pub(super) fn build(link: &mut Link<'_>, main: (usize, typed::FuncId)) -> Function {
    let constructors = link.marked(|function| function.is_constructor);
    let (unit, func) = main;
    let span = link.units[unit].unit.functions[func].span;
    let main = link.function(unit, func);
    let signature = link.signature(main).clone();
    let mut b = FunctionBuilder::new(link, "_start", &Signature::of_entry().params, None);
    b.set_place(unit, span);
    b.name_parameter(0, "argc", true);
    b.name_parameter(1, "argv", false);
    for constructor in constructors {
        // (As glibc does it, they are called like `main`.)
        let signature = b.link.signature(constructor).clone();
        call_with_arguments(&mut b, constructor, &signature);
    }
    let status = match call_with_arguments(&mut b, main, &signature) {
        Some(value) => b.reinterpret(value, Type::I32),
        None => Expr::int(0, 32),
    };
    let args = [Argument { value: status.clone(), ty: Scalar::INT }];
    hook::lower_call(&mut b, &LibraryCall { name: "exit", args: &args, ret: None });
    if b.is_reachable() {
        b.terminate(TerminatorKind::Exit(status));
    }
    b.finish()
}

/// Calls a function with as many of (argc, argv, envp) as it takes: what it returns.
fn call_with_arguments(b: &mut FunctionBuilder<'_, '_>, callee: FuncId, signature: &Signature) -> Option<Expr> {
    let (argc, argv) = (b.param(0), b.param(1));
    let word = b.word();
    let count = b.resize(argc.clone(), word, true);
    let pointer_bytes = u128::from(b.model().pointer_bytes());
    let bytes = b.binary(BinaryOp::Mul, count, Expr::int(pointer_bytes, word.bits(b.model())));
    let environment = b.binary(BinaryOp::PtrAdd, argv.clone(), bytes);
    let mut given = vec![(argc, Scalar::INT), (argv, Scalar::Pointer), (environment, Scalar::Pointer)].into_iter();
    let mut args = Vec::new();
    for (index, ty) in signature.params.iter().enumerate() {
        let hidden =
            (index == 0 && signature.returns_record) || (index + 1 == signature.params.len() && signature.variadic);
        args.push(match (hidden, given.len()) {
            (false, 1..) => given.next().map_or(zero(*ty), |(value, from)| b.convert(value, from, Scalar::of_ir(*ty))),
            (true, _) if signature.returns_record && index == 0 => Expr::Slot(b.new_slot("", 4096, 16)),
            _ => zero(*ty),
        });
    }
    b.call(callee, args)
}
