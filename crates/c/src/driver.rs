//! From files to a program: the one door through which everything enters.
//!
//! Each file is preprocessed, parsed and checked by itself; then the library's models of what the files call and do not
//! define are added, checked by the same front end; then all of it is linked and lowered. What comes out is valid, or
//! it is an error: engines can rely on that.

use crate::check::check;
use crate::diagnostic::{Diagnostic, Severity, render};
use crate::library::{self, needed_models};
use crate::lower::{LinkUnit, LowerOptions, Pointees, lower, pointees};
use crate::parse::parse;
use crate::preprocess::{Preprocess, PreprocessError};
use crate::signature::{Signature, defined};
use crate::source::{Location, Source};
use crate::stack::with_big_stack;
use crate::typed::Unit;
use leno_ir::analysis::facts::Facts;
use leno_ir::analysis::reuse::noticed;
use leno_ir::program::{DataModel, Program};
use leno_ir::validate::validate;
use std::fmt;
use std::path::PathBuf;

/// One file of a program.
#[derive(Clone, Debug)]
pub enum Input {
    /// C for the preprocessor, or text that it has seen already if the name ends in `.i`.
    File(PathBuf),
    Preprocessed {
        name: String,
        text: Vec<u8>,
    },
}

/// How to read a program.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub preprocess: Preprocess,
    pub library: library::Options,
    /// Assert that signed arithmetic does not overflow.
    pub check_signed_overflow: bool,
    /// Functions that are called from outside, `static` ones too: these and what they need are the program, and `main` is
    /// not run. None: the program starts in `main`, if it has one.
    pub entries: Vec<String>,
    /// Write messages in colour.
    pub color: bool,
}

impl Options {
    /// For a program that is going to be run as it is: signals, sleep and the environment are the real ones.
    pub fn for_running() -> Options {
        Options { library: library::Options { real_process: true, ..Default::default() }, ..Options::default() }
    }

    fn model(&self) -> DataModel {
        self.preprocess.data_model
    }
}

/// A program, and what the user should know about it.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub program: Program,
    pub warnings: Vec<Report>,
    /// Of each of [`Options::entries`].
    pub pointees: Pointees,
}

/// Why there is no program: an error, after the warnings that came before it.
#[derive(Clone, Debug)]
pub struct Failure {
    pub reports: Vec<Report>,
}

/// Something to tell the user about the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    pub severity: Severity,
    pub location: Option<Location>,
    pub message: String,
    /// All of it, with the source line; ends in a newline.
    pub rendered: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reports.iter().try_for_each(|report| f.write_str(&report.rendered))
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// An error that is at no place of the text.
    pub fn unplaced(message: String) -> Failure {
        let rendered = format!("error: {message}\n");
        Failure { reports: vec![Report { severity: Severity::Error, location: None, message, rendered }] }
    }

    /// A front end has broken its promise. The user can do nothing about it except tell us.
    pub fn our_own(faults: &[leno_ir::validate::Invalid], program: &Program) -> Failure {
        Failure { reports: vec![our_own_fault(faults, program)] }
    }
}

impl Report {
    pub fn new(diagnostic: &Diagnostic, source: &Source, color: bool) -> Report {
        Report {
            severity: diagnostic.severity,
            location: Some(source.location(diagnostic.span)),
            message: diagnostic.message.clone(),
            rendered: render(diagnostic, source, color),
        }
    }
}

/// Reads the files of one program.
pub fn compile(inputs: &[Input], options: &Options) -> Result<Compiled, Failure> {
    let mut warnings = Vec::new();
    match with_big_stack(|| Driver { options, warnings: &mut warnings }.compile(inputs)) {
        Ok((program, pointees)) => Ok(Compiled { program, warnings, pointees }),
        Err(error) => {
            warnings.push(*error);
            Err(Failure { reports: warnings })
        }
    }
}

/// The functions that the files of a program define, for those who want to call them.
pub fn signatures(inputs: &[Input], options: &Options) -> Result<Vec<Signature>, Failure> {
    let mut warnings = Vec::new();
    let read = with_big_stack(|| {
        let mut driver = Driver { options, warnings: &mut warnings };
        let mut all = Vec::new();
        for input in inputs {
            let source = driver.read(input)?;
            all.extend(defined(&driver.analyse(source, false)?.unit));
        }
        Ok(all)
    });
    read.map_err(|error: Box<Report>| {
        warnings.push(*error);
        Failure { reports: warnings }
    })
}

struct Driver<'a> {
    options: &'a Options,
    warnings: &'a mut Vec<Report>,
}

/// A file that has been read and checked.
struct File {
    source: Source,
    unit: Unit,
    is_model: bool,
}

/// The error is what to tell the user.
type Reported<T> = Result<T, Box<Report>>;

impl Driver<'_> {
    fn compile(&mut self, inputs: &[Input]) -> Reported<(Program, Pointees)> {
        let mut files = Vec::new();
        for input in inputs {
            let source = self.read(input)?;
            files.push(self.analyse(source, false)?);
        }
        for model in needed_models(files.iter().map(|file| &file.unit), self.options.library) {
            let source = Source::new(model.name, model.text.as_bytes().to_vec());
            files.push(self.analyse(source, true)?);
        }
        let own = files.iter().filter(|file| !file.is_model).map(|file| &file.unit);
        let pointees = pointees(own, &self.options.entries);
        Ok((self.link(&files)?, pointees))
    }

    fn read(&self, input: &Input) -> Reported<Source> {
        match input {
            Input::File(path) => self.options.preprocess.file(path).map_err(|error| Box::new(unreadable(&error))),
            Input::Preprocessed { name, text } => Ok(Source::new(name, text.clone())),
        }
    }

    /// Parses and checks one file.
    fn analyse(&mut self, mut source: Source, is_model: bool) -> Reported<File> {
        let ast = match parse(&mut source) {
            Ok(ast) => ast,
            Err(error) => return Err(Box::new(self.report(&error, &source))),
        };
        if !is_model {
            self.warnings.extend(ast.warnings.iter().map(|warning| Report::new(warning, &source, self.options.color)));
        }
        let checked = match check(&ast, self.options.model()) {
            Ok(checked) => checked,
            Err(error) => return Err(Box::new(self.report(&error, &source))),
        };
        if !is_model {
            self.warnings
                .extend(checked.warnings.iter().map(|warning| Report::new(warning, &source, self.options.color)));
        }
        Ok(File { source, unit: checked.unit, is_model })
    }

    fn link<'a>(&mut self, files: &'a [File]) -> Reported<Program> {
        let unit = |file: &'a File| {
            let File { source, unit, is_model } = file;
            LinkUnit { source, unit, is_model: *is_model }
        };
        let units: Vec<LinkUnit<'_>> = files.iter().map(unit).collect();
        let options = LowerOptions {
            check_signed_overflow: self.options.check_signed_overflow,
            entries: self.options.entries.clone(),
            library: self.options.library,
        };
        let (mut program, warnings) = match lower(&units, &options) {
            Ok(lowered) => lowered,
            Err(error) => return Err(Box::new(self.report(&error.diagnostic, &files[error.unit].source))),
        };
        for warning in warnings {
            let said = self.report(&warning.diagnostic, &files[warning.unit].source);
            self.warnings.push(said);
        }
        match validate(&program) {
            Ok(()) => {
                program.reuse = noticed(&Facts::new(&program)).reuse;
                Ok(program)
            }
            Err(faults) => Err(Box::new(our_own_fault(&faults, &program))),
        }
    }

    fn report(&self, diagnostic: &Diagnostic, source: &Source) -> Report {
        Report::new(diagnostic, source, self.options.color)
    }
}

/// The preprocessor's own words, with the place that its first complaint names.
fn unreadable(error: &PreprocessError) -> Report {
    let message = error.to_string();
    let location = match error {
        PreprocessError::Refused { stderr, .. } => stderr.lines().find_map(complaint_place),
        _ => None,
    };
    let rendered = format!("error: {message}\n");
    Report { severity: Severity::Error, location, message, rendered }
}

/// From `file:line:column: fatal error: …`.
fn complaint_place(line: &str) -> Option<Location> {
    let (before, _) = line.split_once(": fatal error: ").or_else(|| line.split_once(": error: "))?;
    let mut parts = before.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    Some(Location { file: parts.next()?.to_string(), line, column })
}

fn our_own_fault(faults: &[leno_ir::validate::Invalid], program: &Program) -> Report {
    let first = faults.first().map(|fault| fault.explain(program)).unwrap_or_default();
    let message = format!("Leno made an invalid program of this, which is a bug in Leno: {first}");
    let rendered = format!("error: {message}\n  = help: please report it, with the output of `cc -E`\n");
    Report { severity: Severity::Error, location: None, message, rendered }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_of_the_preprocessor_keep_their_places() {
        let place = complaint_place("dir/b.h:7:10: fatal error: c.h: No such file or directory");
        assert_eq!(place, Some(Location { file: "dir/b.h".to_string(), line: 7, column: 10 }));
        assert_eq!(complaint_place("In file included from a.c:1:"), None);
        assert_eq!(complaint_place("cc: error: no input files"), None);
    }
}
