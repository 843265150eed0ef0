//! Which identifiers name types.
//!
//! Only one bit per name is needed: whether, in the current scope, it is a typedef name. Scopes are an undo log:
//! entering one notes the length of the log, a declaration that changes a name's bit logs it, leaving restores. Nothing
//! is hashed and a scope costs nothing until it hides something. Tags, members and labels live in name spaces of their
//! own and never come here.

use crate::ast::Name;

pub struct TypeNames {
    is_type: Vec<bool>,
    changed: Vec<Name>,
}

/// A scope that must be left again.
#[must_use]
pub struct Scope(usize);

impl TypeNames {
    /// For names with numbers below `names`, none of which is a type yet.
    pub fn new(names: usize) -> TypeNames {
        TypeNames { is_type: vec![false; names], changed: Vec::new() }
    }

    pub fn is_type(&self, name: Name) -> bool {
        self.is_type[name.0 as usize]
    }

    pub fn declare(&mut self, name: Name, is_type: bool) {
        let known = &mut self.is_type[name.0 as usize];
        if *known != is_type {
            *known = is_type;
            self.changed.push(name);
        }
    }

    pub fn enter(&mut self) -> Scope {
        Scope(self.changed.len())
    }

    pub fn leave(&mut self, scope: Scope) {
        while self.changed.len() > scope.0 {
            if let Some(name) = self.changed.pop() {
                let known = &mut self.is_type[name.0 as usize];
                *known = !*known;
            }
        }
    }
}
