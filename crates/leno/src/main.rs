//! The command line: what the user asked for, and the exit code that says how it went.

mod arguments;
mod command;
mod memory;
mod prediction;
mod proofs;
mod signals;
mod time_limit;

use arguments::Cli;
use clap::{CommandFactory, FromArgMatches};
use command::Status;
use std::process::ExitCode;

/// Trees and states are made of many small pieces; with the system's allocator the front end takes a quarter longer.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let words = arguments::gcc_spellings(std::env::args_os().collect());
    let matches = match Cli::command().try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => {
            // Help and version are "errors" that go to standard output.
            let status = if error.use_stderr() { Status::BadInput } else { Status::Program(0) };
            return match error.print() {
                Ok(()) => status.into(),
                Err(_) => Status::BrokenPipe.into(),
            };
        }
    };
    let result = Cli::from_arg_matches(&matches).map_err(|error| error.to_string());
    match result {
        Ok(cli) => command::execute(cli.in_order(&matches)).into(),
        Err(message) => {
            eprint!("{message}");
            Status::BadInput.into()
        }
    }
}
