//! What instructions do to the state of a thread.
//!
//! One instruction or terminator at a time, by the rules of `leno_symbolic`. What goes wrong is noted with its condition,
//! and the thread does not go on there. What cannot be followed is a gap, with its condition: if an execution can get
//! there, nothing is said of what comes after it.

use crate::layout::{Refused, ThreadIndex};
use crate::memory::{self, Targets};
use crate::state::{Frame, State};
use crate::unroll::{ENDED, EXITED, Gap, Input, Unroller, Violation};
use leno_ir::analysis::points_to::AbstractObject;
use leno_ir::index::Idx;
use leno_ir::interp::ViolationKind;
use leno_ir::program::{
    Access, BlockId, Body, Callee, DataModel, Expr, FuncId, LocalId, ObjectId, Op, Place, SlotId, Storage,
    TerminatorKind,
};
use leno_logic::term::{Sort, Term, Terms};
use leno_symbolic::contents::Addresses;
use leno_symbolic::library_calls::pure_call;
use leno_symbolic::operators::{fit, width};
use leno_symbolic::translate::{Leaves, condition, translate};
use leno_symbolic::update::Update;
use std::rc::Rc;

/// Where control goes on, and with which state.
pub(crate) type Next = Vec<(Place, State)>;

/// The registers and addresses of a thread.
struct Evaluator<'a, 'p> {
    unroller: &'a mut Unroller<'p>,
    state: &'a mut State,
    func: FuncId,
}

impl Leaves for Evaluator<'_, '_> {
    type Error = Refused;

    fn terms(&mut self) -> &mut Terms {
        &mut self.unroller.terms
    }

    fn model(&self) -> DataModel {
        self.unroller.efsm.program().model
    }

    fn local(&mut self, local: LocalId) -> Result<Term, Refused> {
        if let Some(value) = self.state.local(self.func, local.index()) {
            return Ok(value);
        }
        let ty = self.unroller.efsm.program().functions[self.func].locals[local].ty;
        let value = self.unroller.undefined_value(width(self.model(), ty));
        self.state.set_local(self.func, local.index(), Some(value));
        Ok(value)
    }

    fn object_address(&mut self, object: ObjectId) -> Result<u64, Refused> {
        self.unroller.layout.static_address(object, self.unroller.thread)
    }

    fn slot_address(&mut self, slot: SlotId) -> Result<u64, Refused> {
        let id = self.unroller.layout.slot(self.unroller.thread, self.func, slot);
        let id = id.ok_or_else(|| Refused::new("a slot that is nowhere"))?;
        Ok(self.unroller.layout.instances[id].base)
    }

    fn function_address(&mut self, function: FuncId) -> Result<u64, Refused> {
        self.unroller.layout.function_address(function)
    }
}

impl Unroller<'_> {
    pub(crate) fn undefined_value(&mut self, width: u32) -> Term {
        let value = self.terms.variable(Sort::Bits(width), "undefined");
        self.undefined.push(value);
        value
    }

    pub(crate) fn evaluate(&mut self, state: &mut State, func: FuncId, expr: &Expr) -> Result<Term, Refused> {
        translate(&mut Evaluator { unroller: self, state, func }, expr)
    }

    fn truth(&mut self, state: &mut State, func: FuncId, expr: &Expr) -> Result<Term, Refused> {
        condition(&mut Evaluator { unroller: self, state, func }, expr)
    }

    /// Restricts a state to where something holds.
    pub(crate) fn restrict(&mut self, state: &mut State, holds: Term) {
        state.path = self.terms.and2(state.path, holds);
    }

    /// Something goes wrong unless `good`; the thread goes on only where it does not.
    pub(crate) fn require(&mut self, place: Place, state: &mut State, kind: ViolationKind, good: Term) {
        let bad = self.terms.not(good);
        // (Nothing that happens after its last visible step matters: it keeps the token. S4 of the paper's table 2.)
        let is_here = self.terms.or2(state.token, state.is_new);
        let condition = self.terms.and(&[state.path, bad, is_here]);
        if condition != Term::FALSE && self.properties.covers(kind) {
            let (thread, depth) = (self.thread, self.depth);
            self.violations.push(Violation { thread, depth, place, condition });
        }
        self.restrict(state, good);
    }

    /// Executions that go on here are not covered.
    pub(crate) fn give_up(&mut self, place: Place, path: Term, reason: impl Into<String>) {
        if path != Term::FALSE {
            self.gaps.push(Gap { path, span: self.efsm.span(place), reason: reason.into() });
        }
    }

    /// Makes the step at a place.
    pub(crate) fn execute(&mut self, place: Place, state: State) -> Next {
        let path = state.path;
        let result = match self.efsm.instr(place) {
            Some(instr) => self.instruction(place, state, &instr.op),
            None => self.terminator(place, state),
        };
        result.unwrap_or_else(|Refused(reason)| {
            self.give_up(place, path, reason);
            Vec::new()
        })
    }

    fn instruction(&mut self, place: Place, mut state: State, op: &Op) -> Result<Next, Refused> {
        let func = place.func;
        let next = Place { index: place.index + 1, ..place };
        match op {
            Op::Assign { dst, value } => {
                let value = self.evaluate(&mut state, func, value)?;
                state.set_local(func, dst.index(), Some(value));
            }
            Op::Load { dst, from } => {
                let (address, targets) = self.reach(place, &mut state, from, false)?;
                let bytes = from.ty.bytes(self.efsm.program().model) as u32;
                let value = memory::read(&mut self.terms, &mut self.layout, &state, address, bytes, &targets.all)?;
                self.set_fitted(&mut state, func, *dst, value);
            }
            Op::Store { to, value } => {
                let value = self.evaluate(&mut state, func, value)?;
                let (address, targets) = self.reach(place, &mut state, to, true)?;
                let value = self.as_stored(value, to);
                let write = (Term::TRUE, address, value);
                memory::write(&mut self.terms, &self.layout, &mut state, write, &targets.all)?;
            }
            Op::ReadModifyWrite { dst, at, op, value } => {
                let operand = self.evaluate(&mut state, func, value)?;
                let old = self.update(place, &mut state, at, Update::ReadModifyWrite { op: *op, operand })?;
                if let Some(dst) = dst {
                    self.set_fitted(&mut state, func, *dst, old);
                }
            }
            Op::CompareExchange { ok, old, at, expected, desired, weak, .. } => {
                let expected = self.evaluate(&mut state, func, expected)?;
                let desired = self.evaluate(&mut state, func, desired)?;
                let fails = if *weak { self.spurious_failure() } else { Term::FALSE };
                let was = self.update(place, &mut state, at, Update::CompareExchange { expected, desired, fails })?;
                let was = was.unwrap_or(expected);
                let write = Update::CompareExchange { expected, desired, fails }.apply(&mut self.terms, was);
                let made = self.terms.bool_to_bits(write.condition, 1);
                self.set_fitted(&mut state, func, *ok, Some(made));
                self.set_fitted(&mut state, func, *old, Some(was));
            }
            Op::Fence { .. } | Op::Yield => {}
            Op::Allocate { dst, storage, .. } => self.allocate(place, &mut state, *dst, *storage)?,
            Op::Free { ptr, storage } => self.free(place, &mut state, ptr, *storage)?,
            Op::BeginLife { slot } => self.begin_life(&mut state, func, *slot),
            Op::EndLife { slot } => self.end_life(&mut state, func, *slot),
            Op::CheckMove { .. } => return Err(Refused::new("moves of pointers are not checked")),
            Op::ObjectSize { .. } => return Err(Refused::new("the size of an object is asked for")),
            Op::Assume { cond } => {
                let holds = self.truth(&mut state, func, cond)?;
                self.restrict(&mut state, holds);
            }
            Op::Assert { cond, property, .. } => {
                let good = self.truth(&mut state, func, cond)?;
                self.require(place, &mut state, ViolationKind::of(*property), good);
            }
            Op::Nondet { dst } => {
                let ty = self.efsm.program().functions[func].locals[*dst].ty;
                let value = self.input(&state, width(self.efsm.program().model, ty));
                state.set_local(func, dst.index(), Some(value));
            }
            Op::Undefine { dst } => state.set_local(func, dst.index(), None),
            Op::Call { dst, callee, args } => return self.call(place, state, *dst, callee, args),
            Op::ThreadSelf { dst } => {
                let own = self.handle(self.thread);
                self.set_fitted(&mut state, func, *dst, Some(own));
            }
            Op::Spawn { handle, func: start, args } => self.spawn(place, &mut state, handle.as_ref(), start, args)?,
            Op::Join { dst, thread } => self.join(place, &mut state, *dst, thread)?,
            Op::Detach { thread } => self.detach(place, &mut state, thread)?,
            Op::Sync { dst, op, at } => self.sync(place, &mut state, *dst, op, at)?,
            Op::AtomicBegin | Op::AtomicEnd => self.section(&mut state, matches!(op, Op::AtomicBegin)),
        }
        Ok(vec![(next, state)])
    }

    /// A value from outside.
    fn input(&mut self, state: &State, width: u32) -> Term {
        let value = self.terms.variable(Sort::Bits(width), "input");
        self.inputs.push(Input { thread: self.thread, path: state.path, value });
        value
    }

    /// (The interpreter lets nothing fail spuriously.)
    fn spurious_failure(&mut self) -> Term {
        let value = self.undefined_value(1);
        self.terms.bits_to_bool(value)
    }

    pub(crate) fn set_fitted(&mut self, state: &mut State, func: FuncId, dst: LocalId, value: Option<Term>) {
        let program = self.efsm.program();
        let width = width(program.model, program.functions[func].locals[dst].ty);
        let value = value.map(|value| fit(&mut self.terms, value, width));
        state.set_local(func, dst.index(), value);
    }

    /// A value as it lies in memory.
    fn as_stored(&mut self, value: Term, access: &Access) -> Term {
        let bytes = access.ty.bytes(self.efsm.program().model) as u32;
        fit(&mut self.terms, value, bytes * 8)
    }

    // --- memory

    /// Where an access is. The thread goes on where that is valid.
    pub(crate) fn reach(
        &mut self,
        place: Place,
        state: &mut State,
        access: &Access,
        writes: bool,
    ) -> Result<(Term, Targets), Refused> {
        let address = self.evaluate(state, place.func, &access.ptr)?;
        let bytes = access.ty.bytes(self.efsm.program().model);
        let targets = self.reach_at(place, state, (&access.ptr, address), bytes, writes)?;
        Ok((address, targets))
    }

    pub(crate) fn reach_at(
        &mut self,
        place: Place,
        state: &mut State,
        (pointer, address): (&Expr, Term),
        bytes: u64,
        writes: bool,
    ) -> Result<Targets, Refused> {
        let points_to = self.efsm.facts.points_to();
        let objects = points_to.points_to(place.func, pointer);
        let is_unknown = |object| points_to.objects()[object] == AbstractObject::Unknown;
        if self.terms.as_bits(address).is_none() && objects.iter().any(is_unknown) {
            return Err(Refused::new("an address that comes from outside of the program"));
        }
        let targets = memory::targets(&mut self.terms, &self.layout, state, (address, bytes), &objects, writes);
        if targets.all.iter().any(|target| memory::is_of_another_thread(&self.layout, *target, self.thread)) {
            return Err(Refused::new("memory of another thread that is not known to be shared"));
        }
        self.require(place, state, ViolationKind::InvalidPointer, targets.valid);
        Ok(targets)
    }

    /// Reads a place and writes it in one step; gives what was there.
    fn update(
        &mut self,
        place: Place,
        state: &mut State,
        at: &Access,
        update: Update,
    ) -> Result<Option<Term>, Refused> {
        let (address, targets) = self.reach(place, state, at, true)?;
        let model = self.efsm.program().model;
        let bytes = at.ty.bytes(model) as u32;
        let Some(old) = memory::read(&mut self.terms, &mut self.layout, state, address, bytes, &targets.all)? else {
            return Ok(None);
        };
        let old = fit(&mut self.terms, old, width(model, at.ty));
        let write = update.apply(&mut self.terms, old);
        let value = self.as_stored(write.value, at);
        memory::write(&mut self.terms, &self.layout, state, (write.condition, address, value), &targets.all)?;
        Ok(Some(old))
    }

    fn allocate(&mut self, place: Place, state: &mut State, dst: LocalId, storage: Storage) -> Result<(), Refused> {
        let instances = self.layout.sites.get(&(self.thread, place)).cloned();
        let (Some(instances), Storage::Heap, Some(&site)) = (instances, storage, self.sites.get(&place)) else {
            return Err(Refused::new("memory is allocated whose size is not constant"));
        };
        let word = u32::from(self.efsm.program().model.pointer_bits());
        let count = state.counts[site];
        let (mut address, mut fits) = (self.terms.bits(word, 0), Term::FALSE);
        for (number, id) in instances.iter().enumerate() {
            let number = self.terms.bits(8, number as u128);
            let is_this = self.terms.eq(count, number);
            if is_this == Term::FALSE {
                continue;
            }
            fits = self.terms.or2(fits, is_this);
            let base = self.terms.bits(word, self.layout.instances[*id].base.into());
            address = self.terms.ite(is_this, base, address);
            let life = self.layout.instances[*id].life();
            for cell in 0..self.layout.instances[*id].cells.len() {
                let bits = self.layout.instances[*id].cells[cell].bits;
                let new = match self.layout.instances[*id].initial {
                    _ if Some(cell) == life => self.terms.bits(1, 1),
                    leno_symbolic::contents::Initial::Zero => self.terms.bits(bits, 0),
                    _ => continue,
                };
                let new = self.terms.ite(is_this, new, state.cell(*id, cell));
                state.set_cell(*id, cell, new);
            }
        }
        let too_many = self.terms.not(fits);
        let path = self.terms.and2(state.path, too_many);
        self.give_up(place, path, format!("more than {} objects are allocated at one place", instances.len()));
        self.restrict(state, fits);
        let one = self.terms.bits(8, 1);
        Rc::make_mut(&mut state.counts)[site] = self.terms.add(count, one);
        self.set_fitted(state, place.func, dst, Some(address));
        Ok(())
    }

    fn free(&mut self, place: Place, state: &mut State, ptr: &Expr, storage: Storage) -> Result<(), Refused> {
        if storage == Storage::Stack {
            return Err(Refused::new("memory of the stack is freed"));
        }
        let address = self.evaluate(state, place.func, ptr)?;
        let points_to = self.efsm.facts.points_to();
        let objects = points_to.points_to(place.func, ptr);
        let null = self.terms.bits(self.terms.width(address), 0);
        let mut good = self.terms.eq(address, null);
        let candidates: Vec<_> = objects.iter().flat_map(|object| self.layout.of(object).to_vec()).collect();
        for id in candidates {
            let instance = &self.layout.instances[id];
            let (Some(life), true) = (instance.life(), instance.is_heap) else { continue };
            let base = self.terms.bits(self.terms.width(address), instance.base.into());
            let is_it = self.terms.eq(address, base);
            let is_alive = self.terms.bits_to_bool(state.cell(id, life));
            let is_freed = self.terms.and2(is_it, is_alive);
            good = self.terms.or2(good, is_freed);
            let dead = self.terms.bits(1, 0);
            let new = self.terms.ite(is_freed, dead, state.cell(id, life));
            state.set_cell(id, life, new);
        }
        self.require(place, state, ViolationKind::InvalidFree, good);
        Ok(())
    }

    /// A slot lives, with undefined contents.
    pub(crate) fn begin_life(&mut self, state: &mut State, func: FuncId, slot: SlotId) {
        self.begin_life_for(self.thread, state, func, slot);
    }

    pub(crate) fn begin_life_for(&mut self, thread: ThreadIndex, state: &mut State, func: FuncId, slot: SlotId) {
        let Some(id) = self.layout.slot(thread, func, slot) else { return };
        let mut cells = self.layout.undefined_cells(&mut self.terms, id);
        if let Some(life) = self.layout.instances[id].life() {
            cells[life] = self.terms.bits(1, 1);
            self.undefined.extend(&cells[..life]);
        }
        state.memory[id] = Rc::new(cells);
    }

    fn end_life(&mut self, state: &mut State, func: FuncId, slot: SlotId) {
        let Some(id) = self.layout.slot(self.thread, func, slot) else { return };
        let dead = self.terms.bits(1, 0);
        if let Some(life) = self.layout.instances[id].life() {
            state.set_cell(id, life, dead);
        }
    }

    // --- calls

    fn call(
        &mut self,
        place: Place,
        mut state: State,
        dst: Option<LocalId>,
        callee: &Callee,
        args: &[Expr],
    ) -> Result<Next, Refused> {
        let mut values = Vec::new();
        for arg in args {
            values.push(self.evaluate(&mut state, place.func, arg)?);
        }
        if let Callee::Direct(func) = callee {
            return match &self.efsm.program().functions[*func].body {
                Body::External(_) => self.external(place, state, dst, *func, &values),
                Body::Blocks(_) => Ok(vec![self.enter(place, state, *func, &values)?]),
            };
        }
        let Callee::Indirect(pointer) = callee else { return Ok(Vec::new()) };
        let address = self.evaluate(&mut state, place.func, pointer)?;
        let (mut next, mut known) = (Vec::new(), Term::FALSE);
        for edge in self.efsm.facts.calls().callees(place) {
            let is_external = matches!(self.efsm.program().functions[edge.callee].body, Body::External(_));
            let at = self.layout.function_address(edge.callee)?;
            let at = self.terms.bits(self.terms.width(address), at.into());
            let is_it = self.terms.eq(address, at);
            if is_it == Term::FALSE {
                continue;
            }
            known = self.terms.or2(known, is_it);
            let mut state = state.clone();
            self.restrict(&mut state, is_it);
            match is_external {
                true => next.extend(self.external(place, state, dst, edge.callee, &values)?),
                false => next.push(self.enter(place, state, edge.callee, &values)?),
            }
        }
        if self.efsm.facts.calls().is_unknown(place) {
            return Err(Refused::new("a call of a function that is not known"));
        }
        self.require(place, &mut state, ViolationKind::InvalidCall, known);
        Ok(next)
    }

    /// The beginning of a function that is called.
    fn enter(
        &mut self,
        place: Place,
        mut state: State,
        func: FuncId,
        values: &[Term],
    ) -> Result<(Place, State), Refused> {
        let program = self.efsm.program();
        let function = &program.functions[func];
        if self.efsm.facts.calls().is_recursive(func) {
            return Err(Refused::new(format!("{} calls itself", function.name)));
        }
        if let Some(slot) = self.may_dangle(func) {
            let name = &function.slots[slot].name;
            return Err(Refused::new(format!("the address of {name} may be kept longer than it lives")));
        }
        let mut locals = vec![None; function.locals.len()];
        for (index, local) in function.locals.iter().enumerate().take(function.params as usize) {
            let width = width(program.model, local.ty);
            locals[index] = values.get(index).map(|value| fit(&mut self.terms, *value, width));
        }
        let known = self.call_sites.iter().position(|site| *site == place);
        let site = known.unwrap_or_else(|| {
            self.call_sites.push(place);
            self.call_sites.len() - 1
        });
        let return_site = self.terms.bits(16, site as u128 + 1);
        state.frames[func.index()] = Some(Rc::new(Frame { locals, return_site }));
        for slot in function.slots.ids() {
            self.begin_life(&mut state, func, slot);
        }
        Ok((Place { func, block: BlockId(0), index: 0 }, state))
    }

    /// A slot of a function that is executed more than once, whose address may be found after it was left.
    fn may_dangle(&self, func: FuncId) -> Option<SlotId> {
        let kept = self.efsm.kept_slots();
        self.efsm.program().functions[func].slots.ids().find(|slot| kept.contains(&(func, *slot)))
    }

    /// A function of the library, or one that is defined nowhere.
    fn external(
        &mut self,
        place: Place,
        mut state: State,
        dst: Option<LocalId>,
        callee: FuncId,
        values: &[Term],
    ) -> Result<Next, Refused> {
        let program = self.efsm.program();
        let function = &program.functions[callee];
        let Body::External(external) = &function.body else { return Ok(Vec::new()) };
        let op = self.efsm.instr(place).map(|instr| &instr.op);
        let points_to = self.efsm.facts.points_to();
        let accessed = op.map(|op| points_to.may_access(program, place.func, op)).unwrap_or_default();
        let result = match function.ret {
            None => None,
            Some(_) if external.pure => {
                let values: Vec<Option<Term>> = values.iter().copied().map(Some).collect();
                let known = pure_call(&mut self.terms, program.model, function, &values);
                Some(known.ok_or_else(|| Refused::new(format!("a call of {}", function.name)))?)
            }
            Some(ty) if !external.known => Some(self.input(&state, width(program.model, ty))),
            Some(ty) => Some(self.undefined_value(width(program.model, ty))),
        };
        let is_private = !external.pure
            && (accessed.written.iter().next().is_some() || self.efsm.facts.sharing().any_shared(&accessed.read));
        if is_private {
            return Err(Refused::new(format!("a call of {}, which accesses memory", function.name)));
        }
        if let Some(dst) = dst {
            self.set_fitted(&mut state, place.func, dst, result);
        }
        Ok(vec![(Place { index: place.index + 1, ..place }, state)])
    }

    // --- terminators

    fn terminator(&mut self, place: Place, mut state: State) -> Result<Next, Refused> {
        let Some(block) = self.efsm.block(place) else { return Ok(Vec::new()) };
        let func = place.func;
        let to = |block| Place { func, block, index: 0 };
        match &block.terminator.kind {
            TerminatorKind::Goto(target) => Ok(vec![(to(*target), state)]),
            TerminatorKind::Branch { cond, then, otherwise } => {
                let holds = self.truth(&mut state, func, cond)?;
                let mut other = state.clone();
                self.restrict(&mut state, holds);
                let fails = self.terms.not(holds);
                self.restrict(&mut other, fails);
                Ok(vec![(to(*then), state), (to(*otherwise), other)])
            }
            TerminatorKind::Switch { value, cases, default } => {
                let value = self.evaluate(&mut state, func, value)?;
                let mut next = Vec::new();
                for (case, target) in cases {
                    let case = self.terms.bits(self.terms.width(value), *case);
                    let is_it = self.terms.eq(value, case);
                    let mut here = state.clone();
                    self.restrict(&mut here, is_it);
                    next.push((to(*target), here));
                    let is_other = self.terms.not(is_it);
                    self.restrict(&mut state, is_other);
                }
                next.push((to(*default), state));
                Ok(next)
            }
            TerminatorKind::Return(value) => {
                let value = match value {
                    Some(value) => Some(self.evaluate(&mut state, func, value)?),
                    None => None,
                };
                self.leave(place, state, value)
            }
            TerminatorKind::ThreadExit(value) => {
                let value = self.evaluate(&mut state, func, value)?;
                Ok(vec![self.end_thread(place, state, Some(value))])
            }
            TerminatorKind::Exit(_) | TerminatorKind::Abort => Ok(vec![(Place { index: EXITED, ..place }, state)]),
            TerminatorKind::Unreachable => {
                self.require(place, &mut state, ViolationKind::Unreachable, Term::FALSE);
                Ok(Vec::new())
            }
        }
    }

    /// A return: back to the calling function, or the end of the thread.
    fn leave(&mut self, place: Place, mut state: State, value: Option<Term>) -> Result<Next, Refused> {
        let func = place.func;
        let Some(frame) = state.frames[func.index()].take() else { return Ok(Vec::new()) };
        let mut next = Vec::new();
        if self.layout.threads[self.thread].root == func {
            let none = self.terms.bits(16, 0);
            let is_root = self.terms.eq(frame.return_site, none);
            let mut ended = state.clone();
            self.restrict(&mut ended, is_root);
            if ended.path != Term::FALSE {
                next.push(match self.thread {
                    ThreadIndex(0) => (Place { index: EXITED, ..place }, ended),
                    _ => self.end_thread(place, ended, value),
                });
            }
        }
        for slot in self.efsm.program().functions[func].slots.ids() {
            self.end_life(&mut state, func, slot);
        }
        for (number, site) in self.call_sites.clone().into_iter().enumerate() {
            let Some(Op::Call { dst, .. }) = self.efsm.instr(site).map(|instr| &instr.op) else { continue };
            let number = self.terms.bits(16, number as u128 + 1);
            let is_it = self.terms.eq(frame.return_site, number);
            let mut back = state.clone();
            self.restrict(&mut back, is_it);
            if back.path == Term::FALSE {
                continue;
            }
            if let Some(dst) = dst {
                self.set_fitted(&mut back, site.func, *dst, value);
            }
            next.push((Place { index: site.index + 1, ..site }, back));
        }
        Ok(next)
    }

    fn end_thread(&mut self, place: Place, mut state: State, value: Option<Term>) -> (Place, State) {
        let cells = self.layout.thread_cells[self.thread];
        let one = self.terms.bits(1, 1);
        state.set_control(&mut self.terms, cells.finished, Term::TRUE, one);
        let word = u32::from(self.efsm.program().model.pointer_bits());
        let value = match value {
            Some(value) => fit(&mut self.terms, value, word),
            None => self.undefined_value(word),
        };
        state.set_control(&mut self.terms, cells.result, Term::TRUE, value);
        for (func, function) in self.efsm.program().functions.iter_enumerated() {
            function.slots.ids().for_each(|slot| self.end_life(&mut state, func, slot));
        }
        (Place { index: ENDED, ..place }, state)
    }
}
