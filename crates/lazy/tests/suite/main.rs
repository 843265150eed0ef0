//! The lazy engine: the program of the paper, and its verdicts against those of exploration.

mod agreement;
mod endless;
mod paper;
