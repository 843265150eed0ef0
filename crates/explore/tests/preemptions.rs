//! The search with a bound on preemptions, against a plain one that counts them: same answers on random programs.

use leno_c::driver::{Input, Options, compile};
use leno_engine::{Bounds, Context, Properties, Task, machine_options};
use leno_explore::{Explored, Incomplete, explore};
use leno_ir::analysis::facts::Facts;
use leno_ir::interp::{
    Captured, Ending, Image, MAIN, Machine, Next, Prng, Status, StepResult, ThreadId, ViolationKind, Wait,
};
use leno_ir::program::{Program, TerminatorKind};
use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::fmt::Write;
use std::hash::{Hash, Hasher};

const HEADER: &str = "
typedef unsigned long pthread_t;
typedef struct { long words[5]; } pthread_mutex_t;
typedef struct { long words[6]; } pthread_cond_t;
typedef struct { long words[4]; } sem_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *), pthread_join(pthread_t, void **);
int pthread_mutex_lock(pthread_mutex_t *), pthread_mutex_unlock(pthread_mutex_t *), pthread_mutex_trylock(pthread_mutex_t *);
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *), pthread_cond_signal(pthread_cond_t *);
int sem_init(sem_t *, int, unsigned), sem_wait(sem_t *), sem_post(sem_t *);
void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void);
void reach_error(void);
int x, y, flag;
_Atomic int q;
pthread_mutex_t m, n;
pthread_cond_t c;
sem_t s;
";

fn statement(random: &mut Prng, out: &mut String, depth: u32) {
    let place = ["x", "y", "q"][random.below(3) as usize];
    let other = ["x", "y", "q"][random.below(3) as usize];
    let value = random.below(3);
    let _ = match random.below(if depth > 1 { 4 } else { 12 }) {
        0 => writeln!(out, "{place} = {value};"),
        1 => writeln!(out, "{place} = {other} + 1;"),
        2 => writeln!(out, "if ({place} == {value}) {other} = 2;"),
        3 => writeln!(out, "if ({place} == {value} && {other} == 2) reach_error();"),
        4 | 5 => {
            let lock = ["m", "n"][random.below(2) as usize];
            let _ = writeln!(out, "pthread_mutex_lock(&{lock});");
            statement(random, out, depth + 1);
            writeln!(out, "pthread_mutex_unlock(&{lock});")
        }
        6 => {
            let _ = writeln!(out, "if (!pthread_mutex_trylock(&m)) {{");
            statement(random, out, depth + 1);
            writeln!(out, "pthread_mutex_unlock(&m); }}")
        }
        7 => writeln!(out, "{}(&s);", ["sem_wait", "sem_post"][random.below(2) as usize]),
        8 => writeln!(out, "pthread_mutex_lock(&m); if (!flag) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);"),
        9 => writeln!(out, "pthread_mutex_lock(&m); flag = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);"),
        10 => {
            let _ = writeln!(out, "__VERIFIER_atomic_begin();");
            statement(random, out, 2);
            statement(random, out, 2);
            writeln!(out, "__VERIFIER_atomic_end();")
        }
        _ => writeln!(out, "{place}++;"),
    };
}

fn random_program(seed: u64) -> String {
    let mut random = Prng::new(seed);
    let mut text = HEADER.to_string();
    let threads = 2 + random.below(2);
    for thread in 0..threads {
        let _ = writeln!(text, "void *t{thread}(void *unused) {{");
        for _ in 0..2 + random.below(5 - threads) {
            statement(&mut random, &mut text, 0);
        }
        text.push_str("return 0; }\n");
    }
    text.push_str("int main(void) { pthread_t h[3]; sem_init(&s, 0, 1);\n");
    for thread in 0..threads {
        let _ = writeln!(text, "pthread_create(&h[{thread}], 0, t{thread}, 0);");
    }
    for thread in 0..threads {
        if random.below(4) > 0 {
            let _ = writeln!(text, "pthread_join(h[{thread}], 0);");
        }
    }
    let (a, b) = (random.below(4), random.below(4));
    let _ = writeln!(text, "if (x == {a} && y == {b}) reach_error(); return 0; }}");
    text
}

/// The fewest preemptions with which something happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Fewest {
    assertion: Option<u32>,
    deadlock: Option<u32>,
}

fn can_step(machine: &Machine<'_>, thread: ThreadId) -> bool {
    let leaves = match machine.next_op(thread) {
        Next::Terminator(t) => matches!(t.kind, TerminatorKind::Exit(_) | TerminatorKind::Abort),
        Next::Instr(_) => false,
    };
    machine.enabled(thread) && !leaves
}

/// Every state by every way with few preemptions; a switch can come before any visible step outside of atomic sections.
fn plain(program: &Program, spurious: bool, bound: u32) -> Option<Fewest> {
    let image = Image::new(program);
    let mut fewest = Fewest::default();
    let mut levels: Vec<Vec<(Machine<'_>, ThreadId)>> = vec![Vec::new(); bound as usize + 2];
    levels[0].push((Machine::new(&image, &machine_options(spurious)), MAIN));
    let mut seen = HashSet::new();
    for preemptions in 0..=bound {
        while let Some((mut machine, last)) = levels[preemptions as usize].pop() {
            // What nobody can see is done at once.
            let mut is_over = false;
            while let Some(thread) = machine.enabled_threads().into_iter().find(|t| !machine.is_visible(*t)) {
                match machine.step(thread, &mut Captured::new(0)) {
                    StepResult::Done => {}
                    StepResult::Violation(violation) => {
                        assert_eq!(violation.kind, ViolationKind::Assertion);
                        fewest.assertion.get_or_insert(preemptions);
                        is_over = true;
                        break;
                    }
                    _ => unreachable!(),
                }
            }
            let mut hasher = DefaultHasher::new();
            (&machine, last.0).hash(&mut hasher);
            if is_over || !seen.insert(hasher.finish()) {
                continue;
            }
            if seen.len() > 20_000 {
                return None;
            }
            look_for_deadlock(&machine, preemptions, &mut fewest);
            for thread in machine.threads().ids().filter(|thread| can_step(&machine, *thread)) {
                let costs = u32::from(thread != last && can_step(&machine, last));
                let mut next = machine.clone();
                match next.step(thread, &mut Captured::new(0)) {
                    StepResult::Done => levels[(preemptions + costs) as usize].push((next, thread)),
                    result => unreachable!("{result:?}"),
                }
            }
        }
    }
    Some(fewest)
}

fn look_for_deadlock(machine: &Machine<'_>, preemptions: u32, fewest: &mut Fewest) {
    let is_stuck = machine.enabled_threads().is_empty() && !machine.is_over();
    let is_deadlock = is_stuck && matches!(machine.deadlock(), Ending::Deadlock(blocked) if !blocked.is_empty());
    if is_deadlock || machine.threads().ids().any(|thread| is_in_circle(machine, thread)) {
        fewest.deadlock.get_or_insert(preemptions);
    }
}

fn is_in_circle(machine: &Machine<'_>, start: ThreadId) -> bool {
    let mut at = start;
    for _ in 0..machine.threads().len() {
        match machine.wait(at) {
            Some(Wait::Lock { owner: Some(owner), .. }) if machine.threads()[at].status == Status::Running => {
                at = owner
            }
            _ => return false,
        }
        if at == start {
            return true;
        }
    }
    false
}

fn program_of(text: &str) -> Program {
    let input = Input::Preprocessed { name: "random.c".to_string(), text: text.as_bytes().to_vec() };
    compile(&[input], &Options::default()).unwrap_or_else(|failure| panic!("{failure}\n{text}")).program
}

fn explore_bounded(program: &Program, properties: Properties, preemptions: Option<u32>) -> Explored {
    let bounds = Bounds { preemptions, executions: Some(30_000), depth: 1_000, ..Bounds::default() };
    explore(&Facts::new(program), &Task { bounds, ..Task::new(properties) }, &Context::default())
}

#[test]
fn what_needs_few_preemptions_is_found_with_few() {
    let count = std::env::var("LENO_ORACLE").ok().and_then(|count| count.parse().ok()).unwrap_or(60);
    const MOST: u32 = 2;
    let (mut compared, mut found) = (0, 0);
    for seed in 0..count {
        let text = random_program(seed);
        let program = program_of(&text);
        let (Some(spurious), Some(without)) = (plain(&program, true, MOST), plain(&program, false, MOST)) else {
            continue;
        };
        let questions = [
            (Properties { assertion: true, ..Properties::NONE }, spurious.assertion, "assertion"),
            (Properties { deadlock: true, ..Properties::NONE }, without.deadlock, "deadlock"),
        ];
        for (properties, fewest, name) in questions {
            for bound in 0..=MOST {
                let explored = explore_bounded(&program, properties, Some(bound));
                if explored.stats.executions > 30_000 {
                    continue;
                }
                let is_expected = fewest.is_some_and(|fewest| fewest <= bound);
                if explored.finding.is_none() {
                    assert!(!is_expected, "{name} with {bound} preemptions is missed, seed {seed}: {fewest:?}\n{text}");
                }
                // Without a cut the answer is for any number of preemptions.
                if explored.incomplete.is_none() && explored.finding.is_none() {
                    let all = explore_bounded(&program, properties, None);
                    assert!(all.finding.is_none(), "{name} is not safe, seed {seed}\n{text}");
                }
                compared += 1;
                found += u32::from(is_expected);
            }
        }
    }
    println!("{compared} answers compared on {count} programs, {found} times something was to be found");
    assert!(compared * 2 > count * 6, "too few comparisons: {compared}");
}

#[test]
fn a_bound_is_told_from_a_proof() {
    let body = |unlock: &str| {
        format!(
            "{HEADER}
            void *add(void *unused) {{ pthread_mutex_lock(&m); int old = x; {unlock} x = old + 1; pthread_mutex_unlock(&m); return 0; }}
            int main(void) {{
                pthread_t a, b; pthread_create(&a, 0, add, 0); pthread_create(&b, 0, add, 0); pthread_join(a, 0); pthread_join(b, 0);
                if (x != 2) reach_error(); return 0;
            }}"
        )
    };
    let assertion = Properties { assertion: true, ..Properties::NONE };
    let broken = program_of(&body("pthread_mutex_unlock(&m); pthread_mutex_lock(&m);"));
    let none = explore_bounded(&broken, assertion, Some(0));
    assert_eq!(none.finding, None);
    assert_eq!(none.incomplete, Some(Incomplete::Preemptions(0)));
    assert!(explore_bounded(&broken, assertion, Some(1)).finding.is_some());
    // Nobody ever takes over from a thread that could go on, if there is only one at a time.
    let alone = program_of(&format!(
        "{HEADER} void *one(void *unused) {{ x = x + 1; return 0; }}
        int main(void) {{ pthread_t a; pthread_create(&a, 0, one, 0); pthread_join(a, 0); return x - 1; }}"
    ));
    let safe = explore_bounded(&alone, assertion, Some(0));
    assert_eq!((safe.finding, safe.incomplete), (None, None));
}

/// A lock made of a loop: waiting in it is no preemption.
#[test]
fn waiting_in_a_loop_is_no_preemption() {
    let program = program_of(&format!(
        "{HEADER} void *first(void *unused) {{ while (q != 1) ; x = 1; q = 2; return 0; }}
        int main(void) {{
            pthread_t a; pthread_create(&a, 0, first, 0); q = 1; while (q != 2) ; if (x == 1) reach_error(); return 0;
        }}"
    ));
    let assertion = Properties { assertion: true, ..Properties::NONE };
    assert!(explore_bounded(&program, assertion, Some(0)).finding.is_some());
}
