//! Every kind of step that prediction has to know, as programs with their answers: one that is well, and with `-DBUG` one
//! that is not. What the interpreter confirms is replayed on the real program.

use leno_ir::program::Program;
use leno_predict::{Finding, PredictOptions, Prediction, Verdict, predict};
use leno_record::RecordOptions;
use leno_replay::{ReplayOptions, replay};
use leno_testing::expectation::{Expectation, Predicts, Question, programs};
use leno_testing::program::compile_for_running;
use leno_testing::recorded::record_with;
use leno_testing::workers;
use std::path::Path;

/// Runs that are tried: not every run takes the paths from which a violation can be seen.
const RUNS: usize = 5;

#[test]
fn each_kind_has_its_answers() {
    let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kinds"));
    let only = std::env::var("LENO_ONLY").unwrap_or_default();
    let programs = programs(directory).expect("expectations can be read");
    let asked: Vec<(&Expectation, &Question)> = programs
        .iter()
        .filter(|program| program.file.to_string_lossy().contains(&only))
        .flat_map(|program| program.questions.iter().map(move |question| (program, question)))
        .collect();
    assert!(!only.is_empty() || asked.len() > 100, "{} questions", asked.len());
    let answers = workers::each(&asked, |(program, question)| ask(program, question));
    let wrong: Vec<String> = asked
        .iter()
        .zip(answers)
        .filter_map(|((program, question), answer)| {
            let name = program.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Some(format!("{name} {}: {}", question.flags.join(" "), answer.err()?))
        })
        .collect();
    assert!(wrong.is_empty(), "{} answers are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn ask(program: &Expectation, question: &Question) -> Result<(), String> {
    let Some(expected) = &question.prediction else { return Err("prediction is not asked".to_string()) };
    let flags: Vec<&str> = question.flags.iter().map(String::as_str).collect();
    let compiled = compile_for_running(&program.file, &flags);
    let runs = if matches!(expected, Predicts::Nothing(_)) { 1 } else { RUNS };
    let mut wrong = String::new();
    for _ in 0..runs {
        let trace = record_with(&compiled, RecordOptions { silent: true, ..RecordOptions::default() }).0;
        let options = PredictOptions { properties: question.properties, ..PredictOptions::default() };
        let prediction = predict(&compiled, &trace, &options);
        match is_expected(&compiled, &prediction, expected) {
            true => return Ok(()),
            false => {
                let (titles, left_out) = (titles(&prediction), prediction.left_out.in_words(&compiled));
                wrong = format!("it finds {titles:?}, leaves open {:?}, and leaves out {left_out:?}", prediction.gaps);
            }
        }
    }
    Err(wrong)
}

fn is_expected(program: &Program, prediction: &Prediction, expected: &Predicts) -> bool {
    match expected {
        Predicts::Nothing(left_out) => {
            let says = match left_out.as_str() {
                "" => true,
                "nothing left out" => prediction.left_out.is_empty(),
                text => prediction.left_out.in_words(program).iter().any(|words| words.contains(text)),
            };
            says && prediction.verdict() == Verdict::Holds
        }
        Predicts::Open(reason) => {
            let says = |text: &String| text.contains(reason);
            let unconfirmed = prediction.findings.iter().filter_map(|found| found.witness.as_ref().err());
            prediction.verdict() == Verdict::Unknown && prediction.gaps.iter().chain(unconfirmed).any(says)
        }
        Predicts::Violation(note) => {
            prediction.findings.iter().any(|found| found.title.contains(&note.text) && is_confirmed(program, found))
        }
    }
}

fn is_confirmed(program: &Program, found: &Finding) -> bool {
    let Ok(witness) = &found.witness else { return false };
    replay(program, witness, &ReplayOptions::default()).is_confirmed()
}

fn titles(prediction: &Prediction) -> Vec<(&str, Result<(), String>)> {
    let title = |found: &Finding| found.witness.as_ref().map(|_| ()).map_err(String::clone);
    prediction.findings.iter().map(|found| (found.title, title(found))).collect()
}
