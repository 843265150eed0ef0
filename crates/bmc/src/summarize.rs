//! Summarising threads: one merged symbolic execution of each thread, whose result is its events (paper 000, section
//! 4).
//!
//! A state is a path condition and the values of locals; each read of shared memory returns a fresh variable; states
//! that meet are merged by if-then-else over the values that differ. Loops are bounded during the execution: a loop
//! whose condition folds to a constant is unrolled completely, any other loop up to its bound, where a *cut* is
//! recorded. So constants that one loop computes are known when the next one is unrolled, and threads and allocations
//! are counted exactly.

pub(crate) mod access;
pub(crate) mod calls;
pub(crate) mod cssa;
pub(crate) mod evaluate;
pub(crate) mod function_summary;
pub(crate) mod instantiate;
pub(crate) mod library_calls;
pub(crate) mod private_memory;
pub(crate) mod process_end;
pub(crate) mod side_effects;
pub(crate) mod split_sections;
pub(crate) mod state;
pub(crate) mod sync;
pub(crate) mod sync_words;
pub(crate) mod threads;
pub(crate) mod unroll;

use crate::Task;
use crate::bound::BoundSite;
use crate::bound::Bounds;
use crate::bounded::{BoundedProgram, Question};
use crate::facts::ProgramFacts;
use crate::skeleton::layout::{InstanceId, Layout, is_stream};
use crate::skeleton::{Cut, Death, Fence, InputValue, NodeId, Skeleton, Thread, ThreadIndex, Violation};
use crate::summarize::cssa::{Equations, Mode};
use crate::summarize::function_summary::{Calls, Recording, Summaries};
use crate::summarize::private_memory::Memory;
use crate::summarize::process_end::{FinalState, watches_ends};
use crate::summarize::side_effects::SideEffect;
use crate::summarize::state::State;
use crate::summarize::sync_words::DeadlockWords;
use crate::summarize::unroll::RunningLoop;
use leno_ir::analysis::sharing::Sharing;
use leno_ir::index::Idx;
use leno_ir::interp::ViolationKind;
use leno_ir::program::{
    BlockId, Body, FuncId, Instr, ObjectId, ObjectKind, Op, Place, Program, Span, Storage, Terminator, TerminatorKind,
};
use leno_logic::term::{Sort, Term, Terms};
use leno_symbolic::update::Update;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A reason why the engine cannot decide a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    pub reason: String,
}

impl Refused {
    pub fn new(reason: impl Into<String>) -> Refused {
        Refused { reason: reason.into() }
    }
}

/// An activation of a function.
pub(crate) struct Frame {
    pub func: FuncId,
    pub slots: Vec<InstanceId>,
    pub(crate) pending: FxHashMap<BlockId, Vec<State>>,
    /// The loops that are being executed, outermost first.
    pub(crate) loops: Vec<RunningLoop>,
    pub(crate) exits: Vec<State>,
}

/// A running activation, as the functions that it calls see it.
pub(crate) struct Activation {
    pub func: FuncId,
    pub path: Term,
    pub slots: Vec<InstanceId>,
}

/// A thread that has been started and is still to be executed.
pub(crate) struct Started {
    pub index: ThreadIndex,
    pub func: FuncId,
    pub args: Vec<Term>,
    pub path: Term,
}

/// The symbolic execution of all threads, one after the other: the bounded program so far, and where the execution is.
pub(crate) struct Execution<'p> {
    facts: &'p ProgramFacts<'p>,
    program: &'p Program,
    question: Question<'p>,
    bounds: &'p Bounds,
    mode: Mode,
    calls: Calls,

    // --- the bounded program so far
    terms: Terms,
    skeleton: Skeleton,
    layout: Layout<'p>,
    equations: Equations,
    /// Calls that were made by a summary.
    instantiated: usize,
    is_cut_short: bool,

    // --- where the execution is
    /// Threads that are still to be executed.
    started: Vec<Started>,
    /// The thread that is being executed, and its last node.
    thread: ThreadIndex,
    last: NodeId,
    /// The instruction that is being executed, and its node if it has one already.
    here: (Place, Span),
    current: Option<NodeId>,
    active: Vec<Activation>,
    thread_ends: Vec<State>,
    /// By end of the process: the state of the thread that ends it.
    final_states: Vec<FinalState>,
    /// The value of undefined words while a synchronisation object is read.
    undefined_word: Option<Term>,
    deadlock_words: DeadlockWords,
    summaries: Summaries,
    /// The function that is being summarised for all its calls, if one is.
    recording: Option<Box<Recording>>,
    /// Instructions executed, those that a summary stands for included.
    work: u64,
}

const NOWHERE: Place = Place { func: FuncId(0), block: BlockId(0), index: 0 };

/// Executes all threads within the bounds.
pub fn summarize<'p>(
    facts: &'p ProgramFacts<'p>,
    task: &'p Task,
    bounds: &'p Bounds,
    interrupted: &'p dyn Fn() -> bool,
) -> Result<BoundedProgram<'p>, Refused> {
    let mut execution = Execution::new(facts, task, bounds, interrupted)?;
    execution.run()?;
    let Execution { question, terms, skeleton, layout, equations, instantiated, is_cut_short, .. } = execution;
    let equations = equations.of_variable;
    Ok(BoundedProgram { facts, question, terms, skeleton, layout, equations, instantiated, is_cut_short })
}

impl<'p> Execution<'p> {
    fn new(
        facts: &'p ProgramFacts<'p>,
        task: &'p Task,
        bounds: &'p Bounds,
        interrupted: &'p dyn Fn() -> bool,
    ) -> Result<Execution<'p>, Refused> {
        Ok(Execution {
            facts,
            program: facts.program,
            question: Question::new(task, interrupted),
            bounds,
            mode: task.mode,
            // Equations are about one execution of an instruction, and so is what is left at the end of the process.
            calls: if task.mode == Mode::Cssa || watches_ends(task.properties) { Calls::Inline } else { task.calls },
            terms: Terms::new(),
            skeleton: Skeleton::default(),
            layout: Layout::new(facts)?,
            equations: Equations::default(),
            instantiated: 0,
            is_cut_short: false,
            started: Vec::new(),
            thread: ThreadIndex::MAIN,
            last: NodeId(0),
            here: (NOWHERE, Span::NONE),
            current: None,
            active: Vec::new(),
            thread_ends: Vec::new(),
            final_states: Vec::new(),
            undefined_word: None,
            deadlock_words: DeadlockWords::default(),
            summaries: Summaries::default(),
            recording: None,
            work: 0,
        })
    }

    fn run(&mut self) -> Result<(), Refused> {
        let Some(entry) = self.program.entry else { return Err(Refused::new("there is no main function")) };
        for data in self.program.objects.iter().filter(|data| data.kind == ObjectKind::External && !is_stream(data)) {
            self.skeleton.gap(format!("`{}` is defined elsewhere", data.name));
        }
        let (argc, argv) = self.lay_out_arguments()?;
        self.add_thread("main".to_string(), None);
        self.started.push(Started {
            index: ThreadIndex::MAIN,
            func: entry,
            args: vec![argc, argv],
            path: self.terms.bool(true),
        });
        while !self.started.is_empty() {
            let next = self.started.remove(0);
            self.run_thread(next)?;
        }
        if self.question.properties.deadlock {
            self.add_deadlock_point();
        }
        self.doubt_mixed_mutexes();
        self.end_with_last_thread();
        self.read_words_at_ends()
    }

    pub(crate) fn add_thread(&mut self, name: String, spawned: Option<(NodeId, Term)>) -> ThreadIndex {
        let index = self.skeleton.threads.next_id();
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
            reading: Vec::new(),
            inputs: Vec::new(),
        });
        index
    }

    fn run_thread(&mut self, started: Started) -> Result<(), Refused> {
        self.thread = started.index;
        self.last = self.skeleton.add_node(started.index);
        self.skeleton.threads[started.index].first = self.last;
        let state = State::at(started.path);
        let word = self.program.model.word();
        let args = started.args.into_iter().map(Some).collect();
        let mut ends = Vec::new();
        let returned = self.call(started.func, args, state)?;
        if let (Some((state, _)), ThreadIndex::MAIN) = (&returned, started.index) {
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
        let thread = &mut self.skeleton.threads[started.index];
        thread.last = last;
        if let Some(end) = self.merge(ends)? {
            let thread = &mut self.skeleton.threads[started.index];
            thread.finished = end.path;
            thread.reading = end.reading.iter().map(|(lock, count)| (*lock, *count)).collect();
            thread.result = end.locals[0].unwrap_or(thread.result);
            self.end_thread_locals(started.index, last, end.path);
        }
        Ok(())
    }

    /// The lifetimes of a thread's thread-local objects end with it.
    fn end_thread_locals(&mut self, thread: ThreadIndex, node: NodeId, path: Term) {
        let mut own = self.layout.thread_locals(thread);
        own.retain(|id| self.layout.get(*id).sharing == Sharing::Shared);
        self.skeleton.deaths.extend(own.into_iter().map(|instance| Death { instance, node, path }));
    }

    // --- addresses

    pub(crate) fn static_address(&mut self, object: ObjectId) -> Result<u64, Refused> {
        if self.program.objects[object].kind == ObjectKind::ThreadLocal {
            self.cannot_be_summarized("a function uses a thread-local object")?;
        }
        self.layout.static_address(object, self.thread)
    }

    /// A constant address, as a term.
    pub(crate) fn pointer(&mut self, address: u64) -> Term {
        self.layout.pointer(&mut self.terms, address)
    }

    /// The instance that an address of known value belongs to.
    pub(crate) fn instance_at(&self, address: Term) -> Option<InstanceId> {
        self.layout.at(self.terms.as_bits(address)? as u64)
    }

    // --- control

    /// Notes that the thread does something that other threads may observe.
    pub(crate) fn affect(&mut self, state: &mut State) {
        state.side_effects.push(SideEffect::Effect, state.path);
    }

    pub(crate) fn cut(&mut self, condition: Term, what: BoundSite) {
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
                    state.set_result(value);
                }
                // (The return from the entry function ends the process: no thread can observe the end of these
                // lifetimes.)
                if self.active.len() > 1 || self.thread != ThreadIndex::MAIN || self.recording.is_some() {
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

    /// The node of the next visible step: a new one, or that of the atomic section.
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
        self.skeleton.steps.push(crate::skeleton::VisibleStep { node, place: self.here.0, path });
    }

    pub(crate) fn violate(&mut self, kind: ViolationKind, condition: Term) {
        self.violate_at(kind, condition, None);
    }

    pub(crate) fn violate_at(&mut self, kind: ViolationKind, condition: Term, at: Option<NodeId>) {
        if self.terms.as_bool(condition) == Some(false) || !self.question.properties.covers(kind) {
            return;
        }
        let (_, span) = self.here;
        let (after, thread) = (self.last, self.thread);
        self.skeleton.violations.push(Violation { kind, condition, after, at, thread, span });
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
                state.set_local(*dst, value);
            }
            Op::Load { dst, from } => {
                let address = self.evaluate(frame, &mut state, &from.ptr)?;
                let Some((mut state, value)) = self.load(frame, state, from, address)? else { return Ok(None) };
                state.set_local(*dst, value);
                return Ok(Some(state));
            }
            Op::Store { to, value } => {
                let address = self.evaluate(frame, &mut state, &to.ptr)?;
                let value = self.evaluate(frame, &mut state, value)?;
                return self.store(frame, state, to, address, value);
            }
            Op::ReadModifyWrite { dst, at, op, value } => {
                let operand = self.evaluate(frame, &mut state, value)?;
                let update = Update::ReadModifyWrite { op: *op, operand };
                let Some((mut state, old)) = self.update(frame, state, at, update)? else { return Ok(None) };
                if let Some(dst) = dst {
                    state.set_local(*dst, old);
                }
                return Ok(Some(state));
            }
            op @ Op::CompareExchange { .. } => return self.compare_exchange(frame, state, op),
            Op::Fence { order } if self.facts.has_weak_orders && self.question.properties.race => {
                let node = self.next_node(&mut state);
                self.skeleton.fences.push(Fence { node, path: state.path, order: *order });
            }
            Op::Fence { .. } | Op::Yield => {}
            Op::Allocate { dst, size, zeroed, storage, .. } => {
                return self.allocate(frame, state, *dst, size, *zeroed, *storage);
            }
            Op::Free { ptr, storage: Storage::Heap } => return self.free(frame, state, ptr),
            Op::Free { ptr, storage: Storage::Stack } => return self.free_on_stack(frame, state, ptr).map(Some),
            Op::BeginLife { slot } => self.begin_life(frame.slots[slot.index()], &mut state),
            Op::EndLife { slot } => self.end_life(frame.slots[slot.index()], &mut state),
            Op::Undefine { dst } => Rc::make_mut(&mut state.locals)[dst.index()] = None,
            Op::ObjectSize { dst, ptr } => return self.object_size(frame, state, *dst, ptr),
            Op::CheckMove { from, to } => {
                let (from_term, to) = (self.evaluate(frame, &mut state, from)?, self.evaluate(frame, &mut state, to)?);
                return self.check_move(frame, state, (from, from_term), to);
            }
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
                state.set_local(*dst, value);
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
                let handle = self.skeleton.threads[self.thread].handle;
                state.set_local(*dst, handle);
            }
            Op::Sync { dst, op, at } => return self.sync(frame, state, *dst, op, at),
            Op::AtomicBegin => {
                if state.depth == 0 {
                    if self.facts.has_assumptions {
                        // A thread that would be stopped inside does not enter: no thread sees a part of a section.
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

    /// A weak one may fail although it finds what it expects: that is an input, which only then is asked for.
    fn compare_exchange(&mut self, frame: &Frame, mut state: State, op: &Op) -> Result<Option<State>, Refused> {
        let Op::CompareExchange { ok, old, at, expected, desired, weak, .. } = op else { return Ok(Some(state)) };
        let expected = self.evaluate(frame, &mut state, expected)?;
        let desired = self.evaluate(frame, &mut state, desired)?;
        let choice = self.terms.bits(1, 0);
        let choice = if *weak { self.terms.variable(Sort::Bits(1), "fails") } else { choice };
        let fails = self.terms.bits_to_bool(choice);
        let update = Update::CompareExchange { expected, desired, fails };
        let Some((mut state, was)) = self.update(frame, state, at, update)? else { return Ok(None) };
        let same = self.terms.eq(was, expected);
        if *weak {
            let condition = self.terms.and2(state.path, same);
            self.skeleton.threads[self.thread].inputs.push(InputValue { condition, value: choice });
        }
        let succeeds = self.terms.not(fails);
        let succeeds = self.terms.and2(same, succeeds);
        let succeeds = self.terms.bool_to_bits(succeeds, 1);
        state.set_local(*ok, succeeds);
        state.set_local(*old, was);
        Ok(Some(state))
    }

    pub(crate) fn input(&mut self, state: &State, width: u32) -> Term {
        let value = self.terms.variable(Sort::Bits(width), "input");
        let inputs = &mut self.skeleton.threads[self.thread].inputs;
        inputs.push(InputValue { condition: state.path, value });
        value
    }
}
