//! Declaration specifiers: `static const unsigned long`, `struct S { … }`, `typeof(x)`, in any order.
//!
//! The words of an arithmetic type are counted as they come and turned into one canonical type at the end. A typedef
//! name is only a type while no other type was seen: in `unsigned T;` it is the name that is declared.

use super::Parser;
use crate::ast::{
    Alignas, Attribute, EnumSpecifier, Enumerator, IntSpecifier, Member, Qualifiers, RecordSpecifier, SpecId,
    Specifiers, Storage, TypeName, TypeSpecifier,
};
use crate::diagnostic::{Diagnostic, Result};
use crate::source::Span;
use crate::token::{Tok, Token};

/// The words of a type, as far as they were read.
#[derive(Default)]
struct Words {
    /// `char`, `int`, `float`, `double`, `__int128` or an extended float.
    base: Option<Tok>,
    /// `signed` or `unsigned`.
    sign: Option<Tok>,
    short: bool,
    long: u8,
    complex: bool,
    /// Any type that no other word combines with.
    whole: Option<TypeSpecifier>,
}

impl Words {
    /// Whether a type has been named.
    fn any(&self) -> bool {
        self.base.is_some()
            || self.sign.is_some()
            || self.short
            || self.long > 0
            || self.complex
            || self.whole.is_some()
    }

    /// Adds a word; false if it does not go with the others.
    fn add(&mut self, word: Tok) -> bool {
        if self.whole.is_some() {
            return false;
        }
        match word {
            Tok::Signed | Tok::Unsigned => self.sign.replace(word).is_none(),
            Tok::Short => !std::mem::replace(&mut self.short, true),
            Tok::Long => {
                self.long += 1;
                self.long <= 2
            }
            Tok::Complex => !std::mem::replace(&mut self.complex, true),
            Tok::SoftFloat => self.base.replace(Tok::Float).is_none(),
            Tok::SoftDouble => self.base.replace(Tok::Double).is_none(),
            Tok::SoftExtendedFloat => self.base.replace(Tok::ExtendedFloat).is_none(),
            Tok::UnsignedInt128 => {
                self.base.replace(Tok::Int128).is_none() && self.sign.replace(Tok::Unsigned).is_none()
            }
            _ => self.base.replace(word).is_none(),
        }
    }

    fn finish(self) -> Option<TypeSpecifier> {
        use IntSpecifier::*;
        if self.whole.is_some() {
            let alone = Words { whole: None, ..self };
            return if alone.any() { None } else { self.whole };
        }
        if self.complex {
            return Some(TypeSpecifier::Complex);
        }
        let unsigned = self.sign == Some(Tok::Unsigned);
        let pick = |signed_type, unsigned_type| if unsigned { unsigned_type } else { signed_type };
        let int = match (self.base, self.short, self.long) {
            (None, false, 0) if self.sign.is_none() => return Some(TypeSpecifier::Implicit),
            (Some(Tok::Char_), false, 0) if self.sign.is_none() => Char,
            (Some(Tok::Char_), false, 0) => pick(SignedChar, UnsignedChar),
            (None | Some(Tok::Int), true, 0) => pick(Short, UnsignedShort),
            (None | Some(Tok::Int), false, 0) => pick(Int, UnsignedInt),
            (None | Some(Tok::Int), false, 1) => pick(Long, UnsignedLong),
            (None | Some(Tok::Int), false, 2) => pick(LongLong, UnsignedLongLong),
            (Some(Tok::Int128), false, 0) => pick(Int128, UnsignedInt128),
            _ if self.sign.is_some() || self.short => return None,
            (Some(Tok::Float), _, 0) => return Some(TypeSpecifier::Float),
            (Some(Tok::Double), _, 0) => return Some(TypeSpecifier::Double),
            (Some(Tok::Double), _, 1) => return Some(TypeSpecifier::LongDouble),
            (Some(Tok::ExtendedFloat), _, 0) => return Some(TypeSpecifier::Float128),
            _ => return None,
        };
        Some(TypeSpecifier::Int(int))
    }
}

impl Parser<'_> {
    /// Whether the token `ahead` begins a type name.
    pub(super) fn type_ahead(&self, ahead: usize) -> bool {
        let Some(token) = self.tokens.get(self.at + ahead) else { return false };
        token.kind.is_specifier() || (token.kind == Tok::Ident && self.types.is_type(token.name))
    }

    pub(super) fn at_type(&self) -> bool {
        self.type_ahead(0)
    }

    /// Zero or more specifiers, after attributes that were read already.
    pub(super) fn specifiers(&mut self, attributes: Vec<Attribute>) -> Result<SpecId> {
        let saved = self.enter()?;
        let start = attributes.first().map_or(self.span(), |first| first.span);
        let mut words = Words::default();
        let mut spec = Specifiers {
            storage: None,
            is_thread_local: false,
            is_inline: false,
            is_noreturn: false,
            qualifiers: Qualifiers::default(),
            ty: TypeSpecifier::Implicit,
            alignas: Vec::new(),
            attributes,
            span: start,
        };
        while self.specifier(&mut spec, &mut words)? {}
        spec.span =
            if self.previous().end > start.start { self.since(start) } else { Span::new(start.start, start.start) };
        let Some(ty) = words.finish() else {
            return self.error(spec.span, "these words do not make a type together");
        };
        spec.ty = ty;
        self.raise()?;
        self.leave(saved);
        Ok(self.ast.specs.push(spec))
    }

    /// Takes one specifier; false if there is none.
    fn specifier(&mut self, spec: &mut Specifiers, words: &mut Words) -> Result<bool> {
        let token = self.token();
        match token.kind {
            Tok::Typedef => self.storage(spec, Storage::Typedef)?,
            Tok::Extern => self.storage(spec, Storage::Extern)?,
            Tok::Static => self.storage(spec, Storage::Static)?,
            Tok::Auto => self.storage(spec, Storage::Auto)?,
            Tok::Register => self.storage(spec, Storage::Register)?,
            Tok::ThreadLocal => spec.is_thread_local = true,
            Tok::Inline => spec.is_inline = true,
            Tok::Noreturn => spec.is_noreturn = true,
            Tok::Atomic if self.peek_ahead(1) == Tok::LParen => {
                let ty = self.parenthesized_type_after_keyword()?;
                self.whole_type(words, token, TypeSpecifier::Atomic(Box::new(ty)))?;
                return Ok(true);
            }
            Tok::Const | Tok::Volatile | Tok::Restrict | Tok::Atomic => add_qualifier(&mut spec.qualifiers, token.kind),
            Tok::Alignas => {
                spec.alignas.push(self.alignas()?);
                return Ok(true);
            }
            Tok::Attribute => {
                self.attributes(&mut spec.attributes)?;
                return Ok(true);
            }
            Tok::LBracket if self.at_attribute() => {
                self.attributes(&mut spec.attributes)?;
                return Ok(true);
            }
            Tok::Extension => {}
            Tok::Void => self.whole_type(words, token, TypeSpecifier::Void)?,
            Tok::Bool => self.whole_type(words, token, TypeSpecifier::Bool)?,
            Tok::VaList => self.whole_type(words, token, TypeSpecifier::VaList)?,
            Tok::AutoType => self.whole_type(words, token, TypeSpecifier::AutoType)?,
            Tok::Struct | Tok::Union => {
                let record = self.record()?;
                self.whole_type(words, token, TypeSpecifier::Record(record))?;
                return Ok(true);
            }
            Tok::Enum => {
                let enumeration = self.enumeration()?;
                self.whole_type(words, token, TypeSpecifier::Enum(enumeration))?;
                return Ok(true);
            }
            Tok::Typeof => {
                let ty = self.type_of()?;
                self.whole_type(words, token, ty)?;
                return Ok(true);
            }
            Tok::Ident if !words.any() && self.types.is_type(token.name) => {
                words.whole = Some(TypeSpecifier::Typedef(token.name));
            }
            kind if kind.is_soft() && words.base.is_some() => return Ok(false),
            kind if kind.is_specifier() => {
                if !words.add(kind) {
                    return self.error(token.span(), format!("{} does not go with the type before it", self.found()));
                }
            }
            _ => return Ok(false),
        }
        self.bump();
        Ok(true)
    }

    fn storage(&mut self, spec: &mut Specifiers, storage: Storage) -> Result<()> {
        match spec.storage.replace(storage) {
            None => Ok(()),
            Some(_) => self.error(self.span(), format!("{} is a second storage class", self.found())),
        }
    }

    fn whole_type(&mut self, words: &mut Words, token: Token, ty: TypeSpecifier) -> Result<()> {
        if words.any() {
            let help = "is a `;` missing before it?";
            let message = "this type follows another type in the same declaration";
            return Err(Box::new(Diagnostic::error(token.span(), message).help(help)));
        }
        words.whole = Some(ty);
        Ok(())
    }

    /// `keyword ( type-name )`
    fn parenthesized_type_after_keyword(&mut self) -> Result<TypeName> {
        self.bump();
        let open = self.bump();
        let ty = self.type_name()?;
        self.expect_close(Tok::RParen, open)?;
        Ok(ty)
    }

    fn alignas(&mut self) -> Result<Alignas> {
        self.bump();
        let open = self.expect(Tok::LParen, "`(` after `_Alignas`")?;
        let alignas =
            if self.at_type() { Alignas::Type(self.type_name()?) } else { Alignas::Expr(self.conditional_part()?) };
        self.expect_close(Tok::RParen, open)?;
        Ok(alignas)
    }

    fn type_of(&mut self) -> Result<TypeSpecifier> {
        self.bump();
        let open = self.expect(Tok::LParen, "`(` after `typeof`")?;
        let ty = if self.at_type() {
            TypeSpecifier::TypeofType(Box::new(self.type_name()?))
        } else {
            TypeSpecifier::TypeofExpr(self.expression()?)
        };
        self.expect_close(Tok::RParen, open)?;
        Ok(ty)
    }

    /// `struct tag { members }` in all its forms.
    fn record(&mut self) -> Result<RecordSpecifier> {
        let keyword = self.bump();
        let mut attributes = Vec::new();
        self.attributes(&mut attributes)?;
        let tag = if self.at(Tok::Ident) { Some(self.bump().name) } else { None };
        let mut span = self.since(keyword.span());
        let mut members = None;
        if self.at(Tok::LBrace) {
            let open = self.bump();
            let mut list = Vec::new();
            while !matches!(self.peek(), Tok::RBrace | Tok::Eof) {
                self.member(&mut list)?;
            }
            self.expect_close(Tok::RBrace, open)?;
            span = self.since(keyword.span());
            members = Some(list);
            self.pack_attribute(&mut attributes)?;
            self.attributes(&mut attributes)?;
        } else if tag.is_none() {
            return Err(self.unexpected("a tag or `{`"));
        }
        Ok(RecordSpecifier { is_union: keyword.kind == Tok::Union, tag, members, attributes, span })
    }

    /// One declaration inside a record: any number of members.
    fn member(&mut self, members: &mut Vec<Member>) -> Result<()> {
        while self.eat(Tok::Extension) {}
        match self.peek() {
            Tok::Semi => {
                self.bump();
                return Ok(());
            }
            Tok::StaticAssert => {
                members.push(Member::StaticAssert(self.static_assert()?));
                return Ok(());
            }
            _ if self.at_type() || self.at_attribute() => {}
            _ => return Err(self.unknown_type("a member declaration or `}`")),
        }
        let spec = self.specifiers(Vec::new())?;
        loop {
            let saved = self.open();
            let mut prefix = Vec::new();
            self.attributes(&mut prefix)?;
            let named = !matches!(self.peek(), Tok::Semi | Tok::Colon | Tok::RBrace);
            let mut declarator = if named { self.declarator()? } else { self.no_declarator() };
            let bits = if self.eat(Tok::Colon) { Some(self.conditional_part()?) } else { None };
            declarator.attributes.append(&mut prefix);
            self.attributes(&mut declarator.attributes)?;
            members.push(Member::Field { spec, declarator, bits });
            self.close(saved);
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        // gcc forgives a missing `;` before the closing brace.
        if !self.at(Tok::RBrace) {
            self.expect(Tok::Semi, "`;` after the member")?;
        }
        Ok(())
    }

    fn enumeration(&mut self) -> Result<EnumSpecifier> {
        let keyword = self.bump();
        let mut attributes = Vec::new();
        self.attributes(&mut attributes)?;
        let tag = if self.at(Tok::Ident) { Some(self.bump().name) } else { None };
        let mut span = self.since(keyword.span());
        let mut enumerators = None;
        if self.at(Tok::LBrace) {
            let open = self.bump();
            enumerators = Some(self.enumerators()?);
            self.expect_close(Tok::RBrace, open)?;
            span = self.since(keyword.span());
            self.attributes(&mut attributes)?;
        } else if tag.is_none() {
            return Err(self.unexpected("a tag or `{`"));
        }
        Ok(EnumSpecifier { tag, enumerators, attributes, span })
    }

    fn enumerators(&mut self) -> Result<Vec<Enumerator>> {
        let mut list = Vec::new();
        while !self.at(Tok::RBrace) {
            let (name, span) = self.expect_name("the name of an enumerator")?;
            self.attributes(&mut Vec::new())?;
            let value = if self.eat(Tok::Assign) { Some(self.conditional_part()?) } else { None };
            self.types.declare(name, false);
            list.push(Enumerator { name, value, span });
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        Ok(list)
    }

    /// A type as written in casts: specifiers and an abstract declarator.
    pub(super) fn type_name(&mut self) -> Result<TypeName> {
        let saved = self.open();
        let start = self.span();
        if !self.at_type() && !self.at(Tok::Extension) {
            return Err(self.unknown_type("a type"));
        }
        let spec = self.specifiers(Vec::new())?;
        let declarator = self.abstract_declarator()?;
        self.close(saved);
        Ok(TypeName { spec, declarator, span: self.since(start) })
    }

    /// An error at something that is not the type it should be: `expected` says what.
    pub(super) fn unknown_type(&mut self, expected: &str) -> Box<Diagnostic> {
        let next = self.peek_ahead(1);
        if self.at(Tok::Ident) && matches!(next, Tok::Ident | Tok::Star | Tok::RParen | Tok::Comma) {
            return self.unknown_type_name(self.token());
        }
        self.unexpected(expected)
    }
}

pub(super) fn add_qualifier(qualifiers: &mut Qualifiers, word: Tok) {
    match word {
        Tok::Const => qualifiers.is_const = true,
        Tok::Volatile => qualifiers.is_volatile = true,
        Tok::Restrict => qualifiers.is_restrict = true,
        _ => qualifiers.is_atomic = true,
    }
}
