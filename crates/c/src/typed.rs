//! C with everything said: the checker's output, and all that lowering needs to know.
//!
//! Names are resolved to ids; every implicit conversion, promotion, array decay and load is a node; initialisers are
//! flat lists of (offset, value); `sizeof`, enumerators and other constants are numbers; pointer arithmetic is in
//! bytes. Lowering a unit needs no scopes and no typing rules, only the types' layout.
//!
//! An expression is either an **lvalue** (it names an object; kinds [`ExprKind::Var`] to [`ExprKind::Temporary`]) or an
//! **rvalue** (it is a value). The type of an lvalue is the object's type with its qualifiers; an lvalue becomes a
//! value only under [`ExprKind::Load`] or [`ExprKind::AddressOf`].

use crate::source::Span;
use crate::types::{BitField, QualType, TypeId, Types};
use leno_ir::index::IndexVec;
use leno_ir::index_type;
use leno_ir::program::{Order, RmwOp};

index_type!(ExprId, "x");
index_type!(StmtId, "st");
index_type!(
    /// An automatic variable or parameter of one function.
    VarId,
    "v"
);
index_type!(
    /// An object with static storage: file scope, `static` in a function, string literal, file-scope compound literal.
    GlobalId,
    "g"
);
index_type!(FuncId, "fn");
index_type!(
    /// A label of one function; also its value as `&&label`, plus one.
    LabelId,
    "L"
);

/// One checked translation unit.
#[derive(Clone, Debug)]
pub struct Unit {
    pub types: Types,
    pub exprs: IndexVec<ExprId, Expr>,
    pub stmts: IndexVec<StmtId, Stmt>,
    pub globals: IndexVec<GlobalId, Global>,
    /// Declared and defined ones.
    pub functions: IndexVec<FuncId, Function>,
    /// Whether some initialiser makes a mutex of another kind than the normal one.
    pub has_mutex_kinds: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Linkage {
    /// Of this unit only; several may have the same name.
    Internal,
    /// By name with the other units.
    External,
}

#[derive(Clone, Debug)]
pub struct Global {
    pub name: String,
    pub linkage: Linkage,
    /// Arrays are complete here, except for an `extern T x[]` that this unit never completes.
    pub ty: QualType,
    pub align: u32,
    pub is_thread_local: bool,
    /// Can never change: `const` (and not `volatile`), or a string literal.
    pub is_constant: bool,
    pub definition: Definition,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Definition {
    /// `extern`, not defined here.
    None,
    /// Zero, unless another unit has an initialiser.
    Tentative,
    /// `size` may exceed that of the type: a flexible array member was initialised.
    Static { size: u64, init: StaticInit },
}

/// Sorted by offset, not overlapping; all else is zero.
pub type StaticInit = Vec<(u64, StaticValue)>;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StaticValue {
    Bytes(Vec<u8>),
    /// Pointer-sized.
    Global(GlobalId, i64),
    Function(FuncId),
}

#[derive(Clone, Debug)]
pub struct Function {
    /// The name to link by (an asm label wins over the C name).
    pub name: String,
    pub linkage: Linkage,
    /// A `Type::Function`. For a K&R definition, `params` holds the promoted types in which arguments arrive.
    pub ty: TypeId,
    /// `inline` without `extern`/`static`: yields to a real definition elsewhere.
    pub is_inline: bool,
    pub is_noreturn: bool,
    /// `constructor` / `destructor` attributes: run before and after `main`.
    pub is_constructor: bool,
    pub is_destructor: bool,
    pub span: Span,
    pub definition: Option<FunctionBody>,
}

#[derive(Clone, Debug)]
pub struct FunctionBody {
    /// One for each parameter of the type, in order.
    pub params: Vec<VarId>,
    pub vars: IndexVec<VarId, Var>,
    /// Names for messages and dumps.
    pub labels: IndexVec<LabelId, String>,
    /// Labels whose address is taken: where `goto *e` may go.
    pub address_labels: Vec<LabelId>,
    /// Some label has a name: control may go back without a loop, and into blocks.
    pub has_named_labels: bool,
    pub body: StmtId,
    /// Where the closing brace is.
    pub end: Span,
}

#[derive(Clone, Debug)]
pub struct Var {
    /// Empty for variables that the checker made.
    pub name: String,
    pub ty: QualType,
    pub align: u32,
    /// Its address is taken, or it is not a scalar: it needs memory. Otherwise it can be a register.
    pub in_memory: bool,
    /// `__attribute__((cleanup(f)))`: called with its address when its scope is left in any way.
    pub cleanup: Option<FuncId>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Empty,
    /// For its effects; the value, if any, is dropped.
    Expr(ExprId),
    /// A scope.
    Block(Vec<StmtId>),
    /// Statements that belong to the scope around them (several declarators of one declaration).
    Group(Vec<StmtId>),
    /// A variable's declaration is reached. For a variable-length array, memory is made here.
    Declare {
        var: VarId,
        init: Option<LocalInit>,
    },
    /// All conditions are scalar rvalues, true when they compare unequal to zero.
    If {
        cond: ExprId,
        then: StmtId,
        otherwise: Option<StmtId>,
    },
    While {
        cond: ExprId,
        body: StmtId,
    },
    DoWhile {
        body: StmtId,
        cond: ExprId,
    },
    /// (The initialiser stands before it in an enclosing `Block`.)
    For {
        cond: Option<ExprId>,
        step: Option<ExprId>,
        body: StmtId,
    },
    /// `value` is promoted; `cases` are the labels inside `body`, as [first, last] of the promoted type's bits
    /// (compare as signed or unsigned by that type), in source order, without overlaps.
    Switch {
        value: ExprId,
        body: StmtId,
        cases: Vec<Case>,
        default: Option<LabelId>,
    },
    /// Where a `goto`, `case` or `default` jumps to.
    Label {
        label: LabelId,
        body: StmtId,
    },
    Goto(LabelId),
    /// An integer rvalue of pointer size: the number of one of the function's `address_labels`, plus one.
    GotoComputed(ExprId),
    Break,
    Continue,
    /// The value has the function's return type.
    Return(Option<ExprId>),
    /// Something that Leno does not take (inline assembly): an error with this text if the function is ever used.
    Refused {
        message: String,
        help: String,
    },
}

#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub first: i128,
    pub last: i128,
    pub label: LabelId,
}

/// How an automatic object starts: zero everywhere if `zero`, then the items in order.
#[derive(Clone, Debug)]
pub struct LocalInit {
    pub zero: bool,
    pub items: Vec<LocalInitItem>,
}

#[derive(Clone, Debug)]
pub struct LocalInitItem {
    pub offset: u64,
    /// Scalar or record; an array only when `value` is a `Load` of another array (a string literal).
    pub ty: QualType,
    pub bits: Option<BitField>,
    pub value: ExprId,
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: QualType,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    // ---- lvalues
    Var(VarId),
    Global(GlobalId),
    /// The object that a pointer rvalue points to. Of function type: see `Function`.
    Deref(ExprId),
    /// A field of a record lvalue, by its index in the layout.
    Field {
        base: ExprId,
        field: u32,
    },
    /// An automatic compound literal: initialises the variable, which is then the lvalue.
    CompoundLiteral {
        var: VarId,
        init: LocalInit,
    },
    /// A record rvalue put into this (checker-made) variable, which is then the lvalue: `f().x`.
    Temporary {
        var: VarId,
        value: ExprId,
    },

    // ---- rvalues
    /// Integer (no bits above its width), float bits (of its own format), or pointer.
    Const(u128),
    /// The address of a function (a pointer rvalue).
    Function(FuncId),
    /// The value of an lvalue: scalar, record, or (in initialisers only) array.
    Load(ExprId),
    /// The address of an lvalue that is not a bit-field; also how an array decays.
    AddressOf(ExprId),
    /// `&&label`, pointer-sized.
    LabelAddress(LabelId),
    /// To the expression's type: between arithmetic types (to `_Bool`: compares with zero), pointers and integers; to
    /// void.
    Cast(ExprId),
    /// On the promoted operand.
    Unary(UnaryOp, ExprId),
    /// Both operands have the same type, which is the result's except for comparisons (then it is `int`). The amount of
    /// a shift has its own promoted type.
    Binary(BinaryOp, ExprId, ExprId),
    /// Pointer plus a number of bytes (a `ptrdiff_t` or `size_t` rvalue).
    PointerAdd(ExprId, ExprId),
    /// Bytes between two pointers, a `ptrdiff_t`.
    PointerDiff(ExprId, ExprId),
    /// `!e`: an int. The operand is any scalar.
    LogicalNot(ExprId),
    LogicalAnd(ExprId, ExprId),
    LogicalOr(ExprId, ExprId),
    /// Both arms have the result's type, which may be void or a record.
    Conditional {
        cond: ExprId,
        then: ExprId,
        otherwise: ExprId,
    },
    /// GNU `a ?: b`: `cond` is evaluated once; it is converted to the result's type when it is true.
    ConditionalElse {
        cond: ExprId,
        otherwise: ExprId,
    },
    Comma(ExprId, ExprId),
    /// The value is of the place's type (a record, too). The result is the value as stored.
    Assign {
        place: ExprId,
        value: ExprId,
    },
    /// `place op= operand`, `++`, `--`: computed in `compute` (the operand's type, except for shifts), converted back to the place's type. On an `_Atomic` place this is one indivisible
    /// step.
    Update {
        place: ExprId,
        op: UpdateOp,
        operand: ExprId,
        compute: TypeId,
        result: UpdateResult,
    },
    /// Arguments are converted to the parameters' types; those beyond `fixed` go into the variable-argument area.
    Call {
        callee: Callee,
        args: Vec<ExprId>,
        fixed: u32,
        variadic: bool,
    },
    /// `({ … })`: the value of the last expression, evaluated in the scope of the block.
    StmtExpr {
        body: Vec<StmtId>,
        value: Option<ExprId>,
    },
    Builtin {
        builtin: Builtin,
        args: Vec<ExprId>,
    },
}

#[derive(Clone, Debug)]
pub enum Callee {
    Direct(FuncId),
    /// A pointer-to-function rvalue.
    Indirect(ExprId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    Neg,
    BitNot,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    /// The amount has been converted to the type of the value.
    Shl,
    Shr,
    And,
    Or,
    Xor,
    /// Comparisons also take two pointers.
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UpdateOp {
    Arithmetic(BinaryOp),
    /// The place is a pointer, the operand a number of bytes to add.
    PointerAdd,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UpdateResult {
    /// As before the update (`x++`).
    Old,
    New,
}

/// Operations that are not functions. "Pointer" arguments are pointer rvalues; T is the type they point to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Builtin {
    /// (pointer) → T
    AtomicLoad(Order),
    /// (pointer, T) → void
    AtomicStore(Order),
    /// (pointer, T) → T: the old value, or the new one. For pointers T, Add and Sub count bytes.
    AtomicRmw {
        op: RmwOp,
        order: Order,
        new: bool,
    },
    /// (pointer, pointer to expected T, T desired) → bool; on failure the old value is stored to expected.
    AtomicCompareExchange {
        success: Order,
        failure: Order,
        weak: bool,
    },
    /// (pointer, T expected, T desired) → bool, or T: the old value.
    SyncCompareAndSwap {
        returns_old: bool,
    },
    /// (pointer to a byte) → bool: exchanges with 1.
    TestAndSet(Order),
    /// (pointer to a byte) → void: stores 0.
    Clear(Order),
    /// () → void. A compiler-only fence (`__atomic_signal_fence`, an empty asm) is no builtin: it becomes nothing.
    Fence(Order),
    /// () → void: control never gets here.
    Unreachable,
    /// () → void: abort.
    Trap,
    /// (size) → pointer
    Alloca,
    /// (pointer to a va_list object) → void: uses the function's hidden parameter.
    VaStart,
    VaEnd,
    /// (pointer to destination, pointer to source) → void
    VaCopy,
    /// (pointer to a va_list object) → the expression's type
    VaArg,
    /// (a, b, pointer to result) → bool; the operands keep their own integer types, the result is computed as if in
    /// infinite precision and stored converted to the pointee's type.
    Overflow(OverflowOp),
    /// (float) → int, on `float`, `double` or `long double`
    IsNan,
    IsInf,
    IsFinite,
    SignBit,
    /// (a, b) → int, true when one of them is NaN
    IsUnordered,
    /// (x) → x, rounded square root / absolute value of the operand's own float type
    Sqrt,
    FAbs,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OverflowOp {
    Add,
    Sub,
    Mul,
}
