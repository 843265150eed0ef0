//! Arithmetic, comparisons, and updates in place.
//!
//! C's operators choose their operation by type: signed or unsigned, integer, pointer or float. A divisor is asserted
//! to be nonzero before dividing; when asked for, so is the absence of signed overflow before each operation that could
//! have it, and that each shift is one that C defines.

use super::body::Lowering;
use super::index::{Moved, Reach};
use super::place::{How, Place};
use super::scalar::Scalar;
use crate::diagnostic::Result;
use crate::typed::{BinaryOp, ExprId, ExprKind, UnaryOp, UpdateOp, UpdateResult};
use leno_ir::program::{self as ir, CastOp, Expr, FloatKind, Op, Order, Property, RmwOp, Type};

impl Lowering<'_, '_> {
    pub fn unary(&mut self, id: ExprId, op: UnaryOp, operand: ExprId) -> Result<Expr> {
        let scalar = self.scalar(id)?;
        let value = self.rvalue(operand)?;
        Ok(match (op, scalar) {
            (UnaryOp::BitNot, _) => self.b.unary(ir::UnaryOp::Not, value),
            (UnaryOp::Neg, Scalar::Float(_)) => self.b.unary(ir::UnaryOp::FNeg, value),
            (UnaryOp::Neg, _) => {
                let zero = scalar.zero();
                self.at(self.span_of(id));
                let value = if self.wants_overflow_check(scalar) { self.b.reusable(value) } else { value };
                self.check_overflow(BinaryOp::Sub, scalar, &zero, &value);
                self.b.unary(ir::UnaryOp::Neg, value)
            }
        })
    }

    pub fn binary(&mut self, id: ExprId, op: BinaryOp, a: ExprId, b: ExprId) -> Result<Expr> {
        let scalar = self.scalar(a)?;
        let (left, right) = self.operands(a, b)?;
        self.at(self.span_of(id));
        if let Some(truth) = self.comparison(op, scalar, &left, &right) {
            return Ok(self.as_int(truth));
        }
        let right = match is_shift(op) {
            true => (right, self.scalar(b)?),
            false => (right, scalar),
        };
        Ok(self.arithmetic(op, scalar, left, right))
    }

    fn comparison(&mut self, op: BinaryOp, scalar: Scalar, left: &Expr, right: &Expr) -> Option<Expr> {
        use ir::BinaryOp as Ir;
        let float = scalar.is_float();
        let signed = scalar.is_signed();
        let (lt, le) = match (float, signed) {
            (true, _) => (Ir::FLt, Ir::FLe),
            (_, true) => (Ir::SLt, Ir::SLe),
            _ => (Ir::ULt, Ir::ULe),
        };
        let (op, swapped) = match op {
            BinaryOp::Lt => (lt, false),
            BinaryOp::Le => (le, false),
            BinaryOp::Gt => (lt, true),
            BinaryOp::Ge => (le, true),
            BinaryOp::Eq => (if float { Ir::FEq } else { Ir::Eq }, false),
            BinaryOp::Ne => (if float { Ir::FNe } else { Ir::Ne }, false),
            _ => return None,
        };
        let (left, right) = (left.clone(), right.clone());
        Some(if swapped { self.b.binary(op, right, left) } else { self.b.binary(op, left, right) })
    }

    /// An arithmetic operation on two values of one type, with the assertions that belong to it. The amount of a shift
    /// comes in its own type.
    fn arithmetic(&mut self, op: BinaryOp, scalar: Scalar, left: Expr, right: (Expr, Scalar)) -> Expr {
        use ir::BinaryOp as Ir;
        let (left, right) = match is_shift(op) {
            true => self.shift_operands(op, scalar, left, right),
            false => (left, right.0),
        };
        if scalar.is_float() {
            let op = match op {
                BinaryOp::Add => Ir::FAdd,
                BinaryOp::Sub => Ir::FSub,
                BinaryOp::Mul => Ir::FMul,
                _ => Ir::FDiv,
            };
            return self.b.binary(op, left, right);
        }
        let signed = scalar.is_signed();
        let (mut left, mut right) = (left, right);
        if matches!(op, BinaryOp::Div | BinaryOp::Rem) {
            right = self.check_divisor(right);
            if signed && !self.wants_overflow_check(scalar) {
                left = self.b.reusable(left);
                self.check_quotient(scalar, &left, &right, Property::QuotientOverflow);
            }
        }
        if self.wants_overflow_check(scalar) && !is_shift(op) {
            left = self.b.reusable(left);
            right = self.b.reusable(right);
            self.check_overflow(op, scalar, &left, &right);
        }
        let op = match op {
            BinaryOp::Add => Ir::Add,
            BinaryOp::Sub => Ir::Sub,
            BinaryOp::Mul => Ir::Mul,
            BinaryOp::Div if signed => Ir::SDiv,
            BinaryOp::Div => Ir::UDiv,
            BinaryOp::Rem if signed => Ir::SRem,
            BinaryOp::Rem => Ir::URem,
            BinaryOp::Shl => Ir::Shl,
            BinaryOp::Shr if signed => Ir::AShr,
            BinaryOp::Shr => Ir::LShr,
            BinaryOp::And => Ir::And,
            BinaryOp::Or => Ir::Or,
            _ => Ir::Xor,
        };
        self.b.binary(op, left, right)
    }

    // ---- what may go wrong

    fn check_divisor(&mut self, divisor: Expr) -> Expr {
        if matches!(divisor, Expr::Const { bits, .. } if bits != 0) {
            return divisor;
        }
        let divisor = self.b.reusable(divisor);
        let nonzero = self.b.truth(divisor.clone());
        self.b.assert(nonzero, Property::DivisionByZero, "division by zero");
        divisor
    }

    fn wants_overflow_check(&self, scalar: Scalar) -> bool {
        self.b.link.options.check_signed_overflow && scalar.is_signed()
    }

    fn check_overflow(&mut self, op: BinaryOp, scalar: Scalar, left: &Expr, right: &Expr) {
        let Scalar::Int { bits, .. } = scalar else { return };
        if !self.wants_overflow_check(scalar) {
            return;
        }
        // Operands that were just widened cannot overflow the wider type.
        let (a, b) = (self.needed_bits(left), self.needed_bits(right));
        let (predicate, safe) = match op {
            BinaryOp::Add => (ir::BinaryOp::SAddOverflow, a.max(b) < bits),
            BinaryOp::Sub => (ir::BinaryOp::SSubOverflow, a.max(b) < bits),
            BinaryOp::Mul => (ir::BinaryOp::SMulOverflow, a + b <= bits),
            BinaryOp::Div | BinaryOp::Rem => {
                return self.check_quotient(scalar, left, right, Property::SignedOverflow);
            }
            _ => return,
        };
        if !safe {
            let overflows = self.b.binary(predicate, left.clone(), right.clone());
            let fine = self.b.not(overflows);
            self.b.assert(fine, Property::SignedOverflow, "signed overflow");
        }
    }

    /// The only quotient that does not fit: the minimum by -1. The processor traps on it, as on a division by zero.
    fn check_quotient(&mut self, scalar: Scalar, left: &Expr, right: &Expr, property: Property) {
        let Scalar::Int { bits, .. } = scalar else { return };
        if self.needed_bits(left) < bits {
            return;
        }
        let other_dividend = self.b.binary(ir::BinaryOp::Ne, left.clone(), Expr::int(1 << (bits - 1), bits));
        let other_divisor = self.b.binary(ir::BinaryOp::Ne, right.clone(), Expr::int(u128::MAX, bits));
        if [&other_dividend, &other_divisor].contains(&&Expr::bool(true)) {
            return;
        }
        let message = match property {
            Property::SignedOverflow => "signed overflow",
            _ => "the least number divided by -1",
        };
        let fine = self.b.select(other_dividend, Expr::bool(true), other_divisor);
        self.b.assert(fine, property, message);
    }

    /// Both operands of a shift in the type of the left one, with the assertions that belong to it (C11 6.5.7): the
    /// amount is neither negative nor as large as the width; and what a signed number loses by a shift to the left are
    /// zeros, its sign included.
    fn shift_operands(
        &mut self,
        op: BinaryOp,
        scalar: Scalar,
        left: Expr,
        (amount, of_amount): (Expr, Scalar),
    ) -> (Expr, Expr) {
        let (Scalar::Int { bits, signed }, true) = (scalar, self.b.link.options.check_signed_overflow) else {
            return (left, self.b.convert(amount, of_amount, scalar));
        };
        let (left, amount) = (self.b.reusable(left), self.b.reusable(amount));
        let width = self.b.type_of(&amount).bits(self.b.model());
        let fits = self.b.binary(ir::BinaryOp::ULt, amount.clone(), Expr::int(u128::from(bits), width));
        if fits != Expr::bool(true) {
            self.b.assert(fits, Property::SignedOverflow, "shift by a negative or too large amount");
        }
        let amount = self.b.convert(amount, of_amount, scalar);
        if signed && op == BinaryOp::Shl {
            let amount = self.b.reusable(amount.clone());
            let most = self.b.binary(ir::BinaryOp::LShr, Expr::int((1 << (bits - 1)) - 1, bits), amount);
            let keeps = self.b.binary(ir::BinaryOp::ULe, left.clone(), most);
            if keeps != Expr::bool(true) {
                self.b.assert(keeps, Property::SignedOverflow, "signed left shift that does not fit");
            }
        }
        (left, amount)
    }

    /// How many bits a value needs as a signed number, as far as one sees at a glance.
    pub fn needed_bits(&self, value: &Expr) -> u16 {
        let model = self.b.model();
        match value {
            Expr::Const { ty: Type::Int(width), bits } => {
                let signed = super::fold::sign_extend(*bits, *width);
                let magnitude = if signed < 0 { !signed } else { signed };
                (129 - magnitude.leading_zeros()) as u16
            }
            Expr::Cast(CastOp::SignExtend, _, inner) => self.b.type_of(inner).bits(model),
            Expr::Cast(CastOp::ZeroExtend, _, inner) => self.b.type_of(inner).bits(model) + 1,
            Expr::Binary(ir::BinaryOp::Mul, operands) => operands
                .iter()
                .map(|operand| self.needed_bits(operand))
                .sum::<u16>()
                .min(self.b.type_of(value).bits(model)),
            value => self.b.type_of(value).bits(model),
        }
    }

    // ---- pointers

    pub fn pointer_add(&mut self, a: ExprId, b: ExprId, reach: Reach) -> Result<Expr> {
        let from = self.scalar(b)?;
        let (pointer, bytes) = self.operands(a, b)?;
        let bytes = self.b.resize(bytes, self.b.word(), from.is_signed());
        let bytes = self.check_index(a, &pointer, bytes, reach);
        Ok(self.b.binary(ir::BinaryOp::PtrAdd, pointer, bytes))
    }

    fn plus_bytes(&mut self, pointer: Expr, bytes: Expr, from: Scalar) -> Expr {
        let bytes = self.b.resize(bytes, self.b.word(), from.is_signed());
        let bytes = self.check_move(&pointer, bytes);
        self.b.binary(ir::BinaryOp::PtrAdd, pointer, bytes)
    }

    /// `(uintptr_t)p + n`, to become a pointer again.
    pub fn moved_address(&mut self, id: ExprId, moved: Moved) -> Result<Expr> {
        let ExprKind::Binary(op, a, b) = self.unit.exprs[id].kind else { return self.rvalue(id) };
        let scalar = self.scalar(id)?;
        self.begin_operator(id);
        let (mut left, mut right) = self.operands(a, b)?;
        self.at(self.span_of(id));
        match moved {
            Moved::Left => left = self.check_move(&right, left),
            Moved::Right if op == BinaryOp::Sub => {
                right = self.b.reusable(right);
                let back = self.b.unary(ir::UnaryOp::Neg, right.clone());
                self.check_move(&left, back);
            }
            Moved::Right => right = self.check_move(&left, right),
        }
        Ok(self.arithmetic(op, scalar, left, (right, scalar)))
    }

    pub fn pointer_diff(&mut self, id: ExprId, a: ExprId, b: ExprId) -> Result<Expr> {
        let to = self.scalar(id)?;
        let (left, right) = self.operands(a, b)?;
        let bytes = self.b.binary(ir::BinaryOp::PtrDiff, left, right);
        Ok(self.b.resize(bytes, to.ir(), true))
    }

    // ---- `op=`, `++`, `--`

    /// The place's address, then the operand, then the place is read, and written.
    pub fn update(&mut self, id: ExprId, wanted: bool) -> Result<Expr> {
        let unit = self.unit;
        let ExprKind::Update { place: place_id, op, operand, compute, result } = &unit.exprs[id].kind else {
            return self.rvalue(id);
        };
        let scalar = self.scalar(*place_id)?;
        let update = Update {
            op: *op,
            compute: match op {
                UpdateOp::PointerAdd => Scalar::Pointer,
                UpdateOp::Arithmetic(_) => self.scalar_of((*compute).into(), unit.exprs[id].span)?,
            },
            operand_type: self.scalar(*operand)?,
            scalar,
        };
        let mut place = self.place(*place_id)?;
        self.hold_place(&place);
        let operand = self.rvalue(*operand)?;
        self.release_place(&mut place);
        let place = self.reusable_place(place);
        self.sequenced(id, &place);
        if let Place::Memory { ptr, how } = &place
            && how.is_atomic()
        {
            if scalar == Scalar::Float(FloatKind::F80) {
                return self.refuse(id, "atomic updates of `long double` are not supported");
            }
            let operand = self.b.reusable(operand);
            self.at(unit.exprs[id].span);
            return Ok(self.atomic_update(ptr.clone(), *how, &update, operand, *result, wanted));
        }
        self.at(unit.exprs[*place_id].span);
        let (old, bits_unit) = self.read_for_update(&place, scalar);
        self.at(unit.exprs[id].span);
        let old = if wanted && *result == UpdateResult::Old { self.b.materialize(old) } else { old };
        let new = self.updated(&update, old.clone(), operand);
        let new = self.b.bounded(new);
        let keeps_new = wanted && *result == UpdateResult::New && !matches!(place, Place::Register(_));
        let new = if keeps_new { self.b.reusable(new) } else { new };
        self.write_back(&place, scalar, bits_unit, new.clone());
        Ok(match (result, &place) {
            (UpdateResult::Old, _) => old,
            (UpdateResult::New, Place::Register(local)) => Expr::Local(*local),
            (UpdateResult::New, _) => self.as_stored(&place, scalar, new),
        })
    }

    /// The new value, of the place's type.
    fn updated(&mut self, update: &Update, old: Expr, operand: Expr) -> Expr {
        let old = self.b.convert(old, update.scalar, update.compute);
        let new = match update.op {
            UpdateOp::PointerAdd => self.plus_bytes(old, operand, update.operand_type),
            UpdateOp::Arithmetic(op) if is_shift(op) => {
                self.arithmetic(op, update.compute, old, (operand, update.operand_type))
            }
            UpdateOp::Arithmetic(op) => {
                let operand = self.b.convert(operand, update.operand_type, update.compute);
                match self.comparison(op, update.compute, &old, &operand) {
                    Some(truth) => self.as_int(truth),
                    None => self.arithmetic(op, update.compute, old, (operand, update.compute)),
                }
            }
        };
        self.b.convert(new, update.compute, update.scalar)
    }

    fn atomic_update(
        &mut self,
        ptr: Expr,
        how: How,
        update: &Update,
        operand: Expr,
        result: UpdateResult,
        wanted: bool,
    ) -> Expr {
        match read_modify_write(update) {
            Some(op) => {
                let ty = self.integer_of(update.scalar);
                let signed = update.operand_type.is_signed();
                let given = operand.clone();
                let operand = self.b.resize(operand, ty, signed);
                let keeps = (wanted || self.wants_overflow_check(update.compute)).then(|| self.b.new_temp(ty));
                let at = how.access(ptr, ty);
                self.b.push(Op::ReadModifyWrite { dst: keeps, at, op, value: operand.clone() });
                if let (UpdateOp::Arithmetic(checked), Some(old)) = (update.op, keeps) {
                    // (In one step it can only be seen afterwards.)
                    let old = self.b.convert(Expr::Local(old), update.scalar, update.compute);
                    let given = self.b.convert(given, update.operand_type, update.compute);
                    self.check_overflow(checked, update.compute, &old, &given);
                }
                let Some(old) = keeps.map(Expr::Local) else { return operand };
                let value = if result == UpdateResult::Old { old } else { self.modified(op, old, operand) };
                self.b.reinterpret(value, update.scalar.ir())
            }
            None => self.compare_exchange_loop(ptr, how, update, operand, result),
        }
    }

    /// `do new = f(old); while (!compare_exchange(place, old, new))`
    fn compare_exchange_loop(
        &mut self,
        ptr: Expr,
        how: How,
        update: &Update,
        operand: Expr,
        result: UpdateResult,
    ) -> Expr {
        let ty = self.integer_of(update.scalar);
        let (ok, found) = (self.b.new_temp(Type::BOOL), self.b.new_temp(ty));
        let old = self.b.new_variable("", ty, false);
        let first = self.b.load_from(how.access(ptr.clone(), ty));
        self.b.assign_result(old, first);
        let (retry, again, done) = (self.b.new_block(), self.b.new_block(), self.b.new_block());
        self.b.goto(retry);
        self.b.switch_to(retry);
        let old_value = self.b.reinterpret(Expr::Local(old), update.scalar.ir());
        let new = self.updated(update, old_value.clone(), operand);
        let new = self.b.materialize(new);
        let desired = self.b.reinterpret(new.clone(), ty);
        self.b.push(Op::CompareExchange {
            ok,
            old: found,
            at: how.access(ptr, ty),
            expected: Expr::Local(old),
            desired,
            failure: Order::SeqCst,
            weak: false,
        });
        self.b.branch(Expr::Local(ok), done, again);
        self.b.switch_to(again);
        self.b.assign(old, Expr::Local(found));
        self.b.goto(retry);
        self.b.switch_to(done);
        if result == UpdateResult::Old { self.b.materialize(old_value) } else { new }
    }

    /// The integer type that atomic operations on a scalar work on.
    pub fn integer_of(&self, scalar: Scalar) -> Type {
        match scalar {
            Scalar::Pointer => self.b.word(),
            Scalar::Float(kind) => Type::Int(kind.bits()),
            scalar => scalar.ir(),
        }
    }

    /// What a read-modify-write leaves in memory.
    pub fn modified(&mut self, op: RmwOp, old: Expr, value: Expr) -> Expr {
        use ir::BinaryOp as Ir;
        let op = match op {
            RmwOp::Exchange => return value,
            RmwOp::Nand => {
                let both = self.b.binary(Ir::And, old, value);
                return self.b.unary(ir::UnaryOp::Not, both);
            }
            RmwOp::Add => Ir::Add,
            RmwOp::Sub => Ir::Sub,
            RmwOp::And => Ir::And,
            RmwOp::Or => Ir::Or,
            RmwOp::Xor => Ir::Xor,
        };
        self.b.binary(op, old, value)
    }
}

/// An update, with everything about types looked up.
struct Update {
    op: UpdateOp,
    compute: Scalar,
    operand_type: Scalar,
    scalar: Scalar,
}

fn is_shift(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Shl | BinaryOp::Shr)
}

/// The one instruction for an atomic update, if there is one: where computing in a wider type and cutting off the rest
/// is the same as computing in the place's own.
fn read_modify_write(update: &Update) -> Option<RmwOp> {
    let is_integer = matches!(update.scalar, Scalar::Int { .. });
    match update.op {
        UpdateOp::PointerAdd => Some(RmwOp::Add),
        UpdateOp::Arithmetic(_) if !is_integer || update.compute.is_float() => None,
        UpdateOp::Arithmetic(BinaryOp::Add) => Some(RmwOp::Add),
        UpdateOp::Arithmetic(BinaryOp::Sub) => Some(RmwOp::Sub),
        UpdateOp::Arithmetic(BinaryOp::And) => Some(RmwOp::And),
        UpdateOp::Arithmetic(BinaryOp::Or) => Some(RmwOp::Or),
        UpdateOp::Arithmetic(BinaryOp::Xor) => Some(RmwOp::Xor),
        UpdateOp::Arithmetic(_) => None,
    }
}
