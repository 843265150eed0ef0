//! Emitted C, given to real compilers and run.

mod any_program;
mod compiler;
mod programs;
#[path = "../../../ir/tests/representation/random.rs"]
mod random;
