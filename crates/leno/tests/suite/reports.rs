//! What a report shows of an execution.

use crate::cli;
use leno_testing::Scratch;
use leno_testing::process::Ending;

fn report(program: &str, options: &[&str]) -> String {
    let scratch = Scratch::with(&[("a.c", program)]);
    let said = cli::leno(scratch.folder(), &[&["check", "--no-replay"], options, &["a.c"]].concat());
    let text = said.output();
    assert_eq!(said.ending, Ending::Status(1), "{text}");
    text
}

fn shows(report: &str, lines: &[&str]) {
    lines.iter().for_each(|line| assert!(report.contains(line), "{line}\n{report}"));
}

#[test]
fn values_are_shown_as_the_program_means_them() {
    let program = "#include <assert.h>\n#include <pthread.h>\n#include <stdlib.h>
struct item { int key; double price; struct item *next; };
struct item *head, first; double total = 1.5; int level = -7; _Atomic int next_id; void *(*handler)(void *);
void *work(void *argument) {
    struct item *item = argument;
    item->price = 2.25; item->next = &first; head = item; handler = work; level = level * 2;
    __atomic_fetch_add(&next_id, 3, __ATOMIC_SEQ_CST);
    return 0;
}
int main(void) {
    struct item *item = malloc(sizeof *item);
    if (!item) return 0;
    pthread_t t;
    pthread_create(&t, 0, work, item);
    pthread_join(t, 0);
    assert(total + item->price < 3);
}\n";
    shows(
        &report(program, &[]),
        &[
            "starts main.1: work(heap object of a.c:13)\n",
            "writes item->price = 2.25\n",
            "writes item->next = &first\n",
            "writes head = item: heap object of a.c:13\n",
            "writes handler = work\n",
            "reads level: -7\n",
            "writes level = level * 2: -14\n",
            "updates next_id: 3\n",
            "reads total: 1.5\n",
        ],
    );
}

#[test]
fn a_race_comes_with_calls_and_locks() {
    let program = "#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; int count;
void add(void) { count++; }
void *work(void *unused) { pthread_mutex_lock(&lock); add(); pthread_mutex_unlock(&lock); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); add(); pthread_join(t, 0); return 0; }\n";
    shows(
        &report(program, &["--property", "race"]),
        &[
            "    in add, called at a.c:4\n",
            "    in add, called at a.c:5\n",
            "    holding lock\n",
            "    holding no lock\n",
        ],
    );
}

#[test]
fn long_executions_are_folded() {
    let program = "#include <assert.h>\nint volatile x;
int main(void) { for (int i = 0; i < 100; i++) x = i; assert(x != 99); }\n";
    let (folded, full) = (report(program, &[]), report(program, &["--full"]));
    assert!(full.lines().count() > 100 && !full.contains('…'), "{full}");
    assert!(folded.lines().count() < 45, "{folded}");
    shows(&folded, &["… 7", " steps\n", "reads x: 99\n"]);
}
