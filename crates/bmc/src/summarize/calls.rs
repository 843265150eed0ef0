//! Calls and returns: a function is executed where it is called, or its summary is instantiated. External functions
//! have built-in meanings.

use crate::bound::BoundSite;
use crate::skeleton::layout::{Instance, InstanceId};
use crate::skeleton::{Birth, Death, ThreadIndex, Unit};
use crate::summarize::access::Accesses;
use crate::summarize::function_summary::{Calls, FunctionSummary};
use crate::summarize::state::State;
use crate::summarize::{Activation, Execution, Frame, Refused};
use leno_ir::analysis::points_to::AbstractObject;
use leno_ir::analysis::sharing::Sharing;
use leno_ir::index::Idx;
use leno_ir::interp::ViolationKind;
use leno_ir::program::{BlockId, Body, Callee, Expr, FuncId};
use leno_logic::term::{Sort, Term};
use leno_symbolic::contents::Initial;
use leno_symbolic::library_calls::pure_call;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The deepest nesting of calls.
const MOST_ACTIVATIONS: usize = 1_000;

/// The bytes of the largest access that the hardware makes.
const LARGEST_PIECE: u64 = 8;

/// Functions without a body of which models of the library say by their names what they do not model.
const UNMODELLED: &str = "__leno_unmodelled_";

impl Execution<'_> {
    /// Goes from before a call to after it. None if the function never returns.
    pub(crate) fn call(
        &mut self,
        func: FuncId,
        args: Vec<Option<Term>>,
        state: State,
    ) -> Result<Option<(State, Option<Term>)>, Refused> {
        let recursion = self.active.iter().filter(|active| active.func == func && active.path != state.path).count();
        if recursion as u32 > self.bounds.of(BoundSite::Recursion(func)) || self.active.len() > MOST_ACTIVATIONS {
            self.cut(state.path, BoundSite::Recursion(func));
            return Ok(None);
        }
        let function = &self.program.functions[func];
        let mut fitting = Vec::new();
        for (index, local) in function.locals.iter().take(function.params as usize).enumerate() {
            let width = self.width(local.ty);
            fitting.push(args.get(index).copied().flatten().map(|value| self.fit(value, width)));
        }
        if let Some(summary) = self.choose(func, &fitting, &state) {
            self.work += summary.work;
            self.instantiated += 1;
            return self.instantiate(&summary, &fitting, state);
        }
        let pattern = self.pattern_of(func, &fitting).filter(|_| self.calls == Calls::Auto);
        let before = self.work;
        let after = self.execute(func, fitting, state)?;
        if let Some(pattern) = pattern {
            let executed = self.summaries.executed.entry(pattern).or_default();
            executed.calls += 1;
            executed.work += self.work - before;
        }
        Ok(after)
    }

    /// The summary to use for a call, if one is to be used.
    ///
    /// It takes about as long to make a summary as to execute a call, and half as long to use one. So the first two
    /// calls of a pattern are executed; if there are more, there may be many more, and a summary is made. A summary
    /// that would comprise much more than was executed in these calls is given up: then the constants that are passed
    /// decide what is executed, and the rest would have to be instantiated and thrown away again at each call. Such a
    /// function, and one that cannot be summarised, is executed at each call.
    fn choose(&mut self, func: FuncId, args: &[Option<Term>], state: &State) -> Option<Rc<FunctionSummary>> {
        let is_entry = self.active.is_empty() && self.thread == ThreadIndex::MAIN;
        let is_deep = self.active.len() > MOST_ACTIVATIONS / 2;
        if self.calls == Calls::Inline || is_entry || is_deep || state.section.is_some() || state.sleep.is_some() {
            return None;
        }
        loop {
            let pattern = self.pattern_of(func, args)?;
            let most = match self.calls {
                Calls::Auto => self.summaries.executed.get(&pattern)?.most_work()?,
                _ => u64::MAX,
            };
            match self.summary_of(&pattern) {
                Some(summary) => return self.is_applicable(&summary, state).then_some(summary),
                None => self.make_summary(pattern, args, most),
            }
        }
    }

    /// Executes a function where it is called.
    pub(crate) fn execute(
        &mut self,
        func: FuncId,
        args: Vec<Option<Term>>,
        mut state: State,
    ) -> Result<Option<(State, Option<Term>)>, Refused> {
        let facts = self.facts;
        let shape = facts.shape(func)?;
        let function = &self.program.functions[func];
        let mut locals = vec![None; function.locals.len() + 1];
        locals[..args.len()].copy_from_slice(&args);
        let saved = std::mem::replace(&mut state.locals, Rc::new(locals));
        let mut slots = Vec::new();
        for slot in function.slots.ids() {
            let size = function.slots[slot].size;
            let what = AbstractObject::Slot(func, slot);
            let id = self.layout.add(what, size, Initial::Undefined, false, false)?;
            self.layout.get_mut(id).is_pointed_to = !shape.private_slots[slot.index()];
            slots.push(id);
        }
        if self.recording.is_some() && !self.forgets_slots(func, &slots) {
            self.cannot_be_summarized("the address of a stack object gets out of its function")?;
        }
        self.active.push(Activation { func, path: state.path, slots: slots.clone() });
        let mut frame = Frame { func, slots, pending: FxHashMap::default(), loops: Vec::new(), exits: Vec::new() };
        frame.pending.insert(BlockId(0), vec![state]);
        self.run_elements(&shape, shape.elements, &mut frame)?;
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
                Expr::Local(local) => state.local(*local),
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
                Body::External(_) => self.call_external(frame, func, state, args, &values)?,
            };
            let Some((mut state, value)) = after else { continue };
            if let Some(dst) = dst {
                let width = self.width(self.program.functions[frame.func].locals[dst].ty);
                let value = value.map(|value| self.fit(value, width));
                Rc::make_mut(&mut state.locals)[dst.index()] = value;
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
        let (functions, _) = self.facts.points_to.functions(frame.func, pointer);
        self.steer(address)?;
        let mut targets = Vec::new();
        let mut others = vec![state.path];
        for func in functions {
            let known = self.layout.function_address(func)?;
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
    ) -> Result<Option<(State, Option<Term>)>, Refused> {
        let function = &self.program.functions[func];
        let Body::External(external) = &function.body else { return Ok(Some((state, None))) };
        if external.known {
            return match external
                .pure
                .then(|| pure_call(&mut self.terms, self.program.model, function, values))
                .flatten()
            {
                Some(result) => Ok(Some((state, Some(result)))),
                None => self.call_known(frame, func, state, args, values),
            };
        }
        let may_write = |arg: &Expr| !self.facts.points_to.points_to(frame.func, arg).is_empty();
        if args.iter().any(may_write) {
            return Err(Refused::new(format!("`{}` is called, whose effects are not encoded", function.name)));
        }
        if function.name.starts_with(UNMODELLED) {
            let doubt = format!("`{}` is called: what that stands for is not modelled", function.name);
            self.skeleton.doubts.push((state.path, doubt));
        }
        let result = function.ret.map(|ty| self.input(&state, self.width(ty)));
        Ok(Some((state, result)))
    }

    /// The lifetimes of stack objects end: with their activation, or with a block.
    pub(crate) fn end_lives(&mut self, slots: &[InstanceId], state: &mut State) {
        let mut node = None;
        for &slot in slots {
            let instance = self.layout.get(slot);
            if instance.sharing != Sharing::Shared {
                state.memory.objects.remove(&slot);
                if instance.is_pointed_to {
                    Rc::make_mut(&mut state.memory.dead).insert(slot, Term::TRUE);
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

    /// The lifetime of a stack object ends before its activation does.
    pub(crate) fn end_life(&mut self, slot: InstanceId, state: &mut State) {
        self.end_lives(&[slot], state);
        if self.layout.get(slot).sharing == Sharing::Shared {
            self.affect(state);
            Rc::make_mut(&mut state.memory.dead).insert(slot, Term::TRUE);
        }
    }

    /// A lifetime of a stack object begins: it holds undefined bytes.
    pub(crate) fn begin_life(&mut self, slot: InstanceId, state: &mut State) {
        if state.memory.dead.contains_key(&slot) {
            Rc::make_mut(&mut state.memory.dead).remove(&slot);
        }
        let Instance { sharing, object, base, size, .. } = *self.layout.get(slot);
        if sharing != Sharing::Shared {
            state.memory.objects.remove(&slot);
            return;
        }
        self.affect(state);
        let node = self.next_node(state);
        self.step(node, state.path);
        self.skeleton.births.push(Birth { instance: slot, node, path: state.path, deaths: self.skeleton.deaths.len() });
        let mut accesses = Accesses::synchronising([object].into_iter().collect());
        let mut offset = 0;
        while offset < size {
            // The largest pieces, so that accesses need not be cut into smaller cells because of them.
            let bytes = 1 << (size - offset).ilog2().min(LARGEST_PIECE.ilog2());
            let address = self.pointer(base + offset);
            let value = self.terms.variable(Sort::Bits(bytes * 8), "undefined");
            accesses.writes.push(Unit { condition: Term::TRUE, address, value, bytes });
            offset += u64::from(bytes);
        }
        self.add_event(state, Some(node), accesses, Term::TRUE);
    }

    /// The lifetime of an object that this activation has allocated on its stack ends.
    pub(crate) fn free_on_stack(&mut self, frame: &Frame, mut state: State, pointer: &Expr) -> Result<State, Refused> {
        let address = self.evaluate(frame, &mut state, pointer)?;
        let targets = match self.instance_at(address) {
            Some(id) => [self.layout.get(id).object].into_iter().collect(),
            None => self.facts.points_to.points_to(frame.func, pointer).into_owned(),
        };
        let mut node = None;
        for id in targets.iter().flat_map(|object| self.layout.of(object).to_vec()).collect::<Vec<_>>() {
            let (base, sharing) = (self.layout.get(id).base, self.layout.get(id).sharing);
            let base = self.pointer(base);
            let here = self.terms.eq(address, base);
            if here == Term::FALSE || !frame.slots.contains(&id) {
                continue;
            }
            let dead = state.memory.dead.get(&id).copied().unwrap_or(Term::FALSE);
            let dead = self.terms.or2(dead, here);
            Rc::make_mut(&mut state.memory.dead).insert(id, dead);
            if sharing == Sharing::Shared {
                let path = state.path;
                let node = *node.get_or_insert_with(|| {
                    let node = self.next_node(&mut state);
                    self.step(node, path);
                    node
                });
                let path = self.terms.and2(path, here);
                self.skeleton.deaths.push(Death { instance: id, node, path });
            }
        }
        self.affect(&mut state);
        Ok(state)
    }
}
