//! Races that a run under a happens-before detector misses because the schedule was unlucky: each is predicted from one run.

use leno_c::driver::{Input, Options, compile};
use leno_explore::Properties;
use leno_predict::record::{RecordOptions, record};
use leno_predict::trace::Trace;
use leno_predict::{PredictOptions, build, predict};
use leno_replay::{ReplayOptions, replay};

#[test]
fn every_hidden_race_is_predicted_from_one_run() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/unlucky");
    let mut files: Vec<_> =
        std::fs::read_dir(directory).expect("it is there").map(|file| file.expect("a file").path()).collect();
    files.sort();
    assert_eq!(files.len(), 10);
    for file in files {
        let name = file.display().to_string();
        let program = match compile(&[Input::File(file)], &Options::for_running()) {
            Ok(compiled) => compiled.program,
            Err(failure) => panic!("{failure}"),
        };
        let path = std::env::temp_dir().join(format!("leno-unlucky-{}.leno", std::process::id()));
        record(&program, &RecordOptions::default(), &path).expect("it is recorded");
        let trace = Trace::read(&std::fs::read(&path).expect("a trace")).expect("it is one");
        std::fs::remove_file(&path).expect("it can be removed");
        let properties = Properties { race: true, ..Properties::NONE };
        let options = PredictOptions { properties, ..PredictOptions::default() };
        let prediction = predict(&program, &mut build(&program, &trace), &options);
        let witness = prediction.confirmed().next().unwrap_or_else(|| panic!("{name}: {:?}", prediction.predicted));
        let replayed = replay(&program, witness, &ReplayOptions::default());
        assert!(replayed.is_confirmed(), "{name}: {replayed:?}");
    }
}
