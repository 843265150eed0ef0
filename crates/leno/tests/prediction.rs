//! `leno record` and `leno predict`, as a user calls them.

use std::path::PathBuf;
use std::process::{Command, Output};

fn leno(args: &[&str]) -> Output {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    Command::new(env!("CARGO_BIN_EXE_leno")).args(args).current_dir(root).output().expect("leno runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("leno-prediction-{}-{name}", std::process::id()))
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
    let (trace, damaged) = (scratch("run.leno"), scratch("damaged.leno"));
    let names = [trace.display().to_string(), damaged.display().to_string()];
    let output = leno(&["record", "-o", &names[0], "examples/bank_account.c"]);
    assert_eq!(output.status.code(), Some(0), "the program's own exit code: {}", text(&output.stderr));
    let output = leno(&["predict", "--property", "assert", "--no-replay", &names[0]]);
    assert!(text(&output.stdout).starts_with("UNSAFE: assertion violated"), "{}", text(&output.stdout));
    // Whatever is damaged is said, and nobody panics.
    let bytes = std::fs::read(&trace).expect("a trace");
    std::fs::write(&damaged, &bytes[..bytes.len() / 2 + 100]).expect("it can be written");
    let output = leno(&["predict", "--property", "assert", "--no-replay", "--quiet", &names[1]]);
    assert!(text(&output.stderr).contains("is cut off"), "{}", text(&output.stderr));
    assert_ne!(output.status.code(), Some(0), "what is left out is no proof");
    std::fs::write(&damaged, b"LENOTRAC\x63\0\0\0").expect("it can be written");
    let output = leno(&["predict", &names[1]]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("version 99"), "{}", text(&output.stderr));
    let _ = (std::fs::remove_file(trace), std::fs::remove_file(damaged));
}

#[test]
fn traces_of_other_tools_are_read() {
    let trace = scratch("other.std");
    std::fs::write(&trace, "T0|fork(T1)|1\nT0|w(x)|2\nT1|w(x)|3\n").expect("it can be written");
    let output = leno(&["predict", "--property", "race", &trace.display().to_string()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).starts_with("PREDICTED: data race"), "{}", text(&output.stdout));
    let _ = std::fs::remove_file(trace);
}
