//! Checking does no harm: files of the user stay as they are, and nothing is left behind. (What a hostile program may
//! try besides: the tests of `leno-replay`.)

use crate::cli::command;
use leno_testing::Scratch;
use leno_testing::process::{Ending, Finished, run_patiently};
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// `data` is truncated before the assertion fails, `other` is removed, and `made` is made.
const WRITES: &str = "#include <assert.h>\n#include <stdio.h>\nint main(void) {\n    FILE *f = fopen(\"data\", \"w\");\n    \
    if (f) { fputs(\"gone\", f); fclose(f); }\n    remove(\"other\");\n    f = fopen(\"made\", \"w\");\n    \
    if (f) fclose(f);\n    assert(0);\n}\n";

/// The function is unknown to Leno, and waits for ever when it is really called.
const WAITS: &str =
    "#include <assert.h>\n#include <poll.h>\nint main(void) {\n    ppoll(0, 0, 0, 0);\n    assert(0);\n}\n";

/// A folder of a user, with a place for temporary files.
fn folder() -> Scratch {
    let scratch = Scratch::with(&[("writes.c", WRITES), ("waits.c", WAITS), ("data", "precious"), ("other", "")]);
    fs::create_dir(scratch.path("tmp")).expect("a folder");
    scratch
}

fn in_folder(scratch: &Scratch, words: &[&str]) -> Command {
    let mut command = command(scratch.folder(), words);
    command.env("TMPDIR", scratch.path("tmp"));
    command
}

fn run(scratch: &Scratch, words: &[&str]) -> Finished {
    run_patiently(&mut in_folder(scratch, words))
}

#[track_caller]
fn is_untouched(scratch: &Scratch) {
    assert_eq!(scratch.read("data"), b"precious");
    assert!(scratch.path("other").exists() && !scratch.path("made").exists());
    is_empty(scratch);
}

#[track_caller]
fn is_empty(scratch: &Scratch) {
    let left: Vec<_> = fs::read_dir(scratch.path("tmp")).expect("the folder is there").flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn checking_leaves_files_alone() {
    let scratch = folder();
    for engine in ["staged", "explore"] {
        let checked =
            run(&scratch, &["check", "--engine", engine, "--property", "assert", "--witness", "w", "writes.c"]);
        assert_eq!(checked.ending, Ending::Status(1), "{}", checked.output());
        is_untouched(&scratch);
    }
    let replayed = run(&scratch, &["replay", "w"]);
    assert!(replayed.output().contains("confirmed: "), "{}", replayed.output());
    is_untouched(&scratch);
}

#[test]
fn what_a_program_needs_is_said_and_can_be_allowed() {
    let scratch = Scratch::with(&[(
        "asks.c",
        "#include <assert.h>\n#include <sys/socket.h>\nint main(void) {\n    socket(1, 1, 0);\n    assert(0);\n}\n",
    )]);
    fs::create_dir(scratch.path("tmp")).expect("a folder");
    let words = ["check", "--engine", "explore", "--property", "assert", "asks.c"];
    let confined = run(&scratch, &words);
    assert_eq!(confined.ending, Ending::Status(2), "{}", confined.output());
    assert!(confined.output().contains("it needs the network"), "{}", confined.output());
    let unconfined = run(&scratch, &[&words[..], &["--replay-unconfined"]].concat());
    assert_eq!(unconfined.ending, Ending::Status(1), "{}", unconfined.output());
    assert!(unconfined.output().contains("really called, though Leno does not know it: `socket`"));
    is_empty(&scratch);
}

/// Whether some process runs from this folder.
fn runs_from(scratch: &Scratch) -> bool {
    let folder = scratch.folder().canonicalize().expect("it is there");
    let processes = fs::read_dir("/proc").expect("/proc is there").flatten();
    processes
        .into_iter()
        .any(|entry| fs::read_link(entry.path().join("exe")).is_ok_and(|program| program.starts_with(&folder)))
}

fn waits_until(what: &str, is_true: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < Duration::from_secs(120), "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// By request nothing stays; without a chance to clean up, no process stays.
#[test]
fn an_end_in_the_middle_of_a_replay_ends_the_replay() {
    for signal in ["-TERM", "-INT", "-KILL"] {
        let scratch = folder();
        let words = ["check", "--engine", "explore", "--property", "assert", "waits.c"];
        let mut leno =
            in_folder(&scratch, &words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
        waits_until("the replay begins", || runs_from(&scratch));
        let sent = Command::new("kill").args([signal, &leno.id().to_string()]).status();
        assert!(sent.expect("kill can be run").success());
        leno.wait().expect("it ends");
        waits_until("the replay ends", || !runs_from(&scratch));
        if signal != "-KILL" {
            is_empty(&scratch);
        }
    }
}
