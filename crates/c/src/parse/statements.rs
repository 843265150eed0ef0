//! Statements and blocks.
//!
//! A label may stand before a declaration or a closing brace (C23, and gcc everywhere): then it labels an empty
//! statement. Among the items of a block every label does: `case 1: case 2: f();` is three items, which means the same
//! and keeps trees low however many labels there are. `if`, `switch` and loops are scopes of their own, for what their
//! conditions may declare.

use super::Parser;
use super::declarations::Declared;
use crate::ast::{AsmStmt, BlockItem, ForInit, StmtId, StmtKind};
use crate::diagnostic::{Diagnostic, Result};
use crate::source::Span;
use crate::token::{Tok, Token};

/// What may follow a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Siblings {
    /// It is the body of something.
    None,
    /// It is an item of a block.
    Block,
}

impl Parser<'_> {
    /// `{ … }` in the current scope.
    pub(super) fn compound(&mut self) -> Result<StmtId> {
        let open = self.expect(Tok::LBrace, "`{`")?;
        let mut items = Vec::new();
        while !matches!(self.peek(), Tok::RBrace | Tok::Eof) {
            let saved = self.open();
            items.push(self.block_item()?);
            self.close(saved);
        }
        self.expect_close(Tok::RBrace, open)?;
        self.stmt(open.span(), StmtKind::Compound(items))
    }

    fn block_item(&mut self) -> Result<BlockItem> {
        match self.peek() {
            Tok::StaticAssert => return Ok(BlockItem::StaticAssert(self.static_assert()?)),
            Tok::LabelDecl => return self.local_labels(),
            Tok::Attribute | Tok::LBracket if self.at_attribute() => return self.item_with_attributes(),
            Tok::Extension => {
                let mut ahead = 1;
                while self.peek_ahead(ahead) == Tok::Extension {
                    ahead += 1;
                }
                let next = (self.peek_ahead(ahead), self.peek_ahead(ahead + 1));
                let declares = matches!(next, (Tok::StaticAssert, _) | (Tok::LBracket, Tok::LBracket));
                if self.type_ahead(ahead) || declares {
                    self.at += ahead;
                    return self.block_item();
                }
            }
            _ => {}
        }
        if !self.at_declaration() {
            return Ok(BlockItem::Stmt(self.statement_among(Siblings::Block)?));
        }
        Ok(match self.declared(Vec::new())? {
            Declared::Declaration(declaration) => BlockItem::Declaration(declaration),
            Declared::Function(function) => BlockItem::NestedFunction(function),
        })
    }

    /// Attributes may begin a declaration, or be all of a statement: `__attribute__((fallthrough));`
    fn item_with_attributes(&mut self) -> Result<BlockItem> {
        let start = self.span();
        let mut attributes = Vec::new();
        self.attributes(&mut attributes)?;
        if self.eat(Tok::Semi) {
            return Ok(BlockItem::Stmt(self.stmt(start, StmtKind::Empty)?));
        }
        while self.eat(Tok::Extension) {}
        if !self.at_declaration() {
            return Ok(BlockItem::Stmt(self.statement()?));
        }
        Ok(match self.declared(attributes)? {
            Declared::Declaration(declaration) => BlockItem::Declaration(declaration),
            Declared::Function(function) => BlockItem::NestedFunction(function),
        })
    }

    /// Whether a declaration comes next: a type that is no label.
    fn at_declaration(&self) -> bool {
        self.at_type() && !(self.at(Tok::Ident) && self.peek_ahead(1) == Tok::Colon)
    }

    fn local_labels(&mut self) -> Result<BlockItem> {
        self.bump();
        let mut names = vec![self.expect_name("the name of a label")?.0];
        while self.eat(Tok::Comma) {
            names.push(self.expect_name("the name of a label")?.0);
        }
        self.expect(Tok::Semi, "`;` after the labels")?;
        Ok(BlockItem::LocalLabels(names))
    }

    fn statement(&mut self) -> Result<StmtId> {
        self.statement_among(Siblings::None)
    }

    fn statement_among(&mut self, siblings: Siblings) -> Result<StmtId> {
        let saved = self.enter()?;
        let scope = self.types.enter();
        let token = self.token();
        let start = token.span();
        let statement = match token.kind {
            Tok::LBrace => self.compound()?,
            Tok::Semi => {
                self.bump();
                self.stmt(start, StmtKind::Empty)?
            }
            Tok::If => self.if_statement(start)?,
            Tok::Switch => {
                let value = self.condition("`switch`")?;
                let body = self.statement()?;
                self.stmt(start, StmtKind::Switch { value, body })?
            }
            Tok::While => {
                let cond = self.condition("`while`")?;
                let body = self.statement()?;
                self.stmt(start, StmtKind::While { cond, body })?
            }
            Tok::Do => self.do_statement(start)?,
            Tok::For => self.for_statement(start)?,
            Tok::Goto => self.goto_statement(start)?,
            Tok::Continue => self.jump(start, StmtKind::Continue)?,
            Tok::Break => self.jump(start, StmtKind::Break)?,
            Tok::Return => {
                self.bump();
                let value = if self.at(Tok::Semi) { None } else { Some(self.expression()?) };
                self.end_statement(start, StmtKind::Return(value))?
            }
            Tok::Case => self.case_statement(start, siblings)?,
            Tok::Default => {
                self.bump();
                self.expect(Tok::Colon, "`:` after `default`")?;
                let body = self.labelled(siblings)?;
                self.stmt(start, StmtKind::Default { body })?
            }
            Tok::Ident if self.peek_ahead(1) == Tok::Colon => {
                self.bump();
                self.bump();
                let body = self.labelled(siblings)?;
                self.stmt(start, StmtKind::Label { name: token.name, body })?
            }
            Tok::Asm => self.asm_statement(start)?,
            Tok::Attribute | Tok::LBracket if self.at_attribute() => {
                self.attributes(&mut Vec::new())?;
                self.statement()?
            }
            _ => self.expression_statement(token)?,
        };
        self.types.leave(scope);
        self.leave(saved);
        Ok(statement)
    }

    fn expression_statement(&mut self, first: Token) -> Result<StmtId> {
        if self.at_type() || self.at(Tok::StaticAssert) {
            let message = "expected a statement, found a declaration";
            let help = "put it in braces: a declaration is no statement";
            return Err(Box::new(Diagnostic::error(first.span(), message).help(help)));
        }
        if first.kind == Tok::Ident && self.peek_ahead(1) == Tok::Ident {
            return Err(self.unknown_type("a statement"));
        }
        if first.kind == Tok::Else {
            return self.error(first.span(), "this `else` belongs to no `if`");
        }
        let value = self.expression()?;
        self.end_statement(first.span(), StmtKind::Expr(value))
    }

    /// The `;` of a statement.
    fn end_statement(&mut self, start: Span, kind: StmtKind) -> Result<StmtId> {
        let what = match kind {
            StmtKind::Expr(_) => "`;` after the expression",
            StmtKind::Return(_) => "`;` after `return`",
            _ => "`;` after the statement",
        };
        self.expect(Tok::Semi, what)?;
        self.stmt(start, kind)
    }

    fn jump(&mut self, start: Span, kind: StmtKind) -> Result<StmtId> {
        self.bump();
        self.end_statement(start, kind)
    }

    /// `( expression )` after a keyword.
    fn condition(&mut self, keyword: &str) -> Result<crate::ast::ExprId> {
        self.bump();
        if !self.at(Tok::LParen) {
            return Err(self.missing(&format!("`(` after {keyword}")));
        }
        let open = self.bump();
        let cond = self.expression()?;
        self.expect_close(Tok::RParen, open)?;
        Ok(cond)
    }

    fn if_statement(&mut self, start: Span) -> Result<StmtId> {
        let cond = self.condition("`if`")?;
        let then = self.statement()?;
        let otherwise = if self.eat(Tok::Else) { Some(self.statement()?) } else { None };
        self.stmt(start, StmtKind::If { cond, then, otherwise })
    }

    fn do_statement(&mut self, start: Span) -> Result<StmtId> {
        self.bump();
        let body = self.statement()?;
        if !self.at(Tok::While) {
            return Err(self.missing("`while` after the body of `do`"));
        }
        let cond = self.condition("`while`")?;
        self.end_statement(start, StmtKind::DoWhile { body, cond })
    }

    fn for_statement(&mut self, start: Span) -> Result<StmtId> {
        self.bump();
        let open = self.expect(Tok::LParen, "`(` after `for`")?;
        while self.at(Tok::Extension) && self.type_ahead(1) {
            self.bump();
        }
        let init = if self.eat(Tok::Semi) {
            None
        } else if self.at_type() || self.at_attribute() {
            Some(ForInit::Declaration(self.declaration("in a `for`")?))
        } else {
            let value = self.expression()?;
            self.expect(Tok::Semi, "`;` after the first part of `for`")?;
            Some(ForInit::Expr(value))
        };
        let cond = if self.at(Tok::Semi) { None } else { Some(self.expression()?) };
        self.expect(Tok::Semi, "`;` after the condition of `for`")?;
        let step = if self.at(Tok::RParen) { None } else { Some(self.expression()?) };
        self.expect_close(Tok::RParen, open)?;
        let body = self.statement()?;
        self.stmt(start, StmtKind::For { init, cond, step, body })
    }

    fn goto_statement(&mut self, start: Span) -> Result<StmtId> {
        self.bump();
        if self.eat(Tok::Star) {
            let target = self.expression()?;
            return self.end_statement(start, StmtKind::GotoComputed(target));
        }
        let (label, _) = self.expect_name("a label after `goto`")?;
        self.end_statement(start, StmtKind::Goto(label))
    }

    fn case_statement(&mut self, start: Span, siblings: Siblings) -> Result<StmtId> {
        self.bump();
        let value = self.conditional_part()?;
        let end = if self.eat(Tok::Ellipsis) { Some(self.conditional_part()?) } else { None };
        self.expect(Tok::Colon, "`:` after the value of `case`")?;
        let body = self.labelled(siblings)?;
        self.stmt(start, StmtKind::Case { value, end, body })
    }

    /// What a label labels.
    fn labelled(&mut self, siblings: Siblings) -> Result<StmtId> {
        self.attributes(&mut Vec::new())?;
        let mut ahead = 0;
        while self.peek_ahead(ahead) == Tok::Extension {
            ahead += 1;
        }
        let declares = self.type_ahead(ahead) && (ahead > 0 || self.at_declaration());
        let ends = matches!(self.peek(), Tok::RBrace | Tok::StaticAssert);
        if siblings == Siblings::Block || declares || ends {
            let end = self.previous().end;
            let saved = self.open();
            let empty = self.stmt(Span::new(end, end), StmtKind::Empty)?;
            self.close(saved);
            return Ok(empty);
        }
        self.statement()
    }

    /// `asm volatile goto ("template" : outputs : inputs : clobbers : labels);`
    fn asm_statement(&mut self, start: Span) -> Result<StmtId> {
        self.bump();
        while matches!(self.peek(), Tok::Volatile | Tok::Inline | Tok::Goto | Tok::Const) {
            self.bump();
        }
        let open = self.expect(Tok::LParen, "`(` after `asm`")?;
        let (template, _) = self.plain_string("an assembler template in quotes")?;
        let (mut has_operands, mut has_effects) = (false, false);
        let mut clobbers_memory = false;
        for section in 0..4 {
            if !self.eat(Tok::Colon) {
                break;
            }
            while !matches!(self.peek(), Tok::Colon | Tok::RParen) {
                match section {
                    0 | 1 => {
                        has_effects |= self.asm_operand()?.starts_with('=');
                        has_operands = true;
                    }
                    2 => clobbers_memory |= self.plain_string("a clobbered register in quotes")?.0 == "memory",
                    _ => {
                        self.expect_name("a label")?;
                        (has_operands, has_effects) = (true, true);
                    }
                }
                if !self.eat(Tok::Comma) {
                    break;
                }
            }
        }
        self.expect_close(Tok::RParen, open)?;
        self.end_statement(start, StmtKind::Asm(AsmStmt { template, has_operands, has_effects, clobbers_memory }))
    }

    /// `[name] "constraint" (expression)`: the constraint.
    fn asm_operand(&mut self) -> Result<String> {
        if self.at(Tok::LBracket) {
            let open = self.bump();
            self.expect_name("the name of an operand")?;
            self.expect_close(Tok::RBracket, open)?;
        }
        let (constraint, _) = self.plain_string("a constraint in quotes")?;
        let open = self.expect(Tok::LParen, "`(` and the operand")?;
        self.expression()?;
        self.expect_close(Tok::RParen, open)?;
        Ok(constraint)
    }
}
