//! The staged engine behind the contract that all engines share.

use crate::bound::deepen::{Completed, Unknown};
use crate::stale_addresses::with_reads;
use crate::{Calls, Mode, Staged, Stats, Task, check};
use leno_engine::{
    Assumption, Context, Counterexample, Covered, Engine, Outcome, Properties, Reason, SIGNALS_NEEDED, Statistics,
    Stop, Verdict,
};
use leno_ir::analysis::facts::Facts;
use leno_ir::analysis::wakeups::where_unasked_wakeups_matter;
use leno_ir::program::Reuse;
use std::collections::BTreeSet;

/// All schedules and inputs in one formula, loops unrolled until the bounds suffice.
#[derive(Clone, Copy, Debug)]
pub struct StagedEngine {
    /// Leave out links and races that can be seen to be impossible. Without it, everything is composed with everything.
    pub prune: bool,
    pub mode: Mode,
    /// What becomes of calls.
    pub calls: Calls,
}

impl Default for StagedEngine {
    fn default() -> StagedEngine {
        StagedEngine { prune: true, mode: Mode::default(), calls: Calls::default() }
    }
}

impl Engine for StagedEngine {
    fn name(&self) -> &'static str {
        "staged"
    }

    fn check(&self, facts: &Facts<'_>, task: &leno_engine::Task, context: &Context) -> Outcome {
        let task = Task {
            properties: task.properties,
            unwinding: task.bounds.unwinding.clone(),
            context_bound: task.bounds.context_switches,
            prune: self.prune,
            mode: self.mode,
            calls: self.calls,
            reported: task.reported.clone(),
            progress: context.progress.clone(),
        };
        let (answer, stats) = check(facts, &task, &context.limits);
        let (verdict, covered) = match answer {
            Staged::Safe if facts.program().reuse != Reuse::Unnoticed && compares_freed(facts, &task, context) => {
                let covered = covered_by_proof(&stats).with("as long as freed memory is not given out again");
                (Verdict::Unknown(notices_reuse()), covered)
            }
            Staged::Safe => (Verdict::Safe, covered_by_proof(&stats)),
            Staged::Unsafe(witness) => {
                let covered = Covered::statement("the search ended at the first violation");
                (Verdict::Unsafe(Box::new(Counterexample { witness: *witness, is_tainted: false })), covered)
            }
            Staged::Unknown(unknown) => undecided(&stats, unknown),
        };
        let assumptions = match verdict {
            Verdict::Safe if task.properties.deadlock => assumed_signals(facts).into_iter().collect(),
            _ => Vec::new(),
        };
        Outcome { verdict, covered, assumptions, statistics: statistics(&stats) }
    }
}

/// Waits in loops are taken to end with signals only, where deadlocks are looked for.
fn assumed_signals(facts: &Facts<'_>) -> Option<Assumption> {
    let matters = where_unasked_wakeups_matter(facts).into_iter().find(|wait| wait.is_repeated)?;
    Some(Assumption::new(SIGNALS_NEEDED).at(facts.program(), matters.span))
}

fn covered_by_proof(stats: &Stats) -> Covered {
    let Stats { threads, events, .. } = stats;
    Covered::statement("no violation under any schedule and for any input")
        .with(format!("{threads} threads, {events} accesses to what they share, all loops unrolled to their ends"))
}

/// Whether the program may compare addresses of freed objects, which may have been given out again.
fn compares_freed(facts: &Facts<'_>, task: &Task, context: &Context) -> bool {
    let Some(program) = with_reads(facts) else { return true };
    let properties = Properties { memory: true, ..Properties::NONE };
    let task = Task { properties, reported: BTreeSet::new(), ..task.clone() };
    !matches!(check(&Facts::new(&program), &task, &context.limits), (Staged::Safe, _))
}

fn notices_reuse() -> leno_engine::Unknown {
    let reason = "the program compares addresses of freed objects with those of new ones, which may be the same";
    leno_engine::Unknown {
        reason: Reason::Because(reason.to_string()),
        advice: "--engine explore tries which of them are the same".to_string(),
    }
}

/// What to say when there is no verdict.
fn undecided(stats: &Stats, unknown: Unknown) -> (Verdict, Covered) {
    let Unknown { reason, stop, completed } = unknown;
    let covered = match &completed {
        Some(completed) => Covered::statement(completed.to_string()),
        None if stats.threads == 0 => Covered::nothing(),
        None => {
            Covered::statement(format!("{} threads with {} accesses to what they share", stats.threads, stats.events))
        }
    };
    let advice = advice(completed.as_ref());
    let reason = match stop {
        Some(stop @ (Stop::Time | Stop::Memory | Stop::Cancelled)) => Reason::Limit(stop),
        _ => Reason::Because(reason),
    };
    (Verdict::Unknown(leno_engine::Unknown { reason, advice }), covered)
}

fn advice(completed: Option<&Completed>) -> String {
    let loops = completed.iter().flat_map(|completed| &completed.loops);
    let larger: Vec<String> = loops.map(|(name, bound)| format!("{name}={}", bound.saturating_mul(4))).collect();
    match (completed.and_then(|completed| completed.switches), larger.is_empty()) {
        (Some(switches), true) => format!("a larger --context-bound than {switches}, or none"),
        (_, true) => "--engine explore tries the schedules one by one".to_string(),
        (_, false) => format!("more time, or larger bounds: --unwindset {}", larger.join(",")),
    }
}

fn statistics(stats: &Stats) -> Statistics {
    let mut all = Statistics::default();
    all.count("rounds", stats.rounds.into());
    all.count("threads", stats.threads as u64);
    all.count("events", stats.events as u64);
    all.count("reads", stats.reads as u64);
    all.count("writes", stats.writes as u64);
    all.count("instantiated", stats.instantiated as u64);
    all.count("links", stats.links as u64);
    all.count("suspects", stats.possible_violations as u64);
    all.count("conflicts", stats.conflicts);
    all.count("lemmas", stats.lemmas);
    all.time("summarizing", stats.summarizing);
    all.time("pruning", stats.pruning);
    all.time("composing", stats.composing);
    all.time("solving", stats.solving);
    all
}
