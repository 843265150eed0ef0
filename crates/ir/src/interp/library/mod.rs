//! Library functions that are known by name, and computed as the C library computes them.
//!
//! `external` finds a function and passes its arguments; `stdio`, `scan`, `maths` have the functions; `directive` reads
//! format strings, `format` follows them, and `decimal` writes floating-point numbers.

mod calendar;
mod decimal;
pub mod directive;
pub(in crate::interp) mod external;
mod format;
mod maths;
mod scan;
pub(in crate::interp) mod stdio;
