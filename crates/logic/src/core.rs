//! What the solver asks of a SAT core, and what a core asks of a theory.
//!
//! Two cores stand behind the trait: CaDiCaL, with its inprocessing and its external propagator, and batsat, a MiniSat
//! with theories built in. A theory is shared with the core that calls it, because CaDiCaL owns its propagator for as
//! long as it lives: hence the `Rc<RefCell<_>>`. Nothing here knows terms, order or programs.

pub mod batsat;
pub mod cadical;

use crate::limits::{Limits, Stop};
use crate::literal::{Lit, Var};
use std::cell::RefCell;
use std::rc::Rc;

/// What a core said about its clauses under some assumptions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Satisfiable,
    Unsatisfiable,
    /// A limit was reached first.
    Unknown(Stop),
}

/// The next thing a theory has to say about the current assignment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Consequence {
    Nothing,
    /// The literal must hold; [`Propagator::explain`] says why.
    Implied(Lit),
    /// The assignment is impossible; [`Propagator::conflict`] is a clause that is false under it.
    Conflict,
}

/// A theory beside the clauses. It hears of assignments of the variables that the core was told to observe, in the
/// order in which they are made, and of the levels that they are undone by.
pub trait Propagator {
    fn assign(&mut self, lit: Lit);
    fn new_level(&mut self);
    /// Undoes all levels above `level`.
    fn backtrack(&mut self, level: usize);
    fn propagate(&mut self) -> Consequence;
    /// A clause that contains `lit`, implied by the theory, whose other literals were all false when `lit` was
    /// propagated.
    fn explain(&mut self, lit: Lit, clause: &mut Vec<Lit>);
    /// The clause of the last [`Consequence::Conflict`].
    fn conflict(&self) -> &[Lit];
    /// The literal to decide next, if the theory has a wish.
    fn decide(&mut self) -> Option<Lit> {
        None
    }
    /// Every variable has a value, and [`Propagator::propagate`] had nothing more to say.
    fn model_found(&mut self);
}

/// The theory that a core calls.
pub type SharedPropagator = Rc<RefCell<dyn Propagator>>;

/// Where clauses go.
pub trait ClauseSink {
    /// A fresh variable. Variable 0, the constant, is made and fixed before any other.
    fn new_var(&mut self) -> Var;
    fn add_clause(&mut self, clause: &[Lit]);
    /// A clause that the theory implies; if a proof is logged, its steps have just been written (see [`crate::proof`]).
    fn add_lemma(&mut self, clause: &[Lit]) {
        self.add_clause(clause);
    }
}

/// A conflict-driven SAT solver: incremental, with assumptions and a theory.
pub trait SatCore: ClauseSink {
    fn name(&self) -> &'static str;
    /// How many variables there are, the constant included.
    fn variables(&self) -> u32;
    /// Has the theory told of assignments to `var`.
    fn observe(&mut self, var: Var);
    /// The value that a decision on `lit`'s variable tries first.
    fn prefer(&mut self, lit: Lit);
    /// Has the next call of `solve` give up after so many conflicts, with [`Stop::Conflicts`]. The bound of its limits
    /// is the solver's business, who may have to call more than once.
    fn bound_conflicts(&mut self, conflicts: u64);
    fn solve(&mut self, assumptions: &[Lit], limits: &Limits) -> Answer;
    /// The value of `lit` in the model; only after [`Answer::Satisfiable`].
    fn value(&mut self, lit: Lit) -> bool;
    /// Those of the assumptions that are impossible together; only after [`Answer::Unsatisfiable`].
    fn failed(&mut self) -> Vec<Lit>;
    /// Conflicts, decisions and propagations so far.
    fn statistics(&self) -> Statistics;
}

/// Counters of a core's work.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Statistics {
    pub conflicts: u64,
    pub decisions: u64,
    pub propagations: u64,
}
