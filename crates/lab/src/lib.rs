//! Experiments that compare Leno with the real world.
//!
//! Nothing here is part of what a user runs. `cargo run --release -p leno-lab -- --help` lists the experiments; the
//! tests of the workspace use the same pieces on small, fixed inputs.

pub mod annotated_races;
pub mod c_testsuite;
pub mod corpus;
pub mod csmith;
pub mod exploration;
pub mod mutate;
pub mod replays;
pub mod sanitizers;
pub mod speed;
pub mod staged;
pub mod threeway;

pub use leno_testing::{process, workers};
