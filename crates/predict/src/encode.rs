//! The question to the solver: Φ_PO ∧ Φ_VD ∧ Φ_PI ∧ ¬Φ_PRP (paper 003, section 4).
//!
//! A thread makes a beginning of its recorded events: each event has a literal that says that it *happens*, which
//! implies that the one before it on its thread does, and that its guard holds. So a violation need not be followed by
//! the rest of the run, and a thread may come to a branch that goes the other way, as long as nothing after it is
//! needed.
//!
//! | in the paper | here |
//! |---|---|
//! | Φ_PO | `program_order`: threads are chains of the theory of order |
//! | Φ_VD | definitions are terms: there is nothing to say |
//! | Φ_PI | `memory`: every read that happens has one source |
//! | ¬Φ_PRP | a literal for each target, one of which holds (`query`) |
//!
//! Locks are not variables that are counted down and up: two sections of one lock exclude each other, which is two
//! edges (`synchronisation`). Semaphores, barriers and once flags are numbers that are updated in one step, as in the
//! paper.
//!
//! Here it is decided which events can have to do with each other. The axioms themselves are those of all engines
//! (`leno-axioms`), also the two ways to say Φ_PI ([`Encoding`]).

pub(crate) mod causal_model;
mod memory;
mod outside_order;
mod program_order;
pub(crate) mod release_acquire;
pub(crate) mod synchronisation;

use crate::encode::causal_model::Model;
use crate::encode::memory::Candidates;
use crate::encode::program_order::RecordedOrder;
use crate::encode::release_acquire::ReadSources;
use crate::encode::synchronisation::Conditions;
use crate::program::event::{EventId, SectionId, TraceProgram};
use crate::program::slice::{Slice, Wanted, slice};
use crate::query::global_deadlock::Stuck;
use leno_axioms::happens_before::HappensBefore;
pub use leno_axioms::reads_from::Encoding;
use leno_axioms::{Event, order};
use leno_ir::index::IndexVec;
use leno_logic::literal::Lit;
use leno_logic::order::Node;
use leno_logic::solver::Solver;
use leno_logic::term::Term;
use std::collections::BTreeMap;

/// A trace program in the solver.
pub struct Encoded {
    pub solver: Solver,
    pub encoding: Encoding,
    pub slice: Slice,
    /// By event: its node, and whether it happens; none for events that were sliced away.
    events: IndexVec<EventId, Option<Event>>,
    initial: Node,
    pub(crate) known: RecordedOrder,
    /// By atomic section: the literal that makes it the last thing that happens.
    sections: BTreeMap<SectionId, Lit>,
    writes: Candidates,
    /// For models that know only what was seen: each read that matters, and the literal that pins it to what it was.
    pub pins: Vec<(Term, Lit)>,
    /// Holds the order of reads after writes, in the model that keeps it.
    pub raw: Option<Lit>,
    /// Pairs of a read and a write that may be linked.
    pub links: usize,
    pub(crate) conditions: Conditions,
    pub(crate) stuck: Stuck,
    /// Kept if races depend on the orders of atomics.
    sources: Option<ReadSources>,
    marks: Option<HappensBefore>,
}

impl Encoded {
    /// Everything but the questions. `seeds` are the terms that questions depend on.
    pub fn new(ctp: &mut TraceProgram, seeds: &[Term], wanted: &Wanted, model: Model, encoding: Encoding) -> Encoded {
        let slice = slice(ctp, seeds, wanted);
        let mut solver = Solver::default();
        let start = solver.add_chain();
        let initial = solver.add_node(start);
        let mut encoded = Encoded {
            solver,
            encoding,
            slice,
            events: ctp.events.iter().map(|_| None).collect(),
            initial,
            known: RecordedOrder::new(ctp.must.clone(), initial),
            sections: BTreeMap::new(),
            writes: Candidates::new(),
            pins: Vec::new(),
            raw: None,
            links: 0,
            conditions: Conditions::default(),
            stuck: Stuck::default(),
            sources: wanted.atomics.then(ReadSources::new),
            marks: None,
        };
        encoded.add_nodes(ctp);
        encoded.program_order(ctp);
        encoded.already_begun(ctp);
        encoded.memory(ctp, model);
        encoded.locks(ctp);
        encoded.conditions(ctp);
        encoded.outside_order(ctp);
        if model == Model::HappensBefore {
            encoded.happens_before(ctp);
        }
        encoded
    }

    /// The order of events that happen in the model that the solver has found.
    pub fn schedule(&mut self) -> Vec<EventId> {
        let mut at: BTreeMap<Node, Vec<EventId>> = BTreeMap::new();
        for &id in self.slice.kept.values().flatten() {
            if let Some(event) = self.event(id) {
                at.entry(event.node).or_default().push(id);
            }
        }
        let line = self.solver.line().to_vec();
        let events: Vec<EventId> = line.iter().filter_map(|node| at.get(node)).flatten().copied().collect();
        events.into_iter().filter(|id| self.happens(*id).is_some_and(|lit| self.solver.value(lit))).collect()
    }

    /// All nodes, and whether they happen: for bounds on switches.
    pub fn all_nodes(&self) -> Vec<(Node, Lit)> {
        let events = self.slice.kept.values().flatten().filter_map(|id| self.event(*id));
        let mut all: Vec<(Node, Lit)> = events.map(|event| (event.node, event.occurs)).collect();
        all.dedup_by_key(|(node, _)| *node);
        all
    }

    fn event(&self, id: EventId) -> Option<Event> {
        self.events.get(id).copied().flatten()
    }

    pub fn happens(&self, id: EventId) -> Option<Lit> {
        self.event(id).map(|event| event.occurs)
    }

    fn node(&self, id: EventId) -> Node {
        self.event(id).map_or(self.initial, |event| event.node)
    }

    /// Whether an event happens: what was sliced away does.
    pub(crate) fn done(&self, id: EventId) -> Lit {
        self.happens(id).unwrap_or(Lit::TRUE)
    }

    /// An event as the axioms see it.
    pub(crate) fn occurrence(&self, id: EventId) -> Event {
        Event { node: self.node(id), occurs: self.done(id) }
    }

    /// HB(first, second), which is a constant where it is the same in all orders.
    pub(crate) fn precedes(&mut self, ctp: &TraceProgram, first: EventId, second: EventId) -> Lit {
        let (a, b) = (ctp.event(first), ctp.event(second));
        if a.thread == b.thread {
            return Lit::from(a.index < b.index);
        }
        let (first, second) = (self.node(first), self.node(second));
        order::precedes(&mut self.solver, &self.known, first, second)
    }
}
