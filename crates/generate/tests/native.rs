//! Generated programs are what they promise to be: C that gcc takes, and programs that end.
//!
//! A compiled program may hang only if it can deadlock: so those that hang are few. (The search engines look at each of them
//! more closely.) `LENO_NATIVE=300` tries more programs than the few of every run.

use leno_generate::{Feature, NATIVE, Shape, generate};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A directory that goes away by itself.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("leno-generate-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn count(default: u64) -> u64 {
    std::env::var("LENO_NATIVE").ok().and_then(|count| count.parse().ok()).unwrap_or(default)
}

#[test]
fn gcc_takes_every_program_in_both_forms() {
    let scratch = Scratch::new("syntax");
    let shapes = [Shape::default(), Shape::small().with(Feature::Awaiting)];
    let mut files = Vec::new();
    for seed in 0..count(150) {
        let program = generate(seed, &shapes[seed as usize % 2]);
        let (c, preprocessed) = (scratch.0.join(format!("{seed}.c")), scratch.0.join(format!("{seed}.preprocessed.c")));
        fs::write(&c, program.to_c()).unwrap();
        fs::write(&preprocessed, program.to_preprocessed()).unwrap();
        files.extend([c, preprocessed]);
    }
    for batch in files.chunks(100) {
        let checked =
            Command::new("gcc").args(["-std=gnu11", "-Wall", "-fsyntax-only"]).args(batch).output().expect("gcc");
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    }
}

/// Whether a run of the program ends in time.
fn ends(binary: &Path, seed: u64) -> bool {
    let mut command = Command::new(binary);
    command.env("SEED", seed.to_string()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(500) {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    false
}

#[test]
fn compiled_programs_end() {
    let scratch = Scratch::new("run");
    fs::write(scratch.0.join("native.c"), NATIVE).unwrap();
    let object = scratch.0.join("native.o");
    let mut make = Command::new("gcc");
    make.args(["-std=gnu11", "-c"]).arg(scratch.0.join("native.c")).arg("-o").arg(&object);
    assert!(make.status().unwrap().success());
    // What waits for ever by design, or in a section as only Leno understands it, is left out.
    let shape = Shape::default().without(Feature::WaitingSections);
    let shape = [Feature::Barriers, Feature::Semaphores, Feature::Conditions, Feature::OddLocking]
        .into_iter()
        .fold(shape, Shape::without);
    let programs = count(25);
    let mut hanging = Vec::new();
    for seed in 0..programs {
        let (source, binary) = (scratch.0.join("program.c"), scratch.0.join("program"));
        fs::write(&source, generate(seed, &shape).to_c()).unwrap();
        let mut compile = Command::new("gcc");
        compile.args(["-std=gnu11", "-w", "-pthread"]).arg(&source).arg(&object).arg("-o").arg(&binary);
        assert!(compile.status().unwrap().success(), "seed {seed}");
        if !(0..3).all(|run| ends(&binary, run)) {
            hanging.push(seed);
        }
    }
    // Two mutexes in opposite order, or one taken twice: possible, but rare.
    assert!(hanging.len() as u64 <= 1 + programs / 10, "these hang: {hanging:?}");
}
