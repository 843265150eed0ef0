//! All elements on 4 bits, all operators: nothing is missing in the result, and little is in it that need not be.

use crate::sample::Sample;
use leno_domains::word::mask;
use leno_domains::{Binary, Congruence, Interval, KnownBits, Numbers, Predicate, Product, Unary};

const WIDTH: u32 = 4;

/// A set of numbers of 4 bits, one bit for each; or of up to 7 bits.
type Set = u128;

pub fn set<V: Numbers>(width: u32, element: &V) -> Set {
    (0..1 << width).filter(|&value| element.contains(width, value)).fold(0, |set, value| set | 1 << value)
}

pub fn members(mut set: Set) -> impl Iterator<Item = u128> {
    std::iter::from_fn(move || {
        let first = (set != 0).then(|| u128::from(set.trailing_zeros()))?;
        set &= set - 1;
        Some(first)
    })
}

/// The smallest element around a set.
pub fn best<V: Numbers>(width: u32, of: Set) -> V {
    members(of).fold(V::bottom(&width), |all, value| all.join(&V::constant(width, value)))
}

/// How many results are as small as they could be, and how much larger the others are.
#[derive(Default)]
struct Precision {
    cases: u64,
    best: u64,
    numbers: u64,
    needed: u64,
}

impl Precision {
    fn add(&mut self, found: Set, best: Set) {
        self.cases += 1;
        self.best += u64::from(found == best);
        self.numbers += u64::from(found.count_ones());
        self.needed += u64::from(best.count_ones());
    }

    fn report(&self, what: &str) -> f64 {
        let share = self.best as f64 / self.cases as f64;
        let excess = self.numbers as f64 / self.needed.max(1) as f64;
        println!("{what:35} best in {:6.2}% of {:8}; {excess:.3} times the numbers", share * 100.0, self.cases);
        share
    }
}

struct Elements<V> {
    all: Vec<(V, Set)>,
    /// By set of 4-bit numbers: what the smallest element around it contains.
    best: Vec<Set>,
}

impl<V: Sample> Elements<V> {
    fn new() -> Elements<V> {
        let all = V::small().into_iter().map(|element| (element, set(WIDTH, &element))).collect();
        let best = (0..1 << (1 << WIDTH)).map(|of| set(WIDTH, &best::<V>(WIDTH, of))).collect();
        Elements { all, best }
    }
}

fn binary<V: Sample>(name: &str, elements: &Elements<V>, at_least: f64) {
    let mut shares = Vec::new();
    for op in Binary::ALL {
        let mut precision = Precision::default();
        for (b, set_b) in &elements.all {
            let row: Vec<Set> =
                (0..1 << WIDTH).map(|x| members(*set_b).fold(0, |all, y| all | 1 << op.apply(WIDTH, x, y))).collect();
            for (a, set_a) in &elements.all {
                let image = members(*set_a).fold(0, |all, x| all | row[x as usize]);
                let result = V::binary(op, WIDTH, a, b);
                let found = set(WIDTH, &result);
                assert_eq!(image & !found, 0, "{op:?} of {a:?} and {b:?} is {result:?}");
                precision.add(found, elements.best[image as usize]);
            }
        }
        shares.push(precision.report(&format!("{name} {op:?}")));
    }
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    assert!(mean >= at_least, "{name}: the best result in {mean} of all cases only");
}

fn unary<V: Sample>(name: &str, elements: &Elements<V>) {
    for op in Unary::ALL {
        let mut precision = Precision::default();
        for (a, set_a) in &elements.all {
            let image = members(*set_a).fold(0, |all, x| all | 1 << op.apply(WIDTH, x));
            let result = V::unary(op, WIDTH, a);
            let found = set(WIDTH, &result);
            assert_eq!(image & !found, 0, "{op:?} of {a:?} is {result:?}");
            precision.add(found, elements.best[image as usize]);
        }
        assert!(precision.report(&format!("{name} {op:?}")) > 0.85);
    }
}

fn casts<V: Sample>(name: &str, elements: &Elements<V>) {
    let mut precision = Precision::default();
    let mut check = |from: &V, result: V, to: u32, image: Set, what: &str| {
        let found = set(to, &result);
        assert_eq!(image & !found, 0, "{what} of {from:?} to {to} bits is {result:?}");
        precision.add(found, set(to, &best::<V>(to, image)));
    };
    for (a, set_a) in &elements.all {
        for to in WIDTH..=6 {
            check(a, V::zero_extend(WIDTH, to, a), to, *set_a, "zero extension");
            let extend = |value: u128| leno_domains::word::sign_extend(WIDTH, value, to);
            let image = members(*set_a).fold(0, |all, x| all | 1 << extend(x));
            check(a, V::sign_extend(WIDTH, to, a), to, image, "sign extension");
        }
        for low in 0..WIDTH {
            for to in 1..=WIDTH - low {
                let image = members(*set_a).fold(0, |all, x| all | 1 << (x >> low & mask(to)));
                check(a, V::extract(WIDTH, low, to, a), to, image, "a part");
            }
        }
    }
    assert!(precision.report(&format!("{name} casts")) > 0.5);
    let mut precision = Precision::default();
    for (low, set_low) in &elements.all {
        for high in [0b0001, 0b0110, 0b1000, 0b1111, 0b1100, 0b0101, 0b0000u128] {
            let image =
                members(high).fold(0, |all, x| all | members(*set_low).fold(0, |all, y| all | 1 << (x << 4 | y)));
            let high = best::<V>(2, high);
            let result = V::concat(6, 4, &high, low);
            let found = set(6, &result);
            assert_eq!(image & !found, 0, "{high:?} above {low:?} is {result:?}");
            precision.add(found, set(6, &best::<V>(6, image)));
        }
    }
    precision.report(&format!("{name} concatenation"));
}

fn predicates<V: Sample>(name: &str, elements: &Elements<V>) {
    for predicate in Predicate::ALL {
        let (mut decided, mut decidable) = (0u64, 0u64);
        let mut precision = Precision::default();
        let holding: Vec<Set> = (0..1 << WIDTH)
            .map(|x| (0..1 << WIDTH).filter(|&y| predicate.holds(WIDTH, x, y)).fold(0, |all, y| all | 1 << y))
            .collect();
        for (a, set_a) in &elements.all {
            // (Intervals are many: all of them against some.)
            for (b, set_b) in elements.all.iter().step_by(elements.all.len() / 200 + 1) {
                let truth = V::decide(predicate, WIDTH, a, b);
                let mut possible = 0;
                for holds in [true, false] {
                    let partners = |x: u128| set_b & if holds { holding[x as usize] } else { !holding[x as usize] };
                    let needed_a = members(*set_a).filter(|&x| partners(x) != 0).fold(0, |all, x| all | 1 << x);
                    let needed_b = members(*set_a).fold(0, |all, x| all | partners(x));
                    possible += u32::from(needed_a != 0);
                    assert!(needed_a == 0 || truth.contains(holds), "{predicate:?} of {a:?} and {b:?}: {truth:?}");
                    let (left, right) = V::assume(predicate, holds, WIDTH, a, b);
                    let (found_a, found_b) = (set(WIDTH, &left), set(WIDTH, &right));
                    let place = || format!("{predicate:?} is {holds}: {a:?} and {b:?} are {left:?} and {right:?}");
                    assert_eq!((needed_a & !found_a, needed_b & !found_b), (0, 0), "{}", place());
                    assert_eq!((found_a & !set_a, found_b & !set_b), (0, 0), "{}", place());
                    precision.add(found_a, elements.best[needed_a as usize]);
                    precision.add(found_b, elements.best[needed_b as usize]);
                }
                decidable += u64::from(possible == 1);
                decided += u64::from(possible == 1 && truth.decided().is_some());
            }
        }
        let share = decided as f64 / decidable as f64;
        println!("{name} {predicate:?}: {:.2}% of what can be decided is", share * 100.0);
        precision.report(&format!("{name} {predicate:?}, assumed"));
    }
}

fn backward<V: Sample>(elements: &Elements<V>) {
    // (Some elements, so that triples are not too many.)
    let some: Vec<&(V, Set)> = elements.all.iter().step_by(elements.all.len() / 25 + 1).collect();
    for (result, set_result) in &some {
        for op in Unary::ALL {
            for (a, set_a) in &some {
                let found = set(WIDTH, &V::unary_backward(op, WIDTH, a, result));
                let needed = members(*set_a).filter(|&x| set_result >> op.apply(WIDTH, x) & 1 == 1);
                assert_eq!(needed.fold(0, |all, x| all | 1 << x) & !found, 0, "{op:?} of {a:?} is {result:?}");
            }
        }
        for op in Binary::ALL {
            for (a, set_a) in &some {
                for (b, set_b) in &some {
                    let (left, right) = V::binary_backward(op, WIDTH, a, b, result);
                    for x in members(*set_a) {
                        for y in members(*set_b).filter(|&y| set_result >> op.apply(WIDTH, x, y) & 1 == 1) {
                            let is_kept = left.contains(WIDTH, x) && right.contains(WIDTH, y);
                            assert!(is_kept, "{op:?} of {a:?} and {b:?} is {result:?}: {left:?}, {right:?}");
                        }
                    }
                }
            }
        }
    }
    for (a, set_a) in &elements.all {
        for value in 0..64 {
            let result = V::constant(6, value);
            let zero = V::zero_extend_backward(WIDTH, 6, a, &result);
            let sign = V::sign_extend_backward(WIDTH, 6, a, &result);
            for x in members(*set_a) {
                assert!(x != value || zero.contains(WIDTH, x));
                assert!(leno_domains::word::sign_extend(WIDTH, x, 6) != value || sign.contains(WIDTH, x));
            }
        }
    }
}

fn everything<V: Sample>(name: &str, at_least: f64) {
    let elements = Elements::<V>::new();
    println!("{name}: {} elements", elements.all.len());
    unary(name, &elements);
    binary(name, &elements, at_least);
    casts(name, &elements);
    predicates(name, &elements);
    backward(&elements);
}

#[test]
fn intervals() {
    everything::<Interval>("interval", 0.5);
}

#[test]
fn known_bits() {
    everything::<KnownBits>("bits", 0.5);
}

#[test]
fn congruences() {
    everything::<Congruence>("congruence", 0.5);
}

#[test]
fn products() {
    everything::<Product>("product", 0.5);
}
