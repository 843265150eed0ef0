//! Results, written down.
//!
//! So far: witness files ([`WitnessFile`]), as `docs/witness.md` describes them.

mod fingerprint;
mod witness_file;
mod words;

pub use fingerprint::fingerprint;
pub use witness_file::{Recipe, WitnessFile, WitnessFileError};
