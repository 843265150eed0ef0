//! A race at the end of a long run is predicted in a window, followed by the interpreter through all that came before,
//! and replayed.

use leno_engine::Properties;
use leno_ir::witness::Claim;
use leno_predict::{PredictOptions, predict};
use leno_record::RecordOptions;
use leno_replay::{ReplayOptions, replay};
use leno_testing::program::compile_file;
use leno_testing::recorded::record_with;
use leno_testing::repository;

#[test]
fn a_race_at_the_end_of_a_long_run_is_replayed() {
    let program = compile_file(repository("benches/programs/transfers.c"), &["-DROUNDS=420"]);
    let (trace, _) = record_with(&program, RecordOptions { silent: true, ..RecordOptions::default() });
    let properties = Properties { race: true, ..Properties::NONE };
    let options = PredictOptions { properties, window: Some(500), ..PredictOptions::default() };
    let prediction = predict(&program, &trace, &options);
    assert!(prediction.stats.events > 10_000 && prediction.stats.windows > 10, "{:?}", prediction.stats);
    let witness = prediction.confirmed().next().expect("there is a race");
    assert!(matches!(witness.claim, Claim::Race { .. }) && witness.steps.len() > 5_000);
    let replayed = replay(&program, witness, &ReplayOptions::default());
    assert!(replayed.is_confirmed(), "{replayed:?}");
}
