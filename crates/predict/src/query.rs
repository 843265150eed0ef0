//! What the solver is asked about a trace program, and what becomes of its answers.
//!
//! | file | what |
//! |---|---|
//! | `prediction` | options and result |
//! | `question`, `races`, `lock_cycles`, `atomicity`, `global_deadlock` | which violations may be possible |
//! | `untaken` | which branches another order may decide in another way |
//! | `search` | the questions are put to the solver until it has no more answers |
//! | `confirm`, `follow` | an answer counts only if the interpreter, on the same schedule, finds the violation |
//! | `beyond` | the interpreter goes on behind a branch that was not taken |

pub(crate) mod atomicity;
pub(crate) mod beyond;
pub(crate) mod confirm;
pub(crate) mod follow;
pub(crate) mod global_deadlock;
pub(crate) mod lock_cycles;
pub(crate) mod prediction;
pub(crate) mod question;
pub(crate) mod races;
pub(crate) mod search;
pub(crate) mod untaken;
