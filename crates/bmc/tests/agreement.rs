//! The staged engine against exhaustive exploration, on generated programs: two verdicts never contradict each other.
//!
//! `LENO_AGREEMENT=5000` tries that many; `LENO_AGREEMENT_FROM=n` starts elsewhere; `LENO_AGREEMENT_MODE=no-prune` does without pruning, `cssa`
//! without summaries. Where one of them has no verdict there is
//! nothing to compare, which is counted.

use leno_bmc::{Mode, Staged, Task, check};
use leno_c::driver::{Input, Options, compile};
use leno_explore::{Limits, Properties, explore};
use leno_generate::{Program, Shape, generate, shrink};
use std::time::{Duration, Instant};

/// What both say: whether there is a violation.
struct Verdicts {
    explored: Option<bool>,
    staged: Option<bool>,
    reason: String,
}

fn verdicts(program: &Program, properties: Properties) -> Verdicts {
    let input = Input::Preprocessed { name: "generated.c".to_string(), text: program.to_preprocessed().into_bytes() };
    let Ok(compiled) = compile(&[input], &Options::default()) else { panic!("does not compile:\n{}", program.to_c()) };
    let end = Instant::now() + Duration::from_secs(2);
    let interrupted = |_: &leno_explore::Stats| Instant::now() > end;
    let explored = explore(&compiled.program, properties, &Limits { interrupted: &interrupted, depth: 10_000 });
    let explored = match (explored.finding, explored.incomplete) {
        (Some(finding), _) => (!finding.is_tainted).then_some(true),
        (None, Some(_)) => None,
        (None, None) => Some(false),
    };
    let limits = leno_logic::limits::Limits::until(Instant::now() + Duration::from_secs(2));
    let (staged, _) = check(&compiled.program, &task(properties), &limits, &|| false);
    let (staged, reason) = match staged {
        Staged::Safe => (Some(false), String::new()),
        Staged::Unsafe(_) => (Some(true), String::new()),
        Staged::Unknown(unknown) => (None, unknown.reason),
    };
    Verdicts { explored, staged, reason }
}

fn task(properties: Properties) -> Task {
    let mode = std::env::var("LENO_AGREEMENT_MODE").unwrap_or_default();
    let summaries = if mode == "cssa" { Mode::Cssa } else { Mode::Summaries };
    Task { prune: mode != "no-prune", mode: summaries, ..Task::new(properties) }
}

fn disagree(program: &Program, properties: Properties) -> bool {
    let verdicts = verdicts(program, properties);
    matches!((verdicts.explored, verdicts.staged), (Some(a), Some(b)) if a != b)
}

#[test]
fn the_engines_never_contradict_each_other() {
    compare(&Shape::small(), 300);
}

#[test]
fn nor_on_floats() {
    compare(&Shape::floating(), 100);
}

fn compare(shape: &Shape, usual: u64) {
    let number = |name: &str, default| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (from, count) = (number("LENO_AGREEMENT_FROM", 0u64), number("LENO_AGREEMENT", usual));
    let none = Properties::NONE;
    let kinds = [
        ("assert", Properties { assertion: true, ..none }),
        ("race", Properties { race: true, ..none }),
        ("memory", Properties { memory: true, ..none }),
        ("deadlock", Properties { deadlock: true, ..none }),
        ("everything", Properties::DEFAULT),
    ];
    let (mut compared, mut violated, mut unknown) = (0, 0, std::collections::BTreeMap::<String, Vec<String>>::new());
    for seed in from..from + count {
        let program = generate(seed, shape);
        for (name, properties) in kinds {
            let verdicts = verdicts(&program, properties);
            match (verdicts.explored, verdicts.staged) {
                (Some(explored), Some(staged)) if explored == staged => {
                    compared += 1;
                    violated += u32::from(explored);
                }
                (Some(explored), Some(_)) => {
                    let small = shrink(&program, |candidate| disagree(candidate, properties));
                    let says = if explored { "unsafe" } else { "safe" };
                    panic!(
                        "seed {seed}, {name}: exploration says {says}, the staged engine the opposite:\n{}",
                        small.to_c()
                    );
                }
                (_, None) => unknown.entry(verdicts.reason).or_default().push(format!("{name} {seed}")),
                (None, _) => {
                    unknown.entry("exploration has no verdict".to_string()).or_default().push(format!("{name} {seed}"))
                }
            }
        }
    }
    println!("{count} programs, {compared} verdicts compared, {violated} violations; without one:");
    for (reason, where_) in &unknown {
        println!("  {} {reason}: {}", where_.len(), where_[..where_.len().min(5)].join(", "));
    }
    assert!(compared > count as u32, "most programs are decided by both");
}
