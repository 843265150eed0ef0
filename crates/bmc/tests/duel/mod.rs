//! Small programs of one kind, made of random statements: the staged engine against exploration.

use leno_bmc::{Staged, Task, check};
use leno_c::driver::{Input, Options, compile};
use leno_explore::{Limits, Properties, explore};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// A sequence of numbers that depends on the seed.
pub struct Dice(u64);

impl Dice {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    pub fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// What programs of a kind are made of.
pub struct Kind {
    pub globals: &'static str,
    pub statement: fn(&mut Dice) -> String,
    /// A global that may have a value before threads start.
    pub set: &'static str,
    /// What is checked at the end against a small number.
    pub end: &'static str,
}

fn program(kind: &Kind, seed: u64) -> String {
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
        pthread_mutex_t m, n; _Bool b;\n"
        .to_string();
    let _ = writeln!(out, "{}", kind.globals);
    let threads = 2 + dice.below(2);
    for thread in 0..threads {
        let _ = writeln!(out, "void *t{thread}(void *a) {{");
        for _ in 0..1 + dice.below(3) {
            let _ = writeln!(out, "    {}", (kind.statement)(&mut dice));
        }
        out.push_str("    return 0;\n}\n");
    }
    out.push_str("int main(void) {\n    pthread_t p[3];\n    b = __VERIFIER_nondet_bool();\n");
    if dice.below(2) == 0 {
        let _ = writeln!(out, "    {} = {};", kind.set, dice.below(4));
    }
    for thread in 0..threads {
        let _ = writeln!(out, "    pthread_create(&p[{thread}], 0, t{thread}, 0);");
    }
    if dice.below(4) == 0 {
        let _ = writeln!(out, "    {}", (kind.statement)(&mut dice));
    }
    for thread in 0..threads - dice.below(2) {
        let _ = writeln!(out, "    pthread_join(p[{thread}], 0);");
    }
    let _ = writeln!(out, "    check({} != {});\n    return 0;\n}}", kind.end, dice.below(8));
    out
}

/// Compares verdicts on programs of a kind: as many as the environment says, or 150.
pub fn duel(kind: &Kind, properties: Properties, variable: &str) {
    let count = std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(150);
    let (mut compared, mut violated) = (0, 0);
    for seed in 0..count {
        let text = program(kind, seed);
        let input = Input::Preprocessed { name: "random.c".to_string(), text: text.clone().into_bytes() };
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
