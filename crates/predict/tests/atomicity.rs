//! Blocks that are expected to be atomic, marked and inferred. The first line of each program says what is expected.

use leno_c::driver::{Input, Options, compile};
use leno_explore::Properties;
use leno_ir::witness::Claim;
use leno_predict::record::{RecordOptions, record};
use leno_predict::trace::Trace;
use leno_predict::{Blocks, Encoding, PredictOptions, Reach, build, predict};
use leno_replay::{ReplayOptions, replay};

#[test]
fn blocks_that_others_break_are_predicted_and_the_others_hold() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/atomicity");
    let mut files: Vec<_> =
        std::fs::read_dir(directory).expect("it is there").map(|file| file.expect("a file").path()).collect();
    files.sort();
    for file in files {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(&file).expect("it can be read");
        let expected = text.lines().next().unwrap_or_default();
        let program = match compile(&[Input::File(file)], &Options::for_running()) {
            Ok(compiled) => compiled.program,
            Err(failure) => panic!("{failure}"),
        };
        let path = std::env::temp_dir().join(format!("leno-atomicity-{}.leno", std::process::id()));
        record(&program, &RecordOptions::default(), &path).expect("it is recorded");
        let trace = Trace::read(&std::fs::read(&path).expect("a trace")).expect("it is one");
        std::fs::remove_file(&path).expect("it can be removed");
        for encoding in [Encoding::Composition, Encoding::Cssa] {
            for blocks in [Blocks::None, Blocks::Marked, Blocks::All] {
                let options =
                    PredictOptions { properties: Properties::NONE, blocks, encoding, ..PredictOptions::default() };
                let prediction = predict(&program, &mut build(&program, &trace), &options);
                let found = prediction.confirmed().next();
                let is_expected = match expected {
                    "//~ HOLDS" => false,
                    "//~ UNSAFE marked" => blocks != Blocks::None,
                    "//~ UNSAFE inferred" => blocks == Blocks::All,
                    other => panic!("{name}: {other}"),
                };
                let Some(witness) = found.filter(|_| is_expected) else {
                    let stats = prediction.stats;
                    assert!(
                        !is_expected,
                        "{name}, {encoding:?}: {:?} {:?} {stats:?}",
                        prediction.predicted, prediction.gaps
                    );
                    assert!(prediction.predicted.is_empty(), "{name}, {blocks:?}: {:?}", prediction.predicted);
                    assert_eq!(prediction.reach, Reach::All, "{name}");
                    continue;
                };
                let Claim::Atomicity { first, between, second, block } = &witness.claim else {
                    panic!("{name}: {:?}", witness.claim)
                };
                assert!(first.thread == second.thread && first.thread != between.thread, "{name}");
                assert_eq!(block.starts_with("inferred"), expected.ends_with("inferred"), "{name}: {block}");
                let replayed = replay(&program, witness, &ReplayOptions::default());
                assert!(replayed.is_confirmed(), "{name}: {replayed:?}");
                // What is not so is not confirmed.
                let mut forged = witness.clone();
                if let Claim::Atomicity { between, .. } = &mut forged.claim {
                    between.span = first.span;
                }
                assert!(
                    first.span == between.span || !replay(&program, &forged, &ReplayOptions::default()).is_confirmed()
                );
            }
        }
    }
}
