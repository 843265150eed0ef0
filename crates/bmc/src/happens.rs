//! Which events come before which in every execution that has both: program order, starts and joins of threads.
//!
//! The transitive closure of the skeleton's order (paper 000, section 6), asked for pair by pair instead of stored: the first of two events on
//! different threads comes before the second if the second's thread was started later, or if the second occurs only where
//! the first's thread has been joined. Joins count where their handle is a constant, as it nearly always is.

use crate::implication::Implications;
use crate::skeleton::{NodeId, Skeleton, ThreadIndex};
use leno_logic::term::{Term, Terms};
use rustc_hash::FxHashMap;

/// Something that happens at a node under a condition.
#[derive(Clone, Copy, Debug)]
pub struct Occasion {
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

pub struct Happens {
    /// By thread: who starts it, and when.
    started: Vec<Option<(ThreadIndex, NodeId)>>,
    finished: Vec<Term>,
    /// By thread: the joins that wait for it and for no other.
    joined: Vec<Vec<Joined>>,
    pub implications: Implications,
    ended: FxHashMap<(ThreadIndex, NodeId, Term), bool>,
}

impl Happens {
    pub fn new(skeleton: &Skeleton, implications: Implications) -> Happens {
        let by_handle: FxHashMap<Term, usize> =
            skeleton.threads.iter().enumerate().map(|(index, thread)| (thread.handle, index)).collect();
        let mut joined = vec![Vec::new(); skeleton.threads.len()];
        for join in skeleton.joins.iter().filter(|join| !join.is_detach) {
            if let Some(&thread) = by_handle.get(&join.handle) {
                let by = skeleton.nodes[join.node.0 as usize];
                joined[thread].push(Joined { at: join.node, by, path: join.path, done: join.done });
            }
        }
        let started = skeleton.threads.iter().map(|thread| {
            let (node, _) = thread.spawned?;
            Some((skeleton.nodes[node.0 as usize], node))
        });
        Happens {
            started: started.collect(),
            finished: skeleton.threads.iter().map(|thread| thread.finished).collect(),
            joined,
            implications,
            ended: FxHashMap::default(),
        }
    }

    /// Whether in every execution with both, `a` comes before `b`.
    pub fn before(&mut self, terms: &Terms, a: Occasion, b: Occasion) -> bool {
        if a.thread == b.thread {
            return a.node < b.node;
        }
        self.starts_after(a, b.thread) || self.has_ended(terms, a.thread, b, 0)
    }

    pub fn in_parallel(&mut self, terms: &Terms, a: Occasion, b: Occasion) -> bool {
        a.thread != b.thread && !self.before(terms, a, b) && !self.before(terms, b, a)
    }

    /// Whether a thread starts only after something has happened.
    fn starts_after(&self, what: Occasion, thread: ThreadIndex) -> bool {
        let mut child = thread;
        while let Some(&Some((parent, node))) = self.started.get(child.0 as usize) {
            if parent == what.thread {
                return what.node <= node;
            }
            child = parent;
        }
        false
    }

    /// Whether wherever `b` occurs, the thread has come to its end before.
    fn has_ended(&mut self, terms: &Terms, thread: ThreadIndex, b: Occasion, depth: usize) -> bool {
        let key = (thread, b.node, b.occurs);
        if let Some(&known) = self.ended.get(&key) {
            return known;
        }
        let joins = self.joined.get(thread.0 as usize).cloned().unwrap_or_default();
        let has_ended = joins.into_iter().any(|join| {
            let at = Occasion { node: join.at, thread: join.by, occurs: join.path };
            let is_earlier = if join.by == b.thread { join.at < b.node } else { self.starts_after(at, b.thread) };
            if is_earlier {
                return self.follows(terms, b.occurs, &join);
            }
            // Joined by a thread that has ended itself.
            let Some(&finished) = self.finished.get(join.by.0 as usize) else { return false };
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
