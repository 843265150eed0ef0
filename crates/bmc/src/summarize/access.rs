//! Accesses to memory: an access to private memory is evaluated at once, an access to shared memory becomes an event.
//!
//! Which objects a pointer may point into is known from its value if that is a constant, otherwise from the points-to
//! analysis. Whether an access is valid may depend on other threads (which may have freed the object), or on objects
//! that are allocated later in the summary: then its validity is a variable, which composition defines, and the thread
//! continues only where it is true.

use crate::bound::BoundSite;
use crate::skeleton::layout::{InstanceId, offset_bits};
use crate::skeleton::{Check, Event, Free, NodeId, Role, SyncObject, Unit};
use crate::summarize::process_end::watches_ends;
use crate::summarize::side_effects::SideEffect;
use crate::summarize::state::State;
use crate::summarize::{Execution, Frame, Refused};
use leno_ir::analysis::points_to::{AbstractObject, ObjectSet};
use leno_ir::analysis::sharing::Sharing;
use leno_ir::interp::{ViolationKind, near_offsets};
use leno_ir::program::{Access, Expr, LocalId, Order, Storage};
use leno_logic::term::{Sort, Term, Terms};
use leno_symbolic::contents::Initial;
use leno_symbolic::region::TooManyPlaces;
use leno_symbolic::update::Update;
use std::rc::Rc;

/// The memory that an access may reach.
pub(crate) struct Reached {
    /// Private instances, each with the condition that the access is to it.
    pub private: Vec<(Term, InstanceId)>,
    /// If shared memory is possible: the condition that the access is to none of the private instances.
    pub shared: Option<Term>,
    pub targets: ObjectSet,
}

/// What an instruction reads and writes in shared memory.
pub(crate) struct Accesses {
    pub reads: Vec<Unit>,
    pub writes: Vec<Unit>,
    pub targets: ObjectSet,
    pub is_plain: bool,
    pub is_atomic: bool,
    pub is_compound: bool,
    pub object: Option<SyncObject>,
    pub role: Role,
    /// That its writes leave the memory as it was.
    pub is_unchanged: Term,
}

impl Accesses {
    /// Those of an ordinary instruction, which may race.
    pub fn plain(targets: ObjectSet, is_atomic: bool) -> Accesses {
        Accesses {
            reads: Vec::new(),
            writes: Vec::new(),
            targets,
            is_plain: true,
            is_atomic,
            is_compound: false,
            object: None,
            role: Role::Other,
            is_unchanged: Term::FALSE,
        }
    }

    /// Those of an operation on a lock or another synchronisation object, which does not race.
    pub fn synchronising(targets: ObjectSet) -> Accesses {
        Accesses { is_plain: false, ..Accesses::plain(targets, true) }
    }
}

/// Stands for the first word of a synchronisation object that has not been initialised.
pub(crate) const UNDEFINED: u128 = 0xa5de_f1ed;

impl Execution<'_> {
    /// What a private instance holds where this thread has not written (while a function is being summarised: not since
    /// it was called).
    pub(crate) fn unwritten(
        &mut self,
        terms: &mut Terms,
        id: InstanceId,
        offset: u64,
        bytes: u32,
    ) -> Result<Term, Refused> {
        if let Some(value) = self.borrowed(terms, id, offset, bytes) {
            return Ok(value);
        }
        let initial = self.layout.get(id).initial;
        self.layout.initial_bytes(terms, initial, offset, bytes)
    }

    /// What an access may reach, and the state in which it is valid.
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
        let targets = self.facts.points_to.points_to(frame.func, pointer).into_owned();
        self.reach_any(state, targets, address, bytes, writes)
    }

    /// What an access at an address in one of these objects may reach, and the state in which it is valid.
    pub(crate) fn reach_any(
        &mut self,
        state: State,
        targets: ObjectSet,
        address: Term,
        bytes: u64,
        writes: bool,
    ) -> Result<Option<(State, Reached)>, Refused> {
        if let Some(known) = self.terms.as_bits(address) {
            return self.reach_known(state, address, known as u64, bytes, writes);
        }
        if targets.is_empty() {
            self.skeleton.doubts.push((state.path, "a pointer is used that may be anything".to_string()));
        }
        let mut private = Vec::new();
        let mut shared = false;
        let mut elsewhere = Vec::new();
        for object in targets.iter() {
            if self.facts.shared.of(object) == Sharing::Shared {
                shared = true;
                continue;
            }
            if !self.is_settled(self.facts.points_to.objects()[object]) {
                self.needs(address)?;
            }
            for id in self.layout.of(object).to_vec() {
                if self.is_slot(id) && self.is_borrowed(id) {
                    continue;
                }
                self.borrow(id);
                let inside = self.layout.is_inside(&mut self.terms, id, address, bytes, writes);
                let lives = self.lives(&state, id);
                let good = self.terms.and2(inside, lives);
                if self.terms.as_bool(good) != Some(false) {
                    elsewhere.push(self.terms.not(good));
                    private.push((good, id));
                }
            }
        }
        if shared {
            // Accesses to private objects are valid; composition decides about the rest.
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
        let found = self.layout.at(known).filter(|id| {
            let instance = self.layout.get(*id);
            let offset = known.wrapping_sub(instance.base);
            let fits = offset.checked_add(bytes).is_some_and(|end| end <= instance.size);
            fits && !instance.is_function && !(writes && instance.is_constant)
        });
        let Some(id) = found else {
            self.violate(ViolationKind::InvalidPointer, state.path);
            return Ok(None);
        };
        if self.layout.get(id).extent.is_some() {
            let inside = self.layout.is_inside(&mut self.terms, id, address, bytes, writes);
            let outside = self.terms.not(inside);
            let bad = self.terms.and2(state.path, outside);
            self.violate(ViolationKind::OutOfBounds, bad);
            match self.restrict(state, inside) {
                Some(restricted) => state = restricted,
                None => return Ok(None),
            }
        }
        let instance = self.layout.get(id);
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
        if !is_heap && self.is_on_own_stack(id) {
            // The thread itself ends its lifetimes, and begins them.
            let lives = self.lives(&state, id);
            let dies = self.terms.not(lives);
            let bad = self.terms.and2(state.path, dies);
            self.violate(ViolationKind::UseAfterScope, bad);
            match self.restrict(state, lives) {
                Some(restricted) => state = restricted,
                None => return Ok(None),
            }
        } else if is_heap || !self.is_surely_alive(id) {
            let valid = self.check(&state, state.path, address, bytes, writes, targets.clone());
            match self.restrict(state, valid) {
                Some(restricted) => state = restricted,
                None => return Ok(None),
            }
        }
        Ok(Some((state, Reached { private: Vec::new(), shared: Some(always), targets })))
    }

    /// A pointer was moved: it must stay near the object that it was in.
    pub(crate) fn check_move(
        &mut self,
        frame: &Frame,
        state: State,
        (pointer, from): (&Expr, Term),
        to: Term,
    ) -> Result<Option<State>, Refused> {
        let mut instances = Vec::new();
        match self.terms.as_bits(from) {
            Some(known) => instances.extend(self.layout.nearest(known as u64)),
            None => {
                let targets = self.facts.points_to.points_to(frame.func, pointer).into_owned();
                for object in targets.iter() {
                    if !self.is_settled(self.facts.points_to.objects()[object]) {
                        self.needs(from)?;
                    }
                    instances.extend(self.layout.of(object));
                }
            }
        }
        let is_known = self.terms.as_bits(from).is_some();
        let mut stays = Vec::new();
        for id in instances {
            let (base, size) = (self.layout.get(id).base, self.layout.get(id).size);
            if self.layout.get(id).is_function {
                continue;
            }
            let was_inside = if is_known {
                Term::TRUE
            } else {
                self.layout.is_between(&mut self.terms, from, base, 0..=size as i64)
            };
            let near = near_offsets(size, offset_bits(self.program.model));
            let is_near = self.layout.is_between(&mut self.terms, to, base, near);
            let was_elsewhere = self.terms.not(was_inside);
            stays.push(self.terms.or2(was_elsewhere, is_near));
        }
        let stays = self.terms.and(&stays);
        let away = self.terms.not(stays);
        let bad = self.terms.and2(state.path, away);
        self.violate(ViolationKind::IndexOutOfBounds, bad);
        Ok(self.restrict(state, stays))
    }

    pub(crate) fn is_slot(&self, id: InstanceId) -> bool {
        matches!(self.facts.points_to.objects()[self.layout.get(id).object], AbstractObject::Slot(..))
    }

    /// Whether an instance is a stack object of an activation of the thread at hand.
    fn is_on_own_stack(&self, id: InstanceId) -> bool {
        self.active.iter().any(|active| active.slots.contains(&id))
    }

    /// The condition that the lifetime of an object of the thread at hand has not ended.
    fn lives(&mut self, state: &State, id: InstanceId) -> Term {
        match state.memory.dead.get(&id) {
            Some(&dead) => self.terms.not(dead),
            None => self.terms.bool(true),
        }
    }

    /// A variable that says whether an access is valid; composition defines it.
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
        let next = self.skeleton.nodes.next_id();
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
            let here = self.read_cell(state, id, at, bytes)?;
            value = Some(match value {
                None => here,
                Some(other) => self.terms.ite(condition, here, other),
            });
        }
        Ok(value.unwrap_or_else(|| self.terms.bits(bytes * 8, 0)))
    }

    pub(crate) fn read_cell(
        &mut self,
        state: &mut State,
        id: InstanceId,
        offset: u64,
        bytes: u32,
    ) -> Result<Term, Refused> {
        let cells = state.memory.objects.entry(id).or_default().clone();
        let (initial, is_borrowed) = (self.layout.get(id).initial, self.is_borrowed(id));
        let mut terms = std::mem::take(&mut self.terms);
        let mut was_undefined = false;
        let undefined_word = self.undefined_word.filter(|_| bytes == 4 && initial == Initial::Undefined);
        let value = cells.read(&mut terms, offset, bytes, &mut |terms, offset, bytes| {
            if let Some(word) = undefined_word.filter(|_| bytes == 4) {
                return Ok(word);
            }
            was_undefined |= initial == Initial::Undefined && !is_borrowed;
            self.unwritten(terms, id, offset, bytes)
        });
        if let (Ok(value), true) = (&value, was_undefined) {
            // An undefined value stays the same.
            let cells = state.memory.objects.entry(id).or_default();
            Rc::make_mut(cells).write(&mut terms, offset, bytes, *value);
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
                    let old = self.read_cell(state, id, at, bytes)?;
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
        let region = self.layout.get(id).region();
        let offset = region.offset_of(&mut self.terms, address);
        if self.terms.as_bits(offset).is_none() {
            self.steer(offset)?;
        }
        let places = region.places(&mut self.terms, offset, bytes);
        places.map_err(|TooManyPlaces| Refused::new("a large array is accessed at an unknown index"))
    }

    // --- shared memory

    /// A read of shared memory: a fresh value, or what the atomic section has written itself.
    pub(crate) fn shared_read(&mut self, state: &State, address: Term, bytes: u32, condition: Term) -> (Term, Unit) {
        let fresh = self.terms.variable(Sort::Bits(bytes * 8), "read");
        let mut value = fresh;
        let mut own = Vec::new();
        for write in &state.section_writes {
            // The two may overlap in several ways; sizes that are powers of 2 are aligned.
            let (length, written) = (i64::from(bytes), i64::from(write.bytes));
            let step = if bytes.is_power_of_two() && write.bytes.is_power_of_two() { length.min(written) } else { 1 };
            let first = (1 - written).div_euclid(step) * step;
            for shift in (first..length).step_by(step as usize).filter(|shift| shift + written > 0) {
                let from = self.terms.bits(self.terms.width(address), shift as u128);
                let from = self.terms.add(address, from);
                let same = self.terms.eq(write.address, from);
                let mine = self.terms.and2(same, write.condition);
                if self.terms.as_bool(mine) == Some(false) {
                    continue;
                }
                let new = self.with_bytes(value, write, shift);
                value = self.terms.ite(mine, new, value);
                if shift <= 0 && shift + written >= length {
                    own.push(mine);
                }
            }
        }
        let any_own = self.terms.or(&own);
        let foreign = self.terms.not(any_own);
        let condition = self.terms.and2(condition, foreign);
        (value, Unit { condition, address, value: fresh, bytes })
    }

    /// A value with the bytes of a write in their places: the write begins `shift` bytes after the value.
    fn with_bytes(&mut self, value: Term, write: &Unit, shift: i64) -> Term {
        let bytes = i64::from(self.terms.width(value) / 8);
        let (begin, end) = (shift.max(0), (shift + i64::from(write.bytes)).min(bytes));
        let mut pieces = Vec::new();
        if begin > 0 {
            pieces.push(self.terms.extract(value, 0, begin as u32 * 8));
        }
        pieces.push(self.terms.extract(write.value, (begin - shift) as u32 * 8, (end - begin) as u32 * 8));
        if end < bytes {
            pieces.push(self.terms.extract(value, end as u32 * 8, (bytes - end) as u32 * 8));
        }
        let mut pieces = pieces.into_iter();
        let lowest = pieces.next().unwrap_or(value);
        pieces.fold(lowest, |low, high| self.terms.concat(high, low))
    }

    /// Adds an event at `node`, or at a new node, which it returns; none if there is nothing to access. `shared` is the
    /// condition under which it is about shared memory at all: elsewhere it is no step that another thread could see.
    pub(crate) fn add_event(
        &mut self,
        state: &mut State,
        node: Option<NodeId>,
        accesses: Accesses,
        shared: Term,
    ) -> Option<NodeId> {
        if accesses.reads.is_empty() && accesses.writes.is_empty() && accesses.object.is_none() {
            return None;
        }
        let at = match node {
            Some(node) => node,
            None => self.next_node(state),
        };
        if node.is_none() {
            let path = self.terms.and2(state.path, shared);
            self.step(at, path);
        }
        let changed = self.terms.not(accesses.is_unchanged);
        let event = self.event_at(state, at, accesses);
        for write in event.writes.iter().filter(|_| event.is_plain) {
            let condition = self.terms.and(&[state.path, write.condition, changed]);
            state.side_effects.push(SideEffect::Effect, condition);
        }
        if state.section.is_some() {
            let path = state.path;
            for write in &event.writes {
                let condition = self.terms.and2(path, write.condition);
                state.section_writes.push(Unit { condition, ..*write });
            }
        }
        self.skeleton.events.push(event);
        Some(at)
    }

    /// The event of accesses that the instruction at hand makes at a node.
    pub(crate) fn event_at(&self, state: &State, node: NodeId, accesses: Accesses) -> Event {
        let Accesses { reads, writes, targets, is_plain, is_atomic, object, is_compound, role, is_unchanged: _ } =
            accesses;
        let (place, span) = self.here;
        Event {
            node,
            thread: self.thread,
            place,
            span,
            occurs: state.path,
            reads,
            writes,
            known_reads: Vec::new(),
            targets,
            is_plain,
            object,
            is_atomic: is_atomic || state.section.is_some(),
            in_section: state.section.is_some(),
            is_compound,
            role,
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
        let accesses = Accesses::plain(reached.targets.clone(), from.order != Order::NotAtomic);
        let value = self.read_reached(&mut state, reached, address, bytes as u32, accesses)?;
        let width = self.width(from.ty);
        Ok(Some((state, self.fit(value, width))))
    }

    /// Reads what was reached: shared memory with an event of these accesses, at the node at hand if there is one.
    pub(crate) fn read_reached(
        &mut self,
        state: &mut State,
        reached: Reached,
        address: Term,
        bytes: u32,
        mut accesses: Accesses,
    ) -> Result<Term, Refused> {
        let mut value = None;
        if let Some(condition) = reached.shared {
            let (read, unit) = self.shared_read(state, address, bytes, condition);
            accesses.reads.push(unit);
            self.add_event(state, self.current, accesses, condition);
            value = Some(read);
        }
        for (condition, id) in reached.private.into_iter().rev() {
            let here = self.private_read(state, id, address, bytes)?;
            value = Some(match value {
                None => here,
                Some(other) => self.terms.ite(condition, here, other),
            });
        }
        Ok(value.unwrap_or_else(|| self.terms.bits(bytes * 8, 0)))
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
            let mut accesses = Accesses::plain(reached.targets.clone(), to.order != Order::NotAtomic);
            accesses.writes.push(Unit { condition, address, value, bytes });
            self.add_event(&mut state, node, accesses, condition);
        }
        for (condition, id) in reached.private {
            self.private_write(&mut state, id, condition, address, bytes, value)?;
        }
        Ok(Some(state))
    }

    /// A read-modify-write or compare-exchange: reads and writes in one step. Gives the old value.
    pub(crate) fn update(
        &mut self,
        frame: &Frame,
        mut state: State,
        at: &Access,
        update: Update,
    ) -> Result<Option<(State, Term)>, Refused> {
        let address = self.evaluate(frame, &mut state, &at.ptr)?;
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
            let write = update.apply(&mut self.terms, value);
            let new = self.fit(write.value, bytes * 8);
            let written = self.terms.and2(condition, write.condition);
            let mut accesses = Accesses::plain(reached.targets.clone(), true);
            accesses.reads.push(unit);
            accesses.writes.push(Unit { condition: written, address, value: new, bytes });
            accesses.is_unchanged = self.terms.eq(new, read);
            self.add_event(&mut state, None, accesses, condition);
            old = Some(value);
        }
        for (condition, id) in reached.private.into_iter().rev() {
            let read = self.private_read(&mut state, id, address, bytes)?;
            let value = self.fit(read, width);
            let write = update.apply(&mut self.terms, value);
            let new = self.fit(write.value, bytes * 8);
            let written = self.terms.and2(condition, write.condition);
            self.private_write(&mut state, id, written, address, bytes, new)?;
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
                let what = BoundSite::Allocation(place);
                let most = u128::from(self.bounds.of_allocation(what));
                let limit = self.terms.bits(word, most);
                let is_small = self.terms.ule(size, limit);
                let is_large = self.terms.not(is_small);
                let beyond = self.terms.and2(state.path, is_large);
                self.cut(beyond, what);
                let Some(small) = self.restrict(state, is_small) else { return Ok(None) };
                state = small;
                // A variable of its own: reads in the size may be replaced by their values later.
                let extent = self.terms.variable(Sort::Bits(word), "size");
                let is_size = self.terms.eq(extent, size);
                self.skeleton.constraints.push(is_size);
                (most, Some(extent))
            }
        };
        let initial = if zeroed { Initial::Zero } else { Initial::Undefined };
        let what = AbstractObject::Site(place);
        if self.recording.is_some() {
            let address = self.allocate_later(what, size as u64, initial, storage, state.path)?;
            state.set_local(dst, address);
            return Ok(Some(state));
        }
        let id = self.layout.add(what, size as u64, initial, storage == Storage::Heap, false)?;
        self.layout.get_mut(id).extent = extent;
        if storage == Storage::Heap {
            self.watch_allocation(&mut state, id);
        }
        if storage == Storage::Stack {
            frame.slots.push(id);
        }
        let base = self.layout.get(id).base;
        let address = self.pointer(base);
        state.set_local(dst, address);
        Ok(Some(state))
    }

    pub(crate) fn free(&mut self, frame: &Frame, mut state: State, pointer: &Expr) -> Result<Option<State>, Refused> {
        let address = self.evaluate(frame, &mut state, pointer)?;
        self.affect(&mut state);
        let targets = match self.instance_at(address) {
            Some(id) => [self.layout.get(id).object].into_iter().collect(),
            None => self.facts.points_to.points_to(frame.func, pointer).into_owned(),
        };
        let null = self.pointer(0);
        let mut good = vec![self.terms.eq(address, null)];
        let mut freed_here = Vec::new();
        for object in targets.iter() {
            if self.facts.shared.of(object) == Sharing::Shared {
                continue;
            }
            self.cannot_be_summarized("a function frees private memory")?;
            for id in self.layout.of(object).to_vec() {
                let (base, is_heap) = (self.layout.get(id).base, self.layout.get(id).is_heap);
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
        if targets.iter().any(|object| self.facts.shared.of(object) == Sharing::Shared) {
            let node = self.next_node(&mut state);
            let valid = self.terms.variable(Sort::Bool, "freed well");
            let elsewhere = self.terms.not(good);
            let path = self.terms.and2(state.path, elsewhere);
            self.skeleton.frees.push(Free { valid, node, path, address, targets });
            good = self.terms.or2(good, valid);
            let done = self.terms.and2(state.path, good);
            self.step(node, done);
            self.watch_releases(&state, node, &freed_here);
        } else if watches_ends(self.question.properties) {
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
}
