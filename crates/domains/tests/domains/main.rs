//! Domains against plain enumeration of numbers.

mod fixpoint;
mod laws;
mod sample;
mod small;
mod wide;
