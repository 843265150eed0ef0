//! Each synchronisation primitive, in what it allows and what it forbids.

use crate::harness::{check, endings, endings_with, program, run};
use leno_ir::interp::Options;

const SCHEDULES: u64 = 400;

/// Two threads add to `x` ten times each; the main thread waits for both and exits with `x`.
fn counting(enter: &str, leave: &str) -> leno_ir::program::Program {
    let body = format!(
        "{}  spawn &worker(i64 1) -> i64 $s\n  spawn &worker(i64 2) -> i64 $t\n\
           %w = load i64 $s\n  join %w\n  %w = load i64 $t\n  join %w\n  %i = load i32 @x\n  exit %i",
        if enter.contains("barrier") { "  barrier_init @m, i32 2\n" } else { "" }
    );
    let worker = format!(
        "fn &worker(%n: i64) -> i64 {{
  local %i: i32
  local %r: i32
  local %k: i32
b0:
  %k = i32 0
  goto b1
b1:
  branch slt(%k, i32 3), b2, b3
b2:
{enter}
  %i = load i32 @x
  store i32 @x = add(%i, i32 1)
{leave}
  %k = add(%k, i32 1)
  goto b1
b3:
  return %n
}}"
    );
    program(&body, &worker)
}

#[test]
fn without_a_lock_an_update_gets_lost() {
    let endings = endings(&counting("", ""), SCHEDULES);
    assert!(endings.contains(&"exit 6".to_string()), "{endings:?}");
    assert!(endings.contains(&"exit 3".to_string()), "{endings:?}");
    // The least possible: both threads' first reads see 0, and one's last write comes from the other's first.
    assert!(endings.contains(&"exit 2".to_string()), "{endings:?}");
    assert!(!endings.contains(&"exit 1".to_string()), "{endings:?}");
}

#[test]
fn every_kind_of_mutual_exclusion_excludes() {
    let pairs = [
        ("  mutex_lock @m", "  mutex_unlock @m"),
        ("  spin_lock @m", "  spin_unlock @m"),
        ("  rw_write_lock @m", "  rw_unlock @m"),
        ("  atomic_begin", "  atomic_end"),
        ("  atomic_begin\n  atomic_begin\n  atomic_end", "  atomic_end"),
        // A lock inside a section: whoever blocks there lets the other one finish.
        ("  atomic_begin\n  mutex_lock @m\n  atomic_end", "  mutex_unlock @m"),
    ];
    for (enter, leave) in pairs {
        assert_eq!(endings(&counting(enter, leave), SCHEDULES), ["exit 6"], "{enter}");
    }
    // Readers do not exclude each other.
    let readers = endings(&counting("  rw_read_lock @m", "  rw_unlock @m"), SCHEDULES);
    assert!(readers.len() > 1, "{readers:?}");
}

#[test]
fn mutexes_by_kind() {
    let invalid = |what: &str| format!("invalid unlock: unlock of m, which {what} [main]");
    check(&[
        ("  %i = mutex_trylock @m\n  %j = mutex_trylock @m\n  exit add(mul(%i, i32 100), %j)", "exit 16"),
        ("  mutex_lock @m\n  mutex_lock @m\n  exit i32 0", "deadlock: main waits for the lock m, held by main"),
        ("  mutex_unlock @m\n  exit i32 0", &invalid("is not locked")),
        // Recursive: twice in, twice out, and once too many is an error number.
        (
            "  mutex_init @m, i32 1\n  mutex_lock @m\n  mutex_lock @m\n  %i = mutex_trylock @m\n  mutex_unlock @m\n  mutex_unlock @m\n  \
          mutex_unlock @m\n  %j = mutex_unlock @m\n  exit add(mul(%i, i32 100), %j)",
            "exit 1",
        ),
        ("  mutex_init @m, i32 2\n  mutex_lock @m\n  %i = mutex_lock @m\n  exit %i", "exit 35"),
        ("  mutex_init @m, i32 2\n  %i = mutex_unlock @m\n  exit %i", "exit 1"),
        (
            "  mutex_init @m, i32 3\n  mutex_lock @m\n  mutex_lock @m\n  exit i32 0",
            "deadlock: main waits for the lock m, held by main",
        ),
        // A static initialiser is the kind alone.
        ("  store i32 ptr_add(@m, i64 16) = i32 1\n  mutex_lock @m\n  mutex_lock @m\n  exit i32 0", "exit 0"),
        (
            "  mutex_lock @m\n  %i = mutex_destroy @m\n  exit %i",
            "destroy of what is in use: destroy of m, which is locked by main [main]",
        ),
        (
            "  mutex_destroy @m\n  %i = mutex_lock @m\n  exit %i",
            "use of a destroyed lock: use of m, which was destroyed [main]",
        ),
        ("  mutex_destroy @m\n  mutex_init @m, i32 0\n  %i = mutex_lock @m\n  exit %i", "exit 0"),
        (
            "  %p = allocate heap i64 40 align 8 ; main.c:9:1\n  mutex_init %p, i32 0\n  free %p ; main.c:10:1\n  mutex_lock %p\n  exit i32 0",
            "use after free: read of 40 bytes at offset 0 of the heap object of 40 bytes allocated at main.c:9 by main, \
          freed at main.c:10 by main [main]",
        ),
        ("  mutex_lock null\n  exit i32 0", "null dereference: read of 40 bytes through a null pointer [main]"),
        ("  spin_lock @m\n  spin_lock @m\n  exit i32 0", "deadlock: main waits for the lock m, held by main"),
        ("  spin_lock @m\n  %i = spin_trylock @m\n  exit %i", "exit 16"),
        ("  spin_unlock @m\n  exit i32 0", &invalid("is not locked")),
    ]);
}

#[test]
fn a_lock_belongs_to_the_thread_that_took_it() {
    let worker = "fn &worker(%n: i64) -> i64 {\nb0:\n  mutex_unlock @m\n  return %n\n}";
    let body = "  mutex_lock @m\n  spawn &worker(i64 1) -> i64 $s\n  %w = load i64 $s\n  join %w\n  exit i32 0";
    assert_eq!(endings(&program(body, worker), 20), ["invalid unlock: unlock of m, which is locked by main [main.1]"]);
    // What a thread holds when it ends stays held.
    let worker = "fn &worker(%n: i64) -> i64 {\nb0:\n  mutex_lock @m\n  return %n\n}";
    let body = "  spawn &worker(i64 1) -> i64 $s\n  %w = load i64 $s\n  join %w\n  mutex_lock @m\n  exit i32 0";
    assert_eq!(
        endings(&program(body, worker), 20),
        ["deadlock: main waits for the lock m, which main.1 holds, although it has ended"]
    );
}

#[test]
fn two_locks_in_opposite_orders_deadlock_in_some_schedule() {
    let worker = "fn &worker(%n: i64) -> i64 {\nb0:\n  mutex_lock @n\n  mutex_lock @m\n  mutex_unlock @m\n  mutex_unlock @n\n  return %n\n}";
    let body = "  spawn &worker(i64 1) -> i64 $s\n  mutex_lock @m\n  mutex_lock @n\n  mutex_unlock @n\n  mutex_unlock @m\n  \
                %w = load i64 $s\n  join %w\n  exit i32 0";
    assert_eq!(
        endings(&program(body, worker), SCHEDULES),
        ["deadlock: main waits for the lock n, held by main.1; main.1 waits for the lock m, held by main", "exit 0"]
    );
}

#[test]
fn read_write_locks() {
    let invalid = "invalid unlock: unlock of m, which this thread has not locked [main]";
    check(&[
        (
            "  rw_read_lock @m\n  rw_read_lock @m\n  %i = rw_try_read_lock @m\n  %j = rw_try_write_lock @m\n  \
          exit add(mul(%i, i32 100), %j)",
            "exit 16",
        ),
        (
            "  rw_write_lock @m\n  %i = rw_try_read_lock @m\n  %j = rw_read_lock @m\n  exit add(mul(%i, i32 100), %j)",
            "exit 1635",
        ),
        ("  rw_write_lock @m\n  %i = rw_write_lock @m\n  exit %i", "exit 35"),
        ("  rw_read_lock @m\n  rw_write_lock @m\n  exit i32 0", "deadlock: main waits for the read-write lock m"),
        (
            "  rw_read_lock @m\n  rw_unlock @m\n  rw_write_lock @m\n  rw_unlock @m\n  %i = rw_destroy @m\n  exit %i",
            "exit 0",
        ),
        (
            "  rw_read_lock @m\n  %i = rw_destroy @m\n  exit %i",
            "destroy of what is in use: destroy of m, which is locked by main [main]",
        ),
        ("  rw_unlock @m\n  exit i32 0", invalid),
        ("  rw_read_lock @m\n  rw_unlock @m\n  rw_unlock @m\n  exit i32 0", invalid),
    ]);
    // Another reader's lock is not ours to release.
    let worker = "fn &worker(%n: i64) -> i64 {\nb0:\n  rw_unlock @m\n  return %n\n}";
    let body = "  rw_read_lock @m\n  spawn &worker(i64 1) -> i64 $s\n  %w = load i64 $s\n  join %w\n  exit i32 0";
    assert_eq!(
        endings(&program(body, worker), 20),
        ["invalid unlock: unlock of m, which this thread has not locked [main.1]"]
    );
}

#[test]
fn semaphores() {
    check(&[
        ("  sem_init @m, i32 2\n  sem_wait @m\n  sem_wait @m\n  %i = sem_trywait @m\n  exit %i", "exit -1"),
        ("  sem_init @m, i32 2\n  sem_wait @m\n  %i = sem_get_value @m\n  exit %i", "exit 1"),
        ("  sem_wait @m\n  exit i32 0", "deadlock: main waits for the semaphore m"),
        ("  sem_init @m, i32 0x7fffffff\n  %i = sem_post @m\n  exit %i", "exit -1"),
        ("  %i = sem_init @m, i32 -1\n  exit %i", "exit -1"),
    ]);
    let worker = "fn &worker(%n: i64) -> i64 {\nb0:\n  store i32 @y = i32 5\n  sem_post @m\n  return %n\n}";
    let body = "  spawn &worker(i64 1)\n  sem_wait @m\n  %i = load i32 @y\n  exit %i";
    assert_eq!(endings(&program(body, worker), 50), ["exit 5"]);
}

/// Three threads meet twice; nobody is in the second phase before all have left the first, and one of them is told
/// that it was the last.
#[test]
fn barriers() {
    let worker = "fn &worker(%n: i64) -> i64 {
  local %t: i64
  local %i: i32
  local %r: i32
b0:
  %i = rmw add seq_cst i32 @x, i32 1
  %t = barrier_arrive @m
  %r = barrier_leave @m, %t
  %i = load seq_cst i32 @x
  assert sle(i32 3, %i), assertion, \"all have arrived\"
  %i = rmw sub seq_cst i32 @y, %r
  %t = barrier_arrive @m
  %r = barrier_leave @m, %t
  %i = rmw sub seq_cst i32 @y, %r
  return %n
}";
    let body = "  barrier_init @m, i32 3\n  spawn &worker(i64 1) -> i64 $s\n  spawn &worker(i64 1) -> i64 $t\n  \
                spawn &worker(i64 1) -> i64 $u\n  %w = load i64 $s\n  join %w\n  %w = load i64 $t\n  join %w\n  \
                %w = load i64 $u\n  join %w\n  %i = load i32 @y\n  exit %i";
    assert_eq!(endings(&program(body, worker), SCHEDULES), ["exit 2"]);
    let few = body.replace("i32 3\n", "i32 4\n");
    assert_eq!(
        endings(&program(&few, worker), 50),
        ["deadlock: main waits for the end of main.1; main.1 waits for the barrier m; \
          main.2 waits for the barrier m; main.3 waits for the barrier m"]
    );
    check(&[
        ("  %i = barrier_init @m, i32 0\n  exit %i", "exit 22"),
        (
            "  %w = barrier_arrive @m\n  exit i32 0",
            "use of an uninitialised value: wait at m, which is not an initialised barrier [main]",
        ),
        ("  barrier_init @m, i32 1\n  %w = barrier_arrive @m\n  %i = barrier_leave @m, %w\n  exit %i", "exit -1"),
        (
            "  barrier_init @m, i32 2\n  %w = barrier_arrive @m\n  %i = barrier_destroy @m\n  exit %i",
            "destroy of what is in use: destroy of m, which is in use [main]",
        ),
    ]);
}

#[test]
fn once_runs_once_and_the_others_wait_for_it() {
    let worker = "fn &worker(%n: i64) -> i64 {
  local %r: i32
  local %i: i32
b0:
  %r = once_begin @x
  branch ne(%r, i32 0), b1, b2
b1:
  %i = load i32 @y
  store i32 @y = add(%i, i32 1)
  once_end @x
  goto b2
b2:
  %i = load i32 @y
  assert eq(%i, i32 1), assertion
  return %n
}";
    let body = "  spawn &worker(i64 1) -> i64 $s\n  spawn &worker(i64 1) -> i64 $t\n  %w = load i64 $s\n  join %w\n  \
                %w = load i64 $t\n  join %w\n  exit i32 0";
    assert_eq!(endings(&program(body, worker), SCHEDULES), ["exit 0"]);
}

/// Two threads sleep until `x` is set. The main thread sets it, under the mutex, and wakes with `wake`.
fn sleeping(wake: &str) -> leno_ir::program::Program {
    let worker = "fn &worker(%n: i64) -> i64 {
  local %i: i32
b0:
  mutex_lock @m
  goto b1
b1:
  %i = load i32 @x
  branch eq(%i, i32 0), b2, b3
b2:
  cond_sleep @c, @m
  cond_wake @c, @m
  cond_relock @m
  goto b1
b3:
  mutex_unlock @m
  return %n
}";
    let body = format!(
        "  spawn &worker(i64 1) -> i64 $s\n  spawn &worker(i64 2) -> i64 $t\n  mutex_lock @m\n  store i32 @x = i32 1\n{wake}\n  \
         mutex_unlock @m\n  %w = load i64 $s\n  join %w\n  %w = load i64 $t\n  join %w\n  exit i32 0"
    );
    program(&body, worker)
}

#[test]
fn broadcast_wakes_all_and_a_signal_only_one() {
    assert_eq!(endings(&sleeping("  cond_broadcast @c"), SCHEDULES), ["exit 0"]);
    assert_eq!(endings(&sleeping("  cond_signal @c\n  cond_signal @c"), SCHEDULES), ["exit 0"]);
    // With one signal, the other sleeper sleeps on, whichever it is.
    assert_eq!(
        endings(&sleeping("  cond_signal @c"), SCHEDULES),
        [
            "deadlock: main waits for the end of main.1; main.1 waits for a signal on c",
            "deadlock: main waits for the end of main.2; main.2 waits for a signal on c",
            "exit 0"
        ]
    );
    // With spurious wake-ups nobody sleeps for ever.
    let options = Options { spurious_wakeups: true, ..Options::default() };
    assert_eq!(endings_with(&sleeping(""), &options, SCHEDULES), ["exit 0"]);
}

#[test]
fn a_signal_to_nobody_is_lost() {
    let worker = "fn &worker(%n: i64) -> i64 {\nb0:\n  cond_signal @c\n  return %n\n}";
    let body = "  mutex_lock @m\n  spawn &worker(i64 1)\n  cond_sleep @c, @m\n  cond_wake @c, @m\n  cond_relock @m\n  exit i32 0";
    assert_eq!(endings(&program(body, worker), 100), ["deadlock: main waits for a signal on c", "exit 0"]);
}

#[test]
fn a_wait_with_a_deadline_may_time_out() {
    let worker = "fn &worker(%n: i64) -> i64 {\nb0:\n  cond_signal @c\n  return %n\n}";
    let body = "  mutex_lock @m\n  spawn &worker(i64 1)\n  cond_sleep @c, @m\n  %i = cond_wake @c, @m, null\n  cond_relock @m\n  \
                mutex_unlock @m\n  exit %i";
    assert_eq!(endings(&program(body, worker), 100), ["exit 0", "exit 110"]);
}

#[test]
fn waiting_needs_the_mutex() {
    let body = "  cond_sleep @c, @m\n  exit i32 0";
    assert_eq!(run(&program(body, ""), 0), "invalid unlock: unlock of m, which is not locked [main]");
    let body = "  mutex_lock @m\n  cond_sleep @c, @m\n  %i = cond_destroy @c\n  exit %i";
    let expected = "destroy of what is in use: destroy of c, on which main sleeps [main]";
    assert_eq!(run(&program(body, ""), 0), expected);
}
