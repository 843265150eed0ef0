//! Where threads stood when the run ended.
//!
//! A step that may wait is recorded when it has been made. So a thread that waited when the run was over, because everybody did or because
//! somebody else ended the process, has no record of it; but its path says where it stood. That step becomes an event, too: one that
//! nobody ever makes, but that a thread may stand before, which is all that a deadlock needs.

use crate::build::Builder;
use crate::stuck::operation;
use crate::trace::Record;
use crate::walk::{Action, Going, Halt, Moment, State, Walk};
use leno_ir::program::{Body, Op, SyncOp};

impl Walk<'_, '_, Builder> {
    /// Adds the step that each thread stood before at the end, if it is one that may wait.
    pub(crate) fn add_pending(&mut self) {
        let over = |state| state == State::Over;
        let ended = self.threads.iter().filter(|thread| over(thread.state) && thread.problem.is_none());
        let numbers: Vec<u32> = ended.map(|thread| thread.number).collect();
        for number in numbers {
            let first = self.listener.event_count();
            // What does not fit here did not fit before.
            let _ = self.pend(number);
            self.listener.mark_pending(first);
        }
    }

    /// The thread whose end a thread waits for, in the walk as in the run.
    pub(crate) fn joins(&mut self, number: u32) -> Option<(Moment, u32)> {
        let at = self.moment(number)?;
        let Some(Op::Join { .. }) = operation(self.program, at.place) else { return None };
        match self.threads.get(number)?.records.peek() {
            Some(Record::Join { thread, .. }) => Some((at, thread)),
            _ => None,
        }
    }

    fn pend(&mut self, number: u32) -> Going {
        let place = self.moment(number).ok_or(Halt::Over)?.place;
        let Body::Blocks(blocks) = &self.program.functions[place.func].body else { return Ok(()) };
        let Some(instr) = blocks[place.block].instrs.get(place.index as usize) else { return Ok(()) };
        match &instr.op {
            Op::Sync { op, at, .. } if may_wait(op) => {
                let address = self.pinned(number, at, None)?;
                let object = self.locate(number, address);
                let shared = matches!(op, SyncOp::ReadLock);
                match op {
                    SyncOp::Lock(_) | SyncOp::ReadLock | SyncOp::WriteLock => {
                        self.act(number, Action::Acquire { lock: object, shared })
                    }
                    _ => self.sync_step(number, op, object, None, 0).map(|_| ()),
                }
            }
            Op::Join { thread, .. } => {
                let handle = self.pinned(number, thread, None)?;
                match self.handles.get(&handle).copied() {
                    Some(child) => self.act(number, Action::Join { child }),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

/// Whether a step can be one that a thread has to wait at, for as long as nobody does anything about it.
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
