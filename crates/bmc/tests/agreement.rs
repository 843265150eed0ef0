//! The staged engine against exhaustive exploration, on generated programs: two verdicts never contradict each other.
//!
//! `LENO_AGREEMENT=5000` tries that many; `LENO_AGREEMENT_FROM=n` starts elsewhere, and a single one is printed; `LENO_AGREEMENT_MODE=no-prune` does without pruning, `cssa`
//! without summaries, `inline` and `summary` execute each call where it is made and by a summary of its function. Where one of them has no
//! verdict there is nothing to compare, which is counted.

use leno_bmc::{Calls, Mode, Staged, Task, check};
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

fn verdicts(program: &Program, task: &Task) -> Verdicts {
    let input = Input::Preprocessed { name: "generated.c".to_string(), text: program.to_preprocessed().into_bytes() };
    let Ok(compiled) = compile(&[input], &Options::default()) else { panic!("does not compile:\n{}", program.to_c()) };
    let end = Instant::now() + Duration::from_secs(2);
    let interrupted = |_: &leno_explore::Stats| Instant::now() > end;
    let explored = explore(&compiled.program, task.properties, &Limits { interrupted: &interrupted, depth: 10_000 });
    let explored = match (explored.finding, explored.incomplete) {
        (Some(finding), _) => (!finding.is_tainted).then_some(true),
        (None, Some(_)) => None,
        (None, None) => Some(false),
    };
    let limits = leno_logic::limits::Limits::until(Instant::now() + Duration::from_secs(2));
    let (staged, _) = check(&compiled.program, task, &limits, &|| false);
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
    let calls = match mode.as_str() {
        "inline" => Calls::Inline,
        "summary" => Calls::Summary,
        _ => Calls::Auto,
    };
    Task { prune: mode != "no-prune", mode: summaries, calls, ..Task::new(properties) }
}

fn disagree(program: &Program, task: &Task) -> bool {
    let verdicts = verdicts(program, task);
    matches!((verdicts.explored, verdicts.staged), (Some(a), Some(b)) if a != b)
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

#[test]
fn the_engines_never_contradict_each_other() {
    compare(&Shape::small(), number("LENO_AGREEMENT", 300), task);
}

#[test]
fn nor_on_floats() {
    compare(&Shape::floating(), number("LENO_AGREEMENT", 100), task);
}

#[test]
fn nor_where_atomic_sections_wait() {
    compare(&Shape::waiting(), number("LENO_AGREEMENT", 100), task);
}

/// Every call by a summary, wherever that is possible.
#[test]
fn summaries_of_functions_never_contradict_exploration() {
    let summaries = |properties| Task { calls: Calls::Summary, ..task(properties) };
    compare(&Shape::calling(), number("LENO_AGREEMENT", 150), summaries);
}

fn compare(shape: &Shape, count: u64, task: impl Fn(Properties) -> Task) {
    let from = number("LENO_AGREEMENT_FROM", 0);
    let none = Properties::NONE;
    let kinds = [
        ("assert", Properties { assertion: true, ..none }),
        ("race", Properties { race: true, ..none }),
        ("memory", Properties { memory: true, ..none }),
        ("deadlock", Properties { deadlock: true, ..none }),
        ("leak", Properties { leak: true, ..none }),
        ("memtrack", Properties { memtrack: true, ..none }),
        ("everything", Properties::DEFAULT),
    ];
    let (mut compared, mut violated, mut unknown) = (0, 0, std::collections::BTreeMap::<String, Vec<String>>::new());
    for seed in from..from + count {
        let program = generate(seed, shape);
        if count == 1 {
            println!("{}", program.to_c());
        }
        for (name, properties) in kinds {
            let task = task(properties);
            let verdicts = verdicts(&program, &task);
            match (verdicts.explored, verdicts.staged) {
                (Some(explored), Some(staged)) if explored == staged => {
                    compared += 1;
                    violated += u32::from(explored);
                }
                (Some(explored), Some(_)) => {
                    let small = shrink(&program, |candidate| disagree(candidate, &task));
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
