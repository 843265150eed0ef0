//! Room for recursion.
//!
//! The front end recurses over syntax trees, whose height the parser bounds ([`crate::parse::MAX_DEPTH`]). The main
//! thread's eight megabytes are too few for that; a thread with a large stack costs nothing, because memory that is
//! never touched is never committed.

use std::io;
use std::thread::{Builder, scope};

/// Enough for some 80 kB per level of the highest tree.
const STACK: usize = 1 << 30;

/// Runs `f` with a stack on which the whole front end can recurse as deep as it ever does.
///
/// If the system refuses so large a stack, a smaller one is tried; the last resort is the caller's own.
pub fn with_big_stack<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    // The thread takes its work out of here, so that a refused attempt leaves it for the next.
    let work = std::sync::Mutex::new(Some(f));
    let take = || work.lock().ok().and_then(|mut work| work.take());
    for size in [STACK, STACK / 4] {
        let attempt: io::Result<Option<R>> = scope(|threads| {
            let thread = Builder::new().name("front end".to_string()).stack_size(size);
            let handle = thread.spawn_scoped(threads, || take().map(|f| f()))?;
            Ok(handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        if let Ok(Some(result)) = attempt {
            return result;
        }
    }
    match take() {
        Some(f) => f(),
        None => unreachable!("work that was taken has returned or panicked"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recursion_that_the_main_stack_cannot_hold() {
        fn deep(levels: u32) -> u64 {
            let room = std::hint::black_box([u64::from(levels); 1000]);
            if levels == 0 { 0 } else { deep(levels - 1) + room[999] }
        }
        assert_eq!(with_big_stack(|| deep(12_000)), 12_000 * 12_001 / 2);
    }
}
