//! batsat: MiniSat in Rust, with a place for a theory.
//!
//! batsat hands its whole trail to the theory at every check; the adapter remembers how much of it has been passed on.

use super::{Answer, ClauseSink, Consequence, SatCore, SharedPropagator, Statistics};
use crate::limits::{Limits, Stop};
use crate::literal::{Lit, Var};
use batsat::{Callbacks, SolverInterface, Theory, TheoryArg, lbool};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A batsat solver and the theory that it calls.
pub struct Batsat {
    solver: batsat::Solver<Watch>,
    adapter: Adapter,
    variables: Vec<batsat::Var>,
}

/// The limits of the call under way; and what they said.
#[derive(Clone, Default)]
struct Watch(Rc<(RefCell<Limits>, Cell<Option<Stop>>)>);

impl Callbacks for Watch {
    fn stop(&self) -> bool {
        let stop = self.0.0.borrow().stop();
        if stop.is_some() {
            self.0.1.set(stop);
        }
        stop.is_some()
    }
}

impl Batsat {
    pub fn new(theory: SharedPropagator) -> Batsat {
        let solver = batsat::Solver::new(batsat::SolverOpts::default(), Watch::default());
        let adapter = Adapter { theory, observed: Vec::new(), passed: 0, levels: Vec::new(), buffer: Vec::new() };
        let mut core = Batsat { solver, adapter, variables: Vec::new() };
        core.new_var();
        core.add_clause(&[Lit::TRUE]);
        core
    }

    fn translate(&self, lit: Lit) -> batsat::Lit {
        batsat::Lit::new(self.variables[lit.var().0 as usize], lit.is_positive())
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
        let mut lits = clause.iter().map(|&lit| self.translate(lit)).collect();
        self.solver.add_clause_reuse(&mut lits);
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

    fn solve(&mut self, assumptions: &[Lit], limits: &Limits) -> Answer {
        let watch = self.solver.cb().clone();
        watch.0.0.replace(limits.clone());
        watch.0.1.set(None);
        let assumptions: Vec<_> = assumptions.iter().map(|&lit| self.translate(lit)).collect();
        let answer = self.solver.solve_limited_th(&mut self.adapter, &assumptions);
        if answer == lbool::TRUE {
            Answer::Satisfiable
        } else if answer == lbool::FALSE {
            Answer::Unsatisfiable
        } else {
            Answer::Unknown(watch.0.1.get().unwrap_or(Stop::Cancelled))
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
}

impl Adapter {
    /// Passes on what is new, and what the theory says. True if it has nothing to say.
    fn check(&mut self, acts: &mut TheoryArg) -> bool {
        let mut theory = self.theory.borrow_mut();
        for &lit in &acts.model()[self.passed..] {
            if self.observed[lit.var().idx() as usize] {
                theory.assign(translate_back(lit));
            }
        }
        self.passed = acts.model().len();
        let mut silent = true;
        loop {
            match theory.propagate() {
                Consequence::Nothing => return silent,
                Consequence::Implied(lit) => {
                    silent = false;
                    if !acts.propagate(batsat_literal(lit)) {
                        return false;
                    }
                }
                Consequence::Conflict => {
                    self.buffer.clear();
                    self.buffer.extend(theory.conflict().iter().map(|&lit| batsat_literal(lit)));
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
        self.buffer.clear();
        self.buffer.extend(clause.iter().filter(|&&other| other != lit).map(|&other| batsat_literal(!other)));
        &self.buffer
    }
}
