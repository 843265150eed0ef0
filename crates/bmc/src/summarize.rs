//! Summarising threads: one merged symbolic execution for each, which leaves nothing but its events.
//!
//! Paper 000, section 4: a state is a path condition and the values of locals; each read of shared memory gives a fresh
//! variable; states that meet are merged by if-then-else over what differs. Bounding happens on the way: a loop whose
//! condition folds to a constant unrolls as often as it runs, any other one up to its bound, where a *cut* is recorded. So the
//! constants that a loop produces are there when the next one is unrolled, and threads and allocations are counted exactly.

use crate::counters::First;
use crate::cssa::{Equations, Mode};
use crate::features::{counts_locking, has_op, special_mutexes};
use crate::function::{Calls, Recording, Summaries};
use crate::leaks::{Leaving, watches_ends};
use crate::liveness::{Live, live};
use crate::nesting::{Element, nesting};
use crate::objects::{Initial, Instance, InstanceId, Instances};
use crate::private::Memory;
use crate::skeleton::{Bounded, Cut, Death, Input, NodeId, Skeleton, Thread, ThreadIndex, Violation};
use crate::state::State;
use crate::trail::Deed;
use crate::unroll::Running;
use crate::words::Look;
use crate::{Reported, Task};
use leno_explore::Properties;
use leno_ir::callgraph::CallGraph;
use leno_ir::cfg::Cfg;
use leno_ir::interp::{ViolationKind, private_slots};
use leno_ir::points_to::{AbstractObject, ObjectSet, PointsTo};
use leno_ir::program::{
    BlockId, Body, FuncId, Instr, ObjectId, ObjectKind, Op, Place, Program, Span, Terminator, TerminatorKind,
};
use leno_ir::sharing::{SharedObjects, Sharing};
use leno_logic::term::{Sort, Term, Terms};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Why the engine gives up on a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    pub reason: String,
}

impl Refused {
    pub fn new(reason: impl Into<String>) -> Refused {
        Refused { reason: reason.into() }
    }
}

/// How far to unroll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub default: u32,
    pub particular: BTreeMap<Bounded, u32>,
    /// Loops whose number of rounds is constant are cut short as well, where others see what they do.
    pub is_sprint: bool,
}

impl Bounds {
    pub fn of(&self, what: Bounded) -> u32 {
        self.particular.get(&what).copied().unwrap_or(self.default)
    }

    /// The bytes of an allocation whose size is not known.
    pub fn of_allocation(&self, what: Bounded) -> u64 {
        u64::from(self.of(what)) * ALLOCATION_UNIT
    }
}

/// A bound of one is so many bytes.
const ALLOCATION_UNIT: u64 = 64;

/// An activation of a function.
pub(crate) struct Frame {
    pub func: FuncId,
    pub slots: Vec<InstanceId>,
    pub(crate) pending: FxHashMap<BlockId, Vec<State>>,
    /// The loops that are being executed, outermost first.
    pub(crate) loops: Vec<Running>,
    pub(crate) exits: Vec<State>,
}

/// What is known of an activation to those that it calls.
pub(crate) struct Activation {
    pub func: FuncId,
    pub path: Term,
    pub slots: Vec<InstanceId>,
}

/// What is known of a function's shape.
pub(crate) struct Shape {
    pub elements: Vec<Element>,
    /// By block: what is still needed at its beginning.
    pub live: Vec<Live>,
    /// By slot: whether its address goes nowhere.
    pub private_slots: Vec<bool>,
}

/// A thread that has been started and is still to be summarised.
pub(crate) struct Started {
    pub index: ThreadIndex,
    pub func: FuncId,
    pub args: Vec<Term>,
    pub path: Term,
}

pub struct Summarizer<'p> {
    pub(crate) program: &'p Program,
    pub(crate) properties: Properties,
    pub(crate) mode: Mode,
    pub(crate) reported: BTreeSet<Reported>,
    pub(crate) equations: Equations,
    pub(crate) points_to: PointsTo,
    pub(crate) shared: SharedObjects,
    pub terms: Terms,
    pub(crate) instances: Instances,
    pub skeleton: Skeleton,
    pub(crate) bounds: &'p Bounds,
    pub(crate) interrupted: &'p dyn Fn() -> bool,
    pub(crate) shapes: FxHashMap<FuncId, Rc<Shape>>,
    pub(crate) statics: FxHashMap<(ObjectId, Option<ThreadIndex>), InstanceId>,
    pub(crate) functions: FxHashMap<FuncId, InstanceId>,
    pub(crate) started: Vec<Started>,
    pub(crate) active: Vec<Activation>,
    /// The thread that is being summarised, and its last node.
    pub(crate) thread: ThreadIndex,
    pub(crate) last: NodeId,
    pub(crate) thread_ends: Vec<State>,
    /// What undefined words are while a synchronisation object is looked at.
    pub(crate) undefined_word: Option<Term>,
    /// The moment of the step that is being made, if it has one already.
    pub(crate) current: Option<NodeId>,
    has_assumptions: bool,
    /// Words, by address, at the moment when a deadlock is looked for; and what they are read from.
    pub(crate) later: FxHashMap<Term, Term>,
    pub(crate) looks: Vec<Look>,
    /// Those that may be of another kind than the normal one.
    pub(crate) special_mutexes: ObjectSet,
    /// Whether anybody can tell how often a lock is held.
    pub(crate) counts_locking: bool,
    pub(crate) here: (Place, Span),
    /// By end of the process: what its thread knows then.
    pub(crate) leaving: Vec<Leaving>,
    /// Contents that come from outside, and the addresses of the standard streams.
    pub(crate) given: Vec<Vec<u8>>,
    pub(crate) streams: Vec<u64>,
    /// Variables about the order, made while reads of counters were replaced.
    pub(crate) firsts: Vec<First>,
    /// Locks, by address, of which nothing is read any more: their sections exclude each other.
    pub(crate) exclusive: BTreeSet<u64>,
    pub(crate) calls: Calls,
    pub(crate) summaries: Summaries,
    /// The function that is being summarised for all its calls, if one is.
    pub(crate) recording: Option<Box<Recording>>,
    /// Instructions executed, those that a summary stands for included.
    pub(crate) work: u64,
    /// Calls that were made by a summary.
    pub(crate) instantiated: usize,
    /// In a sprint: whether something was cut that would not have been otherwise.
    pub(crate) is_cut_short: bool,
    /// Functions that may call themselves.
    pub(crate) recursive: BTreeSet<FuncId>,
}

const NOWHERE: Place = Place { func: FuncId(0), block: BlockId(0), index: 0 };

impl<'p> Summarizer<'p> {
    pub fn new(
        program: &'p Program,
        task: &Task,
        bounds: &'p Bounds,
        interrupted: &'p dyn Fn() -> bool,
    ) -> Summarizer<'p> {
        let points_to = PointsTo::new(program);
        let calls = CallGraph::new(program, &points_to);
        let shared = SharedObjects::new(program, &points_to, &calls);
        let special_mutexes = special_mutexes(program, &points_to);
        Summarizer {
            program,
            properties: task.properties,
            mode: task.mode,
            reported: task.reported.clone(),
            equations: Equations::default(),
            points_to,
            shared,
            terms: Terms::new(),
            instances: Instances::default(),
            skeleton: Skeleton::default(),
            bounds,
            interrupted,
            shapes: FxHashMap::default(),
            statics: FxHashMap::default(),
            functions: FxHashMap::default(),
            started: Vec::new(),
            active: Vec::new(),
            thread: ThreadIndex(0),
            last: NodeId(0),
            thread_ends: Vec::new(),
            special_mutexes,
            later: FxHashMap::default(),
            looks: Vec::new(),
            current: None,
            undefined_word: None,
            has_assumptions: has_op(program, |op| matches!(op, Op::Assume { .. })),
            counts_locking: counts_locking(program, &calls),
            here: (NOWHERE, Span::NONE),
            leaving: Vec::new(),
            given: Vec::new(),
            streams: Vec::new(),
            firsts: Vec::new(),
            exclusive: BTreeSet::new(),
            // Equations are about one execution of a place, and so is what is left at the end.
            calls: if task.mode == Mode::Cssa || watches_ends(task.properties) { Calls::Inline } else { task.calls },
            summaries: Summaries::default(),
            recording: None,
            work: 0,
            instantiated: 0,
            is_cut_short: false,
            recursive: program.functions.ids().filter(|id| calls.is_recursive(*id)).collect(),
        }
    }

    /// Summarises all threads.
    pub fn run(&mut self) -> Result<(), Refused> {
        let Some(entry) = self.program.entry else { return Err(Refused::new("there is no main function")) };
        for object in self.program.objects.ids() {
            if self.program.objects[object].kind != ObjectKind::ThreadLocal {
                self.static_address(object)?;
            }
        }
        let (argc, argv) = self.lay_out_arguments()?;
        self.add_thread("main".to_string(), None);
        self.started.push(Started {
            index: ThreadIndex(0),
            func: entry,
            args: vec![argc, argv],
            path: self.terms.bool(true),
        });
        while !self.started.is_empty() {
            let next = self.started.remove(0);
            self.run_thread(next)?;
        }
        if self.properties.deadlock {
            self.add_moment();
        }
        self.end_with_last_thread();
        self.look_at_ends();
        Ok(())
    }

    pub(crate) fn add_thread(&mut self, name: String, spawned: Option<(NodeId, Term)>) -> ThreadIndex {
        let index = ThreadIndex(self.skeleton.threads.len() as u32);
        let word = u32::from(self.program.model.pointer_bits());
        let handle = self.terms.bits(word, u128::from(index.0) + 1);
        let never = self.terms.bool(false);
        let nothing = self.terms.bits(word, 0);
        self.skeleton.threads.push(Thread {
            name,
            handle,
            spawned,
            first: NodeId(0),
            last: NodeId(0),
            finished: never,
            result: nothing,
            inputs: Vec::new(),
        });
        index
    }

    fn run_thread(&mut self, started: Started) -> Result<(), Refused> {
        self.thread = started.index;
        self.last = self.skeleton.add_node(started.index);
        self.skeleton.threads[started.index.0 as usize].first = self.last;
        let state = State::at(started.path);
        let word = self.program.model.word();
        let args = started.args.into_iter().map(Some).collect();
        let mut ends = Vec::new();
        let returned = self.call(started.func, args, state)?;
        if let (Some((state, _)), ThreadIndex(0)) = (&returned, started.index) {
            // The return from the entry function ends the process.
            let node = self.skeleton.add_node(started.index);
            self.skeleton.exits.push((state.path, node));
            self.end_process(state, node, false);
        } else if let Some((mut state, result)) = returned {
            let result = match result {
                Some(value) => self.fit(value, self.width(word)),
                None => self.terms.bits(self.width(word), 0),
            };
            state.locals = Rc::new(vec![Some(result)]);
            ends.push(state);
        }
        ends.append(&mut self.thread_ends);
        let last = self.skeleton.add_node(started.index);
        let thread = &mut self.skeleton.threads[started.index.0 as usize];
        thread.last = last;
        if let Some(end) = self.merge(ends)? {
            let thread = &mut self.skeleton.threads[started.index.0 as usize];
            thread.finished = end.path;
            thread.result = end.locals[0].unwrap_or(thread.result);
            self.end_thread_locals(started.index, last, end.path);
        }
        Ok(())
    }

    /// The thread-local objects of a thread die with it.
    fn end_thread_locals(&mut self, thread: ThreadIndex, node: NodeId, path: Term) {
        let mut own: Vec<InstanceId> =
            self.statics.iter().filter(|((_, owner), _)| *owner == Some(thread)).map(|(_, id)| *id).collect();
        own.retain(|id| self.instances.get(*id).sharing == Sharing::Shared);
        own.sort_unstable();
        self.skeleton.deaths.extend(own.into_iter().map(|instance| Death { instance, node, path }));
    }

    // --- objects

    pub(crate) fn static_address(&mut self, object: ObjectId) -> Result<u64, Refused> {
        let data = &self.program.objects[object];
        let owner = (data.kind == ObjectKind::ThreadLocal).then_some(self.thread);
        if owner.is_some() {
            self.cannot_be_summarized("a function uses a thread-local object")?;
        }
        if let Some(id) = self.statics.get(&(object, owner)) {
            return Ok(self.instances.get(*id).base);
        }
        let is_stream =
            data.kind == ObjectKind::External && ["stdin", "stdout", "stderr"].contains(&data.name.as_str());
        let initial = if is_stream { self.add_stream()? } else { Initial::Static(object) };
        let is_constant = data.kind == ObjectKind::Constant;
        let id = self.add_instance(AbstractObject::Static(object), data.size, initial, false, is_constant)?;
        self.statics.insert((object, owner), id);
        self.instances.get_mut(id).owner = owner;
        if data.kind == ObjectKind::External && !is_stream {
            self.skeleton.gap(format!("`{}` is defined elsewhere", data.name));
        }
        Ok(self.instances.get(id).base)
    }

    pub(crate) fn function_address(&mut self, function: FuncId) -> Result<u64, Refused> {
        if let Some(id) = self.functions.get(&function) {
            return Ok(self.instances.get(*id).base);
        }
        let id = self.add_instance(AbstractObject::Function(function), 1, Initial::Zero, false, true)?;
        self.functions.insert(function, id);
        Ok(self.instances.get(id).base)
    }

    pub(crate) fn add_instance(
        &mut self,
        what: AbstractObject,
        size: u64,
        initial: Initial,
        is_heap: bool,
        is_constant: bool,
    ) -> Result<InstanceId, Refused> {
        let object =
            self.points_to.object(what).ok_or_else(|| Refused::new("an object that the analysis does not know"))?;
        let is_function = matches!(what, AbstractObject::Function(_));
        let sharing = if is_function { Sharing::ReadOnly } else { self.shared.of(object) };
        let is_pointed_to = true;
        let extent = None;
        let instance = Instance {
            extent,
            owner: None,
            object,
            base: 0,
            size,
            sharing,
            initial,
            is_heap,
            is_constant,
            is_pointed_to,
            is_function,
        };
        self.instances.add(self.program.model, instance).ok_or_else(|| Refused::new("addresses have run out"))
    }

    // --- control

    pub(crate) fn shape(&mut self, func: FuncId) -> Result<Rc<Shape>, Refused> {
        if let Some(shape) = self.shapes.get(&func) {
            return Ok(shape.clone());
        }
        let function = &self.program.functions[func];
        let cfg = Cfg::of(function).ok_or_else(|| Refused::new("a call of a function without a body"))?;
        let private = private_slots(function);
        let shape = Rc::new(Shape {
            elements: nesting(&cfg),
            live: live(function, &cfg, &private, self.program.model),
            private_slots: private,
        });
        self.shapes.insert(func, shape.clone());
        Ok(shape)
    }

    /// Notes that the thread does something that others may notice.
    pub(crate) fn affect(&mut self, state: &mut State) {
        state.trail.push(Deed::Effect, state.path);
    }

    pub(crate) fn cut(&mut self, condition: Term, what: Bounded) {
        self.skeleton.cuts.push(Cut { condition, after: self.last, what });
    }

    pub(crate) fn run_block(&mut self, frame: &mut Frame, block: BlockId, state: State) -> Result<(), Refused> {
        let function: &'p leno_ir::program::Function = &self.program.functions[frame.func];
        let Body::Blocks(blocks) = &function.body else { return Ok(()) };
        let code = &blocks[block];
        self.count_work(code.instrs.len() + 1)?;
        let mut state = state;
        for (index, instr) in code.instrs.iter().enumerate() {
            self.here = (Place { func: frame.func, block, index: index as u32 }, instr.span);
            match self.run_instr(frame, state, instr)? {
                Some(next) => state = next,
                None => return Ok(()),
            }
        }
        self.here = (Place { func: frame.func, block, index: code.instrs.len() as u32 }, code.terminator.span);
        self.run_terminator(frame, state, &code.terminator)
    }

    fn run_terminator(&mut self, frame: &mut Frame, mut state: State, terminator: &Terminator) -> Result<(), Refused> {
        match &terminator.kind {
            TerminatorKind::Goto(target) => frame.pending.entry(*target).or_default().push(state),
            TerminatorKind::Branch { cond, then, otherwise } => {
                let condition = self.condition(frame, &mut state, cond)?;
                let negation = self.terms.not(condition);
                if self.terms.as_bool(condition).is_none() && frame.note_decision(&[*then, *otherwise]) {
                    self.steer(condition)?;
                }
                self.go(frame, &state, condition, *then);
                self.go(frame, &state, negation, *otherwise);
            }
            TerminatorKind::Switch { value, cases, default } => {
                let value = self.evaluate(frame, &mut state, value)?;
                let width = self.terms.width(value);
                if self.terms.as_bits(value).is_none() {
                    let targets: Vec<BlockId> = cases.iter().map(|(_, target)| *target).chain([*default]).collect();
                    if frame.note_decision(&targets) {
                        self.steer(value)?;
                    }
                }
                let mut none = Vec::new();
                for (case, target) in cases {
                    let case = self.terms.bits(width, *case);
                    let condition = self.terms.eq(value, case);
                    self.go(frame, &state, condition, *target);
                    none.push(self.terms.not(condition));
                }
                let condition = self.terms.and(&none);
                self.go(frame, &state, condition, *default);
            }
            TerminatorKind::Return(value) => {
                if let Some(value) = value {
                    let value = self.evaluate(frame, &mut state, value)?;
                    let last = state.locals.len() - 1;
                    state.set_local(last, value);
                }
                // (With the return from the entry function everything ends, which nobody sees.)
                if self.active.len() > 1 || self.thread != ThreadIndex(0) || self.recording.is_some() {
                    self.end_lives(&frame.slots, &mut state);
                }
                frame.exits.push(state);
            }
            TerminatorKind::ThreadExit(value) => {
                self.cannot_be_summarized("a function ends its thread")?;
                let value = self.evaluate(frame, &mut state, value)?;
                let all: Vec<InstanceId> = self.active.iter().flat_map(|active| active.slots.clone()).collect();
                self.end_lives(&all, &mut state);
                state.locals = Rc::new(vec![Some(value)]);
                state.memory = Memory::default();
                (state.section, state.depth, state.section_writes) = (None, 0, Vec::new());
                self.thread_ends.push(state);
            }
            TerminatorKind::Exit(_) | TerminatorKind::Abort => {
                let node = self.next_node(&mut state);
                self.skeleton.exits.push((state.path, node));
                if terminator.kind != TerminatorKind::Abort {
                    self.end_process(&state, node, true);
                }
            }
            TerminatorKind::Unreachable => self.violate(ViolationKind::Unreachable, state.path),
        }
        Ok(())
    }

    pub(crate) fn go(&mut self, frame: &mut Frame, state: &State, condition: Term, target: BlockId) {
        let path = self.terms.and2(state.path, condition);
        if self.terms.as_bool(path) != Some(false) {
            let path = self.assigned(path);
            frame.pending.entry(target).or_default().push(State { path, ..state.clone() });
        }
    }

    // --- nodes and violations

    /// The moment of the next visible step: a new one, or that of the atomic section.
    pub(crate) fn next_node(&mut self, state: &mut State) -> NodeId {
        let node = match state.section {
            Some(node) => node,
            None => self.skeleton.add_node(self.thread),
        };
        self.last = self.last.max(node);
        node
    }

    /// Notes that the instruction at hand is executed at `node`.
    pub(crate) fn step(&mut self, node: NodeId, path: Term) {
        self.skeleton.steps.push(crate::skeleton::Step { node, place: self.here.0, path });
    }

    pub(crate) fn violate(&mut self, kind: ViolationKind, condition: Term) {
        self.violate_at(kind, condition, None);
    }

    pub(crate) fn violate_at(&mut self, kind: ViolationKind, condition: Term, at: Option<NodeId>) {
        if self.terms.as_bool(condition) == Some(false) || !self.properties.covers(kind) {
            return;
        }
        let (place, span) = self.here;
        let (after, thread) = (self.last, self.thread);
        self.skeleton.violations.push(Violation { kind, condition, after, at, thread, place, span });
    }

    /// A state in which `condition` holds as well; None if there is none.
    pub(crate) fn restrict(&mut self, mut state: State, condition: Term) -> Option<State> {
        let path = self.terms.and2(state.path, condition);
        state.path = self.assigned(path);
        (self.terms.as_bool(state.path) != Some(false)).then_some(state)
    }

    // --- instructions

    fn run_instr(&mut self, frame: &mut Frame, mut state: State, instr: &'p Instr) -> Result<Option<State>, Refused> {
        match &instr.op {
            Op::Assign { dst, value } => {
                let value = self.evaluate(frame, &mut state, value)?;
                let value = self.assigned(value);
                state.set_local(dst.0 as usize, value);
            }
            Op::Load { dst, from } => {
                let address = self.evaluate(frame, &mut state, &from.ptr)?;
                let Some((mut state, value)) = self.load(frame, state, from, address)? else { return Ok(None) };
                state.set_local(dst.0 as usize, value);
                return Ok(Some(state));
            }
            Op::Store { to, value } => {
                let address = self.evaluate(frame, &mut state, &to.ptr)?;
                let value = self.evaluate(frame, &mut state, value)?;
                return self.store(frame, state, to, address, value);
            }
            Op::ReadModifyWrite { dst, at, op, value } => {
                let value = self.evaluate(frame, &mut state, value)?;
                return self.read_modify_write(frame, state, *dst, at, *op, value);
            }
            Op::CompareExchange { ok, old, at, expected, desired, .. } => {
                let expected = self.evaluate(frame, &mut state, expected)?;
                let desired = self.evaluate(frame, &mut state, desired)?;
                return self.compare_exchange(frame, state, (*ok, *old), at, expected, desired);
            }
            Op::Fence { .. } | Op::Yield => {}
            Op::Allocate { dst, size, zeroed, storage, .. } => {
                return self.allocate(frame, state, *dst, size, *zeroed, *storage);
            }
            Op::Free { ptr } => return self.free(frame, state, ptr),
            Op::ObjectSize { .. } => return Err(Refused::new("the size of an object is asked for")),
            Op::Assume { cond } => {
                let condition = self.condition(frame, &mut state, cond)?;
                self.may_stop_inside(&state, condition);
                return Ok(self.restrict(state, condition));
            }
            Op::Assert { cond, property, .. } => {
                let condition = self.condition(frame, &mut state, cond)?;
                let negation = self.terms.not(condition);
                let violated = self.terms.and2(state.path, negation);
                self.violate(ViolationKind::of(*property), violated);
                return Ok(self.restrict(state, condition));
            }
            Op::Nondet { dst } => {
                let ty = self.program.functions[frame.func].locals[*dst].ty;
                let value = self.input(&state, self.width(ty));
                state.set_local(dst.0 as usize, value);
            }
            Op::Call { dst, callee, args } => return self.run_call(frame, state, *dst, callee, args),
            Op::Spawn { handle, func, args } => return self.spawn(frame, state, handle.as_ref(), func, args),
            Op::Join { dst, thread } => {
                let handle = self.evaluate(frame, &mut state, thread)?;
                return Ok(self.join(state, *dst, handle));
            }
            Op::Detach { thread } => {
                let handle = self.evaluate(frame, &mut state, thread)?;
                return Ok(self.detach(state, handle));
            }
            Op::ThreadSelf { dst } => {
                let handle = self.skeleton.threads[self.thread.0 as usize].handle;
                state.set_local(dst.0 as usize, handle);
            }
            Op::Sync { dst, op, at } => return self.sync(frame, state, *dst, op, at),
            Op::AtomicBegin => {
                if state.depth == 0 {
                    if self.has_assumptions {
                        // Who would be stopped inside does not enter: nobody sees half of a section.
                        let enters = self.terms.variable(Sort::Bool, "enters");
                        let Some(inside) = self.restrict(state, enters) else { return Ok(None) };
                        state = inside;
                    }
                    let node = self.next_node(&mut state);
                    (state.section, state.section_writes) = (Some(node), Vec::new());
                    self.skeleton.sections.insert(node, node);
                }
                state.depth += 1;
            }
            Op::AtomicEnd => {
                state.depth = state.depth.saturating_sub(1);
                if state.depth == 0 {
                    (state.section, state.section_writes) = (None, Vec::new());
                }
            }
        }
        Ok(Some(state))
    }

    pub(crate) fn input(&mut self, state: &State, width: u32) -> Term {
        let value = self.terms.variable(Sort::Bits(width), "input");
        let inputs = &mut self.skeleton.threads[self.thread.0 as usize].inputs;
        inputs.push(Input { condition: state.path, value, width: width as u16 });
        value
    }
}
