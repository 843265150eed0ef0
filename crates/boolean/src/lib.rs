//! Boolean programs, in the dialect of SatAbs and Boom, to Leno's representation: lex · parse · resolve · lower.
//!
//! What the statements mean is on a page of the book (`docs/boolean.md`). Behind [`compile`] nothing knows that a
//! program was no C: all engines and commands take it.
//!
//! ```
//! let text = "
//!     decl x;
//!     void main() begin
//!         x := 0;
//!         start_thread goto other;
//!         assert(!x);
//!         end_thread;
//!     other:
//!         x := !x;
//!     end";
//! let program = leno_boolean::compile_text("example.bp", text).expect("a Boolean program");
//! assert!(program.to_string().contains("spawn"));
//! ```

pub mod ast;
mod lex;
mod lower;
mod parse;
mod print;
mod resolve;

use ast::Tree;
use leno_c::diagnostic::Result;
use leno_c::driver::{Compiled, Failure, Report};
use leno_c::source::Source;
use leno_c::stack::with_big_stack;
use leno_ir::program::Program;
use std::path::Path;

/// How to read a Boolean program.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The functions that any number of threads run, after `init`. Empty: `main` runs, once; and where there is no
    /// `main`, every function without parameters that no statement calls or starts.
    pub entry: Vec<String>,
    /// Write messages in colour.
    pub color: bool,
}

/// Reads a file.
pub fn compile(path: &Path, options: &Options) -> std::result::Result<Compiled, Failure> {
    match std::fs::read(path) {
        Ok(text) => compile_source(&mut Source::new(&path.display().to_string(), text), options),
        Err(error) => Err(Failure::unplaced(format!("cannot read `{}`: {error}", path.display()))),
    }
}

/// Reads text.
pub fn compile_text(name: &str, text: &str) -> std::result::Result<Program, Failure> {
    let mut source = Source::new(name, text.as_bytes().to_vec());
    compile_source(&mut source, &Options::default()).map(|compiled| compiled.program)
}

/// Only parses.
pub fn parse_text(name: &str, text: &str) -> std::result::Result<Tree, Failure> {
    let source = Source::new(name, text.as_bytes().to_vec());
    parse::parse(&source).map_err(|error| Failure { reports: vec![Report::new(&error, &source, false)] })
}

fn compile_source(source: &mut Source, options: &Options) -> std::result::Result<Compiled, Failure> {
    let made: Result<Program> = with_big_stack(|| {
        let tree = parse::parse(source)?;
        let resolved = resolve::resolve(&tree, source, &options.entry)?;
        Ok(lower::lower(&resolved, source))
    });
    let program = made.map_err(|error| Failure { reports: vec![Report::new(&error, source, options.color)] })?;
    match leno_ir::validate::validate(&program) {
        Ok(()) => Ok(Compiled { program, warnings: Vec::new(), pointees: Default::default() }),
        Err(faults) => Err(Failure::our_own(&faults, &program)),
    }
}
