//! Locks that another thread holds for as long as a thread lives.
//!
//! `lock(m); create(t); …; join(t); unlock(m)`: while `t` is alive, the thread that created it holds `m`. So no other thread can
//! be in a critical section of `m`, as if `t` held it. For a thread `T` and a thread `P` of which there is one, and which
//! creates every `T` directly or not: the locks that `P` holds wherever a `T` may be alive. Two threads exclude each other if
//! a lock is held for both of them, by two different threads. (A lock that `P` still holds when it ends is never free again.)

use std::collections::BTreeMap;

use super::{Lock, LockSet, Mode};
use crate::analysis::contexts::Points;
use crate::analysis::facts::Facts;
use crate::analysis::threads::{RootId, ThreadRoots};
use crate::index::Idx;
use crate::program::{Body, Place};

/// By root: which locks are held for its threads, in which mode, and by the thread of which root.
#[derive(Clone, Debug, Default)]
pub(super) struct Inherited {
    by_root: Vec<BTreeMap<RootId, LockSet>>,
}

impl Inherited {
    pub fn new(facts: &Facts, held: &Points<LockSet>) -> Inherited {
        let threads = facts.threads();
        let mut by_root = vec![BTreeMap::new(); threads.roots().len()];
        for holder in threads.roots().ids().filter(|root| !threads.roots()[*root].is_replicated) {
            for root in threads.descendants(holder).iter().filter(|root| threads.always_creates(holder, *root)) {
                let locks = held_while_alive(facts, threads, held, holder, root);
                if !locks.is_empty() {
                    by_root[root.index()].insert(holder, locks);
                }
            }
        }
        Inherited { by_root }
    }

    /// The locks that are held by others for threads of a root.
    pub fn by(&self, root: RootId) -> impl Iterator<Item = (RootId, Lock, Mode)> + '_ {
        let all = self.by_root[root.index()].iter();
        all.flat_map(|(holder, locks)| locks.iter().map(|(lock, mode)| (*holder, lock, mode)))
    }
}

/// The locks that a thread holds wherever one of those that it created may be alive.
fn held_while_alive(
    facts: &Facts,
    threads: &ThreadRoots,
    held: &Points<LockSet>,
    holder: RootId,
    root: RootId,
) -> LockSet {
    let mut common: Option<LockSet> = None;
    for (func, function) in facts.program().functions.iter_enumerated().filter(|(id, _)| threads.may_run(holder, *id)) {
        let Body::Blocks(blocks) = &function.body else { continue };
        for (block, code) in blocks.iter_enumerated() {
            for index in 0..=code.instrs.len() as u32 {
                let place = Place { func, block, index };
                if !facts.parallel().alive_at(holder, place).is_some_and(|alive| alive.contains(root)) {
                    continue;
                }
                let here = held.at(holder, place).cloned().unwrap_or_default();
                match &mut common {
                    Some(common) => common.intersect(&here),
                    None => common = Some(here),
                }
                if common.as_ref().is_some_and(LockSet::is_empty) {
                    return LockSet::default();
                }
            }
        }
    }
    common.unwrap_or_default()
}
