//! The symbolic state of a thread at a control state and a depth: terms for registers and for all of memory.
//!
//! Where control flow meets at the same depth, states are merged: each value becomes a choice by the path that was taken.
//! What is the same on both sides stays as it is, so that what one path knows to be constant remains constant.

use crate::layout::{InstanceId, Layout};
use leno_ir::index::{Idx, IndexVec};
use leno_ir::program::FuncId;
use leno_logic::term::{Sort, Term, Terms};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The registers of a function, and who called it.
#[derive(Clone, PartialEq, Debug)]
pub struct Frame {
    /// None: it is undefined, or not needed any more.
    pub locals: Vec<Option<Term>>,
    /// The call-site variable: where the function returns to. 0: it is the thread's start function.
    pub return_site: Term,
}

/// The contents of all instances.
pub type Memory = IndexVec<InstanceId, Rc<Vec<Term>>>;

#[derive(Clone)]
pub struct State {
    /// The condition that the thread is here.
    pub path: Term,
    /// That it holds the token.
    pub token: Term,
    /// That it has made no visible step yet.
    pub is_new: Term,
    /// In how many atomic sections it is: 8 bits.
    pub section: Term,
    /// By function, while it is active.
    pub frames: Vec<Option<Rc<Frame>>>,
    pub memory: Memory,
    /// How often each read-write lock is held for reading, by the address of the lock.
    pub reading: Rc<BTreeMap<u64, Term>>,
    /// How many objects it has allocated, and how many threads it has started, at each place: 8 bits each.
    pub counts: Rc<Vec<Term>>,
}

impl State {
    pub fn local(&self, func: FuncId, local: usize) -> Option<Term> {
        self.frames[func.index()].as_ref()?.locals.get(local).copied().flatten()
    }

    pub fn set_local(&mut self, func: FuncId, local: usize, value: Option<Term>) {
        if let Some(frame) = &mut self.frames[func.index()] {
            Rc::make_mut(frame).locals[local] = value;
        }
    }

    /// Forgets registers of a function that are not needed any more.
    pub fn keep(&mut self, func: FuncId, live: &[bool]) {
        let Some(frame) = &mut self.frames[func.index()] else { return };
        let is_dead = |(value, live): (&Option<Term>, &bool)| value.is_some() && !live;
        if frame.locals.iter().zip(live).any(is_dead) {
            let locals = &mut Rc::make_mut(frame).locals;
            locals.iter_mut().zip(live).filter(|(_, live)| !**live).for_each(|(value, _)| *value = None);
        }
    }

    pub fn cell(&self, id: InstanceId, cell: usize) -> Term {
        self.memory[id][cell]
    }

    pub fn set_cell(&mut self, id: InstanceId, cell: usize, value: Term) {
        if self.memory[id][cell] != value {
            Rc::make_mut(&mut self.memory[id])[cell] = value;
        }
    }

    /// Whether a bit of the control cells is set.
    pub fn control(&self, terms: &mut Terms, cell: usize) -> Term {
        terms.bits_to_bool(self.cell(Layout::CONTROL, cell))
    }

    pub fn set_control(&mut self, terms: &mut Terms, cell: usize, condition: Term, value: Term) {
        let old = self.cell(Layout::CONTROL, cell);
        let new = terms.ite(condition, value, old);
        self.set_cell(Layout::CONTROL, cell, new);
    }

    /// This where its path is taken, the other elsewhere. New variables stand for what is undefined on one side only.
    pub fn merge(self, terms: &mut Terms, other: State, undefined: &mut Vec<Term>) -> State {
        let condition = self.path;
        let mut frames = Vec::with_capacity(self.frames.len());
        for (a, b) in self.frames.into_iter().zip(other.frames) {
            frames.push(match (a, b) {
                (Some(a), Some(b)) if Rc::ptr_eq(&a, &b) => Some(a),
                (Some(a), Some(b)) => Some(Rc::new(merge_frames(terms, condition, &a, &b, undefined))),
                (a, b) => a.or(b),
            });
        }
        let memory = self.memory.iter().zip(other.memory.iter());
        let memory = memory.map(|(a, b)| merge_rows(terms, condition, a, b)).collect();
        let mut reading = (*self.reading).clone();
        for (lock, count) in other.reading.iter() {
            let mine = *reading.entry(*lock).or_insert_with(|| terms.bits(32, 0));
            reading.insert(*lock, terms.ite(condition, mine, *count));
        }
        for (lock, count) in self.reading.iter().filter(|(lock, _)| !other.reading.contains_key(lock)) {
            let none = terms.bits(32, 0);
            reading.insert(*lock, terms.ite(condition, *count, none));
        }
        State {
            path: terms.or2(self.path, other.path),
            token: terms.ite(condition, self.token, other.token),
            is_new: terms.ite(condition, self.is_new, other.is_new),
            section: terms.ite(condition, self.section, other.section),
            frames,
            memory,
            reading: Rc::new(reading),
            counts: merge_rows(terms, condition, &self.counts, &other.counts),
        }
    }
}

fn merge_rows(terms: &mut Terms, condition: Term, a: &Rc<Vec<Term>>, b: &Rc<Vec<Term>>) -> Rc<Vec<Term>> {
    if Rc::ptr_eq(a, b) || a == b {
        return a.clone();
    }
    Rc::new(a.iter().zip(b.iter()).map(|(a, b)| terms.ite(condition, *a, *b)).collect())
}

fn merge_frames(terms: &mut Terms, condition: Term, a: &Frame, b: &Frame, undefined: &mut Vec<Term>) -> Frame {
    let mut locals = Vec::with_capacity(a.locals.len());
    for (a, b) in a.locals.iter().zip(&b.locals) {
        locals.push(match (*a, *b) {
            (Some(a), Some(b)) => Some(terms.ite(condition, a, b)),
            (None, None) => None,
            (Some(value), None) | (None, Some(value)) => {
                let any = terms.variable(Sort::Bits(terms.width(value)), "undefined");
                undefined.push(any);
                Some(if a.is_some() { terms.ite(condition, value, any) } else { terms.ite(condition, any, value) })
            }
        });
    }
    Frame { locals, return_site: terms.ite(condition, a.return_site, b.return_site) }
}
