//! What a name means, here.
//!
//! Names are dense ids, so the current meaning of every name is one vector; entering a scope remembers where the log of
//! changes stands, and leaving it undoes them. Looking a name up is an index, however deep the scopes.

use crate::ast::Name;
use crate::typed::{FuncId, GlobalId, VarId};
use crate::types::{EnumId, QualType, RecordId, TypeId};
use leno_ir::index::Idx;

#[derive(Clone, Copy, Debug)]
pub enum Entity {
    /// With the alignment that the typedef asks for (0: none), which is not part of the type.
    Typedef(QualType, u32),
    Var(VarId),
    Global(GlobalId),
    Function(FuncId),
    Enumerator(i128, TypeId),
    /// A parameter inside a prototype: it has a type, and no value.
    Opaque(QualType),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tag {
    Record(RecordId),
    Enum(EnumId),
}

/// A meaning and the depth of the scope that gave it.
#[derive(Clone, Copy, Debug)]
pub struct Binding<T> {
    pub meaning: T,
    pub depth: u32,
}

#[derive(Debug)]
struct Space<T> {
    current: Vec<Option<Binding<T>>>,
    undo: Vec<(Name, Option<Binding<T>>)>,
}

impl<T: Copy> Space<T> {
    fn bind(&mut self, name: Name, binding: Option<Binding<T>>) {
        if self.current.len() <= name.index() {
            self.current.resize(name.index() + 1, None);
        }
        let old = std::mem::replace(&mut self.current[name.index()], binding);
        self.undo.push((name, old));
    }

    fn get(&self, name: Name) -> Option<Binding<T>> {
        self.current.get(name.index()).copied().flatten()
    }

    fn undo_to(&mut self, mark: usize) {
        while self.undo.len() > mark {
            if let Some((name, old)) = self.undo.pop() {
                self.current[name.index()] = old;
            }
        }
    }
}

impl<T> Default for Space<T> {
    fn default() -> Self {
        Space { current: Vec::new(), undo: Vec::new() }
    }
}

#[derive(Debug, Default)]
pub struct Scopes {
    names: Space<Entity>,
    tags: Space<Tag>,
    marks: Vec<(usize, usize)>,
}

impl Scopes {
    pub fn enter(&mut self) {
        self.marks.push((self.names.undo.len(), self.tags.undo.len()));
    }

    pub fn leave(&mut self) {
        if let Some((names, tags)) = self.marks.pop() {
            self.names.undo_to(names);
            self.tags.undo_to(tags);
        }
    }

    /// 0 at file scope.
    pub fn depth(&self) -> u32 {
        self.marks.len() as u32
    }

    pub fn bind(&mut self, name: Name, meaning: Entity) {
        let depth = self.depth();
        self.names.bind(name, Some(Binding { meaning, depth }));
    }

    /// Binds at file scope from inside a function: what is bound there stays, whatever scopes are left later.
    pub fn bind_file(&mut self, name: Name, meaning: Entity) {
        let binding = Some(Binding { meaning, depth: 0 });
        let first = self.marks.first().map_or(self.names.undo.len(), |mark| mark.0);
        match self.names.undo[first..].iter_mut().find(|(changed, _)| *changed == name) {
            Some((_, old)) => *old = binding,
            None => {
                self.names.bind(name, binding);
                self.names.undo.pop();
            }
        }
    }

    pub fn bind_tag(&mut self, name: Name, meaning: Tag) {
        let depth = self.depth();
        self.tags.bind(name, Some(Binding { meaning, depth }));
    }

    pub fn get(&self, name: Name) -> Option<Binding<Entity>> {
        self.names.get(name)
    }

    pub fn get_tag(&self, name: Name) -> Option<Binding<Tag>> {
        self.tags.get(name)
    }

    /// What this very scope says of a name.
    pub fn get_here(&self, name: Name) -> Option<Entity> {
        self.get(name).filter(|b| b.depth == self.depth()).map(|b| b.meaning)
    }

    pub fn get_tag_here(&self, name: Name) -> Option<Tag> {
        self.get_tag(name).filter(|b| b.depth == self.depth()).map(|b| b.meaning)
    }
}
