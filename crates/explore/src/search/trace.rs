//! Traces: executions up to the order of independent events.
//!
//! Two executions are the same trace (Mazurkiewicz's) if every thread does the same in both, and every two dependent
//! events come in the same order. A trace is written down as a list for each thread: what each event touched, which
//! values it was given, and, for every other thread, the last event that came before and that it depends on directly.
//! So two executions are the same trace just if these lists are equal; a hash of them is the trace's fingerprint.
//!
//! Nothing here knows how the search finds dependences: this is what it is compared with.

use crate::event::{Choice, Footprint};
use leno_ir::index::Idx;
use leno_ir::interp::ThreadId;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

#[derive(Clone, Default)]
pub struct Trace {
    /// By thread.
    events: Vec<Vec<Footprint>>,
    /// By thread, a hash of its events so far.
    hashes: Vec<u64>,
}

impl Trace {
    /// Adds an event at the end.
    pub fn push(&mut self, thread: ThreadId, footprint: &Footprint, choices: &[Choice]) {
        if self.events.len() <= thread.index() {
            self.events.resize(thread.index() + 1, Vec::new());
            self.hashes.resize(thread.index() + 1, 0);
        }
        let mut hasher = DefaultHasher::new();
        (self.hashes[thread.index()], footprint, choices).hash(&mut hasher);
        for (other, events) in self.events.iter().enumerate().filter(|(other, _)| *other != thread.index()) {
            if let Some(last) = events.iter().rposition(|event| event.conflicts(footprint)) {
                (other, last).hash(&mut hasher);
            }
        }
        self.events[thread.index()].push(footprint.clone());
        self.hashes[thread.index()] = hasher.finish();
    }

    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hashes.hash(&mut hasher);
        hasher.finish()
    }
}
