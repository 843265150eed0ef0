//! What a program looks at in its surroundings, and Leno holds fixed: its arguments, the environment, the machine.
//!
//! A verdict is for any input, but these have one value each (arguments: those of the command line). So a SAFE of a
//! program that looks at one of them assumes it, and says so. A program that does not look is not concerned.

use crate::Assumption;
use leno_ir::analysis::facts::Facts;
use leno_ir::analysis::reuse::noticed_moves;
use leno_ir::index::Idx;
use leno_ir::program::{Body, Callee, Expr, FuncId, Function, Instr, LocalId, Op, Program, Span};
use std::collections::BTreeMap;

/// Functions of the library whose models know one answer only, and what that is.
const FIXED_ANSWERS: &[(&str, &str)] = &[
    ("get_nprocs", TWO_PROCESSORS),
    ("get_nprocs_conf", TWO_PROCESSORS),
    ("getegid", NUMBERS),
    ("getenv", NO_ENVIRONMENT),
    ("geteuid", NUMBERS),
    ("getgid", NUMBERS),
    ("getpid", NUMBERS),
    ("getppid", NUMBERS),
    ("getuid", NUMBERS),
    ("secure_getenv", NO_ENVIRONMENT),
    ("setlocale", NO_ENVIRONMENT),
    ("sysconf", TWO_PROCESSORS),
];

const NO_ENVIRONMENT: &str = "the program is started with an empty environment";
const NUMBERS: &str = "the process has the number 1000, as its user and group have, and its parent 1";
const TWO_PROCESSORS: &str = "the machine has two processors and pages of 4096 bytes";

/// What a SAFE of this program assumes of its surroundings, each with the first place that looks at it.
pub fn assumed_surroundings(program: &Program) -> Vec<Assumption> {
    let mut first: BTreeMap<String, Span> = BTreeMap::new();
    let mut note = |what: &str, span: Span| _ = first.entry(what.to_string()).or_insert(span);
    for (parameter, span) in parameters_of_main(program) {
        match parameter {
            0 | 1 => note(&arguments(program), span),
            _ => note(NO_ENVIRONMENT, span),
        }
    }
    for function in program.functions.iter().filter(|function| !is_model(program, function)) {
        for instr in instructions(function) {
            let Op::Call { callee: Callee::Direct(callee), .. } = &instr.op else { continue };
            let callee = &program.functions[*callee];
            let fixed = FIXED_ANSWERS.iter().find(|(name, _)| *name == callee.name);
            if let Some((_, what)) = fixed.filter(|_| is_model(program, callee)) {
                note(what, instr.span);
            }
        }
    }
    first.into_iter().map(|(what, span)| Assumption::new(what).at(program, span)).collect()
}

/// What a SAFE assumes of `realloc`, whose model always moves the object: if the program compares the address before with
/// the one after, it can tell.
pub fn assumed_moves(facts: &Facts<'_>) -> Option<Assumption> {
    let program = facts.program();
    let is_it = |function: &Function| function.name == "realloc" && is_model(program, function);
    let (realloc, _) = program.functions.iter_enumerated().find(|(_, function)| is_it(function))?;
    let first = noticed_moves(facts, realloc).comparisons.into_iter().map(|comparison| comparison.place).min()?;
    let Body::Blocks(blocks) = &program.functions[first.func].body else { return None };
    let block = &blocks[first.block];
    let span = block.instrs.get(first.index as usize).map_or(block.terminator.span, |instr| instr.span);
    Some(Assumption::new("realloc moves every object that it changes the size of").at(program, span))
}

fn arguments(program: &Program) -> String {
    let given: Vec<String> =
        program.command.iter().skip(1).map(|arg| format!("`{}`", String::from_utf8_lossy(arg))).collect();
    match given.is_empty() {
        true => "the program is started without arguments".to_string(),
        false => format!("the program is started with the arguments {}", given.join(" ")),
    }
}

/// Which parameters of `main` its body uses, and where first.
fn parameters_of_main(program: &Program) -> Vec<(usize, Span)> {
    let Some(main) = program.entry.and_then(|entry| called_with_arguments(program, entry)) else { return Vec::new() };
    let function = &program.functions[main];
    let uses = |expr: &Expr, parameter: LocalId| {
        let mut found = false;
        expr.for_each_local(|local| found |= local == parameter);
        found
    };
    let place_of = |parameter: LocalId| {
        let Body::Blocks(blocks) = &function.body else { return None };
        blocks.iter().find_map(|block| {
            let used_by = |instr: &&Instr| {
                let mut found = false;
                instr.op.for_each_operand(|expr| found |= uses(expr, parameter));
                found
            };
            let terminator = &block.terminator;
            let at_end = terminator.kind.operand().filter(|expr| uses(expr, parameter)).map(|_| terminator.span);
            block.instrs.iter().find(used_by).map(|instr| instr.span).or(at_end)
        })
    };
    (0..function.params as usize).filter_map(|index| Some((index, place_of(LocalId::new(index))?))).collect()
}

/// The function to which the entry hands the arguments on.
fn called_with_arguments(program: &Program, entry: FuncId) -> Option<FuncId> {
    let calls = instructions(&program.functions[entry]).filter_map(|instr| match &instr.op {
        Op::Call { callee: Callee::Direct(callee), args, .. } => Some((*callee, args)),
        _ => None,
    });
    calls.filter(|(_, args)| args.first() == Some(&Expr::Local(LocalId::new(0)))).map(|(callee, _)| callee).last()
}

fn instructions(function: &Function) -> impl Iterator<Item = &Instr> {
    let blocks = match &function.body {
        Body::Blocks(blocks) => Some(blocks),
        Body::External(_) => None,
    };
    blocks.into_iter().flatten().flat_map(|block| &block.instrs)
}

/// Whether a function comes with Leno.
pub(crate) fn is_model(program: &Program, function: &Function) -> bool {
    is_in_model(program, function.span)
}

/// Whether a place is in a model of the library.
pub(crate) fn is_in_model(program: &Program, span: Span) -> bool {
    program.files.get(span.file).is_some_and(|file| file.starts_with("<leno>"))
}
