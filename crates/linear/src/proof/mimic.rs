//! CHK-MIMIC (paper 001, section 4.3): is what a thread has done to shared memory something that a summary does, too?
//!
//! Both start from the same view, whose cells have names, and none of them has told a segment apart: so the two results can
//! be compared cell by cell, and are the same for every heap that the view stands for, or for none. A cell that the
//! thread has published is matched with one that the summary has allocated: to the summary, its address was free.

use super::memory::State;
use super::value::{CellId, Place, Value};
use super::view::{Owner, Shared};

/// Whether the two have changed shared memory in the same way.
pub fn same_effect(before: &Shared, thread: &State, summary: &State) -> bool {
    let mut matching = Matching { before, thread: &thread.shared, summary: &summary.shared, pairs: Vec::new() };
    thread.shared.observer == summary.shared.observer
        && matching.same_counters(thread, summary)
        && matching.same_words()
}

/// Whether it has changed shared memory at all.
pub fn is_identity(before: &Shared, thread: &State) -> bool {
    let mut matching = Matching { before, thread: &thread.shared, summary: before, pairs: Vec::new() };
    thread.shared.observer == before.observer && thread.grown.is_empty() && matching.same_words()
}

struct Matching<'a> {
    before: &'a Shared,
    thread: &'a Shared,
    summary: &'a Shared,
    /// New shared cells of the thread, with those of the summary.
    pairs: Vec<(CellId, CellId)>,
}

fn is_shared(heap: &Shared, cell: usize) -> bool {
    heap.cells.get(cell).is_some_and(|cell| cell.owner == Owner::Shared)
}

impl Matching<'_> {
    fn same_counters(&self, thread: &State, summary: &State) -> bool {
        let was_shared = |place: &&Place| match place {
            Place::Static(..) => true,
            Place::Cell(cell, _) => is_shared(self.before, usize::from(*cell)),
        };
        thread.grown.iter().filter(was_shared).eq(summary.grown.iter().filter(was_shared))
    }

    fn same_words(&mut self) -> bool {
        let keys = self.thread.statics.iter().chain(&self.summary.statics).map(|(at, _)| *at);
        let mut keys: Vec<(u32, i64)> = keys.collect();
        keys.sort_unstable();
        keys.dedup();
        for (object, offset) in keys {
            let (left, right) = (self.thread.static_word(object, offset), self.summary.static_word(object, offset));
            if !self.same_value(&left, &right) {
                return false;
            }
        }
        for cell in 0..self.before.cells.len() {
            if !is_shared(self.before, cell) {
                continue;
            }
            let stays = is_shared(self.thread, cell);
            if stays != is_shared(self.summary, cell) || (stays && !self.same_cell(cell as CellId, cell as CellId)) {
                return false;
            }
        }
        let mut next = 0;
        while next < self.pairs.len() {
            let (left, right) = self.pairs[next];
            let both_shared = is_shared(self.thread, left.into()) && is_shared(self.summary, right.into());
            if !both_shared || !self.same_cell(left, right) {
                return false;
            }
            next += 1;
        }
        true
    }

    fn same_cell(&mut self, left: CellId, right: CellId) -> bool {
        let (left, right) = (&self.thread.cells[usize::from(left)], &self.summary.cells[usize::from(right)]);
        let offsets = left.fields.iter().chain(&right.fields).map(|(at, _)| *at);
        let offsets: Vec<i64> = offsets.collect();
        offsets.into_iter().all(|offset| self.same_value(&left.field(offset), &right.field(offset)))
    }

    fn same_value(&mut self, left: &Value, right: &Value) -> bool {
        match (left, right) {
            (Value::Cell(left, from), Value::Cell(right, to)) => from == to && self.same_address(*left, *right),
            (Value::Segment(left), Value::Segment(right)) => self.same_value(left, right),
            _ => left == right,
        }
    }

    fn same_address(&mut self, left: CellId, right: CellId) -> bool {
        let was_shared = |cell: CellId| is_shared(self.before, usize::from(cell));
        if was_shared(left) || was_shared(right) {
            return left == right;
        }
        let known = self.pairs.iter().find(|(one, other)| *one == left || *other == right);
        match known {
            Some(pair) => *pair == (left, right),
            None => {
                self.pairs.push((left, right));
                true
            }
        }
    }
}
