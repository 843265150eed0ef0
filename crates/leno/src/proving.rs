//! The prover's turn: beside the staged engine, once that has had its first second without a verdict.
//!
//! The prover decides assertions, overflows and races, for any number of threads and without bounds. If nothing else was
//! asked for, its SAFE is the verdict, and the staged engine is stopped. Otherwise it is a part of one: the others are
//! asked for the rest only, and if they have no verdict, the report says what was proved. The two do not wait for each
//! other, so that what the staged engine decides takes no longer than without the prover.

use crate::checking::{Checked, Checking, Verdict};
use leno_engine::{Covered, Engine, Outcome, Properties, Reason, Stop, Task, Unknown};
use leno_prove::Prover;
use leno_report::text;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long the staged engine works alone, and how long the prover works then.
const ALONE: Duration = Duration::from_millis(1500);
const TURN: Duration = Duration::from_secs(10);

/// What the prover decides.
const PROVABLE: Properties = Properties { assertion: true, overflow: true, race: true, ..Properties::NONE };

/// What was proved for any number of threads.
pub struct Proved {
    /// A part of what was asked for.
    properties: Properties,
    safe: Checked,
}

impl Checking<'_> {
    /// The part of what was asked for that the prover decides.
    fn provable(&self) -> Properties {
        self.task.properties.and(&PROVABLE)
    }

    /// What is left of the task.
    pub fn without(&self, proved: &Proved) -> Task {
        let properties = self.task.properties.and(&proved.properties.not());
        Task { properties, ..self.task.clone() }
    }

    /// What the staged engine says, how long that took, and what was proved meanwhile.
    pub fn staged_beside_prover(&self, timeout: Option<Duration>) -> (Checked, Duration, Option<Proved>) {
        let properties = self.provable();
        if properties == Properties::NONE {
            let first = self.ask(&self.options.staged, timeout);
            return (first, self.start.elapsed(), None);
        }
        let (stop_staged, stop_prover) = (self.options.cancel.below(), self.options.cancel.below());
        let is_staged_done = AtomicBool::new(false);
        let (first, time, outcome) = thread::scope(|scope| {
            let prover = scope.spawn(|| {
                wait(&is_staged_done, ALONE);
                let task = Task { properties, ..self.task.clone() };
                let left = self.time_left().map_or(TURN, |left| left.min(TURN));
                if stop_prover.requested().is_some() || left.is_zero() {
                    return None;
                }
                let outcome = Prover.check(self.facts, &task, &self.context(Some(left), &stop_prover));
                if outcome.verdict == leno_engine::Verdict::Safe && properties == self.task.properties {
                    stop_staged.request(Stop::Cancelled);
                }
                Some(outcome)
            });
            let first = self.ask_until(&self.options.staged, timeout, &stop_staged);
            let time = self.start.elapsed();
            if !matches!(first.verdict, Verdict::Unknown(_)) {
                stop_prover.request(Stop::Cancelled);
            }
            is_staged_done.store(true, Ordering::Relaxed);
            prover.thread().unpark();
            (first, time, prover.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let is_proved = |outcome: &Outcome| outcome.verdict == leno_engine::Verdict::Safe;
        let proved = outcome.filter(is_proved).map(|outcome| Proved { properties, safe: self.conclude(outcome) });
        (first, time, proved)
    }

    /// The verdict, if the prover has answered everything.
    pub fn verdict_of(&self, proved: &Proved) -> Option<Checked> {
        (proved.properties == self.task.properties).then(|| {
            let mut safe = proved.safe.clone();
            safe.covered.details.push("by the prover, with invariants that the solver has confirmed".to_string());
            safe
        })
    }

    /// What another engine says of the rest, with what was proved.
    pub fn combine(&self, proved: &Proved, mut rest: Checked) -> Checked {
        let what = text::absent(&proved.properties);
        match rest.verdict {
            Verdict::Unsafe(..) => return rest,
            Verdict::Safe => {
                let is_new = |assumption: &leno_engine::Assumption| !rest.assumptions.contains(assumption);
                let more: Vec<_> = proved.safe.assumptions.iter().filter(|known| is_new(known)).cloned().collect();
                rest.assumptions.extend(more);
            }
            Verdict::Unknown(_) => {}
        }
        rest.covered.details.push(format!("proved for any number of threads, by invariants: {what}"));
        rest
    }

    /// The prover alone, which says what it has proved if that is not all.
    pub fn prove(&self) -> Checked {
        let properties = self.provable();
        if properties == Properties::NONE || properties == self.task.properties {
            return self.ask(&Prover, self.timeout);
        }
        let task = Task { properties, ..self.task.clone() };
        let mut part = Checking { task, start: Instant::now(), ..*self }.ask(&Prover, self.timeout);
        if part.verdict == Verdict::Safe {
            let rest = self.task.properties.and(&PROVABLE.not());
            part.verdict = Verdict::Unknown(Unknown {
                reason: Reason::Because(format!("not decided, as the prover cannot: {}", text::absent(&rest))),
                advice: "ask for --property assert,race, or take another engine".to_string(),
            });
            let what = text::absent(&properties);
            part.covered = Covered::statement(format!("proved for any number of threads: {what}"));
            part.assumptions.clear();
        }
        part
    }
}

/// Waits so long, or until it is set and the thread was told so.
fn wait(is_set: &AtomicBool, time: Duration) {
    let end = Instant::now() + time;
    while !is_set.load(Ordering::Relaxed) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::park_timeout(left);
    }
}
