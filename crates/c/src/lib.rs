//! C text to Leno's representation: preprocess · lex · parse · type · lower.
//!
//! [`source`] knows where text came from, `lex` and `parse` make an [`ast`], `check` resolves names and types and
//! makes it explicit ([`typed`]: every implicit conversion is a node), and `lower` links the files of a program
//! and turns them into [`leno_ir::program::Program`].

pub mod ast;
pub mod check;
pub mod diagnostic;
pub mod driver;
mod lex;
pub mod library;
mod literal;
pub mod lower;
pub mod parse;
pub mod preprocess;
pub mod signature;
pub mod source;
pub mod stack;
mod token;
pub mod typed;
pub mod types;
