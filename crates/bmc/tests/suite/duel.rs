//! Small programs of one kind, made of random statements: the staged engine against exploration.

use leno::Properties;
use leno_testing::Random;
use leno_testing::engine::{Engine, ask};
use leno_testing::program::compile_with_header;
use std::fmt::Write;

/// What programs of a kind are made of.
pub struct Kind {
    pub globals: &'static str,
    pub statement: fn(&mut Random) -> String,
    /// A global that may have a value before threads start.
    pub set: &'static str,
    /// What is checked at the end against a small number.
    pub end: &'static str,
}

fn program(kind: &Kind, seed: u64) -> String {
    let mut dice = Random::new(seed);
    let mut out =
        "static void check(int good) { if (!good) reach_error(); }\npthread_mutex_t m, n; _Bool b;\n".to_string();
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
    let count = leno_testing::count(variable, 150);
    let (mut compared, mut violated) = (0, 0);
    for seed in 0..count {
        let text = program(kind, seed);
        let compiled = compile_with_header(&text);
        let staged = ask(&compiled, Engine::Staged, properties);
        let is_doubtful = staged.why_unknown().is_some_and(|reason| reason.contains("does not confirm"));
        assert!(!is_doubtful, "seed {seed}: {staged:?}\n{text}");
        let Some(is_violated) = staged.is_violated() else { continue };
        let Some(explored) = ask(&compiled, Engine::Explore, properties).is_violated() else { continue };
        assert_eq!(explored, is_violated, "seed {seed}: explored, and staged\n{text}");
        compared += 1;
        violated += u32::from(is_violated);
    }
    println!("{count} programs, {compared} compared, {violated} violations");
    assert!(compared * 10 > count * 7 && violated > 0, "{compared} of {count} were compared");
}
