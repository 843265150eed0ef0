//! Locks, semaphores, barriers and their like: updates of the words of an object that may have to wait.
//!
//! What a step does with the words is said by [`leno_symbolic::sync`]; here it becomes part of an execution. Condition
//! variables keep nothing in words: that a thread sleeps, wakes or signals is noted for the search for deadlocks.

use crate::skeleton::{NodeId, Role, Signal, Sleep, Until, Wait};
use crate::summarize::side_effects::SideEffect;
use crate::summarize::state::State;
use crate::summarize::sync_words::Step;
use crate::summarize::{Execution, Frame, Refused};
use leno_ir::program::{Expr, LocalId, SyncOp};
use leno_logic::term::{Sort, Term};
use leno_symbolic::sync::{Caller, ETIMEDOUT, words};
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a step does to a mutex. Mutexes of other kinds than the normal one have more than one word.
fn role(op: &SyncOp, words: usize) -> Role {
    match op {
        SyncOp::Unlock(_) | SyncOp::CondSleep { .. } => Role::Unlock,
        SyncOp::Lock(_) | SyncOp::CondRelock if words == 1 => Role::Lock,
        SyncOp::TryLock(_) if words == 1 => Role::TryLock,
        SyncOp::LockInit { .. } if words == 1 => Role::Initialise,
        _ => Role::Other,
    }
}

impl Execution<'_> {
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
            && self.facts.points_to.points_to(frame.func, at).intersects(&self.facts.special_mutexes)
        {
            // How many words it has depends on what it is.
            self.needs(address)?;
        }
        let first = self.skeleton.events.len();
        let after = match op {
            SyncOp::CondSignal | SyncOp::CondBroadcast => {
                self.signal(state, address, matches!(op, SyncOp::CondBroadcast))
            }
            SyncOp::CondInit | SyncOp::CondDestroy | SyncOp::SemDestroy => Some((state, self.terms.bits(32, 0))),
            SyncOp::CondSleep { mutex } => {
                let mutex_address = self.evaluate(frame, &mut state, mutex)?;
                let before = self.last;
                let after = self.make_transition(frame, state, (mutex, mutex_address), op, None)?;
                after.map(|(state, result)| (self.sleep(state, address, result, before), result))
            }
            SyncOp::CondWake { deadline, .. } => self.wake(state, deadline.is_some()),
            SyncOp::LockInit { kind: operand, .. }
            | SyncOp::SemInit { value: operand }
            | SyncOp::BarrierInit { count: operand }
            | SyncOp::BarrierLeave { ticket: operand } => {
                let operand = self.evaluate(frame, &mut state, operand)?;
                self.make_transition(frame, state, (at, address), op, Some(operand))?
            }
            _ => self.make_transition(frame, state, (at, address), op, None)?,
        };
        let events = self.skeleton.events.iter_mut().skip(first).filter(|event| event.role != Role::Inspect);
        events.for_each(|event| event.role = role(op, event.reads.len()));
        Ok(after.map(|(mut state, result)| {
            if let Some(dst) = dst {
                let width = self.width(self.program.functions[frame.func].locals[dst].ty);
                let result = self.fit(result, width);
                state.set_local(dst, result);
            }
            state
        }))
    }

    /// A step on the words of the object at `place`: the state after it, and what it returns.
    fn make_transition(
        &mut self,
        frame: &Frame,
        state: State,
        place: (&Expr, Term),
        op: &SyncOp,
        operand: Option<Term>,
    ) -> Result<Option<(State, Term)>, Refused> {
        let read_lock = match is_read_write(op) {
            true => Some(self.reads_of(&state, place.1)?),
            false => None,
        };
        let reading = read_lock.map(|(_, reading)| reading);
        let caller = Caller { me: self.me(), operand, reading };
        let offsets = words(op, self.program.model, self.may_be_special(frame, place));
        let step = Step { op, caller, address: place.1, offsets };
        let Some((mut state, transition)) = self.step_on_words(frame, state, place.0, &step)? else { return Ok(None) };
        if let Some((kind, wrong)) = transition.violation {
            let bad = self.terms.and2(state.path, wrong);
            self.violate(kind, bad);
            let good = self.terms.not(wrong);
            match self.restrict(state, good) {
                Some(restricted) => state = restricted,
                None => return Ok(None),
            }
        }
        if let (Some((lock, before)), Some(now)) = (read_lock, transition.reading)
            && now != before
        {
            Rc::make_mut(&mut state.reading).insert(lock, now);
        }
        let writes: Vec<Term> = transition.writes.iter().map(|write| write.condition).collect();
        self.note_step(frame, &mut state, op, place, &writes);
        Ok(Some((state, transition.result)))
    }

    /// Whether the mutex may be of another kind than the normal one: then it has more than one word.
    fn may_be_special(&self, frame: &Frame, (pointer, address): (&Expr, Term)) -> bool {
        match self.instance_at(address) {
            Some(id) => self.facts.special_mutexes.contains(self.layout.get(id).object),
            None => self.facts.points_to.points_to(frame.func, pointer).intersects(&self.facts.special_mutexes),
        }
    }

    /// Whether some instruction can observe how often the lock is held.
    fn is_counted(&self, frame: &Frame, (pointer, address): (&Expr, Term)) -> bool {
        match self.instance_at(address) {
            Some(id) => self.facts.counted_locks.contains(self.layout.get(id).object),
            None => self.facts.counted_locks.intersects(&self.facts.points_to.points_to(frame.func, pointer)),
        }
    }

    /// Notes what a step is to other threads: taking a lock and giving it back cancel each other, and a step that
    /// writes nothing (it has tried in vain) is nothing to them.
    fn note_step(&mut self, frame: &Frame, state: &mut State, op: &SyncOp, place: (&Expr, Term), writes: &[Term]) {
        let written = self.terms.or(writes);
        let written = self.terms.and2(state.path, written);
        let (_, address) = place;
        let is_counted = self.is_counted(frame, place);
        let (effect, condition) = match op {
            SyncOp::Lock(_) | SyncOp::CondRelock | SyncOp::SemWait | SyncOp::ReadLock | SyncOp::WriteLock
                if !is_counted =>
            {
                (SideEffect::Acquire(address), state.path)
            }
            SyncOp::Unlock(_) | SyncOp::CondSleep { .. } | SyncOp::SemPost | SyncOp::RwUnlock if !is_counted => {
                (SideEffect::Release(address), state.path)
            }
            _ => (SideEffect::Effect, written),
        };
        if self.terms.as_bool(condition) != Some(false) {
            state.side_effects.push(effect, condition);
        }
    }

    // --- condition variables. Waits may end without a signal, except where deadlocks are looked for: then signals
    // matter.

    /// Falls asleep at the node at which the mutex was unlocked, if other threads can see that one.
    fn sleep(&mut self, mut state: State, address: Term, result: Term, before: NodeId) -> State {
        if !self.question.properties.deadlock {
            return state;
        }
        if self.last == before {
            let node = self.next_node(&mut state);
            self.step(node, state.path);
        }
        let zero = self.terms.bits(32, 0);
        let asleep = self.terms.eq(result, zero);
        let path = self.terms.and2(state.path, asleep);
        let (node, thread) = (self.last, self.thread);
        state.sleep = Some(self.skeleton.sleeps.next_id());
        self.skeleton.sleeps.push(Sleep { thread, node, path, address, wake: None, late: Term::FALSE });
        state
    }

    fn signal(&mut self, mut state: State, address: Term, is_broadcast: bool) -> Option<(State, Term)> {
        if self.question.properties.deadlock {
            self.affect(&mut state);
            let node = self.next_node(&mut state);
            self.step(node, state.path);
            self.skeleton.signals.push(Signal { node, path: state.path, address, is_broadcast });
        }
        Some((state, self.terms.bits(32, 0)))
    }

    fn wake(&mut self, mut state: State, timed: bool) -> Option<(State, Term)> {
        let zero = self.terms.bits(32, 0);
        let (mut result, mut late) = (zero, Term::FALSE);
        if timed {
            late = self.terms.variable(Sort::Bool, "timed out");
            let error = self.terms.bits(32, ETIMEDOUT);
            result = self.terms.ite(late, error, zero);
        }
        let Some(sleep) = state.sleep.take() else { return Some((state, result)) };
        let path = state.path;
        let after = self.last;
        let wakes = self.terms.variable(Sort::Bool, "wakes");
        if state.section.is_some() && !timed {
            // No other thread can have given a signal since.
            let awake = self.terms.not(self.skeleton.sleeps[sleep].path);
            self.split_section(&mut state, awake);
            self.goes_on_at_once(path, awake, wakes);
        }
        let mut state = self.restrict(state, wakes)?;
        let node = self.next_node(&mut state);
        self.step(node, state.path);
        // A thread that took no signal has changed nothing for the others.
        let in_time = self.terms.not(late);
        let signalled = self.terms.and2(state.path, in_time);
        state.side_effects.push(SideEffect::Effect, signalled);
        self.skeleton.sleeps[sleep].wake = Some((node, state.path));
        self.skeleton.sleeps[sleep].late = late;
        if !timed {
            let thread = self.thread;
            self.skeleton.waits.push(Wait { thread, after, path, goes_on: wakes, until: Until::Signal(sleep) });
        }
        Some((state, result))
    }

    /// How often a thread holds a lock for reading is part of its state, by the constant address of the lock.
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
            (None, None) => self.terms.bits(32, 0),
            (None, Some(recording)) => {
                *recording.reading.entry(lock).or_insert_with(|| self.terms.variable(Sort::Bits(32), "reading"))
            }
        }
    }
}

fn is_read_write(op: &SyncOp) -> bool {
    matches!(
        op,
        SyncOp::RwInit
            | SyncOp::RwDestroy
            | SyncOp::ReadLock
            | SyncOp::TryReadLock
            | SyncOp::WriteLock
            | SyncOp::TryWriteLock
            | SyncOp::RwUnlock
    )
}
