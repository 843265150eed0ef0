//! A race at the end of a long run is predicted in a window, followed by the interpreter through all that came before, and replayed.

use leno_c::driver::{Input, Options, compile};
use leno_explore::Properties;
use leno_ir::witness::Claim;
use leno_predict::record::{RecordOptions, Recorder};
use leno_predict::trace::Trace;
use leno_predict::{PredictOptions, predict_trace};
use leno_replay::{ReplayOptions, replay};
use std::path::PathBuf;

#[test]
fn a_race_at_the_end_of_a_long_run_is_replayed() {
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/programs/transfers.c"));
    let mut options = Options::default();
    options.preprocess.flags = vec!["-DROUNDS=420".to_string()];
    let program = match compile(&[Input::File(file)], &options) {
        Ok(compiled) => compiled.program,
        Err(failure) => panic!("{failure}"),
    };
    let path = std::env::temp_dir().join(format!("leno-long-{}.leno", std::process::id()));
    let record = RecordOptions { silent: true, ..RecordOptions::default() };
    Recorder::new(&program, record).and_then(|recorder| recorder.run(&path)).expect("it is recorded");
    let trace = Trace::open(&path).expect("it can be read").expect("it is a trace");
    let _ = std::fs::remove_file(&path);
    let properties = Properties { race: true, ..Properties::NONE };
    let options = PredictOptions { properties, window: Some(500), ..PredictOptions::default() };
    let prediction = predict_trace(&program, &trace, &options);
    assert!(prediction.stats.events > 10_000 && prediction.stats.windows > 10, "{:?}", prediction.stats);
    let witness = prediction.confirmed().next().expect("there is a race");
    assert!(matches!(witness.claim, Claim::Race { .. }) && witness.steps.len() > 5_000);
    let replayed = replay(&program, witness, &ReplayOptions::default());
    assert!(replayed.is_confirmed(), "{replayed:?}");
}
