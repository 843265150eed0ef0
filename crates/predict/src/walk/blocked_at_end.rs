//! Threads that were blocked when the run ended.
//!
//! A synchronisation step that may wait is recorded when it has been made. So a thread that waited when the run ended,
//! because all threads did or because another one ended the process, has no record of the step; but its path says where
//! it was. That step becomes an event, too: a *pending* one, which the thread may be about to execute but never
//! executes. That is all a deadlock needs.

use crate::program::builder::EventBuilder;
use crate::program::event::Kind;
use crate::query::global_deadlock::operation;
use crate::walk::Walk;
use crate::walk::listener::Position;
use crate::walk::problem::{WalkEnd, WalkResult};
use crate::walk::thread::ThreadState;
use leno_ir::program::{Op, SyncOp};
use leno_trace::{Record, ThreadIndex};

impl Walk<'_, '_, EventBuilder> {
    /// Adds the step that each thread was about to execute at the end, if it may wait there. Gives what could not be
    /// added.
    pub(crate) fn add_pending(&mut self) -> Vec<String> {
        let ended = |state| state == ThreadState::PathEnded;
        let threads = self.threads.iter().filter(|thread| ended(thread.state) && thread.problem.is_none());
        let ids: Vec<ThreadIndex> = threads.map(|thread| thread.id).collect();
        let mut gaps = Vec::new();
        for id in ids {
            let first = self.listener.event_count();
            match self.add_pending_step(id) {
                Err(WalkEnd::Problem(problem)) => gaps.push(format!("{id}: the step at its end: {problem}")),
                // (A thread that had just been started is at no instruction; a lock at a null address is no wait.)
                Err(WalkEnd::PathEnds | WalkEnd::WaitsForThread) | Ok(()) => {}
            }
            self.listener.mark_pending(first);
        }
        gaps
    }

    /// The thread whose end a thread waits for, in the walk as in the run.
    pub(crate) fn awaited_thread(&self, id: ThreadIndex) -> Option<(Position, ThreadIndex)> {
        let at = self.position(id).ok()?;
        let Some(Op::Join { .. }) = operation(self.program, at.place) else { return None };
        match self.threads.get(id)?.records.peek() {
            Some(Record::Join { thread, .. }) => Some((at, ThreadIndex(thread))),
            _ => None,
        }
    }

    fn add_pending_step(&mut self, id: ThreadIndex) -> WalkResult {
        let Some(instr) = self.instruction_at(id) else { return Ok(()) };
        match &instr.op {
            Op::Sync { op, at, .. } if may_wait(op) => {
                let address = self.pinned(id, at, None)?;
                let object = self.locate(id, address)?;
                let shared = matches!(op, SyncOp::ReadLock);
                match op {
                    SyncOp::Lock(_) | SyncOp::ReadLock | SyncOp::WriteLock => {
                        self.event(id, Kind::Acquire { lock: object, shared })
                    }
                    _ => self.sync_step(id, op, object, None, 0).map(|_| ()),
                }
            }
            Op::Join { thread, .. } => {
                let handle = self.pinned(id, thread, None)?;
                match self.handles.get(&handle).copied() {
                    Some(child) => self.event(id, Kind::Join { child }),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

/// Whether a thread may have to wait at a step until another thread does something.
pub(crate) fn may_wait(op: &SyncOp) -> bool {
    match op {
        SyncOp::Lock(_)
        | SyncOp::ReadLock
        | SyncOp::WriteLock
        | SyncOp::CondRelock
        | SyncOp::SemWait
        | SyncOp::BarrierLeave { .. }
        | SyncOp::OnceBegin => true,
        SyncOp::CondWake { deadline, .. } => deadline.is_none(),
        _ => false,
    }
}
