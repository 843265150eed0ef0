//! Every schedule with one block, then with two, and so on: what is found first has the fewest.
//!
//! States that were reached before, by the same thread and with no more blocks, are not followed again. So the effort
//! is bounded by the number of states, not of schedules; for small programs that is little, and for others the budget
//! ends it.

use super::execution::{Course, Execution, Happened, Schedule, able};
use crate::event::Footprint;
use leno_ir::interp::{Machine, ThreadId};
use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// A state at the end of a block.
struct State<'p> {
    execution: Execution<'p>,
    last: Option<ThreadId>,
    /// Its place in the list of blocks.
    block: usize,
}

/// A block that was run, and the one before it.
#[derive(Clone, Copy)]
struct Ran {
    before: usize,
    thread: ThreadId,
    events: usize,
}

fn fingerprint(machine: &Machine<'_>, last: ThreadId) -> u64 {
    let mut hasher = DefaultHasher::new();
    machine.hash(&mut hasher);
    last.0.hash(&mut hasher);
    hasher.finish()
}

struct Levels<'p> {
    seen: HashSet<u64>,
    blocks: Vec<Ran>,
    next: Vec<State<'p>>,
    is_last: bool,
}

/// Stands for the block before the first.
const START: usize = usize::MAX;

impl<'p> Course<'_, 'p> {
    /// A schedule with less than `blocks` blocks, and the fewest.
    pub fn levels(&self, blocks: usize) -> Option<Schedule> {
        let (execution, Happened::GoesOn) = self.start(&mut ()) else { return None };
        let mut level = vec![State { execution, last: None, block: START }];
        let mut levels = Levels { seen: HashSet::new(), blocks: Vec::new(), next: Vec::new(), is_last: false };
        for count in 1..blocks {
            levels.is_last = count + 1 == blocks;
            for state in &level {
                for thread in able(&state.execution.machine).into_iter().filter(|thread| state.last != Some(*thread)) {
                    if let Some(end) = self.run_block(state, thread, &mut levels) {
                        return Some(read_off(&levels.blocks, &end.machine));
                    }
                }
                if self.is_exhausted() {
                    return None;
                }
            }
            level = std::mem::take(&mut levels.next);
        }
        None
    }

    /// Lets a thread run, and keeps every state on its way that is new. The last block leads to the violation if it
    /// gives one.
    fn run_block(&self, state: &State<'p>, thread: ThreadId, levels: &mut Levels<'p>) -> Option<Execution<'p>> {
        let mut execution = state.execution.clone();
        self.spend(execution.machine.weight());
        let mut ran = Ran { before: state.block, thread, events: 0 };
        while execution.machine.enabled(thread) && !self.is_exhausted() {
            ran.events += 1;
            match self.make_event(&mut execution, thread, &mut Footprint::default(), &mut ()) {
                Happened::Met(_) => {
                    levels.blocks.push(ran);
                    return Some(execution);
                }
                Happened::Over => return None,
                Happened::GoesOn => {}
            }
            self.spend(2 * execution.machine.weight());
            if !levels.seen.insert(fingerprint(&execution.machine, thread)) {
                return None;
            }
            if !levels.is_last {
                levels.blocks.push(ran);
                let block = levels.blocks.len() - 1;
                levels.next.push(State { execution: execution.clone(), last: Some(thread), block });
            }
        }
        None
    }
}

fn read_off(blocks: &[Ran], machine: &Machine<'_>) -> Schedule {
    let mut backwards = Vec::new();
    let mut at = blocks.len() - 1;
    while at != START {
        backwards.push(blocks[at]);
        at = blocks[at].before;
    }
    let mut schedule = Schedule::default();
    for ran in backwards.iter().rev() {
        schedule.push(machine.thread_name(ran.thread), ran.events);
    }
    schedule
}
