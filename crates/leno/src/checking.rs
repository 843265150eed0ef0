//! Checking a program: engines by turns, and what they find, forced on the real program.

use crate::proving::Proved;
use leno_bmc::StagedEngine;
use leno_engine::{
    Assumption, Context, Counterexample, Covered, Engine, Outcome, Progress, Properties, Reason, Reported,
    SIGNALS_NEEDED, Stop, Task,
};
use leno_engine::{
    Cancel, Limits, Statistics, Unknown, assumed_addresses, assumed_moves, assumed_orders, assumed_surroundings,
    machine_options,
};
use leno_explore::{Explorer, StateExplorer};
use leno_ir::analysis::facts::Facts;
use leno_ir::program::{Body, Instr, Op, Program, Property};
use leno_ir::witness::{Claim, Witness};
use leno_lazy::LazyEngine;
use leno_prove::Prover;
use leno_replay::{ReplayOptions, Replayed};
use leno_report::{Steps, text};
use leno_verify::file::Written;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Which engine looks for violations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EngineChoice {
    /// One after the other, by turns.
    #[default]
    Auto,
    /// Every schedule, one by one.
    Explore,
    /// Every state, once.
    States,
    /// All schedules in one formula.
    Staged,
    /// Invariants, for any number of threads.
    Prove,
    /// Threads step by step, which may loop for ever.
    Lazy,
}

/// What to look for, how, and what that may take.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    pub engine: EngineChoice,
    /// How the staged engine works.
    pub staged: StagedEngine,
    /// How far the lazy engine goes.
    pub lazy: LazyEngine,
    pub task: Task,
    pub timeout: Option<Duration>,
    /// How many MiB Leno, and the program under exploration, may have allocated at once.
    pub memory: Option<u64>,
    /// How to force what is found on the real program; None: do not.
    pub replay: Option<ReplayOptions>,
    /// Stops the check from another thread.
    pub cancel: Cancel,
    /// Tells other threads how far the check has come.
    pub progress: Progress,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Proved, for everything that [`Checked::covered`] says.
    Safe,
    /// A witness, and what came of forcing it on the real program, if that was tried.
    Unsafe(Box<Witness>, Option<Replayed>),
    Unknown(Unknown),
}

/// A verdict, what it covers, and what it took.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    pub verdict: Verdict,
    pub covered: Covered,
    /// What a [`Verdict::Safe`] takes for granted. None of it was proved.
    pub assumptions: Vec<Assumption>,
    /// Why there is a [`Verdict::Unknown`]: an execution that ends in undefined behaviour that was not looked for, and
    /// what came of forcing it on the real program. What was asked for is not known to hold beyond it.
    pub cut_short: Option<(Box<Witness>, Option<Replayed>)>,
    pub statistics: Statistics,
    /// Where the prover has proved everything: its proof for a file, or why there is none.
    pub proof: Option<Result<Written, String>>,
}

impl Checked {
    /// The execution that the report shows, if it shows one.
    pub fn witness(&self) -> Option<&Witness> {
        match &self.verdict {
            Verdict::Unsafe(witness, _) => Some(witness),
            _ => self.cut_short.as_ref().map(|(witness, _)| &**witness),
        }
    }

    /// What to tell the user. Long executions are folded.
    pub fn report(&self, program: &Program) -> String {
        self.report_with(program, Steps::Folded)
    }

    /// What to tell the user, with these steps.
    pub fn report_with(&self, program: &Program, steps: Steps) -> String {
        match &self.verdict {
            Verdict::Safe => text::safe(&self.covered, &self.assumptions),
            Verdict::Unsafe(witness, replayed) => text::violation(program, witness, replayed.as_ref(), steps),
            Verdict::Unknown(unknown) => match &self.cut_short {
                Some((witness, replayed)) => {
                    text::cut_short(program, unknown, &self.covered, witness, replayed.as_ref(), steps)
                }
                None => text::unknown(unknown, &self.covered),
            },
        }
    }
}

/// Checks a program.
pub fn check_program(program: &Program, options: &CheckOptions) -> Checked {
    let facts = Facts::new(program);
    let checking = Checking::new(&facts, options);
    checking.decide_with_ends().unwrap_or_else(|| checking.look_for_ends(checking.decide()))
}

/// Finds violation after violation with the staged engine, each at another place. The last one of the list is the
/// verdict on what is left.
pub fn check_all(program: &Program, options: &CheckOptions) -> Vec<Checked> {
    let facts = Facts::new(program);
    let mut checking = Checking::new(&facts, options);
    let mut found = Vec::new();
    loop {
        let mut checked = checking.explained(checking.ask(&options.staged, checking.time_left()));
        let is_new = match &checked.verdict {
            Verdict::Unsafe(witness, _) => checking.task.reported.insert(Reported::of(&witness.claim)),
            _ => false,
        };
        if !is_new && matches!(checked.verdict, Verdict::Unsafe(..)) {
            checked.covered = Covered::statement("there may be more violations");
            checked.verdict = Verdict::Unknown(Unknown {
                reason: Reason::Because("what is left leads to something that was reported already".to_string()),
                advice: "correct those that were found, and check again".to_string(),
            });
        }
        found.push(checking.look_for_ends(checked));
        if !is_new {
            return found;
        }
    }
}

/// Engines by turns, and how long each turn takes at most: most programs are decided in the first second by the staged
/// engine, and most of the others by the search of all states, if there are few. What has no bound needs an invariant, which
/// the prover has soon or never. The one that lacks nothing but time has
/// what is left in the end, the staged engine first of all.
const TURNS: [(EngineChoice, Duration); 6] = [
    (EngineChoice::Staged, Duration::from_secs(1)),
    (EngineChoice::States, Duration::from_secs(1)),
    (EngineChoice::Prove, Duration::from_secs(4)),
    (EngineChoice::Staged, Duration::from_secs(6)),
    (EngineChoice::States, Duration::from_secs(6)),
    (EngineChoice::Explore, Duration::from_secs(5)),
];

/// How long a deadlock is looked for that needs wake-ups without a signal, at most.
const WAKEUPS_LOOK: Duration = Duration::from_secs(5);

/// How long ends that were not asked for are looked for, however soon there was an answer to what was asked for.
const SHORTEST_LOOK: Duration = Duration::from_secs(2);

pub(crate) struct Checking<'a> {
    pub(crate) facts: &'a Facts<'a>,
    pub(crate) options: &'a CheckOptions,
    pub(crate) task: Task,
    pub(crate) timeout: Option<Duration>,
    pub(crate) start: Instant,
}

impl<'a> Checking<'a> {
    pub(crate) fn new(facts: &'a Facts<'a>, options: &'a CheckOptions) -> Checking<'a> {
        let (task, timeout) = (options.task.clone(), options.timeout);
        Checking { facts, options, task, timeout, start: Instant::now() }
    }

    fn decide(&self) -> Checked {
        self.explained(match self.options.engine {
            EngineChoice::Auto => self.by_turns(),
            EngineChoice::Prove => self.prove(),
            engine => self.ask(self.engine(engine), self.timeout),
        })
    }

    /// What is not asked for, but ends executions.
    pub(crate) fn unasked_ends(&self) -> Properties {
        let mut ends = self.task.properties.unasked_ends();
        ends.overflow &= checks_overflow(self.facts.program());
        ends
    }

    /// Most programs have no undefined behaviour, and then it is cheapest to ask for it together with what was asked for:
    /// one question instead of two. No answer if there is some, or if that takes long.
    fn decide_with_ends(&self) -> Option<Checked> {
        let (engine, first_turn) = match self.options.engine {
            EngineChoice::Prove => return None,
            EngineChoice::Auto => TURNS[0],
            engine => (engine, TURNS[0].1),
        };
        let ends = self.unasked_ends();
        if ends == Properties::NONE {
            return None;
        }
        let task = Task { properties: self.task.properties.and(ends), ..self.task.clone() };
        let together = Checking { task, ..*self };
        let turn = together.time_left().map_or(first_turn, |left| left.min(first_turn));
        let outcome = together.outcome(self.engine(engine), Some(turn));
        let is_answer = match &outcome.verdict {
            leno_engine::Verdict::Safe => !outcome.assumptions.iter().any(needs_signals),
            leno_engine::Verdict::Unsafe(found) => match &found.witness.claim {
                Claim::Violation { kind, .. } => self.task.properties.covers(*kind),
                Claim::Race { .. } | Claim::Deadlock { .. } | Claim::Atomicity { .. } => true,
            },
            // (Where a limit ends everything, this is all that will be known.)
            leno_engine::Verdict::Unknown(_) => self.is_over(),
        };
        is_answer.then(|| self.explained(self.concluded(outcome)))
    }

    /// No execution is followed beyond undefined behaviour, so a SAFE says nothing of what the real program does after
    /// it. If that was not looked for, it is looked for now: SAFE stays what it is only if there is none.
    fn look_for_ends(&self, mut checked: Checked) -> Checked {
        let ends = self.unasked_ends();
        if checked.verdict != Verdict::Safe || ends == Properties::NONE {
            return checked;
        }
        let time = self.start.elapsed().max(SHORTEST_LOOK);
        let timeout = Some(self.time_left().map_or(time, |left| left.min(time)));
        let task = Task { properties: ends, reported: BTreeSet::new(), bounds: self.task.bounds.clone() };
        let looked = Checking { task, timeout, start: Instant::now(), ..*self }.decide();
        match looked.verdict {
            Verdict::Safe => {
                let is_new = |assumption: &Assumption| !checked.assumptions.contains(assumption);
                let more: Vec<Assumption> = looked.assumptions.into_iter().filter(is_new).collect();
                checked.assumptions.extend(more);
            }
            Verdict::Unknown(_) => checked.assumptions.push(Assumption::new(text::no_ends(&ends, "was not decided"))),
            Verdict::Unsafe(witness, replayed) => {
                let what = text::summary(self.facts.program(), &witness);
                checked.verdict = Verdict::Unknown(Unknown {
                    reason: Reason::Because(format!("an execution ends in what was not looked for: {what}")),
                    advice: "correct it, and check again".to_string(),
                });
                checked.covered.statement =
                    "what was asked for holds up to such ends, but may not after them".to_string();
                checked.assumptions.clear();
                checked.cut_short = Some((witness, replayed));
            }
        }
        checked
    }

    pub(crate) fn time_left(&self) -> Option<Duration> {
        self.timeout.map(|timeout| timeout.saturating_sub(self.start.elapsed()))
    }

    fn is_over(&self) -> bool {
        self.options.cancel.requested().is_some() || self.time_left().is_some_and(|left| left.is_zero())
    }

    /// Each engine in its turn, until one has a verdict. An engine that lacked something else than time is not asked
    /// again, and what the staged engine lacked is what is said in the end. What the prover has proved is not asked again.
    fn by_turns(&self) -> Checked {
        let mut rest = Checking { task: self.task.clone(), ..*self };
        let mut proved: Option<Proved> = None;
        let mut without_verdict: Vec<(EngineChoice, Checked)> = Vec::new();
        let last_turns = [EngineChoice::Staged, EngineChoice::Explore, EngineChoice::States];
        let turns = TURNS.map(|(engine, turn)| (engine, Some(turn)));
        for (engine, turn) in turns.into_iter().chain(last_turns.map(|engine| (engine, None))) {
            let last = without_verdict.iter().rposition(|(asked, _)| *asked == engine);
            if last.is_some_and(|last| !lacked_time(&without_verdict[last].1)) {
                continue;
            }
            if !without_verdict.is_empty() && self.is_over() {
                break;
            }
            let turn = turn.or(self.time_left());
            let turn = turn.map(|turn| self.time_left().map_or(turn, |left| left.min(turn)));
            if engine == EngineChoice::Prove {
                proved = self.prove_a_part(turn);
                if let Some(safe) = proved.as_ref().and_then(|proved| self.verdict_of(proved)) {
                    return safe;
                }
                rest.task = proved.as_ref().map_or(rest.task, |proved| self.without(proved));
                continue;
            }
            let checked = rest.ask(self.engine(engine), turn);
            if checked.assumptions.iter().any(needs_signals) && engine == EngineChoice::Staged && !self.is_over() {
                return self.with(proved.as_ref(), rest.look_for_wakeups(checked));
            }
            if !matches!(checked.verdict, Verdict::Unknown(_)) {
                return self.with(proved.as_ref(), checked);
            }
            match last {
                Some(last) => without_verdict[last] = (engine, checked),
                None => without_verdict.push((engine, checked)),
            }
        }
        let mut first = without_verdict.swap_remove(0).1;
        // (Exploration was tried.)
        if let Verdict::Unknown(unknown) = &mut first.verdict
            && unknown.advice.starts_with("--engine explore")
        {
            unknown.advice = "more time with --timeout, or a smaller program".to_string();
        }
        self.with(proved.as_ref(), first)
    }

    fn engine(&self, choice: EngineChoice) -> &dyn Engine {
        match choice {
            EngineChoice::Auto | EngineChoice::Staged => &self.options.staged,
            EngineChoice::Explore => &Explorer,
            EngineChoice::States => &StateExplorer,
            EngineChoice::Prove => &Prover,
            EngineChoice::Lazy => &self.options.lazy,
        }
    }

    /// Whether a deadlock needs wake-ups without a signal, in loops, is for exploration to say, if it is quick.
    fn look_for_wakeups(&self, mut safe: Checked) -> Checked {
        let time = self.start.elapsed().max(SHORTEST_LOOK).min(WAKEUPS_LOOK);
        let timeout = Some(self.time_left().map_or(time, |left| left.min(time)));
        let properties = Properties { deadlock: true, ..Properties::NONE };
        let task = Task { properties, ..self.task.clone() };
        let looked = Checking { task, timeout, start: Instant::now(), ..*self }.ask(&Explorer, timeout);
        match looked.verdict {
            Verdict::Unsafe(..) => return looked,
            Verdict::Safe if !looked.assumptions.iter().any(needs_signals) => {
                safe.assumptions.retain(|assumption| !needs_signals(assumption));
            }
            _ => {}
        }
        safe
    }

    /// What one engine says, and what becomes of that on the real program.
    pub(crate) fn ask(&self, engine: &dyn Engine, timeout: Option<Duration>) -> Checked {
        self.concluded(self.outcome(engine, timeout))
    }

    pub(crate) fn outcome(&self, engine: &dyn Engine, timeout: Option<Duration>) -> Outcome {
        let mut limits = Limits::default().with_cancel(&self.options.cancel);
        let memory = self.options.memory.map(|mebibytes| mebibytes.saturating_mul(1 << 20));
        (limits.deadline, limits.memory) = (timeout.map(|timeout| Instant::now() + timeout), memory);
        let mut task = self.task.clone();
        task.bounds.memory = task.bounds.memory.or(memory);
        let context = Context { limits, progress: self.options.progress.clone() };
        engine.check(self.facts, &task, &context)
    }

    pub(crate) fn concluded(&self, outcome: Outcome) -> Checked {
        let Outcome { verdict, covered, mut assumptions, statistics } = outcome;
        if matches!(verdict, leno_engine::Verdict::Safe) {
            assumptions.extend(assumed_surroundings(self.facts.program()));
            let weak_order = self.facts.features().weak_order;
            assumptions.extend(weak_order.map(|span| Assumption::sequential_consistency(self.facts.program(), span)));
            assumptions.extend(assumed_moves(self.facts));
            assumptions.extend(assumed_addresses(self.facts));
            assumptions.extend(assumed_orders(self.facts));
        }
        let (verdict, covered) = match verdict {
            leno_engine::Verdict::Safe => (Verdict::Safe, covered),
            leno_engine::Verdict::Unsafe(found) => self.confirm(*found, covered),
            leno_engine::Verdict::Unknown(unknown) => (Verdict::Unknown(unknown), covered),
        };
        Checked { verdict, covered, assumptions, cut_short: None, statistics, proof: None }
    }

    fn confirm(&self, found: Counterexample, covered: Covered) -> (Verdict, Covered) {
        let witness = leno_explore::shorten(self.facts, &found.witness, &replay_machine());
        let replayed = self.options.replay.as_ref().map(|replay| {
            let machine = replay_machine();
            leno_replay::replay(self.facts.program(), &witness, &ReplayOptions { machine, ..replay.clone() })
        });
        if !found.is_tainted || replayed.as_ref().is_some_and(Replayed::is_confirmed) {
            return (Verdict::Unsafe(Box::new(witness), replayed), covered);
        }
        let reason = format!(
            "there may be a violation ({}), but on the way to it the program calls a function that Leno does not know",
            text::summary(self.facts.program(), &witness)
        );
        let unknown =
            Unknown { reason: Reason::Because(reason), advice: "give the unknown function a body".to_string() };
        let tried = match &replayed {
            Some(Replayed::NotConfirmed { why }) => format!("the real program does not show it: {why}"),
            _ => "it was not tried on the real program".to_string(),
        };
        (Verdict::Unknown(unknown), Covered::statement(format!("{tried}; other executions were not explored")))
    }

    fn explained(&self, mut checked: Checked) -> Checked {
        if let Verdict::Unknown(unknown) = checked.verdict {
            checked.verdict = Verdict::Unknown(self.explain(unknown));
        }
        checked
    }

    /// The limits that were reached, with their numbers. A turn that had ended before the user asked to stop ends
    /// the check only because of that.
    fn explain(&self, mut unknown: Unknown) -> Unknown {
        let more_memory = "allow more with --memory, or make the program smaller";
        if let (Reason::Limit(Stop::Time), Some(stop)) = (&unknown.reason, self.options.cancel.requested()) {
            unknown.reason = Reason::Limit(stop);
        }
        let (reason, advice) = match unknown.reason {
            Reason::Limit(Stop::Memory) => {
                let limit = self.options.memory.map_or(String::new(), |mebibytes| format!(" of {mebibytes} MiB"));
                (format!("the memory limit{limit} was reached"), more_memory.to_string())
            }
            Reason::Limit(Stop::Time) => {
                let limit = self.timeout.map_or(String::new(), |limit| format!(" of {} s", limit.as_secs_f64()));
                (format!("the time limit{limit} was reached"), unknown.advice)
            }
            _ => return unknown,
        };
        Unknown { reason: Reason::Because(reason), advice }
    }
}

/// Whether a time limit is all that kept an engine from a verdict.
fn lacked_time(checked: &Checked) -> bool {
    matches!(&checked.verdict, Verdict::Unknown(unknown) if unknown.reason == Reason::Limit(Stop::Time))
}

fn needs_signals(assumption: &Assumption) -> bool {
    assumption.what == SIGNALS_NEEDED
}

/// Whether the program was compiled with checks of signed arithmetic.
fn checks_overflow(program: &Program) -> bool {
    let is_check = |instr: &Instr| matches!(instr.op, Op::Assert { property: Property::SignedOverflow, .. });
    program.functions.iter().any(|function| match &function.body {
        Body::Blocks(blocks) => blocks.iter().any(|block| block.instrs.iter().any(is_check)),
        Body::External(_) => false,
    })
}

/// How the program behaves while a witness is followed: waits may end without a signal.
pub fn replay_machine() -> leno_ir::interp::Options {
    machine_options(true)
}
