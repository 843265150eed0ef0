//! Synchronisation: the rules of locks, condition variables, semaphores, barriers and once flags.
//!
//! A lock is taken and given back by events of its own. The state of a semaphore, a barrier or a once flag is a
//! counter, which each step reads and updates at once: see [`CounterUpdate`].

use crate::program::event::Kind;
use crate::walk::Walk;
use crate::walk::concolic::{ConcolicValue, ones};
use crate::walk::listener::{CounterUpdate, Listener, Location};
use crate::walk::problem::WalkResult;
use leno_ir::program::{Expr, LocalId, SyncOp};
use leno_logic::term::{Term, Terms};
use leno_symbolic::sync::{Caller, transition};
use leno_trace::{Record, ThreadIndex};

/// Set in the offset of a counter, to keep it apart from the bytes of its synchronisation object.
const COUNTER: u64 = 1 << 62;

impl<L: Listener> Walk<'_, '_, L> {
    /// The result of a step that was recorded before it was made; of the last one of a thread there is none.
    fn next_result(&mut self, id: ThreadIndex) -> WalkResult<i64> {
        match self.next(id)? {
            Record::Result(result) => Ok(result),
            other => Err(self.unexpected(id, "the result of a synchronisation step", other)),
        }
    }

    pub(crate) fn synchronise(&mut self, id: ThreadIndex, dst: Option<LocalId>, op: &SyncOp, at: &Expr) -> WalkResult {
        let address = self.pinned_address(id, at)?;
        let operand = match op {
            SyncOp::CondSleep { mutex } => Some(ConcolicValue::fixed(self.pinned_address(id, mutex)?.into())),
            SyncOp::SemInit { value } | SyncOp::BarrierInit { count: value } => Some(self.evaluate(id, value)?),
            _ => None,
        };
        let object = self.locate(id, address)?;
        let record = self.next(id)?;
        let result = match record {
            Record::Sync { result, .. } => result,
            Record::Release { .. } => {
                self.sync_step(id, op, object, operand, 0)?;
                self.next_result(id)?
            }
            other => return Err(self.unexpected(id, "a synchronisation step", other)),
        };
        let mut value = ConcolicValue::fixed(result as u128 & ones(64));
        if matches!(record, Record::Sync { .. }) {
            let symbolic = self.sync_step(id, op, object, operand, result)?;
            if let Some(term) = symbolic {
                value = ConcolicValue { bits: value.bits & ones(32), term: Some(self.terms.zero_extend(term, 64)) };
            }
        }
        let Some(dst) = dst else { return Ok(()) };
        let width = self.local_width(id, dst)?;
        let value = value.fit(&mut self.terms, 64, width);
        self.set(id, dst, value)
    }

    /// What a step does that other threads can observe. Gives its result if that is symbolic.
    pub(crate) fn sync_step(
        &mut self,
        id: ThreadIndex,
        op: &SyncOp,
        object: Location,
        operand: Option<ConcolicValue>,
        result: i64,
    ) -> WalkResult<Option<Term>> {
        let counter = Location { offset: object.offset | COUNTER, ..object };
        let done = result == 0;
        match op {
            SyncOp::Lock(_) | SyncOp::CondRelock if done => self.acquire(id, object, false)?,
            SyncOp::WriteLock if done => self.acquire(id, object, false)?,
            SyncOp::ReadLock if done => self.acquire(id, object, true)?,
            SyncOp::TryLock(_) | SyncOp::TryWriteLock if done => self.acquire(id, object, false)?,
            SyncOp::TryReadLock if done => self.acquire(id, object, true)?,
            SyncOp::TryLock(_) | SyncOp::TryWriteLock => {
                self.event(id, Kind::Busy { lock: object, shared: false })?;
            }
            SyncOp::TryReadLock => self.event(id, Kind::Busy { lock: object, shared: true })?,
            SyncOp::Unlock(_) | SyncOp::RwUnlock => self.release(id, object)?,
            SyncOp::CondSleep { .. } => {
                let mutex = operand.map_or(0, |mutex| mutex.bits as u64);
                let lock = self.locate(id, mutex)?;
                self.event(id, Kind::Sleep { condition: object })?;
                self.release(id, lock)?;
            }
            SyncOp::CondWake { .. } => self.event(id, Kind::Wake { condition: object, timed_out: !done })?,
            SyncOp::CondSignal => self.event(id, Kind::Signal { condition: object, broadcast: false })?,
            SyncOp::CondBroadcast => self.event(id, Kind::Signal { condition: object, broadcast: true })?,
            SyncOp::SemInit { .. } => {
                let value = operand.unwrap_or_default().term(&mut self.terms, 32);
                self.step_on_word(id, op, counter, Some(value), result)?;
            }
            SyncOp::SemWait | SyncOp::SemTryWait | SyncOp::SemPost | SyncOp::OnceBegin | SyncOp::OnceEnd => {
                self.step_on_word(id, op, counter, None, result)?;
            }
            SyncOp::SemGetValue => {
                return self.update_counter(id, counter, &mut |_, _| CounterUpdate { guard: None, new: None });
            }
            SyncOp::BarrierInit { .. } => {
                let size = operand.map_or(0, |size| size.bits & 0xffff_ffff);
                self.barriers.insert(object, size);
                let zero = self.terms.bits(32, 0);
                self.update_counter(id, counter, &mut |_, _| CounterUpdate { guard: None, new: Some(zero) })?;
            }
            SyncOp::BarrierArrive => {
                let ticket = self.update_counter(id, counter, &mut |terms, old| {
                    let one = terms.bits(32, 1);
                    CounterUpdate { guard: None, new: Some(terms.add(old, one)) }
                })?;
                if let Some(ticket) = ticket {
                    self.thread(id)?.barrier_tickets.insert(object, ticket);
                }
            }
            SyncOp::BarrierLeave { .. } => self.leave_barrier(id, object, counter)?,
            _ => {}
        }
        Ok(None)
    }

    /// A step on an object of one word, which had this result.
    fn step_on_word(
        &mut self,
        id: ThreadIndex,
        op: &SyncOp,
        word: Location,
        operand: Option<Term>,
        result: i64,
    ) -> WalkResult<Option<Term>> {
        self.update_counter(id, word, &mut |terms, old| {
            let caller =
                Caller { me: terms.bits(32, u128::from(id.0) + 1), operand, reading: None, may_be_destroyed: false };
            let step = transition(terms, op, caller, &[old]).with_result(terms, old, result);
            CounterUpdate { guard: (step.guard != Term::TRUE).then_some(step.guard), new: step.new }
        })
    }

    fn leave_barrier(&mut self, id: ThreadIndex, object: Location, counter: Location) -> WalkResult {
        let size = self.barriers.get(&object).copied().unwrap_or(0);
        let ticket = self.thread(id)?.barrier_tickets.get(&object).copied();
        let (Some(ticket), true) = (ticket, size > 0) else { return Ok(()) };
        self.update_counter(id, counter, &mut |terms, old| {
            let size = terms.bits(32, size);
            let (mine, now) = (terms.udiv(ticket, size), terms.udiv(old, size));
            CounterUpdate { guard: Some(terms.ult(mine, now)), new: None }
        })?;
        Ok(())
    }

    fn update_counter(
        &mut self,
        id: ThreadIndex,
        counter: Location,
        update: &mut dyn FnMut(&mut Terms, Term) -> CounterUpdate,
    ) -> WalkResult<Option<Term>> {
        let at = self.position(id)?;
        Ok(self.listener.update_counter(&mut self.terms, &at, counter, update))
    }

    fn acquire(&mut self, id: ThreadIndex, lock: Location, shared: bool) -> WalkResult {
        let held = self.thread(id)?.lock_depth.entry(lock).or_default();
        *held += 1;
        // Only the first acquisition of a recursive lock can be observed.
        if *held > 1 { Ok(()) } else { self.event(id, Kind::Acquire { lock, shared }) }
    }

    fn release(&mut self, id: ThreadIndex, lock: Location) -> WalkResult {
        let held = self.thread(id)?.lock_depth.entry(lock).or_default();
        *held = held.saturating_sub(1);
        if *held > 0 { Ok(()) } else { self.event(id, Kind::Release { lock }) }
    }
}
