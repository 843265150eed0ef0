//! Small random concurrent C programs, and a shrinker that makes failing ones minimal.
//!
//! Engines are compared with each other on random programs. Such a program has to be valid C, small enough
//! to be searched exhaustively, and must end on every schedule (or deadlock: that is something to be found). So it is
//! made as a small tree of its own, which knows only statements that keep these promises, and printed afterwards. The
//! same tree is what the shrinker cuts down.
//!
//! ```
//! use leno_generate::{Shape, generate, shrink};
//!
//! let program = generate(7, &Shape::default());
//! assert_eq!(program, generate(7, &Shape::default()));
//! println!("{}", program.to_c());
//!
//! // The smallest program that still has something of the first one.
//! let has_thread = |candidate: &leno_generate::Program| candidate.to_c().contains("pthread_create");
//! let small = shrink(&program, has_thread);
//! assert_eq!(small.threads.len(), 1);
//! assert!(small.threads[0].body.is_empty());
//! ```
//!
//! | file | what is in it |
//! |---|---|
//! | `tree` | programs as trees |
//! | `print` | the C text of a tree |
//! | `shape` | how large programs are, and what is in them |
//! | `grow` | from a seed to a tree |
//! | `shrink` | from a tree to a smaller one |

mod grow;
mod print;
mod shape;
mod shrink;
mod tree;

pub use grow::generate;
pub use print::{DECLARATIONS, NATIVE};
pub use shape::{Feature, Shape};
pub use shrink::shrink;
pub use tree::*;
