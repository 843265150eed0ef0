//! Places to which threads add, in all the ways in which they do it right and wrong: the staged engine, which counts where it can, against exploration.
//!
//! `LENO_COUNTERS=n` tries that many programs.

use leno_bmc::{Staged, Task, check};
use leno_c::driver::{Input, Options, compile};
use leno_explore::{Limits, Properties, explore};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// A sequence of numbers that depends on the seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn statement(dice: &mut Dice) -> String {
    let (place, other) = (["x", "y"][dice.below(2) as usize], ["x", "y"][dice.below(2) as usize]);
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

fn program(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(77_777) + 5);
    for _ in 0..8 {
        dice.below(2);
    }
    let mut out = "typedef union { char s[40]; long a; } pthread_mutex_t; typedef unsigned long pthread_t;\n\
        int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);\n\
        int pthread_create(pthread_t *, const void *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);\n\
        void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); _Bool __VERIFIER_nondet_bool(void);\n\
        void reach_error(void);\n\
        static void check(int good) { if (!good) reach_error(); }\n\
        pthread_mutex_t m, n; int x, y; _Bool b;\n"
        .to_string();
    let threads = 2 + dice.below(2);
    for thread in 0..threads {
        let _ = writeln!(out, "void *t{thread}(void *a) {{");
        for _ in 0..1 + dice.below(3) {
            let _ = writeln!(out, "    {}", statement(&mut dice));
        }
        out.push_str("    return 0;\n}\n");
    }
    out.push_str("int main(void) {\n    pthread_t p[3];\n    b = __VERIFIER_nondet_bool();\n");
    if dice.below(2) == 0 {
        let _ = writeln!(out, "    x = {};", dice.below(4));
    }
    for thread in 0..threads {
        let _ = writeln!(out, "    pthread_create(&p[{thread}], 0, t{thread}, 0);");
    }
    if dice.below(4) == 0 {
        let _ = writeln!(out, "    {}", statement(&mut dice));
    }
    for thread in 0..threads - dice.below(2) {
        let _ = writeln!(out, "    pthread_join(p[{thread}], 0);");
    }
    let _ = writeln!(out, "    check(x + y != {});\n    return 0;\n}}", dice.below(8));
    out
}

#[test]
fn counting_is_the_same_as_looking() {
    let count = std::env::var("LENO_COUNTERS").ok().and_then(|n| n.parse().ok()).unwrap_or(150);
    let properties = Properties { assertion: true, ..Properties::NONE };
    let (mut compared, mut violated) = (0, 0);
    for seed in 0..count {
        let text = program(seed);
        let input = Input::Preprocessed { name: "counter.c".to_string(), text: text.clone().into_bytes() };
        let compiled = compile(&[input], &Options::default()).unwrap_or_else(|failure| panic!("{failure}\n{text}"));
        let end = Instant::now() + Duration::from_secs(2);
        let interrupted = |_: &leno_explore::Stats| Instant::now() > end;
        let explored = explore(&compiled.program, properties, &Limits { interrupted: &interrupted, depth: 10_000 });
        let limits = leno_logic::limits::Limits::until(Instant::now() + Duration::from_secs(5));
        let (staged, _) = check(&compiled.program, &Task::new(properties), &limits, &|| false);
        let staged = match staged {
            Staged::Safe => false,
            Staged::Unsafe(_) => true,
            Staged::Unknown(unknown) => {
                assert!(!unknown.reason.contains("does not confirm"), "seed {seed}: {}\n{text}", unknown.reason);
                continue;
            }
        };
        if explored.finding.is_some() || explored.incomplete.is_none() {
            assert_eq!(explored.finding.is_some(), staged, "seed {seed}: explored, and staged\n{text}");
            compared += 1;
            violated += u32::from(staged);
        }
    }
    println!("{count} programs, {compared} compared, {violated} violations");
    assert!(compared * 10 > count * 7 && violated > 0, "{compared} of {count} were compared");
}
