//! Deadlocks: a moment at which nobody can go on, or at which threads wait for each other's locks in a circle.
//!
//! The moment is a node of its own. At it, the words that threads wait for are read like any other memory. A thread is stuck if it has come to
//! a step that it does not make and that is not enabled then. All threads stuck or finished is one kind of deadlock; a set
//! of threads that are stuck at locks whose owners are in the set is the other one, whatever the rest of the program does.
//!
//! Signals: one that is given while somebody sleeps wakes exactly one who sleeps then. So each signal is matched to at most one wake-up
//! between; a wake-up needs a signal or a broadcast, and is matched to the one that caused it and to no other; a broadcast ends all
//! sleeps that it comes upon; and nobody can be stuck asleep if a broadcast, or a signal without a match, came after.

use crate::compose::{Composer, Suspect};
use crate::skeleton::{Moment, NodeId, Signal, Sleep, Until, Wait};
use leno_logic::literal::Lit;
use leno_logic::term::Term;

impl Composer<'_, '_> {
    pub(crate) fn deadlocks(&mut self, suspects: &mut Vec<(Suspect, Lit)>) {
        let Some(moment) = self.summary.skeleton.moment else { return };
        let matches = self.match_signals();
        let stuck: Vec<Lit> = (0..self.summary.skeleton.waits.len())
            .map(|index| self.stuck(self.summary.skeleton.waits[index], moment, &matches))
            .collect();
        let asked = self.literal(moment.asked);
        let everybody = self.everybody(moment, &stuck);
        let circle = self.circle(&stuck);
        for (suspect, lit) in [(Suspect::Deadlock, everybody), (Suspect::Circle, circle)] {
            self.solver.add_clause(&[!lit, asked]);
            self.before_exits(lit, moment.node);
            suspects.push((suspect, lit));
        }
    }

    /// The literal that a thread has come to a step and cannot make it at the moment.
    fn stuck(&mut self, wait: Wait, moment: Moment, matches: &[Vec<Option<Lit>>]) -> Lit {
        let stuck = self.solver.new_literal();
        let is_made = self.summary.terms.not(wait.goes_on);
        let here = self.summary.terms.and2(wait.path, is_made);
        self.require(stuck, here);
        let (after, node) = (self.node(wait.after), self.node(moment.node));
        self.solver.add_guarded_edge(stuck, after, node);
        match wait.until {
            Until::Enabled(enabled) | Until::Lock { free: enabled, .. } => {
                let not = self.summary.terms.not(enabled);
                self.require(stuck, not);
            }
            Until::End(handle) => self.waits_for_end(stuck, handle),
            Until::Signal(sleep) => self.sleeps_on(stuck, self.summary.skeleton.sleeps[sleep], matches),
        }
        stuck
    }

    fn require(&mut self, guard: Lit, condition: Term) {
        let condition = self.literal(condition);
        self.solver.add_clause(&[!guard, condition]);
    }

    /// The thread that is waited for has been started and does not end.
    fn waits_for_end(&mut self, stuck: Lit, handle: Term) {
        let mut some = vec![!stuck];
        for index in 0..self.summary.skeleton.threads.len() {
            let thread = &self.summary.skeleton.threads[index];
            let (own, finished, spawned) = (thread.handle, thread.finished, thread.spawned);
            let same = self.summary.terms.eq(handle, own);
            let goes_on = self.summary.terms.not(finished);
            let started = spawned.map_or_else(|| self.summary.terms.bool(true), |(_, path)| path);
            let waits = self.summary.terms.and(&[same, goes_on, started]);
            if self.summary.terms.as_bool(waits) != Some(false) {
                some.push(self.literal(waits));
            }
        }
        self.solver.add_clause(&some);
    }

    /// Everybody who was started is stuck or finished, and somebody is stuck.
    fn everybody(&mut self, moment: Moment, stuck: &[Lit]) -> Lit {
        let everybody = self.solver.new_literal();
        let some: Vec<Lit> = std::iter::once(!everybody).chain(stuck.iter().copied()).collect();
        self.solver.add_clause(&some);
        for index in 0..self.summary.skeleton.threads.len() {
            let thread = &self.summary.skeleton.threads[index];
            let (finished, spawned, last) = (thread.finished, thread.spawned, thread.last);
            let mut clause = vec![!everybody];
            if let Some((_, path)) = spawned {
                clause.push(!self.literal(path));
            }
            let is_finished = self.solver.new_literal();
            self.require(is_finished, finished);
            let (last, node) = (self.node(last), self.node(moment.node));
            self.solver.add_guarded_edge(is_finished, last, node);
            clause.push(is_finished);
            let waits = self.summary.skeleton.waits.iter().zip(stuck);
            clause.extend(waits.filter(|(wait, _)| wait.thread.0 as usize == index).map(|(_, stuck)| *stuck));
            self.solver.add_clause(&clause);
        }
        everybody
    }

    /// Some threads are stuck at locks that others of them own.
    fn circle(&mut self, stuck: &[Lit]) -> Lit {
        let circle = self.solver.new_literal();
        let threads = self.summary.skeleton.threads.len();
        let members: Vec<Lit> = (0..threads).map(|_| self.solver.new_literal()).collect();
        let some: Vec<Lit> = std::iter::once(!circle).chain(members.iter().copied()).collect();
        self.solver.add_clause(&some);
        let mut waits_of: Vec<Vec<Lit>> = members.iter().map(|member| vec![!*member]).collect();
        for (index, &stuck) in stuck.iter().enumerate() {
            let wait = self.summary.skeleton.waits[index];
            let Until::Lock { owner, .. } = wait.until else { continue };
            let waits = self.solver.new_literal();
            self.solver.add_clause(&[!waits, stuck]);
            let mut owned = vec![!waits];
            for (other, &member) in members.iter().enumerate() {
                let number = self.summary.terms.bits(32, other as u128 + 1);
                let is_owner = self.summary.terms.eq(owner, number);
                let is_owner = self.literal(is_owner);
                owned.push(is_owner);
                self.solver.add_clause(&[!waits, !is_owner, member]);
            }
            self.solver.add_clause(&owned);
            waits_of[wait.thread.0 as usize].push(waits);
        }
        waits_of.iter().for_each(|clause| self.solver.add_clause(clause));
        circle
    }

    // --- signals

    /// For each signal and each sleep, the literal that this signal ends this sleep.
    fn match_signals(&mut self) -> Vec<Vec<Option<Lit>>> {
        let (sleeps, signals) = (self.summary.skeleton.sleeps.clone(), self.summary.skeleton.signals.clone());
        let mut matches = Vec::new();
        for signal in &signals {
            let row: Vec<Option<Lit>> = sleeps.iter().map(|sleep| self.may_match(signal, sleep)).collect();
            if !signal.is_broadcast {
                self.at_most_one(row.iter().flatten().copied());
            }
            matches.push(row);
        }
        for (index, sleep) in sleeps.iter().enumerate() {
            self.at_most_one(matches.iter().filter_map(|row| row[index]));
            self.no_later_than_broadcasts(index, sleep, &signals, &matches);
        }
        for (index, sleep) in sleeps.iter().enumerate() {
            let Some((_, woken)) = sleep.wake else { continue };
            // (A wait with a deadline needs no signal.)
            if !self.summary.skeleton.waits.iter().any(|wait| matches!(wait.until, Until::Signal(of) if of == index)) {
                continue;
            }
            let mut clause = vec![!self.literal(woken), !self.literal(sleep.path)];
            clause.extend(matches.iter().filter_map(|row| row[index]));
            self.solver.add_clause(&clause);
        }
        self.no_signal_is_wasted(&sleeps, &signals, &matches);
        matches
    }

    /// At most one of the literals holds; those that hold up to each of them are counted.
    fn at_most_one(&mut self, literals: impl Iterator<Item = Lit>) {
        let mut some_before: Option<Lit> = None;
        for lit in literals {
            let some = self.solver.new_literal();
            self.solver.add_clause(&[!lit, some]);
            if let Some(before) = some_before {
                self.solver.add_clause(&[!before, some]);
                self.solver.add_clause(&[!before, !lit]);
            }
            some_before = Some(some);
        }
    }

    /// A sleep during which a broadcast is given is ended by it, if not before.
    fn no_later_than_broadcasts(
        &mut self,
        index: usize,
        sleep: &Sleep,
        signals: &[Signal],
        matches: &[Vec<Option<Lit>>],
    ) {
        for (at, broadcast) in signals.iter().enumerate().filter(|(_, signal)| signal.is_broadcast) {
            let same = self.summary.terms.eq(broadcast.address, sleep.address);
            let given = self.summary.terms.and(&[same, broadcast.path, sleep.path]);
            let Some(during) = self.happened_before(given, sleep.node, broadcast.node) else { continue };
            for (other, row) in matches.iter().enumerate().filter(|(other, _)| *other != at) {
                let Some(ends) = row[index] else { continue };
                if let Some(later) = self.comes_before(broadcast.node, signals[other].node) {
                    self.solver.add_clause(&[!during, !ends, !later]);
                }
            }
        }
    }

    fn may_match(&mut self, signal: &Signal, sleep: &Sleep) -> Option<Lit> {
        let (wake, woken) = sleep.wake?;
        let nodes = &self.summary.skeleton.nodes;
        if nodes[signal.node.0 as usize] == nodes[sleep.node.0 as usize] {
            return None;
        }
        let same = self.summary.terms.eq(signal.address, sleep.address);
        let both = self.summary.terms.and(&[same, signal.path, sleep.path, woken]);
        if self.summary.terms.as_bool(both) == Some(false) {
            return None;
        }
        let matched = self.solver.new_literal();
        self.require(matched, both);
        let (slept, given, woken) = (self.node(sleep.node), self.node(signal.node), self.node(wake));
        self.solver.add_guarded_edge(matched, slept, given);
        self.solver.add_guarded_edge(matched, given, woken);
        Some(matched)
    }

    /// A signal without a match was given when everybody who slept had been given one.
    fn no_signal_is_wasted(&mut self, sleeps: &[Sleep], signals: &[Signal], matches: &[Vec<Option<Lit>>]) {
        for (index, signal) in signals.iter().enumerate().filter(|(_, signal)| !signal.is_broadcast) {
            for (of, sleep) in sleeps.iter().enumerate() {
                let Some(asleep) = self.asleep_at(signal, sleep) else { continue };
                let over = self.solver.new_literal();
                let mut clause = vec![!asleep, over];
                clause.extend(matches[index].iter().flatten());
                self.solver.add_clause(&clause);
                let mut ended = vec![!over];
                for (other, row) in matches.iter().enumerate() {
                    let Some(ends) = row[of].filter(|_| other != index) else { continue };
                    ended.push(ends);
                    // What ends it comes before.
                    match self.comes_before(signals[other].node, signal.node) {
                        Some(before) => self.solver.add_clause(&[!over, !ends, before]),
                        None => self.solver.add_clause(&[!over, !ends]),
                    }
                }
                self.solver.add_clause(&ended);
            }
        }
    }

    /// The literal that one moment comes before another; none if it never does.
    fn comes_before(&mut self, first: NodeId, second: NodeId) -> Option<Lit> {
        let nodes = &self.summary.skeleton.nodes;
        if nodes[first.0 as usize] == nodes[second.0 as usize] {
            return (first < second).then_some(Lit::TRUE);
        }
        let (first, second) = (self.node(first), self.node(second));
        Some(self.solver.before(first, second))
    }

    /// The literal that a sleep, which a wake-up ends, goes on when a signal is given.
    fn asleep_at(&mut self, signal: &Signal, sleep: &Sleep) -> Option<Lit> {
        let (wake, woken) = sleep.wake?;
        let same = self.summary.terms.eq(signal.address, sleep.address);
        let both = self.summary.terms.and(&[same, signal.path, sleep.path, woken]);
        let slept = self.happened_before(both, sleep.node, signal.node)?;
        self.happened_before_literal(slept, signal.node, wake)
    }

    /// `stuck` asleep: no broadcast came after it fell asleep, and every signal that did woke somebody.
    fn sleeps_on(&mut self, stuck: Lit, sleep: Sleep, matches: &[Vec<Option<Lit>>]) {
        self.require(stuck, sleep.path);
        for (signal, row) in self.summary.skeleton.signals.clone().iter().zip(matches) {
            let same = self.summary.terms.eq(signal.address, sleep.address);
            let given = self.summary.terms.and2(same, signal.path);
            let Some(later) = self.happened_before(given, sleep.node, signal.node) else { continue };
            let mut clause = vec![!stuck, !later];
            if !signal.is_broadcast {
                clause.extend(row.iter().flatten());
            }
            self.solver.add_clause(&clause);
        }
    }
}
