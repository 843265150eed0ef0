//! Generated programs are what they promise to be: C that gcc takes, and programs that end.
//!
//! A compiled program may hang only if something can go wrong in it: a deadlock, as a rule, or a wild write. That is
//! for the exploration to say. `LENO_NATIVE=300` tries more programs than the few of every run.

use leno::Properties;
use leno_generate::{Feature, NATIVE, Program, Shape, generate};
use leno_testing::engine::{Answer, Engine, ask};
use leno_testing::process::{self, Ending};
use leno_testing::program::compile;
use leno_testing::{Scratch, count};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

#[test]
fn gcc_takes_every_program_in_both_forms() {
    let scratch = Scratch::new();
    let shapes = [Shape::default(), Shape::small().with(Feature::Awaiting), Shape::pitfalls()];
    let mut files = Vec::new();
    for seed in 0..count("LENO_NATIVE", 150) {
        let program = generate(seed, &shapes[seed as usize % shapes.len()]);
        files.push(scratch.write(format!("{seed}.c"), program.to_c()));
        files.push(scratch.write(format!("{seed}.preprocessed.c"), program.to_preprocessed()));
    }
    for batch in files.chunks(100) {
        let checked =
            Command::new("gcc").args(["-std=gnu11", "-Wall", "-fsyntax-only"]).args(batch).output().expect("gcc");
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    }
}

/// Whether a run of the program ends. (One that hangs can be told from others only by waiting.)
fn ends(binary: &Path, seed: u64, limit: Duration) -> bool {
    let finished = process::run(Command::new(binary).env("SEED", seed.to_string()), b"", limit).expect("it runs");
    finished.ending != Ending::TimedOut
}

/// Whether the exploration is sure that nothing can go wrong.
fn is_safe(program: &Program) -> bool {
    ask(&compile(&program.to_preprocessed()), Engine::Explore, Properties::DEFAULT) == Answer::Safe
}

#[test]
fn compiled_programs_end_unless_something_can_go_wrong() {
    let scratch = Scratch::new();
    let object = scratch.path("native.o");
    let mut make = Command::new("gcc");
    make.args(["-std=gnu11", "-c"]).arg(scratch.write("native.c", NATIVE)).arg("-o").arg(&object);
    assert!(make.status().unwrap().success());
    // In a section only Leno knows how to wait.
    let shape = Shape::default().without(Feature::WaitingSections);
    let (programs, mut hanging) = (count("LENO_NATIVE", 25), 0);
    for seed in 0..programs {
        let program = generate(seed, &shape);
        let (source, binary) = (scratch.write("program.c", program.to_c()), scratch.path("program"));
        let mut compile = Command::new("gcc");
        compile.args(["-std=gnu11", "-w", "-pthread"]).arg(&source).arg(&object).arg("-o").arg(&binary);
        assert!(compile.status().unwrap().success(), "seed {seed}");
        for run in 0..3 {
            if !ends(&binary, run, Duration::from_millis(500)) {
                hanging += 1;
                // (On a busy machine it may only be slow.)
                let is_excused = !is_safe(&program) || ends(&binary, run, process::PATIENCE);
                assert!(is_excused, "seed {seed} hangs:\n{}", program.to_c());
                break;
            }
        }
    }
    println!("{hanging} of {programs} programs hang now and then");
    assert!(hanging * 3 <= programs, "too many programs hang: {hanging} of {programs}");
}
