//! When to give up: a deadline, a bound on memory or on conflicts, a request to stop. One type for the solver and for
//! all engines.
//!
//! Each computation asks [`Limits::stop`] often enough that a request is granted within 100 milliseconds. Memory is the
//! resident size of the process, read from the kernel a few times a second: an allocator's own books do not include
//! CaDiCaL's.
//!
//! The deadline is the user's. An engine that wants a quick answer to one question, or none, bounds its conflicts
//! instead: then what it does next does not depend on how busy the machine is.
//!
//! ```
//! use leno_limits::{Cancel, Limits, Stop};
//!
//! let cancel = Cancel::default();
//! let limits = Limits::default().with_cancel(&cancel);
//! assert_eq!(limits.stop(), None);
//! cancel.request(Stop::Cancelled);
//! assert_eq!(limits.stop(), Some(Stop::Cancelled));
//! ```

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// Why a computation ended without an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    Time,
    Memory,
    /// On request, by the user above all.
    Cancelled,
    /// The conflicts of one question were spent.
    Conflicts,
    /// Another solver gave up by itself.
    Solver,
}

/// A request to stop, from another thread or from a signal handler. All clones are one.
#[derive(Clone, Default, Debug)]
pub struct Cancel {
    requested: Arc<AtomicU8>,
    /// A request there is one here, too.
    above: Option<Arc<Cancel>>,
}

impl Cancel {
    const NONE: u8 = 0;
    const REQUESTED: u8 = 1;
    const MEMORY: u8 = 2;

    /// Stops what is asked to stop here, and by itself only that.
    pub fn below(&self) -> Cancel {
        Cancel { requested: Arc::default(), above: Some(Arc::new(self.clone())) }
    }

    /// Asks to stop, for this reason. The first reason is kept.
    pub fn request(&self, why: Stop) {
        let reason = if why == Stop::Memory { Cancel::MEMORY } else { Cancel::REQUESTED };
        let _ = self.requested.compare_exchange(Cancel::NONE, reason, Ordering::Relaxed, Ordering::Relaxed);
    }

    pub fn requested(&self) -> Option<Stop> {
        match self.requested.load(Ordering::Relaxed) {
            Cancel::NONE => self.above.as_ref().and_then(|above| above.requested()),
            Cancel::MEMORY => Some(Stop::Memory),
            _ => Some(Stop::Cancelled),
        }
    }
}

/// What a computation may spend. The default is everything.
#[derive(Clone, Default, Debug)]
pub struct Limits {
    pub deadline: Option<Instant>,
    /// Resident bytes of the process.
    pub memory: Option<u64>,
    pub cancel: Cancel,
    /// Conflicts of the SAT core, in each call of the solver.
    pub conflicts: Option<u64>,
    memory_seen: Cell<Option<Instant>>,
    /// The first reason to stop that was found: it stays one, also if memory is given back.
    stopped: Cell<Option<Stop>>,
}

const MEMORY_INTERVAL: Duration = Duration::from_millis(20);

impl Limits {
    /// Everything until `deadline`.
    pub fn until(deadline: Instant) -> Limits {
        Limits { deadline: Some(deadline), ..Limits::default() }
    }

    /// These, and no later than so long from now.
    pub fn within(self, time: Duration) -> Limits {
        let end = Instant::now() + time;
        Limits {
            deadline: Some(self.deadline.map_or(end, |deadline| deadline.min(end))),
            stopped: Cell::new(None),
            ..self
        }
    }

    /// These, and no more than so many resident bytes.
    pub fn with_memory(self, bytes: u64) -> Limits {
        Limits { memory: Some(bytes), ..self }
    }

    /// These, until a stop is requested there.
    pub fn with_cancel(self, cancel: &Cancel) -> Limits {
        Limits { cancel: cancel.clone(), ..self }
    }

    /// These, and no more than so many conflicts in each call of the solver.
    pub fn with_conflicts(self, conflicts: u64) -> Limits {
        Limits { conflicts: Some(conflicts), ..self }
    }

    /// How much time is left, if that is limited.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// The reason to stop, if there is one. Once there is one, there always is: a computation that was cut short must
    /// not look complete.
    pub fn stop(&self) -> Option<Stop> {
        if self.stopped.get().is_none() {
            self.stopped.set(self.look());
        }
        self.stopped.get()
    }

    fn look(&self) -> Option<Stop> {
        if let Some(stop) = self.cancel.requested() {
            return Some(stop);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reaches_what_is_below() {
        let all = Cancel::default();
        let (one, other) = (all.below(), all.below());
        one.request(Stop::Cancelled);
        assert_eq!((all.requested(), one.requested(), other.requested()), (None, Some(Stop::Cancelled), None));
        all.request(Stop::Memory);
        assert_eq!((one.requested(), other.requested()), (Some(Stop::Cancelled), Some(Stop::Memory)));
    }

    #[test]
    fn what_has_been_stopped_stays_stopped() {
        let limits = Limits::default().with_memory(1);
        assert_eq!(limits.stop(), Some(Stop::Memory), "a process has more than one byte");
        assert_eq!(limits.stop(), Some(Stop::Memory), "also before it is looked at again");
    }
}
