//! Optimal dynamic partial-order reduction (algorithm 2 of the POPL 2014 paper), iteratively.
//!
//! The search goes down one execution to its end. There, for every race — two dependent events of different threads
//! with nothing between them — it inserts the sequence that reverses it into the wake-up tree of the place before the
//! first of the two; then it goes back to the last place that has something left in its tree. What was explored from a
//! place sleeps there until something happens that it depends on.
//!
//! Departures from the paper. Locks: a thread that waits for a lock races with the one that took it, although the
//! release lies between them; threads that still wait at the end of an execution race with what they wait for, too.
//! Nondeterministic values: an event is repeated with every value before it goes to sleep; in a sequence that is
//! planned it has the value that it had. `exit` waits until no other thread can step.

use crate::event::{Access, Choice, Clock, Event, Footprint, Step};
use crate::history::{Dependences, History};
use crate::search::bounded::Preemptions;
use crate::search::trace::Trace;
use crate::search::wakeup::WakeupTree;
use crate::task::{Explored, Finding, Incomplete, Stats, Wakeups, What};
use crate::visible_step::{
    Changes, Effect, Inputs, Ran, Statics, Written, continue_without, is_leaving, next_choices, run_event,
};
use leno_engine::witness::stuck_for_ever;
use leno_engine::{Context, Properties, Task};
use leno_ir::analysis::facts::Facts;
use leno_ir::index::Idx;
use leno_ir::interp::{Blocked, Ending, Image, Machine, Next, Status, ThreadId, Violation, ViolationKind};
use leno_ir::program::{Op, Span, SyncOp};
use std::rc::Rc;

/// Is told of everything that the search comes by; the search then goes on to the end.
pub trait Visitor {
    /// A violation, and the places of the threads in it (in the order of [`What::threads`]).
    fn found(&mut self, finding: Finding, places: &[Span]);
    /// An execution was explored to its end: the fingerprint of its trace.
    fn explored(&mut self, fingerprint: u64);
}

/// Explores all executions of a program, up to equivalence, whatever it finds. Whether waits on condition variables may
/// end without a signal is up to the caller.
pub fn explore_all(
    facts: &Facts<'_>,
    task: &Task,
    context: &Context,
    spurious_wakeups: bool,
    visitor: &mut dyn Visitor,
) -> Explored {
    let image = Image::new(facts.program());
    let statics = Statics::new(facts, &image);
    let wakeups = if spurious_wakeups { Wakeups::Anytime } else { Wakeups::OnlyBySignals };
    explore_once(&image, &statics, task, context, wakeups, Some(visitor))
}

pub(crate) fn explore_once(
    image: &Image<'_>,
    statics: &Statics,
    task: &Task,
    context: &Context,
    wakeups: Wakeups,
    visitor: Option<&mut dyn Visitor>,
) -> Explored {
    let mut options = wakeups.options();
    options.happens_before = task.properties.race;
    if let Some(memory) = task.bounds.memory {
        options.memory_limit = options.memory_limit.min(memory);
    }
    let mut search = Search {
        statics,
        task,
        properties: task.properties,
        context,
        preemptions: task.bounds.preemptions.map(Preemptions::at_most),
        wakeups,
        machine: Machine::new(image, &options),
        inputs: Inputs::default(),
        events: Vec::new(),
        nodes: Vec::new(),
        history: History::default(),
        last_of: Vec::new(),
        known_steps: Vec::new(),
        born: vec![Clock::default()],
        snapshots: Vec::new(),
        first_new: 0,
        stats: Stats::default(),
        is_stopped: false,
        incomplete: None,
        finding: None,
        visitor,
    };
    search.start();
    let Search { finding, incomplete, stats, .. } = search;
    Explored { finding, incomplete, stats, needs_signals: None }
}

/// A place in the current execution: before the event of the same index.
pub(crate) struct Node {
    /// What is left to explore from here, after what is being explored.
    pub tree: WakeupTree,
    /// What has been explored, with everything that begins with it.
    pub sleep: Vec<Rc<Step>>,
    /// Reversible races of the event explored from here with earlier ones.
    pub races: Vec<u32>,
    /// Reversible races of later events with the event explored from here, in order.
    pub reversals: Vec<Reversal>,
    /// The event explored from here, with each of the values that it was given so far.
    variants: Vec<Rc<Step>>,
}

/// A later event that might have come first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reversal {
    pub second: u32,
    /// Whether it can be made that early, once this has been tried.
    pub is_enabled: Option<bool>,
}

/// An event that was just made.
struct Made {
    thread: ThreadId,
    pc: u32,
    footprint: Footprint,
    fixed: usize,
    steps: u32,
    effect: Effect,
    written: Option<Written>,
}

pub(crate) struct Search<'a, 'p, 'v> {
    pub statics: &'a Statics,
    task: &'a Task,
    pub properties: Properties,
    pub context: &'a Context,
    /// Kept only if there is a bound on them.
    pub preemptions: Option<Preemptions>,
    wakeups: Wakeups,
    pub machine: Machine<'p>,
    inputs: Inputs,
    pub events: Vec<Event>,
    pub nodes: Vec<Node>,
    pub history: History,
    /// By thread: the indices of its events so far.
    last_of: Vec<Vec<u32>>,
    /// By thread: the last step that each of its events was, over all executions. Most are the same again, and then
    /// shared.
    known_steps: Vec<Vec<Rc<Step>>>,
    /// By thread: what happened before it was created.
    pub born: Vec<Clock>,
    /// Machines before certain events, to go back to.
    snapshots: Vec<(usize, Machine<'p>)>,
    /// The first event that was not part of the last execution whose races were planned.
    pub first_new: usize,
    stats: Stats,
    is_stopped: bool,
    incomplete: Option<Incomplete>,
    pub finding: Option<Finding>,
    visitor: Option<&'v mut dyn Visitor>,
}

/// Loops of more events than this are not recognised as waiting.
const LONGEST_ROUND: usize = 200;

/// A snapshot is kept every so many events.
const SNAPSHOT_EVERY: usize = 12;

/// Copying so many words of a machine is worth making one event again.
const WORDS_PER_EVENT: u64 = 1000;

impl<'p> Search<'_, 'p, '_> {
    fn start(&mut self) {
        self.descend(WakeupTree::default(), Vec::new());
        while self.finding.is_none() && self.backtrack() {
            self.look_at_limits();
            if self.is_stopped {
                return;
            }
        }
    }

    /// Stops at a limit: this is the reason that counts.
    fn look_at_limits(&mut self) {
        let executions = self.stats.executions;
        self.context.progress.count_executions(executions);
        if let Some(stop) = self.context.limits.stop() {
            self.stop(Incomplete::Stopped(stop));
        } else if let Some(most) = self.task.bounds.executions.filter(|most| executions > *most) {
            self.stop(Incomplete::Executions(most));
        }
    }

    /// Not every execution is explored, for this reason; the first one is kept.
    pub fn note(&mut self, reason: Incomplete) {
        self.incomplete.get_or_insert(reason);
    }

    fn stop(&mut self, reason: Incomplete) {
        self.is_stopped = true;
        self.incomplete = Some(reason);
    }

    // ---- going down

    /// Explores from here to the end of one execution.
    fn descend(&mut self, mut tree: WakeupTree, mut sleep: Vec<Rc<Step>>) {
        loop {
            if self.events.len().is_power_of_two() || self.events.len().is_multiple_of(1024) {
                self.look_at_limits();
            }
            if self.is_stopped {
                return;
            }
            if self.events.len() >= self.task.bounds.depth {
                self.note(Incomplete::TooLong(self.task.bounds.depth));
                return self.end_execution();
            }
            let Some((planned, subtree)) = self.choose(&mut tree, &sleep) else {
                return self.reach_end(!sleep.is_empty());
            };
            let sleep_here = std::mem::take(&mut sleep);
            self.nodes.push(Node {
                tree,
                sleep: sleep_here,
                races: Vec::new(),
                reversals: Vec::new(),
                variants: Vec::new(),
            });
            let fixed = planned.choices.len();
            if !self.perform(&planned, fixed) || self.is_asleep() {
                return;
            }
            tree = subtree;
            sleep = self.child_sleep();
        }
    }

    /// Whether the last event, with the values that it was given, sleeps where it was made.
    fn is_asleep(&self) -> bool {
        let (Some(node), Some(event)) = (self.nodes.last(), self.events.last()) else { return false };
        node.sleep
            .iter()
            .any(|sleeping| sleeping.thread == event.step.thread && event.step.choices.starts_with(&sleeping.choices))
    }

    /// What stays asleep after the last event.
    fn child_sleep(&self) -> Vec<Rc<Step>> {
        let (Some(node), Some(event), None) = (self.nodes.last(), self.events.last(), &self.preemptions) else {
            return Vec::new();
        };
        let independent = |sleeping: &&Rc<Step>| !sleeping.is_dependent(&event.step);
        node.sleep.iter().filter(independent).cloned().collect()
    }

    /// The next event to explore from here, and the tree for what follows it; None when no thread can go on.
    fn choose(&mut self, tree: &mut WakeupTree, sleep: &[Rc<Step>]) -> Option<(Rc<Step>, WakeupTree)> {
        if let Some(planned) = self.next_enabled_branch(tree) {
            return Some(planned);
        }
        let awake = |thread: &ThreadId| self.can_step(*thread) && !sleep.iter().any(|s| s.thread == *thread);
        // The end comes last: what it cuts off is found by reversing races with it.
        let stays = |thread: &ThreadId| awake(thread) && !is_leaving(&self.machine, *thread);
        // If only some of its values sleep, a thread can go on with others.
        let partly = |thread: &ThreadId| {
            let mut sleeping = sleep.iter().filter(|s| s.thread == *thread);
            let can_go_on = self.can_step(*thread) && !is_leaving(&self.machine, *thread);
            can_go_on && sleeping.all(|s| !s.choices.is_empty())
        };
        let last = self.events.last().map(|event| event.step.thread).filter(|thread| stays(thread));
        let threads = || self.machine.threads().ids();
        let thread = last
            .or_else(|| threads().find(stays))
            .or_else(|| threads().find(partly))
            .or_else(|| threads().find(awake))?;
        Some((unplanned(thread, Vec::new()), WakeupTree::default()))
    }

    /// Whether a thread can make an event now.
    pub fn can_step(&self, thread: ThreadId) -> bool {
        self.machine.threads().get(thread).is_some()
            && self.machine.enabled(thread)
            && !self.waits_to_leave(thread)
            && !self.spins(thread)
    }

    fn spins(&self, thread: ThreadId) -> bool {
        let last = self.last_of.get(thread.index()).and_then(|list| list.last());
        last.is_some_and(|last| self.events[*last as usize].spins && !self.is_interfered_with(*last as usize))
    }

    /// What has been allocated and not yet freed differs between an early exit and a late one; all else does not.
    fn waits_to_leave(&self, thread: ThreadId) -> bool {
        !self.has_end_properties() && is_leaving(&self.machine, thread)
    }

    /// Whether it matters when the program ends.
    pub fn has_end_properties(&self) -> bool {
        self.properties.leak || self.properties.memtrack
    }

    /// Makes one event, whose first `fixed` choices were planned. False if the search cannot go on from here.
    fn perform(&mut self, planned: &Step, fixed: usize) -> bool {
        self.keep_snapshot();
        let thread = planned.thread;
        self.count_preemption(thread);
        let threads = self.machine.threads().len();
        self.inputs.begin(&planned.choices);
        let mut footprint = Footprint::default();
        let is_finished = |joined: &ThreadId| self.machine.threads()[*joined].status == Status::Finished;
        let joined = self.machine.join_target(thread).filter(is_finished);
        let pc = self.machine.pc(thread);
        let limits = &self.context.limits;
        let interrupted = || limits.stop().is_some();
        let mut changes = Changes::new(self.statics, &interrupted);
        let (ran, steps) =
            run_event(&mut self.machine, self.statics, &mut self.inputs, thread, &mut footprint, &mut changes);
        if self.has_end_properties() && matches!(ran, Ran::Exited(_)) {
            footprint.0 = vec![Access::Everything];
        }
        let race = changes.race.take();
        let fixed = fixed.min(self.inputs.as_planned());
        let made = Made { thread, pc, footprint, fixed, steps, effect: changes.effect, written: changes.first };
        self.record(made, joined, threads);
        self.stats.events += 1;
        self.stats.longest = self.stats.longest.max(self.events.len() as u64);
        if let Some(race) = race {
            let places = race.places;
            let schedule = self.schedule(|_| true);
            self.found(What::Unordered(race), schedule, &places);
            if self.finding.is_some() {
                return false;
            }
        }
        self.handle_outcome(ran, thread)
    }

    /// Keeps a copy of the machine now and then: less often when it is large.
    fn keep_snapshot(&mut self) {
        if !self.events.len().is_multiple_of(SNAPSHOT_EVERY) {
            return;
        }
        let is_due = match self.snapshots.last() {
            Some((at, _)) => self.events.len() - at > (self.machine.weight() / WORDS_PER_EVENT) as usize,
            None => true,
        };
        if is_due {
            self.snapshots.push((self.events.len(), self.machine.clone()));
        }
    }

    /// Adds the event that was just made: its place in the order, and its races.
    fn record(&mut self, made: Made, joined: Option<ThreadId>, threads: usize) {
        let Made { thread, pc, footprint, fixed, steps, effect, written } = made;
        let index = self.events.len() as u32;
        let mut found = Dependences::default();
        for access in &footprint.0 {
            self.history.dependences(*access, &mut found);
        }
        let mut clock = self.clock_of(thread);
        if let Some(joined) = joined {
            clock.join(&self.clock_of(joined));
        }
        found.candidates.sort_unstable();
        found.candidates.dedup();
        found.before.sort_unstable();
        found.before.dedup();
        let races = self.races_among(&found, thread, &clock);
        for before in &found.before {
            clock.join(&self.events[*before as usize].clock);
        }
        if self.last_of.len() <= thread.index() {
            self.last_of.resize(thread.index() + 1, Vec::new());
        }
        let number = self.last_of[thread.index()].len() as u32 + 1;
        clock.set(thread, number);
        self.born.truncate(threads);
        for _ in threads..self.machine.threads().len() {
            self.born.push(clock.clone());
        }
        for access in &footprint.0 {
            self.history.push(index, *access);
        }
        self.last_of[thread.index()].push(index);
        let choices = self.inputs.asked.clone();
        for race in &races {
            self.nodes[*race as usize].reversals.push(Reversal { second: index, is_enabled: None });
        }
        if let Some(node) = self.nodes.last_mut() {
            node.races = races;
        }
        let in_loop =
            self.machine.threads()[thread].status == Status::Running && self.statics.is_in_loop(&self.machine, thread);
        let fingerprint = if in_loop { self.machine.local_fingerprint(thread) } else { None };
        let spins = self.is_spinning(thread, fingerprint, effect);
        let step = self.shared(Step::new(thread, footprint, choices), number);
        self.events.push(Event { step, number, pc, fixed, clock, steps, effect, written, fingerprint, spins });
    }

    /// The step of an event with this number, which is shared if it was the same the last time.
    fn shared(&mut self, step: Step, number: u32) -> Rc<Step> {
        let thread = step.thread.index();
        if self.known_steps.len() <= thread {
            self.known_steps.resize(thread + 1, Vec::new());
        }
        let known = &mut self.known_steps[thread];
        match known.get_mut(number as usize - 1) {
            Some(same) if **same == step => Rc::clone(same),
            Some(other) => {
                *other = Rc::new(step);
                Rc::clone(other)
            }
            None => {
                let step = Rc::new(step);
                known.push(Rc::clone(&step));
                step
            }
        }
    }

    /// Whether a thread is again in a state of its own that it was in before, after events that changed nothing that
    /// others can see. It would do the same again until another thread interferes; and whatever it can do then, it can
    /// also do without having gone round. So it waits: executions in which another thread interferes are found by
    /// reversing races with its reads.
    fn is_spinning(&self, thread: ThreadId, now: Option<u64>, effect: Effect) -> bool {
        if now.is_none() || effect.is_lasting {
            return false;
        }
        let mut locks = effect.locks;
        let mut woke_unasked = effect.woke_unasked;
        // (The event itself is in the list already, as the last one.)
        let events = self.last_of.get(thread.index()).map_or(&[][..], Vec::as_slice);
        for index in events.iter().rev().skip(1).take(LONGEST_ROUND) {
            let event = &self.events[*index as usize];
            if event.fingerprint == now && locks == 0 {
                let is_missed = woke_unasked && self.wakeups == Wakeups::Chosen;
                return !is_missed || self.has_slept_through(thread, *index as usize);
            }
            if event.effect.is_lasting {
                return false;
            }
            locks = locks.wrapping_add(event.effect.locks);
            woke_unasked |= event.effect.woke_unasked;
        }
        false
    }

    /// Whether a thread that woke up without a signal sleeps again, and has missed none since an event: it could as well
    /// have slept on.
    fn has_slept_through(&self, thread: ThreadId, since: usize) -> bool {
        let image = self.machine.image();
        let gives_signal = |event: &Event| match image.next_at(event.pc) {
            Next::Instr(instr) => {
                matches!(instr.op, Op::Sync { op: SyncOp::CondSignal | SyncOp::CondBroadcast, .. } | Op::AtomicBegin)
            }
            Next::Terminator(_) => false,
        };
        self.machine.wakes_unasked(thread) && !self.events[since..].iter().any(gives_signal)
    }

    pub fn clock_of(&self, thread: ThreadId) -> Clock {
        match self.last_of.get(thread.index()).and_then(|list| list.last()) {
            Some(last) => self.events[*last as usize].clock.clone(),
            None => self.born.get(thread.index()).cloned().unwrap_or_default(),
        }
    }

    /// Candidates that did not happen before by another way than this very conflict.
    fn races_among(&self, found: &Dependences, thread: ThreadId, clock: &Clock) -> Vec<u32> {
        let is_race = |candidate: &&u32| {
            let event = &self.events[**candidate as usize];
            event.step.thread != thread
                && !event.is_before(clock)
                && !found.before.iter().any(|other| {
                    other != *candidate
                        && found.candidates.contains(other)
                        && event.is_before(&self.events[*other as usize].clock)
                })
        };
        let waits = found.waits.iter().filter(|candidate| {
            let event = &self.events[**candidate as usize];
            event.step.thread != thread && !event.is_before(clock)
        });
        let mut races: Vec<u32> = found.candidates.iter().filter(is_race).chain(waits).copied().collect();
        races.sort_unstable();
        races.dedup();
        races
    }

    /// Takes in how an event ended. False if the search cannot go on from here.
    fn handle_outcome(&mut self, ran: Ran<'p>, thread: ThreadId) -> bool {
        if let Some(reason) = self.inputs.incomplete {
            self.note(Incomplete::DependsOn(reason));
        }
        match ran {
            Ran::Done | Ran::Nothing => true,
            Ran::Exited(before) => {
                if let Some(violation) = self.leak(thread) {
                    self.found_violation(violation);
                }
                if self.finding.is_some() {
                    return false;
                }
                // What can go wrong before an exit can go wrong without it: inside of a section it is not seen coming.
                if before.is_some() {
                    continue_without(&mut self.machine, thread, before);
                    return true;
                }
                self.end_execution();
                false
            }
            Ran::Endless => {
                self.note(Incomplete::Endless);
                self.machine.stop_thread(thread);
                true
            }
            Ran::OutOfMemory => {
                self.note(Incomplete::OutOfMemory);
                self.machine.stop_thread(thread);
                true
            }
            Ran::Stopped => {
                self.look_at_limits();
                false
            }
            Ran::Violation(violation, before) => {
                let culprit = violation.thread;
                if self.properties.covers(violation.kind) {
                    self.found_violation(violation);
                }
                // Not asked for, or not the only one: this thread goes no further, the others do.
                continue_without(&mut self.machine, culprit, before);
                self.finding.is_none()
            }
        }
    }

    // ---- at the end of an execution

    /// What has leaked when the program has ended, if that is asked for.
    fn leak(&self, thread: ThreadId) -> Option<Box<Violation>> {
        let leak = |is_asked: bool, kind| if is_asked { self.machine.leak(thread, kind) } else { None };
        let lost = leak(self.properties.memtrack, ViolationKind::LostMemory);
        lost.or_else(|| leak(self.properties.leak, ViolationKind::Leak))
    }

    /// No thread can step, or all that can are asleep.
    fn reach_end(&mut self, has_sleepers: bool) {
        let can_go_on = self.machine.threads().ids().any(|thread| self.can_step(thread));
        if can_go_on && has_sleepers {
            self.stats.redundant += 1;
            return self.plan_races();
        }
        let is_stuck = self.machine.threads().ids().all(|thread| !self.machine.enabled(thread));
        if self.properties.deadlock
            && is_stuck
            && let Ending::Deadlock(blocked) = self.machine.deadlock()
            && !blocked.is_empty()
        {
            self.found_deadlock(blocked);
        }
        self.end_execution();
    }

    fn end_execution(&mut self) {
        self.stats.executions += 1;
        if self.properties.deadlock
            && self.finding.is_none()
            && let Some(stuck) = stuck_for_ever(&self.machine).into_iter().next()
        {
            self.found_deadlock(stuck);
        }
        if let Some(visitor) = &mut self.visitor {
            let mut trace = Trace::default();
            self.events
                .iter()
                .for_each(|event| trace.push(event.step.thread, &event.step.footprint, &event.step.choices));
            visitor.explored(trace.fingerprint());
        }
        if self.finding.is_none() {
            self.plan_races();
        }
    }

    fn found_violation(&mut self, violation: Box<Violation>) {
        let places = [violation.span];
        let schedule = self.schedule(|_| true);
        self.found(What::Violation(violation), schedule, &places);
    }

    fn found_deadlock(&mut self, blocked: Vec<Blocked>) {
        let place = |blocked: &Blocked| self.machine.image().span(self.machine.pc(blocked.thread));
        let places: Vec<Span> = blocked.iter().map(place).collect();
        let mut schedule = self.schedule(|_| true);
        if self.machine.is_over() {
            // They were stuck before the end of the process, too.
            schedule.pop();
        }
        self.found(What::Deadlock(blocked), schedule, &places);
    }

    fn schedule(&self, wanted: impl Fn(&Event) -> bool) -> Vec<(ThreadId, Vec<Choice>)> {
        let events = self.events.iter().filter(|event| wanted(event));
        events.map(|event| (event.step.thread, event.step.choices.clone())).collect()
    }

    fn found(&mut self, what: What, schedule: Vec<(ThreadId, Vec<Choice>)>, places: &[Span]) {
        let finding = Finding {
            what,
            schedule,
            threads: self.machine.threads().iter().map(|thread| thread.name.clone()).collect(),
            is_tainted: self.machine.is_tainted(),
            wakeups: self.wakeups,
        };
        match &mut self.visitor {
            Some(visitor) => visitor.found(finding, places),
            None => self.finding = Some(finding),
        }
    }

    pub fn is_data_race(&self, first: usize, second: usize) -> bool {
        let (first, second) = (&self.events[first].step.footprint, &self.events[second].step.footprint);
        first.0.iter().any(|a| second.0.iter().any(|b| a.races(*b)))
    }

    /// The state in which both threads are about to make their access: everything that happened before either of them.
    pub fn found_race(&mut self, first: usize, second: usize) {
        let (one, other) = (&self.events[first], &self.events[second]);
        let what = What::Race { first: one.step.thread, second: other.step.thread };
        let places = [one, other].map(|event| self.machine.image().span(event.pc));
        let mut clock = self.previous_clock(first);
        clock.join(&self.previous_clock(second));
        let schedule = self.schedule(|event| event.is_before(&clock));
        self.found(what, schedule, &places);
    }

    /// What happened before the event at `index` begins.
    fn previous_clock(&self, index: usize) -> Clock {
        let event = &self.events[index];
        let list = &self.last_of[event.step.thread.index()];
        match event.number.checked_sub(2) {
            Some(previous) => self.events[list[previous as usize] as usize].clock.clone(),
            None => self.born.get(event.step.thread.index()).cloned().unwrap_or_default(),
        }
    }

    // ---- going back

    /// Goes back to the last place where something is left to explore, and explores it. False when nothing is.
    fn backtrack(&mut self) -> bool {
        while let Some(mut node) = self.nodes.pop() {
            let Some(event) = self.pop_event() else { return false };
            for race in std::mem::take(&mut node.races) {
                self.nodes[race as usize].reversals.pop();
            }
            let repeated = next_choices(&event.step.choices, event.fixed)
                .map(|choices| (unplanned(event.step.thread, choices), WakeupTree::default()));
            let is_repeated = repeated.is_some();
            let fixed = event.fixed;
            node.variants.push(event.step);
            if !is_repeated {
                let variants = std::mem::take(&mut node.variants);
                node.sleep.extend(merged_variants(variants, fixed));
                if node.tree.is_empty() {
                    continue;
                }
            }
            self.restore(self.events.len());
            let Some((planned, subtree)) = repeated.or_else(|| self.next_enabled_branch(&mut node.tree)) else {
                continue;
            };
            self.first_new = self.first_new.min(self.events.len());
            let fixed = if is_repeated { fixed } else { planned.choices.len() };
            self.nodes.push(node);
            if self.perform(&planned, fixed) && !self.is_asleep() {
                let sleep = self.child_sleep();
                self.descend(subtree, sleep);
            }
            return true;
        }
        false
    }

    /// The first branch whose thread can step; one that cannot was planned for a wait that lies further back.
    fn next_enabled_branch(&mut self, tree: &mut WakeupTree) -> Option<(Rc<Step>, WakeupTree)> {
        while let Some((planned, subtree)) = tree.take_first() {
            if self.can_step(planned.thread) && self.is_within_bound(planned.thread) {
                return Some((planned, subtree));
            }
        }
        None
    }

    /// Takes back the last event.
    fn pop_event(&mut self) -> Option<Event> {
        let event = self.events.pop()?;
        if let Some(preemptions) = &mut self.preemptions {
            preemptions.pop();
        }
        for access in event.step.footprint.0.iter().rev() {
            self.history.pop(*access);
        }
        if let Some(list) = self.last_of.get_mut(event.step.thread.index()) {
            list.pop();
        }
        Some(event)
    }

    pub fn machine_before(&self, index: usize) -> Option<Machine<'p>> {
        let (from, machine) = self.snapshots.iter().rfind(|(at, _)| *at <= index)?;
        let mut machine = machine.clone();
        let mut inputs = Inputs::default();
        for event in &self.events[*from..index] {
            replay_event(&mut machine, self.statics, &mut inputs, event.step.thread, &event.step.choices);
        }
        Some(machine)
    }

    /// Brings the machine back to where it was before event `index`.
    fn restore(&mut self, index: usize) {
        while self.snapshots.last().is_some_and(|(at, _)| *at > index) {
            self.snapshots.pop();
        }
        if let Some(machine) = self.machine_before(index) {
            self.machine = machine;
        }
        self.born.truncate(self.machine.threads().len());
    }
}

/// A step of which nothing is known yet but the values to give it.
fn unplanned(thread: ThreadId, choices: Vec<Choice>) -> Rc<Step> {
    Rc::new(Step::new(thread, Footprint::default(), choices))
}

/// All variants of an event, as one if they all touched the same: whatever values it is given after the first `fixed`.
fn merged_variants(variants: Vec<Rc<Step>>, fixed: usize) -> Vec<Rc<Step>> {
    match &variants[..] {
        [only] if only.choices.len() <= fixed => variants,
        [first, ..] if variants.iter().all(|variant| variant.footprint == first.footprint) => {
            let choices = first.choices.iter().copied().take(fixed).collect();
            vec![Rc::new(Step::new(first.thread, first.footprint.clone(), choices))]
        }
        _ => variants,
    }
}

/// Makes an event once more.
pub(crate) fn replay_event(
    machine: &mut Machine<'_>,
    statics: &Statics,
    inputs: &mut Inputs,
    thread: ThreadId,
    choices: &[Choice],
) {
    inputs.begin(choices);
    let (ran, _) = run_event(machine, statics, inputs, thread, &mut Footprint::default(), &mut ());
    match ran {
        Ran::Violation(violation, before) => continue_without(machine, violation.thread, before),
        Ran::Exited(before) if before.is_some() => continue_without(machine, thread, before),
        Ran::Endless | Ran::OutOfMemory => machine.stop_thread(thread),
        Ran::Done | Ran::Nothing | Ran::Exited(_) | Ran::Stopped => {}
    }
}
