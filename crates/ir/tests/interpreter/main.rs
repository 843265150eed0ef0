//! The interpreter against the semantics page, against gcc, and against the real `printf`.

mod gcc;
mod harness;
mod memory;
mod operators;
mod printf;
#[path = "../representation/random.rs"]
#[allow(dead_code)]
mod random;
mod robustness;
mod sync;
mod threads;
