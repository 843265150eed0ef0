//! Calls, and the starts and joins of threads.

use crate::program::event::Kind;
use crate::walk::Walk;
use crate::walk::concolic::{ConcolicValue, ones};
use crate::walk::listener::Listener;
use crate::walk::problem::{WalkEnd, WalkProblem, WalkResult};
use crate::walk::thread::{ThreadState, ThreadWalks};
use leno_ir::index::Idx;
use leno_ir::interp::ViolationKind;
use leno_ir::program::{Access, Body, Callee, Expr, FuncId, LocalId};
use leno_trace::{Record, ThreadIndex};

impl<L: Listener> Walk<'_, '_, L> {
    pub(crate) fn call(&mut self, id: ThreadIndex, dst: Option<LocalId>, callee: &Callee, args: &[Expr]) -> WalkResult {
        let target = match callee {
            Callee::Direct(target) | Callee::Indirect(Expr::Function(target)) => Some(*target),
            Callee::Indirect(address) => {
                let address = self.pinned(id, address, Some(ViolationKind::InvalidCall))?;
                self.instances.function_at(address)
            }
        };
        if let Some(marker) = target.and_then(|target| self.markers.get(&target).copied()) {
            self.boundary(id, marker)?;
        }
        let values = self.arguments(id, args)?;
        match target.filter(|target| self.has_body(*target)) {
            Some(target) => self.enter(id, target, &values, dst),
            None => self.call_external(id, callee, target, &values, dst),
        }
    }

    fn has_body(&self, func: FuncId) -> bool {
        matches!(self.program.functions[func].body, Body::Blocks(_))
    }

    fn arguments(&mut self, id: ThreadIndex, args: &[Expr]) -> WalkResult<Vec<(u32, ConcolicValue)>> {
        args.iter().map(|arg| self.evaluate_with_width(id, arg)).collect()
    }

    pub(crate) fn spawn(&mut self, id: ThreadIndex, handle: Option<&Access>, func: &Expr, args: &[Expr]) -> WalkResult {
        let start = self.pinned(id, func, Some(ViolationKind::InvalidCall))?;
        let values = self.arguments(id, args)?;
        let address = handle.map(|access| self.access_address(id, access)).transpose()?;
        let (child, bits) = match self.next(id)? {
            Record::Spawn { thread, handle, .. } => (ThreadIndex(thread), handle),
            other => return Err(self.unexpected(id, "the start of a thread", other)),
        };
        if self.threads.get(child).is_some() {
            return Err(WalkEnd::Problem(WalkProblem::UnknownChild));
        }
        if child.index() >= ThreadWalks::MOST {
            return Err(WalkEnd::Problem(WalkProblem::TooManyThreads));
        }
        self.handles.insert(bits, child);
        let at = self.position(id)?;
        // One step: before it, neither is the handle stored nor the thread started.
        if let (Some(address), Some(access)) = (address, handle) {
            let access = self.memory_access(id, address, access)?;
            let value = ConcolicValue::fixed(u128::from(bits) & ones(access.bytes * 8));
            self.write_private(id, address, access, value)?;
            self.listener.store(&mut self.terms, &at, access, value);
        }
        self.listener.event(&mut self.terms, &at, Kind::Spawn { child });
        let thread = self.thread(id)?;
        thread.children += 1;
        let name = format!("{}.{}", thread.name, thread.children);
        match self.instances.function_at(start).filter(|start| self.has_body(*start)) {
            Some(start) => {
                self.add_thread(child, name, start, &values);
                Ok(())
            }
            None => Err(WalkEnd::Problem(WalkProblem::ChildOutsideProgram(name))),
        }
    }

    /// Waits for the end of a thread. `alone`: the walk of no other thread can continue.
    pub(crate) fn join(&mut self, id: ThreadIndex, dst: Option<LocalId>, handle: &Expr, alone: bool) -> WalkResult {
        self.read_clock_records(id)?;
        if let Some(Record::Join { thread: child, clock, .. }) = self.thread(id)?.records.peek() {
            // The thread does nothing before that.
            self.thread(id)?.clock = clock;
            let is_running = self.threads.get(ThreadIndex(child)).is_some_and(|child| child.is_running());
            if is_running && !alone {
                return Err(WalkEnd::WaitsForThread);
            }
        }
        self.pinned(id, handle, Some(ViolationKind::InvalidThread))?;
        let child = match self.next(id)? {
            Record::Join { thread, .. } => ThreadIndex(thread),
            other => return Err(self.unexpected(id, "a join", other)),
        };
        let result = match self.threads.get(child).filter(|_| child != id) {
            Some(walked) if walked.state == ThreadState::Finished => walked.result,
            Some(_) => return Err(WalkEnd::Problem(WalkProblem::UnfinishedChild)),
            None => return Err(WalkEnd::Problem(WalkProblem::JoinOfUnknownThread)),
        };
        self.event(id, Kind::Join { child })?;
        let Some(dst) = dst else { return Ok(()) };
        let width = self.local_width(id, dst)?;
        let value = result.fit(&mut self.terms, 64, width);
        self.set(id, dst, value)
    }
}
