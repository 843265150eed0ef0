//! Declarations and function definitions, at file scope and in blocks.

use super::Parser;
use crate::ast::{
    Attribute, Declaration, Declarator, Derived, FunctionDefinition, InitDeclarator, Item, Params, SpecId, Storage,
};
use crate::diagnostic::{Diagnostic, Result};
use crate::source::Span;
use crate::token::Tok;

/// What began with specifiers and a declarator.
pub(super) enum Declared {
    Declaration(Declaration),
    Function(FunctionDefinition),
}

impl Parser<'_> {
    pub(super) fn translation_unit(&mut self) -> Result<()> {
        loop {
            self.height = 0;
            match self.peek() {
                Tok::Eof => return Ok(()),
                Tok::Semi | Tok::Extension => {
                    self.bump();
                }
                Tok::StaticAssert => {
                    let assertion = self.static_assert()?;
                    self.ast.items.push(Item::StaticAssert(assertion));
                }
                Tok::Asm => {
                    let span = self.file_scope_asm()?;
                    self.ast.items.push(Item::Asm(span));
                }
                _ => self.external_declaration()?,
            }
        }
    }

    fn file_scope_asm(&mut self) -> Result<Span> {
        let start = self.bump().span();
        while matches!(self.peek(), Tok::Volatile | Tok::Inline) {
            self.bump();
        }
        let open = self.expect(Tok::LParen, "`(` after `asm`")?;
        self.plain_string("an assembler template in quotes")?;
        self.expect_close(Tok::RParen, open)?;
        let span = self.since(start);
        self.expect(Tok::Semi, "`;` after the `asm` declaration")?;
        Ok(span)
    }

    fn external_declaration(&mut self) -> Result<()> {
        if !self.at_type() && !self.at_attribute() {
            // Without specifiers only `x;`, `f() { … }`, `*p;` and `(x);` remain: an implicit `int`.
            match (self.peek(), self.peek_ahead(1)) {
                (Tok::Ident, Tok::Ident) => return Err(self.unknown_type("a declaration")),
                (Tok::Ident, Tok::Star) if self.peek_ahead(2) == Tok::Ident => {
                    return Err(self.unknown_type("a declaration"));
                }
                (Tok::Ident | Tok::Star | Tok::LParen, _) => {}
                (Tok::RBrace, _) => {
                    let message = "this `}` closes nothing";
                    let help = "every block that was opened before it is closed already";
                    return Err(Box::new(Diagnostic::error(self.span(), message).help(help)));
                }
                _ => return Err(self.unexpected("a declaration")),
            }
        }
        let item = match self.declared(Vec::new())? {
            Declared::Declaration(declaration) => Item::Declaration(declaration),
            Declared::Function(function) => Item::Function(function),
        };
        self.ast.items.push(item);
        Ok(())
    }

    /// A declaration with its `;`, or a function definition.
    pub(super) fn declared(&mut self, attributes: Vec<Attribute>) -> Result<Declared> {
        let start = attributes.first().map_or(self.span(), |first| first.span);
        let spec = self.specifiers(attributes)?;
        if self.at(Tok::Semi) {
            let span = self.since(start);
            self.bump();
            return Ok(Declared::Declaration(Declaration { spec, declarators: Vec::new(), span }));
        }
        let is_typedef = self.ast.specs[spec].storage == Some(Storage::Typedef);
        let mut declarators = Vec::new();
        loop {
            let saved = self.open();
            let mut prefix = Vec::new();
            if !declarators.is_empty() {
                self.attributes(&mut prefix)?;
            }
            let mut declarator = self.declarator()?;
            declarator.attributes.append(&mut prefix);
            let asm_label = self.asm_label()?;
            self.attributes(&mut declarator.attributes)?;
            if let Some(name) = declarator.name {
                self.types.declare(name, is_typedef);
            }
            if declarators.is_empty() && asm_label.is_none() && self.body_follows(&declarator) {
                let function = self.function_definition(start, spec, declarator)?;
                self.close(saved);
                return Ok(Declared::Function(function));
            }
            let init = if self.eat(Tok::Assign) { Some(self.initializer()?) } else { None };
            // gcc takes attributes here too.
            self.attributes(&mut declarator.attributes)?;
            self.close(saved);
            declarators.push(InitDeclarator { declarator, init, asm_label });
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        let span = self.since(start);
        if !self.at(Tok::Semi) {
            return Err(self.after_declarator(&declarators));
        }
        self.bump();
        Ok(Declared::Declaration(Declaration { spec, declarators, span }))
    }

    /// What is missing after a list of declarators that no `;` ends.
    fn after_declarator(&mut self, declarators: &[InitDeclarator]) -> Box<Diagnostic> {
        let last = declarators.last();
        let is_function =
            last.is_some_and(|last| matches!(last.declarator.derived.first(), Some(Derived::Function(_))));
        let expected = match last {
            Some(last) if last.init.is_some() => "`,` or `;` after the initializer",
            Some(_) if is_function => "`;` or a body `{ … }` after the function's declarator",
            _ => "`=`, `,` or `;` after the declarator",
        };
        self.missing(expected)
    }

    /// A declaration where no function can be defined.
    pub(super) fn declaration(&mut self, what: &str) -> Result<Declaration> {
        let start = self.span();
        match self.declared(Vec::new())? {
            Declared::Declaration(declaration) => Ok(declaration),
            Declared::Function(_) => self.error(start, format!("a function cannot be defined {what}")),
        }
    }

    /// Whether a function's body, or the declarations of old-style parameters, follow its declarator.
    fn body_follows(&self, declarator: &Declarator) -> bool {
        let Some(Derived::Function(function)) = declarator.derived.first() else { return false };
        self.at(Tok::LBrace)
            || (matches!(function.params, Params::Names(_)) && (self.at_type() || self.at(Tok::Extension)))
    }

    fn function_definition(&mut self, start: Span, spec: SpecId, declarator: Declarator) -> Result<FunctionDefinition> {
        let saved = self.enter()?;
        let scope = self.types.enter();
        let mut old_params = Vec::new();
        while !matches!(self.peek(), Tok::LBrace | Tok::Eof) {
            let saved = self.open();
            if !self.at_type() && !self.at_attribute() && !self.at(Tok::Extension) {
                return Err(self.unexpected("the declaration of a parameter, or `{`"));
            }
            old_params.push(self.declaration("among the declarations of parameters")?);
            self.close(saved);
        }
        if let Some(Derived::Function(function)) = declarator.derived.first() {
            match &function.params {
                Params::Prototype { params, .. } => {
                    for name in params.iter().filter_map(|param| param.declarator.name) {
                        self.types.declare(name, false);
                    }
                }
                Params::Names(names) => {
                    for (name, _) in names {
                        self.types.declare(*name, false);
                    }
                }
                Params::Unspecified => {}
            }
        }
        let body = self.compound()?;
        self.types.leave(scope);
        self.raise()?;
        self.leave(saved);
        Ok(FunctionDefinition { spec, declarator, old_params, body, span: self.since(start) })
    }
}
