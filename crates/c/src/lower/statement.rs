//! Statements: control flow.
//!
//! Every label is a block, wherever it stands, so jumps into loops and switches whose cases lie inside loops need
//! nothing special. Code that follows a jump and has no label is dropped by the builder as it is written.

use super::body::Lowering;
use super::scalar::Scalar;
use crate::diagnostic::{Diagnostic, Result};
use crate::source::Span;
use crate::typed::{Case, ExprId, LabelId, StmtId, StmtKind};
use leno_ir::program::{BinaryOp, BlockId, Expr, Property, TerminatorKind};
use std::collections::BTreeMap;

/// Case ranges up to this many values are listed; longer ones are compared with.
const LISTED_RANGE: i128 = 64;

impl Lowering<'_, '_> {
    pub fn statement(&mut self, id: StmtId) -> Result<()> {
        let unit = self.unit;
        let statement = &unit.stmts[id];
        if !matches!(statement.kind, StmtKind::Block(_) | StmtKind::Group(_) | StmtKind::Label { .. }) {
            self.at(statement.span);
        }
        match &statement.kind {
            StmtKind::Empty => {}
            StmtKind::Expr(expr) => {
                self.effect(*expr)?;
                self.end_temporaries();
            }
            StmtKind::Block(body) => {
                self.open_block(body);
                for inner in body {
                    self.statement(*inner)?;
                }
                self.at(Span::new(statement.span.end.saturating_sub(1), statement.span.end));
                self.close_scope()?;
            }
            StmtKind::Group(body) => {
                for inner in body {
                    self.statement(*inner)?;
                }
            }
            StmtKind::Declare { var, init } => {
                self.declare(*var, init.as_ref())?;
                self.end_temporaries();
                self.open_cleanup(*var);
            }
            StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::For { .. }
            | StmtKind::DoWhile { .. }
            | StmtKind::Switch { .. } => {
                self.open_scope();
                self.branching_statement(id)?;
                self.at(Span::new(statement.span.end.saturating_sub(1), statement.span.end));
                self.close_scope()?;
            }
            StmtKind::Label { label, body } => {
                self.place_label(*label)?;
                if self.is_error_label(*label, *body) {
                    self.at(statement.span);
                    self.b.assert(Expr::bool(false), Property::Assertion, "ERROR is reached");
                }
                self.statement(*body)?;
            }
            StmtKind::Goto(label) => self.jump_to(*label, statement.span)?,
            StmtKind::GotoComputed(target) => self.computed_goto(*target)?,
            StmtKind::Break => self.break_out()?,
            StmtKind::Continue => self.continue_loop()?,
            StmtKind::Return(value) => self.return_statement(id, *value)?,
            StmtKind::Refused { message, help } => {
                let diagnostic = Diagnostic::error(statement.span, message.as_str());
                return Err(Box::new(diagnostic.help(help.as_str())));
            }
        }
        Ok(())
    }

    /// A statement that is a scope of its own.
    fn branching_statement(&mut self, id: StmtId) -> Result<()> {
        let unit = self.unit;
        match &unit.stmts[id].kind {
            StmtKind::If { cond, then, otherwise } => self.if_statement(*cond, *then, *otherwise),
            StmtKind::While { cond, body } => self.repeated(|this| this.loop_statement(Some(*cond), None, *body)),
            StmtKind::For { cond, step, body } => self.repeated(|this| this.loop_statement(*cond, *step, *body)),
            StmtKind::DoWhile { body, cond } => self.repeated(|this| this.do_while(*body, *cond)),
            StmtKind::Switch { value, body, cases, default } => self.switch(id, *value, *body, cases, *default),
            _ => Ok(()),
        }
    }

    fn repeated(&mut self, statement: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.enter_loop();
        let lowered = statement(self);
        self.leave_loop();
        lowered
    }

    /// A part of a statement, which is a scope even without braces.
    fn inner_statement(&mut self, id: StmtId) -> Result<()> {
        self.open_scope();
        self.statement(id)?;
        self.close_scope()
    }

    /// `ERROR: ;` is how verifiers were told of places that must not be reached before there was `reach_error`. A label
    /// that has something to do is a label.
    fn is_error_label(&self, label: LabelId, body: StmtId) -> bool {
        self.body.labels[label] == "ERROR" && matches!(self.unit.stmts[body].kind, StmtKind::Empty)
    }

    fn if_statement(&mut self, cond: ExprId, then: StmtId, otherwise: Option<StmtId>) -> Result<()> {
        let (yes, join) = (self.b.new_block(), self.b.new_block());
        let no = if otherwise.is_some() { self.b.new_block() } else { join };
        self.branch_on(cond, yes, no)?;
        self.b.switch_to(yes);
        self.inner_statement(then)?;
        self.b.goto(join);
        if let Some(otherwise) = otherwise {
            self.b.switch_to(no);
            self.inner_statement(otherwise)?;
            self.b.goto(join);
        }
        self.b.switch_to(join);
        Ok(())
    }

    /// `while` and `for`.
    fn loop_statement(&mut self, cond: Option<ExprId>, step: Option<ExprId>, body: StmtId) -> Result<()> {
        let (head, inside, end) = (self.b.new_block(), self.b.new_block(), self.b.new_block());
        let next = if step.is_some() { self.b.new_block() } else { head };
        if let Some(cond) = cond {
            self.at(self.span_of(cond));
        }
        self.b.goto(head);
        self.b.switch_to(head);
        match cond {
            Some(cond) => self.branch_on(cond, inside, end)?,
            None => self.b.goto(inside),
        }
        self.b.switch_to(inside);
        self.open_jumps(end, Some(next));
        self.inner_statement(body)?;
        self.close_jumps();
        if let Some(next) = step.or(cond) {
            self.at(self.span_of(next));
        }
        self.b.goto(next);
        if let Some(step) = step {
            self.b.switch_to(next);
            self.effect(step)?;
            self.end_temporaries();
            self.b.goto(head);
        }
        self.b.switch_to(end);
        Ok(())
    }

    fn do_while(&mut self, body: StmtId, cond: ExprId) -> Result<()> {
        let (inside, test, end) = (self.b.new_block(), self.b.new_block(), self.b.new_block());
        self.at(self.span_of(cond));
        self.b.goto(inside);
        self.b.switch_to(inside);
        self.open_jumps(end, Some(test));
        self.inner_statement(body)?;
        self.close_jumps();
        self.b.goto(test);
        self.b.switch_to(test);
        self.branch_on(cond, inside, end)?;
        self.b.switch_to(end);
        Ok(())
    }

    // ---- switch

    fn switch(
        &mut self,
        id: StmtId,
        value: ExprId,
        body: StmtId,
        cases: &[Case],
        default: Option<LabelId>,
    ) -> Result<()> {
        let scalar = self.scalar(value)?;
        let chosen = self.rvalue(value)?;
        self.at(self.span_of(value));
        let chosen = self.b.bounded(chosen);
        let end = self.b.new_block();
        let span = self.unit.stmts[id].span;
        let default = default.map_or(Ok(end), |label| self.way_to(label, span, true))?;
        let listed = self.listed_cases(scalar, &chosen, cases, span)?;
        let cases: Vec<(u128, BlockId)> = listed.into_iter().collect();
        self.b.terminate(TerminatorKind::Switch { value: chosen, cases, default });
        self.open_jumps(end, None);
        self.at(span);
        self.inner_statement(body)?;
        self.close_jumps();
        self.b.goto(end);
        self.b.switch_to(end);
        Ok(())
    }

    /// The cases by value. Long ranges among them are tested at once, before the switch.
    fn listed_cases(
        &mut self,
        scalar: Scalar,
        chosen: &Expr,
        cases: &[Case],
        span: Span,
    ) -> Result<BTreeMap<u128, BlockId>> {
        let width = scalar.ir().bits(self.b.model());
        let bits = |value: i128| match Expr::int(value as u128, width) {
            Expr::Const { bits, .. } => bits,
            _ => 0,
        };
        let mut listed = BTreeMap::new();
        for case in cases {
            let block = self.way_to(case.label, span, true)?;
            if case.last.saturating_sub(case.first) < LISTED_RANGE {
                for value in case.first..=case.last {
                    listed.entry(bits(value)).or_insert(block);
                }
                continue;
            }
            let op = if scalar.is_signed() { BinaryOp::SLe } else { BinaryOp::ULe };
            let (first, last) = (Expr::int(case.first as u128, width), Expr::int(case.last as u128, width));
            let above = self.b.binary(op, first, chosen.clone());
            let below = self.b.binary(op, chosen.clone(), last);
            let inside = self.b.binary(BinaryOp::And, above, below);
            let next = self.b.new_block();
            self.b.branch(inside, block, next);
            self.b.switch_to(next);
        }
        Ok(listed)
    }

    /// `goto *e`: one of the labels whose address is taken somewhere.
    fn computed_goto(&mut self, target: ExprId) -> Result<()> {
        let from = self.scalar(target)?;
        let value = self.rvalue(target)?;
        self.at(self.span_of(target));
        let value = self.b.convert(value, from, Scalar::size(self.b.model()));
        let body = self.body;
        let span = self.span_of(target);
        let mut labels = BTreeMap::new();
        for label in &body.address_labels {
            labels.insert(u128::from(label.0) + 1, self.way_to(*label, span, false)?);
        }
        let nowhere = self.b.new_block();
        let cases = labels.into_iter().collect();
        self.b.terminate(TerminatorKind::Switch { value, cases, default: nowhere });
        self.b.switch_to(nowhere);
        self.b.terminate(TerminatorKind::Unreachable);
        Ok(())
    }

    // ---- return

    fn return_statement(&mut self, id: StmtId, value: Option<ExprId>) -> Result<()> {
        let span = self.unit.stmts[id].span;
        let Some(value) = value else {
            self.run_all_cleanups()?;
            self.at(span);
            let nothing = self.b.ret().map(|ty| self.b.undefined(ty));
            self.leave_function(nothing);
            return Ok(());
        };
        if self.is_record(self.ret) {
            let dest = self.b.param(0);
            self.record_into(value, dest)?;
            self.run_all_cleanups()?;
            self.at(span);
            self.leave_function(None);
            return Ok(());
        }
        if self.b.ret().is_none() {
            self.effect(value)?;
            self.run_all_cleanups()?;
            self.at(span);
            self.leave_function(None);
            return Ok(());
        }
        let result = self.rvalue(value)?;
        self.at(span);
        // In an atomic function the value must not change after the end, nor by a cleanup.
        let result = if self.has_cleanups() { self.b.materialize(result) } else { result };
        self.run_all_cleanups()?;
        self.at(span);
        self.leave_function(Some(result));
        Ok(())
    }
}
