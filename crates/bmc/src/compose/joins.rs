//! Joins: which thread a join waits for depends on its handle (`leno_axioms::joins`), which is valid for one join or
//! detach only.

use crate::compose::Composer;
use crate::skeleton::{Join, ThreadIndex};
use leno_axioms::Event;
use leno_axioms::joins::{self, had_ended};
use leno_ir::index::IndexVec;
use leno_logic::literal::Lit;
use leno_logic::term::Term;

impl Composer<'_, '_> {
    pub(super) fn joins(&mut self) {
        // By thread: the literals that a join has waited for it.
        let threads = self.bounded.skeleton.threads.ids();
        let mut joined_by: IndexVec<ThreadIndex, Vec<Lit>> = threads.map(|_| Vec::new()).collect();
        for index in 0..self.bounded.skeleton.joins.len() {
            if self.is_interrupted() {
                break;
            }
            self.invalid_handle(index);
            let join = self.bounded.skeleton.joins[index].clone();
            if join.is_detach {
                continue;
            }
            let occurs = self.bounded.terms.and2(join.path, join.done);
            let mut axiom = joins::Join::new(Event { node: self.node(join.node), occurs: self.literal(occurs) });
            for other in self.bounded.skeleton.threads.ids() {
                self.may_wait_for(index, &join, other, &mut axiom, &mut joined_by[other]);
            }
            axiom.finish(&mut self.solver);
        }
    }

    /// What holds if a join waits for the thread with an index.
    fn may_wait_for(
        &mut self,
        index: usize,
        join: &Join,
        other: ThreadIndex,
        axiom: &mut joins::Join,
        joined_by: &mut Vec<Lit>,
    ) {
        let thread = &self.bounded.skeleton.threads[other];
        let (handle, finished, result, last) = (thread.handle, thread.finished, thread.result, self.node(thread.last));
        let same = self.bounded.terms.eq(join.handle, handle);
        let ended = self.bounded.terms.and2(same, finished);
        if self.bounded.terms.as_bool(ended) == Some(false) {
            return;
        }
        let ended = self.literal(ended);
        let joined = axiom.may_wait_for(&mut self.solver, last, ended, joined_by);
        if let Some(synchronisation) = &mut self.synchronisation {
            synchronisation.joins.push((joined, last, self.nodes[join.node]));
        }
        // An atomic section that joins a thread waits exactly if the thread has not ended before.
        if let Some((at_once, here)) = join.at_once {
            let (path, at_once, here) = (self.literal(join.path), self.literal(at_once), self.node(here));
            had_ended(&mut self.solver, [path, ended], at_once, last, here);
        }
        for detached in self.uses(index, handle, |other| other.is_detach) {
            self.solver.add_clause(&[!joined, !detached]);
        }
        if let Some(value) = join.result {
            let equal = self.bounded.terms.eq(value, result);
            let equal = self.literal(equal);
            self.solver.add_clause(&[!joined, equal]);
        }
    }

    /// Other joins and detaches of a thread: the literals that they come before this one.
    fn uses(&mut self, index: usize, handle: Term, is_meant: impl Fn(&Join) -> bool) -> Vec<Lit> {
        let node = self.bounded.skeleton.joins[index].node;
        let mut uses = Vec::new();
        for other in 0..self.bounded.skeleton.joins.len() {
            let join = self.bounded.skeleton.joins[other].clone();
            if other != index && is_meant(&join) {
                let same = self.bounded.terms.eq(join.handle, handle);
                let done = self.bounded.terms.and(&[same, join.path, join.done]);
                uses.extend(self.happened_before(done, join.node, node));
            }
        }
        uses
    }

    /// A handle can be invalid only if every thread that it may be the handle of was joined or detached before, or not
    /// started yet.
    fn invalid_handle(&mut self, index: usize) {
        let join = self.bounded.skeleton.joins[index].clone();
        let Some(invalid) = join.invalid else { return };
        let invalid = self.literal(invalid);
        for other in self.bounded.skeleton.threads.ids() {
            let thread = &self.bounded.skeleton.threads[other];
            let (handle, spawned) = (thread.handle, thread.spawned);
            let same = self.bounded.terms.eq(join.handle, handle);
            if self.bounded.terms.as_bool(same) == Some(false) {
                continue;
            }
            let mut clause = vec![!invalid, !self.literal(same)];
            clause.extend(self.uses(index, handle, |_| true));
            if let Some((node, path)) = spawned {
                match self.happened_before(path, node, join.node) {
                    Some(started) => clause.push(!started),
                    None => continue,
                }
            }
            self.solver.add_clause(&clause);
        }
    }
}
