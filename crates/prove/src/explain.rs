//! Why an assertion was not proved: what the invariants cannot exclude there, and which stores of other threads spoil it.

use crate::cells::{CellId, Cells};
use crate::coarsen::{Coarsened, Coarsening};
pub use crate::code::at;
use crate::code::{Call, Code, NodeId, StopId};
use crate::machine::{Failure, Machine};
use crate::state::{Definition, State, Value, Variable};
use crate::states::States;
use leno_domains::{Numbers, Octagon, Side};
use leno_ir::index::IndexVec;
use leno_ir::program::{Body, Op, Place, Program};
use leno_ir::visit::AccessKind;
use std::collections::{BTreeMap, BTreeSet};

/// Why an assertion was not proved.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Which assertion.
    pub reason: String,
    /// A line each: what is possible there as far as the invariants know, and who has made it possible.
    pub details: Vec<String>,
    /// What to try.
    pub advice: String,
}

/// So many stores of other threads are named.
const MOST_SPOILERS: usize = 5;

pub fn failure<'p>(
    code: &Code<'_, 'p>,
    cells: &Cells,
    coarsening: &Coarsening<'_, 'p>,
    found: &Coarsened<'p>,
    failure: &Failure<'p>,
) -> Explanation {
    let program = code.program();
    let what = match code.instruction(failure.node) {
        Some(Op::Assert { message, .. }) if !program.texts[*message].is_empty() => {
            format!(" ({})", program.texts[*message])
        }
        _ => String::new(),
    };
    let reason = format!("the assertion at {}{what} was not proved", place(code, failure.node));
    let relevant = relevant(&failure.state);
    let mut details =
        vec![format!("there, the invariants cannot exclude: {}", possible(code, cells, failure, &relevant))];
    let spoilers = spoilers(code, coarsening.machine(), found, failure, &relevant);
    for (thread, place, text, names) in spoilers.iter().take(MOST_SPOILERS) {
        let text = if text.is_empty() { String::new() } else { format!(" (`{text}`)") };
        details.push(format!("{names} may be changed meanwhile by another thread, of `{thread}`, at {place}{text}"));
    }
    if spoilers.len() > MOST_SPOILERS {
        details.push(format!("and at {} more places", spoilers.len() - MOST_SPOILERS));
    }
    let names: BTreeSet<&str> = spoilers.iter().map(|(.., names)| names.as_str()).collect();
    let advice = match names.into_iter().collect::<Vec<_>>().as_slice() {
        [] => alone(code, failure.node),
        names => format!(
            "look for a violation with leno check; if there is none, let one lock, or atomic sections, protect every \
             access to {}",
            names.join(" and ")
        ),
    };
    Explanation { reason, details, advice }
}

/// What to try where no store of another thread meanwhile is to blame: what there is on the way that invariants may know too little of.
fn alone(code: &Code<'_, '_>, node: NodeId) -> String {
    let way = way_to(code, node);
    // (Edges lead to what comes later in the order, unless they close a loop.)
    let closes = |from: NodeId| {
        let is_back = |to: &NodeId| way.contains(to) && code.order(*to) <= code.order(from);
        code.successors(from).iter().any(is_back)
    };
    let is_input = |node: NodeId| match code.instruction(node) {
        Some(Op::Nondet { .. }) => true,
        Some(Op::Call { .. }) => code.calls(node).iter().any(|call| matches!(call, Call::Outside)),
        _ => false,
    };
    // What it has from others: they may have stored it earlier.
    let is_from_others = |node: NodeId| match code.instruction(node) {
        Some(Op::Join { .. }) => true,
        Some(op) => {
            let is_read = op.access().is_some_and(|(_, kind)| kind != AccessKind::Write);
            is_read && code.facts.sharing().is_shared_access(code.place(node))
        }
        None => false,
    };
    let look = "look for a violation with leno check";
    if way.iter().any(|node| is_from_others(*node)) {
        return format!(
            "{look}; invariants are about one thread at a time, and may not relate what several have left in memory"
        );
    }
    let has_loop = way.iter().any(|node| closes(*node));
    let has_input = way.iter().any(|node| is_input(*node));
    let remedy = match (has_loop, has_input) {
        (true, true) => ", so a stronger condition of a loop or a bound on an input may help",
        (true, false) => ", so a stronger condition of a loop may help",
        (false, true) => ", so a bound on an input may help",
        (false, false) => ": the invariants do not know enough of what this thread computes",
    };
    format!("{look}; no other thread is to blame{remedy}")
}

/// The nodes from which a thread may get to a node.
fn way_to(code: &Code<'_, '_>, node: NodeId) -> BTreeSet<NodeId> {
    let mut before: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    let (mut seen, mut work) = (BTreeSet::new(), vec![code.entry(code.root_of(node))]);
    while let Some(from) = work.pop() {
        if seen.insert(from) {
            for to in code.successors(from) {
                before.entry(to).or_default().push(from);
                work.push(to);
            }
        }
    }
    let (mut way, mut work) = (BTreeSet::new(), vec![node]);
    while let Some(node) = work.pop() {
        if way.insert(node) {
            work.extend(before.get(&node).into_iter().flatten());
        }
    }
    way
}

/// What the assertion reads, as far as it is known.
fn possible(code: &Code<'_, '_>, cells: &Cells, failure: &Failure<'_>, relevant: &BTreeSet<CellId>) -> String {
    let program = code.program();
    let mut known: Vec<String> = Vec::new();
    let mut add = |text: String| {
        if !known.contains(&text) {
            known.push(text);
        }
    };
    for cell in relevant {
        let value = failure.state.value(Variable::Cell(*cell));
        let shown = value.map_or("anything".to_string(), |value| show(&value));
        add(format!("`{}` is {shown}", cells.name(code.facts, *cell)));
    }
    for (frame, local, value) in failure.state.registers() {
        let name = &program.functions[code.func_of(frame)].locals[local].name;
        if !name.is_empty() && frame == code.frame_of(failure.node) {
            add(format!("`{name}` is {}", show(&value)));
        }
    }
    for (cell, value) in failure.state.cells().filter(|(cell, _)| cells.is_shared(*cell)) {
        add(format!("`{}` is {}", cells.name(code.facts, cell), show(&value)));
    }
    if known.is_empty() { "anything".to_string() } else { known.join(", ") }
}

/// Who changes these cells while a thread of the same kind is somewhere: thread, place, text, and which cells.
type Spoiler = (String, String, String, String);

fn spoilers<'p>(
    code: &Code<'_, 'p>,
    machine: &Machine<'_, 'p>,
    found: &Coarsened<'p>,
    failure: &Failure<'p>,
    relevant: &BTreeSet<CellId>,
) -> Vec<Spoiler> {
    let root = code.root_of(failure.node);
    let mut writes: BTreeMap<NodeId, BTreeSet<CellId>> = BTreeMap::new();
    for (stop, states) in found.invariants.iter_enumerated().filter(|(_, states)| !states.is_never()) {
        let is_beside = |other: StopId| code.root_of(code.stops()[other]) == root;
        if !found.pairs.with(stop).any(is_beside) {
            continue;
        }
        let published = machine.run(stop, states).published;
        for node in segment(code, stop) {
            let written = written(code, machine, node).filter(|cell| relevant.contains(cell));
            // A lock may hide it for a while; in a section only what is left at its end counts.
            let is_first = node == code.stops()[stop];
            let written: BTreeSet<CellId> = written.filter(|cell| is_first || published.contains(cell)).collect();
            if !written.is_empty() {
                writes.entry(node).or_default().extend(written);
            }
        }
    }
    let describe = |(node, written): (NodeId, BTreeSet<CellId>)| {
        let thread = &code.program().functions[code.facts.threads().roots()[code.root_of(node)].function].name;
        let names = written.iter().map(|cell| format!("`{}`", machine.cells.name(code.facts, *cell)));
        let names = names.collect::<Vec<_>>().join(" and ");
        (thread.clone(), place(code, node), text(code.program(), code.place(node)), names)
    };
    let all: BTreeSet<Spoiler> = writes.into_iter().map(describe).collect();
    all.into_iter().collect()
}

/// The nodes from a stop to the next ones.
fn segment(code: &Code<'_, '_>, stop: StopId) -> BTreeSet<NodeId> {
    let mut all = BTreeSet::new();
    let mut work = vec![code.stops()[stop]];
    while let Some(node) = work.pop() {
        if all.insert(node) {
            work.extend(code.successors(node).into_iter().filter(|next| code.stop(*next).is_none()));
        }
    }
    all
}

fn written<'m>(code: &Code<'_, '_>, machine: &'m Machine<'_, '_>, node: NodeId) -> impl Iterator<Item = CellId> + 'm {
    let (frame, op) = (code.frame_of(node), code.instruction(node));
    let access = op.and_then(Op::access).filter(|(_, kind)| *kind != AccessKind::Read).map(|(access, _)| access);
    let cells = match access {
        None => Vec::new(),
        Some(access) => machine.candidates(frame, access).unwrap_or_else(|| {
            let objects = code.facts.points_to().points_to(code.func_of(frame), &access.ptr);
            objects.iter().flat_map(|object| machine.cells.of_object(object)).map(|(cell, _)| cell).collect()
        }),
    };
    cells.into_iter()
}

/// What the source says at a place.
fn text(program: &Program, place: Place) -> String {
    match &program.functions[place.func].body {
        Body::Blocks(blocks) => match blocks[place.block].instrs.get(place.index as usize) {
            Some(instr) => program.texts[instr.span.text].clone(),
            None => String::new(),
        },
        Body::External(_) => String::new(),
    }
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
