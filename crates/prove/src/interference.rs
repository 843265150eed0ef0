//! Which stops may two threads be at, at the same time? (Paper 002, section 4 and Figure 3.)
//!
//! The paper deduces *coreachable* pairs of locations from the invariants: two threads are together at the beginning; if
//! they may be at `a` and `b`, and the step of the one at `a` is not excluded by what is known at `b`, they may be at `a'`
//! and `b`. It is enough to look at two threads at a time, because the others are accounted for by the invariants. Here the
//! two come together when one of them is created, or created by a third one that may be together with the other. What is
//! known at `a` and at `b` about the cells that both see is put together before the step is made (the paper compares it
//! with a finite set of conditions only), and a pair is left out, too, if the facts about creation, joins and barriers or
//! about locks exclude it, or if both are in atomic sections.
//!
//! **What a thread sees.** The invariant at a stop is about the states in which no *other* thread is in the middle of an
//! atomic section; and about a cell that a lock protects, if the thread does not hold the lock, it is about the value that
//! the cell had when the lock was last free. So a thread interferes with others not when it stores, but when others could
//! see it: at the end of a section, when it gives up a lock, or at once if there is neither (`State::dirty`). This is sound:
//! nobody accesses such a cell without the lock, so the value between does not matter to anybody; and when a thread gets the
//! lock, or begins a section, the value is the one that the last thread left.
//!
//! What the other one knows after a step is what both know together, changed by the step (`view`).

use crate::code::{Code, StopId};
use crate::machine::Segment;
use crate::states::States;
use leno_ir::analysis::threads::RootId;
use leno_ir::index::IndexVec;
use std::collections::BTreeSet;
use std::rc::Rc;

pub use leno_verify::annotation::Coreachable;

/// What a thread may do from one stop while another one is at another.
#[derive(Debug)]
pub struct Watched<'p> {
    pub next: BTreeSet<StopId>,
    pub started: BTreeSet<RootId>,
    /// What the other one knows where it sees something new.
    pub after: States<'p>,
}

/// What deductions need to know of the program.
#[derive(Clone, Copy, Debug)]
pub struct Interference<'a, 'p> {
    code: &'a Code<'a, 'p>,
}

impl<'a, 'p> Interference<'a, 'p> {
    pub fn new(code: &'a Code<'a, 'p>) -> Interference<'a, 'p> {
        Interference { code }
    }

    pub fn is_exclusive(&self, stop: StopId) -> bool {
        leno_verify::exclusion::is_exclusive(self.code, stop)
    }

    /// Whether creation, joins, barriers, locks and sections let two threads be at these stops.
    pub fn may_be_together(&self, a: StopId, b: StopId) -> bool {
        leno_verify::exclusion::may_be_together(self.code, a, b)
    }

    /// All pairs that follow from the invariants and from the pairs there are.
    pub fn deduce(
        &self,
        pairs: &mut Coreachable,
        invariants: &IndexVec<StopId, States<'p>>,
        steps: &mut dyn Steps<'p>,
    ) {
        let mut work: Vec<(StopId, StopId)> = Vec::new();
        for stop in invariants.ids() {
            work.extend(pairs.with(stop).map(|other| (stop, other)));
        }
        let add = |pairs: &mut Coreachable, work: &mut Vec<(StopId, StopId)>, a: StopId, b: StopId| {
            let is_possible = !invariants[a].is_never() && !invariants[b].is_never();
            if is_possible && !pairs.contains(a, b) && self.may_be_together(a, b) {
                pairs.insert(a, b);
                work.extend([(a, b), (b, a)]);
            }
        };
        let entry = |root: &RootId| self.code.stop(self.code.entry(*root));
        // A new thread is together with the one that has started it.
        for stop in invariants.ids().filter(|stop| !invariants[*stop].is_never()) {
            let segment = steps.alone(stop, &invariants[stop]);
            for child in segment.started.iter().filter_map(|(root, _)| entry(root)) {
                for next in segment.next.keys() {
                    add(pairs, &mut work, *next, child);
                }
            }
        }
        let mut count = 0u32;
        while let Some((mover, other)) = work.pop() {
            count = count.wrapping_add(1);
            if count.is_multiple_of(64) && steps.is_interrupted() {
                return;
            }
            if self.is_exclusive(other) {
                continue;
            }
            let watched = steps.watched((mover, &invariants[mover]), (other, &invariants[other]));
            let children = watched.started.iter().filter_map(entry);
            for next in watched.next.iter().copied().chain(children) {
                add(pairs, &mut work, next, other);
            }
        }
    }
}

/// What threads do, for the deductions.
pub trait Steps<'p> {
    /// A segment of a thread by itself.
    fn alone(&mut self, stop: StopId, states: &States<'p>) -> Rc<Segment<'p>>;

    /// A segment of the first thread while the second one is somewhere.
    fn watched(&mut self, mover: (StopId, &States<'p>), other: (StopId, &States<'p>)) -> Rc<Watched<'p>>;

    fn is_interrupted(&self) -> bool;
}
