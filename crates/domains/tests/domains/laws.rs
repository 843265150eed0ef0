//! The laws of lattices, by what elements contain; and that widening comes to an end.

use crate::sample::{Random, Sample};
use crate::small::{best, set};
use leno_domains::word::mask;
use leno_domains::{Congruence, Interval, KnownBits, Product, Thresholds};

/// Order is containment, joins are the smallest upper bounds, meets are intersections. (All other laws follow.)
fn lattice<V: Sample>(is_exact: bool) {
    let all: Vec<(V, u128)> = V::small().into_iter().map(|element| (element, set(4, &element))).collect();
    assert_eq!(set(4, &V::top(&4)), 0xFFFF);
    assert_eq!(set(4, &V::bottom(&4)), 0);
    let thresholds = [Thresholds::NONE, Thresholds::powers_of_two(), Thresholds::new([-3, 2, 11])];
    // (Intervals are many: every seventh against all.)
    for (a, set_a) in all.iter().step_by(all.len() / 300 + 1) {
        assert_eq!(a.is_bottom(), *set_a == 0, "{a:?}");
        assert_eq!(a.as_constant(4).is_some(), set_a.count_ones() == 1, "{a:?}");
        for (b, set_b) in &all {
            let (join, meet) = (a.join(b), a.meet(b, &4));
            let (joined, met) = (set(4, &join), set(4, &meet));
            assert_eq!((set_a | set_b) & !joined, 0, "{a:?} or {b:?} is {join:?}");
            assert_eq!(set_a & set_b & !met, 0, "{a:?} and {b:?} is {meet:?}");
            assert!(a.leq(&join) && b.leq(&join) && V::bottom(&4).leq(a) && a.leq(&V::top(&4)), "{a:?}, {b:?}");
            assert!(!a.leq(b) || set_a & !set_b == 0, "{a:?} is not below {b:?}");
            if is_exact {
                assert_eq!(a.leq(b), set_a & !set_b == 0, "{a:?} below {b:?}");
                assert_eq!(join, best::<V>(4, set_a | set_b), "{a:?} or {b:?}");
                assert_eq!(met, set_a & set_b, "{a:?} and {b:?} is {meet:?}");
                assert_eq!(a == b, set_a == set_b);
            }
            for thresholds in &thresholds {
                let widened = a.widen(b, &4, thresholds);
                assert!(a.leq(&widened) && b.leq(&widened), "{a:?} widened by {b:?} is {widened:?}");
            }
        }
    }
}

/// However values grow, widening stops them soon.
fn widening<V: Sample>(most: u32) {
    let mut random = Random::new(5);
    let thresholds = Thresholds::new([-1000, -5, 0, 10, 77, 1 << 20, 1 << 40]);
    for round in 0..3000 {
        let width = random.one_of(&[1, 8, 32, 64, 127, 128]);
        let thresholds = if round % 2 == 0 { &thresholds } else { &Thresholds::NONE };
        let mut value = V::bottom(&width);
        let mut changes = 0;
        let mut counter = random.number(width);
        for _ in 0..400 {
            counter = counter.wrapping_add(1) & mask(width);
            let number = if random.chance(50) { counter } else { random.number(width) };
            let widened = value.widen(&value.join(&V::constant(width, number)), &width, thresholds);
            assert!(value.leq(&widened) && widened.contains(width, number));
            changes += u32::from(widened != value);
            value = widened;
        }
        assert!(changes <= most, "{changes} changes of a value of {width} bits");
    }
}

#[test]
fn order_joins_and_meets() {
    lattice::<Interval>(true);
    lattice::<KnownBits>(true);
    lattice::<Congruence>(true);
    lattice::<Product>(false);
}

#[test]
fn widening_comes_to_an_end() {
    widening::<Interval>(40);
    widening::<KnownBits>(130);
    widening::<Congruence>(130);
    widening::<Product>(300);
}

/// What is in all three stays, whatever they tell each other; and they tell each other much.
#[test]
fn reduction_keeps_all_numbers() {
    let (mut sizes, mut needed) = (0, 0);
    for interval in Interval::small().iter().step_by(3) {
        for congruence in Congruence::small() {
            for bits in KnownBits::small().iter().step_by(2) {
                let all = set(4, interval) & set(4, &congruence) & set(4, bits);
                let product = Product::new(4, *interval, congruence, *bits);
                assert_eq!(set(4, &product), all, "{interval:?}, {congruence:?}, {bits:?}: {product:?}");
                sizes += set(4, product.interval()).count_ones();
                needed += set(4, &best::<Interval>(4, all)).count_ones();
            }
        }
    }
    println!("the intervals of products have {sizes} numbers; {needed} would do");
    assert!(sizes < needed * 11 / 10);
}
