//! What an engine answers: a verdict, what it covers, and what it took.

use leno_ir::program::{Program, Span};
use leno_ir::witness::Witness;
use leno_limits::Stop;
use std::fmt;
use std::time::Duration;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    pub covered: Covered,
    /// What a [`Verdict::Safe`] takes for granted. None of it was proved.
    pub assumptions: Vec<Assumption>,
    pub statistics: Statistics,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Proved, for everything that [`Outcome::covered`] says.
    Safe,
    /// A violation, and how to get there. The interpreter has followed it.
    Unsafe(Box<Counterexample>),
    Unknown(Unknown),
}

impl Verdict {
    pub fn unknown(reason: impl Into<String>, advice: impl Into<String>) -> Verdict {
        Verdict::Unknown(Unknown { reason: Reason::Because(reason.into()), advice: advice.into() })
    }

    pub fn is_unknown(&self) -> bool {
        matches!(self, Verdict::Unknown(_))
    }
}

/// An execution with a violation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterexample {
    pub witness: Witness,
    /// On the way the program calls or reads something that nothing is known of: the real program may behave otherwise,
    /// so this is to be believed only if the real program shows it.
    pub is_tainted: bool,
}

/// Why there is no verdict, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unknown {
    pub reason: Reason,
    pub advice: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// A limit of the context was reached.
    Limit(Stop),
    /// Anything else, in words.
    Because(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Reason::Limit(Stop::Time) => "the time limit was reached",
            Reason::Limit(Stop::Memory) => "the memory limit was reached",
            Reason::Limit(Stop::Cancelled) => "it was interrupted",
            Reason::Limit(Stop::Conflicts | Stop::Solver) => "the solver gave up",
            Reason::Because(reason) => reason,
        })
    }
}

/// What an outcome speaks of: the executions in which there is no violation (other than the one found).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Covered {
    /// In one sentence: `no violation under any schedule and for any input`.
    pub statement: String,
    /// What else there is to say, a line each.
    pub details: Vec<String>,
}

impl Covered {
    pub fn statement(statement: impl Into<String>) -> Covered {
        Covered { statement: statement.into(), details: Vec::new() }
    }

    /// Nothing was looked at from beginning to end.
    pub fn nothing() -> Covered {
        Covered::statement("nothing was looked at completely")
    }

    pub fn with(mut self, detail: impl Into<String>) -> Covered {
        self.details.push(detail.into());
        self
    }
}

/// Assumed where it was not found out whether a wake-up without a signal can lead to a deadlock.
pub const SIGNALS_NEEDED: &str = "no wait on a condition variable ends without a signal on the way to a deadlock";

/// Something that a SAFE takes for granted, without a proof: `no access is out of bounds (queue.c:31)`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Assumption {
    /// A plain sentence, without a capital letter at its beginning or a full stop at its end.
    pub what: String,
    /// The first place in the source that it is about, if there is one.
    pub place: Option<SourcePlace>,
}

/// A place in the source: what people and other programs read, without the program at hand.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SourcePlace {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl Assumption {
    pub fn new(what: impl Into<String>) -> Assumption {
        Assumption { what: what.into(), place: None }
    }

    /// That executions are sequentially consistent, of a program whose first atomic access with a weaker order is here.
    pub fn sequential_consistency(program: &Program, span: Span) -> Assumption {
        Assumption::new(SEQUENTIAL_CONSISTENCY).at(program, span)
    }

    pub fn is_sequential_consistency(&self) -> bool {
        self.what == SEQUENTIAL_CONSISTENCY
    }

    pub fn at(mut self, program: &Program, span: Span) -> Assumption {
        self.place = SourcePlace::of(program, span);
        self
    }
}

const SEQUENTIAL_CONSISTENCY: &str =
    "executions are sequentially consistent, although not all atomic accesses are `seq_cst`";

impl SourcePlace {
    /// None for code that no line of the source stands for.
    pub fn of(program: &Program, span: Span) -> Option<SourcePlace> {
        let file = program.files.get(span.file).filter(|_| span.line > 0)?;
        Some(SourcePlace { file: file.clone(), line: span.line, column: span.column })
    }
}

impl fmt::Display for Assumption {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.what)?;
        self.place.iter().try_for_each(|place| write!(out, " ({place})"))
    }
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.file, self.line)
    }
}

/// What an outcome took: named figures, in the order in which they are shown.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Statistics(Vec<(&'static str, Figure)>);

/// Figures never carry `NaN`, so equality is what it should be.
impl Eq for Statistics {}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Figure {
    Count(u64),
    Seconds(f64),
}

impl Statistics {
    pub fn count(&mut self, name: &'static str, count: u64) {
        self.0.push((name, Figure::Count(count)));
    }

    pub fn time(&mut self, name: &'static str, time: Duration) {
        self.0.push((name, Figure::Seconds(time.as_secs_f64())));
    }

    pub fn get(&self, name: &str) -> Option<Figure> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, figure)| *figure)
    }

    /// The count of that name; zero if there is none.
    pub fn count_of(&self, name: &str) -> u64 {
        match self.get(name) {
            Some(Figure::Count(count)) => count,
            _ => 0,
        }
    }
}

/// Lines of `name: value`.
impl fmt::Display for Statistics {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, figure)| match figure {
            Figure::Count(count) => writeln!(out, "{name}: {count}"),
            Figure::Seconds(seconds) => writeln!(out, "{name}: {seconds:.3}"),
        })
    }
}
