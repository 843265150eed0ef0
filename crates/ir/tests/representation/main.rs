//! Tests of the representation as its users see it: its textual form, the validator, graphs and analyses.

mod analyses;
mod compile;
mod facts;
mod graphs;
mod locking;
mod precision;
mod random;
mod round_trip;
mod validator;
