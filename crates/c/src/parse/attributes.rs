//! Attributes, `asm` labels and `_Static_assert`: what may stand almost anywhere in a declaration.

use super::Parser;
use crate::ast::{Attribute, AttributeArg, CharKind, ExprKind, StaticAssert};
use crate::diagnostic::Result;
use crate::literal;
use crate::source::Span;
use crate::token::Tok;

impl Parser<'_> {
    /// Whether `__attribute__` or `[[` comes next.
    pub(super) fn at_attribute(&self) -> bool {
        match self.peek() {
            Tok::Attribute => true,
            Tok::LBracket => self.peek_ahead(1) == Tok::LBracket,
            _ => false,
        }
    }

    /// Any number of `__attribute__((…))` and `[[…]]`.
    pub(super) fn attributes(&mut self, into: &mut Vec<Attribute>) -> Result<()> {
        while self.at_attribute() {
            let bracketed = self.at(Tok::LBracket);
            let open = if bracketed { self.bump() } else { self.attribute_open()? };
            let inner = self.bump();
            if !bracketed && inner.kind != Tok::LParen {
                self.at -= 1;
                return Err(self.unexpected("`((` after `__attribute__`"));
            }
            let closer = if bracketed { Tok::RBracket } else { Tok::RParen };
            while !self.at(closer) {
                if !self.eat(Tok::Comma) {
                    self.attribute(into, bracketed)?;
                }
            }
            self.expect_close(closer, inner)?;
            self.expect_close(closer, open)?;
        }
        Ok(())
    }

    fn attribute_open(&mut self) -> Result<crate::token::Token> {
        self.bump();
        self.expect(Tok::LParen, "`((` after `__attribute__`")
    }

    /// `name`, `name(arguments)` or `gnu::name(arguments)`. Keywords are names here (`const`, `__noreturn__`). Only
    /// GNU's attributes have arguments that mean something to us; those of others may be any tokens.
    fn attribute(&mut self, into: &mut Vec<Attribute>, bracketed: bool) -> Result<()> {
        let token = self.token();
        if token.kind != Tok::Ident && !self.is_keyword(token) {
            return Err(self.unexpected("the name of an attribute"));
        }
        self.bump();
        let mut name = token.name;
        let mut foreign = false;
        let mut gnu = !bracketed;
        if self.at(Tok::Colon) && self.peek_ahead(1) == Tok::Colon {
            self.bump();
            self.bump();
            gnu = matches!(self.ast.names.text(name), "gnu" | "__gnu__");
            foreign = !gnu;
            name = self.bump().name;
        }
        let text = self.ast.names.text(name);
        let trimmed = text.strip_prefix("__").and_then(|rest| rest.strip_suffix("__")).unwrap_or(text).to_string();
        let mut args = Vec::new();
        if self.at(Tok::LParen) {
            if gnu { self.attribute_arguments(&mut args)? } else { self.skip_balanced()? }
        }
        if !foreign {
            into.push(Attribute { name: trimmed, args, span: self.since(token.span()) });
        }
        Ok(())
    }

    fn attribute_arguments(&mut self, args: &mut Vec<AttributeArg>) -> Result<()> {
        let open = self.bump();
        while !self.at(Tok::RParen) {
            let lone = matches!(self.peek_ahead(1), Tok::Comma | Tok::RParen);
            if self.at(Tok::Ident) && lone {
                args.push(AttributeArg::Name(self.bump().name));
            } else if self.at_type() {
                self.type_name()?;
            } else {
                args.push(AttributeArg::Expr(self.assignment()?));
            }
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.expect_close(Tok::RParen, open)?;
        Ok(())
    }

    /// `( … )` with anything inside that is balanced.
    pub(super) fn skip_balanced(&mut self) -> Result<()> {
        let open = self.token();
        if open.kind != Tok::LParen {
            return Err(self.missing("`(`"));
        }
        let mut depth = 0usize;
        loop {
            match self.peek() {
                Tok::LParen | Tok::LBracket | Tok::LBrace => depth += 1,
                Tok::RParen | Tok::RBracket | Tok::RBrace => depth = depth.saturating_sub(1),
                Tok::Eof | Tok::Error => return self.expect_close(Tok::RParen, open).map(|_| ()),
                _ => {}
            }
            self.bump();
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// `asm("label")` after a declarator.
    pub(super) fn asm_label(&mut self) -> Result<Option<String>> {
        if !self.eat(Tok::Asm) {
            return Ok(None);
        }
        let open = self.expect(Tok::LParen, "`(` after `asm`")?;
        let (label, _) = self.plain_string("the name in quotes")?;
        self.expect_close(Tok::RParen, open)?;
        Ok(Some(label))
    }

    /// String literals that are not values: labels, templates, messages.
    pub(super) fn plain_string(&mut self, what: &str) -> Result<(String, Span)> {
        if !self.at(Tok::Str) {
            return Err(self.unexpected(what));
        }
        let start = self.span();
        let mut units = Vec::new();
        while self.at(Tok::Str) {
            let token = self.bump();
            let quoted = literal::unquote(self.text(token));
            if let Err(complaint) = literal::decode(quoted, CharKind::Plain, &mut units) {
                return self.error(token.span(), complaint);
            }
        }
        let bytes: Vec<u8> = units.iter().map(|unit| *unit as u8).collect();
        Ok((String::from_utf8_lossy(&bytes).into_owned(), self.since(start)))
    }

    /// `_Static_assert(e, "message");`
    pub(super) fn static_assert(&mut self) -> Result<StaticAssert> {
        let start = self.bump().span();
        let saved = self.open();
        let open = self.expect(Tok::LParen, "`(` after `_Static_assert`")?;
        let cond = self.assignment()?;
        let message = if self.eat(Tok::Comma) { Some(self.plain_string("a message in quotes")?.0) } else { None };
        self.expect_close(Tok::RParen, open)?;
        let span = self.since(start);
        self.expect(Tok::Semi, "`;` after the static assertion")?;
        self.close(saved);
        Ok(StaticAssert { cond, message, span })
    }

    /// The `#pragma pack` that is in force at the current token, as an attribute.
    pub(super) fn pack_attribute(&mut self, into: &mut Vec<Attribute>) -> Result<()> {
        let Some(last) = self.packs.partition_point(|change| change.token <= self.at).checked_sub(1) else {
            return Ok(());
        };
        let alignment = self.packs[last].alignment;
        if alignment > 0 {
            let start = self.previous();
            let value = u128::from(alignment);
            let suffix = crate::ast::IntSuffix::default();
            let number = self.expr(start, ExprKind::Int { value, suffix, decimal: true })?;
            let args = vec![AttributeArg::Expr(number)];
            into.push(Attribute { name: "pragma pack".to_string(), args, span: start });
        }
        Ok(())
    }
}
