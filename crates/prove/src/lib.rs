//! The prover: assertions that hold for any number of threads and without any bound.
//!
//! By paper 002 (Farzan and Kincaid): invariants of threads follow from what other threads do to shared memory, and what
//! these can do follows from the invariants. Neither depends on how many threads there are, so that a thread that is
//! created in a loop is no harder than one that is created once. The answer is SAFE or UNKNOWN, never UNSAFE.
//!
//! | file | what is in it |
//! |---|---|
//! | `code` | the code of all threads with calls expanded; where threads are interrupted |
//! | `cells` | which memory is followed, and which locks protect it |
//! | `state` | what is known of one thread at one place |
//! | `evaluate`, `machine` | what expressions and instructions do to that |
//! | `interference` | which places two threads may be at together, and what one does to the other (Figure 3) |
//! | `coarsen` | invariants and interference from each other (Algorithm 1) |
//! | `replicate` | any number of threads in place of one |
//! | `explain` | why an assertion was not proved |

mod cells;
mod coarsen;
mod code;
mod evaluate;
mod explain;
mod interference;
mod machine;
mod replicate;
mod state;

use cells::Cells;
use coarsen::Coarsening;
use code::Code;
use leno_engine::{Context, Covered, Engine, Outcome, Properties, Reason, Statistics, Task, Unknown, Verdict};
use leno_ir::analysis::facts::Facts;
use leno_ir::program::Property;
use machine::Failure;

pub use replicate::replicate;

/// The engine.
#[derive(Clone, Copy, Default, Debug)]
pub struct Prover;

impl Engine for Prover {
    fn name(&self) -> &'static str {
        "prover"
    }

    fn check(&self, facts: &Facts<'_>, task: &Task, context: &Context) -> Outcome {
        let mut statistics = Statistics::default();
        let verdict = prove(facts, task, context, &mut statistics).unwrap_or_else(Verdict::Unknown);
        let covered = match verdict {
            Verdict::Safe => Covered::statement("proved for any number of threads, any schedule and any input"),
            _ => Covered::nothing(),
        };
        Outcome { verdict, covered, assumptions: Vec::new(), statistics }
    }
}

fn refuse(reason: impl Into<String>, advice: &str) -> Unknown {
    Unknown { reason: Reason::Because(reason.into()), advice: advice.to_string() }
}

const OTHER_ENGINE: &str = "take another engine: leno check";

fn prove(facts: &Facts<'_>, task: &Task, context: &Context, statistics: &mut Statistics) -> Result<Verdict, Unknown> {
    let asked = task.properties;
    if asked != (Properties { assertion: asked.assertion, overflow: asked.overflow, ..Properties::NONE }) {
        return Err(refuse("the prover decides assertions and overflows only", "ask for --property assert"));
    }
    let code = Code::new(facts).map_err(|reason| refuse(reason, OTHER_ENGINE))?;
    let cells = Cells::new(&code);
    let mut coarsening = Coarsening::new(&code, &cells, &context.limits);
    let stopped = || match context.limits.stop() {
        Some(stop) => Unknown { reason: Reason::Limit(stop), advice: "allow more".to_string() },
        None => refuse("the invariants could not be confirmed", OTHER_ENGINE),
    };
    let found = coarsening.coarsen().ok_or_else(stopped)?;
    statistics.count("stops", code.stops().len() as u64);
    statistics.count("cells", cells.len() as u64);
    statistics.count("rounds", found.rounds);
    statistics.count("pairs of stops", found.pairs.count() as u64);
    if !coarsening.is_inductive(&found) {
        return Err(stopped());
    }
    let is_asked = |failure: &Failure<'_>| match failure.property {
        Property::Assertion => asked.assertion,
        Property::SignedOverflow => asked.overflow,
        _ => false,
    };
    for (stop, state) in found.invariants.iter_enumerated() {
        let segment = coarsening.machine().run(stop, state);
        if let Some(failure) = segment.failures.iter().find(|failure| is_asked(failure)) {
            let (reason, advice) = explain::failure(&code, &cells, &coarsening, &found, failure);
            return Err(refuse(reason, &advice));
        }
    }
    Ok(Verdict::Safe)
}
