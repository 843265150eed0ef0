//! Simplified terms mean what they meant before: random graphs of all operations, evaluated plainly and as terms.

use crate::plain::{Op, Pieces, Plain, Random, mask};
use leno_logic::term::{Assignment, Evaluation, Substitution, Term, Terms, evaluate};

fn graphs() -> u64 {
    std::env::var("LENO_TERMS").ok().and_then(|text| text.parse().ok()).unwrap_or(3000)
}

/// Values for the variables, the same for the plain graph and for the terms.
fn random_values(plain: &Plain, random: &mut Random) -> Vec<u128> {
    let small = random.chance(30);
    let value = |node: &crate::plain::PlainNode| match (node.op, node.width) {
        (Op::Variable, 0) => u128::from(random.chance(50)),
        (Op::Variable, width) if small => random.below(4) as u128 & mask(width),
        (Op::Variable, width) => random.constant(width),
        _ => 0,
    };
    plain.nodes.iter().map(value).collect()
}

/// Builds the terms, and compares the values of all of them, and what is known of their bits, under random assignments.
fn compare(plain: &Plain, random: &mut Random, seed: u64) {
    let mut terms = Terms::new();
    let built = plain.build(&mut terms);
    for round in 0..20 {
        let inputs = random_values(plain, random);
        let values = plain.evaluate(|number| inputs[number]);
        let mut assignment = Assignment::new();
        for (number, node) in plain.nodes.iter().enumerate() {
            if node.op == Op::Variable {
                assignment.set(&terms, built[number], inputs[number]);
            }
        }
        let mut evaluation = Evaluation::new(&terms, &assignment);
        for (number, &term) in built.iter().enumerate() {
            let (found, node) = (evaluation.value(term).number(), &plain.nodes[number]);
            let place = || format!("seed {seed}, round {round}, node {number}: {node:?} is {:?}", terms.node(term));
            assert_eq!(found, values[number], "{}", place());
            let known = terms.known(term);
            assert_eq!((found & known.zeros, !found & known.ones), (0, 0), "{}: {known:?}", place());
        }
    }
}

#[test]
fn simplified_terms_mean_the_same() {
    for seed in 0..graphs() {
        let mut random = Random::new(seed);
        let size = 10 + random.below(60);
        compare(&Plain::any(&mut random, size), &mut random, seed);
    }
}

#[test]
fn long_sums_mean_the_same() {
    for seed in 0..graphs() / 10 {
        let mut random = Random::new(seed);
        compare(&Plain::long_sums(&mut random), &mut random, seed);
    }
}

/// A substitution means: the variable has the value of what takes its place.
#[test]
fn substituted_terms_mean_the_same() {
    for seed in 0..graphs() / 10 {
        let mut random = Random::new(seed);
        let plain = Plain::any(&mut random, 40);
        let mut terms = Terms::new();
        let built = plain.build(&mut terms);
        let variable = (0..built.len()).find(|&n| plain.nodes[n].op == Op::Variable).expect("there is one");
        let same_width: Vec<usize> =
            (0..built.len()).filter(|&n| plain.nodes[n].width == plain.nodes[variable].width).collect();
        let new = built[same_width[random.below(same_width.len())]];
        let mut substitution = Substitution::new(std::iter::once((built[variable], new)).collect());
        let changed: Vec<Term> = built.iter().map(|&term| substitution.apply(&mut terms, term)).collect();
        for _ in 0..10 {
            let inputs = random_values(&plain, &mut random);
            let mut before = Assignment::new();
            for number in (0..built.len()).filter(|&n| plain.nodes[n].op == Op::Variable) {
                before.set(&terms, built[number], inputs[number]);
            }
            let mut after = before.clone();
            after.set(&terms, built[variable], evaluate(&terms, new, &before).number());
            let (mut before, mut after) = (Evaluation::new(&terms, &before), Evaluation::new(&terms, &after));
            for (&old, &new) in built.iter().zip(&changed) {
                assert_eq!(before.value(new), after.value(old), "seed {seed}: {:?}", terms.node(old));
            }
        }
    }
}
