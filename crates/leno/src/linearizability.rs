//! Linearizability for any number of threads: reads the files, asks `leno-linear` for a proof, and reports it.

use crate::linearizing::{LinearizeError, LinearizeOptions};
use leno_c::driver::{Input, compile, signatures};
use leno_linear::Operations;
use leno_linear::proof::memory::Memory;
use leno_linear::proof::observer::Observer;
use leno_linear::proof::{NoProof, Proof, Question, prove};
use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// More views than this are not looked at.
const MOST_VIEWS: usize = 2_000_000;

/// The specification of this name, or in the file of this name.
pub fn observer(spec: &str) -> Result<Observer, String> {
    if let Some(observer) = Observer::named(spec) {
        return Ok(observer);
    }
    match std::fs::read_to_string(spec) {
        Ok(text) => Observer::parse(&text),
        Err(error) => Err(format!("there is no specification `{spec}`: {error}")),
    }
}

/// Tries to prove the data structure that the first file implements; the others are linked with it.
pub fn prove_linearizable(
    files: &[PathBuf],
    options: &LinearizeOptions,
    observer: &Observer,
    memory: Option<Memory>,
) -> Result<Result<Proof, NoProof>, LinearizeError> {
    let inputs: Vec<Input> = files.iter().cloned().map(Input::File).collect();
    let operations = Operations::new(&signatures(&inputs[..1], &options.reading)?, &options.names)?;
    let program = compile(&inputs, &options.reading)?.program;
    let start = Instant::now();
    let goes_on = || {
        let in_time = options.timeout.is_none_or(|timeout| start.elapsed() < timeout);
        in_time && options.cancel.requested().is_none()
    };
    let question = Question { program: &program, operations: &operations, observer, memory, most_views: MOST_VIEWS };
    Ok(prove(&question, &goes_on))
}

/// The proof, for people.
pub fn report(proof: &Proof, time: Duration) -> String {
    let mut text = String::from("SAFE: linearizable, for any number of threads and calls\n");
    for point in &proof.points {
        let _ = writeln!(text, "  = `{}` takes effect in line {}", point.operation, point.line);
    }
    let _ = writeln!(
        text,
        "  = {} views; {} effects on what is shared, each mimicked by a summary; {:.2} s",
        proof.views,
        proof.mimicked,
        time.as_secs_f64()
    );
    if proof.memory == Memory::Manual {
        text.push_str("  = provided that freed nodes stay readable");
        text.push_str(if proof.counters > 0 {
            ", and that version counters keep their values and never wrap around\n"
        } else {
            "\n"
        });
    } else if proof.ignores_free {
        text.push_str("  = provided that memory is collected: calls of `free` were taken to do nothing\n");
    }
    if proof.memory == Memory::Collected && proof.counters > 0 {
        text.push_str("  = provided that version counters never wrap around\n");
    }
    if proof.weak_orders {
        text.push_str("  = under sequential consistency\n");
    }
    text
}
