//! The program of the paper's figure 1.

use leno_engine::{Context, Covered, Engine, Properties, Reported, Task, Verdict};
use leno_ir::analysis::facts::Facts;
use leno_ir::program::Program;
use leno_ir::witness::Claim;
use leno_lazy::{LazyEngine, Picture};
use leno_testing::program::compile_with_header;
use std::collections::BTreeSet;

const FIGURE_1: &str = "
pthread_mutex_t l1;
int g1;
void *p1(void *unused) {
    int x = 0;
    pthread_mutex_lock(&l1);
    if (g1 == 1) goto six;
    g1 = 1;
    x++;
six:
    pthread_mutex_unlock(&l1);
    return (void *)(long)x;
}
void *p2(void *unused) {
    int y = 0;
    pthread_mutex_lock(&l1);
    if (g1 == 0) goto six;
    g1 = 0;
    y++;
six:
    pthread_mutex_unlock(&l1);
    g1 = 1;
    return (void *)(long)y;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, p1, 0);
    pthread_create(&b, 0, p2, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
";

fn figure_1() -> Program {
    compile_with_header(FIGURE_1)
}

fn check(program: &Program, depth: u32, reported: &BTreeSet<Reported>) -> (Verdict, Covered) {
    let engine = LazyEngine { depth: Some(depth), ..LazyEngine::default() };
    let task = Task { reported: reported.clone(), ..Task::new(Properties { race: true, ..Properties::NONE }) };
    let outcome = engine.check(&Facts::new(program), &task, &Context::default());
    (outcome.verdict, outcome.covered)
}

#[test]
fn the_race_between_3a_and_7b_is_found_at_depth_11_and_not_before() {
    let program = figure_1();
    let mut reported = BTreeSet::new();
    let (before, covered) = check(&program, 10, &reported);
    assert!(before.is_unknown(), "{before:?}");
    assert!(covered.details.contains(&"explored to depth 10".to_string()), "{covered:?}");
    // (The write of 4a races with 7b at the same depth.)
    let mut found = BTreeSet::new();
    while let (Verdict::Unsafe(counterexample), _) = check(&program, 11, &reported) {
        let claim = &counterexample.witness.claim;
        let Claim::Race { first, second, .. } = claim else { panic!("{claim:?}") };
        assert!(reported.insert(Reported::of(claim)), "found twice: {claim:?}");
        let mut texts = [first, second].map(|racer| program.texts[racer.span.text].clone());
        texts.sort();
        found.insert(texts.join(" with "));
    }
    let expected = ["g1 = 1 with g1 = 1", "g1 with g1 = 1"];
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

#[test]
fn thread_models_have_a_control_state_for_each_access() {
    let program = figure_1();
    let facts = Facts::new(&program);
    let text = leno_lazy::show(&facts, Picture::Text);
    assert!(text.contains("thread p1: 6 control states, 5 of them visible"), "{text}");
    assert!(text.contains("[not g1 == 1]"), "{text}");
    let dot = leno_lazy::show(&facts, Picture::Dot);
    assert!(dot.starts_with("digraph") && dot.contains("shape=box"), "{dot}");
}
