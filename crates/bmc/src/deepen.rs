//! Deepening: loops start with small bounds, and exactly those are raised that need it.
//!
//! If no violation is found in a round, the solver is asked whether some loop can still go on. The bounds of those that can are
//! doubled, and the program is unrolled again. When none can, the absence of violations is proved.
//!
//! Most violations need few rounds of any loop, also of those that go round a hundred times. So we begin with a sprint, in which these
//! are cut short, too. It only looks for violations; if it cuts nothing short, it is a round like others.

use crate::compose::{Composition, compose};
use crate::features::has_condition_variables;
use crate::loops;
use crate::prune::{keep_all, prune};
use crate::skeleton::Bounded;
use crate::summarize::{Bounds, Summarizer};
use crate::{Staged, Stats, Task, witness};
use leno_explore::Properties;
use leno_ir::program::Program;
use leno_logic::core::Answer;
use leno_logic::limits::{Limits, Stop};
use leno_logic::literal::Lit;
use leno_logic::solver::Solver;
use leno_logic::term::Term;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Why there is no verdict, and what is known all the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unknown {
    pub reason: String,
    /// The limit that was reached, if one was.
    pub stop: Option<Stop>,
    pub completed: Option<Completed>,
}

impl Unknown {
    pub fn because(reason: impl Into<String>) -> Unknown {
        Unknown { reason: reason.into(), stop: None, completed: None }
    }

    fn stopped(stop: Stop, completed: Option<Completed>) -> Unknown {
        Unknown { reason: describe(stop), stop: Some(stop), completed }
    }
}

/// Executions that were all looked at, without finding anything.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Completed {
    /// Those in which each of these goes round at most so often; anything else, as often as it wants.
    pub loops: Vec<(String, u32)>,
    /// And those in which what is allocated at each of these places is of at most so many bytes.
    pub allocations: Vec<(String, u64)>,
    /// Those with at most so many switches between threads.
    pub switches: Option<usize>,
}

impl fmt::Display for Completed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.switches {
            Some(switches) => write!(out, "no violation with at most {switches} switches between threads")?,
            None => write!(out, "no violation under any schedule")?,
        }
        for (index, (name, bound)) in self.loops.iter().enumerate() {
            let before = if index == 0 { " while" } else { ", and" };
            match name.contains(':') {
                true => write!(out, "{before} the loop at {name} goes round at most {bound} times")?,
                false => write!(out, "{before} `{name}` is in itself at most {bound} times")?,
            }
        }
        for (index, (name, bytes)) in self.allocations.iter().enumerate() {
            let before = if index == 0 && self.loops.is_empty() { " while" } else { ", and" };
            write!(out, "{before} at most {bytes} bytes are allocated at {name}")?;
        }
        Ok(())
    }
}

/// How far the engine has come, for others to see while it is at work.
#[derive(Clone, Default, Debug)]
pub struct Progress(Arc<Mutex<Option<Completed>>>);

impl Progress {
    pub fn completed(&self) -> Option<Completed> {
        self.0.lock().ok()?.clone()
    }

    fn report(&self, completed: &Completed) {
        if let Ok(mut known) = self.0.lock() {
            *known = Some(completed.clone());
        }
    }
}

/// What came of one round.
enum Round {
    Decided(Staged),
    Stopped(String),
    /// A limit was reached.
    Limited(Stop),
    /// These can go on.
    Open(Vec<Bounded>),
    /// Nothing was found in a sprint.
    CutShort,
}

/// What cannot be asked together is asked one after the other.
///
/// Waits on condition variables may end without a signal, except where deadlocks are concerned: a lost signal would never be one. And what is lost at the
/// end is found only to be looked at once more, which may fail: that must not stand in the way of anything else.
fn questions(program: &Program, all: Properties) -> Vec<Properties> {
    let mut rest = all;
    let mut later = Vec::new();
    if all.deadlock && has_condition_variables(program) {
        rest.deadlock = false;
        later.push(Properties { deadlock: true, ..Properties::NONE });
    }
    if all.memtrack && !all.leak {
        rest.memtrack = false;
        later.push(Properties { memtrack: true, ..Properties::NONE });
    }
    let first = Some(rest).filter(|rest| *rest != Properties::NONE || later.is_empty());
    first.into_iter().chain(later).collect()
}

/// Each question has a sprint before any is gone into.
pub fn decide(program: &Program, task: &Task, limits: &Limits) -> (Staged, Stats) {
    let mut questions = questions(program, task.properties);
    if let [_] = questions[..] {
        return deepen(program, task, limits, Stage::Both);
    }
    let mut stats = Stats::default();
    let mut ask = |properties: Properties, stage: Stage| {
        let (answer, more) = deepen(program, &Task { properties, ..task.clone() }, limits, stage);
        stats = Stats {
            rounds: stats.rounds + more.rounds,
            conflicts: stats.conflicts + more.conflicts,
            lemmas: stats.lemmas + more.lemmas,
            summarizing: stats.summarizing + more.summarizing,
            pruning: stats.pruning + more.pruning,
            composing: stats.composing + more.composing,
            solving: stats.solving + more.solving,
            ..more
        };
        (answer, stats)
    };
    let mut open = Vec::new();
    for properties in questions.drain(..) {
        match ask(properties, Stage::Sprint) {
            (Staged::Safe, _) => {}
            (Staged::Unsafe(witness), stats) => return (Staged::Unsafe(witness), stats),
            (Staged::Unknown(_), _) => open.push(properties),
        }
    }
    let mut verdict = Staged::Safe;
    for properties in open {
        match ask(properties, Stage::Rest) {
            (Staged::Safe, _) => {}
            (answer @ (Staged::Unsafe(_) | Staged::Unknown(Unknown { stop: Some(_), .. })), stats) => {
                return (answer, stats);
            }
            (answer, _) if matches!(verdict, Staged::Safe) => verdict = answer,
            _ => {}
        }
    }
    (verdict, stats)
}

/// What of a question to look into.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Sprint,
    Rest,
    Both,
}

fn deepen(program: &Program, task: &Task, limits: &Limits, stage: Stage) -> (Staged, Stats) {
    let mut stats = Stats::default();
    let mut bounds = match loops::bounds(program, &task.unwinding) {
        Ok(bounds) => bounds,
        Err(reason) => return (Staged::Unknown(Unknown::because(reason)), stats),
    };
    let chosen: BTreeMap<Bounded, u32> = bounds.particular.clone();
    let is_chosen = |what: &Bounded| task.unwinding.fixed.is_some() || chosen.contains_key(what);
    let mut completed = None;
    bounds.is_sprint = stage != Stage::Rest;
    loop {
        if stats.rounds > 0 && stage == Stage::Sprint {
            return (Staged::Unknown(Unknown { completed, ..Unknown::because("there was a sprint only") }), stats);
        }
        stats.rounds += 1;
        let within = if bounds.is_sprint { sprint(limits) } else { limits.clone() };
        let open = match round(program, task, &bounds, &within, &mut stats) {
            Round::Limited(Stop::Time) if bounds.is_sprint && limits.stop().is_none() => {
                bounds.is_sprint = false;
                continue;
            }
            Round::Decided(staged) => return (staged, stats),
            Round::Stopped(reason) => return (Staged::Unknown(Unknown { reason, stop: None, completed }), stats),
            Round::Limited(stop) => return (Staged::Unknown(Unknown::stopped(stop, completed)), stats),
            Round::Open(open) => open,
            Round::CutShort => {
                bounds.is_sprint = false;
                continue;
            }
        };
        bounds.is_sprint = false;
        let (mut loops, mut allocations) = (Vec::new(), Vec::new());
        for &what in &open {
            match what {
                Bounded::Allocation(_) => allocations.push((loops::name(program, what), bounds.of_allocation(what))),
                _ => loops.push((loops::name(program, what), bounds.of(what))),
            }
        }
        let all = Completed { loops, allocations, switches: task.context_bound };
        // (Others have not been asked for yet.)
        if stage != Stage::Sprint {
            task.progress.report(&all);
        }
        completed = Some(all);
        if open.iter().all(is_chosen) {
            let reason = match open.as_slice() {
                [_] => "a loop can go on beyond its bound".to_string(),
                _ => format!("{} loops can go on beyond their bounds", open.len()),
            };
            return (Staged::Unknown(Unknown { reason, stop: None, completed }), stats);
        }
        for what in open.into_iter().filter(|what| !is_chosen(what)) {
            bounds.particular.insert(what, bounds.of(what).saturating_mul(2));
        }
    }
}

/// A sprint takes a part of the time that is left.
fn sprint(limits: &Limits) -> Limits {
    let now = Instant::now();
    let mut within = limits.clone();
    within.deadline = limits.deadline.map(|end| now + end.saturating_duration_since(now) / SPRINTS_PART);
    within
}

/// One of so many parts of the time is for the sprint.
const SPRINTS_PART: u32 = 6;

fn round(program: &Program, task: &Task, bounds: &Bounds, limits: &Limits, stats: &mut Stats) -> Round {
    // Once interrupted, always interrupted: what was left undone must not be used.
    let stop = Cell::new(None);
    let interrupted = || {
        stop.set(stop.get().or_else(|| limits.stop()));
        stop.get().is_some()
    };
    let start = Instant::now();
    let mut summary = Summarizer::new(program, task, bounds, &interrupted);
    let ran = summary.run();
    stats.summarizing += start.elapsed();
    if let Err(refused) = ran {
        return stop.get().map_or(Round::Stopped(refused.reason), Round::Limited);
    }
    let start = Instant::now();
    let pruned = if task.prune { prune(&mut summary) } else { keep_all(&mut summary) };
    stats.pruning += start.elapsed();
    let start = Instant::now();
    let mut composition = compose(&mut summary, &pruned, Solver::default().within(limits));
    let bound = task.context_bound.map(|switches| bound_switches(&summary, &mut composition, switches));
    stats.composing += start.elapsed();
    if let Some(stop) = stop.get() {
        return Round::Limited(stop);
    }
    count(&summary, stats);
    (stats.links, stats.suspects) = (composition.links, composition.suspects.len());
    let start = Instant::now();
    let outcome = ask(task, &mut summary, &mut composition, bound, limits);
    stats.solving += start.elapsed();
    stats.conflicts += composition.solver.statistics().conflicts;
    stats.lemmas += composition.solver.lemmas();
    match outcome {
        Round::Decided(Staged::Safe) => match summary.skeleton.gaps.first() {
            Some(gap) => Round::Stopped(format!("no violation was found, but {gap}")),
            None => Round::Decided(Staged::Safe),
        },
        other => other,
    }
}

/// What is in a skeleton.
pub fn count(summary: &Summarizer<'_>, stats: &mut Stats) {
    let skeleton = &summary.skeleton;
    stats.threads = skeleton.threads.len();
    stats.events = skeleton.events.len();
    stats.reads = skeleton.events.iter().map(|event| event.reads.len()).sum();
    stats.writes = skeleton.events.iter().map(|event| event.writes.len()).sum();
    stats.instantiated = summary.instantiated;
}

/// The literal under which at most so many times one thread takes over from another.
fn bound_switches(summary: &Summarizer<'_>, composition: &mut Composition, switches: usize) -> Lit {
    let mut happens: BTreeMap<u32, Vec<Term>> = BTreeMap::new();
    for step in &summary.skeleton.steps {
        happens.entry(step.node.0).or_default().push(step.path);
    }
    let mut events = Vec::new();
    for (node, paths) in happens {
        let occurs = composition.solver.new_literal();
        for path in paths {
            let path = composition.solver.literal(&summary.terms, path);
            composition.solver.add_clause(&[!path, occurs]);
        }
        events.push((composition.nodes[node as usize], occurs));
    }
    composition.solver.bound_switches(&events, switches)
}

/// Asks for a violation; none if there is none. The interpreter may confirm one also if the model is wrong about values of
/// floats: that is tried, more and more rarely, while the solver is told about them.
fn find_violation(
    summary: &mut Summarizer<'_>,
    composition: &mut Composition,
    bound: Option<Lit>,
    limits: &Limits,
) -> Option<Round> {
    let mut assumptions: Vec<Lit> = std::iter::once(composition.violated).chain(bound).collect();
    let needed = assumptions.len();
    assumptions.extend(&composition.plain);
    let mut models: u64 = 0;
    loop {
        match composition.solver.solve(&assumptions, limits) {
            Answer::Satisfiable => models += 1,
            Answer::Unknown(stop) => return Some(Round::Limited(stop)),
            Answer::Unsatisfiable if assumptions.len() > needed => {
                assumptions.truncate(needed);
                continue;
            }
            Answer::Unsatisfiable => return None,
        }
        let (mismatches, model) = composition.solver.mismatches(&summary.terms, &composition.copies);
        if mismatches.is_empty() || models.is_power_of_two() {
            match witness::witness(summary, composition) {
                Ok(witness) => return Some(Round::Decided(Staged::Unsafe(Box::new(witness)))),
                Err(reason) if mismatches.is_empty() => {
                    if let Some(stop) = limits.stop() {
                        return Some(Round::Limited(stop));
                    }
                    let reason = match assumptions.len() == needed && !composition.plain.is_empty() {
                        true => {
                            "there may be a violation that depends on input from outside, which is not tried".into()
                        }
                        false => format!("a violation was found that the interpreter does not confirm: {reason}"),
                    };
                    return Some(Round::Stopped(reason));
                }
                Err(_) => {}
            }
        }
        composition.solver.exclude(&mut summary.terms, &mismatches, &model);
    }
}

/// Asks for a violation, and then for loops that can go on.
fn ask(
    task: &Task,
    summary: &mut Summarizer<'_>,
    composition: &mut Composition,
    bound: Option<Lit>,
    limits: &Limits,
) -> Round {
    if let Some(found) = find_violation(summary, composition, bound, limits) {
        return found;
    }
    if summary.is_cut_short {
        return Round::CutShort;
    }
    let mut was_needed = bound.is_some_and(|bound| composition.solver.failed().contains(&bound));
    let whole = composition.peeks.map(|peeks| !peeks);
    if let Some(unaligned) = composition.unaligned {
        let assumptions: Vec<Lit> = std::iter::once(unaligned).chain(whole).collect();
        match composition.solve_exactly(&mut summary.terms, &assumptions, limits) {
            Answer::Satisfiable => {
                return Round::Stopped("a pointer may be used that is not aligned to what it points to".to_string());
            }
            Answer::Unknown(stop) => return Round::Limited(stop),
            Answer::Unsatisfiable => {}
        }
    }
    let mut open: Vec<Bounded> = Vec::new();
    // One by one: each is a smaller question than whether there is any.
    for (index, cut) in summary.skeleton.cuts.iter().enumerate() {
        if open.contains(&cut.what) {
            continue;
        }
        let assumptions: Vec<Lit> = std::iter::once(composition.cuts[index]).chain(bound).chain(whole).collect();
        match composition.solve_exactly(&mut summary.terms, &assumptions, limits) {
            Answer::Satisfiable => open.push(cut.what),
            Answer::Unknown(stop) => return Round::Limited(stop),
            Answer::Unsatisfiable => {
                was_needed |= bound.is_some_and(|bound| composition.solver.failed().contains(&bound));
            }
        }
    }
    open.sort_unstable();
    open.dedup();
    if open.is_empty() {
        for index in 0..composition.doubts.len() {
            let doubtful: Vec<Lit> = std::iter::once(composition.doubts[index]).chain(whole).collect();
            match composition.solve_exactly(&mut summary.terms, &doubtful, limits) {
                Answer::Satisfiable => {
                    let (_, what) = &summary.skeleton.doubts[index];
                    return Round::Stopped(format!("no violation was found, but {what}"));
                }
                Answer::Unknown(stop) => return Round::Limited(stop),
                Answer::Unsatisfiable => {}
            }
        }
    }
    match (open.is_empty(), was_needed) {
        (false, _) => Round::Open(open),
        (true, true) => Round::Decided(Staged::Unknown(Unknown {
            reason: "schedules with more switches between threads were left out".to_string(),
            stop: None,
            completed: Some(Completed { switches: task.context_bound, ..Completed::default() }),
        })),
        (true, false) => Round::Decided(Staged::Safe),
    }
}

fn describe(stop: Stop) -> String {
    match stop {
        Stop::Time => "the time limit was reached".to_string(),
        Stop::Memory => "the memory limit was reached".to_string(),
        Stop::Cancelled => "it was interrupted".to_string(),
        Stop::Solver => "the solver gave up".to_string(),
    }
}
