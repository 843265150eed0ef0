//! The staged engine: threads are summarised one by one, then composed (Sinha, Wang, FSE 2010).
//!
//! | file | step |
//! |---|---|
//! | `nesting` | the order in which blocks are executed: loops within loops |
//! | `objects` | every allocation, activation and thread has instances of its own |
//! | `summarize`, `evaluate`, `access`, `private`, `sync`, `liveness` | bounded symbolic execution of a thread into events |
//! | `skeleton` | the events: location, value, condition, order |
//! | `compose` | the axioms of sequential consistency over them, in the solver |
//! | `witness` | a model, followed by the interpreter |
//!
//! Deepening: loops start with small bounds. If no violation is found, the solver is asked whether some loop can still go on; the
//! bounds of exactly those that can are raised. When none can, the absence of violations is proved.

mod access;
mod compose;
mod deadlock;
mod evaluate;
mod liveness;
mod nesting;
mod objects;
mod private;
mod skeleton;
mod summarize;
mod sync;
mod trail;
mod witness;

pub use skeleton::{Bounded, Skeleton};
pub use summarize::Bounds;

use compose::compose;
use leno_explore::Properties;
use leno_ir::program::Program;
use leno_ir::witness::Witness;
use leno_logic::core::Answer;
use leno_logic::limits::{Limits, Stop};
use leno_logic::solver::Solver;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use summarize::{Summarizer, has_condition_variables};

/// What the engine says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Staged {
    Safe,
    Unsafe(Box<Witness>),
    Unknown(String),
}

/// What it took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    pub rounds: u32,
    pub threads: usize,
    pub events: usize,
    pub links: usize,
    pub conflicts: u64,
    /// Violations that were looked for.
    pub suspects: usize,
}

/// How to unroll.
#[derive(Clone, Debug, Default)]
pub struct Unwinding {
    /// The same bound for every loop, instead of deepening.
    pub fixed: Option<u32>,
}

/// Checks a program. `interrupted` is asked all the time; true means: stop.
pub fn check(
    program: &Program,
    properties: Properties,
    unwinding: &Unwinding,
    limits: &Limits,
    interrupted: &dyn Fn() -> bool,
) -> (Staged, Stats) {
    let cancel = Arc::new(AtomicBool::new(false));
    let (deadline, memory) = (limits.deadline, limits.memory);
    let flag = cancel.clone();
    let work = move || {
        let mut limits = Limits::default();
        (limits.deadline, limits.memory, limits.cancel) = (deadline, memory, Some(flag));
        check_all(program, properties, unwinding, &limits)
    };
    // The summary of a call within a call is a call within a call: that needs a stack.
    std::thread::scope(|scope| {
        let Ok(worker) = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work) else {
            return (Staged::Unknown("there is no room for the engine's stack".to_string()), Stats::default());
        };
        while !worker.is_finished() {
            cancel.fetch_or(interrupted(), Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(2));
        }
        worker.join().unwrap_or_else(|_| (Staged::Unknown("the engine failed".to_string()), Stats::default()))
    })
}

/// The question whether something goes wrong with every loop unrolled up to `bound` times, as SMT-LIB 2 with integer clocks.
pub fn query(program: &Program, properties: Properties, bound: u32) -> Result<String, String> {
    let bounds = Bounds { default: bound, particular: BTreeMap::new() };
    let never = || false;
    let mut summary = Summarizer::new(program, properties, &bounds, &never);
    summary.run().map_err(|refused| refused.reason)?;
    let composition = compose(&mut summary, Solver::default().recording());
    let query = composition.solver.query().ok_or("nothing was recorded")?;
    Ok(query.script(&summary.terms, &[composition.violated]).question())
}

const STACK: usize = 1 << 30;

/// Waits on condition variables may end without a signal, except where deadlocks are concerned: a lost signal would never be one. So
/// these are two questions.
fn check_all(program: &Program, properties: Properties, unwinding: &Unwinding, limits: &Limits) -> (Staged, Stats) {
    let others = Properties { deadlock: false, ..properties };
    if !properties.deadlock || others == Properties::NONE || !has_condition_variables(program) {
        return deepen(program, properties, unwinding, limits);
    }
    let (first, stats) = deepen(program, others, unwinding, limits);
    if matches!(first, Staged::Unsafe(_)) {
        return (first, stats);
    }
    let deadlock = Properties { deadlock: true, ..Properties::NONE };
    let (second, more) = deepen(program, deadlock, unwinding, limits);
    let stats = Stats { rounds: stats.rounds + more.rounds, conflicts: stats.conflicts + more.conflicts, ..more };
    match (first, second) {
        (Staged::Safe, second) => (second, stats),
        (_, Staged::Unsafe(witness)) => (Staged::Unsafe(witness), stats),
        (first, _) => (first, stats),
    }
}

fn deepen(program: &Program, properties: Properties, unwinding: &Unwinding, limits: &Limits) -> (Staged, Stats) {
    let mut bounds = Bounds { default: unwinding.fixed.unwrap_or(2), particular: BTreeMap::new() };
    let mut stats = Stats::default();
    let mut completed = None;
    loop {
        stats.rounds += 1;
        let (outcome, cut) = round(program, properties, &bounds, limits, &mut stats);
        let Some(cut) = cut else { return (with_bound(outcome, completed), stats) };
        completed = Some(bounds.default.max(bounds.particular.values().copied().min().unwrap_or(0)));
        if unwinding.fixed.is_some() {
            let reason = format!("no violation with loops unrolled {} times; some loop can go on", bounds.default);
            return (Staged::Unknown(reason), stats);
        }
        for what in cut {
            let bound = bounds.of(what);
            bounds.particular.insert(what, bound * 2);
        }
    }
}

fn with_bound(outcome: Staged, completed: Option<u32>) -> Staged {
    match (outcome, completed) {
        (Staged::Unknown(reason), Some(bound)) => {
            Staged::Unknown(format!("{reason}; no violation with loops unrolled {bound} times"))
        }
        (outcome, _) => outcome,
    }
}

/// One round: an outcome, and what has to be unrolled further if there is none yet.
fn round(
    program: &Program,
    properties: Properties,
    bounds: &Bounds,
    limits: &Limits,
    stats: &mut Stats,
) -> (Staged, Option<Vec<Bounded>>) {
    let interrupted = || limits.stop().is_some();
    let mut summary = Summarizer::new(program, properties, bounds, &interrupted);
    if let Err(refused) = summary.run() {
        let reason = limits.stop().map_or(refused.reason, describe);
        return (Staged::Unknown(reason), None);
    }
    let mut composition = compose(&mut summary, Solver::default());
    if !composition.is_complete {
        let reason = limits.stop().map_or("interrupted".to_string(), describe);
        return (Staged::Unknown(reason), None);
    }
    stats.threads = summary.skeleton.threads.len();
    stats.events = summary.skeleton.events.len();
    stats.links = composition.links;
    stats.suspects = composition.suspects.len();
    let answer = composition.solver.solve(&[composition.violated], limits);
    stats.conflicts += composition.solver.statistics().conflicts;
    match answer {
        Answer::Satisfiable => match witness::witness(&summary, &mut composition) {
            Ok(witness) => return (Staged::Unsafe(Box::new(witness)), None),
            Err(reason) => {
                let reason = format!("a violation was found that the interpreter does not confirm: {reason}");
                return (Staged::Unknown(reason), None);
            }
        },
        Answer::Unknown(stop) => return (Staged::Unknown(describe(stop)), None),
        Answer::Unsatisfiable => {}
    }
    let mut reachable = Vec::new();
    loop {
        match composition.solver.solve(&[composition.cut], limits) {
            Answer::Unsatisfiable => break,
            Answer::Unknown(stop) => return (Staged::Unknown(describe(stop)), None),
            Answer::Satisfiable => {
                let solver = &mut composition.solver;
                let here: Vec<usize> =
                    (0..composition.cuts.len()).filter(|&i| solver.value(composition.cuts[i])).collect();
                for index in here {
                    let what = summary.skeleton.cuts[index].what;
                    reachable.push(what);
                    for (other, cut) in summary.skeleton.cuts.iter().enumerate() {
                        if cut.what == what {
                            composition.solver.add_clause(&[!composition.cuts[other]]);
                        }
                    }
                }
            }
        }
    }
    if !reachable.is_empty() {
        reachable.sort_unstable();
        reachable.dedup();
        return (Staged::Unknown("loops go on".to_string()), Some(reachable));
    }
    match summary.skeleton.gaps.first() {
        Some(gap) => (Staged::Unknown(format!("no violation was found, but {gap}")), None),
        None => (Staged::Safe, None),
    }
}

fn describe(stop: Stop) -> String {
    match stop {
        Stop::Time => "the time limit was reached".to_string(),
        Stop::Memory => "the memory limit was reached".to_string(),
        Stop::Cancelled => "interrupted".to_string(),
        Stop::Solver => "the solver gave up".to_string(),
    }
}
