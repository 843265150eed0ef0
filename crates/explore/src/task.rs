//! What a search answers.

use crate::event::Choice;
use leno_engine::{Stop, machine_options};
use leno_ir::interp::{Blocked, Options, ThreadId, Violation};
use leno_ir::program::Span;
use leno_ir::witness::Claim;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Executions explored to their end.
    pub executions: u64,
    /// Executions given up because all that could follow had been explored.
    pub redundant: u64,
    pub events: u64,
    /// Events in the longest execution.
    pub longest: u64,
    /// States that were reached, if they are remembered.
    pub states: u64,
}

/// A violation, and how to get there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    pub what: What,
    /// The thread of each event, and the nondeterministic values that it asked for.
    pub schedule: Vec<(ThreadId, Vec<Choice>)>,
    /// Names of the threads, by number.
    pub threads: Vec<String>,
    /// Something that nothing is known of was called or read on the way: the real program may behave otherwise.
    pub is_tainted: bool,
    /// How waits may end in it.
    pub wakeups: Wakeups,
}

/// How a wait on a condition variable may end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wakeups {
    OnlyBySignals,
    /// Without a signal, too.
    Anytime,
    /// Without a signal, if that was decided when it began; otherwise by signals only.
    Chosen,
}

impl Wakeups {
    pub fn options(self) -> Options {
        let options = machine_options(self != Wakeups::OnlyBySignals);
        Options { chosen_wakeups: self == Wakeups::Chosen, ..options }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    Violation(Box<Violation>),
    /// Both are about to make the access.
    Race {
        first: ThreadId,
        second: ThreadId,
    },
    /// An access races with one that was made, without any state in which both are about to be.
    Unordered(Box<Unordered>),
    Deadlock(Vec<Blocked>),
}

/// A race with an access that was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unordered {
    /// The threads of the earlier access and of the later one.
    pub threads: [ThreadId; 2],
    pub places: [Span; 2],
    pub claim: Claim,
    /// How many steps a witness has before the later access, which may be inside the last event.
    pub steps: usize,
}

impl What {
    /// The threads in which it goes wrong.
    pub fn threads(&self) -> Vec<ThreadId> {
        match self {
            What::Violation(violation) => vec![violation.thread],
            What::Race { first, second } => vec![*first, *second],
            What::Unordered(race) => race.threads.to_vec(),
            What::Deadlock(blocked) => blocked.iter().map(|blocked| blocked.thread).collect(),
        }
    }
}

/// Why not every execution was explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Incomplete {
    /// A limit was reached.
    Stopped(Stop),
    /// So many executions were to be explored at the most.
    Executions(u64),
    /// So many states were to be reached at the most.
    States(u64),
    /// An execution had more events than this.
    TooLong(usize),
    /// A thread may run for ever without being seen by others.
    Endless,
    /// The program's behaviour depends on something of which only a few cases were tried.
    DependsOn(&'static str),
    /// Schedules with more preemptions than this were left out.
    Preemptions(u32),
    /// The program wants more memory than it may have.
    OutOfMemory,
}

/// What the search established.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Explored {
    pub finding: Option<Finding>,
    /// Why not every execution was explored; None if every one was.
    pub incomplete: Option<Incomplete>,
    pub stats: Stats,
    /// That there is no deadlock was established only for waits that end with signals; a wait where it may matter.
    pub needs_signals: Option<Span>,
}

impl Explored {
    /// Adds what a further search established.
    pub fn add(&mut self, other: Explored) {
        self.finding = self.finding.take().or(other.finding);
        self.incomplete = self.incomplete.or(other.incomplete);
        self.stats.executions += other.stats.executions;
        self.stats.redundant += other.stats.redundant;
        self.stats.events += other.stats.events;
        self.stats.states += other.stats.states;
        self.stats.longest = self.stats.longest.max(other.stats.longest);
    }
}
