//! Violations on the interpreter: how they are claimed, and how an execution is led to one.
//!
//! An engine that has found a violation leads the interpreter there, thread by thread and step by step ([`Follower`]),
//! with the inputs that it has in mind ([`Inputs`]). What the interpreter then sees is the
//! [`claim`](leno_ir::witness::Claim), and the steps that it has made are the witness. [`follow`] does the same with a
//! witness that is complete.

mod claim;
mod follower;
mod inputs;

pub use claim::{claim_deadlock, claim_race, claim_unordered, claim_violation, conflict, racer, stuck_for_ever};
pub use follower::{Astray, Follower, Stepped, follow};
pub use inputs::{Given, Inputs};
