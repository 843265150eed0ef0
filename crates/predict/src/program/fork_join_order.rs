//! Which schedule points always come before which: the order that starts and joins of threads give.
//!
//! Everything that a parent did before it started a child comes before the child, and everything that a child did comes
//! before the end of a join of it, in every reordering of the run. So for each thread, and from each of its joins on,
//! one number for every other thread says how many of its schedule points have certainly been passed.

use crate::walk::listener::Position;
use leno_trace::ThreadIndex;
use std::collections::BTreeMap;

/// All schedule points of a thread.
const ALL: u32 = u32::MAX;

/// The start or the join of a thread.
#[derive(Clone, Copy, Debug)]
pub struct ThreadStep {
    clock: u64,
    thread: ThreadIndex,
    point: u32,
    child: ThreadIndex,
    is_join: bool,
}

impl ThreadStep {
    pub fn spawn(at: &Position, child: ThreadIndex) -> ThreadStep {
        ThreadStep { clock: at.clock, thread: at.thread, point: at.point, child, is_join: false }
    }

    pub fn join(at: &Position, child: ThreadIndex) -> ThreadStep {
        ThreadStep { is_join: true, ..ThreadStep::spawn(at, child) }
    }
}

/// By thread: how many of its schedule points have been passed.
type Passed = BTreeMap<ThreadIndex, u32>;

#[derive(Clone, Default, Debug)]
pub struct ForkJoinOrder {
    /// By thread: from this schedule point on, so many points of other threads have been passed.
    checkpoints: BTreeMap<ThreadIndex, Vec<(u32, Passed)>>,
}

impl ForkJoinOrder {
    /// From the starts and joins of a run.
    pub fn new(steps: &[ThreadStep]) -> ForkJoinOrder {
        let mut sorted: Vec<&ThreadStep> = steps.iter().collect();
        sorted.sort_by_key(|step| step.clock);
        let mut now: BTreeMap<ThreadIndex, Passed> = BTreeMap::new();
        let mut order = ForkJoinOrder::default();
        for step in sorted {
            if step.is_join {
                let mut ended = now.get(&step.child).cloned().unwrap_or_default();
                ended.insert(step.child, ALL);
                let known = now.entry(step.thread).or_default();
                for (thread, passed) in ended {
                    let mine = known.entry(thread).or_default();
                    *mine = passed.max(*mine);
                }
                order.add(step.thread, step.point + 1, known.clone());
            } else {
                let mut known = now.get(&step.thread).cloned().unwrap_or_default();
                known.insert(step.thread, step.point + 1);
                order.add(step.child, 0, known.clone());
                now.insert(step.child, known);
            }
        }
        order
    }

    fn add(&mut self, thread: ThreadIndex, from: u32, passed: Passed) {
        self.checkpoints.entry(thread).or_default().push((from, passed));
    }

    /// How many schedule points of `other` have been passed whenever `thread` is at `point`.
    pub fn passed(&self, thread: ThreadIndex, point: u32, other: ThreadIndex) -> u32 {
        let Some(list) = self.checkpoints.get(&thread) else { return 0 };
        let index = list.partition_point(|(from, _)| *from <= point);
        let last = index.checked_sub(1).map(|index| &list[index].1);
        last.and_then(|known| known.get(&other)).copied().unwrap_or(0)
    }

    /// Whether one schedule point always comes before another.
    pub fn is_before(&self, (first, at): (ThreadIndex, u32), (second, then): (ThreadIndex, u32)) -> bool {
        if first == second { at < then } else { self.passed(second, then, first) > at }
    }
}
