//! Thread models for people: as text, and for Graphviz.

use crate::efsm::{Control, Efsm};
use leno_ir::analysis::callgraph::CallKind;
use leno_ir::program::{FuncId, Op, Place, SyncOp, TerminatorKind};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// How a picture of thread models is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Picture {
    Text,
    Dot,
}

/// What a control state does, and where it goes.
#[derive(Default)]
struct Shown {
    /// The registers that it assigns.
    updates: BTreeSet<String>,
    /// With what is known of the guard: the source text of the last condition.
    transitions: BTreeSet<(Place, String)>,
}

impl Efsm<'_> {
    /// The models of all threads.
    pub fn show(&self, picture: Picture) -> String {
        let mut text = String::new();
        for root in self.roots() {
            let model = self.model(root);
            match picture {
                Picture::Text => self.write_text(&mut text, root, &model),
                Picture::Dot => self.write_dot(&mut text, root, &model),
            }
        }
        text
    }

    /// The control states that a thread which starts in a function can reach.
    fn model(&self, root: FuncId) -> BTreeMap<Place, Shown> {
        let mut model = BTreeMap::new();
        let mut work = vec![Place { func: root, block: leno_ir::program::BlockId(0), index: 0 }];
        while let Some(place) = work.pop() {
            if model.contains_key(&place) {
                continue;
            }
            let shown = self.transitions(place);
            work.extend(shown.transitions.iter().map(|(to, _)| *to));
            model.insert(place, shown);
        }
        model
    }

    /// What follows a control state, up to the next ones.
    fn transitions(&self, from: Place) -> Shown {
        let mut shown = Shown::default();
        let mut work: Vec<(Place, String)> = Vec::new();
        let mut seen = BTreeSet::new();
        self.step(from, String::new(), &mut shown, &mut work);
        while let Some((place, guard)) = work.pop() {
            if self.control(place).is_some() {
                shown.transitions.insert((place, guard));
            } else if seen.insert((place, guard.clone())) {
                self.step(place, guard, &mut shown, &mut work);
            }
        }
        shown
    }

    fn step(&self, place: Place, guard: String, shown: &mut Shown, work: &mut Vec<(Place, String)>) {
        let function = &self.program().functions[place.func];
        let Some(block) = self.block(place) else { return };
        if let Some(instr) = self.instr(place) {
            instr.op.for_each_result(|local| {
                let name = &function.locals[local].name;
                shown.updates.insert(if name.is_empty() { local.to_string() } else { name.clone() });
            });
            if self.is_call_of_body(place, &instr.op) {
                let callees = self.facts.calls().callees(place).iter();
                let entry = |func| Place { func, block: leno_ir::program::BlockId(0), index: 0 };
                work.extend(callees.map(|edge| (entry(edge.callee), guard.clone())));
            } else {
                work.push((Place { index: place.index + 1, ..place }, guard));
            }
            return;
        }
        match &block.terminator.kind {
            TerminatorKind::Return(_) => {
                let calls = self.facts.calls().edges().iter();
                let back = calls.filter(|edge| edge.kind == CallKind::Call && edge.callee == place.func);
                let back = back.filter(|edge| self.facts.points_to().is_reached(edge.place.func));
                work.extend(back.enumerate().map(|(number, edge)| {
                    (Place { index: edge.place.index + 1, ..edge.place }, format!("call site {number}"))
                }));
            }
            kind => {
                let is_branch = matches!(kind, TerminatorKind::Branch { .. } | TerminatorKind::Switch { .. });
                let text = self.text(place);
                let mut number = 0;
                kind.for_each_target(|target| {
                    let target = Place { func: place.func, block: target, index: 0 };
                    let not = if number == 0 { "" } else { "not " };
                    number += 1;
                    work.push((target, if is_branch { format!("{not}{text}") } else { guard.clone() }));
                });
            }
        }
    }

    fn text(&self, place: Place) -> String {
        let span = self.span(place);
        let text = self.program().texts.get(span.text).map_or("", String::as_str);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// What a control state is, in a few words.
    fn title(&self, place: Place) -> String {
        let line = self.span(place).line;
        let what = match self.instr(place).map(|instr| &instr.op) {
            Some(Op::Sync { op: SyncOp::Lock(_), .. }) => "lock".to_string(),
            Some(Op::Sync { op: SyncOp::Unlock(_), .. }) => "unlock".to_string(),
            _ if self.control(place) == Some(Control::Visible) => self.text(place),
            _ if place.block.0 == 0 && place.index == 0 => "begin".to_string(),
            _ if place.index == 0 => "loop".to_string(),
            _ => "after call".to_string(),
        };
        format!("{} line {line}: {what}", self.program().functions[place.func].name)
    }

    fn write_text(&self, text: &mut String, root: FuncId, model: &BTreeMap<Place, Shown>) {
        let numbers: BTreeMap<Place, usize> =
            model.keys().enumerate().map(|(number, place)| (*place, number)).collect();
        let kinds = |wanted| model.keys().filter(|place| self.control(**place) == Some(wanted)).count();
        // (Writing to a string does not fail.)
        let _ = writeln!(
            text,
            "thread {}: {} control states, {} of them visible",
            self.program().functions[root].name,
            model.len(),
            kinds(Control::Visible)
        );
        for (place, shown) in model {
            let is_visible = self.control(*place) == Some(Control::Visible);
            let kind = if is_visible { "visible" } else { "private" };
            let _ = writeln!(text, "  {:>3} {kind} {}", numbers[place], self.title(*place));
            if !shown.updates.is_empty() {
                let updates: Vec<&str> = shown.updates.iter().map(String::as_str).collect();
                let _ = writeln!(text, "        sets {}", updates.join(", "));
            }
            for (to, guard) in &shown.transitions {
                let guard = if guard.is_empty() { String::new() } else { format!("  [{guard}]") };
                let _ = writeln!(text, "        -> {}{guard}", numbers[to]);
            }
        }
    }

    fn write_dot(&self, text: &mut String, root: FuncId, model: &BTreeMap<Place, Shown>) {
        let numbers: BTreeMap<Place, usize> =
            model.keys().enumerate().map(|(number, place)| (*place, number)).collect();
        let _ = writeln!(text, "digraph \"{}\" {{", self.program().functions[root].name);
        for (place, shown) in model {
            let shape = if self.control(*place) == Some(Control::Visible) { "box" } else { "ellipse" };
            let label = escaped(&self.title(*place));
            let _ = writeln!(text, "  n{} [shape={shape}, label=\"{label}\"];", numbers[place]);
            for (to, guard) in &shown.transitions {
                let _ = writeln!(text, "  n{} -> n{} [label=\"{}\"];", numbers[place], numbers[to], escaped(guard));
            }
        }
        text.push_str("}\n");
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
