//! Leno's solver: Booleans, bit-vectors, and events in an order.
//!
//! It knows nothing of programs. Terms become circuits, circuits become clauses, and a SAT core searches, with a theory
//! of order beside it that keeps conditional happens-before edges acyclic and derives what reads from memory imply.

pub mod abstraction;
pub mod blast;
pub mod core;
pub mod equations;
pub mod literal;
pub mod order;
pub mod proof;
pub mod smtlib;
pub mod solver;
pub mod term;

pub use leno_limits as limits;
