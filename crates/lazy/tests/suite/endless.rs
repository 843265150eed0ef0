//! The lazy engine against a search of all schedules, on generated programs whose threads loop for ever: to the same depth
//! of each thread both find a violation, or neither does.
//!
//! The search is a plain one: it runs the interpreter from control state to control state, counts the steps of each thread as
//! the thread models do, and tries every order. `LENO_LAZY_ENDLESS=2000` tries that many programs.

use leno_engine::witness::{Inputs, conflict};
use leno_engine::{Context, Engine, Properties, Task, Verdict, machine_options};
use leno_ir::analysis::facts::Facts;
use leno_ir::interp::{Image, Machine, Registers, Status, StepResult, ThreadId};
use leno_ir::program::{Place, Program};
use leno_lazy::LazyEngine;
use leno_lazy::efsm::{Control, Efsm};
use leno_testing::count;
use leno_testing::program::compile_with_header;
use leno_testing::random::Random;
use std::collections::BTreeSet;

/// A program of two threads that loop for ever, and sometimes a third one that does not.
fn endless(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut threads = String::new();
    let count = if random.chance(20) { 3 } else { 2 };
    for thread in 0..count {
        let head = if thread == 2 { "for (int i = 0; i < 2; i++)" } else { "for (;;)" };
        let body = block(&mut random, true);
        threads += &format!("void *t{thread}(void *p) {{ int r = 0; {head} {{ {body} }} return 0; }}\n");
    }
    let starts: String = (0..count).map(|thread| format!("pthread_create(&h, 0, t{thread}, 0); ")).collect();
    let rest = if random.chance(50) { statement(&mut random) } else { String::new() };
    format!(
        "pthread_mutex_t m; int x, y, a[2];\nint next(int v) {{ return v + 1; }}\n{threads}\
         int main(void) {{ pthread_t h; int r = 0; {starts} {rest} for (;;) {{ }} return 0; }}\n"
    )
}

fn block(random: &mut Random, may_lock: bool) -> String {
    let count = 1 + random.below(2);
    let inside: String = (0..count).map(|_| statement(random)).collect();
    match may_lock && random.chance(50) {
        true => format!("pthread_mutex_lock(&m); {inside} pthread_mutex_unlock(&m);"),
        false => inside,
    }
}

fn statement(random: &mut Random) -> String {
    let cell = random.pick(&["x", "y", "a[0]", "a[1]"]);
    let number = random.below(4);
    match random.below(8) {
        0 => format!("{cell} = {number}; "),
        1 => format!("{cell}++; "),
        2 => format!("r = {cell}; "),
        3 => format!("if ({cell} == {number}) {{ {} }} ", random.pick(&["x = 2;", "r = r + 1;", "y = r;"])),
        4 => format!("assert({cell} != {number}); "),
        5 => "a[r & 1] = r; ".to_string(),
        6 => "r = next(r); ".to_string(),
        _ => format!("assert(r < {}); ", 2 + number),
    }
}

struct Search<'a> {
    efsm: &'a Efsm<'a>,
    depth: u32,
    properties: Properties,
    seen: BTreeSet<(u128, Vec<u32>)>,
}

#[derive(Clone)]
struct State<'p> {
    machine: Machine<'p>,
    /// By thread: the depth of the control state that it is at.
    depths: Vec<u32>,
}

impl<'a> Search<'a> {
    fn place(state: &State<'a>, thread: ThreadId) -> Place {
        state.machine.image().place(state.machine.pc(thread))
    }

    /// What a thread is at, if it may go on from there within the depth.
    fn at(&self, state: &State<'a>, thread: ThreadId) -> Option<Control> {
        let control = self.efsm.control(Self::place(state, thread))?;
        let depth = state.depths[thread.0 as usize];
        let is_within = match control {
            Control::Private => depth <= self.depth,
            Control::Visible => depth < self.depth,
        };
        (is_within && state.machine.threads()[thread].status == Status::Running).then_some(control)
    }

    /// Runs a thread from its control state to the next one. None: it cannot, or the program has ended.
    fn advance(&self, mut state: State<'a>, thread: ThreadId, control: Control) -> Result<Option<State<'a>>, ()> {
        let mut is_first = true;
        loop {
            match state.machine.step(thread, &mut Inputs::of_instructions()) {
                StepResult::Done => {}
                StepResult::Violation(violation) if self.properties.covers(violation.kind) => return Err(()),
                StepResult::Blocked if is_first => return Ok(None),
                _ => return Ok(None),
            }
            is_first = false;
            state.depths.resize(state.machine.threads().len(), 0);
            let is_there = self.efsm.control(Self::place(&state, thread)).is_some();
            if is_there || state.machine.threads()[thread].status != Status::Running {
                state.depths[thread.0 as usize] += control.steps();
                return Ok(Some(state));
            }
        }
    }

    fn races(&self, state: &State<'a>, visible: &[ThreadId]) -> bool {
        let accesses: Vec<_> = visible.iter().map(|thread| state.machine.next_accesses(*thread)).collect();
        let pairs = accesses.iter().enumerate().flat_map(|(index, a)| accesses[..index].iter().map(move |b| (a, b)));
        self.properties.race && pairs.into_iter().any(|(a, b)| conflict(a, b).is_some() && !state.machine.is_over())
    }

    /// Whether a violation can be reached.
    fn finds(&mut self, start: State<'a>) -> bool {
        let mut work = vec![start];
        while let Some(state) = work.pop() {
            let key = (state.machine.fingerprint(Registers::Live), state.depths.clone());
            if !self.seen.insert(key) {
                continue;
            }
            let threads: Vec<ThreadId> = state.machine.threads().ids().collect();
            let at = |control| {
                let is_at = |thread: &&ThreadId| self.at(&state, **thread) == Some(control);
                threads.iter().filter(is_at).copied().collect::<Vec<_>>()
            };
            let (private, visible) = (at(Control::Private), at(Control::Visible));
            // (What none sees can be done first.)
            let next = match private.first() {
                Some(thread) => vec![(*thread, Control::Private)],
                None => visible.iter().map(|thread| (*thread, Control::Visible)).collect(),
            };
            if private.is_empty() && self.races(&state, &visible) {
                return true;
            }
            for (thread, control) in next {
                match self.advance(state.clone(), thread, control) {
                    Err(()) => return true,
                    Ok(Some(next)) => work.push(next),
                    // (It ends in something that is not looked for; the others go on.)
                    Ok(None) if control == Control::Private => {
                        let mut without = state.clone();
                        without.depths[thread.0 as usize] = u32::MAX;
                        work.push(without);
                    }
                    Ok(None) => {}
                }
            }
        }
        false
    }
}

fn is_found_by_search(program: &Program, properties: Properties, depth: u32) -> bool {
    let facts = Facts::new(program);
    let efsm = Efsm::new(&facts);
    let image = Image::new(program);
    let machine = Machine::new(&image, &machine_options(true));
    let mut search = Search { efsm: &efsm, depth, properties, seen: BTreeSet::new() };
    search.finds(State { machine, depths: vec![0] })
}

#[test]
fn the_same_is_found_to_the_same_depth() {
    let (from, programs) = (count("LENO_LAZY_ENDLESS_FROM", 0), count("LENO_LAZY_ENDLESS", 40));
    let assertion = Properties { assertion: true, ..Properties::NONE };
    let race = Properties { race: true, ..Properties::NONE };
    let (mut violated, mut silent) = (0, 0);
    for seed in from..from + programs {
        let text = endless(seed);
        let program = compile_with_header(&text);
        let depth = 11 + (seed % 3) as u32 * 4;
        let properties = if seed % 4 == 0 { race } else { assertion };
        let engine = LazyEngine { depth: Some(depth), ..LazyEngine::default() };
        let outcome = engine.check(&Facts::new(&program), &Task::new(properties), &Context::default());
        let expected = is_found_by_search(&program, properties, depth);
        match &outcome.verdict {
            Verdict::Unsafe(_) => {
                assert!(expected, "{seed}: only the lazy engine finds something to depth {depth}\n{text}");
                violated += 1;
            }
            other => {
                let covered = format!("explored to depth {depth}");
                assert!(outcome.covered.details.contains(&covered), "{seed}: {other:?}\n{text}");
                assert!(!expected, "{seed}: the lazy engine misses something to depth {depth}: {other:?}\n{text}");
                silent += 1;
            }
        }
    }
    println!("{violated} with a violation, {silent} without");
}
