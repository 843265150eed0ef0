//! `leno check` and `leno replay` as a user meets them: properties, witnesses, repeated replays.

use crate::cli;
use leno_testing::Scratch;
use leno_testing::process::{Ending, Finished};

const LEAKY: &str =
    "#include <stdlib.h>\nint *kept;\nint main(void) { kept = malloc(4); free(malloc(4)); return 0; }\n";
const LOST: &str = "#include <stdlib.h>\nint *kept;\nint main(void) { kept = malloc(4); kept = 0; return 0; }\n";

fn leno(scratch: &Scratch, words: &[&str]) -> Finished {
    cli::leno(scratch.folder(), words)
}

fn said(finished: &Finished) -> String {
    finished.output()
}

#[test]
fn properties_are_selected_by_name_and_by_the_files_of_the_competition() {
    let scratch = Scratch::new();
    let check = |formula: &str| format!("CHECK( init(main()), LTL(G {formula}) )\n");
    for (name, text) in [
        ("leaky.c", LEAKY.to_string()),
        ("lost.c", LOST.to_string()),
        ("cleanup.prp", check("valid-memcleanup")),
        ("track.prp", check("valid-memtrack")),
        ("safety.prp", ["valid-free", "valid-deref", "valid-memtrack"].map(check).concat()),
        ("unreach.prp", check("! call(reach_error())")),
        ("wrong.prp", "CHECK( init(main()), LTL(F end) )\n".to_string()),
    ] {
        scratch.write(name, text);
    }
    let cases = [
        ("leaky.c", "leak", 1),
        ("leaky.c", "memtrack", 0),
        ("leaky.c", "cleanup.prp", 1),
        ("leaky.c", "track.prp", 0),
        ("leaky.c", "safety.prp", 0),
        ("leaky.c", "assert,memsafety", 0),
        ("lost.c", "memtrack", 1),
        ("lost.c", "safety.prp", 1),
        ("lost.c", "unreach.prp", 0),
        ("lost.c", "memsafety", 1),
        ("lost.c", "wrong.prp", 3),
        ("lost.c", "nonsense", 3),
    ];
    for (file, property, code) in cases {
        let finished = leno(&scratch, &["check", "--no-replay", "--property", property, file]);
        assert_eq!(finished.ending, Ending::Status(code), "{file} {property}: {}", said(&finished));
    }
    let unasked = leno(&scratch, &["check", "--no-replay", "lost.c"]);
    assert_eq!(unasked.ending, Ending::Status(0), "what is lost is not looked for unless asked: {}", said(&unasked));
    let report = said(&leno(&scratch, &["check", "--property", "leak", "leaky.c"]));
    assert!(report.starts_with("UNSAFE: memory leak\n --> leaky.c:3:"), "{report}");
    assert!(report.contains("Confirmed on the real program: 1 object is still allocated"), "{report}");
}

#[test]
fn a_witness_is_replayed_as_often_as_wanted() {
    let scratch = Scratch::new();
    scratch.write("lost.c", LOST);
    let found = leno(&scratch, &["check", "--no-replay", "--property", "leak", "--witness", "w.json", "lost.c"]);
    assert_eq!(found.ending, Ending::Status(1), "{}", said(&found));
    let replayed = leno(&scratch, &["replay", "w.json", "--repeat", "20"]);
    assert_eq!(replayed.ending, Ending::Status(1));
    let text = said(&replayed);
    assert!(text.starts_with("confirmed: ") && text.ends_with("\nconfirmed 20 of 20 times\n"), "{text}");
    let without = leno(&scratch, &["replay", "w.json"]);
    assert_eq!(said(&without).lines().count(), 1);
    // Another program is refused.
    scratch.write("lost.c", LEAKY);
    assert_eq!(leno(&scratch, &["replay", "w.json"]).ending, Ending::Status(3));
}

const ROUNDS: &str = "#include <pthread.h>\n#include <assert.h>\nextern int __VERIFIER_nondet_int(void);\nint x;\n\
    void *t(void *a)\n{\n    int n = __VERIFIER_nondet_int();\n    for (int i = 0; i < n; i++)\n        x++;\n    return 0;\n}\n\
    int main(void)\n{\n    pthread_t a;\n    pthread_create(&a, 0, t, 0);\n    pthread_join(a, 0);\n    assert(x < 9);\n}\n";

#[test]
fn bounds_are_kept_and_said() {
    let scratch = Scratch::new();
    scratch.write("rounds.c", ROUNDS);
    let check = |options: &[&str]| {
        let common = ["check", "--no-replay", "--property", "assert", "rounds.c"];
        let finished = leno(&scratch, &[&common, options].concat());
        (finished.ending, said(&finished))
    };
    for options in [["--unwind", "3"], ["--unwindset", "rounds.c:8=3"], ["--unwindset", "t:8=3"]] {
        let (ending, text) = check(&options);
        assert_eq!(ending, Ending::Status(2), "{text}");
        assert!(text.starts_with("UNKNOWN: a loop can go on beyond its bound\n"), "{text}");
        assert!(text.contains("while the loop at rounds.c:8 goes round at most 3 times"), "{text}");
    }
    assert_eq!(check(&["--unwind", "9"]).0, Ending::Status(1));
    assert_eq!(check(&["--engine", "staged"]).0, Ending::Status(1), "bounds are raised until it is found");
    assert_eq!(check(&["--unwindset", "rounds.c:9=3"]).0, Ending::Status(3), "no loop begins there");
    assert_eq!(check(&["--unwind", "3", "--engine", "explore"]).0, Ending::Status(3));
    let (ending, text) = check(&["--unwind", "20", "--context-bound", "1"]);
    assert_eq!(ending, Ending::Status(2), "{text}");
    assert!(text.contains("no violation with at most 1 switches between threads"), "{text}");
    assert_eq!(check(&["--unwind", "20", "--context-bound", "2"]).0, Ending::Status(1));
}

/// Loops that go round hundreds of times are cut short at first, and only then unrolled.
#[test]
fn long_loops_are_sprinted_through_first() {
    let scratch = Scratch::new();
    let program = "#include <assert.h>\n#include <pthread.h>\n\
        pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; int top;\n\
        void *push(void *a) {\n\
            for (int i = 0; i < 300; i++) {\n\
                pthread_mutex_lock(&lock); top = top * 2 + 1; assert(top != LIMIT); pthread_mutex_unlock(&lock);\n\
            }\n\
            return 0;\n\
        }\n\
        int main(void) {\n\
            pthread_t t; pthread_create(&t, 0, push, 0);\n\
            for (int i = 0; i < 300; i++) { pthread_mutex_lock(&lock); top = 0; pthread_mutex_unlock(&lock); }\n\
            pthread_join(t, 0); return 0;\n\
        }\n";
    scratch.write("sprint.c", program);
    let options = ["check", "--engine", "staged", "--stats", "--property", "assert", "sprint.c"];
    // (An assertion is a way out of a loop, and such a loop is gone through once.)
    for (limit, rounds) in [("-DLIMIT=1", "rounds: 1\n"), ("-DLIMIT=3", "rounds: 2\n")] {
        let found = leno(&scratch, &[&options[..], &[limit]].concat());
        assert_eq!(found.ending, Ending::Status(1), "{}", said(&found));
        assert!(found.errors().contains(rounds), "{}", found.errors());
    }
}

#[test]
fn the_skeleton_is_shown_as_text_and_as_a_picture() {
    let scratch = Scratch::new();
    scratch.write("rounds.c", ROUNDS);
    let text = said(&leno(&scratch, &["dump", "--skeleton", "--unwind", "1", "rounds.c"]));
    for wanted in
        ["thread main.1\n", "rounds.c:9  r2 := x (read, 4 bytes)  if", "starts main.1\n", "rounds.c:8  goes on after"]
    {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let dot = said(&leno(&scratch, &["dump", "--skeleton", "--dot", "rounds.c"]));
    assert!(dot.starts_with("digraph skeleton {") && dot.contains("style=dashed") && dot.ends_with("}\n"), "{dot}");
}

const SEVERAL: &str = "#include <pthread.h>\n#include <assert.h>\nint x, y;\n\
    void *one(void *arg)\n{\n    x = 1;\n    assert(y == 0);\n    return 0;\n}\n\
    void *two(void *arg)\n{\n    y = 1;\n    assert(x == 0);\n    return 0;\n}\n\
    int main(void)\n{\n    pthread_t s, t;\n    pthread_create(&s, 0, one, 0);\n    pthread_create(&t, 0, two, 0);\n    \
    pthread_join(s, 0);\n    pthread_join(t, 0);\n    return 0;\n}\n";

#[test]
fn all_violations_are_listed_each_with_its_witness() {
    let scratch = Scratch::new();
    scratch.write("several.c", SEVERAL);
    let finished = leno(&scratch, &["check", "--all", "--no-replay", "--witness", "w.json", "several.c"]);
    assert_eq!(finished.ending, Ending::Status(1));
    let text = said(&finished);
    let places: Vec<&str> = text.lines().filter_map(|line| line.trim_start().strip_prefix("--> several.c:")).collect();
    assert_eq!(text.matches("UNSAFE: assertion violated").count(), 2, "{text}");
    assert_eq!(text.matches("UNSAFE: data race").count(), 2, "{text}");
    assert!(places.iter().any(|place| place.starts_with("7:")) && places.iter().any(|place| place.starts_with("13:")));
    assert!(text.contains("Violations: 4. The rest: SAFE"), "{text}");
    for file in ["w.json", "w-2.json", "w-3.json", "w-4.json"] {
        let replayed = leno(&scratch, &["replay", file]);
        assert_eq!(replayed.ending, Ending::Status(1), "{file}: {}", said(&replayed));
    }
}

/// What ends executions and was not asked for is shown, and can be replayed.
#[test]
fn an_unasked_end_has_a_witness() {
    let scratch = Scratch::new();
    scratch.write("end.c", "#include <assert.h>\nint a[4], i = 7;\nint main(void) { a[i] = 1; assert(0); }\n");
    for all in [&[][..], &["--all"]] {
        let words = ["check", "--property", "assert", "--witness", "w.json", "end.c"];
        let finished = leno(&scratch, &[&words, all].concat());
        let text = said(&finished);
        assert_eq!(finished.ending, Ending::Status(2), "{text}");
        assert!(
            text.starts_with("UNKNOWN: an execution ends in what was not looked for: access out of bounds"),
            "{text}"
        );
        assert!(text.contains("How it happens:") && text.contains("Confirmed on the real program"), "{text}");
        assert_eq!(leno(&scratch, &["replay", "w.json"]).ending, Ending::Status(1));
    }
    let asked = leno(&scratch, &["check", "--no-replay", "--property", "assert,memsafety", "end.c"]);
    assert_eq!(asked.ending, Ending::Status(1), "{}", said(&asked));
}

/// Threads without end: only an invariant decides it.
fn endless(in_thread: &str) -> String {
    format!(
        "#include <pthread.h>\n#include <assert.h>\npthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; int x;\n\
         void *t(void *a) {{\n  pthread_mutex_lock(&lock); x = 1; assert(x == 1); x = 0; pthread_mutex_unlock(&lock);\n\
         {in_thread}\n  return 0;\n}}\n\
         int main(void) {{ for (;;) {{ pthread_t p; pthread_create(&p, 0, t, 0); }} }}\n"
    )
}

#[test]
fn the_prover_decides_what_needs_invariants() {
    let scratch = Scratch::new();
    scratch.write("safe.c", endless(""));
    scratch.write("unsafe.c", endless("assert(x == 0);"));
    scratch.write("cut_short.c", endless("if (*(int *)a) return a;"));
    let check = |options: &[&str], file: &str| {
        let finished = leno(&scratch, &[&["check", "--no-replay"], options, &[file]].concat());
        (finished.ending, said(&finished))
    };
    for property in ["assert", "race", "assert,race"] {
        let (ending, text) = check(&["--property", property], "safe.c");
        assert_eq!(ending, Ending::Status(0), "{text}");
        assert!(text.starts_with("SAFE: proved for any number of threads"), "{text}");
        assert!(text.contains("\n  = by the prover, with invariants"), "{text}");
    }
    assert_eq!(check(&["--property", "assert"], "unsafe.c").0, Ending::Status(1));
    let (ending, text) = check(&["--property", "assert"], "cut_short.c");
    assert_eq!(ending, Ending::Status(2), "{text}");
    assert!(text.starts_with("UNKNOWN: an execution ends in what was not looked for: null dereference"), "{text}");
    let (ending, text) = check(&["--engine", "prove"], "safe.c");
    assert_eq!(ending, Ending::Status(2), "{text}");
    assert!(
        text.contains("\n  = proved for any number of threads: no assertion fails, no data race, no deadlock\n"),
        "{text}"
    );
    let (ending, text) = check(&["--timeout", "8"], "safe.c");
    assert_eq!(ending, Ending::Status(2), "{text}");
    assert!(
        text.contains("proved for any number of threads, by invariants: no assertion fails, no data race, no deadlock"),
        "{text}"
    );
    assert_eq!(check(&["--engine", "prove", "--unwind", "2"], "safe.c").0, Ending::Status(3));
}
