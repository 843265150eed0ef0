//! What each command does, and with which exit code it ends.

use crate::arguments::{Command, Dump, EmitC, Run, Sources};
use leno::{Compiled, Ending, Input, Options, RunOptions};
use leno_c::library;
use leno_c::preprocess::Preprocess;
use leno_ir::interp::Terminal;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// How a command went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// The program ran, and this is its own exit status.
    Program(u8),
    Violation,
    NoVerdict,
    BadInput,
    /// Whoever reads our output has gone away.
    BrokenPipe,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(match status {
            Status::Program(code) => code,
            Status::Violation => 1,
            Status::NoVerdict => 2,
            Status::BadInput => 3,
            // As the shell reports a death by SIGPIPE.
            Status::BrokenPipe => 141,
        })
    }
}

pub fn execute(command: Command) -> Status {
    let result = match &command {
        Command::Run(run) => execute_run(run),
        Command::Dump(dump) => execute_dump(dump),
        Command::EmitC(emit) => execute_emit(emit),
    };
    result.unwrap_or_else(|status| status)
}

fn execute_run(run: &Run) -> Result<Status, Status> {
    let compiled = load(&run.program)?;
    if compiled.program.entry.is_none() {
        eprintln!("error: the program has no `main`\n  = help: name all of its files");
        return Err(Status::BadInput);
    }
    let options = RunOptions {
        seed: run.seed,
        max_steps: run.max_steps.unwrap_or(u64::MAX),
        args: run.args.iter().map(|arg| arg.as_encoded_bytes().to_vec()).collect(),
        program_name: run.program.files[0].as_os_str().as_encoded_bytes().to_vec(),
    };
    let outcome = {
        let mut terminal = Terminal::new(run.seed);
        leno::run_in(&compiled.program, &options, &mut terminal)
    };
    if let Some(report) = outcome.report() {
        say(&report);
    }
    Ok(match outcome.ending {
        Ending::Exited(status) => Status::Program(status as u8),
        // 128 + SIGABRT, as a shell reports it.
        Ending::Aborted => Status::Program(134),
        Ending::Violation(_) | Ending::Deadlock(_) => Status::Violation,
        Ending::Stopped | Ending::StepLimit => Status::NoVerdict,
    })
}

fn execute_dump(dump: &Dump) -> Result<Status, Status> {
    let compiled = load(&dump.program)?;
    let text = if dump.what.cfg { leno_ir::dot::program(&compiled.program) } else { compiled.program.to_string() };
    print(&text)
}

fn execute_emit(emit: &EmitC) -> Result<Status, Status> {
    let compiled = load(&emit.program)?;
    let options = leno_emit::Options { comments: !emit.no_comments };
    let text = leno_emit::emit(&compiled.program, &options);
    let Some(path) = &emit.output else { return print(&text) };
    fs::write(path, text).map_err(|error| {
        eprintln!("error: cannot write `{}`: {error}", path.display());
        Status::BadInput
    })?;
    Ok(Status::Program(0))
}

/// Reads the program, and says what is to be said about it.
fn load(sources: &Sources) -> Result<Compiled, Status> {
    let inputs: Vec<Input> = sources.files.iter().cloned().map(Input::File).collect();
    let options = Options {
        preprocess: Preprocess {
            cc: sources.cc.clone(),
            flags: sources.preprocessor_flags.clone(),
            data_model: sources.data_model.into(),
        },
        library: library::Options {
            allocation_may_fail: sources.malloc_may_fail,
            spurious_wakeups: sources.spurious_wakeups,
        },
        check_signed_overflow: sources.check_overflow,
        color: io::stderr().is_terminal(),
    };
    match leno::compile(&inputs, &options) {
        Ok(compiled) => {
            compiled.warnings.iter().for_each(|warning| say(&warning.rendered));
            Ok(compiled)
        }
        Err(failure) => {
            say(&failure.to_string());
            Err(Status::BadInput)
        }
    }
}

/// To standard error; that nobody may be listening is no reason to fail.
fn say(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// To standard output, which may be a pipe that somebody has closed (`| head`).
fn print(text: &str) -> Result<Status, Status> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(Status::Program(0)),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Status::BrokenPipe),
        Err(error) => {
            say(&format!("error: cannot write to standard output: {error}\n"));
            Err(Status::BadInput)
        }
    }
}
