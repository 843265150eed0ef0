//! Control flow as a picture: Graphviz DOT of a function, or of a whole program.
//!
//! `leno dump --cfg prog.c | dot -Tsvg` draws it. A block is a box with its instructions as the textual form writes
//! them; the edges say why they are taken; a block that control cannot reach is grey. Between
//! functions, dashed edges go from each `spawn` to where the new thread begins.

use std::fmt::{self, Write};

use crate::analysis::callgraph::{CallGraph, CallKind};
use crate::analysis::cfg::Cfg;
use crate::analysis::points_to::PointsTo;
use crate::program::{Block, BlockId, Body, FuncId, Program, Span, TerminatorKind};
use crate::text::Names;

/// So many cases are named on an edge; a switch of a thousand would be no picture.
const CASES_SHOWN: usize = 8;

/// The control-flow graph of one function.
pub fn function(program: &Program, id: FuncId) -> String {
    let mut dot = String::new();
    let names = Names::new(program);
    // Writing to a string does not fail.
    let _ = write_graph(&mut dot, &names, &[id], None);
    dot
}

/// The control-flow graphs of all functions with a body, each in a frame, and who starts whom as a thread.
pub fn program(program: &Program) -> String {
    let mut dot = String::new();
    let names = Names::new(program);
    let calls = CallGraph::new(program, &PointsTo::new(program));
    let functions: Vec<FuncId> = program.functions.ids().collect();
    let _ = write_graph(&mut dot, &names, &functions, Some(&calls));
    dot
}

fn write_graph(dot: &mut String, names: &Names<'_>, functions: &[FuncId], calls: Option<&CallGraph>) -> fmt::Result {
    dot.push_str("digraph cfg {\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n  edge [fontsize=9];\n");
    for &id in functions {
        write_function(dot, names, id)?;
    }
    for edge in calls.into_iter().flat_map(CallGraph::edges).filter(|edge| edge.kind == CallKind::Spawn) {
        let place = edge.place;
        if has_blocks(names.program(), edge.callee) {
            write!(dot, "  {} -> {}", node(place.func, place.block), node(edge.callee, BlockId(0)))?;
            dot.push_str(" [style=dashed, label=\"spawn\"];\n");
        }
    }
    dot.push_str("}\n");
    Ok(())
}

fn has_blocks(program: &Program, id: FuncId) -> bool {
    matches!(&program.functions[id].body, Body::Blocks(blocks) if !blocks.is_empty())
}

fn node(function: FuncId, block: BlockId) -> String {
    format!("{function}_{block}")
}

fn write_function(dot: &mut String, names: &Names<'_>, id: FuncId) -> fmt::Result {
    let function = &names.program().functions[id];
    let Body::Blocks(blocks) = &function.body else { return Ok(()) };
    let cfg = Cfg::new(blocks);
    write!(dot, "  subgraph cluster_{id} {{\n    label=\"")?;
    let shown = names.function(id).to_string();
    let is_named = shown.len() > 1 && shown[1..].starts_with(&function.name) && !function.name.is_empty();
    write_escaped(dot, &if is_named { shown } else { format!("{shown} {}", function.name) });
    dot.push_str("\";\n");
    for (block_id, block) in blocks.iter_enumerated() {
        write!(dot, "    {} [label=\"", node(id, block_id))?;
        write_label(dot, names, id, block_id, block);
        dot.push_str(if cfg.is_reachable(block_id) { "\"];\n" } else { "\", color=gray, fontcolor=gray];\n" });
        write_edges(dot, id, block_id, &block.terminator.kind)?;
    }
    dot.push_str("  }\n");
    Ok(())
}

/// The block's lines, each ended by `\l`, which puts it to the left.
fn write_label(dot: &mut String, names: &Names<'_>, function: FuncId, id: BlockId, block: &Block) {
    write_line(dot, names, format!("{id}:"), block.span);
    for instr in &block.instrs {
        write_line(dot, names, names.show(function, &instr.op).to_string(), instr.span);
    }
    let kind = &block.terminator.kind;
    let last = match kind {
        TerminatorKind::Switch { value, .. } => format!("switch {}", names.show(function, value)),
        _ => names.show(function, kind).to_string(),
    };
    write_line(dot, names, last, block.terminator.span);
}

fn write_line(dot: &mut String, names: &Names<'_>, code: String, span: Span) {
    write_escaped(dot, &code);
    if span != Span::NONE {
        write_escaped(dot, &format!(" ; {}", names.span(span)));
    }
    dot.push_str("\\l");
}

fn write_escaped(dot: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '"' | '\\' => dot.extend(['\\', c]),
            '\n' => dot.push_str("\\\\n"),
            _ if c.is_control() => dot.push('\u{fffd}'),
            _ => dot.push(c),
        }
    }
}

fn write_edges(dot: &mut String, function: FuncId, from: BlockId, kind: &TerminatorKind) -> fmt::Result {
    let mut edge = |to: BlockId, label: &str| {
        let (from, to) = (node(function, from), node(function, to));
        match label {
            "" => writeln!(dot, "    {from} -> {to};"),
            _ => writeln!(dot, "    {from} -> {to} [label=\"{label}\"];"),
        }
    };
    match kind {
        TerminatorKind::Goto(target) => edge(*target, ""),
        TerminatorKind::Branch { then, otherwise, .. } => {
            edge(*then, "true")?;
            edge(*otherwise, "false")
        }
        TerminatorKind::Switch { cases, default, .. } => {
            let mut by_target: Vec<(BlockId, u128)> = cases.iter().map(|(case, target)| (*target, *case)).collect();
            by_target.sort_unstable();
            for group in by_target.chunk_by(|left, right| left.0 == right.0) {
                let mut label: Vec<String> = group.iter().take(CASES_SHOWN).map(|(_, case)| case.to_string()).collect();
                if group.len() > CASES_SHOWN {
                    label.push(format!("… {} cases", group.len()));
                }
                edge(group[0].0, &label.join(", "))?;
            }
            edge(*default, "default")
        }
        _ => Ok(()),
    }
}
