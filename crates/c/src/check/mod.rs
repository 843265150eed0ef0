//! Names and types: from the tree as written to the tree with everything said.
//!
//! One pass over the unit in source order, as C wants it: a name means what the last declaration before it says. Each
//! file here is one concern of the language: [`scope`] (what a name means), `specify` (specifiers and declarators to
//! types), `declare` (objects and functions), `express`, `operate` and `call` (expressions), `convert` (all
//! conversions), `constant` (evaluation at compile time), `initialize`, `statement`, `builtin`.
//!
//! What gcc takes with a warning we take too, since programs under test are often like that; what it refuses is an
//! error at its place. The first error ends the pass.

mod builtin;
mod call;
mod constant;
mod convert;
mod declare;
mod express;
mod initialize;
mod operate;
mod scope;
mod specify;
mod statement;

use crate::ast::{self, Ast, Name};
use crate::diagnostic::{Diagnostic, Result};
use crate::source::Span;
use crate::typed::*;
use crate::types::*;
use leno_ir::index::IndexVec;
use leno_ir::program::DataModel;
use scope::Scopes;
use std::collections::HashMap;

/// A checked unit, and what there is to warn about.
pub struct Checked {
    pub unit: Unit,
    pub warnings: Vec<Diagnostic>,
}

/// Checks one parsed translation unit.
pub fn check(ast: &Ast, model: DataModel) -> Result<Checked> {
    let mut checker = Checker::new(ast, model);
    for item in &ast.items {
        match item {
            ast::Item::Declaration(declaration) => checker.file_declaration(declaration)?,
            ast::Item::Function(definition) => checker.function_definition(definition)?,
            ast::Item::StaticAssert(assertion) => checker.static_assert(assertion)?,
            ast::Item::Asm(span) => {
                let message = "assembly at file scope is not supported";
                return Err(Box::new(Diagnostic::error(*span, message).help("put it behind `#ifndef LENO`")));
            }
        }
    }
    checker.finish_globals();
    Ok(Checked { unit: checker.unit, warnings: checker.warnings })
}

struct Checker<'a> {
    ast: &'a Ast,
    unit: Unit,
    warnings: Vec<Diagnostic>,
    scopes: Scopes,
    /// Objects and functions with linkage, visible or not: what an `extern` in a block refers to.
    linked: HashMap<Name, scope::Entity>,
    /// String literals that already have an object.
    strings: HashMap<(Vec<u32>, ast::CharKind), GlobalId>,
    /// Functions that the checker itself calls by name.
    internal: HashMap<String, FuncId>,
    function: Option<FunctionState>,
    /// The specifiers resolved last: all declarators of a member declaration share one.
    last_spec: Option<(ast::SpecId, QualType)>,
    /// The initialiser expression checked last: brace elision looks at it more than once.
    last_init: Option<(ast::InitId, ExprId)>,
    /// Inside a parameter list that is not a definition's.
    in_prototype: bool,
    /// Names that only the system's library headers use, asked for at every call.
    known: KnownNames,
}

#[derive(Clone, Copy)]
struct KnownNames {
    func: [Option<Name>; 3],
    cancel_routine: Option<Name>,
    cancel_arg: Option<Name>,
}

/// What is known while a function's body is checked.
struct FunctionState {
    name: String,
    ret: QualType,
    vars: IndexVec<VarId, Var>,
    labels: IndexVec<LabelId, String>,
    named_labels: Vec<NamedLabel>,
    /// Which of them a name may mean here; the last one does.
    visible_labels: HashMap<Name, Vec<usize>>,
    /// Those that `__label__` declared in the blocks that are open.
    local_labels: Vec<usize>,
    address_labels: Vec<LabelId>,
    switches: Vec<SwitchState>,
    loops: u32,
    /// Assignments of array sizes that must be evaluated before the type that mentions them is used.
    pending_sizes: Vec<ExprId>,
    func_name: Option<GlobalId>,
}

struct NamedLabel {
    name: Name,
    label: LabelId,
    first_use: Span,
    is_defined: bool,
    has_address: bool,
}

struct SwitchState {
    ty: TypeId,
    cases: Vec<Case>,
    /// Where the values of the cases stand.
    places: Vec<Span>,
    default: Option<LabelId>,
}

impl<'a> Checker<'a> {
    fn new(ast: &'a Ast, model: DataModel) -> Checker<'a> {
        let name = |text: &str| ast.names.get(text);
        let known = KnownNames {
            func: [name("__func__"), name("__FUNCTION__"), name("__PRETTY_FUNCTION__")],
            cancel_routine: name("__cancel_routine"),
            cancel_arg: name("__cancel_arg"),
        };
        let unit = Unit {
            types: Types::new(model),
            exprs: IndexVec::new(),
            stmts: IndexVec::new(),
            globals: IndexVec::new(),
            functions: IndexVec::new(),
            has_mutex_kinds: false,
        };
        Checker {
            ast,
            unit,
            warnings: Vec::new(),
            scopes: Scopes::default(),
            linked: HashMap::new(),
            strings: HashMap::new(),
            internal: HashMap::new(),
            function: None,
            last_spec: None,
            last_init: None,
            in_prototype: false,
            known,
        }
    }

    fn types(&self) -> &Types {
        &self.unit.types
    }

    fn common(&self) -> Common {
        self.unit.types.common
    }

    fn text(&self, name: Name) -> &'a str {
        self.ast.names.text(name)
    }

    fn warn(&mut self, span: Span, message: impl Into<String>) {
        self.warnings.push(Diagnostic::warning(span, message));
    }

    fn push(&mut self, kind: ExprKind, ty: impl Into<QualType>, span: Span) -> ExprId {
        self.unit.exprs.push(Expr { kind, ty: ty.into(), span })
    }

    fn statement(&mut self, kind: StmtKind, span: Span) -> StmtId {
        self.unit.stmts.push(Stmt { kind, span })
    }

    fn ty(&self, expr: ExprId) -> QualType {
        self.unit.exprs[expr].ty
    }

    fn span(&self, expr: ExprId) -> Span {
        self.unit.exprs[expr].span
    }

    /// A new object without linkage: a string, a `static` local, a file-scope compound literal.
    fn anonymous_global(
        &mut self,
        name: String,
        ty: QualType,
        constant: bool,
        definition: Definition,
        span: Span,
    ) -> GlobalId {
        self.unit.globals.push(Global {
            name,
            linkage: Linkage::Internal,
            ty,
            align: self.types().align_of(ty.ty),
            is_thread_local: false,
            is_constant: constant,
            definition,
            span,
        })
    }

    /// Types that were incomplete when an object was declared may have been completed since.
    fn finish_globals(&mut self) {
        let types = &self.unit.types;
        for global in self.unit.globals.iter_mut() {
            global.align = global.align.max(types.align_of(global.ty.ty));
        }
    }
}

/// An error at a place.
fn fail<T>(span: Span, message: impl Into<String>) -> Result<T> {
    Err(Box::new(Diagnostic::error(span, message)))
}
