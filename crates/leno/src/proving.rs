//! The prover's turn in `leno check`.
//!
//! The prover decides assertions, overflows, bounds and races together, and deadlocks, for any number of threads and without
//! bounds. If nothing else was asked for, its SAFE is the verdict. Otherwise it is a part of one: the others are asked for the
//! rest only, and if they have no verdict, the report says what was proved.

use crate::checking::{Checked, Checking, Verdict};
use leno_engine::{Covered, Properties, Reason, Task, Unknown};
use leno_prove::{Prover, Recording};
use leno_report::text;
use std::time::{Duration, Instant};

/// What the prover decides, one question after the other.
const PROVABLE: [Properties; 2] = [
    Properties { assertion: true, overflow: true, race: true, bounds: true, ..Properties::NONE },
    Properties { deadlock: true, ..Properties::NONE },
];

/// What was proved for any number of threads.
pub struct Proved {
    /// A part of what was asked for.
    properties: Properties,
    safe: Checked,
}

impl Proved {
    /// Both.
    fn and(self, other: Proved) -> Proved {
        let mut safe = self.safe;
        safe.covered.details.extend(other.safe.covered.details);
        let is_new = |assumption: &leno_engine::Assumption| !safe.assumptions.contains(assumption);
        let more: Vec<_> = other.safe.assumptions.into_iter().filter(is_new).collect();
        safe.assumptions.extend(more);
        safe.proof = Some(Err("proof files are about assertions, overflows and bounds only".to_string()));
        Proved { properties: self.properties.and(other.properties), safe }
    }
}

impl Checking<'_> {
    /// The parts of what was asked for that the prover decides.
    fn provable(&self) -> Vec<Properties> {
        let parts = PROVABLE.iter().map(|part| self.task.properties.in_common(*part));
        parts.filter(|part| *part != Properties::NONE).collect()
    }

    /// What is left of the task.
    pub fn without(&self, proved: &Proved) -> Task {
        let properties = self.task.properties.without(proved.properties);
        Task { properties, ..self.task.clone() }
    }

    /// One question to the prover.
    fn ask_prover(&self, properties: Properties, timeout: Option<Duration>) -> Checked {
        let task = Task { properties, ..self.task.clone() };
        let recording = Recording::default();
        let mut checked = Checking { task, start: Instant::now(), ..*self }.ask(&recording, timeout);
        checked.proof = recording.proof.take();
        checked
    }

    /// What the prover proves of it, if it does.
    pub fn prove_a_part(&self, timeout: Option<Duration>) -> Option<Proved> {
        let start = Instant::now();
        let mut proved: Option<Proved> = None;
        for properties in self.provable() {
            let left = timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
            if left.is_some_and(|left| left.is_zero()) {
                break;
            }
            let safe = self.ask_prover(properties, left);
            if safe.verdict == Verdict::Safe {
                let part = Proved { properties, safe };
                proved = Some(match proved {
                    Some(before) => before.and(part),
                    None => part,
                });
            }
        }
        proved
    }

    /// The verdict, if the prover has answered everything.
    pub fn verdict_of(&self, proved: &Proved) -> Option<Checked> {
        (proved.properties == self.task.properties).then(|| {
            let mut safe = proved.safe.clone();
            let is_by_invariants = proved.properties != Properties { deadlock: true, ..Properties::NONE };
            let how = if is_by_invariants { ", with invariants that the solver has confirmed" } else { "" };
            safe.covered.details.push(format!("by the prover{how}"));
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
        let mut proved: Option<Proved> = None;
        for properties in self.provable() {
            let mut safe = self.ask_prover(properties, self.time_left());
            if safe.verdict != Verdict::Safe {
                let before = proved.map(|proved| text::absent(&proved.properties));
                let statement = |what: String| format!("proved for any number of threads: {what}");
                safe.covered.details.extend(before.map(statement));
                return safe;
            }
            let part = Proved { properties, safe };
            proved = Some(match proved {
                Some(before) => before.and(part),
                None => part,
            });
        }
        // (It says why it has nothing to say.)
        let Some(Proved { properties, safe: mut part }) = proved else { return self.ask(&Prover, self.timeout) };
        let rest = self.task.properties.without(properties);
        if rest != Properties::NONE {
            part.verdict = Verdict::Unknown(Unknown {
                reason: Reason::Because(format!("not decided, as the prover cannot: {}", text::absent(&rest))),
                advice: "ask for --property assert,race,deadlock, or take another engine".to_string(),
            });
            let what = text::absent(&properties);
            part.covered = Covered::statement(format!("proved for any number of threads: {what}"));
            part.assumptions.clear();
            part.proof = None;
        }
        part
    }
}
