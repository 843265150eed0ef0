//! The staged engine: threads are summarised one by one, then composed (Sinha, Wang, FSE 2010).
//!
//! | file | what it does |
//! |---|---|
//! | `facts` | what is known of a program before it is unrolled, computed once |
//! | `bound` | how far to unroll, and rounds with larger and larger bounds until they suffice |
//! | `summarize` | bounded symbolic execution of each thread, which leaves its events |
//! | `skeleton` | the events of all threads: location, value, condition, order; and the layout of memory |
//! | `bounded` | the bounded program: the skeleton with its terms and layout, the input of all that follows |
//! | `prune` | which writes a read may copy, and which accesses may race |
//! | `compose` | the axioms of sequential consistency over the skeleton, in the solver |
//! | `witness` | the interpreter follows a model of the solver to the violation |
//! | `engine` | the contract that all engines share |

mod bound;
mod bounded;
mod compose;
mod engine;
mod facts;
mod prune;
mod skeleton;
mod stale_addresses;
mod summarize;
mod witness;

pub use bound::deepen::{Completed, Unknown};
pub use engine::StagedEngine;
pub use leno_engine::{Reported, Unwinding};
pub use skeleton::show::Picture;

pub use summarize::cssa::Mode;
pub use summarize::function_summary::Calls;

use bounded::BoundedProgram;
use compose::compose;
use facts::ProgramFacts;
use leno_engine::{Progress, Properties};
use leno_ir::analysis::facts::Facts;
use leno_ir::program::Program;
use leno_ir::witness::Witness;
use leno_logic::limits::Limits;
use leno_logic::solver::Solver;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The properties to check, and how.
#[derive(Clone, Debug)]
pub struct Task {
    pub properties: Properties,
    pub unwinding: Unwinding,
    /// Only schedules with at most so many switches between threads.
    pub context_bound: Option<usize>,
    /// Whether to leave out links and races that pruning finds to be impossible.
    pub prune: bool,
    pub mode: Mode,
    /// How calls are executed.
    pub calls: Calls,
    /// Violations that have been reported already, and are not looked for again.
    pub reported: BTreeSet<Reported>,
    /// Where the engine reports what it has covered.
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

/// The answer of the engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Staged {
    /// Proved for all schedules and all inputs.
    Safe,
    Unsafe(Box<Witness>),
    Unknown(Unknown),
}

/// What an answer took.
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
    /// Violations that the solver was asked for.
    pub possible_violations: usize,
    /// Calls that were made by a summary of the function.
    pub instantiated: usize,
    /// Of all rounds.
    pub conflicts: u64,
    /// Lemmas about floats that the solver needed, in all rounds.
    pub lemmas: u64,
    pub summarizing: Duration,
    pub pruning: Duration,
    pub composing: Duration,
    pub solving: Duration,
}

/// Checks a program.
pub fn check(facts: &Facts<'_>, task: &Task, limits: &Limits) -> (Staged, Stats) {
    let limits = limits.clone();
    on_a_large_stack(move || Ok(bound::deepen::decide(facts, task, &limits)))
        .unwrap_or_else(|reason| (Staged::Unknown(Unknown::because(reason)), Stats::default()))
}

/// Whether all loops that are named exist; if not, which one does not.
pub fn find_loops(program: &Program, unwinding: &Unwinding) -> Result<(), String> {
    bound::loops::bounds(program, unwinding).map(|_| ())
}

/// The question whether there is a violation within the first bounds, as SMT-LIB 2 with integer clocks.
pub fn query(program: &Program, task: &Task) -> Result<String, String> {
    within_first_bounds(program, task, |mut bounded| {
        let pruned = if task.prune { prune::prune(&mut bounded) } else { prune::keep_all(&mut bounded) };
        let composition = compose(&mut bounded, &pruned, Solver::default().recording());
        let composition = composition.map_err(|refused| refused.reason)?;
        let query = composition.solver.query().ok_or("nothing was recorded")?;
        Ok(query.script(&bounded.terms, &[composition.violated]).question())
    })
}

/// Summarises a program within the first bounds only: what the skeleton took.
pub fn summarize(program: &Program, task: &Task) -> Result<Stats, String> {
    let start = Instant::now();
    within_first_bounds(program, task, |bounded| {
        let mut stats = Stats { rounds: 1, summarizing: start.elapsed(), ..Stats::default() };
        bound::deepen::count(&bounded, &mut stats);
        Ok(stats)
    })
}

/// The skeleton within the first bounds, as readable text.
pub fn show(program: &Program, task: &Task, picture: Picture) -> Result<String, String> {
    within_first_bounds(program, task, |bounded| Ok(skeleton::show::show(&bounded, picture)))
}

/// Summarises a program within the first bounds, and inspects the result.
fn within_first_bounds<T: Send>(
    program: &Program,
    task: &Task,
    look: impl FnOnce(BoundedProgram<'_>) -> Result<T, String> + Send,
) -> Result<T, String> {
    on_a_large_stack(|| {
        let bounds = bound::loops::bounds(program, &task.unwinding)?;
        let facts = Facts::new(program);
        let facts = ProgramFacts::new(&facts);
        let never = || false;
        look(summarize::summarize(&facts, task, &bounds, &never).map_err(|refused| refused.reason)?)
    })
}

/// Executions of calls within calls are recursive: they need a large stack.
fn on_a_large_stack<T: Send>(work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let worker = worker.map_err(|_| "there is no room for the engine's stack".to_string())?;
        // A panic is a bug of Leno's, not an outcome.
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

const STACK: usize = 1 << 30;
