//! One thread runs while another one watches: what the other one knows afterwards.
//!
//! Two threads at two stops know something each, about registers of their own and about the cells that both see. Put together, and
//! with the registers of the one that watches under other names, that is a state like any other. The thread that runs
//! changes it as it changes its own; where it lets others see something, what the state says without the registers of the one that runs is
//! what the one that watches knows from then on. So what relates its registers to the cells is kept (`mine <= next` where
//! another thread counts `next` up), cells that are changed together are seen together, and what the one that runs knows of a
//! cell, the other one knows, too.

use crate::cells::{CellId, Cells};
use crate::code::Code;
use crate::state::{Definition, Known, State, Variable};
use leno_domains::{Domain, Octagon};
use leno_ir::program::Expr;
use std::collections::{BTreeMap, BTreeSet};

/// What a thread knows that another one could change, and the rest.
#[derive(Clone, Debug)]
pub struct View<'p> {
    shown: State<'p>,
    rest: State<'p>,
}

#[derive(Clone, Copy, Debug)]
pub struct Watching<'a, 'p> {
    pub code: &'a Code<'a, 'p>,
    pub cells: &'a Cells,
}

impl<'p> Watching<'_, 'p> {
    fn is_visible(&self, known: &Known<'p>, variable: Variable) -> bool {
        matches!(variable, Variable::Cell(cell) if self.cells.is_shared(cell) && !known.dirty.contains(&cell))
    }

    /// None if the place is not reached.
    pub fn view(&self, state: &State<'p>) -> Option<View<'p>> {
        let known = state.0.as_ref()?;
        let is_visible = |variable: &Variable| self.is_visible(known, *variable);
        let has_visible = |octagon: &Octagon<Variable>| octagon.variables().iter().any(is_visible);
        let is_about = |variable: &Variable, definition: &Definition<'p>| {
            let mut found = is_visible(variable);
            definition.for_each_variable(|mentioned| found |= is_visible(&mentioned));
            found
        };
        let mut shown: BTreeSet<Variable> = known.values.keys().copied().filter(|it| is_visible(it)).collect();
        for octagon in known.relations.values().filter(|octagon| has_visible(octagon)) {
            shown.extend(octagon.variables());
        }
        for (variable, definition) in known.definitions.iter().filter(|(a, b)| is_about(a, b)) {
            shown.insert(*variable);
            definition.for_each_variable(|mentioned| _ = shown.insert(mentioned));
        }
        let part = |is_shown: bool| {
            let values = known.values.iter().filter(|(variable, _)| shown.contains(variable) == is_shown);
            let definitions = known.definitions.iter().filter(|(a, b)| is_about(a, b) == is_shown);
            let relations = known.relations.iter().filter(|(_, octagon)| has_visible(octagon) == is_shown);
            State(Some(Known {
                values: values.map(|(variable, value)| (*variable, *value)).collect(),
                definitions: definitions.map(|(variable, definition)| (*variable, *definition)).collect(),
                dirty: known.dirty.clone(),
                relations: relations.map(|(pack, octagon)| (*pack, octagon.clone())).collect(),
                partition: known.partition.clone(),
                is_watched: false,
            }))
        };
        Some(View { shown: part(true), rest: part(false) })
    }

    /// What both know, under the names of the one that runs; none if they cannot be in these states together.
    pub fn together(&self, runs: &State<'p>, view: &View<'p>) -> Option<State<'p>> {
        let (mine, theirs) = (runs.0.as_ref()?, view.shown.0.as_ref()?);
        let name = |variable: Variable| match variable {
            Variable::Register(frame, local) => Variable::Register(self.code.theirs(frame), local),
            Variable::Cell(cell) if !self.is_visible(theirs, variable) => Variable::Theirs(cell),
            Variable::Cell(cell) if mine.dirty.contains(&cell) => Variable::Seen(cell),
            other => other,
        };
        let is_contradicted = |(variable, value): (&Variable, &crate::state::Value)| {
            mine.values.get(&name(*variable)).is_some_and(|own| own.meet(value).is_none())
        };
        if theirs.values.iter().any(is_contradicted) {
            return None;
        }
        let mut both = mine.clone();
        both.is_watched = true;
        for (variable, definition) in &theirs.definitions {
            let renamed = match *definition {
                Definition::Expr(frame, expr) => Definition::Expr(self.code.theirs(frame), expr),
                Definition::Same(other) => Definition::Same(name(other)),
            };
            both.definitions.entry(name(*variable)).or_insert(renamed);
        }
        for (pack, octagon) in &theirs.relations {
            let octagon = octagon.rename(name);
            let own = both.relations.remove(pack).unwrap_or_default();
            both.relations.insert(*pack, own.meet(&octagon, &()));
        }
        let mut both = State(Some(both));
        theirs.values.iter().for_each(|(variable, value)| both.restrict(name(*variable), *value));
        theirs.relations.keys().for_each(|pack| both.reduce(*pack));
        (!both.is_never()).then_some(both)
    }

    /// What the one that watches knows where the other one has let something be seen.
    pub fn after(&self, state: &State<'p>, view: &View<'p>) -> State<'p> {
        let (Some(both), Some(before), Some(rest)) = (&state.0, &view.shown.0, &view.rest.0) else {
            return State::NEVER;
        };
        let is_own = |cell: CellId| !self.cells.is_shared(cell) || before.dirty.contains(&cell);
        let name = |variable: Variable| match variable {
            Variable::Register(frame, local) => Some(Variable::Register(self.code.back(frame)?, local)),
            Variable::Theirs(cell) => Some(Variable::Cell(cell)),
            Variable::Seen(cell) => (both.dirty.contains(&cell) && !is_own(cell)).then_some(Variable::Cell(cell)),
            Variable::Cell(cell) => (!both.dirty.contains(&cell) && !is_own(cell)).then_some(variable),
        };
        let mut after = rest.clone();
        for (variable, value) in &both.values {
            if let Some(variable) = name(*variable) {
                after.values.insert(variable, *value);
            }
        }
        for (variable, definition) in &both.definitions {
            let renamed = match *definition {
                Definition::Expr(_, expr) if is_same_everywhere(expr) => Some(*definition),
                Definition::Expr(frame, expr) => self.code.back(frame).map(|frame| Definition::Expr(frame, expr)),
                Definition::Same(other) => name(other).map(Definition::Same),
            };
            if let (Some(variable), Some(definition)) = (name(*variable), renamed) {
                after.definitions.entry(variable).or_insert(definition);
            }
        }
        let mut after = State(Some(after));
        let mut relations: BTreeMap<u32, Octagon<Variable>> = BTreeMap::new();
        for (pack, octagon) in &both.relations {
            let mut octagon = octagon.clone();
            octagon.retain(|variable| name(variable).is_some());
            relations.insert(*pack, octagon.rename(|variable| name(variable).unwrap_or(variable)));
        }
        after.add_relations(&relations);
        after
    }
}

/// Whether an expression means the same for every thread: the address of a global object, or a constant.
fn is_same_everywhere(expr: &Expr) -> bool {
    match expr {
        Expr::Const { .. } | Expr::Object(_) | Expr::Function(_) => true,
        Expr::Binary(_, operands) => operands.iter().all(is_same_everywhere),
        Expr::Cast(_, _, of) | Expr::Unary(_, of) => is_same_everywhere(of),
        Expr::Local(_) | Expr::Slot(_) | Expr::Select(_) => false,
    }
}
