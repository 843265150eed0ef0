//! Emitted C, given to real compilers and run.

mod agreement;
mod any_program;
mod compiler;
mod generate;
mod outside;
mod programs;
#[path = "../../../ir/tests/representation/random.rs"]
mod random;
