//! From an order of events to a witness: the interpreter executes the schedule, and must find the violation itself.
//!
//! The solver gives an order of the events that matter. Each event is a schedule point of its thread, known by its
//! number: so each thread is run up to and with that point, in the order given, and at every event it has to be where
//! the recorded run was. The claim is the interpreter's own. If it does not get there, nothing is claimed.

use crate::program::event::{EventId, Kind, OutsideStep, TraceProgram};
use crate::program::window::Segment;
use crate::query::global_deadlock::operation;
use crate::query::question::Question;
use leno_engine::witness::{
    Follower, Inputs, Stepped, claim_deadlock, claim_race, claim_unordered, claim_violation, racer,
};
use leno_ir::interp::{Blocked, Footprint, Image, Machine, Options, Status, ThreadId, Violation};
use leno_ir::program::{Op, Place, Program, Span};
use leno_ir::witness::{Claim, Racer, Witness};
use leno_logic::limits::Limits;
use std::collections::BTreeMap;

/// Steps of one thread between two schedule points, before it counts as never reaching the next one.
const MOST_STEPS: u64 = 10_000_000;
/// Steps to an assertion that fails, behind the last event.
const MOST_STEPS_AT_END: u64 = 1_000_000;

/// How often the limits are looked at.
const STEPS_BETWEEN_CHECKS: u64 = 1 << 16;

/// Leads the interpreter along an order of events.
pub(super) struct Leader<'p> {
    pub(super) follower: Follower<'p>,
    /// How many schedule points each thread has passed.
    passed: BTreeMap<ThreadId, u32>,
    /// Threads need not be on the recorded path any more.
    pub(super) is_free: bool,
    /// What it does is to become a witness.
    keeps_steps: bool,
    /// When to give up, and how many steps were made.
    pub(super) limits: Limits,
    steps: u64,
}

/// What came of following an answer.
pub struct Reached {
    pub witness: Witness,
    /// The interpreter had to guess what an unknown function does.
    pub is_tainted: bool,
    /// If the violation is on the recorded path: the name of the thread, and how many schedule points it had passed.
    pub wrong_at: Option<(String, u32)>,
}

/// Why the violation is not reached; another violation on the way is a reason, too.
pub(super) enum Stray {
    Violation(Box<Violation>),
    /// The process has ended.
    Ended(String),
    Lost(String),
}

pub(super) type Followed<T> = Result<T, Stray>;

/// The witness for an answer: `order` are the events that happen, in their order, after those of the `prefix`.
pub fn follow(
    program: &Program,
    ctp: &TraceProgram,
    prefix: &[Segment],
    question: &Question,
    order: &[EventId],
    options: &Options,
    input: &[u8],
) -> Result<Reached, String> {
    let image = Image::new(program);
    let mut leader = Leader::new(&image, ctp, options, input);
    let (claim, wrong_at) = match leader.all(ctp, prefix, question, order) {
        Ok(claim) => (claim, None),
        Err(Stray::Violation(violation)) => (claim_violation(&violation), leader.wrong_at(&violation)),
        Err(Stray::Lost(reason) | Stray::Ended(reason)) => return Err(reason),
    };
    let is_tainted = leader.follower.machine.is_tainted();
    Ok(Reached { witness: leader.follower.into_witness(claim), is_tainted, wrong_at })
}

/// Follows the recorded run itself: `order` are all events, after those of the `prefix`. Gives what goes wrong in it; or
/// why it cannot be followed.
pub fn follow_run(
    program: &Program,
    ctp: &TraceProgram,
    prefix: &[Segment],
    order: &[EventId],
    options: &Options,
    input: &[u8],
    limits: &Limits,
) -> Result<Option<Reached>, String> {
    let image = Image::new(program);
    // Most runs are well, and nobody wants to see their steps.
    let mut leader = Leader { keeps_steps: false, limits: limits.clone(), ..Leader::new(&image, ctp, options, input) };
    match leader.run(ctp, prefix, order) {
        Ok(()) => return Ok(None),
        Err(Stray::Lost(reason) | Stray::Ended(reason)) => return Err(reason),
        Err(Stray::Violation(_)) => {}
    }
    let mut leader = Leader::new(&image, ctp, options, input);
    let (claim, wrong_at) = match leader.run(ctp, prefix, order) {
        Ok(()) => return Ok(None),
        // The recorded run has passed its assertions: where the interpreter does not, it has gone another way.
        Err(Stray::Violation(violation)) if leader.is_at_assertion(&violation) => {
            return Err(format!("{} goes another way", violation.thread_name));
        }
        Err(Stray::Violation(violation)) => (claim_violation(&violation), leader.wrong_at(&violation)),
        Err(Stray::Lost(reason) | Stray::Ended(reason)) => return Err(reason),
    };
    let is_tainted = leader.follower.machine.is_tainted();
    Ok(Some(Reached { witness: leader.follower.into_witness(claim), is_tainted, wrong_at }))
}

impl<'p> Leader<'p> {
    pub(super) fn new(image: &'p Image<'p>, ctp: &TraceProgram, options: &Options, input: &[u8]) -> Leader<'p> {
        let mut inputs = Inputs::of_instructions().with_standard_input(input);
        for thread in ctp.threads.values() {
            inputs.plan(thread.name.clone(), thread.inputs.iter().map(|input| input.bits));
        }
        let follower = Follower::new(Machine::new(image, options), inputs);
        Leader {
            follower,
            passed: BTreeMap::new(),
            is_free: false,
            keeps_steps: true,
            limits: Limits::default(),
            steps: 0,
        }
    }

    fn is_at_assertion(&self, violation: &Violation) -> bool {
        let place = self.follower.place(violation.thread);
        matches!(operation(self.machine().program(), place), Some(Op::Assert { .. }))
    }

    /// Where the recorded path goes wrong, if that is where the violation is.
    fn wrong_at(&self, violation: &Violation) -> Option<(String, u32)> {
        let passed = self.passed.get(&violation.thread).copied().unwrap_or(0);
        (!self.is_free).then(|| (violation.thread_name.clone(), passed))
    }

    /// All threads make all that they made in the recorded run. (A thread that the run ended in the middle of something
    /// is led to the step that it did not make, and tries it: there it may have crashed.)
    fn run(&mut self, ctp: &TraceProgram, prefix: &[Segment], order: &[EventId]) -> Followed<()> {
        self.follow_prefix(ctp, prefix)?;
        for (index, &id) in order.iter().enumerate() {
            match self.pass_event(ctp, id) {
                // (The end of the last thread ends the process.)
                Err(Stray::Ended(_)) if index + 1 == order.len() => return Ok(()),
                made => made?,
            }
        }
        for thread in ctp.threads.values() {
            let Some(id) = self.follower.thread(&thread.name) else { continue };
            if self.machine().threads()[id].status != Status::Running {
                continue;
            }
            match self.stand(id, thread.points).and_then(|()| self.try_next(id)) {
                Err(Stray::Ended(_)) => return Ok(()),
                made => made?,
            }
        }
        Ok(())
    }

    /// The next step of a thread that others can see, if it can be made.
    fn try_next(&mut self, thread: ThreadId) -> Followed<()> {
        for _ in 0..MOST_STEPS_AT_END {
            let is_point = self.machine().is_at_schedule_point(thread);
            match self.follower.step(thread) {
                Stepped::Made if !is_point => {}
                Stepped::Violation(violation) => return Err(Stray::Violation(violation)),
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    pub(super) fn follow_prefix(&mut self, ctp: &TraceProgram, prefix: &[Segment]) -> Followed<()> {
        for segment in prefix {
            let thread = self.find(&ctp.threads[&segment.thread].name)?;
            self.pass(thread, segment.last_point, None)?;
        }
        Ok(())
    }

    /// Makes the step of an event.
    pub(super) fn pass_event(&mut self, ctp: &TraceProgram, id: EventId) -> Followed<()> {
        let event = ctp.event(id);
        let is_made_later = matches!(event.kind, Kind::Outside(OutsideStep::Releases { is_all: false }));
        if is_made_later || matches!(event.kind, Kind::Start) {
            return Ok(());
        }
        let thread = self.find(&ctp.threads[&event.thread].name)?;
        if matches!(event.kind, Kind::EndLife { .. }) && operation(self.machine().program(), event.place).is_none() {
            // The return from a function, which is no schedule point.
            return self.come_to_point(thread, event.point);
        }
        self.pass(thread, event.point, Some(event.place))
    }

    pub(super) fn machine(&self) -> &Machine<'p> {
        &self.follower.machine
    }

    /// What a thread is about to do, and to access.
    fn standing(&self, thread: ThreadId) -> (Racer, Vec<Footprint>) {
        let accesses = self.machine().next_accesses(thread);
        (racer(self.machine(), thread, accesses.first().copied()), accesses)
    }

    fn all(
        &mut self,
        ctp: &TraceProgram,
        prefix: &[Segment],
        question: &Question,
        order: &[EventId],
    ) -> Followed<Claim> {
        self.follow_prefix(ctp, prefix)?;
        let mut racers = Vec::new();
        for &id in order {
            if let Question::Atomicity(broken) = question
                && (id == broken.first || id == broken.between)
            {
                let thread = self.come_to(ctp, id)?;
                racers.push(self.standing(thread));
            }
            self.pass_event(ctp, id)?;
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
                let claim = claim_race(self.machine(), threads[0], threads[1]);
                claim.ok_or_else(|| Stray::Lost("the accesses do not conflict".to_string()))
            }
            Question::Unordered(_, second) => {
                let thread = self.come_to(ctp, *second)?;
                let claim = claim_unordered(self.machine(), thread);
                claim.ok_or_else(|| Stray::Lost("the accesses are ordered".to_string()))
            }
            Question::UseAfterFree(_, touch) => {
                let thread = self.come_to(ctp, *touch)?;
                self.step(thread)?;
                Err(Stray::Lost("the object is still there".to_string()))
            }
            Question::LockCycle(events) => {
                let mut threads = Vec::new();
                for id in events {
                    threads.push(self.come_to(ctp, *id)?);
                }
                self.deadlock(&threads)
            }
            Question::HeldByEnded(request, _) => {
                let thread = self.come_to(ctp, *request)?;
                self.deadlock(&[thread])
            }
            Question::Atomicity(broken) => {
                let thread = self.come_to(ctp, broken.second)?;
                let (second, last) = self.standing(thread);
                let Ok([(first, before), (between, amid)]) = <[_; 2]>::try_from(racers) else {
                    return Err(Stray::Lost("the other accesses are not made".to_string()));
                };
                // (Atomic accesses, too, break the atomicity of a block.)
                let meet = |others: &[Footprint]| amid.iter().any(|a| others.iter().any(|b| a.conflicts(*b)));
                if !meet(&last) || !meet(&before) {
                    return Err(Stray::Lost("the accesses do not conflict".to_string()));
                }
                let program = self.machine().program();
                let file = |span: Span| program.files.get(span.file).map_or("", String::as_str);
                let block = broken.reason(ctp, &|span| format!("{}:{}", file(span), span.line));
                Ok(Claim::Atomicity { first, between, second, block })
            }
            Question::Untaken(_) => Err(Stray::Lost("a branch is no violation".to_string())),
            Question::GlobalDeadlock(_) => match self.deadlock(&[])? {
                Claim::Deadlock { waiting } if waiting.is_empty() => Err(Stray::Lost("all threads end".to_string())),
                _ if !self.machine().enabled_threads().is_empty() => {
                    Err(Stray::Lost("some thread can continue".to_string()))
                }
                claim => Ok(claim),
            },
        }
    }

    /// Runs a thread up to its schedule point of this number.
    fn come_to_point(&mut self, thread: ThreadId, point: u32) -> Followed<()> {
        self.stand(thread, point)?;
        while self.machine().threads()[thread].status == Status::Running && !self.machine().is_at_schedule_point(thread)
        {
            self.step(thread)?;
        }
        Ok(())
    }

    pub(super) fn find(&self, name: &str) -> Followed<ThreadId> {
        self.follower.thread(name).ok_or_else(|| Stray::Lost(format!("{name} has not been started")))
    }

    /// Brings a thread to the place of an event, which it does not execute.
    fn come_to(&mut self, ctp: &TraceProgram, id: EventId) -> Followed<ThreadId> {
        let event = ctp.event(id);
        let thread = self.find(&ctp.threads[&event.thread].name)?;
        self.stand(thread, event.point)?;
        while !self.machine().is_at_schedule_point(thread) {
            self.step(thread)?;
        }
        match self.follower.place(thread) == event.place {
            true => Ok(thread),
            false => Err(self.elsewhere(thread)),
        }
    }

    fn elsewhere(&self, thread: ThreadId) -> Stray {
        Stray::Lost(format!("{} goes another way", self.machine().thread_name(thread)))
    }

    /// Runs a thread past its schedule point of this number, which has to be at `place`.
    fn pass(&mut self, thread: ThreadId, point: u32, place: Option<Place>) -> Followed<()> {
        if self.passed.get(&thread).copied().unwrap_or(0) > point {
            return Ok(());
        }
        self.stand(thread, point)?;
        while !self.machine().is_at_schedule_point(thread) {
            self.step(thread)?;
        }
        match place {
            Some(place) if self.follower.place(thread) != place => Err(self.elsewhere(thread)),
            _ => self.step(thread),
        }
    }

    /// Runs a thread until it has passed so many schedule points.
    pub(super) fn stand(&mut self, thread: ThreadId, points: u32) -> Followed<()> {
        let mut left = MOST_STEPS;
        let mut last = 0;
        loop {
            let passed = self.passed.get(&thread).copied().unwrap_or(0);
            if passed >= points {
                return Ok(());
            }
            left = if passed == last { left - 1 } else { MOST_STEPS };
            last = passed;
            if left == 0 {
                return Err(Stray::Lost(format!(
                    "{} does not reach its next event",
                    self.machine().thread_name(thread)
                )));
            }
            self.step(thread)?;
        }
    }

    /// One step of a thread.
    pub(super) fn step(&mut self, thread: ThreadId) -> Followed<()> {
        let is_point = self.machine().is_at_schedule_point(thread);
        let lost = |this: &Self, how: &str| Err(Stray::Lost(format!("{} {how}", this.machine().thread_name(thread))));
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(STEPS_BETWEEN_CHECKS) && self.limits.stop().is_some() {
            return Err(Stray::Lost("there is no time left".to_string()));
        }
        if !self.keeps_steps {
            self.follower.recorder.steps.clear();
            self.follower.inputs.forget(0);
        }
        match self.follower.step(thread) {
            Stepped::Made => {
                *self.passed.entry(thread).or_default() += u32::from(is_point);
                Ok(())
            }
            Stepped::BlockedBySection(owner) => {
                self.leave_section(owner)?;
                self.step(thread)
            }
            Stepped::Violation(violation) => Err(Stray::Violation(violation)),
            Stepped::NotRunning => lost(self, "has ended"),
            Stepped::Blocked => lost(self, "has to wait"),
            Stepped::Exited | Stepped::Aborted => {
                Err(Stray::Ended(format!("{} ends the program", self.machine().thread_name(thread))))
            }
        }
    }

    /// All events of the section have happened; the rest of it cannot be observed.
    fn leave_section(&mut self, owner: ThreadId) -> Followed<()> {
        for _ in 0..MOST_STEPS {
            if !self.machine().in_section(owner) {
                return Ok(());
            }
            self.step(owner)?;
        }
        Err(Stray::Lost(format!("{} does not leave its atomic section", self.machine().thread_name(owner))))
    }

    fn fail(&mut self, thread: ThreadId) -> Followed<Claim> {
        self.is_free = true;
        for _ in 0..MOST_STEPS_AT_END {
            self.step(thread)?;
        }
        Err(Stray::Lost(format!("{} continues, and no violation follows", self.machine().thread_name(thread))))
    }

    fn run_others(&mut self, circle: &[ThreadId]) -> Followed<()> {
        for _ in 0..MOST_STEPS_AT_END {
            let next = self.machine().enabled_threads().into_iter().find(|thread| !circle.contains(thread));
            let Some(thread) = next else { break };
            self.step(thread)?;
        }
        Ok(())
    }

    /// Runs all other threads until none can continue.
    pub(super) fn deadlock(&mut self, circle: &[ThreadId]) -> Followed<Claim> {
        let is_caught = circle.iter().all(|thread| self.machine().wait(*thread).is_some());
        if !is_caught {
            return Err(Stray::Lost("a thread of the circle does not have to wait".to_string()));
        }
        self.is_free = true;
        let (machine, steps, given) =
            (self.machine().clone(), self.follower.recorder.steps.len(), self.follower.inputs.given().len());
        let mut is_final = true;
        if let Err(stray) = self.run_others(circle) {
            // Whatever the other threads do, a circle stays one.
            if circle.is_empty() {
                return Err(stray);
            }
            is_final = false;
            self.follower.machine = machine;
            self.follower.recorder.steps.truncate(steps);
            self.follower.inputs.forget(given);
        }
        let machine = self.machine();
        let claimed = machine.threads().ids().filter(|thread| is_final || circle.contains(thread));
        let blocked: Vec<Blocked> = claimed.filter_map(|thread| machine.blocked(thread)).collect();
        match blocked.len() >= circle.len() {
            true => Ok(claim_deadlock(self.machine(), &blocked)),
            false => Err(Stray::Lost("all of them can continue".to_string())),
        }
    }
}
