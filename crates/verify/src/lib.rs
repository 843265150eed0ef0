//! The checker of what the prover finds: is this annotation true of this program, and does it imply the assertions?
//!
//! An annotation says in which states threads may be at each place at which they are interrupted, and which places two threads
//! may be at together. That it is true, for any number of threads, follows from conditions about one step of one thread each, which are made
//! here from the program, and discharged by the solver. The prover (`leno-prove`) asks for this before it calls anything
//! SAFE; `leno verify` asks for it with an annotation from a file. There is no fixpoint and no abstract domain here.
//!
//! | file | what is in it |
//! |---|---|
//! | `code` | the code of all threads with calls expanded; where threads are interrupted |
//! | `cells` | which memory is followed, and which locks protect it |
//! | `pointers` | where pointers in memory point, by what is stored there |
//! | `exclusion` | what keeps threads apart, by the shared facts |
//! | `claims` | which assertions and accesses a property is about |
//! | `annotation` | what is claimed: states by stop, and pairs of stops |
//! | `conditions`, `steps` | what has to be shown of it, path by path |
//! | `addresses` | where an address points, read off its term |
//! | `formulas` | states as formulas |
//! | `file` | annotations as text |

mod addresses;
pub mod annotation;
pub mod cells;
pub mod claims;
pub mod code;
pub mod conditions;
pub mod exclusion;
pub mod file;
mod formulas;
pub mod pointers;
mod steps;
