//! The staged engine against exhaustive exploration, on generated programs: two verdicts never contradict each other.
//!
//! `LENO_AGREEMENT=5000` tries that many; `LENO_AGREEMENT_FROM=n` starts elsewhere, and a single one is printed;
//! `LENO_AGREEMENT_MODE=no-prune` does without pruning, `cssa` without summaries, `inline` and `summary` execute each
//! call where it is made and by a summary of its function; `states` asks the search of all states instead. Where one of them has no verdict there is nothing to
//! compare, which is counted.

use leno::{CheckOptions, Properties, Task};
use leno_generate::{Program, Shape, generate, shrink};
use leno_testing::count;
use leno_testing::engine::{
    ASSERTION, Answer, Calls, DEADLOCK, Engine, LEAK, MEMORY, MEMTRACK, Mode, RACE, StagedEngine, ask, ask_with,
};
use leno_testing::program::compile;
use std::collections::BTreeMap;

/// What exploration and the staged engine say.
fn answers(program: &Program, options: &CheckOptions) -> (Answer, Answer) {
    let compiled = compile(&program.to_preprocessed());
    (ask(&compiled, Engine::Explore, options.task.properties), ask_with(&compiled, options))
}

fn options(properties: Properties) -> CheckOptions {
    let mode = std::env::var("LENO_AGREEMENT_MODE").unwrap_or_default();
    let summaries = if mode == "cssa" { Mode::Cssa } else { Mode::Summaries };
    let calls = match mode.as_str() {
        "inline" => Calls::Inline,
        "summary" => Calls::Summary,
        _ => Calls::Auto,
    };
    let staged = StagedEngine { prune: mode != "no-prune", mode: summaries, calls };
    let engine = if mode == "states" { Engine::States } else { Engine::Staged };
    CheckOptions { engine, staged, task: Task::new(properties), ..CheckOptions::default() }
}

fn disagree(program: &Program, options: &CheckOptions) -> bool {
    let (explored, staged) = answers(program, options);
    matches!((explored.is_violated(), staged.is_violated()), (Some(a), Some(b)) if a != b)
}

#[test]
fn the_engines_never_contradict_each_other() {
    compare(&Shape::small(), count("LENO_AGREEMENT", 300), options);
}

#[test]
fn nor_on_floats() {
    compare(&Shape::floating(), count("LENO_AGREEMENT", 100), options);
}

#[test]
fn nor_where_atomic_sections_wait() {
    compare(&Shape::waiting(), count("LENO_AGREEMENT", 100), options);
}

/// Library calls on shared text, blocks whose variables are published, far indices, signals, freed memory, weak orders,
/// locks that are renewed.
#[test]
fn nor_on_pitfalls() {
    compare(&Shape::pitfalls(), count("LENO_AGREEMENT", 40), options);
}

/// Every call by a summary, wherever that is possible.
#[test]
fn summaries_of_functions_never_contradict_exploration() {
    let summaries = |properties| {
        let options = options(properties);
        CheckOptions { staged: StagedEngine { calls: Calls::Summary, ..options.staged }, ..options }
    };
    compare(&Shape::calling(), count("LENO_AGREEMENT", 150), summaries);
}

fn compare(shape: &Shape, programs: u64, options: impl Fn(Properties) -> CheckOptions) {
    let from = count("LENO_AGREEMENT_FROM", 0);
    let kinds = [
        ("assert", ASSERTION),
        ("race", RACE),
        ("memory", MEMORY),
        ("deadlock", DEADLOCK),
        ("leak", LEAK),
        ("memtrack", MEMTRACK),
        ("everything", Properties::DEFAULT),
    ];
    let (mut compared, mut violated, mut unknown) = (0, 0, BTreeMap::<String, Vec<String>>::new());
    for seed in from..from + programs {
        let program = generate(seed, shape);
        if programs == 1 {
            println!("{}", program.to_c());
        }
        for (name, properties) in kinds {
            let options = options(properties);
            let (explored, staged) = answers(&program, &options);
            let (Some(explored), Some(is_violated)) = (explored.is_violated(), staged.is_violated()) else {
                let reason = staged.why_unknown().unwrap_or("exploration has no verdict");
                unknown.entry(reason.to_string()).or_default().push(format!("{name} {seed}"));
                continue;
            };
            if explored != is_violated {
                let small = shrink(&program, |candidate| disagree(candidate, &options));
                let says = if explored { "unsafe" } else { "safe" };
                panic!(
                    "seed {seed}, {name}: exploration says {says}, the staged engine the opposite:\n{}",
                    small.to_c()
                );
            }
            compared += 1;
            violated += u32::from(explored);
        }
    }
    println!("{programs} programs, {compared} verdicts compared, {violated} violations; without one:");
    for (reason, seeds) in &unknown {
        println!("  {} {reason}: {}", seeds.len(), seeds[..seeds.len().min(5)].join(", "));
    }
    assert!(compared > programs as u32, "most programs are decided by both");
}
