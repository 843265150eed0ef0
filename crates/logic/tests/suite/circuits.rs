//! Circuits compute what the operations mean: with all variables fixed, every bit of every term comes out right, in
//! both cores.

use crate::plain::{Op, Pieces, Plain, Random};
use leno_logic::blast::Blaster;
use leno_logic::core::batsat::Batsat;
use leno_logic::core::cadical::Cadical;
use leno_logic::core::{Answer, SatCore};
use leno_logic::limits::{Limits, Stop};
use leno_logic::literal::Lit;
use leno_logic::order::Order;
use leno_logic::term::{Sort, Term, Terms, Value, evaluate};
use std::cell::RefCell;
use std::rc::Rc;

fn compute_in(core: &mut dyn SatCore, seed: u64) {
    let mut random = Random::new(seed);
    let size = 10 + random.below(40);
    let plain = Plain::any(&mut random, size);
    let mut terms = Terms::new();
    let built = plain.build(&mut terms);
    let mut blaster = Blaster::new();
    let bits: Vec<Vec<Lit>> = built.iter().map(|&term| blaster.bits(&terms, term, core)).collect();
    for _ in 0..3 {
        let value = |node: &crate::plain::PlainNode| match node.width {
            0 => u128::from(random.chance(50)),
            width => random.constant(width),
        };
        let inputs: Vec<u128> = plain.nodes.iter().map(value).collect();
        let values = plain.evaluate(|number| inputs[number]);
        let mut assumptions = Vec::new();
        for (number, node) in plain.nodes.iter().enumerate() {
            if node.op == Op::Variable {
                let with = |(place, lit): (usize, &Lit)| lit.with_value(values[number] >> place & 1 == 1);
                assumptions.extend(bits[number].iter().enumerate().map(with));
            }
        }
        let answer = core.solve(&assumptions, &Limits::default());
        assert_eq!(answer, Answer::Satisfiable, "seed {seed}, {}: all inputs are possible", core.name());
        for (number, node) in plain.nodes.iter().enumerate() {
            let mut found = 0;
            for (place, &lit) in bits[number].iter().enumerate() {
                found |= u128::from(core.value(lit)) << place;
            }
            assert_eq!(found, values[number], "seed {seed}, {}: node {number}, {node:?}", core.name());
        }
    }
}

#[test]
fn circuits_compute() {
    for seed in 0..300 {
        compute_in(&mut Batsat::new(Rc::new(RefCell::new(Order::default()))), seed);
    }
    for seed in 300..450 {
        compute_in(&mut Cadical::new(Rc::new(RefCell::new(Order::default()))), seed);
    }
}

/// A chain of two hundred thousand operations: nothing recurses, neither when it is built nor when it is used.
#[test]
fn depth_is_no_problem() {
    let mut terms = Terms::new();
    let (x, step) = (terms.variable(Sort::Bits(8), "x"), terms.variable(Sort::Bits(8), "y"));
    let mut value = x;
    let mut conditions = Vec::new();
    for number in 0..50_000 {
        let condition = terms.variable(Sort::Bool, "c");
        let mixed = terms.bvxor(value, step);
        let small = terms.bits(8, number % 3);
        let next = terms.add(mixed, small);
        value = terms.ite(condition, next, value);
        conditions.push(condition);
    }
    let zero = terms.bits(8, 0);
    let goal = terms.eq(value, zero);
    let mut core = Batsat::new(Rc::new(RefCell::new(Order::default())));
    let mut blaster = Blaster::new();
    let mut assumptions: Vec<Lit> = conditions.iter().map(|&c| !blaster.literal(&terms, c, &mut core)).collect();
    assumptions.push(blaster.literal(&terms, goal, &mut core));
    assert_eq!(core.solve(&assumptions, &Limits::default()), Answer::Satisfiable);
    let assignment = blaster.assignment(&terms, |lit| core.value(lit));
    assert_eq!(evaluate(&terms, goal, &assignment), Value::Bool(true));
    let map = conditions.iter().map(|&condition| (condition, Term::FALSE)).collect();
    assert_eq!(terms.substitute(value, &map), x, "with all conditions false, nothing has happened");
}

/// Translation stops when it is asked to, and goes on from there.
#[test]
fn translation_can_be_stopped() {
    let mut terms = Terms::new();
    let [x, y] = ["x", "y"].map(|name| terms.variable(Sort::Bits(128), name));
    let mut value = x;
    for _ in 0..40 {
        let sum = terms.bvxor(value, y);
        value = terms.mul(value, sum);
    }
    let goal = terms.eq(value, x);
    let mut core = Batsat::new(Rc::new(RefCell::new(Order::default())));
    let mut blaster = Blaster::new();
    let limits = Limits::default();
    limits.cancel.request(Stop::Cancelled);
    assert_eq!(blaster.bits_within(&terms, goal, &mut core, &limits), Err(Stop::Cancelled));
    let begun = blaster.gates();
    let lit = blaster.literal(&terms, goal, &mut core);
    assert!(begun < 100_000 && blaster.gates() > 500_000, "{begun} of {} gates", blaster.gates());
    // 0 is equal to its product with anything.
    let inputs = [blaster.bits(&terms, x, &mut core), blaster.bits(&terms, y, &mut core)].concat();
    let assumptions: Vec<Lit> = inputs.into_iter().map(|lit| !lit).chain([lit]).collect();
    assert_eq!(core.solve(&assumptions, &Limits::default()), Answer::Satisfiable);
}
