//! The reduced search against unreduced ones, on generated programs.
//!
//! Each generated program is explored with reduction, and then
//!
//! - by a search of all states that knows nothing but the interpreter (`states`): both must come to the same
//!   violations, races and deadlocks, at the same places;
//! - by a search of all traces without reduction (`leno_explore::all_traces`): there must be as many as the reduced
//!   search explored, and it must have explored none of them twice, and none in vain;
//! - by the search that remembers states (`leno_explore::explore_states`): it must say the same of each property;
//!
//! and everything that is found must be a real execution. A program on which they differ is made small and shown.
//! `LENO_ORACLE=1000` compares more programs than the few of every run, `LENO_ORACLE_FROM` says where to begin, and
//! `LENO_ORACLE_STATES=1000000` leaves out fewer of the larger ones.

mod reuse;
mod states;

use leno_c::driver::{Input, Options, compile};
use leno_engine::witness::{Stepped, follow};
use leno_engine::{Bounds, Context, Properties, Task};
use leno_explore::{
    Explored, Finding, NoTraces, Visitor, What, all_traces, explore, explore_all, explore_states, witness,
};
use leno_generate::{DECLARATIONS, Feature, Shape, generate, shrink};
use leno_ir::analysis::facts::Facts;
use leno_ir::interp::Image;
use leno_ir::program::{Program, Span};
use states::{At, Fault, Truth};
use std::collections::BTreeSet;
use std::time::Instant;

/// A program with more states than this is left out, and so are the comparison of more traces that are not finished,
/// and a search with reduction that has more executions.
fn most() -> u64 {
    number("LENO_ORACLE_STATES", 20_000)
}

const ALL: Properties = Properties::DEFAULT;

fn compiled(text: &str) -> Program {
    let input = Input::Preprocessed { name: "generated.c".to_string(), text: text.as_bytes().to_vec() };
    match compile(&[input], &Options::default()) {
        Ok(compiled) => compiled.program,
        Err(failure) => panic!("{failure}\n{text}"),
    }
}

/// Collects what the reduced search comes by.
struct Collected<'p> {
    program: &'p Program,
    faults: BTreeSet<Fault>,
    fingerprints: BTreeSet<u64>,
    twice: u64,
    /// Something that was found cannot be followed.
    astray: Option<String>,
}

impl<'p> Collected<'p> {
    fn new(program: &'p Program) -> Collected<'p> {
        Collected { program, faults: BTreeSet::new(), fingerprints: BTreeSet::new(), twice: 0, astray: None }
    }
}

impl Visitor for Collected<'_> {
    fn found(&mut self, finding: Finding, places: &[Span]) {
        let threads = finding.what.threads();
        let at = |index: usize| At::new(&finding.threads[threads[index].0 as usize], places[index]);
        let fault = match &finding.what {
            What::Violation(violation) => Fault::Violation(format!("{:?}", violation.kind), at(0)),
            What::Race { .. } | What::Unordered(_) => Fault::race(at(0), at(1)),
            What::Deadlock(_) => Fault::stuck((0..threads.len()).map(at).collect()),
        };
        if self.faults.insert(fault) {
            self.astray = self.astray.take().or_else(|| astray(self.program, &finding));
        }
    }

    fn explored(&mut self, fingerprint: u64) {
        self.twice += u64::from(!self.fingerprints.insert(fingerprint));
    }
}

/// Why a finding is no real execution, if it is none.
fn astray(program: &Program, finding: &Finding) -> Option<String> {
    let found = witness(&Facts::new(program), finding);
    let image = Image::new(program);
    match follow(&found, &image, &finding.wakeups.options()) {
        Err(astray) => Some(format!("{:?} cannot be followed: {astray:?}", finding.what)),
        Ok((mut follower, end)) => {
            let (expected, happened) = match (&finding.what, end) {
                // A step that others could see has not been made yet.
                (What::Violation(violation), None) => (true, Some(follower.step(violation.thread))),
                (What::Violation(_), end) => (true, end),
                (_, end) => (false, end),
            };
            let is_violation = matches!(happened, Some(Stepped::Violation(_)));
            (expected != is_violation).then(|| format!("{:?} ends in {happened:?}", finding.what))
        }
    }
}

/// How two searches differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Unreal,
    Faults,
    States,
    Twice,
    Redundant,
    Traces,
    Dependent,
}

type Difference = (Kind, String);

/// What came of one program.
#[derive(Default)]
struct Compared {
    states: usize,
    executions: u64,
    redundant: u64,
    traces: usize,
    faults: usize,
    /// Too large to be searched at all; or only for its traces to be compared.
    is_skipped: bool,
    is_without_traces: bool,
}

fn reduced<'p>(program: &'p Program, properties: Properties, spurious: bool) -> (Explored, Collected<'p>) {
    let bounds = Bounds { executions: Some(most()), depth: 2_000, ..Bounds::default() };
    let task = Task { bounds, ..Task::new(properties) };
    let mut collected = Collected::new(program);
    let facts = Facts::new(program);
    let explored = explore_all(&facts, &task, &Context::default(), spurious, &mut collected);
    (explored, collected)
}

/// Compares what the searches find in one program; an error says how they differ. None if the program is too large.
fn compare_faults(program: &Program) -> Result<Option<(Compared, BTreeSet<u64>)>, Difference> {
    // Waits may end by themselves, except where deadlocks are concerned: as `explore` has it.
    let (Some(waking), Some(waiting)) =
        (states::search(program, true, most() as usize), states::search(program, false, most() as usize))
    else {
        return Ok(None);
    };
    let (first, woken) = reduced(program, Properties { deadlock: false, ..ALL }, true);
    let (second, waited) = reduced(program, ALL, false);
    if first.incomplete.is_some() || second.incomplete.is_some() {
        return Ok(None);
    }
    if let Some(message) = woken.astray.as_ref().or(waited.astray.as_ref()) {
        return Err((Kind::Unreal, message.clone()));
    }
    let orders = Image::new(program).orders.are_weak;
    let waking = Truth { circles: BTreeSet::new(), faults: without_deadlocks(&waking), ..waking };
    same("waking", &comparable(waking, orders), &some_race(woken.faults, orders))?;
    let waiting = comparable(waiting, orders);
    same("waiting", &waiting, &some_race(waited.faults, orders))?;
    if waited.twice > 0 {
        return Err((Kind::Twice, format!("{} executions were explored again", waited.twice)));
    }
    compare_states(program)?;
    let compared = Compared {
        states: waiting.states,
        executions: second.stats.executions,
        redundant: second.stats.redundant,
        faults: waiting.faults.len(),
        ..Compared::default()
    };
    Ok(Some((compared, waited.fingerprints)))
}

/// Compares whether the search that remembers states finds a violation of each property with whether there is one.
fn compare_states(program: &Program) -> Result<(), Difference> {
    let none = Properties::NONE;
    let each = [
        ALL,
        Properties { assertion: true, ..none },
        Properties { race: true, ..none },
        Properties { deadlock: true, ..none },
        Properties { memory: true, ..none },
        Properties { leak: true, ..none },
        Properties { memtrack: true, ..none },
    ];
    let facts = Facts::new(program);
    for properties in each {
        let bounds = Bounds { executions: Some(most()), depth: 2_000, ..Bounds::default() };
        let task = Task { bounds, ..Task::new(properties) };
        let expected = explore(&facts, &task, &Context::default());
        let states = explore_states(&facts, &task, &Context::default());
        let is_known = |explored: &Explored| explored.finding.is_some() || explored.incomplete.is_none();
        // (A thread that runs into what was not asked for stays before it, which a follower does not know; and what is
        // left at the end is seen when the program has ended.)
        let finding = states.finding.as_ref().filter(|_| properties == ALL);
        if let Some(message) = finding.and_then(|finding| astray(program, finding)) {
            return Err((Kind::Unreal, message));
        }
        let [here, there] = [&expected, &states].map(|explored| explored.finding.as_ref().map(|found| &found.what));
        if is_known(&expected) && is_known(&states) && here.is_some() != there.is_some() {
            return Err((Kind::States, format!("{properties:?}: exploration finds {here:?}, states {there:?}")));
        }
    }
    Ok(())
}

/// Compares what the searches find, and the traces, too.
fn compare(program: &Program) -> Result<Compared, Difference> {
    let Some((mut compared, explored)) = compare_faults(program)? else {
        return Ok(Compared { is_skipped: true, ..Compared::default() });
    };
    match all_traces(&Facts::new(program), most() as usize) {
        Ok(_) if compared.redundant > 0 => {
            Err((Kind::Redundant, format!("{} executions were given up as redundant", compared.redundant)))
        }
        Ok(all) if all == explored => {
            compared.traces = all.len();
            Ok(compared)
        }
        Ok(all) => {
            let (missed, extra) = (all.difference(&explored).count(), explored.difference(&all).count());
            Err((Kind::Traces, format!("of {} traces {missed} were missed; {extra} do not exist", all.len())))
        }
        Err(NoTraces::NotIndependent) => {
            Err((Kind::Dependent, "events that are taken for independent are not".to_string()))
        }
        Err(NoTraces::TooMany) => {
            compared.is_without_traces = true;
            Ok(compared)
        }
    }
}

/// With orders of atomics, which of several accesses a race is reported with depends on the order of steps: what is
/// compared is whether there is a race.
fn some_race(faults: BTreeSet<Fault>, orders: bool) -> BTreeSet<Fault> {
    let nowhere = || At(String::new(), 0, 0);
    let without_places = |fault: Fault| match fault {
        Fault::Race(..) if orders => Fault::Race(nowhere(), nowhere()),
        other => other,
    };
    faults.into_iter().map(without_places).collect()
}

fn comparable(truth: Truth, orders: bool) -> Truth {
    Truth { faults: some_race(truth.faults, orders), ..truth }
}

fn without_deadlocks(truth: &Truth) -> BTreeSet<Fault> {
    truth.faults.iter().filter(|fault| !matches!(fault, Fault::Stuck(_))).cloned().collect()
}

fn same(what: &str, truth: &Truth, found: &BTreeSet<Fault>) -> Result<(), Difference> {
    let missed: Vec<&Fault> = truth.faults.difference(found).collect();
    let mut invented: Vec<&Fault> = found.difference(&truth.faults).collect();
    invented.retain(|fault| !truth.circles.contains(fault));
    let misses_circles = !truth.circles.is_empty() && !found.iter().any(|fault| matches!(fault, Fault::Stuck(_)));
    if missed.is_empty() && invented.is_empty() && !misses_circles {
        return Ok(());
    }
    Err((Kind::Faults, format!("{what}: missed {missed:?}, invented {invented:?}, misses circles: {misses_circles}")))
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|count| count.parse().ok()).unwrap_or(default)
}

/// Generates programs and compares them; if some differ, the first of them is made small and shown. At most one in so
/// many may be left out.
fn compare_generated(
    seeds: std::ops::Range<u64>,
    shape: impl Fn(u64) -> Shape,
    compare: impl Fn(&Program) -> Result<Compared, Difference>,
    one_in: u64,
) {
    let mut total = Compared::default();
    let (mut skipped, mut without_traces, mut failures) = (0, 0, Vec::new());
    let (start, count) = (Instant::now(), seeds.end - seeds.start);
    for seed in seeds {
        let tree = generate(seed, &shape(seed));
        match compare(&compiled(&tree.to_preprocessed())) {
            Ok(compared) => {
                skipped += u64::from(compared.is_skipped);
                without_traces += u64::from(compared.is_without_traces);
                total.states += compared.states;
                total.executions += compared.executions;
                total.redundant += compared.redundant;
                total.traces += compared.traces;
                total.faults += compared.faults;
            }
            Err((kind, message)) => {
                println!("seed {seed}: {message}");
                failures.push((seed, kind));
            }
        }
    }
    println!(
        "{count} programs in {:.1} s: {skipped} too large, {without_traces} with too many traces to compare; {} states, {} \
         executions ({} redundant), {} traces compared, {} faults",
        start.elapsed().as_secs_f64(),
        total.states,
        total.executions,
        total.redundant,
        total.traces,
        total.faults,
    );
    if let Some((seed, kind)) = failures.first() {
        let fails = |tree: &leno_generate::Program| {
            compare(&compiled(&tree.to_preprocessed())).err().filter(|(other, _)| other == kind)
        };
        let small = shrink(&generate(*seed, &shape(*seed)), |candidate| fails(candidate).is_some());
        let message = fails(&small).map_or(String::new(), |(_, message)| message);
        panic!("{} of {count} programs: {failures:?}\n{message}\n{}", failures.len(), small.to_c());
    }
    assert!(skipped * one_in <= count, "too many programs are too large: {skipped}");
}

#[test]
fn the_reduced_search_agrees_with_the_plain_ones() {
    let from = number("LENO_ORACLE_FROM", 0);
    let shape = |seed: u64| if seed.is_multiple_of(2) { Shape::small() } else { Shape::default() };
    compare_generated(from..from + number("LENO_ORACLE", 100), shape, compare, 10);
}

/// More threads, and fewer kinds of things that they do: so they meet more often.
#[test]
fn larger_programs_agree_too() {
    let from = number("LENO_ORACLE_FROM", 0);
    let shape = |seed: u64| {
        let (threads, statements) = [(3, 10), (4, 8), (5, 6)][seed as usize % 3];
        Shape { threads, statements, features: MEETING.to_vec(), features_at_once: 2, ..Shape::default() }
    };
    // (Many are too large with the limits of every run.)
    compare_generated(from..from + number("LENO_ORACLE", 100) / 2, shape, compare, 1);
}

const MEETING: [Feature; 4] = [Feature::Atomics, Feature::Mutexes, Feature::Sections, Feature::Arrays];

/// A program with loops that wait has infinitely many traces, so only what can go wrong is compared.
#[test]
fn loops_that_wait_hide_nothing() {
    let from = number("LENO_ORACLE_FROM", 0);
    let shape = |_| Shape { features: WITH_LOOPS.to_vec(), features_at_once: 3, statements: 2, ..Shape::small() };
    let compare = |program: &Program| {
        let compared = compare_faults(program)?;
        Ok(compared.map_or(Compared { is_skipped: true, ..Compared::default() }, |(compared, _)| compared))
    };
    // (Not every loop that waits is recognised; without that there is no end.)
    compare_generated(from..from + number("LENO_ORACLE", 100) / 2, shape, compare, 5);
}

const WITH_LOOPS: [Feature; 5] =
    [Feature::Awaiting, Feature::Awaiting, Feature::Atomics, Feature::Mutexes, Feature::Sections];

/// Programs that the searches once differed on.
#[test]
fn what_was_found_before_stays_mended() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/found");
    let mut paths: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let text: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let program = compiled(&format!("{DECLARATIONS}{}", text.join("\n")));
        match compare(&program) {
            Ok(compared) => assert!(!compared.is_skipped && !compared.is_without_traces, "{}", path.display()),
            Err((_, message)) => panic!("{}: {message}", path.display()),
        }
    }
}

/// The shrinker leaves nothing that is not needed.
#[test]
fn a_race_shrinks_to_two_accesses() {
    let has_race = |tree: &leno_generate::Program| {
        let truth = states::search(&compiled(&tree.to_preprocessed()), false, most() as usize);
        truth.is_some_and(|truth| truth.faults.iter().any(|fault| matches!(fault, Fault::Race(..))))
    };
    let racy: Vec<_> =
        (0..).map(|seed| generate(seed, &Shape::default())).filter(|tree| has_race(tree)).take(5).collect();
    for tree in racy {
        let small = shrink(&tree, has_race);
        // Creating a thread (or the same one twice), and one access each.
        assert!(small.size() <= 3, "{}", small.to_c());
    }
}
