//! Which events come before which in every execution that has both: program order, starts and joins of threads.
//!
//! This is the transitive closure of the skeleton's order (paper 000, section 6), computed pair by pair on demand: the
//! first of two events on different threads comes before the second if the thread of the second is started later, or if
//! the second occurs only where the thread of the first has been joined. Joins count if their handle is a constant, as
//! it nearly always is.

use crate::prune::implication::Implications;
use crate::skeleton::{NodeId, Skeleton, ThreadIndex};
use leno_ir::index::IndexVec;
use leno_logic::term::{Term, Terms};
use rustc_hash::FxHashMap;

/// A node, and the condition under which an event occurs at it.
#[derive(Clone, Copy, Debug)]
pub struct GuardedNode {
    pub node: NodeId,
    pub thread: ThreadIndex,
    pub occurs: Term,
}

#[derive(Clone, Copy)]
struct Joined {
    at: NodeId,
    by: ThreadIndex,
    path: Term,
    done: Term,
}

pub struct MustOrder {
    /// By thread: the thread and the node that start it.
    started: IndexVec<ThreadIndex, Option<(ThreadIndex, NodeId)>>,
    finished: IndexVec<ThreadIndex, Term>,
    /// By thread: the joins that wait for it and for no other.
    joined: IndexVec<ThreadIndex, Vec<Joined>>,
    pub implications: Implications,
    ended: FxHashMap<(ThreadIndex, NodeId, Term), bool>,
}

impl MustOrder {
    pub fn new(skeleton: &Skeleton, implications: Implications) -> MustOrder {
        let threads = skeleton.threads.iter_enumerated();
        let by_handle: FxHashMap<Term, ThreadIndex> = threads.map(|(index, thread)| (thread.handle, index)).collect();
        let mut joined: IndexVec<ThreadIndex, Vec<Joined>> = skeleton.threads.ids().map(|_| Vec::new()).collect();
        for join in skeleton.joins.iter().filter(|join| !join.is_detach) {
            if let Some(&thread) = by_handle.get(&join.handle) {
                let by = skeleton.nodes[join.node];
                joined[thread].push(Joined { at: join.node, by, path: join.path, done: join.done });
            }
        }
        let started = skeleton.threads.iter().map(|thread| {
            let (node, _) = thread.spawned?;
            Some((skeleton.nodes[node], node))
        });
        MustOrder {
            started: started.collect(),
            finished: skeleton.threads.iter().map(|thread| thread.finished).collect(),
            joined,
            implications,
            ended: FxHashMap::default(),
        }
    }

    /// Whether `a` comes before `b` in every execution that has both.
    pub fn before(&mut self, terms: &Terms, a: GuardedNode, b: GuardedNode) -> bool {
        if a.thread == b.thread {
            return a.node < b.node;
        }
        self.starts_after(a, b.thread) || self.has_ended(terms, a.thread, b, 0)
    }

    pub fn in_parallel(&mut self, terms: &Terms, a: GuardedNode, b: GuardedNode) -> bool {
        a.thread != b.thread && !self.before(terms, a, b) && !self.before(terms, b, a)
    }

    /// Whether a thread starts only after a node.
    fn starts_after(&self, what: GuardedNode, thread: ThreadIndex) -> bool {
        let mut child = thread;
        while let Some(&Some((parent, node))) = self.started.get(child) {
            if parent == what.thread {
                return what.node <= node;
            }
            child = parent;
        }
        false
    }

    /// Whether the thread has ended before `b`, wherever that occurs.
    fn has_ended(&mut self, terms: &Terms, thread: ThreadIndex, b: GuardedNode, depth: usize) -> bool {
        let key = (thread, b.node, b.occurs);
        if let Some(&known) = self.ended.get(&key) {
            return known;
        }
        let joins = self.joined.get(thread).cloned().unwrap_or_default();
        let has_ended = joins.into_iter().any(|join| {
            let at = GuardedNode { node: join.at, thread: join.by, occurs: join.path };
            let is_earlier = if join.by == b.thread { join.at < b.node } else { self.starts_after(at, b.thread) };
            if is_earlier {
                return self.follows(terms, b.occurs, &join);
            }
            // Joined by a thread that has itself ended.
            let Some(&finished) = self.finished.get(join.by) else { return false };
            depth < self.started.len()
                && join.by != b.thread
                && self.follows(terms, finished, &join)
                && self.has_ended(terms, join.by, b, depth + 1)
        });
        self.ended.insert(key, has_ended);
        has_ended
    }

    fn follows(&mut self, terms: &Terms, condition: Term, join: &Joined) -> bool {
        self.implications.holds(terms, condition, join.done) && self.implications.holds(terms, condition, join.path)
    }
}
