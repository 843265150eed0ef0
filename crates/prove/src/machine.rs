//! What a thread does from one stop to the next, in a state that stands for many.
//!
//! [`Machine::run`] executes the instruction at a stop and everything behind it up to the next stops, and says in which
//! states these are reached, which values it gave to shared cells for others to see, which threads it started, and which
//! assertions may fail on the way. Paths stay apart until the next stop, unless they are many.

use crate::assertions::Assertions;
use crate::bounds::Stretch;
use crate::cells::{CellId, Cells, Extent, WORD_BYTES, cell_width, counts, initial_bits, is_followed, slots_of};
use crate::code::{Call, Code, FrameId, NodeId, StopId};
use crate::evaluate::{Evaluator, not_null};
use crate::partition::Partition;
use crate::state::{Definition, Linear, State, Value, Variable};
use crate::states::States;
use crate::tables::{TableRead, WAYS};
use leno_domains::{Domain, Numbers, Predicate, Product, Side};
use leno_ir::analysis::points_to::{AbstractId, AbstractObject};
use leno_ir::analysis::threads::RootId;
use leno_ir::index::Idx;
use leno_ir::program::{Access, Expr, LocalId, Op, RmwOp, SyncOp, TerminatorKind};
use leno_verify::exclusion::is_hidden;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// So many paths to one node are kept apart.
const MOST_PATHS: usize = 12;

/// An assertion that may not hold.
#[derive(Clone, Debug)]
pub struct Failure<'p> {
    pub node: NodeId,
    pub state: State<'p>,
}

/// What comes of a segment.
#[derive(Clone, Debug, Default)]
pub struct Segment<'p> {
    pub next: BTreeMap<StopId, Vec<State<'p>>>,
    /// What other threads may see from now on.
    pub published: BTreeSet<CellId>,
    /// Where another thread watches: the states in which it sees something new.
    pub seen: Vec<State<'p>>,
    pub started: Vec<(RootId, State<'p>)>,
    pub failures: Vec<Failure<'p>>,
    /// Where it came by; only if bounds are looked at.
    pub visited: BTreeSet<NodeId>,
}

#[derive(Debug)]
pub struct Machine<'a, 'p> {
    pub code: &'a Code<'a, 'p>,
    pub cells: &'a Cells,
    evaluator: Evaluator<'a, 'p>,
    partition: Rc<Partition>,
    /// The assertions whose outcome is looked for: bounds are looked at only where these are.
    assertions: Option<&'a Assertions>,
}

/// States on their way to a node.
pub type Outputs<'p> = Vec<(NodeId, State<'p>)>;

impl<'a, 'p> Machine<'a, 'p> {
    pub fn new(code: &'a Code<'a, 'p>, cells: &'a Cells, partition: Rc<Partition>) -> Machine<'a, 'p> {
        Machine { code, cells, evaluator: Evaluator { code }, partition, assertions: None }
    }

    /// The same, for saying which of these hold.
    pub fn looking_at(&self, assertions: &'a Assertions) -> Machine<'a, 'p> {
        Machine { assertions: Some(assertions), ..Machine::new(self.code, self.cells, self.partition.clone()) }
    }

    fn look(&self, node: NodeId, op: &'p Op, state: &State<'p>, segment: &mut Segment<'p>) {
        if !self.assertions.is_some_and(|assertions| assertions.contains(node)) {
            return;
        }
        segment.visited.insert(node);
        let is_access = !matches!(op, Op::Assert { .. });
        if is_access && !self.evaluator.is_in_bounds(state, self.code.frame_of(node), op) {
            segment.failures.push(Failure { node, state: state.clone() });
        }
    }

    /// The state in which the main thread begins.
    pub fn initial(&self, root: RootId) -> State<'p> {
        let mut state = self.own_cells(root);
        for (id, cell) in self.cells.iter().filter(|(_, cell)| cell.is_shared) {
            self.set_initial(&mut state, id, cell.extent);
        }
        state
    }

    /// What every thread begins with: its thread-local objects, and what is not shared.
    fn own_cells(&self, _: RootId) -> State<'p> {
        let mut state = State::anything(&self.partition);
        for (id, cell) in self.cells.iter().filter(|(_, cell)| !cell.is_shared) {
            self.set_initial(&mut state, id, cell.extent);
        }
        state
    }

    fn set_initial(&self, state: &mut State<'p>, cell: CellId, extent: Extent) {
        let AbstractObject::Static(object) = self.code.facts.points_to().objects()[extent.object] else { return };
        let width = cell_width(extent.bytes);
        if let Some(bits) = initial_bits(self.code.program(), object, extent.offset, extent.bytes) {
            state.assign(Variable::Cell(cell), Value::constant(width, bits), None, None);
        }
    }

    pub fn run(&self, stop: StopId, states: &States<'p>) -> Segment<'p> {
        let mut all = Segment::default();
        for state in states.iter() {
            let segment = self.run_one(stop, state);
            for (next, states) in segment.next {
                all.next.entry(next).or_default().extend(states);
            }
            all.published.extend(segment.published);
            all.started.extend(segment.started);
            all.failures.extend(segment.failures);
            all.visited.extend(segment.visited);
        }
        all
    }

    /// The same, from one state.
    pub fn run_one(&self, stop: StopId, state: &State<'p>) -> Segment<'p> {
        let mut segment = Segment::default();
        if state.is_never() {
            return segment;
        }
        let start = self.code.stops()[stop];
        let mut waiting: BTreeMap<(u32, NodeId), Vec<State<'p>>> = BTreeMap::new();
        let mut outputs = Vec::new();
        self.step(start, state.clone(), &mut outputs, &mut segment);
        loop {
            for (node, state) in outputs.drain(..) {
                self.arrive(node, state, &mut waiting, &mut segment);
            }
            let Some(((_, node), states)) = waiting.pop_first() else { return segment };
            for state in states {
                self.step(node, state, &mut outputs, &mut segment);
            }
        }
    }

    fn arrive(
        &self,
        node: NodeId,
        mut state: State<'p>,
        waiting: &mut BTreeMap<(u32, NodeId), Vec<State<'p>>>,
        segment: &mut Segment<'p>,
    ) {
        if state.is_never() {
            return;
        }
        self.settle(node, &mut state, segment);
        if let Some(stop) = self.code.stop(node) {
            segment.next.entry(stop).or_default().push(state);
            return;
        }
        let states = waiting.entry((self.code.order(node), node)).or_default();
        if states.len() < MOST_PATHS {
            states.push(state);
        } else if let Some(last) = states.last_mut() {
            *last = last.join(&state);
        }
    }

    /// What changes by getting to a node.
    pub fn settle(&self, node: NodeId, state: &mut State<'p>, segment: &mut Segment<'p>) {
        self.publish(state, segment, |cell| self.is_hidden(node, cell));
        self.forget_dead(node, state);
    }

    /// Others see a cell that this thread has changed, as soon as nothing hides it any more.
    fn publish(&self, state: &mut State<'p>, segment: &mut Segment<'p>, is_hidden: impl Fn(CellId) -> bool) {
        let seen: Vec<CellId> = state.dirty().filter(|cell| !is_hidden(*cell)).collect();
        for cell in &seen {
            state.set_clean(*cell);
            state.forget(Variable::Seen(*cell));
        }
        if state.is_watched() && !seen.is_empty() {
            segment.seen.push(state.clone());
        }
        segment.published.extend(seen);
    }

    /// Whether no other thread can look at a cell while a thread is here.
    pub fn is_hidden(&self, node: NodeId, cell: CellId) -> bool {
        is_hidden(self.code, self.cells, node, cell)
    }

    /// At the beginning of a block: registers that are not going to be used.
    fn forget_dead(&self, node: NodeId, state: &mut State<'p>) {
        let (place, frame) = (self.code.place(node), self.code.frame_of(node));
        if place.index != 0 {
            return;
        }
        let mut active = vec![frame];
        while let Some((caller, _)) = active.last().and_then(|last| self.code.frames[*last].caller) {
            active.push(caller);
        }
        let live = self.code.facts.liveness(place.func).get(place.block.index());
        state.keep_registers(|of, local| match of == frame {
            _ if self.code.back(of).is_some() => true,
            true => live.is_none_or(|live| live.registers.get(local.index()).copied().unwrap_or(true)),
            false => active.contains(&of),
        });
    }

    fn extent(&self, cell: CellId) -> Extent {
        self.cells.extent(cell)
    }

    pub fn step(&self, node: NodeId, state: State<'p>, outputs: &mut Outputs<'p>, segment: &mut Segment<'p>) {
        match self.code.instruction(node) {
            Some(op) => self.execute(node, op, state, outputs, segment),
            None => self.leave(node, state, outputs, segment),
        }
    }

    fn leave(&self, node: NodeId, mut state: State<'p>, outputs: &mut Outputs<'p>, segment: &mut Segment<'p>) {
        let frame = self.code.frame_of(node);
        let Some(kind) = self.code.terminator(node) else { return };
        let start = |block| self.code.block_start(frame, block);
        match kind {
            TerminatorKind::Goto(target) => outputs.push((start(*target), state)),
            TerminatorKind::Branch { cond, then, otherwise } => {
                for (target, holds) in [(*then, true), (*otherwise, false)] {
                    let mut state = state.clone();
                    self.evaluator.assume(&mut state, frame, cond, holds);
                    outputs.push((start(target), state));
                }
            }
            TerminatorKind::Switch { value, cases, default } => {
                for (bits, target) in cases {
                    let mut case = state.clone();
                    self.evaluator.assume_equal(&mut case, frame, value, *bits, true);
                    outputs.push((start(*target), case));
                    self.evaluator.assume_equal(&mut state, frame, value, *bits, false);
                }
                outputs.push((start(*default), state));
            }
            TerminatorKind::Return(value) => match self.code.frames[frame].caller {
                Some((caller, place)) => {
                    let call = self.code.node(caller, place);
                    self.give_back(frame, caller, call, value.as_ref(), &mut state);
                    outputs.extend(self.code.after_call(frame).map(|next| (next, state)));
                }
                None => self.publish(&mut state, segment, |_| false),
            },
            TerminatorKind::ThreadExit(_) => self.publish(&mut state, segment, |_| false),
            TerminatorKind::Exit(_) | TerminatorKind::Abort | TerminatorKind::Unreachable => {}
        }
    }

    fn give_back(&self, frame: FrameId, caller: FrameId, call: NodeId, value: Option<&'p Expr>, state: &mut State<'p>) {
        let Some(Op::Call { dst: Some(dst), .. }) = self.code.instruction(call) else { return };
        let width = self.evaluator.width(caller, &Expr::Local(*dst));
        let dst = Variable::Register(caller, *dst);
        match value.filter(|value| self.evaluator.width(frame, value) == width) {
            Some(value) => {
                let numbers = self.evaluator.value(state, frame, value);
                self.evaluator.assign(state, dst, numbers, Some(Definition::Expr(frame, value)));
            }
            None => state.forget(dst),
        }
    }

    fn enter(&self, callee: FrameId, caller: FrameId, args: &'p [Expr], state: &mut State<'p>) {
        let values: Vec<Value> = args.iter().map(|arg| self.evaluator.value(state, caller, arg)).collect();
        state.forget_frame(callee);
        let func = self.code.frames[callee].func;
        for slot in slots_of(self.code.facts, func) {
            self.change_all(state, slot);
        }
        let params = self.code.program().functions[func].params as usize;
        for (number, (arg, value)) in args.iter().zip(values).enumerate().take(params) {
            let local = LocalId::new(number);
            if self.evaluator.width(callee, &Expr::Local(local)) == value.width {
                let definition = Some(Definition::Expr(caller, arg));
                self.evaluator.assign(state, Variable::Register(callee, local), value, definition);
            }
        }
    }

    fn execute(
        &self,
        node: NodeId,
        op: &'p Op,
        mut state: State<'p>,
        outputs: &mut Outputs<'p>,
        segment: &mut Segment<'p>,
    ) {
        let frame = self.code.frame_of(node);
        let next = NodeId(node.0 + 1);
        let register = |local: LocalId| Variable::Register(frame, local);
        self.look(node, op, &state, segment);
        match op {
            Op::Assign { dst, value } => {
                let numbers = self.evaluator.value(&state, frame, value);
                let definition = Some(Definition::Expr(frame, value));
                self.evaluator.assign(&mut state, register(*dst), numbers, definition);
            }
            Op::Load { dst, from } => {
                if let Some(read) = self.table_read(&state, frame, from) {
                    let after = |is_zero| self.evaluator.after_table_read(&state, frame, *dst, &read, is_zero);
                    outputs.extend(WAYS.map(|is_zero| (next, after(is_zero))));
                    return;
                }
                self.load(&mut state, frame, *dst, from);
            }
            Op::Store { to, value } => {
                let numbers = self.evaluator.value(&state, frame, value);
                self.store(&mut state, frame, to, numbers, Some(Definition::Expr(frame, value)), None);
            }
            Op::ReadModifyWrite { dst, at, op, value } => self.modify(&mut state, frame, *dst, at, *op, value),
            Op::CompareExchange { .. } => {
                for state in self.compare_exchange(state, frame, op) {
                    outputs.push((next, state));
                }
                return;
            }
            Op::Allocate { dst, zeroed, .. } => {
                let site = AbstractObject::Site(self.code.place(node));
                if let Some(object) = self.code.facts.points_to().object(site) {
                    self.change_all(&mut state, object);
                    if *zeroed {
                        self.set_zero(&mut state, object);
                    }
                }
                state.forget(register(*dst));
            }
            Op::Assume { cond } => self.evaluator.assume(&mut state, frame, cond, true),
            Op::Assert { cond, .. } => {
                let mut failing = state.clone();
                self.evaluator.assume(&mut failing, frame, cond, false);
                if !failing.is_never() {
                    segment.failures.push(Failure { node, state: failing });
                }
                self.evaluator.assume(&mut state, frame, cond, true);
            }
            Op::Call { dst, args, .. } => {
                for call in self.code.calls(node) {
                    let mut state = state.clone();
                    if let Call::Inside(callee) = call {
                        self.enter(callee, frame, args, &mut state);
                        outputs.push((self.code.block_start(callee, leno_ir::program::BlockId(0)), state));
                        continue;
                    }
                    self.change_written(&mut state, node, op);
                    dst.iter().for_each(|dst| state.forget(register(*dst)));
                    outputs.push((next, state));
                }
                return;
            }
            Op::Spawn { handle, args, .. } => {
                if let Some(handle) = handle {
                    let width = u32::from(handle.ty.bits(self.code.program().model));
                    self.store(&mut state, frame, handle, not_null(width), None, None);
                }
                self.publish(&mut state, segment, |cell| self.is_hidden(next, cell));
                for (root, thread) in self.code.facts.threads().roots().iter_enumerated() {
                    if thread.created_at == Some(self.code.place(node)) {
                        segment.started.push((root, self.child(&state, root, frame, args)));
                    }
                }
            }
            Op::ThreadSelf { dst } => {
                let width = self.evaluator.width(frame, &Expr::Local(*dst));
                state.assign(register(*dst), not_null(width), None, None);
            }
            Op::Sync { dst, op: sync, at } if counts(sync) => {
                for state in self.count(state, frame, *dst, sync, at) {
                    outputs.push((next, state));
                }
                return;
            }
            Op::Sync { op: sync, at, .. } => {
                self.change_sync(&mut state, node, op, at, sync);
                if let SyncOp::CondSleep { mutex } | SyncOp::CondWake { mutex, .. } = sync {
                    self.change_sync(&mut state, node, op, mutex, &SyncOp::CondRelock);
                }
                op.for_each_result(|local| state.forget(register(local)));
            }
            Op::BeginLife { slot } => {
                let slot = AbstractObject::Slot(self.code.frames[frame].func, *slot);
                if let Some(object) = self.code.facts.points_to().object(slot) {
                    self.change_all(&mut state, object);
                }
            }
            Op::Undefine { dst } => state.forget(register(*dst)),
            Op::Fence { .. }
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Yield
            | Op::Free { .. }
            | Op::EndLife { .. }
            | Op::CheckMove { .. }
            | Op::Detach { .. } => {}
            Op::Nondet { .. } | Op::ObjectSize { .. } | Op::Join { .. } => {
                op.for_each_result(|local| state.forget(register(local)));
            }
        }
        outputs.push((next, state));
    }

    /// The state in which a new thread begins.
    fn child(&self, parent: &State<'p>, root: RootId, frame: FrameId, args: &'p [Expr]) -> State<'p> {
        let mut state = self.own_cells(root);
        state.inherit(parent, |cell| self.cells.is_shared(cell) && !parent.is_dirty(cell));
        let entry = self.code.frame_of(self.code.entry(root));
        let params = self.code.program().functions[self.code.frames[entry].func].params as usize;
        for (number, arg) in args.iter().enumerate().take(params) {
            let (value, local) = (self.evaluator.value(parent, frame, arg), LocalId::new(number));
            if self.evaluator.width(entry, &Expr::Local(local)) == value.width {
                let definition = constant_definition(parent, frame, arg);
                state.assign(Variable::Register(entry, local), value, definition, None);
            }
        }
        state
    }

    /// The cells that an access may be of, if they are all that it may be of.
    pub fn candidates(&self, frame: FrameId, access: &Access) -> Option<Vec<CellId>> {
        let (facts, func) = (self.code.facts, self.code.frames[frame].func);
        let objects = facts.points_to().points_to(func, &access.ptr);
        let number = facts.offsets().number(facts.program(), func, &access.ptr);
        let (offsets, bytes) = (number.few()?, access.ty.bytes(facts.program().model));
        let mut cells = Vec::new();
        for object in objects.iter() {
            for offset in offsets {
                cells.push(self.cells.get(Extent { object, offset: *offset, bytes })?);
            }
        }
        Some(cells)
    }

    /// The place of an access that is certain.
    pub fn place_of(&self, state: &State<'p>, frame: FrameId, access: &Access) -> Option<Extent> {
        let (object, offset) = self.evaluator.address(state, frame, &access.ptr)?;
        let bytes = access.ty.bytes(self.code.program().model);
        is_followed(self.code.facts, object).then_some(Extent { object, offset, bytes })
    }

    /// What an access reads, and the cell that it equals.
    fn read(&self, state: &State<'p>, frame: FrameId, access: &Access) -> (Value, Option<CellId>) {
        let model = self.code.program().model;
        let width = u32::from(access.ty.bits(model));
        if u64::from(width) != 8 * access.ty.bytes(model) {
            return (Value::any(width), None);
        }
        let value = |cell: CellId| self.evaluator.variable(state, Variable::Cell(cell), width);
        if let Some(extent) = self.place_of(state, frame, access) {
            let cell = self.cells.get(extent);
            return (cell.map_or(Value::any(width), value), cell);
        }
        let candidates = self.candidates(frame, access).filter(|candidates| !candidates.is_empty());
        let values = candidates.into_iter().flatten().map(value);
        (values.reduce(|all, value| all.join(&value)).unwrap_or(Value::any(width)), None)
    }

    /// A read from a table at an index that is not certain.
    pub fn table_read(&self, state: &State<'p>, frame: FrameId, from: &'p Access) -> Option<TableRead<'p>> {
        match self.evaluator.address(state, frame, &from.ptr) {
            Some(_) => None,
            None => self.evaluator.table_read(self.cells, state, frame, from),
        }
    }

    fn load(&self, state: &mut State<'p>, frame: FrameId, dst: LocalId, from: &Access) {
        let (value, cell) = self.read(state, frame, from);
        let same = cell.map(|cell| Definition::Same(Variable::Cell(cell)));
        self.evaluator.assign(state, Variable::Register(frame, dst), value, same);
    }

    fn store(
        &self,
        state: &mut State<'p>,
        frame: FrameId,
        to: &'p Access,
        value: Value,
        definition: Option<Definition<'p>>,
        linear: Option<Linear>,
    ) {
        if let Some(extent) = self.place_of(state, frame, to) {
            let cell = self.cells.get(extent);
            self.change_overlapping(state, extent, cell);
            if let Some(cell) = cell {
                self.keep_seen(state, cell);
                match (u64::from(value.width) == 8 * extent.bytes, linear) {
                    (true, Some(_)) => state.assign(Variable::Cell(cell), value, definition, linear),
                    (true, None) => self.evaluator.assign(state, Variable::Cell(cell), value, definition),
                    (false, _) => state.forget(Variable::Cell(cell)),
                }
                self.touch(state, cell);
            }
            return;
        }
        let func = self.code.frames[frame].func;
        let candidates = self.candidates(frame, to);
        if let Some(stretch) = self.stretch_of(state, frame, to) {
            let bytes = (stretch.to - stretch.from) as u64;
            self.change_overlapping(state, Extent { object: stretch.object, offset: stretch.from, bytes }, None);
            return;
        }
        let bytes = to.ty.bytes(self.code.program().model);
        for object in self.code.facts.points_to().points_to(func, &to.ptr).iter() {
            let Some(candidates) = &candidates else {
                self.change_all(state, object);
                continue;
            };
            let of_object: Vec<(CellId, Extent)> =
                self.cells.of_object(object).map(|(cell, extent)| (cell, *extent)).collect();
            for (cell, extent) in of_object {
                if candidates.contains(&cell) {
                    self.keep_seen(state, cell);
                    match u64::from(value.width) == 8 * bytes {
                        true => state.interfere(cell, value),
                        false => state.forget(Variable::Cell(cell)),
                    }
                    self.touch(state, cell);
                }
                let hits = |hit: &CellId| {
                    let hit = self.extent(*hit);
                    hit.object == object && extent.overlaps(hit.offset, bytes)
                };
                if candidates.iter().any(|hit| *hit != cell && hits(hit)) {
                    self.change(state, cell);
                }
            }
        }
    }

    /// Where a store goes that is neither certain nor to one of a few cells, if it stays in a part of an object.
    pub fn stretch_of(&self, state: &State<'p>, frame: FrameId, to: &'p Access) -> Option<Stretch> {
        if self.place_of(state, frame, to).is_some() || self.candidates(frame, to).is_some() {
            return None;
        }
        self.evaluator.stretch(state, frame, to)
    }

    fn modify(
        &self,
        state: &mut State<'p>,
        frame: FrameId,
        dst: Option<LocalId>,
        at: &'p Access,
        op: RmwOp,
        value: &'p Expr,
    ) {
        let (old, cell) = self.read(state, frame, at);
        let operand = self.evaluator.value(state, frame, value);
        let width = old.width;
        let binary = |op, a: &Product, b: &Product| Product::binary(op, width, a, b);
        let numbers = match (operand.width == width, op) {
            (false, _) => Product::top(&width),
            (_, RmwOp::Exchange) => operand.numbers,
            (_, RmwOp::Add) => binary(leno_domains::Binary::Add, &old.numbers, &operand.numbers),
            (_, RmwOp::Sub) => binary(leno_domains::Binary::Sub, &old.numbers, &operand.numbers),
            (_, RmwOp::And) => binary(leno_domains::Binary::And, &old.numbers, &operand.numbers),
            (_, RmwOp::Or) => binary(leno_domains::Binary::Or, &old.numbers, &operand.numbers),
            (_, RmwOp::Xor) => binary(leno_domains::Binary::Xor, &old.numbers, &operand.numbers),
            (_, RmwOp::Nand) => {
                let and = binary(leno_domains::Binary::And, &old.numbers, &operand.numbers);
                Product::unary(leno_domains::Unary::Not, width, &and)
            }
        };
        let linear = cell.and_then(|cell| self.added(state, cell, &old, op, &operand));
        let before = cell.and_then(|cell| state.definition(Variable::Cell(cell)));
        // What it was is known better while it is still there; but the address must not depend on it.
        let dst_first = dst.filter(|dst| !Definition::Expr(frame, &at.ptr).mentions(Variable::Register(frame, *dst)));
        if let Some(dst) = dst_first {
            let same = cell.map(|cell| Definition::Same(Variable::Cell(cell)));
            self.evaluator.assign(state, Variable::Register(frame, dst), old, same);
        }
        self.store(state, frame, at, Value { width, numbers }, None, linear);
        let Some(dst) = dst else { return };
        let register = Variable::Register(frame, dst);
        let still = before.filter(|before| !before.mentions(register));
        match dst_first {
            Some(_) => state.define(register, still.filter(|_| state.definition(register).is_none())),
            None => state.assign(register, old, still, None),
        }
    }

    /// What a cell becomes by addition, if nothing wraps around.
    fn added(&self, state: &State<'p>, cell: CellId, old: &Value, op: RmwOp, operand: &Value) -> Option<Linear> {
        let member = state.member(Variable::Cell(cell)).filter(|member| member.width == old.width)?;
        let number = operand.numbers.as_constant(operand.width).filter(|_| operand.width == old.width)?;
        let number = leno_domains::word::signed(operand.width, number);
        let by = match op {
            RmwOp::Add => number,
            RmwOp::Sub => -number,
            _ => return None,
        };
        let ((least, most), range) = (member.bounds(Some(old)), member.range());
        let fits = least + by >= range.0 && most + by <= range.1;
        fits.then_some(Linear { side: Side::plus(Variable::Cell(cell)), least: by, most: by })
    }

    /// Others still see what a cell was, until they see what this thread makes of it.
    fn keep_seen(&self, state: &mut State<'p>, cell: CellId) {
        if self.cells.is_shared(cell) && !state.is_dirty(cell) {
            state.keep_seen(cell, |frame| self.code.back(frame).is_some());
        }
    }

    /// The states after success and after failure.
    fn compare_exchange(&self, state: State<'p>, frame: FrameId, op: &'p Op) -> Vec<State<'p>> {
        let Op::CompareExchange { ok, old, at, expected, desired, weak, .. } = op else { return vec![state] };
        let (found, cell) = self.read(&state, frame, at);
        let wanted = self.evaluator.value(&state, frame, expected);
        let assign = |state: &mut State<'p>, is_ok: bool, value: Value, same: Option<Definition<'p>>| {
            self.evaluator.assign(state, Variable::Register(frame, *old), value, same);
            state.assign(Variable::Register(frame, *ok), Value::constant(1, u128::from(is_ok)), None, None);
        };
        let mut success = state.clone();
        let both = found.meet(&wanted);
        if both.is_none() {
            success = State::NEVER;
        }
        if let Some(cell) = cell {
            self.evaluator.restrict_variable(&mut success, Variable::Cell(cell), both);
            self.evaluator.relate_equal(&mut success, Variable::Cell(cell), frame, expected, true);
        }
        let new = self.evaluator.value(&success, frame, desired);
        let mentions = |local: LocalId| Definition::Expr(frame, desired).mentions(Variable::Register(frame, local));
        let definition = (!mentions(*ok) && !mentions(*old)).then_some(Definition::Expr(frame, desired));
        self.store(&mut success, frame, at, new, definition, None);
        assign(&mut success, true, both, None);

        let mut failure = state;
        let mut rest = found;
        if !*weak && found.width == wanted.width {
            let width = found.width;
            let (numbers, _) = Product::assume(Predicate::Eq, false, width, &found.numbers, &wanted.numbers);
            rest = Value { width, numbers };
        }
        if rest.is_none() {
            failure = State::NEVER;
        } else if let Some(cell) = cell {
            self.evaluator.restrict_variable(&mut failure, Variable::Cell(cell), rest);
            if !*weak {
                self.evaluator.relate_equal(&mut failure, Variable::Cell(cell), frame, expected, false);
            }
        }
        assign(&mut failure, false, rest, cell.map(|cell| Definition::Same(Variable::Cell(cell))));
        vec![success, failure]
    }

    /// A step on a semaphore or a once flag, whose word is a number like any other: the states after each way it may go.
    fn count(
        &self,
        state: State<'p>,
        frame: FrameId,
        dst: Option<LocalId>,
        op: &'p SyncOp,
        at: &Expr,
    ) -> Vec<State<'p>> {
        let Some((object, offset)) = self.evaluator.address(&state, frame, at) else {
            let mut state = state;
            for object in self.code.facts.points_to().points_to(self.code.frames[frame].func, at).iter() {
                self.change_all(&mut state, object);
            }
            dst.iter().for_each(|dst| state.forget(Variable::Register(frame, *dst)));
            return vec![state];
        };
        let extent = Extent { object, offset, bytes: WORD_BYTES };
        let cell = self.cells.get(extent);
        let width = cell_width(WORD_BYTES);
        let word = |state: &State<'p>| match cell {
            Some(cell) => self.evaluator.variable(state, Variable::Cell(cell), width),
            None => Value::any(width),
        };
        let constant = |bits: u32| Value::constant(width, u128::from(bits));
        let between = |low: u128, high: u128| {
            let interval = leno_domains::Interval::unsigned(width, low, high);
            Value { width, numbers: Product::from_interval(width, &interval) }
        };
        // One way to go: what the word was, what it becomes, and the result.
        let way = |was: Value, becomes: &dyn Fn(Value) -> Option<Value>, result: Option<Value>| {
            let mut state = state.clone();
            let old = word(&state).meet(&was);
            if old.is_none() {
                return State::NEVER;
            }
            if let Some(cell) = cell {
                self.evaluator.restrict_variable(&mut state, Variable::Cell(cell), old);
            }
            if let Some(new) = becomes(old) {
                self.change_overlapping(&mut state, extent, cell);
                if let Some(cell) = cell {
                    self.keep_seen(&mut state, cell);
                    state.assign(Variable::Cell(cell), new, None, None);
                    self.touch(&mut state, cell);
                }
            }
            if let Some(dst) = dst {
                let register = Variable::Register(frame, dst);
                match result.filter(|result| result.width == self.evaluator.width(frame, &Expr::Local(dst))) {
                    Some(result) => state.assign(register, result, None, None),
                    None => state.forget(register),
                }
            }
            state
        };
        let plus = |by: u32| {
            move |old: Value| {
                let numbers = Product::binary(
                    leno_domains::Binary::Add,
                    width,
                    &old.numbers,
                    &Product::constant(width, u128::from(by)),
                );
                Some(Value { width, numbers })
            }
        };
        let (most, minus_one) = (u128::from(i32::MAX as u32), constant(u32::MAX));
        match op {
            SyncOp::SemInit { value } => {
                let value = self.evaluator.value(&state, frame, value);
                let set = way(
                    Value::any(width),
                    &|_| Some(if value.width == width { value } else { Value::any(width) }),
                    None,
                );
                // It refuses numbers that are too large.
                vec![set, way(Value::any(width), &|_| None, Some(minus_one))]
            }
            SyncOp::SemWait => vec![way(between(1, u128::from(u32::MAX)), &plus(u32::MAX), Some(constant(0)))],
            SyncOp::SemTryWait => vec![
                way(between(1, u128::from(u32::MAX)), &plus(u32::MAX), Some(constant(0))),
                way(constant(0), &|_| None, Some(minus_one)),
            ],
            SyncOp::SemPost => vec![
                way(Value::any(width), &plus(1), Some(constant(0))),
                way(between(most, u128::from(u32::MAX)), &|_| None, Some(minus_one)),
            ],
            SyncOp::SemGetValue => vec![way(Value::any(width), &|_| None, Some(word(&state)))],
            SyncOp::OnceBegin => vec![
                way(constant(0), &|_| Some(constant(1)), Some(constant(1))),
                way(between(2, u128::from(u32::MAX)), &|_| None, Some(constant(0))),
            ],
            SyncOp::OnceEnd => vec![way(Value::any(width), &|_| Some(constant(2)), Some(constant(0)))],
            // (Nothing else counts.)
            _ => vec![State::anything(&self.partition)],
        }
    }

    /// A cell was changed by this thread.
    fn touch(&self, state: &mut State<'p>, cell: CellId) {
        if self.cells.is_shared(cell) {
            state.set_dirty(cell);
        }
    }

    /// A cell may hold anything now.
    fn change(&self, state: &mut State<'p>, cell: CellId) {
        self.keep_seen(state, cell);
        state.forget(Variable::Cell(cell));
        self.touch(state, cell);
    }

    fn change_all(&self, state: &mut State<'p>, object: AbstractId) {
        let cells: Vec<CellId> = self.cells.of_object(object).map(|(cell, _)| cell).collect();
        cells.into_iter().for_each(|cell| self.change(state, cell));
    }

    fn set_zero(&self, state: &mut State<'p>, object: AbstractId) {
        if !is_followed(self.code.facts, object) {
            return;
        }
        for (cell, extent) in self.cells.of_object(object) {
            state.assign(Variable::Cell(cell), Value::constant(cell_width(extent.bytes), 0), None, None);
        }
    }

    /// Cells that have some bytes in common with this place, except one.
    fn change_overlapping(&self, state: &mut State<'p>, place: Extent, except: Option<CellId>) {
        let overlapping: Vec<CellId> = self
            .cells
            .of_object(place.object)
            .filter(|(cell, extent)| Some(*cell) != except && extent.overlaps(place.offset, place.bytes))
            .map(|(cell, _)| cell)
            .collect();
        overlapping.into_iter().for_each(|cell| self.change(state, cell));
    }

    /// All that an instruction may write.
    fn change_written(&self, state: &mut State<'p>, node: NodeId, op: &Op) {
        let (facts, func) = (self.code.facts, self.code.place(node).func);
        for object in facts.points_to().may_access(facts.program(), func, op).written.iter() {
            self.change_all(state, object);
        }
    }

    fn change_sync(&self, state: &mut State<'p>, node: NodeId, op: &Op, at: &Expr, step: &SyncOp) {
        let bytes = step.object_bytes(self.code.program().model).into();
        match self.evaluator.address(state, self.code.frame_of(node), at) {
            Some((object, offset)) => {
                self.change_overlapping(state, Extent { object, offset, bytes }, None);
            }
            None => self.change_written(state, node, op),
        }
    }
}

/// What an argument equals whatever the registers of the thread that passes it.
fn constant_definition<'p>(state: &State<'p>, frame: FrameId, arg: &'p Expr) -> Option<Definition<'p>> {
    let mut definition = Definition::Expr(frame, arg);
    for _ in 0..8 {
        let mut mentioned = None;
        definition.for_each_variable(|variable| mentioned = Some(variable));
        let Some(variable) = mentioned else { return Some(definition) };
        let is_alone = matches!(definition, Definition::Same(_) | Definition::Expr(_, Expr::Local(_)));
        definition = state.definition(variable).filter(|_| is_alone)?;
    }
    None
}
