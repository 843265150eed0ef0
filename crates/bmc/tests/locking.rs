//! Critical sections with several ends, waiting within them, and all the ways to get that wrong: the staged engine, which says directly that
//! sections exclude each other where it can, against exploration.
//!
//! `LENO_LOCKING=n` tries that many programs of each kind.

mod duel;

use duel::{Dice, Kind, duel};
use leno_bmc::{Staged, Task, check};
use leno_c::driver::{Input, Options, compile};
use leno_explore::Properties;
use leno_logic::limits::Limits;

const GLOBALS: &str = "typedef union { char s[48]; long a; } pthread_cond_t;\n\
    int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *); int pthread_cond_signal(pthread_cond_t *);\n\
    int pthread_cond_broadcast(pthread_cond_t *); int pthread_mutex_trylock(pthread_mutex_t *);\n\
    pthread_cond_t c; int x, y;";

fn statement(dice: &mut Dice) -> String {
    let (amount, bound) = (1 + dice.below(2), dice.below(4));
    let (lock, other) = if dice.below(6) == 0 { ("n", "m") } else { ("m", "n") };
    let wakes = dice.pick(&["pthread_cond_signal(&c);", "pthread_cond_broadcast(&c);", ""]);
    let place = dice.pick(&["x", "x", "y"]);
    let acts = match dice.below(5) {
        0 => format!("check({place} != {bound});"),
        1 => format!("if ({place} > {bound}) y += 1; else {place} += {amount};"),
        2 => format!("{place} = {amount};"),
        _ => format!("{place} += {amount};"),
    };
    let wait = format!("pthread_cond_wait(&c, &{lock})");
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
        3 => wakes.to_string(),
        4 => format!("pthread_mutex_lock(&{lock}); pthread_mutex_lock(&{lock}); {acts}"),
        5 => format!("pthread_mutex_lock(&{lock}); {acts} if (b) pthread_mutex_unlock(&{lock});"),
        6 => format!("pthread_mutex_unlock(&{lock}); {acts}"),
        _ => format!("pthread_mutex_lock(&{lock}); {{ {inside} }} pthread_mutex_unlock(&{lock}); {wakes}"),
    }
}

#[test]
fn sections_exclude_each_other() {
    let kind = Kind { globals: GLOBALS, statement, set: "x", end: "x + y" };
    duel(&kind, Properties { assertion: true, ..Properties::NONE }, "LENO_LOCKING");
}

#[test]
fn and_what_they_guard_does_not_race() {
    let kind = Kind { globals: GLOBALS, statement, set: "x", end: "x + y" };
    duel(&kind, Properties { race: true, ..Properties::NONE }, "LENO_LOCKING");
}

#[test]
fn and_deadlocks_are_the_same() {
    let kind = Kind { globals: GLOBALS, statement, set: "x", end: "x + y" };
    duel(&kind, Properties { deadlock: true, ..Properties::NONE }, "LENO_LOCKING");
}

/// Two who produce and two who consume, through a queue of one: a signal wakes one who sleeps, and nobody is woken twice. (Without that, there was a
/// "deadlock" in which a thread had been given a signal.)
#[test]
fn a_sleeper_is_woken_once() {
    let text = "typedef union { char s[40]; long a; } pthread_mutex_t; typedef unsigned long pthread_t;\n\
        int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);\n\
        int pthread_create(pthread_t *, const void *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);\n\
        typedef union { char s[48]; long a; } pthread_cond_t; int pthread_cond_signal(pthread_cond_t *);\n\
        int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *); pthread_cond_t full, empty; pthread_mutex_t m; int size;\n\
        void *produce(void *a) { for (int i = 0; i < 2; i++) { pthread_mutex_lock(&m);\n\
            while (size == 1) pthread_cond_wait(&full, &m);\n\
            pthread_cond_signal(&empty); size++; pthread_mutex_unlock(&m); } return 0; }\n\
        void *consume(void *a) { for (int i = 0; i < 2; i++) { pthread_mutex_lock(&m);\n\
            if (size == 0) pthread_cond_wait(&empty, &m);\n\
            pthread_cond_signal(&full); size--; pthread_mutex_unlock(&m); } return 0; }\n\
        int main(void) { pthread_t p[4]; for (int i = 0; i < 4; i++) pthread_create(&p[i], 0, i % 2 ? produce : consume, 0);\n\
            for (int i = 0; i < 4; i++) pthread_join(p[i], 0); return 0; }\n";
    let input = Input::Preprocessed { name: "queue.c".to_string(), text: text.as_bytes().to_vec() };
    let compiled = compile(&[input], &Options::default()).unwrap_or_else(|failure| panic!("{failure}"));
    let task = Task::new(Properties { deadlock: true, ..Properties::NONE });
    let (staged, _) = check(&compiled.program, &task, &Limits::default(), &|| false);
    assert_eq!(staged, Staged::Safe);
}
