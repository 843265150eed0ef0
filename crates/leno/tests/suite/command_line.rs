//! The command line as a user meets it: words, output, exit codes.

use crate::cli::leno;
use leno_testing::process::{Ending, Finished, run_patiently};
use leno_testing::{Scratch, repository};
use std::fs;
use std::process::Command;

const GOOD: &str = "#include <stdio.h>\nint main(int argc, char **argv) {\n  printf(\"%d %s\\n\", argc, argv[argc - 1]);\n  return 5;\n}\n";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_program_gets_its_arguments_and_gives_its_status() {
    let files = Scratch::with(&[("a.c", GOOD)]);
    let finished = leno(files.folder(), &["run", "a.c", "--", "x", "--seed"]);
    assert_eq!((finished.ending, text(&finished.stdout)), (Ending::Status(5), "3 --seed\n".to_string()));
    assert_eq!(text(&finished.stderr), "");
}

#[test]
fn a_violation_is_shown_with_its_place_and_all_threads() {
    let program = "int *p;\nint main(void) {\n  return *p;\n}\n";
    let files = Scratch::with(&[("a.c", program)]);
    let finished = leno(files.folder(), &["run", "a.c"]);
    assert_eq!(finished.ending, Ending::Status(1));
    let expected = "\
violation: null dereference
 --> a.c:3:10
  |
3 |   return *p;
  |          ^^
  = in thread main: read of 4 bytes through a null pointer
thread main  at a.c:3, in main
";
    assert_eq!(text(&finished.stderr), expected);
}

#[test]
fn a_limit_is_no_verdict() {
    let files = Scratch::with(&[("a.c", "int main(void) { for (;;) ; }\n")]);
    let finished = leno(files.folder(), &["run", "--max-steps", "1000", "a.c"]);
    assert_eq!(finished.ending, Ending::Status(2));
    assert!(text(&finished.stderr).starts_with("no verdict: the limit of 1000 steps"), "{}", text(&finished.stderr));
}

#[test]
fn bad_input_is_exit_code_3_with_a_reason() {
    let files =
        Scratch::with(&[("bad.c", "int main(void) {\n  return cuont;\n}\n"), ("lib.c", "int f(void) { return 1; }\n")]);
    let cases: &[(&[&str], &str)] = &[
        (&["run", "bad.c"], "bad.c:2:10"),
        (&["dump", "--ir", "missing.c"], "cannot read missing.c"),
        (&["run", "lib.c"], "no `main`"),
        (&["run"], "required"),
        (&["dump", "lib.c"], "--ir"),
        (&["nonsense"], "nonsense"),
        (&["run", "--data-model", "lp65", "lib.c"], "lp64"),
        (&["run", "--cc", "no-such-compiler", "lib.c"], "no-such-compiler"),
        (&["dump", "--ir", "."], "cannot read"),
    ];
    for (words, reason) in cases {
        let finished = leno(files.folder(), words);
        assert_eq!(finished.ending, Ending::Status(3), "{words:?}: {}", text(&finished.stderr));
        assert!(text(&finished.stderr).contains(reason), "{words:?}: {}", text(&finished.stderr));
        assert!(finished.stdout.is_empty(), "{words:?}");
    }
}

#[test]
fn flags_of_the_preprocessor_reach_it() {
    let program = "#include \"value.h\"\n#if __STDC_VERSION__ != 199901L\n#error not C99\n#endif\nint main(void) { return VALUE + EXTRA + PRE; }\n";
    let files = Scratch::with(&[("a.c", program), ("pre.h", "#define PRE 100\n")]);
    fs::create_dir(files.path("include")).expect("a new directory");
    files.write("include/value.h", "#define VALUE 20\n");
    let words = ["run", "-Iinclude", "-DEXTRA=3", "-include", "pre.h", "-std=c99", "a.c"];
    let finished = leno(files.folder(), &words);
    assert_eq!(finished.ending, Ending::Status(123), "{}", text(&finished.stderr));
}

#[test]
fn preprocessed_files_need_no_compiler() {
    let files = Scratch::with(&[("a.i", "# 7 \"orig.c\"\nint main(void) { return 9; }\n")]);
    let finished = leno(files.folder(), &["run", "--cc", "no-such-compiler", "a.i"]);
    assert_eq!(finished.ending, Ending::Status(9));
}

#[test]
fn dumps_and_emitted_c_are_what_they_say() {
    let files = Scratch::with(&[("a.c", GOOD)]);
    let dump = leno(files.folder(), &["dump", "--ir", "a.c"]);
    let program = leno_ir::text::parse(&text(&dump.stdout)).expect("the dump parses back");
    assert_eq!(program.to_string(), text(&dump.stdout));
    let graph = text(&leno(files.folder(), &["dump", "--cfg", "a.c"]).stdout);
    assert!(graph.starts_with("digraph cfg {") && graph.contains("label=\"&main\"") && graph.ends_with("}\n"));
    assert_eq!(graph.matches('{').count() - graph.matches("{\\l").count(), graph.matches('}').count());
    let to_file = leno(files.folder(), &["emit-c", "a.c", "-o", "out.c"]);
    assert_eq!(to_file.ending, Ending::Status(0));
    let to_output = leno(files.folder(), &["emit-c", "a.c"]);
    assert_eq!(fs::read(files.path("out.c")).expect("it was written"), to_output.stdout);
}

#[test]
fn help_has_an_example_for_each_command() {
    let files = Scratch::with(&[]);
    for command in ["run", "dump", "emit-c"] {
        let help = leno(files.folder(), &[command, "--help"]);
        assert_eq!(help.ending, Ending::Status(0));
        assert!(text(&help.stdout).contains(&format!("leno {command} ")), "{command}");
    }
    let version = leno(files.folder(), &["--version"]);
    assert_eq!(
        (version.ending, text(&version.stdout)),
        (Ending::Status(0), concat!("leno ", env!("CARGO_PKG_VERSION"), "\n").to_string())
    );
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let body: String = (0..3000).map(|n| format!("int f{n}(int x) {{ return x * {n}; }}\n")).collect();
    let files = Scratch::with(&[("a.i", &body)]);
    let script = format!("{} dump --ir a.i | head -1", env!("CARGO_BIN_EXE_leno"));
    let finished = run_patiently(Command::new("sh").current_dir(files.folder()).args(["-c", &script]));
    assert_eq!(finished.errors(), "");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let example = repository("examples/bank_account.c");
    let example = example.to_str().expect("a path in UTF-8");
    let files = Scratch::with(&[]);
    let runs: Vec<Finished> =
        (0..12).map(|n| leno(files.folder(), &["run", "--seed", &(n / 2).to_string(), example])).collect();
    assert!(runs.chunks(2).all(|pair| pair[0] == pair[1]));
    assert!(
        runs.iter().any(|run| run.ending == Ending::Status(1))
            && runs.iter().any(|run| run.ending == Ending::Status(0))
    );
}
