//! Clauses, and what follows from them by unit propagation.
//!
//! A clause is derived by supposing that it is false and propagating units until some clause is false. A record may
//! give the clauses to look at, in order (LRAT): then each of them must be a unit or false when its turn comes, and
//! nothing is searched. Without hints all live clauses take part (RUP), found by two watched literals a clause.
//!
//! Watching costs time and memory, so clauses are watched only once a record without hints has come. From then on,
//! consequences of units alone, at the *root*, are kept for good: they hold in every model, so they outlive the clauses
//! that they came from.
//!
//! Memory is proportional to the proof, whatever numbers are in it: variables are renumbered in the order of their
//! appearance.

use crate::Literal;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The clauses accepted so far, less those deleted.
#[derive(Default)]
pub struct Clauses {
    variables: Vec<Literal>,
    numbers: HashMap<Literal, usize>,
    /// The live clauses, as indices into `clauses`.
    ids: HashMap<u64, usize>,
    /// Never shrinks, so that an index in a list of watches cannot come to mean another clause.
    clauses: Vec<Option<Box<[Lit]>>>,
    /// By literal: its value, if it has one.
    values: Vec<Option<bool>>,
    /// True literals. Outside of [`Clauses::derive`], only those of the root.
    trail: Vec<Lit>,
    /// By literal: clauses to look at when it becomes false.
    watches: Vec<Vec<usize>>,
    /// The clauses from this one on are not watched yet.
    unwatched: usize,
    /// The clauses contradict each other at the root.
    contradiction: bool,
}

/// Twice the number of a variable, plus one if negated.
type Lit = usize;

/// Clauses contradict each other.
struct Conflict;

impl Clauses {
    /// A clause that was found to hold in every model.
    pub fn add(&mut self, id: u64, literals: &[Literal]) -> Result<(), String> {
        let mut clause: Vec<Lit> = literals.iter().map(|&literal| self.number(literal)).collect();
        clause.sort_unstable();
        clause.dedup();
        match self.ids.entry(id) {
            Entry::Occupied(_) => Err(format!("clause {id} is there already")),
            Entry::Vacant(entry) => {
                entry.insert(self.clauses.len());
                self.clauses.push(Some(clause.into()));
                Ok(())
            }
        }
    }

    /// Adds a clause that follows from those that are there.
    pub fn derive(&mut self, id: u64, literals: &[Literal], hints: &[u64]) -> Result<(), String> {
        let clause: Vec<Lit> = literals.iter().map(|&literal| self.number(literal)).collect();
        if hints.is_empty() {
            self.watch_new_clauses();
        }
        let root = self.trail.len();
        let result = if hints.is_empty() { self.search(&clause, root) } else { self.follow(&clause, hints) };
        self.undo(root);
        result?;
        self.add(id, literals)
    }

    pub fn delete(&mut self, id: u64) -> Result<(), String> {
        let index = self.ids.remove(&id).ok_or_else(|| unknown(id))?;
        self.clauses[index] = None;
        Ok(())
    }

    /// The literals of a live clause, in ascending order.
    pub fn get(&self, id: u64) -> Result<Vec<Literal>, String> {
        let literal = |&lit: &Lit| if lit % 2 == 0 { self.variables[lit / 2] } else { -self.variables[lit / 2] };
        let mut literals: Vec<Literal> = self.find(id)?.iter().map(literal).collect();
        literals.sort_unstable();
        Ok(literals)
    }

    fn find(&self, id: u64) -> Result<&[Lit], String> {
        let clause = self.ids.get(&id).and_then(|&index| self.clauses[index].as_deref());
        clause.ok_or_else(|| unknown(id))
    }

    fn number(&mut self, literal: Literal) -> Lit {
        let next = self.variables.len();
        let number = *self.numbers.entry(literal.abs()).or_insert(next);
        if number == next {
            self.variables.push(literal.abs());
            self.values.extend([None, None]);
            self.watches.extend([Vec::new(), Vec::new()]);
        }
        2 * number + usize::from(literal < 0)
    }

    /// Makes a literal true, unless it is false.
    fn assign(&mut self, lit: Lit) -> Result<(), Conflict> {
        match self.values[lit] {
            Some(true) => Ok(()),
            Some(false) => Err(Conflict),
            None => {
                self.values[lit] = Some(true);
                self.values[lit ^ 1] = Some(false);
                self.trail.push(lit);
                Ok(())
            }
        }
    }

    fn undo(&mut self, length: usize) {
        for lit in self.trail.drain(length..) {
            self.values[lit] = None;
            self.values[lit ^ 1] = None;
        }
    }

    fn assign_negations(&mut self, clause: &[Lit]) -> Result<(), Conflict> {
        clause.iter().try_for_each(|lit| self.assign(lit ^ 1))
    }

    fn follow(&mut self, clause: &[Lit], hints: &[u64]) -> Result<(), String> {
        if self.assign_negations(clause).is_err() {
            return Ok(());
        }
        for &id in hints {
            let mut candidates = self.find(id)?.iter().copied().filter(|&lit| self.values[lit] != Some(false));
            match (candidates.next(), candidates.next()) {
                (None, _) => return Ok(()),
                (Some(unit), None) => {
                    // It is not false, so there is no conflict.
                    let _ = self.assign(unit);
                }
                _ => return Err(format!("clause {id}, a hint, is neither a unit nor false")),
            }
        }
        Err("the hints lead to no contradiction".to_string())
    }

    fn search(&mut self, clause: &[Lit], root: usize) -> Result<(), String> {
        let conflict = self.contradiction || self.assign_negations(clause).and_then(|()| self.propagate(root)).is_err();
        if conflict { Ok(()) } else { Err("the clause does not follow by unit propagation".to_string()) }
    }

    /// Watches the clauses that have come since the last time, and propagates at the root.
    fn watch_new_clauses(&mut self) {
        let root = self.trail.len();
        let new = self.unwatched..self.clauses.len();
        self.unwatched = self.clauses.len();
        for index in new {
            self.contradiction |= self.watch(index).is_err();
        }
        self.contradiction |= self.propagate(root).is_err();
    }

    fn watch(&mut self, index: usize) -> Result<(), Conflict> {
        let Some(clause) = &mut self.clauses[index] else { return Ok(()) };
        // Literals that are false at the root are false for good: watch others.
        clause.sort_unstable_by_key(|&lit| self.values[lit] == Some(false));
        match clause.iter().filter(|&&lit| self.values[lit] != Some(false)).count() {
            0 => Err(Conflict),
            1 => {
                let unit = clause[0];
                self.assign(unit)
            }
            _ => {
                self.watches[clause[0]].push(index);
                self.watches[clause[1]].push(index);
                Ok(())
            }
        }
    }

    /// Propagates the literals of the trail from position `next` on.
    fn propagate(&mut self, mut next: usize) -> Result<(), Conflict> {
        while let Some(&lit) = self.trail.get(next) {
            next += 1;
            let falsified = lit ^ 1;
            let mut watching = std::mem::take(&mut self.watches[falsified]);
            let mut conflict = false;
            watching.retain(|&index| conflict || self.keep_watching(index, falsified, &mut conflict));
            self.watches[falsified] = watching;
            if conflict {
                return Err(Conflict);
            }
        }
        Ok(())
    }

    /// Looks at a clause whose watched literal `falsified` has become false: finds another to watch, or else propagates
    /// the other watched literal. Whether `falsified` is still watched.
    fn keep_watching(&mut self, index: usize, falsified: Lit, conflict: &mut bool) -> bool {
        let Some(clause) = &mut self.clauses[index] else { return false };
        if clause[0] == falsified {
            clause.swap(0, 1);
        }
        let other = clause[0];
        if self.values[other] == Some(true) {
            return true;
        }
        if let Some(position) = (2..clause.len()).find(|&position| self.values[clause[position]] != Some(false)) {
            clause.swap(1, position);
            self.watches[clause[1]].push(index);
            return false;
        }
        *conflict = self.assign(other).is_err();
        true
    }
}

fn unknown(id: u64) -> String {
    format!("there is no clause {id}")
}
