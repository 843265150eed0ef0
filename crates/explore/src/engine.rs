//! Exploration as an engine.

use crate::search::{explore, explore_states};
use crate::task::{Explored, Incomplete, Stats};
use crate::witness::witness;
use leno_engine::{
    Assumption, Context, Counterexample, Covered, Engine, Outcome, Reason, SIGNALS_NEEDED, Statistics, Task, Unknown,
    Verdict,
};
use leno_ir::analysis::facts::Facts;

/// Looks at every schedule that makes a difference, once.
#[derive(Clone, Copy, Default, Debug)]
pub struct Explorer;

impl Engine for Explorer {
    fn name(&self) -> &'static str {
        "explore"
    }

    fn check(&self, facts: &Facts<'_>, task: &Task, context: &Context) -> Outcome {
        outcome(facts, explore(facts, task, context))
    }
}

/// Reaches every state, once.
#[derive(Clone, Copy, Default, Debug)]
pub struct StateExplorer;

impl Engine for StateExplorer {
    fn name(&self) -> &'static str {
        "states"
    }

    fn check(&self, facts: &Facts<'_>, task: &Task, context: &Context) -> Outcome {
        // (Which preemptions led to a state is not remembered.)
        match task.bounds.preemptions {
            Some(_) => Explorer.check(facts, task, context),
            None => outcome(facts, explore_states(facts, task, context)),
        }
    }
}

fn outcome(facts: &Facts<'_>, explored: Explored) -> Outcome {
    let Explored { finding, incomplete, stats, needs_signals } = explored;
    let Stats { executions, redundant, events, longest, states } = stats;
    let mut statistics = Statistics::default();
    statistics.count("executions", executions);
    statistics.count("redundant", redundant);
    statistics.count("events", events);
    statistics.count("longest", longest);
    if states > 0 {
        statistics.count("states", states);
    }
    let (verdict, covered) = match (finding, incomplete) {
        (Some(finding), _) => {
            let covered = Covered::statement("other executions were not explored");
            let counterexample = Counterexample { witness: witness(facts, &finding), is_tainted: finding.is_tainted };
            (Verdict::Unsafe(Box::new(counterexample)), covered)
        }
        (None, Some(reason)) => unknown(&stats, reason),
        (None, None) => {
            let count = if states > 0 { format!("{states} states") } else { format!("{executions} executions") };
            let statement = format!("no violation under any schedule ({count})");
            (Verdict::Safe, Covered::statement(statement))
        }
    };
    let assume = |span| Assumption::new(SIGNALS_NEEDED).at(facts.program(), span);
    Outcome { verdict, covered, assumptions: needs_signals.map(assume).into_iter().collect(), statistics }
}

/// Why the search ended without a verdict, and what was explored.
fn unknown(stats: &Stats, incomplete: Incomplete) -> (Verdict, Covered) {
    let Stats { executions, longest, states, .. } = *stats;
    let seen = if states > 0 { format!("{states} states") } else { format!("{executions} executions") };
    let mut covered = match states {
        0 => format!("no violation in {seen} of up to {longest} events; there are more"),
        _ => format!("no violation in {seen}; there are more"),
    };
    let (reason, advice) = match incomplete {
        Incomplete::Stopped(stop) => (
            Reason::Limit(stop),
            "give it more time with --timeout, make the program smaller, or look at few schedules with --preemptions 2",
        ),
        Incomplete::Executions(most) => {
            (Reason::Because(format!("there are more than {most} executions")), "allow more executions")
        }
        Incomplete::States(most) => {
            (Reason::Because(format!("there are more than {most} states")), "allow more executions")
        }
        Incomplete::TooLong(depth) => (
            Reason::Because(format!("an execution has more than {depth} events")),
            "some loop goes round very often, or for ever: make its bound smaller",
        ),
        Incomplete::Endless => (
            Reason::Because("a thread may run for ever without being seen by others".to_string()),
            "look for a loop that does not end, or make its bound smaller",
        ),
        Incomplete::DependsOn(what) => {
            covered = format!("no violation in {seen}, for the few inputs that were tried");
            (
                Reason::Because(format!("the program depends on {what}")),
                "inputs of up to 8 bits (a char, a _Bool) are all tried; take those, or fixed values",
            )
        }
        Incomplete::Preemptions(most) => {
            covered = format!("no violation with at most {most} preemptions, in {executions} executions");
            (
                Reason::Because("schedules with more preemptions were left out".to_string()),
                "a larger --preemptions, or none",
            )
        }
        Incomplete::OutOfMemory => (
            Reason::Because("the program allocates more memory than it may".to_string()),
            "allow more with --memory, or make the program's data smaller",
        ),
    };
    (Verdict::Unknown(Unknown { reason, advice: advice.to_string() }), Covered::statement(covered))
}
