//! What a thread has done that other threads may observe: a persistent list, whose older part several states share.
//!
//! A loop whose iteration had no side effects, and that is back in the state in which the iteration began, only waits:
//! what it may do in a later iteration it may do in this one. The same holds if the iteration has only taken locks and
//! released them (or the other way round), since no thread can observe how often a lock was held: see [`is_balanced`].

use leno_logic::term::Term;
use std::rc::Rc;

/// Something that other threads may observe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SideEffect {
    /// Writes, starts a thread, …
    Effect,
    Acquire(Term),
    Release(Term),
}

impl SideEffect {
    /// The lock that was taken or released.
    pub fn lock(self) -> Option<Term> {
        match self {
            SideEffect::Effect => None,
            SideEffect::Acquire(lock) | SideEffect::Release(lock) => Some(lock),
        }
    }

    /// The same, with another lock.
    pub fn map(self, other: impl Fn(Term) -> Term) -> SideEffect {
        match self {
            SideEffect::Effect => SideEffect::Effect,
            SideEffect::Acquire(lock) => SideEffect::Acquire(other(lock)),
            SideEffect::Release(lock) => SideEffect::Release(other(lock)),
        }
    }
}

#[derive(Debug)]
struct Entry {
    effect: SideEffect,
    /// The condition under which it was done.
    condition: Term,
    before: Option<Rc<Entry>>,
    length: u32,
}

#[derive(Clone, Debug, Default)]
pub struct SideEffects {
    last: Option<Rc<Entry>>,
}

impl SideEffects {
    fn length(&self) -> u32 {
        self.last.as_ref().map_or(0, |entry| entry.length)
    }

    pub fn push(&mut self, effect: SideEffect, condition: Term) {
        let length = self.length() + 1;
        self.last = Some(Rc::new(Entry { effect, condition, before: self.last.take(), length }));
    }

    /// The entries after those that both begin with, the oldest first.
    fn beyond(&self, other: &SideEffects) -> Vec<(SideEffect, Term)> {
        let (mut mine, mut theirs) = (self.last.as_ref(), other.last.as_ref());
        let mut entries = Vec::new();
        while let Some(entry) = mine {
            while theirs.is_some_and(|other| other.length > entry.length) {
                theirs = theirs.and_then(|other| other.before.as_ref());
            }
            if theirs.is_some_and(|other| Rc::ptr_eq(other, entry)) {
                break;
            }
            entries.push((entry.effect, entry.condition));
            mine = entry.before.as_ref();
        }
        entries.reverse();
        entries
    }

    /// All that was done, the oldest first.
    pub fn since_start(&self) -> Vec<(SideEffect, Term)> {
        self.beyond(&SideEffects::default())
    }

    /// Where paths meet: what was done on either.
    pub fn merge(&self, other: &SideEffects) -> SideEffects {
        let mut merged = self.clone();
        other.beyond(self).into_iter().for_each(|(effect, condition)| merged.push(effect, condition));
        merged
    }

    /// The side effects since `start`: the conditions of general effects; and the operations on locks, with their
    /// conditions.
    pub fn since(&self, start: &SideEffects) -> (Vec<Term>, Vec<(SideEffect, Term)>) {
        let (effects, locks): (Vec<_>, Vec<_>) =
            self.beyond(start).into_iter().partition(|(effect, _)| *effect == SideEffect::Effect);
        (effects.into_iter().map(|(_, condition)| condition).collect(), locks)
    }
}

/// Whether every lock that was taken was released, or the other way round, properly nested. `is_same` says of two
/// conditions whether they hold together or not at all.
pub fn is_balanced(locks: &[(SideEffect, Term)], mut is_same: impl FnMut((Term, Term)) -> bool) -> bool {
    let mut open: Vec<(SideEffect, Term)> = Vec::new();
    for &(effect, condition) in locks {
        let undone = match effect {
            SideEffect::Effect => return false,
            SideEffect::Acquire(lock) => SideEffect::Release(lock),
            SideEffect::Release(lock) => SideEffect::Acquire(lock),
        };
        match open.last() {
            Some(&(last, when)) if last == undone && (when == condition || is_same((when, condition))) => {
                open.pop();
            }
            _ => open.push((effect, condition)),
        }
    }
    open.is_empty()
}

impl Drop for SideEffects {
    /// A long list must not be freed by recursion.
    fn drop(&mut self) {
        let mut next = self.last.take();
        while let Some(entry) = next {
            next = Rc::try_unwrap(entry).ok().and_then(|mut entry| entry.before.take());
        }
    }
}
