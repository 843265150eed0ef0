//! Where lowering meets the library: calls that become instructions.
//!
//! A direct call of an external function that the program does not define itself is offered here first. What comes back
//! is its result; the instructions have been appended to the builder. The same hook serves calls and wrappers: when the
//! address of such a function is taken, a function is made whose parameters are the arguments of the call.

use super::builder::FunctionBuilder;
use super::scalar::Scalar;
use crate::library;
use crate::typed::{Definition, StaticValue};
use leno_ir::program::Expr;

pub use crate::library::{
    Refusal, external, fixed_parameters, is_atomic_function, is_instruction, is_of_process, lower_call,
    overrides_definition, refusal,
};

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

/// What the library's recipes want to know of the program around the call.
impl FunctionBuilder<'_, '_> {
    pub fn library_options(&self) -> library::Options {
        self.link.options.library
    }

    /// The text of a string literal, given its address.
    pub fn literal(&self, address: &Expr) -> Option<String> {
        let Expr::Object(id) = address else { return None };
        let linked = &self.link.objects[*id];
        let Definition::Static { init, .. } = &self.link.units[linked.unit].unit.globals[linked.global].definition
        else {
            return None;
        };
        let [(0, StaticValue::Bytes(bytes))] = init.as_slice() else { return None };
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }

    /// The source text of the call that is being lowered.
    pub fn call_text(&mut self) -> String {
        let span = self.span();
        self.link.texts.texts[span.text].clone()
    }

    /// Calls the program's functions with the `destructor` attribute, last defined first, as the end of the process
    /// does.
    pub fn run_destructors(&mut self) {
        for destructor in self.link.marked(|function| function.is_destructor).into_iter().rev() {
            // (The C library calls destructors without arguments: the parameters that they declare have any values.)
            let params = self.link.signature(destructor).params.clone();
            let args = params.into_iter().map(|ty| self.nondet(ty)).collect();
            self.call(destructor, args);
        }
    }
}
