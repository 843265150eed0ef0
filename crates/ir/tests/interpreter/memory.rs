//! Each memory error is seen, named and described; what is no error is none.

use crate::harness::{check, program, run, run_with};
use leno_ir::interp::{Options, UndefinedPolicy};

#[test]
fn accesses_in_bounds_are_fine() {
    check(&[
        ("  store i32 ptr_add(@a, i64 36) = i32 7\n  %i = load i32 ptr_add(@a, i64 36)\n  exit %i", "exit 7"),
        (
            "  store i64 @a = i64 0x1122334455667788\n  %i = load i32 ptr_add(@a, i64 2)\n  exit lshr(%i, i32 16)",
            "exit 13124",
        ),
        ("  %p = ptr_add(@a, i64 40)\n  %i = load i32 ptr_add(%p, i64 -4)\n  exit %i", "exit 0"),
        (
            "  %w = ptr_to_int(@a to i64)\n  store i32 int_to_ptr(add(%w, i64 8) to ptr) = i32 5\n  %i = load i32 ptr_add(@a, i64 8)\n  exit %i",
            "exit 5",
        ),
    ]);
}

#[test]
fn accesses_out_of_bounds_are_described() {
    check(&[
        (
            "  store i32 ptr_add(@a, i64 40) = i32 7\n  exit i32 0",
            "access out of bounds: write of 4 bytes at offset 40 of `a` (40 bytes) [main]",
        ),
        (
            "  %w = load i64 ptr_add(@a, i64 36)\n  exit i32 0",
            "access out of bounds: read of 8 bytes at offset 36 of `a` (40 bytes) [main]",
        ),
        (
            "  %i = load i32 ptr_add(@a, i64 -4)\n  exit i32 0",
            "access out of bounds: read of 4 bytes at offset -4 of `a` (40 bytes) [main]",
        ),
        (
            "  store i32 ptr_add($s, i64 6) = i32 7\n  exit i32 0",
            "access out of bounds: write of 4 bytes at offset 6 of `s` (8 bytes) [main]",
        ),
        (
            "  %p = allocate heap i64 4 align 8 ; main.c:9:3\n  store i64 %p = i64 7\n  exit i32 0",
            "access out of bounds: write of 8 bytes at offset 0 of the heap object of 4 bytes allocated at main.c:9 by main [main]",
        ),
        ("  store i32 null = i32 7\n  exit i32 0", "null dereference: write of 4 bytes through a null pointer [main]"),
        (
            "  %i = load i32 ptr_add(null, i64 8)\n  exit i32 0",
            "null dereference: read of 4 bytes at offset 8 of a null pointer [main]",
        ),
        (
            "  %i = load i32 &start\n  exit i32 0",
            "access through an invalid pointer: read of 4 bytes at offset 0 of function `start` [main]",
        ),
        (
            "  store i8 @text = i8 7\n  exit i32 0",
            "write to a constant: write of 1 byte at offset 0 of `text` (6 bytes) [main]",
        ),
    ]);
}

#[test]
fn lives_end() {
    check(&[
        ("  %p = allocate heap i64 4 align 8\n  free %p\n  free null\n  exit i32 0", "exit 0"),
        (
            "  %p = allocate heap i64 4 align 8 ; main.c:9:3\n  free %p ; main.c:10:3\n  store i32 %p = i32 1\n  exit i32 0",
            "use after free: write of 4 bytes at offset 0 of the heap object of 4 bytes allocated at main.c:9 by main, freed at main.c:10 by main [main]",
        ),
        (
            "  %p = allocate heap i64 4 align 8 ; main.c:9:3\n  free %p ; main.c:10:3\n  free %p\n  exit i32 0",
            "double free: free of the heap object of 4 bytes allocated at main.c:9 by main, freed at main.c:10 by main [main]",
        ),
        ("  free @a\n  exit i32 0", "invalid free: free of `a` (40 bytes) [main]"),
        (
            "  %p = allocate heap i64 4 align 8 ; main.c:9:3\n  free ptr_add(%p, i64 2)\n  exit i32 0",
            "invalid free: free at offset 2 of the heap object of 4 bytes allocated at main.c:9 by main [main]",
        ),
        (
            "  free int_to_ptr(i64 77 to ptr)\n  exit i32 0",
            "invalid free: free at 0x4d, which is the address of no object [main]",
        ),
        (
            "  %p = allocate heap i64 12 align 8\n  %w = object_size ptr_add(%p, i64 3)\n  exit trunc(%w to i32)",
            "exit 12",
        ),
        ("  %w = object_size null\n  exit trunc(%w to i32)", "exit 0"),
        ("  %p = allocate heap i64 0x7fffffffffffffff align 8\n  exit select(eq(%p, null), i32 3, i32 4)", "exit 3"),
    ]);
}

#[test]
fn stack_objects_die_with_their_activation() {
    let escape = "fn &escape() -> ptr {\n  slot $local size 4 align 4\nb0:\n  return $local ; main.c:20:3\n}\n";
    let body = "  %p = call &escape()\n  store i32 %p = i32 1\n  exit i32 0";
    assert_eq!(
        run(&program(body, escape), 0),
        "use of a dead local object: write of 4 bytes at offset 0 of `local` (4 bytes), dead since main.c:20 by main [main]"
    );
    let alloca = "fn &escape() -> ptr {\n  local %p: ptr\nb0:\n  %p = allocate stack i64 4 align 4\n  return %p ; main.c:20:3\n}\n";
    assert!(run(&program(body, alloca), 0).starts_with("use of a dead local object: write of 4 bytes"));
}

#[test]
fn undefined_bits_travel_and_are_reported_where_they_decide() {
    let uninitialised = |role| format!("use of an uninitialised value: {role} an uninitialised value [main]");
    let cases = [
        // Copied without harm, through memory and registers.
        ("  %i = load i32 $s\n  store i32 $t = %i\n  exit i32 0", "exit 0".to_string()),
        ("  %j = add(%i, i32 1)\n  exit i32 0", "exit 0".to_string()),
        // A bit-field in a fresh word: the three bits that were stored are defined, the others are not.
        (
            "  %i = load i32 $s\n  store i32 $s = or(and(%i, i32 -57), shl(i32 5, i32 3))\n  %j = load i32 $s\n  \
          exit lshr(and(%j, i32 56), i32 3)",
            "exit 5".to_string(),
        ),
        (
            "  %i = load i32 $s\n  store i32 $s = or(and(%i, i32 -57), shl(i32 5, i32 3))\n  %j = load i32 $s\n  \
          exit lshr(and(%j, i32 120), i32 3)",
            uninitialised("the exit status is"),
        ),
        ("  %i = load i32 $s\n  exit and(%i, i32 0)", "exit 0".to_string()),
        ("  %i = load i32 $s\n  exit or(%i, i32 -1)", "exit -1".to_string()),
        ("  store i8 $s = i8 3\n  %i = load i32 $s\n  exit zext(trunc(%i to i8) to i32)", "exit 3".to_string()),
        (
            "  store i8 $s = i8 3\n  %i = load i32 $s\n  exit zext(trunc(%i to i9) to i32)",
            uninitialised("the exit status is"),
        ),
        ("  branch eq(%i, i32 0), b1, b1\nb1:\n  exit i32 0", uninitialised("a branch depends on")),
        ("  %j = select(eq(%i, i32 0), i32 1, i32 2)\n  exit i32 0", uninitialised("a condition depends on")),
        ("  %j = udiv(i32 1, %i)\n  exit i32 0", uninitialised("a division is by")),
        ("  switch %i {\n  default => b1 }\nb1:\n  exit i32 0", uninitialised("a switch depends on")),
        ("  store i32 %p = i32 1\n  exit i32 0", uninitialised("an address is")),
        ("  assume ne(%i, i32 0)\n  exit i32 0", uninitialised("an assumption depends on")),
        ("  assert ne(%i, i32 0), assertion\n  exit i32 0", uninitialised("an assertion depends on")),
        ("  %p = allocate heap %w align 1\n  exit i32 0", uninitialised("the size of an allocation is")),
        (
            "  mutex_lock $s\n  exit i32 0",
            "access out of bounds: read of 40 bytes at offset 0 of `s` (8 bytes) [main]".to_string(),
        ),
        (
            "  %p = allocate heap i64 40 align 8\n  mutex_lock %p\n  exit i32 0",
            uninitialised("a synchronisation object is"),
        ),
    ];
    for (body, expected) in &cases {
        assert_eq!(run(&program(body, ""), 1), *expected, "\n{body}");
    }
}

#[test]
fn undefined_may_mean_any_value_that_then_stays() {
    let body = "  %i = load i32 $s\n  %j = load i32 $s\n  assert eq(%i, %j), assertion\n  branch eq(and(%i, i32 1), i32 0), b1, b2\n\
                b1:\n  exit i32 1\nb2:\n  exit i32 2";
    let options = Options { undefined: UndefinedPolicy::Nondet, ..Options::default() };
    let mut seen: Vec<String> = (0..20).map(|seed| run_with(&program(body, ""), &options, seed).0).collect();
    seen.sort();
    seen.dedup();
    assert_eq!(seen, ["exit 1", "exit 2"]);
}

#[test]
fn ilp32_has_small_granules_and_reuses_the_oldest() {
    let source = |count: u32| {
        format!(
            "program ilp32 entry &start
fn &start(%argc: i32, %argv: ptr) {{
  local %i: i32
  local %p: ptr
  local %first: ptr
b0:
  %i = i32 0
  %first = allocate heap i32 4 align 4
  free %first
  goto b1
b1:
  branch ult(%i, i32 {count}), b2, b3
b2:
  %p = allocate heap i32 100000 align 4
  store i32 ptr_add(%p, i32 99996) = %i
  free %p
  %i = add(%i, i32 1)
  goto b1
b3:
  free %first
  exit i32 0
}}"
        )
    };
    let after_few = run(&crate::harness::parse(&source(3)), 0);
    assert!(after_few.starts_with("double free"), "{after_few}");
    // Far more objects than there are granules: they are used again, and all is well until the freed one.
    let after_many = run(&crate::harness::parse(&source(100_000)), 0);
    assert!(after_many.contains("free"), "{after_many}");
}

#[test]
fn vast_objects_of_ilp32_work() {
    let body = "program ilp32 entry &start
@big = global size 1000000 align 4
fn &start(%argc: i32, %argv: ptr) {
  local %p: ptr
  local %q: ptr
  local %i: i32
b0:
  %p = allocate zeroed heap i32 100000000 align 4
  %q = allocate zeroed heap i32 100000000 align 4
  store i32 ptr_add(%p, i32 99999996) = i32 7
  store i32 ptr_add(@big, i32 999996) = i32 9
  %i = load i32 ptr_add(%p, i32 99999996)
  assert eq(%i, i32 7), assertion
  %i = load i32 ptr_add(%q, i32 99999996)
  assert eq(%i, i32 0), assertion
  %i = load i32 ptr_add(@big, i32 999996)
  assert eq(%i, i32 9), assertion
  free %p
  store i32 ptr_add(%q, i32 100000000) = i32 1
  exit i32 0
}";
    let ending = run(&crate::harness::parse(body), 0);
    assert!(ending.starts_with("access out of bounds: write of 4 bytes at offset 100000000"), "{ending}");
}

/// More live objects than an arena has room for.
#[test]
fn a_long_list_lives() {
    let body = "  %p = null\n  %i = i32 0\n  goto b1\nb1:\n  branch ult(%i, i32 70000), b2, b3\nb2:\n  \
                %q = allocate heap i64 8 align 8\n  store ptr %q = %p\n  %p = %q\n  %i = add(%i, i32 1)\n  goto b1\n\
                b3:\n  branch ne(%p, null), b4, b5\nb4:\n  %q = load ptr %p\n  free %p\n  %p = %q\n  %i = sub(%i, i32 1)\n  goto b3\n\
                b5:\n  exit %i";
    assert_eq!(run(&program(body, ""), 0), "exit 0");
}
