//! Circles of locks: each of several threads holds one lock and requests the next one.

use crate::program::event::{EventId, Kind, TraceProgram};
use crate::query::global_deadlock::operation;
use crate::query::question::{INSTANCES, Question};
use crate::query::races::common_lock;
use crate::walk::listener::Location;
use leno_ir::program::{Op, Place, Program, SyncOp};
use leno_trace::ThreadIndex;
use std::collections::{BTreeMap, BTreeSet};

/// How many paths are searched for circles.
const MOST_PATHS: usize = 10_000;
const LONGEST_CYCLE: usize = 6;

/// A thread that holds one lock and requests another.
#[derive(Clone, Copy)]
struct LockRequest {
    thread: ThreadIndex,
    event: EventId,
    held: Location,
    held_shared: bool,
    wanted: Location,
    wanted_shared: bool,
}

/// By the lock that is held.
type Requests = BTreeMap<Location, Vec<LockRequest>>;

/// Adds the questions; gives whether some were left out.
pub(crate) fn lock_cycles(program: Option<&Program>, ctp: &TraceProgram, questions: &mut Vec<Question>) -> bool {
    let requests = lock_requests(program, ctp, questions);
    let mut search = CycleSearch { ctp, requests: &requests, found: BTreeMap::new(), paths: 0 };
    for list in requests.values() {
        for request in list {
            search.extend(&mut vec![*request]);
        }
    }
    let mut left_out = search.paths >= MOST_PATHS;
    for instances in search.found.into_values() {
        left_out |= instances.len() >= INSTANCES;
        questions.extend(instances.into_iter().map(Question::LockCycle));
    }
    left_out
}

/// All requests for a lock by threads that hold another one. Requests for a lock that the thread itself holds are
/// questions already.
fn lock_requests(program: Option<&Program>, ctp: &TraceProgram, questions: &mut Vec<Question>) -> Requests {
    let mut requests = Requests::new();
    for (id, event) in ctp.events.iter_enumerated() {
        let Kind::Acquire { lock, shared } = event.kind else { continue };
        if program.is_some_and(|program| !waits(program, event.place)) {
            continue;
        }
        // A thread that waits for itself is a circle of one. Only the recorded run shows whether it waits: a lock may
        // be recursive.
        let is_mutex = program.is_some_and(|program| is_mutex(program, event.place));
        if event.pending && is_mutex && event.locks.iter().any(|(held, _)| *held == lock) {
            questions.push(Question::LockCycle(vec![id]));
        }
        for &(held, held_shared) in event.locks.iter().filter(|(held, _)| *held != lock) {
            requests.entry(held).or_default().push(LockRequest {
                thread: event.thread,
                event: id,
                held,
                held_shared,
                wanted: lock,
                wanted_shared: shared,
            });
        }
    }
    requests
}

/// Whether the step at a place waits for a lock, and does not only try.
fn waits(program: &Program, place: Place) -> bool {
    matches!(
        operation(program, place),
        Some(Op::Sync { op: SyncOp::Lock(_) | SyncOp::ReadLock | SyncOp::WriteLock | SyncOp::CondRelock, .. })
    )
}

fn is_mutex(program: &Program, place: Place) -> bool {
    matches!(operation(program, place), Some(Op::Sync { op: SyncOp::Lock(_), .. }))
}

struct CycleSearch<'a> {
    ctp: &'a TraceProgram,
    requests: &'a Requests,
    found: BTreeMap<Vec<Place>, BTreeSet<Vec<EventId>>>,
    paths: usize,
}

impl CycleSearch<'_> {
    /// Depth first, each circle from its smallest thread.
    fn extend(&mut self, path: &mut Vec<LockRequest>) {
        let (Some(first), Some(last)) = (path.first().copied(), path.last().copied()) else { return };
        if self.paths >= MOST_PATHS {
            return;
        }
        self.paths += 1;
        if last.wanted == first.held && path.len() > 1 && !(last.wanted_shared && first.held_shared) {
            return self.add(path);
        }
        if path.len() >= LONGEST_CYCLE {
            return;
        }
        for &next in self.requests.get(&last.wanted).into_iter().flatten() {
            let is_blocked = !(last.wanted_shared && next.held_shared);
            if is_blocked && next.thread > first.thread && path.iter().all(|other| self.fit(other, &next)) {
                path.push(next);
                self.extend(path);
                path.pop();
            }
        }
    }

    /// Whether two threads can be at these requests at the same time.
    fn fit(&self, one: &LockRequest, other: &LockRequest) -> bool {
        one.thread != other.thread
            && !common_lock(&self.ctp.event(one.event).locks, &self.ctp.event(other.event).locks)
            && !self.ctp.must_precede(one.event, other.event)
            && !self.ctp.must_precede(other.event, one.event)
    }

    fn add(&mut self, path: &[LockRequest]) {
        let events: Vec<EventId> = path.iter().map(|request| request.event).collect();
        let mut places: Vec<Place> = events.iter().map(|id| self.ctp.event(*id).place).collect();
        places.sort_unstable();
        let instances = self.found.entry(places).or_default();
        if instances.len() < INSTANCES {
            instances.insert(events);
        }
    }
}
