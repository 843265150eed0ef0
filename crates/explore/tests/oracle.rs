//! The reduced search against the plain one.
//!
//! Small random programs are explored twice: by [`leno_explore::explore`], and by a search that knows nothing but the interpreter:
//! it makes every enabled step in every state that can be reached, and remembers the states it has seen. Both must say the
//! same about assertions, races and deadlocks, and every finding must be a real execution.

use leno_c::driver::{Input, Options, compile};
use leno_explore::{Limits, Properties, explore, options, witness};
use leno_ir::interp::{
    Captured, Ending, Environment, FileHandle, Image, Machine, OpenMode, Prng, Source, Status, StepResult, ThreadId,
    ViolationKind, Wait,
};
use leno_ir::program::Program;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::SeekFrom;

const HEADER: &str = "
typedef unsigned long pthread_t;
typedef union { char bytes[40]; long align; } pthread_mutex_t;
typedef union { char bytes[56]; long align; } pthread_rwlock_t;
typedef union { char bytes[48]; long align; } pthread_cond_t;
typedef union { char bytes[32]; long align; } sem_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
int pthread_join(pthread_t, void **);
int pthread_mutex_lock(pthread_mutex_t *), pthread_mutex_unlock(pthread_mutex_t *), pthread_mutex_trylock(pthread_mutex_t *);
int pthread_rwlock_rdlock(pthread_rwlock_t *), pthread_rwlock_wrlock(pthread_rwlock_t *), pthread_rwlock_unlock(pthread_rwlock_t *);
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *), pthread_cond_signal(pthread_cond_t *), pthread_cond_broadcast(pthread_cond_t *);
int sem_init(sem_t *, int, unsigned), sem_wait(sem_t *), sem_post(sem_t *);
_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void);
void __VERIFIER_assume(int);
void reach_error(void);
#define assert(c) do { if (!(c)) reach_error(); } while (0)
int x, y, a[2], flag;
_Atomic int q, r;
int *p = &x;
pthread_mutex_t m, n;
pthread_rwlock_t w;
pthread_cond_t c;
sem_t s;
";

/// Writes one random program.
struct Writer {
    random: Prng,
    text: String,
    /// What may be used: a program with everything in it has too many states.
    flavour: u64,
}

impl Writer {
    fn below(&mut self, n: u64) -> u64 {
        self.random.below(n)
    }

    fn place(&mut self) -> &'static str {
        ["x", "y", "a[0]", "a[1]", "(*p)", "x"][self.below(6) as usize]
    }

    fn value(&mut self) -> String {
        match self.below(5) {
            0 => self.place().to_string(),
            1 => "q".to_string(),
            2 => format!("{} + 1", self.place()),
            _ => self.below(3).to_string(),
        }
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn statement(&mut self, depth: u32) {
        let (place, value) = (self.place(), self.value());
        match (self.below(11), self.flavour) {
            (0..=2, _) => self.line(&format!("{place} = {value};")),
            (3, _) => self.line(&format!("{place}++;")),
            (4, _) => {
                let limit = self.below(3);
                self.line(&format!("if ({place} == {limit}) {{"));
                if depth < 2 {
                    self.statement(depth + 1);
                }
                self.line("}");
            }
            (5, _) => {
                let line = [
                    "q++;",
                    "r = q;",
                    "__atomic_fetch_add(&q, 1, 5);",
                    "{ int e = 0; __atomic_compare_exchange_n(&q, &e, 2, 0, 5, 5); }",
                ];
                let which = self.below(4) as usize;
                self.line(line[which]);
            }
            (6, 0 | 1) => {
                let lock = ["m", "n"][self.below(2) as usize];
                self.line(&format!("pthread_mutex_lock(&{lock});"));
                self.statement(depth + 1);
                if self.below(12) > 0 {
                    self.line(&format!("pthread_mutex_unlock(&{lock});"));
                }
            }
            (6, 2) => {
                let kind = ["rd", "wr"][self.below(2) as usize];
                self.line(&format!("pthread_rwlock_{kind}lock(&w);"));
                self.statement(depth + 1);
                self.line("pthread_rwlock_unlock(&w);");
            }
            (7, 0) => {
                self.line("if (!pthread_mutex_trylock(&m)) {");
                self.statement(depth + 1);
                self.line("pthread_mutex_unlock(&m); }");
            }
            (7, 1) => {
                let signal = ["signal", "broadcast"][self.below(2) as usize];
                match self.below(3) {
                    0 => self.line(
                        "pthread_mutex_lock(&m); while (!flag) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);",
                    ),
                    1 => self.line(
                        "pthread_mutex_lock(&m); if (!flag) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);",
                    ),
                    _ => self.line(&format!(
                        "pthread_mutex_lock(&m); flag = 1; pthread_cond_{signal}(&c); pthread_mutex_unlock(&m);"
                    )),
                }
            }
            (7, 2) => {
                let op = ["sem_wait", "sem_post"][self.below(2) as usize];
                self.line(&format!("{op}(&s);"));
            }
            (8, 3) => {
                let spin = [
                    "while (!q);",
                    "while (!__sync_bool_compare_and_swap(&r, 0, 1)); ",
                    "while (q < 1) { int e = r; (void)e; }",
                    "do { pthread_mutex_lock(&m); if (q) { pthread_mutex_unlock(&m); break; } pthread_mutex_unlock(&m); } while (1);",
                ];
                let which = self.below(4) as usize;
                self.line(spin[which]);
            }
            (8, 4) => {
                self.line("__VERIFIER_atomic_begin();");
                self.statement(2);
                self.statement(2);
                self.line("__VERIFIER_atomic_end();");
            }
            (9, _) => self.line(&format!("if (__VERIFIER_nondet_bool()) {place} = 2;")),
            (10, _) if self.below(3) == 0 => self.line(&format!("__VERIFIER_assume({place} != 1);")),
            _ => {
                let limit = self.below(4);
                self.line(&format!("assert({place} != {limit} || {value} != 1);"));
            }
        }
    }

    fn program(seed: u64) -> String {
        let mut writer = Writer {
            random: Prng::new(seed),
            text: HEADER.replace("#define assert(c) do { if (!(c)) reach_error(); } while (0)\n", ""),
            flavour: seed % 5,
        };
        let threads = 2 + writer.below(2);
        for thread in 0..threads {
            writer.line(&format!("void *t{thread}(void *unused) {{"));
            for _ in 0..2 + writer.below(5 - threads) {
                writer.statement(0);
            }
            writer.line("return 0; }");
        }
        writer.line("int main(void) { pthread_t h[3]; sem_init(&s, 0, 1); if (__VERIFIER_nondet_bool()) p = &y;");
        for thread in 0..threads {
            writer.line(&format!("pthread_create(&h[{thread}], 0, t{thread}, 0);"));
            if writer.below(3) == 0 {
                writer.statement(1);
            }
        }
        for thread in 0..threads {
            if writer.below(5) > 0 {
                writer.line(&format!("pthread_join(h[{thread}], 0);"));
            }
        }
        let limit = writer.below(4);
        writer.line(&format!("assert(x + y != {limit}); return 0; }}"));
        // There is no preprocessor here.
        let mut text = String::new();
        for line in writer.text.lines() {
            match line.find("assert(") {
                Some(at) => {
                    let end = line[at..].find(';').map_or(line.len(), |end| at + end);
                    let cond = &line[at + "assert".len()..end];
                    let _ = writeln!(text, "{}if (!{cond}) reach_error(){}", &line[..at], &line[end..]);
                }
                None => {
                    let _ = writeln!(text, "{line}");
                }
            }
        }
        text
    }
}

/// Gives one step the values that are to be tried, and counts how many it asked for.
#[derive(Default)]
struct Bits {
    script: Vec<u128>,
    asked: usize,
}

impl Environment for Bits {
    fn nondet(&mut self, _: ThreadId, _: u16, _: Source) -> u128 {
        self.asked += 1;
        self.script.get(self.asked - 1).copied().unwrap_or(0)
    }
    fn write(&mut self, _: FileHandle, _: &[u8]) -> bool {
        true
    }
    fn read(&mut self, _: FileHandle, _: &mut [u8]) -> Option<usize> {
        Some(0)
    }
    fn open(&mut self, _: &[u8], _: OpenMode) -> Option<FileHandle> {
        None
    }
    fn close(&mut self, _: FileHandle) {}
    fn seek(&mut self, _: FileHandle, _: SeekFrom) -> Option<u64> {
        None
    }
    fn flush(&mut self, _: FileHandle) {}
    fn remove(&mut self, _: &[u8]) -> bool {
        false
    }
    fn clock(&mut self) -> u64 {
        0
    }
}

/// What can happen in some state that can be reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Truth {
    assertion: bool,
    race: bool,
    deadlock: bool,
}

/// Every state, every enabled thread, every value. None when there are too many states.
fn plain_search(program: &Program, spurious_wakeups: bool, most: usize) -> Option<Truth> {
    let image = Image::new(program);
    let mut truth = Truth::default();
    let mut seen = HashSet::new();
    let mut stack = vec![Machine::new(&image, &options(spurious_wakeups))];
    while let Some(machine) = stack.pop() {
        let mut hasher = DefaultHasher::new();
        machine.hash(&mut hasher);
        if !seen.insert(hasher.finish()) {
            continue;
        }
        if seen.len() > most {
            return None;
        }
        // A step that nobody can notice may as well be made first.
        let enabled: Vec<ThreadId> = machine.enabled_threads();
        let invisible = enabled.iter().find(|thread| !machine.is_visible(**thread)).copied();
        look(&machine, &enabled, invisible.is_some(), &mut truth);
        for thread in invisible.map_or(enabled, |thread| vec![thread]) {
            for value in [0, 1] {
                let mut next = machine.clone();
                let mut bits = Bits { script: vec![value], asked: 0 };
                match next.step(thread, &mut bits) {
                    StepResult::Done => stack.push(next),
                    StepResult::Violation(violation) if violation.kind == ViolationKind::Assertion => {
                        truth.assertion = true
                    }
                    StepResult::Violation(violation) => panic!("{violation:?}"),
                    StepResult::Blocked | StepResult::Exited(_) | StepResult::Aborted => {}
                }
                assert!(bits.asked <= 1);
                if bits.asked == 0 {
                    break;
                }
            }
        }
    }
    Some(truth)
}

fn look(machine: &Machine<'_>, enabled: &[ThreadId], is_between: bool, truth: &mut Truth) {
    if enabled.is_empty() && !machine.is_over() {
        truth.deadlock |= matches!(machine.deadlock(), Ending::Deadlock(blocked) if !blocked.is_empty());
    }
    let ids: Vec<ThreadId> = machine.threads().ids().collect();
    truth.deadlock |= ids.iter().any(|thread| is_in_circle(machine, *thread));
    if is_between {
        return;
    }
    for (index, first) in enabled.iter().enumerate() {
        for second in &enabled[index + 1..] {
            if let (Some(a), Some(b)) = (machine.footprint(*first), machine.footprint(*second)) {
                truth.race |= a.conflicts(b) && !(a.atomic && b.atomic);
            }
        }
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
    match compile(&[input], &Options::default()) {
        Ok(compiled) => compiled.program,
        Err(failure) => panic!("{failure}\n{text}"),
    }
}

/// What the reduced search says about one property; None when it does not know.
fn reduced(program: &Program, properties: Properties, text: &str) -> Option<bool> {
    let limits = Limits { interrupted: &|stats| stats.executions > 1_000, depth: 500 };
    let explored = explore(program, properties, &limits);
    let Some(finding) = &explored.finding else { return explored.incomplete.is_none().then_some(false) };
    // Whatever is found must be a real execution.
    let found = witness(program, finding);
    let image = Image::new(program);
    let followed = found.follow(&image, &options(finding.spurious_wakeups), Captured::new(0));
    let followed = followed.unwrap_or_else(|astray| panic!("{astray:?}\n{text}"));
    let is_violation = matches!(followed.1, Some(StepResult::Violation(_)));
    assert_eq!(is_violation, properties.assertion, "{:?}\n{text}", finding.what);
    Some(true)
}

fn compare(seed: u64, compared: &mut u64) {
    let text = Writer::program(seed);
    let program = program_of(&text);
    let Some(with_spurious) = plain_search(&program, true, 15_000) else { return };
    let Some(without) = plain_search(&program, false, 15_000) else { return };
    let has_sections = text.lines().any(|line| line == "__VERIFIER_atomic_begin();");
    let questions = [
        (Properties { assertion: true, ..Properties::NONE }, with_spurious.assertion, "assertion"),
        (Properties { deadlock: true, ..Properties::NONE }, without.deadlock, "deadlock"),
        (Properties { race: true, ..Properties::NONE }, with_spurious.race, "race"),
    ];
    for (properties, truth, name) in questions {
        if properties.race && has_sections {
            continue; // a section is one step that makes several accesses: the plain search does not see that
        }
        if let Some(answer) = reduced(&program, properties, &text) {
            assert_eq!(answer, truth, "{name}, seed {seed}:\n{text}");
            *compared += 1;
        }
    }
}

#[test]
fn the_reduced_search_agrees_with_the_plain_one() {
    let count = std::env::var("LENO_ORACLE").ok().and_then(|count| count.parse().ok()).unwrap_or(30);
    let mut compared = 0;
    for seed in 0..count {
        compare(seed, &mut compared);
    }
    println!("{compared} answers compared on {count} programs");
    assert!(compared * 2 > count, "too few comparisons: {compared}");
}
