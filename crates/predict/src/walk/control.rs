//! Control flow: which instruction comes next, and the beginnings and ends of functions and threads.

use crate::program::event::Kind;
use crate::walk::concolic::{ConcolicValue, Evaluator, Leaves};
use crate::walk::listener::{LeftOut, Listener, Location, Position};
use crate::walk::objects::{InstanceId, InstanceKind, Instances};
use crate::walk::problem::{WalkEnd, WalkProblem, WalkResult};
use crate::walk::thread::{Frame, ThreadState, ThreadWalk};
use crate::walk::{Arguments, Walk};
use leno_ir::index::IndexVec;
use leno_ir::program::{
    Block, BlockId, Body, Expr, FuncId, Function, Instr, LocalId, Program, Span, TerminatorKind, Type,
};
use leno_ir::witness::is_schedule_point;
use leno_logic::term::Term;
use leno_trace::{Record, ThreadIndex};

/// Instructions after the last record, before the path counts as ended: a thread may have looped without records when
/// the run ended.
const STEPS_AFTER_LAST_RECORD: u64 = 1_000_000;

/// No stack has room for more frames; a walk along a damaged trace may recurse for ever.
const MOST_FRAMES: usize = 1 << 18;

/// The leaves of expressions in a running function.
struct FrameLeaves<'a> {
    program: &'a Program,
    function: &'a Function,
    instances: &'a Instances,
    thread: ThreadIndex,
    frame: &'a Frame,
}

impl Leaves for FrameLeaves<'_> {
    fn leaf(&self, expr: &Expr) -> ConcolicValue {
        // (The trace has the addresses of all objects and functions: the walk of a thread begins only if it has.)
        let address = match expr {
            Expr::Local(local) => return self.frame.locals[*local],
            Expr::Object(object) => self.instances.address_of(self.program, self.thread, *object),
            Expr::Slot(slot) => self.frame.slots.get(*slot).copied(),
            Expr::Function(function) => self.instances.function_address(*function),
            _ => None,
        };
        ConcolicValue::fixed(address.unwrap_or_default().into())
    }

    fn ty(&self, expr: &Expr) -> Type {
        expr.ty(&self.function.locals, self.program.model)
    }
}

impl<'p, L: Listener> Walk<'p, '_, L> {
    pub(crate) fn thread(&mut self, id: ThreadIndex) -> WalkResult<&mut ThreadWalk> {
        self.threads.get_mut(id).ok_or(WalkEnd::PathEnds)
    }

    pub(crate) fn frame(&mut self, id: ThreadIndex) -> WalkResult<&mut Frame> {
        self.thread(id)?.frames.last_mut().ok_or(WalkEnd::PathEnds)
    }

    fn blocks(&self, func: FuncId) -> Option<&'p IndexVec<BlockId, Block>> {
        match &self.program.functions.get(func)?.body {
            Body::Blocks(blocks) => Some(blocks),
            Body::External(_) => None,
        }
    }

    /// The block that a thread is in.
    fn block(&self, id: ThreadIndex) -> Option<(&'p Block, &Frame)> {
        let frame = self.threads.get(id)?.frames.last()?;
        Some((self.blocks(frame.func)?.get(frame.block)?, frame))
    }

    /// The instruction that a thread is about to execute; none if that is a terminator.
    pub(crate) fn instruction_at(&self, id: ThreadIndex) -> Option<&'p Instr> {
        let (block, frame) = self.block(id)?;
        block.instrs.get(frame.index as usize)
    }

    pub(crate) fn position(&self, id: ThreadIndex) -> WalkResult<Position> {
        let position = || {
            let (block, frame) = self.block(id)?;
            let instr = block.instrs.get(frame.index as usize);
            let span = instr.map_or(block.terminator.span, |instr| instr.span);
            let thread = self.threads.get(id)?;
            Some(Position { thread: id, place: frame.place(), span, clock: thread.clock, point: thread.point })
        };
        position().ok_or(WalkEnd::PathEnds)
    }

    /// The trace has another record than the one that the program needs here.
    pub(crate) fn unexpected(&self, id: ThreadIndex, expected: &'static str, found: Record) -> WalkEnd {
        // A failed assertion ends the records of its thread.
        if matches!(found, Record::Failed { .. } | Record::End { .. }) {
            return WalkEnd::PathEnds;
        }
        let show = |span: Span| match self.program.files.get(span.file) {
            Some(file) => format!("{file}:{}", span.line),
            None => "the start of the thread".to_string(),
        };
        let place = show(self.position(id).map_or(Span::NONE, |at| at.span));
        WalkEnd::Problem(WalkProblem::UnexpectedRecord { expected, place, found })
    }

    /// The value of an expression of the running function.
    pub(crate) fn evaluate(&mut self, id: ThreadIndex, expr: &Expr) -> WalkResult<ConcolicValue> {
        let frame = self.threads.get(id).and_then(|thread| thread.frames.last()).ok_or(WalkEnd::PathEnds)?;
        match expr {
            Expr::Local(local) => return Ok(frame.locals[*local]),
            Expr::Const { bits, .. } => return Ok(ConcolicValue::fixed(*bits)),
            _ => {}
        }
        let function = &self.program.functions[frame.func];
        let leaves = FrameLeaves { program: self.program, function, instances: self.instances, thread: id, frame };
        let mut evaluator = Evaluator { terms: &mut self.terms, model: self.program.model, pins: Vec::new() };
        let value = evaluator.value(&leaves, expr);
        for pin in evaluator.pins {
            self.leave_out(id, LeftOut::Float)?;
            self.assume(id, pin)?;
        }
        Ok(value)
    }

    /// The value of an expression, and its width.
    pub(crate) fn evaluate_with_width(&mut self, id: ThreadIndex, expr: &Expr) -> WalkResult<(u32, ConcolicValue)> {
        let func = self.frame(id)?.func;
        let ty = expr.ty(&self.program.functions[func].locals, self.program.model);
        Ok((self.width(ty), self.evaluate(id, expr)?))
    }

    pub(crate) fn width(&self, ty: Type) -> u32 {
        u32::from(ty.bits(self.program.model))
    }

    /// The width of a register of the running function.
    pub(crate) fn local_width(&mut self, id: ThreadIndex, local: LocalId) -> WalkResult<u32> {
        let func = self.frame(id)?.func;
        Ok(self.width(self.program.functions[func].locals[local].ty))
    }

    /// From here on the path is taken only if the condition holds.
    pub(crate) fn assume(&mut self, id: ThreadIndex, condition: Term) -> WalkResult {
        if self.terms.as_bool(condition) != Some(true) {
            let at = self.position(id)?;
            self.listener.assume(&mut self.terms, &at, condition);
        }
        Ok(())
    }

    /// From here on the path is taken only if the value is the recorded one.
    pub(crate) fn assume_recorded(&mut self, id: ThreadIndex, value: ConcolicValue, why: LeftOut) -> WalkResult {
        match value.pinned(&mut self.terms) {
            Some(pin) => {
                self.leave_out(id, why)?;
                self.assume(id, pin)
            }
            None => Ok(()),
        }
    }

    /// Here reorderings are left out.
    pub(crate) fn leave_out(&mut self, id: ThreadIndex, why: LeftOut) -> WalkResult {
        let span = self.position(id)?.span;
        self.left_out.add(why, span);
        Ok(())
    }

    /// The selector of a switch is the recorded one.
    fn assume_case(&mut self, id: ThreadIndex, selector: ConcolicValue) -> WalkResult {
        match selector.pinned(&mut self.terms) {
            Some(pin) => self.assume(id, pin),
            None => Ok(()),
        }
    }

    pub(crate) fn set(&mut self, id: ThreadIndex, local: LocalId, value: ConcolicValue) -> WalkResult {
        self.frame(id)?.locals[local] = value;
        Ok(())
    }

    /// One instruction or terminator. `alone`: all threads that could be waited for have come to the ends of their
    /// paths.
    pub(crate) fn step(&mut self, id: ThreadIndex, alone: bool) -> WalkResult {
        if self.is_stopped() {
            return Err(WalkEnd::PathEnds);
        }
        let thread = self.thread(id)?;
        if std::mem::take(&mut thread.moved_clock) {
            thread.clock = thread.clock.saturating_add(1);
        }
        thread.steps_without_record += 1;
        if thread.steps_without_record > STEPS_AFTER_LAST_RECORD && thread.records.peek().is_none() {
            return Err(thread.records.end());
        }
        let Some((block, frame)) = self.block(id) else { return Err(WalkEnd::PathEnds) };
        let (place, index) = (frame.place(), frame.index as usize);
        let Some(instr) = block.instrs.get(index) else { return self.terminate(id, &block.terminator.kind) };
        let depth = self.thread(id)?.frames.len();
        self.instruction(id, instr, alone)?;
        let is_point = is_schedule_point(self.program, instr);
        if let (true, Some(paths)) = (is_point, &mut self.paths) {
            paths.entry(id).or_default().push(place);
        }
        let thread = self.thread(id)?;
        thread.point += u32::from(is_point);
        // A call has pushed the frame of its callee, which returns to the instruction after it.
        if let Some(frame) = thread.frames.get_mut(depth.saturating_sub(1)) {
            frame.index += 1;
        }
        Ok(())
    }

    fn terminate(&mut self, id: ThreadIndex, kind: &TerminatorKind) -> WalkResult {
        match kind {
            TerminatorKind::Goto(target) => self.goto(id, *target),
            TerminatorKind::Branch { cond, then, otherwise } => {
                let value = self.evaluate(id, cond)?;
                let (taken, other) = if value.bits != 0 { (*then, *otherwise) } else { (*otherwise, *then) };
                if let Some(truth) = value.truth(&mut self.terms) {
                    let holds = if value.bits != 0 { truth } else { self.terms.not(truth) };
                    let untaken = self.terms.not(holds);
                    self.check_untaken_branch(id, other, untaken)?;
                    self.assume(id, holds)?;
                }
                self.goto(id, taken)
            }
            TerminatorKind::Switch { value, cases, default } => {
                let selector = self.evaluate(id, value)?;
                let target = cases.iter().find(|(bits, _)| *bits == selector.bits).map(|(_, target)| *target);
                if selector.term.is_some() {
                    for (condition, side) in self.switch_sides(selector, cases, *default) {
                        if side != target.unwrap_or(*default) {
                            self.check_untaken_branch(id, side, condition)?;
                        }
                    }
                }
                match target {
                    Some(_) => self.assume_case(id, selector)?,
                    None => self.assume_no_case(id, selector, cases)?,
                }
                self.goto(id, target.unwrap_or(*default))
            }
            TerminatorKind::Return(value) => self.leave(id, value.as_ref()),
            TerminatorKind::ThreadExit(value) => {
                let value = self.evaluate(id, value)?;
                self.finish(id, value)
            }
            TerminatorKind::Exit(_) | TerminatorKind::Abort => {
                self.event(id, Kind::Exit)?;
                Err(WalkEnd::PathEnds)
            }
            TerminatorKind::Unreachable => Err(WalkEnd::PathEnds),
        }
    }

    /// The selector of a switch is none of the cases.
    fn assume_no_case(&mut self, id: ThreadIndex, selector: ConcolicValue, cases: &[(u128, BlockId)]) -> WalkResult {
        let Some(term) = selector.term else { return Ok(()) };
        let width = self.terms.width(term);
        for (bits, _) in cases {
            let case = self.terms.bits(width, *bits);
            let same = self.terms.eq(term, case);
            let other = self.terms.not(same);
            self.assume(id, other)?;
        }
        Ok(())
    }

    fn goto(&mut self, id: ThreadIndex, target: BlockId) -> WalkResult {
        if target <= self.frame(id)?.block {
            self.come_round(id, target)?;
        }
        let frame = self.frame(id)?;
        (frame.block, frame.index) = (target, 0);
        Ok(())
    }

    /// Enters a function.
    pub(crate) fn enter(
        &mut self,
        id: ThreadIndex,
        func: FuncId,
        arguments: Arguments,
        dst: Option<LocalId>,
    ) -> WalkResult {
        if self.thread(id)?.frames.len() >= MOST_FRAMES {
            return Err(WalkEnd::Problem(WalkProblem::StackTooDeep));
        }
        let function = &self.program.functions[func];
        let mut locals: IndexVec<LocalId, ConcolicValue> =
            function.locals.iter().map(|_| ConcolicValue::default()).collect();
        let params = function.locals.iter_enumerated().take(function.params as usize);
        for ((local, declared), (width, value)) in params.zip(arguments) {
            let to = self.width(declared.ty);
            locals[local] = value.fit(&mut self.terms, *width, to);
        }
        let mut slots = IndexVec::new();
        for (slot, object) in function.slots.iter_enumerated() {
            slots.push(match self.private.slot_number(func, slot) {
                Some(number) => self.private_slot(id, number, object.size)?,
                None => match self.next(id)? {
                    Record::Slot { address, .. } => {
                        self.new_object(id, address, object.size)?;
                        address
                    }
                    other => return Err(self.unexpected(id, "a stack object", other)),
                },
            });
        }
        self.thread(id)?.frames.push(Frame { func, block: BlockId(0), index: 0, locals, slots, dst });
        Ok(())
    }

    /// The address of a private stack object.
    fn private_slot(&mut self, id: ThreadIndex, number: u32, size: u64) -> WalkResult<u64> {
        let miss = self.next_load_miss(id)?;
        let known = self.thread(id)?.slot_table.get_mut(number as usize).ok_or(WalkEnd::PathEnds)?;
        *known = miss.map_or(*known, |bits| bits as u64);
        let address = *known;
        self.new_private_object(id, address, size)?;
        Ok(address)
    }

    /// A new thread-private object. It begins as zeros.
    pub(crate) fn new_private_object(&mut self, id: ThreadIndex, address: u64, bytes: u64) -> WalkResult {
        let thread = self.thread(id)?;
        thread.spin.is_changed = true;
        thread.memory.clear(address, bytes);
        thread.add_object(address, bytes, InstanceId::private(id));
        let at = Location { instance: InstanceId::private(id), offset: address };
        self.listener.new_private_object(at, bytes);
        Ok(())
    }

    /// The next recorded object that the thread makes.
    pub(crate) fn new_object(&mut self, id: ThreadIndex, address: u64, size: u64) -> WalkResult<InstanceId> {
        let thread = self.threads.get_mut(id).ok_or(WalkEnd::PathEnds)?;
        let instance = self.instances.made(id, thread.made);
        thread.made += 1;
        if self.instances.get(instance).kind == InstanceKind::Slot {
            thread.add_object(address, size, instance);
        }
        Ok(instance)
    }

    /// Returns from a function.
    fn leave(&mut self, id: ThreadIndex, value: Option<&Expr>) -> WalkResult {
        let (width, value) = match value {
            Some(expr) => self.evaluate_with_width(id, expr)?,
            None => (64, ConcolicValue::default()),
        };
        if self.thread(id)?.frames.len() == 1 {
            let value = value.fit(&mut self.terms, width, 64);
            return self.finish(id, value);
        }
        self.end_lives(id)?;
        let thread = self.thread(id)?;
        let frame = thread.frames.pop().ok_or(WalkEnd::PathEnds)?;
        for address in &frame.slots {
            thread.own_objects.remove(address);
        }
        let Some(dst) = frame.dst else { return Ok(()) };
        let to = self.local_width(id, dst)?;
        let value = value.fit(&mut self.terms, width, to);
        self.set(id, dst, value)
    }

    /// The stack objects of a function that returns are gone.
    fn end_lives(&mut self, id: ThreadIndex) -> WalkResult {
        let slots: Vec<u64> = self.frame(id)?.slots.iter().copied().collect();
        for address in slots {
            let instance = self.locate(id, address)?.instance;
            if !instance.is_private() {
                self.event(id, Kind::EndLife { instance })?;
            }
        }
        Ok(())
    }

    /// The end of a thread.
    fn finish(&mut self, id: ThreadIndex, result: ConcolicValue) -> WalkResult {
        let at = self.position(id)?;
        match self.next(id)? {
            Record::Finished { clock } => {
                self.listener.event(&mut self.terms, &Position { clock, ..at }, Kind::Finish);
                if let Some(paths) = &mut self.paths {
                    paths.entry(id).or_default().push(at.place);
                }
                let thread = self.thread(id)?;
                thread.result = result;
                thread.point += 1;
                thread.state = ThreadState::Finished;
                Err(WalkEnd::PathEnds)
            }
            other => Err(self.unexpected(id, "the end of the thread", other)),
        }
    }
}
