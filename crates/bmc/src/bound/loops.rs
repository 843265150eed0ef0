//! The names of loops, recursions and allocations that have bounds, as users see and write them.
//!
//! A loop is named by the position of its head, `file:line`. On the command line the file may be shortened to its last
//! components, or replaced by the function: `src/queue.c:31`, `queue.c:31` and `push:31` are the same loop. Loops that
//! begin on one line share their bound. The recursion of a function has the name of the function. An allocation of
//! unknown size has a bound, too.

use crate::Unwinding;
use crate::bound::BoundSite;
use crate::bound::Bounds;
use leno_ir::analysis::cfg::Cfg;
use leno_ir::analysis::weak_topological_order::{Element, weak_topological_order};
use leno_ir::program::{BlockId, Body, FuncId, Program, Span};
use std::collections::BTreeMap;

/// The bound of a loop in the first round.
const FIRST: u32 = 2;

/// The name that users see and write.
pub fn name(program: &Program, what: BoundSite) -> String {
    match what {
        BoundSite::Recursion(func) => program.functions[func].name.clone(),
        BoundSite::Loop(func, head) => file_and_line(program, place(program, func, head)),
        BoundSite::Allocation(place) => {
            let Body::Blocks(blocks) = &program.functions[place.func].body else { return String::new() };
            let instr = blocks[place.block].instrs.get(place.index as usize);
            file_and_line(program, instr.map_or(Span::NONE, |instr| instr.span))
        }
    }
}

fn file_and_line(program: &Program, span: Span) -> String {
    let file = program.files.get(span.file).map_or("?", String::as_str);
    format!("{file}:{}", span.line)
}

/// Where a loop begins: the first position in the source of the instructions of its head.
fn place(program: &Program, func: FuncId, head: BlockId) -> Span {
    let Body::Blocks(blocks) = &program.functions[func].body else { return Span::NONE };
    let block = &blocks[head];
    let spans = block.instrs.iter().map(|instr| instr.span).chain([block.terminator.span]);
    spans.into_iter().find(|span| span.line > 0).unwrap_or(Span::NONE)
}

/// The bounds of the first round. An error if a name is that of no loop and no function.
pub fn bounds(program: &Program, unwinding: &Unwinding) -> Result<Bounds, String> {
    let mut particular = BTreeMap::new();
    for (wanted, bound) in &unwinding.named {
        let found = find(program, wanted);
        if found.is_empty() {
            return Err(format!("there is no loop `{wanted}`, and no function of that name"));
        }
        particular.extend(found.into_iter().map(|what| (what, *bound)));
    }
    Ok(Bounds { default: unwinding.fixed.unwrap_or(FIRST), particular, is_cheap_round: false })
}

fn find(program: &Program, wanted: &str) -> Vec<BoundSite> {
    let mut found = Vec::new();
    for func in program.functions.ids() {
        let function = &program.functions[func];
        if function.name == wanted {
            found.push(BoundSite::Recursion(func));
        }
        let Some(cfg) = Cfg::of(function) else { continue };
        let mut heads = Vec::new();
        collect_heads(&weak_topological_order(&cfg), &mut heads);
        for head in heads {
            let what = BoundSite::Loop(func, head);
            let full = name(program, what);
            let by_function = format!("{}:{}", function.name, place(program, func, head).line);
            if full == wanted || full.ends_with(&format!("/{wanted}")) || by_function == wanted {
                found.push(what);
            }
        }
    }
    found
}

fn collect_heads(elements: &[Element], heads: &mut Vec<BlockId>) {
    for element in elements {
        if let Element::Loop(inner) = element {
            heads.push(inner.head);
            collect_heads(&inner.elements, heads);
        }
    }
}
