//! Tests of the representation as its users see it: its textual form, the validator, graphs and analyses.

mod analyses;
mod graphs;
mod random;
mod round_trip;
mod soundness;
mod validator;
