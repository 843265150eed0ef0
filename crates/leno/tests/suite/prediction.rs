//! `leno record` and `leno predict`, as a user calls them.

use crate::cli;
use leno_testing::{Scratch, repository};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn leno(args: &[&str]) -> Output {
    cli::command(&repository(""), args).output().expect("leno runs")
}

fn leno_reading(input: &Path, args: &[&str]) -> Output {
    let input = std::fs::File::open(input).expect("an input");
    cli::command(&repository(""), args).stdin(input).output().expect("leno runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn one_run_shows_what_another_would_do() {
    let output = leno(&["predict", "--property", "deadlock", "examples/lock_order.c"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stdout).starts_with("UNSAFE: deadlock"), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("Confirmed on the real program"), "{}", text(&output.stdout));
    let output = leno(&["predict", "--quiet", "examples/peterson.c"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).starts_with("HOLDS"), "{}", text(&output.stdout));
}

#[test]
fn recording_and_predicting_are_two_steps() {
    let scratch = Scratch::new();
    let (trace, damaged) = (scratch.path("run.leno"), scratch.path("damaged.leno"));
    let names = [trace.display().to_string(), damaged.display().to_string()];
    let output = leno(&["record", "-o", &names[0], "examples/bank_account.c"]);
    // The program's own exit code: on a busy machine this very run may lose a deposit, and abort.
    assert!(matches!(output.status.code(), Some(0 | 134)), "{}", text(&output.stderr));
    let output = leno(&["predict", "--property", "assert", "--no-replay", &names[0]]);
    assert!(text(&output.stdout).starts_with("UNSAFE: assertion violated"), "{}", text(&output.stdout));
    // Whatever is damaged is said, without a panic.
    let bytes = std::fs::read(&trace).expect("a trace");
    std::fs::write(&damaged, &bytes[..bytes.len() / 2 + 100]).expect("it can be written");
    let output = leno(&["predict", "--property", "assert", "--no-replay", "--quiet", &names[1]]);
    assert!(text(&output.stderr).contains("is cut off"), "{}", text(&output.stderr));
    assert_ne!(output.status.code(), Some(0), "what is left out is no proof");
    std::fs::write(&damaged, b"LENOTRAC\x63\0\0\0").expect("it can be written");
    let output = leno(&["predict", &names[1]]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("version 99"), "{}", text(&output.stderr));
}

#[test]
fn traces_of_other_tools_are_read() {
    let scratch = Scratch::new();
    let trace = scratch.write("other.std", "T0|fork(T1)|1\nT0|w(x)|2\nT1|w(x)|3\n");
    let output = leno(&["predict", "--property", "race", &trace.display().to_string()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).starts_with("PREDICTED: data race"), "{}", text(&output.stdout));
}

#[test]
fn a_block_that_is_not_atomic_is_shown_with_why_it_is_one() {
    let scratch = Scratch::new();
    let (file, program) = (scratch.path("block.json"), "crates/predict/tests/atomicity/counter.c");
    let name = file.display().to_string();
    let output = leno(&["predict", "--property", "atomicity", "--witness", &name, program]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let report = text(&output.stdout);
    assert!(report.starts_with("UNSAFE: atomicity violation"), "{report}");
    for part in [
        "= first, in thread main.",
        "= between them, in thread main.",
        "= then, in thread main.",
        "read of counter",
        "= inferred: what is written last depends on what was read first, and the lock under which both are done is given up in between, at \
         crates/predict/tests/atomicity/counter.c:9",
        "Confirmed on the real program: main.",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    let output = leno(&["replay", &name]);
    assert!(text(&output.stdout).to_lowercase().contains("confirmed"), "{}", text(&output.stdout));
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    // Nobody has asked for inferred blocks here.
    let output = leno(&["predict", "--quiet", program]);
    assert!(text(&output.stdout).starts_with("HOLDS"), "{}", text(&output.stdout));
    // Those that are marked need not be asked for.
    let output = leno(&["predict", "--no-replay", "crates/predict/tests/atomicity/transfer.c"]);
    assert!(text(&output.stdout).contains("is expected to be atomic"), "{}", text(&output.stdout));
    // Other engines do not look for them, and do not say that there are none.
    let output = leno(&["check", "--property", "atomicity", program]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stdout));
}

#[test]
fn a_bound_that_was_not_needed_is_lifted() {
    let output = leno(&["predict", "--property", "assert", "--context-bound", "1", "examples/peterson.c"]);
    let report = text(&output.stdout);
    let first = report.lines().next().unwrap_or_default();
    assert!(first.starts_with("HOLDS: what was asked for holds for all interleavings of this trace"), "{report}");
    let end = ": that it holds with at most 1 context switch was shown without using the bound";
    assert!(first.ends_with(end), "{report}");
    // Other interleavings take other branches, and the first line says so if it does not speak of them.
    assert_eq!(first.contains("with every branch as taken"), report.contains("leaves out: what follows a branch"));
    assert_eq!(output.status.code(), Some(0));
    // Here it is needed: with more switches there is an error.
    let program = "examples/bank_account.c";
    let output = leno(&["predict", "--property", "assert", "--context-bound", "1", program]);
    assert_eq!(
        text(&output.stdout).lines().next(),
        Some(
            "UNKNOWN: no reordering of this run with every branch as taken, with at most 1 context switch, violates anything that was asked for"
        )
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn what_a_program_reads_is_part_of_its_trace() {
    let scratch = Scratch::new();
    let (input, trace, file) = (scratch.path("input.txt"), scratch.path("input.leno"), scratch.path("input.json"));
    let (name, program) = (trace.display().to_string(), "crates/predict/tests/programs/input.c");
    let witness = file.display().to_string();
    // A line, a byte that is no text, and more than anybody reads.
    std::fs::write(&input, b"21\nx\\n\xff\nmore").expect("it can be written");
    let is_found = |output: &Output| {
        let report = text(&output.stdout);
        assert!(report.starts_with("UNSAFE: assertion violated"), "{report}{}", text(&output.stderr));
        assert!(report.contains("Confirmed on the real program"), "{report}");
    };
    is_found(&leno_reading(&input, &["predict", "--property", "assert", program]));
    let output = leno_reading(&input, &["record", "-o", &name, program]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    is_found(&leno(&["predict", "--property", "assert", "--witness", &witness, &name]));
    // A witness has no input of its own: it is given again.
    assert_eq!(leno_reading(&input, &["replay", &witness]).status.code(), Some(1));
    assert_ne!(leno(&["replay", &witness]).status.code(), Some(1), "without it, nothing happens");
}

#[test]
fn what_a_run_does_not_decide_is_refused() {
    for property in ["leak", "memtrack"] {
        let output = leno(&["predict", "--property", property, "examples/peterson.c"]);
        assert_eq!(output.status.code(), Some(3), "{}", text(&output.stdout));
        assert!(text(&output.stderr).contains("does not decide"), "{}", text(&output.stderr));
    }
}

#[test]
fn a_run_that_is_killed_or_crashes_does_not_hold() {
    let scratch = Scratch::new();
    let endless = scratch.write("endless.c", "volatile int on = 1; int main(void) { while (on); return 0; }\n");
    let output = leno(&["predict", "--run-timeout", "0.2", "--timeout", "5", &endless.display().to_string()]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("--run-timeout"), "{}", text(&output.stdout));
    let behind = "#include <stdlib.h>\nint main(void) { int *p = malloc(4); p[1] = 1; free(p); return 0; }\n";
    let wrong = scratch.write("wrong.c", behind);
    let output = leno(&["predict", "--no-replay", &wrong.display().to_string()]);
    assert!(text(&output.stdout).starts_with("UNSAFE: access out of bounds"), "{}", text(&output.stdout));
}

#[test]
fn what_holds_says_what_it_leaves_out() {
    let output = leno(&["predict", "--quiet", "crates/predict/tests/kinds/outside_pipe.c"]);
    let report = text(&output.stdout);
    assert!(report.starts_with("HOLDS"), "{report}");
    assert!(report.lines().skip(1).any(|line| line.starts_with("  leaves out: ")), "{report}");
}

/// A signal to Leno reaches the program. Nothing is left but the trace.
#[test]
fn signals_reach_the_program() {
    let scratch = Scratch::new();
    let text = "#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\n\
                static void end(int n) { _exit(n); }\n\
                int main(int argc, char **argv) {\n    if (argc > 1) signal(SIGTERM, end);\n    puts(\"up\");\n    fflush(stdout);\n    for (;;) pause();\n}\n";
    let program = scratch.write("waits.c", text).display().to_string();
    let trace = scratch.path("run.leno");
    let name = trace.display().to_string();
    for (arguments, expected) in [(&[][..], 128 + 15), (&["--", "handles"][..], 15)] {
        let args = [&["record", "-o", &name, &program][..], arguments].concat();
        let mut leno = cli::command(&repository(""), &args).stdout(Stdio::piped()).spawn().expect("leno runs");
        let mut line = String::new();
        BufReader::new(leno.stdout.take().expect("its output")).read_line(&mut line).expect("the program writes");
        assert_eq!(line, "up\n");
        let sent = Command::new("kill").args(["-TERM", &leno.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()));
        let status = leno.wait().expect("it ends");
        assert_eq!(status.code(), Some(expected));
        assert!(trace.metadata().is_ok_and(|file| file.len() > 0));
        let prefix = format!("leno-record-{}-", leno.id());
        let left = std::fs::read_dir(std::env::temp_dir()).expect("a directory").flatten();
        assert_eq!(left.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix)).count(), 0);
    }
}
