//! What to predict, and what was predicted.

use crate::encode::Encoding;
use crate::encode::causal_model::Model;
use crate::query::atomicity::AtomicBlocks;
use crate::walk::left_out::AllLeftOut;
use leno_engine::Properties;
use leno_ir::interp;
use leno_ir::witness::Witness;
use leno_logic::limits::{Limits, Stop};

/// How many events a window has by default. The size of the encoding grows with the square of the critical sections.
pub const WINDOW: usize = 2_000;

/// What to look for, and how.
#[derive(Clone, Debug)]
pub struct PredictOptions {
    pub properties: Properties,
    pub model: Model,
    pub encoding: Encoding,
    pub blocks: AtomicBlocks,
    /// At most so many context switches.
    pub context_bound: Option<usize>,
    /// So many events at a time; None: all of them. Only [`predict`](crate::predict) has windows.
    pub window: Option<usize>,
    /// All findings, one for each place in the program; otherwise the first.
    pub all: bool,
    /// Whether to look behind branches that were not taken, too; otherwise nothing but the recorded paths counts.
    pub untaken_branches: bool,
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
            blocks: AtomicBlocks::default(),
            context_bound: None,
            window: Some(WINDOW),
            all: false,
            untaken_branches: true,
            limits: Limits::default(),
            input: Vec::new(),
            machine: leno_engine::machine_options(true),
        }
    }
}

/// How far the search went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// No other reordering of these events violates a property.
    All,
    /// None within a window does.
    Windows,
    /// None with at most so many context switches does.
    Switches(usize),
    /// The first finding ended it.
    First,
    Stopped(Stop),
}

/// An answer of the solver: a violation in some reordering.
#[derive(Clone, Debug)]
pub struct Finding {
    pub title: &'static str,
    /// `file:line` of each place.
    pub places: Vec<String>,
    /// The schedule; or why the interpreter could not follow it.
    pub witness: Result<Box<Witness>, String>,
    /// The bound on context switches with which it was found.
    pub bound: Option<usize>,
    /// The interpreter had to guess the result of an unknown function on the way.
    pub is_tainted: bool,
}

/// What it took. Nothing but reports depends on the seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    pub threads: usize,
    /// Accesses to memory in the run.
    pub accesses: u64,
    pub events: usize,
    /// Events that slicing left, in all windows.
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

/// What a prediction says about the reorderings of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Some reordering violates a property, and the interpreter has confirmed it.
    Violated,
    /// No reordering of the recorded events does.
    Holds,
    /// Nothing was confirmed, and not every reordering is covered: see [`Prediction::reach`] and [`Prediction::gaps`].
    Unknown,
}

pub struct Prediction {
    pub findings: Vec<Finding>,
    pub reach: Reach,
    /// The bound on context switches that was asked for and not needed: what holds with so many holds with any number.
    pub lifted_from: Option<usize>,
    /// What is not covered, in words.
    pub gaps: Vec<String>,
    /// Which reorderings are not looked at: what holds, holds without them.
    pub left_out: AllLeftOut,
    pub stats: Stats,
}

impl Prediction {
    pub(crate) fn stopped(stop: Stop, gaps: Vec<String>) -> Prediction {
        let reach = Reach::Stopped(stop);
        Prediction {
            findings: Vec::new(),
            reach,
            lifted_from: None,
            gaps,
            left_out: AllLeftOut::default(),
            stats: Stats::default(),
        }
    }

    /// The findings that the interpreter has confirmed.
    pub fn confirmed(&self) -> impl Iterator<Item = &Witness> {
        self.findings.iter().filter_map(|found| found.witness.as_deref().ok())
    }

    /// Whether every reordering is covered, and every finding confirmed.
    pub fn covers_all(&self) -> bool {
        self.reach == Reach::All && self.gaps.is_empty() && self.findings.iter().all(|found| found.witness.is_ok())
    }

    /// What holds of all reorderings. A finding for which a result had to be guessed does not count as confirmed:
    /// replay on the real program may still confirm it.
    pub fn verdict(&self) -> Verdict {
        if self.findings.iter().any(|found| found.witness.is_ok() && !found.is_tainted) {
            return Verdict::Violated;
        }
        if self.findings.is_empty() && self.covers_all() { Verdict::Holds } else { Verdict::Unknown }
    }
}
