//! Boolean programs: what they mean, held against an interpreter of their own.

mod agreement;
mod grow;
mod interpreter;
mod messages;
