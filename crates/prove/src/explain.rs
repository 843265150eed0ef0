//! Why an assertion was not proved: what the invariants cannot exclude there, and which stores of other threads spoil it.

use crate::cells::{CellId, Cells};
use crate::coarsen::{Coarsened, Coarsening};
use crate::code::{Code, NodeId, StopId};
use crate::machine::Failure;
use crate::state::{Definition, State, Value, Variable};
use crate::states::States;
use leno_domains::{Numbers, Octagon, Side};
use leno_ir::index::IndexVec;
use leno_ir::program::{Body, Place, Program, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The reason, and what to try.
pub fn failure<'p>(
    code: &Code<'_, 'p>,
    cells: &Cells,
    coarsening: &Coarsening<'_, 'p>,
    found: &Coarsened<'p>,
    failure: &Failure<'p>,
) -> (String, String) {
    let program = code.program();
    let mut reason = format!("the assertion at {} was not proved", place(code, failure.node));
    let relevant = relevant(&failure.state);
    let mut known: Vec<String> = Vec::new();
    for cell in &relevant {
        let value = failure.state.value(Variable::Cell(*cell));
        let shown = value.map_or("anything".to_string(), |value| show(&value));
        known.push(format!("`{}` may be {shown}", cells.name(code.facts, *cell)));
    }
    for (frame, local, value) in failure.state.registers() {
        let name = &program.functions[code.func_of(frame)].locals[local].name;
        if !name.is_empty() && frame == code.frame_of(failure.node) {
            known.push(format!("`{name}` may be {}", show(&value)));
        }
    }
    if !known.is_empty() {
        reason += &format!(": there {}", known.join(", "));
    }
    let mut spoilers: BTreeSet<String> = BTreeSet::new();
    for (stop, state) in found.invariants.iter_enumerated() {
        let has_partner = found.pairs.with(stop).next().is_some();
        if !has_partner {
            continue;
        }
        let segment = coarsening.machine().run(stop, state);
        for cell in segment.published.iter().filter(|cell| relevant.contains(cell)) {
            spoilers.insert(format!("`{}` at {}", cells.name(code.facts, *cell), place(code, code.stops()[stop])));
        }
    }
    if !spoilers.is_empty() {
        let list: Vec<String> = spoilers.into_iter().take(5).collect();
        reason += &format!("; other threads change {}", list.join(", "));
    }
    let advice = "look for a violation with leno check, or protect what the assertion reads by a lock";
    (reason, advice.to_string())
}

/// The invariants as text: for each place at which a thread may be interrupted, and each function that threads start in, what
/// holds there. Places that differ only in the calls that lead there are put together.
pub fn invariants(code: &Code<'_, '_>, cells: &Cells, invariants: &IndexVec<StopId, States<'_>>) -> String {
    let program = code.program();
    let mut lines: BTreeMap<(Place, String), BTreeSet<String>> = BTreeMap::new();
    for (stop, states) in invariants.iter_enumerated() {
        let node = code.stops()[stop];
        let root = &code.facts.threads().roots()[code.root_of(node)];
        let thread = program.functions[root.function].name.clone();
        let ways: Vec<String> = states.iter().map(|state| known(code, cells, node, state)).collect();
        let text = match ways.is_empty() {
            true => "never reached".to_string(),
            false => ways.join("; or "),
        };
        lines.entry((code.place(node), thread)).or_default().insert(text);
    }
    let mut all = String::new();
    for ((place, thread), texts) in lines {
        for text in texts {
            all += &format!("{} in `{thread}`: {text}\n", at(program, place));
        }
    }
    all
}

/// One state.
fn known(code: &Code<'_, '_>, cells: &Cells, node: NodeId, state: &State<'_>) -> String {
    let program = code.program();
    let mut known: Vec<String> = Vec::new();
    for (cell, value) in state.cells().filter(|(cell, _)| cells.is_shared(*cell)) {
        let own = if state.is_dirty(cell) { " (not seen by others yet)" } else { "" };
        known.push(format!("{} = {}{own}", cells.name(code.facts, cell), show(&value)));
    }
    let register = |frame, local| {
        let name = &program.functions[code.func_of(frame)].locals[local].name;
        (!name.is_empty() && frame == code.frame_of(node)).then(|| name.clone())
    };
    for (frame, local, value) in state.registers() {
        known.extend(register(frame, local).map(|name| format!("{name} = {}", show(&value))));
    }
    let side = |side: Side<Variable>| {
        let name = match side.variable {
            Variable::Register(frame, local) => register(frame, local)?,
            Variable::Cell(cell) | Variable::Seen(cell) | Variable::Theirs(cell) => cells.name(code.facts, cell),
        };
        Some((name, side.is_negated))
    };
    for constraint in state.relations().flat_map(Octagon::constraints) {
        let (Some(left), Some(right)) = (side(constraint.left), side(constraint.right)) else { continue };
        let sign = |is_negated: bool| if is_negated { "-" } else { "" };
        let middle = if right.1 { "-" } else { "+" };
        known.push(format!("{}{} {middle} {} <= {}", sign(left.1), left.0, right.0, constraint.most));
    }
    match known.is_empty() {
        true => "anything".to_string(),
        false => known.join(", "),
    }
}

/// The shared cells that something in a state was computed from.
fn relevant(state: &State<'_>) -> BTreeSet<CellId> {
    let mut all = BTreeSet::new();
    for (_, definition) in state.definitions() {
        if let Definition::Same(Variable::Cell(cell)) = definition {
            all.insert(cell);
        }
    }
    all
}

fn show(value: &Value) -> String {
    if let Some(bits) = value.numbers.as_constant(value.width) {
        return leno_domains::word::signed(value.width, bits).to_string();
    }
    match value.numbers.hull(value.width).signed_bounds(value.width) {
        Some((low, high)) => format!("{low} to {high}"),
        None => "nothing".to_string(),
    }
}

fn place(code: &Code<'_, '_>, node: NodeId) -> String {
    at(code.program(), code.place(node))
}

/// Where a place is in the source.
pub fn at(program: &Program, place: Place) -> String {
    let function = &program.functions[place.func];
    let span = match &function.body {
        Body::Blocks(blocks) => blocks.get(place.block).map_or(Span::NONE, |block| {
            block.instrs.get(place.index as usize).map_or(block.terminator.span, |instr| instr.span)
        }),
        Body::External(_) => Span::NONE,
    };
    match program.files.get(span.file).filter(|_| span.line > 0) {
        Some(file) => format!("{file}:{}", span.line),
        None => format!("`{}`", function.name),
    }
}
