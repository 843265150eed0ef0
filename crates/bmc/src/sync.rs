//! Locks, semaphores, barriers and their like: updates of the words of an object that may have to wait.
//!
//! A step that waits until it can go on is an update that occurs only if it reads a state in which it is enabled. Otherwise it
//! does not occur at all, and nothing after it in its thread; others go on. The mutex keeps its owner in its first word here, so
//! that one word tells everything; mutexes of other kinds than the normal one are refused for now.

use crate::summarize::{Frame, Refused, State, Summarizer};
use leno_ir::interp::ViolationKind;
use leno_ir::program::{Expr, LocalId, SyncOp};
use leno_logic::term::{Sort, Term};

const EBUSY: u128 = 16;
const EINVAL: u128 = 22;
const ETIMEDOUT: u128 = 110;
const RUNNING: u128 = 1;
const DONE: u128 = 2;

impl Summarizer<'_> {
    fn word32(&mut self, value: u128) -> Term {
        self.terms.bits(32, value)
    }

    fn is_word(&mut self, word: Term, value: u128) -> Term {
        let value = self.word32(value);
        self.terms.eq(word, value)
    }

    fn me(&mut self) -> Term {
        self.terms.bits(32, u128::from(self.thread.0) + 1)
    }

    pub(crate) fn sync(
        &mut self,
        frame: &Frame,
        mut state: State,
        dst: Option<LocalId>,
        op: &SyncOp,
        at: &Expr,
    ) -> Result<Option<State>, Refused> {
        let address = self.evaluate(frame, &mut state, at)?;
        let place = (at, address);
        let after = match op {
            SyncOp::LockInit { kind, .. } => {
                let kind = self.evaluate(frame, &mut state, kind)?;
                if self.terms.as_bits(kind) != Some(0) {
                    return Err(Refused::new("a mutex of another kind than the normal one"));
                }
                self.set_word(frame, state, place, 0)?
            }
            SyncOp::CondInit | SyncOp::CondSignal | SyncOp::CondBroadcast => self.nothing(state, 0),
            SyncOp::CondDestroy | SyncOp::SemDestroy => self.nothing(state, 0),
            SyncOp::LockDestroy(_) => self.destroy_lock(frame, state, place)?,
            SyncOp::Lock(_) | SyncOp::CondRelock => self.lock(frame, state, place)?,
            SyncOp::TryLock(_) => self.try_lock(frame, state, place)?,
            SyncOp::Unlock(_) => self.unlock(frame, state, place)?,
            SyncOp::CondSleep { mutex } => {
                let address = self.evaluate(frame, &mut state, mutex)?;
                self.unlock(frame, state, (mutex, address))?
            }
            SyncOp::CondWake { deadline, .. } => self.wake(state, deadline.is_some()),
            SyncOp::SemInit { value } => {
                let value = self.evaluate(frame, &mut state, value)?;
                self.set_word_to(frame, state, place, value)?
            }
            SyncOp::SemWait | SyncOp::SemTryWait | SyncOp::SemPost | SyncOp::SemGetValue => {
                self.semaphore(frame, state, place, op)?
            }
            SyncOp::OnceBegin | SyncOp::OnceEnd => self.once(frame, state, place, op)?,
            SyncOp::BarrierInit { .. }
            | SyncOp::BarrierDestroy
            | SyncOp::BarrierArrive
            | SyncOp::BarrierLeave { .. } => return self.barrier(frame, state, dst, place, op),
            SyncOp::RwInit
            | SyncOp::RwDestroy
            | SyncOp::ReadLock
            | SyncOp::TryReadLock
            | SyncOp::WriteLock
            | SyncOp::TryWriteLock
            | SyncOp::RwUnlock => self.read_write_lock(frame, state, place, op)?,
        };
        Ok(after.map(|(mut state, result)| {
            if let Some(dst) = dst {
                let width = self.width(self.program.functions[frame.func].locals[dst].ty);
                let result = self.fit(result, width);
                state.set_local(dst.0 as usize, result);
            }
            state
        }))
    }

    /// Everything that may block inside an atomic section would split it.
    fn may_block(&self, state: &State) -> Result<(), Refused> {
        if state.section.is_some() {
            return Err(Refused::new("an atomic section waits for something"));
        }
        Ok(())
    }

    fn nothing(&mut self, state: State, result: u128) -> Option<(State, Term)> {
        let result = self.word32(result);
        Some((state, result))
    }

    fn wake(&mut self, state: State, timed: bool) -> Option<(State, Term)> {
        let zero = self.word32(0);
        if !timed {
            return Some((state, zero));
        }
        let late = self.terms.variable(Sort::Bool, "timed out");
        let error = self.word32(ETIMEDOUT);
        let result = self.terms.ite(late, error, zero);
        Some((state, result))
    }

    fn set_word(
        &mut self,
        frame: &Frame,
        state: State,
        place: (&Expr, Term),
        value: u128,
    ) -> Result<Option<(State, Term)>, Refused> {
        let value = self.word32(value);
        self.set_word_to(frame, state, place, value)
    }

    fn set_word_to(
        &mut self,
        frame: &Frame,
        state: State,
        place: (&Expr, Term),
        value: Term,
    ) -> Result<Option<(State, Term)>, Refused> {
        let value = self.fit(value, 32);
        let after = self.words(frame, state, place, &[0], &mut |this, _| {
            let always = this.terms.bool(true);
            (always, vec![(always, value)])
        })?;
        let zero = self.word32(0);
        Ok(after.map(|(state, _)| (state, zero)))
    }

    fn lock(&mut self, frame: &Frame, state: State, place: (&Expr, Term)) -> Result<Option<(State, Term)>, Refused> {
        self.may_block(&state)?;
        let me = self.me();
        let after = self.words(frame, state, place, &[0], &mut |this, old| {
            let got = this.terms.variable(Sort::Bool, "got");
            let free = this.is_word(old[0], 0);
            let implied = this.terms.implies(got, free);
            this.skeleton.constraints.push(implied);
            (got, vec![(this.terms.bool(true), me)])
        })?;
        let zero = self.word32(0);
        Ok(after.map(|(state, _)| (state, zero)))
    }

    fn try_lock(
        &mut self,
        frame: &Frame,
        state: State,
        place: (&Expr, Term),
    ) -> Result<Option<(State, Term)>, Refused> {
        let me = self.me();
        let after = self.words(frame, state, place, &[0], &mut |this, old| {
            let free = this.is_word(old[0], 0);
            (this.terms.bool(true), vec![(free, me)])
        })?;
        let (zero, busy) = (self.word32(0), self.word32(EBUSY));
        Ok(after.map(|(state, old)| {
            let free = self.terms.eq(old[0], zero);
            (state, self.terms.ite(free, zero, busy))
        }))
    }

    fn unlock(&mut self, frame: &Frame, state: State, place: (&Expr, Term)) -> Result<Option<(State, Term)>, Refused> {
        let me = self.me();
        let zero = self.word32(0);
        let after = self.words(frame, state, place, &[0], &mut |this, old| {
            let mine = this.terms.eq(old[0], me);
            (this.terms.bool(true), vec![(mine, zero)])
        })?;
        Ok(after.and_then(|(state, old)| {
            let mine = self.terms.eq(old[0], me);
            let not = self.terms.not(mine);
            let bad = self.terms.and2(state.path, not);
            self.violate(ViolationKind::InvalidUnlock, bad);
            Some((self.restrict(state, mine)?, zero))
        }))
    }

    fn destroy_lock(
        &mut self,
        frame: &Frame,
        state: State,
        place: (&Expr, Term),
    ) -> Result<Option<(State, Term)>, Refused> {
        self.skeleton.gap("the use of destroyed locks is not encoded");
        let after = self.words(frame, state, place, &[0], &mut |this, old| {
            let never = this.terms.bool(false);
            (this.terms.bool(true), vec![(never, old[0])])
        })?;
        let (zero, busy) = (self.word32(0), self.word32(EBUSY));
        Ok(after.map(|(state, old)| {
            let free = self.terms.eq(old[0], zero);
            (state, self.terms.ite(free, zero, busy))
        }))
    }

    fn semaphore(
        &mut self,
        frame: &Frame,
        state: State,
        place: (&Expr, Term),
        op: &SyncOp,
    ) -> Result<Option<(State, Term)>, Refused> {
        if matches!(op, SyncOp::SemWait) {
            self.may_block(&state)?;
        }
        let one = self.word32(1);
        let most = self.word32(i32::MAX as u128);
        let after = self.words(frame, state, place, &[0], &mut |this, old| {
            let always = this.terms.bool(true);
            let empty = this.is_word(old[0], 0);
            let positive = this.terms.not(empty);
            let less = this.terms.sub(old[0], one);
            match op {
                SyncOp::SemWait => {
                    let got = this.terms.variable(Sort::Bool, "got");
                    let implied = this.terms.implies(got, positive);
                    this.skeleton.constraints.push(implied);
                    (got, vec![(always, less)])
                }
                SyncOp::SemTryWait => (always, vec![(positive, less)]),
                SyncOp::SemPost => {
                    let full = this.terms.ule(most, old[0]);
                    let room = this.terms.not(full);
                    (always, vec![(room, this.terms.add(old[0], one))])
                }
                _ => (always, vec![(this.terms.bool(false), one)]),
            }
        })?;
        let (zero, failed) = (self.word32(0), self.word32(u128::from(u32::MAX)));
        Ok(after.map(|(state, old)| {
            let result = match op {
                SyncOp::SemTryWait => {
                    let empty = self.terms.eq(old[0], zero);
                    self.terms.ite(empty, failed, zero)
                }
                SyncOp::SemPost => {
                    let full = self.terms.ule(most, old[0]);
                    self.terms.ite(full, failed, zero)
                }
                SyncOp::SemGetValue => old[0],
                _ => zero,
            };
            (state, result)
        }))
    }

    fn once(
        &mut self,
        frame: &Frame,
        state: State,
        place: (&Expr, Term),
        op: &SyncOp,
    ) -> Result<Option<(State, Term)>, Refused> {
        if matches!(op, SyncOp::OnceEnd) {
            return self.set_word(frame, state, place, DONE);
        }
        self.may_block(&state)?;
        let running = self.word32(RUNNING);
        let after = self.words(frame, state, place, &[0], &mut |this, old| {
            let got = this.terms.variable(Sort::Bool, "got");
            let busy = this.is_word(old[0], RUNNING);
            let not_busy = this.terms.not(busy);
            let implied = this.terms.implies(got, not_busy);
            this.skeleton.constraints.push(implied);
            let done = this.is_word(old[0], DONE);
            (got, vec![(this.terms.not(done), running)])
        })?;
        let (zero, one) = (self.word32(0), self.word32(1));
        Ok(after.map(|(state, old)| {
            let done = self.is_word(old[0], DONE);
            (state, self.terms.ite(done, zero, one))
        }))
    }

    fn barrier(
        &mut self,
        frame: &Frame,
        mut state: State,
        dst: Option<LocalId>,
        place: (&Expr, Term),
        op: &SyncOp,
    ) -> Result<Option<State>, Refused> {
        let zero = self.word32(0);
        let one = self.word32(1);
        let operand = match op {
            SyncOp::BarrierInit { count } => Some(self.evaluate(frame, &mut state, count)?),
            SyncOp::BarrierLeave { ticket } => {
                self.may_block(&state)?;
                Some(self.evaluate(frame, &mut state, ticket)?)
            }
            _ => None,
        };
        let after = self.words(frame, state, place, &[0, 4, 8], &mut |this, old| {
            let (always, never) = (this.terms.bool(true), this.terms.bool(false));
            match (op, operand) {
                (SyncOp::BarrierInit { .. }, Some(count)) => {
                    let count = this.fit(count, 32);
                    (always, vec![(always, count), (always, zero), (always, zero)])
                }
                (SyncOp::BarrierLeave { .. }, Some(ticket)) => {
                    let got = this.terms.variable(Sort::Bool, "got");
                    let last = this.terms.extract(ticket, 0, 1);
                    let last = this.terms.bits_to_bool(last);
                    let generation = this.terms.extract(ticket, 1, 32);
                    let same = this.terms.eq(generation, old[2]);
                    let other = this.terms.not(same);
                    let full = this.terms.or2(last, other);
                    let implied = this.terms.implies(got, full);
                    this.skeleton.constraints.push(implied);
                    (got, vec![(never, zero), (never, zero), (never, zero)])
                }
                (SyncOp::BarrierDestroy, _) => (always, vec![(always, zero), (never, zero), (never, zero)]),
                _ => {
                    let arrived = this.terms.add(old[1], one);
                    let last = this.terms.eq(arrived, old[0]);
                    let now = this.terms.ite(last, zero, arrived);
                    let next = this.terms.add(old[2], one);
                    (always, vec![(never, zero), (always, now), (last, next)])
                }
            }
        })?;
        Ok(after.and_then(|(mut state, old)| {
            let wide = |this: &mut Self, value: Term| this.terms.zero_extend(value, 64);
            let result = match (op, operand) {
                (SyncOp::BarrierLeave { .. }, Some(ticket)) => {
                    let last = self.terms.extract(ticket, 0, 1);
                    let last = self.terms.bits_to_bool(last);
                    let (minus, none) = (self.terms.bits(64, u64::MAX.into()), self.terms.bits(64, 0));
                    self.terms.ite(last, minus, none)
                }
                (SyncOp::BarrierArrive, _) => {
                    let arrived = self.terms.add(old[1], one);
                    let last = self.terms.eq(arrived, old[0]);
                    let unset = self.terms.eq(old[0], zero);
                    let bad = self.terms.and2(state.path, unset);
                    self.violate(ViolationKind::Uninitialised, bad);
                    let set = self.terms.not(unset);
                    state = self.restrict(state, set)?;
                    let generation = wide(self, old[2]);
                    let shift = self.terms.bits(64, 1);
                    let doubled = self.terms.shl(generation, shift);
                    let last = self.terms.bool_to_bits(last, 64);
                    self.terms.add(doubled, last)
                }
                _ => self.terms.bits(64, 0),
            };
            if let Some(dst) = dst {
                let width = self.width(self.program.functions[frame.func].locals[dst].ty);
                let result = self.fit(result, width);
                state.set_local(dst.0 as usize, result);
            }
            Some(state)
        }))
    }

    fn read_write_lock(
        &mut self,
        frame: &Frame,
        state: State,
        place: (&Expr, Term),
        op: &SyncOp,
    ) -> Result<Option<(State, Term)>, Refused> {
        if matches!(op, SyncOp::ReadLock | SyncOp::WriteLock) {
            self.may_block(&state)?;
        }
        let me = self.me();
        let (zero, one) = (self.word32(0), self.word32(1));
        let after = self.words(frame, state, place, &[0, 4], &mut |this, old| {
            let (always, never) = (this.terms.bool(true), this.terms.bool(false));
            let no_writer = this.terms.eq(old[1], zero);
            let no_reader = this.terms.eq(old[0], zero);
            let nobody = this.terms.and2(no_writer, no_reader);
            let more = this.terms.add(old[0], one);
            let fewer = this.terms.sub(old[0], one);
            match op {
                SyncOp::RwInit => (always, vec![(always, zero), (always, zero)]),
                SyncOp::ReadLock | SyncOp::WriteLock => {
                    let got = this.terms.variable(Sort::Bool, "got");
                    let reads = matches!(op, SyncOp::ReadLock);
                    let free = if reads { no_writer } else { nobody };
                    let implied = this.terms.implies(got, free);
                    this.skeleton.constraints.push(implied);
                    let writes =
                        if reads { vec![(always, more), (never, zero)] } else { vec![(never, zero), (always, me)] };
                    (got, writes)
                }
                SyncOp::TryReadLock => (always, vec![(no_writer, more), (never, zero)]),
                SyncOp::TryWriteLock => (always, vec![(never, zero), (nobody, me)]),
                SyncOp::RwUnlock => {
                    let mine = this.terms.eq(old[1], me);
                    let other = this.terms.not(mine);
                    let read = this.terms.not(no_reader);
                    let reading = this.terms.and2(other, read);
                    (always, vec![(reading, fewer), (mine, zero)])
                }
                _ => (always, vec![(never, zero), (never, zero)]),
            }
        })?;
        let (busy, invalid) = (self.word32(EBUSY), self.word32(EINVAL));
        let _ = invalid;
        if matches!(op, SyncOp::ReadLock | SyncOp::WriteLock) {
            self.skeleton.gap("a thread that locks a read-write lock twice is not watched");
        }
        Ok(after.map(|(state, old)| {
            let no_writer = self.terms.eq(old[1], zero);
            let no_reader = self.terms.eq(old[0], zero);
            let nobody = self.terms.and2(no_writer, no_reader);
            let result = match op {
                SyncOp::TryReadLock => self.terms.ite(no_writer, zero, busy),
                SyncOp::TryWriteLock | SyncOp::RwDestroy => self.terms.ite(nobody, zero, busy),
                _ => zero,
            };
            (state, result)
        }))
    }
}
