//! The types that *are* the representation.
//!
//! A [`Program`] is functions of basic blocks, static objects, and an entry. Local variables whose address
//! is never taken are registers ([`Local`]); everything else lives in memory. Expressions are pure: they
//! never read memory. An instruction makes **at most one memory access**, so that a thread can be
//! interrupted between any two accesses, and a switch of threads between two instructions is as fine as
//! sequential consistency allows. The meaning of each instruction is on the semantics page of the book
//! (`docs/semantics.md`), and the interpreter is its executable form.

use crate::index::IndexVec;
use crate::index_type;

index_type!(FuncId, "f");
index_type!(BlockId, "b");
index_type!(
    /// A register of a function.
    LocalId,
    "%"
);
index_type!(
    /// A stack object of a function: fresh in each activation.
    SlotId,
    "$"
);
index_type!(
    /// A static object: global, thread-local, or string literal.
    ObjectId,
    "@"
);
index_type!(FileId, "file");
index_type!(TextId, "text");

/// Sizes of `long` and of pointers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum DataModel {
    #[default]
    Lp64,
    Ilp32,
}

impl DataModel {
    pub fn pointer_bits(self) -> u16 {
        match self {
            DataModel::Lp64 => 64,
            DataModel::Ilp32 => 32,
        }
    }

    pub fn pointer_bytes(self) -> u64 {
        u64::from(self.pointer_bits() / 8)
    }

    /// The integer type that a pointer converts to without loss; also the type of a thread handle.
    pub fn word(self) -> Type {
        Type::Int(self.pointer_bits())
    }
}

/// The type of a value. Signedness belongs to operations; aggregates exist only as memory layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Type {
    /// 1 to 128 bits. In memory only 8, 16, 32, 64 and 128, little-endian.
    Int(u16),
    Ptr,
    Float(FloatKind),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum FloatKind {
    F32,
    F64,
    /// The x87 extended format: ten bytes in memory, whatever padding C adds around them.
    F80,
}

impl FloatKind {
    pub fn bits(self) -> u16 {
        match self {
            FloatKind::F32 => 32,
            FloatKind::F64 => 64,
            FloatKind::F80 => 80,
        }
    }
}

impl Type {
    pub const BOOL: Type = Type::Int(1);
    pub const I8: Type = Type::Int(8);
    pub const I32: Type = Type::Int(32);

    /// How many bits a value of this type has.
    pub fn bits(self, model: DataModel) -> u16 {
        match self {
            Type::Int(bits) => bits,
            Type::Ptr => model.pointer_bits(),
            Type::Float(kind) => kind.bits(),
        }
    }

    /// How many bytes a load or store of this type touches.
    pub fn bytes(self, model: DataModel) -> u64 {
        u64::from(self.bits(model)).div_ceil(8)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    pub model: DataModel,
    pub files: IndexVec<FileId, String>,
    /// Pieces of source text that instructions show to people. Text 0 is empty.
    pub texts: IndexVec<TextId, String>,
    pub objects: IndexVec<ObjectId, Object>,
    pub functions: IndexVec<FuncId, Function>,
    /// Takes `(i32 argc, ptr argv)`, calls `main`, and exits the process. None for a library.
    pub entry: Option<FuncId>,
    /// How it is started: its name, then its arguments. Empty when it does not matter; see [`Program::command_line`].
    pub command: Vec<Vec<u8>>,
    /// Whether allocations may return addresses of objects that were freed: only where that makes a difference.
    pub reuse: Reuse,
}

/// How a program could notice that freed memory is given out again. (`analysis::reuse` finds out.)
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Default)]
pub enum Reuse {
    /// Not at all. So every allocation is new.
    #[default]
    Unnoticed,
    /// By comparing the address of a freed object, which it has kept, with that of a new one.
    ByAddress,
    /// It computes numbers from addresses, and so may keep them in any form.
    ByNumber,
}

impl Program {
    /// What `argv` holds.
    pub fn command_line(&self) -> Vec<Vec<u8>> {
        if self.command.is_empty() { vec![b"program".to_vec()] } else { self.command.clone() }
    }
}

impl Program {
    /// The instruction at a place; none for a terminator.
    pub fn op(&self, place: Place) -> Option<&Op> {
        match &self.functions.get(place.func)?.body {
            Body::Blocks(blocks) => blocks.get(place.block)?.instrs.get(place.index as usize).map(|instr| &instr.op),
            Body::External(_) => None,
        }
    }
}

/// Where an instruction comes from, and what a person should see of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Span {
    pub file: FileId,
    /// From 1; 0 when there is no place in the user's source.
    pub line: u32,
    pub column: u32,
    pub text: TextId,
}

impl Span {
    pub const NONE: Span = Span { file: FileId(0), line: 0, column: 0, text: TextId(0) };
}

/// A static object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    pub name: String,
    pub kind: ObjectKind,
    pub size: u64,
    pub align: u32,
    /// Sorted by offset, not overlapping. All other bytes are zero.
    pub init: Vec<(u64, Datum)>,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ObjectKind {
    Global,
    /// `const` at file scope, or a string literal: a store to it is an error.
    Constant,
    /// One instance for each thread, initialised when the thread starts.
    ThreadLocal,
    /// Declared `extern` and defined nowhere: contents are unknown (`stdout`, …).
    External,
}

impl Object {
    /// The text at an offset of its initial value, up to the first zero; none if there is no zero, or if part of the
    /// object is an address.
    pub fn text(&self, offset: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(self.size).ok()?];
        for (at, datum) in &self.init {
            let Datum::Bytes(piece) = datum else { return None };
            bytes.get_mut(*at as usize..*at as usize + piece.len())?.copy_from_slice(piece);
        }
        let rest = bytes.get(usize::try_from(offset).ok()?..)?;
        Some(rest[..rest.iter().position(|byte| *byte == 0)?].to_vec())
    }
}

/// A piece of an initial value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Datum {
    Bytes(Vec<u8>),
    /// An address, of pointer width: base plus a number of bytes.
    Object(ObjectId, i64),
    Function(FuncId),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    pub name: String,
    /// The first `params` locals are the parameters. A variadic C function has one more: the address of the
    /// area where the caller laid out the variable arguments (as the target's stack would hold them).
    pub params: u32,
    pub ret: Option<Type>,
    pub locals: IndexVec<LocalId, Local>,
    pub slots: IndexVec<SlotId, Slot>,
    pub body: Body,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// Block 0 is the entry.
    Blocks(IndexVec<BlockId, Block>),
    External(External),
}

/// What a function without a body may do. It never synchronises and never calls back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct External {
    /// Leno has a model of it by this name (the interpreter runs it, emitted C calls the real one).
    /// Otherwise nothing is known: it returns anything and may write whatever its arguments reach.
    pub known: bool,
    /// The result depends only on the arguments' values (`sqrt`).
    pub pure: bool,
    /// Parameters whose pointee it may write (`sprintf`: 0). Empty for `printf`.
    pub writes: Vec<u32>,
    /// The last parameter is the address of a variable-argument area.
    pub variadic: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Local {
    /// The C variable, or empty for a temporary.
    pub name: String,
    pub ty: Type,
    /// How to show its value to a person.
    pub signed: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    pub name: String,
    pub size: u64,
    pub align: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    pub instrs: Vec<Instr>,
    pub terminator: Terminator,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instr {
    pub op: Op,
    pub span: Span,
}

/// Where an instruction is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Place {
    pub func: FuncId,
    pub block: BlockId,
    /// Its number in the block; the number of instructions for the terminator.
    pub index: u32,
}

/// What one step of a thread does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    Assign {
        dst: LocalId,
        value: Expr,
    },
    Load {
        dst: LocalId,
        from: Access,
    },
    Store {
        to: Access,
        value: Expr,
    },
    /// Atomically `dst := *at; *at := dst op value`. `at.ty` is an integer (or a pointer, for `Exchange`).
    ReadModifyWrite {
        dst: Option<LocalId>,
        at: Access,
        op: RmwOp,
        value: Expr,
    },
    /// Atomically `old := *at; ok := (old == expected); if ok { *at := desired }`. A `weak` one may fail, too, where
    /// it finds what it expects. (The front end says so only where that can be noticed: `analysis::retries`.)
    CompareExchange {
        ok: LocalId,
        old: LocalId,
        at: Access,
        expected: Expr,
        desired: Expr,
        failure: Order,
        weak: bool,
    },
    Fence {
        order: Order,
    },
    /// A new object of `size` bytes, uninitialised unless `zeroed`. `Stack` objects die with the activation at the latest.
    Allocate {
        dst: LocalId,
        size: Expr,
        align: u32,
        storage: Storage,
        zeroed: bool,
    },
    /// Ends the life of a heap object, where null is allowed and does nothing; or of a `Stack` allocation of this
    /// activation, before the activation ends.
    Free {
        ptr: Expr,
        storage: Storage,
    },
    /// A life of a slot begins: it holds undefined bytes. (Slots live from the beginning of their activation.)
    BeginLife {
        slot: SlotId,
    },
    /// The life of a slot ends. Its address stays its own until the activation ends.
    EndLife {
        slot: SlotId,
    },
    /// A pointer was moved from one address to the other. A violation if it was in (or next to) an object and is no
    /// longer near it, so that it may lie in another one.
    CheckMove {
        from: Expr,
        to: Expr,
    },
    /// The size in bytes of the object that `ptr` points into (0 for null).
    ObjectSize {
        dst: LocalId,
        ptr: Expr,
    },
    /// If false (0), the thread stops here for ever; the others go on.
    Assume {
        cond: Expr,
    },
    /// If false, the property is violated and the execution ends.
    Assert {
        cond: Expr,
        property: Property,
        message: TextId,
    },
    /// Any value of the local's type.
    Nondet {
        dst: LocalId,
    },
    /// The register is undefined again, as at the beginning of its activation.
    Undefine {
        dst: LocalId,
    },
    /// Arguments go by position. Through a pointer of another type than the callee's: extra ones are dropped,
    /// missing ones are uninitialised, and bits are truncated or zero-extended.
    Call {
        dst: Option<LocalId>,
        callee: Callee,
        args: Vec<Expr>,
    },
    /// Starts a thread that calls `func(args)`, and stores its handle (never 0) in the same step.
    Spawn {
        handle: Option<Access>,
        func: Expr,
        args: Vec<Expr>,
    },
    /// Enabled when the thread has finished. `dst` (a word) gets what it returned.
    Join {
        dst: Option<LocalId>,
        thread: Expr,
    },
    Detach {
        thread: Expr,
    },
    /// `dst` (a word) gets this thread's handle.
    ThreadSelf {
        dst: LocalId,
    },
    /// One step on the synchronisation object at address `at`; `dst` (an `i32` unless said otherwise) gets the
    /// result that the C function would return: 0 or an error number.
    Sync {
        dst: Option<LocalId>,
        op: SyncOp,
        at: Expr,
    },
    /// From here to the matching end no other thread runs. Nests.
    AtomicBegin,
    AtomicEnd,
    /// Does nothing; a hint that another thread should run (`sched_yield`, `sleep`).
    Yield,
}

/// A memory access: of `ty`, at the address `ptr`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    pub ptr: Expr,
    pub ty: Type,
    pub order: Order,
    pub volatile: bool,
}

/// The C11 memory order of an access. Executions are sequentially consistent whatever the orders; which accesses race
/// depends on them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Order {
    NotAtomic,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl Order {
    /// Whether a load of this order, or a fence, acquires what was released.
    pub fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel | Order::SeqCst)
    }

    /// Whether a store of this order, or a fence, releases what happened before.
    pub fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }

    /// Whether it is the order of an atomic access, and not the strongest.
    pub fn is_weak(self) -> bool {
        !matches!(self, Order::NotAtomic | Order::SeqCst)
    }
}

impl Op {
    /// Whether it is an atomic access with an order weaker than `seq_cst`.
    pub fn is_weakly_ordered(&self) -> bool {
        let if_it_fails = matches!(self, Op::CompareExchange { failure, .. } if failure.is_weak());
        if_it_fails || self.access().is_some_and(|(access, _)| access.order.is_weak())
    }

    /// Whether this step may see what another thread has done without synchronising with it: a weaker order, an attempt
    /// that fails, a look at a semaphore. Only where there is such a step may accesses race that cannot be next to each
    /// other.
    pub fn may_see_without_order(&self) -> bool {
        use SyncOp::{SemGetValue, SemTryWait, TryLock, TryReadLock, TryWriteLock};
        let looks = |op: &SyncOp| matches!(op, TryLock(_) | TryReadLock | TryWriteLock | SemTryWait | SemGetValue);
        self.is_weakly_ordered() || matches!(self, Op::Sync { op, .. } if looks(op))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum RmwOp {
    Exchange,
    Add,
    Sub,
    And,
    Or,
    Xor,
    Nand,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Storage {
    Heap,
    Stack,
}

/// What an [`Op::Assert`] is about. Memory errors, races and deadlocks belong to the instructions themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Property {
    /// `assert`, and `reach_error` and its like.
    Assertion,
    DivisionByZero,
    /// The least number divided by -1.
    QuotientOverflow,
    /// Present only when the front end is asked for it.
    SignedOverflow,
    /// An index beyond an array that is a part of an object, or so far away that it would lead to another object.
    IndexOutOfBounds,
    /// Two accesses to one object, one of them a write, between which nothing says what comes first.
    Unsequenced,
    /// Something is copied to where it partly is already, by what must not do that.
    OverlappingCopy,
    /// A library function is called with arguments that it cannot have.
    InvalidArgument,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Callee {
    Direct(FuncId),
    Indirect(Expr),
}

/// Steps on synchronisation objects. Their state lives in the object's own bytes (see the semantics page for the
/// layout), except for the sleepers of a condition variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SyncOp {
    /// `kind` (i32): 0 normal, 1 recursive, 2 error-checking. Ignored for spin locks.
    LockInit {
        lock: LockKind,
        kind: Expr,
    },
    LockDestroy(LockKind),
    /// Enabled when the lock is free, or recursive and ours, or error-checking and ours (then `EDEADLK`).
    Lock(LockKind),
    /// `EBUSY` when it cannot be had now.
    TryLock(LockKind),
    Unlock(LockKind),

    RwInit,
    RwDestroy,
    ReadLock,
    TryReadLock,
    WriteLock,
    TryWriteLock,
    RwUnlock,

    CondInit,
    CondDestroy,
    /// A wait is three steps: `CondSleep` gives `mutex` up and goes to sleep, atomically; `CondWake` is
    /// enabled once a signal has been given to this sleeper (with a `deadline`, always: it may time out and
    /// then gives `ETIMEDOUT`); `CondRelock`, with `at` the mutex, takes the mutex again.
    CondSleep {
        mutex: Expr,
    },
    CondWake {
        mutex: Expr,
        deadline: Option<Expr>,
    },
    CondRelock,
    CondSignal,
    CondBroadcast,

    SemInit {
        value: Expr,
    },
    SemDestroy,
    /// Enabled when the value is positive.
    SemWait,
    /// `dst` is 0, or -1 when the value is zero.
    SemTryWait,
    SemPost,
    /// `dst` is the value.
    SemGetValue,

    BarrierInit {
        count: Expr,
    },
    BarrierDestroy,
    /// A wait is two steps: `dst` (i64) is a ticket for `BarrierLeave`, which is enabled once the barrier has
    /// been full, and gives -1 (`PTHREAD_BARRIER_SERIAL_THREAD`) to the last one that arrived and 0 to the others.
    BarrierArrive,
    BarrierLeave {
        ticket: Expr,
    },

    /// Enabled unless another thread is between begin and end. `dst` is 1 for the thread that has to run the
    /// routine and then say `OnceEnd`, and 0 when it has been run.
    OnceBegin,
    OnceEnd,
}

/// What a step on a synchronisation object is to others that access the same bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ObjectUse {
    /// Writes it as an ordinary store would.
    Makes,
    /// The same; but waits for those who are on their way out.
    Destroys,
    /// Locks, posts, signals, …: as an atomic operation does.
    Operates,
    /// The last step of an operation that has been told to go on.
    Leaves,
}

impl ObjectUse {
    /// Whether two threads that do this to one object at the same time race.
    pub fn races(self, other: ObjectUse) -> bool {
        use ObjectUse::*;
        match (self, other) {
            (Leaves, Destroys) | (Destroys, Leaves) => false,
            (Makes | Destroys, _) | (_, Makes | Destroys) => true,
            _ => false,
        }
    }

    /// Whether it is atomic to those who access the bytes in any other way.
    pub fn is_atomic(self) -> bool {
        matches!(self, ObjectUse::Operates | ObjectUse::Leaves)
    }
}

impl SyncOp {
    pub fn object_use(&self) -> ObjectUse {
        match self {
            SyncOp::LockInit { .. }
            | SyncOp::RwInit
            | SyncOp::CondInit
            | SyncOp::SemInit { .. }
            | SyncOp::BarrierInit { .. } => ObjectUse::Makes,
            SyncOp::LockDestroy(_)
            | SyncOp::RwDestroy
            | SyncOp::CondDestroy
            | SyncOp::SemDestroy
            | SyncOp::BarrierDestroy => ObjectUse::Destroys,
            SyncOp::CondWake { .. } | SyncOp::BarrierLeave { .. } => ObjectUse::Leaves,
            _ => ObjectUse::Operates,
        }
    }

    /// How many bytes the object has that it is made on: those of glibc's types.
    pub fn object_bytes(&self, model: DataModel) -> u32 {
        let is_64 = model == DataModel::Lp64;
        match self {
            SyncOp::LockInit { lock: LockKind::Mutex, .. }
            | SyncOp::LockDestroy(LockKind::Mutex)
            | SyncOp::Lock(LockKind::Mutex)
            | SyncOp::TryLock(LockKind::Mutex)
            | SyncOp::Unlock(LockKind::Mutex)
            | SyncOp::CondRelock => MUTEX_BYTES[usize::from(is_64)],
            SyncOp::LockInit { .. }
            | SyncOp::LockDestroy(_)
            | SyncOp::Lock(_)
            | SyncOp::TryLock(_)
            | SyncOp::Unlock(_) => 4,
            SyncOp::RwInit
            | SyncOp::RwDestroy
            | SyncOp::ReadLock
            | SyncOp::TryReadLock
            | SyncOp::WriteLock
            | SyncOp::TryWriteLock
            | SyncOp::RwUnlock => [32, 56][usize::from(is_64)],
            SyncOp::CondInit
            | SyncOp::CondDestroy
            | SyncOp::CondSleep { .. }
            | SyncOp::CondWake { .. }
            | SyncOp::CondSignal
            | SyncOp::CondBroadcast => 48,
            SyncOp::SemInit { .. }
            | SyncOp::SemDestroy
            | SyncOp::SemWait
            | SyncOp::SemTryWait
            | SyncOp::SemPost
            | SyncOp::SemGetValue => [16, 32][usize::from(is_64)],
            SyncOp::BarrierInit { .. }
            | SyncOp::BarrierDestroy
            | SyncOp::BarrierArrive
            | SyncOp::BarrierLeave { .. } => [20, 32][usize::from(is_64)],
            SyncOp::OnceBegin | SyncOp::OnceEnd => 4,
        }
    }
}

/// The size of a mutex in ILP32 and in LP64.
const MUTEX_BYTES: [u32; 2] = [24, 40];

/// The size of a mutex.
pub fn mutex_bytes(model: DataModel) -> u32 {
    MUTEX_BYTES[usize::from(model == DataModel::Lp64)]
}

/// The most bytes that a synchronisation object has.
pub const MOST_OBJECT_BYTES: u32 = 56;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum LockKind {
    Mutex,
    Spin,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Terminator {
    pub kind: TerminatorKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TerminatorKind {
    Goto(BlockId),
    /// On an `i1`.
    Branch {
        cond: Expr,
        then: BlockId,
        otherwise: BlockId,
    },
    /// Case values are sorted, distinct, and fit the type of `value`.
    Switch {
        value: Expr,
        cases: Vec<(u128, BlockId)>,
        default: BlockId,
    },
    Return(Option<Expr>),
    /// Ends the calling thread. The value is a word.
    ThreadExit(Expr),
    /// Ends the process with a status (i32).
    Exit(Expr),
    /// Ends the process abnormally.
    Abort,
    /// Control never gets here (`__builtin_unreachable`, falling off the end of a function whose value is used).
    Unreachable,
}

/// A pure expression. Total: where C says "undefined", the semantics page says what happens here.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Expr {
    /// An integer, a pointer (null is 0), or the bits of a float. No bit above the type's width is set.
    Const {
        ty: Type,
        bits: u128,
    },
    Local(LocalId),
    /// The address of a static object (for a thread-local one: of this thread's instance).
    Object(ObjectId),
    /// The address of a stack object of this activation.
    Slot(SlotId),
    /// The address of a function.
    Function(FuncId),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<[Expr; 2]>),
    Cast(CastOp, Type, Box<Expr>),
    /// `[condition (i1), then, otherwise]`
    Select(Box<[Expr; 3]>),
}

/// The deepest expression that a valid program has. It bounds recursion over expressions.
pub const MAX_EXPR_DEPTH: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum UnaryOp {
    /// Integer two's complement.
    Neg,
    /// Integer bitwise complement; on `i1`, logical not.
    Not,
    FNeg,
    FSqrt,
    FAbs,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// Division by zero is as in SMT-LIB (all ones; the remainder is the dividend); minimum / -1 wraps.
    UDiv,
    SDiv,
    URem,
    SRem,
    /// The shift amount has the same type as the value and counts modulo its width.
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
    /// Comparisons give `i1`. `Eq` to `ULe` also compare pointers, as addresses.
    Eq,
    Ne,
    ULt,
    ULe,
    SLt,
    SLe,
    /// Whether the exact result does not fit (`i1`).
    SAddOverflow,
    SSubOverflow,
    SMulOverflow,
    UAddOverflow,
    USubOverflow,
    UMulOverflow,
    /// Pointer plus a word of bytes.
    PtrAdd,
    /// Bytes between two pointers, a word.
    PtrDiff,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FEq,
    FNe,
    FLt,
    FLe,
}

impl BinaryOp {
    /// All that take two integers and give one of the same type.
    #[rustfmt::skip]
    pub const ARITHMETIC: &[BinaryOp] = {
        use BinaryOp::*;
        &[Add, Sub, Mul, UDiv, SDiv, URem, SRem, Shl, LShr, AShr, And, Or, Xor]
    };

    /// All that take two integers and give an `i1`.
    #[rustfmt::skip]
    pub const TESTS: &[BinaryOp] = {
        use BinaryOp::*;
        &[
            Eq, Ne, ULt, ULe, SLt, SLe,
            SAddOverflow, SSubOverflow, SMulOverflow, UAddOverflow, USubOverflow, UMulOverflow,
        ]
    };
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum CastOp {
    Truncate,
    ZeroExtend,
    SignExtend,
    /// Pointer to an integer of pointer width, and back: the bits stay.
    PtrToInt,
    IntToPtr,
    UIntToFloat,
    SIntToFloat,
    /// Towards zero. Out of range or NaN: as x86-64 does it (the most negative value).
    FloatToUInt,
    FloatToSInt,
    /// Between float kinds.
    FloatToFloat,
    /// The same bits as an integer or float of equal width.
    Bitcast,
}

impl Expr {
    pub fn int(bits: u128, width: u16) -> Expr {
        let mask = if width >= 128 { u128::MAX } else { (1 << width) - 1 };
        Expr::Const { ty: Type::Int(width), bits: bits & mask }
    }

    pub fn bool(value: bool) -> Expr {
        Expr::int(u128::from(value), 1)
    }

    pub const NULL: Expr = Expr::Const { ty: Type::Ptr, bits: 0 };

    pub fn unary(op: UnaryOp, operand: Expr) -> Expr {
        Expr::Unary(op, Box::new(operand))
    }

    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        Expr::Binary(op, Box::new([left, right]))
    }

    pub fn cast(op: CastOp, ty: Type, operand: Expr) -> Expr {
        Expr::Cast(op, ty, Box::new(operand))
    }

    pub fn select(cond: Expr, then: Expr, otherwise: Expr) -> Expr {
        Expr::Select(Box::new([cond, then, otherwise]))
    }

    /// The type of this expression, given the registers of its function.
    pub fn ty(&self, locals: &IndexVec<LocalId, Local>, model: DataModel) -> Type {
        match self {
            Expr::Const { ty, .. } | Expr::Cast(_, ty, _) => *ty,
            Expr::Local(id) => locals[*id].ty,
            Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => Type::Ptr,
            Expr::Unary(_, operand) => operand.ty(locals, model),
            Expr::Binary(op, operands) => match op.result() {
                ResultType::Operand => operands[0].ty(locals, model),
                ResultType::Bool => Type::BOOL,
                ResultType::Word => model.word(),
            },
            Expr::Select(parts) => parts[1].ty(locals, model),
        }
    }
}

/// How the type of a binary operation follows from its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultType {
    /// That of the first operand.
    Operand,
    Bool,
    Word,
}

impl BinaryOp {
    pub fn result(self) -> ResultType {
        use BinaryOp::*;
        match self {
            Add | Sub | Mul | UDiv | SDiv | URem | SRem | Shl | LShr | AShr | And | Or | Xor | PtrAdd | FAdd | FSub
            | FMul | FDiv => ResultType::Operand,
            Eq | Ne | ULt | ULe | SLt | SLe | SAddOverflow | SSubOverflow | SMulOverflow | UAddOverflow
            | USubOverflow | UMulOverflow | FEq | FNe | FLt | FLe => ResultType::Bool,
            PtrDiff => ResultType::Word,
        }
    }
}
