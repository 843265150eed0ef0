//! The skeleton as text: the accesses of each thread to shared memory, their conditions and their order.
//!
//! As text: thread by thread, node by node in program order, an atomic section in braces. `r7` is what the seventh read
//! returns. As a picture (Graphviz): a frame for each thread, dashed edges from starts to threads and from threads to
//! joins.

use crate::bounded::BoundedProgram;
use crate::skeleton::formula::Formulas;
use crate::skeleton::{Event, NodeId, Skeleton, Unit};
use leno_ir::analysis::points_to::AbstractObject;
use leno_ir::index::IndexVec;
use leno_ir::program::Span;
use leno_logic::term::Term;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Picture {
    Text,
    Dot,
}

pub fn show(bounded: &BoundedProgram<'_>, picture: Picture) -> String {
    let constant = |width: u32, value: u128| address(bounded, width, value);
    let formulas = Formulas::new(&bounded.terms, &roots(&bounded.skeleton), read_names(bounded), &constant);
    let printer = Printer { bounded, skeleton: &bounded.skeleton, formulas };
    match picture {
        Picture::Text => printer.text(),
        Picture::Dot => printer.dot(),
    }
}

/// What is printed.
fn roots(skeleton: &Skeleton) -> Vec<Term> {
    let mut roots = Vec::new();
    for event in &skeleton.events {
        roots.push(event.occurs);
        for unit in event.reads.iter().chain(&event.writes) {
            roots.extend([unit.condition, unit.address, unit.value]);
        }
    }
    roots.extend(skeleton.violations.iter().map(|violation| violation.condition));
    roots.extend(skeleton.cuts.iter().map(|cut| cut.condition));
    roots.extend(skeleton.joins.iter().flat_map(|join| [join.handle, join.path]));
    roots.extend(skeleton.frees.iter().flat_map(|free| [free.address, free.path]));
    roots.extend(
        skeleton.threads.iter().flat_map(|thread| [thread.finished].into_iter().chain(thread.spawned.map(|s| s.1))),
    );
    roots
}

fn read_names(bounded: &BoundedProgram<'_>) -> FxHashMap<Term, String> {
    let mut names = FxHashMap::default();
    for unit in bounded.skeleton.events.iter().flat_map(|event| &event.reads) {
        let number = names.len() + 1;
        names.entry(unit.value).or_insert_with(|| format!("r{number}"));
    }
    names
}

/// The object that a constant is an address in.
fn address(bounded: &BoundedProgram<'_>, width: u32, value: u128) -> Option<String> {
    let model = bounded.facts.program.model;
    if width != u32::from(model.pointer_bits()) {
        return None;
    }
    let id = bounded.layout.at(value as u64)?;
    let instance = bounded.layout.get(id);
    let mut name = match bounded.facts.points_to.objects()[instance.object] {
        AbstractObject::Unknown => "outside".to_string(),
        AbstractObject::Static(object) => bounded.facts.program.objects[object].name.clone(),
        AbstractObject::Function(func) => bounded.facts.program.functions[func].name.clone(),
        AbstractObject::Slot(func, slot) => {
            let function = &bounded.facts.program.functions[func];
            format!("{}.{}", function.name, function.slots[slot].name)
        }
        AbstractObject::Site(place) => format!("{}.heap", bounded.facts.program.functions[place.func].name),
    };
    let all = bounded.layout.of(instance.object);
    if all.len() > 1 {
        let number = all.iter().position(|other| *other == id).unwrap_or(0) + 1;
        let _ = write!(name, "#{number}");
    }
    let offset = (value as u64).wrapping_sub(instance.base);
    Some(if offset == 0 { format!("&{name}") } else { format!("&{name}+{offset}") })
}

struct Printer<'a, 'p> {
    bounded: &'a BoundedProgram<'p>,
    skeleton: &'a Skeleton,
    formulas: Formulas<'a>,
}

impl Printer<'_, '_> {
    fn place(&self, span: Span) -> String {
        match self.bounded.facts.program.files.get(span.file) {
            Some(file) if span.line > 0 => format!("{file}:{}", span.line),
            _ => "-".to_string(),
        }
    }

    fn unit(&self, what: &str, unit: &Unit) -> String {
        let address = self.formulas.write(unit.address);
        let location = match address.strip_prefix('&') {
            Some(name) if !name.contains(' ') => name.to_string(),
            _ => format!("*({address})"),
        };
        let value = self.formulas.write(unit.value);
        let mut text = match what {
            "read" => format!("{value} := {location}"),
            _ => format!("{location} := {value}"),
        };
        if self.bounded.terms.as_bool(unit.condition) != Some(true) {
            let _ = write!(text, " when {}", self.formulas.write(unit.condition));
        }
        format!("{text} ({what}, {} bytes)", unit.bytes)
    }

    /// The lines of an event.
    fn event(&self, event: &Event) -> Vec<String> {
        let reads = event.reads.iter().map(|unit| self.unit("read", unit));
        let writes = event.writes.iter().map(|unit| self.unit("write", unit));
        let mut lines: Vec<String> = reads.chain(writes).collect();
        if let (Some(first), false) = (lines.first_mut(), self.is_always(event.occurs)) {
            let _ = write!(first, "  if {}", self.formulas.write(event.occurs));
        }
        lines.iter_mut().for_each(|line| line.insert_str(0, &format!("{}  ", self.place(event.span))));
        lines
    }

    fn is_always(&self, condition: Term) -> bool {
        self.bounded.terms.as_bool(condition) == Some(true)
    }

    /// By node: the steps there that are no events.
    fn other_steps(&self) -> BTreeMap<NodeId, Vec<String>> {
        let mut steps: BTreeMap<NodeId, Vec<String>> = BTreeMap::new();
        let condition = |term: Term| match self.is_always(term) {
            true => String::new(),
            false => format!("  if {}", self.formulas.write(term)),
        };
        for thread in &self.skeleton.threads {
            steps.entry(thread.first).or_default().push("begins".to_string());
            if let Some((node, path)) = thread.spawned {
                steps.entry(node).or_default().push(format!("starts {}{}", thread.name, condition(path)));
            }
            steps.entry(thread.last).or_default().push(format!("ends{}", condition(thread.finished)));
        }
        for join in &self.skeleton.joins {
            let what = if join.is_detach { "detaches" } else { "joins" };
            let whom = self.skeleton.threads.iter().find(|thread| thread.handle == join.handle);
            let whom = whom.map_or_else(|| self.formulas.write(join.handle), |thread| thread.name.clone());
            steps.entry(join.node).or_default().push(format!("{what} {whom}{}", condition(join.path)));
        }
        for free in &self.skeleton.frees {
            let address = self.formulas.write(free.address);
            steps.entry(free.node).or_default().push(format!("frees {address}{}", condition(free.path)));
        }
        for (path, node) in &self.skeleton.exits {
            steps.entry(*node).or_default().push(format!("ends the process{}", condition(*path)));
        }
        steps
    }

    /// By node: all steps there, and whether there are several events.
    fn nodes(&self) -> IndexVec<NodeId, (Vec<String>, bool)> {
        let mut steps = self.other_steps();
        let mut nodes: IndexVec<NodeId, (Vec<String>, bool)> = IndexVec::new();
        for id in self.skeleton.nodes.ids() {
            nodes.push((steps.remove(&id).unwrap_or_default(), false));
        }
        let mut counts: IndexVec<NodeId, u32> = nodes.ids().map(|_| 0).collect();
        for event in &self.skeleton.events {
            let at = event.node;
            nodes[at].0.extend(self.event(event));
            counts[at] += 1;
            nodes[at].1 = counts[at] > 1;
        }
        nodes
    }

    /// Possible violations, and loops that were cut.
    fn questions(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for violation in &self.skeleton.violations {
            let place = self.place(violation.span);
            let condition = self.formulas.write(violation.condition);
            lines.push(format!("{place}  {} after {} if {condition}", violation.kind.title(), violation.after));
        }
        for cut in &self.skeleton.cuts {
            let name = crate::bound::loops::name(self.bounded.facts.program, cut.what);
            lines.push(format!("{name}  goes on after {} if {}", cut.after, self.formulas.write(cut.condition)));
        }
        lines
    }

    fn text(&self) -> String {
        let mut out = String::new();
        let nodes = self.nodes();
        for (index, thread) in self.skeleton.threads.iter_enumerated() {
            let _ = writeln!(out, "thread {}", thread.name);
            for (node, (lines, is_block)) in nodes.iter_enumerated() {
                if self.skeleton.nodes[node] != index || lines.is_empty() {
                    continue;
                }
                let (mut before, end) =
                    if *is_block { (format!("{node} {{"), "\n    }") } else { (format!("{node}"), "") };
                for line in lines {
                    let _ = write!(out, "  {before:6}{}{line}", if *is_block { "\n      " } else { "  " });
                    if !*is_block {
                        out.push('\n');
                    }
                    before = String::new();
                }
                if *is_block {
                    let _ = writeln!(out, "{end}");
                }
            }
        }
        self.section(&mut out, "questions", &self.questions());
        self.section(&mut out, "where", &self.formulas.definitions());
        self.section(&mut out, "not exact", &self.skeleton.gaps);
        out
    }

    fn section(&self, out: &mut String, title: &str, lines: &[String]) {
        if !lines.is_empty() {
            let _ = writeln!(out, "{title}");
            lines.iter().for_each(|line| _ = writeln!(out, "  {line}"));
        }
    }

    fn dot(&self) -> String {
        let mut out = "digraph skeleton {\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n".to_string();
        let nodes = self.nodes();
        for (index, thread) in self.skeleton.threads.iter_enumerated() {
            let _ = writeln!(out, "  subgraph cluster_{} {{\n    label=\"{}\";", index.0, escape(&thread.name));
            let mut last: Option<NodeId> = None;
            for (node, (lines, is_block)) in nodes.iter_enumerated() {
                if self.skeleton.nodes[node] != index || lines.is_empty() {
                    continue;
                }
                let label: String = lines.iter().map(|line| escape(line) + "\\l").collect();
                let style = if *is_block { ", style=bold" } else { "" };
                let _ = writeln!(out, "    {node} [label=\"{node}\\l{label}\"{style}];");
                if let Some(last) = last.replace(node) {
                    let _ = writeln!(out, "    {last} -> {node};");
                }
            }
            out.push_str("  }\n");
        }
        for thread in &self.skeleton.threads {
            if let Some((node, _)) = thread.spawned {
                let _ = writeln!(out, "  {} -> {} [style=dashed];", node, thread.first);
            }
            for join in self.skeleton.joins.iter().filter(|join| !join.is_detach && join.handle == thread.handle) {
                let _ = writeln!(out, "  {} -> {} [style=dashed];", thread.last, join.node);
            }
        }
        let notes: Vec<String> = self.questions().into_iter().chain(self.formulas.definitions()).collect();
        if !notes.is_empty() {
            let label: String = notes.iter().map(|line| escape(line) + "\\l").collect();
            let _ = writeln!(out, "  notes [shape=note, label=\"{label}\"];");
        }
        out.push_str("}\n");
        out
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
