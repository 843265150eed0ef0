//! Results, written down: outcomes for people ([`text`]), and witness files ([`WitnessFile`], described in
//! `docs/witness.md`).

mod call_sites;
mod fingerprint;
mod invariants;
mod scene;
mod sha256;
mod steps;
pub mod text;
mod witness_file;
mod words;

pub use fingerprint::fingerprint;
pub use invariants::{InvariantLine, invariant_json, invariant_yaml};
pub use steps::Steps;
pub use witness_file::{Recipe, WitnessFile, WitnessFileError};
