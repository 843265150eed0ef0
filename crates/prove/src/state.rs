//! What is known of one thread at one place: the values of its registers and of memory, and what they were computed from.
//!
//! A [`State`] says of each [`Variable`] which numbers it may be (intervals, congruences and known bits; nothing is said
//! of a variable that is not there), and of some that they *equal* an expression over others: a register that was loaded
//! from a cell equals it as long as neither changes. Conditions are about registers; by these equations they say something
//! about memory, too. Octagons relate the variables of one pack (`partition`): `x <= y`, `x + y <= 10`.
//!
//! A cell is **dirty** if this thread has changed it where no other thread can look: in an atomic section, or while it
//! holds the lock that every access to the cell needs. Then the value here is the thread's own, and all others still see
//! the one before (see `interference`).

use crate::cells::CellId;
use crate::code::FrameId;
use crate::partition::{Member, Partition};
use leno_domains::{Domain, Interval, Numbers, Octagon, Product, Side, Thresholds, word};
use leno_ir::program::{Expr, LocalId};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Variable {
    Register(FrameId, LocalId),
    Cell(CellId),
    /// While one thread runs and another one watches (`view`): a cell as the one that watches sees it, where the one that runs
    /// has changed it and nobody can look.
    Seen(CellId),
    /// In the same case: a cell of the thread that watches itself.
    Theirs(CellId),
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

/// A number that is a variable, or its negation, and something between two constants.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Linear {
    pub side: Side<Variable>,
    pub least: i128,
    pub most: i128,
}

/// At most so many variables are in one octagon of one state.
const MOST_RELATED: usize = 12;

#[derive(Clone, Debug)]
pub(crate) struct Known<'p> {
    pub(crate) values: BTreeMap<Variable, Value>,
    pub(crate) definitions: BTreeMap<Variable, Definition<'p>>,
    pub(crate) dirty: BTreeSet<CellId>,
    /// By pack.
    pub(crate) relations: BTreeMap<u32, Octagon<Variable>>,
    pub(crate) partition: Rc<Partition>,
    /// Whether another thread watches (`view`).
    pub(crate) is_watched: bool,
}

impl PartialEq for Known<'_> {
    fn eq(&self, other: &Self) -> bool {
        (&self.values, &self.definitions, &self.dirty, &self.relations)
            == (&other.values, &other.definitions, &other.dirty, &other.relations)
    }
}

/// Nothing in it: the place is not reached.
#[derive(Clone, PartialEq, Debug)]
pub struct State<'p>(pub(crate) Option<Known<'p>>);

impl<'p> State<'p> {
    pub const NEVER: State<'p> = State(None);

    pub fn anything(partition: &Rc<Partition>) -> State<'p> {
        State(Some(Known {
            values: BTreeMap::new(),
            definitions: BTreeMap::new(),
            dirty: BTreeSet::new(),
            relations: BTreeMap::new(),
            partition: partition.clone(),
            is_watched: false,
        }))
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
            _ => None,
        })
    }

    pub fn registers(&self) -> impl Iterator<Item = (FrameId, LocalId, Value)> + '_ {
        let values = self.0.iter().flat_map(|known| &known.values);
        values.filter_map(|(variable, value)| match variable {
            Variable::Register(frame, local) => Some((*frame, *local, *value)),
            _ => None,
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

    pub fn is_watched(&self) -> bool {
        self.0.as_ref().is_some_and(|known| known.is_watched)
    }

    /// A cell is about to be changed where the thread that watches does not see it.
    pub fn keep_seen(&mut self, cell: CellId, is_theirs: impl Fn(FrameId) -> bool) {
        let (old, kept) = (Variable::Cell(cell), Variable::Seen(cell));
        let Some(known) = self.0.as_mut().filter(|known| known.is_watched) else { return };
        let theirs: Vec<Variable> = known
            .definitions
            .iter()
            .filter(|(variable, definition)| match variable {
                Variable::Register(frame, _) => is_theirs(*frame) && **definition == Definition::Same(old),
                Variable::Theirs(_) => **definition == Definition::Same(old),
                _ => false,
            })
            .map(|(variable, _)| *variable)
            .collect();
        for variable in theirs {
            known.definitions.insert(variable, Definition::Same(kept));
        }
        let value = known.values.get(&old).copied();
        let linear = known.related(old).map(|_| Linear { side: Side::plus(old), least: 0, most: 0 });
        if value.is_some() || linear.is_some() {
            let value = value.or_else(|| Some(Value::any(known.partition.member(old)?.width)));
            if let Some(value) = value {
                let definitions = std::mem::take(&mut known.definitions);
                self.assign(kept, value, None, linear);
                if let Some(known) = &mut self.0 {
                    known.definitions = definitions;
                }
            }
        }
    }

    /// What another state knows of these cells.
    pub fn inherit(&mut self, other: &State<'p>, is_kept: impl Fn(CellId) -> bool) {
        let (Some(known), Some(theirs)) = (&mut self.0, &other.0) else { return };
        let is_kept = |variable: &Variable| matches!(variable, Variable::Cell(cell) if is_kept(*cell));
        for (variable, value) in theirs.values.iter().filter(|(variable, _)| is_kept(variable)) {
            known.values.insert(*variable, *value);
        }
        for (pack, octagon) in &theirs.relations {
            let mut octagon = octagon.clone();
            octagon.retain(|variable| is_kept(&variable));
            octagon.keep_related();
            if !octagon.variables().is_empty() {
                known.relations.insert(*pack, octagon);
            }
        }
    }

    /// All of this holds, too.
    pub fn add_relations(&mut self, relations: &BTreeMap<u32, Octagon<Variable>>) {
        for (pack, octagon) in relations {
            let Some(known) = &mut self.0 else { return };
            let own = known.relations.remove(pack).unwrap_or_default();
            known.relations.insert(*pack, own.meet(octagon, &()));
            self.reduce(*pack);
        }
    }

    /// What is said about pairs of variables.
    pub fn relations(&self) -> impl Iterator<Item = &Octagon<Variable>> + '_ {
        self.0.iter().flat_map(|known| known.relations.values())
    }

    pub fn member(&self, variable: Variable) -> Option<Member> {
        self.0.as_ref()?.partition.member(variable)
    }

    /// Narrows a variable down; nothing changes about what it equals.
    pub fn restrict(&mut self, variable: Variable, value: Value) {
        let Some(known) = &mut self.0 else { return };
        let old = known.values.get(&variable);
        let value = old.map_or(value, |old| old.meet(&value));
        if value.is_none() {
            self.0 = None;
            return;
        }
        if value.is_any() || old == Some(&value) {
            return;
        }
        known.values.insert(variable, value);
        if let Some(pack) = known.related(variable) {
            known.tell(pack, variable);
            self.reduce(pack);
        }
    }

    /// `left + right <= most` holds from now on.
    pub fn relate(&mut self, left: Side<Variable>, right: Side<Variable>, most: i128) {
        let Some(known) = &mut self.0 else { return };
        let pack = |side: Side<Variable>| known.partition.member(side.variable).map(|member| member.pack);
        let Some(pack) = pack(left).filter(|left| pack(right) == Some(*left)) else { return };
        for side in [left, right] {
            if !known.include(pack, side.variable) {
                return;
            }
        }
        known.relations.entry(pack).or_default().constrain(left, right, most);
        self.reduce(pack);
    }

    /// The greatest value that a sum may have, by what relates the two.
    pub fn most(&self, left: Side<Variable>, right: Side<Variable>) -> Option<i128> {
        let known = self.0.as_ref()?;
        known.relations.get(&known.partition.member(left.variable)?.pack)?.most(left, right)
    }

    /// An octagon was narrowed down: what it says of single variables. Those that are not related any more leave it.
    pub fn reduce(&mut self, pack: u32) {
        let Some(known) = &mut self.0 else { return };
        let Some(octagon) = known.relations.get_mut(&pack) else { return };
        if octagon.is_bottom() {
            self.0 = None;
            return;
        }
        for variable in octagon.variables() {
            let Some(member) = known.partition.member(*variable) else { continue };
            let (least, most) = octagon.bounds(*variable);
            let value = member.between(least, most);
            let value = known.values.get(variable).map_or(value, |old| old.meet(&value));
            if value.is_none() {
                self.0 = None;
                return;
            }
            if !value.is_any() {
                known.values.insert(*variable, value);
            }
        }
        octagon.keep_related();
        if octagon.variables().is_empty() {
            known.relations.remove(&pack);
        }
    }

    /// A new value. What was said of the old one is forgotten. `linear`: what it is, by the values before.
    pub fn assign(
        &mut self,
        variable: Variable,
        value: Value,
        definition: Option<Definition<'p>>,
        linear: Option<Linear>,
    ) {
        let Some(known) = &mut self.0 else { return };
        if value.is_none() {
            self.0 = None;
            return;
        }
        let pack = known.partition.member(variable).map(|member| member.pack);
        if let Some(pack) = pack {
            let of_pack = |linear: &Linear| {
                known.partition.member(linear.side.variable).is_some_and(|member| member.pack == pack)
            };
            let linear = linear.filter(of_pack).filter(|linear| known.include(pack, linear.side.variable));
            let has_place = known.relations.get(&pack).is_some_and(|it| it.variables().len() <= MOST_RELATED);
            if let Some(octagon) = known.relations.get_mut(&pack) {
                match linear.filter(|_| has_place) {
                    Some(Linear { side, least, most }) => octagon.assign(variable, side, Some(least), Some(most)),
                    None => octagon.forget(variable),
                }
            }
        }
        known.forget_equations(variable);
        known.values.remove(&variable);
        if !value.is_any() {
            known.values.insert(variable, value);
        }
        if let Some(definition) = definition.filter(|definition| !definition.mentions(variable)) {
            known.definitions.insert(variable, definition);
        }
        if let Some(pack) = pack {
            if known.related(variable).is_some() {
                known.tell(pack, variable);
            }
            self.reduce(pack);
        }
    }

    /// What a variable equals, beside what is known of it.
    pub fn define(&mut self, variable: Variable, definition: Option<Definition<'p>>) {
        let definition = definition.filter(|definition| !definition.mentions(variable));
        if let (Some(known), Some(definition)) = (&mut self.0, definition) {
            known.definitions.insert(variable, definition);
        }
    }

    /// The variable may be anything now.
    pub fn forget(&mut self, variable: Variable) {
        let Some(known) = &mut self.0 else { return };
        known.values.remove(&variable);
        known.forget_equations(variable);
        known.forget_relations(variable);
    }

    /// The cell may have been given one of these values.
    pub fn interfere(&mut self, cell: CellId, value: Value) {
        let variable = Variable::Cell(cell);
        let Some(known) = &mut self.0 else { return };
        known.forget_equations(variable);
        known.forget_relations(variable);
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
                _ => true,
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
        known.keep_related(|variable| match variable {
            Variable::Register(frame, local) => is_live(frame, local) || kept.contains(&variable),
            _ => true,
        });
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
        known.keep_related(|variable| !is_of(&variable));
    }
}

impl<'p> Domain for State<'p> {
    type Space = ();

    fn bottom(_: &()) -> State<'p> {
        State::NEVER
    }

    fn top(_: &()) -> State<'p> {
        State::anything(&Rc::default())
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
            && that.relations.iter().all(|(pack, octagon)| this.embedded(*pack, octagon.variables()).leq(octagon))
    }

    fn join(&self, other: &State<'p>) -> State<'p> {
        self.combine(other, |left, right| left.join(right), Known::join_relations)
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
        both.add_relations(&that.relations);
        both
    }

    fn widen(&self, next: &State<'p>, _: &(), thresholds: &Thresholds) -> State<'p> {
        let values = |left: &Value, right: &Value| match left.width == right.width {
            true => Value { width: left.width, numbers: left.numbers.widen(&right.numbers, &left.width, thresholds) },
            false => Value::any(left.width),
        };
        self.combine(next, values, |old, new| {
            let wider = |(pack, octagon): (&u32, &Octagon<Variable>)| {
                let (old, new) = (old.embedded(*pack, octagon.variables()), new.embedded(*pack, octagon.variables()));
                let mut wide = old.widen(&new, &(), thresholds);
                wide.keep_related();
                (!wide.variables().is_empty()).then_some((*pack, wide))
            };
            old.relations.iter().filter_map(wider).collect()
        })
    }
}

impl<'p> State<'p> {
    fn combine(
        &self,
        other: &State<'p>,
        values: impl Fn(&Value, &Value) -> Value,
        relations: impl Fn(&Known<'p>, &Known<'p>) -> BTreeMap<u32, Octagon<Variable>>,
    ) -> State<'p> {
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
        let relations = relations(this, that);
        let packs: Vec<u32> = relations.keys().copied().collect();
        let mut both = State(Some(Known {
            values: combined.collect(),
            definitions: this.definitions.iter().filter(same).map(|(variable, it)| (*variable, *it)).collect(),
            dirty: this.dirty.union(&that.dirty).copied().collect(),
            relations,
            partition: this.partition.clone(),
            is_watched: this.is_watched,
        }));
        packs.into_iter().for_each(|pack| both.reduce(pack));
        both
    }
}

impl Known<'_> {
    fn forget_equations(&mut self, variable: Variable) {
        self.definitions.remove(&variable);
        self.definitions.retain(|_, definition| !definition.mentions(variable));
    }

    fn forget_relations(&mut self, variable: Variable) {
        if let Some(pack) = self.related(variable) {
            self.keep_in_pack(pack, |other| other != variable);
        }
    }

    fn keep_related(&mut self, is_kept: impl Fn(Variable) -> bool) {
        let packs: Vec<u32> = self.relations.keys().copied().collect();
        packs.into_iter().for_each(|pack| self.keep_in_pack(pack, &is_kept));
    }

    fn keep_in_pack(&mut self, pack: u32, is_kept: impl Fn(Variable) -> bool) {
        let Some(octagon) = self.relations.get_mut(&pack) else { return };
        if octagon.variables().iter().all(|variable| is_kept(*variable)) {
            return;
        }
        octagon.retain(is_kept);
        octagon.keep_related();
        if octagon.variables().is_empty() {
            self.relations.remove(&pack);
        }
    }

    /// The pack of a variable that its octagon says something about.
    fn related(&self, variable: Variable) -> Option<u32> {
        let pack = self.partition.member(variable)?.pack;
        self.relations.get(&pack)?.contains(variable).then_some(pack)
    }

    /// The least and greatest number that a variable may be, by its own value.
    fn bounds(&self, variable: Variable) -> (i128, i128) {
        match self.partition.member(variable) {
            Some(member) => member.bounds(self.values.get(&variable)),
            None => (i128::MIN, i128::MAX),
        }
    }

    /// An octagon gets to know what is known of a variable by itself.
    fn tell(&mut self, pack: u32, variable: Variable) {
        let (least, most) = self.bounds(variable);
        self.relations.entry(pack).or_default().restrict(variable, Some(least), Some(most));
    }

    /// Whether a variable of a pack is in its octagon now.
    fn include(&mut self, pack: u32, variable: Variable) -> bool {
        let octagon = self.relations.entry(pack).or_default();
        if octagon.contains(variable) {
            return true;
        }
        // (Two threads together have twice as many.)
        let has_place = octagon.variables().len() < if self.is_watched { 2 * MOST_RELATED } else { MOST_RELATED };
        if has_place {
            self.tell(pack, variable);
        }
        has_place
    }

    /// What is known of these variables of a pack, their own values included.
    pub(crate) fn embedded(&self, pack: u32, variables: &[Variable]) -> Octagon<Variable> {
        let mut octagon = self.relations.get(&pack).cloned().unwrap_or_default();
        octagon.retain(|variable| variables.contains(&variable));
        for variable in variables {
            let (least, most) = self.bounds(*variable);
            octagon.restrict(*variable, Some(least), Some(most));
        }
        octagon
    }

    /// What relates variables in both. Where two of them change together, they are related from now on.
    fn join_relations(&self, that: &Self) -> BTreeMap<u32, Octagon<Variable>> {
        let mut all = BTreeMap::new();
        if self.partition.is_empty() {
            return all;
        }
        let mut packs: BTreeMap<u32, BTreeSet<Variable>> = BTreeMap::new();
        for (pack, octagon) in self.relations.iter().chain(&that.relations) {
            packs.entry(*pack).or_default().extend(octagon.variables());
        }
        for (variable, value) in &self.values {
            let differs = that.values.get(variable).is_some_and(|other| other != value);
            let Some(member) = self.partition.member(*variable).filter(|_| differs) else { continue };
            let variables = packs.entry(member.pack).or_default();
            if variables.len() < MOST_RELATED {
                variables.insert(*variable);
            }
        }
        for (pack, variables) in packs.into_iter().filter(|(_, variables)| variables.len() > 1) {
            let variables: Vec<Variable> = variables.into_iter().collect();
            let mut joined = self.embedded(pack, &variables).join(&that.embedded(pack, &variables));
            joined.keep_related();
            if !joined.variables().is_empty() {
                all.insert(pack, joined);
            }
        }
        all
    }
}

impl Member {
    /// The numbers of its width, as it is read.
    pub fn range(&self) -> (i128, i128) {
        match self.is_signed {
            true => (-(1 << (self.width - 1)), (1 << (self.width - 1)) - 1),
            false => (0, word::mask(self.width) as i128),
        }
    }

    /// The least and greatest of some numbers, as it reads them.
    pub fn bounds(&self, value: Option<&Value>) -> (i128, i128) {
        let Some(value) = value.filter(|value| value.width == self.width) else { return self.range() };
        let interval = value.numbers.hull(self.width);
        match self.is_signed {
            true => interval.signed_bounds(self.width).unwrap_or(self.range()),
            false => (interval.low() as i128, interval.high() as i128),
        }
    }

    fn between(&self, least: Option<i128>, most: Option<i128>) -> Value {
        let (width, range) = (self.width, self.range());
        let (least, most) = (least.unwrap_or(range.0).max(range.0), most.unwrap_or(range.1).min(range.1));
        if least > most {
            return Value { width, numbers: Product::bottom(&width) };
        }
        let interval = match self.is_signed {
            true => Interval::signed(width, least, most),
            false => Interval::unsigned(width, least as u128, most as u128),
        };
        Value { width, numbers: Product::from_interval(width, &interval) }
    }
}
