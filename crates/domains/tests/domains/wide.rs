//! Random elements and members of them on many widths.

use crate::sample::{Random, Sample};
use leno_domains::word::{mask, sign_extend};
use leno_domains::{Binary, Congruence, Interval, KnownBits, Predicate, Product, Unary};

const WIDTHS: [u32; 11] = [1, 2, 7, 8, 16, 31, 32, 64, 65, 127, 128];

fn everything<V: Sample>(seed: u64) {
    let mut random = Random::new(seed);
    for _ in 0..40_000 {
        let width = random.one_of(&WIDTHS);
        let (x, y) = (random.number(width), random.number(width));
        let (a, b) = (V::around(&mut random, width, x), V::around(&mut random, width, y));
        assert!(a.contains(width, x) && b.contains(width, y), "{x:#x} in {a:?}, {y:#x} in {b:?}");
        for op in Unary::ALL {
            let (result, value) = (V::unary(op, width, &a), op.apply(width, x));
            assert!(result.contains(width, value), "{width} bits: {op:?} of {a:?} is {result:?}, not {value:#x}");
            assert!(V::unary_backward(op, width, &a, &V::constant(width, value)).contains(width, x));
        }
        for op in Binary::ALL {
            let (result, value) = (V::binary(op, width, &a, &b), op.apply(width, x, y));
            let place = || format!("{width} bits: {op:?} of {a:?} and {b:?} is {result:?}; {x:#x}, {y:#x}, {value:#x}");
            assert!(result.contains(width, value), "{}", place());
            let around = V::around(&mut random, width, value);
            let (left, right) = V::binary_backward(op, width, &a, &b, &around);
            assert!(left.contains(width, x) && right.contains(width, y), "{}", place());
        }
        for predicate in Predicate::ALL {
            let holds = predicate.holds(width, x, y);
            let place = || format!("{width} bits: {predicate:?} of {a:?} and {b:?}; {x:#x}, {y:#x}");
            assert!(V::decide(predicate, width, &a, &b).contains(holds), "{}", place());
            let (left, right) = V::assume(predicate, holds, width, &a, &b);
            assert!(left.contains(width, x) && right.contains(width, y), "{}: {left:?}, {right:?}", place());
        }
        casts(&mut random, width, x, &a);
    }
}

fn casts<V: Sample>(random: &mut Random, width: u32, x: u128, a: &V) {
    let to = width + random.below((129 - width) as usize) as u32;
    let (zero, sign) = (V::zero_extend(width, to, a), V::sign_extend(width, to, a));
    assert!(zero.contains(to, x), "{a:?} from {width} to {to} bits: {zero:?}");
    assert!(sign.contains(to, sign_extend(width, x, to)), "{a:?} from {width} to {to} bits: {sign:?}");
    let low = random.below(width as usize) as u32;
    let part = 1 + random.below((width - low) as usize) as u32;
    let result = V::extract(width, low, part, a);
    assert!(result.contains(part, x >> low & mask(part)), "{part} of {width} bits of {a:?} from {low}: {result:?}");
    if width < 128 {
        let low_width = 1 + random.below((128 - width) as usize) as u32;
        let y = random.number(low_width);
        let b = V::around(random, low_width, y);
        let result = V::concat(width + low_width, low_width, a, &b);
        assert!(result.contains(width + low_width, x << low_width | y), "{a:?} above {b:?}: {result:?}");
    }
}

#[test]
fn intervals() {
    everything::<Interval>(1);
}

#[test]
fn known_bits() {
    everything::<KnownBits>(2);
}

#[test]
fn congruences() {
    everything::<Congruence>(3);
}

#[test]
fn products() {
    everything::<Product>(4);
}
