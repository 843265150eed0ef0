//! Numbers as sums of one variable and something that is known: how octagons learn from assignments and conditions.
//!
//! Machine integers wrap around, and octagons do not. `y + 1` is one more than `y` only if the interval of `y` shows that nothing
//! wraps, in the reading (signed or unsigned) that the octagon has. Casts are followed where they do not change the number.

use crate::code::FrameId;
use crate::evaluate::{Evaluator, FUEL};
use crate::state::{Definition, Linear, State, Value, Variable};
use leno_domains::{Numbers, Predicate, Side, word};
use leno_ir::program::{BinaryOp, CastOp, Expr, UnaryOp};

/// The numbers of a width, in a reading.
fn range(width: u32, is_signed: bool) -> (i128, i128) {
    match is_signed {
        true => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
        false => (0, word::mask(width) as i128),
    }
}

fn bounds(value: &Value, is_signed: bool) -> Option<(i128, i128)> {
    let interval = value.numbers.hull(value.width);
    match is_signed {
        true => interval.signed_bounds(value.width),
        false if interval.low() > interval.high() => None,
        false => Some((interval.low() as i128, interval.high() as i128)),
    }
}

fn opposite(linear: Linear) -> Linear {
    Linear { side: linear.side.negated(), least: -linear.most, most: -linear.least }
}

fn shifted(linear: Linear, (least, most): (i128, i128)) -> Linear {
    Linear { side: linear.side, least: linear.least + least, most: linear.most + most }
}

impl<'p> Evaluator<'_, 'p> {
    /// A new value, with all that its definition says.
    pub fn assign(&self, state: &mut State<'p>, variable: Variable, value: Value, definition: Option<Definition<'p>>) {
        let linear = state.member(variable).and_then(|member| match definition? {
            Definition::Expr(frame, expr) if member.width == value.width => {
                self.linear(state, frame, expr, member.is_signed, FUEL)
            }
            Definition::Same(other) if member.width == value.width => {
                self.linear_variable(state, other, value.width, member.is_signed, FUEL)
            }
            _ => None,
        });
        state.assign(variable, value, definition, linear);
    }

    /// An expression as one variable that octagons know, and a rest.
    fn linear(&self, state: &State<'p>, frame: FrameId, expr: &Expr, is_signed: bool, fuel: u32) -> Option<Linear> {
        let width = self.width(frame, expr);
        if !(2..=64).contains(&width) {
            return None;
        }
        match expr {
            Expr::Local(local) => {
                self.linear_variable(state, Variable::Register(frame, *local), width, is_signed, fuel)
            }
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), operands) => {
                let [a, b] = &**operands;
                let left = bounds(&self.value(state, frame, a), is_signed)?;
                let right = self.value(state, frame, b);
                // (`x + 0xffffffff` is `x - 1`.)
                let readings = [is_signed, true];
                let is_minus = *op == BinaryOp::Sub;
                let (least, most) = range(width, is_signed);
                for reading in readings {
                    let (low, high) = bounds(&right, reading)?;
                    let (low, high) = if is_minus { (-high, -low) } else { (low, high) };
                    if left.0 + low < least || left.1 + high > most {
                        continue;
                    }
                    let of_left = || Some(shifted(self.linear(state, frame, a, is_signed, fuel)?, (low, high)));
                    let of_right = || {
                        let linear = self.linear(state, frame, b, reading, fuel)?;
                        Some(shifted(if is_minus { opposite(linear) } else { linear }, left))
                    };
                    let is_rest_known = low == high;
                    return if is_rest_known { of_left() } else { of_right().or_else(of_left) };
                }
                None
            }
            Expr::Unary(UnaryOp::Neg, of) => {
                let (low, _) = bounds(&self.value(state, frame, of), true)?;
                let fits = is_signed && low > range(width, true).0;
                fits.then(|| self.linear(state, frame, of, true, fuel)).flatten().map(opposite)
            }
            Expr::Cast(CastOp::ZeroExtend, _, of) => self.linear(state, frame, of, false, fuel),
            Expr::Cast(CastOp::SignExtend, _, of) => {
                let (low, _) = bounds(&self.value(state, frame, of), true)?;
                (is_signed || low >= 0).then(|| self.linear(state, frame, of, true, fuel)).flatten()
            }
            Expr::Cast(CastOp::Truncate, _, of) => {
                let (low, high) = bounds(&self.value(state, frame, of), is_signed)?;
                let (least, most) = range(width, is_signed);
                (low >= least && high <= most).then(|| self.linear(state, frame, of, is_signed, fuel)).flatten()
            }
            _ => None,
        }
    }

    fn linear_variable(
        &self,
        state: &State<'p>,
        variable: Variable,
        width: u32,
        is_signed: bool,
        fuel: u32,
    ) -> Option<Linear> {
        let fuel = fuel.checked_sub(1)?;
        if let Some(member) = state.member(variable) {
            let (_, most) = bounds(&self.variable(state, variable, width), false)?;
            let is_same_number = member.is_signed == is_signed || most <= range(width, true).1;
            if member.width == width && is_same_number {
                return Some(Linear { side: Side::plus(variable), least: 0, most: 0 });
            }
        }
        match state.definition(variable)? {
            Definition::Expr(frame, expr) if self.width(frame, expr) == width => {
                self.linear(state, frame, expr, is_signed, fuel)
            }
            Definition::Expr(..) => None,
            Definition::Same(other) => self.linear_variable(state, other, width, is_signed, fuel),
        }
    }

    /// What a comparison says about two variables together.
    pub fn relate(
        &self,
        state: &mut State<'p>,
        frame: FrameId,
        predicate: Predicate,
        holds: bool,
        (left, right): (&Expr, &Expr),
    ) {
        let readings: &[bool] = match predicate {
            Predicate::SLt => &[true],
            Predicate::ULt => &[false],
            Predicate::Eq => &[true, false],
            _ => return,
        };
        for is_signed in readings {
            let linear = |expr| self.linear(state, frame, expr, *is_signed, FUEL);
            let (Some(a), Some(b)) = (linear(left), linear(right)) else { continue };
            relate_linear(state, predicate, holds, a, b);
            return;
        }
    }

    /// The same, for a variable and an expression that are equal, or are not.
    pub fn relate_equal(&self, state: &mut State<'p>, variable: Variable, frame: FrameId, expr: &Expr, holds: bool) {
        let width = self.width(frame, expr);
        for is_signed in [true, false] {
            let a = self.linear_variable(state, variable, width, is_signed, FUEL);
            let (Some(a), Some(b)) = (a, self.linear(state, frame, expr, is_signed, FUEL)) else { continue };
            relate_linear(state, Predicate::Eq, holds, a, b);
            return;
        }
    }
}

fn relate_linear(state: &mut State<'_>, predicate: Predicate, holds: bool, a: Linear, b: Linear) {
    // `a - b` is at most so much less.
    let mut below = |a: Linear, b: Linear, by: i128| {
        state.relate(a.side, b.side.negated(), b.most - a.least - by);
    };
    match (predicate, holds) {
        (Predicate::Eq, true) => {
            below(a, b, 0);
            below(b, a, 0);
        }
        (Predicate::Eq, false) => {
            // Where one is not above the other, it is below.
            let difference = |state: &State<'_>, a: Linear, b: Linear| {
                state.most(a.side, b.side.negated()).map(|most| most + a.most - b.least)
            };
            if difference(state, a, b) == Some(0) {
                state.relate(a.side, b.side.negated(), b.most - a.least - 1);
            }
            if difference(state, b, a) == Some(0) {
                state.relate(b.side, a.side.negated(), a.most - b.least - 1);
            }
        }
        (_, true) => below(a, b, 1),
        (_, false) => below(b, a, 0),
    }
}
