//! Deadlocks that are no circles of locks, and runs that end in one. The first line of each program says what is expected.

use leno_c::driver::{Input, Options, compile};
use leno_explore::Properties;
use leno_ir::witness::Claim;
use leno_predict::record::{RecordOptions, Recorder};
use leno_predict::trace::Trace;
use leno_predict::{Encoding, PredictOptions, Reach, build, predict};
use leno_replay::{ReplayOptions, replay};
use std::time::Duration;

#[test]
fn everybody_stuck_is_predicted_from_one_run() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/deadlocks");
    let mut files: Vec<_> =
        std::fs::read_dir(directory).expect("it is there").map(|file| file.expect("a file").path()).collect();
    files.sort();
    for file in files {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(&file).expect("it can be read");
        let program = match compile(&[Input::File(file)], &Options::default()) {
            Ok(compiled) => compiled.program,
            Err(failure) => panic!("{failure}"),
        };
        let path = std::env::temp_dir().join(format!("leno-deadlocks-{}.leno", std::process::id()));
        let options = RecordOptions { timeout: Some(Duration::from_secs(2)), ..RecordOptions::default() };
        Recorder::new(&program, options).and_then(|recorder| recorder.run(&path)).expect("it is recorded");
        let trace = Trace::read(&std::fs::read(&path).expect("a trace")).expect("it is one");
        std::fs::remove_file(&path).expect("it can be removed");
        for encoding in [Encoding::Composition, Encoding::Cssa] {
            let properties = Properties { deadlock: true, ..Properties::NONE };
            let options = PredictOptions { properties, encoding, ..PredictOptions::default() };
            let prediction = predict(&program, &mut build(&program, &trace), &options);
            let found = prediction.confirmed().next();
            if text.starts_with("//~ HOLDS") {
                assert!(found.is_none() && prediction.reach == Reach::All, "{name}: {:?}", prediction.predicted);
                assert!(prediction.gaps.is_empty(), "{name}: {:?}", prediction.gaps);
                continue;
            }
            let witness = found.unwrap_or_else(|| panic!("{name}, {encoding:?}: {:?}", prediction.predicted));
            assert!(matches!(witness.claim, Claim::Deadlock { .. }), "{name}: {:?}", witness.claim);
            let replayed = replay(&program, witness, &ReplayOptions::default());
            assert!(replayed.is_confirmed(), "{name}: {replayed:?}");
        }
    }
}
