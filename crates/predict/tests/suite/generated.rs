//! Generated programs: a violation is predicted exactly if some schedule that keeps every thread on its recorded path
//! has one.
//!
//! The oracle knows nothing of traces, terms or solvers: it makes all schedules of the interpreter in which each thread
//! passes a beginning of the schedule points that it passed in the recorded run. `LENO_PREDICT=500` tries that many
//! programs; `LENO_PREDICT_FROM=n` starts elsewhere.

use crate::steps;
use leno_engine::witness::{claim_race, stuck_for_ever};
use leno_engine::{Properties, machine_options};
use leno_generate::{Feature, Shape, generate};
use leno_ir::interp::{
    Blocked, Captured, Environment, Image, Machine, Next, PastAccess, Source, Status, StepResult, ThreadId,
    ViolationKind,
};
use leno_ir::program::{Instr, Op, Order, Place, Program};
use leno_logic::limits::Limits;
use leno_predict::{
    Encoding, LeftOut, PredictOptions, Reach, TraceProgram, admits_recorded, build, paths, predict_events,
};
use leno_record::RecordOptions;
use leno_testing::program::{compile, compile_file};
use leno_testing::recorded::record_with;
use leno_testing::{Random, Scratch, count as number};
use leno_trace::Trace;
use std::collections::BTreeMap;
use std::time::Duration;

/// Seeds that showed a mistake once.
const ONCE_WRONG: [u64; 9] = [27, 50, 73, 106, 149, 177, 189, 318, 344];

/// Steps that the oracle may make for one program.
const BUDGET: u64 = 400_000;

/// What goes wrong in some schedule on the recorded paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Oracle {
    assertion: bool,
    race: bool,
    deadlock: bool,
    /// A use after free, of a null pointer, out of bounds, …
    memory: bool,
    /// A thread leaves its recorded path.
    strays: bool,
}

impl Oracle {
    const EVERYTHING: Oracle = Oracle { assertion: true, race: true, deadlock: true, memory: true, strays: true };
}

struct Search<'a> {
    paths: &'a BTreeMap<String, Vec<Place>>,
    inputs: &'a BTreeMap<String, Vec<(u128, Place)>>,
    /// Where threads waited when the run ended.
    waited: &'a BTreeMap<String, Place>,
    /// Where threads used a null pointer in the run itself.
    crashed: &'a BTreeMap<String, Place>,
    found: Oracle,
    left: u64,
}

/// An execution so far: a machine, and how many points and inputs each thread has used.
#[derive(Clone)]
struct State<'p> {
    machine: Machine<'p>,
    passed: Vec<usize>,
    used: Vec<usize>,
}

/// Gives a thread its recorded inputs.
struct Recorded<'a> {
    inputs: &'a BTreeMap<String, Vec<(u128, Place)>>,
    name: String,
    used: usize,
    rest: Captured,
}

impl Environment for Recorded<'_> {
    fn outside(&mut self) -> &mut dyn Environment {
        &mut self.rest
    }

    fn nondet(&mut self, _: ThreadId, _: u16, source: Source) -> u128 {
        if source == Source::Undefined {
            return 0;
        }
        let value = self.inputs.get(&self.name).and_then(|inputs| inputs.get(self.used)).copied();
        self.used += 1;
        value.map_or(0, |(bits, _)| bits)
    }
}

impl<'p> Search<'_> {
    /// One step; None if this execution ends with it.
    fn step(&mut self, state: &mut State<'p>, thread: ThreadId) -> Option<()> {
        self.left = self.left.saturating_sub(1);
        let count = state.machine.threads().len();
        state.passed.resize(count, 0);
        state.used.resize(count, 0);
        let index = thread.0 as usize;
        let name = state.machine.thread_name(thread).to_string();
        let mut env = Recorded { inputs: self.inputs, name, used: state.used[index], rest: Captured::new(0) };
        let is_point = state.machine.is_at_schedule_point(thread);
        let result = state.machine.step(thread, &mut env);
        state.used[index] = env.used;
        match result {
            StepResult::Done => {
                state.passed[index] += usize::from(is_point);
                let count = state.machine.threads().len();
                state.passed.resize(count, 0);
                state.used.resize(count, 0);
                Some(())
            }
            StepResult::Violation(violation) => {
                self.found.assertion |= violation.kind == ViolationKind::Assertion;
                self.found.memory |= Properties { memory: true, ..Properties::NONE }.covers(violation.kind);
                None
            }
            _ => None,
        }
    }

    /// Whether the thread is about to ask for an input that was not recorded.
    fn asks_for_more(&self, state: &State<'p>, thread: ThreadId) -> bool {
        let Next::Instr(Instr { op: Op::Nondet { .. }, .. }) = state.machine.next_op(thread) else { return false };
        let place = state.machine.image().place(state.machine.pc(thread));
        let used = state.used.get(thread.0 as usize).copied().unwrap_or(0);
        let recorded = self.inputs.get(state.machine.thread_name(thread)).and_then(|inputs| inputs.get(used));
        recorded.is_none_or(|(_, at)| *at != place)
    }

    /// Everybody comes to the next point that others could see. What goes wrong on the way ends only that thread.
    fn settle(&mut self, state: &mut State<'p>) {
        for thread in state.machine.threads().ids().collect::<Vec<_>>() {
            while state.machine.threads()[thread].status == Status::Running
                && !state.machine.is_at_schedule_point(thread)
                && state.machine.wait(thread).is_none()
                && !self.asks_for_more(state, thread)
            {
                let before = state.clone();
                if self.step(state, thread).is_none() {
                    *state = before;
                    break;
                }
                if self.left == 0 {
                    return;
                }
            }
        }
    }

    fn is_on_path(&self, state: &State<'p>, thread: ThreadId) -> bool {
        let path = self.paths.get(state.machine.thread_name(thread));
        let place = state.machine.image().place(state.machine.pc(thread));
        let passed = state.passed.get(thread.0 as usize).copied().unwrap_or(0);
        state.machine.is_at_schedule_point(thread) && path.and_then(|path| path.get(passed)) == Some(&place)
    }

    /// Whether a thread is about to make a step of which the recorded path, which goes on, knows nothing.
    fn strays(&self, state: &State<'p>, thread: ThreadId) -> bool {
        let path = self.paths.get(state.machine.thread_name(thread));
        let place = state.machine.image().place(state.machine.pc(thread));
        let passed = state.passed.get(thread.0 as usize).copied().unwrap_or(0);
        state.machine.is_at_schedule_point(thread)
            && path.and_then(|path| path.get(passed)).is_some_and(|recorded| *recorded != place)
    }

    /// Whether a thread waits, at a step of its recorded path or where it waited at the end.
    fn waits_on_path(&self, state: &State<'p>, thread: ThreadId) -> bool {
        let is_known = self.is_on_path(state, thread) || self.is_at_end(state, thread, self.waited);
        is_known && state.machine.wait(thread).is_some()
    }

    /// Whether a thread has made all its steps and is where it was at the end.
    fn is_at_end(&self, state: &State<'p>, thread: ThreadId, ends: &BTreeMap<String, Place>) -> bool {
        let name = state.machine.thread_name(thread);
        let place = state.machine.image().place(state.machine.pc(thread));
        let passed = state.passed.get(thread.0 as usize).copied().unwrap_or(0);
        self.paths.get(name).is_none_or(|path| path.len() == passed) && ends.get(name) == Some(&place)
    }

    fn is_deadlock(&self, state: &State<'p>) -> bool {
        let all = state.machine.threads();
        let running: Vec<ThreadId> = all.ids().filter(|id| all[*id].status != Status::Finished).collect();
        let everybody = !running.is_empty() && running.iter().all(|thread| self.waits_on_path(state, *thread));
        let waits = |blocked: &Blocked| self.waits_on_path(state, blocked.thread);
        everybody || stuck_for_ever(&state.machine).iter().any(|stuck| stuck.iter().all(waits))
    }

    fn explore(&mut self, mut state: State<'p>) {
        self.settle(&mut state);
        if self.left == 0 || self.found == Oracle::EVERYTHING {
            return;
        }
        self.found.deadlock |= self.is_deadlock(&state);
        for thread in state.machine.threads().ids().collect::<Vec<_>>() {
            if self.is_at_end(&state, thread, self.crashed) {
                self.step(&mut state.clone(), thread);
            }
        }
        let ready: Vec<ThreadId> = state.machine.threads().ids().filter(|id| self.is_on_path(&state, *id)).collect();
        self.found.strays |= state.machine.threads().ids().any(|id| self.strays(&state, id));
        for (index, first) in ready.iter().enumerate() {
            for second in &ready[index + 1..] {
                let alone = [first, second].into_iter().all(|thread| is_access(&state.machine, *thread))
                    && !is_atomic(&state.machine, *first, *second);
                let claim = claim_race(&state.machine, *first, *second).filter(|_| alone);
                self.found.race |= claim.is_some();
            }
        }
        for thread in &ready {
            let touches = is_access(&state.machine, *thread) || is_free(&state.machine, *thread);
            let past = state.machine.all_unordered(*thread);
            self.found.race |= touches && past.iter().any(|past| is_outside(&state.machine, past));
        }
        for thread in ready {
            if state.machine.enabled(thread) {
                let mut next = state.clone();
                if self.step(&mut next, thread).is_some() {
                    self.explore(next);
                }
            }
        }
    }
}

/// Whether a thread is about to touch memory, outside of atomic sections.
fn is_access(machine: &Machine<'_>, thread: ThreadId) -> bool {
    let Next::Instr(instr) = machine.next_op(thread) else { return false };
    let touches = matches!(
        instr.op,
        Op::Call { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::ReadModifyWrite { .. }
            | Op::CompareExchange { .. }
            | Op::Spawn { .. }
    );
    touches && !machine.in_section(thread)
}

fn is_free(machine: &Machine<'_>, thread: ThreadId) -> bool {
    matches!(machine.next_op(thread), Next::Instr(instr) if matches!(instr.op, Op::Free { .. }))
}

/// Whether an access was made outside of atomic sections.
fn is_outside(machine: &Machine<'_>, past: &PastAccess) -> bool {
    let Next::Instr(instr) = machine.image().next_at(past.pc) else { return false };
    !past.at.atomic || instr.op.access().is_some_and(|(access, _)| access.order != Order::NotAtomic)
}

fn is_atomic(machine: &Machine<'_>, first: ThreadId, second: ThreadId) -> bool {
    [first, second].into_iter().all(|thread| machine.footprint(thread).is_some_and(|at| at.atomic))
}

fn oracle(
    program: &Program,
    trace: &Trace,
    inputs: &BTreeMap<String, Vec<(u128, Place)>>,
    waited: &BTreeMap<String, Place>,
    crashed: &BTreeMap<String, Place>,
) -> Option<Oracle> {
    let paths = paths(program, trace, &Limits::default()).expect("there is no limit");
    let image = Image::new(program);
    let machine = Machine::new(&image, &machine_options(false));
    let mut search = Search { paths: &paths, inputs, waited, crashed, found: Oracle::default(), left: BUDGET };
    search.explore(State { machine, passed: vec![0], used: vec![0] });
    (search.left > 0).then_some(search.found)
}

fn shape() -> Shape {
    // No compiled program behaves like a wait in an atomic section; and a section is not atomic there for those outside
    // of one.
    Shape::small().without(Feature::WaitingSections).without(Feature::Awaiting)
}

/// Programs that allocate, free, and point to each other's things.
fn heap_shape() -> Shape {
    let features = vec![Feature::Heap, Feature::Pointers, Feature::Mutexes, Feature::Calls, Feature::Semaphores];
    Shape { features, features_at_once: 4, ..Shape::small() }
}

#[derive(Default)]
struct Tally {
    compared: u64,
    /// Assertions, races, deadlocks, uses of memory that is not there.
    violations: [u64; 4],
    replayed: u64,
    open: usize,
    /// Answers that are not given since something is left out, as the prediction says.
    left_out: u64,
    /// Programs in which a branch may go another way, and violations that are found there.
    straying: u64,
    beyond: u64,
    too_big: u64,
    strange: u64,
}

#[test]
fn predicted_exactly_if_a_schedule_on_the_recorded_paths_has_it() {
    let (from, count) = (number("LENO_PREDICT_FROM", 0), number("LENO_PREDICT", 15));
    let mut tally = Tally::default();
    for seed in from..from + count {
        compare(seed, &shape(), &mut tally);
    }
    tally.show(count);
    assert!(tally.compared > count, "most are compared");
}

#[test]
fn what_was_once_wrong_is_right() {
    let mut tally = Tally::default();
    for seed in ONCE_WRONG {
        compare(seed, &shape(), &mut tally);
    }
    tally.show(ONCE_WRONG.len() as u64);
}

#[test]
fn with_allocated_memory_too() {
    let (from, count) = (number("LENO_PREDICT_FROM", 0), number("LENO_PREDICT_HEAP", 10));
    let mut tally = Tally::default();
    for seed in from..from + count {
        compare(seed, &heap_shape(), &mut tally);
    }
    tally.show(count);
}

impl Tally {
    fn show(&self, count: u64) {
        let [assertions, races, deadlocks, memory] = self.violations;
        println!(
            "{count} programs, {} answers compared, {assertions} assertions, {races} races, {deadlocks} deadlocks and {memory} uses \
             of memory that is not there predicted, {} replayed; {} answers that the interpreter did not confirm; {} answers left out, and said to be; in {} programs threads leave the recorded paths, and {} violations are found there; {} programs too \
             big for the oracle, {} that the walk could not follow",
            self.compared,
            self.replayed,
            self.open,
            self.left_out,
            self.straying,
            self.beyond,
            self.too_big,
            self.strange
        );
    }
}

fn compare(seed: u64, shape: &Shape, tally: &mut Tally) {
    let generated = generate(seed, shape);
    let text = generated.to_preprocessed();
    compare_program(seed, &compile(&text), &generated.to_c(), tally);
}

/// Threads that use one object, and one of them that frees it.
fn freeing(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut below = |count: usize| random.below(count);
    let statements = [
        "*p = 1;",
        "flag = *p;",
        "pthread_mutex_lock(&m); *p = 2; pthread_mutex_unlock(&m);",
        "pthread_mutex_lock(&m); flag = 1; pthread_mutex_unlock(&m);",
        "if (flag) *p = 3;",
        "if (!flag) *p = 4;",
        "sem_post(&s);",
        "pthread_mutex_lock(&m); if (!flag) (*p)++; pthread_mutex_unlock(&m);",
    ];
    let freeing = below(2);
    let mut text = "#include <pthread.h>\n#include <semaphore.h>\n#include <stdlib.h>\n".to_string();
    text.push_str("int flag;\npthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nsem_t s;\n");
    for thread in 0..2 {
        text.push_str(&format!("static void *t{thread}(void *argument) {{\n    int *p = argument;\n"));
        for _ in 0..1 + below(2) {
            text.push_str(&format!("    {}\n", statements[below(8)]));
        }
        if thread == freeing {
            let way = ["free(p);", "if (flag) free(p);", "sem_wait(&s); free(p);"][below(3)];
            text.push_str(&format!("    {way}\n"));
        } else {
            text.push_str(&format!("    {}\n", statements[below(8)]));
        }
        text.push_str("    return 0;\n}\n");
    }
    text.push_str("int main(void) {\n    pthread_t a, b;\n    int *p = calloc(1, sizeof *p);\n");
    text.push_str(&format!("    sem_init(&s, 0, {});\n", below(2)));
    text.push_str("    pthread_create(&a, 0, t0, p);\n    pthread_create(&b, 0, t1, p);\n");
    text.push_str("    pthread_join(a, 0);\n    pthread_join(b, 0);\n    return 0;\n}\n");
    text
}

/// Of all kinds of steps.
#[test]
fn steps_of_all_kinds() {
    let (from, count) = (number("LENO_PREDICT_FROM", 0), number("LENO_PREDICT_STEPS", 20));
    let mut tally = Tally::default();
    for seed in from..from + count {
        let text = steps::program(seed);
        let program = compile_file(Scratch::new().write("steps.c", &text), &[]);
        compare_program(seed, &program, &text, &mut tally);
    }
    tally.show(count);
}

#[test]
fn freed_while_others_use_it() {
    let (from, count) = (number("LENO_PREDICT_FROM", 0), number("LENO_PREDICT_FREES", 10));
    let mut tally = Tally::default();
    for seed in from..from + count {
        let text = freeing(seed);
        let program = compile_file(Scratch::new().write("freeing.c", &text), &[]);
        compare_program(seed, &program, &text, &mut tally);
    }
    tally.show(count);
    assert!(tally.violations[3] > 0 || count < 10, "some are found");
}

fn compare_program(seed: u64, program: &Program, text: &str, tally: &mut Tally) {
    let record = RecordOptions { silent: true, timeout: Some(Duration::from_secs(2)), ..RecordOptions::default() };
    if number("LENO_PREDICT_SHOW", 0) > 0 {
        println!("{text}");
    }
    let (trace, _) = record_with(program, record);
    let mut events = build(program, &trace, &Limits::default()).expect("there is no limit");
    // What the compiled program does where Leno's semantics says something else: joining nobody, unlocking what is not
    // one's own.
    if !events.gaps.is_empty() {
        tally.strange += 1;
        return;
    }
    for encoding in [Encoding::Composition, Encoding::Cssa] {
        assert!(
            admits_recorded(&mut events, encoding) || text.contains("__VERIFIER_atomic_begin();"),
            "seed {seed}, {encoding:?}: the recorded run is not admitted\n{text}"
        );
    }
    let inputs: BTreeMap<String, Vec<(u128, Place)>> = events
        .threads
        .values()
        .map(|thread| (thread.name.clone(), thread.inputs.iter().map(|input| (input.bits, input.place)).collect()))
        .collect();
    let waited: BTreeMap<String, Place> = events
        .threads
        .values()
        .filter_map(|thread| Some((thread.name.clone(), events.event(*thread.events.last()?))))
        .filter(|(_, event)| event.pending)
        .map(|(name, event)| (name, event.place))
        .collect();
    let crashed: BTreeMap<String, Place> = events
        .targets
        .iter()
        .filter(|target| target.violation.kind == ViolationKind::NullDereference)
        .map(|target| (events.threads[&target.thread].name.clone(), target.place))
        .collect();
    let Some(expected) = oracle(program, &trace, &inputs, &waited, &crashed) else {
        tally.too_big += 1;
        return;
    };
    let none = Properties::NONE;
    let kinds = [
        (Properties { assertion: true, ..none }, expected.assertion),
        (Properties { race: true, ..none }, expected.race),
        (Properties { deadlock: true, ..none }, expected.deadlock),
        (Properties { memory: true, ..none }, expected.memory),
    ];
    for (kind, (properties, expected)) in kinds.into_iter().enumerate() {
        for encoding in [Encoding::Composition, Encoding::Cssa] {
            let options = PredictOptions { properties, encoding, untaken_branches: false, ..PredictOptions::default() };
            let prediction = predict_events(program, &mut events, &options);
            let found = prediction.confirmed().next();
            let unconfirmed = prediction.findings.iter().filter(|found| found.witness.is_err()).count();
            tally.open += unconfirmed;
            if unconfirmed > 0 {
                println!("seed {seed}, {properties:?}, {encoding:?}: not confirmed: {:?}", prediction.findings);
            }
            // What is missed has to be announced.
            if expected && found.is_none() && !prediction.left_out.is_empty() {
                tally.left_out += 1;
                continue;
            }
            if found.is_some() != expected && number("LENO_PREDICT_GO_ON", 0) > 0 {
                println!("DIFFERENCE seed {seed}, {properties:?}, {encoding:?}: expected {expected}");
                continue;
            }
            assert_eq!(
                found.is_some(),
                expected,
                "seed {seed}, {properties:?}, {encoding:?}: {:?} {:?}\n{}",
                prediction.findings,
                prediction.reach,
                text
            );
            assert!(found.is_some() || prediction.reach == Reach::All);
            if let (Some(witness), Encoding::Composition) = (found, encoding) {
                tally.violations[kind] += 1;
                let outcome = leno_replay::replay(program, witness, &leno_replay::ReplayOptions::default());
                assert!(outcome.is_confirmed(), "seed {seed}: {outcome:?}\n{}", text);
                tally.replayed += 1;
            }
        }
        tally.compared += 1;
    }
    look_beyond(seed, program, &mut events, expected, text, tally);
}

/// Where threads may leave their recorded paths, prediction says so, or has found something wrong.
fn look_beyond(
    seed: u64,
    program: &Program,
    events: &mut TraceProgram,
    expected: Oracle,
    text: &str,
    tally: &mut Tally,
) {
    let prediction = predict_events(program, events, &PredictOptions::default());
    let found = prediction.confirmed().next();
    let says = prediction.left_out.contains(LeftOut::Branch) || !prediction.gaps.is_empty();
    assert!(!expected.strays || found.is_some() || says, "seed {seed}: a branch may go another way\n{text}");
    tally.straying += u64::from(expected.strays);
    let on_path = expected.assertion || expected.race || expected.deadlock || expected.memory;
    let Some(witness) = found.filter(|_| !on_path) else { return };
    let outcome = leno_replay::replay(program, witness, &leno_replay::ReplayOptions::default());
    assert!(outcome.is_confirmed(), "seed {seed}, beyond the recorded paths: {outcome:?}\n{text}");
    tally.beyond += 1;
}
