//! Does one condition imply another, by their propositional structure? A SAT solver decides.
//!
//! `implication` takes conditions apart, which is quick and finds most implications. Where paths have met again after a
//! loop with several exits, an implication needs a case distinction: that a thread holds a lock after any number of
//! waits is a statement about all ways out of the loop at once. Comparisons and variables are atoms here, which may be
//! true or false, so a formula has one gate for each conjunction, made once for all questions.

use leno_logic::core::Answer;
use leno_logic::limits::Limits;
use leno_logic::literal::Lit;
use leno_logic::solver::{CoreKind, Solver};
use leno_logic::term::{Node, Term, Terms};
use rustc_hash::FxHashMap;

/// Conflicts of one question. Hardly any needs ten.
const MOST_CONFLICTS: u64 = 1_000;

pub struct ImplicationSat {
    solver: Solver,
    literals: FxHashMap<Term, Lit>,
    known: FxHashMap<(Term, Term), bool>,
    /// Variables that stand for other terms.
    equations: FxHashMap<Term, Term>,
}

impl ImplicationSat {
    pub fn with(equations: FxHashMap<Term, Term>) -> ImplicationSat {
        let solver = Solver::new(CoreKind::Batsat);
        ImplicationSat { solver, literals: FxHashMap::default(), known: FxHashMap::default(), equations }
    }

    /// Whether `b` holds whenever `a` does. False also if the solver gives up.
    pub fn implies(&mut self, terms: &Terms, a: Term, b: Term) -> bool {
        if let Some(&known) = self.known.get(&(a, b)) {
            return known;
        }
        let (premise, conclusion) = (self.literal(terms, a), self.literal(terms, b));
        let limits = Limits::default().with_conflicts(MOST_CONFLICTS);
        let answer = self.solver.solve(&[premise, !conclusion], &limits) == Answer::Unsatisfiable;
        self.known.insert((a, b), answer);
        answer
    }

    /// The literal of a Boolean term; those of its parts are made first.
    fn literal(&mut self, terms: &Terms, term: Term) -> Lit {
        let mut open = vec![term];
        while let Some(&next) = open.last() {
            let parts = self.parts(terms, next);
            let before = open.len();
            open.extend(parts.iter().flatten().filter(|part| !self.literals.contains_key(part)));
            if open.len() == before {
                open.pop();
                if !self.literals.contains_key(&next) {
                    let lit = self.gate(terms, next, parts);
                    self.literals.insert(next, lit);
                }
            }
        }
        self.literals[&term]
    }

    /// The operands of a term that is no atom.
    fn parts(&self, terms: &Terms, term: Term) -> [Option<Term>; 2] {
        match terms.node(term) {
            Node::Not(inner) => [Some(inner), None],
            Node::And(x, y) => [Some(x), Some(y)],
            Node::Variable(_) => [self.equations.get(&term).copied().filter(|meant| *meant < term), None],
            _ => [None, None],
        }
    }

    fn gate(&mut self, terms: &Terms, term: Term, parts: [Option<Term>; 2]) -> Lit {
        let [x, y] = parts.map(|part| part.and_then(|part| self.literals.get(&part).copied()));
        match (terms.node(term), x, y) {
            (Node::Bool(value), _, _) => Lit::from(value),
            (Node::Not(_), Some(x), _) => !x,
            (Node::Variable(_), Some(x), _) => x,
            (Node::And(..), Some(x), Some(y)) => {
                let both = self.solver.new_literal();
                self.solver.add_clause(&[!both, x]);
                self.solver.add_clause(&[!both, y]);
                self.solver.add_clause(&[both, !x, !y]);
                both
            }
            _ => self.solver.new_literal(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leno_logic::term::Sort;

    #[test]
    fn a_lock_is_held_after_any_number_of_waits() {
        let mut terms = Terms::new();
        let locked = terms.variable(Sort::Bool, "locked");
        let (mut path, mut held, mut left) = (locked, locked, Vec::new());
        for _ in 0..5 {
            let (waits, wakes) = (terms.variable(Sort::Bool, "waits"), terms.variable(Sort::Bool, "wakes"));
            let leaves = terms.not(waits);
            left.push(terms.and2(path, leaves));
            let unlocks = terms.and2(path, waits);
            let locks = terms.and2(unlocks, wakes);
            let stays = terms.not(unlocks);
            let still = terms.and2(held, stays);
            held = terms.or2(still, locks);
            path = locks;
        }
        let after = terms.or(&left);
        let mut sat = ImplicationSat::with(FxHashMap::default());
        assert!(sat.implies(&terms, after, held));
        assert!(!sat.implies(&terms, locked, held));
        assert!(!sat.implies(&terms, held, after));
    }
}
