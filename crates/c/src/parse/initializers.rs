//! Initializers: an expression, or a list in braces with designators in C's and GNU's old forms.

use super::Parser;
use crate::ast::{Designator, InitId, InitItem, Initializer};
use crate::diagnostic::Result;
use crate::token::Tok;

impl Parser<'_> {
    pub(super) fn initializer(&mut self) -> Result<InitId> {
        if !self.at(Tok::LBrace) {
            let saved = self.open();
            let value = self.assignment()?;
            self.raise()?;
            self.close(saved);
            return Ok(self.ast.inits.push(Initializer::Expr(value)));
        }
        self.braced_initializer()
    }

    /// `{ a, .b = c, [3] = d, }`
    pub(super) fn braced_initializer(&mut self) -> Result<InitId> {
        let saved = self.enter()?;
        let open = self.expect(Tok::LBrace, "`{`")?;
        let mut items = Vec::new();
        while !self.at(Tok::RBrace) {
            let designators = self.designators()?;
            let value = self.initializer()?;
            items.push(InitItem { designators, value });
            if !self.eat(Tok::Comma) {
                break;
            }
        }
        self.expect_close(Tok::RBrace, open)?;
        self.raise()?;
        self.leave(saved);
        let span = self.since(open.span());
        Ok(self.ast.inits.push(Initializer::List { items, span }))
    }

    /// `.a[3].b =`, the old `a:`, or nothing.
    fn designators(&mut self) -> Result<Vec<Designator>> {
        let mut designators = Vec::new();
        if self.at(Tok::Ident) && self.peek_ahead(1) == Tok::Colon {
            let field = self.bump();
            self.bump();
            designators.push(Designator::Field(field.name, field.span()));
            return Ok(designators);
        }
        loop {
            match self.peek() {
                Tok::Dot => {
                    self.bump();
                    let (name, span) = self.expect_name("the name of a member after `.`")?;
                    designators.push(Designator::Field(name, span));
                }
                Tok::LBracket => designators.push(self.index_designator()?),
                Tok::Assign if !designators.is_empty() => {
                    self.bump();
                    return Ok(designators);
                }
                _ => {
                    // `[3] value` without `=` is an old GNU form; `.a value` never was.
                    if matches!(designators.last(), Some(Designator::Field(..))) {
                        return Err(self.missing("`=` after the designator"));
                    }
                    return Ok(designators);
                }
            }
        }
    }

    /// `[a]` or `[a ... b]`
    fn index_designator(&mut self) -> Result<Designator> {
        let open = self.bump();
        let first = self.conditional_part()?;
        let last = if self.eat(Tok::Ellipsis) { Some(self.conditional_part()?) } else { None };
        self.expect_close(Tok::RBracket, open)?;
        Ok(last.map_or(Designator::Index(first), |last| Designator::Range(first, last)))
    }
}
