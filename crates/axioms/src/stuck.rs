//! Deadlocks: a final state in which no thread can go on, or in which some threads can never go on.
//!
//! A thread is *stuck* if it has come to a step that it does not make and that cannot be made in the final state. What
//! the step depends on is read in the final state like any other memory ([`reads_from`](crate::reads_from)), at a node
//! behind all that occurs. All literals here are only implied by what they mean: they are to be asked for, and say
//! nothing if they are false.

use crate::guards::{add_clause, implying_one};
use crate::order::KnownOrder;
use crate::signals::{Signals, SleepId};
use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_logic::solver::Solver;

/// A thread at a step that it does not make.
pub struct Standing<'a> {
    /// The thread has come there and goes no further.
    pub conditions: &'a [Lit],
    /// The last node before the step, and that of the final state, unless it comes after all others anyway.
    pub before: Option<(Node, Node)>,
}

/// Why a step cannot be made.
pub enum Blocked<'a> {
    /// One of these holds in the final state: a thread holds the lock, a thread that is waited for has not ended, a
    /// word has the wrong value.
    One(&'a [Lit]),
    /// The thread sleeps, and no signal is left for it.
    Asleep(&'a Signals, SleepId),
}

/// A literal that implies that a thread stands at a step and cannot make it.
pub fn stuck(solver: &mut Solver, known: &dyn KnownOrder, standing: Standing<'_>, blocked: Blocked<'_>) -> Lit {
    let stuck = solver.new_literal();
    for &condition in standing.conditions {
        add_clause(solver, [!stuck, condition]);
    }
    if let Some((after, moment)) = standing.before {
        solver.add_guarded_edge(stuck, after, moment);
    }
    match blocked {
        Blocked::One(reasons) => add_clause(solver, std::iter::once(!stuck).chain(reasons.iter().copied())),
        Blocked::Asleep(signals, sleep) => signals.sleeps_on(solver, known, stuck, sleep),
    }
    stuck
}

/// A thread in the final state.
#[derive(Clone, Debug)]
pub struct Thread {
    pub is_started: Lit,
    /// It has come to its end.
    pub has_ended: Lit,
    /// The steps that it may be stuck at.
    pub stuck: Vec<Lit>,
}

/// `all` implies that each thread that was started has ended or is stuck, and that one is stuck.
pub fn all_stuck(solver: &mut Solver, all: Lit, threads: &[Thread]) {
    let stuck = threads.iter().flat_map(|thread| thread.stuck.iter().copied());
    add_clause(solver, std::iter::once(!all).chain(stuck));
    for thread in threads {
        let ways = [!all, !thread.is_started, thread.has_ended];
        add_clause(solver, ways.into_iter().chain(thread.stuck.iter().copied()));
    }
}

/// A literal that implies that a thread has come to its end before the final state.
pub fn has_ended(solver: &mut Solver, finished: Lit, last: Node, moment: Node) -> Lit {
    let ended = solver.new_literal();
    solver.add_clause(&[!ended, finished]);
    solver.add_guarded_edge(ended, last, moment);
    ended
}

/// A thread that is stuck until another one gives something back, or ends.
#[derive(Clone, Debug)]
pub struct AtLock {
    /// The index of the thread.
    pub thread: usize,
    pub stuck: Lit,
    /// Indices of threads, and that this one holds what is waited for: as long as one of them does, it is.
    pub holders: Vec<(usize, Lit)>,
}

/// A literal that implies that there is a set of threads each of which is stuck as long as a member of the set holds
/// something, or one that has ended, whatever the other threads do. By thread: that it has ended.
pub fn never_released(solver: &mut Solver, has_ended: &[Lit], at_locks: &[AtLock]) -> Lit {
    let stuck = solver.new_literal();
    let members: Vec<Lit> = has_ended.iter().map(|_| solver.new_literal()).collect();
    let one: Vec<Lit> = std::iter::once(!stuck).chain(members.iter().copied()).collect();
    solver.add_clause(&one);
    let mut waits_of: Vec<Vec<Lit>> = members.iter().map(|member| vec![!*member]).collect();
    for at in at_locks {
        let waits = implying_one(solver, at.holders.iter().map(|(_, holds)| *holds));
        solver.add_clause(&[!waits, at.stuck]);
        for &(thread, holds) in &at.holders {
            add_clause(solver, [!waits, !holds, members[thread], has_ended[thread]]);
        }
        waits_of[at.thread].push(waits);
    }
    waits_of.iter().for_each(|clause| solver.add_clause(clause));
    stuck
}
