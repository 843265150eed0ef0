//! How often may an instruction be executed in one execution of the program: never, at most once, or more often?
//!
//! What happens at most once has one instance: an object that one such `allocate` makes, a slot of a function that is
//! called once, a thread that is created there. Facts about *the* object or *the* thread need this.
//!
//! Counted from the entry down the graph of calls and thread creations: a function runs as often as the instructions
//! that call or start it are executed, all together; an instruction in a cycle of its function, and a function in a
//! cycle of calls, more than once. Two calls in the two branches of an `if` count as two, which is safe.
//!
//! In a program without an entry every function may be called any number of times.

use crate::analysis::callgraph::CallGraph;
use crate::analysis::cfg::Cfg;
use crate::graph::Rows;
use crate::index::Idx;
use crate::program::{FuncId, Place, Program};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Times {
    Never,
    Once,
    Many,
}

impl Times {
    pub fn plus(self, other: Times) -> Times {
        match (self, other) {
            (Times::Never, times) | (times, Times::Never) => times,
            _ => Times::Many,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Executions {
    runs: Vec<Times>,
    /// For each function that runs, the blocks that control may come back to.
    repeated: Vec<Vec<bool>>,
}

impl Executions {
    pub fn new(program: &Program, calls: &CallGraph) -> Executions {
        let count = program.functions.len();
        let cycles = |function| Cfg::of(function).map(|cfg| cfg.repeated()).unwrap_or_default();
        let repeated: Vec<Vec<bool>> = program.functions.iter().map(cycles).collect();
        let Some(entry) = program.entry else { return Executions { runs: vec![Times::Many; count], repeated } };
        let mut result = Executions { runs: vec![Times::Never; count], repeated };
        result.runs[entry.index()] = Times::Once;
        let pairs: Vec<(FuncId, FuncId)> = calls.edges().iter().map(|edge| (edge.place.func, edge.callee)).collect();
        let rows = Rows::new(count, &pairs);
        // Callers come before callees this way round.
        for component in rows.components().iter().rev() {
            let is_cycle = component.len() > 1 || rows[component[0]].contains(&component[0]);
            let is_run = component.iter().any(|id| result.runs[id.index()] != Times::Never);
            if is_cycle && is_run {
                component.iter().for_each(|id| result.runs[id.index()] = Times::Many);
            }
            for edge in component.iter().flat_map(|caller| calls.edges_from(*caller)) {
                let times = result.of(edge.place);
                let runs = &mut result.runs[edge.callee.index()];
                // Within a cycle all is said.
                if component.binary_search(&edge.callee).is_err() {
                    *runs = runs.plus(times);
                }
            }
        }
        result
    }

    /// How often a function may be called or started.
    pub fn of_function(&self, function: FuncId) -> Times {
        self.runs[function.index()]
    }

    pub fn of(&self, place: Place) -> Times {
        let runs = self.runs[place.func.index()];
        let is_repeated = self.repeated[place.func.index()].get(place.block.index()).copied().unwrap_or(true);
        if runs == Times::Once && is_repeated { Times::Many } else { runs }
    }
}
