//! The words of C: what the lexer hands to the parser.
//!
//! A [`Token`] is sixteen bytes: a kind, a span, and the interned name of an identifier or keyword. Literals stay text
//! until the parser wants them (see [`crate::literal`]). GNU's alternate spellings (`__const`, `__inline__`) are gone
//! here: they are the same kind. Keywords are recognised by their [`Name`]: the keyword table is interned before
//! anything else, so a keyword is a name with a small number and no further look-up is needed.

use crate::ast::{Name, Names};
use crate::source::Span;

#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub kind: Tok,
    pub start: u32,
    pub end: u32,
    /// Of an identifier or keyword; meaningless otherwise.
    pub name: Name,
}

impl Token {
    pub fn span(self) -> Span {
        Span::new(self.start, self.end)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tok {
    /// The end of the text.
    Eof,
    /// Something that is no token: the lexer stopped here and has a diagnostic.
    Error,
    Ident,
    Number,
    Char,
    Str,

    LParen,
    RParen,
    LBracket,
    RBracket,
    LBrace,
    RBrace,
    Semi,
    Comma,
    Colon,
    Question,
    Dot,
    Ellipsis,
    Arrow,
    Assign,
    Tilde,
    Not,
    Inc,
    Dec,

    Star,
    Slash,
    Percent,
    Plus,
    Minus,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    EqEq,
    NotEq,
    Amp,
    Caret,
    Pipe,
    AndAnd,
    OrOr,

    MulAssign,
    DivAssign,
    RemAssign,
    AddAssign,
    SubAssign,
    ShlAssign,
    ShrAssign,
    AndAssign,
    XorAssign,
    OrAssign,

    Typedef,
    Extern,
    Static,
    Auto,
    Register,
    ThreadLocal,
    Inline,
    Noreturn,
    Const,
    Volatile,
    Restrict,
    Atomic,
    Alignas,
    Attribute,
    Void,
    Bool,
    Char_,
    Short,
    Int,
    Long,
    Signed,
    Unsigned,
    Float,
    Double,
    Int128,
    UnsignedInt128,
    /// `_Float128` and all other kinds that are neither float, double nor long double.
    ExtendedFloat,
    /// `_Float32`, `_Float64` and `_Float128`: keywords to gcc, but with clang the system's headers declare them.
    SoftFloat,
    SoftDouble,
    SoftExtendedFloat,
    Complex,
    VaList,
    AutoType,
    Struct,
    Union,
    Enum,
    Typeof,

    Break,
    Case,
    Continue,
    Default,
    Do,
    Else,
    For,
    Goto,
    If,
    Return,
    Switch,
    While,
    Asm,
    LabelDecl,
    StaticAssert,

    Sizeof,
    Alignof,
    Generic,
    Extension,
    Real,
    Imag,
    VaArg,
    Offsetof,
    TypesCompatible,
    ChooseExpr,
    /// Builtins of vectors and attributes whose arguments are not all expressions. Headers use them in functions that
    /// no code calls, so they become calls without arguments of an unknown function.
    UnknownBuiltin,
    /// `_Pragma`: never leaves the lexer, unless it is used wrongly.
    Pragma,
}

impl Tok {
    /// Whether this keyword can begin (or be among) declaration specifiers.
    pub fn is_specifier(self) -> bool {
        let kind = self as u8;
        Tok::Typedef as u8 <= kind && kind <= Tok::Typeof as u8
    }

    /// Whether this keyword may also be declared.
    pub fn is_soft(self) -> bool {
        matches!(self, Tok::SoftFloat | Tok::SoftDouble | Tok::SoftExtendedFloat)
    }

    /// Whether only an operand can follow, so that `(` after it is no call and no condition.
    pub fn precedes_operand(self) -> bool {
        let kind = self as u8;
        let is_operator = Tok::Star as u8 <= kind && kind <= Tok::OrAssign as u8;
        let others =
            [Tok::LParen, Tok::LBracket, Tok::LBrace, Tok::RBrace, Tok::Semi, Tok::Comma, Tok::Colon, Tok::Question];
        let prefixes = [Tok::Assign, Tok::Tilde, Tok::Not, Tok::Return, Tok::Case, Tok::Sizeof];
        is_operator || others.contains(&self) || prefixes.contains(&self)
    }
}

const KEYWORDS: &[(&str, Tok)] = &[
    ("typedef", Tok::Typedef),
    ("extern", Tok::Extern),
    ("static", Tok::Static),
    ("auto", Tok::Auto),
    ("register", Tok::Register),
    ("_Thread_local", Tok::ThreadLocal),
    ("__thread", Tok::ThreadLocal),
    ("inline", Tok::Inline),
    ("__inline", Tok::Inline),
    ("__inline__", Tok::Inline),
    ("_Noreturn", Tok::Noreturn),
    ("const", Tok::Const),
    ("__const", Tok::Const),
    ("__const__", Tok::Const),
    ("volatile", Tok::Volatile),
    ("__volatile", Tok::Volatile),
    ("__volatile__", Tok::Volatile),
    ("restrict", Tok::Restrict),
    ("__restrict", Tok::Restrict),
    ("__restrict__", Tok::Restrict),
    ("_Atomic", Tok::Atomic),
    ("_Alignas", Tok::Alignas),
    ("__attribute", Tok::Attribute),
    ("__attribute__", Tok::Attribute),
    ("void", Tok::Void),
    ("_Bool", Tok::Bool),
    ("char", Tok::Char_),
    ("short", Tok::Short),
    ("int", Tok::Int),
    ("long", Tok::Long),
    ("signed", Tok::Signed),
    ("__signed", Tok::Signed),
    ("__signed__", Tok::Signed),
    ("unsigned", Tok::Unsigned),
    ("float", Tok::Float),
    ("_Float32", Tok::SoftFloat),
    ("double", Tok::Double),
    ("_Float64", Tok::SoftDouble),
    ("_Float32x", Tok::SoftDouble),
    ("__int128", Tok::Int128),
    ("__int128__", Tok::Int128),
    ("__int128_t", Tok::Int128),
    ("__uint128_t", Tok::UnsignedInt128),
    ("_Float128", Tok::SoftExtendedFloat),
    ("__float128", Tok::ExtendedFloat),
    ("_Float64x", Tok::SoftExtendedFloat),
    ("_Float128x", Tok::SoftExtendedFloat),
    ("__float80", Tok::ExtendedFloat),
    ("__ibm128", Tok::ExtendedFloat),
    ("_Float16", Tok::ExtendedFloat),
    ("__fp16", Tok::ExtendedFloat),
    ("__bf16", Tok::ExtendedFloat),
    ("_Decimal32", Tok::ExtendedFloat),
    ("_Decimal64", Tok::ExtendedFloat),
    ("_Decimal128", Tok::ExtendedFloat),
    ("_Complex", Tok::Complex),
    ("__complex", Tok::Complex),
    ("__complex__", Tok::Complex),
    ("__builtin_va_list", Tok::VaList),
    ("__auto_type", Tok::AutoType),
    ("struct", Tok::Struct),
    ("union", Tok::Union),
    ("enum", Tok::Enum),
    ("typeof", Tok::Typeof),
    ("__typeof", Tok::Typeof),
    ("__typeof__", Tok::Typeof),
    ("break", Tok::Break),
    ("case", Tok::Case),
    ("continue", Tok::Continue),
    ("default", Tok::Default),
    ("do", Tok::Do),
    ("else", Tok::Else),
    ("for", Tok::For),
    ("goto", Tok::Goto),
    ("if", Tok::If),
    ("return", Tok::Return),
    ("switch", Tok::Switch),
    ("while", Tok::While),
    ("asm", Tok::Asm),
    ("__asm", Tok::Asm),
    ("__asm__", Tok::Asm),
    ("__label__", Tok::LabelDecl),
    ("_Static_assert", Tok::StaticAssert),
    ("sizeof", Tok::Sizeof),
    ("_Alignof", Tok::Alignof),
    ("__alignof", Tok::Alignof),
    ("__alignof__", Tok::Alignof),
    ("_Generic", Tok::Generic),
    ("__extension__", Tok::Extension),
    ("__real", Tok::Real),
    ("__real__", Tok::Real),
    ("__imag", Tok::Imag),
    ("__imag__", Tok::Imag),
    ("__builtin_va_arg", Tok::VaArg),
    ("__builtin_offsetof", Tok::Offsetof),
    ("__builtin_types_compatible_p", Tok::TypesCompatible),
    ("__builtin_choose_expr", Tok::ChooseExpr),
    ("__builtin_convertvector", Tok::UnknownBuiltin),
    ("__builtin_has_attribute", Tok::UnknownBuiltin),
    ("_Pragma", Tok::Pragma),
];

/// Makes the keywords the first names of an empty interner.
pub fn intern_keywords(names: &mut Names) {
    debug_assert!(names.is_empty());
    for (text, _) in KEYWORDS {
        names.intern(text);
    }
}

/// The kind of an identifier-like token, by its name in an interner prepared by [`intern_keywords`].
pub fn keyword_or_identifier(name: Name) -> Tok {
    KEYWORDS.get(name.0 as usize).map_or(Tok::Ident, |(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_known_by_their_names() {
        let mut names = Names::default();
        intern_keywords(&mut names);
        assert_eq!(names.len(), KEYWORDS.len(), "no spelling is listed twice");
        for (text, kind) in KEYWORDS {
            let name = names.intern(text);
            assert_eq!(keyword_or_identifier(name), *kind, "{text}");
        }
        let other = names.intern("whilst");
        assert_eq!(keyword_or_identifier(other), Tok::Ident);
        assert!(Tok::Typeof.is_specifier() && Tok::Typedef.is_specifier() && !Tok::Break.is_specifier());
        assert!(!Tok::OrAssign.is_specifier());
    }

    #[test]
    fn tokens_are_small() {
        assert!(size_of::<Token>() <= 16);
    }
}
