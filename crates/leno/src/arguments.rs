//! The words of the command line.
//!
//! Flags of the preprocessor are spelled as gcc spells them, also those that no Rust library would parse (`-std=gnu11`,
//! `-include file.h`): people paste them from their makefiles. Their order is kept, because `-DX -UX` and `-UX -DX`
//! differ.

use crate::prediction::{Predict, Record};
use clap::{ArgMatches, Args, Parser, Subcommand, ValueEnum};
use leno_ir::program::DataModel;
use leno_replay::Confinement;
use leno_report::Steps;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Parser, Debug)]
#[command(name = "leno", version, about, max_term_width = 100)]
#[command(long_about = "Leno reads concurrent C programs.\n\n\
    It turns them into a small representation in which every step that another thread could see is one instruction, runs \
    that under any schedule, and writes it back as C.")]
#[command(after_help = "Exit codes:\n  \
    0  safe; done (for `run`: the program's own exit status)\n  \
    1  a violation was found\n  \
    2  no verdict: a limit was reached\n  \
    3  the input or the command line is wrong\n\n\
    Examples:\n  \
    leno check bank.c                   look at all of its schedules\n  \
    leno run --runs 100 bank.c          run it, under a hundred schedules\n  \
    leno dump --ir bank.c               show the representation\n  \
    leno emit-c bank.c -o plain.c       write it back as C")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Check a program under all schedules
    ///
    /// Says SAFE (exit code 0), UNSAFE with the schedule that shows it (1), or UNKNOWN with what stopped the search
    /// (2). What is found is forced on the real program, which runs confined: in a temporary directory, with nothing to
    /// write to outside of it, and without network, signals to others and other programs.
    #[command(after_help = "Examples:\n  \
        leno check examples/bank_account.c\n  \
        leno check --property race,deadlock -DN=4 main.c queue.c\n  \
        leno check --timeout 60 --stats examples/peterson.c")]
    Check(Check),
    /// Prove assertions for any number of threads, without any bound
    ///
    /// Says SAFE (exit code 0) if the assertions hold for any number of threads, any schedule and any input, or UNKNOWN
    /// with what could not be excluded (2). It does not look for violations: `leno check` does.
    #[command(after_help = "Examples:\n  \
        leno prove server.c\n  \
        leno prove --replicate worker pool.c\n  \
        leno prove --entry push,pop queue.c")]
    Prove(Prove),
    /// Check a proof that `leno prove --proof` has written
    ///
    /// The verification conditions are made from the program, and shown by the solver; nothing in the file is believed. Says SAFE
    /// (exit code 0) for what the file claims, or REJECTED with what could not be shown (2).
    #[command(after_help = "Example:\n  \
        leno prove --proof queue.proof queue.c && leno verify queue.proof queue.c")]
    Verify(Verify),
    /// Check that a concurrent data structure is linearizable, with small clients
    ///
    /// Every client of up to so many threads and calls is checked under every schedule: there must be an order of its calls
    /// that keeps apart what did not overlap, and in which they return the same, one after the other. Says UNSAFE with the
    /// history that shows it (exit code 1), HOLDS for these clients (0), or UNKNOWN (2). No `main` is needed.
    #[command(after_help = "Examples:\n  \
        leno linearize --op enqueue --op dequeue queue.c\n  \
        leno linearize --op push=stack_push --op pop=stack_pop --init stack_init --threads 3 --calls 2 stack.c\n  \
        leno linearize --op insert --op remove --op contains --values 2 set.c\n  \
        leno linearize --spec queue --op enqueue --op dequeue --init queue_init queue.c")]
    Linearize(Linearize),
    /// Force a violation that was found before on the real program
    ///
    /// Builds the program of a witness again, with the user's own compiler, and makes it follow the witness's schedule,
    /// confined as `leno check` does it.
    #[command(after_help = "Example:\n  \
        leno check --witness lost.json examples/bank_account.c; leno replay lost.json --keep replayed")]
    Replay(Replay),
    /// Run a program under a schedule chosen at random from a seed
    ///
    /// Every step is checked: invalid memory accesses, uninitialised values, failed assertions, wrong unlocks and
    /// deadlocks end the run with a report. The same seed gives the same run. This is a run of the program, and not
    /// confined: files that it writes are written.
    #[command(after_help = "Examples:\n  \
        leno run examples/bounded_buffer.c\n  \
        leno run --runs 100 examples/bank_account.c\n  \
        leno run -Iinclude -DN=4 main.c queue.c -- input.txt")]
    Run(Run),
    /// Show what Leno made of a program
    #[command(after_help = "Examples:\n  \
        leno dump --ir examples/peterson.c\n  \
        leno dump --cfg examples/peterson.c | dot -Tsvg > peterson.svg\n  \
        leno dump --skeleton examples/bank_account.c\n  \
        leno dump --dfg --dot examples/bank_account.c | dot -Tsvg > flow.svg")]
    Dump(Dump),
    /// Write the representation back as C
    ///
    /// The result is one file that any gcc or clang compiles, and that does what the program does, instruction by
    /// instruction.
    #[command(after_help = "Example:\n  \
        leno emit-c examples/treiber_stack.c -o plain.c && cc plain.c -lpthread -lm && ./a.out")]
    EmitC(EmitC),
    /// Run a program once, natively, and record what it does
    ///
    /// The program is compiled with a recorder and run as it is: with its own input, output and exit code. It is not
    /// confined: whatever the program does, happens.
    #[command(after_help = "Example:\n  \
        leno record -o run.leno examples/bank_account.c && leno predict run.leno")]
    Record(Record),
    /// Run a program once, and decide whether any reordering of that run goes wrong
    ///
    /// Takes C files, or a trace that `leno record` has written, or a trace in the text format that tools for the
    /// analysis of traces share. Says UNSAFE (exit code 1), HOLDS for all reorderings of this run (0), or UNKNOWN (2).
    /// The run itself is not confined: whatever the program does, happens. What is found is then forced on the
    /// program once more, confined as `leno check` does it.
    #[command(after_help = "Examples:\n  \
        leno predict examples/bank_account.c\n  \
        leno predict --context-bound 2 prog.c --link=-lz -- input.txt\n  \
        leno predict --model maximal run.leno")]
    Predict(Predict),
}

#[derive(Args, Debug)]
pub struct Check {
    #[command(flatten)]
    pub program: Sources,
    /// What to look for: assert, race, deadlock, memsafety, overflow, leak, memtrack, or a `.prp` file [default: the
    /// first four]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub property: Vec<String>,
    /// How to look
    #[arg(long, value_enum, default_value_t = Engine::Auto)]
    pub engine: Engine,
    /// Give up after this many seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
    /// Give up when this much memory is used [default: three quarters of what there is]
    #[arg(long, value_name = "MIB")]
    pub memory: Option<u64>,
    /// Only look at schedules that take over at most so often from a thread that could go on
    #[arg(long, value_name = "N")]
    pub preemptions: Option<u32>,
    /// Staged: let no loop go round more often than this, instead of as often as it takes
    #[arg(long, value_name = "N")]
    pub unwind: Option<u32>,
    /// Staged: the same for single loops, `file:line` or `function:line` of where they begin, or a function that calls
    /// itself
    #[arg(long, value_name = "LOOP=N", value_delimiter = ',', value_parser = named_bound)]
    pub unwindset: Vec<(String, u32)>,
    /// Staged: go on after a violation, and list all of them, each at another place and with a schedule of its own
    #[arg(long)]
    pub all: bool,
    /// Staged: only look at schedules that go from one thread to another at most so often
    #[arg(long, value_name = "K")]
    pub context_bound: Option<usize>,
    /// Lazy: let no thread make more steps than this, instead of as many as it takes
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,
    /// Lazy: also pass the token between threads that hold the same lock, to see what locksets are good for
    #[arg(long)]
    pub no_mtx: bool,
    /// Lazy: also pass the token where the other order of two steps would do
    #[arg(long)]
    pub no_por: bool,
    /// Staged: what becomes of local control and data flow
    #[arg(long, value_enum, default_value_t = Mode::Summaries)]
    pub mode: Mode,
    /// Staged: what becomes of calls
    #[arg(long, value_enum, default_value_t = Calls::Auto)]
    pub calls: Calls,
    /// Staged: compose every read with every write, and every pair of accesses as a race, to see what pruning is good
    /// for
    #[arg(long)]
    pub no_prune: bool,
    /// Say on standard error what it took
    #[arg(long)]
    pub stats: bool,
    /// Only the verdict
    #[arg(long, short)]
    pub quiet: bool,
    /// Show every step of an execution, however long it is
    #[arg(long)]
    pub full: bool,
    /// Do not force a violation on the real program
    #[arg(long)]
    pub no_replay: bool,
    #[command(flatten)]
    pub replaying: Replaying,
    /// Write the witness of a violation to this file
    #[arg(long, value_name = "FILE")]
    pub witness: Option<PathBuf>,
    /// Where the prover decides it: write its proof to this file, for `leno verify`
    #[arg(long, value_name = "FILE")]
    pub proof: Option<PathBuf>,
    /// Leave the replayed C file and a run.sh in this directory
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Write the staged engine's first question to this file, as SMT-LIB 2 for any solver
    #[arg(long, value_name = "FILE")]
    pub dump_smt2: Option<PathBuf>,
    /// Arguments of the program
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}

impl Check {
    /// The steps that its report shows.
    pub fn steps(&self) -> Steps {
        if self.full { Steps::All } else { Steps::Folded }
    }
}

#[derive(Args, Debug)]
pub struct Prove {
    #[command(flatten)]
    pub program: Sources,
    /// What to prove: assert, overflow, race, deadlock [default: assert]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub property: Vec<String>,
    /// Insert assertions, and say how many of them were proved: bounds (accesses stay in their objects), overflow (signed
    /// arithmetic does not overflow)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub check: Vec<String>,
    /// Take the program as a library: each of these functions is run by any number of threads at any time, with any
    /// arguments
    #[arg(long, value_name = "FUNCTIONS", value_delimiter = ',')]
    pub entry: Vec<String>,
    /// Before that, run these once, alone; nothing more happens if one returns a number other than 0
    #[arg(long, value_name = "FUNCTIONS", value_delimiter = ',', requires = "entry")]
    pub init: Vec<String>,
    /// At any time, run these once, while the threads that were started may still run
    #[arg(long, value_name = "FUNCTIONS", value_delimiter = ',', requires = "entry")]
    pub exit: Vec<String>,
    /// Wherever a thread is started in one of these functions, any number of them are
    #[arg(long, value_name = "FUNCTIONS", value_delimiter = ',')]
    pub replicate: Vec<String>,
    /// Give up after this many seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
    /// Give up when this much memory is used [default: three quarters of what there is]
    #[arg(long, value_name = "MIB")]
    pub memory: Option<u64>,
    /// Show what was found to hold, place by place
    #[arg(long)]
    pub show_invariants: bool,
    /// The same for each round in which invariants and interference were computed from each other
    #[arg(long)]
    pub show_rounds: bool,
    /// Write a proof to this file, for `leno verify`
    #[arg(long, value_name = "FILE")]
    pub proof: Option<PathBuf>,
    /// Write what holds at the lines of the program to this file: as JSON, or, if it ends in .yml or .yaml, as a correctness witness of
    /// the verification competition (version 2.0)
    #[arg(long, value_name = "FILE")]
    pub invariants: Option<PathBuf>,
    /// Say on standard error what it took
    #[arg(long)]
    pub stats: bool,
    /// Only the verdict
    #[arg(long, short)]
    pub quiet: bool,
    /// Arguments of the program
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}

#[derive(Args, Debug)]
pub struct Verify {
    /// The proof
    #[arg(value_name = "PROOF")]
    pub proof: PathBuf,
    #[command(flatten)]
    pub program: Sources,
    /// Give up after this many seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
    /// Give up when this much memory is used [default: three quarters of what there is]
    #[arg(long, value_name = "MIB")]
    pub memory: Option<u64>,
    /// Say on standard error what it took
    #[arg(long)]
    pub stats: bool,
    /// Only the verdict
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct Linearize {
    #[command(flatten)]
    pub program: Sources,
    /// A function that is an operation, or a name for it: `push=stack_push`
    #[arg(long = "op", value_name = "[NAME=]FUNCTION", required = true)]
    pub operations: Vec<String>,
    /// Prove it for any number of threads and calls: a stack (push, pop), a queue (enqueue, dequeue), or an observer of your own
    #[arg(long, value_name = "stack|queue|FILE")]
    pub spec: Option<String>,
    /// How the memory of nodes comes back, for the proof: `gc` if never while a pointer is left; `manual` if freed nodes stay
    /// readable, are used again at once, and keep their version counters
    #[arg(long, value_name = "gc|manual")]
    pub node_memory: Option<NodeMemory>,
    /// Write the view in which a proof ended to this file, as a graph (DOT)
    #[arg(long, value_name = "FILE")]
    pub view: Option<PathBuf>,
    /// The function that makes the data structure, or sets it up
    #[arg(long, value_name = "FUNCTION")]
    pub init: Option<String>,
    /// Numbers that it is given, in order [default: 2 for each]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    pub init_numbers: Vec<i64>,
    /// The parameter of operations that is the number of the thread
    #[arg(long, value_name = "PARAMETER")]
    pub thread_parameter: Option<String>,
    /// Up to so many threads
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub threads: usize,
    /// Up to so many calls by each thread
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub calls: usize,
    /// Choose the values of calls from so many, as for a set [default: each call has its own]
    #[arg(long, value_name = "N")]
    pub values: Option<u32>,
    /// Operations that are called before any thread starts
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub before: Vec<String>,
    /// Give up after this many seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
    /// Give up when this much memory is used [default: three quarters of what there is]
    #[arg(long, value_name = "MIB")]
    pub memory: Option<u64>,
    /// Do not force a violation on the real program
    #[arg(long)]
    pub no_replay: bool,
    #[command(flatten)]
    pub replaying: Replaying,
    /// Write the client that goes wrong to this file, as C
    #[arg(long, value_name = "FILE")]
    pub client: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum NodeMemory {
    Gc,
    Manual,
}

fn named_bound(text: &str) -> Result<(String, u32), String> {
    let (name, bound) = text.rsplit_once('=').ok_or("a loop and its bound look like `queue.c:31=5`")?;
    let bound = bound.trim().parse().map_err(|_| format!("`{bound}` is not a number"))?;
    Ok((name.trim().to_string(), bound))
}

#[derive(Args, Debug)]
pub struct Replay {
    /// A witness, as `leno check --witness FILE` writes it
    pub witness: PathBuf,
    /// Leave the C file and a run.sh in this directory
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Run it this many times, and say how often it was confirmed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub repeat: usize,
    #[command(flatten)]
    pub replaying: Replaying,
}

/// What the real program may do when a violation is forced on it.
#[derive(Args, Clone, Copy, Debug)]
pub struct Replaying {
    /// Let the replayed program write files outside of its temporary directory, use the network, start programs, …
    #[arg(long = "replay-unconfined")]
    unconfined: bool,
}

impl From<Replaying> for Confinement {
    fn from(replaying: Replaying) -> Confinement {
        if replaying.unconfined { Confinement::None } else { Confinement::Full }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Engine {
    /// The staged engine, the prover beside it if it takes longer than a second, and exploration where they have no
    /// verdict
    Auto,
    /// Explore every schedule that makes a difference
    Explore,
    /// Reach every state, however many schedules lead to it
    States,
    /// Summarise the threads, and ask the solver about all schedules at once
    Staged,
    /// Prove assertions, overflows and races for any number of threads, by invariants
    Prove,
    /// Unroll threads that may loop for ever, step by step, and pass a token between them
    Lazy,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Mode {
    /// It is summarised
    Summaries,
    /// It stays in the formula, an equation for each assignment, to see what summaries are good for
    Cssa,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Calls {
    /// Functions are executed where they are called
    Inline,
    /// Functions are summarised once, if they can be, and their summaries put in at each call
    Summary,
    /// Either, by what is cheaper
    Auto,
}

impl From<Calls> for leno_bmc::Calls {
    fn from(calls: Calls) -> leno_bmc::Calls {
        match calls {
            Calls::Inline => leno_bmc::Calls::Inline,
            Calls::Summary => leno_bmc::Calls::Summary,
            Calls::Auto => leno_bmc::Calls::Auto,
        }
    }
}

#[derive(Args, Debug)]
pub struct Run {
    #[command(flatten)]
    pub program: Sources,
    /// Chooses the schedule, and values that the program does not determine
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Run it this many times, with seeds from --seed on, up to the first run that does not end well
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub runs: u64,
    /// Give up after this many steps
    #[arg(long, value_name = "N")]
    pub max_steps: Option<u64>,
    /// Arguments of the program
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}

#[derive(Args, Debug)]
pub struct Dump {
    #[command(flatten)]
    pub program: Sources,
    #[command(flatten)]
    pub what: DumpWhat,
    /// The skeleton, the thread models, or the data flow graph, for Graphviz
    #[arg(long, conflicts_with_all = ["ir", "cfg"])]
    pub dot: bool,
    /// With --dfg: take the program as a library, as `leno prove --entry` does
    #[arg(long, value_name = "FUNCTIONS", value_delimiter = ',', requires = "dfg")]
    pub entry: Vec<String>,
    /// With --skeleton: how often loops go round, if that depends on anything
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub unwind: u32,
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub struct DumpWhat {
    /// The textual form, which can be parsed back
    #[arg(long)]
    pub ir: bool,
    /// The control-flow graphs, for Graphviz
    #[arg(long)]
    pub cfg: bool,
    /// What the staged engine makes of it: the accesses of each thread to what they share, with their conditions
    #[arg(long)]
    pub skeleton: bool,
    /// The lazy engine's thread models: control states, what they set, and where they lead
    #[arg(long)]
    pub efsm: bool,
    /// The prover's data flow graph: which definition of a memory location may reach which use, in a thread (->) and
    /// from other threads (~>)
    #[arg(long)]
    pub dfg: bool,
}

#[derive(Args, Debug)]
pub struct EmitC {
    #[command(flatten)]
    pub program: Sources,
    /// Where to write it, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Leave out the comments that say where each instruction comes from
    #[arg(long)]
    pub no_comments: bool,
}

/// The program, and how to read it.
#[derive(Args, Clone, Debug)]
pub struct Sources {
    /// C files (`.i` files are taken as preprocessed), which together are one program; or one Boolean program (`.bp`)
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Search a directory for headers
    #[arg(short = 'I', value_name = "DIR", help_heading = "C")]
    include_directory: Vec<String>,
    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = "C")]
    define: Vec<String>,
    /// Undefine a macro
    #[arg(short = 'U', value_name = "NAME", help_heading = "C")]
    undefine: Vec<String>,
    /// Read a file first (also: -include FILE)
    #[arg(long, value_name = "FILE", help_heading = "C")]
    include: Vec<String>,
    /// Search a directory for system headers (also: -isystem DIR)
    #[arg(long, value_name = "DIR", help_heading = "C")]
    isystem: Vec<String>,
    /// The version of C (also: -std=gnu11)
    #[arg(long, value_name = "STANDARD", help_heading = "C")]
    std: Option<String>,
    /// The compiler whose preprocessor to use [default: $CC, or cc]
    #[arg(long, value_name = "COMMAND", help_heading = "C")]
    pub cc: Option<String>,
    /// Sizes of `long` and of pointers
    #[arg(long, value_enum, default_value_t = Model::Lp64, help_heading = "C")]
    pub data_model: Model,
    /// Let `malloc` and its like return null
    #[arg(long, help_heading = "C")]
    pub malloc_may_fail: bool,
    /// Let a wait on a condition variable end without a signal
    #[arg(long, help_heading = "C")]
    pub spurious_wakeups: bool,
    /// Report signed arithmetic that overflows
    #[arg(long, help_heading = "C")]
    pub check_overflow: bool,
    /// Functions that are called from outside, in place of `main`.
    #[arg(skip)]
    pub entries: Vec<String>,
    /// The program is going to run natively, as a real process.
    #[arg(skip)]
    pub real_process: bool,
    /// The preprocessor's flags in the order given.
    #[arg(skip)]
    pub preprocessor_flags: Vec<String>,
}

impl Sources {
    /// The same program, to run natively as a real process.
    pub fn for_real(&self) -> Sources {
        let mut sources = self.clone();
        sources.real_process = true;
        sources
    }

    /// Those of a program that was read before.
    pub fn remembered(
        files: Vec<PathBuf>,
        preprocessor_flags: Vec<String>,
        cc: Option<String>,
        is_32_bit: bool,
        options: &[String],
    ) -> Sources {
        let has = |option: &str| options.iter().any(|name| name == option);
        Sources {
            files,
            include_directory: Vec::new(),
            define: Vec::new(),
            undefine: Vec::new(),
            include: Vec::new(),
            isystem: Vec::new(),
            std: None,
            cc,
            data_model: if is_32_bit { Model::Ilp32 } else { Model::Lp64 },
            malloc_may_fail: has("malloc-may-fail"),
            spurious_wakeups: has("spurious-wakeups"),
            check_overflow: has("check-overflow"),
            entries: Vec::new(),
            real_process: has("real-process"),
            preprocessor_flags,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Model {
    Lp64,
    Ilp32,
}

impl From<Model> for DataModel {
    fn from(model: Model) -> DataModel {
        match model {
            Model::Lp64 => DataModel::Lp64,
            Model::Ilp32 => DataModel::Ilp32,
        }
    }
}

impl Cli {
    /// Puts the preprocessor's flags back into the order in which they were given.
    pub fn in_order(mut self, matches: &ArgMatches) -> Command {
        if let Some((_, matches)) = matches.subcommand() {
            let sources = match &mut self.command {
                Command::Replay(_) => return self.command,
                Command::Check(check) => &mut check.program,
                Command::Prove(prove) => &mut prove.program,
                Command::Verify(verify) => &mut verify.program,
                Command::Linearize(linearize) => &mut linearize.program,
                Command::Run(run) => &mut run.program,
                Command::Dump(dump) => &mut dump.program,
                Command::EmitC(emit) => &mut emit.program,
                Command::Record(record) => &mut record.program,
                Command::Predict(predict) => &mut predict.program,
            };
            sources.preprocessor_flags = preprocessor_flags(matches);
        }
        self.command
    }
}

fn preprocessor_flags(matches: &ArgMatches) -> Vec<String> {
    let spellings = [
        ("include_directory", "-I"),
        ("define", "-D"),
        ("undefine", "-U"),
        ("include", "-include"),
        ("isystem", "-isystem"),
        ("std", "-std="),
    ];
    let mut flags = Vec::new();
    for (id, spelling) in spellings {
        let values = matches.get_many::<String>(id).into_iter().flatten();
        flags.extend(matches.indices_of(id).into_iter().flatten().zip(values).map(|(at, value)| (at, spelling, value)));
    }
    flags.sort();
    let words = flags.into_iter().flat_map(|(_, spelling, value)| match spelling {
        "-std=" => vec![format!("-std={value}")],
        _ => vec![spelling.to_string(), value.clone()],
    });
    words.collect()
}

/// Rewrites what gcc spells with a single dash into what our own parser understands.
pub fn gcc_spellings(words: Vec<OsString>) -> Vec<OsString> {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let rewrite = |(at, word): (usize, OsString)| {
        if at >= end {
            return word;
        }
        match word.to_str() {
            Some("-include") => "--include".into(),
            Some("-isystem") => "--isystem".into(),
            Some(text) if text.starts_with("-std=") => format!("-{text}").into(),
            _ => word,
        }
    };
    words.into_iter().enumerate().map(rewrite).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, FromArgMatches};

    fn flags(line: &str) -> Vec<String> {
        let words = gcc_spellings(line.split(' ').map(OsString::from).collect());
        let matches = Cli::command().try_get_matches_from(words).expect("a good command line");
        match Cli::from_arg_matches(&matches).expect("all is there").in_order(&matches) {
            Command::Run(run) => run.program.preprocessor_flags,
            other => panic!("not a run: {other:?}"),
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn flags_of_gcc_are_understood_and_stay_in_order() {
        let line = "leno run -UX -Ifoo -DX=1 a.c -I bar -include pre.h -std=gnu11 b.c -DY -- -Dprogram -include";
        let expected = ["-U", "X", "-I", "foo", "-D", "X=1", "-I", "bar", "-include", "pre.h", "-std=gnu11", "-D", "Y"];
        assert_eq!(flags(line), expected);
    }
}
