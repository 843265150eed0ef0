//! C as it was written: the parser's output.
//!
//! Nodes live in arenas and refer to each other by id, so that even absurdly deep programs are built and dropped
//! without recursion. Names are interned. Nothing is resolved here except what C's grammar itself needs: whether an
//! identifier names a type. All ids index the arenas of the same [`Ast`].

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use leno_ir::index::IndexVec;
use leno_ir::index_type;

index_type!(
    /// An interned identifier.
    Name,
    "name"
);
index_type!(ExprId, "e");
index_type!(StmtId, "s");
index_type!(
    /// Declaration specifiers: storage, qualifiers and the base type, shared by all declarators of a declaration.
    SpecId,
    "spec"
);
index_type!(InitId, "init");

#[derive(Clone, Debug, Default)]
pub struct Ast {
    pub names: Names,
    pub exprs: IndexVec<ExprId, Expr>,
    pub stmts: IndexVec<StmtId, Stmt>,
    pub specs: IndexVec<SpecId, Specifiers>,
    pub inits: IndexVec<InitId, Initializer>,
    pub items: Vec<Item>,
    /// What the lexer and the parser had to say about a program that they accept.
    pub warnings: Vec<Diagnostic>,
}

/// The interner: every name of the program passes through it, so it is an open hash table of ids.
#[derive(Clone, Debug, Default)]
pub struct Names {
    texts: IndexVec<Name, Box<str>>,
    hashes: IndexVec<Name, u32>,
    /// A power of two in length and at most half full; 0 is free, anything else an id plus one.
    table: Vec<u32>,
}

impl Names {
    pub fn intern(&mut self, text: &str) -> Name {
        if self.texts.len() * 2 >= self.table.len() {
            self.grow();
        }
        let hash = hash(text);
        let slot = self.slot(text, hash);
        if let Some(id) = self.table[slot].checked_sub(1) {
            return Name(id);
        }
        let id = self.texts.push(text.into());
        self.hashes.push(hash);
        self.table[slot] = id.0 + 1;
        id
    }

    pub fn get(&self, text: &str) -> Option<Name> {
        if self.table.is_empty() {
            return None;
        }
        self.table[self.slot(text, hash(text))].checked_sub(1).map(Name)
    }

    pub fn text(&self, name: Name) -> &str {
        &self.texts[name]
    }

    pub fn len(&self) -> usize {
        self.texts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Where a name is in the table, or the free place where it belongs.
    fn slot(&self, text: &str, hash: u32) -> usize {
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        while let Some(id) = self.table[slot].checked_sub(1).map(Name) {
            if self.hashes[id] == hash && *self.texts[id] == *text {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let length = (self.table.len() * 2).max(1024);
        self.table = vec![0; length];
        for (id, hash) in self.hashes.iter_enumerated() {
            let mut slot = *hash as usize & (length - 1);
            while self.table[slot] != 0 {
                slot = (slot + 1) & (length - 1);
            }
            self.table[slot] = id.0 + 1;
        }
    }
}

fn hash(text: &str) -> u32 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for chunk in text.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 32;
    }
    hash as u32
}

/// At file scope.
#[derive(Clone, Debug)]
pub enum Item {
    Declaration(Declaration),
    Function(FunctionDefinition),
    StaticAssert(StaticAssert),
    /// `asm("…");` at file scope.
    Asm(Span),
}

#[derive(Clone, Debug)]
pub struct StaticAssert {
    pub cond: ExprId,
    pub message: Option<String>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Declaration {
    pub spec: SpecId,
    pub declarators: Vec<InitDeclarator>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct InitDeclarator {
    pub declarator: Declarator,
    pub init: Option<InitId>,
    pub asm_label: Option<String>,
}

/// A name and what is written around it.
#[derive(Clone, Debug)]
pub struct Declarator {
    /// None in abstract declarators (casts, unnamed parameters, unnamed bit-fields).
    pub name: Option<Name>,
    pub span: Span,
    /// From the inside out, in the order in which they read in English: `int *a[3]` is [Array 3, Pointer].
    pub derived: Vec<Derived>,
    pub attributes: Vec<Attribute>,
}

#[derive(Clone, Debug)]
pub enum Derived {
    Pointer(Qualifiers),
    Array(ArrayDeclarator),
    Function(FunctionDeclarator),
}

#[derive(Clone, Debug)]
pub struct ArrayDeclarator {
    pub size: ArraySize,
    pub qualifiers: Qualifiers,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub enum ArraySize {
    /// `[]`
    None,
    /// `[*]`
    Star,
    Expr(ExprId),
}

#[derive(Clone, Debug)]
pub struct FunctionDeclarator {
    pub params: Params,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Params {
    /// `()`: nothing is said.
    Unspecified,
    /// `(void)` is an empty list.
    Prototype { params: Vec<Parameter>, variadic: bool },
    /// K&R: `(a, b)`, with the declarations that follow in a definition.
    Names(Vec<(Name, Span)>),
}

#[derive(Clone, Debug)]
pub struct Parameter {
    pub spec: SpecId,
    pub declarator: Declarator,
}

#[derive(Clone, Debug)]
pub struct FunctionDefinition {
    pub spec: SpecId,
    pub declarator: Declarator,
    /// K&R parameter declarations.
    pub old_params: Vec<Declaration>,
    /// Always a `StmtKind::Compound`.
    pub body: StmtId,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Qualifiers {
    pub is_const: bool,
    pub is_volatile: bool,
    pub is_restrict: bool,
    pub is_atomic: bool,
}

#[derive(Clone, Debug)]
pub struct Specifiers {
    pub storage: Option<Storage>,
    pub is_thread_local: bool,
    pub is_inline: bool,
    pub is_noreturn: bool,
    pub qualifiers: Qualifiers,
    pub ty: TypeSpecifier,
    pub alignas: Vec<Alignas>,
    pub attributes: Vec<Attribute>,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Storage {
    Typedef,
    Extern,
    Static,
    Auto,
    Register,
}

#[derive(Clone, Debug)]
pub enum Alignas {
    Type(TypeName),
    Expr(ExprId),
}

#[derive(Clone, Debug)]
pub enum TypeSpecifier {
    /// No type was written: `static x;`, `f() {…}`: int, with a warning.
    Implicit,
    Void,
    Bool,
    Int(IntSpecifier),
    Float,
    Double,
    LongDouble,
    /// `_Float128`, `__float128`, `_Float64x`…: parsed because system headers declare things with them.
    Float128,
    /// `_Complex` of any kind: parsed because system headers may declare such functions.
    Complex,
    VaList,
    /// `__auto_type`
    AutoType,
    Record(RecordSpecifier),
    Enum(EnumSpecifier),
    Typedef(Name),
    TypeofExpr(ExprId),
    TypeofType(Box<TypeName>),
    /// `_Atomic(T)`
    Atomic(Box<TypeName>),
}

/// `char`, `short`, …, in canonical form.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum IntSpecifier {
    Char,
    SignedChar,
    UnsignedChar,
    Short,
    UnsignedShort,
    Int,
    UnsignedInt,
    Long,
    UnsignedLong,
    LongLong,
    UnsignedLongLong,
    Int128,
    UnsignedInt128,
}

#[derive(Clone, Debug)]
pub struct RecordSpecifier {
    pub is_union: bool,
    pub tag: Option<Name>,
    /// None for a mere reference `struct S`.
    pub members: Option<Vec<Member>>,
    pub attributes: Vec<Attribute>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Member {
    /// One declarator of a member declaration. `declarator.name` is None for an anonymous member or unnamed bit-field.
    Field {
        spec: SpecId,
        declarator: Declarator,
        bits: Option<ExprId>,
    },
    StaticAssert(StaticAssert),
}

#[derive(Clone, Debug)]
pub struct EnumSpecifier {
    pub tag: Option<Name>,
    pub enumerators: Option<Vec<Enumerator>>,
    pub attributes: Vec<Attribute>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Enumerator {
    pub name: Name,
    pub value: Option<ExprId>,
    pub span: Span,
}

/// `__attribute__((name(args)))`; `name` without leading and trailing underscores. Arguments that are not expressions
/// are dropped. A record to which `#pragma pack(2)` applies has an attribute named `pragma pack` with the number as its
/// argument: no member is aligned to more.
#[derive(Clone, Debug)]
pub struct Attribute {
    pub name: String,
    pub args: Vec<AttributeArg>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum AttributeArg {
    /// A lone identifier: `cleanup(f)`, `mode(DI)`.
    Name(Name),
    Expr(ExprId),
}

/// A type as written in a cast, in `sizeof`, …
#[derive(Clone, Debug)]
pub struct TypeName {
    pub spec: SpecId,
    /// `name` is None.
    pub declarator: Declarator,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Initializer {
    Expr(ExprId),
    List { items: Vec<InitItem>, span: Span },
}

#[derive(Clone, Debug)]
pub struct InitItem {
    /// Empty for a positional item.
    pub designators: Vec<Designator>,
    pub value: InitId,
}

#[derive(Clone, Copy, Debug)]
pub enum Designator {
    Field(Name, Span),
    Index(ExprId),
    /// GNU: `[a ... b]`
    Range(ExprId, ExprId),
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Empty,
    Expr(ExprId),
    Compound(Vec<BlockItem>),
    If {
        cond: ExprId,
        then: StmtId,
        otherwise: Option<StmtId>,
    },
    Switch {
        value: ExprId,
        body: StmtId,
    },
    While {
        cond: ExprId,
        body: StmtId,
    },
    DoWhile {
        body: StmtId,
        cond: ExprId,
    },
    /// A declaration as `init` has the loop as its scope.
    For {
        init: Option<ForInit>,
        cond: Option<ExprId>,
        step: Option<ExprId>,
        body: StmtId,
    },
    Goto(Name),
    /// `goto *e;`
    GotoComputed(ExprId),
    Continue,
    Break,
    Return(Option<ExprId>),
    Label {
        name: Name,
        body: StmtId,
    },
    /// `end` for the GNU range `case a ... b:`
    Case {
        value: ExprId,
        end: Option<ExprId>,
        body: StmtId,
    },
    Default {
        body: StmtId,
    },
    Asm(AsmStmt),
}

#[derive(Clone, Debug)]
pub enum ForInit {
    Expr(ExprId),
    Declaration(Declaration),
}

#[derive(Clone, Debug)]
pub enum BlockItem {
    Stmt(StmtId),
    Declaration(Declaration),
    /// GNU nested function (refused by the checker, at its place).
    NestedFunction(FunctionDefinition),
    StaticAssert(StaticAssert),
    /// `__label__ a, b;`
    LocalLabels(Vec<Name>),
}

#[derive(Clone, Debug)]
pub struct AsmStmt {
    pub template: String,
    /// Whether it has any output or input operand or a `goto` label.
    pub has_operands: bool,
    /// Whether an operand is only written (`"=r"`), or it can jump.
    pub has_effects: bool,
    /// With `"memory"` among its clobbers.
    pub clobbers_memory: bool,
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    Ident(Name),
    Int {
        value: u128,
        suffix: IntSuffix,
        decimal: bool,
    },
    Float {
        value: FloatLiteral,
        suffix: FloatSuffix,
    },
    /// The value of the character constant, as the type of its kind holds it (plain: an int; sign-extended char).
    Char {
        value: i64,
        kind: CharKind,
    },
    /// Adjacent literals joined, without the terminating zero; one element per character unit of the kind.
    Str {
        units: Vec<u32>,
        kind: CharKind,
    },
    Unary(UnaryOp, ExprId),
    Binary(BinaryOp, ExprId, ExprId),
    Assign(Option<BinaryOp>, ExprId, ExprId),
    /// `then` is None for the GNU `a ?: b`.
    Conditional {
        cond: ExprId,
        then: Option<ExprId>,
        otherwise: ExprId,
    },
    Comma(ExprId, ExprId),
    Call {
        callee: ExprId,
        args: Vec<ExprId>,
    },
    Index(ExprId, ExprId),
    Member {
        base: ExprId,
        field: Name,
        arrow: bool,
    },
    Cast {
        ty: Box<TypeName>,
        operand: ExprId,
    },
    CompoundLiteral {
        ty: Box<TypeName>,
        init: InitId,
    },
    SizeofExpr(ExprId),
    SizeofType(Box<TypeName>),
    AlignofExpr(ExprId),
    AlignofType(Box<TypeName>),
    /// The association with no type is `default`.
    Generic {
        control: ExprId,
        associations: Vec<(Option<TypeName>, ExprId)>,
    },
    /// `({ … })`; always a compound statement.
    StmtExpr(StmtId),
    /// `&&label`
    LabelAddress(Name),
    /// `__builtin_va_arg(ap, T)`
    VaArg {
        list: ExprId,
        ty: Box<TypeName>,
    },
    /// `__builtin_offsetof(T, a.b[3])`; the first designator is a field.
    Offsetof {
        ty: Box<TypeName>,
        path: Vec<Designator>,
    },
    /// `__builtin_choose_expr(c, a, b)`
    Choose {
        cond: ExprId,
        then: ExprId,
        otherwise: ExprId,
    },
    /// `__builtin_types_compatible_p(A, B)`
    TypesCompatible(Box<TypeName>, Box<TypeName>),
    /// `(e)`: kept because parentheses matter to a few rules (string initialisers, null pointer constants do not care).
    Paren(ExprId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IntSuffix {
    pub unsigned: bool,
    /// 0 none, 1 `l`, 2 `ll`
    pub long: u8,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FloatLiteral {
    /// The literal without its suffix, decimal or hexadecimal: converted to its type (float, double or long double)
    /// once.
    pub text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FloatSuffix {
    None,
    F,
    L,
    /// `i`/`j` (imaginary; the literal may then be an integer), `q`/`f128` and other kinds that Leno refuses when they
    /// are used.
    Unsupported,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum CharKind {
    Plain,
    Utf8,
    /// `L`: wchar_t, 32 bits signed.
    Wide,
    /// `u`
    Char16,
    /// `U`
    Char32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum UnaryOp {
    Plus,
    Minus,
    BitNot,
    Not,
    Deref,
    AddressOf,
    PreIncrement,
    PreDecrement,
    PostIncrement,
    PostDecrement,
    /// `__real__`, `__imag__`
    Real,
    Imag,
    /// `__extension__`: nothing.
    Extension,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum BinaryOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
}
