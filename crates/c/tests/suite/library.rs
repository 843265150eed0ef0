//! Programs that use the library, through the whole front end and the interpreter, next to the same programs compiled
//! by the system's C compiler: under every schedule tried, they print the same and end the same.

use leno_c::check::check;
use leno_c::library::{Options, needed_models};
use leno_c::lower::{LinkUnit, LowerOptions, lower};
use leno_c::parse::parse;
use leno_c::preprocess::Preprocess;
use leno_c::source::Source;
use leno_c::typed::Unit;
use leno_ir::interp::{self, Captured, Ending, Random};
use leno_ir::program::{DataModel, Program};
use leno_ir::validate::validate;
use leno_testing::{Scratch, files};
use std::path::Path;
use std::process::Command;

fn unit(mut source: Source, model: DataModel) -> (Source, Unit) {
    let ast = parse(&mut source).unwrap_or_else(|e| panic!("{}: {}", source.name, e.message));
    let checked = check(&ast, model).unwrap_or_else(|e| panic!("{}: {}", source.name, e.message));
    (source, checked.unit)
}

fn lowered(source: Source, model: DataModel, library: Options) -> Result<Program, String> {
    let mut units = vec![unit(source, model)];
    for model_file in needed_models([&units[0].1], library) {
        units.push(unit(Source::new(model_file.name, model_file.text.as_bytes().to_vec()), model));
    }
    let linked: Vec<LinkUnit> = units
        .iter()
        .enumerate()
        .map(|(index, (source, unit))| LinkUnit { source, unit, is_model: index > 0 })
        .collect();
    let options = LowerOptions { library, ..LowerOptions::default() };
    let (program, warnings) = lower(&linked, &options).map_err(|e| e.diagnostic.message)?;
    assert!(warnings.is_empty(), "{warnings:?}");
    validate(&program).map_err(|errors| errors[0].explain(&program))?;
    Ok(program)
}

fn from_text(text: &str, library: Options) -> Result<Program, String> {
    lowered(Source::new("test.c", text.as_bytes().to_vec()), DataModel::Lp64, library)
}

fn run(program: &Program, seed: u64) -> (Ending, String) {
    let mut env = Captured::new(seed);
    let outcome = interp::run(program, &interp::Options::default(), &mut Random::new(seed), &mut env, 5_000_000);
    (outcome.ending, String::from_utf8_lossy(&env.output).into_owned())
}

/// The endings that occur under some seeds.
fn endings(text: &str, library: Options) -> Vec<Ending> {
    let program = from_text(text, library).unwrap_or_else(|e| panic!("{e}"));
    let mut endings: Vec<Ending> = Vec::new();
    for seed in 0..200 {
        let (ending, _) = run(&program, seed);
        if !endings.contains(&ending) {
            endings.push(ending);
        }
    }
    endings
}

/// What the real program prints, and its status. None if the compiler cannot make programs of this data model.
fn native(file: &Path, model: DataModel) -> Option<(i32, String)> {
    let flag = if model == DataModel::Lp64 { "-m64" } else { "-m32" };
    let scratch = Scratch::new();
    let program = scratch.path("program");
    let arguments = ["-std=gnu11", "-w", "-pthread", flag, "-o"];
    let compiled = Command::new("cc").args(arguments).arg(&program).arg(file).output().expect("cc runs");
    if !compiled.status.success() && model == DataModel::Ilp32 {
        return None;
    }
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(&program).output().expect("the program runs");
    Some((output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned()))
}

fn compare(file: &Path, data_model: DataModel) {
    let Some((status, output)) = native(file, data_model) else { return };
    let preprocess = Preprocess { data_model, ..Preprocess::default() };
    let source = preprocess.file(file).unwrap_or_else(|e| panic!("{e}"));
    let program = lowered(source, data_model, Options::default()).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    for seed in 0..50 {
        let (ending, said) = run(&program, seed);
        let place = format!("{}, {data_model:?}, seed {seed}", file.display());
        assert_eq!(said, output, "{place}: ended in {ending:?}");
        assert_eq!(ending, Ending::Exited(status), "{place}");
    }
}

#[test]
fn programs_do_what_they_really_do() {
    let files = files(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/library"));
    assert!(files.len() >= 8);
    for file in files {
        compare(&file, DataModel::Lp64);
        compare(&file, DataModel::Ilp32);
    }
}

/// The text of the violated assertion, if that is how every execution ends.
fn violated(text: &str) -> String {
    match endings(text, Options::default()).as_slice() {
        [Ending::Violation(violation)] => violation.message.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn words_of_verifiers_mean_what_they_mean() {
    let calls_error = "void reach_error() {} int main() { reach_error(); return 0; }";
    assert!(violated(calls_error).contains("reach_error"));
    assert!(violated("int main() { __CPROVER_assert(1 == 2, \"one is two\"); }").contains("one is two"));
    assert!(violated("int main() { __ESBMC_assert(0, \"never\"); }").contains("never"));
    assert!(violated("int main() { assert(2 < 1); }").contains("2 < 1"));
    assert!(
        violated(
            "void __assert_fail(const char *, const char *, unsigned, const char *);
         int main() { __assert_fail(\"x > 0\", \"test.c\", 1, \"main\"); }"
        )
        .contains("x > 0")
    );

    let assumes = "void __VERIFIER_assume(int c) { for (;;); } unsigned char __VERIFIER_nondet_uchar(void) { return 300; }
        int __VERIFIER_nondet_bool(void) { return 17; }
        int main() { int x = __VERIFIER_nondet_uchar(); __VERIFIER_assume(x > 250); return __VERIFIER_nondet_bool() ? x : 0; }";
    let found = endings(assumes, Options::default());
    assert!(found.contains(&Ending::Stopped) && found.contains(&Ending::Exited(0)), "{found:?}");
    let is_expected = |e: &Ending| matches!(e, Ending::Stopped | Ending::Exited(0) | Ending::Exited(251..=255));
    assert!(found.iter().all(is_expected) && found.len() > 2, "{found:?}");
}

#[test]
fn atomic_sections_are_not_interrupted() {
    let program = |begin: &str, end: &str, prefix: &str| {
        format!(
            "typedef unsigned long pthread_t; int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
             int pthread_join(pthread_t, void **); int x;
             void {prefix}add(void) {{ {begin}; int y = x; y = y + 1; x = y; {end}; }}
             void *f(void *p) {{ {prefix}add(); return 0; }}
             int main() {{ pthread_t a, b; pthread_create(&a, 0, f, 0); pthread_create(&b, 0, f, 0);
                pthread_join(a, 0); pthread_join(b, 0); return x; }}"
        )
    };
    let endings = |text: &str| endings(text, Options::default());
    assert_eq!(endings(&program("", "", "")).len(), 2);
    for (begin, end, prefix) in [
        ("__VERIFIER_atomic_begin()", "__VERIFIER_atomic_end()", ""),
        ("__CPROVER_atomic_begin()", "__CPROVER_atomic_end()", ""),
        ("__ESBMC_atomic_begin()", "__ESBMC_atomic_end()", ""),
        ("", "", "__VERIFIER_atomic_"),
    ] {
        assert_eq!(endings(&program(begin, end, prefix)), [Ending::Exited(2)], "{begin}{prefix}");
    }
}

#[test]
fn options_widen_what_may_happen() {
    let allocates = "void *malloc(unsigned long); void *calloc(unsigned long, unsigned long);
        int main() { return (malloc(4) != 0) + 2 * (calloc(2, 2) != 0); }";
    assert_eq!(endings(allocates, Options::default()), [Ending::Exited(3)]);
    let may_fail = Options { allocation_may_fail: true, ..Options::default() };
    assert_eq!(endings(allocates, may_fail).len(), 4);

    let waits = "int m[10], c[12]; int pthread_mutex_lock(void *); int pthread_cond_wait(void *, void *);
        int main() { pthread_mutex_lock(m); return pthread_cond_wait(c, m); }";
    assert!(matches!(endings(waits, Options::default()).as_slice(), [Ending::Deadlock(_)]));
    let spurious = Options { spurious_wakeups: true, ..Options::default() };
    assert_eq!(endings(waits, spurious), [Ending::Exited(0)]);
}

#[test]
fn what_cannot_be_modelled_is_refused() {
    for name in ["setjmp", "_setjmp", "longjmp", "fork", "swapcontext"] {
        let error = from_text(&format!("int {name}(void *); int main() {{ {name}(0); }}"), Options::default());
        assert!(error.as_ref().is_err_and(|message| message.contains("not supported")), "{name}: {error:?}");
        let own = format!("int {name}(void *p) {{ return 4; }} int main() {{ return {name}(0); }}");
        assert_eq!(endings(&own, Options::default()), [Ending::Exited(4)]);
    }
}

#[test]
fn errors_in_models_are_the_callers_errors() {
    for (text, kind) in [
        ("void *memset(void *, int, unsigned long); char x[4]; int main() { memset(x, 0, 5); }", "OutOfBounds"),
        ("unsigned long strlen(const char *); int main() { return strlen(0); }", "NullDereference"),
        (
            "char *strdup(const char *); void free(void *); int main() { char *p = strdup(\"a\"); free(p); free(p); }",
            "DoubleFree",
        ),
        ("int pthread_mutex_unlock(void *); int m[10]; int main() { pthread_mutex_unlock(m); }", "Unlock"),
    ] {
        match endings(text, Options::default()).as_slice() {
            [Ending::Violation(violation)] => assert!(format!("{:?}", violation.kind).contains(kind), "{violation:?}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}
