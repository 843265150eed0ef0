//! Threads, schedules, atomic sections, calls, and the ends of executions.

use crate::harness::{check, describe, endings, parse, program, run, run_with};
use leno_ir::interp::{
    Captured, Environment, Image, MAIN, Machine, Options, Random, RoundRobin, Scheduler, StepResult, ThreadId, Wait,
};
use leno_ir::program::*;
use std::hash::{DefaultHasher, Hash, Hasher};

#[test]
fn a_thread_returns_a_word_and_has_a_name() {
    let worker = "fn &worker(%n: i64) -> i64 {\nb0:\n  return mul(%n, i64 2)\n}";
    let body = "  spawn &worker(i64 21) -> i64 $s\n  %w = load i64 $s\n  %v = join %w\n  exit trunc(%v to i32)";
    assert_eq!(run(&program(body, worker), 0), "exit 42");

    let tree = "fn &worker(%n: i64) -> i64 {\nb0:\n  spawn &leaf(%n)\n  spawn &leaf(%n)\n  return %n\n}\n\
                fn &leaf(%n: i64) -> i64 {\nb0:\n  return %n\n}";
    let program = program("  spawn &worker(i64 0)\n  spawn &worker(i64 0)\n  thread_exit i64 0", tree);
    let image = Image::new(&program);
    let mut machine = Machine::new(&image, &Options::default());
    let outcome = machine.run(&mut Random::new(3), &mut Captured::new(0), 1000);
    assert_eq!(describe(&outcome), "exit 0");
    let mut names: Vec<&str> = machine.threads().iter().map(|thread| thread.name.as_str()).collect();
    names.sort();
    assert_eq!(names, ["main", "main.1", "main.1.1", "main.1.2", "main.2", "main.2.1", "main.2.2"]);
}

#[test]
fn handles_are_checked() {
    let worker = "fn &worker(%n: i64) -> i64 {\nb0:\n  return %n\n}";
    let cases = [
        ("  join i64 7\n  exit i32 0", "invalid thread handle: 0x7 is not the handle of a thread [main]"),
        ("  join i64 0\n  exit i32 0", "invalid thread handle: 0x0 is not the handle of a thread [main]"),
        (
            "  spawn &worker(i64 1)\n  join i64 2\n  join i64 2\n  exit i32 0",
            "invalid thread handle: main.1 has already been joined or detached [main]",
        ),
        (
            "  spawn &worker(i64 1)\n  detach i64 2\n  join i64 2\n  exit i32 0",
            "invalid thread handle: main.1 has already been joined or detached [main]",
        ),
        ("  spawn &worker(i64 1)\n  detach i64 2\n  exit i32 0", "exit 0"),
        ("  %w = thread_self\n  join %w\n  exit i32 0", "invalid thread handle: main joins itself [main]"),
        (
            "  spawn &worker(i64 1) -> i64 null\n  exit i32 0",
            "null dereference: write of 8 bytes through a null pointer [main]",
        ),
        ("  spawn @x(i64 1)\n  exit i32 0", "call of what is not a function: call of x, which is no function [main]"),
    ];
    for (body, expected) in cases {
        assert_eq!(run(&program(body, worker), 0), expected, "\n{body}");
    }
}

#[test]
fn executions_end() {
    check(&[
        ("  exit i32 3", "exit 3"),
        ("  return", "exit 0"),
        ("  abort", "abort"),
        ("  thread_exit i64 5", "exit 0"),
        ("  unreachable", "unreachable place reached: control reached a place that it never should [main]"),
        ("  assume false\n  exit i32 0", "stopped"),
        ("  assume true\n  exit i32 0", "exit 0"),
        ("  assert false, assertion, \"i == j\"\n  exit i32 0", "assertion violated: i == j [main]"),
        ("  assert false, division_by_zero\n  exit i32 0", "division by zero: division by zero [main]"),
        ("  goto b0", "step limit"),
        ("  call *null()\n  exit i32 0", "call of what is not a function: call of null, which is no function [main]"),
        ("  call *@x()\n  exit i32 0", "call of what is not a function: call of x, which is no function [main]"),
    ]);
}

#[test]
fn exit_ends_everybody_and_the_end_of_main_does_not() {
    let forever = "fn &worker(%n: i64) -> i64 {\nb0:\n  goto b0\n}";
    assert_eq!(run(&program("  spawn &worker(i64 1)\n  exit i32 4", forever), 0), "exit 4");
    let worker = "fn &worker(%n: i64) -> i64 {\n  local %i: i32\nb0:\n  %i = load i32 @x\n  exit i32 9\n}";
    assert_eq!(run(&program("  spawn &worker(i64 1)\n  thread_exit i64 0", worker), 0), "exit 9");
}

#[test]
fn calls_make_widths_fit() {
    let callee = "fn &callee(%a: i8, %b: i64, %c: i32) -> i64 {\nb0:\n  return add(zext(%a to i64), %b)\n}\n\
                  fn &nothing() {\nb0:\n  return\n}";
    let cases = [
        // 0x101 is cut to 1; the second is zero-extended; the third is missing and unused.
        ("  %w = call *&callee(i32 0x101, i32 -1)\n  exit trunc(%w to i32)", "exit 0"),
        ("  %w = call *&callee(i32 0x101, i32 -1, i32 1, i32 2)\n  exit trunc(lshr(%w, i64 32) to i32)", "exit 1"),
        ("  %i = call *&callee(i8 1, i64 2)\n  exit %i", "exit 3"),
        (
            "  %i = call *&callee(i8 1)\n  exit %i",
            "use of an uninitialised value: the exit status is an uninitialised value [main]",
        ),
        (
            "  %i = call *&nothing()\n  exit %i",
            "use of an uninitialised value: the exit status is an uninitialised value [main]",
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(run(&program(body, callee), 0), expected, "\n{body}");
    }
}

#[test]
fn deep_recursion_is_a_stack_overflow_not_a_crash() {
    let callee = "fn &f(%a: i32) -> i32 {\n  local %b: i32\nb0:\n  %b = call &f(add(%a, i32 1))\n  return %b\n}";
    let options = Options { call_depth_limit: 10_000, ..Options::default() };
    let ending = run_with(&program("  %i = call &f(i32 0)\n  exit %i", callee), &options, 0).0;
    assert_eq!(ending, "stack overflow: 10001 calls are active [main]");
}

#[test]
fn thread_locals_are_fresh_in_each_thread_and_die_with_it() {
    let source = "program lp64 entry &start
@t = thread_local size 4 align 4 { 0: \"\\x07\" }
@p = global size 8 align 8
fn &start(%argc: i32, %argv: ptr) {
  local %i: i32
  local %q: ptr
b0:
  store i32 @t = i32 1
  spawn &worker(i64 0)
  join i64 2
  %i = load i32 @t
  assert eq(%i, i32 1), assertion
  %q = load ptr @p
  %i = load i32 %q
  exit i32 0
}
fn &worker(%n: i64) -> i64 {
  local %i: i32
b0:
  %i = load i32 @t
  assert eq(%i, i32 7), assertion
  store i32 @t = i32 2
  store ptr @p = @t
  return %n ; main.c:7:1
}";
    assert_eq!(
        run(&parse(source), 0),
        "use of a dead local object: read of 4 bytes at offset 0 of `t` (4 bytes), dead since main.c:7 by main.1 [main]"
    );
}

#[test]
fn a_false_assumption_stops_one_thread() {
    let worker = "fn &worker(%n: i64) -> i64 {\nb0:\n  store i32 @x = i32 1\n  assume false\n  return %n\n}";
    let body =
        "  spawn &worker(i64 1)\n  goto b1\nb1:\n  %i = load i32 @x\n  branch eq(%i, i32 0), b1, b2\nb2:\n  exit i32 5";
    assert_eq!(endings(&program(body, worker), 50), ["exit 5"]);
    // Waiting for it is not a deadlock of the program.
    let body = "  spawn &worker(i64 1)\n  join i64 2\n  exit i32 0";
    assert_eq!(endings(&program(body, worker), 50), ["stopped"]);
}

#[test]
fn nobody_sees_half_of_a_section_that_an_assumption_stopped() {
    let worker = "fn &worker(%n: i64) -> i64 {\nb0:\n  atomic_begin\n  store i32 @x = i32 1\n  assume false\n  atomic_end\n  return %n\n}";
    let body = "  spawn &worker(i64 1)\n  %i = load i32 @x\n  exit %i";
    assert_eq!(endings(&program(body, worker), 50), ["exit 0", "stopped"]);
}

/// A thread that blocks in a section lets others run, and has the section again when it goes on.
#[test]
fn a_section_is_split_where_it_blocks() {
    let worker = "fn &worker(%n: i64) -> i64 {
  local %i: i32
b0:
  atomic_begin
  sem_wait @m
  store i32 @x = i32 1
  store i32 @y = i32 1
  atomic_end
  return %n
}";
    let body = "  spawn &worker(i64 1)\n  sem_post @m\n  %i = load i32 @x\n  %j = load i32 @y\n  exit add(mul(%i, i32 10), %j)";
    assert_eq!(endings(&program(body, worker), 400), ["exit 0", "exit 1", "exit 11"]);
}

#[test]
fn read_modify_write_is_indivisible() {
    let worker = "fn &worker(%n: i64) -> i64 {\n  local %i: i32\nb0:\n  %i = rmw add seq_cst i32 @x, i32 1\n  \
                  %i = rmw add seq_cst i32 @x, i32 1\n  return %n\n}";
    let body =
        "  spawn &worker(i64 1)\n  spawn &worker(i64 1)\n  join i64 2\n  join i64 3\n  %i = load i32 @x\n  exit %i";
    assert_eq!(endings(&program(body, worker), 100), ["exit 4"]);
    check(&[
        ("  store i32 @x = i32 12\n  rmw nand i32 @x, i32 10\n  %i = load i32 @x\n  exit %i", "exit -9"),
        ("  store i32 @x = i32 12\n  rmw xor i32 @x, i32 10\n  %i = load i32 @x\n  exit %i", "exit 6"),
        (
            "  store i32 @x = i32 12\n  %j = rmw exchange i32 @x, i32 10\n  %i = load i32 @x\n  exit add(mul(%j, i32 100), %i)",
            "exit 1210",
        ),
        (
            "  store i32 @x = i32 12\n  %b, %j = cmpxchg seq_cst i32 @x, i32 12, i32 13, failure seq_cst\n  %i = load i32 @x\n  \
          exit add(mul(%j, i32 100), add(%i, zext(%b to i32)))",
            "exit 1214",
        ),
        (
            "  store i32 @x = i32 12\n  %b, %j = cmpxchg seq_cst i32 @x, i32 11, i32 13, failure seq_cst\n  %i = load i32 @x\n  \
          exit add(mul(%j, i32 100), add(%i, zext(%b to i32)))",
            "exit 1212",
        ),
    ]);
}

#[test]
fn arguments_reach_the_program() {
    let body = "  %p = load ptr ptr_add(%argv, i64 8)\n  %b = eq(%argc, i32 2)\n  assert %b, assertion\n  \
                %q = load ptr ptr_add(%argv, i64 16)\n  assert eq(%q, null), assertion\n  %i = load i32 %p\n  exit %i";
    let command = vec![b"prog".to_vec(), b"abc".to_vec()];
    let started = Program { command, ..program(body, "") };
    assert_eq!(run_with(&started, &Options::default(), 0).0, format!("exit {}", i32::from_le_bytes(*b"abc\0")));
}

#[test]
fn unknown_functions_return_anything_and_taint() {
    let source = "program lp64 entry &start
fn &start(%argc: i32, %argv: ptr) {
  local %i: i32
  slot $s size 4 align 4
b0:
  %i = call &mystery($s)
  %i = load i32 $s
  exit and(%i, i32 1)
}
fn &mystery(%p: ptr) -> i32 external
";
    let program = parse(source);
    let mut endings = Vec::new();
    for seed in 0..40 {
        let outcome =
            leno_ir::interp::run(&program, &Options::default(), &mut Random::new(seed), &mut Captured::new(seed), 100);
        assert!(outcome.tainted);
        endings.push(describe(&outcome));
    }
    endings.sort();
    endings.dedup();
    assert_eq!(endings, ["exit 0", "exit 1"]);
}

/// Blocked steps change nothing; enabled ones are those that step; a clone goes its own way.
#[test]
fn questions_and_steps_agree() {
    let worker = "fn &worker(%n: i64) -> i64 {\n  local %i: i32\nb0:\n  mutex_lock @m\n  %i = load i32 @x\n  store i32 @x = add(%i, i32 1)\n  \
                  mutex_unlock @m\n  return %n\n}";
    let body =
        "  spawn &worker(i64 1)\n  spawn &worker(i64 1)\n  join i64 2\n  join i64 3\n  %i = load i32 @x\n  exit %i";
    let program = program(body, worker);
    let image = Image::new(&program);
    for seed in 0..100 {
        let mut machine = Machine::new(&image, &Options::default());
        let mut env = Captured::new(seed);
        let mut random = Random::new(seed);
        loop {
            let hash = |machine: &Machine<'_>| {
                let mut hasher = DefaultHasher::new();
                machine.hash(&mut hasher);
                hasher.finish()
            };
            for thread in machine.threads().ids() {
                let mut copy = machine.clone();
                let (before, wait) = (hash(&copy), copy.wait(thread));
                match copy.step(thread, &mut env) {
                    StepResult::Blocked => {
                        assert!(wait.is_some());
                        assert_eq!(hash(&copy), before);
                    }
                    _ => assert_eq!(wait, None),
                }
            }
            let enabled = machine.enabled_threads();
            let chosen = random.choose(&machine, &enabled);
            if let StepResult::Exited(status) = machine.step(chosen, &mut env) {
                assert_eq!(status, 2);
                break;
            }
        }
    }
}

/// A step that is not visible gives the same state whether it comes before or after another thread's step.
#[test]
fn invisible_steps_commute() {
    let worker = "fn &worker(%n: i64) -> i64 {
  local %p: ptr
  local %i: i32
  local %w: i64
b0:
  %p = allocate heap i64 8 align 8
  %w = call &leaf(%n)
  store i64 %p = %w
  %i = load i32 @x
  store i32 @x = add(%i, i32 1)
  free %p
  %p = allocate stack i64 8 align 8
  return %w
}
fn &leaf(%n: i64) -> i64 {
  local %v: i64
  slot $k size 8 align 8
b0:
  store i64 $k = %n
  %v = load i64 $k
  return %v
}";
    let program =
        program("  spawn &worker(i64 1)\n  spawn &worker(i64 2)\n  spawn &worker(i64 3)\n  thread_exit i64 0", worker);
    let image = Image::new(&program);
    let mut compared = 0;
    for seed in 0..60 {
        let mut machine = Machine::new(&image, &Options::default());
        let mut env = Captured::new(seed);
        let mut random = Random::new(seed);
        while !machine.is_over() {
            let enabled = machine.enabled_threads();
            for first in enabled.iter().filter(|thread| !machine.is_visible(**thread)) {
                for second in enabled.iter().filter(|thread| *thread != first) {
                    compared += 1;
                    assert_commute(&machine, *first, *second, &mut env);
                }
            }
            let chosen = random.choose(&machine, &enabled);
            machine.step(chosen, &mut env);
        }
    }
    assert!(compared > 1000);
}

fn assert_commute(machine: &Machine<'_>, first: ThreadId, second: ThreadId, env: &mut dyn Environment) {
    let after = |order: [ThreadId; 2], env: &mut dyn Environment| {
        let mut copy = machine.clone();
        for thread in order {
            copy.step(thread, env);
        }
        let mut hasher = DefaultHasher::new();
        copy.hash(&mut hasher);
        hasher.finish()
    };
    let place = image_place(machine, first);
    assert_eq!(after([first, second], env), after([second, first], env), "{place}");
}

fn image_place(machine: &Machine<'_>, thread: ThreadId) -> String {
    format!("{:?}", machine.next_op(thread))
}

#[test]
fn footprints_are_those_of_the_instructions() {
    let body = "  store seq_cst i32 @x = i32 1\n  %w = load i64 @a\n  mutex_lock @m\n  %i = i32 0\n  exit i32 0";
    let program = program(body, "");
    let image = Image::new(&program);
    let mut machine = Machine::new(&image, &Options::default());
    let object = |name: &str| {
        let (id, _) =
            program.objects.iter_enumerated().find(|(_, object)| object.name == name).expect("it is declared");
        image.object_address(id)
    };
    let mut seen = Vec::new();
    while !machine.is_over() {
        let footprint = machine.footprint(MAIN);
        seen.push(footprint.map(|f| (f.address, f.len, f.writes, f.atomic)));
        machine.step(MAIN, &mut Captured::new(0));
    }
    let expected = [
        Some((object("x"), 4, true, true)),
        Some((object("a"), 8, false, false)),
        Some((object("m"), 40, true, true)),
        None,
        None,
    ];
    assert_eq!(seen, expected);
}

#[test]
fn round_robin_is_fair() {
    let worker = "fn &worker(%n: i64) -> i64 {\n  local %i: i32\nb0:\n  %i = load i32 @x\n  branch eq(%i, i32 0), b0, b1\nb1:\n  return %n\n}";
    let body = "  spawn &worker(i64 1)\n  spawn &worker(i64 1)\n  store i32 @x = i32 1\n  join i64 2\n  join i64 3\n  exit i32 0";
    let program = program(body, worker);
    let outcome =
        leno_ir::interp::run(&program, &Options::default(), &mut RoundRobin::default(), &mut Captured::new(0), 1000);
    assert_eq!(describe(&outcome), "exit 0");
}

#[test]
fn the_same_seed_gives_the_same_execution() {
    let worker = "fn &worker(%n: i64) -> i64 {\n  local %i: i32\nb0:\n  %i = load i32 @x\n  store i32 @x = add(%i, i32 1)\n  return %n\n}";
    let body = "  spawn &worker(i64 1)\n  spawn &worker(i64 1)\n  %i = nondet\n  store i32 @y = %i\n  join i64 2\n  join i64 3\n  \
                %i = load i32 @x\n  %j = load i32 @y\n  exit add(%i, shl(%j, i32 8))";
    let program = program(body, worker);
    for seed in 0..20 {
        assert_eq!(run(&program, seed), run(&program, seed));
    }
    assert!(endings(&program, 50).len() > 2);
}

#[test]
fn waits_say_what_for() {
    let program = program("  sem_wait @m\n  exit i32 0", "");
    let image = Image::new(&program);
    let machine = Machine::new(&image, &Options::default());
    assert!(matches!(machine.wait(MAIN), Some(Wait::Semaphore { .. })));
    assert!(!machine.enabled(MAIN));
    let Body::Blocks(blocks) = &program.functions[program.entry.expect("it has one")].body else { return };
    assert_eq!(machine.next_op(MAIN), leno_ir::interp::Next::Instr(&blocks[BlockId(0)].instrs[0]));
}
