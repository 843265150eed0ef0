//! What has to happen for a claim to hold.
//!
//! A claim speaks of threads and of places in the source. Here it becomes: which test the watcher makes at the end,
//! with which threads, and at which numbered places they have to stand.

use leno_ir::interp::{Place, ViolationKind};
use leno_ir::program::{Body, Callee, DataModel, Instr, Op, Program, Span, Terminator, TerminatorKind};
use leno_ir::witness::{Claim, is_schedule_point};
use std::collections::BTreeSet;

/// The test at the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Test {
    Violation,
    Race,
    Deadlock,
    /// Earlier accesses have been noted, and the last one is about to be made: also of a race that needs no state in
    /// which both are.
    Atomicity,
    Leak,
    LostMemory,
}

pub(crate) struct Goal {
    pub test: Test,
    pub threads: Vec<Claimed>,
    pub needs_address_sanitizer: bool,
}

/// A thread, and the numbers of the places where it has to stand. None: it must go wrong on the way.
pub(crate) struct Claimed {
    pub thread: String,
    pub places: Vec<usize>,
}

/// How a violation shows in the running program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shows {
    /// An assertion of the program itself.
    Assertion,
    /// AddressSanitizer ends the process.
    Crash,
    /// The runtime's own checks.
    Check,
    /// The runtime's list of what is allocated, at the end.
    Leftovers,
}

pub(crate) fn shows(kind: ViolationKind) -> Result<Shows, &'static str> {
    use ViolationKind::*;
    match kind {
        Assertion | DivisionByZero | QuotientOverflow | SignedOverflow | IndexOutOfBounds | Unsequenced
        | OverlappingCopy | Unreachable => Ok(Shows::Assertion),
        NullDereference | OutOfBounds | InvalidPointer | UseAfterFree | UseAfterScope | WriteToConstant
        | DoubleFree | InvalidFree | InvalidCall | StackOverflow => Ok(Shows::Crash),
        InvalidUnlock | InvalidDestroy | UseAfterDestroy | InvalidThread => Ok(Shows::Check),
        Leak | LostMemory => Ok(Shows::Leftovers),
        Uninitialised => Err("no compiled program can tell an uninitialised value from another one"),
        InvalidArgument => Err("the real library does not report how it is used"),
    }
}

impl Goal {
    pub(crate) fn watches_leaks(&self) -> bool {
        matches!(self.test, Test::Leak | Test::LostMemory)
    }

    pub(crate) fn new(program: &Program, places: &[Place], claim: &Claim) -> Result<Goal, String> {
        let claimed = |thread: &str, span: Span| Claimed {
            thread: thread.to_string(),
            places: points_at(program, places, span).collect(),
        };
        check_threads(claim)?;
        Ok(match claim {
            Claim::Violation { kind, thread, span, .. } => {
                let shows = shows(*kind).map_err(|why| format!("{} cannot be shown: {why}", kind.title()))?;
                let mut claimed = claimed(thread, *span);
                if shows == Shows::Assertion || *kind == ViolationKind::StackOverflow {
                    claimed.places.clear();
                }
                if shows == Shows::Leftovers {
                    claimed.places = ends(program, places).collect();
                }
                let test = match kind {
                    ViolationKind::Leak => Test::Leak,
                    ViolationKind::LostMemory => Test::LostMemory,
                    _ => Test::Violation,
                };
                // Which object a pointer has left, only AddressSanitizer knows.
                let is_near = *kind == ViolationKind::IndexOutOfBounds && program.model == DataModel::Ilp32;
                let needs_address_sanitizer = shows == Shows::Crash || is_near;
                Goal { test, threads: vec![claimed], needs_address_sanitizer }
            }
            Claim::Race { first, second, made: Some(_) } => Goal {
                test: Test::Atomicity,
                threads: [second, first].map(|racer| claimed(&racer.thread, racer.span)).into(),
                needs_address_sanitizer: false,
            },
            Claim::Race { first, second, made: None } => Goal {
                test: Test::Race,
                threads: [first, second].map(|racer| claimed(&racer.thread, racer.span)).into(),
                needs_address_sanitizer: false,
            },
            Claim::Atomicity { first, between, second, .. } => Goal {
                test: Test::Atomicity,
                threads: [second, first, between].map(|racer| claimed(&racer.thread, racer.span)).into(),
                needs_address_sanitizer: false,
            },
            Claim::Deadlock { waiting } => Goal {
                test: Test::Deadlock,
                threads: waiting.iter().map(|waiting| claimed(&waiting.thread, waiting.span)).collect(),
                needs_address_sanitizer: false,
            },
        })
    }
}

/// A race is between two, and no thread waits twice.
fn check_threads(claim: &Claim) -> Result<(), String> {
    let threads: Vec<&str> = match claim {
        Claim::Violation { .. } => return Ok(()),
        Claim::Race { first, second, .. } => vec![&first.thread, &second.thread],
        Claim::Atomicity { first, second, .. } if first.thread != second.thread => {
            return Err("a block belongs to one thread, and the witness names two".to_string());
        }
        Claim::Atomicity { first, between, .. } => vec![&first.thread, &between.thread],
        Claim::Deadlock { waiting } if waiting.is_empty() => {
            return Err("a deadlock needs threads that wait, and the witness names none".to_string());
        }
        Claim::Deadlock { waiting } => waiting.iter().map(|waiting| waiting.thread.as_str()).collect(),
    };
    let mut seen = BTreeSet::new();
    match threads.into_iter().find(|thread| !seen.insert(*thread)) {
        Some(thread) => Err(format!("the claim names {thread} twice")),
        None => Ok(()),
    }
}

/// What is at a place.
pub(crate) enum Code<'p> {
    Instr(&'p Instr),
    Terminator(&'p Terminator),
}

pub(crate) fn code_at(program: &Program, place: Place) -> Option<Code<'_>> {
    let Body::Blocks(blocks) = &program.functions.get(place.func)?.body else { return None };
    let block = blocks.get(place.block)?;
    match block.instrs.get(place.index as usize) {
        Some(instr) => Some(Code::Instr(instr)),
        None if place.index as usize == block.instrs.len() => Some(Code::Terminator(&block.terminator)),
        None => None,
    }
}

/// The name of the function that is called at a place.
pub(crate) fn called_at(program: &Program, place: Place) -> Option<&str> {
    match code_at(program, place)? {
        Code::Instr(Instr { op: Op::Call { callee: Callee::Direct(id), .. }, .. }) => {
            program.functions.get(*id).map(|function| function.name.as_str())
        }
        _ => None,
    }
}

pub(crate) fn span_at(program: &Program, place: Place) -> Option<Span> {
    Some(match code_at(program, place)? {
        Code::Instr(instr) => instr.span,
        Code::Terminator(terminator) => terminator.span,
    })
}

/// The numbers of the schedule points with this span.
fn points_at<'a>(program: &'a Program, places: &'a [Place], span: Span) -> impl Iterator<Item = usize> + 'a {
    let is_there = move |place: Place| match code_at(program, place) {
        Some(Code::Instr(instr)) => instr.span == span && is_schedule_point(program, instr),
        Some(Code::Terminator(terminator)) => {
            terminator.span == span && !matches!(terminator.kind, TerminatorKind::Unreachable)
        }
        None => false,
    };
    places.iter().enumerate().filter(move |(_, place)| is_there(**place)).map(|(number, _)| number)
}

/// The numbers of the places where the program ends.
fn ends<'a>(program: &'a Program, places: &'a [Place]) -> impl Iterator<Item = usize> + 'a {
    let is_end = |place: Place| match code_at(program, place) {
        Some(Code::Terminator(terminator)) => match terminator.kind {
            TerminatorKind::Exit(_) => true,
            TerminatorKind::Return(_) => program.entry == Some(place.func),
            _ => false,
        },
        _ => false,
    };
    places.iter().enumerate().filter(move |(_, place)| is_end(**place)).map(|(number, _)| number)
}

/// The violation that failing at this place is.
pub(crate) fn failure_at(program: &Program, place: Place) -> Option<ViolationKind> {
    match code_at(program, place)? {
        Code::Instr(instr) => match instr.op {
            Op::Assert { property, .. } => Some(ViolationKind::of(property)),
            Op::CheckMove { .. } => Some(ViolationKind::IndexOutOfBounds),
            _ => None,
        },
        Code::Terminator(_) => Some(ViolationKind::Unreachable),
    }
}
