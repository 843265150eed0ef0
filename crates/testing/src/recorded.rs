//! One run of a program, recorded, for prediction.

use crate::Scratch;
use leno_ir::program::Program;
use leno_predict::{PredictOptions, Reach, predict};
use leno_record::{RecordOptions, Recorder};
use leno_trace::Trace;
use std::process::ExitStatus;

/// Compiles the program with a recorder, runs it once, and gives the trace.
#[track_caller]
pub fn record(program: &Program) -> Trace {
    record_with(program, RecordOptions::default()).0
}

/// The same with options; also how the run ended (None: it had to be killed).
#[track_caller]
pub fn record_with(program: &Program, options: RecordOptions) -> (Trace, Option<ExitStatus>) {
    match Recorder::new(program, options) {
        Ok(recorder) => run_recorded(&recorder),
        Err(message) => panic!("{message}"),
    }
}

/// One more run of a program that was compiled with a recorder.
#[track_caller]
pub fn run_recorded(recorder: &Recorder) -> (Trace, Option<ExitStatus>) {
    let scratch = Scratch::new();
    let path = scratch.path("run.leno");
    let recorded = recorder.run(&path).unwrap_or_else(|message| panic!("{message}"));
    let trace = Trace::read(&scratch.read("run.leno")).unwrap_or_else(|error| panic!("{error}"));
    (trace, recorded.status)
}

/// The kind and the places (`file:line`) of each violation.
pub type Found = Vec<(&'static str, Vec<String>)>;

/// What is predicted from one run of the program: the kind and the places (`file:line`) of each violation that the
/// interpreter confirms. None if nothing is found, but not all reorderings were looked at.
pub fn predicted(program: &Program, properties: leno::Properties) -> Option<Found> {
    let trace = record_with(program, RecordOptions { silent: true, ..RecordOptions::default() }).0;
    let options = PredictOptions { properties, ..PredictOptions::default() };
    let prediction = predict(program, &trace, &options);
    let is_complete = prediction.reach == Reach::All && prediction.gaps.is_empty();
    let confirmed = prediction.findings.into_iter().filter(|one| one.witness.is_ok());
    let found: Vec<_> = confirmed.map(|one| (one.title, one.places)).collect();
    (is_complete || !found.is_empty()).then_some(found)
}
