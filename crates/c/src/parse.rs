//! Tokens to a syntax tree, by recursive descent.
//!
//! This file holds what all of the grammar needs: the cursor, error messages, and two bounds. The grammar itself is in
//! the files below: specifiers, declarators, declarations, initializers, attributes, statements, expressions.
//!
//! **Names.** C can only be parsed by knowing which identifiers name types; [`scope`] keeps exactly that.
//!
//! **Depth.** Everything after the parser walks the tree recursively, so the parser promises that no tree is higher
//! than [`MAX_DEPTH`]. It also recurses itself, and not every level of its recursion makes a node (parentheses in
//! declarators), nor does every node need a level (the left operands of `a + b + c`). So there are two counters:
//! `depth` is how deep the parser is now; `height` is the height of the highest tree finished in the construct being
//! parsed. A construct with parts that are siblings parses each between [`Parser::open`] and [`Parser::close`] (or
//! `enter` and `leave`, which also count a level of recursion), and [`Parser::raise`]s the height by one for its own
//! node.
//!
//! The parser stops at the first error: what a person wants is the first mistake, at the right place.

mod attributes;
mod declarations;
mod declarators;
mod expressions;
mod initializers;
mod scope;
mod specifiers;
mod statements;

use crate::ast::{Ast, Expr, ExprId, ExprKind, Name, Stmt, StmtId, StmtKind};
use crate::diagnostic::{Diagnostic, Result, quoted};
use crate::lex::{Lexed, lex};
use crate::source::{Source, Span};
use crate::token::{Tok, Token, intern_keywords};
use scope::TypeNames;

/// How high a syntax tree may be. Machine-made programs have chains of thousands of `else if` or `+`; a program beyond
/// this is refused. [`crate::stack::with_big_stack`] gives room for recursion to this depth.
pub const MAX_DEPTH: u32 = 12_000;

/// Parses a whole translation unit, and tells `source` about the line markers in it.
///
/// To be called with plenty of stack: see [`crate::stack::with_big_stack`].
pub fn parse(source: &mut Source) -> Result<Ast> {
    if u32::try_from(source.text.len()).is_err() {
        return Err(Box::new(Diagnostic::error(Span::default(), "the preprocessed text is larger than 4 GiB")));
    }
    let mut ast = Ast::default();
    intern_keywords(&mut ast.names);
    let lexed = lex(source, &mut ast.names);
    let mut parser = Parser::new(source, lexed, ast);
    parser.translation_unit()?;
    Ok(parser.ast)
}

struct Parser<'a> {
    source: &'a Source,
    tokens: Vec<Token>,
    at: usize,
    lex_error: Option<Box<Diagnostic>>,
    packs: Vec<crate::lex::PackChange>,
    ast: Ast,
    types: TypeNames,
    /// Qualifiers of the pointers of all declarators that are being parsed: a stack of lists in one vector.
    pointers: Vec<crate::ast::Qualifiers>,
    depth: u32,
    height: u32,
    /// How many parameter lists the parser is inside of.
    parameter_lists: u32,
}

/// What the height was before a part of a construct was begun.
#[must_use]
struct Saved(u32);

impl<'a> Parser<'a> {
    fn new(source: &'a Source, lexed: Lexed, mut ast: Ast) -> Parser<'a> {
        ast.warnings = lexed.warnings;
        Parser {
            source,
            tokens: lexed.tokens,
            at: 0,
            lex_error: lexed.error,
            packs: lexed.packs,
            types: TypeNames::new(ast.names.len()),
            ast,
            pointers: Vec::new(),
            depth: 0,
            height: 0,
            parameter_lists: 0,
        }
    }

    // The cursor.

    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    fn peek(&self) -> Tok {
        self.tokens[self.at].kind
    }

    /// The kind of the token `ahead` (at most 2) after the current one.
    fn peek_ahead(&self, ahead: usize) -> Tok {
        self.tokens.get(self.at + ahead).map_or(Tok::Eof, |token| token.kind)
    }

    fn at(&self, kind: Tok) -> bool {
        self.peek() == kind
    }

    /// Takes the current token. The end is never passed.
    fn bump(&mut self) -> Token {
        let token = self.tokens[self.at];
        if token.kind != Tok::Eof {
            self.at += 1;
        }
        token
    }

    fn eat(&mut self, kind: Tok) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    fn span(&self) -> Span {
        self.token().span()
    }

    /// The token before the current one.
    fn previous(&self) -> Span {
        if self.at == 0 { Span::default() } else { self.tokens[self.at - 1].span() }
    }

    fn since(&self, start: Span) -> Span {
        start.to(self.previous())
    }

    fn text(&self, token: Token) -> &'a [u8] {
        &self.source.text[token.start as usize..token.end as usize]
    }

    /// Takes `what`, which the text needs here: "expected `;` after the declaration".
    fn expect(&mut self, kind: Tok, what: &str) -> Result<Token> {
        if self.at(kind) { Ok(self.bump()) } else { Err(self.missing(what)) }
    }

    /// Takes the closing partner of `open`.
    fn expect_close(&mut self, kind: Tok, open: Token) -> Result<Token> {
        if self.at(kind) {
            return Ok(self.bump());
        }
        let (closer, opener) = match kind {
            Tok::RParen => ("`)`", "`(`"),
            Tok::RBracket => ("`]`", "`[`"),
            _ => ("`}`", "`{`"),
        };
        let (file, line, _) = self.source.position(open.start);
        let here = self.source.position(self.previous().start).0;
        let file = if file == here { String::new() } else { format!(" of {}", self.source.files()[file]) };
        let help = format!("to close the {opener} in line {line}{file}");
        Err(Box::new(self.missing(closer).help(help)))
    }

    fn expect_name(&mut self, what: &str) -> Result<(Name, Span)> {
        if self.at(Tok::Ident) {
            let token = self.bump();
            return Ok((token.name, token.span()));
        }
        Err(self.unexpected(what))
    }

    // Errors.

    fn error<T>(&self, span: Span, message: impl Into<String>) -> Result<T> {
        Err(Box::new(Diagnostic::error(span, message)))
    }

    /// The current token as a message quotes it.
    fn found(&self) -> String {
        let token = self.token();
        if token.kind == Tok::Eof {
            return "the end of the file".to_string();
        }
        let what = quoted(self.text(token));
        if token.kind != Tok::Ident && self.is_keyword(token) { format!("the keyword {what}") } else { what }
    }

    fn is_keyword(&self, token: Token) -> bool {
        let first = self.source.text.get(token.start as usize).copied().unwrap_or(0);
        (first.is_ascii_alphabetic() || first == b'_') && !matches!(token.kind, Tok::Ident | Tok::Char | Tok::Str)
    }

    /// "expected an expression, found `]`", at the current token.
    fn unexpected(&mut self, expected: &str) -> Box<Diagnostic> {
        if let Some(error) = self.error_token().or_else(|| self.unknown_type_in_cast()) {
            return error;
        }
        Box::new(Diagnostic::error(self.span(), format!("expected {expected}, found {}", self.found())))
    }

    /// As [`Parser::unexpected`], but at the end of the previous token: that is where something is missing.
    fn missing(&mut self, expected: &str) -> Box<Diagnostic> {
        if let Some(error) = self.error_token().or_else(|| self.unknown_type_in_cast()) {
            return error;
        }
        let end = self.previous().end;
        Box::new(Diagnostic::error(Span::new(end, end), format!("expected {expected}, found {}", self.found())))
    }

    /// What the lexer has to say, if the current token is where it stopped.
    fn error_token(&mut self) -> Option<Box<Diagnostic>> {
        if self.at(Tok::Error) { self.lex_error.take() } else { None }
    }

    /// The likely cause of an error after `(name)` or in `(name *)`: a cast to a type that is not declared.
    fn unknown_type_in_cast(&self) -> Option<Box<Diagnostic>> {
        let [context, open, name, last] = self.tokens.get(self.at.checked_sub(4)?..self.at)? else { return None };
        let is_cast = match (last.kind, self.peek()) {
            (Tok::RParen, next) => matches!(next, Tok::Ident | Tok::Number | Tok::Char | Tok::Str | Tok::LBrace),
            (Tok::Star, next) => next == Tok::RParen,
            _ => false,
        };
        let is_operand = context.kind.precedes_operand() && open.kind == Tok::LParen;
        if is_cast && is_operand && name.kind == Tok::Ident && !self.types.is_type(name.name) {
            return Some(self.unknown_type_name(*name));
        }
        None
    }

    fn unknown_type_name(&self, token: Token) -> Box<Diagnostic> {
        let message = format!("unknown type name {}", quoted(self.text(token)));
        let help = "declare it with `typedef`, or include the header that does";
        Box::new(Diagnostic::error(token.span(), message).help(help))
    }

    // Depth and height.

    /// Begins a part of a construct that nests: one level of recursion.
    fn enter(&mut self) -> Result<Saved> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.too_deep());
        }
        Ok(self.open())
    }

    fn leave(&mut self, saved: Saved) {
        self.depth -= 1;
        self.close(saved);
    }

    /// Begins a part of a construct that has siblings.
    fn open(&mut self) -> Saved {
        Saved(std::mem::take(&mut self.height))
    }

    fn close(&mut self, saved: Saved) {
        self.height = self.height.max(saved.0);
    }

    /// One node on top of all trees finished in this construct.
    fn raise(&mut self) -> Result<()> {
        self.height += 1;
        if self.height > MAX_DEPTH { Err(self.too_deep()) } else { Ok(()) }
    }

    fn too_deep(&mut self) -> Box<Diagnostic> {
        let help = format!("Leno reads programs that nest up to {MAX_DEPTH} levels");
        Box::new(Diagnostic::error(self.span(), "this is nested too deeply").help(help))
    }

    // Nodes.

    /// A node from `start` to the token before the current one.
    fn expr(&mut self, start: Span, kind: ExprKind) -> Result<ExprId> {
        self.raise()?;
        let span = self.since(start);
        Ok(self.ast.exprs.push(Expr { kind, span }))
    }

    fn stmt(&mut self, start: Span, kind: StmtKind) -> Result<StmtId> {
        self.raise()?;
        let span = self.since(start);
        Ok(self.ast.stmts.push(Stmt { kind, span }))
    }
}
