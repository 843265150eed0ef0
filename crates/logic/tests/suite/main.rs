//! The solver against z3, plain evaluation, enumeration of orders, and the checker of proofs.

mod abstraction;
mod agreement;
mod circuits;
mod limits;
mod order;
mod plain;
mod proof;
mod recorded;
mod rules;
mod simplify;
