//! Asking: is there a reordering of the run that goes wrong?
//!
//! All questions are asked at once, as one disjunction. An answer is followed on the interpreter; what that confirms is a finding,
//! and what it does not is left open and said so. With a bound on context switches the bound grows from 1 (paper 003, section 5); if a
//! refutation did not need it, there is nothing with more switches either.

use crate::encode::{Encoded, Encoding};
use crate::event::TraceProgram;
use crate::follow::follow;
use crate::model::Model;
use crate::question::{Question, questions};
use crate::slice::Wanted;
use leno_explore::Properties;
use leno_ir::interp::{self, ViolationKind};
use leno_ir::program::Program;
use leno_ir::witness::{Claim, Witness};
use leno_logic::core::Answer;
use leno_logic::limits::{Limits, Stop};
use leno_logic::literal::Lit;
use leno_logic::term::Term;
use std::collections::BTreeSet;
use std::time::Instant;

/// What to look for, and how.
#[derive(Clone, Debug)]
pub struct PredictOptions {
    pub properties: Properties,
    pub model: Model,
    pub encoding: Encoding,
    /// At most so many context switches.
    pub context_bound: Option<usize>,
    /// All findings, one for each place in the program; otherwise the first.
    pub all: bool,
    pub limits: Limits,
    /// How the interpreter runs the program: its arguments above all.
    pub machine: interp::Options,
}

impl Default for PredictOptions {
    fn default() -> PredictOptions {
        PredictOptions {
            properties: Properties::DEFAULT,
            model: Model::default(),
            encoding: Encoding::default(),
            context_bound: None,
            all: false,
            limits: Limits::default(),
            machine: leno_explore::options(true),
        }
    }
}

/// How far the search went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// No other reordering of these events goes wrong.
    All,
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
}

/// What it took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    pub threads: usize,
    /// Accesses to memory in the run.
    pub accesses: u64,
    pub events: usize,
    /// What slicing left.
    pub kept: usize,
    pub questions: usize,
    pub links: usize,
    pub conflicts: u64,
    pub encode_seconds: f64,
    pub solve_seconds: f64,
}

pub struct Prediction {
    pub predicted: Vec<Predicted>,
    pub reach: Reach,
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

/// Looks for a reordering that goes wrong.
pub fn predict(program: &Program, ctp: &mut TraceProgram, options: &PredictOptions) -> Prediction {
    let start = Instant::now();
    let (questions, left_out) = questions(program, ctp, options.properties);
    let mut gaps = ctp.gaps.clone();
    if left_out {
        gaps.push("of very many pairs from the same places, only those closest in time were asked about".to_string());
    }
    let mut seeds: Vec<Term> = Vec::new();
    for question in &questions {
        if let Question::Target(index) = question {
            seeds.extend([ctp.targets[*index].guard, ctp.targets[*index].bad]);
        }
    }
    let wanted = Wanted { frees: options.properties.memory };
    let mut encoded = Encoded::new(ctp, &seeds, wanted, options.model, options.encoding);
    let literals: Vec<Lit> = questions.iter().map(|question| question.literal(ctp, &mut encoded)).collect();
    let any = encoded.solver.new_literal();
    let clause: Vec<Lit> = std::iter::once(!any).chain(literals.iter().copied()).collect();
    encoded.solver.add_clause(&clause);
    let stats = Stats {
        threads: ctp.threads.len(),
        accesses: ctp.accesses,
        events: ctp.events.len(),
        kept: encoded.slice.kept.values().map(Vec::len).sum(),
        questions: questions.len(),
        links: encoded.links,
        encode_seconds: start.elapsed().as_secs_f64(),
        ..Stats::default()
    };
    let mut search = Search { program, ctp, options, questions, literals, any, encoded, predicted: Vec::new(), stats };
    let reach = if search.questions.is_empty() { Reach::All } else { search.run() };
    let Search { predicted, mut stats, encoded, .. } = search;
    stats.conflicts = encoded.solver.statistics().conflicts;
    stats.solve_seconds = start.elapsed().as_secs_f64() - stats.encode_seconds;
    Prediction { predicted, reach, gaps, stats }
}

struct Search<'a> {
    program: &'a Program,
    ctp: &'a TraceProgram,
    options: &'a PredictOptions,
    questions: Vec<Question>,
    literals: Vec<Lit>,
    any: Lit,
    encoded: Encoded,
    predicted: Vec<Predicted>,
    stats: Stats,
}

impl Search<'_> {
    fn run(&mut self) -> Reach {
        let Some(most) = self.options.context_bound else {
            return self.ask_until_none(None).unwrap_or(Reach::All);
        };
        let nodes = self.encoded.all_nodes();
        for bound in 1..=most.max(1) {
            let literal = self.encoded.solver.bound_switches(&nodes, bound);
            match self.ask_until_none(Some((literal, bound))) {
                Some(reach) => return reach,
                // The refutation did not need the bound: it holds for any number of switches.
                None if !self.encoded.solver.failed().contains(&literal) => return Reach::All,
                None => {}
            }
        }
        Reach::Switches(most)
    }

    /// Asks for answers until there are none; why it ended earlier, if it did.
    fn ask_until_none(&mut self, bound: Option<(Lit, usize)>) -> Option<Reach> {
        loop {
            let assumptions: Vec<Lit> = std::iter::once(self.any).chain(bound.map(|(literal, _)| literal)).collect();
            match self.encoded.solver.solve(&assumptions, &self.options.limits) {
                Answer::Unsatisfiable => return None,
                Answer::Unknown(stop) => return Some(Reach::Stopped(stop)),
                Answer::Satisfiable => {}
            }
            let found = self.literals.iter().position(|lit| self.encoded.solver.value(*lit));
            let Some(found) = found else { return Some(Reach::Stopped(Stop::Cancelled)) };
            let is_confirmed = self.take(found, bound.map(|(_, bound)| bound));
            if is_confirmed && !self.options.all {
                return Some(Reach::First);
            }
        }
    }

    /// Follows an answer, and does not ask for it again.
    fn take(&mut self, found: usize, bound: Option<usize>) -> bool {
        let question = self.questions[found].clone();
        let order = self.encoded.schedule();
        let mut machine = self.options.machine.clone();
        machine.spurious_wakeups &= !matches!(question, Question::Deadlock(_));
        let witness = follow(self.program, self.ctp, &question, &order, &machine);
        let witness = witness.and_then(|witness| match is_covered(&witness, self.options.properties) {
            true => Ok(Box::new(witness)),
            false => Err("something else goes wrong first".to_string()),
        });
        let (is_confirmed, key) = (witness.is_ok(), question.key(self.ctp));
        for (other, literal) in self.questions.iter().zip(&self.literals) {
            let is_same = std::mem::discriminant(other) == std::mem::discriminant(&question)
                && is_confirmed
                && other.key(self.ctp) == key;
            if is_same || *other == question {
                self.encoded.solver.add_clause(&[!*literal]);
            }
        }
        let places: BTreeSet<String> = self.places(&question).into_iter().collect();
        let predicted = Predicted {
            title: question.title(self.ctp),
            places: places.into_iter().collect(),
            witness,
            bound,
        };
        self.predicted.push(predicted);
        is_confirmed
    }

    fn places(&self, question: &Question) -> Vec<String> {
        let spans = match question {
            Question::Target(index) => vec![self.ctp.targets[*index].what.span],
            Question::Race(first, second) | Question::UseAfterFree(first, second) => {
                [first, second].map(|id| self.ctp.event(*id).span).to_vec()
            }
            Question::Deadlock(events) => events.iter().map(|id| self.ctp.event(*id).span).collect(),
        };
        let show = |span: leno_ir::program::Span| {
            let file = self.program.files.get(span.file).map_or("", String::as_str);
            format!("{file}:{}", span.line)
        };
        spans.into_iter().map(show).collect()
    }
}

fn is_covered(witness: &Witness, properties: Properties) -> bool {
    match &witness.claim {
        Claim::Violation { kind, .. } => properties.covers(*kind) || *kind == ViolationKind::DivisionByZero,
        _ => true,
    }
}
