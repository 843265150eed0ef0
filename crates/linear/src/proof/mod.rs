//! Linearizability for any number of threads and calls (paper 001: Holík, Meyer, Vojnar and Wolff, SAS 2017).
//!
//! An [`observer`] says what a stack or a queue is. The operations ([`code`]) are executed step by step ([`machine`]) on abstract
//! heaps ([`view`], [`value`], [`memory`]) in which one thread is seen, and other threads act through summaries, until there is
//! no new view ([`explore`]); every effect of a step on what is shared must be one of a summary ([`mimic`]). Where the
//! observer never reaches an error, every execution is linearizable. All that the abstraction does not carry ends the proof
//! with a reason: there is no verdict against a data structure here.

pub mod code;
pub mod explore;
pub mod initial;
pub mod machine;
pub mod memory;
pub mod mimic;
pub mod observer;
pub mod points;
pub mod show;
pub mod value;
pub mod view;

use crate::operation::{Argument, Operation, Operations};
use code::{Code, StepKind};
use explore::{Exploration, GoesOn};
use leno_ir::program::{Op, Program, Type};
use machine::{Machine, Method, Role};
use memory::{Layout, Memory, Region, Stop};
use observer::Observer;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// What is to be proved.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    pub program: &'a Program,
    pub operations: &'a Operations,
    pub observer: &'a Observer,
    /// How memory comes back. Where no operation calls `free`, this need not be said.
    pub memory: Option<Memory>,
    pub most_views: usize,
}

/// Where an operation takes effect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Point {
    pub operation: String,
    pub line: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proof {
    pub memory: Memory,
    pub views: usize,
    pub mimicked: usize,
    pub points: Vec<Point>,
    /// Some access has a weaker order than sequential consistency.
    pub weak_orders: bool,
    /// An operation calls `free`, which was taken to do nothing.
    pub ignores_free: bool,
    pub counters: usize,
}

/// Why there is no proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoProof {
    pub reason: String,
    /// The view in which it ended, as text and as a graph (DOT).
    pub view: Option<(String, String)>,
    pub views: usize,
}

impl NoProof {
    fn because(reason: impl Into<String>) -> NoProof {
        NoProof { reason: reason.into(), view: None, views: 0 }
    }
}

/// Tries to prove it.
pub fn prove(question: &Question, goes_on: GoesOn) -> Result<Proof, NoProof> {
    let methods = methods(question)?;
    let frees = methods.iter().any(|method| has(&method.code, |op| matches!(op, Op::Free { .. })));
    let memory = match question.memory {
        None if frees => {
            let reason =
                "nodes are freed: say how their memory comes back (--node-memory manual, if freed nodes stay readable)";
            return Err(NoProof::because(reason));
        }
        memory => memory.unwrap_or(Memory::Collected),
    };
    let weak_orders = methods.iter().any(|method| has(&method.code, Op::is_weakly_ordered));
    let mut counters = BTreeSet::new();
    // Version counters are found by and by: each makes all that was known about words void.
    loop {
        match points::search(question, &methods, memory, &counters, goes_on) {
            points::Searched::Proved(mut proof) => {
                proof.weak_orders = weak_orders;
                proof.ignores_free = frees && memory == Memory::Collected;
                return Ok(proof);
            }
            points::Searched::Counter(region, offset) => {
                if !counters.insert((region, offset)) {
                    return Err(NoProof::because("a version counter is not used as one"));
                }
            }
            points::Searched::Failed(failed) => return Err(failed),
        }
    }
}

fn has(code: &Code, test: impl Fn(&Op) -> bool) -> bool {
    code.steps.iter().any(|step| matches!(&step.kind, StepKind::Instruction(op) if test(op)))
}

fn methods(question: &Question) -> Result<Vec<Method>, NoProof> {
    let mut all = Vec::new();
    for operation in &question.operations.all {
        let role = match &operation.name {
            name if *name == question.observer.insert => Role::Insert,
            name if *name == question.observer.remove => Role::Remove,
            name => {
                let Observer { insert, remove, .. } = question.observer;
                let reason = format!("the specification knows `{insert}` and `{remove}`, and not `{name}`");
                return Err(NoProof::because(reason));
            }
        };
        check_arguments(operation, role)?;
        let function = question.program.functions.iter_enumerated().find(|(_, known)| known.name == operation.function);
        let Some((id, _)) = function else {
            return Err(NoProof::because(format!("`{}` is not defined", operation.function)));
        };
        let code = Code::new(question.program, id).map_err(NoProof::because)?;
        all.push(Method::new(role, code, operation));
    }
    let has_role = |role| all.iter().any(|method: &Method| method.role == role);
    match has_role(Role::Insert) && has_role(Role::Remove) {
        true => Ok(all),
        false => Err(NoProof::because(format!(
            "the specification needs both `{}` and `{}` (--op)",
            question.observer.insert, question.observer.remove
        ))),
    }
}

fn check_arguments(operation: &Operation, role: Role) -> Result<(), NoProof> {
    let values = operation.arguments.iter().filter(|kind| matches!(kind, Argument::Number | Argument::Address));
    let results = operation.arguments.iter().filter(|kind| matches!(kind, Argument::Result { .. }));
    let others = operation.arguments.iter().any(|kind| matches!(kind, Argument::Element(_) | Argument::Thread));
    let expected = if role == Role::Insert { 1 } else { 0 };
    let fits = values.count() == expected && results.count() + expected <= 1 && !others;
    match fits {
        true => Ok(()),
        false => Err(NoProof::because(format!(
            "`{}` has other arguments than the proof knows: one value to insert, one place for a result",
            operation.function
        ))),
    }
}

/// A machine for these operations, with what is known of the words of memory.
fn machine<'q>(
    question: &Question<'q>,
    methods: Vec<Method>,
    memory: Memory,
    counters: &BTreeSet<(Region, i64)>,
) -> Machine<'q> {
    let bits = |method: &Method| {
        let value = method.arguments.iter().position(|kind| matches!(kind, Argument::Number | Argument::Address));
        value.map(|at| match method.code.register_type(at as u32) {
            Type::Int(bits) => bits,
            Type::Ptr => question.program.model.pointer_bits(),
            Type::Float(kind) => kind.bits(),
        })
    };
    let uses_lock = methods.iter().any(|method| method.code.uses_lock);
    let data_bits = methods.iter().filter_map(bits).min().unwrap_or(u16::MAX);
    let mut layout = Layout::default();
    layout.counters.clone_from(counters);
    initial::describe_objects(question.program, &mut layout);
    Machine {
        program: question.program,
        methods,
        observer: question.observer,
        memory,
        layout: RefCell::new(layout),
        data_bits,
        is_initial: false,
        uses_lock,
        lock: RefCell::new(None),
        codes: RefCell::new(BTreeMap::new()),
    }
}

/// The views for one choice of linearization points.
fn explore_all(
    machine: &Machine,
    start: view::Shared,
    interference: bool,
    goes_on: GoesOn,
    most_views: usize,
) -> Result<explore::Explored, explore::Failed> {
    Exploration::new(machine, interference).run(start, goes_on, most_views)
}

/// What a stop says to people.
fn reason(stop: &Stop) -> String {
    match stop {
        Stop::Violation(reason) | Stop::Unsupported(reason) => reason.clone(),
        Stop::Split(..) | Stop::Counter(..) => "a step has no result".to_string(),
    }
}
