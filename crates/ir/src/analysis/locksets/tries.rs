//! Locks that were tried: held or not, as the value of a register says.
//!
//! `trylock` gives 0 for success and error numbers otherwise. So a register that holds its result has few values, and
//! for each it is known whether the lock is held; and so has a register that is computed from it. At a branch the
//! values that lead elsewhere are left out.

use super::{Lock, Mode};
use crate::interp::operate;
use crate::program::*;

/// What the values of a register say about a lock. There are no other values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Try {
    pub lock: Lock,
    pub mode: Mode,
    /// A value, and whether the lock is held if it is this.
    pub cases: Vec<(u128, bool)>,
}

const EBUSY: u128 = 16;
const EINVAL: u128 = 22;

impl Try {
    /// The result of an attempt to take a lock.
    pub fn result(lock: Lock, mode: Mode) -> Try {
        Try { lock, mode, cases: vec![(0, true), (EBUSY, false), (EINVAL, false)] }
    }

    /// What a value that is computed from the register says. None if it is computed from others, too.
    pub fn through(&self, function: &Function, model: DataModel, local: LocalId, value: &Expr) -> Option<Try> {
        let case = |(bits, held): &(u128, bool)| Some((fold(function, model, value, local, *bits)?, *held));
        let cases = self.cases.iter().map(case).collect::<Option<Vec<_>>>()?;
        Some(Try { cases, ..self.clone() })
    }

    /// The same with the values that are wanted only.
    pub fn filtered(&self, mut is_wanted: impl FnMut(u128) -> bool) -> Try {
        Try { cases: self.cases.iter().filter(|(bits, _)| is_wanted(*bits)).copied().collect(), ..self.clone() }
    }

    pub fn is_held(&self) -> bool {
        !self.cases.is_empty() && self.cases.iter().all(|(_, held)| *held)
    }

    pub fn is_open(&self) -> bool {
        self.cases.iter().any(|(_, held)| *held)
    }
}

/// The value of an expression in which there is no register but one, of which the value is given.
pub(super) fn fold(function: &Function, model: DataModel, expr: &Expr, local: LocalId, bits: u128) -> Option<u128> {
    let part = |expr: &Expr| fold(function, model, expr, local, bits);
    let ty = |expr: &Expr| expr.ty(&function.locals, model);
    match expr {
        Expr::Const { bits, .. } => Some(*bits),
        Expr::Local(id) => (*id == local).then_some(bits),
        Expr::Object(_) | Expr::Slot(_) | Expr::Function(_) => None,
        Expr::Unary(op, operand) => Some(operate::unary(model, *op, ty(operand), part(operand)?)),
        Expr::Binary(op, operands) => {
            let (left, right) = (part(&operands[0])?, part(&operands[1])?);
            Some(operate::binary(model, *op, ty(&operands[0]), left, right))
        }
        Expr::Cast(op, to, operand) => Some(operate::cast(model, *op, ty(operand), *to, part(operand)?)),
        Expr::Select(parts) => part(if part(&parts[0])? & 1 == 1 { &parts[1] } else { &parts[2] }),
    }
}
