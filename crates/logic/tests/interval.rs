//! An interval contains what its term is: random graphs of all operations, random intervals of variables, random conditions.

mod plain;

use leno_logic::interval::{Interval, Intervals};
use leno_logic::term::{Sort, Term, Terms};
use plain::{Op, Plain, Random, mask};

/// An interval around a value.
fn around(value: u128, width: u32, random: &mut Random) -> Interval {
    let reach = |random: &mut Random| if random.chance(30) { random.constant(width) } else { random.below(20) as u128 };
    let (below, above) = (reach(random), reach(random));
    Interval { low: value.saturating_sub(below), high: value.saturating_add(above).min(mask(width)) }
}

#[test]
fn intervals_contain_the_values_of_their_terms() {
    let (mut narrowed, mut all) = (0u32, 0u32);
    for seed in 0..std::env::var("LENO_TERMS").ok().and_then(|text| text.parse().ok()).unwrap_or(3000) {
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
            let given = variables.map(|n| (built[n], around(values[n], plain.nodes[n].width, &mut random))).collect();
            let mut intervals = Intervals::new(given);
            let condition = true_condition(&mut terms, &built, &values, &mut random);
            for (number, &term) in built.iter().enumerate() {
                let (plainly, under) = (intervals.of(&terms, term), intervals.under(&terms, condition, term));
                let place = || format!("seed {seed}, node {number}: {:?} is {}", terms.node(term), values[number]);
                assert!(plainly.contains(values[number]), "{}, not in {plainly:?}", place());
                assert!(under.contains(values[number]), "{}, not in {under:?} under {condition:?}", place());
                all += 1;
                narrowed += u32::from(under.high - under.low < plainly.high - plainly.low);
            }
        }
    }
    assert!(narrowed * 50 > all, "conditions say something: of {all} terms, {narrowed}");
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
