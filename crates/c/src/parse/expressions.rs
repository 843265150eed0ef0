//! Expressions, by precedence climbing.
//!
//! A `(` is a cast, a compound literal, a statement expression or a grouping; what follows it decides at once, because
//! the parser knows which names are types.

use super::Parser;
use crate::ast::{BinaryOp, Designator, ExprId, ExprKind, IntSuffix, TypeName, UnaryOp};
use crate::diagnostic::Result;
use crate::literal;
use crate::source::Span;
use crate::token::{Tok, Token};

/// The binary operator that a token is, and how tightly it binds.
fn binary_operator(kind: Tok) -> Option<(BinaryOp, u8)> {
    Some(match kind {
        Tok::Star => (BinaryOp::Mul, 10),
        Tok::Slash => (BinaryOp::Div, 10),
        Tok::Percent => (BinaryOp::Rem, 10),
        Tok::Plus => (BinaryOp::Add, 9),
        Tok::Minus => (BinaryOp::Sub, 9),
        Tok::Shl => (BinaryOp::Shl, 8),
        Tok::Shr => (BinaryOp::Shr, 8),
        Tok::Lt => (BinaryOp::Lt, 7),
        Tok::Gt => (BinaryOp::Gt, 7),
        Tok::Le => (BinaryOp::Le, 7),
        Tok::Ge => (BinaryOp::Ge, 7),
        Tok::EqEq => (BinaryOp::Eq, 6),
        Tok::NotEq => (BinaryOp::Ne, 6),
        Tok::Amp => (BinaryOp::BitAnd, 5),
        Tok::Caret => (BinaryOp::BitXor, 4),
        Tok::Pipe => (BinaryOp::BitOr, 3),
        Tok::AndAnd => (BinaryOp::And, 2),
        Tok::OrOr => (BinaryOp::Or, 1),
        _ => return None,
    })
}

/// The assignment operator that a token is: the operator it applies first, if any.
fn assignment_operator(kind: Tok) -> Option<Option<BinaryOp>> {
    Some(match kind {
        Tok::Assign => None,
        Tok::MulAssign => Some(BinaryOp::Mul),
        Tok::DivAssign => Some(BinaryOp::Div),
        Tok::RemAssign => Some(BinaryOp::Rem),
        Tok::AddAssign => Some(BinaryOp::Add),
        Tok::SubAssign => Some(BinaryOp::Sub),
        Tok::ShlAssign => Some(BinaryOp::Shl),
        Tok::ShrAssign => Some(BinaryOp::Shr),
        Tok::AndAssign => Some(BinaryOp::BitAnd),
        Tok::XorAssign => Some(BinaryOp::BitXor),
        Tok::OrAssign => Some(BinaryOp::BitOr),
        _ => return None,
    })
}

fn prefix_operator(kind: Tok) -> Option<UnaryOp> {
    Some(match kind {
        Tok::Plus => UnaryOp::Plus,
        Tok::Minus => UnaryOp::Minus,
        Tok::Tilde => UnaryOp::BitNot,
        Tok::Not => UnaryOp::Not,
        Tok::Star => UnaryOp::Deref,
        Tok::Amp => UnaryOp::AddressOf,
        Tok::Inc => UnaryOp::PreIncrement,
        Tok::Dec => UnaryOp::PreDecrement,
        Tok::Real => UnaryOp::Real,
        Tok::Imag => UnaryOp::Imag,
        Tok::Extension => UnaryOp::Extension,
        _ => return None,
    })
}

impl Parser<'_> {
    /// Any expression, with commas.
    pub(super) fn expression(&mut self) -> Result<ExprId> {
        let saved = self.open();
        let start = self.span();
        let mut left = self.assignment()?;
        while self.eat(Tok::Comma) {
            let right = self.assignment()?;
            left = self.expr(start, ExprKind::Comma(left, right))?;
        }
        self.close(saved);
        Ok(left)
    }

    /// An expression without commas outside of parentheses.
    pub(super) fn assignment(&mut self) -> Result<ExprId> {
        let saved = self.enter()?;
        let start = self.span();
        let mut value = self.conditional()?;
        if let Some(operator) = assignment_operator(self.peek()) {
            self.bump();
            let right = self.assignment()?;
            value = self.expr(start, ExprKind::Assign(operator, value, right))?;
        }
        self.leave(saved);
        Ok(value)
    }

    /// A constant expression that has siblings.
    pub(super) fn conditional_part(&mut self) -> Result<ExprId> {
        let saved = self.open();
        let value = self.conditional()?;
        self.close(saved);
        Ok(value)
    }

    fn conditional(&mut self) -> Result<ExprId> {
        let start = self.span();
        let cond = self.binary(1)?;
        if !self.eat(Tok::Question) {
            return Ok(cond);
        }
        let then = if self.at(Tok::Colon) { None } else { Some(self.expression()?) };
        self.expect(Tok::Colon, "`:` of the conditional expression")?;
        let saved = self.enter()?;
        let otherwise = self.conditional()?;
        self.leave(saved);
        self.expr(start, ExprKind::Conditional { cond, then, otherwise })
    }

    /// Operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8) -> Result<ExprId> {
        let start = self.span();
        let mut left = self.cast()?;
        while let Some((operator, binds)) = binary_operator(self.peek()) {
            if binds < least {
                break;
            }
            self.bump();
            let saved = self.open();
            let right = self.binary(binds + 1)?;
            self.close(saved);
            left = self.expr(start, ExprKind::Binary(operator, left, right))?;
        }
        Ok(left)
    }

    /// A cast, or anything that binds as tightly.
    fn cast(&mut self) -> Result<ExprId> {
        if !self.at(Tok::LParen) || !self.type_ahead(1) {
            return self.unary();
        }
        let start = self.span();
        let ty = self.parenthesized_type()?;
        if self.at(Tok::LBrace) {
            return self.compound_literal(start, ty);
        }
        let operand = self.operand()?;
        self.expr(start, ExprKind::Cast { ty: Box::new(ty), operand })
    }

    /// The operand of a cast or prefix operator: one level down.
    fn operand(&mut self) -> Result<ExprId> {
        let saved = self.enter()?;
        let operand = self.cast()?;
        self.leave(saved);
        Ok(operand)
    }

    fn parenthesized_type(&mut self) -> Result<TypeName> {
        let open = self.expect(Tok::LParen, "`(`")?;
        let ty = self.type_name()?;
        self.expect_close(Tok::RParen, open)?;
        Ok(ty)
    }

    /// The braces of `(T){ … }`, and what is applied to it.
    fn compound_literal(&mut self, start: Span, ty: TypeName) -> Result<ExprId> {
        let init = self.braced_initializer()?;
        let literal = self.expr(start, ExprKind::CompoundLiteral { ty: Box::new(ty), init })?;
        self.postfix(start, literal)
    }

    fn unary(&mut self) -> Result<ExprId> {
        let start = self.span();
        let kind = self.peek();
        if let Some(operator) = prefix_operator(kind) {
            self.bump();
            let operand = self.operand()?;
            return self.expr(start, ExprKind::Unary(operator, operand));
        }
        match kind {
            Tok::Sizeof | Tok::Alignof => self.size_or_alignment(start, kind == Tok::Sizeof),
            Tok::AndAnd => {
                self.bump();
                let (label, _) = self.expect_name("the name of a label after `&&`")?;
                self.expr(start, ExprKind::LabelAddress(label))
            }
            _ => {
                let primary = self.primary()?;
                self.postfix(start, primary)
            }
        }
    }

    fn size_or_alignment(&mut self, start: Span, is_size: bool) -> Result<ExprId> {
        self.bump();
        let saved = self.enter()?;
        let kind = if self.at(Tok::LParen) && self.type_ahead(1) {
            let operand = self.span();
            let ty = self.parenthesized_type()?;
            if self.at(Tok::LBrace) {
                let literal = self.compound_literal(operand, ty)?;
                if is_size { ExprKind::SizeofExpr(literal) } else { ExprKind::AlignofExpr(literal) }
            } else {
                let ty = Box::new(ty);
                if is_size { ExprKind::SizeofType(ty) } else { ExprKind::AlignofType(ty) }
            }
        } else {
            let operand = self.unary()?;
            if is_size { ExprKind::SizeofExpr(operand) } else { ExprKind::AlignofExpr(operand) }
        };
        self.leave(saved);
        self.expr(start, kind)
    }

    /// `[…]`, `(…)`, `.x`, `->x`, `++` and `--` after a value.
    fn postfix(&mut self, start: Span, mut value: ExprId) -> Result<ExprId> {
        loop {
            let token = self.token();
            let kind = match token.kind {
                Tok::LBracket => {
                    self.bump();
                    let index = self.expression()?;
                    self.expect_close(Tok::RBracket, token)?;
                    ExprKind::Index(value, index)
                }
                Tok::LParen => ExprKind::Call { callee: value, args: self.arguments()? },
                Tok::Dot | Tok::Arrow => {
                    self.bump();
                    let (field, _) = self.expect_name("the name of a member")?;
                    ExprKind::Member { base: value, field, arrow: token.kind == Tok::Arrow }
                }
                Tok::Inc => {
                    self.bump();
                    ExprKind::Unary(UnaryOp::PostIncrement, value)
                }
                Tok::Dec => {
                    self.bump();
                    ExprKind::Unary(UnaryOp::PostDecrement, value)
                }
                _ => return Ok(value),
            };
            value = self.expr(start, kind)?;
        }
    }

    fn arguments(&mut self) -> Result<Vec<ExprId>> {
        let open = self.bump();
        let mut args = Vec::new();
        if !self.at(Tok::RParen) {
            args.push(self.assignment()?);
            while self.eat(Tok::Comma) {
                args.push(self.assignment()?);
            }
        }
        self.expect_close(Tok::RParen, open)?;
        Ok(args)
    }

    fn primary(&mut self) -> Result<ExprId> {
        let token = self.token();
        let start = token.span();
        match token.kind {
            Tok::Ident => {
                if self.types.is_type(token.name) {
                    let message = format!("expected an expression, found the type {}", self.found());
                    return self.error(start, message);
                }
                self.bump();
                self.expr(start, ExprKind::Ident(token.name))
            }
            Tok::Number => self.literal(token, literal::number),
            Tok::Char => self.literal(token, literal::character),
            Tok::Str => self.string(),
            Tok::LParen => self.parenthesized(),
            Tok::Generic => self.generic(),
            Tok::VaArg => {
                let (open, list) = self.builtin_call()?;
                self.expect(Tok::Comma, "`,` and a type")?;
                let ty = Box::new(self.type_name()?);
                self.expect_close(Tok::RParen, open)?;
                self.expr(start, ExprKind::VaArg { list, ty })
            }
            Tok::Offsetof => self.offsetof(),
            Tok::ChooseExpr => {
                let (open, cond) = self.builtin_call()?;
                self.expect(Tok::Comma, "`,`")?;
                let then = self.assignment()?;
                self.expect(Tok::Comma, "`,`")?;
                let otherwise = self.assignment()?;
                self.expect_close(Tok::RParen, open)?;
                self.expr(start, ExprKind::Choose { cond, then, otherwise })
            }
            Tok::TypesCompatible => {
                self.bump();
                let open = self.expect(Tok::LParen, "`(`")?;
                let first = Box::new(self.type_name()?);
                self.expect(Tok::Comma, "`,` and another type")?;
                let second = Box::new(self.type_name()?);
                self.expect_close(Tok::RParen, open)?;
                self.expr(start, ExprKind::TypesCompatible(first, second))
            }
            Tok::UnknownBuiltin => {
                self.bump();
                let callee = self.expr(start, ExprKind::Ident(token.name))?;
                self.skip_balanced()?;
                self.expr(start, ExprKind::Call { callee, args: Vec::new() })
            }
            _ => Err(self.unexpected("an expression")),
        }
    }

    /// `name ( expression` of a builtin that goes on with something else.
    fn builtin_call(&mut self) -> Result<(Token, ExprId)> {
        self.bump();
        let open = self.expect(Tok::LParen, "`(`")?;
        let first = self.assignment()?;
        Ok((open, first))
    }

    fn literal(
        &mut self,
        token: Token,
        value: impl Fn(&[u8]) -> std::result::Result<ExprKind, String>,
    ) -> Result<ExprId> {
        match value(self.text(token)) {
            Ok(kind) => {
                self.bump();
                self.expr(token.span(), kind)
            }
            Err(complaint) => self.error(token.span(), complaint),
        }
    }

    /// Adjacent string literals, which are one.
    fn string(&mut self) -> Result<ExprId> {
        let start = self.span();
        let first = self.at;
        let mut kind = literal::unquote(self.text(self.token())).kind;
        while self.at(Tok::Str) {
            let token = self.bump();
            let next = literal::unquote(self.text(token)).kind;
            let Some(joined) = literal::joined_kind(kind, next) else {
                return self.error(token.span(), "this string literal is of another kind than the one before it");
            };
            kind = joined;
        }
        let mut units = Vec::new();
        for at in first..self.at {
            let token = self.tokens[at];
            let quoted = literal::unquote(self.text(token));
            if let Err(complaint) = literal::decode(quoted, kind, &mut units) {
                return self.error(token.span(), complaint);
            }
        }
        self.expr(start, ExprKind::Str { units, kind })
    }

    /// `(e)` or `({ … })`
    fn parenthesized(&mut self) -> Result<ExprId> {
        let open = self.bump();
        let start = open.span();
        let kind = if self.at(Tok::LBrace) {
            let saved = self.enter()?;
            let scope = self.types.enter();
            let body = self.compound()?;
            self.types.leave(scope);
            self.leave(saved);
            ExprKind::StmtExpr(body)
        } else {
            ExprKind::Paren(self.expression()?)
        };
        self.expect_close(Tok::RParen, open)?;
        self.expr(start, kind)
    }

    fn generic(&mut self) -> Result<ExprId> {
        let start = self.span();
        let (open, control) = self.builtin_call()?;
        let mut associations = Vec::new();
        while self.eat(Tok::Comma) {
            let ty = if self.eat(Tok::Default) { None } else { Some(self.type_name()?) };
            self.expect(Tok::Colon, "`:` after the type of the association")?;
            associations.push((ty, self.assignment()?));
        }
        self.expect_close(Tok::RParen, open)?;
        if associations.is_empty() {
            return self.error(self.since(start), "`_Generic` needs at least one association");
        }
        self.expr(start, ExprKind::Generic { control, associations })
    }

    /// `__builtin_offsetof(T, a.b[3])`
    fn offsetof(&mut self) -> Result<ExprId> {
        let start = self.bump().span();
        let open = self.expect(Tok::LParen, "`(`")?;
        let ty = Box::new(self.type_name()?);
        self.expect(Tok::Comma, "`,` and a member")?;
        let (name, span) = self.expect_name("the name of a member")?;
        let mut path = vec![Designator::Field(name, span)];
        loop {
            let token = self.token();
            match token.kind {
                Tok::Dot => {
                    self.bump();
                    let (name, span) = self.expect_name("the name of a member")?;
                    path.push(Designator::Field(name, span));
                }
                // `a->b` is `a[0].b`.
                Tok::Arrow => {
                    let (value, suffix) = (0, IntSuffix::default());
                    let zero = self.expr(token.span(), ExprKind::Int { value, suffix, decimal: false })?;
                    path.push(Designator::Index(zero));
                    self.bump();
                    let (name, span) = self.expect_name("the name of a member")?;
                    path.push(Designator::Field(name, span));
                }
                Tok::LBracket => {
                    self.bump();
                    path.push(Designator::Index(self.expression()?));
                    self.expect_close(Tok::RBracket, token)?;
                }
                _ => break,
            }
        }
        self.expect_close(Tok::RParen, open)?;
        self.expr(start, ExprKind::Offsetof { ty, path })
    }
}
