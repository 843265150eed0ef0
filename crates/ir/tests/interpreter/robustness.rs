//! Valid programs of any shape run without a panic, the same way each time.

use crate::harness::describe;
use crate::random;
use leno_ir::interp::{Captured, Image, Machine, Options, Random, UndefinedPolicy};
use std::collections::BTreeMap;

#[test]
fn random_programs_run() {
    let mut endings: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..3000 {
        let program = random::program(seed);
        let undefined = if seed % 2 == 0 { UndefinedPolicy::Report } else { UndefinedPolicy::Nondet };
        let options = Options { undefined, spurious_wakeups: seed % 3 == 0, ..Options::default() };
        let image = Image::new(&program);
        let initial = Machine::new(&image, &options);
        let run = |schedule| {
            let mut machine = initial.clone();
            let outcome = machine.run(&mut Random::new(schedule), &mut Captured::new(schedule), 500);
            for thread in machine.threads().ids() {
                machine.wait(thread);
                machine.footprint(thread);
                machine.is_visible(thread);
                machine.backtrace(thread);
            }
            describe(&outcome)
        };
        for schedule in 0..3 {
            let ending = run(schedule);
            assert_eq!(run(schedule), ending, "seed {seed}");
            *endings.entry(ending.split(':').next().unwrap_or_default().to_string()).or_default() += 1;
        }
    }
    assert!(endings.len() > 12, "{endings:?}");
}

#[test]
fn huge_objects_cost_nothing() {
    let source = "program lp64 entry &start
@huge = global size 0x4000000000000 align 8 { 0x3fffffffffff8: \"abcdefg\" }
@vast = global size 0x80000000000 align 8
fn &start(%argc: i32, %argv: ptr) {
  local %i: i32
  local %p: ptr
b0:
  %i = load i32 ptr_add(@huge, i64 0x3fffffffffff8)
  assert eq(%i, i32 0x64636261), assertion
  store i32 ptr_add(@vast, i64 0x7fffffffffc) = i32 5
  %i = load i32 ptr_add(@vast, i64 0x7fffffffffc)
  assert eq(%i, i32 5), assertion
  %p = allocate heap i64 0x80000000 align 8
  store i32 ptr_add(%p, i64 0x7ffffffc) = i32 6
  %i = load i32 ptr_add(%p, i64 0x7ffffffc)
  free %p
  store i32 ptr_add(@vast, i64 0x80000000000) = %i
  exit i32 0
}";
    let source = source.replace("0x4000000000000 ", "1125899906842624 ").replace("0x80000000000 ", "8796093022208 ");
    let source = source.replace("0x3fffffffffff8: ", "1125899906842616: ");
    let ending = crate::harness::run(&crate::harness::parse(&source), 0);
    assert_eq!(
        ending,
        "access out of bounds: write of 4 bytes at offset 8796093022208 of `vast` (8796093022208 bytes) [main]"
    );
}

#[test]
fn machines_can_move_between_threads() {
    fn is_send<T: Send>() {}
    is_send::<Machine<'static>>();
}
