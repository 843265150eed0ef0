//! Every engine says about every program below `tests/programs` what its `//~` comments say.
//!
//! `SAFE` and `UNSAFE` are asked of the staged engine, of exploration, and of the search of all states (which may have a
//! verdict where exploration has none); what the first of them finds is replayed on
//! the real program. `HOLDS` and `PREDICTED` are asked of prediction. `LENO_ONLY=name` selects programs, and
//! `LENO_SHOW=1` with `--nocapture` shows which one is at work.

use crate::programs::options;
use leno::{CheckOptions, Checked, Input, Program, Properties, Task, Unknown, Verdict};
use leno_testing::engine::{self, Answer, Engine, answer};
use leno_testing::expectation::{Expectation, Note, Predicts, Question, programs};
use leno_testing::recorded::{Found, predicted};
use leno_testing::{repository, workers};

#[test]
fn engines_say_what_programs_say() {
    let directory = repository("tests/programs").canonicalize().expect("it exists");
    let only = std::env::var("LENO_ONLY").unwrap_or_default();
    let programs = programs(&directory).expect("expectations can be read");
    let questions: Vec<(&Expectation, &Question)> = programs
        .iter()
        .filter(|program| program.file.to_string_lossy().contains(&only))
        .flat_map(|program| program.questions.iter().map(move |question| (program, question)))
        .collect();
    assert!(!only.is_empty() || questions.len() > 100, "{} questions", questions.len());
    let results = workers::each(&questions, |(program, question)| {
        let shown = std::env::var_os("LENO_SHOW").map(|_| format!("{} {}", program.file.display(), question.property));
        shown.iter().for_each(|name| eprintln!("begins: {name}"));
        let wrong = std::panic::catch_unwind(|| ask(program, question));
        shown.iter().for_each(|name| eprintln!("ends: {name}"));
        wrong.unwrap_or_else(|_| vec!["panicked".to_string()])
    });
    let mut failures = Vec::new();
    for ((program, question), messages) in questions.iter().zip(results) {
        let name = program.file.strip_prefix(&directory).unwrap_or(&program.file).display();
        let about = [&question.property, &question.flags.join(" ")].map(String::as_str).join(" ");
        failures.extend(messages.iter().map(|message| format!("{name} {about}: {message}")));
    }
    assert!(failures.is_empty(), "{} answers are wrong:\n{}", failures.len(), failures.join("\n"));
}

/// What is wrong with the answers to one question.
fn ask(program: &Expectation, question: &Question) -> Vec<String> {
    let compile = |is_real: bool| {
        let mut options = options(program)?;
        options.preprocess.flags.extend(question.flags.iter().cloned());
        options.check_signed_overflow |= question.properties.overflow;
        options.library.real_process = is_real;
        let inputs: Vec<Input> = program.files().into_iter().map(Input::File).collect();
        leno::compile(&inputs, &options).map(|compiled| compiled.program).map_err(|failure| failure.to_string())
    };
    let compiled = match compile(false) {
        Ok(compiled) => compiled,
        Err(message) => return vec![message],
    };
    let engines = [("staged", Engine::Staged), ("explore", Engine::Explore), ("states", Engine::States)];
    let mut wrong: Vec<String> = engines
        .into_iter()
        .filter_map(|(name, engine)| {
            let message = ask_engine(&compiled, program, question, engine).err()?;
            Some(format!("{name}: {message}"))
        })
        .collect();
    if let Some(expected) = &question.prediction {
        let found = compile(true).and_then(|real| predict(&real, question.properties, expected));
        wrong.extend(found.err().map(|message| format!("prediction: {message}")));
    }
    wrong
}

/// Runs that are tried: not every run takes the paths from which a violation can be seen.
const RUNS: usize = 5;

fn predict(program: &Program, properties: Properties, expected: &Predicts) -> Result<(), String> {
    let runs = if matches!(expected, Predicts::Nothing(_)) { 1 } else { RUNS };
    let mut wrong = String::new();
    for _ in 0..runs {
        match predicted(program, properties) {
            Some(found) if is_expected(&found, expected) => return Ok(()),
            Some(found) => wrong = format!("it finds {found:?}"),
            None if matches!(expected, Predicts::Open(_)) => return Ok(()),
            None => wrong = "nothing is found, but not everything was looked at".to_string(),
        }
    }
    Err(wrong)
}

fn is_expected(found: &Found, expected: &Predicts) -> bool {
    let (line, text) = match expected {
        Predicts::Nothing(_) => return found.is_empty(),
        Predicts::Open(_) => return false,
        Predicts::Violation(Note { line, text }) => (line, text),
    };
    found.iter().any(|(title, places)| {
        let is_there = *line == 0 || places.iter().any(|place| place.ends_with(&format!(":{line}")));
        title.contains(text) && is_there
    })
}

fn ask_engine(compiled: &Program, program: &Expectation, question: &Question, engine: Engine) -> Result<(), String> {
    // (Exploration finds violations by running into them. The replay of its witnesses has tests of its own.)
    let is_first = engine == Engine::Staged || question.unknown.iter().any(|(known, _)| *known == Engine::Staged);
    let is_replayed = !program.without_replay && is_first;
    let replay = is_replayed.then(Default::default);
    let task = Task::new(question.properties);
    let options = CheckOptions { engine, task, replay, ..CheckOptions::default() };
    let checked = engine::check(compiled, &options);
    let report = checked.report(compiled);
    if let Some((_, reason)) = question.unknown.iter().find(|(known, _)| *known == engine) {
        return match answer(checked) {
            Answer::Unknown(why) if why.contains(reason) => Ok(()),
            Answer::Unknown(why) => Err(format!("it has no verdict, but another reason: {why}")),
            _ => Err(format!("it has a verdict now; the program says UNKNOWN\n{report}")),
        };
    }
    match (&checked.verdict, question.is_safe) {
        (Verdict::Safe, true) => Ok(()),
        (Verdict::Unknown(unknown), _) if engine == Engine::States && may_lack(question, unknown) => Ok(()),
        (Verdict::Unsafe(_, replayed), false) => {
            if !question.violations.iter().any(|note| says(&report, note)) {
                return Err(format!("unexpected violation\n{report}"));
            }
            match replayed {
                Some(replayed) if !replayed.is_confirmed() => Err(format!("it is not confirmed\n{report}")),
                _ => Ok(()),
            }
        }
        _ => Err(unexpected(checked, &report)),
    }
}

/// Whether the search of all states may be without a verdict: exploration is, too, or there are too many for a test.
fn may_lack(question: &Question, unknown: &Unknown) -> bool {
    question.unknown.iter().any(|(known, _)| *known == Engine::Explore)
        || unknown.reason.to_string().starts_with("there are more than")
}

fn unexpected(checked: Checked, report: &str) -> String {
    match answer(checked) {
        Answer::Unknown(why) => format!("no verdict: {why}"),
        _ => report.to_string(),
    }
}

/// Whether a report says this, at this line.
fn says(report: &str, note: &Note) -> bool {
    let claim = report.split("\nHow it happens:").next().unwrap_or(report);
    let is_at = |line: &str| {
        let place = line.trim_start().strip_prefix("--> ").unwrap_or_default();
        place.split(':').nth(1).and_then(|number| number.parse().ok()) == Some(note.line)
    };
    claim.contains(&note.text) && (note.line == 0 || claim.lines().any(is_at))
}
