//! Calls of library functions that are known, but not part of the program (see [`leno_symbolic::library_calls`]).
//!
//! A call is one step, as in the interpreter: all that it reads and writes of shared memory are events at one node. A
//! text is read byte by byte, each byte on the condition that those before it are not zero. What cannot be followed is
//! a doubt, or is refused, with the name of the function.

use crate::skeleton::layout::InstanceId;
use crate::skeleton::{AskedSize, Unit};
use crate::summarize::access::Accesses;
use crate::summarize::state::State;
use crate::summarize::{Execution, Frame, Refused};
use leno_ir::analysis::points_to::{AbstractObject, ObjectSet};
use leno_ir::analysis::sharing::Sharing;
use leno_ir::interp::ViolationKind;
use leno_ir::library_memory::holds_arguments;
use leno_ir::program::{DataModel, Expr, FuncId, LocalId, ObjectKind};
use leno_logic::term::{Sort, Term, Terms};
use leno_symbolic::contents::Initial;
use leno_symbolic::library_calls::{Limits, Overwritten, Read, ReadLength, Surroundings, call, standard_name};

/// The most bytes that a function may access in one piece.
const MOST_BYTES: u64 = 1 << 16;

/// The most bytes of a text that are followed, where it is not known how long it can be.
const MOST_LETTERS: u64 = 64;

/// What a function sees when it is called in a state.
struct Here<'a, 'p> {
    execution: &'a mut Execution<'p>,
    state: &'a mut State,
}

impl Surroundings for Here<'_, '_> {
    fn terms(&mut self) -> &mut Terms {
        &mut self.execution.terms
    }

    fn model(&self) -> DataModel {
        self.execution.program.model
    }

    fn constant_text(&mut self, address: Term) -> Option<Vec<u8>> {
        self.execution.constant_text(address)
    }

    fn room(&mut self, address: u64) -> Option<u64> {
        self.execution.room(address)
    }

    fn word_at(&mut self, address: u64) -> Option<Term> {
        let (id, offset) = self.execution.private_place(self.state, address)?;
        let bytes = self.execution.program.model.pointer_bytes() as u32;
        self.execution.read_cell(self.state, id, offset, bytes).ok()
    }

    fn is_stream(&self, address: u64) -> bool {
        self.execution.layout.is_stream(address)
    }
}

impl Execution<'_> {
    /// A call of a known function: the state after it, and its result. None if it is never valid.
    pub(crate) fn call_known(
        &mut self,
        frame: &Frame,
        func: FuncId,
        mut state: State,
        args: &[Expr],
        values: &[Option<Term>],
    ) -> Result<Option<(State, Option<Term>)>, Refused> {
        let function = &self.program.functions[func];
        let name = standard_name(function);
        let mut here = Here { execution: self, state: &mut state };
        let effect = call(&mut here, function, values)
            .ok_or_else(|| Refused::new(format!("`{}` is called, whose effects are not encoded", function.name)))?;
        let (memory, race) = (self.question.properties.memory, self.question.properties.race);
        if effect.may_overrun && memory {
            self.skeleton.gap(format!("`{name}` may write more than there is room for"));
        }
        if effect.reads_more && (memory || race) {
            self.doubt(state.path, name);
        }
        if effect.lacks_arguments {
            self.violate(ViolationKind::OutOfBounds, state.path);
            return Ok(None);
        }
        self.skeleton.constraints.extend(effect.constraints);
        self.skeleton.no_input.extend(effect.plain);
        let reads: Vec<Read> = if memory || race { effect.reads } else { Vec::new() };
        let targets = |this: &Self, parameter: u32| this.pointed_to(frame, name, args, parameter);
        let addresses = reads.iter().map(|read| (read.address, read.parameter));
        let addresses = addresses.chain(effect.writes.iter().map(|write| (write.address, write.parameter)));
        let is_shared = addresses.into_iter().any(|(address, parameter)| match self.instance_at(address) {
            Some(id) => self.layout.get(id).sharing == Sharing::Shared,
            None => targets(self, parameter).iter().any(|object| self.facts.shared.of(object) == Sharing::Shared),
        });
        if is_shared {
            let node = self.next_node(&mut state);
            self.step(node, state.path);
            self.current = Some(node);
        }
        let done = self.access_all(state, reads, effect.writes, name, &|this, parameter| targets(this, parameter));
        self.current = None;
        Ok(done?.map(|state| (state, effect.result)))
    }

    fn access_all(
        &mut self,
        mut state: State,
        reads: Vec<Read>,
        writes: Vec<Overwritten>,
        name: &str,
        targets: &dyn Fn(&Self, u32) -> ObjectSet,
    ) -> Result<Option<State>, Refused> {
        // The bytes of texts that are read, with the conditions under which they are.
        let mut letters = Vec::new();
        for read in reads {
            let targets = targets(self, read.parameter);
            let next = match read.length {
                ReadLength::Bytes(bytes) => self.read_bytes(state, read.address, bytes, targets, name)?,
                ReadLength::Text { most } => self.read_text(state, read.address, most, targets, name, &mut letters)?,
            };
            let Some(next) = next else { return Ok(None) };
            state = next;
        }
        for write in writes {
            let targets = targets(self, write.parameter);
            if write.is_printed {
                let Some(next) = self.stay_apart(state, write, &letters, name) else { return Ok(None) };
                state = next;
            }
            let Some(next) = self.overwrite(state, write, targets, name)? else { return Ok(None) };
            state = next;
        }
        Ok(Some(state))
    }

    /// A text must not be printed to where some of it comes from (C11 7.21.6.5p2). Its first byte is written in any case. How
    /// far it goes is not known here, so that bytes that are read behind the first one leave a doubt.
    fn stay_apart(&mut self, state: State, write: Overwritten, letters: &[(Term, Term)], name: &str) -> Option<State> {
        let width = self.terms.width(write.address);
        let size = self.terms.bits(width, write.bytes.into());
        let mut overlaps = vec![Term::FALSE];
        for &(place, read) in letters.iter().filter(|_| write.bytes > 0) {
            let is_first = self.terms.eq(place, write.address);
            overlaps.push(self.terms.and2(read, is_first));
            let distance = self.terms.sub(place, write.address);
            let is_behind = self.terms.ult(distance, size);
            let is_other = self.terms.not(is_first);
            let may_be = self.terms.and(&[state.path, read, is_behind, is_other]);
            if self.terms.as_bool(may_be) != Some(false) {
                self.skeleton.doubts.push((may_be, format!("the source and the target of `{name}` may overlap")));
            }
        }
        let overlaps = self.terms.or(&overlaps);
        let goes_wrong = self.terms.and2(state.path, overlaps);
        self.violate_at(ViolationKind::OverlappingCopy, goes_wrong, self.current);
        let is_apart = self.terms.not(overlaps);
        self.restrict(state, is_apart)
    }

    /// What a function accesses here is not followed.
    fn doubt(&mut self, path: Term, name: &str) {
        self.skeleton.doubts.push((path, format!("what `{name}` reads is not checked")));
    }

    /// The objects that a parameter may point to, or the variable arguments behind it.
    fn pointed_to(&self, frame: &Frame, name: &str, args: &[Expr], parameter: u32) -> ObjectSet {
        let Some(arg) = args.get(parameter as usize) else { return ObjectSet::default() };
        let direct = self.facts.points_to.points_to(frame.func, arg);
        if holds_arguments(name, parameter) { self.facts.points_to.reachable(&direct) } else { direct.into_owned() }
    }

    /// The accesses of a library function: each is an event of its own, since it may race by itself.
    fn compound(targets: ObjectSet) -> Accesses {
        Accesses { is_compound: true, ..Accesses::plain(targets, false) }
    }

    /// Reads so many bytes.
    fn read_bytes(
        &mut self,
        state: State,
        address: Term,
        bytes: u64,
        targets: ObjectSet,
        name: &str,
    ) -> Result<Option<State>, Refused> {
        if bytes == 0 {
            return Ok(Some(state));
        }
        let Some((mut state, reached)) = self.reach_any(state, targets, address, bytes, false)? else {
            return Ok(None);
        };
        let Some(condition) = reached.shared else { return Ok(Some(state)) };
        if bytes > MOST_BYTES {
            self.doubt(state.path, name);
            return Ok(Some(state));
        }
        for (address, bytes) in self.pieces(address, bytes) {
            let (_, unit) = self.shared_read(&state, address, bytes, condition);
            let mut accesses = Self::compound(reached.targets.clone());
            accesses.reads.push(unit);
            self.add_event(&mut state, self.current, accesses, condition);
        }
        Ok(Some(state))
    }

    /// Reads a text: up to a zero, or `most` bytes. Adds them to `letters`.
    fn read_text(
        &mut self,
        state: State,
        address: Term,
        most: Option<u64>,
        targets: ObjectSet,
        name: &str,
        letters: &mut Vec<(Term, Term)>,
    ) -> Result<Option<State>, Refused> {
        if self.constant_text(address).is_some() {
            return Ok(Some(state));
        }
        let known = self.terms.as_bits(address).map(|address| address as u64);
        let room = known.and_then(|known| self.room(known));
        let limit = room.unwrap_or(MOST_LETTERS).min(MOST_BYTES).min(most.unwrap_or(u64::MAX));
        let mut ends = Vec::new();
        let mut last = state.clone();
        let mut rest = Some(state);
        for at in 0..limit {
            let Some(here) = rest.take() else { break };
            let shift = self.terms.bits(self.terms.width(address), at.into());
            let place = self.terms.add(address, shift);
            let Some((mut here, reached)) = self.reach_any(here, targets.clone(), place, 1, false)? else { break };
            letters.push((place, here.path));
            let accesses = Self::compound(reached.targets.clone());
            let byte = self.read_reached(&mut here, reached, place, 1, accesses)?;
            let zero = self.terms.bits(8, 0);
            let is_end = self.terms.eq(byte, zero);
            ends.push(self.terms.and2(here.path, is_end));
            let goes_on = self.terms.not(is_end);
            last = here.clone();
            rest = self.restrict(here, goes_on);
        }
        if let Some(rest) = rest {
            if most == Some(limit) {
                ends.push(rest.path);
            } else if room == Some(limit) {
                self.violate_at(ViolationKind::OutOfBounds, rest.path, self.current);
            } else {
                self.doubt(rest.path, name);
                ends.push(rest.path);
            }
        }
        let path = self.terms.or(&ends);
        last.path = self.assigned(path);
        Ok((self.terms.as_bool(last.path) != Some(false)).then_some(last))
    }

    /// An access in pieces of at most eight bytes, aligned where the address is known.
    fn pieces(&mut self, address: Term, bytes: u64) -> Vec<(Term, u32)> {
        let known = self.terms.as_bits(address).map_or(0, |address| address as u64);
        let (width, mut at, mut pieces) = (self.terms.width(address), 0, Vec::new());
        while at < bytes {
            let aligned = 1u64 << (known.wrapping_add(at) | 8).trailing_zeros().min(3);
            let mut piece = aligned;
            while piece > bytes - at {
                piece /= 2;
            }
            let shift = self.terms.bits(width, at.into());
            pieces.push((self.terms.add(address, shift), piece as u32));
            at += piece;
        }
        pieces
    }

    /// Writes unconstrained bytes to an address, where the condition holds.
    fn overwrite(
        &mut self,
        state: State,
        write: Overwritten,
        targets: ObjectSet,
        name: &str,
    ) -> Result<Option<State>, Refused> {
        let Overwritten { address, bytes, condition, is_text, limits, value: known, .. } = write;
        if bytes > MOST_BYTES {
            return Err(Refused::new(format!("`{name}` writes {bytes} bytes")));
        }
        let otherwise = self.terms.not(condition);
        let skipped = self.terms.and2(state.path, otherwise);
        let Some(writing) = self.restrict(state.clone(), condition).filter(|_| bytes > 0) else {
            return Ok(Some(state));
        };
        let Some((mut state, reached)) = self.reach_any(writing, targets, address, bytes, true)? else {
            return Ok(self.restrict(state, otherwise));
        };
        let mut ends = vec![otherwise];
        let mut at = 0;
        for (address, bytes) in self.pieces(address, bytes) {
            let value = match known.filter(|known| self.terms.width(*known) == bytes * 8) {
                Some(known) => known,
                None => self.terms.variable(Sort::Bits(bytes * 8), "from outside"),
            };
            if let Some(limits) = limits {
                self.limit_numbers(value, at, bytes, limits);
            }
            at += bytes;
            for byte in 0..bytes {
                let (letter, zero) = (self.terms.extract(value, byte * 8, 8), self.terms.bits(8, 0));
                ends.push(self.terms.eq(letter, zero));
            }
            for &(here, id) in &reached.private {
                let here = self.terms.and2(condition, here);
                self.private_write(&mut state, id, here, address, bytes, value)?;
            }
            if let Some(shared) = reached.shared {
                let mut accesses = Self::compound(reached.targets.clone());
                accesses.writes.push(Unit { condition: shared, address, value, bytes });
                self.add_event(&mut state, self.current, accesses, shared);
            }
        }
        if is_text {
            let is_ended = self.terms.or(&ends);
            self.skeleton.constraints.push(is_ended);
        }
        let path = self.terms.or2(state.path, skipped);
        state.path = self.assigned(path);
        Ok(Some(state))
    }

    /// What is written at this offset of a row of numbers is less than its limits, as far as whole numbers are written at once.
    fn limit_numbers(&mut self, value: Term, at: u32, bytes: u32, limits: Limits) {
        for (start, limit) in (0..).step_by(limits.bytes as usize).zip(limits.below) {
            let is_inside = at <= start && start + limits.bytes <= at + bytes;
            if is_inside && u128::from(*limit) < 1 << (8 * limits.bytes) {
                let part = self.terms.extract(value, (start - at) * 8, limits.bytes * 8);
                let limit = self.terms.bits(limits.bytes * 8, (*limit).into());
                let is_below = self.terms.ult(part, limit);
                self.skeleton.constraints.push(is_below);
            }
        }
    }

    /// The private object that lives at an address for certain, and the offset.
    fn private_place(&mut self, state: &State, address: u64) -> Option<(InstanceId, u64)> {
        let id = self.layout.at(address)?;
        let instance = self.layout.get(id);
        let is_private = instance.sharing != Sharing::Shared && !instance.is_function && instance.extent.is_none();
        let offset = address.checked_sub(instance.base)?;
        if !is_private || state.memory.dead.contains_key(&id) || offset >= instance.size {
            return None;
        }
        self.borrow(id);
        Some((id, offset))
    }

    /// The bytes from an address to the end of its object, if that has one size.
    fn room(&self, address: u64) -> Option<u64> {
        let instance = self.layout.get(self.layout.at(address)?);
        let offset = address.checked_sub(instance.base)?;
        instance.size.checked_sub(offset).filter(|_| !instance.is_function && instance.extent.is_none())
    }

    /// The size of the object that an address is in; 0 for null.
    pub(crate) fn object_size(
        &mut self,
        frame: &Frame,
        mut state: State,
        dst: LocalId,
        pointer: &Expr,
    ) -> Result<Option<State>, Refused> {
        self.cannot_be_summarized("a function asks for the size of an object")?;
        let address = self.evaluate(frame, &mut state, pointer)?;
        let word = u32::from(self.program.model.pointer_bits());
        let instances = match self.instance_at(address) {
            Some(id) => vec![id],
            None => {
                let targets = self.facts.points_to.points_to(frame.func, pointer).into_owned();
                targets.iter().flat_map(|object| self.layout.of(object).to_vec()).collect()
            }
        };
        let null = self.pointer(0);
        let is_null = self.terms.eq(address, null);
        let otherwise = self.terms.not(is_null);
        let Some(there) = self.restrict(state.clone(), otherwise) else {
            let none = self.terms.bits(word, 0);
            state.set_local(dst, none);
            return Ok(Some(state));
        };
        let Some((there, _)) = self.reach(frame, there, pointer, address, 0, false)? else {
            return Ok(self.restrict(state, is_null));
        };
        let unknown = self.terms.variable(Sort::Bits(word), "size");
        let mut size = unknown;
        let mut elsewhere = vec![there.path];
        for &id in &instances {
            let is_here = self.layout.is_inside(&mut self.terms, id, address, 0, false);
            let instance = self.layout.get(id);
            let here = match instance.extent {
                Some(extent) => extent,
                None => self.terms.bits(word, instance.size.into()),
            };
            size = self.terms.ite(is_here, here, size);
            elsewhere.push(self.terms.not(is_here));
        }
        let elsewhere = self.terms.and(&elsewhere);
        if self.terms.as_bool(elsewhere) != Some(false) {
            let targets = self.facts.points_to.points_to(frame.func, pointer).into_owned();
            self.skeleton.sizes.push(AskedSize { value: unknown, path: elsewhere, address, targets, known: instances });
        }
        let none = self.terms.bits(word, 0);
        size = self.terms.ite(is_null, none, size);
        let nothing = self.terms.and2(state.path, is_null);
        let path = self.terms.or2(there.path, nothing);
        state.path = self.assigned(path);
        state.set_local(dst, size);
        Ok(Some(state))
    }

    /// The constant text at an address.
    fn constant_text(&self, address: Term) -> Option<Vec<u8>> {
        let address = self.terms.as_bits(address)? as u64;
        let instance = self.layout.get(self.layout.at(address)?);
        let Initial::Static(object) = instance.initial else { return None };
        let is_constant = self.program.objects[object].kind == ObjectKind::Constant;
        is_constant.then(|| self.program.objects[object].text(address.checked_sub(instance.base)?)).flatten()
    }

    /// The arguments of `main`, laid out in memory: their number, and where they are.
    pub(crate) fn lay_out_arguments(&mut self) -> Result<(Term, Term), Refused> {
        let word = self.program.model.pointer_bytes() as usize;
        let command = self.program.command_line();
        let mut table = Vec::new();
        for argument in &command {
            let text: Vec<u8> = argument.iter().copied().chain([0]).collect();
            let (size, initial) = (text.len() as u64, self.layout.give(text));
            let id = self.layout.add(AbstractObject::Unknown, size, initial, false, false)?;
            table.extend_from_slice(&self.layout.get(id).base.to_le_bytes()[..word]);
        }
        table.extend(std::iter::repeat_n(0, word));
        let (size, initial) = (table.len() as u64, self.layout.give(table));
        let id = self.layout.add(AbstractObject::Unknown, size, initial, false, false)?;
        let base = self.layout.get(id).base;
        Ok((self.terms.bits(32, command.len() as u128), self.pointer(base)))
    }
}
