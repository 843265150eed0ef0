//! The interpreter against the semantics page, against gcc, and against the real `printf`.

mod gcc;
mod harness;
mod memory;
mod operators;
mod printf;
mod sync;
mod threads;
