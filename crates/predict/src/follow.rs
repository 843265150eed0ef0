//! From an order of events to a witness: the interpreter makes the steps, and must see the violation itself.
//!
//! The solver gives an order of the events that matter. Each event is a schedule point of its thread, known by its number: so
//! each thread is run up to and with that point, in the order given, and at every event it has to be where the recorded run was. What comes
//! out is the interpreter's own account. If it does not get there, nothing is claimed.

use crate::event::{EventId, Kind, TraceProgram};
use crate::question::Question;
use leno_explore::{claim_race, racer};
use leno_ir::interp::{
    Captured, Environment, Footprint, Image, Machine, Options, Source, Status, StepResult, ThreadId, Violation, Wait,
};
use leno_ir::program::{Place, Program, Span};
use leno_ir::witness::{Claim, Input, Observer, Recorder, Waiting, Witness};
use std::collections::{BTreeMap, VecDeque};

/// Steps of one thread between two schedule points, before we say that it will not come.
const PATIENCE: u64 = 10_000_000;
/// Steps to an assertion that fails, behind the last event.
const NEAR: u64 = 1_000_000;

/// Gives threads the inputs that they had, and remembers what was given.
struct Inputs {
    planned: BTreeMap<String, VecDeque<u128>>,
    names: BTreeMap<ThreadId, String>,
    given: BTreeMap<String, Vec<Input>>,
    rest: Captured,
}

impl Environment for Inputs {
    fn outside(&mut self) -> &mut dyn Environment {
        &mut self.rest
    }

    fn nondet(&mut self, thread: ThreadId, width: u16, source: Source) -> u128 {
        let name = self.names.get(&thread).cloned().unwrap_or_default();
        let value = match source {
            Source::Instruction | Source::External => {
                self.planned.get_mut(&name).and_then(VecDeque::pop_front).unwrap_or(0)
            }
            Source::Undefined => 0,
        };
        self.given.entry(name).or_default().push(Input { width, bits: value });
        value
    }
}

struct Follower<'p> {
    machine: Machine<'p>,
    inputs: Inputs,
    recorder: Recorder,
    /// How many schedule points each thread has passed.
    passed: BTreeMap<ThreadId, u32>,
    /// Threads run on as they like: nobody has to be on the recorded path.
    is_free: bool,
}

/// What came of following an answer.
pub struct Reached {
    pub witness: Witness,
    /// The interpreter had to guess what an unknown function does.
    pub is_tainted: bool,
    /// If something went wrong on the recorded path: the name of the thread, and how many schedule points it had passed.
    pub wrong_at: Option<(String, u32)>,
}

/// Why it does not get there; a violation on the way is a reason, too.
enum Stray {
    Violation(Box<Violation>),
    Lost(String),
}

type Followed<T> = Result<T, Stray>;

/// The witness for an answer: `order` are the events that happen, in their order, after what is in the `past`: threads, with the last
/// schedule points that they passed before another one went on.
pub fn follow(
    program: &Program,
    ctp: &TraceProgram,
    past: &[(u32, u32)],
    question: &Question,
    order: &[EventId],
    options: &Options,
    input: &[u8],
) -> Result<Reached, String> {
    let image = Image::new(program);
    let planned = ctp.threads.values().map(|thread| {
        let values = thread.inputs.iter().map(|input| input.bits).collect();
        (thread.name.clone(), values)
    });
    let mut rest = Captured::new(0);
    rest.input = input.to_vec();
    let inputs = Inputs {
        planned: planned.collect(),
        names: [(ThreadId(0), "main".to_string())].into_iter().collect(),
        given: BTreeMap::new(),
        rest,
    };
    let machine = Machine::new(&image, options);
    let mut follower =
        Follower { machine, inputs, recorder: Recorder::default(), passed: BTreeMap::new(), is_free: false };
    let (claim, wrong_at) = match follower.all(ctp, past, question, order) {
        Ok(claim) => (claim, None),
        Err(Stray::Violation(violation)) => {
            let passed = follower.passed.get(&violation.thread).copied().unwrap_or(0);
            let wrong_at = (!follower.is_free).then(|| (violation.thread_name.clone(), passed));
            (claim_violation(*violation), wrong_at)
        }
        Err(Stray::Lost(reason)) => return Err(reason),
    };
    let is_tainted = follower.machine.is_tainted();
    let witness = Witness { claim, steps: follower.recorder.steps, inputs: follower.inputs.given };
    Ok(Reached { witness, is_tainted, wrong_at })
}

fn claim_violation(violation: Violation) -> Claim {
    Claim::Violation {
        kind: violation.kind,
        thread: violation.thread_name,
        span: violation.span,
        message: violation.message,
    }
}

fn conflict(a: Option<Footprint>, b: Option<Footprint>) -> bool {
    a.zip(b).is_some_and(|(a, b)| a.conflicts(b))
}

impl Follower<'_> {
    fn all(
        &mut self,
        ctp: &TraceProgram,
        past: &[(u32, u32)],
        question: &Question,
        order: &[EventId],
    ) -> Followed<Claim> {
        for (thread, point) in past {
            let thread = self.find(&ctp.threads[thread].name)?;
            self.pass(thread, *point, None)?;
        }
        let mut racers = Vec::new();
        for &id in order {
            let event = ctp.event(id);
            if let Question::Broken(broken) = question
                && (id == broken.first || id == broken.between)
            {
                let thread = self.come_to(ctp, id)?;
                racers.push((racer(&self.machine, thread), self.machine.footprint(thread)));
            }
            if !matches!(event.kind, Kind::Start) {
                let thread = self.find(&ctp.threads[&event.thread].name)?;
                self.pass(thread, event.point, Some(event.place))?;
            }
        }
        match question {
            Question::Target(index) => {
                let target = &ctp.targets[*index];
                let thread = self.find(&ctp.threads[&target.thread].name)?;
                self.stand(thread, target.point)?;
                self.fail(thread)
            }
            Question::Race(first, second) => {
                let mut threads = Vec::new();
                for id in [first, second] {
                    threads.push(self.come_to(ctp, *id)?);
                }
                let claim = claim_race(&self.machine, threads[0], threads[1]);
                claim.ok_or_else(|| Stray::Lost("the accesses do not conflict".to_string()))
            }
            Question::UseAfterFree(_, touch) => {
                let thread = self.come_to(ctp, *touch)?;
                self.step(thread)?;
                Err(Stray::Lost("the object is still there".to_string()))
            }
            Question::Deadlock(events) => {
                let mut threads = Vec::new();
                for id in events {
                    threads.push(self.come_to(ctp, *id)?);
                }
                self.deadlock(&threads)
            }
            Question::Broken(broken) => {
                let thread = self.come_to(ctp, broken.second)?;
                let (second, last) = (racer(&self.machine, thread), self.machine.footprint(thread));
                let Ok([(first, before), (between, amid)]) = <[_; 2]>::try_from(racers) else {
                    return Err(Stray::Lost("the other accesses are not made".to_string()));
                };
                if !(conflict(last, amid) && conflict(before, amid)) {
                    return Err(Stray::Lost("the accesses do not conflict".to_string()));
                }
                let program = self.machine.program();
                let file = |span: Span| program.files.get(span.file).map_or("", String::as_str);
                let block = broken.reason(ctp, &|span| format!("{}:{}", file(span), span.line));
                Ok(Claim::Atomicity { first, between, second, block })
            }
            Question::Stuck(_) => match self.deadlock(&[])? {
                Claim::Deadlock { waiting } if waiting.is_empty() => {
                    Err(Stray::Lost("everybody comes to an end".to_string()))
                }
                _ if !self.machine.enabled_threads().is_empty() => Err(Stray::Lost("somebody can go on".to_string())),
                claim => Ok(claim),
            },
        }
    }

    fn find(&self, name: &str) -> Followed<ThreadId> {
        let found = self.machine.threads().ids().find(|id| self.machine.thread_name(*id) == name);
        found.ok_or_else(|| Stray::Lost(format!("{name} has not been started")))
    }

    /// Brings a thread to the place of an event, which it does not make.
    fn come_to(&mut self, ctp: &TraceProgram, id: EventId) -> Followed<ThreadId> {
        let event = ctp.event(id);
        let thread = self.find(&ctp.threads[&event.thread].name)?;
        self.stand(thread, event.point)?;
        while !self.machine.is_at_schedule_point(thread) {
            self.step(thread)?;
        }
        match self.place(thread) == event.place {
            true => Ok(thread),
            false => Err(self.elsewhere(thread)),
        }
    }

    fn place(&self, thread: ThreadId) -> Place {
        self.machine.image().place(self.machine.pc(thread))
    }

    fn elsewhere(&self, thread: ThreadId) -> Stray {
        Stray::Lost(format!("{} goes another way", self.machine.thread_name(thread)))
    }

    /// Runs a thread past its schedule point of this number, which has to be at `place`.
    fn pass(&mut self, thread: ThreadId, point: u32, place: Option<Place>) -> Followed<()> {
        if self.passed.get(&thread).copied().unwrap_or(0) > point {
            return Ok(());
        }
        self.stand(thread, point)?;
        while !self.machine.is_at_schedule_point(thread) {
            self.step(thread)?;
        }
        match place {
            Some(place) if self.place(thread) != place => Err(self.elsewhere(thread)),
            _ => self.step(thread),
        }
    }

    /// Runs a thread until it has passed so many schedule points.
    fn stand(&mut self, thread: ThreadId, points: u32) -> Followed<()> {
        let mut left = PATIENCE;
        let mut last = 0;
        loop {
            let passed = self.passed.get(&thread).copied().unwrap_or(0);
            if passed >= points {
                return Ok(());
            }
            left = if passed == last { left - 1 } else { PATIENCE };
            last = passed;
            if left == 0 {
                return Err(Stray::Lost(format!("{} does not come", self.machine.thread_name(thread))));
            }
            self.step(thread)?;
        }
    }

    /// One step of a thread.
    fn step(&mut self, thread: ThreadId) -> Followed<()> {
        if self.machine.threads()[thread].status != Status::Running {
            return Err(Stray::Lost(format!("{} has ended", self.machine.thread_name(thread))));
        }
        if let Some(Wait::Section(owner)) = self.machine.wait(thread)
            && owner != thread
        {
            self.leave_section(owner)?;
        }
        let is_point = self.machine.is_at_schedule_point(thread);
        self.recorder.before(&self.machine, thread);
        match self.machine.step(thread, &mut self.inputs) {
            StepResult::Done => {
                self.recorder.after(&self.machine, thread);
                if is_point {
                    *self.passed.entry(thread).or_default() += 1;
                }
                for id in self.machine.threads().ids() {
                    if !self.inputs.names.contains_key(&id) {
                        self.inputs.names.insert(id, self.machine.thread_name(id).to_string());
                    }
                }
                Ok(())
            }
            StepResult::Violation(violation) => Err(Stray::Violation(violation)),
            StepResult::Blocked => Err(Stray::Lost(format!("{} has to wait", self.machine.thread_name(thread)))),
            other => Err(Stray::Lost(format!("the program ends: {other:?}"))),
        }
    }

    /// All events of the section have happened; what is left of it nobody sees.
    fn leave_section(&mut self, owner: ThreadId) -> Followed<()> {
        for _ in 0..PATIENCE {
            if !self.machine.in_section(owner) {
                return Ok(());
            }
            self.step(owner)?;
        }
        Err(Stray::Lost(format!("{} does not leave its atomic section", self.machine.thread_name(owner))))
    }

    fn fail(&mut self, thread: ThreadId) -> Followed<Claim> {
        self.is_free = true;
        for _ in 0..NEAR {
            self.step(thread)?;
        }
        Err(Stray::Lost(format!("{} goes on, and nothing goes wrong", self.machine.thread_name(thread))))
    }

    fn run_others(&mut self, circle: &[ThreadId]) -> Followed<()> {
        for _ in 0..NEAR {
            let next = self.machine.enabled_threads().into_iter().find(|thread| !circle.contains(thread));
            let Some(thread) = next else { break };
            self.step(thread)?;
        }
        Ok(())
    }

    /// Runs everybody else until nobody can go on.
    fn deadlock(&mut self, circle: &[ThreadId]) -> Followed<Claim> {
        let is_caught = circle.iter().all(|thread| self.machine.wait(*thread).is_some());
        if !is_caught {
            return Err(Stray::Lost("somebody in the circle does not have to wait".to_string()));
        }
        self.is_free = true;
        let (machine, steps, given) = (self.machine.clone(), self.recorder.steps.len(), self.inputs.given.clone());
        if let Err(stray) = self.run_others(circle) {
            // Whatever becomes of the others, a circle stays one.
            if circle.is_empty() {
                return Err(stray);
            }
            self.machine = machine;
            self.recorder.steps.truncate(steps);
            self.inputs.given = given;
        }
        let span = |thread: ThreadId| self.machine.image().span(self.machine.pc(thread));
        let waiting = self.machine.threads().ids().filter_map(|thread| self.machine.blocked(thread));
        let waiting: Vec<Waiting> = waiting
            .map(|blocked| Waiting {
                thread: blocked.thread_name.clone(),
                span: span(blocked.thread),
                reason: blocked.reason,
            })
            .collect();
        match waiting.len() >= circle.len() {
            true => Ok(Claim::Deadlock { waiting }),
            false => Err(Stray::Lost("they can all go on".to_string())),
        }
    }
}
