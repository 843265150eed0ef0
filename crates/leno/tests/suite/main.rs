//! The command line and the library, as users meet them.

mod calls;
mod checking;
mod cli;
mod command_line;
mod confine;
mod csmith;
mod examples;
mod hostile;
mod layers;
mod limits;
mod linearizing;
mod outside;
mod prediction;
mod programs;
mod reports;
mod verdicts;
