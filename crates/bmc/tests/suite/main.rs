//! The staged engine against exhaustive exploration, on programs of many kinds. (Single programs with a known verdict
//! are in `tests/programs`.)

mod agreement;
mod counters;
mod duel;
mod leaks;
mod locking;
mod ranges;
