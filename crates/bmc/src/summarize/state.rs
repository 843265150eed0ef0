//! The state of a thread at a program point, and how states that meet are merged.

use crate::skeleton::layout::InstanceId;
use crate::skeleton::{NodeId, SleepId, Unit};
use crate::summarize::private_memory::Memory;
use crate::summarize::side_effects::SideEffects;
use crate::summarize::{Execution, Refused};
use leno_ir::index::Idx;
use leno_ir::program::LocalId;
use leno_logic::term::Term;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The state of a thread at a program point, on all paths that lead there.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub path: Term,
    /// The registers of the running activation, and then what it returns.
    pub locals: Rc<Vec<Option<Term>>>,
    pub memory: Memory,
    /// The node of the atomic section that it is in, how deeply it is nested, and what it has written.
    pub section: Option<NodeId>,
    pub depth: u32,
    pub section_writes: Vec<Unit>,
    /// How often the thread holds read-write locks for reading, by their addresses.
    pub reading: Rc<BTreeMap<u64, Term>>,
    /// The sleep on a condition variable that it is to wake up from.
    pub sleep: Option<SleepId>,
    /// What it has done that other threads may observe.
    pub side_effects: SideEffects,
}

impl State {
    /// The state in which a thread or a summary begins.
    pub fn at(path: Term) -> State {
        State {
            path,
            locals: Rc::new(Vec::new()),
            memory: Memory::default(),
            section: None,
            depth: 0,
            section_writes: Vec::new(),
            reading: Rc::default(),
            sleep: None,
            side_effects: SideEffects::default(),
        }
    }

    pub fn local(&self, local: LocalId) -> Option<Term> {
        self.locals[local.index()]
    }

    pub fn set_local(&mut self, local: LocalId, value: Term) {
        Rc::make_mut(&mut self.locals)[local.index()] = Some(value);
    }

    /// Sets what the running activation returns.
    pub fn set_result(&mut self, value: Term) {
        if let Some(result) = Rc::make_mut(&mut self.locals).last_mut() {
            *result = Some(value);
        }
    }
}

impl Execution<'_> {
    /// All states merged; None if there is none.
    pub(crate) fn merge(&mut self, states: Vec<State>) -> Result<Option<State>, Refused> {
        let mut merged: Option<State> = None;
        for state in states {
            if self.question.is_interrupted() {
                return Err(Refused::new("interrupted"));
            }
            if self.terms.as_bool(state.path) == Some(false) {
                continue;
            }
            merged = Some(match merged {
                None => state,
                Some(other) => self.merge_two(state, other)?,
            });
        }
        Ok(merged)
    }

    pub(crate) fn merge_two(&mut self, a: State, b: State) -> Result<State, Refused> {
        if (a.section.is_some(), a.depth) != (b.section.is_some(), b.depth) {
            return Err(Refused::new("an atomic section begins or ends on some paths only"));
        }
        if a.section != b.section {
            let (a, b) = self.meet_in_section(a, b);
            return self.merge_two(a, b);
        }
        let condition = a.path;
        let mut locals = a.locals.as_ref().clone();
        for (value, other) in locals.iter_mut().zip(b.locals.iter()) {
            if value != other {
                *value = self.merge_values(condition, *value, *other);
            }
        }
        let memory = self.merge_memories(condition, &a.memory, &b.memory)?;
        let common = a.section_writes.iter().zip(&b.section_writes).take_while(|(a, b)| same_unit(a, b)).count();
        let mut section_writes = a.section_writes;
        section_writes.extend_from_slice(&b.section_writes[common..]);
        let path = self.terms.or2(a.path, b.path);
        let path = self.assigned(path);
        let (section, depth, side_effects) = (a.section, a.depth, a.side_effects.merge(&b.side_effects));
        if a.sleep != b.sleep {
            return Err(Refused::new("a thread sleeps on some paths only"));
        }
        let (locals, sleep) = (Rc::new(locals), a.sleep);
        let reading = self.merge_reading(condition, &a.reading, &b.reading);
        Ok(State { path, locals, memory, section, depth, section_writes, reading, sleep, side_effects })
    }

    pub(crate) fn merge_values(&mut self, condition: Term, a: Option<Term>, b: Option<Term>) -> Option<Term> {
        let sort = self.terms.sort(a.or(b)?);
        let mut or_anything = |value: Option<Term>| value.unwrap_or_else(|| self.terms.variable(sort, "undefined"));
        let (a, b) = (or_anything(a), or_anything(b));
        let value = self.terms.ite(condition, a, b);
        Some(self.assigned(value))
    }

    pub(crate) fn merge_reading(
        &mut self,
        condition: Term,
        a: &Rc<BTreeMap<u64, Term>>,
        b: &Rc<BTreeMap<u64, Term>>,
    ) -> Rc<BTreeMap<u64, Term>> {
        if a == b {
            return a.clone();
        }
        let mut merged = BTreeMap::new();
        for &lock in a.keys().chain(b.keys()) {
            let (a, b) = (self.reading(a, lock), self.reading(b, lock));
            merged.insert(lock, self.terms.ite(condition, a, b));
        }
        Rc::new(merged)
    }

    pub(crate) fn merge_memories(&mut self, condition: Term, a: &Memory, b: &Memory) -> Result<Memory, Refused> {
        let mut merged = Memory { objects: FxHashMap::default(), dead: a.dead.clone() };
        if a.dead != b.dead {
            let never = self.terms.bool(false);
            let mut dead = BTreeMap::new();
            for &id in a.dead.keys().chain(b.dead.keys()) {
                let (left, right) = (a.dead.get(&id).unwrap_or(&never), b.dead.get(&id).unwrap_or(&never));
                dead.insert(id, self.terms.ite(condition, *left, *right));
            }
            merged.dead = Rc::new(dead);
        }
        let mut ids: Vec<InstanceId> = a.objects.keys().chain(b.objects.keys()).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            let empty = Rc::default();
            let (left, right) = (a.objects.get(&id).unwrap_or(&empty), b.objects.get(&id).unwrap_or(&empty));
            let cells = if Rc::ptr_eq(left, right) || left == right {
                left.clone()
            } else {
                let mut terms = std::mem::take(&mut self.terms);
                let cells = left.merge(&mut terms, condition, right, &mut |terms, offset, bytes| {
                    self.unwritten(terms, id, offset, bytes)
                });
                self.terms = terms;
                Rc::new(cells?)
            };
            merged.objects.insert(id, cells);
        }
        Ok(merged)
    }
}

fn same_unit(a: &Unit, b: &Unit) -> bool {
    (a.condition, a.address, a.value, a.bytes) == (b.condition, b.address, b.value, b.bytes)
}
