//! How fast the interpreter steps, and how fast it forks: `cargo bench -p leno-ir --bench interpreter`.

use leno_ir::interp::{Captured, Image, Machine, Options, Random, RoundRobin, Scheduler};
use std::time::Instant;

/// A loop over a register: assign, compare and branch.
const REGISTERS: &str = "program lp64 entry &start
fn &start(%argc: i32, %argv: ptr) {
  local %i: i32
  local %sum: i32
b0:
  %i = i32 0
  %sum = i32 0
  goto b1
b1:
  branch slt(%i, i32 20000000), b2, b3
b2:
  %sum = add(%sum, xor(%i, i32 5))
  %i = add(%i, i32 1)
  goto b1
b3:
  exit i32 0
}
";

/// The same with an array in memory.
const MEMORY: &str = "program lp64 entry &start
@a = global size 4096 align 4
fn &start(%argc: i32, %argv: ptr) {
  local %i: i32
  local %x: i32
b0:
  %i = i32 0
  goto b1
b1:
  branch slt(%i, i32 10000000), b2, b3
b2:
  %x = load i32 ptr_add(@a, mul(zext(and(%i, i32 1023) to i64), i64 4))
  store i32 ptr_add(@a, mul(zext(and(%i, i32 1023) to i64), i64 4)) = add(%x, %i)
  %i = add(%i, i32 1)
  goto b1
b3:
  exit i32 0
}
";

/// Calls of a function with a stack object.
const CALLS: &str = "program lp64 entry &start
fn &start(%argc: i32, %argv: ptr) {
  local %i: i32
b0:
  %i = i32 0
  goto b1
b1:
  branch slt(%i, i32 3000000), b2, b3
b2:
  %i = call &next(%i)
  goto b1
b3:
  exit i32 0
}
fn &next(%x: i32) -> i32 {
  local %y: i32
  slot $s size 4 align 4
b0:
  store i32 $s = add(%x, i32 1)
  %y = load i32 $s
  return %y
}
";

/// Fifteen threads that each take a lock and write two words of a table.
fn fifteen_threads() -> String {
    let mut spawns = String::new();
    for thread in 0..15 {
        spawns += &format!("  spawn &worker(i64 {thread}) -> i64 ptr_add($handles, i64 {})\n", thread * 8);
    }
    let mut joins = String::new();
    for thread in 0..15 {
        joins += &format!("  %h = load i64 ptr_add($handles, i64 {})\n  join %h\n", thread * 8);
    }
    format!(
        "program lp64 entry &start
@table = global size 128 align 8
@lock = global size 40 align 8
fn &start(%argc: i32, %argv: ptr) {{
  local %h: i64
  slot $handles size 120 align 8
b0:
{spawns}{joins}  exit i32 0
}}
fn &worker(%n: i64) -> i64 {{
  local %i: i64
  local %old: i32
b0:
  %i = i64 0
  goto b1
b1:
  branch ult(%i, i64 4), b2, b3
b2:
  mutex_lock @lock
  %old = load i32 ptr_add(@table, mul(xor(%n, %i), i64 8))
  store i32 ptr_add(@table, mul(xor(%n, %i), i64 8)) = add(%old, i32 1)
  mutex_unlock @lock
  %i = add(%i, i64 1)
  goto b1
b3:
  return %n
}}
"
    )
}

fn measure(name: &str, source: &str, scheduler: &mut dyn Scheduler) {
    let program = leno_ir::text::parse(source).expect("the program parses");
    let image = Image::new(&program);
    let mut machine = Machine::new(&image, &Options::default());
    let start = Instant::now();
    let outcome = machine.run(scheduler, &mut Captured::new(0), u64::MAX);
    let seconds = start.elapsed().as_secs_f64();
    println!("{name}: {:.1} million steps/s ({:?})", outcome.steps as f64 / seconds / 1e6, outcome.ending);
}

fn measure_executions(name: &str, source: &str) {
    let program = leno_ir::text::parse(source).expect("the program parses");
    let image = Image::new(&program);
    let initial = Machine::new(&image, &Options::default());
    let (mut steps, mut executions) = (0, 0);
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < 1.0 {
        let mut machine = initial.clone();
        steps += machine.run(&mut Random::new(executions), &mut Captured::new(0), u64::MAX).steps;
        executions += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    let (rate, speed) = (executions as f64 / seconds, steps as f64 / seconds / 1e6);
    println!("{name}: {rate:.0} executions/s of {} steps, {speed:.1} million steps/s", steps / executions);
}

/// How fast a machine with fifteen threads in the middle of their work is copied.
fn measure_forks(source: &str) {
    let program = leno_ir::text::parse(source).expect("the program parses");
    let image = Image::new(&program);
    let mut machine = Machine::new(&image, &Options::default());
    machine.run(&mut Random::new(1), &mut Captured::new(0), 250);
    let start = Instant::now();
    let mut threads = 0;
    for _ in 0..100_000 {
        threads = std::hint::black_box(machine.clone()).threads().len();
    }
    println!("forks: {:.2} µs each, with {threads} threads", start.elapsed().as_secs_f64() * 10.0);
}

/// Runs all benchmarks, or those whose names contain an argument.
fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()));
    for (name, source) in [("registers", REGISTERS), ("memory", MEMORY), ("calls", CALLS)] {
        if is_wanted(name) {
            measure(name, source, &mut RoundRobin::default());
        }
    }
    if is_wanted("forks") {
        measure_forks(&fifteen_threads());
    }
    if is_wanted("threads") {
        measure_executions("fifteen threads", &fifteen_threads());
    }
}
