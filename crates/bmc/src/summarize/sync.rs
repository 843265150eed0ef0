//! Locks, semaphores, barriers and their like: updates of the words of an object that may have to wait.
//!
//! What a step does with the words is said by [`leno_symbolic::sync`]; here it becomes part of an execution. Condition
//! variables keep nothing in words but that they were made: that a thread sleeps, wakes or signals is noted for the search
//! for deadlocks.

use crate::skeleton::{BarrierDestroy, BarrierWait, NodeId, Role, Signal, Sleep, SyncObject, Unit, Until, Waiter};
use crate::summarize::access::{Accesses, Reached};
use crate::summarize::side_effects::SideEffect;
use crate::summarize::state::State;
use crate::summarize::sync_words::Step;
use crate::summarize::{Execution, Frame, Refused};
use leno_ir::analysis::points_to::AbstractObject;
use leno_ir::analysis::wakeups::Matters;
use leno_ir::interp::ViolationKind;
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
        let zero = self.terms.bits(32, 0);
        let after = match op {
            SyncOp::CondSignal | SyncOp::CondBroadcast => {
                let before = self.last;
                let Some(state) = self.use_object(frame, state, (at, address), op)? else { return Ok(None) };
                self.signal(state, address, matches!(op, SyncOp::CondBroadcast), before)
            }
            SyncOp::CondDestroy if self.facts.destroys_sleepers && self.question.properties.other => {
                self.skeleton.gap("a condition variable may be destroyed while a thread sleeps on it");
                self.use_object(frame, state, (at, address), op)?.map(|state| (state, zero))
            }
            SyncOp::CondInit | SyncOp::CondDestroy | SyncOp::SemDestroy => {
                self.use_object(frame, state, (at, address), op)?.map(|state| (state, zero))
            }
            SyncOp::CondSleep { mutex } => {
                let mutex_address = self.evaluate(frame, &mut state, mutex)?;
                let before = self.last;
                let bytes = op.object_bytes(self.program.model).into();
                let reached = self.reach(frame, state, at, address, bytes, true)?;
                let Some((mut state, reached)) = reached else { return Ok(None) };
                let looked = match self.may_be_unmade(frame, (at, address)) {
                    true => Some(self.look_at_condition(&mut state, &reached, address)?),
                    false => None,
                };
                let after = self.make_transition(frame, state, (mutex, mutex_address), op, None)?;
                let Some((mut state, result)) = after else { return Ok(None) };
                let node = Some(self.last).filter(|last| *last != before);
                let (reads, unmade) = looked.unwrap_or((Vec::new(), Term::FALSE));
                self.touch_object(&mut state, reached, address, op, node, reads);
                let bad = self.terms.and2(state.path, unmade);
                self.violate(ViolationKind::Uninitialised, bad);
                let made = self.terms.not(unmade);
                let Some(state) = self.restrict(state, made) else { return Ok(None) };
                let (thread, path) = (self.thread, state.path);
                self.skeleton.waiters.push(Waiter { thread, path, condition: address, mutex: mutex_address });
                Some((self.sleep(state, address, result, before), result))
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
        if self.facts.destroys_barriers && self.skeleton.events.len() > first {
            self.note_barrier_step(op, address, after.as_ref().map(|(state, _)| state.path))?;
        }
        let object = match op {
            // (Of which the mutex is the object.)
            SyncOp::CondSleep { .. } => None,
            _ => self.object(address, op),
        };
        let events = self.skeleton.events.iter_mut().skip(first).filter(|event| event.role != Role::Inspect);
        for event in events.filter(|event| event.object.is_none()) {
            if matches!(op, SyncOp::CondSleep { .. }) && event.writes.is_empty() {
                // The look at the condition variable.
                continue;
            }
            event.role = role(op, event.reads.len());
            event.object = object.map(|object| object.in_section(event.in_section));
        }
        Ok(after.map(|(mut state, result)| {
            if let Some(dst) = dst {
                let width = self.width(self.program.functions[frame.func].locals[dst].ty);
                let result = self.fit(result, width);
                state.set_local(dst, result);
            }
            state
        }))
    }

    /// Notes that a thread arrives at a barrier, leaves it, or destroys it: destroying waits for those who leave.
    fn note_barrier_step(&mut self, op: &SyncOp, address: Term, path: Option<Term>) -> Result<(), Refused> {
        let Some(path) = path else { return Ok(()) };
        let (thread, node) = (self.thread, self.last);
        let barriers = &mut self.skeleton.barriers;
        match op {
            SyncOp::BarrierArrive => {
                barriers.waits.push(BarrierWait { thread, address, arrives: (node, path), leaves: None })
            }
            // (The step that follows it at once.)
            SyncOp::BarrierLeave { .. } => {
                let wait = barriers.waits.last_mut().filter(|wait| wait.thread == thread && wait.leaves.is_none());
                wait.into_iter().for_each(|wait| wait.leaves = Some((node, path)));
            }
            SyncOp::BarrierDestroy => barriers.destroys.push(BarrierDestroy { thread, address, node, path }),
            _ => return Ok(()),
        }
        self.cannot_be_summarized("a function waits at a barrier that may be destroyed")
    }

    /// The object of a step, where races are looked for.
    fn object(&self, address: Term, op: &SyncOp) -> Option<SyncObject> {
        let bytes = op.object_bytes(self.program.model);
        let bytes = self.instance_at(address).map_or(bytes, |id| {
            let (known, instance) = (self.terms.as_bits(address).unwrap_or(0) as u64, self.layout.get(id));
            let rest = instance.base.saturating_add(instance.size).saturating_sub(known);
            bytes.min(u32::try_from(rest).unwrap_or(u32::MAX))
        });
        let object = SyncObject { address, bytes, usage: op.object_use() };
        Some(object).filter(|_| self.question.properties.race)
    }

    /// A step on an object whose words only tell that it was made: it must be there, and other threads may race with it.
    fn use_object(
        &mut self,
        frame: &Frame,
        state: State,
        (pointer, address): (&Expr, Term),
        op: &SyncOp,
    ) -> Result<Option<State>, Refused> {
        if self.may_be_unmade(frame, (pointer, address)) {
            let step = self.look(op, address);
            return Ok(self.step_on_words(frame, state, pointer, &step)?.map(|(state, _)| state));
        }
        let (checks, before) = (self.skeleton.checks.len(), self.last);
        let bytes = op.object_bytes(self.program.model).into();
        let Some((mut state, reached)) = self.reach(frame, state, pointer, address, bytes, true)? else {
            return Ok(None);
        };
        self.touch_object(&mut state, reached, address, op, None, Vec::new());
        if self.skeleton.checks.len() > checks && self.last == before && state.section.is_none() {
            // Whether the object is there depends on when this happens.
            let node = self.next_node(&mut state);
            self.step(node, state.path);
        }
        Ok(Some(state))
    }

    /// Whether the object may be none yet: its memory was never written. (That of static ones begins with zeros.)
    fn may_be_unmade(&self, frame: &Frame, (pointer, address): (&Expr, Term)) -> bool {
        let is_static = |object| matches!(self.facts.points_to.objects()[object], AbstractObject::Static(_));
        match self.instance_at(address) {
            Some(id) => !is_static(self.layout.get(id).object),
            None => !self.facts.points_to.points_to(frame.func, pointer).iter().all(is_static),
        }
    }

    /// A step that looks at the first word of an object, or makes it.
    fn look<'o>(&mut self, op: &'o SyncOp, address: Term) -> Step<'o> {
        let caller = Caller { me: self.me(), operand: None, reading: None, may_be_destroyed: false };
        Step { op, caller, address, offsets: words(op, self.program.model, false) }
    }

    /// How the first word of a condition variable is read, and the condition that it was never made.
    fn look_at_condition(
        &mut self,
        state: &mut State,
        reached: &Reached,
        address: Term,
    ) -> Result<(Vec<Unit>, Term), Refused> {
        let step = self.look(&SyncOp::CondSignal, address);
        let (reads, old) = self.read_words(state, reached, &step)?;
        Ok((reads, self.is_undefined(&old, &step, reached)))
    }

    /// An access to all of an object, at a node or at a new one, if races are looked for; and reads of its words.
    fn touch_object(
        &mut self,
        state: &mut State,
        reached: Reached,
        address: Term,
        op: &SyncOp,
        node: Option<NodeId>,
        reads: Vec<Unit>,
    ) {
        if let Some(shared) = reached.shared {
            let object = self.object(address, op).map(|object| object.in_section(state.section.is_some()));
            let accesses = Accesses { object, reads, ..Accesses::synchronising(reached.targets) };
            self.add_event(state, node, accesses, shared);
        }
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
        let may_be_destroyed = self.facts.destroys_locks;
        let caller = Caller { me: self.me(), operand, reading, may_be_destroyed };
        let offsets = words(op, self.program.model, self.may_be_special(frame, place));
        let step = Step { op, caller, address: place.1, offsets };
        let Some((mut state, transition)) = self.step_on_words(frame, state, place.0, &step)? else { return Ok(None) };
        for &(kind, wrong) in &transition.violations {
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

    // --- condition variables. Waits may end without a signal. Where deadlocks are looked for, signals matter: who sleeps
    // without one is stuck.

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

    /// All who wait for a condition variable at the same time must do so with one mutex. Whether two who do not wait at
    /// the same time is not encoded: nothing is proved then.
    pub(crate) fn doubt_mixed_mutexes(&mut self) {
        if !self.question.properties.other {
            return;
        }
        let waiters = std::mem::take(&mut self.skeleton.waiters);
        let mut mixed = Vec::new();
        for (index, one) in waiters.iter().enumerate() {
            for other in waiters[..index].iter().filter(|other| other.thread != one.thread) {
                let same_condition = self.terms.eq(one.condition, other.condition);
                if self.terms.as_bool(same_condition) == Some(false) {
                    continue;
                }
                let same_mutex = self.terms.eq(one.mutex, other.mutex);
                let other_mutex = self.terms.not(same_mutex);
                mixed.push(self.terms.and(&[one.path, other.path, same_condition, other_mutex]));
            }
        }
        let mixed = self.terms.or(&mixed);
        if self.terms.as_bool(mixed) != Some(false) {
            let why = "threads may wait for one condition variable with different mutexes".to_string();
            self.skeleton.doubts.push((mixed, why));
        }
        self.skeleton.waiters = waiters;
    }

    /// Gives a signal, at the node of this step if it has one.
    fn signal(&mut self, mut state: State, address: Term, is_broadcast: bool, before: NodeId) -> Option<(State, Term)> {
        if self.question.properties.deadlock {
            self.affect(&mut state);
            if self.last == before {
                let node = self.next_node(&mut state);
                self.step(node, state.path);
            }
            let node = self.last;
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
        } else if state.section.is_none() && self.may_wake_unasked() {
            late = self.terms.variable(Sort::Bool, "woke unasked");
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
        if !timed {
            self.add_wait(&State { path, ..state.clone() }, after, wakes, Until::Signal(sleep));
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
        Some((state, result))
    }

    /// Whether the wait at hand may end without a signal, which matters to deadlocks only in some. (In a loop that would
    /// lead to ever more rounds.)
    fn may_wake_unasked(&self) -> bool {
        let is_this = |wait: &Matters| wait.span == self.here.1 && !wait.is_repeated;
        self.question.properties.deadlock && self.facts.unasked_wakeups().iter().any(is_this)
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
