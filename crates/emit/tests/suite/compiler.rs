//! The C compilers of this machine.

use leno_emit::{Options, emit};
use leno_ir::program::{DataModel, Program};
use leno_testing::Scratch;
use std::process::{Command, Output};
use std::sync::OnceLock;

/// A way to compile: the command and its flags.
pub type Way = &'static [&'static str];

/// No warning may be left when all are asked for.
const STRICT: &[&str] = &["-Wall", "-Wextra", "-Werror"];

/// Every way to compile programs of this data model that this machine has.
pub fn ways(model: DataModel) -> Vec<Way> {
    let all: [Way; 3] = match model {
        DataModel::Lp64 => [&["gcc", "-O0"], &["gcc", "-O2"], &["clang", "-O2"]],
        DataModel::Ilp32 => [&["gcc", "-m32", "-O0"], &["gcc", "-m32", "-O2"], &["clang", "-m32", "-O2"]],
    };
    all.into_iter().filter(|way| works(way)).collect()
}

/// The same, and one that stops the program at the first thing that C leaves undefined.
pub fn ways_and_checks(model: DataModel) -> Vec<Way> {
    const CHECKED: Way = &["gcc", "-O1", "-fsanitize=undefined,float-cast-overflow", "-fno-sanitize-recover=all"];
    let mut ways = ways(model);
    if model == DataModel::Lp64 && works(CHECKED) {
        ways.push(CHECKED);
    }
    ways
}

/// Whether an empty program compiles and links this way.
fn works(way: Way) -> bool {
    static KNOWN: OnceLock<std::sync::Mutex<std::collections::BTreeMap<Way, bool>>> = OnceLock::new();
    let mut known = KNOWN.get_or_init(Default::default).lock().unwrap();
    *known.entry(way).or_insert_with(|| {
        let directory = Scratch::new();
        let file = directory.write("empty.c", "#include <pthread.h>\nint main(void) { return 0; }\n");
        let output = command(way).arg(&file).arg("-o").arg(directory.path("empty")).output();
        output.is_ok_and(|output| output.status.success())
    })
}

fn command(way: Way) -> Command {
    let mut command = Command::new(way[0]);
    command.args(&way[1..]);
    command
}

/// Emits and compiles without warnings, or panics with what the compiler said.
pub fn compile(program: &Program, way: Way, what: &str) -> Scratch {
    compile_with(program, way, STRICT, what)
}

/// As [`compile`], for programs at which compilers may wonder.
pub fn compile_quietly(program: &Program, way: Way, what: &str) -> Scratch {
    compile_with(program, way, &["-w"], what)
}

fn compile_with(program: &Program, way: Way, flags: &[&str], what: &str) -> Scratch {
    let directory = Scratch::new();
    let (source, executable) = (directory.path("program.c"), directory.path("program"));
    std::fs::write(&source, emit(program, &Options::default())).unwrap();
    let output =
        command(way).args(flags).arg(&source).arg("-o").arg(&executable).args(["-lpthread", "-lm"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}, {way:?}, {}:\n{said}", source.display());
    directory
}

/// Emits and checks without linking, or panics with what the compiler said.
pub fn check(program: &Program, way: Way, what: &str) {
    let directory = Scratch::new();
    let source = directory.write("program.c", emit(program, &Options::default()));
    let output = command(way).arg("-fsyntax-only").arg(&source).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}, {way:?}, {}:\n{said}", source.display());
}

/// Runs what was compiled, for some seconds at most.
pub fn run(compiled: &Scratch, environment: &[(String, String)]) -> Output {
    let mut command = Command::new("timeout");
    command.arg("60").arg(compiled.path("program")).envs(environment.iter().cloned());
    command.output().unwrap()
}

/// All that a compiler sees of a text: declarations and macros.
pub fn preprocess(text: &str, way: Way) -> String {
    let directory = Scratch::new();
    let source = directory.write("text.c", text);
    let output = command(way).args(["-E", "-dD", "-P"]).arg(&source).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
