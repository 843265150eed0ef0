//! The representation written back as C.
//!
//! [`emit`] gives one self-contained file that any gcc or clang compiles without special flags, at any level of
//! optimisation, and that does what the program does:
//!
//! ```
//! use leno_ir::program::Program;
//!
//! let c = leno_emit::emit(&Program::default(), &leno_emit::Options::default());
//! assert!(c.starts_with("/* Written by Leno"));
//! ```
//!
//! It is written instruction by instruction, so that what a verifier says about a step of a thread can be forced
//! or observed at exactly that step of the running program. Everything that C leaves undefined and the
//! representation does not is spelled out: integers are unsigned and of fixed width, pointers are integers, memory is
//! accessed through types that may alias anything and lie anywhere, and synchronisation is done by the real
//! functions of the system on the program's own objects.

mod call;
mod comment;
mod constant;
mod expr;
mod external;
mod function;
mod hooks;
mod instr;
mod library_accesses;
mod lifetimes;
mod names;
mod object;
mod record;
mod runtime;
mod sync;
mod types;

pub use hooks::{Hooks, emit_with_hooks, places};
pub use record::emit_recording;

use hooks::Numbers;
use leno_ir::program::{Body, DataModel, Program};
use std::fmt::Write;

/// What the emitted file should be like.
#[derive(Clone, Debug)]
pub struct Options {
    /// Put the place in the user's source behind each instruction.
    pub comments: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { comments: true }
    }
}

/// A C file that behaves as `program` does. The program has to be valid.
pub fn emit(program: &Program, options: &Options) -> String {
    let code = code(program, options, Mode::Plain);
    let mut file = header(program);
    file.push_str(&runtime::for_code(&code, &[]));
    file.push('\n');
    file.push_str(&code);
    file.push_str(FOOTER);
    file
}

/// What is written besides the program itself.
#[derive(Clone, Copy)]
pub(crate) enum Mode<'a> {
    Plain,
    /// Calls at schedule points, which have these numbers.
    Hooked(&'a Numbers),
    /// Calls that write down what comes into a thread, unless the instruction is unrecorded.
    Recording(&'a leno_trace::Unrecorded),
}

impl<'a> Mode<'a> {
    fn numbers(self) -> Option<&'a Numbers> {
        match self {
            Mode::Hooked(numbers) => Some(numbers),
            Mode::Plain | Mode::Recording(_) => None,
        }
    }
}

/// Ends what the runtime begins for all functions.
const FOOTER: &str = "
#if defined(__clang__) && defined(__i386__)
#pragma clang attribute pop
#endif
";

fn header(program: &Program) -> String {
    let (model, flag, bytes) = match program.model {
        DataModel::Lp64 => ("LP64", "", 8),
        DataModel::Ilp32 => ("ILP32", " -m32", 4),
    };
    let files: Vec<String> = program.files.iter().map(|file| comment::inside_comment(file)).collect();
    let from = if files.is_empty() { String::new() } else { format!(" from {}", files.join(", ")) };
    format!(
        "/* Written by Leno{from}. Compile with: cc{flag} FILE.c -lpthread -lm */\n\
         _Static_assert(sizeof(void *) == {bytes}, \"this program is {model}: its pointers have {bytes} bytes\");\n"
    )
}

/// Everything behind the runtime.
fn code(program: &Program, options: &Options, mode: Mode<'_>) -> String {
    let numbers = mode.numbers();
    let mut out = String::new();
    for (id, function) in program.functions.iter_enumerated() {
        match &function.body {
            Body::External(external) => external::declare(program, id, external, mode, &mut out),
            Body::Blocks(_) => {
                let _ = writeln!(out, "static {};", call::prototype(program, id));
            }
        }
    }
    out.push('\n');
    object::define_all(program, options.comments, &mut out);
    out.push('\n');
    let mut starts = call::Starts::default();
    let mut functions = String::new();
    for (id, function) in program.functions.iter_enumerated() {
        match &function.body {
            Body::External(external) => external::define(program, id, external, mode, &mut functions),
            Body::Blocks(blocks) => {
                let style = function::Style { comments: options.comments, mode };
                function::define(program, id, blocks, style, &mut starts, &mut functions);
            }
        }
    }
    starts.write(program, !matches!(mode, Mode::Plain), &mut out);
    out.push_str(&functions);
    match program.entry {
        _ if numbers.is_some() => out.push_str(&hooks::program(program)),
        _ if matches!(mode, Mode::Recording(_)) => out.push_str(&record::main(program)),
        Some(entry) => out.push_str(&function::main(program, entry)),
        None => {}
    }
    out
}
