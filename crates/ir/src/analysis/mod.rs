//! What can be known of a program without running it.
//!
//! [`facts::Facts`] has all of it, each part computed once, when it is first asked for.
//!
//! | file | question |
//! |---|---|
//! | `points_to`, `offsets`, `number` | which object may an address belong to, and where in it? |
//! | `callgraph`, `executions` | what may be called or started, and how often? |
//! | `cfg`, `weak_topological_order` | orders, dominators and loops of a function |
//! | `liveness`, `undefined` | what is still needed, and what may not have been set? |
//! | `threads`, `parallel` | which threads may there be, and which of their points happen at the same time? |
//! | `locksets` | which locks are held? |
//! | `sharing` | which objects may threads interfere on? |
//! | `reuse` | could the program notice that freed memory is given out again? |
//! | `wakeups` | for which waits does it matter that they may end without a signal? |
//! | `features` | what does a program make use of? |
//! | `contexts` | the method: data flow across calls |

pub mod callgraph;
pub mod cfg;
mod contexts;
pub mod executions;
pub mod facts;
pub mod features;
pub mod liveness;
pub mod locksets;
pub mod number;
pub mod offsets;
pub mod parallel;
pub mod points_to;
pub mod retries;
pub mod reuse;
pub mod sharing;
pub mod threads;
mod undefined;
pub mod wakeups;
pub mod weak_topological_order;

pub use facts::Facts;
