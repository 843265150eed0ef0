//! From files to a program: the one door through which everything enters.
//!
//! Each file is preprocessed, parsed and checked by itself; then the library's models of what the files call and do not
//! define are added, checked by the same front end; then all of it is linked and lowered. The result is valid, or this
//! is an error: engines can rely on it.

use crate::check::{Checked, check};
use crate::diagnostic::{Diagnostic, Severity};
use crate::library;
use crate::lower::{LinkUnit, LowerOptions, lower};
use crate::parse::parse;
use crate::preprocess::Preprocessor;
use crate::report::Report;
use crate::source::Source;
use crate::stack::with_big_stack;
use crate::typed::Unit;
use leno_ir::program::{DataModel, Program};
use leno_ir::validate::validate;
use std::fmt;
use std::path::PathBuf;

/// One file of a program.
#[derive(Clone, Debug)]
pub enum Input {
    /// C for the preprocessor, or text that it has seen already if the name ends in `.i`.
    File(PathBuf),
    Preprocessed { name: String, text: Vec<u8> },
}

/// How to read a program.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub model: DataModel,
    pub preprocessor: Preprocessor,
    /// `malloc` and its like may return null.
    pub malloc_may_fail: bool,
    /// Assert that signed arithmetic does not overflow.
    pub check_signed_overflow: bool,
}

/// A program, and what the user should know about it.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub program: Program,
    pub warnings: Vec<Report>,
}

/// Why there is no program: errors, after the warnings that came before them.
#[derive(Clone, Debug)]
pub struct Failure {
    pub reports: Vec<Report>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reports.iter().try_for_each(|report| write!(f, "{report}"))
    }
}

impl std::error::Error for Failure {}

/// Reads the files of one program.
pub fn compile(inputs: &[Input], options: &Options) -> Result<Compiled, Failure> {
    with_big_stack(|| compile_here(inputs, options))
}

/// A file that has been read, and what is in it.
struct File {
    source: Source,
    unit: Unit,
    is_model: bool,
}

fn compile_here(inputs: &[Input], options: &Options) -> Result<Compiled, Failure> {
    let mut warnings = Vec::new();
    let mut files = Vec::new();
    for input in inputs {
        match read(input, options).and_then(|source| analyse(source, options, false, &mut warnings)) {
            Ok(file) => files.push(file),
            Err(errors) => {
                warnings.extend(errors);
                return Err(Failure { reports: warnings });
            }
        }
    }
    match add_models(&mut files, options).and_then(|()| link(&files, options, &mut warnings)) {
        Ok(program) => Ok(Compiled { program, warnings }),
        Err(error) => {
            warnings.push(error);
            Err(Failure { reports: warnings })
        }
    }
}
