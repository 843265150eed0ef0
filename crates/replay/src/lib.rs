//! Evidence: a witness, forced on the real program.
//!
//! An engine that says `UNSAFE` gives a [`Witness`]: who passes which schedule point when, and what
//! goes wrong then. [`replay`] writes the program back as C with a hook at every schedule point, adds a scheduler that
//! knows the witness's steps and inputs, compiles it all with the user's own compiler, runs it, and looks whether the
//! promised thing really happens:
//!
//! | claim | is confirmed by |
//! |---|---|
//! | assertion, division by zero, overflow, unreachable place | the very assertion is false in the running program |
//! | invalid access or free, call of what is no function, stack overflow | AddressSanitizer's report, at the promised step |
//! | invalid unlock, invalid thread handle | what the system's lock or the list of threads says about its owner |
//! | race | both threads stand before their accesses at once; the addresses overlap, and one writes |
//! | atomicity violation | the accesses of the block and the one between them are made in this order, of the same memory |
//! | deadlock | every thread is let into its real blocking operation; then the kernel says that all of them are asleep |
//!
//! A replay does no harm: the program runs confined ([`Confinement`]), unless the caller wants it otherwise.
//!
//! Nothing is left to timing: one thread runs at a time, and where it does not go as the witness says, the run ends and
//! says so. A watchdog is there for code that never comes to its next step.
//!
//! ```no_run
//! # fn get() -> (leno_ir::program::Program, leno_ir::witness::Witness) { unimplemented!() }
//! let (program, witness) = get();
//! match leno_replay::replay(&program, &witness, &leno_replay::ReplayOptions::default()) {
//!     leno_replay::Replayed::Confirmed { how } => println!("confirmed: {how}"),
//!     leno_replay::Replayed::NotConfirmed { why } => println!("not confirmed: {why}"),
//! }
//! ```
//!
//! | file | what is in it |
//! |---|---|
//! | `goal` | what has to happen for a claim to hold, and what the run is to look at |
//! | `prepare` | what the interpreter knows that the real program does not: contents of uninitialised memory and variables |
//! | `tables` | the witness, as C |
//! | `process` | compiling and running |
//! | `watch` | the end of the run, also when it takes too long or too much |
//! | `judge` | from what the run reported to a verdict |
//! | `runtime/*.c` | the scheduler, synchronisation, confinement, and the watcher that tests the claim |

mod goal;
mod judge;
mod prepare;
mod process;
mod tables;
mod watch;

use leno_engine::Cancel;
use leno_engine::witness::follow;
use leno_ir::interp;
use leno_ir::program::{DataModel, Program};
use leno_ir::witness::{Claim, Witness};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How to replay.
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    /// The compiler, possibly with arguments (`ccache gcc`). If none is given: the environment's `CC`, else `cc`.
    pub cc: Option<String>,
    /// Leave the C file, and a `run.sh` that compiles and runs it, in this directory.
    pub keep: Option<PathBuf>,
    /// A run that takes longer is ended.
    pub timeout: Duration,
    /// What the program finds on its standard input.
    pub input: Vec<u8>,
    /// How the engine that found the witness ran the program: its arguments, what uninitialised values are, ….
    pub machine: interp::Options,
    pub confinement: Confinement,
    /// How many bytes of memory a confined program may use, and never more than half of what the machine has.
    pub memory: u64,
    /// Ends the run from another thread.
    pub cancel: Cancel,
}

/// What a replayed program may do to the world.
///
/// Confined, it runs in an empty directory that is removed afterwards, with limits on time, memory, threads and files. It
/// cannot use the network, start programs or processes, or send signals to others. Where it tries, the
/// replay ends, and says what it needs. The compiled program confines itself before its first step, by
/// Landlock and seccomp: no helper program is needed, nor privileges.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Confinement {
    /// It writes to files in its own directory, where the kernel has Landlock with truncation (Linux 6.2); elsewhere
    /// this is [`NoFiles`](Confinement::NoFiles).
    #[default]
    Full,
    /// It opens no file for writing.
    NoFiles,
    /// It may do what the user may do, in a directory of its own.
    None,
}

impl Default for ReplayOptions {
    fn default() -> ReplayOptions {
        ReplayOptions {
            cc: None,
            keep: None,
            timeout: Duration::from_secs(30),
            input: Vec::new(),
            machine: interp::Options::default(),
            confinement: Confinement::default(),
            memory: 4 << 30,
            cancel: Cancel::default(),
        }
    }
}

/// What came of it. The texts are for people, and the same every time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Replayed {
    Confirmed { how: String },
    NotConfirmed { why: String },
}

impl Replayed {
    pub fn is_confirmed(&self) -> bool {
        matches!(self, Replayed::Confirmed { .. })
    }
}

/// Forces a witness on the real program.
pub fn replay(program: &Program, witness: &Witness, options: &ReplayOptions) -> Replayed {
    replay_often(program, witness, options, 1).pop().unwrap_or(Replayed::NotConfirmed { why: String::new() })
}

/// Forces a witness on the real program so many times (once at least); it is compiled only once.
pub fn replay_often(program: &Program, witness: &Witness, options: &ReplayOptions, times: usize) -> Vec<Replayed> {
    let outcome = |outcome: Outcome| match outcome {
        Ok(how) => Replayed::Confirmed { how },
        Err(why) => Replayed::NotConfirmed { why },
    };
    match Prepared::new(program, witness, options) {
        Ok(prepared) => (0..times.max(1)).map(|_| outcome(prepared.run())).collect(),
        Err(why) => vec![outcome(Err(why)); times.max(1)],
    }
}

/// How it was confirmed, or why not.
type Outcome = Result<String, String>;

/// A witness and its program, compiled together.
struct Prepared<'a> {
    program: &'a Program,
    witness: &'a Witness,
    options: &'a ReplayOptions,
    places: Vec<interp::Place>,
    /// What in the program's text asks for inputs.
    asking: Vec<String>,
    caveat: Option<&'static str>,
    compiled: process::Compiled,
}

impl<'a> Prepared<'a> {
    fn new(program: &'a Program, witness: &'a Witness, options: &'a ReplayOptions) -> Result<Prepared<'a>, String> {
        let places = leno_emit::places(program);
        let goal = goal::Goal::new(program, &places, &witness.claim)?;
        check_order(program, witness, options)?;
        let prepared = prepare::prepare(program, witness, options);
        let runtime = tables::runtime(program, &places, witness, &goal, &prepared, options.machine.spurious_wakeups)?;
        let hooks = leno_emit::Hooks { runtime: &runtime, fresh: &tables::fresh_registers(&prepared) };
        let text = leno_emit::emit_with_hooks(program, &leno_emit::Options::default(), &hooks);
        let build = process::Build {
            cc: options.cc.clone().unwrap_or_else(|| std::env::var("CC").unwrap_or_else(|_| "cc".to_string())),
            is_32_bit: program.model == DataModel::Ilp32,
            with_address_sanitizer: goal.needs_address_sanitizer,
        };
        if let Some(directory) = &options.keep {
            keep(directory, &text, &build, &program.command_line())
                .map_err(|error| format!("nothing can be kept in {}: {error}", directory.display()))?;
        }
        let compiled = process::Compiled::new(&text, &build)?;
        let prepare::Prepared { asking, caveat, .. } = prepared;
        Ok(Prepared { program, witness, options, places, asking, caveat, compiled })
    }

    fn run(&self) -> Outcome {
        let run = self.compiled.run(&self.program.command_line(), self.options)?;
        judge::judge(self.program, &self.places, self.witness, &self.asking, &run).map_err(|why| match &self.caveat {
            Some(caveat) => format!("{why} ({caveat})"),
            None => why,
        })
    }
}

/// That two accesses are not ordered is no matter of the machine: the interpreter knows it, from the steps.
fn check_order(program: &Program, witness: &Witness, options: &ReplayOptions) -> Result<(), String> {
    let Claim::Race { second, made: Some(_), .. } = &witness.claim else { return Ok(()) };
    let image = interp::Image::new(program);
    let machine = interp::Options { happens_before: true, ..options.machine.clone() };
    let followed = follow(witness, &image, &machine).map_err(|astray| astray.reason)?;
    let (follower, None) = followed else { return Err("the steps lead elsewhere".to_string()) };
    let is_unordered = follower.thread(&second.thread).is_some_and(|id| follower.machine.unordered(id).is_some());
    match is_unordered {
        true => Ok(()),
        false => Err("the steps order the two accesses".to_string()),
    }
}

/// The C file, and how to run it.
fn keep(directory: &Path, text: &str, build: &process::Build, args: &[Vec<u8>]) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir_all(directory)?;
    std::fs::write(directory.join("replay.c"), text)?;
    let script = directory.join("run.sh");
    std::fs::write(&script, process::script(build, args))?;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))
}
