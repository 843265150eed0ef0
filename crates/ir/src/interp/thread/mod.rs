//! Programs made ready to run, threads and their steps, which of them can step, and who decides what is not determined.
//!
//! `image` compiles a program, `machine` is the state of an execution, `step` and `sync` have the steps, `enabled` says
//! which threads can step and what their steps touch, `schedule` chooses among them, and `environment` gives inputs and
//! takes outputs.

pub(in crate::interp) mod enabled;
pub(in crate::interp) mod environment;
pub(in crate::interp) mod fingerprint;
pub(in crate::interp) mod happens_before;
pub(in crate::interp) mod image;
pub(in crate::interp) mod machine;
pub(in crate::interp) mod schedule;
pub(in crate::interp) mod step;
pub(in crate::interp) mod sync;
