//! From checked translation units to the representation.
//!
//! [`lower`] links the units of a program by name, starts at `main` (or, without one, at everything that other files
//! could call), and lowers each function that what it has lowered so far refers to. What nothing refers to is not
//! there.
//!
//! | file | what it is about |
//! |---|---|
//! | `link`, `assemble` | which definition a name means; what is reachable, and the order of the result |
//! | `builder`, `fold`, `scalar`, `simplify`, `text` | writing one function: blocks, folding, conversions, tidying, spans |
//! | `body` | a C function: parameters, variables, what becomes a register |
//! | `expression`, `operator`, `condition` | values, and the order of their effects |
//! | `place`, `record`, `initialize` | lvalues and bit-fields; values that are no scalars |
//! | `index` | which indices are checked where they are written |
//! | `sequence`, `overlap` | accesses of one object that nothing orders |
//! | `call`, `signature`, `varargs`, `hook` | calls of C functions, of variadic ones, of the library |
//! | `builtin` | atomics and other operations that are no functions |
//! | `statement`, `scope` | control flow; what happens on the way out of a scope |
//! | `entry`, `pointees` | the function that runs first; what the parameters of functions that are called from outside point to |

mod assemble;
mod body;
mod builder;
mod builtin;
mod call;
mod condition;
mod entry;
mod expression;
mod fold;
mod hook;
mod index;
mod initialize;
mod library_use;
mod lifetimes;
mod link;
mod operator;
mod overlap;
mod place;
mod pointees;
mod record;
mod scalar;
mod scope;
mod sequence;
mod signature;
mod simplify;
mod statement;
mod text;
mod varargs;
mod visit;

pub use assemble::lower;
pub use builder::{FunctionBuilder, plain_access};
pub use hook::{Argument, LibraryCall, Lowered};
pub use link::Link;
pub use pointees::{Pointee, Pointees, pointees};
pub use scalar::{Scalar, zero};
pub use signature::Signature;
pub use text::Texts;

use crate::diagnostic::Diagnostic;
use crate::source::Source;
use crate::typed::Unit;

/// One file of the program, or one of the library's models.
#[derive(Clone, Copy)]
pub struct LinkUnit<'u> {
    pub source: &'u Source,
    pub unit: &'u Unit,
    /// Yields to what the program defines itself.
    pub is_model: bool,
}

#[derive(Clone, Debug, Default)]
pub struct LowerOptions {
    /// Assert that signed arithmetic does not overflow.
    pub check_signed_overflow: bool,
    /// The functions to start from, `static` ones too, in place of `main`.
    pub entries: Vec<String>,
    pub library: crate::library::Options,
}

/// What stopped lowering, and in which of the units.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LowerError {
    pub unit: usize,
    pub diagnostic: Diagnostic,
}

/// What the user should know about, and in which of the units.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    pub unit: usize,
    pub diagnostic: Diagnostic,
}
