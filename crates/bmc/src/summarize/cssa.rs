//! Without summaries, for comparison: every assignment to a local and every path condition is a variable with an
//! equation.
//!
//! This is how concurrent static single assignment keeps the local control and data flow of threads in the formula
//! (paper 000, section 7, the column `Old(+O)`): the solver has to find out again, for each interleaving, what a
//! summary says once. Constants are propagated all the same, since without them nothing could be unrolled; and pruning
//! expands the equations of conditions. It does not expand those of values and addresses, so that a few more links are
//! left than with summaries: compare `links` and `suspects` (`--stats`) before comparing times.

use crate::summarize::Execution;
use leno_ir::program::Place;
use leno_logic::term::{Node, Sort, Substitution, Term};
use rustc_hash::FxHashMap;

/// How local control and data flow is represented.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Terms over what is read.
    #[default]
    Summaries,
    /// Equations in the formula.
    Cssa,
}

/// The variables, and what they are equal to.
#[derive(Default)]
pub(crate) struct Equations {
    pub of_variable: FxHashMap<Term, Term>,
    by_place: FxHashMap<(Place, Term), Term>,
}

impl Execution<'_> {
    /// What stands for a value from now on: itself, or a variable that is equal to it.
    pub(crate) fn assigned(&mut self, value: Term) -> Term {
        let is_simple = self.terms.as_constant(value).is_some() || matches!(self.terms.node(value), Node::Variable(_));
        if self.mode == Mode::Summaries || is_simple {
            return value;
        }
        let key = (self.here.0, value);
        if let Some(&variable) = self.equations.by_place.get(&key) {
            return variable;
        }
        let sort = self.terms.sort(value);
        let variable = self.terms.variable(sort, "local");
        let equal = match sort {
            Sort::Bool => self.terms.iff(variable, value),
            Sort::Bits(_) => self.terms.eq(variable, value),
        };
        self.skeleton.constraints.push(equal);
        self.equations.of_variable.insert(variable, value);
        self.equations.by_place.insert(key, variable);
        variable
    }

    /// A term without the variables that stand for others.
    pub(crate) fn expanded(&mut self, term: Term) -> Term {
        if self.equations.of_variable.is_empty() {
            return term;
        }
        Substitution::nested(self.equations.of_variable.clone()).apply(&mut self.terms, term)
    }
}
