//! One run of a program, and the report of what went wrong in it.
//!
//! ```text
//! violation: assertion violated
//!   --> examples/bank_account.c:29:5
//!    |
//! 29 |     assert(balance == 170);
//!    |     ^^^^^^
//!    = in thread main: balance == 170
//! thread main    at examples/bank_account.c:29, in main
//! thread main.1  finished
//! ```

use leno_c::diagnostic::render_excerpt;
use leno_ir::interp::{Captured, Ending, Environment, Image, Machine, Options, Random, Status, ThreadId, Violation};
use leno_ir::program::{Program, Span};
use std::fmt::Write;

/// How to run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Chooses the schedule and nondeterministic values.
    pub seed: u64,
    pub max_steps: u64,
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions { seed: 0, max_steps: u64::MAX }
    }
}

/// How a run ended, and where each thread was then.
#[derive(Clone, Debug)]
pub struct Run {
    pub ending: Ending,
    pub steps: u64,
    /// Something unknown was called or read: the real program may behave otherwise.
    pub tainted: bool,
    pub threads: Vec<Position>,
    /// What went to standard output and standard error, when the run was captured.
    pub output: Vec<u8>,
    pub errors: Vec<u8>,
    violation: Option<Place>,
}

/// Where a thread was when the run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Position {
    pub thread: String,
    pub status: Status,
    /// The innermost place first: the function, and the file and line where there is one.
    pub frames: Vec<Frame>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    pub function: String,
    pub place: Option<(String, u32)>,
}

/// Runs a program with its output captured.
pub fn run(program: &Program, options: &RunOptions) -> Run {
    let mut captured = Captured::new(options.seed);
    let mut run = run_in(program, options, &mut captured);
    run.output = captured.output;
    run.errors = captured.errors;
    run
}

/// Runs a program in an environment of the caller's.
pub fn run_in(program: &Program, options: &RunOptions, environment: &mut dyn Environment) -> Run {
    let image = Image::new(program);
    let mut machine = Machine::new(&image, &Options::default());
    let outcome = machine.run(&mut Random::new(options.seed), environment, options.max_steps);
    let threads = machine.threads().iter_enumerated().map(|(thread, state)| Position {
        thread: state.name.clone(),
        status: state.status,
        frames: frames(&machine, thread),
    });
    let violation = match &outcome.ending {
        Ending::Violation(violation) => place_of(&machine, violation),
        _ => None,
    };
    Run {
        threads: threads.collect(),
        violation,
        ending: outcome.ending,
        steps: outcome.steps,
        tainted: outcome.tainted,
        output: Vec::new(),
        errors: Vec::new(),
    }
}

fn frames(machine: &Machine<'_>, thread: ThreadId) -> Vec<Frame> {
    let program = machine.program();
    let frame = |(function, pc)| Frame {
        function: program.functions[function].name.clone(),
        place: file_and_line(program, machine.image().span(pc)),
    };
    machine.backtrace(thread).into_iter().map(frame).collect()
}

/// The line of the user's own text where something happened: models of the library have none.
fn file_and_line(program: &Program, span: Span) -> Option<(String, u32)> {
    let file = program.files.get(span.file).filter(|file| span.line > 0 && !is_model(file))?;
    Some((file.clone(), span.line))
}

fn is_model(file: &str) -> bool {
    file.starts_with("<leno>/")
}

/// Where to point: the place itself, or the call in the program that led into the library.
fn place_of(machine: &Machine<'_>, violation: &Violation) -> Option<Place> {
    let program = machine.program();
    let calls = machine.backtrace(violation.thread);
    let spans = calls.into_iter().map(|(_, pc)| machine.image().span(pc));
    let mut spans = std::iter::once(violation.span).chain(spans);
    spans.find_map(|span| {
        let (file, line) = file_and_line(program, span)?;
        let text = program.texts.get(span.text).cloned().unwrap_or_default();
        Some(Place { file, line, text })
    })
}

/// A place in the user's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    pub file: String,
    /// From 1.
    pub line: u32,
    /// What stands there, as the compiler sees it.
    pub text: String,
}

impl Run {
    /// Where the violation is, if it is somewhere in the user's text.
    pub fn violation_place(&self) -> Option<&Place> {
        self.violation.as_ref()
    }

    /// What to tell the user about a run that did not end normally.
    pub fn report(&self) -> Option<String> {
        let mut out = String::new();
        match &self.ending {
            Ending::Violation(violation) => {
                let _ = writeln!(out, "violation: {}", violation.kind.title());
                if let Some(Place { file, line, text }) = &self.violation {
                    out.push_str(&render_excerpt(file, *line, text, false));
                }
                let _ = writeln!(out, "  = in thread {}: {}", violation.thread_name, violation.message);
            }
            Ending::Deadlock(blocked) => {
                let _ = writeln!(out, "violation: deadlock");
                for waiting in blocked {
                    let _ = writeln!(out, "  = thread {} waits for {}", waiting.thread_name, waiting.reason);
                }
            }
            Ending::Stopped => out.push_str("no verdict: an assumption of the program was false in this run\n"),
            Ending::StepLimit => {
                let _ = writeln!(out, "no verdict: the limit of {} steps was reached", self.steps);
            }
            Ending::Exited(_) | Ending::Aborted => return None,
        }
        self.add_positions(&mut out);
        if self.tainted {
            out.push_str(
                "note: the run called a function that Leno does not know, so it may not be a run of the real program\n",
            );
        }
        Some(out)
    }

    fn add_positions(&self, out: &mut String) {
        let width = self.threads.iter().map(|position| position.thread.len()).max().unwrap_or(0);
        for position in &self.threads {
            let _ = write!(out, "thread {:width$}  ", position.thread);
            let in_program = position.frames.iter().find(|frame| frame.place.is_some());
            let _ = match (position.status, in_program) {
                (Status::Finished, _) => writeln!(out, "finished"),
                (_, Some(Frame { function, place: Some((file, line)) })) => {
                    writeln!(out, "at {file}:{line}, in {function}")
                }
                (Status::Stopped, _) => writeln!(out, "stopped"),
                (Status::Running, _) => writeln!(out, "running"),
            };
        }
    }
}
