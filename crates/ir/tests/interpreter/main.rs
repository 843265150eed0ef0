//! The interpreter against the semantics page, against gcc, and against the real `printf`.

mod harness;
mod memory;
mod sync;
mod threads;
