//! The examples do what their first lines promise, under many schedules.

use leno::{Ending, RunOptions};
use std::path::PathBuf;

const SCHEDULES: u64 = 60;

/// What may happen in an example, over all schedules that we try.
enum Promise {
    /// It always ends well.
    Correct,
    /// Some run ends with a report that says this, and none with another.
    Sometimes(&'static str),
}

const PROMISES: &[(&str, Promise)] = &[
    ("bank_account.c", Promise::Sometimes("assertion violated")),
    ("bounded_buffer.c", Promise::Correct),
    ("dekker.c", Promise::Correct),
    ("lock_order.c", Promise::Sometimes("deadlock")),
    ("michael_scott_queue.c", Promise::Correct),
    ("peterson.c", Promise::Correct),
    ("treiber_stack.c", Promise::Correct),
];

fn directory() -> PathBuf {
    leno_testing::repository("examples")
}

#[test]
fn every_example_is_here() {
    let mut files: Vec<String> = std::fs::read_dir(directory())
        .expect("there are examples")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".c"))
        .collect();
    files.sort();
    assert_eq!(files, PROMISES.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>());
}

#[test]
fn examples_keep_their_promises() {
    for (name, promise) in PROMISES {
        let compiled = leno::compile_file(directory().join(name)).unwrap_or_else(|failure| panic!("{failure}"));
        assert!(compiled.warnings.is_empty(), "{name}: {:?}", compiled.warnings);
        let mut reports = Vec::new();
        for seed in 0..SCHEDULES {
            let options = RunOptions { seed, max_steps: 1_000_000 };
            let run = leno::run(&compiled.program, &options);
            match run.ending {
                Ending::Exited(0) => {}
                _ => reports.push(run.report().unwrap_or_else(|| format!("{:?}", run.ending))),
            }
        }
        match promise {
            Promise::Correct => assert!(reports.is_empty(), "{name}: {}", reports[0]),
            Promise::Sometimes(what) => {
                assert!(!reports.is_empty(), "{name}: {SCHEDULES} schedules, and all is well");
                assert!(reports.iter().all(|report| report.contains(what)), "{name}: {}", reports[0]);
            }
        }
    }
}
