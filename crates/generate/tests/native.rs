//! Generated programs are what they promise to be: C that gcc takes, and programs that end.
//!
//! A compiled program may hang only if something can go wrong in it: a deadlock, as a rule, or a wild write. That is for the
//! exploration to say. `LENO_NATIVE=300` tries more programs than the few of every run.

use leno_c::driver::{Input, Options, compile};
use leno_explore::{Limits, Properties, explore};
use leno_generate::{Feature, NATIVE, Program, Shape, generate};
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
fn ends(binary: &Path, seed: u64, limit: Duration) -> bool {
    let mut command = Command::new(binary);
    command.env("SEED", seed.to_string()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    while start.elapsed() < limit {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    false
}

/// Whether the exploration is sure that nothing can go wrong.
fn is_safe(program: &Program) -> bool {
    let input = Input::Preprocessed { name: "generated.c".to_string(), text: program.to_preprocessed().into_bytes() };
    let compiled = compile(&[input], &Options::default()).unwrap();
    let limits = Limits { interrupted: &|stats| stats.executions > 10_000, depth: 2_000 };
    let explored = explore(&compiled.program, Properties::DEFAULT, &limits);
    explored.finding.is_none() && explored.incomplete.is_none()
}

#[test]
fn compiled_programs_end_unless_something_can_go_wrong() {
    let scratch = Scratch::new("run");
    fs::write(scratch.0.join("native.c"), NATIVE).unwrap();
    let object = scratch.0.join("native.o");
    let mut make = Command::new("gcc");
    make.args(["-std=gnu11", "-c"]).arg(scratch.0.join("native.c")).arg("-o").arg(&object);
    assert!(make.status().unwrap().success());
    // In a section only Leno knows how to wait.
    let shape = Shape::default().without(Feature::WaitingSections);
    let (programs, mut hanging) = (count(25), 0);
    for seed in 0..programs {
        let (source, binary) = (scratch.0.join("program.c"), scratch.0.join("program"));
        let program = generate(seed, &shape);
        fs::write(&source, program.to_c()).unwrap();
        let mut compile = Command::new("gcc");
        compile.args(["-std=gnu11", "-w", "-pthread"]).arg(&source).arg(&object).arg("-o").arg(&binary);
        assert!(compile.status().unwrap().success(), "seed {seed}");
        for run in 0..3 {
            if !ends(&binary, run, Duration::from_millis(500)) {
                hanging += 1;
                // (The machine may be busy.)
                let is_excused = !is_safe(&program) || ends(&binary, run, Duration::from_secs(20));
                assert!(is_excused, "seed {seed} hangs:\n{}", program.to_c());
                break;
            }
        }
    }
    println!("{hanging} of {programs} programs hang now and then");
    assert!(hanging * 3 <= programs, "too many programs hang: {hanging} of {programs}");
}
