//! Mutual exclusion: of two critical sections of one lock that both begin, one has ended when the other begins.
//!
//! That is one clause and an edge for each order. A section may end at several places, on different paths, or nowhere,
//! if its thread does not get that far; then no other section begins after it. Sections of one thread are in order by
//! themselves. The engine leaves out the pairs that do not exclude each other (two sections of readers) and those that
//! are ordered anyway.

use crate::Event;
use crate::guards::implying_all;
use crate::order::{KnownOrder, precedes};
use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_logic::solver::Solver;

/// A critical section.
#[derive(Clone, Debug)]
pub struct Section {
    pub begin: Event,
    pub ends: Vec<End>,
}

/// A step that may end a section.
#[derive(Clone, Copy, Debug)]
pub struct End {
    pub event: Event,
    /// It occurs, and no other end of the section before it.
    pub is_first: Lit,
}

impl Section {
    /// A section that ends at one place, if at all.
    pub fn with_one_end(begin: Event, end: Option<Event>) -> Section {
        let ends = end.map(|event| End { event, is_first: event.occurs }).into_iter().collect();
        Section { begin, ends }
    }
}

/// Two sections on different threads do not overlap. `may_be_first` says of each whether it may come first.
pub fn exclude(solver: &mut Solver, sections: [&Section; 2], may_be_first: [bool; 2]) {
    let [first, second] = sections;
    let mut clause = vec![!first.begin.occurs, !second.begin.occurs];
    if may_be_first[0] && !first.ends.is_empty() {
        clause.push(ends_before(solver, first, second.begin.node));
    }
    if may_be_first[1] && !second.ends.is_empty() {
        clause.push(ends_before(solver, second, first.begin.node));
    }
    solver.add_clause(&clause);
}

/// A literal that implies that a section has ended at `node`.
fn ends_before(solver: &mut Solver, section: &Section, node: Node) -> Lit {
    let guard = solver.new_literal();
    let one: Vec<Lit> = std::iter::once(!guard).chain(section.ends.iter().map(|end| end.event.occurs)).collect();
    solver.add_clause(&one);
    for end in &section.ends {
        let is_here = match section.ends.len() {
            1 => guard,
            _ => {
                let is_here = solver.new_literal();
                solver.add_clause(&[!guard, !end.is_first, is_here]);
                is_here
            }
        };
        solver.add_guarded_edge(is_here, end.event.node, node);
    }
    guard
}

/// A literal that implies that the lock is held by a section when `node`, of another thread, comes: an attempt to take
/// it fails.
pub fn held_at(solver: &mut Solver, known: &dyn KnownOrder, section: &Section, node: Node) -> Lit {
    let held = solver.new_literal();
    let begun = precedes(solver, known, section.begin.node, node);
    solver.add_clause(&[!held, section.begin.occurs]);
    solver.add_clause(&[!held, begun]);
    for end in &section.ends {
        let still = precedes(solver, known, node, end.event.node);
        solver.add_clause(&[!held, !end.event.occurs, still]);
    }
    held
}

/// A literal that implies that a section has begun and does not end: the lock is held when nothing happens any more.
pub fn held_at_end(solver: &mut Solver, section: &Section) -> Lit {
    let ends = section.ends.iter().map(|end| !end.event.occurs);
    implying_all(solver, std::iter::once(section.begin.occurs).chain(ends))
}
