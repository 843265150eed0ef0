//! Fewer blocks by trial: drop one, or move it to where its thread ran before or will run again.
//!
//! Another order of dependent events is another execution, which may still fail. Each change is tried on the
//! interpreter from the start; the first that helps is kept, until none does.

use super::execution::{Course, Schedule};

impl Course<'_, '_> {
    pub fn merge(&self, schedule: &mut Schedule) {
        while let Some(shorter) = self.merge_once(schedule) {
            *schedule = shorter;
        }
    }

    /// A schedule that leads to the violation with fewer blocks, found by a single change.
    fn merge_once(&self, schedule: &Schedule) -> Option<Schedule> {
        let changes = (0..schedule.blocks.len()).rev().flat_map(|index| {
            let moved = [moved_back(schedule, index), moved_on(schedule, index)];
            std::iter::once(without(schedule, index)).chain(moved.into_iter().flatten())
        });
        for changed in changes {
            if self.is_exhausted() {
                return None;
            }
            if let Some(made) = self.run(&changed).filter(|made| made.blocks.len() < schedule.blocks.len()) {
                return Some(made);
            }
        }
        None
    }
}

fn without(schedule: &Schedule, index: usize) -> Schedule {
    let mut changed = Schedule::default();
    let rest = schedule.blocks.iter().enumerate().filter(|(at, _)| *at != index);
    rest.for_each(|(_, block)| changed.push(&block.thread, block.events));
    changed
}

/// With the block at `index` at the end of its thread's block before.
fn moved_back(schedule: &Schedule, index: usize) -> Option<Schedule> {
    let block = &schedule.blocks[index];
    let earlier = schedule.blocks[..index].iter().rposition(|other| other.thread == block.thread)?;
    Some(with_events_at(schedule, index, earlier))
}

/// With the block at `index` at the beginning of its thread's next block.
fn moved_on(schedule: &Schedule, index: usize) -> Option<Schedule> {
    let block = &schedule.blocks[index];
    let later = schedule.blocks[index + 1..].iter().position(|other| other.thread == block.thread)?;
    Some(with_events_at(schedule, index, index + 1 + later))
}

fn with_events_at(schedule: &Schedule, from: usize, to: usize) -> Schedule {
    let mut changed = Schedule::default();
    for (at, block) in schedule.blocks.iter().enumerate().filter(|(at, _)| *at != from) {
        let more = if at == to { schedule.blocks[from].events } else { 0 };
        changed.push(&block.thread, block.events + more);
    }
    changed
}
