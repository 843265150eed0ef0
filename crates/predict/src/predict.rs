//! Asking: is there a reordering of the run that goes wrong?
//!
//! All questions are asked at once, as one disjunction. An answer is followed on the interpreter; what that confirms is a finding,
//! and what it does not is left open and said so. With a bound on context switches the bound grows from 1 (paper 003, section 5); if a
//! refutation did not need it, there is nothing with more switches either. A long trace is looked at window by window (`stream`).

use crate::atomicity::Blocks;
use crate::encode::{Encoded, Encoding};
use crate::event::{EventId, Kind, TraceProgram};
use crate::follow::{Reached, follow};
use crate::model::Model;
use crate::question::{Question, questions};
use crate::slice::Wanted;
use crate::stuck::stuck_places;
use leno_explore::Properties;
use leno_ir::interp::{self, ViolationKind};
use leno_ir::program::{Place, Program, Span};
use leno_ir::witness::{Claim, Witness};
use leno_logic::core::Answer;
use leno_logic::limits::{Limits, Stop};
use leno_logic::literal::Lit;
use leno_logic::term::Term;
use std::collections::BTreeSet;
use std::time::Instant;

/// How many events a window has, unless somebody says otherwise. What is encoded grows with the square of the critical sections.
pub const WINDOW: usize = 2_000;

/// What to look for, and how.
#[derive(Clone, Debug)]
pub struct PredictOptions {
    pub properties: Properties,
    pub model: Model,
    pub encoding: Encoding,
    pub blocks: Blocks,
    /// At most so many context switches.
    pub context_bound: Option<usize>,
    /// So many events at a time; None: all of them. Only [`predict_trace`](crate::predict_trace) has windows.
    pub window: Option<usize>,
    /// All findings, one for each place in the program; otherwise the first.
    pub all: bool,
    pub limits: Limits,
    /// What was on the program's standard input.
    pub input: Vec<u8>,
    /// How the interpreter runs the program: its arguments above all.
    pub machine: interp::Options,
}

impl Default for PredictOptions {
    fn default() -> PredictOptions {
        PredictOptions {
            properties: Properties::DEFAULT,
            model: Model::default(),
            encoding: Encoding::default(),
            blocks: Blocks::default(),
            context_bound: None,
            window: Some(WINDOW),
            all: false,
            limits: Limits::default(),
            input: Vec::new(),
            machine: leno_explore::options(true),
        }
    }
}

/// How far the search went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// No other reordering of these events goes wrong.
    All,
    /// None within a window does.
    Windows,
    /// None with at most so many context switches does.
    Switches(usize),
    /// The first finding ended it.
    First,
    Stopped(Stop),
}

/// An answer of the solver.
#[derive(Clone, Debug)]
pub struct Predicted {
    pub title: &'static str,
    /// `file:line` of each place.
    pub places: Vec<String>,
    /// The schedule; or why the interpreter could not follow it.
    pub witness: Result<Box<Witness>, String>,
    /// With how many context switches allowed it was found.
    pub bound: Option<usize>,
    /// On the way the interpreter had to guess what an unknown function does.
    pub is_tainted: bool,
}

/// What it took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    pub threads: usize,
    /// Accesses to memory in the run.
    pub accesses: u64,
    pub events: usize,
    /// What slicing left, in all windows.
    pub kept: usize,
    pub questions: usize,
    pub links: usize,
    pub windows: usize,
    pub conflicts: u64,
    pub encode_seconds: f64,
    pub solve_seconds: f64,
    /// Two walks of the trace.
    pub walk_seconds: f64,
}

pub struct Prediction {
    pub predicted: Vec<Predicted>,
    pub reach: Reach,
    /// The bound on context switches that was asked for and not needed: what holds with so many holds with any number.
    pub lifted_from: Option<usize>,
    /// What is not covered, in words.
    pub gaps: Vec<String>,
    pub stats: Stats,
}

impl Prediction {
    /// The findings that the interpreter has confirmed.
    pub fn confirmed(&self) -> impl Iterator<Item = &Witness> {
        self.predicted.iter().filter_map(|found| found.witness.as_deref().ok())
    }
}

/// Looks for a reordering that goes wrong, in all events at once.
pub fn predict(program: &Program, ctp: &mut TraceProgram, options: &PredictOptions) -> Prediction {
    let mut stats =
        Stats { threads: ctp.threads.len(), accesses: ctp.accesses, events: ctp.events.len(), ..Stats::default() };
    let mut gaps = ctp.gaps.clone();
    let mut judge = Judge::new(program, options);
    let mut asking = Asking::new(Some(program), ctp, options, true, &mut gaps);
    let reach =
        asking.run(ctp, options, &mut |ctp, question, order, bound| judge.take(ctp, &[], question, order, bound));
    asking.add_to(&mut stats, &mut gaps);
    judge.lifted_from = asking.lifted_from;
    if reach == Reach::All && asking.refuses_recorded(ctp, options) {
        gaps.push(
            "the recorded run is not one that Leno's semantics allows: what is outside of it is not known".to_string(),
        );
    }
    judge.conclude(reach, gaps, stats)
}

/// Whether the recorded run is one of the runs that the encoding admits, as it has to be.
pub fn admits_recorded(ctp: &mut TraceProgram, encoding: Encoding) -> bool {
    let wanted = Wanted { frees: true, reads: true, ..Wanted::default() };
    let mut encoded = Encoded::new(ctp, &[], &wanted, Model::Symbolic, encoding);
    let all = everything(&encoded, ctp);
    encoded.solver.solve(&all, &Limits::default()) == Answer::Satisfiable
}

/// All events happen, up to the end of the process.
fn everything(encoded: &Encoded, ctp: &TraceProgram) -> Vec<Lit> {
    let kept = encoded.slice.kept.values().flatten();
    let happen = kept.filter(|id| !matches!(ctp.event(**id).kind, Kind::Exit) && !ctp.event(**id).pending);
    happen.filter_map(|id| encoded.happens(*id)).collect()
}

/// The answers for a trace without a program, which nobody can follow: at most one for each place.
pub(crate) fn answers(ctp: &mut TraceProgram, options: &PredictOptions) -> (Vec<(Question, Vec<EventId>)>, Reach) {
    let mut found = Vec::new();
    let mut asking = Asking::new(None, ctp, options, true, &mut Vec::new());
    let reach = asking.run(ctp, options, &mut |_, question, order, _| {
        found.push((question.clone(), order.to_vec()));
        Heard::Confirmed
    });
    (found, reach)
}

/// Judges answers on the interpreter.
pub(crate) struct Judge<'a> {
    pub(crate) program: &'a Program,
    options: &'a PredictOptions,
    predicted: Vec<Predicted>,
    seen: BTreeSet<(&'static str, Vec<String>)>,
    lifted_from: Option<usize>,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(program: &'a Program, options: &'a PredictOptions) -> Judge<'a> {
        Judge { program, options, predicted: Vec::new(), seen: BTreeSet::new(), lifted_from: None }
    }

    pub(crate) fn conclude(self, reach: Reach, gaps: Vec<String>, stats: Stats) -> Prediction {
        Prediction { predicted: self.predicted, reach, lifted_from: self.lifted_from, gaps, stats }
    }

    /// `past` is what has happened before: threads, and the last schedule points that they passed.
    pub(crate) fn take(
        &mut self,
        ctp: &TraceProgram,
        past: &[(u32, u32)],
        question: &Question,
        order: &[EventId],
        bound: Option<usize>,
    ) -> Heard {
        let mut machine = self.options.machine.clone();
        machine.spurious_wakeups &= !matches!(question, Question::Deadlock(_) | Question::Stuck(_));
        let followed = follow(self.program, ctp, past, question, order, &machine, &self.options.input);
        let is_tainted = followed.as_ref().is_ok_and(|reached| reached.is_tainted);
        if let Ok(Reached { witness, wrong_at: Some((name, point)), .. }) = &followed
            && let Claim::Violation { kind, span, .. } = &witness.claim
            && is_always(*kind)
            && !is_covered(witness, self.options.properties)
            && let Some(thread) = ctp.threads.values().find(|thread| thread.name == *name)
        {
            let why = format!("{name} goes wrong at {} whenever it comes there ({})", self.show(*span), kind.title());
            return Heard::Never { thread: thread.number, point: *point, why };
        }
        let witness = followed.and_then(|reached| match is_covered(&reached.witness, self.options.properties) {
            true => Ok(Box::new(reached.witness)),
            false => Err(match &reached.witness.claim {
                Claim::Violation { kind, span, .. } => {
                    format!("something else goes wrong first: {} at {}", kind.title(), self.show(*span))
                }
                _ => "something else goes wrong first".to_string(),
            }),
        });
        let witness = witness.and_then(|witness| match ctp.is_interrupted && ctp.called_back.write {
            true => {
                Err("a signal handler has written what the program reads, and nobody can say where it ran".to_string())
            }
            false => Ok(witness),
        });
        let is_confirmed = witness.is_ok();
        let places: BTreeSet<String> = self.spans(ctp, question).into_iter().map(|span| self.show(span)).collect();
        let places: Vec<String> = places.into_iter().collect();
        let title = question.title(ctp);
        let key = (title, places.clone());
        let is_new = self.seen.insert(key.clone());
        if is_confirmed {
            // What could not be confirmed in another way need not be told.
            self.predicted.retain(|other| other.witness.is_ok() || (other.title, &other.places) != (key.0, &key.1));
        }
        // Windows overlap: the same may be found again.
        if is_new || is_confirmed {
            self.predicted.push(Predicted { title, places, witness, bound, is_tainted });
        }
        if is_confirmed { Heard::Confirmed } else { Heard::Open }
    }

    fn spans(&self, ctp: &TraceProgram, question: &Question) -> Vec<Span> {
        match question {
            Question::Target(index) => vec![ctp.targets[*index].what.span],
            Question::Race(first, second) | Question::UseAfterFree(first, second) => {
                [first, second].map(|id| ctp.event(*id).span).to_vec()
            }
            Question::Deadlock(events) => events.iter().map(|id| ctp.event(*id).span).collect(),
            Question::Broken(broken) => {
                [broken.first, broken.between, broken.second].map(|id| ctp.event(id).span).to_vec()
            }
            Question::Stuck(place) => {
                let here = ctp.events.iter().find(|event| event.place == *place);
                here.map(|event| event.span).into_iter().collect()
            }
        }
    }

    fn show(&self, span: Span) -> String {
        let file = self.program.files.get(span.file).map_or("", String::as_str);
        format!("{file}:{}", span.line)
    }
}

fn is_covered(witness: &Witness, properties: Properties) -> bool {
    match &witness.claim {
        Claim::Violation { kind, .. } => properties.covers(*kind) || *kind == ViolationKind::DivisionByZero,
        _ => true,
    }
}

/// Whether a violation is the same in all orders in which its thread comes to it on the recorded path: addresses are what they were,
/// and so is what the thread has locked.
fn is_always(kind: ViolationKind) -> bool {
    use ViolationKind::*;
    matches!(kind, OutOfBounds | InvalidPointer | WriteToConstant | InvalidFree | InvalidUnlock)
}

/// What becomes of an answer.
pub(crate) enum Heard {
    Confirmed,
    Open,
    /// A thread never passes this schedule point: it goes wrong there, in the run itself, too.
    Never {
        thread: u32,
        point: u32,
        why: String,
    },
}

/// Hears an answer: the question, the order of events, and the bound.
pub(crate) type Hears<'h> = dyn FnMut(&TraceProgram, &Question, &[EventId], Option<usize>) -> Heard + 'h;

/// A trace program in the solver, with its questions.
pub(crate) struct Asking {
    /// See [`Prediction::lifted_from`].
    lifted_from: Option<usize>,
    /// What is not looked at, in words.
    gaps: Vec<String>,
    questions: Vec<Question>,
    literals: Vec<Lit>,
    any: Lit,
    encoded: Encoded,
    encode_seconds: f64,
    solve_seconds: f64,
}

impl Asking {
    pub(crate) fn new(
        program: Option<&Program>,
        ctp: &mut TraceProgram,
        options: &PredictOptions,
        knows_all: bool,
        gaps: &mut Vec<String>,
    ) -> Asking {
        let start = Instant::now();
        let (questions, left_out) = questions(program, ctp, options.properties, options.blocks, knows_all);
        let why = "of very many pairs from the same places, only those closest in time were asked about";
        if left_out && !gaps.iter().any(|gap| gap == why) {
            gaps.push(why.to_string());
        }
        let why = "signal handlers, or others that are called from outside of the program, may wake those who wait: only those \
                   deadlocks were looked for that are circles of locks";
        let waits = |program| knows_all && ctp.called_back.wake && !stuck_places(program, ctp).is_empty();
        if options.properties.deadlock && program.is_some_and(waits) {
            gaps.push(why.to_string());
        }
        let mut seeds: Vec<Term> = Vec::new();
        for question in &questions {
            if let Question::Target(index) = question {
                seeds.extend([ctp.targets[*index].guard, ctp.targets[*index].bad]);
            }
        }
        let wanted = Wanted {
            frees: options.properties.memory,
            reads: options.model != Model::Symbolic,
            events: questions.iter().flat_map(Question::needs).collect(),
        };
        let mut encoded = Encoded::new(ctp, &seeds, &wanted, options.model, options.encoding);
        if let (Some(program), true) = (program, questions.iter().any(|one| matches!(one, Question::Stuck(_)))) {
            encoded.add_stuck(program, ctp);
        }
        let literals: Vec<Lit> = questions.iter().map(|question| question.literal(ctp, &mut encoded)).collect();
        let any = encoded.solver.new_literal();
        let clause: Vec<Lit> = std::iter::once(!any).chain(literals.iter().copied()).collect();
        encoded.solver.add_clause(&clause);
        let encode_seconds = start.elapsed().as_secs_f64();
        Asking {
            lifted_from: None,
            gaps: Vec::new(),
            questions,
            literals,
            any,
            encoded,
            encode_seconds,
            solve_seconds: 0.0,
        }
    }

    pub(crate) fn add_to(&mut self, stats: &mut Stats, gaps: &mut Vec<String>) {
        for gap in std::mem::take(&mut self.gaps) {
            if !gaps.contains(&gap) {
                gaps.push(gap);
            }
        }
        stats.kept += self.encoded.slice.kept.values().map(Vec::len).sum::<usize>();
        stats.questions += self.questions.len();
        stats.links += self.encoded.links;
        stats.windows += 1;
        stats.conflicts += self.encoded.solver.statistics().conflicts;
        stats.encode_seconds += self.encode_seconds;
        stats.solve_seconds += self.solve_seconds;
    }

    pub(crate) fn run(&mut self, ctp: &TraceProgram, options: &PredictOptions, hears: &mut Hears<'_>) -> Reach {
        if self.questions.is_empty() {
            return Reach::All;
        }
        // With no event at all, everything is consistent. If it is not, no answer means anything.
        match self.encoded.solver.solve(&[], &options.limits) {
            Answer::Satisfiable => {}
            Answer::Unknown(stop) => return Reach::Stopped(stop),
            Answer::Unsatisfiable => return Reach::Stopped(Stop::Solver),
        }
        let Some(most) = options.context_bound else {
            return self.ask_until_none(ctp, options, None, hears).unwrap_or(Reach::All);
        };
        let nodes = self.encoded.all_nodes();
        for bound in 1..=most.max(1) {
            let literal = self.encoded.solver.bound_switches(&nodes, bound);
            match self.ask_until_none(ctp, options, Some((literal, bound)), hears) {
                Some(reach) => return reach,
                // The refutation did not need the bound: it holds for any number of switches.
                None if !self.encoded.solver.failed().contains(&literal) => {
                    self.lifted_from = Some(bound);
                    return Reach::All;
                }
                None => {}
            }
        }
        Reach::Switches(most)
    }

    /// Whether the encoding does not even admit the run that was recorded: a wait that ended without a signal, for instance.
    fn refuses_recorded(&mut self, ctp: &TraceProgram, options: &PredictOptions) -> bool {
        let all = everything(&self.encoded, ctp);
        self.encoded.solver.solve(&all, &options.limits) == Answer::Unsatisfiable
    }

    /// Asks for answers until there are none; why it ended earlier, if it did.
    fn ask_until_none(
        &mut self,
        ctp: &TraceProgram,
        options: &PredictOptions,
        bound: Option<(Lit, usize)>,
        hears: &mut Hears<'_>,
    ) -> Option<Reach> {
        loop {
            let assumptions: Vec<Lit> = std::iter::once(self.any).chain(bound.map(|(literal, _)| literal)).collect();
            let start = Instant::now();
            let answer = self.encoded.solver.solve(&assumptions, &options.limits);
            self.solve_seconds += start.elapsed().as_secs_f64();
            match answer {
                Answer::Unsatisfiable => return None,
                Answer::Unknown(stop) => return Some(Reach::Stopped(stop)),
                Answer::Satisfiable => {}
            }
            let found = self.literals.iter().position(|lit| self.encoded.solver.value(*lit));
            let Some(found) = found else { return Some(Reach::Stopped(Stop::Cancelled)) };
            let question = self.questions[found].clone();
            let stuck = self.encoded.stuck_now(ctp);
            let order = self.encoded.schedule();
            let allowed = bound.map(|(_, bound)| bound);
            let mut heard = hears(ctp, &question, &order, allowed);
            if let Heard::Open = heard {
                let shorter = self.shorter(options, bound.map(|(literal, _)| literal), self.literals[found], order);
                if let Some(shorter) = shorter {
                    heard = hears(ctp, &question, &shorter, allowed);
                }
            }
            if let Heard::Never { thread, point, why } = heard {
                // If that did not rule the answer out, it is about what comes after: there is nothing to find.
                if !self.encoded.never_pass(ctp, thread, point) {
                    self.forget(ctp, &question, &stuck, false);
                }
                if !self.gaps.contains(&why) {
                    self.gaps.push(why);
                }
                continue;
            }
            let is_confirmed = matches!(heard, Heard::Confirmed);
            self.forget(ctp, &question, &stuck, is_confirmed);
            if is_confirmed && !options.all {
                return Some(Reach::First);
            }
        }
    }

    /// An answer to the same question in which threads do no more than they have to; None if this is one. A thread that ran on
    /// for no reason may have run into something that the recorded run did not show.
    fn shorter(
        &mut self,
        options: &PredictOptions,
        bound: Option<Lit>,
        question: Lit,
        order: Vec<EventId>,
    ) -> Option<Vec<EventId>> {
        let mut assumed: Vec<Lit> = [Some(question), bound].into_iter().flatten().collect();
        let mut best = order.clone();
        for events in self.encoded.slice.kept.clone().into_values() {
            // The fewest events of this thread that will do.
            let made = |best: &[EventId]| events.iter().take_while(|id| best.contains(id)).count();
            let (mut least, mut most) = (0, made(&best));
            while least < most {
                let middle = (least + most) / 2;
                assumed.extend(self.encoded.happens(events[middle]).map(|lit| !lit));
                if self.encoded.solver.solve(&assumed, &options.limits) == Answer::Satisfiable {
                    best = self.encoded.schedule();
                    most = made(&best).min(middle);
                } else {
                    least = middle + 1;
                }
                assumed.pop();
            }
            if let Some(next) = events.get(most) {
                assumed.extend(self.encoded.happens(*next).map(|lit| !lit));
            }
        }
        (best != order).then_some(best)
    }

    /// Does not ask this again; if it is confirmed, nothing about the same places either.
    fn forget(&mut self, ctp: &TraceProgram, question: &Question, stuck: &BTreeSet<Place>, is_confirmed: bool) {
        let key = question.key(ctp);
        for (other, literal) in self.questions.iter().zip(&self.literals) {
            let is_same = is_confirmed
                && match (question, other) {
                    // One deadlock, wherever its threads are stuck.
                    (Question::Stuck(_), Question::Stuck(place)) => stuck.contains(place),
                    _ => std::mem::discriminant(other) == std::mem::discriminant(question) && other.key(ctp) == key,
                };
            if is_same || other == question {
                self.encoded.solver.add_clause(&[!*literal]);
            }
        }
    }
}
