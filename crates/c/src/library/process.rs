//! Memory, the end of the process, waiting, and assertions of C itself.

use super::recipe::{Call, Recipe, Value};
use leno_ir::program::{BinaryOp, Expr, Op, Property, Storage, TerminatorKind, Type};

/// What `malloc` aligns to.
const MALLOC_ALIGN: u32 = 16;

const ENOMEM: i32 = 12;
const EINVAL: i32 = 22;

pub(super) fn recipe(name: &str) -> Option<Recipe> {
    Some(match name {
        "malloc" | "__VERIFIER_malloc" | "__VERIFIER_palloc" => |call| {
            let size = call.word(0);
            let object = allocate(call, size, MALLOC_ALIGN, false);
            call.as_pointer(object)
        },
        "calloc" => calloc,
        "free" | "__VERIFIER_free" => |call| {
            let ptr = call.pointer(0);
            call.builder.push(Op::Free { ptr, storage: Storage::Heap });
            None
        },
        "__leno_allocate" | "__VERIFIER_malloc_aligned" => allocate_aligned,
        "__leno_object_size" => |call| {
            let ptr = call.pointer(0);
            let dst = call.builder.new_temp(call.builder.word());
            call.builder.push(Op::ObjectSize { dst, ptr });
            call.as_word(Expr::Local(dst))
        },

        "abort" | "__stack_chk_fail" | "__chk_fail" | "__fortify_fail" => |call| call.terminate(TerminatorKind::Abort),
        "exit" => |call| {
            let status = call.int(0);
            call.call_model("__leno_run_exit_handlers", vec![status.clone()]);
            call.builder.run_destructors();
            call.terminate(TerminatorKind::Exit(status))
        },
        "_exit" | "_Exit" | "__leno_exit_now" => |call| {
            let status = call.int(0);
            call.call_model("__leno_end_at_once", Vec::new());
            call.terminate(TerminatorKind::Exit(status))
        },
        "__pthread_unwind_next" => |call| call.terminate(TerminatorKind::Unreachable),

        "__assert_fail" | "__assert" | "__assert_rtn" | "__VERIFIER_assert_fail" => assertion_failed,
        "__assert_perror_fail" => |call| {
            call.builder.assert(Expr::bool(false), Property::Assertion, "assert_perror");
            call.terminate(TerminatorKind::Abort)
        },
        "assert" => |call| {
            let cond = call.truth(0);
            let text = call.builder.call_text();
            call.builder.assert(cond, Property::Assertion, &text);
            None
        },

        "sched_yield" | "pthread_yield" | "__ESBMC_yield" => yield_zero,
        "sleep" | "usleep" | "nanosleep" | "clock_nanosleep" | "thrd_sleep" => |call| {
            let result = if call.options().real_process { sleep(call) } else { sleep_no_time(call) };
            call.cancellation_point();
            result
        },
        "thrd_yield" | "__leno_yield" => |call| {
            call.builder.push(Op::Yield);
            None
        },
        _ => return None,
    })
}

/// More than half of the address space is never there (`PTRDIFF_MAX`). (Seen where the size is a constant; other sizes that
/// large have no verdict.)
fn is_too_large(call: &Call<'_, '_, '_>, size: &Expr) -> bool {
    matches!(size, Expr::Const { bits, .. } if bits >> (call.builder.model().pointer_bits() - 1) != 0)
}

fn allocate(call: &mut Call<'_, '_, '_>, size: Expr, align: u32, zeroed: bool) -> Expr {
    if is_too_large(call, &size) {
        return no_memory(call);
    }
    let allocate_now = |call: &mut Call<'_, '_, '_>| {
        let dst = call.builder.new_temp(Type::Ptr);
        call.builder.push(Op::Allocate { dst, size, align, storage: Storage::Heap, zeroed });
        Expr::Local(dst)
    };
    if !call.options().allocation_may_fail {
        return allocate_now(call);
    }
    let fails = call.builder.nondet(Type::BOOL);
    call.either(fails, Type::Ptr, no_memory, allocate_now)
}

fn no_memory(call: &mut Call<'_, '_, '_>) -> Expr {
    call.set_errno(ENOMEM);
    Expr::NULL
}

fn calloc(call: &mut Call<'_, '_, '_>) -> Value {
    let (count, size) = (call.word(0), call.word(1));
    let (count, size) = (call.builder.reusable(count), call.builder.reusable(size));
    let is_too_much = call.builder.binary(BinaryOp::UMulOverflow, count.clone(), size.clone());
    let total = call.builder.binary(BinaryOp::Mul, count, size);
    let object = call.either(is_too_much, Type::Ptr, no_memory, |call| allocate(call, total, MALLOC_ALIGN, true));
    call.as_pointer(object)
}

/// `__leno_allocate(size, align)`, where `align` is a constant (the models see to that).
fn allocate_aligned(call: &mut Call<'_, '_, '_>) -> Value {
    let (size, align) = match call.name {
        "__leno_allocate" => (call.word(0), call.word(1)),
        _ => (call.word(1), call.word(0)),
    };
    let align = match align {
        Expr::Const { bits, .. } if bits.is_power_of_two() && bits <= 1 << 20 => bits as u32,
        _ => 4096,
    };
    let object = allocate(call, size, align.max(MALLOC_ALIGN), false);
    call.as_pointer(object)
}

/// `__assert_fail("x == 1", file, line, function)`
fn assertion_failed(call: &mut Call<'_, '_, '_>) -> Value {
    // Darwin's `__assert_rtn` has the function first.
    let index = if call.name == "__assert_rtn" { 3 } else { 0 };
    let text = call.literal(index).unwrap_or_else(|| call.builder.call_text());
    call.builder.assert(Expr::bool(false), Property::Assertion, &text);
    call.terminate(TerminatorKind::Abort)
}

fn yield_zero(call: &mut Call<'_, '_, '_>) -> Value {
    call.builder.push(Op::Yield);
    call.number(0)
}

/// A sleep that takes no time. The time is read all the same, and has to be one. It is never interrupted, so that nothing is
/// written to where the rest would be.
fn sleep_no_time(call: &mut Call<'_, '_, '_>) -> Value {
    let time = match call.name {
        "clock_nanosleep" => call.pointer(2),
        "nanosleep" | "thrd_sleep" => call.pointer(0),
        _ => return yield_zero(call),
    };
    let (seconds, is_time) = call.time(time);
    let word = call.builder.model().pointer_bits();
    let is_later = call.builder.binary(BinaryOp::SLe, Expr::int(0, word), seconds);
    let mut is_valid = call.builder.binary(BinaryOp::And, is_time, is_later);
    if call.name == "clock_nanosleep" {
        let is_clock = can_sleep_until(call);
        is_valid = call.builder.binary(BinaryOp::And, is_valid, is_clock);
    }
    let is_valid = call.builder.materialize(is_valid);
    // (Whatever becomes of the result.)
    call.use_value(is_valid.clone());
    call.builder.push(Op::Yield);
    let result = match call.name {
        "clock_nanosleep" => Expr::int(22, 32),
        "nanosleep" => Expr::int(-1i32 as u32 as u128, 32),
        _ => Expr::int(-2i32 as u32 as u128, 32),
    };
    let result = call.builder.select(is_valid, Expr::int(0, 32), result);
    let result = call.builder.materialize(result);
    let result = if call.name == "nanosleep" { call.failing_with(result, EINVAL) } else { result };
    call.as_int(result)
}

/// Whether the first argument is a clock that one can sleep by: an `i1`. (Not the thread's own time, which stands still then.)
fn can_sleep_until(call: &mut Call<'_, '_, '_>) -> Expr {
    let clock = call.int(0);
    let clock = call.builder.reusable(clock);
    let is_thread_time = call.equals(&clock, 3);
    let is_clock = call.builder.binary(BinaryOp::ULe, clock, Expr::int(11, 32));
    let is_other = call.builder.binary(BinaryOp::Eq, is_thread_time, Expr::bool(false));
    call.builder.binary(BinaryOp::And, is_clock, is_other)
}

/// A sleep that takes its time: a model knows how.
fn sleep(call: &mut Call<'_, '_, '_>) -> Value {
    let args = match call.name {
        "sleep" | "usleep" => vec![call.int(0)],
        "clock_nanosleep" => vec![call.int(0), call.int(1), call.pointer(2), call.pointer(3)],
        _ => vec![call.pointer(0), call.pointer(1)],
    };
    let result = call.call_model(&format!("__leno_{}", call.name), args).flatten()?;
    call.as_int(result)
}

impl Call<'_, '_, '_> {
    /// The text of an argument that is a string literal.
    pub fn literal(&self, index: usize) -> Option<String> {
        self.builder.literal(&self.args.get(index)?.value)
    }
}
