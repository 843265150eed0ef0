//! The lazy engine against exploration, on generated programs that end: two verdicts never contradict each other.
//!
//! `LENO_LAZY_AGREEMENT=2000` tries that many; `LENO_LAZY_AGREEMENT_FROM=n` starts elsewhere.

use leno::{CheckOptions, Task};
use leno_generate::{Shape, generate};
use leno_lazy::LazyEngine;
use leno_testing::count;
use leno_testing::engine::{ASSERTION, Engine, MEMORY, RACE, ask, ask_with};
use leno_testing::program::compile;
use std::collections::BTreeMap;

/// Deeper executions are not looked at here.
const DEPTH: u32 = 30;

#[test]
fn the_lazy_engine_never_contradicts_exploration() {
    let (from, programs) = (count("LENO_LAZY_AGREEMENT_FROM", 0), count("LENO_LAZY_AGREEMENT", 8));
    let (mut compared, mut violated, mut unknown) = (0, 0, BTreeMap::<String, u32>::new());
    for seed in from..from + programs {
        let program = generate(seed, &Shape::small());
        let compiled = compile(&program.to_preprocessed());
        for (name, properties) in [("assert", ASSERTION), ("race", RACE), ("memory", MEMORY)] {
            let lazy = LazyEngine { depth: Some(DEPTH), ..LazyEngine::default() };
            let task = Task::new(properties);
            let options = CheckOptions { engine: Engine::Lazy, lazy, task, ..CheckOptions::default() };
            let found = ask_with(&compiled, &options);
            let Some(is_violated) = found.is_violated() else {
                *unknown.entry(found.why_unknown().unwrap_or_default().to_string()).or_default() += 1;
                continue;
            };
            let Some(explored) = ask(&compiled, Engine::Explore, properties).is_violated() else { continue };
            assert_eq!(is_violated, explored, "{name} {seed}:\n{}", program.to_c());
            compared += 1;
            violated += u32::from(explored);
        }
    }
    println!("{compared} verdicts compared, {violated} of them violations; without a verdict: {unknown:#?}");
}
