//! Races: a state in which two threads are about to make conflicting accesses.
//!
//! A race is a state and not an order: both threads stand right before their accesses. An engine whose executions may
//! end anywhere asks for exactly this, two threads that stop there ([`Stop`]). An engine whose threads go on as far as
//! they can asks for the same in other words: the first access is made while the second is the next step of its thread
//! ([`adjacent`]).

use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_logic::solver::Solver;

/// A thread stops between two events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stop {
    /// The last event before the place occurs; none at the beginning of the thread.
    pub last: Option<Lit>,
    /// The next event occurs; none if there is no further one.
    pub next: Option<Lit>,
    /// What has to hold on the way from the last event to the place, beyond that.
    pub way: Option<Lit>,
}

impl Stop {
    /// What holds if the thread stops here.
    pub fn conditions(self) -> impl Iterator<Item = Lit> {
        self.last.into_iter().chain(self.next.map(|next| !next)).chain(self.way)
    }
}

/// `selected` implies that `first` comes when `second` is the next node of its thread, which comes after
/// `before_second`.
pub fn adjacent(solver: &mut Solver, selected: Lit, first: Node, before_second: Node, second: Node) {
    solver.add_guarded_edge(selected, before_second, first);
    solver.add_guarded_edge(selected, first, second);
}
