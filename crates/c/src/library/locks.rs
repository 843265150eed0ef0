//! Synchronisation objects: mutexes, condition variables, read-write locks, spin locks, barriers, once, semaphores.
//!
//! Timed operations: time is arbitrary, so a wait with a deadline that ends, ends at some moment; at that moment the
//! lock is free and it is taken, or it is not and the time is over. That is a `try` that says "timed out" instead of
//! "busy". The time itself is read, and one that is no time gives `EINVAL`: always (condition variables, read-write locks,
//! as glibc has them), or if the lock is not free (mutexes).

use super::recipe::{Call, Recipe, Value};
use leno_ir::program::{BinaryOp, Callee, Expr, LockKind, Op, SyncOp, Type};

const EBUSY: i32 = 16;
const EINVAL: i32 = 22;
const EOVERFLOW: i32 = 75;
const ETIMEDOUT: i32 = 110;
/// C11's results, as glibc numbers them.
const THRD_BUSY: i32 = 1;
const THRD_ERROR: i32 = 2;
const THRD_TIMEDOUT: i32 = 4;

pub(super) fn recipe(name: &str) -> Option<Recipe> {
    mutex(name).or_else(|| condition(name)).or_else(|| other(name))
}

fn mutex(name: &str) -> Option<Recipe> {
    use LockKind::{Mutex, Spin};
    Some(match name {
        "pthread_mutex_init" => init_mutex,
        "pthread_mutex_destroy" => |call| posix(call, SyncOp::LockDestroy(Mutex)),
        "pthread_mutex_lock" => |call| posix(call, SyncOp::Lock(Mutex)),
        "pthread_mutex_trylock" => |call| posix(call, SyncOp::TryLock(Mutex)),
        "pthread_mutex_timedlock" => |call| timed_lock(call, 1),
        "pthread_mutex_clocklock" => |call| with_clock(call, 1, |call| timed_lock(call, 2)),
        "pthread_mutex_unlock" => |call| posix(call, SyncOp::Unlock(Mutex)),

        "mtx_init" => |call| {
            let (at, kind) = (call.pointer(0), call.int(1));
            // mtx_recursive is the lowest bit; mtx_timed makes no difference.
            let kind = call.builder.binary(BinaryOp::And, kind, Expr::int(1, 32));
            let result = call.sync(SyncOp::LockInit { lock: Mutex, kind }, at);
            c11(call, result)
        },
        "mtx_destroy" => |call| quiet(call, SyncOp::LockDestroy(Mutex)),
        "mtx_lock" => |call| posix(call, SyncOp::Lock(Mutex)).and_then(|(result, _)| c11(call, result)),
        "mtx_trylock" => |call| posix(call, SyncOp::TryLock(Mutex)).and_then(|(result, _)| c11(call, result)),
        "mtx_timedlock" => |call| timed_lock(call, 1).and_then(|(result, _)| c11(call, result)),
        "mtx_unlock" => |call| posix(call, SyncOp::Unlock(Mutex)).and_then(|(result, _)| c11(call, result)),

        "pthread_spin_init" => |call| posix(call, SyncOp::LockInit { lock: Spin, kind: Expr::int(0, 32) }),
        "pthread_spin_destroy" => |call| posix(call, SyncOp::LockDestroy(Spin)),
        "pthread_spin_lock" => |call| posix(call, SyncOp::Lock(Spin)),
        "pthread_spin_trylock" => |call| posix(call, SyncOp::TryLock(Spin)),
        "pthread_spin_unlock" => |call| posix(call, SyncOp::Unlock(Spin)),

        // GenMC's mutex is an int.
        "__VERIFIER_mutex_init" => |call| posix(call, SyncOp::LockInit { lock: Spin, kind: Expr::int(0, 32) }),
        "__VERIFIER_mutex_destroy" => |call| posix(call, SyncOp::LockDestroy(Spin)),
        "__VERIFIER_mutex_lock" => |call| posix(call, SyncOp::Lock(Spin)),
        "__VERIFIER_mutex_trylock" => |call| posix(call, SyncOp::TryLock(Spin)),
        "__VERIFIER_mutex_unlock" => |call| posix(call, SyncOp::Unlock(Spin)),
        _ => return None,
    })
}

fn condition(name: &str) -> Option<Recipe> {
    Some(match name {
        "pthread_cond_init" => |call| with_attributes(call, SyncOp::CondInit),
        "pthread_cond_destroy" => |call| posix(call, SyncOp::CondDestroy),
        "pthread_cond_wait" => |call| {
            let result = wait(call, None);
            call.as_int(result)
        },
        "pthread_cond_timedwait" => |call| timed_wait(call, 2),
        "pthread_cond_clockwait" => |call| with_clock(call, 2, |call| timed_wait(call, 3)),
        "pthread_cond_signal" => |call| posix(call, SyncOp::CondSignal),
        "pthread_cond_broadcast" | "__leno_cond_broadcast" => |call| posix(call, SyncOp::CondBroadcast),

        "cnd_init" => |call| posix(call, SyncOp::CondInit).and_then(|(result, _)| c11(call, result)),
        "cnd_destroy" => |call| quiet(call, SyncOp::CondDestroy),
        "cnd_wait" => |call| {
            let result = wait(call, None);
            c11(call, result)
        },
        "cnd_timedwait" => |call| timed_wait(call, 2).and_then(|(result, _)| c11(call, result)),
        "cnd_signal" => |call| posix(call, SyncOp::CondSignal).and_then(|(result, _)| c11(call, result)),
        "cnd_broadcast" => |call| posix(call, SyncOp::CondBroadcast).and_then(|(result, _)| c11(call, result)),

        "__leno_cond_sleep" => |call| {
            let mutex = call.pointer(1);
            posix(call, SyncOp::CondSleep { mutex })
        },
        "__leno_cond_wake" => |call| {
            let (at, mutex) = (call.pointer(0), call.pointer(1));
            let result = wake(call, at, mutex, None);
            call.as_int(result)
        },
        "__leno_cond_wake_timed" => |call| {
            let (at, mutex, deadline) = (call.pointer(0), call.pointer(1), call.pointer(2));
            let result = wake(call, at, mutex, Some(deadline));
            call.as_int(result)
        },
        "__leno_cond_relock" => |call| posix(call, SyncOp::CondRelock),
        _ => return None,
    })
}

fn other(name: &str) -> Option<Recipe> {
    Some(match name {
        "pthread_rwlock_init" => |call| with_attributes(call, SyncOp::RwInit),
        "pthread_rwlock_destroy" => |call| posix(call, SyncOp::RwDestroy),
        "pthread_rwlock_rdlock" => |call| posix(call, SyncOp::ReadLock),
        "pthread_rwlock_tryrdlock" => |call| posix(call, SyncOp::TryReadLock),
        "pthread_rwlock_timedrdlock" => |call| timed(call, SyncOp::TryReadLock, 1),
        "pthread_rwlock_clockrdlock" => |call| with_clock(call, 1, |call| timed(call, SyncOp::TryReadLock, 2)),
        "pthread_rwlock_wrlock" => |call| posix(call, SyncOp::WriteLock),
        "pthread_rwlock_trywrlock" => |call| posix(call, SyncOp::TryWriteLock),
        "pthread_rwlock_timedwrlock" => |call| timed(call, SyncOp::TryWriteLock, 1),
        "pthread_rwlock_clockwrlock" => |call| with_clock(call, 1, |call| timed(call, SyncOp::TryWriteLock, 2)),
        "pthread_rwlock_unlock" => |call| posix(call, SyncOp::RwUnlock),

        "pthread_barrier_init" => |call| {
            let count = call.int(2);
            with_attributes(call, SyncOp::BarrierInit { count })
        },
        "pthread_barrier_destroy" => |call| posix(call, SyncOp::BarrierDestroy),
        "pthread_barrier_wait" => wait_at_barrier,

        "pthread_once" => |call| {
            run_once(call);
            call.number(0)
        },
        "call_once" => |call| {
            run_once(call);
            None
        },

        "sem_init" => |call| {
            let (at, value) = (call.pointer(0), call.int(2));
            let result = call.sync(SyncOp::SemInit { value }, at);
            let result = call.failing_with(result, EINVAL);
            call.as_int(result)
        },
        "sem_destroy" => |call| posix(call, SyncOp::SemDestroy),
        "sem_wait" => |call| cancellable(call, "__leno_cancellable_sem_wait", SyncOp::SemWait),
        "sem_post" => |call| {
            let (result, _) = cancellable(call, "__leno_waking_sem_post", SyncOp::SemPost)?;
            let result = call.failing_with(result, EOVERFLOW);
            call.as_int(result)
        },
        "sem_getvalue" => |call| {
            let (at, place) = (call.pointer(0), call.pointer(1));
            let value = call.sync(SyncOp::SemGetValue, at);
            call.builder.store(place, Type::I32, value);
            call.number(0)
        },
        "__leno_sem_wait" => |call| posix(call, SyncOp::SemWait),
        "__leno_sem_post" => |call| posix(call, SyncOp::SemPost),
        "__leno_sem_trywait" => |call| posix(call, SyncOp::SemTryWait),
        _ => return None,
    })
}

/// A step on the first argument; its result is the call's.
fn posix(call: &mut Call<'_, '_, '_>, op: SyncOp) -> Value {
    let at = call.pointer(0);
    let result = call.sync(op, at);
    call.as_int(result)
}

/// The same; but where threads may be cancelled, a model does it.
fn cancellable(call: &mut Call<'_, '_, '_>, model: &str, op: SyncOp) -> Value {
    let at = call.pointer(0);
    match call.call_model(model, vec![at]) {
        Some(result) => call.as_int(result.unwrap_or_else(|| Expr::int(0, 32))),
        None => posix(call, op),
    }
}

/// A step on the first argument; the call has no result.
fn quiet(call: &mut Call<'_, '_, '_>, op: SyncOp) -> Value {
    let at = call.pointer(0);
    call.sync_quietly(op, at);
    None
}

/// A step that makes an object (argument 0), with attributes (argument 1) that only have to be there.
fn with_attributes(call: &mut Call<'_, '_, '_>, op: SyncOp) -> Value {
    let attributes = call.pointer(1);
    call.attribute(attributes);
    posix(call, op)
}

/// What `then` does, if an argument is a clock that can be waited for: the real time, or the monotonic one.
fn with_clock(call: &mut Call<'_, '_, '_>, index: usize, then: fn(&mut Call<'_, '_, '_>) -> Value) -> Value {
    let clock = call.int(index);
    let is_clock = call.builder.binary(BinaryOp::ULe, clock, Expr::int(1, 32));
    or_invalid(call, is_clock, then)
}

/// What `then` does, if `cond` (an i1), and otherwise `EINVAL`.
fn or_invalid(call: &mut Call<'_, '_, '_>, cond: Expr, then: impl FnOnce(&mut Call<'_, '_, '_>) -> Value) -> Value {
    let invalid = Expr::int(EINVAL as u128, 32);
    let result =
        call.either(cond, Type::I32, |call| then(call).map_or(Expr::int(0, 32), |(result, _)| result), |_| invalid);
    call.as_int(result)
}

/// In a program that runs for real, waits for a lock until the deadline. The try that follows has the result.
fn await_until(call: &mut Call<'_, '_, '_>, what: u128, at: &Expr, deadline: &Expr) {
    let clock = if call.name.contains("_clock") { call.int(1) } else { Expr::int(0, 32) };
    call.call_model("__leno_await", vec![Expr::int(what, 32), at.clone(), clock, deadline.clone()]);
}

/// A `try` step for a call with a deadline, which is looked at before.
fn timed(call: &mut Call<'_, '_, '_>, op: SyncOp, deadline: usize) -> Value {
    let (at, deadline) = (call.pointer(0), call.pointer(deadline));
    let (_, is_time) = call.time(deadline.clone());
    let what = if op == SyncOp::TryReadLock { 1 } else { 2 };
    or_invalid(call, is_time, |call| {
        await_until(call, what, &at, &deadline);
        let result = call.sync(op, at);
        call.as_int(call.replace(&result, EBUSY, ETIMEDOUT, result.clone()))
    })
}

/// The same for a mutex, where the deadline may be invalid if the mutex is free. (It is read all the same: there is nothing
/// that prediction would have to decide then.)
fn timed_lock(call: &mut Call<'_, '_, '_>, deadline: usize) -> Value {
    let (at, deadline) = (call.pointer(0), call.pointer(deadline));
    let (_, is_time) = call.time(deadline.clone());
    let is_time = call.builder.materialize(is_time);
    await_until(call, 0, &at, &deadline);
    let result = call.sync(SyncOp::TryLock(LockKind::Mutex), at);
    let is_busy = call.equals(&result, EBUSY);
    let refused = call.builder.select(is_time, Expr::int(ETIMEDOUT as u128, 32), Expr::int(EINVAL as u128, 32));
    call.as_int(call.builder.select(is_busy, refused, result))
}

/// A wait for a condition variable with a deadline, which is looked at before.
fn timed_wait(call: &mut Call<'_, '_, '_>, deadline: usize) -> Value {
    let time = call.pointer(deadline);
    let (_, is_time) = call.time(time);
    or_invalid(call, is_time, |call| {
        let result = wait(call, Some(deadline));
        call.as_int(result)
    })
}

/// An error number as one of C11's.
fn c11(call: &mut Call<'_, '_, '_>, result: Expr) -> Value {
    let result = call.builder.materialize(result);
    let error = call.replace(&result, 0, 0, Expr::int(THRD_ERROR as u128, 32));
    let error = call.replace(&result, ETIMEDOUT, THRD_TIMEDOUT, error);
    call.as_int(call.replace(&result, EBUSY, THRD_BUSY, error))
}

fn init_mutex(call: &mut Call<'_, '_, '_>) -> Value {
    let (at, attributes) = (call.pointer(0), call.pointer(1));
    let mut kind = call.attribute(attributes);
    if call.is_loaded("pthread_mutexattr_setpshared") {
        // The other bits make no difference.
        kind = call.builder.binary(BinaryOp::And, kind, Expr::int(3, 32));
    }
    let result = call.sync(SyncOp::LockInit { lock: LockKind::Mutex, kind }, at);
    call.as_int(result)
}

/// Waits for the condition variable (argument 0) with the mutex (argument 1), until the deadline that an argument
/// points to.
fn wait(call: &mut Call<'_, '_, '_>, deadline: Option<usize>) -> Expr {
    let (at, mutex) = (call.pointer(0), call.pointer(1));
    let deadline = deadline.map(|index| call.pointer(index));
    let model_args = vec![at.clone(), mutex.clone(), deadline.clone().unwrap_or(Expr::NULL)];
    if let Some(result) = call.call_model("__leno_cancellable_wait", model_args) {
        return result.unwrap_or_else(|| Expr::int(0, 32));
    }
    if !call.has_mutex_kinds() {
        call.sync_quietly(SyncOp::CondSleep { mutex: mutex.clone() }, at.clone());
        return woken(call, at, mutex, deadline);
    }
    // A mutex that checks may refuse to be given up: then the thread does not sleep, and the error is the result.
    let refused = call.sync(SyncOp::CondSleep { mutex: mutex.clone() }, at.clone());
    let sleeps = call.equals(&refused, 0);
    call.either(sleeps, Type::I32, |call| woken(call, at, mutex, deadline), |_| refused)
}

/// The rest of a wait: the end of the sleep, and the mutex again.
fn woken(call: &mut Call<'_, '_, '_>, at: Expr, mutex: Expr, deadline: Option<Expr>) -> Expr {
    let result = wake(call, at, mutex.clone(), deadline);
    call.sync_quietly(SyncOp::CondRelock, mutex);
    result
}

/// The second step of a wait. A spurious wake-up is a timeout without a deadline, and is not reported.
fn wake(call: &mut Call<'_, '_, '_>, at: Expr, mutex: Expr, deadline: Option<Expr>) -> Expr {
    if deadline.is_none() && call.options().spurious_wakeups {
        call.sync_quietly(SyncOp::CondWake { mutex, deadline: Some(Expr::NULL) }, at);
        return Expr::int(0, 32);
    }
    call.sync(SyncOp::CondWake { mutex, deadline }, at)
}

fn wait_at_barrier(call: &mut Call<'_, '_, '_>) -> Value {
    let at = call.pointer(0);
    let ticket = call.builder.new_temp(Type::Int(64));
    call.builder.push(Op::Sync { dst: Some(ticket), op: SyncOp::BarrierArrive, at: at.clone() });
    let result = call.sync(SyncOp::BarrierLeave { ticket: Expr::Local(ticket) }, at);
    call.as_int(result)
}

fn run_once(call: &mut Call<'_, '_, '_>) {
    let (at, routine) = (call.pointer(0), call.pointer(1));
    let is_first = call.sync(SyncOp::OnceBegin, at.clone());
    let is_first = call.equals(&is_first, 1);
    call.when(is_first, |call| {
        let callee = match routine {
            Expr::Function(function) => Callee::Direct(function),
            pointer => Callee::Indirect(pointer),
        };
        call.builder.push(Op::Call { dst: None, callee, args: Vec::new() });
        call.sync_quietly(SyncOp::OnceEnd, at);
    });
}
