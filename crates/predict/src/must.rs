//! What always comes before what: the starts and joins of threads.
//!
//! Whatever a parent did before it started a child comes before the child, and whatever a child did comes before the end of a wait
//! for it, in every reordering of the run. So for each thread, and from each of its joins on, one number for every other thread
//! says how many of its schedule points are certainly passed.

use crate::walk::{Action, Moment};

/// Everything of a thread.
const ALL: u32 = u32::MAX;

#[derive(Clone, Default, Debug)]
pub struct MustOrder {
    /// By thread: from this schedule point on, so many points of every other thread have been passed.
    checkpoints: Vec<Vec<(u32, Vec<u32>)>>,
}

impl MustOrder {
    /// From the starts and joins of a run, with their moments on the clock.
    pub fn new(threads: &[(u64, Moment, Action)]) -> MustOrder {
        let count = threads.iter().map(|(_, at, action)| match action {
            Action::Spawn { child } | Action::Join { child } => (*child).max(at.thread),
            _ => at.thread,
        });
        let count = count.max().map_or(1, |last| last as usize + 1);
        let mut sorted: Vec<&(u64, Moment, Action)> = threads.iter().collect();
        sorted.sort_by_key(|(clock, ..)| *clock);
        let mut now = vec![vec![0; count]; count];
        let mut checkpoints: Vec<Vec<(u32, Vec<u32>)>> = vec![Vec::new(); count];
        for (_, at, action) in sorted {
            let thread = at.thread as usize;
            match action {
                Action::Spawn { child } => {
                    let mut known = now[thread].clone();
                    known[thread] = at.point + 1;
                    now[*child as usize] = known.clone();
                    checkpoints[*child as usize].push((0, known));
                }
                Action::Join { child } => {
                    let mut ended = now[*child as usize].clone();
                    ended[*child as usize] = ALL;
                    for (mine, theirs) in now[thread].iter_mut().zip(ended) {
                        *mine = theirs.max(*mine);
                    }
                    checkpoints[thread].push((at.point + 1, now[thread].clone()));
                }
                _ => {}
            }
        }
        MustOrder { checkpoints }
    }

    /// How many schedule points of `other` are passed whenever `thread` stands at `point`.
    pub fn passed(&self, thread: u32, point: u32, other: u32) -> u32 {
        let Some(list) = self.checkpoints.get(thread as usize) else { return 0 };
        let index = list.partition_point(|(from, _)| *from <= point);
        let last = index.checked_sub(1).map(|index| &list[index].1);
        last.and_then(|known| known.get(other as usize)).copied().unwrap_or(0)
    }

    /// Whether one schedule point always comes before another.
    pub fn is_before(&self, (first, at): (u32, u32), (second, then): (u32, u32)) -> bool {
        if first == second { at < then } else { self.passed(second, then, first) > at }
    }
}
