//! Every state that can be reached, once.
//!
//! Executions that lead to the same state have the same future. Lock-free programs have millions of executions and few
//! states: threads that retry forget what went before. So this search remembers states (by their
//! [fingerprints](Machine::fingerprint)) instead of reducing orders, and needs to recognise no waiting: a loop that
//! changes nothing comes back to a state that is known. Addresses of objects that are gone and forgotten are used again
//! ([`Machine::recycle`]), so that calls and allocations in loops come back to known states, too.
//!
//! Between states, steps that no other thread can notice are made at once, as in the other searches. A race is a state
//! from which two threads can make events that race; threads that are stuck are stuck in a state. What was found is
//! made once more without recycling before it is believed.

use crate::event::{Choice, Footprint};
use crate::search::optimal::replay_event;
use crate::task::{Explored, Finding, Incomplete, Stats, Unordered, Wakeups, What};
use crate::visible_step::{Changes, Inputs, Ran, Statics, continue_without, is_leaving, next_choices, run_event};
use leno_engine::witness::stuck_for_ever;
use leno_engine::{Context, Properties, Task};
use leno_ir::analysis::facts::Facts;
use leno_ir::analysis::reuse::computes_with_addresses;
use leno_ir::interp::{Blocked, Ending, Image, MAIN, Machine, Registers, ThreadId, Violation, ViolationKind};
use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Searches all states of a program for a violation, with waits that end in this way.
pub(crate) fn search_states(
    facts: &Facts<'_>,
    image: &Image<'_>,
    statics: &Statics,
    task: &Task,
    context: &Context,
    wakeups: Wakeups,
) -> Explored {
    let mut options = wakeups.options();
    options.happens_before = task.properties.race;
    if let Some(memory) = task.bounds.memory {
        options.memory_limit = options.memory_limit.min(memory);
    }
    let fresh = Machine::new(image, &options);
    let mut machine = fresh.clone();
    if !computes_with_addresses(facts) {
        machine.start_recycling();
    }
    let mut search = StateSearch {
        statics,
        properties: task.properties,
        context,
        wakeups,
        // (What registers point to can be reached, whether they are read again or not.)
        registers: if task.properties.memtrack { Registers::All } else { Registers::Live },
        most: task.bounds.executions,
        inputs: Inputs::default(),
        seen: HashSet::default(),
        origins: vec![Origin { from: 0, thread: MAIN }],
        choices: BTreeMap::new(),
        stack: vec![(machine, 0)],
        stats: Stats::default(),
        incomplete: None,
        finding: None,
    };
    search.run();
    if let Some(finding) = &search.finding
        && !search.is_confirmed(fresh, finding)
    {
        search.finding = None;
        search.incomplete = Some(Incomplete::DependsOn("where in memory its objects are"));
    }
    let StateSearch { finding, incomplete, mut stats, seen, .. } = search;
    stats.states = seen.len() as u64;
    Explored { finding, incomplete, stats, needs_signals: None }
}

/// Fingerprints are hashes already.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u128(&mut self, fingerprint: u128) {
        self.0 = fingerprint as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// How a state was reached first.
struct Origin {
    /// The number of the state before.
    from: usize,
    thread: ThreadId,
}

struct StateSearch<'a, 'p> {
    statics: &'a Statics,
    properties: Properties,
    context: &'a Context,
    wakeups: Wakeups,
    registers: Registers,
    /// How many states may be reached.
    most: Option<u64>,
    inputs: Inputs,
    seen: HashSet<u128, BuildHasherDefault<AsIs>>,
    /// By the number of a state. The first one is the beginning.
    origins: Vec<Origin>,
    /// By the number of a state: the values that the event before it was given, if any.
    choices: BTreeMap<usize, Vec<Choice>>,
    /// States to go on from, with their numbers.
    stack: Vec<(Machine<'p>, usize)>,
    stats: Stats,
    incomplete: Option<Incomplete>,
    finding: Option<Finding>,
}

/// An event, and the state after it.
struct Made<'p> {
    thread: ThreadId,
    machine: Machine<'p>,
    ran: Ran<'p>,
    footprint: Footprint,
    race: Option<Box<Unordered>>,
    /// The values that it was given.
    asked: Vec<Choice>,
}

impl<'p> StateSearch<'_, 'p> {
    fn run(&mut self) {
        while let Some((machine, number)) = self.stack.pop() {
            if let Some(stop) = self.context.limits.stop() {
                self.incomplete = Some(Incomplete::Stopped(stop));
                return;
            }
            if let Some(most) = self.most.filter(|most| self.origins.len() as u64 > *most) {
                self.incomplete = Some(Incomplete::States(most));
                return;
            }
            if number.is_multiple_of(1024) {
                self.context.progress.count_executions(self.origins.len() as u64);
            }
            self.expand(&machine, number);
            if self.finding.is_some() {
                return;
            }
        }
    }

    /// Makes every event that can be made from a state.
    fn expand(&mut self, machine: &Machine<'p>, number: usize) {
        if self.properties.deadlock
            && let Some(blocked) = deadlock(machine)
        {
            return self.found(machine, What::Deadlock(blocked), number, None);
        }
        let mut footprints = Vec::new();
        for thread in machine.threads().ids() {
            if machine.enabled(thread) && (self.has_end_properties() || !is_leaving(machine, thread)) {
                self.make_events(machine, number, thread, &mut footprints);
                if self.finding.is_some() {
                    return;
                }
            }
        }
        if self.properties.race {
            self.look_for_races(machine, number, &footprints);
        }
    }

    /// Whether it matters when the program ends.
    fn has_end_properties(&self) -> bool {
        self.properties.leak || self.properties.memtrack
    }

    /// One event of a thread, with every value that it may be given.
    fn make_events(
        &mut self,
        machine: &Machine<'p>,
        number: usize,
        thread: ThreadId,
        footprints: &mut Vec<(ThreadId, Footprint)>,
    ) {
        let mut script = Some(Vec::new());
        while let Some(choices) = script {
            let limits = &self.context.limits;
            let interrupted = || limits.stop().is_some();
            let mut made = make_event(machine, self.statics, &mut self.inputs, thread, &choices, &interrupted);
            self.stats.events += 1;
            script = next_choices(&made.asked, 0);
            if let Some(race) = made.race.take() {
                return self.found(machine, What::Unordered(race), number, Some((thread, made.asked)));
            }
            footprints.push((thread, std::mem::take(&mut made.footprint)));
            self.reach(made, number);
            if self.finding.is_some() {
                return;
            }
        }
    }

    /// Takes in how an event ended.
    fn reach(&mut self, made: Made<'p>, from: usize) {
        let Made { thread, mut machine, ran, asked, .. } = made;
        if let Some(reason) = self.inputs.incomplete {
            self.note(Incomplete::DependsOn(reason));
        }
        match ran {
            Ran::Done | Ran::Nothing => {}
            Ran::Exited(before) => {
                if let Some(leak) = self.leak(&machine, thread) {
                    return self.found(&machine, What::Violation(leak), from, Some((thread, asked)));
                }
                // What can go wrong before an exit can go wrong without it: inside of a section it is not seen coming.
                if before.is_none() {
                    return;
                }
                continue_without(&mut machine, thread, before);
            }
            Ran::Endless => {
                self.note(Incomplete::Endless);
                machine.stop_thread(thread);
            }
            Ran::OutOfMemory => {
                self.note(Incomplete::OutOfMemory);
                machine.stop_thread(thread);
            }
            Ran::Stopped => {
                let stop = self.context.limits.stop();
                return self.note(stop.map_or(Incomplete::OutOfMemory, Incomplete::Stopped));
            }
            Ran::Violation(violation, before) => {
                if self.properties.covers(violation.kind) {
                    return self.found(&machine, What::Violation(violation), from, Some((thread, asked)));
                }
                // Not asked for: this thread goes no further, the others do.
                continue_without(&mut machine, violation.thread, before);
            }
        }
        self.add(machine, from, thread, asked);
    }

    /// Not every state is reached, for this reason; the first one is kept.
    fn note(&mut self, reason: Incomplete) {
        self.incomplete.get_or_insert(reason);
    }

    /// A state, which is gone on from if it is new.
    fn add(&mut self, mut machine: Machine<'p>, from: usize, thread: ThreadId, asked: Vec<Choice>) {
        machine.recycle();
        if !self.seen.insert(machine.fingerprint(self.registers)) {
            return;
        }
        let number = self.origins.len();
        self.origins.push(Origin { from, thread });
        if !asked.is_empty() {
            self.choices.insert(number, asked);
        }
        self.stack.push((machine, number));
        self.stats.longest = self.stats.longest.max(self.stack.len() as u64);
    }

    /// What has leaked when the program has ended, if that is asked for.
    fn leak(&self, machine: &Machine<'_>, thread: ThreadId) -> Option<Box<Violation>> {
        let leak = |is_asked: bool, kind| if is_asked { machine.leak(thread, kind) } else { None };
        let lost = leak(self.properties.memtrack, ViolationKind::LostMemory);
        lost.or_else(|| leak(self.properties.leak, ViolationKind::Leak))
    }

    fn look_for_races(&mut self, machine: &Machine<'p>, number: usize, footprints: &[(ThreadId, Footprint)]) {
        for (index, (first, one)) in footprints.iter().enumerate() {
            for (second, other) in &footprints[index + 1..] {
                if first != second && races(one, other) {
                    return self.found(machine, What::Race { first: *first, second: *second }, number, None);
                }
            }
        }
    }

    /// A violation in the state of this number, or in an event from there.
    fn found(&mut self, machine: &Machine<'p>, what: What, number: usize, last: Option<(ThreadId, Vec<Choice>)>) {
        let mut schedule: Vec<(ThreadId, Vec<Choice>)> = last.into_iter().collect();
        let mut number = number;
        while number > 0 {
            let origin = &self.origins[number];
            schedule.push((origin.thread, self.choices.get(&number).cloned().unwrap_or_default()));
            number = origin.from;
        }
        schedule.reverse();
        let threads = machine.threads().iter().map(|thread| thread.name.clone()).collect();
        let is_tainted = machine.is_tainted();
        self.finding = Some(Finding { what, schedule, threads, is_tainted, wakeups: self.wakeups });
    }

    /// Whether what was found is seen without recycling, too.
    fn is_confirmed(&self, mut machine: Machine<'p>, finding: &Finding) -> bool {
        let is_event = matches!(finding.what, What::Violation(_) | What::Unordered(_));
        let (before, last) = finding.schedule.split_at(finding.schedule.len() - usize::from(is_event));
        for (thread, choices) in before {
            if !machine.enabled(*thread) {
                return false;
            }
            replay_event(&mut machine, self.statics, &mut Inputs::default(), *thread, choices);
        }
        let make = |thread: &ThreadId, choices: &[Choice]| {
            make_event(&machine, self.statics, &mut Inputs::default(), *thread, choices, &|| false)
        };
        match (&finding.what, last) {
            (What::Violation(expected), [(thread, choices)]) => {
                let made = make(thread, choices);
                match made.ran {
                    Ran::Violation(found, _) => found.kind == expected.kind && found.span == expected.span,
                    Ran::Exited(_) => self.leak(&made.machine, *thread).is_some_and(|leak| leak.kind == expected.kind),
                    _ => false,
                }
            }
            (What::Unordered(expected), [(thread, choices)]) => {
                make(thread, choices).race.is_some_and(|found| found.places == expected.places)
            }
            (What::Race { first, second }, _) => {
                let footprints = |thread| {
                    let scripts = std::iter::successors(Some(make(thread, &[])), |made| {
                        next_choices(&made.asked, 0).map(|choices| make(thread, &choices))
                    });
                    scripts.map(|made| made.footprint).collect::<Vec<_>>()
                };
                let (first, second) = (footprints(first), footprints(second));
                first.iter().any(|one| second.iter().any(|other| races(one, other)))
            }
            (What::Deadlock(expected), _) => {
                let threads = |blocked: &[Blocked]| blocked.iter().map(|blocked| blocked.thread).collect::<Vec<_>>();
                deadlock(&machine).is_some_and(|found| threads(&found) == threads(expected))
            }
            _ => false,
        }
    }
}

fn make_event<'p>(
    machine: &Machine<'p>,
    statics: &Statics,
    inputs: &mut Inputs,
    thread: ThreadId,
    choices: &[Choice],
    interrupted: &dyn Fn() -> bool,
) -> Made<'p> {
    let mut machine = machine.clone();
    let mut footprint = Footprint::default();
    inputs.begin(choices);
    let mut changes = Changes::new(statics, interrupted);
    let (ran, _) = run_event(&mut machine, statics, inputs, thread, &mut footprint, &mut changes);
    let race = changes.race.take();
    Made { thread, machine, ran, footprint, race, asked: inputs.asked.clone() }
}

/// Threads that will never go on.
fn deadlock(machine: &Machine<'_>) -> Option<Vec<Blocked>> {
    let is_stuck = machine.threads().ids().all(|thread| !machine.enabled(thread));
    if is_stuck
        && !machine.is_over()
        && let Ending::Deadlock(blocked) = machine.deadlock()
        && !blocked.is_empty()
    {
        return Some(blocked);
    }
    stuck_for_ever(machine).into_iter().next()
}

fn races(one: &Footprint, other: &Footprint) -> bool {
    one.0.iter().any(|a| other.0.iter().any(|b| a.races(*b)))
}
