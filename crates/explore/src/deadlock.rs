//! Who waits for whom.

use leno_ir::interp::{Blocked, Machine, ThreadId, Wait};

/// Threads that wait for locks in a circle. None of them will ever go on, whatever the others do; so it is enough to look at
/// the end of an execution.
pub fn circle(machine: &Machine<'_>) -> Option<Vec<Blocked>> {
    let owner = |thread: ThreadId| match machine.wait(thread) {
        Some(Wait::Lock { owner, .. }) => owner,
        _ => None,
    };
    for start in machine.threads().ids() {
        let mut circle = vec![start];
        let mut at = start;
        while let Some(next) = owner(at) {
            if next == start {
                return Some(circle.into_iter().filter_map(|thread| machine.blocked(thread)).collect());
            }
            if circle.contains(&next) {
                break;
            }
            circle.push(next);
            at = next;
        }
    }
    None
}
