//! Calls by summaries and calls that are executed are the same: whatever becomes of their calls, the programs of
//! `tests/programs/calls` have the verdicts that they say (with `-DBUG`, they are unsafe), and their threads do as
//! much. What is wrong is confirmed on the real machine.

use leno::{CheckOptions, Verdict};
use leno_testing::engine::{Calls, Engine, StagedEngine};
use leno_testing::expectation::Expectation;
use leno_testing::program::compile_file;
use leno_testing::{engine, files, repository};
use std::path::Path;

struct Said {
    report: String,
    events: u64,
    instantiated: u64,
}

fn check(file: &Path, calls: Calls, bug: bool) -> Said {
    let program = compile_file(file, if bug { &["-DBUG"] } else { &[] });
    let expectation = Expectation::read(file).expect("expectations can be read");
    let replay = (!expectation.without_replay).then(Default::default);
    let staged = StagedEngine { calls, ..StagedEngine::default() };
    let options = CheckOptions { engine: Engine::Staged, staged, replay, ..CheckOptions::default() };
    let checked = engine::check(&program, &options);
    let report = checked.report(&program);
    let about = format!("{} {calls:?} bug {bug}:\n{report}", file.display());
    match &checked.verdict {
        Verdict::Safe => assert!(!bug, "{about}"),
        Verdict::Unsafe(_, replayed) => {
            assert!(bug && replayed.as_ref().is_none_or(|replayed| replayed.is_confirmed()), "{about}");
        }
        Verdict::Unknown(_) => panic!("{about}"),
    }
    let count = |name: &str| checked.statistics.count_of(name);
    Said { report, events: count("events"), instantiated: count("instantiated") }
}

#[test]
fn calls_are_the_same_either_way() {
    let programs = files(repository("tests/programs/calls"));
    assert!(programs.len() >= 7);
    for file in programs {
        for bug in [false, true] {
            let inline = check(&file, Calls::Inline, bug);
            assert_eq!(inline.instantiated, 0, "{}", file.display());
            for calls in [Calls::Summary, Calls::Auto] {
                let other = check(&file, calls, bug);
                assert_eq!(other.events, inline.events, "{} {calls:?} bug {bug}", file.display());
                let uses_summaries = other.instantiated > 0;
                assert!(uses_summaries || calls == Calls::Auto, "{} {calls:?} bug {bug}", file.display());
            }
        }
    }
}

/// The assertion is in a function that is called six times. The trace stops in the call that makes it fail.
#[test]
fn the_trace_ends_in_the_call_that_fails() {
    for calls in [Calls::Inline, Calls::Summary, Calls::Auto] {
        let report = check(&repository("tests/programs/calls/call_site.c"), calls, true).report;
        assert!(report.contains("in thread main.2"), "{calls:?}:\n{report}");
        let (_, trace) = report.split_once("How it happens:").expect("there is a trace");
        // It is the call between these two.
        assert!(trace.contains("writes stage = 2") && !trace.contains("writes stage = 3"), "{calls:?}:\n{report}");
        let (_, last) = trace.rsplit_once("writes stage = 2").expect("it is there");
        assert_eq!(last.matches("writes *at = now: 11").count(), 1, "{calls:?}:\n{report}");
    }
}
