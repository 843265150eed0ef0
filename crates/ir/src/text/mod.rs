//! The textual form of a program: what `leno dump --ir` prints, tests are written in, and bug reports carry.
//!
//! Printing and parsing back gives an *equal* program, spans and names included. A small one:
//!
//! ```text
//! program lp64 entry &start
//!
//! @counter = global size 4 align 4 ; main.c:1:5 "counter"
//!
//! fn &start(%argc: signed i32, %argv: ptr) { ; main.c:3:5
//!   local %2: i32
//!   slot $t size 8 align 8
//! b0: ; main.c:4:1
//!   %2 = load i32 @counter ; main.c:4:3 "counter"
//!   store i32 @counter = add(%2, i32 1) ; main.c:4:3 "counter++"
//!   spawn &worker(null) -> i64 $t
//!   exit i32 0
//! }
//!
//! fn &worker(%0: ptr) -> ptr external known
//! ```
//!
//! Lines are statements; `;` introduces where a statement comes from; `//` and `/* */` are comments (within
//! a line). A reference is a sigil and a name (`%i`) when the name says enough, `%i.7` when several things have
//! that name, and `%7` when it has none that could be written so. The number decides; a name beside it is checked.
//! Sources and texts are written where they are used. Should that not give back the same tables, lines
//! `file0 = "main.c"` and `text7 = "i++"` at the end spell the tables out, and `#7` refers to them by number;
//! [`tidy_tables`] makes that unnecessary.
//!
//! Declarations may come in any order, and the parser finds them in a first pass over the beginnings of
//! lines. Everything is linear in the length of the text, and nothing in the text can make the parser panic.

mod cursor;
mod names;
mod parse;
mod parse_code;
mod print;
mod tables;
mod words;

pub use cursor::TextError;
pub use names::{Names, Shown};
pub use parse::parse;
pub use print::print;
pub use tables::tidy_tables;

use crate::program::{Expr, FuncId, Instr, Program, Terminator};

/// One line that says what an instruction of `function` does, as the textual form has it. A tool that
/// describes many instructions makes one [`Names`] and asks that.
pub fn describe_instr(program: &Program, function: FuncId, instr: &Instr) -> String {
    Names::new(program).show(function, &instr.op).to_string()
}

/// See [`describe_instr`].
pub fn describe_terminator(program: &Program, function: FuncId, terminator: &Terminator) -> String {
    Names::new(program).show(function, &terminator.kind).to_string()
}

/// See [`describe_instr`].
pub fn describe_expr(program: &Program, function: FuncId, expr: &Expr) -> String {
    Names::new(program).show(function, expr).to_string()
}
