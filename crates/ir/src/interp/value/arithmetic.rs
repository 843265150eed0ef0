//! Integer operations on bit-vectors.
//!
//! There are two versions: [`binary64`], for at most 64 bits, is what programs spend their time in; [`binary`] takes
//! any width up to 128. A test holds them against each other on all widths. Every operation is total: division by zero
//! is SMT-LIB's, and a shift counts modulo the width.

use super::ones;
use crate::program::BinaryOp;

/// `width` ones, for widths up to 64.
#[inline]
pub(in crate::interp) fn ones64(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

#[inline]
pub(in crate::interp) fn sign_extend64(bits: u64, width: u32) -> i64 {
    let unused = 64u32.saturating_sub(width) & 63;
    ((bits << unused) as i64) >> unused
}

#[inline]
pub(in crate::interp) fn sign_extend(bits: u128, width: u16) -> i128 {
    let unused = 128u32.saturating_sub(u32::from(width)) & 127;
    ((bits << unused) as i128) >> unused
}

/// An integer operation on operands of `width` ≤ 64 bits, whose upper bits are zero.
#[inline]
pub(in crate::interp) fn binary64(op: BinaryOp, width: u32, a: u64, b: u64) -> u64 {
    use BinaryOp::*;
    let mask = ones64(width);
    let signed = |bits| sign_extend64(bits, width);
    match op {
        Add | PtrAdd => a.wrapping_add(b) & mask,
        Sub | PtrDiff => a.wrapping_sub(b) & mask,
        Mul => a.wrapping_mul(b) & mask,
        And => a & b,
        Or => a | b,
        Xor => a ^ b,
        Eq => u64::from(a == b),
        Ne => u64::from(a != b),
        ULt => u64::from(a < b),
        ULe => u64::from(a <= b),
        SLt => u64::from(signed(a) < signed(b)),
        SLe => u64::from(signed(a) <= signed(b)),
        Shl => (a << (b % u64::from(width.max(1)))) & mask,
        LShr => a >> (b % u64::from(width.max(1))),
        AShr => (signed(a) >> (b % u64::from(width.max(1)))) as u64 & mask,
        UDiv => a.checked_div(b).unwrap_or(mask),
        URem => a.checked_rem(b).unwrap_or(a),
        SDiv => match signed(b) {
            0 if signed(a) < 0 => 1 & mask,
            0 => mask,
            divisor => signed(a).wrapping_div(divisor) as u64 & mask,
        },
        SRem => match signed(b) {
            0 => a,
            divisor => signed(a).wrapping_rem(divisor) as u64 & mask,
        },
        UAddOverflow => u64::from(u128::from(a) + u128::from(b) > u128::from(mask)),
        USubOverflow => u64::from(a < b),
        UMulOverflow => u64::from(u128::from(a) * u128::from(b) > u128::from(mask)),
        SAddOverflow => outside(i128::from(signed(a)) + i128::from(signed(b)), width),
        SSubOverflow => outside(i128::from(signed(a)) - i128::from(signed(b)), width),
        SMulOverflow => outside(i128::from(signed(a)) * i128::from(signed(b)), width),
        FAdd | FSub | FMul | FDiv | FEq | FNe | FLt | FLe => 0,
    }
}

/// Whether `exact` needs more than `width` bits, two's complement.
fn outside(exact: i128, width: u32) -> u64 {
    u64::from(sign_extend(exact as u128, width as u16) != exact)
}

/// An integer operation on operands of any width, whose upper bits are zero.
pub(in crate::interp) fn binary(op: BinaryOp, width: u16, a: u128, b: u128) -> u128 {
    use BinaryOp::*;
    let mask = ones(width);
    let signed = |bits| sign_extend(bits, width);
    let amount = (b % u128::from(width.max(1))) as u32;
    match op {
        Add | PtrAdd => a.wrapping_add(b) & mask,
        Sub | PtrDiff => a.wrapping_sub(b) & mask,
        Mul => a.wrapping_mul(b) & mask,
        And => a & b,
        Or => a | b,
        Xor => a ^ b,
        Eq => u128::from(a == b),
        Ne => u128::from(a != b),
        ULt => u128::from(a < b),
        ULe => u128::from(a <= b),
        SLt => u128::from(signed(a) < signed(b)),
        SLe => u128::from(signed(a) <= signed(b)),
        Shl => (a << amount) & mask,
        LShr => a >> amount,
        AShr => (signed(a) >> amount) as u128 & mask,
        UDiv => a.checked_div(b).unwrap_or(mask),
        URem => a.checked_rem(b).unwrap_or(a),
        SDiv => match signed(b) {
            0 if signed(a) < 0 => 1 & mask,
            0 => mask,
            divisor => signed(a).wrapping_div(divisor) as u128 & mask,
        },
        SRem => match signed(b) {
            0 => a,
            divisor => signed(a).wrapping_rem(divisor) as u128 & mask,
        },
        UAddOverflow => u128::from(a.checked_add(b).is_none_or(|sum| sum > mask)),
        USubOverflow => u128::from(a < b),
        UMulOverflow => u128::from(a.checked_mul(b).is_none_or(|product| product > mask)),
        SAddOverflow => overflows(signed(a).checked_add(signed(b)), width),
        SSubOverflow => overflows(signed(a).checked_sub(signed(b)), width),
        SMulOverflow => overflows(signed(a).checked_mul(signed(b)), width),
        FAdd | FSub | FMul | FDiv | FEq | FNe | FLt | FLe => 0,
    }
}

fn overflows(exact: Option<i128>, width: u16) -> u128 {
    u128::from(exact.is_none_or(|exact| sign_extend(exact as u128, width) != exact))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp::Prng;

    /// Random numbers, with the interesting ones more often.
    fn operand(random: &mut Prng, width: u32) -> u64 {
        let mask = ones64(width);
        match random.below(6) {
            0 => 0,
            1 => mask,
            2 => mask >> 1,
            3 => (mask >> 1) + 1,
            4 => random.below(5) & mask,
            _ => random.next_u64() & mask,
        }
    }

    #[test]
    fn narrow_and_wide_agree_on_every_width() {
        let mut random = Prng::new(1);
        for width in 1..=64 {
            for _ in 0..200 {
                let (a, b) = (operand(&mut random, width), operand(&mut random, width));
                for op in BinaryOp::ARITHMETIC.iter().chain(BinaryOp::TESTS).copied() {
                    let narrow = u128::from(binary64(op, width, a, b));
                    let wide = binary(op, width as u16, a.into(), b.into());
                    assert_eq!(narrow, wide, "{op:?} i{width} {a:#x} {b:#x}");
                }
            }
        }
    }

    #[test]
    fn the_edges_are_those_of_smt_lib() {
        let minimum = 0x8000_0000;
        assert_eq!(binary64(BinaryOp::UDiv, 32, 7, 0), 0xffff_ffff);
        assert_eq!(binary64(BinaryOp::SDiv, 32, 7, 0), 0xffff_ffff);
        assert_eq!(binary64(BinaryOp::SDiv, 32, 0xffff_fff9, 0), 1);
        assert_eq!(binary64(BinaryOp::SRem, 32, 7, 0), 7);
        assert_eq!(binary64(BinaryOp::SDiv, 32, minimum, 0xffff_ffff), minimum);
        assert_eq!(binary64(BinaryOp::SRem, 32, minimum, 0xffff_ffff), 0);
        assert_eq!(binary64(BinaryOp::Shl, 32, 1, 33), 2);
        assert_eq!(binary(BinaryOp::SMulOverflow, 128, 1 << 127, u128::MAX), 1);
    }
}
