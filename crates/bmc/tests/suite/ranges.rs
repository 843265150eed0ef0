//! Arrays at symbolic places, and what lies beside them: the staged engine, which keeps apart what lies apart, against
//! exploration.
//!
//! `LENO_RANGES=n` tries that many programs.

use crate::duel::{Kind, duel};
use leno_testing::Random;
use leno_testing::engine::{ASSERTION, RACE};

fn statement(dice: &mut Random) -> String {
    let (index, other) = (dice.pick(&["i", "j", "q.in"]), dice.pick(&["i", "j", "q.in"]));
    let (step, size, bound) = (dice.below(4), 1 + dice.below(4), dice.below(6));
    let place = match dice.below(7) {
        0 => format!("q.ring[{index} & 3]"),
        1 => format!("q.ring[(unsigned){index} % {size}]"),
        2 => format!("q.ring[2 + ({index} & 1)]"),
        3 => format!("q.bytes[{index} & 7]"),
        4 => format!("q.ring[{index} >= 0 && {index} < {size} ? {index} : 3]"),
        5 => format!("*(&q.ring[1] + ({index} & 1))"),
        _ => dice.pick(&["q.ring[0]", "q.ring[3]", "q.in"]).to_string(),
    };
    let act = match dice.below(8) {
        0 => format!("{index} = ({other} + {step}) % {size};"),
        1 => format!("if ({index} < {bound}) {index}++;"),
        2 => format!("{index} = {place};"),
        3 => format!("{index} = (unsigned)({index} + {step}) % 4u;"),
        4 => format!("{place} = {index} - 1;"),
        5 => format!("if ({index} > 0 && {index} <= 3) q.ring[{index}] = {step}; else {index} = b;"),
        6 => format!("check({place} != {bound});"),
        _ => format!("{place} = {bound};"),
    };
    match dice.below(5) {
        0 => format!("{{ {act} }}"),
        1 => format!("__VERIFIER_atomic_begin(); {{ {act} }} __VERIFIER_atomic_end();"),
        _ => format!("pthread_mutex_lock(&m); {{ {act} }} pthread_mutex_unlock(&m);"),
    }
}

const KIND: Kind = Kind {
    globals: "struct { int ring[4]; unsigned char bytes[8]; int in; } q; int i, j;",
    statement,
    set: "j",
    end: "q.ring[0] + q.in",
};

#[test]
fn values_are_found_where_they_are() {
    duel(&KIND, ASSERTION, "LENO_RANGES");
}

#[test]
fn races_are_where_addresses_meet() {
    duel(&KIND, RACE, "LENO_RANGES");
}
