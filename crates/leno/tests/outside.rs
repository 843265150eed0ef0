//! What comes from outside: arguments, input, the time. A proof holds for all of it; a violation is claimed only if it needs none.

use leno_lab::process::{Ending, run};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const PROGRAM: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

int balance, number;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    balance++;
    pthread_mutex_unlock(&lock);
    printf("%s is done\n", (char *)arg);
    return 0;
}

int main(int argc, char **argv)
{
    struct timeval day;
    struct timespec spec;
    char name[20], line[30];
    int first = 0, second = 0;
    if (argc > 1 && strcmp(argv[1], "rich") == 0)
        balance = 5;
    gettimeofday(&day, NULL);
    clock_gettime(CLOCK_MONOTONIC, &spec);
    srand(time(NULL));
    sprintf(name, "number %d", argc);
    int scanned = scanf("%d %d", &first, &number);
    assert(scanned <= 2 && (scanned >= 1 || first == 0));
    if (fgets(line, sizeof line, stdin) == NULL)
        fprintf(stderr, "%s: no line\n", argv[0]);
#ifdef FORTYTWO
    assert(first != 42);
#endif
    pthread_t thread;
    pthread_create(&thread, 0, worker, "somebody");
    pthread_join(thread, 0);
    fflush(stdout);
    assert(balance == 1);
    return 0;
}
"#;

struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn scratch(name: &str) -> Scratch {
    let directory = std::env::temp_dir().join(format!("leno-outside-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("there is a directory for files that go away");
    std::fs::write(directory.join("prog.c"), PROGRAM).expect("it can be written to");
    Scratch(directory)
}

fn leno(directory: &Path, words: &[&str]) -> (Ending, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leno"));
    command.args(words).current_dir(directory).env_remove("CC");
    let finished = run(&mut command, b"", Duration::from_secs(120)).expect("leno runs");
    (finished.ending, String::from_utf8_lossy(&finished.stdout).into_owned())
}

#[test]
fn a_proof_is_for_all_input() {
    let scratch = scratch("safe");
    let (ending, said) = leno(&scratch.0, &["check", "--engine", "staged", "prog.c"]);
    assert_eq!(ending, Ending::Status(0), "{said}");
    assert!(said.contains("started without arguments"), "{said}");
}

#[test]
fn arguments_get_to_the_program_and_to_its_replay() {
    let scratch = scratch("arguments");
    for engine in ["staged", "explore"] {
        let words = ["check", "--engine", engine, "--witness", "w.json", "prog.c", "--", "rich"];
        let (ending, said) = leno(&scratch.0, &words);
        assert_eq!(ending, Ending::Status(1), "{engine}: {said}");
        assert!(said.contains("balance == 1") && said.contains("Confirmed on the real program"), "{engine}: {said}");
        let (ending, said) = leno(&scratch.0, &["replay", "w.json"]);
        assert_eq!(ending, Ending::Status(1), "{engine}: {said}");
    }
}

#[test]
fn what_needs_input_is_not_claimed() {
    let scratch = scratch("input");
    let (ending, said) = leno(&scratch.0, &["check", "--engine", "staged", "-DFORTYTWO", "prog.c"]);
    assert_eq!(ending, Ending::Status(2), "{said}");
    assert!(said.contains("depends on input"), "{said}");
}
