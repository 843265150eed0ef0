//! The data flow graph (paper 002, section 3 and Figure 2): which definition of a memory location may reach which use.
//!
//! A command that writes a cell of memory defines it. So does a condition on a value that was loaded in the same step (an
//! `assume`, a branch): behind it less is known to be possible. Sequential edges are reaching definitions along the code
//! of a thread, where a definition hides earlier ones. Interference edges come from definitions of other threads: what a
//! thread lets others see at one stop reaches every stop at which another thread may be meanwhile, as the coreachable pairs
//! have it, and goes on from there. A condition is a definition for other threads, too: in a section it hides the write
//! before it, and without it the others would not see that write at all.

use crate::cells::{CellId, Cells};
use crate::coarsen::Coarsened;
use crate::code::{Code, NodeId, StopId};
use crate::explain;
use crate::machine::Machine;
use leno_ir::analysis::threads::RootId;
use leno_ir::index::IndexVec;
use leno_ir::program::{Body, Expr, LocalId, Op, Span, TerminatorKind, TextId};
use leno_ir::visit::AccessKind;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What a command is to people: what a thread of a root does at a place of the source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Command {
    /// The initial value of memory.
    Initial,
    At(RootId, (u32, u32, u32), TextId, u32),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Edge {
    from: Command,
    to: Command,
    cell: CellId,
    is_interference: bool,
}

/// A definition that may reach a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Definition {
    cell: CellId,
    /// None: the initial value.
    at: Option<NodeId>,
    /// Whether it comes from another thread.
    is_interference: bool,
}

/// The cells that a node may define.
#[derive(Debug)]
struct Defined {
    cells: Vec<CellId>,
    /// Whether it defines all of them for certain, so that earlier definitions are hidden.
    is_certain: bool,
}

pub struct DataFlow<'g, 'a, 'p> {
    code: &'a Code<'a, 'p>,
    cells: &'a Cells,
    machine: &'g Machine<'a, 'p>,
    found: &'g Coarsened<'p>,
    defines: BTreeMap<NodeId, Defined>,
    uses: BTreeMap<NodeId, Vec<CellId>>,
    edges: BTreeSet<Edge>,
}

impl<'g, 'a, 'p> DataFlow<'g, 'a, 'p> {
    pub fn new(machine: &'g Machine<'a, 'p>, found: &'g Coarsened<'p>) -> DataFlow<'g, 'a, 'p> {
        let (defines, uses) = (BTreeMap::new(), BTreeMap::new());
        let (code, cells) = (machine.code, machine.cells);
        let mut graph = DataFlow { code, cells, machine, found, defines, uses, edges: BTreeSet::new() };
        let nodes = graph.reached_nodes();
        nodes.iter().for_each(|(node, _)| graph.add_accesses(*node));
        nodes.iter().for_each(|(node, _)| graph.add_conditions(*node));
        graph.find_edges(&nodes);
        graph
    }

    /// The nodes that some thread may execute, with the stops of whose segments they are a part.
    fn reached_nodes(&self) -> BTreeMap<NodeId, BTreeSet<StopId>> {
        let mut all: BTreeMap<NodeId, BTreeSet<StopId>> = BTreeMap::new();
        for (stop, _) in self.found.invariants.iter_enumerated().filter(|(_, states)| !states.is_never()) {
            let mut work = vec![self.code.stops()[stop]];
            while let Some(node) = work.pop() {
                if all.entry(node).or_default().insert(stop) {
                    let next = self.code.successors(node).into_iter();
                    work.extend(next.filter(|next| self.code.stop(*next).is_none()));
                }
            }
        }
        all
    }

    fn add_accesses(&mut self, node: NodeId) {
        let Some(op) = self.code.instruction(node) else { return };
        let (facts, frame) = (self.code.facts, self.code.frame_of(node));
        if let Some((access, kind)) = op.access()
            && let Some(cells) = self.machine.candidates(frame, access)
        {
            if kind != AccessKind::Write {
                self.uses.insert(node, cells.clone());
            }
            if kind != AccessKind::Read {
                let is_certain = cells.len() == 1 && !matches!(op, Op::CompareExchange { .. });
                self.defines.insert(node, Defined { cells, is_certain });
            }
            return;
        }
        // It may access any cell of what it may point to.
        let accessed = facts.points_to().may_access(facts.program(), self.code.func_of(frame), op);
        let cells_of = |object| self.cells.of_object(object).map(|(cell, _)| cell);
        let written: Vec<CellId> = accessed.written.iter().flat_map(cells_of).collect();
        let read: Vec<CellId> =
            accessed.all().iter().flat_map(cells_of).filter(|cell| !written.contains(cell)).collect();
        if !read.is_empty() {
            self.uses.insert(node, read);
        }
        if !written.is_empty() {
            self.defines.insert(node, Defined { cells: written, is_certain: false });
        }
    }

    /// Conditions on what a load has read, up to where the thread may be interrupted.
    fn add_conditions(&mut self, load: NodeId) {
        let Some(Op::Load { dst, .. }) = self.code.instruction(load) else { return };
        let Some(cells) = self.uses.get(&load).filter(|cells| cells.len() == 1).cloned() else { return };
        let frame = self.code.frame_of(load);
        let mut known: BTreeMap<NodeId, BTreeSet<LocalId>> = BTreeMap::new();
        let mut work: Vec<(NodeId, BTreeSet<LocalId>)> =
            self.code.successors(load).into_iter().map(|next| (next, BTreeSet::from([*dst]))).collect();
        while let Some((node, mut from)) = work.pop() {
            let is_interrupted = self.code.stop(node).is_some() && !self.code.is_exclusive(node);
            if is_interrupted || self.code.frame_of(node) != frame {
                continue;
            }
            let before = known.entry(node).or_default();
            let size = before.len();
            before.extend(from.iter().copied());
            if size > 0 && size == before.len() {
                continue;
            }
            let condition = match (self.code.instruction(node), self.code.terminator(node)) {
                (Some(Op::Assume { cond }), _) => Some(cond),
                (Some(Op::Assign { dst, value }), _) => {
                    if mentions(value, &from) {
                        from.insert(*dst)
                    } else {
                        from.remove(dst)
                    };
                    None
                }
                (Some(_), _) => None,
                (None, Some(TerminatorKind::Branch { cond, .. })) => Some(cond),
                (None, Some(TerminatorKind::Switch { value, .. })) => Some(value),
                _ => None,
            };
            if condition.is_some_and(|condition| mentions(condition, &from)) {
                let none = Defined { cells: Vec::new(), is_certain: true };
                let defined = self.defines.entry(node).or_insert(none);
                if !defined.cells.contains(&cells[0]) {
                    defined.cells.push(cells[0]);
                }
            }
            work.extend(self.code.successors(node).into_iter().map(|next| (next, from.clone())));
        }
    }

    fn find_edges(&mut self, nodes: &BTreeMap<NodeId, BTreeSet<StopId>>) {
        let mut arriving: BTreeMap<NodeId, BTreeSet<Definition>> = BTreeMap::new();
        let mut work: BTreeSet<NodeId> = BTreeSet::new();
        for root in self.code.roots() {
            if self.code.facts.threads().roots()[root].created_at.is_none() {
                let initial = |(cell, _)| Definition { cell, at: None, is_interference: false };
                let initial = self.cells.iter().map(initial).collect();
                arriving.insert(self.code.entry(root), initial);
                work.insert(self.code.entry(root));
            }
        }
        while let Some(node) = work.pop_first() {
            let before = arriving.get(&node).cloned().unwrap_or_default();
            for cell in self.uses.get(&node).cloned().unwrap_or_default() {
                self.add_use(node, cell, &before);
            }
            let after = self.after(node, before);
            let mut add = |target: NodeId, more: &mut dyn Iterator<Item = Definition>| {
                if !nodes.contains_key(&target) {
                    return;
                }
                let is_new = !arriving.contains_key(&target);
                let there = arriving.entry(target).or_default();
                let size = there.len();
                there.extend(more);
                if is_new || there.len() > size {
                    work.insert(target);
                }
            };
            for next in self.code.successors(node) {
                add(next, &mut after.iter().copied());
                let published: Vec<Definition> = self.published(node, next, &after).collect();
                if published.is_empty() {
                    continue;
                }
                for stop in nodes.get(&node).into_iter().flatten() {
                    for other in self.found.pairs.with(*stop) {
                        add(self.code.stops()[other], &mut published.iter().copied());
                    }
                }
            }
            if let Some(Op::Spawn { .. }) = self.code.instruction(node) {
                for (root, thread) in self.code.facts.threads().roots().iter_enumerated() {
                    if thread.created_at == Some(self.code.place(node)) {
                        add(self.code.entry(root), &mut after.iter().copied());
                    }
                }
            }
        }
    }

    /// A definition hides earlier ones if it is known to be of this cell.
    fn after(&self, node: NodeId, mut definitions: BTreeSet<Definition>) -> BTreeSet<Definition> {
        let Some(defined) = self.defines.get(&node) else { return definitions };
        if defined.is_certain {
            definitions.retain(|definition| !defined.cells.contains(&definition.cell));
        }
        let new = |cell: &CellId| Definition { cell: *cell, at: Some(node), is_interference: false };
        definitions.extend(defined.cells.iter().map(new));
        definitions
    }

    /// What others may see from now on, when a thread goes from a node to the next one.
    fn published<'s>(
        &'s self,
        node: NodeId,
        next: NodeId,
        after: &'s BTreeSet<Definition>,
    ) -> impl Iterator<Item = Definition> + 's {
        let is_seen = move |definition: &Definition| {
            let cell = definition.cell;
            let was_hidden = definition.at == Some(node) || self.machine.is_hidden(node, cell);
            self.cells.is_shared(cell) && was_hidden && !self.machine.is_hidden(next, cell)
        };
        let own = after.iter().filter(|definition| definition.at.is_some() && !definition.is_interference);
        own.filter(move |definition| is_seen(definition)).map(|own| Definition { is_interference: true, ..*own })
    }

    fn add_use(&mut self, node: NodeId, cell: CellId, definitions: &BTreeSet<Definition>) {
        let to = self.command(node);
        for definition in definitions.iter().filter(|definition| definition.cell == cell) {
            let from = definition.at.map_or(Command::Initial, |at| self.command(at));
            self.edges.insert(Edge { from, to, cell, is_interference: definition.is_interference });
        }
    }

    fn span(&self, node: NodeId) -> Span {
        let place = self.code.place(node);
        let Body::Blocks(blocks) = &self.code.program().functions[place.func].body else { return Span::NONE };
        let block = &blocks[place.block];
        block.instrs.get(place.index as usize).map_or(block.terminator.span, |instr| instr.span)
    }

    fn command(&self, node: NodeId) -> Command {
        let span = self.span(node);
        // (What has no place in the source is told apart by itself.)
        let number = if span.line == 0 { node.0 } else { 0 };
        Command::At(self.code.root_of(node), (span.file.0, span.line, span.column), span.text, number)
    }

    /// All commands with a part in it, in the order of the source, with a name each.
    fn commands(&self) -> BTreeMap<Command, (NodeId, String)> {
        let mut nodes: BTreeMap<Command, NodeId> = BTreeMap::new();
        for node in self.defines.keys().chain(self.uses.keys()) {
            nodes.entry(self.command(*node)).or_insert(*node);
        }
        let ends: BTreeSet<Command> = self.edges.iter().flat_map(|edge| [edge.from, edge.to]).collect();
        let kept = nodes.into_iter().filter(|(command, _)| ends.contains(command));
        kept.enumerate().map(|(number, (command, node))| (command, (node, format!("n{}", number + 1)))).collect()
    }

    fn describe(&self, node: NodeId) -> String {
        let text = &self.code.program().texts[self.span(node).text];
        format!("{} {text}", explain::at(self.code.program(), self.code.place(node))).trim_end().to_string()
    }

    fn thread(&self, node: NodeId) -> &'p str {
        let root = &self.code.facts.threads().roots()[self.code.root_of(node)];
        &self.code.program().functions[root.function].name
    }

    fn names(&self, cells: impl Iterator<Item = CellId>) -> String {
        let names: BTreeSet<String> = cells.map(|cell| self.cells.name(self.code.facts, cell)).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    }

    /// The edges, with all cells of those between the same commands.
    fn labelled(&self) -> BTreeMap<(Command, Command, bool), Vec<CellId>> {
        let mut all: BTreeMap<(Command, Command, bool), Vec<CellId>> = BTreeMap::new();
        for edge in &self.edges {
            all.entry((edge.from, edge.to, edge.is_interference)).or_default().push(edge.cell);
        }
        all
    }

    /// A line for each command, then one for each edge: `->` in a thread, `~>` between threads.
    pub fn text(&self) -> String {
        let commands = self.commands();
        let name = |command: &Command| commands.get(command).map_or("initial", |(_, name)| name);
        let mut out = String::new();
        for (command, (node, name)) in &commands {
            let is_same = |node: &NodeId| self.command(*node) == *command;
            let used = self.uses.iter().filter(|(node, _)| is_same(node)).flat_map(|(_, cells)| cells);
            let defined = self.defines.iter().filter(|(node, _)| is_same(node)).flat_map(|(_, defined)| &defined.cells);
            let (uses, defines) = (self.names(used.copied()), self.names(defined.copied()));
            let _ = write!(out, "{name}: `{}` {}", self.thread(*node), self.describe(*node));
            for (word, cells) in [("uses", uses), ("defines", defines)].iter().filter(|(_, cells)| !cells.is_empty()) {
                let _ = write!(out, "; {word} {cells}");
            }
            out.push('\n');
        }
        for ((from, to, is_interference), cells) in self.labelled() {
            let arrow = if is_interference { "~>" } else { "->" };
            let _ = writeln!(out, "{} {arrow} {}: {}", name(&from), name(&to), self.names(cells.into_iter()));
        }
        out
    }

    /// For Graphviz: a box for each function that threads start in; interference is dashed.
    pub fn dot(&self) -> String {
        let commands = self.commands();
        let name = |command: &Command| commands.get(command).map_or("initial", |(_, name)| name);
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut threads: IndexVec<RootId, Vec<String>> = self.code.roots().map(|_| Vec::new()).collect();
        for (node, name) in commands.values() {
            threads[self.code.root_of(*node)].push(format!("{name} [label=\"{}\"];", quoted(&self.describe(*node))));
        }
        let mut out = "digraph dataflow {\n  node [shape=box];\n  initial [shape=ellipse];\n".to_string();
        for (root, lines) in threads.iter_enumerated().filter(|(_, lines)| !lines.is_empty()) {
            let function = &self.code.program().functions[self.code.facts.threads().roots()[root].function].name;
            let _ = writeln!(out, "  subgraph cluster_{} {{\n    label=\"{}\";", root.0, quoted(function));
            lines.iter().for_each(|line| _ = writeln!(out, "    {line}"));
            out.push_str("  }\n");
        }
        for ((from, to, is_interference), cells) in self.labelled() {
            let label = quoted(&self.names(cells.into_iter()));
            let style = if is_interference { ", style=dashed, color=red" } else { "" };
            let _ = writeln!(out, "  {} -> {} [label=\"{label}\"{style}];", name(&from), name(&to));
        }
        out.push_str("}\n");
        out
    }
}

fn mentions(expr: &Expr, locals: &BTreeSet<LocalId>) -> bool {
    let mut found = false;
    expr.for_each_local(|local| found |= locals.contains(&local));
    found
}
