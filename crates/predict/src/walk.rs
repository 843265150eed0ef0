//! The recorded path, walked through the representation.
//!
//! The records of a thread hold every value that came into it from outside, and nothing else. So its path can be walked again, one
//! instruction after another, without any other thread: the walker computes registers, addresses and branches, and takes from
//! the records what loads returned, what inputs were, and which objects were made where. All the while it carries terms
//! beside the values (`express`), and tells a [`Listener`] what the thread did to things that others can see: these are the guarded
//! assignments and assertions of paper 003, section 3.
//!
//! Two sorts of values need no record. Quiet memory belongs to the thread, and the walk keeps it (`quiet`, `memory`). And what a
//! load returns was foreseen if it is what the thread had seen under the low bits of that address before: the walk keeps the
//! same table as the recorder, and the records say how often it was right (`trace`).
//!
//! Threads are walked side by side: the one that is behind on the recorded clock goes on. So what a parent passed on is known when
//! the child begins, and what a child returned when it is joined.

use crate::express::{Evaluator, Leaves, Val};
use crate::foresee::Ahead;
use crate::instances::{InstanceId, Instances, Kind};
use crate::memory::Memory;
use crate::quiet::Privacy;
use crate::trace::{Record, TABLE, Trace};
use crate::transplant::Transplant;
use leno_ir::index::{Idx, IndexVec};
use leno_ir::interp::ViolationKind;
use leno_ir::program::{
    Block, BlockId, Body, Expr, FuncId, Function, LocalId, Place, Program, Span, TerminatorKind, Type,
};
use leno_ir::witness::is_schedule_point;
use leno_logic::term::{Term, Terms};
use std::collections::{BTreeMap, BTreeSet};

/// Where a thread is.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub thread: u32,
    pub place: Place,
    pub span: Span,
    /// On the recorded clock.
    pub clock: u64,
    /// How many schedule points the thread has passed.
    pub point: u32,
}

/// A piece of memory, by the object it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Location {
    pub instance: InstanceId,
    pub offset: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct Touch {
    pub at: Location,
    pub bytes: u32,
    pub atomic: bool,
}

/// What a thread does to things that are not plain memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Acquire {
        lock: Location,
        shared: bool,
    },
    Release {
        lock: Location,
    },
    /// An attempt to get a lock that somebody else had.
    Busy {
        lock: Location,
        shared: bool,
    },
    Sleep {
        condition: Location,
    },
    Wake {
        condition: Location,
        timed_out: bool,
    },
    Signal {
        condition: Location,
        broadcast: bool,
    },
    Spawn {
        child: u32,
    },
    Start,
    Join {
        child: u32,
    },
    Finish,
    Exit,
    Free {
        instance: InstanceId,
    },
    BeginSection,
    EndSection,
    /// The marks of a block that is expected to be atomic.
    BeginBlock,
    EndBlock,
}

/// What might go wrong at a moment.
#[derive(Clone, Debug)]
pub struct Suspect {
    pub kind: ViolationKind,
    /// Where the violation is, which may be on a branch that was not taken.
    pub span: Span,
    pub message: String,
}

/// Hears what threads do, in the order of each thread.
pub trait Listener {
    /// What a load gives. `recorded` is what it gave.
    fn load(&mut self, terms: &mut Terms, at: &Moment, touch: Touch, recorded: u128) -> Val;
    fn store(&mut self, terms: &mut Terms, at: &Moment, touch: Touch, value: Val);
    /// The first half of an indivisible update.
    fn update_load(&mut self, terms: &mut Terms, at: &Moment, touch: Touch, recorded: u128) -> Val;
    /// The second half: what is written, if `condition` (1 bit) holds.
    fn update_store(&mut self, terms: &mut Terms, at: &Moment, touch: Touch, condition: Val, value: Val);
    /// An indivisible update of a number that belongs to a synchronisation object.
    fn count(
        &mut self,
        terms: &mut Terms,
        at: &Moment,
        counter: Location,
        change: &mut dyn FnMut(&mut Terms, Term) -> Change,
    ) -> Option<Term>;
    /// The thread goes on only if this holds.
    fn demand(&mut self, terms: &mut Terms, at: &Moment, condition: Term);
    /// Here `bad` must not hold.
    fn suspect(&mut self, terms: &mut Terms, at: &Moment, bad: Term, suspect: Suspect);
    fn act(&mut self, terms: &mut Terms, at: &Moment, action: Action);
    /// A new object of one thread, where there may have been another one.
    fn begin_private(&mut self, at: Location, bytes: u64);
}

/// What becomes of a counter.
pub struct Change {
    /// What it has to be for this to happen.
    pub guard: Option<Term>,
    pub new: Option<Term>,
}

/// A function that is running.
#[derive(Clone)]
pub(crate) struct Frame {
    pub func: FuncId,
    pub block: BlockId,
    pub index: usize,
    pub locals: Vec<Val>,
    /// Where its stack objects are.
    pub slots: Vec<u64>,
    /// Where the caller wants the result.
    pub dst: Option<LocalId>,
    /// The stack objects that die with it, by address.
    pub owned: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Running,
    /// Came to its end.
    Finished,
    /// There is nothing more to read, or it does not fit.
    Over,
}

pub(crate) struct Thread {
    pub number: u32,
    pub name: String,
    pub records: Ahead,
    pub frames: Vec<Frame>,
    pub clock: u64,
    /// The last record was a step, which has moved the clock.
    pub stepped: bool,
    /// What it has last seen, as the recorder has it.
    pub table: Vec<u8>,
    pub slot_table: Vec<u64>,
    /// Foreseen loads that no record has told so far.
    pub hits: u64,
    /// Memory that nobody else knows.
    pub memory: Memory,
    /// Where it has found objects: start, end, and how many objects there were then.
    pub found: Vec<Option<Found>>,
    /// How many objects there are at a moment of the clock.
    pub generation: (u64, usize),
    pub point: u32,
    pub children: u32,
    pub state: State,
    pub result: Val,
    /// Live stack objects, and other private ones, by address: end and instance.
    pub stack: BTreeMap<u64, (u64, InstanceId)>,
    pub made: usize,
    pub freed: usize,
    /// What it got when it arrived at a barrier.
    pub tickets: BTreeMap<Location, Term>,
    /// Recursive locks: how often beyond once it holds them.
    pub held: BTreeMap<Location, u32>,
    /// Instructions since the last record.
    pub silent: u64,
    /// Values that came from outside of the program, in order: inputs, and what unknown functions returned.
    pub inputs: Vec<Input>,
    pub problem: Option<String>,
}

/// An object that an address was looked up in.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    start: u64,
    end: u64,
    id: InstanceId,
    generation: usize,
}

/// How many of them are remembered.
const FOUND: usize = 64;

/// All threads by number.
#[derive(Default)]
pub(crate) struct Threads {
    all: Vec<Option<Box<Thread>>>,
}

impl Threads {
    pub fn get(&self, number: u32) -> Option<&Thread> {
        self.all.get(number as usize)?.as_deref()
    }

    pub fn get_mut(&mut self, number: u32) -> Option<&mut Thread> {
        self.all.get_mut(number as usize)?.as_deref_mut()
    }

    fn insert(&mut self, thread: Thread) {
        let index = thread.number as usize;
        if self.all.len() <= index {
            self.all.resize_with(index + 1, || None);
        }
        self.all[index] = Some(Box::new(thread));
    }

    pub fn iter(&self) -> impl Iterator<Item = &Thread> {
        self.all.iter().flatten().map(|thread| &**thread)
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }
}

/// Instructions without a record after the last one, before the thread counts as being at its end.
const PATIENCE: u64 = 1_000_000;

/// The walk of all threads.
pub struct Walk<'p, 't, L> {
    pub(crate) program: &'p Program,
    pub(crate) privacy: &'t Privacy,
    pub(crate) instances: &'t mut Instances,
    pub(crate) until: Option<u64>,
    pub terms: Terms,
    pub(crate) threads: Threads,
    /// Who can go on: by the clock, then by number.
    ready: BTreeSet<(u64, u32)>,
    /// What static objects begin with that are read without a record.
    image: Vec<(u64, Vec<u8>)>,
    trace: &'t Trace,
    /// By thread, the places of the schedule points that it passed, if anybody wants them.
    pub paths: Option<BTreeMap<u32, Vec<Place>>>,
    /// The sizes of barriers.
    pub(crate) barriers: BTreeMap<Location, u128>,
    /// The functions that mark blocks.
    pub(crate) marks: BTreeMap<FuncId, Action>,
    /// Whose handles these are.
    pub(crate) handles: BTreeMap<u64, u32>,
    pub listener: L,
}

/// Why a thread does not go on.
pub(crate) enum Halt {
    /// Another thread has to be walked to its end first.
    Waits,
    /// No more records, or it is finished.
    Over,
    Problem(String),
}

pub(crate) type Going = Result<(), Halt>;

/// A value that came from outside of the program: a nondeterministic one, or what an unknown function returned.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    pub bits: u128,
    pub place: Place,
}

/// What the walk knows of a thread.
#[derive(Clone, Debug)]
pub struct Walked {
    pub name: String,
    pub finished: bool,
    pub inputs: Vec<Input>,
    pub problem: Option<String>,
}

struct FrameLeaves<'a> {
    program: &'a Program,
    function: &'a Function,
    instances: &'a Instances,
    thread: u32,
    frame: &'a Frame,
}

impl Leaves for FrameLeaves<'_> {
    fn leaf(&self, expr: &Expr) -> Val {
        match expr {
            Expr::Local(local) => self.frame.locals.get(local.index()).copied().unwrap_or_default(),
            Expr::Object(object) => Val::fixed(self.instances.address_of(self.program, self.thread, *object).into()),
            Expr::Slot(slot) => Val::fixed(self.frame.slots.get(slot.index()).copied().unwrap_or(0).into()),
            Expr::Function(function) => {
                Val::fixed(self.instances.function_addresses.get(function.index()).copied().unwrap_or(0).into())
            }
            _ => Val::default(),
        }
    }

    fn ty(&self, expr: &Expr) -> Type {
        expr.ty(&self.function.locals, self.program.model)
    }
}

/// The functions that mark blocks; files may have their own, which are told apart by a number behind the name.
fn marks(program: &Program) -> BTreeMap<FuncId, Action> {
    let action = |name: &str| match name.split('.').next() {
        Some("leno_expect_atomic_begin") => Some(Action::BeginBlock),
        Some("leno_expect_atomic_end") => Some(Action::EndBlock),
        _ => None,
    };
    program.functions.iter_enumerated().filter_map(|(id, function)| Some((id, action(&function.name)?))).collect()
}

impl<'p, 't, L: Listener> Walk<'p, 't, L> {
    pub fn new(
        program: &'p Program,
        privacy: &'t Privacy,
        trace: &'t Trace,
        instances: &'t mut Instances,
        listener: L,
    ) -> Self {
        let image = privacy.image(program, instances, None);
        Walk {
            program,
            privacy,
            instances,
            until: trace.until,
            terms: Terms::new(),
            threads: Threads::default(),
            ready: BTreeSet::new(),
            image,
            trace,
            paths: None,
            barriers: BTreeMap::new(),
            marks: marks(program),
            handles: BTreeMap::new(),
            listener,
        }
    }

    /// Walks everything. What is known of each thread, by its number.
    pub fn run(&mut self) -> BTreeMap<u32, Walked> {
        self.start();
        while self.go_on() {}
        self.walked()
    }

    /// The main thread stands at its beginning.
    pub(crate) fn start(&mut self) {
        let Some(entry) = self.program.entry else { return };
        let (argc, argv, fingerprint) = self.begin();
        self.add_thread(0, "main".to_string(), entry, &[(32, argc), (64, argv)]);
        if fingerprint != Some(self.privacy.quiet.fingerprint()) {
            let problem = "the trace is of another program, or another Leno has recorded it".to_string();
            self.halt(0, Halt::Problem(problem));
        }
    }

    /// Walks the thread that is behind up to the next moment of the clock; false if all are at their ends.
    pub(crate) fn go_on(&mut self) -> bool {
        if let Some((clock, number)) = self.ready.pop_first() {
            // (It may have been put there twice.)
            if self.threads.get(number).is_some_and(|thread| thread.clock == clock) {
                self.advance(number, false);
            }
            return true;
        }
        // A join of a thread that never came to its end: the record says what it gave.
        let stuck = self.threads.iter().find(|thread| thread.state == State::Running).map(|thread| thread.number);
        match stuck {
            Some(number) => self.advance(number, true),
            None => return false,
        }
        true
    }

    /// Nothing that is still to come was before this moment of the clock.
    pub(crate) fn horizon(&self) -> u64 {
        self.ready.first().map_or(0, |(clock, _)| *clock)
    }

    /// Takes the terms of all threads to another arena.
    pub(crate) fn transplant(threads: &mut Threads, terms: &mut Transplant<'_>) {
        let mut take_over = |value: &mut Val| {
            if let Some(term) = value.term {
                let term = terms.term(term);
                *value = Val::new(&terms.new, value.bits, term);
            }
        };
        for thread in threads.all.iter_mut().flatten() {
            thread.frames.iter_mut().flat_map(|frame| &mut frame.locals).for_each(&mut take_over);
            take_over(&mut thread.result);
        }
        for thread in threads.all.iter_mut().flatten() {
            thread.tickets.values_mut().for_each(|ticket| *ticket = terms.term(*ticket));
        }
    }

    fn walked(&self) -> BTreeMap<u32, Walked> {
        let walked = |thread: &Thread| Walked {
            name: thread.name.clone(),
            finished: thread.state == State::Finished,
            inputs: thread.inputs.clone(),
            problem: thread.problem.clone(),
        };
        self.threads.iter().map(|thread| (thread.number, walked(thread))).collect()
    }

    fn begin(&self) -> (Val, Val, Option<u64>) {
        match self.trace.records(0).next() {
            Some(Record::Begin { argc, argv, fingerprint }) => {
                (Val::fixed(argc.into()), Val::fixed(argv.into()), Some(fingerprint))
            }
            _ => (Val::fixed(1), Val::fixed(0), None),
        }
    }

    pub(crate) fn add_thread(&mut self, number: u32, name: String, func: FuncId, args: &[(u32, Val)]) {
        let mut records = Ahead::new(self.trace.records(number));
        let is_empty = records.peek().is_none();
        let mut clock = 0;
        while let Some(Record::Begin { .. } | Record::Started { .. } | Record::Static(_)) = records.peek() {
            clock = records.take().and_then(Record::clock).unwrap_or(clock);
        }
        let mut image = self.privacy.image(self.program, self.instances, Some(number));
        image.extend(self.image.iter().cloned());
        let mut thread = Thread {
            number,
            name,
            records,
            frames: Vec::new(),
            clock,
            stepped: number != 0,
            table: vec![0; TABLE + 16],
            slot_table: vec![0; self.privacy.slot_count()],
            hits: 0,
            memory: Memory::new(&image),
            found: vec![None; FOUND],
            generation: (u64::MAX, 0),
            point: 0,
            children: 0,
            state: State::Running,
            result: Val::default(),
            stack: BTreeMap::new(),
            made: 0,
            freed: 0,
            tickets: BTreeMap::new(),
            held: BTreeMap::new(),
            silent: 0,
            inputs: Vec::new(),
            problem: None,
        };
        if is_empty {
            thread.state = State::Over;
            thread.problem = Some("nothing of it is in the trace".to_string());
        }
        self.threads.insert(thread);
        if number != 0
            && let Some(at) = self.start_moment(number, func)
        {
            self.listener.act(&mut self.terms, &at, Action::Start);
        }
        match self.enter(number, func, args, None) {
            // (The clock may have moved while it was entered.)
            Ok(()) if !is_empty => {
                let clock = self.threads.get(number).map_or(clock, |thread| thread.clock);
                self.ready.insert((clock, number));
            }
            Ok(()) => {}
            Err(halt) => self.halt(number, halt),
        }
    }

    fn start_moment(&self, number: u32, func: FuncId) -> Option<Moment> {
        let thread = self.threads.get(number)?;
        let place = Place { func, block: BlockId(0), index: 0 };
        Some(Moment { thread: number, place, span: self.program.functions[func].span, clock: thread.clock, point: 0 })
    }

    fn halt(&mut self, number: u32, halt: Halt) {
        let Some(thread) = self.threads.get_mut(number) else { return };
        match halt {
            Halt::Waits => return,
            Halt::Over if thread.state == State::Running => thread.state = State::Over,
            Halt::Over => {}
            Halt::Problem(problem) => {
                thread.state = State::Over;
                thread.problem = Some(problem);
            }
        }
        // It does not come back; only where it stands may still be asked.
        (thread.table, thread.memory) = (Vec::new(), Memory::default());
        // Somebody may have waited for its end.
        let running = self.threads.iter().filter(|thread| thread.state == State::Running);
        self.ready.extend(running.map(|thread| (thread.clock, thread.number)));
    }

    /// Walks a thread until the clock moves, or one step if it goes on `alone`.
    fn advance(&mut self, number: u32, alone: bool) {
        let Some(start) = self.threads.get(number).map(|thread| thread.clock) else { return };
        loop {
            match self.threads.get(number) {
                Some(thread) if thread.state == State::Running => {
                    if thread.clock != start {
                        self.ready.insert((thread.clock, number));
                        return;
                    }
                }
                _ => return,
            }
            if let Err(halt) = self.step(number, alone) {
                return self.halt(number, halt);
            }
            if alone {
                let clock = self.threads.get(number).map_or(0, |thread| thread.clock);
                self.ready.insert((clock, number));
                return;
            }
        }
    }

    pub(crate) fn thread(&mut self, number: u32) -> Result<&mut Thread, Halt> {
        self.threads.get_mut(number).ok_or(Halt::Over)
    }

    pub(crate) fn frame(&mut self, number: u32) -> Result<&mut Frame, Halt> {
        self.thread(number)?.frames.last_mut().ok_or(Halt::Over)
    }

    fn blocks(&self, func: FuncId) -> Option<&'p IndexVec<BlockId, Block>> {
        match &self.program.functions.get(func)?.body {
            Body::Blocks(blocks) => Some(blocks),
            Body::External(_) => None,
        }
    }

    pub(crate) fn misfit(&mut self, number: u32, expected: &str, found: Record) -> Halt {
        // A failed assertion ends the records of its thread.
        if matches!(found, Record::Failed { .. } | Record::End { .. }) {
            return Halt::Over;
        }
        let place = self.moment(number).map_or(String::new(), |at| {
            let file = self.program.files.get(at.span.file).map_or("", String::as_str);
            format!(" at {file}:{}", at.span.line)
        });
        Halt::Problem(format!("the program wants {expected}{place}, and the trace has {found:?}"))
    }

    pub(crate) fn moment(&mut self, number: u32) -> Option<Moment> {
        let (func, block, index) = {
            let frame = self.frame(number).ok()?;
            (frame.func, frame.block, frame.index)
        };
        let contents = self.blocks(func)?.get(block)?;
        let span = contents.instrs.get(index).map_or(contents.terminator.span, |instr| instr.span);
        let thread = self.threads.get(number)?;
        let place = Place { func, block, index: index as u32 };
        Some(Moment { thread: number, place, span, clock: thread.clock, point: thread.point })
    }

    /// An expression of the running function.
    pub(crate) fn evaluate(&mut self, number: u32, expr: &Expr) -> Result<Val, Halt> {
        let Some(thread) = self.threads.get(number) else { return Err(Halt::Over) };
        let Some(frame) = thread.frames.last() else { return Err(Halt::Over) };
        match expr {
            Expr::Local(local) => return Ok(frame.locals.get(local.index()).copied().unwrap_or_default()),
            Expr::Const { bits, .. } => return Ok(Val::fixed(*bits)),
            _ => {}
        }
        let function = &self.program.functions[frame.func];
        let leaves = FrameLeaves { program: self.program, function, instances: self.instances, thread: number, frame };
        let mut evaluator = Evaluator { terms: &mut self.terms, model: self.program.model, pins: Vec::new() };
        let value = evaluator.value(&leaves, expr);
        let pins = evaluator.pins;
        for pin in pins {
            self.demand(number, pin);
        }
        Ok(value)
    }

    pub(crate) fn ty(&mut self, number: u32, expr: &Expr) -> Type {
        let func = self.frame(number).map(|frame| frame.func);
        func.map_or(Type::I32, |func| expr.ty(&self.program.functions[func].locals, self.program.model))
    }

    pub(crate) fn width(&self, ty: Type) -> u32 {
        u32::from(ty.bits(self.program.model))
    }

    pub(crate) fn demand(&mut self, number: u32, condition: Term) {
        if self.terms.as_bool(condition) != Some(true)
            && let Some(at) = self.moment(number)
        {
            self.listener.demand(&mut self.terms, &at, condition);
        }
    }

    pub(crate) fn set(&mut self, number: u32, local: LocalId, value: Val) -> Going {
        let frame = self.frame(number)?;
        if let Some(slot) = frame.locals.get_mut(local.index()) {
            *slot = value;
        }
        Ok(())
    }

    // --- control

    /// One instruction or terminator.
    fn step(&mut self, number: u32, alone: bool) -> Going {
        let thread = self.thread(number)?;
        if std::mem::take(&mut thread.stepped) {
            thread.clock = thread.clock.saturating_add(1);
        }
        thread.silent += 1;
        if thread.silent > PATIENCE && thread.records.peek().is_none() {
            return Err(Halt::Over);
        }
        let (func, block, index) = {
            let frame = self.frame(number)?;
            (frame.func, frame.block, frame.index)
        };
        let Some(contents) = self.blocks(func).and_then(|blocks| blocks.get(block)) else { return Err(Halt::Over) };
        let Some(instr) = contents.instrs.get(index) else {
            return self.terminate(number, &contents.terminator.kind);
        };
        let depth = self.thread(number)?.frames.len();
        self.instruction(number, instr, alone)?;
        // A call has gone on to its callee, which comes back to the instruction behind it.
        let passes = is_schedule_point(self.program, instr);
        if let (true, Some(paths)) = (passes, &mut self.paths) {
            paths.entry(number).or_default().push(Place { func, block, index: index as u32 });
        }
        let thread = self.thread(number)?;
        thread.point += u32::from(passes);
        if let Some(frame) = thread.frames.get_mut(depth - 1) {
            frame.index += 1;
        }
        Ok(())
    }

    fn terminate(&mut self, number: u32, kind: &TerminatorKind) -> Going {
        match kind {
            TerminatorKind::Goto(target) => self.goto(number, *target),
            TerminatorKind::Branch { cond, then, otherwise } => {
                let value = self.evaluate(number, cond)?;
                let (taken, other) = if value.bits != 0 { (*then, *otherwise) } else { (*otherwise, *then) };
                if let Some(truth) = value.truth(&mut self.terms) {
                    let holds = if value.bits != 0 { truth } else { self.terms.not(truth) };
                    self.suspect_branch(number, other, holds);
                    self.demand(number, holds);
                }
                self.goto(number, taken)
            }
            TerminatorKind::Switch { value, cases, default } => {
                let selector = self.evaluate(number, value)?;
                let target = cases.iter().find(|(bits, _)| *bits == selector.bits).map(|(_, target)| *target);
                if selector.term.is_some() {
                    self.demand_case(number, selector, cases, target.is_some());
                }
                self.goto(number, target.unwrap_or(*default))
            }
            TerminatorKind::Return(value) => self.leave(number, value.as_ref()),
            TerminatorKind::ThreadExit(value) => {
                let value = self.evaluate(number, value)?;
                self.finish(number, value)
            }
            TerminatorKind::Exit(_) | TerminatorKind::Abort => {
                if let Some(at) = self.moment(number) {
                    self.listener.act(&mut self.terms, &at, Action::Exit);
                }
                Err(Halt::Over)
            }
            TerminatorKind::Unreachable => Err(Halt::Over),
        }
    }

    /// The case that was taken, or that none of them was.
    fn demand_case(&mut self, number: u32, selector: Val, cases: &[(u128, BlockId)], is_case: bool) {
        let Some(term) = selector.term else { return };
        let width = self.terms.width(term);
        if is_case {
            if let Some(pin) = selector.pinned(&mut self.terms) {
                self.demand(number, pin);
            }
            return;
        }
        for (bits, _) in cases {
            let case = self.terms.bits(width, *bits);
            let same = self.terms.eq(term, case);
            let other = self.terms.not(same);
            self.demand(number, other);
        }
    }

    fn goto(&mut self, number: u32, target: BlockId) -> Going {
        let frame = self.frame(number)?;
        frame.block = target;
        frame.index = 0;
        Ok(())
    }

    /// Begins an activation. Arguments come with their widths.
    pub(crate) fn enter(&mut self, number: u32, func: FuncId, args: &[(u32, Val)], dst: Option<LocalId>) -> Going {
        let function = &self.program.functions[func];
        let mut locals = vec![Val::default(); function.locals.len()];
        for (index, local) in function.locals.iter().enumerate().take(function.params as usize) {
            if let Some((width, value)) = args.get(index) {
                let to = self.width(local.ty);
                locals[index] = value.fit(&mut self.terms, *width, to);
            }
        }
        let (mut slots, mut owned) = (Vec::new(), Vec::new());
        for (index, slot) in function.slots.iter().enumerate() {
            let address = match self.privacy.slot(func, index) {
                Some(quiet) => self.quiet_slot(number, quiet, slot.size)?,
                None => match self.next(number)? {
                    Record::Slot { address, .. } => {
                        self.made(number, address, slot.size)?;
                        address
                    }
                    other => return Err(self.misfit(number, "a stack object", other)),
                },
            };
            slots.push(address);
            owned.push(address);
        }
        let frame = Frame { func, block: BlockId(0), index: 0, locals, slots, dst, owned };
        self.thread(number)?.frames.push(frame);
        Ok(())
    }

    /// The address of a stack object that belongs to the thread alone.
    fn quiet_slot(&mut self, number: u32, quiet: u32, size: u64) -> Result<u64, Halt> {
        let news = self.next_news(number)?;
        let thread = self.thread(number)?;
        let Some(known) = thread.slot_table.get_mut(quiet as usize) else { return Err(Halt::Over) };
        *known = news.map_or(*known, |bits| bits as u64);
        let address = *known;
        self.begin_private(number, address, size)?;
        Ok(address)
    }

    /// A new object that nobody else knows: zeros.
    pub(crate) fn begin_private(&mut self, number: u32, address: u64, bytes: u64) -> Going {
        let thread = self.thread(number)?;
        thread.memory.clear(address, bytes);
        thread.add_object(address, bytes, InstanceId::private(number));
        let at = Location { instance: InstanceId::private(number), offset: address };
        self.listener.begin_private(at, bytes);
        Ok(())
    }

    /// The next object that the thread makes.
    pub(crate) fn made(&mut self, number: u32, address: u64, size: u64) -> Result<InstanceId, Halt> {
        let thread = self.threads.get_mut(number).ok_or(Halt::Over)?;
        let id = self.instances.made(number, thread.made);
        thread.made += 1;
        if self.instances.get(id).kind == crate::instances::Kind::Slot {
            thread.add_object(address, size, id);
        }
        Ok(id)
    }

    fn leave(&mut self, number: u32, value: Option<&Expr>) -> Going {
        let (value, width) = match value {
            Some(expr) => {
                let ty = self.ty(number, expr);
                (self.evaluate(number, expr)?, self.width(ty))
            }
            None => (Val::default(), 64),
        };
        if self.thread(number)?.frames.len() == 1 {
            let value = value.fit(&mut self.terms, width, 64);
            return self.finish(number, value);
        }
        let thread = self.thread(number)?;
        let Some(frame) = thread.frames.pop() else { return Err(Halt::Over) };
        for address in frame.owned {
            thread.stack.remove(&address);
        }
        if let Some(dst) = frame.dst {
            let func = self.frame(number)?.func;
            let to = self.width(self.program.functions[func].locals[dst].ty);
            let value = value.fit(&mut self.terms, width, to);
            self.set(number, dst, value)?;
        }
        Ok(())
    }

    /// The end of a thread.
    fn finish(&mut self, number: u32, result: Val) -> Going {
        let at = self.moment(number).ok_or(Halt::Over)?;
        match self.next(number)? {
            Record::Finished { clock } => {
                self.listener.act(&mut self.terms, &Moment { clock, ..at }, Action::Finish);
                if let Some(paths) = &mut self.paths {
                    paths.entry(number).or_default().push(at.place);
                }
                let thread = self.thread(number)?;
                thread.result = result;
                thread.point += 1;
                thread.state = State::Finished;
                Err(Halt::Over)
            }
            other => Err(self.misfit(number, "the end of the thread", other)),
        }
    }

    /// The object at an address, as this thread sees it now.
    pub(crate) fn locate(&mut self, number: u32, address: u64) -> Location {
        let Some(thread) = self.threads.get_mut(number) else {
            return Location { instance: crate::instances::UNKNOWN, offset: address };
        };
        if let Some((start, (end, id))) = thread.stack.range(..=address).next_back()
            && address < *end
        {
            let offset = if id.is_private() { address } else { address - start };
            return Location { instance: *id, offset };
        }
        if thread.generation.0 != thread.clock {
            thread.generation = (thread.clock, self.instances.generation(thread.clock));
        }
        let generation = thread.generation.1;
        let entry = &mut thread.found[(address >> 6) as usize % FOUND];
        let found = match entry {
            Some(found) if found.generation == generation && (found.start..found.end).contains(&address) => *found,
            _ => {
                let id = self.instances.at(address, thread.clock);
                let instance = self.instances.get(id);
                let end = instance.start.saturating_add(instance.size.max(1));
                let is_private = matches!(instance.kind, Kind::Static(object) if self.privacy.is_private(object));
                let start = if is_private { 0 } else { instance.start };
                let id = if is_private { InstanceId::private(number) } else { id };
                let found = Found { start, end, id, generation };
                // What nobody knows has other objects in it.
                *entry = (id != crate::instances::UNKNOWN && !is_private).then_some(found);
                found
            }
        };
        Location { instance: found.id, offset: address - found.start }
    }
}

impl Thread {
    fn add_object(&mut self, address: u64, size: u64, id: InstanceId) {
        let end = address.saturating_add(size.max(1));
        // What a returned function left here is gone.
        let stale: Vec<u64> = self.stack.range(address..end).map(|(start, _)| *start).collect();
        for start in stale {
            self.stack.remove(&start);
        }
        self.stack.insert(address, (end, id));
    }
}
