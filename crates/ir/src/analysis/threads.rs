//! Abstract threads: the main thread, and one for each instruction that creates threads and each function that these
//! may start in.
//!
//! A [`ThreadRoot`] stands for all threads that one instruction starts in one function. It is *replicated* if there may
//! be more than one of them in an execution: the instruction may be executed more than once (see
//! [`executions`](super::executions)). Every thread of an execution belongs to exactly one root, because the graph of
//! calls has every function that a thread may start in.
//!
//! In a program without an entry (a library) every function is a root of its own, which any number of threads run.

use crate::analysis::callgraph::{CallGraph, CallKind};
use crate::analysis::executions::{Executions, Times};
use crate::graph::Rows;
use crate::id_set::IdSet;
use crate::index::{Idx, IndexVec};
use crate::index_type;
use crate::program::{FuncId, Place, Program};

index_type!(
    /// An abstract thread.
    RootId,
    "thread"
);

pub type RootSet = IdSet<RootId>;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadRoot {
    /// The instruction that creates it; none for the main thread and for the functions of a library.
    pub created_at: Option<Place>,
    /// Where it starts.
    pub function: FuncId,
    /// Whether there may be more than one in an execution.
    pub is_replicated: bool,
}

#[derive(Clone, Debug)]
pub struct ThreadRoots {
    roots: IndexVec<RootId, ThreadRoot>,
    /// By root: the functions that it may run.
    code: Vec<Vec<bool>>,
    /// By function: the roots that may run it.
    running: Vec<Vec<RootId>>,
    children: Rows<RootId>,
    /// By root: all that it may create, directly or not; itself if it may create its own kind.
    descendants: Vec<RootSet>,
    /// By root P: the roots that exist only if a thread of P has existed before, P not included.
    dominated: Vec<RootSet>,
}

impl ThreadRoots {
    pub fn new(program: &Program, calls: &CallGraph, executions: &Executions) -> ThreadRoots {
        let mut roots: IndexVec<RootId, ThreadRoot> = match program.entry {
            Some(function) => vec![ThreadRoot { created_at: None, function, is_replicated: false }].into(),
            None => {
                let of = |function| ThreadRoot { created_at: None, function, is_replicated: true };
                program.functions.ids().map(of).collect()
            }
        };
        let first_created = roots.len();
        for edge in
            calls.edges().iter().filter(|edge| edge.kind == CallKind::Spawn && calls.is_reachable(edge.place.func))
        {
            let is_replicated = executions.of(edge.place) == Times::Many;
            roots.push(ThreadRoot { created_at: Some(edge.place), function: edge.callee, is_replicated });
        }
        let code: Vec<Vec<bool>> = roots.iter().map(|root| calls.calls().reachable([root.function])).collect();
        let mut running = vec![Vec::new(); program.functions.len()];
        let mut edges = Vec::new();
        for (id, code) in (0..).map(RootId).zip(&code) {
            (0..code.len()).filter(|function| code[*function]).for_each(|function| running[function].push(id));
            for (child, root) in roots.iter_enumerated().skip(first_created) {
                if root.created_at.is_some_and(|place| code[place.func.index()]) {
                    edges.push((id, child));
                }
            }
        }
        let children = Rows::new(roots.len(), &edges);
        let starts: Vec<RootId> = (0..first_created).map(RootId::new).collect();
        let descendants = roots.ids().map(|root| set(children.reachable(children[root].iter().copied()))).collect();
        let dominated = roots.ids().map(|root| dominated(&children, &starts, root)).collect();
        ThreadRoots { roots, code, running, children, descendants, dominated }
    }

    /// All roots; the main thread is the first.
    pub fn roots(&self) -> &IndexVec<RootId, ThreadRoot> {
        &self.roots
    }

    /// The roots that may run a function.
    pub fn running(&self, function: FuncId) -> &[RootId] {
        &self.running[function.index()]
    }

    pub fn may_run(&self, root: RootId, function: FuncId) -> bool {
        self.code[root.index()][function.index()]
    }

    /// The roots that a thread may create itself.
    pub fn children(&self, root: RootId) -> &[RootId] {
        &self.children[root]
    }

    pub fn descendants(&self, root: RootId) -> &RootSet {
        &self.descendants[root.index()]
    }

    /// The root of the threads that one instruction starts in one function.
    pub fn created(&self, place: Place, function: FuncId) -> Option<RootId> {
        let is_it = |root: &ThreadRoot| root.created_at == Some(place) && root.function == function;
        self.roots.iter_enumerated().find(|(_, root)| is_it(root)).map(|(id, _)| id)
    }

    /// All roots of the threads that one instruction creates.
    pub fn created_at(&self, place: Place) -> impl Iterator<Item = RootId> + '_ {
        self.roots.iter_enumerated().filter(move |(_, root)| root.created_at == Some(place)).map(|(id, _)| id)
    }

    /// Whether every thread of `below` has a thread of `above` among those that created it, directly or not.
    pub fn always_creates(&self, above: RootId, below: RootId) -> bool {
        self.dominated[above.index()].contains(below)
    }
}

fn set(flags: Vec<bool>) -> RootSet {
    (0..flags.len()).filter(|index| flags[*index]).map(RootId::new).collect()
}

/// What cannot be reached from the starts but through `root`.
fn dominated(children: &Rows<RootId>, starts: &[RootId], root: RootId) -> RootSet {
    let mut reached = vec![false; children.len()];
    let mut work: Vec<RootId> = starts.to_vec();
    while let Some(at) = work.pop() {
        if at != root && !std::mem::replace(&mut reached[at.index()], true) {
            work.extend(&children[at]);
        }
    }
    (0..children.len()).map(RootId::new).filter(|at| !reached[at.index()] && *at != root).collect()
}
