//! The end of a search that does not look at the clock often enough.
//!
//! Engines look at the deadline themselves, and say what is known when it has passed. If one does not come to an end
//! soon after that, it is said here that nothing is known, and the process ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long after the deadline an engine may take to end.
const PATIENCE: Duration = Duration::from_millis(250);
/// How often it is looked whether the search is over.
const PERIOD: Duration = Duration::from_millis(20);

pub struct TimeLimit {
    done: Arc<AtomicBool>,
}

impl TimeLimit {
    /// Watches from now on, if there is a deadline.
    pub fn watch(deadline: Option<Instant>) -> TimeLimit {
        let done = Arc::new(AtomicBool::new(false));
        if let Some(deadline) = deadline {
            let is_done = Arc::clone(&done);
            let _ = thread::Builder::new().name("time".to_string()).spawn(move || {
                while !is_done.load(Ordering::SeqCst) {
                    if Instant::now() > deadline + PATIENCE {
                        println!("UNKNOWN: the time limit was reached\n  = nothing was looked at completely");
                        std::process::exit(2);
                    }
                    thread::sleep(PERIOD);
                }
            });
        }
        TimeLimit { done }
    }

    /// The search is over.
    pub fn release(&self) {
        self.done.store(true, Ordering::SeqCst);
    }
}
