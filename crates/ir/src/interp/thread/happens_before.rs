//! What happens before what, as C11 defines it (5.1.2.4): for races in programs whose atomics are not all `seq_cst`.
//!
//! Executions are sequentially consistent, but not every order of steps is one that the language promises: a relaxed
//! access orders nothing. So a machine whose program has such accesses keeps vector clocks. The clock of a thread says
//! which accesses of each thread happen before its next one; it grows by what the thread *acquires*:
//!
//! - an acquiring load, or read-modify-write, acquires what was released by the heads of all release sequences that the
//!   value it reads belongs to. A sequence goes on with read-modify-writes of any thread and with stores of the thread
//!   that began it (C11, C17; not C23);
//! - a fence that releases stands for a release by every later store of its thread, a fence that acquires for an
//!   acquisition by every earlier load;
//! - a synchronisation object (lock, semaphore, barrier, once): what any step has released there, every later step that
//!   takes it acquires. A signal of a condition variable orders nothing, only its mutex does;
//! - a new thread acquires what happened before its creation, a join what happened in the thread.
//!
//! Accesses in atomic sections are as `seq_cst` ones, and release what their whole section did. Two conflicting
//! accesses, not both atomic, race if the first does not happen before the second. That an object is freed is a write of
//! it here; a step on a synchronisation object is an access to all of it, atomic unless it makes or destroys the object.

use super::enabled::{Footprint, LibraryCall};
use super::image::Next;
use super::machine::{Machine, Status, ThreadId};
use crate::index::Idx;
use crate::program::{ObjectUse, Op, Order, SyncOp, TerminatorKind, mutex_bytes};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How many steps of each thread happened before.
#[derive(Clone, PartialEq, Eq, Debug, Default, Hash)]
pub struct Clock(Vec<u32>);

impl Clock {
    pub fn get(&self, thread: ThreadId) -> u32 {
        self.0.get(thread.0 as usize).copied().unwrap_or(0)
    }

    pub fn set(&mut self, thread: ThreadId, count: u32) {
        let index = thread.0 as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, 0);
        }
        self.0[index] = count;
    }

    pub fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }
}

/// An access that was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PastAccess {
    pub thread: ThreadId,
    /// Where, as a number that `Image::place` explains.
    pub pc: u32,
    pub at: Footprint,
    /// How many schedule points had been passed before it: its index among the steps of a witness.
    pub step: usize,
    /// Its number among the accesses of its thread.
    number: u32,
}

/// The clock of a release that heads a release sequence.
#[derive(Clone, Debug)]
struct Head {
    thread: ThreadId,
    address: u64,
    len: u64,
    clock: Clock,
}

/// What is known of eight bytes of memory.
#[derive(Clone, Debug, Default)]
struct Word {
    past: Vec<PastAccess>,
    heads: Vec<Head>,
}

#[derive(Clone, Debug, Default)]
struct ThreadOrder {
    clock: Clock,
    /// What its relaxed loads would have acquired: a fence does so for them.
    pending: Clock,
    /// What its last fence that releases has released.
    fenced: Option<Clock>,
    /// What its atomic section has written: address and length.
    section_writes: Vec<(u64, u64)>,
    /// The synchronisation object that it has used last, and where, if it has made no other access and released nothing
    /// since.
    last_use: Option<(u32, u64)>,
}

#[derive(Clone, Debug, Default)]
pub(in crate::interp) struct HappensBefore {
    threads: Vec<ThreadOrder>,
    words: BTreeMap<u64, Word>,
    /// What was released at synchronisation objects.
    objects: BTreeMap<u64, Clock>,
    /// How many schedule points were passed.
    steps: usize,
}

/// What the next step of a thread means for the order.
enum Meaning {
    Nothing,
    Access {
        at: Footprint,
        order: Order,
        kind: AccessKind,
    },
    /// A known library function is called.
    Library,
    Fence(Order),
    Spawn(Option<Footprint>),
    Join(ThreadId),
    Acquire {
        address: u64,
    },
    Release {
        address: u64,
    },
    /// Acquires if the step succeeds: whether it had this before.
    TryAcquire {
        address: u64,
        before: Option<u128>,
    },
    SectionEnd,
    /// These objects end.
    End(Vec<(u64, u64)>, Option<Footprint>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AccessKind {
    Load,
    Store,
    Update,
    /// With its order if it fails.
    CompareExchange(Order),
}

/// What a synchronisation step does to the order, at its object (or, of a sleep, at the mutex).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Synchronises {
    Nothing,
    Acquires,
    /// If it succeeds.
    TriesToAcquire,
    Releases,
}

impl SyncOp {
    /// What this step does to the order of what happens before and after it.
    pub fn synchronises(&self) -> Synchronises {
        use SyncOp::*;
        match self {
            Lock(_) | ReadLock | WriteLock | CondRelock | SemWait | BarrierLeave { .. } | OnceBegin => {
                Synchronises::Acquires
            }
            TryLock(_) | TryReadLock | TryWriteLock | SemTryWait => Synchronises::TriesToAcquire,
            Unlock(_) | RwUnlock | CondSleep { .. } | SemPost | BarrierArrive | OnceEnd => Synchronises::Releases,
            LockInit { .. }
            | LockDestroy(_)
            | RwInit
            | RwDestroy
            | CondInit
            | CondDestroy
            | CondWake { .. }
            | CondSignal
            | CondBroadcast
            | SemInit { .. }
            | SemDestroy
            | SemGetValue
            | BarrierInit { .. }
            | BarrierDestroy => Synchronises::Nothing,
        }
    }
}

fn words(address: u64, len: u64) -> std::ops::RangeInclusive<u64> {
    address / 8..=address.saturating_add(len.max(1) - 1) / 8
}

fn overlap(a: (u64, u64), b: (u64, u64)) -> bool {
    a.0 < b.0.saturating_add(b.1) && b.0 < a.0.saturating_add(a.1)
}

impl HappensBefore {
    fn thread(&mut self, thread: ThreadId) -> &mut ThreadOrder {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, ThreadOrder::default);
        }
        &mut self.threads[thread.index()]
    }

    fn clock(&self, thread: ThreadId) -> Clock {
        self.threads.get(thread.index()).map_or(Clock::default(), |order| order.clock.clone())
    }

    /// What a load of these bytes would acquire, if it acquires.
    fn released(&self, at: Footprint) -> Clock {
        let mut clock = Clock::default();
        for (_, word) in self.words.range(words(at.address, at.len)) {
            for head in word.heads.iter().filter(|head| overlap((head.address, head.len), (at.address, at.len))) {
                clock.join(&head.clock);
            }
        }
        clock
    }

    /// Earlier accesses that conflict with one that is made with this clock, and do not happen before it.
    fn unordered(&self, thread: ThreadId, clock: &Clock, at: Footprint) -> Vec<PastAccess> {
        let touched = self.words.range(words(at.address, at.len)).flat_map(|(_, word)| &word.past);
        let conflicting =
            touched.filter(|past| past.thread != thread && past.at.conflicts(at) && !(past.at.atomic && at.atomic));
        let mut unordered: Vec<PastAccess> =
            conflicting.filter(|past| past.number > clock.get(past.thread)).copied().collect();
        unordered.sort_unstable_by_key(|past| past.step);
        unordered
    }

    /// A synchronisation object is used. Doing so again and again (an attempt that fails) is one access.
    fn record_use(&mut self, thread: ThreadId, pc: u32, at: Footprint) {
        let this = Some((pc, at.address));
        if self.thread(thread).last_use != this {
            self.record(thread, pc, at);
            self.thread(thread).last_use = this;
        }
    }

    fn record(&mut self, thread: ThreadId, pc: u32, at: Footprint) {
        let order = self.thread(thread);
        order.last_use = None;
        let number = order.clock.get(thread) + 1;
        order.clock.set(thread, number);
        let access = PastAccess { thread, pc, at, step: self.steps, number };
        for word in words(at.address, at.len) {
            let past = &mut self.words.entry(word).or_default().past;
            // (An earlier one of the same kind happens before whatever this one happens before.)
            past.retain(|other| other.thread != thread || other.at != at);
            past.push(access);
        }
    }

    /// A write of an atomic access: what belongs to release sequences there from now on.
    fn write(&mut self, thread: ThreadId, at: Footprint, order: Order, is_update: bool) {
        let own = self.thread(thread);
        own.last_use = None;
        let released = if order.releases() { Some(own.clock.clone()) } else { own.fenced.clone() };
        for word in words(at.address, at.len) {
            let heads = &mut self.words.entry(word).or_default().heads;
            heads.retain(|head| {
                let is_continued = is_update || head.thread == thread;
                let is_same = (head.address, head.len) == (at.address, at.len);
                !overlap((head.address, head.len), (at.address, at.len)) || (is_continued && is_same)
            });
            let Some(clock) = &released else { continue };
            match heads.iter_mut().find(|head| head.thread == thread && head.address == at.address) {
                Some(head) => head.clock.join(clock),
                None => {
                    heads.push(Head { thread, address: at.address, len: at.len, clock: clock.clone() });
                }
            }
        }
    }

    /// A write that is not atomic: who reads it synchronises with nobody.
    fn overwrite(&mut self, at: Footprint) {
        for (_, word) in self.words.range_mut(words(at.address, at.len)) {
            word.heads.retain(|head| !overlap((head.address, head.len), (at.address, at.len)));
        }
    }

    /// A load that acquires, or that a later fence may make one.
    fn read(&mut self, thread: ThreadId, at: Footprint, order: Order) {
        let released = self.released(at);
        let own = self.thread(thread);
        if order.acquires() {
            own.clock.join(&released);
        }
        own.pending.join(&released);
    }

    fn fence(&mut self, thread: ThreadId, order: Order) {
        let own = self.thread(thread);
        if order.acquires() {
            let pending = own.pending.clone();
            own.clock.join(&pending);
        }
        if order.releases() {
            own.last_use = None;
            own.fenced = Some(own.clock.clone());
        }
    }

    fn acquire(&mut self, thread: ThreadId, address: u64) {
        if let Some(clock) = self.objects.get(&address).cloned() {
            self.thread(thread).clock.join(&clock);
        }
    }

    fn release(&mut self, thread: ThreadId, address: u64) {
        let clock = self.clock(thread);
        self.thread(thread).last_use = None;
        self.objects.entry(address).or_default().join(&clock);
    }

    /// The object is gone: its addresses may be those of another one.
    fn forget(&mut self, address: u64, len: u64) {
        let touched: Vec<u64> = self.words.range(words(address, len)).map(|(word, _)| *word).collect();
        touched.iter().for_each(|word| _ = self.words.remove(word));
        let touched: Vec<u64> =
            self.objects.range(address..address.saturating_add(len.max(1))).map(|(object, _)| *object).collect();
        touched.iter().for_each(|object| _ = self.objects.remove(object));
    }
}

impl Machine<'_> {
    /// Whether it keeps track of what happens before what.
    pub fn knows_order(&self) -> bool {
        self.orders.is_some()
    }

    /// A hash of what happens before what. States that differ in it alone have the same executions, but not the same
    /// races.
    pub fn order_fingerprint(&self) -> u64 {
        let mut state = DefaultHasher::new();
        if let Some(orders) = &self.orders {
            for order in &orders.threads {
                (&order.clock, &order.pending, &order.fenced, &order.section_writes, order.last_use).hash(&mut state);
            }
            for (at, word) in &orders.words {
                at.hash(&mut state);
                word.past.iter().for_each(|past| (past.thread, past.pc, past.at, past.number).hash(&mut state));
                word.heads.iter().for_each(|head| (head.thread, head.address, head.len, &head.clock).hash(&mut state));
            }
            orders.objects.hash(&mut state);
        }
        state.finish()
    }

    /// How many schedule points were passed, if it keeps track of the order.
    pub fn steps_in_order(&self) -> usize {
        self.orders.as_ref().map_or(0, |orders| orders.steps)
    }

    /// The first access of another thread with which the next step of this one races, although that thread may be far
    /// past it: they conflict, and nothing orders them. None in programs whose atomics are all `seq_cst`: there two
    /// threads race just if both can be about to make their accesses.
    pub fn unordered(&self, thread: ThreadId) -> Option<PastAccess> {
        self.all_unordered(thread).first().copied()
    }

    /// All such accesses: of several of one thread to the same bytes, the last one.
    pub fn all_unordered(&self, thread: ThreadId) -> Vec<PastAccess> {
        let Some(orders) = &self.orders else { return Vec::new() };
        if let Next::Instr(instr) = self.next_op(thread)
            && let Op::Sync { op, .. } = &instr.op
        {
            return self.unordered_uses(orders, thread, op);
        }
        let (at, order) = match self.meaning(thread) {
            Meaning::Access { at, order, kind } => match kind {
                AccessKind::Store => (at, Order::Relaxed),
                AccessKind::CompareExchange(failure) if !self.would_exchange(thread, at) => (at, failure),
                _ => (at, order),
            },
            Meaning::Spawn(Some(at)) | Meaning::End(_, Some(at)) => (at, Order::NotAtomic),
            Meaning::Library => {
                let clock = orders.clock(thread);
                let mut found: Vec<PastAccess> = self
                    .next_accesses(thread)
                    .into_iter()
                    .flat_map(|at| orders.unordered(thread, &clock, at))
                    .collect();
                found.sort_unstable_by_key(|past| past.step);
                found.dedup();
                return found;
            }
            _ => return Vec::new(),
        };
        if !self.is_accessible(at.address, at.len) {
            return Vec::new();
        }
        let mut clock = orders.clock(thread);
        if order.acquires() {
            clock.join(&orders.released(at));
        }
        orders.unordered(thread, &clock, at)
    }

    /// The same for a step on a synchronisation object. One that takes it has acquired what was released there.
    fn unordered_uses(&self, orders: &HappensBefore, thread: ThreadId, op: &SyncOp) -> Vec<PastAccess> {
        if !self.enabled(thread) {
            return Vec::new();
        }
        let mut clock = orders.clock(thread);
        if let Meaning::Acquire { address } | Meaning::TryAcquire { address, .. } = self.synchronisation(thread, op)
            && let Some(released) = orders.objects.get(&address)
        {
            clock.join(released);
        }
        let uses = self.uses(thread).into_iter().filter(|at| self.is_accessible(at.address, at.len));
        let mut found: Vec<PastAccess> = uses.flat_map(|at| orders.unordered(thread, &clock, at)).collect();
        found.sort_unstable_by_key(|past| past.step);
        found
    }

    /// The synchronisation objects that the next step of a thread uses, in a program that may initialise, destroy or free
    /// such objects. (A thread that leaves one is waited for by the thread that destroys it.)
    fn uses(&self, thread: ThreadId) -> Vec<Footprint> {
        let Next::Instr(instr) = self.next_op(thread) else { return Vec::new() };
        let Op::Sync { op, .. } = &instr.op else { return Vec::new() };
        if !self.image().orders.ends_objects || op.object_use() == ObjectUse::Leaves {
            return Vec::new();
        }
        let mutex = match op {
            SyncOp::CondSleep { .. } => self.sync_operand(thread),
            _ => None,
        };
        let mutex = mutex.map(|address| {
            let len = self.object_len(address, mutex_bytes(self.program().model));
            Footprint { address, len, writes: true, atomic: true }
        });
        let in_section = self.in_section(thread);
        let own = self.footprint(thread).map(|at| Footprint { atomic: at.atomic || in_section, ..at });
        own.into_iter().chain(mutex).collect()
    }

    /// Whether a compare-exchange finds what it expects.
    fn would_exchange(&self, thread: ThreadId, at: Footprint) -> bool {
        match (self.expected(thread), self.peek(at.address, at.len)) {
            (Some(expected), Ok(found)) => found.bits == u128::from(expected),
            _ => true,
        }
    }

    fn meaning(&self, thread: ThreadId) -> Meaning {
        if self.threads()[thread].status != Status::Running {
            return Meaning::Nothing;
        }
        let instr = match self.next_op(thread) {
            Next::Instr(instr) => instr,
            Next::Terminator(terminator) => {
                return match terminator.kind {
                    TerminatorKind::Return(_) | TerminatorKind::ThreadExit(_) => {
                        Meaning::End(self.ending_objects(thread).collect(), None)
                    }
                    _ => Meaning::Nothing,
                };
            }
        };
        let access = |order: Order, kind| match self.footprint(thread) {
            Some(at) if self.is_visible(thread) => {
                let in_section = self.in_section(thread);
                let order = if in_section { Order::SeqCst } else { order };
                Meaning::Access { at: Footprint { atomic: at.atomic || in_section, ..at }, order, kind }
            }
            _ => Meaning::Nothing,
        };
        match &instr.op {
            Op::Load { from, .. } => access(from.order, AccessKind::Load),
            Op::Store { to, .. } => access(to.order, AccessKind::Store),
            Op::ReadModifyWrite { at, .. } => access(at.order, AccessKind::Update),
            Op::CompareExchange { at, failure, .. } => access(at.order, AccessKind::CompareExchange(*failure)),
            Op::Fence { order } => Meaning::Fence(*order),
            Op::Spawn { .. } => Meaning::Spawn(self.footprint(thread)),
            Op::Join { .. } => self.handle_target(thread).map_or(Meaning::Nothing, Meaning::Join),
            Op::Free { .. } => {
                let at = self.footprint(thread);
                Meaning::End(at.iter().map(|at| (at.address, at.len)).collect(), at)
            }
            Op::BeginLife { .. } | Op::EndLife { .. } => {
                Meaning::End(self.footprint(thread).iter().map(|at| (at.address, at.len)).collect(), None)
            }
            Op::Call { .. } if self.called_library(thread) == Some(LibraryCall::Known) => Meaning::Library,
            Op::AtomicEnd => Meaning::SectionEnd,
            Op::Sync { op, .. } => self.synchronisation(thread, op),
            _ => Meaning::Nothing,
        }
    }

    fn synchronisation(&self, thread: ThreadId, op: &SyncOp) -> Meaning {
        let address = match op {
            SyncOp::CondSleep { .. } => self.sync_operand(thread),
            _ => self.footprint(thread).map(|at| at.address),
        };
        let Some(address) = address else { return Meaning::Nothing };
        match op.synchronises() {
            Synchronises::Nothing => Meaning::Nothing,
            Synchronises::Acquires => Meaning::Acquire { address },
            Synchronises::Releases => Meaning::Release { address },
            Synchronises::TriesToAcquire => Meaning::TryAcquire { address, before: self.first_word(address) },
        }
    }

    fn first_word(&self, address: u64) -> Option<u128> {
        self.peek(address, 4).ok().map(|value| value.bits)
    }

    /// Whether an attempt to take something was successful.
    fn has_taken(&self, thread: ThreadId, op: &SyncOp, address: u64, before: Option<u128>) -> bool {
        match op {
            SyncOp::TryLock(kind) => self.holds_lock(thread, *kind, address),
            SyncOp::TryReadLock | SyncOp::TryWriteLock => self.holds_read_write_lock(thread, address, false),
            _ => self.first_word(address) != before,
        }
    }

    /// Makes a step by `step`, and takes in what it means for the order.
    pub(in crate::interp) fn in_order<T>(
        &mut self,
        thread: ThreadId,
        step: impl FnOnce(&mut Self) -> T,
        is_made: impl FnOnce(&T) -> bool,
    ) -> T {
        let (meaning, pc, next) = (self.meaning(thread), self.pc(thread), self.next_op(thread));
        let is_point = self.is_at_schedule_point(thread);
        let uses = if self.orders.is_some() { self.uses(thread) } else { Vec::new() };
        let result = step(self);
        if !is_made(&result) {
            return result;
        }
        let Some(mut orders) = self.orders.take() else { return result };
        uses.into_iter().for_each(|at| orders.record_use(thread, pc, at));
        match meaning {
            Meaning::Nothing => {}
            Meaning::Access { at, order, kind } => {
                let (order, kind) = match (kind, next) {
                    (AccessKind::CompareExchange(failure), Next::Instr(instr)) => match &instr.op {
                        Op::CompareExchange { ok, .. } if self.local(thread, *ok).bits == 0 => {
                            (failure, AccessKind::Load)
                        }
                        _ => (order, AccessKind::Update),
                    },
                    _ => (order, kind),
                };
                if at.atomic && kind != AccessKind::Store {
                    orders.read(thread, at, order);
                }
                orders.record(thread, pc, at);
                match (at.atomic, kind) {
                    (_, AccessKind::Load) => {}
                    (true, _) => {
                        orders.write(thread, at, order, kind == AccessKind::Update);
                        if self.in_section(thread) {
                            orders.thread(thread).section_writes.push((at.address, at.len));
                        }
                    }
                    (false, _) => orders.overwrite(at),
                }
            }
            Meaning::Library => {
                for at in self.library_accesses() {
                    orders.record(thread, pc, *at);
                    if at.writes {
                        orders.overwrite(*at);
                    }
                }
            }
            Meaning::Fence(order) => orders.fence(thread, order),
            Meaning::Spawn(at) => {
                if let Some(at) = at {
                    orders.record(thread, pc, at);
                    orders.overwrite(at);
                }
                orders.thread(thread).last_use = None;
                let clock = orders.clock(thread);
                let child = ThreadId::new(self.threads().len() - 1);
                orders.thread(child).clock = clock;
            }
            Meaning::Join(target) => {
                let clock = orders.clock(target);
                orders.thread(thread).clock.join(&clock);
            }
            Meaning::Acquire { address } => orders.acquire(thread, address),
            Meaning::Release { address } => orders.release(thread, address),
            Meaning::TryAcquire { address, before } => {
                if let Next::Instr(instr) = next
                    && let Op::Sync { op, .. } = &instr.op
                    && self.has_taken(thread, op, address, before)
                {
                    orders.acquire(thread, address);
                }
            }
            Meaning::SectionEnd if !self.in_section(thread) => {
                for (address, len) in std::mem::take(&mut orders.thread(thread).section_writes) {
                    let at = Footprint { address, len, writes: true, atomic: true };
                    orders.write(thread, at, Order::SeqCst, false);
                }
            }
            Meaning::SectionEnd => {}
            Meaning::End(objects, _) => objects.iter().for_each(|(address, len)| orders.forget(*address, *len)),
        }
        orders.steps += usize::from(is_point);
        self.orders = Some(orders);
        result
    }
}
