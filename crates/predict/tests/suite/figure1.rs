//! The paper's running example, claim by claim.

use leno_engine::Properties;
use leno_ir::program::Program;
use leno_logic::limits::Limits;
use leno_predict::{Encoding, Model, PredictOptions, Prediction, Reach, build, predict_events};
use leno_record::{RecordOptions, Recorder};
use leno_testing::program::compile_file;
use leno_testing::recorded::run_recorded;
use leno_trace::{Record, ThreadIndex, Trace};
use std::process::Command;

fn program(flags: &[&str]) -> Program {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/figure1.c");
    compile_file(file, flags)
}

/// A run in which the first thread ends before the second begins, as in the paper. On one processor threads run in the
/// order in which they were started, unless one of them is preempted.
fn passing_run(program: &Program) -> Trace {
    use_one_processor();
    let recorder = Recorder::new(program, RecordOptions::default()).expect("it compiles");
    for _ in 0..100 {
        let (trace, status) = run_recorded(&recorder);
        if !status.is_some_and(|status| status.success()) {
            continue;
        }
        // The first thread had ended before the second began.
        let ended = trace.records(ThreadIndex(1)).find_map(|record| match record {
            Record::Finished { clock } => Some(clock),
            _ => None,
        });
        let began = trace.records(ThreadIndex(2)).find_map(|record| match record {
            Record::Started { clock } => Some(clock),
            _ => None,
        });
        if ended.is_some() && ended < began {
            return trace;
        }
    }
    panic!("the second thread always began before the first had ended");
}

/// Restricts this thread, and the processes that it starts, to one of the processors that it may use.
fn use_one_processor() {
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("Linux");
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).expect("a field of Linux").trim();
    let first = field("Cpus_allowed_list:").split([',', '-']).next().expect("one processor at least");
    let done = Command::new("taskset").args(["-pc", first, field("Pid:")]).output().expect("util-linux is installed");
    assert!(done.status.success(), "{done:?}");
}

fn ask(program: &Program, trace: &Trace, options: PredictOptions) -> Prediction {
    let properties = Properties { assertion: true, ..Properties::NONE };
    predict_events(
        program,
        &mut build(program, trace, &Limits::default()).expect("there is no limit"),
        &PredictOptions { properties, ..options },
    )
}

fn is_predicted(prediction: &Prediction) -> bool {
    for predicted in &prediction.findings {
        assert!(predicted.witness.is_ok(), "{:?}", predicted.witness);
    }
    prediction.confirmed().count() > 0
}

#[test]
fn the_error_is_predicted_from_the_passing_run() {
    let program = program(&[]);
    let trace = passing_run(&program);
    for encoding in [Encoding::Composition, Encoding::Cssa] {
        let prediction = ask(&program, &trace, PredictOptions { encoding, ..PredictOptions::default() });
        assert!(is_predicted(&prediction), "{encoding:?}");
        let witness = prediction.confirmed().next().expect("just seen");
        let replayed = leno_replay::replay(&program, witness, &leno_replay::ReplayOptions::default());
        assert!(replayed.is_confirmed(), "{replayed:?}");
    }
}

#[test]
fn models_that_know_only_values_miss_it() {
    let program = program(&[]);
    let trace = passing_run(&program);
    for model in [Model::Maximal, Model::HappensBefore] {
        let prediction = ask(&program, &trace, PredictOptions { model, ..PredictOptions::default() });
        assert!(!is_predicted(&prediction), "{model:?}");
        assert_eq!(prediction.reach, Reach::All);
    }
}

#[test]
fn with_equal_values_the_maximal_model_predicts_it() {
    let program = program(&["-DSAME"]);
    let trace = passing_run(&program);
    let with = |model| ask(&program, &trace, PredictOptions { model, ..PredictOptions::default() });
    assert!(is_predicted(&with(Model::Symbolic)));
    assert!(is_predicted(&with(Model::Maximal)));
    assert!(!is_predicted(&with(Model::HappensBefore)));
}

#[test]
fn two_context_switches_are_needed() {
    let program = program(&[]);
    let trace = passing_run(&program);
    let within =
        |bound| ask(&program, &trace, PredictOptions { context_bound: Some(bound), ..PredictOptions::default() });
    let one = within(1);
    assert!(!is_predicted(&one));
    assert_eq!(one.reach, Reach::Switches(1), "the bound is what rules it out");
    let two = within(2);
    assert!(is_predicted(&two));
    assert_eq!(two.findings[0].bound, Some(2));
}
