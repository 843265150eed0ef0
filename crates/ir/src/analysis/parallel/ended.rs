//! Which threads have ended for certain, because they were joined?
//!
//! `alive` counts the threads that a thread has created. But any thread may join any other: a sibling, or the main thread,
//! which no thread has created. So here, for each root and along its paths: the roots of which there is one thread at
//! most in an execution, and of which that thread has been joined, by this thread or by one that has ended since, or
//! before this thread was created. What has ended stays so.

use std::collections::{BTreeMap, BTreeSet};

use super::joins::Joined;
use crate::analysis::contexts::{Exits, Flow, Points, solve};
use crate::analysis::facts::Facts;
use crate::analysis::threads::{RootId, RootSet};
use crate::program::*;

/// Roots of which the one thread has ended.
pub(super) type Ended = BTreeSet<RootId>;

struct Ending<'a> {
    facts: &'a Facts<'a>,
    joins: &'a BTreeMap<Place, Joined>,
    /// By root: what has ended when a thread of it ends.
    at_end: &'a BTreeMap<RootId, Ended>,
}

impl Flow for Ending<'_> {
    type State = Ended;

    fn join(&self, into: &mut Ended, other: &Ended) -> bool {
        let before = into.len();
        into.retain(|root| other.contains(root));
        into.len() != before
    }

    fn step(&self, place: Place, op: &Op, state: &mut Ended) {
        let Op::Join { .. } = op else { return };
        let joined = self.joins.get(&place).filter(|joined| !joined.may_be_undefined);
        if let Some(root) =
            joined.map(|joined| joined.root).filter(|root| !self.facts.threads().roots()[*root].is_replicated)
        {
            state.insert(root);
            state.extend(self.at_end.get(&root).into_iter().flatten());
        }
    }

    fn enter(&self, _: Place, _: &[Expr], _: FuncId, state: &Ended) -> Ended {
        state.clone()
    }

    fn leave(&self, _: Option<LocalId>, before: &Ended, exits: &Exits<Ended>) -> Ended {
        let mut all = exits.values();
        let mut after = all.next().unwrap_or(before).clone();
        all.for_each(|exit| _ = self.join(&mut after, exit));
        after
    }

    fn start(&self, _: Place, _: &[Expr], _: FuncId, state: &Ended) -> Option<Ended> {
        Some(state.clone())
    }

    fn branch(&self, _: (FuncId, BlockId), _: &Terminator, _: BlockId, state: &Ended) -> Option<Ended> {
        Some(state.clone())
    }

    fn exit(&self, _: FuncId, _: Option<&Expr>, state: &Ended) -> (Option<u128>, Ended) {
        (None, state.clone())
    }
}

/// For each root and each point of it.
pub(super) fn ended(facts: &Facts, joins: &BTreeMap<Place, Joined>) -> Points<RootSet> {
    if joins.is_empty() {
        return Points::new();
    }
    let mut at_end = BTreeMap::new();
    let mut points = Points::new();
    // The second time, a join brings what the joined thread has joined.
    for _ in 0..2 {
        let flow = Ending { facts, joins, at_end: &at_end };
        let is_start = |root: &RootId| facts.threads().roots()[*root].created_at.is_none();
        let starts: Vec<(RootId, Ended)> =
            facts.threads().roots().ids().filter(is_start).map(|root| (root, Ended::new())).collect();
        let solution = solve(facts, flow, starts);
        let found = solution.points(Ended::clone, |into, other| into.retain(|root| other.contains(root)));
        at_end = facts.threads().roots().ids().map(|root| (root, at_ends(facts, root, &found))).collect();
        points = found.map(|ended| ended.iter().copied().collect());
    }
    points
}

/// What has ended wherever a thread of a root ends.
fn at_ends(facts: &Facts, root: RootId, points: &Points<Ended>) -> Ended {
    let threads = facts.threads();
    let start = threads.roots()[root].function;
    let mut common: Option<Ended> = None;
    for (func, function) in facts.program().functions.iter_enumerated().filter(|(id, _)| threads.may_run(root, *id)) {
        let Body::Blocks(blocks) = &function.body else { continue };
        for (block, code) in blocks.iter_enumerated() {
            let is_end = match code.terminator.kind {
                TerminatorKind::ThreadExit(_) => true,
                // (Of a function that is also called; then this is too careful.)
                TerminatorKind::Return(_) => func == start,
                _ => false,
            };
            let place = Place { func, block, index: code.instrs.len() as u32 };
            if let Some(here) = points.at(root, place).filter(|_| is_end) {
                match &mut common {
                    Some(common) => common.retain(|root| here.contains(root)),
                    None => common = Some(here.clone()),
                }
            }
        }
    }
    common.unwrap_or_default()
}
