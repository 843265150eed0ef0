//! Deadlocks that are no circles of locks, and runs that end in one. The first line of each program says what is
//! expected.

use leno_engine::Properties;
use leno_ir::witness::Claim;
use leno_logic::limits::Limits;
use leno_predict::{Encoding, PredictOptions, Reach, build, predict, predict_events};
use leno_record::RecordOptions;
use leno_replay::{ReplayOptions, replay};
use leno_testing::program::compile_for_running;
use leno_testing::recorded::record_with;
use leno_testing::{Scratch, files};
use std::time::Duration;

/// Much that has nothing to do with it happens before and after, and the main thread waits for the end of the others
/// all the while.
#[test]
fn everybody_stuck_is_predicted_in_windows() {
    let noise = "static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER; static int n;
        static void make_noise(void) { for (int i = 0; i < 60; i++) { pthread_mutex_lock(&other); n++; pthread_mutex_unlock(&other); } }";
    let semaphores = "#include <pthread.h>\n#include <semaphore.h>\n#include <unistd.h>
        NOISE
        static sem_t spoon, knife; static pthread_barrier_t both;
        static void *left(void *a) { make_noise(); pthread_barrier_wait(&both); sem_wait(&spoon); sem_wait(&knife); sem_post(&knife); sem_post(&spoon); pthread_barrier_wait(&both); make_noise(); return a; }
        static void *right(void *a) { make_noise(); pthread_barrier_wait(&both); usleep(200000); sem_wait(&SECOND); sem_wait(&FIRST); sem_post(&FIRST); sem_post(&SECOND); pthread_barrier_wait(&both); make_noise(); return a; }
        int main(void) {
            pthread_t one, two; pthread_barrier_init(&both, 0, 2); sem_init(&spoon, 0, 1); sem_init(&knife, 0, 1); make_noise();
            pthread_create(&one, 0, left, 0); pthread_create(&two, 0, right, 0); pthread_join(one, 0); pthread_join(two, 0); return 0;
        }";
    let signal = "#include <pthread.h>\n#include <unistd.h>
        NOISE
        static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t ready = PTHREAD_COND_INITIALIZER; static int done;
        static void *waiter(void *a) { pthread_mutex_lock(&mutex); WAIT pthread_cond_wait(&ready, &mutex); pthread_mutex_unlock(&mutex); make_noise(); return a; }
        int main(void) {
            pthread_t thread; make_noise(); pthread_create(&thread, 0, waiter, 0); usleep(200000);
            pthread_mutex_lock(&mutex); done = 1; pthread_cond_signal(&ready); pthread_mutex_unlock(&mutex);
            pthread_join(thread, 0); make_noise(); return 0;
        }";
    let semaphores = |first, second| semaphores.replace("FIRST", first).replace("SECOND", second);
    let cases = [
        ("semaphores", semaphores("spoon", "knife"), true),
        ("ordered semaphores", semaphores("knife", "spoon"), false),
        ("lost signal", signal.replace("WAIT", ""), true),
        ("kept signal", signal.replace("WAIT", "while (!done)"), false),
    ];
    for (name, text, is_wrong) in cases {
        let scratch = Scratch::new();
        let program = compile_for_running(scratch.write("stuck.c", text.replace("NOISE", noise)), &[]);
        // (Sleep is to be sleep: it is what makes these runs end well. On a busy machine they may not, and must be
        // ended.)
        let options = RecordOptions { timeout: Some(Duration::from_secs(10)), ..RecordOptions::default() };
        let (trace, _) = record_with(&program, options);
        let properties = Properties { deadlock: true, ..Properties::NONE };
        let options = PredictOptions { properties, window: Some(60), ..PredictOptions::default() };
        let prediction = predict(&program, &trace, &options);
        assert!(prediction.stats.windows > 4, "{name}: {:?}", prediction.stats);
        assert!(prediction.findings.iter().all(|one| one.witness.is_ok()), "{name}: {:?}", prediction.findings);
        let found = prediction.confirmed().next();
        assert_eq!(found.is_some(), is_wrong, "{name}: {:?}", prediction.findings);
        if let Some(witness) = found {
            let replayed = replay(&program, witness, &ReplayOptions::default());
            assert!(replayed.is_confirmed(), "{name}: {replayed:?}");
        }
    }
}

#[test]
fn everybody_stuck_is_predicted_from_one_run() {
    for file in files(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/deadlocks")) {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(&file).expect("it can be read");
        let program = compile_for_running(file, &[]);
        // (Some of these runs end in a deadlock, which can be told from others only by waiting.)
        let options = RecordOptions { timeout: Some(Duration::from_secs(2)), ..RecordOptions::default() };
        let (trace, _) = record_with(&program, options);
        for encoding in [Encoding::Composition, Encoding::Cssa] {
            let properties = Properties { deadlock: true, ..Properties::NONE };
            let options = PredictOptions { properties, encoding, ..PredictOptions::default() };
            let prediction = predict_events(
                &program,
                &mut build(&program, &trace, &Limits::default()).expect("there is no limit"),
                &options,
            );
            let found = prediction.confirmed().next();
            if text.starts_with("//~ HOLDS") {
                assert!(found.is_none() && prediction.reach == Reach::All, "{name}: {:?}", prediction.findings);
                assert!(prediction.gaps.is_empty(), "{name}: {:?}", prediction.gaps);
                continue;
            }
            let witness = found.unwrap_or_else(|| panic!("{name}, {encoding:?}: {:?}", prediction.findings));
            assert!(matches!(witness.claim, Claim::Deadlock { .. }), "{name}: {:?}", witness.claim);
            let replayed = replay(&program, witness, &ReplayOptions::default());
            assert!(replayed.is_confirmed(), "{name}: {replayed:?}");
        }
    }
}
