//! A search that knows nothing but the interpreter: every step that can be made in every state that can be reached.
//!
//! The only liberty it takes is that steps that no other thread can notice are made at once. States are remembered by a
//! hash of all of them, so each is followed once. A thread that violates a property stops there, and the others go on:
//! this is as if it had not been scheduled any more (inside of an atomic section no other thread could go on, so there the
//! path ends).

use leno_ir::index::Idx;
use leno_ir::interp::{
    Ending, Environment, Footprint, Image, Isolated, Machine, Next, Source, Status, StepResult, ThreadId, Wait,
};
use leno_ir::program::{Op, Program, Span};
use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Something that can go wrong, and where.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fault {
    Violation(String, At),
    Race(At, At),
    /// Nobody can go on: where everybody waits.
    Stuck(Vec<At>),
}

/// A thread, and the line and column where it is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct At(pub String, pub u32, pub u32);

impl At {
    pub fn new(thread: &str, span: Span) -> At {
        At(thread.to_string(), span.line, span.column)
    }
}

impl Fault {
    pub fn race(first: At, second: At) -> Fault {
        if first <= second { Fault::Race(first, second) } else { Fault::Race(second, first) }
    }

    pub fn stuck(mut threads: Vec<At>) -> Fault {
        threads.sort();
        Fault::Stuck(threads)
    }
}

/// All that can go wrong.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Truth {
    pub faults: BTreeSet<Fault>,
    /// Threads that wait for each other's locks, while others may go on.
    pub circles: BTreeSet<Fault>,
    pub states: usize,
}

/// Gives one step the values that are to be tried, and remembers how many it asked for, and how wide they are.
#[derive(Default)]
struct Values {
    script: Vec<u128>,
    widths: Vec<u16>,
    world: Isolated,
}

impl Values {
    /// The next values to try, the last one fastest.
    fn next(&self) -> Option<Vec<u128>> {
        let mut next = self.script.clone();
        next.resize(self.widths.len(), 0);
        while let Some(last) = next.pop() {
            if last + 1 < 1 << self.widths[next.len()].min(8) {
                next.push(last + 1);
                return Some(next);
            }
        }
        None
    }
}

impl Environment for Values {
    fn outside(&mut self) -> &mut dyn Environment {
        &mut self.world
    }

    fn nondet(&mut self, _: ThreadId, width: u16, _: Source) -> u128 {
        self.widths.push(width);
        self.script.get(self.widths.len() - 1).copied().unwrap_or(0)
    }
}

/// All that can go wrong in a program; None when it has more states than that.
pub fn search(program: &Program, spurious_wakeups: bool, most: usize) -> Option<Truth> {
    let image = Image::new(program);
    let mut search = Search { seen: HashSet::new(), stack: Vec::new(), truth: Truth::default() };
    let start = Machine::new(&image, &leno_engine::machine_options(spurious_wakeups));
    search.settle(start, ThreadId::new(0));
    while let Some(machine) = search.stack.pop() {
        if search.seen.len() > most {
            return None;
        }
        search.follow(&machine);
    }
    search.truth.states = search.seen.len();
    Some(search.truth)
}

struct Search<'p> {
    seen: HashSet<u64>,
    stack: Vec<Machine<'p>>,
    truth: Truth,
}

impl<'p> Search<'p> {
    /// All steps from a state in which every thread stands before a step that others can see.
    fn follow(&mut self, machine: &Machine<'p>) {
        let enabled = machine.enabled_threads();
        self.look_for_deadlocks(machine, &enabled);
        self.look_for_races(machine, &enabled);
        for thread in enabled {
            for next in self.steps(machine, thread) {
                self.settle(next, thread);
            }
        }
    }

    /// Races with steps that were made.
    fn note_unordered(&mut self, machine: &Machine<'p>, thread: ThreadId) {
        if let Some(past) = machine.unordered(thread) {
            let first = At::new(machine.thread_name(past.thread), machine.image().span(past.pc));
            self.truth.faults.insert(Fault::race(first, place(machine, thread)));
        }
    }

    /// The states after one step of a thread, with every value that it may be given.
    fn steps(&mut self, machine: &Machine<'p>, thread: ThreadId) -> Vec<Machine<'p>> {
        let mut after = Vec::new();
        let mut script = Some(Vec::new());
        while let Some(values) = script {
            let mut next = machine.clone();
            let mut values = Values { script: values, widths: Vec::new(), world: Isolated::default() };
            match next.step(thread, &mut values) {
                StepResult::Done => after.push(next),
                StepResult::Violation(violation) => {
                    let at = At::new(&violation.thread_name, violation.span);
                    self.truth.faults.insert(Fault::Violation(format!("{:?}", violation.kind), at));
                    if !machine.in_section(thread) {
                        next.stop_thread(thread);
                        after.push(next);
                    }
                }
                StepResult::Blocked | StepResult::Exited(_) | StepResult::Aborted => {}
            }
            script = values.next();
        }
        after
    }

    /// Makes the steps that nobody can notice: of the thread that just stepped, and of threads that are new.
    fn settle(&mut self, machine: Machine<'p>, thread: ThreadId) {
        let newest = ThreadId::new(machine.threads().len() - 1);
        let mut unsettled = vec![machine];
        while let Some(machine) = unsettled.pop() {
            let is_unsettled = |thread: &ThreadId| machine.enabled(*thread) && !machine.is_visible(*thread);
            match [thread, newest].into_iter().find(is_unsettled) {
                Some(thread) => unsettled.extend(self.steps(&machine, thread)),
                None => self.push(machine),
            }
        }
    }

    fn push(&mut self, machine: Machine<'p>) {
        if self.seen.insert(hash(&machine)) {
            self.stack.push(machine);
        }
    }

    fn look_for_deadlocks(&mut self, machine: &Machine<'_>, enabled: &[ThreadId]) {
        if enabled.is_empty()
            && !machine.is_over()
            && let Ending::Deadlock(blocked) = machine.deadlock()
            && !blocked.is_empty()
        {
            let places = blocked.iter().map(|blocked| place(machine, blocked.thread));
            self.truth.faults.insert(Fault::stuck(places.collect()));
        }
        for start in machine.threads().ids() {
            for circle in circles(machine, start) {
                let places = circle.into_iter().map(|thread| place(machine, thread));
                self.truth.circles.insert(Fault::stuck(places.collect()));
            }
        }
    }

    fn look_for_races(&mut self, machine: &Machine<'p>, enabled: &[ThreadId]) {
        for thread in enabled {
            self.note_unordered(machine, *thread);
        }
        let accesses: Vec<Vec<Footprint>> = enabled.iter().map(|thread| accesses(machine, *thread)).collect();
        for (index, first) in enabled.iter().enumerate() {
            for (offset, second) in enabled[index + 1..].iter().enumerate() {
                let races = |a: &Footprint, b: &Footprint| a.conflicts(*b) && !(a.atomic && b.atomic);
                let others = &accesses[index + 1 + offset];
                if accesses[index].iter().any(|a| others.iter().any(|b| races(a, b))) {
                    self.truth.faults.insert(Fault::race(place(machine, *first), place(machine, *second)));
                }
            }
        }
    }
}

fn hash(machine: &Machine<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    machine.hash(&mut hasher);
    machine.order_fingerprint().hash(&mut hasher);
    hasher.finish()
}

fn place(machine: &Machine<'_>, thread: ThreadId) -> At {
    At::new(machine.thread_name(thread), machine.image().span(machine.pc(thread)))
}

/// What the next step of a thread accesses, if that is data; of a section, what all of it accesses.
fn accesses(machine: &Machine<'_>, thread: ThreadId) -> Vec<Footprint> {
    let begins = matches!(machine.next_op(thread), Next::Instr(instr) if matches!(instr.op, Op::AtomicBegin));
    if !begins && !machine.in_section(thread) {
        return data(machine, thread).into_iter().collect();
    }
    let mut accesses = Vec::new();
    let mut inside = vec![machine.clone()];
    let mut seen = HashSet::new();
    while let Some(machine) = inside.pop() {
        if !seen.insert(hash(&machine)) {
            continue;
        }
        if let Some(access) = data(&machine, thread) {
            accesses.push(Footprint { atomic: true, ..access });
        }
        let mut script = Some(Vec::new());
        while let Some(values) = script {
            let mut next = machine.clone();
            let mut values = Values { script: values, widths: Vec::new(), world: Isolated::default() };
            if next.step(thread, &mut values) == StepResult::Done && next.in_section(thread) {
                inside.push(next);
            }
            script = values.next();
        }
    }
    accesses
}

fn data(machine: &Machine<'_>, thread: ThreadId) -> Option<Footprint> {
    if machine.threads()[thread].status != Status::Running {
        return None;
    }
    let Next::Instr(instr) = machine.next_op(thread) else { return None };
    let is_data = matches!(
        instr.op,
        Op::Load { .. } | Op::Store { .. } | Op::ReadModifyWrite { .. } | Op::CompareExchange { .. } | Op::Spawn { .. }
    );
    // An access that is an error by itself races with nobody.
    machine.footprint(thread).filter(|at| is_data && machine.is_accessible(at.address, at.len))
}

/// Threads that will never go on, because of `start`: each waits for what the next one holds, or for its end, back to
/// `start`; or `start` alone, for a lock that a thread holds that has ended. (A thread that waits for its own end is
/// none: the call comes back with an error.)
fn circles(machine: &Machine<'_>, start: ThreadId) -> Vec<Vec<ThreadId>> {
    let joins = matches!(machine.wait(start), Some(Wait::Join(_)));
    let mut found = Vec::new();
    if !joins && machine.holders(start).iter().any(|holder| machine.has_ended(*holder)) {
        found.push(vec![start]);
    }
    let mut open = vec![vec![start]];
    while let Some(path) = open.pop() {
        for next in machine.holders(path[path.len() - 1]) {
            if next == start && !(joins && path.len() == 1) {
                found.push(path.clone());
            } else if !path.contains(&next) {
                open.push([&path[..], &[next]].concat());
            }
        }
    }
    found
}
