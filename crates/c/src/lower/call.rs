//! Calls.
//!
//! Arguments are evaluated left to right; records among them are copied into memory that the callee then owns. A direct
//! call obeys the callee's own signature, which is known after linking, even where the declaration that the caller saw
//! says something else or nothing: missing arguments are zero, superfluous ones are dropped, with a warning.

use super::body::Lowering;
use super::hook::{self, Argument, LibraryCall};
use super::link::Target;
use super::place::How;
use super::scalar::{Scalar, zero};
use super::varargs::Area;
use crate::diagnostic::{Diagnostic, Result};
use crate::typed::{self, ExprId, ExprKind};
use crate::types::QualType;
use leno_ir::program::{Callee, Expr, FuncId, Op, TerminatorKind, Type};

/// An argument, evaluated: a scalar, or the address of the callee's copy of a record.
pub(super) struct Passed {
    pub value: Expr,
    pub ty: QualType,
    pub scalar: Option<Scalar>,
}

impl Passed {
    fn kind(&self) -> Scalar {
        self.scalar.unwrap_or(Scalar::Pointer)
    }
}

impl Lowering<'_, '_> {
    /// The result, if it is a scalar; the address of the result, if it is a record.
    pub fn call(&mut self, id: ExprId) -> Result<Option<Expr>> {
        self.call_into(id, None)
    }

    /// A record result goes to `dest`, or else to fresh memory.
    pub fn call_into(&mut self, id: ExprId, dest: Option<Expr>) -> Result<Option<Expr>> {
        let unit = self.unit;
        let ExprKind::Call { callee, args, fixed, variadic } = &unit.exprs[id].kind else {
            return self.rvalue(id).map(Some);
        };
        let has_dest = dest.is_some();
        if let Some(dest) = dest {
            self.b.hold(dest);
        }
        if let typed::Callee::Indirect(pointer) = callee {
            let pointer = self.rvalue(*pointer)?;
            self.b.hold(pointer);
        }
        let mut passed = self.arguments(args)?;
        for arg in passed.iter_mut().rev() {
            arg.value = self.b.release();
        }
        let pointer = matches!(callee, typed::Callee::Indirect(_)).then(|| self.b.release());
        let dest = has_dest.then(|| self.b.release());
        self.at(unit.exprs[id].span);
        match (callee, pointer) {
            (typed::Callee::Direct(func), _) => self.direct_call(id, *func, passed, dest),
            (typed::Callee::Indirect(_), Some(pointer)) => {
                // A pointer to a known function is that function.
                if let Expr::Function(func) = pointer {
                    return self.known_call(id, func, passed, dest);
                }
                self.indirect_call(id, pointer, passed, *fixed as usize, *variadic, dest)
            }
            (typed::Callee::Indirect(_), None) => Ok(None),
        }
    }

    /// Evaluates the arguments and leaves them held, the last one on top.
    fn arguments(&mut self, args: &[ExprId]) -> Result<Vec<Passed>> {
        let mut passed = Vec::with_capacity(args.len());
        for arg in args {
            let ty = self.type_of(*arg);
            let (value, scalar) = if self.is_record(ty) {
                (self.callee_copy(*arg)?, None)
            } else if self.is_void(ty) {
                self.effect(*arg)?;
                (Expr::int(0, 32), Some(Scalar::INT))
            } else {
                (self.rvalue(*arg)?, Some(self.scalar(*arg)?))
            };
            self.b.hold(value);
            passed.push(Passed { value: Expr::NULL, ty, scalar });
        }
        Ok(passed)
    }

    /// A copy of a record, in memory of its own.
    fn callee_copy(&mut self, arg: ExprId) -> Result<Expr> {
        let ty = self.type_of(arg);
        let value = self.record(arg)?;
        if value.is_temporary {
            return Ok(value.address);
        }
        let span = self.span_of(arg);
        let slot = self.temporary_slot(ty, span)?;
        self.at(span);
        self.copy(ty, slot.clone(), How::PLAIN, value.address, value.how)?;
        Ok(slot)
    }

    fn direct_call(
        &mut self,
        id: ExprId,
        func: typed::FuncId,
        passed: Vec<Passed>,
        dest: Option<Expr>,
    ) -> Result<Option<Expr>> {
        let declared = &self.unit.functions[func];
        let result = match self.b.link.target(self.unit_index, func) {
            Target::Instruction(name) => match self.library_call(id, name, &passed)? {
                Some(result) => result,
                None => {
                    let target = self.b.link.function(self.unit_index, func);
                    self.known_call(id, target, passed, dest)?
                }
            },
            Target::Function(target) => {
                self.check_allowed(id, target)?;
                self.library_function_call(id, target, passed, dest)?
            }
        };
        if declared.is_noreturn && self.b.is_reachable() {
            self.b.terminate(TerminatorKind::Unreachable);
        }
        Ok(result)
    }

    /// A call that the library turns into instructions: its result, converted to what the declaration says.
    fn library_call(&mut self, id: ExprId, name: &str, passed: &[Passed]) -> Result<Option<Option<Expr>>> {
        self.check_thread_function(id, name, passed)?;
        let ret = Scalar::of(self.types, self.type_of(id).ty);
        let args: Vec<Argument> =
            passed.iter().map(|arg| Argument { value: arg.value.clone(), ty: arg.kind() }).collect();
        let Some(lowered) = hook::lower_call(&mut self.b, &LibraryCall { name, args: &args, ret }) else {
            return Ok(None);
        };
        let value = match (lowered.value, ret) {
            (Some((value, from)), Some(to)) => Some(self.b.convert(value, from, to)),
            (None, Some(to)) => Some(self.b.undefined(to.ir())),
            (_, None) => None,
        };
        Ok(Some(value))
    }

    /// A call of a function that may be one of the library's.
    fn library_function_call(
        &mut self,
        id: ExprId,
        target: FuncId,
        mut passed: Vec<Passed>,
        dest: Option<Expr>,
    ) -> Result<Option<Expr>> {
        let target = self.call_with_room(id, target, &mut passed);
        self.check_use_before(id, target, &passed);
        let size = passed.get(1).map(|size| size.value.clone());
        let result = self.known_call(id, target, passed, dest)?;
        self.check_use_after(id, target, size, result.as_ref());
        Ok(result)
    }

    /// A call of a function whose signature is known.
    fn known_call(
        &mut self,
        id: ExprId,
        target: FuncId,
        passed: Vec<Passed>,
        dest: Option<Expr>,
    ) -> Result<Option<Expr>> {
        self.settle_open_signature(target, &passed);
        let signature = self.b.link.signature(target).clone();
        let ty = self.type_of(id);
        let fixed = signature.fixed();
        if passed.len() < fixed || (passed.len() > fixed && !signature.variadic) {
            self.warn_about_count(id, target, fixed, passed.len());
        }
        let mut args = Vec::with_capacity(signature.params.len());
        let record = match (signature.returns_record, self.is_record(ty)) {
            (true, true) => Some(match dest {
                Some(dest) => dest,
                None => self.temporary_slot(ty, self.span_of(id))?,
            }),
            // The caller expects no record, but the callee will write one: somewhere it has to go.
            (true, false) => Some(Expr::Slot(self.b.new_slot("", 64, 16))),
            (false, _) => None,
        };
        args.extend(record.clone());
        let first = usize::from(signature.returns_record);
        for index in 0..fixed {
            let wanted = signature.params[first + index];
            args.push(match passed.get(index) {
                Some(arg) if self.b.type_of(&arg.value) == wanted => arg.value.clone(),
                Some(arg) => self.b.convert(arg.value.clone(), arg.kind(), Scalar::of_ir(wanted)),
                None => zero(wanted),
            });
        }
        if signature.variadic {
            args.push(self.variable_arguments(passed.get(fixed..).unwrap_or_default())?);
        }
        let result = self.b.call(target, args);
        self.call_result(id, ty, record, result, signature.returns_record)
    }

    /// What the caller makes of what the callee returned.
    fn call_result(
        &mut self,
        id: ExprId,
        ty: QualType,
        record: Option<Expr>,
        result: Option<Expr>,
        returns_record: bool,
    ) -> Result<Option<Expr>> {
        if self.is_void(ty) {
            return Ok(None);
        }
        let Some(scalar) = Scalar::of(self.types, ty.ty) else {
            if returns_record {
                return Ok(record);
            }
            // A record was declared, but the callee returns a scalar, or nothing.
            let slot = self.temporary_slot(ty, self.span_of(id))?;
            if let Some(value) = result {
                let value_ty = self.b.type_of(&value);
                let fits = self.types.size_of(ty.ty).unwrap_or(0) >= value_ty.bytes(self.b.model());
                if fits {
                    self.b.store(slot.clone(), value_ty, value);
                }
            }
            return Ok(Some(slot));
        };
        Ok(Some(match (result, record) {
            (Some(value), _) => self.b.reinterpret(value, scalar.ir()),
            (None, Some(record)) => self.b.load(record, scalar.ir()),
            (None, None) => self.b.undefined(scalar.ir()),
        }))
    }

    fn indirect_call(
        &mut self,
        id: ExprId,
        pointer: Expr,
        passed: Vec<Passed>,
        fixed: usize,
        variadic: bool,
        dest: Option<Expr>,
    ) -> Result<Option<Expr>> {
        let ty = self.type_of(id);
        let mut args = Vec::with_capacity(passed.len() + 2);
        let record = match dest {
            Some(dest) => Some(dest),
            None if self.is_record(ty) => Some(self.temporary_slot(ty, self.span_of(id))?),
            None => None,
        };
        args.extend(record.clone());
        let fixed = if variadic { fixed.min(passed.len()) } else { passed.len() };
        args.extend(passed[..fixed].iter().map(|arg| arg.value.clone()));
        if variadic {
            args.push(self.variable_arguments(&passed[fixed..])?);
        }
        let dst = Scalar::of(self.types, ty.ty).map(|scalar| self.b.new_temp(scalar.ir()));
        self.b.push(Op::Call { dst, callee: Callee::Indirect(pointer), args });
        Ok(dst.map(Expr::Local).or(record))
    }

    /// An external function that no prototype describes takes what its first call passes, unless the library knows
    /// better.
    fn settle_open_signature(&mut self, target: FuncId, passed: &[Passed]) {
        if !self.b.link.functions[target].is_open {
            return;
        }
        let fixed = hook::fixed_parameters(&self.b.link.functions[target].link_name);
        let given = passed.iter().map(|arg| self.b.type_of(&arg.value));
        let mut types: Vec<Type> = given.take(fixed.unwrap_or(usize::MAX)).collect();
        if let Some(fixed) = fixed {
            types.resize(fixed + 1, Type::Ptr);
        }
        let linked = &mut self.b.link.functions[target];
        linked.is_open = false;
        linked.signature.params.truncate(usize::from(linked.signature.returns_record));
        linked.signature.params.extend(types);
        linked.signature.variadic = fixed.is_some();
    }

    fn warn_about_count(&mut self, id: ExprId, target: FuncId, wanted: usize, given: usize) {
        let name = self.b.link.functions[target].link_name.clone();
        let what = if given < wanted { "missing arguments are taken as 0" } else { "the others are dropped" };
        let message = format!("`{name}` takes {wanted} arguments but is called with {given}: {what}");
        let diagnostic = Diagnostic::warning(self.span_of(id), message).help("declare it with a prototype");
        let unit = self.unit_index;
        self.b.link.warn(unit, diagnostic);
    }

    /// Lays variable arguments out in memory of this call: the address of the first.
    fn variable_arguments(&mut self, passed: &[Passed]) -> Result<Expr> {
        if passed.is_empty() {
            return Ok(Expr::NULL);
        }
        let mut area = Area::new(self.b.model());
        let mut offsets = Vec::with_capacity(passed.len());
        for arg in passed {
            let size = self.types.size_of(arg.ty.ty).unwrap_or(0);
            offsets.push(area.place(size, self.types.align_of(arg.ty.ty), arg.scalar.is_none()));
        }
        let slot = Expr::Slot(self.b.new_slot("arguments", area.size(), area.align()));
        for (arg, offset) in passed.iter().zip(offsets) {
            let target = self.b.offset(slot.clone(), offset);
            match arg.scalar {
                Some(scalar) => self.b.store(target, scalar.ir(), arg.value.clone()),
                None => self.copy(arg.ty, target, How::PLAIN, arg.value.clone(), How::PLAIN)?,
            }
        }
        Ok(slot)
    }
}
