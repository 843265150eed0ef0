//! Races that a run under a happens-before detector misses because the schedule was unlucky: each is predicted from one
//! run.

use leno_engine::Properties;
use leno_logic::limits::Limits;
use leno_predict::{PredictOptions, build, predict_events};
use leno_replay::{ReplayOptions, replay};
use leno_testing::files;
use leno_testing::program::compile_for_running;
use leno_testing::recorded::record;

#[test]
fn every_hidden_race_is_predicted_from_one_run() {
    let files = files(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/unlucky"));
    assert_eq!(files.len(), 10);
    for file in files {
        let name = file.display().to_string();
        let program = compile_for_running(file, &[]);
        let trace = record(&program);
        let properties = Properties { race: true, ..Properties::NONE };
        let options = PredictOptions { properties, ..PredictOptions::default() };
        let prediction = predict_events(
            &program,
            &mut build(&program, &trace, &Limits::default()).expect("there is no limit"),
            &options,
        );
        let witness = prediction.confirmed().next().unwrap_or_else(|| panic!("{name}: {:?}", prediction.findings));
        let replayed = replay(&program, witness, &ReplayOptions::default());
        assert!(replayed.is_confirmed(), "{name}: {replayed:?}");
    }
}
