//! The axioms of concurrent executions, over nodes and literals of the solver.
//!
//! An engine decides what its threads may do: it makes a node of the theory of order for each indivisible moment, a
//! literal for "this event occurs", and finds out which events can have to do with each other. What executions of such
//! events are possible is the same for all engines, and is said here: each module is one axiom, a few clauses and
//! guarded edges for each pair that matters.
//!
//! | module | the axiom |
//! |---|---|
//! | [`reads_from`] | a read returns what the last write before it wrote |
//! | [`exclusion`] | of two critical sections of a lock, one ends before the other begins |
//! | [`signals`] | a sleeping thread wakes up because of a signal, and a signal wakes up one thread |
//! | [`joins`] | a join comes after the end of the thread that it waits for |
//! | [`stuck`] | in a deadlock, all threads have ended or stand at a step that cannot be made |
//! | [`races`] | two threads are about to make conflicting accesses |
//! | [`happens_before`] | one access does not happen before another, in the sense of C11 |
//!
//! Executions are prefixes: an event that does not occur has a node, which may lie anywhere. Nothing here knows
//! programs or traces.
//!
//! Two threads write 1 and 2; a third one may read either, or the initial 0:
//!
//! ```
//! use leno_axioms::{Event, order::Unknown, reads_from::{Encoding, Sources, Write}};
//! use leno_logic::{core::Answer, limits::Limits, literal::Lit, solver::Solver, term::{Sort, Terms}};
//!
//! let (mut terms, mut solver) = (Terms::new(), Solver::default());
//! let [initial, first, second, read] = [(); 4].map(|()| {
//!     let chain = solver.add_chain();
//!     solver.add_node(chain)
//! });
//! [first, second, read].map(|node| solver.add_edge(initial, node));
//! let value = terms.variable(Sort::Bits(8), "value");
//! let written = [0, 1, 2].map(|number| terms.bits(8, number));
//! let mut sources = Sources::new(&mut solver, Encoding::Composition, Event { node: read, occurs: Lit::TRUE });
//! for (node, written) in [(first, written[1]), (second, written[2])] {
//!     let write = Write { node, hit: Lit::TRUE, position: 0 };
//!     sources.may_copy(&mut solver, write, |solver, source| solver.equal_if(&mut terms, source, value, written));
//! }
//! let zero = written[0];
//! sources.may_be_initial(&mut solver, initial, |solver, source| solver.equal_if(&mut terms, source, value, zero));
//! sources.finish(&mut solver, &Unknown);
//! let three = terms.bits(8, 3);
//! for (wanted, answer) in [(written[2], Answer::Satisfiable), (three, Answer::Unsatisfiable)] {
//!     let equal = terms.eq(value, wanted);
//!     let equal = solver.literal(&terms, equal);
//!     assert_eq!(solver.solve(&[equal], &Limits::default()), answer);
//! }
//! ```

pub mod exclusion;
pub mod guards;
pub mod happens_before;
pub mod joins;
pub mod order;
pub mod races;
pub mod reads_from;
pub mod signals;
pub mod stuck;

use leno_logic::literal::Lit;
use leno_logic::order::Node;

/// Something that happens at a node, where a literal holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    pub node: Node,
    pub occurs: Lit,
}
