//! Composition: the axioms of sequential consistency over the skeleton (paper 000, sections 5 and 6).
//!
//! Threads become chains of the theory of order. Which executions of their events are possible is defined by the axioms
//! that all engines share (`leno-axioms`); here they are applied to a skeleton: to its reads (`reads`), locks
//! (`exclusion`), joins, lifetimes, races, deadlocks and leaks. Pruning has found before which writes a read may copy,
//! and which accesses may race.

mod deadlock;
mod exclusion;
mod happens_before;
mod joins;
mod leaks;
mod lifetimes;
mod races;
mod reads;
mod split_sections;

use crate::Reported;
use crate::bounded::BoundedProgram;
use crate::prune::Pruned;
use crate::skeleton::{EndId, EventId, NodeId, ThreadIndex, ViolationId};
use crate::summarize::Refused;
use happens_before::Synchronisation;
use leno_axioms::Event;
use leno_axioms::order::{self, Unknown, before_all};
use leno_ir::index::IndexVec;
use leno_logic::core::Answer;
use leno_logic::limits::Limits;
use leno_logic::literal::Lit;
use leno_logic::order::{Chain, Node};
use leno_logic::solver::{Copied, Solver};
use leno_logic::term::{Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

/// A violation that the solver is asked for.
#[derive(Clone, Copy, Debug)]
pub enum PossibleViolation {
    Violation(ViolationId),
    /// A race: the first event may come immediately before the second.
    Race(EventId, EventId),
    /// A race: the first event comes before the second, but does not happen before it.
    Unordered(EventId, EventId),
    /// The same of an event and the free with this index, which ends what it accesses.
    UnorderedFree(usize),
    /// No thread can make a step.
    Deadlock,
    /// Threads wait for each other's locks in a cycle.
    LockCycle,
    /// Memory is not freed when the process ends in this way.
    Leak(EndId),
}

/// A skeleton in the solver.
pub struct Composition {
    pub solver: Solver,
    pub nodes: IndexVec<NodeId, Node>,
    pub possible_violations: Vec<(PossibleViolation, Lit)>,
    /// Assumed to ask for any violation.
    pub violated: Lit,
    /// True in models of a race with an atomic section in which a thread is stopped: the model then says nothing about
    /// what follows the race.
    pub stopped_section: Option<Lit>,
    /// By cut: assumed to ask whether its loop can make more iterations.
    pub cuts: Vec<Lit>,
    /// Assumed to ask for an access that is not aligned to its cells; none if there cannot be one.
    pub unaligned: Option<Lit>,
    /// Assumed to ask for violations in executions whose input is empty.
    pub no_input: Vec<Lit>,
    /// By doubt: assumed to ask whether its condition can hold.
    pub doubts: Vec<Lit>,
    /// Pairs of a read and a write that may be linked.
    pub links: usize,
    /// Which values reads copy, if there are functions (of floats) that the solver may be wrong about.
    pub copies: Vec<Copied>,
}

impl Composition {
    /// Asks for a model that is right about all functions.
    pub fn solve_exactly(&mut self, terms: &mut Terms, assumptions: &[Lit], limits: &Limits) -> Answer {
        self.solver.solve_exactly(terms, &self.copies, assumptions, limits)
    }
}

pub(crate) struct Composer<'a, 'p> {
    pub bounded: &'a mut BoundedProgram<'p>,
    pub solver: Solver,
    nodes: IndexVec<NodeId, Node>,
    initial: Node,
    /// By node: the node before it on its thread.
    before: IndexVec<NodeId, Option<NodeId>>,
    /// Ends of the process.
    exits: Vec<Event>,
    undefined: FxHashMap<(Term, u32), Term>,
    /// The value of undefined words while a read of a synchronisation object is linked.
    undefined_word: Option<Term>,
    links: usize,
    copies: Vec<Copied>,
    /// What is known for C11's happens-before, if races depend on it.
    synchronisation: Option<Synchronisation>,
}

/// Puts a skeleton into a fresh solver.
pub fn compose(bounded: &mut BoundedProgram<'_>, pruned: &Pruned, mut solver: Solver) -> Result<Composition, Refused> {
    let start = solver.add_chain();
    let initial = solver.add_node(start);
    // One more, for nodes that belong to no thread.
    let mut chains: IndexVec<ThreadIndex, Chain> = bounded.skeleton.threads.ids().map(|_| solver.add_chain()).collect();
    chains.push(solver.add_chain());
    let nodes: IndexVec<NodeId, Node> =
        bounded.skeleton.nodes.iter().map(|thread| solver.add_node(chains[*thread])).collect();
    let mut last: IndexVec<ThreadIndex, Option<NodeId>> = chains.ids().map(|_| None).collect();
    let mut before = IndexVec::new();
    for (id, thread) in bounded.skeleton.nodes.iter_enumerated() {
        before.push(last[*thread].replace(id));
    }
    for thread in &bounded.skeleton.threads {
        let first = nodes[thread.first];
        match thread.spawned {
            Some((node, _)) => solver.add_edge(nodes[node], first),
            None => solver.add_edge(initial, first),
        }
    }
    let orders_matter = bounded.facts.has_weak_orders
        && bounded.question.properties.race
        && !(pruned.races.is_empty() && bounded.skeleton.frees.is_empty());
    let mut composer = Composer {
        bounded,
        solver,
        nodes,
        initial,
        before,
        exits: Vec::new(),
        undefined: FxHashMap::default(),
        undefined_word: None,
        links: 0,
        copies: Vec::new(),
        synchronisation: orders_matter.then(Synchronisation::default),
    };
    composer.memory(pruned)?;
    composer.order(&pruned.order_variables);
    composer.exclude(&pruned.exclusions);
    composer.destroy_barriers();
    composer.section_splits();
    composer.joins();
    composer.frees();
    composer.checks();
    composer.sizes();
    for index in 0..composer.bounded.skeleton.constraints.len() {
        if composer.is_interrupted() {
            break;
        }
        let constraint = composer.bounded.skeleton.constraints[index];
        composer.solver.assert(&composer.bounded.terms, constraint);
    }
    Ok(composer.questions(pruned))
}

impl Composer<'_, '_> {
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id]
    }

    /// Whether to stop. The composition is then incomplete, and must not be used.
    pub(crate) fn is_interrupted(&mut self) -> bool {
        self.bounded.question.is_interrupted()
    }

    pub fn literal(&mut self, term: Term) -> Lit {
        self.solver.literal(&self.bounded.terms, term)
    }

    /// The literal that `condition` holds and `first` comes before `second`; None if that cannot be.
    pub fn happened_before(&mut self, condition: Term, first: NodeId, second: NodeId) -> Option<Lit> {
        if self.bounded.terms.as_bool(condition) == Some(false) {
            return None;
        }
        let condition = self.literal(condition);
        let (first, second) = (self.node(first), self.node(second));
        order::happened_before(&mut self.solver, &Unknown, condition, first, second)
    }

    /// If `selected`, then `node` comes before every end of the process that occurs.
    pub fn before_exits(&mut self, selected: Lit, node: NodeId) {
        let node = self.node(node);
        before_all(&mut self.solver, selected, node, &self.exits);
    }

    // --- questions

    fn questions(mut self, pruned: &Pruned) -> Composition {
        let exits = self.bounded.skeleton.exits.clone();
        self.exits =
            exits.into_iter().map(|(path, node)| Event { node: self.node(node), occurs: self.literal(path) }).collect();
        let mut possible_violations = Vec::new();
        for index in self.bounded.skeleton.violations.ids() {
            if self.is_interrupted() {
                break;
            }
            let violation = self.bounded.skeleton.violations[index].clone();
            if self.bounded.question.reported.contains(&Reported::violation(violation.span)) {
                continue;
            }
            let selected = self.solver.new_literal();
            let condition = self.literal(violation.condition);
            self.solver.add_clause(&[!selected, condition]);
            self.before_exits(selected, violation.at.unwrap_or(violation.after));
            possible_violations.push((PossibleViolation::Violation(index), selected));
        }
        if let Some(synchronisation) = self.synchronisation.take() {
            self.unordered(pruned, synchronisation, &mut possible_violations);
        }
        let races = if self.bounded.facts.has_weak_orders { &[][..] } else { &pruned.races[..] };
        for &(first, second) in races {
            if self.is_interrupted() {
                break;
            }
            let [one, other] = [first, second].map(|index| self.bounded.skeleton.events[index].span);
            if self.bounded.question.reported.contains(&Reported::race(one, other)) {
                continue;
            }
            for (first, second) in self.orders(first, second) {
                if let Some(lit) = self.race(first, second) {
                    possible_violations.push((PossibleViolation::Race(first, second), lit));
                }
            }
        }
        if !self.bounded.question.reported.contains(&Reported::Deadlock) && !self.is_interrupted() {
            self.deadlocks(&mut possible_violations);
        }
        self.leaks(&mut possible_violations);
        let stopped_section = self.stops(&possible_violations);
        let mut cuts = Vec::new();
        for index in 0..self.bounded.skeleton.cuts.len() {
            if self.is_interrupted() {
                break;
            }
            let cut = self.bounded.skeleton.cuts[index].clone();
            let selected = self.solver.new_literal();
            let condition = self.literal(cut.condition);
            self.solver.add_clause(&[!selected, condition]);
            self.before_exits(selected, cut.after);
            cuts.push(selected);
        }
        let unaligned = self.unaligned(pruned);
        let violated = self.solver.new_literal();
        let any: Vec<Lit> = std::iter::once(!violated).chain(possible_violations.iter().map(|&(_, lit)| lit)).collect();
        self.solver.add_clause(&any);
        let no_input = self.bounded.skeleton.no_input.clone();
        let no_input = no_input.into_iter().map(|term| self.literal(term)).collect();
        let doubts: Vec<Term> = self.bounded.skeleton.doubts.iter().map(|(condition, _)| *condition).collect();
        let doubts = doubts.into_iter().map(|condition| self.literal(condition)).collect();
        let (solver, nodes, links, copies) = (self.solver, self.nodes, self.links, self.copies);
        Composition {
            solver,
            nodes,
            possible_violations,
            violated,
            stopped_section,
            cuts,
            unaligned,
            no_input,
            doubts,
            links,
            copies,
        }
    }

    /// Cells coincide or do not overlap, provided that all are aligned to their size. Whether symbolic addresses are
    /// has to be asked.
    fn unaligned(&mut self, pruned: &Pruned) -> Option<Lit> {
        let mut conditions = FxHashSet::default();
        let reads = pruned.cells.reads.iter().zip(&pruned.may_copy).filter(|(_, may_copy)| may_copy.is_some());
        for cell in reads.map(|(read, _)| read).chain(&pruned.cells.writes) {
            let terms = &mut self.bounded.terms;
            // (A word that is read at the deadlock point may have any address.)
            if self.bounded.skeleton.events[cell.event].thread == self.bounded.skeleton.no_thread() {
                continue;
            }
            let low_bits = cell.unit.bytes.trailing_zeros();
            let mask = u128::from(cell.unit.bytes - 1);
            if low_bits == 0 || terms.known(cell.unit.address).zeros & mask == mask {
                continue;
            }
            let low = terms.extract(cell.unit.address, 0, low_bits);
            let zero = terms.bits(low_bits, 0);
            let is_aligned = terms.eq(low, zero);
            let is_unaligned = terms.not(is_aligned);
            let condition = terms.and2(cell.occurs, is_unaligned);
            if terms.as_bool(condition) != Some(false) {
                conditions.insert(condition);
            }
        }
        if conditions.is_empty() {
            return None;
        }
        let asked = self.solver.new_literal();
        let mut conditions: Vec<Term> = conditions.into_iter().collect();
        conditions.sort_unstable();
        let any: Vec<Lit> =
            std::iter::once(!asked).chain(conditions.into_iter().map(|condition| self.literal(condition))).collect();
        self.solver.add_clause(&any);
        Some(asked)
    }
}
