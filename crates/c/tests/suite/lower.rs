//! What C becomes: small programs and the whole of what they lower to.
//!
//! Each `lower/NAME.c` has its representation in `lower/NAME.ir`, without the comments that say where things come from.
//! `LENO_BLESS=1 cargo test -p leno-c lower` writes the files; read the difference before you commit it.

use leno_c::driver::{Failure, Input, Options, compile};
use leno_ir::program::{Body, Program, Span};
use std::fmt::Write;
use std::path::Path;

fn compile_units(texts: &[(&str, &str)], options: &Options) -> Result<(Program, Vec<String>), Failure> {
    let inputs: Vec<Input> = texts
        .iter()
        .map(|(name, text)| Input::Preprocessed { name: name.to_string(), text: text.as_bytes().to_vec() })
        .collect();
    let compiled = compile(&inputs, options)?;
    Ok((compiled.program, compiled.warnings.into_iter().map(|warning| warning.message).collect()))
}

fn compile_one(text: &str) -> Program {
    compile_units(&[("test.c", text)], &Options::default()).unwrap_or_else(|failure| panic!("{failure}")).0
}

/// The program without places and texts.
fn shape(program: &Program) -> String {
    let mut shape = String::new();
    for line in program.to_string().lines() {
        let line = line.split(" ; ").next().unwrap_or(line);
        if !line.starts_with("text") && !line.starts_with("file") {
            writeln!(shape, "{line}").unwrap();
        }
    }
    shape.trim_end().to_string() + "\n"
}

fn check_shape(name: &str, options: &Options) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lower");
    let text = std::fs::read_to_string(folder.join(name).with_extension("c")).unwrap();
    let (program, _) = compile_units(&[(name, &text)], options).unwrap_or_else(|failure| panic!("{failure}"));
    let got = shape(&program);
    let path = folder.join(name).with_extension("ir");
    if std::env::var_os("LENO_BLESS").is_some() {
        std::fs::write(&path, &got).unwrap();
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(got == wanted, "{name}: the representation has changed (LENO_BLESS=1 writes it down)\n{got}");
}

macro_rules! shapes {
    ($($name:ident: $options:expr;)*) => {
        $(#[test]
        fn $name() {
            check_shape(stringify!($name), &$options);
        })*
    };
}

shapes! {
    order: Options::default();
    conditions: Options::default();
    places: Options::default();
    records: Options::default();
    atomics: Options::default();
    overflow: Options { check_signed_overflow: true, ..Options::default() };
    statements: Options::default();
    calls: Options::default();
}

// ---- linking

fn names(program: &Program) -> Vec<&str> {
    program.functions.iter().map(|function| function.name.as_str()).collect()
}

#[test]
fn only_what_main_reaches_is_there() {
    let program = compile_one(
        "int used = 1, unused = 2; static int *chain = &used;
         void never(void) { unused = 3; }
         static void by_address(void) {} void (*table[])(void) = {by_address};
         int main(void) { if (0) never(); table[0](); return *chain; }",
    );
    assert_eq!(names(&program), ["by_address", "main", "_start"]);
    let objects: Vec<&str> = program.objects.iter().map(|object| object.name.as_str()).collect();
    assert_eq!(objects, ["used", "chain", "table"]);
}

#[test]
fn without_main_everything_visible_is_a_root() {
    let program = compile_one("static int a(void) { return 1; } int b(void) { return a(); } static void c(void) {}");
    assert_eq!(names(&program), ["a", "b"]);
    assert_eq!(program.entry, None);
}

#[test]
fn units_share_external_names_and_keep_their_own() {
    let first = "int shared; extern int other[]; static int own(void) { return shared; } int get(void); int twice(int);
                 int main(void) { return own() + get() + other[1] + twice(shared); }
                 inline int twice(int x) { return x * 2; }";
    let second =
        "int shared = 7; int other[] = {1, 2, 3}; static int own(void) { return 2; } int get(void) { return own(); }
                  int twice(int x) { return x + x; }";
    let (program, _) = compile_units(&[("a.c", first), ("b.c", second)], &Options::default()).unwrap();
    assert_eq!(names(&program), ["own", "main", "own.2", "get", "twice", "_start"]);
    let shared = program.objects.iter().find(|object| object.name == "shared").unwrap();
    assert!(!shared.init.is_empty(), "the initialised definition wins over the tentative one");
    let other = program.objects.iter().find(|object| object.name == "other").unwrap();
    assert_eq!(other.size, 12);
}

#[test]
fn two_definitions_are_an_error_at_the_second() {
    for (a, b) in [("int f(void) { return 1; }", "\nint f(void) { return 2; }"), ("int x = 1;", "\nint x = 2;")] {
        let failure = compile_units(&[("a.c", a), ("b.c", b)], &Options::default()).unwrap_err();
        let report = failure.reports.last().unwrap();
        assert!(report.message.contains("defined twice"), "{}", report.message);
        let location = report.location.as_ref().unwrap();
        assert_eq!((location.file.as_str(), location.line), ("b.c", 2));
    }
}

#[test]
fn the_programs_own_function_wins_over_the_librarys() {
    let program = compile_one(
        "unsigned long strlen(const char *s) { return 42; }
         int main(void) { return strlen(\"abc\"); }",
    );
    assert_eq!(names(&program), ["strlen", "main", "_start"]);
    let Body::Blocks(blocks) = &program.functions.as_slice()[0].body else { panic!("no body") };
    assert_eq!(blocks.len(), 1);
}

#[test]
fn the_address_of_an_instruction_is_a_function_around_it() {
    let program = compile_one(
        "typedef union { char size[40]; long align; } pthread_mutex_t;
         int pthread_mutex_lock(pthread_mutex_t *);
         int (*lock)(pthread_mutex_t *) = pthread_mutex_lock;
         int main(void) { pthread_mutex_t m = {{0}}; return lock(&m); }",
    );
    let wrapper = program.functions.iter().find(|function| function.name == "pthread_mutex_lock").unwrap();
    let Body::Blocks(blocks) = &wrapper.body else { panic!("no body") };
    assert!(blocks.iter().any(|block| !block.instrs.is_empty()));
    assert_eq!(wrapper.params, 1);
}

#[test]
fn unknown_functions_are_reported_once_by_name() {
    let text = "int mystery(int); int main(void) { return mystery(1) + mystery(2); }";
    let (program, warnings) = compile_units(&[("a.c", text)], &Options::default()).unwrap();
    assert_eq!(warnings.iter().filter(|warning| warning.contains("`mystery`")).count(), 1);
    assert!(program.functions.iter().any(|f| f.name == "mystery" && matches!(&f.body, Body::External(e) if !e.known)));
}

#[test]
fn wrong_numbers_of_arguments_are_warned_about() {
    let text = "int f(); int main(void) { return f(1) + f(1, 2, 3); } int f(int a, int b) { return a + b; }";
    let (_, warnings) = compile_units(&[("a.c", text)], &Options::default()).unwrap();
    assert_eq!(warnings.iter().filter(|warning| warning.contains("takes 2 arguments")).count(), 2, "{warnings:?}");
}

#[test]
fn known_functions_need_no_prototype() {
    let text = "int printf(); int main(void) { printf(\"%d %s\", 1, \"a\"); return printf(\"b\"); }";
    let (program, warnings) = compile_units(&[("a.c", text)], &Options::default()).unwrap();
    assert_eq!(warnings, [""; 0]);
    let printf = program.functions.iter().find(|function| function.name == "printf").unwrap();
    assert!(matches!(&printf.body, Body::External(external) if external.known && external.variadic));
    assert_eq!(printf.params, 2);
}

// ---- places

#[test]
fn instructions_say_what_they_do_and_where() {
    let program =
        compile_one("struct s { struct s *next; int v; };\nint f(struct s *p) {\n  return p->next->v\n    + 1;\n}");
    let Body::Blocks(blocks) = &program.functions.as_slice()[0].body else { panic!("no body") };
    let shown = |span: Span| (span.line, span.column, program.texts[span.text].as_str());
    let instrs: Vec<_> = blocks.iter().flat_map(|b| b.instrs.iter().map(|i| shown(i.span))).collect();
    assert_eq!(instrs, [(3, 10, "p->next"), (3, 10, "p->next->v")]);
    let last = blocks.iter().last().unwrap().terminator.span;
    assert_eq!(shown(last), (3, 3, "return p->next->v + 1;"));
}

#[test]
fn lowering_is_deterministic() {
    let text = include_str!("../lower/records.c");
    let (a, b) = (compile_one(text), compile_one(text));
    assert!(a == b);
}
