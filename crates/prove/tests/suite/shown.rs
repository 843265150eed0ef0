//! What the prover shows people: data flow graphs, and why something was not proved. On Boolean programs, which are short.

use crate::programs::HEAD;
use leno::{CheckOptions, Task, Verdict};
use leno_engine::Context;
use leno_ir::analysis::facts::Facts;
use leno_ir::program::Program;
use leno_testing::engine::{ASSERTION, Engine};

fn program(text: &str) -> Program {
    leno_boolean::compile_text("a.bp", text).unwrap_or_else(|failure| panic!("{failure}\n{text}"))
}

fn flow(text: &str, for_graphviz: bool) -> String {
    let program = program(text);
    leno_prove::show_data_flow(&Facts::new(&program), &Context::default(), for_graphviz).expect("a graph")
}

/// The report, and whether it was proved.
fn prove(text: &str) -> (bool, String) {
    let program = program(text);
    let options = CheckOptions { engine: Engine::Prove, task: Task::new(ASSERTION), ..CheckOptions::default() };
    let checked = leno_testing::engine::check(&program, &options);
    (checked.verdict == Verdict::Safe, checked.report(&program))
}

/// An assumption in a section hides the write before it from the thread's own later reads, but not from other threads.
const ASSUMED: &str = "decl x := 0;
void main() begin
  start_thread goto other;
  atomic_begin; x := 1;
  assume(x);
  atomic_end;
  end_thread;
other:
  assert(!x);
end";

#[test]
fn an_assumption_is_a_definition_for_other_threads() {
    let (is_proved, report) = prove(ASSUMED);
    assert!(!is_proved, "{report}");
    let expected = "\
n1: `_start` a.bp:4 x := 1; defines x
n2: `_start` a.bp:5 assume(x); uses x; defines x
n3: `main_other` a.bp:9 assert(!x); uses x
initial -> n3: x
n1 -> n2: x
n2 ~> n3: x
";
    assert_eq!(flow(ASSUMED, false), expected);
    let dot = flow(ASSUMED, true);
    assert!(dot.starts_with("digraph dataflow {\n") && dot.ends_with("}\n"), "{dot}");
    assert!(dot.contains("  n2 -> n3 [label=\"x\", style=dashed, color=red];\n"), "{dot}");
}

#[test]
fn what_a_section_takes_back_reaches_nobody() {
    let undone = ASSUMED.replace("atomic_end;", "x := 0; atomic_end;");
    let (is_proved, report) = prove(&undone);
    assert!(is_proved, "{report}");
    let graph = flow(&undone, false);
    assert!(graph.contains("n3: `_start` a.bp:6 x := 0; defines x\n"), "{graph}");
    assert!(graph.contains("\nn3 ~> n4: x\n") && !graph.contains("n1 ~> ") && !graph.contains("n2 ~> "), "{graph}");
}

/// Two threads that never meet: what one writes after the other has ended reaches nobody.
#[test]
fn a_flag_keeps_definitions_away() {
    let text = "decl ready := 0, data := 0;
void main() begin
  start_thread goto other;
  data := 1;
  ready := 1;
  end_thread;
other:
  assume(ready);
  assert(data);
end";
    let (is_proved, report) = prove(text);
    assert!(is_proved, "{report}");
    let graph = flow(text, false);
    assert!(graph.contains("a.bp:4 data := 1; defines data"), "{graph}");
    assert!(graph.contains("a.bp:8 assume(ready); uses ready; defines ready"), "{graph}");
    assert!(graph.lines().any(|line| line.contains(" ~> ") && line.ends_with(": data")), "{graph}");
}

/// Dekker's algorithm: the first assertion holds, the second one reads what the other thread leaves behind.
const DEKKER: &str = "decl want0 := 0, want1 := 0, turn := 0, in0 := 0, in1 := 0;
void main() begin
  start_thread goto first;
  start_thread goto second;
  end_thread;
first:
  want0 := 1;
  while want1 do
    if turn then
      want0 := 0;
      assume(!turn);
      want0 := 1;
    fi
  od
  in0 := 1;
  assert(!in1);
  in0 := 0;
  turn := 1;
  want0 := 0;
  end_thread;
second:
  want1 := 1;
  while want0 do
    if !turn then
      want1 := 0;
      assume(turn);
      want1 := 1;
    fi
  od
  in1 := 1;
  assert(!in0);
  in1 := 0;
  turn := 0;
  want1 := 0;
end";

#[test]
fn mutual_exclusion_of_dekker() {
    let (is_proved, report) = prove(DEKKER);
    assert!(is_proved, "{report}");
    let wrong = DEKKER.replace("  in0 := 0;\n", "");
    let (is_proved, report) = prove(&wrong);
    assert!(!is_proved);
    let lines: Vec<&str> = report.lines().collect();
    assert_eq!(lines[0], "UNKNOWN: the assertion at a.bp:30 (assert(!in0)) was not proved");
    assert!(lines[2].starts_with("  = there, the invariants cannot exclude: `in0` is 1, "), "{report}");
    let spoiler = "  = `in0` may be changed meanwhile by another thread, of `main_first`, at a.bp:15 (`in0 := 1`)";
    assert!(lines.contains(&spoiler), "{report}");
    assert!(lines.last().is_some_and(|line| line.starts_with("  = help: ") && line.contains("`in0`")), "{report}");
    assert!(!report.contains("a.bp:16"), "the first one is proved: {report}");
}

/// Any number of threads: what needs three of them is not proved.
#[test]
fn flags_that_several_threads_set() {
    let text = |last: &str| {
        format!(
            "decl a, b; void init() begin a, b := 0, 0; end\n\
             void visitor() begin\n  if * then assume(a); assume(b); assert({last});\n\
             elsif * then assume(!a); b := 1; else a := 1; fi\nend"
        )
    };
    assert!(!prove(&text("0")).0);
    assert!(prove(&text("a")).0);
}

#[test]
fn a_loop_is_blamed_only_where_there_is_one() {
    let advice = |body: &str| {
        let text =
            format!("{HEAD} int shared; void *thread(void *a) {{ shared = 1; return 0; }} int main(void) {{ {body} }}");
        let program = leno_testing::program::compile(&text);
        let options = CheckOptions { engine: Engine::Prove, task: Task::new(ASSERTION), ..CheckOptions::default() };
        let report = leno_testing::engine::check(&program, &options).report(&program);
        report.lines().find(|line| line.contains("help: ")).unwrap_or(&report).to_string()
    };
    let input = advice("int x = __VERIFIER_nondet_int(); check(x != 7);");
    assert!(input.contains("a bound on an input") && !input.contains("loop"), "{input}");
    let loops = advice("int x = 1; while (__VERIFIER_nondet_int()) x = x * 3; check(x != 9);");
    assert!(loops.contains("a loop"), "{loops}");
    let joined = advice("pthread_t t; pthread_create(&t, 0, thread, 0); pthread_join(t, 0); check(shared == 1);");
    assert!(!joined.contains("loop") && !joined.contains("no other thread is to blame"), "{joined}");
}
