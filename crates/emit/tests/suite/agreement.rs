//! Random programs print the same in the interpreter and as every compiler compiles them.

use crate::compiler;
use crate::generate;
use leno_ir::interp::{self, Captured, Ending, RoundRobin};
use leno_ir::program::{DataModel, Program};

const CASES: usize = 80;

#[test]
fn random_programs_print_what_the_interpreter_prints() {
    // More of them, when asked: LENO_EMIT_PROGRAMS=100 cargo test -p leno-emit
    let programs = std::env::var("LENO_EMIT_PROGRAMS").ok().and_then(|count| count.parse().ok()).unwrap_or(1);
    for seed in 0..programs {
        agree(seed, DataModel::Lp64, CASES);
        agree(seed, DataModel::Ilp32, CASES);
    }
}

fn agree(seed: u64, model: DataModel, cases: usize) {
    let program = generate::program(seed, model, cases);
    leno_ir::validate::validate(&program).unwrap_or_else(|found| panic!("{}", found[0].explain(&program)));
    let expected = interpret(&program);
    assert!(expected.len() >= cases * 26, "every case prints its registers and its memory");
    for way in compiler::ways_and_checks(model) {
        let compiled = compiler::compile_quietly(&program, way, &format!("seed {seed}"));
        let output = compiler::run(&compiled, &[]);
        let what = format!("seed {seed}, {way:?}, {}", compiled.path("program.c").display());
        assert!(output.status.success(), "{what}: {}", output.status);
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        if let Some((line, (right, wrong))) = expected
            .iter()
            .map(String::as_str)
            .zip(printed.lines())
            .enumerate()
            .find(|(_, (right, wrong))| right != wrong)
        {
            let place = expected[..line].iter().rev().position(|line| line.contains("ca5e")).unwrap_or(line);
            let case = &expected[line.saturating_sub(place + 1)];
            std::fs::write(compiled.path("program.ir"), program.to_string()).unwrap();
            panic!("{what}: line {place} of {case} is {wrong}, but the interpreter prints {right}");
        }
        assert_eq!(printed.lines().count(), expected.len(), "{what}");
    }
}

fn interpret(program: &Program) -> Vec<String> {
    let mut environment = Captured::new(0);
    let options = interp::Options::default();
    let outcome = interp::run(program, &options, &mut RoundRobin::default(), &mut environment, 10_000_000);
    assert_eq!(outcome.ending, Ending::Exited(0));
    String::from_utf8_lossy(&environment.output).lines().map(str::to_string).collect()
}
