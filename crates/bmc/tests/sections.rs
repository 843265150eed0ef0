//! Atomic sections that wait in the middle, or are stopped there: what the staged engine and exploration say of them.

use leno_bmc::{Staged, Task, check};
use leno_c::driver::{Input, Options, compile};
use leno_explore::{Limits, Properties, explore};
use leno_logic::limits::Limits as SolverLimits;
use std::time::{Duration, Instant};

const HEADER: &str = "
typedef unsigned long pthread_t;
typedef struct { long words[5]; } pthread_mutex_t;
typedef struct { long words[4]; } sem_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *), pthread_join(pthread_t, void **);
int pthread_mutex_lock(pthread_mutex_t *), pthread_mutex_unlock(pthread_mutex_t *);
int sem_init(sem_t *, int, unsigned), sem_wait(sem_t *), sem_post(sem_t *);
void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); void __VERIFIER_assume(int);
void reach_error(void);
pthread_mutex_t m;
sem_t s;
_Atomic int x, y;
int plain;
pthread_t t;
void *malloc(unsigned long); void free(void *);
int *p;
struct pair { int first, second; } one, two;
";

const ASSERT: Properties = Properties { assertion: true, ..Properties::NONE };
const RACE: Properties = Properties { race: true, ..Properties::NONE };
const DEADLOCK: Properties = Properties { deadlock: true, ..Properties::NONE };

/// Both engines say so: `other` and `main` run at once.
#[track_caller]
fn expect(other: &str, main: &str, properties: Properties, is_violated: bool) {
    let text = format!(
        "{HEADER}void *other(void *unused) {{ {other} return 0; }}
        int main(void) {{ sem_init(&s, 0, 0); p = malloc(4); pthread_create(&t, 0, other, 0); {main} return 0; }}"
    );
    let input = Input::Preprocessed { name: "section.c".to_string(), text: text.clone().into_bytes() };
    let program = compile(&[input], &Options::default()).unwrap_or_else(|failure| panic!("{failure}\n{text}")).program;
    let explored = explore(&program, properties, &Limits { interrupted: &|_| false, depth: 1_000 });
    assert_eq!((explored.finding.is_some(), explored.incomplete), (is_violated, None), "explored: {text}");
    let limits = SolverLimits::until(Instant::now() + Duration::from_secs(20));
    match check(&program, &Task::new(properties), &limits, &|| false).0 {
        Staged::Safe => assert!(!is_violated, "staged: {text}"),
        Staged::Unsafe(_) => assert!(is_violated, "staged: {text}"),
        Staged::Unknown(unknown) => panic!("{}: {text}", unknown.reason),
    }
}

/// A section of these statements.
fn section(statements: &str) -> String {
    format!("__VERIFIER_atomic_begin(); {statements} __VERIFIER_atomic_end();")
}

#[test]
fn a_section_is_whole_if_nobody_has_to_wait() {
    let lock = section("x = 1; pthread_mutex_lock(&m); x = 2; pthread_mutex_unlock(&m);");
    expect(&lock, "if (x == 1) reach_error();", ASSERT, false);
    let post = section("sem_post(&s); x = 1; sem_wait(&s); x = 2;");
    expect(&post, "if (x == 1) reach_error();", ASSERT, false);
}

#[test]
fn a_section_that_has_to_wait_is_split_there() {
    let lock = section("x = 1; pthread_mutex_lock(&m); x = 2; y = 2; pthread_mutex_unlock(&m);");
    let look = "pthread_mutex_lock(&m); if (x == 1) reach_error(); pthread_mutex_unlock(&m);";
    expect(&lock, look, ASSERT, true);
    // But only there.
    expect(
        &lock,
        "pthread_mutex_lock(&m); if (x == 2 && y != 2) reach_error(); pthread_mutex_unlock(&m);",
        ASSERT,
        false,
    );
    let wait = section("x = 1; sem_wait(&s); x = 2; y = 2;");
    expect(&wait, "if (x == 1) reach_error();", ASSERT, true);
    expect(&wait, "sem_post(&s); if (x == 2 && y != 2) reach_error();", ASSERT, false);
    // On some paths only, and they meet again in the middle.
    let some = section("if (y == 0) sem_wait(&s); x = 1; x = 2;");
    expect(&some, "sem_post(&s); if (x == 1) reach_error();", ASSERT, false);
}

#[test]
fn a_section_may_wait_for_the_end_of_a_thread() {
    let join = section("x = 1; pthread_join(t, 0); x = 2;");
    expect("if (x == 1) reach_error();", &join, ASSERT, true);
    expect("if (x == 2) reach_error();", &join, ASSERT, false);
}

#[test]
fn a_section_may_wait_for_ever() {
    expect(&section("sem_wait(&s);"), "pthread_join(t, 0);", DEADLOCK, true);
    expect(&section("sem_wait(&s);"), "sem_post(&s); pthread_join(t, 0);", DEADLOCK, false);
}

#[test]
fn accesses_of_a_section_may_race() {
    let lock = section("pthread_mutex_lock(&m); plain = 1; pthread_mutex_unlock(&m);");
    expect(&lock, "plain = 2;", RACE, true);
    expect(&lock, "pthread_mutex_lock(&m); plain = 2; pthread_mutex_unlock(&m);", RACE, false);
    expect(&section("sem_wait(&s); plain = 1;"), "plain = 2; sem_post(&s);", RACE, false);
    expect(&section("sem_wait(&s); plain = 1;"), "sem_post(&s); plain = 2;", RACE, true);
    // Also if the section frees what it has accessed.
    let free = section("*p = 1; free(p);");
    expect(&free, "*p = 2;", RACE, true);
    // Also if a false assumption comes after them.
    expect(&section("__VERIFIER_assume(plain);"), "plain = 0;", RACE, true);
    expect(&section("x = 1; __VERIFIER_assume(plain); x = 2;"), "plain = 0; if (x == 1) reach_error();", ASSERT, false);
}

/// The one that races is not the one that its thread has just left.
#[test]
fn one_section_may_follow_another() {
    let sections = "__VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end();
        __VERIFIER_atomic_begin(); two.first = two.second; __VERIFIER_atomic_end();";
    expect("two = one;", sections, RACE, true);
}
