//! Functions that run natively: what an engine may assume of them.

use leno_ir::program::External;

/// What is known of a function without a body; None if nothing is.
pub fn external(_name: &str) -> Option<External> {
    None
}
