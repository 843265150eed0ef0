//! Locks, semaphores, barriers and their like: updates of the words of an object that may have to wait.
//!
//! A step that waits until it can go on is an update that occurs only if it reads a state in which it is enabled. Otherwise it
//! does not occur at all, and nothing after it in its thread; others go on. The mutex keeps its owner in its first word here, so
//! that one word tells everything for a mutex of the normal kind.

use crate::skeleton::{NodeId, Role, Signal, Sleep, Until, Wait};
use crate::state::State;
use crate::summarize::{Frame, Refused, Summarizer};
use crate::trail::Deed;
use leno_ir::interp::ViolationKind;
use leno_ir::program::{DataModel, Expr, LocalId, LockKind, SyncOp};
use leno_logic::term::{Sort, Term};
use std::collections::BTreeMap;
use std::rc::Rc;

const EPERM: u128 = 1;
const EBUSY: u128 = 16;
const EINVAL: u128 = 22;
const EDEADLK: u128 = 35;
const ETIMEDOUT: u128 = 110;
const RUNNING: u128 = 1;
const DONE: u128 = 2;
/// The owner of a mutex that was destroyed.
const DESTROYED: u128 = 0xffff_ffff;

/// What a step is to a mutex. Those of other kinds than the normal one have more than one word.
fn role(op: &SyncOp, words: usize) -> Role {
    match op {
        SyncOp::Unlock(_) | SyncOp::CondSleep { .. } => Role::Unlock,
        SyncOp::Lock(_) | SyncOp::CondRelock if words == 1 => Role::Lock,
        SyncOp::TryLock(_) if words == 1 => Role::TryLock,
        SyncOp::LockInit { .. } if words == 1 => Role::Initialise,
        _ => Role::Other,
    }
}

/// Whether a step has to wait.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Enabled {
    Always,
    /// As soon as this holds.
    When(Term),
    /// The same, for a lock whose owner is in its first word.
    Lock(Term),
}

impl Enabled {
    pub fn condition(self) -> Option<Term> {
        match self {
            Enabled::Always => None,
            Enabled::When(condition) | Enabled::Lock(condition) => Some(condition),
        }
    }
}

/// What the words of a mutex say.
struct Mutex {
    is_free: Term,
    is_mine: Term,
    is_destroyed: Term,
    is_recursive: Term,
    checks_errors: Term,
}

impl Summarizer<'_> {
    fn word32(&mut self, value: u128) -> Term {
        self.terms.bits(32, value)
    }

    fn is_word(&mut self, word: Term, value: u128) -> Term {
        let value = self.word32(value);
        self.terms.eq(word, value)
    }

    pub(crate) fn me(&mut self) -> Term {
        if let Some(recording) = &self.recording {
            return recording.me;
        }
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
        if self.instance_at(address).is_none()
            && self.points_to.points_to(frame.func, at).intersects(&self.special_mutexes)
        {
            // How many words it has depends on what it is.
            self.needs(address)?;
        }
        let place = (at, address);
        let first = self.skeleton.events.len();
        let after = match op {
            SyncOp::LockInit { kind, .. } => self.init_lock(frame, state, place, kind)?,
            SyncOp::CondSignal | SyncOp::CondBroadcast => {
                self.signal(state, address, matches!(op, SyncOp::CondBroadcast))
            }
            SyncOp::CondInit | SyncOp::CondDestroy | SyncOp::SemDestroy => self.nothing(state, 0),
            SyncOp::LockDestroy(lock) => self.destroy_lock(frame, state, place, *lock)?,
            SyncOp::Lock(_) | SyncOp::CondRelock => self.lock(frame, state, place, false)?,
            SyncOp::TryLock(_) => self.lock(frame, state, place, true)?,
            SyncOp::Unlock(_) => self.unlock(frame, state, place)?,
            SyncOp::CondSleep { mutex } => {
                let mutex_address = self.evaluate(frame, &mut state, mutex)?;
                let before = self.last;
                let after = self.unlock(frame, state, (mutex, mutex_address))?;
                after.map(|(state, result)| (self.sleep(state, address, result, before), result))
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
        let events = self.skeleton.events[first..].iter_mut().filter(|event| event.role != Role::Look);
        events.for_each(|event| event.role = role(op, event.reads.len()));
        Ok(after.map(|(mut state, result)| {
            if let Some(dst) = dst {
                let width = self.width(self.program.functions[frame.func].locals[dst].ty);
                let result = self.fit(result, width);
                state.set_local(dst.0 as usize, result);
            }
            state
        }))
    }

    fn nothing(&mut self, state: State, result: u128) -> Option<(State, Term)> {
        let result = self.word32(result);
        Some((state, result))
    }

    // --- condition variables. Waits may end without a signal, except where deadlocks are looked for: then signals matter.

    /// Falls asleep at the moment when the mutex was unlocked, if others can see that one.
    fn sleep(&mut self, mut state: State, address: Term, result: Term, before: NodeId) -> State {
        if !self.properties.deadlock {
            return state;
        }
        self.affect(&mut state);
        if self.last == before {
            let node = self.next_node(&mut state);
            self.step(node, state.path);
        }
        let asleep = self.is_word(result, 0);
        let path = self.terms.and2(state.path, asleep);
        let (node, thread) = (self.last, self.thread);
        state.sleep = Some(self.skeleton.sleeps.len());
        self.skeleton.sleeps.push(Sleep { thread, node, path, address, wake: None });
        state
    }

    fn signal(&mut self, mut state: State, address: Term, is_broadcast: bool) -> Option<(State, Term)> {
        if self.properties.deadlock {
            self.affect(&mut state);
            let node = self.next_node(&mut state);
            self.step(node, state.path);
            self.skeleton.signals.push(Signal { node, path: state.path, address, is_broadcast });
        }
        self.nothing(state, 0)
    }

    fn wake(&mut self, mut state: State, timed: bool) -> Option<(State, Term)> {
        let zero = self.word32(0);
        let mut result = zero;
        if timed {
            let late = self.terms.variable(Sort::Bool, "timed out");
            let error = self.word32(ETIMEDOUT);
            result = self.terms.ite(late, error, zero);
        }
        let Some(sleep) = state.sleep.take() else { return Some((state, result)) };
        let path = state.path;
        let after = self.last;
        let wakes = self.terms.variable(Sort::Bool, "wakes");
        if state.section.is_some() && !timed {
            // Nobody has had an opportunity to give a signal.
            let awake = self.terms.not(self.skeleton.sleeps[sleep].path);
            self.split_section(&mut state, awake);
            self.goes_on_at_once(path, awake, wakes);
        }
        let mut state = self.restrict(state, wakes)?;
        let node = self.next_node(&mut state);
        self.step(node, state.path);
        self.skeleton.sleeps[sleep].wake = Some((node, state.path));
        if !timed {
            let thread = self.thread;
            self.skeleton.waits.push(Wait { thread, after, path, goes_on: wakes, until: Until::Signal(sleep) });
        }
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
        let after = self.make_words(frame, state, place, &[0], &mut |this, _| {
            let always = this.terms.bool(true);
            (Enabled::Always, vec![(always, value)])
        })?;
        let zero = self.word32(0);
        Ok(after.map(|(mut state, _)| {
            self.affect(&mut state);
            (state, zero)
        }))
    }

    fn lock(
        &mut self,
        frame: &Frame,
        state: State,
        place: (&Expr, Term),
        is_try: bool,
    ) -> Result<Option<(State, Term)>, Refused> {
        let me = self.me();
        let offsets = self.mutex_words(frame, place);
        let after = self.words(frame, state, place, &offsets, &mut |this, old| {
            let mutex = this.mutex(old);
            let writes = this.mutex_words_after(&mutex, old, this.terms.bool(true), me);
            if is_try {
                return (Enabled::Always, writes);
            }
            let asks = this.terms.or2(mutex.is_recursive, mutex.checks_errors);
            let again = this.terms.and2(mutex.is_mine, asks);
            let enabled = this.terms.or(&[mutex.is_free, mutex.is_destroyed, again]);
            (Enabled::Lock(enabled), writes)
        })?;
        Ok(after.map(|(mut state, old)| {
            let mutex = self.mutex(&old);
            let again = self.terms.and2(mutex.is_mine, mutex.is_recursive);
            let got = self.terms.or2(mutex.is_free, again);
            let (zero, invalid) = (self.word32(0), self.word32(EINVAL));
            let busy = self.word32(if is_try { EBUSY } else { EDEADLK });
            let failed = self.terms.ite(mutex.is_destroyed, invalid, busy);
            let result = self.terms.ite(got, zero, failed);
            self.note_locking(&mut state, Deed::Acquire(place.1), is_try);
            (state, result)
        }))
    }

    /// Remembers that a lock was taken or given back. Who only tries may notice how often it was taken.
    fn note_locking(&mut self, state: &mut State, deed: Deed, is_try: bool) {
        let deed = if is_try || self.counts_locking { Deed::Effect } else { deed };
        state.trail.push(deed, state.path);
    }

    /// The words of a mutex that matter: its owner; and how often it is held and its kind, if it may be of another kind than the
    /// normal one.
    fn mutex_words(&self, frame: &Frame, (pointer, address): (&Expr, Term)) -> Vec<u64> {
        let is_special = match self.instance_at(address) {
            Some(id) => self.special_mutexes.contains(self.instances.get(id).object),
            None => self.points_to.points_to(frame.func, pointer).intersects(&self.special_mutexes),
        };
        let kind = if self.program.model == DataModel::Lp64 { 16 } else { 12 };
        if is_special { vec![0, 4, kind] } else { vec![0] }
    }

    fn mutex(&mut self, words: &[Term]) -> Mutex {
        let me = self.me();
        let is_kind = |this: &mut Self, kind: u128| match words.get(2) {
            None => this.terms.bool(false),
            Some(&word) => {
                let low = this.terms.extract(word, 0, 2);
                let kind = this.terms.bits(2, kind);
                this.terms.eq(low, kind)
            }
        };
        Mutex {
            is_free: self.is_word(words[0], 0),
            is_mine: self.terms.eq(words[0], me),
            is_destroyed: self.is_word(words[0], DESTROYED),
            is_recursive: is_kind(self, 1),
            checks_errors: is_kind(self, 2),
        }
    }

    /// What a mutex that is taken by `me`, where `condition` holds and it can be had, is then.
    fn mutex_words_after(&mut self, mutex: &Mutex, old: &[Term], condition: Term, me: Term) -> Vec<(Term, Term)> {
        let takes = self.terms.and2(condition, mutex.is_free);
        let mut writes = vec![(takes, me)];
        if let Some(&count) = old.get(1) {
            let one = self.word32(1);
            let more = self.terms.add(count, one);
            let count = self.terms.ite(mutex.is_free, one, more);
            let again = self.terms.and2(mutex.is_mine, mutex.is_recursive);
            let counts = self.terms.or2(takes, again);
            writes.extend([(counts, count), (self.terms.bool(false), one)]);
        }
        writes
    }

    fn init_lock(
        &mut self,
        frame: &Frame,
        mut state: State,
        place: (&Expr, Term),
        kind: &Expr,
    ) -> Result<Option<(State, Term)>, Refused> {
        let kind = self.evaluate(frame, &mut state, kind)?;
        let kind = self.fit(kind, 32);
        let offsets = self.mutex_words(frame, place);
        let zero = self.word32(0);
        let after = self.make_words(frame, state, place, &offsets, &mut |this, _| {
            let always = this.terms.bool(true);
            (Enabled::Always, [zero, zero, kind].into_iter().take(offsets.len()).map(|word| (always, word)).collect())
        })?;
        Ok(after.map(|(mut state, _)| {
            self.affect(&mut state);
            (state, zero)
        }))
    }

    fn unlock(&mut self, frame: &Frame, state: State, place: (&Expr, Term)) -> Result<Option<(State, Term)>, Refused> {
        let (zero, one) = (self.word32(0), self.word32(1));
        let offsets = self.mutex_words(frame, place);
        let after = self.words(frame, state, place, &offsets, &mut |this, old| {
            let mutex = this.mutex(old);
            let Some(&count) = old.get(1) else { return (Enabled::Always, vec![(mutex.is_mine, zero)]) };
            let fewer = this.terms.sub(count, one);
            let last = this.terms.eq(count, one);
            let free = this.terms.and2(mutex.is_mine, last);
            (Enabled::Always, vec![(free, zero), (mutex.is_mine, fewer), (this.terms.bool(false), zero)])
        })?;
        Ok(after.and_then(|(state, old)| {
            let mutex = self.mutex(&old);
            let asks = self.terms.or2(mutex.is_recursive, mutex.checks_errors);
            let good = self.terms.or(&[mutex.is_mine, mutex.is_destroyed, asks]);
            let not = self.terms.not(good);
            let bad = self.terms.and2(state.path, not);
            self.violate(ViolationKind::InvalidUnlock, bad);
            let (invalid, denied) = (self.word32(EINVAL), self.word32(EPERM));
            let failed = self.terms.ite(mutex.is_destroyed, invalid, denied);
            let result = self.terms.ite(mutex.is_mine, zero, failed);
            let mut state = self.restrict(state, good)?;
            self.note_locking(&mut state, Deed::Release(place.1), false);
            Some((state, result))
        }))
    }

    fn destroy_lock(
        &mut self,
        frame: &Frame,
        state: State,
        place: (&Expr, Term),
        lock: LockKind,
    ) -> Result<Option<(State, Term)>, Refused> {
        let destroyed = self.word32(DESTROYED);
        let after = self.words(frame, state, place, &[0], &mut |this, old| {
            let free = match lock {
                LockKind::Mutex => this.is_word(old[0], 0),
                LockKind::Spin => this.terms.bool(false),
            };
            (Enabled::Always, vec![(free, destroyed)])
        })?;
        let (zero, busy) = (self.word32(0), self.word32(EBUSY));
        Ok(after.map(|(mut state, old)| {
            self.affect(&mut state);
            let (free, dead) = (self.terms.eq(old[0], zero), self.terms.eq(old[0], destroyed));
            let free = self.terms.or2(free, dead);
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
        let one = self.word32(1);
        let most = self.word32(i32::MAX as u128);
        let after = self.words(frame, state, place, &[0], &mut |this, old| {
            let always = this.terms.bool(true);
            let empty = this.is_word(old[0], 0);
            let positive = this.terms.not(empty);
            let less = this.terms.sub(old[0], one);
            match op {
                SyncOp::SemWait => (Enabled::When(positive), vec![(always, less)]),
                SyncOp::SemTryWait => (Enabled::Always, vec![(positive, less)]),
                SyncOp::SemPost => {
                    let full = this.terms.ule(most, old[0]);
                    let room = this.terms.not(full);
                    (Enabled::Always, vec![(room, this.terms.add(old[0], one))])
                }
                _ => (Enabled::Always, vec![(this.terms.bool(false), one)]),
            }
        })?;
        let (zero, failed) = (self.word32(0), self.word32(u128::from(u32::MAX)));
        Ok(after.map(|(mut state, old)| {
            match op {
                SyncOp::SemWait => self.note_locking(&mut state, Deed::Acquire(place.1), false),
                SyncOp::SemPost => self.note_locking(&mut state, Deed::Release(place.1), false),
                _ => self.affect(&mut state),
            }
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
        let running = self.word32(RUNNING);
        let after = self.words(frame, state, place, &[0], &mut |this, old| {
            let busy = this.is_word(old[0], RUNNING);
            let not_busy = this.terms.not(busy);
            let done = this.is_word(old[0], DONE);
            (Enabled::When(not_busy), vec![(this.terms.not(done), running)])
        })?;
        let (zero, one) = (self.word32(0), self.word32(1));
        Ok(after.map(|(mut state, old)| {
            self.affect(&mut state);
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
            SyncOp::BarrierLeave { ticket } => Some(self.evaluate(frame, &mut state, ticket)?),
            _ => None,
        };
        let step = match op {
            SyncOp::BarrierInit { .. } => Self::make_words,
            _ => Self::words,
        };
        let after = step(self, frame, state, place, &[0, 4, 8], &mut |this, old| {
            let (always, never) = (this.terms.bool(true), this.terms.bool(false));
            match (op, operand) {
                (SyncOp::BarrierInit { .. }, Some(count)) => {
                    let count = this.fit(count, 32);
                    (Enabled::Always, vec![(always, count), (always, zero), (always, zero)])
                }
                (SyncOp::BarrierLeave { .. }, Some(ticket)) => {
                    let last = this.terms.extract(ticket, 0, 1);
                    let last = this.terms.bits_to_bool(last);
                    let generation = this.terms.extract(ticket, 1, 32);
                    let same = this.terms.eq(generation, old[2]);
                    let other = this.terms.not(same);
                    let full = this.terms.or2(last, other);
                    (Enabled::When(full), vec![(never, zero), (never, zero), (never, zero)])
                }
                (SyncOp::BarrierDestroy, _) => (Enabled::Always, vec![(always, zero), (never, zero), (never, zero)]),
                _ => {
                    let arrived = this.terms.add(old[1], one);
                    let last = this.terms.eq(arrived, old[0]);
                    let now = this.terms.ite(last, zero, arrived);
                    let next = this.terms.add(old[2], one);
                    (Enabled::Always, vec![(never, zero), (always, now), (last, next)])
                }
            }
        })?;
        Ok(after.and_then(|(mut state, old)| {
            self.affect(&mut state);
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

    /// Who holds a lock for reading is known to the thread alone; here, of locks at known addresses.
    fn reads_of(&mut self, state: &State, address: Term) -> Result<(u64, Term), Refused> {
        let Some(known) = self.terms.as_bits(address) else {
            self.needs(address)?;
            return Err(Refused::new("a read-write lock at an address that is not known"));
        };
        Ok((known as u64, self.reading(&state.reading, known as u64)))
    }

    /// How often a lock is held for reading.
    pub(crate) fn reading(&mut self, all: &BTreeMap<u64, Term>, lock: u64) -> Term {
        match (all.get(&lock), &mut self.recording) {
            (Some(value), _) => *value,
            (None, None) => self.word32(0),
            (None, Some(recording)) => {
                *recording.reading.entry(lock).or_insert_with(|| self.terms.variable(Sort::Bits(32), "reading"))
            }
        }
    }

    fn read_write_lock(
        &mut self,
        frame: &Frame,
        state: State,
        place: (&Expr, Term),
        op: &SyncOp,
    ) -> Result<Option<(State, Term)>, Refused> {
        let (known, reading) = self.reads_of(&state, place.1)?;
        let me = self.me();
        let (zero, one) = (self.word32(0), self.word32(1));
        let step = match op {
            SyncOp::RwInit => Self::make_words,
            _ => Self::words,
        };
        let after = step(self, frame, state, place, &[0, 4], &mut |this, old| {
            let (always, never) = (this.terms.bool(true), this.terms.bool(false));
            let no_writer = this.terms.eq(old[1], zero);
            let mine = this.terms.eq(old[1], me);
            let no_reader = this.terms.eq(old[0], zero);
            let nobody = this.terms.and2(no_writer, no_reader);
            let more = this.terms.add(old[0], one);
            let fewer = this.terms.sub(old[0], one);
            match op {
                SyncOp::RwInit => (Enabled::Always, vec![(always, zero), (always, zero)]),
                SyncOp::ReadLock => {
                    let enabled = this.terms.or2(no_writer, mine);
                    (Enabled::When(enabled), vec![(no_writer, more), (never, zero)])
                }
                SyncOp::WriteLock => {
                    let enabled = this.terms.or2(nobody, mine);
                    (Enabled::When(enabled), vec![(never, zero), (nobody, me)])
                }
                SyncOp::TryReadLock => (Enabled::Always, vec![(no_writer, more), (never, zero)]),
                SyncOp::TryWriteLock => (Enabled::Always, vec![(never, zero), (nobody, me)]),
                SyncOp::RwUnlock => {
                    let other = this.terms.not(mine);
                    let not_reading = this.terms.eq(reading, zero);
                    let is_reading = this.terms.not(not_reading);
                    let reads = this.terms.and2(other, is_reading);
                    (Enabled::Always, vec![(reads, fewer), (mine, zero)])
                }
                _ => (Enabled::Always, vec![(never, zero), (never, zero)]),
            }
        })?;
        let (busy, deadlock) = (self.word32(EBUSY), self.word32(EDEADLK));
        Ok(after.and_then(|(mut state, old)| {
            let no_writer = self.terms.eq(old[1], zero);
            let mine = self.terms.eq(old[1], me);
            let no_reader = self.terms.eq(old[0], zero);
            let nobody = self.terms.and2(no_writer, no_reader);
            let other = self.terms.not(mine);
            let mut now = reading;
            let result = match op {
                SyncOp::ReadLock | SyncOp::TryReadLock => {
                    let more = self.terms.add(reading, one);
                    now = self.terms.ite(no_writer, more, reading);
                    let failed = if matches!(op, SyncOp::ReadLock) { deadlock } else { busy };
                    self.terms.ite(no_writer, zero, failed)
                }
                SyncOp::WriteLock => self.terms.ite(mine, deadlock, zero),
                SyncOp::TryWriteLock | SyncOp::RwDestroy => self.terms.ite(nobody, zero, busy),
                SyncOp::RwUnlock => {
                    let not_reading = self.terms.eq(reading, zero);
                    let nothing = self.terms.and2(other, not_reading);
                    let bad = self.terms.and2(state.path, nothing);
                    self.violate(ViolationKind::InvalidUnlock, bad);
                    let held = self.terms.not(nothing);
                    state = self.restrict(state, held)?;
                    let fewer = self.terms.sub(reading, one);
                    now = self.terms.ite(mine, reading, fewer);
                    zero
                }
                _ => zero,
            };
            if now != reading {
                Rc::make_mut(&mut state.reading).insert(known, now);
            }
            match op {
                SyncOp::ReadLock | SyncOp::WriteLock => self.note_locking(&mut state, Deed::Acquire(place.1), false),
                SyncOp::RwUnlock => self.note_locking(&mut state, Deed::Release(place.1), false),
                _ => self.affect(&mut state),
            }
            Some((state, result))
        }))
    }
}
