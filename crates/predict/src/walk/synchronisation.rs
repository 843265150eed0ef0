//! Synchronisation: the rules of locks, condition variables, semaphores, barriers and once flags.
//!
//! A lock is taken and given back by events of its own. The state of a semaphore, a barrier or a once flag is a
//! counter, which each step reads and updates at once: see [`CounterUpdate`].

use crate::program::event::{Choice, Kind};
use crate::walk::Walk;
use crate::walk::concolic::{ConcolicValue, ones};
use crate::walk::listener::{CounterUpdate, Listener, Location, MemoryAccess, PossibleViolation};
use crate::walk::problem::WalkResult;
use leno_ir::interp::ViolationKind;
use leno_ir::program::{Expr, LocalId, ObjectUse, SyncOp};
use leno_logic::term::{Term, Terms};
use leno_symbolic::sync::{Caller, transition};
use leno_trace::{Record, ThreadIndex};

const EBUSY: i64 = 16;
const TIMED_OUT: i64 = 110;

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
        self.use_object(id, op, object)?;
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

    /// What a step is to others who access the bytes of the object.
    fn use_object(&mut self, id: ThreadIndex, op: &SyncOp, object: Location) -> WalkResult {
        if object.instance.is_private() {
            return Ok(());
        }
        let (at, bytes) = (self.position(id)?, op.object_bytes(self.program.model));
        let rest = self.instances.get(object.instance).size.saturating_sub(object.offset);
        let bytes = u32::try_from(rest).unwrap_or(u32::MAX).min(bytes).max(4);
        let usage = op.object_use();
        let access = MemoryAccess { at: object, bytes, atomic: usage.is_atomic() };
        // (Who destroys an object waits for those who are on their way out.)
        if usage != ObjectUse::Leaves {
            self.listener.object(&mut self.terms, &at, access, !usage.is_atomic());
        }
        Ok(())
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
            SyncOp::TryLock(_) | SyncOp::TryWriteLock => return self.attempt(id, object, false, result),
            SyncOp::TryReadLock => return self.attempt(id, object, true, result),
            SyncOp::Unlock(_) | SyncOp::RwUnlock => self.release(id, object)?,
            SyncOp::CondSleep { .. } => {
                let mutex = operand.map_or(0, |mutex| mutex.bits as u64);
                let lock = self.locate(id, mutex)?;
                self.event(id, Kind::Sleep { condition: object })?;
                self.release(id, lock)?;
            }
            SyncOp::CondWake { deadline, .. } => return self.wake(id, object, deadline.is_some(), result),
            SyncOp::CondSignal => self.event(id, Kind::Signal { condition: object, broadcast: false })?,
            SyncOp::CondBroadcast => self.event(id, Kind::Signal { condition: object, broadcast: true })?,
            SyncOp::SemInit { .. } => {
                let value = operand.unwrap_or_default().term(&mut self.terms, 32);
                self.step_on_word(id, op, counter, Some(value), result)?;
            }
            SyncOp::SemTryWait if done || result == -1 => return self.try_semaphore(id, counter),
            SyncOp::SemWait | SyncOp::SemTryWait | SyncOp::SemPost | SyncOp::OnceBegin | SyncOp::OnceEnd => {
                self.step_on_word(id, op, counter, None, result)?;
            }
            SyncOp::SemGetValue => {
                return self.update_counter(id, counter, &mut |_, _| CounterUpdate {
                    guard: None,
                    new: None,
                    condition: None,
                });
            }
            SyncOp::BarrierInit { .. } => {
                let size = operand.map_or(0, |size| size.bits & 0xffff_ffff);
                self.barriers.insert(object, size);
                let zero = self.terms.bits(32, 0);
                self.update_counter(id, counter, &mut |_, _| CounterUpdate {
                    guard: None,
                    new: Some(zero),
                    condition: None,
                })?;
            }
            SyncOp::BarrierArrive => {
                let ticket = self.update_counter(id, counter, &mut |terms, old| {
                    let one = terms.bits(32, 1);
                    CounterUpdate { guard: None, new: Some(terms.add(old, one)), condition: None }
                })?;
                if let Some(ticket) = ticket {
                    self.thread(id)?.barrier_tickets.insert(object, ticket);
                }
            }
            SyncOp::BarrierLeave { .. } => return self.leave_barrier(id, object, counter),
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
            CounterUpdate { guard: (step.guard != Term::TRUE).then_some(step.guard), new: step.new, condition: None }
        })
    }

    /// Leaves a barrier. Gives the result: the last one that came is told so.
    fn leave_barrier(&mut self, id: ThreadIndex, object: Location, counter: Location) -> WalkResult<Option<Term>> {
        let size = self.barriers.get(&object).copied().unwrap_or(0);
        let ticket = self.thread(id)?.barrier_tickets.get(&object).copied();
        let (Some(ticket), true) = (ticket, size > 0) else { return Ok(None) };
        self.update_counter(id, counter, &mut |terms, old| {
            let size = terms.bits(32, size);
            let (mine, now) = (terms.udiv(ticket, size), terms.udiv(old, size));
            CounterUpdate { guard: Some(terms.ult(mine, now)), new: None, condition: None }
        })?;
        let size_term = self.terms.bits(32, size);
        let number = self.terms.urem(ticket, size_term);
        let last = self.terms.bits(32, size - 1);
        let is_last = self.terms.eq(number, last);
        let (serial, other) = (self.terms.bits(32, ones(32)), self.terms.bits(32, 0));
        Ok(Some(self.terms.ite(is_last, serial, other)))
    }

    /// An attempt to take a lock. Gives its result, which depends on who holds it.
    fn attempt(&mut self, id: ThreadIndex, lock: Location, shared: bool, result: i64) -> WalkResult<Option<Term>> {
        let done = result == 0;
        let is_own = self.thread(id)?.lock_depth.get(&lock).is_some_and(|held| *held > 0);
        if is_own || !matches!(result, 0 | EBUSY) {
            // (A recursive lock, a second read lock; or an error: whatever others do.)
            if done {
                self.acquire(id, lock, shared)?;
            }
            return Ok(None);
        }
        let taken = self.listener.choice(&mut self.terms, done);
        self.event(id, Kind::Try { lock, shared, taken })?;
        if done {
            let thread = self.thread(id)?;
            thread.lock_depth.insert(lock, 1);
            thread.tried.insert(lock, taken.is_true);
        }
        let (got, busy) = (self.terms.bits(32, 0), self.terms.bits(32, EBUSY as u128));
        Ok((!taken.is_fixed()).then(|| self.terms.ite(taken.is_true, got, busy)))
    }

    /// The end of a wait: because of a signal, or since the time is over.
    fn wake(&mut self, id: ThreadIndex, condition: Location, is_timed: bool, result: i64) -> WalkResult<Option<Term>> {
        let is_over = result != 0;
        let timed_out = match is_timed && matches!(result, 0 | TIMED_OUT) {
            true => self.listener.choice(&mut self.terms, is_over),
            false => Choice::always(is_over),
        };
        self.event(id, Kind::Wake { condition, timed_out })?;
        let (woken, over) = (self.terms.bits(32, 0), self.terms.bits(32, TIMED_OUT as u128));
        Ok((!timed_out.is_fixed()).then(|| self.terms.ite(timed_out.is_true, over, woken)))
    }

    /// An attempt to lower a semaphore. Gives its result.
    fn try_semaphore(&mut self, id: ThreadIndex, counter: Location) -> WalkResult<Option<Term>> {
        let old = self.update_counter(id, counter, &mut |terms, old| {
            let (zero, one) = (terms.bits(32, 0), terms.bits(32, 1));
            let is_zero = terms.eq(old, zero);
            let condition = Some(terms.not(is_zero));
            CounterUpdate { guard: None, new: Some(terms.sub(old, one)), condition }
        })?;
        let Some(old) = old else { return Ok(None) };
        let (zero, failed) = (self.terms.bits(32, 0), self.terms.bits(32, ones(32)));
        let is_zero = self.terms.eq(old, zero);
        Ok(Some(self.terms.ite(is_zero, failed, zero)))
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
        if *held > 0 {
            return Ok(());
        }
        // Who did not look whether it got the lock may not have it.
        if let Some(taken) = self.thread(id)?.tried.remove(&lock) {
            let at = self.position(id)?;
            let bad = self.terms.not(taken);
            let message = "the lock may not have been taken".to_string();
            let violation =
                PossibleViolation { kind: ViolationKind::InvalidUnlock, span: at.span, message, is_beyond_path: false };
            self.listener.check(&mut self.terms, &at, bad, violation);
            self.assume(id, taken)?;
        }
        self.event(id, Kind::Release { lock })
    }
}
