//! The checker of proofs: what it accepts, and what it must not.

mod rejected;
mod soundness;
