//! Steps on synchronisation objects, as transitions of the objects' words.
//!
//! The state of a lock, semaphore, barrier or once flag is in words of the object itself. A step reads all of them, may
//! have to wait until they are such that it can go on, writes some of them, and gives a result. [`transition`] says
//! what, for old words that are terms; how the words are read and written, and what waiting means, is the engine's
//! business.
//!
//! The words are those of the interpreter, except that a mutex keeps its owner in its first word here (0: free,
//! [`DESTROYED`]: destroyed), so that for a mutex of the normal kind one word tells everything. What is not in words
//! has no rule here: the sleepers of a condition variable. A wait gives up its mutex by the rule of `Unlock` and takes
//! it by that of `Lock`.
//!
//! Two things are taken for granted of the words, since all steps keep them so: a mutex that is held is held at least
//! once, and a read-write lock has at least as many readers as each of its readers has read locks.

use crate::operators::fit;
use crate::update::Write;
use leno_ir::interp::ViolationKind;
use leno_ir::program::{DataModel, SyncOp};
use leno_logic::term::{Term, Terms};

const EPERM: u128 = 1;
const EBUSY: u128 = 16;
const EINVAL: u128 = 22;
const EDEADLK: u128 = 35;
pub const ETIMEDOUT: u128 = 110;
const FAILED: u128 = u32::MAX as u128;
/// `SEM_VALUE_MAX`
const MOST: u128 = i32::MAX as u128;
/// Kinds of a mutex, in the low two bits of its word.
const RECURSIVE: u128 = 1;
const ERROR_CHECKING: u128 = 2;
/// The owner of a mutex that was destroyed.
pub const DESTROYED: u128 = u32::MAX as u128;
/// Of a once flag.
const RUNNING: u128 = 1;
const DONE: u128 = 2;

/// Whether a step has to wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Enabled {
    Always,
    /// As soon as this holds.
    When(Term),
    /// The same, for a lock whose owner is in its first word.
    Lock(Term),
}

impl Enabled {
    pub fn condition(self) -> Option<Term> {
        match self {
            Enabled::Always => None,
            Enabled::When(condition) | Enabled::Lock(condition) => Some(condition),
        }
    }
}

/// The thread that makes a step, and what it makes it with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Caller {
    /// What stands for the thread in the words of locks: not 0 and not [`DESTROYED`].
    pub me: Term,
    /// The kind of a new mutex, the value of a new semaphore, the size of a new barrier, or the ticket of the step.
    pub operand: Option<Term>,
    /// How often the thread holds this read-write lock for reading, which only the thread knows.
    pub reading: Option<Term>,
    /// Whether a lock may have been destroyed: the program does that somewhere.
    pub may_be_destroyed: bool,
}

/// What a step does, where it is enabled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    pub enabled: Enabled,
    /// One for each word.
    pub writes: Vec<Write>,
    /// What the step returns: 32 bits, or 64 where it is a ticket.
    pub result: Term,
    /// What is wrong, and when. Nothing else counts there.
    pub violations: Vec<(ViolationKind, Term)>,
    /// How often the thread holds the lock for reading afterwards, if that changes.
    pub reading: Option<Term>,
}

/// A transition of one word in the runs in which its result is a given one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WithResult {
    /// That the step is enabled and has this result.
    pub guard: Term,
    /// The word afterwards, if it is written.
    pub new: Option<Term>,
}

impl Transition {
    fn new(enabled: Enabled, writes: Vec<Write>, result: Term) -> Transition {
        Transition { enabled, writes, result, violations: Vec::new(), reading: None }
    }

    fn always(writes: Vec<Write>, result: Term) -> Transition {
        Transition::new(Enabled::Always, writes, result)
    }

    /// The transition of the first word, `old`, if the result is `result`.
    pub fn with_result(&self, terms: &mut Terms, old: Term, result: i64) -> WithResult {
        let expected = terms.bits(terms.width(self.result), result as u128);
        let has_result = terms.eq(self.result, expected);
        let enabled = self.enabled.condition().unwrap_or(Term::TRUE);
        let guard = terms.and2(enabled, has_result);
        let new = self.writes.first().and_then(|write| {
            let under_guard = terms.and2(guard, write.condition);
            match under_guard {
                Term::FALSE => None,
                _ if under_guard == guard => Some(write.value),
                _ => Some(terms.ite(write.condition, write.value, old)),
            }
        });
        WithResult { guard, new }
    }
}

/// Which words of an object a step is about, as offsets. A mutex has one, unless it may be of another kind than the
/// normal one.
pub fn words(op: &SyncOp, model: DataModel, may_be_special: bool) -> &'static [u64] {
    match op {
        SyncOp::LockInit { .. }
        | SyncOp::Lock(_)
        | SyncOp::TryLock(_)
        | SyncOp::Unlock(_)
        | SyncOp::CondSleep { .. }
        | SyncOp::CondRelock => match (may_be_special, model) {
            (false, _) => &[0],
            // The owner, how often it is held, and the kind.
            (true, DataModel::Lp64) => &[0, 4, 16],
            (true, DataModel::Ilp32) => &[0, 4, 12],
        },
        SyncOp::LockDestroy(_)
        | SyncOp::SemInit { .. }
        | SyncOp::SemWait
        | SyncOp::SemTryWait
        | SyncOp::SemPost
        | SyncOp::SemGetValue
        | SyncOp::SemDestroy
        | SyncOp::OnceBegin
        | SyncOp::OnceEnd => &[0],
        // Nothing but that it was made.
        SyncOp::CondInit | SyncOp::CondDestroy | SyncOp::CondSignal | SyncOp::CondBroadcast => &[0],
        // The number of readers, and the writer.
        SyncOp::RwInit
        | SyncOp::RwDestroy
        | SyncOp::ReadLock
        | SyncOp::TryReadLock
        | SyncOp::WriteLock
        | SyncOp::TryWriteLock
        | SyncOp::RwUnlock => &[0, 4],
        // How many are expected, how many have arrived, and how often it has been full.
        SyncOp::BarrierInit { .. } | SyncOp::BarrierDestroy | SyncOp::BarrierArrive | SyncOp::BarrierLeave { .. } => {
            &[0, 4, 8]
        }
        SyncOp::CondWake { .. } => &[],
    }
}

/// Whether a step does not ask what was there before.
pub fn makes_object(op: &SyncOp) -> bool {
    matches!(
        op,
        SyncOp::LockInit { .. }
            | SyncOp::SemInit { .. }
            | SyncOp::BarrierInit { .. }
            | SyncOp::RwInit
            | SyncOp::CondInit
            | SyncOp::OnceEnd
    )
}

/// What a step does with the words that [`words`] names.
pub fn transition(terms: &mut Terms, op: &SyncOp, caller: Caller, old: &[Term]) -> Transition {
    let zero = word(terms, 0);
    match (op, old) {
        (SyncOp::LockInit { .. }, _) => {
            let kind = operand(terms, caller);
            let new = [zero, zero, kind].into_iter().take(old.len());
            Transition::always(new.map(Write::always).collect(), zero)
        }
        (SyncOp::LockDestroy(_), &[owner, ..]) => destroy_lock(terms, owner),
        (SyncOp::Lock(_) | SyncOp::CondRelock, &[_, ..]) => lock(terms, caller, old, false),
        (SyncOp::TryLock(_), &[_, ..]) => lock(terms, caller, old, true),
        (SyncOp::Unlock(_) | SyncOp::CondSleep { .. }, &[_, ..]) => unlock(terms, caller, old),
        (SyncOp::SemInit { .. }, _) => {
            let (value, most) = (operand(terms, caller), word(terms, MOST));
            let fits = terms.ule(value, most);
            let result = result(terms, fits, FAILED);
            Transition::always(vec![Write::when(fits, value)], result)
        }
        (SyncOp::SemWait | SyncOp::SemTryWait | SyncOp::SemPost | SyncOp::SemGetValue, &[value, ..]) => {
            semaphore(terms, op, value)
        }
        (SyncOp::OnceBegin, &[flag, ..]) => once(terms, flag),
        (SyncOp::OnceEnd, _) => Transition::always(vec![Write::always(word(terms, DONE))], zero),
        (
            SyncOp::BarrierInit { .. } | SyncOp::BarrierDestroy | SyncOp::BarrierArrive | SyncOp::BarrierLeave { .. },
            &[expected, arrived, generation],
        ) => barrier(terms, op, caller, [expected, arrived, generation]),
        (SyncOp::CondInit, _) => Transition::always(vec![Write::always(zero)], zero),
        (SyncOp::RwInit, _) => Transition::always(vec![Write::always(zero); 2], zero),
        (
            SyncOp::RwDestroy
            | SyncOp::ReadLock
            | SyncOp::TryReadLock
            | SyncOp::WriteLock
            | SyncOp::TryWriteLock
            | SyncOp::RwUnlock,
            &[readers, writer],
        ) => read_write_lock(terms, op, caller, readers, writer),
        _ => Transition::always(old.iter().map(|&word| Write::never(word)).collect(), zero),
    }
}

fn word(terms: &mut Terms, value: u128) -> Term {
    terms.bits(32, value)
}

fn is(terms: &mut Terms, word: Term, value: u128) -> Term {
    let value = terms.bits(32, value);
    terms.eq(word, value)
}

fn operand(terms: &mut Terms, caller: Caller) -> Term {
    match caller.operand {
        Some(operand) => fit(terms, operand, 32),
        None => word(terms, 0),
    }
}

/// 0, or an error.
fn result(terms: &mut Terms, good: Term, error: u128) -> Term {
    let (zero, error) = (word(terms, 0), word(terms, error));
    terms.ite(good, zero, error)
}

// --- mutexes and spin locks

/// What the words of a lock say to a thread.
struct Mutex {
    is_free: Term,
    is_mine: Term,
    is_destroyed: Term,
    is_recursive: Term,
    checks_errors: Term,
}

impl Mutex {
    fn of(terms: &mut Terms, caller: Caller, words: &[Term]) -> Mutex {
        let is_kind = |terms: &mut Terms, kind| match words.get(2) {
            None => Term::FALSE,
            Some(&word) => {
                let low = terms.extract(word, 0, 2);
                let kind = terms.bits(2, kind);
                terms.eq(low, kind)
            }
        };
        Mutex {
            is_recursive: is_kind(terms, RECURSIVE),
            checks_errors: is_kind(terms, ERROR_CHECKING),
            is_free: is(terms, words[0], 0),
            is_mine: terms.eq(words[0], caller.me),
            is_destroyed: is_destroyed(terms, caller, words[0]),
        }
    }
}

/// Whether the owner says that a lock was destroyed.
fn is_destroyed(terms: &mut Terms, caller: Caller, owner: Term) -> Term {
    if caller.may_be_destroyed { is(terms, owner, DESTROYED) } else { Term::FALSE }
}

/// That a lock is used which was destroyed.
fn use_after_destroy(is_destroyed: Term) -> Option<(ViolationKind, Term)> {
    (is_destroyed != Term::FALSE).then_some((ViolationKind::UseAfterDestroy, is_destroyed))
}

fn lock(terms: &mut Terms, caller: Caller, old: &[Term], is_try: bool) -> Transition {
    let mutex = Mutex::of(terms, caller, old);
    let again = terms.and2(mutex.is_mine, mutex.is_recursive);
    let got = terms.or2(mutex.is_free, again);
    let mut writes = vec![Write::when(mutex.is_free, caller.me)];
    if let &[_, count, kind] = old {
        let one = word(terms, 1);
        let more = terms.add(count, one);
        let count = terms.ite(mutex.is_free, one, more);
        writes.extend([Write::when(got, count), Write::never(kind)]);
    }
    let zero = word(terms, 0);
    let busy = word(terms, if is_try { EBUSY } else { EDEADLK });
    let result = terms.ite(got, zero, busy);
    let violations = use_after_destroy(mutex.is_destroyed).into_iter().collect();
    if is_try {
        return Transition { violations, ..Transition::always(writes, result) };
    }
    let asks = terms.or2(mutex.is_recursive, mutex.checks_errors);
    let may_ask = terms.and2(mutex.is_mine, asks);
    let enabled = terms.or(&[mutex.is_free, mutex.is_destroyed, may_ask]);
    Transition { violations, ..Transition::new(Enabled::Lock(enabled), writes, result) }
}

fn unlock(terms: &mut Terms, caller: Caller, old: &[Term]) -> Transition {
    let mutex = Mutex::of(terms, caller, old);
    let (zero, one) = (word(terms, 0), word(terms, 1));
    let writes = match old {
        &[_, count, kind] => {
            let fewer = terms.sub(count, one);
            let last = terms.eq(count, one);
            let free = terms.and2(mutex.is_mine, last);
            vec![Write::when(free, zero), Write::when(mutex.is_mine, fewer), Write::never(kind)]
        }
        _ => vec![Write::when(mutex.is_mine, zero)],
    };
    let asks = terms.or2(mutex.is_recursive, mutex.checks_errors);
    let good = terms.or(&[mutex.is_mine, mutex.is_destroyed, asks]);
    let bad = terms.not(good);
    let denied = word(terms, EPERM);
    let result = terms.ite(mutex.is_mine, zero, denied);
    let mut violations = vec![(ViolationKind::InvalidUnlock, bad)];
    violations.extend(use_after_destroy(mutex.is_destroyed));
    Transition { violations, ..Transition::always(writes, result) }
}

fn destroy_lock(terms: &mut Terms, owner: Term) -> Transition {
    let (destroyed, zero) = (word(terms, DESTROYED), word(terms, 0));
    let (free, dead) = (is(terms, owner, 0), terms.eq(owner, destroyed));
    let good = terms.or2(free, dead);
    let held = terms.not(good);
    let violations = vec![(ViolationKind::InvalidDestroy, held), (ViolationKind::UseAfterDestroy, dead)];
    Transition { violations, ..Transition::always(vec![Write::when(free, destroyed)], zero) }
}

// --- semaphores, once flags, barriers

fn semaphore(terms: &mut Terms, op: &SyncOp, value: Term) -> Transition {
    let (zero, one) = (word(terms, 0), word(terms, 1));
    if matches!(op, SyncOp::SemPost) {
        let most = word(terms, MOST);
        let has_room = terms.ult(value, most);
        let more = terms.add(value, one);
        let result = result(terms, has_room, FAILED);
        return Transition::always(vec![Write::when(has_room, more)], result);
    }
    let is_empty = terms.eq(value, zero);
    let positive = terms.not(is_empty);
    let fewer = terms.sub(value, one);
    match op {
        SyncOp::SemWait => Transition::new(Enabled::When(positive), vec![Write::always(fewer)], zero),
        SyncOp::SemTryWait => {
            let result = result(terms, positive, FAILED);
            Transition::always(vec![Write::when(positive, fewer)], result)
        }
        _ => Transition::always(vec![Write::never(value)], value),
    }
}

/// The beginning of a routine that is to run once.
fn once(terms: &mut Terms, flag: Term) -> Transition {
    let (running, is_running, is_done) = (word(terms, RUNNING), is(terms, flag, RUNNING), is(terms, flag, DONE));
    let not_running = terms.not(is_running);
    let not_done = terms.not(is_done);
    let (zero, one) = (word(terms, 0), word(terms, 1));
    let result = terms.ite(is_done, zero, one);
    Transition::new(Enabled::When(not_running), vec![Write::when(not_done, running)], result)
}

fn barrier(terms: &mut Terms, op: &SyncOp, caller: Caller, [expected, arrived, generation]: [Term; 3]) -> Transition {
    let zero = word(terms, 0);
    let never = [expected, arrived, generation].map(Write::never);
    match op {
        SyncOp::BarrierInit { .. } => {
            let count = operand(terms, caller);
            let is_none = terms.eq(count, zero);
            let good = terms.not(is_none);
            let result = result(terms, good, EINVAL);
            Transition::always([count, zero, zero].map(|new| Write::when(good, new)).to_vec(), result)
        }
        SyncOp::BarrierDestroy => {
            let good = terms.eq(arrived, zero);
            let in_use = terms.not(good);
            let writes = vec![Write::when(good, zero), never[1], never[2]];
            let violations = vec![(ViolationKind::InvalidDestroy, in_use)];
            Transition { violations, ..Transition::always(writes, zero) }
        }
        SyncOp::BarrierLeave { .. } => {
            let ticket = caller.operand.unwrap_or(zero);
            let ticket = fit(terms, ticket, 64);
            let last = terms.extract(ticket, 0, 1);
            let was_last = terms.bits_to_bool(last);
            let mine = terms.extract(ticket, 1, 32);
            let same = terms.eq(mine, generation);
            let other = terms.not(same);
            let full = terms.or2(was_last, other);
            let (serial, none) = (terms.bits(64, u64::MAX.into()), terms.bits(64, 0));
            let result = terms.ite(was_last, serial, none);
            Transition::new(Enabled::When(full), never.to_vec(), result)
        }
        _ => {
            let one = word(terms, 1);
            let more = terms.add(arrived, one);
            let is_last = terms.eq(more, expected);
            let now = terms.ite(is_last, zero, more);
            let next = terms.add(generation, one);
            let writes = vec![never[0], Write::always(now), Write::when(is_last, next)];
            // The ticket: the generation, and whether this was the last one to arrive.
            let generation = terms.zero_extend(generation, 64);
            let shift = terms.bits(64, 1);
            let doubled = terms.shl(generation, shift);
            let last = terms.bool_to_bits(is_last, 64);
            let ticket = terms.add(doubled, last);
            let unset = terms.eq(expected, zero);
            let violations = vec![(ViolationKind::Uninitialised, unset)];
            Transition { violations, ..Transition::always(writes, ticket) }
        }
    }
}

// --- read-write locks

fn read_write_lock(terms: &mut Terms, op: &SyncOp, caller: Caller, readers: Term, writer: Term) -> Transition {
    let (zero, one) = (word(terms, 0), word(terms, 1));
    let reading = caller.reading.unwrap_or(zero);
    let no_writer = terms.eq(writer, zero);
    let is_mine = terms.eq(writer, caller.me);
    let no_reader = terms.eq(readers, zero);
    let is_free = terms.and2(no_writer, no_reader);
    let is_destroyed = is_destroyed(terms, caller, writer);
    let mut violations: Vec<(ViolationKind, Term)> = use_after_destroy(is_destroyed).into_iter().collect();
    match op {
        SyncOp::ReadLock | SyncOp::TryReadLock => {
            let more = terms.add(readers, one);
            let writes = vec![Write::when(no_writer, more), Write::never(writer)];
            let reads = terms.add(reading, one);
            let reads = terms.ite(no_writer, reads, reading);
            let (enabled, error) = match op {
                SyncOp::ReadLock => (Enabled::When(terms.or(&[no_writer, is_mine, is_destroyed])), EDEADLK),
                _ => (Enabled::Always, EBUSY),
            };
            let result = result(terms, no_writer, error);
            Transition { violations, reading: Some(reads), ..Transition::new(enabled, writes, result) }
        }
        SyncOp::WriteLock => {
            let enabled = terms.or(&[is_free, is_mine, is_destroyed]);
            let (deadlock, writes) =
                (word(terms, EDEADLK), vec![Write::never(readers), Write::when(is_free, caller.me)]);
            let result = terms.ite(is_mine, deadlock, zero);
            Transition { violations, ..Transition::new(Enabled::When(enabled), writes, result) }
        }
        SyncOp::TryWriteLock => {
            let result = result(terms, is_free, EBUSY);
            let writes = vec![Write::never(readers), Write::when(is_free, caller.me)];
            Transition { violations, ..Transition::always(writes, result) }
        }
        SyncOp::RwUnlock => {
            let other = terms.not(is_mine);
            let not_reading = terms.eq(reading, zero);
            let is_reading = terms.not(not_reading);
            let reads = terms.and2(other, is_reading);
            let fewer = terms.sub(readers, one);
            let writes = vec![Write::when(reads, fewer), Write::when(is_mine, zero)];
            let bad = terms.and2(other, not_reading);
            let intact = terms.not(is_destroyed);
            let bad = terms.and2(bad, intact);
            violations.push((ViolationKind::InvalidUnlock, bad));
            let rest = terms.sub(reading, one);
            let rest = terms.ite(is_mine, reading, rest);
            Transition { violations, reading: Some(rest), ..Transition::always(writes, zero) }
        }
        _ => {
            let destroyed = word(terms, DESTROYED);
            let gone = terms.eq(writer, destroyed);
            let good = terms.or2(is_free, gone);
            let held = terms.not(good);
            let violations = vec![(ViolationKind::InvalidDestroy, held), (ViolationKind::UseAfterDestroy, gone)];
            let writes = vec![Write::never(readers), Write::when(is_free, destroyed)];
            Transition { violations, ..Transition::always(writes, zero) }
        }
    }
}
