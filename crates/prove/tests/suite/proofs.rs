//! Proof files: what is proved is accepted again, and what is damaged is not, unless it is still true.
//!
//! Each program has a twin that is the same but for a number, and violates its assertion. A proof of the program, damaged or not, is never
//! accepted for the twin, whatever it says: the conditions are made from the program.

use crate::programs::{HEAD, MAIN};
use leno::{CheckOptions, ProofFile, Properties, Reason, Task, Verdict, verify_program};
use leno_ir::program::Program;
use leno_report::fingerprint;
use leno_testing::engine::{ASSERTION, Answer, Engine, ask, check};
use leno_testing::program::compile;
use leno_testing::{Random, count};
use leno_verify::file::{Header, read_header, write};
use std::collections::{BTreeMap, BTreeSet};

fn thread(globals: &str, body: &str) -> String {
    format!("{HEAD}{globals} void *thread(void *a) {{ {body} return 0; }} {MAIN}")
}

fn started_once(globals: &str, body: &str, main: &str) -> String {
    format!(
        "{HEAD}{globals} void *thread(void *a) {{ {body} return 0; }}
         int main(void) {{ pthread_t t; {main} }}"
    )
}

/// A program, and its twin that is wrong.
fn twins() -> Vec<(&'static str, String, String)> {
    let lock = |by: &str| {
        thread(
            "int x;",
            &format!(
                "pthread_mutex_lock(&lock); x = x + {by}; check(x == 1); x = x - {by}; pthread_mutex_unlock(&lock);"
            ),
        )
    };
    let flag = |value: &str| {
        started_once(
            "int data, ready;",
            "if (ready) check(data == 42);",
            &format!("pthread_create(&t, 0, thread, 0); data = {value}; ready = 1;"),
        )
    };
    let counter = |by: &str| {
        thread(
            "unsigned n;",
            &format!(
                "unsigned mine; __VERIFIER_atomic_begin();
                 if (n == 0u - 1) {{ __VERIFIER_atomic_end(); return 0; }}
                 mine = n; n = mine + {by}; __VERIFIER_atomic_end();
                 check(n > mine);"
            ),
        )
    };
    let passed = |value: &str| {
        started_once(
            "",
            "check(*(int *)a == 3);",
            &format!("int local = {value}; pthread_create(&t, 0, thread, &local); pthread_join(t, 0);"),
        )
    };
    let table = |last: &str| {
        started_once(
            &format!("const int table[4] = {{1, 2, 3, {last}}};"),
            "",
            "int i = __VERIFIER_nondet_int(); if (i >= 0 && i < 4) check(table[i] <= 3);",
        )
    };
    let section = |last: &str| {
        thread(
            "int x;",
            &format!("__VERIFIER_atomic_begin(); check(x == 0); x = 1; x = {last}; __VERIFIER_atomic_end();"),
        )
    };
    vec![
        ("lock", lock("1"), lock("2")),
        ("flag", flag("42"), flag("41")),
        ("counter", counter("1"), counter("0")),
        ("passed", passed("3"), passed("4")),
        ("table", table("0"), table("4")),
        ("section", section("0"), section("2")),
    ]
}

fn compiled(text: &str) -> Program {
    compile(text)
}

/// The proof file of a program, for its assertions.
fn proof(program: &Program) -> String {
    proof_of(program, ASSERTION)
}

fn proof_of(program: &Program, properties: Properties) -> String {
    let options = CheckOptions { engine: Engine::Prove, task: Task::new(properties), ..CheckOptions::default() };
    let checked = check(program, &options);
    assert_eq!(checked.verdict, Verdict::Safe, "{}", checked.report(program));
    let written = checked.proof.expect("the prover has decided it").expect("assertions have proof files");
    let header = Header {
        fingerprint: fingerprint(program),
        asked: written.asked,
        are_sections_whole: written.are_sections_whole,
        ..Header::default()
    };
    write(&header, &written.body)
}

/// Why a proof is not accepted; none if it is.
fn rejected(program: &Program, text: &str) -> Option<String> {
    let header = match read_header(text) {
        Ok(header) => header,
        Err(why) => return Some(why.to_string()),
    };
    let proof = ProofFile { header: &header, text };
    match verify_program(program, &proof, &CheckOptions::default()).verdict {
        Verdict::Safe => None,
        Verdict::Unknown(unknown) => match unknown.reason {
            Reason::Because(why) => Some(why),
            other => Some(format!("{other:?}")),
        },
        other => panic!("a proof is accepted or not: {other:?}"),
    }
}

/// The same file for another program.
fn offered_to(text: &str, program: &Program) -> String {
    let old = text.lines().find(|line| line.starts_with("program ")).unwrap_or_default();
    text.replacen(old, &format!("program {}", fingerprint(program)), 1)
}

#[test]
fn a_proof_is_accepted_for_its_program_and_not_for_its_twin() {
    for (name, right, wrong) in twins() {
        let (right, wrong) = (compiled(&right), compiled(&wrong));
        let text = proof(&right);
        assert_eq!(rejected(&right, &text), None, "{name}\n{text}");
        assert!(matches!(ask(&wrong, Engine::Auto, ASSERTION), Answer::Unsafe(_)), "{name}: the twin is wrong");
        let other = rejected(&wrong, &text).unwrap_or_default();
        assert!(other.contains("another program"), "{name}: {other}");
        assert!(rejected(&wrong, &offered_to(&text, &wrong)).is_some(), "{name}: accepted for a program that is wrong");
    }
}

/// One change at random.
fn damaged(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let at = random.below(lines.len());
    let other = random.below(lines.len());
    let is_fact = |line: &str| line.starts_with("  ");
    let facts: Vec<usize> = (0..lines.len()).filter(|at| is_fact(&lines[*at])).collect();
    let fact = if facts.is_empty() { at } else { random.pick(&facts) };
    match random.below(14) {
        0 => drop(lines.remove(fact)),
        1 => drop(lines.remove(at)),
        2 => lines.insert(other, lines[at].clone()),
        3 => lines.swap(at, other),
        4 if !facts.is_empty() => lines.swap(fact, facts[random.below(facts.len())]),
        // A number becomes another one.
        4..=7 => {
            let words: Vec<String> = lines[fact].split(' ').map(str::to_string).collect();
            let numbers: Vec<usize> = (0..words.len()).filter(|at| words[*at].parse::<i128>().is_ok()).collect();
            if let Some(which) = numbers.get(random.below(numbers.len())) {
                let mut words = words;
                let number: i128 = words[*which].parse().unwrap_or_default();
                let change = random.pick(&[1, -1, 2, -2, 1 << 16, -number, number, 1 << 31]);
                words[*which] = (number + change).to_string();
                lines[fact] = words.join(" ");
            }
        }
        // A variable becomes another one.
        8 => lines[fact] = lines[fact].replacen('c', &format!("c{}", random.below(3)), 1),
        9 => lines[fact] = lines[fact].replacen("c0", "c1", 1),
        10 => {
            let end = random.below(lines[at].len() + 1);
            lines[at].truncate(end);
        }
        11 => lines.truncate(at),
        12 => {
            let header = [
                "sections whole",
                "sections split",
                "property assert overflow",
                "property bounds",
                "replicate thread",
                "entry thread",
                "property",
            ];
            let line = 1 + random.below(4);
            lines[line] = random.pick(&header).to_string();
        }
        _ => {
            let garbage: String = (0..random.below(20)).map(|_| char::from(random.below(128) as u8)).collect();
            lines[at] = garbage;
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn damaged_proofs_prove_nothing_that_is_false() {
    let all = twins();
    let each = count("LENO_PROOF_MUTATIONS", 480) / all.len() as u64;
    let (mut accepted, mut rejected_files, mut reasons) = (0, 0, BTreeMap::<String, u64>::new());
    for (number, (name, right, wrong)) in all.iter().enumerate() {
        let (right, wrong) = (compiled(right), compiled(wrong));
        let text = proof(&right);
        let mut random = Random::new(7 + number as u64);
        for _ in 0..each {
            let mut damaged_text = damaged(&text, &mut random);
            if random.chance(20) {
                damaged_text = damaged(&damaged_text, &mut random);
            }
            match rejected(&right, &damaged_text) {
                None => accepted += 1,
                Some(why) => {
                    rejected_files += 1;
                    let kind = if why.starts_with("line ") { "the file is not one" } else { &why };
                    *reasons.entry(kind.to_string()).or_default() += 1;
                }
            }
            // (A file may come to claim less: that all accesses stay in bounds is true of the twin, too.)
            let offered = offered_to(&damaged_text, &wrong);
            let claims_it = read_header(&offered).is_ok_and(|header| header.asked.assertion);
            let is_rejected = rejected(&wrong, &offered).is_some();
            assert!(is_rejected || !claims_it, "{name}: accepted for a program that is wrong:\n{offered}");
        }
    }
    println!("{accepted} accepted, {rejected_files} rejected: {reasons:#?}");
    assert!(rejected_files > 4 * accepted / 2 && accepted > 0, "{accepted} accepted, {rejected_files} rejected");
}

#[test]
fn garbage_is_rejected_without_more_ado() {
    let program = compiled(&twins()[0].1);
    let text = proof(&program);
    for end in (0..text.len()).step_by(7) {
        assert!(rejected(&program, &text[..end]).is_some());
    }
    let texts = [
        "",
        "\n",
        "leno-proof 2\n",
        "leno-proof 1\ncells 0\n",
        "leno-proof 1\nprogram\nproperty assert\nsections whole\ncells 0",
        "\u{0}\u{1}ö",
    ];
    for text in texts {
        assert!(rejected(&program, text).is_some(), "{text:?}");
    }
}

/// Every way to damage one line of a kind, and the reasons for which the results are rejected.
fn reasons(text: &str, program: &Program, change: impl Fn(&str) -> Vec<String>) -> BTreeSet<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut all = BTreeSet::new();
    for at in 0..lines.len() {
        for line in change(lines[at]) {
            let mut changed: Vec<&str> = lines.clone();
            changed[at] = &line;
            let changed =
                changed.iter().filter(|line| **line != "DROP").map(|line| format!("{line}\n")).collect::<String>();
            all.extend(rejected(program, &changed));
        }
    }
    all
}

/// `is c0 0` with the next number.
fn next_number(line: &str) -> Vec<String> {
    let Some((front, number)) = line.rsplit_once(' ').filter(|(front, _)| front.starts_with("  is ")) else {
        return Vec::new();
    };
    number.parse::<u64>().map(|number| vec![format!("{front} {}", number + 1)]).unwrap_or_default()
}

/// The same states, of which nothing is said.
fn without_facts(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("  ")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn bounds_have_proof_files() {
    let ring = |size: &str| {
        compiled(&thread(
            "unsigned next; int ring[4];",
            &format!("unsigned i = next; ring[i] = 1; next = (i + 1) % {size};"),
        ))
    };
    let (right, wrong) = (ring("4"), ring("5"));
    let text = proof_of(&right, Properties { bounds: true, ..Properties::NONE });
    assert_eq!(rejected(&right, &text), None, "{text}");
    assert!(rejected(&wrong, &offered_to(&text, &wrong)).is_some());
    let why = rejected(&right, &without_facts(&text)).unwrap_or_default();
    assert!(why.contains("an access in bounds"), "{why}");
}

#[track_caller]
fn assert_some(all: &BTreeSet<String>, what: &str) {
    assert!(all.iter().any(|why| why.contains(what)), "no condition says `{what}`: {all:#?}");
}

#[test]
fn each_condition_rejects_something() {
    let by_name: BTreeMap<&str, Program> =
        twins().into_iter().map(|(name, right, _)| (name, compiled(&right))).collect();
    let program = &by_name["lock"];
    let text = proof(program);
    let numbers = reasons(&text, program, next_number);
    assert_some(&numbers, "the invariant at the beginning of the program");
    assert_some(&numbers, "the invariant at test.c");
    assert_some(&numbers, "the invariant at the beginning of a thread");
    // The views: what a thread has changed behind a lock is its own until it gives it up.
    let dirty = reasons(&text, program, |line| match line.starts_with("state c") {
        true => vec!["state".to_string()],
        false => Vec::new(),
    });
    assert_some(&dirty, "the invariant at");
    // Two threads that do not hold the lock may be anywhere together.
    let pairs =
        reasons(&text, program, |line| match line.starts_with('s') && !line.contains(' ') || line.contains(" s") {
            true => vec!["DROP".to_string()],
            false => Vec::new(),
        });
    assert_some(&pairs, "that two threads do not meet");
    // Nothing at all is said: then the assertion does not follow.
    let why = rejected(program, &without_facts(&text)).unwrap_or_default();
    assert!(why.contains("the assertion at"), "{why}");

    // Phases: another thread's store to the flag changes the state that a thread is in.
    let program = &by_name["flag"];
    let text = proof(program);
    let numbers = reasons(&text, program, next_number);
    assert_some(&numbers, "that other threads keep an invariant");
    let states = reasons(&text, program, |line| match line.starts_with("state") {
        // (Its facts become those of the state before it.)
        true => vec!["DROP".to_string()],
        false => Vec::new(),
    });
    assert!(!states.is_empty());

    // Octagons.
    let program = &by_name["counter"];
    let text = proof(program);
    let sums =
        reasons(&text, program, |line| match line.rsplit_once(' ').filter(|(front, _)| front.starts_with("  sum ")) {
            Some((front, number)) => vec![format!("{front} {}", number.parse::<i128>().unwrap_or_default() - 1)],
            None => Vec::new(),
        });
    assert_some(&sums, "the invariant at");
    let weaker = reasons(&text, program, |line| match line.starts_with("  sum ") {
        true => vec!["DROP".to_string()],
        false => Vec::new(),
    });
    assert!(!weaker.is_empty(), "relations are of use");
}
