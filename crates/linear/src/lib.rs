//! Linearizability of concurrent data structures, within bounds.
//!
//! An operation on a data structure is *linearizable* if it seems to happen at one moment between its call and its return:
//! for every execution there is an order of the operations that keeps apart what did not overlap, and in which the same
//! operations, one after the other, give the same results (Herlihy and Wing). The specification here is the implementation
//! itself, run sequentially.
//!
//! This crate turns the question into programs that every engine can check. It knows the operations ([`operation`]), makes
//! all small [`client`]s that call them, and writes for each client two C programs ([`harness`]): one that makes the
//! calls one after the other, in an order that it is given, to learn which results each order has; and one in which threads
//! make the calls at the same time, record which of them overlap, and assert at the end that some order explains the
//! results. So a violation is a failed assertion, with a witness that can be replayed like any other. [`history`] reads
//! and draws what such a program has recorded.

pub mod client;
pub mod harness;
pub mod history;
pub mod operation;
pub mod proof;

pub use client::{Call, Client, ClientOptions};
pub use harness::{Harness, Include};
pub use history::{History, Outcome};
pub use operation::{Mistake, Operation, OperationNames, Operations};
