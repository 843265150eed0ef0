//! Functions: registers are C variables, stack objects are arrays, blocks are labels.

use crate::Mode;
use crate::call::{self, Starts};
use crate::constant;
use crate::expr::Scope;
use crate::instr::Writer;
use crate::lifetimes;
use crate::names;
use crate::types;
use leno_ir::index::{Idx, IndexVec};
use leno_ir::interp::Place;
use leno_ir::program::{
    Block, BlockId, Expr, FuncId, Function, LocalId, Program, SlotId, Terminator, TerminatorKind, Type,
};
use std::fmt::Write;

/// How the code of a function is written.
#[derive(Clone, Copy)]
pub(crate) struct Style<'a> {
    pub comments: bool,
    pub mode: Mode<'a>,
}

/// A whole definition.
pub(crate) fn define(
    program: &Program,
    id: FuncId,
    blocks: &IndexVec<BlockId, Block>,
    style: Style<'_>,
    starts: &mut Starts,
    out: &mut String,
) {
    let function = &program.functions[id];
    let _ = writeln!(out, "static {} {{", call::prototype(program, id));
    declare_variables(function, out);
    match style.mode {
        Mode::Plain => {}
        Mode::Hooked(numbers) => crate::hooks::enter(program, id, numbers, out),
        Mode::Recording(unrecorded) => crate::record::enter(program, id, unrecorded, out),
    }
    let scope = Scope { program, function };
    let place = Place { func: id, block: BlockId(0), index: 0 };
    let mut writer = Writer { scope, style, place, starts, out };
    let (reached, labelled) = reachable(blocks);
    for (id, block) in blocks.iter_enumerated() {
        if !reached[id.index()] {
            continue;
        }
        if labelled[id.index()] {
            let _ = writeln!(writer.out, "{id}:;");
        }
        for (index, instr) in block.instrs.iter().enumerate() {
            writer.place = Place { block: id, index: index as u32, ..place };
            writer.instruction(instr);
        }
        writer.place = Place { block: id, index: block.instrs.len() as u32, ..place };
        writer.terminator(&block.terminator);
    }
    out.push_str("}\n\n");
}

/// Registers begin as 0: C would have them undefined.
fn declare_variables(function: &Function, out: &mut String) {
    for index in types::parameters(function).len()..function.locals.len() {
        let id = LocalId::new(index);
        let _ = writeln!(out, "    {} {} = 0;", types::value(function.locals[id].ty), names::local(function, id));
    }
    for id in lifetimes::freed_on_stack(function) {
        let _ = writeln!(out, "    ptr {} = 0;", lifetimes::size_of(function, id));
    }
    for (id, slot) in function.slots.iter_enumerated() {
        let name = names::slot(function, SlotId::new(id.index()));
        let (size, align) = (slot.size.max(1), slot.align.max(1));
        let _ = writeln!(out, "    unsigned char {name}[{size}] __attribute__((aligned({align})));");
    }
}

/// Which blocks control can get to, and which of them by a jump.
fn reachable(blocks: &IndexVec<BlockId, Block>) -> (Vec<bool>, Vec<bool>) {
    let (mut reached, mut labelled) = (vec![false; blocks.len()], vec![false; blocks.len()]);
    let mut waiting: Vec<BlockId> = blocks.ids().take(1).collect();
    while let Some(id) = waiting.pop() {
        if std::mem::replace(&mut reached[id.index()], true) {
            continue;
        }
        for target in successors(&blocks[id].terminator.kind) {
            labelled[target.index()] = true;
            waiting.push(target);
        }
    }
    (reached, labelled)
}

fn successors(kind: &TerminatorKind) -> Vec<BlockId> {
    match kind {
        TerminatorKind::Goto(target) => vec![*target],
        TerminatorKind::Branch { then, otherwise, .. } => vec![*then, *otherwise],
        TerminatorKind::Switch { cases, default, .. } => {
            cases.iter().map(|(_, target)| *target).chain([*default]).collect()
        }
        _ => Vec::new(),
    }
}

impl Writer<'_> {
    fn terminator(&mut self, terminator: &Terminator) {
        let is_written = match self.style.mode {
            Mode::Plain => false,
            Mode::Hooked(_) => self.hooked_terminator(terminator),
            Mode::Recording(_) => self.recorded_terminator(terminator),
        };
        if is_written {
            return;
        }
        let scope = self.scope;
        let code = match &terminator.kind {
            TerminatorKind::Goto(target) => format!("goto {target};"),
            TerminatorKind::Branch { cond, then, otherwise } => {
                format!("if ({}) goto {then}; else goto {otherwise};", scope.value(cond))
            }
            TerminatorKind::Switch { value, cases, default } => self.switch(value, cases, *default),
            TerminatorKind::Return(value) => self.returned(value.as_ref()),
            TerminatorKind::ThreadExit(value) => format!("pthread_exit((void *){});", scope.operand(value)),
            TerminatorKind::Exit(status) => format!("exit((int){});", scope.operand(status)),
            TerminatorKind::Abort => "abort();".to_string(),
            TerminatorKind::Unreachable => {
                let place = crate::comment::position(self.program(), terminator.span);
                let message = format!("control got to where it never gets, at {place}");
                format!("leno_fail({});", crate::comment::string_literal(message.as_bytes()))
            }
        };
        self.line(&code, terminator.span);
    }

    /// C's own `switch` where C has numbers that wide.
    fn switch(&self, value: &Expr, cases: &[(u128, BlockId)], default: BlockId) -> String {
        let width = self.scope.ty(value).bits(self.scope.model());
        let mut code = String::new();
        if types::computing(width) <= 64 {
            let _ = write!(code, "switch ({}) {{", self.scope.value(value));
            for (bits, target) in cases {
                let _ = write!(code, " case {}: goto {target};", constant::integer(*bits, width));
            }
            let _ = write!(code, " default: goto {default}; }}");
            return code;
        }
        let _ = write!(code, "{{ u128 selector = {};", self.scope.value(value));
        for (bits, target) in cases {
            let _ = write!(code, " if (selector == {}) goto {target};", constant::integer(*bits, width));
        }
        let _ = write!(code, " goto {default}; }}");
        code
    }

    pub(crate) fn returned(&self, value: Option<&Expr>) -> String {
        let given_back = lifetimes::give_back(self.function());
        match (self.function().ret, value) {
            (None, _) => format!("{given_back}return;"),
            (Some(_), None) => format!("{given_back}return 0;"),
            (Some(ret), Some(value)) => {
                let text = self.scope.same_bits(self.scope.text(value), self.scope.ty(value), ret);
                format!("{given_back}return {};", text.text)
            }
        }
    }
}

/// What a program's entry gets from the system, and what the system wants back if it comes back.
pub(crate) fn main(program: &Program, entry: FuncId) -> String {
    let call = entry_call(program, entry);
    let body = match program.functions[entry].ret {
        Some(Type::Int(_)) => format!("return (int){call};"),
        _ => format!("{call};\n    return 0;"),
    };
    format!("int main(int argc, char **argv) {{\n    {body}\n}}\n")
}

/// The call of the entry, where `argc` and `argv` are known.
pub(crate) fn entry_call(program: &Program, entry: FuncId) -> String {
    let function = &program.functions[entry];
    let arguments = ["argc", "argv"];
    let passed: Vec<String> = types::parameters(function)
        .enumerate()
        .map(|(index, ty)| arguments.get(index).map_or("0".to_string(), |name| format!("({}){name}", types::value(ty))))
        .collect();
    format!("{}({})", names::function(program, entry), passed.join(", "))
}
