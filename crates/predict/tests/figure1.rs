//! The paper's running example, claim by claim.

use leno_c::driver::{Input, Options, compile};
use leno_explore::Properties;
use leno_ir::program::Program;
use leno_predict::record::{RecordOptions, Recorder};
use leno_predict::trace::{Record, Trace};
use leno_predict::{Encoding, Model, PredictOptions, Prediction, Reach, build, predict};
use std::sync::atomic::{AtomicU32, Ordering};

fn program(flags: &[&str]) -> Program {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/figure1.c");
    let mut options = Options::default();
    options.preprocess.flags = flags.iter().map(|flag| flag.to_string()).collect();
    match compile(&[Input::File(file.into())], &options) {
        Ok(compiled) => compiled.program,
        Err(failure) => panic!("{failure}"),
    }
}

/// A run in which the first thread ends before the second begins, as in the paper. It nearly always goes like this by itself.
fn passing_run(program: &Program) -> Trace {
    let recorder = Recorder::new(program, RecordOptions::default()).expect("it compiles");
    // Tests run at the same time, each with files of its own.
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    for _ in 0..100 {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("leno-figure1-{}-{number}.leno", std::process::id()));
        let recorded = recorder.run(&path).expect("it runs");
        let trace = Trace::read(&std::fs::read(&path).expect("there is a trace")).expect("it is one");
        std::fs::remove_file(&path).expect("it can be removed");
        if !recorded.status.is_some_and(|status| status.success()) {
            continue;
        }
        // The first thread had ended before the second began.
        let ended = trace.records(1).find_map(|record| match record {
            Record::Finished { clock } => Some(clock),
            _ => None,
        });
        let began = trace.records(2).find_map(|record| match record {
            Record::Started { clock } => Some(clock),
            _ => None,
        });
        if ended.is_some() && ended < began {
            return trace;
        }
    }
    panic!("the second thread always came first");
}

fn ask(program: &Program, trace: &Trace, options: PredictOptions) -> Prediction {
    let properties = Properties { assertion: true, ..Properties::NONE };
    predict(program, &mut build(program, trace), &PredictOptions { properties, ..options })
}

fn is_predicted(prediction: &Prediction) -> bool {
    for predicted in &prediction.predicted {
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
    assert_eq!(two.predicted[0].bound, Some(2));
}
