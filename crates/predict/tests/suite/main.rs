//! Prediction: what is recorded of a run, and what all of its reorderings could do.

mod atomicity;
mod deadlocks;
mod figure1;
mod generated;
mod hostile;
mod kinds;
mod long;
mod recording;
mod signals;
mod steps;
mod text;
mod thread_private;
mod unlucky;
