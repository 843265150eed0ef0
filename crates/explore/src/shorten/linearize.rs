//! The same execution, with fewer switches: another order of independent events.
//!
//! Events are ordered by what they touch. Those that did not happen before the violation are left out. Of the orders of
//! the rest that respect the dependences we want one with the fewest blocks. In such an order a thread may always run
//! as far as the dependences let it (an event that is taken from a later block to an earlier one of its thread makes no
//! new block), so the only question is who comes next. We keep the furthest cuts that so many blocks can reach, for one
//! more block at a time: all of them if there are few, which is then the best there is.

use super::execution::{Course, Happened, Schedule};
use crate::event::{Access, Clock, Footprint};
use crate::history::{Dependences, History};
use leno_ir::index::Idx;
use leno_ir::interp::ThreadId;
use std::collections::BTreeSet;

/// The events of an execution by thread, each with what happened before it.
#[derive(Default)]
struct Order {
    threads: Vec<Vec<Clock>>,
    names: Vec<String>,
    /// What happened before each thread was created.
    born: Vec<Clock>,
    /// The threads in which it goes wrong.
    culprits: Vec<ThreadId>,
}

/// How many cuts are kept for each number of blocks.
const WIDTH: usize = 64;

/// How far each thread has come.
type Cut = Vec<u32>;

struct State {
    cut: Cut,
    last: usize,
    /// The state before this block, in the level before.
    parent: usize,
}

impl Course<'_, '_> {
    /// The same execution in another order, if that has fewer blocks.
    pub fn linearize(&self, schedule: &Schedule) -> Option<Schedule> {
        let order = self.order(schedule)?;
        let candidates = [order.needed(), order.all()];
        let shorter = candidates.iter().filter_map(|end| {
            let schedule = order.fewest_blocks(end, |effort| {
                self.spend(effort);
                self.is_exhausted()
            })?;
            self.run(&schedule)
        });
        shorter.take(1).next().filter(|shorter| shorter.blocks.len() <= schedule.blocks.len())
    }

    /// Runs the schedule and computes what depends on what.
    fn order(&self, schedule: &Schedule) -> Option<Order> {
        let (mut execution, mut happened) = self.start(&mut ());
        let mut order = Order { born: vec![Clock::default()], threads: vec![Vec::new()], ..Order::default() };
        let mut history = History::default();
        let mut clocks: Vec<Clock> = Vec::new();
        for name in schedule.blocks.iter().flat_map(|block| std::iter::repeat_n(&block.thread, block.events)) {
            let thread = Self::thread(&execution, name).filter(|_| matches!(happened, Happened::GoesOn))?;
            let mut clock = order.clock_of(thread);
            if let Some(joined) = execution.machine.join_target(thread) {
                clock.join(&order.clock_of(joined));
            }
            let mut footprint = Footprint::default();
            happened = self.make_event(&mut execution, thread, &mut footprint, &mut ());
            // The order in which threads are created changes their numbers, but not their names.
            footprint.0.retain(|access| *access != Access::Spawn);
            let mut found = Dependences::default();
            footprint.0.iter().for_each(|access| history.dependences(*access, &mut found));
            found.before.iter().for_each(|before| clock.join(&clocks[*before as usize]));
            footprint.0.iter().for_each(|access| history.push(clocks.len() as u32, *access));
            clock.set(thread, order.threads[thread.index()].len() as u32 + 1);
            order.born.resize(execution.machine.threads().len(), clock.clone());
            order.threads.resize(execution.machine.threads().len(), Vec::new());
            order.threads[thread.index()].push(clock.clone());
            clocks.push(clock);
            self.spend(found.before.len() as u64);
        }
        let Happened::Met(what) = happened else { return None };
        order.names = execution.machine.threads().iter().map(|thread| thread.name.clone()).collect();
        order.culprits = what.threads();
        Some(order)
    }
}

impl Order {
    fn clock_of(&self, thread: ThreadId) -> Clock {
        self.threads[thread.index()].last().unwrap_or(&self.born[thread.index()]).clone()
    }

    /// Everything that happened before the violation.
    fn needed(&self) -> Cut {
        let mut clock = Clock::default();
        self.culprits.iter().for_each(|thread| clock.join(&self.clock_of(*thread)));
        (0..self.threads.len()).map(|thread| clock.get(ThreadId::new(thread))).collect()
    }

    fn all(&self) -> Cut {
        self.threads.iter().map(|events| events.len() as u32).collect()
    }

    /// Lets a thread run from a cut as far as it can. False if it cannot.
    fn advance(&self, cut: &mut Cut, thread: usize, end: &Cut) -> bool {
        let start = cut[thread];
        while cut[thread] < end[thread] {
            let clock = &self.threads[thread][cut[thread] as usize];
            let born = &self.born[thread];
            let is_due = |other: usize| {
                other == thread || {
                    let other_id = ThreadId::new(other);
                    clock.get(other_id).max(born.get(other_id)) <= cut[other]
                }
            };
            if !(0..cut.len()).all(is_due) {
                break;
            }
            cut[thread] += 1;
        }
        cut[thread] > start
    }

    /// The order up to `end` with the fewest blocks; `spend` says when to stop looking for it.
    fn fewest_blocks(&self, end: &Cut, spend: impl Fn(u64) -> bool) -> Option<Schedule> {
        let start = State { cut: vec![0; end.len()], last: usize::MAX, parent: 0 };
        let mut levels = vec![vec![start]];
        let mut seen = BTreeSet::new();
        loop {
            let level = levels.last()?;
            if let Some(found) = level.iter().position(|state| state.cut == *end) {
                return Some(self.read_off(&levels, found));
            }
            let mut next = Vec::new();
            for (parent, state) in level.iter().enumerate() {
                for thread in (0..end.len()).filter(|thread| *thread != state.last) {
                    let mut cut = state.cut.clone();
                    if self.advance(&mut cut, thread, end) && seen.insert(cut.clone()) {
                        next.push(State { cut, last: thread, parent });
                    }
                }
                if spend((end.len() * end.len()) as u64) {
                    return None;
                }
            }
            next.sort_by_key(|state| std::cmp::Reverse(state.cut.iter().map(|count| u64::from(*count)).sum::<u64>()));
            next.truncate(WIDTH);
            levels.push(next);
        }
    }

    fn read_off(&self, levels: &[Vec<State>], found: usize) -> Schedule {
        let mut blocks = Vec::new();
        let mut index = found;
        for depth in (1..levels.len()).rev() {
            let state = &levels[depth][index];
            let before = &levels[depth - 1][state.parent];
            blocks.push((state.last, state.cut[state.last] - before.cut[state.last]));
            index = state.parent;
        }
        let mut schedule = Schedule::default();
        blocks.iter().rev().for_each(|(thread, events)| schedule.push(&self.names[*thread], *events as usize));
        schedule
    }
}
