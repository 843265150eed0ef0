//! The interpreter, guided by the schedule of a model.
//!
//! On the way a thread may violate a property that is not checked (an assertion that fails, where races are looked
//! for). Then that thread stops, and the others continue; if it was in an atomic section, the section is undone: no
//! thread sees a part of one.

use crate::bounded::{BoundedProgram, Question};
use crate::skeleton::ThreadIndex;
use leno_ir::analysis::points_to::AbstractObject;
use leno_ir::analysis::sharing::Sharing;
use leno_ir::index::IndexVec;
use leno_ir::interp::{
    Captured, Environment, Machine, Next, Owner, Source, Status, StepResult, ThreadId, Violation, Wait,
};
use leno_ir::program::{Op, Place};
use leno_ir::witness::{Input, Observer, Recorder};
use std::collections::{BTreeMap, VecDeque};

/// The most steps of one thread between two visible ones.
const MOST_STEPS: u64 = 10_000_000;

/// Steps between two checks of the limits.
const CHECK_INTERVAL: u64 = 1 << 14;

/// Gives threads their inputs, and records them.
#[derive(Clone)]
pub struct Inputs<'a> {
    planned: IndexVec<ThreadIndex, VecDeque<u128>>,
    /// By thread of the machine: the thread of the skeleton.
    pub index: BTreeMap<ThreadId, ThreadIndex>,
    pub given: Vec<(ThreadId, Input)>,
    rest: Captured,
    /// Steps so far, and whom to ask whether to stop.
    steps: u64,
    question: Question<'a>,
}

impl Environment for Inputs<'_> {
    fn outside(&mut self) -> &mut dyn Environment {
        &mut self.rest
    }

    fn nondet(&mut self, thread: ThreadId, width: u16, source: Source) -> u128 {
        let planned = self.index.get(&thread).map(|index| &mut self.planned[*index]);
        let value = match source {
            Source::Instruction | Source::External | Source::Spurious => {
                planned.and_then(VecDeque::pop_front).unwrap_or(0)
            }
            Source::Undefined | Source::Reuse | Source::WakeUp => 0,
        };
        self.given.push((thread, Input { width, bits: value }));
        value
    }
}

/// The result of running a thread.
pub enum RunResult {
    /// It has reached its destination.
    There,
    /// It is stopped.
    Stopped,
    Violation(Box<Violation>),
    /// It has ended the process.
    Ended,
    Lost(String),
}

/// A machine, and how many steps it had made.
struct Checkpoint<'a> {
    machine: Machine<'a>,
    steps: usize,
}

pub struct GuidedRun<'a, 'p> {
    bounded: &'a BoundedProgram<'p>,
    pub machine: Machine<'a>,
    pub inputs: Inputs<'a>,
    pub recorder: Recorder,
    /// The thread that has made the last step.
    last: ThreadId,
    /// The machine before the atomic section, or the rest of one after a wait, that is being executed.
    before_section: Option<Box<Checkpoint<'a>>>,
}

impl<'a, 'p> GuidedRun<'a, 'p> {
    pub fn new(
        bounded: &'a BoundedProgram<'p>,
        machine: Machine<'a>,
        planned: IndexVec<ThreadIndex, VecDeque<u128>>,
    ) -> GuidedRun<'a, 'p> {
        let inputs = Inputs {
            planned,
            index: [(ThreadId(0), ThreadIndex::MAIN)].into_iter().collect(),
            given: Vec::new(),
            rest: Captured::new(0),
            steps: 0,
            question: bounded.question,
        };
        GuidedRun { bounded, machine, inputs, recorder: Recorder::default(), last: ThreadId(0), before_section: None }
    }

    /// The thread of the machine for a thread of the skeleton, if it has been started.
    pub fn thread(&self, index: ThreadIndex) -> Option<ThreadId> {
        self.inputs.index.iter().find(|&(_, of)| *of == index).map(|(&id, _)| id)
    }

    /// A copy, to try steps without recording them.
    pub fn trial(&self) -> GuidedRun<'a, 'p> {
        let (machine, inputs) = (self.machine.clone(), self.inputs.clone());
        GuidedRun {
            bounded: self.bounded,
            machine,
            inputs,
            recorder: Recorder::default(),
            last: ThreadId(0),
            before_section: None,
        }
    }

    fn lost(&self, thread: ThreadId, how: &str) -> RunResult {
        RunResult::Lost(format!("{} {how}", self.machine.thread_name(thread)))
    }

    /// Makes steps of a thread until `is_there`.
    fn until(&mut self, thread: ThreadId, is_there: impl Fn(&Self) -> bool) -> RunResult {
        for _ in 0..MOST_STEPS {
            if is_there(self) {
                return RunResult::There;
            }
            match self.machine.threads()[thread].status {
                Status::Running => {}
                Status::Stopped => return RunResult::Stopped,
                _ => return self.lost(thread, "has ended"),
            }
            match self.step(thread) {
                RunResult::There => {}
                other => return other,
            }
        }
        self.lost(thread, "goes on for ever")
    }

    /// Until it is about to execute `place` on shared memory. (Executions of `place` on private memory are no steps of
    /// the plan.)
    pub fn until_at(&mut self, thread: ThreadId, place: Place) -> RunResult {
        self.until(thread, |this| {
            let machine = &this.machine;
            machine.image().place(machine.pc(thread)) == place && !is_private(this.bounded, machine, thread)
        })
    }

    /// Until its next step begins an atomic section.
    pub fn until_section(&mut self, thread: ThreadId) -> RunResult {
        self.until(thread, |this| this.begins_section(thread))
    }

    /// Whether a thread comes to a place in the section that it is in.
    pub fn is_on_the_way(&self, thread: ThreadId, place: Place) -> bool {
        let mut trial = self.trial();
        let is_at = |run: &Self| run.machine.image().place(run.machine.pc(thread)) == place;
        let ran = trial.until(thread, |run| !run.machine.in_section(thread) || is_at(run));
        matches!(ran, RunResult::There) && trial.machine.in_section(thread)
    }

    /// Until it is finished.
    pub fn until_end(&mut self, thread: ThreadId) -> RunResult {
        self.until(thread, |this| this.machine.threads()[thread].status == Status::Finished)
    }

    /// Until it waits or has ended.
    pub fn until_wait(&mut self, thread: ThreadId) -> Result<(), String> {
        let is_there = |this: &Self| this.machine.is_stuck(thread);
        match self.until(thread, is_there) {
            RunResult::There | RunResult::Stopped => Ok(()),
            RunResult::Violation(violation) => Err(format!("something else goes wrong: {}", violation.message)),
            RunResult::Ended => Err("the program ends".to_string()),
            RunResult::Lost(reason) => Err(reason),
        }
    }

    pub fn until_violation(&mut self, thread: ThreadId) -> Result<Box<Violation>, String> {
        match self.until(thread, |this| this.machine.threads()[thread].status == Status::Finished) {
            RunResult::Violation(violation) => Ok(violation),
            RunResult::There | RunResult::Stopped => Err("the thread goes on without a violation".to_string()),
            RunResult::Ended => Err("the program ends".to_string()),
            RunResult::Lost(reason) => Err(reason),
        }
    }

    fn begins_section(&self, thread: ThreadId) -> bool {
        let next = self.machine.image().next_at(self.machine.pc(thread));
        matches!(next, Next::Instr(instr) if matches!(instr.op, Op::AtomicBegin))
    }

    /// One step. There: it has been made.
    pub fn step(&mut self, thread: ThreadId) -> RunResult {
        self.inputs.steps += 1;
        if self.inputs.steps.is_multiple_of(CHECK_INTERVAL) && self.inputs.question.is_interrupted() {
            return RunResult::Lost("it was interrupted".to_string());
        }
        if self.machine.wait(thread).is_none() {
            let goes_on = self.machine.in_section(thread) && self.last == thread;
            if !goes_on && (self.machine.in_section(thread) || self.begins_section(thread)) {
                let (machine, steps) = (self.machine.clone(), self.recorder.steps.len());
                self.before_section = Some(Box::new(Checkpoint { machine, steps }));
            }
            self.last = thread;
        }
        self.recorder.before(&self.machine, thread);
        match self.machine.step(thread, &mut self.inputs) {
            StepResult::Done => {
                self.recorder.after(&self.machine, thread);
                RunResult::There
            }
            StepResult::Violation(violation) => self.violated(violation),
            StepResult::Blocked => match self.machine.wait(thread) {
                // All events of the section have happened; no thread sees the rest of it.
                Some(Wait::Section(owner)) if owner != thread => self.leave_section(owner, thread),
                _ => self.lost(thread, "has to wait"),
            },
            StepResult::Exited(_) => {
                self.recorder.after(&self.machine, thread);
                RunResult::Ended
            }
            StepResult::Aborted => RunResult::Lost("the program aborts".to_string()),
        }
    }

    fn violated(&mut self, violation: Box<Violation>) -> RunResult {
        if self.bounded.question.properties.covers(violation.kind) {
            return RunResult::Violation(violation);
        }
        let culprit = violation.thread;
        if self.machine.in_section(culprit)
            && let Some(before) = self.before_section.take()
        {
            self.machine = before.machine;
            self.recorder.steps.truncate(before.steps);
        }
        self.machine.stop_thread(culprit);
        RunResult::Stopped
    }

    /// Runs `owner` to the end of its atomic section, or to where it has to wait, and then makes the step of `thread`.
    fn leave_section(&mut self, owner: ThreadId, thread: ThreadId) -> RunResult {
        // (A thread that waits in the middle of a section does not keep others out.)
        match self.until(owner, |this| !this.machine.in_section(owner) || this.machine.wait(owner).is_some()) {
            RunResult::There | RunResult::Stopped => self.step(thread),
            other => other,
        }
    }
}

/// Whether the next step is an access to memory that threads do not share.
fn is_private(bounded: &BoundedProgram<'_>, machine: &Machine<'_>, thread: ThreadId) -> bool {
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
    let object = bounded.facts.points_to.object(object);
    object.is_some_and(|object| bounded.facts.shared.of(object) != Sharing::Shared)
}
