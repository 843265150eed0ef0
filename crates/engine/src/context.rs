//! What surrounds a computation: what it may spend, and where it says how far it has come.

use crate::Covered;
use leno_limits::Limits;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Limits, and progress.
#[derive(Clone, Default, Debug)]
pub struct Context {
    pub limits: Limits,
    pub progress: Progress,
}

impl Context {
    pub fn within(limits: Limits) -> Context {
        Context { limits, progress: Progress::default() }
    }
}

/// How far a computation has come, for other threads to see while it is at work. All clones are one.
#[derive(Clone, Default, Debug)]
pub struct Progress(Arc<Shared>);

#[derive(Default, Debug)]
struct Shared {
    /// Executions, of engines that look at them one by one.
    executions: AtomicU64,
    covered: Mutex<Option<Covered>>,
}

impl Progress {
    pub fn count_executions(&self, executions: u64) {
        self.0.executions.store(executions, Ordering::Relaxed);
    }

    pub fn executions(&self) -> u64 {
        self.0.executions.load(Ordering::Relaxed)
    }

    /// What would be covered if the computation ended now.
    pub fn cover(&self, covered: Covered) {
        if let Ok(mut known) = self.0.covered.lock() {
            *known = Some(covered);
        }
    }

    pub fn covered(&self) -> Option<Covered> {
        self.0.covered.lock().ok()?.clone()
    }
}
