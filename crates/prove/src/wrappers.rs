//! Functions that create threads or allocate memory for their callers, and functions that threads start in, copied for each
//! place that uses them.
//!
//! `pthread_t start(void (*f)(void)) { pthread_create(&t, 0, call, f); … }` creates all threads of a program at one instruction, so
//! that all of them seem to be one kind of thread, of which there are many, and which runs everything. With a copy of `start`
//! for each call of it, and one of `call` for each creation, each thread is what it is. In the same way all memory of a program that
//! calls `xmalloc` seems to be one object. The copies do what the originals do, at the same lines.

use leno_ir::analysis::callgraph::CallKind;
use leno_ir::analysis::facts::Facts;
use leno_ir::program::{Body, Callee, Expr, FuncId, Function, Op, Place, Program, Type};
use std::collections::{BTreeMap, BTreeSet};

/// A program grows by so many instructions at most.
const MOST_COPIED: usize = 20_000;

/// A function that allocates for others has no more instructions.
const SMALL: usize = 40;

/// Functions that create threads for functions that create threads, …: so deep.
const ROUNDS: usize = 3;

/// The program with the copies.
pub fn copy_wrappers(mut program: Program) -> Program {
    let mut left = MOST_COPIED;
    for _ in 0..ROUNDS {
        let uses = wrapper_calls(&program);
        if !copy(&mut program, uses, &mut left) {
            break;
        }
    }
    let uses = thread_starts(&program);
    copy(&mut program, uses, &mut left);
    program
}

/// Direct calls of functions with parameters that create threads, and of those that allocate memory.
fn wrapper_calls(program: &Program) -> BTreeMap<FuncId, Vec<Place>> {
    let facts = Facts::new(program);
    let allocators = allocators(&facts);
    let is_wrapper = |func: FuncId| {
        let function = &program.functions[func];
        let is_creator = function.params > 0 && creates_threads(function);
        (is_creator || allocators.contains(&func)) && !facts.calls().is_recursive(func)
    };
    let mut uses: BTreeMap<FuncId, Vec<Place>> = BTreeMap::new();
    for edge in facts.calls().edges().iter().filter(|edge| facts.calls().is_reachable(edge.place.func)) {
        let is_direct = matches!(program.op(edge.place), Some(Op::Call { callee: Callee::Direct(_), .. }));
        if edge.kind == CallKind::Call && is_direct && is_wrapper(edge.callee) {
            uses.entry(edge.callee).or_default().push(edge.place);
        }
    }
    uses
}

/// Functions that give back a pointer, have few instructions, and allocate memory, themselves or by such functions.
fn allocators(facts: &Facts<'_>) -> BTreeSet<FuncId> {
    let program = facts.program();
    let may_be = |func: FuncId| {
        let function = &program.functions[func];
        function.ret == Some(Type::Ptr) && size(function) <= SMALL && matches!(function.body, Body::Blocks(_))
    };
    let allocates = |function: &Function| {
        let Body::Blocks(blocks) = &function.body else { return false };
        blocks.iter().any(|block| block.instrs.iter().any(|instr| matches!(instr.op, Op::Allocate { .. })))
    };
    let ids = program.functions.iter_enumerated();
    let mut found: BTreeSet<FuncId> =
        ids.filter(|(id, function)| may_be(*id) && allocates(function)).map(|(id, _)| id).collect();
    let mut before = 0;
    while found.len() > before {
        before = found.len();
        let calling =
            facts.calls().edges().iter().filter(|edge| edge.kind == CallKind::Call && found.contains(&edge.callee));
        let more: Vec<FuncId> = calling.map(|edge| edge.place.func).filter(|func| may_be(*func)).collect();
        found.extend(more);
    }
    found
}

/// Creations of threads in functions that are named there.
fn thread_starts(program: &Program) -> BTreeMap<FuncId, Vec<Place>> {
    let facts = Facts::new(program);
    let mut uses: BTreeMap<FuncId, Vec<Place>> = BTreeMap::new();
    for edge in facts.calls().edges().iter().filter(|edge| facts.calls().is_reachable(edge.place.func)) {
        let is_named = matches!(program.op(edge.place), Some(Op::Spawn { func: Expr::Function(_), .. }));
        if is_named && program.functions[edge.callee].params > 0 && !facts.calls().is_recursive(edge.callee) {
            uses.entry(edge.callee).or_default().push(edge.place);
        }
    }
    uses
}

fn creates_threads(function: &Function) -> bool {
    let Body::Blocks(blocks) = &function.body else { return false };
    blocks.iter().any(|block| block.instrs.iter().any(|instr| matches!(instr.op, Op::Spawn { .. })))
}

fn size(function: &Function) -> usize {
    match &function.body {
        Body::Blocks(blocks) => blocks.iter().map(|block| block.instrs.len() + 1).sum(),
        Body::External(_) => 0,
    }
}

/// Gives each use but the first a copy of its own; whether there was any.
fn copy(program: &mut Program, uses: BTreeMap<FuncId, Vec<Place>>, left: &mut usize) -> bool {
    let mut is_changed = false;
    for (func, places) in uses {
        for (number, place) in places.into_iter().enumerate().skip(1) {
            let size = size(&program.functions[func]);
            if size > *left {
                break;
            }
            *left -= size;
            let original = &program.functions[func];
            let name = format!("{}.{}", original.name, number + 1);
            let id = program.functions.push(Function { name, ..original.clone() });
            redirect(program, place, id);
            is_changed = true;
        }
    }
    is_changed
}

fn redirect(program: &mut Program, place: Place, to: FuncId) {
    let Body::Blocks(blocks) = &mut program.functions[place.func].body else { return };
    let instr = blocks[place.block].instrs.get_mut(place.index as usize);
    match instr.map(|instr| &mut instr.op) {
        Some(Op::Call { callee: Callee::Direct(func), .. }) => *func = to,
        Some(Op::Spawn { func: Expr::Function(func), .. }) => *func = to,
        _ => {}
    }
}
