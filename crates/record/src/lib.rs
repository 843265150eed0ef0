//! Recording: a program, compiled with a recorder, run once.
//!
//! This is not an engine: it compiles, runs a process and writes files, so that the engine (`leno-predict`), which does
//! none of that, has a trace to work on. The program is written back as C that records every value that comes into its
//! threads ([`leno_emit::emit_recording`]), compiled with the user's own compiler together with everything else that it
//! is linked with, and run as the user would run it: with its arguments, its input, output and exit code. The trace is
//! in its file however the run ends.
//!
//! ```
//! # use leno_ir::program::Program;
//! # fn main() -> Result<(), leno_record::RecordError> {
//! let program = Program::default();
//! let trace = leno_record::run_once(&program, &leno_record::RecordOptions::default())?;
//! println!("{} records", trace.len());
//! # Ok(())
//! # }
//! ```
//!
//! The recorder itself is C: `runtime/record.c`. The format of the file is that of [`leno_trace`].

use leno_emit::{Options, emit_recording};
use leno_ir::program::{DataModel, Program};
use leno_trace::{ThreadPrivate, Trace, TraceError};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const RUNTIME: &str = include_str!("runtime/record.c");

/// How to record.
#[derive(Clone, Debug, Default)]
pub struct RecordOptions {
    /// The compiler, possibly with arguments. If none is given: the environment's `CC`, else `cc`.
    pub cc: Option<String>,
    /// Objects, libraries and flags that the program is linked with.
    pub link: Vec<OsString>,
    /// The program's name and its arguments.
    pub args: Vec<OsString>,
    /// Kept in the trace: how the program was built.
    pub description: Vec<u8>,
    /// A run that takes longer is killed; its trace goes up to there.
    pub timeout: Option<Duration>,
    /// Neither input nor output.
    pub silent: bool,
    /// Says which process it is, while it runs.
    pub running: Running,
}

/// The process of a recorded program, while it runs: signals can be passed on to it.
#[derive(Clone, Debug, Default)]
pub struct Running(Arc<AtomicI32>);

impl Running {
    pub fn process(&self) -> Option<i32> {
        Some(self.0.load(Ordering::SeqCst)).filter(|process| *process > 0)
    }

    fn set(&self, process: u32) {
        self.0.store(i32::try_from(process).unwrap_or(0), Ordering::SeqCst);
    }
}

/// Why there is no trace.
#[derive(Debug)]
pub enum RecordError {
    /// There is no directory for temporary files.
    NoScratchDirectory(io::Error),
    NotWritable(PathBuf, io::Error),
    NoCompiler,
    CompilerNotRun(String, io::Error),
    /// The compiler, and the first error that it reports.
    NotCompiled(String, String),
    NotRun(io::Error),
    BadTrace(TraceError),
}

impl fmt::Display for RecordError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            RecordError::NoScratchDirectory(error) => {
                write!(out, "there is no directory for temporary files: {error}")
            }
            RecordError::NotWritable(path, error) => write!(out, "cannot write `{}`: {error}", path.display()),
            RecordError::NoCompiler => write!(out, "there is no C compiler: $CC is empty"),
            RecordError::CompilerNotRun(cc, error) => write!(out, "`{cc}` cannot be run: {error}"),
            RecordError::NotCompiled(cc, message) => write!(out, "`{cc}` does not compile it: {message}"),
            RecordError::NotRun(error) => write!(out, "the program cannot be run: {error}"),
            RecordError::BadTrace(error) => write!(out, "the recorder has written no trace: {error}"),
        }
    }
}

impl std::error::Error for RecordError {}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// None: it was killed for taking too long.
    pub status: Option<ExitStatus>,
    pub seconds: f64,
    /// How large the trace is.
    pub bytes: u64,
}

/// The program, compiled with the recorder. Its files are removed when it is dropped.
pub struct Recorder {
    scratch: ScratchDirectory,
    options: RecordOptions,
}

impl Recorder {
    /// Compiles the program.
    pub fn new(program: &Program, options: RecordOptions) -> Result<Recorder, RecordError> {
        let unrecorded = ThreadPrivate::new(program).unrecorded;
        let text = emit_recording(program, &Options::default(), &unrecorded, RUNTIME);
        let scratch = ScratchDirectory::new().map_err(RecordError::NoScratchDirectory)?;
        let source = scratch.0.join("recorded.c");
        fs::write(&source, text).map_err(|error| RecordError::NotWritable(source.clone(), error))?;
        let cc = options.cc.clone().or_else(|| std::env::var("CC").ok()).unwrap_or_else(|| "cc".to_string());
        let mut words = cc.split_whitespace();
        let Some(command) = words.next() else { return Err(RecordError::NoCompiler) };
        let mut compile = Command::new(command);
        compile.args(words).args(["-std=gnu11", "-O2", "-g", "-w"]);
        if program.model == DataModel::Ilp32 {
            compile.arg("-m32");
        }
        // More static data than instructions can reach by a distance of 32 bits.
        if program.objects.iter().map(|object| object.size).fold(0, u64::saturating_add) > 1 << 30 {
            compile.arg("-mcmodel=medium");
        }
        compile.arg(&source).arg("-o").arg(scratch.0.join("recorded")).args(&options.link).args(["-lpthread", "-lm"]);
        match compile.stdin(Stdio::null()).output() {
            Err(error) => Err(RecordError::CompilerNotRun(cc, error)),
            Ok(output) if !output.status.success() => Err(RecordError::NotCompiled(cc, first_error(&output.stderr))),
            Ok(_) => Ok(Recorder { scratch, options }),
        }
    }

    /// Runs it once, and leaves the trace in a file.
    pub fn run(&self, trace: &Path) -> Result<Recorded, RecordError> {
        let mut command = self.command(trace)?;
        if self.options.silent {
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        }
        let start = Instant::now();
        let status = self.wait(command).map_err(RecordError::NotRun)?;
        let seconds = start.elapsed().as_secs_f64();
        let bytes = fs::metadata(trace).map_err(|error| RecordError::BadTrace(error.into()))?.len();
        Ok(Recorded { status, seconds, bytes })
    }

    /// Runs it once, and gives the trace. Its file goes with the recorder.
    pub fn trace(&self) -> Result<Trace, RecordError> {
        let path = self.scratch.0.join("trace.leno");
        self.run(&path)?;
        Trace::open(&path).map_err(RecordError::BadTrace)
    }

    /// Runs it once, with these variables in its environment, and gives what it wrote.
    pub fn capture(&self, trace: &Path, environment: &[(&str, &str)]) -> Result<Output, RecordError> {
        let mut command = self.command(trace)?;
        command.envs(environment.iter().copied());
        command.output().map_err(RecordError::NotRun)
    }

    /// The command that runs the program, with a fresh trace file.
    fn command(&self, trace: &Path) -> Result<Command, RecordError> {
        let (header, data) = leno_trace::header(&self.options.description);
        let not_writable = |error| RecordError::NotWritable(trace.to_path_buf(), error);
        fs::write(trace, header).map_err(not_writable)?;
        let absolute = std::path::absolute(trace).map_err(not_writable)?;
        let mut command = Command::new(self.scratch.0.join("recorded"));
        if let Some((name, rest)) = self.options.args.split_first() {
            command.arg0(name).args(rest);
        }
        command.env("LENO_TRACE", &absolute).env("LENO_TRACE_DATA", data.to_string());
        Ok(command)
    }

    /// Waits for the end of the program; kills it if it takes longer than the user allows.
    fn wait(&self, mut command: Command) -> io::Result<Option<ExitStatus>> {
        let mut child = command.spawn()?;
        self.options.running.set(child.id());
        let status = self.wait_for(&mut child);
        self.options.running.set(0);
        status
    }

    fn wait_for(&self, child: &mut Child) -> io::Result<Option<ExitStatus>> {
        let Some(timeout) = self.options.timeout else { return child.wait().map(Some) };
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if start.elapsed() > timeout {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
            std::thread::sleep((start.elapsed() / 8).clamp(Duration::from_micros(300), Duration::from_millis(20)));
        }
    }
}

/// The line of a compiler's messages that says what is wrong.
fn first_error(messages: &[u8]) -> String {
    let messages = String::from_utf8_lossy(messages);
    let says = |word: &str| messages.lines().find(|line| line.contains(word));
    // The linker's own words come before those of the compiler about the linker.
    let first = ["undefined reference", "cannot find", "multiple definition", "relocation truncated", "error"]
        .into_iter()
        .find_map(says)
        .or(messages.lines().last());
    first.unwrap_or("it reports no error").trim().to_string()
}

/// Compiles a program, runs it once, and leaves the trace in a file.
pub fn record(program: &Program, options: &RecordOptions, trace: &Path) -> Result<Recorded, RecordError> {
    Recorder::new(program, options.clone())?.run(trace)
}

/// Compiles a program, runs it once, and gives the trace.
pub fn run_once(program: &Program, options: &RecordOptions) -> Result<Trace, RecordError> {
    Recorder::new(program, options.clone())?.trace()
}

/// The name that a program gets unless it is given another one: that of its first file.
pub fn program_name(file: &Path) -> OsString {
    let mut name = OsString::from("./");
    name.push(file.file_stem().unwrap_or(OsStr::new("program")));
    name
}

/// A directory for temporary files, removed when it is dropped.
struct ScratchDirectory(PathBuf);

impl ScratchDirectory {
    fn new() -> io::Result<ScratchDirectory> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        loop {
            let name = format!("leno-record-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            let path = std::env::temp_dir().join(name);
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(ScratchDirectory(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for ScratchDirectory {
    fn drop(&mut self) {
        // A directory that cannot be removed is left to the system: there is no caller to tell.
        let _ = fs::remove_dir_all(&self.0);
    }
}
