//! Rvalues, and the order of their effects.
//!
//! What reads memory, calls, or may fail becomes an instruction at the moment of its evaluation, left to right; around
//! the results, pure trees are built. An operand that was evaluated is held while the next one is (see the builder).

use super::body::Lowering;
use super::index::Reach;
use super::place::Place;
use super::scalar::Scalar;
use crate::diagnostic::{Diagnostic, Result};
use crate::typed::{ExprId, ExprKind, LabelId, StmtId};
use leno_ir::program::{Expr, FuncId};

impl Lowering<'_, '_> {
    /// The value of a scalar expression. (Of a void one: the effects, and a value that is not used.)
    pub fn rvalue(&mut self, id: ExprId) -> Result<Expr> {
        let value = self.unbounded_rvalue(id)?;
        Ok(self.b.bounded(value))
    }

    fn unbounded_rvalue(&mut self, id: ExprId) -> Result<Expr> {
        let unit = self.unit;
        let expr = &unit.exprs[id];
        self.begin_operator(id);
        match &expr.kind {
            ExprKind::Const(bits) => {
                let ty = self.scalar(id)?.ir();
                let width = ty.bits(self.b.model());
                let mask = if width >= 128 { u128::MAX } else { (1 << width) - 1 };
                Ok(Expr::Const { ty, bits: bits & mask })
            }
            ExprKind::Function(func) => {
                let target = self.b.link.function(self.unit_index, *func);
                self.check_allowed(id, target)?;
                Ok(Expr::Function(target))
            }
            ExprKind::Load(place) => self.load(id, *place),
            ExprKind::AddressOf(place) => {
                self.keeps_temporary = self.is_in_temporary(*place);
                self.address_within(*place, Reach::Address)
            }
            ExprKind::LabelAddress(label) => self.label_address(id, *label),
            ExprKind::Cast(operand) => self.cast(id, *operand),
            ExprKind::Unary(op, operand) => self.unary(id, *op, *operand),
            ExprKind::Binary(op, a, b) => self.binary(id, *op, *a, *b),
            ExprKind::PointerAdd(a, b) => self.pointer_add(*a, *b, Reach::Address),
            ExprKind::PointerDiff(a, b) => self.pointer_diff(id, *a, *b),
            ExprKind::LogicalNot(_) | ExprKind::LogicalAnd(..) | ExprKind::LogicalOr(..) => {
                let truth = self.condition(id)?;
                Ok(self.as_int(truth))
            }
            ExprKind::Conditional { cond, then, otherwise } => {
                if self.is_void(expr.ty) {
                    return self.void(id);
                }
                self.choice(id, *cond, *then, *otherwise)
            }
            ExprKind::ConditionalElse { cond, otherwise } => self.choice_else(id, *cond, *otherwise),
            ExprKind::Comma(a, b) => {
                self.effect(*a)?;
                self.rvalue(*b)
            }
            ExprKind::Assign { place, value } => self.assign(id, *place, *value, true),
            ExprKind::Update { .. } => self.update(id, true),
            ExprKind::Call { .. } => Ok(self.call(id)?.unwrap_or_else(|| Expr::int(0, 32))),
            ExprKind::StmtExpr { body, value } => self.statement_expression(body, *value),
            ExprKind::Builtin { builtin, args } => {
                let value = self.builtin(id, *builtin, args)?;
                Ok(value.unwrap_or_else(|| Expr::int(0, 32)))
            }
            ExprKind::Var(_)
            | ExprKind::Global(_)
            | ExprKind::Deref(_)
            | ExprKind::Field { .. }
            | ExprKind::CompoundLiteral { .. }
            | ExprKind::Temporary { .. } => self.load(id, id),
        }
    }

    fn void(&mut self, id: ExprId) -> Result<Expr> {
        self.effect(id)?;
        Ok(Expr::int(0, 32))
    }

    /// Evaluates an expression whose value is not used.
    pub fn effect(&mut self, id: ExprId) -> Result<()> {
        let unit = self.unit;
        let expr = &unit.exprs[id];
        self.begin_operator(id);
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Function(_) => Ok(()),
            ExprKind::Cast(operand) => self.effect(*operand),
            ExprKind::LogicalNot(operand) => self.effect(*operand),
            ExprKind::LogicalAnd(a, b) => self.effect_of_logical(*a, *b, true),
            ExprKind::LogicalOr(a, b) => self.effect_of_logical(*a, *b, false),
            ExprKind::Conditional { cond, then, otherwise } => self.effect_of_choice(*cond, *then, *otherwise),
            ExprKind::Comma(a, b) => {
                self.effect(*a)?;
                self.effect(*b)
            }
            ExprKind::Assign { place, value } => self.assign(id, *place, *value, false).map(drop),
            ExprKind::Update { .. } => self.update(id, false).map(drop),
            ExprKind::Call { .. } => self.call(id).map(drop),
            ExprKind::StmtExpr { body, value } => self.statement_expression_effect(body, *value),
            ExprKind::Builtin { builtin, args } => self.builtin(id, *builtin, args).map(drop),
            _ if self.is_record(expr.ty) => self.record(id).map(drop),
            // `*p;` reads what p points to, unless that is nothing.
            ExprKind::Load(place) if Scalar::of(self.types, expr.ty.ty).is_none() => self.place(*place).map(drop),
            _ => self.rvalue(id).map(drop),
        }
    }

    // ---- leaves

    fn load(&mut self, id: ExprId, place: ExprId) -> Result<Expr> {
        let ty = self.type_of(id);
        if self.is_record(ty) {
            return Ok(self.record(id)?.address);
        }
        if self.is_void(ty) || self.types.is_array(ty.ty) || self.types.is_function(ty.ty) {
            return self.address(place);
        }
        let scalar = self.scalar(id)?;
        let place = self.place(place)?;
        self.at(self.span_of(id));
        self.sequenced(id, &place);
        Ok(self.read(&place, scalar))
    }

    fn label_address(&mut self, id: ExprId, label: LabelId) -> Result<Expr> {
        let ty = self.scalar(id)?.ir();
        Ok(Expr::Const { ty, bits: u128::from(label.0) + 1 })
    }

    fn cast(&mut self, id: ExprId, operand: ExprId) -> Result<Expr> {
        let to = self.type_of(id);
        if self.is_void(to) {
            self.effect(operand)?;
            return Ok(Expr::int(0, 32));
        }
        if self.is_record(to) {
            return Ok(self.record(operand)?.address);
        }
        let (from, to) = (self.scalar(operand)?, self.scalar(id)?);
        if to == Scalar::Bool {
            let truth = self.condition(operand)?;
            return Ok(self.b.convert(truth, Scalar::unsigned(1), Scalar::Bool));
        }
        let value = match self.moved_by(operand).filter(|_| to == Scalar::Pointer) {
            Some(moved) => self.moved_address(operand, moved)?,
            None => self.rvalue(operand)?,
        };
        Ok(self.b.convert(value, from, to))
    }

    // ---- two operands

    /// Two rvalues, the left one first.
    pub fn operands(&mut self, a: ExprId, b: ExprId) -> Result<(Expr, Expr)> {
        let left = self.rvalue(a)?;
        if self.is_pure(b) {
            return Ok((left, self.rvalue(b)?));
        }
        self.b.hold(left);
        let right = self.rvalue(b)?;
        Ok((self.b.release(), right))
    }

    // ---- assignment

    /// The place, then the value, then the store. The result is the value as stored, if it is wanted.
    pub fn assign(&mut self, id: ExprId, place: ExprId, value: ExprId, wanted: bool) -> Result<Expr> {
        let ty = self.type_of(place);
        if self.is_record(ty) {
            return self.assign_record(id, place, value);
        }
        let scalar = self.scalar(place)?;
        let mut place = self.place(place)?;
        self.hold_place(&place);
        let value = self.rvalue(value)?;
        self.release_place(&mut place);
        self.at(self.span_of(id));
        if matches!(place, Place::Bits { .. }) {
            place = self.reusable_place(place);
        }
        self.sequenced(id, &place);
        let value = if wanted && !matches!(place, Place::Register(_)) { self.b.reusable(value) } else { value };
        if let Place::Register(local) = place {
            self.write(&place, scalar, value);
            return Ok(Expr::Local(local));
        }
        self.write(&place, scalar, value.clone());
        Ok(if wanted { self.as_stored(&place, scalar, value) } else { value })
    }

    /// Whether an lvalue is a temporary object or a part of one.
    fn is_in_temporary(&self, mut place: ExprId) -> bool {
        while let ExprKind::Field { base, .. } = self.unit.exprs[place].kind {
            place = base;
        }
        matches!(self.unit.exprs[place].kind, ExprKind::Temporary { .. })
    }

    // ---- statement expressions

    fn statement_expression(&mut self, body: &[StmtId], value: Option<ExprId>) -> Result<Expr> {
        self.open_block(body);
        for statement in body {
            self.statement(*statement)?;
        }
        let result = match value {
            Some(value) => {
                let result = self.rvalue(value)?;
                self.at(self.span_of(value));
                // The block's variables are at an end: what the value says of them has to be said now.
                self.b.materialize(result)
            }
            None => Expr::int(0, 32),
        };
        self.close_scope()?;
        Ok(result)
    }

    fn statement_expression_effect(&mut self, body: &[StmtId], value: Option<ExprId>) -> Result<()> {
        self.open_block(body);
        for statement in body {
            self.statement(*statement)?;
        }
        if let Some(value) = value {
            self.effect(value)?;
        }
        self.close_scope()
    }

    /// Some functions cannot be part of a program that Leno checks.
    pub fn check_allowed(&self, id: ExprId, target: FuncId) -> Result<()> {
        match self.b.link.refusal(target) {
            Some(refusal) => Err(Box::new(Diagnostic::error(self.span_of(id), refusal.reason).help(refusal.help))),
            None => Ok(()),
        }
    }

    /// An error about something that lowering does not take.
    pub fn refuse<T>(&self, id: ExprId, message: impl Into<String>) -> Result<T> {
        Err(Box::new(Diagnostic::error(self.span_of(id), message)))
    }
}
