//! The staged engine: threads are summarised one by one, then composed (Sinha, Wang, FSE 2010).
//!
//! | file | step |
//! |---|---|
//! | `nesting` | the order in which blocks are executed: loops within loops |
//! | `objects` | every allocation, activation and thread has instances of its own |
//! | `summarize`, `unroll`, `state`, `calls`, `threads`, `evaluate`, `access`, `private`, `sync`, `words` | bounded symbolic execution of a thread into events |
//! | `seams` | atomic sections that have to wait in the middle |
//! | `outside` | what comes in: arguments, input, the time |
//! | `floats` | floating point, of which the solver is told what it needs |
//! | `function`, `instantiate` | functions that are summarised once, for all their calls |
//! | `liveness`, `trail`, `features` | what matters of a state, what a thread has done, what a program makes use of |
//! | `skeleton` | the events: location, value, condition, order |
//! | `pieces` | accesses of different sizes, cut up |
//! | `prune`, `happens`, `sections`, `ranges`, `propagate`, `implication`, `control` | which write may be seen by which read, and what may race |
//! | `exclusive` | critical sections that do not overlap |
//! | `values` | bits of what is read that are always the same |
//! | `counters` | places to which everybody only adds |
//! | `compose`, `deadlock`, `leaks` | the axioms of sequential consistency over them, in the solver |
//! | `witness` | a model, followed by the interpreter |
//! | `deepen` | rounds of all this with larger and larger bounds |
//! | `reported` | what has been found before |
//! | `loops` | the names of what has a bound |
//! | `cssa` | the same without summaries, for comparison |
//! | `show`, `formula` | the skeleton, printed |

mod access;
mod calls;
mod compose;
mod control;
mod counters;
mod cssa;
mod deadlock;
mod deepen;
mod evaluate;
mod exclusive;
mod features;
mod floats;
mod formula;
mod function;
mod happens;
mod implication;
mod instantiate;
mod leaks;
mod liveness;
mod loops;
mod nesting;
mod objects;
mod outside;
mod pieces;
mod private;
mod propagate;
mod prune;
mod ranges;
mod reported;
mod seams;
mod sections;
mod show;
mod skeleton;
mod state;
mod summarize;
mod sync;
mod threads;
mod trail;
mod unroll;
mod values;
mod witness;
mod words;

pub use cssa::Mode;
pub use deepen::{Completed, Progress, Unknown};
pub use function::Calls;
pub use reported::Reported;
pub use show::Picture;
pub use skeleton::{Bounded, Skeleton};
pub use summarize::Bounds;

use compose::compose;
use leno_explore::Properties;
use leno_ir::program::Program;
use leno_ir::witness::Witness;
use leno_logic::limits::Limits;
use leno_logic::solver::Solver;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use summarize::Summarizer;

/// What to look for, and how.
#[derive(Clone, Debug)]
pub struct Task {
    pub properties: Properties,
    pub unwinding: Unwinding,
    /// Only schedules with at most so many switches between threads.
    pub context_bound: Option<usize>,
    /// Whether to leave out links and races that can be seen to be impossible. Without it, everything is composed with everything.
    pub prune: bool,
    pub mode: Mode,
    /// What becomes of calls.
    pub calls: Calls,
    /// What is known already, and not looked for.
    pub reported: BTreeSet<Reported>,
    /// Where it says how far it has come.
    pub progress: Progress,
}

impl Task {
    pub fn new(properties: Properties) -> Task {
        Task {
            properties,
            unwinding: Unwinding::default(),
            context_bound: None,
            prune: true,
            mode: Mode::default(),
            calls: Calls::default(),
            reported: BTreeSet::new(),
            progress: Progress::default(),
        }
    }
}

/// How far to unroll. What has no bound here starts with a small one, which is raised as long as that is needed.
#[derive(Clone, Debug, Default)]
pub struct Unwinding {
    /// The bound of every loop that is not named.
    pub fixed: Option<u32>,
    /// Loops by name (`file:line` or `function:line` of their heads, or a function for its recursion), and their bounds.
    pub named: Vec<(String, u32)>,
}

/// What the engine says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Staged {
    /// Proved for all schedules and all inputs.
    Safe,
    Unsafe(Box<Witness>),
    Unknown(Unknown),
}

/// What it took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// How often the program was unrolled; the other figures are those of the last time.
    pub rounds: u32,
    pub threads: usize,
    pub events: usize,
    pub reads: usize,
    pub writes: usize,
    /// Pairs of a read and a write that it may copy.
    pub links: usize,
    /// Violations that were looked for.
    pub suspects: usize,
    /// Calls that were made by a summary of the function.
    pub instantiated: usize,
    /// Of all rounds.
    pub conflicts: u64,
    /// What the solver had to be told about floats, in all rounds.
    pub lemmas: u64,
    pub summarizing: Duration,
    pub pruning: Duration,
    pub composing: Duration,
    pub solving: Duration,
}

/// Checks a program. `interrupted` is asked all the time; true means: stop.
pub fn check(program: &Program, task: &Task, limits: &Limits, interrupted: &dyn Fn() -> bool) -> (Staged, Stats) {
    let cancel = Arc::new(AtomicBool::new(false));
    let (deadline, memory) = (limits.deadline, limits.memory);
    let flag = cancel.clone();
    let work = move || {
        let mut limits = Limits::default();
        (limits.deadline, limits.memory, limits.cancel) = (deadline, memory, Some(flag));
        deepen::decide(program, task, &limits)
    };
    // The summary of a call within a call is a call within a call: that needs a stack.
    std::thread::scope(|scope| {
        let Ok(worker) = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work) else {
            return (Staged::Unknown(Unknown::because("there is no room for the engine's stack")), Stats::default());
        };
        while !worker.is_finished() {
            cancel.fetch_or(interrupted(), Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(2));
        }
        worker.join().unwrap_or_else(|_| (Staged::Unknown(Unknown::because("the engine failed")), Stats::default()))
    })
}

/// Whether all loops that are named exist; if not, which one does not.
pub fn find_loops(program: &Program, unwinding: &Unwinding) -> Result<(), String> {
    loops::bounds(program, unwinding).map(|_| ())
}

/// The question whether something goes wrong within the first bounds, as SMT-LIB 2 with integer clocks.
pub fn query(program: &Program, task: &Task) -> Result<String, String> {
    on_a_large_stack(|| {
        let bounds = loops::bounds(program, &task.unwinding)?;
        let never = || false;
        let mut summary = Summarizer::new(program, task, &bounds, &never);
        summary.run().map_err(|refused| refused.reason)?;
        let pruned = if task.prune { prune::prune(&mut summary) } else { prune::keep_all(&mut summary) };
        let composition = compose(&mut summary, &pruned, Solver::default().recording());
        let query = composition.solver.query().ok_or("nothing was recorded")?;
        Ok(query.script(&summary.terms, &[composition.violated]).question())
    })
}

/// Only the first step within the first bounds: what it took to get the skeleton.
pub fn summarize(program: &Program, task: &Task) -> Result<Stats, String> {
    on_a_large_stack(|| {
        let bounds = loops::bounds(program, &task.unwinding)?;
        let never = || false;
        let start = Instant::now();
        let mut summary = Summarizer::new(program, task, &bounds, &never);
        summary.run().map_err(|refused| refused.reason)?;
        let mut stats = Stats { rounds: 1, summarizing: start.elapsed(), ..Stats::default() };
        deepen::count(&summary, &mut stats);
        Ok(stats)
    })
}

/// The skeleton within the first bounds, for people to read.
pub fn show(program: &Program, task: &Task, picture: Picture) -> Result<String, String> {
    on_a_large_stack(|| {
        let bounds = loops::bounds(program, &task.unwinding)?;
        let never = || false;
        let mut summary = Summarizer::new(program, task, &bounds, &never);
        summary.run().map_err(|refused| refused.reason)?;
        Ok(show::show(&summary, picture))
    })
}

/// Summaries of calls within calls need a stack.
fn on_a_large_stack<T: Send>(work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let worker = worker.map_err(|_| "there is no room for the engine's stack".to_string())?;
        worker.join().unwrap_or_else(|_| Err("the engine failed".to_string()))
    })
}

const STACK: usize = 1 << 30;
