//! Which schedule points always come before which: the order that starts and joins of threads give.
//!
//! Everything that a parent did before it started a child comes before the child, and everything that a child did comes
//! before the end of a join of it, in every reordering of the run. So for each thread, and from each of its joins on,
//! one number for every other thread says how many of its schedule points have certainly been passed.

use crate::walk::listener::Position;
use leno_ir::index::Idx;
use leno_trace::ThreadIndex;
use std::collections::BTreeMap;
use std::rc::Rc;

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

/// By thread: how many of its schedule points have been passed. A binary trie over the bits of the thread's number whose
/// parts are shared: a child knows what its parent knows and little more, and there may be thousands of them.
#[derive(Clone, Default, Debug)]
struct Passed(Option<Rc<Node>>);

#[derive(Clone, Debug)]
enum Node {
    Points(u32),
    Halves([Passed; 2]),
}

/// The numbers of threads have so many bits.
const BITS: u32 = u32::BITS;

impl Passed {
    fn get(&self, thread: ThreadIndex) -> u32 {
        let (mut node, mut bit) = (self, BITS);
        loop {
            match node.0.as_deref() {
                None => return 0,
                Some(Node::Points(points)) => return *points,
                Some(Node::Halves(halves)) => {
                    bit = bit.saturating_sub(1);
                    node = &halves[half(thread, bit)];
                }
            }
        }
    }

    #[must_use]
    fn with(&self, thread: ThreadIndex, points: u32) -> Passed {
        self.with_below(thread, points, BITS)
    }

    fn with_below(&self, thread: ThreadIndex, points: u32, bit: u32) -> Passed {
        if bit == 0 {
            return Passed(Some(Rc::new(Node::Points(points))));
        }
        let mut halves = match self.0.as_deref() {
            Some(Node::Halves(halves)) => halves.clone(),
            _ => Default::default(),
        };
        let half = &mut halves[half(thread, bit - 1)];
        *half = half.with_below(thread, points, bit - 1);
        Passed(Some(Rc::new(Node::Halves(halves))))
    }

    /// What one of the two knows.
    fn or(&self, other: &Passed) -> Passed {
        let (Some(a), Some(b)) = (&self.0, &other.0) else {
            return if self.0.is_some() { self.clone() } else { other.clone() };
        };
        if Rc::ptr_eq(a, b) {
            return self.clone();
        }
        Passed(Some(match (&**a, &**b) {
            (Node::Halves(a), Node::Halves(b)) => Rc::new(Node::Halves([a[0].or(&b[0]), a[1].or(&b[1])])),
            (Node::Points(a), Node::Points(b)) => Rc::new(Node::Points(*a.max(b))),
            // (All paths have the same length.)
            _ => Rc::clone(a),
        }))
    }
}

fn half(thread: ThreadIndex, bit: u32) -> usize {
    thread.index() >> bit & 1
}

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
                let ended = now.get(&step.child).cloned().unwrap_or_default().with(step.child, ALL);
                let known = now.entry(step.thread).or_default();
                *known = known.or(&ended);
                order.add(step.thread, step.point + 1, known.clone());
            } else {
                let known = now.get(&step.thread).cloned().unwrap_or_default().with(step.thread, step.point + 1);
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
        last.map_or(0, |known| known.get(other))
    }

    /// Whether one schedule point always comes before another.
    pub fn is_before(&self, (first, at): (ThreadIndex, u32), (second, then): (ThreadIndex, u32)) -> bool {
        if first == second { at < then } else { self.passed(second, then, first) > at }
    }
}
