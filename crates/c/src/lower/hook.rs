//! Where lowering meets the library: calls that become instructions.
//!
//! A direct call of an external function that the program does not define itself is offered here first. What comes back
//! is its result; the instructions have been appended to the builder. The same hook serves calls and wrappers: when the
//! address of such a function is taken, a function is made whose parameters are the arguments of the call.

use super::builder::FunctionBuilder;
use super::scalar::Scalar;
use leno_ir::program::{Expr, External};

/// A call as the library sees it. The values have been evaluated, left to right.
pub struct LibraryCall<'c> {
    pub name: &'c str,
    pub args: &'c [Argument],
    /// What the declaration says it returns; None for void (and for records).
    pub ret: Option<Scalar>,
}

#[derive(Clone, Debug)]
pub struct Argument {
    /// Of type `ty`. For a record: the address of a copy that belongs to the callee, a pointer.
    pub value: Expr,
    pub ty: Scalar,
}

/// A call has become instructions.
pub struct Lowered {
    /// The result, which lowering converts to the declared type. None if there is none, or if control does not come
    /// back (then the builder is not reachable any more).
    pub value: Option<(Expr, Scalar)>,
}

/// Appends the instructions of a library call; None if the library has none for this name.
pub fn lower_call(_builder: &mut FunctionBuilder<'_, '_>, _call: &LibraryCall<'_>) -> Option<Lowered> {
    None
}

/// Whether [`lower_call`] takes calls of this name.
pub fn is_instruction(_name: &str) -> bool {
    false
}

/// Whether the name means what it means whatever body the program gives it (`reach_error`, `__VERIFIER_assume`, …).
pub fn overrides_definition(_name: &str) -> bool {
    false
}

/// Whether the bodies of functions of this name run without interruption (`__VERIFIER_atomic_*`).
pub fn is_atomic_function(name: &str) -> bool {
    name.starts_with("__VERIFIER_atomic_")
}

/// What is known of a function that has no body: the interpreter runs it, emitted C calls the real one.
pub fn external(_name: &str) -> Option<External> {
    None
}
