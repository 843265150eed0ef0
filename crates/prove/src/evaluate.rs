//! Expressions: which values they may have, what a condition says about variables, and which address they are.

use crate::code::{Code, FrameId};
use crate::state::{Definition, State, Value, Variable};
use leno_domains::{Binary, Domain, Interval, Numbers, Predicate, Product, Truth, Unary, word};
use leno_ir::analysis::points_to::{AbstractId, AbstractObject};
use leno_ir::program::{BinaryOp, CastOp, Expr, Type, UnaryOp};

/// How many equations are followed, one after another.
pub const FUEL: u32 = 12;

/// Evaluates in the states of one program.
#[derive(Clone, Copy, Debug)]
pub struct Evaluator<'a, 'p> {
    pub code: &'a Code<'a, 'p>,
}

impl<'p> Evaluator<'_, 'p> {
    pub fn width(&self, frame: FrameId, expr: &Expr) -> u32 {
        let program = self.code.program();
        let locals = &program.functions[self.code.func_of(frame)].locals;
        u32::from(expr.ty(locals, program.model).bits(program.model))
    }

    pub fn value(&self, state: &State<'p>, frame: FrameId, expr: &Expr) -> Value {
        self.value_within(state, frame, expr, FUEL)
    }

    pub fn variable(&self, state: &State<'p>, variable: Variable, width: u32) -> Value {
        self.variable_within(state, variable, width, FUEL)
    }

    fn variable_within(&self, state: &State<'p>, variable: Variable, width: u32, fuel: u32) -> Value {
        let own = state.value(variable).filter(|value| value.width == width).unwrap_or(Value::any(width));
        let Some(fuel) = fuel.checked_sub(1) else { return own };
        let defined = match state.definition(variable) {
            Some(Definition::Expr(frame, expr)) => self.value_within(state, frame, expr, fuel),
            Some(Definition::Same(other)) => self.variable_within(state, other, width, fuel),
            None => return own,
        };
        own.meet(&defined)
    }

    fn value_within(&self, state: &State<'p>, frame: FrameId, expr: &Expr, fuel: u32) -> Value {
        let width = self.width(frame, expr);
        let any = Value::any(width);
        let operand = |expr: &Expr| self.value_within(state, frame, expr, fuel);
        let with = |numbers: Product| Value { width, numbers };
        match expr {
            Expr::Const { bits, .. } => Value::constant(width, *bits),
            Expr::Local(local) => self.variable_within(state, Variable::Register(frame, *local), width, fuel),
            Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => not_null(width),
            Expr::Unary(UnaryOp::Neg, of) => with(Product::unary(Unary::Neg, width, &operand(of).numbers)),
            Expr::Unary(UnaryOp::Not, of) => with(Product::unary(Unary::Not, width, &operand(of).numbers)),
            Expr::Unary(UnaryOp::FNeg | UnaryOp::FSqrt | UnaryOp::FAbs, _) => any,
            Expr::Binary(op, operands) => {
                let (left, right) = (operand(&operands[0]), operand(&operands[1]));
                if left.width != right.width {
                    return any;
                }
                if let Some(op) = arithmetic(*op) {
                    let right = amount(op, &right);
                    return with(Product::binary(op, left.width, &left.numbers, &right));
                }
                match decide(*op, &left, &right) {
                    Some(truth) => with(Product::from_truth(truth)),
                    None => any,
                }
            }
            Expr::Cast(op, _, of) => {
                let of = operand(of);
                match op {
                    CastOp::Truncate => with(Product::extract(of.width, 0, width, &of.numbers)),
                    CastOp::ZeroExtend => with(Product::zero_extend(of.width, width, &of.numbers)),
                    CastOp::SignExtend => with(Product::sign_extend(of.width, width, &of.numbers)),
                    CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Bitcast if of.width == width => of,
                    _ => any,
                }
            }
            Expr::Select(parts) => {
                let condition = operand(&parts[0]).numbers.to_truth(1);
                let (then, otherwise) = (operand(&parts[1]), operand(&parts[2]));
                with(Product::select(condition, width, &then.numbers, &otherwise.numbers))
            }
        }
    }

    /// Keeps the states in which a condition (of one bit) holds, or does not.
    pub fn assume(&self, state: &mut State<'p>, frame: FrameId, condition: &Expr, holds: bool) {
        self.restrict(state, frame, condition, Value::constant(1, u128::from(holds)), FUEL);
    }

    pub fn assume_equal(&self, state: &mut State<'p>, frame: FrameId, expr: &Expr, bits: u128, holds: bool) {
        let value = self.value(state, frame, expr);
        let number = Product::constant(value.width, bits);
        let (numbers, _) = Product::assume(Predicate::Eq, holds, value.width, &value.numbers, &number);
        self.restrict(state, frame, expr, Value { width: value.width, numbers }, FUEL);
    }

    /// Keeps the states in which an expression has one of these values.
    pub fn restrict_to(&self, state: &mut State<'p>, frame: FrameId, expr: &Expr, value: Value) {
        self.restrict(state, frame, expr, value, FUEL);
    }

    pub fn restrict_variable(&self, state: &mut State<'p>, variable: Variable, value: Value) {
        self.restrict_variable_within(state, variable, value, FUEL);
    }

    fn restrict_variable_within(&self, state: &mut State<'p>, variable: Variable, value: Value, fuel: u32) {
        let value = self.variable(state, variable, value.width).meet(&value);
        state.restrict(variable, value);
        let Some(fuel) = fuel.checked_sub(1) else { return };
        match state.definition(variable) {
            Some(Definition::Expr(frame, expr)) => self.restrict(state, frame, expr, value, fuel),
            Some(Definition::Same(other)) => self.restrict_variable_within(state, other, value, fuel),
            None => {}
        }
    }

    /// Keeps the states in which an expression has one of these values.
    fn restrict(&self, state: &mut State<'p>, frame: FrameId, expr: &Expr, value: Value, fuel: u32) {
        let old = self.value(state, frame, expr);
        let value = old.meet(&value);
        if value.is_none() {
            *state = State::NEVER;
        }
        if state.is_never() || old.width != value.width {
            return;
        }
        let width = value.width;
        match expr {
            Expr::Local(local) => {
                self.restrict_variable_within(state, Variable::Register(frame, *local), value, fuel);
            }
            Expr::Unary(op @ (UnaryOp::Neg | UnaryOp::Not), of) => {
                let op = if *op == UnaryOp::Neg { Unary::Neg } else { Unary::Not };
                let operand = self.value(state, frame, of);
                let numbers = Product::unary_backward(op, width, &operand.numbers, &value.numbers);
                self.restrict(state, frame, of, Value { width, numbers }, fuel);
            }
            Expr::Binary(op, operands) => self.restrict_operands(state, frame, *op, operands, &value, fuel),
            Expr::Cast(op, _, of) => {
                let operand = self.value(state, frame, of);
                let from = operand.width;
                let numbers = match op {
                    CastOp::ZeroExtend => Product::zero_extend_backward(from, width, &operand.numbers, &value.numbers),
                    CastOp::SignExtend => Product::sign_extend_backward(from, width, &operand.numbers, &value.numbers),
                    CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Bitcast if from == width => value.numbers,
                    _ => return,
                };
                self.restrict(state, frame, of, Value { width: from, numbers }, fuel);
            }
            Expr::Select(parts) => {
                let can_be = |part: &Expr| !self.value(state, frame, part).meet(&value).is_none();
                match (can_be(&parts[1]), can_be(&parts[2])) {
                    (true, false) => {
                        self.assume(state, frame, &parts[0], true);
                        self.restrict(state, frame, &parts[1], value, fuel);
                    }
                    (false, true) => {
                        self.assume(state, frame, &parts[0], false);
                        self.restrict(state, frame, &parts[2], value, fuel);
                    }
                    (true, true) => {}
                    (false, false) => *state = State::NEVER,
                }
            }
            Expr::Const { .. } | Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) | Expr::Unary(..) => {}
        }
    }

    fn restrict_operands(
        &self,
        state: &mut State<'p>,
        frame: FrameId,
        op: BinaryOp,
        operands: &[Expr; 2],
        value: &Value,
        fuel: u32,
    ) {
        let [left, right] = operands;
        let (a, b) = (self.value(state, frame, left), self.value(state, frame, right));
        if a.width != b.width {
            return;
        }
        let width = a.width;
        let of = |numbers: Product| Value { width, numbers };
        if let Some(op) = arithmetic(op) {
            if width == 1 && matches!(op, Binary::And | Binary::Or) {
                // Both are known if the result is the one that only both together give.
                let both = Value::constant(1, u128::from(op == Binary::And));
                if *value == both {
                    self.restrict(state, frame, left, both, fuel);
                    self.restrict(state, frame, right, both, fuel);
                }
                return;
            }
            if matches!(op, Binary::Add | Binary::Sub | Binary::Xor) {
                let (a, b) = Product::binary_backward(op, width, &a.numbers, &b.numbers, &value.numbers);
                self.restrict(state, frame, left, of(a), fuel);
                self.restrict(state, frame, right, of(b), fuel);
            }
            return;
        }
        let Some(holds) = value.numbers.to_truth(1).decided() else { return };
        let Some((predicate, is_swapped, is_negated)) = comparison(op) else { return };
        let (a, b) = if is_swapped { (b, a) } else { (a, b) };
        let (a, b) = Product::assume(predicate, holds != is_negated, width, &a.numbers, &b.numbers);
        let (a, b) = if is_swapped { (b, a) } else { (a, b) };
        self.restrict(state, frame, left, of(a), fuel);
        self.restrict(state, frame, right, of(b), fuel);
        let sides = if is_swapped { (right, left) } else { (left, right) };
        self.relate(state, frame, predicate, holds != is_negated, sides);
    }

    /// The one place that an address is, for certain: an object, and an offset in it.
    pub fn address(&self, state: &State<'p>, frame: FrameId, expr: &Expr) -> Option<(AbstractId, i64)> {
        self.address_within(state, frame, expr, FUEL).or_else(|| self.address_everywhere(frame, expr))
    }

    /// What is known of it in any state.
    fn address_everywhere(&self, frame: FrameId, expr: &Expr) -> Option<(AbstractId, i64)> {
        let (facts, func) = (self.code.facts, self.code.func_of(frame));
        let objects = facts.points_to().points_to(func, expr);
        let object = objects.iter().next().filter(|_| objects.len() == 1)?;
        let offset = facts.offsets().number(facts.program(), func, expr).exact()?;
        crate::cells::is_followed(facts, object).then_some((object, offset))
    }

    fn address_within(&self, state: &State<'p>, frame: FrameId, expr: &Expr, fuel: u32) -> Option<(AbstractId, i64)> {
        let fuel = fuel.checked_sub(1)?;
        let points_to = self.code.facts.points_to();
        match expr {
            Expr::Object(id) => Some((points_to.object(AbstractObject::Static(*id))?, 0)),
            Expr::Slot(slot) => {
                let func = self.code.func_of(frame);
                Some((points_to.object(AbstractObject::Slot(func, *slot))?, 0))
            }
            Expr::Local(local) => self.address_of_variable(state, Variable::Register(frame, *local), fuel),
            Expr::Binary(BinaryOp::PtrAdd, operands) => {
                let (object, offset) = self.address_within(state, frame, &operands[0], fuel)?;
                let added = self.value(state, frame, &operands[1]);
                let added = word::signed(added.width, added.numbers.as_constant(added.width)?);
                Some((object, offset.checked_add(i64::try_from(added).ok()?)?))
            }
            Expr::Cast(CastOp::PtrToInt | CastOp::IntToPtr, _, of) => self.address_within(state, frame, of, fuel),
            Expr::Cast(CastOp::Bitcast, Type::Ptr, of) => self.address_within(state, frame, of, fuel),
            _ => None,
        }
    }

    fn address_of_variable(&self, state: &State<'p>, variable: Variable, fuel: u32) -> Option<(AbstractId, i64)> {
        let fuel = fuel.checked_sub(1)?;
        match state.definition(variable)? {
            Definition::Expr(frame, expr) => self.address_within(state, frame, expr, fuel),
            Definition::Same(other) => self.address_of_variable(state, other, fuel),
        }
    }
}

/// The addresses of objects: anything but null.
pub fn not_null(width: u32) -> Value {
    let interval = Interval::unsigned(width, 1, word::mask(width));
    Value { width, numbers: Product::from_interval(width, &interval) }
}

fn arithmetic(op: BinaryOp) -> Option<Binary> {
    Some(match op {
        BinaryOp::Add | BinaryOp::PtrAdd => Binary::Add,
        BinaryOp::Sub | BinaryOp::PtrDiff => Binary::Sub,
        BinaryOp::Mul => Binary::Mul,
        BinaryOp::UDiv => Binary::UDiv,
        BinaryOp::SDiv => Binary::SDiv,
        BinaryOp::URem => Binary::URem,
        BinaryOp::SRem => Binary::SRem,
        BinaryOp::Shl => Binary::Shl,
        BinaryOp::LShr => Binary::LShr,
        BinaryOp::AShr => Binary::AShr,
        BinaryOp::And => Binary::And,
        BinaryOp::Or => Binary::Or,
        BinaryOp::Xor => Binary::Xor,
        _ => return None,
    })
}

/// The right operand as the domains take it: the representation counts shifts modulo the width.
fn amount(op: Binary, right: &Value) -> Product {
    match op {
        Binary::Shl | Binary::LShr | Binary::AShr => {
            let width = Product::constant(right.width, u128::from(right.width) & word::mask(right.width));
            match right.width {
                1 => Product::constant(1, 0),
                _ => Product::binary(Binary::URem, right.width, &right.numbers, &width),
            }
        }
        _ => right.numbers,
    }
}

/// A comparison as a predicate of the domains: whether the operands change places, and whether it is the opposite.
fn comparison(op: BinaryOp) -> Option<(Predicate, bool, bool)> {
    Some(match op {
        BinaryOp::Eq => (Predicate::Eq, false, false),
        BinaryOp::Ne => (Predicate::Eq, false, true),
        BinaryOp::ULt => (Predicate::ULt, false, false),
        BinaryOp::ULe => (Predicate::ULt, true, true),
        BinaryOp::SLt => (Predicate::SLt, false, false),
        BinaryOp::SLe => (Predicate::SLt, true, true),
        BinaryOp::SAddOverflow => (Predicate::SAddOverflow, false, false),
        BinaryOp::SSubOverflow => (Predicate::SSubOverflow, false, false),
        BinaryOp::SMulOverflow => (Predicate::SMulOverflow, false, false),
        BinaryOp::UMulOverflow => (Predicate::UMulOverflow, false, false),
        BinaryOp::USubOverflow => (Predicate::ULt, false, false),
        _ => return None,
    })
}

fn decide(op: BinaryOp, left: &Value, right: &Value) -> Option<Truth> {
    let (a, b) = (&left.numbers, &right.numbers);
    if op == BinaryOp::UAddOverflow {
        let rest = Product::unary(Unary::Not, right.width, b);
        return Some(Product::decide(Predicate::ULt, left.width, &rest, a));
    }
    let (predicate, is_swapped, is_negated) = comparison(op)?;
    let (a, b) = if is_swapped { (b, a) } else { (a, b) };
    if a.is_bottom() || b.is_bottom() {
        return Some(Truth::NONE);
    }
    let truth = Product::decide(predicate, left.width, a, b);
    Some(if is_negated { truth.negated() } else { truth })
}
