//! From a model to a witness: who holds the token when, and what it does then.
//!
//! The passes of the model lead from holder to holder. Between acquiring and releasing the token a thread makes its visible
//! steps in order. The interpreter makes the same ones, and must see the violation itself: otherwise nothing is claimed.

use crate::layout::ThreadIndex;
use crate::token::{Goal, Token};
use crate::unroll::Unroller;
use leno_engine::machine_options;
use leno_engine::witness::{Follower, Inputs, Stepped, claim_race, claim_violation};
use leno_ir::interp::{Image, Machine, Status, ThreadId};
use leno_ir::program::Place;
use leno_ir::witness::Witness;
use leno_logic::term::Evaluation;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A visible step of the model.
#[derive(Clone, Copy, Debug)]
struct Planned {
    thread: ThreadIndex,
    depth: u32,
    place: Place,
    starts: Option<ThreadIndex>,
}

/// A thread that runs on its own from one depth to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    pub thread: ThreadIndex,
    pub from: u32,
    /// None: it is interrupted by what is found.
    pub to: Option<u32>,
}

/// The schedule of a model.
pub struct Plan {
    steps: Vec<Planned>,
    inputs: BTreeMap<ThreadIndex, Vec<u128>>,
    pub turns: Vec<Turn>,
}

/// More private steps than this between two visible ones are too many.
const MOST_STEPS: usize = 1 << 20;

/// What a model does, in order.
pub fn plan(unroller: &Unroller<'_>, token: &mut Token) -> Plan {
    let assignment = token.solver.model(&unroller.terms);
    let mut evaluation = Evaluation::new(&unroller.terms, &assignment);
    let mut made: BTreeMap<ThreadIndex, Vec<Planned>> = BTreeMap::new();
    for step in &unroller.steps {
        if evaluation.holds(step.made) {
            let starts = step.starts.iter().find(|(_, condition)| evaluation.holds(*condition));
            let starts = starts.map(|(thread, _)| *thread);
            let planned = Planned { thread: step.thread, depth: step.depth, place: step.place, starts };
            made.entry(step.thread).or_default().push(planned);
        }
    }
    made.values_mut().for_each(|steps| steps.sort_by_key(|step| step.depth));
    let passed: Vec<_> = token.passes.iter().copied().filter(|pass| token.solver.value(pass.passes)).collect();
    let (mut steps, mut turns) = (Vec::new(), Vec::new());
    let (mut holder, mut from) = (ThreadIndex(0), 0);
    // (There are no more turns than passes.)
    for _ in 0..=passed.len() {
        let writes = |pass: &&crate::token::Pass| {
            let write = &unroller.writes[pass.from];
            write.thread == holder && write.depth >= from
        };
        let pass = passed.iter().filter(writes).min_by_key(|pass| unroller.writes[pass.from].depth).copied();
        let until = pass.map(|pass| unroller.writes[pass.from].depth);
        let own = made.get(&holder).into_iter().flatten();
        steps.extend(own.filter(|step| step.depth >= from && until.is_none_or(|until| step.depth < until)));
        turns.push(Turn { thread: holder, from, to: until });
        let Some(pass) = pass else { break };
        (holder, from) = (unroller.reads[pass.to].thread, unroller.reads[pass.to].depth);
    }
    let mut inputs: BTreeMap<ThreadIndex, Vec<u128>> = BTreeMap::new();
    for input in &unroller.inputs {
        if evaluation.holds(input.path) {
            inputs.entry(input.thread).or_default().push(evaluation.value(input.value).number());
        }
    }
    Plan { steps, inputs, turns }
}

impl Plan {
    /// The names of the threads, as they are created.
    fn names(&self) -> BTreeMap<ThreadIndex, String> {
        let mut names: BTreeMap<ThreadIndex, String> = [(ThreadIndex(0), "main".to_string())].into();
        let mut children: BTreeMap<ThreadIndex, u32> = BTreeMap::new();
        for step in &self.steps {
            let (Some(child), Some(parent)) = (step.starts, names.get(&step.thread).cloned()) else { continue };
            let number = children.entry(step.thread).or_default();
            *number += 1;
            names.insert(child, format!("{parent}.{number}"));
        }
        names
    }

    /// The context switches in the paper's notation: `(1: 0,127)→(2: 0,127)→(1: 128,-)`, the main thread being 0.
    pub fn switches(&self) -> String {
        let mut text = String::new();
        for (index, turn) in self.turns.iter().enumerate() {
            let arrow = if index == 0 { "" } else { "→" };
            let to = turn.to.map_or("-".to_string(), |to| to.to_string());
            // (Writing to a string does not fail.)
            let _ = write!(text, "{arrow}({}: {},{to})", turn.thread.0, turn.from);
        }
        text
    }
}

/// A run of the interpreter that makes the steps of a plan.
struct Run<'p> {
    follower: Follower<'p>,
    threads: BTreeMap<ThreadIndex, ThreadId>,
}

impl Run<'_> {
    fn thread(&self, index: ThreadIndex) -> Result<ThreadId, String> {
        self.threads.get(&index).copied().ok_or_else(|| "a thread that was not started has to run".to_string())
    }

    /// Runs a thread until it is about to make the step at a place.
    fn until(&mut self, index: ThreadIndex, place: Place) -> Result<(), String> {
        let thread = self.thread(index)?;
        for _ in 0..MOST_STEPS {
            if self.follower.place(thread) == place && self.follower.machine.threads()[thread].status == Status::Running
            {
                return Ok(());
            }
            match self.follower.step(thread) {
                Stepped::Made => {}
                other => {
                    return Err(format!("{} goes elsewhere: {other:?}", self.follower.machine.thread_name(thread)));
                }
            }
        }
        Err("a thread goes on for ever".to_string())
    }

    fn make(&mut self, step: &Planned) -> Result<(), String> {
        self.until(step.thread, step.place)?;
        let thread = self.thread(step.thread)?;
        let count = self.follower.machine.threads().len();
        match self.follower.step(thread) {
            Stepped::Made | Stepped::Exited => {}
            other => return Err(format!("a step cannot be made: {other:?}")),
        }
        if let Some(started) = step.starts
            && self.follower.machine.threads().len() > count
        {
            self.threads.insert(started, ThreadId(count as u32));
        }
        Ok(())
    }
}

/// Has the interpreter follow a plan to a goal.
pub fn follow(unroller: &Unroller<'_>, token: &Token, plan: &Plan, goal: Goal) -> Result<(Witness, bool), String> {
    let image = Image::new(unroller.efsm.program());
    let mut inputs = Inputs::of_instructions();
    let names = plan.names();
    for (thread, values) in &plan.inputs {
        if let Some(name) = names.get(thread) {
            inputs.plan(name.clone(), values.iter().copied());
        }
    }
    let machine = Machine::new(&image, &machine_options(true));
    let threads = [(ThreadIndex(0), ThreadId(0))].into();
    let mut run = Run { follower: Follower::new(machine, inputs), threads };
    let claim = match goal {
        Goal::Violation(index) => {
            let violation = &unroller.violations[index];
            let is_last = |step: &Planned| step.thread == violation.thread && step.depth <= violation.depth;
            let count = plan.steps.iter().rposition(is_last).map_or(0, |last| last + 1);
            // (A thread that has made no step yet was started by one.)
            let started = plan.steps.iter().position(|step| step.starts == Some(violation.thread));
            for step in &plan.steps[..count.max(started.map_or(0, |start| start + 1))] {
                run.make(step)?;
            }
            let thread = run.thread(violation.thread)?;
            let found = (0..MOST_STEPS).map(|_| run.follower.step(thread)).find(|stepped| *stepped != Stepped::Made);
            match found {
                Some(Stepped::Violation(found)) if unroller.properties.covers(found.kind) => claim_violation(&found),
                other => return Err(format!("the thread goes on without a violation: {other:?}")),
            }
        }
        Goal::Race { pass, last, next } => {
            let pass = token.passes[pass];
            let (write, read) = (&unroller.writes[pass.from], &unroller.reads[pass.to]);
            let (first, second) = (&write.last[last], &read.next[next]);
            let access =
                plan.steps.iter().position(|step| step.thread == write.thread && step.depth + 2 == write.depth);
            for step in &plan.steps[..access.ok_or("the access is not made")?] {
                run.make(step)?;
            }
            run.until(write.thread, first.place)?;
            run.until(read.thread, second.place)?;
            let (first, second) = (run.thread(write.thread)?, run.thread(read.thread)?);
            claim_race(&run.follower.machine, first, second).ok_or("the accesses do not conflict")?
        }
    };
    let is_tainted = run.follower.machine.is_tainted();
    Ok((run.follower.into_witness(claim), is_tainted))
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(out, "{}", self.switches())?;
        self.steps.iter().try_for_each(|step| writeln!(out, "{step:?}"))
    }
}
