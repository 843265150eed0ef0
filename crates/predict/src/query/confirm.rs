//! Confirming answers: the interpreter follows the schedule that the solver has found.
//!
//! Only what the interpreter sees itself is claimed. An answer that it cannot follow is reported as predicted and not
//! confirmed.

use crate::program::event::{EventId, TraceProgram, UntakenId};
use crate::program::window::Segment;
use crate::query::beyond::follow_beyond;
use crate::query::follow::{Reached, follow, follow_run};
use crate::query::prediction::{Finding, PredictOptions, Prediction, Reach, Stats};
use crate::query::question::Question;
use crate::walk::left_out::{AllLeftOut, LeftOut};
use leno_engine::Properties;
use leno_ir::interp::ViolationKind;
use leno_ir::program::{Program, Span};
use leno_ir::witness::{Claim, Witness};
use leno_trace::ThreadIndex;
use std::collections::BTreeSet;

/// What became of an answer.
pub(crate) enum Confirmation {
    Confirmed,
    Unconfirmed,
    /// A thread cannot pass this schedule point in any reordering: it violates a property there that is not asked
    /// about, in the recorded run, too.
    PathEnds {
        thread: ThreadIndex,
        point: u32,
        why: String,
    },
}

/// Confirms answers, and collects the findings.
pub(crate) struct Confirmer<'a> {
    pub(crate) program: &'a Program,
    options: &'a PredictOptions,
    findings: Vec<Finding>,
    seen: BTreeSet<(&'static str, Vec<String>)>,
    pub(crate) lifted_from: Option<usize>,
    /// Reorderings that are not looked at.
    pub(crate) left_out: AllLeftOut,
}

impl<'a> Confirmer<'a> {
    pub(crate) fn new(program: &'a Program, options: &'a PredictOptions) -> Confirmer<'a> {
        Confirmer {
            program,
            options,
            findings: Vec::new(),
            seen: BTreeSet::new(),
            lifted_from: None,
            left_out: AllLeftOut::default(),
        }
    }

    pub(crate) fn conclude(self, reach: Reach, gaps: Vec<String>, stats: Stats) -> Prediction {
        Prediction {
            findings: self.findings,
            reach,
            lifted_from: self.lifted_from,
            gaps,
            left_out: self.left_out,
            stats,
        }
    }

    /// Follows an order in which a branch goes another way, and on from there. Only what goes wrong is a finding; if
    /// nothing does, what follows the branch is left out.
    fn confirm_beyond(
        &mut self,
        ctp: &TraceProgram,
        prefix: &[Segment],
        untaken: UntakenId,
        order: &[EventId],
    ) -> Confirmation {
        let (program, options) = (self.program, self.options);
        self.left_out.add(LeftOut::Branch, ctp.untaken[untaken].span);
        let reached = follow_beyond(program, ctp, prefix, untaken, order, options);
        let Some(reached) = reached else { return Confirmation::Unconfirmed };
        let is_tainted = reached.is_tainted;
        let Ok(witness) = self.accept(ctp, reached) else { return Confirmation::Unconfirmed };
        let (title, places) = self.claimed(&witness);
        self.add(Finding { title, places, witness: Ok(witness), bound: None, is_tainted });
        Confirmation::Confirmed
    }

    /// What a witness claims, and where.
    fn claimed(&self, witness: &Witness) -> (&'static str, Vec<String>) {
        let show = |spans: &[Span]| spans.iter().map(|span| self.show(*span)).collect();
        match &witness.claim {
            Claim::Violation { kind, span, .. } => (kind.title(), show(&[*span])),
            Claim::Race { first, second, .. } => ("data race", show(&[first.span, second.span])),
            Claim::Deadlock { waiting } => {
                ("deadlock", show(&waiting.iter().map(|waiting| waiting.span).collect::<Vec<_>>()))
            }
            Claim::Atomicity { first, between, .. } => ("atomicity violation", show(&[first.span, between.span])),
        }
    }

    /// Follows the answer to a question: `order` are the events that happen, after those of the `prefix`.
    pub(crate) fn confirm(
        &mut self,
        ctp: &TraceProgram,
        prefix: &[Segment],
        question: &Question,
        order: &[EventId],
        bound: Option<usize>,
    ) -> Confirmation {
        if let Question::Untaken(untaken) = question {
            return self.confirm_beyond(ctp, prefix, *untaken, order);
        }
        let mut machine = self.options.machine.clone();
        let is_deadlock =
            matches!(question, Question::LockCycle(_) | Question::HeldByEnded(..) | Question::GlobalDeadlock(_));
        machine.spurious_wakeups &= !is_deadlock;
        let followed = follow(self.program, ctp, prefix, question, order, &machine, &self.options.input);
        if let Ok(reached) = &followed
            && let Some(path_ends) = self.path_ends(ctp, reached)
        {
            return path_ends;
        }
        let is_tainted = followed.as_ref().is_ok_and(|reached| reached.is_tainted);
        let witness = followed.and_then(|reached| self.accept(ctp, reached));
        let is_confirmed = witness.is_ok();
        self.add(Finding {
            title: question.title(ctp),
            places: self.places(ctp, question),
            witness,
            bound,
            is_tainted,
        });
        if is_confirmed { Confirmation::Confirmed } else { Confirmation::Unconfirmed }
    }

    /// Follows the recorded run itself, and reports what goes wrong in it. Gives what is not known of it.
    pub(crate) fn follow_run(&mut self, ctp: &TraceProgram, prefix: &[Segment], order: &[EventId]) -> Option<String> {
        // (Who asks for assertions, races and deadlocks only, sees those of the run in its events.)
        let asked = self.options.properties;
        if !asked.memory && !asked.other {
            return None;
        }
        let mut machine = self.options.machine.clone();
        machine.spurious_wakeups = true;
        let reached =
            match follow_run(self.program, ctp, prefix, order, &machine, &self.options.input, &self.options.limits) {
                Ok(None) => return None,
                Ok(Some(reached)) => reached,
                Err(why) => {
                    return Some(format!(
                        "what the recorded run itself does wrong: the interpreter cannot follow it, since {why}"
                    ));
                }
            };
        let Claim::Violation { kind, span, .. } = &reached.witness.claim else { return None };
        if !is_covered(&reached.witness, self.options.properties) {
            return Some(format!(
                "what comes after {}, where the recorded run goes wrong ({})",
                self.show(*span),
                kind.title()
            ));
        }
        let (title, places, is_tainted) = (kind.title(), vec![self.show(*span)], reached.is_tainted);
        let witness = self.accept(ctp, reached);
        self.add(Finding { title, places, witness, bound: None, is_tainted });
        None
    }

    /// Whether a thread always ends where the interpreter found a violation on the recorded path, of a property that is
    /// not asked about.
    fn path_ends(&self, ctp: &TraceProgram, reached: &Reached) -> Option<Confirmation> {
        let (name, point) = reached.wrong_at.as_ref()?;
        let Claim::Violation { kind, span, .. } = &reached.witness.claim else { return None };
        if !is_in_every_order(*kind) || is_covered(&reached.witness, self.options.properties) {
            return None;
        }
        let (&thread, _) = ctp.threads.iter().find(|(_, thread)| thread.name == *name)?;
        let why = format!("{name} goes wrong at {} whenever it comes there ({})", self.show(*span), kind.title());
        Some(Confirmation::PathEnds { thread, point: *point, why })
    }

    /// The witness of what was reached; or why it does not count.
    fn accept(&self, ctp: &TraceProgram, reached: Reached) -> Result<Box<Witness>, String> {
        if !is_covered(&reached.witness, self.options.properties) {
            return Err(match &reached.witness.claim {
                Claim::Violation { kind, span, .. } => {
                    format!("something else goes wrong first: {} at {}", kind.title(), self.show(*span))
                }
                _ => "something else goes wrong first".to_string(),
            });
        }
        if ctp.is_interrupted && ctp.callbacks.may_write {
            let why = "a signal handler has written what the program reads, and it is not recorded where it ran";
            return Err(why.to_string());
        }
        Ok(Box::new(reached.witness))
    }

    /// Adds a finding, unless it is known: windows overlap, and the same may be found again.
    fn add(&mut self, finding: Finding) {
        let is_new = self.seen.insert((finding.title, finding.places.clone()));
        if finding.witness.is_ok() {
            // What could not be confirmed in another order need not be reported.
            let is_same = |other: &Finding| (other.title, &other.places) == (finding.title, &finding.places);
            self.findings.retain(|other| other.witness.is_ok() || !is_same(other));
        }
        if is_new || finding.witness.is_ok() {
            self.findings.push(finding);
        }
    }

    fn places(&self, ctp: &TraceProgram, question: &Question) -> Vec<String> {
        let places: BTreeSet<String> = question.spans(ctp).into_iter().map(|span| self.show(span)).collect();
        places.into_iter().collect()
    }

    fn show(&self, span: Span) -> String {
        let file = self.program.files.get(span.file).map_or("", String::as_str);
        format!("{file}:{}", span.line)
    }
}

fn is_covered(witness: &Witness, properties: Properties) -> bool {
    is_asked_for(&witness.claim, properties)
}

/// Whether a claim is about a property that is asked about.
pub(crate) fn is_asked_for(claim: &Claim, properties: Properties) -> bool {
    match claim {
        Claim::Violation { kind, .. } => {
            properties.covers(*kind) || matches!(kind, ViolationKind::DivisionByZero | ViolationKind::QuotientOverflow)
        }
        _ => true,
    }
}

/// Whether a violation happens in all orders in which its thread comes to it on the recorded path: addresses are the
/// recorded ones, and so are the locks that the thread holds.
fn is_in_every_order(kind: ViolationKind) -> bool {
    use ViolationKind::*;
    matches!(kind, OutOfBounds | InvalidPointer | WriteToConstant | InvalidFree | InvalidUnlock)
}
