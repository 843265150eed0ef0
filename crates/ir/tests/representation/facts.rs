//! The facts against reality: whatever the interpreter sees happen, they must have said may happen.
//!
//! Programs are run under random schedules, and then systematically with a small budget. Before each step we look at
//! where all threads are and what they hold, and at what the next instruction is about to access, who owns it, and who
//! else accessed it before:
//! - what is accessed is in the points-to sets, at an offset that is foreseen; what is called is in the call graph;
//!   what two threads access is shared;
//! - what is executed twice may be; where two threads are at the same time may happen in parallel; the threads that are
//!   alive may be alive;
//! - a lock that is held for certain is held, and no two threads hold locks that exclude each other;
//! - a register or slot that is dead can be changed without anything else changing.
//!
//! `programs/` holds C programs as `leno dump --ir` wrote them; the others are generated. `LENO_FACTS=2000` watches
//! more of these than the few of every run, `LENO_FACTS_FROM` says where to begin.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use leno_generate::{Feature, Shape, generate};
use leno_ir::analysis::Facts;
use leno_ir::analysis::executions::Times;
use leno_ir::analysis::locksets::{Lock, LockClass, Mode};
use leno_ir::analysis::points_to::{AbstractId, AbstractObject, ObjectSet, for_each_op};
use leno_ir::analysis::sharing::Sharing;
use leno_ir::analysis::threads::RootId;
use leno_ir::interp::{
    Captured, Image, Machine, Next, Options, Owner, Status, StepResult, ThreadId, UndefinedPolicy, Value, operate,
};
use leno_ir::program::*;
use leno_ir::text::{self, Names};
use leno_ir::validate::validate;

use crate::compile::compiled;
use crate::locking;
use crate::random::Random;

/// The abstract objects that may stand for an object; several for what `alloca` made.
fn stand_for(facts: &Facts, owner: Owner) -> ObjectSet {
    let object = match owner {
        Owner::Static(id) => AbstractObject::Static(id),
        Owner::Function(id) => AbstractObject::Function(id),
        Owner::Slot(func, slot) => AbstractObject::Slot(func, slot),
        Owner::Heap(place) => AbstractObject::Site(place),
        Owner::Library => AbstractObject::Unknown,
        Owner::OnStack(func) => {
            let mut sites = ObjectSet::new();
            for_each_op(func, &facts.program().functions[func], |place, _| {
                sites.extend(facts.points_to().object(AbstractObject::Site(place)));
            });
            return sites;
        }
    };
    facts.points_to().object(object).into_iter().collect()
}

/// Who has accessed one object so far.
#[derive(Clone, Default)]
struct History {
    objects: ObjectSet,
    /// Each thread once, with an access of it.
    threads: BTreeMap<ThreadId, Place>,
    written: bool,
}

/// How much was seen, so that the tests do not pass by seeing nothing.
#[derive(Clone, Copy, Default, Debug)]
struct Seen {
    accesses: usize,
    /// Locks that are held for certain, at a step.
    held: usize,
    /// Pairs of points at which two threads were at the same time.
    pairs: usize,
    /// Pairs of points that may not happen in parallel, or exclude each other; of different threads that were alive at
    /// the same time.
    dead: usize,
}

impl Seen {
    fn add(&mut self, other: Seen) {
        self.accesses += other.accesses;
        self.held += other.held;
        self.pairs += other.pairs;
        self.dead += other.dead;
    }
}

/// One execution, watched.
#[derive(Clone)]
struct Watch<'a> {
    facts: &'a Facts<'a>,
    what: &'a str,
    /// By the address where the object begins.
    history: BTreeMap<u64, History>,
    /// Where the locks are that are in slots or on the heap.
    lock_objects: BTreeMap<AbstractId, u64>,
    roots: Vec<RootId>,
    parents: Vec<Option<ThreadId>>,
    executed: BTreeSet<Place>,
    seen: Seen,
}

impl<'a> Watch<'a> {
    fn new(facts: &'a Facts<'a>, what: &'a str) -> Watch<'a> {
        Watch {
            facts,
            what,
            history: BTreeMap::new(),
            lock_objects: BTreeMap::new(),
            roots: vec![RootId(0)],
            parents: vec![None],
            executed: BTreeSet::new(),
            seen: Seen::default(),
        }
    }

    fn show(&self, place: Place) -> String {
        let program = self.facts.program();
        let names = Names::new(program);
        let op = program.op(place).map(|op| names.show(place.func, op).to_string()).unwrap_or_default();
        format!("{}: {} {} [{op}]", self.what, names.function(place.func), place.block)
    }

    fn before_step(&mut self, machine: &Machine<'_>, thread: ThreadId) {
        let place = place_of(machine, thread);
        assert!(self.facts.calls().is_reachable(place.func), "{} runs", self.show(place));
        let again = !self.executed.insert(place);
        let times = self.facts.executions().of(place);
        assert!(times == Times::Many || (times == Times::Once && !again), "{} is executed {times:?}", self.show(place));
        self.check_threads(machine);
        let Next::Instr(instr) = machine.next_op(thread) else { return };
        let Some(footprint) = machine.footprint(thread) else { return };
        let Some((owner, offset)) = machine.owner(footprint.address) else { return };
        let objects = stand_for(self.facts, owner);
        let accessed = self.facts.points_to().may_access(self.facts.program(), place.func, &instr.op);
        let foreseen = if footprint.writes { &accessed.written } else { &accessed.read };
        if matches!(owner, Owner::Function(_)) {
            return;
        }
        assert!(foreseen.intersects(&objects), "{} accesses {owner:?}", self.show(place));
        self.seen.accesses += 1;
        if let Some((access, _)) = instr.op.access() {
            let number = self.facts.offsets().number(self.facts.program(), place.func, &access.ptr);
            assert!(number.contains(offset as i64), "{} accesses offset {offset}, not {number:?}", self.show(place));
        }
        if let Op::Sync { .. } = &instr.op {
            self.lock_objects.extend(objects.iter().map(|object| (object, footprint.address - offset)));
        }
        self.check_sharing(footprint.address - offset, objects, thread, place, footprint.writes);
    }

    fn check_sharing(&mut self, base: u64, objects: ObjectSet, thread: ThreadId, place: Place, writes: bool) {
        let history = self.history.entry(base).or_default();
        if history.objects != objects {
            // The place has been used again for another object.
            *history = History { objects, ..History::default() };
        }
        history.threads.entry(thread).or_insert(place);
        history.written |= writes;
        if history.written && history.threads.len() > 1 {
            let is_shared = |object: AbstractId| self.facts.sharing().of(object) == Sharing::Shared;
            let places: Vec<Place> = history.threads.values().copied().collect();
            assert!(history.objects.iter().any(is_shared), "{} shares", self.show(place));
            for place in places {
                assert!(self.facts.sharing().is_shared_access(place), "{} is shared", self.show(place));
            }
        }
    }

    /// Where all threads are, and what they hold.
    fn check_threads(&mut self, machine: &Machine<'_>) {
        let (parallel, locksets) = (self.facts.parallel(), self.facts.locksets());
        let running: Vec<ThreadId> = running(machine);
        for &thread in &running {
            let (root, place) = (self.roots[thread.0 as usize], place_of(machine, thread));
            let held = locksets.held_in(root, place);
            let Some(held) = held else { panic!("{} is reached by {root}", self.show(place)) };
            for (lock, mode) in held.iter() {
                self.seen.held += 1;
                assert!(self.is_held(machine, thread, lock, mode), "{} holds {lock:?}", self.show(place));
            }
            for (lock, _) in locksets.held_at(place).iter() {
                assert!(held.mode(lock).is_some(), "{} holds {lock:?} everywhere", self.show(place));
            }
            let Some(alive) = parallel.alive_at(root, place) else { panic!("{} by {root}", self.show(place)) };
            for &other in running.iter().filter(|other| self.is_created_by(**other, thread)) {
                let other = self.roots[other.0 as usize];
                assert!(alive.contains(other), "{} with {other} alive", self.show(place));
            }
        }
        for (number, &left) in running.iter().enumerate() {
            for &right in &running[..number] {
                self.seen.pairs += 1;
                let at = |thread: ThreadId| (self.roots[thread.0 as usize], place_of(machine, thread));
                let (l, r) = (at(left), at(right));
                let shown = || format!("{} | {}", self.show(l.1), self.show(r.1));
                assert!(parallel.may_overlap(l, r) && parallel.may_overlap(r, l), "{}", shown());
                assert!(parallel.may_happen_in_parallel(l.1, r.1), "{}", shown());
                assert!(!locksets.excludes(l.1, r.1), "{} exclude each other", shown());
            }
        }
    }

    fn is_created_by(&self, thread: ThreadId, by: ThreadId) -> bool {
        let mut at = self.parents[thread.0 as usize];
        while let Some(parent) = at {
            if parent == by {
                return true;
            }
            at = self.parents[parent.0 as usize];
        }
        false
    }

    fn is_held(&self, machine: &Machine<'_>, thread: ThreadId, lock: Lock, mode: Mode) -> bool {
        let base = match self.facts.points_to().objects()[lock.address.object] {
            AbstractObject::Static(id) => Some(machine.image().object_address(id)),
            _ => self.lock_objects.get(&lock.address.object).copied(),
        };
        let Some(base) = base else { return false };
        let address = base.wrapping_add_signed(lock.address.offset);
        // With the life of its object a lock ends; from then on nobody can take it.
        let owner = machine.owner(address).map(|(owner, _)| stand_for(self.facts, owner));
        if !machine.is_accessible(address, 4) || owner.is_none_or(|owner| !owner.contains(lock.address.object)) {
            return true;
        }
        match lock.class {
            LockClass::Mutex => machine.holds_mutex(thread, address),
            LockClass::Spin => machine.holds_spin_lock(thread, address),
            LockClass::ReadWrite => machine.holds_read_write_lock(thread, address, mode == Mode::Exclusive),
        }
    }

    fn after_step(&mut self, before: &Before, machine: &Machine<'_>, thread: ThreadId) {
        let place = before.place;
        for created in self.roots.len()..machine.threads().len() {
            let function = machine.backtrace(ThreadId(created as u32))[0].0;
            let root = self.facts.threads().created(place, function);
            let Some(root) = root else { panic!("{} starts {function}", self.show(place)) };
            let again = self.roots.contains(&root);
            assert!(!again || self.facts.threads().roots()[root].is_replicated, "{} again", self.show(place));
            self.roots.push(root);
            self.parents.push(Some(thread));
        }
        let depth = machine.threads()[thread].depth();
        if depth > before.depth {
            let callee = machine.backtrace(thread)[0].0;
            let foreseen = self.facts.calls().callees(place);
            assert!(foreseen.iter().any(|edge| edge.callee == callee), "{} calls {callee}", self.show(place));
        }
        if depth == before.depth && machine.threads()[thread].status == Status::Running {
            self.check_results(machine, thread, place);
        }
    }

    /// Whether the registers that an instruction has set are as foreseen.
    fn check_results(&self, machine: &Machine<'_>, thread: ThreadId, place: Place) {
        let program = self.facts.program();
        let Some(op) = program.op(place).filter(|_| place_of(machine, thread).func == place.func) else { return };
        op.for_each_result(|dst| {
            let value = machine.local(thread, dst);
            let ty = program.functions[place.func].locals[dst].ty;
            let expr = Expr::Local(dst);
            let number = self.facts.offsets().number(program, place.func, &expr);
            let bits = ty.bits(program.model);
            if value.undefined != 0 || bits > 64 {
                return;
            }
            match ty {
                Type::Int(_) if self.facts.points_to().points_to(place.func, &expr).is_empty() => {
                    let shift = 64 - u32::from(bits);
                    let signed = (value.bits as i64) << shift >> shift;
                    assert!(number.contains(signed), "{} gives {signed}, not {number:?}", self.show(place));
                }
                Type::Ptr => {
                    let Some((owner, offset)) = machine.owner(value.bits as u64) else { return };
                    let objects = stand_for(self.facts, owner);
                    if self.facts.points_to().points_to(place.func, &expr).intersects(&objects) {
                        assert!(number.contains(offset as i64), "{} is at {offset}, not {number:?}", self.show(place));
                    }
                }
                _ => {}
            }
        });
    }

    /// Makes one step, watched.
    fn step(&mut self, machine: &mut Machine<'_>, thread: ThreadId, env: &mut Captured) -> bool {
        if leaves_object(machine, thread) {
            return false;
        }
        let before = Before { place: place_of(machine, thread), depth: machine.threads()[thread].depth() };
        self.before_step(machine, thread);
        let goes_on = machine.step(thread, env) == StepResult::Done;
        if goes_on {
            self.after_step(&before, machine, thread);
        }
        goes_on
    }

    /// A random schedule.
    fn run(&mut self, image: &Image<'_>, seed: u64, steps: usize) {
        let mut machine = Machine::new(image, &options(seed));
        let mut env = Captured::new(seed);
        let mut random = Random(seed);
        let mut left = steps;
        while left > 0 {
            let enabled = machine.enabled_threads();
            if enabled.is_empty() {
                return;
            }
            let thread = random.pick(&enabled);
            for _ in 0..1 + random.below(20) {
                left = left.saturating_sub(1);
                if !machine.enabled(thread) {
                    break;
                }
                if !self.step(&mut machine, thread, &mut env) {
                    return;
                }
            }
        }
    }

    /// Schedules one after the other, up to so many steps: threads run until their next step is visible, then each may
    /// go on.
    fn explore(&mut self, image: &Image<'_>, steps: usize) {
        let mut left = steps;
        let start = Machine::new(image, &options(1));
        let mut work = vec![(start, Captured::new(1), self.clone())];
        while let Some((machine, env, watch)) = work.pop() {
            let mut enabled = machine.enabled_threads();
            enabled.reverse();
            for thread in enabled {
                let (mut machine, mut env, mut watch) = (machine.clone(), env.clone(), watch.clone());
                let mut goes_on = true;
                while goes_on && left > 0 && machine.enabled(thread) {
                    left -= 1;
                    goes_on = watch.step(&mut machine, thread, &mut env);
                    if goes_on && (!machine.enabled(thread) || machine.is_visible(thread)) {
                        break;
                    }
                }
                self.seen.held += watch.seen.held;
                watch.seen = Seen::default();
                if goes_on && left > 0 {
                    work.push((machine, env, watch));
                }
            }
        }
    }
}

/// Whether the next step computes an address from a pointer into another object: an error that the analyses need not
/// foresee, and that an interpreter without provenance does not see.
fn leaves_object(machine: &Machine<'_>, thread: ThreadId) -> bool {
    let mut leaves = false;
    match machine.next_op(thread) {
        Next::Instr(instr) => {
            instr.op.for_each_operand(|expr| _ = evaluate(machine, thread, expr, &mut leaves));
        }
        Next::Terminator(end) => {
            end.kind.operand().iter().for_each(|expr| _ = evaluate(machine, thread, expr, &mut leaves));
        }
    }
    leaves
}

fn evaluate(machine: &Machine<'_>, thread: ThreadId, expr: &Expr, leaves: &mut bool) -> Option<u128> {
    let program = machine.program();
    let locals = &program.functions[place_of(machine, thread).func].locals;
    let ty = |expr: &Expr| expr.ty(locals, program.model);
    let mut part = |expr: &Expr| evaluate(machine, thread, expr, leaves);
    match expr {
        Expr::Const { bits, .. } => Some(*bits),
        Expr::Local(local) => {
            Some(machine.local(thread, *local)).filter(|value| value.undefined == 0).map(|value| value.bits)
        }
        Expr::Object(id) if program.objects[*id].kind == ObjectKind::ThreadLocal => None,
        Expr::Object(id) => Some(machine.image().object_address(*id).into()),
        Expr::Slot(slot) => machine.slot_address(thread, *slot).map(u128::from),
        Expr::Function(id) => Some(machine.image().function_address(*id).into()),
        Expr::Unary(op, operand) => Some(operate::unary(program.model, *op, ty(operand), part(operand)?)),
        Expr::Binary(op, operands) => {
            let (left, right) = (part(&operands[0])?, part(&operands[1])?);
            let result = operate::binary(program.model, *op, ty(&operands[0]), left, right);
            if *op == BinaryOp::PtrAdd {
                let base = |address: u128| machine.owner(address as u64).map(|(_, offset)| address as u64 - offset);
                *leaves |= base(left).is_some() && base(left) != base(result);
            }
            Some(result)
        }
        Expr::Cast(op, to, operand) => Some(operate::cast(program.model, *op, ty(operand), *to, part(operand)?)),
        Expr::Select(parts) => {
            let values = [part(&parts[0])?, part(&parts[1]).unwrap_or(0), part(&parts[2]).unwrap_or(0)];
            Some(if values[0] & 1 == 1 { values[1] } else { values[2] })
        }
    }
}

/// What is undefined is reported, or an input.
fn options(seed: u64) -> Options {
    let undefined = if seed.is_multiple_of(2) { UndefinedPolicy::Report } else { UndefinedPolicy::Nondet };
    Options { undefined, ..Options::default() }
}

/// Where a thread was.
struct Before {
    place: Place,
    depth: usize,
}

fn place_of(machine: &Machine<'_>, thread: ThreadId) -> Place {
    machine.image().place(machine.pc(thread))
}

fn running(machine: &Machine<'_>) -> Vec<ThreadId> {
    let threads = machine.threads();
    threads.ids().filter(|thread| threads[*thread].status == Status::Running).collect()
}

/// Runs the same schedule twice, once with everything that is dead changed at the beginning of each block. Both must go
/// the same way.
fn check_liveness(facts: &Facts, image: &Image<'_>, seed: u64, what: &str) -> usize {
    let mut plain = Machine::new(image, &options(seed));
    let mut changed = plain.clone();
    let (mut env, mut other_env) = (Captured::new(seed), Captured::new(seed));
    let mut random = Random(seed);
    let mut dead = 0;
    for _ in 0..400 {
        let enabled = plain.enabled_threads();
        assert_eq!(enabled, changed.enabled_threads(), "{what}");
        if enabled.is_empty() {
            break;
        }
        let thread = random.pick(&enabled);
        for _ in 0..1 + random.below(10) {
            if !plain.enabled(thread) {
                break;
            }
            let place = place_of(&plain, thread);
            if place.index == 0 {
                dead += change_dead(facts, &mut changed, thread, place, &mut random);
            }
            let result = plain.step(thread, &mut env);
            let other = changed.step(thread, &mut other_env);
            let places: Vec<u32> = plain.threads().ids().map(|id| plain.pc(id)).collect();
            let others: Vec<u32> = changed.threads().ids().map(|id| changed.pc(id)).collect();
            assert_eq!((&result, places), (&other, others), "{what} after {place:?}");
            if result != StepResult::Done {
                return dead;
            }
        }
    }
    dead
}

fn change_dead(facts: &Facts, machine: &mut Machine<'_>, thread: ThreadId, place: Place, random: &mut Random) -> usize {
    let live = &facts.liveness(place.func)[place.block.0 as usize];
    let function = &facts.program().functions[place.func];
    let mut dead = 0;
    let mut garbage = |undefined: bool| Value {
        bits: u128::from(random.next()) << 64 | u128::from(random.next()),
        undefined: if undefined { u128::MAX } else { 0 },
    };
    for local in function.locals.ids().filter(|local| !live.registers[local.0 as usize]) {
        machine.set_local(thread, local, garbage(local.0 % 2 == 0));
        dead += 1;
    }
    for slot in function.slots.ids().filter(|slot| !live.slots[slot.0 as usize]) {
        let Some(address) = machine.slot_address(thread, slot) else { continue };
        for at in 0..function.slots[slot].size {
            let byte = Value { bits: garbage(false).bits & 0xff, undefined: 0 };
            machine.poke(address + at, 1, byte).expect("a slot can be written");
            dead += 1;
        }
    }
    dead
}

/// Watches a program under some random schedules, and all of them up to a number of steps.
fn watch(program: &Program, seeds: std::ops::Range<u64>, steps: usize, what: &str) -> Seen {
    let facts = Facts::new(program);
    let image = Image::new(program);
    let mut seen = Seen::default();
    for seed in seeds {
        let mut watch = Watch::new(&facts, what);
        watch.run(&image, seed, 20_000);
        seen.add(watch.seen);
        seen.dead += check_liveness(&facts, &image, seed, what);
    }
    let mut watch = Watch::new(&facts, what);
    watch.explore(&image, steps);
    seen.add(watch.seen);
    seen
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/representation/programs");
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

#[test]
fn real_programs_do_nothing_unforeseen() {
    for path in programs() {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let source = std::fs::read_to_string(&path).expect("it can be read");
        let program = text::parse(&source).unwrap_or_else(|error| panic!("{name}:{error}"));
        assert_eq!(validate(&program), Ok(()), "{name}");
        assert_eq!(text::parse(&program.to_string()).as_ref(), Ok(&program), "{name}");
        let seen = watch(&program, 0..6, 1000, &name);
        assert!(seen.accesses > 20, "{name} does nothing: {seen:?}");
    }
}

/// Which generated programs to watch.
fn numbers(count: u64) -> std::ops::Range<u64> {
    let set = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let from = set("LENO_FACTS_FROM").unwrap_or(0);
    from..from + set("LENO_FACTS").unwrap_or(count)
}

#[test]
fn generated_programs_do_nothing_unforeseen() {
    let mut seen = Seen::default();
    for seed in numbers(300) {
        let shape = match seed % 4 {
            0 => Shape::default(),
            1 => Shape::calling(),
            2 => Shape::waiting(),
            _ => Shape::small().with(Feature::Awaiting),
        };
        let text = generate(seed, &shape).to_preprocessed();
        let program = compiled("generated.c", &text);
        seen.add(watch(&program, 0..3, 600, &format!("program {seed}\n{text}\n")));
    }
    assert!(seen.held > 0 && seen.pairs > 0 && seen.dead > 0, "{seen:?}");
}

#[test]
fn programs_with_odd_locks_and_threads_do_nothing_unforeseen() {
    let mut seen = Seen::default();
    for seed in numbers(300) {
        let text = locking::program(seed);
        let program = crate::compile::compiled_with_declarations("locking.c", &text);
        seen.add(watch(&program, 0..3, 600, &format!("program {seed}\n{text}\n")));
    }
    assert!(seen.held > 0 && seen.pairs > 0 && seen.dead > 0, "{seen:?}");
}
