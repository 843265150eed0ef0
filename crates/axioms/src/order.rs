//! Which of two events comes first: a constant where that is known, a literal of the solver where it is not.

use crate::Event;
use crate::guards::both;
use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_logic::solver::Solver;

/// What an engine knows about the order of nodes on different chains before it asks. The solver must have been told the
/// same.
pub trait KnownOrder {
    /// Whether `first` comes before `second`; none if that depends.
    fn precedes(&self, first: Node, second: Node) -> Option<bool>;
}

/// Nothing is known beyond the order of chains.
pub struct Unknown;

impl KnownOrder for Unknown {
    fn precedes(&self, _: Node, _: Node) -> Option<bool> {
        None
    }
}

/// The literal that `first` comes before `second`, and whose negation says that it does not.
pub fn precedes(solver: &mut Solver, known: &dyn KnownOrder, first: Node, second: Node) -> Lit {
    if solver.chain_of(first) == solver.chain_of(second) {
        return Lit::from(first < second); // (the nodes of a chain are made in order)
    }
    match known.precedes(first, second) {
        Some(value) => Lit::from(value),
        None => solver.before(first, second),
    }
}

/// The literal that `condition` holds and `first` comes before `second`; none if that cannot be.
pub fn happened_before(
    solver: &mut Solver,
    known: &dyn KnownOrder,
    condition: Lit,
    first: Node,
    second: Node,
) -> Option<Lit> {
    let before = precedes(solver, known, first, second);
    Some(both(solver, condition, before)).filter(|lit| *lit != Lit::FALSE)
}

/// Where all of `conditions` hold, `first` comes before `second`. Nothing is said on one chain.
pub fn ordered_if(solver: &mut Solver, conditions: &[Lit], first: Node, second: Node) {
    if solver.chain_of(first) == solver.chain_of(second) {
        return;
    }
    let guard = solver.new_literal();
    let clause: Vec<Lit> = conditions.iter().map(|lit| !*lit).chain([guard]).collect();
    solver.add_clause(&clause);
    solver.add_guarded_edge(guard, first, second);
}

/// Where `selected` holds, `node` comes before each of these events that occurs: before all ends of the process, say.
pub fn before_all(solver: &mut Solver, selected: Lit, node: Node, events: &[Event]) {
    for event in events {
        ordered_if(solver, &[selected, event.occurs], node, event.node);
    }
}

/// Where `selected` holds, `node` comes after each of these events that occurs.
pub fn after_all(solver: &mut Solver, selected: Lit, node: Node, events: &[Event]) {
    for event in events {
        ordered_if(solver, &[selected, event.occurs], event.node, node);
    }
}

/// Where `condition` holds, none of `others` lies between two nodes of one chain: they are parts of one atomic section.
pub fn none_between(solver: &mut Solver, condition: Lit, first: Node, second: Node, others: &[Node]) {
    for &other in others {
        if solver.chain_of(other) != solver.chain_of(first) {
            let before_first = solver.before(other, first);
            let before_second = solver.before(other, second);
            solver.add_clause(&[!condition, !before_second, before_first]);
        }
    }
}
