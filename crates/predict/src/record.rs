//! Recording: the program, compiled with a recorder, run once.
//!
//! The program is written back as C that tells what comes into its threads ([`leno_emit::emit_recording`]), compiled with the user's
//! own compiler together with whatever else the project links, and run as the user would run it: with its arguments, its
//! input, output and exit code. The trace is in its file whatever becomes of the run.

use crate::quiet::Privacy;
use crate::trace;
use leno_emit::{Options, emit_recording};
use leno_ir::program::{DataModel, Program};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
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
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// None: it was killed for taking too long.
    pub status: Option<ExitStatus>,
    pub seconds: f64,
    /// How large the trace is.
    pub bytes: u64,
}

/// The program, compiled with the recorder; gone with its directory when it is dropped.
pub struct Recorder {
    scratch: Scratch,
    options: RecordOptions,
}

impl Recorder {
    /// Compiles the program.
    pub fn new(program: &Program, options: RecordOptions) -> Result<Recorder, String> {
        let text = emit_recording(program, &Options::default(), &Privacy::new(program).quiet, RUNTIME);
        let scratch = Scratch::new().map_err(|error| format!("there is no place for temporary files: {error}"))?;
        let source = scratch.0.join("recorded.c");
        fs::write(&source, text).map_err(|error| format!("the C file cannot be written: {error}"))?;
        let cc = options.cc.clone().or_else(|| std::env::var("CC").ok()).unwrap_or_else(|| "cc".to_string());
        let mut words = cc.split_whitespace();
        let Some(command) = words.next() else { return Err("there is no C compiler".to_string()) };
        let mut compile = Command::new(command);
        compile.args(words).args(["-std=gnu11", "-O2", "-g", "-w"]);
        if program.model == DataModel::Ilp32 {
            compile.arg("-m32");
        }
        compile.arg(&source).arg("-o").arg(scratch.0.join("recorded")).args(&options.link).args(["-lpthread", "-lm"]);
        let output = compile.stdin(Stdio::null()).output().map_err(|error| format!("`{cc}` cannot be run: {error}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let first = said.lines().find(|line| line.contains("error")).or(said.lines().last());
            return Err(format!("`{cc}` does not compile it: {}", first.unwrap_or("it says nothing").trim()));
        }
        Ok(Recorder { scratch, options })
    }

    /// Runs it once, and leaves the trace in a file.
    pub fn run(&self, trace: &Path) -> Result<Recorded, String> {
        let mut command = self.command(trace)?;
        if self.options.silent {
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        }
        let start = Instant::now();
        let status = self.wait(command).map_err(|error| format!("the program cannot be run: {error}"))?;
        let bytes = fs::metadata(trace).map_or(0, |data| data.len());
        Ok(Recorded { status, seconds: start.elapsed().as_secs_f64(), bytes })
    }

    /// Runs it once, with these variables in its environment, and gives what it wrote.
    pub fn capture(&self, trace: &Path, environment: &[(&str, &str)]) -> Result<Output, String> {
        let mut command = self.command(trace)?;
        command.envs(environment.iter().copied());
        command.output().map_err(|error| format!("the program cannot be run: {error}"))
    }

    /// How to run it.
    fn command(&self, trace: &Path) -> Result<Command, String> {
        let (header, data) = trace::header(&self.options.description);
        fs::write(trace, header).map_err(|error| format!("cannot write `{}`: {error}", trace.display()))?;
        let trace = std::path::absolute(trace).map_err(|error| error.to_string())?;
        let mut command = Command::new(self.scratch.0.join("recorded"));
        if let Some((name, rest)) = self.options.args.split_first() {
            command.arg0(name).args(rest);
        }
        command.env("LENO_TRACE", &trace).env("LENO_TRACE_DATA", data.to_string());
        Ok(command)
    }

    fn wait(&self, mut command: Command) -> io::Result<Option<ExitStatus>> {
        let mut child = command.spawn()?;
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

/// Compiles a program, runs it once, and leaves the trace in a file.
pub fn record(program: &Program, options: &RecordOptions, trace: &Path) -> Result<Recorded, String> {
    Recorder::new(program, options.clone())?.run(trace)
}

/// The name that a program gets when nobody gives it another one: that of its first file.
pub fn program_name(file: &Path) -> OsString {
    let mut name = OsString::from("./");
    name.push(file.file_stem().unwrap_or(OsStr::new("program")));
    name
}

/// A directory that goes with its owner.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> io::Result<Scratch> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        loop {
            let name = format!("leno-record-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            let path = std::env::temp_dir().join(name);
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Scratch(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
