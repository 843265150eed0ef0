//! Function calls, implicit declarations, and the glibc macros that are calls in disguise.

use super::scope::Entity;
use super::{Checker, fail};
use crate::ast::{self, ExprKind as Written, Name};
use crate::diagnostic::Result;
use crate::library;
use crate::source::Span;
use crate::typed::*;
use crate::types::*;

impl<'a> Checker<'a> {
    pub fn call(&mut self, callee: ast::ExprId, args: &'a [ast::ExprId], span: Span) -> Result<ExprId> {
        if let Some(name) = self.bare_name(callee) {
            if let Some(call) = self.special_call(name, args, span)? {
                return Ok(call);
            }
            if self.scopes.get(name).is_none() {
                self.declare_implicitly(name, args.len(), self.ast.exprs[callee].span)?;
            }
        }
        let raw = self.expr(callee)?;
        let direct = match self.unit.exprs[raw].kind {
            ExprKind::Function(id) => Some(id),
            _ => None,
        };
        let pointer = self.decay(raw);
        let Some(ty) = self.types().pointee(self.ty(pointer).ty) else {
            return fail(self.span(raw), "this is not a function: it cannot be called");
        };
        let Type::Function(function) = self.types().get(ty.ty).clone() else {
            let shown = self.types().show(self.ty(raw));
            return fail(self.span(raw), format!("a value of type `{shown}` cannot be called"));
        };
        let callee = direct.map_or(Callee::Indirect(pointer), Callee::Direct);
        let args = self.arguments(&function, args, span)?;
        let fixed = if function.unprototyped { args.len() } else { function.params.len() } as u32;
        let kind = ExprKind::Call { callee, args, fixed, variadic: function.variadic };
        Ok(self.push(kind, function.ret.ty, span))
    }

    /// The identifier that an expression consists of, parentheses aside.
    fn bare_name(&self, expr: ast::ExprId) -> Option<Name> {
        match self.ast.exprs[expr].kind {
            Written::Ident(name) => Some(name),
            Written::Paren(inner) => self.bare_name(inner),
            _ => None,
        }
    }

    fn arguments(&mut self, function: &FunctionType, args: &'a [ast::ExprId], span: Span) -> Result<Vec<ExprId>> {
        let (given, wanted) = (args.len(), function.params.len());
        if !function.unprototyped && (given < wanted || (given > wanted && !function.variadic)) {
            let at_least = if function.variadic { "at least " } else { "" };
            return fail(span, format!("this function takes {at_least}{wanted} arguments, but {given} are given"));
        }
        let mut values = Vec::with_capacity(given);
        for (index, arg) in args.iter().enumerate() {
            let value = self.rvalue(*arg)?;
            if self.types().is_void(self.ty(value).ty) {
                return fail(self.span(value), "an argument cannot be a call that returns nothing");
            }
            values.push(match function.params.get(index) {
                Some(param) => self.convert_assigned(value, *param, "as this argument")?,
                None => self.promote_argument(value),
            });
        }
        Ok(values)
    }

    /// A function that is called without ever having been declared: what gcc knows it to be if the call fits that, else
    /// `int name()`.
    fn declare_implicitly(&mut self, name: Name, arguments: usize, span: Span) -> Result<()> {
        let text = self.text(name);
        if self.library_takes(text, arguments) && self.library_function(name).is_some() {
            return Ok(());
        }
        if !library::is_vocabulary(text) {
            self.warn(span, format!("`{text}` is not declared: `int {text}()` is assumed"));
        }
        let ty =
            FunctionType { ret: self.common().int.into(), params: Vec::new(), variadic: false, unprototyped: true };
        let ty = self.unit.types.intern(Type::Function(ty));
        let id = self.linked_function(name, ty, false, span)?;
        self.scopes.bind_file(name, Entity::Function(id));
        Ok(())
    }

    /// A function of Leno's own library (`__leno_…`), or one that gcc declares by itself.
    pub fn internal_function(&mut self, text: &str, ret: TypeId, params: &[TypeId], variadic: bool) -> FuncId {
        if let Some(name) = self.ast.names.get(text)
            && let Some(Entity::Function(id)) = self.linked.get(&name)
        {
            return *id;
        }
        if let Some(id) = self.internal.get(text) {
            return *id;
        }
        let ty = FunctionType {
            ret: ret.into(),
            params: params.iter().map(|p| QualType::plain(*p)).collect(),
            variadic,
            unprototyped: false,
        };
        let ty = self.unit.types.intern(Type::Function(ty));
        let id = self.unit.functions.push(Function {
            name: text.to_string(),
            linkage: Linkage::External,
            ty,
            is_inline: false,
            is_noreturn: false,
            is_constructor: false,
            is_destructor: false,
            span: Span::default(),
            definition: None,
        });
        self.internal.insert(text.to_string(), id);
        id
    }

    /// A call of such a function with arguments that are converted to its parameters.
    pub fn internal_call(
        &mut self,
        text: &str,
        ret: TypeId,
        params: &[TypeId],
        args: Vec<ExprId>,
        span: Span,
    ) -> Result<ExprId> {
        let id = self.internal_function(text, ret, params, false);
        let mut values = Vec::with_capacity(args.len());
        for (arg, param) in args.into_iter().zip(params) {
            values.push(self.convert_assigned(arg, QualType::plain(*param), "as this argument")?);
        }
        let fixed = values.len() as u32;
        let kind = ExprKind::Call { callee: Callee::Direct(id), args: values, fixed, variadic: false };
        Ok(self.push(kind, ret, span))
    }

    /// Calls that are not what they look like: builtins, and what glibc's `pthread_cleanup_push` expands to (a `setjmp`
    /// that only stack unwinding ever returns to; the routine and its argument are in two variables of the same scope).
    fn special_call(&mut self, name: Name, args: &'a [ast::ExprId], span: Span) -> Result<Option<ExprId>> {
        let text = self.text(name);
        if text.starts_with("__builtin_") || text.starts_with("__atomic_") || text.starts_with("__sync_") {
            return self.builtin_call(name, args, span);
        }
        let common = self.common();
        match text {
            "__sigsetjmp" | "__sigsetjmp_cancel" if self.is_cancel_buffer(args)? => {
                Ok(Some(self.int_constant(0, span)))
            }
            "__pthread_register_cancel" => {
                let (Some(routine), Some(arg)) = (self.known.cancel_routine, self.known.cancel_arg) else {
                    return Ok(None);
                };
                let Some(buffer) = args.first() else { return Ok(None) };
                let mut values = vec![self.rvalue(*buffer)?];
                for name in [routine, arg] {
                    let Some(Entity::Var(var)) = self.scopes.get(name).map(|b| b.meaning) else { return Ok(None) };
                    let ty = self.function.as_ref().map_or(common.int.into(), |f| f.vars[var].ty);
                    let place = self.push(ExprKind::Var(var), ty, span);
                    values.push(self.decay(place));
                }
                let pointer = common.void_ptr;
                self.internal_call("__leno_cleanup_push", common.void, &[pointer; 3], values, span).map(Some)
            }
            "__pthread_unregister_cancel" => {
                let Some(buffer) = args.first() else { return Ok(None) };
                let buffer = self.rvalue(*buffer)?;
                self.internal_call("__leno_cleanup_pop", common.void, &[common.void_ptr], vec![buffer], span).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn is_cancel_buffer(&mut self, args: &'a [ast::ExprId]) -> Result<bool> {
        let routine = self.known.cancel_routine.and_then(|name| self.scopes.get(name)).map(|b| b.meaning);
        if matches!(routine, Some(Entity::Var(_))) {
            // Older headers cast the buffer to an ordinary one.
            return Ok(true);
        }
        let Some(first) = args.first() else { return Ok(false) };
        let value = self.rvalue(*first)?;
        let target = self.types().pointee(self.ty(value).ty);
        let record = target.and_then(|t| self.types().record_of(t.ty));
        Ok(record.is_some_and(|r| r.name == "__cancel_jmp_buf_tag"))
    }
}
