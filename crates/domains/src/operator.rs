//! The operators that domains have a transfer function for, and what they mean on numbers.
//!
//! Numbers are bit patterns of a width from 1 to 128 bits, in the low bits of a `u128`. Division by zero and shifts
//! by the width or more mean what they mean in SMT-LIB. (The representation counts shifts modulo the width: take
//! `URem` of the amount first.)
//!
//! Comparisons and overflow tests are [`Predicate`]s. There are only as many as are needed:
//!
//! | to say | assume or decide |
//! |---|---|
//! | `a != b` | `Eq(a, b)` does not hold |
//! | `a <= b` | `ULt(b, a)` or `SLt(b, a)` does not hold |
//! | the unsigned difference wraps | `ULt(a, b)` |
//! | the unsigned sum wraps | `ULt(!b, a)` |

use crate::word::{mask, sign_bit, signed};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unary {
    /// Two's complement.
    Neg,
    /// Bitwise complement.
    Not,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    /// All ones if the divisor is 0.
    UDiv,
    /// Rounds towards 0. By 0: -1 if the dividend is not negative, else 1. The minimum by -1 is the minimum.
    SDiv,
    /// The dividend if the divisor is 0.
    URem,
    /// Has the sign of the dividend, which it is if the divisor is 0.
    SRem,
    /// 0 if the amount is the width or more.
    Shl,
    LShr,
    /// Copies of the sign if the amount is the width or more.
    AShr,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Predicate {
    Eq,
    ULt,
    SLt,
    /// Whether the exact result does not fit.
    SAddOverflow,
    SSubOverflow,
    SMulOverflow,
    UMulOverflow,
}

impl Unary {
    pub const ALL: [Unary; 2] = [Unary::Neg, Unary::Not];

    pub fn apply(self, width: u32, a: u128) -> u128 {
        let result = match self {
            Unary::Neg => a.wrapping_neg(),
            Unary::Not => !a,
        };
        result & mask(width)
    }
}

impl Binary {
    pub const ALL: [Binary; 13] = [
        Binary::Add,
        Binary::Sub,
        Binary::Mul,
        Binary::UDiv,
        Binary::SDiv,
        Binary::URem,
        Binary::SRem,
        Binary::Shl,
        Binary::LShr,
        Binary::AShr,
        Binary::And,
        Binary::Or,
        Binary::Xor,
    ];

    pub fn apply(self, width: u32, a: u128, b: u128) -> u128 {
        let amount = b.min(u128::from(width)) as u32;
        let result = match self {
            Binary::Add => a.wrapping_add(b),
            Binary::Sub => a.wrapping_sub(b),
            Binary::Mul => a.wrapping_mul(b),
            Binary::UDiv => a.checked_div(b).unwrap_or(u128::MAX),
            Binary::SDiv => match signed(width, b) {
                0 if signed(width, a) < 0 => 1,
                0 => u128::MAX,
                divisor => signed(width, a).wrapping_div(divisor) as u128,
            },
            Binary::URem => a.checked_rem(b).unwrap_or(a),
            Binary::SRem => match signed(width, b) {
                0 => a,
                divisor => signed(width, a).wrapping_rem(divisor) as u128,
            },
            Binary::Shl => a.checked_shl(amount).filter(|_| amount < width).unwrap_or(0),
            Binary::LShr => a.checked_shr(amount).filter(|_| amount < width).unwrap_or(0),
            Binary::AShr => (signed(width, a) >> amount.min(width - 1)) as u128,
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
        };
        result & mask(width)
    }
}

impl Predicate {
    pub const ALL: [Predicate; 7] = [
        Predicate::Eq,
        Predicate::ULt,
        Predicate::SLt,
        Predicate::SAddOverflow,
        Predicate::SSubOverflow,
        Predicate::SMulOverflow,
        Predicate::UMulOverflow,
    ];

    pub fn holds(self, width: u32, a: u128, b: u128) -> bool {
        let (signed_a, signed_b) = (signed(width, a), signed(width, b));
        match self {
            Predicate::Eq => a == b,
            Predicate::ULt => a < b,
            Predicate::SLt => signed_a < signed_b,
            Predicate::SAddOverflow => is_outside(width, signed_a.checked_add(signed_b)),
            Predicate::SSubOverflow => is_outside(width, signed_a.checked_sub(signed_b)),
            Predicate::SMulOverflow => is_outside(width, signed_a.checked_mul(signed_b)),
            Predicate::UMulOverflow => a.checked_mul(b).is_none_or(|product| product > mask(width)),
        }
    }
}

/// Whether an exact result is no signed number of this width.
pub(crate) fn is_outside(width: u32, result: Option<i128>) -> bool {
    result.is_none_or(|result| result < signed(width, sign_bit(width)) || result > (mask(width) >> 1) as i128)
}
