//! What one step of an operation does to a view.
//!
//! A thread is stopped before every access to what others may see; what it does in between is nobody's business. Where a step
//! may go several ways, all of them are followed. When an operation takes effect (its *linearization point*) the
//! observer is told. The data that a removal takes out is what the operation would return if it ran on alone. Whether it may say
//! "empty" is decided at the step after which it would say so, running on alone, and from then on all the time; both are checked when it returns. These moments
//! depend on what is really in memory, and not on which values are watched, so that they are the same for every choice of these.

use super::code::{Code, Step, StepKind, words};
use super::memory::{Layout, Memory, State, Stop, Words, is_shared};
use super::observer::{Event, Observer, Reaction};
use super::value::{Currency, Evaluation, Place, Tag, Value, equal};
use super::view::{Owner, RESULT_SLOTS, Thread};
use crate::operation::{Argument, Operation};
use leno_ir::index::IndexVec;
use leno_ir::program::{DataModel, Expr, Local, LocalId, Op, Program, RmwOp, Span, Storage, SyncOp, Type};
use std::cell::RefCell;
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    Insert,
    Remove,
}

/// An operation, as the proof sees it.
#[derive(Clone, Debug)]
pub struct Method {
    pub role: Role,
    pub code: Code,
    pub arguments: Vec<Argument>,
    /// The step with which it takes effect.
    pub takes_effect: Option<usize>,
}

impl Method {
    pub fn new(role: Role, code: Code, operation: &Operation) -> Method {
        Method { role, code, arguments: operation.arguments.clone(), takes_effect: None }
    }

    /// Whether its results go through a pointer of the caller's.
    fn result_slot(&self) -> Option<u32> {
        let at = self.arguments.iter().position(|argument| matches!(argument, Argument::Result { .. }))?;
        Some(RESULT_SLOTS + at as u32)
    }
}

/// The data structure, where operations are handed its address.
pub const STRUCTURE: u32 = u32::MAX;

/// An operation that makes more steps than this by itself does not come to an end, as far as the proof knows.
const MOST_STEPS: usize = 20_000;

/// What an operation has come to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CallResult {
    Inserted,
    Removed(Option<Tag>),
    Empty,
}

pub struct Machine<'p> {
    pub program: &'p Program,
    pub methods: Vec<Method>,
    pub observer: &'p Observer,
    pub memory: Memory,
    pub layout: RefCell<Layout>,
    /// The fewest bits of a value that is inserted.
    pub data_bits: u16,
    pub is_initial: bool,
    /// Some operation takes a lock: then everything that is shared is accessed under it.
    pub uses_lock: bool,
    /// Which lock that is.
    pub lock: RefCell<Option<Option<Place>>>,
    /// What an operation returns as a number: whether it has then removed something.
    pub codes: RefCell<BTreeMap<(usize, Option<u128>), bool>>,
}

/// Where a thread stands after some steps.
#[derive(Clone, Debug)]
pub enum Next {
    Goes(State),
    Returned(State, Option<Value>),
}

impl Machine<'_> {
    fn code(&self, state: &State) -> &Code {
        &self.methods[usize::from(state.thread.operation.unwrap_or_default())].code
    }

    fn step_of<'a>(&'a self, state: &State) -> &'a Step {
        &self.code(state).steps[state.thread.at as usize]
    }

    /// A thread at the beginning of an operation.
    pub fn call(&self, method: usize, argument: Tag) -> Thread {
        let mut thread = Thread { operation: Some(method as u8), argument, ..Thread::idle() };
        for (at, kind) in self.methods[method].arguments.iter().enumerate() {
            let value = match kind {
                Argument::Structure => Value::Static(STRUCTURE, 0),
                Argument::Number | Argument::Address => Value::Data(argument),
                Argument::Result { .. } => Value::Slot(RESULT_SLOTS + at as u32, 0),
                Argument::Element(_) | Argument::Thread => Value::Undefined,
            };
            thread.set(at as u32, value);
        }
        thread
    }

    pub fn evaluate(&self, state: &State, expr: &Expr) -> Result<Value, Stop> {
        let code = self.code(state);
        let model = self.program.model;
        let locals = |expr: &Expr| type_of(expr, &code.registers, model);
        let object = |object: u32| Value::Static(object, 0);
        let register = |register: u32| state.thread.register(register);
        let evaluation = Evaluation { register, object: &object, data_bits: self.data_bits, type_of: &locals };
        evaluation.value(expr).map_err(Stop::Unsupported)
    }

    /// Whether the next step is one that other threads may notice, or that may notice them.
    pub fn is_visible(&self, state: &State) -> Result<bool, Stop> {
        let StepKind::Instruction(op) = &self.step_of(state).kind else { return Ok(false) };
        if let Some((access, _)) = op.access() {
            return Ok(is_shared(state, &self.evaluate(state, &access.ptr)?));
        }
        Ok(matches!(op, Op::AtomicBegin | Op::Sync { op: SyncOp::Lock(_), .. }))
    }

    /// Makes the next visible step, if `visible`, and then all steps up to the next one that is visible.
    pub fn advance(&self, start: State, visible: bool) -> Result<Vec<Next>, Stop> {
        let mut work = vec![(start, visible)];
        let mut results = Vec::new();
        let mut steps = 0;
        while let Some((state, first)) = work.pop() {
            if !first && state.section.is_none() && self.is_visible(&state)? {
                results.push(Next::Goes(state));
                continue;
            }
            for next in self.step(state)? {
                match next {
                    Next::Goes(state) => work.push((state, false)),
                    Next::Returned(..) => results.push(next),
                }
            }
            steps += 1;
            if steps > MOST_STEPS {
                return Err(Stop::Unsupported("it may run without end by itself".to_string()));
            }
        }
        Ok(results)
    }

    /// Runs on until something shared has been changed: what it then is. Runs that change nothing are left out.
    pub fn run_to_effect(&self, start: State) -> Result<Vec<State>, Stop> {
        let mut work = vec![start];
        let mut results = Vec::new();
        let mut steps = 0;
        while let Some(state) = work.pop() {
            if state.wrote && state.section.is_none() {
                results.push(state);
                continue;
            }
            for next in self.step(state)? {
                match next {
                    Next::Goes(state) => work.push(state),
                    Next::Returned(state, _) if state.wrote => results.push(state),
                    Next::Returned(..) => {}
                }
            }
            steps += 1;
            if steps > MOST_STEPS {
                return Err(Stop::Unsupported("it may run without end by itself".to_string()));
            }
        }
        Ok(results)
    }

    /// What the operation returns if no other thread acts any more.
    fn rehearse(&self, state: &State) -> Result<Vec<CallResult>, Stop> {
        let mut start = state.clone();
        start.is_rehearsal = true;
        let mut work = vec![start];
        let mut results = Vec::new();
        let mut steps = 0;
        while let Some(state) = work.pop() {
            for next in self.step(state)? {
                match next {
                    Next::Goes(state) => work.push(state),
                    Next::Returned(state, value) => results.push(self.result(&state, value.as_ref())?),
                }
            }
            steps += 1;
            if steps > MOST_STEPS {
                return Err(Stop::Unsupported("it may run without end by itself".to_string()));
            }
        }
        results.sort();
        results.dedup();
        match results.is_empty() {
            true => Err(Stop::Unsupported("it may not come to an end by itself".to_string())),
            false => Ok(results),
        }
    }

    /// What a return means. A call has done something if it has passed its linearization point.
    pub fn result(&self, state: &State, value: Option<&Value>) -> Result<CallResult, Stop> {
        let operation = usize::from(state.thread.operation.unwrap_or_default());
        let method = &self.methods[operation];
        let is_done = state.thread.done.is_some();
        if method.role == Role::Insert {
            let reason = "it may return without having inserted anything";
            return if is_done { Ok(CallResult::Inserted) } else { Err(Stop::Violation(reason.to_string())) };
        }
        let data = |value: Option<&Value>| match value {
            Some(Value::Data(tag)) => Some(*tag),
            _ => None,
        };
        let (through_pointer, word) = match method.result_slot() {
            Some(slot) => (true, data(Some(&state.thread.slot_word(slot, 0)))),
            None => (false, data(value)),
        };
        if is_done && !through_pointer {
            return Ok(CallResult::Removed(word));
        }
        let code = match value {
            None => None,
            Some(Value::Number(number)) => Some(*number),
            Some(_) => {
                return Err(Stop::Violation("it may return something that is no value that was inserted".to_string()));
            }
        };
        let known = *self.codes.borrow_mut().entry((operation, code)).or_insert(is_done);
        match known == is_done {
            true if is_done => Ok(CallResult::Removed(word)),
            true => Ok(CallResult::Empty),
            false => Err(Stop::Violation("it returns the same whether it has removed a value or not".to_string())),
        }
    }

    /// Checks what an operation returns against what it has done.
    pub fn check_return(&self, state: &State, value: Option<&Value>) -> Result<(), Stop> {
        let violation = |reason: &str| Err(Stop::Violation(reason.to_string()));
        match self.result(state, value)? {
            CallResult::Inserted => Ok(()),
            CallResult::Removed(None) => violation("it may return what was never initialised"),
            CallResult::Removed(tag) if tag == state.thread.done => Ok(()),
            CallResult::Removed(_) => violation("it may return another value than the one it has removed"),
            CallResult::Empty if state.thread.may_say_empty == Some(true) => Ok(()),
            CallResult::Empty => violation("it may say that it is empty when it is not"),
        }
    }

    /// One step, every way it may go.
    pub fn step(&self, state: State) -> Result<Vec<Next>, Stop> {
        let code = self.code(&state);
        let at = state.thread.at as usize;
        let Step { kind, span } = &code.steps[at];
        let result = self.step_as(state, at, kind);
        result.map_err(|stop| match stop {
            Stop::Violation(reason) => Stop::Violation(self.placed(&code.function, *span, &reason)),
            Stop::Unsupported(reason) => Stop::Unsupported(self.placed(&code.function, *span, &reason)),
            other => other,
        })
    }

    fn placed(&self, function: &str, span: Span, reason: &str) -> String {
        match reason.starts_with('`') {
            true => reason.to_string(),
            false => format!("`{function}`, line {}: {reason}", span.line),
        }
    }

    fn step_as(&self, mut state: State, at: usize, kind: &StepKind) -> Result<Vec<Next>, Stop> {
        let goes_to = |mut state: State, to: usize| {
            state.thread.at = to as u32;
            Next::Goes(state)
        };
        Ok(match kind {
            StepKind::Instruction(op) => {
                let nexts = self.instruction(state, at, op)?;
                nexts.into_iter().map(|state| goes_to(state, at + 1)).collect()
            }
            StepKind::Forget { registers, slots } => {
                state.thread.registers.retain(|(register, _)| !(registers.0..registers.1).contains(register));
                state.thread.slots.retain(|((slot, _), _)| !(slots.0..slots.1).contains(slot));
                vec![goes_to(state, at + 1)]
            }
            StepKind::Jump(to) => vec![goes_to(state, *to)],
            StepKind::Branch { condition, then, otherwise } => match self.evaluate(&state, condition)? {
                Value::Number(0) => vec![goes_to(state, *otherwise)],
                Value::Number(_) => vec![goes_to(state, *then)],
                Value::Data(_) => return Err(Stop::Unsupported("it looks at data".to_string())),
                _ => vec![goes_to(state.clone(), *then), goes_to(state, *otherwise)],
            },
            StepKind::Switch { value, cases, default } => match self.evaluate(&state, value)? {
                Value::Number(number) => {
                    let case = cases.iter().find(|(case, _)| *case == number);
                    vec![goes_to(state, case.map_or(*default, |(_, to)| *to))]
                }
                Value::Data(_) => return Err(Stop::Unsupported("it looks at data".to_string())),
                _ => cases.iter().map(|(_, to)| *to).chain([*default]).map(|to| goes_to(state.clone(), to)).collect(),
            },
            StepKind::Return(value) => {
                if state.section.is_some() {
                    return Err(Stop::Unsupported("it returns with the lock held".to_string()));
                }
                let value = value.as_ref().map(|value| self.evaluate(&state, value)).transpose()?;
                if !state.is_rehearsal && state.waiting.is_none() && !self.is_initial {
                    self.check_return(&state, value.as_ref())?;
                }
                vec![Next::Returned(state, value)]
            }
            StepKind::Unsupported(reason) => return Err(Stop::Unsupported(reason.clone())),
        })
    }

    fn words_do<T>(&self, act: impl FnOnce(&mut Words) -> Result<T, Stop>) -> Result<T, Stop> {
        let mut layout = self.layout.borrow_mut();
        act(&mut Words { memory: self.memory, layout: &mut layout, is_initial: self.is_initial })
    }

    fn instruction(&self, mut state: State, at: usize, op: &Op) -> Result<Vec<State>, Stop> {
        let model = self.program.model;
        if let Some((access, _)) = op.access() {
            let address = self.evaluate(&state, &access.ptr)?;
            let bytes = access.ty.bytes(model);
            let visible = is_shared(&state, &address);
            let is_locked = matches!(state.section, Some(Some(_)));
            if visible && self.uses_lock && !is_locked && !self.is_initial {
                return Err(Stop::Unsupported(
                    "it accesses what is shared without the lock that others take".to_string(),
                ));
            }
            let reached = self.access(state, at, op, &address, bytes)?;
            return if visible { self.notice_empty(reached) } else { Ok(reached) };
        }
        match op {
            Op::Assign { dst, value } => {
                let value = self.evaluate(&state, value)?;
                state.thread.set(dst.0, value);
            }
            Op::Allocate { dst, size, storage: Storage::Heap, zeroed, .. } => {
                return self.allocate(state, dst.0, size, *zeroed);
            }
            Op::Allocate { .. } => return Err(Stop::Unsupported("it allocates on the stack".to_string())),
            Op::Free { ptr, storage: Storage::Heap } => {
                let address = self.evaluate(&state, ptr)?;
                self.words_do(|words| words.free(&mut state, &address))?;
            }
            Op::Free { .. } => {}
            Op::BeginLife { slot } | Op::EndLife { slot } => {
                state.thread.slots.retain(|((of, _), _)| *of != slot.0);
            }
            Op::Assume { cond } => {
                if self.evaluate(&state, cond)? == Value::Number(0) {
                    return Ok(Vec::new());
                }
            }
            Op::Assert { cond, .. } => match self.evaluate(&state, cond)? {
                Value::Number(number) if number != 0 => {}
                _ => return Err(Stop::Violation("an assertion may fail".to_string())),
            },
            Op::CheckMove { .. } | Op::Fence { .. } | Op::Yield => {}
            Op::Nondet { dst } | Op::Undefine { dst } => state.thread.set(dst.0, Value::Undefined),
            Op::AtomicBegin => self.enter(&mut state, None)?,
            Op::AtomicEnd => self.leave(&mut state, None)?,
            Op::Sync { dst, op, at } => {
                let place = match self.evaluate(&state, at)? {
                    Value::Static(object, offset) => Place::Static(object, offset),
                    _ => return Err(Stop::Unsupported("the lock is not one object".to_string())),
                };
                match op {
                    SyncOp::Lock(_) => self.enter(&mut state, Some(place))?,
                    SyncOp::Unlock(_) => self.leave(&mut state, Some(place))?,
                    _ if self.is_initial => {}
                    _ => return Err(Stop::Unsupported("an operation makes or destroys a lock".to_string())),
                }
                if let Some(dst) = dst {
                    state.thread.set(dst.0, Value::Number(0));
                }
            }
            _ => return Err(Stop::Unsupported("the proof does not follow this instruction".to_string())),
        }
        Ok(vec![state])
    }

    fn enter(&self, state: &mut State, lock: Option<Place>) -> Result<(), Stop> {
        if state.section.is_some() {
            return Err(Stop::Unsupported("it takes a second lock".to_string()));
        }
        if lock.is_some() && *self.lock.borrow_mut().get_or_insert(lock) != lock {
            return Err(Stop::Unsupported("there are several locks".to_string()));
        }
        state.section = Some(lock);
        Ok(())
    }

    fn leave(&self, state: &mut State, lock: Option<Place>) -> Result<(), Stop> {
        if state.section != Some(lock) {
            return Err(Stop::Unsupported("it releases a lock that it does not hold".to_string()));
        }
        state.section = None;
        Ok(())
    }

    fn allocate(&self, state: State, dst: u32, size: &Expr, zeroed: bool) -> Result<Vec<State>, Stop> {
        let size = match self.evaluate(&state, size)? {
            Value::Number(size) => i64::try_from(size).unwrap_or(i64::MAX),
            _ => return Err(Stop::Unsupported("it allocates a size that is not fixed".to_string())),
        };
        let known = *self.layout.borrow_mut().cell_size.get_or_insert(size);
        if known != size && !self.is_initial {
            return Err(Stop::Unsupported("there are nodes of different sizes".to_string()));
        }
        if zeroed {
            return Err(Stop::Unsupported("nodes are allocated with zeros in them (calloc)".to_string()));
        }
        let mut results = Vec::new();
        let mut fresh = state.clone();
        let cell = fresh.new_cell();
        fresh.thread.set(dst, Value::Cell(cell, 0));
        results.push(fresh);
        // A node that was freed, or that others own as far as this view tells, may be given out again.
        for cell in 0..state.shared.cells.len() {
            if state.shared.cells[cell].owner == Owner::Free {
                let mut again = state.clone();
                again.shared.cells[cell].owner = again.actor();
                again.thread.set(dst, Value::Cell(cell as u16, 0));
                results.push(again);
            }
        }
        Ok(results)
    }

    fn access(&self, state: State, at: usize, op: &Op, address: &Value, bytes: u64) -> Result<Vec<State>, Stop> {
        match op {
            Op::Load { dst, .. } => {
                let mut state = state;
                let value = self.words_do(|words| words.read(&state, address, bytes))?;
                state.thread.set(dst.0, value);
                Ok(vec![state])
            }
            Op::Store { value, .. } => {
                let value = self.evaluate(&state, value)?;
                self.write(state, at, address, bytes, value)
            }
            Op::ReadModifyWrite { dst, op: RmwOp::Exchange, value, .. } => {
                let value = self.evaluate(&state, value)?;
                let mut state = state;
                let old = self.words_do(|words| words.read(&state, address, bytes))?;
                if let Some(dst) = dst {
                    state.thread.set(dst.0, old);
                }
                self.write(state, at, address, bytes, value)
            }
            Op::CompareExchange { ok, old, expected, desired, weak, .. } => {
                let (expected, desired) = (self.evaluate(&state, expected)?, self.evaluate(&state, desired)?);
                self.compare_exchange(state, at, (*ok, *old), address, bytes, expected, desired, *weak)
            }
            _ => Err(Stop::Unsupported("the proof does not follow this atomic operation".to_string())),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn compare_exchange(
        &self,
        state: State,
        at: usize,
        (ok, old): (LocalId, LocalId),
        address: &Value,
        bytes: u64,
        expected: Value,
        desired: Value,
        weak: bool,
    ) -> Result<Vec<State>, Stop> {
        let live = &self.code(&state).live[at + 1];
        let reads_old = live.contains(&super::code::Kept::Register(old.0));
        // What is found there is told apart from a segment only if somebody looks at it.
        let found = self.words_do(|words| match reads_old {
            true => words.read(&state, address, bytes),
            false => words.peek(&state, address, bytes),
        })?;
        let is_equal = match (&found, &expected) {
            (Value::Segment(_), Value::Undefined) => None,
            (Value::Segment(_), _) => Some(false),
            _ => {
                // What is read in this very step is the present version, even of a node that others may change at any time.
                let mut now = found.clone();
                now.for_each_version(&mut |_, currency, _| *currency = Currency::Current);
                equal(&now, &expected).map_err(Stop::Unsupported)?
            }
        };
        let mut results = Vec::new();
        // Running on alone, it is not unlucky; otherwise it might be for ever.
        let may_be_unlucky = weak && !state.is_rehearsal && state.waiting.is_none();
        if is_equal != Some(true) || may_be_unlucky {
            let mut failed = state.clone();
            failed.thread.set(ok.0, Value::Number(0));
            failed.thread.set(old.0, if matches!(found, Value::Segment(_)) { Value::Undefined } else { found.clone() });
            results.push(failed);
        }
        if is_equal != Some(false) {
            let mut done = state;
            done.thread.set(ok.0, Value::Number(1));
            done.thread.set(old.0, found);
            results.extend(self.write(done, at, address, bytes, desired)?);
        }
        Ok(results)
    }

    fn write(
        &self,
        mut state: State,
        at: usize,
        address: &Value,
        bytes: u64,
        value: Value,
    ) -> Result<Vec<State>, Stop> {
        if words(0, bytes).len() == 1 && matches!(value, Value::Pair(_)) {
            return Err(Stop::Unsupported("it stores half of a double word".to_string()));
        }
        let visible = is_shared(&state, address);
        self.words_do(|words| words.write(&mut state, address, bytes, value))?;
        let method = &self.methods[usize::from(state.thread.operation.unwrap_or_default())];
        match method.takes_effect == Some(at) {
            true if visible => self.take_effect(state, at),
            true => Err(Stop::Violation("it would take effect where no other thread can see it".to_string())),
            false => Ok(vec![state]),
        }
    }

    /// The linearization point: tells the observer.
    fn take_effect(&self, mut state: State, at: usize) -> Result<Vec<State>, Stop> {
        if state.thread.done.is_some() {
            return Err(Stop::Violation("it may take effect twice".to_string()));
        }
        let operation = usize::from(state.thread.operation.unwrap_or_default());
        if state.is_rehearsal {
            state.thread.done = Some(state.thread.argument);
            return Ok(vec![state]);
        }
        let events = match self.methods[operation].role {
            Role::Insert => vec![(state.thread.argument, Event::Insert(state.thread.argument))],
            Role::Remove => {
                let mut after = state.clone();
                after.thread.done = Some(Tag::Other);
                after.thread.at = at as u32 + 1;
                let mut events = Vec::new();
                for result in self.rehearse(&after)? {
                    let CallResult::Removed(Some(tag)) = result else {
                        let reason = "where it removes a value, it may return what was never initialised";
                        return Err(Stop::Violation(reason.to_string()));
                    };
                    events.push((tag, Event::Remove(tag)));
                }
                events
            }
        };
        let mut results = Vec::new();
        for (tag, event) in events {
            match self.observer.react(state.shared.observer, event) {
                Reaction::Goes(next) => {
                    let mut state = state.clone();
                    state.shared.observer = next;
                    state.thread.done = Some(tag);
                    state.wrote = true;
                    results.push(state);
                }
                Reaction::Impossible => {}
                Reaction::Error(words) => return Err(Stop::Violation(words)),
            }
        }
        Ok(results)
    }

    /// After a visible step of a removal that has not removed anything yet: if it would say "empty" now, may it?
    fn notice_empty(&self, states: Vec<State>) -> Result<Vec<State>, Stop> {
        let mut results = Vec::new();
        for state in states {
            let operation = usize::from(state.thread.operation.unwrap_or_default());
            let is_open = self.methods[operation].role == Role::Remove && state.thread.done.is_none();
            if !is_open || state.is_rehearsal || state.waiting.is_some() || self.is_initial {
                results.push(state);
                continue;
            }
            let mut after = state.clone();
            after.thread.at += 1;
            let ends = self.rehearse(&after)?;
            if ends.contains(&CallResult::Empty) {
                let reaction = self.observer.react(state.shared.observer, Event::Empty);
                let mut noticed = state.clone();
                noticed.thread.may_say_empty.get_or_insert(!matches!(reaction, Reaction::Error(_)));
                results.push(noticed);
            }
            if ends.iter().any(|end| *end != CallResult::Empty) {
                let mut goes_on = state;
                goes_on.thread.may_say_empty = None;
                results.push(goes_on);
            }
        }
        Ok(results)
    }
}

/// The type of an expression, given the types of registers.
fn type_of(expr: &Expr, registers: &[Local], model: DataModel) -> Type {
    match expr {
        Expr::Local(local) => registers[local.0 as usize].ty,
        Expr::Const { ty, .. } | Expr::Cast(_, ty, _) => *ty,
        Expr::Unary(_, operand) => type_of(operand, registers, model),
        Expr::Select(parts) => type_of(&parts[1], registers, model),
        Expr::Binary(op, operands) => match op.result() {
            leno_ir::program::ResultType::Operand => type_of(&operands[0], registers, model),
            leno_ir::program::ResultType::Bool => Type::BOOL,
            leno_ir::program::ResultType::Word => model.word(),
        },
        Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => expr.ty(&IndexVec::default(), model),
    }
}
