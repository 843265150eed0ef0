//! Statements, labels, and statement expressions.

use super::{Checker, NamedLabel, SwitchState, fail};
use crate::ast::{self, BlockItem, Name, StmtKind as Written};
use crate::diagnostic::{Diagnostic, Result};
use crate::source::Span;
use crate::typed::*;
use crate::types::*;

impl<'a> Checker<'a> {
    fn stmt(&mut self, id: ast::StmtId) -> Result<StmtId> {
        let ast = self.ast;
        let span = ast.stmts[id].span;
        let kind = match &ast.stmts[id].kind {
            Written::Empty => StmtKind::Empty,
            Written::Expr(expr) => {
                let expr = self.expr(*expr)?;
                StmtKind::Expr(self.discard(expr))
            }
            Written::Compound(_) => return self.compound(id, false),
            Written::If { cond, then, otherwise } => return self.if_statement(*cond, *then, *otherwise, span),
            Written::Switch { value, body } => return self.switch(*value, *body, span),
            Written::While { cond, body } => {
                let cond = self.condition_of(*cond)?;
                let body = self.loop_body(*body)?;
                StmtKind::While { cond, body }
            }
            Written::DoWhile { body, cond } => {
                let body = self.loop_body(*body)?;
                let cond = self.condition_of(*cond)?;
                StmtKind::DoWhile { body, cond }
            }
            Written::For { init, cond, step, body } => {
                self.scopes.enter();
                let result = self.for_statement(init.as_ref(), *cond, *step, *body, span);
                self.scopes.leave();
                return result;
            }
            Written::Goto(name) => StmtKind::Goto(self.label_use(*name, span)),
            Written::GotoComputed(target) => {
                let target = self.rvalue(*target)?;
                StmtKind::GotoComputed(self.convert(target, self.common().size))
            }
            Written::Continue => {
                if self.function.as_ref().is_none_or(|f| f.loops == 0) {
                    return fail(span, "`continue` outside a loop");
                }
                StmtKind::Continue
            }
            Written::Break => {
                if self.function.as_ref().is_none_or(|f| f.loops == 0 && f.switches.is_empty()) {
                    return fail(span, "`break` outside a loop or `switch`");
                }
                StmtKind::Break
            }
            Written::Return(value) => self.return_statement(*value, span)?,
            Written::Label { name, body } => {
                let label = self.define_label(*name, span)?;
                let body = self.stmt(*body)?;
                StmtKind::Label { label, body }
            }
            Written::Case { value, end, body } => return self.case(*value, *end, *body, span),
            Written::Default { body } => return self.default(*body, span),
            Written::Asm(asm) => self.asm(asm, span),
        };
        Ok(self.statement(kind, span))
    }

    fn condition_of(&mut self, cond: ast::ExprId) -> Result<ExprId> {
        let cond = self.rvalue(cond)?;
        self.condition(cond)
    }

    fn loop_body(&mut self, body: ast::StmtId) -> Result<StmtId> {
        if let Some(function) = &mut self.function {
            function.loops += 1;
        }
        let body = self.scoped(body);
        if let Some(function) = &mut self.function {
            function.loops -= 1;
        }
        body
    }

    /// The body of a loop or a branch is a scope of its own.
    fn scoped(&mut self, body: ast::StmtId) -> Result<StmtId> {
        self.scopes.enter();
        let body = self.stmt(body);
        self.scopes.leave();
        body
    }

    /// A compound statement. A function's outermost one shares its scope with the parameters.
    pub fn compound(&mut self, id: ast::StmtId, is_function_body: bool) -> Result<StmtId> {
        let span = self.ast.stmts[id].span;
        if !is_function_body {
            self.scopes.enter();
        }
        let labels = self.label_mark();
        let statements = self.block_items(id);
        self.hide_local_labels(labels);
        if !is_function_body {
            self.scopes.leave();
        }
        let statements = statements?;
        Ok(self.statement(StmtKind::Block(statements), span))
    }

    fn block_items(&mut self, id: ast::StmtId) -> Result<Vec<StmtId>> {
        let ast = self.ast;
        let Written::Compound(items) = &ast.stmts[id].kind else { return Ok(vec![self.stmt(id)?]) };
        let mut statements = Vec::with_capacity(items.len());
        for item in items {
            if let Some(statement) = self.block_item(item)? {
                statements.push(statement);
            }
        }
        Ok(statements)
    }

    fn block_item(&mut self, item: &'a BlockItem) -> Result<Option<StmtId>> {
        match item {
            BlockItem::Stmt(id) => self.stmt(*id).map(Some),
            BlockItem::Declaration(declaration) => self.block_declaration(declaration).map(Some),
            BlockItem::StaticAssert(assertion) => self.static_assert(assertion).map(|()| None),
            BlockItem::LocalLabels(names) => {
                for name in names {
                    self.new_label(*name, Span::default());
                }
                Ok(None)
            }
            BlockItem::NestedFunction(definition) => {
                let error = Diagnostic::error(definition.declarator.span, "nested functions are not supported");
                Err(Box::new(error.help("move the function to file scope")))
            }
        }
    }

    fn if_statement(
        &mut self,
        cond: ast::ExprId,
        then: ast::StmtId,
        otherwise: Option<ast::StmtId>,
        span: Span,
    ) -> Result<StmtId> {
        let cond = self.condition_of(cond)?;
        let then = self.scoped(then)?;
        let otherwise = otherwise.map(|statement| self.scoped(statement)).transpose()?;
        Ok(self.statement(StmtKind::If { cond, then, otherwise }, span))
    }

    fn for_statement(
        &mut self,
        init: Option<&'a ast::ForInit>,
        cond: Option<ast::ExprId>,
        step: Option<ast::ExprId>,
        body: ast::StmtId,
        span: Span,
    ) -> Result<StmtId> {
        let mut statements = Vec::new();
        match init {
            Some(ast::ForInit::Expr(expr)) => {
                let value = self.expr(*expr)?;
                let value = self.discard(value);
                statements.push(self.statement(StmtKind::Expr(value), self.ast.exprs[*expr].span));
            }
            Some(ast::ForInit::Declaration(declaration)) => statements.push(self.block_declaration(declaration)?),
            None => {}
        }
        let cond = cond.map(|cond| self.condition_of(cond)).transpose()?;
        let step = match step {
            Some(step) => {
                let step = self.expr(step)?;
                Some(self.discard(step))
            }
            None => None,
        };
        let body = self.loop_body(body)?;
        statements.push(self.statement(StmtKind::For { cond, step, body }, span));
        Ok(self.statement(StmtKind::Block(statements), span))
    }

    fn return_statement(&mut self, value: Option<ast::ExprId>, span: Span) -> Result<StmtKind> {
        let ret = self.function.as_ref().map_or(self.common().void.into(), |f| f.ret);
        let is_void = self.types().is_void(ret.ty);
        let Some(value) = value else {
            return Ok(StmtKind::Return(None));
        };
        let value = self.rvalue(value)?;
        if is_void {
            // GNU C takes `return f();` in a void function, and even `return 1;` with a warning.
            let effect = self.statement(StmtKind::Expr(value), span);
            let leave = self.statement(StmtKind::Return(None), span);
            return Ok(StmtKind::Group(vec![effect, leave]));
        }
        if self.types().is_void(self.ty(value).ty) {
            return fail(span, "this function returns a value, but the expression has none");
        }
        let value = self.convert_assigned(value, ret, "as the function's result")?;
        Ok(StmtKind::Return(Some(value)))
    }

    /// Assembly that does nothing but stop the compiler or wait a moment is fine; all else is refused where it is used.
    fn asm(&mut self, asm: &ast::AsmStmt, span: Span) -> StmtKind {
        let text: String = asm.template.to_lowercase();
        let words: Vec<&str> = text.split([';', '\n', '\t', ' ']).filter(|w| !w.is_empty()).collect();
        let is_fence = words.iter().any(|w| matches!(*w, "mfence" | "sfence" | "lfence"));
        let harmless =
            words.iter().all(|w| matches!(*w, "pause" | "nop" | "rep" | "mfence" | "sfence" | "lfence" | "yield"));
        // Without instructions, operands only pin values down for the compiler.
        if harmless && (!asm.has_operands || words.is_empty()) && !asm.has_effects {
            if is_fence {
                let fence = Builtin::Fence(leno_ir::program::Order::SeqCst);
                let kind = ExprKind::Builtin { builtin: fence, args: Vec::new() };
                let fence = self.push(kind, self.common().void, span);
                return StmtKind::Expr(fence);
            }
            return StmtKind::Empty;
        }
        StmtKind::Refused {
            message: "inline assembly is not supported".to_string(),
            help: "put a C version of it behind `#ifdef LENO`, or use the `__atomic` builtins".to_string(),
        }
    }

    // ---- switch

    fn switch(&mut self, value: ast::ExprId, body: ast::StmtId, span: Span) -> Result<StmtId> {
        let value = self.rvalue(value)?;
        if !self.types().is_integer(self.ty(value).ty) {
            let shown = self.types().show(self.ty(value));
            return fail(self.span(value), format!("`switch` needs an integer, not `{shown}`"));
        }
        let value = self.promote(value);
        let ty = self.ty(value).ty;
        if let Some(function) = &mut self.function {
            function.switches.push(SwitchState { ty, cases: Vec::new(), places: Vec::new(), default: None });
        }
        let body = self.scoped(body);
        let state = self.function.as_mut().and_then(|f| f.switches.pop());
        let body = body?;
        let Some(SwitchState { cases, places, default, .. }) = state else {
            return fail(span, "`switch` outside a function");
        };
        refuse_double_cases(&cases, &places)?;
        Ok(self.statement(StmtKind::Switch { value, body, cases, default }, span))
    }

    fn anonymous_label(&mut self, name: &str) -> LabelId {
        match &mut self.function {
            Some(function) => function.labels.push(name.to_string()),
            None => LabelId(0),
        }
    }

    fn case(&mut self, value: ast::ExprId, end: Option<ast::ExprId>, body: ast::StmtId, span: Span) -> Result<StmtId> {
        let Some(ty) = self.function.as_ref().and_then(|f| f.switches.last()).map(|s| s.ty) else {
            return fail(span, "`case` outside a `switch`");
        };
        let place = self.ast.exprs[value].span;
        let first = self.case_value(value, ty)?;
        let last = end.map_or(Ok(first), |end| self.case_value(end, ty))?;
        let label = self.anonymous_label("case");
        if last >= first
            && let Some(switch) = self.function.as_mut().and_then(|f| f.switches.last_mut())
        {
            switch.cases.push(Case { first, last, label });
            switch.places.push(place);
        }
        let body = self.stmt(body)?;
        Ok(self.statement(StmtKind::Label { label, body }, span))
    }

    /// A case's value, converted to the type that the switch compares in.
    fn case_value(&mut self, value: ast::ExprId, ty: TypeId) -> Result<i128> {
        let value = self.constant_int(value, "the value of a `case`")?;
        Ok(self.extend(self.truncate(value as u128, ty), ty))
    }

    fn default(&mut self, body: ast::StmtId, span: Span) -> Result<StmtId> {
        let label = self.anonymous_label("default");
        match self.function.as_mut().and_then(|f| f.switches.last_mut()) {
            None => return fail(span, "`default` outside a `switch`"),
            Some(switch) if switch.default.is_some() => return fail(span, "this `switch` has two `default` labels"),
            Some(switch) => switch.default = Some(label),
        }
        let body = self.stmt(body)?;
        Ok(self.statement(StmtKind::Label { label, body }, span))
    }

    // ---- labels

    fn label_mark(&self) -> usize {
        self.function.as_ref().map_or(0, |f| f.local_labels.len())
    }

    /// Labels that `__label__` declared in the block that ends are seen no more.
    fn hide_local_labels(&mut self, mark: usize) {
        let Some(function) = &mut self.function else { return };
        for index in function.local_labels.drain(mark..) {
            let name = function.named_labels[index].name;
            if let Some(visible) = function.visible_labels.get_mut(&name) {
                visible.retain(|other| *other != index);
            }
        }
    }

    fn new_label(&mut self, name: Name, first_use: Span) -> LabelId {
        let text = self.text(name).to_string();
        let is_local = first_use == Span::default();
        let Some(function) = &mut self.function else { return LabelId(0) };
        let label = function.labels.push(text);
        let index = function.named_labels.len();
        function.visible_labels.entry(name).or_default().push(index);
        if is_local {
            function.local_labels.push(index);
        }
        function.named_labels.push(NamedLabel { name, label, first_use, is_defined: false, has_address: false });
        label
    }

    fn find_label(&mut self, name: Name) -> Option<&mut NamedLabel> {
        let function = self.function.as_mut()?;
        let index = *function.visible_labels.get(&name)?.last()?;
        function.named_labels.get_mut(index)
    }

    fn label_use(&mut self, name: Name, span: Span) -> LabelId {
        match self.find_label(name) {
            Some(label) => {
                if label.first_use == Span::default() {
                    label.first_use = span;
                }
                label.label
            }
            None => self.new_label(name, span),
        }
    }

    fn define_label(&mut self, name: Name, span: Span) -> Result<LabelId> {
        let id = self.label_use(name, span);
        let text = self.text(name);
        match self.find_label(name) {
            Some(label) if label.is_defined => fail(span, format!("the label `{text}` is defined twice")),
            Some(label) => {
                label.is_defined = true;
                Ok(id)
            }
            None => Ok(id),
        }
    }

    pub fn label_address(&mut self, name: Name, span: Span) -> Result<ExprId> {
        if self.function.is_none() {
            return fail(span, "there are no labels outside functions");
        }
        let label = self.label_use(name, span);
        let is_first = self.find_label(name).is_some_and(|label| !std::mem::replace(&mut label.has_address, true));
        if is_first && let Some(function) = &mut self.function {
            function.address_labels.push(label);
        }
        Ok(self.push(ExprKind::LabelAddress(label), self.common().void_ptr, span))
    }

    // ---- statement expressions

    pub fn statement_expression(&mut self, body: ast::StmtId, span: Span) -> Result<ExprId> {
        if self.function.is_none() {
            return fail(span, "a statement expression cannot stand outside a function");
        }
        self.scopes.enter();
        let labels = self.label_mark();
        let result = self.statement_expression_parts(body);
        self.hide_local_labels(labels);
        self.scopes.leave();
        let (statements, value) = result?;
        let ty = value.map_or(self.common().void, |value| self.ty(value).ty);
        Ok(self.push(ExprKind::StmtExpr { body: statements, value }, ty, span))
    }

    fn statement_expression_parts(&mut self, body: ast::StmtId) -> Result<(Vec<StmtId>, Option<ExprId>)> {
        let ast = self.ast;
        let Written::Compound(items) = &ast.stmts[body].kind else { return Ok((Vec::new(), None)) };
        let mut statements = Vec::with_capacity(items.len());
        let Some((last, init)) = items.split_last() else { return Ok((statements, None)) };
        for item in init {
            statements.extend(self.block_item(item)?);
        }
        if let BlockItem::Stmt(id) = last {
            let (labels, inner) = self.strip_labels(*id)?;
            for label in labels {
                let empty = self.statement(StmtKind::Empty, ast.stmts[*id].span);
                statements.push(self.statement(StmtKind::Label { label, body: empty }, ast.stmts[*id].span));
            }
            if let Written::Expr(expr) = ast.stmts[inner].kind {
                let value = self.rvalue(expr)?;
                return Ok((statements, Some(self.promote_field(value))));
            }
            statements.push(self.stmt(inner)?);
            return Ok((statements, None));
        }
        statements.extend(self.block_item(last)?);
        Ok((statements, None))
    }

    /// `({ …; label: value; })` has the value's value.
    fn strip_labels(&mut self, id: ast::StmtId) -> Result<(Vec<LabelId>, ast::StmtId)> {
        let ast = self.ast;
        let mut labels = Vec::new();
        let mut id = id;
        while let Written::Label { name, body } = ast.stmts[id].kind {
            labels.push(self.define_label(name, ast.stmts[id].span)?);
            id = body;
        }
        Ok((labels, id))
    }
}

/// No value has two cases; `places` is where the cases stand.
fn refuse_double_cases(cases: &[Case], places: &[Span]) -> Result<()> {
    let mut sorted: Vec<(i128, i128, usize)> = cases.iter().enumerate().map(|(at, c)| (c.first, c.last, at)).collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[1].0 <= pair[0].1) {
        Some(pair) => fail(places[pair[0].2.max(pair[1].2)], format!("this `switch` has two cases for {}", pair[1].0)),
        None => Ok(()),
    }
}
