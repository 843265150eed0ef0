//! Deadlocks: a state in which no thread can make a step, or in which some threads can never go on.
//!
//! The state is a node of its own, the *deadlock point*. At it, the words that threads wait for are read like any other
//! memory. A thread is stuck if it has come to a step that it does not make and that is not enabled there. One kind of
//! deadlock is that all threads are stuck or finished; the other one is a set of threads that are stuck at locks whose
//! owners are in the set or have ended, or at the ends of threads in the set, whatever the rest of the program does
//! (`leno_axioms::stuck`).
//!
//! Signals matter only here: in other questions, a wait on a condition variable may end at any time. A thread that
//! sleeps is stuck if no signal is left for it (`leno_axioms::signals`).

use crate::compose::{Composer, PossibleViolation};
use crate::skeleton::{DeadlockPoint, NodeId, SleepId, Until, Wait};
use leno_axioms::Event;
use leno_axioms::guards::implying_all;
use leno_axioms::order::Unknown;
use leno_axioms::signals::{self, Signal, Signals, Sleep};
use leno_axioms::stuck::{AtLock, Blocked, Standing, Thread, all_stuck, has_ended, never_released, stuck};
use leno_ir::index::Idx;
use leno_logic::literal::Lit;
use leno_logic::term::Term;

impl Composer<'_, '_> {
    pub(crate) fn deadlocks(&mut self, possible_violations: &mut Vec<(PossibleViolation, Lit)>) {
        let Some(point) = self.bounded.skeleton.deadlock_point else { return };
        let signals = self.signals();
        let waits = self.bounded.skeleton.waits.clone();
        let stuck: Vec<Lit> = waits.iter().map(|wait| self.stuck(wait, point, &signals)).collect();
        let asked = self.literal(point.asked);
        let has_ended = self.has_ended(point);
        let all = self.all_stuck(&has_ended, &waits, &stuck);
        let cycle = self.never_released(&has_ended, &waits, &stuck);
        for (violation, lit) in [(PossibleViolation::Deadlock, all), (PossibleViolation::LockCycle, cycle)] {
            self.solver.add_clause(&[!lit, asked]);
            self.before_exits(lit, point.node);
            possible_violations.push((violation, lit));
        }
    }

    /// The literal that a thread has come to a step and cannot make it at the deadlock point.
    fn stuck(&mut self, wait: &Wait, point: DeadlockPoint, signals: &Signals) -> Lit {
        let is_not_made = self.bounded.terms.not(wait.goes_on);
        let here = self.bounded.terms.and2(wait.path, is_not_made);
        let conditions = [self.literal(here)];
        let reasons = match wait.until {
            Until::Enabled(enabled) | Until::Lock { free: enabled, .. } | Until::ReadWrite { enabled, .. } => {
                vec![!self.literal(enabled)]
            }
            Until::End(handle) => self.has_not_ended(handle),
            Until::Signal(_) => Vec::new(),
        };
        let before = Some((self.node(wait.after), self.node(point.node)));
        let blocked = match wait.until {
            Until::Signal(sleep) => Blocked::Asleep(signals, signals::SleepId(sleep.index())),
            _ => Blocked::One(&reasons),
        };
        stuck(&mut self.solver, &Unknown, Standing { conditions: &conditions, before }, blocked)
    }

    /// By thread: it has this handle, has been started and does not end.
    fn has_not_ended(&mut self, handle: Term) -> Vec<Lit> {
        let mut reasons = Vec::new();
        for index in self.bounded.skeleton.threads.ids() {
            let thread = &self.bounded.skeleton.threads[index];
            let (own, finished, spawned) = (thread.handle, thread.finished, thread.spawned);
            let same = self.bounded.terms.eq(handle, own);
            let goes_on = self.bounded.terms.not(finished);
            let started = spawned.map_or(Term::TRUE, |(_, path)| path);
            let waits = self.bounded.terms.and(&[same, goes_on, started]);
            if self.bounded.terms.as_bool(waits) != Some(false) {
                reasons.push(self.literal(waits));
            }
        }
        reasons
    }

    /// By thread: the literal that it has ended at the deadlock point.
    fn has_ended(&mut self, point: DeadlockPoint) -> Vec<Lit> {
        let mut ended = Vec::new();
        for index in self.bounded.skeleton.threads.ids() {
            let thread = &self.bounded.skeleton.threads[index];
            let (finished, last) = (thread.finished, self.node(thread.last));
            let (finished, point) = (self.literal(finished), self.node(point.node));
            ended.push(has_ended(&mut self.solver, finished, last, point));
        }
        ended
    }

    /// The literal that all threads that were started are stuck or finished, and one is stuck.
    fn all_stuck(&mut self, has_ended: &[Lit], waits: &[Wait], stuck: &[Lit]) -> Lit {
        let all = self.solver.new_literal();
        let mut threads = Vec::new();
        for (index, &has_ended) in self.bounded.skeleton.threads.ids().zip(has_ended) {
            let spawned = self.bounded.skeleton.threads[index].spawned;
            let is_started = spawned.map_or(Lit::TRUE, |(_, path)| self.literal(path));
            let own = waits.iter().zip(stuck).filter(|(wait, _)| wait.thread == index);
            threads.push(Thread { is_started, has_ended, stuck: own.map(|(_, stuck)| *stuck).collect() });
        }
        all_stuck(&mut self.solver, all, &threads);
        all
    }

    /// The literal that some threads are stuck as long as others of them, or threads that have ended, hold something.
    fn never_released(&mut self, has_ended: &[Lit], waits: &[Wait], stuck: &[Lit]) -> Lit {
        let mut at_locks = Vec::new();
        for (wait, &lit) in waits.iter().zip(stuck) {
            let mut holders = match wait.until {
                Until::Lock { owner, .. } | Until::ReadWrite { writer: owner, .. } => self.owners(owner),
                Until::End(handle) => self.with_handle(handle),
                Until::Enabled(_) | Until::Signal(_) => continue,
            };
            if let Until::ReadWrite { address, is_write: true, .. } = wait.until {
                holders.extend(self.readers(address, has_ended, waits, stuck));
            }
            at_locks.push(AtLock { thread: wait.thread.index(), stuck: lit, holders });
        }
        never_released(&mut self.solver, has_ended, &at_locks)
    }

    /// By thread: it is the owner that the word of a lock tells.
    fn owners(&mut self, owner: Term) -> Vec<(usize, Lit)> {
        let mut owners = Vec::new();
        for thread in 0..self.bounded.skeleton.threads.len() {
            let number = self.bounded.terms.bits(32, thread as u128 + 1);
            let is_owner = self.bounded.terms.eq(owner, number);
            owners.push((thread, self.literal(is_owner)));
        }
        owners
    }

    /// By thread: it has this handle.
    fn with_handle(&mut self, handle: Term) -> Vec<(usize, Lit)> {
        let mut found = Vec::new();
        for index in self.bounded.skeleton.threads.ids() {
            let own = self.bounded.skeleton.threads[index].handle;
            let same = self.bounded.terms.eq(handle, own);
            if self.bounded.terms.as_bool(same) != Some(false) {
                found.push((index.index(), self.literal(same)));
            }
        }
        found
    }

    /// Threads that hold a lock for reading where they are stuck, or when they end.
    fn readers(&mut self, lock: u64, has_ended: &[Lit], waits: &[Wait], stuck: &[Lit]) -> Vec<(usize, Lit)> {
        let mut counts: Vec<(usize, Lit, Term)> = Vec::new();
        let of_lock = |reading: &[(u64, Term)]| reading.iter().find(|(at, _)| *at == lock).map(|(_, count)| *count);
        for (index, thread) in self.bounded.skeleton.threads.iter_enumerated() {
            counts.extend(of_lock(&thread.reading).map(|count| (index.index(), has_ended[index.index()], count)));
        }
        for (wait, &stuck) in waits.iter().zip(stuck) {
            counts.extend(of_lock(&wait.reading).map(|count| (wait.thread.index(), stuck, count)));
        }
        let mut readers = Vec::new();
        for (thread, is_there, count) in counts {
            let none = self.bounded.terms.bits(32, 0);
            let is_none = self.bounded.terms.eq(count, none);
            let reads = !self.literal(is_none);
            readers.push((thread, implying_all(&mut self.solver, [is_there, reads])));
        }
        readers
    }

    /// The signals and sleeps of the skeleton.
    fn signals(&mut self) -> Signals {
        let skeleton = &self.bounded.skeleton;
        let (sleeps, signals) = (skeleton.sleeps.clone(), skeleton.signals.clone());
        let mut in_solver = Vec::new();
        for sleep in &sleeps {
            let needs_signal = !self.literal(sleep.late);
            let occurs = self.literal(sleep.path);
            let wake = sleep.wake.map(|(node, woken)| self.occurrence(node, woken));
            in_solver.push(Sleep { since: Some(self.node(sleep.node)), occurs, wake, needs_signal });
        }
        let mut given = Vec::new();
        for signal in &signals {
            let event = self.occurrence(signal.node, signal.path);
            given.push(Signal { event, is_broadcast: signal.is_broadcast });
        }
        let terms = &mut self.bounded.terms;
        let all = Signals::new(&mut self.solver, in_solver, given, |solver, signal, sleep| {
            let same = terms.eq(signals[signal].address, sleeps[SleepId::new(sleep.0)].address);
            solver.literal(terms, same)
        });
        all.match_exactly(&mut self.solver, &Unknown);
        all
    }

    fn occurrence(&mut self, node: NodeId, occurs: Term) -> Event {
        Event { node: self.node(node), occurs: self.literal(occurs) }
    }
}
