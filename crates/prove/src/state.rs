//! What is known of one thread at one place: the values of its registers and of memory, and what they were computed from.
//!
//! A [`State`] says of each [`Variable`] which numbers it may be (intervals, congruences and known bits; nothing is said
//! of a variable that is not there), and of some that they *equal* an expression over others: a register that was loaded
//! from a cell equals it as long as neither changes. Conditions are about registers; by these equations they say something
//! about memory, too. The values of different variables are not related otherwise.
//!
//! A cell is **dirty** if this thread has changed it where no other thread can look: in an atomic section, or while it
//! holds the lock that every access to the cell needs. Then the value here is the thread's own, and all others still see
//! the one before (see `interference`).

use crate::cells::CellId;
use crate::code::FrameId;
use leno_domains::{Domain, Numbers, Product, Thresholds};
use leno_ir::program::{Expr, LocalId};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Variable {
    Register(FrameId, LocalId),
    Cell(CellId),
}

/// Some numbers of a width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Value {
    pub width: u32,
    pub numbers: Product,
}

impl Value {
    pub fn any(width: u32) -> Value {
        Value { width, numbers: Product::top(&width) }
    }

    pub fn constant(width: u32, bits: u128) -> Value {
        Value { width, numbers: Product::constant(width, bits & leno_domains::word::mask(width)) }
    }

    pub fn is_any(&self) -> bool {
        self.numbers == Product::top(&self.width)
    }

    pub fn join(&self, other: &Value) -> Value {
        match self.width == other.width {
            true => Value { width: self.width, numbers: self.numbers.join(&other.numbers) },
            false => Value::any(self.width),
        }
    }

    pub fn meet(&self, other: &Value) -> Value {
        match self.width == other.width {
            true => Value { width: self.width, numbers: self.numbers.meet(&other.numbers, &self.width) },
            false => *self,
        }
    }

    pub fn is_none(&self) -> bool {
        self.numbers.is_bottom()
    }
}

/// What a variable equals.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Definition<'p> {
    /// An expression over the registers of a frame.
    Expr(FrameId, &'p Expr),
    Same(Variable),
}

impl Definition<'_> {
    pub fn for_each_variable(&self, mut visit: impl FnMut(Variable)) {
        match self {
            Definition::Expr(frame, expr) => expr.for_each_local(|local| visit(Variable::Register(*frame, local))),
            Definition::Same(variable) => visit(*variable),
        }
    }

    pub fn mentions(&self, variable: Variable) -> bool {
        let mut found = false;
        self.for_each_variable(|mentioned| found |= mentioned == variable);
        found
    }
}

#[derive(Clone, PartialEq, Debug, Default)]
struct Known<'p> {
    values: BTreeMap<Variable, Value>,
    definitions: BTreeMap<Variable, Definition<'p>>,
    dirty: BTreeSet<CellId>,
}

/// Nothing in it: the place is not reached.
#[derive(Clone, PartialEq, Debug)]
pub struct State<'p>(Option<Known<'p>>);

impl<'p> State<'p> {
    pub const NEVER: State<'p> = State(None);

    pub fn anything() -> State<'p> {
        State(Some(Known::default()))
    }

    pub fn is_never(&self) -> bool {
        self.0.is_none()
    }

    pub fn value(&self, variable: Variable) -> Option<Value> {
        self.0.as_ref()?.values.get(&variable).copied()
    }

    pub fn definition(&self, variable: Variable) -> Option<Definition<'p>> {
        self.0.as_ref()?.definitions.get(&variable).copied()
    }

    pub fn cells(&self) -> impl Iterator<Item = (CellId, Value)> + '_ {
        let values = self.0.iter().flat_map(|known| &known.values);
        values.filter_map(|(variable, value)| match variable {
            Variable::Cell(cell) => Some((*cell, *value)),
            Variable::Register(..) => None,
        })
    }

    pub fn registers(&self) -> impl Iterator<Item = (FrameId, LocalId, Value)> + '_ {
        let values = self.0.iter().flat_map(|known| &known.values);
        values.filter_map(|(variable, value)| match variable {
            Variable::Register(frame, local) => Some((*frame, *local, *value)),
            Variable::Cell(_) => None,
        })
    }

    pub fn definitions(&self) -> impl Iterator<Item = (Variable, Definition<'p>)> + '_ {
        self.0.iter().flat_map(|known| &known.definitions).map(|(variable, definition)| (*variable, *definition))
    }

    pub fn dirty(&self) -> impl Iterator<Item = CellId> + '_ {
        self.0.iter().flat_map(|known| known.dirty.iter().copied())
    }

    pub fn is_dirty(&self, cell: CellId) -> bool {
        self.0.as_ref().is_some_and(|known| known.dirty.contains(&cell))
    }

    pub fn set_dirty(&mut self, cell: CellId) {
        if let Some(known) = &mut self.0 {
            known.dirty.insert(cell);
        }
    }

    pub fn set_clean(&mut self, cell: CellId) {
        if let Some(known) = &mut self.0 {
            known.dirty.remove(&cell);
        }
    }

    /// Narrows a variable down; nothing changes about what it equals.
    pub fn restrict(&mut self, variable: Variable, value: Value) {
        let Some(known) = &mut self.0 else { return };
        let value = known.values.get(&variable).map_or(value, |old| old.meet(&value));
        if value.is_none() {
            self.0 = None;
        } else if !value.is_any() {
            known.values.insert(variable, value);
        }
    }

    /// A new value. What was said of the old one is forgotten.
    pub fn assign(&mut self, variable: Variable, value: Value, definition: Option<Definition<'p>>) {
        self.forget(variable);
        let Some(known) = &mut self.0 else { return };
        if value.is_none() {
            self.0 = None;
            return;
        }
        if !value.is_any() {
            known.values.insert(variable, value);
        }
        if let Some(definition) = definition.filter(|definition| !definition.mentions(variable)) {
            known.definitions.insert(variable, definition);
        }
    }

    /// The variable may be anything now.
    pub fn forget(&mut self, variable: Variable) {
        let Some(known) = &mut self.0 else { return };
        known.values.remove(&variable);
        known.definitions.remove(&variable);
        known.definitions.retain(|_, definition| !definition.mentions(variable));
    }

    /// Another thread may have given the cell one of these values.
    pub fn interfere(&mut self, cell: CellId, value: Value) {
        let variable = Variable::Cell(cell);
        let Some(known) = &mut self.0 else { return };
        known.definitions.remove(&variable);
        known.definitions.retain(|_, definition| !definition.mentions(variable));
        if let Some(old) = known.values.remove(&variable) {
            let joined = old.join(&value);
            if !joined.is_any() {
                known.values.insert(variable, joined);
            }
        }
    }

    /// Forgets the registers for which this does not hold, unless a variable that stays equals something about them.
    pub fn keep_registers(&mut self, is_live: impl Fn(FrameId, LocalId) -> bool) {
        let Some(known) = &mut self.0 else { return };
        let mut kept: BTreeSet<Variable> = BTreeSet::new();
        let all = known.values.keys().chain(known.definitions.keys());
        let mut work: Vec<Variable> = all
            .filter(|variable| match variable {
                Variable::Register(frame, local) => is_live(*frame, *local),
                Variable::Cell(_) => true,
            })
            .copied()
            .collect();
        while let Some(variable) = work.pop() {
            if !kept.insert(variable) {
                continue;
            }
            if let Some(definition) = known.definitions.get(&variable) {
                definition.for_each_variable(|next| work.push(next));
            }
        }
        known.values.retain(|variable, _| kept.contains(variable));
        known.definitions.retain(|variable, _| kept.contains(variable));
    }

    /// Forgets all registers of a frame.
    pub fn forget_frame(&mut self, frame: FrameId) {
        let Some(known) = &mut self.0 else { return };
        let is_of = |variable: &Variable| matches!(variable, Variable::Register(of, _) if *of == frame);
        known.values.retain(|variable, _| !is_of(variable));
        known.definitions.retain(|variable, definition| {
            let mut mentions = is_of(variable);
            definition.for_each_variable(|mentioned| mentions |= is_of(&mentioned));
            // An address of one of its stack objects is not one of the next activation's.
            !mentions && !matches!(definition, Definition::Expr(of, _) if *of == frame)
        });
    }

    /// What this thread knows, and what another one knows about the cells that both see.
    pub fn with_cells_of(&self, other: &State<'p>, is_shared: impl Fn(CellId) -> bool) -> State<'p> {
        let Some(theirs) = &other.0 else { return State::NEVER };
        let mut both = self.clone();
        for (cell, value) in other.cells() {
            let is_comparable = is_shared(cell) && !self.is_dirty(cell) && !theirs.dirty.contains(&cell);
            if is_comparable {
                both.restrict(Variable::Cell(cell), value);
            }
        }
        both
    }
}

impl<'p> Domain for State<'p> {
    type Space = ();

    fn bottom(_: &()) -> State<'p> {
        State::NEVER
    }

    fn top(_: &()) -> State<'p> {
        State::anything()
    }

    fn is_bottom(&self) -> bool {
        self.is_never()
    }

    fn leq(&self, other: &State<'p>) -> bool {
        let (Some(this), Some(that)) = (&self.0, &other.0) else { return self.0.is_none() };
        let is_within = |(variable, value): (&Variable, &Value)| {
            this.values.get(variable).is_some_and(|own| own.width == value.width && own.numbers.leq(&value.numbers))
        };
        that.values.iter().all(is_within)
            && that.definitions.iter().all(|(variable, definition)| this.definitions.get(variable) == Some(definition))
            && this.dirty.is_subset(&that.dirty)
    }

    fn join(&self, other: &State<'p>) -> State<'p> {
        self.combine(other, |left, right| left.join(right))
    }

    fn meet(&self, other: &State<'p>, _: &()) -> State<'p> {
        let (Some(_), Some(that)) = (&self.0, &other.0) else { return State::NEVER };
        let mut both = self.clone();
        that.values.iter().for_each(|(variable, value)| both.restrict(*variable, *value));
        if let Some(known) = &mut both.0 {
            for (variable, definition) in &that.definitions {
                known.definitions.entry(*variable).or_insert(*definition);
            }
            known.dirty.retain(|cell| that.dirty.contains(cell));
        }
        both
    }

    fn widen(&self, next: &State<'p>, _: &(), thresholds: &Thresholds) -> State<'p> {
        self.combine(next, |left, right| match left.width == right.width {
            true => Value { width: left.width, numbers: left.numbers.widen(&right.numbers, &left.width, thresholds) },
            false => Value::any(left.width),
        })
    }
}

impl<'p> State<'p> {
    fn combine(&self, other: &State<'p>, values: impl Fn(&Value, &Value) -> Value) -> State<'p> {
        let (this, that) = match (&self.0, &other.0) {
            (Some(this), Some(that)) => (this, that),
            (None, _) => return other.clone(),
            (_, None) => return self.clone(),
        };
        let combined = this.values.iter().filter_map(|(variable, left)| {
            let value = values(left, that.values.get(variable)?);
            (!value.is_any()).then_some((*variable, value))
        });
        let same =
            |(variable, definition): &(&Variable, &Definition<'p>)| that.definitions.get(variable) == Some(definition);
        State(Some(Known {
            values: combined.collect(),
            definitions: this.definitions.iter().filter(same).map(|(variable, it)| (*variable, *it)).collect(),
            dirty: this.dirty.union(&that.dirty).copied().collect(),
        }))
    }
}
