//! The reference interpreter: the semantics page, executable.
//!
//! An [`Image`] is a program made ready to run. A [`Machine`] is the state of one execution of it. [`Machine::step`]
//! makes one step of one thread, indivisibly, and everything that the machine does not decide comes from an
//! [`Environment`]; which thread steps is the caller's choice, or a [`Scheduler`]'s. A machine is a value: clone it to
//! fork an execution.
//!
//! ```
//! use leno_ir::interp::{Captured, Ending, Options, Random, run};
//!
//! // Two threads increment a counter without a lock.
//! let program = leno_ir::text::parse("program lp64 entry &start
//! @counter = global size 4 align 4
//! fn &start(%argc: i32, %argv: ptr) {
//!   local %old: i32
//! b0:
//!   spawn &increment(i64 0)
//!   spawn &increment(i64 0)
//!   join i64 2
//!   join i64 3
//!   %old = load i32 @counter
//!   exit %old
//! }
//! fn &increment(%unused: i64) -> i64 {
//!   local %old: i32
//! b0:
//!   %old = load i32 @counter
//!   store i32 @counter = add(%old, i32 1)
//!   return i64 0
//! }
//! ")?;
//! let ends_with = |status| {
//!     (0..100).any(|seed| {
//!         let mut env = Captured::new(seed);
//!         let outcome = run(&program, &Options::default(), &mut Random::new(seed), &mut env, 10_000);
//!         outcome.ending == Ending::Exited(status)
//!     })
//! };
//! assert!(ends_with(2));
//! assert!(ends_with(1), "an update gets lost in some schedule");
//! assert!(!ends_with(0));
//! # Ok::<(), leno_ir::text::TextError>(())
//! ```
//!
//! | folder | what is in it |
//! |---|---|
//! | `value` | values with undefined bits, what operators do to them, compiled expressions |
//! | `memory` | objects, addresses, the checks of every access, what is left at the end, and violations |
//! | `thread` | compiled programs, threads, what each step does, which threads can step, schedules and inputs |
//! | `library` | library functions that are known by name |

mod library;
mod memory;
mod thread;
mod value;

pub use crate::program::Place;
pub use library::directive;
pub use library::external::{is_known_external, pure_call};
pub use memory::near_offsets;
pub use memory::owner::Owner;
pub use memory::violation::{Fault, Intent, Violation, ViolationKind};
pub use thread::enabled::{Footprint, LibraryCall};
pub use thread::environment::{Captured, Environment, FileHandle, Isolated, OpenMode, Source, Terminal};
pub use thread::fingerprint::Registers;
pub use thread::happens_before::{Clock, PastAccess, Synchronises};
pub use thread::image::{Image, Next, escaping_slots, private_slots};
pub use thread::machine::{MAIN, Machine, Options, Status, Thread, ThreadId, UndefinedPolicy};
pub use thread::schedule::{Blocked, Ending, Outcome, Prng, Random, RoundRobin, Scheduler, run};
pub use thread::step::StepResult;
pub use thread::sync::{HeldLock, Wait};
pub use value::Value;
pub use value::operate;
