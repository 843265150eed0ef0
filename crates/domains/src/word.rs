//! Arithmetic of bit-vector constants of up to 128 bits, kept in the low bits of a `u128`.

/// The `width` low bits.
pub fn mask(width: u32) -> u128 {
    if width == 0 { 0 } else { u128::MAX >> (128 - width) }
}

/// The highest bit of a vector.
pub fn sign_bit(width: u32) -> u128 {
    1 << (width - 1)
}

/// The value as a two's complement number.
pub fn signed(width: u32, value: u128) -> i128 {
    ((value << (128 - width)) as i128) >> (128 - width)
}

/// The value with its sign bit repeated above it, `to` bits in all.
pub fn sign_extend(width: u32, value: u128, to: u32) -> u128 {
    signed(width, value) as u128 & mask(to)
}

/// The number that an odd number has to be multiplied with to make 1, modulo 2^128 and so modulo every smaller power.
pub fn inverse_of_odd(value: u128) -> u128 {
    // Newton's iteration doubles the number of right bits; an odd number is its own inverse modulo 8.
    let mut inverse = value;
    for _ in 0..6 {
        inverse = inverse.wrapping_mul(2u128.wrapping_sub(value.wrapping_mul(inverse)));
    }
    inverse
}

/// The lowest and the number of ones, if they are one contiguous run.
pub fn run_of_ones(value: u128) -> Option<(u32, u32)> {
    let low = value.trailing_zeros();
    let count = value.count_ones();
    (count > 0 && value == mask(count) << low).then_some((low, count))
}
