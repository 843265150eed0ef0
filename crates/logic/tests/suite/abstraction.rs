//! An element contains what its term is: random graphs of all operations, random elements of variables, random
//! conditions.

use crate::plain::{Op, Pieces, Plain, Random, mask};
use leno_domains::{Congruence, Domain, Interval, KnownBits, Numbers, Product};
use leno_logic::abstraction::Abstraction;
use leno_logic::term::{Sort, Term, Terms};

/// A product around a value.
fn around(value: u128, width: u32, random: &mut Random) -> Product {
    let reach = |random: &mut Random| if random.chance(30) { random.constant(width) } else { random.below(20) as u128 };
    let (below, above) = (reach(random), reach(random));
    let (low, high) = (value.wrapping_sub(below) & mask(width), value.wrapping_add(above) & mask(width));
    let exactly = Interval::constant(width, value);
    let interval = exactly.join(&if random.chance(50) {
        Interval::arc(width, low, high)
    } else {
        Interval::unsigned(width, value.saturating_sub(below), value.saturating_add(above))
    });
    let modulus = if random.chance(50) { 1 } else { random.below(20) as u128 };
    let known = if random.chance(50) { 0 } else { random.constant(width) };
    let bits = KnownBits { zeros: !value & known, ones: value & known };
    let other = Congruence::constant(width, value.wrapping_add(modulus) & mask(width));
    Product::new(width, interval, Congruence::constant(width, value).join(&other), bits)
}

fn elements_contain_values<V: Numbers>(of: impl Fn(&Product) -> V) {
    let (mut narrowed, mut all) = (0u32, 0u32);
    for seed in 0..std::env::var("LENO_TERMS").ok().and_then(|text| text.parse().ok()).unwrap_or(1500) {
        let mut random = Random::new(seed);
        let size = 10 + random.below(60);
        let plain = Plain::any(&mut random, size);
        let mut terms = Terms::new();
        let built = plain.build(&mut terms);
        for _ in 0..5 {
            let small = random.chance(50);
            let inputs: Vec<u128> = plain
                .nodes
                .iter()
                .map(|node| match node.width {
                    0 => u128::from(random.chance(50)),
                    width if small => random.below(12) as u128 & mask(width),
                    width => random.constant(width),
                })
                .collect();
            let values = plain.evaluate(|number| inputs[number]);
            let is_bits = |number: &usize| plain.nodes[*number].op == Op::Variable && plain.nodes[*number].width > 0;
            let variables = (0..built.len()).filter(is_bits);
            let given =
                variables.map(|n| (built[n], of(&around(values[n], plain.nodes[n].width, &mut random)))).collect();
            let mut elements = Abstraction::new(given);
            let condition = true_condition(&mut terms, &built, &values, &mut random);
            for (number, &term) in built.iter().enumerate() {
                let (plainly, under) = (elements.of(&terms, term), elements.under(&terms, condition, term));
                let place = || format!("seed {seed}, node {number}: {:?} is {}", terms.node(term), values[number]);
                let width = terms.width(term).max(1);
                assert!(plainly.contains(width, values[number]), "{}, not in {plainly:?}", place());
                assert!(under.contains(width, values[number]), "{}, not in {under:?} under {condition:?}", place());
                all += 1;
                narrowed += u32::from(under != plainly && under.leq(&plainly));
            }
        }
    }
    println!("conditions say something about {narrowed} of {all} terms");
    assert!(narrowed * 100 > all, "conditions say something: of {all} terms, {narrowed}");
}

#[test]
fn intervals_contain_the_values_of_their_terms() {
    elements_contain_values(|product| *product.interval());
}

#[test]
fn bits_contain_the_values_of_their_terms() {
    elements_contain_values(|product| *product.bits());
}

#[test]
fn products_contain_the_values_of_their_terms() {
    elements_contain_values(|product| *product);
}

/// A conjunction of things that are true.
fn true_condition(terms: &mut Terms, built: &[Term], values: &[u128], random: &mut Random) -> Term {
    let truths: Vec<usize> = (0..built.len()).filter(|&n| terms.sort(built[n]) == Sort::Bool).collect();
    let mut all = Vec::new();
    for _ in 0..random.below(4).min(truths.len()) {
        let chosen = truths[random.below(truths.len())];
        all.push(if values[chosen] == 1 { built[chosen] } else { terms.not(built[chosen]) });
    }
    terms.and(&all)
}
