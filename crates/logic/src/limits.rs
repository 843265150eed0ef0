//! When to give up: a deadline, a wish to stop, a bound on memory.
//!
//! Cores and encoders ask [`Limits::stop`] often enough that a wish is granted within 100 milliseconds. Memory is the resident
//! size of the process, read from the kernel a few times a second: an allocator's own books do not include CaDiCaL's.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Why a search ended without an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    Time,
    Memory,
    Cancelled,
    /// Another solver gave up by itself.
    Solver,
}

/// What a solver may spend. The default is everything.
#[derive(Clone, Default, Debug)]
pub struct Limits {
    pub deadline: Option<Instant>,
    /// Resident bytes of the process.
    pub memory: Option<u64>,
    pub cancel: Option<Arc<AtomicBool>>,
    memory_seen: Cell<Option<Instant>>,
}

const MEMORY_INTERVAL: Duration = Duration::from_millis(20);

impl Limits {
    /// Everything until `deadline`.
    pub fn until(deadline: Instant) -> Limits {
        Limits { deadline: Some(deadline), ..Limits::default() }
    }

    /// These, and no more than so many resident bytes.
    pub fn with_memory(self, bytes: u64) -> Limits {
        Limits { memory: Some(bytes), ..self }
    }

    /// These, until the flag is set.
    pub fn with_cancel(self, flag: Arc<AtomicBool>) -> Limits {
        Limits { cancel: Some(flag), ..self }
    }

    /// The reason to stop now, if there is one.
    pub fn stop(&self) -> Option<Stop> {
        if self.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Stop::Cancelled);
        }
        if self.deadline.is_none() && self.memory.is_none() {
            return None;
        }
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            return Some(Stop::Time);
        }
        let due = self.memory_seen.get().is_none_or(|seen| now - seen >= MEMORY_INTERVAL);
        if let Some(limit) = self.memory.filter(|_| due) {
            self.memory_seen.set(Some(now));
            if resident_bytes().is_some_and(|bytes| bytes > limit) {
                return Some(Stop::Memory);
            }
        }
        None
    }
}

/// The resident size of this process, where the system tells it.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}
