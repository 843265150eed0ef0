//! A view for people: as text, and as a graph (DOT).

use super::machine::{Machine, STRUCTURE};
use super::value::{CellId, Currency, Place, Tag, Value};
use super::view::{Owner, RESULT_SLOTS, View};
use std::fmt::Write;

fn object_name(machine: &Machine, object: u32) -> String {
    match object {
        STRUCTURE => "structure".to_string(),
        _ => machine.program.objects.iter().nth(object as usize).map_or("?".to_string(), |found| found.name.clone()),
    }
}

fn at(name: &str, offset: i64) -> String {
    if offset == 0 { name.to_string() } else { format!("{name}+{offset}") }
}

fn show(machine: &Machine, value: &Value) -> String {
    match value {
        Value::Undefined => "anything".to_string(),
        Value::Address => "some node".to_string(),
        Value::Number(0) => "null".to_string(),
        Value::Number(number) => number.to_string(),
        Value::Static(object, offset) => at(&format!("&{}", object_name(machine, *object)), *offset),
        Value::Cell(cell, offset) => at(&format!("n{cell}"), *offset),
        Value::Slot(slot, _) if *slot >= RESULT_SLOTS => "the caller's variable".to_string(),
        Value::Slot(slot, offset) => at(&format!("&local{slot}"), *offset),
        Value::Data(Tag::A) => "a".to_string(),
        Value::Data(Tag::B) => "b".to_string(),
        Value::Data(Tag::Other) => "data".to_string(),
        Value::Version { of, currency, plus } => {
            let of = match of {
                Place::Static(object, _) => object_name(machine, *object),
                Place::Cell(cell, _) => format!("n{cell}"),
            };
            let now = match currency {
                Currency::Current => "current",
                Currency::Stale => "old",
                Currency::Unknown => "unknown",
            };
            format!("version of {of} ({now}, +{plus})")
        }
        Value::Pair(halves) => format!("({}, {})", show(machine, &halves[0]), show(machine, &halves[1])),
        Value::Segment(last) => format!("nodes... -> {}", show(machine, last)),
    }
}

fn owner(owner: Owner) -> &'static str {
    match owner {
        Owner::Shared => "shared",
        Owner::Mine => "own",
        Owner::Theirs => "other",
        Owner::Free => "free or of others",
    }
}

/// All words of a view that are not of cells: their names and values.
fn words(machine: &Machine, view: &View) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for ((object, offset), value) in &view.shared.statics {
        all.push((at(&object_name(machine, *object), *offset), value.clone()));
    }
    let code = view.thread.operation.map(|operation| &machine.methods[usize::from(operation)].code);
    for (register, value) in &view.thread.registers {
        let name = code.map_or("", |code| code.registers[*register as usize].name.as_str());
        let name = if name.is_empty() { format!("%{register}") } else { name.to_string() };
        all.push((name, value.clone()));
    }
    for ((slot, offset), value) in &view.thread.slots {
        let name = if *slot >= RESULT_SLOTS { "result".to_string() } else { format!("local{slot}") };
        all.push((at(&name, *offset), value.clone()));
    }
    all
}

pub fn text(machine: &Machine, view: &View) -> String {
    let mut text = String::new();
    let standing = view.thread.operation.map(|operation| {
        let code = &machine.methods[usize::from(operation)].code;
        format!("a thread in `{}`, line {}", code.function, code.steps[view.thread.at as usize].span.line)
    });
    let observed = machine.observer.state_name(view.shared.observer);
    let _ =
        writeln!(text, "{}; the observer is in `{observed}`", standing.unwrap_or("a thread between calls".to_string()));
    for (name, value) in words(machine, view) {
        let _ = writeln!(text, "  {name} = {}", show(machine, &value));
    }
    for (number, cell) in view.shared.cells.iter().enumerate() {
        let fields: Vec<String> =
            cell.fields.iter().map(|(offset, value)| format!("+{offset}: {}", show(machine, value))).collect();
        let _ = writeln!(text, "  n{number} ({}): {}", owner(cell.owner), fields.join(", "));
    }
    text
}

pub fn dot(machine: &Machine, view: &View) -> String {
    let mut text = String::from("digraph view {\n  rankdir=LR;\n  node [shape=box];\n  null [shape=plaintext];\n");
    for (number, cell) in view.shared.cells.iter().enumerate() {
        let data = cell.fields.iter().find(|(_, value)| matches!(value, Value::Data(_)));
        let data = data.map(|(_, value)| show(machine, value)).unwrap_or_default();
        let _ = writeln!(text, "  n{number} [label=\"n{number} {data}\\n{}\"];", owner(cell.owner));
        for (_, value) in &cell.fields {
            edge(&mut text, &format!("n{number}"), value, "");
        }
    }
    for (number, (name, value)) in words(machine, view).iter().enumerate() {
        let _ = writeln!(text, "  w{number} [label=\"{name}\", shape=plaintext];");
        edge(&mut text, &format!("w{number}"), value, "");
    }
    text.push_str("}\n");
    text
}

fn edge(text: &mut String, from: &str, value: &Value, style: &str) {
    let mut draw = |to: &str| _ = writeln!(text, "  {from} -> {to}{style};");
    match value {
        Value::Number(0) => draw("null"),
        Value::Cell(cell, _) => draw(&cell_name(*cell)),
        Value::Segment(last) => edge(text, from, last, " [style=dashed, label=\"1 or more\"]"),
        Value::Pair(halves) => edge(text, from, &halves[0], style),
        _ => {}
    }
}

fn cell_name(cell: CellId) -> String {
    format!("n{cell}")
}
