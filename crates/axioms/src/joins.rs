//! Starts and ends of threads: a thread begins after the step that starts it, and a join comes after the end of the
//! thread that it waits for.
//!
//! Which thread a join waits for may depend on a handle. Then each thread that it may be is told with the literal that
//! it is this one and comes to its end. A handle is used up by the first join: another one does not get past it.

use crate::Event;
use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_logic::solver::Solver;

/// An event comes after another one and needs it: the beginning of a thread after its start, a join of a known thread
/// after its end. The order holds whether the events occur or not, so it has to be that of some execution in which all
/// such events occur.
pub fn follows(solver: &mut Solver, later: Event, earlier: Event) {
    solver.add_edge(earlier.node, later.node);
    solver.add_clause(&[!later.occurs, earlier.occurs]);
}

/// A join in the solver: which thread it waits for is open.
pub struct Join {
    event: Event,
    /// It does not occur, or one of the threads has ended.
    clause: Vec<Lit>,
}

impl Join {
    pub fn new(event: Event) -> Join {
        Join { event, clause: vec![!event.occurs] }
    }

    /// The join may wait for a thread: `last` is the last node of the thread, `ended` says that it is the one and comes
    /// to its end, and `joined_by` has the literals of the joins before this one that may wait for the same thread. The
    /// result holds if this join does, and is added to them.
    pub fn may_wait_for(&mut self, solver: &mut Solver, last: Node, ended: Lit, joined_by: &mut Vec<Lit>) -> Lit {
        self.clause.push(ended);
        let joined = solver.new_literal();
        solver.add_clause(&[!self.event.occurs, !ended, joined]);
        for &earlier in joined_by.iter() {
            solver.add_clause(&[!joined, !earlier]);
        }
        joined_by.push(joined);
        solver.add_guarded_edge(joined, last, self.event.node);
        joined
    }

    /// All threads have been told.
    pub fn finish(self, solver: &mut Solver) {
        solver.add_clause(&self.clause);
    }
}

/// Where `conditions` hold, `had_ended` says exactly whether a thread had come to its end (at `last`) when `node` came.
pub fn had_ended(solver: &mut Solver, conditions: [Lit; 2], had_ended: Lit, last: Node, node: Node) {
    let [first, second] = conditions;
    let (ended, waits) = (solver.new_literal(), solver.new_literal());
    solver.add_clause(&[!first, !second, !had_ended, ended]);
    solver.add_clause(&[!first, !second, had_ended, waits]);
    solver.add_guarded_edge(ended, last, node);
    solver.add_guarded_edge(waits, node, last);
}
