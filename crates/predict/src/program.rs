//! The concurrent trace program (paper 003, section 3): the events of a recorded run, in terms of what reads return, a
//! window at a time where the run is long.
//!
//! | file | what |
//! |---|---|
//! | `event` | events, guards, targets: the trace program itself |
//! | `build` | the two walks that make it |
//! | `builder`, `private_terms` | the listener of the second walk, and the symbolic contents of unshared memory |
//! | `recorded_values` | values that the trace does not have: initial ones, and those of counters |
//! | `fork_join_order` | what comes before what in every reordering |
//! | `slice` | events that no question depends on are left out |
//! | `window`, `stream` | a long run, a window at a time |
//! | `term_migration` | terms move to a new arena when a window is left behind |

pub(crate) mod build;
pub(crate) mod builder;
pub(crate) mod event;
pub(crate) mod fork_join_order;
pub(crate) mod private_terms;
pub(crate) mod recorded_values;
pub(crate) mod slice;
pub(crate) mod stream;
pub(crate) mod term_migration;
pub(crate) mod window;
