//! Executions that follow a schedule of blocks, with the inputs of the witness.

use super::goal::Goal;
use crate::event::Footprint;
use crate::task::What;
use crate::visible_step::{Ran, Statics, run_event, run_invisible};
use crate::witness::claim;
use leno_ir::interp::{Environment, Image, Isolated, MAIN, Machine, Next, Options, Source, Status, ThreadId};
use leno_ir::program::Op;
use leno_ir::witness::{Claim, Input, Observer, Recorder, Step, Witness};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// A thread makes so many events, or as many as it can.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    pub thread: String,
    pub events: usize,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule {
    pub blocks: Vec<Block>,
}

impl Schedule {
    pub fn from_events(events: &[String]) -> Schedule {
        let mut schedule = Schedule::default();
        events.iter().for_each(|thread| schedule.push(thread, 1));
        schedule
    }

    pub fn push(&mut self, thread: &str, events: usize) {
        match self.blocks.last_mut() {
            Some(last) if last.thread == thread => last.events += events,
            _ => self.blocks.push(Block { thread: thread.to_string(), events }),
        }
    }
}

/// Sees the events of an execution, and the steps that they are made of.
trait Scribe: Observer {
    fn begin_event(&mut self, thread: &str);
}

impl Scribe for Schedule {
    fn begin_event(&mut self, thread: &str) {
        self.push(thread, 1);
    }
}

impl Observer for Schedule {
    fn before(&mut self, _: &Machine<'_>, _: ThreadId) {}
    fn after(&mut self, _: &Machine<'_>, _: ThreadId) {}
}

/// The program, where to get, and how much effort is left.
pub struct Course<'a, 'p> {
    pub image: &'p Image<'p>,
    pub statics: &'a Statics,
    options: &'a Options,
    goal: Goal,
    inputs: &'a BTreeMap<String, Vec<Input>>,
    budget: Cell<u64>,
    /// Something unknown was called or read in the witness, too.
    may_be_tainted: Cell<bool>,
}

/// An execution at some point.
#[derive(Clone)]
pub struct Execution<'p> {
    pub machine: Machine<'p>,
    /// The inputs that threads were given so far.
    pub given: BTreeMap<String, Vec<Input>>,
}

/// What an event takes besides its steps.
const EVENT: u64 = 20;

/// What came of an event.
pub enum Happened {
    GoesOn,
    /// The violation that was looked for.
    Met(What),
    /// An end that is not.
    Over,
}

impl<'a, 'p> Course<'a, 'p> {
    pub fn new(
        image: &'p Image<'p>,
        statics: &'a Statics,
        options: &'a Options,
        goal: Goal,
        inputs: &'a BTreeMap<String, Vec<Input>>,
        budget: u64,
    ) -> Course<'a, 'p> {
        Course { image, statics, options, goal, inputs, budget: Cell::new(budget), may_be_tainted: Cell::new(true) }
    }

    pub fn is_exhausted(&self) -> bool {
        self.budget.get() == 0
    }

    pub fn spend(&self, effort: u64) {
        self.budget.set(self.budget.get().saturating_sub(effort));
    }

    /// The main thread before its first visible step.
    pub fn start(&self, observer: &mut impl Observer) -> (Execution<'p>, Happened) {
        let machine = Machine::new(self.image, self.options);
        let mut execution = Execution { machine, given: BTreeMap::new() };
        self.spend(execution.machine.weight());
        let happened = self.watch(&mut execution, MAIN, observer, |machine, statics, inputs, watched| {
            run_invisible(machine, statics, inputs, MAIN, watched)
        });
        (execution, happened)
    }

    /// Makes one event of a thread that can step.
    pub fn make_event(
        &self,
        execution: &mut Execution<'p>,
        thread: ThreadId,
        footprint: &mut Footprint,
        observer: &mut impl Observer,
    ) -> Happened {
        self.spend(EVENT + execution.machine.threads().len() as u64);
        self.watch(execution, thread, observer, |machine, statics, inputs, watched| {
            run_event(machine, statics, inputs, thread, footprint, watched).0
        })
    }

    fn watch<O: Observer>(
        &self,
        execution: &mut Execution<'p>,
        thread: ThreadId,
        observer: &mut O,
        run: impl FnOnce(&mut Machine<'p>, &Statics, &mut dyn Environment, &mut Watch<'_, O>) -> Ran<'p>,
    ) -> Happened {
        let speaker = RefCell::new((MAIN, "main".to_string()));
        let mut inputs =
            Given { from: self.inputs, given: &mut execution.given, speaker: &speaker, world: Isolated::default() };
        let mut watched = Watch { speaker: &speaker, steps: 0, most: self.budget.get(), observer };
        let ran = run(&mut execution.machine, self.statics, &mut inputs, &mut watched);
        self.spend(watched.steps);
        let goes_on = matches!(ran, Ran::Done);
        match self.goal.met(&execution.machine, self.statics, thread, ran) {
            Some(what) if self.may_be_tainted.get() || !execution.machine.is_tainted() => Happened::Met(what),
            Some(_) => Happened::Over,
            None if goes_on => Happened::GoesOn,
            None => Happened::Over,
        }
    }

    pub fn thread(execution: &Execution<'p>, name: &str) -> Option<ThreadId> {
        let machine = &execution.machine;
        machine.threads().ids().find(|id| machine.thread_name(*id) == name)
    }

    /// The events of a witness, each by the name of its thread; None if it does not lead to its violation.
    pub fn follow(&self, witness: &Witness) -> Option<Vec<String>> {
        let mut points = Points::default();
        let (mut execution, mut happened) = self.start(&mut points);
        let mut events = Vec::new();
        for step in &witness.steps {
            if let Happened::Met(_) = happened {
                break;
            }
            // What is invisible was done together with the visible step before it.
            if points.take(&step.thread) {
                continue;
            }
            let thread = Self::thread(&execution, &step.thread)?;
            // (A choice is an event without a point.)
            loop {
                if !matches!(happened, Happened::GoesOn) || !execution.machine.enabled(thread) || self.is_exhausted() {
                    return None;
                }
                happened = self.make_event(&mut execution, thread, &mut Footprint::default(), &mut points);
                events.push(step.thread.clone());
                if points.take(&step.thread) || matches!(happened, Happened::Met(_)) {
                    break;
                }
            }
        }
        // After its last point a thread may still have to choose before it is where the violation is.
        while let Happened::GoesOn = happened
            && let Some(thread) = chooser(&execution.machine)
        {
            happened = self.make_event(&mut execution, thread, &mut Footprint::default(), &mut points);
            events.push(execution.machine.thread_name(thread).to_string());
        }
        // What is wrong may be the next step itself.
        if let (Claim::Violation { thread: name, .. }, Happened::GoesOn) = (&witness.claim, &happened) {
            let thread = Self::thread(&execution, name).filter(|thread| execution.machine.enabled(*thread))?;
            happened = self.make_event(&mut execution, thread, &mut Footprint::default(), &mut points);
            events.push(name.clone());
        }
        self.may_be_tainted.set(execution.machine.is_tainted());
        matches!(happened, Happened::Met(_)).then_some(events)
    }

    /// Runs a schedule up to the violation: the part of the schedule that it took. None if it does not come to it.
    pub fn run(&self, schedule: &Schedule) -> Option<Schedule> {
        let mut made = Schedule::default();
        self.run_with(schedule, &mut made)?;
        Some(made)
    }

    fn run_with(&self, schedule: &Schedule, scribe: &mut impl Scribe) -> Option<(Execution<'p>, What)> {
        let (mut execution, mut happened) = self.start(scribe);
        for block in &schedule.blocks {
            for _ in 0..block.events {
                match happened {
                    Happened::Met(what) => return Some((execution, what)),
                    Happened::Over => return None,
                    Happened::GoesOn => {}
                }
                let thread = match Self::thread(&execution, &block.thread) {
                    Some(thread) if execution.machine.enabled(thread) => thread,
                    _ => break,
                };
                if self.is_exhausted() {
                    return None;
                }
                scribe.begin_event(&block.thread);
                happened = self.make_event(&mut execution, thread, &mut Footprint::default(), scribe);
            }
        }
        match happened {
            Happened::Met(what) => Some((execution, what)),
            _ => None,
        }
    }

    /// The witness of a schedule that leads to the violation.
    pub fn write_down(&self, schedule: &Schedule) -> Option<Witness> {
        // What is shown must not depend on how much was spent before.
        self.budget.set(u64::MAX);
        let mut pen = Pen::default();
        let (execution, what) = self.run_with(schedule, &mut pen)?;
        let claim = claim(&execution.machine, &what);
        let steps = pen.finish(&claim);
        Some(Witness { claim, steps, inputs: execution.given })
    }
}

/// Gives every thread the inputs that it has in the witness, in order, and zeros when it asks for more.
struct Given<'a> {
    from: &'a BTreeMap<String, Vec<Input>>,
    given: &'a mut BTreeMap<String, Vec<Input>>,
    speaker: &'a RefCell<(ThreadId, String)>,
    world: Isolated,
}

impl Environment for Given<'_> {
    fn outside(&mut self) -> &mut dyn Environment {
        &mut self.world
    }

    fn nondet(&mut self, _: ThreadId, width: u16, _: Source) -> u128 {
        let name = &self.speaker.borrow().1;
        let given = self.given.entry(name.clone()).or_default();
        let mask = u128::MAX >> (128 - u32::from(width.clamp(1, 128)));
        let bits = self.from.get(name).and_then(|inputs| inputs.get(given.len())).map_or(0, |input| input.bits) & mask;
        given.push(Input { width, bits });
        bits
    }
}

/// Counts steps, and knows the name of who makes them.
struct Watch<'a, O> {
    speaker: &'a RefCell<(ThreadId, String)>,
    steps: u64,
    most: u64,
    observer: &'a mut O,
}

impl<O: Observer> Observer for Watch<'_, O> {
    fn before(&mut self, machine: &Machine<'_>, thread: ThreadId) {
        self.steps += 1;
        let mut speaker = self.speaker.borrow_mut();
        if speaker.0 != thread {
            *speaker = (thread, machine.thread_name(thread).to_string());
        }
        drop(speaker);
        self.observer.before(machine, thread);
    }
    fn after(&mut self, machine: &Machine<'_>, thread: ThreadId) {
        self.observer.after(machine, thread);
    }
    fn stops(&mut self) -> bool {
        self.steps > self.most
    }
}

/// By thread: how many schedule points it has passed that the witness has not come to yet.
#[derive(Default)]
struct Points(BTreeMap<String, usize>);

impl Points {
    fn take(&mut self, thread: &str) -> bool {
        match self.0.get_mut(thread) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }
}

impl Observer for Points {
    fn before(&mut self, machine: &Machine<'_>, thread: ThreadId) {
        if machine.is_at_schedule_point(thread) {
            let name = machine.thread_name(thread);
            match self.0.get_mut(name) {
                Some(count) => *count += 1,
                None => drop(self.0.insert(name.to_string(), 1)),
            }
        }
    }
    fn after(&mut self, _: &Machine<'_>, _: ThreadId) {}
}

/// Writes steps down in an order without needless switches: what a new thread does unseen comes with its first event.
#[derive(Default)]
struct Pen {
    steps: Vec<Step>,
    thread: String,
    recorder: Recorder,
    later: BTreeMap<String, Vec<Step>>,
}

impl Scribe for Pen {
    fn begin_event(&mut self, thread: &str) {
        self.thread = thread.to_string();
        if let Some(steps) = self.later.remove(thread) {
            self.steps.extend(steps);
        }
    }
}

impl Pen {
    /// What the threads of the claim did unseen belongs to it; that of others is not needed.
    fn finish(mut self, claim: &Claim) -> Vec<Step> {
        for thread in claim.threads() {
            if let Some(steps) = self.later.remove(thread) {
                self.steps.extend(steps);
            }
        }
        // What has leaked, anybody may have allocated.
        if matches!(claim, Claim::Violation { kind, .. } if kind.is_leak()) {
            self.steps.extend(std::mem::take(&mut self.later).into_values().flatten());
        }
        self.steps
    }
}

impl Observer for Pen {
    fn before(&mut self, machine: &Machine<'_>, thread: ThreadId) {
        self.recorder.before(machine, thread);
    }
    fn after(&mut self, machine: &Machine<'_>, thread: ThreadId) {
        self.recorder.after(machine, thread);
        for step in std::mem::take(&mut self.recorder.steps) {
            if step.thread == self.thread || self.thread.is_empty() {
                self.steps.push(step);
            } else {
                self.later.entry(step.thread.clone()).or_default().push(step);
            }
        }
    }
}

/// Who can make an event now.
pub fn able(machine: &Machine<'_>) -> Vec<ThreadId> {
    let is_running = |thread: &ThreadId| machine.threads()[*thread].status == Status::Running;
    machine.threads().ids().filter(|thread| is_running(thread) && machine.enabled(*thread)).collect()
}

/// A thread that is about to make a choice.
fn chooser(machine: &Machine<'_>) -> Option<ThreadId> {
    let is_choosing = |thread: &ThreadId| {
        machine.enabled(*thread)
            && matches!(machine.next_op(*thread), Next::Instr(instr) if matches!(instr.op, Op::Nondet { .. }))
    };
    machine.threads().ids().find(is_choosing)
}
