//! Simplified terms mean what they meant before: random graphs of all operations, evaluated plainly and as terms.

mod plain;

use leno_logic::term::{Assignment, Evaluation, Terms};
use plain::{Op, Plain, Random, mask};

fn graphs() -> u64 {
    std::env::var("LENO_TERMS").ok().and_then(|text| text.parse().ok()).unwrap_or(3000)
}

/// Values for the variables, the same for the plain graph and for the terms.
fn random_values(plain: &Plain, random: &mut Random) -> Vec<u128> {
    let small = random.chance(30);
    let value = |node: &plain::PlainNode| match (node.op, node.width) {
        (Op::Variable, 0) => u128::from(random.chance(50)),
        (Op::Variable, width) if small => random.below(4) as u128 & mask(width),
        (Op::Variable, width) => random.constant(width),
        _ => 0,
    };
    plain.nodes.iter().map(value).collect()
}

#[test]
fn simplified_terms_mean_the_same() {
    for seed in 0..graphs() {
        let mut random = Random::new(seed);
        let size = 10 + random.below(60);
        let plain = Plain::any(&mut random, size);
        let mut terms = Terms::new();
        let built = plain.build(&mut terms);
        for round in 0..20 {
            let inputs = random_values(&plain, &mut random);
            let values = plain.evaluate(|number| inputs[number]);
            let mut assignment = Assignment::new();
            for (number, node) in plain.nodes.iter().enumerate() {
                if node.op == Op::Variable {
                    assignment.set(&terms, built[number], inputs[number]);
                }
            }
            let mut evaluation = Evaluation::new(&terms, &assignment);
            for (number, &term) in built.iter().enumerate() {
                let found = evaluation.value(term).number();
                assert_eq!(
                    found,
                    values[number],
                    "seed {seed}, round {round}, node {number}: {:?} of {:?} is {:?}",
                    plain.nodes[number],
                    plain.nodes[number].arguments.iter().map(|&n| values[n]).collect::<Vec<_>>(),
                    terms.node(term),
                );
                let known = terms.known(term);
                assert_eq!(found & known.zeros, 0, "seed {seed}: known zeros of {:?}", terms.node(term));
                assert_eq!(found & known.ones, known.ones, "seed {seed}: known ones of {:?}", terms.node(term));
            }
        }
    }
}
