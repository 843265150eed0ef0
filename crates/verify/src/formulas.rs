//! Annotations as formulas: what a state says of a thread that runs, or of one that watches.

use crate::annotation::{Definition, Fact, Side, State, Variable};
use crate::cells::CellId;
use crate::code::StopId;
use crate::conditions::{Conditions, Path, Theirs};
use leno_domains::word;
use leno_logic::term::Term;
use std::collections::{BTreeMap, BTreeSet};

impl<'p> Conditions<'_, '_, 'p> {
    /// That one of the states of a stop is the one of a thread that gets there.
    pub(crate) fn any_of(&mut self, path: &mut Path, stop: StopId) -> Term {
        let annotation = self.annotation;
        let mut ways = Vec::new();
        for state in &annotation.states[stop] {
            if path.dirty.is_subset(&state.dirty) {
                let facts = self.invariant(path, state);
                ways.push(self.terms.and(&facts));
            }
        }
        self.terms.or(&ways)
    }

    /// Whether what is known at a stop is about one of these cells.
    pub(crate) fn is_affected(&self, stop: StopId, cells: &BTreeSet<CellId>) -> bool {
        self.annotation.states[stop].iter().flat_map(|state| &state.facts).any(|fact| {
            let mut found = false;
            fact.for_each_variable(|variable| {
                found |= matches!(variable, Variable::Cell(cell) if cells.contains(&cell));
            });
            found
        })
    }

    /// What a thread at another stop knows when the segment begins.
    pub(crate) fn watched_before(&mut self, path: &Path, other: StopId) -> Term {
        let mut values: BTreeMap<CellId, Term> = self.first.clone();
        for cell in &path.dirty_first {
            values.insert(*cell, self.their_own(Theirs::Seen(*cell)));
        }
        self.watched(path, other, &values)
    }

    /// What it has to know now.
    pub(crate) fn watched_after(&mut self, path: &mut Path, other: StopId) -> Term {
        let mut values: BTreeMap<CellId, Term> = BTreeMap::new();
        let cells: Vec<CellId> = self.cells.iter().map(|(cell, _)| cell).collect();
        for cell in cells {
            let term = match (path.dirty.contains(&cell), path.dirty_first.contains(&cell)) {
                (true, true) => self.their_own(Theirs::Seen(cell)),
                (true, false) => self.first[&cell],
                (false, _) => self.variable(path, Variable::Cell(cell)),
            };
            values.insert(cell, term);
        }
        self.watched(path, other, &values)
    }

    /// The same number before and after.
    fn their_own(&mut self, variable: Theirs) -> Term {
        if let Some(term) = self.theirs.get(&variable) {
            return *term;
        }
        let width = self.width(match variable {
            Theirs::Register(frame, local) => Variable::Register(frame, local),
            Theirs::Own(cell) | Theirs::Seen(cell) => Variable::Cell(cell),
        });
        let term = self.any(width);
        self.theirs.insert(variable, term);
        term
    }

    /// What a thread at another stop knows, if the cells that it sees have these values.
    fn watched(&mut self, path: &Path, other: StopId, seen: &BTreeMap<CellId, Term>) -> Term {
        let annotation = self.annotation;
        let mut ways = Vec::new();
        for state in &annotation.states[other] {
            let mut watching = Path::new(path.node, true);
            let mut mentioned = BTreeSet::new();
            state.facts.iter().for_each(|fact| fact.for_each_variable(|variable| _ = mentioned.insert(variable)));
            for variable in mentioned {
                let term = match variable {
                    Variable::Register(frame, local) => self.their_own(Theirs::Register(frame, local)),
                    Variable::Cell(cell) if self.cells.is_shared(cell) && !state.dirty.contains(&cell) => seen[&cell],
                    Variable::Cell(cell) => self.their_own(Theirs::Own(cell)),
                };
                watching.values.insert(variable, term);
            }
            let facts = self.invariant(&mut watching, state);
            ways.push(self.terms.and(&facts));
        }
        self.terms.or(&ways)
    }

    /// Gives the variables of which a state says what they equal that value: so an address shows in a register what it
    /// is the address of. (Any state that fits has these values; all that is said of it is assumed besides.)
    pub(crate) fn substitute(&mut self, path: &mut Path, state: &State<'p>) {
        let mut definitions: BTreeMap<Variable, Definition<'p>> = BTreeMap::new();
        for fact in &state.facts {
            match *fact {
                Fact::Is(variable, bits) => {
                    let term = self.terms.bits(self.width(variable), bits);
                    self.give(path, variable, term);
                }
                Fact::Equal(variable, definition) => _ = definitions.entry(variable).or_insert(definition),
                _ => {}
            }
        }
        // Depth first. What is being computed, and what is defined by itself, is a variable.
        let mut computing: BTreeSet<Variable> = BTreeSet::new();
        let mut work: Vec<Variable> = definitions.keys().copied().collect();
        while let Some(variable) = work.last().copied() {
            let definition = definitions.get(&variable).copied();
            let (Some(definition), false) = (definition, path.values.contains_key(&variable)) else {
                work.pop();
                continue;
            };
            let is_first_visit = computing.insert(variable);
            let mut missing = Vec::new();
            Fact::Equal(variable, definition).for_each_variable(|used| {
                let is_open = definitions.contains_key(&used) && !path.values.contains_key(&used);
                if is_open && !computing.contains(&used) {
                    missing.push(used);
                }
            });
            if is_first_visit && !missing.is_empty() {
                work.extend(missing);
                continue;
            }
            work.pop();
            let term = self.defined(path, definition);
            // (By now it may have got a variable, if its definition leads back to it.)
            if !path.values.contains_key(&variable) && self.terms.width(term) == self.width(variable) {
                self.give(path, variable, term);
            }
        }
    }

    fn defined(&mut self, path: &mut Path, definition: Definition<'p>) -> Term {
        match definition {
            Definition::Expr(frame, expr) => self.term(path, frame, expr),
            Definition::Same(other) => self.variable(path, other),
        }
    }

    /// What a state says, as formulas.
    pub(crate) fn invariant(&mut self, path: &mut Path, state: &State<'p>) -> Vec<Term> {
        let mut all = Vec::with_capacity(state.facts.len());
        for fact in &state.facts {
            all.push(self.formula(path, fact));
        }
        all
    }

    fn formula(&mut self, path: &mut Path, fact: &Fact<'p>) -> Term {
        let bits = |width: u32, number: i128| number as u128 & word::mask(width);
        match *fact {
            Fact::Is(variable, number) => {
                let term = self.variable(path, variable);
                let number = self.terms.bits(self.terms.width(term), number);
                self.terms.eq(term, number)
            }
            Fact::Unsigned(variable, low, high) => {
                let term = self.variable(path, variable);
                let width = self.terms.width(term);
                let (low, high) = (self.terms.bits(width, low), self.terms.bits(width, high));
                let (above, below) = (self.terms.ule(low, term), self.terms.ule(term, high));
                self.terms.and(&[above, below])
            }
            Fact::Signed(variable, low, high) => {
                let term = self.variable(path, variable);
                let width = self.terms.width(term);
                let (low, high) = (self.terms.bits(width, bits(width, low)), self.terms.bits(width, bits(width, high)));
                let (above, below) = (self.terms.sle(low, term), self.terms.sle(term, high));
                self.terms.and(&[above, below])
            }
            Fact::Bits(variable, mask, ones) => {
                let term = self.variable(path, variable);
                let width = self.terms.width(term);
                let (mask, ones) = (self.terms.bits(width, mask), self.terms.bits(width, ones));
                let masked = self.terms.bvand(term, mask);
                self.terms.eq(masked, ones)
            }
            Fact::Remainder(variable, modulus, residue) => {
                let term = self.variable(path, variable);
                let width = self.terms.width(term);
                let (divisor, positive) = (self.terms.bits(width, modulus), self.terms.bits(width, residue));
                let negative = self.terms.bits(width, residue.wrapping_sub(modulus) & word::mask(width));
                let rest = self.terms.srem(term, divisor);
                let (a, b) = (self.terms.eq(rest, positive), self.terms.eq(rest, negative));
                if residue == 0 { a } else { self.terms.or2(a, b) }
            }
            Fact::Equal(variable, definition) => {
                let (term, defined) = (self.variable(path, variable), self.defined(path, definition));
                match self.terms.width(term) == self.terms.width(defined) {
                    true => self.terms.eq(term, defined),
                    false => Term::TRUE,
                }
            }
            Fact::Sum { left, right, most, is_signed } => self.sum(path, left, right, most, is_signed),
        }
    }

    /// `left + right <= most`, of numbers of mathematics.
    fn sum(&mut self, path: &mut Path, left: Side, right: Side, most: i128, is_signed: bool) -> Term {
        let (a, b) = (self.variable(path, left.variable), self.variable(path, right.variable));
        let (width, other) = (self.terms.width(a), self.terms.width(b));
        // A difference is a comparison. (Sums cost the solver much more.)
        if left.is_negated != right.is_negated && width == other && (-1..=0).contains(&most) {
            let (less, more) = if left.is_negated { (b, a) } else { (a, b) };
            let mut at_most = |x: Term, y: Term| match is_signed {
                true => self.terms.sle(x, y),
                false => self.terms.ule(x, y),
            };
            return match most {
                0 => at_most(less, more),
                _ => {
                    let opposite = at_most(more, less);
                    self.terms.not(opposite)
                }
            };
        }
        // Two bits more hold any sum of two.
        let wide = width.max(other) + 2;
        if wide > 128 {
            // (Too wide for a sum: nothing can be shown of it, nor from it.)
            return self.terms.variable(leno_logic::term::Sort::Bool, "any");
        }
        let mut side = |term: Term, is_negated: bool| {
            let extended = match is_signed {
                true => self.terms.sign_extend(term, wide),
                false => self.terms.zero_extend(term, wide),
            };
            if is_negated { self.terms.neg(extended) } else { extended }
        };
        let (a, b) = (side(a, left.is_negated), side(b, right.is_negated));
        let sum = self.terms.add(a, b);
        let limit = 1i128 << (wide - 1).min(126);
        if most >= limit - 1 {
            return Term::TRUE;
        }
        if most < -limit {
            return Term::FALSE;
        }
        let most = self.terms.bits(wide, most as u128 & word::mask(wide));
        self.terms.sle(sum, most)
    }
}
