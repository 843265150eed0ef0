//! Emitted C, given to real compilers and run.

mod any_program;
mod compiler;
#[path = "../../../ir/tests/representation/random.rs"]
mod random;
