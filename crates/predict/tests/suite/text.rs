//! Traces in the text format that tools share.

use leno_engine::Properties;
use leno_predict::text::{is_trace, predict, read};
use leno_predict::{PredictOptions, Reach};

fn options() -> PredictOptions {
    let properties = Properties { race: true, deadlock: true, ..Properties::NONE };
    PredictOptions { properties, all: true, ..PredictOptions::default() }
}

fn found(text: &str) -> Vec<(&'static str, Vec<String>)> {
    assert!(is_trace(text.as_bytes()));
    let mut trace = read(text.as_bytes()).expect("it is a trace");
    let prediction = predict(&mut trace, &options());
    assert_eq!(prediction.reach, Reach::All);
    prediction.found.into_iter().map(|finding| (finding.title, finding.places)).collect()
}

#[test]
fn a_race_that_happens_before_hides_is_predicted() {
    // The second section could come first: nothing in it depends on the first.
    let text = "T0|fork(T1)|1\nT0|fork(T2)|2\nT1|w(x)|3\nT1|acq(L)|4\nT1|w(y)|5\nT1|rel(L)|6\nT2|acq(L)|7\nT2|w(z)|8\nT2|rel(L)|9\nT2|w(x)|10\n";
    assert_eq!(found(text), [("data race", vec!["3".to_string(), "10".to_string()])]);
}

#[test]
fn a_read_has_to_see_the_write_that_it_saw() {
    // In the second section y is read, which the first one wrote: the order is fixed.
    let text = "T0|fork(T1)|1\nT0|fork(T2)|2\nT1|w(x)|3\nT1|acq(L)|4\nT1|w(y)|5\nT1|rel(L)|6\nT2|acq(L)|7\nT2|r(y)|8\nT2|rel(L)|9\nT2|w(x)|10\n";
    assert_eq!(found(text), []);
}

#[test]
fn a_transaction_that_another_thread_comes_into_is_broken() {
    let start = "T0|fork(T1)|1\nT0|fork(T2)|2\n";
    let read = "T1|acq(L)|4\nT1|r(x)|5\nT1|rel(L)|6\n";
    let write = "T1|acq(L)|7\nT1|w(x)|8\nT1|rel(L)|9\n";
    let other = "T2|acq(L)|11\nT2|w(x)|12\nT2|rel(L)|13\n";
    let broken = vec!["5".to_string(), "12".to_string(), "8".to_string()];
    let whole = format!("{start}T1|begin|3\n{read}{write}T1|end|10\n{other}");
    assert_eq!(found(&whole), [("atomicity violation", broken)]);
    let nested = format!("{start}T1|begin|3\nT1|begin|3\n{read}T1|end|3\n{write}T1|end|10\n{other}");
    assert_eq!(found(&nested).len(), 1);
    let two = format!("{start}T1|begin|3\n{read}T1|end|3\nT1|begin|3\n{write}T1|end|10\n{other}");
    assert_eq!(found(&two), []);
    let locked = format!(
        "{start}T1|acq(M)|3\nT1|begin|3\n{read}{write}T1|end|10\nT1|rel(M)|3\nT2|acq(M)|10\n{other}T2|rel(M)|14\n"
    );
    assert_eq!(found(&locked), []);
}

#[test]
fn forks_and_joins_order() {
    assert_eq!(found("T0|w(x)|1\nT0|fork(T1)|2\nT1|w(x)|3\nT0|join(T1)|4\nT0|w(x)|5\n"), []);
    assert_eq!(found("T0|w(x)|1\nT0|fork(T1)|2\nT1|w(x)|3\nT0|w(x)|4\nT0|join(T1)|5\n").len(), 1);
}

#[test]
fn locks_in_opposite_orders_may_deadlock() {
    let text =
        "T1|acq(A)|1\nT1|acq(B)|2\nT1|rel(B)|3\nT1|rel(A)|4\nT2|acq(B)|5\nT2|acq(A)|6\nT2|rel(A)|7\nT2|rel(B)|8\n";
    assert_eq!(found(text), [("deadlock", vec!["2".to_string(), "6".to_string()])]);
    let guarded = "T1|acq(G)|0\nT1|acq(A)|1\nT1|acq(B)|2\nT1|rel(B)|3\nT1|rel(A)|4\nT1|rel(G)|4\nT2|acq(G)|5\nT2|acq(B)|5\nT2|acq(A)|6\nT2|rel(A)|7\nT2|rel(B)|8\nT2|rel(G)|9\n";
    assert_eq!(found(guarded), []);
}

#[test]
fn what_is_no_trace_is_refused_with_its_line() {
    let wrong = |text: &str| read(text.as_bytes()).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(wrong("T1|w(x)|1\nT1|jump(x)|2\n").starts_with("line 2: `jump` is no event"));
    assert!(wrong("T1|w(x)|1\n\nnonsense\n").starts_with("line 3:"));
    assert!(wrong("T1|rel(L)|1\n").contains("does not have"));
    // No execution makes these.
    assert!(wrong("T1|acq(L)|1\nT2|acq(L)|2\n").contains("a lock that `T1` has"));
    assert!(wrong("T0|fork(T1)|1\nT0|join(T1)|2\nT1|w(x)|3\n").starts_with("line 3: `T1` goes on"));
    assert!(wrong("T0|fork(T1)|1\nT0|join(T1)|2\nT0|join(T1)|3\n").contains("twice"));
    assert!(wrong("T0|join(T0)|1\n").contains("its own end"));
    assert!(wrong("T0|join(T1)|1\n").contains("never started"));
    assert!(wrong("T0|end|1\n").contains("has not begun"));
    assert!(!is_trace(b"int main(void) { return 0; }\n"));
}
