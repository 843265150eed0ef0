//! Soundness, on generated programs: nothing that exploration refutes is ever proved.
//!
//! Each program is proved as it is, and with every thread replicated; then exploration looks at it with each thread as it
//! is, and with several copies of each. `LENO_AGREEMENT=5000` tries that many; `LENO_AGREEMENT_FROM=n` starts elsewhere, and
//! a single one is printed.

use leno::Properties;
use leno_generate::{Program, Shape, generate, shrink};
use leno_ir::program::{Body, Instr, Op};
use leno_testing::count;
use leno_testing::engine::{ASSERTION, DEADLOCK, Engine, RACE, ask};
use leno_testing::program::compile;

type Representation = leno_ir::program::Program;

fn compiled(program: &Program) -> Representation {
    compile(&program.to_preprocessed())
}

/// The same program, in which every thread is started so many times. (The last one is the one that is joined.)
fn copies(mut program: Representation, number: usize) -> Representation {
    for function in program.functions.iter_mut() {
        let Body::Blocks(blocks) = &mut function.body else { continue };
        for block in blocks.iter_mut() {
            let times = |instr: &Instr| if matches!(instr.op, Op::Spawn { .. }) { number } else { 1 };
            let instrs = std::mem::take(&mut block.instrs);
            block.instrs = instrs.into_iter().flat_map(|instr| vec![instr.clone(); times(&instr)]).collect();
        }
    }
    program
}

fn is_refuted(program: &Representation, property: Properties) -> bool {
    ask(program, Engine::Explore, property).is_violated() == Some(true)
}

fn is_proved(program: &Representation, property: Properties) -> bool {
    ask(program, Engine::Prove, property).is_violated() == Some(false)
}

/// The program with any number of each thread, if it has threads at all.
fn replicated(program: &Program) -> Option<Representation> {
    let one = compiled(program);
    let mut names: Vec<String> = (0..program.threads.len()).map(|number| format!("t{number}")).collect();
    names.retain(|name| leno_prove::replicate(&one, std::slice::from_ref(name)).is_ok());
    leno_prove::replicate(&one, &names).ok().filter(|_| !names.is_empty())
}

fn is_wrong(program: &Program, property: Properties) -> bool {
    is_proved(&compiled(program), property) && is_refuted(&compiled(program), property)
}

fn is_wrong_replicated(program: &Program, property: Properties, number: usize) -> bool {
    replicated(program).is_some_and(|many| is_proved(&many, property))
        && is_refuted(&copies(compiled(program), number), property)
}

fn compare(shape: &Shape, programs: u64, most_copies: usize, property: Properties) {
    let from = count("LENO_AGREEMENT_FROM", 0);
    let (mut proved, mut proved_for_many) = (0, 0);
    for seed in from..from + programs {
        let program = generate(seed, shape);
        if programs == 1 {
            println!("{}", program.to_c());
        }
        if is_proved(&compiled(&program), property) {
            proved += 1;
            if is_refuted(&compiled(&program), property) {
                let small = shrink(&program, |candidate| is_wrong(candidate, property));
                panic!("seed {seed} was proved, but:\n{}", small.to_c());
            }
        }
        if replicated(&program).is_some_and(|many| is_proved(&many, property)) {
            proved_for_many += 1;
            for number in 1..=most_copies {
                if is_refuted(&copies(compiled(&program), number), property) {
                    let small = shrink(&program, |candidate| is_wrong_replicated(candidate, property, number));
                    panic!("seed {seed} was proved for any number of threads, but {number}:\n{}", small.to_c());
                }
            }
        }
    }
    println!("{programs} programs, {proved} proved, {proved_for_many} for any number of each thread");
    assert!(programs < 100 || proved > 0);
}

#[test]
fn nothing_that_exploration_refutes_is_proved() {
    compare(&Shape::small(), count("LENO_AGREEMENT", 150), 3, ASSERTION);
}

#[test]
fn nor_are_races() {
    compare(&Shape::small(), count("LENO_AGREEMENT", 150), 3, RACE);
}

#[test]
fn nor_are_deadlocks() {
    compare(&Shape::small(), count("LENO_AGREEMENT", 150), 3, DEADLOCK);
}

#[test]
fn nor_in_larger_programs() {
    compare(&Shape::default(), count("LENO_AGREEMENT", 25), 2, ASSERTION);
}
