//! The interpreter, on the way that a model tells it to go.
//!
//! Somebody may do something wrong on that way that nobody asked for (an assertion that fails, where races are looked for). Then that thread goes
//! no further, and the others do; and if it was in an atomic section, the section has not been made: nobody sees half of one.

use crate::skeleton::ThreadIndex;
use crate::summarize::Summarizer;
use leno_ir::interp::{
    Captured, Environment, Machine, Next, Owner, Source, Status, StepResult, ThreadId, Violation, Wait,
};
use leno_ir::points_to::AbstractObject;
use leno_ir::program::{Op, Place};
use leno_ir::sharing::Sharing;
use leno_ir::witness::{Input, Observer, Recorder};
use std::collections::{BTreeMap, VecDeque};

/// Steps of one thread between two visible ones, before we say that it will not come.
const PATIENCE: u64 = 10_000_000;

/// After how many steps to ask whether to stop.
const LOOK_UP: u64 = 1 << 14;

/// Gives threads their inputs, and remembers what was given.
#[derive(Clone)]
pub struct Inputs<'a> {
    planned: Vec<VecDeque<u128>>,
    /// The thread of the skeleton that a thread of the machine is.
    pub index: BTreeMap<ThreadId, ThreadIndex>,
    pub given: Vec<(ThreadId, Input)>,
    rest: Captured,
    /// Steps that were made, and whether to make no more.
    steps: u64,
    interrupted: &'a dyn Fn() -> bool,
}

impl Environment for Inputs<'_> {
    fn outside(&mut self) -> &mut dyn Environment {
        &mut self.rest
    }

    fn nondet(&mut self, thread: ThreadId, width: u16, source: Source) -> u128 {
        let planned = self.index.get(&thread).and_then(|index| self.planned.get_mut(index.0 as usize));
        let value = match source {
            Source::Instruction | Source::External => planned.and_then(VecDeque::pop_front).unwrap_or(0),
            Source::Undefined => 0,
        };
        self.given.push((thread, Input { width, bits: value }));
        value
    }
}

/// What came of running a thread.
pub enum Ran {
    /// It has executed, or stands before, the place it was to run to.
    There,
    /// It goes no further.
    Stopped,
    Violation(Box<Violation>),
    /// It has ended the process.
    Ended,
    Lost(String),
}

/// A machine, and how many steps it had made.
struct Before<'a> {
    machine: Machine<'a>,
    steps: usize,
}

pub struct Run<'a, 'p> {
    summary: &'a Summarizer<'p>,
    pub machine: Machine<'a>,
    pub inputs: Inputs<'a>,
    pub recorder: Recorder,
    /// Who has made the last step.
    last: ThreadId,
    /// All that was before the atomic section, or what is left of one that had to wait, that is being made.
    before_section: Option<Box<Before<'a>>>,
}

impl<'a, 'p> Run<'a, 'p> {
    pub fn new(summary: &'a Summarizer<'p>, machine: Machine<'a>, planned: Vec<VecDeque<u128>>) -> Run<'a, 'p> {
        let inputs = Inputs {
            planned,
            index: [(ThreadId(0), ThreadIndex(0))].into_iter().collect(),
            given: Vec::new(),
            rest: Captured::new(0),
            steps: 0,
            interrupted: summary.interrupted,
        };
        Run { summary, machine, inputs, recorder: Recorder::default(), last: ThreadId(0), before_section: None }
    }

    /// The thread of the machine that a thread of the skeleton is, if it has been started.
    pub fn thread(&self, index: ThreadIndex) -> Option<ThreadId> {
        self.inputs.index.iter().find(|&(_, of)| *of == index).map(|(&id, _)| id)
    }

    /// The same, of which nobody hears.
    pub fn trial(&self) -> Run<'a, 'p> {
        let (machine, inputs) = (self.machine.clone(), self.inputs.clone());
        Run {
            summary: self.summary,
            machine,
            inputs,
            recorder: Recorder::default(),
            last: ThreadId(0),
            before_section: None,
        }
    }

    fn lost(&self, thread: ThreadId, how: &str) -> Ran {
        Ran::Lost(format!("{} {how}", self.machine.thread_name(thread)))
    }

    /// Makes steps of a thread until `is_there`.
    fn until(&mut self, thread: ThreadId, is_there: impl Fn(&Self) -> bool) -> Ran {
        for _ in 0..PATIENCE {
            if is_there(self) {
                return Ran::There;
            }
            match self.machine.threads()[thread].status {
                Status::Running => {}
                Status::Stopped => return Ran::Stopped,
                _ => return self.lost(thread, "has ended"),
            }
            match self.step(thread) {
                Ran::There => {}
                other => return other,
            }
        }
        self.lost(thread, "goes on for ever")
    }

    /// Until it stands before `place`. (It may come by there on private memory first, which is no step of the plan.)
    pub fn until_at(&mut self, thread: ThreadId, place: Place) -> Ran {
        self.until(thread, |this| {
            let machine = &this.machine;
            machine.image().place(machine.pc(thread)) == place && !is_private(this.summary, machine, thread)
        })
    }

    /// Until its next step begins an atomic section.
    pub fn until_section(&mut self, thread: ThreadId) -> Ran {
        self.until(thread, |this| this.begins_section(thread))
    }

    /// Whether a thread comes to a place in the section that it is in.
    pub fn is_on_the_way(&self, thread: ThreadId, place: Place) -> bool {
        let mut trial = self.trial();
        let is_at = |run: &Self| run.machine.image().place(run.machine.pc(thread)) == place;
        let ran = trial.until(thread, |run| !run.machine.in_section(thread) || is_at(run));
        matches!(ran, Ran::There) && trial.machine.in_section(thread)
    }

    /// Until it is finished.
    pub fn until_end(&mut self, thread: ThreadId) -> Ran {
        self.until(thread, |this| this.machine.threads()[thread].status == Status::Finished)
    }

    /// Until it waits or has ended.
    pub fn until_wait(&mut self, thread: ThreadId) -> Result<(), String> {
        let is_there = |this: &Self| {
            this.machine.threads()[thread].status != Status::Running || this.machine.wait(thread).is_some()
        };
        match self.until(thread, is_there) {
            Ran::There | Ran::Stopped => Ok(()),
            Ran::Violation(violation) => Err(format!("something else goes wrong: {}", violation.message)),
            Ran::Ended => Err("the program ends".to_string()),
            Ran::Lost(reason) => Err(reason),
        }
    }

    pub fn until_violation(&mut self, thread: ThreadId) -> Result<Box<Violation>, String> {
        match self.until(thread, |this| this.machine.threads()[thread].status == Status::Finished) {
            Ran::Violation(violation) => Ok(violation),
            Ran::There | Ran::Stopped => Err("the thread goes on without a violation".to_string()),
            Ran::Ended => Err("the program ends".to_string()),
            Ran::Lost(reason) => Err(reason),
        }
    }

    fn begins_section(&self, thread: ThreadId) -> bool {
        let next = self.machine.image().next_at(self.machine.pc(thread));
        matches!(next, Next::Instr(instr) if matches!(instr.op, Op::AtomicBegin))
    }

    /// One step. There: it has been made.
    pub fn step(&mut self, thread: ThreadId) -> Ran {
        self.inputs.steps += 1;
        if self.inputs.steps.is_multiple_of(LOOK_UP) && (self.inputs.interrupted)() {
            return Ran::Lost("it was interrupted".to_string());
        }
        if self.machine.wait(thread).is_none() {
            let goes_on = self.machine.in_section(thread) && self.last == thread;
            if !goes_on && (self.machine.in_section(thread) || self.begins_section(thread)) {
                let (machine, steps) = (self.machine.clone(), self.recorder.steps.len());
                self.before_section = Some(Box::new(Before { machine, steps }));
            }
            self.last = thread;
        }
        self.recorder.before(&self.machine, thread);
        match self.machine.step(thread, &mut self.inputs) {
            StepResult::Done => {
                self.recorder.after(&self.machine, thread);
                Ran::There
            }
            StepResult::Violation(violation) => self.violated(violation),
            StepResult::Blocked => match self.machine.wait(thread) {
                // All events of the section have happened; what is left of it nobody sees.
                Some(Wait::Section(owner)) if owner != thread => self.leave_section(owner, thread),
                _ => self.lost(thread, "has to wait"),
            },
            StepResult::Exited(_) => {
                self.recorder.after(&self.machine, thread);
                Ran::Ended
            }
            StepResult::Aborted => Ran::Lost("the program aborts".to_string()),
        }
    }

    fn violated(&mut self, violation: Box<Violation>) -> Ran {
        if self.summary.properties.covers(violation.kind) {
            return Ran::Violation(violation);
        }
        let culprit = violation.thread;
        if self.machine.in_section(culprit)
            && let Some(before) = self.before_section.take()
        {
            self.machine = before.machine;
            self.recorder.steps.truncate(before.steps);
        }
        self.machine.stop_thread(culprit);
        Ran::Stopped
    }

    /// Runs `owner` to the end of its atomic section, or to where it has to wait, and then makes the step of `thread`.
    fn leave_section(&mut self, owner: ThreadId, thread: ThreadId) -> Ran {
        // (Who has to wait in a section keeps nobody out.)
        match self.until(owner, |this| !this.machine.in_section(owner) || this.machine.wait(owner).is_some()) {
            Ran::There | Ran::Stopped => self.step(thread),
            other => other,
        }
    }
}

/// Whether the next step is an access to memory that threads do not share.
fn is_private(summary: &Summarizer<'_>, machine: &Machine<'_>, thread: ThreadId) -> bool {
    let Next::Instr(instr) = machine.image().next_at(machine.pc(thread)) else { return false };
    let is_access = matches!(
        instr.op,
        Op::Load { .. } | Op::Store { .. } | Op::ReadModifyWrite { .. } | Op::CompareExchange { .. }
    );
    let Some(footprint) = machine.footprint(thread).filter(|_| is_access) else { return false };
    let object = match machine.owner(footprint.address) {
        Some((Owner::Static(object), _)) => AbstractObject::Static(object),
        Some((Owner::Slot(function, slot), _)) => AbstractObject::Slot(function, slot),
        Some((Owner::Heap(place), _)) => AbstractObject::Site(place),
        _ => return false,
    };
    let object = summary.points_to.object(object);
    object.is_some_and(|object| summary.shared.of(object) != Sharing::Shared)
}
