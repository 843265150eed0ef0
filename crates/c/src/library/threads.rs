//! Threads: creation, joining, ending; those of POSIX, of C11, and of GenMC.
//!
//! A program that uses thread-specific data, cleanup handlers or cancellation has a model of what happens at a thread's
//! end, and its threads start and end there (`models/thread.c`). In all others, a thread is its start routine.

use super::recipe::{Call, Recipe, Value};
use crate::lower::plain_access;
use leno_ir::program::{Access, BinaryOp, CastOp, Expr, Op, TerminatorKind, Type};

const EBUSY: i32 = 16;
const ETIMEDOUT: i32 = 110;

pub(super) fn recipe(name: &str) -> Option<Recipe> {
    Some(match name {
        "pthread_create" => create,
        "pthread_join" => join,
        "pthread_tryjoin_np" => |call| try_join(call, EBUSY),
        "pthread_timedjoin_np" => |call| timed_join(call, 2),
        "pthread_clockjoin_np" => |call| timed_join(call, 3),
        "pthread_detach" | "thrd_detach" | "__leno_detach" => detach,
        "pthread_exit" | "__VERIFIER_thread_exit" => |call| {
            let result = call.word(0);
            leave(call, result)
        },
        "thrd_exit" => |call| {
            let result = call.int(0);
            let result = call.builder.resize(result, call.builder.word(), true);
            leave(call, result)
        },
        "pthread_self" | "thrd_current" | "__VERIFIER_thread_self" | "__leno_self" => |call| {
            let own = own_handle(call);
            call.as_word(own)
        },
        "__VERIFIER_tid" => |call| {
            let own = own_handle(call);
            call.as_int(call.builder.resize(own, Type::I32, false))
        },
        "pthread_equal" | "thrd_equal" => |call| {
            let (left, right) = (call.word(0), call.word(1));
            let same = call.builder.binary(BinaryOp::Eq, left, right);
            call.as_int(call.builder.cast(CastOp::ZeroExtend, Type::I32, same))
        },
        "thrd_create" => |call| {
            let (handle, function, argument) = (call.pointer(0), call.pointer(1), call.pointer(2));
            let failed = start(call, handle, function, argument);
            call.as_int(call.replace(&failed, 0, 0, Expr::int(2, 32)))
        },
        "thrd_join" => join_c11,
        "__VERIFIER_thread_create" | "__VERIFIER_thread_create_symmetric" => create_genmc,
        "__VERIFIER_thread_join" => |call| {
            let thread = call.word(0);
            let result = join_thread(call, thread);
            call.as_pointer(call.word_to_pointer(result))
        },
        "__leno_spawn" => spawn,
        "__leno_exit_thread" => |call| {
            let result = call.word(0);
            call.terminate(TerminatorKind::ThreadExit(result))
        },
        _ => return None,
    })
}

fn create(call: &mut Call<'_, '_, '_>) -> Value {
    let (handle, attributes) = (call.pointer(0), call.pointer(1));
    let (function, argument) = (call.pointer(2), call.pointer(3));
    let state = call.attribute(attributes);
    let is_detached = call.equals(&state, 1);
    let failed = start(call, handle.clone(), function, argument);
    call.when(is_detached, |call| {
        let thread = call.builder.load(handle, call.builder.word());
        call.builder.push(Op::Detach { thread });
    });
    call.as_int(failed)
}

/// Starts a thread of `function(argument)`: 0, or an error number.
fn start(call: &mut Call<'_, '_, '_>, handle: Expr, function: Expr, argument: Expr) -> Expr {
    let model_args = vec![handle.clone(), function.clone(), argument.clone()];
    if let Some(result) = call.call_model("__leno_create_thread", model_args) {
        return result.unwrap_or_else(|| Expr::int(0, 32));
    }
    let handle = Some(handle_access(call, handle));
    let op = match call.builder.function_named("__leno_thread_start") {
        Some(start) => Op::Spawn { handle, func: Expr::Function(start), args: vec![function, argument] },
        None => Op::Spawn { handle, func: function, args: vec![argument] },
    };
    call.builder.push(op);
    Expr::int(0, 32)
}

fn handle_access(call: &Call<'_, '_, '_>, handle: Expr) -> Access {
    plain_access(handle, call.builder.word())
}

/// `__leno_spawn(handle, function, arguments…)`
fn spawn(call: &mut Call<'_, '_, '_>) -> Value {
    let (handle, func) = (call.pointer(0), call.pointer(1));
    let handle = Some(handle_access(call, handle));
    let args = call.args.iter().skip(2).map(|arg| arg.value.clone()).collect();
    call.builder.push(Op::Spawn { handle, func, args });
    None
}

/// `long __VERIFIER_thread_create(attributes, function, argument)`: the thread itself is the result.
fn create_genmc(call: &mut Call<'_, '_, '_>) -> Value {
    let (function, argument) = (call.pointer(1), call.pointer(2));
    let word = call.builder.word();
    let bytes = call.builder.model().pointer_bytes();
    let handle = Expr::Slot(call.builder.new_slot("thread", bytes, bytes as u32));
    start(call, handle.clone(), function, argument);
    let thread = call.builder.load(handle, word);
    call.as_word(thread)
}

fn join_thread(call: &mut Call<'_, '_, '_>, thread: Expr) -> Expr {
    call.call_model("__leno_await_end", vec![thread.clone()]);
    let result = call.builder.new_temp(call.builder.word());
    call.builder.push(Op::Join { dst: Some(result), thread });
    Expr::Local(result)
}

fn join(call: &mut Call<'_, '_, '_>) -> Value {
    let (thread, place) = (call.word(0), call.pointer(1));
    join_into(call, thread, place);
    call.number(0)
}

fn join_into(call: &mut Call<'_, '_, '_>, thread: Expr, place: Expr) {
    let result = join_thread(call, thread);
    let is_wanted = call.is_not_null(&place);
    call.when(is_wanted, |call| {
        let result = call.word_to_pointer(result);
        call.builder.store(place, Type::Ptr, result);
    });
}

fn join_c11(call: &mut Call<'_, '_, '_>) -> Value {
    let (thread, place) = (call.word(0), call.pointer(1));
    let result = join_thread(call, thread);
    let is_wanted = call.is_not_null(&place);
    call.when(is_wanted, |call| {
        let result = call.builder.resize(result, Type::I32, false);
        call.builder.store(place, Type::I32, result);
    });
    call.number(0)
}

/// Waits for the thread, or gives up: either may happen at any time.
fn try_join(call: &mut Call<'_, '_, '_>, error: i32) -> Value {
    let (thread, place) = (call.word(0), call.pointer(1));
    let gives_up = call.builder.nondet(Type::BOOL);
    // (Who tries to join itself finds that it has not ended.)
    let own = own_handle(call);
    let is_own = call.builder.binary(BinaryOp::Eq, thread.clone(), own);
    let gives_up = call.builder.binary(BinaryOp::Or, gives_up, is_own);
    let result = call.either(
        gives_up,
        Type::I32,
        |_| Expr::int(error as u128, 32),
        |call| {
            join_into(call, thread, place);
            Expr::int(0, 32)
        },
    );
    call.as_int(result)
}

/// The same with a deadline, which is read. Without one, the end is waited for.
fn timed_join(call: &mut Call<'_, '_, '_>, deadline: usize) -> Value {
    let deadline = call.pointer(deadline);
    let has_deadline = call.is_not_null(&deadline);
    let result = call.either(
        has_deadline,
        Type::I32,
        |call| {
            let (_, is_time) = call.time(deadline);
            call.use_value(is_time);
            try_join(call, ETIMEDOUT).map_or(Expr::int(0, 32), |(result, _)| result)
        },
        |call| join(call).map_or(Expr::int(0, 32), |(result, _)| result),
    );
    call.as_int(result)
}

fn detach(call: &mut Call<'_, '_, '_>) -> Value {
    let thread = call.word(0);
    call.builder.push(Op::Detach { thread });
    call.number(0)
}

/// Ends the calling thread.
fn leave(call: &mut Call<'_, '_, '_>, result: Expr) -> Value {
    if call.is_loaded("__leno_thread_leave") {
        let pointer = call.word_to_pointer(result);
        call.call_model("__leno_thread_leave", vec![pointer]);
        return call.terminate(TerminatorKind::Unreachable);
    }
    call.terminate(TerminatorKind::ThreadExit(result))
}

fn own_handle(call: &mut Call<'_, '_, '_>) -> Expr {
    let dst = call.builder.new_temp(call.builder.word());
    call.builder.push(Op::ThreadSelf { dst });
    Expr::Local(dst)
}
