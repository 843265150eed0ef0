//! Inserted assertions: how many there are, how many are proved, and which are not. Each kind has a twin that must not be proved.

use leno::{CheckOptions, EngineChoice, Input, Options, Properties, Task, Uses, Verdict, open_library};
use leno_testing::repository;

const CHECKED: Properties = Properties { assertion: true, bounds: true, overflow: true, ..Properties::NONE };

const HEAD: &str =
    "int __VERIFIER_nondet_int(void); unsigned char __VERIFIER_nondet_uchar(void); void __VERIFIER_assume(int);
    int pthread_spin_lock(volatile int *); int pthread_spin_unlock(volatile int *); volatile int lock;\n";

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

/// How many assertions there are, how many are proved, and the report.
fn counted(input: Input, mut options: Options, uses: &Uses) -> (u64, u64, String) {
    options.entries = uses.functions();
    options.check_signed_overflow = true;
    let compiled = leno::compile(&[input], &options).unwrap_or_else(|failure| panic!("{failure}"));
    let (program, _) = open_library(&compiled, uses).expect("a library");
    let task = Task::new(CHECKED);
    let checked =
        leno::check_program(&program, &CheckOptions { engine: EngineChoice::Prove, task, ..CheckOptions::default() });
    let count = |name| checked.statistics.count_of(name);
    let (all, proved) = (count("assertions"), count("assertions proved"));
    let report = checked.report(&program);
    assert!(all > 0, "nothing was counted: {report}");
    assert_eq!(checked.verdict == Verdict::Safe, all == proved, "{report}");
    (all, proved, report)
}

fn text(code: &str, entries: &[&str]) -> (u64, u64, String) {
    let input = Input::Preprocessed { name: "test.c".to_string(), text: format!("{HEAD}{code}").into_bytes() };
    counted(input, Options::default(), &Uses { entries: names(entries), ..Uses::default() })
}

#[track_caller]
fn all_proved(code: &str, entries: &[&str]) {
    let (all, proved, report) = text(code, entries);
    assert_eq!(all, proved, "{code}\n{report}");
}

#[track_caller]
fn not_proved(code: &str, entries: &[&str], count: u64) {
    let (all, proved, report) = text(code, entries);
    assert_eq!(all - proved, count, "{code}\n{report}");
}

#[test]
fn indices_are_bounded_by_conditions_and_masks() {
    all_proved("int a[8]; void f(unsigned i) { if (i < 8) a[i] = 1; a[i & 7] = 2; }", &["f"]);
    not_proved("int a[8]; void f(unsigned i) { if (i <= 8) a[i] = 1; a[i & 15] = 2; }", &["f"], 2);
    all_proved("int a[8]; void f(int i) { if (i >= 0 && i < 8) a[i] = 1; }", &["f"]);
    not_proved("int a[8]; void f(int i) { if (i < 8) a[i] = 1; }", &["f"], 1);
    all_proved("struct { int a[4]; int b; } g; void f(unsigned i) { if (i < 4) g.a[i] = 1; }", &["f"]);
    // (Within the object, but not within the member.)
    not_proved("struct { int a[4]; int b; } g; void f(unsigned i) { if (i < 5) g.a[i] = 1; }", &["f"], 1);
}

#[test]
fn a_shared_index_is_what_other_threads_make_of_it() {
    let ring = |advance: &str, size: u32| {
        format!(
            "int a[{size}]; unsigned at;
             void push(int value) {{ pthread_spin_lock(&lock); {advance} a[at] = value; pthread_spin_unlock(&lock); }}"
        )
    };
    all_proved(&ring("at = (at + 1) % 4;", 4), &["push"]);
    not_proved(&ring("at = (at + 1) % 4;", 3), &["push"], 1);
    all_proved(&ring("at++; if (at == 4) at = 0;", 4), &["push"]);
    // Without the lock two threads may pass the limit together.
    let unlocked = "int a[4]; unsigned at; void push(int value) { at++; if (at == 4) at = 0; a[at] = value; }";
    not_proved(unlocked, &["push"], 1);
}

#[test]
fn zero_ends_tables() {
    let search = |until: &str| {
        format!(
            "static struct {{ int port, sort; }} table[] = {{ {{1, 7}}, {{3, 8}}, {{5, 9}}, {{0, 0}} }}; int found;
             void f(int port) {{ for (int i = 0; {until}; i++) if (table[i].sort == 9) found = table[i].port; }}"
        )
    };
    all_proved(&search("table[i].port != 0"), &["f"]);
    all_proved(&search("!found && table[i].port"), &["f"]);
    let (all, proved, report) = text(&search("table[i].port != port"), &["f"]);
    assert!(all > proved, "{report}");
    // What is found in a table is one of its entries; what is written elsewhere is not.
    all_proved(
        "static int table[] = { 3, 1, 2 }; int a[4]; void f(unsigned i) { if (i < 3) a[table[i]] = 1; }",
        &["f"],
    );
    let written = "static int table[] = { 3, 1, 2 }; int a[4]; void g(int v) { table[1] = v; }
        void f(unsigned i) { if (i < 3) a[table[i]] = 1; }";
    not_proved(written, &["f", "g"], 1);
    not_proved(
        "static int table[] = { 3, 4, 2 }; int a[4]; void f(unsigned i) { if (i < 3) a[table[i]] = 1; }",
        &["f"],
        1,
    );
}

#[test]
fn a_store_changes_a_part_of_an_object() {
    let code = |size: u32| {
        format!(
            "struct {{ char text[8]; int port; int end; }} g = {{ .port = 3 }}; int a[4];
             void f(unsigned i) {{ if (i < {size}) *(g.text + i) = 1; a[g.port] = 1; }}"
        )
    };
    all_proved(&code(8), &["f"]);
    // (A byte of the port may be written now.)
    not_proved(&code(9), &["f"], 1);
}

#[test]
fn pointers_in_structures_have_targets_of_their_own() {
    let code = |first: &str| {
        format!(
            "int small[2]; int large[8]; struct {{ int *first, *second; }} g;
             void init(void) {{ g.first = {first}; g.second = large; }}
             void f(void) {{ g.first[1] = 1; g.second[7] = 1; }}"
        )
    };
    let run = |first: &str| {
        let text = format!("{HEAD}{}", code(first));
        let input = Input::Preprocessed { name: "test.c".to_string(), text: text.into_bytes() };
        let uses = Uses { init: names(&["init"]), entries: names(&["f"]), ..Uses::default() };
        let (all, proved, report) = counted(input, Options::default(), &uses);
        assert_eq!(all, 2, "{report}");
        proved
    };
    assert_eq!(run("small"), 2);
    assert_eq!(run("small + 1"), 1);
    assert_eq!(run("__VERIFIER_nondet_int() ? small : large"), 2);
}

#[test]
fn pointer_arguments_point_to_memory_of_their_type() {
    all_proved("struct s { int a, b; }; int f(struct s *p) { return p->b & 1; }", &["f"]);
    not_proved("struct s { int a, b; }; int f(struct s *p) { return p[1].a & 1; }", &["f"], 1);
    not_proved("int f(const char *text) { return text[0]; }", &["f"], 1);
    not_proved("int f(void *p) { return *(int *)p; }", &["f"], 1);
    // What such memory holds is not known: neither numbers nor addresses.
    not_proved("struct s { unsigned n; }; int a[4]; void f(struct s *p) { a[p->n] = 1; }", &["f"], 1);
    not_proved("struct s { struct s *next; int n; }; int f(struct s *p) { return p->next->n; }", &["f"], 1);
    // Two arguments may be the same object.
    not_proved(
        "struct s { unsigned n; }; int a[4]; void f(struct s *p, struct s *q) { p->n = 1; q->n = 9; a[p->n] = 1; }",
        &["f"],
        1,
    );
}

#[test]
fn overflow_is_counted() {
    all_proved("int x; void f(int t) { if (t >= 1 && t <= 60) x = t * 60; }", &["f"]);
    not_proved("int x; void f(int t) { if (t >= 1) x = t * 60; }", &["f"], 1);
    not_proved("int x; void f(void) { x++; }", &["f"], 1);
    all_proved("int x; void f(void) { pthread_spin_lock(&lock); if (x < 9) x++; pthread_spin_unlock(&lock); }", &["f"]);
}

#[test]
fn what_runs_first_and_what_fails() {
    let code = |result: &str| {
        format!("int limit = 100; int a[8]; int init(int n) {{ if (n < 0 || n >= 8) return {result}; limit = n; return 0; }}
             void f(void) {{ a[limit] = 1; }} void stop(void) {{ limit = 9; }}")
    };
    let run = |result: &str, exit: &[&str]| {
        let input = Input::Preprocessed { name: "test.c".to_string(), text: code(result).into_bytes() };
        let uses = Uses { init: names(&["init"]), entries: names(&["f"]), exit: names(exit) };
        let (all, proved, _) = counted(input, Options::default(), &uses);
        all - proved
    };
    assert_eq!(run("-22", &[]), 0);
    assert_eq!(run("0", &[]), 1);
    // What runs last runs while threads are still there.
    assert_eq!(run("-22", &["stop"]), 1);
}

fn driver(name: &str) -> (u64, u64, Vec<u32>) {
    let mut options = Options::default();
    options.preprocess.flags = vec!["-I".to_string(), repository("benches/drivers/include").display().to_string()];
    let uses = Uses {
        init: names(&["model_parameter_minutes", "model_parameter_port", "model_init"]),
        entries: names(&["pot_write", "pot_ioctl", "pot_open", "pot_release", "pot_notify", "pour"]),
        exit: names(&["model_exit"]),
    };
    let file = repository(&format!("benches/drivers/{name}"));
    let (all, proved, report) = counted(Input::File(file), options, &uses);
    let line = |line: &str| line.split("not proved: ").nth(1)?.rsplit(':').next()?.parse().ok();
    (all, proved, report.lines().filter_map(line).collect())
}

#[test]
fn a_driver_of_our_own_is_proved() {
    let (all, proved, unproved) = driver("tea_timer.c");
    assert_eq!((all, proved, unproved), (15, 15, Vec::new()));
}

#[test]
fn seeded_defects_are_not_proved() {
    let (all, proved, unproved) = driver("tea_timer_broken.c");
    let text = std::fs::read_to_string(repository("benches/drivers/tea_timer_broken.c")).expect("the driver");
    let defects: Vec<u32> =
        text.lines().zip(1..).filter(|(line, _)| line.contains("DEFECT */")).map(|(_, number)| number).collect();
    for defect in &defects {
        assert!(unproved.contains(defect), "line {defect}: {unproved:?}");
    }
    assert_eq!((all, proved), (14, 9), "{unproved:?}");
}
