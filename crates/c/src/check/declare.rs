//! Declarations: typedefs, objects and functions, at file scope and in blocks.

use super::scope::Entity;
use super::specify::has;
use super::{Checker, FunctionState, fail};
use crate::ast::{self, Declarator, Derived, Name, Params, Storage};
use crate::diagnostic::Result;
use crate::source::Span;
use crate::typed::*;
use crate::types::*;
use leno_ir::index::IndexVec;
use std::collections::HashMap;

impl<'a> Checker<'a> {
    pub fn file_declaration(&mut self, declaration: &'a ast::Declaration) -> Result<()> {
        let base = self.specified_type(declaration.spec)?;
        for item in &declaration.declarators {
            self.file_declarator(declaration.spec, base, item)?;
        }
        Ok(())
    }

    fn file_declarator(&mut self, spec: ast::SpecId, base: QualType, item: &'a ast::InitDeclarator) -> Result<()> {
        let declarator = &item.declarator;
        let Some(name) = declarator.name else { return Ok(()) };
        let base = self.inferred_base(spec, base, item)?;
        let ty = self.declarator_type(spec, base, declarator)?;
        match self.ast.specs[spec].storage {
            Some(Storage::Typedef) => self.declare_typedef(spec, name, ty, declarator),
            _ if self.types().is_function(ty.ty) => {
                if item.init.is_some() {
                    return fail(declarator.span, "a function cannot have an initialiser");
                }
                let id = self.declare_function(spec, name, ty, declarator, item.asm_label.as_deref())?;
                self.scopes.bind(name, Entity::Function(id));
                Ok(())
            }
            _ => self.declare_global(spec, name, ty, item).map(|_| ()),
        }
    }

    /// The declared type, and the attributes of the declarator that bear on it.
    fn declarator_type(&mut self, spec: ast::SpecId, base: QualType, declarator: &'a Declarator) -> Result<QualType> {
        let ty = self.declared_type(base, declarator)?;
        // A declarator's own `last_spec` may have changed it: the next declarator needs the base again.
        self.last_spec = Some((spec, base));
        self.apply_type_attributes(ty, &declarator.attributes)
    }

    /// `__auto_type x = e;`
    fn inferred_base(&mut self, spec: ast::SpecId, base: QualType, item: &'a ast::InitDeclarator) -> Result<QualType> {
        if !matches!(self.ast.specs[spec].ty, ast::TypeSpecifier::AutoType) {
            return Ok(base);
        }
        let Some(init) = item.init else {
            return fail(item.declarator.span, "`__auto_type` needs an initialiser");
        };
        match &self.ast.inits[init] {
            ast::Initializer::Expr(_) => {
                let raw = self.init_expr(init)?;
                let value = self.decay(raw);
                self.refuse_field_type(self.ty(value).ty, item.declarator.span)?;
                Ok(QualType { ty: self.ty(value).ty, quals: base.quals })
            }
            ast::Initializer::List { span, .. } => fail(*span, "`__auto_type` cannot be initialised by a list"),
        }
    }

    fn declare_typedef(
        &mut self,
        spec: ast::SpecId,
        name: Name,
        ty: QualType,
        declarator: &'a Declarator,
    ) -> Result<()> {
        let (span, align) = (declarator.span, self.declaration_align(spec, declarator)?);
        match self.scopes.get_here(name) {
            None | Some(Entity::Typedef(..)) => {
                self.scopes.bind(name, Entity::Typedef(ty, align));
                self.name_record(ty, name);
                Ok(())
            }
            Some(_) => fail(span, format!("`{}` has been declared as something else", self.text(name))),
        }
    }

    /// A record without a tag is known by the first `typedef` of it.
    fn name_record(&mut self, ty: QualType, name: Name) {
        let text = self.text(name).to_string();
        if let Type::Record(id) = *self.types().get(ty.ty) {
            let record = &mut self.unit.types.records[id];
            if record.name.is_empty() && record.typedef_name.is_empty() {
                record.typedef_name = text;
            }
        }
    }

    /// For names that can be declared only once in a scope.
    pub fn refuse_redeclared(&self, name: Name, span: Span) -> Result<()> {
        match self.scopes.get_here(name) {
            Some(_) => fail(span, format!("`{}` is declared twice", self.text(name))),
            None => Ok(()),
        }
    }

    // ---- objects with static storage

    fn declare_global(
        &mut self,
        spec: ast::SpecId,
        name: Name,
        ty: QualType,
        item: &'a ast::InitDeclarator,
    ) -> Result<GlobalId> {
        let span = item.declarator.span;
        let specifiers = &self.ast.specs[spec];
        self.refuse_object_type(ty, span)?;
        let is_extern = specifiers.storage == Some(Storage::Extern);
        let id = self.linked_global(name, ty, specifiers.storage, span)?;
        self.scopes.bind(name, Entity::Global(id));
        let align = self.declaration_align(spec, &item.declarator)?;
        let global = &mut self.unit.globals[id];
        global.align = global.align.max(align);
        global.is_thread_local |= specifiers.is_thread_local;
        if let Some(label) = &item.asm_label {
            global.name = label.clone();
        }
        match item.init {
            Some(init) => self.initialize_global(id, ty, init, span)?,
            None if !is_extern && matches!(self.unit.globals[id].definition, Definition::None) => {
                self.unit.globals[id].definition = Definition::Tentative;
            }
            None => {}
        }
        Ok(id)
    }

    fn refuse_object_type(&self, ty: QualType, span: Span) -> Result<()> {
        if self.types().is_void(ty.ty) {
            return fail(span, "an object cannot have type `void`");
        }
        if self.is_variable(ty.ty) && self.function.is_none() {
            return fail(span, "the size of an array at file scope must be a constant");
        }
        Ok(())
    }

    /// The object with linkage that this name stands for, made if it is new. Its type becomes the composite one.
    fn linked_global(&mut self, name: Name, ty: QualType, storage: Option<Storage>, span: Span) -> Result<GlobalId> {
        if let Some(entity) = self.linked.get(&name).copied() {
            let Entity::Global(id) = entity else {
                return fail(span, format!("`{}` has been declared as a function", self.text(name)));
            };
            let old = self.unit.globals[id].ty;
            if !self.compatible(old.ty, ty.ty) {
                let (old, new) = (self.types().show(old), self.types().show(ty));
                return fail(span, format!("`{}` was declared as `{old}` and now as `{new}`", self.text(name)));
            }
            if matches!(self.types().get(old.ty), Type::Array(_, ArrayLen::Incomplete)) {
                self.unit.globals[id].ty = ty;
            }
            return Ok(id);
        }
        let linkage = if storage == Some(Storage::Static) { Linkage::Internal } else { Linkage::External };
        let id = self.unit.globals.push(Global {
            name: self.text(name).to_string(),
            linkage,
            ty,
            align: 1,
            is_thread_local: false,
            is_constant: self.is_constant_type(ty),
            definition: Definition::None,
            span,
        });
        self.linked.insert(name, Entity::Global(id));
        Ok(id)
    }

    /// `const`, through arrays; not `volatile`.
    fn is_constant_type(&self, ty: QualType) -> bool {
        let mut ty = ty;
        while let Type::Array(element, _) = self.types().get(ty.ty) {
            ty = *element;
        }
        ty.quals.is_const && !ty.quals.is_volatile
    }

    fn initialize_global(&mut self, id: GlobalId, ty: QualType, init: ast::InitId, span: Span) -> Result<()> {
        if matches!(self.unit.globals[id].definition, Definition::Static { .. }) {
            let name = &self.unit.globals[id].name;
            return fail(span, format!("`{name}` is initialised twice"));
        }
        let (ty, size, init) = self.static_initializer(ty, init, span)?;
        let global = &mut self.unit.globals[id];
        global.ty = ty;
        global.definition = Definition::Static { size, init };
        Ok(())
    }

    fn declare_static_local(
        &mut self,
        spec: ast::SpecId,
        name: Name,
        ty: QualType,
        item: &'a ast::InitDeclarator,
    ) -> Result<()> {
        let span = item.declarator.span;
        self.refuse_redeclared(name, span)?;
        self.refuse_object_type(ty, span)?;
        if self.is_variable(ty.ty) {
            return fail(span, "a `static` array must have a constant size");
        }
        let function = self.function.as_ref().map_or("", |f| f.name.as_str());
        let full_name = format!("{function}.{}", self.text(name));
        let constant = self.is_constant_type(ty);
        let id = self.anonymous_global(full_name, ty, constant, Definition::Tentative, span);
        self.scopes.bind(name, Entity::Global(id));
        let specifiers = &self.ast.specs[spec];
        let align = self.declaration_align(spec, &item.declarator)?;
        let global = &mut self.unit.globals[id];
        global.align = global.align.max(align);
        global.is_thread_local = specifiers.is_thread_local;
        match item.init {
            Some(init) => self.initialize_global(id, ty, init, span),
            None => self.refuse_incomplete(ty, span),
        }
    }

    pub fn refuse_incomplete(&self, ty: QualType, span: Span) -> Result<()> {
        if self.types().size_of(ty.ty).is_some() || self.is_variable(ty.ty) {
            return Ok(());
        }
        let shown = self.types().show(ty);
        fail(span, format!("an object cannot have the incomplete type `{shown}`"))
    }

    // ---- functions

    pub fn declare_function(
        &mut self,
        spec: ast::SpecId,
        name: Name,
        ty: QualType,
        declarator: &'a Declarator,
        asm_label: Option<&str>,
    ) -> Result<FuncId> {
        let specifiers = &self.ast.specs[spec];
        let span = declarator.span;
        let is_static = specifiers.storage == Some(Storage::Static);
        let id = self.linked_function(name, ty.ty, is_static, span)?;
        let any = |attribute: &str| has(&specifiers.attributes, attribute) || has(&declarator.attributes, attribute);
        let (noreturn, constructor, destructor) = (any("noreturn"), any("constructor"), any("destructor"));
        let gnu_inline = any("gnu_inline");
        let function = &mut self.unit.functions[id];
        function.is_noreturn |= specifiers.is_noreturn || noreturn;
        function.is_constructor |= constructor;
        function.is_destructor |= destructor;
        function.is_inline |= specifiers.is_inline && (specifiers.storage.is_none() || gnu_inline);
        if let Some(label) = asm_label {
            function.name = label.to_string();
        }
        Ok(id)
    }

    pub fn linked_function(&mut self, name: Name, ty: TypeId, is_static: bool, span: Span) -> Result<FuncId> {
        if let Some(entity) = self.linked.get(&name).copied() {
            let Entity::Function(id) = entity else {
                return fail(span, format!("`{}` has been declared as an object", self.text(name)));
            };
            let old = self.unit.functions[id].ty;
            if !self.compatible(old, ty) {
                self.accept_redeclared_function(id, name, ty, span)?;
            } else if self.is_unprototyped(old) {
                self.unit.functions[id].ty = ty;
            }
            return Ok(id);
        }
        let id = self.unit.functions.push(Function {
            name: self.text(name).to_string(),
            linkage: if is_static { Linkage::Internal } else { Linkage::External },
            ty,
            is_inline: false,
            is_noreturn: false,
            is_constructor: false,
            is_destructor: false,
            span,
            definition: None,
        });
        self.linked.insert(name, Entity::Function(id));
        Ok(id)
    }

    pub fn is_unprototyped(&self, ty: TypeId) -> bool {
        matches!(self.types().get(ty), Type::Function(f) if f.unprototyped)
    }

    /// gcc takes another type for a function that was declared implicitly, and for its own built-in functions, with a
    /// warning; between written declarations a difference is an error unless only enums or qualifiers differ.
    fn accept_redeclared_function(&mut self, id: FuncId, name: Name, ty: TypeId, span: Span) -> Result<()> {
        let old = self.unit.functions[id].ty;
        if self.unit.functions[id].definition.is_none() && (self.is_unprototyped(old) || self.is_unprototyped(ty)) {
            self.warn(span, format!("`{}` was declared with another type before", self.text(name)));
            self.unit.functions[id].ty = ty;
            return Ok(());
        }
        let loosely = match (self.types().get(old), self.types().get(ty)) {
            (Type::Function(f), Type::Function(g)) => {
                f.params.len() == g.params.len()
                    && f.params.iter().zip(&g.params).all(|(p, q)| self.loosely_compatible(p.ty, q.ty))
                    && self.loosely_compatible(f.ret.ty, g.ret.ty)
            }
            _ => false,
        };
        if loosely {
            return Ok(());
        }
        let (old, new) = (self.types().show(old.into()), self.types().show(ty.into()));
        fail(span, format!("`{}` was declared as `{old}` and now as `{new}`", self.text(name)))
    }

    /// The same representation, or both pointers.
    fn loosely_compatible(&self, a: TypeId, b: TypeId) -> bool {
        self.compatible(a, b) || (self.types().is_pointer(a) && self.types().is_pointer(b))
    }

    pub fn function_definition(&mut self, definition: &'a ast::FunctionDefinition) -> Result<()> {
        let declarator = &definition.declarator;
        let Some(name) = declarator.name else { return fail(definition.span, "a function needs a name") };
        let Some(Derived::Function(outer)) = declarator.derived.first() else {
            return fail(declarator.span, "a function definition needs a parameter list");
        };
        let base = self.specified_type(definition.spec)?;
        let ret = self.derive(base, &declarator.derived[1..])?;
        self.refuse_return_type(ret, declarator.span)?;
        if self.types().size_of(ret.ty).is_none() && !self.types().is_void(ret.ty) {
            let shown = self.types().show(ret);
            return fail(declarator.span, format!("a function cannot return the incomplete type `{shown}`"));
        }
        self.begin_function(name, ret);
        let outcome = self.function_in_scope(definition, name, outer, ret);
        self.scopes.leave();
        self.function = None;
        outcome
    }

    fn begin_function(&mut self, name: Name, ret: QualType) {
        self.scopes.enter();
        self.function = Some(FunctionState {
            name: self.text(name).to_string(),
            ret,
            vars: IndexVec::new(),
            labels: IndexVec::new(),
            named_labels: Vec::new(),
            visible_labels: HashMap::new(),
            local_labels: Vec::new(),
            address_labels: Vec::new(),
            switches: Vec::new(),
            loops: 0,
            pending_sizes: Vec::new(),
            func_name: None,
        });
    }

    /// The parameters come first, inside the function's scope: sizes of arrays in them are computed on entry.
    fn function_in_scope(
        &mut self,
        definition: &'a ast::FunctionDefinition,
        name: Name,
        outer: &'a ast::FunctionDeclarator,
        ret: QualType,
    ) -> Result<()> {
        let span = definition.declarator.span;
        let parameters = self.parameters(definition, outer)?;
        let ty = FunctionType {
            ret,
            params: parameters.types,
            variadic: parameters.variadic,
            unprototyped: parameters.unprototyped,
        };
        let ty = self.unit.types.intern(Type::Function(ty));
        let id = self.declare_function(definition.spec, name, ty.into(), &definition.declarator, None)?;
        self.scopes.bind_file(name, Entity::Function(id));
        let function = &mut self.unit.functions[id];
        // An `extern inline` of GNU kind is only a proposal.
        if function.definition.is_some() && !function.is_inline {
            return fail(span, format!("`{}` is defined twice", self.text(name)));
        }
        function.span = span;
        self.unit.functions[id].ty = ty;
        let mut statements = self.pending_size_statements(span);
        statements.extend(parameters.prologue);
        let body = self.compound(definition.body, true)?;
        statements.push(body);
        let body = self.statement(StmtKind::Block(statements), definition.span);
        self.finish_function(id, parameters.vars, body, definition.span)
    }

    fn finish_function(&mut self, id: FuncId, params: Vec<VarId>, body: StmtId, span: Span) -> Result<()> {
        let Some(state) = self.function.take() else { return Ok(()) };
        if let Some(label) = state.named_labels.iter().find(|label| !label.is_defined) {
            return fail(label.first_use, format!("there is no label `{}` in this function", self.text(label.name)));
        }
        self.unit.functions[id].definition = Some(FunctionBody {
            params,
            vars: state.vars,
            labels: state.labels,
            address_labels: state.address_labels,
            has_named_labels: !state.named_labels.is_empty(),
            body,
            end: Span::new(span.end.saturating_sub(1), span.end),
        });
        Ok(())
    }

    fn parameters(
        &mut self,
        definition: &'a ast::FunctionDefinition,
        outer: &'a ast::FunctionDeclarator,
    ) -> Result<Parameters> {
        match &outer.params {
            Params::Unspecified => Ok(Parameters { unprototyped: true, ..Parameters::default() }),
            Params::Names(names) => self.old_style_parameters(definition, names),
            Params::Prototype { params, variadic } => {
                let mut parameters = Parameters { variadic: *variadic, ..Parameters::default() };
                for param in params {
                    let ty = self.param_type(param)?;
                    self.refuse_incomplete(ty, param.declarator.span)?;
                    let var = self.parameter(param.declarator.name, ty, param.declarator.span)?;
                    parameters.types.push(QualType::plain(ty.ty));
                    parameters.vars.push(var);
                }
                Ok(parameters)
            }
        }
    }

    fn parameter(&mut self, name: Option<Name>, ty: QualType, span: Span) -> Result<VarId> {
        let text = name.map_or(String::new(), |name| self.text(name).to_string());
        let var = self.new_var(text, ty, span);
        if let Some(name) = name {
            self.refuse_redeclared(name, span)?;
            self.scopes.bind(name, Entity::Var(var));
        }
        Ok(var)
    }

    /// K&R: arguments arrive promoted and are narrowed on entry.
    fn old_style_parameters(
        &mut self,
        definition: &'a ast::FunctionDefinition,
        names: &'a [(Name, Span)],
    ) -> Result<Parameters> {
        let mut declared: Vec<(Name, QualType)> = Vec::new();
        for declaration in &definition.old_params {
            let base = self.specified_type(declaration.spec)?;
            for item in &declaration.declarators {
                let Some(name) = item.declarator.name else { continue };
                if !names.iter().any(|(n, _)| *n == name) {
                    let message = format!("`{}` is not a parameter of this function", self.text(name));
                    return fail(item.declarator.span, message);
                }
                let ty = self.declarator_type(declaration.spec, base, &item.declarator)?;
                declared.push((name, self.adjust_param(ty)));
            }
        }
        let mut parameters = Parameters { unprototyped: true, ..Parameters::default() };
        for (name, span) in names {
            let ty = declared.iter().find(|(n, _)| n == name).map_or(self.common().int.into(), |(_, ty)| *ty);
            let passed = match self.types().get(ty.ty) {
                Type::Float(FloatKind::Float) => self.common().double,
                _ if self.types().is_integer(ty.ty) => self.promoted_type(ty.ty),
                _ => ty.ty,
            };
            parameters.types.push(passed.into());
            if passed == ty.ty {
                parameters.vars.push(self.parameter(Some(*name), ty, *span)?);
                continue;
            }
            let arrived = self.hidden_var(passed.into(), *span);
            parameters.vars.push(arrived);
            let place = self.push(ExprKind::Var(arrived), passed, *span);
            let value = self.push(ExprKind::Load(place), passed, *span);
            let value = self.convert(value, ty.ty);
            let var = self.parameter(Some(*name), ty, *span)?;
            let init = LocalInit { zero: false, items: vec![LocalInitItem { offset: 0, ty, bits: None, value }] };
            parameters.prologue.push(self.statement(StmtKind::Declare { var, init: Some(init) }, *span));
        }
        Ok(parameters)
    }

    // ---- automatic variables

    pub fn new_var(&mut self, name: String, ty: QualType, span: Span) -> VarId {
        let in_memory = !self.types().is_scalar(ty.ty);
        let align = self.types().align_of(ty.ty);
        let var = Var { name, ty, align, in_memory, cleanup: None, span };
        match &mut self.function {
            Some(function) => function.vars.push(var),
            None => VarId(0), // only in dead code at file scope, where every use is refused
        }
    }

    pub fn hidden_var(&mut self, ty: QualType, span: Span) -> VarId {
        self.new_var(String::new(), ty, span)
    }

    /// The statements that compute array sizes mentioned since the last time.
    pub fn pending_size_statements(&mut self, span: Span) -> Vec<StmtId> {
        let pending = self.function.as_mut().map_or(Vec::new(), |f| std::mem::take(&mut f.pending_sizes));
        pending.into_iter().map(|expr| self.statement(StmtKind::Expr(expr), span)).collect()
    }

    /// A declaration in a block: the statements it amounts to.
    pub fn block_declaration(&mut self, declaration: &'a ast::Declaration) -> Result<StmtId> {
        let base = self.specified_type(declaration.spec)?;
        let mut statements = self.pending_size_statements(declaration.span);
        for item in &declaration.declarators {
            self.block_declarator(declaration.spec, base, item, &mut statements)?;
        }
        Ok(self.statement(StmtKind::Group(statements), declaration.span))
    }

    fn block_declarator(
        &mut self,
        spec: ast::SpecId,
        base: QualType,
        item: &'a ast::InitDeclarator,
        statements: &mut Vec<StmtId>,
    ) -> Result<()> {
        let declarator = &item.declarator;
        let Some(name) = declarator.name else { return Ok(()) };
        let base = self.inferred_base(spec, base, item)?;
        let ty = self.declarator_type(spec, base, declarator)?;
        statements.extend(self.pending_size_statements(declarator.span));
        match self.ast.specs[spec].storage {
            Some(Storage::Typedef) => self.declare_typedef(spec, name, ty, declarator),
            _ if self.types().is_function(ty.ty) => {
                let id = self.declare_function(spec, name, ty, declarator, item.asm_label.as_deref())?;
                self.scopes.bind(name, Entity::Function(id));
                Ok(())
            }
            Some(Storage::Extern) => {
                if item.init.is_some() {
                    return fail(declarator.span, "an `extern` declaration in a block cannot have an initialiser");
                }
                self.declare_global(spec, name, ty, item).map(|_| ())
            }
            Some(Storage::Static) => self.declare_static_local(spec, name, ty, item),
            _ if self.ast.specs[spec].is_thread_local => {
                fail(declarator.span, "a thread-local variable in a function must be `static` or `extern`")
            }
            _ => {
                let statement = self.declare_automatic(spec, name, ty, item)?;
                statements.push(statement);
                Ok(())
            }
        }
    }

    fn declare_automatic(
        &mut self,
        spec: ast::SpecId,
        name: Name,
        ty: QualType,
        item: &'a ast::InitDeclarator,
    ) -> Result<StmtId> {
        let span = item.declarator.span;
        self.refuse_redeclared(name, span)?;
        self.refuse_object_type(ty, span)?;
        let specifiers = &self.ast.specs[spec];
        let align = self.declaration_align(spec, &item.declarator)?;
        let var = self.new_var(self.text(name).to_string(), ty, span);
        self.scopes.bind(name, Entity::Var(var));
        let (ty, init) = match item.init {
            Some(init) => {
                let (ty, init) = self.local_initializer(ty, init, span)?;
                (ty, Some(init))
            }
            None => (ty, None),
        };
        self.refuse_incomplete(ty, span)?;
        let cleanup = self.cleanup_function(&specifiers.attributes, &item.declarator.attributes)?;
        let natural = self.types().align_of(ty.ty);
        if let Some(function) = &mut self.function {
            let var = &mut function.vars[var];
            var.ty = ty;
            var.align = align.max(natural);
            var.in_memory |= cleanup.is_some();
            var.cleanup = cleanup;
        }
        Ok(self.statement(StmtKind::Declare { var, init }, span))
    }

    fn cleanup_function(
        &mut self,
        first: &'a [ast::Attribute],
        second: &'a [ast::Attribute],
    ) -> Result<Option<FuncId>> {
        let Some(attribute) = first.iter().chain(second).find(|a| a.name == "cleanup") else { return Ok(None) };
        if let Some(ast::AttributeArg::Name(name)) = attribute.args.first()
            && let Some(Entity::Function(id)) = self.scopes.get(*name).map(|b| b.meaning)
        {
            return Ok(Some(id));
        }
        fail(attribute.span, "`cleanup` needs the name of a function")
    }

    pub fn static_assert(&mut self, assertion: &'a ast::StaticAssert) -> Result<()> {
        if self.constant_int(assertion.cond, "the condition of a static assertion")? != 0 {
            return Ok(());
        }
        let message = assertion.message.as_deref().unwrap_or("");
        fail(assertion.span, format!("static assertion failed: {message}"))
    }
}

/// A function definition's parameters.
#[derive(Default)]
struct Parameters {
    types: Vec<QualType>,
    vars: Vec<VarId>,
    variadic: bool,
    unprototyped: bool,
    prologue: Vec<StmtId>,
}
