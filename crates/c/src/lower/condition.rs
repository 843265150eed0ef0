//! Truth: conditions, short circuits, and choices.
//!
//! `a && b` evaluates `b` only if `a` holds. When `b` touches no memory and cannot fail, evaluating it makes no
//! difference, and the result is one `i1` expression; else it is control flow. The same goes for `?:`. Divisions and
//! nested choices count as things that can fail: the semantics does not let an undefined value decide anything.

use super::body::Lowering;
use crate::diagnostic::Result;
use crate::typed::{BinaryOp, ExprId, ExprKind};
use leno_ir::program::{self as ir, BlockId, CastOp, Expr, Type};

/// How many nodes are looked at to find out whether an expression is pure: more are not worth it.
const PURITY_FUEL: u32 = 32;

impl Lowering<'_, '_> {
    /// Whether lowering this rvalue appends no instruction, and evaluating it cannot fail.
    pub fn is_pure(&self, id: ExprId) -> bool {
        let mut fuel = PURITY_FUEL;
        self.is_pure_within(id, &mut fuel)
    }

    fn is_pure_within(&self, id: ExprId, fuel: &mut u32) -> bool {
        if *fuel == 0 {
            return false;
        }
        *fuel -= 1;
        let expr = &self.unit.exprs[id];
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Function(_) | ExprKind::LabelAddress(_) => true,
            ExprKind::Load(place) => self.is_register(*place) && !self.sequencing.concerns(id),
            ExprKind::AddressOf(place) => self.is_pure_address(*place, fuel),
            ExprKind::Cast(e) => {
                let is_moved = self.types.is_pointer(expr.ty.ty) && self.moved_by(*e).is_some();
                !self.is_void(expr.ty) && !is_moved && self.is_pure_within(*e, fuel)
            }
            ExprKind::LogicalNot(e) => self.is_pure_within(*e, fuel),
            ExprKind::Unary(_, e) => !self.checks_overflow() && self.is_pure_within(*e, fuel),
            ExprKind::Binary(op, a, b) => {
                let fails = match op {
                    BinaryOp::Div | BinaryOp::Rem => true,
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl | BinaryOp::Shr => {
                        self.checks_overflow()
                    }
                    _ => false,
                };
                !fails && self.is_pure_within(*a, fuel) && self.is_pure_within(*b, fuel)
            }
            ExprKind::PointerAdd(a, b) => {
                !self.checks_index(*a, *b) && self.is_pure_within(*a, fuel) && self.is_pure_within(*b, fuel)
            }
            ExprKind::PointerDiff(a, b) | ExprKind::LogicalAnd(a, b) | ExprKind::LogicalOr(a, b) => {
                self.is_pure_within(*a, fuel) && self.is_pure_within(*b, fuel)
            }
            _ => false,
        }
    }

    fn is_pure_address(&self, id: ExprId, fuel: &mut u32) -> bool {
        if *fuel == 0 {
            return false;
        }
        *fuel -= 1;
        match &self.unit.exprs[id].kind {
            ExprKind::Var(_) | ExprKind::Global(_) => true,
            ExprKind::Deref(pointer) => self.is_pure_within(*pointer, fuel),
            ExprKind::Field { base, .. } => self.is_pure_address(*base, fuel),
            _ => false,
        }
    }

    fn is_register(&self, place: ExprId) -> bool {
        match &self.unit.exprs[place].kind {
            ExprKind::Var(var) => {
                let var = &self.body.vars[*var];
                !var.in_memory && self.types.is_scalar(var.ty.ty)
            }
            _ => false,
        }
    }

    fn checks_overflow(&self) -> bool {
        self.b.link.options.check_signed_overflow
    }

    /// Whether a scalar rvalue compares unequal to zero, as an `i1`.
    pub fn condition(&mut self, id: ExprId) -> Result<Expr> {
        let unit = self.unit;
        match &unit.exprs[id].kind {
            ExprKind::LogicalNot(operand) => {
                let operand = self.condition(*operand)?;
                Ok(self.b.not(operand))
            }
            ExprKind::LogicalAnd(a, b) => self.short_circuit(id, *a, *b, true),
            ExprKind::LogicalOr(a, b) => self.short_circuit(id, *a, *b, false),
            _ => {
                let value = self.rvalue(id)?;
                let truth = self.b.truth(value);
                Ok(self.b.bounded(truth))
            }
        }
    }

    fn short_circuit(&mut self, id: ExprId, a: ExprId, b: ExprId, is_and: bool) -> Result<Expr> {
        if self.is_pure(b) {
            let op = if is_and { ir::BinaryOp::And } else { ir::BinaryOp::Or };
            let left = self.condition(a)?;
            let right = self.condition(b)?;
            let both = self.b.binary(op, left, right);
            return Ok(self.b.bounded(both));
        }
        let (right, skipped, join) = (self.b.new_block(), self.b.new_block(), self.b.new_block());
        let result = self.b.new_temp(Type::BOOL);
        if is_and {
            self.branch_on(a, right, skipped)?
        } else {
            self.branch_on(a, skipped, right)?
        }
        self.b.switch_to(right);
        let value = self.condition(b)?;
        self.at(self.span_of(id));
        self.b.assign(result, value);
        self.b.goto(join);
        self.b.switch_to(skipped);
        self.b.assign(result, Expr::bool(!is_and));
        self.b.goto(join);
        self.b.switch_to(join);
        Ok(Expr::Local(result))
    }

    /// Goes to one block or the other.
    pub fn branch_on(&mut self, id: ExprId, then: BlockId, otherwise: BlockId) -> Result<()> {
        let unit = self.unit;
        match &unit.exprs[id].kind {
            ExprKind::LogicalNot(operand) => self.branch_on(*operand, otherwise, then),
            ExprKind::LogicalAnd(a, b) if !self.is_pure(*b) => {
                let both = self.b.new_block();
                self.branch_on(*a, both, otherwise)?;
                self.b.switch_to(both);
                self.branch_on(*b, then, otherwise)
            }
            ExprKind::LogicalOr(a, b) if !self.is_pure(*b) => {
                let neither = self.b.new_block();
                self.branch_on(*a, then, neither)?;
                self.b.switch_to(neither);
                self.branch_on(*b, then, otherwise)
            }
            ExprKind::Comma(a, b) => {
                self.effect(*a)?;
                self.branch_on(*b, then, otherwise)
            }
            _ => {
                let cond = self.condition(id)?;
                self.at(self.span_of(id));
                self.b.branch(cond, then, otherwise);
                Ok(())
            }
        }
    }

    /// `a && b` or `a || b` for its effects.
    pub fn effect_of_logical(&mut self, a: ExprId, b: ExprId, is_and: bool) -> Result<()> {
        let (right, join) = (self.b.new_block(), self.b.new_block());
        if is_and {
            self.branch_on(a, right, join)?
        } else {
            self.branch_on(a, join, right)?
        }
        self.b.switch_to(right);
        self.effect(b)?;
        self.b.goto(join);
        self.b.switch_to(join);
        Ok(())
    }

    // ---- choices

    /// A condition that needs no evaluation at run time.
    fn known(&self, id: ExprId) -> Option<bool> {
        match &self.unit.exprs[id].kind {
            ExprKind::Const(bits) => {
                // The sign of a floating-point zero does not make it true.
                let is_float = self.types.is_float(self.unit.exprs[id].ty.ty);
                (!is_float).then_some(*bits != 0)
            }
            ExprKind::LogicalNot(operand) => self.known(*operand).map(|known| !known),
            _ => None,
        }
    }

    /// A scalar `cond ? then : otherwise`.
    pub fn choice(&mut self, id: ExprId, cond: ExprId, then: ExprId, otherwise: ExprId) -> Result<Expr> {
        if let Some(known) = self.known(cond) {
            return self.rvalue(if known { then } else { otherwise });
        }
        if self.is_pure(then) && self.is_pure(otherwise) {
            let cond = self.condition(cond)?;
            let then = self.rvalue(then)?;
            let otherwise = self.rvalue(otherwise)?;
            let value = self.b.select(cond, then, otherwise);
            return Ok(self.b.bounded(value));
        }
        let result = self.b.new_temp(self.scalar(id)?.ir());
        let (yes, no, join) = (self.b.new_block(), self.b.new_block(), self.b.new_block());
        self.branch_on(cond, yes, no)?;
        for (block, arm) in [(yes, then), (no, otherwise)] {
            self.b.switch_to(block);
            let value = self.rvalue(arm)?;
            self.at(self.span_of(arm));
            self.b.assign_result(result, value);
            self.b.goto(join);
        }
        self.b.switch_to(join);
        Ok(Expr::Local(result))
    }

    /// `cond ?: otherwise`: the condition's value, converted, if it is true.
    pub fn choice_else(&mut self, id: ExprId, cond: ExprId, otherwise: ExprId) -> Result<Expr> {
        let (from, to) = (self.scalar(cond)?, self.scalar(id)?);
        let value = self.rvalue(cond)?;
        self.at(self.span_of(cond));
        let value = self.b.materialize(value);
        let truth = self.b.truth(value.clone());
        let converted = self.b.convert(value, from, to);
        if self.is_pure(otherwise) {
            let otherwise = self.rvalue(otherwise)?;
            return Ok(self.b.select(truth, converted, otherwise));
        }
        let result = self.b.new_temp(to.ir());
        let (yes, no, join) = (self.b.new_block(), self.b.new_block(), self.b.new_block());
        self.b.branch(truth, yes, no);
        self.b.switch_to(yes);
        self.b.assign(result, converted);
        self.b.goto(join);
        self.b.switch_to(no);
        let value = self.rvalue(otherwise)?;
        self.at(self.span_of(otherwise));
        self.b.assign_result(result, value);
        self.b.goto(join);
        self.b.switch_to(join);
        Ok(Expr::Local(result))
    }

    /// `cond ? then : otherwise` for its effects.
    pub fn effect_of_choice(&mut self, cond: ExprId, then: ExprId, otherwise: ExprId) -> Result<()> {
        if let Some(known) = self.known(cond) {
            return self.effect(if known { then } else { otherwise });
        }
        let (yes, no, join) = (self.b.new_block(), self.b.new_block(), self.b.new_block());
        self.branch_on(cond, yes, no)?;
        for (block, arm) in [(yes, then), (no, otherwise)] {
            self.b.switch_to(block);
            self.effect(arm)?;
            self.b.goto(join);
        }
        self.b.switch_to(join);
        Ok(())
    }

    /// An `i1` as C's `int`.
    pub fn as_int(&mut self, truth: Expr) -> Expr {
        self.b.cast(CastOp::ZeroExtend, Type::I32, truth)
    }
}
