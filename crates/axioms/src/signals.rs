//! Condition variables: a sleeping thread wakes up because of a signal, and a signal wakes up one thread.
//!
//! For each signal and each sleep on the same condition variable, a literal *matches* them: the signal comes between
//! the beginning and the end of the sleep, and ends it. A wake-up needs a match; a signal has at most one, a broadcast
//! any number.
//!
//! For executions that are prefixes this is exact: a signal without a match may have woken a thread that does not go on
//! yet. In a deadlock there is no such thread. Then a thread can sleep on only if no broadcast came during its sleep,
//! and each signal that did has woken another thread ([`Signals::sleeps_on`]); and the matches have to be those of the
//! real execution ([`Signals::match_exactly`]): a sleep has one match, it ends with the first broadcast at the latest,
//! and a signal without a match found no thread asleep that had not been woken up before.

use crate::Event;
use crate::guards::{add_clause, all, at_most_one, implying_all};
use crate::order::{KnownOrder, happened_before, precedes};
use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_logic::solver::Solver;

/// A thread sleeps on a condition variable.
#[derive(Clone, Copy, Debug)]
pub struct Sleep {
    /// Where it falls asleep; none if it has slept before anything that is known.
    pub since: Option<Node>,
    pub occurs: Lit,
    /// Where it wakes up, and whether it does; none if it never does.
    pub wake: Option<Event>,
    /// It wakes up because of a signal, and not because time is up.
    pub needs_signal: Lit,
}

/// A signal or a broadcast to a condition variable.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    pub event: Event,
    pub is_broadcast: bool,
}

/// An index into the sleeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SleepId(pub usize);

/// The signals and sleeps of an execution, and which signal ends which sleep.
#[derive(Default)]
pub struct Signals {
    sleeps: Vec<Sleep>,
    signals: Vec<Signal>,
    /// By signal and sleep: that they are about the same condition variable; and that the signal ends the sleep, if it
    /// may.
    pairs: Vec<Vec<Pair>>,
}

#[derive(Clone, Copy)]
struct Pair {
    same: Lit,
    matched: Option<Lit>,
}

impl Signals {
    /// Demands that sleeping threads wake up because of signals. `same` says of the signal and the sleep with these
    /// indices whether they are about the same condition variable.
    pub fn new(
        solver: &mut Solver,
        sleeps: Vec<Sleep>,
        signals: Vec<Signal>,
        mut same: impl FnMut(&mut Solver, usize, SleepId) -> Lit,
    ) -> Signals {
        let mut pairs: Vec<Vec<Pair>> = Vec::new();
        for (index, signal) in signals.iter().enumerate() {
            let mut row = Vec::new();
            for (of, sleep) in sleeps.iter().enumerate() {
                let same = same(solver, index, SleepId(of));
                row.push(Pair { same, matched: may_match(solver, same, signal, sleep) });
            }
            if !signal.is_broadcast {
                at_most_one(solver, row.iter().filter_map(|pair| pair.matched));
            }
            pairs.push(row);
        }
        for (index, sleep) in sleeps.iter().enumerate() {
            if let Some(wake) = sleep.wake {
                let matches = pairs.iter().filter_map(|row| row[index].matched);
                add_clause(solver, [!wake.occurs, !sleep.occurs, !sleep.needs_signal].into_iter().chain(matches));
            }
        }
        Signals { sleeps, signals, pairs }
    }

    /// Demands that the matches are those of the execution, also where a wake-up is not missed: needed for deadlocks.
    /// There are as many clauses as triples of two signals and a sleep.
    pub fn match_exactly(&self, solver: &mut Solver, known: &dyn KnownOrder) {
        for index in 0..self.sleeps.len() {
            at_most_one(solver, self.pairs.iter().filter_map(|row| row[index].matched));
            self.ends_with_first_broadcast(solver, known, index);
        }
        self.no_signal_is_wasted(solver, known);
    }

    /// `stuck` implies that a thread sleeps and no signal is left for it: none came after it fell asleep that did not
    /// wake up another thread.
    pub fn sleeps_on(&self, solver: &mut Solver, known: &dyn KnownOrder, stuck: Lit, SleepId(index): SleepId) {
        let Some(sleep) = self.sleeps.get(index) else { return };
        add_clause(solver, [!stuck, sleep.occurs]);
        for (signal, row) in self.signals.iter().zip(&self.pairs) {
            let given = all(solver, [row[index].same, signal.event.occurs]);
            let Some(later) = self.after_sleep(solver, known, given, sleep, signal) else { continue };
            let others = row.iter().enumerate().filter(|(of, _)| *of != index && !signal.is_broadcast);
            add_clause(solver, [!stuck, !later].into_iter().chain(others.filter_map(|(_, pair)| pair.matched)));
        }
    }

    /// The literal that `condition` holds and a signal comes after the beginning of a sleep.
    fn after_sleep(
        &self,
        solver: &mut Solver,
        known: &dyn KnownOrder,
        condition: Lit,
        sleep: &Sleep,
        signal: &Signal,
    ) -> Option<Lit> {
        if condition == Lit::FALSE {
            return None;
        }
        match sleep.since {
            Some(since) => happened_before(solver, known, condition, since, signal.event.node),
            None => Some(condition),
        }
    }

    /// A sleep during which a broadcast is given is ended by it, if not before.
    fn ends_with_first_broadcast(&self, solver: &mut Solver, known: &dyn KnownOrder, index: usize) {
        let sleep = &self.sleeps[index];
        for (at, broadcast) in self.signals.iter().enumerate().filter(|(_, signal)| signal.is_broadcast) {
            let given = all(solver, [self.pairs[at][index].same, broadcast.event.occurs, sleep.occurs]);
            let Some(during) = self.after_sleep(solver, known, given, sleep, broadcast) else { continue };
            for (other, row) in self.pairs.iter().enumerate().filter(|(other, _)| *other != at) {
                let Some(matched) = row[index].matched else { continue };
                let later = precedes(solver, known, broadcast.event.node, self.signals[other].event.node);
                add_clause(solver, [!during, !matched, !later]);
            }
        }
    }

    /// A signal without a match was given when all threads that were asleep had been given one.
    fn no_signal_is_wasted(&self, solver: &mut Solver, known: &dyn KnownOrder) {
        for (index, signal) in self.signals.iter().enumerate().filter(|(_, signal)| !signal.is_broadcast) {
            for of in 0..self.sleeps.len() {
                let Some(asleep) = self.asleep_at(solver, known, index, of) else { continue };
                let woken = solver.new_literal();
                let own = self.pairs[index].iter().filter_map(|pair| pair.matched);
                add_clause(solver, [!asleep, woken].into_iter().chain(own));
                let mut by = vec![!woken];
                for (other, row) in self.pairs.iter().enumerate() {
                    let Some(matched) = row[of].matched.filter(|_| other != index) else { continue };
                    by.push(matched);
                    let before = precedes(solver, known, self.signals[other].event.node, signal.event.node);
                    add_clause(solver, [!woken, !matched, before]);
                }
                solver.add_clause(&by);
            }
        }
    }

    /// The literal that a sleep, which a wake-up ends, goes on when a signal is given.
    fn asleep_at(&self, solver: &mut Solver, known: &dyn KnownOrder, index: usize, of: usize) -> Option<Lit> {
        let (signal, sleep) = (&self.signals[index], &self.sleeps[of]);
        let wake = sleep.wake?;
        let condition = all(solver, [self.pairs[index][of].same, signal.event.occurs, sleep.occurs, wake.occurs]);
        let slept = self.after_sleep(solver, known, condition, sleep, signal)?;
        happened_before(solver, known, slept, signal.event.node, wake.node)
    }
}

/// The literal that a signal ends a sleep; none if it cannot.
fn may_match(solver: &mut Solver, same: Lit, signal: &Signal, sleep: &Sleep) -> Option<Lit> {
    let wake = sleep.wake?;
    let needed = [same, signal.event.occurs, sleep.occurs, wake.occurs, sleep.needs_signal];
    if solver.chain_of(signal.event.node) == solver.chain_of(wake.node) || needed.contains(&Lit::FALSE) {
        return None;
    }
    let matched = implying_all(solver, needed.into_iter().filter(|lit| *lit != Lit::TRUE));
    if let Some(since) = sleep.since {
        solver.add_guarded_edge(matched, since, signal.event.node);
    }
    solver.add_guarded_edge(matched, signal.event.node, wake.node);
    Some(matched)
}
