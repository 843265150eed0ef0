//! Calls and returns. A function is executed where it is called; of external functions, what is known of them.

use crate::objects::{Initial, InstanceId};
use crate::skeleton::{Bounded, Death};
use crate::state::State;
use crate::summarize::{Activation, Frame, Refused, Summarizer};
use leno_ir::interp::ViolationKind;
use leno_ir::points_to::AbstractObject;
use leno_ir::program::{BlockId, Body, Callee, Expr, FuncId, Type};
use leno_ir::sharing::Sharing;
use leno_logic::term::Term;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Calls within calls.
const MOST_ACTIVATIONS: usize = 1_000;

impl Summarizer<'_> {
    /// Executes a function. None if it never returns.
    pub(crate) fn call(
        &mut self,
        func: FuncId,
        args: Vec<Option<Term>>,
        mut state: State,
    ) -> Result<Option<(State, Option<Term>)>, Refused> {
        let recursion = self.active.iter().filter(|active| active.func == func && active.path != state.path).count();
        if recursion as u32 > self.bounds.of(Bounded::Recursion(func)) || self.active.len() > MOST_ACTIVATIONS {
            self.cut(state.path, Bounded::Recursion(func));
            return Ok(None);
        }
        let shape = self.shape(func)?;
        let function = &self.program.functions[func];
        let mut locals = vec![None; function.locals.len() + 1];
        for (index, local) in function.locals.iter().take(function.params as usize).enumerate() {
            let width = self.width(local.ty);
            locals[index] = args.get(index).copied().flatten().map(|value| self.fit(value, width));
        }
        let saved = std::mem::replace(&mut state.locals, Rc::new(locals));
        let mut slots = Vec::new();
        for slot in function.slots.ids() {
            let size = function.slots[slot].size;
            let what = AbstractObject::Slot(func, slot);
            let id = self.add_instance(what, size, Initial::Undefined, false, false)?;
            self.instances.get_mut(id).is_pointed_to = !shape.private_slots[slot.0 as usize];
            slots.push(id);
        }
        self.active.push(Activation { func, path: state.path, slots: slots.clone() });
        let mut frame = Frame { func, slots, pending: FxHashMap::default(), loops: Vec::new(), exits: Vec::new() };
        frame.pending.insert(BlockId(0), vec![state]);
        self.run_elements(&shape, &shape.elements, &mut frame)?;
        self.active.pop();
        let exits = std::mem::take(&mut frame.exits);
        let Some(mut state) = self.merge(exits)? else { return Ok(None) };
        let result = function.ret.and(state.locals[function.locals.len()]);
        state.locals = saved;
        Ok(Some((state, result)))
    }

    pub(crate) fn run_call(
        &mut self,
        frame: &mut Frame,
        mut state: State,
        dst: Option<leno_ir::program::LocalId>,
        callee: &Callee,
        args: &[Expr],
    ) -> Result<Option<State>, Refused> {
        let mut values = Vec::new();
        for arg in args {
            values.push(match arg {
                // An undefined argument may be passed on.
                Expr::Local(local) => state.locals[local.0 as usize],
                _ => Some(self.evaluate(frame, &mut state, arg)?),
            });
        }
        let targets = match callee {
            Callee::Direct(func) => vec![(self.terms.bool(true), *func)],
            Callee::Indirect(pointer) => self.resolve(frame, &mut state, pointer)?,
        };
        let mut returned = Vec::new();
        for (condition, func) in targets {
            let Some(state) = self.restrict(state.clone(), condition) else { continue };
            let after = match &self.program.functions[func].body {
                Body::Blocks(_) => self.call(func, values.clone(), state)?,
                Body::External(_) => Some(self.call_external(frame, func, state, args, &values)?),
            };
            let Some((mut state, value)) = after else { continue };
            if let Some(dst) = dst {
                let width = self.width(self.program.functions[frame.func].locals[dst].ty);
                let value = value.map(|value| self.fit(value, width));
                Rc::make_mut(&mut state.locals)[dst.0 as usize] = value;
            }
            returned.push(state);
        }
        self.merge(returned)
    }

    /// The functions that a pointer may be the address of, each with its condition; anything else is a violation.
    pub(crate) fn resolve(
        &mut self,
        frame: &Frame,
        state: &mut State,
        pointer: &Expr,
    ) -> Result<Vec<(Term, FuncId)>, Refused> {
        let address = self.evaluate(frame, state, pointer)?;
        let (functions, _) = self.points_to.functions(frame.func, pointer);
        let mut targets = Vec::new();
        let mut others = vec![state.path];
        for func in functions {
            let known = self.function_address(func)?;
            let known = self.pointer(known);
            let condition = self.terms.eq(address, known);
            others.push(self.terms.not(condition));
            if self.terms.as_bool(condition) != Some(false) {
                targets.push((condition, func));
            }
        }
        let none = self.terms.and(&others);
        self.violate(ViolationKind::InvalidCall, none);
        Ok(targets)
    }

    pub(crate) fn call_external(
        &mut self,
        frame: &Frame,
        func: FuncId,
        state: State,
        args: &[Expr],
        values: &[Option<Term>],
    ) -> Result<(State, Option<Term>), Refused> {
        let function = &self.program.functions[func];
        let Body::External(external) = &function.body else { return Ok((state, None)) };
        if external.known {
            return match function.ret {
                Some(Type::Float(_)) => Err(Refused::floats()),
                _ => self.call_known(func, state, values),
            };
        }
        let may_write = |arg: &Expr| !self.points_to.points_to(frame.func, arg).is_empty();
        if args.iter().any(may_write) {
            return Err(Refused::new(format!("`{}` is called, whose effects are not encoded", function.name)));
        }
        let result = function.ret.map(|ty| self.input(&state, self.width(ty)));
        Ok((state, result))
    }

    /// The activation ends, and with it the lives of its stack objects.
    pub(crate) fn end_lives(&mut self, slots: &[InstanceId], state: &mut State) {
        let mut node = None;
        for &slot in slots {
            let instance = self.instances.get(slot);
            if instance.sharing != Sharing::Shared {
                state.memory.objects.remove(&slot);
                if instance.is_pointed_to {
                    let always = self.terms.bool(true);
                    Rc::make_mut(&mut state.memory.dead).insert(slot, always);
                }
                continue;
            }
            let path = state.path;
            let node = *node.get_or_insert_with(|| {
                let node = self.next_node(state);
                self.step(node, path);
                node
            });
            self.skeleton.deaths.push(Death { instance: slot, node, path });
        }
    }
}
