//! Declarators: `*const (*f[3])(int, char)`, from the name outwards.
//!
//! A declarator is read from the outside in (pointers first, then what is in parentheses, then suffixes) but wanted
//! from the inside out. So the pointers of a level wait on a stack until its inside and its suffixes have been written
//! to the result: one pass, and one vector however deep the parentheses are.

use super::Parser;
use super::specifiers::add_qualifier;
use crate::ast::{
    ArrayDeclarator, ArraySize, Attribute, Declarator, Derived, FunctionDeclarator, Parameter, Params, Qualifiers,
};
use crate::diagnostic::Result;
use crate::source::Span;
use crate::token::Tok;

/// How deeply parameter lists may nest. Their declarators are the only part of the tree that is not in an arena.
const MAX_PARAMETER_LISTS: u32 = 500;

/// Where a declarator stands decides whether it may or must have a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Of a declaration or member: has a name.
    Named,
    /// Of a parameter: may have one.
    Parameter,
    /// In a type name: has none.
    Abstract,
}

impl Parser<'_> {
    /// A declarator with a name.
    pub(super) fn declarator(&mut self) -> Result<Declarator> {
        self.declarator_in(Place::Named)
    }

    /// A declarator without a name.
    pub(super) fn abstract_declarator(&mut self) -> Result<Declarator> {
        self.declarator_in(Place::Abstract)
    }

    /// The declarator of something that has neither name nor declarator: an unnamed bit-field, `struct { … };`
    pub(super) fn no_declarator(&self) -> Declarator {
        let start = self.span().start;
        Declarator { name: None, span: Span::new(start, start), derived: Vec::new(), attributes: Vec::new() }
    }

    fn declarator_in(&mut self, place: Place) -> Result<Declarator> {
        let saved = self.open();
        let start = self.span();
        let mut result = self.no_declarator();
        self.level(place, &mut result)?;
        if result.name.is_none() && self.previous().end > start.start {
            result.span = self.since(start);
        }
        self.close(saved);
        Ok(result)
    }

    /// Pointers, a name or a level in parentheses, and suffixes.
    fn level(&mut self, place: Place, result: &mut Declarator) -> Result<()> {
        let base = self.pointers.len();
        while self.at(Tok::Star) {
            self.bump();
            let qualifiers = self.qualifiers(&mut result.attributes)?;
            self.pointers.push(qualifiers);
        }
        match self.peek() {
            Tok::Ident if place != Place::Abstract => self.name(result),
            word if word.is_soft() && place == Place::Named => self.name(result),
            Tok::LParen if self.parenthesis_groups(place) => {
                let open = self.bump();
                let depth = self.enter()?;
                self.attributes(&mut result.attributes)?;
                self.level(place, result)?;
                self.leave(depth);
                self.expect_close(Tok::RParen, open)?;
            }
            _ if place == Place::Named => return Err(self.unexpected("a name to declare")),
            _ => {}
        }
        self.suffixes(result)?;
        for at in (base..self.pointers.len()).rev() {
            self.raise()?;
            result.derived.push(Derived::Pointer(self.pointers[at]));
        }
        self.pointers.truncate(base);
        Ok(())
    }

    fn name(&mut self, result: &mut Declarator) {
        let token = self.bump();
        result.name = Some(token.name);
        result.span = token.span();
    }

    /// Whether `(` begins a level of the declarator and not a parameter list.
    fn parenthesis_groups(&self, place: Place) -> bool {
        place == Place::Named || !(self.peek_ahead(1) == Tok::RParen || self.parameter_ahead())
    }

    /// Whether what follows `(` begins a parameter. Attributes may begin either; what follows them decides.
    fn parameter_ahead(&self) -> bool {
        if self.peek_ahead(1) == Tok::Ellipsis {
            return true;
        }
        if self.peek_ahead(1) != Tok::Attribute {
            return self.type_ahead(1);
        }
        let mut ahead = 1;
        while self.peek_ahead(ahead) == Tok::Attribute {
            ahead += 1;
            let mut depth = 0usize;
            loop {
                match self.peek_ahead(ahead) {
                    Tok::LParen => depth += 1,
                    Tok::RParen => depth = depth.saturating_sub(1),
                    Tok::Eof => return true,
                    _ => {}
                }
                ahead += 1;
                if depth == 0 {
                    break;
                }
            }
        }
        self.type_ahead(ahead)
    }

    /// Qualifiers and attributes after a `*` or in the brackets of an array.
    fn qualifiers(&mut self, attributes: &mut Vec<Attribute>) -> Result<Qualifiers> {
        let mut qualifiers = Qualifiers::default();
        loop {
            match self.peek() {
                word @ (Tok::Const | Tok::Volatile | Tok::Restrict | Tok::Atomic) => {
                    self.bump();
                    add_qualifier(&mut qualifiers, word);
                }
                _ if self.at_attribute() => self.attributes(attributes)?,
                _ => return Ok(qualifiers),
            }
        }
    }

    /// `[…]` and `(…)` after the name, and `[[…]]` among them.
    fn suffixes(&mut self, result: &mut Declarator) -> Result<()> {
        loop {
            match self.peek() {
                Tok::LBracket if self.peek_ahead(1) == Tok::LBracket => self.attributes(&mut result.attributes)?,
                Tok::LBracket => {
                    let array = self.array_suffix(&mut result.attributes)?;
                    self.raise()?;
                    result.derived.push(Derived::Array(array));
                }
                Tok::LParen => {
                    let function = self.function_suffix()?;
                    self.raise()?;
                    result.derived.push(Derived::Function(function));
                }
                _ => return Ok(()),
            }
        }
    }

    fn array_suffix(&mut self, attributes: &mut Vec<Attribute>) -> Result<ArrayDeclarator> {
        let open = self.bump();
        let saved = self.open();
        // `static` promises a minimal length; Leno checks accesses themselves.
        self.eat(Tok::Static);
        let qualifiers = self.qualifiers(attributes)?;
        self.eat(Tok::Static);
        let size = match self.peek() {
            Tok::RBracket => ArraySize::None,
            Tok::Star if self.peek_ahead(1) == Tok::RBracket => {
                self.bump();
                ArraySize::Star
            }
            _ => ArraySize::Expr(self.assignment()?),
        };
        self.expect_close(Tok::RBracket, open)?;
        self.close(saved);
        Ok(ArrayDeclarator { size, qualifiers, span: self.since(open.span()) })
    }

    fn function_suffix(&mut self) -> Result<FunctionDeclarator> {
        let open = self.bump();
        self.parameter_lists += 1;
        if self.parameter_lists > MAX_PARAMETER_LISTS {
            return Err(self.too_deep());
        }
        let saved = self.enter()?;
        let scope = self.types.enter();
        let params = self.params()?;
        self.types.leave(scope);
        self.leave(saved);
        self.parameter_lists -= 1;
        self.expect_close(Tok::RParen, open)?;
        Ok(FunctionDeclarator { params, span: self.since(open.span()) })
    }

    fn params(&mut self) -> Result<Params> {
        match (self.peek(), self.peek_ahead(1)) {
            (Tok::RParen, _) => return Ok(Params::Unspecified),
            (Tok::Void, Tok::RParen) => {
                self.bump();
                return Ok(Params::Prototype { params: Vec::new(), variadic: false });
            }
            (Tok::Ident, Tok::Comma | Tok::RParen) if !self.at_type() => return self.old_style_names(),
            _ => {}
        }
        let mut params = Vec::new();
        loop {
            if self.eat(Tok::Ellipsis) {
                return Ok(Params::Prototype { params, variadic: true });
            }
            params.push(self.parameter()?);
            if self.eat(Tok::Semi) {
                // GNU: declarations of parameters ahead of the list proper, for the lengths of arrays.
                params.clear();
            } else if !self.eat(Tok::Comma) {
                return Ok(Params::Prototype { params, variadic: false });
            }
        }
    }

    fn old_style_names(&mut self) -> Result<Params> {
        let mut names = vec![self.expect_name("the name of a parameter")?];
        while self.eat(Tok::Comma) {
            if self.at(Tok::Ident) && !matches!(self.peek_ahead(1), Tok::Comma | Tok::RParen) {
                return Err(self.unknown_type("the name of a parameter"));
            }
            names.push(self.expect_name("the name of a parameter")?);
        }
        for (name, _) in &names {
            self.types.declare(*name, false);
        }
        Ok(Params::Names(names))
    }

    fn parameter(&mut self) -> Result<Parameter> {
        let saved = self.open();
        let mut attributes = Vec::new();
        self.attributes(&mut attributes)?;
        while self.eat(Tok::Extension) {}
        if !self.at_type() {
            return Err(self.unknown_type("a parameter"));
        }
        let spec = self.specifiers(attributes)?;
        let mut declarator = self.declarator_in(Place::Parameter)?;
        self.asm_label()?;
        self.attributes(&mut declarator.attributes)?;
        if let Some(name) = declarator.name {
            self.types.declare(name, false);
        }
        self.close(saved);
        Ok(Parameter { spec, declarator })
    }
}
