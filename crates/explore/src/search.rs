//! Optimal dynamic partial-order reduction (algorithm 2 of the POPL 2014 paper), iteratively.
//!
//! The search goes down one execution to its end. There, for every race — two dependent events of different threads with
//! nothing between them — it plants the sequence that reverses it into the wake-up tree of the place before the first of the
//! two; then it goes back to the last place that has something left in its tree. What was explored from a place sleeps
//! there until something happens that it depends on.
//!
//! Departures from the paper. Locks: a thread that waits for a lock races with the one that took it, although the release lies
//! between them; threads that still wait at the end of an execution race with what they wait for, too. Nondeterministic
//! values: an event is repeated with every value before it goes to sleep. `exit` waits until nobody else can step, since what
//! can go wrong before an early exit can also go wrong before a late one.

use crate::deadlock::circle;
use crate::event::{Access, Choice, Clock, Event, Footprint};
use crate::history::{Dependences, History};
use crate::run::{Changes, Effect, Inputs, Ran, Statics, add_accesses, run_event, run_invisible};
use crate::wakeup::{Planned, WakeupTree, is_weak_initial};
use crate::witness::options;
use leno_ir::index::Idx;
use leno_ir::interp::{Blocked, Ending, Image, MAIN, Machine, Next, Status, ThreadId, Violation, ViolationKind, Wait};
use leno_ir::program::{Program, TerminatorKind};
use std::collections::BTreeSet;

/// Which violations are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Properties {
    pub assertion: bool,
    pub race: bool,
    pub deadlock: bool,
    pub memory: bool,
    pub overflow: bool,
    /// Division by zero, misuse of locks and threads, …: all the rest.
    pub other: bool,
}

impl Properties {
    /// What a list of properties starts from.
    pub const NONE: Properties =
        Properties { assertion: false, race: false, deadlock: false, memory: false, overflow: false, other: false };

    /// All but those that must be asked for.
    pub const DEFAULT: Properties =
        Properties { assertion: true, race: true, deadlock: true, memory: true, overflow: false, other: true };

    pub fn covers(&self, kind: ViolationKind) -> bool {
        use ViolationKind::*;
        match kind {
            Assertion => self.assertion,
            SignedOverflow => self.overflow,
            NullDereference | OutOfBounds | InvalidPointer | UseAfterFree | UseAfterScope | WriteToConstant
            | DoubleFree | InvalidFree => self.memory,
            _ => self.other,
        }
    }
}

/// When to give up.
pub struct Limits<'a> {
    /// Asked now and then: true means stop.
    pub interrupted: &'a dyn Fn(&Stats) -> bool,
    /// Events in one execution.
    pub depth: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Executions explored to their end.
    pub executions: u64,
    /// Executions given up because all that could follow had been explored.
    pub redundant: u64,
    pub events: u64,
}

/// A violation, and how to get there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    pub what: What,
    /// The thread of each event, and the nondeterministic values that it asked for.
    pub schedule: Vec<(ThreadId, Vec<Choice>)>,
    /// Names of the threads, by number.
    pub threads: Vec<String>,
    /// Something that nothing is known of was called or read on the way: the real program may behave otherwise.
    pub is_tainted: bool,
    /// Waits may end without a signal in it.
    pub spurious_wakeups: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    Violation(Box<Violation>),
    /// Both are about to make the access.
    Race {
        first: ThreadId,
        second: ThreadId,
    },
    Deadlock(Vec<Blocked>),
}

impl What {
    /// The threads in which it goes wrong.
    pub fn threads(&self) -> Vec<ThreadId> {
        match self {
            What::Violation(violation) => vec![violation.thread],
            What::Race { first, second } => vec![*first, *second],
            What::Deadlock(blocked) => blocked.iter().map(|blocked| blocked.thread).collect(),
        }
    }
}

/// What the search established.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explored {
    pub finding: Option<Finding>,
    /// Why not every execution was explored; None if every one was.
    pub incomplete: Option<String>,
    pub stats: Stats,
}

/// Explores all executions of a program, up to equivalence, until it finds a violation.
///
/// Waits on condition variables may end without a signal, except where deadlocks are concerned: a lost signal would never be
/// one. So a program that waits is explored twice when both are asked for.
pub fn explore(program: &Program, properties: Properties, limits: &Limits<'_>) -> Explored {
    let image = Image::new(program);
    let statics = Statics::new(program, &image);
    if !statics.has_waits() {
        return explore_once(&image, &statics, properties, limits, false);
    }
    let others = Properties { deadlock: false, ..properties };
    if others == Properties::NONE {
        return explore_once(&image, &statics, properties, limits, false);
    }
    let first = explore_once(&image, &statics, others, limits, true);
    if !properties.deadlock || first.finding.is_some() {
        return first;
    }
    let second = explore_once(&image, &statics, Properties { deadlock: true, ..Properties::NONE }, limits, false);
    Explored {
        finding: second.finding,
        incomplete: first.incomplete.or(second.incomplete),
        stats: Stats {
            executions: first.stats.executions + second.stats.executions,
            redundant: first.stats.redundant + second.stats.redundant,
            events: first.stats.events + second.stats.events,
        },
    }
}

fn explore_once(
    image: &Image<'_>,
    statics: &Statics,
    properties: Properties,
    limits: &Limits<'_>,
    spurious_wakeups: bool,
) -> Explored {
    let mut search = Search {
        statics,
        properties,
        limits,
        spurious_wakeups,
        machine: Machine::new(image, &options(spurious_wakeups)),
        inputs: Inputs::default(),
        events: Vec::new(),
        nodes: Vec::new(),
        history: History::default(),
        last_of: Vec::new(),
        born: vec![Clock::default()],
        snapshots: Vec::new(),
        first_new: 0,
        stats: Stats::default(),
        is_interrupted: false,
        incomplete: None,
        finding: None,
    };
    search.start();
    Explored { finding: search.finding, incomplete: search.incomplete, stats: search.stats }
}

/// A place in the current execution: before the event of the same index.
struct Node {
    /// What is left to explore from here, after what is being explored.
    tree: WakeupTree,
    /// What has been explored, with everything that begins with it.
    sleep: Vec<Planned>,
    /// Reversible races of the event explored from here with earlier ones.
    races: Vec<u32>,
}

struct Search<'a, 'p> {
    statics: &'a Statics,
    properties: Properties,
    limits: &'a Limits<'a>,
    spurious_wakeups: bool,
    machine: Machine<'p>,
    inputs: Inputs,
    events: Vec<Event>,
    nodes: Vec<Node>,
    history: History,
    /// By thread: the indices of its events so far.
    last_of: Vec<Vec<u32>>,
    /// By thread: what happened before it was created.
    born: Vec<Clock>,
    /// Machines before certain events, to go back to.
    snapshots: Vec<(usize, Machine<'p>)>,
    /// The first event that was not part of the execution before.
    first_new: usize,
    stats: Stats,
    is_interrupted: bool,
    incomplete: Option<String>,
    finding: Option<Finding>,
}

/// Loops of more events than this are not recognised as waiting.
const LONGEST_ROUND: usize = 200;

/// A snapshot is kept every so many events.
const SNAPSHOT_EVERY: usize = 12;

impl<'p> Search<'_, 'p> {
    fn start(&mut self) {
        self.inputs.begin(&[]);
        let ran = run_invisible(&mut self.machine, self.statics, &mut self.inputs, MAIN, &mut ());
        // Values that the main thread asks for before its first visible step belong to a first, empty event.
        let first = Event {
            thread: MAIN,
            number: 1,
            footprint: Footprint::default(),
            choices: self.inputs.asked.clone(),
            clock: Clock::default(),
            steps: 0,
            effect: Effect::default(),
            fingerprint: None,
            spins: false,
        };
        let has_choices = !first.choices.is_empty();
        if !self.absorb(ran, MAIN) {
            return;
        }
        if has_choices {
            self.note("nondeterministic values before the first visible step are sampled");
        }
        self.descend(WakeupTree::default(), Vec::new());
        while self.finding.is_none() && self.backtrack() {
            self.is_interrupted |= (self.limits.interrupted)(&self.stats);
            if self.is_interrupted {
                return self.note("the search was stopped");
            }
        }
    }

    fn note(&mut self, reason: &str) {
        self.incomplete.get_or_insert_with(|| reason.to_string());
    }

    // ---- going down

    /// Explores from here to the end of one execution.
    fn descend(&mut self, mut tree: WakeupTree, mut sleep: Vec<Planned>) {
        loop {
            if self.events.len().is_power_of_two() || self.events.len().is_multiple_of(1024) {
                self.is_interrupted |= (self.limits.interrupted)(&self.stats);
            }
            if self.is_interrupted {
                return self.note("the search was stopped");
            }
            if self.events.len() >= self.limits.depth {
                self.note("an execution was longer than the limit");
                return self.end_execution();
            }
            let Some((planned, subtree)) = self.choose(&mut tree, &sleep) else {
                return self.reach_end(!sleep.is_empty());
            };
            self.nodes.push(Node { tree, sleep: std::mem::take(&mut sleep), races: Vec::new() });
            if !self.perform(planned) {
                return;
            }
            tree = subtree;
            sleep = self.child_sleep();
        }
    }

    /// What stays asleep after the last event.
    fn child_sleep(&self) -> Vec<Planned> {
        let (Some(node), Some(event)) = (self.nodes.last(), self.events.last()) else { return Vec::new() };
        let independent =
            |sleeping: &&Planned| sleeping.thread != event.thread && !sleeping.footprint.conflicts(&event.footprint);
        node.sleep.iter().filter(independent).cloned().collect()
    }

    /// The next event to explore from here, and the tree for what follows it; None when nobody can go on.
    fn choose(&mut self, tree: &mut WakeupTree, sleep: &[Planned]) -> Option<(Planned, WakeupTree)> {
        if let Some(planned) = self.next_able(tree) {
            return Some(planned);
        }
        let awake = |thread: &ThreadId| self.can_step(*thread) && !sleep.iter().any(|s| s.thread == *thread);
        let last = self.events.last().map(|event| event.thread).filter(|thread| awake(thread));
        let thread = last.or_else(|| self.machine.threads().ids().find(awake))?;
        Some((Planned { thread, footprint: Footprint::default(), choices: Vec::new() }, WakeupTree::default()))
    }

    /// Whether a thread can make an event now. Exit waits for everybody else.
    fn can_step(&self, thread: ThreadId) -> bool {
        self.machine.threads().get(thread).is_some()
            && self.machine.enabled(thread)
            && !self.is_leaving(thread)
            && !self.spins(thread)
    }

    fn spins(&self, thread: ThreadId) -> bool {
        let last = self.last_of.get(thread.index()).and_then(|list| list.last());
        last.is_some_and(|last| self.events[*last as usize].spins)
    }

    fn is_leaving(&self, thread: ThreadId) -> bool {
        match self.machine.next_op(thread) {
            Next::Terminator(t) => matches!(t.kind, TerminatorKind::Exit(_) | TerminatorKind::Abort),
            Next::Instr(_) => false,
        }
    }

    /// Makes one event. False if the search cannot go on from here.
    fn perform(&mut self, planned: Planned) -> bool {
        let is_kept = self.snapshots.last().is_some_and(|(at, _)| *at == self.events.len());
        if self.events.len().is_multiple_of(SNAPSHOT_EVERY) && !is_kept {
            self.snapshots.push((self.events.len(), self.machine.clone()));
        }
        let thread = planned.thread;
        let threads = self.machine.threads().len();
        self.inputs.begin(&planned.choices);
        let mut footprint = Footprint::default();
        let joined = self.joined_thread(thread);
        let mut changes = Changes::new(self.statics);
        let (ran, steps) =
            run_event(&mut self.machine, self.statics, &mut self.inputs, thread, &mut footprint, &mut changes);
        let effect = changes.effect;
        self.record(thread, footprint, steps, joined, threads, effect);
        self.stats.events += 1;
        self.absorb(ran, thread)
    }

    fn joined_thread(&self, thread: ThreadId) -> Option<ThreadId> {
        self.machine.join_target(thread)
    }

    /// Adds the event that was just made: its place in the order, and its races.
    fn record(
        &mut self,
        thread: ThreadId,
        footprint: Footprint,
        steps: u32,
        joined: Option<ThreadId>,
        threads: usize,
        effect: Effect,
    ) {
        let index = self.events.len() as u32;
        let mut found = Dependences::default();
        for access in &footprint.0 {
            self.history.dependences(*access, &mut found);
        }
        let previous = self.clock_of(thread);
        let mut clock = previous.clone();
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
        if let Some(node) = self.nodes.last_mut() {
            node.races = races;
        }
        let in_loop =
            self.machine.threads()[thread].status == Status::Running && self.statics.is_in_loop(&self.machine, thread);
        let fingerprint = if in_loop { self.machine.local_fingerprint(thread) } else { None };
        let spins = self.has_gone_round(thread, fingerprint, effect);
        self.events.push(Event { thread, number, footprint, choices, clock, steps, effect, fingerprint, spins });
    }

    /// Whether a thread is again in a state of its own that it was in before, after events that changed nothing that others
    /// can see. It would do the same again until somebody interferes; and whatever it can do then, it can also do without
    /// having gone round. So it waits: executions in which somebody interferes are found by reversing races with its reads.
    fn has_gone_round(&self, thread: ThreadId, now: Option<u64>, effect: Effect) -> bool {
        if now.is_none() || effect.is_lasting {
            return false;
        }
        let mut locks = effect.locks;
        // (The event itself is in the list already, as the last one.)
        let events = self.last_of.get(thread.index()).map_or(&[][..], Vec::as_slice);
        for index in events.iter().rev().skip(1).take(LONGEST_ROUND) {
            let event = &self.events[*index as usize];
            if event.fingerprint == now && locks == 0 {
                return true;
            }
            if event.effect.is_lasting {
                return false;
            }
            locks = locks.wrapping_add(event.effect.locks);
        }
        false
    }

    fn clock_of(&self, thread: ThreadId) -> Clock {
        match self.last_of.get(thread.index()).and_then(|list| list.last()) {
            Some(last) => self.events[*last as usize].clock.clone(),
            None => self.born.get(thread.index()).cloned().unwrap_or_default(),
        }
    }

    /// Candidates that did not happen before by another way than this very conflict.
    fn races_among(&self, found: &Dependences, thread: ThreadId, clock: &Clock) -> Vec<u32> {
        let is_race = |candidate: &&u32| {
            let event = &self.events[**candidate as usize];
            event.thread != thread
                && !event.is_before(clock)
                && !found.before.iter().any(|other| {
                    other != *candidate
                        && found.candidates.contains(other)
                        && event.is_before(&self.events[*other as usize].clock)
                })
        };
        let waits = found.waits.iter().filter(|candidate| {
            let event = &self.events[**candidate as usize];
            event.thread != thread && !event.is_before(clock)
        });
        let mut races: Vec<u32> = found.candidates.iter().filter(is_race).chain(waits).copied().collect();
        races.sort_unstable();
        races.dedup();
        races
    }

    /// Takes in how an event ended. False if the search cannot go on from here.
    fn absorb(&mut self, ran: Ran, thread: ThreadId) -> bool {
        if let Some(reason) = self.inputs.incomplete {
            self.note(&format!("the program depends on {reason}"));
        }
        match ran {
            Ran::Done => true,
            Ran::Exited => {
                self.end_execution();
                false
            }
            Ran::Endless => {
                self.note("a thread may run for ever without being seen by others");
                self.machine.stop_thread(thread);
                true
            }
            Ran::Violation(violation) => {
                if self.properties.covers(violation.kind) {
                    self.found(What::Violation(violation));
                    return false;
                }
                // Not asked for: this thread goes no further, the others do.
                let culprit = violation.thread;
                self.machine.stop_thread(culprit);
                true
            }
        }
    }

    // ---- at the end of an execution

    /// Nobody can step, or all who can are asleep.
    fn reach_end(&mut self, has_sleepers: bool) {
        let can_go_on = self.machine.threads().ids().any(|thread| self.can_step(thread));
        if can_go_on && has_sleepers {
            self.stats.redundant += 1;
            return self.plant_races();
        }
        let is_stuck = self.machine.threads().ids().all(|thread| !self.machine.enabled(thread));
        if self.properties.deadlock
            && is_stuck
            && let Ending::Deadlock(blocked) = self.machine.deadlock()
            && !blocked.is_empty()
        {
            return self.found(What::Deadlock(blocked));
        }
        self.end_execution();
    }

    fn end_execution(&mut self) {
        self.stats.executions += 1;
        if self.properties.deadlock
            && let Some(circle) = circle(&self.machine)
        {
            return self.found(What::Deadlock(circle));
        }
        self.plant_races();
    }

    fn found(&mut self, what: What) {
        let schedule = self.events.iter().map(|event| (event.thread, event.choices.clone())).collect();
        let threads = self.machine.threads().iter().map(|thread| thread.name.clone()).collect();
        self.finding = Some(Finding {
            what,
            schedule,
            threads,
            is_tainted: self.machine.is_tainted(),
            spurious_wakeups: self.spurious_wakeups,
        });
    }

    /// Plans the reversal of every race of the events that are new in this execution.
    fn plant_races(&mut self) {
        for index in self.first_new..self.events.len() {
            for race in std::mem::take(&mut self.nodes[index].races) {
                if self.properties.race && self.is_data_race(race as usize, index) {
                    return self.found_race(race as usize, index);
                }
                let last = &self.events[index];
                let footprint =
                    if last.steps > 1 { Footprint(vec![Access::Everything]) } else { last.footprint.clone() };
                let last = Planned { thread: last.thread, footprint, choices: last.choices.clone() };
                self.plant(race as usize, last);
            }
        }
        self.plant_waiting();
        self.first_new = self.events.len();
    }

    /// Threads that wait at the end might have been first.
    fn plant_waiting(&mut self) {
        for thread in self.machine.threads().ids().collect::<Vec<_>>() {
            let Some(address) = self.machine.wait(thread).and_then(waits_at) else { continue };
            let clock = self.clock_of(thread);
            let mut footprint = Footprint::default();
            add_accesses(&self.machine, thread, &mut footprint);
            let takers: BTreeSet<u32> = self.history.takers(address).collect();
            for taker in takers.into_iter().rev() {
                let event = &self.events[taker as usize];
                if event.thread == thread || event.is_before(&clock) {
                    continue;
                }
                let planned = Planned { thread, footprint: footprint.clone(), choices: Vec::new() };
                self.plant(taker as usize, planned);
            }
        }
    }

    /// Makes sure that an execution is explored in which `last` comes before the event at `first`.
    fn plant(&mut self, first: usize, last: Planned) {
        let event = &self.events[first];
        let mut sequence: Vec<Planned> = self.events[first + 1..]
            .iter()
            .filter(|later| !event.is_before(&later.clock))
            .map(|later| Planned {
                thread: later.thread,
                footprint: later.footprint.clone(),
                choices: later.choices.clone(),
            })
            .collect();
        sequence.push(last);
        let node = &mut self.nodes[first];
        if node.sleep.iter().any(|sleeping| is_weak_initial(sleeping, &sequence)) {
            return;
        }
        node.tree.insert(sequence);
    }

    fn is_data_race(&self, first: usize, second: usize) -> bool {
        let (first, second) = (&self.events[first].footprint, &self.events[second].footprint);
        first.0.iter().any(|a| second.0.iter().any(|b| a.races(*b)))
    }

    /// The state in which both threads are about to make their access: everything that happened before either of them.
    fn found_race(&mut self, first: usize, second: usize) {
        let threads = (self.events[first].thread, self.events[second].thread);
        let mut clock = self.previous_clock(first);
        clock.join(&self.previous_clock(second));
        let events: Vec<Event> = self.events.iter().filter(|event| event.is_before(&clock)).cloned().collect();
        self.events = events;
        self.found(What::Race { first: threads.0, second: threads.1 });
    }

    /// What happened before the event at `index` begins.
    fn previous_clock(&self, index: usize) -> Clock {
        let event = &self.events[index];
        let list = &self.last_of[event.thread.index()];
        match event.number.checked_sub(2) {
            Some(previous) => self.events[list[previous as usize] as usize].clock.clone(),
            None => self.born.get(event.thread.index()).cloned().unwrap_or_default(),
        }
    }

    // ---- going back

    /// Goes back to the last place where something is left to explore, and explores it. False when nothing is.
    fn backtrack(&mut self) -> bool {
        while let Some(mut node) = self.nodes.pop() {
            let Some(event) = self.pop_event() else { return false };
            let repeated = next_choices(&event.choices).map(|choices| {
                let footprint = Footprint::default();
                (Planned { thread: event.thread, footprint, choices }, WakeupTree::default())
            });
            if repeated.is_none() {
                node.sleep.push(Planned { thread: event.thread, footprint: event.footprint, choices: Vec::new() });
                if node.tree.is_empty() {
                    continue;
                }
            }
            self.restore(self.events.len());
            let Some((planned, subtree)) = repeated.or_else(|| self.next_able(&mut node.tree)) else { continue };
            self.first_new = self.events.len();
            self.nodes.push(node);
            if self.perform(planned) {
                let sleep = self.child_sleep();
                self.descend(subtree, sleep);
            }
            return true;
        }
        false
    }

    /// The first branch whose thread can step; one that cannot was planned for a wait that lies further back.
    fn next_able(&self, tree: &mut WakeupTree) -> Option<(Planned, WakeupTree)> {
        while !tree.branches.is_empty() {
            let (planned, subtree) = tree.branches.remove(0);
            if self.can_step(planned.thread) {
                return Some((planned, subtree));
            }
        }
        None
    }

    /// Takes back the last event.
    fn pop_event(&mut self) -> Option<Event> {
        let event = self.events.pop()?;
        for access in event.footprint.0.iter().rev() {
            self.history.pop(*access);
        }
        if let Some(list) = self.last_of.get_mut(event.thread.index()) {
            list.pop();
        }
        Some(event)
    }

    /// The machine as it was before event `index`.
    fn restore(&mut self, index: usize) {
        while self.snapshots.last().is_some_and(|(at, _)| *at > index) {
            self.snapshots.pop();
        }
        let Some((from, machine)) = self.snapshots.last() else { return };
        let from = *from;
        self.machine = machine.clone();
        for at in from..index {
            let event = &self.events[at];
            let mut footprint = Footprint::default();
            self.inputs.begin(&event.choices);
            let thread = event.thread;
            let (ran, _) =
                run_event(&mut self.machine, self.statics, &mut self.inputs, thread, &mut footprint, &mut ());
            match ran {
                Ran::Violation(violation) => self.machine.stop_thread(violation.thread),
                Ran::Endless => self.machine.stop_thread(thread),
                Ran::Done | Ran::Exited => {}
            }
        }
        self.born.truncate(self.machine.threads().len());
    }
}

/// The next values to try: like counting, the last one fastest.
fn next_choices(choices: &[Choice]) -> Option<Vec<Choice>> {
    let last = choices.iter().rposition(|choice| choice.index + 1 < choice.count())?;
    let mut next = choices[..=last].to_vec();
    next[last].index += 1;
    Some(next)
}

/// The synchronisation object that a thread waits at.
fn waits_at(wait: Wait) -> Option<u64> {
    match wait {
        Wait::Lock { address, .. }
        | Wait::ReadLock { address, .. }
        | Wait::WriteLock { address, .. }
        | Wait::Signal { address }
        | Wait::Semaphore { address }
        | Wait::Barrier { address }
        | Wait::Once { address } => Some(address),
        Wait::Ended | Wait::Stopped | Wait::Section(_) | Wait::Join(_) => None,
    }
}
