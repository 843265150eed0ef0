//! Models that are wrong about functions, and what to tell the solver then.
//!
//! For the circuits an application of a function is a vector of fresh bits (see [`crate::term::Function`]). So an
//! answer that there is no model can be relied on, and a model has to be looked at: where the value of an application
//! is not what the function gives, the solver is told something that always holds and that this model violates, and is
//! asked again. This ends, since there are finitely many points; with good lemmas it ends soon.

use super::Solver;
use crate::core::Answer;
use crate::limits::Limits;
use crate::literal::Lit;
use crate::term::{Assignment, Evaluation, Mismatch, Node, Term, Terms};

/// Where the literal holds, the variable (or piece of one) is equal to the term.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Copied {
    pub guard: Lit,
    pub variable: Term,
    pub of: Term,
}

impl Solver {
    /// The applications of functions whose values in the model are wrong, and the model.
    ///
    /// What depends on an application that is wrong is looked at as if that were right; also through variables that are
    /// copies of terms where a literal holds, if that is said. So a whole chain of results is put right at once. (The
    /// first one that is wrong has the arguments of the model, so that its lemma excludes it.)
    pub fn mismatches(&mut self, terms: &Terms, copies: &[Copied]) -> (Vec<Mismatch>, Assignment) {
        let applications = self.blaster.applications();
        if applications.is_empty() {
            return (Vec::new(), Assignment::new());
        }
        let model = self.model(terms);
        let mut evaluation = Evaluation::new(terms, &model);
        let exact = model.without_applications();
        let mut right = Evaluation::new(terms, &exact);
        for copy in copies.iter().filter(|copy| self.value(copy.guard)) {
            right.copy(copy.variable, copy.of);
        }
        let mut found = Vec::new();
        for application in applications {
            let Node::Apply(_, arguments) = terms.node(application) else { continue };
            let arguments: Vec<_> = arguments.into_iter().flatten().collect();
            let values: Vec<u128> = arguments.iter().map(|argument| right.value(*argument).number()).collect();
            let exact = right.value(application).number();
            let value = evaluation.value(application).number();
            if value != exact {
                found.push(Mismatch { application, arguments, values, found: value, exact });
            }
        }
        (found, model)
    }

    /// How much the solver was told about functions.
    pub fn lemmas(&self) -> u64 {
        self.lemmas
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
            self.lemmas += lemmas.len() as u64;
            lemmas.into_iter().for_each(|lemma| self.assert(terms, lemma));
        }
    }

    /// Like [`Solver::solve`], with models that are right about functions.
    pub fn solve_exactly(
        &mut self,
        terms: &mut Terms,
        copies: &[Copied],
        assumptions: &[Lit],
        limits: &Limits,
    ) -> Answer {
        loop {
            let answer = self.solve(assumptions, limits);
            if answer != Answer::Satisfiable {
                return answer;
            }
            let (mismatches, model) = self.mismatches(terms, copies);
            if mismatches.is_empty() {
                return answer;
            }
            self.exclude(terms, &mismatches, &model);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{Function, Sort, evaluate};
    use std::sync::Arc;

    /// What no circuit is made for.
    struct Scrambled;

    impl Function for Scrambled {
        fn name(&self) -> &str {
            "scrambled"
        }
        fn width(&self) -> u32 {
            8
        }
        fn compute(&self, arguments: &[u128]) -> u128 {
            arguments.iter().fold(7u128, |sum, argument| (sum * 167 + argument * 13) ^ (sum >> 3)) & 0xff
        }
    }

    fn scrambled(terms: &mut Terms, arguments: &[Term]) -> Term {
        let function = terms.function(Arc::new(Scrambled));
        terms.apply(function, arguments)
    }

    #[test]
    fn constants_are_computed_also_after_a_substitution() {
        let mut terms = Terms::new();
        let (x, p) = (terms.variable(Sort::Bits(8), "x"), terms.variable(Sort::Bool, "p"));
        let (three, five) = (terms.bits(8, 3), terms.bits(8, 5));
        let applied = scrambled(&mut terms, &[x, three]);
        let known = scrambled(&mut terms, &[five, three]);
        assert_eq!(terms.as_bits(known), Some(Scrambled.compute(&[5, 3])));
        let map = [(x, five)].into_iter().collect();
        assert_eq!(terms.substitute(applied, &map), known);
        let choice = terms.ite(p, five, three);
        let (chosen, other) = (scrambled(&mut terms, &[choice, three]), scrambled(&mut terms, &[three, three]));
        assert_eq!(chosen, terms.ite(p, known, other));
    }

    /// Two applications, one of the other, of all that the variables may be.
    #[test]
    fn models_are_right_and_all_of_them_are_found() {
        for wanted in 0..=255 {
            let mut terms = Terms::new();
            let (x, y) = (terms.variable(Sort::Bits(8), "x"), terms.variable(Sort::Bits(4), "y"));
            let y_wide = terms.zero_extend(y, 8);
            let inner = scrambled(&mut terms, &[x]);
            let outer = scrambled(&mut terms, &[inner, y_wide]);
            let goal = terms.bits(8, wanted);
            let found = terms.eq(outer, goal);
            let mut solver = Solver::default();
            solver.assert(&terms, found);
            let value = |x, y| Scrambled.compute(&[Scrambled.compute(&[x]), y]);
            let possible = (0..256).any(|x| (0..16).any(|y| value(x, y) == wanted));
            let answer = solver.solve_exactly(&mut terms, &[], &[], &Limits::default());
            assert_eq!(answer == Answer::Satisfiable, possible, "{wanted}");
            if possible {
                let model = solver.model(&terms);
                let [x, y] = [x, y].map(|variable| evaluate(&terms, variable, &model).number());
                assert_eq!(value(x, y), wanted);
            }
        }
    }

    #[test]
    fn other_solvers_get_functions() {
        let mut terms = Terms::new();
        let x = terms.variable(Sort::Bits(8), "x");
        let (one, zero) = (terms.bits(8, 1), terms.bits(8, 0));
        let next = terms.add(x, one);
        let (a, b) = (scrambled(&mut terms, &[x]), scrambled(&mut terms, &[next]));
        let (a, b) = (terms.ult(a, b), terms.eq(b, zero));
        let mut solver = Solver::default().recording();
        [a, b].into_iter().for_each(|term| solver.assert(&terms, term));
        let text = solver.query().map(|query| query.script(&terms, &[]).question()).unwrap_or_default();
        assert!(text.contains("(set-logic QF_UFBV)"), "{text}");
        assert_eq!(text.matches("(declare-fun |scrambled| ((_ BitVec 8)) (_ BitVec 8))").count(), 1, "{text}");
        assert_eq!(text.matches("(|scrambled| ").count(), 2, "{text}");
    }
}
