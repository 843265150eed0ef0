//! One step of one thread.
//!
//! [`Machine::step`] executes the next instruction or terminator, whole and indivisibly, or says that the thread is
//! blocked and changes nothing. The meaning of each is on the semantics page.

use super::environment::{Environment, Source};
use super::image::{Call, Code, Rare, Switch, SyncStep, Target};
use super::machine::{Caller, MAIN, Machine, Status, ThreadId};
use crate::index::Idx;
use crate::interp::memory::violation::{Fault, Intent, Violation, ViolationKind};
use crate::interp::memory::{Instance, Kind};
use crate::interp::value::arithmetic;
use crate::interp::value::eval::{Cell, Ex, Reg};
use crate::interp::value::{Value, ones};
use crate::program::{BinaryOp, FuncId, Property, RmwOp, Storage, TextId, Type, mutex_bytes};

/// What came of an attempt to step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StepResult {
    /// The step was made, and the execution goes on.
    Done,
    /// The thread cannot step now; nothing has changed.
    Blocked,
    /// The process has ended with this status.
    Exited(i32),
    Aborted,
    Violation(Box<Violation>),
}

/// Where a thread goes on after a step.
enum Flow {
    Next,
    /// The step has set the place itself.
    Elsewhere,
    Blocked,
    Exited(i32),
    Aborted,
}

type Checked<T> = Result<T, Box<Violation>>;

impl<'p> Machine<'p> {
    /// Makes the next step of a thread, if it can be made.
    #[inline]
    pub fn step(&mut self, thread: ThreadId, env: &mut dyn Environment) -> StepResult {
        if self.over || self.threads[thread].status != Status::Running {
            return StepResult::Blocked;
        }
        if self.section.is_some() && self.is_excluded(thread) {
            return StepResult::Blocked;
        }
        if self.orders.is_some() {
            return self.in_order(
                thread,
                |machine| machine.step_now(thread, env),
                |result| *result == StepResult::Done,
            );
        }
        self.step_now(thread, env)
    }

    #[inline]
    fn step_now(&mut self, thread: ThreadId, env: &mut dyn Environment) -> StepResult {
        let result = match self.execute(thread, env) {
            Ok(Flow::Next) => {
                self.threads[thread].pc += 1;
                StepResult::Done
            }
            Ok(Flow::Elsewhere) => StepResult::Done,
            Ok(Flow::Blocked) => return StepResult::Blocked,
            Ok(Flow::Exited(status)) => StepResult::Exited(status),
            Ok(Flow::Aborted) => StepResult::Aborted,
            Err(violation) => StepResult::Violation(violation),
        };
        if !matches!(result, StepResult::Done) {
            self.over = true;
        } else if self.section != Some(thread) || self.threads[thread].section_depth == 0 {
            self.section = (self.threads[thread].section_depth > 0).then_some(thread);
        }
        result
    }

    #[inline]
    fn execute(&mut self, thread: ThreadId, env: &mut dyn Environment) -> Checked<Flow> {
        let image = self.image();
        match &image.code[self.threads[thread].pc as usize] {
            Code::Assign { dst, value } => {
                let state = &mut self.threads[thread];
                match state.frame().fast(value) {
                    Some(bits) => {
                        let cell = (state.base + dst) as usize;
                        state.cells[cell] = Cell { bits, undefined: 0 };
                    }
                    None => {
                        let value = self.value(thread, value, env)?;
                        self.threads[thread].set(Reg { cell: *dst, bits: 64 }, value);
                    }
                }
                Ok(Flow::Next)
            }
            Code::Branch { cond, then, otherwise } => {
                let cond = self.decide(thread, cond, "a branch depends on", env)?;
                self.threads[thread].pc = if cond != 0 { *then } else { *otherwise };
                Ok(Flow::Elsewhere)
            }
            Code::Goto(target) => {
                self.threads[thread].pc = *target;
                Ok(Flow::Elsewhere)
            }
            Code::Load { dst, ptr, bits, .. } => self.execute_load(thread, *dst, ptr, *bits, env),
            Code::Store { ptr, value, bits, .. } => self.execute_store(thread, ptr, value, *bits, env),
            Code::AssignWide { dst, value } => {
                let value = self.value(thread, value, env)?;
                self.threads[thread].set(*dst, value);
                Ok(Flow::Next)
            }
            Code::Call(call) => self.call(thread, call, env),
            Code::Return(value) => self.return_from(thread, value.as_ref(), env),
            Code::Switch(switch) => self.switch(thread, switch, env),
            Code::Assume(cond) => {
                if self.decide(thread, cond, "an assumption depends on", env)? == 0 {
                    self.threads[thread].status = Status::Stopped;
                    return Ok(Flow::Elsewhere);
                }
                Ok(Flow::Next)
            }
            Code::Assert { cond, property, message } => {
                if self.decide(thread, cond, "an assertion depends on", env)? == 0 {
                    return Err(self.assertion(thread, *property, *message));
                }
                Ok(Flow::Next)
            }
            Code::Nondet(dst) => {
                let bits = env.nondet(thread, dst.bits, Source::Instruction);
                self.threads[thread].set(*dst, Value::defined(bits & ones(dst.bits)));
                Ok(Flow::Next)
            }
            Code::Rare(rare) => self.rare(thread, rare, env),
        }
    }

    fn execute_load(
        &mut self,
        thread: ThreadId,
        dst: Reg,
        ptr: &Ex,
        bits: u16,
        env: &mut dyn Environment,
    ) -> Checked<Flow> {
        let address = self.decide(thread, ptr, "an address is", env)?;
        if bits == 8 || bits == 16 || bits == 32 || bits == 64 {
            match self.memory.load_defined(address, u64::from(bits / 8)) {
                Ok(Some(loaded)) => {
                    let state = &mut self.threads[thread];
                    let cell = (state.base + dst.cell) as usize;
                    state.cells[cell] = Cell { bits: loaded, undefined: 0 };
                    return Ok(Flow::Next);
                }
                Ok(None) => {}
                Err(fault) => return Err(self.fault(thread, fault)),
            }
        }
        let value = self.load(thread, address, bits, env)?;
        self.threads[thread].set(dst, value);
        Ok(Flow::Next)
    }

    fn execute_store(
        &mut self,
        thread: ThreadId,
        ptr: &Ex,
        value: &Ex,
        bits: u16,
        env: &mut dyn Environment,
    ) -> Checked<Flow> {
        let address = self.decide(thread, ptr, "an address is", env)?;
        let len = u64::from(bits.div_ceil(8));
        let stored = match self.threads[thread].frame().fast(value) {
            Some(value) if len <= 8 => self.memory.store_defined(address, len, value),
            _ => {
                let value = self.value(thread, value, env)?;
                self.memory.store(address, len, value)
            }
        };
        stored.map_err(|fault| self.fault(thread, fault))?;
        Ok(Flow::Next)
    }

    fn switch(&mut self, thread: ThreadId, switch: &Switch, env: &mut dyn Environment) -> Checked<Flow> {
        let value = self.value(thread, &switch.value, env)?;
        let value = self.decide_value(thread, value, "a switch depends on")?;
        let found = switch.cases.binary_search_by_key(&value, |(case, _)| *case);
        self.threads[thread].pc = found.map_or(switch.default, |index| switch.cases[index].1);
        Ok(Flow::Elsewhere)
    }

    fn assertion(&self, thread: ThreadId, property: Property, message: TextId) -> Box<Violation> {
        let kind = ViolationKind::of(property);
        let text = self.program().texts.get(message).map_or("", String::as_str);
        let text = if text.is_empty() { kind.title() } else { text };
        self.violation(thread, kind, text.to_string())
    }

    /// The function at an address.
    pub(in crate::interp) fn function_at(&self, address: u64) -> Option<FuncId> {
        let (instance, offset) = self.memory.find(address)?;
        (offset == 0 && instance.kind == Kind::Function).then_some(FuncId(instance.origin))
    }

    fn callee_at(&self, thread: ThreadId, address: u64) -> Checked<FuncId> {
        self.function_at(address).ok_or_else(|| {
            let message = format!("call of {}, which is no function", self.describe_address(address));
            self.violation(thread, ViolationKind::InvalidCall, message)
        })
    }

    fn call(&mut self, thread: ThreadId, call: &Call, env: &mut dyn Environment) -> Checked<Flow> {
        let func = match &call.callee {
            Target::Direct(func) => *func,
            Target::Indirect(ex) => {
                let address = self.decide(thread, ex, "the called address is", env)?;
                self.callee_at(thread, address)?
            }
        };
        let Some(entry) = self.image().functions[func].entry else {
            return self.call_external(thread, func, call, env);
        };
        if self.threads[thread].callers.len() >= self.call_depth_limit {
            return Err(self.stack_overflow(thread));
        }
        let first = self.threads[thread].cells.len();
        self.pass_arguments(thread, func, &call.args, thread, env)?;
        let state = &mut self.threads[thread];
        let caller = Caller { func: state.func, pc: state.pc, base: state.base, first_object: state.first_object };
        let first_object = state.objects.len() as u32;
        if !self.add_slots(thread, func) {
            return Err(self.stack_overflow(thread));
        }
        let state = &mut self.threads[thread];
        state.callers.push(caller);
        state.func = func;
        state.pc = entry;
        state.base = first as u32;
        state.first_object = first_object;
        Ok(Flow::Elsewhere)
    }

    fn stack_overflow(&self, thread: ThreadId) -> Box<Violation> {
        let depth = self.threads[thread].depth();
        self.violation(thread, ViolationKind::StackOverflow, format!("{depth} calls are active"))
    }

    /// Appends the registers of `func` to the cells of `to`, and evaluates the arguments in `from` into them. Extra
    /// arguments are dropped, missing ones stay undefined, and widths are made to fit.
    fn pass_arguments(
        &mut self,
        from: ThreadId,
        func: FuncId,
        args: &[Ex],
        to: ThreadId,
        env: &mut dyn Environment,
    ) -> Checked<()> {
        let function = &self.image().functions[func];
        let first = if from == to { self.threads[to].cells.len() } else { 0 };
        if from == to {
            self.threads[to].cells.extend_from_slice(&function.cells);
        }
        for (param, arg) in function.params.iter().zip(args) {
            let value = self.value(from, arg, env)?.truncate(param.bits);
            let cell = first + param.cell as usize;
            let cells = &mut self.threads[to].cells;
            cells[cell] = Cell { bits: value.bits as u64, undefined: value.undefined as u64 };
            if param.is_wide() {
                cells[cell + 1] = Cell { bits: (value.bits >> 64) as u64, undefined: (value.undefined >> 64) as u64 };
            }
        }
        Ok(())
    }

    fn return_from(&mut self, thread: ThreadId, value: Option<&Ex>, env: &mut dyn Environment) -> Checked<Flow> {
        let value = match value {
            Some(operand) => Some(self.value(thread, operand, env)?),
            None => None,
        };
        let image = self.image();
        let Some(caller) = self.threads[thread].callers.pop() else {
            let word = self.program().model.pointer_bits();
            let value = value.unwrap_or(Value::defined(0)).truncate(word);
            if thread == MAIN {
                return Ok(Flow::Exited(0));
            }
            return Ok(self.finish(thread, value));
        };
        self.end_objects(thread, self.threads[thread].first_object as usize);
        let state = &mut self.threads[thread];
        state.cells.truncate(state.base as usize);
        state.func = caller.func;
        state.pc = caller.pc;
        state.base = caller.base;
        state.first_object = caller.first_object;
        if let Code::Call(call) = &image.code[caller.pc as usize]
            && let Some(dst) = call.dst
        {
            let value = value.unwrap_or(Value::undefined(dst.bits));
            state.set(dst, value.truncate(dst.bits));
        }
        Ok(Flow::Next)
    }

    /// Ends the stack objects of a thread from the given one on.
    fn end_objects(&mut self, thread: ThreadId, first: usize) {
        let pc = self.threads[thread].pc;
        while self.threads[thread].objects.len() > first {
            if let Some(address) = self.threads[thread].objects.pop() {
                self.memory.end(address, thread.0, pc);
            }
        }
    }

    /// The thread is done. When it was the last one, so is the process.
    fn finish(&mut self, thread: ThreadId, result: Value) -> Flow {
        let pc = self.threads[thread].pc;
        self.end_objects(thread, 0);
        for address in std::mem::take(&mut self.threads[thread].thread_locals) {
            self.memory.end(address, thread.0, pc);
        }
        let state = &mut self.threads[thread];
        state.status = Status::Finished;
        state.result = result;
        state.section_depth = 0;
        state.cells.clear();
        state.callers.clear();
        (state.base, state.first_object) = (0, 0);
        let all_done = self.threads.iter().all(|thread| thread.status == Status::Finished);
        if all_done { Flow::Exited(0) } else { Flow::Elsewhere }
    }

    fn rare(&mut self, thread: ThreadId, rare: &Rare, env: &mut dyn Environment) -> Checked<Flow> {
        match rare {
            Rare::ReadModifyWrite { dst, ptr, bits, op, value } => {
                let address = self.decide(thread, ptr, "an address is", env)?;
                let value = self.value(thread, value, env)?;
                let old = self.load(thread, address, *bits, env)?;
                self.store(thread, address, *bits, modified(*op, *bits, old, value))?;
                self.assign(thread, *dst, old);
            }
            Rare::CompareExchange { ok, old, ptr, bits, expected, desired, weak } => {
                let address = self.decide(thread, ptr, "an address is", env)?;
                let expected = self.value(thread, expected, env)?;
                let desired = self.value(thread, desired, env)?;
                let current = self.load(thread, address, *bits, env)?;
                let role = "a compare-exchange depends on";
                let equal = self.decide_value(thread, current, role)? == self.decide_value(thread, expected, role)?;
                let equal = equal && !(*weak && env.nondet(thread, 1, Source::Spurious) & 1 == 1);
                // A failing compare-exchange still needs memory that could be written.
                self.store(thread, address, *bits, if equal { desired } else { current })?;
                self.assign(thread, Some(*old), current);
                self.assign(thread, Some(*ok), Value::defined(equal.into()));
            }
            Rare::Allocate { dst, size, storage, zeroed } => {
                let size = self.decide(thread, size, "the size of an allocation is", env)?;
                self.allocate(thread, *dst, size, *storage, *zeroed, env)?;
            }
            Rare::Free { ptr, storage } => {
                let address = self.decide(thread, ptr, "the freed address is", env)?;
                let pc = self.threads[thread].pc;
                if *storage == Storage::Stack {
                    self.free_on_stack(thread, address)?;
                } else if address != 0 {
                    self.forget_if_unreferenced(thread, address);
                    self.memory.free(address, thread.0, pc).map_err(|fault| self.fault(thread, fault))?;
                }
            }
            Rare::BeginLife(lives) => self.memory.revive(self.threads[thread].slot(lives.slot)),
            Rare::EndLife(lives) => {
                let state = &self.threads[thread];
                self.memory.suspend(state.slot(lives.slot), thread.0, state.pc);
            }
            Rare::Undefine { dst } => self.threads[thread].set(*dst, Value::undefined(dst.bits)),
            Rare::CheckMove { from, to } => {
                let (from, to) = (self.value(thread, from, env)?, self.value(thread, to, env)?);
                let is_known = from.undefined == 0 && to.undefined == 0;
                if is_known && self.memory.is_moved_away(from.bits as u64, to.bits as u64) {
                    return Err(self.assertion(thread, Property::IndexOutOfBounds, TextId(0)));
                }
            }
            Rare::ObjectSize { dst, ptr } => {
                let address = self.decide(thread, ptr, "an address is", env)?;
                let size = match address {
                    0 => 0,
                    _ => self.memory.check(address, 0, Intent::Read).map_err(|fault| self.fault(thread, fault))?.0.size,
                };
                self.assign(thread, Some(*dst), Value::defined(size.into()));
            }
            Rare::Spawn { handle, func, args } => self.spawn(thread, handle.as_ref(), func, args, env)?,
            Rare::Join { dst, thread: handle } => {
                let handle = self.decide(thread, handle, "a thread handle is", env)?;
                let target = self.joinable(thread, handle)?;
                if target == thread {
                    let problem = format!("{} joins itself", self.thread_name(thread));
                    return Err(self.violation(thread, ViolationKind::InvalidThread, problem));
                }
                if self.threads[target].status != Status::Finished {
                    return Ok(Flow::Blocked);
                }
                self.threads[target].joinable = false;
                self.assign(thread, *dst, self.threads[target].result);
            }
            Rare::Detach { thread: handle } => {
                let handle = self.decide(thread, handle, "a thread handle is", env)?;
                let target = self.joinable(thread, handle)?;
                self.threads[target].joinable = false;
            }
            Rare::ThreadSelf { dst } => self.assign(thread, Some(*dst), Value::defined(u128::from(thread.0) + 1)),
            Rare::Sync { dst, step, at, operand, bytes } => {
                let at = self.decide(thread, at, "the address of a synchronisation object is", env)?;
                let operand = match operand {
                    Some(operand) => self.decide(thread, operand, "a synchronisation operation depends on", env)?,
                    None => 0,
                };
                let object = self.find_object(*step, at, (*bytes).into(), operand);
                object.map_err(|fault| self.fault(thread, fault))?;
                let Some(result) = self.sync(thread, *step, at, operand)? else { return Ok(Flow::Blocked) };
                if *step == SyncStep::CondSleep && self.chosen_wakeups {
                    self.threads[thread].sleeps_on = env.nondet(thread, 1, Source::WakeUp) & 1 == 0;
                }
                self.assign(thread, *dst, Value::defined(result as u128));
            }
            Rare::AtomicBegin => self.threads[thread].section_depth += 1,
            Rare::AtomicEnd => {
                let state = &mut self.threads[thread];
                state.section_depth = state.section_depth.saturating_sub(1);
            }
            Rare::Nothing => {}
            Rare::ThreadExit(value) => {
                let value = self.value(thread, value, env)?;
                return Ok(self.finish(thread, value));
            }
            Rare::Exit(status) => {
                let status = self.decide(thread, status, "the exit status is", env)?;
                return Ok(Flow::Exited(status as i32));
            }
            Rare::Abort => return Ok(Flow::Aborted),
            Rare::Unreachable => {
                let message = "control reached a place that it never should".to_string();
                return Err(self.violation(thread, ViolationKind::Unreachable, message));
            }
        }
        Ok(Flow::Next)
    }

    pub(in crate::interp) fn assign(&mut self, thread: ThreadId, dst: Option<Reg>, value: Value) {
        if let Some(dst) = dst {
            self.threads[thread].set(dst, value.truncate(dst.bits));
        }
    }

    /// Whether all of a synchronisation object is there; of a sleep, also of its mutex.
    pub(in crate::interp) fn find_object(
        &self,
        step: SyncStep,
        at: u64,
        bytes: u64,
        operand: u64,
    ) -> Result<(), Fault> {
        if bytes > 0 {
            self.memory.check(at, bytes, Intent::Read)?;
        }
        if step == SyncStep::CondSleep {
            self.memory.check(operand, mutex_bytes(self.program().model).into(), Intent::Read)?;
        }
        Ok(())
    }

    fn store(&mut self, thread: ThreadId, address: u64, bits: u16, value: Value) -> Checked<()> {
        let stored = self.memory.store(address, u64::from(bits.div_ceil(8)), value);
        stored.map_err(|fault| self.fault(thread, fault))
    }

    fn allocate(
        &mut self,
        thread: ThreadId,
        dst: Reg,
        size: u64,
        storage: Storage,
        zeroed: bool,
        env: &mut dyn Environment,
    ) -> Checked<()> {
        let pc = self.threads[thread].pc;
        let instance = match storage {
            Storage::Heap => Instance::new(Kind::Heap, size, pc, thread.0),
            Storage::Stack => {
                let mut instance = Instance::new(Kind::Stack, size, self.threads[thread].func.0, thread.0);
                instance.slot = u32::MAX;
                instance
            }
        };
        let instance = if zeroed { instance } else { instance.uninitialised() };
        let address = match storage {
            Storage::Heap => self.place_on_heap(thread, instance, env),
            Storage::Stack => self.memory.allocate(thread.0, instance),
        };
        match (address, storage) {
            (Some(address), Storage::Stack) => self.threads[thread].objects.push(address),
            (None, Storage::Stack) => return Err(self.stack_overflow(thread)),
            (_, Storage::Heap) => self.refused |= address.is_none(),
        }
        self.assign(thread, Some(dst), Value::defined(address.unwrap_or(0).into()));
        Ok(())
    }

    /// Ends the life of a stack object that the running activation has allocated.
    fn free_on_stack(&mut self, thread: ThreadId, address: u64) -> Checked<()> {
        let image = self.image();
        let state = &mut self.threads[thread];
        let first = state.first_object as usize + image.functions[state.func].slots.len();
        match state.objects[first..].iter().position(|object| *object == address) {
            Some(index) => _ = state.objects.remove(first + index),
            None => {
                let fault = Fault { kind: ViolationKind::InvalidFree, address, len: 0, intent: Intent::Free };
                return Err(self.fault(thread, fault));
            }
        }
        let pc = state.pc;
        self.memory.end(address, thread.0, pc);
        Ok(())
    }

    fn spawn(
        &mut self,
        thread: ThreadId,
        handle: Option<&(Ex, u16)>,
        func: &Ex,
        args: &[Ex],
        env: &mut dyn Environment,
    ) -> Checked<()> {
        let func = self.decide(thread, func, "the called address is", env)?;
        let func = self.callee_at(thread, func)?;
        if self.image().functions[func].entry.is_none() {
            // (What it does is not known, so that nothing can be said of this execution.)
            self.tainted = true;
            let name = &self.image().functions[func].name;
            let message = format!("a thread cannot start in `{name}`, which has no body");
            return Err(self.violation(thread, ViolationKind::InvalidCall, message));
        }
        let number = self.threads.len() as u128 + 1;
        if let Some((ptr, bits)) = handle {
            let address = self.decide(thread, ptr, "an address is", env)?;
            self.store(thread, address, *bits, Value::defined(number & ones(*bits)))?;
        }
        let name = self.child_name(thread);
        let child = self.add_thread(func, name);
        if self.threads[child].objects.contains(&0) {
            return Err(self.stack_overflow(child));
        }
        self.pass_arguments(thread, func, args, child, env)
    }

    /// The thread that a handle names, if it may still be joined or detached.
    pub(in crate::interp) fn joinable(&self, thread: ThreadId, handle: u64) -> Checked<ThreadId> {
        let target = self.thread_of(handle);
        let problem = match target {
            Some(target) if self.threads[target].joinable => return Ok(target),
            Some(target) => format!("{} has already been joined or detached", self.thread_name(target)),
            None => format!("{handle:#x} is not the handle of a thread"),
        };
        Err(self.violation(thread, ViolationKind::InvalidThread, problem))
    }

    pub(in crate::interp) fn thread_of(&self, handle: u64) -> Option<ThreadId> {
        let number = usize::try_from(handle.checked_sub(1)?).ok()?;
        (number < self.threads.len()).then(|| ThreadId::new(number))
    }

    /// Runs a function without a body: by its model, or as one that may do anything.
    fn call_external(
        &mut self,
        thread: ThreadId,
        func: FuncId,
        call: &Call,
        env: &mut dyn Environment,
    ) -> Checked<Flow> {
        let function = &self.image().functions[func];
        let mut args = Vec::with_capacity(call.args.len());
        for (index, arg) in call.args.iter().enumerate() {
            let value = self.value(thread, arg, env)?;
            let width = function.params.get(index).map_or(128, |param| param.bits);
            args.push(value.truncate(width));
        }
        let result = match function.native {
            Some(native) => self.run_native(thread, func, native, args, env)?,
            None => self.run_unknown(thread, func, &args, env)?,
        };
        if let Some(dst) = call.dst {
            let result = if function.ret.is_some() { result } else { Value::undefined(dst.bits) };
            self.assign(thread, Some(dst), result);
        }
        Ok(Flow::Next)
    }

    /// Nothing is known of it: it returns anything, and fills what its arguments point to with anything.
    fn run_unknown(
        &mut self,
        thread: ThreadId,
        func: FuncId,
        args: &[Value],
        env: &mut dyn Environment,
    ) -> Checked<Value> {
        self.tainted = true;
        let model = self.program().model;
        let function = &self.program().functions[func];
        for (arg, local) in args.iter().zip(&function.locals) {
            if local.ty == Type::Ptr && arg.is_defined() {
                self.memory.forget(arg.bits as u64);
            }
        }
        let width = function.ret.map_or(0, |ty| ty.bits(model));
        Ok(match width {
            0 => Value::default(),
            _ => Value::defined(env.nondet(thread, width, Source::External) & ones(width)),
        })
    }
}

/// What a read-modify-write leaves in memory.
fn modified(op: RmwOp, width: u16, old: Value, value: Value) -> Value {
    let binary = |op| Value {
        bits: arithmetic::binary(op, width, old.bits, value.bits),
        undefined: crate::interp::value::undefined_bits(op, width, width, old, value),
    };
    match op {
        RmwOp::Exchange => value,
        RmwOp::Add => binary(BinaryOp::Add),
        RmwOp::Sub => binary(BinaryOp::Sub),
        RmwOp::And => binary(BinaryOp::And),
        RmwOp::Or => binary(BinaryOp::Or),
        RmwOp::Xor => binary(BinaryOp::Xor),
        RmwOp::Nand => binary(BinaryOp::And).complement(width),
    }
}
