//! CaDiCaL, with the theory as its external propagator (IPASIR-UP).
//!
//! Chronological backtracking is off: the theory's trail is a stack of levels, and assignments below the current level
//! would not fit into it. Bounded variable addition (`factor`) is off too, because clauses over variables that only
//! CaDiCaL knows have no place in a proof of ours. It is also the only technique of CaDiCaL that derives clauses which
//! do not follow.
//!
//! A proof takes CaDiCaL's own numbers for clauses, and its antecedents as hints. Clauses that CaDiCaL sets aside when
//! it eliminates variables may come back later, so they are not deleted from the proof.

use super::{Answer, ClauseSink, Consequence, SatCore, SharedPropagator, Statistics};
use crate::limits::{Limits, Stop};
use crate::literal::{Lit, Var};
use crate::proof::Proof;
use cadical_sys::{CaDiCal, ExternalPropagator, ProofTracer, Status, Terminator};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

/// A CaDiCaL solver and the theory that it calls.
pub struct Cadical {
    solver: CaDiCal,
    limits: Rc<Watch>,
    variables: u32,
    assumed: Vec<Lit>,
    /// The bound of the next call.
    conflicts: Option<u64>,
    proof: Proof,
    /// Whether the clause that is being handed over comes from the theory.
    from_theory: Rc<Cell<bool>>,
}

/// The limits of the call under way, seen by CaDiCaL's terminator; and what it saw.
#[derive(Default)]
struct Watch {
    limits: RefCell<Limits>,
    stopped: Cell<Option<Stop>>,
}

struct Terminate(Rc<Watch>);

impl Terminator for Terminate {
    fn terminated(&mut self) -> bool {
        // Memory is not looked at every time: the first answer stands.
        let stop = self.0.stopped.get().or_else(|| self.0.limits.borrow().stop());
        self.0.stopped.set(stop);
        stop.is_some()
    }
}

impl Cadical {
    pub fn new(theory: SharedPropagator) -> Cadical {
        Cadical::with_proof(theory, Proof::default())
    }

    /// Logs what it does to `proof`.
    pub fn with_proof(theory: SharedPropagator, proof: Proof) -> Cadical {
        let mut solver = CaDiCal::new();
        for (option, value) in [("quiet", 1), ("chrono", 0), ("factor", 0), ("ilb", 0)] {
            solver.set(option, value);
        }
        let limits = Rc::new(Watch::default());
        solver.connect_terminator(Terminate(limits.clone()));
        let from_theory = Rc::new(Cell::new(false));
        if proof.is_on() {
            let tracer = Tracer { proof: proof.clone(), from_theory: from_theory.clone(), set_aside: HashSet::new() };
            solver.connect_proof_tracer1(tracer, true, false);
        }
        solver.connect_external_propagator(Adapter::new(theory, from_theory.clone()));
        let mut core =
            Cadical { solver, limits, variables: 0, assumed: Vec::new(), conflicts: None, proof, from_theory };
        core.new_var();
        core.add_clause(&[Lit::TRUE]);
        core
    }
}

impl ClauseSink for Cadical {
    fn new_var(&mut self) -> Var {
        let var = Var(self.variables);
        self.variables += 1;
        self.solver.declare_one_more_variable();
        var
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        for lit in clause {
            self.solver.add(lit.to_dimacs());
        }
        self.solver.add(0);
    }

    fn add_lemma(&mut self, clause: &[Lit]) {
        self.from_theory.set(true);
        self.add_clause(clause);
    }
}

impl SatCore for Cadical {
    fn name(&self) -> &'static str {
        "cadical"
    }

    fn variables(&self) -> u32 {
        self.variables
    }

    fn observe(&mut self, var: Var) {
        self.solver.add_observed_var(var.positive().to_dimacs());
    }

    fn prefer(&mut self, lit: Lit) {
        self.solver.phase(lit.to_dimacs());
    }

    fn bound_conflicts(&mut self, conflicts: u64) {
        self.conflicts = Some(conflicts);
    }

    fn solve(&mut self, assumptions: &[Lit], limits: &Limits) -> Answer {
        self.limits.limits.replace(limits.clone());
        self.limits.stopped.set(None);
        self.assumed = assumptions.to_vec();
        for lit in assumptions {
            self.solver.assume(lit.to_dimacs());
        }
        self.proof.query(assumptions);
        let bound = self.conflicts.take().and_then(|conflicts| i32::try_from(conflicts).ok());
        if let Some(conflicts) = bound {
            self.solver.limit("conflicts", conflicts);
        }
        match self.solver.solve() {
            Status::SATISFIABLE => Answer::Satisfiable,
            Status::UNSATISFIABLE => {
                if self.proof.is_on() {
                    self.solver.conclude();
                }
                Answer::Unsatisfiable
            }
            Status::UNKNOWN => {
                let by_itself = if bound.is_some() { Stop::Conflicts } else { Stop::Cancelled };
                Answer::Unknown(self.limits.stopped.get().unwrap_or(by_itself))
            }
        }
    }

    fn value(&mut self, lit: Lit) -> bool {
        (self.solver.val(lit.to_dimacs()) > 0) == (lit.to_dimacs() > 0)
    }

    fn failed(&mut self) -> Vec<Lit> {
        let assumed = std::mem::take(&mut self.assumed);
        let failed = assumed.iter().copied().filter(|lit| self.solver.failed(lit.to_dimacs())).collect();
        self.assumed = assumed;
        failed
    }

    fn statistics(&self) -> Statistics {
        let read = |name| u64::try_from(self.solver.get_statistic_value(name)).unwrap_or(0);
        Statistics { conflicts: read("conflicts"), decisions: read("decisions"), propagations: read("propagations") }
    }
}

/// CaDiCaL takes clauses one literal at a time; this keeps the one that is being handed over.
struct Adapter {
    theory: SharedPropagator,
    clause: Vec<Lit>,
    /// How much of `clause` has been handed over; none is under way when empty.
    given: usize,
    conflict_pending: bool,
    under_way: bool,
    from_theory: Rc<Cell<bool>>,
}

impl Adapter {
    fn new(theory: SharedPropagator, from_theory: Rc<Cell<bool>>) -> Adapter {
        Adapter { theory, clause: Vec::new(), given: 0, conflict_pending: false, under_way: false, from_theory }
    }

    fn next_literal(&mut self) -> i32 {
        if let Some(lit) = self.clause.get(self.given) {
            self.given += 1;
            lit.to_dimacs()
        } else {
            self.under_way = false;
            0
        }
    }

    fn begin(&mut self) {
        self.given = 0;
        self.under_way = true;
        self.from_theory.set(true);
    }
}

impl ExternalPropagator for Adapter {
    fn notify_assignment(&mut self, lits: &[i32]) {
        let mut theory = self.theory.borrow_mut();
        for &lit in lits {
            theory.assign(Lit::from_dimacs(lit));
        }
    }

    fn notify_new_decision_level(&mut self) {
        self.theory.borrow_mut().new_level();
    }

    fn notify_backtrack(&mut self, new_level: usize) {
        self.conflict_pending = false;
        self.theory.borrow_mut().backtrack(new_level);
    }

    fn cb_check_found_model(&mut self, _model: &[i32]) -> bool {
        let mut theory = self.theory.borrow_mut();
        match theory.propagate() {
            Consequence::Nothing => {
                theory.model_found();
                true
            }
            Consequence::Implied(lit) => {
                // It is false in the model: its explanation is a conflict.
                self.clause.clear();
                theory.explain(lit, &mut self.clause);
                drop(theory);
                self.begin();
                false
            }
            Consequence::Conflict => {
                self.conflict_pending = true;
                false
            }
        }
    }

    fn cb_decide(&mut self) -> i32 {
        self.theory.borrow_mut().decide().map_or(0, Lit::to_dimacs)
    }

    fn cb_propagate(&mut self) -> i32 {
        if self.conflict_pending {
            return 0;
        }
        match self.theory.borrow_mut().propagate() {
            Consequence::Nothing => 0,
            Consequence::Implied(lit) => lit.to_dimacs(),
            Consequence::Conflict => {
                self.conflict_pending = true;
                0
            }
        }
    }

    fn cb_add_reason_clause_lit(&mut self, propagated: i32) -> i32 {
        if !self.under_way {
            self.clause.clear();
            self.theory.borrow_mut().explain(Lit::from_dimacs(propagated), &mut self.clause);
            self.begin();
        }
        self.next_literal()
    }

    fn cb_has_external_clause(&mut self, forgettable: &mut bool) -> bool {
        *forgettable = true;
        if self.conflict_pending {
            self.conflict_pending = false;
            self.clause.clear();
            self.clause.extend_from_slice(self.theory.borrow().conflict());
            self.begin();
        }
        self.under_way
    }

    fn cb_add_external_clause_lit(&mut self) -> i32 {
        self.next_literal()
    }
}

/// CaDiCaL's account of its clauses, on its way to the proof.
struct Tracer {
    proof: Proof,
    from_theory: Rc<Cell<bool>>,
    /// Clauses that CaDiCaL is about to delete and may restore.
    set_aside: HashSet<i64>,
}

/// The conclusion that an assumption clause was found; CaDiCaL's `ConclusionType`.
const BY_ASSUMPTIONS: i32 = 2;

fn number(id: i64) -> u64 {
    id.unsigned_abs()
}

impl ProofTracer for Tracer {
    fn add_original_clause(&mut self, id: i64, _redundant: bool, clause: &[i32], restored: bool) {
        if restored {
            // It was never deleted from the proof.
        } else if self.from_theory.take() {
            self.proof.lemma(number(id), clause.iter().copied());
        } else {
            self.proof.input(number(id), clause.iter().copied());
        }
    }

    fn add_derived_clause(&mut self, id: i64, _redundant: bool, _witness: i32, clause: &[i32], antecedents: &[i64]) {
        self.proof.derived(number(id), clause.iter().copied(), antecedents);
    }

    fn delete_clause(&mut self, id: i64, _redundant: bool, _clause: &[i32]) {
        if !self.set_aside.remove(&id) {
            self.proof.deleted(number(id));
        }
    }

    fn weaken_minus(&mut self, id: i64, _clause: &[i32]) {
        self.set_aside.insert(id);
    }

    fn add_assumption_clause(&mut self, id: i64, clause: &[i32], antecedents: &[i64]) {
        self.proof.derived(number(id), clause.iter().copied(), antecedents);
    }

    fn conclude_unsat(&mut self, conclusion_type: i32, clause_ids: &[i64]) {
        // Only constraints, which are not used, have more than one.
        let [id] = *clause_ids else { return };
        self.proof.refuted(number(id));
        if conclusion_type == BY_ASSUMPTIONS {
            self.proof.deleted(number(id));
        }
    }

    fn strengthen(&mut self, _id: i64) {}
    fn finalize_clause(&mut self, _id: i64, _clause: &[i32]) {}
    fn add_assumption(&mut self, _lit: i32) {}
    fn add_constraint(&mut self, _clause: &[i32]) {}
    fn reset_assumptions(&mut self) {}
    fn conclude_sat(&mut self, _conclusion_type: i32, _model: &[i32]) {}
    fn conclude_unknown(&mut self, _trail: &[i32]) {}
}
