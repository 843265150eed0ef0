//! Deepening: loops start with small bounds, and exactly those are raised that need it.
//!
//! If no violation is found in a round, the solver is asked whether some loop can iterate more often. The bounds of
//! those that can are doubled, and the program is unrolled again. When none can, the absence of violations is proved.
//!
//! Most violations need few iterations of any loop, also of loops that always make a hundred. So the first round is a
//! cheap one: it cuts these loops short, too, and only looks for violations, with a bounded number of conflicts. If it
//! has cut no loop short, it is a round like others.

use crate::bound::BoundSite;
use crate::bound::Bounds;
use crate::bound::loops;
use crate::bounded::BoundedProgram;
use crate::compose::{Composition, compose};
use crate::facts::ProgramFacts;
use crate::prune::{keep_all, prune};
use crate::skeleton::NodeId;
use crate::summarize::summarize;
use crate::{Staged, Stats, Task, witness};
use leno_engine::{Covered, Properties};
use leno_ir::analysis::facts::Facts;
use leno_logic::core::Answer;
use leno_logic::limits::{Limits, Stop};
use leno_logic::literal::Lit;
use leno_logic::solver::Solver;
use leno_logic::term::Term;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
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

/// Executions that were all covered, without finding a violation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Completed {
    /// Those in which each of these loops makes at most so many iterations; other loops make any number.
    pub loops: Vec<(String, u32)>,
    /// And those in which each of these allocations has at most so many bytes.
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

/// The result of one round.
enum Round {
    Decided(Staged),
    Stopped(String),
    /// A limit was reached.
    Limited(Stop),
    /// These loops can make more iterations than their bounds allow.
    Open(Vec<BoundSite>),
    /// The cheap first round has found nothing.
    CutShort,
}

/// Splits the properties into questions for separate formulas.
///
/// A wait on a condition variable may end without a signal, except in the question about deadlocks: there a lost signal
/// must leave its thread asleep. Lost memory is a question of its own because the interpreter may not confirm a model
/// of it, and then the verdict is unknown: the other properties must not depend on that.
fn questions(facts: &ProgramFacts<'_>, all: Properties) -> Vec<Properties> {
    let mut rest = all;
    let mut later = Vec::new();
    if all.deadlock && facts.has_condition_variables {
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

/// Decides all questions. First a cheap round: every question is asked with small loop bounds before any is asked in
/// full.
pub fn decide(facts: &Facts<'_>, task: &Task, limits: &Limits) -> (Staged, Stats) {
    let facts = ProgramFacts::new(facts);
    let mut questions = questions(&facts, task.properties);
    if let [_] = questions[..] {
        return deepen(&facts, task, limits, Stage::Both);
    }
    let mut stats = Stats::default();
    let mut ask = |properties: Properties, stage: Stage| {
        let (answer, more) = deepen(&facts, &Task { properties, ..task.clone() }, limits, stage);
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
        match ask(properties, Stage::CheapRound) {
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

/// Which rounds of a question to make.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    CheapRound,
    Rest,
    Both,
}

fn deepen(facts: &ProgramFacts<'_>, task: &Task, limits: &Limits, stage: Stage) -> (Staged, Stats) {
    let program = facts.program;
    let mut stats = Stats::default();
    let mut bounds = match loops::bounds(program, &task.unwinding) {
        Ok(bounds) => bounds,
        Err(reason) => return (Staged::Unknown(Unknown::because(reason)), stats),
    };
    let chosen: BTreeMap<BoundSite, u32> = bounds.particular.clone();
    let is_chosen = |what: &BoundSite| task.unwinding.fixed.is_some() || chosen.contains_key(what);
    let mut completed = None;
    bounds.is_cheap_round = stage != Stage::Rest;
    loop {
        if stats.rounds > 0 && stage == Stage::CheapRound {
            return (
                Staged::Unknown(Unknown { completed, ..Unknown::because("only the cheap first round was made") }),
                stats,
            );
        }
        stats.rounds += 1;
        let open = match round(facts, task, &bounds, limits, stage, &mut stats) {
            Round::Decided(staged) => return (staged, stats),
            Round::Stopped(reason) => return (Staged::Unknown(Unknown { reason, stop: None, completed }), stats),
            Round::CutShort | Round::Limited(Stop::Conflicts) if bounds.is_cheap_round => {
                bounds.is_cheap_round = false;
                continue;
            }
            Round::CutShort => return (Staged::Unknown(Unknown::because("a loop was cut short")), stats),
            Round::Limited(stop) => return (Staged::Unknown(Unknown::stopped(stop, completed)), stats),
            Round::Open(open) => open,
        };
        bounds.is_cheap_round = false;
        let (mut loops, mut allocations) = (Vec::new(), Vec::new());
        for &what in &open {
            match what {
                BoundSite::Allocation(_) => allocations.push((loops::name(program, what), bounds.of_allocation(what))),
                _ => loops.push((loops::name(program, what), bounds.of(what))),
            }
        }
        let all = Completed { loops, allocations, switches: task.context_bound };
        // (After a cheap round alone, other questions have not been asked yet.)
        if stage != Stage::CheapRound {
            task.progress.cover(Covered::statement(all.to_string()));
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

/// Conflicts of a cheap first round: most of them need less than a hundred, and the solver makes so many in a few
/// seconds.
const CHEAP_CONFLICTS: u64 = 20_000;

/// What the solver may still spend in a round.
struct Budget<'a> {
    limits: &'a Limits,
    /// Conflicts of the whole round, in a cheap one.
    conflicts: Option<u64>,
}

impl Budget<'_> {
    /// The limits of the next question. Models that the solver has to correct count as conflicts.
    fn left(&self, solver: &Solver, models: u64) -> Limits {
        let spent = solver.statistics().conflicts + models;
        match self.conflicts {
            Some(conflicts) => self.limits.clone().with_conflicts(conflicts.saturating_sub(spent)),
            None => self.limits.clone(),
        }
    }
}

fn round(
    facts: &ProgramFacts<'_>,
    task: &Task,
    bounds: &Bounds,
    limits: &Limits,
    stage: Stage,
    stats: &mut Stats,
) -> Round {
    // Once interrupted, always interrupted: what is incomplete must not be used.
    let stop = Cell::new(None);
    let interrupted = || {
        stop.set(stop.get().or_else(|| limits.stop()));
        stop.get().is_some()
    };
    let start = Instant::now();
    let summarized = summarize(facts, task, bounds, &interrupted);
    stats.summarizing += start.elapsed();
    let mut bounded = match summarized {
        Ok(bounded) => bounded,
        Err(refused) => return stop.get().map_or(Round::Stopped(refused.reason), Round::Limited),
    };
    let start = Instant::now();
    let pruned = if task.prune { prune(&mut bounded) } else { keep_all(&mut bounded) };
    stats.pruning += start.elapsed();
    let start = Instant::now();
    let mut composition = match compose(&mut bounded, &pruned, Solver::default().within(limits)) {
        Ok(composition) => composition,
        Err(refused) => return stop.get().map_or(Round::Stopped(refused.reason), Round::Limited),
    };
    let bound = task.context_bound.map(|switches| bound_switches(&bounded, &mut composition, switches));
    stats.composing += start.elapsed();
    if let Some(stop) = stop.get() {
        return Round::Limited(stop);
    }
    count(&bounded, stats);
    (stats.links, stats.possible_violations) = (composition.links, composition.possible_violations.len());
    let start = Instant::now();
    // (A cheap round that has cut nothing short is as good as any, unless other questions are waiting.)
    let is_cheap = bounds.is_cheap_round && (bounded.is_cut_short || stage == Stage::CheapRound);
    let budget = Budget { limits, conflicts: is_cheap.then_some(CHEAP_CONFLICTS) };
    let outcome = ask(task, &mut bounded, &mut composition, bound, &budget);
    stats.solving += start.elapsed();
    stats.conflicts += composition.solver.statistics().conflicts;
    stats.lemmas += composition.solver.lemmas();
    match outcome {
        Round::Decided(Staged::Safe) => match bounded.skeleton.gaps.first() {
            Some(gap) => Round::Stopped(format!("no violation was found, but {gap}")),
            None => Round::Decided(Staged::Safe),
        },
        other => other,
    }
}

/// The sizes of a skeleton.
pub fn count(bounded: &BoundedProgram<'_>, stats: &mut Stats) {
    let skeleton = &bounded.skeleton;
    stats.threads = skeleton.threads.len();
    stats.events = skeleton.events.len();
    stats.reads = skeleton.events.iter().map(|event| event.reads.len()).sum();
    stats.writes = skeleton.events.iter().map(|event| event.writes.len()).sum();
    stats.instantiated = bounded.instantiated;
}

/// The literal under which there are at most so many context switches.
fn bound_switches(bounded: &BoundedProgram<'_>, composition: &mut Composition, switches: usize) -> Lit {
    let mut paths_at: BTreeMap<NodeId, Vec<Term>> = BTreeMap::new();
    for step in &bounded.skeleton.steps {
        paths_at.entry(step.node).or_default().push(step.path);
    }
    let mut events = Vec::new();
    for (node, paths) in paths_at {
        let occurs = composition.solver.new_literal();
        for path in paths {
            let path = composition.solver.literal(&bounded.terms, path);
            composition.solver.add_clause(&[!path, occurs]);
        }
        events.push((composition.nodes[node], occurs));
    }
    composition.solver.bound_switches(&events, switches)
}

/// Asks the solver for a violation; none if there is none. A model that is wrong about values of floats may still lead
/// the interpreter to a violation: that is tried for the first model, the second, the fourth, and so on, while lemmas
/// correct the solver.
fn find_violation(
    bounded: &mut BoundedProgram<'_>,
    composition: &mut Composition,
    bound: Option<Lit>,
    budget: &Budget<'_>,
) -> Option<Round> {
    let mut assumptions: Vec<Lit> = std::iter::once(composition.violated).chain(bound).collect();
    let needed = assumptions.len();
    assumptions.extend(&composition.no_input);
    let mut models: u64 = 0;
    loop {
        match composition.solver.solve(&assumptions, &budget.left(&composition.solver, models)) {
            Answer::Satisfiable => models += 1,
            Answer::Unknown(stop) => return Some(Round::Limited(stop)),
            Answer::Unsatisfiable if assumptions.len() > needed => {
                assumptions.truncate(needed);
                continue;
            }
            Answer::Unsatisfiable => return None,
        }
        let (mismatches, model) = composition.solver.mismatches(&bounded.terms, &composition.copies);
        if mismatches.is_empty() || models.is_power_of_two() {
            match witness::witness(bounded, composition) {
                Ok(witness) => return Some(Round::Decided(Staged::Unsafe(Box::new(witness)))),
                Err(reason) if mismatches.is_empty() => {
                    if let Some(stop) = budget.limits.stop() {
                        return Some(Round::Limited(stop));
                    }
                    let reason = match assumptions.len() == needed && !composition.no_input.is_empty() {
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
        composition.solver.exclude(&mut bounded.terms, &mismatches, &model);
    }
}

/// Asks for a violation, and then for loops that can make more iterations.
fn ask(
    task: &Task,
    bounded: &mut BoundedProgram<'_>,
    composition: &mut Composition,
    bound: Option<Lit>,
    budget: &Budget<'_>,
) -> Round {
    if let Some(found) = find_violation(bounded, composition, bound, budget) {
        return found;
    }
    if bounded.is_cut_short {
        return Round::CutShort;
    }
    let mut was_needed = bound.is_some_and(|bound| composition.solver.failed().contains(&bound));
    let whole = composition.stopped_section.map(|stopped_section| !stopped_section);
    if let Some(unaligned) = composition.unaligned {
        let assumptions: Vec<Lit> = std::iter::once(unaligned).chain(whole).collect();
        match composition.solve_exactly(&mut bounded.terms, &assumptions, &budget.left(&composition.solver, 0)) {
            Answer::Satisfiable => {
                return Round::Stopped("a pointer may be used that is not aligned to what it points to".to_string());
            }
            Answer::Unknown(stop) => return Round::Limited(stop),
            Answer::Unsatisfiable => {}
        }
    }
    let mut open: Vec<BoundSite> = Vec::new();
    // One by one: each is a smaller question than whether any of them can.
    for (index, cut) in bounded.skeleton.cuts.iter().enumerate() {
        if open.contains(&cut.what) {
            continue;
        }
        let assumptions: Vec<Lit> = std::iter::once(composition.cuts[index]).chain(bound).chain(whole).collect();
        match composition.solve_exactly(&mut bounded.terms, &assumptions, &budget.left(&composition.solver, 0)) {
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
            match composition.solve_exactly(&mut bounded.terms, &doubtful, &budget.left(&composition.solver, 0)) {
                Answer::Satisfiable => {
                    let (_, what) = &bounded.skeleton.doubts[index];
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
        Stop::Conflicts | Stop::Solver => "the solver gave up".to_string(),
    }
}
