//! Runs small programs in the textual form and says in one line how they ended.

use leno_ir::interp::{Captured, Ending, Image, Machine, Options, Outcome, Random};
use leno_ir::program::Program;
use leno_ir::text;
use leno_ir::validate::validate;

pub const LIMIT: u64 = 1_000_000;

pub fn parse(source: &str) -> Program {
    let program = text::parse(source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    if let Err(found) = validate(&program) {
        panic!("{}\n{source}", found[0].explain(&program));
    }
    program
}

/// A program whose main thread runs `body`, with a few registers, slots and objects to play with.
pub fn program(body: &str, more: &str) -> Program {
    parse(&format!(
        "program lp64 entry &start
@a = global size 40 align 8 ; main.c:1:5
@x = global size 4 align 4 ; main.c:2:5
@y = global size 4 align 4 ; main.c:3:5
@m = global size 56 align 8 ; main.c:4:5
@n = global size 56 align 8 ; main.c:5:5
@c = global size 48 align 8 ; main.c:6:5
@text = constant size 6 align 1 {{ 0: \"hello\" }}
fn &start(%argc: i32, %argv: ptr) {{
  local %p: ptr
  local %q: ptr
  local %i: i32
  local %j: i32
  local %w: i64
  local %v: i64
  local %b: i1
  slot $s size 8 align 8
  slot $t size 8 align 8
  slot $u size 8 align 8
b0:
{body}
}}
{more}
"
    ))
}

pub fn describe(outcome: &Outcome) -> String {
    match &outcome.ending {
        Ending::Exited(status) => format!("exit {status}"),
        Ending::Aborted => "abort".to_string(),
        Ending::Violation(violation) => {
            format!("{}: {} [{}]", violation.kind.title(), violation.message, violation.thread_name)
        }
        Ending::Deadlock(blocked) => {
            let blocked: Vec<String> =
                blocked.iter().map(|blocked| format!("{} waits for {}", blocked.thread_name, blocked.reason)).collect();
            format!("deadlock: {}", blocked.join("; "))
        }
        Ending::Stopped => "stopped".to_string(),
        Ending::StepLimit => "step limit".to_string(),
    }
}

pub fn run_with(program: &Program, options: &Options, seed: u64) -> (String, Captured) {
    let mut env = Captured::new(seed);
    let outcome = leno_ir::interp::run(program, options, &mut Random::new(seed), &mut env, LIMIT);
    (describe(&outcome), env)
}

pub fn run(program: &Program, seed: u64) -> String {
    run_with(program, &Options::default(), seed).0
}

/// All the different endings over `seeds` random schedules, sorted.
pub fn endings(program: &Program, seeds: u64) -> Vec<String> {
    endings_with(program, &Options::default(), seeds)
}

pub fn endings_with(program: &Program, options: &Options, seeds: u64) -> Vec<String> {
    let image = Image::new(program);
    let initial = Machine::new(&image, options);
    let mut endings: Vec<String> = (0..seeds)
        .map(|seed| {
            let mut machine = initial.clone();
            describe(&machine.run(&mut Random::new(seed), &mut Captured::new(seed), LIMIT))
        })
        .collect();
    endings.sort();
    endings.dedup();
    endings
}

/// The body of the main thread, and how the program ends.
pub fn check(cases: &[(&str, &str)]) {
    for (body, expected) in cases {
        assert_eq!(run(&program(body, ""), 1), *expected, "\n{body}");
    }
}
