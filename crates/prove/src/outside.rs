//! Functions that Leno does not know, and races.
//!
//! Where a program calls them nothing can be said about values, but still about races: points-to analysis says what such a
//! function can reach, so that each call is an access to all of it. What it does while it is not called cannot be known:
//! that it does nothing then is an assumption, which the report states by name. The exception are functions of the
//! program that it has got hold of: it may run them as often as it likes, in this thread or in others. So before each such
//! call any number of threads are started in each of these functions ([`with_callbacks`]). If the callback is run in the thread
//! of the caller instead, this thread holds more locks than a new one does; that it gives none of them up is checked
//! ([`callbacks_keep_locks`]).

use crate::replicate::replicate;
use leno_ir::analysis::facts::Facts;
use leno_ir::analysis::locksets::{Lock, LockClass};
use leno_ir::analysis::points_to::{AbstractObject, for_each_op};
use leno_ir::program::{Body, Expr, FuncId, Instr, Local, Op, Place, Program, SyncOp, Type};
use std::collections::{BTreeMap, BTreeSet};

/// The names of the functions without a body that Leno does not know and that may be called.
pub fn unknown_functions(facts: &Facts<'_>) -> BTreeSet<String> {
    let program = facts.program();
    let called = facts.calls().edges().iter().filter(|edge| facts.calls().is_reachable(edge.place.func));
    called
        .map(|edge| edge.callee)
        .filter(|func| is_unknown(program, *func))
        .map(|func| program.functions[func].name.clone())
        .collect()
}

/// Functions of POSIX that Leno has no model of, but that keep nothing of what they are given, give back a number, and write only
/// where these parameters point.
const POSIX: &[(&str, &[u32])] = &[
    ("access", &[]),
    ("bind", &[]),
    ("chdir", &[]),
    ("chmod", &[]),
    ("chown", &[]),
    ("close", &[]),
    ("connect", &[]),
    ("dup", &[]),
    ("dup2", &[]),
    ("fchmod", &[]),
    ("fchown", &[]),
    ("fdatasync", &[]),
    ("flock", &[]),
    ("flockfile", &[]),
    ("fstat", &[1]),
    ("fsync", &[]),
    ("ftruncate", &[]),
    ("funlockfile", &[]),
    ("futimens", &[]),
    ("futimesat", &[]),
    ("getegid", &[]),
    ("geteuid", &[]),
    ("getgid", &[]),
    ("getppid", &[]),
    ("getuid", &[]),
    ("inet_pton", &[2]),
    ("isatty", &[]),
    ("kill", &[]),
    ("link", &[]),
    ("listen", &[]),
    ("lseek", &[]),
    ("lstat", &[1]),
    ("mkdir", &[]),
    ("open", &[]),
    ("poll", &[0]),
    ("pread", &[1]),
    ("pwrite", &[]),
    ("readlink", &[1]),
    ("recv", &[1]),
    ("rename", &[]),
    ("rmdir", &[]),
    ("send", &[]),
    ("setsockopt", &[]),
    ("shutdown", &[]),
    ("sigsuspend", &[]),
    ("socket", &[]),
    ("stat", &[1]),
    ("symlink", &[]),
    ("sysconf", &[]),
    ("umask", &[]),
    ("utimensat", &[]),
    ("utimes", &[]),
];

/// Takes functions of POSIX for known where only memory matters; gives back which.
pub fn assume_posix(program: &mut Program) -> BTreeSet<String> {
    let mut assumed = BTreeSet::new();
    for function in program.functions.iter_mut() {
        let Body::External(external) = &mut function.body else { continue };
        let found = POSIX.iter().find(|(name, _)| *name == function.name && !external.known);
        if let Some((name, writes)) = found {
            (external.known, external.writes) = (true, writes.to_vec());
            assumed.insert(name.to_string());
        }
    }
    assumed
}

/// Whether an unknown function may give the program the address of any object that other files can name.
pub fn gives_addresses(facts: &Facts<'_>) -> bool {
    let program = facts.program();
    let mut called = facts.calls().edges().iter().filter(|edge| facts.calls().is_reachable(edge.place.func));
    let gives = |func: FuncId| is_unknown(program, func) && program.functions[func].ret == Some(Type::Ptr);
    called.any(|edge| gives(edge.callee)) || !facts.calls().unknown().is_empty()
}

/// Whether a program calls what Leno does not know.
pub fn is_open(facts: &Facts<'_>) -> bool {
    !unknown_functions(facts).is_empty() || !facts.calls().unknown().is_empty()
}

/// The functions of the program that unknown ones may have got hold of.
fn callbacks(facts: &Facts<'_>) -> Vec<FuncId> {
    let escaped = facts.points_to().escaped_to_unknown();
    let functions = escaped.iter().filter_map(|object| match facts.points_to().objects()[object] {
        AbstractObject::Function(func) => Some(func),
        _ => None,
    });
    functions.filter(|func| matches!(facts.program().functions[*func].body, Body::Blocks(_))).collect()
}

/// Whether an instruction may call a function that is not known.
pub fn calls_unknown(facts: &Facts<'_>, place: Place) -> bool {
    let callees = facts.calls().callees(place);
    facts.calls().is_unknown(place) || callees.iter().any(|edge| is_unknown(facts.program(), edge.callee))
}

fn is_unknown(program: &Program, func: FuncId) -> bool {
    matches!(&program.functions[func].body, Body::External(external) if !external.known)
}

/// Where unknown functions are called.
fn calls_outside(facts: &Facts<'_>) -> Vec<Place> {
    let program = facts.program();
    let mut places: BTreeSet<Place> = facts.calls().unknown().iter().map(|(place, _)| *place).collect();
    places.extend(facts.calls().edges().iter().filter(|edge| is_unknown(program, edge.callee)).map(|edge| edge.place));
    places.into_iter().filter(|place| facts.calls().is_reachable(place.func)).collect()
}

/// The program in which unknown functions run what they have got hold of in threads of their own; none if there is nothing.
pub fn with_callbacks(facts: &Facts<'_>) -> Result<Option<Program>, String> {
    let callbacks = callbacks(facts);
    if callbacks.is_empty() {
        return Ok(None);
    }
    let mut result = facts.program().clone();
    let signatures: Vec<(FuncId, Vec<Local>)> = callbacks
        .iter()
        .map(|func| {
            let function = &facts.program().functions[*func];
            (*func, function.locals.iter().take(function.params as usize).cloned().collect())
        })
        .collect();
    // From the back, so that places stay what they are.
    for place in calls_outside(facts).into_iter().rev() {
        let function = &mut result.functions[place.func];
        let mut inserted = Vec::new();
        let Body::Blocks(blocks) = &mut function.body else { continue };
        let instrs = &mut blocks[place.block].instrs;
        let span = instrs.get(place.index as usize).map(|instr| instr.span).unwrap_or(function.span);
        for (callback, parameters) in &signatures {
            let mut args = Vec::new();
            for parameter in parameters {
                let dst = function.locals.push(Local { name: String::new(), ..parameter.clone() });
                inserted.push(Instr { op: Op::Nondet { dst }, span });
                args.push(Expr::Local(dst));
            }
            inserted.push(Instr { op: Op::Spawn { handle: None, func: Expr::Function(*callback), args }, span });
        }
        let at = place.index as usize;
        instrs.splice(at..at, inserted);
    }
    let names: BTreeSet<String> = callbacks.iter().map(|func| result.functions[*func].name.clone()).collect();
    let result = replicate(&result, &names.into_iter().collect::<Vec<String>>())?;
    match leno_ir::validate::validate(&result) {
        Ok(()) => Ok(Some(result)),
        Err(_) => {
            Err("a function that the program does not define is given one that cannot be started as a thread".into())
        }
    }
}

/// Whether the functions that unknown ones may call give up only locks that they have taken themselves.
pub fn callbacks_keep_locks(facts: &Facts<'_>) -> bool {
    let callbacks: BTreeSet<FuncId> = callbacks(facts).into_iter().collect();
    let threads = facts.threads();
    let mut is_kept = true;
    for (root, _) in threads.roots().iter_enumerated().filter(|(_, thread)| callbacks.contains(&thread.function)) {
        for (id, function) in facts.program().functions.iter_enumerated().filter(|(id, _)| threads.may_run(root, *id)) {
            for_each_op(id, function, |place, op| {
                let Op::Sync { op, at, .. } = op else { return };
                let (lock, class) = match op {
                    SyncOp::Unlock(kind) => (at, LockClass::from(*kind)),
                    SyncOp::RwUnlock => (at, LockClass::ReadWrite),
                    SyncOp::CondSleep { mutex } => (mutex, LockClass::Mutex),
                    _ => return,
                };
                let held = facts.locksets().held_in(root, place);
                let address = facts.address(id, lock);
                is_kept &= match (held, address) {
                    (None, _) => true,
                    (Some(held), Some(address)) => held.mode(Lock { address, class }).is_some(),
                    _ => false,
                };
            });
        }
    }
    is_kept
}

/// What a SAFE takes for granted of a function that is not known.
pub fn assumption(name: &str) -> String {
    format!(
        "`{name}`, which is not defined, accesses only what it was given, and only while it is called; calls, and starts threads in, \
         no functions of the program but those that it was given; gives no address of another object but as its result; and leaves locks alone"
    )
}

/// Functions that POSIX allows to keep their state without a lock, and calls of which may therefore race.
const UNSAFE_LIBRARY: &[(&str, &str)] = &[
    ("rand", "rand"),
    ("srand", "rand"),
    ("random", "random"),
    ("srandom", "random"),
    ("drand48", "drand48"),
    ("lrand48", "drand48"),
    ("mrand48", "drand48"),
    ("srand48", "drand48"),
];

/// The calls of library functions that need not be thread-safe, by the state that they share.
pub fn unsafe_library_calls(facts: &Facts<'_>) -> BTreeMap<&'static str, Vec<Place>> {
    let program = facts.program();
    let mut found: BTreeMap<&'static str, Vec<Place>> = BTreeMap::new();
    for edge in facts.calls().edges().iter().filter(|edge| facts.calls().is_reachable(edge.place.func)) {
        let callee = &program.functions[edge.callee];
        // (A program may define a function of that name itself.)
        let is_library = match &callee.body {
            Body::External(external) => external.known,
            Body::Blocks(_) => program.files.get(callee.span.file).is_some_and(|file| file.starts_with("<leno>")),
        };
        let state = UNSAFE_LIBRARY.iter().find(|(name, _)| *name == callee.name && is_library);
        found.entry(state.map_or("", |(_, state)| state)).or_default().extend(state.map(|_| edge.place));
    }
    found.remove("");
    found
}
