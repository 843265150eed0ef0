//! Operations that are no functions: atomics, overflow checks, questions about floats.
//!
//! Atomic operations work on integers and pointers; other types go as integers of the same size. Records do so too, if
//! their size is one that a machine has an atomic access for.

use super::body::Lowering;
use super::place::How;
use super::record::RecordValue;
use super::scalar::Scalar;
use crate::diagnostic::Result;
use crate::typed::{Builtin, ExprId, OverflowOp};
use crate::types::QualType;
use leno_ir::program::{
    self as ir, Access, BinaryOp, CastOp, Expr, FloatKind, Op, Order, RmwOp, Storage, TerminatorKind, Type,
};

impl Lowering<'_, '_> {
    /// The value, if the builtin has one.
    pub fn builtin(&mut self, id: ExprId, builtin: Builtin, args: &[ExprId]) -> Result<Option<Expr>> {
        if self.is_record(self.type_of(id)) {
            return Ok(Some(self.record(id)?.address));
        }
        if builtin == Builtin::VaArg {
            return self.va_arg(id, args).map(Some);
        }
        if let Builtin::AtomicStore(order) = builtin
            && self.is_record(self.type_of(args[1]))
        {
            return self.atomic_store_of_record(id, order, args).map(|()| None);
        }
        let mut values = self.values(args)?.into_iter();
        let mut next = || values.next().unwrap_or(Expr::NULL);
        self.at(self.span_of(id));
        match builtin {
            Builtin::AtomicLoad(order) => {
                let scalar = self.scalar(id)?;
                let access = Access { ptr: next(), ty: scalar.ir(), order, volatile: false };
                Ok(Some(self.b.load_from(access)))
            }
            Builtin::AtomicStore(order) => {
                let (ptr, value) = (next(), next());
                let ty = self.scalar(args[1])?.ir();
                self.b.push(Op::Store { to: Access { ptr, ty, order, volatile: false }, value });
                Ok(None)
            }
            Builtin::AtomicRmw { op, order, new } => {
                let (ptr, value) = (next(), next());
                self.atomic_rmw(id, args, ptr, value, op, order, new).map(Some)
            }
            Builtin::AtomicCompareExchange { success, failure, weak } => {
                let (ptr, expected, desired) = (next(), next(), next());
                let ty = self.atomic_type(args[2])?;
                let desired = self.atomic_value(args[2], desired, ty);
                let ok = self.compare_exchange(ty, ptr, expected, desired, (success, failure, weak));
                self.truth_result(id, ok).map(Some)
            }
            Builtin::SyncCompareAndSwap { returns_old } => {
                let (ptr, expected, desired) = (next(), next(), next());
                self.sync_compare_and_swap(id, args, ptr, expected, desired, returns_old).map(Some)
            }
            Builtin::TestAndSet(order) => {
                let dst = self.b.new_temp(Type::I8);
                let at = Access { ptr: next(), ty: Type::I8, order, volatile: false };
                let value = Expr::int(1, 8);
                self.b.push(Op::ReadModifyWrite { dst: Some(dst), at, op: RmwOp::Exchange, value });
                let was_set = self.b.truth(Expr::Local(dst));
                self.truth_result(id, was_set).map(Some)
            }
            Builtin::Clear(order) => {
                let to = Access { ptr: next(), ty: Type::I8, order, volatile: false };
                self.b.push(Op::Store { to, value: Expr::int(0, 8) });
                Ok(None)
            }
            Builtin::Fence(order) => {
                self.b.push(Op::Fence { order });
                Ok(None)
            }
            Builtin::Unreachable => {
                self.b.terminate(TerminatorKind::Unreachable);
                Ok(None)
            }
            Builtin::Trap => {
                self.b.terminate(TerminatorKind::Abort);
                Ok(None)
            }
            Builtin::Alloca => {
                let dst = self.b.new_temp(Type::Ptr);
                let size = self.b.convert(next(), self.scalar(args[0])?, Scalar::size(self.b.model()));
                self.b.push(Op::Allocate { dst, size, align: 16, storage: Storage::Stack, zeroed: false });
                Ok(Some(Expr::Local(dst)))
            }
            Builtin::VaStart => self.va_start(id, next()).map(|()| None),
            Builtin::VaEnd => Ok(None),
            Builtin::VaCopy => {
                let (to, from) = (next(), next());
                self.va_copy(to, from);
                Ok(None)
            }
            Builtin::VaArg => Ok(None),
            Builtin::Overflow(op) => {
                let (a, b, result) = (next(), next(), next());
                self.overflow(id, op, args, a, b, result).map(Some)
            }
            Builtin::IsNan | Builtin::IsInf | Builtin::IsFinite | Builtin::SignBit => {
                let value = self.b.reusable(next());
                let truth = self.float_question(builtin, value);
                self.truth_result(id, truth).map(Some)
            }
            Builtin::IsUnordered => {
                let (a, b) = (self.b.reusable(next()), self.b.reusable(next()));
                let (a, b) = (self.is_nan(a), self.is_nan(b));
                let truth = self.b.binary(BinaryOp::Or, a, b);
                self.truth_result(id, truth).map(Some)
            }
            Builtin::Sqrt => Ok(Some(self.b.unary(ir::UnaryOp::FSqrt, next()))),
            Builtin::FAbs => Ok(Some(self.b.unary(ir::UnaryOp::FAbs, next()))),
        }
    }

    /// All arguments, left to right.
    fn values(&mut self, args: &[ExprId]) -> Result<Vec<Expr>> {
        for arg in args {
            let value =
                if self.is_record(self.type_of(*arg)) { self.record(*arg)?.address } else { self.rvalue(*arg)? };
            self.b.hold(value);
        }
        let mut values: Vec<Expr> = args.iter().map(|_| self.b.release()).collect();
        values.reverse();
        Ok(values)
    }

    /// An `i1` as the type that the builtin has.
    fn truth_result(&mut self, id: ExprId, truth: Expr) -> Result<Expr> {
        let to = Scalar::of(self.types, self.type_of(id).ty).unwrap_or(Scalar::INT);
        Ok(self.b.convert(truth, Scalar::unsigned(1), to))
    }

    // ---- atomics on scalars

    /// The type in which an atomic operation on a value works.
    fn atomic_type(&mut self, value: ExprId) -> Result<Type> {
        let ty = self.type_of(value);
        if self.is_record(ty) {
            return self.atomic_record_type(value, ty);
        }
        match self.scalar(value)? {
            Scalar::Float(FloatKind::F80) => self.refuse(value, "atomic operations on `long double` are not supported"),
            Scalar::Pointer => Ok(Type::Ptr),
            scalar => Ok(self.integer_of(scalar)),
        }
    }

    /// A scalar (or the address of a record) as a value of an atomic operation's type.
    fn atomic_value(&mut self, id: ExprId, value: Expr, ty: Type) -> Expr {
        if self.is_record(self.type_of(id)) { self.b.load(value, ty) } else { self.b.reinterpret(value, ty) }
    }

    #[allow(clippy::too_many_arguments)]
    fn atomic_rmw(
        &mut self,
        id: ExprId,
        args: &[ExprId],
        ptr: Expr,
        value: Expr,
        op: RmwOp,
        order: Order,
        new: bool,
    ) -> Result<Expr> {
        let scalar = self.scalar(id)?;
        let ty = self.atomic_type(args[1])?;
        let target = match (self.types.pointee(self.type_of(args[0]).ty), op) {
            (Some(target), _) => Scalar::of(self.types, target.ty).unwrap_or(scalar),
            (None, _) => scalar,
        };
        let ty = match (op, target) {
            (RmwOp::Exchange, Scalar::Pointer) => Type::Ptr,
            (_, Scalar::Pointer) => self.b.word(),
            (_, Scalar::Float(_)) => ty,
            (_, target) => target.ir(),
        };
        let from = self.scalar(args[1])?;
        let value = match (from, ty) {
            (Scalar::Float(_), _) => self.b.reinterpret(value, ty),
            (from, Type::Ptr) => self.b.convert(value, from, Scalar::Pointer),
            (from, ty) => self.b.convert(value, from, Scalar::of_ir(ty)),
        };
        let value = if new { self.b.reusable(value) } else { value };
        let dst = self.b.new_temp(ty);
        let at = Access { ptr, ty, order, volatile: false };
        self.b.push(Op::ReadModifyWrite { dst: Some(dst), at, op, value: value.clone() });
        let result = if new { self.modified(op, Expr::Local(dst), value) } else { Expr::Local(dst) };
        Ok(self.b.reinterpret(result, scalar.ir()))
    }

    /// `expected` is where the expected value is, and where the old one goes on failure. The result is an `i1`.
    fn compare_exchange(
        &mut self,
        ty: Type,
        ptr: Expr,
        expected: Expr,
        desired: Expr,
        (success, failure, weak): (Order, Order, bool),
    ) -> Expr {
        let expected = self.b.reusable(expected);
        let wanted = self.b.load(expected.clone(), ty);
        let (ok, old) = (self.b.new_temp(Type::BOOL), self.b.new_temp(ty));
        let at = Access { ptr, ty, order: success, volatile: false };
        self.b.push(Op::CompareExchange { ok, old, at, expected: wanted, desired, failure, weak });
        let (failed, join) = (self.b.new_block(), self.b.new_block());
        self.b.branch(Expr::Local(ok), join, failed);
        self.b.switch_to(failed);
        self.b.store(expected, ty, Expr::Local(old));
        self.b.goto(join);
        self.b.switch_to(join);
        Expr::Local(ok)
    }

    fn sync_compare_and_swap(
        &mut self,
        id: ExprId,
        args: &[ExprId],
        ptr: Expr,
        expected: Expr,
        desired: Expr,
        returns_old: bool,
    ) -> Result<Expr> {
        let ty = self.atomic_type(args[1])?;
        let expected = self.atomic_value(args[1], expected, ty);
        let desired = self.atomic_value(args[2], desired, ty);
        let (ok, old) = (self.b.new_temp(Type::BOOL), self.b.new_temp(ty));
        let at = Access { ptr, ty, order: Order::SeqCst, volatile: false };
        self.b.push(Op::CompareExchange { ok, old, at, expected, desired, failure: Order::SeqCst, weak: false });
        if !returns_old {
            return self.truth_result(id, Expr::Local(ok));
        }
        let scalar = self.scalar(id)?;
        Ok(self.b.reinterpret(Expr::Local(old), scalar.ir()))
    }

    // ---- atomics on records

    /// The integer as which an atomic record is accessed.
    fn atomic_record_type(&self, id: ExprId, ty: QualType) -> Result<Type> {
        match self.types.size_of(ty.ty) {
            Some(size @ (1 | 2 | 4 | 8 | 16)) => Ok(Type::Int(size as u16 * 8)),
            size => {
                let size = size.unwrap_or(0);
                let message = format!("atomic access to `{}` ({size} bytes) is not supported", self.types.show(ty));
                let diagnostic = crate::diagnostic::Diagnostic::error(self.span_of(id), message);
                Err(Box::new(
                    diagnostic.help("no machine does this in one step; use a lock, or 1, 2, 4, 8 or 16 bytes"),
                ))
            }
        }
    }

    pub fn atomic_record_load(&mut self, id: ExprId, address: Expr, how: How) -> Result<RecordValue> {
        let ty = self.type_of(id);
        let int = self.atomic_record_type(id, ty)?;
        self.at(self.span_of(id));
        let value = self.b.load_from(how.access(address, int));
        let slot = self.temporary_slot(ty, self.span_of(id))?;
        self.b.store(slot.clone(), int, value);
        Ok(RecordValue { address: slot, is_temporary: true, how: How::PLAIN })
    }

    pub fn atomic_record_store(&mut self, id: ExprId, ty: QualType, to: Expr, how: How, from: Expr) -> Result<()> {
        let int = self.atomic_record_type(id, ty)?;
        let value = self.b.load(from, int);
        self.b.push(Op::Store { to: how.access(to, int), value });
        Ok(())
    }

    fn atomic_store_of_record(&mut self, id: ExprId, order: Order, args: &[ExprId]) -> Result<()> {
        let ty = self.type_of(args[1]);
        let values = self.values(args)?;
        self.at(self.span_of(id));
        let how = How { order, ..How::PLAIN };
        self.atomic_record_store(id, ty, values[0].clone(), how, values[1].clone())
    }

    /// A builtin whose result is a record: an atomic load or exchange.
    pub fn atomic_record(&mut self, id: ExprId, builtin: Builtin, args: &[ExprId], dest: Expr) -> Result<()> {
        let int = self.atomic_record_type(id, self.type_of(id))?;
        self.b.hold(dest);
        let values = self.values(args)?;
        let dest = self.b.release();
        self.at(self.span_of(id));
        let ptr = values.first().cloned().unwrap_or(Expr::NULL);
        let value = match builtin {
            Builtin::AtomicLoad(order) => self.b.load_from(Access { ptr, ty: int, order, volatile: false }),
            Builtin::AtomicRmw { op: RmwOp::Exchange, order, .. } => {
                let value = self.b.load(values[1].clone(), int);
                let dst = self.b.new_temp(int);
                let at = Access { ptr, ty: int, order, volatile: false };
                self.b.push(Op::ReadModifyWrite { dst: Some(dst), at, op: RmwOp::Exchange, value });
                Expr::Local(dst)
            }
            _ => return self.refuse(id, "this operation on a structure is not supported"),
        };
        self.b.store(dest, int, value);
        Ok(())
    }

    // ---- overflow

    /// Computes as if in infinite precision, stores what fits, and says whether it did not fit.
    fn overflow(
        &mut self,
        id: ExprId,
        op: OverflowOp,
        args: &[ExprId],
        a: Expr,
        b: Expr,
        result: Expr,
    ) -> Result<Expr> {
        let (from_a, from_b) = (self.scalar(args[0])?, self.scalar(args[1])?);
        let target = self.types.pointee(self.type_of(args[2]).ty).and_then(|t| Scalar::of(self.types, t.ty));
        let Some(to) = target else { return self.refuse(id, "the result of an overflow check has no integer type") };
        let (a, b) = (self.b.reusable(a), self.b.reusable(b));
        let (bits, signed) = match (to, includes(to, from_a) && includes(to, from_b)) {
            (Scalar::Int { bits, signed }, true) => (bits, signed),
            _ => return self.overflow_in_wide(id, op, (a, from_a), (b, from_b), result, to),
        };
        let (a, b) = (self.b.convert(a, from_a, to), self.b.convert(b, from_b, to));
        let (compute, predicate) = match (op, signed) {
            (OverflowOp::Add, true) => (BinaryOp::Add, BinaryOp::SAddOverflow),
            (OverflowOp::Add, false) => (BinaryOp::Add, BinaryOp::UAddOverflow),
            (OverflowOp::Sub, true) => (BinaryOp::Sub, BinaryOp::SSubOverflow),
            (OverflowOp::Sub, false) => (BinaryOp::Sub, BinaryOp::USubOverflow),
            (OverflowOp::Mul, true) => (BinaryOp::Mul, BinaryOp::SMulOverflow),
            (OverflowOp::Mul, false) => (BinaryOp::Mul, BinaryOp::UMulOverflow),
        };
        let value = self.b.binary(compute, a.clone(), b.clone());
        let overflows = self.b.binary(predicate, a, b);
        self.b.store(result, Type::Int(bits), value);
        self.truth_result(id, overflows)
    }

    /// Operands and result of different types: computed in 128 bits, where everything of 64 bits fits.
    fn overflow_in_wide(
        &mut self,
        id: ExprId,
        op: OverflowOp,
        (a, from_a): (Expr, Scalar),
        (b, from_b): (Expr, Scalar),
        result: Expr,
        to: Scalar,
    ) -> Result<Expr> {
        let width = |scalar: Scalar| scalar.ir().bits(self.b.model());
        if width(from_a).max(width(from_b)).max(width(to)) > 64 {
            return self.refuse(id, "an overflow check on 128 bits with operands of different types is not supported");
        }
        let wide = Type::Int(128);
        let signed = from_a.is_signed() || from_b.is_signed() || op == OverflowOp::Sub;
        let a = self.b.resize(a, wide, from_a.is_signed());
        let b = self.b.resize(b, wide, from_b.is_signed());
        let op = match op {
            OverflowOp::Add => BinaryOp::Add,
            OverflowOp::Sub => BinaryOp::Sub,
            OverflowOp::Mul => BinaryOp::Mul,
        };
        let exact = self.b.binary(op, a, b);
        let exact = self.b.materialize(exact);
        let kept = self.b.resize(exact.clone(), to.ir(), false);
        let back = self.b.resize(kept.clone(), wide, to.is_signed());
        let mut fits = self.b.binary(BinaryOp::Eq, back.clone(), exact);
        if !signed && to.is_signed() {
            // The exact product of two unsigned numbers has no sign bit to confuse with that of the result.
            let not_negative = self.b.binary(BinaryOp::SLe, Expr::int(0, 128), back);
            fits = self.b.binary(BinaryOp::And, fits, not_negative);
        }
        let (kept, overflows) = (self.b.convert(kept, Scalar::of_ir(to.ir()), to), self.b.not(fits));
        self.b.store(result, to.ir(), kept);
        self.truth_result(id, overflows)
    }

    // ---- floats

    fn is_nan(&mut self, value: Expr) -> Expr {
        self.b.binary(BinaryOp::FNe, value.clone(), value)
    }

    fn float_question(&mut self, builtin: Builtin, value: Expr) -> Expr {
        let ty = self.b.type_of(&value);
        let Type::Float(kind) = ty else { return Expr::bool(false) };
        let infinity = Expr::Const { ty, bits: infinity(kind) };
        match builtin {
            Builtin::IsNan => self.is_nan(value),
            Builtin::IsInf => {
                let magnitude = self.b.unary(ir::UnaryOp::FAbs, value);
                self.b.binary(BinaryOp::FEq, magnitude, infinity)
            }
            Builtin::IsFinite => {
                let magnitude = self.b.unary(ir::UnaryOp::FAbs, value);
                self.b.binary(BinaryOp::FLt, magnitude, infinity)
            }
            _ => {
                let width = kind.bits();
                let bits = self.b.cast(CastOp::Bitcast, Type::Int(width), value);
                self.b.binary(BinaryOp::SLt, bits, Expr::int(0, width))
            }
        }
    }
}

/// Whether every value of `narrow` is one of `wide`.
fn includes(wide: Scalar, narrow: Scalar) -> bool {
    let range = |scalar: Scalar| match scalar {
        Scalar::Bool => Some((1, false)),
        Scalar::Int { bits, signed } => Some((bits, signed)),
        _ => None,
    };
    match (range(wide), range(narrow)) {
        (Some((w, ws)), Some((n, ns))) if ws == ns => w >= n,
        (Some((w, true)), Some((n, false))) => w > n,
        _ => false,
    }
}

fn infinity(kind: FloatKind) -> u128 {
    match kind {
        FloatKind::F32 => u128::from(f32::INFINITY.to_bits()),
        FloatKind::F64 => u128::from(f64::INFINITY.to_bits()),
        FloatKind::F80 => 0x7fff << 64 | 1 << 63,
    }
}
