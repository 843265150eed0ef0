//! Leaks: what is left of the heap when the process ends.
//!
//! Where it matters, the beginning of each heap object's life is a step, and so is its end, also where no other thread could notice. An
//! object is left at an end of the process if it was allocated before and no free of it came before. The process may end while
//! threads are anywhere: any end that comes before all others is looked at. An execution that ends by `abort` leaves nothing.
//!
//! What is *lost* is left, and nothing points to it any more. The second half is not encoded: what is left is looked for, and the
//! interpreter says whether it is lost. So nothing left means nothing lost; but what is left and not lost is no verdict.

use crate::Reported;
use crate::compose::{Composer, Suspect};
use crate::objects::InstanceId;
use crate::skeleton::{Allocation, End, NodeId, Release, ThreadIndex};
use crate::state::State;
use crate::summarize::Summarizer;
use leno_explore::Properties;
use leno_logic::literal::Lit;
use leno_logic::term::Term;

/// Whether it matters what is left at the end.
pub(crate) fn watches_ends(properties: Properties) -> bool {
    properties.leak || properties.memtrack
}

impl Summarizer<'_> {
    pub(crate) fn watch_allocation(&mut self, state: &mut State, instance: InstanceId) {
        if watches_ends(self.properties) {
            let (node, (_, span)) = (self.next_node(state), self.here);
            self.step(node, state.path);
            self.skeleton.allocations.push(Allocation { instance, node, path: state.path, span });
        }
    }

    /// Private objects are freed, each under a condition.
    pub(crate) fn watch_releases(&mut self, state: &State, node: NodeId, freed: &[(InstanceId, Term)]) {
        if watches_ends(self.properties) {
            for &(instance, condition) in freed {
                let path = self.terms.and2(state.path, condition);
                self.skeleton.releases.push(Release { instance, node, path });
            }
        }
    }

    /// The running thread ends the process.
    pub(crate) fn end_process(&mut self, path: Term, node: NodeId) {
        if watches_ends(self.properties) {
            self.skeleton.ends.push(End { node, path, thread: Some(self.thread) });
        }
    }

    /// The process ends with its last thread, if the main thread has not ended it before.
    pub(crate) fn end_with_last_thread(&mut self) {
        let finished: Vec<(Term, Option<(NodeId, Term)>)> =
            self.skeleton.threads.iter().map(|thread| (thread.finished, thread.spawned)).collect();
        if !watches_ends(self.properties) {
            return;
        }
        let mut all = Vec::new();
        for (finished, spawned) in finished {
            let started = spawned.map_or(Term::TRUE, |(_, path)| path);
            all.push(self.terms.implies(started, finished));
        }
        let path = self.terms.and(&all);
        if self.terms.as_bool(path) != Some(false) {
            let node = self.skeleton.add_node(ThreadIndex(self.skeleton.threads.len() as u32));
            self.skeleton.ends.push(End { node, path, thread: None });
        }
    }
}

impl Composer<'_, '_> {
    pub(crate) fn leaks(&mut self, suspects: &mut Vec<(Suspect, Lit)>) {
        for end in 0..self.summary.skeleton.ends.len() {
            let ended = self.ended(self.summary.skeleton.ends[end]);
            for allocation in 0..self.summary.skeleton.allocations.len() {
                if self.is_interrupted() {
                    return;
                }
                let what = self.summary.skeleton.allocations[allocation];
                if !self.summary.reported.contains(&Reported::violation(what.span)) {
                    let left = self.left(what, self.summary.skeleton.ends[end], ended);
                    suspects.push((Suspect::Leak(end), left));
                }
            }
        }
    }

    /// The literal that the process ends like this.
    fn ended(&mut self, end: End) -> Lit {
        let ended = self.solver.new_literal();
        let occurs = self.literal(end.path);
        self.solver.add_clause(&[!ended, occurs]);
        if end.thread.is_some() {
            self.before_exits(ended, end.node);
            return ended;
        }
        for index in 0..self.summary.skeleton.threads.len() {
            let thread = &self.summary.skeleton.threads[index];
            let (finished, last) = (thread.finished, thread.last);
            let is_finished = self.literal(finished);
            let comes_first = self.solver.new_literal();
            self.solver.add_clause(&[!ended, !is_finished, comes_first]);
            self.solver.add_guarded_edge(comes_first, self.node(last), self.node(end.node));
        }
        ended
    }

    /// The literal that an object is there at an end.
    fn left(&mut self, what: Allocation, end: End, ended: Lit) -> Lit {
        let left = self.solver.new_literal();
        let allocated = self.literal(what.path);
        self.solver.add_clause(&[!left, ended]);
        self.solver.add_clause(&[!left, allocated]);
        if self.summary.skeleton.nodes[what.node.0 as usize] != self.summary.skeleton.nodes[end.node.0 as usize] {
            self.solver.add_guarded_edge(left, self.node(what.node), self.node(end.node));
        }
        let instance = self.summary.instances.get(what.instance);
        let (object, base) = (instance.object, instance.base);
        let mut frees = Vec::new();
        for index in 0..self.summary.skeleton.frees.len() {
            let free = &self.summary.skeleton.frees[index];
            if free.targets.contains(object) {
                let (node, address, path, valid) = (free.node, free.address, free.path, free.valid);
                let base = self.summary.pointer(base);
                let same = self.summary.terms.eq(address, base);
                frees.push((self.summary.terms.and(&[same, path, valid]), node));
            }
        }
        let releases = self.summary.skeleton.releases.iter().filter(|release| release.instance == what.instance);
        frees.extend(releases.map(|release| (release.path, release.node)));
        for (done, node) in frees {
            // (What is freed in the section that ends the process was freed before.)
            let freed = match node == end.node {
                true => Some(self.literal(done)),
                false => self.happened_before(done, node, end.node),
            };
            if let Some(freed) = freed {
                self.solver.add_clause(&[!left, !freed]);
            }
        }
        left
    }
}
