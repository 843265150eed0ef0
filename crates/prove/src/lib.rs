//! The prover: assertions that hold for any number of threads and without any bound.
//!
//! By paper 002 (Farzan and Kincaid): invariants of threads follow from what other threads do to shared memory, and what
//! these can do follows from the invariants. Neither depends on how many threads there are, so that a thread that is
//! created in a loop is no harder than one that is created once. The answer is SAFE or UNKNOWN, never UNSAFE.
//!
//! | file | what is in it |
//! |---|---|
//! | `code` | the code of all threads with calls expanded; where threads are interrupted |
//! | `cells` | which memory is followed, and which locks protect it |
//! | `state` | what is known of one thread at one place |
//! | `evaluate`, `machine` | what expressions and instructions do to that |
//! | `interference` | which places two threads may be at together, and what one does to the other (Figure 3) |
//! | `coarsen` | invariants and interference from each other (Algorithm 1) |
//! | `conditions` | the invariants once more, as verification conditions for the solver |
//! | `dataflow` | the data flow graph (Figure 2), for people |
//! | `races`, `ownership` | which accesses may race |
//! | `replicate` | any number of threads in place of one |
//! | `explain` | why an assertion was not proved |

mod cells;
mod coarsen;
mod code;
mod conditions;
mod dataflow;
mod evaluate;
mod explain;
mod formulas;
mod interference;
mod linear;
mod machine;
mod ownership;
mod partition;
mod phases;
mod races;
mod replicate;
mod state;
mod states;
mod view;

use cells::Cells;
use coarsen::{Coarsened, Coarsening, Precision};
use code::{Code, Refusal};
use conditions::Conditions;
use leno_engine::{Context, Covered, Engine, Outcome, Properties, Reason, Statistics, Task, Unknown, Verdict};
use leno_ir::analysis::facts::Facts;
use leno_ir::program::{Place, Property};
use machine::Failure;
use partition::Rule;
use std::collections::{BTreeMap, BTreeSet};

pub use replicate::{open, replicate};

/// The engine.
#[derive(Clone, Copy, Default, Debug)]
pub struct Prover;

impl Engine for Prover {
    fn name(&self) -> &'static str {
        "prover"
    }

    fn check(&self, facts: &Facts<'_>, task: &Task, context: &Context) -> Outcome {
        let mut statistics = Statistics::default();
        let (verdict, covered) = match prove(facts, task, context, &mut statistics) {
            Ok(()) => {
                let statement = "proved for any number of threads, any schedule and any input";
                (Verdict::Safe, Covered::statement(statement))
            }
            Err(Unproved { reason, advice, details }) => {
                let covered = Covered { details, ..Covered::statement("not everything was proved") };
                (Verdict::Unknown(Unknown { reason, advice }), covered)
            }
        };
        Outcome { verdict, covered, assumptions: Vec::new(), statistics }
    }
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
}

impl Unproved {
    fn because(reason: impl Into<String>, advice: impl Into<String>) -> Unproved {
        Unproved { reason: Reason::Because(reason.into()), advice: advice.into(), details: Vec::new() }
    }

    fn stopped(context: &Context) -> Unproved {
        match context.limits.stop() {
            Some(stop) => {
                Unproved { reason: Reason::Limit(stop), advice: "allow more".to_string(), details: Vec::new() }
            }
            None => Unproved::because("the invariants could not be confirmed", OTHER_ENGINE),
        }
    }
}

const OTHER_ENGINE: &str = "take another engine: leno check";

fn prove(facts: &Facts<'_>, task: &Task, context: &Context, statistics: &mut Statistics) -> Result<(), Unproved> {
    let asked = task.properties;
    let Properties { assertion, overflow, race, .. } = asked;
    if asked != (Properties { assertion, overflow, race, ..Properties::NONE }) {
        let reason = "the prover decides assertions, overflows and races only";
        return Err(Unproved::because(reason, "ask for --property assert, overflow or race"));
    }
    if facts.features().unknown_functions || !facts.calls().unknown().is_empty() {
        let reason = "the program calls a function that Leno does not know, which may call functions of the program";
        return Err(Unproved::because(reason, "add the file that defines it"));
    }
    let code = match Code::new(facts) {
        Ok(code) => code,
        Err(Refusal { reason, is_open: false }) if race && !assertion && !overflow => {
            return report_races(facts, &races::races_by_facts(facts), Some(&reason));
        }
        Err(refusal) => return Err(Unproved::because(refusal.reason, OTHER_ENGINE)),
    };
    let cells = Cells::new(&code);
    let question = Question { facts, code: &code, cells: &cells, asked, context };
    // What is proved cheaply is not proved again.
    let Err(first) = question.prove(Precision::PLAIN, statistics) else { return Ok(()) };
    if context.limits.stop().is_some() {
        return Err(first);
    }
    // (Races are about every access.)
    let whole = if race { Code::new(facts) } else { Code::with_whole_sections(facts) };
    let Ok(whole) = whole else { return Err(first) };
    let question = Question { code: &whole, ..question };
    // (What was computed to its end explains best.)
    question.prove(precise(&whole), statistics).map_err(|second| if second.details.is_empty() { first } else { second })
}

struct Question<'a, 'p> {
    facts: &'a Facts<'p>,
    code: &'a Code<'a, 'p>,
    cells: &'a Cells,
    asked: Properties,
    context: &'a Context,
}

impl<'a, 'p> Question<'a, 'p> {
    fn prove(&self, precision: Precision, statistics: &mut Statistics) -> Result<(), Unproved> {
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
        let is_asked = |property: Property| match property {
            Property::Assertion => self.asked.assertion,
            Property::SignedOverflow => self.asked.overflow,
            _ => false,
        };
        let conditions = || Conditions::new(coarsening.machine(), &found, &context.limits, &is_asked);
        self.assertions(&coarsening, &found, &conditions, &is_asked)?;
        if self.asked.race {
            match self.facts.features().weak_order {
                Some(_) => report_races(self.facts, &races::races_by_facts(self.facts), None)?,
                None => report_races(self.facts, &races::races(self.code, &found), None)?,
            }
        }
        let count = conditions().check().map_err(|what| match context.limits.stop() {
            Some(_) => Unproved::stopped(context),
            None => Unproved::because(format!("the proof was not confirmed: {what}"), OTHER_ENGINE),
        })?;
        statistics.count("verification conditions", count.conditions);
        statistics.count("of them for the solver", count.solved);
        Ok(())
    }

    /// Assertions that the domains cannot decide may still follow from the invariants.
    fn assertions<'c>(
        &self,
        coarsening: &Coarsening<'a, 'p>,
        found: &Coarsened<'p>,
        conditions: &dyn Fn() -> Conditions<'c, 'a, 'p>,
        is_asked: &dyn Fn(Property) -> bool,
    ) -> Result<(), Unproved>
    where
        'a: 'c,
    {
        let mut failures: BTreeMap<Place, Failure<'_>> = BTreeMap::new();
        let mut suspected = BTreeSet::new();
        for (stop, states) in found.invariants.iter_enumerated() {
            for failure in coarsening.machine().run(stop, states).failures {
                if is_asked(failure.property) {
                    suspected.insert(stop);
                    failures.entry(self.code.place(failure.node)).or_insert(failure);
                }
            }
        }
        let failing = conditions().failing(&suspected).map_err(|_| Unproved::stopped(self.context))?;
        failures.retain(|place, _| failing.contains(place));
        let Some((_, first)) = failures.first_key_value() else { return Ok(()) };
        let explain::Explanation { reason, mut details, advice } =
            explain::failure(self.code, self.cells, coarsening, found, first);
        let others: BTreeSet<String> =
            failures.keys().skip(1).map(|place| explain::at(self.facts.program(), *place)).collect();
        details.extend(others.into_iter().map(|place| format!("nor was the assertion at {place} proved")));
        Err(Unproved { details, ..Unproved::because(reason, advice) })
    }
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
    let pairs: BTreeSet<(String, String)> =
        races.iter().map(|(first, second)| (explain::at(program, *first), explain::at(program, *second))).collect();
    let mut details: Vec<String> = pairs
        .iter()
        .map(|(first, second)| format!("the access at {first} may race with the one at {second}"))
        .collect();
    details.extend(without_invariants.map(|why| format!("invariants were not computed: {why}")));
    let reason = format!("{} pairs of accesses were not proved free of races", pairs.len());
    let advice = "look for a race with leno check --property race";
    Err(Unproved { details, ..Unproved::because(reason, advice) })
}
