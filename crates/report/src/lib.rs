//! Results, written down: outcomes for people ([`text`]), and witness files ([`WitnessFile`], described in
//! `docs/witness.md`).

mod call_sites;
mod fingerprint;
mod scene;
mod steps;
pub mod text;
mod witness_file;
mod words;

pub use fingerprint::fingerprint;
pub use steps::Steps;
pub use witness_file::{Recipe, WitnessFile, WitnessFileError};
