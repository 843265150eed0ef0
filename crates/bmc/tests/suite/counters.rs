//! Places to which threads add, in all the ways in which they do it right and wrong: the staged engine, which counts
//! where it can, against exploration.
//!
//! `LENO_COUNTERS=n` tries that many programs.

use crate::duel::{Kind, duel};
use leno_testing::Random;
use leno_testing::engine::ASSERTION;

fn statement(dice: &mut Random) -> String {
    let (place, other) = (dice.pick(&["x", "y"]), dice.pick(&["x", "y"]));
    let (amount, bound) = (dice.below(5) as i64 - 2, dice.below(7));
    let lock = if dice.below(6) == 0 { "n" } else { "m" };
    let add = match dice.below(9) {
        0 => format!("if ({place} < {bound}) {place} += {amount};"),
        1 => format!("{place} += {amount}; {place} += 1;"),
        2 => format!("int t = {place}; if (b) {place} = t + {amount}; else {place} = t + 1;"),
        3 => format!("{place} = {other} + {amount};"),
        4 => format!("{place} += {amount}; check({place} != {bound});"),
        5 => format!("if (b) {place} += {amount}; {other} += 1;"),
        6 => format!("{place} = {bound};"),
        _ => format!("{place} += {amount};"),
    };
    let section = format!("pthread_mutex_lock(&{lock}); {{ {add} }} pthread_mutex_unlock(&{lock});");
    match dice.below(8) {
        0 => format!("__sync_fetch_and_add(&{place}, {amount});"),
        1 => format!("if (__sync_fetch_and_add(&{place}, 1) == {bound}) __sync_fetch_and_add(&{other}, {amount});"),
        2 if dice.below(4) == 0 => format!("{place} += {amount};"),
        3 => format!("__VERIFIER_atomic_begin(); {{ {add} }} __VERIFIER_atomic_end();"),
        4 => format!("pthread_mutex_lock(&{lock}); check({place} != {bound}); pthread_mutex_unlock(&{lock});"),
        _ => section,
    }
}

#[test]
fn counting_is_the_same_as_looking() {
    let kind = Kind { globals: "int x, y;", statement, set: "x", end: "x + y" };
    duel(&kind, ASSERTION, "LENO_COUNTERS");
}
