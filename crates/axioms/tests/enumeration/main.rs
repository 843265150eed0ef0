//! The axioms against plain enumeration: small random programs, put into the solver by a small engine (`engine`), and
//! run in all ways there are (`program`). The solver finds an execution exactly if there is one.
//!
//! `LENO_AXIOMS=20000` tries that many programs for each axiom.

mod engine;
mod program;

use engine::Engine;
use leno_axioms::reads_from::Encoding;
use leno_logic::core::Answer;
use leno_logic::limits::Limits;
use leno_logic::literal::Lit;
use leno_testing::Random;
use program::{Blocks, Kinds, Op, Program, State};
use std::collections::BTreeSet;

/// How many programs are tried for each axiom.
fn count(otherwise: u64) -> u64 {
    std::env::var("LENO_AXIOMS").ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

/// How often the solver said yes and no.
#[derive(Default, Debug)]
struct Tally {
    yes: u64,
    no: u64,
}

impl Tally {
    fn ask(&mut self, engine: &mut Engine, assumptions: &[Lit], expected: bool, what: &str) {
        let answer = engine.solver.solve(assumptions, &Limits::default());
        assert_eq!(answer == Answer::Satisfiable, expected, "{what}");
        *if expected { &mut self.yes } else { &mut self.no } += 1;
    }

    /// The test means something: both answers are frequent.
    fn check(&self, what: &str) {
        println!("{what}: {self:?}");
        assert!(self.yes > self.no / 20 && self.no > self.yes / 20, "{what}: {self:?}");
    }
}

const ENCODINGS: [Encoding; 2] = [Encoding::Composition, Encoding::Cssa];

/// Where threads may be at the same time, and what they have read then: outcomes of real executions, and variations of
/// them.
fn outcomes(kinds: Kinds, programs: u64, what: &str) {
    let mut tally = Tally::default();
    for seed in 0..count(programs) {
        let mut random = Random::new(seed);
        let program = Program::random(&mut random, kinds);
        let states: Vec<State> = program.reachable().into_iter().collect();
        let seen: BTreeSet<_> = states.iter().map(State::outcome).collect();
        let matches_exactly = random.chance(50);
        for encoding in ENCODINGS {
            let mut engine = Engine::new(&program, encoding, matches_exactly);
            for _ in 0..12 {
                let mut outcome = states[random.below(states.len())].outcome();
                if random.chance(70) {
                    outcome.vary(&program, &mut random);
                }
                let literals = engine.outcome(&program, &outcome);
                let about = format!("{what}, seed {seed}, {encoding:?}: {outcome:?} of {program:?}");
                tally.ask(&mut engine, &literals, seen.contains(&outcome), &about);
            }
        }
    }
    tally.check(what);
}

#[test]
fn reads_return_what_the_last_write_before_them_wrote() {
    outcomes(Kinds { memory: true, ..Kinds::default() }, 1000, "reads-from");
}

#[test]
fn critical_sections_exclude_each_other() {
    outcomes(Kinds { locks: true, ..Kinds::default() }, 800, "exclusion");
    outcomes(Kinds { memory: true, locks: true, ..Kinds::default() }, 800, "exclusion and reads-from");
}

#[test]
fn sleeping_threads_wake_up_because_of_signals() {
    outcomes(Kinds { signals: true, ..Kinds::default() }, 1500, "signals");
    outcomes(Kinds { memory: true, signals: true, locks: true, ..Kinds::default() }, 500, "signals, locks, memory");
}

#[test]
fn joins_come_after_the_ends_of_threads() {
    outcomes(Kinds { threads: true, ..Kinds::default() }, 1500, "joins");
    outcomes(Kinds { memory: true, threads: true, ..Kinds::default() }, 800, "joins and reads-from");
}

fn deadlocks(kinds: Kinds, programs: u64, what: &str) {
    let mut tally = Tally::default();
    for seed in 0..count(programs) {
        let mut random = Random::new(seed);
        let program = Program::random(&mut random, kinds);
        let states = program.reachable();
        let expected = states.iter().any(|state| program.is_deadlock(state));
        for encoding in ENCODINGS {
            let mut engine = Engine::new(&program, encoding, true);
            let all = engine.all_stuck(&program);
            tally.ask(&mut engine, &[all], expected, &format!("{what}, seed {seed}, {encoding:?}: {program:?}"));
            // Each step that a thread may be stuck at, in turn.
            for (thread, step, lit) in engine.stuck.clone() {
                let here =
                    |state: &State| state.positions[thread] == step && program.blocked(state, thread) == Blocks::Waits;
                let expected = states.iter().any(|state| here(state) && program.is_deadlock(state));
                let about = format!("{what}, seed {seed}, {encoding:?}: {thread} at {step} of {program:?}");
                tally.ask(&mut engine, &[all, lit], expected, &about);
            }
            // And with a certain outcome: that is where wasted signals would show.
            let deadlocks = states.iter().filter(|state| program.is_deadlock(state));
            let deadlocks: BTreeSet<_> = deadlocks.map(State::outcome).collect();
            let outcomes: Vec<_> = states.iter().map(State::outcome).collect();
            for _ in 0..8 {
                let mut outcome = outcomes[random.below(outcomes.len())].clone();
                for thread in 0..program.threads.len() {
                    // Most threads stand at steps that may wait, or at their end.
                    while random.chance(85) && !program.may_wait(thread, outcome.positions[thread]) {
                        outcome.positions[thread] += 1;
                    }
                }
                let literals = engine.outcome(&program, &outcome);
                let about = format!("{what}, seed {seed}, {encoding:?}: {outcome:?} of {program:?}");
                let expected = deadlocks.contains(&outcome);
                tally.ask(&mut engine, &[literals, vec![all]].concat(), expected, &about);
            }
        }
    }
    tally.check(what);
}

#[test]
fn in_a_deadlock_no_thread_can_go_on() {
    deadlocks(Kinds { locks: true, awaits: true, memory: true, ..Kinds::default() }, 1000, "stuck at locks and words");
    deadlocks(Kinds { threads: true, locks: true, ..Kinds::default() }, 1000, "stuck at joins and locks");
    deadlocks(Kinds { signals: true, ..Kinds::default() }, 2000, "stuck asleep");
    deadlocks(Kinds { signals: true, orders: true, ..Kinds::default() }, 3000, "stuck asleep, in certain orders");
    deadlocks(
        Kinds { signals: true, locks: true, threads: true, memory: true, awaits: true, ..Kinds::default() },
        500,
        "stuck anywhere",
    );
}

#[test]
fn threads_wait_for_each_others_locks_in_a_circle() {
    let mut tally = Tally::default();
    for seed in 0..count(1500) {
        let program = Program::random(&mut Random::new(seed), Kinds { locks: true, nests: true, ..Kinds::default() });
        let expected = program.reachable().iter().any(|state| program.is_circle(state));
        let mut engine = Engine::new(&program, Encoding::Composition, true);
        let circle = engine.circle(&program);
        tally.ask(&mut engine, &[circle], expected, &format!("seed {seed}: {program:?}"));
    }
    tally.check("circles of locks");
}

#[test]
fn threads_race_if_they_can_stop_at_two_accesses() {
    let mut tally = Tally::default();
    for seed in 0..count(1000) {
        let mut random = Random::new(seed);
        let kinds = Kinds { memory: true, locks: true, threads: true, ..Kinds::default() };
        let program = Program::random(&mut random, kinds);
        let states = program.reachable();
        let steps = program.steps().filter(|(_, _, step)| matches!(step.op, Op::Memory(_)));
        let steps: Vec<(usize, usize)> = steps.map(|(thread, index, _)| (thread, index)).collect();
        for encoding in ENCODINGS {
            let mut engine = Engine::new(&program, encoding, false);
            for (first, second) in steps.iter().flat_map(|first| steps.iter().map(move |second| (*first, *second))) {
                if first.0 == second.0 {
                    continue;
                }
                let stands = |state: &State, (thread, step): (usize, usize)| {
                    state.positions[thread] == step && program.blocked(state, thread) == Blocks::No { makes_step: true }
                };
                let expected = states.iter().any(|state| stands(state, first) && stands(state, second));
                let about = format!("seed {seed}, {encoding:?}: {first:?} and {second:?} of {program:?}");
                let stops = engine.stops(&[first, second]);
                tally.ask(&mut engine, &stops, expected, &about);
                let adjacent = engine.adjacent(first, second);
                tally.ask(&mut engine, &[adjacent], expected, &about);
            }
        }
    }
    tally.check("races");
}
