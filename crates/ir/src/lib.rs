//! The concurrent control-flow graph: the one representation that all of Leno's engines work on.
//!
//! [`program`] holds the types; everything else here computes on them. This crate depends on no other
//! crate of Leno, and it knows nothing of C.

pub mod index;
pub mod interp;
pub mod program;
