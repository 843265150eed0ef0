//! The search: is there a reordering of the run that violates a property?
//!
//! All questions are asked at once, as one disjunction. The interpreter follows each answer; what that confirms is a
//! finding, and what it does not is reported as unconfirmed. With a bound on context switches the bound grows from 1
//! (paper 003, section 5); if a refutation did not need it, no number of switches gives an answer. A long trace is
//! searched window by window (`stream`).

use crate::encode::causal_model::Model;
use crate::encode::{Encoded, Encoding};
use crate::program::event::{EventId, Kind, TraceProgram};
use crate::program::slice::Wanted;
use crate::query::confirm::{Confirmation, Confirmer};
use crate::query::global_deadlock::stuck_places;
use crate::query::prediction::{PredictOptions, Prediction, Reach, Stats};
use crate::query::question::{Question, questions};
use crate::query::untaken::Untaken;
use leno_ir::program::{Place, Program};
use leno_logic::core::Answer;
use leno_logic::limits::{Limits, Stop};
use leno_logic::literal::Lit;
use leno_logic::term::Term;
use std::collections::BTreeSet;
use std::time::Instant;

/// Looks for a reordering that violates a property, in all events at once.
pub fn predict_events(program: &Program, ctp: &mut TraceProgram, options: &PredictOptions) -> Prediction {
    let mut stats =
        Stats { threads: ctp.threads.len(), accesses: ctp.accesses, events: ctp.events.len(), ..Stats::default() };
    let mut gaps = ctp.gaps.clone();
    let mut confirmer = Confirmer::new(program, options);
    let mut search = Search::new(Some(program), ctp, options, true, &mut gaps);
    let reach = search
        .run(ctp, options, &mut |ctp, question, order, bound| confirmer.confirm(ctp, &[], question, order, bound));
    search.add_to(&mut stats, &mut gaps);
    confirmer.lifted_from = search.lifted_from;
    confirmer.left_out.extend(&std::mem::take(&mut ctp.left_out));
    if reach == Reach::All {
        match search.recorded_order(ctp, options) {
            Some(order) => gaps.extend(confirmer.follow_run(ctp, &[], &order)),
            None => gaps.push(
                "the recorded run is not one that Leno's semantics allows: what is outside of it is not known"
                    .to_string(),
            ),
        }
    }
    confirmer.conclude(reach, gaps, stats)
}

/// Whether the recorded run is one of the runs that the encoding admits, as it has to be.
pub fn admits_recorded(ctp: &mut TraceProgram, encoding: Encoding) -> bool {
    let wanted = Wanted { frees: true, reads: true, ..Wanted::default() };
    let mut encoded = Encoded::new(ctp, &[], &wanted, Model::Symbolic, encoding);
    let all = all_events_happen(&encoded, ctp);
    encoded.solver.solve(&all, &Limits::default()) == Answer::Satisfiable
}

/// All events happen, up to the end of the process.
fn all_events_happen(encoded: &Encoded, ctp: &TraceProgram) -> Vec<Lit> {
    let kept = encoded.slice.kept.values().flatten();
    let happen = kept.filter(|id| !matches!(ctp.event(**id).kind, Kind::Exit) && !ctp.event(**id).pending);
    happen.filter_map(|id| encoded.happens(*id)).collect()
}

/// The answers for a trace without a program, which cannot be confirmed: at most one for each place.
pub(crate) fn answers(ctp: &mut TraceProgram, options: &PredictOptions) -> (Vec<(Question, Vec<EventId>)>, Reach) {
    let mut found = Vec::new();
    let mut search = Search::new(None, ctp, options, true, &mut Vec::new());
    let reach = search.run(ctp, options, &mut |_, question, order, _| {
        found.push((question.clone(), order.to_vec()));
        Confirmation::Confirmed
    });
    (found, reach)
}

/// Confirms an answer: the question, the order of events, and the bound.
pub(crate) type Confirm<'h> = dyn FnMut(&TraceProgram, &Question, &[EventId], Option<usize>) -> Confirmation + 'h;

/// A bound on context switches, and the literal that it holds.
#[derive(Clone, Copy)]
struct Bound {
    literal: Lit,
    switches: usize,
}

/// A trace program in the solver, with its questions.
pub(crate) struct Search {
    /// See [`Prediction::lifted_from`].
    lifted_from: Option<usize>,
    /// What is not covered, in words.
    gaps: Vec<String>,
    /// With the literal that is only true if the answer is yes.
    questions: Vec<(Question, Lit)>,
    /// Some question has an answer.
    any: Lit,
    /// The same of branches that may go another way.
    untaken: Untaken,
    encoded: Encoded,
    encode_seconds: f64,
    solve_seconds: f64,
}

/// What the questions leave out, in words.
fn gaps_of_questions(
    program: Option<&Program>,
    ctp: &TraceProgram,
    options: &PredictOptions,
    knows_all: bool,
    left_out: bool,
) -> Vec<String> {
    let mut gaps = Vec::new();
    if left_out {
        gaps.push("of very many pairs from the same places, only those closest in time were asked about".to_string());
    }
    let waits = |program| knows_all && ctp.callbacks.may_wake && !stuck_places(program, ctp).is_empty();
    if options.properties.deadlock && program.is_some_and(waits) {
        gaps.push(
            "signal handlers, or other functions that are called from outside of the program, may wake waiting \
             threads: only deadlocks that are circles of locks were searched"
                .to_string(),
        );
    }
    gaps
}

fn add_gaps(gaps: &mut Vec<String>, more: Vec<String>) {
    for gap in more {
        if !gaps.contains(&gap) {
            gaps.push(gap);
        }
    }
}

impl Search {
    /// Encodes a trace program and all questions about it. `knows_all`: the next step of every thread is known.
    pub(crate) fn new(
        program: Option<&Program>,
        ctp: &mut TraceProgram,
        options: &PredictOptions,
        knows_all: bool,
        gaps: &mut Vec<String>,
    ) -> Search {
        let start = Instant::now();
        let (questions, left_out) = questions(program, ctp, options, knows_all);
        add_gaps(gaps, gaps_of_questions(program, ctp, options, knows_all, left_out));
        let mut seeds: Vec<Term> = Vec::new();
        for question in &questions {
            if let Question::Target(id) = question {
                seeds.extend([ctp.targets[*id].guard, ctp.targets[*id].bad]);
            }
        }
        let asks_for_branches = program.is_some() && options.untaken_branches && options.model == Model::Symbolic;
        if asks_for_branches {
            seeds.extend(ctp.untaken.iter().flat_map(|branch| [branch.guard, branch.condition]));
        }
        let wanted = Wanted {
            frees: options.properties.memory,
            reads: options.model != Model::Symbolic,
            events: questions.iter().flat_map(Question::needs).collect(),
            atomics: questions.iter().any(|one| matches!(one, Question::Unordered(..))),
        };
        let mut encoded = Encoded::new(ctp, &seeds, &wanted, options.model, options.encoding);
        let asks_for_global_deadlock = questions.iter().any(|one| matches!(one, Question::GlobalDeadlock(_)));
        if let (Some(program), true) = (program, asks_for_global_deadlock) {
            encoded.add_stuck(program, ctp);
        }
        if let (Some(program), true) = (program, wanted.atomics) {
            encoded.add_release_acquire(program, ctp);
        }
        let with_literal = |question: Question| {
            let literal = question.literal(ctp, &mut encoded);
            (question, literal)
        };
        let questions: Vec<(Question, Lit)> = questions.into_iter().map(with_literal).collect();
        let any = encoded.solver.new_literal();
        let clause: Vec<Lit> = std::iter::once(!any).chain(questions.iter().map(|(_, literal)| *literal)).collect();
        encoded.solver.add_clause(&clause);
        let untaken = if asks_for_branches { Untaken::new(ctp, &mut encoded) } else { Untaken::default() };
        let encode_seconds = start.elapsed().as_secs_f64();
        let (lifted_from, gaps, solve_seconds) = (None, Vec::new(), 0.0);
        Search { lifted_from, gaps, questions, any, untaken, encoded, encode_seconds, solve_seconds }
    }

    pub(crate) fn add_to(&mut self, stats: &mut Stats, gaps: &mut Vec<String>) {
        add_gaps(gaps, std::mem::take(&mut self.gaps));
        stats.kept += self.encoded.slice.kept.values().map(Vec::len).sum::<usize>();
        stats.questions += self.questions.len();
        stats.links += self.encoded.links;
        stats.windows += 1;
        stats.conflicts += self.encoded.solver.statistics().conflicts;
        stats.encode_seconds += self.encode_seconds;
        stats.solve_seconds += self.solve_seconds;
    }

    pub(crate) fn run(&mut self, ctp: &TraceProgram, options: &PredictOptions, confirm: &mut Confirm<'_>) -> Reach {
        match self.ask(ctp, options, confirm) {
            Reach::All if self.untaken.ask(ctp, &mut self.encoded, options, confirm) => Reach::First,
            reach => reach,
        }
    }

    fn ask(&mut self, ctp: &TraceProgram, options: &PredictOptions, confirm: &mut Confirm<'_>) -> Reach {
        if self.questions.is_empty() {
            return Reach::All;
        }
        // Without any event the formula is satisfiable. If it is not, the encoding is wrong, and so is every
        // refutation.
        match self.encoded.solver.solve(&[], &options.limits) {
            Answer::Satisfiable => {}
            Answer::Unknown(stop) => return Reach::Stopped(stop),
            Answer::Unsatisfiable => return Reach::Stopped(Stop::Solver),
        }
        let Some(most) = options.context_bound else {
            return self.find_all(ctp, options, None, confirm).unwrap_or(Reach::All);
        };
        let nodes = self.encoded.all_nodes();
        for switches in 1..=most.max(1) {
            let literal = self.encoded.solver.bound_switches(&nodes, switches);
            match self.find_all(ctp, options, Some(Bound { literal, switches }), confirm) {
                Some(reach) => return reach,
                // The refutation did not need the bound: it holds for any number of switches.
                None if !self.encoded.solver.failed().contains(&literal) => {
                    self.lifted_from = Some(switches);
                    return Reach::All;
                }
                None => {}
            }
        }
        Reach::Switches(most)
    }

    /// An order of all events; none if the encoding does not even admit the recorded run: after a wait that ended without
    /// a signal, for instance.
    fn recorded_order(&mut self, ctp: &TraceProgram, options: &PredictOptions) -> Option<Vec<EventId>> {
        let all = all_events_happen(&self.encoded, ctp);
        match self.encoded.solver.solve(&all, &options.limits) {
            Answer::Satisfiable => Some(self.encoded.schedule()),
            _ => None,
        }
    }

    /// Asks for answers until there are none. Gives why it ended earlier, if it did.
    fn find_all(
        &mut self,
        ctp: &TraceProgram,
        options: &PredictOptions,
        bound: Option<Bound>,
        confirm: &mut Confirm<'_>,
    ) -> Option<Reach> {
        loop {
            let assumptions: Vec<Lit> = std::iter::once(self.any).chain(bound.map(|bound| bound.literal)).collect();
            let start = Instant::now();
            let answer = self.encoded.solver.solve(&assumptions, &options.limits);
            self.solve_seconds += start.elapsed().as_secs_f64();
            match answer {
                Answer::Unsatisfiable => return None,
                Answer::Unknown(stop) => return Some(Reach::Stopped(stop)),
                Answer::Satisfiable => {}
            }
            let found = self.questions.iter().find(|(_, literal)| self.encoded.solver.value(*literal)).cloned();
            // (A model without an answer would be an error of the solver.)
            let Some((question, literal)) = found else { return Some(Reach::Stopped(Stop::Solver)) };
            let blocked = self.encoded.stuck_now(ctp);
            match self.confirm_one(ctp, options, &question, literal, bound, confirm) {
                Confirmation::PathEnds { thread, point, why } => {
                    // If that does not rule the answer out, the answer is about what comes after: it is no answer.
                    if !self.encoded.never_pass(ctp, thread, point) {
                        self.exclude(ctp, &question, &blocked, false);
                    }
                    add_gaps(&mut self.gaps, vec![why]);
                }
                Confirmation::Confirmed => {
                    self.exclude(ctp, &question, &blocked, true);
                    if !options.all {
                        return Some(Reach::First);
                    }
                }
                Confirmation::Unconfirmed => self.exclude(ctp, &question, &blocked, false),
            }
        }
    }

    /// Confirms the answer in the solver's model; if that fails, an answer in which threads execute less.
    fn confirm_one(
        &mut self,
        ctp: &TraceProgram,
        options: &PredictOptions,
        question: &Question,
        literal: Lit,
        bound: Option<Bound>,
        confirm: &mut Confirm<'_>,
    ) -> Confirmation {
        let order = self.encoded.schedule();
        let switches = bound.map(|bound| bound.switches);
        let confirmation = confirm(ctp, question, &order, switches);
        if !matches!(confirmation, Confirmation::Unconfirmed) {
            return confirmation;
        }
        match shortest(&mut self.encoded, options, bound.map(|bound| bound.literal), literal, order) {
            Some(shorter) => confirm(ctp, question, &shorter, switches),
            None => confirmation,
        }
    }

    /// Does not ask this again; if it is confirmed, nothing about the same places either.
    fn exclude(&mut self, ctp: &TraceProgram, question: &Question, blocked: &BTreeSet<Place>, is_confirmed: bool) {
        let key = question.key(ctp);
        for (other, literal) in &self.questions {
            let is_same = is_confirmed
                && match (question, other) {
                    // One deadlock, wherever its threads are blocked.
                    (Question::GlobalDeadlock(_), Question::GlobalDeadlock(place)) => blocked.contains(place),
                    _ => std::mem::discriminant(other) == std::mem::discriminant(question) && other.key(ctp) == key,
                };
            if is_same || other == question {
                self.encoded.solver.add_clause(&[!*literal]);
            }
        }
    }
}

/// An answer to the same question in which threads execute no more than they have to; None if this is one. A thread
/// that ran on without need may have come to something that the recorded run did not show.
pub(super) fn shortest(
    encoded: &mut Encoded,
    options: &PredictOptions,
    bound: Option<Lit>,
    question: Lit,
    order: Vec<EventId>,
) -> Option<Vec<EventId>> {
    let mut assumed: Vec<Lit> = [Some(question), bound].into_iter().flatten().collect();
    let mut best = order.clone();
    for events in encoded.slice.kept.clone().into_values() {
        // The fewest events of this thread that will do.
        let executed = |best: &[EventId]| events.iter().take_while(|id| best.contains(id)).count();
        let (mut least, mut most) = (0, executed(&best));
        while least < most {
            let middle = (least + most) / 2;
            assumed.extend(encoded.happens(events[middle]).map(|lit| !lit));
            if encoded.solver.solve(&assumed, &options.limits) == Answer::Satisfiable {
                best = encoded.schedule();
                most = executed(&best).min(middle);
            } else {
                least = middle + 1;
            }
            assumed.pop();
        }
        if let Some(next) = events.get(most) {
            assumed.extend(encoded.happens(*next).map(|lit| !lit));
        }
    }
    (best != order).then_some(best)
}
