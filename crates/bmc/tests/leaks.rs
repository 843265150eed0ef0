//! Leaks: the staged engine against exhaustive exploration, on programs that allocate, free, forget, and end anywhere.
//!
//! `LENO_AGREEMENT=2000` tries that many. What is lost may be left without a verdict, what is left may not.

use leno_bmc::{Staged, Task, check};
use leno_c::driver::{Input, Options, compile};
use leno_explore::{Limits, Properties, explore};
use leno_ir::interp::Prng;
use leno_ir::program::Program;
use std::fmt::Write;
use std::time::{Duration, Instant};

const HEADER: &str = "
typedef unsigned long pthread_t;
typedef struct { long words[5]; } pthread_mutex_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *), pthread_join(pthread_t, void **);
void pthread_exit(void *);
int pthread_mutex_lock(pthread_mutex_t *), pthread_mutex_unlock(pthread_mutex_t *);
void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);
void *malloc(unsigned long); void free(void *); void exit(int); void abort(void);
struct node { struct node *next; long value; } *a, *b;
_Atomic int q;
pthread_mutex_t m;
pthread_t t[3];
";

const LEAK: Properties = Properties { leak: true, ..Properties::NONE };
const LOST: Properties = Properties { memtrack: true, ..Properties::NONE };

fn program_of(text: &str) -> Program {
    let input = Input::Preprocessed { name: "leak.c".to_string(), text: format!("{HEADER}{text}").into_bytes() };
    compile(&[input], &Options::default()).unwrap_or_else(|failure| panic!("{failure}\n{text}")).program
}

fn explored(program: &Program, properties: Properties) -> Option<bool> {
    let limits = Limits { interrupted: &|stats| stats.executions > 20_000, depth: 1_000 };
    let explored = explore(program, properties, &limits);
    match (explored.finding, explored.incomplete) {
        (Some(_), _) => Some(true),
        (None, Some(_)) => None,
        (None, None) => Some(false),
    }
}

fn staged(program: &Program, properties: Properties) -> Result<bool, String> {
    let limits = leno_logic::limits::Limits::until(Instant::now() + Duration::from_secs(10));
    match check(program, &Task::new(properties), &limits, &|| false).0 {
        Staged::Safe => Ok(false),
        Staged::Unsafe(_) => Ok(true),
        Staged::Unknown(unknown) => Err(unknown.reason),
    }
}

/// Whether something is not freed at some end, and whether something is lost; None where there is no verdict.
#[track_caller]
fn expect(text: &str, leaks: bool, loses: Option<bool>) {
    let program = program_of(text);
    assert_eq!(staged(&program, LEAK), Ok(leaks), "{text}");
    assert_eq!(staged(&program, LOST).ok(), loses, "{text}");
}

#[test]
fn what_counts_as_a_leak() {
    expect("int main(void) { free(malloc(8)); return 0; }", false, Some(false));
    expect("int main(void) { malloc(8); return 0; }", true, Some(true));
    expect("int main(void) { a = malloc(16); a->next = malloc(16); free(a); return 0; }", true, Some(true));
    expect("int main(void) { struct node *n = malloc(16); n->value = 1; return 0; }", true, Some(true));
    expect("int main(void) { malloc(8); abort(); }", false, Some(false));
    expect("int main(void) { a = malloc(16); return 0; }", true, Some(false));
    expect("int main(void) { a = malloc(16); a->next = malloc(16); a->next->next = 0; return 0; }", true, Some(false));
    // Two that point to each other, and nobody else to them.
    expect(
        "int main(void) { a = malloc(16); b = malloc(16); a->next = b; b->next = a; a = b = 0; return 0; }",
        true,
        Some(true),
    );
    // A pointer to the inside keeps all of it.
    expect("long *p; int main(void) { struct node *n = malloc(16); p = &n->value; return 0; }", true, Some(false));
    // What main has is gone when it returns, but not when it calls exit.
    expect("int main(void) { struct node *n = malloc(16); n->value = 1; exit(0); free(n); }", true, Some(false));
    expect("int main(void) { void *n = malloc(16); void **p = &n; *p = n; exit(0); }", true, Some(false));
    expect("int main(void) { free(malloc(8)); free(malloc(8)); malloc(8); abort(); }", false, Some(false));
}

#[test]
fn the_program_may_end_before_others_have_freed() {
    let work = "void *work(void *unused) { void *mine = malloc(8); q = 1; free(mine); return 0; }\n";
    let main = |end: &str| format!("{work}int main(void) {{ pthread_create(&t[0], 0, work, 0); {end} return 0; }}");
    for (end, leaks) in [("", true), ("pthread_join(t[0], 0);", false), ("while (!q) ;", true)] {
        assert_eq!(staged(&program_of(&main(end)), LEAK), Ok(leaks), "{end}");
    }
    // With the main thread the others do not end.
    expect(&main("pthread_exit(0);"), false, Some(false));
    expect(&main("a = malloc(16); pthread_exit(0);").replace("free(mine);", "free(mine); free(a);"), true, Some(false));
    // Nor what a thread has returned; what it has while it runs is not looked at.
    let returned = main("pthread_join(t[0], 0);").replace("free(mine); return 0;", "return mine;");
    expect(&returned, true, Some(false));
    expect(&main(""), true, None);
}

fn statement(random: &mut Prng, out: &mut String) {
    let place = ["a", "b"][random.below(2) as usize];
    let other = ["a", "b"][random.below(2) as usize];
    let _ = match random.below(12) {
        0 | 1 => writeln!(out, "{{ struct node *n = malloc(16); n->next = 0; {place} = n; }}"),
        2 => writeln!(out, "{place} = {other};"),
        3 => writeln!(out, "{place} = 0;"),
        4 | 5 => writeln!(
            out,
            "pthread_mutex_lock(&m); {{ struct node *n = {place}; {place} = 0; if ({other} == n) {other} = 0; free(n); }} pthread_mutex_unlock(&m);"
        ),
        6 => writeln!(out, "{{ void *n = malloc(8); q++; free(n); }}"),
        7 => writeln!(out, "if (q == {}) {place} = 0;", random.below(3)),
        8 => writeln!(
            out,
            "__VERIFIER_atomic_begin(); {{ void *n = malloc(8); q++; free(n); }} __VERIFIER_atomic_end();"
        ),
        9 => writeln!(out, "if (q == {}) exit(0);", random.below(3)),
        10 => writeln!(out, "if (q == {}) abort();", random.below(3)),
        _ => writeln!(out, "q++;"),
    };
}

fn random_program(seed: u64) -> String {
    let mut random = Prng::new(seed);
    let mut text = String::new();
    for thread in 0..2 {
        let _ = writeln!(text, "void *t{thread}(void *unused) {{");
        for _ in 0..1 + random.below(3) {
            statement(&mut random, &mut text);
        }
        text.push_str("return 0; }\n");
    }
    text.push_str("int main(void) {\npthread_create(&t[0], 0, t0, 0);\npthread_create(&t[1], 0, t1, 0);\n");
    statement(&mut random, &mut text);
    for thread in 0..2 {
        if random.below(3) > 0 {
            let _ = writeln!(text, "pthread_join(t[{thread}], 0);");
        }
    }
    if random.below(2) > 0 {
        text.push_str("free(a); if (a != b) free(b);\n");
    }
    text.push_str(if random.below(4) == 0 { "pthread_exit(0); }\n" } else { "return 0; }\n" });
    text
}

#[test]
fn leaks_are_those_that_exploration_finds() {
    let count = std::env::var("LENO_AGREEMENT").ok().and_then(|count| count.parse().ok()).unwrap_or(60);
    let (mut compared, mut positive, mut unknown) = (0, 0, 0);
    for seed in 0..count {
        let text = random_program(seed);
        let program = program_of(&text);
        for properties in [LEAK, LOST] {
            let Some(truth) = explored(&program, properties) else { continue };
            match staged(&program, properties) {
                Ok(says) => assert_eq!(says, truth, "{properties:?}, seed {seed}\n{text}"),
                Err(reason) if properties == LEAK => panic!("{reason}, seed {seed}\n{text}"),
                Err(_) => {
                    unknown += 1;
                    continue;
                }
            }
            compared += 1;
            positive += u64::from(truth);
        }
    }
    println!("{compared} answers compared on {count} programs, {positive} of them leaks; {unknown} without a verdict");
    assert!(compared > count && positive > 0 && positive < compared, "{compared} compared, {positive} leaks");
}
