//! AtomicBlocks that are expected to be atomic, marked and inferred. The first line of each program says what is
//! expected.

use leno_engine::Properties;
use leno_ir::witness::Claim;
use leno_logic::limits::Limits;
use leno_predict::{AtomicBlocks, Encoding, PredictOptions, Reach, build, predict_events};
use leno_replay::{ReplayOptions, replay};
use leno_testing::files;
use leno_testing::program::compile_for_running;
use leno_testing::recorded::record;

#[test]
fn blocks_that_others_break_are_predicted_and_the_others_hold() {
    for file in files(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/atomicity")) {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(&file).expect("it can be read");
        let expected = text.lines().next().unwrap_or_default();
        let program = compile_for_running(file, &[]);
        let trace = record(&program);
        for encoding in [Encoding::Composition, Encoding::Cssa] {
            for blocks in [AtomicBlocks::None, AtomicBlocks::Marked, AtomicBlocks::All] {
                let options =
                    PredictOptions { properties: Properties::NONE, blocks, encoding, ..PredictOptions::default() };
                let prediction = predict_events(
                    &program,
                    &mut build(&program, &trace, &Limits::default()).expect("there is no limit"),
                    &options,
                );
                let found = prediction.confirmed().next();
                let is_expected = match expected {
                    "//~ HOLDS" => false,
                    "//~ UNSAFE marked" => blocks != AtomicBlocks::None,
                    "//~ UNSAFE inferred" => blocks == AtomicBlocks::All,
                    other => panic!("{name}: {other}"),
                };
                let Some(witness) = found.filter(|_| is_expected) else {
                    let stats = prediction.stats;
                    assert!(
                        !is_expected,
                        "{name}, {encoding:?}: {:?} {:?} {stats:?}",
                        prediction.findings, prediction.gaps
                    );
                    assert!(prediction.findings.is_empty(), "{name}, {blocks:?}: {:?}", prediction.findings);
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
