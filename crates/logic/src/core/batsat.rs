//! batsat: MiniSat in Rust, with a place for a theory.
//!
//! batsat hands its whole trail to the theory at every check; the adapter remembers how much of it has been passed on.
//!
//! batsat tells of clauses that it learns and deletes, but not of their antecedents: a proof gets them without hints.
//! The theory's clauses it never keeps, so each is logged when it is asked for and deleted once the learnt clause is
//! there; except at level 0, where batsat asks for no explanations, and later relies on what was propagated.

use super::{Answer, ClauseSink, Consequence, SatCore, SharedPropagator, Statistics};
use crate::limits::{Limits, Stop};
use crate::literal::{Lit, Var};
use crate::proof::Proof;
use batsat::{Callbacks, ClauseKind, SolverInterface, Theory, TheoryArg, lbool};
use std::cell::Cell;
use std::collections::HashMap;

/// A batsat solver and the theory that it calls.
pub struct Batsat {
    solver: batsat::Solver<Watch>,
    adapter: Adapter,
    variables: Vec<batsat::Var>,
}

/// What batsat calls back: the limits of the call under way and what they said, and the log of clauses.
struct Watch {
    limits: Limits,
    stopped: Cell<Option<Stop>>,
    /// How many clauses may still be learnt, one for each conflict.
    conflicts: Option<u64>,
    proof: Proof,
    /// The numbers of learnt clauses, by their sorted literals: batsat deletes them by content.
    learnt: HashMap<Box<[batsat::Lit]>, Vec<u64>>,
    /// The last clause that was learnt.
    last: u64,
}

impl Callbacks for Watch {
    fn stop(&self) -> bool {
        // batsat asks again before it really stops, and memory is not looked at every time: the first answer stands.
        let are_spent = self.conflicts == Some(0);
        let stop = self.stopped.get().or(are_spent.then_some(Stop::Conflicts)).or_else(|| self.limits.stop());
        self.stopped.set(stop);
        stop.is_some()
    }

    fn on_new_clause(&mut self, clause: &[batsat::Lit], _kind: ClauseKind) {
        self.conflicts = self.conflicts.map(|left| left.saturating_sub(1));
        if self.proof.is_on() {
            self.last = self.proof.next_id();
            self.proof.derived(self.last, clause.iter().map(|&lit| translate_back(lit).to_dimacs()), NO_HINTS);
            self.learnt.entry(sorted(clause)).or_default().push(self.last);
        }
    }

    fn on_delete_clause(&mut self, clause: &[batsat::Lit]) {
        // A clause that batsat has shortened in the meantime is not found, and stays in the proof.
        if let Some(id) = self.learnt.get_mut(&sorted(clause)).and_then(Vec::pop) {
            self.proof.deleted(id);
        }
    }
}

const NO_HINTS: [u64; 0] = [];

fn sorted(clause: &[batsat::Lit]) -> Box<[batsat::Lit]> {
    let mut clause: Box<[batsat::Lit]> = clause.into();
    clause.sort_unstable();
    clause
}

impl Batsat {
    pub fn new(theory: SharedPropagator) -> Batsat {
        Batsat::with_proof(theory, Proof::default())
    }

    /// Logs what it does to `proof`.
    pub fn with_proof(theory: SharedPropagator, proof: Proof) -> Batsat {
        let watch = Watch {
            limits: Limits::default(),
            stopped: Cell::new(None),
            conflicts: None,
            proof: proof.clone(),
            learnt: HashMap::new(),
            last: 0,
        };
        let solver = batsat::Solver::new(batsat::SolverOpts::default(), watch);
        let adapter = Adapter {
            theory,
            observed: Vec::new(),
            passed: 0,
            levels: Vec::new(),
            buffer: Vec::new(),
            proof,
            lemmas: Vec::new(),
        };
        let mut core = Batsat { solver, adapter, variables: Vec::new() };
        core.new_var();
        core.add_clause(&[Lit::TRUE]);
        core
    }

    fn translate(&self, lit: Lit) -> batsat::Lit {
        batsat::Lit::new(self.variables[lit.var().0 as usize], lit.is_positive())
    }

    fn take_clause(&mut self, clause: &[Lit]) {
        let mut lits = clause.iter().map(|&lit| self.translate(lit)).collect();
        self.solver.add_clause_reuse(&mut lits);
    }

    /// Logs that the query has been refuted, by the clause of failed assumptions that batsat learnt last, or because
    /// the clauses contradict each other without any.
    fn log_refutation(&mut self) {
        let failed: Box<[batsat::Lit]> = self.solver.unsat_core().into();
        let watch = self.solver.cb_mut();
        if watch.proof.is_on() {
            if failed.is_empty() {
                watch.on_new_clause(&[], ClauseKind::Learnt);
            }
            watch.proof.refuted(watch.last);
            watch.on_delete_clause(&failed);
        }
    }
}

fn translate_back(lit: batsat::Lit) -> Lit {
    Lit::new(Var(lit.var().idx()), lit.sign())
}

impl ClauseSink for Batsat {
    fn new_var(&mut self) -> Var {
        let var = Var(self.variables.len() as u32);
        self.variables.push(self.solver.new_var_default());
        self.adapter.observed.push(false);
        var
    }

    fn add_clause(&mut self, clause: &[Lit]) {
        let proof = &self.adapter.proof;
        proof.input(proof.next_id(), clause.iter().map(|lit| lit.to_dimacs()));
        self.take_clause(clause);
    }

    fn add_lemma(&mut self, clause: &[Lit]) {
        let proof = &self.adapter.proof;
        proof.lemma(proof.next_id(), clause.iter().map(|lit| lit.to_dimacs()));
        self.take_clause(clause);
    }
}

impl SatCore for Batsat {
    fn name(&self) -> &'static str {
        "batsat"
    }

    fn variables(&self) -> u32 {
        self.variables.len() as u32
    }

    fn observe(&mut self, var: Var) {
        // What is already fixed will not come again.
        let lit = self.translate(var.positive());
        let value = self.solver.value_lvl_0(lit);
        let fixed_before = self.solver.proved_at_lvl_0()[..self.adapter.passed].iter().any(|&l| l.var() == lit.var());
        if !self.adapter.observed[var.0 as usize] && fixed_before {
            self.adapter.theory.borrow_mut().assign(var.positive().with_value(value == lbool::TRUE));
        }
        self.adapter.observed[var.0 as usize] = true;
    }

    fn prefer(&mut self, _lit: Lit) {
        // batsat's saved phases cannot be set from outside.
    }

    fn bound_conflicts(&mut self, conflicts: u64) {
        self.solver.cb_mut().conflicts = Some(conflicts);
    }

    fn solve(&mut self, assumptions: &[Lit], limits: &Limits) -> Answer {
        let watch = self.solver.cb_mut();
        watch.limits = limits.clone();
        watch.stopped.set(None);
        watch.proof.query(assumptions);
        let assumptions: Vec<_> = assumptions.iter().map(|&lit| self.translate(lit)).collect();
        let answer = self.solver.solve_limited_th(&mut self.adapter, &assumptions);
        self.solver.cb_mut().conflicts = None;
        if answer == lbool::TRUE {
            Answer::Satisfiable
        } else if answer == lbool::FALSE {
            self.log_refutation();
            Answer::Unsatisfiable
        } else {
            Answer::Unknown(self.solver.cb().stopped.get().unwrap_or(Stop::Cancelled))
        }
    }

    fn value(&mut self, lit: Lit) -> bool {
        self.solver.value_lit(self.translate(lit)) == lbool::TRUE
    }

    fn failed(&mut self) -> Vec<Lit> {
        self.solver.unsat_core().iter().map(|&lit| !translate_back(lit)).collect()
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            conflicts: self.solver.num_conflicts(),
            decisions: self.solver.num_decisions(),
            propagations: self.solver.num_propagations(),
        }
    }
}

/// The theory as batsat sees it.
struct Adapter {
    theory: SharedPropagator,
    observed: Vec<bool>,
    /// How much of the trail the theory has heard of; and how much of it at each level.
    passed: usize,
    levels: Vec<usize>,
    buffer: Vec<batsat::Lit>,
    proof: Proof,
    /// The theory's clauses that the learnt clause to come will use.
    lemmas: Vec<u64>,
}

impl Adapter {
    fn log_lemma(&mut self, clause: &[Lit]) {
        if self.proof.is_on() {
            let id = self.proof.next_id();
            self.proof.lemma(id, clause.iter().map(|lit| lit.to_dimacs()));
            if !self.levels.is_empty() {
                self.lemmas.push(id);
            }
        }
    }

    /// At level 0 batsat does not ask why: log it at once.
    fn log_implied(&mut self, lit: Lit) {
        if self.proof.is_on() && self.levels.is_empty() {
            let mut clause = Vec::new();
            self.theory.borrow_mut().explain(lit, &mut clause);
            self.log_lemma(&clause);
        }
    }

    fn pass_on(&mut self, acts: &TheoryArg) {
        let mut theory = self.theory.borrow_mut();
        for &lit in &acts.model()[self.passed..] {
            if self.observed[lit.var().idx() as usize] {
                theory.assign(translate_back(lit));
            }
        }
        self.passed = acts.model().len();
    }

    /// Passes on what is new, and what the theory says. True if it has nothing to say.
    fn check(&mut self, acts: &mut TheoryArg) -> bool {
        self.pass_on(acts);
        let mut silent = true;
        loop {
            let consequence = self.theory.borrow_mut().propagate();
            match consequence {
                Consequence::Nothing => return silent,
                Consequence::Implied(lit) => {
                    silent = false;
                    self.log_implied(lit);
                    if !acts.propagate(batsat_literal(lit)) {
                        return false;
                    }
                }
                Consequence::Conflict => {
                    let clause = self.theory.borrow().conflict().to_vec();
                    self.log_lemma(&clause);
                    self.buffer.clear();
                    self.buffer.extend(clause.iter().map(|&lit| batsat_literal(lit)));
                    if self.buffer.is_empty() {
                        self.buffer.push(batsat_literal(Lit::FALSE)); // batsat knows no empty lemma
                    }
                    acts.raise_conflict(&self.buffer, false);
                    return false;
                }
            }
        }
    }
}

/// batsat numbers its variables as we do: from 0, in the order in which they are made.
fn batsat_literal(lit: Lit) -> batsat::Lit {
    batsat::Lit::new(batsat::Var::unsafe_from_idx(lit.var().0), lit.is_positive())
}

impl Theory for Adapter {
    fn final_check(&mut self, acts: &mut TheoryArg) {
        if self.check(acts) {
            self.theory.borrow_mut().model_found();
        }
    }

    fn partial_check(&mut self, acts: &mut TheoryArg) {
        self.check(acts);
    }

    fn create_level(&mut self) {
        self.levels.push(self.passed);
        self.theory.borrow_mut().new_level();
    }

    fn pop_levels(&mut self, count: usize) {
        for id in self.lemmas.drain(..) {
            self.proof.deleted(id);
        }
        let level = self.levels.len() - count;
        if count > 0 {
            self.passed = self.levels[level];
            self.levels.truncate(level);
        }
        self.theory.borrow_mut().backtrack(level);
    }

    fn n_levels(&self) -> usize {
        self.levels.len()
    }

    fn explain_propagation(&mut self, lit: batsat::Lit) -> &[batsat::Lit] {
        let lit = translate_back(lit);
        let mut clause = Vec::new();
        self.theory.borrow_mut().explain(lit, &mut clause);
        self.log_lemma(&clause);
        self.buffer.clear();
        self.buffer.extend(clause.iter().filter(|&&other| other != lit).map(|&other| batsat_literal(!other)));
        &self.buffer
    }
}
