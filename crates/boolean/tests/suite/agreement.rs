//! Random programs: printed and parsed back, and decided by engines as by the interpreter of their trees.
//!
//! `LENO_BOOLEAN=2000` tries that many.

use crate::grow::{Shape, grow};
use crate::interpreter::is_violated;
use leno::{Bounds, CheckOptions, Task, Unwinding};
use leno_boolean::{compile_text, parse_text};
use leno_testing::count;
use leno_testing::engine::{ASSERTION, Answer, Engine, ask_with};

const WITHOUT_LOOPS: Shape = Shape { statements: 4, has_loops: false, has_calls: true };
const WITH_LOOPS: Shape = Shape { statements: 4, has_loops: true, has_calls: true };
const STATES: usize = 100_000;

#[test]
fn what_is_printed_is_parsed_back() {
    for seed in 0..10 * count("LENO_BOOLEAN", 150) {
        let tree = grow(seed, Shape { statements: 8, ..WITH_LOOPS });
        let text = tree.to_string();
        let again = parse_text("random.bp", &text).unwrap_or_else(|failure| panic!("{failure}\n{text}"));
        assert!(again == tree, "seed {seed} is another program after printing:\n{text}\n{again}");
    }
}

/// Loops are unrolled a few times: what the interpreter of trees says does not depend on it.
fn options(engine: Engine) -> CheckOptions {
    let unwinding = Unwinding { fixed: Some(3), named: Vec::new() };
    let bounds = Bounds { unwinding, ..Bounds::default() };
    CheckOptions { engine, task: Task { bounds, ..Task::new(ASSERTION) }, ..CheckOptions::default() }
}

/// An engine's verdict on a program against what the interpreter of its tree says.
fn compare(seed: u64, shape: Shape, engines: &[Engine]) -> Option<[Option<bool>; 3]> {
    let tree = grow(seed, shape);
    let expected = is_violated(&tree, 4, STATES)?;
    let text = tree.to_string();
    let program = compile_text("random.bp", &text).unwrap_or_else(|failure| panic!("{failure}\n{text}"));
    let mut found = [None; 3];
    for (at, engine) in engines.iter().enumerate() {
        let answer = ask_with(&program, &options(*engine));
        found[at] = answer.is_violated();
        match (&answer, expected) {
            (Answer::Safe, true) | (Answer::Unsafe(_), false) => {
                panic!("seed {seed}: {engine:?} says {answer:?}, but it is {expected} that it is violated:\n{text}")
            }
            _ => {}
        }
    }
    Some(found)
}

#[test]
fn engines_agree_with_the_interpreter_of_trees() {
    let programs = count("LENO_BOOLEAN", 150);
    let (mut compared, mut violated, mut proved) = (0, 0, 0);
    for seed in 0..programs {
        let Some([staged, explored, prover]) =
            compare(seed, WITHOUT_LOOPS, &[Engine::Staged, Engine::Explore, Engine::Prove])
        else {
            continue;
        };
        compared += usize::from(staged.is_some() && explored.is_some());
        violated += usize::from(staged == Some(true));
        proved += usize::from(prover == Some(false));
    }
    println!(
        "{programs} programs, {compared} compared, {violated} violated, {proved} proved for any number of threads"
    );
    assert!(compared as u64 > programs * 9 / 10, "only {compared} programs of {programs} were decided");
    assert!(violated > 10 && proved > 10, "{violated} violated, {proved} proved");
}

#[test]
fn loops_make_no_difference() {
    let programs = count("LENO_BOOLEAN", 150);
    let (mut violated, mut safe, mut proved) = (0, 0, 0);
    for seed in 0..programs {
        let Some([staged, prover, _]) = compare(1_000_000 + seed, WITH_LOOPS, &[Engine::Staged, Engine::Prove]) else {
            continue;
        };
        violated += usize::from(staged == Some(true));
        safe += usize::from(staged == Some(false));
        proved += usize::from(prover == Some(false));
    }
    println!(
        "{programs} programs, staged: {violated} violated, {safe} safe; {proved} proved for any number of threads"
    );
    assert!(violated > 10 && proved > 10, "{violated} violated, {proved} proved");
}
