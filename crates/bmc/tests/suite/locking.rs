//! Critical sections with several ends, waiting within them, and all the ways to get that wrong: the staged engine,
//! which says directly that sections exclude each other where it can, against exploration.
//!
//! `LENO_LOCKING=n` tries that many programs of each kind.

use crate::duel::{Kind, duel};
use leno_testing::Random;
use leno_testing::engine::{ASSERTION, DEADLOCK, RACE};

const GLOBALS: &str = "pthread_cond_t c, d; int x, y;";

fn statement(dice: &mut Random) -> String {
    let (amount, bound) = (1 + dice.below(2), dice.below(4));
    // (Who waits for one condition variable uses one mutex: POSIX.)
    let (lock, other, condition) = if dice.below(6) == 0 { ("n", "m", "d") } else { ("m", "n", "c") };
    let wakes = match dice.below(3) {
        0 => format!("pthread_cond_signal(&{condition});"),
        1 => format!("pthread_cond_broadcast(&{condition});"),
        _ => String::new(),
    };
    let place = dice.pick(&["x", "x", "y"]);
    let acts = match dice.below(5) {
        0 => format!("check({place} != {bound});"),
        1 => format!("if ({place} > {bound}) y += 1; else {place} += {amount};"),
        2 => format!("{place} = {amount};"),
        _ => format!("{place} += {amount};"),
    };
    let wait = format!("pthread_cond_wait(&{condition}, &{lock})");
    let inside = match dice.below(12) {
        0 | 1 => format!("while (x < {amount}) {wait}; {acts}"),
        2 => format!("if (x == {bound}) {wait}; {acts}"),
        3 => format!("if (b) {{ pthread_mutex_unlock(&{lock}); return 0; }} {acts}"),
        4 => format!("{acts} pthread_mutex_unlock(&{lock}); pthread_mutex_lock(&{lock}); {acts}"),
        5 => format!("while (x < {bound}) {{ x++; pthread_mutex_unlock(&{lock}); pthread_mutex_lock(&{lock}); }}"),
        6 => format!("pthread_mutex_lock(&{other}); {acts} pthread_mutex_unlock(&{other});"),
        7 => format!("{wait}; {acts}"),
        _ => format!("{acts} {wakes}"),
    };
    match dice.below(24) {
        0 => format!("if (!pthread_mutex_trylock(&{lock})) {{ {inside} pthread_mutex_unlock(&{lock}); }}"),
        1 => format!("if (b) pthread_mutex_lock(&{lock}); {acts} if (b) pthread_mutex_unlock(&{lock});"),
        2 => acts,
        3 => wakes,
        4 => format!("pthread_mutex_lock(&{lock}); pthread_mutex_lock(&{lock}); {acts}"),
        5 => format!("pthread_mutex_lock(&{lock}); {acts} if (b) pthread_mutex_unlock(&{lock});"),
        6 => format!("pthread_mutex_unlock(&{lock}); {acts}"),
        _ => format!("pthread_mutex_lock(&{lock}); {{ {inside} }} pthread_mutex_unlock(&{lock}); {wakes}"),
    }
}

#[test]
fn sections_exclude_each_other() {
    let kind = Kind { globals: GLOBALS, statement, set: "x", end: "x + y" };
    duel(&kind, ASSERTION, "LENO_LOCKING");
}

#[test]
fn and_what_they_guard_does_not_race() {
    let kind = Kind { globals: GLOBALS, statement, set: "x", end: "x + y" };
    duel(&kind, RACE, "LENO_LOCKING");
}

#[test]
fn and_deadlocks_are_the_same() {
    let kind = Kind { globals: GLOBALS, statement, set: "x", end: "x + y" };
    duel(&kind, DEADLOCK, "LENO_LOCKING");
}
