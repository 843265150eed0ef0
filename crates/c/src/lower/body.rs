//! Lowering the body of one C function: its parameters and variables, and where they live.
//!
//! A scalar variable whose address is never taken is a register; all others are slots, except variable-length arrays,
//! which are allocated where their declaration is reached. Homes are made when a variable is first met.

use super::builder::FunctionBuilder;
use super::hook;
use super::link::Link;
use super::place::How;
use super::scalar::{Scalar, zero};
use super::scope::Scopes;
use super::sequence::Sequencing;
use crate::diagnostic::{Diagnostic, Result};
use crate::source::Span;
use crate::typed::{ExprId, FuncId, Function, FunctionBody, LabelId, Unit, VarId};
use crate::types::{ArrayLen, QualType, Quals, Type, TypeId, Types};
use leno_ir::index::Idx;
use leno_ir::program::{self as ir, BinaryOp, BlockId, Expr, LocalId, Op, SlotId, TerminatorKind};

/// Where a variable lives.
#[derive(Clone, Copy)]
pub(super) enum Home {
    Register(LocalId),
    Slot(SlotId),
    /// The register holds its address.
    Dynamic(LocalId),
}

pub(super) struct Lowering<'a, 'u> {
    pub b: FunctionBuilder<'a, 'u>,
    pub unit_index: usize,
    pub unit: &'u Unit,
    pub types: &'u Types,
    pub body: &'u FunctionBody,
    /// The C type of what the function returns.
    pub ret: QualType,
    pub is_main: bool,
    /// No other thread runs while this function does.
    pub is_atomic: bool,
    homes: Vec<Option<Home>>,
    pub labels: Vec<Option<BlockId>>,
    pub scopes: Scopes,
    pub sequencing: Sequencing,
    /// The hidden parameter of a variadic function.
    pub variable_arguments: Option<LocalId>,
    /// The address of the temporary object that is evaluated next is taken.
    pub keeps_temporary: bool,
    own_copies: Vec<OwnCopy>,
}

/// A copy of a record parameter. The caller's stays when the function returns; so one whose address is kept somewhere
/// is copied into a slot of the function.
struct OwnCopy {
    parameter: LocalId,
    /// The block before the copy, and that after it.
    before: BlockId,
    after: BlockId,
}

/// Lowers a function that the unit defines.
pub(super) fn lower_function(link: &mut Link<'_>, id: ir::FuncId, unit: usize, func: FuncId) -> Result<ir::Function> {
    let units = link.units;
    let function = &units[unit].unit.functions[func];
    let Some(body) = &function.definition else {
        return Err(Box::new(Diagnostic::error(function.span, format!("`{}` has no body", function.name))));
    };
    let signature = link.signature(id).clone();
    let span = link.span(unit, function.span);
    let mut b = FunctionBuilder::new(link, &function.name, &signature.params, signature.ret);
    b.set_function_span(span);
    b.set_place(unit, function.span);
    let types = &units[unit].unit.types;
    let ret = match types.get(function.ty) {
        Type::Function(ty) => ty.ret,
        _ => types.common.void.into(),
    };
    let variable_arguments = signature.variadic.then(|| LocalId::new(signature.params.len() - 1));
    let mut lowering = Lowering {
        b,
        unit_index: unit,
        unit: units[unit].unit,
        types,
        body,
        ret,
        is_main: function.name == "main" && !units[unit].is_model,
        is_atomic: hook::is_atomic_function(&function.name),
        homes: vec![None; body.vars.len()],
        labels: vec![None; body.labels.len()],
        scopes: Scopes::new(body),
        sequencing: if units[unit].is_model { Sequencing::default() } else { Sequencing::of(units[unit].unit, body) },
        variable_arguments,
        keeps_temporary: false,
        own_copies: Vec::new(),
    };
    lowering.whole_function(function, signature.returns_record)?;
    Ok(lowering.b.finish())
}

impl<'u> Lowering<'_, 'u> {
    fn whole_function(&mut self, function: &'u Function, returns_record: bool) -> Result<()> {
        self.parameters(function, usize::from(returns_record))?;
        if self.is_atomic {
            self.b.push(Op::AtomicBegin);
        }
        self.statement(self.body.body)?;
        self.at(self.body.end);
        self.fall_off_the_end();
        for OwnCopy { parameter, before, after } in std::mem::take(&mut self.own_copies) {
            if !self.b.is_kept(parameter) {
                self.b.redirect(before, after);
            }
        }
        Ok(())
    }

    /// Copies a record parameter to a slot, unless that turns out to be useless.
    fn copy_parameter(&mut self, var: VarId, parameter: LocalId) -> Result<()> {
        let declared = &self.body.vars[var];
        let Some(before) = self.b.current_block() else { return Ok(()) };
        self.at(declared.span);
        let (inside, after) = (self.b.new_block(), self.b.new_block());
        self.b.goto(inside);
        self.b.switch_to(inside);
        let slot = self.temporary_slot(declared.ty, declared.span)?;
        let plain = QualType { quals: Quals::default(), ..declared.ty };
        self.copy(plain, slot.clone(), How::PLAIN, Expr::Local(parameter), How::PLAIN)?;
        self.b.assign(parameter, slot);
        self.b.goto(after);
        self.b.switch_to(after);
        self.own_copies.push(OwnCopy { parameter, before, after });
        Ok(())
    }

    /// Parameters arrive in the first registers. One that needs memory, or whose declared type is narrower than what
    /// K&R callers pass, is moved where it belongs.
    fn parameters(&mut self, function: &'u Function, first: usize) -> Result<()> {
        let Type::Function(ty) = self.types.get(function.ty) else { return Ok(()) };
        for (index, (var, passed)) in self.body.params.iter().zip(&ty.params).enumerate() {
            let declared = &self.body.vars[*var];
            let register = first + index;
            let Some(scalar) = Scalar::of(self.types, declared.ty.ty) else {
                // The copy that the caller made is the variable.
                let id = self.b.name_parameter(register, &declared.name, false);
                self.homes[var.index()] = Some(Home::Dynamic(id));
                if self.is_record(declared.ty) {
                    self.copy_parameter(*var, id)?;
                }
                continue;
            };
            let passed = self.scalar_of(*passed, declared.span)?;
            if passed.ir() == scalar.ir() && !declared.in_memory {
                let id = self.b.name_parameter(register, &declared.name, scalar.is_signed());
                self.homes[var.index()] = Some(Home::Register(id));
                continue;
            }
            self.at(declared.span);
            let value = self.b.convert(self.b.param(register), passed, scalar);
            match self.home(*var)? {
                Home::Register(id) => self.b.assign(id, value),
                Home::Slot(slot) => self.b.store(Expr::Slot(slot), scalar.ir(), value),
                Home::Dynamic(_) => {}
            }
        }
        Ok(())
    }

    /// Control has reached the closing brace.
    fn fall_off_the_end(&mut self) {
        if !self.b.is_reachable() {
            return;
        }
        let value = match self.b.ret() {
            Some(ty) if self.is_main => Some(zero(ty)),
            Some(ty) => Some(self.b.undefined(ty)),
            None => None,
        };
        self.leave_function(value);
    }

    /// The end of every way out.
    pub fn leave_function(&mut self, value: Option<Expr>) {
        if self.is_atomic {
            self.b.push(Op::AtomicEnd);
        }
        self.b.terminate(TerminatorKind::Return(value));
    }

    // ---- where we are

    /// Instructions from here on belong to this piece of the source.
    pub fn at(&mut self, span: Span) {
        self.b.set_place(self.unit_index, span);
    }

    pub fn span_of(&self, id: ExprId) -> Span {
        self.unit.exprs[id].span
    }

    // ---- types

    pub fn type_of(&self, id: ExprId) -> QualType {
        self.unit.exprs[id].ty
    }

    /// The scalar behind a type that a value has; an error for what Leno cannot compute with.
    pub fn scalar_of(&self, ty: QualType, span: Span) -> Result<Scalar> {
        Scalar::of(self.types, ty.ty).ok_or_else(|| {
            let message = format!("values of type `{}` are not supported", self.types.show(ty));
            Box::new(Diagnostic::error(span, message).help("put the code behind `#ifndef` for the check"))
        })
    }

    pub fn scalar(&self, id: ExprId) -> Result<Scalar> {
        let expr = &self.unit.exprs[id];
        match Scalar::of(self.types, expr.ty.ty) {
            Some(scalar) => Ok(scalar),
            None => self.scalar_of(expr.ty, expr.span),
        }
    }

    pub fn is_record(&self, ty: QualType) -> bool {
        self.types.is_record(ty.ty)
    }

    pub fn is_void(&self, ty: QualType) -> bool {
        self.types.is_void(ty.ty)
    }

    /// The size of an object of this type, as a word: computed, if a variable-length array is in it.
    pub fn size_of(&mut self, ty: TypeId, span: Span) -> Result<Expr> {
        let bits = self.b.model().pointer_bits();
        if let Some(size) = self.types.size_of(ty) {
            return Ok(Expr::int(u128::from(size), bits));
        }
        let Type::Array(element, length) = self.types.get(ty) else {
            let message = format!("the size of `{}` is not known here", self.types.show(ty.into()));
            return Err(Box::new(Diagnostic::error(span, message)));
        };
        let element = self.size_of(element.ty, span)?;
        let count = match length {
            ArrayLen::Known(count) => Expr::int(u128::from(*count), bits),
            ArrayLen::Incomplete => Expr::int(0, bits),
            ArrayLen::Variable(var) => match self.home(*var)? {
                Home::Register(id) => Expr::Local(id),
                Home::Slot(slot) => self.b.load(Expr::Slot(slot), ir::Type::Int(bits)),
                Home::Dynamic(id) => self.b.load(Expr::Local(id), ir::Type::Int(bits)),
            },
        };
        Ok(self.b.binary(BinaryOp::Mul, count, element))
    }

    // ---- variables and labels

    pub fn home(&mut self, var: VarId) -> Result<Home> {
        if let Some(home) = self.homes[var.index()] {
            return Ok(home);
        }
        let body = self.body;
        let declared = &body.vars[var];
        let scalar = Scalar::of(self.types, declared.ty.ty);
        let home = match (scalar, self.types.size_of(declared.ty.ty)) {
            (Some(scalar), _) if !declared.in_memory => {
                Home::Register(self.b.new_variable(&declared.name, scalar.ir(), scalar.is_signed()))
            }
            (_, Some(size)) => Home::Slot(self.b.new_slot(&declared.name, size, declared.align)),
            (_, None) => Home::Dynamic(self.b.new_variable(&declared.name, ir::Type::Ptr, false)),
        };
        self.homes[var.index()] = Some(home);
        Ok(home)
    }

    pub fn label(&mut self, label: LabelId) -> BlockId {
        if let Some(block) = self.labels[label.index()] {
            return block;
        }
        let block = self.b.new_block();
        self.labels[label.index()] = Some(block);
        block
    }
}
