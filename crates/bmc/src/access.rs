//! Accesses to memory: private memory answers at once, shared memory makes an event.
//!
//! Which objects a pointer may point into is known from its value if that is a constant, otherwise from the points-to analysis.
//! Whether an access is good may depend on what other threads do (an object may have been freed), or on objects that
//! do not exist yet: then it is a variable, defined when everything is known, and the thread goes on only where it is true.

use crate::leaks::watches_ends;
use crate::objects::{Initial, InstanceId};
use crate::private::initial_value;
use crate::skeleton::{Bounded, Check, Event, Free, NodeId, Role, Unit};
use crate::state::State;
use crate::summarize::{Frame, Refused, Summarizer};
use crate::trail::Deed;
use leno_ir::interp::ViolationKind;
use leno_ir::points_to::{AbstractObject, ObjectSet};
use leno_ir::program::{Access, Datum, Expr, LocalId, Order, RmwOp, Storage};
use leno_ir::sharing::Sharing;
use leno_logic::term::{Sort, Term, Terms};
use std::rc::Rc;

/// What an access is to.
pub(crate) struct Reached {
    /// Private instances, each with the condition that it is this one.
    pub private: Vec<(Term, InstanceId)>,
    /// Whether shared ones are possible, and the condition that it is none of the private ones.
    pub shared: Option<Term>,
    pub targets: ObjectSet,
}

/// What stands for the first word of a synchronisation object that nobody has made.
pub(crate) const UNDEFINED: u128 = 0xa5de_f1ed;

/// Places that a symbolic offset may be at, before we say that they are too many.
const MOST_PLACES: u64 = 1 << 14;

impl Summarizer<'_> {
    pub(crate) fn initial_bytes(&mut self, terms: &mut Terms, initial: Initial, offset: u64, bytes: u32) -> Term {
        let program = self.program;
        let given = std::mem::take(&mut self.given);
        let value =
            initial_value(program, terms, &given, initial, (offset, bytes), &mut |datum| self.datum_address(datum));
        self.given = given;
        value
    }

    /// What a private instance holds where this thread has not written; while a function is being summarised, since its call.
    pub(crate) fn unwritten(&mut self, terms: &mut Terms, id: InstanceId, offset: u64, bytes: u32) -> Term {
        if let Some(value) = self.borrowed(terms, id, offset, bytes) {
            return value;
        }
        let initial = self.instances.get(id).initial;
        self.initial_bytes(terms, initial, offset, bytes)
    }

    pub(crate) fn datum_address(&mut self, datum: &Datum) -> u64 {
        match datum {
            Datum::Bytes(_) => 0,
            Datum::Object(object, offset) => self.static_address(*object).unwrap_or(0).wrapping_add_signed(*offset),
            Datum::Function(function) => self.function_address(*function).unwrap_or(0),
        }
    }

    /// Where an access may go, and the state in which it is good.
    pub(crate) fn reach(
        &mut self,
        frame: &Frame,
        state: State,
        pointer: &Expr,
        address: Term,
        bytes: u64,
        writes: bool,
    ) -> Result<Option<(State, Reached)>, Refused> {
        if let Some(known) = self.terms.as_bits(address) {
            return self.reach_known(state, address, known as u64, bytes, writes);
        }
        let targets = self.points_to.points_to(frame.func, pointer).into_owned();
        if targets.is_empty() {
            self.skeleton.gap("a pointer is used that may be anything");
        }
        let mut private = Vec::new();
        let mut shared = false;
        let mut elsewhere = Vec::new();
        for object in targets.iter() {
            if self.shared.of(object) == Sharing::Shared {
                shared = true;
                continue;
            }
            if !self.is_settled(self.points_to.objects()[object]) {
                self.needs(address)?;
            }
            for id in self.instances.of(object).to_vec() {
                if self.is_slot(id) && self.is_borrowed(id) {
                    continue;
                }
                self.borrow(id);
                let inside = self.is_inside(id, address, bytes, writes);
                let lives = self.lives(&state, id);
                let good = self.terms.and2(inside, lives);
                if self.terms.as_bool(good) != Some(false) {
                    elsewhere.push(self.terms.not(good));
                    private.push((good, id));
                }
            }
        }
        if shared {
            // Those in private objects are good; the rest is decided later.
            let not_private = self.terms.and(&elsewhere);
            let path = self.terms.and2(state.path, not_private);
            let valid = self.check(&state, path, address, bytes, writes, targets.clone());
            let is_private = self.terms.not(not_private);
            let good = self.terms.or2(is_private, valid);
            let Some(state) = self.restrict(state, good) else { return Ok(None) };
            return Ok(Some((state, Reached { private, shared: Some(not_private), targets })));
        }
        let none = self.terms.and(&elsewhere);
        let bad = self.terms.and2(state.path, none);
        self.violate(ViolationKind::InvalidPointer, bad);
        let good = self.terms.not(none);
        let Some(state) = self.restrict(state, good) else { return Ok(None) };
        Ok(Some((state, Reached { private, shared: None, targets })))
    }

    fn reach_known(
        &mut self,
        mut state: State,
        address: Term,
        known: u64,
        bytes: u64,
        writes: bool,
    ) -> Result<Option<(State, Reached)>, Refused> {
        let found = self.instances.at(self.program.model, known).filter(|id| {
            let instance = self.instances.get(*id);
            let offset = known.wrapping_sub(instance.base);
            let fits = offset.checked_add(bytes).is_some_and(|end| end <= instance.size);
            fits && !instance.is_function && !(writes && instance.is_constant)
        });
        let Some(id) = found else {
            self.violate(ViolationKind::InvalidPointer, state.path);
            return Ok(None);
        };
        if self.instances.get(id).extent.is_some() {
            let inside = self.is_inside(id, address, bytes, writes);
            let outside = self.terms.not(inside);
            let bad = self.terms.and2(state.path, outside);
            self.violate(ViolationKind::OutOfBounds, bad);
            match self.restrict(state, inside) {
                Some(restricted) => state = restricted,
                None => return Ok(None),
            }
        }
        let instance = self.instances.get(id);
        let (object, is_heap, sharing) = (instance.object, instance.is_heap, instance.sharing);
        let targets: ObjectSet = [object].into_iter().collect();
        let always = self.terms.bool(true);
        if sharing != Sharing::Shared {
            self.borrow(id);
            let lives = self.lives(&state, id);
            let dies = self.terms.not(lives);
            let bad = self.terms.and2(state.path, dies);
            self.violate(ViolationKind::UseAfterFree, bad);
            let state = self.restrict(state, lives);
            return Ok(state.map(|state| (state, Reached { private: vec![(always, id)], shared: None, targets })));
        }
        if is_heap || !self.is_surely_alive(id) {
            let valid = self.check(&state, state.path, address, bytes, writes, targets.clone());
            match self.restrict(state, valid) {
                Some(restricted) => state = restricted,
                None => return Ok(None),
            }
        }
        Ok(Some((state, Reached { private: Vec::new(), shared: Some(always), targets })))
    }

    fn is_slot(&self, id: InstanceId) -> bool {
        matches!(self.points_to.objects()[self.instances.get(id).object], AbstractObject::Slot(..))
    }

    /// Whether a private object lives.
    fn lives(&mut self, state: &State, id: InstanceId) -> Term {
        match state.memory.dead.get(&id) {
            Some(&dead) => self.terms.not(dead),
            None => self.terms.bool(true),
        }
    }

    /// Whether an access lies within an instance.
    pub(crate) fn is_inside(&mut self, id: InstanceId, address: Term, bytes: u64, writes: bool) -> Term {
        let instance = self.instances.get(id);
        let (base, size, extent) = (instance.base, instance.size, instance.extent);
        if instance.is_function || (writes && instance.is_constant) || size < bytes {
            return self.terms.bool(false);
        }
        let base = self.pointer(base);
        let offset = self.terms.sub(address, base);
        let width = self.terms.width(address);
        let Some(extent) = extent else {
            let last = self.terms.bits(width, u128::from(size - bytes));
            return self.terms.ule(offset, last);
        };
        let bytes = self.terms.bits(width, bytes.into());
        let fits = self.terms.ule(bytes, extent);
        let last = self.terms.sub(extent, bytes);
        let inside = self.terms.ule(offset, last);
        self.terms.and2(fits, inside)
    }

    /// A variable that says whether an access will have been good; see composition.
    fn check(
        &mut self,
        state: &State,
        path: Term,
        address: Term,
        bytes: u64,
        writes: bool,
        targets: ObjectSet,
    ) -> Term {
        let valid = self.terms.variable(Sort::Bool, "valid");
        let not = self.terms.not(valid);
        let bad = self.terms.and2(path, not);
        let next = NodeId(self.skeleton.nodes.len() as u32);
        let node = self.current.or(state.section).unwrap_or(next);
        self.violate_at(ViolationKind::InvalidPointer, bad, Some(node));
        self.skeleton.checks.push(Check { valid, node, path, address, bytes, writes, targets });
        valid
    }

    // --- private memory

    pub(crate) fn private_read(
        &mut self,
        state: &mut State,
        id: InstanceId,
        address: Term,
        bytes: u32,
    ) -> Result<Term, Refused> {
        let places = self.places(id, address, bytes)?;
        let mut value = None;
        for (at, condition) in places.into_iter().rev() {
            let here = self.read_cell(state, id, at, bytes);
            value = Some(match value {
                None => here,
                Some(other) => self.terms.ite(condition, here, other),
            });
        }
        Ok(value.unwrap_or_else(|| self.terms.bits(bytes * 8, 0)))
    }

    pub(crate) fn read_cell(&mut self, state: &mut State, id: InstanceId, offset: u64, bytes: u32) -> Term {
        let cells = state.memory.objects.entry(id).or_default().clone();
        let (initial, is_borrowed) = (self.instances.get(id).initial, self.is_borrowed(id));
        let mut terms = std::mem::take(&mut self.terms);
        let mut was_undefined = false;
        let undefined_word = self.undefined_word.filter(|_| bytes == 4 && initial == Initial::Undefined);
        let value = cells.read(&mut terms, offset, bytes, &mut |terms, offset, bytes| {
            if let Some(word) = undefined_word.filter(|_| bytes == 4) {
                return word;
            }
            was_undefined |= initial == Initial::Undefined && !is_borrowed;
            self.unwritten(terms, id, offset, bytes)
        });
        if was_undefined {
            // Whatever it is, it stays that.
            let cells = state.memory.objects.entry(id).or_default();
            Rc::make_mut(cells).write(&mut terms, offset, bytes, value);
        }
        self.terms = terms;
        value
    }

    pub(crate) fn private_write(
        &mut self,
        state: &mut State,
        id: InstanceId,
        condition: Term,
        address: Term,
        bytes: u32,
        value: Term,
    ) -> Result<(), Refused> {
        let value = self.assigned(value);
        for (at, here) in self.places(id, address, bytes)? {
            let condition = self.terms.and2(condition, here);
            let new = match self.terms.as_bool(condition) {
                Some(false) => continue,
                Some(true) => value,
                None => {
                    let old = self.read_cell(state, id, at, bytes);
                    self.terms.ite(condition, value, old)
                }
            };
            let cells = state.memory.objects.entry(id).or_default();
            Rc::make_mut(cells).write(&mut self.terms, at, bytes, new);
        }
        Ok(())
    }

    /// The offsets in an instance that an address may have, each with its condition.
    fn places(&mut self, id: InstanceId, address: Term, bytes: u32) -> Result<Vec<(u64, Term)>, Refused> {
        let (base, size) = (self.instances.get(id).base, self.instances.get(id).size);
        let start = self.pointer(base);
        let offset = self.terms.sub(address, start);
        if let Some(known) = self.terms.as_bits(offset) {
            let always = self.terms.bool(true);
            let fits = known + u128::from(bytes) <= u128::from(size);
            return Ok(if fits { vec![(known as u64, always)] } else { Vec::new() });
        }
        self.steer(offset)?;
        let known = self.terms.known(offset);
        let last = size.saturating_sub(bytes.into());
        // Low bits that are known tell the stride.
        let fixed = (known.zeros | known.ones).trailing_ones().min(16);
        let stride = 1u64 << fixed;
        let first = known.ones as u64 & (stride - 1);
        if last / stride > MOST_PLACES {
            return Err(Refused::new("a large array is accessed at an unknown index"));
        }
        let mut places = Vec::new();
        let mut at = first;
        while at <= last {
            let here = self.terms.bits(self.terms.width(offset), at.into());
            let condition = self.terms.eq(offset, here);
            if self.terms.as_bool(condition) != Some(false) {
                places.push((at, condition));
            }
            at += stride;
        }
        Ok(places)
    }

    // --- shared memory

    /// A read of shared memory: a fresh value, or what the atomic section has written itself.
    pub(crate) fn shared_read(&mut self, state: &State, address: Term, bytes: u32, condition: Term) -> (Term, Unit) {
        let fresh = self.terms.variable(Sort::Bits(bytes * 8), "read");
        let mut value = fresh;
        let mut own = Vec::new();
        for write in &state.section_writes {
            let same = self.terms.eq(write.address, address);
            let mine = self.terms.and2(same, write.condition);
            if write.bytes != bytes && self.terms.as_bool(mine) != Some(false) {
                self.skeleton.gap("an atomic section reads what it wrote in pieces of another size");
            }
            if write.bytes == bytes {
                value = self.terms.ite(mine, write.value, value);
                own.push(mine);
            }
        }
        let any_own = self.terms.or(&own);
        let foreign = self.terms.not(any_own);
        let condition = self.terms.and2(condition, foreign);
        (value, Unit { condition, address, value: fresh, bytes })
    }

    /// Adds an event; `shared` says where it is about shared memory at all: elsewhere nobody sees a step.
    pub(crate) fn add_event(&mut self, state: &mut State, node: Option<NodeId>, mut event: Event, shared: Term) {
        if event.reads.is_empty() && event.writes.is_empty() {
            return;
        }
        event.node = match node {
            Some(node) => node,
            None => self.next_node(state),
        };
        event.occurs = state.path;
        if node.is_none() {
            let path = self.terms.and2(state.path, shared);
            self.step(event.node, path);
        }
        for write in event.writes.iter().filter(|_| event.is_plain) {
            let condition = self.terms.and2(state.path, write.condition);
            state.trail.push(Deed::Effect, condition);
        }
        if state.section.is_some() {
            let path = state.path;
            for write in &event.writes {
                let condition = self.terms.and2(path, write.condition);
                state.section_writes.push(Unit { condition, ..*write });
            }
        }
        self.skeleton.events.push(event);
    }

    pub(crate) fn event(&self, state: &State, targets: ObjectSet, is_plain: bool, is_atomic: bool) -> Event {
        let (place, span) = self.here;
        Event {
            node: NodeId(0),
            thread: self.thread,
            place,
            span,
            occurs: state.path,
            reads: Vec::new(),
            writes: Vec::new(),
            targets,
            is_plain,
            is_atomic: is_atomic || state.section.is_some(),
            in_section: state.section.is_some(),
            role: Role::Other,
        }
    }

    // --- instructions

    pub(crate) fn load(
        &mut self,
        frame: &Frame,
        state: State,
        from: &Access,
        address: Term,
    ) -> Result<Option<(State, Term)>, Refused> {
        let bytes = from.ty.bytes(self.program.model);
        let Some((mut state, reached)) = self.reach(frame, state, &from.ptr, address, bytes, false)? else {
            return Ok(None);
        };
        let bytes = bytes as u32;
        let mut value = None;
        if let Some(condition) = reached.shared {
            let (read, unit) = self.shared_read(&state, address, bytes, condition);
            let mut event = self.event(&state, reached.targets.clone(), true, from.order != Order::NotAtomic);
            event.reads.push(unit);
            self.add_event(&mut state, None, event, condition);
            value = Some(read);
        }
        for (condition, id) in reached.private.into_iter().rev() {
            let here = self.private_read(&mut state, id, address, bytes)?;
            value = Some(match value {
                None => here,
                Some(other) => self.terms.ite(condition, here, other),
            });
        }
        let value = value.unwrap_or_else(|| self.terms.bits(bytes * 8, 0));
        let width = self.width(from.ty);
        Ok(Some((state, self.fit(value, width))))
    }

    pub(crate) fn store(
        &mut self,
        frame: &Frame,
        state: State,
        to: &Access,
        address: Term,
        value: Term,
    ) -> Result<Option<State>, Refused> {
        self.store_at(frame, state, to, address, value, None)
    }

    pub(crate) fn store_at(
        &mut self,
        frame: &Frame,
        state: State,
        to: &Access,
        address: Term,
        value: Term,
        node: Option<NodeId>,
    ) -> Result<Option<State>, Refused> {
        let bytes = to.ty.bytes(self.program.model);
        let Some((mut state, reached)) = self.reach(frame, state, &to.ptr, address, bytes, true)? else {
            return Ok(None);
        };
        let bytes = bytes as u32;
        let value = self.fit(value, bytes * 8);
        if let Some(condition) = reached.shared {
            let mut event = self.event(&state, reached.targets.clone(), true, to.order != Order::NotAtomic);
            event.writes.push(Unit { condition, address, value, bytes });
            self.add_event(&mut state, node, event, condition);
        }
        for (condition, id) in reached.private {
            self.private_write(&mut state, id, condition, address, bytes, value)?;
        }
        Ok(Some(state))
    }

    pub(crate) fn read_modify_write(
        &mut self,
        frame: &Frame,
        mut state: State,
        dst: Option<LocalId>,
        at: &Access,
        op: RmwOp,
        value: Term,
    ) -> Result<Option<State>, Refused> {
        let address = self.evaluate(frame, &mut state, &at.ptr)?;
        let after = self.update(frame, state, at, address, &mut |this, old| {
            let terms = &mut this.terms;
            let new = match op {
                RmwOp::Exchange => value,
                RmwOp::Add => terms.add(old, value),
                RmwOp::Sub => terms.sub(old, value),
                RmwOp::And => terms.bvand(old, value),
                RmwOp::Or => terms.bvor(old, value),
                RmwOp::Xor => terms.bvxor(old, value),
                RmwOp::Nand => {
                    let both = terms.bvand(old, value);
                    terms.bvnot(both)
                }
            };
            (terms.bool(true), new)
        })?;
        Ok(after.map(|(mut state, old)| {
            if let Some(dst) = dst {
                state.set_local(dst.0 as usize, old);
            }
            state
        }))
    }

    pub(crate) fn compare_exchange(
        &mut self,
        frame: &Frame,
        mut state: State,
        (ok, old): (LocalId, LocalId),
        at: &Access,
        expected: Term,
        desired: Term,
    ) -> Result<Option<State>, Refused> {
        let address = self.evaluate(frame, &mut state, &at.ptr)?;
        let after = self.update(frame, state, at, address, &mut |this, old| (this.terms.eq(old, expected), desired))?;
        Ok(after.map(|(mut state, value)| {
            let same = self.terms.eq(value, expected);
            let same = self.terms.bool_to_bits(same, 1);
            state.set_local(ok.0 as usize, same);
            state.set_local(old.0 as usize, value);
            state
        }))
    }

    /// Reads, computes whether and what to write, and writes, all in one step. Gives the old value.
    fn update(
        &mut self,
        frame: &Frame,
        state: State,
        at: &Access,
        address: Term,
        compute: &mut dyn FnMut(&mut Self, Term) -> (Term, Term),
    ) -> Result<Option<(State, Term)>, Refused> {
        let bytes = at.ty.bytes(self.program.model);
        let width = self.width(at.ty);
        let Some((mut state, reached)) = self.reach(frame, state, &at.ptr, address, bytes, true)? else {
            return Ok(None);
        };
        let bytes = bytes as u32;
        let mut old = None;
        if let Some(condition) = reached.shared {
            let (read, unit) = self.shared_read(&state, address, bytes, condition);
            let value = self.fit(read, width);
            let (writes, new) = compute(self, value);
            let new = self.fit(new, bytes * 8);
            let mut event = self.event(&state, reached.targets.clone(), true, true);
            event.reads.push(unit);
            event.writes.push(Unit { condition: self.terms.and2(condition, writes), address, value: new, bytes });
            self.add_event(&mut state, None, event, condition);
            old = Some(value);
        }
        for (condition, id) in reached.private.into_iter().rev() {
            let read = self.private_read(&mut state, id, address, bytes)?;
            let value = self.fit(read, width);
            let (writes, new) = compute(self, value);
            let new = self.fit(new, bytes * 8);
            let writes = self.terms.and2(condition, writes);
            self.private_write(&mut state, id, writes, address, bytes, new)?;
            old = Some(match old {
                None => value,
                Some(other) => self.terms.ite(condition, value, other),
            });
        }
        let old = old.unwrap_or_else(|| self.terms.bits(width, 0));
        Ok(Some((state, old)))
    }

    pub(crate) fn allocate(
        &mut self,
        frame: &mut Frame,
        mut state: State,
        dst: LocalId,
        size: &Expr,
        zeroed: bool,
        storage: Storage,
    ) -> Result<Option<State>, Refused> {
        let size = self.evaluate(frame, &mut state, size)?;
        self.affect(&mut state);
        let (place, _) = self.here;
        let (size, extent) = match self.terms.as_bits(size) {
            Some(size) => (size, None),
            None => {
                self.needs(size)?;
                let word = u32::from(self.program.model.pointer_bits());
                let size = self.fit(size, word);
                let what = Bounded::Allocation(place);
                let most = u128::from(self.bounds.of_allocation(what));
                let limit = self.terms.bits(word, most);
                let is_small = self.terms.ule(size, limit);
                let is_large = self.terms.not(is_small);
                let beyond = self.terms.and2(state.path, is_large);
                self.cut(beyond, what);
                let Some(small) = self.restrict(state, is_small) else { return Ok(None) };
                state = small;
                (most, Some(size))
            }
        };
        let initial = if zeroed { Initial::Zero } else { Initial::Undefined };
        let what = AbstractObject::Site(place);
        if self.recording.is_some() {
            let address = self.allocate_later(what, size as u64, initial, storage, state.path)?;
            state.set_local(dst.0 as usize, address);
            return Ok(Some(state));
        }
        let id = self.add_instance(what, size as u64, initial, storage == Storage::Heap, false)?;
        self.instances.get_mut(id).extent = extent;
        if storage == Storage::Heap {
            self.watch_allocation(&mut state, id);
        }
        if storage == Storage::Stack {
            frame.slots.push(id);
        }
        let base = self.instances.get(id).base;
        let address = self.pointer(base);
        state.set_local(dst.0 as usize, address);
        Ok(Some(state))
    }

    pub(crate) fn free(&mut self, frame: &Frame, mut state: State, pointer: &Expr) -> Result<Option<State>, Refused> {
        let address = self.evaluate(frame, &mut state, pointer)?;
        self.affect(&mut state);
        let targets = match self.instance_at(address) {
            Some(id) => [self.instances.get(id).object].into_iter().collect(),
            None => self.points_to.points_to(frame.func, pointer).into_owned(),
        };
        let null = self.pointer(0);
        let mut good = vec![self.terms.eq(address, null)];
        let mut freed_here = Vec::new();
        for object in targets.iter() {
            if self.shared.of(object) == Sharing::Shared {
                continue;
            }
            self.cannot_be_summarized("a function frees private memory")?;
            for id in self.instances.of(object).to_vec() {
                let (base, is_heap) = (self.instances.get(id).base, self.instances.get(id).is_heap);
                let base = self.pointer(base);
                let here = self.terms.eq(address, base);
                if !is_heap || self.terms.as_bool(here) == Some(false) {
                    continue;
                }
                let lives = self.lives(&state, id);
                let freed = self.terms.and2(here, lives);
                good.push(freed);
                freed_here.push((id, freed));
                let died = self.terms.not(lives);
                let dead = self.terms.or2(died, here);
                Rc::make_mut(&mut state.memory.dead).insert(id, dead);
            }
        }
        let mut good = self.terms.or(&good);
        if targets.iter().any(|object| self.shared.of(object) == Sharing::Shared) {
            let node = self.next_node(&mut state);
            let valid = self.terms.variable(Sort::Bool, "freed well");
            let elsewhere = self.terms.not(good);
            let path = self.terms.and2(state.path, elsewhere);
            self.skeleton.frees.push(Free { valid, node, path, address, targets });
            good = self.terms.or2(good, valid);
            let done = self.terms.and2(state.path, good);
            self.step(node, done);
            self.watch_releases(&state, node, &freed_here);
        } else if watches_ends(self.properties) {
            let node = self.next_node(&mut state);
            let done = self.terms.and2(state.path, good);
            self.step(node, done);
            self.watch_releases(&state, node, &freed_here);
        }
        let not = self.terms.not(good);
        let bad = self.terms.and2(state.path, not);
        self.violate(ViolationKind::InvalidFree, bad);
        Ok(self.restrict(state, good))
    }

    /// The instance that an address of known value belongs to.
    pub(crate) fn instance_at(&self, address: Term) -> Option<InstanceId> {
        self.instances.at(self.program.model, self.terms.as_bits(address)? as u64)
    }
}
