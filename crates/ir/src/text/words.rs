//! The words of the textual form, each in one place for both directions.

use crate::program::{
    BinaryOp, CastOp, DataModel, Expr, FloatKind, LockKind, ObjectKind, Order, Property, Reuse, RmwOp, Storage, SyncOp,
    Type, UnaryOp,
};

/// Something that is written as a single word.
pub(super) trait Word: Sized + Copy {
    fn as_word(self) -> &'static str;
    fn from_word(word: &str) -> Option<Self>;
}

macro_rules! words {
    ($type:ident { $($variant:ident = $word:literal),* $(,)? }) => {
        impl Word for $type {
            fn as_word(self) -> &'static str {
                match self { $($type::$variant => $word),* }
            }
            fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some($type::$variant),)* _ => None }
            }
        }
    };
}

words!(DataModel { Lp64 = "lp64", Ilp32 = "ilp32" });
words!(FloatKind { F32 = "f32", F64 = "f64", F80 = "f80" });
words!(ObjectKind { Global = "global", Constant = "constant", ThreadLocal = "thread_local", External = "external" });
words!(Order {
    NotAtomic = "not_atomic",
    Relaxed = "relaxed",
    Acquire = "acquire",
    Release = "release",
    AcqRel = "acq_rel",
    SeqCst = "seq_cst",
});
words!(RmwOp { Exchange = "exchange", Add = "add", Sub = "sub", And = "and", Or = "or", Xor = "xor", Nand = "nand" });
words!(Reuse { Unnoticed = "unnoticed", ByAddress = "by_address", ByNumber = "by_number" });
words!(Storage { Heap = "heap", Stack = "stack" });
words!(Property {
    Assertion = "assertion",
    DivisionByZero = "division_by_zero",
    QuotientOverflow = "quotient_overflow",
    IndexOutOfBounds = "index_out_of_bounds",
    SignedOverflow = "signed_overflow",
    Unsequenced = "unsequenced",
    OverlappingCopy = "overlapping_copy",
    InvalidArgument = "invalid_argument",
});
words!(UnaryOp { Neg = "neg", Not = "not", FNeg = "fneg", FSqrt = "fsqrt", FAbs = "fabs" });
words!(BinaryOp {
    Add = "add",
    Sub = "sub",
    Mul = "mul",
    UDiv = "udiv",
    SDiv = "sdiv",
    URem = "urem",
    SRem = "srem",
    Shl = "shl",
    LShr = "lshr",
    AShr = "ashr",
    And = "and",
    Or = "or",
    Xor = "xor",
    Eq = "eq",
    Ne = "ne",
    ULt = "ult",
    ULe = "ule",
    SLt = "slt",
    SLe = "sle",
    SAddOverflow = "sadd_overflow",
    SSubOverflow = "ssub_overflow",
    SMulOverflow = "smul_overflow",
    UAddOverflow = "uadd_overflow",
    USubOverflow = "usub_overflow",
    UMulOverflow = "umul_overflow",
    PtrAdd = "ptr_add",
    PtrDiff = "ptr_diff",
    FAdd = "fadd",
    FSub = "fsub",
    FMul = "fmul",
    FDiv = "fdiv",
    FEq = "feq",
    FNe = "fne",
    FLt = "flt",
    FLe = "fle",
});
words!(CastOp {
    Truncate = "trunc",
    ZeroExtend = "zext",
    SignExtend = "sext",
    PtrToInt = "ptr_to_int",
    IntToPtr = "int_to_ptr",
    UIntToFloat = "uint_to_float",
    SIntToFloat = "sint_to_float",
    FloatToUInt = "float_to_uint",
    FloatToSInt = "float_to_sint",
    FloatToFloat = "float_to_float",
    Bitcast = "bitcast",
});

/// `i1` to `i128`, `ptr`, `f32`, `f64`, `f80`.
pub(super) fn type_from_word(word: &str) -> Option<Type> {
    if word == "ptr" {
        return Some(Type::Ptr);
    }
    if let Some(kind) = FloatKind::from_word(word) {
        return Some(Type::Float(kind));
    }
    let digits = word.strip_prefix('i')?;
    if digits.is_empty() || digits.len() > 3 || digits.starts_with('0') || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let bits = digits.parse().ok()?;
    (bits <= 128).then_some(Type::Int(bits))
}

/// The word of a synchronisation step, and its operands after the address.
pub(super) fn sync_parts(op: &SyncOp) -> (&'static str, Vec<&Expr>) {
    use LockKind::{Mutex, Spin};
    match op {
        SyncOp::LockInit { lock: Mutex, kind } => ("mutex_init", vec![kind]),
        SyncOp::LockInit { lock: Spin, kind } => ("spin_init", vec![kind]),
        SyncOp::LockDestroy(Mutex) => ("mutex_destroy", vec![]),
        SyncOp::LockDestroy(Spin) => ("spin_destroy", vec![]),
        SyncOp::Lock(Mutex) => ("mutex_lock", vec![]),
        SyncOp::Lock(Spin) => ("spin_lock", vec![]),
        SyncOp::TryLock(Mutex) => ("mutex_trylock", vec![]),
        SyncOp::TryLock(Spin) => ("spin_trylock", vec![]),
        SyncOp::Unlock(Mutex) => ("mutex_unlock", vec![]),
        SyncOp::Unlock(Spin) => ("spin_unlock", vec![]),
        SyncOp::RwInit => ("rw_init", vec![]),
        SyncOp::RwDestroy => ("rw_destroy", vec![]),
        SyncOp::ReadLock => ("rw_read_lock", vec![]),
        SyncOp::TryReadLock => ("rw_try_read_lock", vec![]),
        SyncOp::WriteLock => ("rw_write_lock", vec![]),
        SyncOp::TryWriteLock => ("rw_try_write_lock", vec![]),
        SyncOp::RwUnlock => ("rw_unlock", vec![]),
        SyncOp::CondInit => ("cond_init", vec![]),
        SyncOp::CondDestroy => ("cond_destroy", vec![]),
        SyncOp::CondSleep { mutex } => ("cond_sleep", vec![mutex]),
        SyncOp::CondWake { mutex, deadline: None } => ("cond_wake", vec![mutex]),
        SyncOp::CondWake { mutex, deadline: Some(deadline) } => ("cond_wake", vec![mutex, deadline]),
        SyncOp::CondRelock => ("cond_relock", vec![]),
        SyncOp::CondSignal => ("cond_signal", vec![]),
        SyncOp::CondBroadcast => ("cond_broadcast", vec![]),
        SyncOp::SemInit { value } => ("sem_init", vec![value]),
        SyncOp::SemDestroy => ("sem_destroy", vec![]),
        SyncOp::SemWait => ("sem_wait", vec![]),
        SyncOp::SemTryWait => ("sem_trywait", vec![]),
        SyncOp::SemPost => ("sem_post", vec![]),
        SyncOp::SemGetValue => ("sem_get_value", vec![]),
        SyncOp::BarrierInit { count } => ("barrier_init", vec![count]),
        SyncOp::BarrierDestroy => ("barrier_destroy", vec![]),
        SyncOp::BarrierArrive => ("barrier_arrive", vec![]),
        SyncOp::BarrierLeave { ticket } => ("barrier_leave", vec![ticket]),
        SyncOp::OnceBegin => ("once_begin", vec![]),
        SyncOp::OnceEnd => ("once_end", vec![]),
    }
}

/// How many operands a synchronisation step may have after its address; none if it is no such word.
pub(super) fn sync_arity(word: &str) -> Option<std::ops::RangeInclusive<usize>> {
    match word {
        "cond_wake" => Some(1..=2),
        "mutex_init" | "spin_init" | "cond_sleep" | "sem_init" | "barrier_init" | "barrier_leave" => Some(1..=1),
        _ => sync_without_operands(word).map(|_| 0..=0),
    }
}

/// The inverse of [`sync_parts`].
pub(super) fn sync_from_parts(word: &str, operands: Vec<Expr>) -> Option<SyncOp> {
    let mut operands = operands.into_iter();
    let first = operands.next();
    let second = operands.next();
    if operands.next().is_some() {
        return None;
    }
    match (word, first, second) {
        ("mutex_init", Some(kind), None) => Some(SyncOp::LockInit { lock: LockKind::Mutex, kind }),
        ("spin_init", Some(kind), None) => Some(SyncOp::LockInit { lock: LockKind::Spin, kind }),
        ("cond_sleep", Some(mutex), None) => Some(SyncOp::CondSleep { mutex }),
        ("cond_wake", Some(mutex), deadline) => Some(SyncOp::CondWake { mutex, deadline }),
        ("sem_init", Some(value), None) => Some(SyncOp::SemInit { value }),
        ("barrier_init", Some(count), None) => Some(SyncOp::BarrierInit { count }),
        ("barrier_leave", Some(ticket), None) => Some(SyncOp::BarrierLeave { ticket }),
        (_, None, None) => sync_without_operands(word),
        _ => None,
    }
}

fn sync_without_operands(word: &str) -> Option<SyncOp> {
    use LockKind::{Mutex, Spin};
    Some(match word {
        "mutex_destroy" => SyncOp::LockDestroy(Mutex),
        "spin_destroy" => SyncOp::LockDestroy(Spin),
        "mutex_lock" => SyncOp::Lock(Mutex),
        "spin_lock" => SyncOp::Lock(Spin),
        "mutex_trylock" => SyncOp::TryLock(Mutex),
        "spin_trylock" => SyncOp::TryLock(Spin),
        "mutex_unlock" => SyncOp::Unlock(Mutex),
        "spin_unlock" => SyncOp::Unlock(Spin),
        "rw_init" => SyncOp::RwInit,
        "rw_destroy" => SyncOp::RwDestroy,
        "rw_read_lock" => SyncOp::ReadLock,
        "rw_try_read_lock" => SyncOp::TryReadLock,
        "rw_write_lock" => SyncOp::WriteLock,
        "rw_try_write_lock" => SyncOp::TryWriteLock,
        "rw_unlock" => SyncOp::RwUnlock,
        "cond_init" => SyncOp::CondInit,
        "cond_destroy" => SyncOp::CondDestroy,
        "cond_relock" => SyncOp::CondRelock,
        "cond_signal" => SyncOp::CondSignal,
        "cond_broadcast" => SyncOp::CondBroadcast,
        "sem_destroy" => SyncOp::SemDestroy,
        "sem_wait" => SyncOp::SemWait,
        "sem_trywait" => SyncOp::SemTryWait,
        "sem_post" => SyncOp::SemPost,
        "sem_get_value" => SyncOp::SemGetValue,
        "barrier_destroy" => SyncOp::BarrierDestroy,
        "barrier_arrive" => SyncOp::BarrierArrive,
        "once_begin" => SyncOp::OnceBegin,
        "once_end" => SyncOp::OnceEnd,
        _ => return None,
    })
}
