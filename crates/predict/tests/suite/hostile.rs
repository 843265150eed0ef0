//! A trace may hold anything: no panic, whatever its records are. The checksums are taken out, so that every change is
//! read. `LENO_HOSTILE=20000` tries that many traces.

use leno_ir::program::Program;
use leno_predict::{PredictOptions, predict};
use leno_record::{RecordOptions, Recorder};
use leno_testing::program::compile_file;
use leno_testing::{Scratch, count};
use leno_trace::Trace;
use std::time::{Duration, Instant};

const CHUNK: usize = 65536;
const CHUNK_HEADER: usize = 40;

const TEXT: &str = "
#include <pthread.h>
#include <stdlib.h>
#include <semaphore.h>
int shared, total, *box;
__thread int own;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
sem_t s;
static int depth(int n, int *up) { int here[2] = {n, *up}; return n ? depth(n - 1, here) : here[1]; }
static void *work(void *arg) {
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&a);
        shared += i;
        own += shared;
        if (shared == 3) pthread_cond_signal(&c);
        pthread_mutex_unlock(&a);
    }
    int *cell = malloc(8);
    *cell = depth(3, &own);
    total += *cell;
    free(cell);
    sem_post(&s);
    return arg;
}
int main(void) {
    pthread_t t[2];
    sem_init(&s, 0, 0);
    box = calloc(4, 4);
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, work, (void *)i);
    sem_wait(&s);
    pthread_mutex_lock(&b); pthread_mutex_lock(&a); box[1] = shared; pthread_mutex_unlock(&a); pthread_mutex_unlock(&b);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    free(box);
    return 0;
}
";

fn recorded() -> (Program, Vec<u8>) {
    let scratch = Scratch::new();
    let program = compile_file(scratch.write("hostile.c", TEXT), &[]);
    let recorder = Recorder::new(&program, RecordOptions::default()).expect("it compiles");
    recorder.run(&scratch.path("hostile.leno")).expect("it runs");
    (program, scratch.read("hostile.leno"))
}

/// Where the records are: of each chunk, from and to.
fn record_ranges(bytes: &mut [u8]) -> Vec<(usize, usize)> {
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let data = word(bytes, 24) as usize;
    let mut ranges = Vec::new();
    for at in (data..bytes.len()).step_by(CHUNK) {
        let used = word(bytes, at + 12) as usize;
        // Not sealed: there is no checksum.
        bytes[at + 24..at + 28].fill(0);
        if used > 0 {
            ranges.push((at + CHUNK_HEADER, at + CHUNK_HEADER + used));
        }
    }
    ranges
}

#[test]
fn no_trace_makes_it_panic() {
    let (program, mut bytes) = recorded();
    let ranges = record_ranges(&mut bytes);
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let (mut told, rounds) = (0, count("LENO_HOSTILE", 400));
    for round in 0..rounds {
        let mut changed = bytes.clone();
        for _ in 0..=round % 4 {
            let (from, to) = ranges[random(ranges.len())];
            let at = from + random(to - from);
            changed[at] = match random(4) {
                0 => 0,
                1 => 0xff,
                2 => changed[at].wrapping_add(1),
                _ => random(256) as u8,
            };
        }
        let trace = Trace::read(&changed).expect("the header is right");
        let mut options = PredictOptions { all: true, window: (round % 2 == 0).then_some(20), ..Default::default() };
        // A changed value may send a thread into an endless loop.
        options.limits.deadline = Some(Instant::now() + Duration::from_secs(2));
        let prediction = predict(&program, &trace, &options);
        told += u64::from(!prediction.gaps.is_empty());
    }
    assert!(told > rounds / 4, "most changes are noticed: {told} of {rounds}");
}
