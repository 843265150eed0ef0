//! The lazy engine: threads that may loop for ever, unrolled step by step, passing a token (Ganai, Gupta, SPIN 2008).
//!
//! Each thread is an extended finite state machine of its own, with its loops. Each is unrolled by itself, depth by depth,
//! with copies of what threads share. Only where one thread may go on after another, constraints are added: one passes the
//! token, and all that is shared with it. There is no scheduler and no waiting, so that at depth `d` every execution in which
//! each thread makes at most `d` steps is covered, with any number of context switches.
//!
//! | file | what it does |
//! |---|---|
//! | `efsm` | control states: where threads can be seen, and where they loop, call and return |
//! | `show` | thread models for people |
//! | `layout` | all objects that there can be, their addresses and cells |
//! | `state` | the symbolic state of a thread at a control state and a depth |
//! | `memory` | accesses through addresses that are terms |
//! | `execute`, `sync` | what instructions do to a state |
//! | `unroll` | one thread, depth by depth; `read_sync` and `write_sync` |
//! | `races` | what a step accesses, and when two of them race |
//! | `token` | the constraints between threads, in an incremental solver |
//! | `witness` | the interpreter follows a model to the violation |
//! | `engine` | the contract that all engines share |

pub mod efsm;
mod engine;
mod execute;
mod layout;
mod memory;
mod races;
mod show;
mod state;
mod sync;
mod token;
mod unroll;
mod witness;

pub use engine::LazyEngine;
pub use show::Picture;
pub use token::Reductions;

use efsm::Efsm;
use leno_ir::analysis::facts::Facts;

/// The models of all threads of a program.
pub fn show(facts: &Facts<'_>, picture: Picture) -> String {
    Efsm::new(facts).show(picture)
}
