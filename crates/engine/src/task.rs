//! What an engine is asked: which properties, within which bounds.

use crate::Reported;
use leno_ir::interp::{Options, UndefinedPolicy, ViolationKind};
use std::collections::BTreeSet;

/// Which violations are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Properties {
    pub assertion: bool,
    pub race: bool,
    pub deadlock: bool,
    pub memory: bool,
    /// Accesses stay in the object that their address was computed from. (Part of `memory`; by itself only for the prover.)
    pub bounds: bool,
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
        bounds: false,
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
            IndexOutOfBounds | OutOfBounds => self.memory || self.bounds,
            NullDereference | InvalidPointer | UseAfterFree | UseAfterScope | WriteToConstant | DoubleFree
            | InvalidFree => self.memory,
            _ => self.other,
        }
    }

    /// Flag by flag.
    fn combine(self, others: Properties, of: impl Fn(bool, bool) -> bool) -> Properties {
        Properties {
            assertion: of(self.assertion, others.assertion),
            race: of(self.race, others.race),
            deadlock: of(self.deadlock, others.deadlock),
            memory: of(self.memory, others.memory),
            bounds: of(self.bounds, others.bounds),
            overflow: of(self.overflow, others.overflow),
            leak: of(self.leak, others.leak),
            memtrack: of(self.memtrack, others.memtrack),
            other: of(self.other, others.other),
        }
    }

    /// These, and others.
    pub fn and(self, others: Properties) -> Properties {
        self.combine(others, |here, there| here || there)
    }

    /// Those that are asked for here and there.
    pub fn in_common(self, others: Properties) -> Properties {
        self.combine(others, |here, there| here && there)
    }

    /// Those that are asked for here, and not there.
    pub fn without(self, others: Properties) -> Properties {
        self.combine(others, |here, there| here && !there)
    }

    /// What is not looked for here, but ends executions all the same: undefined behaviour, beyond which a program
    /// cannot be followed. (A false assertion ends the real program, too; races, deadlocks and leaks end nothing.)
    pub fn unasked_ends(&self) -> Properties {
        Properties { memory: !self.memory, overflow: !self.overflow, other: !self.other, ..Properties::NONE }
    }
}

impl Default for Properties {
    fn default() -> Properties {
        Properties::DEFAULT
    }
}

/// How far to unroll. What has no bound here starts with a small one, which is raised as long as that is needed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Unwinding {
    /// The bound of every loop that is not named.
    pub fixed: Option<u32>,
    /// Loops by name (`file:line` or `function:line` of their heads, or a function for its recursion), and their
    /// bounds.
    pub named: Vec<(String, u32)>,
}

/// Which executions are looked at. An engine applies the bounds that it has; what is left out, its outcome says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Of bounded model checking.
    pub unwinding: Unwinding,
    /// At most so many switches between threads.
    pub context_switches: Option<usize>,
    /// At most so many switches away from threads that could go on.
    pub preemptions: Option<u32>,
    /// At most so many bytes allocated by the program at once.
    pub memory: Option<u64>,
    /// At most so many executions, of an engine that looks at them one by one.
    pub executions: Option<u64>,
    /// At most so many events in one execution that is followed step by step.
    pub depth: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            unwinding: Unwinding::default(),
            context_switches: None,
            preemptions: None,
            memory: None,
            executions: None,
            depth: 20_000,
        }
    }
}

/// What an engine is asked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Task {
    pub properties: Properties,
    pub bounds: Bounds,
    /// What has been reported already, and is not looked for again.
    pub reported: BTreeSet<Reported>,
}

impl Task {
    pub fn new(properties: Properties) -> Task {
        Task { properties, ..Task::default() }
    }
}

/// How the interpreter runs programs for engines: undefined values may be anything. With `spurious_wakeups`, a wait on
/// a condition variable may end without a signal; where deadlocks are looked for it may not, since a lost signal would
/// never be one.
pub fn machine_options(spurious_wakeups: bool) -> Options {
    Options { undefined: UndefinedPolicy::Nondet, spurious_wakeups, happens_before: true, ..Options::default() }
}
