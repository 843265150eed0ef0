//! Input that nobody would write: whatever comes in, out comes a valid program or a diagnostic, and soon.
//!
//! Some thousand mutants of our own test programs with every run, from a fixed seed; `LENO_FUZZ=20000` makes more, and
//! `LENO_FUZZ_SEED=7` others. A mutant that is still a program is printed, parsed back, and run for a few steps.

use leno::{Compiled, Failure, Input, Options, RunOptions};
use leno_lab::mutate::mutate;
use leno_testing::{Random, count as number, repository, workers};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

const LEVELS: usize = 100_000;

fn compile(text: Vec<u8>) -> Result<Compiled, Failure> {
    leno::compile(&[Input::Preprocessed { name: "hostile.c".to_string(), text }], &Options::default())
}

/// Everything that the front end promises about any text.
fn check(text: Vec<u8>) -> Result<(), String> {
    let outcome = catch_unwind(AssertUnwindSafe(|| match compile(text) {
        Ok(compiled) => {
            let program = compiled.program;
            let again = leno_ir::text::parse(&program.to_string()).map_err(|error| error.to_string())?;
            if again != program {
                return Err("the dump parses back to another program".to_string());
            }
            leno::run(&program, &RunOptions { max_steps: 5000, ..RunOptions::default() });
            leno::emit_c(&program);
            Ok(())
        }
        Err(failure) => {
            let shown = failure.to_string();
            let has_place = failure.reports.last().is_some_and(|report| report.location.is_some());
            if has_place && !shown.contains("bug in Leno") { Ok(()) } else { Err(shown) }
        }
    }));
    match outcome {
        Ok(Ok(())) => Ok(()),
        Ok(Err(message)) => Err(message),
        Err(panic) => Err(format!("panicked: {:?}", panic.downcast_ref::<String>())),
    }
}

/// Our own programs without their directives, so that they need no preprocessor.
fn seeds() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for directory in ["tests/programs/language", "tests/programs/threads", "tests/programs/refused", "examples"] {
        let entries = fs::read_dir(repository(directory)).expect("the directory is there");
        files.extend(entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(|path| path.is_file()));
    }
    files.sort();
    let without_directives = |text: String| {
        let lines = text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n"));
        lines.collect::<String>().into_bytes()
    };
    files.iter().filter_map(|file| fs::read_to_string(file).ok()).map(without_directives).collect()
}

#[test]
fn mutants_are_programs_or_diagnostics() {
    let seeds = seeds();
    let (count, first) = (number("LENO_FUZZ", 3000), number("LENO_FUZZ_SEED", 1));
    let numbers: Vec<u64> = (0..count).collect();
    let mutant = |number: u64| {
        let mut random = Random::new(first.wrapping_mul(1_000_003).wrapping_add(number));
        let seed = &seeds[random.below(seeds.len())];
        mutate(seed, &mut random)
    };
    let failures: Vec<String> = workers::each(&numbers, |number| (*number, check(mutant(*number))))
        .into_iter()
        .filter_map(|(number, result)| result.err().map(|message| (number, message)))
        .map(|(number, message)| {
            let kept = std::env::temp_dir().join(format!("leno-mutant-{first}-{number}.c"));
            // Writing it down helps whoever looks into it; the failure stands without it.
            let _ = fs::write(&kept, mutant(number));
            format!("mutant {number} ({}): {message}", kept.display())
        })
        .collect();
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
}

/// One text for each kind of nesting in C: (what, text).
fn nests(levels: usize) -> Vec<(&'static str, String)> {
    let around = |before: &str, open: &str, middle: &str, close: &str, after: &str| {
        format!("{before}{}{middle}{}{after}", open.repeat(levels), close.repeat(levels))
    };
    let body =
        |open: &str, middle: &str, close: &str| around("int main(void) { int x = 1; ", open, middle, close, " }");
    vec![
        ("parentheses", body("(", "x", ")") + ";"),
        ("parentheses that stay open", "int x = ".to_string() + &"(".repeat(levels)),
        ("brackets", around("int a[1]; int main(void) { return ", "a[", "0", "]", "; }")),
        ("blocks", body("{", ";", "}")),
        ("blocks that stay open", "int main(void) ".to_string() + &"{".repeat(levels)),
        ("unary minus", body("-", "x;", "")),
        ("minus and blanks", body("- ", "x;", "")),
        ("not", body("!", "x;", "")),
        ("dereferences", body("*", "x;", "")),
        ("addresses", body("& ", "x;", "")),
        ("casts", body("(int)", "x;", "")),
        ("sizeof", body("sizeof ", "x;", "")),
        ("calls", around("int f(int); int main(void) { return ", "f(", "0", ")", "; }")),
        ("statement expressions", body("({", "x;", "});")),
        ("conditionals", body("x ? x : ", "x;", "")),
        ("conditionals in the middle", body("x ? ", "x", " : x") + ";"),
        ("assignments", body("x = ", "x;", "")),
        ("sums", body("x + ", "x;", "")),
        ("commas", body("x, ", "x;", "")),
        ("ors", body("x || ", "x;", "")),
        ("if", body("if (x) ", ";", "")),
        ("if else", body("if (x) ; else ", ";", "")),
        ("while", body("while (x) ", ";", "")),
        ("for", body("for (;x;) ", ";", "")),
        ("do", body("do ", ";", " while (0);")),
        ("switch", body("switch (x) ", ";", "")),
        ("cases", body("switch (x) { case 1: ", "x++;", " }")),
        ("labels and their addresses", {
            let uses: String = (0..levels).map(|n| format!("l{n}: p = &&l{n};")).collect();
            format!("int main(void) {{ void *p; {uses} goto *p; }}")
        }),
        ("labels", format!("int main(void) {{ {} ; }}", (0..levels).map(|n| format!("l{n}:")).collect::<String>())),
        ("pointers", around("int ", "*", "p", "", ";")),
        ("const pointers", around("int ", "* const ", "p", "", ";")),
        ("arrays", around("int a", "[1]", "", "", ";")),
        ("declarators", around("int ", "(", "p", ")", ";")),
        ("functions of functions", around("void ", "(*", "f", ")(void)", ";")),
        ("parameters", around("void f", "(void g", "(void)", ")", ";")),
        ("structures", around("", "struct { ", "int x;", " } x;", "")),
        ("unions", around("", "union { ", "int x;", " };", "")),
        ("initialisers", around("int x = ", "{", "1", "}", ";")),
        ("initialisers of arrays", around("int a[2][2] = ", "{", "1", "}", ";")),
        ("designators", around("struct s { int a[2]; } x = { ", ".a[0]", " = 1", "", " };")),
        ("compound literals", body("(int){", "1", "}") + ";"),
        ("typeof", around("", "typeof(", "int", ")", " x;")),
        ("generic", body("_Generic(x, int: ", "x", ")") + ";"),
        ("members", body("x.y", ";", "")),
        ("attributes", around("", "__attribute__((aligned(", "8", ")))", " int x;")),
        ("alignas", around("", "_Alignas(", "8", ")", " int x;")),
        ("qualifiers", around("", "const ", "int x;", "", "")),
        ("declarations", body("int y;", "", "")),
        ("enumerators", format!("enum e {{ {} }};", (0..levels).map(|n| format!("e{n},")).collect::<String>())),
        ("strings", format!("char *s = {};", "\"a\" ".repeat(levels))),
        ("increments", body("x", "++", "++") + ";"),
        (
            "case labels",
            format!(
                "int main(void) {{ switch (0) {{ {} }} }}",
                (0..levels).map(|n| format!("case {n}:;")).collect::<String>()
            ),
        ),
        ("closing", ")}]>".repeat(levels)),
        ("hashes", "#".repeat(levels)),
        ("line markers", "# 1 \"a\" 1\n".repeat(levels)),
        ("semicolons", ";".repeat(levels)),
        ("alternating brackets", "([{".repeat(levels)),
    ]
}

#[test]
fn nesting_is_no_way_to_break_in() {
    for levels in [100, LEVELS] {
        for (what, text) in nests(levels) {
            if let Err(message) = check(text.into_bytes()) {
                panic!("{levels} levels of {what}: {}", message.chars().take(2000).collect::<String>());
            }
        }
    }
}

#[test]
fn long_lines_and_large_tokens_are_read() {
    let size = 10 << 20;
    let texts = [
        ("a name", format!("int {} = 1;", "x".repeat(size))),
        ("a number", format!("int x = {};", "9".repeat(size))),
        ("a hexadecimal float", format!("double x = 0x{}p-1;", "f".repeat(size))),
        ("a decimal float", format!("double x = 1.{}e-5;", "3".repeat(size))),
        ("a string", format!("char s[] = \"{}\";", "\\x41".repeat(size / 4))),
        ("a character", format!("int c = '{}';", "a".repeat(size))),
        ("a comment", format!("/*{}*/ int x;", "*".repeat(size))),
        ("blanks", format!("int{}x;", " ".repeat(size))),
        ("one line of declarations", "int f(int); ".repeat(size / 12)),
        ("an error at its end", format!("{} @", "int f(int); ".repeat(size / 12))),
        ("zeros", "\0".repeat(size)),
        ("quotes", "\"".repeat(size)),
        ("backslashes", "\\".repeat(size)),
        ("high bytes", "\u{ff}".repeat(size / 2)),
    ];
    for (what, text) in texts {
        if let Err(message) = check(text.into_bytes()) {
            panic!("10 MB of {what}: {}", message.chars().take(2000).collect::<String>());
        }
    }
}
