//! `leno-proof FILE`: is this a proof?
//!
//! Prints what the proof shows and exits with 0, or says where it fails and exits with 1. `-` is the standard input.

use std::fs::File;
use std::io::{BufReader, stdin};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [path] = arguments.as_slice() else {
        eprintln!("usage: leno-proof FILE");
        return ExitCode::from(3);
    };
    let result = if path == "-" {
        leno_proof::check(stdin().lock())
    } else {
        match File::open(path) {
            Ok(file) => leno_proof::check(BufReader::new(file)),
            Err(error) => {
                eprintln!("error: {}: {error}", path.display());
                return ExitCode::from(3);
            }
        }
    };
    match result {
        Ok(summary) => {
            println!("accepted: {} of {} queries refuted", summary.refuted(), summary.queries.len());
            println!("inputs: {}, lemmas: {}, derived: {}", summary.inputs, summary.lemmas, summary.derived);
            ExitCode::SUCCESS
        }
        Err(rejection) => {
            println!("rejected: {}: {}", path.display(), rejection);
            ExitCode::from(1)
        }
    }
}
