//! How many executions programs have: by closed formulas, and by what others have published. (`leno-lab explore` has
//! larger ones.)

use leno_c::driver::{Input, Options, compile};
use leno_engine::{Bounds, Context, Properties, Task};
use leno_explore::{Explored, explore};
use leno_ir::analysis::facts::Facts;
use leno_ir::program::Program;
use std::path::Path;

fn program(name: &str, defines: &[(&str, u64)]) -> Program {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/programs").join(format!("{name}.c"));
    let mut options = Options::default();
    options.preprocess.flags.extend(defines.iter().map(|(define, value)| format!("-D{define}={value}")));
    compile(&[Input::File(file)], &options).unwrap_or_else(|failure| panic!("{failure}")).program
}

fn explored(program: &Program) -> Explored {
    let bounds = Bounds { depth: 10_000, ..Bounds::default() };
    let properties = Properties { assertion: true, ..Properties::NONE };
    explore(&Facts::new(program), &Task { bounds, ..Task::new(properties) }, &Context::default())
}

/// Whether a program has so many executions, and none is given up as redundant.
fn has_executions(name: &str, defines: &[(&str, u64)], expected: u64) {
    let explored = explored(&program(name, defines));
    let found = (explored.stats.executions, explored.stats.redundant, explored.incomplete, explored.finding);
    assert_eq!(found, (expected, 0, None, None), "{name} {defines:?}");
}

fn factorial(n: u64) -> u64 {
    (1..=n).product()
}

/// In how many ways can n threads take k turns each?
fn turns(n: u64, k: u64) -> u64 {
    factorial(n * k) / factorial(k).pow(n as u32)
}

#[test]
fn old_races_are_planned_again() {
    for n in 3..=6 {
        has_executions("sigma", &[("N", n)], (1..=n).map(|i| 2 * i - 1).product());
    }
}

/// An execution that is found only if the races of old events are planned again at the end of each execution.
#[test]
fn an_execution_that_needs_an_old_race() {
    let explored = explored(&program("sigma", &[("N", 7), ("MISSED", 1)]));
    assert!(explored.finding.is_some(), "{:?}", explored.stats);
}

#[test]
fn closed_formulas() {
    for (n, k) in [(2, 6), (3, 3), (6, 1)] {
        has_executions("writers", &[("N", n), ("K", k)], turns(n, k));
        has_executions("tickets", &[("N", n), ("K", k)], turns(n, k));
        has_executions("locks", &[("N", n), ("K", k)], turns(n, k));
    }
    for n in 2..=4 {
        has_executions("increments", &[("N", n)], factorial(n).pow(2));
    }
    has_executions("ring", &[("N", 10)], (1 << 10) - 1);
    has_executions("observers", &[("N", 6), ("K", 3)], 4_u64.pow(5));
    has_executions("readers", &[("N", 10)], 1 << 10);
}

#[test]
fn published_numbers() {
    has_executions("lastzero", &[("N", 10)], 3_328);
    has_executions("filesystem", &[("N", 16)], 16);
    has_executions("indexer", &[("N", 13)], 64);
    for (n, expected) in [(3, 15), (4, 130), (5, 2_028)] {
        has_executions("coherence", &[("N", n)], expected);
    }
}

/// A failing compare-exchange is a read.
#[test]
fn failing_exchanges_commute() {
    for (n, expected) in (2..).zip([2, 5, 14, 43, 144, 523, 2_048]) {
        has_executions("casrot", &[("N", n)], expected);
        has_executions("wcas", &[("N", n + 1)], n * (1 << (n - 1)) + 1);
    }
    for (n, expected) in [(2, 6), (3, 66), (4, 1_200)] {
        has_executions("casw", &[("N", n)], expected);
    }
}

#[test]
fn additions_whose_result_is_not_used_commute() {
    has_executions("adders", &[("N", 9), ("READERS", 0)], 1);
    for n in 1..=8 {
        has_executions("adders", &[("N", n), ("READERS", 1)], 1 << (n - 1));
    }
}
