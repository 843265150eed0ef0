//! Summarising threads: one merged symbolic execution for each, which leaves nothing but its events.
//!
//! Paper 000, section 4: a state is a path condition and the values of locals; each read of shared memory gives a fresh
//! variable; states that meet are merged by if-then-else over what differs. Bounding happens on the way: a loop whose
//! condition folds to a constant unrolls as often as it runs, any other one up to its bound, where a *cut* is recorded. So the
//! constants that a loop produces are there when the next one is unrolled, and threads and allocations are counted exactly.
//!
//! A loop that only waits (reads shared memory, changes nothing, and comes back in the state it began in) is executed once:
//! what an iteration may do later, the one iteration may do then. Coming back is not a path; the thread waits.

use crate::access::Look;
use crate::cssa::{Equations, Mode};
use crate::liveness::{Live, live};
use crate::nesting::{Element, Loop, nesting};
use crate::objects::{Initial, Instance, InstanceId, Instances};
use crate::private::Memory;
use crate::skeleton::{
    Bounded, Cut, Death, Input, Join, NodeId, Skeleton, Thread, ThreadIndex, Unit, Until, Violation, Wait,
};
use crate::trail::{Deed, Trail, is_balanced};
use crate::{Reported, Task};
use leno_explore::Properties;
use leno_ir::callgraph::CallGraph;
use leno_ir::cfg::Cfg;
use leno_ir::interp::{ViolationKind, private_slots};
use leno_ir::points_to::{AbstractId, AbstractObject, ObjectSet, PointsTo};
use leno_ir::program::{
    BlockId, Body, Callee, Datum, Expr, FuncId, Instr, ObjectId, ObjectKind, Op, Place, Program, Span, SyncOp,
    Terminator, TerminatorKind, Type,
};
use leno_ir::sharing::{SharedObjects, Sharing};
use leno_logic::core::Answer;
use leno_logic::limits::Limits;
use leno_logic::solver::Solver;
use leno_logic::term::{Sort, Term, Terms};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Why the engine gives up on a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    pub reason: String,
}

impl Refused {
    pub fn new(reason: impl Into<String>) -> Refused {
        Refused { reason: reason.into() }
    }

    pub fn floats() -> Refused {
        Refused::new("floating-point arithmetic is not encoded yet")
    }
}

/// How far to unroll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub default: u32,
    pub particular: BTreeMap<Bounded, u32>,
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

/// Iterations of a loop whose condition is constant count for one of others; calls within calls.
const CONSTANT_ROUNDS: u32 = 10_000;
/// The same, if others can see what it does.
const EVENTFUL_ROUNDS: u32 = 32;
/// How long to think about whether a loop waits.
const QUICKLY: Duration = Duration::from_millis(20);
const MOST_ACTIVATIONS: usize = 1_000;

/// A thread at some place, on all paths that lead there.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub path: Term,
    /// The registers of the running activation, and then what it returns.
    pub locals: Rc<Vec<Option<Term>>>,
    pub memory: Memory,
    /// The node of the atomic section that it is in, how deeply it is nested, and what it has written.
    pub section: Option<NodeId>,
    pub depth: u32,
    pub section_writes: Vec<Unit>,
    /// How often the thread holds read-write locks for reading, by their addresses.
    pub reading: Rc<BTreeMap<u64, Term>>,
    /// The sleep on a condition variable that it is to wake up from.
    pub sleep: Option<usize>,
    /// What it has done to others.
    pub trail: Trail,
}

impl State {
    pub fn set_local(&mut self, index: usize, value: Term) {
        Rc::make_mut(&mut self.locals)[index] = Some(value);
    }
}

/// An activation of a function.
pub(crate) struct Frame {
    pub func: FuncId,
    pub slots: Vec<InstanceId>,
    pending: FxHashMap<BlockId, Vec<State>>,
    /// The loops that are being executed, outermost first.
    loops: Vec<Running>,
    exits: Vec<State>,
}

impl Frame {
    /// Where to go from here depends on what reads and inputs give.
    fn note_decision(&mut self, targets: &[BlockId]) {
        for running in &mut self.loops {
            let stays = |target: &BlockId| running.blocks.binary_search(target).is_ok();
            running.is_decided |= targets.iter().any(stays) && !targets.iter().all(stays);
        }
    }

    fn take_decided(&mut self) -> bool {
        self.loops.last_mut().is_some_and(|running| std::mem::take(&mut running.is_decided))
    }
}

/// A loop that is being executed.
struct Running {
    blocks: Vec<BlockId>,
    /// Whether staying in it or leaving it has depended on what reads and inputs give, in this round.
    is_decided: bool,
}

/// What is known of an activation to those that it calls.
struct Activation {
    func: FuncId,
    path: Term,
    slots: Vec<InstanceId>,
}

/// What is known of a function's shape.
struct Shape {
    elements: Vec<Element>,
    /// By block: what is still needed at its beginning.
    live: Vec<Live>,
    /// By slot: whether its address goes nowhere.
    private_slots: Vec<bool>,
}

/// A thread that has been started and is still to be summarised.
struct Started {
    index: ThreadIndex,
    func: FuncId,
    args: Vec<Term>,
    path: Term,
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
    shapes: FxHashMap<FuncId, Rc<Shape>>,
    statics: FxHashMap<(ObjectId, Option<ThreadIndex>), InstanceId>,
    functions: FxHashMap<FuncId, InstanceId>,
    started: Vec<Started>,
    active: Vec<Activation>,
    /// The thread that is being summarised, and its last node.
    pub(crate) thread: ThreadIndex,
    pub(crate) last: NodeId,
    thread_ends: Vec<State>,
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
            counts_locking: counts_locking(program),
            here: (NOWHERE, Span::NONE),
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
        let (argc, argv) = (self.terms.bits(32, 1), self.pointer(0));
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
        if self.properties.leak || self.properties.memtrack {
            self.skeleton.gap("what is left at the end is not watched");
        }
        Ok(())
    }

    fn add_thread(&mut self, name: String, spawned: Option<(NodeId, Term)>) -> ThreadIndex {
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
        let state = State {
            path: started.path,
            locals: Rc::new(Vec::new()),
            memory: Memory::default(),
            section: None,
            depth: 0,
            section_writes: Vec::new(),
            reading: Rc::default(),
            sleep: None,
            trail: Trail::default(),
        };
        let word = self.program.model.word();
        let args = started.args.into_iter().map(Some).collect();
        let mut ends = Vec::new();
        let returned = self.call(started.func, args, state)?;
        if let (Some((state, _)), ThreadIndex(0)) = (&returned, started.index) {
            // The return from the entry function ends the process.
            let node = self.skeleton.add_node(started.index);
            self.skeleton.exits.push((state.path, node));
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
        if let Some(id) = self.statics.get(&(object, owner)) {
            return Ok(self.instances.get(*id).base);
        }
        let id = self.add_instance(
            AbstractObject::Static(object),
            data.size,
            Initial::Static(object),
            false,
            data.kind == ObjectKind::Constant,
        )?;
        self.statics.insert((object, owner), id);
        self.instances.get_mut(id).owner = owner;
        if data.kind == ObjectKind::External {
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

    fn shape(&mut self, func: FuncId) -> Result<Rc<Shape>, Refused> {
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

    fn run_elements(&mut self, shape: &Shape, elements: &[Element], frame: &mut Frame) -> Result<(), Refused> {
        for element in elements {
            match element {
                Element::Block(block) => {
                    if let Some(states) = frame.pending.remove(block)
                        && let Some(state) = self.merge(states)?
                    {
                        self.run_block(frame, *block, state)?;
                    }
                }
                Element::Loop(inner) => self.run_loop(shape, inner, frame)?,
            }
        }
        Ok(())
    }

    fn run_loop(&mut self, shape: &Shape, inner: &Loop, frame: &mut Frame) -> Result<(), Refused> {
        let what = Bounded::Loop(frame.func, inner.head);
        let (mut rounds, mut decided, mut eventful) = (0, 0, 0);
        frame.loops.push(Running { blocks: inner.blocks.clone(), is_decided: false });
        let mut before: Option<State> = None;
        let mut before_rest: Option<(BlockId, State)> = None;
        let always = self.terms.bool(true);
        let (mut was_active, mut was_active_inside) = (always, always);
        while inner.blocks.iter().any(|block| frame.pending.contains_key(block)) {
            if (self.interrupted)() {
                return Err(Refused::new("interrupted"));
            }
            let states = frame.pending.remove(&inner.head).unwrap_or_default();
            let mut head = self.merge(states)?;
            if let (Some(now), Some(last)) = (&head, &before) {
                decided += u32::from(frame.take_decided() || !inner.has_exit);
                head =
                    self.without_waiting(now.clone(), last, frame, &shape.live[inner.head.0 as usize], &mut was_active);
                if head.is_none() {
                    before = None;
                    continue;
                }
            }
            let bound = self.bounds.of(what);
            if decided > bound || eventful / EVENTFUL_ROUNDS >= bound || rounds / CONSTANT_ROUNDS > bound {
                let mut left: Vec<State> = head.into_iter().collect();
                for block in &inner.blocks {
                    left.extend(frame.pending.remove(block).unwrap_or_default());
                }
                for state in left {
                    self.cut(state.path, what);
                }
                break;
            }
            before = head.clone();
            let nodes = self.skeleton.nodes.len();
            if let Some(head) = head {
                frame.pending.insert(inner.head, vec![head]);
            }
            // Once more after the head: now those who leave there are gone.
            let (first, rest) = inner.elements.split_at(1);
            self.run_elements(shape, first, frame)?;
            let mut inside = inner.blocks.iter().filter(|block| frame.pending.contains_key(block));
            if let (Some(&block), None) = (inside.next(), inside.next())
                && block != inner.head
                && let Some(state) = self.merge(frame.pending.remove(&block).unwrap_or_default())?
            {
                let mut left = Some(state.clone());
                if let Some((_, last)) = before_rest.take_if(|(last, _)| *last == block) {
                    left = self.without_waiting(
                        state.clone(),
                        &last,
                        frame,
                        &shape.live[block.0 as usize],
                        &mut was_active_inside,
                    );
                }
                before_rest = left.clone().map(|state| (block, state));
                left.into_iter().for_each(|state| frame.pending.entry(block).or_default().push(state));
            }
            self.run_elements(shape, rest, frame)?;
            rounds += 1;
            eventful += u32::from(self.skeleton.nodes.len() > nodes);
        }
        frame.loops.pop();
        Ok(())
    }

    /// A state that a loop has come back in, without the paths on which it has only waited since `then`: those on which nothing
    /// has changed. None if there are no others. `was_active`: the condition that it did not only wait in the round before.
    fn without_waiting(
        &mut self,
        mut now: State,
        then: &State,
        frame: &Frame,
        live: &Live,
        was_active: &mut Term,
    ) -> Option<State> {
        let always = self.terms.bool(true);
        let last_active = std::mem::replace(was_active, always);
        let Some(different) = self.differences(&now, then, frame, live) else { return Some(now) };
        if self.terms.as_bool(different) == Some(true) {
            return Some(now);
        }
        let (effects, locks) = now.trail.since(&then.trail);
        let mut active = self.terms.or(&effects);
        let idle = self.terms.not(active);
        let idle = self.terms.and2(now.path, idle);
        let known = self.forgotten(then, live);
        if self.terms.as_bool(idle) == Some(false) || !self.is_impossible(&[idle, different], &known) {
            return Some(now);
        }
        let mut deeds = Vec::new();
        for (deed, condition) in locks {
            let together = self.terms.and2(now.path, condition);
            if together == now.path || !self.is_impossible(&[idle, condition], &known) {
                deeds.push(deed);
            }
        }
        if !is_balanced(&deeds) {
            return Some(now);
        }
        *was_active = active;
        if !deeds.is_empty() {
            // The first round in which a lock is given up matters: it lets others in.
            active = self.terms.or2(active, last_active);
        }
        now.path = self.terms.and2(now.path, active);
        (!self.is_impossible(&[now.path], &known)).then_some(now)
    }

    /// How to forget where the values of a state came from: its path is possible, and what is in its registers may be anything.
    fn forgotten(&mut self, state: &State, live: &Live) -> FxHashMap<Term, Term> {
        let mut forgotten = FxHashMap::default();
        for value in state.locals.iter().zip(&live.registers).filter_map(|(value, live)| value.filter(|_| *live)) {
            if self.terms.as_bits(value).is_none() {
                let anything = self.terms.variable(self.terms.sort(value), "anything");
                forgotten.insert(value, anything);
            }
        }
        forgotten.insert(state.path, self.terms.bool(true));
        forgotten
    }

    /// Whether terms cannot hold together, whatever reads and inputs give, and whatever the terms are that are forgotten. (False if
    /// that is not found out quickly.)
    fn is_impossible(&mut self, conditions: &[Term], forgotten: &FxHashMap<Term, Term>) -> bool {
        let all = self.terms.and(conditions);
        if self.terms.as_bool(all) == Some(false) {
            return true;
        }
        let all = self.terms.substitute(all, forgotten);
        let all = self.expanded(all);
        if let Some(known) = self.terms.as_bool(all) {
            return !known;
        }
        let mut solver = Solver::default();
        solver.assert(&self.terms, all);
        let quickly = Limits::until(Instant::now() + QUICKLY);
        solver.solve(&[], &quickly) == Answer::Unsatisfiable
    }

    /// Notes that the thread does something that others may notice.
    pub(crate) fn affect(&mut self, state: &mut State) {
        state.trail.push(Deed::Effect, state.path);
    }

    /// The condition that a state differs from an earlier one at the same place in something that matters there; None if it
    /// always does.
    fn differences(&mut self, now: &State, then: &State, frame: &Frame, live: &Live) -> Option<Term> {
        if now.section != then.section || now.memory.dead != then.memory.dead || now.reading != then.reading {
            return None;
        }
        let registers = now.locals.iter().zip(then.locals.iter()).zip(&live.registers);
        let mut different: Vec<(Option<Term>, Option<Term>)> = registers
            .filter(|((now, then), live)| **live && now != then)
            .map(|((now, then), _)| (*now, *then))
            .collect();
        let empty = Rc::default();
        let ids: BTreeSet<InstanceId> = now.memory.objects.keys().chain(then.memory.objects.keys()).copied().collect();
        for id in ids {
            let is_dead = frame.slots.iter().zip(&live.slots).any(|(slot, live)| *slot == id && !live);
            let (now, then) = (now.memory.objects.get(&id), then.memory.objects.get(&id));
            match now.unwrap_or(&empty).differences(then.unwrap_or(&empty)) {
                _ if is_dead => {}
                Some(found) => different.extend(found),
                None => return None,
            }
        }
        let mut unequal = Vec::new();
        for pair in different {
            let (Some(now), Some(then)) = pair else { return None };
            let same = self.terms.eq(now, then);
            unequal.push(self.terms.not(same));
        }
        Some(self.terms.or(&unequal))
    }

    pub(crate) fn cut(&mut self, condition: Term, what: Bounded) {
        self.skeleton.cuts.push(Cut { condition, after: self.last, what });
    }

    /// All states as one; None if there is none.
    fn merge(&mut self, states: Vec<State>) -> Result<Option<State>, Refused> {
        let mut merged: Option<State> = None;
        for state in states {
            if self.terms.as_bool(state.path) == Some(false) {
                continue;
            }
            merged = Some(match merged {
                None => state,
                Some(other) => self.merge_two(state, other)?,
            });
        }
        Ok(merged)
    }

    fn merge_two(&mut self, a: State, b: State) -> Result<State, Refused> {
        if (a.section, a.depth) != (b.section, b.depth) {
            return Err(Refused::new("an atomic section begins or ends on some paths only"));
        }
        let condition = a.path;
        let mut locals = a.locals.as_ref().clone();
        for (value, other) in locals.iter_mut().zip(b.locals.iter()) {
            if value != other {
                *value = self.merge_values(condition, *value, *other);
            }
        }
        let memory = self.merge_memories(condition, &a.memory, &b.memory);
        let common = a.section_writes.iter().zip(&b.section_writes).take_while(|(a, b)| same_unit(a, b)).count();
        let mut section_writes = a.section_writes;
        section_writes.extend_from_slice(&b.section_writes[common..]);
        let path = self.terms.or2(a.path, b.path);
        let path = self.assigned(path);
        let (section, depth, trail) = (a.section, a.depth, a.trail.merge(&b.trail));
        if a.sleep != b.sleep {
            return Err(Refused::new("a thread sleeps on some paths only"));
        }
        let (locals, sleep) = (Rc::new(locals), a.sleep);
        let reading = self.merge_reading(condition, &a.reading, &b.reading);
        Ok(State { path, locals, memory, section, depth, section_writes, reading, sleep, trail })
    }

    fn merge_values(&mut self, condition: Term, a: Option<Term>, b: Option<Term>) -> Option<Term> {
        let sort = self.terms.sort(a.or(b)?);
        let mut or_anything = |value: Option<Term>| value.unwrap_or_else(|| self.terms.variable(sort, "undefined"));
        let (a, b) = (or_anything(a), or_anything(b));
        let value = self.terms.ite(condition, a, b);
        Some(self.assigned(value))
    }

    fn merge_reading(
        &mut self,
        condition: Term,
        a: &Rc<BTreeMap<u64, Term>>,
        b: &Rc<BTreeMap<u64, Term>>,
    ) -> Rc<BTreeMap<u64, Term>> {
        if a == b {
            return a.clone();
        }
        let none = self.terms.bits(32, 0);
        let mut merged = BTreeMap::new();
        for &lock in a.keys().chain(b.keys()) {
            let (a, b) = (a.get(&lock).unwrap_or(&none), b.get(&lock).unwrap_or(&none));
            merged.insert(lock, self.terms.ite(condition, *a, *b));
        }
        Rc::new(merged)
    }

    fn merge_memories(&mut self, condition: Term, a: &Memory, b: &Memory) -> Memory {
        let mut merged = Memory { objects: FxHashMap::default(), dead: a.dead.clone() };
        if a.dead != b.dead {
            let never = self.terms.bool(false);
            let mut dead = BTreeMap::new();
            for &id in a.dead.keys().chain(b.dead.keys()) {
                let (left, right) = (a.dead.get(&id).unwrap_or(&never), b.dead.get(&id).unwrap_or(&never));
                dead.insert(id, self.terms.ite(condition, *left, *right));
            }
            merged.dead = Rc::new(dead);
        }
        let mut ids: Vec<InstanceId> = a.objects.keys().chain(b.objects.keys()).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            let empty = Rc::default();
            let (left, right) = (a.objects.get(&id).unwrap_or(&empty), b.objects.get(&id).unwrap_or(&empty));
            let cells = if Rc::ptr_eq(left, right) || left == right {
                left.clone()
            } else {
                let initial = self.instances.get(id).initial;
                let mut terms = std::mem::take(&mut self.terms);
                let cells = left.merge(&mut terms, condition, right, &mut |terms, offset, bytes| {
                    self.initial_bytes(terms, initial, offset, bytes)
                });
                self.terms = terms;
                Rc::new(cells)
            };
            merged.objects.insert(id, cells);
        }
        merged
    }

    fn run_block(&mut self, frame: &mut Frame, block: BlockId, state: State) -> Result<(), Refused> {
        let function: &'p leno_ir::program::Function = &self.program.functions[frame.func];
        let Body::Blocks(blocks) = &function.body else { return Ok(()) };
        let code = &blocks[block];
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
                if self.terms.as_bool(condition).is_none() {
                    frame.note_decision(&[*then, *otherwise]);
                }
                self.go(frame, &state, condition, *then);
                self.go(frame, &state, negation, *otherwise);
            }
            TerminatorKind::Switch { value, cases, default } => {
                let value = self.evaluate(frame, &mut state, value)?;
                let width = self.terms.width(value);
                if self.terms.as_bits(value).is_none() {
                    let targets: Vec<BlockId> = cases.iter().map(|(_, target)| *target).chain([*default]).collect();
                    frame.note_decision(&targets);
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
                if self.active.len() > 1 || self.thread != ThreadIndex(0) {
                    self.end_lives(&frame.slots, &mut state);
                }
                frame.exits.push(state);
            }
            TerminatorKind::ThreadExit(value) => {
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
            }
            TerminatorKind::Unreachable => self.violate(ViolationKind::Unreachable, state.path),
        }
        Ok(())
    }

    /// The activation ends, and with it the lives of its stack objects.
    fn end_lives(&mut self, slots: &[InstanceId], state: &mut State) {
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

    fn go(&mut self, frame: &mut Frame, state: &State, condition: Term, target: BlockId) {
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
                if state.section.is_some() {
                    let holds = self.terms.implies(state.path, condition);
                    self.skeleton.constraints.push(holds);
                }
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

    fn input(&mut self, state: &State, width: u32) -> Term {
        let value = self.terms.variable(Sort::Bits(width), "input");
        let inputs = &mut self.skeleton.threads[self.thread.0 as usize].inputs;
        inputs.push(Input { condition: state.path, value, width: width as u16 });
        value
    }

    fn run_call(
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
    fn resolve(&mut self, frame: &Frame, state: &mut State, pointer: &Expr) -> Result<Vec<(Term, FuncId)>, Refused> {
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

    fn call_external(
        &mut self,
        frame: &Frame,
        func: FuncId,
        state: State,
        args: &[Expr],
        values: &[Option<Term>],
    ) -> Result<(State, Option<Term>), Refused> {
        let function = &self.program.functions[func];
        let Body::External(external) = &function.body else { return Ok((state, None)) };
        let is_null = |index: usize| values[index].is_some_and(|value| self.terms.as_bits(value) == Some(0));
        let may_write = |index: usize| match external.known {
            true => external.writes.contains(&(index as u32)) && !is_null(index),
            false => !self.points_to.points_to(frame.func, &args[index]).is_empty(),
        };
        if (0..args.len()).any(may_write) {
            return Err(Refused::new(format!("`{}` is called, whose effects are not encoded", function.name)));
        }
        if !external.known {
            let result = function.ret.map(|ty| self.input(&state, self.width(ty)));
            return Ok((state, result));
        }
        if matches!(function.ret, Some(Type::Float(_))) {
            return Err(Refused::floats());
        }
        if self.properties.memory && !self.reads_constants_only(func, values) {
            self.skeleton.gap(format!("what `{}` reads is not checked", function.name));
        }
        let result = function.ret.map(|ty| self.terms.variable(Sort::Bits(self.width(ty)), function.name.clone()));
        Ok((state, result))
    }

    /// Whether all that a known external function reads are constant strings, as in `printf("%d\n", x)`.
    fn reads_constants_only(&self, func: FuncId, values: &[Option<Term>]) -> bool {
        let function = &self.program.functions[func];
        let Body::External(external) = &function.body else { return false };
        let fixed = function.params as usize - usize::from(external.variadic);
        let mut takes_text = false;
        for (value, local) in values.iter().zip(function.locals.iter()).take(fixed) {
            if local.ty != Type::Ptr {
                continue;
            }
            let Some(id) = value.and_then(|value| self.instance_at(value)) else { return false };
            let AbstractObject::Static(object) = self.points_to.objects()[self.instances.get(id).object] else {
                return false;
            };
            let data = &self.program.objects[object];
            if matches!(data.name.as_str(), "stdout" | "stderr") {
                continue;
            }
            if data.kind != ObjectKind::Constant {
                return false;
            }
            // Arguments that are addresses would be read, or written.
            takes_text |= data.init.iter().any(|(_, datum)| match datum {
                Datum::Bytes(bytes) => {
                    bytes.windows(2).any(|pair| pair[0] == b'%' && !b"dicuxXp%lhz".contains(&pair[1]))
                }
                _ => true,
            });
        }
        !(external.variadic && takes_text)
    }

    fn spawn(
        &mut self,
        frame: &mut Frame,
        mut state: State,
        handle: Option<&leno_ir::program::Access>,
        func: &Expr,
        args: &[Expr],
    ) -> Result<Option<State>, Refused> {
        self.affect(&mut state);
        let mut values = Vec::new();
        for arg in args {
            values.push(self.evaluate(frame, &mut state, arg)?);
        }
        let node = self.next_node(&mut state);
        self.step(node, state.path);
        self.current = Some(node);
        let word = u32::from(self.program.model.pointer_bits());
        let mut stored = self.terms.bits(word, 0);
        for (condition, func) in self.resolve(frame, &mut state, func)? {
            let path = self.terms.and2(state.path, condition);
            if self.terms.as_bool(path) == Some(false) {
                continue;
            }
            let number = self.skeleton.threads.len();
            let parent = &self.skeleton.threads[self.thread.0 as usize].name;
            let index = self.add_thread(format!("{parent}.{number}"), Some((node, path)));
            let own = self.skeleton.threads[index.0 as usize].handle;
            stored = self.terms.ite(condition, own, stored);
            self.started.push(Started { index, func, args: values.clone(), path });
        }
        let after = match handle {
            None => Some(state),
            Some(access) => {
                let address = self.evaluate(frame, &mut state, &access.ptr)?;
                let width = self.width(access.ty);
                let value = self.fit(stored, width);
                self.store_at(frame, state, access, address, value, Some(node))?
            }
        };
        self.current = None;
        Ok(after)
    }

    fn join(&mut self, mut state: State, dst: Option<leno_ir::program::LocalId>, handle: Term) -> Option<State> {
        self.affect(&mut state);
        let before = self.last;
        let node = self.next_node(&mut state);
        let done = self.terms.variable(Sort::Bool, "joined");
        let word = u32::from(self.program.model.pointer_bits());
        let result = dst.map(|_| self.terms.variable(Sort::Bits(word), "joined result"));
        if self.properties.deadlock {
            let (thread, after, path) = (self.thread, before, state.path);
            self.skeleton.waits.push(Wait { thread, after, path, goes_on: done, until: Until::End(handle) });
        }
        let invalid = self.invalid_handle(state.path);
        self.skeleton.joins.push(Join { is_detach: false, invalid, done, node, path: state.path, handle, result });
        let path = self.terms.and2(state.path, done);
        self.step(node, path);
        if let (Some(dst), Some(result)) = (dst, result) {
            state.set_local(dst.0 as usize, result);
        }
        self.restrict(state, done)
    }

    fn detach(&mut self, mut state: State, handle: Term) -> Option<State> {
        self.affect(&mut state);
        let node = self.next_node(&mut state);
        let invalid = self.invalid_handle(state.path);
        let valid = invalid.map_or(Term::TRUE, |invalid| self.terms.not(invalid));
        let path = self.terms.and2(state.path, valid);
        self.step(node, path);
        let (done, result) = (valid, None);
        self.skeleton.joins.push(Join { is_detach: true, invalid, done, node, path: state.path, handle, result });
        self.restrict(state, valid)
    }

    /// A variable that may be true only where a handle is not one; see composition.
    fn invalid_handle(&mut self, path: Term) -> Option<Term> {
        if !self.properties.covers(ViolationKind::InvalidThread) {
            return None;
        }
        let invalid = self.terms.variable(Sort::Bool, "no thread");
        let bad = self.terms.and2(path, invalid);
        self.violate(ViolationKind::InvalidThread, bad);
        Some(invalid)
    }
}

fn same_unit(a: &Unit, b: &Unit) -> bool {
    (a.condition, a.address, a.value, a.bytes) == (b.condition, b.address, b.value, b.bytes)
}

/// Whether the program has steps that can tell how often a lock was held: those that try.
fn counts_locking(program: &Program) -> bool {
    use SyncOp::*;
    let mut counts = false;
    for (id, function) in program.functions.iter_enumerated() {
        let Body::Blocks(blocks) = &function.body else { continue };
        for instr in blocks.iter().flat_map(|block| &block.instrs) {
            let Op::Sync { op, .. } = &instr.op else { continue };
            counts |= match op {
                TryLock(_) | TryReadLock | TryWriteLock | SemTryWait | SemGetValue => true,
                LockDestroy(_) | RwDestroy => program.entry != Some(id),
                _ => false,
            };
        }
    }
    counts
}

fn has_op(program: &Program, is_one: impl Fn(&Op) -> bool) -> bool {
    program.functions.iter().any(|function| match &function.body {
        Body::Blocks(blocks) => blocks.iter().flat_map(|block| &block.instrs).any(|instr| is_one(&instr.op)),
        Body::External(_) => false,
    })
}

/// The mutexes that may be of another kind than the normal one: made so by a call, or by their initial values.
fn special_mutexes(program: &Program, points_to: &PointsTo) -> ObjectSet {
    let mut special = ObjectSet::new();
    for (id, function) in program.functions.iter_enumerated() {
        let Body::Blocks(blocks) = &function.body else { continue };
        for instr in blocks.iter().flat_map(|block| &block.instrs) {
            let Op::Sync { op, at, .. } = &instr.op else { continue };
            match op {
                SyncOp::LockInit { kind: Expr::Const { bits: 0, .. }, .. } => {}
                SyncOp::LockInit { .. } => _ = special.union_with(&points_to.points_to(id, at)),
                SyncOp::Lock(_) | SyncOp::TryLock(_) => {
                    let targets = points_to.points_to(id, at);
                    let is_set = |object: &AbstractId| match points_to.objects()[*object] {
                        AbstractObject::Static(object) => {
                            program.objects[object].init.iter().any(|(_, datum)| match datum {
                                Datum::Bytes(bytes) => bytes.iter().any(|byte| *byte != 0),
                                _ => true,
                            })
                        }
                        _ => false,
                    };
                    special.union_with(&targets.iter().filter(is_set).collect());
                }
                _ => {}
            }
        }
    }
    special
}

/// Whether any thread ever waits on a condition variable.
pub(crate) fn has_condition_variables(program: &Program) -> bool {
    has_op(program, |op| matches!(op, Op::Sync { op: SyncOp::CondWake { .. }, .. }))
}
