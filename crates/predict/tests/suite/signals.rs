//! Signals of a recorded program are the real ones, and so is the rest of its process: it writes what it would have
//! written, and ends as it would have ended. What its handlers do is recorded, or the report says that it is not.

use leno_ir::program::Program;
use leno_logic::limits::Limits;
use leno_predict::{PredictOptions, Prediction, build, predict};
use leno_record::{RecordOptions, Recorder};
use leno_testing::Scratch;
use leno_testing::compiler::cc;
use leno_testing::program::compile_for_running;
use leno_trace::Trace;
use std::process::{Command, Output};

const HEAD: &str = "#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <assert.h>
";

struct Recorded {
    program: Program,
    trace: Trace,
    output: Output,
}

/// Runs a program twice, by itself and recorded, and compares.
fn recorded_like_native(name: &str, body: &str) -> Recorded {
    let scratch = Scratch::new();
    let (native, path) = (scratch.path("native"), scratch.path("run.leno"));
    let file = scratch.write(format!("{name}.c"), format!("{HEAD}{body}"));
    cc(&[&file], &["-O0"], &native).unwrap_or_else(|error| panic!("{error}"));
    let plain = Command::new(&native).env("LENO_TEST", "a value").output().expect("it runs");
    let program = compile_for_running(&file, &[]);
    let args = vec![native.clone().into_os_string()];
    let recorder = Recorder::new(&program, RecordOptions { args, ..RecordOptions::default() }).expect("it compiles");
    let output = recorder.capture(&path, &[("LENO_TEST", "a value")]).expect("it runs");
    let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(show(&output.stdout), show(&plain.stdout), "{name}");
    assert_eq!(show(&output.stderr), show(&plain.stderr), "{name}");
    assert_eq!(output.status, plain.status, "{name}");
    let trace = Trace::read(&std::fs::read(&path).expect("a trace")).expect("it is one");
    Recorded { program, trace, output }
}

fn predict_all(recorded: &Recorded) -> Prediction {
    predict(&recorded.program, &recorded.trace, &PredictOptions { all: true, ..PredictOptions::default() })
}

/// What is recorded of the run is all of it.
fn is_whole(recorded: &Recorded) {
    let gaps = build(&recorded.program, &recorded.trace, &Limits::default()).expect("there is no limit").gaps;
    assert!(gaps.is_empty(), "{gaps:?}");
}

#[test]
fn a_thread_waits_for_signals_that_others_send() {
    let recorded = recorded_like_native(
        "wait",
        "int got, n; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; sigset_t set;
        static void *waiter(void *a) {
            for (;;) {
                int s, r = sigwait(&set, &s);
                if (r) return 0;
                pthread_mutex_lock(&m); got++; pthread_mutex_unlock(&m);
                printf(\"got %d\\n\", s); fflush(stdout);
                if (s == SIGTERM) return 0;
                pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m);
            }
        }
        int main(void) {
            sigset_t old; pthread_t t;
            sigemptyset(&set); sigaddset(&set, SIGUSR1); sigaddset(&set, SIGTERM);
            pthread_sigmask(SIG_BLOCK, &set, &old); printf(\"%d\\n\", sigismember(&old, SIGUSR1));
            pthread_sigmask(SIG_BLOCK, 0, &old); printf(\"%d\\n\", sigismember(&old, SIGUSR1));
            raise(SIGTERM); sigpending(&old); printf(\"%d %d\\n\", sigismember(&old, SIGTERM), sigismember(&old, SIGINT));
            int s; sigwait(&set, &s); printf(\"%d\\n\", s); fflush(stdout);
            pthread_create(&t, 0, waiter, 0);
            kill(getpid(), SIGUSR1);
            for (;;) { pthread_mutex_lock(&m); int k = n; pthread_mutex_unlock(&m); if (k) break; usleep(1000); }
            pthread_kill(t, SIGTERM);
            pthread_join(t, 0);
            return got;
        }",
    );
    assert_eq!(recorded.output.status.code(), Some(2));
    is_whole(&recorded);
    let prediction = predict_all(&recorded);
    assert!(prediction.findings.is_empty() && prediction.gaps.is_empty(), "{:?}", prediction.gaps);
}

#[test]
fn a_handler_of_a_signal_that_the_program_sends_is_part_of_the_run() {
    let recorded = recorded_like_native(
        "sent",
        "volatile sig_atomic_t flag; static int calls;
        static void h(int s) { flag = s; calls++; signal(s, h); if (calls == 3) raise(SIGUSR2); }
        int main(void) {
            struct sigaction a, o; sigset_t none;
            memset(&a, 0, sizeof a); a.sa_handler = h; sigaddset(&a.sa_mask, SIGUSR2);
            sigaction(SIGUSR1, &a, &o); printf(\"%d\\n\", o.sa_handler == SIG_DFL);
            sigaction(SIGUSR2, &a, 0);
            sigaction(SIGUSR1, 0, &o); printf(\"%d %d\\n\", o.sa_handler == h, sigismember(&o.sa_mask, SIGUSR2));
            kill(getpid(), SIGUSR1); printf(\"%d\\n\", flag);
            raise(SIGUSR1); printf(\"%d %d\\n\", flag, calls);
            pthread_kill(pthread_self(), SIGUSR1); printf(\"%d %d\\n\", flag, calls);
            printf(\"%d\\n\", signal(SIGUSR1, SIG_IGN) == h); raise(SIGUSR1); printf(\"%d\\n\", calls);
            int r = raise(1000); printf(\"%d %d\\n\", r, errno == EINVAL);
            sigset_t blocked; sigemptyset(&blocked); sigaddset(&blocked, SIGUSR2); sigprocmask(SIG_BLOCK, &blocked, 0);
            raise(SIGUSR2); printf(\"%d\\n\", calls);
            sigemptyset(&none); r = sigsuspend(&none); printf(\"%d %d %d\\n\", r, errno == EINTR, calls);
            signal(SIGALRM, h); alarm(1); r = pause(); printf(\"%d %d %d\\n\", r, flag, calls);
            assert(calls == 6);
            return flag;
        }",
    );
    assert_eq!(recorded.output.status.code(), Some(14));
    is_whole(&recorded);
    let prediction = predict_all(&recorded);
    assert!(prediction.findings.is_empty() && prediction.gaps.is_empty(), "{:?}", prediction.gaps);
}

#[test]
fn a_handler_that_runs_anywhere_leaves_the_trace_whole() {
    let recorded = recorded_like_native(
        "anywhere",
        "volatile int ticks; int table[100], sum; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int n;
        static void h(int s) { ticks++; for (int i = 0; i < 100; i++) table[i] += 1; }
        static void *work(void *a) { for (int i = 0; i < 2000; i++) { pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m); } return 0; }
        int main(void) {
            pthread_t t; struct itimerval v = {{0, 1000}, {0, 1000}}, z = {{0, 0}, {0, 0}};
            signal(SIGALRM, h); setitimer(ITIMER_REAL, &v, 0);
            pthread_create(&t, 0, work, 0);
            while (ticks < 30) { for (int i = 0; i < 100; i++) sum += table[i] & 1; pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m); }
            setitimer(ITIMER_REAL, &z, 0);
            pthread_join(t, 0);
            alarm(1); int rest = sleep(600); printf(\"%d\\n\", rest > 0 && rest < 600);
            return 0;
        }",
    );
    let gaps = build(&recorded.program, &recorded.trace, &Limits::default()).expect("there is no limit").gaps;
    assert!(!gaps.is_empty() && gaps.iter().all(|gap| gap.contains("a signal handler ran")), "{gaps:?}");
}

#[test]
fn nothing_is_claimed_behind_a_handler_of_which_nothing_is_known() {
    // (The handler gets more than a number, so it is not put off.)
    let recorded = recorded_like_native(
        "unknown",
        "int flag, x; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
        static void h(int s, siginfo_t *i, void *c) { flag = 1; }
        static void *set(void *a) { x = 1; return 0; }
        int main(void) {
            struct sigaction a; memset(&a, 0, sizeof a); a.sa_sigaction = h; a.sa_flags = SA_SIGINFO;
            pthread_t t; sigaction(SIGUSR1, &a, 0); raise(SIGUSR1);
            pthread_create(&t, 0, set, 0); pthread_join(t, 0);
            int seen = x; if (!seen) assert(flag);
            assert(flag == 1);
            return 0;
        }",
    );
    let prediction = predict_all(&recorded);
    assert_eq!(prediction.confirmed().count(), 0);
    assert!(prediction.gaps.iter().any(|gap| gap.contains("a signal handler ran once")), "{:?}", prediction.gaps);
}

#[test]
fn who_is_woken_by_a_handler_is_not_stuck() {
    let recorded = recorded_like_native(
        "woken",
        "sem_t s; static void h(int n) { sem_post(&s); }
        static void *work(void *a) { sem_wait(&s); return 0; }
        int main(void) {
            pthread_t t; sem_init(&s, 0, 0); signal(SIGALRM, h); pthread_create(&t, 0, work, 0);
            alarm(1); pthread_join(t, 0); puts(\"done\"); return 0;
        }",
    );
    let prediction = predict_all(&recorded);
    assert_eq!(prediction.confirmed().count(), 0);
    assert!(prediction.gaps.iter().any(|gap| gap.contains("circles of locks")), "{:?}", prediction.gaps);
}

#[test]
fn a_process_ends_as_it_would_have_ended() {
    let endings = [
        ("aborted", "int main(void) { puts(\"x\"); fflush(stdout); abort(); }"),
        ("caught", "static void h(int s) { write(1, \"handler\\n\", 8); } int main(void) { signal(SIGABRT, h); abort(); }"),
        ("raised", "int main(void) { raise(SIGTERM); return 0; }"),
        (
            "killed",
            "static void *work(void *a) { kill(getpid(), SIGKILL); pause(); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); return 0; }",
        ),
        (
            "pipe",
            "int main(void) { int p[2]; pipe(p); close(p[0]); write(p[1], \"a\", 1); puts(\"never\"); return 0; }",
        ),
        (
            "ignored",
            "int main(void) { int p[2]; pipe(p); close(p[0]); signal(SIGPIPE, SIG_IGN);
            printf(\"%d \", (int)write(p[1], \"a\", 1)); printf(\"%s\\n\", strerror(errno)); perror(\"pipe\"); return 5; }",
        ),
        (
            "exit",
            "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static void bye(void) { write(1, \"bye\\n\", 4); }
            static void h(int s) { exit(42); }
            int main(void) { atexit(bye); signal(SIGALRM, h); ualarm(20000, 0); for (;;) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); } }",
        ),
        (
            "crash",
            "static void h(int s, siginfo_t *i, void *c) { write(1, i->si_addr == (void *)16 ? \"yes\\n\" : \"no\\n\", 4); _exit(3); }
            int main(void) { struct sigaction a; memset(&a, 0, sizeof a); a.sa_sigaction = h; a.sa_flags = SA_SIGINFO;
            sigaction(SIGSEGV, &a, 0); int *p = (int *)16; return *p; }",
        ),
        (
            "interrupted",
            "static void h(int s) {} int main(void) { int p[2]; char c; struct sigaction a; memset(&a, 0, sizeof a); a.sa_handler = h;
            sigaction(SIGALRM, &a, 0); pipe(p); ualarm(20000, 0); int r = read(p[0], &c, 1); printf(\"%d %s\\n\", r, strerror(errno));
            struct timespec t = {600, 0}, rest; alarm(1); r = nanosleep(&t, &rest); printf(\"%d %d %d\\n\", r, errno == EINTR, rest.tv_sec > 0 && rest.tv_sec < 600); return 0; }",
        ),
    ];
    for (name, body) in endings {
        let recorded = recorded_like_native(name, body);
        build(&recorded.program, &recorded.trace, &Limits::default()).expect("there is no limit");
    }
}

#[test]
fn the_rest_of_the_process_is_real_too() {
    let recorded = recorded_like_native(
        "surroundings",
        "int main(void) {
            int f = open(\"/nonexistent/file\", O_RDONLY); printf(\"%d %s\\n\", f, strerror(errno)); perror(\"it\");
            printf(\"%s %d\\n\", getenv(\"LENO_TEST\"), getenv(\"LENO_TEST_2\") == 0);
            setenv(\"LENO_TEST_2\", \"another\", 1); printf(\"%s\\n\", getenv(\"LENO_TEST_2\"));
            srand(7); for (int i = 0; i < 3; i++) printf(\"%d\\n\", rand()); printf(\"%ld\\n\", random());
            printf(\"%d %d %d\\n\", getppid() > 1, getpid() > 1000 || getpid() > 1, getuid());
            printf(\"%ld %ld\\n\", sysconf(_SC_PAGESIZE), sysconf(_SC_OPEN_MAX));
            return 0;
        }",
    );
    is_whole(&recorded);
}
