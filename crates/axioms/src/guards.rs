//! Literals that stand for conjunctions and disjunctions, in one direction where that is enough.

use leno_logic::literal::Lit;
use leno_logic::solver::Solver;

/// Adds a clause without its literals that are constant; nothing if one of them is true.
pub fn add_clause(solver: &mut Solver, literals: impl IntoIterator<Item = Lit>) {
    let clause: Vec<Lit> = literals.into_iter().filter(|lit| *lit != Lit::FALSE).collect();
    if !clause.contains(&Lit::TRUE) {
        solver.add_clause(&clause);
    }
}

/// The literal that is true exactly if both are.
pub fn both(solver: &mut Solver, first: Lit, second: Lit) -> Lit {
    match (first, second) {
        (Lit::FALSE, _) | (_, Lit::FALSE) => return Lit::FALSE,
        (Lit::TRUE, other) | (other, Lit::TRUE) => return other,
        _ if first == second => return first,
        _ => {}
    }
    let both = solver.new_literal();
    solver.add_clause(&[!both, first]);
    solver.add_clause(&[!both, second]);
    solver.add_clause(&[both, !first, !second]);
    both
}

/// The literal that is true exactly if all of these are.
pub fn all(solver: &mut Solver, literals: impl IntoIterator<Item = Lit>) -> Lit {
    literals.into_iter().fold(Lit::TRUE, |before, lit| both(solver, before, lit))
}

/// A new literal that implies each of these: the engine may assume it, and does not use its negation.
pub fn implying_all(solver: &mut Solver, literals: impl IntoIterator<Item = Lit>) -> Lit {
    let lit = solver.new_literal();
    for implied in literals {
        solver.add_clause(&[!lit, implied]);
    }
    lit
}

/// A new literal that implies that one of these holds.
pub fn implying_one(solver: &mut Solver, literals: impl IntoIterator<Item = Lit>) -> Lit {
    let lit = solver.new_literal();
    let clause: Vec<Lit> = std::iter::once(!lit).chain(literals).collect();
    solver.add_clause(&clause);
    lit
}

/// At most one of the literals holds. Of each beginning of the list a literal says whether one of it does, so that
/// there are as many clauses as literals.
pub fn at_most_one(solver: &mut Solver, literals: impl IntoIterator<Item = Lit>) {
    let mut one_before: Option<Lit> = None;
    for lit in literals {
        let one = solver.new_literal();
        solver.add_clause(&[!lit, one]);
        if let Some(before) = one_before {
            solver.add_clause(&[!before, one]);
            solver.add_clause(&[!before, !lit]);
        }
        one_before = Some(one);
    }
}
