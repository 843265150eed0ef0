//! From steps to the representation.
//!
//! Global variables are objects of one byte, which hold 0 or 1; local ones are registers of one bit. All accesses are
//! atomic (`seq_cst`), so nothing races. A step that accesses more than one global is put into an atomic section. What
//! is unknown at the beginning (every variable that has no initial value) is chosen there.
//!
//! `start_thread goto L` starts a function of its own: a copy of the one it stands in that begins at `L`, with all local
//! variables as its parameters. When it returns, the thread ends.

mod function;

use crate::resolve::{Resolved, Start};
use function::Writer;
use leno_c::lower::Texts;
use leno_c::source::Source;
use leno_ir::index::{Idx, IndexVec};
use leno_ir::program::{Datum, Expr, FuncId, Object, ObjectId, ObjectKind, Op, Program, TerminatorKind, Type};
use std::collections::HashMap;

pub fn lower(resolved: &Resolved<'_>, source: &Source) -> Program {
    let mut lowering = Lowering { resolved, source, texts: Texts::new(1), variants: Vec::new(), ids: HashMap::new() };
    let objects = resolved.globals.iter().map(|declaration| {
        let init = match declaration.initial {
            Some(true) => vec![(0, Datum::Bytes(vec![1]))],
            _ => Vec::new(),
        };
        let span = lowering.texts.span(source, 0, declaration.name.span);
        Object { name: declaration.name.text.clone(), kind: ObjectKind::Global, size: 1, align: 1, init, span }
    });
    let objects: IndexVec<ObjectId, Object> = objects.collect();
    (0..resolved.functions.len()).for_each(|function| _ = lowering.variant(function, None));
    let mut functions = IndexVec::new();
    while let Some((function, start)) = lowering.variants.get(functions.len()).copied() {
        functions.push(function::lower(&mut lowering, function, start));
    }
    let entry = Some(functions.push(start(&mut lowering)));
    let Texts { files, texts, .. } = lowering.texts;
    Program { files, texts, objects, functions, entry, ..Program::default() }
}

struct Lowering<'a, 't> {
    resolved: &'a Resolved<'t>,
    source: &'a Source,
    texts: Texts,
    /// By [`FuncId`]: a function, and the step at which it begins if it is the copy for threads that begin there.
    variants: Vec<(usize, Option<usize>)>,
    ids: HashMap<(usize, Option<usize>), FuncId>,
}

impl Lowering<'_, '_> {
    fn variant(&mut self, function: usize, start: Option<usize>) -> FuncId {
        let next = FuncId::new(self.variants.len());
        let id = *self.ids.entry((function, start)).or_insert(next);
        if id == next {
            self.variants.push((function, start));
        }
        id
    }
}

/// What runs first: it chooses initial values, calls `init`, and goes on to `main` or to any number of threads.
fn start(lowering: &mut Lowering<'_, '_>) -> leno_ir::program::Function {
    let resolved = lowering.resolved;
    let first = match &resolved.start {
        Start::Once(main) => *main,
        Start::AnyNumber(functions) => functions[0],
    };
    let place = resolved.functions[first].tree.name.span;
    let parameters = [("argc", Type::I32), ("argv", Type::Ptr)];
    let mut writer = Writer::new(lowering, "_start".to_string(), None, &parameters, place);
    for (number, declaration) in resolved.globals.iter().enumerate() {
        if declaration.initial.is_none() {
            writer.set_place(declaration.name.span);
            let value = writer.any(Type::BOOL);
            writer.store(number, value);
        }
    }
    writer.set_place(place);
    if let Some(init) = resolved.init {
        writer.call(init, Vec::new());
    }
    match &resolved.start {
        Start::Once(main) => {
            writer.call(*main, Vec::new());
            writer.exit_thread();
        }
        Start::AnyNumber(functions) => start_for_ever(&mut writer, functions),
    }
    writer.finish()
}

/// Starts threads in these functions, as many and in whatever order.
fn start_for_ever(writer: &mut Writer<'_, '_, '_>, functions: &[usize]) {
    let again = writer.new_block();
    writer.terminate(TerminatorKind::Goto(again));
    writer.continue_at(again);
    let choices: Vec<_> = functions.iter().map(|_| writer.new_block()).collect();
    let end = writer.new_block();
    writer.choose(choices.iter().copied().chain([end]).collect());
    for (block, function) in choices.into_iter().zip(functions) {
        writer.continue_at(block);
        let arguments = writer.parameters_of(*function).map(|_| writer.any(Type::BOOL)).collect();
        let func = Expr::Function(FuncId::new(*function));
        writer.push(Op::Spawn { handle: None, func, args: arguments });
        writer.terminate(TerminatorKind::Goto(again));
    }
    writer.continue_at(end);
    writer.exit_thread();
}
