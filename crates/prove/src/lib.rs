//! The prover: assertions that hold for any number of threads and without any bound.
//!
//! By paper 002 (Farzan and Kincaid): invariants of threads follow from what other threads do to shared memory, and what
//! these can do follows from the invariants. Neither depends on how many threads there are, so that a thread that is
//! created in a loop is no harder than one that is created once. The answer is SAFE or UNKNOWN, never UNSAFE.
//!
//! | file | what is in it |
//! |---|---|
//! | `state`, `states` | what is known of one thread at one place; several such states, told apart by phases |
//! | `partition`, `phases` | which variables are related to each other, and which tell states apart |
//! | `evaluate`, `linear`, `machine` | what expressions and instructions do to that |
//! | `view` | what one thread knows after another one's step |
//! | `interference` | which places two threads may be at together, and what one does to the other (Figure 3) |
//! | `coarsen` | invariants and interference from each other (Algorithm 1) |
//! | `annotate` | the invariants as the checker (`leno-verify`) has them, which has the last word |
//! | `dataflow` | the data flow graph (Figure 2), for people |
//! | `races`, `ownership` | which accesses may race |
//! | `tables` | reads from objects that nothing writes |
//! | `bounds` | which accesses stay in their objects |
//! | `assertions` | which assertions there are, and how many were proved |
//! | `replicate`, `open` | any number of threads in place of one; a library as a program |
//! | `deadlock` | that threads do not wait for each other |
//! | `outside` | races where functions are called that are not known |
//! | `wrappers` | functions that create threads for others, copied |
//! | `webs` | registers that are used for several things, told apart |
//! | `explain` | why an assertion was not proved |
//! | `source` | what holds at the lines of the source, in C |
//!
//! The code of all threads with calls expanded, the places at which they are interrupted, and which memory is followed
//! (`code`, `cells`) are the checker's.

mod annotate;
mod assertions;
mod bounds;
mod coarsen;
mod dataflow;
mod deadlock;
mod evaluate;
mod explain;
mod interference;
mod linear;
mod machine;
mod may_hold;
mod open;
mod outside;
mod ownership;
mod partition;
mod phases;
mod races;
mod replicate;
mod source;
mod state;
mod states;
mod tables;
mod view;
mod webs;
mod wrappers;

use assertions::{Assertions, Tally};
use cells::Cells;
use coarsen::{Coarsened, Coarsening, Precision};
use code::{Code, NodeId, Refusal};
use leno_engine::{
    Assumption, Context, Covered, Engine, Outcome, Properties, Reason, Statistics, Task, Unknown, Verdict,
};
use leno_ir::analysis::callgraph::CallKind;
use leno_ir::analysis::facts::Facts;
use leno_ir::program::Place;
use leno_verify::annotation::Annotation;
use leno_verify::claims::{Asked, without_moves};
use leno_verify::conditions::{Conditions, Failed};
use leno_verify::file::{Written, write_body};
use machine::{Failure, Machine};
use partition::Rule;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) use leno_verify::{cells, code};

pub use open::{Library, Pointee, open};
pub use replicate::replicate;
pub use source::SourceInvariant;

/// The engine.
#[derive(Clone, Copy, Default, Debug)]
pub struct Prover;

impl Engine for Prover {
    fn name(&self) -> &'static str {
        "prover"
    }

    fn check(&self, facts: &Facts<'_>, task: &Task, context: &Context) -> Outcome {
        check(facts, task, context).0
    }
}

/// The prover, keeping the proof of what it proves: for proof files.
#[derive(Default, Debug)]
pub struct Recording {
    /// Of the last question whose answer was SAFE; or why there is nothing to write down.
    pub proof: RefCell<Option<Result<Written, String>>>,
}

impl Engine for Recording {
    fn name(&self) -> &'static str {
        Prover.name()
    }

    fn check(&self, facts: &Facts<'_>, task: &Task, context: &Context) -> Outcome {
        let (outcome, proof) = check(facts, task, context);
        let is_safe = matches!(outcome.verdict, Verdict::Safe);
        *self.proof.borrow_mut() = is_safe.then(|| proof.unwrap_or_else(|| Err(BY_FACTS.to_string())));
        outcome
    }
}

const BY_FACTS: &str = "races and deadlocks are excluded by facts about locks, creation and joins, not by invariants: proof files do \
                        not have these";

/// An outcome, and a proof if there is one to write down.
type Answer = (Outcome, Option<Result<Written, String>>);

fn check(facts: &Facts<'_>, task: &Task, context: &Context) -> Answer {
    if task.properties.bounds {
        let program = without_moves(facts.program());
        return decide(|statistics| prove(&Facts::new(&program), task, context, statistics));
    }
    let only_races = Properties { race: true, ..Properties::NONE };
    let only_deadlocks = Properties { deadlock: true, ..Properties::NONE };
    if task.properties != only_races && task.properties != only_deadlocks {
        return decide(|statistics| prove(facts, task, context, statistics));
    }
    // Where pointers point matters more than what the program's registers and functions are called.
    let mut prepared = webs::split_registers(facts.program());
    let posix = outside::assume_posix(&mut prepared);
    let prepared = wrappers::copy_wrappers(prepared);
    let facts = Facts::new(&prepared);
    decide(|statistics| match () {
        () if task.properties == only_deadlocks => deadlock::prove(&facts, statistics).map(Proved::assuming),
        () if outside::is_open(&facts) || !posix.is_empty() => prove_open(&facts, statistics).map(Proved::assuming),
        () => prove(&facts, task, context, statistics),
    })
}

fn decide(prove: impl FnOnce(&mut Statistics) -> Result<Proved, Unproved>) -> Answer {
    let mut statistics = Statistics::default();
    let mut written = None;
    let (verdict, covered, assumptions) = match prove(&mut statistics) {
        Ok(Proved { details, assumptions, proof }) => {
            written = proof;
            let statement = "proved for any number of threads, any schedule and any input";
            (Verdict::Safe, Covered { details, ..Covered::statement(statement) }, assumptions)
        }
        Err(Unproved { reason, advice, details, .. }) => {
            let covered = Covered { details, ..Covered::statement("not everything was proved") };
            (Verdict::Unknown(Unknown { reason, advice }), covered, Vec::new())
        }
    };
    (Outcome { verdict, covered, assumptions, statistics }, written)
}

/// The invariants of a program as text, a line for each place at which threads may be interrupted; or why there are none. With
/// `rounds`, those of each round of the coarsening (paper 002, Figure 4), one after another.
pub fn show_invariants(facts: &Facts<'_>, context: &Context, rounds: bool) -> Result<String, String> {
    let code = Code::with_whole_sections(facts).map_err(|refusal| refusal.reason)?;
    let cells = Cells::new(&code);
    let mut coarsening = Coarsening::new(&code, &cells, &context.limits, precise(&code));
    let found = coarsening.coarsen().filter(|found| coarsening.is_inductive(found));
    let found = found.ok_or("they could not be computed within the limits")?;
    let mut text = String::new();
    for (number, invariants) in found.history.iter().enumerate().filter(|_| rounds) {
        text += &format!("round {}:\n{}", number + 1, explain::invariants(&code, &cells, invariants));
    }
    if rounds {
        text += "in the end:\n";
    }
    Ok(text + &explain::invariants(&code, &cells, &found.invariants))
}

/// What holds at the lines of the source, as C expressions; or why nothing does. All of it was confirmed by the checker.
pub fn source_invariants(facts: &Facts<'_>, context: &Context) -> Result<Vec<SourceInvariant>, String> {
    let code = Code::with_whole_sections(facts).map_err(|refusal| refusal.reason)?;
    let cells = Cells::new(&code);
    let mut coarsening = Coarsening::new(&code, &cells, &context.limits, precise(&code));
    let found = coarsening.coarsen().filter(|found| coarsening.is_inductive(found));
    let found = found.ok_or("they could not be computed within the limits")?;
    let annotation = annotate::annotation(&code, &cells, &found);
    let conditions = Conditions::new(&code, &cells, &annotation, &context.limits, &|_| false);
    conditions.check().map_err(|why| format!("they were not confirmed: {why}"))?;
    Ok(source::invariants(&code, &cells, &annotation))
}

/// The data flow graph of a program (paper 002, Figure 2), as text or for Graphviz; or why there is none.
pub fn show_data_flow(facts: &Facts<'_>, context: &Context, for_graphviz: bool) -> Result<String, String> {
    let code = Code::with_whole_sections(facts).map_err(|refusal| refusal.reason)?;
    let cells = Cells::new(&code);
    let mut coarsening = Coarsening::new(&code, &cells, &context.limits, precise(&code));
    let found = coarsening.coarsen().ok_or("the invariants could not be computed within the limits")?;
    let graph = dataflow::DataFlow::new(coarsening.machine(), &found);
    Ok(if for_graphviz { graph.dot() } else { graph.text() })
}

/// The more places there are, the fewer states of each are told apart.
fn precise(code: &Code<'_, '_>) -> Precision {
    Precision { rule: Rule::Connected, states: (12_000 / code.stops().len().max(1)).clamp(4, 64) }
}

/// Why there is no proof.
struct Unproved {
    reason: Reason,
    advice: String,
    /// A line each.
    details: Vec<String>,
    /// Where assertions are counted, and what was proved of them was confirmed.
    tally: Option<Box<Tally>>,
}

impl Unproved {
    fn proved(&self) -> usize {
        self.tally.as_ref().map_or(0, |tally| tally.proved)
    }

    fn because(reason: impl Into<String>, advice: impl Into<String>) -> Unproved {
        Unproved { reason: Reason::Because(reason.into()), advice: advice.into(), details: Vec::new(), tally: None }
    }

    fn stopped(context: &Context) -> Unproved {
        match context.limits.stop() {
            Some(stop) => {
                let reason = Reason::Limit(stop);
                Unproved { reason, advice: "allow more".to_string(), details: Vec::new(), tally: None }
            }
            None => Unproved::because("the invariants could not be confirmed", OTHER_ENGINE),
        }
    }
}

const OTHER_ENGINE: &str = "take another engine: leno check";

/// What else there is to say of a proof.
#[derive(Default)]
struct Proved {
    /// A line each.
    details: Vec<String>,
    assumptions: Vec<Assumption>,
    /// The invariants for a file, or why they do not prove it.
    proof: Option<Result<Written, String>>,
}

impl Proved {
    fn assuming(assumptions: Vec<Assumption>) -> Proved {
        Proved { assumptions, ..Proved::default() }
    }
}

fn prove(facts: &Facts<'_>, task: &Task, context: &Context, statistics: &mut Statistics) -> Result<Proved, Unproved> {
    let asked = task.properties;
    let Properties { assertion, overflow, race, bounds, .. } = asked;
    if asked != (Properties { assertion, overflow, race, bounds, ..Properties::NONE }) {
        let reason =
            "the prover decides assertions, overflows, bounds and races together, deadlocks alone, and nothing else";
        let advice = "ask for --property assert, overflow, race or deadlock, or --check bounds";
        return Err(Unproved::because(reason, advice));
    }
    if facts.features().unknown_functions || !facts.calls().unknown().is_empty() {
        let reason = "the program calls a function that Leno does not know, which may call functions of the program";
        return Err(Unproved::because(reason, "add the file that defines it"));
    }
    let code = match Code::new(facts) {
        Ok(code) => code,
        Err(Refusal { reason, is_open: false }) if race && !assertion && !overflow && !bounds => {
            report_races(facts, &races::races_by_facts(facts, statistics), Some(&reason))?;
            return Ok(Proved::assuming(assumed_successes(facts)));
        }
        Err(refusal) => return Err(Unproved::because(refusal.reason, OTHER_ENGINE)),
    };
    let cells = Cells::new(&code);
    let assertions = Assertions::new(&code, asked);
    let question = Question { facts, code: &code, cells: &cells, assertions: &assertions, asked, context };
    // What is proved cheaply is not proved again.
    let mut unproved = match question.prove(Precision::PLAIN, statistics) {
        Ok(confirmed) => return Ok(question.proved(confirmed, false, statistics)),
        Err(unproved) => unproved,
    };
    // (Races are about every access.)
    let whole = if race { Code::new(facts) } else { Code::with_whole_sections(facts) };
    if let (None, Ok(whole)) = (context.limits.stop(), &whole) {
        let assertions = Assertions::new(whole, asked);
        let closer = Question { code: whole, assertions: &assertions, ..question };
        match closer.prove(precise(whole), statistics) {
            Ok(confirmed) => return Ok(closer.proved(confirmed, !race, statistics)),
            // (What was computed to its end explains best.)
            Err(other) if other.proved() >= unproved.proved() && !other.details.is_empty() => unproved = other,
            Err(_) => {}
        }
    }
    unproved.tally.iter().for_each(|tally| tally.report(statistics));
    Err(unproved)
}

/// What was proved, and by which invariants.
struct Confirmed<'p> {
    tally: Tally,
    annotation: Annotation<'p>,
}

struct Question<'a, 'p> {
    facts: &'a Facts<'p>,
    code: &'a Code<'a, 'p>,
    cells: &'a Cells,
    assertions: &'a Assertions,
    asked: Properties,
    context: &'a Context,
}

/// What the domains cannot exclude.
struct Failures<'p> {
    /// An example for each place.
    by_place: BTreeMap<Place, Failure<'p>>,
    nodes: BTreeSet<NodeId>,
    /// The assertions that some thread gets to.
    visited: BTreeSet<NodeId>,
}

impl<'a, 'p> Question<'a, 'p> {
    /// Assertions that were inserted are counted: those that were proved are confirmed even if others were not.
    fn is_counted(&self) -> bool {
        self.asked.overflow || self.asked.bounds
    }

    /// What to say of a proof.
    fn proved(&self, confirmed: Confirmed<'p>, are_sections_whole: bool, statistics: &mut Statistics) -> Proved {
        let Confirmed { tally, annotation } = confirmed;
        tally.report(statistics);
        let Properties { assertion, overflow, bounds, .. } = self.asked;
        let written = || Written {
            asked: Asked { assertion, overflow, bounds },
            are_sections_whole,
            body: write_body(self.code, self.cells, &annotation),
        };
        Proved {
            details: if self.is_counted() { vec![tally.summary()] } else { Vec::new() },
            assumptions: if self.asked.race { assumed_successes(self.facts) } else { Vec::new() },
            proof: Some(if self.asked.race { Err(BY_FACTS.to_string()) } else { Ok(written()) }),
        }
    }

    fn prove(&self, precision: Precision, statistics: &mut Statistics) -> Result<Confirmed<'p>, Unproved> {
        let context = self.context;
        let mut coarsening = Coarsening::new(self.code, self.cells, &context.limits, precision);
        let found = coarsening.coarsen().ok_or_else(|| Unproved::stopped(context))?;
        statistics.count("stops", self.code.stops().len() as u64);
        statistics.count("cells", self.cells.len() as u64);
        statistics.count("rounds", found.rounds);
        statistics.count("pairs of stops", found.pairs.count() as u64);
        statistics.count("states", found.invariants.iter().map(|states| states.iter().len() as u64).sum());
        if !coarsening.is_inductive(&found) {
            return Err(Unproved::stopped(context));
        }
        let machine = coarsening.machine().looking_at(self.assertions);
        let annotation = annotate::annotation(self.code, self.cells, &found);
        let failures = self.failures(&machine, &found, &annotation)?;
        let example = failures.by_place.first_key_value().map(|(_, first)| first);
        let explained = example.map(|first| explain::failure(self.code, self.cells, &coarsening, &found, first));
        if let Some(explain::Explanation { reason, mut details, advice }) =
            explained.clone().filter(|_| !self.is_counted())
        {
            let others: BTreeSet<String> =
                failures.by_place.keys().skip(1).map(|place| explain::at(self.facts.program(), *place)).collect();
            details.extend(others.into_iter().map(|place| format!("nor was the assertion at {place} proved")));
            return Err(Unproved { details, ..Unproved::because(reason, advice) });
        }
        if self.asked.race {
            match self.facts.features().weak_order {
                Some(_) => report_races(self.facts, &races::races_by_facts(self.facts, statistics), None)?,
                None => report_races(self.facts, &races::races(self.code, &found), None)?,
            }
        }
        let is_proved = |node: NodeId| self.assertions.contains(node) && !failures.nodes.contains(&node);
        let conditions = Conditions::new(self.code, self.cells, &annotation, &context.limits, &is_proved);
        let count = conditions.check().map_err(|why| match why {
            Failed::Stopped => Unproved::stopped(context),
            Failed::Refused(what) => Unproved::because(format!("the proof was not confirmed: {what}"), OTHER_ENGINE),
        })?;
        statistics.count("verification conditions", count.conditions);
        statistics.count("of them for the solver", count.solved);
        let tally = self.assertions.count(&failures.nodes, &failures.visited);
        match explained {
            Some(explanation) => Err(self.unproved(tally, explanation)),
            None => Ok(Confirmed { tally, annotation }),
        }
    }

    /// What was not proved of the assertions that are counted.
    fn unproved(&self, tally: Tally, example: explain::Explanation) -> Unproved {
        let at = |place: Place| explain::at(self.facts.program(), place);
        let list = tally.unproved.iter();
        let mut details: Vec<String> =
            list.map(|(place, kind)| format!("not proved: {} at {}", kind.describe(), at(*place))).collect();
        details.push(format!("for example, {}", example.reason));
        details.extend(example.details);
        let reason = tally.summary();
        Unproved { details, tally: Some(Box::new(tally)), ..Unproved::because(reason, example.advice) }
    }

    /// Assertions that the domains cannot decide may still follow from the invariants; accesses are decided by the domains.
    fn failures(
        &self,
        machine: &Machine<'a, 'p>,
        found: &Coarsened<'p>,
        annotation: &Annotation<'p>,
    ) -> Result<Failures<'p>, Unproved> {
        let mut failures = Failures { by_place: BTreeMap::new(), nodes: BTreeSet::new(), visited: BTreeSet::new() };
        let mut suspected = BTreeSet::new();
        for (stop, states) in found.invariants.iter_enumerated() {
            let segment = machine.run(stop, states);
            failures.visited.extend(segment.visited);
            for failure in segment.failures.into_iter().filter(|failure| self.assertions.contains(failure.node)) {
                suspected.insert(stop);
                failures.nodes.insert(failure.node);
                failures.by_place.entry(self.code.place(failure.node)).or_insert(failure);
            }
        }
        let is_asked = |node: NodeId| self.assertions.contains(node);
        let conditions = Conditions::new(self.code, self.cells, annotation, &self.context.limits, &is_asked);
        let failing = conditions.failing(&suspected).map_err(|_| Unproved::stopped(self.context))?;
        let program = self.code.program();
        let still_fails = |place: Place| {
            let is_assertion = matches!(program.op(place), Some(leno_ir::program::Op::Assert { .. }));
            !is_assertion || failing.contains(&place)
        };
        failures.by_place.retain(|place, _| still_fails(*place));
        failures.nodes.retain(|node| still_fails(self.code.place(*node)));
        Ok(failures)
    }
}

/// Races of a program that calls functions which Leno does not know.
fn prove_open(facts: &Facts<'_>, statistics: &mut Statistics) -> Result<Vec<Assumption>, Unproved> {
    let define = "add the file that defines it";
    if facts.calls().unknown().iter().any(|(_, kind)| *kind == CallKind::Spawn) {
        return Err(Unproved::because("a thread may start in a function that is not known", define));
    }
    if facts.program().entry.is_none() {
        return Err(Unproved::because("the program has no `main`", OTHER_ENGINE));
    }
    let names = outside::unknown_functions(facts);
    let extended = outside::with_callbacks(facts).map_err(|reason| Unproved::because(reason, define))?;
    let with_callbacks = extended.as_ref().map(Facts::new);
    let facts = with_callbacks.as_ref().unwrap_or(facts);
    if !outside::callbacks_keep_locks(facts) {
        let reason = "a function that is not known may call one that gives up locks for its caller";
        return Err(Unproved::because(reason, define));
    }
    let races = races::races_by_facts(facts, statistics);
    report_races(facts, &races, Some("functions are called that are not defined"))?;
    let mut assumptions = assumed_successes(facts);
    assumptions.extend(names.iter().map(|name| Assumption::new(outside::assumption(name))));
    if !facts.calls().unknown().is_empty() {
        assumptions.push(Assumption::new(outside::assumption("a function that is called through a pointer")));
    }
    Ok(assumptions)
}

/// What the semantics takes for granted, and races and deadlocks may depend on.
fn assumed_successes(facts: &Facts<'_>) -> Vec<Assumption> {
    let creates_threads = facts.threads().roots().len() > 1;
    creates_threads
        .then(|| Assumption::new("threads can be created, and locks taken, whenever it is tried"))
        .into_iter()
        .collect()
}

/// `without_invariants`: why there are none.
fn report_races(
    facts: &Facts<'_>,
    races: &BTreeSet<(Place, Place)>,
    without_invariants: Option<&str>,
) -> Result<(), Unproved> {
    if races.is_empty() {
        return Ok(());
    }
    let program = facts.program();
    let mut lines: BTreeMap<Place, String> = BTreeMap::new();
    for place in races.iter().flat_map(|(first, second)| [first, second]) {
        lines.entry(*place).or_insert_with(|| explain::at(program, *place));
    }
    let pairs: BTreeSet<(&str, &str)> =
        races.iter().map(|(first, second)| (lines[first].as_str(), lines[second].as_str())).collect();
    let mut details = races::listed(&pairs);
    details.extend(without_invariants.map(|why| format!("invariants were not computed: {why}")));
    let reason = match pairs.len() {
        1 => "one pair of accesses was not proved free of races".to_string(),
        several => format!("{several} pairs of accesses were not proved free of races"),
    };
    let advice = "look for a race with leno check --property race";
    Err(Unproved { details, ..Unproved::because(reason, advice) })
}
