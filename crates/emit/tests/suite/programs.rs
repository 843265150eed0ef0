//! The programs of `tests/programs`: compiled in every way that this machine has, and in the
//! interpreter, they do what their comments say.
//!
//! `MODEL` and `WORD` in a program make it two programs, one for each data model. A function `&show` that prints
//! an `i32` is there for all.
//!
//! ```text
//! //> stdout TEXT             a line of standard output; all of them, in order
//! //> stderr TEXT             the only line of standard error
//! //> status 9                or `abort`; without it, 0
//! //> environment NAME VALUE
//! //> native                  not for the interpreter: what it does there is open
//! ```

use crate::compiler;
use leno_ir::interp::{self, Captured, Ending};
use leno_ir::program::Program;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

const LIBRARY: &str = "
@show_format = constant size 4 align 1 { 0: \"%d\\n\\x00\" }
fn &printf(%f: ptr, %area: ptr) -> i32 external known variadic
fn &show(%x: signed i32) {
  slot $area size 8 align 8
b0:
  store i32 $area = %x
  call &printf(@show_format, $area)
  return
}
fn &show_word(%x: WORD) {
b0:
  call &show(NARROWED)
  return
}
";

#[derive(Default)]
struct Expected {
    stdout: String,
    stderr: String,
    status: String,
    environment: Vec<(String, String)>,
    native: bool,
}

impl Expected {
    fn of(source: &str) -> Expected {
        let mut expected = Expected { status: "0".to_string(), ..Expected::default() };
        for line in source.lines().filter_map(|line| line.strip_prefix("//> ")) {
            match line.split_once(' ').unwrap_or((line, "")) {
                ("stdout", text) => expected.stdout += &format!("{text}\n"),
                ("stderr", text) => expected.stderr += &format!("{text}\n"),
                ("status", text) => expected.status = text.to_string(),
                ("native", _) => expected.native = true,
                ("environment", text) => {
                    let (name, value) = text.split_once(' ').unwrap();
                    expected.environment.push((name.to_string(), value.to_string()));
                }
                _ => panic!("no such expectation: {line}"),
            }
        }
        expected
    }
}

#[test]
fn programs_do_what_they_say() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut files: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 10);
    for file in files {
        let source = std::fs::read_to_string(&file).unwrap();
        let expected = Expected::of(&source);
        for program in programs(&source, &file) {
            let name = file.display().to_string();
            if !expected.native {
                interpret(&program, &expected, &name);
            }
            for way in compiler::ways(program.model) {
                let compiled = compiler::compile(&program, way, &name);
                check(&expected, &compiler::run(&compiled, &expected.environment), &format!("{name} {way:?}"));
            }
        }
    }
}

fn interpret(program: &Program, expected: &Expected, name: &str) {
    let mut environment = Captured::new(1);
    let options = interp::Options::default();
    let outcome = interp::run(program, &options, &mut interp::Random::new(1), &mut environment, 10_000_000);
    let status = match &outcome.ending {
        Ending::Exited(status) => status.to_string(),
        Ending::Aborted | Ending::Violation(_) => "abort".to_string(),
        other => format!("{other:?}"),
    };
    let explained = format!("{name} in the interpreter: {:?}", outcome.ending);
    assert_eq!(status, expected.status, "{explained}");
    assert_eq!(String::from_utf8_lossy(&environment.output), expected.stdout, "{explained}");
}

fn programs(source: &str, file: &Path) -> Vec<Program> {
    let models = [("lp64", "i64", "trunc(%x to i32)"), ("ilp32", "i32", "%x")];
    let count = if source.contains("MODEL") { 2 } else { 1 };
    let make = |(model, word, narrowed): &(&str, &str, &str)| {
        let text = format!("{source}{LIBRARY}");
        let text = text.replace("MODEL", model).replace("WORD", word).replace("NARROWED", narrowed);
        let program = leno_ir::text::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        leno_ir::validate::validate(&program)
            .unwrap_or_else(|found| panic!("{}: {}", file.display(), found[0].explain(&program)));
        program
    };
    models.iter().take(count).map(make).collect()
}

fn check(expected: &Expected, output: &std::process::Output, what: &str) {
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected.stdout, "standard output of {what}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), expected.stderr, "standard error of {what}");
    // `timeout` hands a signal on as 128 and its number, or dies of it too.
    let status = match (output.status.code(), output.status.signal()) {
        (Some(134), _) | (_, Some(6)) => "abort".to_string(),
        (Some(code), _) => code.to_string(),
        (_, signal) => format!("signal {signal:?}"),
    };
    assert_eq!(status, expected.status, "status of {what}");
}
