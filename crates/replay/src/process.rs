//! Compiling and running, in a directory that is gone afterwards.
//!
//! Compiling is not confined: it is the user's compiler, on a file of ours. The program runs in a directory of its own
//! below, and everything that is ours (the C file, the binary, what it reports) lies outside of that.

use crate::watch::{Ending, wait};
use crate::{Confinement, ReplayOptions};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How to compile.
pub(crate) struct Build {
    pub cc: String,
    pub is_32_bit: bool,
    pub with_address_sanitizer: bool,
}

impl Build {
    /// The command and all of its arguments, for `source` and `target`.
    fn words<'a>(&'a self, source: &'a str, target: &'a str) -> Vec<&'a str> {
        let mut words: Vec<&str> = self.cc.split_whitespace().collect();
        // Without optimisation every access of the program is one of the machine's, for AddressSanitizer to see.
        words.extend(["-std=gnu11", "-O0", "-g", "-w", "-fno-omit-frame-pointer"]);
        if self.is_32_bit {
            words.push("-m32");
        }
        if self.with_address_sanitizer {
            words.push("-fsanitize=address");
        }
        words.extend([source, "-o", target, "-lpthread", "-lm"]);
        words
    }
}

/// What a run left behind.
pub(crate) struct Run {
    pub ending: Ending,
    /// What the runtime reported, line by line.
    pub report: Vec<String>,
    /// The last lines of standard error.
    pub complaint: String,
}

/// What standard error is shown of.
const COMPLAINT_LINES: usize = 3;

/// The program, compiled; gone with its directory when it is dropped.
pub(crate) struct Compiled {
    scratch: Scratch,
}

impl Compiled {
    pub(crate) fn new(text: &str, build: &Build) -> Result<Compiled, String> {
        let scratch = Scratch::new().map_err(|error| format!("there is no place for temporary files: {error}"))?;
        compile(text, build, &scratch.0)?;
        Ok(Compiled { scratch })
    }

    pub(crate) fn run(&self, args: &[Vec<u8>], options: &ReplayOptions) -> Result<Run, String> {
        run(&self.scratch.0, args, options).map_err(|error| format!("the compiled program cannot be run: {error}"))
    }
}

fn compile(text: &str, build: &Build, directory: &Path) -> Result<(), String> {
    let write = fs::write(directory.join("replay.c"), text);
    write.map_err(|error| format!("the C file cannot be written: {error}"))?;
    let words = build.words("replay.c", "replay");
    let Some((command, arguments)) = words.split_first() else { return Err("there is no C compiler".to_string()) };
    let output = Command::new(command).args(arguments).current_dir(directory).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("`{command}` cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().find(|line| line.contains("error")).or(said.lines().last()).unwrap_or("it says nothing");
    let mut why = format!("`{}` does not compile it: {}", words.join(" "), first.trim());
    if build.is_32_bit && (said.contains("-lgcc") || said.contains("No such file") || said.contains("incompatible")) {
        why.push_str(" (32-bit programs need a package of their own; on Debian: gcc-multilib)");
    }
    Err(why)
}

fn run(directory: &Path, args: &[Vec<u8>], options: &ReplayOptions) -> io::Result<Run> {
    let [report, errors, work, given] = ["report", "errors", "work", "input"].map(|name| directory.join(name));
    // What an earlier run left and reported is not what this one does.
    let _ = fs::remove_file(&report);
    let _ = fs::remove_dir_all(&work);
    fs::DirBuilder::new().mode(0o700).create(&work)?;
    fs::write(&given, &options.input)?;
    let mut command = Command::new(directory.join("replay"));
    if let Some((name, rest)) = args.split_first() {
        command.arg0(OsStr::from_bytes(name)).args(rest.iter().map(|arg| OsStr::from_bytes(arg)));
    }
    command.current_dir(&work).env("LENO_REPORT", &report).env_remove("ASAN_OPTIONS").env_remove("LD_PRELOAD");
    // (A second more than we wait: who waits knows better what to say.)
    let limits = format!("{} {}", std::process::id(), options.timeout.as_secs() + 1);
    let confined_to = match options.confinement {
        Confinement::Full => Some(format!("files {limits}")),
        Confinement::NoFiles => Some(format!("no-files {limits}")),
        Confinement::None => None,
    };
    match &confined_to {
        Some(how) => command.env("LENO_CONFINED", how),
        None => command.env_remove("LENO_CONFINED"),
    };
    command.stdin(fs::File::open(&given)?).stdout(Stdio::null()).stderr(fs::File::create(&errors)?);
    let ending = wait(command.spawn()?, confined_to.is_some().then_some(work.as_path()), options)?;
    let lines = |path: &Path| -> Vec<String> {
        let bytes = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).lines().map(str::to_string).collect()
    };
    let errors = lines(&errors);
    let complaint = errors[errors.len().saturating_sub(COMPLAINT_LINES)..].join(" / ");
    Ok(Run { ending, report: lines(&report), complaint })
}

/// A shell script that compiles what lies beside it and runs it, under a debugger if one is named.
pub(crate) fn script(build: &Build, args: &[Vec<u8>]) -> String {
    let quoted = |word: &str| format!("'{}'", word.replace('\'', "'\\''"));
    let build: Vec<String> = build.words("replay.c", "replay").into_iter().map(quoted).collect();
    let args: Vec<String> = args.iter().skip(1).map(|arg| quoted(&String::from_utf8_lossy(arg))).collect();
    format!(
        "#!/bin/sh\n\
         # Compiles replay.c and runs it: the program, under the schedule of the witness. What came of it is the last line.\n\
         # With a debugger:  ./run.sh gdb --args\n\
         set -e\n\
         cd \"$(dirname \"$0\")\"\n\
         {}\n\
         exec \"$@\" ./replay {}\n",
        build.join(" "),
        args.join(" ")
    )
}

/// A directory that goes with its owner.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> io::Result<Scratch> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        loop {
            let name = format!("leno-replay-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
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
