//! Limits: of time, of memory, of preemptions, and the patience of whoever presses Ctrl-C. Each ends with UNKNOWN, exit
//! code 2, and says how far it got.

use crate::cli;
use leno_testing::Scratch;
use leno_testing::process::{Ending, run_patiently};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Far too many schedules.
const ENDLESS: &str = "#include <pthread.h>
_Atomic int x[8];
void *work(void *unused) { long sum = 0; for (int i = 0; i < 8; i++) sum += x[i]++; return (void *)sum; }
int main(void) {
    pthread_t t[6];
    for (int i = 0; i < 6; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 6; i++) pthread_join(t[i], 0);
    return 0;
}
";

/// One object of three gigabytes, and every page of it written.
const LARGE: &str = "#include <pthread.h>
#include <stdlib.h>
int x;
void *work(void *unused) { x = 1; return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    char *all = malloc(3ul << 30);
    for (unsigned long i = 0; i < 3ul << 30; i += 4096) all[i] = 1;
    pthread_join(t, 0);
    return 0;
}
";

/// Small objects without end.
const MANY: &str = "#include <stdlib.h>
struct node { struct node *next; char room[5000]; } *head;
int main(void) {
    for (;;) {
        struct node *node = malloc(sizeof *node);
        node->next = head;
        for (int i = 0; i < 5000; i += 1000) node->room[i] = 1;
        head = node;
    }
}
";

/// An execution that is long, of large states.
const DEEP: &str = "#include <pthread.h>
_Atomic int x;
int a[100000];
void *work(void *unused) { for (int i = 0; i < 100000; i++) { x++; a[i] = i; } return 0; }
int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
";

/// A list that another thread goes along while it grows, as long as somebody wants.
const LIST: &str = "#include <pthread.h>
#include <stdlib.h>
void reach_error(void);
int __VERIFIER_nondet_int(void);
struct node { struct node *next; int value; } *head;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *look(void *unused) {
    pthread_mutex_lock(&lock);
    for (struct node *node = head; node; node = node->next)
        if (node->value == 0) reach_error();
    pthread_mutex_unlock(&lock);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, look, 0);
    for (int i = __VERIFIER_nondet_int(); i > 0; i--) {
        struct node *node = malloc(sizeof *node);
        pthread_mutex_lock(&lock);
        node->next = head;
        node->value = i;
        head = node;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
";

/// What `leno check` says about a program.
fn check(engine: &str, program: &str, words: &[&str]) -> (Ending, String) {
    check_by(Command::new(env!("CARGO_BIN_EXE_leno")), engine, program, words)
}

fn check_by(mut command: Command, engine: &str, program: &str, words: &[&str]) -> (Ending, String) {
    let scratch = Scratch::with(&[("a.c", program)]);
    command.current_dir(scratch.folder()).args(["check", "--engine", engine, "--property", "assert"]);
    let finished = run_patiently(command.args(words).arg("a.c").env_remove("CC"));
    (finished.ending, finished.output())
}

#[track_caller]
fn is_unknown(program: &str, words: &[&str], reason: &str) {
    let (ending, said) = check("explore", program, words);
    assert_eq!(ending, Ending::Status(2), "{said}");
    assert!(said.starts_with(&format!("UNKNOWN: {reason}")), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[1].starts_with("  = no violation "), "{said}");
    assert!(lines[2].starts_with("  = help: "), "{said}");
}

/// Whether loops were unrolled up to some bound, and all that was looked at completely.
fn has_come_somewhere(said: &str) -> bool {
    let bounded = "  = no violation under any schedule while the loop at a.c:";
    said.lines().nth(1).is_some_and(|line| line.starts_with(bounded) && line.ends_with(" times"))
}

/// UNKNOWN, for a reason, and with bounds that were completely explored.
#[track_caller]
fn is_explored_up_to_a_bound((ending, said): (Ending, String), reason: &str) {
    assert_eq!(ending, Ending::Status(2), "{said}");
    assert!(said.starts_with(&format!("UNKNOWN: {reason}")), "{said}");
    assert!(has_come_somewhere(&said), "{said}");
    assert!(said.lines().nth(2).is_some_and(|line| line.starts_with("  = help: ")), "{said}");
}

/// More and more time, until the machine has been given enough to come somewhere.
#[test]
fn the_staged_engine_keeps_to_time() {
    for seconds in [1, 4, 16, 64, 256] {
        let (ending, said) = check("staged", LIST, &["--timeout", &seconds.to_string()]);
        assert_eq!(ending, Ending::Status(2), "{said}");
        assert!(said.starts_with(&format!("UNKNOWN: the time limit of {seconds} s was reached")), "{said}");
        if has_come_somewhere(&said) {
            return;
        }
    }
    panic!("no bound was completed");
}

#[test]
fn the_staged_engine_keeps_to_memory() {
    let said = check("staged", LIST, &["--memory", "150"]);
    is_explored_up_to_a_bound(said, "the memory limit of 150 MiB was reached");
}

/// Beyond a limit on the address space allocations fail, also those of the solver: that must never be tried.
#[test]
fn the_staged_engine_keeps_to_its_address_space() {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 2600000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_leno")]);
    let said = check_by(command, "staged", LIST, &["--memory", "100000"]);
    is_explored_up_to_a_bound(said, "the memory limit of 2539 MiB was reached");
}

#[test]
fn time_runs_out() {
    is_unknown(ENDLESS, &["--timeout", "1"], "the time limit of 1 s was reached");
}

#[test]
fn memory_runs_out() {
    is_unknown(LARGE, &["--memory", "300"], "the program allocates more memory than it may");
    is_unknown(MANY, &["--memory", "100"], "the memory limit of 100 MiB was reached");
    is_unknown(DEEP, &["--memory", "60"], "the memory limit of 60 MiB was reached");
}

#[test]
fn memory_runs_out_before_the_search_begins() {
    let body = "a = a * 3 + (a + 1) * (a + 2);\n".repeat(100_000);
    let program = format!("int main(void) {{ int a = 0;\n{body} return a; }}\n");
    for engine in ["explore", "staged"] {
        let (ending, said) = check(engine, &program, &["--memory", "30"]);
        assert_eq!(ending, Ending::Status(2), "{said}");
        assert!(said.starts_with("UNKNOWN: the memory limit of 30 MiB was reached\n"), "{said}");
        assert!(said.contains("\n  = nothing was looked at completely\n"), "{said}");
    }
}

#[test]
fn few_preemptions_are_no_proof() {
    let lost = "#include <pthread.h>\nvoid reach_error(void);\nint x;
        void *add(void *unused) { x = x + 1; return 0; }
        int main(void) {
            pthread_t a, b; pthread_create(&a, 0, add, 0); pthread_create(&b, 0, add, 0);
            pthread_join(a, 0); pthread_join(b, 0); if (x != 2) reach_error(); return 0; }\n";
    is_unknown(lost, &["--preemptions", "0"], "schedules with more preemptions were left out");
    let (ending, said) = check("explore", lost, &["--preemptions", "1", "--no-replay"]);
    assert_eq!(ending, Ending::Status(1), "{said}");
}

/// What is said when Ctrl-C is pressed after so much processor time.
fn interrupt(engine: &str, program: &str, busy: Duration) -> String {
    let scratch = Scratch::with(&[("a.c", program)]);
    let mut command = cli::command(scratch.folder(), &["check", "--engine", engine, "--property", "assert", "a.c"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("leno runs");
    while processor_time(child.id()) < busy {
        assert_eq!(child.try_wait().expect("it can be waited for"), None, "it ended by itself");
        std::thread::sleep(Duration::from_millis(10));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("UNKNOWN: it was interrupted\n"), "{said}");
    said
}

/// How long a process has been at work, of the time in which it was there.
fn processor_time(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it is still there");
    let (_, fields) = stat.rsplit_once(')').expect("the name of the program is in parentheses");
    let ticks = |field: usize| fields.split_whitespace().nth(field).and_then(|ticks| ticks.parse::<u64>().ok());
    Duration::from_millis(10 * (ticks(11).expect("user time") + ticks(12).expect("system time")))
}

#[test]
fn ctrl_c_ends_it_with_what_is_known() {
    let said = interrupt("explore", ENDLESS, Duration::from_secs(1));
    assert!(said.contains("\n  = no violation in "), "{said}");
    // Longer and longer, until it has come somewhere.
    let mut seconds = [1, 4, 16, 64].into_iter().map(Duration::from_secs);
    assert!(seconds.any(|busy| has_come_somewhere(&interrupt("staged", LIST, busy))));
}
