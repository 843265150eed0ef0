//! Recording changes nothing that the program does, and what it writes can be read whatever becomes of the program or
//! the file.

use leno_engine::Properties;
use leno_ir::program::Program;
use leno_logic::limits::Limits;
use leno_predict::{PredictOptions, Reach, build, predict};
use leno_record::{RecordOptions, Recorder};
use leno_testing::compiler::cc;
use leno_testing::program::{compile_file, compile_for_running};
use leno_testing::recorded::record_with;
use leno_testing::{Scratch, repository};
use leno_trace::{Record, ThreadIndex, Trace, TraceError};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::Duration;

fn program(name: &str, text: &str) -> Program {
    compile_file(Scratch::new().write(format!("{name}.c"), text), &[])
}

const HEAD: &str = "#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <assert.h>\n#include <unistd.h>\n#include <signal.h>\n";
const COUNT: &str = "int n; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *a) { for (int i = 0; i < 50; i++) { pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m); } return 0; }
static void both(void) { pthread_t a, b; pthread_create(&a, 0, work, 0); pthread_create(&b, 0, work, 0); pthread_join(a, 0); pthread_join(b, 0); }
";

/// The trace of a run, and how it ended.
fn run(name: &str, body: &str, timeout: Option<Duration>) -> (Program, Trace, Option<std::process::ExitStatus>) {
    let program = program(name, &format!("{HEAD}{COUNT}{body}"));
    let options = RecordOptions { silent: true, timeout, ..RecordOptions::default() };
    let (trace, status) = record_with(&program, options);
    (program, trace, status)
}

/// Whether the walk gets at least as far as the main thread's last wait.
fn covers(program: &Program, trace: &Trace) {
    let events = build(program, trace, &Limits::default()).expect("there is no limit");
    assert!(events.gaps.is_empty(), "{:?}", events.gaps);
    let of_workers = [1, 2].map(|thread| trace.records(ThreadIndex(thread)).filter(is_lock).count());
    assert_eq!(of_workers, [50, 50], "all that was done is in the trace");
    assert!(events.events.len() > 300);
}

fn is_lock(record: &Record) -> bool {
    matches!(record, Record::Sync { .. })
}

#[test]
fn a_trace_survives_whatever_ends_the_program() {
    let endings = [
        ("exit", "int main(void) { both(); exit(7); }", None),
        ("abort", "int main(void) { both(); abort(); }", Some(6)),
        ("assertion", "int main(void) { both(); assert(n == 1); return 0; }", Some(6)),
        ("crash", "int main(void) { both(); int *p = 0; *p = n; return 0; }", Some(11)),
    ];
    for (name, body, signal) in endings {
        let (program, trace, status) = run(name, body, None);
        let status = status.expect("it was not killed");
        assert_eq!(status.signal(), signal, "{name}");
        assert_eq!(status.code(), if signal.is_none() { Some(7) } else { None }, "{name}");
        covers(&program, &trace);
    }
    let (program, trace, status) = run(
        "deadlock",
        "int main(void) { both(); pthread_mutex_lock(&m); pthread_mutex_lock(&m); return 0; }",
        Some(Duration::from_secs(2)),
    );
    assert!(status.is_none(), "it has to be killed");
    covers(&program, &trace);
}

#[test]
fn output_and_exit_code_are_those_of_the_program_itself() {
    let texts = [
        (
            "plain",
            "int main(int argc, char **argv) { both(); printf(\"%d %d %s\\n\", n, argc, argv[1]); fprintf(stderr, \"bye\\n\"); return 3; }",
        ),
        (
            "failing",
            "int main(int argc, char **argv) { both(); printf(\"%d\\n\", n); fflush(stdout); assert(n == 99); return 0; }",
        ),
        (
            "environment",
            "extern char **environ; int main(void) { for (char **e = environ; *e; e++) puts(*e); return dup(0); }",
        ),
    ];
    for (name, body) in texts {
        let scratch = Scratch::new();
        let file = scratch.write(format!("{name}.c"), format!("{HEAD}{COUNT}{body}\n"));
        let (program, native) = (compile_file(&file, &[]), scratch.path("native"));
        cc(&[&file], &["-O0"], &native).unwrap_or_else(|error| panic!("{error}"));
        let plain = Command::new(&native).arg("argument").env("SOME", "value").output().expect("it runs");
        // The recorder runs it in a process of its own: a shell gives it the same input, and catches the output.
        let trace = scratch.path("run.leno");
        let mut args = vec![native.clone().into_os_string()];
        args.push("argument".into());
        let recorder =
            Recorder::new(&program, RecordOptions { args, ..RecordOptions::default() }).expect("it compiles");
        let recorded = recorder.capture(&trace, &[("SOME", "value")]).expect("it runs");
        let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let lines = |bytes: &[u8]| {
            let mut lines: Vec<String> =
                show(bytes).lines().filter(|line| !line.starts_with("_=")).map(str::to_string).collect();
            if name == "environment" {
                lines.sort();
            }
            lines
        };
        assert_eq!(lines(&recorded.stdout), lines(&plain.stdout), "{name}");
        assert_eq!(show(&recorded.stderr), show(&plain.stderr), "{name}");
        assert_eq!(recorded.status, plain.status, "{name}");
    }
}

#[test]
fn what_is_damaged_is_said_and_the_rest_is_used() {
    let body = "int main(void) { both(); assert(n == 100); return 0; }";
    let scratch = Scratch::new();
    let program = program("damage", &format!("{HEAD}{COUNT}{body}"));
    let path = scratch.path("damage.leno");
    let options = RecordOptions { description: b"what it is".to_vec(), ..RecordOptions::default() };
    Recorder::new(&program, options).and_then(|recorder| recorder.run(&path)).expect("it runs");
    let bytes = std::fs::read(&path).expect("a trace");
    let whole = Trace::read(&bytes).expect("it is one");
    assert_eq!(whole.description, b"what it is");
    assert!(whole.damage.is_empty());
    let all = whole.len();
    let (mut damaged, mut refused) = (0, 0);
    // Cut off anywhere, or with any byte changed: never a panic, never more than there was.
    let places: Vec<usize> = (0..bytes.len()).step_by(97).chain(4096..4160).chain(0..64).collect();
    for at in places {
        let mut changed = bytes.clone();
        changed[at] ^= 0x5a;
        for variant in [&bytes[..at], &changed[..]] {
            match Trace::read(variant) {
                Err(TraceError::Unreadable(why)) => panic!("bytes can be read: {why}"),
                Err(_) => refused += 1,
                Ok(trace) => {
                    damaged += usize::from(!trace.damage.is_empty());
                    assert!(trace.len() <= all + 1);
                    if at % 11 == 0 {
                        let events = build(&program, &trace, &Limits::default()).expect("there is no limit");
                        assert!(trace.damage.is_empty() || !events.gaps.is_empty(), "damage is told");
                    }
                }
            }
        }
    }
    assert!(damaged > 100 && refused > 40, "{damaged} {refused}");
}

#[test]
fn a_long_run_is_looked_at_in_windows() {
    let body = "int main(void) { for (int i = 0; i < 30; i++) both(); return 0; }";
    let (program, trace, _) = run("long", body, None);
    let properties = Properties { race: true, deadlock: true, ..Properties::NONE };
    let options = PredictOptions { properties, window: Some(500), ..PredictOptions::default() };
    let prediction = predict(&program, &trace, &options);
    assert!(prediction.stats.windows > 20, "{:?}", prediction.stats);
    assert_eq!(prediction.reach, Reach::Windows);
    assert!(prediction.gaps.iter().any(|gap| gap.contains("windows")), "what is missed is said");
    assert_eq!(prediction.confirmed().count(), 0);
}

#[test]
fn an_error_late_in_a_long_run_is_found_in_its_window() {
    let body = "int x;
static void *careless(void *a) { pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m); x++; return 0; }
int main(void) {
    for (int i = 0; i < 20; i++) both();
    pthread_t a, b;
    pthread_create(&a, 0, careless, 0); usleep(1000); pthread_create(&b, 0, careless, 0);
    pthread_join(a, 0); pthread_join(b, 0);
    return 0;
}";
    let (program, trace, _) = run("late", body, None);
    let properties = Properties { race: true, ..Properties::NONE };
    let options = PredictOptions { properties, window: Some(400), ..PredictOptions::default() };
    let prediction = predict(&program, &trace, &options);
    assert_eq!(prediction.confirmed().count(), 1, "{:?}", prediction.findings);
    assert!(prediction.stats.windows > 10);
}

/// Bytes of memory that this process has had at most, so far.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("it is there");
    let kilobytes: String = line.chars().filter(char::is_ascii_digit).collect();
    kilobytes.parse::<u64>().expect("a number") * 1024
}

/// The same race at the end of runs of 5,000 and 50,000 events: what is in memory at once depends on the window only.
/// In a process of its own, so that nobody else's memory is counted.
#[test]
fn a_run_ten_times_as_long_needs_no_more_memory() {
    if std::env::var_os("LENO_MEMORY").is_none() {
        let this = std::env::current_exe().expect("this test");
        let name = "recording::a_run_ten_times_as_long_needs_no_more_memory";
        let status = Command::new(this).args(["--exact", name, "--nocapture"]).env("LENO_MEMORY", "1").status();
        assert!(status.expect("it runs").success());
        return;
    }
    let scratch = Scratch::new();
    let recorded = [210, 2100].map(|rounds: usize| {
        let program = compile_file(repository("benches/programs/transfers.c"), &[&format!("-DROUNDS={rounds}")]);
        let path = scratch.path(format!("transfers-{rounds}.leno"));
        let options = RecordOptions { silent: true, ..RecordOptions::default() };
        Recorder::new(&program, options).and_then(|recorder| recorder.run(&path)).expect("it runs");
        let trace = Trace::open(&path).expect("a trace");
        (rounds, program, trace)
    });
    let ask = |(rounds, program, trace): &(usize, Program, Trace), properties| {
        let options = PredictOptions { properties, window: Some(1000), ..PredictOptions::default() };
        let prediction = predict(program, trace, &options);
        assert!(prediction.stats.events > rounds * 24, "{:?}", prediction.stats);
        assert!(prediction.stats.windows >= rounds / 25, "{:?}", prediction.stats);
        assert!(prediction.gaps.iter().any(|gap| gap.contains("windows of 1000 events")), "{:?}", prediction.gaps);
        prediction
    };
    let peaks = recorded.each_ref().map(|recorded| {
        let prediction = ask(recorded, Properties { deadlock: true, ..Properties::NONE });
        assert_eq!(prediction.findings.len(), 0);
        peak_memory()
    });
    assert!(peaks[1] < peaks[0] + (4 << 20), "{peaks:?}");
    // A witness has all steps of the run, and is as long as that.
    for recorded in &recorded {
        let prediction = ask(recorded, Properties { race: true, ..Properties::NONE });
        assert_eq!(prediction.confirmed().count(), 1, "{:?}", prediction.findings);
    }
}

/// What the library and the system can do, they do: output and exit status are the same.
#[test]
fn what_is_real_stays_real() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/real");
    let mut files: Vec<_> =
        std::fs::read_dir(directory).expect("programs").flatten().map(|entry| entry.path()).collect();
    files.sort();
    assert!(files.len() >= 7);
    for file in files {
        let scratch = Scratch::new();
        let binary = scratch.path("program");
        cc(&[&file], &["-std=gnu11"], &binary).expect("it compiles");
        let expected = Command::new(&binary).output().expect("it runs");
        let program = compile_for_running(&file, &[]);
        let recorder = Recorder::new(&program, RecordOptions::default()).expect("it compiles");
        let recorded = recorder.capture(&scratch.path("trace"), &[]).expect("it runs");
        let what = |output: &std::process::Output| {
            (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code(), output.status.signal())
        };
        assert_eq!(what(&recorded), what(&expected), "{}", file.display());
    }
}

#[test]
fn what_is_linked_is_called_and_what_is_missing_is_said() {
    let scratch = Scratch::new();
    let file = scratch.write("calls.c", "int elsewhere(int); int main(void) { return elsewhere(2); }\n");
    let program = compile_for_running(&file, &[]);
    let message = Recorder::new(&program, RecordOptions::default()).err().map(|error| error.to_string());
    assert!(message.as_ref().is_some_and(|text| text.contains("undefined reference to `elsewhere'")), "{message:?}");
    let object = scratch.path("elsewhere.o");
    let other = scratch.write("elsewhere.c", "int elsewhere(int n) { return n + 40; }\n");
    cc(&[&other], &["-c"], &object).expect("it compiles");
    let options = RecordOptions { link: vec![object.into()], ..RecordOptions::default() };
    let recorder = Recorder::new(&program, options).expect("it is linked");
    let recorded = recorder.capture(&scratch.path("trace"), &[]).expect("it runs");
    assert_eq!(recorded.status.code(), Some(42));
}
