//! C text to a program.

use leno_c::driver::{Input, Options};
use leno_ir::program::Program;
use std::path::Path;

/// Compiles text that needs no preprocessor.
#[track_caller]
pub fn compile(text: &str) -> Program {
    let input = Input::Preprocessed { name: "test.c".to_string(), text: text.as_bytes().to_vec() };
    match leno_c::driver::compile(&[input], &Options::default()) {
        Ok(compiled) => compiled.program,
        Err(failure) => panic!("{failure}\n{text}"),
    }
}

/// Compiles text after the declarations of [`HEADER`](crate::header::HEADER).
#[track_caller]
pub fn compile_with_header(text: &str) -> Program {
    compile(&format!("{}{text}", crate::header::HEADER))
}

/// Compiles a file as the preprocessor gives it with these flags.
#[track_caller]
pub fn compile_file(file: impl AsRef<Path>, flags: &[&str]) -> Program {
    compile_as(file, flags, Options::default())
}

/// Compiles a file that is going to be run as it is: signals, sleep and the environment are the real ones.
#[track_caller]
pub fn compile_for_running(file: impl AsRef<Path>, flags: &[&str]) -> Program {
    compile_as(file, flags, Options::for_running())
}

#[track_caller]
fn compile_as(file: impl AsRef<Path>, flags: &[&str], mut options: Options) -> Program {
    options.preprocess.flags.extend(flags.iter().map(|flag| flag.to_string()));
    match leno_c::driver::compile(&[Input::File(file.as_ref().to_path_buf())], &options) {
        Ok(compiled) => compiled.program,
        Err(failure) => panic!("{failure}"),
    }
}
