//! The library's models, compiled by the system's C compiler: they define what the table says, and they do what the
//! real functions do, on many random inputs.

use leno_c::check::check;
use leno_c::library::{MODELS, REAL_PROCESS, external, is_instruction, is_of_process, model_of};
use leno_c::parse::parse;
use leno_c::source::Source;
use leno_ir::program::DataModel;
use leno_testing::Scratch;
use std::path::{Path, PathBuf};
use std::process::Command;

fn run(command: &mut Command) -> String {
    let output = command.output().expect("the command can be run");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{text}{errors}");
    text
}

/// Writes the models into a directory, and gives their paths.
fn write_models(scratch: &Scratch) -> Vec<PathBuf> {
    MODELS.iter().map(|model| scratch.write(model.name.trim_start_matches("<leno>/"), model.text)).collect()
}

/// The words of a line of C that might be the name of a function being defined at the start of a line.
fn defined_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut heading = String::new();
    for line in text.lines() {
        if line == "{" && !heading.starts_with("static") {
            let before = heading.split('(').next().unwrap_or_default();
            names.extend(before.rsplit([' ', '*']).next().map(str::to_string));
        }
        let continues = line.starts_with(' ') && !heading.is_empty();
        heading = if continues { heading + line } else { line.to_string() };
    }
    names
}

#[test]
fn the_table_says_what_the_models_define() {
    for model in MODELS {
        let names = defined_names(model.text);
        assert!(!names.is_empty(), "{} defines nothing", model.name);
        for name in names {
            assert_eq!(model_of(&name).map(|m| m.name), Some(model.name), "{name}");
        }
    }
}

#[test]
fn models_are_good_c_in_both_data_models_and_lack_nothing() {
    for model in MODELS.iter().chain([&REAL_PROCESS]) {
        let mut source = Source::new(model.name, model.text.as_bytes().to_vec());
        let ast = parse(&mut source).unwrap_or_else(|e| panic!("{}: {e:?}", model.name));
        for data_model in [DataModel::Lp64, DataModel::Ilp32] {
            let checked = check(&ast, data_model).unwrap_or_else(|e| panic!("{}: {e:?}", model.name));
            assert!(checked.warnings.is_empty(), "{}: {:?}", model.name, checked.warnings);
            for function in checked.unit.functions.iter().filter(|f| f.definition.is_none()) {
                let name = function.name.as_str();
                let is_there =
                    is_instruction(name) || is_of_process(name) || model_of(name).is_some() || external(name).is_some();
                assert!(is_there, "{} needs {name}", model.name);
            }
        }
    }
}

#[test]
fn models_do_what_the_c_library_does() {
    let scratch = Scratch::new();
    let models = write_models(&scratch);
    let mut names: Vec<String> = MODELS.iter().flat_map(|model| defined_names(model.text)).collect();
    names.sort();
    let mut compile = Command::new("cc");
    compile.current_dir(scratch.folder()).args(["-std=gnu11", "-O1", "-w", "-fno-builtin", "-fwrapv", "-c"]);
    compile.args(names.iter().map(|name| format!("-D{name}=leno_{name}"))).args(&models);
    run(&mut compile);
    let test = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/against_libc.c");
    let objects = models.iter().map(|path| path.with_extension("o"));
    let program = scratch.path("against_libc");
    run(Command::new("cc")
        .args(["-std=gnu11", "-O1", "-w", "-fno-builtin"])
        .arg(test)
        .args(objects)
        .arg("-o")
        .arg(&program));
    let said = run(&mut Command::new(&program));
    assert!(said.ends_with(" 0 failures\n"), "{said}");
}
