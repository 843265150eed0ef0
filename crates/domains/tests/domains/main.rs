//! Domains against plain enumeration of numbers.

mod fixpoint;
mod laws;
mod octagon;
mod sample;
mod small;
mod wide;
