//! Circles of locks: each of several threads holds one lock and requests the next one. That a thread has not ended is
//! like a lock that it holds, for those who wait for its end. And locks that are never given back: their holder has
//! ended.

use crate::program::event::{Event, EventId, Kind, TraceProgram};
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

/// What a thread may hold, and keep others waiting with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Resource {
    Lock(Location),
    /// The end of this thread: it holds it as long as it runs.
    End(ThreadIndex),
}

/// A thread that holds one lock and requests another.
#[derive(Clone, Copy)]
struct LockRequest {
    thread: ThreadIndex,
    event: EventId,
    held: Resource,
    held_shared: bool,
    wanted: Resource,
    wanted_shared: bool,
}

/// By the lock that is held.
type Requests = BTreeMap<Resource, Vec<LockRequest>>;

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
    let awaited = awaited_by_holders(ctp);
    for (id, event) in ctp.events.iter_enumerated() {
        let (wanted, wanted_shared) = match event.kind {
            Kind::Acquire { lock, shared } if waits(program, event.place) => (Resource::Lock(lock), shared),
            Kind::Join { child } => (Resource::End(child), false),
            _ => continue,
        };
        // A thread that waits for itself is a circle of one. Only the recorded run shows whether it waits: a lock may
        // be recursive. A lock that it holds for reading keeps it from writing.
        let is_mutex = program.is_some_and(|program| is_mutex(program, event.place));
        let own = || event.locks.iter().filter(|(held, _)| Resource::Lock(*held) == wanted);
        let (is_held, is_read) = (own().next().is_some(), own().any(|(_, shared)| *shared));
        if event.pending && ((is_mutex && is_held) || (is_read && !wanted_shared)) {
            questions.push(Question::LockCycle(vec![id]));
        }
        let locks = event.locks.iter().chain(event.tried.iter()).map(|&(lock, shared)| (Resource::Lock(lock), shared));
        let own_end = awaited.contains(&event.thread).then_some((Resource::End(event.thread), false));
        for (held, held_shared) in locks.chain(own_end).filter(|(held, _)| *held != wanted) {
            let request = LockRequest { thread: event.thread, event: id, held, held_shared, wanted, wanted_shared };
            requests.entry(held).or_default().push(request);
        }
    }
    requests
}

/// The threads whose ends are waited for by threads that hold locks, or whose own ends are waited for: only those can
/// be in a circle because of their ends.
fn awaited_by_holders(ctp: &TraceProgram) -> BTreeSet<ThreadIndex> {
    let joins = || {
        ctp.events.iter().filter_map(|event| match event.kind {
            Kind::Join { child } => Some((event, child)),
            _ => None,
        })
    };
    let awaited: BTreeSet<ThreadIndex> = joins().map(|(_, child)| child).collect();
    let matters = |event: &Event| !event.locks.is_empty() || !event.tried.is_empty() || awaited.contains(&event.thread);
    joins().filter(|(event, _)| matters(event)).map(|(_, child)| child).collect()
}

/// Adds the questions about locks whose holders have ended; gives whether some were left out.
pub(crate) fn held_by_ended(program: Option<&Program>, ctp: &TraceProgram, questions: &mut Vec<Question>) -> bool {
    let is_end =
        |event: &Event| matches!(event.kind, Kind::Finish) && !(event.locks.is_empty() && event.tried.is_empty());
    let mut left_out = false;
    for (end, holder) in ctp.events.iter_enumerated().filter(|(_, event)| is_end(event)) {
        let mut instances: BTreeMap<Place, usize> = BTreeMap::new();
        for (id, event) in ctp.events.iter_enumerated().filter(|(_, event)| event.thread != holder.thread) {
            let Kind::Acquire { lock, shared } = event.kind else { continue };
            let mut held = holder.locks.iter().chain(holder.tried.iter());
            let is_held = held.any(|(held, by_reader)| *held == lock && !(shared && *by_reader));
            if !is_held || !waits(program, event.place) || ctp.must_precede(id, end) {
                continue;
            }
            let count = instances.entry(event.place).or_default();
            *count += 1;
            left_out |= *count > INSTANCES;
            if *count <= INSTANCES {
                questions.push(Question::HeldByEnded(id, end));
            }
        }
    }
    left_out
}

/// Whether the step at a place waits for a lock, and does not only try.
fn waits(program: Option<&Program>, place: Place) -> bool {
    program.is_none_or(|program| {
        matches!(
            operation(program, place),
            Some(Op::Sync { op: SyncOp::Lock(_) | SyncOp::ReadLock | SyncOp::WriteLock | SyncOp::CondRelock, .. })
        )
    })
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
