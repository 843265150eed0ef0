//! Who calls whom, and who starts whom as a thread.
//!
//! Calls through pointers go to what points-to analysis says the pointer may be. A pointer that may come from
//! outside the program is listed apart ([`CallGraph::unknown`]): what it calls is nothing of ours, or something
//! that has been given away, which then is among the edges.

use crate::analysis::points_to::{PointsTo, for_each_op};
use crate::graph::{Components, Rows};
use crate::index::Idx;
use crate::program::{Callee, FuncId, Op, Place, Program};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum CallKind {
    Call,
    /// The callee runs in a new thread.
    Spawn,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct CallEdge {
    pub place: Place,
    pub callee: FuncId,
    pub kind: CallKind,
}

#[derive(Clone, Debug)]
pub struct CallGraph {
    /// By place, then callee.
    edges: Vec<CallEdge>,
    /// Calls of pointers that may come from outside, by place.
    unknown: Vec<(Place, CallKind)>,
    calls: Rows<FuncId>,
    reachable: Vec<bool>,
    thread_entries: Vec<FuncId>,
    components: Components<FuncId>,
    recursive: Vec<bool>,
}

impl CallGraph {
    pub fn new(program: &Program, points_to: &PointsTo) -> CallGraph {
        let mut edges = Vec::new();
        let mut unknown = Vec::new();
        for (id, function) in program.functions.iter_enumerated() {
            for_each_op(id, function, |place, op| {
                let (pointer, kind) = match op {
                    Op::Call { callee: Callee::Direct(callee), .. } => {
                        return edges.push(CallEdge { place, callee: *callee, kind: CallKind::Call });
                    }
                    Op::Call { callee: Callee::Indirect(pointer), .. } => (pointer, CallKind::Call),
                    Op::Spawn { func, .. } => (func, CallKind::Spawn),
                    _ => return,
                };
                let (callees, may_be_unknown) = points_to.functions(id, pointer);
                edges.extend(callees.into_iter().map(|callee| CallEdge { place, callee, kind }));
                if may_be_unknown {
                    unknown.push((place, kind));
                }
            });
        }
        CallGraph::from_edges(program, edges, unknown)
    }

    fn from_edges(program: &Program, edges: Vec<CallEdge>, unknown: Vec<(Place, CallKind)>) -> CallGraph {
        let count = program.functions.len();
        let pairs = |kind: Option<CallKind>| {
            let wanted = edges.iter().filter(|edge| kind.is_none_or(|kind| edge.kind == kind));
            let mut pairs: Vec<(FuncId, FuncId)> = wanted.map(|edge| (edge.place.func, edge.callee)).collect();
            pairs.sort_unstable();
            pairs.dedup();
            pairs
        };
        let calls = Rows::new(count, &pairs(Some(CallKind::Call)));
        let everything = Rows::new(count, &pairs(None));
        let roots: Vec<FuncId> = match program.entry {
            Some(entry) => vec![entry],
            None => program.functions.ids().collect(),
        };
        let reachable = everything.reachable(roots);
        let is_live_spawn = |edge: &&CallEdge| edge.kind == CallKind::Spawn && reachable[edge.place.func.index()];
        let mut thread_entries: Vec<FuncId> = edges.iter().filter(is_live_spawn).map(|edge| edge.callee).collect();
        thread_entries.sort_unstable();
        thread_entries.dedup();
        let components = calls.components();
        let mut recursive = vec![false; count];
        for component in components.iter() {
            let calls_itself = component.len() > 1 || calls[component[0]].contains(&component[0]);
            component.iter().for_each(|id| recursive[id.index()] = calls_itself);
        }
        CallGraph { edges, unknown, calls, reachable, thread_entries, components, recursive }
    }

    /// All calls and spawns, by place.
    pub fn edges(&self) -> &[CallEdge] {
        &self.edges
    }

    /// The calls and spawns in one function.
    pub fn edges_from(&self, function: FuncId) -> &[CallEdge] {
        let start = self.edges.partition_point(|edge| edge.place.func < function);
        let end = self.edges.partition_point(|edge| edge.place.func <= function);
        &self.edges[start..end]
    }

    /// What one instruction may call or spawn.
    pub fn callees(&self, place: Place) -> &[CallEdge] {
        let start = self.edges.partition_point(|edge| edge.place < place);
        let end = self.edges.partition_point(|edge| edge.place <= place);
        &self.edges[start..end]
    }

    /// The calls and spawns of pointers that may come from outside the program.
    pub fn unknown(&self) -> &[(Place, CallKind)] {
        &self.unknown
    }

    /// Whether an instruction calls or starts a pointer that may come from outside the program.
    pub fn is_unknown(&self, place: Place) -> bool {
        self.unknown.binary_search_by_key(&place, |(at, _)| *at).is_ok()
    }

    /// Who is called by whom within one thread, each once.
    pub fn calls(&self) -> &Rows<FuncId> {
        &self.calls
    }

    /// Whether the entry, or a thread that it starts, may run this function. In a library all may run.
    pub fn is_reachable(&self, function: FuncId) -> bool {
        self.reachable[function.index()]
    }

    /// The functions that threads start in, other than the entry; ascending.
    pub fn thread_entries(&self) -> &[FuncId] {
        &self.thread_entries
    }

    /// Sets of functions that call each other, callees before callers.
    pub fn components(&self) -> &Components<FuncId> {
        &self.components
    }

    /// Whether a function may be active twice in one thread.
    pub fn is_recursive(&self, function: FuncId) -> bool {
        self.recursive[function.index()]
    }
}
