//! Models that are wrong about functions, and what to tell the solver then.
//!
//! For the circuits an application of a function is a vector of fresh bits (see [`crate::term::Function`]). So an answer that
//! there is no model can be relied on, and a model has to be looked at: where the value of an application is not what the function
//! gives, the solver is told something that always holds and that this model violates, and is asked again. This ends, since
//! there are finitely many points; with good lemmas it ends soon.

use super::Solver;
use crate::core::Answer;
use crate::limits::Limits;
use crate::literal::Lit;
use crate::term::{Assignment, Evaluation, Mismatch, Node, Terms};

impl Solver {
    /// The applications of functions whose values in the model are wrong, and the model.
    pub fn mismatches(&mut self, terms: &Terms) -> (Vec<Mismatch>, Assignment) {
        let applications = self.blaster.applications();
        if applications.is_empty() {
            return (Vec::new(), Assignment::new());
        }
        let model = self.model(terms);
        let mut evaluation = Evaluation::new(terms, &model);
        let mut found = Vec::new();
        for application in applications {
            let Node::Apply(function, arguments) = terms.node(application) else { continue };
            let arguments: Vec<_> = arguments.into_iter().flatten().collect();
            let values: Vec<u128> = arguments.iter().map(|argument| evaluation.value(*argument).number()).collect();
            let exact = terms.function_of(function).compute(&values);
            let value = evaluation.value(application).number();
            if value != exact {
                found.push(Mismatch { application, arguments, values, found: value, exact });
            }
        }
        (found, model)
    }

    /// Demands what excludes the model, in which there are these mismatches.
    pub fn exclude(&mut self, terms: &mut Terms, mismatches: &[Mismatch], model: &Assignment) {
        for mismatch in mismatches {
            let Node::Apply(function, _) = terms.node(mismatch.application) else { continue };
            let function = terms.function_of(function).clone();
            let mut lemmas = function.lemmas(terms, mismatch);
            let mut evaluation = Evaluation::new(terms, model);
            if lemmas.iter().all(|lemma| evaluation.holds(*lemma)) {
                lemmas.push(terms.at_this_point(mismatch));
            }
            lemmas.into_iter().for_each(|lemma| self.assert(terms, lemma));
        }
    }

    /// Like [`Solver::solve`], with models that are right about functions.
    pub fn solve_exactly(&mut self, terms: &mut Terms, assumptions: &[Lit], limits: &Limits) -> Answer {
        loop {
            let answer = self.solve(assumptions, limits);
            if answer != Answer::Satisfiable {
                return answer;
            }
            let (mismatches, model) = self.mismatches(terms);
            if mismatches.is_empty() {
                return answer;
            }
            self.exclude(terms, &mismatches, &model);
        }
    }
}
