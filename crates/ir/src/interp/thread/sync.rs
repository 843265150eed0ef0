//! Steps on synchronisation objects.
//!
//! The state of a lock, semaphore or barrier is in the object's own bytes, in a layout that glibc's static initialisers
//! fit (they are zeros, and the kind of a mutex), so that C code may place, copy and free them like any other data.
//! Only the sleepers of a condition variable are kept aside.
//!
//! **Signals.** `signal` wakes one of those asleep at that moment; which one is the scheduler's choice. So a signal is
//! a token, good for any thread that was asleep when it was given, and the sleepers' `CondWake` steps compete for it.
//! Sleepers stand in order of arrival, so those who may take a token are always the first few: a token is a number.

use super::image::{Next, SyncStep};
use super::machine::{Machine, ThreadId};
use crate::interp::memory::violation::{Violation, ViolationKind};
use crate::program::{DataModel, Instr, LockKind, Op, SyncOp};

type Checked<T> = Result<T, Box<Violation>>;

const EPERM: i64 = 1;
const EBUSY: i64 = 16;
const EINVAL: i64 = 22;
const EDEADLK: i64 = 35;
const ETIMEDOUT: i64 = 110;
const FAILED: i64 = -1;
/// `SEM_VALUE_MAX`
const MOST: u32 = i32::MAX as u32;

/// Kinds of a mutex, in the low two bits of the word (3, adaptive, is normal).
const RECURSIVE: u32 = 1;
const ERROR_CHECKING: u32 = 2;
const DESTROYED: u32 = u32::MAX;

/// Offsets of words in a mutex. The kind's differs by data model.
const LOCK: u64 = 0;
const COUNT: u64 = 4;
const OWNER: u64 = 8;
/// In a read-write lock.
const READERS: u64 = 0;
const WRITER: u64 = 4;
/// In a barrier.
const EXPECTED: u64 = 0;
const ARRIVED: u64 = 4;
const GENERATION: u64 = 8;
/// In a once flag.
const RUNNING: u32 = 1;
const DONE: u32 = 2;

/// Why a thread cannot step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Wait {
    /// The execution or the thread has ended.
    Ended,
    /// An assumption was false.
    Stopped,
    /// Another thread is in an atomic section.
    Section(ThreadId),
    /// A mutex or spin lock; its owner may be the thread itself.
    Lock {
        address: u64,
        owner: Option<ThreadId>,
    },
    ReadLock {
        address: u64,
        writer: Option<ThreadId>,
    },
    WriteLock {
        address: u64,
        writer: Option<ThreadId>,
    },
    Signal {
        address: u64,
    },
    Semaphore {
        address: u64,
    },
    Barrier {
        address: u64,
    },
    Once {
        address: u64,
    },
    Join(ThreadId),
}

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeldLock {
    Exclusive(LockKind),
    ReadWrite,
}

/// The sleepers of one condition variable, in order of arrival, and the signals that have not been taken.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(in crate::interp) struct Sleepers {
    threads: Vec<ThreadId>,
    /// Each token may be taken by that many of the first sleepers. Ascending.
    tokens: Vec<usize>,
}

impl Sleepers {
    fn position(&self, thread: ThreadId) -> Option<usize> {
        self.threads.iter().position(|sleeper| *sleeper == thread)
    }

    pub fn may_wake(&self, thread: ThreadId) -> bool {
        let Some(position) = self.position(thread) else { return true };
        self.tokens.iter().any(|token| *token > position)
    }

    /// Takes the oldest token that is good for this sleeper, if there is one, and lets it go in any case.
    fn wake(&mut self, thread: ThreadId) -> bool {
        let Some(position) = self.position(thread) else { return true };
        let token = self.tokens.iter().position(|token| *token > position);
        if let Some(token) = token {
            self.tokens.remove(token);
        }
        self.threads.remove(position);
        self.tokens.iter_mut().filter(|token| **token > position).for_each(|token| *token -= 1);
        // Where a sleeper left without a token, there may be one too many for those who could take it.
        let mut kept = 0;
        self.tokens.retain(|token| {
            let useful = *token > kept;
            kept += usize::from(useful);
            useful
        });
        token.is_some()
    }

    fn signal(&mut self) {
        if self.tokens.len() < self.threads.len() {
            self.tokens.push(self.threads.len());
        }
    }

    fn broadcast(&mut self) {
        self.tokens = vec![self.threads.len(); self.threads.len()];
    }
}

impl Machine<'_> {
    /// One step; `None` when it is not enabled.
    pub(in crate::interp) fn sync(
        &mut self,
        thread: ThreadId,
        step: SyncStep,
        at: u64,
        operand: u64,
    ) -> Checked<Option<i64>> {
        let wait = self.sync_wait(thread, step, at, operand);
        if wait.is_some_and(|wait| !self.may_wake_unasked(thread, wait)) {
            return Ok(None);
        }
        self.sync_now(thread, step, at, operand).map(Some)
    }

    /// What this step would have to wait for. Broken objects do not make it wait: the step itself says what is wrong.
    pub(in crate::interp) fn sync_wait(&self, thread: ThreadId, step: SyncStep, at: u64, operand: u64) -> Option<Wait> {
        let word = |offset| self.peek_word(at, offset);
        match step {
            SyncStep::Lock(LockKind::Mutex) | SyncStep::CondRelock => {
                if word(LOCK)? == 0 {
                    return None;
                }
                let kind = word(self.kind_offset())?;
                let owner = holder(word(OWNER)?);
                let ours_to_ask = owner == Some(thread) && matches!(kind & 3, RECURSIVE | ERROR_CHECKING);
                (kind != DESTROYED && !ours_to_ask).then_some(Wait::Lock { address: at, owner })
            }
            SyncStep::Lock(LockKind::Spin) => {
                let owner = word(LOCK)?;
                (owner != 0 && owner != DESTROYED).then_some(Wait::Lock { address: at, owner: holder(owner) })
            }
            SyncStep::ReadLock => {
                if word(WRITER)? == DESTROYED {
                    return None;
                }
                let writer = holder(word(WRITER)?);
                (writer.is_some() && writer != Some(thread)).then_some(Wait::ReadLock { address: at, writer })
            }
            SyncStep::WriteLock => {
                if word(WRITER)? == DESTROYED {
                    return None;
                }
                let writer = holder(word(WRITER)?);
                let waits = writer != Some(thread) && (writer.is_some() || word(READERS)? != 0);
                waits.then_some(Wait::WriteLock { address: at, writer })
            }
            SyncStep::CondWake { timed } => {
                let awake = timed || self.sleepers.get(&at).is_none_or(|sleepers| sleepers.may_wake(thread));
                (!awake).then_some(Wait::Signal { address: at })
            }
            SyncStep::SemWait => (word(0)? == 0).then_some(Wait::Semaphore { address: at }),
            // (A barrier that has been destroyed since has let everybody go.)
            SyncStep::BarrierLeave if self.threads[thread].at_barrier != Some(at) => None,
            SyncStep::BarrierLeave => {
                let full = operand & 1 == 1 || word(GENERATION)? != (operand >> 1) as u32;
                (!full).then_some(Wait::Barrier { address: at })
            }
            SyncStep::OnceBegin => (word(0)? == RUNNING).then_some(Wait::Once { address: at }),
            _ => None,
        }
    }

    fn sync_now(&mut self, thread: ThreadId, step: SyncStep, at: u64, operand: u64) -> Checked<i64> {
        match step {
            SyncStep::LockInit(LockKind::Mutex) => {
                let kind = (self.kind_offset(), operand as u32);
                self.set_words(thread, at, &[(LOCK, 0), (COUNT, 0), (OWNER, 0), kind])
            }
            SyncStep::LockInit(LockKind::Spin) | SyncStep::CondInit => self.set_words(thread, at, &[(0, 0)]),
            SyncStep::LockDestroy(LockKind::Mutex) => {
                let kind = self.word(thread, at, self.kind_offset())?;
                self.check_not_destroyed(thread, at, kind == DESTROYED)?;
                if self.word(thread, at, LOCK)? != 0 {
                    let owner = self.word(thread, at, OWNER)?;
                    return Err(self.destroyed_in_use(thread, at, holder(owner)));
                }
                self.set_words(thread, at, &[(self.kind_offset(), DESTROYED)])
            }
            SyncStep::LockDestroy(LockKind::Spin) => {
                let owner = self.word(thread, at, LOCK)?;
                self.check_not_destroyed(thread, at, owner == DESTROYED)?;
                if owner != 0 {
                    return Err(self.destroyed_in_use(thread, at, holder(owner)));
                }
                self.set_words(thread, at, &[(LOCK, DESTROYED)])
            }
            SyncStep::Lock(LockKind::Mutex) | SyncStep::CondRelock => self.lock_mutex(thread, at, EDEADLK),
            SyncStep::TryLock(LockKind::Mutex) => self.lock_mutex(thread, at, EBUSY),
            SyncStep::Unlock(LockKind::Mutex) => self.unlock_mutex(thread, at),
            SyncStep::Lock(LockKind::Spin) | SyncStep::TryLock(LockKind::Spin) => {
                let owner = self.word(thread, at, LOCK)?;
                self.check_not_destroyed(thread, at, owner == DESTROYED)?;
                if owner == 0 { self.set_words(thread, at, &[(LOCK, thread.0 + 1)]) } else { Ok(EBUSY) }
            }
            SyncStep::Unlock(LockKind::Spin) => {
                let owner = self.word(thread, at, LOCK)?;
                self.check_not_destroyed(thread, at, owner == DESTROYED)?;
                self.check_owner(thread, at, owner)?;
                self.set_words(thread, at, &[(LOCK, 0)])
            }
            SyncStep::SemInit
            | SyncStep::SemDestroy
            | SyncStep::SemWait
            | SyncStep::SemTryWait
            | SyncStep::SemPost
            | SyncStep::SemGetValue => self.semaphore(thread, step, at, operand as u32),
            SyncStep::BarrierInit | SyncStep::BarrierDestroy | SyncStep::BarrierArrive | SyncStep::BarrierLeave => {
                self.barrier(thread, step, at, operand)
            }
            SyncStep::OnceBegin => match self.word(thread, at, 0)? {
                DONE => Ok(0),
                _ => self.set_words(thread, at, &[(0, RUNNING)]).map(|_| 1),
            },
            SyncStep::OnceEnd => self.set_words(thread, at, &[(0, DONE)]),
            SyncStep::RwInit
            | SyncStep::RwDestroy
            | SyncStep::ReadLock
            | SyncStep::TryReadLock
            | SyncStep::WriteLock
            | SyncStep::TryWriteLock
            | SyncStep::RwUnlock => self.read_write_lock(thread, step, at),
            SyncStep::CondDestroy
            | SyncStep::CondSleep
            | SyncStep::CondWake { .. }
            | SyncStep::CondSignal
            | SyncStep::CondBroadcast => self.condition(thread, step, at, operand),
        }
    }

    /// Whether a thread holds the mutex at an address.
    pub fn holds_mutex(&self, thread: ThreadId, at: u64) -> bool {
        let word = |offset| self.peek_word(at, offset);
        word(LOCK).is_some_and(|lock| lock != 0) && word(OWNER).and_then(holder) == Some(thread)
    }

    /// Whether a thread holds the spin lock at an address.
    pub fn holds_spin_lock(&self, thread: ThreadId, at: u64) -> bool {
        self.peek_word(at, LOCK).and_then(holder) == Some(thread)
    }

    /// Whether a thread holds the read-write lock at an address: for writing, or at least for reading.
    pub fn holds_read_write_lock(&self, thread: ThreadId, at: u64, for_writing: bool) -> bool {
        let writes = self.peek_word(at, WRITER).and_then(holder) == Some(thread);
        let reads = || {
            let counts = self.peek_word(at, READERS).is_some_and(|readers| readers > 0);
            counts && self.threads[thread].read_locks.contains(&at)
        };
        writes || (!for_writing && reads())
    }

    /// Takes a mutex, which the caller knows to be free unless `busy` is what to return otherwise.
    fn lock_mutex(&mut self, thread: ThreadId, at: u64, busy: i64) -> Checked<i64> {
        let kind = self.word(thread, at, self.kind_offset())?;
        self.check_not_destroyed(thread, at, kind == DESTROYED)?;
        if self.word(thread, at, LOCK)? == 0 {
            return self.set_words(thread, at, &[(LOCK, 1), (COUNT, 1), (OWNER, thread.0 + 1)]);
        }
        let ours = holder(self.word(thread, at, OWNER)?) == Some(thread);
        if ours && kind & 3 == RECURSIVE {
            let count = self.word(thread, at, COUNT)?;
            return self.set_words(thread, at, &[(COUNT, count.wrapping_add(1))]);
        }
        Ok(busy)
    }

    fn unlock_mutex(&mut self, thread: ThreadId, at: u64) -> Checked<i64> {
        let kind = self.word(thread, at, self.kind_offset())?;
        let owner = match self.word(thread, at, LOCK)? {
            0 => 0,
            _ => self.word(thread, at, OWNER)?,
        };
        self.check_not_destroyed(thread, at, kind == DESTROYED)?;
        if holder(owner) != Some(thread) && matches!(kind & 3, RECURSIVE | ERROR_CHECKING) {
            return Ok(EPERM);
        }
        self.check_owner(thread, at, owner)?;
        match self.word(thread, at, COUNT)? {
            0 | 1 => self.set_words(thread, at, &[(LOCK, 0), (COUNT, 0), (OWNER, 0)]),
            count => self.set_words(thread, at, &[(COUNT, count - 1)]),
        }
    }

    fn check_owner(&self, thread: ThreadId, at: u64, owner: u32) -> Checked<()> {
        let lock = self.describe_address(at);
        let state = match holder(owner) {
            Some(owner) if owner == thread => return Ok(()),
            Some(owner) => format!("is locked by {}", self.thread_name(owner)),
            None => "is not locked".to_string(),
        };
        Err(self.violation(thread, ViolationKind::InvalidUnlock, format!("unlock of {lock}, which {state}")))
    }

    fn check_not_destroyed(&self, thread: ThreadId, at: u64, is_destroyed: bool) -> Checked<()> {
        if !is_destroyed {
            return Ok(());
        }
        let message = format!("use of {}, which was destroyed", self.describe_address(at));
        Err(self.violation(thread, ViolationKind::UseAfterDestroy, message))
    }

    fn destroyed_in_use(&self, thread: ThreadId, at: u64, owner: Option<ThreadId>) -> Box<Violation> {
        let state = match owner {
            Some(owner) => format!("is locked by {}", self.thread_name(owner)),
            None => "is in use".to_string(),
        };
        let message = format!("destroy of {}, which {state}", self.describe_address(at));
        self.violation(thread, ViolationKind::InvalidDestroy, message)
    }

    fn read_write_lock(&mut self, thread: ThreadId, step: SyncStep, at: u64) -> Checked<i64> {
        if step == SyncStep::RwInit {
            return self.set_words(thread, at, &[(READERS, 0), (WRITER, 0)]);
        }
        let readers = self.word(thread, at, READERS)?;
        let writer = self.word(thread, at, WRITER)?;
        self.check_not_destroyed(thread, at, writer == DESTROYED)?;
        let writer = holder(writer);
        match step {
            SyncStep::RwDestroy if readers != 0 || writer.is_some() => {
                let is_reader = |other: &ThreadId| self.threads[*other].read_locks.contains(&at);
                let owner = writer.or_else(|| self.threads.ids().find(is_reader));
                Err(self.destroyed_in_use(thread, at, owner))
            }
            SyncStep::RwDestroy => self.set_words(thread, at, &[(WRITER, DESTROYED)]),
            SyncStep::ReadLock | SyncStep::WriteLock if writer == Some(thread) => Ok(EDEADLK),
            SyncStep::ReadLock | SyncStep::TryReadLock if writer.is_none() => {
                self.threads[thread].read_locks.push(at);
                self.set_words(thread, at, &[(READERS, readers + 1)])
            }
            SyncStep::WriteLock | SyncStep::TryWriteLock if writer.is_none() && readers == 0 => {
                self.set_words(thread, at, &[(WRITER, thread.0 + 1)])
            }
            SyncStep::TryReadLock | SyncStep::TryWriteLock => Ok(EBUSY),
            SyncStep::RwUnlock => self.unlock_read_write(thread, at, readers, writer),
            _ => Ok(0),
        }
    }

    fn unlock_read_write(&mut self, thread: ThreadId, at: u64, readers: u32, writer: Option<ThreadId>) -> Checked<i64> {
        if writer == Some(thread) {
            return self.set_words(thread, at, &[(WRITER, 0)]);
        }
        let held = &mut self.threads[thread].read_locks;
        match held.iter().rposition(|lock| *lock == at) {
            Some(position) if readers > 0 => {
                held.remove(position);
                self.set_words(thread, at, &[(READERS, readers - 1)])
            }
            _ => {
                let message = format!("unlock of {}, which this thread has not locked", self.describe_address(at));
                Err(self.violation(thread, ViolationKind::InvalidUnlock, message))
            }
        }
    }

    fn condition(&mut self, thread: ThreadId, step: SyncStep, at: u64, mutex: u64) -> Checked<i64> {
        let is_asleep = self.sleepers.get(&at).is_some_and(|sleepers| sleepers.position(thread).is_some());
        if matches!(step, SyncStep::CondWake { .. }) && !is_asleep {
            // The condition variable was destroyed after the thread had been given a signal: it may be gone.
            return Ok(0);
        }
        // Nothing is kept in the object, but it must be one.
        self.word(thread, at, 0)?;
        match step {
            SyncStep::CondDestroy => return self.destroy_condition(thread, at),
            SyncStep::CondSleep => {
                let result = self.unlock_mutex(thread, mutex)?;
                if result == 0 {
                    self.sleepers.entry(at).or_default().threads.push(thread);
                }
                return Ok(result);
            }
            _ => {}
        }
        let Some(sleepers) = self.sleepers.get_mut(&at) else { return Ok(0) };
        let mut result = 0;
        match step {
            SyncStep::CondWake { timed } => {
                self.threads[thread].sleeps_on = false;
                let signalled = sleepers.wake(thread);
                result = if signalled || !timed { 0 } else { ETIMEDOUT };
            }
            SyncStep::CondSignal => sleepers.signal(),
            _ => sleepers.broadcast(),
        }
        if sleepers.threads.is_empty() {
            self.sleepers.remove(&at);
        }
        Ok(result)
    }

    /// Those who have been given a signal are on their way; the others would sleep for ever.
    fn destroy_condition(&mut self, thread: ThreadId, at: u64) -> Checked<i64> {
        let Some(sleepers) = self.sleepers.get(&at) else { return Ok(0) };
        if sleepers.tokens.len() < sleepers.threads.len() {
            let names: Vec<&str> = sleepers.threads.iter().map(|sleeper| self.thread_name(*sleeper)).collect();
            let message = format!("destroy of {}, on which {} sleeps", self.describe_address(at), names.join(", "));
            return Err(self.violation(thread, ViolationKind::InvalidDestroy, message));
        }
        for sleeper in self.sleepers.remove(&at).map(|sleepers| sleepers.threads).unwrap_or_default() {
            self.threads[sleeper].sleeps_on = false;
        }
        Ok(0)
    }

    fn semaphore(&mut self, thread: ThreadId, step: SyncStep, at: u64, initial: u32) -> Checked<i64> {
        if step == SyncStep::SemInit {
            return if initial > MOST { Ok(FAILED) } else { self.set_words(thread, at, &[(0, initial)]) };
        }
        let value = self.word(thread, at, 0)?;
        match step {
            SyncStep::SemWait | SyncStep::SemTryWait if value > 0 => self.set_words(thread, at, &[(0, value - 1)]),
            SyncStep::SemTryWait => Ok(FAILED),
            SyncStep::SemPost if value >= MOST => Ok(FAILED),
            SyncStep::SemPost => self.set_words(thread, at, &[(0, value + 1)]),
            SyncStep::SemGetValue => Ok(value.into()),
            _ => Ok(0),
        }
    }

    fn barrier(&mut self, thread: ThreadId, step: SyncStep, at: u64, operand: u64) -> Checked<i64> {
        match step {
            SyncStep::BarrierInit if operand as u32 == 0 => return Ok(EINVAL),
            SyncStep::BarrierInit => {
                let words = [(EXPECTED, operand as u32), (ARRIVED, 0), (GENERATION, 0)];
                return self.set_words(thread, at, &words);
            }
            SyncStep::BarrierLeave => {
                if self.threads[thread].at_barrier.take() == Some(at) {
                    self.word(thread, at, GENERATION)?;
                }
                return Ok(if operand & 1 == 1 { -1 } else { 0 });
            }
            _ => {}
        }
        let expected = self.word(thread, at, EXPECTED)?;
        let arrived = self.word(thread, at, ARRIVED)?;
        let generation = self.word(thread, at, GENERATION)?;
        if step == SyncStep::BarrierDestroy {
            if arrived > 0 {
                return Err(self.destroyed_in_use(thread, at, None));
            }
            // It waits for those who have not left yet. That they leave is seen by no other thread, so that they may
            // as well do so later, but without the barrier.
            self.threads.iter_mut().filter(|other| other.at_barrier == Some(at)).for_each(|t| t.at_barrier = None);
            return self.set_words(thread, at, &[(EXPECTED, 0)]);
        }
        if expected == 0 {
            let message = format!("wait at {}, which is not an initialised barrier", self.describe_address(at));
            return Err(self.violation(thread, ViolationKind::Uninitialised, message));
        }
        let last = arrived + 1 == expected;
        let words = if last {
            [(ARRIVED, 0), (GENERATION, generation.wrapping_add(1))]
        } else {
            [(ARRIVED, arrived + 1), (GENERATION, generation)]
        };
        self.set_words(thread, at, &words)?;
        self.threads[thread].at_barrier = Some(at);
        Ok(i64::from(generation) << 1 | i64::from(last))
    }

    fn kind_offset(&self) -> u64 {
        match self.program().model {
            DataModel::Lp64 => 16,
            DataModel::Ilp32 => 12,
        }
    }

    /// What kind of lock the next step of a thread takes, if it does.
    pub fn next_lock(&self, thread: ThreadId) -> Option<HeldLock> {
        let Next::Instr(Instr { op: Op::Sync { op, .. }, .. }) = self.next_op(thread) else { return None };
        match op {
            SyncOp::Lock(kind) | SyncOp::TryLock(kind) => Some(HeldLock::Exclusive(*kind)),
            SyncOp::ReadLock | SyncOp::TryReadLock | SyncOp::WriteLock | SyncOp::TryWriteLock => {
                Some(HeldLock::ReadWrite)
            }
            _ => None,
        }
    }

    /// Whether a thread holds the lock of this kind at an address, for reading or for writing.
    pub fn holds(&self, thread: ThreadId, lock: HeldLock, at: u64) -> bool {
        match lock {
            HeldLock::Exclusive(kind) => self.holds_lock(thread, kind, at),
            HeldLock::ReadWrite => self.holds_read_write_lock(thread, at, false),
        }
    }

    /// Whether a thread holds the lock at this address.
    pub fn holds_lock(&self, thread: ThreadId, kind: LockKind, at: u64) -> bool {
        let owner = match kind {
            LockKind::Mutex if self.peek_word(at, LOCK) == Some(0) => None,
            LockKind::Mutex => self.peek_word(at, OWNER),
            LockKind::Spin => self.peek_word(at, LOCK),
        };
        owner.and_then(holder) == Some(thread)
    }

    fn peek_word(&self, at: u64, offset: u64) -> Option<u32> {
        self.memory.load_defined(at.wrapping_add(offset), 4).ok().flatten().map(|word| word as u32)
    }

    fn word(&self, thread: ThreadId, at: u64, offset: u64) -> Checked<u32> {
        match self.memory.load_defined(at.wrapping_add(offset), 4) {
            Ok(Some(word)) => Ok(word as u32),
            Ok(None) => Err(self.uninitialised(thread, "a synchronisation object is")),
            Err(fault) => Err(self.fault(thread, fault)),
        }
    }

    fn set_words(&mut self, thread: ThreadId, at: u64, words: &[(u64, u32)]) -> Checked<i64> {
        for (offset, word) in words {
            let stored = self.memory.store_defined(at.wrapping_add(*offset), 4, (*word).into());
            stored.map_err(|fault| self.fault(thread, fault))?;
        }
        Ok(0)
    }
}

/// The thread whose number plus one this is.
fn holder(word: u32) -> Option<ThreadId> {
    word.checked_sub(1).map(ThreadId)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asleep(count: u32) -> Sleepers {
        Sleepers { threads: (1..=count).map(ThreadId).collect(), tokens: Vec::new() }
    }

    #[test]
    fn a_signal_is_for_those_asleep_when_it_is_given() {
        let mut sleepers = asleep(1);
        sleepers.signal();
        sleepers.threads.push(ThreadId(2));
        assert!(sleepers.may_wake(ThreadId(1)));
        assert!(!sleepers.may_wake(ThreadId(2)));
        sleepers.signal();
        // The newcomer takes the newer token and leaves the older one.
        assert!(sleepers.wake(ThreadId(2)));
        assert!(sleepers.wake(ThreadId(1)));
        assert!(sleepers.tokens.is_empty());
    }

    #[test]
    fn one_signal_does_not_serve_two() {
        let mut sleepers = asleep(3);
        sleepers.signal();
        assert!((1..=3).all(|thread| sleepers.may_wake(ThreadId(thread))));
        assert!(sleepers.wake(ThreadId(2)));
        assert!(!sleepers.may_wake(ThreadId(1)) && !sleepers.may_wake(ThreadId(3)));
    }

    #[test]
    fn signals_beyond_the_number_of_sleepers_are_lost() {
        let mut sleepers = asleep(1);
        sleepers.signal();
        sleepers.signal();
        assert_eq!(sleepers.tokens, [1]);
        assert!(sleepers.wake(ThreadId(1)));
        sleepers.threads.push(ThreadId(2));
        assert!(!sleepers.may_wake(ThreadId(2)));
    }

    #[test]
    fn leaving_without_a_signal_takes_the_surplus_along() {
        let mut sleepers = asleep(2);
        sleepers.signal();
        sleepers.signal();
        assert!(sleepers.wake(ThreadId(1)));
        assert_eq!(sleepers.tokens, [1]);
        let mut sleepers = asleep(1);
        sleepers.signal();
        sleepers.threads.push(ThreadId(2));
        sleepers.signal();
        // Thread 2 wakes by the second token; no sleeper is left for a third.
        assert!(sleepers.wake(ThreadId(1)));
        assert_eq!(sleepers.tokens, [1]);
        assert!(sleepers.wake(ThreadId(2)));
    }

    #[test]
    fn a_broadcast_serves_everyone_and_nobody_else() {
        let mut sleepers = asleep(3);
        sleepers.signal();
        sleepers.broadcast();
        sleepers.threads.push(ThreadId(9));
        assert!(!sleepers.may_wake(ThreadId(9)));
        assert!((1..=3).all(|thread| sleepers.wake(ThreadId(thread))));
        assert!(!sleepers.may_wake(ThreadId(9)));
    }
}
