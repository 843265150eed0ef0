//! The C compilers of this machine.

use leno_emit::{Options, emit};
use leno_ir::program::{DataModel, Program};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A way to compile: the command and its flags.
pub type Way = &'static [&'static str];

/// No warning may be left when all are asked for.
const STRICT: &[&str] = &["-Wall", "-Wextra", "-Werror"];

/// Every way to compile programs of this data model that this machine has.
pub fn ways(model: DataModel) -> Vec<Way> {
    let all: [Way; 4] = match model {
        DataModel::Lp64 => [&["gcc", "-O0"], &["gcc", "-O2"], &["clang", "-O0"], &["clang", "-O2"]],
        DataModel::Ilp32 => {
            [&["gcc", "-m32", "-O0"], &["gcc", "-m32", "-O2"], &["clang", "-m32", "-O0"], &["clang", "-m32", "-O2"]]
        }
    };
    all.into_iter().filter(|way| works(way)).collect()
}

/// Whether an empty program compiles and links this way.
fn works(way: Way) -> bool {
    static KNOWN: OnceLock<std::sync::Mutex<std::collections::BTreeMap<Way, bool>>> = OnceLock::new();
    let mut known = KNOWN.get_or_init(Default::default).lock().unwrap();
    *known.entry(way).or_insert_with(|| {
        let directory = scratch();
        let file = directory.join("empty.c");
        std::fs::write(&file, "#include <pthread.h>\nint main(void) { return 0; }\n").unwrap();
        let output = command(way).arg(&file).arg("-o").arg(directory.join("empty")).output();
        output.is_ok_and(|output| output.status.success())
    })
}

fn command(way: Way) -> Command {
    let mut command = Command::new(way[0]);
    command.args(&way[1..]);
    command
}

/// A directory of its own for each caller, in the target directory.
pub fn scratch() -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("emitted-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// Emits and compiles, or panics with what the compiler said.
pub fn compile(program: &Program, way: Way, what: &str) -> PathBuf {
    let directory = scratch();
    let (source, executable) = (directory.join("program.c"), directory.join("program"));
    std::fs::write(&source, emit(program, &Options::default())).unwrap();
    let output =
        command(way).args(STRICT).arg(&source).arg("-o").arg(&executable).args(["-lpthread", "-lm"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}, {way:?}, {}:\n{said}", source.display());
    executable
}

/// Emits and checks without linking, or panics with what the compiler said.
pub fn check(program: &Program, way: Way, what: &str) {
    let source = scratch().join("program.c");
    std::fs::write(&source, emit(program, &Options::default())).unwrap();
    let output = command(way).arg("-fsyntax-only").arg(&source).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}, {way:?}, {}:\n{said}", source.display());
}

/// Runs for a few seconds at most.
pub fn run(executable: &Path, environment: &[(String, String)]) -> Output {
    let mut command = Command::new("timeout");
    command.arg("20").arg(executable).envs(environment.iter().cloned());
    command.output().unwrap()
}
