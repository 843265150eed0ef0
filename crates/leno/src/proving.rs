//! The prover's turn in `leno check`.
//!
//! The prover decides assertions, overflows and races, for any number of threads and without bounds. If nothing else was
//! asked for, its SAFE is the verdict. Otherwise it is a part of one: the others are asked for the rest only, and if they
//! have no verdict, the report says what was proved.

use crate::checking::{Checked, Checking, Verdict};
use leno_engine::{Covered, Properties, Reason, Task, Unknown};
use leno_prove::Prover;
use leno_report::text;
use std::time::{Duration, Instant};

/// What the prover decides.
const PROVABLE: Properties =
    Properties { assertion: true, overflow: true, race: true, bounds: true, ..Properties::NONE };

/// What was proved for any number of threads.
pub struct Proved {
    /// A part of what was asked for.
    properties: Properties,
    safe: Checked,
}

impl Checking<'_> {
    /// The part of what was asked for that the prover decides.
    fn provable(&self) -> Properties {
        self.task.properties.in_common(PROVABLE)
    }

    /// What is left of the task.
    pub fn without(&self, proved: &Proved) -> Task {
        let properties = self.task.properties.without(proved.properties);
        Task { properties, ..self.task.clone() }
    }

    /// What the prover proves of it, if it does.
    pub fn prove_a_part(&self, timeout: Option<Duration>) -> Option<Proved> {
        let properties = self.provable();
        if properties == Properties::NONE {
            return None;
        }
        let task = Task { properties, ..self.task.clone() };
        let safe = Checking { task, ..*self }.ask(&Prover, timeout);
        (safe.verdict == Verdict::Safe).then_some(Proved { properties, safe })
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
    pub fn with(&self, proved: Option<&Proved>, mut rest: Checked) -> Checked {
        let Some(proved) = proved else { return rest };
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
            let rest = self.task.properties.without(PROVABLE);
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
