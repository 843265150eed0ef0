//! A search that could go on for hours ends when it is told to, and says why.
//!
//! Two hard questions, one of arithmetic and one of order, for both cores. How promptly a search ends is measured in
//! the processor time of its thread: on a busy machine it may be late by the clock. `--nocapture` shows the times.

use leno_logic::core::Answer;
use leno_logic::limits::{Cancel, Limits, Stop};
use leno_logic::literal::Lit;
use leno_logic::solver::{CoreKind, Solver};
use leno_logic::term::{Sort, Terms};
use leno_testing::Random;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const PROMPT: Duration = Duration::from_millis(100);
const SOON: Duration = Duration::from_millis(60);

/// One test at a time: they would take each other's memory.
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

/// How long the thread of a search had been at work when it was told to stop.
type Told = Arc<OnceLock<Duration>>;

/// Asks each question of each core. `limits` makes the limits for a search in the thread whose number in the kernel it
/// is given, says when that search is told to stop, and gives a thread that is to end after the search, when there is
/// no sender any more.
fn stops(expected: Stop, what: &str, limits: impl Fn(&str) -> (Limits, Told, Option<(Sender<()>, JoinHandle<()>)>)) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let this = std::fs::read_link("/proc/thread-self").expect("the kernel tells");
    let this = format!("/proc/{}", this.display());
    for kind in [CoreKind::Cadical, CoreKind::Batsat] {
        for (name, question) in [("factors", factors as fn(CoreKind) -> Solver), ("pigeons", pigeons)] {
            let mut solver = question(kind);
            let (limits, told, other) = limits(&this);
            assert_eq!(solver.solve(&[], &limits), Answer::Unknown(expected), "{name}, {kind:?}, {what}");
            let late = told.get().map_or(Duration::ZERO, |told| processor_time(&this).saturating_sub(*told));
            println!("{what}, {name}, {kind:?}: late by {late:.1?}");
            // (The kernel counts in hundredths of a second.)
            assert!(late < PROMPT + Duration::from_millis(20), "{name}, {kind:?}, {what}: late by {late:?}");
            if let Some((sender, thread)) = other {
                drop(sender);
                thread.join().expect("it ends");
            }
        }
    }
}

/// How long a thread has been at work.
fn processor_time(thread: &str) -> Duration {
    let stat = std::fs::read_to_string(format!("{thread}/stat")).expect("the kernel tells");
    let (_, fields) = stat.rsplit_once(')').expect("the name of the thread is in parentheses");
    let ticks = |field: usize| fields.split_whitespace().nth(field).and_then(|ticks| ticks.parse::<u64>().ok());
    Duration::from_millis(10 * (ticks(11).expect("user time") + ticks(12).expect("system time")))
}

/// Work that takes a while.
fn be_busy() {
    let mut random = Random::new(1);
    (0..30_000_000).for_each(|_| _ = std::hint::black_box(random.bits()));
}

#[test]
fn a_deadline() {
    stops(Stop::Time, "deadline", |thread| {
        // The thread cannot work for longer than that until it is told.
        let told = Told::new((processor_time(thread) + SOON).into());
        (Limits::until(Instant::now() + SOON), told, None)
    });
}

#[test]
fn conflicts_that_are_spent() {
    stops(Stop::Conflicts, "conflicts", |_| (Limits::default().with_conflicts(1_000), Told::default(), None));
}

#[test]
fn a_request_from_another_thread() {
    stops(Stop::Cancelled, "request", |thread| {
        let (cancel, told, thread) = (Cancel::default(), Told::default(), thread.to_string());
        let limits = Limits::default().with_cancel(&cancel);
        let theirs = told.clone();
        thread::spawn(move || {
            be_busy();
            theirs.get_or_init(|| processor_time(&thread));
            cancel.request(Stop::Cancelled);
        });
        (limits, told, None)
    });
}

/// The memory of the whole process counts: after a while another thread takes more than there may be, until the search
/// has ended.
#[test]
fn a_bound_on_memory() {
    const BALLAST: usize = 64 << 20; // so much at once goes back to the system when it is freed
    stops(Stop::Memory, "memory", |thread| {
        let limits = Limits::default().with_memory(resident() + BALLAST as u64 / 2);
        let (told, thread) = (Told::default(), thread.to_string());
        let (sender, ended) = channel();
        let theirs = told.clone();
        let other = thread::spawn(move || {
            be_busy();
            // An optimiser that sees that nobody reads it would not take it at all.
            let ballast = std::hint::black_box(vec![1u8; BALLAST]);
            theirs.get_or_init(|| processor_time(&thread));
            let _ = ended.recv();
            drop(ballast);
        });
        (limits, told, Some((sender, other)))
    });
}

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").expect("the kernel tells");
    let pages: u64 = status.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("the second number");
    pages * 4096
}
