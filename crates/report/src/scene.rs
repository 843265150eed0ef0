//! The state in which an execution ends, for people: which functions are active in a thread, and which locks it holds.

use crate::call_sites::{self, followed};
use crate::text::place;
use leno_engine::witness::Follower;
use leno_ir::interp::{HeldLock, Image, ThreadId};
use leno_ir::program::{Program, Span};
use leno_ir::witness::Witness;
use std::collections::BTreeMap;

/// By thread, in the state in which a witness ends.
#[derive(Default)]
pub(crate) struct Scene {
    threads: BTreeMap<String, Standing>,
}

/// Where a thread stands.
#[derive(Default)]
pub(crate) struct Standing {
    /// `f, called at a.c:12`, innermost first.
    pub(crate) calls: Vec<String>,
    /// The names of the locks that it holds.
    pub(crate) locks: Vec<String>,
}

impl Scene {
    /// Of a witness that the interpreter can follow; nothing of others.
    pub(crate) fn new(program: &Program, witness: &Witness) -> Scene {
        let image = Image::new(program);
        let Some(follower) = followed(witness, &image) else { return Scene::default() };
        let threads = follower.machine.threads().ids();
        let standing = |id| (follower.machine.thread_name(id).to_string(), standing(program, &follower, id));
        Scene { threads: threads.map(standing).collect() }
    }

    pub(crate) fn thread(&self, name: &str) -> Option<&Standing> {
        self.threads.get(name)
    }
}

fn standing(program: &Program, follower: &Follower<'_>, thread: ThreadId) -> Standing {
    let machine = &follower.machine;
    let active: Vec<(&str, Span)> = (machine.backtrace(thread).into_iter())
        .map(|(func, pc)| (program.functions[func].name.as_str(), machine.image().span(pc)))
        .collect();
    let calls = active.windows(2).filter_map(|pair| {
        let [(callee, _), (caller, at)] = pair else { return None };
        // (`main` and the start routines of threads have no caller in the program's own text.)
        let is_own = !call_sites::is_in_model(program, *at) && *caller != "_start" && !callee.starts_with("__leno");
        is_own.then(|| place(program, *at)).flatten().map(|at| format!("in {callee}, called at {at}"))
    });
    let locks = follower.recorder.locks.iter().filter(|(at, lock)| machine.holds(thread, **lock, **at));
    let name = |(at, lock): (&u64, &HeldLock)| {
        let is_read = *lock == HeldLock::ReadWrite && !machine.holds_read_write_lock(thread, *at, true);
        format!("{}{}", machine.describe_address(*at), if is_read { " (for reading)" } else { "" })
    };
    Standing { calls: calls.collect(), locks: locks.map(name).collect() }
}
