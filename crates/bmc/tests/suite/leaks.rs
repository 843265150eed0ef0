//! Leaks: the staged engine against exhaustive exploration, on programs that allocate, free, forget, and end anywhere.
//!
//! `LENO_AGREEMENT=2000` tries that many. What is lost may be left without a verdict, what is left may not.

use leno_ir::program::Reuse;
use leno_testing::Random;
use leno_testing::engine::{Answer, Engine, LEAK, MEMTRACK, ask};
use leno_testing::program::compile_with_header;
use std::fmt::Write;

const GLOBALS: &str = "struct node { struct node *next; long value; } *a, *b;
_Atomic int q;
pthread_mutex_t m;
pthread_t t[3];
";

fn statement(random: &mut Random, out: &mut String) {
    let place = ["a", "b"][random.below(2)];
    let other = ["a", "b"][random.below(2)];
    let _ = match random.below(12) {
        0 | 1 => writeln!(out, "{{ struct node *n = malloc(16); n->next = 0; {place} = n; }}"),
        2 => writeln!(out, "{place} = {other};"),
        3 => writeln!(out, "{place} = 0;"),
        4 | 5 => writeln!(
            out,
            "pthread_mutex_lock(&m); {{ struct node *n = {place}; {place} = 0; if ({other} == n) {other} = 0; free(n); }} pthread_mutex_unlock(&m);"
        ),
        6 => writeln!(out, "{{ void *n = malloc(8); q++; free(n); }}"),
        7 => writeln!(out, "if (q == {}) {place} = 0;", random.below(3)),
        8 => writeln!(
            out,
            "__VERIFIER_atomic_begin(); {{ void *n = malloc(8); q++; free(n); }} __VERIFIER_atomic_end();"
        ),
        9 => writeln!(out, "if (q == {}) exit(0);", random.below(3)),
        10 => writeln!(out, "if (q == {}) abort();", random.below(3)),
        _ => writeln!(out, "q++;"),
    };
}

fn random_program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::new();
    for thread in 0..2 {
        let _ = writeln!(text, "void *t{thread}(void *unused) {{");
        for _ in 0..1 + random.below(3) {
            statement(&mut random, &mut text);
        }
        text.push_str("return 0; }\n");
    }
    text.push_str("int main(void) {\npthread_create(&t[0], 0, t0, 0);\npthread_create(&t[1], 0, t1, 0);\n");
    statement(&mut random, &mut text);
    for thread in 0..2 {
        if random.below(3) > 0 {
            let _ = writeln!(text, "pthread_join(t[{thread}], 0);");
        }
    }
    if random.below(2) > 0 {
        text.push_str("free(a); if (a != b) free(b);\n");
    }
    text.push_str(if random.below(4) == 0 { "pthread_exit(0); }\n" } else { "return 0; }\n" });
    text
}

#[test]
fn leaks_are_those_that_exploration_finds() {
    let count = leno_testing::count("LENO_AGREEMENT", 60);
    let (mut compared, mut positive, mut unknown) = (0, 0, 0);
    for seed in 0..count {
        let text = random_program(seed);
        let program = compile_with_header(&format!("{GLOBALS}{text}"));
        for properties in [LEAK, MEMTRACK] {
            let Some(truth) = ask(&program, Engine::Explore, properties).is_violated() else { continue };
            match ask(&program, Engine::Staged, properties) {
                Answer::Unknown(reason) if properties == LEAK && program.reuse == Reuse::Unnoticed => {
                    panic!("{reason}, seed {seed}\n{text}")
                }
                Answer::Unknown(_) => {
                    unknown += 1;
                    continue;
                }
                staged => assert_eq!(staged.is_violated(), Some(truth), "{properties:?}, seed {seed}\n{text}"),
            }
            compared += 1;
            positive += u64::from(truth);
        }
    }
    println!("{compared} answers compared on {count} programs, {positive} of them leaks; {unknown} without a verdict");
    assert!(compared > count && positive > 0 && positive < compared, "{compared} compared, {positive} leaks");
}
