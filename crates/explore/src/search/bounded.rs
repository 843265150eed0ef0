//! Few preemptions: the search restricted to executions in which a thread is seldom interrupted.
//!
//! A *preemption* is a switch away from a thread that could go on. Most errors need very few. With a bound on them,
//! optimal reduction is wrong: the execution that stands for many others may be over the bound while some of the others
//! are not. So here the search has no sleep sets and no wake-up trees, and plans more switches than it would need
//! otherwise (Coons, Musuvathi, McKinley: *Bounded Partial-Order Reduction*, OOPSLA 2013): for every two dependent
//! events, the thread of the later one is tried before the earlier one, and also before the whole block of its thread,
//! where a switch may cost nothing.
//!
//! A thread that waits in a loop, or that waits with `exit` for the others, is not preempted by a switch: that counts
//! less than there is, so more is explored, never less.

use crate::event::{Access, Footprint, Step, SyncKind};
use crate::search::optimal::Search;
use crate::task::Incomplete;
use leno_ir::index::Idx;
use leno_ir::interp::ThreadId;

/// How many preemptions there may be, and how many there are up to each event of the current execution.
pub struct Preemptions {
    bound: u32,
    counts: Vec<u32>,
    /// By event: the threads that could have made an event instead.
    enabled: Vec<Vec<ThreadId>>,
}

impl Preemptions {
    pub fn at_most(bound: u32) -> Preemptions {
        Preemptions { bound, counts: Vec::new(), enabled: Vec::new() }
    }

    /// Takes back the last event.
    pub fn pop(&mut self) {
        self.counts.pop();
        self.enabled.pop();
    }

    fn count(&self) -> u32 {
        self.counts.last().copied().unwrap_or(0)
    }
}

impl Search<'_, '_, '_> {
    /// Whether it would be a preemption if `thread` made the next event.
    fn preempts(&self, thread: ThreadId) -> bool {
        self.events.last().is_some_and(|last| last.step.thread != thread && self.can_step(last.step.thread))
    }

    /// Whether `thread` may make the next event.
    pub fn is_within_bound(&mut self, thread: ThreadId) -> bool {
        let Some(preemptions) = &self.preemptions else { return true };
        let is_within = preemptions.count() + u32::from(self.preempts(thread)) <= preemptions.bound;
        if !is_within {
            let bound = preemptions.bound;
            self.note(Incomplete::Preemptions(bound));
        }
        is_within
    }

    /// Counts the preemptions up to the next event, which `thread` makes.
    pub fn count_preemption(&mut self, thread: ThreadId) {
        let more = match &self.preemptions {
            Some(_) => u32::from(self.preempts(thread)),
            None => return,
        };
        let enabled = self.machine.threads().ids().filter(|thread| self.can_step(*thread)).collect();
        if let Some(preemptions) = &mut self.preemptions {
            let count = preemptions.count() + more;
            preemptions.counts.push(count);
            preemptions.enabled.push(enabled);
        }
    }

    /// Whether another thread has changed something since a thread that waits in a loop has made this event: it may go
    /// on. (Without a bound there is another execution for that, in which it has not gone round.)
    pub fn is_interfered_with(&self, event: usize) -> bool {
        let changes = |later: &crate::event::Event| later.effect.is_lasting || later.effect.locks != 0;
        self.preemptions.is_some() && self.events[event + 1..].iter().any(changes)
    }

    /// Plans to try the thread of the event at `index` before every event that it depends on.
    pub fn plan_switches(&mut self, index: usize) {
        if self.preemptions.is_none() {
            return;
        }
        let event = &self.events[index];
        let thread = event.step.thread;
        let is_earlier = |at: &usize| {
            let earlier = &self.events[*at];
            earlier.step.thread != thread
                && !earlier.is_before(&self.born[thread.index()])
                && may_swap(&earlier.step.footprint, &event.step.footprint)
        };
        let earlier: Vec<usize> = (0..index).filter(is_earlier).collect();
        for at in earlier {
            self.plan_switch(at, thread);
        }
    }

    /// Plans to try `thread` before the event at `index`, and before the block that this is in.
    pub fn plan_switch(&mut self, index: usize, thread: ThreadId) {
        let other = self.events[index].step.thread;
        let block = (0..index).rev().find(|at| self.events[*at].step.thread != other).map_or(0, |at| at + 1);
        self.plan_at(index, thread);
        self.plan_at(block, thread);
    }

    /// Plans to try `thread` before the event at `index`; if it cannot go on there, every thread that can.
    fn plan_at(&mut self, index: usize, thread: ThreadId) {
        let Some(preemptions) = &self.preemptions else { return };
        let enabled = &preemptions.enabled[index];
        let candidates = if enabled.contains(&thread) { vec![thread] } else { enabled.clone() };
        let made = self.events[index].step.thread;
        let node = &mut self.nodes[index];
        for thread in candidates {
            if thread != made && node.sleep.iter().all(|done| done.thread != thread) {
                node.tree.add_thread(Step::new(thread, Footprint::default(), Vec::new()));
            }
        }
    }
}

/// Whether the order of two events can matter: they are dependent, and the later one is not a lock that the earlier one
/// set free.
fn may_swap(earlier: &Footprint, later: &Footprint) -> bool {
    let frees = |a: Access, b: Access| {
        matches!((a, b), (Access::Sync { step: SyncKind::Release, .. }, Access::Sync { step: SyncKind::Acquire, .. }))
    };
    earlier.0.iter().any(|a| later.0.iter().any(|b| a.conflicts(*b) && !frees(*a, *b)))
}
