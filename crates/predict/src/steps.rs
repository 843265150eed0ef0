//! What each instruction does to the walk.

use crate::express::{Evaluator, Val};
use crate::instances::InstanceId;
use crate::peek::kind_of;
use crate::trace::Record;
use crate::walk::{Action, Change, Going, Halt, Input, Listener, Location, State, Suspect, Touch, Walk};
use leno_ir::interp::ViolationKind;
use leno_ir::program::{Access, BinaryOp, Body, Callee, Expr, Instr, LocalId, Op, Order, Place, RmwOp, SyncOp, Type};
use leno_logic::term::{Term, Terms};

/// Threads that others may have started between two of one thread.
const MANY_THREADS: usize = 1 << 16;

/// What the number of a synchronisation object is kept apart by from the bytes of the object.
const COUNTER: u64 = 1 << 62;

/// Nothing lies below this address: it is the first page.
const NEAR_NULL: u128 = 4096;

impl<L: Listener> Walk<'_, '_, L> {
    pub(crate) fn instruction(&mut self, number: u32, instr: &Instr, alone: bool) -> Going {
        match &instr.op {
            Op::Assign { dst, value } => {
                let value = self.evaluate(number, value)?;
                self.set(number, *dst, value)
            }
            Op::Load { dst, from } => {
                let value = self.load(number, from)?;
                self.set(number, *dst, value)
            }
            Op::Store { to, value } => {
                let address = self.address(number, to)?;
                let value = self.evaluate(number, value)?;
                let is_quiet = self.is_quiet(number)?;
                if !is_quiet {
                    self.look_at_clock(number)?;
                }
                self.store(number, address, to, value, is_quiet)
            }
            Op::ReadModifyWrite { dst, at, op, value } => self.read_modify_write(number, *dst, at, *op, value),
            Op::CompareExchange { ok, old, at, expected, desired, .. } => {
                self.compare_exchange(number, (*ok, *old), at, expected, desired)
            }
            Op::Allocate { dst, zeroed, .. } => match self.next(number)? {
                Record::Allocated { address, bytes, .. } => {
                    let id = self.made(number, address, bytes)?;
                    if *zeroed {
                        self.instances.set_zeroed(id);
                    }
                    self.set(number, *dst, Val::fixed(address.into()))
                }
                Record::Quiet { address, bytes } => {
                    if address != 0 {
                        self.begin_private(number, address, bytes)?;
                    }
                    self.set(number, *dst, Val::fixed(address.into()))
                }
                other => Err(self.misfit(number, "an allocation", other)),
            },
            Op::Free { ptr } => {
                let address = self.pinned(number, ptr, None)?;
                if self.is_quiet(number)? {
                    self.thread(number)?.stack.remove(&address);
                    return Ok(());
                }
                match self.next(number)? {
                    Record::Freed { .. } => {
                        let thread = self.thread(number)?;
                        let index = thread.freed;
                        thread.freed += 1;
                        let instance = self.instances.freed(number, index);
                        self.act(number, Action::Free { instance })
                    }
                    other => Err(self.misfit(number, "a free", other)),
                }
            }
            Op::ObjectSize { dst, ptr } => {
                self.pinned(number, ptr, None)?;
                let value = self.next_value(number)?;
                self.set(number, *dst, Val::fixed(value))
            }
            Op::ThreadSelf { dst } => {
                let value = self.next_value(number)?;
                self.set(number, *dst, Val::fixed(value))
            }
            Op::Nondet { dst } => {
                let bits = self.next_value(number)?;
                let place = self.moment(number).ok_or(Halt::Over)?.place;
                self.thread(number)?.inputs.push(Input { bits, place });
                self.set(number, *dst, Val::fixed(bits))
            }
            Op::Assume { cond } => {
                let value = self.evaluate(number, cond)?;
                if value.bits == 0 {
                    return Err(Halt::Over);
                }
                if let Some(truth) = value.truth(&mut self.terms) {
                    self.demand(number, truth);
                }
                Ok(())
            }
            Op::Assert { cond, property, message } => {
                let value = self.evaluate(number, cond)?;
                let text = self.program.texts[*message].clone();
                self.assertion(number, value, kind_of(*property), instr, text)
            }
            Op::Call { dst, callee, args } => self.call(number, *dst, callee, args),
            Op::Spawn { handle, func, args } => self.spawn(number, handle.as_ref(), func, args),
            Op::Join { dst, thread } => self.join(number, *dst, thread, alone),
            Op::Sync { dst, op, at } => self.synchronise(number, *dst, op, at),
            Op::AtomicBegin => {
                self.next_sync(number)?;
                self.act(number, Action::BeginSection)
            }
            Op::AtomicEnd => {
                self.next_sync(number)?;
                self.act(number, Action::EndSection)
            }
            Op::Fence { .. } | Op::Detach { .. } | Op::Yield => Ok(()),
        }
    }

    /// Whether the instruction that a thread stands at needs no records.
    fn is_quiet(&mut self, number: u32) -> Result<bool, Halt> {
        let frame = self.frame(number)?;
        let place = Place { func: frame.func, block: frame.block, index: frame.index as u32 };
        Ok(self.privacy.is_quiet(place))
    }

    fn load(&mut self, number: u32, from: &Access) -> Result<Val, Halt> {
        let address = self.address(number, from)?;
        let bytes = from.ty.bytes(self.program.model) as u32;
        if self.is_quiet(number)? {
            let mask = crate::express::ones(self.width(from.ty));
            let held = self.thread(number)?.memory.read(address, bytes) & mask;
            let touch = private_touch(number, address, bytes);
            let at = self.moment(number).ok_or(Halt::Over)?;
            return Ok(self.listener.load(&mut self.terms, &at, touch, held));
        }
        let recorded = self.next_load(number, address, bytes)?;
        let touch = self.touch(number, address, from);
        let at = self.moment(number).ok_or(Halt::Over)?;
        Ok(self.listener.load(&mut self.terms, &at, touch, recorded))
    }

    fn store(&mut self, number: u32, address: u64, to: &Access, value: Val, is_quiet: bool) -> Going {
        let bytes = to.ty.bytes(self.program.model) as u32;
        let touch = match is_quiet {
            true => private_touch(number, address, bytes),
            false => {
                self.expect(number, address, bytes, value.bits)?;
                self.touch(number, address, to)
            }
        };
        if touch.at.instance.is_private() {
            self.thread(number)?.memory.write(address, bytes, value.bits);
        }
        let at = self.moment(number).ok_or(Halt::Over)?;
        self.listener.store(&mut self.terms, &at, touch, value);
        Ok(())
    }

    /// A store has no record of its own, but may have seen that the clock had moved.
    fn look_at_clock(&mut self, number: u32) -> Going {
        let until = self.until;
        let thread = self.thread(number)?;
        loop {
            match thread.records.peek() {
                Some(Record::Hits(hits)) if hits <= thread.hits => thread.hits -= hits,
                Some(Record::Clock(clock)) => {
                    if until.is_some_and(|until| clock > until) {
                        return Err(Halt::Over);
                    }
                    (thread.clock, thread.stepped) = (clock, false);
                }
                _ => return Ok(()),
            }
            thread.records.take();
            thread.silent = 0;
        }
    }

    pub(crate) fn act(&mut self, number: u32, action: Action) -> Going {
        let at = self.moment(number).ok_or(Halt::Over)?;
        self.listener.act(&mut self.terms, &at, action);
        Ok(())
    }

    fn assertion(&mut self, number: u32, value: Val, kind: ViolationKind, instr: &Instr, message: String) -> Going {
        let suspect = Suspect { kind, span: instr.span, message };
        let at = self.moment(number).ok_or(Halt::Over)?;
        match value.truth(&mut self.terms) {
            Some(truth) => {
                let bad = self.terms.not(truth);
                self.listener.suspect(&mut self.terms, &at, bad, suspect);
                if value.bits == 0 {
                    return Err(Halt::Over);
                }
                self.demand(number, truth);
                Ok(())
            }
            None if value.bits == 0 => {
                let always = self.terms.bool(true);
                self.listener.suspect(&mut self.terms, &at, always, suspect);
                Err(Halt::Over)
            }
            None => Ok(()),
        }
    }

    // --- memory

    /// The address of an access, which from here on is what it was.
    pub(crate) fn pinned_address(&mut self, number: u32, ptr: &Expr) -> Result<u64, Halt> {
        self.pinned(number, ptr, Some(ViolationKind::NullDereference))
    }

    /// An address or a handle, which from here on is what it was; and what is wrong if it is null.
    pub(crate) fn pinned(&mut self, number: u32, ptr: &Expr, if_null: Option<ViolationKind>) -> Result<u64, Halt> {
        let address = self.evaluate(number, ptr)?;
        if let Some(kind) = if_null {
            self.suspect_null(number, address, kind)?;
        }
        if let Some(pin) = address.pinned(&mut self.terms) {
            self.demand(number, pin);
        }
        Ok(address.bits as u64)
    }

    /// An address that may be null, and perhaps was.
    fn suspect_null(&mut self, number: u32, address: Val, kind: ViolationKind) -> Going {
        // A member or an element of what is not there has an address near null.
        let was_null = address.bits < NEAR_NULL && kind != ViolationKind::InvalidThread;
        if address.term.is_none() && !was_null {
            return Ok(());
        }
        let bad = match address.term {
            Some(term) => {
                let end = self.terms.bits(self.terms.width(term), NEAR_NULL);
                self.terms.ult(term, end)
            }
            None => self.terms.bool(was_null),
        };
        let at = self.moment(number).ok_or(Halt::Over)?;
        let message = "the pointer is null".to_string();
        self.listener.suspect(&mut self.terms, &at, bad, Suspect { kind, span: at.span, message });
        if was_null { Err(Halt::Over) } else { Ok(()) }
    }

    /// The address of an access, if it can be one.
    fn address(&mut self, number: u32, access: &Access) -> Result<u64, Halt> {
        let address = self.pinned_address(number, &access.ptr)?;
        if address > u64::MAX - 64 {
            return Err(Halt::Problem("it uses an address that nothing can have".to_string()));
        }
        Ok(address)
    }

    fn touch(&mut self, number: u32, address: u64, access: &Access) -> Touch {
        let at = self.locate(number, address);
        let bytes = access.ty.bytes(self.program.model) as u32;
        Touch { at, bytes, atomic: access.order != Order::NotAtomic }
    }

    /// What was there before an indivisible update.
    fn updated(&mut self, number: u32, access: &Access) -> Result<(Touch, u128), Halt> {
        let address = self.address(number, access)?;
        let recorded = self.next_value(number)?;
        self.expect(number, address, access.ty.bytes(self.program.model) as u32, recorded)?;
        Ok((Touch { atomic: true, ..self.touch(number, address, access) }, recorded))
    }

    /// The same, to memory that the walk keeps.
    fn keep(&mut self, number: u32, touch: Touch, value: Val) -> Going {
        if touch.at.instance.is_private() {
            self.thread(number)?.memory.write(touch.at.offset, touch.bytes, value.bits);
        }
        Ok(())
    }

    fn read_modify_write(&mut self, number: u32, dst: Option<LocalId>, at: &Access, op: RmwOp, value: &Expr) -> Going {
        let operand = self.evaluate(number, value)?;
        let (touch, recorded) = self.updated(number, at)?;
        let moment = self.moment(number).ok_or(Halt::Over)?;
        let old = self.listener.update_load(&mut self.terms, &moment, touch, recorded);
        let mut evaluator = Evaluator { terms: &mut self.terms, model: self.program.model, pins: Vec::new() };
        let new = match op {
            RmwOp::Exchange => operand,
            RmwOp::Add => evaluator.binary(BinaryOp::Add, at.ty, old, operand),
            RmwOp::Sub => evaluator.binary(BinaryOp::Sub, at.ty, old, operand),
            RmwOp::And => evaluator.binary(BinaryOp::And, at.ty, old, operand),
            RmwOp::Or => evaluator.binary(BinaryOp::Or, at.ty, old, operand),
            RmwOp::Xor => evaluator.binary(BinaryOp::Xor, at.ty, old, operand),
            RmwOp::Nand => {
                let both = evaluator.binary(BinaryOp::And, at.ty, old, operand);
                let ones = Val::fixed(crate::express::ones(u32::from(at.ty.bits(evaluator.model))));
                evaluator.binary(BinaryOp::Xor, at.ty, both, ones)
            }
        };
        self.keep(number, touch, new)?;
        self.listener.update_store(&mut self.terms, &moment, touch, Val::fixed(1), new);
        match dst {
            Some(dst) => self.set(number, dst, old),
            None => Ok(()),
        }
    }

    fn compare_exchange(
        &mut self,
        number: u32,
        (ok, old): (LocalId, LocalId),
        at: &Access,
        expected: &Expr,
        desired: &Expr,
    ) -> Going {
        let (expected, desired) = (self.evaluate(number, expected)?, self.evaluate(number, desired)?);
        let (touch, recorded) = self.updated(number, at)?;
        let moment = self.moment(number).ok_or(Halt::Over)?;
        let was = self.listener.update_load(&mut self.terms, &moment, touch, recorded);
        // Floats and pointers are compared as bits.
        let bits = Type::Int(at.ty.bits(self.program.model));
        let mut evaluator = Evaluator { terms: &mut self.terms, model: self.program.model, pins: Vec::new() };
        let same = evaluator.binary(BinaryOp::Eq, bits, was, expected);
        if same.bits != 0 {
            self.keep(number, touch, desired)?;
        }
        self.listener.update_store(&mut self.terms, &moment, touch, same, desired);
        let func = self.frame(number)?.func;
        let width = self.width(self.program.functions[func].locals[ok].ty);
        let same = same.fit(&mut self.terms, 1, width);
        self.set(number, ok, same)?;
        self.set(number, old, was)
    }

    // --- calls and threads

    fn call(&mut self, number: u32, dst: Option<LocalId>, callee: &Callee, args: &[Expr]) -> Going {
        let target = match callee {
            Callee::Direct(id) | Callee::Indirect(Expr::Function(id)) => Some(*id),
            Callee::Indirect(address) => {
                let address = self.pinned(number, address, Some(ViolationKind::InvalidCall))?;
                self.instances.functions.get(&address).copied()
            }
        };
        if let Some(mark) = target.and_then(|target| self.marks.get(&target).copied()) {
            self.act(number, mark)?;
        }
        let mut values = Vec::new();
        for arg in args {
            let ty = self.ty(number, arg);
            values.push((self.width(ty), self.evaluate(number, arg)?));
        }
        if let Some(target) = target
            && matches!(self.program.functions[target].body, Body::Blocks(_))
        {
            return self.enter(number, target, &values, dst);
        }
        // What it computes from its arguments nobody knows.
        let is_used = dst.is_some();
        for (_, value) in values {
            if let Some(pin) = value.pinned(&mut self.terms).filter(|_| is_used) {
                self.demand(number, pin);
            }
        }
        let result = self.outside(number)?;
        let is_known = target.is_some_and(|target| match &self.program.functions[target].body {
            Body::External(external) => external.known,
            Body::Blocks(_) => true,
        });
        let Some(dst) = dst else { return Ok(()) };
        let func = self.frame(number)?.func;
        let width = self.program.functions[func].locals[dst].ty.bits(self.program.model);
        let value = Val::fixed(result & crate::express::ones(width.into()));
        if !is_known {
            let place = self.moment(number).ok_or(Halt::Over)?.place;
            self.thread(number)?.inputs.push(Input { bits: value.bits, place });
        }
        self.set(number, dst, value)
    }

    /// Passes over a call of what is not part of the program, and all that it may have called back.
    fn outside(&mut self, number: u32) -> Result<u128, Halt> {
        match self.next(number)? {
            Record::Call => {}
            other => return Err(self.misfit(number, "a call", other)),
        }
        let mut depth = 1u32;
        loop {
            match self.next(number)? {
                Record::Call => depth += 1,
                Record::Return(bits) if depth == 1 => {
                    self.thread(number)?.hits = 0;
                    return Ok(bits);
                }
                Record::Return(_) => depth -= 1,
                Record::Slot { .. } | Record::Allocated { .. } => self.thread(number)?.made += 1,
                Record::Freed { .. } => self.thread(number)?.freed += 1,
                Record::Value { .. } => self.thread(number)?.hits = 0,
                _ => {}
            }
        }
    }

    fn spawn(&mut self, number: u32, handle: Option<&Access>, func: &Expr, args: &[Expr]) -> Going {
        let start = self.pinned(number, func, Some(ViolationKind::InvalidCall))?;
        let mut values = Vec::new();
        for arg in args {
            let ty = self.ty(number, arg);
            values.push((self.width(ty), self.evaluate(number, arg)?));
        }
        let address = handle.map(|access| self.address(number, access)).transpose()?;
        let Record::Spawn { thread: child, handle: bits, .. } = self.next(number)? else {
            return Err(Halt::Problem("a thread was started that the trace does not know".to_string()));
        };
        // (Numbers are given in order: these are in a damaged trace only.)
        if self.threads.get(child).is_some() || child as usize > self.threads.len() + MANY_THREADS {
            return Err(Halt::Problem("a thread was started that the trace does not know".to_string()));
        }
        self.handles.insert(bits, child);
        let at = self.moment(number).ok_or(Halt::Over)?;
        // One step: who stands before it has neither stored the handle nor started the thread.
        if let (Some(address), Some(access)) = (address, handle) {
            let touch = self.touch(number, address, access);
            let value = Val::fixed(u128::from(bits) & crate::express::ones(touch.bytes * 8));
            self.keep(number, touch, value)?;
            self.listener.store(&mut self.terms, &at, touch, value);
        }
        self.listener.act(&mut self.terms, &at, Action::Spawn { child });
        let thread = self.thread(number)?;
        thread.children += 1;
        let name = format!("{}.{}", thread.name, thread.children);
        match self.instances.functions.get(&start).copied() {
            Some(start) if matches!(self.program.functions[start].body, Body::Blocks(_)) => {
                self.add_thread(child, name, start, &values);
                Ok(())
            }
            _ => Err(Halt::Problem(format!("{name} starts in a function that is not part of the program"))),
        }
    }

    fn join(&mut self, number: u32, dst: Option<LocalId>, thread: &Expr, alone: bool) -> Going {
        self.look_at_clock(number)?;
        let thread_now = self.thread(number)?;
        let child = match thread_now.records.peek() {
            Some(Record::Join { thread, clock, .. }) => {
                // Nothing happens here before that.
                thread_now.clock = clock;
                Some(thread)
            }
            _ => None,
        };
        if let Some(child) = child
            && !alone
            && self.threads.get(child).is_some_and(|child| child.state == State::Running)
        {
            return Err(Halt::Waits);
        }
        self.pinned(number, thread, Some(ViolationKind::InvalidThread))?;
        let Record::Join { thread: child, result, .. } = self.next(number)? else { return Err(Halt::Over) };
        match self.threads.get(child).map(|child| child.state) {
            Some(State::Finished) if child != number => {}
            Some(_) if child != number => {
                return Err(Halt::Problem("it waits for a thread whose end is not in the trace".to_string()));
            }
            _ => return Err(Halt::Problem("it waits for the end of what is no thread of the program".to_string())),
        }
        self.act(number, Action::Join { child })?;
        let Some(dst) = dst else { return Ok(()) };
        let value = self.threads.get(child).map_or(Val::fixed(result.into()), |child| child.result);
        let func = self.frame(number)?.func;
        let width = self.width(self.program.functions[func].locals[dst].ty);
        let value = value.fit(&mut self.terms, 64, width);
        self.set(number, dst, value)
    }

    // --- synchronisation

    /// The record of a step on a synchronisation object: what it gave.
    fn next_sync(&mut self, number: u32) -> Result<i64, Halt> {
        match self.next(number)? {
            Record::Sync { result, .. } => Ok(result),
            Record::Release { .. } => Ok(0),
            other => Err(self.misfit(number, "a step of synchronisation", other)),
        }
    }

    /// The result of a step that was recorded before it was made; of the last one of a thread there is none.
    fn next_result(&mut self, number: u32) -> Result<i64, Halt> {
        match self.next(number)? {
            Record::Result(result) => Ok(result),
            other => Err(self.misfit(number, "the result of a step", other)),
        }
    }

    fn synchronise(&mut self, number: u32, dst: Option<LocalId>, op: &SyncOp, at: &Expr) -> Going {
        let address = self.pinned_address(number, at)?;
        let operand = match op {
            SyncOp::CondSleep { mutex } => Some(Val::fixed(self.pinned_address(number, mutex)?.into())),
            SyncOp::SemInit { value } | SyncOp::BarrierInit { count: value } => Some(self.evaluate(number, value)?),
            _ => None,
        };
        let object = self.locate(number, address);
        let record = self.next(number)?;
        let result = match record {
            Record::Sync { result, .. } => result,
            Record::Release { .. } => {
                self.sync_step(number, op, object, operand, 0)?;
                self.next_result(number)?
            }
            other => return Err(self.misfit(number, "a step of synchronisation", other)),
        };
        let mut value = Val::fixed(result as u128 & crate::express::ones(64));
        if matches!(record, Record::Sync { .. }) {
            let symbolic = self.sync_step(number, op, object, operand, result)?;
            if let Some(term) = symbolic {
                value =
                    Val { bits: value.bits & crate::express::ones(32), term: Some(self.terms.zero_extend(term, 64)) };
            }
        }
        let Some(dst) = dst else { return Ok(()) };
        let func = self.frame(number)?.func;
        let width = self.width(self.program.functions[func].locals[dst].ty);
        let value = value.fit(&mut self.terms, 64, width);
        self.set(number, dst, value)
    }

    /// What a step means to others; a result that is more than what was recorded.
    pub(crate) fn sync_step(
        &mut self,
        number: u32,
        op: &SyncOp,
        object: Location,
        operand: Option<Val>,
        result: i64,
    ) -> Result<Option<Term>, Halt> {
        let counter = Location { offset: object.offset | COUNTER, ..object };
        let done = result == 0;
        match op {
            SyncOp::Lock(_) | SyncOp::CondRelock if done => self.acquire(number, object, false)?,
            SyncOp::WriteLock if done => self.acquire(number, object, false)?,
            SyncOp::ReadLock if done => self.acquire(number, object, true)?,
            SyncOp::TryLock(_) | SyncOp::TryWriteLock if done => self.acquire(number, object, false)?,
            SyncOp::TryReadLock if done => self.acquire(number, object, true)?,
            SyncOp::TryLock(_) | SyncOp::TryWriteLock => {
                self.act(number, Action::Busy { lock: object, shared: false })?;
            }
            SyncOp::TryReadLock => self.act(number, Action::Busy { lock: object, shared: true })?,
            SyncOp::Unlock(_) | SyncOp::RwUnlock => self.release(number, object)?,
            SyncOp::CondSleep { .. } => {
                let mutex = operand.map_or(0, |mutex| mutex.bits as u64);
                let lock = self.locate(number, mutex);
                self.act(number, Action::Sleep { condition: object })?;
                self.release(number, lock)?;
            }
            SyncOp::CondWake { .. } => self.act(number, Action::Wake { condition: object, timed_out: !done })?,
            SyncOp::CondSignal => self.act(number, Action::Signal { condition: object, broadcast: false })?,
            SyncOp::CondBroadcast => self.act(number, Action::Signal { condition: object, broadcast: true })?,
            SyncOp::SemInit { .. } => {
                let value = operand.unwrap_or_default().term(&mut self.terms, 32);
                self.count(number, counter, &mut |_, _| Change { guard: None, new: Some(value) })?;
            }
            SyncOp::SemWait => {
                self.count(number, counter, &mut |terms, old| take(terms, old))?;
            }
            SyncOp::SemTryWait if done => {
                self.count(number, counter, &mut |terms, old| take(terms, old))?;
            }
            SyncOp::SemTryWait => {
                self.count(number, counter, &mut |terms, old| {
                    let zero = terms.bits(32, 0);
                    Change { guard: Some(terms.eq(old, zero)), new: None }
                })?;
            }
            SyncOp::SemPost => {
                self.count(number, counter, &mut |terms, old| {
                    let one = terms.bits(32, 1);
                    Change { guard: None, new: Some(terms.add(old, one)) }
                })?;
            }
            SyncOp::SemGetValue => return self.count(number, counter, &mut |_, _| Change { guard: None, new: None }),
            SyncOp::BarrierInit { .. } => {
                let size = operand.map_or(0, |size| size.bits & 0xffff_ffff);
                self.barriers.insert(object, size);
                let zero = self.terms.bits(32, 0);
                self.count(number, counter, &mut |_, _| Change { guard: None, new: Some(zero) })?;
            }
            SyncOp::BarrierArrive => {
                let ticket = self.count(number, counter, &mut |terms, old| {
                    let one = terms.bits(32, 1);
                    Change { guard: None, new: Some(terms.add(old, one)) }
                })?;
                if let Some(ticket) = ticket {
                    self.thread(number)?.tickets.insert(object, ticket);
                }
            }
            SyncOp::BarrierLeave { .. } => self.leave_barrier(number, object, counter)?,
            SyncOp::OnceBegin => {
                let (expected, new) = if result == 1 { (0, Some(1)) } else { (2, None) };
                self.count(number, counter, &mut |terms, old| {
                    let expected = terms.bits(32, expected);
                    let new = new.map(|new| terms.bits(32, new));
                    Change { guard: Some(terms.eq(old, expected)), new }
                })?;
            }
            SyncOp::OnceEnd => {
                self.count(number, counter, &mut |terms, _| Change { guard: None, new: Some(terms.bits(32, 2)) })?;
            }
            _ => {}
        }
        Ok(None)
    }

    fn leave_barrier(&mut self, number: u32, object: Location, counter: Location) -> Going {
        let size = self.barriers.get(&object).copied().unwrap_or(0);
        let ticket = self.thread(number)?.tickets.get(&object).copied();
        let (Some(ticket), true) = (ticket, size > 0) else { return Ok(()) };
        self.count(number, counter, &mut |terms, old| {
            let size = terms.bits(32, size);
            let (mine, now) = (terms.udiv(ticket, size), terms.udiv(old, size));
            Change { guard: Some(terms.ult(mine, now)), new: None }
        })?;
        Ok(())
    }

    fn count(
        &mut self,
        number: u32,
        counter: Location,
        change: &mut dyn FnMut(&mut Terms, Term) -> Change,
    ) -> Result<Option<Term>, Halt> {
        let at = self.moment(number).ok_or(Halt::Over)?;
        Ok(self.listener.count(&mut self.terms, &at, counter, change))
    }

    fn acquire(&mut self, number: u32, lock: Location, shared: bool) -> Going {
        let held = self.thread(number)?.held.entry(lock).or_default();
        *held += 1;
        // Beyond the first, a recursive lock is nobody else's business.
        if *held > 1 { Ok(()) } else { self.act(number, Action::Acquire { lock, shared }) }
    }

    fn release(&mut self, number: u32, lock: Location) -> Going {
        let held = self.thread(number)?.held.entry(lock).or_default();
        *held = held.saturating_sub(1);
        if *held > 0 { Ok(()) } else { self.act(number, Action::Release { lock }) }
    }
}

fn private_touch(number: u32, address: u64, bytes: u32) -> Touch {
    Touch { at: Location { instance: InstanceId::private(number), offset: address }, bytes, atomic: false }
}

/// One less, if there is one.
fn take(terms: &mut Terms, old: Term) -> Change {
    let (zero, one) = (terms.bits(32, 0), terms.bits(32, 1));
    let none = terms.eq(old, zero);
    Change { guard: Some(terms.not(none)), new: Some(terms.sub(old, one)) }
}
