//! Any number of threads in place of one: the program that the prover is asked about when a user says that a function is
//! run by any number of threads.
//!
//! `spawn f` becomes a loop that spawns at least once and goes on as long as it likes. All else (facts, invariants,
//! exploration of small instances) then needs to know nothing of replication.

use leno_ir::program::{
    Block, BlockId, Body, Expr, FuncId, Function, Instr, Local, LocalId, Op, Program, Span, Terminator, TerminatorKind,
    Type,
};

/// The program in which wherever a thread is started in one of these functions, any number of them are.
pub fn replicate(program: &Program, names: &[String]) -> Result<Program, String> {
    let mut replicated = Vec::new();
    for name in names {
        let found = program.functions.iter_enumerated().find(|(_, function)| function.name == *name);
        let (id, _) = found.ok_or_else(|| format!("there is no function `{name}`"))?;
        replicated.push(id);
    }
    let mut result = program.clone();
    let mut is_started = vec![false; replicated.len()];
    for function in result.functions.iter_mut() {
        while let Some((block, index, which)) = next_spawn(function, &replicated) {
            is_started[which] = true;
            repeat(function, block, index);
        }
    }
    match is_started.iter().position(|is_started| !is_started) {
        Some(number) => Err(format!("no thread is started in `{}` by its name", names[number])),
        None => Ok(result),
    }
}

/// A spawn of one of these functions that is not repeated yet.
fn next_spawn(function: &Function, replicated: &[FuncId]) -> Option<(usize, usize, usize)> {
    let Body::Blocks(blocks) = &function.body else { return None };
    blocks.iter().enumerate().find_map(|(block, code)| {
        code.instrs.iter().enumerate().find_map(|(index, instr)| {
            let Op::Spawn { func: Expr::Function(id), .. } = &instr.op else { return None };
            let which = replicated.iter().position(|other| other == id)?;
            let is_own = |target: &BlockId| target.0 as usize == block;
            let is_repeated = matches!(&code.terminator.kind, TerminatorKind::Branch { then, .. } if is_own(then));
            (!(is_repeated && index == 0 && code.instrs.len() == 2)).then_some((block, index, which))
        })
    })
}

/// `before; spawn; after` becomes `before; do spawn while (anything); after`.
fn repeat(function: &mut Function, block: usize, index: usize) {
    let goes_on = Local { name: String::new(), ty: Type::BOOL, signed: false };
    let goes_on: LocalId = function.locals.push(goes_on);
    let Body::Blocks(blocks) = &mut function.body else { return };
    let (again, rest) = (BlockId(blocks.len() as u32), BlockId(blocks.len() as u32 + 1));
    let code = &mut blocks[BlockId(block as u32)];
    let after = code.instrs.split_off(index + 1);
    let Some(spawn) = code.instrs.pop() else { return };
    let span: Span = spawn.span;
    let to = |kind: TerminatorKind| Terminator { kind, span };
    let last = std::mem::replace(&mut code.terminator, to(TerminatorKind::Goto(again)));
    let decide = Instr { op: Op::Nondet { dst: goes_on }, span };
    let branch = TerminatorKind::Branch { cond: Expr::Local(goes_on), then: again, otherwise: rest };
    blocks.push(Block { instrs: vec![spawn, decide], terminator: to(branch), span });
    blocks.push(Block { instrs: after, terminator: last, span });
}
