//! Other solvers, as programs: the question goes to standard input, the answer comes from standard output.
//!
//! The whole question is written at once, values included, and the input is closed: every solver can be used that way,
//! whether it answers as it reads or reads all of it first.

use super::answer::{Verdict, parse_answer};
use crate::limits::{Limits, Stop};
use std::fmt;
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A solver given as a command line, such as `z3 -in`, `cvc5 --lang smt2 -`, `yices-smt2` or `bitwuzla`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct External {
    program: String,
    arguments: Vec<String>,
}

/// Why there is no verdict.
#[derive(Debug)]
pub enum ExternalError {
    /// The command line is empty, or has a quotation mark without its partner.
    CommandLine(String),
    Start {
        program: String,
        error: io::Error,
    },
    /// The solver ended and said this.
    Answer {
        program: String,
        status: ExitStatus,
        said: String,
    },
    /// A limit was reached, and the solver was stopped.
    Stopped(Stop),
    /// There is no question: what the solver was given has not been recorded.
    NotRecorded,
}

impl fmt::Display for ExternalError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            ExternalError::CommandLine(line) => write!(out, "`{line}` is not a command line"),
            ExternalError::Start { program, error } => write!(out, "cannot run the solver `{program}`: {error}"),
            ExternalError::Answer { program, status, said } => {
                write!(out, "the solver `{program}` gave no verdict ({status}): {said}")
            }
            ExternalError::NotRecorded => write!(out, "the query has not been recorded"),
            ExternalError::Stopped(stop) => write!(out, "the solver was stopped: {stop:?}"),
        }
    }
}

impl std::error::Error for ExternalError {}

/// How often limits are looked at.
const INTERVAL: Duration = Duration::from_millis(5);

impl External {
    /// Takes a command line apart at spaces; quotation marks of either kind keep words together.
    pub fn new(command_line: &str) -> Result<External, ExternalError> {
        let mut words = split(command_line).ok_or_else(|| ExternalError::CommandLine(command_line.to_string()))?;
        if words.is_empty() {
            return Err(ExternalError::CommandLine(command_line.to_string()));
        }
        let program = words.remove(0);
        Ok(External { program, arguments: words })
    }

    /// Asks the question of a script (see [`super::Script::question`]).
    pub fn solve(&self, question: &str, limits: &Limits) -> Result<Verdict, ExternalError> {
        let (status, output, complaints) = self.run(question, limits)?;
        parse_answer(&output).map_err(|said| {
            let said = if complaints.trim().is_empty() { said } else { format!("{said}; {}", complaints.trim()) };
            ExternalError::Answer { program: self.program.clone(), status, said }
        })
    }

    /// Everything that the program prints on its two outputs.
    fn run(&self, input: &str, limits: &Limits) -> Result<(ExitStatus, String, String), ExternalError> {
        let failed = |error| ExternalError::Start { program: self.program.clone(), error };
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let writer = child.stdin.take().map(|mut stdin| {
            let input = input.to_string();
            // A solver that ends before it has read everything is no reason to stop reading its answer.
            thread::spawn(move || drop(stdin.write_all(input.as_bytes())))
        });
        let (output, complaints) = (child.stdout.take().map(read_all), child.stderr.take().map(read_all));
        let ended = wait(&mut child, limits);
        if ended.is_err() {
            // It may have ended by itself just now: then there is nothing to stop.
            let _ = child.kill();
            let _ = child.wait();
        }
        let status = ended?.map_err(failed)?;
        if let Some(writer) = writer {
            let _ = writer.join();
        }
        let text =
            |reader: Option<JoinHandle<String>>| reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
        Ok((status, text(output), text(complaints)))
    }
}

fn wait(child: &mut Child, limits: &Limits) -> Result<io::Result<ExitStatus>, ExternalError> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(Ok(status)),
            Ok(None) => {}
            Err(error) => return Ok(Err(error)),
        }
        if let Some(stop) = limits.stop() {
            return Err(ExternalError::Stopped(stop));
        }
        thread::sleep(INTERVAL);
    }
}

fn read_all(mut source: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = source.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The words of a command line; `None` if a quotation is not closed.
fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quotation = None;
    for c in line.chars() {
        match quotation {
            Some(mark) if c == mark => quotation = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '"' || c == '\'' => {
                quotation = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quotation.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Value;
    use std::time::Instant;

    #[test]
    fn command_lines() {
        let words = |line| split(line).unwrap_or_default();
        assert_eq!(words(" z3  -in"), ["z3", "-in"]);
        assert_eq!(words("'a b'/z3 \"\" x"), ["a b/z3", "", "x"]);
        assert!(split("z3 '").is_none());
        assert!(matches!(External::new("  "), Err(ExternalError::CommandLine(_))));
    }

    fn shell(script: &str) -> External {
        External { program: "sh".to_string(), arguments: vec!["-c".to_string(), script.to_string()] }
    }

    #[test]
    fn answers_and_failures() -> Result<(), ExternalError> {
        let limits = Limits::default();
        let Verdict::Satisfiable(model) = shell("cat >/dev/null; echo 'sat ((x #b1))'").solve("(x)", &limits)? else {
            panic!("it said sat");
        };
        assert_eq!(model.constant("x"), Some(Value::Bits { width: 1, value: 1 }));
        let question = "(assert true)".repeat(100_000);
        assert_eq!(shell("echo unsat").solve(&question, &limits)?, Verdict::Unsatisfiable);
        let error = shell("echo no licence >&2; exit 3").solve("", &limits).unwrap_err().to_string();
        assert!(error.contains("no licence") && error.contains('3'), "{error}");
        let error = External::new("no-such-solver -in")?.solve("", &limits).unwrap_err().to_string();
        assert!(error.contains("cannot run the solver `no-such-solver`"), "{error}");
        Ok(())
    }

    #[test]
    fn a_deadline_is_kept() {
        let limits = Limits::until(Instant::now() + Duration::from_millis(50));
        let error = External { program: "sleep".to_string(), arguments: vec!["3600".to_string()] }.solve("", &limits);
        assert!(matches!(error, Err(ExternalError::Stopped(Stop::Time))));
    }
}
