//! The concurrent control-flow graph: the one representation that all of Leno's engines work on.
//!
//! [`program`] holds the types; everything else here computes on them. This crate depends on no other
//! crate of Leno, and it knows nothing of C.
//!
//! ```
//! let source = "\
//! program lp64 entry &start
//!
//! @counter = global size 4 align 4 ; main.c:1:5 \"counter\"
//!
//! fn &start(%argc: signed i32, %argv: ptr) { ; main.c:3:5
//!   local %2: i32
//! b0:
//!   %2 = load i32 @counter ; main.c:5:3 \"counter++\"
//!   store i32 @counter = add(%2, i32 1) ; main.c:5:3 \"counter++\"
//!   exit i32 0
//! }
//! ";
//! let program = leno_ir::text::parse(source)?;
//! leno_ir::validate::validate(&program).expect("the program is valid");
//! assert_eq!(program.to_string(), source);
//! # Ok::<(), leno_ir::text::TextError>(())
//! ```

pub mod analysis;
pub mod dot;
pub mod graph;
pub mod id_set;
pub mod index;
pub mod interp;
pub mod library_memory;
pub mod program;
pub mod text;
pub mod validate;
pub mod visit;
pub mod witness;

pub use analysis::{callgraph, cfg, points_to, sharing};
