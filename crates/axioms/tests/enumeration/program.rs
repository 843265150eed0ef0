//! Small programs, and all states that they can come to.

use leno_testing::Random;
use std::collections::BTreeSet;

/// A condition: always; a free variable with a sign; what a read of the same thread has returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guard {
    Always,
    Free(usize, bool),
    Saw(usize, u8),
}

/// A location: one of two, by a free variable.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub chosen_by: usize,
    pub locations: [usize; 2],
}

#[derive(Clone, Copy, Debug)]
pub enum Access {
    /// Into the read with this number.
    Read(usize, Place),
    Write(Guard, Place, u8),
}

#[derive(Clone, Debug)]
pub enum Op {
    /// Several accesses in one moment.
    Memory(Vec<Access>),
    /// Waits until a location has a value.
    Await(usize, u8),
    Lock(usize),
    Unlock(usize),
    /// An attempt to take a lock that fails: it is made only while another thread has it.
    Busy(usize),
    Sleep(usize),
    /// The end of a sleep.
    Wake,
    Signal(usize),
    Broadcast(usize),
    Spawn(usize),
    /// Of one of two threads, by a free variable.
    Join(usize, [usize; 2]),
}

#[derive(Clone, Debug)]
pub struct Step {
    pub guard: Guard,
    pub op: Op,
}

/// What a program may be made of.
#[derive(Clone, Copy, Default)]
pub struct Kinds {
    pub memory: bool,
    pub awaits: bool,
    pub locks: bool,
    pub signals: bool,
    pub threads: bool,
    /// Most orders are fixed, and programs are larger.
    pub orders: bool,
    /// Mostly locks within locks.
    pub nests: bool,
}

#[derive(Debug)]
pub struct Program {
    pub free: usize,
    pub threads: Vec<Vec<Step>>,
    pub reads: usize,
    /// Pairs of a thread and a step: the second is made only after the first has been passed.
    pub pins: Vec<[(usize, usize); 2]>,
}

const LOCATIONS: usize = 2;
const LOCKS: usize = 2;
const CONDITIONS: usize = 2;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rest {
    Awake,
    Asleep(usize),
    Woken,
}

/// A state of an execution, with what happened on the way.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct State {
    free: u32,
    pub positions: Vec<usize>,
    memory: [u8; LOCATIONS],
    owners: [Option<usize>; LOCKS],
    rests: Vec<Rest>,
    started: Vec<bool>,
    joined: Vec<bool>,
    reads: Vec<Option<u8>>,
}

/// How far threads have come, and what they have read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Outcome {
    pub free: u32,
    pub positions: Vec<usize>,
    pub reads: Vec<Option<u8>>,
}

impl State {
    pub fn outcome(&self) -> Outcome {
        Outcome { free: self.free, positions: self.positions.clone(), reads: self.reads.clone() }
    }
}

impl Outcome {
    /// Another outcome that may or may not be possible.
    pub fn vary(&mut self, program: &Program, random: &mut Random) {
        let read: Vec<usize> = (0..self.reads.len()).filter(|&read| self.reads[read].is_some()).collect();
        if !read.is_empty() && random.chance(60) {
            self.reads[read[random.below(read.len())]] = Some(random.below(3) as u8);
            return;
        }
        // (Steps without reads only, so that it stays known what has been read.)
        let thread = random.below(program.threads.len());
        let reads =
            |step: &Step| matches!(&step.op, Op::Memory(all) if all.iter().any(|one| matches!(one, Access::Read(..))));
        let at = self.positions[thread];
        match random.chance(70) {
            true if program.threads[thread].get(at).is_some_and(|step| !reads(step)) => self.positions[thread] += 1,
            false if at > 0 && !reads(&program.threads[thread][at - 1]) => self.positions[thread] -= 1,
            _ => {}
        }
    }
}

/// Whether a thread can make its next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocks {
    /// It makes it, or passes over it because its guard does not hold.
    No {
        makes_step: bool,
    },
    /// It waits for something.
    Waits,
    /// It cannot, but does not wait either: it is not started, or this is an attempt that does not fail.
    Never,
    Ended,
}

fn free_holds(free: u32, variable: usize) -> bool {
    free >> variable & 1 == 1
}

impl Place {
    fn at(&self, free: u32) -> usize {
        self.locations[usize::from(!free_holds(free, self.chosen_by))]
    }
}

impl Program {
    pub fn steps(&self) -> impl Iterator<Item = (usize, usize, &Step)> {
        let of = |(thread, steps): (usize, &'_ Vec<Step>)| (thread, steps.len());
        let all: Vec<(usize, usize)> = self.threads.iter().enumerate().map(of).collect();
        all.into_iter()
            .flat_map(|(thread, count)| (0..count).map(move |index| (thread, index)))
            .map(|(thread, index)| (thread, index, &self.threads[thread][index]))
    }

    /// Whether a thread is started by another one.
    pub fn spawned(&self, thread: usize) -> Option<(usize, usize)> {
        let mut all = self.steps().filter(|(_, _, step)| matches!(step.op, Op::Spawn(of) if of == thread));
        all.next().map(|(thread, index, _)| (thread, index))
    }

    /// Whether a thread may be stuck at a step, or is at its end.
    pub fn may_wait(&self, thread: usize, step: usize) -> bool {
        let waits = |step: &Step| matches!(step.op, Op::Await(..) | Op::Lock(_) | Op::Wake | Op::Join(..));
        self.threads[thread].get(step).is_none_or(waits)
    }

    // --- making

    pub fn random(random: &mut Random, kinds: Kinds) -> Program {
        let free = 1 + random.below(2);
        let threads = 2 + random.below(if kinds.orders { 3 } else { 2 });
        let mut maker = Maker { random, kinds, free, reads: 0, threads: vec![Vec::new(); threads], own: Vec::new() };
        let mut left = if kinds.orders { 10 } else { 8 };
        for thread in 0..threads {
            maker.own.clear();
            let most = if threads == 2 { 4 } else { 3 };
            let wanted = 1 + maker.random.below(most);
            maker.thread(thread, wanted.min(left - (threads - 1 - thread)));
            left = left.saturating_sub(maker.threads[thread].len()).max(threads - 1 - thread);
        }
        let (reads, threads) = (maker.reads, maker.threads);
        let pins = if kinds.orders { pins(random, &threads) } else { Vec::new() };
        Program { free, threads, reads, pins }
    }

    // --- running

    /// All states that executions come to.
    pub fn reachable(&self) -> BTreeSet<State> {
        let mut seen = BTreeSet::new();
        let mut open: Vec<State> = (0..1u32 << self.free).map(|free| self.start(free)).collect();
        while let Some(state) = open.pop() {
            if seen.contains(&state) {
                continue;
            }
            for thread in 0..self.threads.len() {
                self.step(&state, thread, &mut open);
            }
            seen.insert(state);
        }
        seen
    }

    fn start(&self, free: u32) -> State {
        let threads = self.threads.len();
        State {
            free,
            positions: vec![0; threads],
            memory: [0; LOCATIONS],
            owners: [None; LOCKS],
            rests: vec![Rest::Awake; threads],
            started: (0..threads).map(|thread| self.spawned(thread).is_none()).collect(),
            joined: vec![false; threads],
            reads: vec![None; self.reads],
        }
    }

    fn holds(&self, state: &State, guard: Guard) -> bool {
        match guard {
            Guard::Always => true,
            Guard::Free(variable, sign) => free_holds(state.free, variable) == sign,
            Guard::Saw(read, value) => state.reads[read] == Some(value),
        }
    }

    pub fn blocked(&self, state: &State, thread: usize) -> Blocks {
        let Some(step) = self.threads[thread].get(state.positions[thread]) else { return Blocks::Ended };
        if !state.started[thread] {
            return Blocks::Never;
        }
        if !self.holds(state, step.guard) {
            return Blocks::No { makes_step: false };
        }
        let here = (thread, state.positions[thread]);
        let is_over = |&(of, step): &(usize, usize)| state.positions[of] > step;
        if !self.pins.iter().filter(|pin| pin[1] == here).all(|pin| is_over(&pin[0])) {
            return Blocks::Never;
        }
        let (can, waits) = match step.op {
            Op::Await(location, value) => (state.memory[location] == value, true),
            Op::Lock(lock) => (state.owners[lock].is_none(), true),
            Op::Busy(lock) => (state.owners[lock].is_some_and(|owner| owner != thread), false),
            Op::Wake => (state.rests[thread] == Rest::Woken, true),
            Op::Join(chosen_by, of) => {
                let of = of[usize::from(!free_holds(state.free, chosen_by))];
                (state.positions[of] == self.threads[of].len() && !state.joined[of], true)
            }
            _ => (true, false),
        };
        match (can, waits) {
            (true, _) => Blocks::No { makes_step: true },
            (false, true) => Blocks::Waits,
            (false, false) => Blocks::Never,
        }
    }

    fn step(&self, state: &State, thread: usize, next: &mut Vec<State>) {
        let Blocks::No { makes_step } = self.blocked(state, thread) else { return };
        let mut after = state.clone();
        after.positions[thread] += 1;
        if !makes_step {
            return next.push(after);
        }
        let asleep =
            |condition| (0..self.threads.len()).filter(move |&one| state.rests[one] == Rest::Asleep(condition));
        match &self.threads[thread][state.positions[thread]].op {
            Op::Memory(accesses) => {
                for access in accesses {
                    match access {
                        Access::Read(read, place) => after.reads[*read] = Some(after.memory[place.at(state.free)]),
                        Access::Write(guard, place, value) if self.holds(&after, *guard) => {
                            after.memory[place.at(state.free)] = *value;
                        }
                        Access::Write(..) => {}
                    }
                }
            }
            Op::Await(..) | Op::Busy(_) => {}
            Op::Lock(lock) => after.owners[*lock] = Some(thread),
            Op::Unlock(lock) if state.owners[*lock] == Some(thread) => after.owners[*lock] = None,
            Op::Unlock(_) => {}
            Op::Sleep(condition) => after.rests[thread] = Rest::Asleep(*condition),
            Op::Wake => after.rests[thread] = Rest::Awake,
            Op::Signal(condition) => {
                for woken in asleep(*condition) {
                    let mut after = after.clone();
                    after.rests[woken] = Rest::Woken;
                    next.push(after);
                }
                if asleep(*condition).next().is_some() {
                    return;
                }
            }
            Op::Broadcast(condition) => asleep(*condition).for_each(|woken| after.rests[woken] = Rest::Woken),
            Op::Spawn(of) => after.started[*of] = true,
            Op::Join(chosen_by, of) => after.joined[of[usize::from(!free_holds(state.free, *chosen_by))]] = true,
        }
        next.push(after);
    }

    /// All threads that were started wait or have ended, and one waits.
    pub fn is_deadlock(&self, state: &State) -> bool {
        let started = (0..self.threads.len()).filter(|&thread| state.started[thread]);
        let blocked: Vec<Blocks> = started.map(|thread| self.blocked(state, thread)).collect();
        blocked.contains(&Blocks::Waits) && blocked.iter().all(|one| matches!(one, Blocks::Waits | Blocks::Ended))
    }

    /// Some threads wait for locks that others of them have.
    pub fn is_circle(&self, state: &State) -> bool {
        (0..self.threads.len()).any(|first| {
            let mut thread = first;
            (0..self.threads.len()).any(|_| match self.waits_for_owner(state, thread) {
                Some(owner) => {
                    thread = owner;
                    owner == first
                }
                None => false,
            })
        })
    }

    fn waits_for_owner(&self, state: &State, thread: usize) -> Option<usize> {
        match self.threads[thread].get(state.positions[thread])?.op {
            Op::Lock(lock) if self.blocked(state, thread) == Blocks::Waits => state.owners[lock],
            _ => None,
        }
    }
}

/// A random interleaving of all steps but wake-ups, of which most neighbours keep their order.
fn pins(random: &mut Random, threads: &[Vec<Step>]) -> Vec<[(usize, usize); 2]> {
    let mut next = vec![0; threads.len()];
    let mut last = None;
    let mut pins = Vec::new();
    loop {
        let open: Vec<usize> = (0..threads.len()).filter(|&thread| next[thread] < threads[thread].len()).collect();
        if open.is_empty() {
            return pins;
        }
        let thread = open[random.below(open.len())];
        let step = (thread, next[thread]);
        next[thread] += 1;
        if matches!(threads[step.0][step.1].op, Op::Wake) {
            continue;
        }
        if let Some(last) = last.replace(step)
            && random.chance(75)
        {
            pins.push([last, step]);
        }
    }
}

/// Makes a program.
struct Maker<'r> {
    random: &'r mut Random,
    kinds: Kinds,
    free: usize,
    reads: usize,
    threads: Vec<Vec<Step>>,
    /// The reads of the thread that are certainly made.
    own: Vec<usize>,
}

impl Maker<'_> {
    fn thread(&mut self, thread: usize, wanted: usize) {
        // Locks that have been taken and perhaps not been given back.
        let mut held: Vec<usize> = Vec::new();
        while self.threads[thread].len() < wanted {
            let mut makers: Vec<fn(&mut Self, usize, &mut Vec<usize>)> = Vec::new();
            let kinds = self.kinds;
            makers.extend(kinds.memory.then_some(Self::memory as fn(&mut Self, usize, &mut Vec<usize>)));
            makers.extend(kinds.awaits.then_some(Self::awaits as fn(&mut Self, usize, &mut Vec<usize>)));
            makers.extend(kinds.locks.then_some(Self::locks as fn(&mut Self, usize, &mut Vec<usize>)));
            makers.extend(kinds.signals.then_some(Self::signals as fn(&mut Self, usize, &mut Vec<usize>)));
            makers.extend(kinds.threads.then_some(Self::threads as fn(&mut Self, usize, &mut Vec<usize>)));
            let make = makers[self.random.below(makers.len())];
            make(self, thread, &mut held);
        }
    }

    fn push(&mut self, thread: usize, guard: Guard, op: Op) {
        self.threads[thread].push(Step { guard, op });
    }

    fn guard(&mut self, percent: usize) -> Guard {
        if !self.random.chance(percent) {
            return Guard::Always;
        }
        match self.own.is_empty() || self.random.chance(40) {
            true => Guard::Free(self.random.below(self.free), self.random.chance(50)),
            false => Guard::Saw(self.own[self.random.below(self.own.len())], self.random.below(3) as u8),
        }
    }

    fn place(&mut self) -> Place {
        let location = self.random.below(LOCATIONS);
        let other = if self.random.chance(30) { self.random.below(LOCATIONS) } else { location };
        Place { chosen_by: self.random.below(self.free), locations: [location, other] }
    }

    fn memory(&mut self, thread: usize, _: &mut Vec<usize>) {
        let guard = self.guard(25);
        let mut accesses = Vec::new();
        for _ in 0..if self.random.chance(60) { 1 } else { 2 + self.random.below(2) } {
            if self.random.chance(50) {
                let place = self.place();
                accesses.push(Access::Read(self.reads, place));
                if guard == Guard::Always {
                    self.own.push(self.reads);
                }
                self.reads += 1;
            } else {
                let guard = self.guard(if accesses.is_empty() { 20 } else { 50 });
                let (place, value) = (self.place(), self.random.below(3) as u8);
                accesses.push(Access::Write(guard, place, value));
            }
        }
        self.push(thread, guard, Op::Memory(accesses));
    }

    fn awaits(&mut self, thread: usize, _: &mut Vec<usize>) {
        let (guard, location, value) = (self.guard(20), self.random.below(LOCATIONS), self.random.below(3) as u8);
        self.push(thread, guard, Op::Await(location, value));
    }

    /// A lock that the thread certainly does not have is taken, one that it may have is given back, or an attempt
    /// fails.
    fn locks(&mut self, thread: usize, held: &mut Vec<usize>) {
        let lock = self.random.below(LOCKS);
        if !self.kinds.nests && self.random.chance(10) {
            let guard = self.guard(20);
            return self.push(thread, guard, Op::Busy(lock));
        }
        if !held.contains(&lock) {
            let guard = self.guard(if self.kinds.nests { 10 } else { 30 });
            held.push(lock);
            return self.push(thread, guard, Op::Lock(lock));
        }
        if self.kinds.nests && self.random.chance(70) {
            return;
        }
        let guard = self.guard(40);
        if guard == Guard::Always {
            held.retain(|other| *other != lock);
        }
        self.push(thread, guard, Op::Unlock(lock));
    }

    fn signals(&mut self, thread: usize, _: &mut Vec<usize>) {
        let condition = if self.random.chance(80) { 0 } else { self.random.below(CONDITIONS) };
        let guard = self.guard(25);
        match self.random.below(5) {
            0..2 => {
                self.push(thread, guard, Op::Sleep(condition));
                self.push(thread, guard, Op::Wake);
            }
            2..4 => self.push(thread, guard, Op::Signal(condition)),
            _ => self.push(thread, guard, Op::Broadcast(condition)),
        }
    }

    /// Threads start those with larger numbers, and wait for any other.
    fn threads(&mut self, thread: usize, _: &mut Vec<usize>) {
        let count = self.threads.len();
        let other = (thread + 1 + self.random.below(count - 1)) % count;
        let is_spawned = self.threads.iter().flatten().any(|step| matches!(step.op, Op::Spawn(of) if of == other));
        if other > thread && !is_spawned && self.random.chance(60) {
            let guard = self.guard(20);
            return self.push(thread, guard, Op::Spawn(other));
        }
        let second = match self.random.chance(30) {
            true => (thread + 1 + self.random.below(count - 1)) % count,
            false => other,
        };
        let (guard, chosen_by) = (self.guard(20), self.random.below(self.free));
        self.push(thread, guard, Op::Join(chosen_by, [other, second]));
    }
}
