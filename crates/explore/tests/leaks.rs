//! Leaks: what counts as one, and that none is missed, wherever the program may end.

use leno_c::driver::{Input, Options, compile};
use leno_engine::{Bounds, Context, Properties, Task, machine_options};
use leno_explore::{Explored, explore};
use leno_ir::analysis::facts::Facts;
use leno_ir::interp::{Captured, Image, Machine, Prng, StepResult, ThreadId, ViolationKind};
use leno_ir::program::Program;
use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::fmt::Write;
use std::hash::{Hash, Hasher};

const HEADER: &str = "
typedef unsigned long pthread_t;
typedef struct { long words[5]; } pthread_mutex_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *), pthread_join(pthread_t, void **);
int pthread_mutex_lock(pthread_mutex_t *), pthread_mutex_unlock(pthread_mutex_t *);
void *malloc(unsigned long); void free(void *); void exit(int); void abort(void);
struct node { struct node *next; long value; } *a, *b;
_Atomic int q;
pthread_mutex_t m;
pthread_t t[3];
";

fn program_of(text: &str) -> Program {
    let input = Input::Preprocessed { name: "leak.c".to_string(), text: format!("{HEADER}{text}").into_bytes() };
    compile(&[input], &Options::default()).unwrap_or_else(|failure| panic!("{failure}\n{text}")).program
}

fn look(program: &Program, kind: ViolationKind) -> Explored {
    let leak = kind == ViolationKind::Leak;
    let properties = Properties { leak, memtrack: !leak, ..Properties::NONE };
    let bounds = Bounds { executions: Some(20_000), depth: 1_000, ..Bounds::default() };
    explore(&Facts::new(program), &Task { bounds, ..Task::new(properties) }, &Context::default())
}

/// Whether something is not freed at some end, and whether something is lost.
#[track_caller]
fn expect(text: &str, leaks: bool, loses: bool) {
    let program = program_of(text);
    for (kind, expected) in [(ViolationKind::Leak, leaks), (ViolationKind::LostMemory, loses)] {
        let explored = look(&program, kind);
        assert_eq!(explored.incomplete, None);
        assert_eq!(explored.finding.is_some(), expected, "{kind:?}: {text}");
    }
}

#[test]
fn what_counts_as_a_leak() {
    expect("int main(void) { free(malloc(8)); return 0; }", false, false);
    expect("int main(void) { malloc(8); return 0; }", true, true);
    expect("int main(void) { a = malloc(16); return 0; }", true, false);
    expect("int main(void) { a = malloc(16); a->next = malloc(16); a->next->next = 0; return 0; }", true, false);
    expect("int main(void) { a = malloc(16); a->next = malloc(16); free(a); return 0; }", true, true);
    // A pointer to the inside keeps all of it.
    expect("long *p; int main(void) { struct node *n = malloc(16); p = &n->value; return 0; }", true, false);
    // What main has is gone when it returns, but not when it calls exit.
    expect("int main(void) { struct node *n = malloc(16); n->value = 1; return 0; }", true, true);
    expect("int main(void) { struct node *n = malloc(16); n->value = 1; exit(0); free(n); }", true, false);
    expect("void use(void **); int main(void) { void *n = malloc(16); void **p = &n; *p = n; exit(0); }", true, false);
    expect("int main(void) { malloc(8); abort(); }", false, false);
}

#[test]
fn the_program_may_end_before_others_have_freed() {
    let work = "void *work(void *unused) { void *mine = malloc(8); q = 1; free(mine); return 0; }\n";
    let main = |end: &str| format!("{work}int main(void) {{ pthread_create(&t[0], 0, work, 0); {end} return 0; }}");
    expect(&main(""), true, false);
    expect(&main("pthread_join(t[0], 0);"), false, false);
    // Not before the object is there, and not while it is.
    expect(&main("while (!q) ;"), true, false);
    // Two may want to end it, and either may come first.
    let other = "void *other(void *unused) { if (q == 0) exit(0); return 0; }\n";
    let text = main("pthread_create(&t[1], 0, other, 0); pthread_join(t[0], 0);");
    expect(&format!("{other}{text}"), true, false);
}

fn statement(random: &mut Prng, out: &mut String) {
    let place = ["a", "b"][random.below(2) as usize];
    let other = ["a", "b"][random.below(2) as usize];
    let _ = match random.below(11) {
        0 | 1 => writeln!(out, "{{ struct node *n = malloc(16); n->next = 0; {place} = n; }}"),
        2 => writeln!(out, "{place} = {other};"),
        3 => writeln!(out, "{place} = 0;"),
        4 => writeln!(
            out,
            "pthread_mutex_lock(&m); {{ struct node *n = {place}; {place} = 0; if ({other} == n) {other} = 0; free(n); }} pthread_mutex_unlock(&m);"
        ),
        5 => writeln!(out, "{{ void *n = malloc(8); q++; free(n); }}"),
        6 => writeln!(out, "if (q == {}) {place} = 0;", random.below(3)),
        7 => writeln!(out, "if (q == {}) exit(0);", random.below(3)),
        8 => writeln!(out, "if (q == {}) abort();", random.below(3)),
        9 => writeln!(out, "{{ struct node *n = malloc(16); n->next = {place}; {other} = n; }}"),
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
    text.push_str("return 0; }\n");
    text
}

/// Every state: what leaks at some end. None if there are too many, or something else goes wrong on the way.
fn plain(program: &Program) -> Option<(bool, bool)> {
    let image = Image::new(program);
    let (mut seen, mut stack) = (HashSet::new(), vec![Machine::new(&image, &machine_options(true))]);
    let (mut leaks, mut loses) = (false, false);
    while let Some(machine) = stack.pop() {
        let mut hasher = DefaultHasher::new();
        machine.hash(&mut hasher);
        if !seen.insert(hasher.finish()) {
            continue;
        }
        if seen.len() > 15_000 {
            return None;
        }
        let enabled: Vec<ThreadId> = machine.enabled_threads();
        // The end comes before or after any other step; all else that is not visible may be done at once.
        let invisible = enabled.iter().copied().find(|thread| !machine.is_visible(*thread));
        for thread in invisible.map_or(enabled, |thread| vec![thread]) {
            let mut next = machine.clone();
            match next.step(thread, &mut Captured::new(0)) {
                StepResult::Done => stack.push(next),
                StepResult::Exited(_) => {
                    leaks |= next.leak(thread, ViolationKind::Leak).is_some();
                    loses |= next.leak(thread, ViolationKind::LostMemory).is_some();
                }
                StepResult::Violation(_) => return None,
                StepResult::Blocked | StepResult::Aborted => {}
            }
        }
    }
    Some((leaks, loses))
}

#[test]
fn no_leak_is_missed() {
    let count = std::env::var("LENO_ORACLE").ok().and_then(|count| count.parse().ok()).unwrap_or(60);
    let (mut compared, mut positive) = (0, 0);
    for seed in 0..count {
        let text = random_program(seed);
        let program = program_of(&text);
        let Some((leaks, loses)) = plain(&program) else { continue };
        for (kind, truth) in [(ViolationKind::Leak, leaks), (ViolationKind::LostMemory, loses)] {
            let explored = look(&program, kind);
            if explored.finding.is_none() && explored.incomplete.is_some() {
                continue;
            }
            assert_eq!(explored.finding.is_some(), truth, "{kind:?}, seed {seed}\n{text}");
            compared += 1;
            positive += u64::from(truth);
        }
    }
    println!("{compared} answers compared on {count} programs, {positive} of them leaks");
    assert!(compared > count / 2 && positive > 0 && positive < compared, "{compared} compared, {positive} leaks");
}
