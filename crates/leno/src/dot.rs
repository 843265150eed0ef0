//! Control-flow graphs for Graphviz: a cluster for each function, a box for each block.

use leno_ir::index::IndexVec;
use leno_ir::program::{Block, BlockId, Body, FuncId, Program, Span, TerminatorKind};
use leno_ir::text::Names;
use std::fmt::{Display, Write};

/// The whole program as one graph.
pub fn graph(program: &Program) -> String {
    let names = Names::new(program);
    let mut out = String::from("digraph program {\n  node [shape=box, fontname=monospace, fontsize=10];\n");
    for (id, function) in program.functions.iter_enumerated() {
        if let Body::Blocks(blocks) = &function.body {
            let _ = writeln!(out, "  subgraph cluster_{} {{\n    label={};", id.0, quoted(&function.name, "\\n"));
            add_function(&names, id, blocks, &mut out);
            out.push_str("  }\n");
        }
    }
    out.push_str("}\n");
    out
}

fn add_function(names: &Names<'_>, id: FuncId, blocks: &IndexVec<BlockId, Block>, out: &mut String) {
    for (block_id, block) in blocks.iter_enumerated() {
        let mut label = format!("b{}:\n", block_id.0);
        for instr in &block.instrs {
            add_line(instr.span, &names.show(id, &instr.op), &mut label);
        }
        add_line(block.terminator.span, &names.show(id, &block.terminator.kind), &mut label);
        let _ = writeln!(out, "    f{}b{} [label={}];", id.0, block_id.0, quoted(&label, "\\l"));
    }
    for (block_id, block) in blocks.iter_enumerated() {
        for (target, label) in edges(&block.terminator.kind) {
            let label = quoted(&label, "\\n");
            let _ = writeln!(out, "    f{0}b{1} -> f{0}b{2} [label={label}];", id.0, block_id.0, target.0);
        }
    }
}

fn add_line(span: Span, step: &dyn Display, label: &mut String) {
    let _ = match span.line {
        0 => writeln!(label, "  {step}"),
        line => writeln!(label, "  {step}  ; line {line}"),
    };
}

fn edges(kind: &TerminatorKind) -> Vec<(BlockId, String)> {
    match kind {
        TerminatorKind::Goto(to) => vec![(*to, String::new())],
        TerminatorKind::Branch { then, otherwise, .. } => {
            vec![(*then, "true".to_string()), (*otherwise, "false".to_string())]
        }
        TerminatorKind::Switch { cases, default, .. } => {
            let cases = cases.iter().map(|(value, to)| (*to, value.to_string()));
            cases.chain([(*default, "default".to_string())]).collect()
        }
        TerminatorKind::Return(_)
        | TerminatorKind::ThreadExit(_)
        | TerminatorKind::Exit(_)
        | TerminatorKind::Abort
        | TerminatorKind::Unreachable => Vec::new(),
    }
}

/// A string of the DOT language; `line_end` says how its lines are set.
fn quoted(text: &str, line_end: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', line_end))
}
