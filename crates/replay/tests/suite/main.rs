//! Witnesses of all kinds, forced on compiled programs; and forged ones, which must not be believed.
//!
//! `programs/*.c` say in their first line what goes wrong in them. `LENO_ONLY=name` takes only one of them;
//! `LENO_OFTEN=1` runs all of them a hundred times, not just a few.

mod confine;
mod search;

use leno_c::driver::{self, Input};
use leno_engine::{Bounds, Context, Properties, Task};
use leno_explore::explore;
use leno_ir::analysis::facts::Facts;
use leno_ir::interp::{Options, UndefinedPolicy};
use leno_ir::program::{DataModel, Program, Span};
use leno_ir::witness::{Claim, Witness};
use leno_replay::{ReplayOptions, Replayed, replay};
use leno_report::{Recipe, WitnessFile};
use leno_testing::Scratch;
use leno_testing::process::{Finished, run_patiently};
use search::{Wanted, search};
use std::path::{Path, PathBuf};
use std::process::Command;

const MODELS: [DataModel; 2] = [DataModel::Lp64, DataModel::Ilp32];

fn programs() -> Vec<PathBuf> {
    leno_testing::files(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs"))
}

fn program(name: &str, model: DataModel) -> Program {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name).with_extension("c");
    let mut options = driver::Options::default();
    options.preprocess.data_model = model;
    driver::compile(&[Input::File(file)], &options).unwrap_or_else(|failure| panic!("{failure}")).program
}

/// `Assertion in main.1`: the kind, and the thread if it matters.
fn expectation(file: &Path) -> (String, Option<String>) {
    let text = std::fs::read_to_string(file).unwrap();
    let line = text.lines().next().and_then(|line| line.strip_prefix("//~ ")).expect("an expectation").to_string();
    match line.split_once(" in ") {
        Some((kind, thread)) => (kind.to_string(), Some(thread.to_string())),
        None => (line, None),
    }
}

fn machine_options() -> Options {
    Options { undefined: UndefinedPolicy::Nondet, ..Options::default() }
}

fn options() -> ReplayOptions {
    ReplayOptions { machine: machine_options(), ..ReplayOptions::default() }
}

fn witness(name: &str, model: DataModel) -> (Program, Witness) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name).with_extension("c");
    let program = program(name, model);
    let (kind, thread) = expectation(&file);
    let wanted = match kind.as_str() {
        "Race" => Wanted::Race,
        "Deadlock" => Wanted::Deadlock,
        "Cycle" => Wanted::Cycle,
        kind => Wanted::Violation(kind),
    };
    let found = search(&program, wanted, &machine_options()).unwrap_or_else(|| panic!("{name}: no {kind} was found"));
    if let (Some(expected), Claim::Violation { thread, .. }) = (&thread, &found.claim) {
        assert_eq!(thread, expected, "{name}");
    }
    (program, found)
}

#[test]
fn all_kinds_of_claims_are_confirmed_in_both_data_models() {
    let only = std::env::var("LENO_ONLY").ok();
    let mut failures = Vec::new();
    for file in programs() {
        let name = file.file_stem().unwrap().to_str().unwrap();
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        for model in MODELS {
            let (program, witness) = witness(name, model);
            let result = replay(&program, &witness, &options());
            println!("{name} {model:?}: {result:?}");
            if !result.is_confirmed() {
                failures.push(format!("{name} {model:?}: {result:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Whatever the explorer finds, by way of a file.
#[test]
fn what_the_explorer_finds_is_confirmed() {
    let none = Properties::NONE;
    let properties = [
        Properties { assertion: true, ..none },
        Properties { race: true, ..none },
        Properties { deadlock: true, ..none },
        Properties { memory: true, ..none },
        Properties { leak: true, ..none },
        Properties { memtrack: true, ..none },
        Properties { other: true, ..none },
    ];
    let only = std::env::var("LENO_ONLY").ok();
    let mut failures = Vec::new();
    let mut confirmed = 0;
    for file in programs() {
        let name = file.file_stem().unwrap().to_str().unwrap();
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let program = program(name, DataModel::Lp64);
        for properties in properties {
            let bounds = Bounds { executions: Some(20_000), depth: 1_000, ..Bounds::default() };
            let task = Task { bounds, ..Task::new(properties) };
            let facts = Facts::new(&program);
            let Some(finding) = explore(&facts, &task, &Context::default()).finding else { continue };
            let found = leno_explore::witness(&facts, &finding);
            if found.steps.len() > 10_000 {
                // A loop that waits, a million times around: it can be replayed, but takes a minute.
                continue;
            }
            let file = WitnessFile::new(&program, &found, &Recipe::default()).to_json();
            let read = WitnessFile::parse(&file).and_then(|file| file.witness(&program)).unwrap();
            assert_eq!(read, found);
            let result = replay(&program, &read, &options());
            println!("{name}: {result:?}");
            match result.is_confirmed() {
                true => confirmed += 1,
                false => failures.push(format!("{name}: {:?}: {result:?}", found.claim)),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(confirmed > 30 || only.is_some(), "only {confirmed} witnesses were found");
}

fn why(program: &Program, witness: &Witness) -> String {
    match replay(program, witness, &options()) {
        Replayed::Confirmed { how } => panic!("confirmed: {how}"),
        Replayed::NotConfirmed { why } => why,
    }
}

#[track_caller]
fn is_refused(program: &Program, witness: &Witness, reason: &str) {
    let why = why(program, witness);
    assert!(why.contains(reason), "{why:?} does not say {reason:?}");
}

#[test]
fn a_step_of_the_wrong_thread_is_noticed() {
    let (program, mut forged) = witness("lost_update", DataModel::Lp64);
    let at = forged.steps.iter().position(|step| step.thread == "main.2").unwrap();
    forged.steps[at].thread = "main.1".to_string();
    is_refused(&program, &forged, &format!("step {} of", at + 1));
    forged.steps[at].thread = "main.7".to_string();
    is_refused(&program, &forged, "there is no thread main.7");
    forged.steps[at].thread = "main\"; evil".to_string();
    is_refused(&program, &forged, "is not the name of a thread");
}

#[test]
fn missing_steps_and_steps_too_many_are_noticed() {
    let (program, found) = witness("lost_update", DataModel::Lp64);
    let mut shorter = found.clone();
    shorter.steps.pop();
    is_refused(&program, &shorter, "goes on to");
    let mut without = found.clone();
    without.steps.remove(3);
    is_refused(&program, &without, "cannot be made");
    let mut longer = found.clone();
    let again = longer.steps.last().unwrap().clone();
    longer.steps.extend([again.clone(), again]);
    // The assertion fails before the first of the additional steps: it is the promised one.
    assert!(replay(&program, &longer, &options()).is_confirmed());
    let mut elsewhere = found;
    elsewhere.steps[0].place.index = 1_000_000;
    is_refused(&program, &elsewhere, "a place that the program does not have");
    elsewhere.steps.clear();
    is_refused(&program, &elsewhere, "goes on to");
}

#[test]
fn a_schedule_that_breaks_a_lock_is_noticed() {
    let (program, found) = witness("two_locks", DataModel::Lp64);
    // Both threads wait: no further step can be made by either.
    let Claim::Deadlock { waiting } = &found.claim else { panic!() };
    let mut forged = found.clone();
    let (thread, span) = (waiting[1].thread.clone(), waiting[1].span);
    let image = leno_ir::interp::Image::new(&program);
    let pc = (0..image.code_len()).find(|pc| image.span(*pc) == span).unwrap();
    let mut step = forged.steps[0].clone();
    (step.thread, step.place) = (thread, image.place(pc));
    forged.steps.push(step);
    is_refused(&program, &forged, "has to wait");
}

#[test]
fn threads_that_could_go_on_are_no_deadlock() {
    let (program, found) = witness("two_locks", DataModel::Lp64);
    let mut forged = found.clone();
    forged.steps.pop();
    let why_not = why(&program, &forged);
    assert!(why_not.contains("goes on to") || why_not.contains("does not have to wait"), "{why_not}");
    let Claim::Deadlock { waiting } = &mut forged.claim else { panic!() };
    waiting.retain(|waiting| waiting.thread != "main.1");
    forged.steps = found.steps;
    is_refused(&program, &forged, "could still end its waiting");
}

#[test]
fn another_failure_than_the_promised_one_confirms_nothing() {
    let (program, found) = witness("lost_update", DataModel::Lp64);
    for change in [
        |_: &mut String, span: &mut Span| span.line += 1,
        |thread: &mut String, _: &mut Span| *thread = "main.1".to_string(),
    ] {
        let mut forged = found.clone();
        let Claim::Violation { thread, span, .. } = &mut forged.claim else { panic!() };
        change(thread, span);
        why(&program, &forged);
    }
    let mut forged = found;
    let Claim::Violation { kind, .. } = &mut forged.claim else { panic!() };
    *kind = leno_ir::interp::ViolationKind::Uninitialised;
    is_refused(&program, &forged, "cannot be shown");
}

#[test]
fn accesses_that_cannot_meet_are_no_race() {
    let (program, found) = witness("race", DataModel::Lp64);
    let mut forged = found.clone();
    forged.steps.pop();
    why(&program, &forged);
    let (program, found) = witness("race", DataModel::Ilp32);
    let Claim::Race { first, .. } = found.claim.clone() else { panic!() };
    let forged = Witness { claim: Claim::Race { first: first.clone(), second: first, made: None }, ..found };
    is_refused(&program, &forged, "twice");
}

#[test]
fn a_memory_error_must_really_happen() {
    let (program, found) = witness("use_after_free", DataModel::Lp64);
    let mut forged = found;
    let freed = forged.steps.iter().rposition(|step| step.thread == "main.1").unwrap();
    forged.steps.truncate(freed.min(forged.steps.iter().position(|step| step.thread == "main.1").unwrap()));
    why(&program, &forged);
}

#[test]
fn wrong_inputs_lead_elsewhere() {
    let (program, mut forged) = witness("inputs", DataModel::Lp64);
    for inputs in forged.inputs.values_mut() {
        inputs.iter_mut().for_each(|input| input.bits = 5);
    }
    why(&program, &forged);
    forged.inputs.clear();
    why(&program, &forged);
}

#[test]
fn a_program_that_never_comes_to_its_next_step_is_ended() {
    let (program, mut forged) = witness("partial_deadlock", DataModel::Lp64);
    let loops = forged.steps.iter().position(|step| step.thread == "main.1").unwrap();
    forged.steps.truncate(loops);
    let quick = ReplayOptions { timeout: std::time::Duration::from_millis(500), ..options() };
    assert!(!replay(&program, &forged, &quick).is_confirmed());
}

#[test]
fn what_was_kept_can_be_run_by_hand() {
    let scratch = Scratch::new();
    let (program, witness) = witness("lost_update", DataModel::Lp64);
    let keep = ReplayOptions { keep: Some(scratch.path("kept")), ..options() };
    assert!(replay(&program, &witness, &keep).is_confirmed());
    let output = run_patiently(&mut Command::new(scratch.path("kept/run.sh")));
    let said = output.errors();
    assert!(said.lines().last().is_some_and(|line| line.starts_with("failed main ")), "{said}");
}

/// In a process of its own, which has no other replays at work.
#[test]
fn nothing_else_is_left() {
    const NAME: &str = "nothing_else_is_left";
    let Some(folder) = std::env::var_os("LENO_TEMPORARY") else {
        let scratch = Scratch::new();
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", NAME]).env("LENO_TEMPORARY", scratch.folder()).env("TMPDIR", scratch.folder());
        let finished = run_patiently(&mut again);
        assert!(finished.succeeded(), "{}", finished.output());
        return;
    };
    let (program, witness) = witness("lost_update", DataModel::Lp64);
    assert!(replay(&program, &witness, &options()).is_confirmed());
    assert_eq!(leno_testing::files(folder), [""; 0].map(PathBuf::from));
}

#[test]
fn a_missing_compiler_is_said_plainly() {
    let (program, witness) = witness("lost_update", DataModel::Lp64);
    let without = ReplayOptions { cc: Some("no-such-compiler -x".to_string()), ..options() };
    match replay(&program, &witness, &without) {
        Replayed::NotConfirmed { why } => assert!(why.contains("`no-such-compiler` cannot be run"), "{why}"),
        confirmed => panic!("{confirmed:?}"),
    }
}

/// Compiled once and run a hundred times, all of them at once: that keeps the processors busy.
#[test]
fn a_hundred_runs_under_load_are_a_hundred_times_the_same() {
    let few = ["lost_update", "two_locks", "lost_signal", "race", "use_after_free", "barrier_of_three"];
    let mut chosen: Vec<(String, DataModel)> = few.map(|name| (name.to_string(), DataModel::Lp64)).to_vec();
    if std::env::var("LENO_OFTEN").is_ok() {
        let name = |file: &Path| file.file_stem().unwrap().to_str().unwrap().to_string();
        chosen = programs().iter().flat_map(|file| MODELS.map(|model| (name(file), model))).collect();
    }
    for several in chosen.chunks(few.len()) {
        std::thread::scope(|threads| {
            for (name, model) in several {
                threads.spawn(|| run_often(name, *model, 100));
            }
        });
    }
}

fn run_often(name: &str, model: DataModel, times: usize) {
    let scratch = Scratch::new();
    let (program, witness) = witness(name, model);
    let keep = ReplayOptions { keep: Some(scratch.path("kept")), ..options() };
    assert!(replay(&program, &witness, &keep).is_confirmed(), "{name}");
    // Addresses and numbers of processes differ from run to run.
    let last = |output: Finished| {
        let text = output.errors();
        let verbs = ["failed", "race", "deadlock", "crashed", "invalid"];
        let line = text.lines().rfind(|line| verbs.iter().any(|verb| line.starts_with(verb)));
        line.unwrap_or("nothing").to_string()
    };
    let first = last(run_patiently(&mut Command::new(scratch.path("kept/run.sh"))));
    assert_ne!(first, "nothing", "{name}");
    for _ in 0..times {
        assert_eq!(last(run_patiently(&mut Command::new(scratch.path("kept/replay")))), first, "{name}");
    }
}
