//! The follower: the interpreter, led step by step, with a record of what it does.

use super::inputs::Inputs;
use leno_ir::interp::{Image, Machine, Options, Status, StepResult, ThreadId, Violation, Wait};
use leno_ir::program::Place;
use leno_ir::witness::{Claim, Observer, Recorder, Witness};

/// A machine, its inputs, and the steps that it has made.
pub struct Follower<'p> {
    pub machine: Machine<'p>,
    pub inputs: Inputs,
    pub recorder: Recorder,
}

/// What came of one step of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stepped {
    Made,
    Violation(Box<Violation>),
    /// The thread is not running: it has ended, or was stopped.
    NotRunning,
    /// The thread has to wait.
    Blocked,
    /// The thread has to wait until another one leaves its atomic section.
    BlockedBySection(ThreadId),
    /// The process has exited.
    Exited,
    /// The process was aborted.
    Aborted,
}

impl<'p> Follower<'p> {
    pub fn new(machine: Machine<'p>, inputs: Inputs) -> Follower<'p> {
        Follower { machine, inputs, recorder: Recorder::default() }
    }

    /// The same execution up to here; what it does from now on is not recorded with this one.
    pub fn fork(&self) -> Follower<'p> {
        Follower::new(self.machine.clone(), self.inputs.clone())
    }

    pub fn thread(&self, name: &str) -> Option<ThreadId> {
        self.machine.threads().ids().find(|id| self.machine.thread_name(*id) == name)
    }

    pub fn place(&self, thread: ThreadId) -> Place {
        self.machine.image().place(self.machine.pc(thread))
    }

    pub fn step(&mut self, thread: ThreadId) -> Stepped {
        if self.machine.threads()[thread].status != Status::Running {
            return Stepped::NotRunning;
        }
        self.recorder.before(&self.machine, thread);
        let threads = self.machine.threads().len();
        let result = self.machine.step(thread, &mut self.inputs);
        if self.machine.threads().len() > threads {
            self.inputs.learn_names(&self.machine);
        }
        match result {
            StepResult::Done => {
                self.recorder.after(&self.machine, thread);
                Stepped::Made
            }
            StepResult::Violation(violation) => Stepped::Violation(violation),
            StepResult::Blocked => match self.machine.wait(thread) {
                Some(Wait::Section(owner)) if owner != thread => Stepped::BlockedBySection(owner),
                _ => Stepped::Blocked,
            },
            StepResult::Exited(_) => {
                self.recorder.after(&self.machine, thread);
                Stepped::Exited
            }
            StepResult::Aborted => Stepped::Aborted,
        }
    }

    /// The execution up to here, as a witness of a claim.
    pub fn into_witness(self, claim: Claim) -> Witness {
        Witness { claim, steps: self.recorder.steps, inputs: self.inputs.by_thread() }
    }
}

/// Why a witness could not be followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Astray {
    /// The step that could not be made as written.
    pub step: usize,
    pub reason: String,
}

/// Follows the schedule of a witness. The follower then stands where the violation is about to happen; or it has
/// happened on the way, and is what comes with it.
pub fn follow<'p>(
    witness: &Witness,
    image: &'p Image<'p>,
    options: &Options,
) -> Result<(Follower<'p>, Option<Stepped>), Astray> {
    let mut follower = Follower::new(Machine::new(image, options), Inputs::of_witness(&witness.inputs));
    for (index, step) in witness.steps.iter().enumerate() {
        let astray = |reason: String| Astray { step: index, reason };
        let thread =
            follower.thread(&step.thread).ok_or_else(|| astray(format!("there is no thread {}", step.thread)))?;
        if let Some(end) = advance(&mut follower, thread) {
            return Ok((follower, Some(end)));
        }
        if follower.place(thread) != step.place {
            let place = follower.place(thread);
            return Err(astray(format!("{} is at another place: {place:?}", step.thread)));
        }
        match follower.step(thread) {
            Stepped::Made => {}
            Stepped::Blocked | Stepped::BlockedBySection(_) => {
                return Err(astray(format!("{} has to wait", step.thread)));
            }
            Stepped::NotRunning => return Err(astray(format!("{} does not run", step.thread))),
            end => return Ok((follower, Some(end))),
        }
    }
    // Every thread runs up to its next schedule point, since what a function returned from is gone then; but not into a
    // violation that the witness is not about.
    for thread in follower.machine.threads().ids().collect::<Vec<_>>() {
        let is_concerned = witness.claim.threads().any(|name| name == follower.machine.thread_name(thread));
        let before = (!is_concerned).then(|| follower.machine.clone());
        match (advance(&mut follower, thread), before) {
            (None, _) => {}
            (Some(_), Some(before)) => follower.machine = before,
            (Some(end), None) => return Ok((follower, Some(end))),
        }
    }
    Ok((follower, None))
}

/// Runs a thread up to its next schedule point; says how the execution ended if it did.
fn advance(follower: &mut Follower<'_>, thread: ThreadId) -> Option<Stepped> {
    while follower.machine.threads()[thread].status == Status::Running && !follower.machine.is_at_schedule_point(thread)
    {
        match follower.step(thread) {
            Stepped::Made => {}
            Stepped::Blocked | Stepped::BlockedBySection(_) | Stepped::NotRunning => return None,
            end => return Some(end),
        }
    }
    None
}
