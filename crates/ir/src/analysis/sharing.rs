//! Shared or local: which objects may threads interfere on?
//!
//! Engines split executions at accesses to shared objects only, so each object that is local saves work
//! everywhere; and each that is wrongly called local loses behaviours. An object is *shared* if all of this holds:
//!
//! 1. Its address may get from one thread to another: it is static (and not thread-local), or outside the program,
//!    or handed to a thread when it starts, or returned from one to who joins it; or reachable from such an
//!    object through memory.
//! 2. Two threads may access it. A thread accesses what the functions that its start function may call access;
//!    making an object, and ending the life of one, count: that of its thread-local objects ends with each thread. A start function counts twice if it may be started
//!    twice: from two places, in a loop, or in a function that itself may run twice.
//! 3. It is written. Otherwise it is [`Sharing::ReadOnly`]: it commutes with everything.
//!
//! Why this is sound, given that points-to sets are: to access an object a thread needs its address. Its own slots
//! and allocations it has from itself; every other address it must have read from memory that another thread
//! could write, which begins at static objects, or got as an argument or result of a thread; by
//! induction over the execution, everything that it gets hold of so is covered by (1). Points-to sets
//! contain all accesses, so (2) and (3) count all accesses that happen. An instance of a slot or an allocation
//! that never gets to another thread is local even if other threads run the same code on instances of their own.
//!
//! A program without an entry is a library: every function may be run by any number of threads.

use crate::analysis::callgraph::{CallGraph, CallKind};
use crate::analysis::executions::{Executions, Times};
use crate::analysis::points_to::{AbstractId, AbstractObject, Accessed, ObjectSet, PointsTo, for_each_op};
use crate::index::Idx;
use crate::program::{FuncId, Object, ObjectKind, Op, Place, Program};

/// How threads may share an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Sharing {
    /// One thread at most accesses each instance.
    Local,
    /// Several read it, none writes it once the program runs.
    ReadOnly,
    /// Several access it, and some write it.
    Shared,
}

/// A function that threads start in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StartFunction {
    pub function: FuncId,
    /// Whether more than one such thread may be started.
    pub is_many: bool,
}

/// The classification of all objects and accesses of a program.
#[derive(Clone, Debug)]
pub struct SharedObjects {
    sharing: Vec<Sharing>,
    threads: Vec<StartFunction>,
    /// Instructions that may access a shared object; ascending.
    accesses: Vec<Place>,
}

impl SharedObjects {
    pub fn new(program: &Program, points_to: &PointsTo, calls: &CallGraph) -> SharedObjects {
        let threads = start_functions(program, calls);
        let by_function = accesses_by_function(program, points_to);
        let mut count = vec![Times::Never; points_to.objects().len()];
        let thread_locals = thread_locals(program, points_to);
        let mut written = thread_locals.clone();
        for thread in &threads {
            let mut all = thread_locals.clone();
            for (function, runs) in calls.calls().reachable([thread.function]).into_iter().enumerate() {
                if runs {
                    all.union_with(&by_function[function].all());
                    written.union_with(&by_function[function].written);
                }
            }
            count_thread(&mut count, &all, if thread.is_many { Times::Many } else { Times::Once });
        }
        if starts_unknown_threads(calls) {
            let escaped = points_to.escaped_to_unknown();
            count_thread(&mut count, &escaped, Times::Many);
            written.union_with(&escaped);
        }
        let passed = passed_between_threads(program, points_to);
        let classify = |object: AbstractId| match count[object.index()] {
            Times::Many if passed.contains(object) && written.contains(object) => Sharing::Shared,
            Times::Many if passed.contains(object) => Sharing::ReadOnly,
            _ => Sharing::Local,
        };
        let sharing = points_to.objects().ids().map(classify).collect();
        let mut result = SharedObjects { sharing, threads, accesses: Vec::new() };
        result.accesses = result.find_accesses(program, points_to);
        result
    }

    fn find_accesses(&self, program: &Program, points_to: &PointsTo) -> Vec<Place> {
        let mut found = Vec::new();
        for (id, function) in program.functions.iter_enumerated() {
            for_each_op(id, function, |place, op| {
                let accessed = points_to.may_access(program, id, op);
                if self.any_shared(&accessed.read) || self.any_shared(&accessed.written) {
                    found.push(place);
                }
            });
        }
        found
    }

    pub fn of(&self, object: AbstractId) -> Sharing {
        self.sharing[object.index()]
    }

    pub fn any_shared(&self, objects: &ObjectSet) -> bool {
        objects.iter().any(|object| self.of(object) == Sharing::Shared)
    }

    /// Whether an instruction may itself access a shared object; what it calls aside, unless that has no body.
    pub fn is_shared_access(&self, place: Place) -> bool {
        self.accesses.binary_search(&place).is_ok()
    }

    /// All instructions that may access a shared object, ascending.
    pub fn shared_accesses(&self) -> &[Place] {
        &self.accesses
    }

    /// The functions that threads start in; the entry first.
    pub fn threads(&self) -> &[StartFunction] {
        &self.threads
    }
}

fn count_thread(count: &mut [Times], accessed: &ObjectSet, times: Times) {
    for object in accessed.iter() {
        count[object.index()] = count[object.index()].plus(times);
    }
}

/// The objects that each thread has for itself, from its beginning to its end.
fn thread_locals(program: &Program, points_to: &PointsTo) -> ObjectSet {
    let is_one = |(_, object): &(_, &Object)| object.kind == ObjectKind::ThreadLocal;
    let ids = program.objects.iter_enumerated().filter(is_one).map(|(id, _)| AbstractObject::Static(id));
    ids.filter_map(|object| points_to.object(object)).collect()
}

/// The objects whose addresses may get from one thread to another.
fn passed_between_threads(program: &Program, points_to: &PointsTo) -> ObjectSet {
    let mut passed = points_to.handed_between_threads();
    passed.union_with(&points_to.escaped_to_unknown());
    for (id, object) in program.objects.iter_enumerated() {
        if object.kind != ObjectKind::ThreadLocal {
            passed.extend(points_to.object(AbstractObject::Static(id)));
        }
    }
    points_to.reachable(&passed)
}

fn accesses_by_function(program: &Program, points_to: &PointsTo) -> Vec<Accessed> {
    let mut result = Vec::new();
    for (id, function) in program.functions.iter_enumerated() {
        let mut all = Accessed::default();
        // A slot comes into being, and ends, with each activation.
        for slot in function.slots.ids() {
            all.written.extend(points_to.object(AbstractObject::Slot(id, slot)));
        }
        for_each_op(id, function, |place, op| {
            if let Op::Allocate { .. } = op {
                all.written.extend(points_to.object(AbstractObject::Site(place)));
            }
            let accessed = points_to.may_access(program, id, op);
            all.read.union_with(&accessed.read);
            all.written.union_with(&accessed.written);
        });
        result.push(all);
    }
    result
}

fn starts_unknown_threads(calls: &CallGraph) -> bool {
    let live = |place: &Place| calls.is_reachable(place.func);
    calls.unknown().iter().any(|(place, kind)| *kind == CallKind::Spawn && live(place))
}

fn start_functions(program: &Program, calls: &CallGraph) -> Vec<StartFunction> {
    let Some(entry) = program.entry else {
        return program.functions.ids().map(|function| StartFunction { function, is_many: true }).collect();
    };
    let executions = Executions::new(program, calls);
    let mut spawned = vec![Times::Never; program.functions.len()];
    for edge in calls.edges().iter().filter(|edge| edge.kind == CallKind::Spawn) {
        let times = &mut spawned[edge.callee.index()];
        *times = times.plus(executions.of(edge.place));
    }
    let mut roots = vec![StartFunction { function: entry, is_many: false }];
    for &function in calls.thread_entries() {
        roots.push(StartFunction { function, is_many: spawned[function.index()] == Times::Many });
    }
    roots
}
