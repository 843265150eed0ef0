//! The rules as terms against the interpreter, which is the executable semantics: for each kind of instruction, random
//! states are put into both, and both must agree on what comes out.

mod expressions;
mod harness;
mod library_calls;
mod memory;
mod operators;
mod sync;
mod updates;
