//! Several states of one place, told apart by the values of a few variables (`phases`).
//!
//! `ready = 0 and data is anything, or ready = 1 and data = 42` are two states; together they would say nothing of `data`. States in
//! which all phases have the same values are put together. If there are too many states, the least important variables are no
//! longer told apart.

use crate::phases::Phases;
use crate::state::{State, Variable};
use leno_domains::{Domain, Numbers, Thresholds};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How states are put together.
#[derive(Debug, Default)]
pub struct Grouping {
    pub phases: Phases,
    /// So many states of one place at most.
    pub most: usize,
}

/// Any of these; none: the place is not reached.
#[derive(Clone, Debug)]
pub struct States<'p> {
    list: Rc<Vec<State<'p>>>,
    grouping: Rc<Grouping>,
}

impl PartialEq for States<'_> {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.list, &other.list) || self.list == other.list
    }
}

impl<'p> States<'p> {
    pub fn of(states: Vec<State<'p>>, grouping: &Rc<Grouping>) -> States<'p> {
        States { list: Rc::new(grouping.group(states)), grouping: grouping.clone() }
    }

    pub fn iter(&self) -> std::slice::Iter<'_, State<'p>> {
        self.list.iter()
    }

    pub fn is_never(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether this is the same one, not only an equal one.
    pub fn is_same(&self, other: &States<'p>) -> bool {
        Rc::ptr_eq(&self.list, &other.list)
    }
}

/// The phases of a state that have one value, the most important first.
type Key = BTreeMap<(usize, Variable), u128>;

impl Grouping {
    fn key(&self, state: &State<'_>) -> Key {
        let cells = state.cells().map(|(cell, value)| (Variable::Cell(cell), value));
        let registers = state.registers().map(|(frame, local, value)| (Variable::Register(frame, local), value));
        let ranked = cells.chain(registers).filter_map(|(variable, value)| {
            let bits = value.numbers.as_constant(value.width)?;
            Some(((self.phases.rank(variable)?, variable), bits))
        });
        ranked.collect()
    }

    fn group<'p>(&self, states: Vec<State<'p>>) -> Vec<State<'p>> {
        let states: Vec<State<'p>> = states.into_iter().filter(|state| !state.is_never()).collect();
        if states.len() <= 1 {
            return states;
        }
        if self.phases.is_empty() || self.most <= 1 {
            return vec![states.iter().skip(1).fold(states[0].clone(), |all, state| all.join(state))];
        }
        let keyed: Vec<(Key, State<'p>)> = states.into_iter().map(|state| (self.key(&state), state)).collect();
        let variables: BTreeSet<(usize, Variable)> = keyed.iter().flat_map(|(key, _)| key.keys().copied()).collect();
        let mut variables: Vec<(usize, Variable)> = variables.into_iter().collect();
        let part = |key: &Key, variables: &[(usize, Variable)]| -> Vec<Option<u128>> {
            variables.iter().map(|variable| key.get(variable).copied()).collect()
        };
        while keyed.iter().map(|(key, _)| part(key, &variables)).collect::<BTreeSet<_>>().len() > self.most {
            variables.pop();
        }
        let mut groups: BTreeMap<Vec<Option<u128>>, State<'p>> = BTreeMap::new();
        for (key, state) in keyed {
            let group = groups.entry(part(&key, &variables)).or_insert(State::NEVER);
            *group = group.join(&state);
        }
        groups.into_values().collect()
    }
}

impl<'p> Domain for States<'p> {
    type Space = Rc<Grouping>;

    fn bottom(space: &Rc<Grouping>) -> States<'p> {
        States { list: Rc::default(), grouping: space.clone() }
    }

    fn top(space: &Rc<Grouping>) -> States<'p> {
        States::of(vec![State::top(&())], space)
    }

    fn is_bottom(&self) -> bool {
        self.is_never()
    }

    fn leq(&self, other: &States<'p>) -> bool {
        self.is_same(other) || self.iter().all(|state| other.iter().any(|whole| state.leq(whole)))
    }

    fn join(&self, other: &States<'p>) -> States<'p> {
        if other.is_never() || self.is_same(other) {
            return self.clone();
        }
        if self.is_never() {
            return other.clone();
        }
        States::of(self.iter().chain(other.iter()).cloned().collect(), &self.grouping)
    }

    fn meet(&self, other: &States<'p>, _: &Rc<Grouping>) -> States<'p> {
        let pairs = self.iter().flat_map(|left| other.iter().map(move |right| left.meet(right, &())));
        States::of(pairs.collect(), &self.grouping)
    }

    fn widen(&self, next: &States<'p>, _: &Rc<Grouping>, thresholds: &Thresholds) -> States<'p> {
        let joined = self.join(next);
        let wider = |state: &State<'p>| {
            let key = self.grouping.key(state);
            let is_old = |old: &&State<'p>| self.grouping.key(old) == key || old.leq(state);
            let old = self.iter().filter(is_old).fold(State::NEVER, |all, old| all.join(old));
            if old.is_never() { state.clone() } else { old.widen(state, &(), thresholds) }
        };
        States::of(joined.iter().map(wider).collect(), &self.grouping)
    }

    /// (What was computed from something that is large enough is large enough.)
    fn narrow(&self, next: &States<'p>, _: &Rc<Grouping>) -> States<'p> {
        if next.leq(self) { next.clone() } else { self.clone() }
    }
}
