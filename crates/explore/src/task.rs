//! What is asked of a search, and what it answers.

use crate::event::Choice;
use leno_ir::interp::{Blocked, ThreadId, Violation, ViolationKind};

/// Which violations are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Properties {
    pub assertion: bool,
    pub race: bool,
    pub deadlock: bool,
    pub memory: bool,
    pub overflow: bool,
    /// Everything is freed when the program ends.
    pub leak: bool,
    /// Everything that is not freed when the program ends can still be reached.
    pub memtrack: bool,
    /// Division by zero, misuse of locks and threads, …: all the rest.
    pub other: bool,
}

impl Properties {
    /// What a list of properties starts from.
    pub const NONE: Properties = Properties {
        assertion: false,
        race: false,
        deadlock: false,
        memory: false,
        overflow: false,
        leak: false,
        memtrack: false,
        other: false,
    };

    /// All but those that must be asked for.
    pub const DEFAULT: Properties =
        Properties { assertion: true, race: true, deadlock: true, memory: true, other: true, ..Properties::NONE };

    pub fn covers(&self, kind: ViolationKind) -> bool {
        use ViolationKind::*;
        match kind {
            Assertion => self.assertion,
            SignedOverflow => self.overflow,
            Leak => self.leak,
            LostMemory => self.memtrack,
            NullDereference | OutOfBounds | InvalidPointer | UseAfterFree | UseAfterScope | WriteToConstant
            | DoubleFree | InvalidFree => self.memory,
            _ => self.other,
        }
    }
}

/// When to give up.
pub struct Limits<'a> {
    /// Asked now and then: true means stop.
    pub interrupted: &'a dyn Fn(&Stats) -> bool,
    /// Events in one execution.
    pub depth: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Executions explored to their end.
    pub executions: u64,
    /// Executions given up because all that could follow had been explored.
    pub redundant: u64,
    pub events: u64,
    /// Events in the longest execution.
    pub longest: u64,
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
    /// Waits may end without a signal in it.
    pub spurious_wakeups: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    Violation(Box<Violation>),
    /// Both are about to make the access.
    Race {
        first: ThreadId,
        second: ThreadId,
    },
    Deadlock(Vec<Blocked>),
}

impl What {
    /// The threads in which it goes wrong.
    pub fn threads(&self) -> Vec<ThreadId> {
        match self {
            What::Violation(violation) => vec![violation.thread],
            What::Race { first, second } => vec![*first, *second],
            What::Deadlock(blocked) => blocked.iter().map(|blocked| blocked.thread).collect(),
        }
    }
}

/// Why not every execution was explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Incomplete {
    /// Who asked for the search wanted no more.
    Stopped,
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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explored {
    pub finding: Option<Finding>,
    /// Why not every execution was explored; None if every one was.
    pub incomplete: Option<Incomplete>,
    pub stats: Stats,
}

/// What else executions may be restricted to. What is left out is why a search is incomplete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    /// How often at most another thread takes over from one that could go on.
    pub preemptions: Option<u32>,
    /// How many bytes the program may have allocated at once.
    pub memory: Option<u64>,
}
