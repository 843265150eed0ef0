//! Why the walk of a thread stops.

use leno_trace::{Record, RecordsEnd};
use std::fmt;

/// Why a thread does not continue.
#[derive(Debug)]
pub(crate) enum WalkEnd {
    /// Another thread has to be walked to its end first.
    WaitsForThread,
    /// The recorded path ends here.
    PathEnds,
    /// The rest of the path cannot be walked, which is a gap in what prediction covers.
    Problem(WalkProblem),
}

pub(crate) type WalkResult<T = ()> = Result<T, WalkEnd>;

/// Why the rest of a thread's path cannot be walked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WalkProblem {
    OtherProgram,
    NoRecords,
    BadRecords(RecordsEnd),
    MissingAddresses,
    UnexpectedRecord { expected: &'static str, place: String, found: Record },
    ImpossibleAddress,
    StackTooDeep,
    TooManyThreads,
    UnknownChild,
    ChildOutsideProgram(String),
    UnfinishedChild,
    JoinOfUnknownThread,
}

impl fmt::Display for WalkProblem {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            WalkProblem::OtherProgram => {
                write!(out, "the trace is of another program, or another version of Leno has recorded it")
            }
            WalkProblem::NoRecords => write!(out, "the trace has no records of this thread"),
            WalkProblem::BadRecords(end) => write!(out, "{end}"),
            WalkProblem::MissingAddresses => write!(out, "the trace lacks addresses of static objects or functions"),
            WalkProblem::UnexpectedRecord { expected, place, found } => {
                write!(out, "the program needs a record of {expected} at {place}, and the trace has {found:?}")
            }
            WalkProblem::ImpossibleAddress => write!(out, "the thread accesses an address that no object can have"),
            WalkProblem::StackTooDeep => write!(out, "its calls are nested deeper than a stack allows"),
            WalkProblem::TooManyThreads => write!(out, "the trace numbers more threads than a process can have"),
            WalkProblem::UnknownChild => write!(out, "it starts a thread that the trace does not name"),
            WalkProblem::ChildOutsideProgram(name) => {
                write!(out, "{name} starts in a function that is not part of the program")
            }
            WalkProblem::UnfinishedChild => write!(out, "it joins a thread whose end is not in the trace"),
            WalkProblem::JoinOfUnknownThread => write!(out, "it joins a thread that the program has not started"),
        }
    }
}
