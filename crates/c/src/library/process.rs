//! Memory, the end of the process, waiting, and assertions of C itself.

use super::recipe::{Call, Recipe, Value};
use leno_ir::program::{BinaryOp, Expr, Op, Property, Storage, TerminatorKind, Type};

/// What `malloc` aligns to.
const MALLOC_ALIGN: u32 = 16;

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
            let result = if call.options().real_process { sleep(call) } else { yield_zero(call) };
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

fn allocate(call: &mut Call<'_, '_, '_>, size: Expr, align: u32, zeroed: bool) -> Expr {
    let allocate_now = |call: &mut Call<'_, '_, '_>| {
        let dst = call.builder.new_temp(Type::Ptr);
        call.builder.push(Op::Allocate { dst, size, align, storage: Storage::Heap, zeroed });
        Expr::Local(dst)
    };
    if !call.options().allocation_may_fail {
        return allocate_now(call);
    }
    let fails = call.builder.nondet(Type::BOOL);
    call.either(fails, Type::Ptr, |_| Expr::NULL, allocate_now)
}

fn calloc(call: &mut Call<'_, '_, '_>) -> Value {
    let (count, size) = (call.word(0), call.word(1));
    let (count, size) = (call.builder.reusable(count), call.builder.reusable(size));
    let is_too_much = call.builder.binary(BinaryOp::UMulOverflow, count.clone(), size.clone());
    let total = call.builder.binary(BinaryOp::Mul, count, size);
    let object = call.either(is_too_much, Type::Ptr, |_| Expr::NULL, |call| allocate(call, total, MALLOC_ALIGN, true));
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
