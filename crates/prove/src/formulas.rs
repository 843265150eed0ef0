//! Invariants as formulas: what a state says of a thread that runs, or of one that watches.

use crate::cells::CellId;
use crate::code::StopId;
use crate::conditions::{Conditions, Path};
use crate::state::{Definition, State, Value, Variable};
use leno_domains::{Congruence, Constraint, Numbers, Octagon, Side, word};
use leno_logic::term::Term;
use std::collections::{BTreeMap, BTreeSet};

impl<'p> Conditions<'_, '_, 'p> {
    /// That one of the states of a stop is the one of a thread that gets there.
    pub(crate) fn any_of(&mut self, path: &mut Path<'p>, stop: StopId) -> Term {
        let found = self.found;
        let mut ways = Vec::new();
        for state in found.invariants[stop].iter() {
            if path.dirty.iter().all(|cell| state.is_dirty(*cell)) {
                let facts = self.invariant(path, state);
                ways.push(self.terms.and(&facts));
            }
        }
        self.terms.or(&ways)
    }

    /// Whether what is known at a stop is about one of these cells.
    pub(crate) fn is_affected(&self, stop: StopId, cells: &BTreeSet<CellId>) -> bool {
        let is_one = |variable: Variable| matches!(variable, Variable::Cell(cell) if cells.contains(&cell));
        self.found.invariants[stop].iter().any(|state| {
            state.cells().any(|(cell, _)| cells.contains(&cell))
                || state.relations().any(|octagon| octagon.variables().iter().any(|variable| is_one(*variable)))
                || state.definitions().any(|(variable, definition)| {
                    let mut found = is_one(variable);
                    definition.for_each_variable(|mentioned| found |= is_one(mentioned));
                    found
                })
        })
    }

    /// What a thread at another stop knows when the segment begins.
    pub(crate) fn watched_before(&mut self, path: &Path<'p>, other: StopId) -> Term {
        let hidden: Vec<CellId> = path.dirty_first.iter().copied().collect();
        let mut values: BTreeMap<CellId, Term> = self.first.clone();
        for cell in hidden {
            values.insert(cell, self.their_own(Variable::Seen(cell)));
        }
        self.watched(path, other, &values)
    }

    /// What it has to know now.
    pub(crate) fn watched_after(&mut self, path: &mut Path<'p>, other: StopId) -> Term {
        let mut values: BTreeMap<CellId, Term> = BTreeMap::new();
        let cells: Vec<CellId> = self.cells.iter().map(|(cell, _)| cell).collect();
        for cell in cells {
            let term = match (path.dirty.contains(&cell), path.dirty_first.contains(&cell)) {
                (true, true) => self.their_own(Variable::Seen(cell)),
                (true, false) => self.first[&cell],
                (false, _) => self.variable(path, Variable::Cell(cell)),
            };
            values.insert(cell, term);
        }
        self.watched(path, other, &values)
    }

    /// The same number before and after.
    fn their_own(&mut self, variable: Variable) -> Term {
        if let Some(term) = self.theirs.get(&variable) {
            return *term;
        }
        let width = self.width(variable);
        let term = self.any(width);
        self.theirs.insert(variable, term);
        term
    }

    /// What a thread at another stop knows, if the cells that it sees have these values.
    fn watched(&mut self, path: &Path<'p>, other: StopId, seen: &BTreeMap<CellId, Term>) -> Term {
        let found = self.found;
        let mut ways = Vec::new();
        for state in found.invariants[other].iter() {
            let mut watching = Path {
                values: BTreeMap::new(),
                conditions: Vec::new(),
                dirty: BTreeSet::new(),
                dirty_first: BTreeSet::new(),
                started: Vec::new(),
                known: state.clone(),
                node: path.node,
                is_other: true,
            };
            for (cell, term) in seen {
                let is_visible = self.cells.is_shared(*cell) && !state.is_dirty(*cell);
                let term = if is_visible { *term } else { self.their_own(Variable::Theirs(*cell)) };
                watching.values.insert(Variable::Cell(*cell), term);
            }
            let registers: Vec<(Variable, Term)> = self
                .theirs
                .iter()
                .filter(|(variable, _)| matches!(variable, Variable::Register(..)))
                .map(|(variable, term)| (*variable, *term))
                .collect();
            watching.values.extend(registers);
            let facts = self.invariant(&mut watching, state);
            ways.push(self.terms.and(&facts));
            let registers = watching.values.into_iter().filter(|(it, _)| matches!(it, Variable::Register(..)));
            self.theirs.extend(registers);
        }
        self.terms.or(&ways)
    }

    /// What a state says, as formulas.
    pub(crate) fn invariant(&mut self, path: &mut Path<'p>, state: &State<'p>) -> Vec<Term> {
        let mut all = Vec::new();
        let registers = state.registers().map(|(frame, local, value)| (Variable::Register(frame, local), value));
        let cells = state.cells().map(|(cell, value)| (Variable::Cell(cell), value));
        for (variable, value) in registers.chain(cells) {
            let term = self.variable(path, variable);
            all.push(self.within(term, &value));
        }
        for (variable, definition) in state.definitions() {
            let term = self.variable(path, variable);
            let defined = match definition {
                Definition::Expr(frame, expr) => self.term(path, frame, expr),
                Definition::Same(other) => self.variable(path, other),
            };
            if self.terms.width(term) == self.terms.width(defined) {
                all.push(self.terms.eq(term, defined));
            }
        }
        let mut relations: Vec<Constraint<Variable>> = state.relations().flat_map(Octagon::constraints).collect();
        for octagon in state.relations() {
            for variable in octagon.variables() {
                let sides = [Side::plus(*variable), Side::minus(*variable)];
                relations.extend(
                    sides.into_iter().filter_map(|side| {
                        Some(Constraint { left: side, right: side, most: octagon.most(side, side)? })
                    }),
                );
            }
        }
        for constraint in relations {
            all.push(self.relation(path, state, constraint));
        }
        all
    }

    /// `left + right <= most`, of the numbers that the octagon means.
    fn relation(&mut self, path: &mut Path<'p>, state: &State<'p>, constraint: Constraint<Variable>) -> Term {
        let Constraint { left, right, most } = constraint;
        let Some(member) = state.member(left.variable) else { return Term::FALSE };
        let (a, b) = (self.variable(path, left.variable), self.variable(path, right.variable));
        let (width, other) = (self.terms.width(a), self.terms.width(b));
        // A difference is a comparison. (Sums cost the solver much more.)
        if left.is_negated != right.is_negated && width == other && (-1..=0).contains(&most) {
            let (less, more) = if left.is_negated { (b, a) } else { (a, b) };
            let mut at_most = |x: Term, y: Term| match member.is_signed {
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
        let mut side = |term: Term, is_negated: bool| {
            let extended = match member.is_signed {
                true => self.terms.sign_extend(term, wide),
                false => self.terms.zero_extend(term, wide),
            };
            if is_negated { self.terms.neg(extended) } else { extended }
        };
        let (a, b) = (side(a, left.is_negated), side(b, right.is_negated));
        let sum = self.terms.add(a, b);
        let limit = 1i128 << (wide - 1);
        if most >= limit - 1 {
            return Term::TRUE;
        }
        if most < -limit {
            return Term::FALSE;
        }
        let most = self.terms.bits(wide, most as u128 & word::mask(wide));
        self.terms.sle(sum, most)
    }

    /// That a number is one of these.
    fn within(&mut self, term: Term, value: &Value) -> Term {
        let (width, terms) = (value.width, &mut self.terms);
        if terms.width(term) != width {
            return Term::FALSE;
        }
        let interval = value.numbers.hull(width);
        let Some((least, greatest)) = interval.signed_bounds(width) else { return Term::FALSE };
        let pattern = |number: i128| number as u128 & word::mask(width);
        let (low, high) = (terms.bits(width, interval.low()), terms.bits(width, interval.high()));
        let (least, greatest) = (terms.bits(width, pattern(least)), terms.bits(width, pattern(greatest)));
        let mut all =
            vec![terms.ule(low, term), terms.ule(term, high), terms.sle(least, term), terms.sle(term, greatest)];
        let bits = value.numbers.bits();
        let known = (bits.zeros | bits.ones) & word::mask(width);
        if known != 0 {
            let (mask, ones) = (terms.bits(width, known), terms.bits(width, bits.ones & known));
            let masked = terms.bvand(term, mask);
            all.push(terms.eq(masked, ones));
        }
        match *value.numbers.congruence() {
            Congruence::Empty => return Term::FALSE,
            Congruence::Exactly(number) => {
                let number = terms.bits(width, pattern(number));
                all.push(terms.eq(term, number));
            }
            Congruence::Class { modulus, residue } if modulus > 1 && modulus <= word::mask(width) >> 1 => {
                let (divisor, positive) = (terms.bits(width, modulus), terms.bits(width, residue));
                let negative = terms.bits(width, residue.wrapping_sub(modulus) & word::mask(width));
                let rest = terms.srem(term, divisor);
                let (a, b) = (terms.eq(rest, positive), terms.eq(rest, negative));
                all.push(if residue == 0 { a } else { terms.or2(a, b) });
            }
            Congruence::Class { .. } => {}
        }
        terms.and(&all)
    }
}
