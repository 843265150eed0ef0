//! What Leno knows of functions that the program does not define.
//!
//! A call of such a function is one of four things:
//!
//! | | how | where |
//! |---|---|---|
//! | instructions | synchronisation, allocation, the words of verifiers: lowered in place | `recipe` and its siblings |
//! | a model | written in C, lowered like the program itself | `models/*.c`, found through `catalog` |
//! | known outside | runs natively: `printf`, `sqrt` | `external` |
//! | unknown | returns anything, may write what its arguments reach | nowhere |
//!
//! and a few can be none of them and are refused (`refused`). What the program defines itself is the program's, except
//! for names that mean the same whatever body they have ([`overrides_definition`]).
//!
//! Models speak of what C cannot say through functions named `__leno_…`, which are instructions. One of them is
//! special: `__leno_if_loaded_f(…)` calls `__leno_f` if its model is part of the program and otherwise does nothing. So
//! a model can have work done that only concerns programs that use another model.

mod catalog;
mod external;
mod locks;
mod models;
mod process;
mod recipe;
mod refused;
mod threads;
mod verification;

pub use catalog::{MODELS, Model, REAL_PROCESS, is_of_process, model_of, real_model_of};
pub use external::{external, fixed_parameters};
pub use models::{models_for, needed_models};
pub use recipe::{is_instruction, lower_call};
pub use refused::{Refusal, refusal};
pub use verification::{BEYOND_ARRAY, is_atomic_function, is_vocabulary, overrides_definition};

/// How the library behaves where the C standard leaves a choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Options {
    /// `malloc` and its family may return null at any call.
    pub allocation_may_fail: bool,
    /// A wait for a condition variable may end without a signal.
    pub spurious_wakeups: bool,
    /// The program runs natively, and its process is to be the real one: signals, environment, random numbers and sleep
    /// are the system's, not models.
    pub real_process: bool,
}
