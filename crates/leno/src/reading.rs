//! Reading a program: C, or a Boolean program, by the names of its files.

use crate::library::{Uses, open_library};
use leno_c::driver::{self, Compiled, Failure, Input, Options};
use std::path::Path;

/// Whether a file is a Boolean program, and not C.
pub fn is_boolean(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "bp")
}

/// Reads the files of one program.
pub fn compile(inputs: &[Input], options: &Options) -> Result<Compiled, Failure> {
    let is_boolean = |input: &Input| matches!(input, Input::File(path) if is_boolean(path));
    match inputs {
        [Input::File(path)] if self::is_boolean(path) => read_boolean(path, &[], options),
        _ if inputs.iter().any(is_boolean) => {
            Err(Failure::unplaced("a Boolean program is one file, and no C is linked to it".to_string()))
        }
        _ => driver::compile(inputs, options),
    }
}

/// Reads a program in which any number of threads run these functions.
pub fn compile_open(inputs: &[Input], entry: &[String], options: &Options) -> Result<Compiled, Failure> {
    if let [Input::File(path)] = inputs
        && is_boolean(path)
    {
        return read_boolean(path, entry, options);
    }
    let mut compiled = compile(inputs, options)?;
    let uses = Uses { entries: entry.to_vec(), ..Uses::default() };
    compiled.program = open_library(&compiled, &uses).map_err(Failure::unplaced)?.0;
    Ok(compiled)
}

fn read_boolean(path: &Path, entry: &[String], options: &Options) -> Result<Compiled, Failure> {
    leno_boolean::compile(path, &leno_boolean::Options { entry: entry.to_vec(), color: options.color })
}
