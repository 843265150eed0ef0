//! Sets of machine integers: a few constants, or all numbers that leave a certain remainder.
//!
//! This is as much as it takes to tell fields of a structure apart, in arrays too: element `i` of an array of 48-byte
//! structures has its field at `40 + 48 * i`. Numbers are taken as signed integers of 64 bits. Machine arithmetic wraps
//! around, and what leaves remainder 40 by 48 does not do so any longer after it has wrapped, unless the divisor is a
//! power of two. So each set of remainders knows how large its numbers may be, and where a sum may be too large its
//! divisor is reduced to a power of two.

/// How many constants are kept apart.
const MOST: usize = 4;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Number {
    /// One of these: ascending, at most four. None at all: there is no such number (yet).
    Among(Vec<i64>),
    /// `remainder` modulo `divisor` (at least 1, and larger than the remainder), and less than `2^bits` away from zero.
    Congruent { remainder: u64, divisor: u64, bits: u8 },
}

/// The same, but with divisor 0 for one constant.
#[derive(Clone, Copy)]
struct Class {
    any: i64,
    divisor: u64,
    bits: u8,
}

impl Number {
    pub const NONE: Number = Number::Among(Vec::new());
    pub const ANY: Number = Number::Congruent { remainder: 0, divisor: 1, bits: 64 };

    pub fn constant(value: i64) -> Number {
        Number::Among(vec![value])
    }

    /// Any number of so many bits, signed or not.
    pub fn of_bits(bits: u16) -> Number {
        Number::Congruent { remainder: 0, divisor: 1, bits: bits.min(64) as u8 }
    }

    pub fn is_none(&self) -> bool {
        matches!(self, Number::Among(values) if values.is_empty())
    }

    /// The only number there is.
    pub fn exact(&self) -> Option<i64> {
        match self {
            Number::Among(values) if values.len() == 1 => Some(values[0]),
            _ => None,
        }
    }

    /// All numbers, if they are few.
    pub fn few(&self) -> Option<&[i64]> {
        match self {
            Number::Among(values) => Some(values),
            Number::Congruent { .. } => None,
        }
    }

    pub fn contains(&self, value: i64) -> bool {
        match self {
            Number::Among(values) => values.contains(&value),
            Number::Congruent { remainder, divisor, bits } => {
                bits_of(value) <= *bits && i128::from(value).rem_euclid(i128::from(*divisor)) == i128::from(*remainder)
            }
        }
    }

    fn class(&self) -> Option<Class> {
        match self {
            Number::Among(values) => {
                let first = *values.first()?;
                let divisor = values.iter().fold(0, |divisor, value| gcd(divisor, value.abs_diff(first)));
                Some(Class { any: first, divisor, bits: values.iter().map(|value| bits_of(*value)).max()? })
            }
            Number::Congruent { remainder, divisor, bits } => {
                Some(Class { any: *remainder as i64, divisor: *divisor, bits: *bits })
            }
        }
    }

    /// All that are in one of the two.
    pub fn join(&self, other: &Number) -> Number {
        if let (Number::Among(left), Number::Among(right)) = (self, other) {
            let mut all = [left.as_slice(), right].concat();
            all.sort_unstable();
            all.dedup();
            if all.len() <= MOST {
                return Number::Among(all);
            }
        }
        match (self.class(), other.class()) {
            (None, _) => other.clone(),
            (_, None) => self.clone(),
            (Some(left), Some(right)) => {
                let apart = left.any.abs_diff(right.any);
                let divisor = gcd(gcd(left.divisor, right.divisor), apart);
                congruent(left.any, divisor, left.bits.max(right.bits))
            }
        }
    }

    /// Makes it the join. Whether that added something. A set that has once grown in size is taken to grow without end,
    /// so that iterations are short.
    pub fn join_with(&mut self, other: &Number) -> bool {
        let mut joined = self.join(other);
        if let (Number::Congruent { bits: before, .. }, Number::Congruent { remainder, divisor, bits }) =
            (&*self, &joined)
            && before < bits
        {
            joined = congruent(*remainder as i64, *divisor, 64);
        }
        let changed = joined != *self;
        *self = joined;
        changed
    }

    /// Sums of 64 bits.
    pub fn add(&self, other: &Number) -> Number {
        if let (Number::Among(left), Number::Among(right)) = (self, other) {
            let sums = left.iter().flat_map(|l| right.iter().map(|r| l.wrapping_add(*r)));
            return sums.fold(Number::NONE, |all, sum| all.join(&Number::constant(sum)));
        }
        match (self.class(), other.class()) {
            (Some(left), Some(right)) => {
                let bits = left.bits.max(right.bits).saturating_add(1).min(64);
                congruent(left.any.wrapping_add(right.any), gcd(left.divisor, right.divisor), bits)
            }
            _ => Number::NONE,
        }
    }

    /// Products of 64 bits with a constant.
    pub fn times(&self, factor: i64) -> Number {
        match (self, self.class()) {
            (_, None) => Number::NONE,
            (_, Some(_)) if factor == 0 => Number::constant(0),
            (Number::Among(values), _) => {
                let products = values.iter().map(|value| Number::constant(value.wrapping_mul(factor)));
                products.fold(Number::NONE, |all, product| all.join(&product))
            }
            (_, Some(class)) => {
                let bits = class.bits.saturating_add(bits_of(factor)).min(64);
                let divisor = class.divisor.checked_mul(factor.unsigned_abs());
                // A product that does not fit is known by the powers of two in it only.
                let divisor = divisor
                    .unwrap_or_else(|| power_of_two(class.divisor).saturating_mul(power_of_two(factor.unsigned_abs())));
                congruent(class.any.wrapping_mul(factor), divisor, bits)
            }
        }
    }

    /// What is left in the lowest `bits` bits, as a signed number.
    pub fn truncate(&self, bits: u16) -> Number {
        match self {
            Number::Among(values) => {
                let shift = 64 - u32::from(bits.clamp(1, 64));
                let cut = values.iter().map(|value| Number::constant(value << shift >> shift));
                cut.fold(Number::NONE, |all, value| all.join(&value))
            }
            Number::Congruent { bits: size, .. } if u16::from(*size) < bits => self.clone(),
            Number::Congruent { remainder, divisor, .. } => {
                let limit = if bits < 63 { 1 << bits } else { 1 << 63 };
                let divisor = power_of_two(*divisor).min(limit);
                Number::Congruent { remainder: remainder % divisor, divisor, bits: bits.min(64) as u8 }
            }
        }
    }

    /// A signed number of `bits` bits, read as an unsigned one.
    pub fn unsigned(&self, bits: u16) -> Number {
        match self {
            Number::Among(values) if bits < 63 => {
                let read = values.iter().map(|value| Number::constant(value & ((1 << bits) - 1)));
                read.fold(Number::NONE, |all, value| all.join(&value))
            }
            _ if self.is_none() => Number::NONE,
            _ => Number::of_bits(bits),
        }
    }

    /// Whether `len` bytes at one of these offsets may overlap `other_len` bytes at one of `others`.
    pub fn overlaps(&self, len: u64, others: &Number, other_len: u64) -> bool {
        let (Some(left), Some(right)) = (self.class(), others.class()) else { return false };
        if let (Number::Among(left), Number::Among(right)) = (self, others) {
            return left.iter().any(|l| {
                right.iter().any(|r| {
                    let (l, r) = (i128::from(*l), i128::from(*r));
                    l < r + i128::from(other_len) && r < l + i128::from(len)
                })
            });
        }
        // Some l = left.any + a, r = right.any + b, where a - b is a multiple of the divisor: where between -len and
        // other_len is l - r?
        let divisor = gcd(left.divisor, right.divisor);
        let Ok(distance) =
            u64::try_from((i128::from(left.any) - i128::from(right.any)).rem_euclid(i128::from(divisor)))
        else {
            return true;
        };
        distance < other_len || divisor - distance < len
    }
}

fn congruent(any: i64, divisor: u64, bits: u8) -> Number {
    match divisor {
        0 => Number::constant(any),
        _ => {
            let divisor = if bits > 62 { power_of_two(divisor) } else { divisor };
            let remainder = i128::from(any).rem_euclid(i128::from(divisor)) as u64;
            Number::Congruent { remainder, divisor, bits }
        }
    }
}

/// The largest power of two in a number that is not 0.
fn power_of_two(number: u64) -> u64 {
    number & number.wrapping_neg()
}

fn bits_of(value: i64) -> u8 {
    64 - value.unsigned_abs().leading_zeros() as u8
}

fn gcd(mut left: u64, mut right: u64) -> u64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn fields_of_elements_are_told_apart() {
        let index = Number::of_bits(32);
        let element = index.times(48);
        let field = |offset| element.add(&Number::constant(offset));
        assert!(!field(40).overlaps(4, &field(0), 40));
        assert!(field(40).overlaps(4, &field(0), 41));
        assert!(field(40).overlaps(9, &field(0), 4));
        assert!(!field(40).overlaps(8, &field(0), 4));
        assert!(field(40).overlaps(4, &Number::constant(88), 1));
        assert!(!field(40).overlaps(4, &Number::constant(92), 1));
        assert!(!field(40).overlaps(4, &Number::NONE, 1));
        // An index of 64 bits may wrap around.
        let wide = Number::ANY.times(48).add(&Number::constant(40));
        assert!(wide.overlaps(4, &Number::constant(0), 40));
        assert!(!wide.overlaps(4, &Number::constant(0), 8));
    }

    #[test]
    fn what_is_added_again_and_again_wraps_around_at_last() {
        let mut pointer = Number::constant(0);
        for _ in 0..100 {
            pointer = pointer.join(&pointer.add(&Number::constant(48)));
        }
        assert_eq!(pointer, Number::Congruent { remainder: 0, divisor: 16, bits: 64 });
    }

    #[test]
    fn sets_contain_what_is_computed_from_their_members() {
        let mut state = 1u64;
        let mut next = |bound: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % bound
        };
        let contains = |set: &Number, value: i64| set.contains(value);
        for _ in 0..20_000 {
            let members = |count: u64, next: &mut dyn FnMut(u64) -> u64| -> Vec<i64> {
                (0..count)
                    .map(|_| match next(4) {
                        0 => i64::MAX - next(100) as i64,
                        1 => ((next(1 << 31) << 33) as i64).wrapping_mul(3),
                        _ => next(200) as i64 * 12 - 50,
                    })
                    .collect()
            };
            let (left, right) = (members(1 + next(7), &mut next), members(1 + next(7), &mut next));
            let set =
                |values: &[i64]| values.iter().fold(Number::NONE, |set, value| set.join(&Number::constant(*value)));
            let (l, r) = (set(&left), set(&right));
            let factor = next(60) as i64 - 20;
            let bits = 1 + next(64) as u16;
            for a in &left {
                assert!(contains(&l, *a));
                assert!(contains(&l.times(factor), a.wrapping_mul(factor)), "{l:?} * {factor}");
                let cut = a << (64 - bits) >> (64 - bits);
                assert!(contains(&l.truncate(bits), cut), "{l:?} cut to {bits} has {cut}");
                assert!(contains(
                    &l.truncate(bits).unsigned(bits),
                    if bits == 64 { cut } else { cut & (1i64 << bits).wrapping_sub(1) }
                ));
                for b in &right {
                    assert!(contains(&l.add(&r), a.wrapping_add(*b)), "{l:?} + {r:?}");
                    assert!(contains(&l.join(&r), *b));
                    let (len, other) = (1 + next(20), 1 + next(20));
                    let touch = i128::from(*a) < i128::from(*b) + i128::from(other)
                        && i128::from(*b) < i128::from(*a) + i128::from(len);
                    assert!(!touch || l.overlaps(len, &r, other));
                }
            }
        }
    }
}
