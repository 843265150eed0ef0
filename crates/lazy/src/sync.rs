//! Steps on synchronisation objects, and the start and end of threads.
//!
//! A step that has to wait is made only where it is enabled: its thread acquires the token when it can go on, and leaves it
//! to others before. Who was started, who has finished and what it returned are cells that are passed with the token.

use crate::layout::{Layout, Refused, ThreadIndex};
use crate::memory;
use crate::state::State;
use crate::unroll::Unroller;
use leno_ir::analysis::points_to::AbstractObject;
use leno_ir::interp::ViolationKind;
use leno_ir::program::{Access, Expr, LocalId, Place, SyncOp};
use leno_logic::term::Term;
use leno_symbolic::operators::fit;
use leno_symbolic::sync::{Caller, Transition, transition, words};
use std::rc::Rc;

impl Unroller<'_> {
    fn word_width(&self) -> u32 {
        u32::from(self.efsm.program().model.pointer_bits())
    }

    /// What a thread is called in the program.
    pub(crate) fn handle(&mut self, thread: ThreadIndex) -> Term {
        let width = self.word_width();
        self.terms.bits(width, u128::from(thread.0) + 1)
    }

    pub(crate) fn section(&mut self, state: &mut State, begins: bool) {
        let (zero, one) = (self.terms.bits(8, 0), self.terms.bits(8, 1));
        state.section = match begins {
            true => self.terms.add(state.section, one),
            false => {
                let outside = self.terms.eq(state.section, zero);
                let less = self.terms.sub(state.section, one);
                self.terms.ite(outside, zero, less)
            }
        };
    }

    /// A step that may have to wait must not be in an atomic section, which would be split there.
    fn forbid_in_section(&mut self, place: Place, state: &mut State) {
        let zero = self.terms.bits(8, 0);
        let outside = self.terms.eq(state.section, zero);
        let inside = self.terms.not(outside);
        let path = self.terms.and2(state.path, inside);
        self.give_up(place, path, "a thread may have to wait in an atomic section");
        self.restrict(state, outside);
    }

    // --- threads

    pub(crate) fn spawn(
        &mut self,
        place: Place,
        state: &mut State,
        handle: Option<&Access>,
        start: &Expr,
        args: &[Expr],
    ) -> Result<(), Refused> {
        let candidates = self.layout.started_by(self.thread, place);
        let roots: Vec<_> = candidates.iter().map(|(thread, _)| self.layout.threads[*thread].root).collect();
        if roots.windows(2).any(|pair| pair[0] != pair[1]) || self.efsm.facts.calls().is_unknown(place) {
            return Err(Refused::new("a thread whose function is not known"));
        }
        self.evaluate(state, place.func, start)?;
        let mut values = Vec::new();
        for arg in args {
            values.push(self.evaluate(state, place.func, arg)?);
        }
        let counter = *self.sites.get(&place).ok_or_else(|| Refused::new("a thread that is nowhere"))?;
        let count = state.counts[counter];
        let (mut stored, mut fits) = (self.handle(ThreadIndex(0)), Term::FALSE);
        let mut started = Vec::new();
        for (thread, number) in &candidates {
            let number = self.terms.bits(8, (*number).into());
            let is_this = self.terms.eq(count, number);
            if is_this != Term::FALSE {
                fits = self.terms.or2(fits, is_this);
                let own = self.handle(*thread);
                stored = self.terms.ite(is_this, own, stored);
                started.push((*thread, is_this));
            }
        }
        let too_many = self.terms.not(fits);
        let path = self.terms.and2(state.path, too_many);
        self.give_up(place, path, format!("more than {} threads are started at one place", candidates.len()));
        self.restrict(state, fits);
        if let Some(access) = handle {
            let (address, targets) = self.reach(place, state, access, true)?;
            let width = access.ty.bytes(self.efsm.program().model) as u32 * 8;
            let value = fit(&mut self.terms, stored, width);
            memory::write(&mut self.terms, &self.layout, state, (Term::TRUE, address, value), &targets.all)?;
        }
        for (thread, is_this) in started {
            self.start_thread(state, thread, is_this, &values);
        }
        let one = self.terms.bits(8, 1);
        let more = self.terms.add(count, one);
        Rc::make_mut(&mut state.counts)[counter] = more;
        Ok(())
    }

    fn start_thread(&mut self, state: &mut State, thread: ThreadIndex, is_this: Term, values: &[Term]) {
        let condition = self.terms.and2(state.path, is_this);
        if condition == Term::FALSE {
            return;
        }
        let one = self.terms.bits(1, 1);
        let cells = self.layout.thread_cells[thread];
        state.set_control(&mut self.terms, cells.started, is_this, one);
        let arguments = self.threads[thread].arguments.clone();
        for (argument, value) in arguments.into_iter().zip(values) {
            let width = self.terms.width(argument);
            let value = fit(&mut self.terms, *value, width);
            let same = self.terms.eq(argument, value);
            let implied = self.terms.implies(condition, same);
            self.constraints.push(implied);
        }
        let root = self.layout.threads[thread].root;
        for slot in self.efsm.shared_slots(root).to_vec() {
            let Some(id) = self.layout.slot(thread, root, slot) else { continue };
            if let Some(life) = self.layout.instances[id].life() {
                let alive = self.terms.ite(is_this, one, state.cell(id, life));
                state.set_cell(id, life, alive);
            }
        }
        self.start(thread, condition);
        if let Some(step) = self.steps.last_mut() {
            step.starts.push((thread, condition));
        }
    }

    /// The threads that a handle may be of, each with its condition.
    fn threads_of(&mut self, state: &State, handle: Term) -> Vec<(ThreadIndex, Term)> {
        let (mut found, width) = (Vec::new(), self.terms.width(handle));
        for thread in self.threads.ids() {
            let own = self.handle(thread);
            let own = fit(&mut self.terms, own, width);
            let is_it = self.terms.eq(handle, own);
            if is_it == Term::FALSE {
                continue;
            }
            let cells = self.layout.thread_cells[thread];
            let exists = match thread {
                ThreadIndex(0) => Term::TRUE,
                _ => state.control(&mut self.terms, cells.started),
            };
            let was_joined = state.control(&mut self.terms, cells.joined);
            let is_free = self.terms.not(was_joined);
            found.push((thread, self.terms.and(&[is_it, exists, is_free])));
        }
        found
    }

    pub(crate) fn join(
        &mut self,
        place: Place,
        state: &mut State,
        dst: Option<LocalId>,
        thread: &Expr,
    ) -> Result<(), Refused> {
        self.forbid_in_section(place, state);
        let handle = self.evaluate(state, place.func, thread)?;
        let mut threads = self.threads_of(state, handle);
        // (A thread that joins itself has no valid handle.)
        threads.retain(|(joined, _)| *joined != self.thread);
        self.use_handle(place, state, &threads);
        let width = self.word_width();
        let (mut finished, mut result) = (Term::FALSE, self.terms.bits(width, 0));
        for (thread, is_it) in &threads {
            let cells = self.layout.thread_cells[*thread];
            let has_ended = state.control(&mut self.terms, cells.finished);
            let ended = self.terms.and2(*is_it, has_ended);
            finished = self.terms.or2(finished, ended);
            result = self.terms.ite(*is_it, state.cell(Layout::CONTROL, cells.result), result);
        }
        self.restrict(state, finished);
        self.mark_joined(state, &threads);
        if let Some(dst) = dst {
            self.set_fitted(state, place.func, dst, Some(result));
        }
        Ok(())
    }

    pub(crate) fn detach(&mut self, place: Place, state: &mut State, thread: &Expr) -> Result<(), Refused> {
        let handle = self.evaluate(state, place.func, thread)?;
        let threads = self.threads_of(state, handle);
        self.use_handle(place, state, &threads);
        self.mark_joined(state, &threads);
        Ok(())
    }

    fn use_handle(&mut self, place: Place, state: &mut State, threads: &[(ThreadIndex, Term)]) {
        let valid: Vec<Term> = threads.iter().map(|(_, is_it)| *is_it).collect();
        let valid = self.terms.or(&valid);
        self.require(place, state, ViolationKind::InvalidThread, valid);
    }

    fn mark_joined(&mut self, state: &mut State, threads: &[(ThreadIndex, Term)]) {
        let one = self.terms.bits(1, 1);
        for (thread, is_it) in threads {
            let cell = self.layout.thread_cells[*thread].joined;
            state.set_control(&mut self.terms, cell, *is_it, one);
        }
    }

    // --- synchronisation objects

    pub(crate) fn sync(
        &mut self,
        place: Place,
        state: &mut State,
        dst: Option<LocalId>,
        op: &SyncOp,
        at: &Expr,
    ) -> Result<(), Refused> {
        use SyncOp::{CondBroadcast, CondDestroy, CondInit, CondRelock, CondSignal, CondSleep, CondWake};
        if let SyncOp::BarrierDestroy = op {
            return Err(Refused::new("barriers that are destroyed are not followed"));
        }
        if let CondRelock | CondSleep { .. } | CondWake { .. } | CondSignal | CondBroadcast | CondInit | CondDestroy =
            op
        {
            return Err(Refused::new("condition variables are not followed"));
        }
        let operand = match op {
            SyncOp::LockInit { kind: operand, .. }
            | SyncOp::SemInit { value: operand }
            | SyncOp::BarrierInit { count: operand }
            | SyncOp::BarrierLeave { ticket: operand } => Some(self.evaluate(state, place.func, operand)?),
            _ => None,
        };
        let address = self.evaluate(state, place.func, at)?;
        let result = self.step_on_words(place, state, op, (at, address), operand)?;
        if let Some(dst) = dst {
            self.set_fitted(state, place.func, dst, Some(result));
        }
        Ok(())
    }

    fn step_on_words(
        &mut self,
        place: Place,
        state: &mut State,
        op: &SyncOp,
        (pointer, address): (&Expr, Term),
        operand: Option<Term>,
    ) -> Result<Term, Refused> {
        let points_to = self.efsm.facts.points_to();
        let objects = points_to.points_to(place.func, pointer);
        let is_static = |object| matches!(points_to.objects()[object], AbstractObject::Static(_));
        if !objects.iter().all(is_static) {
            // (It may not have been initialised, which the cells do not tell.)
            return Err(Refused::new("a synchronisation object that is not static"));
        }
        let model = self.efsm.program().model;
        let offsets = words(op, model, objects.intersects(&self.layout.special_mutexes));
        let bytes = op.object_bytes(model).into();
        let targets = self.reach_at(place, state, (pointer, address), bytes, true)?;
        let mut old = Vec::new();
        for offset in offsets {
            let at = self.word_at(address, *offset);
            let value = memory::read(&mut self.terms, &mut self.layout, state, at, 4, &targets.all)?;
            old.push(value.unwrap_or_else(|| self.terms.bits(32, 0)));
        }
        let reading = is_read_write(op).then(|| self.reading(state, address)).transpose()?;
        let me = self.terms.bits(32, u128::from(self.thread.0) + 1);
        let caller = Caller { me, operand, reading: reading.map(|(_, count)| count), may_be_destroyed: true };
        let made: Transition = transition(&mut self.terms, op, caller, &old);
        if let Some(enabled) = made.enabled.condition() {
            self.forbid_in_section(place, state);
            self.restrict(state, enabled);
        }
        for (kind, wrong) in &made.violations {
            let good = self.terms.not(*wrong);
            self.require(place, state, *kind, good);
        }
        for (offset, write) in offsets.iter().zip(&made.writes) {
            let at = self.word_at(address, *offset);
            let write = (write.condition, at, write.value);
            memory::write(&mut self.terms, &self.layout, state, write, &targets.all)?;
        }
        if let (Some((lock, _)), Some(now)) = (reading, made.reading) {
            Rc::make_mut(&mut state.reading).insert(lock, now);
        }
        Ok(made.result)
    }

    fn word_at(&mut self, address: Term, offset: u64) -> Term {
        let offset = self.terms.bits(self.terms.width(address), offset.into());
        self.terms.add(address, offset)
    }

    /// How often a lock is held for reading.
    fn reading(&mut self, state: &State, address: Term) -> Result<(u64, Term), Refused> {
        let known = self.terms.as_bits(address);
        let lock = known.ok_or_else(|| Refused::new("a read-write lock at an address that is not constant"))? as u64;
        let count = state.reading.get(&lock).copied();
        Ok((lock, count.unwrap_or_else(|| self.terms.bits(32, 0))))
    }
}

fn is_read_write(op: &SyncOp) -> bool {
    use SyncOp::{ReadLock, RwDestroy, RwInit, RwUnlock, TryReadLock, TryWriteLock, WriteLock};
    matches!(op, RwInit | RwDestroy | ReadLock | TryReadLock | WriteLock | TryWriteLock | RwUnlock)
}
