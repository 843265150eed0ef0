//! The words of verification: SV-COMP's `__VERIFIER_*` and `reach_error`, CBMC's `__CPROVER_*`, ESBMC's `__ESBMC_*`,
//! Goblint's, GenMC's and Dat3M's hints, and bare `nondet_int()`.
//!
//! Programs often give these names bodies, to be compilable (`void reach_error() { assert(0); }`,
//! `int __VERIFIER_nondet_int() { int x; return x; }`). What a verifier should take them for is the name's meaning, not
//! the body's.

use super::recipe::{Call, Recipe, Value};
use crate::lower::Scalar;
use leno_ir::program::{CastOp, Expr, FloatKind, Op, Order, Property, TerminatorKind, Type};

/// What is said of a function that writes a text beyond an array that is a part of something larger.
pub const BEYOND_ARRAY: &str = "a text is written beyond the array";

pub(super) fn recipe(name: &str) -> Option<Recipe> {
    Some(match name {
        "reach_error" => |call| {
            call.builder.assert(Expr::bool(false), Property::Assertion, "reach_error()");
            None
        },
        "__VERIFIER_error" => |call| {
            call.builder.assert(Expr::bool(false), Property::Assertion, "__VERIFIER_error()");
            call.terminate(TerminatorKind::Abort)
        },
        "__VERIFIER_assert" | "__CPROVER_assert" | "__ESBMC_assert" | "__goblint_check" | "__goblint_assert" => assert,
        "__VERIFIER_assume" | "__CPROVER_assume" | "__ESBMC_assume" | "__goblint_assume" | "__leno_assume" => |call| {
            let cond = call.truth(0);
            call.builder.push(Op::Assume { cond });
            None
        },
        "__VERIFIER_atomic_begin" | "__CPROVER_atomic_begin" | "__ESBMC_atomic_begin" | "__leno_atomic_begin" => {
            |call| {
                call.builder.push(Op::AtomicBegin);
                None
            }
        }
        "__VERIFIER_atomic_end" | "__CPROVER_atomic_end" | "__ESBMC_atomic_end" | "__leno_atomic_end" => |call| {
            call.builder.push(Op::AtomicEnd);
            None
        },
        "__leno_assert_apart" => |call| {
            let cond = call.truth(0);
            call.builder.assert(cond, Property::OverlappingCopy, "the source and the target overlap");
            None
        },
        "__leno_assert_room" => |call| {
            let cond = call.truth(0);
            call.builder.assert(cond, Property::IndexOutOfBounds, BEYOND_ARRAY);
            None
        },
        "__leno_use" => |call| {
            let value = call.int(0);
            call.use_value(value);
            None
        },
        "__leno_attribute" => |call| {
            let place = call.pointer(0);
            let value = call.given_attribute(place);
            call.as_int(value)
        },
        "__leno_is_time" => |call| {
            let place = call.pointer(0);
            let (_, is_time) = call.time(place);
            call.as_int(call.builder.cast(CastOp::ZeroExtend, Type::I32, is_time))
        },
        "__CPROVER_fence" => |call| {
            call.builder.push(Op::Fence { order: Order::SeqCst });
            None
        },
        // Hints that change no behaviour.
        "__VERIFIER_loop_begin"
        | "__VERIFIER_loop_bound"
        | "__VERIFIER_spin_start"
        | "__VERIFIER_spin_end"
        | "__VERIFIER_annotate_begin"
        | "__VERIFIER_annotate_end"
        | "__VERIFIER_method_begin"
        | "__VERIFIER_method_end"
        | "__VERIFIER_pbarrier"
        | "__CPROVER_cover"
        | "__CPROVER_input"
        | "__CPROVER_output"
        | "__goblint_split_begin"
        | "__goblint_split_end" => |_| None,
        "__goblint_unknown" => havoc_int,
        _ if nondet_suffix(name).is_some() => nondet,
        _ => return None,
    })
}

/// `assert(condition)` or `assert(condition, "message")`
fn assert(call: &mut Call<'_, '_, '_>) -> Value {
    let cond = call.truth(0);
    let text = call.literal(1).unwrap_or_else(|| call.builder.call_text());
    call.builder.assert(cond, Property::Assertion, &text);
    None
}

/// `__goblint_unknown(&x)`: an int of any value.
fn havoc_int(call: &mut Call<'_, '_, '_>) -> Value {
    let place = call.pointer(0);
    let to = call.int_access(place);
    let value = call.builder.nondet(Type::I32);
    call.builder.push(Op::Store { to, value });
    None
}

/// The type's name in `__VERIFIER_nondet_int` and its like.
fn nondet_suffix(name: &str) -> Option<&str> {
    if name == "__VERIFIER_nondet_memory" {
        return None;
    }
    let vocabulary = ["__VERIFIER_nondet_", "__CPROVER_nondet_", "__ESBMC_nondet_", "__leno_nondet_"];
    if let Some(suffix) = vocabulary.iter().find_map(|prefix| name.strip_prefix(prefix)) {
        return Some(suffix);
    }
    // Without a tool's name in it, the name must at least say a type.
    name.strip_prefix("nondet_").filter(|suffix| named_type(suffix, 64).is_some())
}

/// Any value of the type in the name, or of the declared one when the name's is not known.
fn nondet(call: &mut Call<'_, '_, '_>) -> Value {
    let suffix = nondet_suffix(call.name)?;
    let named = named_type(suffix, call.builder.model().pointer_bits());
    let declared = call.ret;
    let ty = match (named, declared) {
        (Some(Scalar::Bool), _) => Scalar::Bool,
        // `int nondet_uchar()` gives a character; a wider name than the declaration makes no difference.
        (Some(Scalar::Int { bits, signed }), Some(Scalar::Int { bits: room, .. })) if bits < room => {
            Scalar::Int { bits, signed }
        }
        (_, Some(declared)) => declared,
        (Some(named), None) => named,
        (None, None) => Scalar::INT,
    };
    if ty == Scalar::Bool {
        let bit = call.builder.nondet(Type::BOOL);
        return Some((call.builder.resize(bit, Type::I8, false), Scalar::Bool));
    }
    Some((call.builder.nondet(ty.ir()), ty))
}

fn named_type(suffix: &str, word: u16) -> Option<Scalar> {
    let int = |bits, signed| Some(Scalar::Int { bits, signed });
    match suffix {
        "bool" | "_Bool" => Some(Scalar::Bool),
        "char" | "schar" | "signed_char" | "int8" | "int8_t" | "s8" | "S8" => int(8, true),
        "uchar" | "unsigned_char" | "uint8" | "uint8_t" | "u8" | "U8" => int(8, false),
        "short" | "int16" | "int16_t" | "s16" | "S16" => int(16, true),
        "ushort" | "unsigned_short" | "uint16" | "uint16_t" | "u16" | "U16" => int(16, false),
        "int" | "int32" | "int32_t" | "s32" | "S32" => int(32, true),
        "uint" | "unsigned" | "unsigned_int" | "uint32" | "uint32_t" | "u32" | "U32" => int(32, false),
        "long" | "ssize_t" | "ptrdiff_t" | "intptr_t" => int(word, true),
        "ulong" | "unsigned_long" | "size_t" | "uintptr_t" | "pthread_t" => int(word, false),
        "longlong" | "llong" | "long_long" | "int64" | "int64_t" | "s64" | "S64" | "loff_t" => int(64, true),
        "ulonglong" | "ullong" | "uint64" | "uint64_t" | "u64" | "U64" | "sector_t" => int(64, false),
        "int128" | "__int128" => int(128, true),
        "uint128" | "unsigned___int128" => int(128, false),
        "float" => Some(Scalar::Float(FloatKind::F32)),
        "double" => Some(Scalar::Float(FloatKind::F64)),
        "longdouble" | "long_double" | "ldouble" => Some(Scalar::Float(FloatKind::F80)),
        "pointer" | "pchar" | "ptr" | "void_ptr" | "charp" | "const_char_pointer" => Some(Scalar::Pointer),
        _ => None,
    }
}

/// Whether the name means what it means whatever body the program gives it.
pub fn overrides_definition(name: &str) -> bool {
    let is_reserved = ["__VERIFIER_", "__CPROVER_", "__ESBMC_"].iter().any(|prefix| name.starts_with(prefix));
    match name {
        "reach_error" => true,
        // Programs define it in terms of the others, sometimes with a twist that is meant.
        "__VERIFIER_assert" => false,
        _ => is_reserved && recipe(name).is_some(),
    }
}

/// Whether the name means what a verifier takes it for, even if it is not declared, and `int name()` is not wrong
/// about it.
pub fn is_vocabulary(name: &str) -> bool {
    let returns_int = !name.contains("nondet_") || name.ends_with("nondet_int");
    name == "assert" || (returns_int && recipe(name).is_some())
}

/// Whether the bodies of functions of this name run without interruption.
pub fn is_atomic_function(name: &str) -> bool {
    name.starts_with("__VERIFIER_atomic_") && !overrides_definition(name)
}
