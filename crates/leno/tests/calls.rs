//! Calls by summaries and calls that are executed are the same: every program of tests/programs/calls is safe as it is, and unsafe with
//! `-DBUG`, whatever becomes of its calls, and its threads do as much. What is wrong is confirmed on the real machine.

use leno_lab::process::{Ending, run};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

struct Said {
    output: String,
    events: u64,
    instantiated: u64,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/calls")
}

fn check(path: &Path, calls: &str, bug: bool) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leno"));
    command.args(["check", "--engine", "staged", "--stats", "--calls", calls]).arg(path).env_remove("CC");
    if bug {
        command.arg("-DBUG");
    }
    let finished = run(&mut command, b"", Duration::from_secs(120)).expect("leno runs");
    let output = String::from_utf8_lossy(&finished.stdout).to_string();
    let code = i32::from(bug);
    assert_eq!(finished.ending, Ending::Status(code), "{} {calls} bug {bug}:\n{output}", path.display());
    assert!(!bug || output.contains("Confirmed on the real program"), "{} {calls}:\n{output}", path.display());
    let errors = finished.errors();
    let figure = |name: &str| {
        let value = errors.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")?.parse().ok());
        value.unwrap_or_else(|| panic!("no figure of {name}:\n{errors}"))
    };
    Said { events: figure("events"), instantiated: figure("instantiated"), output }
}

#[test]
fn calls_are_the_same_either_way() {
    let mut programs: Vec<_> = std::fs::read_dir(folder()).expect("the programs are there").flatten().collect();
    programs.sort_by_key(|program| program.path());
    assert!(programs.len() >= 7);
    for program in programs {
        let path = program.path();
        for bug in [false, true] {
            let inline = check(&path, "inline", bug);
            assert_eq!(inline.instantiated, 0, "{}", path.display());
            for calls in ["summary", "auto"] {
                let other = check(&path, calls, bug);
                assert_eq!(other.events, inline.events, "{} {calls} bug {bug}", path.display());
                let uses_summaries = other.instantiated > 0;
                assert!(uses_summaries || calls == "auto", "{} {calls} bug {bug}", path.display());
            }
        }
    }
}

/// The assertion is in a function that is called six times. The trace stops in the call that makes it fail.
#[test]
fn the_trace_ends_in_the_call_that_fails() {
    for calls in ["inline", "summary", "auto"] {
        let said = check(&folder().join("call_site.c"), calls, true).output;
        assert!(said.contains("call_site.c:13") && said.contains("in thread main.2"), "{calls}:\n{said}");
        let (_, trace) = said.split_once("How it happens:").expect("there is a trace");
        // It is the call between these two.
        assert!(trace.contains("writes stage = 2") && !trace.contains("writes stage = 3"), "{calls}:\n{said}");
        let (_, last) = trace.rsplit_once("writes stage = 2").expect("it is there");
        assert_eq!(last.matches("writes *at = now: 11").count(), 1, "{calls}:\n{said}");
    }
}
