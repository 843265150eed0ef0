//! Calls of library functions that are known, but not part of the program (see [`leno_symbolic::library_calls`]).
//!
//! Shared memory is written in one step, as the interpreter does it, if it is a static object; other shared objects are
//! refused.

use crate::skeleton::layout::InstanceId;
use crate::skeleton::{NodeId, Unit};
use crate::summarize::access::Accesses;
use crate::summarize::state::State;
use crate::summarize::{Execution, Refused};
use leno_ir::analysis::points_to::AbstractObject;
use leno_ir::analysis::sharing::Sharing;
use leno_ir::program::{DataModel, FuncId, ObjectKind};
use leno_logic::term::{Sort, Term, Terms};
use leno_symbolic::contents::Initial;
use leno_symbolic::library_calls::{Surroundings, call, reads_texts, standard_name};

/// The most bytes that a function may write.
const MOST_BYTES: u64 = 1 << 16;

/// Constant texts that a pointer is compared with.
const MOST_TEXTS: usize = 200;

/// What a function sees when it is called in a state.
struct Here<'a, 'p> {
    execution: &'a mut Execution<'p>,
    state: &'a mut State,
    name: &'a str,
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
        self.execution.room(self.state, address)
    }

    fn pointer_at(&mut self, address: u64) -> Option<Term> {
        let (id, offset) = self.execution.private_place(self.state, address)?;
        let bytes = self.execution.program.model.pointer_bytes() as u32;
        self.execution.read_cell(self.state, id, offset, bytes).ok()
    }

    fn is_text(&mut self, address: Term) -> bool {
        self.execution.is_text(self.state, address, self.name)
    }

    fn is_stream(&self, address: u64) -> bool {
        self.execution.layout.is_stream(address)
    }
}

impl Execution<'_> {
    /// A call of a known function: the state after it, and its result.
    pub(crate) fn call_known(
        &mut self,
        func: FuncId,
        mut state: State,
        values: &[Option<Term>],
    ) -> Result<(State, Option<Term>), Refused> {
        let function = &self.program.functions[func];
        let name = standard_name(function);
        let checks_memory = self.question.properties.memory;
        let mut here = Here { execution: self, state: &mut state, name };
        let is_good = !checks_memory || reads_texts(&mut here, function, values);
        let effect = call(&mut here, function, values);
        if !is_good {
            self.skeleton.gap(format!("what `{}` reads is not checked", function.name));
        }
        let refused = || Refused::new(format!("`{}` is called, whose effects are not encoded", function.name));
        let effect = effect.ok_or_else(refused)?;
        if effect.may_overrun && checks_memory {
            self.skeleton.gap(format!("`{name}` may write more than there is room for"));
        }
        self.skeleton.constraints.extend(effect.constraints);
        self.skeleton.no_input.extend(effect.plain);
        let mut node = None;
        for write in effect.writes {
            let done = self.overwrite(&mut state, write.address, write.bytes, write.condition, &mut node);
            done.ok_or_else(refused)?;
        }
        Ok((state, effect.result))
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

    /// Writes unconstrained bytes to an address. `node` is the node of the call, if it has one already.
    fn overwrite(
        &mut self,
        state: &mut State,
        address: u64,
        bytes: u64,
        condition: Term,
        node: &mut Option<NodeId>,
    ) -> Option<()> {
        let private = self.private_place(state, address).map(|(id, _)| id);
        let id = private.or_else(|| self.shared_place(address))?;
        let instance = self.layout.get(id);
        let (object, room) = (instance.object, instance.size - (address - instance.base));
        if instance.is_constant || bytes > room || bytes > MOST_BYTES {
            return None;
        }
        let mut accesses = Accesses::plain([object].into_iter().collect(), false);
        for at in (0..bytes).step_by(8) {
            let bytes = (bytes - at).min(8) as u32;
            let value = self.terms.variable(Sort::Bits(bytes * 8), "from outside");
            let address = self.pointer(address + at);
            match private {
                Some(id) => self.private_write(state, id, condition, address, bytes, value).ok()?,
                None => accesses.writes.push(Unit { condition, address, value, bytes }),
            }
        }
        *node = self.add_event(state, *node, accesses, Term::TRUE).or(*node);
        Some(())
    }

    /// The static object at an address, which threads share.
    fn shared_place(&self, address: u64) -> Option<InstanceId> {
        let id = self.layout.at(address)?;
        let instance = self.layout.get(id);
        let is_static = matches!(instance.initial, Initial::Static(_)) && !instance.is_heap && instance.owner.is_none();
        (is_static && !instance.is_function && address < instance.base + instance.size).then_some(id)
    }

    /// The bytes from an address to the end of its object.
    fn room(&mut self, state: &State, address: u64) -> Option<u64> {
        let id = self.private_place(state, address).map(|(id, _)| id).or_else(|| self.shared_place(address))?;
        let instance = self.layout.get(id);
        Some(instance.size - (address - instance.base))
    }

    /// Whether bytes up to a zero can be read at an address. At a symbolic address, a doubt is noted that it is none of
    /// the constant texts.
    fn is_text(&mut self, state: &mut State, address: Term, name: &str) -> bool {
        if let Some(known) = self.terms.as_bits(address) {
            let Some((id, offset)) = self.private_place(state, known as u64) else { return false };
            let size = self.layout.get(id).size;
            return (offset..size.min(offset + MOST_BYTES)).any(|at| {
                let byte = self.read_cell(state, id, at, 1);
                byte.is_ok_and(|byte| self.terms.as_bits(byte) == Some(0))
            });
        }
        let constants = self.program.objects.iter_enumerated().filter(|(_, data)| data.kind == ObjectKind::Constant);
        let mut others = vec![state.path];
        for (object, _) in constants.take(MOST_TEXTS) {
            let Ok(base) = self.static_address(object) else { return false };
            let base = self.pointer(base);
            if self.constant_text(base).is_some() {
                let same = self.terms.eq(address, base);
                others.push(self.terms.not(same));
            }
        }
        let doubtful = self.terms.and(&others);
        self.skeleton.doubts.push((doubtful, format!("what `{name}` reads is not checked")));
        true
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
