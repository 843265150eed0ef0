//! Functions that run natively: input and output, time, mathematics.
//!
//! The interpreter's table says which they are and what an engine may assume of them. Nothing is known of any other.

use leno_ir::interp::is_known_external;
use leno_ir::program::External;

/// What is known of a function without a body; None if nothing is.
pub fn external(name: &str) -> Option<External> {
    is_known_external(name)
}
