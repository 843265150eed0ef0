//! Witnesses get shorter and stay true: those of the explorer, and messy ones from random schedules.

use leno_c::driver::{Input as Source, Options, compile};
use leno_engine::witness::{Stepped, follow};
use leno_engine::{Bounds, Context, Properties, Task, machine_options};
use leno_explore::{context_switches, explore, shorten, witness};
use leno_ir::analysis::facts::Facts;
use leno_ir::interp::{Captured, Image, Machine, Prng, Status, StepResult};
use leno_ir::program::Program;
use leno_ir::witness::{Claim, Observer, Recorder, Witness};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The same kind of violation at the same place, by an execution that the interpreter can make.
fn check(name: &str, program: &Program, before: &Witness, after: &Witness) {
    let spurious = !matches!(before.claim, Claim::Deadlock { .. });
    let image = Image::new(program);
    let followed = follow(after, &image, &machine_options(spurious));
    let (mut follower, mut result) = followed.unwrap_or_else(|astray| panic!("{name}: {astray:?} in {after:#?}"));
    if let (Claim::Violation { thread, .. }, None) = (&after.claim, &result) {
        // The violation is what the next schedule point does.
        result = Some(follower.step(follower.thread(thread).unwrap()));
    }
    let machine = &follower.machine;
    let id = |wanted: &str| machine.threads().ids().find(|id| machine.thread_name(*id) == wanted).unwrap();
    let span = |thread: &str| machine.image().span(machine.pc(id(thread)));
    match (&before.claim, &after.claim, result) {
        (Claim::Violation { kind, span, .. }, Claim::Violation { kind: k, span: s, thread, .. }, Some(result)) => {
            let Stepped::Violation(violation) = result else { panic!("{name}: {result:?}") };
            assert_eq!(
                (violation.kind, violation.span, violation.thread_name.as_str()),
                (*kind, *span, thread.as_str())
            );
            assert_eq!((k, s), (kind, span));
        }
        (Claim::Race { first, second, .. }, Claim::Race { first: one, second: other, .. }, None) => {
            assert_eq!((first.span, second.span), (one.span, other.span), "{name}");
            assert_eq!((span(&one.thread), span(&other.thread)), (one.span, other.span), "{name}");
            assert_ne!(one.thread, other.thread);
            if let (Some(a), Some(b)) = (machine.footprint(id(&one.thread)), machine.footprint(id(&other.thread))) {
                assert!(a.conflicts(b) && !(a.atomic && b.atomic), "{name}");
            }
        }
        (Claim::Deadlock { waiting }, Claim::Deadlock { waiting: now }, None) => {
            assert_eq!(waiting.len(), now.len(), "{name}");
            for waiting in now {
                assert!(machine.wait(id(&waiting.thread)).is_some(), "{name}: {} does not wait", waiting.thread);
                assert_eq!(span(&waiting.thread), waiting.span, "{name}");
            }
        }
        (claim, _, result) => panic!("{name}: {claim:?} became {result:?}"),
    }
    assert!(context_switches(after) <= context_switches(before), "{name}");
}

fn shortened(name: &str, program: &Program, before: &Witness) -> Witness {
    let spurious = !matches!(before.claim, Claim::Deadlock { .. });
    let facts = Facts::new(program);
    let after = shorten(&facts, before, &machine_options(spurious));
    check(name, program, before, &after);
    assert_eq!(after, shorten(&facts, before, &machine_options(spurious)), "{name}: the same every time");
    after
}

const HEADER: &str = "
typedef unsigned long pthread_t;
typedef struct { long words[5]; } pthread_mutex_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *), pthread_join(pthread_t, void **);
int pthread_mutex_lock(pthread_mutex_t *), pthread_mutex_unlock(pthread_mutex_t *);
_Bool __VERIFIER_nondet_bool(void);
void reach_error(void);
int x, y, z;
pthread_mutex_t m, n;
pthread_t t1, t2, t3, t4;
";

fn program_of(text: &str) -> Program {
    let text = format!("{HEADER}{text}").into_bytes();
    let input = Source::Preprocessed { name: "short.c".to_string(), text };
    compile(&[input], &Options::default()).unwrap_or_else(|failure| panic!("{failure}")).program
}

/// What a random schedule comes to, if it is wrong.
fn random_witness(program: &Program, seed: u64, deadlock: bool) -> Option<Witness> {
    let image = Image::new(program);
    let mut machine = Machine::new(&image, &machine_options(!deadlock));
    let (mut recorder, mut random, mut env) = (Recorder::default(), Prng::new(seed), Captured::new(seed));
    let claim = loop {
        let enabled = machine.enabled_threads();
        if enabled.is_empty() {
            let leno_ir::interp::Ending::Deadlock(blocked) = machine.deadlock() else { return None };
            let waiting = blocked.iter().map(|blocked| leno_ir::witness::Waiting {
                thread: blocked.thread_name.clone(),
                span: machine.image().span(machine.pc(blocked.thread)),
                reason: blocked.reason.clone(),
            });
            break Claim::Deadlock { waiting: waiting.collect() };
        }
        let thread = enabled[random.below(enabled.len() as u64) as usize];
        recorder.before(&machine, thread);
        match machine.step(thread, &mut env) {
            StepResult::Done => recorder.after(&machine, thread),
            StepResult::Violation(violation) => {
                let kind = violation.kind;
                break Claim::Violation {
                    kind,
                    thread: violation.thread_name.clone(),
                    span: violation.span,
                    message: violation.message.clone(),
                };
            }
            StepResult::Blocked => {}
            StepResult::Exited(_) | StepResult::Aborted => return None,
        }
        if machine.threads().iter().all(|thread| thread.status != Status::Running) {
            return None;
        }
    };
    Some(Witness { claim, steps: recorder.steps, inputs: BTreeMap::new() })
}

/// Programs, and the fewest context switches with which they fail.
const KNOWN: &[(&str, usize, &str)] = &[
    ("lost update", 4, "
void *add(void *unused) { x = x + 1; return 0; }
int main(void) {
    pthread_create(&t1, 0, add, 0); pthread_create(&t2, 0, add, 0); pthread_join(t1, 0); pthread_join(t2, 0);
    if (x != 2) reach_error();
}"),
    ("lost update among bystanders", 4, "
void *add(void *unused) { x = x + 1; return 0; }
void *other(void *unused) { for (int i = 0; i < 4; i++) { y = y + 1; z = y; } return 0; }
int main(void) {
    pthread_create(&t3, 0, other, 0); pthread_create(&t1, 0, add, 0); pthread_create(&t4, 0, other, 0);
    pthread_create(&t2, 0, add, 0); pthread_join(t1, 0); pthread_join(t2, 0);
    if (x != 2) reach_error();
}"),
    ("alone", 0, "
void *other(void *unused) { for (int i = 0; i < 4; i++) { y = y + 1; z = y; } return 0; }
int main(void) {
    pthread_create(&t1, 0, other, 0); pthread_create(&t2, 0, other, 0);
    x = 1; x = x + 1;
    if (x == 2) reach_error();
}"),
    ("ping-pong", 4, "
void *ping(void *unused) { x = 1; if (y == 1) x = 2; return 0; }
void *pong(void *unused) { if (x == 1) { y = 1; if (x == 2) reach_error(); } return 0; }
int main(void) { pthread_create(&t1, 0, ping, 0); pthread_create(&t2, 0, pong, 0); pthread_join(t1, 0); pthread_join(t2, 0); return 0; }"),
    ("a child does it", 1, "
void *child(void *unused) { for (int i = 0; i < 3; i++) z = z + 1; if (x == 1) reach_error(); return 0; }
void *other(void *unused) { for (int i = 0; i < 4; i++) z = z + 1; return 0; }
int main(void) {
    pthread_create(&t1, 0, child, 0); pthread_create(&t2, 0, other, 0);
    x = 1; pthread_join(t1, 0); pthread_join(t2, 0); return 0;
}"),
    ("lock order", 2, "
void *one(void *unused) { pthread_mutex_lock(&m); pthread_mutex_lock(&n); x = 1; pthread_mutex_unlock(&n); pthread_mutex_unlock(&m); return 0; }
void *two(void *unused) { pthread_mutex_lock(&n); pthread_mutex_lock(&m); x = 2; pthread_mutex_unlock(&m); pthread_mutex_unlock(&n); return 0; }
int main(void) {
    pthread_create(&t1, 0, one, 0); pthread_create(&t2, 0, two, 0); pthread_join(t1, 0); pthread_join(t2, 0); return 0;
}"),
];

#[test]
fn messy_witnesses_come_down_to_the_known_minimum() {
    for (name, fewest, text) in KNOWN {
        let program = program_of(text);
        let found: Vec<Witness> =
            (0..20_000).filter_map(|seed| random_witness(&program, seed, *name == "lock order")).take(8).collect();
        assert!(found.len() >= 5, "{name}: {} witnesses", found.len());
        for before in &found {
            let after = shortened(name, &program, before);
            assert_eq!(context_switches(&after), *fewest, "{name}: {:#?}", after.steps);
        }
        let most = found.iter().map(context_switches).max();
        println!("{name}: from up to {most:?} to {fewest}");
    }
}

/// Two threads that pass a token to and fro, very often: far too many schedules to try, but the order hardly leaves a
/// choice.
#[test]
fn a_long_witness_is_shortened_in_bounded_time() {
    let text = "
void *left(void *unused) { for (int i = 0; i < 40; i++) { while (x != 2 * i) ; y = y + 1; x = x + 1; z = z + 1; } return 0; }
void *right(void *unused) { for (int i = 0; i < 40; i++) { while (x != 2 * i + 1) ; y = y + 1; x = x + 1; } return 0; }
int main(void) {
    pthread_create(&t1, 0, left, 0); pthread_create(&t2, 0, right, 0); pthread_join(t1, 0); pthread_join(t2, 0);
    if (y == 80) reach_error();
}";
    let program = program_of(text);
    for seed in 0..3 {
        let before = random_witness(&program, seed, false).expect("it always fails");
        let after = shortened("token", &program, &before);
        assert_eq!(context_switches(&after), 81, "{} before", context_switches(&before));
    }
}

fn c_files(directory: &str, files: &mut Vec<PathBuf>) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(directory);
    let entries = std::fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
    files.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "c")));
}

#[test]
fn what_the_explorer_finds_in_our_programs_stays_true() {
    let mut files = Vec::new();
    for directory in ["examples", "tests/programs/errors", "tests/programs/threads", "crates/replay/tests/programs"] {
        c_files(directory, &mut files);
    }
    files.sort();
    let (mut count, mut before_all, mut after_all) = (0, 0, 0);
    for file in files {
        let Ok(compiled) = compile(&[Source::File(file.clone())], &Options::default()) else { continue };
        let name = file.display().to_string();
        let none = Properties::NONE;
        for properties in [
            Properties::DEFAULT,
            Properties { assertion: true, ..none },
            Properties { deadlock: true, ..none },
            Properties { race: true, ..none },
        ] {
            let bounds = Bounds { executions: Some(500), depth: 500, ..Bounds::default() };
            let task = Task { bounds, ..Task::new(properties) };
            let facts = Facts::new(&compiled.program);
            let Some(finding) = explore(&facts, &task, &Context::default()).finding else { continue };
            let before = witness(&facts, &finding);
            if before.steps.len() > 10_000 {
                continue;
            }
            let after = shortened(&name, &compiled.program, &before);
            count += 1;
            before_all += context_switches(&before);
            after_all += context_switches(&after);
        }
    }
    println!("{count} witnesses: {before_all} context switches, {after_all} after shortening");
    assert!(count > 50, "only {count}");
}
