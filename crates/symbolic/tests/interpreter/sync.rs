//! Every step on a synchronisation object, in every kind of state, with both data models.
//!
//! The main thread, whose word is 1, finds random words in the object, and makes the step. A mutex's words differ from
//! the interpreter's (which keeps a flag, the owner elsewhere, and that it is destroyed in its kind); all others are
//! the same.

use crate::harness::{Inputs, STATES, at_mark, parse, peek};
use leno_ir::interp::{Image, MAIN, Machine, Options, Prng, StepResult};
use leno_ir::program::{DataModel, LocalId, Op, Program, SyncOp};
use leno_logic::term::{Assignment, Evaluation, Sort, Term, Terms};
use leno_symbolic::operators::fit;
use leno_symbolic::sync::{Caller, DESTROYED, transition, words};

const ME: u32 = 1;
const GONE: u32 = DESTROYED as u32;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Object {
    Mutex { may_be_special: bool },
    Spin,
    ReadWrite { reading: u32 },
    Semaphore,
    Barrier,
    Once,
}

struct Step {
    object: Object,
    text: &'static str,
}

fn steps() -> Vec<Step> {
    let mut steps = Vec::new();
    let mut add = |object, texts: &[&'static str]| {
        steps.extend(texts.iter().map(|text| Step { object, text }));
    };
    for may_be_special in [false, true] {
        let mutex = Object::Mutex { may_be_special };
        add(mutex, &["mutex_init @m, %o", "mutex_lock @m", "mutex_trylock @m", "mutex_unlock @m"]);
        add(mutex, &["mutex_destroy @m", "cond_sleep @c, @m", "cond_relock @m"]);
    }
    add(Object::Spin, &["spin_init @m, %o", "spin_lock @m", "spin_trylock @m", "spin_unlock @m", "spin_destroy @m"]);
    for reading in 0..3 {
        let lock = Object::ReadWrite { reading };
        add(lock, &["rw_init @m", "rw_destroy @m", "rw_read_lock @m", "rw_try_read_lock @m"]);
        add(lock, &["rw_write_lock @m", "rw_try_write_lock @m", "rw_unlock @m"]);
    }
    let semaphore = ["sem_init @m, %o", "sem_wait @m", "sem_trywait @m", "sem_post @m", "sem_get_value @m"];
    add(Object::Semaphore, &semaphore);
    add(Object::Semaphore, &["sem_destroy @m"]);
    add(Object::Barrier, &["barrier_init @m, %o", "barrier_destroy @m", "barrier_arrive @m", "barrier_leave @m, %t"]);
    add(Object::Once, &["once_begin @m", "once_end @m", "cond_init @m", "cond_destroy @m"]);
    add(Object::Once, &["cond_signal @m", "cond_broadcast @m"]);
    steps
}

fn program(model: DataModel, step: &Step) -> Program {
    let word = if model == DataModel::Lp64 { "i64" } else { "i32" };
    let name = if model == DataModel::Lp64 { "lp64" } else { "ilp32" };
    let locks = match step.object {
        Object::ReadWrite { reading } => "  rw_read_lock @m\n".repeat(reading as usize),
        // Only who has arrived can leave.
        Object::Barrier => "  barrier_init @m, i32 9\n  %r = barrier_arrive @m\n".to_string(),
        _ => String::new(),
    };
    let stores: String =
        (0..5).map(|index| format!("  %w = nondet\n  store i32 ptr_add(@m, {word} {}) = %w\n", index * 4)).collect();
    // Only a ticket is wide.
    let result = if step.text.starts_with("barrier_arrive") { "%r" } else { "%s" };
    parse(&format!(
        "program {name} entry &start
@m = global size 56 align 8
@c = global size 48 align 8
fn &start(%argc: i32, %argv: ptr) {{
  local %w: i32
  local %o: i32
  local %t: i64
  local %r: i64
  local %s: i32
b0:
{locks}{stores}  %o = nondet
  %t = nondet
  yield
  {result} = {}
  store i32 @m = i32 1000
  store i32 ptr_add(@m, {word} 4) = i32 0
  goto b1
b1:
  rw_unlock @m
  goto b1
}}
",
        step.text
    ))
}

fn pick(random: &mut Prng, values: &[u32]) -> u32 {
    match random.below(values.len() as u64 + 1) as usize {
        index if index < values.len() => values[index],
        _ => random.next_u64() as u32 & 0x7fff_ffff,
    }
}

/// The words of an object as the rules see them.
fn random_words(random: &mut Prng, object: Object) -> Vec<u32> {
    match object {
        Object::Mutex { may_be_special } => {
            let owner = pick(random, &[0, 0, ME, ME, ME, 2, 3, GONE]);
            let is_held = owner != 0 && owner != GONE;
            let count = if !is_held { 0 } else { pick(random, &[1, 1, 2, 3]).max(1) };
            let kind = pick(random, &[0, 1, 1, 2, 2, 3]);
            if may_be_special { vec![owner, count, kind] } else { vec![owner] }
        }
        Object::Spin => vec![pick(random, &[0, ME, 2, GONE])],
        Object::ReadWrite { reading } => {
            vec![reading + pick(random, &[0, 0, 1, 2]) % 1000, pick(random, &[0, 0, ME, 2, GONE])]
        }
        Object::Semaphore => vec![pick(random, &[0, 0, 1, 2, 0x7fff_fffe, 0x7fff_ffff, 0x8000_0000, u32::MAX])],
        Object::Barrier => {
            let expected = pick(random, &[0, 1, 2, 3, 4]);
            vec![expected, pick(random, &[0, 1, 2, 3]), pick(random, &[0, 1, u32::MAX])]
        }
        Object::Once => vec![pick(random, &[0, 1, 2])],
    }
}

/// The same object as five words of the interpreter.
fn interpreted(object: Object, model: DataModel, words: &[u32]) -> [u32; 5] {
    let mut all = [0; 5];
    let Object::Mutex { .. } = object else {
        all[..words.len()].copy_from_slice(words);
        return all;
    };
    let (owner, kind_at) = (words[0], if model == DataModel::Lp64 { 4 } else { 3 });
    if owner == GONE {
        all[kind_at] = GONE;
    } else {
        let is_held = owner != 0;
        let count = words.get(1).copied().unwrap_or(u32::from(is_held));
        (all[0], all[1], all[2]) = (u32::from(is_held), count, owner);
        all[kind_at] = words.get(2).copied().unwrap_or(0);
    }
    all
}

/// And back. What a destroyed mutex had been counts no more.
fn abstracted(object: Object, model: DataModel, all: [u32; 5], count: usize) -> Vec<u32> {
    let Object::Mutex { .. } = object else { return all[..count].to_vec() };
    let kind = all[if model == DataModel::Lp64 { 4 } else { 3 }];
    match (kind, all[0]) {
        (GONE, _) => vec![GONE],
        (_, 0) => [0, all[1], kind][..count].to_vec(),
        _ => [all[2], all[1], kind][..count].to_vec(),
    }
}

/// A step over variables, once for all states.
struct Rule {
    terms: Terms,
    words: Vec<Term>,
    operand: Option<Term>,
    reading: Term,
    op: SyncOp,
    transition: leno_symbolic::sync::Transition,
}

impl Rule {
    fn new(op: &SyncOp, model: DataModel, may_be_special: bool) -> Rule {
        let mut terms = Terms::new();
        let names = words(op, model, may_be_special);
        let words: Vec<Term> = names.iter().map(|_| terms.variable(Sort::Bits(32), "word")).collect();
        let operand = match op {
            SyncOp::LockInit { .. } | SyncOp::SemInit { .. } | SyncOp::BarrierInit { .. } => Some(32),
            SyncOp::BarrierLeave { .. } => Some(64),
            _ => None,
        };
        let operand = operand.map(|width| terms.variable(Sort::Bits(width), "operand"));
        let reading = terms.variable(Sort::Bits(32), "reading");
        let caller = Caller { me: terms.bits(32, ME.into()), operand, reading: Some(reading), may_be_destroyed: true };
        let transition = transition(&mut terms, op, caller, &words);
        assert_eq!(transition.writes.len(), words.len());
        Rule { terms, words, operand, reading, op: op.clone(), transition }
    }

    fn assignment(&self, old: &[u32], operand: u128, reading: u32) -> Assignment {
        let mut assignment = Assignment::new();
        for (variable, value) in self.words.iter().zip(old) {
            assignment.set(&self.terms, *variable, (*value).into());
        }
        if let Some(variable) = self.operand {
            assignment.set(&self.terms, variable, operand);
        }
        assignment.set(&self.terms, self.reading, reading.into());
        assignment
    }

    /// The same with constants: the simplifier must come to the same result.
    fn check_folded(&mut self, old: &[u32], operand: u128, reading: u32, result: u128) {
        let terms = &mut self.terms;
        let words: Vec<Term> = old.iter().take(self.words.len()).map(|word| terms.bits(32, (*word).into())).collect();
        let operand = self.operand.map(|variable| terms.bits(terms.width(variable), operand));
        let reading = Some(terms.bits(32, reading.into()));
        let caller = Caller { me: terms.bits(32, ME.into()), operand, reading, may_be_destroyed: true };
        let folded = transition(terms, &self.op, caller, &words);
        assert_eq!(terms.as_bits(folded.result), Some(result), "{:?} folded", self.op);
    }
}

fn check(model: DataModel, step: &Step) {
    let program = program(model, step);
    let image = Image::new(&program);
    let initial = Machine::new(&image, &Options::default());
    let leno_ir::program::Body::Blocks(blocks) = &program.functions.iter().next().expect("start").body else {
        panic!("start has a body")
    };
    let mark = blocks.iter().next().expect("b0").instrs.iter().skip_while(|instr| instr.op != Op::Yield).nth(1);
    let Some(Op::Sync { op, dst: Some(dst), .. }) = mark.map(|instr| &instr.op) else { panic!("a step at the mark") };
    let may_be_special = step.object == Object::Mutex { may_be_special: true };
    let mut rule = Rule::new(op, model, may_be_special);
    let reading = if let Object::ReadWrite { reading } = step.object { reading } else { 0 };
    let mut random = Prng::new(5);
    let (mut waited, mut went, mut failed) = (0, 0, 0);
    for state in 0..STATES {
        let old = random_words(&mut random, step.object);
        let operand = u128::from(pick(&mut random, &[0, 1, 2, 3, 0x7fff_ffff, 0x8000_0000]));
        let generation = if random.below(2) == 0 { *old.last().expect("a word") } else { pick(&mut random, &[0, 1]) };
        let ticket = u128::from(generation) << 1 | u128::from(random.below(2));
        let words = interpreted(step.object, model, &old);
        let mut values: Vec<u128> = words.iter().map(|word| (*word).into()).collect();
        values.extend([operand, ticket]);
        let mut inputs = Inputs::new(&values);
        let mut machine = at_mark(&initial, &mut inputs);
        let operand = if matches!(op, SyncOp::BarrierLeave { .. }) { ticket } else { operand };
        let assignment = rule.assignment(&old, operand, reading);
        let mut evaluation = Evaluation::new(&rule.terms, &assignment);
        let what = format!("{} on {old:x?}, operand {operand:x}, {reading} reads, {model:?}", step.text);

        let enabled = rule.transition.enabled.condition().is_none_or(|condition| evaluation.holds(condition));
        assert_eq!(enabled, machine.enabled(MAIN), "enabled: {what}");
        if !enabled {
            waited += 1;
            continue;
        }
        let mut violations = rule.transition.violations.iter().copied();
        let violation = violations.find(|(_, condition)| evaluation.holds(*condition));
        match (machine.step(MAIN, &mut inputs), violation) {
            (StepResult::Violation(found), Some((kind, _))) => {
                assert_eq!(found.kind, kind, "{what}");
                failed += 1;
                continue;
            }
            (StepResult::Done, None) => went += 1,
            (found, expected) => panic!("{found:?}, not {expected:?}: {what}"),
        }
        let result = evaluation.value(rule.transition.result).number();
        let width = if *dst == LocalId(5) { 64 } else { 32 };
        let mask = u128::from(u64::MAX) >> (64 - width);
        assert_eq!(machine.local(MAIN, *dst).bits, result & mask, "result: {what}");

        let after = [0, 4, 8, 12, 16].map(|offset| peek(&machine, &image, 0, offset, 4) as u32);
        let found = abstracted(step.object, model, after, old.len());
        let mut expected = old.clone();
        for (word, write) in expected.iter_mut().zip(&rule.transition.writes) {
            if evaluation.holds(write.condition) {
                *word = evaluation.value(write.value).number() as u32;
            }
        }
        assert_eq!(found, expected[..found.len()], "words: {what}");
        if let Object::ReadWrite { .. } = step.object {
            let reads = rule.transition.reading.map_or(reading.into(), |reads| evaluation.value(reads).number());
            assert_eq!(reads_left(&mut machine, &mut inputs), reads, "reads: {what}");
        }
        if rule.words.len() == 1 && rule.transition.violations.is_empty() {
            check_with_result(&mut rule, &old, &assignment, machine.local(MAIN, *dst).bits as u32, expected[0], &what);
        }
        if state % 16 == 0 {
            rule.check_folded(&old, operand, reading, result);
        }
    }
    println!("{:<28} {waited:>5} waited {went:>5} went on {failed:>5} failed", step.text);
    // (Whoever reads cannot destroy.)
    assert!(went > 0 || (step.text.starts_with("rw_destroy") && failed > 0));
}

/// The transition of one word for a result that is known.
fn check_with_result(rule: &mut Rule, old: &[u32], assignment: &Assignment, result: u32, new: u32, what: &str) {
    let word = rule.words[0];
    let given = rule.transition.clone().with_result(&mut rule.terms, word, i64::from(result as i32));
    let other = rule.transition.clone().with_result(&mut rule.terms, word, i64::from(result as i32) ^ 1);
    let mut evaluation = Evaluation::new(&rule.terms, assignment);
    assert!(evaluation.holds(given.guard), "guard: {what}");
    assert!(!evaluation.holds(other.guard), "other guard: {what}");
    let expected = given.new.map_or(old[0].into(), |new| evaluation.value(new).number());
    assert_eq!(expected, u128::from(new), "new word: {what}");
}

/// How often the thread can still give its read lock back.
fn reads_left(machine: &mut Machine<'_>, inputs: &mut Inputs) -> u128 {
    let mut unlocked = 0;
    loop {
        let is_unlock = matches!(
            machine.next_op(MAIN),
            leno_ir::interp::Next::Instr(instr) if matches!(instr.op, Op::Sync { op: SyncOp::RwUnlock, .. })
        );
        match machine.step(MAIN, inputs) {
            StepResult::Done => unlocked += u128::from(is_unlock),
            StepResult::Violation(_) => return unlocked,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn every_step_in_every_state() {
    for model in [DataModel::Lp64, DataModel::Ilp32] {
        for step in steps() {
            check(model, &step);
        }
    }
}

#[test]
fn results_fit_registers() {
    // A result of -1 in 32 bits is -1 in an `int`.
    let mut terms = Terms::new();
    let failed = terms.bits(64, u64::MAX.into());
    let narrow = fit(&mut terms, failed, 32);
    assert_eq!(terms.as_bits(narrow), Some(u32::MAX.into()));
}
