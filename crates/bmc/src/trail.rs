//! What a thread has done to others since some moment: a list that grows at one end and is shared at the other.
//!
//! A loop whose iteration has done nothing, and that is back in the state it began in, only waits: what it may do in a later
//! iteration it may do in this one. The same holds if the iteration has only taken locks and given them back (or the other way
//! round), since nobody can tell how often a lock was held: see [`is_balanced`].

use leno_logic::term::Term;
use std::rc::Rc;

/// Something that others may notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deed {
    /// Writes, starts a thread, …
    Effect,
    Acquire(Term),
    Release(Term),
}

impl Deed {
    /// The lock that it was done to.
    pub fn lock(self) -> Option<Term> {
        match self {
            Deed::Effect => None,
            Deed::Acquire(lock) | Deed::Release(lock) => Some(lock),
        }
    }

    /// The same, done to another lock.
    pub fn map(self, other: impl Fn(Term) -> Term) -> Deed {
        match self {
            Deed::Effect => Deed::Effect,
            Deed::Acquire(lock) => Deed::Acquire(other(lock)),
            Deed::Release(lock) => Deed::Release(other(lock)),
        }
    }
}

#[derive(Debug)]
struct Entry {
    deed: Deed,
    /// The condition under which it was done.
    condition: Term,
    before: Option<Rc<Entry>>,
    length: u32,
}

#[derive(Clone, Debug, Default)]
pub struct Trail {
    last: Option<Rc<Entry>>,
}

impl Trail {
    fn length(&self) -> u32 {
        self.last.as_ref().map_or(0, |entry| entry.length)
    }

    pub fn push(&mut self, deed: Deed, condition: Term) {
        let length = self.length() + 1;
        self.last = Some(Rc::new(Entry { deed, condition, before: self.last.take(), length }));
    }

    /// The entries after those that both begin with, the oldest first.
    fn beyond(&self, other: &Trail) -> Vec<(Deed, Term)> {
        let (mut mine, mut theirs) = (self.last.as_ref(), other.last.as_ref());
        let mut entries = Vec::new();
        while let Some(entry) = mine {
            while theirs.is_some_and(|other| other.length > entry.length) {
                theirs = theirs.and_then(|other| other.before.as_ref());
            }
            if theirs.is_some_and(|other| Rc::ptr_eq(other, entry)) {
                break;
            }
            entries.push((entry.deed, entry.condition));
            mine = entry.before.as_ref();
        }
        entries.reverse();
        entries
    }

    /// All that was done, the oldest first.
    pub fn since_start(&self) -> Vec<(Deed, Term)> {
        self.beyond(&Trail::default())
    }

    /// Where paths meet: what was done on either.
    pub fn merge(&self, other: &Trail) -> Trail {
        let mut merged = self.clone();
        other.beyond(self).into_iter().for_each(|(deed, condition)| merged.push(deed, condition));
        merged
    }

    /// What was done since `start`: the conditions of effects, and what was done to locks, with the conditions.
    pub fn since(&self, start: &Trail) -> (Vec<Term>, Vec<(Deed, Term)>) {
        let (effects, locks): (Vec<_>, Vec<_>) =
            self.beyond(start).into_iter().partition(|(deed, _)| *deed == Deed::Effect);
        (effects.into_iter().map(|(_, condition)| condition).collect(), locks)
    }
}

/// Whether every lock that was taken was given back, or the other way round, one within the other.
pub fn is_balanced(locks: &[Deed]) -> bool {
    let mut open: Vec<Deed> = Vec::new();
    for &deed in locks {
        let undone = match deed {
            Deed::Effect => return false,
            Deed::Acquire(lock) => Deed::Release(lock),
            Deed::Release(lock) => Deed::Acquire(lock),
        };
        match open.last() == Some(&undone) {
            true => drop(open.pop()),
            false => open.push(deed),
        }
    }
    open.is_empty()
}

impl Drop for Trail {
    /// A long list must not be freed by recursion.
    fn drop(&mut self) {
        let mut next = self.last.take();
        while let Some(entry) = next {
            next = Rc::try_unwrap(entry).ok().and_then(|mut entry| entry.before.take());
        }
    }
}
