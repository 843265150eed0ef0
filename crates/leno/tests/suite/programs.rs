//! Every program below `tests/programs` does what its `//~` comments say.
//!
//! Each is read, printed and parsed back, and run by the interpreter; unless it is about an error, it is also
//! compiled from the C that Leno writes, and as it is, and all three have to print the same. `LENO_BLESS=1` writes what
//! gcc's program prints (not what Leno prints) into the expectations. `LENO_ONLY=name` selects programs.

use leno::{Compiled, Ending, Input, Options, Report, Run, RunOptions};
use leno_c::diagnostic::Severity;
use leno_ir::program::{DataModel, Program};
use leno_testing::compiler::{cc, execute};
use leno_testing::expectation::{Expectation, Note, programs};
use leno_testing::process::PATIENCE;
use leno_testing::{Scratch, process, repository, workers};

/// Far more than any of them needs.
const MAX_STEPS: u64 = 50_000_000;

#[test]
fn programs_do_what_they_say() {
    let directory = repository("tests/programs").canonicalize().expect("it exists");
    let only = std::env::var("LENO_ONLY").unwrap_or_default();
    let mut programs = programs(&directory).expect("expectations can be read");
    programs.retain(|program| program.file.to_string_lossy().contains(&only));
    assert!(!only.is_empty() || programs.len() > 100, "{} programs", programs.len());
    let results = workers::each(&programs, |program| {
        std::panic::catch_unwind(|| check(program)).unwrap_or_else(|_| Err("panicked".to_string()))
    });
    let failures: Vec<String> = programs
        .iter()
        .zip(results)
        .filter_map(|(program, result)| {
            let name = program.file.strip_prefix(&directory).unwrap_or(&program.file);
            result.err().map(|message| format!("{}: {message}", name.display()))
        })
        .collect();
    assert!(failures.is_empty(), "{} of {} fail:\n{}", failures.len(), programs.len(), failures.join("\n"));
}

fn check(program: &Expectation) -> Result<(), String> {
    let inputs: Vec<Input> = program.files().into_iter().map(Input::File).collect();
    match leno::compile(&inputs, &options(program)?) {
        Ok(compiled) if program.errors.is_empty() => {
            check_reports("warning", &compiled.warnings, &program.warnings)?;
            check_program(program, &compiled)
        }
        Ok(_) => Err("is not refused".to_string()),
        Err(failure) => {
            let errors: Vec<Report> =
                failure.reports.iter().filter(|report| report.severity == Severity::Error).cloned().collect();
            check_reports("error", &errors, &program.errors)
        }
    }
}

/// The options that a program's `FLAGS` ask for.
pub fn options(program: &Expectation) -> Result<Options, String> {
    let mut options = Options::default();
    let mut flags = program.flags.iter();
    while let Some(flag) = flags.next() {
        match flag.as_str() {
            "--data-model" if flags.next().is_some_and(|model| model == "ilp32") => {
                options.preprocess.data_model = DataModel::Ilp32;
            }
            "--malloc-may-fail" => options.library.allocation_may_fail = true,
            "--spurious-wakeups" => options.library.spurious_wakeups = true,
            "--check-overflow" => options.check_signed_overflow = true,
            flag if flag.starts_with("-D") || flag.starts_with("-std=") => {
                options.preprocess.flags.push(flag.to_string());
            }
            flag => return Err(format!("the flag `{flag}` is not known here")),
        }
    }
    Ok(options)
}

/// Each report was announced, and each announcement came true.
fn check_reports(what: &str, reports: &[Report], notes: &[Note]) -> Result<(), String> {
    let fits = |report: &Report, note: &Note| {
        let line = report.location.as_ref().map_or(0, |location| location.line);
        (note.line == 0 || note.line == line) && report.message.contains(&note.text)
    };
    if let Some(report) = reports.iter().find(|report| !notes.iter().any(|note| fits(report, note))) {
        return Err(format!("unexpected {what}:\n{}", report.rendered));
    }
    match notes.iter().find(|note| !reports.iter().any(|report| fits(report, note))) {
        Some(note) => Err(format!("no {what} at line {} that says `{}`", note.line, note.text)),
        None => Ok(()),
    }
}

fn check_program(program: &Expectation, compiled: &Compiled) -> Result<(), String> {
    let text = compiled.program.to_string();
    match leno_ir::text::parse(&text) {
        Ok(again) if again == compiled.program => {}
        Ok(_) => return Err("the dump parses back to another program".to_string()),
        Err(error) => return Err(format!("the dump does not parse back: {error}")),
    }
    if program.is_unsafe() {
        // What it does is a matter of luck.
        Ok(())
    } else if program.violations.is_empty() {
        let expected = expected_output(program)?;
        check_runs(program, compiled, &expected)?;
        check_emitted(program, compiled, &expected)
    } else {
        check_violations(program, compiled)
    }
}

/// What the program has to print: what it says itself, which is what gcc's program prints.
fn expected_output(program: &Expectation) -> Result<Vec<u8>, String> {
    let stated = program.stdout.clone().unwrap_or_default().into_bytes();
    if program.without_gcc {
        return Ok(stated);
    }
    let scratch = Scratch::new();
    let binary = scratch.path("original");
    cc(&program.files(), &compiler_flags(program), &binary)?;
    let original = execute(&binary, &program.args, PATIENCE)?;
    if original.ending != process::Ending::Status(program.exit) {
        return Err(format!("gcc's program ends with {:?}", original.ending));
    }
    if std::env::var_os("LENO_BLESS").is_some() {
        program.bless(&original.stdout).map_err(|error| error.to_string())?;
    } else if !same_text(&original.stdout, &stated) {
        return Err(difference("gcc's program (LENO_BLESS=1 writes it down)", &stated, &original.stdout));
    }
    Ok(original.stdout)
}

/// Equal but for blanks at the ends of lines, which nobody wants in comments.
fn same_text(left: &[u8], right: &[u8]) -> bool {
    let lines =
        |text: &[u8]| String::from_utf8_lossy(text).lines().map(|line| line.trim_end().to_string()).collect::<Vec<_>>();
    lines(left) == lines(right)
}

fn compiler_flags(program: &Expectation) -> Vec<String> {
    let is_ilp32 = program.flags.iter().any(|flag| flag == "ilp32");
    let shared = program.flags.iter().filter(|flag| flag.starts_with("-D") || flag.starts_with("-std="));
    let model = if is_ilp32 { "-m32" } else { "-m64" };
    shared.cloned().chain([model.to_string(), "-latomic".to_string()]).collect()
}

fn run(program: &Expectation, compiled: &Compiled, seed: u64) -> Run {
    let words = std::iter::once("program").chain(program.args.iter().map(String::as_str));
    let command = words.map(|word| word.as_bytes().to_vec()).collect();
    let started = Program { command, ..compiled.program.clone() };
    leno::run(&started, &RunOptions { seed, max_steps: MAX_STEPS })
}

fn check_runs(program: &Expectation, compiled: &Compiled, expected: &[u8]) -> Result<(), String> {
    for seed in 0..program.seeds {
        let run = run(program, compiled, seed);
        let status = match run.ending {
            Ending::Exited(status) => status & 0xff,
            Ending::Aborted => 134,
            // A false assumption: such a run does not count.
            Ending::Stopped => continue,
            _ => return Err(format!("seed {seed}: {}", run.report().unwrap_or_default())),
        };
        if status != program.exit {
            return Err(format!("seed {seed}: the exit status is {status}"));
        }
        if run.output != expected {
            return Err(difference(&format!("the interpreter with seed {seed}"), expected, &run.output));
        }
    }
    Ok(())
}

fn check_violations(program: &Expectation, compiled: &Compiled) -> Result<(), String> {
    let mut seen = vec![false; program.violations.len()];
    for seed in 0..program.seeds {
        let run = run(program, compiled, seed);
        if !matches!(run.ending, Ending::Violation(_) | Ending::Deadlock(_)) {
            continue;
        }
        let report = run.report().unwrap_or_default();
        let lines: Vec<u32> = match (&run.ending, run.violation_place()) {
            (_, Some(place)) => vec![place.line],
            // Everybody who waits is part of a deadlock.
            _ => {
                run.threads.iter().filter_map(|t| t.frames.iter().find_map(|f| f.place.as_ref())).map(|p| p.1).collect()
            }
        };
        let fits = |note: &Note| (note.line == 0 || lines.contains(&note.line)) && report.contains(&note.text);
        match program.violations.iter().position(fits) {
            Some(at) => seen[at] = true,
            None => return Err(format!("seed {seed}: unexpected violation\n{report}")),
        }
    }
    match seen.iter().position(|seen| !seen) {
        Some(at) => {
            let Note { line, text } = &program.violations[at];
            Err(format!("no violation at line {line} that says `{text}` in {} runs", program.seeds))
        }
        None => Ok(()),
    }
}

fn check_emitted(program: &Expectation, compiled: &Compiled, expected: &[u8]) -> Result<(), String> {
    if program.without_gcc {
        return Ok(());
    }
    let scratch = Scratch::new();
    let (source, binary) = (scratch.write("emitted.c", leno::emit_c(&compiled.program)), scratch.path("emitted"));
    cc(&[source], &compiler_flags(program), &binary).map_err(|error| format!("the emitted C is refused: {error}"))?;
    let emitted = execute(&binary, &program.args, PATIENCE)?;
    if emitted.ending != process::Ending::Status(program.exit) {
        return Err(format!("the emitted C ends with {:?}: {}", emitted.ending, emitted.errors()));
    }
    if emitted.stdout != expected {
        return Err(difference("the emitted C", expected, &emitted.stdout));
    }
    Ok(())
}

fn difference(who: &str, expected: &[u8], got: &[u8]) -> String {
    let (expected, got) = (String::from_utf8_lossy(expected), String::from_utf8_lossy(got));
    format!("{who} prints\n--- expected\n{expected}--- but\n{got}---")
}
