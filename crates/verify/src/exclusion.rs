//! What keeps threads apart, by the facts that all engines share: atomic sections, locks, creation, joins and barriers.

use crate::cells::{CellId, Cells};
use crate::code::{Code, NodeId, StopId};
use leno_ir::analysis::locksets::Mode;

/// Whether no other thread makes a step while a thread is at a stop.
pub fn is_exclusive(code: &Code<'_, '_>, stop: StopId) -> bool {
    code.is_exclusive(code.stops()[stop])
}

/// Whether creation, joins, barriers, locks and sections let two threads be at these stops.
pub fn may_be_together(code: &Code<'_, '_>, a: StopId, b: StopId) -> bool {
    let (left, right) = (code.stops()[a], code.stops()[b]);
    let (left_root, right_root) = (code.root_of(left), code.root_of(right));
    let (left_place, right_place) = (code.place(left), code.place(right));
    let (parallel, locksets) = (code.facts.parallel(), code.facts.locksets());
    if is_exclusive(code, a) && is_exclusive(code, b) {
        return false;
    }
    if !parallel.may_overlap((left_root, left_place), (right_root, right_place)) {
        return false;
    }
    match (locksets.held_in(left_root, left_place), locksets.held_in(right_root, right_place)) {
        (Some(left), Some(right)) => !left.excludes(right),
        _ => false,
    }
}

/// Whether no other thread can look at a cell while a thread is here.
pub fn is_hidden(code: &Code<'_, '_>, cells: &Cells, node: NodeId, cell: CellId) -> bool {
    if code.is_exclusive(node) {
        return true;
    }
    let held = code.facts.locksets().held_in(code.root_of(node), code.place(node));
    match (cells.protection(cell), held) {
        (Some(lock), Some(held)) => held.mode(lock) == Some(Mode::Exclusive),
        _ => false,
    }
}
