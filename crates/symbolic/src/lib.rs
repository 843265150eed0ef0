//! What the instructions of the representation do, as terms.
//!
//! The interpreter says what an instruction does to numbers; this crate says it for terms, once, for every engine that
//! reasons with a solver. Nothing here knows of threads, events or schedules: a rule is a function from old values to
//! new ones, and how an engine reads the old ones and what it makes of the new ones is its own business.
//!
//! ```
//! use leno_ir::program::{LockKind, SyncOp};
//! use leno_logic::term::{Sort, Terms};
//! use leno_symbolic::sync::{Caller, transition};
//!
//! // A mutex whose owner is unknown, locked by thread 1.
//! let mut terms = Terms::new();
//! let (owner, me) = (terms.variable(Sort::Bits(32), "owner"), terms.bits(32, 1));
//! let caller = Caller { me, operand: None, reading: None, may_be_destroyed: false };
//! let step = transition(&mut terms, &SyncOp::TryLock(LockKind::Mutex), caller, &[owner]);
//!
//! // It becomes the owner exactly where the mutex is free.
//! let zero = terms.bits(32, 0);
//! assert_eq!(step.writes[0].condition, terms.eq(owner, zero));
//! assert_eq!(step.writes[0].value, me);
//! ```
//!
//! | file | what is in it | what an engine supplies |
//! |---|---|---|
//! | `operators`, `floats` | operators and casts | |
//! | `translate` | expressions | [`translate::Leaves`]: registers and addresses |
//! | `update` | read-modify-write, compare-exchange | the old value |
//! | `sync` | locks, semaphores, barriers, once flags | the old words |
//! | `contents` | what memory holds before it is written | [`contents::Addresses`]: where objects and functions are |
//! | `cells`, `region` | what an object holds then; addresses that are terms | |
//! | `library_calls` | what library functions return and write | [`library_calls::Surroundings`]: the memory they see |
//!
//! All of it is held to the interpreter, instruction by instruction, on random states (`tests`).

pub mod cells;
pub mod contents;
pub mod floats;
pub mod library_calls;
pub mod operators;
pub mod region;
pub mod sync;
pub mod translate;
pub mod update;
