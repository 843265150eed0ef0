//! Running the user's preprocessor, and what is said when that does not work.

use leno_c::preprocess::{Preprocess, PreprocessError};
use leno_ir::program::DataModel;
use leno_testing::Scratch;
use std::path::Path;

fn with_flags(flags: &[&str]) -> Preprocess {
    Preprocess { flags: flags.iter().map(|flag| flag.to_string()).collect(), ..Preprocess::default() }
}

#[test]
fn macros_are_expanded_with_the_users_flags() {
    let scratch = Scratch::new();
    let file =
        scratch.write("flags.c", b"#ifdef EXTRA\nint extra = EXTRA;\n#endif\nlong version = __STDC_VERSION__;\n");
    let text = |flags: &[&str]| {
        let source = with_flags(flags).file(&file).expect("it preprocesses");
        String::from_utf8_lossy(&source.text).into_owned()
    };
    assert!(text(&["-DEXTRA=42"]).contains("int extra = 42;"));
    assert!(!text(&["-DEXTRA", "-UEXTRA"]).contains("extra"));
    assert!(text(&[]).contains("201710L"), "Leno reads C11 and GNU's extensions, whatever the compiler's default");
    assert!(text(&["-std=c99"]).contains("199901L"));
}

#[test]
fn preprocessed_files_are_taken_as_they_are() {
    let scratch = Scratch::new();
    let file = scratch.write("ready.i", b"int x; // \xff no compiler needed\n");
    let options = Preprocess { cc: Some("/no/such/compiler".to_string()), ..Preprocess::default() };
    let source = options.file(&file).expect("it is read");
    assert_eq!(source.text, b"int x; // \xff no compiler needed\n");
}

#[test]
fn failures_say_what_to_do() {
    let scratch = Scratch::new();
    let file = scratch.write("broken.c", b"#include \"no such header.h\"\n");
    let message = with_flags(&[]).file(&file).expect_err("no such header").to_string();
    assert!(message.contains("refuses") && message.contains("no such header.h"), "{message}");

    let options = Preprocess { cc: Some("/no/such/compiler -v".to_string()), ..Preprocess::default() };
    let error = options.file(&file).expect_err("no such compiler");
    assert!(matches!(error, PreprocessError::NoCompiler { .. }) && error.to_string().contains("--cc"), "{error}");

    let error = with_flags(&[]).file(Path::new("no such file.c")).expect_err("no such file");
    assert!(error.to_string().starts_with("cannot read no such file.c: "), "{error}");
    let error = with_flags(&[]).file(scratch.folder()).expect_err("a directory");
    assert!(matches!(error, PreprocessError::Unreadable { .. }));
}

#[test]
fn the_data_model_reaches_the_compiler() {
    let scratch = Scratch::new();
    let file = scratch.write("model.c", b"int bytes = __SIZEOF_POINTER__;\n");
    let options = Preprocess { data_model: DataModel::Ilp32, ..Preprocess::default() };
    let source = options.file(&file).expect("no header is needed");
    assert!(String::from_utf8_lossy(&source.text).contains("int bytes = 4;"));
}
