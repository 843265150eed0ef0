//! The solver against z3: thousands of random formulas, each built twice. Once plainly, printed for z3 by the test
//! itself; once as terms, which are simplified, made circuits and clauses, and solved by both cores. The answers must
//! be the same, and every model must satisfy the plain formula. Some are also printed from the terms, and solved by z3
//! through `smtlib`.
//!
//! `LENO_TERMS=20000` compares so many.

use crate::plain::{Op, Plain, Random};
use leno_logic::core::Answer;
use leno_logic::limits::Limits;
use leno_logic::smtlib::{External, Script, Verdict};
use leno_logic::solver::{CoreKind, Solver};
use leno_logic::term::{Assignment, Term, Terms, Value, evaluate};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What we may spend on one formula.
const CONFLICTS: u64 = 200_000;

/// The same for z3, in its own measure.
const RESOURCES: u64 = 5_000_000;

fn has_z3() -> bool {
    let found = Command::new("z3").arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if !found {
        // Not `eprintln`: what a test that passes prints is not shown.
        let _ = writeln!(std::io::stderr(), "SKIPPED: z3 is not installed (Debian: z3); nothing was compared with it");
    }
    found
}

fn formulas() -> u64 {
    std::env::var("LENO_TERMS").ok().and_then(|text| text.parse().ok()).unwrap_or(300)
}

fn formula(seed: u64) -> Plain {
    let mut random = Random::new(seed);
    let size = 8 + random.below(45);
    Plain::solvable(&mut random, size)
}

/// z3's answers to many questions, from one process.
fn ask_z3(questions: &[String]) -> Vec<String> {
    let mut child =
        Command::new("z3").arg("-in").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("z3 starts");
    let mut stdin = child.stdin.take().expect("it has an input");
    let text: String = questions
        .iter()
        .map(|question| {
            format!("(reset)\n(set-option :rlimit {RESOURCES})\n(set-logic QF_BV)\n{question}(check-sat)\n")
        })
        .collect();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let mut answers = String::new();
    child.stdout.take().expect("it has an output").read_to_string(&mut answers).expect("z3 prints text");
    writer.join().expect("no panic").expect("z3 reads everything");
    child.wait().expect("z3 ends");
    let answers: Vec<String> = answers.lines().map(str::to_string).collect();
    assert_eq!(answers.len(), questions.len(), "one answer for each question, and no complaints: {answers:?}");
    answers
}

/// Our answer, and that every model is one.
fn solve(kind: CoreKind, plain: &Plain, terms: &Terms, built: &[Term], seed: u64) -> &'static str {
    let mut solver = Solver::new(kind);
    let goal = solver.literal(terms, built[built.len() - 1]);
    match solver.solve(&[goal], &Limits::default().with_conflicts(CONFLICTS)) {
        Answer::Satisfiable => {
            check_model(plain, terms, built, &solver.model(terms), seed, &format!("{kind:?}"));
            "sat"
        }
        Answer::Unsatisfiable => "unsat",
        Answer::Unknown(_) => "unknown",
    }
}

fn check_model(plain: &Plain, terms: &Terms, built: &[Term], model: &Assignment, seed: u64, solver: &str) {
    let goal = built[built.len() - 1];
    assert_eq!(evaluate(terms, goal, model), Value::Bool(true), "seed {seed}, {solver}: the model satisfies the term");
    let values = plain.evaluate(|number| match plain.nodes[number].op {
        Op::Variable => evaluate(terms, built[number], model).number(),
        _ => 0,
    });
    assert_eq!(values[values.len() - 1], 1, "seed {seed}, {solver}: the model satisfies the formula");
}

#[derive(Default, Debug)]
struct Figures {
    satisfiable: usize,
    unsatisfiable: usize,
    decided_by_simplification: usize,
    undecided_by_z3: usize,
    undecided_by_cadical: usize,
    undecided_by_batsat: usize,
    z3: Duration,
    build: Duration,
    cadical: Duration,
    batsat: Duration,
}

#[test]
fn answers_are_those_of_z3() {
    if !has_z3() {
        return;
    }
    let mut figures = Figures::default();
    let seeds: Vec<u64> = (0..formulas()).collect();
    for batch in seeds.chunks(250) {
        let plains: Vec<Plain> = batch.iter().map(|&seed| formula(seed)).collect();
        let questions: Vec<String> = plains.iter().map(Plain::to_smtlib).collect();
        let started = Instant::now();
        let answers = ask_z3(&questions);
        figures.z3 += started.elapsed();
        for ((&seed, plain), expected) in batch.iter().zip(&plains).zip(&answers) {
            compare(seed, plain, expected, &mut figures);
        }
    }
    println!("{figures:#?}");
    let undecided = figures.undecided_by_z3 + figures.undecided_by_cadical;
    assert!(undecided * 50 <= seeds.len(), "almost all formulas are decided: {figures:?}");
    assert!(figures.unsatisfiable * 10 >= seeds.len() && figures.satisfiable * 10 >= seeds.len(), "{figures:?}");
}

fn compare(seed: u64, plain: &Plain, expected: &str, figures: &mut Figures) {
    let started = Instant::now();
    let mut terms = Terms::new();
    let built = plain.build(&mut terms);
    figures.build += started.elapsed();
    let constant = terms.as_bool(built[built.len() - 1]);
    figures.decided_by_simplification += usize::from(constant.is_some());

    let started = Instant::now();
    let cadical = solve(CoreKind::Cadical, plain, &terms, &built, seed);
    figures.cadical += started.elapsed();

    let started = Instant::now();
    let batsat = solve(CoreKind::Batsat, plain, &terms, &built, seed);
    figures.batsat += started.elapsed();

    for (answer, solver) in [(cadical, "cadical"), (batsat, "batsat")] {
        let both_decided = answer != "unknown" && expected != "unknown";
        assert!(!both_decided || answer == expected, "seed {seed}: z3 says {expected}, {solver} says {answer}");
    }
    figures.undecided_by_z3 += usize::from(expected == "unknown");
    figures.undecided_by_cadical += usize::from(cadical == "unknown");
    figures.undecided_by_batsat += usize::from(batsat == "unknown");
    figures.satisfiable += usize::from(expected == "sat");
    figures.unsatisfiable += usize::from(expected == "unsat");
}

/// Terms printed as SMT-LIB mean what they mean: z3 agrees with CaDiCaL, and its model, read back, is a model.
#[test]
fn printed_terms_are_the_same_question() {
    if !has_z3() {
        return;
    }
    let z3 = External::new(&format!("z3 -in rlimit={RESOURCES}")).expect("a command line");
    for seed in 0..formulas() / 5 {
        let plain = formula(seed);
        let mut terms = Terms::new();
        let built = plain.build(&mut terms);
        let goal = built[built.len() - 1];
        let mut script = Script::new("QF_BV");
        script.assert(&terms, goal);
        let verdict = match z3.solve(&script.question(), &Limits::default()) {
            Ok(Verdict::Unknown(_)) => continue,
            verdict => verdict.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", script.question())),
        };
        let answer = solve(CoreKind::default(), &plain, &terms, &built, seed);
        match verdict {
            Verdict::Satisfiable(model) => {
                assert_eq!(answer, "sat", "seed {seed}");
                let assignment = model.assignment(&terms, &script);
                check_model(&plain, &terms, &built, &assignment, seed, "z3");
            }
            Verdict::Unsatisfiable => assert_eq!(answer, "unsat", "seed {seed}"),
            Verdict::Unknown(why) => panic!("seed {seed}: {why}"),
        }
    }
}
