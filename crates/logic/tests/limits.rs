//! A search that could go on for hours ends when it is told to, and says why.
//!
//! Two hard questions, one of arithmetic and one of order, for both cores. A machine that is busy with other things may be late by
//! itself, so the best of some tries counts. `--nocapture` shows the times.

use leno_logic::core::Answer;
use leno_logic::limits::{Limits, Stop};
use leno_logic::literal::Lit;
use leno_logic::solver::{CoreKind, Solver};
use leno_logic::term::{Sort, Terms};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const PROMPT: Duration = Duration::from_millis(100);
const SOON: Duration = Duration::from_millis(60);
const TRIES: usize = 3;

/// One test at a time: they would take each other's memory and time.
static ALONE: Mutex<()> = Mutex::new(());

/// The factors of the product of two primes with 32 bits each.
fn factors(kind: CoreKind) -> Solver {
    let mut terms = Terms::new();
    let mut solver = Solver::new(kind);
    let factors = ["p", "q"].map(|name| terms.variable(Sort::Bits(32), name));
    let [p, q] = factors.map(|factor| terms.zero_extend(factor, 64));
    let (product, wanted) = (terms.mul(p, q), terms.bits(64, 2_654_435_761 * 3_000_000_019));
    let equal = terms.eq(product, wanted);
    solver.assert(&terms, equal);
    let one = terms.bits(32, 1);
    for factor in factors {
        let larger = terms.ult(one, factor);
        solver.assert(&terms, larger);
    }
    solver
}

/// Threads with one event each, in one segment less than there are threads: pigeons and holes.
fn pigeons(kind: CoreKind) -> Solver {
    let mut solver = Solver::new(kind);
    let events: Vec<_> = (0..40)
        .map(|_| {
            let chain = solver.add_chain();
            (solver.add_node(chain), Lit::TRUE)
        })
        .collect();
    let bound = solver.bound_switches(&events, events.len() - 2);
    solver.add_clause(&[bound]);
    solver
}

/// The moment from which a core is late, once it has come.
type Due = Arc<OnceLock<Instant>>;

/// Asks each question of each core, within limits that are made when the search begins. At least one try must be in time.
fn stops(expected: Stop, what: &str, limits: impl Fn() -> (Limits, Due)) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for kind in [CoreKind::Cadical, CoreKind::Batsat] {
        for (name, question) in [("factors", factors as fn(CoreKind) -> Solver), ("pigeons", pigeons)] {
            let mut solver = question(kind);
            let mut late = Vec::new();
            for _ in 0..TRIES {
                let (mut limits, due) = limits();
                limits.deadline.get_or_insert(Instant::now() + Duration::from_secs(20));
                assert_eq!(solver.solve(&[], &limits), Answer::Unknown(expected), "{name}, {kind:?}, {what}");
                late.push(due.get().map_or(Duration::ZERO, Instant::elapsed));
            }
            println!("{what}, {name}, {kind:?}: late by {late:.1?}");
            assert!(late.iter().any(|&late| late < PROMPT), "{name}, {kind:?}, {what}: late by {late:?}");
        }
    }
}

#[test]
fn a_deadline() {
    stops(Stop::Time, "deadline", || {
        let due = Instant::now() + SOON;
        (Limits::until(due), Due::new(due.into()))
    });
}

#[test]
fn a_wish_from_another_thread() {
    stops(Stop::Cancelled, "wish", || {
        let (flag, due) = (Arc::new(AtomicBool::new(false)), Due::default());
        let (their_flag, their_due) = (flag.clone(), due.clone());
        thread::spawn(move || {
            thread::sleep(SOON);
            their_due.get_or_init(Instant::now);
            their_flag.store(true, Ordering::Relaxed);
        });
        (Limits::default().with_cancel(flag), due)
    });
}

/// Somebody else's memory counts, too: after a while a thread takes more than there may be.
#[test]
fn a_bound_on_memory() {
    const BALLAST: usize = 64 << 20; // so much at once goes back to the system when it is freed
    let previous: RefCell<Option<JoinHandle<()>>> = RefCell::default();
    stops(Stop::Memory, "memory", || {
        // What the last thread took is given back before we look at what there is.
        previous.take().map(JoinHandle::join);
        let limits = Limits::default().with_memory(resident() + BALLAST as u64 / 2);
        let due = Due::default();
        let theirs = due.clone();
        previous.replace(Some(thread::spawn(move || {
            thread::sleep(SOON);
            // An optimiser that sees that nobody reads it would not take it at all.
            let ballast = std::hint::black_box(vec![1u8; BALLAST]);
            theirs.get_or_init(Instant::now);
            thread::sleep(5 * SOON);
            drop(ballast);
        })));
        (limits, due)
    });
}

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").expect("the kernel tells");
    let pages: u64 = status.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("the second number");
    pages * 4096
}
